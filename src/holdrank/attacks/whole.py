"""From shares of votes to whole votes: how many are certainly needed, and a number that certainly suffices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, TypeAlias

import numpy as np

from holdrank.arrays.tolerances import SAME
from holdrank.attacks.goals import Aim
from holdrank.attacks.plans import Found, Plan, Progress
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.status import Clock
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes
from holdrank.words.results import so_far

_ONE_BY_ONE = 24  # numbers of votes tried one after the other, before larger and larger steps
_TRIES = 60
_FEW_KINDS = 5  # of ballots added, up to which roundings one vote off are tried
_ONE_KIND = 6  # ballots that are tried for the remainder of rounding
_MOST_COMPARISONS = 200_000_000  # of ballots with a target, pair by pair; a second of work


@dataclass(frozen=True, slots=True)
class Whole:
    """Bounds and attacks for one goal in whole votes.

    Attributes
    ----------
    needed : float
        A whole number: fewer votes do not reach the goal, not even as one of several optima. Infinite when none do,
        nan when votes are shares and not counts.
    plan : Plan or None
        A change of whole votes after which every optimum reaches the goal; None when none is known.
    tie_plan : Plan or None
        A change of whole votes after which some optimum reaches the goal; None when none is known.
    decide : float
        A whole number: after a change of fewer votes some optimum misses the goal. Infinite when that is so after any
        change.
    """

    needed: float = math.nan
    plan: Plan | None = None
    tie_plan: Plan | None = None
    decide: float = 0.0

    @property
    def sufficient(self) -> float:
        """Number of votes that the plan changes; infinite without one."""
        return math.inf if self.plan is None else plan_votes(self.plan)

    @property
    def ties(self) -> float:
        """Number of votes that the smaller plan changes, for what decides also ties; infinite without one."""
        return min((plan_votes(plan) for plan in (self.plan, self.tie_plan) if plan is not None), default=math.inf)


# The two questions that every engine answers: in shares of votes, and in whole votes given the shares.
Find: TypeAlias = Callable[[Votes, Ranking, Sequence[Aim], Change, Clock, Progress | None], list[Found]]
FindWhole: TypeAlias = Callable[[Votes, Ranking, Sequence[Aim], Change, Sequence[Found], Clock], list[Whole]]


def plan_votes(plan: Plan) -> float:
    """Return how many votes a plan changes."""
    return max(float(plan.removed.sum()), float(plan.added.sum()))


def known_so_far(votes: Votes, lower: float, upper: float, pairs: int = 0) -> str:
    """Return bounds in shares as text while a search runs: whole votes that are needed, and a share that is enough."""
    about = facts_of(votes)
    if not votes.is_counts:
        return so_far(lower, upper, about, pairs=pairs)
    # How many whole votes are enough is known only after rounding.
    return so_far(votes_needed(lower, votes.total), math.inf, about, share=upper, pairs=pairs)


def facts_of(votes: Votes) -> dict[str, Any]:
    """Return what sentences about a number of votes need, as in the record of votes."""
    read = votes.reading
    return {"counts": votes.is_counts, "total": votes.total, "format": read.format, "choices": read.choices}


def votes_needed(lower: float, total: float) -> float:
    """Return the least whole number of votes that is at least the share `lower` of `total`.

    Examples
    --------
    >>> votes_needed(0.07, 100), votes_needed(0.0701, 100)
    (7.0, 8.0)
    """
    return math.inf if math.isinf(lower) else float(max(math.ceil((lower - SAME) * total), 0))


def votes_to_decide(lower: float, total: float, one_ballot: float, change: Change) -> float:
    """Return a number of whole votes below which no change makes every optimum of a median reach a goal.

    An attack on counted votes that decides leaves every outcome that misses the goal behind by half a vote in one pair,
    or one place, at least. So a small part of it may be undone, and some optimum still reaches the goal. Deciding
    therefore costs more than the infimum, by that part.

    Parameters
    ----------
    lower : float
        A share of the votes: with less no optimum reaches the goal.
    total : float
        Number of votes.
    one_ballot : float
        The most by which one ballot prefers one outcome to another.
    change : {"replace", "drop", "add"}

    Examples
    --------
    >>> votes_to_decide(0.07, 100, 3, Change.REPLACE), votes_to_decide(0.0701, 100, 3, Change.REPLACE)
    (8.0, 8.0)
    """
    if not 0 < lower < math.inf:
        return math.inf if lower > 0 else 1.0
    undone = 1 / (2 * one_ballot * change.pull)
    return float(max(math.ceil((lower - SAME) * total + undone), 1))


def in_whole_votes(
    votes: Votes,
    change: Change,
    needed: float,
    plan: Plan,
    target: Ranking,
    works: Callable[[Plan], bool],
    clock: Clock,
    below: float = math.inf,
) -> Plan | None:
    """Return the smallest change of whole votes, of those made by rounding `plan`, that `works`.

    Parameters
    ----------
    votes : Votes
        Counts.
    change : {"replace", "drop", "add"}
    needed : float
        Numbers of votes below this are not tried.
    plan : Plan
        A change of fractions of votes that works.
    target : Ranking
        The consensus after it; ballots that disagree most with it are the next to be removed.
    works : callable
        Runs the statistic again.
    clock : Clock
    below : float
        Numbers of votes from here on are not tried.
    """
    most = min(_most(votes, change), below - 1)
    against: Floats | None = None
    for size in _sizes(needed, most):
        if clock.over():
            return None
        if against is None:
            against = _disagreement(votes, target)
        for rounded in _rounded(votes, change, plan, against, size):
            if works(rounded):
                return rounded
    return None


def rounded_up(votes: Votes, change: Change, plan: Plan, target: Ranking, works: Callable[[Plan], bool]) -> Plan | None:
    """Return a change of a few more whole votes than `plan` that `works`: a quick method for when the time is over."""
    most = _most(votes, change)
    enough = math.ceil(plan_votes(plan) - 1e-6)
    against = _disagreement(votes, target)
    for size in (enough, enough + 1, enough + 2, math.ceil(1.05 * enough) + 1):
        if size > most:
            break
        rounded = next(_rounded(votes, change, plan, against, size))
        if works(rounded):
            return rounded
    return None


def _most(votes: Votes, change: Change) -> float:
    """Return the largest number of whole votes that may change; when they are dropped, one is left."""
    if not change.takes:
        return math.inf
    return votes.total if change.puts else votes.total - 1


def _sizes(needed: float, most: float) -> Iterator[int]:
    size = max(int(needed), 1)
    for attempt in range(_TRIES):
        if size > most:
            return
        yield size
        step = 1 if attempt < _ONE_BY_ONE else max(size // 5, 1)
        size = int(min(size + step, max(most, size + 1)))


def _rounded(votes: Votes, change: Change, plan: Plan, against: Floats, size: int) -> Iterator[Plan]:
    """Yield plans of exactly `size` whole votes that are close to `plan`."""
    seen = set()
    for added in _additions(plan.added, size) if change.puts else [np.zeros(len(plan.added))]:
        for removed in _removals(votes, plan.removed, against, size) if change.takes else [np.zeros(votes.distinct)]:
            key = removed.tobytes() + added.tobytes()
            if key not in seen:
                seen.add(key)
                yield Plan(removed, plan.ranks, added, plan.scores)


def _additions(shares: Floats, size: int) -> Iterator[Floats]:
    """Yield ways to add `size` whole votes: in proportion, and then with one vote moved to another ballot."""
    nearest = apportioned(shares, size)
    yield nearest
    used = np.flatnonzero(shares > 0)
    if not 1 < len(used) <= _FEW_KINDS:
        return
    for more, less in permutations(used.tolist(), 2):
        if nearest[less] >= 1:
            other = nearest.copy()
            other[more] += 1
            other[less] -= 1
            yield other


def _removals(votes: Votes, removed: Floats, against: Floats, size: int) -> Iterator[Floats]:
    """Yield ways to remove `size` whole votes: the remainder of rounding down goes to different ballots."""
    share = removed * min(size / max(float(removed.sum()), 1e-300), 1.0)
    left = share - np.floor(share)
    yield _fill(share, votes.weights, size, left, against)
    yield _fill(share, votes.weights, size, np.where(left > 0, against + votes.n**2, 0.0), against)
    # Where a share must not leave a band, as with tiers, all of it may have to go to one distinct ballot.
    for ballot in np.argsort(-removed, kind="stable")[:_ONE_KIND].tolist():
        if removed[ballot] > 0:
            first = np.where(np.arange(votes.distinct) == ballot, against.max() + 1.0, against)
            yield _fill(share, votes.weights, size, np.zeros_like(share), first)


def _fill(shares: Floats, most: Floats, size: int, urgency: Floats, preference: Floats) -> Floats:
    """Return whole numbers near `shares`, none above `most`, that sum up to `size`.

    The remainder of rounding down goes one by one to where `urgency` is largest, as long as it is positive, and then to
    where `preference` is largest.
    """
    whole = np.floor(shares + SAME)
    missing = size - int(whole.sum())
    urgent = np.flatnonzero((urgency > SAME) & (whole < most))
    urgent = urgent[np.lexsort((-preference[urgent], -urgency[urgent]))][: max(missing, 0)]
    whole[urgent] += 1
    missing -= len(urgent)
    for at in np.argsort(-preference, kind="stable").tolist() if missing > 0 else ():
        if missing <= 0:
            break
        more = min(float(missing), float(most[at] - whole[at]))
        whole[at] += more
        missing -= int(more)
    return whole


def apportioned(shares: Floats, size: int) -> Floats:
    """Return whole numbers that sum up to `size`, in proportion to `shares`; the largest remainders round up."""
    exact = shares * (size / shares.sum())
    return _fill(exact, np.full(len(exact), np.inf), size, exact - np.floor(exact), exact)


def _disagreement(votes: Votes, target: Ranking) -> Floats:
    """Return for each ballot the pairs it orders against `target` less those it orders the same way."""
    return -agreement(votes, np.sign(target.ranks - target.ranks[:, None].astype(np.int64)))


def agreement(votes: Votes, worth: Floats | Ints) -> Floats:
    """Return what each ballot is worth: the sum of ``worth[i, j]`` over its pairs i above j, half for a tie.

    All 0 where counting would take too long.
    """
    values = np.zeros(votes.distinct)
    if votes.distinct * votes.n**2 > _MOST_COMPARISONS:
        return values
    ranks: Ints = votes.ranks.astype(np.int64)
    if not votes.observed:
        ranks[ranks == 0] = votes.n + 1
    for i in range(votes.n):
        above = (np.sign(ranks - ranks[:, i : i + 1]) + 1) / 2
        above[(ranks[:, i] == 0)[:, None] | (ranks == 0)] = 0.0
        above[:, i] = 0.0
        values += above @ worth[i]
    return values
