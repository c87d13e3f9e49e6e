"""The command line: parse, call, print. Results go to stdout, everything else to stderr.

Exit codes: 0 fine, 1 internal error, 2 wrong use, 3 bad input, 5 not proved (--require-proof), 130 interrupted.
"""

from __future__ import annotations

import difflib
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from holdrank import __version__
from holdrank.errors import show

if TYPE_CHECKING:
    from rich.table import Table

    from holdrank.consensus import Consensus
    from holdrank.status import Step
    from holdrank.votes import Votes

F = TypeVar("F", bound=Callable[..., Any])

EXIT_INTERNAL, EXIT_USAGE, EXIT_DATA, EXIT_NOT_PROVED, EXIT_INTERRUPTED = 1, 2, 3, 5, 130

FORMATS = (  # the names of holdrank.files.FORMATS, kept here so that --help need not load the readers
    "preflib",
    "preflib-old",
    "positions",
    "rank-columns",
    "score-columns",
    "lists",
    "long-ranks",
    "long-scores",
    "score-table",
    "battles",
    "pair-counts",
    "multi-way",
    "order",
    "jsonl",
)


class _Commands(click.Group):
    """The list of commands, in the order in which a person meets them, with a hint for typing errors."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], self.commands, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else f" Commands: {', '.join(self.commands)}."
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


class _ReadingCommand(click.Command):
    """A command that reads FILE: its help lists what says how in a part of its own."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        for title, reading in (("Options", False), ("How FILE is read", True)):
            records = [option.get_help_record(ctx) for option in options if (option in _READING_OPTIONS) is reading]
            with formatter.section(title):
                formatter.write_dl([record for record in records if record])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="holdrank")
def cli() -> None:
    """Compute a consensus ranking that tells you how hard it is to break.

    FILE is a vote file: PrefLib (.soc .soi .toc .toi .cat), CSV in ten forms, JSON Lines, Parquet, .xlsx; - is stdin.
    """


def main() -> NoReturn:
    """Run the command line and leave with the right exit code; one line for each error, never a traceback."""
    code = _run()
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
    from holdrank.errors import HoldrankError, InputError, LimitError

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
        error.show()
        return EXIT_USAGE
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted")
        return EXIT_INTERRUPTED
    except HoldrankError as error:
        _complain(f"holdrank: {_in_options(str(error))}")
        return EXIT_DATA if isinstance(error, InputError | LimitError) else EXIT_USAGE
    except OSError as error:
        _complain(f"holdrank: {error.filename or 'input or output'}: {error.strerror or error}")
        return EXIT_DATA
    except Exception as error:
        if os.environ.get("HOLDRANK_DEBUG"):
            raise
        what = f"{type(error).__name__}: {show(str(error), 200)}"
        _complain(f"holdrank: internal error: {what}; please report it; HOLDRANK_DEBUG=1 shows where")
        return EXIT_INTERNAL


def _complain(message: str) -> None:
    """Write to stderr; when that is closed or full, the exit code has to do."""
    with suppress(OSError):
        click.echo(message, err=True)


_READING_OPTIONS = [
    click.Option(["--format"], type=click.Choice(FORMATS), metavar="FORM",
                 help=f"Form of FILE; found out if not given. One of {', '.join(FORMATS)}."),
    click.Option(["--unlisted"], type=click.Choice(["bottom", "observed"]),
                 help="Unlisted items: tied below all listed ones, or not compared."),
    click.Option(["--delimiter"], help="Between the cells of a row: , ; | or tab."),
    click.Option(["--encoding"], help="Of the text; UTF-8 if not given."),
    click.Option(["--header"], type=int, help="Number of the row with the column names; 0 for none."),
    click.Option(["--columns"], help="Columns to use: names or numbers from 1, separated by commas."),
    click.Option(["--item"], multiple=True, help="Column that names the item; repeat it for a name of several parts."),
    click.Option(["--voter"], help="Column that names the voter."),
    click.Option(["--weight"], help="Column that holds the weight of a row."),
    click.Option(["--rank-column", "rank"], help="Column that holds the rank (long form)."),
    click.Option(["--score-column", "score"], help="Column that holds the score (long form)."),
    click.Option(["--first"], help="Column with the first item of a battle."),
    click.Option(["--second"], help="Column with the second item of a battle."),
    click.Option(["--winner"], help="Column with the winner of a battle."),
    click.Option(["--lower-is-better"], multiple=True,
                 help="Score column (voter, task) where low is good, or all; may be repeated."),
    click.Option(["--blank", "blanks"], multiple=True, help="Text that means 'nothing here'; may be repeated."),
    click.Option(["--repeated"], type=click.Choice(["refuse", "first"]), default="refuse", show_default=True,
                 help="An item named twice: refuse, or keep the first mention."),
    click.Option(["--both-bad"], type=click.Choice(["tie", "drop"]), default="tie", show_default=True,
                 help="Battles in which both were bad."),
    click.Option(["--categories"], help="Categories of a .cat file, best first, separated by commas."),
    click.Option(["--short-rows"], type=click.Choice(["refuse", "fill"]), default="refuse", show_default=True,
                 help="Rows with too few cells: refuse, or fill with blanks."),
    click.Option(["--sheet"], help="Sheet of a workbook; the first if not given."),
]  # fmt: skip


def _reading_options(command: F) -> F:
    """Add the options that say how FILE is read; they reach the command as one dict `reading`."""

    @wraps(command)
    def gather(*args: Any, **kwargs: Any) -> Any:
        reading = {str(option.name): kwargs.pop(str(option.name)) for option in _READING_OPTIONS}
        return command(*args, reading=_clean(reading), **kwargs)

    # click keeps the parameters of a command to be in reverse order.
    gather.__click_params__ = [*reversed(_READING_OPTIONS), *getattr(command, "__click_params__", [])]  # type: ignore[attr-defined]
    return gather  # type: ignore[return-value]


def _in_options(message: str) -> str:
    """Return a message of the library with its arguments spelt as options: ``rank=`` is ``--rank-column``."""
    for option in _READING_OPTIONS:
        message = re.sub(rf"\b{option.name}=([\"'])(.+?)\1", rf"{option.opts[0]} \2", message)
        message = re.sub(rf"\b{option.name}=True\b", f"{option.opts[0]} all", message)
        message = re.sub(rf"\b{option.name}=", option.opts[0], message)
    return message


def _clean(reading: dict[str, Any]) -> dict[str, Any]:
    """Split lists, drop what was not given, so that `read_votes` applies its own defaults."""
    for name in ("columns", "categories"):
        if reading[name]:
            reading[name] = [part.strip() for part in reading[name].split(",")]
    if reading["delimiter"] in ("tab", "\\t"):
        reading["delimiter"] = "\t"
    if reading["lower_is_better"] == ("all",):
        reading["lower_is_better"] = True
    if reading["item"] and len(reading["item"]) == 1:
        reading["item"] = reading["item"][0]
    return {name: value for name, value in reading.items() if value not in (None, ())}


_quiet = click.option("-q", "--quiet", is_flag=True, help="Say nothing about how the file was read.")
_verbose = click.option("-v", "--verbose", is_flag=True, help="Say how the result was proved, and how long it took.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
_time_limit = click.option("--time-limit", type=click.FloatRange(min=0), help="Seconds for the exact median.")
_require_proof = click.option("--require-proof", is_flag=True, help="Exit with 5 when optimality was not proved.")
_rule = click.option(
    "--rule", type=click.Choice(["kemeny", "borda", "footrule"]), default="kemeny", show_default=True,
    help="Which consensus.",
)  # fmt: skip


@cli.command(cls=_ReadingCommand)
@click.argument("file")
@_rule
@_time_limit
@_require_proof
@_json
@_quiet
@_verbose
@_reading_options
def rank(file: str, rule: str, time_limit: float | None, require_proof: bool, as_json: bool, quiet: bool,
         verbose: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Rank the items of FILE by a consensus."""
    votes = _read(file, reading, quiet)
    consensus = _consensus(votes, rule, time_limit, quiet, verbose)
    if as_json:
        _print_json("rank", votes, rule=rule, consensus=_consensus_json(consensus))
    else:
        _print_ranking(votes, consensus, f"{rule.capitalize()} consensus")
    return _exit_code(consensus, require_proof)


@cli.command(cls=_ReadingCommand)
@click.argument("file")
@click.option(
    "--theta",
    type=click.FloatRange(0, 0.5),
    default=0.05,
    show_default=True,
    help="Deviation from 50 % up to which items count as tied.",
)
@click.option(
    "--merge",
    type=click.Choice(["downward", "naive"]),
    default="downward",
    show_default=True,
    help="Which neighbours are merged first: the farthest or the closest.",
)
@click.option("--path", is_flag=True, help="Show the tiers at every threshold where they change.")
@_rule
@_time_limit
@_require_proof
@_json
@_quiet
@_verbose
@_reading_options
def tiers(file: str, theta: float, merge: str, path: bool, rule: str, time_limit: float | None, require_proof: bool,
          as_json: bool, quiet: bool, verbose: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Sort the items of FILE into honest tiers.

    Items stay tied where the votes do not tell them apart.
    """
    from holdrank.merge import Robust, merge_path

    votes = _read(file, reading, quiet)
    strict = _consensus(votes, rule, time_limit, quiet, verbose)
    merged = Robust(theta=theta, rule=merge).merged(votes, strict)  # type: ignore[arg-type]
    if path:
        steps = merge_path(votes.pairwise(), strict.ranking, merge)  # type: ignore[arg-type]
        if as_json:
            found = [{"theta": at, "tiers": _names(votes, ranking.buckets)} for at, ranking in steps]
            _print_json("tiers", votes, rule=rule, merge=merge, path=found)
        else:
            for at, ranking in steps:
                click.echo(f"{at:<8.4g} {ranking.text(votes.items)}")
    elif as_json:
        _print_json("tiers", votes, rule=rule, merge=merge, theta=theta, consensus=_consensus_json(merged))
    else:
        _print_tiers(votes, merged, f"Tiers of {rule} by {merge} merge at theta = {theta:g}")
    return _exit_code(merged, require_proof)


@cli.command(cls=_ReadingCommand)
@click.argument("file")
@_json
@_reading_options
def validate(file: str, as_json: bool, reading: dict[str, Any]) -> int:
    """Check FILE and list its problems.

    The first 20 are shown with their lines, and the total; without any, what was read.
    """
    from holdrank.files import validate as check

    result = check(file, **reading)
    if as_json:
        problems = [str(problem) for problem in result.problems]
        summary = None if result.votes is None else _votes_json(result.votes)
        click.echo(json.dumps({"file": file, "problems": problems, "total": result.total, "votes": summary}, indent=2))
    elif result.votes is not None:
        click.echo(result.votes.summary())
        click.echo("no problems found")
    else:
        for problem in result.problems:
            click.echo(_in_options(str(problem)))
        more = f"; the first {len(result.problems)} are shown" if result.total > len(result.problems) else ""
        click.echo(f"{result.total} problem{'s' * (result.total != 1)}{more}")
    return EXIT_DATA if result.total else 0


@cli.command(cls=_ReadingCommand)
@click.argument("file")
@click.argument("output")
@click.option(
    "--to",
    type=click.Choice(["preflib", "positions", "rank-columns", "jsonl"]),
    help="Form of OUTPUT; told by its ending if not given.",
)
@_quiet
@_reading_options
def convert(file: str, output: str, to: str | None, quiet: bool, reading: dict[str, Any]) -> None:
    """Write the votes of FILE to OUTPUT.

    The ending of OUTPUT tells the form: .soc .soi .toc .toi .csv .jsonl; - is stdout.
    """
    from holdrank.files import write_votes

    votes = _read(file, reading, quiet)
    write_votes(votes, output, format=to)
    if votes.unlisted == "observed" and votes.incomplete and not output.endswith(".jsonl") and to != "jsonl":
        click.echo(
            "note: this form cannot hold the rule for unlisted items; read it with --unlisted observed", err=True
        )
    if output != "-" and not quiet:
        click.echo(f"wrote {show(output, 200)}", err=True)


@cli.command()
@click.option("--out", default="holdrank-demo", show_default=True, help="Folder for the results.")
@click.option("--seed", type=int, default=2023, show_default=True, help="Of the generated votes.")
@click.option("--theta", type=click.FloatRange(0, 0.5), default=0.05, show_default=True, help="Threshold of the tiers.")
def demo(out: str, seed: int, theta: float) -> None:
    """Analyse a generated data set."""
    from holdrank.consensus import kemeny
    from holdrank.files import write_votes
    from holdrank.merge import Robust
    from holdrank.models import PlackettLuce, sample_votes

    strengths = {
        "Alder": 8.0,
        "Birch": 7.7,
        "Cedar": 5.0,
        "Elm": 3.1,
        "Fir": 3.0,
        "Hazel": 2.9,
        "Juniper": 1.5,
        "Larch": 0.6,
    }
    votes = sample_votes(PlackettLuce(list(strengths.values())), 500, rng=seed, items=strengths)
    consensus = kemeny(votes)
    merged = Robust(kemeny, theta)(votes)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    write_votes(votes, folder / "votes.soc")
    record = {**_record("demo", votes), "generated": True, "seed": seed, "theta": theta,
              "consensus": _consensus_json(consensus), "tiers": _consensus_json(merged)}  # fmt: skip
    (folder / "consensus.json").write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    click.echo(f"Generated data, not real votes: 500 ballots drawn from a Plackett-Luce model with seed {seed}.\n")
    _print_ranking(votes, consensus, "Kemeny consensus")
    click.echo()
    _print_tiers(votes, merged, f"Tiers at theta = {theta:g}")
    click.echo(f"\nWritten: {folder / 'votes.soc'}, {folder / 'consensus.json'}")
    program = "holdrank" if shutil.which("holdrank") else sys.argv[0]
    click.echo(f"Next: {program} tiers {folder / 'votes.soc'} --path")


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


def _read(file: str, reading: dict[str, Any], quiet: bool) -> Votes:
    from holdrank.files import read_votes

    if sys.stdout is None or (file == "-" and sys.stdin is None):
        raise click.UsageError("standard input or output is closed")
    votes = read_votes(file, **reading)
    if not quiet:
        _complain(votes.summary() + "\n")
    return votes


def _consensus(votes: Votes, rule: str, time_limit: float | None, quiet: bool, verbose: bool) -> Consensus:
    from holdrank import consensus

    if rule == "kemeny":
        show_progress = not quiet and sys.stderr is not None and sys.stderr.isatty()
        found = consensus.kemeny(votes, time_limit=time_limit, progress=_Progress() if show_progress else None)
        if show_progress:
            click.echo("\r\x1b[K", nl=False, err=True)
    else:
        found = consensus.borda(votes) if rule == "borda" else consensus.footrule(votes)
    if verbose:
        click.echo(f"{found.status}: {found.proof}; {found.seconds:.3f} s", err=True)
    return found


class _Progress:
    """One line on a terminal that says how far a long search has come, written over ten times a second at most."""

    def __init__(self) -> None:
        self._last = monotonic()

    def __call__(self, step: Step) -> None:
        if monotonic() - self._last > 0.1:
            self._last = monotonic()
            click.echo(f"\r{step.name}: {step.done} of {step.total}, Ctrl-C ends the search\x1b[K", nl=False, err=True)


def _exit_code(consensus: Consensus, require_proof: bool) -> int:
    from holdrank.status import Status

    if consensus.status is Status.INTERRUPTED:
        return EXIT_INTERRUPTED
    return EXIT_NOT_PROVED if require_proof and not consensus.status.is_exact else 0


def _names(votes: Votes, buckets: tuple[tuple[int, ...], ...]) -> list[list[str]]:
    return [[votes.items[i] for i in bucket] for bucket in buckets]


def _consensus_json(consensus: Consensus) -> dict[str, Any]:
    return {
        "tiers": [[consensus.items[i] for i in bucket] for bucket in consensus.ranking.buckets],
        "ranks": dict(zip(consensus.items, consensus.ranking.ranks.tolist(), strict=True)),
        "loss": consensus.loss,
        "bound": consensus.bound,
        "distance": consensus.distance,
        "status": consensus.status.value,
        "unique": consensus.unique,
        "proof": consensus.proof,
        "seconds": round(consensus.seconds, 6),
    }


def _votes_json(votes: Votes) -> dict[str, Any]:
    return {
        "source": votes.reading.source,
        "sha256": votes.reading.sha256,
        "input_hash": votes.input_hash,
        "format": votes.reading.format,
        "items": list(votes.items),
        "ballots": votes.total,
        "distinct": votes.distinct,
        "with_ties": votes.with_ties,
        "incomplete": votes.incomplete,
        "choices": dict(votes.reading.choices),
        "notes": list(votes.notes),
    }


def _record(command: str, votes: Votes) -> dict[str, Any]:
    return {"holdrank": __version__, "command": command, "votes": _votes_json(votes)}


def _print_json(command: str, votes: Votes, **parts: Any) -> None:
    click.echo(json.dumps({**_record(command, votes), **parts}, indent=2))


def _print_table(title: str, votes: Votes, table: Table) -> None:
    """Print a title and a table: as wide as the terminal, or 100 columns where nobody looks."""
    from rich.console import Console

    from holdrank.votes import number

    many = "s" * (votes.total != 1), "s" * (votes.n != 1)
    click.echo(f"{title}: {number(votes.total)} ballot{many[0]}, {votes.n} item{many[1]}")
    console = Console(width=None if sys.stdout.isatty() else 100, highlight=False, markup=False, emoji=False)
    with console.capture() as page:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in page.get().splitlines()))


def _print_ranking(votes: Votes, consensus: Consensus, title: str) -> None:
    from rich.table import Table

    from holdrank.votes import number

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("place", justify="right")
    table.add_column("item", overflow="fold")
    table.add_column("preferred to the next by", overflow="fold")
    order = consensus.ranking.order
    wins = votes.wins()
    for place, item in enumerate(order, start=1):
        margin = ""
        if place < len(order):
            for_it, against = wins[item, order[place]], wins[order[place], item]
            both = for_it + against
            margin = f"{number(for_it)} of {number(both)} ({for_it / both:.1%})" if both else "never compared"
        table.add_row(str(place), show(votes.items[item], 60), margin)
    _print_table(title, votes, table)
    click.echo(_verdict(consensus))


def _print_tiers(votes: Votes, merged: Consensus, title: str) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("tier", justify="right")
    table.add_column("items", overflow="fold")
    for tier, bucket in enumerate(merged.ranking.buckets, start=1):
        table.add_row(str(tier), ", ".join(show(votes.items[i], 60) for i in bucket))
    _print_table(title, votes, table)
    click.echo(_verdict(merged))


def _verdict(consensus: Consensus) -> str:
    from holdrank.status import Status

    optima = {True: "the only optimum", False: "one of several optima", None: "other optima not excluded"}
    scores = {True: "all scores differ", False: "equal scores in the order of the file"}
    if consensus.status is Status.SCORED:
        alone = scores[bool(consensus.unique)]
    else:
        alone = ("the median is " if consensus.status is Status.MERGED else "") + optima[consensus.unique]
    gap = "" if consensus.status.is_exact else f", no ranking is below {consensus.bound:.6g}"
    distance = consensus.distance.replace("_", " ").replace("spearman", "Spearman").replace("kendall", "Kendall")
    return f"loss {consensus.loss:.6g} ({distance}{gap}); {consensus.status}; {alone}"
