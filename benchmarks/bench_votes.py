"""Pairwise counting in memory, one thread.

Counts are remembered by `Votes`, so every round starts from a copy that remembers nothing.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from generated import complete_ranks, incomplete_tied_ranks

from holdrank import Votes
from holdrank.arrays import kernels

SIZES = [(1_000_000, 20), (200_000, 100)]


def name_of(size: tuple[int, int]) -> str:
    return f"{size[0]:,}x{size[1]}"


def ballots(m: int, n: int) -> Votes:
    """Complete ballots, all distinct at these sizes."""
    return Votes.from_ranks(complete_ranks(m, n))


@pytest.fixture(scope="module", params=SIZES, ids=name_of)
def complete(request: pytest.FixtureRequest) -> Votes:
    return ballots(*request.param)


@pytest.fixture(scope="module")
def weighted() -> Votes:
    weights = np.random.default_rng(1).integers(1, 10, 1_000_000)
    return Votes.from_ranks(complete_ranks(1_000_000, 20), weights=weights)


def time_pairwise(benchmark: Any, votes: Votes, rounds: int = 5) -> None:
    def fresh() -> tuple[tuple[Votes], dict[str, Any]]:
        return (votes.with_reading(votes.reading),), {}

    P = benchmark.pedantic(Votes.pairwise, setup=fresh, rounds=rounds, warmup_rounds=1)
    np.testing.assert_allclose(P + P.T, 1)


def test_pairwise_of_complete_ballots(benchmark: Any, complete: Votes) -> None:
    time_pairwise(benchmark, complete)


def test_pairwise_of_weighted_ballots(benchmark: Any, weighted: Votes) -> None:
    time_pairwise(benchmark, weighted)


@pytest.mark.parametrize("unlisted", ["bottom", "observed"])
def test_pairwise_of_tied_incomplete_ballots(benchmark: Any, unlisted: Any) -> None:
    time_pairwise(benchmark, Votes.from_ranks(incomplete_tied_ranks(1_000_000, 20), unlisted=unlisted))


@cache
def ten_million_columns() -> Any:
    """Ranks of 10,000,000 ballots of 10 items, column by column, as `Votes` keeps them."""
    return np.asfortranarray(complete_ranks(10_000_000, 10))


def test_counting_ten_million_ballots_of_ten_items(benchmark: Any) -> None:
    # Votes would merge equal ballots (there are only 10! = 3,628,800); the kernel alone counts all ten million.
    ranks, ones = ten_million_columns(), np.ones(10_000_000)
    count = benchmark.pedantic(
        kernels.count_wins, args=(ranks, ones), kwargs={"strict": True, "observed": False}, rounds=3, warmup_rounds=1
    )
    assert count.sum() == 10_000_000 * 45


@pytest.mark.parametrize(("m", "n"), [(1_000_000, 20), (4_000_000, 10)], ids=lambda size: f"{size:,}")
def test_making_votes_from_ranks(benchmark: Any, m: int, n: int) -> None:
    votes = benchmark.pedantic(Votes.from_ranks, args=(complete_ranks(m, n),), rounds=2)
    assert votes.total == m


@pytest.mark.parametrize("held", ["marks", "matrix"])
def test_pairwise_of_short_lists_of_many_items(benchmark: Any, held: str) -> None:
    rng = np.random.default_rng(1)
    lists = [rng.choice(1000, 5, replace=False).tolist() for _ in range(20_000)]
    votes = Votes.from_orders(lists, items=range(1000))
    time_pairwise(benchmark, votes if held == "marks" else Votes.from_ranks(votes.ranks), rounds=3)
