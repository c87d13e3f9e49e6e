"""What the ranking below tiers tells about them: its attacks are tried on the tiers, its bounds carry over.

Whoever overturns the ranking that is merged often changes the tiers, too, and the engines for rankings are fast. So an
answer about tiers starts from what is known about their ranking: each of its attacks is run against the tiers, those
that only tie included, for a tie may be all that a tier needs.

At the threshold 0 tiers join items that are exactly even. Kemeny's cost does not change when such items swap places, so
whatever tiers reach, some Kemeny ranking reaches: the lower bounds of the ranking hold for the tiers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from holdrank.arrays.tolerances import DECIMALS, NUDGE
from holdrank.attacks.goals import Aim, Distance, TopSet, top_items
from holdrank.attacks.plans import Found, Plan, Progress
from holdrank.attacks.tiers import engine as cells
from holdrank.attacks.tiers.standing import StandingTiers
from holdrank.attacks.whole import Find, FindWhole, Whole, plan_votes
from holdrank.rankings import Ranking
from holdrank.rules.merges import Robust, consensus_of
from holdrank.rules.registry import rule_of
from holdrank.status import Clock
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_FOR_THE_RANKING = 0.25  # of the time
_ONE_RUN = 2.0  # seconds for the tiers of attacked votes


class RankingBelow:
    """The ranking that tiers are merged from, with its engine.

    Parameters
    ----------
    T : Robust
        The tiers.
    find, whole : callable
        The engine of their base; `whole` may be None.
    """

    def __init__(self, T: Robust, find: Find, whole: FindWhole | None) -> None:
        self.T, self._find, self._whole = T, find, whole
        self._known: list[tuple[Aim, Aim, Found]] = []  # aim of the tiers, the same of the ranking, what is known

    def find(
        self,
        votes: Votes,
        before: Ranking,
        aims: Sequence[Aim],
        change: Change,
        clock: Clock,
        progress: Progress | None,
    ) -> list[Found]:
        """Return what the ranking below tells about the tiers, made better by the search over cells."""
        left = clock.seconds_left()
        part = Clock(None if math.isinf(left) else _FOR_THE_RANKING * max(left, 0.0), within=clock)
        median = consensus_of(votes, self.T.base, None if math.isinf(left) else max(part.seconds_left(), 0.0))
        if not median.status.is_exact:
            return cells.find(votes, self.T, before, aims, change, clock, progress)
        standing = StandingTiers(votes, self.T, before, median.ranking, change)
        below = [(aim, replace(aim, before=median.ranking)) for aim in aims]
        asked = [(aim, own) for aim, own in below if not (own.reached(median.ranking) or own.is_impossible())]
        found = self._find(votes, median.ranking, [own for _, own in asked], change, part, progress)
        self._known = [(aim, own, one) for (aim, own), one in zip(asked, found, strict=True)]
        told = {aim: one for aim, _, one in self._known}
        best = {}
        for aim in aims:
            best[aim] = self._told(votes, before, aim, told.get(aim), standing)
            if best[aim].lower < best[aim].upper:
                plans = self._ask_about_first_items(votes, median.ranking, aim, change, part, standing)
                best[aim] = raised(self._cheaper(votes, aim, best[aim], plans), standing.least(aim))
        todo = [aim for aim in aims if best[aim].lower < best[aim].upper]
        known = cells.Known(standing, best)
        for aim, one in zip(todo, cells.find(votes, self.T, before, todo, change, clock, progress, known), strict=True):
            best[aim] = raised(min(one, best[aim], key=lambda found: found.upper), max(one.lower, best[aim].lower))
        return [best[aim] for aim in aims]

    def _told(self, votes: Votes, before: Ranking, aim: Aim, known: Found | None, standing: StandingTiers) -> Found:
        """Return what the ranking tells about one aim of the tiers, and what their pairs do."""
        lower = standing.least(aim)
        if known is not None and self._carries_over(votes, before, aim):
            lower = max(lower, known.lower)
        plans = () if known is None else (known.plan, known.tie_plan)
        return self._cheaper(votes, aim, Found(lower), plans)

    def _cheaper(self, votes: Votes, aim: Aim, found: Found, plans: Iterable[Plan | None]) -> Found:
        """Return what is known about an aim with the cheapest of some attacks on the ranking that reach it."""
        promising = [plan for plan in plans if plan is not None and plan.budget(votes) < found.upper]
        for plan in self._that_reach(votes, aim, promising):
            budget = plan.budget(votes)
            if budget < found.upper:
                # The plan of an infimum costs a hair more than that.
                upper = found.lower if budget <= found.lower + NUDGE else budget
                found = Found(found.lower, max(upper, found.lower), plan)
        return found

    def _ask_about_first_items(
        self, votes: Votes, median: Ranking, aim: Aim, change: Change, clock: Clock, standing: StandingTiers
    ) -> list[Plan | None]:
        """Ask the engine of the ranking what changes its first items where a border depends on it; return attacks."""
        plans = []
        if votes.n > 1:
            plans += self._ask(votes, median, Distance(2 / (votes.n * (votes.n - 1))), change, clock, standing)
        while not clock.over() and (first := standing.to_ask(aim)) is not None:
            plans += self._ask(votes, median, TopSet(first), change, clock, standing)
        return plans

    def _ask(
        self,
        votes: Votes,
        median: Ranking,
        goal: Distance | TopSet,
        change: Change,
        clock: Clock,
        standing: StandingTiers,
    ) -> list[Plan | None]:
        """Tell the bounds of the tiers what it takes at least to change the ranking, or its first items."""
        (found,) = self._find(votes, median, [goal.aim(median, votes.items)], change, clock, None)
        standing.learn(found.lower, goal.k if isinstance(goal, TopSet) else None)
        return [found.plan]

    def whole(
        self,
        votes: Votes,
        before: Ranking,
        aims: Sequence[Aim],
        change: Change,
        found: Sequence[Found],  # noqa: ARG002
        clock: Clock,
    ) -> list[Whole]:
        """Return whole votes that change the tiers, from those that change the ranking."""
        known = [one for one in self._known if one[0] in aims and math.isfinite(one[2].lower)]
        if self._whole is None or not known:
            return [Whole(0.0)] * len(aims)
        below, median = [own for _, own, _ in known], known[0][1].before
        left = clock.seconds_left()
        part = Clock(None if math.isinf(left) else _FOR_THE_RANKING * max(left, 0.0), within=clock)
        results = self._whole(votes, median, below, change, [one for _, _, one in known], part)
        told = {aim: one for (aim, _, _), one in zip(known, results, strict=True)}
        out = []
        for aim in aims:
            one = told.get(aim, Whole(0.0))
            plans = self._that_reach(votes, aim, (one.tie_plan, one.plan))
            needed = one.needed if self._carries_over(votes, before, aim) else 0.0
            out.append(Whole(needed, min(plans, key=plan_votes, default=None)))
        return out

    def _that_reach(self, votes: Votes, aim: Aim, plans: Iterable[Plan | None]) -> list[Plan]:
        """Return the attacks after which the tiers fulfil an aim."""
        return [
            plan
            for plan in plans
            if plan is not None
            and not plan.leaves_nothing(votes)
            and aim.reached(consensus_of(plan.applied(votes), self.T, _ONE_RUN).ranking)
        ]

    def _carries_over(self, votes: Votes, before: Ranking, aim: Aim) -> bool:
        """Whether what some Kemeny ranking must cost, the tiers cost as well: see above; not for all goals."""
        # Merges round to twelve decimals; deviations of so few counted votes are larger, or none.
        exactly_even = votes.is_counts and votes.total < 10 ** (DECIMALS - 1)
        kendall = rule_of(self.T.base).median_of == "kendall"
        if not kendall or self.T.theta != 0 or self.T.merge == "smith" or not exactly_even:
            return False
        if aim.distance:
            return aim.distance == "hausdorff_ns"
        # A tie on the border may also come apart, so that fewer are first and nobody new.
        return not aim.other_set or len(top_items(before, aim.top)) == aim.top


def raised(found: Found, lower: float) -> Found:
    """Return what is known with a better lower bound."""
    lower = max(found.lower, lower)
    return replace(found, lower=lower, upper=max(found.upper, lower))
