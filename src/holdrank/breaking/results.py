"""What comes back: a breakdown curve, and a single attack with its sentence for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from holdrank.breaking.goals import Change, Distance, Goal, TierDistance
from holdrank.breaking.plans import Plan
from holdrank.consensus import Consensus
from holdrank.errors import show
from holdrank.rankings import Floats, Ints
from holdrank.status import Status
from holdrank.votes import Votes, number, percent

Ballots: TypeAlias = list[tuple[str, float]]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Attack:
    """The least change of the votes that reaches a goal, as far as it is known, and a change that does.

    Attributes
    ----------
    goal : Goal
    change : {"replace", "drop", "add"}
    lower : float
        No change of a smaller share of the votes reaches the goal. Infinite when no change at all does.
    upper : float
        A change of this share reaches the goal; the attack costs this much and a nudge of at most 1e-6 that makes
        its success unambiguous. Infinite when no attack is known.
    verified : bool
        Whether the statistic was run again on the attacked votes and reached the goal.
    votes_needed : float
        So many whole votes are proved to be needed; infinite when no number does, nan when votes are shares.
    votes_sufficient : float
        So many whole votes are enough, seen by running the statistic again; infinite when no number is known.
    status : Status
    statistic : str
        Name of the statistic.
    before, after : Consensus, Consensus or None
        Of the votes as they are, and after the attack.
    plan : Plan or None
        The attack as arrays.
    whole_plan : Plan or None
        The attack in whole votes as arrays.
    original : Votes
        The votes as they are.
    notes : tuple of str
        What else should be known.
    seconds : float
        Time taken.
    """

    goal: Goal
    change: Change
    lower: float
    upper: float
    verified: bool
    votes_needed: float
    votes_sufficient: float
    status: Status
    statistic: str
    before: Consensus
    after: Consensus | None
    plan: Plan | None
    whole_plan: Plan | None
    original: Votes
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    _memo: dict[str, Any] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether lower and upper are one number."""
        return self.lower == self.upper

    @property
    def votes(self) -> Votes | None:
        """The votes after the attack; None when no attack is known."""
        if self.plan is None:
            return None
        if "votes" not in self._memo:
            self._memo["votes"] = self.plan.applied(self.original)
        attacked: Votes = self._memo["votes"]
        return attacked

    @property
    def removed(self) -> Ballots:
        """The ballots taken away, as (text, weight), the heaviest first."""
        if self.plan is None:
            return []
        return _listed(self.original.items, self.original.ranks, self.plan.removed)

    @property
    def added(self) -> Ballots:
        """The ballots put in, as (text, weight), the heaviest first."""
        return [] if self.plan is None else _listed(self.original.items, self.plan.ranks, self.plan.added)

    @property
    def whole(self) -> Attack | None:
        """The attack in whole votes, with bounds in whole votes; None when none is known."""
        if self.whole_plan is None:
            return None
        total = self.original.total
        lower, upper = self.votes_needed / total, self.votes_sufficient / total
        status = Status.LEAST if lower == upper else Status.BETWEEN
        return replace(self, lower=lower, upper=upper, status=status, plan=self.whole_plan, after=None, _memo={})

    def text(self) -> str:
        """Return the answer as a sentence for people.

        Examples
        --------
        >>> from holdrank import Above, attack, kemeny
        >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
        >>> attack(votes, kemeny, Above("b", "a")).text()
        'Putting b above a takes at least 10 and at most 11 of 100 votes (10 % to 11 %), both proved.'
        """
        goal = self.goal.text(self.original.n) if isinstance(self.goal, Distance) else self.goal.text()
        goal = goal[0].upper() + goal[1:]
        if math.isinf(self.lower):
            how = {"replace": "replaced", "drop": "dropped", "add": "added"}[self.change]
            return f"{goal} is out of reach, whatever votes are {how}: proved."
        total = self.original.total
        if not self.original.is_counts:
            least, most = self.lower, self.upper
            if self.status is Status.ESTIMATE and math.isfinite(most):
                share = f"at most {percent(most)}{_OF_SHARES[self.change]}"
                return f"{goal} takes {share}: {_ONLY_WORKS}."
            return f"{goal} takes {_range(percent(least), percent(most), math.isinf(most))}{_OF_SHARES[self.change]}."
        least, most = self.votes_needed, self.votes_sufficient
        if most == 0:
            return f"{goal} takes no vote: it is so already."
        if math.isinf(most) and (not least or self.status is Status.ESTIMATE):
            return f"{goal}: no attack is known, and none is excluded."
        if self.status is Status.ESTIMATE:
            amount = self._of_votes(f"at most {number(most)}")
            return f"{goal} takes {amount} ({percent(most / total)}): {_ONLY_WORKS}."
        amount = _range(number(least), "" if math.isinf(most) else number(most), math.isinf(most))
        share = percent(least / total)
        if least < most < math.inf:
            share = f"{share} to {percent(most / total)}"
        elif math.isinf(most):
            share = f"at least {share}"
        unknown = "no attack in whole votes is known" if self.verified else "no attack is known"
        proof = "proved" if least == most else f"proved; {unknown}" if math.isinf(most) else "both proved"
        return f"{goal} takes {self._of_votes(amount)} ({share}), {proof}."

    def _of_votes(self, amount: str) -> str:
        told = _OF_VOTES[self.change].format(amount, number(self.original.total))
        return told.replace("1 votes added", "1 vote added") if amount == "1" else told

    def __repr__(self) -> str:
        return f"Attack({self.goal.text()}: {_interval(self.lower, self.upper)}, {self.status})"


_OF_VOTES = {"replace": "{} of {} votes", "drop": "the loss of {} of {} votes", "add": "{} votes added to {}"}
_ONLY_WORKS = "an attack that works, no proof that none is cheaper"
_OF_SHARES = {"replace": " of the votes", "drop": " of the votes, dropped", "add": " of the votes in addition"}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Breakdown:
    """The breakdown function of a statistic at these votes: how much must change before the consensus moves so far.

    Attributes
    ----------
    delta : (m,) array
        Distances, as shares of the pairs of items.
    lower, upper : (m,) arrays
        The least share of votes that must be replaced to move the consensus by at least delta lies between; equal
        where it is known exactly, infinite where no attack does.
    exact : (m,) array of bool
        Where it is known exactly.
    attacks : tuple of Attack or None
        A verified attack for each distance; None where none is known.
    votes_needed, votes_sufficient : (m,) arrays
        In whole votes: proved to be needed; enough, seen by running the statistic again. Infinite where there is
        none, nan where the votes are shares and not counts.
    status : Status
        Of the curve as a whole.
    statistic : str
        Name of the statistic.
    consensus : Consensus
        Of the votes as they are.
    method : {"exact", "search", "bounds", "smooth"}
    distance : {"hausdorff_ns", "hausdorff_half"}
    total : float
        Number of votes, or total mass of a distribution.
    seed : int or None
        Of the random numbers; None where nothing was random or a generator was given.
    notes : tuple of str
        What else should be known.
    seconds : float
        Time taken.
    """

    delta: Floats
    lower: Floats
    upper: Floats
    exact: npt.NDArray[np.bool_]
    attacks: tuple[Attack | None, ...]
    votes_needed: Floats
    votes_sufficient: Floats
    status: Status
    statistic: str
    consensus: Consensus
    method: str
    distance: TierDistance
    total: float
    seed: int | None
    notes: tuple[str, ...]
    seconds: float

    def __post_init__(self) -> None:
        for array in (self.delta, self.lower, self.upper, self.exact, self.votes_needed, self.votes_sufficient):
            array.flags.writeable = False

    def _repr_html_(self) -> str:
        return str(import_module("holdrank.notebook").breakdown_html(self))

    def __repr__(self) -> str:
        if not len(self.delta):
            return f"Breakdown({self.statistic}: no distances)"
        first = _interval(float(self.lower[0]), float(self.upper[0]))
        return (
            f"Breakdown({self.statistic}: {len(self.delta)} distance{'s' * (len(self.delta) != 1)}, "
            f"{first} at {self.delta[0]:.4g}, {self.status})"
        )


def _listed(items: Sequence[str], ranks: Ints, weights: Floats) -> Ballots:
    """Return ballots with their weights as text, the heaviest first."""
    rows = np.flatnonzero(weights > 0)
    rows = rows[np.argsort(-weights[rows], kind="stable")]
    return [(ballot_text(ranks[row].tolist(), items), float(weights[row])) for row in rows.tolist()]


def ballot_text(ranks: Sequence[int], items: Sequence[str], width: int = 80) -> str:
    """Return a ballot as text; items that it does not list are left out, long names are cut.

    Examples
    --------
    >>> ballot_text([2, 1, 2, 0], ["a", "b", "c", "d"])
    'b > {a, c}'
    """
    levels: dict[int, list[str]] = {}
    for rank, item in sorted((rank, item) for item, rank in enumerate(ranks) if rank):
        levels.setdefault(rank, []).append(show(items[item], width))
    return " > ".join(part[0] if len(part) == 1 else "{" + ", ".join(part) + "}" for part in levels.values())


def _interval(lower: float, upper: float) -> str:
    if lower == upper:
        return "out of reach" if math.isinf(lower) else f"{lower:.6g}"
    return f"{lower:.6g} to {'?' if math.isinf(upper) else f'{upper:.6g}'}"


def _range(least: str, most: str, open_ended: bool) -> str:
    if least == most:
        return least
    return f"at least {least}" if open_ended else f"at least {least} and at most {most}"
