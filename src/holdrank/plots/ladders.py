"""Tiers from top to bottom: one result as a ladder, and the results of a merge side by side."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from holdrank.errors import UsageError, quote
from holdrank.plots.style import (
    BLUE,
    DARK,
    GREY,
    PALE,
    PALE_BLUE,
    SKY,
    Data,
    axes_or_new,
    drawn,
    name_ticks,
    number,
    styled,
    width_of,
)
from holdrank.words.ladders import rungs
from holdrank.words.names import named
from holdrank.words.numbers import number as amount
from holdrank.words.prices import price

if TYPE_CHECKING:
    from holdrank.plots.style import Axes, Sheet
    from holdrank.rankings import Ranking
    from holdrank.rules.consensus import Consensus

Gap: TypeAlias = float | Sequence[float]

_MOST_WIDE_APART = 12  # tiers; more stand closer together
_BOLD = 1.2  # how much wider than other text
_NARROWEST_BLOCK, _WIDEST_BLOCK = 90.0, 270.0  # points; up to twice as wide on wide axes


def ladder(
    consensus: Consensus, gaps: Sequence[Gap] | None = None, *, total: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the tiers of a consensus as blocks from top to bottom, with the votes that break each gap between them.

    Parameters
    ----------
    consensus : Consensus
    gaps : sequence of float or of (float, float), optional
        One for each two tiers that follow each other: how many votes break the gap, or two numbers, how many are
        needed and how many are sufficient. Infinity is a gap that cannot be broken; nan leaves it without a label.
    total : float, optional
        The number of all votes. Without it the gaps are shares of the votes, from 0 to 1.
    ax : Axes, optional
        Where to draw; a new figure that fits, by default. On axes that are too small everything is drawn smaller.

    Returns
    -------
    Axes
        Its unit is a point of the drawing, counted from the upper left corner.

    Notes
    -----
    What "to break a gap" means is what the numbers given are for: for ``attack(votes, T, Above(b, a))``, that an item
    of the lower tier comes to stand above one of the upper tier.
    """
    return drawn(_Ladder(ladder_data(consensus, gaps, total=total)), ax)


def ladder_data(consensus: Consensus, gaps: Sequence[Gap] | None = None, *, total: float | None = None) -> Data:
    """Return the data that `ladder` draws: places and names of each tier, and the gaps, None for an unlabelled one.

    Examples
    --------
    >>> from holdrank import Robust, Votes
    >>> votes = Votes.from_orders([["b", "a", "c"], ["a", "b", "c"]], weights=[51, 49])
    >>> data = ladder_data(Robust(theta=0.05)(votes), [(9, 14)], total=100)
    >>> data["tiers"]
    [{'places': '1–2', 'items': ['b', 'a']}, {'places': '3', 'items': ['c']}]
    >>> data["gaps"], data["unit"]
    ([{'lower': 9.0, 'upper': 14.0, 'label': '9 to 14'}], 'votes that break the gap (of 100)')
    """
    ranking = consensus.ranking
    buckets = ranking.buckets
    if gaps is not None and len(gaps) != len(buckets) - 1:
        raise UsageError(f"{len(buckets)} tiers have {len(buckets) - 1} gaps between them, not {len(gaps)}")
    if total is not None and not 0 < total < math.inf:
        raise UsageError(f"total must be the number of votes, not {quote(str(total))}")
    found = [_gap(gap, total) for gap in gaps] if gaps is not None else [None] * (len(buckets) - 1)
    unit = "share of votes that breaks the gap" if total is None else f"votes that break the gap (of {amount(total)})"
    return {
        "tiers": [
            {"places": rung.places, "items": [named(consensus.items[i]) for i in rung.items]}
            for rung in rungs(ranking.ranks.tolist(), ranking.order)
        ],
        "gaps": found,
        "unit": unit if any(found) else None,
    }


def _gap(gap: Gap, total: float | None) -> Data | None:
    """Return the two ends of a gap and its label; None if it has none."""
    import numpy as np

    try:
        ends = np.asarray(gap, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"a gap is a number, or two: needed and sufficient; not {quote(str(gap))}") from error
    if ends.shape not in ((), (2,)):
        raise UsageError(f"a gap is a number, or two: needed and sufficient; not {quote(str(gap))}")
    lower, upper = np.broadcast_to(ends, 2).tolist()
    if math.isnan(lower) or math.isnan(upper):
        return None
    if not 0 <= lower <= upper:
        raise UsageError(f"a gap is a number from 0, or two with the smaller first, not {quote(str(gap))}")
    if total is None and any(1 < end < math.inf for end in (lower, upper)):
        raise UsageError(f"a gap of {upper:g} is not a share of the votes", repair="give total, the number of votes")
    low, high = number(lower), number(upper)
    # What is known of a gap, in the words of all ladders; one that no bound is known of has no label.
    known = dict(zip(("lower", "upper", "needed", "decides", "sufficient"), (low, high, low, low, high), strict=True))
    cost = price(known, {"counts": total is not None, "total": total})
    return None if cost is None else {"lower": low, "upper": high, "label": cost.amount}


class _Ladder:
    """Where everything on a ladder stands, in points: places at the left, blocks with chips, labels of gaps."""

    def __init__(self, data: Data) -> None:
        self.tiers, self.gaps = data["tiers"], data["gaps"]
        close = len(self.tiers) > _MOST_WIDE_APART
        self.size, self.chip, self.pad, self.gap = (7.5, 12.5, 2.5, 5.0) if close else (8.5, 16.0, 5.0, 11.0)
        self.between = self.pad  # two chips
        self.heading = textwrap.wrap(data["unit"] or "", 19)
        self.top = 10.0 * max(len(self.heading), 1) + 5
        places = max(_BOLD * width_of(tier["places"], self.size) for tier in self.tiers)
        self.left = max(places, width_of("place", 7.5)) + 8
        labels = [gap["label"] for gap in self.gaps if gap]
        sizes = [*(width_of(text, self.size) for text in labels), *(width_of(text, 7.5) for text in self.heading)]
        self.right = max(sizes) + 14 if labels else 0.0
        # As wide as the widest tier on one line, except for large tiers, which take several.
        widths = [[self._chip_width(name) for name in tier["items"]] for tier in self.tiers]
        whole = max(sum(row) + self.between * (len(row) - 1) for row in widths)
        self.inside = max(max(map(max, widths)), min(whole, _WIDEST_BLOCK), _NARROWEST_BLOCK)
        self.least_width = self.left + self.inside + 2 * self.pad + self.right + 2

    def _chip_width(self, name: str) -> float:
        return width_of(name, self.size) + 9

    def _lines(self, names: Sequence[str], inside: float) -> list[list[str]]:
        """Return the chips of a tier line by line."""
        lines: list[list[str]] = [[]]
        used = 0.0
        for name in names:
            wide = self._chip_width(name)
            if lines[-1] and used + wide > inside + 0.01:
                lines.append([])
                used = 0.0
            lines[-1].append(name)
            used += wide + self.between
        return lines

    def _inside(self, width: float) -> float:
        """Return the room for chips in a line; on wide axes the blocks grow, but not without end."""
        return min(width - self.left - self.right - 2 - 2 * self.pad, max(self.inside, 2 * _WIDEST_BLOCK))

    def _block(self, lines: int) -> float:
        return lines * (self.chip + self.between) - self.between + 2 * self.pad

    def height(self, width: float) -> float:
        """Return the height of the ladder if it is so wide."""
        lines = [len(self._lines(tier["items"], self._inside(width))) for tier in self.tiers]
        return self.top + sum(map(self._block, lines)) + self.gap * len(self.gaps) + 1

    def draw(self, on: Sheet) -> None:
        """Draw the ladder."""
        inside = self._inside(on.width)
        end = self.left + inside + 2 * self.pad
        grey: Data = {"size": 7.5, "color": DARK}
        on.write(self.left - 8, self.top - 10, "place", ha="right", **grey)
        for k, text in enumerate(reversed(self.heading)):
            on.write(end + 12, self.top - 10 - 10 * k, text, **grey)
        y = self.top
        for tier, gap in zip(self.tiers, [*self.gaps, None], strict=True):
            lines = self._lines(tier["items"], inside)
            high = self._block(len(lines))
            on.write(self.left - 8, y + high / 2, tier["places"], self.size, ha="right", weight="bold")
            on.box(self.left, y, end - self.left, high, lw=0.8, corner=4, fc=PALE_BLUE, ec=BLUE)
            for row, names in enumerate(lines):
                x, top = self.left + self.pad, y + self.pad + row * (self.chip + self.between)
                for name in names:
                    wide = self._chip_width(name)
                    on.box(x, top, wide, self.chip, lw=0.6, corner=3, fc="white", ec=SKY)
                    on.write(x + wide / 2, top + self.chip / 2, name, self.size, ha="center", va="center_baseline")
                    x += wide + self.between
            y += high + self.gap
            if gap:
                at = y - self.gap / 2
                on.line((self.left, end + 9), (at, at), lw=0.8, color=GREY, ls=(0, (3, 2)))
                on.write(end + 12, at, gap["label"], self.size)


def merges(path: Sequence[tuple[float, Ranking]], items: Sequence[str], *, ax: Axes | None = None) -> Axes:
    """Draw the tiers at every threshold: one column for each result, a box around what is tied.

    Parameters
    ----------
    path : list of (theta, Ranking)
        Of `merge_path`.
    items : sequence of str
    ax : Axes, optional
        Where to draw; a new figure by default.
    """
    return draw_merges(merges_data(path, items), axes_or_new(ax))


def merges_data(path: Sequence[tuple[float, Ranking]], items: Sequence[str]) -> Data:
    """Return the data that `merges` draws: the order of the items, and the tiers from each threshold on.

    Examples
    --------
    >>> from holdrank import Ranking, merge_path
    >>> merges_data(merge_path([[0.5, 0.6], [0.4, 0.5]], Ranking([1, 2])), "ab")["results"]
    [{'theta': 0.0, 'tiers': [['a'], ['b']]}, {'theta': 0.1, 'tiers': [['a', 'b']]}]
    """
    return {
        "items": [named(items[i]) for i in path[0][1].order],
        "results": [
            {"theta": number(theta), "tiers": [[named(items[i]) for i in bucket] for bucket in ranking.buckets]}
            for theta, ranking in path
        ],
    }


def draw_merges(data: Data, ax: Axes) -> Axes:
    """Draw tiers over thresholds as `merges_data` gives them; a result may have a `name`."""
    with styled():
        from matplotlib.patches import FancyBboxPatch

        # Tiers are intervals of the order without a merge, so every item keeps its row.
        for x, result in enumerate(data["results"]):
            top = 0
            for tier in result["tiers"]:
                tied = len(tier) > 1
                look: Data = {"fc": SKY if tied else "white", "ec": BLUE if tied else PALE, "lw": 1.0}
                box = FancyBboxPatch((x - 0.2, top + 0.24), 0.4, len(tier) - 0.48, boxstyle="round,pad=0.14", **look)
                ax.add_patch(box)
                rows = [top + k + 0.5 for k in range(len(tier))]
                ax.scatter([x] * len(tier), rows, s=9, color=BLUE if tied else GREY, zorder=3)
                top += len(tier)
            if result.get("name"):
                ax.text(x, -0.15, result["name"], ha="center", va="bottom", weight="bold")
        ax.set_xlim(-0.6, len(data["results"]) - 0.4)
        ax.set_ylim(len(data["items"]) + 0.1, -0.7)
        ax.set_xticks(range(len(data["results"])), [f"{result['theta']:.3g}" for result in data["results"]])
        name_ticks(ax.yaxis, [k + 0.5 for k in range(len(data["items"]))], data["items"])
        ax.set_xlabel("tied from this threshold θ on")
        ax.tick_params(length=0)
        ax.set_frame_on(False)
    return ax
