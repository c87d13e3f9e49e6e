"""The breakdown of the population behind the votes: an interval for the share of votes that a goal needs there."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from time import perf_counter
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from holdrank.analysis.chance.estimates import effective_units
from holdrank.analysis.chance.p_values import student_quantile
from holdrank.analysis.sampling import BLOCK, Stream, drawn_by
from holdrank.arrays.tolerances import SAME
from holdrank.attacks.answers import attack
from holdrank.attacks.goals import Aim, Goal
from holdrank.attacks.results import Attack
from holdrank.attacks.shares import Share, least_share, slopes_of
from holdrank.errors import Message, Option, UsageError, quote, real_number, whole_number
from holdrank.parallel.spread import expect_executor, spread
from holdrank.parallel.workers import Parcel
from holdrank.rules.consensus import Statistic, StatisticName, expect_seconds, expect_votes, name_of
from holdrank.rules.merges import ballots_for, settled
from holdrank.status import DRAWS, LEAST_DRAWS, Clock, Status, Step, Tabular
from holdrank.votes.changes import Change, ChangeName
from holdrank.votes.models import Seed, seed_of
from holdrank.votes.votes import Votes
from holdrank.words import chance as words

IntervalMethod: TypeAlias = Literal["bootstrap", "dual"]
_Drawn: TypeAlias = tuple[float, float, bool]  # bounds on the share of a sample, and whether it reached the goal itself

_OF_THE_TIME = 0.3  # for the attack on the votes themselves, where there is a limit


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BreakdownInterval(Tabular):
    """A confidence interval for the share of votes that a goal needs in the population behind the votes.

    Attributes
    ----------
    attack : Attack
        The attack on these votes, with bounds and proof.
    estimate : float
        The share of these votes that is enough: their breakdown, where the attack is exact.
    lower, upper : float
        The interval, in shares of the votes; from 0 to infinity where there are fewer than 200 draws.
    level : float
        Confidence level of the interval.
    method : {"bootstrap", "dual"}
    draws : int
        Bootstrap samples that were attacked; 0 for "dual".
    reached : float
        Share of the samples whose own consensus already reaches the goal, such as another winner. If it exceeds half of
        1 - `level`, the interval starts at 0.
    open : int
        Number of samples whose share is known only between two bounds; the interval covers both.
    error : float
        The standard error of the estimate by the duals; nan for "bootstrap".
    units : float
        Number of independent units: votes, or groups.
    by : str or None
        Column of the groups; None where votes count as independent.
    statistic : StatisticName
        Name of the rule.
    seed : int or None
        `rng=seed` repeats the draws; None for "dual".
    status : Status
        Whether all draws were made; for "dual", that of the attack.
    seconds : float
        Time taken.
    """

    attack: Attack
    estimate: float
    lower: float
    upper: float
    level: float
    method: IntervalMethod
    draws: int
    reached: float
    open: int
    error: float
    units: float
    by: str | None
    statistic: StatisticName
    seed: int | None
    status: Status
    seconds: float

    @property
    def known(self) -> bool:
        """Whether there is an interval: from the duals, or from at least 200 samples."""
        return self.method == "dual" or self.draws >= LEAST_DRAWS

    def text(self) -> str:
        """Return the number for these votes, and below it the interval.

        Examples
        --------
        >>> from holdrank import NewWinner, kemeny
        >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[70, 30])
        >>> print(breakdown_interval(votes, kemeny, NewWinner(), rng=1).text())
        20 of 100 votes tie it, 21 change the winner (21 %, proven minimum).
        Among all voters whom these represent, it takes 10 % to 29 % of the votes (95 % confidence).
        """
        return f"{self.attack.text()}\n{self.sentence()}"

    def sentence(self) -> str:
        """Return the interval as a sentence."""
        if not self.known:
            return words.few_samples_text(self.draws)
        return words.interval_sentence(self.lower, self.upper, self.level, self.reached)

    def __repr__(self) -> str:
        ends = f"{self.lower:.4g} to {self.upper:.4g}" if self.known else "no interval"
        return f"BreakdownInterval({self.attack.goal.text()}: {self.estimate:.4g}, {ends}, {self.method})"


def breakdown_interval(
    votes: Votes,
    T: Statistic,
    goal: Goal,
    *,
    change: Change | ChangeName = "replace",
    level: float = 0.95,
    by: str | None = None,
    draws: int = DRAWS,
    method: IntervalMethod = "bootstrap",
    time_limit: float | None = None,
    rng: Seed = None,
    progress: Callable[[Step], None] | None = None,
    executor: Executor | None = None,
) -> BreakdownInterval:
    """Return a confidence interval for the share of votes that a goal needs in the population of all voters.

    `attack` gives the share for these votes. They are a sample, and another sample would give another share. The
    interval is for the share that all samples estimate: the minimum (or infimum) share of the population's votes.

    Parameters
    ----------
    votes : Votes
        Votes with whole weights.
    T : Statistic
        Any statistic that `attack` supports.
    goal : Goal
        As in `attack`. `NewWinner`, `TopSet` and `Distance` refer to the unknown consensus of the population.
    change : {"replace", "drop", "add"}
        What the adversary may do.
    level : float
        Confidence level of the interval.
    by : str, optional
        Column that groups the votes: the voter, task or category named in ``read_votes(file, by="column")``. All votes
        of a group then form one independent unit.
    draws : int
        Bootstrap samples, each of which is attacked; at least 200.
    method : {"bootstrap", "dual"}
        "bootstrap" works for every rule and goal. "dual" needs only one attack: near these votes the share is linear in
        the shares of the ballots, with the duals of its linear program as slopes, and their spread gives the standard
        error. It is available for `kemeny`, and for `borda` where one item must pass another; not for a share of 0.
    time_limit : float, optional
        Time limit in seconds. At the limit, or at Ctrl-C, the samples attacked so far count. A sample that does not get
        enough time counts with its proven bounds.
    rng : int, Generator or None
        The same seed gives the same draws on every machine; None uses a fresh seed. It is stored as `seed`.
    progress : callable, optional
        Called with a `Step` after every few draws.
    executor : Executor, optional
        Attacks samples in parallel; the result is the same, unless a time limit cuts it short.

    Notes
    -----
    The share of a sample counts as negative if the sample's own consensus already reaches the goal: where the lead is
    uncertain, the leader is too. The interval lies between the quantiles of these numbers, and starts at 0 where the
    lower quantile is negative. Without the sign the interval would exclude 0 even for tied voters.

    Examples
    --------
    >>> from holdrank import Above, borda
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[70, 30])
    >>> found = breakdown_interval(votes, borda, Above("b", "a"), method="dual")
    >>> round(found.estimate, 3), round(found.lower, 3), round(found.upper, 3)
    (0.133, 0.072, 0.194)
    """
    started = perf_counter()
    level, draws = _checked(votes, level, draws, method)
    seconds = expect_seconds(time_limit)
    expect_executor(executor)
    T = settled(T, votes)
    votes = ballots_for(T, drawn_by(votes, by))
    seed = seed_of(rng) if method == "bootstrap" else None
    first = seconds if seconds is None or method == "dual" else _OF_THE_TIME * seconds
    found = attack(votes, T, goal, change=change, time_limit=first)
    left = None if seconds is None else max(seconds - (perf_counter() - started), 0.0)
    with Clock(left) as clock:
        if found.status.is_interrupted:
            clock.interrupted = True
        if seed is None:
            known, drawn = _by_duals(found, T, level, clock), []
        else:
            drawn = _samples(found, T, draws, seed, clock, progress, executor)
            known = _Ends(*_quantiles(drawn, level))
        status = found.status if seed is None else Status.RESAMPLED
        if seed is not None and len(drawn) < draws:
            status = Status.RESAMPLED_INTERRUPTED if clock.interrupted else Status.RESAMPLED_TIME_LIMIT
    return BreakdownInterval(
        attack=found,
        estimate=found.upper,
        lower=known.lower + 0.0,  # no sign before zero
        upper=known.upper,
        level=level,
        method=method,
        draws=len(drawn),
        reached=sum(one[2] for one in drawn) / max(len(drawn), 1),
        open=sum(one[0] < one[1] for one in drawn),
        error=known.error,
        units=votes.total if votes.groups is None else float(len(votes.groups)),
        by=None if votes.groups is None else votes.groups.of,
        statistic=name_of(T),
        seed=seed,
        status=status,
        seconds=perf_counter() - started,
    )


@dataclass(frozen=True, slots=True)
class _Ends:
    lower: float
    upper: float
    error: float = math.nan


def _by_duals(found: Attack, T: Statistic, level: float, clock: Clock) -> _Ends:
    """Return the interval by the slopes of the share: the delta method."""
    votes = found.original
    slopes = slopes_of(found, T, clock) if found.upper > SAME else None  # 0 is an end of the shares: no slope there
    if slopes is None:
        why = (
            ": its minimum share is 0"
            if found.upper <= SAME
            else ""
            if found.exact
            else ": its minimum share is not proven"
        )
        raise UsageError(
            f"there is no dual interval for {found.goal.text()} by {name_of(T)}{why}",
            repair=Message("use ", Option("method", "bootstrap")),
        )
    shares = votes.weights / votes.total
    influence = slopes - float(shares @ slopes)
    groups, units = votes.groups, effective_units(votes.total, votes.groups)
    if units < 2:
        return _Ends(0.0, math.inf, math.inf)
    if groups is None:
        squares, number = float(votes.weights @ influence**2), votes.total
    else:
        moved = np.bincount(groups.group, weights=groups.weight * influence[groups.ballot], minlength=len(groups))
        squares, number = float(moved @ moved), float(len(groups))
    error = math.sqrt(squares * number / (number - 1)) / votes.total
    reach = student_quantile((1 + level) / 2, units - 1) * error
    return _Ends(max(found.upper - reach, 0.0), found.upper + reach, error)


def _quantiles(drawn: list[_Drawn], level: float) -> tuple[float, float]:
    """Return the ends of the interval, the outer of the two draws next to each quantile."""
    if len(drawn) < LEAST_DRAWS:
        return 0.0, math.inf
    lower, upper, reached = (np.array(part) for part in zip(*drawn, strict=True))
    least, most = np.where(reached, -upper, lower), np.where(reached, -lower, upper)
    low = float(np.quantile(least, (1 - level) / 2, method="lower"))
    high = float(np.quantile(most, (1 + level) / 2, method="higher"))
    return max(low, 0.0), max(high, -low, 0.0)


def _samples(
    found: Attack,
    T: Statistic,
    draws: int,
    seed: int,
    clock: Clock,
    progress: Callable[[Step], None] | None,
    executor: Executor | None,
) -> list[_Drawn]:
    """Attack the samples block by block, so that workers can share them."""
    votes = found.original
    aim = found.goal.aim(found.before.ranking, votes.items)
    asked = _Asked(votes, T, found.goal, aim, found.change)
    blocks = {str(at // BLOCK): (at // BLOCK, min(BLOCK, draws - at), seed) for at in range(0, draws, BLOCK)}
    done: dict[int, list[_Drawn]] = {}
    for key, some in spread(_block, blocks, Parcel(asked), clock, executor=executor, fair=True):
        done[int(key)] = some
        if progress is not None:
            progress(Step("draws", sum(map(len, done.values())), draws))
    return [one for block in sorted(done) for one in done[block]]


class _Asked(NamedTuple):
    """The question for every sample."""

    votes: Votes
    T: Statistic
    goal: Goal
    aim: Aim  # of the goal against the consensus of the votes
    change: Change


def _block(parcel: Parcel[_Asked], block: int, draws: int, seed: int, clock: Clock) -> tuple[list[_Drawn], bool]:
    """Attack the samples of a block; return the bounds for each, and whether all were attacked."""
    votes, T, goal, aim, change = parcel.value
    known: dict[bytes, Share] = parcel.desk  # few voters, or groups, give the same sample again
    out: list[_Drawn] = []
    for at, weights in enumerate(Stream(votes, seed, block).take(draws)):
        if clock.over():
            break
        key = weights.tobytes()
        if key not in known:
            known[key] = least_share(votes.with_weights(weights), T, goal, change, clock.share(draws - at))
        share = known[key]
        out.append((share.lower, share.upper, aim.reached(share.before)))
    return out, len(out) == draws


def _checked(votes: object, level: object, draws: object, method: object) -> tuple[float, int]:
    expect_votes(votes, "breakdown_interval")
    assert isinstance(votes, Votes)
    share, number = real_number(level), whole_number(draws)
    if share is None or not 0 < share < 1:
        raise UsageError(f"level must be a number between 0 and 1, not {quote(str(level))}")
    if number is None or number < LEAST_DRAWS:
        raise UsageError(f"draws must be a whole number from {LEAST_DRAWS}, not {quote(str(draws))}")
    if method not in ("bootstrap", "dual"):
        raise UsageError(f"method must be bootstrap or dual, not {quote(str(method))}")
    if not votes.is_counts:
        raise UsageError(
            "an interval needs the number of votes, and these votes are shares",
            repair="give counts (whole numbers) as weights",
        )
    return share, number
