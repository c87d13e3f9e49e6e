"""The estimators as `breakdown` uses them: "smooth" as an engine, "paper" as a curve."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from holdrank.attacks.batches import all_orders
from holdrank.attacks.chains import Answer
from holdrank.attacks.engines import Engine
from holdrank.attacks.estimator.engine import smoothed
from holdrank.attacks.estimator.options import PaperOptions
from holdrank.attacks.estimator.original import descended
from holdrank.attacks.goals import Aim, Distance, TierDistance
from holdrank.attacks.judge import Case
from holdrank.attacks.plans import Found, Plan, Progress
from holdrank.attacks.results import Breakdown, columns
from holdrank.attacks.whole import Whole
from holdrank.rankings import Floats, Ranking
from holdrank.rules.consensus import Consensus, Statistic, name_of
from holdrank.status import Clock, Status
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes


def smooth_engine(T: Statistic, distance: TierDistance, seed: int, device: str | None) -> Engine:
    """Return the improved estimator in the form of an engine: it proves no lower bound."""

    def find(votes: Votes, _before: Ranking, aims: Sequence[Aim], *_: object) -> list[Found]:
        deltas = [aim.delta for aim in aims if aim.distance]
        estimate = smoothed(votes, T, deltas, distance=distance, rng=seed, device=device)
        uppers = estimate.upper.tolist()
        plans = _plans(votes, estimate.attacked)
        return [
            Found(0.0, upper, plan if math.isfinite(upper) else None) for upper, plan in zip(uppers, plans, strict=True)
        ]

    return Engine(find)


def paper_curve(
    votes: Votes,
    T: Statistic,
    before: Consensus,
    at: Floats,
    options: PaperOptions,
    *,
    distance: TierDistance,
    seed: int,
    clock: Clock,
    progress: Progress | None,
) -> Breakdown:
    """Return where the paper's algorithm ends, and an upper bound wherever the consensus does move that far there."""
    ended = descended(votes, T, at, options, [seed], distance=distance, clock=clock, progress=progress)
    estimate = ended.estimate[0]
    proposed = list(map(partial(Found, 0.0), estimate.tolist(), _plans(votes, ended.average[0])))
    case = Case(votes, T, before, Change.REPLACE, Engine(lambda *_: proposed))
    nothing = Whole(0.0) if votes.is_counts else Whole()
    aims = [Distance(float(delta), distance).aim(before.ranking, votes.items) for delta in at]
    answers = [Answer(aim, 0.0, math.inf, whole=nothing) for aim in aims]
    if before.status.is_exact:
        answers = [case.verified(answer, found, clock) for answer, found in zip(answers, proposed, strict=True)]
    cut = ended.steps < options.steps
    status = Status.BETWEEN_TIME_LIMIT if cut else Status.AS_WRITTEN
    status = Status.BETWEEN_INTERRUPTED if clock.interrupted else status
    notes = tuple(_notes(answers, ended.steps, options.steps))
    attacks = [case.attack(answer, status, notes, 0.0) for answer in answers]
    return Breakdown(
        delta=at,
        **columns(attacks),
        status=status,
        statistic=name_of(T),
        consensus=before,
        method="paper",
        distance=distance,
        total=votes.total,
        seed=seed,
        notes=notes,
        seconds=0.0,
        estimate=estimate,
        options=options,
    )


def _notes(answers: Sequence[Answer], steps: int, asked: int) -> Iterable[str]:
    if steps < asked:
        yield f"the algorithm was stopped after {steps:,} of {asked:,} steps"
    short = sum(answer.plan is None for answer in answers)
    if short:
        yield (
            f"at {short} of {len(answers)} distances the estimate is not an upper bound: "
            "where the algorithm stops, the consensus has not moved that far"
        )


def _plans(votes: Votes, attacked: Floats) -> list[Plan]:
    """Return the change of the votes that makes each of these distributions of them."""
    ranks = np.argsort(all_orders(votes.n), axis=1) + 1
    row_of = {row.tobytes(): k for k, row in enumerate(ranks)}
    complete = np.where(votes.ranks == 0, votes.n, votes.ranks).astype(ranks.dtype)  # the last may be left out
    rows = [row_of[row.tobytes()] for row in complete]
    shares = np.bincount(rows, votes.weights / votes.total, minlength=len(ranks))
    plans = []
    for gap in (attacked - shares) * votes.total:
        taken = np.divide(np.maximum(-gap, 0.0), shares, out=np.zeros_like(gap), where=shares > 0) / votes.total
        plans.append(Plan(taken[rows] * votes.weights, ranks, np.maximum(gap, 0.0)))
    return plans
