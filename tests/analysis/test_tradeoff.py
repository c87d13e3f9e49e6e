from __future__ import annotations

import math

import numpy as np
import pytest

import holdrank as hr
from holdrank.analysis.tradeoff import TOLERANCE
from holdrank.attacks import judge
from holdrank.status import Clock, Status

import oracles
from strategies import KINDS, random_ranks, unlisted_rule

VOTES = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"], ["a", "c", "b"]], weights=[50, 44, 6])


def test_three_items_by_hand():
    # a beats b by 56 to 44, b beats c by 94 to 6, a beats c by 100 to 0: deviations .06, .44 and .5.
    t = hr.tradeoff(VOTES)
    assert [ranking.text("abc") for ranking in t.rankings] == ["a > b > c", "{a, b} > c", "a > {b, c}", "{a, b, c}"]
    assert t.theta[0] == 0
    assert 0.06 <= t.theta[1] < 0.44
    assert t.loss == pytest.approx([(44 + 6 + 0) / 300, (50 + 6 + 0) / 300, (44 + 50 + 0) / 300, 0.5])
    # Strict: six votes level a and b. Tied: b and c deviate by .44, and at threshold .06 by .38 more than it.
    assert t.lower[[0, 1, 3]] == pytest.approx([0.06, 0.38, math.inf], abs=1e-6)
    assert t.upper.tolist() == t.lower.tolist()
    assert t.best == 1
    assert t.loss[1] - t.loss[0] == pytest.approx(0.02)
    assert t.delta == pytest.approx(1 / 3)
    assert t.status is Status.LEAST
    assert t.pareto.tolist() == [True, True, False, True]
    assert repr(t) == "Tradeoff(4 thresholds, best 0.06: {a, b} > c)"


def test_the_tolerance_decides_what_may_be_chosen():
    assert hr.tradeoff(VOTES, tolerance=0).best == 0
    assert hr.tradeoff(VOTES, tolerance=0.019).best == 0
    assert hr.tradeoff(VOTES, tolerance=1).best == 3


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["downward", "naive"])
@pytest.mark.parametrize("base", [hr.kemeny, hr.borda, hr.footrule])
@pytest.mark.parametrize("distance", ["hausdorff_ns", "hausdorff_half"])
def test_each_line_is_what_the_merge_and_its_breakdown_say(rule, base, distance):
    votes = hr.sample_votes(hr.Mallows(list(range(4)), 0.7), 60, rng=5)
    t = hr.tradeoff(votes, base, merge=rule, delta=2 / 6, distance=distance)
    median = base(votes).ranking
    merge = hr.downward_merge if rule == "downward" else hr.naive_merge
    path = hr.merge_path(votes.pairwise(), median, merge=rule)
    assert [*t.rankings] == [ranking for _, ranking in path]
    for theta, ranking, loss, lower, upper in zip(t.theta, t.rankings, t.loss, t.lower, t.upper, strict=True):
        assert merge(votes.pairwise(), median, theta) == ranking
        assert loss == votes.loss(ranking)
        b = hr.breakdown(votes, hr.Robust(base, theta, merge=rule), [2 / 6], distance=distance)
        assert lower == pytest.approx(b.lower[0], abs=1e-9)
        # A breakdown also searches for attacks where the engine of tiers knows none.
        assert upper == pytest.approx(b.upper[0], abs=1e-9) or (np.isinf(upper) and base is hr.footrule)
    base_line = hr.breakdown(votes, hr.Robust(base, 0.0, merge=rule), [2 / 6], distance=distance)
    assert t.lower[t.best] >= base_line.lower[0]
    assert t.loss[t.best] <= votes.loss(median) + TOLERANCE + 1e-12
    loss, low, high = (np.round(array, 9) for array in (t.loss, t.lower, t.upper))
    for k, on_front in enumerate(t.pareto):
        beaten = (loss <= loss[k]) & (low >= high[k]) & ((loss < loss[k]) | (low > high[k]))
        assert on_front == (not beaten.any())


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_smith_tiers_hold_until_the_formula_says_and_no_longer(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    broke = 0
    for _ in range(12):
        ballots = random_ranks(rng, kind, 3, 5)
        votes = hr.Votes.from_ranks(np.array(ballots), rng.integers(1, 4, size=len(ballots)), "abc",
                                    unlisted=unlisted_rule(kind))  # fmt: skip
        weights = votes.weights.astype(int).tolist()
        t = hr.tradeoff(votes, hr.kemeny, merge="smith")
        for theta, tiers, lower, upper in zip(t.theta, t.rankings, t.lower, t.upper, strict=True):
            assert lower == upper
            needed = math.inf if math.isinf(lower) else math.ceil(lower * votes.total - 1e-9)
            before = tiers.ranks.tolist()
            for size in range(1, min(needed, 3) + 1):
                sums = oracles.attacks(votes.ranks.tolist(), weights, votes.unlisted, hr.Change.REPLACE, size,
                                       battles=kind == "battles")  # fmt: skip
                broken = [breaks(before, W[:9].reshape(3, 3), theta) for W in sums]
                assert any(broken) == (size >= needed)
                broke += any(broken)
    assert broke > 5


def breaks(before, W, theta):
    """Whether dominating sets with this margin tie or turn a pair that is apart in the ranks `before`."""
    both = W + W.T
    P = np.divide(W, both, out=np.full_like(W, 0.5), where=both > 0)
    after = [0] * len(W)
    for rank, tier in enumerate(oracles.dominating_tiers(P.tolist(), theta)):
        for item in tier:
            after[item] = rank
    pairs = [(i, j) for i in range(len(W)) for j in range(len(W)) if before[i] < before[j]]
    return any(after[i] >= after[j] for i, j in pairs)


def test_smith_tiers_by_hand():
    # a beats b by .06, b beats c by .44, a beats c by .5: at .06 one border is left, and it holds for .38 more.
    t = hr.tradeoff(VOTES, merge="smith")
    assert [ranking.text("abc") for ranking in t.rankings] == ["a > b > c", "{a, b} > c", "{a, b, c}"]
    assert t.theta == pytest.approx([0, 0.06, 0.44])
    assert t.lower == pytest.approx([0.06, 0.38, math.inf])
    assert t.upper.tolist() == t.lower.tolist()
    assert (t.best, t.status) == (1, Status.LEAST)
    same = hr.tradeoff(VOTES, hr.copeland, merge="smith")
    assert (same.rankings, same.lower.tolist()) == (t.rankings, t.lower.tolist())
    assert hr.Robust(hr.kemeny, "auto", merge="smith")(VOTES).text() == "{a, b} > c"


def test_smith_tiers_at_two_pairs_have_a_lower_bound_only():
    one, two = hr.tradeoff(VOTES, merge="smith"), hr.tradeoff(VOTES, merge="smith", delta=2 / 3)
    assert two.lower.tolist() == one.lower.tolist()
    assert np.isinf(two.upper).all()
    assert two.status is Status.BETWEEN


def test_the_least_loss_is_best_where_no_tiers_are_within_the_tolerance():
    # Majorities go round in a circle: Kemeny's ranking has a loss of 16/39, the whole tie one of a half.
    cycle = hr.Votes.from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]], weights=[5, 4, 4])
    t = hr.tradeoff(cycle, merge="smith")
    assert t.base.loss == pytest.approx(16 / 39)
    assert (len(t.rankings), t.best, t.loss.tolist()) == (1, 0, [0.5])


def test_smith_tiers_of_a_median_without_proof_have_no_bounds():
    votes = hr.sample_votes(hr.Mallows(list(range(60)), 0.99), 30, rng=1)
    t = hr.tradeoff(votes, merge="smith", time_limit=0)
    assert (t.lower == 0).all()
    assert np.isinf(t.upper).all()


def test_no_other_engine_takes_smith_tiers_for_another_merge():
    T = hr.Robust(hr.kemeny, 0.05, merge="smith")
    for method, words in (("exact", "not for smith merge"), ("smooth", "no batch form")):
        with pytest.raises(hr.UsageError, match=words):
            hr.breakdown(VOTES, T, method=method)


def test_both_ends_of_what_is_known_decide_about_the_front():
    from holdrank.analysis.tradeoff import front

    loss = np.array([0.1, 0.2, 0.3, 0.3])
    # The second may be as robust as the first, the third is not, the fourth is beaten by the third.
    lower, upper = np.array([0.05, 0.01, 0.04, 0.03]), np.array([0.05, 0.08, 0.04, 0.03])
    assert front(loss, lower, upper).tolist() == [True, True, False, False]


def test_time_limits_leave_the_rest_open_and_what_may_be_chosen_comes_first():
    votes = hr.sample_votes(hr.Mallows(list(range(7)), 0.9), 200, rng=5)
    t = hr.tradeoff(votes, time_limit=0)
    assert (t.lower == 0).all()
    assert np.isinf(t.upper).all()
    assert t.status is Status.BETWEEN_TIME_LIMIT
    assert t.loss[t.best] <= t.loss[0] + TOLERANCE


@pytest.mark.slow
def test_the_top_can_be_what_counts_as_broken():
    votes = hr.sample_votes(hr.Mallows(list(range(4)), 0.7), 60, rng=5)
    t = hr.tradeoff(votes, goal=hr.NewWinner())
    assert t.goal == hr.NewWinner()
    assert np.isnan(t.delta)
    for theta, lower, upper in zip(t.theta, t.lower, t.upper, strict=True):
        found = hr.attack(votes, hr.Robust(hr.kemeny, theta), hr.NewWinner())
        assert (lower, upper) == pytest.approx((found.lower, found.upper), abs=1e-9)
    with pytest.raises(hr.UsageError, match="either a goal"):
        hr.tradeoff(votes, delta=0.5, goal=hr.NewWinner())


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize("rule", ["downward", "naive"])
def test_what_counts_as_broken_can_be_that_an_item_leaves(rule):
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"]], weights=[60, 30, 10])
    for goal in (hr.Leaves("a", 1), hr.Leaves("b", 2)):
        t = hr.tradeoff(votes, merge=rule, goal=goal)
        for theta, lower, upper in zip(t.theta, t.lower, t.upper, strict=True):
            found = hr.attack(votes, hr.Robust(hr.kemeny, theta, merge=rule), goal)
            assert found.lower - 1e-6 <= lower <= upper <= found.upper + 1e-6


@pytest.mark.slow
@pytest.mark.traced
def test_the_top_of_many_items_has_lower_bounds():
    votes = hr.sample_votes(hr.Mallows(list(range(18)), 0.75), 120, rng=2)
    t = hr.tradeoff(votes, goal=hr.NewWinner(), time_limit=20)
    strict = hr.attack(votes, hr.kemeny, hr.NewWinner())
    assert t.lower[0] == pytest.approx(strict.lower, abs=1e-9)
    for k in (1, len(t.theta) // 2):
        T = hr.Robust(hr.kemeny, float(t.theta[k]))
        found = hr.attack(votes, T, hr.NewWinner(), time_limit=10)
        assert t.lower[k] <= found.upper + 1e-9
    assert t.lower[t.best] > 0


def test_the_tolerance_is_for_the_pairs_that_votes_compare():
    # Battles on a path of items: a tie of all would cost half of every battle, though little of all pairs.
    battles = [[f"i{k}", f"i{k + 1}"] for k in range(6)]
    votes = hr.Votes.from_orders([*battles, *(b[::-1] for b in battles)], [70] * 6 + [30] * 6, unlisted="observed")
    t = hr.tradeoff(votes)
    assert len(t.rankings[t.best].buckets) > 1


def test_ctrl_c_is_heard_inside_a_breakdown(monkeypatch):
    from holdrank.analysis import tradeoff as module

    heard = []

    def pressing(*known):
        (clock,) = [part for part in known if isinstance(part, Clock)]
        clock._within.interrupted = True
        heard.append((clock.interrupted, clock.over()))
        return 0.25, 0.25, False

    monkeypatch.setattr(module, "_robustness", pressing)
    t = hr.tradeoff(VOTES)
    assert heard == [(True, True)]
    assert t.status is Status.BETWEEN_INTERRUPTED
    assert sorted(t.lower.tolist()) == [0, 0, 0, 0.25]


def test_engines_that_run_out_of_time_before_the_clock_does_are_reported(monkeypatch):
    # All time is kept for checks, so every engine stops at once, long before the limit.
    monkeypatch.setattr(judge, "_FOR_CHECKS", 1.0)
    monkeypatch.setattr(judge, "_LONG_CHECKS", math.inf)
    hard = hr.sample_votes(hr.Mallows(range(9), 0.95), 300, rng=5)
    t = hr.tradeoff(hard, time_limit=600)
    assert (t.lower < t.upper).any()
    assert t.status is Status.BETWEEN_TIME_LIMIT


def test_progress_counts_thresholds():
    steps = []
    hr.tradeoff(VOTES, progress=steps.append)
    # Four results, two thresholds for each but the first and the last.
    assert [(step.done, step.total) for step in steps] == [(k, 6) for k in range(6)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"delta": 0}, "delta must be a share"),
        ({"delta": 1.5}, "delta must be a share"),
        ({"tolerance": -1}, "tolerance must be 0 or more"),
        ({"delta": "x"}, "delta must be a number"),
        ({"tolerance": "x"}, "tolerance must be a number"),
        ({"time_limit": "x"}, "time_limit must be a number"),
        ({"merge": "upward"}, "merge must be"),
        ({"merge": "smith", "base": hr.borda}, "are available for kemeny and copeland, not for borda"),
        ({"merge": "smith", "distance": "hausdorff_half"}, "not in 'hausdorff_half'"),
        ({"base": lambda votes: hr.kemeny(votes)}, "not for"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(hr.UsageError, match=words):
        hr.tradeoff(VOTES, **options)


@pytest.mark.slow
def test_auto_is_the_threshold_of_the_votes_at_hand():
    T = hr.Robust(hr.kemeny, "auto")
    assert T.fixed(VOTES) == hr.Robust(hr.kemeny, 0.25)
    assert T(VOTES).text() == "{a, b} > c"
    assert T.__name__ == "downward merge of kemeny at the auto threshold"
    clear = hr.Votes.from_orders([["a", "b", "c"]], weights=[10])
    assert T(clear).text() == "a > b > c"
    b = hr.breakdown(VOTES, T)
    assert b.lower[0] == pytest.approx(0.19, abs=1e-6)
    assert hr.attack(VOTES, T, hr.Distance(1 / 3)).upper == pytest.approx(0.19, abs=1e-6)


@pytest.mark.slow
def test_the_best_threshold_never_loses_robustness():
    rng = np.random.default_rng(0)
    gained = 0
    for _ in range(12):
        weights = np.exp(rng.uniform(0.3, 2) * np.sort(rng.normal(size=4)))
        votes = hr.exact_votes(hr.PlackettLuce(weights.tolist()))
        strict = hr.breakdown(votes, hr.kemeny, [1 / 6])
        found = hr.tradeoff(votes)
        best = hr.breakdown(votes, hr.Robust(hr.kemeny, float(found.theta[found.best])), [1 / 6])
        assert best.lower[0] >= strict.lower[0] - 1e-9
        assert best.consensus.loss <= strict.consensus.loss + TOLERANCE + 1e-9
        gained += best.lower[0] > strict.lower[0] + 1e-6
    assert gained >= 3


def test_what_is_no_votes_is_refused():
    with pytest.raises(hr.UsageError, match="tradeoff takes Votes"):
        hr.tradeoff("votes.soc")
