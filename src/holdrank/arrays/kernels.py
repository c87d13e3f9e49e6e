"""Counts the pairs of weighted ballots, in whole numbers that are exact in any order; groups equal rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from holdrank.arrays.native import call

_BLOCK = 8192  # ballots counted at a time: their ranks stay in the cache
_PAIRS = 1 << 18  # of items that are counted at a time, where ballots list few of them


def count_wins(
    ranks: npt.NDArray[np.integer[Any]],
    weights: npt.NDArray[np.float64],
    *,
    strict: bool,
    observed: bool,
) -> npt.NDArray[np.float64]:
    """Return W with W[i, j] = weight of the ballots that place i above j, a tie counting half for each.

    Parameters
    ----------
    ranks : (m, n) array below 2**15, 0 = unlisted; fastest when stored column by column
    weights : (m,) array
    strict : bool
        No ballot has a tie or an unlisted item, so that one comparison decides a pair.
    observed : bool
        Unlisted items are not compared (otherwise they are tied below the listed ones).
    """
    m, n = ranks.shape
    all_ones = bool((weights == 1).all())
    scale = 1.0 if all_ones else whole_number_scale(weights)
    doubled = np.zeros((n, n), dtype=np.int64)  # a tie adds one on both sides
    columns = ranks.T
    in_place = (strict or observed) and columns.dtype == np.int16 and columns.flags.c_contiguous
    unit = np.ones(min(m, _BLOCK), dtype=np.int64)
    for start in range(0, m, _BLOCK):
        size = min(_BLOCK, m - start)
        part = unit if all_ones else np.rint(weights[start : start + size] * scale)
        ones = all_ones or bool((part == 1).all())
        whole = unit[:size] if ones else part.astype(np.int64)
        if in_place:
            call("add_pairs", columns, n, m, start, size, whole, ones, strict, doubled)
            continue
        block = np.array(columns[:, start : start + size], dtype=np.int16, order="C")
        if not (strict or observed):
            block[block == 0] = n + 1
        call("add_pairs", block, n, size, 0, size, whole, ones, strict, doubled)
    return doubled / (2 * scale)


def count_battles(ranks: npt.NDArray[np.integer[Any]], weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the wins of ballots that list exactly two items, in time linear in the ballots."""
    n = ranks.shape[1]
    scale = whole_number_scale(weights, spare_bits=11)  # sums of floats stay exact below 2**53
    whole = np.rint(weights * scale)
    row, item = np.nonzero(ranks)
    first, second = item[0::2], item[1::2]
    margin = ranks[row[1::2], second].astype(np.int64) - ranks[row[0::2], first]
    doubled = np.zeros(n * n)
    for winner, loser, points in ((first, second, 1 + np.sign(margin)), (second, first, 1 - np.sign(margin))):
        doubled += np.bincount(winner * n + loser, weights=whole * points, minlength=n * n)
    return doubled.reshape(n, n) / (2 * scale)


def count_marks(
    n: int,
    sizes: npt.NDArray[np.integer[Any]],
    item: npt.NDArray[np.integer[Any]],
    rank: npt.NDArray[np.integer[Any]],
    weights: npt.NDArray[np.float64],
    *,
    observed: bool,
    spare_bits: int = 2,
) -> npt.NDArray[np.float64]:
    """Do the same as `count_wins` for ballots that list few of n items; the time depends on the pairs that they list.

    `sizes` says how many items each ballot lists, `item` and `rank` which ones and where, ballot after ballot.
    """
    # A ballot adds 1 to both sides of a pair, and moves one of them to the other side if it prefers one to the other.
    # Under "bottom" it does so for all pairs: a listed item gains on every unlisted one.
    scale = whole_number_scale(weights, spare_bits)
    whole = np.rint(weights * scale).astype(np.int64)
    doubled = np.zeros((n, n), dtype=np.int64)
    flat = doubled.reshape(-1)
    begins = np.cumsum(sizes) - sizes
    for size in np.unique(sizes).tolist():
        ballots = np.flatnonzero(sizes == size)
        for start in range(0, len(ballots), step := max(1, _PAIRS // (size * size))):
            some = ballots[start : start + step]
            at = begins[some][:, None] + np.arange(size)
            listed, places = item[at].astype(np.int64), rank[at].astype(np.int64)
            for first in range(0, size, rows := max(1, _PAIRS // size)):  # a long ballot by itself in parts
                upper = slice(first, first + rows)
                lead = np.sign(places[:, None, :] - places[:, upper, None]) + observed
                pairs = listed[:, upper, None] * n + listed[:, None, :]
                np.add.at(flat, pairs.reshape(-1), (whole[some][:, None, None] * lead).reshape(-1))
    if not observed:
        listing = np.zeros(n, dtype=np.int64)
        np.add.at(listing, item, np.repeat(whole, sizes))
        doubled += listing[:, None] + whole.sum()
        doubled -= listing
    np.fill_diagonal(doubled, 0)
    return doubled / (2 * scale)


def whole_number_scale(weights: npt.NDArray[np.float64], spare_bits: int = 2) -> float:
    """Return a factor that makes whole numbers of the weights and leaves room for sums in 64 bits.

    Sums of whole numbers are exact in any order, so results do not depend on the machine or on how the ballots are
    stored. Counts stay unchanged if they fit; otherwise, like shares, they keep ``62 - spare_bits`` binary digits of
    the total.
    """
    total = float(weights.sum())
    parts = np.array_split(weights, 1 + len(weights) // _BLOCK)
    if total <= 2.0 ** (62 - spare_bits) and all(np.array_equal(np.rint(part), part) for part in parts):
        return 1.0
    return float(2.0 ** (62 - spare_bits - int(np.ceil(np.log2(total)))))


def group_rows(rows: npt.NDArray[Any], keys: tuple[int, int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the first row of each group of equal rows, groups as they first occur, and the group of every row.

    The keys choose a hash, not the result: random ones keep anyone from choosing rows that are slow to tell apart.
    """
    m = len(rows)
    first, label, prints = (np.empty(m, dtype=np.int64) for _ in range(3))
    table = np.empty(1 << (2 * m + 15).bit_length(), dtype=np.int64)  # numpy asks for large pages of memory
    raw = np.ascontiguousarray(rows).view(np.bool_)
    count = call("group_rows", raw, m, raw.shape[1], *keys, table, len(table), prints, first, label)
    return first[:count], label
