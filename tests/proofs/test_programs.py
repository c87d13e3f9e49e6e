"""Whatever a rule reports for some votes, its program reports for them too: no case that holds is left out."""

from __future__ import annotations

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.plans import adds_battles
from holdrank.proofs.bounds import Ground, battles, rankings
from holdrank.proofs.exact import ExactVotes
from holdrank.proofs.programs import program
from holdrank.proofs.search import _replayed

import oracles
from strategies import KINDS, random_ranks, unlisted_rule


def outcomes_of(ground, after, base, theta, merge):
    """All rankings that the program ends with, if it follows every case whose conditions these votes satisfy."""
    reported, open_answers = set(), [()]
    while open_answers:
        answers = open_answers.pop()
        question, outcomes, _, _ = _replayed(program(ground, base, theta, merge), answers)
        if outcomes is not None:
            reported |= set(outcomes)
            continue
        windows = len({outcome for case in question for outcome in case.possible}) == 1  # which one makes no difference
        for number, case in enumerate(question):
            best = case.median is None or is_median(ground, after, *case.median)
            if best and all(int(sum(row.astype(object) * after)) >= 0 for row in case.rows):
                open_answers.append((*answers, number))
                if windows:
                    break
    return reported


def is_median(ground, after, distance, order):
    rule = {"kendall": "kemeny", "footrule": "footrule"}[distance]
    chosen = [(kind, weight) for kind, weight in zip(ground.kinds, after, strict=True) if weight]
    unlisted = "observed" if ground.votes.observed else "bottom"
    sums = oracles.sums_of([kind for kind, _ in chosen], [weight for _, weight in chosen], unlisted)
    return oracles.medians(rule, sums[None], len(order))[0, ground.orders.index(order)]


@pytest.mark.slow
@pytest.mark.parametrize("merge", ["naive", "downward"])
@pytest.mark.parametrize("base", ["kemeny", "borda", "footrule"])
def test_a_program_covers_what_the_rule_reports(base, merge):
    rng = np.random.default_rng([77, len(base), len(merge)])
    several = alike = 0
    for number in range(60):
        kind, n = KINDS[number % len(KINDS)], 4 if number % 6 == 5 else 3
        table = random_ranks(rng, kind, n, int(rng.integers(2, 6)))
        if not table or (base == "footrule" and kind in ("observed", "battles")):
            continue
        votes = hr.Votes.from_ranks(np.array(table), unlisted=unlisted_rule(kind))
        added = battles(n) if adds_battles(votes) else rankings(n)
        ground = Ground(ExactVotes.of(votes), hr.Change.REPLACE, added)
        # Few weights, or large ones: equal deviations, and deviations of different voters that hardly differ.
        most = (2, 4, 40, 100_000)[number % 4]
        after = rng.integers(0, most, len(ground.kinds)) * (rng.random(len(ground.kinds)) < 0.6)
        if not after.any():
            continue
        kinds, weights = zip(*((k, int(w)) for k, w in zip(ground.kinds, after, strict=True) if w), strict=True)
        sums = oracles.sums_of(kinds, weights, votes.unlisted)[None]
        theta = (0.05, 0.15, 0.3)[number % 3]
        (reported,) = oracles.outcomes((base, theta, merge), sums, n)
        covered = outcomes_of(ground, after.astype(object), base, theta, merge)
        assert reported <= covered, (kinds, weights, votes.unlisted, theta)
        alike += reported == covered
        several += any(len(set(ranks)) < n for ranks in reported)
    assert several > 10
    assert alike > 20  # and not just anything is covered


def test_deviations_of_different_voters_are_compared():
    """1 beats 2 by two of three, 2 beats 3 by four of seven: Naive Merge at 0.2 joins the closer pair, and ends."""
    kinds = [(1, 2, 0), (2, 1, 0), (0, 1, 2), (0, 2, 1), (1, 0, 2)]
    votes = hr.Votes.from_ranks(np.array(kinds), [2, 1, 4, 3, 5], unlisted="observed")
    ground = Ground(ExactVotes.of(votes), hr.Change.ADD, battles(3))
    present = np.array([*ExactVotes.of(votes).weights, *[0] * 6], dtype=object)
    assert outcomes_of(ground, present, "borda", 0.2, "naive") == {(1, 2, 2)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ballots", "weights", "unlisted"),
    [
        # Attacks are cheapest where all deviations vanish: there, no matter how small a window, others are as good.
        ([(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0)], [1, 1, 1, 1], "observed"),
        # All pairs stay close, in whichever order they are joined.
        ([(1, 1, 1, 1), (4, 1, 2, 3), (2, 1, 1, 2), (3, 4, 1, 2)], [22539, 27, 11, 3], "bottom"),
    ],
)
def test_added_votes_are_proved_where_many_answers_are_alike(ballots, weights, unlisted):
    votes = hr.Votes.from_ranks(np.array(ballots), weights, unlisted=unlisted)
    statistic = hr.Robust(hr.borda, 0.15, merge="naive")
    for goal in (hr.NewWinner(), hr.TopSet(1), hr.Distance(1 / 3), hr.Above("1", "2")):
        verdict = hr.verify(votes, statistic, hr.attack(votes, statistic, goal, change="add"))
        assert verdict.proved, (goal, [check for check in verdict.checks if check.finding != "proved"])
