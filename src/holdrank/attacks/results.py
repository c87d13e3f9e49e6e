"""The results: a breakdown curve, and a single attack with its sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from holdrank.attacks.estimator.options import PaperOptions
from holdrank.attacks.goals import Goal, TierDistance, deed_of
from holdrank.attacks.plans import Plan
from holdrank.rankings import Floats, Ints
from holdrank.rules.consensus import Consensus, StatisticName
from holdrank.rules.metrics import Metric
from holdrank.status import Status, Tabular
from holdrank.votes.changes import Change, change_of
from holdrank.votes.votes import Votes
from holdrank.words.attacks import Told, attack_text, interval_text, told
from holdrank.words.names import ballot_text
from holdrank.words.nouns import noun_of
from holdrank.words.numbers import plural

Ballots: TypeAlias = list[tuple[str, float]]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Attack(Tabular):
    """The smallest change of votes that achieves a goal: certified bounds, and a verified attack.

    Attributes
    ----------
    goal : Goal
    change : {"replace", "drop", "add"}
    lower : float
        No smaller share of changed votes achieves the goal (proven). Infinite if no change does.
    upper : float
        Changing this share achieves the goal; the attack costs this much, plus at most 1e-6 to make its success
        unambiguous. Infinite if no attack was found.
    verified : bool
        Whether the rule was run on the attacked votes and achieved the goal.
    votes_needed : float
        Fewer whole votes cannot achieve the goal, not even in one of several optima (proven). Infinite if no number
        does, nan when votes are shares.
    votes_to_tie : float
        This many whole votes achieve the goal in at least one of several optima, verified by running the rule;
        infinite when no number is known.
    votes_to_decide : float
        Fewer whole votes cannot achieve the goal in all optima (proven). Infinite if no
        number does.
    votes_sufficient : float
        This many whole votes achieve the goal in all optima, verified by running the rule; infinite if no number is
        known. ``votes_needed <= votes_to_tie <= votes_sufficient`` and
        ``votes_needed <= votes_to_decide <= votes_sufficient``.
    status : Status
    statistic : StatisticName
        Name of the statistic: a text that also holds its `rule`, `theta` and `merge`.
    before, after : Consensus, Consensus or None
        The consensus before and after the attack.
    plan : Plan or None
        The attack as arrays.
    whole_plan : Plan or None
        The attack in whole votes as arrays.
    tie_plan : Plan or None
        The attack of `votes_to_tie` votes, where that is not `whole_plan`.
    original : Votes
        The votes before the attack.
    notes : tuple of str
        Remarks on the result.
    seconds : float
        Time taken.
    """

    goal: Goal
    change: Change
    lower: float
    upper: float
    verified: bool
    votes_needed: float
    votes_to_tie: float
    votes_to_decide: float
    votes_sufficient: float
    status: Status
    statistic: StatisticName
    before: Consensus
    after: Consensus | None
    plan: Plan | None
    whole_plan: Plan | None
    tie_plan: Plan | None
    original: Votes
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    _memo: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "change", change_of(self.change))

    @property
    def exact(self) -> bool:
        """Whether lower and upper are equal."""
        return bool(self.lower == self.upper)

    @property
    def votes(self) -> Votes | None:
        """The votes after the attack; None when no attack was found."""
        if self.plan is None:
            return None
        if "votes" not in self._memo:
            self._memo["votes"] = self.plan.applied(self.original)
        attacked: Votes = self._memo["votes"]
        return attacked

    @property
    def removed(self) -> Ballots:
        """The ballots removed, as (text, weight), the heaviest first."""
        if self.plan is None:
            return []
        return _listed(self.original.items, self.original.ranks, self.plan.removed)

    @property
    def added(self) -> Ballots:
        """The ballots added, as (text, weight), the heaviest first."""
        return [] if self.plan is None else _listed(self.original.items, self.plan.ranks, self.plan.added)

    @property
    def whole(self) -> Attack | None:
        """The attack in whole votes, with bounds in whole votes; None if none is known."""
        if self.whole_plan is None:
            return None
        total = self.original.total
        lower, upper = self.votes_needed / total, self.votes_sufficient / total
        status = Status.LEAST if lower == upper else Status.BETWEEN
        return replace(self, lower=lower, upper=upper, status=status, plan=self.whole_plan, after=None, _memo={})

    @property
    def tie(self) -> Votes | None:
        """The votes after the smallest known attack that reaches the goal in at least one of several optima."""
        plan = self.whole_plan if self.tie_plan is None else self.tie_plan
        return None if plan is None else plan.applied(self.original)

    def text(self) -> str:
        """Return the answer as a sentence.

        Examples
        --------
        >>> from holdrank import Above, attack, kemeny
        >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
        >>> attack(votes, kemeny, Above("b", "a")).text()
        '10 of 100 votes tie it, 11 put b above a (11 %, proven minimum).'
        """
        return attack_text(told_of(self))

    def __repr__(self) -> str:
        return f"Attack({self.goal.text()}: {interval_text(self.lower, self.upper)}, {self.status})"


def told_of(found: Attack) -> Told:
    """Return the facts that sentences about an attack are made of."""
    votes = {"counts": found.original.is_counts, "total": found.original.total}
    deed = deed_of(found.goal, found.before.ranking.ranks.tolist(), tiers=found.statistic.theta is not None)
    read = found.original.reading
    noun = noun_of({"format": read.format, "choices": read.choices})
    return told(amounts(found), votes, deed, found.change, estimate=found.status is Status.ESTIMATE, noun=noun)


def amounts(found: Attack) -> dict[str, float | None]:
    """Return the bounds of an attack, as shares and as whole votes; None for infinity and for missing values."""
    ends = {
        "lower": found.lower,
        "upper": found.upper,
        "needed": found.votes_needed,
        "ties": found.votes_to_tie,
        "decides": found.votes_to_decide,
        "sufficient": found.votes_sufficient,
    }
    return {name: float(end) if math.isfinite(end) else None for name, end in ends.items()}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Breakdown(Tabular):
    """The breakdown function: how many votes must change to move the consensus by each distance.

    Attributes
    ----------
    delta : (m,) array
        Distances, as shares of the pairs of items; in a metric, as shares of its largest distance.
    lower, upper : (m,) arrays
        Bounds on the minimum share of votes that must be replaced to move the consensus by at least delta. Equal where
        it is known exactly, infinite where no attack can do it.
    exact : (m,) array of bool
        Where it is known exactly.
    attacks : tuple of Attack or None
        A verified attack for each distance; None where none is known.
    votes_needed, votes_to_tie, votes_to_decide, votes_sufficient : (m,) arrays
        In whole votes, as in `Attack`: proved to be needed; enough for one of several optima; proved to be needed
        for all of them; enough. Infinite where there is none, nan where the votes are shares and not counts.
    status : Status
        Status of the whole curve.
    statistic : StatisticName
        Name of the statistic: a text that also holds its `rule`, `theta` and `merge`.
    consensus : Consensus
        Consensus of the original votes.
    method : {"exact", "search", "bounds", "smooth", "paper"}
    distance : str or Metric
        "hausdorff_ns" or "hausdorff_half"; for a `Median` possibly a metric.
    total : float
        Number of votes, or total mass of a distribution.
    seed : int or None
        Random seed; None where nothing was random or a generator was given.
    notes : tuple of str
        Remarks on the result.
    seconds : float
        Time taken.
    estimate : (m,) array or None
        For "paper": the share of votes at which its algorithm ends. It bounds nothing; where the consensus does move
        that far there, it is `upper` as well, with the attack. None for other methods.
    options : PaperOptions or None
        For "paper": the constants of its algorithm. None for other methods.
    """

    delta: Floats
    lower: Floats
    upper: Floats
    exact: npt.NDArray[np.bool_]
    attacks: tuple[Attack | None, ...]
    votes_needed: Floats
    votes_to_tie: Floats
    votes_to_decide: Floats
    votes_sufficient: Floats
    status: Status
    statistic: StatisticName
    consensus: Consensus
    method: str
    distance: TierDistance | Metric
    total: float
    seed: int | None
    notes: tuple[str, ...]
    seconds: float
    estimate: Floats | None = None
    options: PaperOptions | None = None

    def __post_init__(self) -> None:
        whole = (self.votes_needed, self.votes_to_tie, self.votes_to_decide, self.votes_sufficient)
        for array in (self.delta, self.lower, self.upper, self.exact, *whole, self.estimate):
            if array is not None:
                array.flags.writeable = False

    def __repr__(self) -> str:
        if not len(self.delta):
            return f"Breakdown({self.statistic}: no distances)"
        first = interval_text(float(self.lower[0]), float(self.upper[0]))
        return (
            f"Breakdown({self.statistic}: {plural(len(self.delta), 'distance')}, "
            f"{first} at {self.delta[0]:.4g}, {self.status})"
        )


def columns(attacks: Sequence[Attack]) -> dict[str, Any]:
    """Return the fields of a `Breakdown` that one attack for each distance decides."""
    lower, upper = np.array([one.lower for one in attacks]), np.array([one.upper for one in attacks])
    whole = ("votes_needed", "votes_to_tie", "votes_to_decide", "votes_sufficient")
    return {
        "lower": lower,
        "upper": upper,
        "exact": lower == upper,
        "attacks": tuple(one if one.verified else None for one in attacks),
        **{name: np.array([getattr(one, name) for one in attacks]) for name in whole},
    }


def _listed(items: Sequence[str], ranks: Ints, weights: Floats) -> Ballots:
    """Return ballots with their weights as text, the heaviest first."""
    rows = np.flatnonzero(weights > 0)
    rows = rows[np.argsort(-weights[rows], kind="stable")]
    return [(ballot_text(ranks[row].tolist(), items), float(weights[row])) for row in rows.tolist()]
