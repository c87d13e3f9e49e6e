"""The trade-off between loss and robustness: the bounds of each threshold, and the sentences about them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from holdrank.arrays.tolerances import SAME
from holdrank.errors import show
from holdrank.status import TIERS_PRICED_UP_TO
from holdrank.words.missing import LeftOut
from holdrank.words.numbers import decimal, number, plural
from holdrank.words.prices import NOT_KNOWN, price_text
from holdrank.words.remarks import first_items

Record = dict[str, Any]  # of an analysis

_WINNER = "another winner"  # the goal of a trade-off of many items, as of the attack


class Point(NamedTuple):
    """A threshold: its loss, and which share of the votes breaks what it gives; None for infinity.

    Where votes are counted, the ends are shares of whole votes.
    """

    theta: float
    loss: float
    lower: float | None
    upper: float | None


class Weighed(NamedTuple):
    """All thresholds of a trade-off: which are on the front, the best one, and the one of the reported tiers."""

    points: list[Point]
    front: list[bool]
    best: int
    reported: int | None
    allowed: float  # loss


def weighed(record: Record) -> Weighed | None:
    """Return a trade-off with the best bounds of its thresholds; None if there are none.

    A sweep over all thresholds has little time for each. The attack on the reported tiers says more about theirs, and
    the gap below a single leader says more about the threshold 0.
    """
    found = record["tradeoff"]
    if found is None or not _any_bound(found):
        return None
    ends = zip(*(found[name] for name in ("theta", "loss", "lower", "upper")), strict=True)
    points = [_whole(Point(*one), record["votes"]) for one in ends]
    best, allowed = found["best"], _allowed(record)
    points[0] = _without_tiers(points[0], record)
    reported, closer = _reported(points, record), [0]
    if reported is not None and (exact := _attacked(record)) is not None:
        if abs(points[reported].theta - exact.theta) > SAME:
            reported, best = reported + 1, best + (best > reported)
            points.insert(reported, exact)
        points[reported] = exact
        closer.append(reported)
    for k in closer:
        if points[k].loss <= max(allowed, points[best].loss) + SAME and _rank(points[k]) > _rank(points[best]):
            best = k
    if not any(_tells(one, record["votes"]) for one in points):
        return None
    front = [not any(_beats(other, one) for other in points) for one in points]
    return Weighed(points, front, best, reported, allowed)


def _any_bound(found: Record) -> bool:
    """Whether anything is known of how robust a threshold is, but that a tie of all is never broken."""
    return any(found["lower"]) or any(
        high is not None and low is not None for low, high in zip(found["lower"], found["upper"], strict=True)
    )


def _tells(one: Point, votes: Record) -> bool:
    """Whether the bounds of a threshold say more than that one vote is needed, or that nothing breaks a tie of all."""
    trivial = 1 / votes["total"] + SAME if votes["counts"] else 0.0
    return one.lower is not None and (one.upper is not None or one.lower > trivial)


def _whole(one: Point, votes: Record) -> Point:
    """Return a point whose bounds are whole votes: an infimum is needed, and slightly more is enough."""
    if not votes["counts"]:
        return one
    total = votes["total"]
    ends = (None if end is None else math.ceil(end * total - 1e-6) / total for end in (one.lower, one.upper))
    return Point(one.theta, one.loss, *ends)


def _allowed(record: Record) -> float:
    """Return the loss that the best threshold may have: so much more than the ranking without tiers, per pair."""
    return float(record["consensus"]["loss"] + _extra(record))


def _extra(record: Record) -> float:
    """Return the loss that tiers may add: ballots that compare few pairs can lose few."""
    n, compared = len(record["items"]), record["pairs"]["compared"]
    pairs, total = n * (n - 1) / 2, record["votes"]["total"]
    part = sum(map(sum, compared)) / 2 / pairs if len(compared) == n else compared[0][0]
    return float(record["tradeoff"]["tolerance"] * min(part / total, 1.0))


def _without_tiers(one: Point, record: Record) -> Point:
    """Return the threshold 0 with what the gap below a single leader takes, where that is priced without tiers.

    Who comes first without tiers is in the first tier at any threshold, so an attack on the gap is one on the tier.
    The converse does not hold for lower bounds: two items apart may share a tier because they are level. But by
    Bradley-Terry items are level only if all between them are.
    """
    gaps, order, ranks = record["gaps"], record["consensus"]["order"], (record["tiers"] or record["consensus"])["ranks"]
    alone = len(first_items(ranks, order)) == 1 and record["tradeoff"]["sizes"][0][0] == 1
    if len(order) <= TIERS_PRICED_UP_TO or record["tradeoff"]["goal"] != _WINNER or not alone or one.theta:
        return one
    if not gaps or gaps[0].get("known") is False or gaps[0]["lower"] is None:
        return one
    gap = _whole(Point(0.0, one.loss, gaps[0]["lower"], gaps[0]["upper"]), record["votes"])
    upper = min((end for end in (one.upper, gap.upper) if end is not None), default=None)
    if record["consensus"]["rule"] == "bradley-terry" and one.lower is not None and gap.lower is not None:
        one = one._replace(lower=max(one.lower, gap.lower))
    return one._replace(upper=upper)


def _reported(points: list[Point], record: Record) -> int | None:
    """Return the threshold with the tiers that are reported: the largest that is not above theirs."""
    tiers = record["tiers"]
    below = [] if tiers is None else [k for k, one in enumerate(points) if one.theta <= tiers["theta"] + 1e-12]
    return max(below, key=lambda k: points[k].theta) if below else None


def _attacked(record: Record) -> Point | None:
    """Return the reported threshold with what the attack on its tiers takes, or their curve; None where neither says.

    The attack is about the first place, the curve about distances: that counts which the trade-off is about.
    """
    tiers, votes = record["tiers"], record["votes"]
    found = record["attack"] if record["tradeoff"]["goal"] is not None else _on_the_curve(record)
    if found is None or found.get("goal") != record["tradeoff"]["goal"]:
        return None
    if not votes["counts"] or found["lower"] is None:
        return Point(tiers["theta"], tiers["loss"], found["lower"], found["upper"])
    least, most = (None if found[name] is None else found[name] / votes["total"] for name in ("decides", "sufficient"))
    return Point(tiers["theta"], tiers["loss"], least or 0.0, most)


def _on_the_curve(record: Record) -> Record | None:
    """Return the curve of the reported tiers at the distance of the trade-off; None where there is none."""
    theta, delta = record["tiers"]["theta"], record["tradeoff"]["delta"] or 0.0
    for curve in record.get("curves", ()):
        if curve["theta"] is None or abs(curve["theta"] - theta) > SAME or "estimate" in curve:
            continue
        for k, far in enumerate(curve["delta"]):
            if abs(far - delta) <= SAME:
                return {name: curve[name][k] for name in ("lower", "upper", "decides", "sufficient")}
    return None


def _rank(one: Point) -> tuple[float, float]:
    """Return the key by which thresholds are compared: the proven lower bound, then the loss."""
    return math.inf if one.lower is None else round(one.lower, 9), -one.loss


def _beats(other: Point, one: Point) -> bool:
    """Whether another threshold has no more loss, is certainly as robust, and is better in one of them."""
    low = math.inf if other.lower is None else other.lower
    high = math.inf if one.upper is None else one.upper
    no_worse = other.loss <= one.loss + SAME and low >= high - SAME
    return no_worse and (other.loss < one.loss - SAME or low > high + SAME)


# In words


def tradeoff_text(record: Record) -> str:
    """Return the trade-off in words: the most robust threshold compared with no tiers, and the reported one."""
    found, known = record["tradeoff"], weighed(record)
    if found is None:
        if record["spec"]["theta"] is None:
            return "There is no trade-off: no tiers were asked for."
        if record["spec"]["theta"] != "auto":
            return f"There is no trade-off: the threshold {record['spec']['theta']:g} was given, not chosen."
        return "There is no trade-off: it was not computed."
    if known is None:
        return "Trade-off: how many votes break each threshold was not computed within the time limit."
    best, first = known.points[known.best], known.points[0]
    lines = [
        f"Loss against robustness over {plural(len(known.points), 'threshold')}; "
        f"to break means: {broken_text(record)}.",
        f"Most robust: θ = {best.theta:.4g}, loss {best.loss:.4g}, {_breaking(record, best)}.",
    ]
    if known.best:
        lines.append(f"At θ = 0: loss {first.loss:.4g}, {_breaking(record, first)}.")
    lines += [part.why for part in unknown_thresholds(record)]
    return "\n".join(filter(None, (*lines, reported_text(record))))


def unknown_thresholds(record: Record) -> list[LeftOut]:
    """Return the thresholds about which nothing is known, as one part that the page leaves out; none if all are."""
    known = weighed(record) if record["tradeoff"] else None
    unknown = [] if known is None else [one for one in known.points if robustness_text(record, one) == NOT_KNOWN]
    if known is None or not unknown:
        return []
    many = f"{number(len(unknown))} of {plural(len(known.points), 'threshold')}"
    return [LeftOut("thresholds", f"Trade-off: nothing is known about {many} within the time limit.")]


def reported_text(record: Record) -> str:
    """Return why the threshold of the tiers is not the most robust one; nothing where it is, or is not known."""
    known = weighed(record)
    if known is None or known.reported is None or known.reported == known.best:
        return ""
    here, best = known.points[known.reported], known.points[known.best]
    auto = "which ties items that differ by no more than chance; items of different tiers may still differ by chance"
    said = f"The tiers above use θ = {record['tiers']['theta']:.3g}, {auto if record['tiers']['auto'] else 'as asked'}."
    within = f"thresholds that add at most {decimal(_extra(record), 2)} to the loss"
    if _rank(here)[0] >= _rank(best)[0]:
        return f"{said} No other of the {within} is proven more robust."
    return f"{said} The most robust of the {within} is another: θ = {best.theta:.3g}."


def mark_text(record: Record, known: Weighed, which: str) -> str:
    """Return the words for a marked point of the picture: the "best" threshold, or the "reported" one."""
    one = known.points[known.best if which == "best" else known.reported or 0]
    name = "tiers above" if which == "reported" else "most robust"
    name += ", and the tiers above" * (which == "best" and known.best == known.reported)
    takes = robustness_text(record, one)
    said = f"{name}: θ = {one.theta if which == 'best' else record['tiers']['theta']:.3g}"
    return said + f", {takes}" * (takes != NOT_KNOWN)


def flat_text(record: Record) -> str:
    """Return that all thresholds break at the same number of votes, so that there is no picture; else nothing."""
    known = weighed(record)
    kept = [] if known is None else [one for one in known.points if one.lower is not None]
    told = {robustness_text(record, one) for one in kept}
    if len(told) != 1 or len(kept) < 2 or any(one.upper is None or one.upper != one.lower for one in kept):
        return ""
    unless = ", unless all items share one tier" * (known is not None and len(kept) < len(known.points))
    return f"Trade-off: {told.pop()} is the proven minimum at every threshold{unless}."


def broken_text(record: Record) -> str:
    """Return what counts as broken: a goal, or pairs whose order changes."""
    found, n = record["tradeoff"], len(record["items"])
    if found["goal"] is not None:
        return "another item shares or takes first place" if found["goal"] == _WINNER else show(found["goal"], 100)
    moved = math.ceil((found["delta"] or 0.0) * n * (n - 1) / 2 - SAME)
    return f"the order of {plural(max(moved, 1), 'pair')} changes"


def robustness_text(record: Record, one: Point) -> str:
    """Return the votes that break what a threshold gives."""
    votes = record["votes"]
    least, most = (None if end is None else round(end * votes["total"], 6) for end in (one.lower, one.upper))
    known = {"lower": one.lower, "upper": one.upper, "needed": least, "decides": least, "sufficient": most}
    return price_text(known, votes)


def _breaking(record: Record, one: Point) -> str:
    """Return how many votes break the tiers of a threshold, in a sentence."""
    text = robustness_text(record, one)
    if one.lower is None:
        return text
    if text == NOT_KNOWN:
        return f"robustness {NOT_KNOWN}"
    return f"breaks at {text}" if text[0].isdigit() else f"breaking it takes {text}"
