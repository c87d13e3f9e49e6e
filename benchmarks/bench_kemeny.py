"""Medians: Kemeny on votes without and with a consensus and on tournaments, many small ones at once, footrule, Borda.

One round goes before the counted ones. `Votes` is stripped of remembered counts each time.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from generated import complete_ranks, mirrored

from holdrank import Mallows, Status, Uniform, Votes, borda, footrule, kemeny, kemeny_batch, sample_votes

LIMIT = 60.0


@cache
def uniform(n: int, voters: int, seed: int) -> Votes:
    return sample_votes(Uniform(n), voters, rng=np.random.default_rng(seed))


@cache
def mallows(n: int, voters: int) -> Votes:
    rng = np.random.default_rng(1)
    return sample_votes(Mallows(rng.permutation(n).tolist(), 0.8), voters, rng=rng)


@cache
def paley(q: int) -> Votes:
    """A tournament without any order in it, as one comparison of two for each pair."""
    squares = {x * x % q for x in range(1, q)}
    ranks = np.zeros((q * (q - 1) // 2, q), dtype=np.int16)
    for row, (i, j) in enumerate(zip(*np.triu_indices(q, 1), strict=True)):
        ahead = (int(j) - int(i)) % q in squares
        ranks[row, i], ranks[row, j] = (1, 2) if ahead else (2, 1)
    return Votes.from_ranks(ranks, unlisted="observed")


def fresh(votes: Votes) -> Votes:
    return votes.with_reading(votes.reading)


def solve(votes: Votes) -> Any:
    return kemeny(fresh(votes), time_limit=LIMIT)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("n", [10, 20, 30, 40, 50, 60])
def test_kemeny_of_uniform_votes(benchmark: Any, n: int, seed: int) -> None:
    found = benchmark.pedantic(solve, args=(uniform(n, 100, seed),), rounds=3, warmup_rounds=1)
    assert found.loss >= found.bound


@pytest.mark.parametrize("n", [100, 200])
def test_kemeny_of_votes_with_a_consensus(benchmark: Any, n: int) -> None:
    found = benchmark.pedantic(solve, args=(mallows(n, 50),), rounds=5, warmup_rounds=1)
    assert found.status is Status.PROVED


@pytest.mark.parametrize("q", [19, 23])
def test_kemeny_of_paley_tournaments(benchmark: Any, q: int) -> None:
    found = benchmark.pedantic(solve, args=(paley(q),), rounds=3, warmup_rounds=1)
    assert found.status is Status.PROVED


@pytest.mark.parametrize(("n", "many"), [(6, 10_000), (8, 2_000)])
def test_kemeny_of_many_matrices(benchmark: Any, n: int, many: int) -> None:
    rng = np.random.default_rng(1)
    P = np.stack([mirrored(rng.random((n, n))) for _ in range(many)])
    ranks = benchmark.pedantic(kemeny_batch, args=(P,), rounds=3, warmup_rounds=1).ranks
    assert ranks.shape == (many, n)


@pytest.mark.parametrize("n", [500, 2_000])
def test_footrule(benchmark: Any, n: int) -> None:
    votes = uniform(n, 100, 1)
    found = benchmark.pedantic(lambda: footrule(fresh(votes)), rounds=3, warmup_rounds=1)
    assert found.status is Status.PROVED


def test_borda_of_1_000_000_ballots(benchmark: Any) -> None:
    votes = Votes.from_ranks(complete_ranks(1_000_000, 20))
    found = benchmark.pedantic(lambda: borda(fresh(votes)), rounds=3, warmup_rounds=1)
    assert found.status is Status.PROVED
