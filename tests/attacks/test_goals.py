from __future__ import annotations

from itertools import permutations

import pytest

import holdrank as hr
from holdrank.attacks import goals
from holdrank.attacks.goals import top_items

import oracles

ITEMS = ("a", "b", "c", "d")


def goals_with_oracles(n):
    """Every goal on n items, with its name for the oracle."""
    pairs = n * (n - 1) // 2
    yield hr.NewWinner(), ("new winner",)
    for x in range(n):
        yield hr.Wins(ITEMS[x]), ("wins", x)
        for k in range(1, n):
            yield hr.Enters(ITEMS[x], k), ("enters", x, k)
    for x, y in permutations(range(n), 2):
        yield hr.Above(ITEMS[x], ITEMS[y]), ("above", x, y)
    for k in range(1, n):
        yield hr.TopSet(k), ("top set", k)
    for flips in range(1, pairs + 1):
        yield hr.Distance(flips / pairs), ("distance", flips)


def test_goals_are_reached_as_defined_with_and_without_ties():
    n = 3
    rankings = oracles.weak_orders(n)
    seen = {True: 0, False: 0}
    for before in rankings:
        for goal, by_hand in goals_with_oracles(n):
            aim = goal.aim(hr.Ranking(before), ITEMS[:n])
            for after in rankings:
                expected = oracles.fulfils(by_hand, before, after)
                assert aim.reached(hr.Ranking(after)) is expected, (goal, before, after)
                seen[expected] += 1
    assert min(seen.values()) > 500


def test_all_rankings_that_break_ties_reach_a_goal_or_some_do_not():
    n = 4
    before = hr.Ranking([1, 2, 3, 4])
    goals = [goal for goal, _ in goals_with_oracles(n)]
    goals += [hr.Leaves(item, k) for item in ITEMS for k in range(1, n)]
    for goal in goals:
        aim = goal.aim(before, ITEMS)
        for tied in oracles.weak_orders(n):
            broken = [hr.Ranking.from_order(order) for order in oracles.extensions(tied)]
            expected = all(aim.reached(ranking) for ranking in broken)
            assert aim.reached_by_all(hr.Ranking(tied)) is expected, (goal, tied)


def test_impossible_means_that_no_ranking_reaches_it():
    n = 3
    impossible = 0
    for before in oracles.weak_orders(n):
        for distance in ("hausdorff_ns", "hausdorff_half"):
            goals = [goal for goal, _ in goals_with_oracles(n) if not isinstance(goal, hr.TopSet)]
            goals += [hr.Distance(k / 6, distance) for k in range(7)]
            for goal in goals:
                aim = goal.aim(hr.Ranking(before), ITEMS[:n])
                reachable = any(aim.reached(hr.Ranking(after)) for after in oracles.weak_orders(n))
                assert aim.is_impossible() is not reachable, (goal, before)
                impossible += not reachable
    assert impossible > 10


def test_for_strict_rankings_the_fields_say_the_same_as_the_goal():
    """Engines read the fields only."""
    n = 4
    orders = [hr.Ranking.from_order(order) for order in permutations(range(n))]
    for before in orders[::5]:
        for goal, _ in goals_with_oracles(n):
            aim = goal.aim(before, ITEMS)
            for after in orders:
                flipped = (
                    sum(
                        bool((before.ranks[i] < before.ranks[j]) != (after.ranks[i] < after.ranks[j]))
                        for i, j in permutations(range(n), 2)
                    )
                    // 2
                )
                if aim.above:
                    met = after.ranks[aim.above[0]] < after.ranks[aim.above[1]]
                elif aim.top:
                    met = any(after.ranks[x] <= aim.top for x in aim.newcomers)
                else:
                    met = flipped >= aim.flips
                assert aim.reached(after) == met, (goal, before, after)


@pytest.mark.parametrize(
    ("delta", "distance", "flips", "step"),
    [
        (0.0, "hausdorff_ns", 0, 0),
        (1 / 6, "hausdorff_ns", 1, 2),
        (0.17, "hausdorff_ns", 2, 4),
        (0.1 + 0.2 + 0.2, "hausdorff_ns", 3, 6),
        (0.2, "hausdorff_half", 2, 3),
        (1, "hausdorff_half", 6, 12),
    ],
)
def test_distances_in_pairs(delta, distance, flips, step):
    aim = hr.Distance(delta, distance).aim(hr.Ranking([1, 2, 3, 4]), ITEMS)
    assert (aim.flips, aim.step()) == (flips, step)


def test_a_distance_of_half_a_pair_is_reached_by_a_tie():
    before, tied = hr.Ranking([1, 2, 3]), hr.Ranking([1, 1, 2])
    assert hr.Distance(1 / 6, "hausdorff_half").aim(before, "abc").reached(tied)
    assert not hr.Distance(1 / 3, "hausdorff_half").aim(before, "abc").reached(tied)
    assert hr.Distance(1 / 3, "hausdorff_ns").aim(before, "abc").reached(tied)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: hr.Wins("Asch").aim(hr.Ranking([1, 2]), ("Ash", "Beech")), "did you mean 'Ash'"),
        (lambda: hr.Wins("zzz").aim(hr.Ranking([1, 2]), ("Ash", "Beech")), "items: Ash, Beech"),
        (lambda: hr.Wins("x\x1b[2J").aim(hr.Ranking([1, 2]), ("Ash", "Beech")), r"\\x1b"),
        (lambda: hr.Above("Ash", "Ash").aim(hr.Ranking([1, 2]), ("Ash", "Beech")), "above itself"),
        (lambda: hr.TopSet(2).aim(hr.Ranking([1, 2]), ("Ash", "Beech")), "from 1 to 1"),
        (lambda: hr.TopSet(True).aim(hr.Ranking([1, 2]), ("Ash", "Beech")), "whole number"),
        (lambda: hr.Enters("Ash", 0).aim(hr.Ranking([1, 2]), ("Ash", "Beech")), "from 1 to 1"),
        (lambda: hr.Distance(1.5), "from 0 to 1"),
        (lambda: hr.Distance("far"), "'far'"),
        (lambda: hr.Distance(0.5, "manhattan"), "hausdorff_ns, hausdorff_half"),
    ],
)
def test_goals_that_make_no_sense_are_refused(make, words):
    with pytest.raises(hr.UsageError, match=words):
        make()


@pytest.mark.parametrize("T", [hr.kemeny, hr.borda, hr.copeland, hr.Robust(hr.kemeny, 0.1)])
def test_a_distance_in_another_metric_is_for_medians_under_a_metric(T):
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "c", "a"]], weights=[3, 2])
    goal = hr.Distance(0.5, "hamming")
    for ask in (
        lambda: hr.attack(votes, T, goal),
        lambda: hr.breakdown(votes, T, distance="hamming"),
        lambda: hr.fulfils(votes, T, votes, goal),
    ):
        with pytest.raises(hr.UsageError, match=r"in hamming need a Median, not .*Median\('kendall'\)"):
            ask()
    with pytest.raises(hr.UsageError, match="not tiers"):
        hr.tradeoff(votes, hr.kemeny, distance="hamming")
    with pytest.raises(hr.UsageError, match="not tiers"):
        hr.tradeoff(votes, hr.kemeny, goal=goal)


def test_goals_are_values():
    assert hr.Above("b", "a") == hr.Above("b", "a") != hr.Above("a", "b")
    assert len({hr.NewWinner(), hr.NewWinner(), hr.TopSet(2)}) == 2
    assert all(isinstance(goal, hr.Goal) for goal, _ in goals_with_oracles(3))


def test_goals_in_words_escape_names():
    assert hr.Enters("x\x1b", 3).text() == "bringing x\\x1b into the top 3"
    assert hr.Above("b", "a").text() == "putting b above a"
    assert hr.Wins("b").text() == "making b win"
    assert hr.Distance(0.25).text() == "moving the consensus by 25 % of the pairs"


def test_a_distance_is_told_as_a_number_of_pairs_where_it_is_one():
    assert hr.Distance(0.25).text(4) == "moving the consensus by 2 of 6 pairs"
    assert hr.Distance(1.0).text(2) == "moving the consensus by 1 of 1 pair"
    assert hr.Distance(0.25, "hausdorff_half").text(4) == "moving the consensus by 25 % of the pairs"
    assert {hr.NewWinner().text(), hr.TopSet(2).text()} == {"another winner", "changing the top 2"}


def test_the_first_places_are_shared_by_ties():
    assert top_items(hr.Ranking([1, 1, 2, 3]), 1) == {0, 1}
    assert top_items(hr.Ranking([1, 1, 2, 3]), 3) == {0, 1, 2}


def test_names_that_hold_the_words_of_a_claim_are_read_as_names():
    items = ["a", "big wins", "above it", "top 2"]
    assert goals.claimed("a above big wins", items) == goals.Above("a", "big wins")
    assert goals.claimed("big wins wins", items) == goals.Wins("big wins")
    assert goals.claimed("a above above it", items) == goals.Above("a", "above it")
    assert goals.claimed("nobody wins", items) == goals.Wins("nobody")
    with pytest.raises(hr.UsageError, match="a claim is"):
        goals.claimed("top 2", items)  # an item's name says nothing about it
