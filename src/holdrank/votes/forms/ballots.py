"""The ballots that every reader ends in: a matrix of ranks, or marks where a matrix would be almost empty.

A file of a megabyte can speak of fifteen thousand ballots over as many items. What a reader holds of it stays in
proportion to its size; the matrix is made when somebody asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import LimitError

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]

MAX_CELLS = 2**28
"""Largest ballots x items matrix that a reader builds (1 GiB of 32-bit ranks)."""

LARGEST_BIT = 62  # of a 64-bit number, its sign aside
_ROWS = 1 << 16  # whose order is found at a time, to keep temporary arrays small
_MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd number whose bits look random


@dataclass(frozen=True, slots=True)
class SparseRanks:
    """An (m, n) matrix of ranks, 0 where a ballot does not list an item, as its entries above 0.

    Parameters
    ----------
    shape : tuple of int
        Numbers of ballots and of items.
    row, item, rank : arrays of int
        Of every mark; in order of row, then item.
    score : array of float or None
        Of every mark, high is best; None where the source holds no scores.
    """

    shape: tuple[int, int]
    row: Ints
    item: Ints
    rank: Ints
    score: Floats | None = None

    @classmethod
    def of_marks(cls, shape: tuple[int, int], row: Ints, item: Ints, rank: Ints) -> SparseRanks:
        """Return the matrix of these marks, which come in any order, no two at one place; a rank of 0 is none."""
        order = np.lexsort((item, row))
        order = order[rank[order] > 0]
        return cls(shape, row[order], item[order], rank[order])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: NDArray[np.bool_] | Ints) -> SparseRanks:
        """Return some of the rows, in this order."""
        taken = np.flatnonzero(rows) if rows.dtype == bool else rows
        sizes = self.sizes()
        lengths = sizes[taken]
        row = np.repeat(np.arange(len(taken)), lengths)
        within = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        at = np.repeat((np.cumsum(sizes) - sizes)[taken], lengths) + within
        score = None if self.score is None else self.score[at]
        return SparseRanks((len(taken), self.shape[1]), row, self.item[at], self.rank[at], score)

    def any(self) -> bool:
        """Whether there is a mark at all."""
        return bool(len(self.row))

    def sizes(self) -> Ints:
        """Return the number of listed items of each ballot."""
        return np.bincount(self.row, minlength=len(self))

    def largest(self) -> Ints:
        """Return the largest rank of each ballot, 0 of one that lists nothing."""
        found = np.zeros(len(self), dtype=np.int64)
        np.maximum.at(found, self.row, self.rank)
        return found

    def without_gaps(self) -> SparseRanks:
        """Return each row with its ranks replaced by 1, 2, ... in their order, equal ranks alike."""
        return replace(self, rank=ranks_within(self.row, self.rank))

    def doubled_places(self) -> Ints:
        """Return twice the mean place of every mark, tied ones sharing the places that they cover."""
        order = np.lexsort((self.rank, self.row))
        row, rank = self.row[order], self.rank[order]
        sizes = self.sizes()
        begins = np.flatnonzero((np.diff(row, prepend=-1) != 0) | (np.diff(rank, prepend=0) != 0))  # of ties
        lengths = np.diff(begins, append=len(row))
        above = begins - (np.cumsum(sizes) - sizes)[row[begins]]
        places = np.empty(len(row), dtype=np.int64)
        places[order] = np.repeat(2 * above + lengths + 1, lengths)
        return places

    def sorted_rows(self) -> Ints:
        """Return the rows in the order in which those of the matrix would be sorted, by ranks and then by scores."""
        # Of two rows the one that lists an earlier item is larger where they first differ, for the other has a 0 there.
        marks = np.stack((self.shape[1] - self.item, self.rank), axis=1).astype(">u4").tobytes()
        scores = b"" if self.score is None else self.score.astype(">f8").tobytes()
        ends = 8 * np.cumsum(self.sizes())
        keys = [(marks[begin:end], scores[begin:end]) for begin, end in pairwise([0, *ends.tolist()])]
        return np.array(sorted(range(len(self)), key=keys.__getitem__), dtype=np.int64)

    def groups(self) -> tuple[Ints, Ints]:
        """Return the first row of each group of equal rows, and the group of every row; no row may be empty.

        Rows with scores are equal where the scores are, which makes their ranks equal too.
        """
        marks = self.rank if self.score is None else np.unique(self.score, return_inverse=True)[1] + 1
        # Fingerprints tell rows apart; a collision is found and undone.
        prints = row_prints(len(self), self.row, self.item, marks)
        _, first, label = np.unique(prints, return_index=True, return_inverse=True)
        sizes = self.sizes()
        begins = np.cumsum(sizes) - sizes
        model = first[label]
        if (sizes == sizes[model]).all():
            there = np.arange(len(self.row)) + np.repeat(begins[model] - begins, sizes)
            if np.array_equal(self.item[there], self.item) and np.array_equal(marks[there], marks):
                return first, label
        known: dict[tuple[bytes, bytes], int] = {}
        spans = [slice(begin, begin + size) for begin, size in zip(begins.tolist(), sizes.tolist(), strict=True)]
        keys = [(self.item[span].tobytes(), marks[span].tobytes()) for span in spans]
        label = np.array([known.setdefault(key, len(known)) for key in keys])
        return np.unique(label, return_index=True)[1], label

    def full(self) -> Ints:
        """Return the matrix of the ranks, column by column in memory, in the smallest numbers that hold them."""
        matrix = np.zeros(self.shape, dtype=rank_type(self.shape[1]), order="F")
        matrix[self.row, self.item] = self.rank
        return matrix

    def full_scores(self) -> Floats | None:
        """Return the matrix of the scores, NaN where there is none; None where there are no scores at all."""
        if self.score is None:
            return None
        matrix = np.full(self.shape, np.nan)
        matrix[self.row, self.item] = self.score
        return matrix


AnyRanks = NDArray[np.int32] | SparseRanks
"""Ranks of ballots as a reader found them: a matrix, or the few marks of one that would be almost empty."""


@dataclass(slots=True)
class RawBallots:
    """Ballots as a reader found them, before `Votes` merges and checks them.

    Parameters
    ----------
    items : list of str
        Names in the order of the source.
    ranks : ndarray of int32, shape (m, n), or SparseRanks
        1 is best, only the order of the numbers in a row counts, 0 = unlisted.
    weights : ndarray of float64, shape (m,)
    notes : list of str
        What was dropped, merged or assumed, counted.
    choices : dict
        Every decision that shaped the ballots, in words.
    unlisted : str
        ``"bottom"`` or ``"observed"``.
    scores : ndarray of float64, shape (m, n), or None
        What the ranks were made of, high is best, NaN = unlisted; None where the source holds no scores, or
        the marks of `ranks` hold them.
    times : ndarray of int64, shape (m,), or None
        How many ballots of the source each row stands for, for the notes; None = one each.
    """

    items: list[str]
    ranks: AnyRanks
    weights: NDArray[np.float64]
    notes: list[str]
    choices: dict[str, str]
    unlisted: str
    scores: NDArray[np.float64] | None = None
    times: NDArray[np.int64] | None = None


def ballot_matrix(ballots: int, items: int, source: str = "") -> NDArray[np.int32]:
    """Return a matrix of zeros for that many ballots and items, or refuse one that cannot fit in memory."""
    refuse_large_matrix(ballots, items, source)
    return np.zeros((ballots, items), dtype=np.int32)


def refuse_large_matrix(ballots: int, items: int, source: str = "") -> None:
    """Refuse ballots whose matrix cannot fit in memory, now or when somebody asks for it."""
    if ballots * items > MAX_CELLS:
        where = f"{source}: " if source else ""
        raise LimitError(
            f"{where}{ballots:,} distinct ballots over {items:,} items need more than {MAX_CELLS:,} cells; "
            "to repair: use fewer items or split the file"
        )


def rank_type(n: int) -> type[np.int16] | type[np.int32]:
    """Return the smallest kind of numbers that holds the ranks of n items."""
    return np.int16 if n < 2**15 - 1 else np.int32


class RanksInPieces:
    """Ranks of ballots, put together from marks that come piece by piece; `marks` is how many there will be."""

    def __init__(self, shape: tuple[int, int], marks: int, source: str = "") -> None:
        self._shape = shape
        nothing = np.zeros(0, dtype=np.int64)
        self._pieces: list[tuple[Ints, Ints, Ints]] = [(nothing, nothing, nothing)]
        self._matrix: NDArray[np.int32] | None = None
        if shape[0] * shape[1] <= most_cells(marks):
            self._matrix = ballot_matrix(*shape, source)
        else:
            refuse_large_matrix(*shape, source)

    def add(self, row: Ints, item: Ints, rank: Ints) -> None:
        """Add the row, item and rank of some marks."""
        if self._matrix is not None:
            self._matrix[row, item] = rank
        else:
            self._pieces.append((row, item, rank))

    def whole(self) -> AnyRanks:
        """Return the ranks."""
        if self._matrix is not None:
            return self._matrix
        row, item, rank = (np.concatenate(parts) for parts in zip(*self._pieces, strict=True))
        return SparseRanks.of_marks(self._shape, row, item, rank)


def ranks_of_marks(shape: tuple[int, int], row: Ints, item: Ints, rank: Ints, source: str = "") -> AnyRanks:
    """Return the ranks of m ballots over n items from the row, item and rank of every mark."""
    found = RanksInPieces(shape, len(row), source)
    found.add(row, item, rank)
    return found.whole()


def with_scores(ranks: AnyRanks, row: Ints, item: Ints, score: Floats) -> tuple[AnyRanks, Floats | None]:
    """Return ranks above 0 that were made of scores, and the matrix of the scores; marks hold theirs themselves."""
    if isinstance(ranks, SparseRanks):
        return replace(ranks, score=score[np.lexsort((item, row))]), None
    scores = np.full(ranks.shape, np.nan)
    scores[row, item] = score
    return ranks, scores


def most_cells(size: int) -> int:
    """Return how many cells a table may have that is made of so many bytes, or of so many cells that are filled.

    A small file can speak of a large table that is almost empty, or packed: its cells would take a hundred times the
    memory of the file.
    """
    return max(2**21, 12 * size)


def ranks_of_values(values: NDArray[np.float64], higher_is_better: bool = False) -> NDArray[np.int32]:
    """Return dense ranks of every row, 1 best, equal values tied, NaN = 0.

    Competition ranks ``1, 1, 3``, dense ranks ``1, 1, 2`` and mean ranks ``1.5, 1.5, 3`` come out the same:
    only the order counts.

    Examples
    --------
    >>> ranks_of_values(np.array([[1.5, 1.5, 3.0, np.nan]])).tolist()
    [[1, 1, 2, 0]]
    >>> ranks_of_values(np.array([[0.0, 5.0, 5.0]]), higher_is_better=True).tolist()
    [[2, 1, 1]]
    """
    out = ballot_matrix(*values.shape)
    for start in range(0, len(values), _ROWS):
        block = values[start : start + _ROWS]
        missing = np.isnan(block)
        if not higher_is_better and _hold_dense_ranks(filled := np.where(missing, 0.0, block)):
            out[start : start + _ROWS] = filled
            continue
        keys = -block if higher_is_better else block
        order = np.argsort(keys, axis=1, kind="stable")
        ordered = np.take_along_axis(keys, order, axis=1)
        steps = np.ones(keys.shape, dtype=np.int32)
        steps[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        ranks = np.empty(keys.shape, dtype=np.int32)
        np.put_along_axis(ranks, order, np.cumsum(steps, axis=1, dtype=np.int32), axis=1)
        out[start : start + _ROWS] = np.where(missing, 0, ranks)
    return out


def row_prints(ballots: int, row: Ints, item: Ints, rank: Ints) -> NDArray[np.uint64]:
    """Return a 64-bit fingerprint of each ballot from its marks, which come in order of row; a rank of 0 is none."""
    marks = (item.astype(np.uint64) * _MIX) ^ (rank.astype(np.uint64) << np.uint64(40))
    marks = (marks ^ (marks >> np.uint64(29))) * _MIX
    marks[rank == 0] = 0
    sums = np.append(np.uint64(0), np.cumsum(marks ^ (marks >> np.uint64(32)), dtype=np.uint64))
    ends = np.cumsum(np.bincount(row, minlength=ballots))
    return np.diff(sums[ends], prepend=np.uint64(0))


def ranks_within(group: Ints, values: NDArray[Any]) -> NDArray[np.int32]:
    """Return dense ranks of the values, low first, separately within each group."""
    order = np.lexsort((values, group))
    g, v = group[order], values[order]
    new_group = np.diff(g, prepend=-1) != 0
    step = new_group.copy()
    step[1:] |= v[1:] != v[:-1]
    climb = np.cumsum(step)
    base = np.maximum.accumulate(np.where(new_group, climb - 1, 0))
    out = np.empty(len(values), dtype=np.int32)
    out[order] = climb - base
    return out


def _hold_dense_ranks(values: NDArray[np.float64]) -> bool:
    """Whether every row holds dense ranks and zeros: ranks as most people write them."""
    if not values.size or values.min() < 0 or values.max() > LARGEST_BIT:
        return False
    whole = values.astype(np.int64)
    return not (whole != values).any() and are_dense(whole)


def are_dense(ranks: NDArray[np.int64]) -> bool:
    """Whether every row holds exactly the numbers 1 .. k for some k, and zeros; none is above `LARGEST_BIT`."""
    used = np.bitwise_or.reduce(np.int64(1) << ranks, axis=1) | 1  # bit r: rank r occurs
    return bool((used & (used + 1) == 0).all())
