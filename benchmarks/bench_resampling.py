"""Bootstraps: votes drawn again and ranked again; and the fit of Bradley-Terry strengths that some of them repeat.

``.venv/bin/python benchmarks/bench_resampling.py`` prints seconds and peak memory for 10,000 draws of 5,000 ballots of
10 items, beside a loop that makes votes of each draw (timed on 100 draws and scaled).
"""

from __future__ import annotations

import resource
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from generated import SEED, bradley_terry, complete_ranks, counted

import holdrank as hr
from holdrank.rules.strengths import RIDGE, strengths

RULES = [hr.kemeny, hr.copeland, hr.bradley_terry, hr.borda, hr.footrule, hr.Robust(hr.kemeny, 0.02)]


@cache
def ballots(m: int, n: int) -> hr.Votes:
    """Uniform: many majority cycles, the hardest kind for Kemeny."""
    return hr.Votes.from_ranks(complete_ranks(m, n))


@cache
def battles(rows: int, items: int) -> hr.Votes:
    rng = np.random.default_rng(SEED)
    strength = rng.normal(size=items)
    first = rng.integers(items, size=rows)
    second = (first + rng.integers(1, items, size=rows)) % items
    won = rng.random(rows) < 1 / (1 + np.exp(strength[second] - strength[first]))
    ranks = np.zeros((rows, items), dtype=np.int16)
    ranks[np.arange(rows), first] = 2 - won
    ranks[np.arange(rows), second] = 1 + won
    return hr.Votes.from_ranks(ranks, unlisted="observed")


def plain_loop(votes: hr.Votes, T: Any, draws: int, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(votes.distinct), votes.weights.astype(int))
    return [T(hr.Votes.from_ranks(votes.ranks[rng.choice(rows, len(rows))])).ranking for _ in range(draws)]


@pytest.mark.parametrize("T", RULES, ids=lambda T: T.__name__)
def test_1_000_draws_of_5_000_ballots_of_10_items(benchmark: Any, T: Any) -> None:
    found = benchmark.pedantic(hr.bootstrap, args=(ballots(5_000, 10), T), kwargs={"draws": 1_000, "rng": 1}, rounds=2)
    assert found.draws == 1_000


@pytest.mark.parametrize("T", [hr.copeland, hr.bradley_terry, hr.borda], ids=lambda T: T.__name__)
def test_200_draws_of_200_000_battles_of_100_items(benchmark: Any, T: Any) -> None:
    found = benchmark.pedantic(hr.bootstrap, args=(battles(200_000, 100), T), kwargs={"draws": 200, "rng": 1}, rounds=2)
    assert found.draws == 200


@pytest.mark.parametrize("n", [100, 500])
def test_strengths(benchmark: Any, n: int) -> None:
    shares = counted(bradley_terry(n), 1000) * (1 - np.eye(n))
    fitted, _ = benchmark.pedantic(strengths, args=(shares, RIDGE), rounds=3, warmup_rounds=1)
    assert abs(fitted.sum()) < 1e-6


def main() -> None:
    votes = ballots(5_000, 10)
    for T in RULES:
        hr.bootstrap(votes, T, draws=10, rng=1)  # loads what is compiled
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = perf_counter()
        hr.bootstrap(votes, T, draws=10_000, rng=1)
        seconds = perf_counter() - started
        memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
        started = perf_counter()
        plain_loop(votes, T, 100, 1)
        loop = (perf_counter() - started) * 100
        print(f"{T.__name__}: {seconds:.2f} s, {memory} MB more at the peak; a loop {loop:.0f} s", flush=True)


if __name__ == "__main__":
    main()
