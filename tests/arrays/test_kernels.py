"""Counting of pairs: exact whatever the weights, and in little memory."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from holdrank.arrays import kernels


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("kind", ["ones", "counts", "shares"])
def test_pairs_are_counted_as_defined(strict, observed, kind, monkeypatch):
    monkeypatch.setattr(kernels, "_BLOCK", 100)  # so that there are many blocks
    rng = np.random.default_rng(3)
    m, n = 333, 6
    ranks = rng.permuted(np.tile(np.arange(1, n + 1), (m, 1)), axis=1).astype(np.int16)
    if not strict:
        ranks[rng.random((m, n)) < 0.3] = 0
        ranks[rng.random((m, n)) < 0.3] = 2
    weights = {"ones": np.ones(m), "counts": rng.integers(0, 9, m).astype(float), "shares": rng.random(m)}[kind]
    expected = [[Fraction(0)] * n for _ in range(n)]
    for ballot, weight in zip(ranks.tolist(), weights.tolist(), strict=True):
        for i in range(n):
            for j in range(n):
                a, b = (rank or (0 if observed else n + 1) for rank in (ballot[i], ballot[j]))
                if i != j and a and b:
                    expected[i][j] += Fraction(weight) * (2 if a < b else 1 if a == b else 0) / 2
    counted = kernels.count_wins(ranks, weights, strict=strict, observed=observed)
    if kind == "shares":
        assert np.allclose(counted, np.array(expected, dtype=float), rtol=1e-13, atol=1e-13)
    else:
        assert counted.tolist() == expected


@pytest.mark.parametrize("weight", [1, 2**40])
@pytest.mark.parametrize("strict", [True, False])
def test_more_ballots_than_sixteen_bits_count_are_counted(weight, strict):
    m = 70_000
    ranks = np.tile(np.array([2, 1, 3], dtype=np.int16), (m, 1))
    wins = kernels.count_wins(ranks, np.full(m, float(weight)), strict=strict, observed=False)
    assert (wins == m * weight * np.array([[0, 0, 1], [1, 0, 1], [0, 0, 0]])).all()


def test_a_million_ballots_are_counted_within_200_megabytes():
    import tracemalloc

    n, m = 20, 200_000
    ranks = np.tile(np.arange(1, n + 1, dtype=np.int16), (m, 1))
    ranks[: m // 2] = ranks[: m // 2, ::-1]
    weights = np.ones(m)
    tracemalloc.start()
    wins = kernels.count_wins(ranks, weights, strict=True, observed=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert wins[0, 1] == m / 2
    assert peak < 40e6  # a fifth of the ballots, a fifth of the memory
