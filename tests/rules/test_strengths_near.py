"""Strengths of many matrices near one are those that each has on its own."""

from __future__ import annotations

import numpy as np
import pytest

from holdrank.rules.strengths import RIDGE, strengths, strengths_near


@pytest.mark.parametrize("battles", [6, 30, 2000])
def test_strengths_near_others_are_those_of_each_alone(battles):
    rng = np.random.default_rng(battles)
    for n in (2, 3, 7):
        wins = rng.multinomial(battles, rng.dirichlet(np.ones(n * n))).reshape(n, n) * (1 - np.eye(n))
        total = max(wins.sum(), 1.0)
        # Few battles leave items unbeaten, or unconnected, in many of the draws.
        drawn = rng.multinomial(int(total), (wins / total).ravel(), size=20).reshape(20, n, n) / total
        near, _ = strengths(wins / total, RIDGE)
        found = strengths_near(drawn, RIDGE, near, (wins + wins.T) / total)
        alone = np.array([strengths(one, RIDGE)[0] for one in drawn])
        assert found == pytest.approx(alone, abs=1e-9 * max(1.0, float(np.ptp(alone))))
