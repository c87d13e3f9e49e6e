"""Tiers of Bradley-Terry on battles: merged by the model, bounds never above the truth, attacks that work."""

import math
import os

import pytest

import holdrank as hr
from holdrank.attacks.bradley_terry.battles import Battles
from holdrank.attacks.bradley_terry.movement import Movement
from holdrank.attacks.bradley_terry.races import Race
from holdrank.status import Clock

import oracles
from battles import profiles

PROFILES = int(os.environ.get("HOLDRANK_PROFILES", "6"))  # a long run takes 5000
CHANGES = ("replace", "drop", "add")
MOST = {"replace": 2, "drop": 3, "add": 3}


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_no_fewer_battles_bring_a_lead_down_to_a_given_one(change):
    told = 0
    for rng, won, tied, votes in profiles(PROFILES, 11):
        movement = Movement(Battles.of(votes), hr.Change(change))
        sizes = range(1, MOST[change] - (len(won) == 5 and change == "replace") + 1)
        after = [oracles.strengths_of_many(oracles.battles_after(won, tied, change, k), 1e-6) for k in sizes]
        for _ in range(3):
            a, b = rng.choice(len(won), 2, replace=False).tolist()
            lead = float(movement.gaps[a, b]) - rng.choice([0.02, 0.1, 0.4, 1.0])
            fails = Race(movement, b, a, lead=lead).fails(len(sizes), Clock(2.0), 12)
            least = next((k for k, s in zip(sizes, after, strict=True) if (s[:, a] - s[:, b] <= lead).any()), math.inf)
            assert fails < least, (won.tolist(), tied.tolist(), change, a, b, lead)
            told += fails > 0
    assert told
