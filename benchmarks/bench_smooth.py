"""The smoothed estimator on the paper's Figure 4, beside a plain loop over points and samples.

``make bench`` times both. ``.venv/bin/python benchmarks/bench_smooth.py`` runs them in turn, prints seconds a point for
5,000 steps (the loop's from a few steps), their ratio, and how far estimate and verified attack are from the lower
bound of the theorem, which is the exact value there.
"""

from __future__ import annotations

import math
import random
from functools import cache
from itertools import combinations, permutations
from time import process_time
from typing import Any

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.estimator.engine import smoothed
from holdrank.attacks.theorems import theorem_bounds

STEPS, SAMPLES = 5_000, 16
ORDERS = list(permutations(range(4)))
PAIRS = list(combinations(range(4), 2))


@cache
def figure_4() -> hr.Votes:
    noise = np.random.RandomState(183).uniform(size=24)
    p = 0.1 * noise / noise.sum()
    p[:2] += 0.45
    return hr.Votes.from_orders(ORDERS, p, items=range(4))


def plain_loop(p: list[float], delta: float, steps: int, seed: int = 0, gamma: float = 0.3) -> list[float]:
    """Return the average iterate: the estimator for one delta and Kemeny, one sample and one ranking at a time."""
    rng = random.Random(seed)
    before = kemeny(p)
    x = [math.log(0.999 * share + 0.001 / 24) for share in p]
    price, total = 0.0, [0.0] * 24
    for step in range(steps):
        mean, push = 0.0, [0.0] * 24
        for _ in range(SAMPLES):
            z = [rng.gauss(0, 1) for _ in range(24)]
            distance = flipped(before, kemeny(softmax([a + gamma * b for a, b in zip(x, z, strict=True)]))) / 6
            mean += distance / SAMPLES
            for at in range(24):
                push[at] += distance * z[at] / (gamma * SAMPLES)
        q = softmax(x)
        side = [((a > b) - (a < b)) / 2 for a, b in zip(q, p, strict=True)]
        level = sum(a * b for a, b in zip(q, side, strict=True))
        rate = 0.3 / math.sqrt(1 + step / 200)
        for at in range(24):
            x[at] -= rate * (q[at] * (side[at] - level) - price * push[at])
            total[at] += q[at] / steps
        price = max(0.0, price + 0.1 * rate * (delta - mean))
    return total


def softmax(x: list[float]) -> list[float]:
    top = max(x)
    powers = [math.exp(a - top) for a in x]
    total = sum(powers)
    return [a / total for a in powers]


def kemeny(p: list[float]) -> tuple[int, ...]:
    wins = [[0.0] * 4 for _ in range(4)]
    for share, order in zip(p, ORDERS, strict=True):
        for a, b in PAIRS:
            wins[order[a]][order[b]] += share
    return min(ORDERS, key=lambda order: sum(wins[order[b]][order[a]] for a, b in PAIRS))


def flipped(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    return sum((a.index(i) < a.index(j)) != (b.index(i) < b.index(j)) for i, j in PAIRS)


def test_kemeny_all_distances_of_figure_4(benchmark: Any) -> None:
    found = benchmark.pedantic(smoothed, args=(figure_4(),), kwargs={"rng": 1}, rounds=2)
    assert np.isfinite(found.upper).all()


def test_the_papers_algorithm_on_all_distances_of_figure_4(benchmark: Any) -> None:
    how = {"method": "paper", "rng": 1, "options": hr.PaperOptions(steps=STEPS)}
    found = benchmark.pedantic(hr.breakdown, args=(figure_4(),), kwargs=how, rounds=1)
    assert np.isfinite(found.estimate).all()


def test_downward_merge_all_distances_of_figure_4(benchmark: Any) -> None:
    found = benchmark.pedantic(smoothed, args=(figure_4(), hr.Robust(hr.kemeny, 0.05)), kwargs={"rng": 1}, rounds=1)
    assert np.isfinite(found.upper[:5]).all()


def test_ten_steps_of_a_plain_loop(benchmark: Any) -> None:
    p = shares(figure_4())
    average = benchmark.pedantic(plain_loop, args=(p, 0.5, 10), rounds=2)
    assert sum(average) == pytest.approx(1)


def shares(votes: hr.Votes) -> list[float]:
    number = {tuple(order): at for at, order in enumerate(ORDERS)}
    p = [0.0] * 24
    for ranks, weight in zip(votes.ranks, votes.weights, strict=True):
        p[number[tuple(np.argsort(ranks).tolist())]] = float(weight)
    return p


def main() -> None:
    votes = figure_4()
    exact = theorem_bounds(votes).lower
    started = process_time()
    plain_loop(shares(votes), 0.5, 60)
    reference = (process_time() - started) / 60 * STEPS
    print(f"plain loop, {SAMPLES} samples: {reference:.1f} s of CPU a point of {STEPS:,} steps (from 60 steps)")
    started = process_time()
    found = smoothed(votes, steps=STEPS, samples=SAMPLES, rng=1)
    a_point = (process_time() - started) / len(exact)
    print(f"smooth: {a_point:.3f} s of CPU a point, {reference / a_point:.0f} times faster than the loop,")
    print(f"    {100 / a_point:.0f} times faster than 100 s a point")
    print("    estimate / exact       ", *(f"{ratio:.3f}" for ratio in found.estimate / exact))
    print("    verified attack / exact", *(f"{ratio:.3f}" for ratio in found.upper / exact))
    started = process_time()
    written = hr.breakdown(votes, method="paper", options=hr.PaperOptions(steps=STEPS), rng=1)
    print(f"paper: {(process_time() - started) / len(exact):.3f} s of CPU a point of as many steps")
    print("    estimate / exact       ", *(f"{ratio:.3f}" for ratio in written.estimate / exact))


if __name__ == "__main__":
    main()
