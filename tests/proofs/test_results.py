"""Results with one statement forged, quick ones; and the parts of proofs against what they mean."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.goals import Aim
from holdrank.proofs import exact, ratings
from holdrank.proofs.bounds import Ground, rankings
from holdrank.proofs.exact import ExactVotes
from holdrank.proofs.programs import program
from holdrank.proofs.search import proves
from holdrank.proofs.statistics import Exactly
from holdrank.proofs.strengths import RIDGE
from holdrank.status import Status
from holdrank.words.ratings import NO_RATINGS

import oracles

VOTES = hr.Votes.from_orders([list("abc"), list("bac"), list("cab")], weights=[60, 40, 11])
TIERS = hr.Robust(hr.kemeny, 0.1)


@pytest.fixture(scope="module")
def found():
    return hr.attack(VOTES, hr.kemeny, hr.NewWinner())


def notes(votes, T, result, finding="refuted"):
    return [check.note for check in hr.verify(votes, T, result).checks if check.finding == finding]


def forged(result, **parts):
    return dataclasses.replace(result, **({"_memo": {}} if hasattr(result, "_memo") else {}), **parts)


# Attacks


def test_a_result_of_another_statistic_is_refuted(found):
    assert "it is compared with borda" in notes(VOTES, hr.borda, found)


def test_an_attack_on_other_votes_is_refuted(found):
    other = VOTES.with_weights([60, 40, 12])
    assert notes(VOTES, hr.kemeny, forged(found, original=other)) == ["it is on different votes"]


def test_a_consensus_after_no_attack_is_refuted(found):
    assert "there is no attack" in notes(VOTES, hr.kemeny, forged(found, plan=None))


def test_ballots_of_other_votes_are_refuted(found):
    for part in ({"removed": found.plan.removed[:2]}, {"ranks": found.plan.ranks[:, :2]}):
        plan = dataclasses.replace(found.plan, **part)
        assert "its ballots do not match the votes" in notes(
            VOTES, hr.kemeny, forged(found, plan=None, after=None, verified=False, whole_plan=plan)
        )


def test_dropping_all_votes_is_refuted():
    found = hr.attack(VOTES, hr.kemeny, hr.NewWinner(), change="drop")
    plan = dataclasses.replace(found.whole_plan, removed=VOTES.weights.copy())
    said = notes(VOTES, hr.kemeny, forged(found, whole_plan=plan, votes_sufficient=111.0, votes_to_decide=111.0))
    assert "it leaves no votes" in said


def test_a_bound_a_hair_too_high_is_neither_proved_nor_refuted(found):
    """An example must be clear of rounding, by 1e-7 of the votes; what is nearer to the truth stays open."""
    near = forged(found, lower=found.lower + 5e-8, upper=found.upper + 5e-8)
    assert any(
        "the best bound for b > a > c is that it takes 14 %" in note for note in notes(VOTES, hr.kemeny, near, "open")
    )
    far = forged(found, lower=found.lower + 1e-5, upper=found.upper + 1e-5)
    assert "b > a > c takes 14 %" in notes(VOTES, hr.kemeny, far)


def test_a_search_without_steps_proves_nothing():
    whole = ExactVotes.of(VOTES)
    ground = Ground(whole, hr.Change.REPLACE, rankings(3))

    def demand(outcome):
        return Fraction(10) if outcome[0] > 1 else Fraction(0)  # 15.5 votes are needed for another winner

    assert proves(ground, lambda: program(ground, "kemeny", None, ""), demand).complete
    stopped = proves(ground, lambda: program(ground, "kemeny", None, ""), demand, most=0)
    assert (stopped.complete, stopped.cases, stopped.gaps) == (False, 1, [])


# Consensus


def test_a_consensus_of_other_items_is_refuted():
    other = forged(hr.kemeny(VOTES), items=("a", "b", "x"))
    assert notes(VOTES, hr.kemeny, other) == ["it ranks different items"]


def test_another_ranking_with_its_own_loss_is_refuted():
    """60 votes are against one of three pairs of b > a > c, 11 against all."""
    wrong = forged(hr.kemeny(VOTES), ranking=hr.Ranking([2, 1, 3]), loss=(60 + 3 * 11) / (3 * 111))
    assert notes(VOTES, hr.kemeny, wrong) == ["a > b > c is better"]


def test_what_was_not_proved_stays_open():
    for T in (hr.kemeny, TIERS):
        unsure = forged(T(VOTES), status=Status.TIME_LIMIT)
        said = notes(VOTES, T, unsure, "open")
        assert said == ["it was not proven optimal, so its bound is only a lower bound"]
    many = hr.Votes.from_orders([[str(k) for k in range(17)]])
    for T in (hr.footrule, TIERS):
        assert notes(many, T, T(many), "open") == ["more than 16 items"]


def test_a_curve_without_distances_says_nothing_but_its_consensus():
    one = hr.Votes.from_orders([["a"]])
    curve = hr.breakdown(one, hr.kemeny)
    assert len(curve.delta) == 0
    assert hr.verify(one, hr.kemeny, curve).proved
    assert hr.verify(one, hr.kemeny, forged(curve, total=2.0)).refuted


# Statistics in whole numbers


def test_the_units_of_one_ballot_need_scores_that_are_decimals():
    """Half points from 0 to 3: one ballot moves a lead by six of them at most."""
    halves = hr.Votes.from_score_rows([[3.0, 0.5, 1.0], [0.0, 2.5, 1.0]])
    assert Exactly(halves, hr.mean_score).one_ballot == 6
    fine = hr.Votes.from_score_rows([[2.0**-20, 0.5, 1.0], [0.0, 2.5, 1.0]])  # has twenty decimals
    assert Exactly(fine, hr.mean_score).base == "mean-score"
    assert Exactly(fine, hr.mean_score).one_ballot is None


def test_scores_are_decimals_where_those_are_short():
    assert exact.scores_as_written([[0.1, 2.0]]) == [[Fraction(1, 10), Fraction(2)]]
    assert exact.scores_as_written([[1 / 3, 2.0]]) == [[Fraction(1 / 3), Fraction(2)]]
    large = 1234567890123.4  # with the twelve decimals of the other one it has more digits than floats tell apart
    assert exact.scores_as_written([[large, 1e-12]]) == [[Fraction(large), Fraction(1e-12)]]


def test_places_that_a_ballot_does_not_tell_are_not_known():
    assert exact.doubled_places((1, 0, 2), observed=True) is None
    assert exact.doubled_places((1, 0, 2), observed=False) == [2, 6, 4]
    assert exact.doubled_places((1, 2, 2), observed=True) == [2, 5, 5]


@pytest.mark.parametrize("unlisted", ["bottom", "observed"])
def test_dropping_votes_puts_nobody_ahead_whom_no_ballot_puts_ahead(unlisted):
    rows = [[1, 2, 3], [1, 2, 0], [0, 1, 2]] if unlisted == "observed" else [[1, 2, 3], [1, 3, 2]]
    votes = hr.Votes.from_ranks(rows, items=list("abc"), unlisted=unlisted)
    checker, before = Exactly(votes, hr.borda), hr.Ranking([1, 2, 3])

    def never(goal):
        return checker.never_ahead(goal.aim(before, votes.items))

    points = [[sum((a or 9) < (b or 9) for b in row) for a in row] for row in rows]
    if unlisted == "observed":  # what a ballot compares: wins among those it lists
        points = [[sum(0 < a < b for b in row) for a in row] for row in rows]
    for upper, lower in (("b", "a"), ("c", "a"), ("c", "b"), ("b", "c")):
        i, j = votes.items.index(upper), votes.items.index(lower)
        assert never(hr.Above(upper, lower)) == all(row[i] <= row[j] for row in points), (upper, lower)
    assert never(hr.Enters("c", 2)) == all(row[2] <= min(row[:2]) for row in points)
    assert not never(hr.Wins("c"))  # whom it must pass is not one pair
    assert not never(hr.Leaves("a", 1))
    assert not Exactly(votes, hr.kemeny).never_ahead(hr.Above("b", "a").aim(before, votes.items))


def test_the_consensus_of_eight_items_is_the_order_of_all_ballots():
    names = [str(k) for k in range(8)]
    votes = hr.Votes.from_orders([names[::-1]], items=names)
    for T in (hr.kemeny, hr.borda, hr.Robust(hr.kemeny, 0.1)):
        assert Exactly(votes, T).consensus() == tuple(range(8, 0, -1))


# Battles


BATTLES = hr.Votes.from_ranks([[1, 2, 0], [2, 1, 0], [0, 1, 2], [1, 0, 2]], [3, 1, 4, 4], unlisted="observed")


def races():
    fit = Exactly(BATTLES, hr.bradley_terry)
    assert fit.races is not None
    return fit.races


def test_no_number_of_battles_does_what_no_ranking_does():
    before = hr.bradley_terry(BATTLES).ranking
    held = races()
    nothing = Aim(hr.NewWinner(), before)
    assert held.fails(nothing, math.inf, hr.Change.REPLACE, whole=False)
    aim = hr.NewWinner().aim(before, BATTLES.items)
    assert held.fails(aim, -1.0, hr.Change.REPLACE, whole=False)
    assert held.fails(aim, 0.0, hr.Change.REPLACE, whole=False)
    assert not held.fails(aim, math.inf, hr.Change.REPLACE, whole=False)
    assert not held.fails(aim, BATTLES.total, hr.Change.DROP, whole=True)  # none would be left
    assert not held.fails(aim, BATTLES.total, hr.Change.REPLACE, whole=True)  # more than it tries


def test_what_is_so_already_takes_no_battles():
    before = hr.bradley_terry(BATTLES).ranking
    assert before.ranks.tolist() == [1, 2, 3]
    held = races()
    for goal in (hr.Wins("0"), hr.Above("0", "2"), hr.Leaves("2", 2), hr.Enters("1", 2), hr.Distance(0.0)):
        assert not held.fails(goal.aim(before, BATTLES.items), 0.0, hr.Change.REPLACE, whole=False), goal


def test_a_tie_takes_fewer_battles_than_a_turn():
    """Each wins 3 of 4 against those after it: one battle for another makes the first two equal, two turn them."""
    rows = [[1, 2, 0], [2, 1, 0], [1, 0, 2], [2, 0, 1], [0, 1, 2], [0, 2, 1]]
    votes = hr.Votes.from_ranks(rows, [3, 1] * 3, unlisted="observed")
    found = hr.attack(votes, hr.bradley_terry, hr.NewWinner())
    amounts = (found.votes_needed, found.votes_to_tie, found.votes_to_decide, found.votes_sufficient)
    assert amounts == (1, 1, 2, 2)
    outright = [check for check in hr.verify(votes, hr.bradley_terry, found).checks if "outright" in check.claim]
    assert [check.finding for check in outright] == ["proved"]
    more = forged(found, votes_to_decide=3.0, votes_sufficient=3.0)
    outright = [check for check in hr.verify(votes, hr.bradley_terry, more).checks if "outright" in check.claim]
    assert [check.finding for check in outright] == ["open"]


# Tiers of ballots that compare different pairs


@pytest.mark.parametrize(
    ("weights", "theta", "merge"), [((3, 4, 3, 1, 4), 0.2, "downward"), ((4, 5, 4, 2, 2), 0.3, "naive")]
)
@pytest.mark.slow
@pytest.mark.traced
def test_deviations_that_different_voters_make_are_compared_too(weights, theta, merge):
    """Which of two quotients is larger no single condition says; the proof narrows them down."""
    rows = [[1, 2, 0], [0, 1, 2], [2, 0, 1], [1, 2, 3], [2, 1, 3]]
    votes, T = hr.Votes.from_ranks(rows, weights, unlisted="observed"), hr.Robust(hr.borda, theta, merge=merge)
    found = hr.attack(votes, T, hr.NewWinner())
    before = tuple(found.before.ranking.ranks.tolist())
    assert before == (2, 1, 2)
    goal = ("new winner",)
    ballots = [tuple(row) for row in votes.ranks.tolist()], [int(weight) for weight in votes.weights]
    fewest = oracles.fewest_ballots(*ballots, "observed", "replace", ("borda", theta, merge), before, [goal], 2)
    assert found.votes_needed == fewest[goal][0]
    assert hr.verify(votes, T, found).proved
    lower = found.lower + 0.01
    assert hr.verify(votes, T, forged(found, lower=lower, upper=lower)).refuted


# Ratings


def test_ratings_of_two_items_are_those_of_arithmetic():
    """3 wins to 1: odds of 3, and the variance of their logarithm is 1/3 + 1; half of it for each."""
    votes = hr.Votes.from_ranks([[1, 2], [2, 1]], [3, 1], unlisted="observed")
    fit = ratings.refitted(votes, [0, 1], RIDGE)
    assert fit.strengths == pytest.approx([math.log(3) / 2, -math.log(3) / 2])
    assert fit.errors == pytest.approx([math.sqrt(4 / 3) / 2] * 2)
    assert fit.comparisons.tolist() == [4, 4]
    assert fit.notes == ()
    turned = ratings.refitted(votes, [1, 0], RIDGE)
    assert len(turned.notes) == 1  # that another order follows from these strengths


def test_items_that_never_lose_have_no_ratings():
    votes = hr.Votes.from_ranks([[1, 2, 0], [0, 1, 2]], unlisted="observed")
    fit = ratings.refitted(votes, [0, 1, 2], RIDGE)
    assert np.isnan(fit.strengths).all()
    assert np.isnan(fit.errors).all()
    assert fit.notes == (NO_RATINGS,)
    assert ratings._fit(np.zeros((2, 2))) is None  # nothing determines strengths


def test_too_many_ballots_are_not_fitted_again(monkeypatch):
    assert ratings.refitted(BATTLES, [0, 1, 2], RIDGE) is not None
    monkeypatch.setattr(ratings, "_MOST_WORK", 3)
    assert ratings.refitted(BATTLES, [0, 1, 2], RIDGE) is None


def test_orders_on_the_border_of_equality_are_not_decided():
    """Two items that differ by 1e-8, up to which strengths count as equal, may or may not be in another order."""
    many = 2 * 10**8
    votes = hr.Votes.from_ranks([[1, 2], [2, 1]], [many + 2, many], unlisted="observed")
    assert ratings.refitted(votes, [1, 0], RIDGE) is None
    clear = hr.Votes.from_ranks([[1, 2], [2, 1]], [many + 20, many], unlisted="observed")
    assert len(ratings.refitted(clear, [1, 0], RIDGE).notes) == 1
