"""What one vote of each distinct ballot adds to the left sides of rows, and which ballots add the same.

A row involves a few pairs, so thousands of distinct ballots add only a few different values to it. Each ballot gets the
number of its value, and ballots that add the same to all rows of a program share one column.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from holdrank.arrays.kernels import group_rows
from holdrank.rankings import Floats, Ints

_MOST_NUMBERS = 1 << 62  # combined numbers stay below
_MOST_BYTES = 1 << 26  # of numbers that are kept
_KEYS = (0x5DEECE66D, 0xB)  # of a hash that nothing attacks: the same on every machine


class _Row(Protocol):
    @property
    def u(self) -> Floats: ...

    @property
    def v(self) -> Floats: ...


_Coded = tuple[npt.NDArray[np.uint32], Floats]
_R = TypeVar("_R", bound=_Row)


class BallotGains:
    """The distinct ballots as seen by rows.

    Parameters
    ----------
    signs : (pairs, distinct) array of int8
        1 where a ballot ranks the first item of the pair above the second, -1 below, 0 for a tie and where it is
        silent.
    speaks : (pairs, distinct) array of int8, optional
        1 where a ballot compares the pair; by default everywhere.
    """

    def __init__(self, signs: npt.NDArray[np.int8], speaks: npt.NDArray[np.int8] | None) -> None:
        self.signs, self.speaks = signs, speaks
        self._coded: dict[int, tuple[_Row, _Coded]] = {}  # by identity; the row is kept so that it stays itself

    def of(self, row: _Row) -> _Coded:
        """Return for each ballot the number of what one vote of it adds to a row, and the values by their numbers."""
        known = self._coded.get(id(row))
        if known is not None:
            return known[1]
        gains = _weighted(row.u, self.signs)
        gains += float(row.v.sum()) if self.speaks is None else _weighted(row.v, self.speaks)
        values, number = np.unique(gains, return_inverse=True)
        coded = number.astype(np.uint32), values
        if len(self._coded) * number.size * 4 > _MOST_BYTES:
            self._coded.clear()
        self._coded[id(row)] = row, coded
        return coded

    def alike(self, rows: list[_R]) -> tuple[Floats, Ints]:
        """Return the gains (groups, rows) of groups of ballots that add the same to every row, and each ballot's group.

        Groups are exact: their members have the same number for every row.
        """
        label: Ints = np.zeros(self.signs.shape[1], dtype=np.int64)
        first: Ints = np.zeros(1, dtype=np.int64)
        most = 1
        for row in rows:
            number, values = self.of(row)
            if most > _MOST_NUMBERS // len(values):
                first, label = group_rows(label[:, None], _KEYS)
                most = len(first)
            label = label * len(values) + number
            most *= len(values)
        first, label = group_rows(label[:, None], _KEYS)
        gains = np.empty((len(first), len(rows)))
        for at, row in enumerate(rows):
            number, values = self.of(row)
            gains[:, at] = values[number[first]]
        return gains, label

    def margins(self, weights: Floats) -> tuple[Floats, Floats | float]:
        """Return for each pair the weight for less that against the first item, and the weight that compares them."""
        some = np.flatnonzero(weights)
        margin = _summed(self.signs, some, weights)
        return margin, float(weights.sum()) if self.speaks is None else _summed(self.speaks, some, weights)


def _weighted(weights: Floats, table: npt.NDArray[np.int8]) -> Floats:
    """Return the sums ``weights @ table``: weights are few different numbers, most of them 0."""
    out = np.zeros(table.shape[1])
    for weight in np.unique(weights[weights != 0]).tolist():
        pairs = np.flatnonzero(weights == weight)
        out += weight * table[pairs].sum(axis=0, dtype=np.int16 if len(pairs) < 1 << 15 else np.int64)
    return out


def _summed(table: npt.NDArray[np.int8], some: Ints, weights: Floats) -> Floats:
    """Return ``table[:, some] @ weights[some]``, on one thread."""
    return np.asarray(np.einsum("pm,m->p", table[:, some].astype(np.float64), weights[some]))
