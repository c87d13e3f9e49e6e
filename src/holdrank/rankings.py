"""Rankings with ties, and the distances between them.

A ranking is an ordered partition of the items ``0 .. n-1`` into buckets; a strict ranking has one item per bucket. All
distances are normalised to [0, 1]. Every distance takes two rankings (or two vectors of ranks) and gives a float, or
takes arrays of ranks with leading batch axes and gives an array: ``kendall(A[:, None], B)`` holds all pairs of rows.
The batch form runs on any array library (numpy, torch, cupy).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, permutations
from math import factorial
from operator import index
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from holdrank.arrays.native import call
from holdrank.errors import LimitError, UsageError, show
from holdrank.status import Shown

Ints: TypeAlias = npt.NDArray[np.integer[Any]]
Floats: TypeAlias = npt.NDArray[np.float64]

_SORTED_FROM = 256  # items from which sorting each ranking of a batch beats comparing all pairs of items
_ONE_SORTED_FROM = 16  # the same for a single pair of rankings
_MOST_SHOWN = 30  # items in one line
_MOST_LISTED = 1_000_000  # rankings that `all_rankings` is willing to list


class Ranking(Shown):
    """A ranking of the items ``0 .. n-1``, best first, ties allowed.

    Parameters
    ----------
    ranks : sequence of numbers
        The rank of each item: smaller is better, equal is tied. Only the order counts: ``[1, 2, 2, 4]``,
        ``[1, 2, 2, 3]`` and ``[0, 5, 5, 9]`` are the same ranking.

    Notes
    -----
    Rankings are immutable and hashable. ``a <= b`` reads "a is stricter than b": every way to break the ties of a
    also breaks the ties of b. This is a partial order; ``a <= b`` and ``b <= a`` may both be false.

    Paper: bucket rankings and the order "stricter than" (Section 3.2).

    Examples
    --------
    >>> r = Ranking([1, 2, 2, 4])
    >>> r.ranks.tolist(), r.buckets, r.is_strict
    ([1, 2, 2, 3], ((0,), (1, 2), (3,)), False)
    >>> r.text(["A", "B", "C", "D"])
    'A > {B, C} > D'
    >>> Ranking.from_order([0, 2, 1, 3]) <= r
    True
    """

    __slots__ = ("_ranks",)
    _ranks: Ints

    def __init__(self, ranks: Iterable[float] | npt.ArrayLike) -> None:
        try:
            values = np.asarray(ranks if isinstance(ranks, np.ndarray | Sequence) else list(ranks))  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            raise UsageError("a ranking needs one rank per item") from error
        if values.ndim != 1 or values.size == 0:
            raise UsageError("a ranking needs one rank per item, and at least one item")
        _refuse_unordered(values)
        dense = np.unique(values, return_inverse=True)[1].astype(np.int32) + 1
        dense.flags.writeable = False
        self._ranks = dense

    @classmethod
    def from_order(cls, order: Iterable[int]) -> Ranking:
        """Return the strict ranking that lists the items of `order` best first.

        Examples
        --------
        >>> Ranking.from_order([2, 0, 1]).ranks.tolist()
        [2, 3, 1]
        """
        return cls.from_buckets([item] for item in order)

    @classmethod
    def from_buckets(cls, buckets: Iterable[Iterable[int]]) -> Ranking:
        """Return the ranking with these buckets, best first; every item ``0 .. n-1`` must occur once.

        Examples
        --------
        >>> Ranking.from_buckets([[1], [0, 2]]).ranks.tolist()
        [2, 1, 2]
        """
        rank_of = {}
        mentioned = 0
        for rank, bucket in enumerate(buckets):
            for item in bucket:
                try:
                    rank_of[index(item)] = rank
                except TypeError as error:
                    raise UsageError(f"items are numbers from 0, not {show(repr(item))}") from error
                mentioned += 1
        if mentioned != len(rank_of) or set(rank_of) != set(range(mentioned)):
            raise UsageError(f"the buckets must hold every item from 0 to {max(mentioned - 1, 0)} exactly once")
        return cls([rank_of[item] for item in range(mentioned)])

    @property
    def ranks(self) -> Ints:
        """Dense ranks, one for each item: 1 is best, equal is tied; read-only."""
        return self._ranks

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self._ranks)

    @property
    def places(self) -> Floats:
        """Mean place of each item (1 is best) over all ways to break the ties."""
        places: Floats = mean_places(self._ranks)
        return places

    @property
    def order(self) -> tuple[int, ...]:
        """The items best first; tied items in the order of their numbers."""
        return tuple(np.argsort(self._ranks, kind="stable").tolist())

    @property
    def buckets(self) -> tuple[tuple[int, ...], ...]:
        """The buckets best first, each in the order of item numbers."""
        found: list[list[int]] = [[] for _ in range(int(self._ranks.max()))]
        for item, rank in enumerate(self._ranks.tolist()):
            found[rank - 1].append(item)
        return tuple(map(tuple, found))

    @property
    def is_strict(self) -> bool:
        """Whether no two items are tied."""
        return int(self._ranks.max()) == self.n

    def reversed(self) -> Ranking:
        """Return the ranking read from worst to best."""
        return Ranking(-self._ranks)

    def text(self, items: Sequence[str] | None = None) -> str:
        """Return the ranking as text, ``A > {B, C} > D``; names are shown with control characters escaped."""
        names = [show(name) for name in items] if items is not None else [str(i) for i in range(self.n)]
        if len(names) != self.n:
            raise UsageError(f"{len(names)} names were given for a ranking of {self.n} items")
        parts = [[names[i] for i in bucket] for bucket in self.buckets]
        return " > ".join(part[0] if len(part) == 1 else "{" + ", ".join(part) + "}" for part in parts)

    def __le__(self, other: object) -> bool:
        if not isinstance(other, Ranking) or other.n != self.n:
            return NotImplemented
        # In the order of self, the ranks of other may never fall, and may not rise inside a bucket of self.
        order = np.argsort(self._ranks, kind="stable")
        rise = np.diff(other._ranks[order])
        return bool(np.all(rise >= 0) and np.all((rise == 0) | (np.diff(self._ranks[order]) > 0)))

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Ranking) or other.n != self.n:
            return NotImplemented
        return self <= other and self != other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ranking) and np.array_equal(self._ranks, other._ranks)

    def __hash__(self) -> int:
        return hash(self._ranks.tobytes())

    def __reduce__(self) -> tuple[type[Ranking], tuple[list[int]]]:
        return Ranking, (self._ranks.tolist(),)

    def __repr__(self) -> str:
        if self.n > _MOST_SHOWN:
            return f"Ranking([{', '.join(map(str, self._ranks[:3].tolist()))}, …] of {self.n} items)"
        return f"Ranking({self._ranks.tolist()})"


def all_rankings(n: int, *, ties: bool = False) -> list[Ranking]:
    """Return every ranking of `n` items.

    Strict rankings come in lexicographic order of their best-first lists, the order of `itertools.permutations`;
    with ``ties=True`` all bucket rankings come, sorted by their vectors of ranks.

    Examples
    --------
    >>> [r.order for r in all_rankings(3)][:3]
    [(0, 1, 2), (0, 2, 1), (1, 0, 2)]
    >>> len(all_rankings(3, ties=True))
    13
    """
    if n < 1:
        raise UsageError(f"all_rankings needs at least one item, not {n}")
    if (_fubini(n) if ties else factorial(n)) > _MOST_LISTED:
        raise LimitError(f"there are more than {_MOST_LISTED:,} rankings of {n} items; list those of fewer items")
    if ties:
        return [Ranking(ranks) for ranks in sorted(_weak_orders(tuple(range(n)), n))]
    return [Ranking.from_order(order) for order in permutations(range(n))]


def _fubini(n: int) -> int:
    """Return the number of ordered partitions of n items."""
    counts = [1]
    for size in range(1, n + 1):
        counts.append(
            sum(factorial(size) // factorial(k) // factorial(size - k) * counts[size - k] for k in range(1, size + 1))
        )
    return counts[n]


def _weak_orders(items: tuple[int, ...], n: int) -> Iterator[tuple[int, ...]]:
    """Yield the ranks (0 best) of every ordered partition of `items`; the other entries are zero."""
    if not items:
        yield (0,) * n
    for size in range(1, len(items) + 1):
        for first in combinations(items, size):
            rest = tuple(i for i in items if i not in first)
            for ranks in _weak_orders(rest, n):
                yield tuple(ranks[i] + (i in rest) for i in range(n))


def kendall(a: Any, b: Any) -> Any:
    """Return the Kendall distance: the share of pairs of items that the two rankings order differently.

    A pair tied in exactly one of the rankings counts one half.

    Paper: Kendall tau (Section 2.1), which counts one orientation only; here both count.

    Examples
    --------
    >>> kendall([1, 2, 3, 4], [1, 2, 4, 3])
    0.16666666666666666
    """
    return _share_of_pairs(a, b, lambda reversed_, tied_a, tied_b: reversed_ + (tied_a + tied_b) / 2)


def hausdorff_half(a: Any, b: Any) -> Any:
    """Return the symmetrised Hausdorff distance for Kendall, ``(H_ns(a, b) + H_ns(b, a)) / 2``.

    It counts a reversed pair 1 and a pair tied in exactly one ranking 1/2, so it is `kendall` under the name that
    the breakdown functions use.

    Paper: the symmetric extension of a distance to bucket rankings (Section 3.2).

    Examples
    --------
    >>> hausdorff_half([1, 1, 2], [1, 2, 3])
    0.16666666666666666
    """
    return kendall(a, b)


def hausdorff_ns(a: Any, b: Any) -> Any:
    """Return the non-symmetric Hausdorff distance for Kendall from bucket ranking `a` to bucket ranking `b`.

    ``max over s2 in b of min over s1 in a of kendall(s1, s2)``: the share of pairs that are strict in `a` and that
    `b` reverses or ties. It is zero exactly when `b` is stricter than `a`.

    Paper: the non-symmetric Hausdorff extension H^(NS) (Section 3.2).

    Examples
    --------
    >>> hausdorff_ns([1, 1, 2], [1, 2, 3]), hausdorff_ns([1, 2, 3], [1, 1, 2])
    (0.0, 0.3333333333333333)
    """
    return _share_of_pairs(a, b, lambda reversed_, _, tied_b: reversed_ + tied_b)


def spearman_rho(a: Any, b: Any) -> Any:
    """Return ``sum (a(i) - b(i))**2`` over the places of the items, divided by its maximum ``n (n**2 - 1) / 3``.

    Tied items stand at the mean of the places that their bucket covers.

    Paper: Spearman rho (Appendix A), whose own constant gives 2 for reversed rankings; ours gives 1.

    Examples
    --------
    >>> spearman_rho([1, 2, 3], [3, 2, 1])
    1.0
    """
    return _from_places(a, b, lambda gap: gap * gap, rho_maximum)


def footrule_distance(a: Any, b: Any) -> Any:
    """Return ``sum |a(i) - b(i)|`` over the places of the items, divided by its maximum ``floor(n**2 / 2)``.

    Tied items stand at the mean of the places that their bucket covers.

    Paper: Spearman footrule (Appendix A), there not divided by its maximum.

    Examples
    --------
    >>> footrule_distance([1, 2, 3], [1, 3, 2])
    0.5
    """
    return _from_places(a, b, abs, footrule_maximum)


def rho_maximum(n: int) -> float:
    """Return the largest sum of squared differences of places, between a ranking and its reverse."""
    return n * (n * n - 1) / 3


def footrule_maximum(n: int) -> int:
    """Return the largest sum of differences of places, between a ranking and its reverse."""
    return n * n // 2


def mean_places(ranks: Any) -> Any:
    """Return the mean place of each item over all ways to break the ties of `ranks` (last axis: items)."""
    if isinstance(ranks, np.ndarray) and ranks.ndim == 1:
        _, inverse, sizes = np.unique(ranks, return_inverse=True, return_counts=True)
        ends = np.cumsum(sizes)
        return (ends - (sizes - 1) / 2)[inverse]
    xp = array_namespace(ranks)
    better = xp.zeros(ranks.shape, dtype=xp.float64, device=ranks.device)
    for j in range(ranks.shape[-1]):
        rival = ranks[..., j : j + 1]
        better = better + xp.astype(rival < ranks, xp.float64) + xp.astype(rival == ranks, xp.float64) / 2
    return better + 0.5


def _share_of_pairs(a: Any, b: Any, cost: Callable[[Any, Any, Any], Any]) -> Any:
    """Return `cost` of the numbers of (reversed, tied in a only, tied in b only) pairs, over the number of pairs."""
    a, b, single = _rank_arrays(a, b)
    n = a.shape[-1]
    pairs = max(n * (n - 1) // 2, 1)
    if isinstance(a, np.ndarray) and n >= (_ONE_SORTED_FROM if single else _SORTED_FROM):
        flat_a, flat_b = a.reshape(-1, n), b.reshape(-1, n)
        values = np.array([cost(*_count_by_sorting(x, y)) for x, y in zip(flat_a, flat_b, strict=True)])
        shares = (values / pairs).reshape(a.shape[:-1])
    else:
        shares = cost(*_count_by_comparing(a, b)) / pairs
    return float(shares) if single else shares


def _count_by_comparing(a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Count pairs (reversed, tied in a only, tied in b only) for each row: O(n**2), any array library."""
    xp = array_namespace(a)
    zero = xp.zeros(a.shape[:-1], dtype=xp.float64, device=a.device)
    reversed_, tied_a, tied_b = zero, zero, zero
    for i in range(a.shape[-1] - 1):
        a_up, a_down = a[..., i : i + 1] < a[..., i + 1 :], a[..., i : i + 1] > a[..., i + 1 :]
        b_up, b_down = b[..., i : i + 1] < b[..., i + 1 :], b[..., i : i + 1] > b[..., i + 1 :]
        a_strict, b_strict = a_up | a_down, b_up | b_down
        for_each = {"axis": -1, "dtype": xp.float64}
        reversed_ = reversed_ + xp.sum(xp.astype((a_up & b_down) | (a_down & b_up), xp.float64), **for_each)
        tied_a = tied_a + xp.sum(xp.astype(b_strict & ~a_strict, xp.float64), **for_each)
        tied_b = tied_b + xp.sum(xp.astype(a_strict & ~b_strict, xp.float64), **for_each)
    return reversed_, tied_a, tied_b


def _count_by_sorting(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> tuple[float, float, float]:
    """Count pairs (reversed, tied in a only, tied in b only) of one pair of rankings: O(n log n)."""
    a, b = _levels(a), _levels(b)
    both = a * (int(b.max()) + 1) + b
    # Sorted by a, and by b inside the ties of a, each reversed pair is one inversion of b.
    sorted_b = np.ascontiguousarray(b[np.argsort(both, kind="stable")])
    reversed_ = call("inversions", sorted_b, len(sorted_b))
    tied_both = _pairs_within(_levels(both))
    return float(reversed_), float(_pairs_within(a) - tied_both), float(_pairs_within(b) - tied_both)


def _levels(values: npt.NDArray[Any]) -> Ints:
    """Return 0, 1, 2, ... in the order of the values, equal values alike."""
    if values.dtype.kind in "iu":
        lowest = int(values.min())
        if int(values.max()) - lowest <= 4 * len(values):  # no need to sort
            shifted = values.astype(np.int64) - lowest
            return (np.cumsum(np.bincount(shifted) > 0) - 1)[shifted]
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _pairs_within(levels: Ints) -> int:
    """Return the number of pairs on the same level."""
    sizes = np.bincount(levels)
    return int((sizes * (sizes - 1) // 2).sum())


def _from_places(a: Any, b: Any, cost: Callable[[Any], Any], largest: Callable[[int], float]) -> Any:
    """Return the sum over the items of `cost` of the difference of places, over its largest value."""
    a, b, single = _rank_arrays(a, b)
    xp = array_namespace(a)
    n = a.shape[-1]
    shares = xp.sum(cost(mean_places(a) - mean_places(b)), axis=-1) / max(largest(n), 1)
    return float(shares) if single else shares


def _rank_arrays(a: Any, b: Any) -> tuple[Any, Any, bool]:
    """Return both arguments as arrays of ranks of one shape, and whether each was a single ranking."""
    a, b = _as_ranks(a), _as_ranks(b)
    if a.shape[-1:] != b.shape[-1:] or a.ndim == 0:
        raise UsageError(f"the rankings have different numbers of items: shapes {tuple(a.shape)} and {tuple(b.shape)}")
    single = a.ndim == b.ndim == 1
    xp = array_namespace(a)
    try:
        a, b = xp.broadcast_arrays(a, b)
    except (ValueError, RuntimeError) as error:
        raise UsageError(f"the batches do not fit: shapes {tuple(a.shape)} and {tuple(b.shape)}") from error
    return a, b, single


def _as_ranks(value: Any) -> Any:
    if isinstance(value, Ranking):
        return value.ranks
    if not isinstance(value, np.ndarray) and hasattr(value, "shape"):
        return value  # another library's array; it stays on its device
    array = np.asarray(value)
    _refuse_unordered(array)
    return array


def _refuse_unordered(values: npt.NDArray[Any]) -> None:
    if values.dtype.kind not in "iufb" or (values.dtype.kind == "f" and not np.isfinite(values).all()):
        raise UsageError(f"ranks must be finite numbers, not {show(str(values.tolist()))}")


def array_namespace(array: Any) -> Any:
    """Return the array library of an array, in the standard's spelling."""
    if isinstance(array, np.ndarray) and hasattr(np, "astype"):  # numpy itself speaks it since version 2.1
        return np
    import array_api_compat  # costs more to import than the rest of this file

    return array_api_compat.array_namespace(array)
