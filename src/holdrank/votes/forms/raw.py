"""The ballots that every reader returns: a matrix of ranks, or marks where a matrix would be almost empty."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from holdrank.rankings import Floats, Ints
from holdrank.votes.ballots import Ballots, DenseBallots, SparseBallots
from holdrank.votes.ballots.ranks import ballot_matrix
from holdrank.votes.first_shown import FirstShown
from holdrank.votes.groups import Groups
from holdrank.votes.limits import most_cells, refuse_large_matrix
from holdrank.votes.voters import Voters

AnyRanks = NDArray[np.int32] | SparseBallots
"""Ranks of ballots as a reader found them: a matrix, or the few marks of one that would be almost empty."""


@dataclass(slots=True)
class RawBallots:
    """Ballots as read, before `Votes` merges and checks them.

    Parameters
    ----------
    items : list of str
        Names in the order of the source.
    ranks : ndarray of int32, shape (m, n), or SparseBallots
        1 is best, only the order of the numbers in a row counts, 0 = unlisted.
    weights : ndarray of float64, shape (m,)
    notes : list of str
        What was dropped, merged or assumed, counted.
    choices : dict
        Every choice made on reading the ballots, as text.
    unlisted : str
        ``"bottom"`` or ``"observed"``.
    scores : ndarray of float64, shape (m, n), or None
        The scores behind the ranks, higher is better, NaN = unlisted; None where the source holds no scores, or the
        marks of `ranks` hold them.
    times : ndarray of int64, shape (m,), or None
        How many ballots of the source each row stands for, for the notes; None = one each.
    title : str
        Title given in the source; may be empty.
    cast : Voters or None
        Who cast which battles, if the source names voters.
    groups : Groups or None
        The voter, task or category of each row of `ranks`, if the source has such a column.
    first_shown : FirstShown or None
        Which item of each battle was named first, if the source shows it.
    """

    items: list[str]
    ranks: AnyRanks
    weights: NDArray[np.float64]
    notes: list[str]
    choices: dict[str, str]
    unlisted: str
    scores: NDArray[np.float64] | None = None
    times: NDArray[np.int64] | None = None
    title: str = ""
    cast: Voters | None = None
    groups: Groups | None = None
    first_shown: FirstShown | None = None

    def stored(self) -> Ballots:
        """Return the ranks and scores in the store that suits them."""
        return stored(self.ranks, self.scores)


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
        return SparseBallots.of_marks(self._shape, row, item, rank)


def ranks_of_marks(shape: tuple[int, int], row: Ints, item: Ints, rank: Ints, source: str = "") -> AnyRanks:
    """Return the ranks of m ballots over n items from the row, item and rank of every mark."""
    found = RanksInPieces(shape, len(row), source)
    found.add(row, item, rank)
    return found.whole()


def with_scores(ranks: AnyRanks, row: Ints, item: Ints, score: Floats) -> tuple[AnyRanks, Floats | None]:
    """Return ranks above 0 that were made of scores, and the matrix of the scores; marks hold theirs themselves."""
    if isinstance(ranks, SparseBallots):
        return replace(ranks, score=score[np.lexsort((item, row))]), None
    scores = np.full(ranks.shape, np.nan)
    scores[row, item] = score
    return ranks, scores


def stored(ranks: AnyRanks, scores: Floats | None = None) -> Ballots:
    """Return a matrix of ranks, and of scores if there are any, as a store; marks are one already."""
    return ranks if isinstance(ranks, SparseBallots) else DenseBallots(ranks, scores)
