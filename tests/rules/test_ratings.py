from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import holdrank as hr
from holdrank.analysis.records import command_mismatch, command_record, ranking_record, ratings_record
from holdrank.rules.strengths import strong_groups

import oracles
from strategies import votes

UNIT = 400 / np.log(10)

# first, second, wins of the first, wins of the second, ties
TREES = [
    ("ash", "birch", 61, 43, 18),
    ("ash", "cedar", 12, 4, 3),
    ("ash", "elm", 35, 9, 0),
    ("birch", "cedar", 20, 21, 9),
    ("birch", "dogwood", 77, 31, 12),
    ("cedar", "dogwood", 6, 5, 1),
    ("dogwood", "elm", 14, 13, 6),
    ("elm", "ash", 3, 8, 2),
    ("cedar", "elm", 90, 40, 25),
]
# Of ash, birch, cedar, dogwood and elm by arena-rank 0.1.1 with ftol=1e-16, gtol=1e-12, by `reweighted`: ratings,
# roots of the variances, lower and upper ends. At its own tolerances it stops some thousandths of a point away.
ARENA_RANK = {
    False: (
        [1111.596309, 1050.0682682, 1018.8954429, 916.7637221, 902.6762579],
        [21.0148542, 17.1278774, 19.5642242, 22.8941367, 20.0284912],
        [1070.4079517, 1016.4982454, 980.5502681, 871.8920387, 863.4211365],
        [1152.7846663, 1083.638291, 1057.2406177, 961.6354054, 941.9313793],
    ),
    True: (
        [1115.5968855, 1043.7404829, 1017.6442031, 918.8497286, 904.1686999],
        [22.4250816, 17.6336423, 20.640892, 24.4608136, 21.1683051],
        [1071.6445333, 1009.179179, 977.1887981, 870.9074149, 862.6795843],
        [1159.5492378, 1078.3017867, 1058.0996081, 966.7920422, 945.6578155],
    ),
}


def of_table(table):
    """Battles from rows of first, second, wins of each, ties."""
    orders, weights = [], []
    for a, b, ahead, behind, even in table:
        orders += [[a, b], [b, a], [[a, b]]]
        weights += [ahead, behind, even]
    return hr.Votes.from_orders(orders, weights, unlisted="observed")


def random_battles(n, m, seed, ties=0.2, spread=1.0):
    rng = np.random.default_rng(seed)
    s = rng.normal(0, spread, n)
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(m)])
    wins = rng.random(m) < 1 / (1 + np.exp(s[pairs[:, 1]] - s[pairs[:, 0]]))
    outcome = np.where(rng.random(m) < ties, 0.5, wins)
    return [(int(i), int(j), float(y)) for (i, j), y in zip(pairs, outcome, strict=True)]


def as_votes(n, battles):
    ranks = np.zeros((len(battles), n), dtype=int)
    for row, (i, j, y) in zip(ranks, battles, strict=True):
        row[i], row[j] = {1.0: (1, 2), 0.0: (2, 1), 0.5: (1, 1)}[y]
    return hr.Votes.from_ranks(ranks, unlisted="observed")


@pytest.mark.parametrize("reweight", [False, True])
def test_ratings_errors_and_intervals_are_those_of_arena_rank(reweight):
    v = of_table(TREES)
    found = hr.bradley_terry(v, reweight=reweight).ratings(damping=1e-5)
    at = np.argsort(v.items)
    values, errors, lower, upper = ARENA_RANK[reweight]
    assert found.values[at] == pytest.approx(values, abs=1e-6)
    assert found.errors[at] == pytest.approx(errors, abs=1e-6)
    # Its inverse of an almost singular matrix is off in the seventh digit where pairs are reweighted.
    assert found.lower[at] == pytest.approx(lower, abs=2e-6)
    assert found.upper[at] == pytest.approx(upper, abs=2e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("floor", [None, 5.0])
def test_strengths_are_those_of_a_general_optimiser_without_a_ridge(seed, floor):
    v = as_votes(5, random_battles(5, 300, seed))
    W = v.wins()
    weights = 1 if floor is None else 1 / np.maximum(W + W.T, floor)
    expected = oracles.bradley_terry_strengths(W * weights, (W * weights).sum(), 0.0)
    c = hr.bradley_terry(v) if floor is None else hr.bradley_terry(v, reweight=True, floor=floor)
    assert c.ratings().strengths == pytest.approx(expected, abs=1e-6)
    assert c.ratings().values == pytest.approx(1000 + UNIT * expected, abs=1e-3)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("damping", [0.0, 1e-3])
@pytest.mark.parametrize("floor", [None, 30.0])
def test_errors_of_battles_are_the_sandwich_of_single_battles(seed, damping, floor):
    battles = random_battles(5, 200, seed)
    v = as_votes(5, battles)
    c = hr.bradley_terry(v) if floor is None else hr.bradley_terry(v, reweight=True, floor=floor)
    single = [[battle] for battle in battles]
    for anchor in (None, "2"):
        found = c.ratings(damping=damping, anchor=anchor)
        number = None if anchor is None else 2
        expected = oracles.sandwich_errors(single, found.strengths, damping, floor, number)
        assert found.errors == pytest.approx(UNIT * expected, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("floor", [None, 7.0])
@given(v=votes(counts=True, most_items=4, most_ballots=8))
@pytest.mark.slow
def test_errors_of_rankings_are_the_sandwich_of_whole_ballots(floor, v):
    found = ratings_of_rankings(floor, v)
    assume(np.isfinite(found.errors).all())
    assert_sandwich_of_whole_ballots(floor, v, found)


@pytest.mark.parametrize("floor", [None, 7.0])
@pytest.mark.parametrize("unlisted", ["observed", "bottom"])
def test_errors_of_fixed_rankings_are_the_sandwich_of_whole_ballots(unlisted, floor):
    rows = [[1, 2, 3, 4], [2, 1, 1, 0], [4, 3, 2, 1], [3, 1, 0, 2], [0, 2, 1, 1], [1, 0, 2, 3]]
    v = hr.Votes.from_ranks(rows, weights=[5, 3, 4, 2, 6, 1], unlisted=unlisted)
    found = ratings_of_rankings(floor, v)
    assert np.isfinite(found.errors).all()
    assert_sandwich_of_whole_ballots(floor, v, found)


def ratings_of_rankings(floor, v):
    c = hr.bradley_terry(v) if floor is None else hr.bradley_terry(v, reweight=True, floor=floor)
    return c.ratings()


def assert_sandwich_of_whole_ballots(floor, v, found):
    rows = [(ballot, weight) for ballot, weight in zip(v.ranks.tolist(), v.weights.tolist(), strict=True)]
    each = [oracles.comparisons_of(ballot, v.unlisted == "observed") for ballot, w in rows for _ in range(int(w))]
    expected = oracles.sandwich_errors(each, found.strengths, 0.0, floor)
    assert found.errors == pytest.approx(UNIT * expected, rel=1e-6, abs=1e-6)


def test_pair_counts_have_the_same_errors_unless_there_are_ties():
    plain = random_battles(4, 150, 1, ties=0.0)
    v = as_votes(4, plain)
    counts = hr.bradley_terry(hr.PairCounts.from_votes(v)).ratings()
    assert counts.errors == pytest.approx(hr.bradley_terry(v).ratings().errors, rel=1e-9)
    assert any("ties" in note for note in counts.notes)


def test_a_tie_in_pair_counts_is_half_a_win_and_half_a_loss():
    battles = random_battles(4, 150, 2, ties=0.3)
    v = as_votes(4, battles)
    counts = hr.bradley_terry(hr.PairCounts.from_votes(v)).ratings()
    s = counts.strengths
    # Every battle twice with half the weight: a tie becomes a win and a loss. Errors of twice the votes are smaller
    # by the root of 2.
    doubled = [[(i, j, z)] for i, j, y in battles for z in ((y, y) if y != 0.5 else (1.0, 0.0))]
    assert counts.errors == pytest.approx(np.sqrt(2) * UNIT * oracles.sandwich_errors(doubled, s), rel=1e-8)
    assert (counts.errors > hr.bradley_terry(v).ratings().errors).all()


def test_pair_counts_of_rankings_say_that_ballots_are_unknown():
    v = hr.Votes.from_orders([["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"]], weights=[5, 4, 6])
    notes = hr.bradley_terry(hr.PairCounts.from_votes(v)).ratings().notes
    assert any("same ballot" in note for note in notes)
    assert hr.bradley_terry(v).ratings().notes == ()


def test_the_scale_is_an_option():
    v = of_table(TREES)
    plain = hr.bradley_terry(v).ratings()
    log_odds = hr.bradley_terry(v).ratings(scale=1, base=np.e, offset=0)
    assert log_odds.values == pytest.approx(plain.strengths)
    assert log_odds.errors * UNIT == pytest.approx(plain.errors)
    wider = hr.bradley_terry(v).ratings(level=0.99)
    assert (wider.upper - wider.values) / (plain.upper - plain.values) == pytest.approx([2.5758293 / 1.9599640] * 5)
    assert plain.values.mean() == pytest.approx(1000)


def test_an_anchor_has_the_rating_of_the_offset_and_no_error():
    v = of_table(TREES)
    found = hr.bradley_terry(v).ratings(anchor="cedar", offset=1114)
    at = v.items.index("cedar")
    assert (found.values[at], found.errors[at], found.lower[at], found.upper[at]) == (1114, 0, 1114, 1114)
    free = hr.bradley_terry(v).ratings()
    assert found.values - found.values[0] == pytest.approx(free.values - free.values[0])


def test_the_probability_of_a_win():
    found = hr.bradley_terry(of_table([("a", "b", 30, 10, 0)])).ratings()
    assert found.probability("a", "b") == pytest.approx(0.75)
    assert found.probability("b", "a") == pytest.approx(0.25)
    assert repr(found) == "Ratings(2 of 2 items, level=0.95)"
    with pytest.raises(hr.UsageError, match="there is no item 'z'"):
        found.probability("a", "z")


def test_an_item_that_wins_everything_has_no_rating_and_moves_no_other():
    core = [("a", "b", 30, 12, 4), ("b", "c", 11, 9, 0), ("a", "c", 9, 5, 2)]
    alone = hr.bradley_terry(of_table(core)).ratings()
    c = hr.bradley_terry(of_table([*core, ("best", "a", 40, 0, 0), ("best", "b", 3, 0, 0), ("c", "worst", 7, 0, 0)]))
    found = c.ratings()
    assert found.values[:3] == pytest.approx(alone.values)
    assert found.errors[:3] == pytest.approx(alone.errors)
    assert found.values[3:].tolist() == [np.inf, -np.inf]
    assert np.isnan(found.errors[3:]).all()
    assert found.notes == (
        "No rating for best: never lost to a rated item, so the votes set no upper limit.",
        "No rating for worst: never won against a rated item, so the votes set no lower limit.",
    )
    assert found.probability("best", "a") == 1
    with pytest.raises(hr.UsageError, match=r"'best' cannot be the anchor: .* both won and lost"):
        c.ratings(anchor="best")


def test_items_that_no_votes_connect_have_no_common_ratings():
    table = [("a", "b", 3, 2, 0), ("b", "c", 3, 2, 0), ("x", "y", 30, 20, 0)]
    c = hr.bradley_terry(of_table(table))
    found = c.ratings()
    assert np.isfinite(found.values).tolist() == [True, True, True, False, False]
    assert np.isnan(found.values[3:]).all()
    assert found.notes == ("No rating for x and y: no votes place them above or below the rated items.",)
    other = c.ratings(anchor="y")
    assert np.isfinite(other.errors).tolist() == [False, False, False, True, True]
    assert other.values[3] - other.values[4] == pytest.approx(UNIT * np.log(1.5))


def test_an_item_never_compared_has_no_rating():
    W = np.zeros((3, 3))
    W[0, 1], W[1, 0] = 6, 4
    found = hr.bradley_terry(hr.PairCounts.from_wins(W, ["a", "b", "idle"])).ratings()
    assert np.isnan(found.values[2])
    assert found.notes[0] == "No rating for idle: no votes place them above or below the rated items."


@pytest.mark.parametrize(
    ("v", "note"),
    [
        (hr.Votes.from_orders([["a", "b", "c"]]), "No ratings: no two items"),
        (hr.Votes.from_orders([["a"]]), "No ratings: no two items"),
        (hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[0.7, 0.3]), "No intervals: the votes are shares"),
        (hr.Votes.from_orders([[["a", "b", "c"]]]), "No intervals: 1 vote is too few for 3 items."),
        (hr.Votes.from_orders([[["a", "b"]]], weights=[50]), "No interval for a and b: all their votes are exactly"),
    ],
)
def test_intervals_that_would_mean_nothing_are_left_out(v, note):
    found = hr.bradley_terry(v).ratings()
    assert np.isnan(found.errors).all()
    assert np.isnan(found.lower).all()
    assert np.isnan(found.upper).all()
    assert len(found.notes) == 1
    assert found.notes[0].startswith(note)


def test_ratings_that_do_not_fall_along_the_order_are_reported():
    # Against a million battles the ridge weighs as much as the few battles of the newcomer.
    many = [("a", "b", 500_000, 500_000, 0), ("a", "c", 300_000, 250_000, 0), ("d", "b", 400, 200, 0)]
    v = of_table([*many, ("new", "a", 3, 1, 0), ("b", "c", 9, 8, 0), ("d", "new", 1, 1, 0)])
    c = hr.bradley_terry(v)
    ratings = c.ratings()
    values = ratings.values[list(c.ranking.order)]
    rises = int((np.diff(values) > 0).sum())
    assert rises == 1
    assert ratings.notes == (
        "The order uses a ridge of 1e-06, ratings use none: 1 item has a higher rating than the one before it.",
    )
    without = hr.bradley_terry(v, ridge=0)
    assert (np.diff(without.ratings().values[list(without.ranking.order)]) < 0).all()
    assert without.ratings().notes == ()


def test_nothing_is_fitted_until_ratings_are_asked_for(monkeypatch):
    v = hr.Votes.from_orders([["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"]], weights=[5, 4, 6])
    fits = []
    from holdrank.rules import ratings, strengths

    monkeypatch.setattr(ratings, "strengths", lambda *values: fits.append(1) or strengths.strengths(*values))
    c = hr.bradley_terry(v)
    assert not fits
    c.ratings()
    c.ratings(level=0.5)
    assert len(fits) == 1


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"scale": 0}, "scale must be a number above 0, not '0'"),
        ({"base": 1}, "base must be a number above 1, not '1'"),
        ({"offset": "high"}, "offset must be a number, not 'high'"),
        ({"level": 95}, "level must be a number between 0 and 1, not '95'"),
        ({"damping": -1}, "damping must be a number from 0, not '-1'"),
        ({"scale": float("nan")}, "scale must be a number above 0, not 'nan'"),
        ({"anchor": "oak"}, "there is no item 'oak'"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, problem):
    with pytest.raises(hr.UsageError, match=problem):
        hr.bradley_terry(of_table(TREES)).ratings(**options)


@pytest.mark.parametrize("floor", [0, -5, float("inf"), "many", True])
def test_a_floor_that_is_no_number_is_refused(floor):
    with pytest.raises(hr.UsageError, match="floor must be a number above 0"):
        hr.bradley_terry(of_table(TREES), reweight=True, floor=floor)


def test_negative_counts_are_refused():
    with pytest.raises(hr.UsageError, match="wins must be finite, not negative"):
        hr.PairCounts.from_wins([[0, -3], [5, 0]])


def test_other_rules_have_no_ratings():
    v = of_table(TREES)
    with pytest.raises(hr.UsageError, match="only a consensus by bradley_terry has ratings"):
        hr.kemeny(v).ratings()
    assert (hr.kemeny(v).has_ratings, hr.bradley_terry(v).has_ratings) == (False, True)


def test_reweighting_gives_every_pair_the_same_say():
    table = [("a", "b", 9000, 1000, 0), ("b", "c", 60, 40, 0), ("c", "a", 80, 20, 0)]
    W = of_table(table).wins()
    weighted = hr.bradley_terry(of_table(table), reweight=True)
    by_hand = hr.bradley_terry(hr.PairCounts.from_wins(100 * W / np.maximum(W + W.T, 50)), ridge=0)
    assert weighted.ratings().strengths == pytest.approx(by_hand.ratings().strengths)
    assert weighted.text() != hr.bradley_terry(of_table(table)).text()


def test_very_uneven_wins_have_ratings_that_explain_them():
    v = hr.Votes.from_ranks([list(range(1, 31)), list(range(30, 0, -1))], [10**12, 1])
    found = hr.bradley_terry(v).ratings()
    surprises = v.wins() / (1 + np.exp(found.strengths[:, None] - found.strengths))
    assert surprises.sum(axis=1) == pytest.approx(surprises.sum(axis=0), rel=1e-6)


def test_a_fit_that_does_not_converge_gives_no_ratings(monkeypatch):
    c = hr.bradley_terry(of_table(TREES))
    monkeypatch.setattr("holdrank.rules.strengths._CONVERGED", -1.0)
    found = c.ratings()
    assert np.isnan(found.values).all()
    assert found.notes[0].startswith("No ratings: the fit did not converge")


@given(st.integers(1, 7), st.data())
def test_groups_that_wins_connect(n, data):
    edges = np.array(data.draw(st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=n, max_size=n)))
    groups = strong_groups(edges)
    assert {frozenset(group.tolist()) for group in groups} == oracles.mutually_reachable(edges.tolist())
    assert sum(map(len, groups)) == n


def test_a_record_holds_the_ratings():
    v = of_table([*TREES, ("oak", "ash", 5, 0, 0)])
    c = hr.bradley_terry(v)
    record = ratings_record(c.ratings(anchor="elm"))
    assert record["values"][v.items.index("oak")] is None
    assert record["values"][0] == c.ratings(anchor="elm").values[0]
    assert v.items[record["anchor"]] == "elm"
    ranking = ranking_record("bradley-terry", c)
    whole = command_record("rank", v, spec={}, consensus=ranking, ratings=json.loads(json.dumps(record)), seconds=0.0)
    assert command_mismatch(whole) == ""
    assert "errors" in command_mismatch({**whole, "ratings": {**record, "errors": ["none"]}})


def test_a_consensus_with_ratings_can_be_pickled():
    c = hr.bradley_terry(of_table(TREES))
    again = pickle.loads(pickle.dumps(c))
    assert again == c
    assert again.ratings().values == pytest.approx(c.ratings().values)
    assert repr(again) == repr(c)


def test_the_command_rank_shows_ratings_and_says_who_has_none(command_line, tmp_path):
    counts = {"a,b,model_a": 30, "a,b,model_b": 12, "a,b,tie": 8, "z,a,model_a": 3}
    rows = ["model_a,model_b,winner", *(row for row, count in counts.items() for _ in range(count))]
    (tmp_path / "battles.csv").write_text("\n".join(rows) + "\n", "utf-8")
    code, out, _ = command_line("rank", "battles.csv", "--rule", "bradley-terry", "-q")
    lines = out.splitlines()
    assert code == 0
    assert " ".join(lines[1].split()) == "place rating 95 % interval item preferred to the next by"
    assert lines[2].split()[:4] == ["1", "–", "–", "z"]
    p = 34 / 50  # points of a; each of a and b has half of their log-odds, and half of its error
    half = UNIT * np.log(p / (1 - p)) / 2
    error = UNIT * np.sqrt(30 * (1 - p) ** 2 + 12 * p**2 + 8 * (0.5 - p) ** 2) / (50 * p * (1 - p)) / 2
    low, high = (1000 + half + sign * 1.959964 * error for sign in (-1, 1))
    assert lines[3].split()[:4] == ["2", f"{1000 + half:.0f}", f"{low:.0f}–{high:.0f}", "a"]
    assert "note: No rating for z: never lost to a rated item, so the votes set no upper limit." in lines
    _, out, _ = command_line("rank", "battles.csv", "--rule", "bradley-terry", "-q", "--json")
    found = json.loads(out)
    values = dict(zip(found["items"], found["ratings"]["values"], strict=True))
    assert values["z"] is None
    assert values["a"] == pytest.approx(1000 + half)
    assert found["ratings"]["errors"][found["items"].index("a")] == pytest.approx(error)
    _, out, _ = command_line("rank", "battles.csv", "--rule", "kemeny", "-q", "--json")
    assert "ratings" not in json.loads(out)


def test_ratings_as_text():
    c = hr.bradley_terry(of_table([("a", "b", 30, 12, 8), ("z", "a", 3, 0, 0)]))
    lines = c.ratings().text().splitlines()
    assert lines[0] == "ratings with 95 % confidence intervals"
    assert [line.split(":")[0] for line in lines[1:4]] == ["z", "a", "b"]
    assert lines[1] == "z: no rating"
    assert lines[4] == "No rating for z: never lost to a rated item, so the votes set no upper limit."


@pytest.mark.slow
def test_intervals_cover_what_they_should():
    rng = np.random.default_rng(11)
    truth = np.array([1.0, 0.5, 0.2, -0.3, -0.6, -0.8])
    covered = []
    for _ in range(400):
        met = np.triu(rng.poisson(60, (6, 6)), 1)
        won = rng.binomial(met, 1 / (1 + np.exp(truth - truth[:, None])))
        found = hr.bradley_terry(hr.PairCounts.from_wins(won + (met - won).T)).ratings(scale=1, base=np.e, offset=0)
        covered.append((found.lower <= truth) & (truth <= found.upper))
    assert 0.93 < np.mean(covered) < 0.97
