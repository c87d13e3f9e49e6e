"""Hot loops: the same numbers compiled or not, and compiled only where it pays."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from holdrank.arrays import kernels


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("kind", ["ones", "counts", "shares"])
def test_compiled_and_plain_counting_agree_to_the_last_bit(strict, observed, kind, monkeypatch):
    pytest.importorskip("numba")
    rng = np.random.default_rng(3)
    m, n = 20_000, 7
    ranks = rng.permuted(np.tile(np.arange(1, n + 1), (m, 1)), axis=1).astype(np.int16)
    if not strict:
        ranks[rng.random((m, n)) < 0.3] = 0
        ranks[rng.random((m, n)) < 0.3] = 2
    weights = {"ones": np.ones(m), "counts": rng.integers(0, 9, m).astype(float), "shares": rng.random(m)}[kind]

    def count(engine, size):
        monkeypatch.setattr(kernels, "fastest", lambda *_, **__: engine)
        return kernels.count_wins(ranks[:size], weights[:size], strict=strict, observed=observed)

    assert np.array_equal(count(kernels._compiled(kernels.add_ballots), m), count(kernels._add_ballots, m))
    assert np.array_equal(count(kernels.add_ballots, 300), count(kernels._add_ballots, 300))


def test_numba_is_used_only_where_it_pays(monkeypatch):
    numba = pytest.importorskip("numba")

    def loop():
        return "loop"

    def plain():
        return "plain"

    monkeypatch.setattr(kernels, "_compiled", lambda function: function)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.setattr(kernels, "_spent", 0.0)
    assert kernels.fastest(loop, plain, seconds=0.4) is plain
    assert kernels.fastest(loop, plain, seconds=5) is loop
    monkeypatch.setattr(kernels, "_spent", 0.0)
    many = [kernels.fastest(loop, plain, seconds=0.3) for _ in range(5)]  # together more than loading it
    assert many == [plain, plain, plain, loop, loop]
    monkeypatch.setitem(sys.modules, "numba", numba)
    assert kernels.fastest(loop, plain, seconds=0.5) is loop
    assert kernels.fastest(loop, plain, seconds=1e-6) is plain
    monkeypatch.setattr(kernels, "has_numba", lambda: False)
    assert kernels.fastest(loop, plain, seconds=5) is plain


def test_numba_without_a_place_for_its_cache_still_works(monkeypatch):
    numba = pytest.importorskip("numba")
    real = numba.njit

    def no_cache(*args, **kwargs):
        if kwargs.pop("cache", False):

            def refuse(_):
                raise RuntimeError("cannot cache function: no locator available")

            return refuse
        return real(*args, **kwargs)

    monkeypatch.setattr(numba, "njit", no_cache)
    kernels._compiled.cache_clear()
    assert kernels._compiled(kernels.inversions)(np.array([2, 1, 0])) == 3
    kernels._compiled.cache_clear()


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
