"""Curves: how many votes move the consensus by each distance, and what robustness costs in loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from holdrank.analysis.records import Record
from holdrank.views.svg.canvas import Canvas, digits, sentence, ticks, width_of
from holdrank.words.names import curve_name
from holdrank.words.nouns import noun_of
from holdrank.words.numbers import number, percent, plural
from holdrank.words.pictures import (
    axis_text,
    breakdown_text,
    curve_point_text,
    in_halves,
    known_curves,
    other_metric,
)
from holdrank.words.prices import CANNOT_BREAK, NOT_KNOWN, in_whole_votes
from holdrank.words.tradeoffs import Point, broken_text, mark_text, robustness_text, tradeoff_text, weighed

_WIDTH, _HEIGHT = 440.0, 310.0  # a phone shows it nearly as large
_LEFT, _TOP, _BOTTOM = 58.0, 34.0, 50.0


class _Frame:
    """The axes of a curve: x as given, y a share of the votes with the number of votes next to it."""

    def __init__(self, sheet: Canvas, record: Record, right: float, highest: float, *, endless: bool) -> None:
        self.sheet, self.right = sheet, right
        self.low, self.high = _HEIGHT - _BOTTOM, _TOP + (26.0 if endless else 6.0)
        self.highest, self.endless = highest or 1.0, endless
        self.never = _TOP + 2
        votes = record["votes"]
        unit = f"{noun_of(votes)}s"
        sheet.text(_LEFT - 8, 14, unit if votes["counts"] else "share", "small soft end")
        # Round numbers of votes where there are votes to count; few of them have a tick each.
        scale = votes["total"] if votes["counts"] else 1.0
        for tick in ticks(self.highest * scale):
            if votes["counts"] and tick != int(tick):
                continue
            y = self.y(tick / scale)
            sheet.line([(_LEFT, y), (right, y)], "grid" if tick else "rule")
            sheet.text(_LEFT - 8, y + 4, number(tick) if votes["counts"] else percent(tick), "small end")
        if endless:
            sheet.line([(_LEFT, self.never), (right, self.never)], "grid dashed")
            sheet.text(_LEFT + 4, self.never - 5, CANNOT_BREAK, "small soft")

    def y(self, share: float | None) -> float:
        """Return the height of a share; None is never."""
        if share is None:
            return self.never
        return self.low - min(share / self.highest, 1.05) * (self.low - self.high)


def breakdown(record: Record) -> str:
    """Return the breakdown curves: for each distance, the share of votes that must change to reach it."""
    curves = [in_whole_votes(curve, record["votes"]) for curve in known_curves(record)]
    if not curves:
        return sentence("breakdown", breakdown_text(record))
    known = [value for curve in curves for end in ("lower", "upper") for value in curve[end] if value is not None]
    endless = any(value is None for curve in curves for value in curve["lower"])
    labels = [curve_name(curve["rule"], _brief(curve["theta"])) for curve in curves]
    # Next to the curves the threshold would take too much room; it is shown as a tooltip.
    short = [label if curve["theta"] is None else "tiers" for label, curve in zip(labels, curves, strict=True)]
    right = _WIDTH - max(width_of(label, 13) for label in short) - 20
    sheet = Canvas("breakdown", _WIDTH)
    frame = _Frame(sheet, record, right, max(known, default=1.0), endless=endless)
    farthest: float = max(curve["delta"][-1] for curve in curves)

    def x(delta: float) -> float:
        return _LEFT + delta / farthest * (right - _LEFT)

    pairs = len(record["items"]) * (len(record["items"]) - 1) // 2
    for tick in ticks(farthest):
        sheet.text(x(tick), frame.low + 18, percent(tick), "small soft middle")
    sheet.text((_LEFT + right) / 2, frame.low + 40, _axis(curves, pairs), "small middle")
    ends = []
    for k, curve in reversed(list(enumerate(curves))):
        every = round(curve["delta"][-1] * 2 * pairs) if in_halves(curve) else pairs
        ends.append((_curve(sheet, frame, curve, x, k, dense=len(curve["delta"]) == every), short[k], k))
        for j, delta in enumerate(curve["delta"]):
            title = f"{labels[k]}: {curve_point_text(record, curve, j)}"
            sheet.add("circle", "hit", title, cx=x(delta), cy=frame.y(curve["lower"][j]), r=7)
    _label_ends(sheet, ends, right, frame)
    return sheet.done(_HEIGHT, breakdown_text(record))


def _brief(theta: float | None) -> float | None:
    """Return a threshold with three digits, which is enough next to a curve."""
    return None if theta is None else float(f"{theta:.3g}")


def _axis(curves: list[Record], pairs: int) -> str:
    metrics = {other_metric(curve) for curve in curves} - {""}
    return axis_text(min(metrics)) if metrics else f"share of the {plural(pairs, 'pair')} whose order changes"


def _curve(sheet: Canvas, frame: _Frame, curve: Record, x: Callable[[float], float], k: int, *, dense: bool) -> float:
    """Draw one curve; return the height at which it ends.

    Between two distances that were computed the truth lies between the lower bound of the nearer and the upper bound
    of the farther; where all distances were, it is the value of the farther.
    """
    edges = [0.0, *curve["delta"]]
    lows: list[tuple[float, float]] = []
    band: list[str] = []
    for j, (start, end) in enumerate(pairwise(edges)):
        low = frame.y(curve["lower"][j if dense or j == 0 else j - 1])
        lows += [(x(start), low), (x(end), low)]
        # Where no attack was found there is no upper end to draw, unless nothing breaks it.
        high = curve["upper"][j]
        if high is not None or curve["lower"][j] is None:
            top = frame.never if high is None else frame.y(high)
            band.append(f"M{digits(x(start))} {digits(low)}H{digits(x(end))}V{digits(top)}H{digits(x(start))}z")
    if band:
        sheet.add("path", f"band s{k % 4}", d="".join(band))
    sheet.line([*lows, (x(edges[-1]), frame.y(curve["lower"][-1]))], f"curve s{k % 4}")
    if not dense:
        for delta, low in zip(curve["delta"], curve["lower"], strict=True):
            sheet.dot(x(delta), frame.y(low), 3, f"mark s{k % 4}")
    return frame.y(curve["lower"][-1])


def _label_ends(sheet: Canvas, ends: Sequence[tuple[float, str, int]], right: float, frame: _Frame) -> None:
    """Write names next to the ends of curves, moved apart where they would overlap."""
    ordered = sorted(ends)
    heights: list[float] = []
    for y, _, _ in ordered:
        heights.append(max(y, heights[-1] + 18) if heights else y)
    for k in range(len(heights) - 1, -1, -1):
        heights[k] = min(heights[k], frame.low if k == len(heights) - 1 else heights[k + 1] - 18)
    for height, (y, label, k) in zip(heights, ordered, strict=True):
        if abs(height - y) > 2:
            sheet.line([(right + 1, y), (right + 10, height)], f"leader s{k % 4}")
        sheet.text(right + 14, height + 4, label, f"label s{k % 4}")


# The trade-off.


def tradeoff(record: Record) -> str:
    """Return loss against robustness for every threshold, the steps of the Pareto front, and the best threshold."""
    known = weighed(record)
    if known is None:
        return sentence("tradeoff", tradeoff_text(record))
    points, best = known.points, known.points[known.best]
    ends = [end for one in points for end in (one.lower, one.upper) if end is not None]
    sheet = Canvas("tradeoff", _WIDTH)
    right = _WIDTH - 30
    endless = any(one.lower is None for one in points)
    frame = _Frame(sheet, record, right, max(ends, default=1.0), endless=endless)
    least: float = min(one.loss for one in points)
    span: float = (max(one.loss for one in points) - least) or 0.1

    def x(value: float) -> float:
        return _LEFT + 16 + (value - least) / span * (right - _LEFT - 32)

    sheet.text(right, 14, f"until {broken_text(record)}", "small soft end")
    sheet.box(_LEFT, frame.high - 6, min(x(known.allowed), right) - _LEFT, frame.low - frame.high + 6, "allowed")
    for value in ticks(least + span, least):
        sheet.text(x(value), frame.low + 18, f"{value:.6g}", "small soft middle")
    sheet.text((_LEFT + right) / 2, frame.low + 40, "loss: mean distance to a vote (shaded: allowed)",
               "small middle")  # fmt: skip
    shown = [robustness_text(record, one) != NOT_KNOWN for one in points]
    sheet.line(_front([one for one, is_shown in zip(points, shown, strict=True) if is_shown], x, frame), "curve s0")
    for k, one in enumerate(points):
        if not shown[k]:
            continue
        at = x(one.loss), frame.y(one.lower)
        if one.lower is not None and one.upper is not None and one.upper - one.lower > 1e-9:
            sheet.line([at, (at[0], frame.y(one.upper))], "whisker s0")
        if k != known.best:
            sheet.dot(*at, 4, "mark s0" if known.front[k] else "hollow")
        title = f"θ = {one.theta:.4g}: loss {one.loss:.4g}, {robustness_text(record, one)}"
        sheet.add("circle", "hit", title, cx=at[0], cy=at[1], r=7)
    marks = [(best, "best", mark_text(record, known, "best"))]
    if known.reported not in (None, known.best):
        marks.insert(0, (points[known.reported], "reported", mark_text(record, known, "reported")))
    for one, look, _ in marks:
        sheet.dot(x(one.loss), frame.y(one.lower), 7, look)
    for k, (_, look, said) in enumerate(reversed(marks)):  # below the axis, where no point is in the way
        y = _HEIGHT + 12 + 20 * k
        brief = said if width_of(said, 14) < _WIDTH - 40 else said.partition(" (")[0]
        sheet.dot(15, y - 4, 6, look)
        sheet.text(27, y, brief, f"label {'s1' if look == 'best' else 's2'}")
    return sheet.done(_HEIGHT + 20 * len(marks), tradeoff_text(record))


def _front(points: list[Point], x: Callable[[float], float], frame: _Frame) -> list[tuple[float, float]]:
    """Return the steps that rise at each threshold that is proven more robust than all of less loss."""
    steps: list[tuple[float, float]] = []
    for one in sorted(points, key=lambda one: one.loss):
        at = x(one.loss), frame.y(one.lower)
        if not steps or at[1] < steps[-1][1]:
            steps += [(at[0], steps[-1][1]), at] if steps else [at]
    return steps
