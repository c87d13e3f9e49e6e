"""Rows beyond triangles: inequalities for orders of a few items that a solution of the linear program violates.

The fractions of a solution on six to eight items are either a mixture of orders of these items, or a plane lies between
them and all orders. Such planes include fences and Möbius ladders, and need no list of families. Wolfe's algorithm
(`arrays/loops/cuts.c`) finds the nearest mixture, and the plane with it; most have small whole weights. The limit is
computed separately: it is the largest sum of the weights over all orders, by dynamic programming in whole numbers. So a
row is valid no matter how its weights were rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holdrank.arrays.native import call
from holdrank.rankings import Floats, Ints

SIZES = (7, 8)  # items of a row; rows on fewer are among them, with weights of 0
_TRIES = 300  # sets of items examined by Wolfe's algorithm, for each size
_RESTARTS = 6  # sets of items to which each known row is moved
_KNOWN = 400  # rows that are moved, for each size: the latest
_ROOM = 6_000
_WHOLE = 12  # the largest weight of a row
_DEEP = 1e-3  # how far the solution must lie beyond a row
_ROWS_A_PAIR = 3  # new rows that may share a pair
_ROWS_AN_ITEM = 4


@dataclass(frozen=True, slots=True)
class Cut:
    """The weights of the pairs i < j (numbers of `items`) that stand in this order add up to at most `limit`.

    Attributes
    ----------
    items : tuple of int
    weights : (k, k) array
        Whole numbers above the diagonal.
    limit : int
        The largest value of any order of the items.
    """

    items: tuple[int, ...]
    weights: Ints
    limit: int

    def row(self, column: Ints) -> tuple[Ints, Floats, float]:
        """Return the columns of the linear program, their values and the upper limit."""
        i, j = np.nonzero(self.weights)
        weights, items = self.weights[i, j], np.array(self.items)
        first, second = items[i], items[j]
        turned = first > second  # the column says the opposite
        values = np.where(turned, -weights, weights)
        columns = column[np.minimum(first, second), np.maximum(first, second)]
        return columns, values.astype(np.float64), float(self.limit - weights[turned].sum())


class Separator:
    """Finds violated rows on a few items, and caches their weights, which are valid for other items too."""

    def __init__(self, sizes: Sequence[int] = SIZES) -> None:
        self.sizes = sizes
        self._known: dict[int, dict[tuple[int, ...], tuple[int, tuple[int, ...]]]] = {k: {} for k in sizes}
        self._rounds = 0

    def violated(self, before: Floats) -> list[Cut]:
        """Return rows that this solution violates, the deepest first, few of them sharing a pair."""
        self._rounds += 1
        found: list[tuple[float, int, tuple[int, ...], int, tuple[int, ...]]] = []
        for k in self.sizes:
            if k <= len(before):
                found += self._sampled(before, k)
                found += self._moved(before, k)
        found.sort(key=lambda one: -one[0])
        used = np.zeros(before.shape, dtype=np.int64)
        chosen: list[Cut] = []
        for _, k, weights, limit, items in found:
            square = np.zeros((k, k), dtype=np.int64)
            square[np.triu_indices(k, 1)] = weights
            i, j = np.nonzero(square)
            at = np.array(items)
            if used[at[i], at[j]].max() >= _ROWS_A_PAIR:
                continue
            used[at[i], at[j]] += 1
            used[at[j], at[i]] += 1
            chosen.append(Cut(items, square, limit))
            if len(chosen) >= _ROWS_AN_ITEM * len(before):
                break
        return chosen

    def _sampled(self, before: Floats, k: int) -> list[tuple[float, int, tuple[int, ...], int, tuple[int, ...]]]:
        """Return rows with whole weights that Wolfe's algorithm finds, and learn their weights."""
        n, pairs = len(before), k * (k - 1) // 2
        sets, normals, distances = np.empty((_TRIES, k), np.int64), np.empty((_TRIES, pairs)), np.empty(_TRIES)
        seed = (self._rounds << 8) + k
        count = call("sample_cuts", before, n, k, _TRIES, seed, _TRIES, sets, normals, distances)
        first, second = np.triu_indices(k, 1)
        square = np.zeros((k, k), dtype=np.int64)
        found = []
        for items, weights in zip(sets[:count], _whole(normals[:count]), strict=True):
            if not weights.any():
                continue
            square[first, second] = weights
            limit = call("heaviest_order", k, square)
            excess = float((weights * before[items[first], items[second]]).sum() - limit)
            depth = excess / float(np.sqrt((weights * weights).sum()))
            if depth > _DEEP:
                key, at = tuple(weights.tolist()), tuple(items.tolist())
                found.append((depth, k, key, limit, at))
                self._known[k].pop(key, None)
                self._known[k][key] = (limit, at)
        return found

    def _moved(self, before: Floats, k: int) -> list[tuple[float, int, tuple[int, ...], int, tuple[int, ...]]]:
        """Return rows with known weights on other items."""
        latest = list(self._known[k].items())[-_KNOWN:]
        if not latest:
            return []
        weights = np.zeros((len(latest), k, k))
        first, second = np.triu_indices(k, 1)
        weights[:, first, second] = [key for key, _ in latest]
        limits = np.array([limit for _, (limit, _) in latest], dtype=np.float64)
        items = np.array([at for _, (_, at) in latest])
        sets, which, excesses = np.empty((_ROOM + 1, k), np.int64), np.empty(_ROOM + 1, np.int64), np.empty(_ROOM + 1)
        count = call(
            "vary_cuts", before, len(before), k, len(latest), weights, limits, items, _RESTARTS, self._rounds, _DEEP,
            _ROOM, sets, which, excesses,
        )  # fmt: skip
        return [
            (depth, k, latest[number][0], latest[number][1][0], tuple(at))
            for depth, number, at in zip(
                excesses[:count].tolist(), which[:count].tolist(), sets[:count].tolist(), strict=True
            )
        ]


def _whole(normals: Floats) -> Ints:
    """Return small whole numbers in the proportions of each line, zeros where there are none."""
    largest = np.abs(normals).max(axis=1, keepdims=True, initial=1e-300)
    weights = np.zeros(normals.shape, dtype=np.int64)
    open_lines = np.ones(len(normals), dtype=bool)
    for scale in range(1, _WHOLE + 1):
        scaled = normals / largest * scale
        fits = open_lines & (np.abs(scaled - np.rint(scaled)).max(axis=1) < 1e-5)
        weights[fits] = np.rint(scaled[fits])
        open_lines &= ~fits
    return weights
