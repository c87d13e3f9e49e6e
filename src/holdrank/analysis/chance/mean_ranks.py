"""Mean ranks of the items of a score table: whether any differ (Friedman), and by how much they must (Nemenyi)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdrank.analysis.chance.p_values import chi_square_tail, range_quantile
from holdrank.rankings import Floats, mean_places
from holdrank.rules.scores import scores_of
from holdrank.votes.votes import Votes


@dataclass(frozen=True, slots=True, eq=False)
class MeanRanks:
    """What a critical-difference diagram draws.

    Attributes
    ----------
    level : float
    tasks : int
        Number of tasks that score all items; without any there is no result.
    values : (n,) array of float
        Mean rank of each item over those tasks, 1 is best; NaN without any task.
    friedman, friedman_p : float
        Friedman's statistic, corrected for ties, and its p-value; 0 and 1 where all ranks are tied.
    error : float
        The unit of Nemenyi's test: a difference of mean ranks over it is a range of standard normal numbers.
    critical_difference : float
        Mean ranks that differ by less are not separated; infinite without any task.
    """

    level: float
    tasks: int
    values: Floats
    friedman: float
    friedman_p: float
    error: float
    critical_difference: float

    @property
    def groups(self) -> list[list[int]]:
        """The items of each group that is not separated, best first."""
        return rank_groups(self.values, self.critical_difference)


def mean_ranks(votes: Votes, level: float) -> MeanRanks:
    """Return the mean ranks of a score table, over the tasks that score all items.

    Examples
    --------
    >>> rows = [[0.9, 0.7, 0.6], [0.8, 0.6, 0.7], [0.9, 0.8, 0.5], [0.7, 0.5, 0.4], [0.95, 0.7, 0.6]]
    >>> found = mean_ranks(Votes.from_score_rows(rows), 0.95)
    >>> found.values.tolist(), round(found.critical_difference, 3), found.groups
    ([1.0, 2.2, 2.8], 1.482, [[0, 1], [1, 2]])
    """
    scores, n = scores_of(votes), votes.n
    full = ~np.isnan(scores).any(axis=1)
    weights = votes.weights[full]
    tasks = round(float(weights.sum()))
    if not tasks:
        return MeanRanks(level, 0, np.full(n, np.nan), 0.0, 1.0, math.inf, math.inf)
    ranks = np.asarray(mean_places(-scores[full]))
    values = weights @ ranks / tasks
    spread = float(weights @ ((ranks - (n + 1) / 2) ** 2).sum(axis=1))
    statistic = (n - 1) * tasks**2 * float(((values - (n + 1) / 2) ** 2).sum()) / spread if spread else 0.0
    p = chi_square_tail(statistic, n - 1) if spread else 1.0
    error = math.sqrt(n * (n + 1) / (12 * tasks))
    return MeanRanks(level, tasks, values, statistic, p, error, range_quantile(level, n) * error)


def rank_order(values: Floats) -> tuple[int, ...]:
    """Return the items by mean rank, best first."""
    return tuple(np.argsort(values, kind="stable").tolist())


def rank_groups(values: Floats, critical: float) -> list[list[int]]:
    """Return runs of two or more items whose mean ranks all differ by less than the critical difference.

    No run is part of another.

    Examples
    --------
    >>> rank_groups(np.array([1.0, 2.0, 2.5, 4.5]), 1.8)
    [[0, 1, 2]]
    """
    order = rank_order(values)
    if np.isnan(values).any():
        return [list(order)] if len(order) > 1 else []
    rising = values[list(order)]
    found: list[list[int]] = []
    last = 0
    for start in range(len(order)):
        end = int(np.searchsorted(rising, rising[start] + critical, side="left"))
        while end > start + 1 and not rising[end - 1] - rising[start] < critical:
            end -= 1  # a sum is rounded, the difference decides
        if end - start > 1 and end > last:
            found.append(list(order[start:end]))
            last = end
    return found
