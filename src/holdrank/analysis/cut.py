"""Which items are safely in the top k, safely out, or undecided: how many votes move each item across the cut."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from holdrank.analysis.chance.sure_pairs import surely_before
from holdrank.analysis.races import Prices, Say, has_quick_bounds
from holdrank.analysis.records import Record
from holdrank.attacks import goals
from holdrank.attacks.answers import attack
from holdrank.attacks.results import amounts
from holdrank.rankings import Ranking
from holdrank.rules.consensus import Statistic
from holdrank.rules.registry import rule_of
from holdrank.status import TIERS_PRICED_UP_TO, Clock, Status
from holdrank.votes.votes import Votes
from holdrank.words.prices import AMOUNTS

_FOR_THE_SET = 0.25  # of the time: for a bound that holds for every item
_WORTH_A_TRY = 1.0  # seconds for an item: less finds nothing where there are many


def at_the_cut(
    votes: Votes, T: Statistic, before: Ranking, k: int, budget: float, clock: Clock, say: Say
) -> tuple[Record, Status | None]:
    """Return the items in the order of a consensus, each with the votes that move it across the cut; and the status.

    An item is safe if moving it provably needs more than `budget`, a share of the votes. The items nearest to the cut
    come first, in case the time is not enough for all. An item that crosses the cut changes the set of the first k, so
    the bound for that set holds for every item.
    """
    order = list(before.order)
    nearest = sorted(range(len(order)), key=lambda place: (abs(place - k + 0.5), place))
    firm = _firm(votes, T, before, k, budget, clock)
    asked = [place for place in nearest if firm is None or firm[order[place]] < round(budget * votes.total)]
    whole = {} if firm is not None else _of_the_set(votes, T, k, clock)
    prices = Prices(votes, T, before, [_across(votes.items[order[place]], place < k, k) for place in asked])
    if has_quick_bounds(votes, T):
        prices.quickly(clock, say)
        prices.refine(clock, say)
    else:
        prices.one_by_one(clock, say, least=_WORTH_A_TRY)
    priced = dict(zip(asked, prices.rows, strict=True))
    rows: list[Record] = []
    for place, item in enumerate(order):
        least = whole if firm is None else _more_than(firm[item], votes)
        known = _at_least(priced.get(place, {"known": False}), least)
        share = known["needed"] / votes.total if votes.is_counts and known["needed"] is not None else known["lower"]
        safe = share is None or share > budget
        rows.append({"item": item, "inside": place < k, "safe": safe, **{name: known[name] for name in AMOUNTS}})
    return {"k": k, "budget": budget, "items": rows}, prices.cut_short


def _of_the_set(votes: Votes, T: Statistic, k: int, clock: Clock) -> Record:
    """Return bounds on changing the set of the first k."""
    left = clock.seconds_left()
    part = None if left == float("inf") else _FOR_THE_SET * max(left, 0.0)
    return dict(amounts(attack(votes, T, goals.TopSet(k), time_limit=part)))


def _firm(votes: Votes, T: Statistic, before: Ranking, k: int, budget: float, clock: Clock) -> list[int] | None:
    """Return for each item a number of replaced votes that provably does not move it across the cut, -1 for none.

    Only for Kemeny rankings of many items; None otherwise. A replaced vote moves a margin by at most 2, so what holds
    for all margins within 2 b holds whichever b votes are replaced. Margins are whole, and so are the sums.
    """
    if rule_of(T).median_of != "kendall" or votes.n <= TIERS_PRICED_UP_TO or not votes.is_counts:
        return None
    n, inside = votes.n, np.isin(np.arange(votes.n), before.order[:k])
    wins = votes.wins()
    margins = wins - wins.T
    firm, lasted = np.full(n, -1), 0.0
    allowed, part = round(budget * votes.total), Clock(_FOR_THE_SET * clock.seconds_left(), within=clock)
    for upwards in (True, False):
        for b in _levels(allowed, int(votes.total), upwards=upwards):
            left = part.seconds_left()
            if b != allowed and (part.over() or left < 2 * lasted):
                break
            lower = margins - 2 * b
            np.fill_diagonal(lower, 0.0)
            sure = surely_before(lower)
            holds = np.where(inside, sure.sum(axis=1) >= n - k, sure.sum(axis=0) >= k)
            firm[holds] = np.maximum(firm[holds], b)
            if upwards and not holds.any():
                break
            lasted = left - part.seconds_left() if math.isfinite(left) else 0.0
    return [int(most) for most in firm]


def _levels(allowed: int, total: int, *, upwards: bool) -> Iterator[int]:
    """Return numbers of votes to try: the budget and more, in growing steps; or fewer, each half of the last."""
    at = allowed
    while upwards and at <= total // 2:
        yield at
        at = max(at + 1, at * 5 // 4)
    while not upwards and at > 0:
        at //= 2
        yield at


def _more_than(firm: int, votes: Votes) -> Record:
    """Return the bounds that follow if this many votes are not enough; none follow from -1."""
    more = firm + 1.0
    return {**dict.fromkeys(AMOUNTS), "lower": max(firm, 0) / votes.total, "needed": more, "decides": more}


def _across(name: str, inside: bool, k: int) -> goals.Goal:
    return goals.Leaves(name, k) if inside else goals.Enters(name, k)


def _at_least(row: Record, whole: Record) -> Record:
    """Return the bounds for an item, improved by those for the set of the first k."""
    if row["known"] and row["lower"] is None:  # no change moves it
        return row
    known = row if row["known"] else dict.fromkeys(AMOUNTS)
    ends = {}
    for name in ("lower", "needed", "decides"):
        both = [end for end in (known[name], whole[name]) if end is not None]
        ends[name] = max(both) if both else None
    return {**known, **ends}
