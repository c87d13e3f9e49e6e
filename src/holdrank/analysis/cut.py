"""Who is safely among the first k, safely not, or undecided: what it takes to move each item across the cut."""

from __future__ import annotations

from holdrank.analysis.races import Prices, Say, has_quick_bounds
from holdrank.analysis.records import Record
from holdrank.attacks import goals
from holdrank.attacks.answers import attack
from holdrank.attacks.results import amounts
from holdrank.rankings import Ranking
from holdrank.rules.consensus import Statistic
from holdrank.status import Clock, Status
from holdrank.votes.votes import Votes

_FOR_THE_SET = 0.25  # of the time: for a bound that holds for every item
_WORTH_A_TRY = 1.0  # seconds for an item: less finds nothing where there are many
_BOUNDS = ("lower", "upper", "needed", "ties", "decides", "sufficient")


def at_the_cut(
    votes: Votes, T: Statistic, before: Ranking, k: int, budget: float, clock: Clock, say: Say
) -> tuple[Record, Status | None]:
    """Return the items in the order of a consensus, each with what moves it across the cut; and what cut this short.

    An item is safe where that is proved to take more than `budget`, a share of the votes. The items nearest to the cut
    come first, should the time not be enough for all: their fate is the question. Who changes places across the cut
    changes the set of the first k, so what that takes bounds every item.
    """
    left = clock.seconds_left()
    part = None if left == float("inf") else _FOR_THE_SET * max(left, 0.0)
    whole = {**amounts(attack(votes, T, goals.TopSet(k), time_limit=part)), "known": True}
    order = list(before.order)
    nearest = sorted(range(len(order)), key=lambda place: (abs(place - k + 0.5), place))
    asked = [_across(votes.items[order[place]], place < k, k) for place in nearest]
    prices = Prices(votes, T, before, asked)
    if has_quick_bounds(votes, T):
        prices.quickly(clock, say)
        prices.refine(clock, say)
    else:
        prices.one_by_one(clock, say, least=_WORTH_A_TRY)
    rows: list[Record] = [{}] * len(order)
    for place, row in zip(nearest, prices.rows, strict=True):
        known = _at_least(row, whole)
        least = known["needed"] / votes.total if votes.is_counts and known["needed"] is not None else known["lower"]
        safe = least is None or least > budget
        bounds = {name: known[name] for name in _BOUNDS}
        rows[place] = {"item": order[place], "inside": place < k, "safe": safe, **bounds}
    return {"k": k, "budget": budget, "items": rows}, prices.cut_short


def _across(name: str, inside: bool, k: int) -> goals.Goal:
    return goals.Leaves(name, k) if inside else goals.Enters(name, k)


def _at_least(row: Record, whole: Record) -> Record:
    """Return what is known about an item, with the lower bounds of the set of the first k where those say more."""
    if row["known"] and row["lower"] is None:  # no change moves it
        return row
    known = row if row["known"] else dict.fromkeys(_BOUNDS)
    ends = {}
    for name in ("lower", "needed", "decides"):
        both = [end for end in (known[name], whole[name]) if end is not None]
        ends[name] = max(both) if both else None
    return {**known, **ends}
