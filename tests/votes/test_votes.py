from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdrank as hr
from holdrank.votes import limits
from holdrank.votes.ballots import dense

import oracles
from strategies import ballots, votes


def example(**kwargs):
    return hr.Votes.from_orders([["a", "b", "c"], ["b", ["a", "c"]]], weights=[3, 2], **kwargs)


def test_from_orders_reads_ties_gaps_and_first_mentions():
    v = hr.Votes.from_orders([["b", ["a", "c"]], ["d"]])
    assert v.items == ("b", "a", "c", "d")
    assert v.ranks.tolist() == [[1, 2, 2, 0], [0, 0, 0, 1]]
    assert v.weights.tolist() == [1, 1]
    assert hr.Votes.from_orders([[2, 0], [0, 2]], items=[0, 1, 2]).items == ("0", "1", "2")
    assert hr.Votes.from_orders([[{"q", "p"}, frozenset("sr")]]).items == ("p", "q", "r", "s")


def test_from_orders_refuses_what_is_unclear():
    with pytest.raises(hr.InputError, match="ballot 2 names 'a' twice"):
        hr.Votes.from_orders([["a"], ["a", "b", "a"]])
    with pytest.raises(hr.InputError, match="ballot 1 names 'a' twice"):
        hr.Votes.from_orders([[["a", "a"], "b"]])
    with pytest.raises(hr.InputError, match="ballot 1 names 'x', which is not one of the items"):
        hr.Votes.from_orders([["x"]], items=["a"])
    with pytest.raises(hr.InputError, match="'a' is named twice"):
        hr.Votes.from_orders([["a"]], items=["a", "a"])
    with pytest.raises(hr.UsageError, match="ballot 1 is text"):
        hr.Votes.from_orders(["abc"])
    with pytest.raises(hr.InputError, match="two items have the name '1'"):
        hr.Votes.from_orders([[1, "1"]])


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int32", "int64", "float64"])
def test_from_ranks_closes_gaps_and_leaves_the_table_alone(kind):
    rng = np.random.default_rng(3)
    for most in (4, 9, 62, 100):
        table = rng.integers(0, most + 1, size=(40, 5)).astype(kind)
        table[rng.random(40) < 0.5] = rng.permutation(5) + 1  # some rows have no gaps
        given = table.copy()
        votes = hr.Votes.from_ranks(table)
        assert (table == given).all()
        table[:] = 1
        wanted = {tuple(sorted(set(row) - {0}).index(v) + 1 if v else 0 for v in row) for row in given.tolist()}
        assert {tuple(row) for row in votes.ranks.tolist()} == wanted - {(0,) * 5}
    complete = np.arange(1, 6, dtype=kind)[None]
    votes = hr.Votes.from_ranks(complete)
    complete[:] = 1
    assert votes.ranks.tolist() == [[1, 2, 3, 4, 5]]


def test_from_ranks_takes_arrays_lists_and_frames():
    table = [[1, 2, 0], [2, 2, 1]]
    plain = hr.Votes.from_ranks(table, items=["x", "y", "z"])
    columns = {"x": [1, 2], "y": [2, 2], "z": [0, 1]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        assert hr.Votes.from_ranks(frame) == plain
    assert hr.Votes.from_ranks(pl.DataFrame({**columns, "z": [None, 1]})) == plain
    assert hr.Votes.from_ranks(np.array(table)).items == ("0", "1", "2")
    assert hr.Votes.from_ranks(pd.DataFrame(columns), items=["p", "q", "r"]).items == ("p", "q", "r")


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([1, 2], "not 1-d"),
        ([["a", "b"]], "must be numbers"),
        ([[1, -2]], "ballot 1 gives item 2 the rank -2"),
        ([[1.0, float("nan")]], "use 0 where an item is not ranked"),
        ("not a frame", "not 0-d"),
        ([[1, 2], [1]], "the same number of ranks"),
        (pd.DataFrame({"a": ["x", "y"]}), "column 'a': the column does not hold ranks"),
        (pd.DataFrame(), "no items"),
    ],
)
def test_from_ranks_refuses_what_is_no_table_of_ranks(ranks, message):
    with pytest.raises(hr.HoldrankError, match=message):
        hr.Votes.from_ranks(ranks)


def test_names_must_fit_the_columns():
    with pytest.raises(hr.UsageError, match="1 item names were given for 2 columns"):
        hr.Votes.from_ranks([[1, 2]], items=["a"])
    with pytest.raises(hr.UsageError, match="must be text"):
        hr.Votes.from_ranks([[1, 2]], items=[1, 2])
    with pytest.raises(hr.InputError, match="no items"):
        hr.Votes.from_ranks(np.zeros((2, 0), dtype=int))


@pytest.mark.parametrize("weights", [[-1, 1], [float("nan"), 1], [float("inf"), 1]])
def test_weights_must_be_finite_and_not_negative(weights):
    with pytest.raises(hr.InputError, match="ballot 1 has the weight"):
        hr.Votes.from_ranks([[1, 2], [2, 1]], weights)


def test_weights_must_be_numbers_one_a_ballot_and_countable():
    with pytest.raises(hr.UsageError, match="need 2 weights"):
        hr.Votes.from_ranks([[1, 2], [2, 1]], [1])
    with pytest.raises(hr.UsageError, match="must be numbers"):
        hr.Votes.from_ranks([[1, 2], [2, 1]], ["many", 1])
    with pytest.raises(hr.InputError, match="more votes than can be counted exactly"):
        hr.Votes.from_ranks([[1, 2]], [1e30])
    with pytest.raises(hr.InputError, match="too small to compare"):
        hr.Votes.from_ranks([[1, 2], [2, 1]], [1e-300, 2e-300])


def test_nothing_to_aggregate_is_refused():
    for ranks, weights, found in (
        ([[0, 0]], [1], "no ballot with a mark"),
        ([[1, 2]], [0], "only weights of 0"),
        (np.zeros((0, 2), dtype=int), [], "no ballots"),
    ):
        with pytest.raises(hr.InputError, match=f"nothing to aggregate; found '{found}'"):
            hr.Votes.from_ranks(ranks, weights)


def test_dropped_ballots_are_counted_in_the_notes():
    v = hr.Votes.from_ranks([[0, 0], [1, 2], [2, 1], [0, 0]], [5, 1, 0, 1])
    assert v.total == 1
    assert v.notes == ("2 ballots without any mark dropped", "1 ballot with weight 0 ignored")


def test_equal_ballots_merge_commonest_first():
    v = hr.Votes.from_ranks([[1, 2], [2, 1], [3, 1], [5, 9], [2, 1]], [1, 1, 2, 1, 1])
    assert v.ranks.tolist() == [[2, 1], [1, 2]]
    assert v.weights.tolist() == [4, 2]
    assert v.distinct == 2


def test_a_collision_of_fingerprints_is_found_and_undone(monkeypatch):
    real = np.unique

    def all_alike(values, **kwargs):
        return real(np.zeros_like(values) if values.dtype == np.uint64 else values, **kwargs)

    monkeypatch.setattr(dense.np, "unique", all_alike)
    v = hr.Votes.from_ranks([[1, 2], [2, 1], [1, 2]])
    assert v.ranks.tolist() == [[1, 2], [2, 1]]
    assert v.weights.tolist() == [2, 1]


def test_arrays_are_read_only():
    v = example()
    for array in (v.ranks, v.weights, v.wins(), v.pairwise(), v.positions()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_plain_facts():
    v = hr.Votes.from_ranks([[1, 1, 0], [1, 2, 3], [0, 0, 1]], [2, 1, 4])
    assert (v.n, v.total, v.with_ties, v.incomplete) == (3, 7, 2, 6)
    assert v.is_counts
    assert not hr.Votes.from_ranks([[1, 2]], [0.5]).is_counts
    assert repr(v) == "Votes(3 items, 7 ballots, 3 distinct, unlisted='bottom')"
    assert repr(hr.Votes.from_ranks([[1]])) == "Votes(1 item, 1 ballot, 1 distinct, unlisted='bottom')"


def test_summary_states_sizes_choices_and_notes():
    v = hr.Votes.from_ranks([[1, 1, 0], [1, 2, 3], [0, 0, 0]], unlisted="observed")
    text = v.summary()
    for part in (
        "items: 3",
        "ballots: 2 (2 distinct)",
        "with ties: 1 (50 %)",
        "incomplete: 1 (50 %)",
        "observed (a ballot compares only the items it lists)",
        "half a vote each way",
        "note: 1 ballot without any mark dropped",
    ):
        assert part in text


def test_the_rule_for_unlisted_items_must_be_one_of_two():
    with pytest.raises(hr.UsageError, match="'bottom' or 'observed', not 'last'"):
        hr.Votes.from_ranks([[1, 0]], unlisted="last")


@given(ballots(), st.data())
def test_wins_equal_counting_by_hand(table, data):
    weights = data.draw(st.lists(st.integers(0, 4), min_size=len(table), max_size=len(table)).filter(any))
    for rule in ("bottom", "observed"):
        v = hr.Votes.from_ranks(np.array(table), weights, unlisted=rule)
        assert v.wins().tolist() == oracles.wins(table, weights, rule)


@given(ballots(), st.data())
def test_wins_of_a_distribution_equal_weighing_by_hand(table, data):
    weights = data.draw(st.lists(st.floats(0.001, 1), min_size=len(table), max_size=len(table)))
    for rule in ("bottom", "observed"):
        v = hr.Votes.from_ranks(np.array(table), weights, unlisted=rule)
        assert np.allclose(v.wins(), oracles.wins(table, weights, rule), rtol=1e-12, atol=1e-15)


def test_pairwise_is_a_share_of_the_ballots_that_compare():
    v = hr.Votes.from_ranks([[1, 2, 0], [2, 1, 0], [1, 2, 0]], unlisted="observed")
    assert v.pairwise().tolist() == [[0.5, 2 / 3, 0.5], [1 / 3, 0.5, 0.5], [0.5, 0.5, 0.5]]
    assert example().pairwise()[0, 1] == 0.6


@given(votes(rule="bottom"))
def test_positions_give_the_exact_cost_of_every_place(v):
    places = [oracles.mean_places([r or v.n + 1 for r in row]) for row in v.ranks.tolist()]
    shares = v.weights / v.total
    grid = np.arange(1, v.n + 1)
    cost = v.positions() @ np.abs(grid[:, None] - grid)
    for i in range(v.n):
        for k in range(v.n):
            assert cost[i, k] == pytest.approx(sum(s * abs(p[i] - k - 1) for s, p in zip(shares, places, strict=True)))
    assert v.positions().sum(axis=1) == pytest.approx(np.ones(v.n))
    assert v.mean_places() == pytest.approx(shares @ np.array(places))
    assert v.mean_places() == pytest.approx(0.5 + v.pairwise().sum(axis=0))


@given(votes(rule="bottom", unlisted=False, ties=False), st.data())
def test_loss_is_the_expected_distance_to_a_vote(v, data):
    ranking = hr.Ranking(data.draw(st.lists(st.integers(1, v.n), min_size=v.n, max_size=v.n)))
    shares = v.weights / v.total
    for name, distance in (
        ("kendall", hr.hausdorff_half),
        ("spearman_rho", hr.spearman_rho),
        ("footrule", hr.footrule_distance),
    ):
        expected = sum(s * distance(ranking, row) for s, row in zip(shares, v.ranks, strict=True))
        assert v.loss(ranking, name) == pytest.approx(expected)


def test_loss_counts_ties_half_and_uncompared_pairs_not_at_all():
    v = hr.Votes.from_ranks([[1, 1, 0]], unlisted="observed")
    assert v.loss(hr.Ranking([1, 2, 3])) == pytest.approx(0.5 / 3)
    assert v.loss(hr.Ranking([1, 1, 1])) == pytest.approx(0.5 / 3)
    with pytest.raises(hr.UsageError, match="the ranking has 2 items, the votes have 3"):
        v.loss(hr.Ranking([1, 2]))
    with pytest.raises(hr.UsageError, match="distance must be"):
        v.loss(hr.Ranking([1, 2, 3]), "manhattan")
    for needs_places in (v.positions, v.mean_places, lambda: v.loss(hr.Ranking([1, 2, 3]), "footrule")):
        with pytest.raises(hr.UsageError, match="places of unlisted items are unknown"):
            needs_places()


@given(votes(counts=True, rule="bottom", most_items=3), st.data())
def test_total_variation_is_half_the_sum_of_differences(v, data):
    table = data.draw(st.lists(st.lists(st.integers(0, v.n), min_size=v.n, max_size=v.n).filter(any), min_size=1))
    other = hr.Votes.from_ranks(table, items=v.items)
    p = {tuple(row): w / v.total for row, w in zip(v.ranks.tolist(), v.weights, strict=True)}
    q = {tuple(row): w / other.total for row, w in zip(other.ranks.tolist(), other.weights, strict=True)}
    expected = sum(abs(p.get(key, 0) - q.get(key, 0)) for key in {*p, *q}) / 2
    assert v.total_variation(other) == pytest.approx(expected, abs=1e-12)
    back = list(reversed(range(v.n)))
    turned = hr.Votes.from_ranks(other.ranks[:, back], other.weights, [v.items[i] for i in back])
    assert v.total_variation(turned) == pytest.approx(expected, abs=1e-12)


def test_total_variation_needs_the_same_items_and_rule():
    with pytest.raises(hr.UsageError, match="same items"):
        example().total_variation(hr.Votes.from_orders([["a", "b"]]))
    with pytest.raises(hr.UsageError, match="same rule"):
        example().total_variation(example(unlisted="observed"))


def test_voters_who_rank_alike_keep_their_own_scores():
    v = hr.Votes.from_score_rows([[100, 0]] + [[1, 0]] * 7 + [[0, 40]] * 2, items=["a", "b"])
    assert v.scores.tolist() == [[1, 0], [0, 40], [100, 0]]
    assert v.weights.tolist() == [7, 2, 1]
    assert v.ranks.tolist() == [[1, 2], [2, 1], [1, 2]]
    assert v.distinct == 3
    assert hr.mean_score(v).text() == "a > b"
    # Without the voter who gave 100, b has the larger sum: 80 against 7.
    assert hr.mean_score(v.with_weights([7, 2, 0])).text() == "b > a"


def test_equal_scores_are_one_ballot_however_they_are_written():
    nan = float("nan")
    rows = [[0.0, nan, 1], [-0.0, -nan, 1], [nan, 0.0, 1], [0.0, 0.5, 1], [0.0, nan, 1]]
    v = hr.Votes.from_score_rows(rows, weights=[1, 2, 1, 4, 1])
    assert v.weights.tolist() == [4, 4, 1]
    assert np.array_equal(v.scores, [[0, nan, 1], [0, 0.5, 1], [nan, 0, 1]], equal_nan=True)
    assert not np.signbit(v.scores[:, :1]).any()


def test_scores_that_share_a_fingerprint_are_told_apart(monkeypatch):
    rows = [[3, 1], [3, 2], [3, 1], [1, 2]]
    real_unique = np.unique

    def all_alike(array, **options):
        return real_unique(np.zeros_like(array) if array.ndim == 1 else array, **options)

    monkeypatch.setattr(dense.np, "unique", all_alike)
    v = hr.Votes.from_score_rows(rows)
    assert v.scores.tolist() == [[3, 1], [3, 2], [1, 2]]
    assert v.weights.tolist() == [2, 1, 1]


def test_scores_with_many_digits_in_common_are_told_apart():
    close = [[1.0 + k * 2.0**-52, 1.0] for k in range(50)] + [[2.0**k, 1.0] for k in range(-500, 500)]
    v = hr.Votes.from_score_rows(close)  # 1 stands in both lists
    assert v.distinct == len(close) - 1
    assert v.weights[0] == 2


def test_some_of_the_items_keep_the_scores_of_each_voter():
    v = hr.Votes.from_score_rows([[5, 1, 3], [5, 2, 3], [4, 1, 3]], items=["a", "b", "c"])
    assert v.only(["c", "a"]).scores.tolist() == [[3, 5], [3, 4]]
    assert v.only(["c", "a"]).weights.tolist() == [2, 1]
    assert v.only(["b"]).scores.tolist() == [[1], [2]]


def test_votes_without_scores_are_their_rankings():
    v = hr.Votes.from_score_rows([[9, 1, 2], [5, 1, 4], [3, 3, 8], [7, 0, 1]], [1, 2, 3, 1], items="abc")
    bare = v.without_scores()
    assert bare.scores is None
    assert (bare.ranks.tolist(), bare.weights.tolist()) == ([[1, 3, 2], [2, 2, 1]], [4, 3])
    assert bare == hr.Votes.from_ranks([[2, 2, 1], [1, 3, 2]], [3, 4], items="abc", unlisted="observed")
    assert bare != v
    assert v.without_scores() is bare
    assert bare.without_scores() is bare
    assert (bare.notes, bare.reading) == (v.notes, v.reading)
    assert np.array_equal(bare.wins(), v.wins())
    for array in (bare.ranks, bare.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_total_variation_of_scores_counts_voters_whose_scores_differ():
    v = hr.Votes.from_score_rows([[9, 1], [5, 1], [5, 1], [1, 2]], items="ab")
    other = hr.Votes.from_score_rows([[9, 1], [5, 1], [4, 1], [4, 1]], items="ab")
    assert v.total_variation(other) == 0.5
    # Of rankings, three of four are the same on both sides; and so it is where one side has no scores.
    assert v.without_scores().total_variation(other.without_scores()) == 0.25
    assert v.total_variation(other.without_scores()) == 0.25
    assert v.without_scores().total_variation(other) == 0.25
    turned = hr.Votes.from_score_rows([[1, 9], [1, 5], [1, 4], [1, 4]], items="ba")
    assert v.total_variation(turned) == 0.5
    gaps = hr.Votes.from_score_rows([[2, float("nan")], [1, 1]])
    assert gaps.total_variation(hr.Votes.from_score_rows([[1, 1], [2, -float("nan")]])) == 0


def test_written_votes_are_their_rankings_once_each(tmp_path):
    v = hr.Votes.from_score_rows([[9, 1], [5, 1], [1, 2]], items=["a", "b"], unlisted="bottom")
    hr.write_votes(v, tmp_path / "v.soc")
    lines = (tmp_path / "v.soc").read_text(encoding="utf-8").splitlines()
    assert lines[-2:] == ["2: 1,2", "1: 2,1"]
    assert "# NUMBER UNIQUE ORDERS: 2" in lines
    for name in ("v.soc", "v.csv", "v.jsonl"):
        hr.write_votes(v, tmp_path / name)
        assert hr.read_votes(tmp_path / name) == hr.Votes.from_orders([["a", "b"], ["b", "a"]], [2, 1])


def test_a_notebook_shows_each_ranking_once():
    v = hr.Votes.from_score_rows([[9, 1], [5, 1], [1, 2]], items=["a", "b"])
    assert v._repr_html_().count("a &gt; b") == 1


def test_input_hash_ignores_the_order_of_ballots_but_nothing_else():
    table = [[1, 2, 3], [3, 1, 2], [0, 1, 2]]
    v = hr.Votes.from_ranks(table, [3, 1, 1])
    assert v == hr.Votes.from_ranks(table[::-1], [1, 1, 3])
    assert hash(v) == hash(hr.Votes.from_ranks(table[::-1], [1, 1, 3]))
    assert v != hr.Votes.from_ranks(table, [3, 1, 2])
    assert v != hr.Votes.from_ranks(table, [3, 1, 1], unlisted="observed")
    assert v != hr.Votes.from_ranks(table, [3, 1, 1], items=["a", "b", "c"])
    assert hr.Votes.from_ranks([[1, 2]], items=["a", "bc"]) != hr.Votes.from_ranks([[1, 2]], items=["ab", "c"])
    assert v != "votes"


def test_sums_of_shares_do_not_depend_on_the_order_of_the_ballots():
    orders = [["a", "b"]] * 3 + [["b", "a"]]
    assert hr.Votes.from_orders(orders, [0.1, 0.2, 0.3, 0.7]) == hr.Votes.from_orders(orders, [0.3, 0.2, 0.1, 0.7])


def test_pickled_votes_come_back_equal_and_closed():
    v = pickle.loads(pickle.dumps(example()))
    assert v == example()
    for array in (v.ranks, v.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_mean_places_of_many_votes_do_not_overflow():
    v = hr.Votes.from_ranks(np.array([np.arange(1, 601), np.arange(600, 0, -1)]), weights=[6e13, 1e13])
    assert v.mean_places()[0] == pytest.approx((6 * 1 + 600) / 7)
    assert hr.borda(v).ranking.order[:2] == (0, 1)


def test_a_ranking_is_needed_for_a_loss():
    with pytest.raises(hr.UsageError, match="loss takes a Ranking, not list"):
        example().loss([1, 2, 3])


def test_more_items_than_a_matrix_can_hold_are_refused_with_the_limit(monkeypatch):
    monkeypatch.setattr(limits, "MOST_ITEMS", 2)
    v = example()
    for square in (v.wins, v.pairwise, v.positions):
        with pytest.raises(hr.LimitError, match="the limit is 2 items"):
            square()


def test_renaming_keeps_everything_else():
    v = example().renamed(["x", "y", "z"])
    assert v.items == ("x", "y", "z")
    assert v.wins().tolist() == example().wins().tolist()
    with pytest.raises(hr.InputError, match="two items have the name"):
        example().renamed(["x", "x", "z"])


def test_frames_of_battles_and_scores_become_votes():
    battles = {"model_a": ["x", "x", "y"], "model_b": ["y", "z", "x"], "winner": ["model_a", "tie", "model_a"]}
    scores = {"model": ["x", "y", "z"], "math": [3.0, 2.0, None], "code": [1.0, 2.0, 3.0]}
    for frame in (pd.DataFrame, pl.DataFrame, pa.table):
        v = hr.Votes.from_battles(frame(battles))
        assert v.unlisted == "observed"
        assert v.items == ("x", "y", "z")
        assert v.wins().tolist() == [[0, 1, 0.5], [1, 0, 0], [0.5, 0, 0]]
        s = hr.Votes.from_scores(frame(scores), unlisted="observed")
        assert sorted(s.ranks.tolist()) == [[1, 2, 0], [3, 2, 1]]
        t = hr.Votes.from_scores(frame(scores), higher_is_better={"math": False, "code": True}, unlisted="observed")
        assert sorted(t.ranks.tolist()) == [[2, 1, 0], [3, 2, 1]]


def test_only_some_of_the_items():
    votes = hr.Votes.from_ranks([[1, 2, 0, 3], [0, 0, 1, 0], [2, 2, 1, 0]], [3, 4, 5], "abcd", unlisted="observed")
    part = votes.only(["d", "a"])
    assert part.items == ("d", "a")
    assert part.unlisted == "observed"
    assert sorted(zip(part.ranks.tolist(), part.weights.tolist(), strict=True)) == [([0, 1], 5.0), ([2, 1], 3.0)]
    with pytest.raises(hr.UsageError, match="there is no item 'x'"):
        votes.only(["a", "x"])


def test_weights_too_light_to_count_are_told():
    """Counting is exact to some fifty binary digits of the weight of all votes; what is below has no say."""
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[1e12, 1e-12])
    assert votes.notes == ("1 distinct ballot with less than 1e-15 of all votes; counts may not show them",)
    assert hr.kemeny(votes).text() == "a > b"
    assert hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[1e12, 1.0]).notes == ()
