"""Goals of an adversary: another winner, b above a, a distance of delta; and claims as text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from holdrank.arrays.tolerances import SAME
from holdrank.errors import UsageError, item_number, quote, real_number, whole_number
from holdrank.rankings import Floats, Ints, Ranking, hausdorff_half, hausdorff_ns
from holdrank.rules.metrics import NAMES, Metric, MetricLike, distances, ranking_indices
from holdrank.words import goals as words
from holdrank.words.goals import Deed

TierDistance: TypeAlias = Literal["hausdorff_ns", "hausdorff_half"]

DISTANCES = {"hausdorff_ns": hausdorff_ns, "hausdorff_half": hausdorff_half}
CLAIMS = "'X wins', 'A above B' or 'top 3'"


@runtime_checkable
class Goal(Protocol):
    """The goal of an attack. Goals are values, compared by their contents.

    A user-defined goal is a frozen dataclass with these three methods. Its aim must be one that `Aim` can express;
    engines, search and proofs then support it like the goals of this module.
    """

    def aim(self, before: Ranking, items: Sequence[str]) -> Aim:
        """Return what this goal means for items with these names, whose consensus is `before`."""
        ...

    def text(self) -> str:
        """Return the goal in words, as a noun: "another winner"."""
        ...

    def deed(self, n: int) -> Deed:
        """Return the goal in the forms that sentences about `n` items need."""
        ...


@dataclass(frozen=True, slots=True)
class Aim:
    """A goal with its names resolved, ready for the engines.

    For strict rankings every goal is a union of three simple conditions on the order after the attack; the fields that
    do not apply are empty.

    Attributes
    ----------
    goal : Goal
    before : Ranking
        The consensus to be broken.
    flips : int
        At least this many pairs in another order than in `before`.
    above : tuple of int
        (b, a): b stands above a.
    newcomers : tuple of int
        At least one of these items is among the first `top`.
    leaver : tuple of int
        This item is not among the first `top`.
    top : int
    other_set : bool
        The set of the first `top` items differs from that in `before`; `newcomers` are then all items outside it.
    distance : str or Metric
        With `delta`: the consensus moves by at least `delta` in this distance, "hausdorff_ns" or "hausdorff_half", or
        in this metric.
    delta : float
    limit : float
        Attacks that cost this share of the votes, or more, are not of interest: engines may ignore them.
    """

    goal: Goal
    before: Ranking
    flips: int = 0
    above: tuple[int, ...] = ()
    newcomers: tuple[int, ...] = ()
    leaver: tuple[int, ...] = ()
    top: int = 0
    other_set: bool = False
    distance: str | Metric = ""
    delta: float = 0.0
    limit: float = math.inf

    def renumbered(self, place: Ints) -> Aim:
        """Return the same with item i called ``place[i]``."""
        above, newcomers, leaver = (
            tuple(int(place[item]) for item in items) for items in (self.above, self.newcomers, self.leaver)
        )
        before = Ranking(self.before.ranks[np.argsort(place)])
        return replace(self, before=before, above=above, newcomers=newcomers, leaver=leaver)

    def reached(self, after: Ranking) -> bool:
        """Whether a consensus, with or without ties, fulfils the goal.

        Place k means fewer than k items strictly above: tied items share the best of their places.
        """
        if self.distance:
            return _moved(self.distance, self.before, after) >= self.delta - SAME
        if self.above:
            b, a = self.above
            return bool(after.ranks[b] < after.ranks[a])
        first = top_items(after, self.top)
        if self.other_set:
            return first != top_items(self.before, self.top)
        if self.leaver:
            return first.isdisjoint(self.leaver)
        return not first.isdisjoint(self.newcomers)

    def reached_by_all(self, tied: Ranking) -> bool:
        """Whether every strict ranking that breaks the ties of `tied` fulfils the goal."""
        ranks = tied.ranks
        above = ranks[:, None] < ranks
        if self.above:
            return bool(above[self.above])
        if self.newcomers:
            new = list(self.newcomers)
            may_come_first = np.delete(ranks, new) <= ranks[new].min()  # the others, wherever a tie lets them
            return bool(may_come_first.sum() < self.top)
        if self.leaver:
            return bool(above[:, self.leaver[0]].sum() >= self.top)
        return int((above & (self.before.ranks[:, None] > self.before.ranks)).sum()) >= self.flips

    def reached_by_some(self, tied: Ranking) -> bool:
        """Whether some strict ranking that breaks the ties of `tied` fulfils the goal."""
        ranks = tied.ranks
        if self.above:
            return bool(ranks[self.above[0]] <= ranks[self.above[1]])
        if self.newcomers:
            return bool(((ranks[:, None] < ranks).sum(axis=0)[list(self.newcomers)] < self.top).any())
        if self.leaver:
            return int((ranks <= ranks[self.leaver[0]]).sum()) - 1 >= self.top
        return int(((ranks[:, None] <= ranks) & (self.before.ranks[:, None] > self.before.ranks)).sum()) >= self.flips

    def is_impossible(self) -> bool:
        """Whether no ranking fulfils the goal: a distance beyond the farthest, or a newcomer where every item is in."""
        if isinstance(self.distance, Metric):
            return not (distances_from(self.before, self.distance) >= self.delta - SAME).any()
        if self.distance:
            return _moved(self.distance, self.before, _farthest(self.before)) < self.delta - SAME
        return not (self.above or self.newcomers or self.leaver or self.other_set)

    def step(self) -> int:
        """Return the requested distance in half pairs, rounded up: aims with the same step are fulfilled together.

        In another metric, the number of rankings that are too near.
        """
        if isinstance(self.distance, Metric):
            return int((distances_from(self.before, self.distance) < self.delta - SAME).sum())
        if self.distance == "hausdorff_half":
            pairs = self.before.n * (self.before.n - 1) // 2
            return math.ceil(2 * self.delta * pairs - SAME)
        return 2 * self.flips


@lru_cache(maxsize=64)
def _farthest(before: Ranking) -> Ranking:
    """Return the farthest ranking: every strict pair turned; a tie can only be broken, which counts half or nothing."""
    return Ranking(-before.ranks * before.n + np.arange(before.n))


@lru_cache(maxsize=4096)  # a curve asks about the same two rankings for every distance
def _moved(distance: str | Metric, before: Ranking, after: Ranking) -> float:
    measure = distance if isinstance(distance, Metric) else DISTANCES[distance]
    return float(measure(before, after))


def distances_from(before: Ranking, metric: Metric) -> Floats:
    """Return the distances, from 0 to 1, of a strict ranking to all rankings, in the order of `all_rankings`."""
    table = distances(metric, before.n)
    return table.rows(int(ranking_indices(np.array([before.order]))[0])) / table.unit


def top_items(ranking: Ranking, k: int) -> set[int]:
    """Return the items with fewer than `k` items strictly above them.

    Examples
    --------
    >>> sorted(top_items(Ranking([1, 2, 2, 3]), 2))
    [0, 1, 2]
    """
    top: set[int] = set()
    for bucket in ranking.buckets:
        if len(top) >= k:
            break
        top.update(bucket)
    return top


@dataclass(frozen=True, slots=True)
class NewWinner:
    """Another item gets to first place, alone or shared.

    Examples
    --------
    >>> NewWinner().aim(Ranking([1, 2, 3]), "abc").reached(Ranking([2, 1, 3]))
    True
    """

    def aim(self, before: Ranking, items: Sequence[str]) -> Aim:  # noqa: ARG002
        """See `Goal`."""
        return Aim(self, before, newcomers=_outside(before, 1), top=1)

    def text(self) -> str:
        """See `Goal`."""
        return self.deed(0).noun

    def deed(self, n: int) -> Deed:  # noqa: ARG002
        """See `Goal`."""
        return words.new_winner()


def deed_of(goal: Goal, ranks: Sequence[int], *, tiers: bool) -> Deed:
    """Return the effect of an attack on a consensus; the first place of `tiers` may end up shared."""
    if tiers and isinstance(goal, NewWinner):
        return words.new_leader(shared=list(ranks).count(1) > 1)
    return goal.deed(len(ranks))


@dataclass(frozen=True, slots=True)
class Wins:
    """The item is in the first place, alone or shared."""

    item: str

    def aim(self, before: Ranking, items: Sequence[str]) -> Aim:
        """See `Goal`."""
        return Aim(self, before, newcomers=(item_number(self.item, items),), top=1)

    def text(self) -> str:
        """See `Goal`."""
        return self.deed(0).noun

    def deed(self, n: int) -> Deed:  # noqa: ARG002
        """See `Goal`."""
        return words.wins(self.item)


@dataclass(frozen=True, slots=True)
class Above:
    """The item `upper` ranks strictly above the item `lower`."""

    upper: str
    lower: str

    def aim(self, before: Ranking, items: Sequence[str]) -> Aim:
        """See `Goal`."""
        pair = item_number(self.upper, items), item_number(self.lower, items)
        if pair[0] == pair[1]:
            raise UsageError(f"{quote(self.upper)} cannot be above itself; name two items")
        return Aim(self, before, above=pair)

    def text(self) -> str:
        """See `Goal`."""
        return self.deed(0).noun

    def deed(self, n: int) -> Deed:  # noqa: ARG002
        """See `Goal`."""
        return words.above(self.upper, self.lower)


@dataclass(frozen=True, slots=True)
class TopSet:
    """The set of the top `k` items changes; with ties, the set of items with fewer than `k` above them."""

    k: int

    def __post_init__(self) -> None:
        _keep_place(self)

    def aim(self, before: Ranking, items: Sequence[str]) -> Aim:
        """See `Goal`."""
        _check_place(self.k, items)
        return Aim(self, before, newcomers=_outside(before, self.k), top=self.k, other_set=True)

    def text(self) -> str:
        """See `Goal`."""
        return self.deed(0).noun

    def deed(self, n: int) -> Deed:  # noqa: ARG002
        """See `Goal`."""
        return words.top_set(self.k)


@dataclass(frozen=True, slots=True)
class Enters:
    """The item is in the top `k`: fewer than `k` items rank strictly above it."""

    item: str
    k: int

    def __post_init__(self) -> None:
        _keep_place(self)

    def aim(self, before: Ranking, items: Sequence[str]) -> Aim:
        """See `Goal`."""
        _check_place(self.k, items)
        return Aim(self, before, newcomers=(item_number(self.item, items),), top=self.k)

    def text(self) -> str:
        """See `Goal`."""
        return self.deed(0).noun

    def deed(self, n: int) -> Deed:  # noqa: ARG002
        """See `Goal`."""
        return words.enters(self.item, self.k)


@dataclass(frozen=True, slots=True)
class Leaves:
    """The item is no longer in the top `k`: at least `k` items rank strictly above it."""

    item: str
    k: int

    def __post_init__(self) -> None:
        _keep_place(self)

    def aim(self, before: Ranking, items: Sequence[str]) -> Aim:
        """See `Goal`."""
        _check_place(self.k, items)
        return Aim(self, before, leaver=(item_number(self.item, items),), top=self.k)

    def text(self) -> str:
        """See `Goal`."""
        return self.deed(0).noun

    def deed(self, n: int) -> Deed:  # noqa: ARG002
        """See `Goal`."""
        return words.leaves(self.item, self.k)


@dataclass(frozen=True, slots=True)
class Distance:
    """The consensus moves by at least `delta`, a share of the pairs; the goal of the paper's breakdown function.

    Parameters
    ----------
    delta : float
        Between 0 and 1.
    distance : {"hausdorff_ns", "hausdorff_half"}, or a metric
        Between strict rankings both are Kendall's tau. For a `Median` also any metric that `Metric.of` takes; `delta`
        is then a share of the largest distance.
    """

    delta: float
    distance: MetricLike = "hausdorff_ns"

    def __post_init__(self) -> None:
        delta = real_number(self.delta)
        if delta is None or not 0 <= delta <= 1:
            raise UsageError(f"delta must be a share of the pairs, from 0 to 1, not {quote(str(self.delta))}")
        object.__setattr__(self, "delta", delta)
        if not (isinstance(self.distance, str) and self.distance in DISTANCES):
            object.__setattr__(self, "distance", measure_of(self.distance))

    def aim(self, before: Ranking, items: Sequence[str]) -> Aim:
        """See `Goal`."""
        if isinstance(self.distance, Metric):
            return Aim(self, before, distance=self.distance, delta=self.delta)
        pairs = len(items) * (len(items) - 1) // 2
        flips = max(math.ceil(self.delta * pairs - SAME), 0)
        return Aim(self, before, flips=flips, distance=str(self.distance), delta=self.delta)

    def text(self, n: int = 0) -> str:
        """See `Goal`; with the number of items, as a number of pairs, where that is a whole one."""
        return self.deed(n).noun

    def deed(self, n: int) -> Deed:
        """See `Goal`."""
        if isinstance(self.distance, Metric):
            return words.moves_by(self.delta, self.distance.name)
        pairs = 0 if self.distance == "hausdorff_half" else n * (n - 1) // 2
        flips = math.ceil(self.delta * pairs - SAME) if self.delta > SAME else 0
        return words.moves(self.delta, flips, pairs)


def measure_of(given: MetricLike) -> Metric:
    """Return the metric that a distance other than those of tiers means."""
    if isinstance(given, str) and given not in NAMES:
        known = ", ".join((*DISTANCES, *NAMES))
        raise UsageError(f"distance must be one of {known}, a function or a matrix, not {quote(given)}")
    return Metric.of(given)


def claimed(claim: str, items: Sequence[str]) -> Wins | Above | TopSet:
    """Parse a claim: an item wins, one item ranks above another, or the top k stay the same.

    Names may contain the words of a claim; the names of existing items decide.

    Examples
    --------
    >>> claimed("b above a", ["a", "b"]), claimed("b wins", ["a", "b"]), claimed("top 1", ["a", "b"])
    (Above(upper='b', lower='a'), Wins(item='b'), TopSet(k=1))
    """
    said = " ".join(claim.split())
    top = re.fullmatch(r"top (\d{1,9})", said)
    if top and said not in items:
        return TopSet(int(top[1]))
    winner = said.removesuffix(" wins")
    if winner != said and (winner in items or " above " not in said):
        return Wins(winner)
    for sign in re.finditer(" above ", said):
        upper, lower = said[: sign.start()], said[sign.end() :]
        if (upper in items and lower in items) or said.count(" above ") == 1:
            return Above(upper, lower)
    raise UsageError(f"a claim is {CLAIMS}, not {quote(claim)}")


def goal_against(claim: Wins | Above | TopSet, items: Sequence[str], before: Ranking, *, tiers: bool) -> Goal | None:
    """Return the goal that makes a claim fail; None if the claim is already false.

    Examples
    --------
    >>> goal_against(Above("a", "b"), ["a", "b"], Ranking([1, 2]), tiers=False)
    Above(upper='b', lower='a')
    """
    if isinstance(claim, TopSet):
        return claim
    if isinstance(claim, Wins):
        # Any other winner: a shared first place is not a win.
        return NewWinner() if claim.aim(before, items).newcomers == before.buckets[0] else None
    if tiers:
        said = quote(f"{claim.upper} above {claim.lower}")
        raise UsageError(f"tiers may tie the two items of {said}; make this claim without tiers")
    return Above(claim.lower, claim.upper) if claim.aim(before, items).reached(before) else None


def _outside(before: Ranking, k: int) -> tuple[int, ...]:
    inside = top_items(before, k)
    return tuple(i for i in range(before.n) if i not in inside)


def _keep_place(goal: TopSet | Enters | Leaves) -> None:
    """Convert a place from numpy to Python; `aim` refuses invalid places."""
    k = whole_number(goal.k)
    if k is not None:
        object.__setattr__(goal, "k", k)


def _check_place(k: object, items: Sequence[str]) -> None:
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k < len(items):
        raise UsageError(f"k must be a whole number from 1 to {len(items) - 1} (fewer than the items), not {k}")
