"""Tests of score tables, task by task: every two items (McNemar, Wilcoxon), and all at once (Friedman, Nemenyi)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdrank.analysis.chance.mean_ranks import MeanRanks, mean_ranks, rank_groups, rank_order
from holdrank.analysis.chance.p_values import holm, range_tail, sign_test, signed_rank_test
from holdrank.analysis.chance.stepdown import Mask
from holdrank.errors import UsageError, quote, real_number
from holdrank.rankings import Floats
from holdrank.rules.consensus import expect_votes
from holdrank.rules.scores import scores_of
from holdrank.status import Tabular
from holdrank.votes.memo import close
from holdrank.votes.votes import Votes
from holdrank.words import chance as words


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PairedTests(Tabular):
    """Which items of a score table differ by more than chance, task by task; made by `paired_tests`.

    Attributes
    ----------
    items : tuple of str
        Names of the items; all arrays are in this order.
    test : str
        ``"mcnemar"`` for tables of 0 and 1, else ``"wilcoxon"``.
    level : float
        Confidence level, for all pairs together.
    tasks : int
        Number of tasks that scored all items; Friedman's and Nemenyi's tests use these.
    mean_ranks : array of float
        Mean rank of each item over those tasks; 1 is best.
    p_values : array of float
        ``p_values[i, j]``: p-value of the paired test of two items, Holm-corrected for all pairs.
    friedman, friedman_p : float
        Friedman's statistic, corrected for ties, and its p-value.
    critical_difference : float
        Nemenyi's critical difference: mean ranks that differ by less are not separated.
    nemenyi_p : array of float
        P-values of the differences of mean ranks, for all pairs at once.
    """

    items: tuple[str, ...]
    test: str
    level: float
    tasks: int
    mean_ranks: Floats
    p_values: Floats
    friedman: float
    friedman_p: float
    critical_difference: float
    nemenyi_p: Floats

    def __post_init__(self) -> None:
        close(self.mean_ranks, self.p_values, self.nemenyi_p)

    @property
    def separated(self) -> Mask:
        """Pairs that the paired tests separate, for all pairs at once."""
        return np.asarray(self.p_values < 1 - self.level)

    @property
    def order(self) -> tuple[int, ...]:
        """The items by mean rank, best first."""
        return rank_order(self.mean_ranks)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups that Nemenyi's test does not separate, as the bars of a critical-difference diagram: two or more."""
        found = rank_groups(self.mean_ranks, self.critical_difference)
        return tuple(tuple(self.items[k] for k in group) for group in found)

    def text(self) -> str:
        """Return the tests as text: all items at once, the groups that are not separated, then pair by pair."""
        first, second, last = self.summary.splitlines()
        return "\n".join((first, second, *map(words.group_text, self.groups), last))

    @property
    def summary(self) -> str:
        """What the tests say in three lines: all items at once, mean ranks, pair by pair."""
        pairs = len(self.items) * (len(self.items) - 1) // 2
        return "\n".join(
            (
                words.friedman_text(self.tasks, self.friedman, self.friedman_p),
                words.critical_text(self.critical_difference, self.level),
                words.paired_text(self.test, int(np.triu(self.separated, 1).sum()), pairs, self.level),
            )
        )

    def __repr__(self) -> str:
        return (
            f"PairedTests({self.test}, {len(self.items)} items, {self.tasks} tasks, "
            f"friedman_p={self.friedman_p:.4g}, critical_difference={self.critical_difference:.4g})"
        )


def paired_tests(votes: Votes, *, level: float = 0.95) -> PairedTests:
    """Return which items of a score table differ by more than chance: tests that compare items task by task.

    Parameters
    ----------
    votes : Votes
        A score table: each task, judge or data set is a ballot with scores.
    level : float
        Confidence level for all pairs together.

    Notes
    -----
    Every two items are compared on the tasks that score both: tables of 0 and 1 by McNemar's exact test, others by
    Wilcoxon's signed ranks; p-values are corrected by Holm. Friedman's test asks whether any item differs, and
    Nemenyi's critical difference which mean ranks do: ``q * sqrt(k (k + 1) / (12 N))`` for k items and N tasks, where q
    is a quantile of the range of k standard normal numbers (Demsar 2006).

    Examples
    --------
    >>> rows = [[0.9, 0.7, 0.6], [0.8, 0.6, 0.7], [0.9, 0.8, 0.5], [0.7, 0.5, 0.4], [0.95, 0.7, 0.6]]
    >>> found = paired_tests(Votes.from_score_rows(rows, items=["a", "b", "c"]))
    >>> found.mean_ranks.tolist(), round(found.friedman, 3), round(found.critical_difference, 3)
    ([1.0, 2.2, 2.8], 8.4, 1.482)
    >>> found.groups
    (('a', 'b'), ('b', 'c'))
    """
    expect_votes(votes, "paired_tests")
    share = real_number(level)
    if share is None or not 0 < share < 1:
        raise UsageError(f"level must be a number between 0 and 1, not {quote(str(level))}")
    if not votes.is_counts:
        raise UsageError("paired tests need the number of tasks", repair="give counts (whole numbers) as weights")
    if votes.n < 2:
        raise UsageError("paired tests need at least two items, not one")
    if not votes.ballots.has_scores:
        raise UsageError(words.NO_TABLE, repair=words.NO_TABLE_FIX)
    found = mean_ranks(votes, share)
    table = np.repeat(scores_of(votes), votes.weights.astype(np.int64), axis=0)
    binary = bool(np.isin(table[~np.isnan(table)], (0.0, 1.0)).all())
    return PairedTests(
        items=votes.items,
        test="mcnemar" if binary else "wilcoxon",
        level=share,
        tasks=found.tasks,
        mean_ranks=found.values,
        p_values=_pairs(table, binary=binary),
        friedman=found.friedman,
        friedman_p=found.friedman_p,
        critical_difference=found.critical_difference,
        nemenyi_p=_nemenyi(found),
    )


def _nemenyi(found: MeanRanks) -> Floats:
    """Return the p-values of all differences of mean ranks; those that are equal are looked up once."""
    n = len(found.values)
    if not found.tasks:
        return np.ones((n, n))
    gaps = np.abs(found.values[:, None] - found.values)
    each, place = np.unique(np.round(gaps, 12), return_inverse=True)
    p = np.array([1.0 if gap == 0 else range_tail(gap / found.error, n) for gap in each.tolist()])
    return np.asarray(p[place.ravel()].reshape(n, n))


def _pairs(table: Floats, *, binary: bool) -> Floats:
    """Return the corrected p-values of all pairs, on the tasks that score both items."""
    n = table.shape[1]
    one, other = np.triu_indices(n, 1)
    found = np.empty(len(one))
    for k, (i, j) in enumerate(zip(one.tolist(), other.tolist(), strict=True)):
        gaps = table[:, i] - table[:, j]
        gaps = gaps[~np.isnan(gaps)]
        found[k] = sign_test(int((gaps > 0).sum()), int((gaps < 0).sum())) if binary else signed_rank_test(gaps)
    p = np.ones((n, n))
    p[one, other] = p[other, one] = holm(found)
    return p
