"""Races where items with few battles may go anywhere: bound and proof, alone, against brute force and attacks."""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.bradley_terry.battles import Battles
from holdrank.attacks.bradley_terry.movement import Movement
from holdrank.attacks.bradley_terry.wanderers import LIMITS, spare
from holdrank.proofs import wandering
from holdrank.proofs.movements import Movements
from holdrank.proofs.strengths import Enclosed

import oracles
from battles import votes_of

PROFILES = int(os.environ.get("HOLDRANK_PROFILES", "12"))  # a long run takes 500
CHANGES = tuple(hr.Change)
MOST = {hr.Change.REPLACE: 2, hr.Change.DROP: 3, hr.Change.ADD: 3}


def a_strong_pair_and_others(rng):
    """Two to three items that met often, and others with few battles, some with each other only."""
    n, firm = int(rng.integers(3, 5)), int(rng.integers(2, 4))
    won = np.zeros((n, n), dtype=int)
    often = np.full((n, n), 0.6)
    often[:firm, :firm] = rng.choice([8, 25])
    often[firm:, firm:] *= rng.choice([0.0, 3.0])
    strength = rng.normal(0, rng.choice([0.05, 0.3, 1.0]), n)
    for i in range(n):
        for j in range(i):
            won[i, j] = rng.binomial(met := rng.poisson(often[i, j]), 1 / (1 + np.exp(strength[j] - strength[i])))
            won[j, i] = met - won[i, j]
    return won


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_neither_bound_nor_proof_excludes_what_brute_force_finds(change):
    rng = np.random.default_rng([3, CHANGES.index(change)])
    wandered = proved = reached = 0
    for _ in range(2 * PROFILES):
        won = a_strong_pair_and_others(rng)
        tied = np.zeros_like(won)
        votes = votes_of(won, tied)
        if votes.n < len(won) or not won.any():
            continue
        consensus = hr.bradley_terry(votes)
        before, order = tuple(int(r) for r in consensus.ranking.ranks), consensus.ranking.order
        battles = Battles.of(votes)
        engine, room = Movement(battles, change), Movements(Enclosed.of_votes(votes), change)
        goals = {("above", b, a): None for a, b in pairwise(order)}
        truth = oracles.fewest_battles(won, tied, change, before, goals, MOST[change])
        for (_, b, a), (needed, _) in truth.items():
            for k in range(1, MOST[change] + 1):
                possible = needed is not None and needed <= k
                reached += possible
                for limit in LIMITS:
                    excluded = spare(engine, k, b, a, float(engine.gaps[a, b]), [limit]) > 0
                    assert not (excluded and possible), (won.tolist(), b, a, k, limit)
                    found = engine.core(k, (a, b), limit)
                    wandered += excluded and found is not None and not found.items.all()
                shown = wandering.excluded(room, b, a, float(k))
                assert not (shown and possible), (won.tolist(), b, a, k)
                proved += shown
    assert wandered > 3
    assert proved > 10
    assert reached > 10  # so that a bound that is too high would be caught


def uneven_arena(n, battles, seed):
    """Wins between items of which a few fight most battles."""
    rng = np.random.default_rng(seed)
    often = rng.permutation(1 / np.arange(1, n + 1) ** 1.5)
    weight = np.triu(np.outer(often, often), 1)
    met = rng.multinomial(battles, (weight / weight.sum()).ravel()).reshape(n, n)
    strength = np.sort(rng.normal(0, 0.6, n))[::-1]
    won = rng.binomial(met, 1 / (1 + np.exp(strength - strength[:, None])))
    return won + np.tril((met - won).T)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.slow
@pytest.mark.traced
def test_few_battles_of_others_do_not_spoil_a_race(change):
    counts = hr.PairCounts.from_wins(uneven_arena(40, 150_000, 2))
    consensus = hr.bradley_terry(counts)
    often = counts.wins().sum(axis=0) + counts.wins().sum(axis=1)
    order = consensus.ranking.order
    strength = dict(zip(counts.items, consensus.ratings().strengths, strict=True))
    gaps = {(a, b): strength[counts.items[a]] - strength[counts.items[b]] for a, b in pairwise(order)}
    a, b = max(gaps, key=lambda pair: min(gaps[pair], 0.15) * min(often[pair[0]], often[pair[1]]))
    found = hr.attack(counts, hr.bradley_terry, hr.Above(counts.items[b], counts.items[a]), change=change)
    assert found.votes_needed > 20
    assert found.votes_sufficient <= 1.3 * found.votes_needed + 1
    votes = counts.as_votes()
    room = Movements(Enclosed.of_votes(votes), change)
    assert wandering.excluded(room, b, a, 0.97 * found.votes_needed)
    assert not wandering.excluded(room, b, a, found.votes_sufficient)


def test_a_race_of_an_item_that_wanders_is_not_bounded():
    won = np.array([[0, 40, 1], [30, 0, 0], [0, 1, 0]])
    movement = Movement(Battles.of(votes_of(won, np.zeros_like(won))), hr.Change.ADD)
    assert movement.core(3, (0, 2), 0.3) is None
    assert spare(movement, 3, 2, 0, 0.1, [0.3]) == -np.inf
    inside = movement.core(3, (0, 1), 0.5)
    assert inside is not None
    assert inside.items.tolist() == [True, True, False]
