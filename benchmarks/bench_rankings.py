"""Distances between rankings: one pair of long ones, many pairs of short ones; one thread, numpy only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from generated import complete_ranks

from holdrank import footrule_distance, hausdorff_half, hausdorff_ns, kendall, spearman_rho

DISTANCES = [kendall, hausdorff_ns, hausdorff_half, spearman_rho, footrule_distance]
LONG = 100_000
MANY = 10_000


def strict_pair() -> tuple[Any, Any]:
    rng = np.random.default_rng(2)
    return rng.permutation(LONG) + 1, rng.permutation(LONG) + 1


def tied_pair() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    return rng.integers(1, 1000, LONG), rng.integers(1, 1000, LONG)


@pytest.mark.parametrize("pair", [strict_pair, tied_pair], ids=["strict", "tied"])
@pytest.mark.parametrize("distance", DISTANCES, ids=lambda d: d.__name__)
def test_one_pair_of_100_000_items(benchmark: Any, distance: Any, pair: Any) -> None:
    a, b = pair()
    assert 0 < benchmark.pedantic(distance, args=(a, b), rounds=5, warmup_rounds=1) < 1


@pytest.mark.parametrize("distance", DISTANCES, ids=lambda d: d.__name__)
def test_10_000_pairs_of_10_items(benchmark: Any, distance: Any) -> None:
    a, b = complete_ranks(MANY, 10, seed=4), complete_ranks(MANY, 10, seed=5)
    shares = benchmark.pedantic(distance, args=(a, b), rounds=10, warmup_rounds=1)
    assert shares.shape == (MANY,)
