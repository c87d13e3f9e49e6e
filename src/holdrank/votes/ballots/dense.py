"""Ballots as a matrix of ranks, one row each: the usual store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from holdrank.arrays.kernels import count_battles, count_wins, group_rows
from holdrank.arrays.native import call
from holdrank.rankings import Floats, Ints
from holdrank.votes.ballots.ranks import ranks_without_gaps
from holdrank.votes.ballots.store import Ballots, Rows, heaped
from holdrank.votes.memo import close

_ROWS = 4096  # that are turned into columns at a time, within the cache


@dataclass(frozen=True, eq=False)
class DenseBallots(Ballots):
    """An (m, n) matrix of ranks, 0 where a ballot does not list an item, and the matrix of the scores, if any."""

    ranks: Ints
    scores: Floats | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of ballots and of items."""
        m, n = self.ranks.shape
        return m, n

    @cached_property
    def listed(self) -> Ints:
        """Number of listed items of each ballot."""
        if self.ranks.dtype == np.int16 and self.ranks.flags.c_contiguous:
            counts = np.empty(len(self), dtype=np.int64)
            call("count_listed", self.ranks, *self.shape, counts)
            return counts
        listed = self.ranks != 0
        # Most votes are complete, and to see that takes a tenth of the time that counting takes.
        return np.full(self.shape[0], self.shape[1]) if listed.all() else np.asarray(listed.sum(axis=1))

    @property
    def has_scores(self) -> bool:
        """Whether there are scores."""
        return self.scores is not None

    def matrix(self) -> Ints:
        """Return the matrix of the ranks."""
        return self.ranks

    def score_matrix(self) -> Floats | None:
        """Return the matrix of the scores; None if there are no scores."""
        return self.scores

    def take(self, rows: Rows) -> DenseBallots:
        """Return some of the ballots; of a range, views."""
        return DenseBallots(self.ranks[rows], None if self.scores is None else self.scores[rows])

    def with_rows(self, ranks: Ints) -> DenseBallots:
        """Return the ranks of these ballots, and below them more, as a matrix."""
        return DenseBallots(np.vstack((self.ranks, ranks)))

    def columns(self, items: Ints) -> DenseBallots:
        """Return the ballots over some of the items, in this order; ranks may then have gaps."""
        return DenseBallots(self.ranks[:, items], None if self.scores is None else self.scores[:, items])

    def largest_ranks(self) -> Ints:
        """Return the largest rank of each ballot."""
        return np.asarray(self.ranks.max(axis=1))

    def orders(self) -> Iterator[list[list[int]]]:
        """Yield each ballot as its listed items in groups of tied ones, best first."""
        for ranks in self.ranks:
            groups: list[list[int]] = [[] for _ in range(int(ranks.max(initial=0)))]
            for item in np.flatnonzero(ranks).tolist():
                groups[ranks[item] - 1].append(item)
            yield groups

    def without_gaps(self) -> DenseBallots:
        """Return the ballots with the ranks of each replaced by 1, 2, ... in their order, equal ranks alike."""
        return replace(self, ranks=ranks_without_gaps(self.ranks))

    def without_scores(self) -> DenseBallots:
        """Return the ranks alone, in as many rows."""
        return DenseBallots(self.ranks)

    def merged(self, weights: Floats) -> tuple[DenseBallots, Floats]:
        """Return the distinct ballots, or rows of scores where there are scores, commonest first, and their weights."""
        first, label = _equal_rows(self.ranks if self.scores is None else _score_keys(self.scores))
        order, heaps = heaped(first, label, weights)
        scores = None if self.scores is None else self.scores[order] + 0.0  # a score of -0.0 is 0.0
        as_they_are = len(order) == len(label) and bool((order[1:] > order[:-1]).all())
        return DenseBallots(self.ranks if as_they_are else self.ranks[order], scores), heaps

    def closed(self) -> DenseBallots:
        """Return the same ballots, read-only, column by column: counting compares columns."""
        ranks = np.empty(self.shape, dtype=self.ranks.dtype, order="F")
        for start in range(0, len(ranks), _ROWS):
            ranks[start : start + _ROWS] = self.ranks[start : start + _ROWS]
        close(ranks, self.scores)
        return replace(self, ranks=ranks)

    def sorted_rows(self) -> Ints:
        """Return the ballots in the order of their bytes, equal ones as they stand."""
        rows = self.encoded(slice(None))
        return np.argsort(rows.view(f"V{rows.dtype.itemsize * rows.shape[1]}").ravel(), kind="stable")

    def wins(self, weights: Floats, *, observed: bool) -> Floats:
        """Return W, W[i, j] = weight of the ballots that place i above j, a tie counting half for each."""
        ranks = self.ranks
        if observed:
            battles = self.listed == 2
            if battles.any():  # two items per ballot: no need to compare all pairs of items
                rest = count_wins(ranks[~battles], weights[~battles], strict=False, observed=True)
                return rest + count_battles(ranks[battles], weights[battles])
        strict = bool((self.largest_ranks() == self.shape[1]).all())
        return count_wins(ranks, weights, strict=strict, observed=observed)

    def listed_weights(self, weights: Floats) -> Floats:
        """Return for each item the weight of the ballots that list it."""
        return np.asarray(weights @ (self.ranks != 0))

    def place_sums(self, weights: Ints) -> Ints:
        """Return for each item the weighted sum of twice its place, unlisted items tied below the listed ones."""
        sums = np.zeros(self.shape[1], dtype=np.int64)
        for part, places in self.places():
            sums += weights[part] @ (2 * places).astype(np.int64)
        return sums


def _score_keys(scores: Floats) -> Ints:
    """Return whole numbers that are equal exactly where scores are; a missing score equals a missing score."""
    keys = np.where(np.isnan(scores), np.inf, scores)
    keys += 0.0  # -0.0 is 0.0
    return keys.view(np.int64)


def _equal_rows(rows: Ints) -> tuple[Ints, Ints]:
    """Return the first row of each group of equal rows, groups as they first occur, and the group of every row."""
    key, other = np.frombuffer(os.urandom(16), dtype=np.int64).tolist()
    return group_rows(rows, (key, other))
