"""No result with a changed number is proved, and no true one is refuted; whatever fields a result has."""

from __future__ import annotations

import math
import os
from functools import cache

import numpy as np
import pytest

import forging
import holdrank as hr
from holdrank.analysis.records import seal_of
from holdrank.proofs.recorded.analysis import analysis_checks
from holdrank.proofs.statistics import Exactly
from holdrank.words.headlines import subline

import oracles
from strategies import KINDS, random_ranks, unlisted_rule

pytestmark = pytest.mark.slow

RESULTS = int(os.environ.get("HOLDRANK_RESULTS", "16"))  # a long run takes 500
STATISTICS = [
    hr.kemeny,
    hr.borda,
    hr.footrule,
    hr.copeland,
    hr.mean_score,
    hr.Robust(hr.kemeny, 0.1),
    hr.Robust(hr.kemeny, 0.0),
    hr.Robust(hr.borda, 0.05, merge="naive"),
    hr.Robust(hr.kemeny, 0.05, merge="smith"),
]


def few_traced(statistics):
    """Give statistics as parameters, of which a plain one and one with tiers count for coverage."""
    traced = (hr.copeland, hr.Robust(hr.borda, 0.05, merge="naive"))
    return [pytest.param(T, id=T.__name__, marks=pytest.mark.traced if T in traced else ()) for T in statistics]


@pytest.fixture(autouse=True)
def _proved_once(monkeypatch):
    """Prove once what many results say: most numbers can be forged without a change of what lower bounds demand."""
    prove, known = Exactly.shown, {}

    def shown(checker, change, demand):
        demanded = tuple(demand(ranks) for ranks in oracles.weak_orders(checker.votes.n))
        asked = (checker.votes.input_hash, checker.base, checker.theta, checker.merge, change, demanded)
        if asked not in known:
            known[asked] = prove(checker, change, demand)
        return known[asked]

    monkeypatch.setattr(Exactly, "shown", shown)


def some_votes(rng, T, number, most=4):
    n = min(int(rng.choice([2, 3, 4], p=[0.2, 0.6, 0.2])), most)
    size = int(rng.integers(2, 9))
    weights = [
        lambda m: rng.integers(1, 5, m),
        lambda m: rng.integers(1, 1000, m),
        lambda m: rng.dirichlet(np.ones(m)),
    ][number % 3]
    if T is hr.mean_score:
        scores = rng.integers(0, 6, (size, n)) / (1, 10)[number % 2]
        return hr.Votes.from_score_rows(scores, weights(size), unlisted="observed")
    kinds = KINDS[:3] if T is hr.footrule else KINDS
    kind = kinds[number % len(kinds)]
    ballots = []
    while not ballots:
        ballots = random_ranks(rng, kind, n, size)
    return hr.Votes.from_ranks(np.array(ballots), weights(len(ballots)), unlisted=unlisted_rule(kind))


def some_goal(rng, votes):
    x, y = (votes.items[i] for i in rng.choice(votes.n, 2, replace=False))
    k = int(rng.integers(1, votes.n))
    pairs = votes.n * (votes.n - 1) // 2
    goals = [
        hr.NewWinner(),
        hr.Wins(x),
        hr.Above(x, y),
        hr.TopSet(k),
        hr.Enters(x, k),
        hr.Leaves(y, k),
        hr.Distance(int(rng.integers(1, pairs + 1)) / pairs),
    ]
    return goals[int(rng.integers(len(goals)))]


def amounts(attack):
    return (
        attack.lower, attack.upper, attack.votes_needed, attack.votes_to_tie, attack.votes_to_decide,
        attack.votes_sufficient,
    )  # fmt: skip


def is_proved(votes, T, result):
    """Whether a result is proved; what cannot be a result at all is refused."""
    try:
        return bool(hr.verify(votes, T, result))
    except hr.HoldrankError:
        return False


@pytest.mark.parametrize("T", few_traced(STATISTICS))
def test_no_attack_with_a_changed_number_is_proved(T):
    rng = np.random.default_rng([5, STATISTICS.index(T)])
    proved = fields = 0
    for number in range(max(RESULTS // 2, 4)):
        votes = some_votes(rng, T, number)
        found = hr.attack(votes, T, some_goal(rng, votes), change=tuple(hr.Change)[number % 3], time_limit=20)
        verdict = hr.verify(votes, T, found)
        assert not verdict.refuted, verdict.text()
        if not verdict:
            continue  # what is open stays open, whatever is changed
        proved += 1
        for path, forged in forging.forgeries(found, rng):
            fields += 1
            if path[0] == "goal" and is_proved(votes, T, forged):
                # Another question may have the same answer.
                assert amounts(hr.attack(votes, T, forged.goal, change=found.change)) == pytest.approx(
                    amounts(forged), nan_ok=True
                )
                continue
            if path[0].endswith("plan") and {"ranks", "scores"} & set(path):
                continue  # another ballot may do as well: see `test_ballots_of_an_attack_are_looked_at`
            assert not is_proved(votes, T, forged), (path, found, forged)
    assert fields > 10 * proved > 0


@pytest.mark.traced
def test_ballots_of_an_attack_are_looked_at():
    votes = hr.Votes.from_orders([list("abc"), list("bac"), list("cab")], weights=[6, 4, 1])
    found = hr.attack(votes, hr.kemeny, hr.NewWinner())
    plan = found.whole_plan
    for ranks in ([[1, 2, 3]], [[1, 1, 2]], [[3, 0, 0]]):
        forged = forging.dataclasses.replace(plan, ranks=np.array(ranks))
        assert hr.verify(votes, hr.kemeny, forging.dataclasses.replace(found, whole_plan=forged, _memo={})).refuted


@pytest.mark.parametrize("T", few_traced(STATISTICS[:4] + STATISTICS[5:8]))
def test_no_curve_with_a_changed_number_is_proved(T):
    rng = np.random.default_rng([6, STATISTICS.index(T)])
    proved = 0
    for number in range(max(RESULTS // 8, 3)):
        votes = some_votes(rng, T, number, most=4 if RESULTS > 16 else 3)
        found = hr.breakdown(votes, T, time_limit=20)
        verdict = hr.verify(votes, T, found)
        assert not verdict.refuted, verdict.text()
        if not verdict:
            continue
        proved += 1
        for path, forged in forging.forgeries(found, rng):
            if (
                path[0] == "attacks"
                and any(part in ("plan", "whole_plan", "tie_plan") for part in path)
                and "ranks" in path
            ):
                continue
            assert not is_proved(votes, T, forged), (path, found)
    assert proved


@pytest.mark.parametrize("T", STATISTICS, ids=lambda T: T.__name__)
def test_no_consensus_with_a_changed_number_is_proved(T):
    rng = np.random.default_rng([7, STATISTICS.index(T)])
    for number in range(RESULTS):
        votes = some_votes(rng, T, number)
        found = T(votes)
        verdict = hr.verify(votes, T, found)
        assert not verdict.refuted, verdict.text()
        for path, forged in forging.forgeries(found, rng) if verdict else ():
            assert not is_proved(votes, T, forged), (path, found)


# Records.

SPECS = [
    hr.Spec(theta=0.05, k=1, claims=("0 above 1", "top 1"), draws=0),
    hr.Spec(rule="borda", theta=None, k=2, draws=200),
    hr.Spec(theta=0.0, draws=0),
    hr.Spec(rule="footrule", theta=None, draws=200, claims=("0 wins",)),
    hr.Spec(rule="copeland", theta=None, draws=0),
    hr.Spec(theta="auto", draws=0),
    hr.Spec(theta=None, draws=0, k=1, claims=("0 above 1",)),
]


@cache
def a_record(number):
    """Return votes of three items and their analysis."""
    rng = np.random.default_rng([8, len(SPECS) + number])  # most of these are proved whole
    spec = SPECS[number % len(SPECS)]
    weights = rng.integers(1, 40, 6)
    if number % len(SPECS) == len(SPECS) - 1:  # shares of votes, which have no whole ones
        weights = weights / weights.sum()
    votes = hr.Votes.from_ranks(np.array([(1, 2, 3), *random_ranks(rng, "strict", 3, 5)]), weights.tolist())
    return votes, hr.analyse(votes, spec)


def proves(votes, record):
    """Whether all of a record is proved; stops at the first statement that is not."""
    try:
        analysis = hr.Analysis.from_json(hr.Analysis(record).to_json())
        return all(check.finding == "proved" for check in analysis_checks(votes, analysis))
    except hr.HoldrankError:
        return False


@pytest.mark.traced
@pytest.mark.parametrize("number", range(max(RESULTS // 3, len(SPECS))))
def test_no_record_with_a_changed_number_is_proved(number):
    votes, analysis = a_record(number)
    verdict = hr.verify(votes, analysis)
    assert not verdict.refuted, verdict.text()
    is_whole = proves(votes, analysis.record)
    rng = np.random.default_rng([9, number])
    paths = list(forging.leaves(analysis.record))
    assert len(paths) > 60
    every = RESULTS > 16
    for at in rng.permutation(len(paths))[: None if every else 24].tolist():
        path = paths[at]
        for up in (True, False) if every else (bool(rng.integers(2)),):
            record = forging.edited(analysis.record, path, up)
            if record is None:
                continue
            assert not proves(votes, record), path  # the seal sees to that
            record["seal"] = seal_of(record)
            # What was asked for only the seal can tell; all else is a statement, mostly about the votes.
            if is_whole and path[0] != "spec":
                assert not proves(votes, record), path


def test_records_are_proved_whole():
    """Otherwise nothing above was put to the test."""
    whole = [number for number in range(len(SPECS)) if proves(*_pair(number))]
    assert len(whole) >= 3, whole


def _pair(number):
    votes, analysis = a_record(number)
    return votes, analysis.record


@pytest.mark.traced
def test_shares_and_flags_of_a_record_are_looked_at():
    votes, record = _pair(len(SPECS) - 1)
    assert not votes.is_counts
    assert proves(votes, record)
    for place, value in (
        (("attack", "removed", "listed", 0, "weight"), lambda weight: weight * 0.9),
        (("attack", "verified"), lambda flag: not flag),
        (("cut", "items", 0, "safe"), lambda flag: not flag),
        (("cut", "items", 0, "inside"), lambda flag: not flag),
    ):
        forged = forging.copy.deepcopy(record)
        spot = forged
        for name in place[:-1]:
            spot = spot[name]
        spot[place[-1]] = value(spot[place[-1]])
        forged["seal"] = seal_of(forged)
        assert not proves(votes, forged), place


def test_a_record_without_a_seal_is_open_and_an_edited_one_refuted():
    votes, analysis = a_record(0)
    verdict = hr.verify(votes, hr.Analysis({**analysis.record, "seal": ""}))
    assert [check.finding for check in verdict.checks if "since it was written" in check.claim] == ["open"]
    edited = {**analysis.record, "version": "0.0.1"}
    assert hr.verify(votes, hr.Analysis(edited)).refuted
    assert seal_of(analysis.record) == analysis.record["seal"]
    assert seal_of({**analysis.record, "seal": "x"}) == analysis.record["seal"]


# Results and records that contradict nothing, themselves least of all.


def check_amounts(found, votes):
    """The numbers of one goal fit each other."""
    assert found["lower"] <= found["upper"]
    assert found["needed"] <= found["ties"] <= found["sufficient"]
    assert found["needed"] <= found["decides"] <= found["sufficient"]
    assert found["sufficient"] / votes.total >= found["lower"] - 1e-9
    assert found["needed"] >= math.floor(min(found["lower"], 1e9) * votes.total - 1e-3)


def endless(found):
    return {name: math.inf if found[name] is None else found[name] for name in found}


@pytest.mark.parametrize("number", range(len(SPECS)))
def test_records_do_not_contradict_themselves(number):
    votes, analysis = a_record(number)
    record = analysis.record
    names = ("lower", "upper", "needed", "ties", "decides", "sufficient")
    rows = [record["attack"], *record["gaps"], *(row["attack"] for row in record["claims"] if row["attack"])]
    rows += record["cut"]["items"] if record["cut"] else []
    rows += [{name: curve[name][k] for name in names} for curve in record["curves"] for k in range(len(curve["delta"]))]
    for row in rows:
        check_amounts(endless({name: row[name] for name in names}), votes)
    told = record["attack"]
    if told["sufficient"] is not None and told["decides"] == told["sufficient"] and told["ties"]:
        assert f"{told['sufficient']:,.0f} of {votes.total:,.0f} votes" in record["headline"]
        assert "Proven minimum (" in subline(record)


@pytest.mark.usefixtures("time_at_work")
@pytest.mark.parametrize("seed", range(8))
def test_tiers_at_threshold_zero_say_no_less_than_the_ranking(seed):
    rng = np.random.default_rng([10, seed])
    votes = hr.sample_votes(hr.Mallows(list(range(7)), 0.8), int(rng.integers(20, 90)), rng=seed)
    for goal in (hr.NewWinner(), hr.Distance(1 / 21), hr.Distance(4 / 21)):
        strict = hr.attack(votes, hr.kemeny, goal)
        tiers = hr.attack(votes, hr.Robust(hr.kemeny, 0.0), goal, time_limit=2)
        if strict.before.unique and tiers.before.ranking == strict.before.ranking:
            assert tiers.lower >= strict.lower - 1e-9
            assert tiers.upper <= strict.upper + 1e-6
            assert tiers.votes_needed >= strict.votes_needed
            assert tiers.votes_sufficient <= strict.votes_sufficient
