"""Answers to aims, each of which implies those before it: bounds and attacks, tightened by each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from holdrank.arrays.tolerances import SAME
from holdrank.attacks.goals import Aim
from holdrank.attacks.plans import Plan
from holdrank.attacks.whole import Whole, plan_votes
from holdrank.rules.consensus import Consensus


@dataclass(frozen=True, slots=True)
class Answer:
    """Bounds and attacks for one aim, after running the statistic again."""

    aim: Aim
    lower: float
    upper: float
    plan: Plan | None = None
    after: Consensus | None = None
    tie_plan: Plan | None = None
    others: tuple[Plan, ...] = ()
    whole: Whole = field(default_factory=Whole)

    @property
    def is_free(self) -> bool:
        """Whether an arbitrarily small change of the right votes is enough."""
        return self.upper <= SAME and self.plan is not None and plan_votes(self.plan) > 0


def chained(answers: Sequence[Answer]) -> list[Answer]:
    """Return answers to aims, each of which implies all before it, tightened by each other."""
    known = list(answers)
    # A farther attack reaches all nearer aims; a farther aim needs at least as much as a nearer one.
    for k in reversed(range(len(known) - 1)):
        far = known[k + 1]
        if far.upper < known[k].upper:
            whole = replace(known[k].whole, plan=smaller(known[k].whole.plan, far.whole.plan))
            known[k] = replace(known[k], upper=far.upper, plan=far.plan, after=far.after, whole=whole)
    for k in range(1, len(known)):
        if known[k].lower < known[k - 1].lower:
            known[k] = replace(known[k], lower=known[k - 1].lower)
    # Where only rounding keeps the bounds apart they are one number: the one that is proved to be needed.
    return [replace(a, upper=a.lower) if a.upper - SAME <= a.lower < math.inf else a for a in known]


def chained_whole(whole: list[Whole]) -> list[Whole]:
    """Return whole votes for aims, each of which implies all before it, tightened by each other as in `chained`."""
    known = list(whole)
    for k in reversed(range(len(known) - 1)):
        near, far = known[k], known[k + 1]
        plan, tie_plan = smaller(near.plan, far.plan), smaller(near.tie_plan, far.tie_plan)
        if plan is not near.plan or tie_plan is not near.tie_plan:
            known[k] = replace(near, plan=plan, tie_plan=tie_plan)
    for k in range(1, len(known)):
        needed, decide = max(known[k].needed, known[k - 1].needed), max(known[k].decide, known[k - 1].decide)
        if (needed, decide) != (known[k].needed, known[k].decide):
            known[k] = replace(known[k], needed=needed, decide=decide)
    return known


def cheaper(one: Answer, other: Answer) -> Answer:
    """Return the answer with the cheaper attack, and the better bounds of both."""
    best = one if one.upper < other.upper or other.plan is None else other
    return replace(best, lower=max(one.lower, other.lower), whole=_both(one.whole, other.whole))


def _both(one: Whole, other: Whole) -> Whole:
    """Return the better bounds of two engines in whole votes."""
    needed = max((w.needed for w in (one, other) if not math.isnan(w.needed)), default=math.nan)
    decide = max(one.decide, other.decide)
    return Whole(needed, smaller(one.plan, other.plan), smaller(one.tie_plan, other.tie_plan), decide)


def smaller(a: Plan | None, b: Plan | None) -> Plan | None:
    """Return the plan that changes fewer votes."""
    return min((plan for plan in (a, b) if plan is not None), key=plan_votes, default=None)
