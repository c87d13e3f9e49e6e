"""Exact breakdown of the footrule median: a search over target rankings, each of which has its price, see `places`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from holdrank.attacks.footrule.places import SAME_COST, Places, TargetPrice, target_price
from holdrank.attacks.goals import Aim
from holdrank.attacks.plans import Found, Plan, Progress, nothing, serve_nearer
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.solvers import assignment
from holdrank.rules.solvers.highs import UNIT
from holdrank.status import Clock, Step
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_LISTED_ITEMS = 9  # up to here all targets are listed, most of them excluded by cheap bounds
_WORK = 2e8  # entries of linear programs that a search may go through, about two minutes
_TRIES = 4  # targets tried for one aim where there are too many to list


def find(
    votes: Votes, before: Ranking, aims: Sequence[Aim], change: Change, clock: Clock, progress: Progress | None
) -> list[Found]:
    """Return bounds on the smallest change of the votes that reaches each aim against the footrule median.

    Notes
    -----
    With d the footrule and ballots s of weight w_s, the target sigma is (weakly) a median when for every rival nu

        sum_s (w_s - r_s) (d(s, sigma) - d(s, nu)) <= e d(sigma, nu),   0 <= r_s <= w_s,

    where e is the weight added, for replaced votes e = sum_s r_s. Rivals join one by one, where a solution lets them
    win. The target is first compared with the consensus and with itself with two items swapped. Both have closed forms,
    and they rule out most targets. Paper: the breakdown function (Section 2.2), here exact for the footrule.

    Examples
    --------
    >>> from holdrank import footrule
    >>> from holdrank.attacks.goals import Above
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[6, 4])
    >>> before = footrule(votes).ranking
    >>> [found] = find(votes, before, [Above("b", "a").aim(before, votes.items)], Change.REPLACE, Clock(), None)
    >>> round(found.lower, 9), round(found.upper, 9)
    (0.1, 0.1)
    """
    places = Places(votes, before, change)
    found: dict[int, Found] = {}
    far = [at for at, aim in enumerate(aims) if aim.flips and not aim.reached(before)]
    wanted = sorted({aims[at].flips for at in far})
    if wanted:
        answers = dict(zip(wanted, _search(places, _Flips(wanted), clock, progress), strict=True))
        found.update((at, answers[aims[at].flips]) for at in far)
    place = {item: at for at, item in enumerate(before.order)}
    for at, aim in enumerate(aims):
        part = clock.share(len(aims) - at)
        if aim.reached(before):
            found[at] = Found(0.0, 0.0, nothing(votes))
        elif aim.above:
            [found[at]] = _search(places, _Above(place[aim.above[0]], place[aim.above[1]]), part, progress)
        elif not aim.flips:
            newcomers = np.array([place[item] for item in aim.newcomers], dtype=np.int64)
            [found[at]] = _search(places, _Enter(newcomers, aim.top), part, progress)
    return [found[at] for at in range(len(aims))]


@dataclass(frozen=True, slots=True)
class _Flips:
    """At least a given number of pairs in another order: one level for each number."""

    wanted: list[int]

    @property
    def levels(self) -> int:
        return len(self.wanted)

    def level(self, targets: Ints) -> Ints:
        """Return how many levels each target (a row of places) reaches."""
        flips = np.zeros(len(targets), dtype=np.int64)
        for i, j in zip(*np.triu_indices(targets.shape[1], 1), strict=True):
            flips += targets[:, i] > targets[:, j]
        reached: Ints = np.asarray(np.searchsorted(np.array(self.wanted), flips, side="right"))
        return reached

    def least_flips(self) -> Ints:
        """Return how many pairs every target of a level flips."""
        return np.array(self.wanted)

    def excess(self, value: float, reduced: Floats) -> Floats:  # noqa: ARG002
        """See `_Above.excess`; flips need no place in particular."""
        return np.full(len(self.wanted), value)

    def candidates(self, n: int) -> Iterator[Ints]:
        """Yield promising targets: blocks of neighbours reversed, alone or side by side."""
        for size in range(2, n + 1):
            for start in range(n - size + 1):
                target = np.arange(n)
                target[start : start + size] = target[start : start + size][::-1].copy()
                yield target
            for start in range(size):
                target = np.arange(n)
                for block in range(start, n - 1, size):
                    target[block : block + size] = target[block : block + size][::-1].copy()
                yield target


@dataclass(frozen=True, slots=True)
class _Above:
    """One item above another."""

    upper: int
    lower: int
    levels: int = 1

    def level(self, targets: Ints) -> Ints:
        """See `_Flips.level`."""
        return (targets[:, self.upper] < targets[:, self.lower]).astype(np.int64)

    def least_flips(self) -> Ints:
        """See `_Flips.least_flips`: each item between the two changes sides with one of them."""
        return np.array([self.upper - self.lower])

    def excess(self, value: float, reduced: Floats) -> Floats:
        """Return the smallest value of an assignment that reaches the aim, from the optimum and its reduced costs."""
        least_below = np.minimum.accumulate(reduced[self.lower][::-1])[::-1]
        return np.array([value + float((reduced[self.upper][:-1] + least_below[1:]).min())])

    def candidates(self, n: int) -> Iterator[Ints]:
        """Yield promising targets: the two meet somewhere, or swap."""
        order = [i for i in range(n) if i not in (self.upper, self.lower)]
        for at in range(n - 1):
            yield np.argsort([*order[:at], self.upper, self.lower, *order[at:]])
        target = np.arange(n)
        target[[self.upper, self.lower]] = target[[self.lower, self.upper]]
        yield target


@dataclass(frozen=True, slots=True)
class _Enter:
    """One of the newcomers among the first `top`."""

    newcomers: Ints
    top: int
    levels: int = 1

    def level(self, targets: Ints) -> Ints:
        """See `_Flips.level`."""
        best: Ints = targets[:, self.newcomers].min(axis=1, initial=targets.shape[1])
        return (best < self.top).astype(np.int64)

    def least_flips(self) -> Ints:
        """See `_Flips.least_flips`."""
        return np.array([int(self.newcomers.min(initial=self.top)) - self.top + 1])

    def excess(self, value: float, reduced: Floats) -> Floats:
        """See `_Above.excess`."""
        return np.array([value + float(reduced[self.newcomers, : self.top].min(initial=math.inf))])

    def candidates(self, n: int) -> Iterator[Ints]:
        """Yield promising targets: a newcomer moves up, or swaps with another item."""
        for item in self.newcomers.tolist():
            for place in range(self.top):
                yield np.argsort(np.insert(np.delete(np.arange(n), item), place, item))
                target = np.arange(n)
                target[[item, place]] = place, item
                yield target


_Wish = _Flips | _Above | _Enter


def _search(places: Places, wish: _Wish, clock: Clock, progress: Progress | None) -> list[Found]:
    """Return bounds and attacks for each level of the wish."""
    listed = places.n <= _LISTED_ITEMS
    explore: Callable[..., _Ledger] = _all_targets if listed else _some_targets
    ledger = explore(places, wish, clock, progress, 0.0)
    lower = np.maximum.accumulate(ledger.lower)
    founds = _attacks(places, ledger, clock)
    if not places.change.puts and listed and any(plan is None for _, plan in founds) and not clock.over():
        # Taking votes away can end in ties that nothing breaks: look for targets that are really reached.
        strict = _attacks(places, explore(places, wish, clock, progress, places.strict), clock)
        founds = [min(pair, key=lambda found: found[0]) for pair in zip(founds, strict, strict=True)]
    upper, plans = [cost for cost, _ in founds], [plan for _, plan in founds]
    serve_nearer(upper, plans, farther_if_equal=True)
    tie: Plan | None = None
    out = []
    for level in reversed(range(wish.levels)):
        answer, target = ledger.answers[level], ledger.targets[level]
        if answer is not None and target is not None:
            tie = places.plan(answer.removed, target, answer.added)
        low, plan = float(lower[level] / UNIT), plans[level]
        out.append(Found(low, max(upper[level], low), plan, tie if plan is None else None))
    return out[::-1]


class _Ledger:
    """For each level of a wish: the smallest bound of all targets that reach it, and the best target known."""

    def __init__(self, levels: int) -> None:
        self.lower: Floats = np.full(levels, math.inf)
        self.best: Floats = np.full(levels, math.inf)
        self.targets: list[Ints | None] = [None] * levels
        self.answers: list[TargetPrice | None] = [None] * levels

    def close(self, level: int, bound: float) -> None:
        """Record that targets of this level cost at least `bound`."""
        np.minimum(self.lower[:level], bound, out=self.lower[:level])

    def learn(self, level: int, value: float, target: Ints, answer: TargetPrice) -> None:
        """Record what a target of this level costs."""
        for at in range(level):
            if value < self.best[at]:
                self.best[at], self.targets[at], self.answers[at] = value, target, answer


def _all_targets(places: Places, wish: _Wish, clock: Clock, progress: Progress | None, slack: float) -> _Ledger:
    """Evaluate targets, best bound first, until the rest is excluded by the bounds."""
    n = places.n
    ledger = _Ledger(wish.levels)
    orders = np.array(list(permutations(range(n))), dtype=np.int8)
    targets = np.argsort(orders, axis=1).astype(np.int8)
    level = wish.level(targets)
    orders, targets, level = orders[level > 0], targets[level > 0], level[level > 0]
    bounds = places.against_consensus(targets)
    if not clock.over():
        for p, q in zip(*np.triu_indices(n, 1), strict=True):
            np.maximum(bounds, places.swaps[p, q][orders[:, p], orders[:, q]], out=bounds)
    ranked = np.argsort(bounds, kind="stable")
    work = 0.0
    for done, at in enumerate(ranked.tolist()):
        height, bound = int(level[at]), float(bounds[at])
        # For a higher level the best known value is never smaller.
        limit = float(ledger.best[height - 1]) - SAME_COST / 10
        if bound < limit:
            if clock.over() or work > _WORK:
                for rest in ranked[done:]:
                    ledger.close(int(level[rest]), float(bounds[rest]))
                break
            target = targets[at].astype(np.int64)
            answer = target_price(places, target, clock, limit, slack)
            bound = max(bound, answer.bound)
            work += 4.0 * len(places.weights) * n
            if math.isfinite(answer.value):
                ledger.learn(height, max(answer.value, bound), target, answer)
        ledger.close(height, bound)
        if progress and done % 256 == 0:
            progress(Step("targets", done, len(ranked)))
    return ledger


def _some_targets(places: Places, wish: _Wish, clock: Clock, progress: Progress | None, slack: float) -> _Ledger:
    """Bound all targets at once by relaxed assignments, and evaluate a few promising ones."""
    ledger = _Ledger(wish.levels)
    ledger.lower = _relaxed(places, wish, clock)
    targets = np.unique(np.array(list(wish.candidates(places.n))), axis=0)
    level = wish.level(targets)
    bounds = places.against_consensus(targets)
    ranked = np.argsort(bounds, kind="stable")
    tried: set[int] = set()
    for height in range(1, wish.levels + 1):
        fitting = ranked[level[ranked] >= height]
        for at in fitting[:_TRIES].tolist():
            if clock.over() or at in tried or bounds[at] >= ledger.best[height - 1]:
                continue
            tried.add(at)
            answer = target_price(places, targets[at], clock, float(ledger.best[height - 1]), slack)
            if math.isfinite(answer.value):
                ledger.learn(int(level[at]), answer.value, targets[at], answer)
        if progress:
            progress(Step("distances", height, wish.levels))
        if len(fitting) and ledger.targets[height - 1] is None:
            ledger.targets[height - 1] = targets[fitting[0]]
    return ledger


def _relaxed(places: Places, wish: _Wish, clock: Clock) -> Floats:
    """Return bounds for all levels from the consensus as the rival.

    With L the cost and D the distance of a target from the consensus, L - L* - mu D is the cost of an assignment. If it
    is at least phi for all targets of a level, and their D at least d, then (L - L*) / D >= mu + min(phi, 0) / d.
    """
    n = places.n
    least = np.maximum(wish.least_flips(), 2)
    least = least + least % 2  # the footrule is even, and at least the number of flipped pairs
    bounds = np.zeros(wish.levels)

    def improve(steps: Floats) -> float:
        best, at = -math.inf, 0.0
        for mu in steps.tolist():
            if clock.over() and at:
                break
            cost = places.cost - mu * places.apart
            _, item_dual, place_dual = assignment.solve(cost)
            reduced = cost - item_dual[:, None] - place_dual
            value = float(item_dual.sum() + place_dual.sum()) + n * min(float(reduced.min()), 0.0)
            found = mu + np.minimum(wish.excess(value, np.maximum(reduced, 0.0)), 0.0) / least
            np.maximum(bounds, found / places.pull, out=bounds)
            if found.max() > best:
                best, at = float(found.max()), mu
        return at

    coarse = np.geomspace(1e-5 * UNIT, UNIT, 41)
    at = improve(coarse)
    if wish.levels == 1:
        improve(np.linspace(at / 1.33, at * 1.33, 40))
    return bounds


def _attacks(places: Places, ledger: _Ledger, clock: Clock) -> list[tuple[float, Plan | None]]:
    """Return the cost of the best target of each level and its strict attack, both only where that exists."""
    known: dict[bytes, tuple[float, Plan | None]] = {}
    out: list[tuple[float, Plan | None]] = []
    for best, target, known_answer in zip(ledger.best / UNIT, ledger.targets, ledger.answers, strict=True):
        if target is None:
            out.append((math.inf, None))
            continue
        key = target.tobytes()
        if key not in known:
            if known_answer is not None and places.change.puts:
                answer = _nudged(places, known_answer)
            else:
                answer = target_price(places, target, clock, slack=places.strict)
            if not math.isfinite(answer.value):
                answer = _mixed(places, target)
            plan, value = None, math.inf
            if math.isfinite(answer.value):
                plan = places.plan(answer.removed, target, answer.added)
                value = plan.budget(places.votes)
            known[key] = value, plan
        value, plan = known[key]
        exact = math.isfinite(best) and value <= best + 5e-7
        out.append((float(best) if exact else value, plan))
    return out


def _nudged(places: Places, answer: TargetPrice) -> TargetPrice:
    """Return the attack of an answer, with a tiny share of everything replaced by the target.

    That puts every rival behind by the distance, and needs no program.
    """
    share = 2 * places.strict / UNIT
    if not places.change.takes:
        return TargetPrice(answer.bound, answer.value, answer.removed, answer.added + share * (UNIT + answer.added))
    removed = answer.removed + share * (places.weights - answer.removed)
    return TargetPrice(answer.bound, answer.value, removed, float(removed.sum()))


def _mixed(places: Places, target: Ints) -> TargetPrice:
    """Return an attack that removes the same share of all ballots: without a linear program, but not the cheapest."""
    if not places.change.puts:
        return TargetPrice(0.0, math.inf, np.empty(0), 0.0)
    adding = Places(places.votes, Ranking.from_order(places.order), Change.ADD)
    answer = target_price(adding, target, Clock(), slack=2 * places.strict)
    if not places.change.takes:
        return answer
    share = answer.added / (UNIT + answer.added)
    return TargetPrice(0.0, share * UNIT, places.weights * share, share * UNIT)
