"""Confidence sets for places: against csranks' published numbers, brute force over regions, and hostile votes."""

from __future__ import annotations

import math
import pickle

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdrank as hr
from holdrank.analysis.chance.estimates import mean_of_scores, points, strengths
from holdrank.analysis.chance.stepdown import Estimate, separated
from holdrank.analysis.chance.sure_pairs import surely_before, surely_more_wins

import oracles
import strategies

SCORED = [hr.borda, hr.bradley_terry]
PAIRED = [hr.kemeny, hr.copeland]

# Mathematics in PISA 2018, OECD countries: score and standard error, from data-raw/pisa.csv of the R package csranks.
PISA = {
    "Australia": (491.3600252, 1.939833031), "Austria": (498.9423138, 2.970998694),
    "Belgium": (508.0703063, 2.262662011), "Canada": (512.0169429, 2.357475749), "Chile": (417.4065563, 2.41588757),
    "Colombia": (390.9322732, 2.989559274), "Czech Republic": (499.4676508, 2.460661531),
    "Denmark": (509.3983746, 1.735002337), "Estonia": (523.4145802, 1.743602224),
    "Finland": (507.3013618, 1.967920411), "France": (495.4075794, 2.320214487),
    "Germany": (500.0437805, 2.647083096), "Greece": (451.3703438, 3.091228197),
    "Hungary": (481.0826364, 2.319596741), "Iceland": (495.1873762, 1.953082603),
    "Ireland": (499.632894, 2.198621128), "Israel": (463.0345488, 3.498563228), "Italy": (486.5898573, 2.780045867),
    "Japan": (526.9732502, 2.471475318), "Korea": (525.933002, 3.121394315), "Latvia": (496.1263306, 1.962766789),
    "Lithuania": (481.1911884, 1.953282039), "Luxembourg": (483.421485, 1.097632409),
    "Mexico": (408.8014734, 2.493225544), "Netherlands": (519.2309824, 2.632277885),
    "New Zealand": (494.489676, 1.705942856), "Norway": (500.9637885, 2.219044878),
    "Poland": (515.6478747, 2.602085176), "Portugal": (492.4874062, 2.684570081),
    "Slovak Republic": (486.1648542, 2.555595707), "Slovenia": (508.8975441, 1.363877596),
    "Spain": (481.3926126, 1.462417763), "Sweden": (502.3877022, 2.654250935),
    "Switzerland": (515.3147131, 2.908003898), "Turkey": (453.5077774, 2.260406789),
    "United Kingdom": (501.7698992, 2.564428111), "United States": (478.2447174, 3.235444099),
}  # fmt: skip


def sets_of(values, covariance, level=0.95, units=math.inf, draws=4000):
    """(lower, upper, marginal lower, marginal upper)."""
    found = Estimate(np.asarray(values, dtype=float), np.asarray(covariance, dtype=float), units)
    above, alone = separated(found, level, draws, np.random.default_rng(5))
    n = len(values)
    return 1 + above.sum(0), n - above.sum(1), 1 + alone[:, :, 1].sum(1), n - alone[:, :, 0].sum(1)


class TestAgainstCsranks:
    def test_example_of_the_reference_page(self):
        # csranks(seq(1, 3, length = 10), sd = rep(0.2, 10)), as printed on its reference page
        lower, upper, _, _ = sets_of(np.linspace(1, 3, 10), np.diag(np.full(10, 0.04)), draws=40_000)
        assert lower.tolist() == [7, 6, 5, 4, 3, 2, 1, 1, 1, 1]
        assert upper.tolist() == [10, 10, 10, 10, 9, 8, 7, 6, 5, 4]

    @pytest.mark.parametrize("level", [0.95, 0.9])
    def test_countries_among_the_best_five(self, level):
        # cstaubest(tau = 5) in the vignette "Inference for Ranks": 12 countries at 95 %, without Sweden at 90 %
        names, (scores, errors) = list(PISA), np.array(list(PISA.values())).T
        best = "Belgium Canada Denmark Estonia Finland Japan Korea Netherlands Poland Slovenia Switzerland"
        best = set(best.split(" "))
        lower, _, _, _ = sets_of(scores, np.diag(errors**2), level)
        found = {names[k] for k in np.flatnonzero(lower <= 5)}
        assert found == best | {"Sweden"} if level == 0.95 else found == best

    def test_marginal_set_of_one_country(self):
        # csranks(simul = FALSE) in the same vignette: L = 8, U = 23
        scores, errors = np.array(list(PISA.values())).T
        _, _, lower, upper = sets_of(scores, np.diag(errors**2))
        at = list(PISA).index("United Kingdom")
        assert (lower[at], upper[at]) == (8, 23)


@pytest.mark.no_cover
@settings(max_examples=120)
@given(st.data())
def test_pairs_that_are_sure_hold_in_every_median_of_the_region(data):
    n = data.draw(st.integers(2, 5))
    size = data.draw(st.sampled_from([0.0, 0.05, 0.2]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    centre = np.triu(np.round(8 * rng.uniform(-1, 1, (n, n))) / 8, 1)  # sums of eighths are exact: ties are ties
    width = np.triu(rng.uniform(0, 2 * size, (n, n)), 1)
    centre, width = centre - centre.T, width + width.T
    sure, wins = surely_before(centre - width), surely_more_wins(centre - width)
    for corner in range(6):
        push = np.triu(rng.choice([-1.0, 1.0], (n, n)) if corner else np.zeros((n, n)), 1)
        margins = centre + (push - push.T) * width
        for order in oracles.kemeny(margins)[1]:
            place = np.argsort(order)
            assert (place[:, None] < place)[sure].all()
        scores = oracles.copeland_scores(margins)
        assert all(scores[i] > scores[j] for i, j in zip(*np.nonzero(wins), strict=True))


def test_a_clear_order_is_sure_and_a_cycle_is_not():
    clear = np.array([[0, 0.5, 0.9], [-0.5, 0, 0.5], [-0.9, -0.5, 0]])
    assert surely_before(clear - 0.1)[np.triu_indices(3, 1)].all()
    cycle = np.array([[0, 0.5, -0.5], [-0.5, 0, 0.5], [0.5, -0.5, 0]])
    assert not surely_before(cycle).any()
    # A cycle of three above a fourth: the fourth is last for sure, by majorities alone.
    below = np.pad(cycle, (0, 1))
    below[:3, 3], below[3, :3] = 0.05, -0.05
    assert surely_before(below)[:3, 3].all()


class TestEstimates:
    def test_covariance_of_points_is_that_of_the_ballots(self):
        votes = hr.Votes.from_orders([["a", "b", "c"], ["b", ["a", "c"]], ["c"]], weights=[3, 2, 4])
        each = np.array([[2, 1, 0]] * 3 + [[0.5, 2, 0.5]] * 2 + [[0.5, 0.5, 2]] * 4)
        found = points(votes, None)
        assert found.values == pytest.approx(each.mean(axis=0))
        assert found.covariance == pytest.approx(np.cov(each.T) / 9)
        assert found.units == 9

    def test_covariance_of_mean_scores_with_blanks_is_that_of_their_influence(self):
        rows = [[1.0, 2.0, math.nan], [3.0, 5.0, 4.0], [2.0, 2.5, 1.0], [0.0, 4.0, 2.0]]
        found = mean_of_scores(hr.Votes.from_score_rows(rows), None)
        table = np.array(rows)
        means = np.nanmean(table, axis=0)
        influence = np.nan_to_num(table - means) / (~np.isnan(table)).mean(axis=0)
        assert found.values == pytest.approx(means)
        assert found.covariance == pytest.approx(influence.T @ influence / 4 / 3)

    def test_strengths_by_groups_are_a_sandwich_of_their_sums(self):
        rng = np.random.default_rng(3)
        rows = [(f"v{rng.integers(12)}", *rng.choice(4, 2, replace=False)) for _ in range(150)]
        frame = polars.DataFrame({"who": [r[0] for r in rows], "winner": [f"i{r[1]}" for r in rows],
                                  "loser": [f"i{r[2]}" for r in rows]})  # fmt: skip
        votes = hr.Votes.from_battles(frame, by="who")
        found = strengths(votes, votes.groups)
        s = found.values
        place = {name: k for k, name in enumerate(votes.items)}
        slopes: dict[str, np.ndarray] = {}
        curvature = np.full((4, 4), 1 / 4)
        for who, winner, loser in rows:
            i, j = place[f"i{winner}"], place[f"i{loser}"]
            p = 1 / (1 + math.exp(s[j] - s[i]))
            slope = slopes.setdefault(who, np.zeros(4))
            slope[i] += 1 - p
            slope[j] -= 1 - p
            curvature[[i, i, j, j], [i, j, j, i]] += p * (1 - p) * np.array([1, -1, 1, -1])
        filling = sum(np.outer(slope, slope) for slope in slopes.values())
        bread = np.linalg.inv(curvature)
        expected = bread @ filling @ bread * len(slopes) / (len(slopes) - 1)
        gaps = np.array([[1, -1, 0, 0], [0, 1, -1, 0], [0, 0, 1, -1]])  # differences, for only these are determined
        assert gaps @ found.covariance @ gaps.T == pytest.approx(gaps @ expected @ gaps.T, rel=1e-6)
        sizes = [sum(row[0] == who for row in rows) for who in slopes]
        assert found.units == pytest.approx(150**2 / sum(size**2 for size in sizes))


@pytest.mark.parametrize("T", [*SCORED, *PAIRED])
def test_votes_cast_five_times_over_count_once_by_their_voter(T):
    votes = hr.sample_votes(hr.PlackettLuce([5.0, 4.0, 2.0, 1.0]), size=60, rng=2, items="abcd")
    rows = np.repeat(votes.ranks, votes.weights.astype(int), axis=0)
    orders = [["abcd"[k] for k in np.argsort(row)] for row in rows for _ in range(5)]
    table = {f"rank{k + 1}": [order[k] for order in orders] for k in range(4)}
    many = hr.read_votes(polars.DataFrame({**table, "voter": [f"v{k // 5}" for k in range(300)]}), by="voter")
    many = many.only("abcd")
    once, apart = hr.rank_sets(votes, T, rng=4), hr.rank_sets(many, T, rng=4)
    together = hr.rank_sets(many, T, by="voter", rng=4)
    assert (apart.units, together.units, together.by) == (300, 60, "voter")
    assert together.separated.sum() <= apart.separated.sum()
    if T in SCORED:
        assert together.separated.tolist() == once.separated.tolist()


@pytest.mark.parametrize(
    ("ranks", "weights"),
    [
        ([[0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 1], [0, 0, 1, 2, 0, 1], [0, 1, 0, 1, 0, 0]], [2, 1, 1, 1]),
        ([[0, 0, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0], [0, 0, 1, 2, 0, 1], [0, 0, 1, 2, 1, 0]], [1, 1, 1, 1]),
    ],
)
def test_a_pair_is_judged_alike_from_either_of_its_items(ranks, weights):
    """Some differences hardly vary here: with rounding, a pair had two quotients, far apart."""
    votes = hr.Votes.from_ranks(np.array(ranks), weights=weights, unlisted="observed")
    found = hr.rank_sets(votes, hr.bradley_terry, level=0.6, rng=1, draws=300)
    assert (found.lower <= found.marginal_lower).all()
    assert (found.marginal_upper <= found.upper).all()


@pytest.mark.no_cover
@settings(max_examples=60)
@given(strategies.votes(counts=True), st.sampled_from([*SCORED, *PAIRED]), st.sampled_from([0.6, 0.95]))
def test_sets_hold_the_consensus_and_sets_of_one_item_are_no_wider(votes, T, level):
    found = hr.rank_sets(votes, T, level=level, rng=1, draws=300)
    places, n = found.consensus.ranking.ranks, votes.n
    better = found.separated
    assert (found.lower >= 1).all()
    assert (found.upper <= n).all()
    assert not (better & better.T).any()
    assert (found.lower <= found.marginal_lower).all()
    assert (found.marginal_upper <= found.upper).all()
    assert (found.lower <= places).all()
    assert (places <= found.upper).all()
    assert (places[:, None] < places)[better].all()


@pytest.mark.parametrize("T", [*SCORED, *PAIRED])
class TestOddVotes:
    def test_one_voter_separates_nobody(self, T):
        found = hr.rank_sets(hr.Votes.from_orders([["a", "b", "c"]]), T, rng=0)
        assert found.lower.tolist() == [1, 1, 1]
        assert found.upper.tolist() == [3, 3, 3]

    def test_two_who_agree_separate_nobody_and_fifty_do(self, T):
        two, fifty = (hr.Votes.from_orders([["a", "b", "c"]], weights=[w]) for w in (2, 50))
        assert not hr.rank_sets(two, T, rng=0).separated.any()
        assert hr.rank_sets(fifty, T, rng=0).separated.sum() == 3

    def test_one_item(self, T):
        found = hr.rank_sets(hr.Votes.from_orders([["a"], ["a"]]), T, rng=0)
        assert (found.lower.tolist(), found.upper.tolist(), found.neighbours) == ([1], [1], ())
        assert "neighbour" not in found.text()

    def test_as_many_either_way_are_tied(self, T):
        votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[500, 500])
        found = hr.rank_sets(votes, T, rng=0)
        assert found.tied("a", "b")
        assert found.top(1) == ("a", "b")
        assert found.surely_top(1) == ()

    def test_shares_are_refused(self, T):
        with pytest.raises(hr.UsageError, match="need the number of votes"):
            hr.rank_sets(hr.Votes.from_orders([["a", "b"]], weights=[0.5]), T)


def test_unbeaten_and_unconnected_items_are_separated_from_nobody():
    battles = [["a", "b"]] * 9 + [["b", "a"]] * 3 + [["u", "a"]] * 5 + [["x", "y"]]
    found = hr.rank_sets(hr.Votes.from_orders(battles, unlisted="observed"), rng=0)
    at = [found.items.index(name) for name in "uxy"]
    assert not found.separated[at].any()
    assert not found.separated[:, at].any()
    assert found.notes == ("votes do not determine how strong 3 items are; they are separated from no item",)


def test_pair_counts_are_enough_for_bradley_terry():
    wins = np.array([[0, 60, 80], [40, 0, 60], [20, 40, 0]])
    counts = hr.PairCounts.from_wins(wins, ["a", "b", "c"])
    found = hr.rank_sets(counts, hr.bradley_terry, rng=0)
    assert found.separated[0, 2]
    assert found.lower.tolist()[2] >= 2
    with pytest.raises(hr.UsageError, match="needs ballots"):
        hr.rank_sets(counts, hr.bradley_terry, by="voter")
    with pytest.raises(hr.UsageError, match="needs ballots"):
        hr.rank_sets(counts, hr.kemeny)


def test_what_cannot_be_told_is_refused_with_a_way_out():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]])
    refused = {
        "bootstrap": lambda: hr.rank_sets(votes, hr.footrule),
        "pass the base rule of the tiers": lambda: hr.rank_sets(votes, hr.Robust(hr.kemeny, 0.1)),
        "from 200": lambda: hr.rank_sets(votes, draws=199),
        "between 0 and 1": lambda: hr.rank_sets(votes, level=1.0),
        "which voter": lambda: hr.rank_sets(votes, by="judge"),
        "another rule": lambda: hr.rank_sets(votes, "kemeny"),
        "from 1 to 2": lambda: hr.rank_sets(votes, rng=0).top(3),
    }
    for words, call in refused.items():
        with pytest.raises(hr.UsageError, match=words):
            call()


def test_one_group_alone_is_refused():
    frame = polars.DataFrame({"winner": ["a", "b"], "loser": ["b", "a"], "judge": ["j", "j"]})
    with pytest.raises(hr.UsageError, match="has only one group"):
        hr.rank_sets(hr.Votes.from_battles(frame, by="judge"), by="judge")


def test_same_seed_same_sets_and_the_seed_is_kept():
    votes = hr.sample_votes(hr.Mallows([0, 1, 2, 3], 0.8), size=40, rng=1)
    one = hr.rank_sets(votes, hr.kemeny)
    two = hr.rank_sets(votes, hr.kemeny, rng=one.seed)
    assert one.separated.tolist() == two.separated.tolist()
    assert not one.lower.flags.writeable
    assert pickle.loads(pickle.dumps(one)).upper.tolist() == one.upper.tolist()


def test_few_units_make_wider_sets():
    # Three units: quotients of a difference and an estimated error are far wider than normal ones.
    values, covariance = [1.0, 0.0], np.diag([0.05, 0.05])
    assert sets_of(values, covariance)[0].tolist() == [1, 2]
    assert sets_of(values, covariance, units=3)[0].tolist() == [1, 1]


def test_page_and_text_escape_hostile_names():
    name = "<b>\x1b[31m"
    found = hr.rank_sets(hr.Votes.from_orders([[name, "b"]] * 30), rng=0)
    assert "<b>" not in found._repr_html_()
    assert "\x1b" not in found._repr_html_()
    assert "\x1b" not in found.text()
    assert repr(found).startswith("RankSets(")


def test_sets_as_a_data_frame():
    found = hr.rank_sets(hr.Votes.from_orders([["b", "a"]], weights=[40]), rng=0).to_frame(backend="polars")
    assert found.rows() == [("b", 1.0, 1, 1, 1, 1), ("a", 2.0, 2, 2, 2, 2)]
