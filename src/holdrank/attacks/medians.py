"""Exact breakdown of the median under any metric: one linear program for each ranking that could be made the median.

Let g_v(u) = m(u, s) - m(u, v) be the support of a ballot u for the rival v over the target s. The target is a median if
no rival is cheaper: the sum of g_v over the votes is <= 0 for every v. An attacker removes weights r from ballots and
adds weights a. The program of the target is the least sum of r, or of a, for which that holds.

Lower bounds come from the duals y >= 0 of the rivals. Any y gives a valid bound, no matter how the solver found it:

    y L - sum over ballots u of w_u max(0, y g(u) + t(y) - 1),   t(y) = max over all rankings u of -y g(u),

with L the sums before the attack; t is 0 where votes are dropped. It is computed in fractions where votes are counted
and distances are whole numbers; elsewhere it is rounded down by more than all roundings together. It asks every ranking
as a ballot to add, so it does not rest on the triangle inequality. That inequality only says where to look: the best
ballot to add is the target itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from holdrank.arrays.tolerances import SAME, STRICT
from holdrank.attacks.goals import Aim, distances_from
from holdrank.attacks.metric_bounds import largest_gains
from holdrank.attacks.plans import Found, Plan, Progress, replacing, serve_nearer
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.medians import Losses, Median
from holdrank.rules.metrics import ROUNDING, Distances, Metric
from holdrank.rules.solvers.highs import UNIT, LinearProgram
from holdrank.status import Clock, Step
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_EPS = 2.0**-52
_ROWS = 256  # targets whose bounds are computed at a time
_AT_ONCE = 8  # rivals that join a program in one round
_ROUNDS = 400
_SIMPLE = 1_000_000  # denominators of duals up to here
_EQUAL = 1e-12  # of shares: nearly uniform votes have hundreds of targets that differ by rounding only
_VIOLATED = 1e-9  # of the largest distance, for a share of all votes


def find(
    median: Median,
    votes: Votes,
    _before: Ranking,
    aims: Sequence[Aim],
    change: Change,
    clock: Clock,
    progress: Progress | None,
) -> list[Found]:
    """Return bounds on the smallest change of the votes that reaches each aim against a median.

    Paper: the breakdown function (Section 2.2), here exact for every metric.

    Examples
    --------
    >>> from holdrank.attacks.goals import Distance
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[6, 4])
    >>> cayley = Median("cayley")
    >>> before = cayley(votes).ranking
    >>> aims = [Distance(delta, "cayley").aim(before, votes.items) for delta in (0.5, 1.0)]
    >>> [round(found.lower, 9) for found in find(cayley, votes, before, aims, Change.REPLACE, Clock(), None)]
    [0.1, 0.5]
    """
    siege = Siege(votes, median, change)
    masks = np.array([_reaching(aim, siege.losses) for aim in aims])
    bounds = siege.cheap_bounds()
    values = np.full(len(bounds), math.inf)
    answers: dict[int, TargetPrice] = {}
    wanted = np.flatnonzero(masks.any(axis=0))
    for done, at in enumerate(wanted[np.argsort(bounds[wanted], kind="stable")].tolist()):
        if clock.over():
            break
        # No aim asks about a target that is no cheaper than its best one so far.
        best = np.where(masks, values, math.inf).min(axis=1)
        if (masks[:, at] & (bounds[at] < best - _EQUAL)).any():
            answers[at] = answer = siege.price(at, clock)
            bounds[at], values[at] = max(bounds[at], answer.bound), max(answer.value, answer.bound)
        if progress and done % 64 == 0:
            progress(Step("targets", done, len(wanted)))
    return _found(siege, masks, bounds, values, answers, clock)


def _found(
    siege: Siege,
    masks: npt.NDArray[np.bool_],
    bounds: Floats,
    values: Floats,
    answers: dict[int, TargetPrice],
    clock: Clock,
) -> list[Found]:
    """Return bounds and attacks for each aim, given what its targets cost."""
    lower, upper = [], []
    plans: list[Plan | None] = []
    ties: list[Plan | None] = []
    for mask in masks:
        lower.append(float(bounds[mask].min(initial=math.inf)))
        least = np.where(mask, values, math.inf)
        at = int(least.argmin())
        plan, cost, tie = None, math.inf, None
        if math.isfinite(least[at]):
            tie = siege.plan(at, answers[at])
            if siege.change.puts:
                plan, cost = siege.plan(at, siege.nudged(answers[at])), float(least[at])
            else:
                plan, cost = siege.strictly(mask, values, clock)
                cost = float(least[at]) if cost <= least[at] + 5e-7 else cost
        upper.append(max(cost, lower[-1]))
        plans.append(plan)
        ties.append(tie)
    serve_nearer(upper, plans)
    return [
        Found(low, max(up, low), plan, tie if plan is None else None)
        for low, up, plan, tie in zip(lower, upper, plans, ties, strict=True)
    ]


def _reaching(aim: Aim, losses: Losses) -> npt.NDArray[np.bool_]:
    """Return which of all rankings reach an aim."""
    if aim.distance:  # both distances of tiers are Kendall's here
        metric = aim.distance if isinstance(aim.distance, Metric) else Metric.of("kendall")
        return np.asarray(distances_from(aim.before, metric) >= aim.delta - SAME)
    return np.array([aim.reached(Ranking.from_order(order)) for order in losses.orders])


def every_optimum(median: Median, votes: Votes, aim: Aim, _order: Sequence[int], _clock: Clock) -> bool:
    """Whether every median of the votes reaches an aim."""
    losses = Losses.of(votes, median)
    return bool(_reaching(aim, losses)[losses.optima()].all())


@dataclass(frozen=True, slots=True)
class TargetPrice:
    """The price of a target: a proven bound, the share of the votes, and the weights removed and added."""

    bound: float
    value: float
    removed: Floats
    ballots: Ints
    added: Floats


class Siege:
    """The votes, as the programs of all targets need them; weights are those of the votes."""

    def __init__(self, votes: Votes, median: Median, change: Change) -> None:
        self.votes, self.median, self.change = votes, median, change
        self.losses = Losses.of(votes, median)
        self.table: Distances = self.losses.table
        self.weights, self.kinds, self.total = votes.weights, self.losses.kinds, votes.total
        self.scale = UNIT / votes.total
        # Sums of counts and whole distances are exact, and so is what is divided; a quotient is the nearest number.
        self.eps = 0.0 if self.losses.tolerance == 0 else _EPS

    def cheap_bounds(self) -> Floats:
        """Return a share of the votes below which each target is not a median: one rival at a time.

        One changed vote moves the difference of two losses by at most the largest support of any ballot.
        """
        values, count = self.losses.values, len(self.losses.values)
        gains = largest_gains(self.median.metric, self.votes.n)
        rounding = self.eps * (len(self.kinds) + 8) * self.total * self.table.unit
        # A metric given in floating point may miss the triangle inequality by rounding.
        beyond = 0.0 if self.table.whole else 2 * ROUNDING * self.table.largest
        out = np.empty(count)
        for start in range(0, count, _ROWS):
            block = slice(start, min(start + _ROWS, count))
            against = gains[block].astype(np.float64) if self.change.takes else 0.0
            in_favour = gains[:, block].T.astype(np.float64) if self.change.puts else 0.0
            pull = (against + in_favour + 2 * beyond) * self.total
            behind = values[block, None] - values - 2 * rounding
            ratio = np.divide(behind, pull, out=np.zeros_like(behind), where=pull > 0)
            out[block] = ratio.max(axis=1)
        return np.maximum(out * (1 - 8 * self.eps * (len(self.kinds) + 1)), 0.0)

    def price(self, target: int, clock: Clock, *, slack: float = 0.0, rivals: Ints | None = None) -> TargetPrice:
        """Return the price of making a target cheaper than its rivals (all by default), or as cheap without slack.

        Rivals join the program where a solution lets them win.
        """
        own = self.table.rows(target)
        others = np.delete(np.arange(len(own)), target) if rivals is None else rivals
        ballots = np.array([target]) if self.table.is_metric else np.arange(len(own))
        program = self._program(len(ballots))
        open_, first = others, others[np.argsort(self.losses.values[others], kind="stable")[:_AT_ONCE]]
        asked: Ints = np.empty(0, dtype=np.int64)
        bound, duals, removed, added = 0.0, np.empty(0), np.empty(0), np.empty(0)
        for _ in range(_ROUNDS):
            self._add_rivals(program, own, first, ballots, slack)
            asked = np.concatenate((asked, first))
            solved = program.solve(clock)
            if not len(solved.x):
                unreachable = solved.finished and slack > 0
                return TargetPrice(math.inf if unreachable else bound, math.inf, np.empty(0), ballots, np.empty(0))
            if not slack:
                duals = np.maximum(solved.duals[-len(asked) :] / self.table.unit, 0.0)
                bound = max(bound, self.certified(own, asked, duals))
            x = solved.x / self.scale
            removed = np.clip(x[: len(self.kinds)], 0, self.weights) if self.change.takes else np.zeros(len(self.kinds))
            added = self._added(x, removed, len(ballots))
            left = self._behind(own, open_, removed, ballots, added) + slack * self.total * own[open_]
            worst = np.argsort(-left, kind="stable")[:_AT_ONCE]
            worst = worst[left[worst] > _VIOLATED * self.total * self.table.unit]
            first = np.setdiff1d(open_[worst], asked)
            if not len(first):
                break
        value = max(float(removed.sum()), float(added.sum())) / self.total
        if math.isinf(bound):
            value = math.inf
        elif not slack:
            bound = max(bound, self.in_fractions(own, asked, duals))
        return TargetPrice(bound, value, removed, ballots, added)

    def _program(self, ballots: int) -> LinearProgram:
        """Return the program without rivals: the weights removed, and the weights added unless they are one sum."""
        alone = ballots == 1  # each removed vote becomes the target
        goes = len(self.kinds) if self.change.takes else 0
        comes = ballots if self.change.puts and not (alone and self.change.takes) else 0
        cost = np.concatenate((np.ones(goes), np.ones(comes) if not goes else np.zeros(comes)))
        upper = np.concatenate((self.weights * self.scale if goes else [], np.full(comes, np.inf)))
        program = LinearProgram(cost, upper, presolve=False)
        if goes and comes:
            both = np.concatenate((np.ones(goes), -np.ones(comes)))
            program.add_rows(np.arange(goes + comes)[None], both[None], 0.0, 0.0)
        return program

    def _add_rivals(self, program: LinearProgram, own: Floats, rivals: Ints, ballots: Ints, slack: float) -> None:
        rows = self.table.rows(rivals)
        gain = (own - rows) / self.table.unit
        behind = gain[:, self.kinds] @ self.weights
        goes, comes = gain[:, self.kinds], -gain[:, ballots]
        if self.change.keeps_total and len(ballots) == 1:
            entries = goes + comes
        elif self.change.keeps_total:
            entries = np.hstack((goes, comes))
        else:
            entries = goes if self.change.takes else comes
        columns = np.broadcast_to(np.arange(entries.shape[1]), entries.shape)
        limit = behind * self.scale + slack * UNIT * own[rivals] / self.table.unit
        program.add_rows(columns, np.ascontiguousarray(entries), limit, np.inf)

    def _added(self, x: Floats, removed: Floats, ballots: int) -> Floats:
        if not self.change.puts:
            return np.zeros(ballots)
        if ballots == 1 and self.change.takes:
            return np.array([removed.sum()])
        return np.maximum(x[len(self.kinds) if self.change.takes else 0 :], 0.0)

    def _behind(self, own: Floats, rivals: Ints, removed: Floats, ballots: Ints, added: Floats) -> Floats:
        """Return by how much the target costs more than each rival after an attack."""
        left = np.zeros(len(own))
        np.add.at(left, self.kinds, self.weights - removed)
        np.add.at(left, ballots, added)
        used = np.flatnonzero(left)
        return np.asarray(own[used] @ left[used] - self.table.between[np.ix_(rivals, used)] @ left[used])

    def certified(self, own: Floats, rivals: Ints, duals: Floats) -> float:
        """Return the share of the votes that these duals prove necessary; see the module docstring."""
        used = duals > 0
        rivals, duals = rivals[used], duals[used]
        if not len(rivals):
            return 0.0
        price = duals @ (own - self.table.rows(rivals))  # y g(u), of every ranking u as a ballot
        size = float(duals.sum()) * self.table.unit
        loose = _EPS * (len(rivals) + 4) * size  # |y g| <= size
        behind = float(self.weights @ price[self.kinds])
        most = float((-price).max()) + loose if self.change.puts else 0.0
        rounding = _EPS * (2 * len(self.kinds) + len(rivals) + 16) * self.total * (4 * size + 2)
        if not self.change.takes:
            share = (behind - rounding) / most if most > 0 else 0.0
            return max(share / self.total * (1 - 4 * _EPS), 0.0)
        if not self.change.puts and float(price[self.kinds].min()) > loose:
            return math.inf  # every ballot is against the target: no remaining votes make it a median
        spent = float(self.weights @ np.maximum(price[self.kinds] + most - 1, 0.0))
        return max((behind - spent - rounding) / self.total * (1 - 4 * _EPS), 0.0)

    def in_fractions(self, own: Floats, rivals: Ints, duals: Floats) -> float:
        """Return the same as `certified` in fractions, for counted votes and whole distances, as the nearest number.

        The duals are those of a basis of whole numbers, so they are likely to be simple fractions; 0 if not.
        """
        used = duals > 0
        simple = [Fraction(dual).limit_denominator(_SIMPLE) for dual in duals[used].tolist()]
        unit = math.lcm(*(dual.denominator for dual in simple))
        whole = [int(dual * unit) for dual in simple]
        most_whole = max(sum(whole) * int(self.table.unit), unit)
        if not (self.votes.is_counts and self.table.whole) or not whole or most_whole * int(self.total) >= 2**61:
            return 0.0
        price = np.array(whole) @ (own - self.table.rows(rivals[used])).astype(np.int64)
        weights = self.weights.astype(np.int64)
        behind, most = int(weights @ price[self.kinds]), int((-price).max()) if self.change.puts else 0
        if not self.change.takes:
            return float(max(Fraction(behind, most * int(self.total)), Fraction(0))) if most > 0 else 0.0
        spent = int(weights @ np.maximum(price[self.kinds] + most - unit, 0))
        return float(max(Fraction(behind - spent, unit * int(self.total)), Fraction(0)))

    def nudged(self, price: TargetPrice) -> TargetPrice:
        """Return the attack with a tiny share of everything replaced by the target, so that every rival loses."""
        share = 2 * STRICT
        if not self.change.takes:
            hair = share * (self.total + float(price.added.sum()))
            return replace(price, added=np.append(price.added, hair))
        removed = price.removed + share * (self.weights - price.removed)
        added = (1 - share) * price.added  # what has just come makes room as well
        return replace(price, removed=removed, added=np.append(added, float(removed.sum() - added.sum())))

    def plan(self, target: int, price: TargetPrice) -> Plan:
        """Return an attack as ballots; a weight beyond those of the ballots is the target's."""
        ballots = np.append(price.ballots, target)[: len(price.added)]
        ballots, at = np.unique(ballots, return_inverse=True)
        added = np.bincount(at, price.added, minlength=len(ballots)).astype(np.float64)
        ballots, added = ballots[added > 0], added[added > 0]
        ranks = np.array([np.argsort(self.losses.orders[int(b)]) + 1 for b in ballots], dtype=np.int64)
        return replacing(self.votes, price.removed, ranks.reshape(-1, self.votes.n), added)

    def strictly(self, mask: npt.NDArray[np.bool_], values: Floats, clock: Clock) -> tuple[Plan | None, float]:
        """Return the cheapest way to drop votes after which every ranking outside the mask costs more than one inside.

        Where votes are only dropped, a small change may not make a target that is level with the rest strictly better.
        """
        missing = np.flatnonzero(~mask)
        best: Plan | None = None
        cost = math.inf
        targets = np.flatnonzero(mask & np.isfinite(values))
        for at in targets[np.argsort(values[targets], kind="stable")].tolist():
            if clock.over() or values[at] >= cost - STRICT:
                break
            price = self.price(at, clock, slack=STRICT, rivals=missing)
            if price.value < cost and float(price.removed.sum()) < self.total:
                best, cost = self.plan(at, price), price.value
        return best, cost
