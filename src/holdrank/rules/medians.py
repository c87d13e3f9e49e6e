"""Medians under any metric: the ranking with the smallest mean distance to the votes, from a list of all rankings."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import cast

import numpy as np

from holdrank.arrays.tolerances import TIED
from holdrank.errors import UsageError, quote
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.consensus import Consensus, expect_votes
from holdrank.rules.metrics import Distances, Metric, MetricLike, all_orders_listed, distances, ranking_indices
from holdrank.status import Status
from holdrank.votes.votes import Votes
from holdrank.words.names import ballot_text

_ROWS = 512  # of a table of distances, turned into floating point at a time


@dataclass(frozen=True, slots=True)
class Median:
    """The median under a metric: the strict ranking with the smallest mean distance to the votes.

    A statistic like `kemeny`, for up to 7 items: it lists all n! rankings. Ballots must be strict and complete.

    Parameters
    ----------
    metric : str, callable, matrix or Metric
        "kendall", "cayley", "ulam", "hamming", "footrule", "spearman_rho" or "weighted_kendall"; a function of two
        `Ranking` (up to 5 items); or a matrix over all strict rankings in the order of `all_rankings` (up to 6 items).
        Anything that is not a metric is refused.

    Notes
    -----
    Among several medians the lexicographically first is reported, and `unique` is False. Paper: ranking medians for
    any metric (Section 2.1).

    Examples
    --------
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "b", "a"]], weights=[5, 3, 3])
    >>> Median("hamming")(votes).text(), Median("kendall")(votes).text()
    ('a > b > c', 'b > c > a')
    """

    metric: Metric

    def __init__(self, metric: MetricLike) -> None:
        object.__setattr__(self, "metric", Metric.of(metric))

    @property
    def __name__(self) -> str:
        return "-".join(f"{self.metric.name}_median".split("_"))

    def __call__(self, votes: Votes, /) -> Consensus:
        """Return the median of the votes."""
        started = perf_counter()
        found = Losses.of(votes, self)
        best = found.optima()
        table = found.table
        notes = () if table.invariant else (f"{self.metric.name} is not the same for all labellings of the items",)
        loss = float(found.values[best[0]]) / (votes.total * table.unit)
        return Consensus(
            ranking=Ranking.from_order(found.orders[int(best[0])]),
            items=votes.items,
            loss=loss,
            bound=loss,
            distance=self.metric.name,
            status=Status.PROVED,
            unique=len(best) == 1,
            proof=f"all {len(found.values):,} rankings compared",
            seconds=perf_counter() - started,
            notes=notes,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """The cost of every ranking.

    Attributes
    ----------
    table : Distances
    orders : tuple of tuple
        All rankings, best first, in lexicographic order.
    kinds : (distinct,) array
        Which ranking each distinct ballot is.
    values : (n!,) array
        The sum of the distances to all votes, not normalised.
    tolerance : float
        Difference up to which two sums count as equal; 0 where sums are exact.
    """

    table: Distances
    orders: tuple[tuple[int, ...], ...]
    kinds: Ints
    values: Floats
    tolerance: float

    @classmethod
    def of(cls, votes: Votes, median: Median) -> Losses:
        """Return the cost of every ranking under the metric of a median."""
        expect_votes(votes, median.__name__)
        table = distances(median.metric, votes.n)
        kinds = strict_ballots(votes, median)
        values = np.concatenate(
            [
                table.between[start : start + _ROWS, kinds].astype(np.float64) @ votes.weights
                for start in range(0, len(table.between), _ROWS)
            ]
        )
        exact = votes.is_counts and table.whole and votes.total * table.unit < 2**53
        tolerance = 0.0 if exact else TIED * float(values.max())
        return cls(table, all_orders_listed(votes.n), kinds, values, tolerance)

    def optima(self) -> Ints:
        """Return the cheapest rankings, in lexicographic order."""
        return np.flatnonzero(self.values <= self.values.min() + self.tolerance)


def median_optima(votes: Votes, median: Median, most: int) -> list[Ranking] | None:
    """Return every ranking as good as the median; None when there are more than `most`."""
    found = Losses.of(votes, median)
    best = found.optima()
    return None if len(best) > most else [Ranking.from_order(found.orders[int(at)]) for at in best]


def strict_ballots(votes: Votes, median: Median) -> Ints:
    """Return which of all rankings each distinct ballot is; refuse ties and gaps."""
    ranks: Ints = np.array(votes.ranks, dtype=np.int64)
    if not votes.observed:
        one_left = (ranks == 0).sum(axis=1) == 1  # the last place may be left open
        ranks[one_left] = np.where(ranks[one_left] == 0, votes.n, ranks[one_left])
    strict = (np.sort(ranks, axis=1) == np.arange(1, votes.n + 1)).all(axis=1)
    if not strict.all():
        first = cast("list[int]", votes.ranks[int(np.flatnonzero(~strict)[0])].tolist())
        raise UsageError(
            f"{median.metric.name} compares strict rankings of all {votes.n} items, and the ballot "
            f"{quote(ballot_text(first, votes.items))} has ties or leaves items out",
            repair="drop such ballots, or use kemeny, borda or footrule, which allow ties and gaps",
        )
    return ranking_indices(np.argsort(ranks, axis=1))
