"""What single pairs prove about tiers, against every change of a few whole ballots."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from math import inf

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.goals import Above, Distance, Enters, Leaves, NewWinner, TopSet, Wins
from holdrank.proofs.borders import Borders, _by_chains
from holdrank.proofs.statistics import Exactly

import oracles

PROFILES = {
    "a leader and a tie": ([[1, 2, 3], [1, 3, 2], [2, 1, 3]], [3, 2, 1]),
    "two before one": ([[1, 2, 3], [2, 1, 3]], [4, 3]),
    "all alike": ([[2, 1, 3]], [5]),
    "ties on ballots": ([[1, 1, 2], [1, 2, 2], [3, 1, 2]], [3, 2, 1]),
    "a cycle": ([[1, 2, 3], [3, 1, 2], [2, 3, 1]], [2, 2, 2]),
}
MOST = 3  # ballots that are changed


def all_goals(n):
    """Every goal about n items, as the oracle and as the engine know it."""
    pairs = n * (n - 1) // 2
    goals = [(("distance", d), Distance(d / pairs)) for d in range(1, pairs + 1)]
    goals += [(("new winner",), NewWinner()), *((("top set", k), TopSet(k)) for k in range(1, n))]
    for x in range(n):
        goals.append((("wins", x), Wins(str(x))))
        goals += [(("above", x, y), Above(str(x), str(y))) for y in range(n) if y != x]
        for k in range(1, n):
            goals += [(("enters", x, k), Enters(str(x), k)), (("leaves", x, k), Leaves(str(x), k))]
    return goals


def half_pairs(before, after):
    """Twice the distance in which a pair that is turned counts one, and one that is tied on one side a half."""
    return sum(
        abs(int(np.sign(before[i] - before[j])) - int(np.sign(after[i] - after[j])))
        for i, j in combinations(range(len(before)), 2)
    )


def setting(profile, theta, rule, change):
    """Votes as brute force takes them, the tiers, and what pairs prove."""
    rows, weights = PROFILES[profile]
    votes = hr.Votes.from_ranks(rows, weights)
    before = tuple(hr.Robust(hr.kemeny, theta, merge=rule)(votes).ranking.ranks.tolist())
    checker = Exactly(votes, hr.Robust(hr.kemeny, theta, merge=rule))
    ballots = [tuple(row) for row in votes.ranks.tolist()], [int(weight) for weight in votes.weights]
    return votes, before, checker.borders(before, change), ballots, checker.exact.unit


@pytest.mark.parametrize("change", list(hr.Change))
def test_no_few_ballots_do_what_pairs_exclude(change):
    met = tight = 0
    for profile in PROFILES:
        for theta, rule in ((0.1, "downward"), (0.0, "naive"), (0.3, "downward")):
            votes, before, borders, ballots, unit = setting(profile, theta, rule, change)
            goals = all_goals(3)
            least = oracles.fewest_ballots(
                *ballots, votes.unlisted, change, ("kemeny", theta, rule), before, [goal for goal, _ in goals], MOST
            )
            for by_hand, goal in goals:
                proved = borders.least(goal.aim(hr.Ranking(before), votes.items)) * unit
                few = least[by_hand][0]
                assert few is None or proved <= few, (profile, theta, rule, by_hand, proved)
                met += bool(few)
                tight += bool(few) and math.ceil(proved) == few
    assert met > 60
    assert tight > met / 4  # a bound of nothing would pass all of that


@pytest.mark.parametrize("change", list(hr.Change))
def test_no_few_ballots_move_tiers_by_more_half_pairs(change):
    met = tight = 0
    for profile in PROFILES:
        for theta in (0.0, 0.1, 0.3):
            votes, before, borders, ballots, unit = setting(profile, theta, "downward", change)
            farthest = {}
            for size in range(1, MOST):
                kinds = oracles.outcomes(
                    ("kemeny", theta, "downward"), oracles.attacks(*ballots, votes.unlisted, change, size), 3
                )
                far = max((half_pairs(before, after) for kind in kinds for after in kind), default=0)
                farthest |= {step: size for step in range(1, far + 1) if step not in farthest}
            for step, size in farthest.items():
                aim = Distance(step / 6, "hausdorff_half").aim(hr.Ranking(before), votes.items)
                proved = borders.least(aim) * unit
                assert proved <= size, (profile, theta, step, proved)
                met += 1
                tight += math.ceil(proved) == size
    assert met > 15
    assert tight > met / 4


def by_hand(weights, theta, change):
    """Borders of a > b by so many votes of so many."""
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=weights)
    ranks = tuple(hr.Robust(hr.kemeny, theta)(votes).ranking.ranks.tolist())
    return Borders(Exactly(votes, hr.kemeny).exact, ranks, theta, change), hr.Ranking(ranks)


@pytest.mark.parametrize(
    ("change", "ties", "turns"), [(hr.Change.REPLACE, 2, 3), (hr.Change.DROP, 4 / 0.9, 6), (hr.Change.ADD, 4 / 1.1, 6)]
)
def test_prices_of_one_pair_are_those_of_arithmetic(change, ties, turns):
    """Of 20 votes 13 are for a. This lead of 6 may be 2, a tenth of the votes, before it is within the threshold.

    A vote for another moves it by 2. A vote that is dropped, or added, moves it by 1, and what it may be by a tenth.
    """
    borders, before = by_hand([13, 7], 0.05, change)
    close = 1e-6  # what rounding costs
    assert float(borders.least(NewWinner().aim(before, "ab"))) == pytest.approx(ties, abs=close)
    assert float(borders.least(Above("b", "a").aim(before, "ab"))) == pytest.approx(turns, abs=close)
    # What holds already costs nothing, and of another distance nothing is known.
    assert borders.least(Above("a", "b").aim(before, "ab")) == 0
    assert borders.least(Wins("a").aim(before, "ab")) == 0
    assert borders.least(Leaves("b", 1).aim(before, "ab")) == 0
    assert borders.least(Distance(1.0, "footrule").aim(before, "ab")) == 0


def test_one_tier_splits_where_a_pair_gets_out_of_the_threshold():
    """Of 20 votes 11 are for a. This lead of 2 is beyond the threshold from 4 on, and one vote moves it by 2."""
    borders, before = by_hand([11, 9], 0.1, hr.Change.REPLACE)
    assert before.ranks.tolist() == [1, 1]
    assert float(borders.least(Above("a", "b").aim(before, "ab"))) == pytest.approx(1, abs=1e-6)
    assert float(borders.least(TopSet(1).aim(before, "ab"))) == pytest.approx(1, abs=1e-6)
    assert float(borders.least(Distance(0.5, "hausdorff_half").aim(before, "ab"))) == pytest.approx(1, abs=1e-6)
    assert borders.least(Distance(1.0, "hausdorff_half").aim(before, "ab")) == math.inf  # one pair cannot be turned
    assert borders.least(Distance(1.0).aim(before, "ab")) == math.inf


def test_chains_are_the_least_of_the_largest_steps():
    rng = np.random.default_rng(5)
    for n in (2, 3, 6):
        level = [[inf if k == 7 else Fraction(int(k), 3) for k in row] for row in rng.integers(0, 8, (n, n))]
        for i in range(n):
            level[i][i] = Fraction(0)
        found = _by_chains(level)
        for b, a in product(range(n), repeat=2):
            middles = [c for c in range(n) if c not in (a, b)]
            chains = [(b, *between, a) for size in range(len(middles) + 1) for between in permutations(middles, size)]
            assert found[b][a] == min(max(level[x][y] for x, y in pairwise(chain)) for chain in chains)
