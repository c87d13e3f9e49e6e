"""The command line: parse, call, print. Results go to stdout, everything else to stderr.

Exit codes: 0 fine, 1 internal error, 2 wrong use, 3 bad input or nowhere to write, 4 a gate that does not hold, 5 not
proved (--require-proof), 130 interrupted by Ctrl-C, 143 by SIGTERM.
"""

from __future__ import annotations

import difflib
import io
import os
import signal
import sys
import threading
from types import FrameType
from typing import NoReturn

import click

from holdrank import __version__
from holdrank.cli import (
    attack,
    audit,
    board,
    breakdown,
    check,
    cut,
    demo,
    diff,
    files,
    leave_one_out,
    paired_tests,
    paper,
    rank,
    removals,
    report,
    studio,
    verify,
    voters,
)
from holdrank.cli.interrupts import interrupted_text, watch
from holdrank.cli.options import as_option
from holdrank.cli.printing import (
    EXIT_DATA,
    EXIT_INTERNAL,
    EXIT_INTERRUPTED,
    EXIT_TERMINATED,
    EXIT_USAGE,
    complain,
)
from holdrank.errors import show

_TESTS = ("friedman", "nemenyi", "mcnemar", "wilcoxon", "posthoc", "post-hoc", "critical-difference", "cd")
_KNOWN_AS = dict.fromkeys(_TESTS, "paired-tests")  # other names of the tests


class _Commands(click.Group):
    """The list of commands, in the order in which a user meets them, with a hint for typing errors."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            known = "--help" if args[0] == "help" else _KNOWN_AS.get(args[0].lower())
            near = [known] if known else difflib.get_close_matches(args[0], self.commands, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else f" Commands: {', '.join(self.commands)}."
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="holdrank")
def cli() -> None:
    """Rank items by consensus, and prove how many votes it takes to break the ranking.

    FILE is a vote file: PrefLib (.soc .soi .toc .toi .cat), CSV in many layouts, JSON Lines, Parquet or .xlsx; - is
    stdin.

    Start with generated votes (holdrank demo), rank your own (holdrank rank FILE), or write everything to one page
    (holdrank report FILE).
    """


class _Termination:
    """SIGTERM ends a command as Ctrl-C does: results so far are printed, and no partial files are left."""

    def __init__(self) -> None:
        self.heard = False
        self._listens = False

    def __enter__(self) -> _Termination:
        # Only the main thread receives signals, and handlers of other programs are left alone.
        if threading.current_thread() is threading.main_thread():
            self._listens = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        if self._listens:
            signal.signal(signal.SIGTERM, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        if self._listens:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _hear(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self.heard = True
        answer = signal.getsignal(signal.SIGINT)
        if not callable(answer):  # Ctrl-C is ignored, as in a shell's background
            raise KeyboardInterrupt
        answer(signal.SIGINT, frame)


def main() -> NoReturn:
    """Run the command line and exit with the right code; one line for each error, never a traceback."""
    # Matrices here are of some hundred items: threads that share one cost several times what they save.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with _Termination() as termination, watch.listening():
        code = _run()
    if code == EXIT_INTERRUPTED and termination.heard:
        code = EXIT_TERMINATED
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            # What a full disk did not take stays in the buffer, and Python would fail over it once more at its exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            code = code or (EXIT_DATA if stream is sys.stdout else 0)
    sys.exit(code)


def _run() -> int:
    from holdrank.errors import HoldrankError, InputError, LimitError, WorkerError

    for stream in (sys.stdout, sys.stderr):
        # Names in any script must not stop an old terminal; what it cannot show is escaped.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except SystemExit:
        return 0  # click's reaction to a closed pipe: there is no reader left
    except click.UsageError as error:
        if isinstance(error, click.NoSuchOption):
            error = _elsewhere(error)
        error.show()
        return EXIT_USAGE
    except (click.Abort, KeyboardInterrupt):
        complain(interrupted_text(watch.so_far()))
        return EXIT_INTERRUPTED
    except HoldrankError as error:
        complain(f"holdrank: {error.told(as_option)}")
        if isinstance(error, WorkerError):
            return EXIT_INTERNAL
        return EXIT_DATA if isinstance(error, InputError | LimitError) else EXIT_USAGE
    except OSError as error:
        where, what = show(str(error.filename or "input or output"), 200), show(error.strerror or str(error), 200)
        repair = "check that it exists, that you may use it, and that there is room"
        if _stands_nowhere():
            where, what, repair = "the current folder", "it no longer exists", "change to a folder that exists"
        complain(f"holdrank: {HoldrankError(f'{where}: {what}', repair=repair)}")
        return EXIT_DATA
    except MemoryError as error:
        what = f" ({show(str(error), 200)})" if str(error) else ""
        repair = "keep fewer items or ballots, close other programs, or use a machine with more"
        complain(f"holdrank: {HoldrankError(f'there is not enough memory{what}', repair=repair)}")
        return EXIT_DATA
    except Exception as error:
        if os.environ.get("HOLDRANK_DEBUG"):
            raise
        what = f"{type(error).__name__}: {show(str(error), 200)}"
        complain(f"holdrank: internal error: {what}; please report it; HOLDRANK_DEBUG=1 shows where")
        return EXIT_INTERNAL


def _elsewhere(error: click.NoSuchOption) -> click.NoSuchOption:
    """Return an error that names the commands with such an option, rather than similar options."""
    option = error.option_name
    having = [name for name, command in cli.commands.items() if any(option in one.opts for one in command.params)]
    words = f"No such option {option!r}; {', '.join(having)} {'has' if len(having) == 1 else 'have'} it."
    return click.NoSuchOption(option, words, ctx=error.ctx) if having else error


def _stands_nowhere() -> bool:
    """Whether the current folder was removed."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


for _command in (
    rank.rank,
    rank.tiers,
    board.board,
    cut.cut,
    removals.removals,
    leave_one_out.leave_one_out,
    audit.audit,
    paired_tests.paired_tests,
    voters.voters,
    breakdown.breakdown,
    attack.attack,
    breakdown.tradeoff,
    check.check,
    verify.verify,
    diff.diff,
    report.report,
    files.validate,
    files.convert,
    demo.demo,
    studio.studio,
    paper.paper,
):
    cli.add_command(_command)


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for SHELL.

    Use it with: eval "$(holdrank completion bash)"
    """
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    assert script is not None  # click knows these shells
    click.echo(script(cli, {}, "holdrank", "_HOLDRANK_COMPLETE").source())
