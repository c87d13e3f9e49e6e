"""Several optimal rankings: which of them reach an aim, and from which one an attack starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from holdrank.attacks.goals import Aim
from holdrank.rankings import Ranking
from holdrank.rules.consensus import Consensus, Statistic
from holdrank.rules.registry import rule_of
from holdrank.status import Clock
from holdrank.votes.votes import Votes

_LISTED = 200  # optima that are looked through


def reaches(
    aim: Aim, T: Statistic, votes: Callable[[], Votes], after: Consensus, clock: Clock, *, weakly: bool = False
) -> bool:
    """Whether every optimum that the consensus was chosen from fulfils an aim; with `weakly`, whether any of them does.

    False where that could not be decided. Rules that cannot tell their optima apart are judged by the reported one.
    """
    reported = aim.reached(after.ranking)
    if not after.status.is_exact or after.unique is True or reported is weakly:
        return after.status.is_exact and reported
    rule = rule_of(T)
    if rule.tied is not None:
        tied = rule.tied(votes())
        return aim.reached_by_some(tied) if weakly else aim.reached_by_all(tied)
    optima = None if rule.optima is None else rule.optima(votes(), _LISTED)
    if optima is not None:
        return (any if weakly else all)(aim.reached(other) for other in optima)
    decides = None if rule.engine is None else rule.engine.every_optimum
    if decides is None:
        return reported and after.unique is None
    return not weakly and decides(votes(), aim, after.ranking.order, clock)


class Optima:
    """The optima of the votes before an attack, asked about one aim after the other.

    The reported optimum may reach an aim, such as first place for an item, where others do not. Then the aim is not
    reached for sure, and engines start from an optimum that does not reach it.
    """

    def __init__(self, votes: Votes, T: Statistic, before: Consensus) -> None:
        self.votes, self.statistic, self.before = votes, T, before
        self._reached: dict[Aim, bool] = {}
        self._starts: dict[Aim, Ranking | None] = {}

    def all_reach(self, aim: Aim, clock: Clock) -> bool:
        """Whether every optimum reaches an aim; False where that could not be decided."""
        if not aim.reached(self.before.ranking):
            return False
        if not _is_about_places(aim):
            return True
        if aim not in self._reached:
            self._reached[aim] = reaches(aim, self.statistic, lambda: self.votes, self.before, clock)
        return self._reached[aim]

    def start(self, aim: Aim) -> Ranking | None:
        """Return an optimum that does not reach an aim, the reported one where possible; None if none is known."""
        if not aim.reached(self.before.ranking):
            return self.before.ranking
        if aim not in self._starts:
            self._starts[aim] = self._without(aim)
        return self._starts[aim]

    def _without(self, aim: Aim) -> Ranking | None:
        rule = rule_of(self.statistic)
        if rule.tied is not None:
            other = _far_from(aim, rule.tied(self.votes))
            return None if aim.reached(other) else other
        optima = None if rule.optima is None else rule.optima(self.votes, _LISTED)
        return next((other for other in optima or () if not aim.reached(other)), None)

    def by_start(self, aims: Sequence[Aim], asked: Sequence[int]) -> list[tuple[Ranking, list[int], list[Aim]]]:
        """Group aims by the optimum they start from: the optimum, the numbers of the aims, the aims seen from it."""
        groups: dict[Ranking, list[int]] = {}
        for k in asked:
            start = self.start(aims[k])
            if start is not None:
                groups.setdefault(start, []).append(k)
        return [(start, group, [replace(aims[k], before=start) for k in group]) for start, group in groups.items()]


def _is_about_places(aim: Aim) -> bool:
    """Whether an aim names places of items; all others compare with the reported optimum."""
    return bool(aim.above or aim.newcomers or aim.leaver)


def _far_from(aim: Aim, tied: Ranking) -> Ranking:
    """Return the ranking that breaks ties as far from an aim as they allow, then by number."""
    items = np.arange(tied.n)
    late, early = np.isin(items, [*aim.above[:1], *aim.newcomers]), np.isin(items, aim.leaver)
    return Ranking.from_order(np.lexsort((late.astype(np.int64) - early, tied.ranks)).tolist())
