"""How far battles move items apart: the quick sum over few pairs, against the sum over all pairs that it stands for."""

from __future__ import annotations

import math

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.bradley_terry.battles import Battles
from holdrank.attacks.bradley_terry.movement import Movement

from battles import arena, votes_of


def most_pulled(change, k, doubt, won, errors, weights):
    """What k battles and the errors of chords pull at most: those that come, those that go, the errors."""
    n = len(weights)
    drops = {(p, q): max(weights[p] - weights[q], 0.0) for p in range(n) for q in range(n)}
    pulled = -sum(errors[p][q] * drop for (p, q), drop in drops.items())
    if change is not hr.Change.DROP:
        pulled += k * max(doubt[p][q] * drop for (p, q), drop in drops.items())
    if change is not hr.Change.ADD:
        left = k
        for worth, supply in sorted(((doubt[q][p] * drop, won[q][p]) for (p, q), drop in drops.items()), reverse=True):
            pulled += worth * min(left, supply)
            left -= min(left, supply)
    return pulled


@pytest.mark.parametrize("change", tuple(hr.Change))
@pytest.mark.parametrize("uneven", [0.0, 1.5])
def test_few_pairs_tell_at_least_what_all_pairs_do_and_little_more(change, uneven):
    rng = np.random.default_rng([7, int(uneven), tuple(hr.Change).index(change)])
    ratios = []
    for battles in (40, 400, 20_000):
        votes = votes_of(won := arena(rng, 9, battles, uneven), np.zeros_like(won))
        movement = Movement(Battles.of(votes), change)
        k = float(rng.integers(1, max(3, battles // 200)))
        rise = np.full((movement.n, movement.n), float(rng.choice([0.01, 0.3, 2.0])))
        np.fill_diagonal(rise, 0.0)
        chords = movement.chords(rise)
        inverse = movement.inverted(chords.slopes)
        errors = movement.fought * chords.errors
        reference = int(rng.integers(movement.n))
        up, down = movement.near(k, chords, reference, inverse)
        for item in range(movement.n):
            weights = inverse[:, item] - inverse[:, reference]
            other = float(movement.other(weights[None], k, rise)[0])
            for found, signed in ((up, weights), (down, -weights)):
                exact = other + most_pulled(change, k, chords.doubt, movement.battles.wins, errors, signed)
                if item != reference:
                    assert found[item] >= exact * (1 - 1e-12)
                    ratios.append(found[item] / exact)
    assert len(ratios) > 40
    assert math.isfinite(max(ratios))
    assert np.median(ratios) < 1.1
