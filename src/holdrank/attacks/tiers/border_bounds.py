"""Tiers of many items: a lower bound on moving an item up or down, from the ranking below the tiers.

Let S be the items of the first tiers, k or more of them. An item from outside enters the first k only by passing an
item of S in the ranking that is merged, or by a tie with an item of S. The first is a goal against the base, which has
an engine: some item passes if the first items of the ranking are no longer S; x passes if x stands above an item of S,
though perhaps behind others that it is tied with. A tie needs a pair within theta of indifference, whose price is a
formula. The tiers of rule "smith", dominating sets, change only where such a pair exists, so there the formula alone is
the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from holdrank.attacks.goals import Aim, top_items
from holdrank.attacks.mirror import is_symmetric
from holdrank.attacks.plans import Found
from holdrank.rankings import Floats, Ranking
from holdrank.rules.merges import Robust
from holdrank.rules.registry import rule_of
from holdrank.status import Clock
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_FOR_THE_BASE = 0.6  # of the time; the rest is for attacks


def lower_bound(
    votes: Votes,
    T: Robust,
    before: Ranking,
    aim: Aim,
    change: Change,
    clock: Clock,
    find_base: Callable[..., list[Found]] | None,
    strict: Ranking | None = None,
) -> float:
    """Return a lower bound on the share of the votes for an aim; 0 where there is none.

    Parameters
    ----------
    votes : Votes
    T : Robust
    before : Ranking
        The tiers.
    aim : Aim
        To bring an item among the first, or to push one out.
    change : {"replace", "drop", "add"}
    clock : Clock
    find_base : callable or None
        The engine of the base of the tiers; None where it has none, which leaves rule "smith".
    strict : Ranking, optional
        The ranking below the tiers, where it is known.
    """
    if aim.flips:
        return _any_pair(votes, T, before, aim, change)
    inside = sorted(top_items(before, aim.top))
    may_split = len(inside) > aim.top  # then the first k can become fewer without a new item
    outside = [x for x in range(votes.n) if x not in set(inside)]
    movers = [x for x in aim.newcomers if x in set(outside)]
    if not outside or (not movers and not aim.leaver) or (may_split and (aim.leaver or aim.other_set)):
        return 0.0
    ties = tie_prices(votes, float(T.theta), change)
    if T.merge == "smith":
        # A border stays as long as all pairs across it keep their margins, and keeps every item on its side.
        return float(ties[np.ix_(inside, outside)].min()) if rule_of(T.base).majorities_first else 0.0
    if find_base is None or (aim.leaver and not is_symmetric(T.base, votes)):
        return 0.0
    # Pushed out, an item must be passed; a tie leaves it in.
    tie = math.inf if aim.leaver else float(ties[np.ix_(inside, movers)].min())
    if tie == 0:
        return 0.0
    strict = T.base(votes).ranking if strict is None else strict
    left = clock.seconds_left()
    part = Clock(None if math.isinf(left) else _FOR_THE_BASE * max(left, 0.0), within=clock)
    if aim.leaver or len(movers) == len(outside):
        below = [replace(aim, before=strict, newcomers=tuple(movers), top=len(inside))]
    else:
        below = [replace(aim, before=strict, above=(x, s), newcomers=(), top=0) for x in movers for s in inside]
    passing = min(found.lower for found in find_base(votes, strict, below, change, part, None))
    return min(passing, tie)


def _any_pair(votes: Votes, T: Robust, before: Ranking, aim: Aim, change: Change) -> float:
    """Return a lower bound on changing any strict pair, for dominating sets; 0 for other rules."""
    split_counts = aim.distance not in ("", "hausdorff_ns")
    if T.merge != "smith" or split_counts or not rule_of(T.base).majorities_first:
        return 0.0
    apart = before.ranks[:, None] < before.ranks
    return float(tie_prices(votes, float(T.theta), change).min(where=apart, initial=math.inf))


def tie_prices(votes: Votes, theta: float, change: Change) -> Floats:
    """Return at [i, j] the minimum share of the votes after which ``P[i, j] <= 1/2 + theta``, or a share below it."""
    wins = votes.wins()
    compared = wins + wins.T
    level = 0.5 + theta
    over = wins - level * compared
    if not change.takes:
        short = over / level
    elif not change.puts:
        short = over / (1 - level) if level < 1 else np.where(over > 0, np.inf, 0.0)
    else:
        short = over
    return np.asarray(np.maximum(short, 0.0) / votes.total)
