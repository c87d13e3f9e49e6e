"""The places of items, and their ranges by chance and under attack."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from holdrank.errors import UsageError, show
from holdrank.plots.style import BLACK, BLUE, ORANGE, PALE, Data, axes_or_new, blocks, name_ticks, styled, width_of
from holdrank.words.names import named
from holdrank.words.numbers import percent, span

if TYPE_CHECKING:
    import numpy.typing as npt

    from holdrank.analysis.bootstrap import Bootstrap
    from holdrank.plots.style import Axes

_PALE_ORANGE, _DARK_ORANGE = "#f9dea4", "#8f6200"  # to fill a bar, and to be read as text
_BAND = "#f3f3f3"
_ROOM = 0.3  # of a place, beyond both ends of what an adversary reaches: a single place is seen, too
_MOST_WIDE_APART = 20  # items; the rows of more stand closer together
_COLUMNS = (("place", "●", BLACK, BLACK), ("chance", "━", BLUE, BLUE), ("reach", "▬", ORANGE, _DARK_ORANGE))


def ranges(
    bootstrap: Bootstrap,
    reach: npt.ArrayLike | None = None,
    *,
    budget_label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the place of each item, with its ranges by chance and under attack.

    Parameters
    ----------
    bootstrap : Bootstrap
        Of ``bootstrap``. A dot is the place in the consensus, the mean one for tied items; a thin bar is the
        bootstrap interval.
    reach : array of int, optional
        One row for each item by its number: the best and the worst place that an adversary can give it, drawn as a
        thick pale bar.
    budget_label : str, optional
        What the adversary may do, as in "5 of 100 votes".
    ax : Axes, optional
        Where to draw; by default a new figure, as high as there are items.

    Returns
    -------
    Axes
        Places from left to right, one row for each item in the order of the consensus, numbers at the right. Where
        items are tied, every other tier is shaded.
    """
    data = ranges_data(bootstrap, reach, budget_label=budget_label)
    n = len(data["items"])
    with styled():
        if ax is None:
            names = max(width_of(name, 8) for name in data["items"])
            columns = 170 if data["reach"] else 110
            ax = axes_or_new(None, (names + columns + 240) / 72, 0.9 + n * (0.24 if n <= _MOST_WIDE_APART else 0.17))
        _draw_ranges(data, ax)
    return ax


def ranges_data(bootstrap: Bootstrap, reach: npt.ArrayLike | None = None, *, budget_label: str | None = None) -> Data:
    """Return the data that `ranges` draws, items in the order of the consensus, tiers as (start, size).

    Examples
    --------
    >>> from holdrank import Votes, bootstrap
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[45, 55])
    >>> data = ranges_data(bootstrap(votes, draws=500, rng=1), [[1, 2], [1, 2], [3, 3]], budget_label="6 votes")
    >>> data["items"], data["place"], data["chance"]
    (['b', 'a', 'c'], [1.0, 2.0, 3.0], [[1.0, 2.0], [1.0, 2.0], [3.0, 3.0]])
    >>> data["reach"], data["titles"]["reach"]
    ([[1, 2], [1, 2], [3, 3]], 'by attack, with 6 votes')
    """
    ranking = bootstrap.consensus.ranking
    order = ranking.order
    limits = None if reach is None else _checked_reach(reach, len(order))
    return {
        "items": [named(bootstrap.items[i]) for i in order],
        "place": [float(ranking.places[i]) for i in order],
        "chance": [[float(bootstrap.best[i]), float(bootstrap.worst[i])] for i in order],
        "reach": None if limits is None else [limits[i] for i in order],
        "tiers": blocks(ranking.buckets),
        "titles": {
            "place": "consensus",
            "chance": f"bootstrap, {percent(bootstrap.level)} of {bootstrap.draws:,} draws",
            "reach": "by attack" if budget_label is None else f"by attack, with {show(budget_label)}",
        },
    }


def _checked_reach(reach: npt.ArrayLike, n: int) -> list[list[int]]:
    import numpy as np

    try:
        limits = np.asarray(reach, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"reach needs a best and a worst place for each of {n} items") from error
    if limits.shape != (n, 2):
        raise UsageError(f"reach needs a best and a worst place for each of {n} items, not the shape {limits.shape}")
    wrong = (limits != np.floor(limits)) | (limits < 1) | (limits > n)
    wrong[:, 0] |= limits[:, 0] > limits[:, 1]
    if wrong.any():
        best, worst = limits[wrong.any(axis=1)][0]
        raise UsageError(f"reach holds whole places from 1 to {n}, the best first, not {best:g} and {worst:g}")
    whole: list[list[int]] = limits.astype(np.int64).tolist()
    return whole


def _draw_ranges(data: Data, ax: Axes) -> None:
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import FixedLocator, MaxNLocator

    n = len(data["items"])
    # Rows may be lower than a line of text on axes that are given: text and marks then shrink with them.
    row = ax.get_window_extent().height * 72 / ax.figure.dpi / (n + 0.2)
    size = max(min(8.0, 0.72 * row), 2.0)
    rows = range(n)
    if len(data["tiers"]) < n:
        for start, many in data["tiers"][::2]:
            ax.axhspan(start - 0.5, start + many - 0.5, color=_BAND, lw=0, zorder=0)
    ax.hlines(rows, 0.4, n + 0.6, color=PALE, lw=0.4, zorder=0.5)
    if data["reach"]:
        for y, (best, worst) in enumerate(data["reach"]):
            wide = worst - best + 2 * _ROOM
            ax.add_patch(Rectangle((best - _ROOM, y - 0.3), wide, 0.6, fc=_PALE_ORANGE, ec=ORANGE, lw=0.5, zorder=1))
    ax.hlines(rows, *zip(*data["chance"], strict=True), color=BLUE, lw=0.25 * size, zorder=2)
    ax.scatter(data["place"], rows, s=(0.6 * size) ** 2, color=BLACK, zorder=3)
    ax.set_xlim(0.4, n + 0.6)
    ax.set_ylim(n - 0.4, -0.6)
    name_ticks(ax.yaxis, rows, data["items"], fontsize=size)
    ticks = MaxNLocator(min(n, 12), integer=True, min_n_ticks=1).tick_values(1, n)
    ax.xaxis.set_major_locator(FixedLocator(sorted({1, *(int(tick) for tick in ticks if 1 < tick <= n)})))
    ax.set_xlabel("place", fontsize=8)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=8)
    ax.spines[["left", "right", "top"]].set_visible(False)
    if n > _MOST_WIDE_APART:  # the axis is far from most rows
        ax.tick_params(axis="x", top=True, labeltop=True)
        ax.grid(axis="x", color=PALE, lw=0.5)
        ax.set_axisbelow(True)
    x = 8.0
    for column in _COLUMNS:
        if data[column[0]] is not None:
            x = _write_column(data, column, ax, x, size) + 12


def _write_column(data: Data, column: tuple[str, str, str, str], ax: Axes, x: float, size: float) -> float:
    """Write numbers a distance right of the axes, with their name and their mark on top; return where they end."""
    key, mark, colour, dark = column
    if key == "place":
        tied = [many > 1 for _, many in data["tiers"] for _ in range(many)]
        texts = [f"{place:g}{', tied' * tie}" for place, tie in zip(data["place"], tied, strict=True)]
    else:
        texts = [span(low, high) for low, high in data[key]]
    title = textwrap.wrap(data["titles"][key], 15)
    look: Data = {"textcoords": "offset points", "annotation_clip": False, "parse_math": False}
    for y, text in enumerate(texts):
        ax.annotate(text, (1, y), (x, 0), ("axes fraction", "data"), va="center_baseline", fontsize=size, color=dark,
                    **look)  # fmt: skip
    ax.annotate(mark, (1, 1), (x, 1), "axes fraction", va="bottom", fontsize=7, color=colour, **look)
    ax.annotate("\n".join(title), (1, 1), (x, 11), "axes fraction", va="bottom", fontsize=7, color=dark, **look)
    return x + max(*(width_of(text, size) for text in texts), *(width_of(text, 7) for text in title))
