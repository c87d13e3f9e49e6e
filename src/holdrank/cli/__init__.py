"""The command line: parse, call, print. Results go to stdout, everything else to stderr.

Exit codes: 0 fine, 1 internal error, 2 wrong use, 3 bad input or nowhere to write, 4 a gate that does not hold, 5 not
proved (--require-proof), 130 interrupted by Ctrl-C, 143 by SIGTERM.
"""

from __future__ import annotations

import difflib
import io
import json
import os
import shutil
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import click

from holdrank import __version__
from holdrank.cli import breaking, gates
from holdrank.cli import paper as paper_command
from holdrank.cli import report as report_command
from holdrank.cli import studio as studio_command
from holdrank.cli.options import FORMATS as FORMATS
from holdrank.cli.options import (
    RULES,
    VOTE_ENDINGS,
    ReadingCommand,
    Threshold,
    as_option,
    check_output,
    checkpoint_option,
    json_option,
    merge_option,
    quiet_option,
    read,
    reading_options,
    result_options,
    rule_option,
    statistic,
    worker_options,
)
from holdrank.cli.printing import (
    EXIT_DATA,
    EXIT_INTERNAL,
    EXIT_INTERRUPTED,
    EXIT_TERMINATED,
    EXIT_USAGE,
    bootstrap_json,
    complain,
    consensus_json,
    exit_code,
    print_comparison,
    print_json,
    print_ranking,
    print_tiers,
    progress_line,
    record,
    tier_names,
    tiers_text,
    votes_json,
)
from holdrank.errors import show

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from holdrank.analysis.bootstrap import Bootstrap
    from holdrank.rules.consensus import Consensus
    from holdrank.votes.votes import Votes


class _Commands(click.Group):
    """The list of commands, in the order in which a person meets them, with a hint for typing errors."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            near = ["--help"] if args[0] == "help" else difflib.get_close_matches(args[0], self.commands, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else f" Commands: {', '.join(self.commands)}."
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="holdrank")
def cli() -> None:
    """Compute a consensus ranking that tells you how hard it is to break.

    FILE is a vote file: PrefLib (.soc .soi .toc .toi .cat), CSV in ten forms, JSON Lines, Parquet, .xlsx; - is stdin.

    To begin, see it work on generated votes (holdrank demo), rank your own (holdrank rank FILE), or put everything on
    one page (holdrank report FILE).
    """


class _Termination:
    """SIGTERM ends a command as Ctrl-C does: what is known is printed, nothing half-written stays behind."""

    def __init__(self) -> None:
        self.heard = False
        self._listens = False

    def __enter__(self) -> _Termination:
        # Only the main thread hears signals, and somebody else's handler is left alone.
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
    """Run the command line and leave with the right exit code; one line for each error, never a traceback."""
    with _Termination() as termination:
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
        return 0  # click's answer to a reader that has closed our pipe: nobody is left to be told
    except click.UsageError as error:
        if isinstance(error, click.NoSuchOption):
            error = _elsewhere(error)
        error.show()
        return EXIT_USAGE
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        return EXIT_INTERRUPTED
    except HoldrankError as error:
        complain(f"holdrank: {error.told(as_option)}")
        if isinstance(error, WorkerError):
            return EXIT_INTERNAL
        return EXIT_DATA if isinstance(error, InputError | LimitError) else EXIT_USAGE
    except OSError as error:
        where, what = show(str(error.filename or "input or output"), 200), show(error.strerror or str(error), 200)
        repair = "check that it is there, may be used and has room"
        if _stands_nowhere():
            where, what, repair = "the current folder", "it is gone", "change to one that is there"
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
    """Return an error that names the commands which have such an option, rather than options that are spelt alike."""
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


@cli.command(cls=ReadingCommand)
@click.argument("file")
@rule_option
@click.option("--compare", is_flag=True, help="Show the places by every other rule beside these.")
@click.option("--draws", type=click.IntRange(min=1),
              help="Draw the votes again so many times, and show where places then lie.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the draws.")
@worker_options
@checkpoint_option
@click.option("--time-limit", type=click.FloatRange(min=0), help="Seconds for the exact median, and for the draws.")
@result_options
def rank(file: str, rule: str, compare: bool, draws: int | None, seed: int, executor: Executor | None,
         checkpoint: str | None, time_limit: float | None, require_proof: bool, as_json: bool, quiet: bool,
         verbose: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Rank the items of FILE by a consensus."""
    if compare and draws:
        raise click.UsageError("Give --compare or --draws, not both.")
    if not draws and (executor is not None or checkpoint is not None):
        raise click.UsageError("--jobs, --scheduler and --checkpoint are for --draws.")
    votes = read(file, reading, quiet)
    consensus = _consensus(votes, rule, time_limit, quiet, verbose)
    drawn = None
    if draws and not consensus.status.is_interrupted:
        drawn = _bootstrap(votes, rule, draws, seed, time_limit, executor, checkpoint, quiet)
    if compare:
        known = [other for other in RULES if other != rule and (other != "mean-score" or votes.ballots.has_scores)]
        others = {other: _if_possible(votes, other, time_limit, quiet) for other in known}
        found = {rule: consensus, **{other: one for other, one in others.items() if one is not None}}
        if as_json:
            rules = {name: consensus_json(one) for name, one in found.items()}
            print_json("rank", votes, rule=rule, consensus=consensus_json(consensus), rules=rules)
        else:
            print_comparison(votes, found)
    elif as_json:
        parts = {} if drawn is None else {"bootstrap": bootstrap_json(drawn)}
        print_json("rank", votes, rule=rule, consensus=consensus_json(consensus), **parts)
    else:
        print_ranking(votes, consensus, f"{rule.title()} consensus", drawn)
    ended = drawn is not None and drawn.status.is_interrupted
    return EXIT_INTERRUPTED if ended else exit_code(consensus.status, require_proof)


@cli.command(cls=ReadingCommand)
@click.argument("file")
@click.option(
    "--theta",
    type=Threshold(),
    metavar="T",
    default=0.05,
    show_default=True,
    help="Deviation from 50 % up to which items count as tied, or auto: the best one by tradeoff.",
)
@merge_option
@click.option("--path", is_flag=True, help="Show the tiers at every threshold where they change.")
@rule_option
@click.option("--time-limit", type=click.FloatRange(min=0),
              help="Seconds for the exact median, and for the threshold where it is auto.")  # fmt: skip
@result_options
def tiers(file: str, theta: float | str, merge: str, path: bool, rule: str, time_limit: float | None,
          require_proof: bool, as_json: bool, quiet: bool, verbose: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Sort the items of FILE into honest tiers.

    Items stay tied where the votes do not tell them apart.
    """
    from holdrank.rules.merges import merge_path

    votes = read(file, reading, quiet)
    if path:
        median = _consensus(votes, rule, time_limit, quiet, verbose)
        steps = merge_path(votes.pairwise(), median.ranking, merge=merge)  # type: ignore[arg-type]
        if as_json:
            found = [{"theta": at, "tiers": tier_names(one, median.ranking, votes.items)} for at, one in steps]
            print_json("tiers", votes, rule=rule, merge=merge, path=found)
        else:
            for at, one in steps:
                click.echo(f"{at:<8.4g} {tiers_text(one, median.ranking, votes.items)}")
        return exit_code(median.status, require_proof)
    T, known = breaking.tiers_of(rule, theta, merge, votes, time_limit, quiet)
    median = known or _consensus(votes, rule, time_limit, quiet, verbose)
    merged = T.merged(votes, median)
    if as_json:
        print_json("tiers", votes, rule=rule, merge=merge, theta=T.theta, consensus=consensus_json(merged, median))
    else:
        print_tiers(votes, merged, median, f"Tiers of {rule} by {merge} merge at theta = {T.theta:.4g}")
    return exit_code(merged.status, require_proof)


cli.add_command(breaking.breakdown)
cli.add_command(breaking.attack)
cli.add_command(breaking.tradeoff)
cli.add_command(gates.check)
cli.add_command(gates.verify)
cli.add_command(gates.diff)
cli.add_command(report_command.report)


@cli.command(cls=ReadingCommand)
@click.argument("file")
@json_option
@reading_options
def validate(file: str, as_json: bool, reading: dict[str, Any]) -> int:
    """Check FILE and list its problems.

    The first 20 are shown with their lines, and the total; without any, what was read.
    """
    from holdrank.files import validate as check

    result = check(file, **reading)
    if as_json:
        problems = [str(problem) for problem in result.problems]
        summary = None if result.votes is None else votes_json(result.votes)
        click.echo(json.dumps({"file": file, "problems": problems, "total": result.total, "votes": summary}, indent=2))
    elif result.votes is not None:
        click.echo(result.votes.summary())
        click.echo("no problems found")
    else:
        for problem in result.problems:
            click.echo(problem.told(as_option))
        more = f"; the first {len(result.problems)} are shown" if result.total > len(result.problems) else ""
        click.echo(f"{result.total} problem{'s' * (result.total != 1)}{more}")
    return EXIT_DATA if result.total else 0


@cli.command(cls=ReadingCommand)
@click.argument("file")
@click.argument("output")
@click.option(
    "--to",
    type=click.Choice(["preflib", "positions", "rank-columns", "jsonl"]),
    help="Form of OUTPUT; told by its ending if not given.",
)
@quiet_option
@reading_options
def convert(file: str, output: str, to: str | None, quiet: bool, reading: dict[str, Any]) -> None:
    """Write the votes of FILE to OUTPUT.

    The ending of OUTPUT tells the form: .soc .soi .toc .toi .csv .jsonl; - is stdout.
    """
    from holdrank.files import write_votes

    if output == "-" and to is None:
        raise click.UsageError("OUTPUT - has no ending that tells its form; give --to.")
    if output != "-":
        check_output("OUTPUT", output, file, VOTE_ENDINGS if to is None else ())
    votes = read(file, reading, quiet)
    write_votes(votes, output, format=to)
    if votes.unlisted == "observed" and votes.incomplete and not output.endswith(".jsonl") and to != "jsonl":
        complain("note: this form cannot hold the rule for unlisted items; read it with --unlisted observed")
    if output != "-" and not quiet:
        complain(f"wrote {show(output, 200)}")


@cli.command()
@click.option("--out", default="holdrank-demo", show_default=True, help="Folder for the results.")
@click.option("--seed", type=int, default=2023, show_default=True, help="Of the generated votes.")
@click.option("--theta", type=click.FloatRange(0, 0.5), default=0.05, show_default=True,
              help="Threshold of the tiers that are printed; the report chooses its own.")  # fmt: skip
def demo(out: str, seed: int, theta: float) -> None:
    """Analyse a generated data set."""
    from holdrank.analysis.analyse import analyse
    from holdrank.analysis.spec import Spec
    from holdrank.attacks.answers import attack
    from holdrank.attacks.goals import NewWinner
    from holdrank.files import write_votes
    from holdrank.files.writers import make_folder, write_whole
    from holdrank.rules.consensus import kemeny
    from holdrank.rules.merges import Robust
    from holdrank.views.report import write_report
    from holdrank.votes.models import example_votes

    votes = example_votes(seed)
    consensus = kemeny(votes)
    merged = Robust(kemeny, theta).merged(votes, consensus)
    with progress_line(False) as progress:
        found = attack(votes, kemeny, NewWinner(), progress=progress)
    folder = Path(out)
    make_folder(folder)
    write_votes(votes, folder / "votes.soc")
    summary = {**record("demo", votes), "generated": True, "seed": seed, "theta": theta,
               "consensus": consensus_json(consensus), "tiers": consensus_json(merged, consensus),
               "attack": breaking.attack_json(found)}  # fmt: skip
    write_whole(folder / "consensus.json", (json.dumps(summary, indent=2, ensure_ascii=False) + "\n").encode())
    click.echo(f"Generated data, not real votes: 500 ballots drawn from a Plackett-Luce model with seed {seed}.\n")
    print_ranking(votes, consensus, "Kemeny consensus")
    click.echo()
    print_tiers(votes, merged, consensus, f"Tiers at theta = {theta:g}")
    click.echo(f"\n{found.text()}")
    with progress_line(False) as progress:
        analysis = analyse(votes, Spec(k=3, time_limit=4.0), progress=progress)
    write_report(analysis, folder / "report.html")
    click.echo(f"\nWritten: {folder / 'votes.soc'}, {folder / 'consensus.json'}, {folder / 'report.html'}")
    program = "holdrank" if shutil.which("holdrank") else sys.argv[0]
    click.echo(f"Next: {program} attack {folder / 'votes.soc'} --new-winner")


cli.add_command(studio_command.studio)
cli.add_command(paper_command.paper)


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for SHELL.

    Use it with: eval "$(holdrank completion bash)"
    """
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(script(cli, {}, "holdrank", "_HOLDRANK_COMPLETE").source())


def _if_possible(votes: Votes, rule: str, time_limit: float | None, quiet: bool) -> Consensus | None:
    """Return the consensus of a rule; None, with a note, where these votes have none."""
    from holdrank.errors import HoldrankError

    try:
        return _consensus(votes, rule, time_limit, quiet, False)
    except HoldrankError as error:
        complain(f"note: no {rule}: {error.told(as_option)}")
        return None


def _consensus(votes: Votes, rule: str, time_limit: float | None, quiet: bool, verbose: bool) -> Consensus:
    from holdrank.rules.consensus import kemeny

    with progress_line(quiet) as progress:
        exact = rule == "kemeny"
        found = kemeny(votes, time_limit=time_limit, progress=progress) if exact else statistic(rule)(votes)
    if verbose:
        complain(f"{found.status}: {found.proof}; {found.seconds:.3f} s")
    return found


def _bootstrap(votes: Votes, rule: str, draws: int, seed: int, time_limit: float | None, executor: Executor | None,
               checkpoint: str | None, quiet: bool) -> Bootstrap:  # fmt: skip
    from holdrank.analysis.bootstrap import bootstrap

    with progress_line(quiet) as progress:
        means: dict[str, Any] = {"executor": executor, "checkpoint": checkpoint, "progress": progress}
        return bootstrap(votes, statistic(rule), draws=draws, rng=seed, time_limit=time_limit, **means)
