"""How often confidence sets and intervals hold: generated votes whose truth is known, drawn again and again.

    python benchmarks/coverage.py                              # the tables of docs/theory/chance.md
    python benchmarks/coverage.py --repeats 200                # a quick look
    python benchmarks/coverage.py --only breakdown             # one kind of tables: places, battles or breakdown

A set holds if it covers the true place of every item, and where items are equal in truth, all places that they share.
An interval holds if it covers the breakdown of the model that the votes are drawn from.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache

import numpy as np

import holdrank as hr

SEEDS = 10**6  # of the sets, apart from those of the votes

MODELS = {
    "uniform: all six equal": hr.Uniform(6),
    "Mallows, phi = 0.7": hr.Mallows(range(6), 0.7),
    "Mallows, phi = 0.95: near ties": hr.Mallows(range(6), 0.95),
    "Plackett-Luce, far apart": hr.PlackettLuce([32.0, 16.0, 8.0, 4.0, 2.0, 1.0]),
    "Plackett-Luce, near ties": hr.PlackettLuce([5.0, 2.02, 2.0, 1.04, 1.02, 1.0]),
    "Plackett-Luce, ties": hr.PlackettLuce([5.0, 2.0, 2.0, 1.0, 1.0, 1.0]),
}

FOUR = {
    "uniform: all four equal": hr.Uniform(4),
    "Mallows, phi = 0.7": hr.Mallows(range(4), 0.7),
    "Mallows, phi = 0.95: near ties": hr.Mallows(range(4), 0.95),
    "Plackett-Luce, far apart": hr.PlackettLuce([8.0, 4.0, 2.0, 1.0]),
    "Plackett-Luce, near tie of the first two": hr.PlackettLuce([4.2, 4.0, 1.5, 1.0]),
    "Plackett-Luce, tie of the first two": hr.PlackettLuce([4.0, 4.0, 1.5, 1.0]),
    "two items, 3 to 1": hr.PlackettLuce([3.0, 1.0]),
}


def true_places(model: hr.Model, T: hr.Statistic) -> tuple[np.ndarray, np.ndarray]:
    """The best and the worst true place of each item: those of ties are shared."""
    votes = hr.exact_votes(model)
    if T is hr.kemeny:
        ranks = np.array([found.ranks for found in hr.kemeny_optima(votes, most=5000)])
        better = (ranks[:, :, None] < ranks[:, None, :]).all(axis=0)
    else:
        points = votes.wins().sum(axis=1)
        better = points[:, None] > points + 1e-9
    return 1 + better.sum(axis=0), model.n - better.sum(axis=1)


def held(found: hr.RankSets, best: np.ndarray, worst: np.ndarray) -> tuple[bool, float, float]:
    """Whether all sets hold at once, the share of those for one item that hold, and how wide the sets are."""
    together = (found.lower <= best) & (found.upper >= worst)
    alone = (found.marginal_lower <= best) & (found.marginal_upper >= worst)
    return bool(together.all()), float(alone.mean()), float((found.upper - found.lower + 1).mean())


def ballots(name: str, rule: str, size: int, seed: int) -> tuple[bool, float, float]:
    model, T = MODELS[name], getattr(hr, rule)
    votes = hr.sample_votes(model, size=size, rng=seed)
    return held(hr.rank_sets(votes, T, draws=1000, rng=SEEDS + seed), *true_places(model, T))


def arena(voters: int, each: int, spread: float, near: bool, by: bool, seed: int) -> tuple[bool, float, float]:
    """Battles of six models; `spread` is how far the taste of a voter strays from that of the crowd."""
    rng = np.random.default_rng(seed)
    strengths = np.array([0.9, 0.02, 0.01, 0.0, 0.0, -0.8]) if near else np.linspace(0.8, -0.8, 6)
    rows = []
    for voter in range(voters):
        own = strengths + rng.normal(0, spread, 6) if spread else strengths
        for _ in range(each):
            i, j = rng.choice(6, 2, replace=False)
            won = rng.random() < 1 / (1 + np.exp(own[j] - own[i]))
            rows.append((voter, *((i, j) if won else (j, i))))
    cast, winner, loser = np.array(rows).T
    frame = {"winner": [f"m{k}" for k in winner], "loser": [f"m{k}" for k in loser], "voter": [f"v{k}" for k in cast]}
    import polars

    votes = hr.Votes.from_battles(polars.DataFrame(frame), by="voter").only([f"m{k}" for k in range(6)])
    better = strengths[:, None] > strengths + 1e-12
    found = hr.rank_sets(votes, hr.bradley_terry, by="voter" if by else None, draws=1000, rng=SEEDS + seed)
    return held(found, 1 + better.sum(axis=0), 6 - better.sum(axis=1))


@cache
def true_breakdown(name: str, rule: str) -> float:
    """The share of votes that changes the winner of the model itself."""
    return hr.attack(hr.exact_votes(FOUR[name]), getattr(hr, rule), hr.NewWinner()).lower


def breakdowns(name: str, rule: str, size: int, method: str, seed: int) -> tuple[bool, float, float]:
    """Whether the interval holds, whether its lower end does, and how wide it is."""
    votes, truth = hr.sample_votes(FOUR[name], size=size, rng=seed), true_breakdown(name, rule)
    try:
        found = hr.breakdown_interval(
            votes, getattr(hr, rule), hr.NewWinner(), method=method, draws=200, rng=SEEDS + seed
        )
    except hr.UsageError:  # a tie of the votes has no duals, and no interval to count
        return np.nan, np.nan, np.nan
    return (
        found.lower <= truth + 1e-9 and truth <= found.upper + 1e-9,
        float(found.lower <= truth + 1e-9),
        found.upper - found.lower,
    )


def breakdown_tables(repeats: int, jobs: int) -> None:
    """The population's breakdown of the winner, by the bootstrap and by the duals."""
    for rule in ("borda", "kemeny"):
        for method in ("bootstrap", "dual"):
            rows = [
                (f"{name} ({100 * true_breakdown(name, rule):.2f} %), {size} ballots", breakdowns,
                 (name, rule, size, method))
                for name in FOUR for size in (40, 400)
            ]  # fmt: skip
            title = f"Level 95 %, breakdown of the winner by {rule}, {method}"
            table(title, rows, repeats, jobs, "| votes (truth) | interval holds | lower end holds | mean width |")


def table(
    title: str,
    rows: list[tuple[str, Callable[..., tuple[bool, float, float]], tuple]],
    repeats: int,
    jobs: int,
    head: str = "| votes | all at once | each alone | mean width |",
):
    print(f"\n{title}\n\n{head}\n| --- | --- | --- | --- |", flush=True)
    with ProcessPoolExecutor(jobs) as pool:
        for name, draw, args in rows:
            columns = [[arg] * repeats for arg in args]
            found = np.array(list(pool.map(draw, *columns, range(repeats), chunksize=20)), dtype=float)
            found = np.nanmean(found, axis=0)
            print(f"| {name} | {100 * found[0]:.1f} % | {100 * found[1]:.1f} % | {found[2]:.3g} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", choices=("places", "battles", "breakdown"))
    options = parser.parse_args()
    if options.only in (None, "places"):
        place_tables(options.repeats, options.jobs)
    if options.only in (None, "battles"):
        battle_tables(options.repeats, options.jobs)
    if options.only in (None, "breakdown"):
        breakdown_tables(options.repeats, options.jobs)


def place_tables(repeats: int, jobs: int) -> None:
    for rule in ("borda", "kemeny"):
        rows = [(f"{name}, {size} ballots", ballots, (name, rule, size)) for name in MODELS for size in (40, 400)]
        table(f"Level 95 %, {rule}", rows, repeats, jobs)


def battle_tables(repeats: int, jobs: int) -> None:
    plain = [
        ("300 voters, 5 battles each, one taste", arena, (300, 5, 0.0, False, False)),
        ("the same with near ties", arena, (300, 5, 0.0, True, False)),
    ]
    table("Level 95 %, Bradley-Terry, independent battles", plain, repeats, jobs)
    crowd = [
        ("50 voters, 30 battles each, own tastes, near ties: by battle", arena, (50, 30, 0.8, True, False)),
        ("the same by voter", arena, (50, 30, 0.8, True, True)),
    ]
    table("Level 95 %, Bradley-Terry, voters with tastes of their own", crowd, repeats, jobs)


if __name__ == "__main__":
    main()
