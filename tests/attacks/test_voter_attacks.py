"""How many voters it takes: no bound is above the truth, every attack works, and what makes no sense is refused."""

import math
import os

import numpy as np
import polars as pl
import pytest

import holdrank as hr
import voter_oracles as oracle

from battles import goals_for
from oracles import fulfils

PROFILES = int(os.environ.get("HOLDRANK_PROFILES", "12"))  # a long run takes 5000


def random_people(rng, *, tiny=False):
    """Few voters with few battles: even and uneven, with ties, sparse, an unbeaten item, and voters who vote alike."""
    n = 3 if tiny else int(rng.integers(3, 6))
    people = []
    kind = rng.choice(["even", "uneven", "sparse", "unbeaten"])
    strength = rng.normal(0, rng.choice([0.1, 0.7, 1.5]), n)
    met = [(i, j) for i in range(n) for j in range(i + 1, n) if kind != "sparse" or rng.random() < 0.6] or [(0, 1)]
    ties = rng.choice([0.0, 0.3])
    for _ in range(int(rng.integers(2, 5 if tiny else 9))):
        most = 2 if tiny else 12 if kind == "uneven" and rng.random() < 0.2 else 4
        battles = []
        for _ in range(int(rng.integers(1, most + 1))):
            i, j = met[int(rng.integers(len(met)))]
            if rng.random() < ties:
                battles.append(("tie", i, j))
            elif (kind == "unbeaten" and i == 0) or rng.random() < 1 / (1 + math.exp(strength[j] - strength[i])):
                battles.append(("win", i, j))
            else:
                battles.append(("win", j, i))
        people.append(battles)
    if rng.random() < 0.4:
        people.append(list(people[0]))
    return n, people


def frame_of(people):
    rows = [(f"i{i}", f"i{j}", "model_a" if kind == "win" else "tie", f"p{k}")
            for k, battles in enumerate(people) for kind, i, j in battles]  # fmt: skip
    return pl.DataFrame(rows, schema=["model_a", "model_b", "winner", "who"], orient="row")


def votes_of(n, people):
    """The votes, the items in their order; an item that nobody compared is there too."""
    votes = hr.Votes.from_battles(frame_of(people), voter="who")
    v, place = votes.voters, np.array([int(name[1:]) for name in votes.items])
    first, second = place[v.first], place[v.second]
    turned = first > second
    results = np.column_stack(
        (np.minimum(first, second), np.maximum(first, second), np.where(turned, -v.better, v.better))
    )
    again = hr.Voters.of(v.names, v.voter, results, v.weight)
    return hr.Votes.from_voters(again, [f"i{k}" for k in range(n)])


def hold_against_truth(n, people, change, most, rng, cap=None):
    votes = votes_of(n, people)
    np.testing.assert_allclose(votes.wins(), oracle.wins_of(people, n))
    consensus = hr.bradley_terry(votes)
    before = tuple(int(rank) for rank in consensus.ranking.ranks)
    goals = goals_for(consensus.ranking.order, rng)
    truth = oracle.fewest_voters(people, n, change, before, goals, most, cap)
    exact = 0
    for name, goal in goals.items():
        if fulfils(name, before, before):
            continue
        found = hr.voter_attack(votes, hr.bradley_terry, goal, change=change, cap=cap)
        weak, strict = truth[name]
        where = (people, change, name, repr(found), found.voters_to_decide, truth[name])
        if weak is not None:
            assert found.voters_needed <= weak <= found.voters_to_tie, where
        if strict is not None:
            assert found.voters_to_decide <= strict <= found.voters_sufficient, where
        elif found.voters_sufficient <= most:
            raise AssertionError(where)
        if found.verified:
            assert hr.fulfils(votes, hr.bradley_terry, found.votes, goal), where
            assert len(found.voters) == found.voters_sufficient, where
            check_the_change(votes, found)
        exact += found.exact
    return exact


def check_the_change(votes, found):
    """The attack does what it says: nobody else changes, and nobody casts more than is allowed."""
    old = dict(zip(votes.voters.names, votes.voters.totals.tolist(), strict=True))
    new = dict(zip(found.votes.voters.names, found.votes.voters.totals.tolist(), strict=True))
    stay = set(old) - set(found.voters)
    for name in stay:
        assert battles_of(votes, name) == battles_of(found.votes, name)
    if found.change == "drop":
        assert set(new) == stay
    elif found.change == "replace":
        assert new == old
    else:
        assert set(new) == set(old) | set(found.voters)
        assert not set(old) & set(found.voters)
        assert all(new[name] <= found.cap for name in found.voters)


def battles_of(votes, name):
    v = votes.voters
    mine = v.voter == v.names.index(name)
    return sorted(zip(map(tuple, v.results[mine].tolist()), v.weight[mine].tolist(), strict=True))


@pytest.mark.no_cover
@pytest.mark.slow
def test_no_bound_on_voters_who_leave_is_above_the_truth():
    exact = 0
    for seed in range(2 * PROFILES):
        rng = np.random.default_rng([seed, 19])
        n, people = random_people(rng)
        exact += hold_against_truth(n, people, "drop", min(3, len(people)), rng)
    assert exact


@pytest.mark.no_cover
@pytest.mark.slow
def test_no_bound_on_voters_who_vote_otherwise_is_above_the_truth():
    exact = 0
    for seed in range(PROFILES):
        rng = np.random.default_rng([seed, 20])
        n, people = random_people(rng, tiny=True)
        exact += hold_against_truth(n, people, "replace", 2, rng)
    assert exact


@pytest.mark.no_cover
@pytest.mark.slow
def test_no_bound_on_new_voters_is_above_the_truth():
    exact = 0
    for seed in range(PROFILES):
        rng = np.random.default_rng([seed, 21])
        n, people = random_people(rng, tiny=True)
        cap = int(rng.integers(1, 3))
        exact += hold_against_truth(n, people, "add", 4 // cap, rng, cap)
    assert exact
