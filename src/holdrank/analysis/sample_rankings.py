"""The engine behind `bootstrap`: many draws ranked at once, exactly as the statistic ranks each.

For a rule that depends only on sums over ballots (pairs, places), one matrix product gives the sums of many draws:
drawn weights times a table with one row per ballot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from holdrank.analysis.sampling import NUMBERS_AT_A_TIME, drawn_numbers, most_drawn
from holdrank.rankings import Floats, Ints, Ranking, mean_places
from holdrank.rules.consensus import Statistic, by_scores, kemeny
from holdrank.rules.kemeny import cheapest_order, cheapest_ranks
from holdrank.rules.kemeny.batch import MOST_ITEMS as MOST_IN_BATCH
from holdrank.rules.merges import MERGES, Robust
from holdrank.rules.registry import equip, rule_of
from holdrank.rules.scores import majorities, score_tolerance, score_units, scores_of, tied_by_fractions
from holdrank.rules.solvers.assignment import assign
from holdrank.rules.strengths import RIDGE, Mask, strength_tolerance, strengths, strengths_near
from holdrank.status import Clock
from holdrank.votes.votes import Votes

_MOST_KEPT = 1 << 23  # numbers of a table that is made once and kept


OfPair: TypeAlias = Callable[[Ints, Ints], Floats]  # the preference of ballots on pairs, by the ranks of both items


class _Sums:
    """Sums over drawn ballots of a table with one row per ballot; exact, because the table holds small whole numbers.

    Attributes
    ----------
    columns : int
        Number of sums.
    """

    def __init__(self, votes: Votes, columns: int, largest: int, table: Callable[[Ints], Floats]) -> None:
        self.columns = columns
        self._ballots, self._table = votes.ballots, table
        # Whole numbers add up without rounding in single precision up to here, in half the time.
        self._type: Any = np.float32 if most_drawn(votes) * largest < 2**24 else np.float64
        rows = max(1, NUMBERS_AT_A_TIME // max(columns, 1))
        self._blocks = [slice(at, at + rows) for at in range(0, votes.distinct, rows)]
        keep = votes.distinct * columns <= _MOST_KEPT
        self._kept = [self._rows(block) for block in self._blocks] if keep else []

    def __call__(self, weights: Ints) -> Floats:
        """Return the sums of each row of drawn weights."""
        sums = np.zeros((len(weights), self.columns), dtype=self._type)
        for at, block in enumerate(self._blocks):
            sums += weights[:, block].astype(self._type) @ (self._kept[at] if self._kept else self._rows(block))
        return sums.astype(np.float64)

    def _rows(self, block: slice) -> Any:
        return self._table(self._ballots.take(block).matrix()).astype(self._type)


class _Battles:
    """The same sums for ballots over two items, each of which compares one pair."""

    def __init__(self, votes: Votes, columns: int, of_pair: OfPair) -> None:
        self.columns = columns
        n = votes.n
        rows = max(1, NUMBERS_AT_A_TIME // n)
        found: list[tuple[Ints, Ints, Floats]] = []
        for at in range(0, votes.distinct, rows):
            ranks = votes.ballots.take(slice(at, at + rows)).matrix()
            ballot = np.flatnonzero((ranks != 0).sum(axis=1) == 2)
            first, second = np.nonzero(ranks[ballot])[1].reshape(-1, 2).T
            # Pairs stand as in `triu_indices`: those of item 0, then those of item 1, and so on.
            column = first * (2 * n - first - 1) // 2 + second - first - 1
            value = of_pair(ranks[ballot, first], ranks[ballot, second])
            found.append((ballot[value != 0] + at, column[value != 0], value[value != 0]))
        ballot, column, value = (np.concatenate(part) for part in zip(*found, strict=True))
        order = np.argsort(column, kind="stable")
        self._ballot, self._value = ballot[order], value[order]
        self._column, self._start = np.unique(column[order], return_index=True)

    def __call__(self, weights: Ints) -> Floats:
        """Return the sums of each row of drawn weights."""
        sums = np.zeros((len(weights), self.columns))
        if self._column.size:
            sums[:, self._column] = np.add.reduceat(weights[:, self._ballot] * self._value, self._start, axis=1)
        return sums


class Route:
    """From drawn weights to rankings: what is summed, and how sums become ranks. This one calls the statistic."""

    def __init__(self, votes: Votes, T: Statistic, clock: Clock) -> None:
        self.votes, self.statistic, self.clock = votes, T, clock
        self.columns = votes.distinct

    def obey(self, clock: Clock) -> None:
        """Use another clock from now on."""
        self.clock = clock

    def sums(self, weights: Ints) -> Floats:
        """Return what the statistic depends on, one row per draw."""
        return weights.astype(np.float64)

    def ranks(self, sums: Floats) -> tuple[Ints, Mask]:
        """Return dense ranks for each row of sums, and whether they are proved."""
        ranks: list[Ints] = []
        proved: list[bool] = []
        for weights in sums:
            if ranks and self.clock.over():
                break
            found = self.statistic(self.votes.with_weights(weights))
            ranks.append(found.ranking.ranks)
            proved.append(found.status.is_exact)
        return np.array(ranks), np.array(proved)


class _ByPairs(Route):
    """For statistics of the pairwise wins: margins for i < j, and where asked the weights that compare i and j."""

    def __init__(self, votes: Votes, T: Statistic, clock: Clock, *, both: bool) -> None:
        super().__init__(votes, T, clock)
        self._i, self._j = np.triu_indices(votes.n, 1)
        gaps = not votes.compares_all
        vary = gaps or votes.groups is not None  # how many votes compare a pair, in a draw
        asked: list[OfPair] = [self._margin, self._compared] if both and vary else [self._margin]
        battles = gaps and bool((votes.ballots.listed <= 2).all())
        self._sums: list[_Sums | _Battles] = [
            _Battles(votes, len(self._i), of_pair) if battles else _Sums(votes, len(self._i), 1, self._table(of_pair))
            for of_pair in asked
        ]
        self.columns = len(asked) * len(self._i)

    def sums(self, weights: Ints) -> Floats:
        return np.concatenate([part(weights) for part in self._sums], axis=1)

    def ranks(self, sums: Floats) -> tuple[Ints, Mask]:
        done = []
        rows = max(1, NUMBERS_AT_A_TIME // (8 * self.votes.n**2))
        for at in range(0, len(sums), rows):
            done.append(self._some_ranks(sums[at : at + rows]))
            if self.clock.over():
                break
        return np.concatenate([ranks for ranks, _ in done]), np.concatenate([proved for _, proved in done])

    def margins(self, sums: Floats) -> Floats:
        """Return the matrices ``W - W.T``."""
        return self._square(sums[:, : len(self._i)], -1.0)

    def wins(self, sums: Floats) -> Floats:
        """Return the matrices W."""
        compared = sums[:, len(self._i) :] if len(self._sums) > 1 else np.full((1, len(self._i)), self.votes.total)
        return np.asarray((self._square(compared, 1.0) + self.margins(sums)) / 2)

    def _square(self, pairs: Floats, mirrored: float) -> Floats:
        full = np.zeros((len(pairs), self.votes.n, self.votes.n))
        full[:, self._i, self._j] = pairs
        full[:, self._j, self._i] = mirrored * pairs
        return full

    def _table(self, of_pair: OfPair) -> Callable[[Ints], Floats]:
        return lambda ranks: of_pair(ranks[:, self._i], ranks[:, self._j])

    def _margin(self, first: Ints, second: Ints) -> Floats:
        last = self.votes.n + 1
        signs = np.sign(np.where(second > 0, second, last) - np.where(first > 0, first, last))
        if self.votes.observed:
            signs *= (first > 0) & (second > 0)
        return np.asarray(signs, dtype=np.float64)

    def _compared(self, first: Ints, second: Ints) -> Floats:
        if not self.votes.observed:
            return np.ones(first.shape)
        return ((first > 0) & (second > 0)).astype(np.float64)

    def _some_ranks(self, sums: Floats) -> tuple[Ints, Mask]:
        """Sort by pairwise wins."""
        return _ranks_of(-self.wins(sums).sum(axis=-1)), _all(sums)


class _Kemeny(_ByPairs):
    def _some_ranks(self, sums: Floats) -> tuple[Ints, Mask]:
        return _kemeny_ranks(self.margins(sums), self.clock)


class _Copeland(_ByPairs):
    def _some_ranks(self, sums: Floats) -> tuple[Ints, Mask]:
        return _ranks_of(-majorities(self.margins(sums))), _all(sums)


class _Strengths(_ByPairs):
    def __init__(self, votes: Votes, T: Statistic, clock: Clock, *, both: bool) -> None:
        super().__init__(votes, T, clock, both=both)
        shares = votes.wins() / votes.total
        self._near, _ = strengths(shares, RIDGE)  # where each draw starts from
        self._compared_shares = shares + shares.T

    def _some_ranks(self, sums: Floats) -> tuple[Ints, Mask]:
        fitted = strengths_near(self.wins(sums) / self.votes.total, RIDGE, self._near, self._compared_shares)
        return np.array([by_scores(s, strength_tolerance(s))[0].ranks for s in fitted]), _all(sums)


class _ByPlaces(Route):
    """For `borda` where every ballot gives a place to every item; places are doubled."""

    def __init__(self, votes: Votes, T: Statistic, clock: Clock) -> None:
        super().__init__(votes, T, clock)
        self.columns = self._row()
        self.sums = _Sums(votes, self.columns, 2 * votes.n, self._table)  # type: ignore[method-assign]

    def ranks(self, sums: Floats) -> tuple[Ints, Mask]:
        return _ranks_of(sums), _all(sums)

    def _row(self) -> int:
        return self.votes.n

    def _table(self, ranks: Ints) -> Floats:
        return np.asarray(2 * mean_places(np.where(ranks > 0, ranks, self.votes.n + 1)))


class _ByCosts(_ByPlaces):
    """For `footrule`: what each place costs each item, doubled."""

    def ranks(self, sums: Floats) -> tuple[Ints, Mask]:
        n = self.votes.n
        return np.array([assign(cost.reshape(n, n), 0.0).place + 1 for cost in sums]), _all(sums)

    def _row(self) -> int:
        return self.votes.n**2

    def _table(self, ranks: Ints) -> Floats:
        halves = super()._table(ranks)[:, :, None]  # a half place is one half of each of its neighbours
        place = np.arange(1, self.votes.n + 1)
        costs = np.abs(np.floor(halves / 2) - place) + np.abs(np.ceil(halves / 2) - place)
        return np.asarray(costs.reshape(len(ranks), -1))


class _ByScores(Route):
    """For `mean_score`: the sums of the scores, in whole units if there are such, and of the weights that gave one."""

    def __init__(self, votes: Votes, T: Statistic, clock: Clock) -> None:
        super().__init__(votes, T, clock)
        scores, units = scores_of(votes), score_units(votes)
        given = ~np.isnan(scores)
        self._exact = units is not None
        self._table = np.hstack((np.where(given, scores, 0.0) if units is None else units[0], given), dtype=np.float64)
        self._least = -np.inf if self._exact else float(np.nanmin(scores)) - 1.0
        self.columns = 2 * votes.n

    def sums(self, weights: Ints) -> Floats:
        return np.asarray(weights @ self._table)

    def ranks(self, sums: Floats) -> tuple[Ints, Mask]:
        total, heard = sums[:, : self.votes.n], sums[:, self.votes.n :]
        means = np.divide(total, heard, out=np.full_like(total, self._least), where=heard > 0)
        if not self._exact:
            return np.array([by_scores(row, score_tolerance(row))[0].ranks for row in means]), _all(sums)
        ranks = _ranks_of(-means)
        # A quotient of whole numbers is rounded once: those that differ are in order, and equal ones may yet differ.
        descending = np.sort(means, axis=1)
        for row in np.flatnonzero((descending[:, 1:] == descending[:, :-1]).any(axis=1)).tolist():
            tied = tied_by_fractions(total[row].astype(np.int64).tolist(), heard[row].astype(np.int64).tolist())
            ranks[row] = Ranking.from_order(tied.order).ranks
        return ranks, _all(sums)


class _Merged(Route):
    """For `Robust`: the sums of its base, and those of the pairs, by which it merges."""

    def __init__(self, votes: Votes, T: Robust, theta: float, clock: Clock) -> None:
        super().__init__(votes, T, clock)
        self._base = route_of(votes, T.base, clock, both=True)
        self._shared = isinstance(self._base, _ByPairs)
        self._pairs = self._base if isinstance(self._base, _ByPairs) else _ByPairs(votes, T, clock, both=True)
        self._merge, self._pairwise = MERGES[T.merge], rule_of(T.base).pairwise
        self._theta = theta
        self.columns = self._base.columns + (0 if self._shared else self._pairs.columns)

    def obey(self, clock: Clock) -> None:
        self.clock = clock
        self._base.obey(clock)
        self._pairs.obey(clock)

    def sums(self, weights: Ints) -> Floats:
        sums = self._base.sums(weights)
        return sums if self._shared else np.concatenate((sums, self._pairs.sums(weights)), axis=1)

    def ranks(self, sums: Floats) -> tuple[Ints, Mask]:
        ranks, proved = self._base.ranks(sums[:, : self._base.columns])
        merged = []
        for row, strict in zip(sums[: len(ranks), -self._pairs.columns :], ranks, strict=True):
            P = self._pairwise(self._pairs.wins(row[None])[0], self.votes.total)
            merged.append(self._merge(P, Ranking(strict), self._theta).ranks)
        return np.array(merged), proved


def pair_margins(votes: Votes) -> Callable[[Ints], Floats]:
    """Return a function from drawn weights to the margins of all pairs i < j, in the order of ``triu_indices``."""
    return _ByPairs(votes, kemeny, Clock(None), both=False).sums


def route_of(votes: Votes, T: Statistic, clock: Clock, *, both: bool = False) -> Route:
    """Return the fastest way from drawn weights to the rankings of a statistic.

    With `both` the weights that compare a pair are summed too, where pairs are.
    """
    if isinstance(T, Robust) and T.theta != "auto":  # the best threshold is another one for every draw
        return _Merged(votes, T, T.theta, clock)
    draws: Draws | None = rule_of(T).draws
    found = None if draws is None else draws(votes, T, clock, both)
    return found or Route(votes, T, clock)


Draws: TypeAlias = Callable[[Votes, Statistic, Clock, bool], Route | None]


def _of_strengths(votes: Votes, T: Statistic, clock: Clock, both: bool) -> Route:  # noqa: ARG001
    kind = _ByPairs if votes.compares_all else _Strengths
    return kind(votes, T, clock, both=True)


def _of_points(votes: Votes, T: Statistic, clock: Clock, both: bool) -> Route | None:  # noqa: ARG001
    if not votes.compares_all:
        return _ByPairs(votes, T, clock, both=True)
    return _ByPlaces(votes, T, clock) if _sums_of_places_fit(votes) else None


def _of_costs(votes: Votes, T: Statistic, clock: Clock, both: bool) -> Route | None:  # noqa: ARG001
    return _ByCosts(votes, T, clock) if _sums_of_places_fit(votes) else None


def _of_scores(votes: Votes, T: Statistic, clock: Clock, both: bool) -> Route | None:  # noqa: ARG001
    return _ByScores(votes, T, clock) if _sums_of_scores_fit(votes) else None


equip("kemeny", draws=lambda votes, T, clock, both: _Kemeny(votes, T, clock, both=both))
equip("copeland", draws=lambda votes, T, clock, both: _Copeland(votes, T, clock, both=both))
equip("bradley-terry", draws=_of_strengths)
equip("borda", draws=_of_points)
equip("footrule", draws=_of_costs)
equip("mean-score", draws=_of_scores)


def _sums_of_places_fit(votes: Votes) -> bool:
    return most_drawn(votes) * 2 * votes.n < 2**53


def _sums_of_scores_fit(votes: Votes) -> bool:
    """Whether floats hold all sums of whole units of scores; True where scores are not in such units."""
    units = score_units(votes)
    return units is None or most_drawn(votes) * float(np.abs(units[0]).max(initial=1)) < 2**53


def _kemeny_ranks(margins: Floats, clock: Clock) -> tuple[Ints, Mask]:
    """Return Kemeny's median under each matrix of margins, as `kemeny` does: component by component, all at once."""
    size, n, _ = margins.shape
    scores = majorities(margins)
    by_score = np.argsort(-scores, axis=1, kind="stable")
    k = np.arange(1, n + 1)
    # As in `components`: the k highest scores beat all others exactly when their sum is as large as it can be.
    ends = np.cumsum(np.take_along_axis(scores, by_score, axis=1), axis=1) == k * (k - 1) / 2 + k * (n - k)
    draw, end = np.nonzero(ends)
    start = np.where(np.diff(draw, prepend=-1) > 0, 0, np.roll(end, 1) + 1)
    ranks = np.empty((size, n), dtype=np.int64)
    proved = np.ones(size, dtype=bool)
    for length in np.unique(end - start + 1).tolist():
        here = end - start + 1 == length
        row, first = draw[here], start[here]
        members = np.sort(by_score[row[:, None], first[:, None] + np.arange(length)], axis=1)
        won = np.maximum(margins[row[:, None, None], members[:, :, None], members[:, None, :]], 0.0)
        inner = np.ones((len(row), 1), dtype=np.int64)
        if 1 < length <= MOST_IN_BATCH:
            inner, _ = cheapest_ranks(won)
        elif length > 1:
            solved = [cheapest_order(part.T, whole=True, clock=clock) for part in won]
            inner = np.argsort([part.order for part in solved], axis=1) + 1
            proved[row[[not part.proved for part in solved]]] = False
        ranks[row[:, None], members] = first[:, None] + inner
    return ranks, proved


def _ranks_of(costs: Floats) -> Ints:
    """Return the ranks of items sorted by rising cost, equal ones in the order of their numbers."""
    return np.argsort(np.argsort(costs, axis=1, kind="stable"), axis=1) + 1


def _all(sums: Floats) -> Mask:
    return np.ones(len(sums), dtype=bool)


def rows_at_a_time(votes: Votes, route: Route) -> int:
    """Return how many draws fit into memory at once."""
    return max(1, NUMBERS_AT_A_TIME // int(max(drawn_numbers(votes), route.columns, votes.n**2)))
