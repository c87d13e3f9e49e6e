"""Triangle rows that a solution of the linear program violates: ``0 <= x_ij + x_jk - x_ik <= 1`` for i < j < k."""

from __future__ import annotations

import numpy as np

from holdrank.arrays.native import call
from holdrank.rankings import Floats, Ints

_VIOLATED = 1e-6
_ROWS_A_PAIR = 2  # new rows that may share a pair: many different rows beat the most violated ones


def most_violated(before: Floats) -> Ints:
    """Return triples i < j < k with a violated row, the most violated first, few of them sharing a pair."""
    n = len(before)
    excess, triples = violated_triangles(before, _VIOLATED, 20 * n)
    used = np.zeros((n, n), dtype=np.int64)
    chosen = []
    for i, j, k in triples[np.lexsort((*triples.T[::-1], -excess))].tolist():
        if max(used[i, j], used[j, k], used[i, k]) < _ROWS_A_PAIR:
            used[i, j] += 1
            used[j, k] += 1
            used[i, k] += 1
            chosen.append((i, j, k))
    return np.array(chosen, dtype=np.int64).reshape(-1, 3)


def violated_triangles(before: Floats, tolerance: float, most: int) -> tuple[Floats, Ints]:
    """Return (excess, triples) of rows ``0 <= x_ij + x_jk - x_ik <= 1``, i < j < k, violated by more than `tolerance`.

    All of them, or when there are more than `most` those above a threshold, one of a hundred, that leaves at least
    `most`.
    """
    before = np.ascontiguousarray(before)

    def scan(lowest: int, excesses: Floats, triples: Ints) -> None:
        call("scan_triangles", before, len(before), tolerance, lowest, steps, excesses, triples, len(excesses))

    steps = np.zeros(102, np.int64)  # number of rows by excess, in hundredths
    scan(0, np.empty(0), np.empty((0, 3), np.int64))
    enough = np.flatnonzero(np.cumsum(steps[::-1]) >= most)
    lowest = len(steps) - 1 - int(enough[0]) if len(enough) else 0
    count = int(steps[lowest:].sum())
    excesses, triples = np.empty(count), np.empty((count, 3), np.int64)
    if count:
        scan(lowest, excesses, triples)
    return excesses, triples
