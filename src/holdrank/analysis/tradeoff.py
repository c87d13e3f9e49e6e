"""Loss against robustness over every threshold of a merge, and the threshold that buys the most robustness."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from holdrank.arrays.tolerances import SAME
from holdrank.attacks.answers import check_goal
from holdrank.attacks.engines import exact_engine
from holdrank.attacks.goals import Aim, Distance, Goal, TierDistance
from holdrank.attacks.judge import Case
from holdrank.attacks.plans import Found, Progress
from holdrank.attacks.tiers.border_bounds import lower_bound
from holdrank.errors import UsageError, quote, real_number
from holdrank.parallel.checkpoints import Checkpoint, Keep, opened
from holdrank.parallel.spread import expect_executor, spread
from holdrank.parallel.workers import Parcel
from holdrank.rankings import Floats, Ranking
from holdrank.rules.consensus import Consensus, Statistic, expect_seconds, expect_votes, name_of
from holdrank.rules.merges import Merge, Robust, consensus_of, merge_path, pairs_for
from holdrank.rules.registry import auto, rule_of, suited
from holdrank.status import Clock, Status, Step, Tabular
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes
from holdrank.words.names import brief_order

_IN_CELLS = 16  # items up to which every threshold is searched cell by cell, for goals other than distances
_QUICKLY = 30  # items; beyond, thresholds share bounds where an engine has such
TOLERANCE = 0.02  # loss per compared pair that a threshold may add to the base: see docs/theory/threshold.md


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Tradeoff(Tabular):
    """Loss against robustness over all thresholds of a merge.

    Attributes
    ----------
    theta : (m,) array
        One threshold for each distinct result of the merge, in rising order: either the smallest threshold with this
        result or the middle of its range, whichever is more robust.
    rankings : tuple of Ranking
        The results.
    loss : (m,) array
        Expected distance to a vote, a tie counting half.
    lower, upper : (m,) arrays
        The breakdown at `delta`: the minimum share of votes that must be replaced to move the result by `delta` lies
        between; infinite where no change does.
    pareto : (m,) array of bool
        True where no other threshold has less loss and is known to be as robust.
    best : int
        The number of the threshold with the largest `lower` among those whose loss is within `tolerance` of the base's;
        the smallest loss where several are as robust, or where no loss is within the tolerance.
    tolerance : float
    base : Consensus
        Of the base without a merge.
    merge : {"downward", "naive", "smith"}
    delta : float
        nan where `goal` says what counts as broken.
    distance : {"hausdorff_ns", "hausdorff_half"}
    goal : Goal or None
    status : Status
        Status of all breakdowns together.
    total : float
        Number of votes, or total mass of a distribution.
    seconds : float
    """

    theta: Floats
    rankings: tuple[Ranking, ...]
    loss: Floats
    lower: Floats
    upper: Floats
    pareto: npt.NDArray[np.bool_]
    best: int
    tolerance: float
    base: Consensus
    merge: Merge
    delta: float
    distance: TierDistance
    goal: Goal | None
    status: Status
    total: float
    seconds: float

    def __post_init__(self) -> None:
        for array in (self.theta, self.loss, self.lower, self.upper, self.pareto):
            array.flags.writeable = False

    def __repr__(self) -> str:
        ranking = self.rankings[self.best]
        chosen = brief_order(ranking.buckets, self.base.items) or ranking.text(self.base.items)
        return f"Tradeoff({len(self.theta)} thresholds, best {self.theta[self.best]:.4g}: {chosen})"


def tradeoff(
    votes: Votes,
    base: Statistic = auto,
    *,
    merge: Merge = "downward",
    delta: float | None = None,
    goal: Goal | None = None,
    distance: TierDistance = "hausdorff_ns",
    tolerance: float = TOLERANCE,
    most: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    checkpoint: Keep = None,
) -> Tradeoff:
    """Return loss and certified breakdown for every distinct result of a merge, and the best threshold.

    Parameters
    ----------
    votes : Votes
    base : Statistic
        `kemeny`, `borda` or `footrule`; with merge "smith" `kemeny` or `copeland`.
    merge : {"downward", "naive", "smith"}
    delta : float, optional
        The distance that counts as broken, as a share of the pairs; one pair by default.
    goal : Goal, optional
        What counts as broken instead: `NewWinner`, `Wins`, `Enters`, or another. For many items the robustness of
        the top can be bounded where that of the whole ranking cannot.
    distance : {"hausdorff_ns", "hausdorff_half"}
    tolerance : float
        Loss that the best threshold may add to that of the base, per pair that a vote compares.
    most : int, optional
        The largest number of thresholds to try where Downward Merge has more results: see `merge_path`.
    time_limit : float, optional
        Time limit in seconds for all breakdowns together. At the limit, or at Ctrl-C, the rest have lower bound 0 and
        upper bound infinity. Thresholds within the tolerance come first.
    progress : callable, optional
        Called with a `Step` for each threshold that is tried.
    executor : Executor, optional
        Tries thresholds in parallel: any executor of `concurrent.futures`, `clusters.local` or `clusters.connect`. The
        result is the same, unless a time limit cuts it short.
    checkpoint : path, optional
        File that stores finished thresholds. A checkpoint with the same votes and parameters is resumed.

    Notes
    -----
    A merge gives the same result from one threshold up to the next. The best threshold in between depends on the
    attack: the larger the threshold, the fewer votes tie separated pairs; the smaller it is, the fewer votes split tied
    pairs. The smallest threshold and the middle are tried, and the better one is kept. The first result is that of
    threshold 0: the base itself, unless the votes are level on a pair or, with merge "smith", unless the majorities
    have a cycle.

    The breakdown of merge "smith" at one pair has a formula: the least ``(W[i, j] - W[j, i]) / 2 - theta * (W[i, j] +
    W[j, i])`` over the pairs i above j, as a share of the votes; where all ballots compare all pairs it is ``P[i, j] -
    1/2 - theta``. At larger `delta` it is a lower bound, and there is no upper bound.

    Examples
    --------
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[51, 49])
    >>> t = tradeoff(votes)
    >>> for theta, ranking, loss, lower in zip(t.theta, t.rankings, t.loss, t.lower):
    ...     print(f"{theta:.2f} {ranking.text(votes.items)}: loss {loss:.3f}, breaks at {lower:.2f}")
    0.00 a > b > c: loss 0.163, breaks at 0.01
    0.01 {a, b} > c: loss 0.167, breaks at 0.49
    0.50 {a, b, c}: loss 0.500, breaks at inf
    >>> t
    Tradeoff(3 thresholds, best 0.01: {a, b} > c)
    """
    started = perf_counter()
    expect_votes(votes, "tradeoff")
    base = suited(base, votes)
    time_limit = expect_seconds(time_limit)
    pairs = votes.n * (votes.n - 1) / 2
    at = (1 / pairs if pairs else 1.0) if delta is None else _number("delta", delta)
    tolerance = _number("tolerance", tolerance)
    if goal is not None:
        check_goal(goal, None)
    if goal is not None and delta is not None:
        raise UsageError("give either a goal (such as NewWinner()) or a delta")
    if not 0 < at <= 1:
        raise UsageError(f"delta must be a share of the pairs, above 0 and at most 1, not {quote(str(delta))}")
    wanted = Distance(at, distance) if goal is None else goal
    check_goal(wanted, None)
    if not tolerance >= 0:
        raise UsageError(f"tolerance must be 0 or more, not {quote(str(tolerance))}")
    expect_executor(executor)
    with Clock(time_limit) as clock:
        median = consensus_of(votes, base, time_limit)
        path = merge_path(pairs_for(base, votes), median.ranking, merge=merge, most=most)
        loss = np.array([votes.loss(ranking) for _, ranking in path])
        # A ballot that compares few pairs can lose few: battles of two items, a tiny share of all pairs.
        compared = float(votes.wins().sum() / votes.pair_votes)
        allowed = votes.loss(median.ranking) + tolerance * compared
        theta = np.array([least for least, _ in path])
        # What can be chosen comes first, then the rest by loss.
        turns = sorted(range(len(path)), key=lambda k: (loss[k] > allowed, loss[k]))
        tried = _values(theta, turns, between=most is None or pairs < most)
        work = {repr(value): (value,) for k in turns for value in tried[k]}
        sweep = _Sweep(votes, base, merge, median, wanted)
        with opened(checkpoint, "tradeoff", votes, sweep.parameters()) as kept:
            known = _run(sweep, work, clock, executor, kept, progress)
        lower, upper = _best_of_each(theta, tried, known)
        status = Status.LEAST if (lower >= upper).all() else _open_status(clock, known)
    fits = np.flatnonzero(loss <= max(allowed, loss.min()) + SAME)
    best = int(fits[np.lexsort((loss[fits], -lower[fits]))[0]])
    return Tradeoff(
        theta=theta,
        rankings=tuple(ranking for _, ranking in path),
        loss=loss,
        lower=lower,
        upper=upper,
        pareto=front(loss, lower, upper),
        best=best,
        tolerance=tolerance,
        base=median,
        merge=merge,
        delta=at if goal is None else math.nan,
        distance=distance,
        goal=goal,
        status=status,
        total=votes.total,
        seconds=perf_counter() - started,
    )


def _values(theta: Floats, turns: Sequence[int], *, between: bool) -> dict[int, dict[float, None]]:
    """Return the thresholds to try for each result: the least one and, unless results were left out, the middle."""
    starts, ends = theta.tolist(), [*theta[1:].tolist(), 0.5]
    middle = {k: (starts[k] + ends[k]) / 2 if k and between else starts[k] for k in turns}
    return {k: dict.fromkeys((starts[k], middle[k])) for k in turns}


@dataclass(frozen=True, slots=True)
class _Sweep:
    """Parameters shared by the breakdowns of all thresholds."""

    votes: Votes
    base: Statistic
    merge: Merge
    median: Consensus
    broken: Goal

    def parameters(self) -> dict[str, Any]:
        """Return what the breakdown of a threshold depends on, besides the votes."""
        return {"base": name_of(self.base), "merge": self.merge, "broken": repr(self.broken)}


Tried: TypeAlias = dict[str, tuple[float | None, float | None, bool]]


def _run(
    sweep: _Sweep,
    work: dict[str, tuple[float]],
    clock: Clock,
    executor: Executor | None,
    kept: Checkpoint | None,
    progress: Progress | None,
) -> Tried:
    """Return the bounds for each threshold, as far as time allows."""
    known: Tried = {}
    if progress is not None:
        progress(Step("thresholds", 0, len(work)))
    for key, found in spread(_try, work, Parcel(sweep), clock, executor=executor, kept=kept, fair=True):
        known[key] = found
        if progress is not None and len(known) < len(work):
            progress(Step("thresholds", len(known), len(work)))
    return known


def _open_status(clock: Clock, known: Tried) -> Status:
    """Return why some bounds do not meet."""
    if clock.interrupted:
        return Status.BETWEEN_INTERRUPTED
    cut_short = clock.over() or any(cut for _, _, cut in known.values())
    return Status.BETWEEN_TIME_LIMIT if cut_short else Status.BETWEEN


def _best_of_each(theta: Floats, tried: dict[int, dict[float, None]], known: Tried) -> tuple[Floats, Floats]:
    """Return bounds for each stretch of the path, and move `theta` to the most robust threshold tried in it."""
    lower, upper = np.zeros(len(theta)), np.full(len(theta), np.inf)
    for k, values in tried.items():
        least = theta[k]
        for value in values:
            if repr(value) in known:
                found = _endless(*known[repr(value)][:2])
                if found > (lower[k], upper[k]) or value == least:
                    theta[k], lower[k], upper[k] = value, *found
    return lower, upper


def _try(parcel: Parcel[_Sweep], theta: float, clock: Clock) -> tuple[tuple[float | None, float | None, bool], bool]:
    """Return the bounds at one threshold, None for infinity, whether time was short, and whether they are final."""
    sweep = parcel.value
    T = Robust(sweep.base, theta, merge=sweep.merge)
    known = parcel.desk.setdefault("passing", {})
    lower, upper, cut_short = _robustness(sweep.votes, T, sweep.median, sweep.broken, clock, known)
    unhurried = clock.deadline is None and not clock.interrupted
    final = sweep.median.status.is_exact and (unhurried or lower == upper)
    low, high = (None if math.isinf(value) else float(value) for value in (lower, upper))
    return (low, high, cut_short or clock.over()), final


def _number(name: str, value: object) -> float:
    number = real_number(value)
    if number is None:
        raise UsageError(f"{name} must be a number, not {quote(str(value))}")
    return float(number)


def _endless(*shares: float | None) -> tuple[float, ...]:
    return tuple(math.inf if share is None else share for share in shares)


def _robustness(
    votes: Votes, T: Robust, median: Consensus, goal: Goal, clock: Clock, known: dict[Aim, Found]
) -> tuple[float, float, bool]:
    """Return the certified bounds on the breakdown of a merge, and whether its engine ran out of time.

    An engine leaves time for checks, so it may stop before the clock does. `median` is the consensus of the base;
    `known` caches bounds on passing the items of the first tiers in the ranking below.
    """
    asked = goal.aim(median.ranking, votes.items)
    engine = exact_engine(T, votes)
    if engine is None and T.merge == "smith" and asked.distance:
        return *_smith_robustness(votes, T, median, asked), False
    if engine is None and (T.merge != "smith" or rule_of(T.base).probabilities is not None):
        raise UsageError(
            "breakdowns of merges are available for kemeny, borda, footrule, and bradley-terry on battles, "
            f"not for {name_of(T.base)} on these votes"
        )
    before = T.merged(votes, median)
    if engine is None or (votes.n > _IN_CELLS and not asked.distance and not engine.any_target):
        return *_top_robustness(votes, T, median, before, goal, clock, known), False
    aim = goal.aim(before.ranking, votes.items)
    if engine.quick is not None and votes.n > _QUICKLY and not aim.distance:
        return *_quick_robustness(votes, T, before, aim, engine.quick, clock), False
    case = Case(votes, T, before, Change.REPLACE, engine)
    (answer,) = case.answers([aim], clock, None)
    return answer.lower, answer.upper, case.status([answer], clock).is_timed_out


def _quick_robustness(
    votes: Votes, T: Robust, before: Consensus, aim: Aim, quick: Any, clock: Clock
) -> tuple[float, float]:
    """Return a bound that all thresholds share, and an attack that was run."""
    if aim.reached(before.ranking):
        return 0.0, 0.0
    if aim.is_impossible():
        return math.inf, math.inf
    (found,) = quick(votes, before.ranking, [aim], Change.REPLACE, clock)
    shown = found.plan is not None and aim.reached(consensus_of(found.plan.applied(votes), T, None).ranking)
    return found.fails / votes.total, found.does / votes.total if shown else math.inf


def _top_robustness(
    votes: Votes,
    T: Robust,
    median: Consensus,
    before: Consensus,
    goal: Goal,
    clock: Clock,
    known: dict[Aim, Found],
) -> tuple[float, float]:
    """Return a lower bound from the ranking below the tiers; attacks on many items are left to `attack`."""
    aim = goal.aim(before.ranking, votes.items)
    if aim.reached(before.ranking):
        return 0.0, 0.0
    if not before.status.is_exact:
        return 0.0, math.inf
    if aim.is_impossible():
        return math.inf, math.inf
    engine = exact_engine(T.base, votes)

    def once(votes: Votes, strict: Ranking, aims: Sequence[Aim], *rest: Any) -> list[Found]:
        new = [asked for asked in aims if asked not in known]
        if new and engine is not None:
            known.update(zip(new, engine.find(votes, strict, new, *rest), strict=True))
        return [known[asked] for asked in aims]

    base = None if engine is None else once
    return lower_bound(votes, T, before.ranking, aim, Change.REPLACE, clock, base, strict=median.ranking), math.inf


def _smith_robustness(votes: Votes, T: Robust, median: Consensus, asked: Aim) -> tuple[float, float]:
    """Return bounds on the breakdown of the dominating sets with a margin.

    As long as every pair of different tiers keeps its margin, all borders stay and tiers can only split. A pair that
    has lost its margin shares a tier or is reversed. So the pair closest to losing it decides, and the cheapest way is
    to reverse ballots that have the pair in this order.
    """
    if not rule_of(T.base).majorities_first:
        raise UsageError(
            f"breakdowns of merge 'smith' are available for kemeny and copeland, not for {name_of(T.base)}",
            repair="use one of these, which give the same tiers, or another rule",
        )
    if asked.distance != "hausdorff_ns":
        raise UsageError(
            f"breakdowns of merge 'smith' are available in the distance 'hausdorff_ns', not in {asked.distance!r}"
        )
    before = T.merged(votes, median)
    if not before.status.is_exact:
        return 0.0, math.inf
    wins, ranks = votes.wins(), before.ranking.ranks
    lead = (wins - wins.T) / 2 - float(T.theta) * (wins + wins.T)
    lower = float(lead.min(where=ranks[:, None] < ranks, initial=math.inf)) / votes.total
    one_pair = asked.delta * votes.n * (votes.n - 1) <= 2 + SAME
    return max(lower, 0.0), max(lower, 0.0) if one_pair else math.inf


def front(loss: Floats, lower: Floats, upper: Floats) -> npt.NDArray[np.bool_]:
    """Return the points that no other point certainly dominates in loss and robustness.

    With `lower` and `upper` exchanged: the points that no other point can dominate, for any values between the bounds.
    """
    no_worse = (loss[None] <= loss[:, None] + SAME) & (lower[None] >= upper[:, None] - SAME)
    better = (loss[None] < loss[:, None] - SAME) | (lower[None] > upper[:, None] + SAME)
    return np.asarray(~(no_worse & better).any(axis=1))
