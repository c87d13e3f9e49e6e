from __future__ import annotations

import math
import os
import signal
import threading
from collections import Counter
from dataclasses import replace

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdrank as hr
from holdrank.analysis import bootstrap as resampling
from holdrank.analysis import sample_rankings
from holdrank.analysis.sampling import draw_weights
from holdrank.rules.merges import ballots_for
from holdrank.status import Clock, Status

import oracles
from strategies import votes

FAST = [hr.kemeny, hr.copeland, hr.bradley_terry, hr.borda, hr.footrule, hr.Robust(hr.kemeny, 0.1),
        hr.Robust(hr.kemeny, 0.1, merge="smith"), hr.Robust(hr.borda, 0.2, merge="naive"),
        hr.Robust(hr.footrule, 0.1)]  # fmt: skip
DRAWS = 12


def first_listed(v):
    """A statistic of one's own, which looks at the commonest ballot only."""
    return hr.kemeny(hr.Votes.from_ranks(v.ranks[:1], v.weights[:1], v.items, unlisted=v.unlisted))


def plain(v, T, draws, seed):
    """The ranks of every draw, each by a call of the statistic on votes made anew."""

    def rank(counts):
        return T(hr.Votes.from_ranks(v.ranks, counts, v.items, unlisted=v.unlisted)).ranking.ranks.tolist()

    found = []
    for block in range(0, draws, 50):  # each with random numbers of its own
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block // 50,)))
        some = min(50, draws - block)
        found += oracles.drawn_again(v.ranks.tolist(), v.weights.tolist(), some, generator, rank)
    return found


def check_against_a_plain_loop(v, T, draws, seed, level=0.9):
    b = hr.bootstrap(v, T, draws=draws, rng=seed, level=level)
    ranks = plain(v, T, draws, seed)
    assert Counter(dict(zip(map(tuple, b.ranks.tolist()), b.counts.tolist(), strict=True))) == Counter(ranks)
    table = oracles.places_of_draws(ranks, level)
    assert list(zip(b.best, b.median, b.worst, b.first, strict=True)) == table
    mine = T(v).ranking.ranks
    assert b.consensus.ranking.ranks.tolist() == mine.tolist()
    for i in range(v.n):
        for j in range(v.n):
            assert b.above[i, j] == pytest.approx(sum(r[i] < r[j] for r in ranks) / draws)
            same = sum(np.sign(r[i] - r[j]) == np.sign(mine[i] - mine[j]) for r in ranks)
            assert b.stability[i, j] == pytest.approx(same / draws)
    assert b.unchanged == ranks.count(tuple(mine.tolist())) / draws
    return b


@pytest.mark.slow
@settings(max_examples=40)
@given(votes(counts=True, most_items=5), st.sampled_from([*FAST[:7], first_listed]), st.integers(0, 99))
def test_equals_a_plain_loop(v, T, seed):
    if T is hr.footrule and v.unlisted == "observed" and v.incomplete:
        with pytest.raises(hr.UsageError, match="places of unlisted items are unknown"):
            hr.bootstrap(v, T, draws=DRAWS, rng=seed)
        return
    check_against_a_plain_loop(v, T, DRAWS, seed)


@pytest.mark.slow
@pytest.mark.parametrize("T", FAST, ids=lambda T: T.__name__)
@pytest.mark.parametrize("weight", [1, 50])
def test_equals_a_plain_loop_for_many_and_for_few_distinct_ballots(T, weight):
    rng = np.random.default_rng(5)
    ranks = rng.integers(0, 7, (12, 6))
    ranks[0] = 1
    v = hr.Votes.from_ranks(ranks, np.full(12, weight))
    assert (v.total > 8 * v.distinct) == (weight == 50)
    check_against_a_plain_loop(v, T, 120, 2, level=0.8)


@pytest.mark.parametrize("T", [hr.kemeny, hr.bradley_terry, hr.borda, hr.copeland, hr.Robust(hr.kemeny, 0.1)])
@pytest.mark.parametrize("largest", [2, 3])
def test_ballots_that_compare_few_items_are_only_asked_about_these(T, largest):
    rng = np.random.default_rng(largest)
    ranks = np.zeros((60, 5), dtype=int)
    for row in ranks:
        listed = rng.permutation(5)[: rng.integers(1, largest + 1)]
        row[listed] = rng.integers(1, 3, len(listed))
    check_against_a_plain_loop(hr.Votes.from_ranks(ranks, unlisted="observed"), T, 30, 3)


@given(st.integers(1, 14), st.integers(1, 9), st.integers(0, 10**6))
def test_components_of_many_margins_give_the_orders_of_kemeny(n, voters, seed):
    rng = np.random.default_rng(seed)
    profiles = [hr.Votes.from_ranks(rng.permuted(np.tile(np.arange(1, n + 1), (voters, 1)), axis=1)) for _ in range(4)]
    margins = np.array([v.wins() - v.wins().T for v in profiles])
    ranks, proved = sample_rankings._kemeny_ranks(margins, Clock())
    assert proved.all()
    assert ranks.tolist() == [hr.kemeny(v).ranking.ranks.tolist() for v in profiles]


def test_a_component_too_large_for_a_batch_is_solved_on_its_own():
    rng = np.random.default_rng(0)
    v = hr.Votes.from_ranks(rng.permuted(np.tile(np.arange(1, 19), (9, 1)), axis=1))
    check_against_a_plain_loop(v, hr.kemeny, 5, 1)


def test_memory_blocks_change_nothing(monkeypatch):
    v = hr.sample_votes(hr.Mallows(range(6), 0.9), 200, rng=1)
    battles = hr.Votes.from_ranks(np.where(v.ranks <= 2, v.ranks, 0), v.weights, unlisted="observed")
    whole = [
        hr.bootstrap(data, T, draws=50, rng=4) for data in (v, battles) for T in (hr.kemeny, hr.Robust(hr.borda, 0.1))
    ]
    for module in (sample_rankings, resampling):
        monkeypatch.setattr(module, "NUMBERS_AT_A_TIME", 300)
    monkeypatch.setattr(sample_rankings, "_MOST_KEPT", 0)
    monkeypatch.setattr(resampling, "_FIRST_CHUNK", 3)
    parts = [
        hr.bootstrap(data, T, draws=50, rng=4) for data in (v, battles) for T in (hr.kemeny, hr.Robust(hr.borda, 0.1))
    ]
    for a, b in zip(whole, parts, strict=True):
        assert a.ranks.tolist() == b.ranks.tolist()
        assert a.counts.tolist() == b.counts.tolist()
        assert np.array_equal(a.above, b.above)


@pytest.mark.slow
def test_the_best_threshold_is_found_anew_for_every_draw():
    v = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[7, 5])
    check_against_a_plain_loop(v, hr.Robust(hr.kemeny, "auto"), 4, 1)


def test_large_counts_are_summed_without_rounding():
    v = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"], ["c", "b", "a"]], weights=[2**40 + 1, 2**40, 1])
    for T in (hr.kemeny, hr.borda, hr.footrule, hr.copeland):
        check_against_the_statistic(v, T)


def check_against_the_statistic(v, T):
    weights = draw_weights(v, 20, np.random.default_rng(1))
    route = sample_rankings.route_of(v, T, Clock())
    ranks, _ = route.ranks(route.sums(weights))
    assert ranks.tolist() == [T(v.with_weights(w)).ranking.ranks.tolist() for w in weights]


def test_every_draw_has_as_many_votes_as_there_are():
    for weights in ([3, 2, 1], [300, 200, 100]):
        v = hr.Votes.from_orders([["a", "b"], ["b", "a"], [["a", "b"]]], weights=weights)
        drawn = draw_weights(v, 4000, np.random.default_rng(0))
        assert (drawn.sum(axis=1) == sum(weights)).all()
        # The mean is within five standard errors, and the spread is that of a multinomial.
        p = np.array(weights) / sum(weights)
        sd = np.sqrt(sum(weights) * p * (1 - p))
        assert (np.abs(drawn.mean(axis=0) - weights) < 5 * sd / 4000**0.5).all()
        assert drawn.std(axis=0) == pytest.approx(sd, rel=0.1)


def test_hand_made_cases():
    agreed = hr.bootstrap(hr.Votes.from_orders([["b", "a", "c"]], [9], items="abc"), draws=7, rng=0)
    assert agreed.best.tolist() == agreed.median.tolist() == agreed.worst.tolist() == [2.0, 1.0, 3.0]
    assert agreed.first.tolist() == [0, 1, 0]
    assert agreed.stability.tolist() == np.ones((3, 3)).tolist()
    assert (agreed.unchanged, agreed.draws, agreed.unproved, agreed.status) == (1, 7, 0, Status.RESAMPLED)
    split = hr.bootstrap(hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[50, 50]), draws=4000, rng=0)
    # a stands first with half of the draws and with the one in 12.6 that is even.
    assert split.first[0] == pytest.approx(0.5 + 0.0796 / 2, abs=0.04)
    assert (split.best.tolist(), split.worst.tolist()) == ([1, 1], [2, 2])
    tied = hr.bootstrap(
        hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[50, 50]), hr.Robust(theta=0.5), draws=5, rng=0
    )
    assert tied.median.tolist() == [1.5, 1.5]
    assert tied.first.tolist() == [1, 1]
    assert tied.stability[0, 1] == 1
    alone = hr.bootstrap(hr.Votes.from_orders([["only"]]), draws=3, rng=0)
    assert (alone.best.tolist(), alone.above.tolist()) == ([1.0], [[0.0]])


def test_the_level_is_reached_with_as_little_as_possible_outside():
    v = hr.sample_votes(hr.Mallows(range(5), 0.95), 60, rng=2)
    for level in (0.5, 0.9, 0.95):
        b = hr.bootstrap(v, hr.borda, draws=1000, rng=1, level=level)
        for i in range(5):
            below = b.counts[b.ranks[:, i] < b.best[i]].sum()
            beyond = b.counts[b.ranks[:, i] > b.worst[i]].sum()
            assert max(below, beyond) <= (1 - level) / 2 * 1000 + 1e-9
            assert b.counts[b.ranks[:, i] <= b.best[i]].sum() > (1 - level) / 2 * 1000 - 1


def test_a_seed_repeats_the_draws_and_is_kept():
    v = hr.sample_votes(hr.Mallows(range(4), 0.95), 30, rng=2)
    fresh = hr.bootstrap(v, draws=50)
    again = hr.bootstrap(v, draws=50, rng=fresh.seed)
    assert fresh.above.tolist() == again.above.tolist()
    first, second = (hr.bootstrap(v, draws=50, rng=np.random.default_rng(1)) for _ in range(2))
    assert first.seed == second.seed
    assert hr.bootstrap(v, draws=50, rng=7).seed == 7


def test_relabelling_the_items_relabels_the_result():
    v = hr.sample_votes(hr.Mallows(range(5), 0.9), 101, rng=2)
    order = [3, 1, 4, 0, 2]
    there = hr.Votes.from_ranks(v.ranks[:, order], v.weights)
    a, b = (hr.bootstrap(data, hr.borda, draws=300, rng=3) for data in (v, there))
    # Draws with equal scores are settled by number, so that few of them may differ.
    assert np.abs(a.above[np.ix_(order, order)] - b.above).max() < 0.05


def test_results_are_read_only_and_show_themselves():
    b = hr.bootstrap(hr.Votes.from_orders([["a\x1b", "b"]], weights=[5]), draws=200, rng=3)
    with pytest.raises(ValueError, match="read-only"):
        b.above[0, 1] = 1
    assert repr(b) == "Bootstrap(kemeny, 200 draws, 1 distinct rankings, unchanged=1, seed=3)"
    assert b.text().splitlines() == [
        "ranks, with 95 % bootstrap intervals (200 samples)",
        "a\\x1b: 1 (1), first in 100 %",
        "b: 2 (2), first in 0 %",
    ]


def test_progress_ends_at_the_number_of_draws():
    steps = []
    hr.bootstrap(hr.Votes.from_orders([["a", "b"]]), draws=100, rng=1, progress=steps.append)
    assert {step.name for step in steps} == {"draws"}
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert (steps[-1].done, steps[-1].total) == (100, 100)


def test_a_time_limit_keeps_the_draws_made_and_at_least_one():
    rng = np.random.default_rng(0)
    v = hr.Votes.from_ranks(np.array([rng.permutation(70) + 1 for _ in range(101)]))
    b = hr.bootstrap(v, draws=1000, rng=1, time_limit=0)
    assert (b.draws, b.unproved, b.status) == (1, 1, Status.RESAMPLED_TIME_LIMIT)
    own = hr.bootstrap(v, lambda votes: hr.kemeny(votes, time_limit=0), draws=2, rng=1)
    assert (own.draws, own.unproved, own.status) == (2, 2, Status.RESAMPLED)


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.parametrize("T", [hr.kemeny, hr.Robust(hr.kemeny, 0.05), lambda v: hr.borda(v)])
@pytest.mark.slow
@pytest.mark.traced
def test_ctrl_c_returns_the_draws_made(T):
    rng = np.random.default_rng(0)
    v = hr.Votes.from_ranks(np.array([rng.permutation(40) + 1 for _ in range(101)]))
    alarm = threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    alarm.start()
    b = hr.bootstrap(v, T, draws=10**7, rng=1, time_limit=60)
    alarm.cancel()
    assert b.status is Status.RESAMPLED_INTERRUPTED
    assert b.status.is_interrupted
    assert 1 <= b.draws < 10**7
    assert b.draws == b.counts.sum()


def test_ctrl_c_before_the_first_draw_ends_it_after_that(monkeypatch):
    v = hr.Votes.from_orders([["a", "b"]], weights=[5])
    stopped = replace(hr.kemeny(v), status=Status.INTERRUPTED)
    monkeypatch.setattr(resampling, "consensus_of", lambda *_: stopped)
    b = hr.bootstrap(v, draws=500, rng=1)
    assert b.status is Status.RESAMPLED_INTERRUPTED
    assert b.draws >= 1


def test_shares_have_no_sample_size():
    with pytest.raises(hr.UsageError, match=r"the number of votes, and these votes are shares\. Fix: give counts"):
        hr.bootstrap(hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[0.5, 0.5]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"votes": [["a"]]}, "bootstrap takes Votes, not list"),
        ({"T": "kemeny"}, "the statistic must be kemeny, .* not 'kemeny'"),
        ({"draws": 0}, "draws must be a whole number, 1 or more, not '0'"),
        ({"draws": 1.5}, "draws must be a whole number"),
        ({"draws": True}, "draws must be a whole number"),
        ({"level": 0}, "level must be a number between 0 and 1"),
        ({"level": 95}, "level must be a number between 0 and 1, not '95'"),
        ({"level": "0.9"}, "level must be a number"),
        ({"rng": -1}, r"rng must be a whole number \(0 or more\), a Generator or None"),
        ({"rng": "seed"}, "rng must be a whole number"),
        ({"time_limit": -1}, "time_limit must be a number of seconds"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(hr.UsageError, match=message):
        hr.bootstrap(**{"votes": hr.Votes.from_orders([["a"]]), "draws": 5, **options})


def test_votes_with_other_weights_are_the_same_as_votes_made_of_them():
    v = hr.Votes.from_orders([["a", "b"], ["b", "a"], ["b"]], weights=[3, 2, 1], unlisted="observed")
    changed = v.with_weights([0, 2, 5])
    assert changed == hr.Votes.from_ranks(v.ranks, [0, 2, 5], v.items, unlisted="observed")
    assert changed.ranks.tolist() == [[0, 1], [2, 1]]
    assert changed.wins().tolist() == [[0, 0], [2, 0]]
    assert not changed.ranks.flags.writeable
    with pytest.raises(hr.UsageError, match="at least one ballot must have a weight"):
        v.with_weights([0, 0, 0])
    with pytest.raises(hr.UsageError, match="3 ballots need 3 weights"):
        v.with_weights([1])


@settings(deadline=None)
@given(st.data())
def test_mean_scores_of_draws_are_those_of_drawn_voters(data):
    n = data.draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 9), min_size=n, max_size=n)
    rows = data.draw(st.lists(row, min_size=1, max_size=6, unique_by=tuple))
    heaviest = data.draw(st.sampled_from([3, 60]))
    weights = sorted(
        data.draw(st.lists(st.integers(1, heaviest), min_size=len(rows), max_size=len(rows))), reverse=True
    )
    v = hr.Votes.from_score_rows(rows, weights)

    def rank(counts):
        sums = [sum(count * row[i] for row, count in zip(rows, counts, strict=True)) for i in range(n)]
        order = sorted(range(n), key=lambda i: (-sums[i], i))
        return [order.index(i) + 1 for i in range(n)]

    generator = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(0,)))
    expected = oracles.drawn_again(rows, weights, DRAWS, generator, rank)
    b = hr.bootstrap(v, hr.mean_score, draws=DRAWS, rng=5)
    assert Counter(dict(zip(map(tuple, b.ranks.tolist()), b.counts.tolist(), strict=True))) == Counter(expected)


def test_draws_see_how_voters_who_rank_alike_differ():
    v = hr.Votes.from_score_rows([[100, 0]] + [[1, 0]] * 7 + [[0, 40]] * 2, items=["a", "b"])
    # a comes first unless b's two voters are drawn too often beside the one who gave a 100.
    b = hr.bootstrap(v, hr.mean_score, draws=4000, rng=1)
    chance = 0.0
    for first in range(11):
        for last in range(11 - first):
            ways = math.factorial(10) // (
                math.factorial(first) * math.factorial(last) * math.factorial(10 - first - last)
            )
            wins = 100 * first + (10 - first - last) >= 40 * last
            chance += wins * ways * 0.1**first * 0.2**last * 0.7 ** (10 - first - last)
    assert b.first[0] == pytest.approx(chance, abs=0.03)


@pytest.mark.parametrize("T", [*FAST, hr.Robust(hr.bradley_terry, 0.1)], ids=lambda T: T.__name__)
def test_rules_of_rankings_draw_the_rankings_of_score_tables(T):
    v = hr.Votes.from_score_rows([[9, 1, 4], [5, 1, 4], [1, 2, 3], [8, 2, 7], [3, 3, 1]], [2, 1, 4, 3, 2])
    one, two = hr.bootstrap(v, T, draws=40, rng=3), hr.bootstrap(v.without_scores(), T, draws=40, rng=3)
    assert (one.ranks.tolist(), one.counts.tolist()) == (two.ranks.tolist(), two.counts.tolist())
    assert ballots_for(T, v) is v.without_scores()


def test_rules_that_may_look_at_scores_get_them():
    v = hr.Votes.from_score_rows([[9, 1], [5, 1], [1, 2]])
    for T in (hr.mean_score, hr.Robust(hr.mean_score, 0.1), first_listed):
        assert ballots_for(T, v) is v
        assert hr.bootstrap(v, T, draws=5, rng=1).draws == 5


@pytest.mark.parametrize("scale", [1, 10**6, 10**13, 2**52])
def test_draws_with_equal_means_are_told_from_those_that_are_almost_equal(scale):
    # Means differ by one unit at most; from 2**53 units on, sums of floats would not show it.
    rows, weights = [[scale, scale - 1, scale], [scale - 1, scale, scale], [scale, scale, scale]], [2, 2, 7]
    v = hr.Votes.from_score_rows(rows, weights)

    def rank(counts):
        lost = [counts[1], counts[0], 0]
        order = sorted(range(3), key=lambda i: (lost[i], i))
        return [order.index(i) + 1 for i in range(3)]

    ballots = v.scores.tolist()  # heaviest first
    assert ballots == [rows[2], rows[0], rows[1]]
    generator = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(0,)))
    expected = oracles.drawn_again(
        ballots, v.weights.tolist(), 40, generator, lambda counts: rank([counts[1], counts[2]])
    )
    b = hr.bootstrap(v, hr.mean_score, draws=40, rng=7)
    assert Counter(dict(zip(map(tuple, b.ranks.tolist()), b.counts.tolist(), strict=True))) == Counter(expected)


def test_a_checkpoint_of_voters_in_another_order_is_not_gone_on_with(tmp_path):
    rows = [[9, 1], [1, 9], [5, 4], [7, 2]]
    one, other = (hr.Votes.from_score_rows(table) for table in (rows, [rows[2], rows[1], rows[0], rows[3]]))
    assert one == other
    assert np.array_equal(one.ranks, other.ranks)
    hr.bootstrap(one, hr.mean_score, draws=60, rng=1, checkpoint=tmp_path / "draws")
    hr.bootstrap(one, hr.mean_score, draws=80, rng=1, checkpoint=tmp_path / "draws")
    with pytest.raises(hr.InputError, match="different votes"):
        hr.bootstrap(other, hr.mean_score, draws=80, rng=1, checkpoint=tmp_path / "draws")


MERGED = [hr.Robust(hr.kemeny, 0.1), hr.Robust(hr.bradley_terry, 0.1)]
GROUPED = [hr.kemeny, hr.borda, hr.copeland, hr.footrule, hr.bradley_terry, *MERGED]


def clustered(rng, n=4, groups=6):
    """Battles and longer ballots in groups of uneven sizes, as votes, and as ranks by group."""
    rows, labels = [], []
    for group in range(groups):
        for _ in range(rng.integers(1, 6)):
            row = rng.permutation(n) + 1
            row[row > rng.integers(2, n + 1)] = 0
            rows.append(row)
            labels.append(f"g{group}")
    return rows, labels


def grouped(rows, labels, unlisted):
    names = "abcd"
    orders = [[names[k] for k in np.argsort(np.where(row > 0, row, 99))[: (row > 0).sum()]] for row in rows]
    table = {f"rank{k + 1}": [order[k] if k < len(order) else "" for order in orders] for k in range(4)}
    return hr.read_votes(polars.DataFrame({**table, "who": labels}), by="who", unlisted=unlisted).only(names)


@pytest.mark.parametrize("unlisted", ["bottom", "observed"])
@pytest.mark.parametrize("T", GROUPED)
def test_groups_are_drawn_whole_and_ranked_as_the_rule_ranks_them(T, unlisted):
    if T is hr.footrule and unlisted == "observed":
        pytest.skip("places of unlisted items are unknown")
    rows, labels = clustered(np.random.default_rng(7))
    votes = grouped(rows, labels, unlisted)
    drawn = draw_weights(votes, 12, np.random.default_rng(5))
    picks = np.random.default_rng(5).integers(6, size=(12, 6))
    route = sample_rankings.route_of(votes, T, Clock())
    ranks, _ = route.ranks(route.sums(drawn))
    for weights, pick, found in zip(drawn, picks, ranks, strict=True):
        again = [row for group in pick for row, label in zip(rows, labels, strict=True) if label == f"g{group}"]
        expected = hr.Votes.from_ranks(np.array(again), items="abcd", unlisted=unlisted)
        assert votes.with_weights(weights).wins().tolist() == expected.wins().tolist()
        assert found.tolist() == T(expected).ranking.ranks.tolist()


def test_a_voter_with_many_votes_does_not_shorten_intervals():
    battles = {"winner": ["a", "b"] * 10 + ["a"] * 40, "loser": ["b", "a"] * 10 + ["b"] * 40,
               "who": [f"v{k}" for k in range(20)] + ["fan"] * 40}  # fmt: skip
    votes = hr.Votes.from_battles(polars.DataFrame(battles), by="who")
    apart, together = (hr.bootstrap(votes, draws=400, by=by, rng=1) for by in (None, "who"))
    assert (apart.by, together.by) == (None, "who")
    assert apart.worst.tolist() == [1.0, 2.0]
    assert together.worst.tolist() == [2.0, 2.0]  # every third draw is without the fan
    assert together.first[0] < apart.first[0]


def test_too_few_draws_show_no_interval():
    found = hr.bootstrap(hr.Votes.from_orders([["a", "b"]], weights=[9]), draws=199, rng=1)
    assert found.text().splitlines() == ["199 bootstrap samples ranked, too few for intervals", "a", "b"]
    record = hr.analyse(hr.Votes.from_orders([["a", "b"]], weights=[9]), hr.Spec(draws=199)).record
    assert record["bootstrap"] is None
    step = next(step for step in record["steps"] if step["name"] == "bootstrap")
    assert step["note"] == "199 of 199 bootstrap samples ranked, too few for intervals"


@pytest.mark.slow
def test_groups_drawn_by_two_processes_give_the_same(tmp_path):
    rows, labels = clustered(np.random.default_rng(3))
    votes = grouped(rows, labels, "bottom")
    alone = hr.bootstrap(votes, hr.kemeny, draws=300, by="who", rng=2)
    kept = tmp_path / "kept.jsonl"
    with hr.clusters.local(2) as executor:
        shared = hr.bootstrap(votes, hr.kemeny, draws=300, by="who", rng=2, executor=executor, checkpoint=kept)
    assert shared.counts.tolist() == alone.counts.tolist()
    assert shared.ranks.tolist() == alone.ranks.tolist()
    with pytest.raises(hr.InputError, match="different parameters"):  # the draws that are kept are of groups
        hr.bootstrap(votes, hr.kemeny, draws=300, rng=2, checkpoint=kept)
