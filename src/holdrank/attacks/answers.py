"""The entry points: `breakdown` and `attack`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from inspect import signature
from time import perf_counter
from typing import Literal, TypeAlias, cast

import numpy as np

from holdrank.arrays.tolerances import SAME
from holdrank.attacks.chains import Answer
from holdrank.attacks.engines import Engine, exact_engine, inexact_engine
from holdrank.attacks.estimator.options import PaperOptions
from holdrank.attacks.goals import Aim, Distance, Goal, TierDistance, distances_from
from holdrank.attacks.judge import Case
from holdrank.attacks.mirror import is_symmetric
from holdrank.attacks.optima import reaches
from holdrank.attacks.plans import Progress
from holdrank.attacks.results import Attack, Breakdown, columns
from holdrank.attacks.whole import votes_needed
from holdrank.errors import Message, Option, UsageError, quote, real_number, show
from holdrank.rankings import Floats, Ranking
from holdrank.rules.consensus import Consensus, Statistic, expect_seconds, name_of
from holdrank.rules.merges import Robust, ballots_for, base_of, consensus_of, settled
from holdrank.rules.metrics import Metric, MetricLike
from holdrank.rules.registry import auto, rule_of
from holdrank.status import Clock, Status, Step
from holdrank.votes.changes import Change, ChangeName, change_of
from holdrank.votes.models import Seed, seed_of
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes
from holdrank.words.numbers import number
from holdrank.words.results import first_so_far

Method: TypeAlias = Literal["auto", "exact", "search", "bounds", "smooth", "paper"]

_METHODS = ("auto", "exact", "search", "bounds", "smooth", "paper")


def breakdown(
    votes: Votes | PairCounts,
    T: Statistic = auto,
    deltas: Iterable[float] | None = None,
    *,
    method: Method = "auto",
    distance: MetricLike = "hausdorff_ns",
    device: str | None = None,
    options: PaperOptions | None = None,
    time_limit: float | None = None,
    rng: Seed = None,
    progress: Progress | None = None,
) -> Breakdown:
    """Return how many votes must be replaced to move the consensus by each distance, with attacks and proofs.

    ``eps*(delta) = inf { TV(p, q) : d(T(p), T(q)) >= delta }`` for the votes p, where TV is the share of votes changed.

    Parameters
    ----------
    votes : Votes or PairCounts
        Pair counts for `bradley_terry` and its tiers, on battles only.
    T : Statistic
        The rule; by default `auto`, which is `bradley_terry` for battles and `kemeny` for all other votes.
        Exact, as far as effort and time allow, for `kemeny`, `borda`, `footrule`, a `Median`, and `Robust` of `kemeny`
        or `borda` by "downward" or "naive". For `bradley_terry` on battles: verified attacks, and lower bounds that are
        tight for close races; for its tiers: verified attacks, and lower bounds that are 0 where a tie may just break.
        For `Robust` of `footrule`: verified attacks, but possibly weak lower bounds. For any other statistic: a search.
    deltas : sequence of float, optional
        Distances as shares of the pairs, from 0 to 1. By default every multiple of one pair; for a statistic that ties
        items and "hausdorff_half", every multiple of half a pair up to the farthest ranking.
    method : {"auto", "exact", "search", "bounds", "smooth", "paper"}
        "exact" gives certified lower and upper bounds with attacks; "search" gives verified attacks, and lower bounds
        for `copeland` and `mean_score`; "bounds" gives the paper's theorems; "smooth" gives verified attacks found by
        an improved form of the paper's estimator; "paper" runs the paper's estimator as written, which bounds nothing
        (see `estimate`); "auto" is "exact" where T supports it, else "search".
    distance : {"hausdorff_ns", "hausdorff_half"}, or a metric
        Distance between rankings with ties; "hausdorff_half" counts a pair that is tied in only one of them as half a
        pair. Between strict rankings both equal Kendall's distance. For a `Median` also any metric that `Metric.of`
        accepts; deltas are then shares of its largest distance.
    device : str, optional
        For "smooth": the torch device to run on, such as "cuda"; numpy by default.
    options : PaperOptions, optional
        For "paper": the constants of its algorithm.
    time_limit : float, optional
        Time limit in seconds. At the limit, or at Ctrl-C, you get the bounds proved by then.
    rng : int, Generator or None
        For "smooth" and "paper".
    progress : callable, optional
        Called with a `Step` from time to time, to show progress.

    Notes
    -----
    Every attack is verified: the statistic runs again on the attacked votes, and its result must be the only optimum
    and as far away as claimed. If the consensus is one of several optima, the breakdown is 0 up to the largest distance
    to another optimum; `notes` says so. For tiers whose base is neither `kemeny` nor `borda`, the engine has no linear
    conditions on the order; ties, gaps and changes of the first items bound it. Paper: the breakdown function (Section
    2.2).

    Examples
    --------
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    >>> b = breakdown(votes)
    >>> b.delta.round(3).tolist(), b.lower.round(3).tolist()
    ([0.333, 0.667, 1.0], [0.1, 0.5, 0.5])
    >>> b.votes_needed.tolist(), b.votes_sufficient.tolist()
    ([10.0, 50.0, 50.0], [11.0, 51.0, 51.0])
    """
    started = perf_counter()
    time_limit = expect_seconds(time_limit)
    T = settled(T, votes)
    votes = votes_of(votes, T)
    T = checked(votes, T)
    if method not in _METHODS:
        raise UsageError(f"method must be one of {', '.join(_METHODS)}, not {quote(str(method))}")
    far = _far(T, distance, method)
    if device is not None and method != "smooth":
        raise UsageError("device applies only to method='smooth'")
    options = _paper_options(method, options)
    asked = None if deltas is None else _distances(deltas)
    engine = exact_engine(T, votes) if method in ("auto", "exact") else None
    seed = None
    if method == "exact" and engine is None:
        raise UsageError(
            f"exact breakdowns are available for kemeny, borda, footrule and Robust of these, not for {name_of(T)}",
            repair=Message("use one of them, a Median, or ", Option("method", "search")),
        )
    if engine is None and method in ("auto", "search"):
        engine = inexact_engine(T, votes)
    if method in ("smooth", "paper"):
        seed = seed_of(rng)
    if method == "smooth" and seed is not None:
        from holdrank.attacks.estimator.curve import smooth_engine

        engine = smooth_engine(T, cast("TierDistance", far), seed, device)
    votes = ballots_for(T, votes)
    before = consensus_of(votes, T, time_limit)
    at = _all_distances(before.ranking, T, far) if asked is None else asked
    if options is not None and seed is not None:
        from holdrank.attacks.estimator.curve import paper_curve

        with Clock(_seconds_left(time_limit, started)) as clock:
            tiers = cast("TierDistance", far)
            curve = paper_curve(
                votes, T, before, at, options, distance=tiers, seed=seed, clock=clock, progress=progress
            )
        return replace(curve, notes=(*_notes(before, []), *curve.notes), seconds=perf_counter() - started)
    if engine is None:
        return _theorems(votes, T, at, far, before, started)
    case = Case(votes, T, before, Change.REPLACE, engine)
    _tell_first(before, votes, progress)
    with Clock(_seconds_left(time_limit, started)) as clock:
        used = "smooth" if method == "smooth" else "search" if engine.by_search else "exact"
        curve = _curve(case, at, far, used, clock, time_limit, progress, started)
        return replace(curve, seed=seed)


def attack(
    votes: Votes | PairCounts,
    T: Statistic,
    goal: Goal,
    *,
    change: Change | ChangeName = "replace",
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Return the smallest change of votes that achieves a goal: certified bounds, and the attack itself.

    Parameters
    ----------
    votes : Votes or PairCounts
        Pair counts for `bradley_terry` and its tiers, on battles only.
    T : Statistic
        Exact, as far as effort and time allow, for `kemeny`, `borda`, `footrule`, a `Median`, and `Robust` of `kemeny`
        or `borda` by "downward" or "naive". For `bradley_terry` on battles: a verified attack, and a lower bound that
        is tight for close races; for its tiers: a verified attack, and a lower bound that is 0 where a tie may just
        break. For `Robust` of `footrule`: a verified attack, but possibly a weak lower bound. For any other statistic:
        a search for an attack, with a lower bound for `copeland` and `mean_score`. The status says which applies.
    goal : Goal
        `NewWinner`, `Wins`, `Above`, `TopSet`, `Enters`, `Leaves` or `Distance`.
    change : {"replace", "drop", "add"}
        What the attacker may do: replace ballots by rankings of their choice, drop ballots, or add rankings. Battles
        between two items are replaced by battles. Shares refer to the original votes in all three cases.
    time_limit : float, optional
        Time limit in seconds. At the limit, or at Ctrl-C, you get the bounds proved by then.
    progress : callable, optional
        Called with a `Step` from time to time, to show progress.

    Examples
    --------
    >>> from holdrank import NewWinner, kemeny
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    >>> a = attack(votes, kemeny, NewWinner())
    >>> round(a.lower, 6), a.exact, a.verified, a.whole.removed, a.whole.added
    (0.1, True, True, [('a > b > c', 11.0)], [('b > a > c', 11.0)])
    """
    started = perf_counter()
    time_limit = expect_seconds(time_limit)
    T = settled(T, votes)
    votes = votes_of(votes, T)
    T = checked(votes, T)
    change = change_of(change)
    check_goal(goal, T)
    votes = ballots_for(T, votes)
    before = consensus_of(votes, T, time_limit)
    aim = goal.aim(before.ranking, votes.items)
    case = Case(votes, T, before, change, engine_for(aim, votes, T))
    _tell_first(before, votes, progress)
    with Clock(_seconds_left(time_limit, started)) as clock:
        (answer,) = case.with_search(case.answers([aim], clock, progress), clock, time_limit, progress)
        status = case.status([answer], clock)
    return case.attack(answer, status, _notes(before, [answer]), perf_counter() - started)


def _tell_first(before: Consensus, votes: Votes, progress: Progress | None) -> None:
    """Report who is first, which is known before any bound."""
    if progress is not None:
        names = [votes.items[item] for item in before.ranking.buckets[0]]
        progress(Step("attacks", 0, 1, first_so_far(*names)))


def engine_for(aim: Aim, votes: Votes, T: Statistic) -> Engine:
    """Return the best available engine for an aim."""
    unknown = not isinstance(T, Robust) and bool(aim.leaver) and not is_symmetric(T, votes)
    exact = exact_engine(T, votes)
    if exact is None or (unknown and not exact.any_target):
        return inexact_engine(T, votes)
    return exact


def fulfils(votes: Votes, T: Statistic, attacked: Votes, goal: Goal) -> bool:
    """Return whether the consensus of attacked votes fulfils a goal set for the consensus of the votes, by running T.

    Where T reports several optima for the attacked votes, all must fulfil the goal (`kemeny`), or the answer is False.
    """
    T = settled(T, votes)
    check_goal(goal, T)
    aim = goal.aim(T(votes).ranking, votes.items)
    return reaches(aim, T, lambda: attacked, T(attacked), Clock())


def _curve(
    case: Case,
    at: Floats,
    distance: TierDistance | Metric,
    method: str,
    clock: Clock,
    time_limit: float | None,
    progress: Progress | None,
    started: float,
) -> Breakdown:
    """Run the engine of a case on all distances at once."""
    aims = [Distance(float(delta), distance).aim(case.before.ranking, case.votes.items) for delta in at]
    # Distances between two attainable ones ask the same question.
    asked = {aim.step(): aim for aim in sorted(aims, key=Aim.step)}
    found = case.with_search(case.answers(list(asked.values()), clock, progress), clock, time_limit, progress)
    known = dict(zip(asked, found, strict=True))
    answers = [replace(known[aim.step()], aim=aim) for aim in aims]
    status = case.status(answers, clock)
    if method == "smooth" and not status.is_exact:
        status = Status.ESTIMATE
    notes = _notes(case.before, answers)
    seconds = perf_counter() - started
    attacks = [case.attack(answer, _status_of(answer, status), notes, seconds) for answer in answers]
    return Breakdown(
        delta=at,
        **columns(attacks),
        status=status,
        statistic=name_of(case.statistic),
        consensus=case.before,
        method=method,
        distance=distance,
        total=case.votes.total,
        seed=None,
        notes=notes,
        seconds=seconds,
    )


def _theorems(
    votes: Votes, T: Statistic, at: Floats, distance: TierDistance | Metric, before: Consensus, started: float
) -> Breakdown:
    """Return the paper's two bounds; they come without attacks."""
    from holdrank.attacks.theorems import theorem_bounds

    found = theorem_bounds(votes, T, at, distance=distance if isinstance(distance, Metric) else None)
    lower, upper = np.array(found.lower), np.where(found.upper_valid, found.upper, math.inf)
    lower = np.where(lower >= upper - SAME, upper, lower)
    counts = votes.is_counts
    needed = np.array([votes_needed(low, votes.total) if counts else math.nan for low in lower.tolist()])
    return Breakdown(
        delta=at,
        lower=lower,
        upper=upper,
        exact=lower == upper,
        attacks=(None,) * len(at),
        votes_needed=needed,
        votes_to_tie=np.full(len(at), math.inf if counts else math.nan),
        votes_to_decide=needed.copy(),
        votes_sufficient=np.full(len(at), math.inf if counts else math.nan),
        status=Status.THEOREM,
        statistic=name_of(T),
        consensus=before,
        method="bounds",
        distance=distance,
        total=votes.total,
        seed=None,
        notes=tuple(filter(None, (found.note, *_notes(before, [])))),
        seconds=perf_counter() - started,
    )


def _paper_options(method: str, options: object) -> PaperOptions | None:
    """Return the constants of method "paper"; None for all other methods, which have none."""
    if method != "paper" and options is not None:
        raise UsageError("options applies only to method='paper'")
    if options is not None and not isinstance(options, PaperOptions):
        raise UsageError(
            f"options must be PaperOptions, not {type(options).__name__}", repair="write PaperOptions(steps=2000)"
        )
    return None if method != "paper" else options or PaperOptions()


def votes_of(votes: Votes | PairCounts, T: Statistic) -> Votes:
    """Return votes; also accept pair counts of battles for a rule that has an engine for battles."""
    if not isinstance(votes, PairCounts):
        return votes
    engine: Engine | None = rule_of(base_of(T)).engine
    if engine is None or not engine.battles:
        raise UsageError(
            f"votes must be Votes for {name_of(T)}: pair counts do not keep the ballots",
            repair="give the votes, or counts.as_votes() to treat every comparison as a ballot",
        )
    if not math.isclose(float(votes.wins().sum()), votes.total, rel_tol=1e-9):
        raise UsageError(
            f"the counts come from {number(votes.total)} ballots with {number(float(votes.wins().sum()))} comparisons, "
            "and do not say which comparisons belong to the same ballot",
            repair="give the votes, or counts.as_votes() to treat every comparison as a ballot",
        )
    return votes.as_votes()


def checked(votes: object, T: Statistic) -> Statistic:
    """Refuse invalid values; return the statistic, with the threshold that it has for these votes."""
    if not isinstance(votes, Votes):
        raise UsageError(
            f"votes must be Votes, not {type(votes).__name__}; make them with Votes.from_orders or another constructor"
        )
    if not callable(T):
        raise UsageError(f"the statistic must be kemeny, borda, footrule, a Robust or a function, not {show(repr(T))}")
    T = settled(T, votes)
    return T.fixed(votes) if isinstance(T, Robust) else T


def check_goal(goal: object, T: Statistic | None) -> None:
    """Refuse a value that is not a goal, and a distance that a statistic (None for tiers) does not support."""
    if isinstance(goal, type) and issubclass(goal, Goal):  # a class has the methods of a goal too
        needed = [name for name, known in signature(goal).parameters.items() if known.default is known.empty]
        call = f"{goal.__name__}({', '.join(needed)})"
        raise UsageError(f"{goal.__name__} is a class of goals, not a goal", repair=f"write {call}")
    if not isinstance(goal, Goal):
        raise UsageError(f"a goal is NewWinner(), Wins(item), Above(b, a) or another goal, not {show(repr(goal))}")
    metric = getattr(goal, "distance", "")
    engine: Engine | None = None if T is None else rule_of(T).engine
    if isinstance(metric, Metric) and (engine is None or not engine.any_target):
        raise UsageError(
            f"distances in {metric.name} need a Median, not {'tiers' if T is None else name_of(T)}",
            repair="use hausdorff_ns or hausdorff_half, or a Median, such as Median('kendall') in place of kemeny",
        )


def numbers_of(deltas: Iterable[float]) -> list[float]:
    """Return distances as Python numbers; refuse anything else."""
    try:
        at = [real_number(delta) for delta in deltas]
    except TypeError as error:
        raise UsageError("deltas must be numbers from 0 to 1") from error
    known = [float(delta) for delta in at if delta is not None]
    if len(known) < len(at):
        raise UsageError("deltas must be numbers from 0 to 1")
    return known


def _far(T: Statistic, distance: MetricLike, method: str) -> TierDistance | Metric:
    """Return the distance of a curve; refuse unknown distances, and metrics that no engine supports."""
    goal = Distance(1.0, distance)
    check_goal(goal, T)
    far = cast("TierDistance | Metric", goal.distance)
    if isinstance(far, Metric) and method not in ("auto", "exact", "bounds"):
        raise UsageError(
            f"method={method!r} supports the distances hausdorff_ns and hausdorff_half, not {far.name}",
            repair=Message("use ", Option("method", "exact"), " or ", Option("method", "bounds")),
        )
    return far


def _all_distances(before: Ranking, T: Statistic, distance: TierDistance | Metric) -> Floats:
    """Return the distances that a consensus may move by, in rising order."""
    if isinstance(distance, Metric):
        return np.unique(distances_from(before, distance))[1:]
    pairs = before.n * (before.n - 1) // 2
    if distance == "hausdorff_ns" or rule_of(T).is_strict:
        return np.arange(1, pairs + 1) / max(pairs, 1)
    tied = sum(len(bucket) * (len(bucket) - 1) // 2 for bucket in before.buckets)
    return np.arange(1, 2 * pairs - tied + 1) / max(2 * pairs, 1)  # a tie can only be broken, which is half a pair


def _distances(deltas: Iterable[float]) -> Floats:
    at = np.array(numbers_of(deltas))
    if not ((at >= 0) & (at <= 1)).all():
        raise UsageError("deltas must be numbers from 0 to 1, shares of the pairs of items")
    return at


def _seconds_left(time_limit: float | None, started: float) -> float | None:
    return None if time_limit is None else max(time_limit - (perf_counter() - started), 0.0)


def _status_of(answer: Answer, of_curve: Status) -> Status:
    """Return the status of one answer of a curve; an answer that is not exact has the status of the whole curve."""
    if answer.lower < answer.upper:
        return of_curve
    return Status.OUT_OF_REACH if math.isinf(answer.lower) else Status.LEAST


def _notes(before: Consensus, answers: Sequence[Answer]) -> tuple[str, ...]:
    notes = list(before.notes)
    if not before.status.is_exact:
        notes.append(
            "the consensus itself was not proven optimal within the time limit, so there are no bounds on breaking it"
        )
    free = [answer for answer in answers if answer.is_free and before.unique is False]
    far = max((a.aim.delta for a in free if a.aim.distance), default=0.0)
    if far:
        notes.append(f"the consensus is one of several optima; the breakdown is 0 up to the distance {far:.4g}")
    elif before.unique is False or free:
        notes.append("the consensus is one of several optima" + ", and only some of them fulfil the goal" * bool(free))
    return tuple(notes)
