"""A goal that the reported consensus reaches, and other optimal rankings do not, is not reached for sure."""

from dataclasses import replace

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.plans import adds_battles

import oracles

RULES = [hr.kemeny, hr.borda, hr.footrule, hr.copeland]
MOST = 3  # ballots changed


def level_votes(rng, n):
    """Return votes that leave several optima: opposite ballots in equal numbers, equal neighbours, ballots of ties."""
    order = rng.permutation(n) + 1
    rows = [order, n + 1 - order] if rng.random() < 0.5 else [np.where(order == n, n - 1, order), np.ones(n, dtype=int)]
    return hr.Votes.from_ranks(np.array(rows), [int(rng.integers(1, 3))] * 2, [str(item) for item in range(n)])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("change", ["replace", "drop", "add"])
def test_what_only_some_optima_reach_takes_votes(rule, change):
    rng = np.random.default_rng(7)
    tied = 0
    for _ in range(12):
        n = int(rng.integers(2, 4))
        votes = level_votes(rng, n)
        before = rule(votes).ranking
        k = int(rng.integers(1, n))
        first, last = before.order[0], before.order[-1]
        goals = {
            ("wins", first): hr.Wins(str(first)),
            ("above", first, last): hr.Above(str(first), str(last)),
            ("enters", first, k): hr.Enters(str(first), k),
            ("leaves", last, k): hr.Leaves(str(last), k),
        }
        least = oracles.fewest_ballots(
            [tuple(row) for row in votes.ranks.tolist()], [int(w) for w in votes.weights], votes.unlisted,
            hr.Change(change), rule.__name__, tuple(before.ranks.tolist()), list(goals), MOST,
            battles=adds_battles(votes),
        )  # fmt: skip
        for name, goal in goals.items():
            weak, strict = least[name]
            found = hr.attack(votes, rule, goal, change=change)
            assert weak == 0
            assert (found.lower, found.votes_needed, found.votes_to_tie) == (0, 0, 0)
            if strict is None:
                assert found.votes_sufficient > MOST
            else:
                assert found.votes_to_decide <= strict <= found.votes_sufficient
                assert found.votes_sufficient == strict or not found.exact
            if found.votes is not None:
                assert hr.fulfils(votes, rule, found.votes, goal)
            assert not hr.verify(votes, rule, found).refuted
            tied += strict != 0
    assert tied > 3


LEVEL = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[3, 3])


def test_a_tie_is_reported_no_matter_which_side_the_consensus_names_first():
    assert hr.kemeny(LEVEL).text() == "a > b > c"
    for item in "ab":
        found = hr.attack(LEVEL, hr.kemeny, hr.Wins(item))
        assert found.text() == f"It is tied already; 1 of 6 votes makes {item} win (16.7 %, proven minimum)."
        assert hr.verify(LEVEL, hr.kemeny, found).proved
    below = hr.attack(LEVEL, hr.kemeny, hr.Leaves("c", 2))
    assert below.text().endswith("this is already the case.")
    assert hr.verify(LEVEL, hr.kemeny, below).proved


def test_no_price_is_refuted_where_some_optimum_misses_the_goal():
    found = hr.attack(LEVEL, hr.kemeny, hr.Wins("a"))
    free = hr.attack(LEVEL, hr.kemeny, hr.Above("a", "c"))
    idle = {name: getattr(free, name) for name in ("plan", "whole_plan", "tie_plan")}
    forged = replace(found, votes_to_decide=0.0, votes_sufficient=0.0, after=found.before, **idle)
    assert hr.verify(LEVEL, hr.kemeny, forged).refuted


def test_a_price_is_refuted_where_all_optima_reach_the_goal():
    free = hr.attack(LEVEL, hr.kemeny, hr.Above("a", "c"))
    forged = replace(free, votes_to_decide=1.0, votes_sufficient=1.0)
    assert hr.verify(LEVEL, hr.kemeny, forged).refuted


def test_a_tie_that_no_dropped_ballot_breaks():
    votes = hr.Votes.from_orders([[["a", "b"], "c"]], weights=[5])
    found = hr.attack(votes, hr.borda, hr.Above("a", "b"), change="drop")
    assert (found.votes_needed, found.votes_to_tie) == (0, 0)
    assert found.votes_sufficient == np.inf
    assert found.text().startswith("It is tied already")


@pytest.mark.parametrize("change", ["replace", "drop", "add"])
def test_battles_that_only_some_orders_of_equal_strengths_decide(change):
    rng = np.random.default_rng(11)
    tied = 0
    for _ in range(25):
        won = np.zeros((3, 3))
        rows = []
        for _ in range(int(rng.integers(1, 5))):
            i, j = rng.choice(3, 2, replace=False)
            won[i, j] += 1
            rows.append([int(item == i) + 2 * int(item == j) for item in range(3)])
        votes = hr.Votes.from_ranks(np.array(rows), items="abc", unlisted="observed")
        before = hr.bradley_terry(votes).ranking
        first, second, third = before.order
        goals = {
            ("wins", first): hr.Wins("abc"[first]),
            ("above", second, third): hr.Above("abc"[second], "abc"[third]),
            ("enters", second, 2): hr.Enters("abc"[second], 2),
            ("leaves", second, 1): hr.Leaves("abc"[second], 1),
        }
        least = oracles.fewest_battles(
            won.tolist(), np.zeros((3, 3)).tolist(), change, tuple(before.ranks.tolist()), list(goals), 2
        )
        for name, goal in goals.items():
            _, strict = least[name]
            found = hr.attack(votes, hr.bradley_terry, goal, change=change)
            assert (found.lower, found.votes_needed, found.votes_to_tie) == (0, 0, 0)
            assert strict is None or found.votes_to_decide <= strict
            assert found.votes_sufficient > 2 or strict is not None
            assert found.votes_sufficient >= (3 if strict is None else strict)
            tied += strict != 0
    assert tied > 10


def test_battles_that_are_level():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"], ["b", "c"], ["a", "c"]], unlisted="observed")
    for item in "ab":
        found = hr.attack(votes, hr.bradley_terry, hr.Wins(item))
        assert (found.votes_needed, found.votes_to_tie, found.votes_sufficient) == (0, 0, 1)
        assert hr.fulfils(votes, hr.bradley_terry, found.votes, hr.Wins(item))
        assert not hr.verify(votes, hr.bradley_terry, found).refuted
