"""Kemeny's ranking of more than 16 items: proved by weights on cycles, and never what is not so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import holdrank as hr
from holdrank.proofs import cycles
from holdrank.proofs.exact import ExactVotes

import oracles


def verdict(v, consensus):
    (check,) = hr.verify(v, hr.kemeny, consensus).checks
    return check


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_proved_that_every_order_denies(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    ranks = rng.integers(0, n + 1, (int(rng.integers(2, 8)), n))
    ranks[0] = rng.permutation(n) + 1
    v = hr.Votes.from_ranks(ranks, unlisted=("bottom", "observed")[seed % 2])
    _, optima = oracles.kemeny(v.wins().tolist())
    orders = [optima[0], optima[-1], tuple(rng.permutation(n).tolist()), tuple(range(n))]
    for order in orders:
        found = cycles.prove(ExactVotes.of(v), order)
        assert found is not None
        assert not found.cheapest or order in optima
        assert not found.alone or optima == [order]
        if order in optima:
            assert not found.several or len(optima) > 1
    assert cycles.prove(ExactVotes.of(v), optima[0]).cheapest  # so few items have no cycles that share margins badly


@pytest.mark.slow
@pytest.mark.traced
def test_a_ranking_of_thirty_items_is_proved_and_forgeries_are_not():
    v = hr.sample_votes(hr.Mallows(list(range(30)), 0.9), 101, rng=1)
    c = hr.kemeny(v)
    assert c.unique
    assert verdict(v, c).finding == "proved"
    swapped = list(c.ranking.order)
    swapped[4:6] = swapped[4:6][::-1]
    other = hr.Ranking.from_order(swapped)
    loss = v.loss(other)
    assert verdict(v, replace(c, unique=False)).finding == "refuted"
    assert verdict(v, replace(c, loss=c.loss + 0.04)).finding == "refuted"
    assert verdict(v, replace(c, bound=c.bound + 0.04)).finding == "refuted"
    assert verdict(v, replace(c, bound=c.bound - 0.04)).finding == "refuted"
    assert verdict(v, replace(c, ranking=other, loss=loss, bound=loss)).finding == "open"
    unproved = replace(c, status=hr.Status.TOO_LARGE, bound=c.bound - 0.04, unique=None)
    assert verdict(v, unproved).finding == "open"
    tied = hr.Ranking([min(rank, 29) for rank in c.ranking.ranks.tolist()])
    assert verdict(v, replace(c, ranking=tied)).finding == "refuted"


def test_several_optima_of_many_items():
    v = hr.sample_votes(hr.Mallows(list(range(25)), 0.8), 10, rng=2)
    c = hr.kemeny(v)
    assert c.unique is False
    assert verdict(v, c).finding == "proved"
    assert verdict(v, replace(c, unique=True)).finding == "refuted"


def test_what_is_too_much_to_count_stays_open(monkeypatch):
    v = hr.sample_votes(hr.Mallows(list(range(20)), 0.5), 11, rng=1)
    assert verdict(v, hr.kemeny(v)).finding == "proved"
    shares = hr.Votes.from_ranks(v.ranks, v.weights / 7, v.items)
    assert verdict(shares, hr.kemeny(shares)).finding == "open"
    large = hr.Votes.from_ranks(v.ranks, v.weights * 2.0**42, v.items)
    assert cycles.prove(ExactVotes.of(large), tuple(range(20))) is None
    monkeypatch.setattr(cycles, "MOST_ITEMS", 19)
    assert verdict(v, hr.kemeny(v)).finding == "open"
