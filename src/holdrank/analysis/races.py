"""How many votes are needed to overtake: first bounds for all races at once, then tighter ones as time allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeAlias

from holdrank.analysis.records import Record
from holdrank.analysis.voters import VoterEffects, voter_effects
from holdrank.attacks import goals
from holdrank.attacks.answers import attack
from holdrank.attacks.bradley_terry.engine import Known
from holdrank.attacks.engines import exact_engine
from holdrank.attacks.optima import reaches
from holdrank.attacks.results import amounts
from holdrank.attacks.voters import VoterAttack, voter_attack
from holdrank.rankings import Ranking
from holdrank.rules.consensus import Statistic
from holdrank.rules.merges import consensus_of
from holdrank.status import Clock, Status
from holdrank.votes.changes import Change, ChangeName
from holdrank.votes.votes import Votes
from holdrank.words.prices import AMOUNTS

Say: TypeAlias = Callable[[int, int], None]  # progress: how many are done, of how many

_TOO_SHORT = 0.05  # seconds: not worth a try
_CLOSER = 2.0  # seconds for closer bounds on one goal, or its part of the time where that is more


def neighbours(ranking: Ranking, items: Sequence[str]) -> list[goals.Goal]:
    """Return the goals that each item but the first has: to come above the one before it."""
    order = ranking.order
    return [goals.Above(items[b], items[a]) for a, b in pairwise(order)]


def has_quick_bounds(votes: Votes, T: Statistic) -> bool:
    """Whether many goals can be priced at once."""
    engine = exact_engine(T, votes)
    return engine is not None and engine.quick is not None


class Prices:
    """Bounds on the votes for each of several goals, as rows of a record.

    Attributes
    ----------
    rows : list of dict
        ``lower`` and ``upper`` as shares, the others as whole votes; ``known`` where anything is.
    cut_short : Status or None
        Why some bounds were not tightened.
    """

    def __init__(self, votes: Votes, T: Statistic, before: Ranking, asked: Sequence[goals.Goal]) -> None:
        self.votes, self.T, self.before, self.asked = votes, T, before, asked
        self.rows: list[Record] = []
        self.cut_short: Status | None = None
        self._closer = 0  # rows that were refined

    def one_by_one(self, clock: Clock, say: Say, *, least: float = 0.0) -> None:
        """Attack one goal after the other, each with its share of the time, but at least `least` seconds if left.

        An attack may take a moment longer than its time, so the last one begins early enough.
        """
        for done, goal in enumerate(self.asked):
            left = clock.seconds_left() / (len(self.asked) - done)
            left = min(max(left, least), clock.seconds_left())
            if left < _TOO_SHORT or clock.over() or (done and clock.seconds_left() < 2 * least):
                self.cut_short = Status.BETWEEN_TIME_LIMIT
                self.rows.append({**dict.fromkeys(AMOUNTS), "known": False})
                continue
            say(done, len(self.asked))
            self.rows.append(self._attacked(goal, left))

    def quickly(self, clock: Clock, say: Say) -> None:
        """Find first bounds for every goal, unless the time limit is reached."""
        engine = exact_engine(self.T, self.votes)
        assert engine is not None
        assert engine.quick is not None
        for done, goal in enumerate(self.asked):
            say(done, len(self.asked))
            aim = goal.aim(self.before, self.votes.items)
            (found,) = engine.quick(self.votes, self.before, [aim], Change.REPLACE, clock)
            if clock.over():
                self.cut_short = Status.BETWEEN_TIME_LIMIT
            self.rows.append(self._row(found, shown=self._works(found, aim, clock)))

    def _works(self, found: Known, aim: goals.Aim, clock: Clock) -> bool:
        """Whether an attack reaches its aim when the rule is run on the attacked votes."""
        if found.plan is None:
            return False
        attacked = partial(found.plan.applied, self.votes)
        return reaches(aim, self.T, attacked, consensus_of(attacked(), self.T, None), clock)

    def _row(self, found: Known, *, shown: bool) -> Record:
        if found.undecided < 0:  # it was not computed
            return {**dict.fromkeys(AMOUNTS), "known": False}
        counts, total = self.votes.is_counts, self.votes.total
        enough = found.does if shown else math.inf
        ends = {
            "lower": found.fails / total,
            "upper": enough / total,
            "needed": found.whole_fails + 1 if counts else math.inf,
            "ties": (0.0 if found.whole_fails < 0 else enough) if counts else math.inf,
            "decides": found.undecided + 1 if counts else math.inf,
            "sufficient": enough if counts else math.inf,
        }
        return {**{name: float(end) if math.isfinite(end) else None for name, end in ends.items()}, "known": True}

    def refine(self, clock: Clock, say: Say, *, most: int | None = None) -> int:
        """Tighten open bounds, in the order of the goals, up to a number of goals; return how many were done.

        Each goal has its own attack, whose bounds replace weaker ones.
        """
        last = len(self.rows) if most is None else min(most, len(self.rows))
        while self._closer < last:
            row = self.rows[self._closer]
            if not row["known"] or is_open(row, whole=self.votes.is_counts):
                left = clock.seconds_left()
                left = _CLOSER if math.isinf(left) else min(left, max(_CLOSER, left / (last - self._closer)))
                if left < _TOO_SHORT:
                    break
                say(self._closer, len(self.rows))
                row |= _nearer(row, self._attacked(self.asked[self._closer], left))
            self._closer += 1
        return self._closer

    @property
    def lacking(self) -> bool:
        """Whether a goal has no bound at one end: a range of two numbers is an answer."""
        end = "sufficient" if self.votes.is_counts else "upper"
        return any(not row["known"] or (row["lower"] is not None and row[end] is None) for row in self.rows)

    def _attacked(self, goal: goals.Goal, seconds: float) -> Record:
        limit = None if math.isinf(seconds) else seconds
        found = attack(self.votes, self.T, goal, time_limit=limit)
        row = {**amounts(found), "known": True}
        stopped = found.status in (Status.BETWEEN_TIME_LIMIT, Status.BETWEEN_INTERRUPTED)
        if stopped and is_open(row, whole=self.votes.is_counts):
            self.cut_short = found.status
        return row


def voters_who_matter(votes: Votes, T: Statistic, clock: Clock) -> tuple[VoterEffects, list[VoterAttack]]:
    """Return the effect of each voter on the first place, and how many must leave or vote differently to change it."""
    effects = voter_effects(votes, T)
    changes: tuple[ChangeName, ...] = ("drop", "replace")
    attacks: list[VoterAttack] = []
    for change in changes:
        left = max(clock.seconds_left(), 0.0) / (len(changes) - len(attacks))
        limit = None if math.isinf(left) else left
        attacks.append(voter_attack(votes, T, goals.NewWinner(), change=change, time_limit=limit))
    return effects, attacks


def is_open(row: Record, *, whole: bool) -> bool:
    """Whether the minimum number of votes, or the minimum share, is not known exactly."""
    least, most = (row["decides"], row["sufficient"]) if whole else (row["lower"], row["upper"])
    return least is not None and (most is None or most > least)


def _nearer(first: Record, second: Record) -> Record:
    """Return the better of two bounds at each end."""
    if second["lower"] is None:  # no change does it
        return second
    best: Record = {"known": True}
    for name in AMOUNTS:
        known = [row[name] for row in (first, second) if row[name] is not None]
        least = name in ("lower", "needed", "decides")
        best[name] = None if not known else max(known) if least else min(known)
    return best
