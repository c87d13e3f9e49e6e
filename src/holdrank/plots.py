"""Pictures for papers and slides, by matplotlib: breakdown curves, trade-offs, pairwise matrices, merges.

Every picture is made in two steps. A function ``..._data`` says what is drawn, as plain lists and dicts; the function
of the same name draws it on an `Axes`. The colours are those of Okabe and Ito, which people with any colour vision can
tell apart; curves are named where they end, not in a legend. None stands for infinity, as in JSON.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import combinations, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from holdrank.errors import MissingExtraError, UsageError, show

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure

    from holdrank.breaking.results import Breakdown
    from holdrank.consensus import Consensus
    from holdrank.rankings import Ranking
    from holdrank.thresholds import Tradeoff
    from holdrank.votes import Votes

Data: TypeAlias = dict[str, Any]

BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK = "#E69F00", "#56B4E9", "#000000"
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
GREY, PALE = "#8c8c8c", "#d9d9d9"

_STYLE: Data = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib, so that pictures are the same everywhere
    "font.size": 9, "axes.titlesize": 10, "axes.labelsize": 9, "xtick.labelsize": 8, "ytick.labelsize": 8,
    "axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False,
    "axes.linewidth": 0.7, "lines.linewidth": 1.6, "lines.solid_capstyle": "butt",
    "figure.dpi": 100, "savefig.dpi": 200,
    "text.parse_math": False,  # a name with dollar signs is no formula
    "svg.hashsalt": "holdrank",  # the same names inside the file every time
    "pdf.fonttype": 42,
}  # fmt: skip
_UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None, "ModDate": None}, "png": {"Software": None}}
_MOST_NUMBERED = 12  # items of a matrix whose cells can hold a number


def breakdown(*curves: Breakdown, ax: Axes | None = None, labels: Sequence[str] | None = None) -> Axes:
    """Draw breakdown curves as steps, with a band where lower and upper differ.

    Parameters
    ----------
    *curves : Breakdown
        Of ``breakdown``, by any method; estimates are drawn as crosses.
    ax : Axes, optional
        Where to draw; a new figure if not given.
    labels : sequence of str, optional
        One for each curve; the name of the statistic if not given.

    Returns
    -------
    Axes
        With a second axis in votes where the curves are of the same number of votes. What no change of votes can break
        stands at the level "never".

    Notes
    -----
    A distance between two listed ones has the value of the larger, as is right when all attainable ones are listed.
    """
    return draw_curves(breakdown_data(*curves, labels=labels), axes_or_new(ax))


def breakdown_data(*curves: Breakdown, labels: Sequence[str] | None = None) -> Data:
    """Return what `breakdown` draws: the curves, and the number of votes where all are of the same counts.

    Examples
    --------
    >>> from holdrank import Votes, breakdown
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    >>> breakdown_data(breakdown(votes, deltas=[1 / 3, 1]))["curves"][0]["lower"]
    [0.1, 0.5]
    """
    if labels is not None and len(labels) != len(curves):
        raise UsageError(f"{len(curves)} curves need as many labels, not {len(labels)}")
    how = {"exact": "", "bounds": ", bounds", "smooth": ", estimate"}
    names = [curve.statistic + how[curve.method] for curve in curves] if labels is None else labels
    totals = {math.nan if any(map(math.isnan, curve.votes_needed)) else curve.total for curve in curves}
    total = totals.pop() if len(totals) == 1 else math.nan
    return {
        "curves": [
            {
                "label": show(name, 60),
                "method": curve.method,
                "delta": curve.delta.tolist(),
                "lower": [number(value) for value in curve.lower],
                "upper": [number(value) for value in curve.upper],
            }
            for name, curve in zip(names, curves, strict=True)
        ],
        "votes": None if math.isnan(total) else total,
    }


def draw_curves(data: Data, ax: Axes, *, log: bool = False) -> Axes:
    """Draw curves as `breakdown_data` gives them.

    A curve may also say its `colour` and its `width`, and the data the `highest` share of the axis and whether it is
    `endless`, for panels that share their axis.
    """
    curves = data["curves"]
    known = [value for curve in curves for end in ("lower", "upper") for value in curve[end] if value]
    endless = any(value is None for curve in curves for value in curve["lower"]) or data.get("endless", False)
    highest = data.get("highest") or max(known, default=0.5)
    with styled():
        never = share_axis(ax, highest, endless=endless, least=min(known, default=0.0), log=log)
        ends = []
        for k, curve in enumerate(curves):
            colour = curve.get("colour", COLOURS[k % len(COLOURS)])
            end = _draw_curve(curve, ax, colour, never)
            ends += [(end, curve["label"], colour)] if curve["label"] and end is not None else []
        ax.set_xlim(0, 1)
        pair_axis(ax, curves)
        if data.get("votes"):
            _votes_axis(ax, data["votes"])
        _name_ends(ax, ends, beyond=52 if data.get("votes") else 0)
    return ax


def _draw_curve(curve: Data, ax: Axes, colour: str, never: float) -> float | None:
    """Draw one curve; return the height at which it ends, None if it has no point."""
    points = sorted(point for point in zip(curve["delta"], range(len(curve["delta"])), strict=True) if point[0] > 0)
    edges, order = [0.0, *(delta for delta, _ in points)], [k for _, k in points]
    lower = [never if curve["lower"][k] is None else curve["lower"][k] for k in order]
    if curve["method"] == "smooth":
        dots = [(delta, curve["upper"][k]) for delta, k in points if curve["upper"][k] is not None]
        if dots:
            ax.plot(*zip(*dots, strict=True), "x", color=colour, markersize=5, mew=1.3, zorder=4)
        return dots[-1][1] if dots else None
    if points:
        # Where no attack is known the band goes on to the top; where none exists there is no band.
        top = ax.get_ylim()[1]
        ends = [curve["upper"][k] if curve["upper"][k] is not None else top for k in order]
        upper = [high if low < never else low for low, high in zip(lower, ends, strict=True)]
        ax.stairs(upper, edges, baseline=lower, fill=True, color=colour, alpha=0.22, lw=0)
        ax.stairs(lower, edges, baseline=None, color=colour, lw=curve.get("width", 1.6), zorder=3)
    return lower[-1] if points else None


def tradeoff(found: Tradeoff, ax: Axes | None = None) -> Axes:
    """Draw loss against robustness for every threshold, the steps of the Pareto front, and the best threshold.

    Parameters
    ----------
    found : Tradeoff
        Of ``tradeoff``.
    ax : Axes, optional
        Where to draw; a new figure if not given.
    """
    return draw_tradeoff(tradeoff_data(found), axes_or_new(ax))


def tradeoff_data(found: Tradeoff) -> Data:
    """Return what `tradeoff` draws.

    Examples
    --------
    >>> from holdrank import Votes, tradeoff
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[51, 49])
    >>> data = tradeoff_data(tradeoff(votes))
    >>> data["lower"], data["tiers"], data["best"]
    ([0.01, 0.49, None], [3, 2, 1], 1)
    """
    return {
        **{name: [number(v) for v in getattr(found, name)] for name in ("theta", "loss", "lower", "upper")},
        "tiers": [len(ranking.buckets) for ranking in found.rankings],
        "pareto": found.pareto.tolist(),
        "best": found.best,
        "allowed": number(found.loss.min() + found.tolerance),
        "delta": number(found.delta),
    }


def draw_tradeoff(data: Data, ax: Axes) -> Axes:
    """Draw a trade-off as `tradeoff_data` gives it."""
    loss, best = data["loss"], data["best"]
    with styled():
        high = [value for value in (*data["lower"], *data["upper"]) if value is not None]
        never = share_axis(ax, max(high, default=0.5), endless=None in data["lower"])
        lower = [never if value is None else value for value in data["lower"]]
        upper = [top if value is None else value for value, top in zip(data["upper"], lower, strict=True)]
        front = sorted((loss[k], lower[k]) for k in range(len(loss)) if data["pareto"][k])
        ax.axvspan(min(loss), data["allowed"], color=PALE, alpha=0.35, lw=0)
        ax.step(*zip(*front, strict=True), where="post", color=BLUE, lw=1.2)
        ax.vlines(loss, lower, upper, color=BLUE, lw=3, alpha=0.3)
        for on_front, face in ((False, "white"), (True, BLUE)):
            chosen = [k for k in range(len(loss)) if data["pareto"][k] is on_front and k != best]
            dots: Data = {"s": 22, "facecolor": face, "edgecolor": BLUE if on_front else GREY, "zorder": 3}
            ax.scatter([loss[k] for k in chosen], [lower[k] for k in chosen], **dots)
        ax.scatter([loss[best]], [lower[best]], s=90, marker="*", color=VERMILLION, zorder=4)
        many = data["tiers"][best]
        text = f"best: θ = {data['theta'][best]:.3g}\n{many} tier{'s' * (many != 1)}"
        _beside(ax, loss[best], lower[best], text, VERMILLION)
        if best:
            _beside(ax, loss[0], lower[0], "no merge", BLUE)
        ax.set_xlabel("loss: mean distance to a vote (grey: allowed)")
        ax.set_ylabel("votes to change before it breaks")
        span = max(loss) - min(loss) or 0.1
        ax.set_xlim(min(loss) - 0.06 * span, max(loss) + 0.12 * span)
    return ax


def heatmap(votes: Votes, consensus: Consensus, ax: Axes | None = None) -> Axes:
    """Draw the pairwise matrix in the order of a consensus, with a box around each tier.

    Parameters
    ----------
    votes : Votes
    consensus : Consensus
        Its order and its tiers.
    ax : Axes, optional
        Where to draw; a new figure if not given.

    Notes
    -----
    The cell of row a and column b is the share of votes with a above b, of those that compare the two. Pairs that no
    vote compares are hatched.
    """
    ax = axes_or_new(ax)
    data = heatmap_data(votes, consensus)
    shares, items = data["shares"], data["items"]
    n = len(items)
    filled = [[math.nan if share is None else share for share in row] for row in shares]
    with styled():
        from matplotlib.patches import Rectangle

        image = ax.imshow(filled, cmap="PuOr_r", vmin=0, vmax=1, interpolation="none")
        for i, j in permutations(range(n), 2):
            share = shares[i][j]
            if share is None:
                ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="////", ec=PALE, lw=0))
            elif n <= _MOST_NUMBERED:
                colour = "white" if abs(share - 0.5) > 0.33 else "black"  # white on the dark ends of the scale
                ax.text(j, i, f"{100 * share:.0f}", ha="center", va="center", fontsize=8, color=colour)
        for start, size in data["tiers"]:
            corner = start - 0.5
            ax.add_patch(Rectangle((corner, corner), size, size, fill=False, ec=BLACK, lw=1.8, clip_on=False, zorder=3))
        ax.set_xticks(range(n), items, rotation=90 if max(map(len, items)) > 3 else 0)
        ax.set_yticks(range(n), items)
        ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        ax.set_frame_on(False)
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, ticks=[0, 0.25, 0.5, 0.75, 1])
        bar.ax.set_yticklabels(["0 %", "25 %", "50 %", "75 %", "100 %"])
        bar.set_label("votes that put the row above the column")
        bar.outline.set_visible(False)
    return ax


def heatmap_data(votes: Votes, consensus: Consensus) -> Data:
    """Return what `heatmap` draws: items and shares in the order of the consensus, tiers as (start, size).

    Examples
    --------
    >>> from holdrank import Robust, Votes
    >>> votes = Votes.from_orders([["b", "a", "c"], ["a", "b", "c"]], weights=[51, 49])
    >>> heatmap_data(votes, Robust(theta=0.05)(votes))["tiers"]
    [[0, 2], [2, 1]]
    """
    order = consensus.ranking.order
    wins, shares = votes.wins(), votes.pairwise()
    starts, tiers = 0, []
    for bucket in consensus.ranking.buckets:
        tiers.append([starts, len(bucket)])
        starts += len(bucket)
    return {
        "items": [show(votes.items[i], 40) for i in order],
        "shares": [
            [None if i == j or wins[i, j] + wins[j, i] == 0 else number(shares[i, j]) for j in order] for i in order
        ],
        "tiers": tiers,
    }


def merges(path: Sequence[tuple[float, Ranking]], items: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw the tiers at every threshold: one column for each result, a box around what is tied.

    Parameters
    ----------
    path : list of (theta, Ranking)
        Of `merge_path`.
    items : sequence of str
    ax : Axes, optional
        Where to draw; a new figure if not given.
    """
    return draw_merges(merges_data(path, items), axes_or_new(ax))


def merges_data(path: Sequence[tuple[float, Ranking]], items: Sequence[str]) -> Data:
    """Return what `merges` draws: the order of the items, and the tiers from each threshold on.

    Examples
    --------
    >>> from holdrank import Ranking, merge_path
    >>> merges_data(merge_path([[0.5, 0.6], [0.4, 0.5]], Ranking([1, 2])), "ab")["results"]
    [{'theta': 0.0, 'tiers': [['a'], ['b']]}, {'theta': 0.1, 'tiers': [['a', 'b']]}]
    """
    return {
        "items": [show(items[i], 40) for i in path[0][1].order],
        "results": [
            {"theta": number(theta), "tiers": [[show(items[i], 40) for i in bucket] for bucket in ranking.buckets]}
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
        ax.set_yticks([k + 0.5 for k in range(len(data["items"]))], data["items"])
        ax.set_xlabel("tied from this threshold θ on")
        ax.tick_params(length=0)
        ax.set_frame_on(False)
    return ax


def draw_pairs(shares: npt.ArrayLike, items: Sequence[str], ax: Axes) -> Axes:
    """Draw a pairwise matrix as a graph: items from the best to the last, an arrow for each pair with its share."""
    import numpy as np

    P = np.asarray(shares)
    with styled():
        for i, j in combinations(range(len(items)), 2):
            far = j - i
            # From the first item above the row, from the others below it, so that arrows do not cross.
            bend = 0.0 if far == 1 else -0.45 if i == 0 else 0.45
            look: Data = {"arrowstyle": "-|>", "color": GREY, "lw": 1.0, "shrinkA": 11, "shrinkB": 11}
            ax.annotate("", (j, 0), (i, 0), arrowprops={**look, "connectionstyle": f"arc3,rad={bend}"})
            ax.text((i + j) / 2, -bend * far / 2, f"{P[i, j]:.2f}".lstrip("0"), ha="center", va="center", fontsize=8,
                    bbox={"fc": "white", "ec": "none", "pad": 1.0})  # fmt: skip
        dots: Data = {"s": 300, "facecolor": "white", "edgecolor": BLUE, "linewidth": 1.2, "zorder": 3}
        ax.scatter(range(len(items)), [0] * len(items), **dots)
        for x, item in enumerate(items):
            ax.text(x, 0, item, ha="center", va="center", zorder=4)
        ax.set_xlim(-0.4, len(items) - 0.6)
        ax.set_ylim(-0.65, 0.85)
        ax.set_aspect("equal")  # or the bends, and with them the places of the numbers, would depend on the figure
        ax.axis("off")
    return ax


# Parts that pictures share.


def page(columns: int = 1, rows: int = 1, *, width: float = 3.6, height: float = 2.9, **layout: Any) -> list[Axes]:
    """Return the axes of a new figure, row by row; it belongs to nobody else and need not be closed."""
    with styled():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
        return list(figure.subplots(rows, columns, squeeze=False, **layout).ravel())


def save(ax: Axes, stem: Path) -> list[Path]:
    """Write the figure of an axes as .svg, .pdf and .png; the same picture gives the same bytes."""
    figure: Figure = ax.figure  # type: ignore[assignment]
    files = [stem.with_name(f"{stem.name}.{form}") for form in _UNDATED]
    with styled():
        for file in files:
            figure.savefig(file, metadata=_UNDATED[file.suffix[1:]])
    return files


def explain(ax: Axes, kinds: dict[str, Data], **place: Any) -> None:
    """Write a key of kinds of lines and marks, for what has no end to be named at."""
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], label=name, **{"markersize": 5, **look}) for name, look in kinds.items()]
    ax.legend(handles=lines, **{"loc": "upper left", "fontsize": 7, "frameon": False, "handlelength": 1.8, **place})


def axes_or_new(ax: Axes | None) -> Axes:
    """Return the axes given, or those of a new figure that notebooks show."""
    if ax is not None:
        return ax
    with styled():
        import matplotlib.pyplot as plt

        return plt.subplots(figsize=(5.2, 3.6), layout="constrained")[1]


def number(value: float) -> float | None:
    """Return a number to nine decimals, what is proved to; None for infinity."""
    return None if math.isinf(value) else round(float(value), 9)


def share_axis(ax: Axes, highest: float, *, endless: bool, least: float = 0.0, log: bool = False) -> float:
    """Make the vertical axis one of shares of votes up to `highest`; return the level that stands for "never"."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

    if log:
        bottom = max(least, 1e-9) / 1.8
        ticks = [t for t in LogLocator().tick_values(bottom, highest) if bottom <= t <= highest]
        never = highest * 2.6
        ax.set_yscale("log")
        ax.set_ylim(bottom, never * 1.2 if endless else highest * 1.6)
    else:
        ticks = [t for t in MaxNLocator(5).tick_values(0, highest) if 0 <= t <= highest * 1.02]
        never = highest * 1.16
        ax.set_ylim(0, never * 1.04 if endless else highest * 1.06)
    if endless:
        ax.axhline(never, color=PALE, lw=0.8, ls=(0, (2, 2)), zorder=0)
    ax.yaxis.set_major_locator(FixedLocator([*ticks, never] if endless else ticks))
    ax.yaxis.set_minor_locator(NullLocator())

    def text(value: float, _: object = None) -> str:
        return "never" if endless and value == never else f"{100 * value:.3g} %"

    ax.yaxis.set_major_formatter(FuncFormatter(text))
    ax.set_ylabel("votes to change")
    return never


def pair_axis(ax: Axes, curves: Iterable[Data]) -> None:
    """Make the horizontal axis one of distances, as numbers of pairs where these are few."""
    steps = {round(1 / curve["delta"][0]) for curve in curves if curve["delta"] and curve["delta"][0] > 0}
    pairs = max(steps, default=0)
    if 0 < pairs <= 10:
        ax.set_xticks([k / pairs for k in range(pairs + 1)], [str(k) for k in range(pairs + 1)])
        ax.set_xlabel(f"pairs out of {pairs} that the consensus changes")
    else:
        ax.set_xlabel("share of pairs that the consensus changes")


def _name_ends(ax: Axes, ends: Sequence[tuple[float, str, str]], beyond: float) -> None:
    """Write names of curves, given as (height, name, colour), right of the axes, moved apart where they would overlap.

    They begin so many points beyond the axes, to leave room for an axis there.
    """
    to_part = ax.transData + ax.transAxes.inverted()
    line = 1.25 * 8 / 72 / (ax.figure.get_figheight() * ax.get_position().height)  # type: ignore[union-attr]
    ordered = sorted(ends, key=lambda end: end[0])
    places: list[float] = []
    for height, _, _ in ordered:
        place = float(to_part.transform((0, height))[1])
        places.append(max(place, places[-1] + line) if places else place)
    # What was pushed over the top comes down again, and pushes what is below.
    for k in range(len(places) - 1, -1, -1):
        places[k] = min(places[k], 1.0 if k == len(places) - 1 else places[k + 1] - line)
    for place, (_, name, colour) in zip(places, ordered, strict=True):
        ax.annotate(name, (1, place), xycoords="axes fraction", xytext=(5 + beyond, 0), textcoords="offset points",
                    va="center", fontsize=8, color=colour, annotation_clip=False)  # fmt: skip


def _votes_axis(ax: Axes, votes: float) -> None:
    import numpy as np
    from matplotlib.ticker import MaxNLocator

    right = ax.secondary_yaxis(
        "right", functions=(lambda share: np.multiply(share, votes), lambda count: np.divide(count, votes))
    )
    right.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    right.set_ylabel(f"of {votes:,.0f} votes")


def _beside(ax: Axes, x: float, y: float, text: str, colour: str) -> None:
    """Write below and to the right of a point, or above it where the axis is near."""
    low = y < 0.2 * ax.get_ylim()[1]
    look: Data = {"va": "bottom" if low else "top", "fontsize": 8, "color": colour, "zorder": 5}
    ax.annotate(text, (x, y), xytext=(7, 4 if low else -4), textcoords="offset points", **look)


def styled() -> AbstractContextManager[None]:
    """Return the style of all pictures, for a `with`; refuse, with the way to get it, where matplotlib is missing."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingExtraError("drawing", "matplotlib", "plot") from error
    return mpl.rc_context(_STYLE)  # type: ignore[arg-type]
