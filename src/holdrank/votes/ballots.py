"""Ballots as arrays: checked, made dense, merged. What every constructor of `Votes` ends in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from holdrank.errors import InputError, UsageError, quote
from holdrank.rankings import Floats, Ints
from holdrank.votes.forms.ballots import LARGEST_BIT, SparseRanks, are_dense, rank_type
from holdrank.votes.forms.table import MAX_WEIGHT

LEAST_MASS = 1e-100  # below this, shares of votes come near the smallest floats
NUMBERS_AT_A_TIME = 1 << 19  # ranks handled at a time, to keep temporary arrays small


def close(*arrays: npt.NDArray[Any] | None) -> None:
    """Make arrays read-only, where there are any."""
    for array in arrays:
        if array is not None:
            array.flags.writeable = False


def members_of(group: Any) -> Iterable[Any]:
    """Return the items of one place on a ballot: a single item, or the members of a tie."""
    if isinstance(group, set | frozenset):
        return sorted(group, key=str)  # sets have no order of their own
    return group if isinstance(group, list | tuple) else (group,)


def frame_of_ranks(ranks: Any) -> tuple[list[str] | None, Any]:
    """Return (names of the columns, table) of a data frame; what is no frame comes back as it is."""
    import narwhals as nw

    try:
        frame = nw.from_native(ranks, eager_only=True)
    except TypeError:
        return None, ranks
    columns = []
    for k, name in enumerate(frame.columns):
        try:
            columns.append(frame[:, k].cast(nw.Float64).fill_null(0).to_numpy())
        except Exception as error:  # every library has its own
            raise InputError("the column does not hold ranks", column=str(name), expected="numbers") from error
    return [str(name) for name in frame.columns], np.column_stack(columns) if columns else np.zeros((0, 0))


def check_items(items: Sequence[str], n: int) -> None:
    """Refuse names that do not fit n columns, are not text, or occur twice."""
    if len(items) != n:
        raise UsageError(f"{len(items)} item names were given for {n} columns of ranks")
    if n == 0:
        raise InputError("no items", expected="at least one item to rank", repair="check that the right data was given")
    if wrong := [name for name in items if not isinstance(name, str)]:
        raise UsageError(f"names of items must be text, not {quote(repr(wrong[0]))}")
    seen: set[str] = set()
    for name in items:
        if name in seen:
            raise InputError(f"two items have the name {quote(name)}", repair="give each item a name of its own")
        seen.add(name)


def check_weights(weights: npt.ArrayLike | None, m: int, source: str) -> Floats:
    """Return m weights, one each by default; refuse what cannot be weighed or counted exactly."""
    try:
        shares = np.ones(m) if weights is None else np.array(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError("weights must be numbers") from error
    if shares.shape != (m,):
        raise UsageError(f"{m} ballots need {m} weights, not an array of shape {shares.shape}")
    source = "" if source == "memory" else source
    wrong = np.flatnonzero(~np.isfinite(shares) | (shares < 0))
    if wrong.size:
        raise InputError(
            f"ballot {wrong[0] + 1} has the weight {shares[wrong[0]]}", source=source,
            expected="a finite number, not negative", repair="correct or remove the ballot",
        )  # fmt: skip
    total = shares.sum()
    if total > MAX_WEIGHT:
        raise InputError(
            "more votes than can be counted exactly", source=source, found=f"{total:.3g} votes",
            expected="at most 2**46, about 7e13", repair="divide all counts by the same number",
        )  # fmt: skip
    if 0 < total < LEAST_MASS:
        raise InputError(
            "the weights are too small to be told apart", source=source, found=f"{total:.3g} in all",
            expected=f"at least {LEAST_MASS:g}", repair="multiply all weights by the same number",
        )  # fmt: skip
    return shares


def listed_counts(ranks: npt.NDArray[Any] | SparseRanks) -> Ints:
    """Return the number of listed items of each ballot."""
    return ranks.sizes() if isinstance(ranks, SparseRanks) else (ranks != 0).sum(axis=1)


def largest_ranks(ranks: npt.NDArray[Any] | SparseRanks) -> Ints:
    """Return the largest rank of each ballot: the number of its groups of tied items, where ranks have no gaps."""
    return ranks.largest() if isinstance(ranks, SparseRanks) else ranks.max(axis=1)


def dense_ranks(ranks: npt.NDArray[Any]) -> Ints:
    """Return each row with its positive numbers replaced by 1, 2, ... in their order, equal numbers alike."""
    m, n = ranks.shape
    dense = np.empty((m, n), dtype=rank_type(n))
    for start in range(0, m, rows := max(1, NUMBERS_AT_A_TIME // n)):
        block = ranks[start : start + rows]
        if _is_dense(block):
            dense[start : start + rows] = block
            continue
        order = np.argsort(block, axis=1, kind="stable")
        ascending = np.take_along_axis(block, order, axis=1)
        rises = np.diff(ascending, axis=1, prepend=0) > 0
        np.put_along_axis(dense[start : start + rows], order, np.cumsum(rises, axis=1).astype(dense.dtype), axis=1)
    return dense


def _is_dense(ranks: npt.NDArray[Any]) -> bool:
    """Whether every row already holds exactly the numbers 1 .. k for some k, and zeros: the common case."""
    if ranks.dtype.kind not in "iu" or ranks.shape[1] > LARGEST_BIT or ranks.max() > LARGEST_BIT:
        return False
    return are_dense(ranks.astype(np.int64))


def merged(ranks: Ints, weights: Floats, scores: Floats | None) -> tuple[Ints, Floats, Floats | None]:
    """Return the distinct ballots, commonest first, their weights and their scores.

    Voters who gave scores share a ballot only where all their scores are equal; their ranks then are equal too.
    """
    first, label = equal_rows(ranks if scores is None else _score_keys(scores))
    order, heaps = _heaped(first, label, weights)
    return ranks[order], heaps, None if scores is None else scores[order] + 0.0  # a score of -0.0 is 0.0


def merged_marks(ranks: SparseRanks, weights: Floats) -> tuple[SparseRanks, Floats]:
    """Do for ballots held as marks what `merged` does for a matrix."""
    first, label = ranks.groups()
    order, heaps = _heaped(first, label, weights)
    kept = ranks[order]
    return (kept if kept.score is None else replace(kept, score=kept.score + 0.0)), heaps


def _score_keys(scores: Floats) -> Ints:
    """Return whole numbers that are equal exactly where scores are; a missing score equals a missing score."""
    keys = np.where(np.isnan(scores), np.inf, scores)
    keys += 0.0  # -0.0 is 0.0
    bits = keys.view(np.uint64)
    # Short numbers differ in their upper bits alone. Fingerprints carry bits upwards, so lower ones must differ too.
    bits ^= bits >> np.uint64(32)
    return bits


def equal_rows(rows: Ints) -> tuple[Ints, Ints]:
    """Return the first row of each group of equal rows, and the group of every row."""
    # Sorting one 64-bit fingerprint a row is many times faster than sorting rows; a collision is found and undone.
    prints = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        prints = ((prints ^ (prints >> np.uint64(29))) + column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    _, first, label = np.unique(prints, return_index=True, return_inverse=True)
    all_differ = len(first) == len(rows)  # then no two rows can be equal, nor have been confused
    if not all_differ and any((column[first[label]] != column).any() for column in rows.T):
        _, first, label = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, label.reshape(-1)


def _heaped(first: Ints, label: Ints, weights: Floats) -> tuple[Ints, Floats]:
    """Return the first rows of groups, the heaviest group first, and the summed weights."""
    heaps: Floats = np.bincount(label, weights=weights, minlength=len(first)).astype(np.float64)
    if len(first) < len(label) and not np.array_equal(np.rint(weights), weights):
        # Sums of broken numbers depend on their order; rounded once, they do not.
        members = np.argsort(label, kind="stable")
        sizes = np.bincount(label)
        ends = np.cumsum(sizes)
        for group in np.flatnonzero(sizes > 1).tolist():
            heaps[group] = math.fsum(weights[members[ends[group] - sizes[group] : ends[group]]].tolist())
    order = np.lexsort((first, -heaps))
    return first[order], heaps[order]
