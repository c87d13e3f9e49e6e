"""How many voters it takes: no bound is above the truth, every attack works, and what makes no sense is refused."""

import os

import numpy as np
import pytest

import holdrank as hr
import voter_oracles as oracle
from crowds import random_people, votes_of

from battles import goals_for
from oracles import fulfils

PROFILES = int(os.environ.get("HOLDRANK_PROFILES", "12"))  # a long run takes 5000


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


def few():
    """Three voters: x and z for i0, y for i1."""
    x = [("win", 0, 1)] * 4 + [("win", 0, 2)]
    y = [("win", 1, 0)] * 3 + [("win", 2, 1)]
    return votes_of(3, [x, y, [("win", 0, 1), ("tie", 1, 2)]])


def test_the_answer_is_a_sentence_and_names_the_voters():
    found = hr.voter_attack(few(), hr.bradley_terry, hr.NewWinner())
    assert found.text() == "Dropping 1 of 3 voters changes the winner (33.3 %, proven minimum)."
    assert (found.voters, found.removed, found.added) == (("p0",), [("i0 > i1", 4.0), ("i0 > i2", 1.0)], [])
    assert (found.lower, found.upper, found.exact, found.verified) == (1 / 3, 1 / 3, True, True)
    assert repr(found) == "VoterAttack(another winner: 1 to 1 of 3 voters, drop)"
    otherwise = hr.voter_attack(few(), hr.bradley_terry, hr.Wins("i2"), change="replace")
    assert sum(weight for _, weight in otherwise.removed) == sum(weight for _, weight in otherwise.added)
    come = hr.voter_attack(few(), hr.bradley_terry, hr.Wins("i2"), change="add", cap=2)
    assert come.text().endswith("A new voter casts at most 2 battles.")
    assert come.voters == tuple(f"new voter {k}" for k in range(1, len(come.voters) + 1))
    assert come.removed == []
    so = hr.voter_attack(few(), hr.bradley_terry, hr.Wins("i0"))
    assert so.text() == "No voter is needed to make i0 win: it is so already."


def test_one_voter_cannot_leave():
    votes = votes_of(2, [[("win", 0, 1), ("win", 0, 1), ("win", 1, 0)]])
    found = hr.voter_attack(votes, hr.bradley_terry, hr.NewWinner())
    assert found.text() == "No number of dropped voters can change the winner (proven)."
    assert found.status is hr.Status.OUT_OF_REACH
    assert found.voters_needed == np.inf
    assert not found.verified
    assert hr.voter_attack(votes, hr.bradley_terry, hr.NewWinner(), change="replace").voters_sufficient == 1


def test_a_tie_and_a_decision_are_told_apart():
    people = [[("win", 0, 1)], [("win", 0, 1)], [("win", 1, 0)], [("win", 1, 2)], [("win", 0, 2)]]
    truth = oracle.fewest_voters(people, 3, "drop", (1, 2, 3), [("above", 1, 0)], 3)["above", 1, 0]
    found = hr.voter_attack(votes_of(3, people), hr.bradley_terry, hr.Above("i1", "i0"))
    assert (found.voters_needed, found.voters_sufficient) == truth
    assert (found.voters_to_tie, found.voters_to_decide) == truth
    tied = votes_of(2, [[("win", 0, 1)], [("win", 1, 0)]])
    now = hr.voter_attack(tied, hr.bradley_terry, hr.Above("i1", "i0"))
    assert (now.voters_needed, now.voters_to_tie, now.voters_sufficient) == (0, 0, 1)
    assert now.text().startswith("It is tied already")


def test_an_item_that_nobody_compared_has_a_place_in_the_answer():
    votes = votes_of(4, [[("win", 0, 1)] * 3, [("win", 1, 2)] * 2, [("win", 2, 0)]])
    assert votes.items == ("i0", "i1", "i2", "i3")
    for change in ("drop", "replace"):
        found = hr.voter_attack(votes, hr.bradley_terry, hr.Above("i3", "i0"), change=change)
        assert found.voters_needed <= found.voters_sufficient
        if found.verified:
            assert hr.fulfils(votes, hr.bradley_terry, found.votes, hr.Above("i3", "i0"))


def test_capped_votes_can_be_attacked():
    votes = few().capped(2)
    for change, cap in (("drop", None), ("replace", None), ("add", 0.5)):
        found = hr.voter_attack(votes, hr.bradley_terry, hr.NewWinner(), change=change, cap=cap)
        assert found.verified
        assert found.voters_needed <= found.voters_sufficient
        assert hr.fulfils(votes, hr.bradley_terry, found.votes, hr.NewWinner())
        check_the_change(votes, found)


def test_more_voters_than_greed_finds_are_never_called_needed():
    for seed in range(4):
        rng = np.random.default_rng([seed, 22])
        n, voters = 10, 120
        lean = rng.normal(0, 0.5, (voters, n)) + rng.normal(0, 0.5, n)
        people = []
        for k in range(voters):
            pairs = [rng.choice(n, 2, replace=False).tolist() for _ in range(int(rng.integers(1, 30)))]
            chances = [1 / (1 + np.exp(lean[k, j] - lean[k, i])) for i, j in pairs]
            both = zip(pairs, chances, strict=True)
            people.append([("win", i, j) if rng.random() < p else ("win", j, i) for (i, j), p in both])
        votes = votes_of(n, people)
        order = hr.bradley_terry(votes).ranking.order
        a, b = order[0], order[1]
        left, size = list(people), 0
        while True:  # the voter whose leaving helps b most goes, one after the other
            s = oracle.strengths_without_each(left, n)
            left.pop(int((s[:, b] - s[:, a]).argmax()))
            size += 1
            if (s[:, b] > s[:, a]).any():
                break
        found = hr.voter_attack(votes, hr.bradley_terry, hr.Above(f"i{b}", f"i{a}"))
        assert found.voters_needed <= size
        assert found.voters_sufficient <= size + 1
        assert found.voters_sufficient <= 2 * found.voters_needed + 2


def test_time_that_is_over_leaves_what_is_known():
    found = hr.voter_attack(few(), hr.bradley_terry, hr.NewWinner(), time_limit=0)
    assert found.voters_needed <= found.voters_sufficient
    assert found.status in (hr.Status.BETWEEN_TIME_LIMIT, hr.Status.LEAST)


def test_what_makes_no_sense_is_refused():
    votes = few()
    for wrong in (hr.kemeny, hr.Robust(hr.bradley_terry, 0.1), 3):
        with pytest.raises(hr.UsageError, match="voter_attack takes bradley_terry, not"):
            hr.voter_attack(votes, wrong, hr.NewWinner())
    with pytest.raises(hr.UsageError, match="do not say who cast each battle"):
        hr.voter_attack(hr.Votes.from_orders([["a", "b"]]), hr.bradley_terry, hr.NewWinner())
    with pytest.raises(hr.UsageError, match=r"needs cap.*busiest voter cast 5 battles"):
        hr.voter_attack(votes, hr.bradley_terry, hr.NewWinner(), change="add")
    with pytest.raises(hr.UsageError, match="cap is for change='add'"):
        hr.voter_attack(votes, hr.bradley_terry, hr.NewWinner(), cap=3)
    for cap in (0, -1, 1.5, float("inf"), "many"):
        with pytest.raises(hr.UsageError, match="cap must be a whole number of battles above 0"):
            hr.voter_attack(votes, hr.bradley_terry, hr.NewWinner(), change="add", cap=cap)
    with pytest.raises(hr.UsageError, match="change must be"):
        hr.voter_attack(votes, hr.bradley_terry, hr.NewWinner(), change="swap")
    with pytest.raises(hr.UsageError, match="is a class of goals"):
        hr.voter_attack(votes, hr.bradley_terry, hr.NewWinner)
    with pytest.raises(hr.UsageError, match="voter_attack needs ballots"):
        hr.voter_attack(hr.PairCounts.from_votes(votes), hr.bradley_terry, hr.NewWinner())
