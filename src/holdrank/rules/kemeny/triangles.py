"""Triangle rows that a solution of the linear program violates: ``0 <= x_ij + x_jk - x_ik <= 1`` for i < j < k."""

from __future__ import annotations

from typing import Any

import numpy as np

from holdrank.arrays.kernels import fastest
from holdrank.rankings import Floats, Ints

_VIOLATED = 1e-6
_ROWS_A_PAIR = 2  # new rows that may share a pair: many different rows beat the most violated ones


def most_violated(before: Floats) -> Ints:
    """Return triples i < j < k with a violated row, the most violated first, few of them sharing a pair."""
    n = len(before)
    find = fastest(violated_triangles, _find_violated, seconds=n**3 / 1e8 + n * 3e-5)
    excess, triples = find(before, _VIOLATED, 20 * n)
    used = np.zeros((n, n), dtype=np.int64)
    chosen = []
    for i, j, k in triples[np.lexsort((*triples.T[::-1], -excess))].tolist():
        if max(used[i, j], used[j, k], used[i, k]) < _ROWS_A_PAIR:
            used[i, j] += 1
            used[j, k] += 1
            used[i, k] += 1
            chosen.append((i, j, k))
    return np.array(chosen, dtype=np.int64).reshape(-1, 3)


def violated_triangles(before: Any, tolerance: float, most: int) -> Any:
    """Return (excess, triples) of rows ``0 <= x_ij + x_jk - x_ik <= 1``, i < j < k, violated by more than `tolerance`.

    All of them, or when there are more than `most` those above a threshold that leaves at least `most`.
    """
    n = len(before)
    steps = np.zeros(102, np.int64)
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(j + 1, n):
                total = before[i, j] + before[j, k] - before[i, k]
                excess = max(total - 1, -total)
                if excess > tolerance:
                    steps[int(excess * 100)] += 1
    lowest = 101
    count = 0
    while lowest > 0 and count < most:
        lowest -= 1
        count += steps[lowest]
    excesses = np.empty(count)
    triples = np.empty((count, 3), np.int64)
    at = 0
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(j + 1, n):
                total = before[i, j] + before[j, k] - before[i, k]
                excess = max(total - 1, -total)
                if excess > tolerance and int(excess * 100) >= lowest:
                    excesses[at] = excess
                    triples[at] = i, j, k
                    at += 1
    return excesses, triples


def _find_violated(before: Floats, tolerance: float, most: int) -> tuple[Floats, Ints]:
    """Find what `violated_triangles` finds, a matrix of numpy for each first item."""
    n = len(before)
    found = []
    for i in range(n - 2):
        sums = before[i, i + 1 :, None] + before[i + 1 :, i + 1 :] - before[i, None, i + 1 :]
        excess = np.triu(np.maximum(sums - 1, -sums), 1)
        j, k = np.nonzero(excess > tolerance)
        found.append(np.stack((excess[j, k], np.full(len(j), i), j + i + 1, k + i + 1), axis=1))
    rows = np.concatenate(found)
    # The threshold is one of a hundred steps, as in the compiled loop, so that both choose the same rows.
    steps = np.bincount((rows[:, 0] * 100).astype(np.int64), minlength=101)[:101]
    enough = np.flatnonzero(np.cumsum(steps[::-1]) >= most)
    rows = rows[(rows[:, 0] * 100).astype(np.int64) >= (100 - enough[0] if len(enough) else 0)]
    return rows[:, 0], rows[:, 1:].astype(np.int64)
