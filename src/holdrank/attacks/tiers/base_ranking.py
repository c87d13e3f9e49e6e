"""The ranking below the tiers: its attacks are tried on the tiers, and some of its bounds hold for them.

An attack on the ranking that is merged often changes the tiers too, and the engines for rankings are fast. So an answer
about tiers starts from their ranking: each of its attacks is run against the tiers, including those that only tie,
because a tie may be enough to change a tier.

Tiers are stretches of the ranking. So an item above another in the tiers is above it in the ranking, and an item with k
items above it in the tiers has them above it in the ranking. For these goals, too, the bounds of the ranking hold.

At the threshold 0 tiers join items that are exactly even. Kemeny's cost does not change when such items swap places, so
any goal that the tiers reach, some Kemeny ranking reaches: the lower bounds of the ranking hold for the tiers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from holdrank.arrays.tolerances import DECIMALS, NUDGE
from holdrank.attacks.goals import Aim, Distance, Enters, TopSet, top_items
from holdrank.attacks.mirror import is_symmetric
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
_ONE_RUN, _LEAST_RUN = 2.0, 0.05  # seconds for the tiers of attacked votes, no matter how little time is left
_RUN, _LOOK = 3, 24  # one run of the tiers, and one check of the clock by the engine of the ranking, in steps
_LEAST_LOOKS = 3  # fewer are spent before the engine has any result
_ONLY_ATTACKS = 2  # times less effort where nothing but attacks on the ranking can help
_FOR_ENTRIES, _MOST_EFFORT = 3000, 1 << 62  # steps of a round that asks about single items, and of the longest one
_FIRST_EFFORT, _MORE_EFFORT = 40, 3  # steps of the first round, and how many times as many in the next


class RankingBelow:
    """The ranking that tiers are merged from, with its engine.

    Parameters
    ----------
    T : Robust
        The tiers.
    find, whole : callable
        The engine of their base; `whole` may be None.
    seek : callable
        A search for attacks on the tiers, see `search`.
    """

    def __init__(self, T: Robust, find: Find, whole: FindWhole | None, seek: Find) -> None:
        self.T, self.find_below, self.seek, self._whole = T, find, seek, whole
        self._after: dict[tuple[bytes, bytes, bytes], Ranking] = {}  # tiers of attacked votes
        self._known: list[tuple[Aim, Aim, Found]] = []  # aim of the tiers, the same of the ranking, the result

    def find(
        self,
        votes: Votes,
        before: Ranking,
        aims: Sequence[Aim],
        change: Change,
        clock: Clock,
        progress: Progress | None,
    ) -> list[Found]:
        """Return bounds and attacks from those of the ranking, improved by searches for attacks and over cells."""
        self._after.clear()
        median = consensus_of(votes, self.T.base, clock.time_limit())
        if not median.status.is_exact:
            return cells.find(votes, self.T, before, aims, change, clock, progress)
        rounds = Rounds(self, votes, before, median.ranking, aims, change, clock, progress)
        rounds.run()
        self._known = [(aim, own, rounds.below[aim]) for aim, own in rounds.own.items() if aim in rounds.below]
        return [rounds.best[aim] for aim in aims]

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
        asked = set(aims)
        known = [one for one in self._known if one[0] in asked and math.isfinite(one[2].lower)]
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
            plans = self.that_reach(votes, aim, (one.tie_plan, one.plan), clock)
            needed = one.needed if self.carries_over(votes, before, aim) else 0.0
            out.append(Whole(needed, min(plans, key=plan_votes, default=None)))
        return out

    def that_reach(self, votes: Votes, aim: Aim, plans: Iterable[Plan | None], clock: Clock) -> list[Plan]:
        """Return the attacks after which the tiers fulfil an aim."""
        some = [plan for plan in plans if plan is not None and not plan.leaves_nothing(votes)]
        return [plan for plan in some if aim.reached(self._tiers_after(votes, plan, clock))]

    def _tiers_after(self, votes: Votes, plan: Plan, clock: Clock) -> Ranking:
        """Return the tiers of attacked votes; one attack may serve many distances."""
        mark = _mark(plan)
        if mark not in self._after:
            seconds = min(max(clock.seconds_left(), _LEAST_RUN), _ONE_RUN)
            self._after[mark] = consensus_of(plan.applied(votes), self.T, seconds).ranking
        return self._after[mark]

    def carries_over(self, votes: Votes, before: Ranking, aim: Aim) -> bool:
        """Whether the lower bound of the ranking holds for the tiers: see above; not for all goals."""
        if self.T.merge == "smith":
            return False
        if aim.above or (aim.leaver and is_symmetric(self.T.base, votes)):
            return True
        # Merges round to twelve decimals; deviations of so few counted votes are larger, or none.
        exactly_even = votes.is_counts and votes.total < 10 ** (DECIMALS - 1)
        kendall = rule_of(self.T.base).median_of == "kendall"
        if not kendall or self.T.theta != 0 or not exactly_even:
            return False
        if aim.distance:
            return aim.distance == "hausdorff_ns"
        # A tie on the border may also split, so that fewer items are first and none is new.
        return not aim.other_set or len(top_items(before, aim.top)) == aim.top


class Rounds:
    """Bounds and attacks for the tiers, improved in rounds: each asks the same questions again with more effort.

    Effort is counted in steps, never in seconds. So a round is the same for any time limit, and more time means more
    rounds. A round's result is kept only where it is better. So answers never get worse with more time.

    Attributes
    ----------
    best : dict
        For each aim the best bounds and attack.
    own : dict
        For each aim that makes sense for the ranking, that aim.
    below : dict
        For each aim the bounds and attack for the ranking.
    """

    def __init__(
        self,
        tiers: RankingBelow,
        votes: Votes,
        before: Ranking,
        median: Ranking,
        aims: Sequence[Aim],
        change: Change,
        clock: Clock,
        progress: Progress | None,
    ) -> None:
        self.tiers, self.votes, self.before, self.median = tiers, votes, before, median
        self.aims, self.change, self.clock, self.progress = aims, change, clock, progress
        self.standing = StandingTiers(votes, tiers.T, before, median, change)
        self.best = {aim: Found(self.standing.least(aim)) for aim in aims}
        own = {aim: replace(aim, before=median) for aim in aims}
        self.own = {aim: o for aim, o in own.items() if not (o.reached(median) or o.is_impossible())}
        self.below: dict[Aim, Found] = {}
        self._entries: dict[tuple[int, int], int] = {}  # effort with which an item was asked about
        self._settled: set[str | int] = set()  # what was asked about the ranking with enough effort
        self._cells: list[tuple[list[Aim], cells.CellSearch]] | None = None

    def run(self) -> None:
        """Work until everything is exact, nothing is left to do, or the clock stops."""
        effort = _FIRST_EFFORT
        parts = [self._seek, self._ask_about_aims, self._ask_about_first_items, self._go_through_cells]
        while parts:
            for part in tuple(parts):
                if not self.open() or self.clock.over():
                    return
                if part(effort):
                    parts.remove(part)
            effort *= _MORE_EFFORT

    def open(self) -> list[Aim]:
        """Return the aims whose bounds do not meet."""
        return [aim for aim in self.aims if self.best[aim].lower < self.best[aim].upper]

    def improve(self, aim: Aim, lower: float, found: Found | None = None) -> None:
        """Keep bounds and an attack where they are better; keep more expensive attacks in shares as well.

        Rounded to whole votes, a more expensive attack may be cheaper. None is dropped, because a run with less time
        might have ended with it.
        """
        known = self.best[aim]
        lower = max(lower, known.lower)
        upper, plan, others = known.upper, known.plan, known.others
        if found is not None:
            if found.plan is not None and found.upper < known.upper:
                upper, plan = found.upper, found.plan
            kept = {_mark(one): one for one in others}
            for one in (*found.others, found.plan):
                if one is not None:
                    kept.setdefault(_mark(one), one)
            others = tuple(kept.values())
        # The plan of an infimum costs slightly more than the infimum.
        if plan is not None and plan.budget(self.votes) <= lower + NUDGE:
            upper = lower
        self.best[aim] = Found(lower, max(upper, lower), plan, others=others)

    # The parts of a round; each returns whether nothing is left to do

    def _ask_about_aims(self, effort: int) -> bool:
        """Run the engine of the ranking on the same aims."""
        asked = [aim for aim in self.open() if aim in self.own and not self._is_too_dear(aim)]
        if asked and not any(aim.distance or self._carries_over(aim) for aim in asked):
            effort //= _ONLY_ATTACKS
        clock = self.clock.with_looks(effort // _LOOK)
        below = [replace(self.own[aim], limit=self.best[aim].upper) for aim in asked]
        for aim, one in zip(asked, self._asked(below, clock), strict=False):
            if self.clock.over():
                break
            self.below[aim] = one
            self.standing.learn_goal(aim, one.lower)
            if aim.distance and aim.flips == 1:  # any change of the ranking at all
                self.standing.learn(one.lower)
                self.improve(aim, self.standing.least(aim))
                self._settled.add("any")
            self.improve(aim, one.lower if self._carries_over(aim) else 0.0)
            self._try(aim, (one.plan, one.tie_plan))
        return not clock.used_up

    def _carries_over(self, aim: Aim) -> bool:
        return self.tiers.carries_over(self.votes, self.before, aim)

    def _is_too_dear(self, aim: Aim) -> bool:
        """Whether all attacks on the ranking are known to cost more than one on the tiers."""
        return aim in self.below and self.below[aim].lower >= self.best[aim].upper

    def _seek(self, effort: int) -> bool:
        """Search for attacks in a few directions."""
        clock = self.clock.with_looks(effort // _RUN)
        todo = self.open()
        found = self.tiers.seek(self.votes, self.before, todo, self.change, clock, None)
        if self.clock.over():
            # Half of a search may end in an attack that the full one misses.
            found = [one if self.best[aim].plan is None else Found(0.0) for aim, one in zip(todo, found, strict=True)]
        for aim, one in zip(todo, found, strict=True):
            self.improve(aim, 0.0, one)
        return not clock.used_up

    def _ask_about_first_items(self, effort: int) -> bool:
        """Run the engine of the ranking on changes of its first items, where a border depends on them."""
        if effort // _LOOK < _LEAST_LOOKS:
            return False
        todo = self.open()
        done = True
        asked = set(self._settled)
        if self.votes.n > 1 and "any" not in asked:
            done &= self._ask(Distance(2 / (self.votes.n * (self.votes.n - 1))), effort, todo)
        for aim in todo:
            while not self.clock.over() and (first := self.standing.to_ask(aim, asked)) is not None:
                asked.add(first)
                done &= self._ask(TopSet(first), effort, [aim])
        return done

    def _ask(self, goal: Distance | TopSet, effort: int, aims: Sequence[Aim]) -> bool:
        """Pass lower bounds on changing the ranking, or its first items, to the bounds of the tiers."""
        clock = self.clock.with_looks(effort // _LOOK)
        first = goal.k if isinstance(goal, TopSet) else None
        limit = max(self.best[aim].upper for aim in aims)
        for found in self._asked([replace(goal.aim(self.median, self.votes.items), limit=limit)], clock):
            self.standing.learn(found.lower, first)
            for aim in aims:
                self.improve(aim, self.standing.least(aim))
                self._try(aim, (found.plan,))
        if not clock.used_up:
            self._settled.add("any" if first is None else first)
        return not clock.used_up

    def _ask_about_one(self, effort: int, limit: float, item: int, first: int) -> bool:
        """Learn when an item is among the first of the ranking; return whether that was asked now."""
        known = self._entries.get((item, first))
        settled = known is not None and known >= effort
        if first == self.votes.n or effort < _FOR_ENTRIES or settled or self.clock.over():
            return False
        aim = replace(Enters(self.votes.items[item], first).aim(self.median, self.votes.items), limit=limit)
        clock = self.clock.with_looks(effort // _LOOK)
        for found in [] if aim.reached(self.median) else self._asked([aim], clock):
            self.standing.learn_goal(aim, found.lower)
        self._entries[item, first] = effort if clock.used_up else _MOST_EFFORT
        return True

    def _go_through_cells(self, effort: int) -> bool:
        """Continue the search over cells."""
        if self._cells is None:
            together: dict[object, list[Aim]] = {}
            for aim in self.open():
                together.setdefault(str(aim.distance) or aim, []).append(aim)
            T, before, change = self.tiers.T, self.before, self.change
            self._cells = [
                (group, cells.CellSearch(self.votes, T, before, group, change, self.clock, self.progress))
                for group in together.values()
            ]
        done = True
        for aims, search in self._cells:
            if any(self.best[aim].lower < self.best[aim].upper for aim in aims):
                search.learn(self.standing, [self.best[aim] for aim in aims])
                search.ask = partial(self._ask_about_one, effort, min(self.best[aim].upper for aim in aims))
                done &= search.advance(effort)
                for aim, one in zip(aims, search.results(), strict=True):
                    self.improve(aim, one.lower, one)
        return done

    def _asked(self, aims: list[Aim], clock: Clock) -> list[Found]:
        """Return the result of the engine of the ranking after a full effort; None if the time limit came first.

        A cheaper attack on the ranking may not change the tiers, so half an effort may find what a full one misses.
        """
        found = self.tiers.find_below(self.votes, self.median, aims, self.change, clock, self.progress) if aims else []
        return [] if self.clock.over() else found

    def _try(self, aim: Aim, plans: Iterable[Plan | None]) -> None:
        """Keep the attacks on the ranking that reach an aim of the tiers for less."""
        cheaper = [plan for plan in plans if plan is not None and plan.budget(self.votes) < self.best[aim].upper]
        for plan in self.tiers.that_reach(self.votes, aim, cheaper, self.clock):
            self.improve(aim, 0.0, Found(0.0, plan.budget(self.votes), plan))


def _mark(plan: Plan) -> tuple[bytes, bytes, bytes]:
    """Return a key that identifies a plan."""
    return plan.removed.tobytes(), plan.ranks.tobytes(), plan.added.tobytes()
