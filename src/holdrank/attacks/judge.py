"""One case: votes, the statistic under attack, and an engine, whose proposals are run and verified here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import Any

import numpy as np

from holdrank.arrays.tolerances import NUDGE, SAME
from holdrank.attacks.chains import Answer, chained, chained_whole, cheaper, smaller
from holdrank.attacks.engines import Engine, searching
from holdrank.attacks.goals import Aim
from holdrank.attacks.optima import Optima, reaches
from holdrank.attacks.plans import Found, Plan, Progress, nothing
from holdrank.attacks.results import Attack
from holdrank.attacks.whole import (
    Whole,
    in_whole_votes,
    plan_votes,
    rounded_up,
    votes_needed,
    votes_to_decide,
)
from holdrank.rules.consensus import (
    Consensus,
    Statistic,
    name_of,
)
from holdrank.rules.merges import Robust, consensus_of
from holdrank.rules.registry import rule_of
from holdrank.status import AFTER_A_SIGNAL, Clock, Status
from holdrank.votes.changes import Change
from holdrank.votes.forms.table import MAX_WEIGHT
from holdrank.votes.votes import Votes

_FOR_CHECKS = 0.3  # of the time left: not for the engine, but for running the statistic again
_LONG_CHECKS = 1.0  # seconds that are enough for that
_ONE_ROW = 1.2e-4  # seconds of work on one answer, once the engine has spoken: curves of many items have thousands
_TO_WRITE = 2  # of that, one part of two comes after whole votes
_LAST_SEARCH = 1.0  # seconds to find any attack when the time is over and the engine has none
_OF_THE_TIME = 0.1  # which it may exceed for that
_SHORT_SEARCH = 0.1  # the same where it has one, but no proof
_LAST_LOOK = 0.4  # seconds for such checks when the time is over
_LAST_RUN = 2.0  # seconds for one run of the statistic then
_MANY_VOTES = 1e8
_ROUNDING = 2e-11  # of shares that engines find, generously
_OTHERS = 16  # attacks that were cheapest once and are rounded, too
_TIES_TRIED = 3  # numbers of votes for which a change that ties is searched for


@dataclass(frozen=True, slots=True)
class Case:
    """Votes, the statistic under attack, its consensus, what the attacker may do, and the engine."""

    votes: Votes
    statistic: Statistic
    before: Consensus
    change: Change
    engine: Engine
    _memo: dict[Any, Any] = field(default_factory=dict)
    _optima: Optima = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_optima", Optima(self.votes, self.statistic, self.before))

    def answers(self, aims: Sequence[Aim], clock: Clock, progress: Progress | None) -> list[Answer]:
        """Return the answers to aims, each of which implies all before it."""
        found = self._found(aims, clock, progress)
        answers = [Answer(aim, self._sound(known.lower), math.inf) for aim, known in zip(aims, found, strict=True)]
        # When time is short, the farthest attack gives every aim an upper bound; then the nearest matter most.
        part = _without_rows(clock, len(aims))
        moment = _Moment(clock, len(aims))
        for k in sorted(range(len(aims)), key=lambda k: k - len(aims) * (k == len(aims) - 1)):
            if not part.over() or moment.lasts():
                answers[k] = self.verified(answers[k], found[k], part)
        answers = chained(answers)
        return self._no_dearer(self._in_whole_votes(answers, clock), clock) if self.votes.is_counts else answers

    def proposed(self, aim: Aim, clock: Clock) -> tuple[float, float]:
        """Return the engine's bounds in shares, without running its attack and without whole votes."""
        (found,) = self._found([aim], clock, None)
        lower = self._sound(found.lower)
        return lower, lower if found.upper - SAME <= lower else found.upper

    def with_search(
        self, answers: Sequence[Answer], clock: Clock, time_limit: float | None, progress: Progress | None
    ) -> list[Answer]:
        """Return the answers, with an attack by search where the engine has none: any attack is a bound.

        A single answer that was cut short is searched for, too, for a moment: with less time it would have been.
        """
        todo = [k for k, a in enumerate(answers) if a.plan is None and math.isfinite(a.lower)]
        seconds = _LAST_SEARCH
        if not todo and len(answers) == 1 and self._memo.get("cut short") and answers[0].lower < answers[0].upper:
            todo, seconds = [0], _SHORT_SEARCH
        if not todo or self.engine.by_search or not self.before.status.is_exact:
            return list(answers)
        least = _last(clock, seconds)
        if time_limit is not None:
            least = min(least, max(_OF_THE_TIME * time_limit, _SHORT_SEARCH), time_limit)
        more = Clock(max(clock.seconds_left(), least), within=clock)
        search = Case(self.votes, self.statistic, self.before, self.change, searching(self.statistic))
        found = dict(zip(todo, search.answers([answers[k].aim for k in todo], more, progress), strict=True))
        return chained([cheaper(found[k], a) if k in found else a for k, a in enumerate(answers)])

    def status(self, answers: Sequence[Answer], clock: Clock) -> Status:
        """Return the joint status of the answers."""
        if all(answer.lower == answer.upper for answer in answers):
            beyond = answers and all(math.isinf(answer.lower) for answer in answers)
            return Status.OUT_OF_REACH if beyond else Status.LEAST
        if clock.interrupted or self.before.status is Status.INTERRUPTED:
            return Status.BETWEEN_INTERRUPTED
        if self.engine.by_search and not any(answer.lower > 0 for answer in answers):
            return Status.ESTIMATE
        return Status.BETWEEN_TIME_LIMIT if clock.over() or self._memo.get("cut short") else Status.BETWEEN

    def attack(self, answer: Answer, status: Status, notes: tuple[str, ...], seconds: float) -> Attack:
        """Return an answer as a public `Attack`."""
        if "name" not in self._memo:
            self._memo["name"] = name_of(self.statistic)
        return Attack(
            goal=answer.aim.goal,
            change=self.change,
            lower=answer.lower + 0.0,  # never minus zero
            upper=answer.upper + 0.0,
            verified=answer.plan is not None,
            votes_needed=answer.whole.needed,
            votes_to_tie=answer.whole.ties if self.votes.is_counts else math.nan,
            votes_to_decide=answer.whole.decide if self.votes.is_counts else math.nan,
            votes_sufficient=answer.whole.sufficient if self.votes.is_counts else math.nan,
            status=status,
            statistic=self._memo["name"],
            before=self.before,
            after=answer.after,
            plan=answer.plan,
            whole_plan=answer.whole.plan,
            tie_plan=answer.whole.tie_plan if answer.whole.ties < answer.whole.sufficient else None,
            original=self.votes,
            notes=notes,
            seconds=seconds,
        )

    def _sound(self, lower: float) -> float:
        """Return a lower bound less its rounding error; where votes are dropped, one ballot is left.

        Of very many votes, rounding may be more than a thousandth of one.
        """
        if self.votes.is_counts and self.votes.total > _MANY_VOTES and math.isfinite(lower):
            lower -= _ROUNDING
        if not self.change.puts and math.isfinite(lower):
            lower = min(lower, 1 - float(self.votes.weights.min()) / self.votes.total)
        return max(0.0, float(lower))

    def _found(self, aims: Sequence[Aim], clock: Clock, progress: Progress | None) -> list[Found]:
        found: dict[int, Found] = {}
        for k, aim in enumerate(aims):
            if self._optima.all_reach(aim, clock):
                found[k] = Found(0.0, 0.0, nothing(self.votes))
            elif aim.is_impossible():
                found[k] = Found(math.inf)
            elif not self.before.status.is_exact or self._optima.start(aim) is None:
                found[k] = Found(0.0)  # without a known consensus there are no bounds
        todo = [k for k in range(len(aims)) if k not in found]
        if todo:
            left = clock.seconds_left()
            after = max(min(_FOR_CHECKS * left, _LONG_CHECKS), _ONE_ROW * len(aims))
            part = Clock(None if math.isinf(left) else max(left - after, 0.0), within=clock)
            for before, group, asked in self._optima.by_start(aims, todo):
                results = self.engine.find(self.votes, before, asked, self.change, part, progress)
                found.update(zip(group, results, strict=True))
            self._memo["cut short"] = part.over()
            if part.interrupted:
                clock.interrupted = True
        return [found[k] for k in range(len(aims))]

    def verified(self, answer: Answer, found: Found, clock: Clock) -> Answer:
        """Run the statistic again: only an attack that works is kept, and only its price is an upper bound."""
        plan = None if found.plan is None else found.plan.without_detours(self.votes)
        after = None if plan is None else self._after(plan, answer.aim, clock)
        if plan is None or after is None:
            return replace(answer, tie_plan=found.tie_plan)
        budget = plan.budget(self.votes)
        upper = found.upper if found.upper - SAME <= budget <= found.upper + NUDGE else budget
        return replace(answer, upper=max(upper, answer.lower), plan=plan, after=after, others=found.others)

    def _after(self, plan: Plan, aim: Aim, clock: Clock, *, weakly: bool = False) -> Consensus | None:
        """Return the consensus after an attack, if the attack is allowed and fulfils the aim."""
        if not plan_votes(plan):
            tied = weakly and reaches(aim, self.statistic, lambda: self.votes, self.before, clock, weakly=True)
            return self.before if tied or self._optima.all_reach(aim, clock) else None
        if not self._may(plan) or plan.leaves_nothing(self.votes):
            return None
        key = tuple(part.tobytes() for part in (plan.removed, plan.ranks, plan.added, plan.scores) if part is not None)
        if key not in self._memo:  # one attack may serve many distances
            left = clock.seconds_left()
            limit = None if math.isinf(left) else max(left, _last(clock, _LAST_RUN))
            self._memo[key] = consensus_of(plan.applied(self.votes), self.statistic, limit)
        after: Consensus = self._memo[key]
        attacked = partial(plan.applied, self.votes)
        return after if reaches(aim, self.statistic, attacked, after, clock, weakly=weakly) else None

    def _may(self, plan: Plan) -> bool:
        """Whether the plan removes existing votes only, and adds as many as it removes where votes are replaced."""
        taken, put = float(plan.removed.sum()), float(plan.added.sum())
        tolerance = SAME * self.votes.total
        if self.votes.total - taken + put > MAX_WEIGHT:
            return False  # more votes than can be counted
        if self.change.keeps_total:
            allowed = abs(taken - put) <= tolerance
        else:
            allowed = (self.change.takes or taken == 0) and (self.change.puts or put == 0)
        return allowed and bool((plan.removed <= self.votes.weights + tolerance).all())

    def _works(self, aim: Aim, clock: Clock, plan: Plan, *, weakly: bool = False) -> bool:
        return self._after(plan, aim, clock, weakly=weakly) is not None

    def _in_whole_votes(self, answers: list[Answer], clock: Clock) -> list[Answer]:
        """Add whole votes to the answers, the nearest aims first."""
        by_engine = self._whole_by_engine(answers, clock)
        clock = _without_rows(clock, len(answers) // _TO_WRITE)
        moment = _Moment(clock, len(answers))
        whole: list[Whole] = []
        plan: Plan | None = None
        for answer, known in zip(answers, by_engine, strict=True):
            # Changing no vote changes nothing; a single vote may be below the resolution of shares.
            some = self.before.unique is True and not answer.aim.reached(self.before.ranking)
            needed = max(votes_needed(answer.lower, self.votes.total), known.needed, float(some))
            plan = self._whole_plan(answer, replace(known, needed=needed), plan, clock, moment)
            decide = max(known.decide, needed, self._to_decide(answer, clock))
            found = Whole(needed, plan, known.tie_plan, decide)
            tie_plan = self._tying(answer, found, clock)
            if tie_plan is not None or found.tie_plan is not None:
                found = replace(found, tie_plan=None if tie_plan is None else tie_plan.without_detours(self.votes))
            whole.append(found)
        return [replace(answer, whole=one) for answer, one in zip(answers, chained_whole(whole), strict=True)]

    def _whole_plan(
        self, answer: Answer, known: Whole, last: Plan | None, clock: Clock, moment: _Moment
    ) -> Plan | None:
        """Return the smallest change of whole votes known: by the engine, of the aim before, or by rounding shares."""
        plan = known.plan
        rounds = plan is None or (self.engine.rounds and plan_votes(plan) > known.needed)
        if rounds and answer.plan is not None and answer.after is not None:
            works = partial(self._works, answer.aim, clock)
            if not plan_votes(answer.plan):
                plan = answer.plan
            elif last is not None and plan_votes(last) == known.needed and works(last):
                plan = last
            else:
                target = answer.after.ranking
                own = in_whole_votes(self.votes, self.change, known.needed, answer.plan, target, works, clock)
                if own is None and clock.over() and moment.lasts():
                    own = rounded_up(self.votes, self.change, answer.plan, target, works)
                plan = self._smallest(smaller(plan, own), known.needed, answer, works, clock)
        return None if plan is None else plan.without_detours(self.votes)

    def _rounded_at_once(self, answer: Answer, clock: Clock) -> Whole:
        """Return as many whole votes as are needed, if the attack in shares rounds to them: no engine finds fewer."""
        needed = votes_needed(answer.lower, self.votes.total)
        if answer.plan is None or answer.after is None or needed < 1:
            return Whole(0.0)
        works, target = partial(self._works, answer.aim, clock), answer.after.ranking
        plan = in_whole_votes(self.votes, self.change, needed, answer.plan, target, works, clock, needed + 1)
        return Whole(0.0, plan)

    def _smallest(
        self, known: Plan | None, needed: float, answer: Answer, works: Callable[[Plan], bool], clock: Clock
    ) -> Plan | None:
        """Return whole votes made by rounding attacks that cost more in shares, where these are fewer votes.

        Many of them are tried, the latest first: where tiers jump, far fewer votes may suffice than a share suggests.
        """
        for other in answer.others[: -_OTHERS - 1 : -1]:
            fewer = math.inf if known is None else plan_votes(known)
            if clock.over() or fewer <= needed:
                break
            after = self._after(other, answer.aim, clock)
            if after is not None:
                rounded = in_whole_votes(self.votes, self.change, needed, other, after.ranking, works, clock, fewer)
                known = smaller(known, rounded)
        return known

    def _to_decide(self, answer: Answer, clock: Clock) -> float:
        """Return the number of whole votes below which no change makes every optimum reach the aim."""
        if self._optima.all_reach(answer.aim, clock):
            return 0.0
        if "one ballot" not in self._memo:
            one_ballot = rule_of(self.statistic).on(self.votes).one_ballot
            self._memo["one ballot"] = None if one_ballot is None else one_ballot(self.votes.n)
        most = self._memo["one ballot"]
        return 1.0 if most is None else votes_to_decide(answer.lower, self.votes.total, most, self.change)

    def _tying(self, answer: Answer, known: Whole, clock: Clock) -> Plan | None:
        """Return the smallest change of whole votes known with which some optimum reaches the aim, if it is smaller."""
        best = known.tie_plan
        if isinstance(self.statistic, Robust) or known.needed >= min(known.ties, known.sufficient):
            return best
        weakly = partial(self._works, answer.aim, clock, weakly=True)
        # Where no optimum is as far as one aim, none is farther.
        far = ("not free", str(answer.aim.distance) or answer.aim)
        if known.needed == 0 and far not in self._memo:
            if weakly(nothing(self.votes)):
                return nothing(self.votes)
            self._memo[far] = True
        rounded = answer.plan or answer.tie_plan
        if rounded is None or clock.over() or not self.engine.rounds:
            return best
        target = self.before.ranking if answer.after is None else answer.after.ranking
        below = min(known.ties, known.needed + _TIES_TRIED)
        return smaller(
            best, in_whole_votes(self.votes, self.change, known.needed, rounded, target, weakly, clock, below)
        )

    def _no_dearer(self, answers: list[Answer], clock: Clock) -> list[Answer]:
        """Return answers whose share is at most that of the whole votes that are enough."""
        for k, answer in enumerate(answers):
            plan = answer.whole.plan
            share = answer.whole.sufficient / self.votes.total
            if plan is not None and share < answer.upper:
                answers[k] = replace(answer, upper=share, plan=plan, after=self._after(plan, answer.aim, clock))
        return chained(answers)

    def _whole_by_engine(self, answers: Sequence[Answer], clock: Clock) -> list[Whole]:
        """Return the engine's bounds in whole votes, with verified plans."""
        known = [Whole(0.0)] * len(answers)
        todo = [
            k
            for k, answer in enumerate(answers)
            if math.isfinite(answer.lower) and (answer.plan is None or plan_votes(answer.plan))
        ]
        if self.engine.whole is None or not todo or not self.before.status.is_exact:
            return known
        if isinstance(self.statistic, Robust) and self.engine.rounds:  # tiers have no ties that an engine would tell
            for k in todo:
                known[k] = self._rounded_at_once(answers[k], clock)
            todo = [k for k in todo if known[k].plan is None]
        if not todo:
            return known
        part = _without_rows(clock, len(todo))
        if all(answer.plan is None for answer in answers) and not self.engine.by_search:
            part = _with_time_for_a_search(part)
        results: dict[int, Whole] = {}
        for before, group, aims in self._optima.by_start([answer.aim for answer in answers], todo):
            found = [Found(answers[k].lower, answers[k].upper, answers[k].plan, answers[k].tie_plan) for k in group]
            counted = self.engine.whole(self.votes, before, aims, self.change, found, part)
            results.update(zip(group, counted, strict=True))
        for k, whole in results.items():
            works = partial(self._works, answers[k].aim, clock)
            plan = whole.plan if whole.plan is not None and _is_whole(whole.plan) and works(whole.plan) else None
            tie = whole.tie_plan
            tie = tie if tie is not None and _is_whole(tie) and works(tie, weakly=True) else None
            known[k] = replace(whole, plan=plan, tie_plan=tie)
        return known


class _Moment:
    """A moment for last checks of some answers once the time is over; it begins with the first question."""

    def __init__(self, clock: Clock, answers: int) -> None:
        self._clock, self._answers, self._stop = clock, answers, math.inf

    def lasts(self) -> bool:
        """Whether there is still time for one."""
        if math.isinf(self._stop):
            self._stop = monotonic() + _last_look(self._clock, self._answers)
        return monotonic() < self._stop


def _last(clock: Clock, seconds: float) -> float:
    """Return the seconds for final work once the time is over; fewer after Ctrl-C."""
    return min(seconds, AFTER_A_SIGNAL) if clock.interrupted else seconds


def _with_time_for_a_search(clock: Clock) -> Clock:
    """Return a clock that leaves time to find any attack by search."""
    left = clock.seconds_left()
    return clock if math.isinf(left) else Clock(max(left - _LAST_SEARCH, left / 4, 0.0), within=clock)


def _last_look(clock: Clock, rows: int) -> float:
    """Return the seconds for checks of all answers once the time is over: none where the rest takes as long."""
    return max(_last(clock, _LAST_LOOK) - _ONE_ROW * rows, 0.0)


def _without_rows(clock: Clock, rows: int) -> Clock:
    """Return a clock that leaves time for the work on so many answers; at least a quarter of the time is its own."""
    left = clock.seconds_left()
    return clock if math.isinf(left) else Clock(max(left - _ONE_ROW * rows, left / 4, 0.0), within=clock)


def _is_whole(plan: Plan) -> bool:
    return all(bool((np.rint(part) == part).all()) for part in (plan.removed, plan.added))
