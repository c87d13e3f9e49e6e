from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from functools import partial

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks import answers
from holdrank.attacks import judge as cases
from holdrank.attacks.plans import Found, Plan, nothing, replacing
from holdrank.attacks.whole import in_whole_votes, votes_needed
from holdrank.status import Clock, Status

import truth_profiles

VOTES = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])


def swap(order, size, votes=VOTES):
    """Replace `size` votes of the first ballot by an order."""
    removed = np.zeros(votes.distinct)
    removed[0] = size
    return Plan(removed, np.array([hr.Ranking.from_order(order).ranks]), np.array([float(size)]))


nothing_found = cases.Engine(lambda _votes, _before, aims, *_: [Found(0.0) for _ in aims], by_search=True)


@pytest.fixture
def proposals(monkeypatch):
    """Put an engine in the place of kemeny's that answers what a test says, and notes what it was asked."""
    asked = []

    def use(find):
        def noting(votes, before, aims, change, clock, _progress):
            asked.append((aims, change))
            return find(votes, before, aims, clock)

        monkeypatch.setattr(answers, "exact_engine", lambda *_: cases.Engine(noting))
        monkeypatch.setattr(cases, "searching", lambda _: nothing_found)  # which would find attacks of its own
        return asked

    return use


# What engines propose is run again.


def test_an_attack_that_does_not_work_is_dropped(proposals):
    proposals(lambda *_: [Found(0.05, 0.05, swap((1, 0, 2), 5))])  # 55 to 45 is not enough
    found = hr.attack(VOTES, hr.kemeny, hr.Above("b", "a"))
    assert (found.lower, found.upper, found.verified, found.votes) == (0.05, math.inf, False, None)
    assert found.removed == found.added == []
    assert found.whole is None
    assert found.status is Status.BETWEEN


def test_an_attack_that_reaches_the_goal_by_one_of_several_optima_is_dropped(proposals):
    proposals(lambda *_: [Found(0.1, 0.1, swap((1, 0, 2), 10))])  # 50 to 50
    assert not hr.attack(VOTES, hr.kemeny, hr.Above("b", "a")).verified


def test_several_optima_are_enough_if_all_reach_the_goal(proposals):
    votes = hr.Votes.from_orders([["a", "b", "c"]], weights=[10])
    plan = Plan(np.array([6.0]), np.array([[2, 3, 1], [3, 2, 1]]), np.array([1.0, 5.0]))
    proposals(lambda *_: [Found(0.5, 0.6, plan)])
    found = hr.attack(votes, hr.kemeny, hr.Wins("c"))  # c > a > b and c > b > a are both optimal
    assert hr.kemeny(found.votes).unique is False
    assert found.verified
    assert not hr.attack(votes, hr.kemeny, hr.Distance(1.0)).verified


def test_an_attack_that_costs_more_than_it_says_is_charged_in_full(proposals):
    proposals(lambda *_: [Found(0.1, 0.1, swap((1, 0, 2), 20))])
    # Not the tenth that is claimed: whole votes are tried from there on, and 11 of 100 are the first that work.
    assert hr.attack(VOTES, hr.kemeny, hr.Above("b", "a")).upper == 0.11
    shares = VOTES.with_weights(VOTES.weights / 100)
    proposals(lambda *_: [Found(0.1, 0.1, swap((1, 0, 2), 0.2))])
    assert hr.attack(shares, hr.kemeny, hr.Above("b", "a")).upper == pytest.approx(0.2)


def test_an_attack_that_leaves_nothing_is_no_attack(proposals):
    proposals(lambda votes, *_: [Found(0.5, 1.0, Plan(votes.weights, np.zeros((0, 3), int), np.zeros(0)))])
    assert not hr.attack(VOTES, hr.kemeny, hr.Above("b", "a"), change="drop").verified


@pytest.mark.parametrize(
    ("change", "removed", "added"),
    [
        (hr.Change.REPLACE, 30, 20),
        (hr.Change.REPLACE, 20, 30),
        (hr.Change.DROP, 20, 20),
        (hr.Change.ADD, 20, 20),
        (hr.Change.REPLACE, 61, 61),
    ],
)
def test_an_attack_that_the_attacker_may_not_do_is_dropped(change, removed, added, proposals):
    plan = Plan(np.array([removed, 0.0]), np.array([[2, 1, 3]]), np.array([float(added)]))
    proposals(lambda *_: [Found(0.1, 0.7, plan)])
    assert not hr.attack(VOTES, hr.kemeny, hr.Above("b", "a"), change=change).verified


@pytest.mark.parametrize("counted", [True, False])
def test_rounded_weights_of_an_attack_still_balance(counted):
    """Thousands of ballots are removed in part; what an attacker may do is checked to 1e-9 of the votes."""
    rng = np.random.default_rng(3)
    ranks = np.argsort(rng.random((6000, 9)), axis=1) + 1
    weights = rng.integers(1, 9, size=6000)
    votes = hr.Votes.from_ranks(ranks, weights if counted else weights / 7)
    removed = votes.weights * rng.random(votes.distinct) * 1.2
    plan = replacing(votes, removed, [range(1, 10)], np.array([np.minimum(removed, votes.weights).sum()]))
    assert (plan.removed <= votes.weights).all()
    assert plan.removed.sum() == pytest.approx(plan.added.sum(), rel=1e-9)
    assert np.abs(plan.removed - np.minimum(removed, votes.weights)).max() < 1e-12 * votes.total


def test_whole_votes_of_an_attack_stay_whole_no_matter_how_many_votes_there_are():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[2**45 + 1, 3])
    plan = replacing(votes, np.array([5.0, 3.0]), [[1, 2]], np.array([8.0]))
    assert plan.removed.tolist() == [5, 3]
    assert plan.added.tolist() == [8]
    assert plan.applied(votes).total == votes.total


def test_an_answer_cut_short_is_searched_for_as_one_without_an_attack_would_be(monkeypatch):
    monkeypatch.setattr(cases, "_FOR_CHECKS", 1.0)  # all time is kept for checks: the engine has none
    monkeypatch.setattr(cases, "_LONG_CHECKS", math.inf)
    dear = cases.Engine(lambda _votes, _before, aims, *_: [Found(0.05, 0.5, swap([1, 0, 2], 50)) for _ in aims])
    monkeypatch.setattr(answers, "exact_engine", lambda *_: dear)
    found = hr.attack(VOTES, hr.kemeny, hr.Above("b", "a"), time_limit=600)
    assert found.lower == 0.05
    assert found.upper <= 0.11  # 10 of 100 votes tie the two, 11 decide
    assert not found.exact


def test_doing_nothing_is_no_attack_on_what_does_not_hold(proposals):
    proposals(lambda votes, *_: [Found(0.0, 0.0, nothing(votes))])
    found = hr.attack(VOTES, hr.kemeny, hr.Above("b", "a"))
    assert (found.verified, found.upper) == (False, math.inf)


def test_bounds_that_differ_by_rounding_are_one_number(proposals):
    proposals(lambda *_: [Found(0.1 - 5e-10, 0.1, swap((1, 0, 2), 10 + 1e-5))])
    found = hr.attack(VOTES, hr.kemeny, hr.Above("b", "a"))
    assert found.lower == found.upper == 0.1 - 5e-10  # what is proved, not what was found
    assert found.exact
    assert found.status is Status.LEAST


# Curves.


def test_no_bound_is_minus_zero(proposals):
    even = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[50, 50])
    proposals(lambda *_: [Found(-0.0, -0.0, swap((1, 0, 2), 1e-5, even))])
    found = hr.attack(even, hr.kemeny, hr.Above("b", "a"))
    assert found.exact
    assert [math.copysign(1, bound) for bound in (found.lower, found.upper)] == [1, 1]
    curve = hr.breakdown(even, hr.kemeny, [1 / 3])
    assert not np.signbit([curve.lower, curve.upper]).any()


def test_a_farther_attack_serves_nearer_and_a_nearer_bound_holds_farther(proposals):
    far = swap((2, 1, 0), 60)
    asked = proposals(
        lambda *_: [Found(0.1, 0.1, swap((1, 0, 2), 1)), Found(0.5, 0.6, far), Found(0.2, 0.61, swap((0, 1, 2), 1))]
    )
    b = hr.breakdown(VOTES)
    assert [aim.flips for aim in asked[0][0]] == [1, 2, 3]
    assert b.lower.tolist() == [0.1, 0.5, 0.5]
    assert b.upper.tolist() == [0.11, 0.51, math.inf]  # of the same kind, but no more votes than it takes
    assert [a is None for a in b.attacks] == [False, False, True]
    assert all((a.plan.ranks == far.ranks).all() for a in b.attacks[:2])
    assert b.attacks[0].goal == hr.Distance(1 / 3)
    assert b.exact.tolist() == [False] * 3
    assert b.votes_sufficient.tolist()[2] == math.inf
    assert b.votes_needed.tolist() == [10, 50, 50]


def test_distances_may_come_in_any_order_and_between_the_attainable_ones(proposals):
    asked = proposals(lambda _votes, _before, aims, _clock: [Found(aim.flips / 10) for aim in aims])
    b = hr.breakdown(VOTES, deltas=[0.9, 0.0, 0.3, 1.0, 0.25, 2 / 3])
    assert [aim.flips for aim in asked[0][0]] == [1, 2, 3]
    assert b.delta.tolist() == [0.9, 0.0, 0.3, 1.0, 0.25, 2 / 3]
    assert b.lower.tolist() == [0.3, 0.0, 0.1, 0.3, 0.1, 0.2]
    assert b.upper[1] == 0
    assert b.attacks[1].votes == VOTES


def test_goals_that_hold_already_or_never_do_not_reach_the_engine(proposals):
    asked = proposals(lambda *_: pytest.fail("asked"))
    assert hr.attack(VOTES, hr.kemeny, hr.Wins("a")).upper == 0
    assert (
        hr.attack(VOTES, hr.kemeny, hr.Wins("a")).text()
        == "No vote needs to change to make a win: this is already the case."
    )
    tied = hr.Robust(hr.kemeny, 0.5)
    never = hr.attack(VOTES, tied, hr.NewWinner())
    assert (never.lower, never.upper, never.votes_needed) == (math.inf,) * 3
    assert never.status is Status.OUT_OF_REACH
    assert "No number of replaced votes can " in never.text()
    curve = hr.breakdown(VOTES, tied)
    assert curve.lower.tolist() == [math.inf] * 3
    assert curve.status is Status.OUT_OF_REACH
    assert asked == []


def test_one_item_has_no_distances():
    b = hr.breakdown(hr.Votes.from_orders([["a"]]))
    assert len(b.delta) == 0
    assert repr(b) == "Breakdown(kemeny: no distances)"


# Time.


def test_what_is_known_comes_back_with_the_reason(proposals):
    proposals(lambda *_: [Found(0.05)])
    found = hr.attack(VOTES, hr.kemeny, hr.Above("b", "a"), time_limit=0)
    assert (found.lower, found.upper, found.votes_needed, found.votes_sufficient) == (0.05, math.inf, 5, math.inf)
    assert found.status is Status.BETWEEN_TIME_LIMIT
    assert found.text() == ("At least 6 of 100 votes must change to put b above a (6 %, proven); no attack found.")

    def interrupted(_votes, _before, _aims, clock):
        clock.interrupted = True
        return [Found(0.05)]

    proposals(interrupted)
    assert hr.attack(VOTES, hr.kemeny, hr.Above("b", "a")).status is Status.BETWEEN_INTERRUPTED


def test_a_consensus_that_is_not_known_is_not_attacked(proposals):
    proposals(lambda *_: pytest.fail("asked"))
    rng = np.random.default_rng(0)
    hard = hr.Votes.from_ranks(np.array([rng.permutation(60) + 1 for _ in range(51)]))
    b = hr.breakdown(hard, deltas=[0.1], time_limit=0)
    assert (b.lower.tolist(), b.upper.tolist()) == ([0], [math.inf])
    assert b.status is Status.BETWEEN_TIME_LIMIT
    assert "not proven optimal within the time limit" in b.notes[0]


# Whole votes.


@pytest.mark.parametrize(
    ("lower", "total", "votes"),
    [(0.0, 100, 0), (0.07, 100, 7), (0.07 + 1e-11, 100, 7), (0.0701, 100, 8), (41 / 57477, 57477, 41), (2.5, 4, 10)],
)
def test_needed_votes_are_rounded_up_but_not_by_rounding_errors(lower, total, votes):
    assert votes_needed(lower, total) == votes


def test_infinitely_many_votes_stay_infinite():
    assert votes_needed(math.inf, 100) == math.inf


def test_votes_in_whole_numbers_stay_whole_and_within_the_ballots():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"], ["a", "c", "b"]], weights=[5, 3, 2])
    plan = Plan(np.array([1.4, 0.3, 0.9]), np.array([[3, 2, 1], [3, 1, 2]]), np.array([1.3, 1.3]))
    seen = []

    def works(rounded):
        seen.append(rounded)
        return len(seen) == 20

    last = in_whole_votes(votes, hr.Change.REPLACE, 3, plan, hr.Ranking([3, 2, 1]), works, Clock())
    assert last is seen[-1]
    sizes = [p.removed.sum() for p in seen]
    assert sizes[0] == 3
    assert sizes == sorted(sizes)
    for p in seen:
        assert p.removed.sum() == p.added.sum()
        assert (p.removed == np.rint(p.removed)).all()
        assert (p.added == np.rint(p.added)).all()
        assert (p.removed <= votes.weights).all()


def test_the_search_for_whole_votes_ends():
    plan = swap((1, 0, 2), 10)
    tried = []
    works = lambda p: tried.append(p.removed.sum())  # noqa: E731
    assert in_whole_votes(VOTES, hr.Change.REPLACE, 10, plan, hr.Ranking([2, 1, 3]), works, Clock()) is None
    assert tried[0] == 10
    assert max(tried) == 100  # every vote there is
    assert in_whole_votes(VOTES, hr.Change.REPLACE, 10, plan, hr.Ranking([2, 1, 3]), works, Clock(time_limit=0)) is None


def test_an_engine_that_knows_about_whole_votes_is_believed_after_a_check(monkeypatch):
    from holdrank.attacks.whole import Whole

    fractional = swap((1, 0, 2), 10 + 1e-5)
    said = {}

    def engine(*_):
        whole = lambda *_: [said["whole"]]  # noqa: E731
        return cases.Engine(lambda *_: [Found(0.1, 0.1, fractional)], whole)

    monkeypatch.setattr(answers, "exact_engine", engine)
    said["whole"] = Whole(11.0, swap((1, 0, 2), 11))
    found = hr.attack(VOTES, hr.kemeny, hr.Above("b", "a"))
    assert (found.votes_needed, found.votes_sufficient) == (11, 11)
    assert found.text() == "11 of 100 votes put b above a (11 %, proven minimum)."
    said["whole"] = Whole(0.0, swap((0, 1, 2), 1))  # does nothing: rounding has to do
    found = hr.attack(VOTES, hr.kemeny, hr.Above("b", "a"))
    assert (found.votes_needed, found.votes_sufficient) == (10, 11)


def test_shares_have_no_whole_votes():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[0.7, 0.3])
    found = hr.attack(votes, hr.kemeny, hr.NewWinner())
    assert found.lower == pytest.approx(0.2)
    assert math.isnan(found.votes_needed)
    assert math.isnan(found.votes_sufficient)
    assert found.whole is None
    assert found.text() == "20 % of the votes change the winner (proven minimum)."
    assert np.isnan(hr.breakdown(votes).votes_sufficient).all()


# The answers themselves, by hand.


def test_a_majority_of_sixty_breaks_with_a_tenth_of_the_votes():
    found = hr.attack(VOTES, hr.kemeny, hr.NewWinner())
    assert found.lower == found.upper == pytest.approx(0.1)
    assert (found.votes_needed, found.votes_sufficient) == (10, 11)
    assert found.verified
    assert found.after.text() == "b > a > c"
    assert VOTES.total_variation(found.votes) == pytest.approx(0.1, abs=2e-6)
    assert found.whole.removed == [("a > b > c", 11.0)]
    assert found.whole.added == [("b > a > c", 11.0)]
    assert VOTES.total_variation(found.whole.votes) == pytest.approx(0.11)
    assert hr.fulfils(VOTES, hr.kemeny, found.votes, hr.NewWinner())
    assert hr.fulfils(VOTES, hr.kemeny, found.whole.votes, hr.NewWinner())


@pytest.mark.parametrize(
    ("change", "share", "needed", "sufficient"),
    [(hr.Change.REPLACE, 0.1, 10, 11), (hr.Change.DROP, 0.2, 20, 21), (hr.Change.ADD, 0.2, 20, 21)],
)
def test_the_three_attackers(change, share, needed, sufficient):
    found = hr.attack(VOTES, hr.kemeny, hr.Above("b", "a"), change=change)
    assert found.lower == found.upper == pytest.approx(share)
    assert (found.votes_needed, found.votes_sufficient) == (needed, sufficient)
    assert found.votes.total == pytest.approx({"replace": 100, "drop": 80, "add": 120}[change], abs=1e-3)
    assert (found.votes_to_tie, found.votes_to_decide) == (needed, sufficient)
    words = {
        "replace": "10 of 100 votes tie it, 11 put b above a (11 %, proven minimum).",
        "drop": "Dropping 20 of 100 votes ties it, dropping 21 puts b above a (21 %, proven minimum).",
        "add": "Adding 20 votes to 100 ties it, adding 21 puts b above a (21 %, proven minimum).",
    }
    assert found.text() == words[change]


def test_a_point_mass_breaks_at_one_half():
    b = hr.breakdown(hr.Votes.from_orders([["a", "b", "c", "d"]]))
    assert b.lower.tolist() == pytest.approx([0.5] * 6)
    assert b.exact.all()


def test_several_optima_break_for_free_and_the_notes_say_so():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]])
    b = hr.breakdown(votes)
    assert b.lower[0] == b.upper[0] == 0
    assert b.lower[1] > 0
    assert b.notes == ("the consensus is one of several optima; the breakdown is 0 up to the distance 0.3333",)
    assert b.votes_needed[0] == 0
    assert b.votes_sufficient[0] == 1
    assert hr.attack(votes, hr.kemeny, hr.Wins("b")).notes == (
        "the consensus is one of several optima, and only some of them fulfil the goal",
    )
    assert hr.attack(votes, hr.kemeny, hr.Wins("c")).notes == ("the consensus is one of several optima",)


PROFILES = [(name, profile) for name, profile in truth_profiles.profiles() if "breakdown" in profile]


@pytest.mark.slow
@pytest.mark.parametrize("profile", [profile for _, profile in PROFILES], ids=[name for name, _ in PROFILES])
def test_kemeny_needs_as_many_votes_as_an_integer_program_says(profile, shared_data):
    votes = truth_profiles.load(profile, shared_data)
    b = hr.breakdown(votes)
    weak = [profile["breakdown"]["weak"][str(k)] for k in range(1, len(b.delta) + 1)]
    strict = [profile["breakdown"]["strict"][str(k)] for k in range(1, len(b.delta) + 1)]
    assert b.exact.all()
    assert b.votes_needed.tolist() == weak
    assert b.votes_sufficient.tolist() == strict
    assert all(a.verified for a in b.attacks)


# Forms and refusals.


def test_results_are_frozen_and_say_where_they_come_from():
    b = hr.breakdown(VOTES)
    with pytest.raises(ValueError, match="read-only"):
        b.lower[0] = 1
    with pytest.raises(FrozenInstanceError):
        b.method = "guess"
    assert (b.method, b.distance, b.statistic, b.seed, b.total) == ("exact", "hausdorff_ns", "kemeny", None, 100)
    assert b.consensus.text() == "a > b > c"
    assert b.seconds > 0
    assert repr(b).startswith("Breakdown(kemeny: 3 distances, 0.1 at 0.3333, exact: ")
    a = b.attacks[0]
    assert repr(a).startswith("Attack(moving the consensus by 33.3 % of the pairs: 0.1, exact: ")
    assert (a.change, a.statistic, a.before.text(), a.original) == (hr.Change.REPLACE, "kemeny", "a > b > c", VOTES)


def test_ballots_are_listed_with_ties_and_without_what_they_leave_out():
    votes = hr.Votes.from_orders([["a\x1b", ["b", "c"]], ["b"]], weights=[3, 2], items=["a\x1b", "b", "c"])
    found = hr.attack(votes, hr.kemeny, hr.Above("b", "a\x1b"))
    assert {ballot for ballot, _ in found.removed} <= {"a\\x1b > {b, c}", "b"}
    assert found.removed


def test_the_papers_bounds_as_a_method():
    b = hr.breakdown(VOTES, method="bounds")
    assert b.status is Status.THEOREM
    assert (b.method, b.attacks) == ("bounds", (None,) * 3)
    exact = hr.breakdown(VOTES)
    assert (b.lower <= exact.lower + 1e-9).all()
    assert (b.upper >= exact.upper - 1e-9).all()
    assert b.votes_needed[0] == 10
    assert (b.votes_sufficient == math.inf).all()


@pytest.mark.slow
def test_the_improved_estimate_as_a_method():
    b = hr.breakdown(VOTES, deltas=[1 / 3], method="smooth", rng=3)
    exact = hr.breakdown(VOTES, deltas=[1 / 3])
    assert (b.status, b.seed, b.method) == (Status.ESTIMATE, 3, "smooth")
    assert b.lower.tolist() == [0]
    assert exact.upper[0] - 1e-9 <= b.upper[0] < 0.2
    assert hr.fulfils(VOTES, hr.kemeny, b.attacks[0].votes, hr.Distance(1 / 3))
    assert VOTES.total_variation(b.attacks[0].votes) == pytest.approx(b.upper[0], abs=1e-6)
    drawn = hr.breakdown(VOTES, deltas=[1 / 3], method="smooth", rng=np.random.default_rng(1))
    assert isinstance(drawn.seed, int)


def test_statistics_of_ones_own_have_no_exact_engine_and_are_searched():
    own = partial(hr.kemeny, time_limit=5)
    with pytest.raises(hr.UsageError, match="kemeny, borda, footrule and Robust of these, not for partial"):
        hr.breakdown(VOTES, own, method="exact")
    with pytest.raises(hr.HoldrankError):
        hr.breakdown(VOTES, own, method="smooth")  # no batch form
    found = hr.attack(VOTES, own, hr.NewWinner())
    assert (found.lower, found.status, found.verified) == (0.0, Status.ESTIMATE, True)
    assert found.upper == pytest.approx(0.1, abs=1e-6)  # 60 to 40: the search finds what is best here
    assert found.votes_sufficient == 11
    curve = hr.breakdown(VOTES, own)
    assert curve.method == "search"
    assert curve.upper[0] == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hr.breakdown([[1, 2]]), "votes must be Votes, not list"),
        (lambda: hr.breakdown(VOTES, "kemeny"), "statistic must be"),
        (lambda: hr.breakdown(VOTES, method="magic"), "auto, exact, search, bounds, smooth, paper"),
        (lambda: hr.breakdown(VOTES, distance="kendall"), "hausdorff_ns"),
        (lambda: hr.breakdown(VOTES, deltas=[1.5]), "from 0 to 1"),
        (lambda: hr.breakdown(VOTES, deltas=["far"]), "numbers from 0 to 1"),
        (lambda: hr.breakdown(VOTES, deltas=[math.nan]), "from 0 to 1"),
        (lambda: hr.breakdown(VOTES, time_limit=-1), "seconds"),
        (lambda: hr.breakdown(VOTES, method="smooth", rng=-1), "rng must be"),
        (lambda: hr.attack(VOTES, hr.kemeny, "new winner"), "a goal is"),
        (lambda: hr.attack(VOTES, hr.kemeny, hr.NewWinner(), change="bribe"), "'bribe'"),
        (lambda: hr.fulfils(VOTES, hr.kemeny, [[1, 2]], hr.NewWinner()), "must be Votes"),
        (lambda: hr.fulfils(VOTES, hr.kemeny, VOTES.renamed("xyz"), hr.NewWinner()), "same items"),
    ],
)
def test_wrong_arguments_are_refused(call, words):
    with pytest.raises(hr.UsageError, match=words):
        call()


def test_verify_runs_the_statistic_on_both():
    fewer = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[40, 60])
    assert hr.fulfils(VOTES, hr.kemeny, fewer, hr.Above("b", "a"))
    assert not hr.fulfils(VOTES, hr.kemeny, fewer, hr.Wins("c"))
    even = hr.Votes.from_orders([["b", "a", "c"], ["a", "b", "c"]], items="abc")
    assert not hr.fulfils(VOTES, hr.borda, even, hr.Above("b", "a"))


def test_a_goal_that_is_none_is_refused_by_fulfils_as_by_attack():
    for call in (lambda: hr.fulfils(VOTES, hr.kemeny, VOTES, None), lambda: hr.attack(VOTES, hr.kemeny, None)):
        with pytest.raises(hr.UsageError, match="a goal is NewWinner"):
            call()


@pytest.mark.parametrize(
    ("goal", "call"),
    [
        (hr.NewWinner, "NewWinner()"),
        (hr.Wins, "Wins(item)"),
        (hr.Above, "Above(upper, lower)"),
        (hr.TopSet, "TopSet(k)"),
        (hr.Enters, "Enters(item, k)"),
        (hr.Leaves, "Leaves(item, k)"),
        (hr.Distance, "Distance(delta)"),
    ],
)
def test_the_class_of_a_goal_is_refused_with_what_to_write(goal, call):
    for ask in (
        lambda: hr.attack(VOTES, hr.kemeny, goal),
        lambda: hr.fulfils(VOTES, hr.kemeny, VOTES, goal),
        lambda: hr.tradeoff(VOTES, goal=goal),
    ):
        with pytest.raises(hr.UsageError) as caught:
            ask()
        assert str(caught.value) == f"{goal.__name__} is a class of goals, not a goal. Fix: write {call}"


@pytest.mark.parametrize("ranks", [[1, 2, 3, 4], [1, 1, 2, 3], [1, 1, 2, 2], [1, 2, 2, 2], [1, 1, 1, 1]])
def test_every_distance_that_tiers_can_move_is_in_the_curve(ranks):
    before = hr.Ranking(ranks)
    votes = hr.Votes.from_ranks([ranks])
    tiers = hr.breakdown(votes, hr.Robust(hr.kemeny, 0.1), distance="hausdorff_half", time_limit=0)
    assert tiers.consensus.ranking == before
    attained = {round(12 * hr.hausdorff_half(before, after)) for after in hr.all_rankings(4, ties=True)} - {0}
    steps = (12 * tiers.delta).round(9).tolist()
    assert attained <= set(steps)
    assert steps == list(range(1, max(attained) + 1))


def test_strict_rankings_move_by_whole_pairs():
    for T in (hr.kemeny, hr.borda, hr.footrule, hr.copeland, hr.bradley_terry):
        assert hr.breakdown(VOTES, T, distance="hausdorff_half").delta.tolist() == [1 / 3, 2 / 3, 1]
    assert hr.breakdown(VOTES, hr.Robust(hr.kemeny, 0.05)).delta.tolist() == [1 / 3, 2 / 3, 1]
    alone = hr.Votes.from_orders([["a"]])
    assert hr.breakdown(alone, hr.Robust(hr.kemeny, 0.05), distance="hausdorff_half").delta.tolist() == []


def test_what_breaks_tiers_says_that_the_ranking_below_them_is_one_of_several():
    circle = hr.Votes.from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]])
    tiers = hr.Robust(hr.kemeny, 0.1)
    note = "several rankings are optimal for kemeny; the tiers come from the one that it reports"
    assert note in hr.attack(circle, tiers, hr.NewWinner()).notes
    assert note in hr.breakdown(circle, tiers).notes
    record = hr.analyse(circle, hr.Spec(theta=0.1, draws=0)).record
    assert note in record["attack"]["notes"]
    assert [note in curve["notes"] for curve in record["curves"]] == [
        "merge" in c["statistic"] for c in record["curves"]
    ]
    assert hr.attack(VOTES, tiers, hr.NewWinner()).notes == ()


def test_a_thin_margin_is_not_taken_for_several_optima():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[0.5 + 1e-9, 0.5])
    found = hr.attack(votes, hr.kemeny, hr.Above("b", "a"))
    assert hr.kemeny(votes).unique
    assert found.notes == ()


def test_an_attack_found_when_the_time_is_over_is_still_rounded_to_whole_votes(proposals):
    def stopped(_votes, _before, _aims, clock):
        clock.interrupted = True
        return [Found(0.1, 0.1, swap((1, 0, 2), 10 + 1e-5))]

    proposals(stopped)
    found = hr.attack(VOTES, hr.kemeny, hr.Above("b", "a"))
    assert (found.votes_needed, found.votes_sufficient) == (10, 11)
    assert hr.fulfils(VOTES, hr.kemeny, found.whole.votes, hr.Above("b", "a"))


def test_a_vote_among_trillions_is_not_lost_in_rounding():
    """Rounding to whole votes must leave the last ballots of a kind alone, and never takes all votes away."""
    votes = hr.Votes.from_ranks(
        [[1, 2, 3], [2, 1, 3], [3, 1, 2], [1, 3, 2]], [2950860726185, 1775206321933, 406511254470, 396777047300]
    )
    found = hr.attack(votes, hr.Robust(hr.kemeny, 0.05, merge="naive"), hr.Above("2", "0"), change="drop")
    assert found.verified
    left = Plan(votes.weights - 3, votes.ranks[:0], np.zeros(0)).applied(votes)
    assert left.weights.tolist() == [3.0] * 4


def test_no_integer_program_is_asked_about_single_votes_among_trillions():
    """It would search for hours: one vote is below what its arithmetic can tell."""
    rng = np.random.default_rng(715)
    votes = hr.Votes.from_ranks([rng.permutation(4) + 1 for _ in range(9)], rng.integers(10**11, 10**12, 9))
    curve = hr.breakdown(votes)
    assert curve.exact.all()
    known = np.isfinite(curve.votes_sufficient)
    assert (curve.votes_needed[known] <= curve.votes_sufficient[known]).all()
    assert known.all()


def test_the_largest_counts_are_exact_and_larger_ones_refused():
    most = 2**46
    half = most // 2
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[half, half - 1])
    found = hr.attack(votes, hr.kemeny, hr.NewWinner())
    assert (hr.kemeny(votes).text(), found.votes_needed, found.votes_sufficient) == ("a > b", 1, 1)
    with pytest.raises(hr.InputError, match="more votes than can be counted exactly"):
        hr.Votes.from_orders([["a", "b"]], weights=[10**15])
    # As shares of the votes they are fine, and so are weights of any size.
    for unit in (1e-12, 1e-3, 1e12):
        shares = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[0.6 * unit, 0.4 * unit])
        found = hr.attack(shares, hr.kemeny, hr.NewWinner())
        assert found.lower == pytest.approx(0.1, abs=1e-9)
        assert found.verified
