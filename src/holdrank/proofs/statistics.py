"""A statistic in whole numbers: what it reports, and the cost of other results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, permutations

import numpy as np

from holdrank.arrays.tolerances import TIED
from holdrank.attacks.goals import Aim
from holdrank.attacks.plans import adds_battles
from holdrank.proofs import exact
from holdrank.proofs.borders import MOST_WORK, Borders
from holdrank.proofs.bounds import Amount, Ground, battles, extremes, rankings
from holdrank.proofs.exact import Cheapest, ExactVotes, Order
from holdrank.proofs.movements import sharpened
from holdrank.proofs.programs import Outcome, program, strict, tiers
from holdrank.proofs.races import Races
from holdrank.proofs.search import Proof, proves
from holdrank.proofs.strengths import Enclosed
from holdrank.rules.consensus import Statistic
from holdrank.rules.merges import Robust, ballots_for, base_of
from holdrank.rules.registry import equip, rule_of
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

LISTED = 7  # items: up to here all optimal orders are listed
_TIED = Fraction(TIED)
_BY_COST = {"kemeny": exact.pair_costs, "footrule": exact.place_costs}
_BY_SCORES = {"borda": exact.borda_scores, "copeland": exact.copeland_scores, "mean-score": exact.total_scores}
for _name in (*_BY_COST, *_BY_SCORES):
    equip(_name, proof=_name)
_STRENGTHS = "strengths"  # which are not whole numbers, but can be enclosed
equip("bradley-terry", proof=_STRENGTHS)

_LARGEST = 2**52  # scores in whole units, so that their differences fit the tables


class Exactly:
    """One statistic on some votes.

    Attributes
    ----------
    given : Votes
    votes : Votes
        The same as the statistic uses them: without scores, if it uses none.
    base : str or None
        The median, or the base of a merge, by its name in the proofs; None if they do not support it.
    """

    def __init__(self, votes: Votes, T: Statistic) -> None:
        self.given, self.votes, self.T = votes, ballots_for(T, votes), T
        self.base = known_base(T, votes)
        self.theta = float(T.theta) if isinstance(T, Robust) else None
        self.merge = T.merge if isinstance(T, Robust) else ""

    @cached_property
    def exact(self) -> ExactVotes:
        """The votes in whole numbers."""
        return self.exactly(self.votes)

    def exactly(self, votes: Votes) -> ExactVotes:
        """Return votes in whole numbers."""
        return ExactVotes.of_scores(votes) if self.base == "mean-score" else ExactVotes.of(votes)

    @cached_property
    def ranked(self) -> ExactVotes:
        """The rankings of the votes in whole numbers, even if the statistic uses scores."""
        return ExactVotes.of(self.votes)

    @cached_property
    def strengths(self) -> Enclosed | None:
        """The strengths of the items, enclosed; None for other rules, and where strengths need not be fitted."""
        return enclosed(self.T, self.votes)

    @cached_property
    def races(self) -> Races | None:
        """What battles cannot do; None for other rules and other votes."""
        return None if self.strengths is None else Races.of(self.votes, self.strengths)

    def borders(self, ranks: Outcome, change: Change) -> Borders | None:
        """Return what single pairs prove about tiers of Kemeny's ranking; None for other rules, and too many votes."""
        few = self.votes.distinct * self.votes.n**2 <= MOST_WORK
        if self.base != "kemeny" or self.theta is None or self.theta >= 0.5 or self.merge == "smith" or not few:
            return None
        return Borders(self.exact, ranks, self.theta, change)

    @cached_property
    def one_ballot(self) -> int | None:
        """The most units by which one ballot prefers one outcome to another; None if the rule has no such limit.

        A unit is the least by which outcomes can differ on counted votes: half a pair, half a place, half a point, or
        one step of the scores. Tiers and majorities may also depend on an exact tie.
        """
        n = self.votes.n
        if self.theta is not None or self.base in (None, "copeland"):
            return None
        if self.base == "mean-score":
            if not self._exact_means:
                return None
            scores = [score for row in self.exact.ballots for score in row]
            return max(max(scores) - min(scores), 1)
        return {"kemeny": n * (n - 1), "borda": 2 * (n - 1), "footrule": 2 * (n * n // 2)}[self.base] or 1

    @cached_property
    def _exact_means(self) -> bool:
        scores = self.votes.scores
        return self.votes.is_counts and scores is not None and exact.are_short_decimals(scores.tolist())

    def kinds(self, votes: Votes) -> dict[tuple[Fraction | int, ...], Fraction]:
        """Return the weight of each ballot that the statistic distinguishes."""
        weights: dict[tuple[Fraction | int, ...], Fraction] = {}
        rows: list[tuple[Fraction | int, ...]] = [tuple(row) for row in votes.ranks.tolist()]
        if self.base == "mean-score" and votes.scores is not None:
            rows = [tuple(row) for row in exact.scores_as_written(votes.scores.tolist())]
        for row, weight in zip(rows, votes.weights.tolist(), strict=True):
            weights[row] = weights.get(row, Fraction(0)) + Fraction(weight)
        return weights

    def never_ahead(self, aim: Aim) -> bool:
        """Whether no ballot gives any newcomer more points than any item that it must pass.

        Then none gets ahead by dropping votes; for rules that add up points, and goals that one such pair decides.
        """
        inside = [j for j in range(self.votes.n) if j not in aim.newcomers]
        pairs = [aim.above] if aim.above else [(i, j) for i in aim.newcomers for j in inside]
        if self.theta is not None or self.base not in ("borda", "mean-score"):
            return False
        if not aim.above and (not aim.newcomers or len(inside) != aim.top):
            return False
        for ballot in self.exact.ballots:
            alone = ExactVotes(self.exact.n, (ballot,), (1,), Fraction(1), self.exact.observed)
            points = exact.total_scores(alone) if self.base == "mean-score" else _points(alone, self.exact.has_places)
            if any(points[i] > points[j] for i, j in pairs):
                return False
        return True

    def medians(self, votes: ExactVotes) -> Cheapest:
        """Return the medians of votes: those of the base, for a merge."""
        assert self.base is not None
        if self.base in _BY_COST:
            return exact.cheapest(_BY_COST[self.base](votes))
        return exact.sorted_by(_BY_SCORES[self.base](votes))

    def is_median(self, order: Order) -> bool:
        """Whether an order is one of the medians of the original votes."""
        assert self.base is not None
        if self.base in _BY_COST:
            table = _BY_COST[self.base](self.exact)
            return table.of(order) == exact.cheapest(table).cost
        scores = _BY_SCORES[self.base](self.exact)
        return all(scores[a] >= scores[b] for a, b in pairwise(order))

    def consensus(self) -> Outcome:
        """Return what the statistic reports for the original votes."""
        if self.votes.n <= LISTED:
            return self.outcomes(self.exact, counts=self.votes.is_counts)[0]
        return self.merged(self.exact, self.medians(self.exact).order)

    def merged(self, votes: ExactVotes, order: Order) -> Outcome:
        """Return the ranks that are reported for a median."""
        if self.theta is None:
            return strict(order)
        return tiers(exact.merged(votes, order, self.theta, self.merge))

    def outcomes(self, votes: ExactVotes, *, counts: bool) -> list[Outcome]:
        """Return what the statistic may report: any optimum; for a merge, the one that it starts from."""
        if self.theta is not None:
            # The first of the optima is merged; with weights that are not counts, of those within rounding.
            first = self.medians(votes).order if counts else min(self._optima(votes, counts=False))
            return [self.merged(votes, first)]
        return [strict(order) for order in self._optima(votes, counts=counts)]

    def on_the_edge(self, votes: ExactVotes) -> set[Outcome]:
        """Return all merges of medians that are equal up to rounding, with a margin."""
        return {self.merged(votes, order) for order in self._optima(votes, counts=False, times=100)}

    def _optima(self, votes: ExactVotes, *, counts: bool, times: int = 1) -> Iterator[Order]:
        """Yield every order that may be reported; unless weights are counts, those within rounding of the best."""
        assert self.base is not None
        rounding = Fraction(0) if counts else _TIED * times
        n = votes.n
        if self.base in _BY_COST:
            table = _BY_COST[self.base](votes)
            costs = {order: table.of(order) for order in permutations(range(n))}
            # Costs are doubled here; the rules allow so much for each item.
            slack = rounding * 2 * n * (_most_wins(votes) if self.base == "kemeny" else votes.total)
            least = min(costs.values())
            yield from (order for order, cost in costs.items() if cost <= least + slack)
            return
        if self.base == "copeland":
            scores, slack = exact.copeland_scores(votes, rounding * _most_wins(votes)), Fraction(0)
        else:
            scores = _BY_SCORES[self.base](votes)
            # Scores that are not short decimals carry rounding errors, too.
            carried = self.base == "mean-score" and not self._exact_means
            slack = (_TIED / 10 if carried else rounding) * max(abs(score) for score in scores)
        for order in permutations(range(n)):
            if all(scores[a] >= scores[b] - slack for a, b in pairwise(order)):
                yield order

    def shown(self, change: Change, demand: Callable[[Outcome], Amount]) -> tuple[Proof, Ground]:
        """Show that votes with any outcome cost what is demanded; return also where."""
        assert self.base is not None
        n = self.votes.n
        if self.base == "mean-score":
            added = extremes(self.exact)
        else:
            added = battles(n) if adds_battles(self.votes) else rankings(n)
        ground = Ground(self.exact, change, added)
        base, theta, merge = self.base, self.theta, self.merge
        return proves(ground, lambda: program(ground, base, theta, merge), demand), ground


def _points(alone: ExactVotes, by_places: bool) -> list[int]:
    """Return Borda's points of one ballot: by its places, or, where those are not known of all, by pairwise wins."""
    if by_places:
        return exact.borda_scores(alone)
    n = alone.n
    return [sum(alone.compared[i][j] + alone.margins[i][j] for j in range(n) if j != i) for i in range(n)]


def enclosed(T: Statistic, votes: Votes) -> Enclosed | None:
    """Return the strengths of votes by Bradley and Terry; None for other rules, and where they need not be fitted."""
    if isinstance(T, Robust) or rule_of(T).on(votes).proof != _STRENGTHS:
        return None
    return sharpened(Enclosed.of_votes(votes))


def known_base(T: Statistic, votes: Votes) -> str | None:
    """Return the name of a statistic, or of the base of a merge, in the proofs; None if they do not support it."""
    name: str | None = rule_of(base_of(T)).on(votes).proof
    if name == "mean-score" and not _has_plain_scores(votes):
        return None
    if isinstance(T, Robust) and rule_of(T.base).probabilities is not None:
        return None
    if name == _STRENGTHS or (name in ("copeland", "mean-score") and isinstance(T, Robust)):
        return None
    return name


def _has_plain_scores(votes: Votes) -> bool:
    """Whether every voter scores every item, in numbers short enough for the tables of a proof."""
    if votes.scores is None or np.isnan(votes.scores).any():
        return False
    return all(abs(score) < _LARGEST for row in ExactVotes.of_scores(votes).ballots for score in row)


def _most_wins(votes: ExactVotes) -> Fraction:
    """Return the largest weight with which an item is above another."""
    rows = zip(votes.compared, votes.margins, strict=True)
    return Fraction(max(c + m for compared, margins in rows for c, m in zip(compared, margins, strict=True)), 2)
