"""Metrics between strict rankings of a few items: by name, as a function of two rankings, or as a matrix."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import factorial, lcm
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from holdrank.errors import LimitError, UsageError, quote, real_number, show
from holdrank.rankings import Floats, Ints, Ranking, footrule_distance, kendall, spearman_rho

MOST_NAMED = 7  # items: 5,040 rankings
MOST_GIVEN = 6  # items of a matrix: every triangle of rankings is checked
MOST_CALLED = 5  # items of a function, which is called for every two rankings
SMALLEST = 1e-100  # largest distance of a metric
ROUNDING = 1e-12  # of the largest distance: what a metric given in floating point may be off by

Compare: TypeAlias = Callable[[Ranking, Ranking], float]
MetricLike: TypeAlias = "str | Metric | Compare | npt.ArrayLike"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric between strict rankings of the same items.

    Make one with `Metric.of`, from a name, a function or a matrix, or with `Metric.weighted_kendall`. Every function
    that takes a metric also accepts the arguments of `Metric.of`.

    Attributes
    ----------
    name : str
        One of the names below, or that of a user-defined metric.
    function : callable or None
        The distance of two `Ranking`, if given.
    weights : tuple of float
        The weights of `weighted_kendall`, if given.
    matrix : bytes
        The entries of a matrix, row by row, if given.

    Notes
    -----
    ========================  ===================================================================================
    "kendall"                 pairs of items in another order
    "cayley"                  swaps of any two items that turn one ranking into the other
    "ulam"                    items to move elsewhere
    "hamming"                 items at another place
    "footrule"                sum of the differences of places
    "spearman_rho"            sum of their squares; not a metric, see below
    "weighted_kendall"        lowest cost of swaps of neighbours, where places k and k + 1 cost 1 / k
    ========================  ===================================================================================

    Called with two rankings, a metric returns their distance divided by the largest possible one, so that it lies
    between 0 and 1. Spearman's rho violates the triangle inequality; it is included because the paper uses it and its
    median is Borda's. Functions and matrices are checked to be metrics.

    Examples
    --------
    >>> ulam = Metric.of("ulam")
    >>> ulam(Ranking([1, 2, 3, 4]), Ranking([4, 1, 2, 3]))
    0.3333333333333333
    """

    name: str
    function: Compare | None = None
    weights: tuple[float, ...] = ()
    matrix: bytes = b""

    @classmethod
    def of(cls, given: MetricLike, *, name: str = "") -> Metric:
        """Return a metric from its name, from a function of two `Ranking`, or from a matrix.

        The rows and columns of a matrix are all strict rankings in the order of `all_rankings`: n! of them.

        Examples
        --------
        >>> Metric.of(lambda a, b: float(a != b), name="discrete").name
        'discrete'
        """
        if isinstance(given, Metric):
            return given
        if isinstance(given, str):
            if given not in NAMES:
                raise UsageError(
                    f"metric must be one of {', '.join(NAMES)}, a function or a matrix, not {quote(given)}"
                )
            return cls(given)
        if callable(given):
            own = next((known for known, function in _OWN.items() if function is given), None)
            called = str(getattr(given, "__name__", type(given).__name__))
            return cls(own) if own else cls(name or (called if called.isidentifier() else "own_metric"), given)
        return cls(name or "own_metric", matrix=_entries(given).tobytes())

    @classmethod
    def weighted_kendall(cls, weights: Sequence[float]) -> Metric:
        """Return the lowest cost of swaps of neighbours, where swapping places k and k + 1 costs ``weights[k - 1]``.

        Heavy weights first make changes near the top count most. Equal weights give Kendall's metric.

        Examples
        --------
        >>> top_heavy = Metric.weighted_kendall([3, 1])
        >>> top_heavy(Ranking([1, 2, 3]), Ranking([1, 3, 2])), top_heavy(Ranking([1, 2, 3]), Ranking([2, 1, 3]))
        (0.2, 0.6)
        """
        kept = []
        for place, weight in enumerate(weights, start=1):
            number = real_number(weight)
            if number is None or not 0 < number < np.inf:
                raise UsageError(
                    f"weight {place} of weighted_kendall must be a positive number, not {quote(str(weight))}",
                    repair="use a small positive weight; with 0, two rankings that differ only at places "
                    f"{place} and {place + 1} would be at distance 0",
                )
            kept.append(float(number))
        return cls("weighted_kendall", weights=tuple(kept))

    def __call__(self, a: Ranking, b: Ranking) -> float:
        """Return the distance of two strict rankings, from 0 to 1."""
        if a.n != b.n or not (a.is_strict and b.is_strict):
            raise UsageError(f"{self.name} compares two strict rankings of the same items, not {a!r} and {b!r}")
        table = distances(self, a.n)
        at = ranking_indices(np.array([a.order, b.order]))
        return float(table.between[at[0], at[1]]) / table.unit

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Metric({self.name}{', ' * bool(self.weights)}{', '.join(f'{weight:g}' for weight in self.weights)})"


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """A metric on all strict rankings of n items.

    Attributes
    ----------
    between : (n!, n!) array
        Distances, not normalised, in the order of `all_rankings`.
    largest : float
        The largest of them.
    whole : bool
        Whether all are whole numbers, so that sums over counted votes are exact.
    is_metric : bool
        Whether the triangle inequality holds; False for Spearman's rho only.
    invariant : bool
        Whether renaming the items does not change distances.
    """

    between: npt.NDArray[Any]
    largest: float
    whole: bool
    is_metric: bool
    invariant: bool

    @property
    def unit(self) -> float:
        """The divisor of distances: the largest, or 1 if there is only one ranking."""
        return self.largest or 1.0

    def rows(self, at: Any) -> Floats:
        """Return rows of the distances, as floating-point numbers."""
        return np.asarray(self.between[at], dtype=np.float64)


@lru_cache(maxsize=16)
def distances(metric: Metric, n: int) -> Distances:
    """Return a metric on all strict rankings of n items; refuse invalid metrics and too many items."""
    given = metric.function is not None or bool(metric.matrix)
    most = MOST_CALLED if metric.function is not None else MOST_GIVEN if given or metric.weights else MOST_NAMED
    if n > most:
        raise LimitError(
            f"{metric.name} lists all {factorial(n):,} rankings of {n} items; the limit is {most} items",
            repair="keep fewer items"
            + (f", or give the metric as a matrix, up to {MOST_GIVEN} items" if most == MOST_CALLED else ""),
        )
    if metric.matrix:
        size = round((len(metric.matrix) // 8) ** 0.5)
        if size != factorial(n):
            raise UsageError(
                f"{metric.name} is a matrix over {size:,} rankings, and {n} items have {factorial(n):,}",
                repair="give a row and a column for every strict ranking, in the order of all_rankings(n)",
            )
        return _checked(metric.name, np.frombuffer(metric.matrix).reshape(size, size), n)
    if metric.function is not None:
        return _checked(metric.name, _called(metric.name, metric.function, n), n)
    if metric.weights:
        if len(metric.weights) != n - 1:
            raise UsageError(
                f"weighted_kendall has {len(metric.weights)} weights, and {n} items have {n - 1} pairs of "
                "neighbouring places",
                repair=f"give {n - 1} weights, from the top down",
            )
        own = by_moves(n, _cheapest_swaps(n, metric.weights)).astype(np.float64)
        return _checked(metric.name, np.minimum(own, own.T), n)
    between = _TABLES[metric.name](n)
    between.flags.writeable = False
    return Distances(between, float(between.max(initial=0)), True, metric.name != "spearman_rho", True)


@lru_cache(maxsize=8)
def _orders(n: int) -> Ints:
    """Return all orders, best first, as `all_rankings` lists them."""
    found = np.array(list(permutations(range(n))), dtype=np.int64).reshape(-1, n)
    found.flags.writeable = False
    return found


@lru_cache(maxsize=8)
def all_orders_listed(n: int) -> tuple[tuple[int, ...], ...]:
    """Return all orders, best first, as tuples."""
    return tuple(permutations(range(n)))


def ranking_indices(orders: npt.ArrayLike) -> Ints:
    """Return the positions of orders (best first, one per row) among all rankings."""
    rows = np.asarray(orders, dtype=np.int64)
    n = rows.shape[-1]
    smaller_later = [(rows[:, at + 1 :] < rows[:, at : at + 1]).sum(axis=1) * factorial(n - 1 - at) for at in range(n)]
    return np.asarray(np.sum(smaller_later, axis=0, dtype=np.int64))


def _entries(given: npt.ArrayLike) -> Floats:
    try:
        entries = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        entries = np.empty(())
    if not entries.ndim:
        raise UsageError(
            f"a metric is a name, a function of two rankings or a matrix of numbers, not {show(repr(given))}"
        )
    sizes = {factorial(n) for n in range(1, MOST_GIVEN + 1)}
    if entries.ndim != 2 or entries.shape[0] != entries.shape[1] or len(entries) not in sizes:
        raise UsageError(
            f"the matrix of a metric has a row and a column for every strict ranking, n! of them for up to "
            f"{MOST_GIVEN} items, not the shape {entries.shape}",
            repair="list the rankings in the order of all_rankings(n)",
        )
    return np.ascontiguousarray(entries)


def _called(name: str, function: Compare, n: int) -> Floats:
    rankings = [Ranking.from_order(order) for order in _orders(n).tolist()]
    between = np.empty((len(rankings), len(rankings)))
    for i, a in enumerate(rankings):
        for j, b in enumerate(rankings):
            value = real_number(function(a, b))
            if value is None:
                raise UsageError(
                    f"{name} must return a number; between {a.text()} and {b.text()} it returns "
                    f"{show(repr(function(a, b)))}"
                )
            between[i, j] = value
    return between


def _checked(name: str, between: Floats, n: int) -> Distances:
    """Return the distances of a metric; the error for an invalid one names rankings that show it."""
    orders = _orders(n)

    def fail(wrong: npt.NDArray[np.bool_], says: Callable[[int, int], str], repair: str) -> None:
        if wrong.any():
            i, j = (int(at) for at in np.argwhere(wrong)[0])
            raise UsageError(f"{name} is not a metric: {says(i, j)}", repair=repair)

    def said(i: int, j: int) -> str:
        return f"the distance from {text(i)} to {text(j)} is {between[i, j]:g}"

    def text(i: int) -> str:
        return " > ".join(map(str, orders[i].tolist()))

    fail(~np.isfinite(between), said, "distances are finite numbers")
    fail(between < 0, said, "distances are not negative")
    largest = float(between.max(initial=0.0))
    if largest and not SMALLEST <= largest <= 1 / SMALLEST:
        raise UsageError(
            f"the largest distance of {name} is {largest:g}, and must lie between {SMALLEST:g} and {1 / SMALLEST:g}",
            repair="multiply all distances by the same number; that changes no median",
        )
    rounding = ROUNDING * largest
    same = np.eye(len(between), dtype=bool)
    fail(same & (between > rounding), said, "a ranking is at distance 0 from itself")
    fail(
        np.abs(between - between.T) > rounding,
        lambda i, j: f"{said(i, j)}, and {between[j, i]:g} the other way round",
        "make it symmetric, for example by the mean of the two",
    )
    fail(
        ~same & (between <= rounding),
        said,
        "different rankings must be at a positive distance",
    )
    between = np.where(same, 0.0, np.minimum(between, between.T))
    for k in range(len(between)):
        fail(
            between > between[:, k, None] + between[k] + rounding,
            lambda i, j, k=k: f"{said(i, j)}, and {between[i, k] + between[k, j]:g} by way of {text(k)}",  # type: ignore[misc]
            "the direct path must be the shortest; shortest paths turn any costs into a metric",
        )
    between.flags.writeable = False
    whole = bool((between == np.rint(between)).all()) and largest < 2**31
    return Distances(between, largest, whole, True, _is_invariant(between, n))


def _is_invariant(between: Floats, n: int) -> bool:
    """Whether renaming the items changes nothing: a swap of two and a turn of all make up every renaming."""
    orders = _orders(n)
    for renamed in ([1, 0, *range(2, n)], [*range(1, n), 0]):
        at = ranking_indices(np.array(renamed[:n])[orders])
        if n > 1 and (np.abs(between[np.ix_(at, at)] - between) > ROUNDING * between.max()).any():
            return False
    return True


# The named metrics, in whole numbers.


def _kendall(n: int) -> npt.NDArray[Any]:
    places = np.argsort(_orders(n), axis=1)
    i, j = np.triu_indices(n, 1)
    above = np.where(places[:, i] < places[:, j], 1.0, -1.0).astype(np.float32)
    return np.asarray((len(i) - above @ above.T) / 2).astype(np.int16)


def _hamming(n: int) -> npt.NDArray[Any]:
    stands = (_orders(n)[:, :, None] == np.arange(n)).reshape(-1, n * n).astype(np.float32)
    return np.asarray(n - stands @ stands.T).astype(np.int16)


def _by_places(cost: Callable[[Any], Any]) -> Callable[[int], npt.NDArray[Any]]:
    def table(n: int) -> npt.NDArray[Any]:
        places = np.argsort(_orders(n), axis=1).astype(np.int16)
        total = np.zeros((len(places), len(places)), dtype=np.int16)
        for place in places.T:
            total += cost(place[:, None] - place)
        return total

    return table


def _cayley(n: int) -> npt.NDArray[Any]:
    def swaps(order: Sequence[int]) -> int:
        seen: set[int] = set()
        cycles = 0
        for start in order:
            cycles += start not in seen
            while start not in seen:
                seen.add(start)
                start = order[start]
        return n - cycles

    return by_moves(n, [swaps(order) for order in _orders(n).tolist()])


def _ulam(n: int) -> npt.NDArray[Any]:
    def moved(order: Sequence[int]) -> int:
        longest: list[int] = []  # rising run that ends at each item
        for at, item in enumerate(order):
            longest.append(1 + max((longest[b] for b in range(at) if order[b] < item), default=0))
        return n - max(longest)

    return by_moves(n, [moved(order) for order in _orders(n).tolist()])


def _hyperbolic(n: int) -> npt.NDArray[Any]:
    common = lcm(*range(1, n)) if n > 1 else 1
    return by_moves(n, _cheapest_swaps(n, [common // k for k in range(1, n)]))


def _cheapest_swaps(n: int, weights: Sequence[float]) -> list[float]:
    """Return the lowest cost of swaps of neighbours from the first order to every other, by Dijkstra."""
    start = tuple(range(n))
    cost: dict[tuple[int, ...], float] = {}
    heap: list[tuple[float, tuple[int, ...]]] = [(0, start)]
    while heap:
        spent, order = heapq.heappop(heap)
        if order in cost:
            continue
        cost[order] = spent
        for k, weight in enumerate(weights):
            swapped = (*order[:k], order[k + 1], order[k], *order[k + 2 :])
            if swapped not in cost:
                heapq.heappush(heap, (spent + weight, swapped))
    return [cost[tuple(order)] for order in _orders(n).tolist()]


def by_moves(n: int, cost: Sequence[float] | npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return all distances of an invariant metric, from those of the first ranking to every ranking."""
    orders = _orders(n)
    powers = n ** np.arange(n)
    values = np.array(cost)
    values = values.astype(np.int16) if values.dtype.kind == "i" else values
    by_code = np.zeros(n**n, dtype=values.dtype)
    by_code[orders @ powers] = values
    # Renamed so that b is the first ranking, a is the order of the places in b of what a lists.
    between = np.empty((len(orders), len(orders)), dtype=values.dtype)
    for column, places in enumerate(np.argsort(orders, axis=1)):
        between[:, column] = by_code[places[orders] @ powers]
    return between


_TABLES: dict[str, Callable[[int], npt.NDArray[Any]]] = {
    "kendall": _kendall,
    "cayley": _cayley,
    "ulam": _ulam,
    "hamming": _hamming,
    "footrule": _by_places(np.abs),
    "spearman_rho": _by_places(np.square),
    "weighted_kendall": _hyperbolic,
}
NAMES = tuple(_TABLES)
_OWN: dict[str, Any] = {"kendall": kendall, "footrule": footrule_distance, "spearman_rho": spearman_rho}
