"""Tiers: merge the neighbours of a ranking that the votes do not separate.

All rules start from a ranking and a threshold theta. Downward and Naive Merge limit what they join: two buckets may be
merged, with all between them, if no pair of items in the union deviates from indifference by more than theta: ``|P[i,
j] - 1/2| <= theta``. Naive Merge joins the closest first; Downward Merge joins the farthest that are still close
enough. Smith Merge limits what it keeps apart: every item must beat every item of the tiers below by more than theta.
All change their result only at the deviations themselves, so all thresholds can be computed at once (`merge_path`).

For the first two, the order of equally good unions matters and is fixed here: their deviations between items of
different buckets, sorted from the largest, are compared like words; Downward takes the larger list, Naive the smaller,
and the leftmost among equals. Deviations are compared to twelve decimals, so that 0.7 - 0.5 and 0.5 - 0.3 are the same
number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from time import perf_counter
from typing import Any, Literal, TypeAlias, cast

import numpy.typing as npt

from holdrank.arrays.tolerances import DECIMALS
from holdrank.errors import UsageError, quote, real_number
from holdrank.rankings import Floats, Ranking
from holdrank.rules.consensus import Consensus, Statistic, name_of
from holdrank.rules.deviations import Borders, Deviations
from holdrank.rules.registry import auto, rule_of, suited
from holdrank.rules.thresholds import chance_window
from holdrank.status import Status
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes

Merge: TypeAlias = Literal["downward", "naive", "smith"]


def naive_merge(P: npt.ArrayLike, ranking: Ranking, theta: float) -> Ranking:
    """Return `ranking` with the closest neighbours merged while no deviation exceeds `theta`.

    The result is monotone: a larger theta never splits a bucket.

    Notes
    -----
    O(n**2) given P. Paper: Algorithm 1, Naive Merge (Section 4.1).

    Examples
    --------
    >>> P = [[.5, .69, .9, .9], [.31, .5, .52, .7], [.1, .48, .5, .51], [.1, .3, .49, .5]]
    >>> naive_merge(P, Ranking([1, 2, 3, 4]), 0.02).text("ABCD")
    'A > B > {C, D}'
    """
    deviations = Deviations(P, ranking)
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
    O(n**2) given P. Paper: Algorithm 2, Downward Merge (Section 4.2).

    Examples
    --------
    >>> P = [[.5, .69, .9, .9], [.31, .5, .52, .7], [.1, .48, .5, .51], [.1, .3, .49, .5]]
    >>> downward_merge(P, Ranking([1, 2, 3, 4]), 0.02).text("ABCD")
    'A > {B, C} > D'
    """
    deviations = Deviations(P, ranking)
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
    borders = Borders(P, ranking)
    return borders.ranking(_threshold(theta))


def merge_path(
    P: npt.ArrayLike, ranking: Ranking, *, merge: Merge = "downward", most: int | None = None
) -> list[tuple[float, Ranking]]:
    """Return every result of a merge rule as (theta, ranking), for rising theta from 0 to 1/2.

    Each ranking holds from its theta up to the next one; neighbours in the list differ. Downward Merge of many items
    has thousands of results. With `most`, only that many thresholds are tried, including the first and the last, and
    other results may lie between two of them.

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
        return Borders(P, ranking).path()
    deviations = Deviations(P, ranking)
    results = deviations.naive_path() if merge == "naive" else deviations.downward_path(most)
    path: list[tuple[float, Ranking]] = []
    for theta, buckets in results:
        merged = deviations.ranking(buckets)
        if not path or merged != path[-1][1]:
            path.append((theta, merged))
    return path


@dataclass(frozen=True, slots=True)
class Robust:
    """Tiers as a rule: the consensus of `base`, with neighbours merged up to the threshold `theta`.

    Parameters
    ----------
    base : Statistic
        `kemeny`, `bradley_terry`, `borda`, `footrule`, or any other; by default `auto`: Bradley-Terry for
        battles, else Kemeny.
    theta : float or "auto"
        Threshold on the deviation from indifference, from 0 to 1/2. "auto" ties items that differ by no more than
        chance, but never a pair that is separated both significantly and by more than one vote. Votes that are shares
        have no sampling error, so only level pairs are tied.
    merge : {"downward", "naive", "smith"}

    Notes
    -----
    The loss counts a tie as one half. The bound is that of the base if it is a Kendall loss. With merge "smith" and a
    proven Kemeny ranking the result is unique, even if the ranking is not (`smith_merge`). Otherwise, where the base
    has several rankings, the tiers come from the one it reports, and `notes` says so.

    P is the share of the votes that place one item above the other. For `bradley_terry`, it is the model probability
    instead, so that all votes inform pairs with few votes of their own. Deviations then grow with the gap in strength:
    a tier is a stretch of the ranking whose two ends are close enough.

    `breakdown` and `attack` are exact for tiers of `kemeny` and `borda` by "downward" and "naive". For any other base
    the engine has no linear conditions on the order: ties, gaps and changes of the first items bound it. So attacks on
    tiers of `footrule` are verified, but their lower bounds may be weak. Tiers of `bradley_terry` on battles have lower
    bounds from the gaps in strength that items keep. Paper: the plug-in statistics of Section 4.

    Examples
    --------
    >>> from holdrank import kemeny
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[51, 49])
    >>> Robust(kemeny, theta=0.05)(votes).text()
    '{a, b} > c'
    >>> Robust(kemeny, theta="auto").fixed(votes).theta
    0.25
    """

    base: Statistic = auto
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
        return str(name_of(self))

    def __call__(self, votes: Votes | PairCounts, /) -> Consensus:
        """Return the merged consensus of the votes; pair counts are enough if they are for the base."""
        return self.merged(votes, suited(self.base, votes)(cast("Votes", votes)))

    def fixed(self, votes: Votes | PairCounts, *, median: Consensus | None = None) -> Robust:
        """Return this statistic with a rule and a number as threshold: where one is "auto", the one for these votes.

        `median` is the consensus of the base, if it is known.
        """
        base, theta = suited(self.base, votes), self.theta
        if theta == "auto":
            spread = None
            if votes.is_counts and rule_of(base).probabilities is not None:
                rated = median if median is not None and median.has_ratings else base(cast("Votes", votes))
                spread = rated.pair_errors()
            theta = _threshold(chance_window(votes, pairs_for(base, votes), spread).theta)
        return Robust(base, theta, merge=self.merge)

    def merged(self, votes: Votes | PairCounts, median: Consensus) -> Consensus:
        """Return the merged consensus, given the consensus of the base."""
        known = self.fixed(votes, median=median)
        if known != self:
            return known.merged(votes, median)
        started = perf_counter()
        ranking = MERGES[self.merge](pairs_for(self.base, votes), median.ranking, float(self.theta))
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
        return f"several rankings are optimal for {base}; the tiers come from the one that it reports"

    def _sees_majorities_only(self, median: Consensus) -> bool:
        majorities = rule_of(self.base).majorities_first
        return self.merge == "smith" and majorities and median.status is Status.PROVED


def base_of(T: Statistic) -> Statistic:
    """Return the rule below tiers, or the statistic itself."""
    return T.base if isinstance(T, Robust) else T


def settled(T: Statistic, *votes: Any) -> Statistic:
    """Return a statistic with `auto`, alone or below tiers, replaced by the rule for these votes."""
    return replace(T, base=suited(T.base, *votes)) if isinstance(T, Robust) else suited(T, *votes)


def pairs_for(base: Statistic, votes: Votes | PairCounts) -> Floats:
    """Return the matrix P by which rankings of a rule are merged: shares of the votes, or model probabilities.

    Examples
    --------
    >>> from holdrank import bradley_terry, kemeny
    >>> orders = [["a", "b"], ["b", "a"], ["b", "c"], ["c", "b"]]
    >>> votes = Votes.from_orders(orders, weights=[3, 1, 3, 1], unlisted="observed")
    >>> [round(float(pairs_for(rule, votes)[0, 2]), 3) for rule in (kemeny, bradley_terry)]
    [0.5, 0.9]
    """
    return rule_of(suited(base, votes)).pairwise(votes.wins(), votes.total)


def ballots_for(T: Statistic, votes: Votes) -> Votes:
    """Return the votes as a statistic uses them: without scores for rules that use only rankings.

    This leaves fewer distinct ballots. User-defined statistics get the votes unchanged.
    """
    return votes.without_scores() if rule_of(base_of(T)).needs in ("pairs", "places") else votes


def consensus_of(votes: Votes, T: Statistic, time_limit: float | None) -> Consensus:
    """Run a statistic, within the time limit if it supports one."""
    T = settled(T, votes)
    if isinstance(T, Robust):
        return T.merged(votes, rule_of(T.base).run(votes, time_limit))
    return rule_of(T).run(votes, time_limit)


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
