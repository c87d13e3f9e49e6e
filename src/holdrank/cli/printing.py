"""What commands print: JSON and tables on stdout, messages and progress on stderr; and the exit codes."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from holdrank import __version__
from holdrank.errors import show

if TYPE_CHECKING:
    from rich.table import Table

    from holdrank.analysis.bootstrap import Bootstrap
    from holdrank.rankings import Ranking
    from holdrank.rules.consensus import Consensus
    from holdrank.status import Status, Step
    from holdrank.votes.votes import Votes

EXIT_INTERNAL, EXIT_USAGE, EXIT_DATA, EXIT_GATE, EXIT_NOT_PROVED = 1, 2, 3, 4, 5
EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143  # as shells tell it: 128 and the number of the signal

_BETWEEN = 3  # columns of a table
_NARROWEST = 80  # columns of a table: its numbers are never cut; a terminal that has less breaks the lines


def complain(message: str, *, nl: bool = True) -> None:
    """Write to stderr; when that is closed or full, the exit code has to do."""
    with suppress(OSError):
        click.echo(message, nl=nl, err=True)


class Progress:
    """One line on a terminal that says what goes on, how far it has come and for how long.

    It is written over ten times a second at most, and once a second at least: a search may be silent for long.
    """

    def __init__(self, what: str) -> None:
        self._words = what
        self._started = self._last = monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_writing, daemon=True)
        self._thread.start()

    def __call__(self, step: Step) -> None:
        """Show a step."""
        self._words = f"{step.name}: {step.done:,} of {step.total:,}"
        if monotonic() - self._last > 0.1:
            self._write()

    def _keep_writing(self) -> None:
        while not self._over.wait(1.0):
            self._write()

    def _write(self) -> None:
        from rich.cells import cell_len, set_cell_size

        self._last = monotonic()
        tail = f", {int(self._last - self._started)} s, Ctrl-C ends it"
        room = max(shutil.get_terminal_size().columns - 1 - len(tail), 0)  # a second line would stay
        words = self._words if cell_len(self._words) <= room else set_cell_size(self._words, room)
        complain(f"\r{words}{tail}\x1b[K", nl=False)

    def end(self) -> None:
        """Clear the line."""
        self._over.set()
        self._thread.join()
        complain("\r\x1b[K", nl=False)


@contextmanager
def progress_line(quiet: bool, what: str = "at work") -> Iterator[Progress | None]:
    """Give what shows progress where somebody looks; `what` goes on until the first step is known."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    progress = Progress(what)
    try:
        yield progress
    finally:
        progress.end()


def exit_code(status: Status, require_proof: bool) -> int:
    """Return the exit code for a result of this status."""
    if status.is_interrupted:
        return EXIT_INTERRUPTED
    return EXIT_NOT_PROVED if require_proof and not status.is_exact else 0


def tier_names(tiers: Ranking, median: Ranking, items: Sequence[str]) -> list[list[str]]:
    """Return the names in each tier; tied items stand in the order of the median, as in the report."""
    from holdrank.views.svg.words import buckets

    return [[items[i] for i in bucket] for bucket in buckets(tiers.ranks.tolist(), median.order)]


def tiers_text(tiers: Ranking, median: Ranking, items: Sequence[str]) -> str:
    """Return tiers on one line, as `Ranking.text` does, but tied items in the order of the median."""
    shown = [[show(name) for name in names] for names in tier_names(tiers, median, items)]
    return " > ".join(names[0] if len(names) == 1 else f"{{{', '.join(names)}}}" for names in shown)


def consensus_json(consensus: Consensus, median: Consensus | None = None) -> dict[str, Any]:
    """Return a consensus as plain data; tied items stand in the order of the median, or of the file."""
    return {
        "tiers": tier_names(consensus.ranking, (median or consensus).ranking, consensus.items),
        "ranks": dict(zip(consensus.items, consensus.ranking.ranks.tolist(), strict=True)),
        "loss": consensus.loss,
        "bound": consensus.bound,
        "distance": consensus.distance,
        "status": consensus.status.value,
        "unique": consensus.unique,
        "proof": consensus.proof,
        "notes": list(consensus.notes),
        "seconds": round(consensus.seconds, 6),
    }


def bootstrap_json(drawn: Bootstrap) -> dict[str, Any]:
    """Return a bootstrap as plain data."""
    names = ("best", "median", "worst", "first")
    rows = zip(drawn.items, *(getattr(drawn, name).tolist() for name in names), strict=True)
    return {
        "draws": drawn.draws,
        "level": drawn.level,
        "seed": drawn.seed,
        "unchanged": drawn.unchanged,
        "items": {item: dict(zip(names, row, strict=True)) for item, *row in rows},
        "status": drawn.status.value,
        "seconds": round(drawn.seconds, 6),
    }


def votes_json(votes: Votes) -> dict[str, Any]:
    """Return what was read as plain data, without the ballots."""
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


def record(command: str, votes: Votes) -> dict[str, Any]:
    """Return what every JSON result begins with."""
    return {"holdrank": __version__, "command": command, "votes": votes_json(votes)}


def print_json(command: str, votes: Votes, **parts: Any) -> None:
    """Print a result as JSON."""
    click.echo(json.dumps({**record(command, votes), **parts}, indent=2))


def print_record(command: str, **parts: Any) -> None:
    """Print a result about several files as JSON."""
    click.echo(json.dumps({"holdrank": __version__, "command": command, **parts}, indent=2))


def shows(text: str) -> bool:
    """Whether the terminal has these signs."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def line_width() -> int:
    """Return how many columns a table may take: the terminal's, if those are enough, or 100 where nobody looks."""
    return max(shutil.get_terminal_size().columns, _NARROWEST) if sys.stdout.isatty() else 100


def plain_table(*numbers: str) -> Table:
    """Return a table without lines, which begins with columns of numbers."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, _BETWEEN, 0, 0))
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def room_beside(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return how many columns of a line are left beside the cells of a table."""
    columns = zip(headings, *rows, strict=True)
    return line_width() - sum(max(map(len, cells)) + _BETWEEN for cells in columns)


def print_table(title: str, votes: Votes | None, table: Table) -> None:
    """Print a title and a table."""
    from rich.console import Console

    from holdrank.words.numbers import number

    if votes is not None:
        many = "s" * (votes.total != 1), "s" * (votes.n != 1)
        title += f": {number(votes.total)} ballot{many[0]}, {votes.n} item{many[1]}"
    click.echo(title)
    console = Console(width=line_width(), highlight=False, markup=False, emoji=False)
    with console.capture() as page:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in page.get().splitlines()))


def print_ranking(votes: Votes, consensus: Consensus, title: str, drawn: Bootstrap | None = None) -> None:
    """Print a strict consensus, each item with its majority over the next, and where it lies in draws of the votes."""
    from holdrank.words.numbers import number

    table = plain_table("place", *(() if drawn is None else (f"{100 * drawn.level:.3g} % of draws", "first")))
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
        spread = []
        if drawn is not None:
            spread = [f"{drawn.best[item]:g} to {drawn.worst[item]:g}", f"{drawn.first[item]:.1%}"]
        table.add_row(str(place), *spread, show(votes.items[item], 60), margin)
    print_table(title, votes, table)
    click.echo(verdict(consensus))
    if drawn is not None:
        draws = f"{drawn.draws:,} draw{'s' * (drawn.draws != 1)} of the votes"
        click.echo(f"{draws}, {drawn.unchanged:.1%} with this very order; {drawn.status}")


def print_comparison(votes: Votes, found: dict[str, Consensus]) -> None:
    """Print the places of the items by several rules, in the order of the first, and the loss of each rule."""
    table = plain_table(*found)
    table.add_column("item", overflow="fold")
    first = next(iter(found.values()))
    places = [one.ranking.places for one in found.values()]
    for item in first.ranking.order:
        table.add_row(*(f"{place[item]:g}" for place in places), show(votes.items[item], 60))
    table.add_row(*(f"{votes.loss(one.ranking):.4g}" for one in found.values()), "loss (Kendall)")
    print_table("Places by rule", votes, table)
    for rule, one in found.items():
        if not one.status.is_exact:
            click.echo(f"{rule}: {one.status}")


def print_tiers(votes: Votes, merged: Consensus, median: Consensus, title: str) -> None:
    """Print a consensus with ties, one line a tier, tied items in the order of the median."""
    table = plain_table("tier")
    table.add_column("items", overflow="fold")
    for tier, items in enumerate(tier_names(merged.ranking, median.ranking, votes.items), start=1):
        table.add_row(str(tier), ", ".join(show(item, 60) for item in items))
    print_table(title, votes, table)
    for note in merged.notes:
        click.echo(f"note: {note}")
    click.echo(verdict(merged))


def verdict(consensus: Consensus) -> str:
    """Return loss, status and uniqueness in one line."""
    from holdrank.status import Status

    optima = {True: "the only optimum", False: "one of several optima", None: "other optima not excluded"}
    scores = {True: "all scores differ", False: "equal scores in the order of the file"}
    if consensus.status in (Status.SCORED, Status.SORTED):
        alone = scores[bool(consensus.unique)]
    elif consensus.status is Status.MERGED and consensus.unique:
        # By dominating sets the tiers are the same from every median (`smith_merge`).
        alone = "the only tiers" if consensus.proof.startswith("smith") else "the median is the only optimum"
    elif consensus.status is Status.MERGED and consensus.notes:
        alone = "other tiers not excluded"
    else:
        alone = optima[consensus.unique]
    gap = "" if consensus.status.is_exact else f", no ranking is below {consensus.bound:.6g}"
    distance = consensus.distance.replace("_", " ").replace("spearman", "Spearman").replace("kendall", "Kendall")
    return f"loss {consensus.loss:.6g} ({distance}{gap}); {consensus.status}; {alone}"
