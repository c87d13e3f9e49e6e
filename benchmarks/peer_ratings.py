"""Ratings by Bradley-Terry, one package in a process of its own: ``python peer_ratings.py PACKAGE TASK FOLDER NAME``.

As `peer_tasks.py`. NAME.npy is the matrix of wins. Every package gets it in the shape that suits it best: battles that
are alike are one row with a count, where a package takes counts. All options are as a package has them by default, but
for evalica's resampling, which gets the cheaper of its kinds of interval.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from peer_tasks import best, main, task

UNIT = 400 / math.log(10)


def counted(folder: Path, name: str) -> tuple[Any, Any, Any, Any]:
    """Return (wins, winners, losers, counts), one entry a pair in which somebody won."""
    wins = np.load(folder / f"{name}.npy")
    winners, losers = np.nonzero(wins)
    return wins, winners, losers, wins[winners, losers]


def numbers(values: Any) -> list[float]:
    return [float(value) for value in np.asarray(values)]


@task("holdrank", "ratings")
def _(folder: Path, name: str) -> dict[str, Any]:
    from holdrank import PairCounts, bradley_terry

    wins, *_ = counted(folder, name)
    build, counts = best(lambda: PairCounts.from_wins(wins))
    order, _ = best(lambda: bradley_terry(counts.with_reading(counts.reading)))
    seconds, found = best(lambda: bradley_terry(counts.with_reading(counts.reading)).ratings())
    damped = bradley_terry(counts).ratings(damping=1e-5)  # as arena-rank has it
    return {
        "build": build,
        "seconds": seconds,
        "order alone": order,
        "ratings": numbers(found.values),
        "errors": numbers(damped.errors),
    }


@task("arena-rank", "ratings")
def _(folder: Path, name: str) -> dict[str, Any]:
    import jax.numpy as jnp
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    wins, winners, losers, counts = counted(folder, name)
    n = len(wins)

    def build() -> Any:
        pairs = jnp.column_stack([jnp.array(winners), jnp.array(losers)]).astype(jnp.int32)
        ones, many = jnp.ones(len(counts), dtype=jnp.float64), jnp.array(counts, dtype=jnp.float64)
        return PairDataset([str(k) for k in range(n)], pairs, ones, many, ones, many)

    made, data = best(build)

    def rate(**options: Any) -> Any:
        found = BradleyTerry(n, **options).compute_ratings_and_cis(data)
        return {key: np.asarray(found[key]) for key in ("ratings", "variances", "rating_lower")}

    seconds, found = best(rate)
    tight = rate(ftol=1e-16, gtol=1e-12)
    return {
        "build": made,
        "seconds": seconds,
        "ratings": numbers(found["ratings"]),
        "converged": numbers(tight["ratings"]),
        "errors": numbers(np.sqrt(tight["variances"])),
    }


@task("choix", "ratings")
def _(folder: Path, name: str) -> dict[str, Any]:
    import choix

    wins, *_ = counted(folder, name)
    seconds, found = best(lambda: choix.ilsr_pairwise_dense(wins))
    return {"seconds": seconds, "ratings": numbers(1000 + UNIT * (found - found.mean()))}


@task("evalica", "ratings")
def _(folder: Path, name: str) -> dict[str, Any]:
    import evalica

    _, winners, losers, counts = counted(folder, name)
    xs, ys, weights = winners.tolist(), losers.tolist(), counts.tolist()
    outcomes = [evalica.Winner.X] * len(xs)
    seconds, found = best(lambda: evalica.bradley_terry(xs, ys, outcomes, weights=weights))
    logs = np.log(found.scores.sort_index().to_numpy())
    return {"seconds": seconds, "ratings": numbers(1000 + UNIT * (logs - logs.mean()))}


@task("arenakit", "ratings")
def _(folder: Path, name: str) -> dict[str, Any]:
    from arenakit.bt import fit_bt
    from arenakit.schema import PairCounts

    wins, *_ = counted(folder, name)
    nobody = np.zeros_like(wins)
    counts = PairCounts(wf=wins, ws=nobody, tt=nobody)
    seconds, found = best(lambda: fit_bt(counts))
    return {"seconds": seconds, "ratings": numbers(1000 + UNIT * (found.scores - found.scores.mean()))}


# A new winner: certified by holdrank, chosen once by influence


def _certified(change: str) -> Any:
    def measure(folder: Path, name: str) -> dict[str, Any]:
        from holdrank import NewWinner, PairCounts, attack, bradley_terry

        counts = PairCounts.from_wins(counted(folder, name)[0])
        attacked = {"change": change, "time_limit": 60.0}
        seconds, found = best(
            lambda: attack(counts.with_reading(counts.reading), bradley_terry, NewWinner(), **attacked), warm=False
        )
        return {"seconds": seconds, "needed": int(found.votes_to_decide), "sufficient": int(found.votes_sufficient)}

    return measure


def _by_influence(change: str) -> Any:
    def measure(folder: Path, name: str) -> dict[str, Any]:
        from holdrank import NewWinner, PairCounts, bradley_terry
        from holdrank.attacks.bradley_terry.battles import Battles
        from holdrank.paper.influence import Influence
        from holdrank.votes.changes import Change

        votes = PairCounts.from_wins(counted(folder, name)[0]).as_votes()

        def guess() -> Any:
            before = bradley_terry(votes).ranking
            first, *others = before.order
            aim = NewWinner().aim(before, votes.items)
            return Influence(Battles.of(votes)).guess(aim, [(b, first) for b in others], Change(change))

        seconds, found = best(guess)
        said = {"predicted": found.predicted, "works": found.works, "sufficient": found.sufficient}
        return {"seconds": seconds, **said}

    return measure


for kind in ("drop", "add", "replace"):
    task("holdrank", kind)(_certified(kind))
    task("influence", kind)(_by_influence(kind))


# Intervals by resampling single battles, as many times as each package does by default


def battles(folder: Path, name: str) -> tuple[list[int], list[int]]:
    """Return winners and losers, one entry a battle."""
    _, winners, losers, counts = counted(folder, name)
    many = counts.astype(int)
    return np.repeat(winners, many).tolist(), np.repeat(losers, many).tolist()


@task("evalica", "rating intervals")
def _(folder: Path, name: str) -> dict[str, Any]:
    import evalica

    xs, ys = battles(folder, name)
    outcomes = [evalica.Winner.X] * len(xs)
    how: dict[str, Any] = {"bootstrap_method": "percentile", "random_state": 1}
    seconds, _ = best(lambda: evalica.bootstrap(evalica.bradley_terry, xs, ys, outcomes, **how), warm=False)
    return {"seconds": seconds}


@task("arenakit", "rating intervals")
def _(folder: Path, name: str) -> dict[str, Any]:
    from arenakit.boot import bootstrap
    from arenakit.schema import Arena, Battle

    xs, ys = battles(folder, name)

    def arena() -> Any:
        return Arena([Battle(model_a=str(a), model_b=str(b), winner="a") for a, b in zip(xs, ys, strict=True)])

    build, made = best(arena)
    seconds, _ = best(lambda: bootstrap(made).score_ci(), warm=False)
    return {"build": build, "seconds": seconds}


if __name__ == "__main__":
    main()
