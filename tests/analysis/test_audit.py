"""Audits: the right probe is raised and no other, statistics are what their definitions say, and any votes will do."""

from __future__ import annotations

import io
import itertools
import json
import math
import multiprocessing
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import holdrank as hr
from boards import DEFECTS, board, scores, votes_of
from holdrank.analysis.audit import PROBES, audit_in_brief
from holdrank.analysis.audit_records import audit_record
from holdrank.analysis.probes.bars import BARS
from holdrank.analysis.probes.cycles import _count, majority_chances
from holdrank.analysis.probes.evidence import Evidence
from holdrank.analysis.probes.links import gini, least_cut
from holdrank.analysis.probes.people import log_chance, weighed
from holdrank.analysis.probes.standing import as_normal, components, critical, influences, separated, standing
from holdrank.analysis.records import command_mismatch, command_record, mismatch, ranking_record
from holdrank.cli import terminal
from holdrank.rules.registry import rule_of
from holdrank.status import Clock
from holdrank.views import report
from holdrank.views.audits import audit_markdown, audit_page
from holdrank.words import audit as audit_words
from holdrank.words import misleading, missing
from holdrank.words.misleading import in_brief

from analyses import analysed
from studios import opened, running, wait

HOSTILE = "<script>alert(1)</script>"


def quick(votes, T=hr.auto, **options):
    """An audit without the adversary."""
    return hr.audit(votes, T, rng=1, time_limit=0, **options)


def raised(found):
    return [one.probe for one in found.raised]


# Boards with one defect each.


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("defect", DEFECTS)
def test_the_right_probe_is_raised_and_no_other(defect, seed):
    assert raised(quick(votes_of(board(defect, seed)))) == [defect]


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_raised_on_a_clean_board_and_every_probe_applies(seed):
    found = quick(votes_of(board(None, seed)))
    assert raised(found) == []
    assert [one.probe for one in found.findings if one.applies] == list(PROBES)


def test_findings_name_what_was_planted():
    judge = quick(votes_of(board("judge", 1)))["judge"]
    assert judge.people == ("v0",)
    assert judge.pairs == (("m5", "m4"),)
    assert judge.upper < 0  # without them m4 is ahead
    category = quick(votes_of(board("category", 1)))["category"]
    assert category.people == ("fr",)
    assert ("m2", "m5") in category.pairs
    assert quick(votes_of(board("coverage", 1)))["coverage"].items == ("m9",)
    assert set(quick(votes_of(board("cycles", 1)))["cycles"].items) == {"m0", "m1", "m2"}
    thin = quick(votes_of(board("connection", 1)))["connection"]
    assert thin.value == 12
    assert set(thin.items) in ({f"m{k}" for k in range(5)}, {f"m{k}" for k in range(5, 10)})
    assert quick(votes_of(board("ties", 1)))["ties"].pairs == (("m3", "m1"), ("m2", "m1"))


SAID = {
    "votes": "None of 9 neighbouring pairs is separated at 95 %. Half of them need more than 4,100 battles in all",
    "position": "Shown first, an item wins 8.7 more of 100 battles",
    "ties": "of battles when a tie is half a win, but in",
    "cycles": "One of them: m",
    "connection": "Only 12 comparisons connect",
    "coverage": "1 item has few comparisons. m9 is compared least: 95 times",
    "people": "neighbouring pairs are then separated, not",
    "judge": "Without v0 (786 battles, 7.86 % of all), m4 beats m5",
    "category": "In language fr (2,466 battles), m5 beats m2",
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_findings_say_what_was_planted(defect):
    found = quick(votes_of(board(defect, 1)))
    one = found[defect]
    assert SAID[defect] in one.text()
    for page in (found.text(), audit_page(found), audit_markdown(found)):
        assert one.statistic_text.split(" ")[0] in page
        assert one.bar_text.removeprefix("raised when ").split(",")[0] in page
    assert found.text().index(one.title) < found.text().index("clear: ")
    assert repr(found) == f"Audit(bradley_terry, 9 probes, raised: {defect})"


def test_opinions_of_voters_widen_errors():
    rng = np.random.default_rng(4)
    voters, battles = 60, 9000
    taste = rng.normal(0, 0.8, (voters, 6))
    first = rng.integers(6, size=battles)
    second = (first + rng.integers(1, 6, size=battles)) % 6
    who = rng.integers(voters, size=battles)
    lead = 0.4 * (second - first) + taste[who, first] - taste[who, second]
    won = rng.random(battles) < 1 / (1 + np.exp(-lead))
    rows = {"model_a": [f"m{k}" for k in first], "model_b": [f"m{k}" for k in second]}
    rows |= {"winner": np.where(won, "model_a", "model_b"), "who": [f"v{k}" for k in who]}
    found = quick(hr.read_votes(pl.DataFrame(rows), voter="who"))["people"]
    assert found.raised
    assert found.lower > 1.15
    assert found.facts["separated_by_people"] < found.facts["separated"]


def test_the_adversary_stands_beside_the_finding():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[11, 9], unlisted="observed")
    found = hr.audit(votes, rng=1)["votes"]
    # One vote ties 11 : 9, two turn it.
    assert found.adversary["sufficient"] == 2
    assert found.adversary_text == "2 votes (10 %) put b above a"
    assert hr.audit(votes, rng=1, time_limit=0)["votes"].adversary is None


def test_pair_counts_have_an_adversary_where_their_rule_has_attacks():
    counts = hr.PairCounts.from_wins([[0, 11], [9, 0]], items=["a", "b"])
    assert hr.audit(counts, rng=1)["votes"].adversary_text == "2 votes (10 %) put b above a"
    assert hr.audit(counts, hr.kemeny, rng=1)["votes"].adversary is None


def test_the_status_says_whether_time_sufficed():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[11, 9], unlisted="observed")
    assert hr.audit(votes, rng=1, time_limit=None).status is hr.Status.SORTED
    assert hr.audit(votes, rng=1, time_limit=0).status is hr.Status.TIME_LIMIT
    assert hr.audit(ODD["one item"], rng=1, time_limit=0).status.is_exact  # there is nothing to attack


# Ballots and scores.


def ballots(seed=0, people=40, each=10, odd=0.0):
    """Rankings of four items by people; a share of all ballots is one person's, who puts d first."""
    rng = np.random.default_rng([seed, 3])
    m = people * each
    values = np.array([1.2, 0.8, 0.0, -0.05]) + rng.gumbel(size=(m, 4))
    who = np.array([f"p{k}" for k in rng.integers(people, size=m)], dtype=object)
    task = np.array(["code", "maths", "law"])[rng.integers(3, size=m)]
    loud = rng.random(m) < odd
    values[loud, 3], who[loud] = 9, "loud"
    ranks = (-values).argsort(axis=1).argsort(axis=1) + 1
    table = {name: ranks[:, k] for k, name in enumerate("abcd")}
    return pl.DataFrame({**table, "person": who, "task": task})


def test_one_judge_carries_a_place_in_rankings():
    frame = ballots(odd=0.12)
    votes = hr.read_votes(frame, format="rank-columns", columns=list("abcd"), voter="person")
    for rule in (hr.kemeny, hr.borda):
        found = quick(votes, rule)["judge"]
        assert found.people == ("loud",), rule
        assert ("d", "c") in found.pairs
        assert "Without loud" in found.text()
    assert not quick(hr.read_votes(ballots(), format="rank-columns", columns=list("abcd"), voter="person")).raised[1:]


@pytest.mark.parametrize("rule", [hr.kemeny, hr.borda, hr.bradley_terry])
def test_a_category_reverses_rankings(rule):
    frame = ballots(each=20)
    code = frame["task"] == "code"
    frame = frame.with_columns(
        pl.when(code).then(frame["b"]).otherwise(frame["a"]).alias("a"),
        pl.when(code).then(frame["a"]).otherwise(frame["b"]).alias("b"),
    )
    votes = hr.read_votes(frame, format="rank-columns", columns=list("abcd"), by="task")
    found = quick(votes, rule)["category"]
    assert found.people == ("code",)
    assert found.pairs == (("a", "b"),)


def test_a_cycle_of_majorities_is_found_in_rankings():
    votes = hr.Votes.from_orders([list("abc"), list("bca"), list("cab")], weights=[100, 100, 100])
    found = quick(votes)["cycles"]
    assert found.raised
    assert set(found.items) == set("abc")
    few = hr.Votes.from_orders([list("abc"), list("bca"), list("cab")], weights=[3, 3, 3])
    assert not quick(few)["cycles"].raised


def test_a_table_of_scores():
    rng = np.random.default_rng(1)
    scores = rng.normal(0, 1, (30, 5)) + np.array([8.0, 6, 4, 2, 0])
    table = pl.DataFrame({"model": list("abcde"), **{f"t{k}": scores[k] for k in range(30)}})
    for rule in (hr.mean_score, hr.auto, hr.borda):
        found = quick(hr.Votes.from_scores(table), rule)
        assert raised(found) == []
        assert found["votes"].value == 1
        assert "cast a single vote" in found["judge"].text()


# What the statistics are.


def test_the_lead_of_two_items_is_the_log_of_their_odds():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[300, 200], unlisted="observed")
    found = standing(votes, rule_of(hr.bradley_terry))
    assert found.lead[0, 1] == pytest.approx(math.log(1.5), rel=1e-4)
    assert found.error[0, 1] == pytest.approx(math.sqrt(1 / 300 + 1 / 200), rel=2e-3)
    by_share = standing(votes, rule_of(hr.kemeny))
    assert by_share.z[0, 1] == pytest.approx(100 / math.sqrt(500))  # of a coin that is tossed 500 times


def test_leads_in_places_and_scores_are_those_of_paired_samples():
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(40, 3)) + np.array([0.5, 0.2, 0.0])
    votes = hr.Votes.from_score_rows(scores)
    found = standing(votes, rule_of(hr.mean_score))
    test = scipy.stats.ttest_rel(scores[:, 0], scores[:, 1])
    assert found.lead[0, 1] / found.error[0, 1] == pytest.approx(test.statistic)
    assert 2 * scipy.stats.norm.sf(abs(found.z[0, 1])) == pytest.approx(test.pvalue, rel=0.02)
    places = scipy.stats.rankdata(-scores, axis=1)
    by_place = standing(votes, rule_of(hr.borda))
    test = scipy.stats.ttest_rel(places[:, 1], places[:, 0])
    assert by_place.lead[0, 1] / by_place.error[0, 1] == pytest.approx(test.statistic)


@pytest.mark.parametrize("degrees", [3, 10, 60])
def test_as_rare_as_by_student(degrees):
    t = np.array([-4.0, -1.0, 0.0, 0.5, 2.0, 3.5])
    right = scipy.stats.norm.ppf(scipy.stats.t.cdf(t, degrees))
    assert as_normal(t, degrees) == pytest.approx(right, abs=0.06 if degrees < 5 else 0.01)


@given(st.lists(st.floats(-1, 6), min_size=1, max_size=8))
def test_separated_is_holm(z):
    p = sorted((2 * scipy.stats.norm.sf(x) if x > 0 else 1.0, k) for k, x in enumerate(z))
    right = np.zeros(len(z), dtype=bool)
    for done, (value, k) in enumerate(p):
        if value >= 0.05 / (len(z) - done):
            break
        right[k] = True
    assert separated(np.array(z), 0.95).tolist() == right.tolist()


def test_critical_values_are_of_bonferroni():
    assert critical(0.9, 7) == pytest.approx(scipy.stats.norm.isf(0.05 / 7))


def small_graphs():
    number = st.sampled_from([0, 0, 1, 2, 5, 9])
    return st.integers(2, 6).flatmap(lambda n: st.lists(number, min_size=n * n, max_size=n * n))


@given(small_graphs())
def test_the_least_cut_is_that_over_all_parts(numbers):
    n = math.isqrt(len(numbers))
    met = np.triu(np.array(numbers, dtype=float).reshape(n, n), 1)
    met += met.T
    cuts = {}
    for size in range(1, n):
        for part in itertools.combinations(range(n), size):
            inside = np.isin(np.arange(n), part)
            cuts[part] = met[np.ix_(inside, ~inside)].sum()
    cut, side = least_cut(met)
    assert cut == min(cuts.values())
    assert cuts[tuple(side.tolist())] == cut
    apart = [part for part, links in cuts.items() if links == 0]
    assert (components(met).max() > 0) == bool(apart)


@given(small_graphs())
def test_cycles_are_triples_that_beat_each_other_in_turn(numbers):
    n = math.isqrt(len(numbers))
    wins = np.array(numbers).reshape(n, n)
    beats = wins > wins.T
    cyclic = decided = 0
    for a, b, c in itertools.combinations(range(n), 3):
        decided += all(beats[x, y] or beats[y, x] for x, y in ((a, b), (b, c), (a, c)))
        cyclic += (beats[a, b] and beats[b, c] and beats[c, a]) or (beats[b, a] and beats[c, b] and beats[a, c])
    assert _count(beats) == (cyclic, decided)


@given(st.lists(st.tuples(st.integers(1, 60), st.floats(0.001, 0.999)), min_size=1, max_size=6))
def test_chances_of_a_majority_are_binomial(pairs):
    m, p = (np.array(column) for column in zip(*pairs, strict=True))
    most, level = majority_chances(m, p)
    assert most == pytest.approx(scipy.stats.binom.sf(m // 2, m, p), abs=1e-12)
    assert level == pytest.approx(np.where(m % 2 == 0, scipy.stats.binom.pmf(m // 2, m, p), 0.0), abs=1e-12)


def test_chances_of_a_majority_of_many_battles():
    m, p = np.array([20_000, 20_001, 9000, 5000]), np.array([0.503, 0.498, 0.2, 0.502])
    most, level = majority_chances(m, p)
    assert most == pytest.approx(scipy.stats.binom.sf(m // 2, m, p), abs=2e-5)
    assert level == pytest.approx(np.where(m % 2 == 0, scipy.stats.binom.pmf(m // 2, m, p), 0.0), abs=2e-5)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=9).filter(any))
def test_gini_is_the_mean_difference_over_twice_the_mean(counts):
    x = np.array(counts, dtype=float)
    assert gini(x) == pytest.approx(np.abs(x[:, None] - x).mean() / (2 * x.mean()))


@given(st.lists(st.integers(-3, 3), min_size=4, max_size=9), st.integers(1, 4))
def test_the_chance_of_a_sum_is_never_understated(numbers, drawn):
    x = np.array(numbers, dtype=float)
    x -= x.mean()
    sums = np.array([x[list(part)].sum() for part in itertools.combinations(range(len(x)), drawn)])
    spread, largest = np.full(len(sums), drawn * x.var()), np.full(len(sums), np.abs(x).max())
    bound = np.exp(log_chance(sums, spread, largest))
    exact = (sums[None] >= sums[:, None] - 1e-12).mean(axis=1)
    assert (exact[sums > 0] <= bound[sums > 0] + 1e-12).all()


def test_position_is_the_difference_between_shown_first_and_shown_second():
    text = "model_a,model_b,winner\n" + "x,y,model_a\n" * 60 + "x,y,model_b\n" * 40 + "y,x,model_b\n" * 45
    text += "y,x,model_a\n" * 55 + "x,z,model_a\n" * 50 + "x,z,model_b\n" * 50
    found = quick(hr.read_votes(io.BytesIO(text.encode())))["position"]
    # x wins 60 % of 100 against y when shown first, 45 % of 100 when second; x and z met in one order only.
    assert found.value == pytest.approx(0.15)
    p = 105 / 200
    assert found.upper - found.value == pytest.approx(1.96 * math.sqrt(p * (1 - p) * 2 / 100), rel=1e-3)


def test_taking_the_position_away_turns_a_pair_that_it_put_in_order():
    # y is better by 52 : 48, but x is shown first in nine battles of ten and that is worth 20 of 100.
    rows = [
        ("x", "y", "model_a", 522),
        ("x", "y", "model_b", 378),
        ("y", "x", "model_a", 62),
        ("y", "x", "model_b", 38),
    ]
    frame = pl.DataFrame(rows, schema=["model_a", "model_b", "winner", "weight"], orient="row")
    found = quick(hr.read_votes(frame))["position"]
    assert found.raised
    assert found.pairs == (("x", "y"),)


@pytest.mark.parametrize("rule", [hr.bradley_terry, hr.kemeny, hr.borda, hr.mean_score])
def test_influences_are_what_one_more_vote_does(rule):
    rng = np.random.default_rng(5)
    if rule is hr.bradley_terry:
        votes = votes_of(board(None, 3, items=4, battles=900))
    else:
        votes = hr.Votes.from_score_rows(rng.integers(0, 9, (60, 4)).astype(float) + np.arange(4))
    entry = rule_of(rule)
    seen = standing(votes, entry)
    gaps = np.array([[0, 1], [2, 3], [1, 3]])
    each = influences(votes, seen, gaps)
    step = 1e-3
    for row in range(0, votes.distinct, 7):
        weights = votes.weights.copy()
        weights[row] += step
        after = standing(votes.with_weights(weights), entry)
        moved = (after.lead - seen.lead)[gaps[:, 0], gaps[:, 1]] / step
        assert each[row] == pytest.approx(moved, rel=0.02, abs=2e-6)


def test_people_cast_all_votes():
    votes = votes_of(board("people", 1))
    known = Evidence(votes, hr.bradley_terry, rule_of(hr.bradley_terry), hr.bradley_terry(votes), 0.95, 0)
    people = known.people
    assert np.bincount(people.row, people.weight, votes.distinct).tolist() == votes.weights.tolist()
    assert people.totals.sum() == 10_000


@pytest.mark.parametrize("kind", ["battles", "rankings"])
def test_people_are_weighed_as_by_adding_up_their_votes(kind):
    if kind == "battles":
        votes, rule = votes_of(board("judge", 2, items=5, battles=400, voters=30)), hr.bradley_terry
    else:
        columns = list("abcd")
        votes = hr.read_votes(ballots(), format="rank-columns", columns=columns, voter="person")
        rule = hr.kemeny
    known = Evidence(votes, rule, rule_of(rule), rule(votes), 0.95, 0)
    seen = weighed(known, known.people)
    each = influences(votes, known.standing, seen.gaps)
    listed = [tuple(np.flatnonzero(row)) if kind == "battles" else () for row in votes.ranks]
    residual = np.zeros_like(each)
    for pair in set(listed):
        rows = [k for k, other in enumerate(listed) if other == pair]
        residual[rows] = each[rows] - np.average(each[rows], axis=0, weights=votes.weights[rows])
    people = known.people
    sums = np.zeros((len(people.names), len(seen.gaps)))
    for who, row, weight in zip(people.person, people.row, people.weight, strict=True):
        sums[who] += weight * residual[row]
    alone = sum(weight * row**2 for weight, row in zip(votes.weights, residual, strict=True))
    assert seen.inflation == pytest.approx((sums**2).sum(axis=0) / alone)
    cast = sorted(people.totals.tolist(), reverse=True)
    half = next(k for k in range(1, len(cast) + 1) if sum(cast[:k]) >= sum(cast) / 2)
    assert quick(votes, rule)["people"].facts["half"] == half
    assert seen.doubt == pytest.approx(math.sqrt(2 * sum(m * (m - 1) for m in cast)) / sum(cast))


# Where the position comes from.


def test_who_was_shown_first_is_the_same_by_every_reader(tmp_path):
    pytest.importorskip("duckdb")
    frame = board(None, 5, items=4, battles=300)
    frame.write_csv(tmp_path / "one.csv")
    frame.write_parquet(tmp_path / "two.parquet")
    frame.write_ndjson(tmp_path / "three.jsonl")
    readers = [
        hr.read_votes(frame),
        hr.Votes.from_battles(frame),
        hr.Votes.from_battles(frame.to_pandas(), voter="voter"),
        *(hr.read_votes(tmp_path / name) for name in ("one.csv", "two.parquet", "three.jsonl")),
        *(hr.read_votes(str(tmp_path / name)) for name in ("on*.csv", "tw*.parquet", "thre*.jsonl")),  # by DuckDB
    ]
    names = sorted(readers[0].items)
    right = np.zeros((4, 4))
    for a, b in zip(frame["model_a"], frame["model_b"], strict=True):
        right[names.index(a), names.index(b)] += 1
    for votes in readers:
        order = [votes.items.index(name) for name in names]
        met, won = votes.first_shown.tables(4)
        assert met[np.ix_(order, order)].tolist() == right.tolist()
        wins = won + (met - won).T
        assert wins.tolist() == votes.wins().tolist()


def test_what_votes_keep_of_the_position():
    votes = votes_of(board(None, 5, items=4, battles=300))
    same = pickle.loads(pickle.dumps(votes))
    assert same.first_shown.tables(4)[0].tolist() == votes.first_shown.tables(4)[0].tolist()
    assert votes.renamed("wxyz").first_shown is not None
    assert votes.with_weights(votes.weights).first_shown is None  # which battles are left is not known
    assert votes.only(votes.items[:3]).first_shown is None
    assert repr(votes.first_shown) == "FirstShown(300 battles)"
    winners = hr.read_votes(io.BytesIO(b"winner,loser\nx,y\n"))
    assert winners.first_shown is None
    assert "do not say which item was shown first" in quick(winners)["position"].text()
    sorted_names = hr.read_votes(io.BytesIO(b"model_a,model_b,winner\nx,y,model_a\nx,y,model_b\n"))
    assert "only ever shown in one order" in quick(sorted_names)["position"].text()


# Votes that nobody listed.

SEEN = "observed"
ODD = {
    "one item": hr.Votes.from_orders([["a"]], weights=[3]),
    "two items, one vote": hr.Votes.from_orders([["a", "b"]]),
    "level": hr.Votes.from_orders([["a", "b", "c"], ["c", "b", "a"]], weights=[5, 5]),
    "all tied": hr.Votes.from_orders([[["a", "b", "c"]]], weights=[9]),
    "shares": hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[0.6, 0.4]),
    "unlisted": hr.Votes.from_orders([["a"], ["b", "c"], ["d"]], weights=[30, 20, 9]),
    "observed": hr.Votes.from_orders([["a", "b", "c"], ["c", "d"], ["d", "a"]], [9, 8, 7], unlisted=SEEN),
    "in parts": hr.Votes.from_orders([["a", "b"], ["b", "a"], ["c", "d"]], [9, 8, 7], unlisted=SEEN),
    "unbeaten": hr.Votes.from_orders([["a", "b"], ["a", "c"], ["b", "c"], ["c", "b"]], [80, 90, 70, 30], unlisted=SEEN),
    "never compared": hr.Votes.from_orders([["a"], ["b"]], [2, 2], unlisted=SEEN),
    "equal scores": hr.Votes.from_score_rows([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]),
    "blank scores": hr.Votes.from_score_rows([[1.0, np.nan, 3.0], [2.0, 1.0, np.nan]], [40, 30]),
    "battles that tie": hr.Votes.from_orders([[["a", "b"]], [["b", "c"]]], [40, 30], unlisted=SEEN),
    "hostile": hr.Votes.from_orders([[HOSTILE, "b", "\x1b[31mc"], ["b", HOSTILE, "\x1b[31mc"]], [30, 25]),
    "pair counts": hr.PairCounts.from_wins([[0, 70, 40], [30, 0, 45], [60, 55, 0]]),
    "pair counts of ballots": hr.PairCounts.from_votes(hr.Votes.from_orders([["a", "b", "c"], ["c", "b"]], [30, 9])),
    "win matrix of fractions": hr.PairCounts.from_wins([[0, 0.5], [0.25, 0]]),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("rule", [hr.auto, hr.kemeny, hr.bradley_terry, hr.copeland, hr.borda])
def test_any_votes_are_audited(name, rule):
    votes = ODD[name]
    if rule is hr.borda and name in (
        "observed",
        "in parts",
        "unbeaten",
        "never compared",
        "blank scores",
        "battles that tie",
    ):
        return  # places are not known
    found = quick(votes, rule)
    assert [one.probe for one in found.findings] == list(PROBES)
    for one in found.findings:
        ends = (one.value, one.lower, one.upper)
        assert all(end is None or math.isfinite(end) for end in ends), (one, ends)
        assert one.text()
        assert one.applies == (one.value is not None)
        assert "\x1b" not in one.text()
    assert found.headline in found.text()
    if isinstance(votes, hr.Votes):
        parts = {"consensus": ranking_record("x", found.consensus), **audit_record(found)}
        record = command_record("audit", votes, spec={}, **parts, seconds=0.0)
        assert command_mismatch(record) == ""
        json.dumps(record, allow_nan=False)


def test_some_odd_votes_mean_what_they_should():
    parts = quick(ODD["in parts"])
    assert "fall into 2 groups" in parts["connection"].text()
    assert quick(ODD["unbeaten"])["votes"].value == 1  # 170 wins and no loss tell a from b
    assert quick(ODD["shares"])["votes"].text() == (
        "Does not apply: the weights are not whole numbers of votes, so chance cannot be measured."
    )
    level = quick(ODD["level"])["votes"]
    assert level.raised
    assert "no number of votes like these separates them" in level.text()
    assert quick(ODD["two items, one vote"])["votes"].raised


def test_names_stay_text():
    found = hr.audit(ODD["hostile"], rng=1)
    for page in (audit_page(found), audit_markdown(found), found._repr_html_()):
        assert "<script>" not in page
        assert "\x1b" not in page
    assert "&lt;script&gt;" in audit_page(found)


def test_hostile_names_of_groups_and_people():
    frame = board("category", 1).with_columns(pl.lit(HOSTILE).alias("voter"))
    frame = frame.with_columns(language=pl.col("language").replace("fr", f"{HOSTILE}\x1b[2J"))
    found = quick(votes_of(frame))
    assert found["category"].raised
    assert "\x1b" not in found.text()
    for page in (audit_page(found), audit_markdown(found), found._repr_html_()):
        assert "<script>" not in page
        assert "\x1b" not in page
    assert "a single one cast all votes" in found["judge"].text()


def test_what_probes_lack_is_said():
    rows = board(None, 1, items=4, battles=60)
    few = rows.with_columns(language=pl.Series([f"l{k}" for k in range(60)]))
    assert "fewer than two groups have enough votes" in quick(votes_of(few))["category"].text()
    halves = rows.with_columns(weight=pl.lit(0.5))
    shares = quick(votes_of(halves))
    for probe in ("votes", "position", "cycles", "people", "judge", "category"):
        assert "not whole numbers of votes" in shares[probe].text(), probe
    tied = rows.with_columns(winner=pl.lit("tie"))
    assert "every battle ended in a tie" in quick(votes_of(tied))["ties"].text()
    counts = quick(hr.PairCounts.from_votes(votes_of(rows)))
    for probe in ("people", "judge", "category"):
        assert "pair counts do not say who cast each vote" in counts[probe].text()


def test_of_very_many_items_the_one_with_fewest_links_is_looked_at(monkeypatch):
    monkeypatch.setattr("holdrank.analysis.probes.links._MOST_ITEMS", 5)
    found = quick(votes_of(board("coverage", 1)))["connection"]
    assert found.value == 95  # the comparisons of m9
    assert not found.raised


def test_rankings_know_voters_or_categories_and_say_so():
    votes = hr.read_votes(ballots(), format="rank-columns", columns=list("abcd"), voter="person", by="task")
    found = quick(votes)
    assert found["category"].applies
    assert "read them with voter and without by" in found["people"].text()
    battles = quick(hr.read_votes(board(None, 1, battles=500), by="language"))
    assert "name the column with voter" in battles["people"].text()


def test_of_many_items_cycles_are_counted_among_those_compared_most(monkeypatch):
    monkeypatch.setattr("holdrank.analysis.probes.cycles._MOST_ITEMS", 6)
    votes = votes_of(board("cycles", 1))
    found = quick(votes)["cycles"]
    assert found.facts["triples"] == 20
    assert "among the 6 items that are compared most" in found.text()
    everyone = votes.wins().sum(axis=1) + votes.wins().sum(axis=0)
    least = votes.items[int(everyone.argmin())]
    assert least not in found.items


# The call.


@pytest.mark.slow
@pytest.mark.traced
def test_the_same_seed_gives_the_same_audit():
    frame = board(None, 6, items=6, battles=600)
    one, two = (audit_record(hr.audit(votes_of(frame), rng=seed)) for seed in (3, 3))
    assert one == two
    given = hr.audit(votes_of(frame), rng=np.random.default_rng(1))
    assert audit_record(hr.audit(votes_of(frame), rng=given.seed)) == audit_record(given)


def _audited(seed):
    return audit_record(hr.audit(votes_of(board("judge", 1)), rng=seed, time_limit=None))


@pytest.mark.slow
def test_an_audit_is_the_same_in_any_process():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        assert list(processes.map(_audited, [3, 3])) == [_audited(3)] * 2


def test_tiers_are_audited_by_the_order_below_them():
    votes = votes_of(board(None, 1, items=4, battles=2000))
    assert quick(votes, hr.Robust(hr.bradley_terry, 0.1)).statistic == quick(votes, hr.bradley_terry).statistic


def test_what_is_no_votes_or_no_level_is_refused():
    with pytest.raises(hr.UsageError, match="audit takes Votes"):
        hr.audit([[1, 2]])
    for level in (0, 1, "x", math.nan):
        with pytest.raises(hr.UsageError, match="level must be a number between 0 and 1"):
            hr.audit(ODD["level"], level=level)
    with pytest.raises(hr.UsageError, match="there is no probe 'vote'"):
        quick(ODD["level"])["vote"]


def test_rows_and_steps():
    steps = []
    found = quick(ODD["level"], progress=steps.append)
    assert [step.done for step in steps] == list(range(1, 10))
    assert [row["probe"] for row in found.rows()] == list(PROBES)
    assert repr(found["votes"]) == "Finding('votes', raised)"


def test_the_command_prints_a_table_and_writes_pages(command_line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    board("judge", 1).write_csv("battles.csv")
    options = ["battles.csv", "-q", "--voter", "voter", "--by", "language", "--time-limit", "0"]
    code, out, err = command_line("audit", *options, "-o", "audit.html")
    assert code == 0
    assert err == "wrote audit.html\nnote: stopped at the time limit of 0 s; --time-limit 60 may complete the attacks\n"
    assert "1 of 9 probes raises a warning: one person who decides a place." in out
    assert "Without v0" in out
    assert (tmp_path / "audit.html").read_text("utf-8").startswith("<!doctype html>")
    code, out, err = command_line("audit", *options, "-o", "audit.md", "-v")
    assert (tmp_path / "audit.md").read_text("utf-8").startswith("# 1 of 9 probes raises a warning")
    code, _, err = command_line("audit", "battles.csv", "-o", "audit.png")
    assert code == 2
    assert "--output needs a file with the extension .html, .md" in err


# Bars, and leads.


def test_every_probe_has_a_title_and_is_counted_on_pages():
    assert tuple(audit_words._TITLES) == PROBES
    assert missing.PROBES == misleading.PROBES == len(PROBES)


def test_sentences_about_bars_take_their_numbers_from_the_probes(monkeypatch):
    found = quick(votes_of(board(None, 1)))
    told = {one.probe: one.bar_text for one in found.findings}
    numbers = {name: bar for name, bar in ((one.probe, one.bar) for one in found.findings) if bar}
    assert numbers["votes"] == BARS["separated"]
    assert f"{100 * BARS['separated']:g} %" in told["votes"]
    assert f"{100 * numbers['position']:g} of 100" in told["position"]
    assert f"{100 * numbers['cycles']:g} %" in told["cycles"]
    assert f"{numbers['connection']:g} comparisons" in told["connection"]
    assert f"{100 * numbers['coverage']:g} %" in told["coverage"]
    assert f"{100 * (numbers['people'] - 1):.4g} %" in told["people"]
    assert f"{100 * BARS['few']:g} %" in told["people"]
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "audit.md").read_text("utf-8")
    rows = {line.split("|")[1].strip(): line for line in page.splitlines() if line.startswith("| ")}
    assert all(re.search(rf"\b{100 * BARS[name]:g} %", rows[probe]) for probe, name in
               (("votes", "separated"), ("cycles", "cycles"), ("coverage", "coverage"), ("people", "few")))  # fmt: skip
    assert f"fewer than {BARS['links']}," in rows["connection"]
    assert f"more than {100 * BARS['position']:g}," in rows["position"]
    # Who moves a bar moves the probe and the sentence.
    monkeypatch.setitem(BARS, "links", 100_000)
    after = quick(votes_of(board(None, 1)))["connection"]
    assert (after.raised, after.bar) == (True, 100_000)
    assert after.bar_text == "raised when fewer than 100,000 comparisons connect two groups of items"


@pytest.mark.parametrize("rule", ["borda", "mean-score"])
def test_leads_and_errors_are_those_of_paired_samples(rule):
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(40, 4)) + np.array([0.5, 0.3, 0.0, 0.0])
    if rule == "mean-score":
        rows[rng.random(rows.shape) < 0.2] = np.nan
    votes = hr.Votes.from_score_rows(rows)
    found = standing(votes, rule_of({"borda": hr.borda, "mean-score": hr.mean_score}[rule]))
    values = scipy.stats.rankdata(rows, axis=1) if rule == "borda" else rows
    means = np.nanmean(values, axis=0)
    assert found.lead == pytest.approx(means[:, None] - means)
    moved = np.nan_to_num(values - means) / (~np.isnan(values)).sum(axis=0)
    for a, b in itertools.permutations(range(4), 2):
        error = math.sqrt(((moved[:, a] - moved[:, b]) ** 2).sum() * 40 / 39)
        assert found.error[a, b] == pytest.approx(max(error, abs(means[a] - means[b]) / math.sqrt(40)))
    gaps = np.array([[0, 1], [2, 3]])
    order = [int(np.flatnonzero((np.nan_to_num(votes.scores, nan=9) == np.nan_to_num(row, nan=9)).all(axis=1))[0])
             for row in rows]  # fmt: skip
    found_moves = influences(votes, found, gaps)[order]
    assert found_moves == pytest.approx(np.stack([moved[:, 0] - moved[:, 1], moved[:, 2] - moved[:, 3]], axis=1))


def test_an_item_without_any_score_is_ahead_of_nobody():
    rows = np.array([[1.0, 2.0, np.nan], [2.0, 4.0, np.nan], [1.5, 3.0, np.nan]])
    found = standing(hr.Votes.from_score_rows(rows), rule_of(hr.mean_score))
    assert found.z[2].tolist() == [0.0, 0.0, 0.0]
    assert np.isinf(found.error[2]).all()


# In reports.


def in_report(votes, **spec):
    return analysed(votes, hr.Spec(draws=0, theta=None, **spec), "audit")


def test_a_report_names_what_is_raised_with_the_adversary_and_the_command(tmp_path):
    frame = board("judge", 1)
    frame.write_csv(tmp_path / "a board.csv")
    votes = hr.read_votes(tmp_path / "a board.csv", voter="voter")
    found = in_report(votes)
    assert mismatch(found.record) == ""
    told = found.record["audit"]
    full = hr.audit(votes, rng=0, time_limit=0)
    assert [one["text"] for one in told["findings"]] == [one.text() for one in full.findings]
    assert [one["state"] for one in told["findings"]] == [one.state for one in full.findings]
    priced = [one["probe"] for one in told["findings"] if one["adversary"]]
    assert "judge" in priced
    assert "cycles" not in priced  # nobody asks about what is clear
    for page in (report.html(found), report.markdown(found)):
        assert "What could mislead" in page
        assert "1 of 8 probes raises a warning." in page
        assert "One person who decides a place" in page
        assert "holdrank audit" in page
    assert "holdrank audit &#39;a board.csv&#39; --voter voter</bdi>" in report.html(found)
    with pytest.MonkeyPatch.context() as patch:
        lines = []
        patch.setattr("click.echo", lambda text="", **_: lines.append(text))
        terminal.print_analysis(found)
    assert "1 of 8 probes raises a warning." in lines
    assert any(line.startswith("One person who decides a place: Without ") for line in lines)


def test_a_report_of_a_clean_board_says_that_nothing_is_raised():
    found = in_report(votes_of(board(None, 1)))
    page = report.html(found)
    assert "<p>None of 9 probes raises a warning.</p>" in page
    assert "<bdi>audit(votes)</bdi>" in page
    assert '<ul class="plain findings">' not in page
    assert 'id="audit"' not in report.html(in_report(hr.Votes.from_orders([["a"]])))


def test_names_in_findings_are_text():
    votes = hr.Votes.from_orders([[HOSTILE, "b"], ["b", HOSTILE]], weights=[11, 9], unlisted="observed")
    page = report.html(in_report(votes)).split('id="audit"')[1].split("</section>")[0]
    assert "&lt;script&gt;" in page
    assert HOSTILE not in page


def test_an_audit_that_runs_out_of_time_says_which_probes_are_missing():
    votes = votes_of(board(None, 1))
    brief = audit_in_brief(votes, hr.bradley_terry, hr.bradley_terry(votes), Clock(0), seed=0)
    assert [one.probe for one in brief.findings] == ["votes"]
    assert brief.status is hr.Status.TIME_LIMIT
    record = {"audit": audit_record(brief), "votes": {"source": "", "sha256": ""}, "spec": {"rule": "auto"}}
    told = in_brief(record)
    assert told["text"] == "None of 1 probe raises a warning. 8 probes did not run within the time limit."


def test_an_audit_that_floats_cannot_do_leaves_the_rest_of_the_report(monkeypatch):
    def fails(*_, **__):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(import_module("holdrank.analysis.analyse"), "audit_in_brief", fails)
    found = in_report(votes_of(board(None, 1)))
    assert found.record["audit"] is None
    assert found.record["steps"][-1]["state"] == "failed"
    assert "Singular" in report.html(found)


@pytest.mark.slow
@pytest.mark.traced
def test_the_studio_shows_what_could_mislead_the_diagram_and_chance_with_the_adversary():
    rows = scores(1).scores
    text = "model," + ",".join(f"t{k}" for k in range(len(rows))) + "\n"
    text += "".join(f"m{k}," + ",".join(f"{x:.3f}" for x in column) + "\n" for k, column in enumerate(rows.T))
    with running() as client:
        url = opened(client, text, "scores.csv")
        told = wait(client, url)
        page = client.get(url).text
    record = told["analysis"] if "analysis" in told else told["record"]
    assert f"<p>{in_brief(record)['text']}</p>" in page
    assert "holdrank audit scores.csv" in page
    assert 'id="drawn-critical_difference"' in page
    assert 'class="picture critical_difference"' in page
    assert "an adversary who chooses the tasks needs" in page.split('id="chance"')[1]
