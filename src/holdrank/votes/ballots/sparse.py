"""Ballots as marks, for those that list few of many items.

A file of one megabyte can hold fifteen thousand ballots over as many items. Memory use stays proportional to the size
of the file; the matrix is made only on request.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from holdrank.arrays.kernels import count_marks
from holdrank.rankings import Floats, Ints
from holdrank.votes.ballots.ranks import rank_type, ranks_within
from holdrank.votes.ballots.store import Ballots, Rows, heaped

_MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd number whose bits look random


@dataclass(frozen=True, eq=False)
class SparseBallots(Ballots):
    """An (m, n) matrix of ranks, 0 where a ballot does not list an item, as its entries above 0.

    Parameters
    ----------
    size : tuple of int
        Numbers of ballots and of items.
    row, item, rank : arrays of int
        Of every mark; in order of row, then item.
    score : array of float or None
        Of every mark, higher is better; None where the source holds no scores.
    """

    size: tuple[int, int]
    row: Ints
    item: Ints
    rank: Ints
    score: Floats | None = None

    @classmethod
    def of_marks(cls, shape: tuple[int, int], row: Ints, item: Ints, rank: Ints) -> SparseBallots:
        """Return the ballots of these marks, in any order, one per ballot and item; a rank of 0 means unlisted."""
        order = np.lexsort((item, row))
        order = order[rank[order] > 0]
        return cls(shape, row[order], item[order], rank[order])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of ballots and of items."""
        return self.size

    @cached_property
    def listed(self) -> Ints:
        """Number of listed items of each ballot."""
        return np.bincount(self.row, minlength=len(self))

    @cached_property
    def _begins(self) -> Ints:
        """Where the marks of each ballot begin, and where the last ones end."""
        return np.append(0, np.cumsum(self.listed))

    @property
    def has_scores(self) -> bool:
        """Whether there are scores."""
        return self.score is not None

    def any(self) -> bool:
        """Whether there is a mark at all."""
        return bool(len(self.row))

    def matrix(self) -> Ints:
        """Return the matrix of the ranks, column by column in memory, in the smallest numbers that hold them."""
        matrix = np.zeros(self.shape, dtype=rank_type(self.shape[1]), order="F")
        matrix[self.row, self.item] = self.rank
        return matrix

    def score_matrix(self) -> Floats | None:
        """Return the matrix of the scores, NaN where there is none; None where there are no scores at all."""
        if self.score is None:
            return None
        matrix = np.full(self.shape, np.nan)
        matrix[self.row, self.item] = self.score
        return matrix

    def take(self, rows: Rows) -> SparseBallots:
        """Return some of the ballots."""
        begins = self._begins
        at: slice | Ints
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(len(self))
            at, count = slice(int(begins[start]), int(begins[stop])), stop - start
            row = self.row[at] - start
        else:
            taken = np.flatnonzero(rows) if rows.dtype == bool else rows
            count, lengths = len(taken), self.listed[taken]
            row = np.repeat(np.arange(count), lengths)
            at = np.arange(len(row)) + np.repeat(begins[taken] - (np.cumsum(lengths) - lengths), lengths)
        score = None if self.score is None else self.score[at]
        return SparseBallots((count, self.shape[1]), row, self.item[at], self.rank[at], score)

    def with_rows(self, ranks: Ints) -> SparseBallots:
        """Return the ranks of these ballots, and below them more, as a matrix."""
        row, item = np.nonzero(ranks)
        size = len(self) + len(ranks), self.shape[1]
        ranked = np.concatenate((self.rank, ranks[row, item].astype(self.rank.dtype)))
        return SparseBallots(
            size, np.concatenate((self.row, row + len(self))), np.concatenate((self.item, item)), ranked
        )

    def columns(self, items: Ints) -> SparseBallots:
        """Return the ballots over some of the items, in this order; ranks may then have gaps."""
        place = np.full(self.shape[1], -1)
        place[items] = np.arange(len(items))
        kept = np.flatnonzero(place[self.item] >= 0)
        kept = kept[np.lexsort((place[self.item[kept]], self.row[kept]))]
        score = None if self.score is None else self.score[kept]
        shape = len(self), len(items)
        return SparseBallots(shape, self.row[kept], place[self.item[kept]], self.rank[kept], score)

    def largest_ranks(self) -> Ints:
        """Return the largest rank of each ballot, 0 of one that lists nothing."""
        found = np.zeros(len(self), dtype=np.int64)
        np.maximum.at(found, self.row, self.rank)
        return found

    def orders(self) -> Iterator[list[list[int]]]:
        """Yield each ballot as its listed items in groups of tied ones, best first."""
        items, ranks = self.item.tolist(), self.rank.tolist()
        for (begin, end), size in zip(pairwise(self._begins.tolist()), self.largest_ranks().tolist(), strict=True):
            groups: list[list[int]] = [[] for _ in range(size)]
            for item, rank in zip(items[begin:end], ranks[begin:end], strict=True):
                groups[rank - 1].append(item)
            yield groups

    def without_gaps(self) -> SparseBallots:
        """Return the ballots with the ranks of each replaced by 1, 2, ... in their order, equal ranks alike."""
        return replace(self, rank=ranks_within(self.row, self.rank))

    def without_scores(self) -> SparseBallots:
        """Return the ranks alone, in as many rows."""
        return replace(self, score=None)

    def merged(self, weights: Floats) -> tuple[SparseBallots, Floats]:
        """Return the distinct ballots, or rows of scores where there are scores, commonest first, and their weights."""
        order, heaps = heaped(*self.groups(), weights)
        kept = self.take(order)
        return (kept if kept.score is None else replace(kept, score=kept.score + 0.0)), heaps  # -0.0 is 0.0

    def groups(self) -> tuple[Ints, Ints]:
        """Return the first row of each group of equal rows, and the group of every row; no row may be empty.

        Rows with scores are equal where the scores are, which makes their ranks equal too.
        """
        marks = self.rank if self.score is None else np.unique(self.score, return_inverse=True)[1] + 1
        # Fingerprints distinguish rows; a collision is detected and resolved.
        prints = row_prints(len(self), self.row, self.item, marks)
        _, first, label = np.unique(prints, return_index=True, return_inverse=True)
        sizes, begins = self.listed, self._begins[:-1]
        model = first[label]
        if (sizes == sizes[model]).all():
            there = np.arange(len(self.row)) + np.repeat(begins[model] - begins, sizes)
            if np.array_equal(self.item[there], self.item) and np.array_equal(marks[there], marks):
                return first, label
        known: dict[tuple[bytes, bytes], int] = {}
        spans = [slice(begin, end) for begin, end in pairwise(self._begins.tolist())]
        keys = [(self.item[span].tobytes(), marks[span].tobytes()) for span in spans]
        label = np.array([known.setdefault(key, len(known)) for key in keys])
        return np.unique(label, return_index=True)[1], label

    def closed(self) -> SparseBallots:
        """Return the same ballots: the marks are not shared."""
        return self

    def sorted_rows(self) -> Ints:
        """Return the ballots in the order in which the rows of the matrix would be sorted, by ranks, then by scores."""
        # Of two rows the one that lists an earlier item is larger where they first differ, for the other has a 0 there.
        marks = np.stack((self.shape[1] - self.item, self.rank), axis=1).astype(">u4").tobytes()
        scores = b"" if self.score is None else self.score.astype(">f8").tobytes()
        spans = [slice(begin, end) for begin, end in pairwise((8 * self._begins).tolist())]
        keys = [(marks[span], scores[span]) for span in spans]
        return np.array(sorted(range(len(self)), key=keys.__getitem__), dtype=np.int64)

    def wins(self, weights: Floats, *, observed: bool) -> Floats:
        """Return W, W[i, j] = weight of the ballots that place i above j, a tie counting half for each."""

        def count(some: npt.NDArray[np.bool_], spare_bits: int) -> Floats:
            part = self.take(some)
            arrays = part.listed, part.item, part.rank, weights[some]
            return count_marks(self.shape[1], *arrays, observed=observed, spare_bits=spare_bits)

        battles = (self.listed == 2) & observed
        wins = count(~battles, 2)  # summed as in the other store, so that results agree to the last digit
        return wins + count(battles, 11) if battles.any() else wins

    def listed_weights(self, weights: Floats) -> Floats:
        """Return for each item the weight of the ballots that list it."""
        return np.bincount(self.item, weights[self.row], minlength=self.shape[1]).astype(np.float64)

    def place_sums(self, weights: Ints) -> Ints:
        """Return for each item the weighted sum of twice its place, unlisted items tied below the listed ones."""
        n = self.shape[1]
        last = self.listed + 1 + n
        sums = np.full(n, weights @ last)
        np.add.at(sums, self.item, weights[self.row] * (self._doubled_places() - last[self.row]))
        return sums

    def _doubled_places(self) -> Ints:
        """Return twice the mean place of every mark, tied ones sharing the places that they cover."""
        order = np.lexsort((self.rank, self.row))
        row, rank = self.row[order], self.rank[order]
        begins = np.flatnonzero((np.diff(row, prepend=-1) != 0) | (np.diff(rank, prepend=0) != 0))  # of ties
        lengths = np.diff(begins, append=len(row))
        above = begins - self._begins[row[begins]]
        places = np.empty(len(row), dtype=np.int64)
        places[order] = np.repeat(2 * above + lengths + 1, lengths)
        return places


def row_prints(ballots: int, row: Ints, item: Ints, rank: Ints) -> npt.NDArray[np.uint64]:
    """Return a 64-bit fingerprint of each ballot from its marks, which come in order of row; a rank of 0 is none."""
    marks = (item.astype(np.uint64) * _MIX) ^ (rank.astype(np.uint64) << np.uint64(40))
    marks = (marks ^ (marks >> np.uint64(29))) * _MIX
    marks[rank == 0] = 0
    sums = np.append(np.uint64(0), np.cumsum(marks ^ (marks >> np.uint64(32)), dtype=np.uint64))
    ends = np.cumsum(np.bincount(row, minlength=ballots))
    return np.diff(sums[ends], prepend=np.uint64(0))
