"""An adversary that tries every change of a few whole ballots must not find one that a certified bound rules out."""

from __future__ import annotations

import math
import os
from fractions import Fraction

import numpy as np
import pytest

import holdrank as hr

import oracles
from strategies import KINDS, heavy_ballots, random_ranks, unlisted_rule

PROFILES = int(os.environ.get("HOLDRANK_PROFILES", "12"))  # all kinds twice, of merges once; a long run takes 300

STATISTICS = {
    "kemeny": (hr.kemeny, "kemeny"),
    "borda": (hr.borda, "borda"),
    "footrule": (hr.footrule, "footrule"),
    "copeland": (hr.copeland, "copeland"),
    "bradley_terry": (hr.bradley_terry, "borda"),  # the same where all ballots compare all pairs
    "downward": (hr.Robust(hr.kemeny, 0.1, merge="downward"), ("kemeny", 0.1, "downward")),
    "naive": (hr.Robust(hr.borda, 0.15, merge="naive"), ("borda", 0.15, "naive")),
}


def a_profile(rng, kind, n):
    """Ballots, weights and the rule for unlisted items; near enough to a tie for three ballots to matter."""
    if kind == "heavy":
        return *heavy_ballots(rng, n), "bottom"
    size = int(rng.integers(3, 13 if n == 3 else 9))
    ballots = [tuple(hr.Votes.from_ranks([ranks]).ranks[0].tolist()) for ranks in random_ranks(rng, kind, n, size)]
    if not ballots:
        return a_profile(rng, kind, n)
    distinct = sorted(set(ballots))
    return distinct, [ballots.count(b) for b in distinct], unlisted_rule(kind)


def some_goals(rng, n):
    """Goals for holdrank and for the oracle, items by number."""
    x, y = (int(i) for i in rng.choice(n, 2, replace=False))
    k = int(rng.integers(1, n))
    pairs = n * (n - 1) // 2
    far = [(hr.Distance(d / pairs), ("distance", d)) for d in range(1, pairs + 1)]
    return [
        (hr.NewWinner(), ("new winner",)),
        (hr.Wins(str(x)), ("wins", x)),
        (hr.Above(str(x), str(y)), ("above", x, y)),
        (hr.TopSet(k), ("top set", k)),
        (hr.Enters(str(x), k), ("enters", x, k)),
        (hr.Leaves(str(y), k), ("leaves", y, k)),
        *(far if n == 3 else [far[int(rng.integers(len(far)))]]),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("change", list(hr.Change))
@pytest.mark.parametrize("name", STATISTICS)
def test_no_change_of_whole_ballots_beats_a_certified_bound(name, change):
    statistic, by_hand = STATISTICS[name]
    rng = np.random.default_rng([2023, list(STATISTICS).index(name), len(change)])
    kinds = [*(KINDS[:3] if name in ("footrule", "bradley_terry") else KINDS), "heavy"]
    reached = 0
    profiles = PROFILES if isinstance(by_hand, str) else math.ceil(PROFILES / 2)  # merges take their time
    for number in range(profiles):
        n = 4 if number % (6 if isinstance(by_hand, str) else 12) == 5 else 3
        kind = kinds[number % len(kinds)]
        most = 3 if n == 3 else 2
        ballots, weights, unlisted = a_profile(rng, kind, n)
        goals = some_goals(rng, n)
        votes = hr.Votes.from_ranks(np.array(ballots), weights, unlisted=unlisted)
        told = f"{statistic.__name__}, {change}, {kind}: {ballots} x {weights}"
        # Without a ballot of three items an attacker adds battles; two items a ballot would be rankings for n = 2.
        battles = unlisted == "observed" and all(sum(r > 0 for r in b) <= 2 for b in ballots)
        found = {exact: hr.attack(votes, statistic, goal, change=change) for goal, exact in goals}
        before = tuple(next(iter(found.values())).before.ranking.ranks.tolist())
        now = oracles.sums_of(ballots, weights, unlisted)[None]
        assert any(before in kind_ for kind_ in oracles.outcomes(by_hand, now, n)), told
        least = oracles.fewest_ballots(
            ballots, weights, unlisted, change, by_hand, before, list(found), most, battles=battles
        )
        for goal, attack in found.items():
            case = f"{told}: {goal}, {attack!r}, brute force {least[goal]}"
            weak, strict = least[goal]
            settled = strict == 0 if isinstance(by_hand, str) else oracles.fulfils(goal, before, before)
            if settled:
                assert (attack.lower, attack.upper, attack.votes_sufficient) == (0, 0, 0), case
                continue
            assert attack.lower <= attack.upper, case
            assert attack.votes_needed <= attack.votes_to_tie <= attack.votes_sufficient, case
            assert attack.votes_needed <= attack.votes_to_decide <= attack.votes_sufficient, case
            if weak is not None:
                reached += 1
                assert attack.lower * votes.total <= weak + 1e-3, case
                assert attack.votes_needed <= weak, case
            if isinstance(by_hand, str):
                assert attack.votes_to_tie > most or weak <= attack.votes_to_tie, case
                assert strict is None or attack.votes_to_decide <= strict, case
            # A merge is judged by what it gives; a median must leave no optimum that misses the goal.
            surely = strict if isinstance(by_hand, str) else weak
            if attack.votes_sufficient <= most:
                assert surely is not None, case
                assert surely <= attack.votes_sufficient, case
            if attack.whole is not None:
                check_whole(attack.whole, ballots, weights, unlisted, change, by_hand, goal, before, case)
    assert reached > 2 * profiles  # otherwise the bounds were never put to the test


@pytest.mark.slow
@pytest.mark.parametrize("change", list(hr.Change))
def test_no_change_of_whole_voters_beats_a_certified_bound_on_mean_scores(change):
    """Voters who rank alike have scores of their own: whoever merges them is beaten here."""
    rng = np.random.default_rng([2024, len(change)])
    reached = 0
    for number in range(PROFILES):
        n = 2 if number % 3 == 0 else 3
        rows = rng.integers(0, (3, 20, 1000)[number % 3], size=(int(rng.integers(3, 8)), n))
        if number % 2:
            rows = np.sort(rows, axis=1)[:, ::-1]  # all rank alike, by scores far apart
            rows[: len(rows) // 2] = rows[: len(rows) // 2, ::-1]
        rows = rows.tolist()
        votes = hr.Votes.from_score_rows(np.array(rows) / (1, 10)[number % 2])
        goals = some_goals(rng, n)
        found = {exact: hr.attack(votes, hr.mean_score, goal, change=change) for goal, exact in goals}
        before = tuple(next(iter(found.values())).before.ranking.ranks.tolist())
        least = oracles.fewest_voters(rows, change, before, list(found), 3 if n == 2 else 2)
        for goal, attack in found.items():
            case = f"{change}: {rows}: {goal}, {attack!r}, brute force {least[goal]}"
            weak, strict = least[goal]
            if oracles.fulfils(goal, before, before):
                continue
            if weak is not None:
                reached += 1
                assert attack.lower * votes.total <= weak + 1e-9, case
                assert attack.votes_needed <= weak, case
            assert strict is None or attack.votes_to_decide <= strict, case
            if goal[0] in ("above", "new winner", "top set") and strict is not None:
                assert (attack.votes_to_tie, attack.votes_sufficient) == (weak, strict), case
            if attack.whole is not None:
                after = attack.whole.votes
                rows_after = [[Fraction(repr(score)) for score in row] for row in after.scores.tolist()]
                sums = [
                    sum(int(w) * row[i] for w, row in zip(after.weights, rows_after, strict=True)) for i in range(n)
                ]
                ranks = tuple(1 + len({s for s in sums if s > mine}) for mine in sums)
                orders = [[p + 1 for p in oracles.inverse(order)] for order in oracles.extensions(ranks)]
                assert all(oracles.fulfils(goal, before, order) for order in orders), case
    assert reached > PROFILES


def check_whole(attack, ballots, weights, unlisted, change, by_hand, goal, before, case):
    """The attack is of whole ballots, does what the attacker may do, and reaches the goal by every optimum.

    For a merge: by one of the optima of its base.
    """
    n = len(before)
    left = dict(zip(ballots, weights, strict=True))
    for ranks, weight in zip(attack.original.ranks.tolist(), attack.plan.removed.tolist(), strict=True):
        left[tuple(ranks)] -= weight
        assert left[tuple(ranks)] >= 0, case
    added = [(tuple(r), w) for r, w in zip(attack.plan.ranks.tolist(), attack.plan.added.tolist(), strict=True) if w]
    taken = float(attack.plan.removed.sum())
    put = sum(weight for _, weight in added)
    assert all(weight == int(weight) for weight in (*left.values(), put)), case
    assert {"replace": taken == put, "drop": put == 0, "add": taken == 0}[change], case
    assert max(taken, put) == attack.votes_sufficient, case
    now = [*left.items(), *added]
    sums = oracles.sums_of([b for b, _ in now], [w for _, w in now], unlisted)[None]
    (kind,) = oracles.outcomes(by_hand, sums, n)
    good = [oracles.fulfils(goal, before, ranks) for ranks in kind]
    assert all(good) if isinstance(by_hand, str) else any(good), case


def test_the_adversary_finds_what_is_known_by_hand():
    # 3 of 5 prefer 0 to 1: replacing one ballot makes it 2 of 5; the first ballot to change decides.
    ballots, weights = [(1, 2, 3), (2, 1, 3)], [3, 2]
    goals = [("above", 1, 0), ("above", 2, 0), ("wins", 1)]
    least = oracles.fewest_ballots(ballots, weights, "bottom", hr.Change.REPLACE, "kemeny", (1, 2, 3), goals, 3)
    assert least == {("above", 1, 0): (1, 1), ("above", 2, 0): (3, 3), ("wins", 1): (1, 1)}
    added = oracles.fewest_ballots(ballots, weights, "bottom", hr.Change.ADD, "kemeny", (1, 2, 3), goals[:1], 3)
    assert added == {("above", 1, 0): (1, 2)}
    dropped = oracles.fewest_ballots(ballots, weights, "bottom", hr.Change.DROP, "kemeny", (1, 2, 3), goals[:2], 3)
    assert dropped == {("above", 1, 0): (1, 2), ("above", 2, 0): (None, None)}


def test_a_bound_that_is_too_high_would_be_found():
    """The comparison itself can fail: a lower bound one ballot too high contradicts brute force."""
    ballots, weights = [(1, 2, 3), (2, 1, 3)], [3, 2]
    weak, _ = oracles.fewest_ballots(
        ballots, weights, "bottom", hr.Change.REPLACE, "kemeny", (1, 2, 3), [("above", 1, 0)], 3
    )[("above", 1, 0)]  # fmt: skip
    a = hr.attack(hr.Votes.from_ranks(np.array(ballots), weights), hr.kemeny, hr.Above("1", "0"))
    assert a.lower * 5 <= weak < a.lower * 5 + 1
    assert math.isfinite(a.upper)
