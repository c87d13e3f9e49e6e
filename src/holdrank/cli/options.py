"""Options that commands share, and how they read FILE."""

from __future__ import annotations

import math
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdrank.cli.columns import ColumnOption
from holdrank.cli.limits import command_clock
from holdrank.cli.printing import complain, progress_line
from holdrank.errors import Option, quote, show
from holdrank.words.names import rule_name, why_chosen

if TYPE_CHECKING:
    from holdrank.rules.consensus import Statistic
    from holdrank.rules.merges import Robust
    from holdrank.votes.votes import Votes

F = TypeVar("F", bound=Callable[..., Any])

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
    "win-matrix",
    "blt",
    "abif",
    "scottish",
    "pgn",
    "lolib",
    "order",
    "jsonl",
)
CLAIMS = "'X wins', 'A above B' or 'top 3'"  # as in holdrank.attacks.goals, for the same reason


class ReadingCommand(click.Command):
    """A command that reads FILE: its help lists the options for reading, and those of ratings, in separate sections."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for one in self.params:
            if isinstance(one, click.Argument) and one.type is click.STRING:
                one.type = click.Path()  # so that shells complete names of files

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of the command, then those of ratings and of FILE."""
        parts: dict[str, list[tuple[str, str]]] = {"Options": [], "Ratings": [], "How FILE is read": []}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if record is not None:
                of_file, of_ratings = option in READING_OPTIONS, option in RATING_OPTIONS
                parts["How FILE is read" if of_file else "Ratings" if of_ratings else "Options"].append(record)
        for title, records in parts.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


READING_OPTIONS = [
    click.Option(["--format"], type=click.Choice(FORMATS), metavar="FORM",
                 help=f"Format of FILE, auto-detected by default. One of {', '.join(FORMATS)}."),
    click.Option(["--unlisted"], type=click.Choice(["bottom", "observed"]),
                 help="Items a ballot does not list: tied below the listed ones, or not compared."),
    click.Option(["--delimiter"], help="Column delimiter: , ; | or tab. Auto-detected by default."),
    click.Option(["--encoding"], help="Text encoding; UTF-8 by default."),
    click.Option(["--header"], type=int, help="Row that holds the column names, counted from 1; 0 for none."),
    ColumnOption(["--columns"], help="Columns to use, separated by commas: names, or positions counted from 1."),
    ColumnOption(["--item"], multiple=True, help="Column with the item name; repeat it for a name in several parts."),
    ColumnOption(["--voter"], help="Column with the voter."),
    ColumnOption(["--weight"], help="Column with the weight of each row."),
    ColumnOption(["--rank-column", "rank"], help="Column with the rank (long format)."),
    ColumnOption(["--score-column", "score"], help="Column with the score (long format)."),
    ColumnOption(["--first"], help="Column with the first item of each battle."),
    ColumnOption(["--second"], help="Column with the second item of each battle."),
    ColumnOption(["--winner"], help="Column with the winner of each battle."),
    click.Option(["--map"], multiple=True, metavar="VALUE=MEANING",
                 help="Meaning of a code in the winner column: first, second, tie or skip; may be repeated."),
    click.Option(["--blank-voters"], type=click.Choice(["refuse", "separate"]),
                 help="Battles without a voter: refuse them (default), or count each as a separate voter."),
    ColumnOption(["--lower-is-better"], multiple=True,
                 help="Score column (voter or task) where lower is better, or all; may be repeated."),
    click.Option(["--blank", "blanks"], multiple=True, help="Text that marks a missing value; may be repeated."),
    click.Option(["--repeated"], type=click.Choice(["refuse", "first"]), default="refuse", show_default=True,
                 help="Item that a ballot lists twice: refuse the file, or keep the first mention."),
    click.Option(["--both-bad"], type=click.Choice(["tie", "drop"]), default="tie", show_default=True,
                 help="Battles where both items were called bad: count as ties, or drop."),
    click.Option(["--categories"], help="Categories of a .cat file, best first, separated by commas."),
    click.Option(["--short-rows"], type=click.Choice(["refuse", "fill"]), default="refuse", show_default=True,
                 help="Rows with too few cells: refuse the file, or fill them with blanks."),
    ColumnOption(["--where"], multiple=True, metavar="COLUMN=VALUE",
                 help="Rows to keep, such as language=en or anony!=False; may be repeated."),
    click.Option(["--since"], metavar="DATE", help="First day of the rows to keep, such as 2024-05-31."),
    click.Option(["--until"], metavar="DATE", help="Last day of the rows to keep."),
    click.Option(["--only"], multiple=True, metavar="ITEM", help="Item to keep; may be repeated."),
    click.Option(["--drop"], multiple=True, metavar="ITEM", help="Item to leave out; may be repeated."),
    click.Option(["--sheet"], help="Sheet of a workbook; the first by default."),
]  # fmt: skip


def reading_options(command: F) -> F:
    """Add the options that say how FILE is read; they reach the command as one dict `reading`."""

    @wraps(command)
    def gather(*args: Any, **kwargs: Any) -> Any:
        reading = {str(option.name): kwargs.pop(str(option.name)) for option in READING_OPTIONS}
        return command(*args, reading=_clean(reading), **kwargs)

    # click keeps the parameters of a command to be in reverse order.
    gather.__click_params__ = [*reversed(READING_OPTIONS), *getattr(command, "__click_params__", [])]  # type: ignore[attr-defined]
    return gather  # type: ignore[return-value]


RATING_OPTIONS = [
    click.Option(["--scale"], type=click.FloatRange(min=0, min_open=True), metavar="POINTS",
                 help="Rating difference that means odds of BASE to 1; 400 by default, as for Elo."),
    click.Option(["--base"], type=click.FloatRange(min=1, min_open=True), metavar="ODDS",
                 help="Odds that a difference of SCALE points means; 10 by default."),
    click.Option(["--offset"], type=float, metavar="POINTS",
                 help="Rating of the anchor, or mean of all ratings without one; 1000 by default."),
    click.Option(["--anchor"], metavar="ITEM", help="Item whose rating is fixed at the offset."),
    click.Option(["--level"], type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="SHARE",
                 help="Confidence level of the intervals; 0.95 by default."),
    click.Option(["--reweight"], is_flag=True,
                 help="Give all pairs equal weight: a comparison weighs 1 / max(comparisons of its pair, 50)."),
    click.Option(["--ties"], type=click.Choice(["half", "davidson", "rao-kupper"]),
                 help="How ties count: half a win each (default), or as an outcome in a tie model."),
]  # fmt: skip


def rating_options(command: F) -> F:
    """Add the options of ratings; they reach the command as two dicts of those given, `model` of the rule's own."""

    @wraps(command)
    def gather(*args: Any, **kwargs: Any) -> Any:
        given = {str(option.name): kwargs.pop(str(option.name)) for option in RATING_OPTIONS}
        given = {name: value for name, value in given.items() if value is not None and value is not False}
        if kwargs["rule"] != "auto":
            expect_ratings(kwargs["rule"], given)
        model = {name: given.pop(name) for name in ("reweight", "ties") if name in given}
        return command(*args, rating=given, model=model, **kwargs)

    gather.__click_params__ = [*reversed(RATING_OPTIONS), *getattr(command, "__click_params__", [])]  # type: ignore[attr-defined]
    return gather  # type: ignore[return-value]


def expect_ratings(rule: str, given: dict[str, Any]) -> None:
    """Refuse options of ratings for a rule that gives none."""
    if rule != "bradley-terry" and given:
        raise click.UsageError(f"--{next(iter(given))} needs --rule bradley-terry, the only rule with ratings.")


# Options of commands, not of reading, that messages name.
_OTHER_OPTIONS = {name: f"--{name}" for name in ("by", "method", "ties")}


def as_option(option: Option) -> str:
    """Return the command-line spelling of an option in a message: ``rank=`` is ``--rank-column``."""
    if option == Option("by", "ballot"):
        return "--ballots"
    known = {one.name: one.opts[0] for one in READING_OPTIONS} | _OTHER_OPTIONS
    if option.name not in known:
        return str(option)
    value = "all" if option.value is True else option.value
    if isinstance(value, str) and any(sign.isspace() for sign in value):
        value = shlex.quote(value)
    return known[option.name] if value is None else f"{known[option.name]} {value}"


def _clean(reading: dict[str, Any]) -> dict[str, Any]:
    """Split lists and drop unset options, so that `read_votes` applies its own defaults."""
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


def worker_options(command: F) -> F:
    """Add the options for parallel work; they reach the command as `executor`, None for this process alone."""

    @click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Number of parallel processes.")
    @click.option("--scheduler", metavar="ADDRESS",
                  help="Dask scheduler to use: its address, or its scheduler file.")  # fmt: skip
    @wraps(command)
    def gather(*args: Any, jobs: int | None, scheduler: str | None, **kwargs: Any) -> Any:
        if jobs is not None and scheduler is not None:
            raise click.UsageError("Give --jobs or --scheduler, not both.")
        if scheduler is None and jobs in (None, 1):
            return command(*args, executor=None, **kwargs)
        from holdrank.parallel.executors import connect, local

        with local(jobs or 1) if scheduler is None else connect(scheduler) as executor:
            return command(*args, executor=executor, **kwargs)

    return gather  # type: ignore[return-value]


checkpoint_option = click.option(
    "--checkpoint", type=click.Path(dir_okay=False), metavar="POINTS",
    help="File that keeps finished work, so that an interrupted run can be resumed.",
)  # fmt: skip
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Do not print how the file was read.")
verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Print how the result was proved and how long it took."
)


class Threshold(click.FloatRange):
    """A number from 0 to 0.5, or the word auto."""

    def __init__(self) -> None:
        super().__init__(0, 0.5)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See click."""
        if value == "auto":
            return value
        try:
            float(value)
        except ValueError:
            self.fail(f"{quote(str(value))} is neither a number nor auto.", param, ctx)
        return super().convert(value, param, ctx)


class _Rule(click.Choice[str]):
    """The name of a rule; as in Python, it may have an underscore."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See click."""
        if str(value).lower() == "elo":
            self.fail("there is no rule 'elo'; bradley-terry gives ratings on the Elo scale.", param, ctx)
        return super().convert(str(value).replace("_", "-"), param, ctx)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
require_proof_option = click.option(
    "--require-proof", is_flag=True, help="Exit with code 5 unless the result is proven."
)
merge_option = click.option(
    "--merge",
    type=click.Choice(["downward", "naive", "smith"]),
    default="downward",
    show_default=True,
    help="How neighbours are merged into tiers: the farthest within theta first, the closest first, or all that do not "
    "beat everything below by more than theta.",
)


theta_option = click.option(
    "--theta",
    type=Threshold(),
    metavar="T",
    help="Attack the tiers at this threshold, or at the one that auto chooses; by default the ranking without ties.",
)


class Seconds(click.FloatRange):
    """A number of seconds, or the word none for no limit."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See click."""
        if value in ("none", math.inf):  # a limit that is not None for click: it would take that for not given
            return math.inf
        try:
            float(value)
        except ValueError:
            self.fail(f"{quote(str(value))} is neither a number of seconds nor none.", param, ctx)
        return super().convert(value, param, ctx)


TIME_LIMIT = 30.0  # default, in seconds


by_option = click.option(
    "--by",
    cls=ColumnOption,
    metavar="COLUMN",
    help="Column of independent units, such as voter, prompt or task; by default each vote.",
)


def _brief(seconds: float) -> float:
    """Return whole seconds as a whole number, which help shows without its decimal."""
    return int(seconds) if seconds == int(seconds) else seconds


def time_option(what: str, default: float = TIME_LIMIT, *, from_start: bool = True) -> Callable[[F], F]:
    """Return the time-limit option; it reaches the command as seconds, None for no limit.

    Commands with `from_start` ask `command_clock` how much of it is left after reading.
    """
    counted = f"{what}; start-up and reading count too" if from_start else what

    def add(command: F) -> F:
        @click.option("--time-limit", type=Seconds(), default=_brief(default), show_default=True, metavar="SECONDS",
                      help=f"Time limit in seconds for {counted}; none for no limit.")  # fmt: skip
        @wraps(command)
        def limited(*args: Any, time_limit: float, **kwargs: Any) -> Any:
            command_clock.begin()
            return command(*args, time_limit=None if math.isinf(time_limit) else time_limit, **kwargs)

        return limited  # type: ignore[return-value]

    return add


search_time_option = time_option("the search")


def result_options(command: F) -> F:
    """Add the options of commands with one result: required proof, output, and reading of FILE."""
    for add in (reading_options, verbose_option, quiet_option, json_option, require_proof_option):
        command = add(command)
    return command


RULES = ("kemeny", "borda", "footrule", "copeland", "bradley-terry", "mean-score")  # as in the registry, without numpy
rule_option = click.option(
    "--rule", type=_Rule(("auto", *RULES)), default="auto", show_default=True,
    help="Aggregation rule; auto uses Bradley-Terry for battles and Kemeny for all other votes.",
)  # fmt: skip


def settled_rule(asked: str, *votes: Votes) -> str:
    """Return the name of the rule for these votes."""
    from holdrank.rules.registry import rule_for

    return rule_for(asked, *votes).name


def tell_rule(asked: str, rule: str) -> None:
    """Print which rule was chosen for battles; after the result, because results come first."""
    if why := why_chosen(asked, rule):
        click.echo(f"rule: {rule_name(rule)}, {why} (choose another with --rule)")


def statistic(rule: str) -> Statistic:
    """Return the function behind the name of a rule."""
    from holdrank.rules.registry import statistic_named

    return statistic_named(rule)


def statistic_of(rule: str, theta: float | str | None, merge: str, votes: Votes) -> Statistic:
    """Return the statistic to attack: a median, or its tiers at a threshold."""
    return statistic(rule) if theta is None else tiers_of(rule, theta, merge, votes)


def tiers_of(rule: str, theta: float | str, merge: str, votes: Votes) -> Robust:
    """Return the tiers of a rule at a threshold, or at the one that auto chooses for these votes."""
    from holdrank.rules.merges import Robust

    return Robust(statistic(rule), theta, merge=merge).fixed(votes)  # type: ignore[arg-type]


VOTE_ENDINGS = (".soc", ".soi", ".toc", ".toi", ".csv", ".jsonl")


def check_output(option: str, output: str, file: str, endings: Sequence[str] = ()) -> None:
    """Refuse an invalid output file before any work starts: wrong extension, the input file, a missing folder."""
    from holdrank.files.writers import expect_target

    if endings and Path(output).suffix.lower() not in endings:
        raise click.UsageError(
            f"{option} needs a file with the extension {', '.join(endings)}, not {show(output, 200)!r}."
        )
    if _same_file(output, file):
        raise click.UsageError(f"{option} would overwrite the votes in {show(file, 200)}; name another file.")
    expect_target(Path(output))


summary_option = click.option("--summary", metavar="PAGE", help="Append the result to this file, as Markdown.")


def write_summary(path: str, text: str) -> None:
    """Append a summary to a file."""
    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as page:
            page.write(text)
    except (OSError, ValueError) as error:
        from holdrank.files.writers import unwritable

        raise unwritable(Path(path), error) from error


def _same_file(output: str, file: str) -> bool:
    """Whether an output file is the input file, under any name."""
    try:
        return os.path.samefile(output, file)
    except (OSError, ValueError):  # one of them is not there
        return False


def read(file: str, reading: dict[str, Any], quiet: bool) -> Votes:
    """Return the votes of FILE, and print on stderr how it was read."""
    if sys.stdout is None or (file == "-" and sys.stdin is None):
        raise click.UsageError("standard input or output is closed")
    with progress_line(quiet, f"reading {show(file, 40)}") as progress:
        from holdrank.files import read_votes  # here, because it is slow to import

        if progress is not None:
            reading = {**reading, "progress": progress}
        votes = read_votes(file, **reading)
    if not quiet:
        complain(votes.summary() + "\n")
    return votes
