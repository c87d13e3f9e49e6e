"""How many voters it takes: no bound is above the truth, every attack works, and what makes no sense is refused."""

import os
from itertools import combinations

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.bradley_terry.battles import Battles
from holdrank.attacks.bradley_terry.crowd import Crowd
from holdrank.attacks.bradley_terry.crowd_engine import CrowdSiege
from holdrank.status import Clock
from holdrank.votes.changes import Change

import oracles
import voter_oracles as oracle
from battles import goals_for
from crowds import random_people, votes_of
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


@pytest.mark.traced
@pytest.mark.slow
def test_no_bound_on_voters_who_leave_is_above_the_truth():
    exact = 0
    for seed in range(2 * PROFILES):
        rng = np.random.default_rng([seed, 19])
        n, people = random_people(rng)
        exact += hold_against_truth(n, people, "drop", min(3, len(people)), rng)
    assert exact


@pytest.mark.slow
def test_no_bound_on_voters_who_vote_otherwise_is_above_the_truth():
    exact = 0
    for seed in range(PROFILES):
        rng = np.random.default_rng([seed, 20])
        n, people = random_people(rng, tiny=True)
        exact += hold_against_truth(n, people, "replace", 2, rng)
    assert exact


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
    assert so.text() == "No voter needs to change to make i0 win: this is already the case."


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


@pytest.mark.slow
@pytest.mark.traced
def test_more_voters_than_greed_finds_are_never_called_needed():
    for seed in range(3):
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
    with pytest.raises(hr.UsageError, match="cap applies only to change='add'"):
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


def besieged(n, people, change):
    votes = votes_of(n, people)
    return CrowdSiege(Battles.of(votes), Change(change), crowd=Crowd(votes.voters, n))


@pytest.mark.parametrize("change", ["drop", "replace"])
@pytest.mark.slow
@pytest.mark.traced
def test_a_race_is_never_called_lost_where_it_can_be_won(change):
    """The bound alone, which no attack corrects: asked about as many voters as there are."""
    excluded = 0
    for seed in range(3 * PROFILES if change == "drop" else PROFILES):
        rng = np.random.default_rng([seed, 24])
        n, people = random_people(rng, tiny=change == "replace")
        siege = besieged(n, people, change)
        s = siege.battles.strengths
        pairs = [(b, a) for a in range(n) for b in range(n) if s[a] > s[b] + 1e-6]
        before = tuple(int((s > s[i]).sum()) + 1 for i in range(n))
        most = min(len(people), 3 if change == "drop" else 2)
        truth = oracle.fewest_voters(people, n, change, before, [("above", b, a) for b, a in pairs], most)
        for b, a in pairs:
            fails = siege.race(b, a).fails(float(siege.most), Clock(), 0)
            excluded += fails > 0
            weak, _ = truth["above", b, a]
            assert weak is None or fails < weak, (people, change, b, a, fails, weak)
    assert excluded


def test_voters_who_are_alike_and_cast_much_are_no_single_battles():
    """Many voters, each with many battles of one kind: k of them are not k battles."""
    people = [[("win", 0, 1)] * 20 for _ in range(6)] + [[("win", 1, 0)] * 19 for _ in range(6)]
    people += [[("win", 0, 2), ("win", 1, 2), ("win", 2, 0), ("win", 2, 1)]]
    for change in ("drop", "replace"):
        siege = besieged(3, people, change)
        assert siege.race(1, 0).fails(float(siege.most), Clock(), 0) == 0
        found = hr.voter_attack(votes_of(3, people), hr.bradley_terry, hr.Above("i1", "i0"), change=change)
        assert (found.voters_needed, found.voters_sufficient) == (1, 1)


@pytest.mark.slow
@pytest.mark.traced
def test_boxes_hold_the_strengths_of_every_group_that_leaves():
    tried = 0
    for seed in range(3 * PROFILES):
        rng = np.random.default_rng([seed, 25])
        n, people = random_people(rng)
        people = people * 4  # boxes need some battles
        siege = besieged(n, people, "drop")
        s = siege.battles.strengths
        for k in (1, 2):
            box = siege.movement.box(float(k), (), range(n))
            if box is None:
                continue
            groups = [rng.choice(len(people), k, replace=False) for _ in range(40)]
            rest = [oracle.wins_of([p for j, p in enumerate(people) if j not in gone], n) for gone in groups]
            moved = oracles.strengths_of_many(np.array(rest), 1e-6) - s
            rise = moved[:, :, None] - moved[:, None, :]
            assert (rise <= box.rise + 1e-7 * max(1.0, np.ptp(s))).all(), (people, k)
            tried += 1
    assert tried


@pytest.mark.slow
@pytest.mark.traced
def test_groups_that_are_left_out_do_not_flip_the_pair():
    kept = total = 0
    for seed in range(3 * PROFILES):
        rng = np.random.default_rng([seed, 26])
        n, people = random_people(rng)
        people = people + people[:3]
        siege = besieged(n, people, "drop")
        s, kind = siege.battles.strengths, siege.crowd.kind
        for b in range(n):
            for a in range(n):
                k = int(rng.integers(1, 4))
                if s[a] <= s[b] + 1e-6 or k >= len(people):
                    continue
                groups = siege._groups([(b, a)], k, Clock())
                if groups is None:
                    continue
                known = {tuple(row) for row in groups.tolist()}
                every = list(combinations(range(len(people)), k))
                rest = [oracle.wins_of([p for j, p in enumerate(people) if j not in gone], n) for gone in every]
                after = oracles.strengths_of_many(np.array(rest), 1e-6)
                for gone, t in zip(every, after, strict=True):
                    group = tuple(sorted(kind[list(gone)].tolist()))
                    total += 1
                    kept += group in known
                    if group not in known:
                        assert t[b] < t[a], (people, k, b, a, gone)
    assert 0 < kept < total


@pytest.mark.parametrize("change", ["drop", "replace"])
def test_voters_with_one_battle_each_are_battles(change):
    won, tied = np.array([[0, 8, 4], [6, 0, 4], [2, 1, 0]]), np.triu(np.full((3, 3), 1), 1)
    people = [[("win", i, j)] for i in range(3) for j in range(3) for _ in range(won[i, j])]
    people += [[("tie", i, j)] for i in range(3) for j in range(3) for _ in range(tied[i, j])]
    truth = oracles.fewest_battles(won, tied, change, (1, 2, 3), [("above", 1, 0)], 3)["above", 1, 0]
    siege = besieged(3, people, change)
    assert siege.race(1, 0).fails(float(siege.most), Clock(), 0) < truth[0]
    found = hr.voter_attack(votes_of(3, people), hr.bradley_terry, hr.Above("i1", "i0"), change=change)
    assert found.voters_needed <= truth[0]
    assert (found.voters_sufficient, found.voters_to_decide) == (truth[1], truth[1])


def test_many_voters_of_one_kind_are_many():
    """As i0 and i1 fare alike against i2, ten of those who prefer i0 to i1 must leave for a tie."""
    people = [[("win", 0, 1)] for _ in range(60)] + [[("win", 1, 0)] for _ in range(50)]
    people += [[("win", i, 2)] for i in (0, 1) for _ in range(30)] + [
        [("win", 2, i)] for i in (0, 1) for _ in range(20)
    ]
    siege = besieged(3, people, "drop")
    assert siege.race(1, 0).fails(float(siege.most), Clock(), 0) == 9
    found = hr.voter_attack(votes_of(3, people), hr.bradley_terry, hr.Above("i1", "i0"))
    assert (found.voters_needed, found.voters_to_tie, found.voters_sufficient) == (10, 10, 11)
    assert found.text() == "Dropping 10 of 210 voters ties it, dropping 11 puts i1 above i0 (5.24 %, proven minimum)."


def test_a_voter_who_votes_otherwise_may_care_for_other_items_than_before():
    people = [[("win", 2, 3), ("win", 3, 2)] * 5 for _ in range(4)]
    single = [("win", 0, 1)] * 60 + [("win", 1, 0)] * 53
    single += [("win", *pair) for i in (0, 1) for j in (2, 3) for pair in ((i, j), (j, i)) for _ in range(40)]
    people += [[battle] for battle in single]
    siege = besieged(4, people, "replace")
    assert siege.race(1, 0).fails(float(siege.most), Clock(), 0) == 0
    found = hr.voter_attack(votes_of(4, people), hr.bradley_terry, hr.Above("i1", "i0"), change="replace")
    assert (found.voters_needed, found.voters_sufficient) == (1, 1)
