"""Curves: how many votes move a consensus, and what robustness costs in loss."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from holdrank.errors import UsageError, show
from holdrank.plots.style import (
    BLACK,
    BLUE,
    COLOURS,
    GREY,
    PALE,
    VERMILLION,
    Data,
    axes_or_new,
    explain,
    number,
    styled,
)
from holdrank.words.numbers import percent, plural
from holdrank.words.pictures import axis_text, other_metric
from holdrank.words.prices import CANNOT_BREAK

if TYPE_CHECKING:
    from holdrank.analysis.result import Analysis
    from holdrank.analysis.tradeoff import Tradeoff
    from holdrank.attacks.results import Breakdown
    from holdrank.plots.style import Axes


def breakdown(*curves: Breakdown | Analysis, ax: Axes | None = None, labels: Sequence[str] | None = None) -> Axes:
    """Draw breakdown curves as steps, with a band where lower and upper differ.

    Parameters
    ----------
    *curves : Breakdown or Analysis
        Of ``breakdown``, by any method; estimates, and attacks of a search that proves nothing, are crosses. An
        analysis stands for all its curves.
    ax : Axes, optional
        Where to draw; a new figure by default.
    labels : sequence of str, optional
        One for each curve; the name of the statistic by default.

    Returns
    -------
    Axes
        With a second axis in votes where the curves are of the same number of votes. Distances that no change of votes
        reaches are drawn at a separate level on top.

    Notes
    -----
    A distance between two listed ones has the value of the larger, as is right when all attainable ones are listed.
    """
    return draw_curves(breakdown_data(*curves, labels=labels), axes_or_new(ax))


def breakdown_data(*curves: Breakdown | Analysis, labels: Sequence[str] | None = None) -> Data:
    """Return the data that `breakdown` draws: the curves, and the number of votes where all are of the same counts.

    Examples
    --------
    >>> from holdrank import Votes, breakdown
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    >>> breakdown_data(breakdown(votes, deltas=[1 / 3, 1]))["curves"][0]["lower"]
    [0.1, 0.5]
    """
    rows = [row for found in curves for row in _rows(found)]
    if labels is not None and len(labels) != len(rows):
        raise UsageError(f"{len(rows)} curves need as many labels, not {len(labels)}")
    totals = {row.pop("votes") for row in rows}
    for row, label in zip(rows, labels or (), strict=labels is not None):
        row["label"] = show(label, 60)
    return {"curves": rows, "votes": totals.pop() if len(totals) == 1 else None}


def _rows(found: Breakdown | Analysis) -> list[Data]:
    """Return the curves of a result, each with its number of votes; None where votes are shares."""
    from holdrank.analysis.result import Analysis
    from holdrank.attacks.results import Breakdown

    if isinstance(found, Analysis):
        votes, n = found.record["votes"], len(found.record["items"])
        total = votes["total"] if votes["counts"] else None
        return [
            _row(curve["statistic"], curve["method"], n, total, [curve[end] for end in ("delta", "lower", "upper")])
            for curve in found.record["curves"]
        ]
    if not isinstance(found, Breakdown):
        raise UsageError(f"a breakdown curve needs a Breakdown or an Analysis, not {type(found).__name__}")
    total = None if any(map(math.isnan, found.votes_needed)) else found.total
    ends = [found.delta.tolist(), *([number(value) for value in end] for end in (found.lower, found.upper))]
    row = _row(found.statistic, found.method, len(found.consensus.items), total, ends)
    metric = other_metric({"distance": str(found.distance)})
    row |= {"metric": metric} if metric else {}
    return [row if found.estimate is None else {**row, "estimate": [number(value) for value in found.estimate]}]


def _row(statistic: str, method: str, n: int, total: float | None, ends: list[list[float]]) -> Data:
    how = {"search": ", search", "bounds": ", bounds", "smooth": ", estimate", "paper": ", paper's estimate"}
    row = dict(zip(("delta", "lower", "upper"), ends, strict=True))
    label = show(statistic + how.get(method, ""), 60)
    return {"label": label, "method": method, "pairs": n * (n - 1) // 2, **row, "votes": total}


def draw_curves(data: Data, ax: Axes, *, log: bool = False) -> Axes:
    """Draw curves as `breakdown_data` gives them.

    A cross is an attack that was run; an open triangle is an estimate where the consensus does not move that far. A
    curve may also say its `colour` and its `width`, and the data the `highest` share of the axis and whether it is
    `endless`, for panels that share their axis.
    """
    curves = data["curves"]
    columns = ("lower", "upper", "estimate")
    known = [value for curve in curves for name in columns for value in curve.get(name, ()) if value]
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
    proved = any(value is None or value > 0 for value in curve["lower"])
    if "estimate" in curve:
        for delta, k in points:
            reached = curve["upper"][k] is not None
            marker = {"marker": "x", "mew": 1.3} if reached else {"marker": "v", "mfc": "white"}
            ax.plot([delta], [curve["estimate"][k]], color=colour, ls="", markersize=5, zorder=4, **marker)
        return curve["estimate"][points[-1][1]] if points else None
    if curve["method"] == "smooth" or (curve["method"] == "search" and not proved):
        dots = [(delta, curve["upper"][k]) for delta, k in points if curve["upper"][k] is not None]
        if dots:
            ax.plot(*zip(*dots, strict=True), "x", color=colour, markersize=5, mew=1.3, zorder=4)
        return dots[-1][1] if dots else None
    if points:
        # Where no attack was found the band extends to the top; where none exists there is no band.
        top = ax.get_ylim()[1]
        ends = [curve["upper"][k] if curve["upper"][k] is not None else top for k in order]
        upper = [high if low < never else low for low, high in zip(lower, ends, strict=True)]
        ax.stairs(upper, edges, baseline=lower, fill=True, color=colour, alpha=0.22, lw=0)
        ax.stairs(lower, edges, baseline=None, color=colour, lw=curve.get("width", 1.6), zorder=3)
    return lower[-1] if points else None


def tradeoff(found: Tradeoff, *, ax: Axes | None = None) -> Axes:
    """Draw loss against robustness for every threshold, the steps of the Pareto front, and the best threshold.

    Parameters
    ----------
    found : Tradeoff
        Of ``tradeoff``.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        Filled dots are proven to be on the front. Where a bound is open, a pale bar reaches from the lower to the upper
        bound, and a diamond stands where the threshold may be on the front; a key then says so.
    """
    data = tradeoff_data(found)
    ax = draw_tradeoff(data, axes_or_new(ax))
    marks = tradeoff_marks([data])
    if "between the bounds" in marks:
        with styled():
            explain(ax, marks, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)
    return ax


def tradeoff_data(found: Tradeoff) -> Data:
    """Return the data that `tradeoff` draws.

    Examples
    --------
    >>> from holdrank import Votes, tradeoff
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[51, 49])
    >>> data = tradeoff_data(tradeoff(votes))
    >>> data["lower"], data["tiers"], data["best"]
    ([0.01, 0.49, None], [3, 2, 1], 1)
    """
    from holdrank.analysis.tradeoff import front

    return {
        **{name: [number(v) for v in getattr(found, name)] for name in ("theta", "loss", "lower", "upper")},
        "tiers": [len(ranking.buckets) for ranking in found.rankings],
        "pareto": found.pareto.tolist(),
        "proved_pareto": front(found.loss, found.upper, found.lower).tolist(),
        "best": found.best,
        "allowed": number(found.loss.min() + found.tolerance),
        "delta": number(found.delta),
    }


_BAR: Data = {"color": BLUE, "lw": 3.5, "alpha": 0.28}
_ON_FRONT: Data = {"marker": "o", "facecolor": BLUE, "edgecolor": BLUE, "s": 26}
_PERHAPS: Data = {"marker": "D", "facecolor": "white", "edgecolor": BLUE, "s": 24}
_BEHIND: Data = {"marker": "o", "facecolor": "white", "edgecolor": GREY, "s": 16}


def draw_tradeoff(data: Data, ax: Axes) -> Axes:
    """Draw a trade-off as `tradeoff_data` gives it."""
    loss, best = data["loss"], data["best"]
    with styled():
        high = [value for value in (*data["lower"], *data["upper"]) if value is not None]
        never = share_axis(ax, max(high, default=0.5) or 0.5, endless=None in data["lower"])
        lower = [never if value is None else value for value in data["lower"]]
        top = ax.get_ylim()[1]  # where no attack was found the bar extends to the top
        upper = [max(low, top if high is None and low < never else high or low)
                 for low, high in zip(lower, data["upper"], strict=True)]  # fmt: skip
        ax.axvspan(min(loss), data["allowed"], color=PALE, alpha=0.35, lw=0)
        # What is certain: at so much loss, a threshold that holds at least so long.
        steps = sorted(zip(loss, lower, strict=True))
        ax.step([x for x, _ in steps], list(accumulate((y for _, y in steps), max)), where="post", color=BLUE, lw=1.2)
        ax.vlines(loss, lower, upper, **_BAR)
        for look, chosen in ((_BEHIND, _behind(data)), (_PERHAPS, _perhaps(data)), (_ON_FRONT, data["proved_pareto"])):
            at = [k for k in range(len(loss)) if chosen[k] and k != best]
            ax.scatter([loss[k] for k in at], [lower[k] for k in at], **look, zorder=3, clip_on=False)
        ax.scatter([loss[best]], [lower[best]], s=90, marker="*", color=VERMILLION, zorder=4, clip_on=False)
        many = data["tiers"][best]
        text = f"best: θ = {data['theta'][best]:.3g}\n{plural(many, 'tier')}"
        _beside(ax, loss[best], lower[best], text, VERMILLION)
        span = max(loss) - min(loss) or 0.1
        if loss[best] - loss[0] > 0.15 * span or abs(lower[best] - lower[0]) > 0.2 * top:  # room for both names
            _beside(ax, loss[0], lower[0], "no merge", BLACK)
        ax.set_xlabel("loss: mean distance to a vote (grey: allowed)")
        ax.set_ylabel("votes to change before it breaks")
        ax.set_xlim(min(loss) - 0.06 * span, max(loss) + 0.12 * span)
    return ax


def _behind(data: Data) -> list[bool]:
    return [not on for on in data["pareto"]]


def _perhaps(data: Data) -> list[bool]:
    return [on and not proved for on, proved in zip(data["pareto"], data["proved_pareto"], strict=True)]


def tradeoff_marks(panels: Iterable[Data]) -> dict[str, Data]:
    """Return what the marks of trade-offs mean, for a key: those that occur."""
    panels = list(panels)
    kinds = {
        "proven to be on the front": (_ON_FRONT, any(any(data["proved_pareto"]) for data in panels)),
        "may be on the front": (_PERHAPS, any(any(_perhaps(data)) for data in panels)),
        "another threshold is better": (_BEHIND, any(any(_behind(data)) for data in panels)),
    }
    dots = {
        name: {"ls": "", "marker": look["marker"], "mfc": look["facecolor"], "mec": look["edgecolor"]}
        for name, (look, occurs) in kinds.items()
        if occurs
    }
    star: Data = {"ls": "", "marker": "*", "color": VERMILLION, "markersize": 9}
    wide = any(low != high for data in panels for low, high in zip(data["lower"], data["upper"], strict=True))
    return {"best threshold": star, **dots, **({"between the bounds": _BAR} if wide else {})}


def share_axis(ax: Axes, highest: float, *, endless: bool, least: float = 0.0, log: bool = False) -> float:
    """Make the vertical axis one of shares of votes up to `highest`; return the level of what cannot be broken."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

    if log:
        bottom = max(least, 1e-9) / 1.8
        ticks = [t for t in LogLocator().tick_values(bottom, highest) if bottom <= t <= highest]
        ticks += [0.5] if 0.25 < highest <= 0.5 else []  # half of the votes: what no median outlasts
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
        return CANNOT_BREAK if endless and value == never else percent(float(value))

    ax.yaxis.set_major_formatter(FuncFormatter(text))
    ax.set_ylabel("votes to change")
    return never


def pair_axis(ax: Axes, curves: Iterable[Data]) -> None:
    """Make the horizontal axis one of distances, as numbers of pairs where these are few."""
    shown = [curve for curve in curves if curve["delta"] and curve["delta"][0] > 0]
    metrics = {curve.get("metric", "") for curve in shown}
    if len(metrics) > 1:
        raise UsageError("the curves use different distances", repair="draw curves of one distance together")
    if metrics - {""}:
        ax.set_xlabel(axis_text(metrics.pop()))
        return
    steps = {curve.get("pairs") or round(1 / curve["delta"][0]) for curve in shown}
    pairs = max(steps, default=0)
    if 0 < pairs <= 10:
        ax.set_xticks([k / pairs for k in range(pairs + 1)], [str(k) for k in range(pairs + 1)])
        ax.set_xlabel(f"pairs out of {pairs} that the consensus changes")
    else:
        ax.set_xlabel("share of pairs that the consensus changes")


def _name_ends(ax: Axes, ends: Sequence[tuple[float, str, str]], beyond: float) -> None:
    """Write names of curves, given as (height, name, colour), right of the axes, moved apart where they would overlap.

    They start a number of points beyond the axes, to leave room for an axis there.
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
    look["bbox"] = {"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.75}
    ax.annotate(text, (x, y), xytext=(7, 4 if low else -4), textcoords="offset points", **look)
