"""Changes that an attacker makes to the votes, and an engine's bounds on the smallest change."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from holdrank.rankings import Floats, Ints
from holdrank.status import Step
from holdrank.votes.votes import Votes

Progress: TypeAlias = Callable[[Step], None]

_ROUNDING = 1e-12  # of the weight of all votes
_BITS = 44  # of the weight of all votes, or whole votes: sums over the pairs of an item are exact as well


@dataclass(frozen=True, slots=True)
class Plan:
    """Ballots removed and ballots added, both in the unit of the votes' weights.

    Attributes
    ----------
    removed : (distinct,) array
        Weight taken from each distinct ballot of the votes.
    ranks : array of int
        The ballots added, one per row: 1 is best, equal is tied, 0 is unlisted.
    added : (m,) array
        Their weights.
    scores : array or None
        Their scores, in the same rows, for attacks on a rule that uses scores.
    """

    removed: Floats
    ranks: Ints
    added: Floats
    scores: Floats | None = None

    def budget(self, votes: Votes) -> float:
        """Return the share of the votes that changes: removed, added, or both."""
        return max(float(self.removed.sum()), float(self.added.sum())) / votes.total

    def left(self, votes: Votes) -> Floats:
        """Return the weights left; a ballot removed up to rounding counts as removed, an untouched one never does."""
        rest: Floats = np.maximum(votes.weights - self.removed, 0.0)
        # A whole vote is not rounding, nor is most of a ballot, no matter how light it is.
        rounding = np.minimum(_ROUNDING * votes.total, votes.weights / 2)
        rest[rest < (np.minimum(rounding, 0.5) if votes.is_counts else rounding)] = 0.0
        return rest

    def leaves_nothing(self, votes: Votes) -> bool:
        """Whether all votes are removed and none is added."""
        return not self.left(votes).any() and not self.added.any()

    def without_detours(self, votes: Votes) -> Plan:
        """Return the same change without ballots that are removed and added again."""
        if not self.removed.any() or not self.added.any() or self.scores is not None:
            return self
        touched = np.flatnonzero(self.removed)
        rows = np.ascontiguousarray(votes.ranks[touched], dtype=np.int64)
        row_of = {row.tobytes(): k for k, row in zip(touched.tolist(), rows, strict=True)}
        removed, added = self.removed.copy(), self.added.copy()
        for k, ballot in enumerate(np.ascontiguousarray(self.ranks, dtype=np.int64)):
            row = row_of.get(ballot.tobytes())
            if row is not None:
                both = min(removed[row], added[k])
                removed[row] -= both
                added[k] -= both
        return Plan(removed, self.ranks, added) if (removed != self.removed).any() else self

    def applied(self, votes: Votes) -> Votes:
        """Return the votes after the attack; refuses, as all votes do, when nothing is left."""
        left = self.left(votes)
        kept, put = left > 0, self.added > 0
        if votes.scores is not None and (self.scores is not None or not put.any()):
            scores = votes.scores[kept] if self.scores is None else np.vstack((votes.scores[kept], self.scores[put]))
            weights = np.concatenate((left[kept], self.added[put]))
            return Votes.from_score_rows(scores, weights, votes.items, unlisted=votes.unlisted)
        return votes.reweighed(left, self.ranks, self.added)


@dataclass(frozen=True, slots=True)
class Found:
    """An engine's bounds and attacks for one goal.

    Attributes
    ----------
    lower : float
        No change of a smaller share of the votes reaches the goal, not even weakly (as one of several optima).
    upper : float
        Some change of this share, or of any larger one, reaches it; infinite when none is known.
    plan : Plan or None
        An attack that reaches the goal strictly with at most `upper` + 1e-6; None when none is known.
    tie_plan : Plan or None
        Where no strict attack is known: one that reaches the goal weakly, if the engine has one.
    others : tuple of Plan
        Attacks that cost more in shares: rounded to whole votes, one may cost less.
    """

    lower: float
    upper: float = math.inf
    plan: Plan | None = None
    tie_plan: Plan | None = None
    others: tuple[Plan, ...] = ()


@dataclass(frozen=True, slots=True)
class Ends:
    """Places of items under attack: the best and worst not ruled out, and the best and worst that attacks attain."""

    best: Ints
    worst: Ints
    shown_best: Ints
    shown_worst: Ints


def nothing(votes: Votes) -> Plan:
    """Return the plan that changes no vote."""
    return Plan(np.zeros(votes.distinct), np.zeros((0, votes.n), dtype=np.int64), np.zeros(0))


def replacing(votes: Votes, removed: Floats, ranks: npt.ArrayLike, added: Floats) -> Plan:
    """Return the plan with these ballots, weights of solvers rounded and tiny negative ones cut off.

    What is added, and of counted votes what is removed, become multiples of one small power of two. Sums of them have
    no rounding error then, so that weights that are meant to balance do, or visibly do not.
    """
    removed, added = np.clip(removed, 0.0, votes.weights), np.maximum(added, 0.0)
    unit = math.ldexp(1.0, min(math.frexp(votes.total)[1] - _BITS, 0))
    added = np.rint(added / unit) * unit
    if votes.is_counts:
        removed = np.rint(removed / unit) * unit
    return Plan(removed, np.atleast_2d(np.asarray(ranks, dtype=np.int64)), added)


def adds_battles(votes: Votes) -> bool:
    """Whether the votes are battles between two items each, so that an attacker adds battles too, not rankings."""
    listed = votes.ballots.listed
    return votes.observed and votes.n > 2 and bool((listed <= 2).all())


def serve_nearer(upper: list[float], plans: list[Plan | None], *, farther_if_equal: bool = False) -> None:
    """Use attacks for nearer aims where they cost less, given aims each of which implies all before it.

    Parameters
    ----------
    upper : list of float
        What the attack on each aim costs, infinite without one; changed.
    plans : list of Plan or None
        The attacks; changed.
    farther_if_equal : bool
        Whether, of two attacks that cost the same, the nearer aim takes the one that goes farther.
    """
    for near in range(len(upper) - 2, -1, -1):
        far = near + 1
        if upper[far] < upper[near] or (farther_if_equal and upper[far] == upper[near]):
            upper[near], plans[near] = upper[far], plans[far]
