"""Limits on the size of votes, and on how much is handled at a time."""

from __future__ import annotations

from holdrank.errors import LimitError

MAX_CELLS = 2**28
"""Largest ballots x items matrix that a reader builds (1 GiB of 32-bit ranks)."""

MOST_ITEMS = 5_000
"""Above this an n x n matrix of floats is too large for ordinary memory."""

NUMBERS_AT_A_TIME = 1 << 19
"""Ranks handled at a time, to keep temporary arrays small."""


def most_cells(size: int) -> int:
    """Return the largest number of cells of a table, given its size in bytes or its number of filled cells.

    A small file can describe a large table that is almost empty, or packed: its cells would take a hundred times the
    memory of the file.
    """
    return max(2**21, 12 * size)


def refuse_large_matrix(ballots: int, items: int, source: str = "") -> None:
    """Refuse ballots whose matrix cannot fit in memory, even if it is made later."""
    if ballots * items > MAX_CELLS:
        where = f"{source}: " if source else ""
        raise LimitError(
            f"{where}{ballots:,} distinct ballots over {items:,} items need more than {MAX_CELLS:,} cells",
            repair="use fewer items or split the file",
        )


def refuse_many_items(n: int, named: str = "ballots list") -> None:
    """Refuse more items than a matrix of all pairs can hold."""
    if n > MOST_ITEMS:
        raise LimitError(
            f"{n:,} items need a matrix of {n:,} x {n:,} numbers; the limit is {MOST_ITEMS:,} items",
            repair=f"keep the items that enough {named}",
        )
