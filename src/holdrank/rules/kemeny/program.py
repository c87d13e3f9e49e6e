"""The rows of a linear program: triangles, cuts on a few items, or others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny.cuts import Cut
from holdrank.rules.solvers.highs import LinearProgram


class Program:
    """The program and the rows added so far. Column p of a pair i < j is 1 when i comes before j.

    Attributes
    ----------
    pairs : two arrays
        The items i < j of each column.
    margins : array
        What each column costs.
    offset : float
        What the columns cost at 0.
    column : (n, n) array
        The column of a pair i < j.
    triples : (rows, 3) array
        The items i < j < k of a triangle's row ``0 <= x_ij + x_jk - x_ik <= 1``; -1 in other rows.
    cut_of : array
        The number in `cuts` of a cut's row; -1 in other rows.
    cuts : list of Cut
        All that were ever added.
    """

    def __init__(
        self, pairs: tuple[Ints, Ints], margins: Floats, offset: float, column: Ints, model: LinearProgram
    ) -> None:
        self.n = len(column)
        self.pairs, self.margins, self.offset, self.column, self.model = pairs, margins, offset, column, model
        self.triples: Ints = np.empty((0, 3), dtype=np.int64)
        self.cut_of: Ints = np.empty(0, dtype=np.int64)
        self.cuts: list[Cut] = []

    def new_triangles(self, triples: Ints) -> Ints:
        """Return those of these triangles i < j < k that have no row."""
        numbers = np.array([self.n * self.n, self.n, 1])
        return triples[~np.isin(triples @ numbers, self.triples @ numbers)]

    def add_triangles(self, triples: Ints) -> None:
        """Add the rows of triangles i < j < k."""
        i, j, k = triples.T
        rows = np.stack((self.column[i, j], self.column[j, k], self.column[i, k]), axis=1)
        self.model.add_rows(rows, np.tile([1.0, 1.0, -1.0], (len(rows), 1)), 0.0, 1.0)
        self._note(triples, np.full(len(triples), -1))

    def add_cuts(self, cuts: Sequence[Cut]) -> None:
        """Add the rows of cuts."""
        rows = [cut.row(self.column) for cut in cuts]
        widths = np.array([len(columns) for columns, _, _ in rows], dtype=np.int32)
        columns = np.concatenate([columns for columns, _, _ in rows])
        values = np.concatenate([values for _, values, _ in rows])
        limits = np.array([limit for _, _, limit in rows])
        self.model.add_uneven_rows(widths, columns, values, np.full(len(rows), -np.inf), limits)
        self._note(np.full((len(rows), 3), -1), len(self.cuts) + np.arange(len(rows)))
        self.cuts += cuts

    def add_choice(self, columns: Ints, values: Floats, least: float) -> None:
        """Add one other row: the values of these columns add up to at least a limit."""
        self.add_others(columns[None], values[None], least, np.inf)

    def add_others(self, columns: Ints, values: Floats, lower: Floats | float, upper: float) -> None:
        """Add rows that are neither, all of one width."""
        self.model.add_rows(columns, values, lower, upper)
        self._note(np.full((len(columns), 3), -1), np.full(len(columns), -1))

    def drop_slack_rows(self, slack: float) -> None:
        """Forget the rows that the last solution keeps farther than `slack` from both of their limits."""
        kept = self.model.drop_slack_rows(slack)
        self.triples, self.cut_of = self.triples[kept], self.cut_of[kept]

    def _note(self, triples: Ints, cut_of: Ints) -> None:
        self.triples = np.concatenate((self.triples, triples))
        self.cut_of = np.concatenate((self.cut_of, cut_of))
