"""Merging neighbours, on matrices that differ in how often deviations are equal, and so in how ties are settled."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from generated import bradley_terry, counted, random_pairs

from holdrank import Ranking, downward_merge, merge_path, naive_merge

KINDS = {
    "Bradley-Terry": lambda n: bradley_terry(n),
    "1000 voters": lambda n: counted(bradley_terry(n), 1000),
    "20 voters": lambda n: counted(bradley_terry(n), 20),
    "random": random_pairs,
}
MERGES = [naive_merge, downward_merge]


@cache
def matrix_and_ranking(kind: str, n: int) -> tuple[Any, Ranking]:
    P = KINDS[kind](n)
    return P, Ranking.from_order(np.argsort(-P.sum(axis=1), kind="stable"))


@pytest.mark.parametrize("theta", [0.05, 0.45])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("merge", MERGES, ids=lambda merge: merge.__name__)
def test_merging_2_000_items(benchmark: Any, merge: Any, kind: str, theta: float) -> None:
    P, ranking = matrix_and_ranking(kind, 2_000)
    merged = benchmark.pedantic(merge, args=(P, ranking, theta), rounds=3, warmup_rounds=1)
    assert ranking <= merged


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", ["naive", "downward"])
def test_all_thresholds_for_100_items(benchmark: Any, rule: Any, kind: str) -> None:
    P, ranking = matrix_and_ranking(kind, 100)
    path = benchmark.pedantic(merge_path, args=(P, ranking, rule), rounds=3, warmup_rounds=1)
    assert not path[-1][1].is_strict
