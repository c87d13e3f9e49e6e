"""Honest ties: merge the neighbours of a ranking that the votes do not tell apart.

All rules start from a ranking and a threshold theta. Downward and Naive Merge look at what they join: two buckets may
be merged, with all that stands between them, when no pair of items in the union deviates from indifference by more
than theta: ``|P[i, j] - 1/2| <= theta``. Naive Merge joins the closest first; Downward Merge joins the farthest that
are still close enough. Smith Merge looks at what it keeps apart: every item must beat every item of the tiers below by
more than theta. All change their result only at the deviations themselves, so all thresholds can be told at once
(`merge_path`).

Which of several equally good unions comes first matters to the first two and is fixed here: their deviations between
items of different buckets, sorted from the largest, are compared like words; Downward takes the larger list, Naive the
smaller, and the leftmost among equals. Deviations are compared to twelve decimals, so that 0.7 - 0.5 and 0.5 - 0.3
are the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from heapq import heapify, heappop, heappush
from time import perf_counter
from typing import Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from holdrank.arrays.tolerances import DECIMALS
from holdrank.errors import UsageError, quote, real_number
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.consensus import Consensus, Statistic, kemeny
from holdrank.rules.registry import rule_of
from holdrank.status import Status, upward
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes

Merge: TypeAlias = Literal["downward", "naive", "smith"]


def naive_merge(P: npt.ArrayLike, ranking: Ranking, theta: float) -> Ranking:
    """Return `ranking` with the closest neighbours merged while no deviation exceeds `theta`.

    The result is monotone: a larger theta never splits a bucket.

    Notes
    -----
    O(n**2) given P. Paper: Algorithm 1, Naive Merge.

    Examples
    --------
    >>> P = [[.5, .69, .9, .9], [.31, .5, .52, .7], [.1, .48, .5, .51], [.1, .3, .49, .5]]
    >>> naive_merge(P, Ranking([1, 2, 3, 4]), 0.02).text("ABCD")
    'A > B > {C, D}'
    """
    deviations = _Deviations(P, ranking)
    limit = _threshold(theta)
    buckets = {start: [start] for start in range(deviations.k)}
    for height, left, right in deviations.joins():
        if height > limit:
            break
        buckets[left] += buckets.pop(right)
    return deviations.ranking(buckets[start] for start in sorted(buckets))


def downward_merge(P: npt.ArrayLike, ranking: Ranking, theta: float) -> Ranking:
    """Return `ranking` with the farthest neighbours merged whose deviations stay within `theta`.

    Not monotone: a larger theta may split one bucket in favour of another.

    Notes
    -----
    O(n**2) given P. Paper: Algorithm 2, Downward Merge.

    Examples
    --------
    >>> P = [[.5, .69, .9, .9], [.31, .5, .52, .7], [.1, .48, .5, .51], [.1, .3, .49, .5]]
    >>> downward_merge(P, Ranking([1, 2, 3, 4]), 0.02).text("ABCD")
    'A > {B, C} > D'
    """
    deviations = _Deviations(P, ranking)
    return deviations.ranking(deviations.farthest(_threshold(theta)))


def smith_merge(P: npt.ArrayLike, ranking: Ranking, theta: float) -> Ranking:
    """Return `ranking` with only those borders left across which every item beats every other by more than `theta`.

    The border below the items U, with the items L beneath it, stays when ``P[i, j] - 1/2 > theta`` for all i in U and j
    in L. So no pair of items in different tiers is closer than theta, or ordered against its majority. The result is
    monotone: a larger theta never splits a bucket. Pairs that are tied may deviate by any amount.

    Notes
    -----
    O(n**2) given P. Every Kemeny ranking, and every ranking by Copeland's scores, lists the items of U before all
    others where such a border exists. From these rankings the tiers are therefore the dominating sets of the majority
    relation with margin theta, whichever of several rankings is taken: the first tier is the smallest set whose items
    beat all others by more than theta (at theta = 0, the Smith set), the second is that of the rest, and so on. From a
    ranking of another kind some borders may be missed.

    Examples
    --------
    >>> P = [[.5, .69, .9, .9], [.31, .5, .52, .7], [.1, .48, .5, .51], [.1, .3, .49, .5]]
    >>> smith_merge(P, Ranking([1, 2, 3, 4]), 0.02).text("ABCD")
    'A > {B, C, D}'
    """
    borders = _Borders(P, ranking)
    return borders.ranking(_threshold(theta))


def merge_path(P: npt.ArrayLike, ranking: Ranking, *, merge: Merge = "downward") -> list[tuple[float, Ranking]]:
    """Return every result of a merge rule as (theta, ranking), for rising theta from 0 to 1/2.

    Each ranking holds from its theta up to the next one; neighbours in the list differ.

    Examples
    --------
    >>> P = [[.5, .69, .9, .9], [.31, .5, .52, .7], [.1, .48, .5, .51], [.1, .3, .49, .5]]
    >>> for theta, merged in merge_path(P, Ranking([1, 2, 3, 4])):
    ...     print(theta, merged.text("ABCD"))
    0.0 A > B > C > D
    0.01 A > B > {C, D}
    0.02 A > {B, C} > D
    0.19 {A, B} > {C, D}
    0.2 A > {B, C, D}
    0.4 {A, B, C, D}
    """
    if _merge(merge) == "smith":
        return _Borders(P, ranking).path()
    deviations = _Deviations(P, ranking)
    results = deviations.naive_path() if merge == "naive" else deviations.downward_path()
    path: list[tuple[float, Ranking]] = []
    for theta, buckets in results:
        merged = deviations.ranking(buckets)
        if not path or merged != path[-1][1]:
            path.append((theta, merged))
    return path


@dataclass(frozen=True, slots=True)
class Robust:
    """A statistic made robust: the consensus of `base`, with neighbours merged by `merge` up to `theta`.

    Parameters
    ----------
    base : Statistic
        `kemeny`, `borda`, `footrule`, or any other.
    theta : float or "auto"
        Threshold on the deviation from indifference, from 0 to 1/2; "auto" is the best one for the votes at hand, as
        `tradeoff` finds it.
    merge : {"downward", "naive", "smith"}

    Notes
    -----
    The loss counts a tie one half. The bound is the base's when that is a Kendall loss. With merge "smith" and a proved
    Kemeny ranking the result is unique, even when the ranking is not (`smith_merge`). Otherwise, where the base has
    several rankings, the tiers come from the one it reports, and `notes` says so.

    `breakdown` and `attack` are exact for tiers of `kemeny` and `borda` by "downward" and "naive". A base other than
    these has no linear conditions on its order there: only ties and gaps bound it. So attacks on tiers of `footrule`
    are verified, but their lower bounds are weak, often 0. Paper: the plug-in statistics of Section 4.

    Examples
    --------
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[51, 49])
    >>> Robust(kemeny, theta=0.05)(votes).text()
    '{a, b} > c'
    >>> Robust(kemeny, theta="auto").fixed(votes).theta
    0.01
    """

    base: Statistic = kemeny
    theta: float | Literal["auto"] = 0.0
    _: KW_ONLY
    merge: Merge = "downward"

    def __post_init__(self) -> None:
        if self.theta != "auto":
            _threshold(self.theta)
            object.__setattr__(self, "theta", real_number(self.theta))
        _merge(self.merge)

    @property
    def __name__(self) -> str:
        at = "the best threshold" if self.theta == "auto" else f"{self.theta:g}"
        return f"{self.merge} merge of {self.base.__name__} at {at}"

    def __call__(self, votes: Votes | PairCounts, /) -> Consensus:
        """Return the merged consensus of the votes; pair counts will do where they do for the base."""
        return self.merged(votes, self.base(cast("Votes", votes)))

    def fixed(self, votes: Votes, *, time_limit: float | None = None) -> Robust:
        """Return this statistic with a number as threshold: for "auto", the best one for these votes.

        With a time limit in seconds, the best one as far as that could be found out.
        """
        if self.theta != "auto":
            return self
        theta = upward.threshold_of(votes, self.base, self.merge, time_limit=time_limit)
        return Robust(self.base, theta, merge=self.merge)

    def merged(self, votes: Votes | PairCounts, median: Consensus) -> Consensus:
        """Return the merged consensus, given the consensus of the base."""
        if self.theta == "auto":
            return self.fixed(cast("Votes", votes)).merged(votes, median)
        started = perf_counter()
        ranking = MERGES[self.merge](votes.pairwise(), median.ranking, self.theta)
        return Consensus(
            ranking=ranking,
            items=votes.items,
            loss=votes.loss(ranking),
            # A tie costs the mean of its two orders, so no ranking with ties beats the best without.
            bound=median.bound if median.distance == "kendall" else votes.least_loss(),
            distance="kendall",
            status=Status.MERGED if median.status is Status.PROVED else median.status,
            # Other medians may merge to the same ranking; by the dominating sets all of Kemeny's do.
            unique=median.unique or (self._sees_majorities_only(median) or None),
            proof=f"{self.merge} merge at theta = {self.theta:g}; {median.proof}",
            seconds=median.seconds + perf_counter() - started,
            notes=() if median.unique is not False or self._sees_majorities_only(median) else (self._several(),),
        )

    def _several(self) -> str:
        base = getattr(self.base, "__name__", "the base")
        return f"several rankings are equally good for {base}; the tiers come from the one it reports"

    def _sees_majorities_only(self, median: Consensus) -> bool:
        majorities = rule_of(self.base).majorities_first
        return self.merge == "smith" and majorities and median.status is Status.PROVED


def base_of(T: Statistic) -> Statistic:
    """Return the rule below tiers, or the statistic itself."""
    return T.base if isinstance(T, Robust) else T


def ballots_for(T: Statistic, votes: Votes) -> Votes:
    """Return the votes as a statistic sees them: for rules that look at rankings alone, without scores.

    Fewer ballots differ then. What a statistic of one's own looks at is not known.
    """
    return votes.without_scores() if rule_of(base_of(T)).needs in ("pairs", "places") else votes


def consensus_of(votes: Votes, T: Statistic, time_limit: float | None) -> Consensus:
    """Run a statistic, within the time limit if it can be told one."""
    if isinstance(T, Robust):
        return T.merged(votes, rule_of(T.base).run(votes, time_limit))
    return rule_of(T).run(votes, time_limit)


class _Borders:
    """How safe each border between neighbouring buckets of a ranking is.

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


class _Deviations:
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

    def downward_path(self) -> Iterator[tuple[float, list[list[int]]]]:
        """Yield (theta, buckets) at every theta where an interval becomes feasible."""
        tables = self._interval_tables()
        heights = np.unique(tables[0][np.triu_indices(self.k)])
        for theta in np.union1d(heights, [0.0]).tolist():
            yield theta, self.farthest(theta, tables)


class _Join:
    """Two neighbouring unions of buckets that Naive Merge may join; ordered by closeness.

    The list of all deviations across is sorted only if height and largest deviation do not decide.
    """

    __slots__ = ("_word", "deviations", "height", "largest", "span", "version")

    def __init__(
        self, height: float, largest: float, deviations: _Deviations, span: tuple[int, int, int], version: int
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


def _threshold(theta: float) -> float:
    number = real_number(theta)
    if number is None or not 0 <= number <= 0.5:
        raise UsageError(f"theta must be a number from 0 to 0.5, not {quote(str(theta))}")
    return round(float(number), DECIMALS)


def _merge(merge: str) -> str:
    if merge not in MERGES:
        raise UsageError(f"merge must be 'downward', 'naive' or 'smith', not {quote(str(merge))}")
    return merge


MERGES: dict[str, Callable[[npt.ArrayLike, Ranking, float], Ranking]] = {
    "downward": downward_merge,
    "naive": naive_merge,
    "smith": smith_merge,
}
