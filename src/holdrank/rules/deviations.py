"""A ranking for merges: the strength of its borders, and how far its buckets deviate from indifference.

The tie-breaking rule of the merges is implemented here; see `merges`.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

import numpy as np
import numpy.typing as npt

from holdrank.arrays.tolerances import DECIMALS
from holdrank.errors import UsageError
from holdrank.rankings import Floats, Ints, Ranking

_DENSER = 1.5  # power by which small thresholds are denser, where only some are tried


class Borders:
    """The strength of each border between neighbouring buckets of a ranking.

    Attributes
    ----------
    buckets : tuple
        Those of the ranking.
    strength : array
        For each border, the least ``P[i, j] - 1/2`` of an item i above it and an item j below it.
    """

    def __init__(self, P: npt.ArrayLike, ranking: Ranking) -> None:
        _expect_ranking(ranking)
        self.buckets = ranking.buckets
        items = np.asarray(ranking.order)
        least = _margins(P, ranking.n)[np.ix_(items, items)]
        least = np.minimum.accumulate(least[:, ::-1], axis=1)[:, ::-1]  # of an item over those from some place on
        least = np.minimum.accumulate(least, axis=0)  # of all items up to some place over these
        below = np.cumsum([len(bucket) for bucket in self.buckets])[:-1]
        self.strength: Floats = least[below - 1, below]

    def ranking(self, theta: float) -> Ranking:
        """Return the ranking with the borders that are stronger than `theta`."""
        unions = [list(self.buckets[0])] if self.buckets else []
        for bucket, strength in zip(self.buckets[1:], self.strength.tolist(), strict=True):
            if strength > theta:
                unions.append(list(bucket))
            else:
                unions[-1] += bucket
        return Ranking.from_buckets(unions)

    def path(self) -> list[tuple[float, Ranking]]:
        """Return (theta, ranking) for every theta at which borders fall."""
        thetas = np.unique(np.concatenate(([0.0], np.maximum(self.strength, 0.0))))
        return [(theta, self.ranking(theta)) for theta in thetas.tolist()]


class Deviations:
    """Deviations from indifference between the buckets of a ranking, in its order.

    Attributes
    ----------
    k : int
        Number of buckets; the rules work on their numbers 0 .. k-1.
    items : array
        Items in the order of the ranking.
    edges : array
        Bucket b holds ``items[edges[b]:edges[b + 1]]``.
    pairs : (n, n) array
        ``|P - 1/2|`` in that order.
    cross : (k, k) array
        Largest deviation between an item of one bucket and an item of another; zero on the diagonal.
    inner : (k,) array
        Largest deviation inside each bucket.
    """

    def __init__(self, P: npt.ArrayLike, ranking: Ranking) -> None:
        _expect_ranking(ranking)
        matrix = np.abs(_margins(P, ranking.n))
        self._compared: dict[tuple[tuple[int, int], tuple[int, int]], bool] = {}  # intervals that were close
        self.items: Ints = np.asarray(ranking.order)
        sizes = [len(bucket) for bucket in ranking.buckets]
        self.k = len(sizes)
        self.edges: Ints = np.concatenate(([0], np.cumsum(sizes)))
        self.pairs: Floats = matrix[np.ix_(self.items, self.items)]
        if self.k == ranking.n:
            self.cross, self.inner = self.pairs.copy(), np.zeros(self.k)
        else:
            starts = self.edges[:-1]
            self.cross = np.maximum.reduceat(np.maximum.reduceat(self.pairs, starts, axis=0), starts, axis=1)
            self.inner = self.cross.diagonal().copy()
            np.fill_diagonal(self.cross, 0.0)

    def ranking(self, unions: Iterator[list[int]] | list[list[int]]) -> Ranking:
        """Return the ranking whose buckets are unions of the original ones, best first."""
        return Ranking.from_buckets(
            [item for b in union for item in self.items[self.edges[b] : self.edges[b + 1]].tolist()] for union in unions
        )

    # Naive Merge: always two neighbours, for a union's list of deviations contains that of each part of it.

    def joins(self) -> Iterator[tuple[float, int, int]]:
        """Yield (height, left bucket, right bucket) of all joins of Naive Merge, closest first, until one is left."""
        cross = self.cross.copy()  # row b: largest deviations from the union that begins at bucket b
        inner = self.inner.copy()
        end = np.arange(1, self.k + 1)  # where the union that begins at b ends
        before = np.arange(-1, self.k - 1)  # the union before the one that begins at b
        version = np.zeros(self.k, dtype=np.int64)

        def join(left: int, right: int) -> _Join:
            height = max(inner[left], inner[right], cross[left, right])
            return _Join(height, cross[left, right], self, (left, right, int(end[right])), int(version[left]))

        heap = [join(b, b + 1) for b in range(self.k - 1)]
        heapify(heap)
        while heap:
            nearest = heappop(heap)
            left, right, _ = nearest.span
            if nearest.version != version[left]:
                continue  # made before one of its sides grew
            yield float(nearest.height), left, right
            inner[left] = nearest.height
            np.maximum(cross[left], cross[right], out=cross[left])
            cross[:, left] = cross[left]
            end[left] = end[right]
            version[left] += 1
            version[right] = -1
            if end[left] < self.k:
                before[end[left]] = left
                heappush(heap, join(left, int(end[left])))
            if before[left] >= 0:
                version[before[left]] += 1
                heappush(heap, join(int(before[left]), left))

    def naive_path(self) -> Iterator[tuple[float, list[list[int]]]]:
        """Yield (theta, buckets) after all joins of each height."""
        buckets = {start: [start] for start in range(self.k)}
        theta = 0.0
        for height, left, right in self.joins():
            if height > theta:
                yield theta, [buckets[start] for start in sorted(buckets)]
                theta = height
            buckets[left] = buckets[left] + buckets.pop(right)
        yield theta, [buckets[start] for start in sorted(buckets)]

    # Downward Merge: the chosen interval cannot grow any more, so it is final and cuts the others at its borders.

    def _interval_tables(self) -> tuple[Floats, Floats, Floats]:
        """Return tables by bucket numbers i <= j.

        ``widest[i, j]``: largest deviation inside buckets i..j; ``row[i, j]``: largest between bucket i and those up
        to j; ``column[i, j]``: largest between bucket j and those from i on.
        """
        upper = np.triu(self.cross, 1)
        row = np.maximum.accumulate(upper, axis=1)
        column = np.maximum.accumulate(upper[::-1], axis=0)[::-1]
        np.fill_diagonal(upper, self.inner)
        widest = np.maximum.accumulate(np.maximum.accumulate(upper, axis=1)[::-1], axis=0)[::-1]
        return widest, row, column

    def farthest(self, theta: float, tables: tuple[Floats, Floats, Floats] | None = None) -> list[list[int]]:
        """Return the buckets of Downward Merge at `theta`."""
        widest, row, column = tables or self._interval_tables()
        # Feasible intervals are closed under parts: from each bucket, they reach up to one last bucket.
        reach = np.maximum((widest <= theta).sum(axis=1) - 1, np.arange(self.k))
        unions = []
        segments = [(0, self.k - 1)]
        while segments:
            first, last = segments.pop()
            if first > last:
                continue
            starts = np.arange(first, last + 1)
            ends = np.minimum(reach[first : last + 1], last)
            # An interval inside the one that starts before it never wins.
            grows = ends > np.concatenate(([first - 1], ends[:-1]))
            starts, ends = starts[grows & (ends > starts)], ends[grows & (ends > starts)]
            if not len(starts):
                unions += [[b] for b in range(first, last + 1)]
                continue
            heights = widest[starts, ends]
            best = (-1, -1)
            for i in np.flatnonzero(heights == heights.max()).tolist():
                rival = (int(starts[i]), int(ends[i]))
                if best == (-1, -1) or self._is_farther(rival, best, row, column):
                    best = rival
            unions.append(list(range(best[0], best[1] + 1)))
            segments += [(first, best[0] - 1), (best[1] + 1, last)]
        return sorted(unions)

    def _is_farther(self, rival: tuple[int, int], best: tuple[int, int], row: Floats, column: Floats) -> bool:
        """Whether `rival`, which starts and ends after `best`, has the larger list of deviations."""
        (start, end), (rival_start, rival_end) = best, rival
        if rival_start <= end:
            # Deviations that both have cannot decide; the largest of the others usually does.
            mine = row[start:rival_start, end].max()
            theirs = column[rival_start, end + 1 : rival_end + 1].max()
            if mine != theirs:
                return bool(theirs > mine)
        known = self._compared.get((best, rival))
        if known is None:
            cut = min(end, rival_start - 1)  # last bucket that only `best` has
            mine_left = self._between(range(start, cut + 1), end)
            theirs_left = self._between(range(max(end + 1, rival_start), rival_end + 1), rival_start, backwards=True)
            known = self._compared[best, rival] = theirs_left > mine_left
        return known

    def _between(self, buckets: range, limit: int, *, backwards: bool = False) -> bytes:
        """Return, from the largest, the deviations of each bucket to those after it up to `limit` (or before it)."""
        blocks = []
        for b in buckets:
            others = (
                slice(self.edges[limit], self.edges[b])
                if backwards
                else slice(self.edges[b + 1], self.edges[limit + 1])
            )
            blocks.append(self.pairs[self.edges[b] : self.edges[b + 1], others].ravel())
        return _sorted_word(np.concatenate(blocks))

    def downward_path(self, most: int | None = None) -> Iterator[tuple[float, list[list[int]]]]:
        """Yield (theta, buckets) at every theta where an interval becomes feasible, or at `most` of them.

        Small ones, where tiers differ most, are then denser than large ones; the first and the last are among them.
        """
        tables = self._interval_tables()
        heights = np.union1d(tables[0][np.triu_indices(self.k)], [0.0])
        if most is not None and len(heights) > most:
            part = np.linspace(0.0, 1.0, most) ** _DENSER
            heights = heights[np.unique(np.round(part * (len(heights) - 1)).astype(np.intp))]
        for theta in heights.tolist():
            yield theta, self.farthest(theta, tables)


class _Join:
    """Two neighbouring unions of buckets that Naive Merge may join; ordered by closeness.

    The list of all deviations across is sorted only if height and largest deviation do not decide.
    """

    __slots__ = ("_word", "deviations", "height", "largest", "span", "version")

    def __init__(
        self, height: float, largest: float, deviations: Deviations, span: tuple[int, int, int], version: int
    ) -> None:
        self.height, self.largest, self.deviations, self.span, self.version = height, largest, deviations, span, version
        self._word: bytes | None = None

    def word(self) -> bytes:
        if self._word is None:
            left, middle, right = (int(self.deviations.edges[b]) for b in self.span)
            self._word = _sorted_word(self.deviations.pairs[left:middle, middle:right].ravel())
        return self._word

    def __lt__(self, other: _Join) -> bool:
        if self.height != other.height:
            return self.height < other.height
        if self.largest != other.largest:
            return self.largest < other.largest
        return (self.word(), self.span[0]) < (other.word(), other.span[0])


def _sorted_word(values: Floats) -> bytes:
    """Return the values from the largest, as bytes whose order is that of the lists compared like words."""
    return np.sort(values)[::-1].astype(">f8").tobytes()


def _expect_ranking(ranking: object) -> None:
    if not isinstance(ranking, Ranking):
        raise UsageError(f"the ranking to merge must be a Ranking, not {type(ranking).__name__}")


def _margins(P: npt.ArrayLike, n: int) -> Floats:
    """Return ``P - 1/2``, checked, antisymmetric and rounded."""
    matrix = np.asarray(P, dtype=np.float64)
    if matrix.shape != (n, n):
        raise UsageError(f"P must be a {n} x {n} matrix for a ranking of {n} items, not of shape {matrix.shape}")
    if not np.isfinite(matrix).all() or matrix.min() < 0 or matrix.max() > 1:
        raise UsageError("P must hold shares from 0 to 1")
    if np.abs(matrix + matrix.T - 1).max() > 1e-6:
        raise UsageError("P[i, j] + P[j, i] must be 1 for every pair, and 1/2 on the diagonal")
    return np.round((matrix - matrix.T) / 2, DECIMALS)
