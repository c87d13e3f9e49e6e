"""How often confidence sets for places hold: generated votes whose true places are known, drawn again and again.

    python benchmarks/coverage.py                   # the tables of docs/theory/chance.md
    python benchmarks/coverage.py --repeats 200     # a quick look

A set holds if it covers the true place of every item, and where items are equal in truth, all places that they share.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

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


def table(title: str, rows: list[tuple[str, Callable[..., tuple[bool, float, float]], tuple]], repeats: int, jobs: int):
    print(f"\n{title}\n\n| votes | all at once | each alone | mean width |\n| --- | --- | --- | --- |")
    with ProcessPoolExecutor(jobs) as pool:
        for name, draw, args in rows:
            columns = [[arg] * repeats for arg in args]
            found = np.array(list(pool.map(draw, *columns, range(repeats), chunksize=20)), dtype=float).mean(axis=0)
            print(f"| {name} | {100 * found[0]:.1f} % | {100 * found[1]:.1f} % | {found[2]:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    for rule in ("borda", "kemeny"):
        rows = [(f"{name}, {size} ballots", ballots, (name, rule, size)) for name in MODELS for size in (40, 400)]
        table(f"Level 95 %, {rule}", rows, options.repeats, options.jobs)
    plain = [
        ("300 voters, 5 battles each, one taste", arena, (300, 5, 0.0, False, False)),
        ("the same with near ties", arena, (300, 5, 0.0, True, False)),
    ]
    table("Level 95 %, Bradley-Terry, independent battles", plain, options.repeats, options.jobs)
    crowd = [
        ("50 voters, 30 battles each, own tastes, near ties: by battle", arena, (50, 30, 0.8, True, False)),
        ("the same by voter", arena, (50, 30, 0.8, True, True)),
    ]
    table("Level 95 %, Bradley-Terry, voters with tastes of their own", crowd, options.repeats, options.jobs)


if __name__ == "__main__":
    main()
