"""Output of commands: JSON and tables on stdout, messages and progress on stderr; and the exit codes."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.interrupts import Phase, watch
from holdrank.words.nouns import unit_of
from holdrank.words.numbers import plural
from holdrank.words.results import STEPS, more_time_text

if TYPE_CHECKING:
    from rich.table import Table

    from holdrank.status import Status, Step
    from holdrank.votes.votes import Votes

EXIT_INTERNAL, EXIT_USAGE, EXIT_DATA, EXIT_GATE, EXIT_NOT_PROVED = 1, 2, 3, 4, 5
EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143  # as in shells: 128 plus the number of the signal

_FIRST = 0.3  # seconds until the line of progress is there; quicker work needs none
_BETWEEN = 3  # columns of a table
_LONG = 300  # rows from which our own layout is used
_NARROWEST = 80  # columns of a table: its numbers are never cut; a terminal that has less breaks the lines


def complain(message: str, *, nl: bool = True) -> None:
    """Write to stderr; if that is closed or full, only the exit code reports the error."""
    with suppress(OSError):
        click.echo(message, nl=nl, err=True)


class Progress:
    """One line on a terminal with the current step, its progress, the results so far, and the time.

    It appears almost at once, and is updated at most ten times and at least once a second: a search may be silent for
    long.
    """

    def __init__(self, what: str, phase: Phase | None = None) -> None:
        self._what = self._words = what
        self._phase = phase or Phase()
        self._known = self._result = ""  # of this step, and of the analysis
        self._started = self._last = monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_writing, daemon=True)
        self._thread.start()

    def __call__(self, step: Step) -> None:
        """Show a step; a step of an analysis stays as the heading of its parts."""
        share = f"{step.done:,} of {step.total:,}" if step.total > step.done else f"{step.done:,}"
        if step.name in STEPS:
            self._what = self._words = f"step {step.done + 1} of {step.total}, {STEPS[step.name]}"
            self._result = step.known
        else:
            self._words = f"{self._what}: {step.name}: {share}"
        self._known = (step.known or self._result).rstrip(".")
        self._phase.known = self._known or self._phase.known
        if monotonic() - self._last > 0.1:
            self._write()

    def _keep_writing(self) -> None:
        pause = _FIRST
        while not self._over.wait(pause):
            self._write()
            pause = 1.0

    def _write(self) -> None:
        from rich.cells import cell_len, set_cell_size

        self._last = monotonic()
        tail = f", {int(self._last - self._started)} s, Ctrl-C ends it"
        room = max(shutil.get_terminal_size().columns - 1 - len(tail), 0)  # a second line would stay
        words = f"{self._words}; {self._known}" if self._known else self._words
        words = words if cell_len(words) <= room else set_cell_size(words, room)
        complain(f"\r{words}{tail}\x1b[K", nl=False)

    def end(self) -> None:
        """Clear the line."""
        self._over.set()
        self._thread.join()
        complain("\r\x1b[K", nl=False)


@contextmanager
def progress_line(quiet: bool, what: str = "at work") -> Iterator[Progress | None]:
    """Yield a progress callback if stderr is a terminal; `what` is shown until the first step.

    A signal ends the work inside within a second.
    """
    with watch.computing() as phase:
        if quiet or sys.stderr is None or not sys.stderr.isatty():
            yield None
            return
        progress = Progress(what, phase)
        try:
            yield progress
        finally:
            progress.end()


@contextmanager
def searching(quiet: bool, what: str) -> Iterator[Callable[[Step], None]]:
    """Yield a progress callback as `progress_line` does, which also stores the results so far."""
    with progress_line(quiet, what) as progress:
        yield progress or watch.keep


def tell_limit(time_limit: float | None, status: Status, gain: str, seconds: float | None = None) -> None:
    """Print on stderr if the time limit ended the work, and what more time would give.

    `seconds` is the time taken, where parts have shares of the time and may end early.
    """
    if time_limit is not None and status.is_timed_out:
        complain(f"note: {more_time_text(time_limit, gain, seconds)}")


def exit_code(status: Status, require_proof: bool) -> int:
    """Return the exit code for a result of this status."""
    if status.is_interrupted:
        return EXIT_INTERRUPTED
    return EXIT_NOT_PROVED if require_proof and not status.is_exact else 0


def print_json(command: str, votes: Votes | None, **parts: Any) -> None:
    """Print the result of a command as JSON."""
    from holdrank.analysis.records import command_record

    click.echo(json.dumps(command_record(command, votes, **parts), indent=2, allow_nan=False))


def shows(text: str) -> bool:
    """Whether the terminal can show these characters."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def line_width() -> int:
    """Return the width of tables: the terminal's, if that is enough, or 100 without a terminal."""
    return max(shutil.get_terminal_size().columns, _NARROWEST) if sys.stdout.isatty() else 100


def how_read(votes: Votes) -> dict[str, Any]:
    """Return the facts that determine the noun for a vote, as in the record of votes."""
    return {"format": votes.reading.format, "choices": votes.reading.choices}


def plain_table(*numbers: str) -> Table:
    """Return a table without lines, which begins with columns of numbers."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, _BETWEEN, 0, 0))
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def room_beside(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return how many columns of a line are left next to the cells of a table."""
    columns = zip(headings, *rows, strict=True)
    return line_width() - sum(max(map(len, cells)) + _BETWEEN for cells in columns)


def print_table(title: str, votes: Votes | None, table: Table) -> None:
    """Print a title and a table."""
    from rich.console import Console

    if votes is not None:
        title += f": {plural(votes.total, unit_of(how_read(votes)))}, {plural(votes.n, 'item')}"
    click.echo(title)
    console = Console(width=line_width(), highlight=False, markup=False, emoji=False)
    body = _long_body(table, console.width) if table.row_count > _LONG else []
    with console.capture() as page:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in (*page.get().splitlines(), *body)))


def _long_body(table: Table, width: int) -> list[str]:
    """Return the rows of a long table as lines, if all of them fit, and remove them: rich takes 0.3 ms per row.

    The table keeps its heading, and the widths of its columns.
    """
    from rich.cells import cell_len

    def room(cell: str) -> int:
        return len(cell) if cell.isascii() else cell_len(cell)

    columns = [
        [cell for cell in column.cells if isinstance(cell, str) and cell.isprintable()] for column in table.columns
    ]
    if any(len(cells) < table.row_count for cells in columns):
        return []
    widths = [
        max(room(str(column.header)), *map(room, some)) for column, some in zip(table.columns, columns, strict=True)
    ]
    if sum(widths) + _BETWEEN * (len(widths) - 1) > width or any(
        c.justify not in ("left", "right") for c in table.columns
    ):
        return []
    padded = []
    for column, some, wide in zip(table.columns, columns, widths, strict=True):
        gaps = [" " * (wide - room(cell)) for cell in some]
        right = column.justify == "right"
        padded.append([gap + cell if right else cell + gap for gap, cell in zip(gaps, some, strict=True)])
        column.min_width = wide
        column._cells.clear()
    table.rows.clear()
    return [(" " * _BETWEEN).join(row) for row in zip(*padded, strict=True)]
