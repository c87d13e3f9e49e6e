"""The critical-difference diagram of a score table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdrank.errors import UsageError
from holdrank.plots.style import BLACK, DARK, GREY, Data, cut, drawn, number, width_of
from holdrank.words.mean_ranks import axis_ends, bar_rows
from holdrank.words.names import named
from holdrank.words.numbers import percent, plural

if TYPE_CHECKING:
    from holdrank.analysis.chance.tables import PairedTests
    from holdrank.plots.style import Axes, Sheet

_MOST_WIDE_APART = 20  # items; the rows of more stand closer together
_WIDEST_NAME = 170.0
_BAR = 6.0  # from bar to bar
_MOST_TICKS = 11


def critical_difference(found: PairedTests, *, ax: Axes | None = None) -> Axes:
    """Draw mean ranks on an axis, with a bar over each group of items that Nemenyi's test does not separate.

    Parameters
    ----------
    found : PairedTests
        Of ``paired_tests``.
    ax : Axes, optional
        Where to draw; a new figure that fits, by default. On axes that are too small everything is drawn smaller.

    Returns
    -------
    Axes
        Its unit is a point of the drawing, counted from the upper left corner. The best item is at the left; the line
        above the axis is as long as the critical difference.
    """
    return drawn(_Diagram(critical_difference_data(found)), ax)


def critical_difference_data(found: PairedTests) -> Data:
    """Return the data that `critical_difference` draws: items and mean ranks, best first, and the groups.

    Examples
    --------
    >>> from holdrank import Votes, paired_tests
    >>> rows = [[0.9, 0.7, 0.6], [0.8, 0.6, 0.7], [0.9, 0.8, 0.5], [0.7, 0.5, 0.4], [0.95, 0.7, 0.6]]
    >>> data = critical_difference_data(paired_tests(Votes.from_score_rows(rows, items=["a", "b", "c"])))
    >>> data["items"], data["mean_ranks"], data["groups"]
    (['a', 'b', 'c'], [1.0, 2.2, 2.8], [[0, 1], [1, 2]])
    >>> data["text"]
    'critical difference 1.48 at 95 % (Nemenyi), 5 tasks'
    """
    if not found.tasks:
        raise UsageError("there are no mean ranks to draw: no task scores all items")
    order = found.order
    place = {found.items[k]: row for row, k in enumerate(order)}
    said = f"critical difference {found.critical_difference:.3g} at {percent(found.level)} (Nemenyi)"
    return {
        "items": [named(found.items[k]) for k in order],
        "mean_ranks": [number(found.mean_ranks[k]) for k in order],
        "critical_difference": number(found.critical_difference),
        "groups": [[place[group[0]], place[group[-1]]] for group in found.groups],
        "text": f"{said}, {plural(found.tasks, 'task')}",
    }


class _Diagram:
    """Where everything on the diagram stands, in points."""

    def __init__(self, data: Data) -> None:
        self.data, self.n = data, len(data["items"])
        self.size, self.row = (8.5, 15.0) if self.n <= _MOST_WIDE_APART else (7.5, 11.0)
        half = (self.n + 1) // 2
        self.sides = list(range(half)), list(range(self.n - 1, half - 1, -1))  # from the ends to the middle
        self.names = [cut(name, self.size, _WIDEST_NAME) for name in data["items"]]
        self.wide = [max(width_of(self.names[k], self.size) for k in side) + 40 for side in self.sides]
        self.axis = 44.0
        self.ends = axis_ends(data["mean_ranks"], data["critical_difference"])
        self.least_width = max(sum(self.wide) + 220.0, self.wide[0] + width_of(data["text"], 8) + 20)

    def _bars(self, width: float) -> list[tuple[float, float, int]]:
        ends = [
            (self._x(self.data["mean_ranks"][low], width) - 3, self._x(self.data["mean_ranks"][high], width) + 3)
            for low, high in self.data["groups"]
        ]
        return [(low, high, row) for (low, high), row in zip(ends, bar_rows(ends, 3.0), strict=True)]

    def _x(self, rank: float, width: float) -> float:
        left, right = self.wide[0] + 10, width - self.wide[1] - 10
        return left + (rank - self.ends[0]) / (self.ends[1] - self.ends[0]) * (right - left)

    def _top(self, width: float) -> float:
        return self.axis + 12 + _BAR * (max((row for *_, row in self._bars(width)), default=-1) + 1)

    def height(self, width: float) -> float:
        """Return the height of the picture if it is so wide."""
        return self._top(width) + self.row * len(self.sides[0]) + 2

    def draw(self, on: Sheet) -> None:
        """Draw the picture."""
        left, right = (self._x(end, on.width) for end in self.ends)
        on.write(left, 6, self.data["text"], 8, color=DARK)
        end = min(self._x(self.ends[0] + self.data["critical_difference"], on.width), on.width)
        on.line((left, left, left, end, end, end), (14, 20, 17, 17, 14, 20), lw=1.2, color=BLACK)
        on.line((left, right), (self.axis, self.axis), lw=0.9, color=BLACK)
        first, last = self.ends
        step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 10**9) if last - first <= _MOST_TICKS * step)
        for rank in range(-(-first // step) * step, last + 1, step):
            x = self._x(rank, on.width)
            on.line((x, x), (self.axis - 4, self.axis), lw=0.9, color=BLACK)
            on.write(x, self.axis - 10, str(rank), 7.5, ha="center", color=DARK)
        for low, high, row in self._bars(on.width):
            y = self.axis + 7 + _BAR * row
            on.line((low, high), (y, y), lw=3.0, color=BLACK)
        top = self._top(on.width)
        for side, items in enumerate(self.sides):
            out, edge = (-1, left) if side == 0 else (1, right)
            look: Data = {"ha": "right" if side == 0 else "left", "va": "center_baseline"}
            for row, item in enumerate(items):
                rank = self.data["mean_ranks"][item]
                x, y = self._x(rank, on.width), top + (row + 0.5) * self.row
                on.line((x, x, edge + 6 * out), (self.axis, y, y), lw=0.8, color=GREY)
                on.write(edge + 9 * out, y, f"{rank:.2f}", 7.5, color=DARK, **look)
                on.write(edge + 38 * out, y, self.names[item], self.size, **look)
