"""The minimum share of votes that reaches a goal, without whole votes, and how it depends on the votes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from holdrank.attacks.answers import check_goal, checked, engine_for
from holdrank.attacks.engines import exact_engine
from holdrank.attacks.goals import Goal
from holdrank.attacks.judge import Case
from holdrank.attacks.results import Attack
from holdrank.rankings import Floats, Ranking
from holdrank.rules.consensus import Statistic
from holdrank.rules.merges import Robust, consensus_of
from holdrank.status import Clock
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_SUMS_AGREE = 1e-6  # what the sum of slopes may differ by from the share that they add up to


class Share(NamedTuple):
    """Bounds on the minimum share, and the consensus under attack."""

    lower: float
    upper: float
    before: Ranking


def least_share(votes: Votes, T: Statistic, goal: Goal, change: Change, clock: Clock) -> Share:
    """Return bounds on the minimum share of votes that reaches a goal, for many similar sets of votes.

    The attack is not run again to verify it, and whole votes are not searched for.
    """
    T = checked(votes, T)
    check_goal(goal, T)
    before = consensus_of(votes, T, clock.time_limit())
    aim = goal.aim(before.ranking, votes.items)
    case = Case(votes, T, before, change, engine_for(aim, votes, T))
    return Share(*case.proposed(aim, clock), before.ranking)


def slopes_of(found: Attack, T: Statistic, clock: Clock) -> Floats | None:
    """Return how the minimum share grows with the share of each ballot, at an attack that is proven minimal.

    Their sum, weighted by the shares of the ballots, is the minimum share itself: near these votes it is linear, as
    long as the optimal dual of its program stays the same. None where the rule, or the goal, has no such program.
    """
    votes, before = found.original, found.before.ranking
    engine = None if isinstance(T, Robust) else exact_engine(T, votes)
    if engine is None or engine.slopes is None or found.after is None or not found.exact:
        return None
    aim = found.goal.aim(before, votes.items)
    known = engine.slopes(votes, before, aim, found.change, found.after.ranking, clock)
    if known is None:
        return None
    slopes, constant = known
    shares = votes.weights / votes.total
    if abs(float(shares @ slopes) + constant - found.upper) > _SUMS_AGREE:
        return None  # another target is as cheap, or rounding: these are not the slopes of this share
    return np.asarray(slopes)
