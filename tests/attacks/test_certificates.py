"""Certificates that were wrong once, each with the truth worked out by hand or by brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.borda.races import Races
from holdrank.attacks.kemeny.integers import contradict, leaves_nothing

MEDIANS = [hr.kemeny, hr.borda, hr.footrule]


# Voters who rank alike and score differently.


def test_the_voter_with_the_large_score_decides_alone():
    """Sums are 107 to 80; without the first voter they are 7 to 80."""
    votes = hr.Votes.from_score_rows([[100, 0]] + [[1, 0]] * 7 + [[0, 40]] * 2, items=["a", "b"])
    found = hr.attack(votes, hr.mean_score, hr.NewWinner(), change="drop")
    assert (found.votes_needed, found.votes_to_tie, found.votes_to_decide, found.votes_sufficient) == (1, 1, 1, 1)
    assert found.lower == pytest.approx(27 / 100 / 10)  # 27 of the 100 that one vote gives
    assert found.text() == "Dropping 1 of 10 votes changes the winner (10 %, proven minimum)."
    assert hr.verify(votes, hr.mean_score, found).proved
    analysis = hr.analyse(votes, hr.Spec(rule="mean-score", theta=None, draws=0))
    assert analysis.record["votes"]["distinct"] == 3


def test_the_same_from_a_file_and_by_the_command_line(command_line, tmp_path):
    scores = [[100, 0]] + [[1, 0]] * 7 + [[0, 40]] * 2
    lines = ["item," + ",".join(f"v{k}" for k in range(10))]
    lines += [name + "," + ",".join(str(row[k]) for row in scores) for k, name in enumerate("ab")]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    code, out, _ = command_line(
        "attack", "scores.csv", "--rule", "mean-score", "--change", "drop", "--new-winner", "-q"
    )
    assert code == 0
    assert out.startswith("Dropping 1 of 10 tasks changes the winner (10 %, proven minimum).")


def test_fourteen_of_a_thousand_are_enough():
    """986 voters lead by 1 and 14 by 500 for a; 1,000 points behind, b needs the loss of two of the fourteen."""
    rows = [[1, 0]] * 300 + [[500, 0]] * 14 + [[0, 9]] * 686
    votes = hr.Votes.from_score_rows(rows, items=["a", "b"])
    lead = 300 + 14 * 500 - 9 * 686
    k = next(k for k in range(15) if 500 * k > lead)
    found = hr.attack(votes, hr.mean_score, hr.NewWinner(), change="drop")
    assert found.votes_sufficient == found.votes_to_decide == k == 3
    assert hr.verify(votes, hr.mean_score, found).proved


# Few strict votes among many ties.


@pytest.mark.parametrize("many", [3, 50_010, 10**7, 10**10, 10**11, 10**13])
@pytest.mark.parametrize("T", [*MEDIANS, hr.copeland], ids=lambda T: T.__name__)
def test_dropping_the_one_vote_that_takes_sides_leaves_a_tie(T, many):
    votes = hr.Votes.from_orders([["a", "b"], [["a", "b"]]], weights=[1, many], items=["b", "a"])
    found = hr.attack(votes, T, hr.NewWinner(), change="drop")
    assert (found.votes_needed, found.votes_to_tie) == (1, 1) or (many > 10**12 and found.votes_needed == 1)
    assert found.lower * votes.total <= 1 + 1e-6
    assert math.isinf(found.votes_sufficient)
    assert "can change the winner (proven)" not in found.text()
    assert not hr.verify(votes, T, found).refuted


def test_a_tie_that_cannot_be_more_is_told_as_such():
    votes = hr.Votes.from_orders([["a", "b"], [["a", "b"]]], weights=[1, 50_010], items=["b", "a"])
    found = hr.attack(votes, hr.borda, hr.NewWinner(), change="drop")
    assert math.isinf(found.votes_to_decide)
    assert found.text() == (
        "Dropping 1 of 50,011 votes ties it (proven minimum); "
        "no number of dropped votes can change the winner outright (proven)."
    )
    verdict = hr.verify(votes, hr.borda, found)
    assert [check.finding for check in verdict.checks if "outright" in check.claim] == ["proved"]


@pytest.mark.slow
@pytest.mark.parametrize("weights", [[17, 173_596, 57_865], [1, 10**6, 3], [5, 10**7, 10**7 - 1]])
@pytest.mark.parametrize("T", [*MEDIANS, hr.copeland], ids=lambda T: T.__name__)
def test_three_items_with_heavy_ties(T, weights):
    """Whatever the three ballots are: no bound is above what dropping all of one kind, or a pair of kinds, does."""
    kinds = [[1, 2, 3], [3, 2, 1], [1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 1, 2]]
    compared = 0
    for rows in list(permutations(kinds, 3))[::5]:
        votes = hr.Votes.from_ranks(np.array(rows), weights)
        before = T(votes).ranking
        left = [np.array(kept) for kept in product((0, 1), repeat=votes.distinct) if any(kept)]
        after = [T(votes.with_weights(votes.weights * kept)).ranking for kept in left]
        for goal in (hr.NewWinner(), hr.TopSet(2)):
            found = hr.attack(votes, T, goal, change="drop")
            for kept, ranking in zip(left, after, strict=True):
                if goal.aim(before, votes.items).reached(ranking):
                    dropped = float(votes.weights @ (1 - kept))
                    compared += 1
                    assert found.votes_needed <= dropped, (rows, kept, found)
                    assert found.lower * votes.total <= dropped + 1e-3, (rows, kept, found)
    assert compared > 20  # otherwise no bound was put to the test


@pytest.mark.parametrize(("T", "many"), [(hr.kemeny, 10**10), (hr.footrule, 10**11), (hr.borda, 10**11)])
def test_all_but_one_vote_may_go(T, many):
    """One vote for b is left: nearly all votes is not all votes."""
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[many, 1])
    found = hr.attack(votes, T, hr.NewWinner(), change="drop")
    assert found.lower <= Fraction(many - 1, many + 1) + Fraction(1, 10**12)
    assert found.votes_needed <= many - 1
    assert "No number of" not in found.text()


def test_unanimous_votes_cannot_be_dropped_into_another_order():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["a", "c", "b"]], weights=[70, 3])
    for T in MEDIANS:
        found = hr.attack(votes, T, hr.NewWinner(), change="drop")
        assert math.isinf(found.lower)
        assert found.text() == "No number of dropped votes can change the winner (proven)."
        assert hr.verify(votes, T, found).proved


def test_a_vote_of_tiny_weight_is_a_vote():
    """What is left after an attack may weigh 1e-12, and is aggregated."""
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"], [["a", "b"]]], weights=[1e-12, 1, 10])
    for T in (*MEDIANS, hr.copeland, hr.Robust(hr.kemeny, 0.0)):
        found = hr.attack(votes, T, hr.NewWinner(), change="drop")
        assert found.lower <= 1 / 11 + 1e-9
        assert not hr.verify(votes, T, found).refuted


def test_shares_are_told_by_what_the_attacker_does():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[0.6, 0.4])
    told = {change: hr.attack(votes, hr.kemeny, hr.NewWinner(), change=change).text() for change in tuple(hr.Change)}
    assert told == {
        "replace": "10 % of the votes change the winner (proven minimum).",
        "drop": "Dropping 20 % of the votes changes the winner (proven minimum).",
        "add": "Adding 20 % more votes changes the winner (proven minimum).",
    }


def test_a_goal_that_is_tied_already_says_so():
    votes = hr.Votes.from_orders([["c", "a"]], weights=[2], items=["a", "b", "c"], unlisted="observed")
    found = hr.attack(votes, hr.borda, hr.TopSet(2))
    assert (found.votes_needed, found.votes_to_tie, found.votes_to_decide, found.votes_sufficient) == (0, 0, 1, 1)
    assert found.text() == "It is tied already; 1 of 2 votes changes the top 2 (50 %, proven minimum)."


# Ties and decisions.


def test_ties_and_decisions_are_told_apart():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[271, 229])
    for T in MEDIANS:
        found = hr.attack(votes, T, hr.NewWinner())
        assert (found.votes_needed, found.votes_to_tie) == (21, 21)
        assert (found.votes_to_decide, found.votes_sufficient) == (22, 22)
        assert found.text() == "21 of 500 votes tie it, 22 change the winner (4.4 %, proven minimum)."
        tied = T(found.tie)
        assert tied.unique is False
        assert hr.verify(votes, T, found).proved
    odd = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[272, 229])
    assert (
        hr.attack(odd, hr.kemeny, hr.NewWinner()).text()
        == "22 of 501 votes change the winner (4.39 %, proven minimum)."
    )


def test_whole_races_by_hand():
    races = Races(np.array([[5, 0], [1, 0], [0, 4]]), np.array([2, 3, 3]), hr.Change.DROP, 5)
    # 13 to 12: without one of the fives 8 to 12; without a one 12 to 12.
    assert races.race(1, 0) == (1 / 5, 1.0, 1.0)
    assert races.race(0, 1) == (0.0, 0.0, 0.0)
    adding = Races(np.array([[5, 0], [1, 0], [0, 4]]), np.array([2, 3, 3]), hr.Change.ADD, 5)
    assert adding.race(1, 0) == (1 / 5, 1.0, 1.0)
    even = Races(np.array([[1, 0], [0, 1]]), np.array([10, 6]), hr.Change.REPLACE, 1)
    assert even.race(1, 0) == (2.0, 2.0, 3.0)
    assert Races(np.array([[1, 0], [0, 0]]), np.array([3, 5]), hr.Change.DROP, 1).race(1, 0) == (3.0, 3.0, math.inf)
    assert Races(np.array([[1, 0], [2, 1]]), np.array([3, 5]), hr.Change.DROP, 2).race(1, 0) == (math.inf,) * 3
    assert Races(np.array([[2, 2]]), np.array([3]), hr.Change.ADD, 0).race(1, 0) == (0.0, 0.0, math.inf)


# What is left when nearly all goes.


def test_contradictions_are_proved_in_whole_numbers():
    assert contradict(np.array([[-1, -2], [3, -1]]))  # the first row counts less than nothing on every ballot
    assert contradict(np.array([[1, -2], [-2, 1]]))  # their sum does
    assert not contradict(np.array([[1, -2], [-2, 4]]))  # two of the first and one of the second ballot
    assert not contradict(np.array([[0, -1]]))
    assert not contradict(np.zeros((0, 3), dtype=int))


def test_all_or_all_but_the_lightest_ballot():
    no_rows = pytest.fail
    assert not leaves_nothing(0.5, 0.1, no_rows)
    assert leaves_nothing(1 - 1e-9, 0.1, no_rows)
    assert not leaves_nothing(0.9 + 1e-9, 0.1, no_rows)
    assert leaves_nothing(1.0, 1e-13, lambda: np.array([[-1, -1]]))
    assert not leaves_nothing(1.0, 1e-13, lambda: np.array([[-1, 0]]))
