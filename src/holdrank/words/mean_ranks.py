"""The critical-difference diagram in words: mean ranks, and the groups that chance does not separate."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from typing import Any

from holdrank.words.chance import critical_text, friedman_text
from holdrank.words.names import in_text, listed
from holdrank.words.numbers import plural

Record = dict[str, Any]

MOST_DRAWN = 80  # items of a diagram
_MOST_TOLD = 12  # items and groups in words
_MOST_NAMED = 12  # items of a group


def diagram_left_out(found: Record | None, items: int) -> str:
    """Return why a diagram is left out, in a line; empty if it is shown.

    Examples
    --------
    >>> diagram_left_out({"tasks": 2, "critical_difference": 3.4}, 4)
    'Critical-difference diagram: 2 tasks are too few to separate any of 4 items.'
    """
    if found is None:
        return "Critical-difference diagram: the votes are not a score table."
    if not found["tasks"]:
        return "Critical-difference diagram: no task scores all items."
    if items > MOST_DRAWN:
        return f"Critical-difference diagram: {items:,} items are too many for a picture; paired-tests lists them."
    if found["critical_difference"] >= items - 1:
        are = "is" if found["tasks"] == 1 else "are"
        return (
            f"Critical-difference diagram: {plural(found['tasks'], 'task')} {are} too few to separate any of "
            f"{items:,} items."
        )
    return ""


def mean_ranks_text(found: Record, names: Sequence[str]) -> str:
    """Return a diagram in words: whether any item differs, the mean ranks, and who is not separated.

    Parameters
    ----------
    found : dict
        ``record["mean_ranks"]``.
    names : sequence of str
        Of the items.
    """
    order = rank_order(found)
    lines = [
        friedman_text(found["tasks"], found["friedman"], found["friedman_p"]),
        critical_text(found["critical_difference"], found["level"]),
    ]
    ranks = [f"{in_text(names[k])} {found['values'][k]:.2f}" for k in order]
    lines.append(f"Mean ranks, best first: {listed(ranks, _MOST_TOLD)}.")
    lines += [not_separated_text([names[k] for k in group]) for group in found["groups"][:_MOST_TOLD]]
    more = len(found["groups"]) - _MOST_TOLD
    lines += [f"And {plural(more, 'more group')}."] if more > 0 else []
    if not found["groups"]:
        lines.append("All items are separated.")
    return "\n".join(lines)


def not_separated_text(group: Sequence[str]) -> str:
    """Return the items of a group, best first.

    Examples
    --------
    >>> not_separated_text(["a", "b"])
    'Not separated: a and b.'
    """
    return f"Not separated: {listed([in_text(name) for name in group], _MOST_NAMED)}."


def rank_order(found: Record) -> list[int]:
    """Return the items by mean rank, best first."""
    return sorted(range(len(found["values"])), key=lambda k: (found["values"][k], k))


def bar_rows(ends: Sequence[tuple[float, float]], apart: float) -> list[int]:
    """Return a row for each bar, so that bars in one row are `apart`; bars come by where they begin.

    Examples
    --------
    >>> bar_rows([(1.0, 2.0), (1.5, 3.0), (2.4, 4.0)], 0.1)
    [0, 1, 0]
    """
    filled: list[float] = []
    rows = []
    for low, high in ends:
        row = next((k for k, end in enumerate(filled) if low - end >= apart), len(filled))
        filled[row : row + 1] = [high]
        rows.append(row)
    return rows


def axis_ends(values: Sequence[float], critical: float) -> tuple[int, int]:
    """Return the ranks at which an axis begins and ends: around all values, and no shorter than the difference.

    Examples
    --------
    >>> axis_ends([4.1, 6.2, 9.0, 8.8, 5.0, 5.5, 4.9, 5.1, 4.2], 3.2), axis_ends([2.4, 2.5, 2.6, 2.5], 2.1)
    ((4, 9), (1, 4))
    """
    low, high = floor(min(values)), ceil(max(values))
    while high - low < max(critical, 1) and (low > 1 or high < len(values)):
        low, high = max(low - 1, 1), min(high + 1, len(values))
    return low, high
