"""The critical-difference diagram: mean ranks on an axis, and bars over items that chance does not separate."""

from __future__ import annotations

from collections.abc import Callable

from holdrank.analysis.records import Record
from holdrank.views.svg.canvas import SIZE, Canvas, fitted, sentence, ticks, width_of
from holdrank.words.mean_ranks import (
    axis_ends,
    bar_rows,
    diagram_left_out,
    mean_ranks_text,
    not_separated_text,
    rank_order,
)
from holdrank.words.names import named

_WIDTH = 600.0
_FEW = 20  # items that stand at both sides of the axis; more have a row each
_NUMBER = 46.0  # of a mean rank next to a name
_WIDEST_NAME, _WIDEST_IN_ROW = 160.0, 250.0
_AXIS = 56.0  # height of the axis
_BAR = 7.0  # from bar to bar
_SMALL = 11.5

Scale = Callable[[float], float]


def critical_difference(record: Record) -> str:
    """Return the mean rank of each item on an axis; bars join items that Nemenyi's test does not separate.

    Up to 20 items stand at both sides of the axis, as in the diagrams of Demsar; more have a row each.
    """
    found, names = record.get("mean_ranks"), record["items"]
    if why := diagram_left_out(found, len(names)):
        return sentence("critical_difference", why)
    assert found is not None
    sheet = Canvas("critical_difference", _WIDTH)
    height = (_at_both_sides if len(names) <= _FEW else _in_rows)(sheet, found, names)
    return sheet.done(height, mean_ranks_text(found, names))


def _at_both_sides(sheet: Canvas, found: Record, names: list[str]) -> float:
    order, values, step = rank_order(found), found["values"], 22.0
    half = (len(names) + 1) // 2
    sides = order[:half], order[: half - 1 : -1]  # from the ends to the middle, so that no lines cross
    widths = [min(max(width_of(named(names[k])) for k in side), _WIDEST_NAME) + 2 for side in sides]
    left, right = widths[0] + _NUMBER + 14, _WIDTH - widths[1] - _NUMBER - 14
    at = _axis(sheet, found, (left, right))
    ends = [(at(values[group[0]]) - 3, at(values[group[-1]]) + 3) for group in found["groups"]]
    rows = bar_rows(ends, 3.0)
    top = _AXIS + 14 + _BAR * (max(rows, default=-1) + 1)
    for items, edge, wide, out in ((sides[0], left, widths[0], -1), (sides[1], right, widths[1], 1)):
        anchor = "end" if out < 0 else ""
        for row, item in enumerate(items):
            x, y = at(values[item]), top + (row + 0.5) * step
            sheet.line([(x, _AXIS), (x, y), (edge + 8 * out, y)], "elbow")
            sheet.dot(x, _AXIS, 3, "dot")
            sheet.text(edge + 12 * out, y + 4, f"{values[item]:.2f}", f"small soft {anchor}".strip())
            _name(sheet, edge + (8 + _NUMBER) * out, y, names[item], wide, SIZE, anchor)
    for (low, high), row, group in zip(ends, rows, found["groups"], strict=True):
        told = not_separated_text([names[k] for k in group])
        sheet.box(low, _AXIS + 7 + _BAR * row, high - low, 4, "joined", 2, title=told)
    return top + half * step + 4


def _in_rows(sheet: Canvas, found: Record, names: list[str]) -> float:
    order, values, step = rank_order(found), found["values"], 16.0
    row_of = {item: row for row, item in enumerate(order)}
    ends = [(row_of[group[0]], row_of[group[-1]]) for group in found["groups"]]
    columns = bar_rows(ends, 1.0)
    wide = min(max(width_of(named(name), _SMALL) for name in names), _WIDEST_IN_ROW) + 2
    left = wide + _NUMBER + 14
    right = _WIDTH - 24 - _BAR * (max(columns, default=-1) + 1)
    at = _axis(sheet, found, (left, right))
    top = _AXIS + 6
    for row, item in enumerate(order):
        x, y = at(values[item]), top + (row + 0.5) * step
        sheet.line([(left, y), (x, y)], "grid")
        sheet.dot(x, y, 3.5, "dot")
        sheet.text(left - 10, y + 4, f"{values[item]:.2f}", "small soft end")
        _name(sheet, wide, y, names[item], wide, _SMALL, "end")
    for (first, last), column, group in zip(ends, columns, found["groups"], strict=True):
        told = not_separated_text([names[k] for k in group])
        y = top + first * step + 3
        sheet.box(right + 14 + _BAR * column, y, 4, (last - first + 1) * step - 6, "joined", 2, title=told)
    return top + len(order) * step + 4


def _name(sheet: Canvas, x: float, y: float, name: str, wide: float, size: float, anchor: str) -> None:
    short = fitted(named(name), wide, size)
    look = f"{'' if size == SIZE else 'small'} {anchor}".strip()
    sheet.text(x, y + 0.35 * size, short, look, full="" if short == name else named(name, 400))


def _axis(sheet: Canvas, found: Record, ends: tuple[float, float]) -> Scale:
    """Draw the axis of ranks, and above it how long the critical difference is; return where a rank stands."""
    left, right = ends
    first, last = axis_ends(found["values"], found["critical_difference"])
    unit = (right - left) / (last - first)

    def at(rank: float) -> float:
        return left + (rank - first) * unit

    long = found["critical_difference"] * unit
    sheet.add("path", "noise", d=f"M{left:.1f} 18v8M{left:.1f} 22h{long:.1f}m0-4v8")
    sheet.text(left, 11, f"critical difference {found['critical_difference']:.3g}", "small")
    sheet.line([(left, _AXIS), (right, _AXIS)], "axis")
    for rank in ticks(last, first, 6):
        if rank == int(rank):
            sheet.line([(at(rank), _AXIS - 5), (at(rank), _AXIS)], "axis")
            sheet.text(at(rank), _AXIS - 10, f"{rank:.0f}", "small soft middle")
    sheet.text(left - 14, _AXIS - 10, "mean rank", "small soft end")
    return at
