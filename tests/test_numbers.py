"""Numbers of callers: numpy's count as Python's, and True and False as neither."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, fields
from fractions import Fraction

import numpy as np
import pytest

import holdrank as hr
from holdrank import plots
from holdrank.analysis.analyse import analyse
from holdrank.analysis.compare import compare
from holdrank.analysis.many import breakdowns
from holdrank.attacks.estimator.engine import smoothed
from holdrank.errors import real_number, whole_number
from holdrank.paper import fig5
from holdrank.parallel import executors as clusters

VOTES = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"], ["c", "b", "a"]], weights=[60, 40, 9])
FLOATS = (np.float16, np.float32, np.float64, np.longdouble)


def test_whole_numbers_of_numpy_become_python_s():
    for kind in (int, np.int8, np.uint16, np.int64, np.uint64):
        assert whole_number(kind(7)) == 7
        assert type(whole_number(kind(7))) is int
        assert type(real_number(kind(7))) is int
    for other in (True, np.True_, 2.0, np.float64(2), "2", None, [2], np.array([2]), 2j):
        assert whole_number(other) is None


def test_real_numbers_of_numpy_become_python_s():
    for kind in (float, *FLOATS):
        for value in (0.0, 1.0, 0.5, -0.25, 1e4, math.inf, -math.inf):
            assert real_number(kind(value)) == value
            assert type(real_number(kind(value))) is float
        assert math.isnan(real_number(kind("nan")))
    assert real_number(Fraction(1, 3)) == 1 / 3
    for other in (True, np.False_, "0.5", None, 0.5j, np.complex128(0.5), np.array([0.5])):
        assert real_number(other) is None


def test_shares_of_few_digits_are_the_shares_they_stand_for():
    for pairs in range(1, 46):
        for share in range(pairs + 1):
            assert real_number(np.float32(share / pairs)) == share / pairs
    for percent in range(101):
        for kind in FLOATS:
            assert real_number(kind(f"{percent / 100}")) == percent / 100
    assert real_number(np.float32(0.1234567)) == 0.1234567
    assert real_number(np.float32(3.4e38)) == pytest.approx(3.4e38)


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint32])
def test_places_of_goals_are_kept_as_python_s(kind):
    for goal, same in (
        (hr.TopSet(kind(2)), hr.TopSet(2)),
        (hr.Enters("c", kind(2)), hr.Enters("c", 2)),
        (hr.Leaves("a", kind(2)), hr.Leaves("a", 2)),
        (hr.Distance(kind(1)), hr.Distance(1)),
    ):
        assert repr(goal) == repr(same)
        assert hr.attack(VOTES, hr.kemeny, goal).lower == hr.attack(VOTES, hr.kemeny, same).lower


@pytest.mark.parametrize("kind", FLOATS)
def test_distances_in_numbers_of_numpy_ask_for_the_same_pairs(kind):
    plain = hr.breakdown(VOTES)
    found = hr.breakdown(VOTES, deltas=np.array([1 / 3, 2 / 3, 1], dtype=kind), time_limit=kind(30))
    assert found.delta.tolist() == plain.delta.tolist()
    assert found.votes_needed.tolist() == plain.votes_needed.tolist()
    assert repr(hr.Distance(kind(0.25))) == "Distance(delta=0.25, distance='hausdorff_ns')"
    assert hr.Distance(kind(1 / 3)).aim(hr.Ranking([1, 2, 3]), "abc").flips == 1


def test_a_spec_in_numbers_of_numpy_is_written_as_json():
    spec = hr.Spec(theta=np.float32(0.05), k=np.int64(1), budget=np.float64(0.1), draws=np.int32(20),
                   seed=np.uint8(3), time_limit=np.int16(20))  # fmt: skip
    plain = hr.Spec(theta=0.05, k=1, budget=0.1, draws=20, seed=3, time_limit=20)
    assert json.dumps(asdict(spec)) == json.dumps(asdict(plain))
    found = analyse(VOTES, spec)
    assert json.loads(json.dumps(found.record))["spec"]["k"] == 1
    assert hr.Spec(time_limit=np.float32("inf")).time_limit is None


@pytest.mark.slow
@pytest.mark.traced
def test_every_other_door_takes_them(tmp_path):
    third = np.float32(1 / 3)
    assert repr(hr.Robust(hr.kemeny, np.float32(0.35)).theta) == "0.35"
    assert hr.reach(VOTES, hr.kemeny, np.float32(0.1), time_limit=np.float32(9)).budget == 10 / 109
    assert type(hr.kemeny(VOTES, time_limit=np.float32(5)).seconds) is float
    drawn = hr.bootstrap(VOTES, draws=np.int64(30), rng=np.int64(2), level=np.float32(0.9), time_limit=np.int64(60))
    assert [type(value) for value in (drawn.draws, drawn.seed, drawn.level)] == [int, int, float]
    assert drawn.level == 0.9
    assert hr.tradeoff(VOTES, delta=third, tolerance=np.float32(0.1), time_limit=np.float32(60)).delta == 1 / 3
    model = hr.Mixture(
        [(np.float32(0.9), hr.Mallows([0, 1, 2], np.float32(0.3))), (np.float32(0.1), hr.Uniform(np.int8(3)))]
    )
    assert [share for share, _ in model.parts] == pytest.approx([0.9, 0.1], abs=1e-15)
    assert hr.sample_votes(model, np.int64(10), rng=np.int64(1)) == hr.sample_votes(model, 10, rng=1)
    assert hr.BucketMass(hr.Ranking([1, 1]), np.float32(0.1)).gap == 0.1
    told = compare(VOTES, VOTES, hr.kemeny, np.int64(20), np.int64(1), np.float32(5))
    assert json.loads(json.dumps(told))["seed"] == 1
    with clusters.local(np.int64(1)) as executor:
        assert executor.jobs == 1
    assert plots.attack_data(hr.attack(VOTES, hr.kemeny, hr.NewWinner()), most=np.int64(3))
    guess = smoothed(VOTES, deltas=np.array([1 / 3], dtype=np.float32), steps=np.int64(50), samples=np.int64(4),
                     repeats=np.int8(1), gamma=np.float32(0.01), rng=np.int64(1))  # fmt: skip
    assert (guess.delta.tolist(), repr(guess.steps)) == ([1 / 3], "50")
    hr.write_votes(VOTES, tmp_path / "votes.soc")
    how = {"deltas": [third], "time_limit": np.int64(60), "checkpoint": tmp_path / "kept.jsonl"}
    (found,) = breakdowns([tmp_path / "votes.soc"], hr.Robust(hr.kemeny, np.float64(0.05)), **how)
    assert json.loads(json.dumps(found.record))["breakdown"]["delta"] == [1 / 3]
    assert json.loads(json.dumps(fig5(rng=np.int64(1), spread=np.float32(1), count=np.int64(1))))["seed"] == 1


@pytest.mark.parametrize("flag", [True, False, np.True_])
def test_true_and_false_are_no_numbers(flag):
    for call in (
        lambda: hr.attack(VOTES, hr.kemeny, hr.TopSet(flag)),
        lambda: hr.Distance(flag),
        lambda: hr.breakdown(VOTES, deltas=[flag]),
        lambda: hr.breakdown(VOTES, time_limit=flag),
        lambda: hr.attack(VOTES, hr.kemeny, hr.NewWinner(), time_limit=flag),
        lambda: hr.kemeny(VOTES, time_limit=flag),
        lambda: hr.reach(VOTES, budget=flag),
        lambda: hr.reach(VOTES, time_limit=flag),
        lambda: hr.Robust(hr.kemeny, flag),
        lambda: hr.bootstrap(VOTES, draws=flag),
        lambda: hr.bootstrap(VOTES, level=flag),
        lambda: hr.bootstrap(VOTES, rng=flag),
        lambda: hr.tradeoff(VOTES, delta=flag),
        lambda: hr.tradeoff(VOTES, tolerance=flag),
        lambda: hr.tradeoff(VOTES, time_limit=flag),
        lambda: hr.Uniform(flag),
        lambda: hr.Mallows([0, 1], flag),
        lambda: hr.sample_votes(hr.Uniform(2), flag),
        lambda: smoothed(VOTES, deltas=[flag]),
        lambda: smoothed(VOTES, steps=flag),
        lambda: smoothed(VOTES, gamma=flag),
        lambda: clusters.Processes(flag),
        *(lambda name=field.name: hr.Spec(**{name: flag}) for field in fields(hr.Spec)
          if field.name in ("theta", "k", "budget", "draws", "seed", "time_limit")),
    ):  # fmt: skip
        with pytest.raises(hr.UsageError):
            call()
