"""A few turns of the soak of tiers: families of votes that no other test has, against brute force in whole votes."""

import importlib.util
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from holdrank.attacks.tiers import base_ranking

pytestmark = pytest.mark.slow

SOAK = Path(__file__).parents[2] / "benchmarks" / "soak_tiers.py"


@pytest.fixture(scope="module")
def soak():
    """Return the soak as a module."""
    spec = importlib.util.spec_from_file_location("soak_tiers", SOAK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_brute_force_beats_no_bound(soak, monkeypatch):
    monkeypatch.setattr(soak, "MOST", {3: 2, 4: 1, 5: 1})
    counted = Counter()
    for number, family in enumerate(("alike", "cycle", "even", "on the margin", "shares")):
        monkeypatch.setattr(soak, "FAMILIES", (family,))
        soak.compare(np.random.default_rng([21, number]), counted)
    assert counted["DISAGREE"] == 0
    assert counted["put to the test"] > 8
    assert counted["exact"] > 30


def test_brute_force_beats_no_bound_from_questions_about_single_items(soak, monkeypatch):
    asked = []
    ask = base_ranking.Rounds._ask_about_one

    def noted(self, *given):
        asked.append(ask(self, *given))
        return asked[-1]

    monkeypatch.setattr(base_ranking, "_FOR_ENTRIES", 0)
    monkeypatch.setattr(base_ranking.Rounds, "_ask_about_one", noted)
    monkeypatch.setattr(soak, "MOST", {3: 2, 4: 1, 5: 1})
    counted = Counter()
    for family, number in (("strict", 0), ("bottom", 0), ("observed", 3), ("battles", 5), ("cycle", 5)):
        monkeypatch.setattr(soak, "FAMILIES", (family,))
        soak.compare(np.random.default_rng([22, number]), counted)
    assert counted["DISAGREE"] == 0
    assert counted["put to the test"] > 8
    assert sum(asked) > 20


def test_the_soak_sees_a_bound_that_is_too_high(soak, monkeypatch):
    honest = soak.hr.attack

    def boastful(*given, **how):
        found = honest(*given, **how)
        object.__setattr__(found, "votes_needed", found.votes_needed + 1)
        return found

    monkeypatch.setattr(soak, "MOST", {3: 2, 4: 1, 5: 1})
    monkeypatch.setattr(soak, "FAMILIES", ("strict",))
    monkeypatch.setattr(soak.hr, "attack", boastful, raising=False)
    counted = Counter()
    soak.compare(np.random.default_rng([21, 0]), counted)
    assert counted["DISAGREE"] > 0
