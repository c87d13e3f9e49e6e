"""The rule that is chosen for votes: Bradley-Terry for battles, Kemeny for all others; and that every door heeds it."""

from __future__ import annotations

import json
from itertools import combinations, pairwise

import numpy as np
import polars
import pytest

import holdrank as hr
from conftest import ROOT
from holdrank.files import read_votes
from holdrank.rules.merges import settled
from holdrank.rules.registry import Rule, register, rule_for, rule_named, suited

from analyses import analysed

GALLERY = ROOT / "tests" / "files" / "gallery"
BATTLES = [["a", "b"]] * 6 + [["b", "a"]] * 5 + [["b", "c"]] * 9 + [["c", "b"]] + [["a", "c"], ["c", "a"]]


def battles(orders=BATTLES, **options) -> hr.Votes:
    return hr.Votes.from_orders(orders, unlisted="observed", **options)


def chosen(votes) -> str:
    return rule_for("auto", votes).name


CHOICES = {
    "battles": (battles(), True),
    "battles with a tie": (battles([*BATTLES, [["a", "b"]]]), True),
    "battles that weigh a fraction": (battles(weights=np.linspace(0.1, 0.9, len(BATTLES))), True),
    "a frame of battles": (
        hr.Votes.from_battles(polars.DataFrame({"winner": ["a", "b", "c"], "loser": ["b", "c", "a"]})),
        True,
    ),
    "battles between two items only": (
        hr.Votes.from_battles(polars.DataFrame({"winner": ["a", "b"], "loser": ["b", "a"]})),
        True,
    ),
    "battles beside ballots of one item": (battles([*BATTLES, ["a"]]), True),
    "an item that wins everything": (battles([["a", "b"], ["a", "c"], ["b", "c"], ["c", "b"]]), True),
    "two groups that never meet": (battles([["a", "b"], ["b", "a"], ["c", "d"]]), True),
    "ballots of two items, the rest at the bottom": (hr.Votes.from_orders(BATTLES), False),
    "ballots over two items": (hr.Votes.from_orders([["a", "b"], ["b", "a"]]), False),
    "one long ballot among battles": (battles([*BATTLES, ["a", "b", "c"]]), False),
    "a few battles among long ballots": (battles([["a", "b", "c", "d"]] * 20 + [["a", "b"], ["c", "d"]]), False),
    "ballots of one item": (battles([["a"], ["b"]], items=["a", "b", "c"]), False),
    "complete ballots": (hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]]), False),
    "scores of two items": (hr.Votes.from_score_rows([[9, 1], [5, 4]]), False),
    "scores, two per voter": (hr.Votes.from_score_rows([[9, 1, np.nan], [np.nan, 5, 4]]), False),
}


@pytest.mark.parametrize("name", CHOICES)
def test_bradley_terry_is_for_battles_and_kemeny_for_all_else(name):
    votes, are_battles = CHOICES[name]
    assert chosen(votes) == ("bradley-terry" if are_battles else "kemeny")
    if not votes.ballots.has_scores:  # pair counts do not know of scores
        assert chosen(hr.PairCounts.from_votes(votes)) == chosen(votes)
    expected = hr.bradley_terry(votes) if are_battles else hr.kemeny(votes)
    found = hr.auto(votes)
    assert (found.ranking, found.has_ratings) == (expected.ranking, are_battles)


@pytest.mark.parametrize(
    ("name", "rule"),
    [("fastchat.json", "bradley-terry"), ("games.pgn", "bradley-terry"), ("win_matrix.csv", "bradley-terry"),
     ("football_goals.csv", "bradley-terry"), ("lmarena.jsonl", "bradley-terry"), ("lolib.mat", "kemeny"),
     ("tennessee.abif", "kemeny"), ("mteb.csv", "kemeny"), ("club.blt", "kemeny"), ("long_scores.csv", "kemeny")],
)  # fmt: skip
def test_files_of_battles_are_known_whatever_their_form(name, rule):
    assert chosen(read_votes(GALLERY / name)) == rule


def test_pair_counts_tell_battles_from_ballots_of_any_sizes():
    """Enumerated: all multisets of up to four ballots over four items, of one to four items each."""
    ballots = [list(some) for size in range(1, 5) for some in combinations("abcd", size)]
    for size in range(1, 4):
        for some in combinations(ballots, size):
            votes = battles(list(some), items=list("abcd"))
            sizes = {len(ballot) for ballot in some}
            assert votes.compares_two == (sizes in ({2}, {1, 2}))
            assert hr.PairCounts.from_votes(votes).compares_two == votes.compares_two


def test_a_matrix_of_wins_is_battles_unless_it_says_how_many_ballots_there_were():
    wins = [[0, 7, 2], [3, 0, 1], [1, 4, 0]]
    assert chosen(hr.PairCounts.from_wins(wins)) == "bradley-terry"
    assert chosen(hr.PairCounts.from_wins(wins, total=10)) == "kemeny"


@pytest.mark.slow
@pytest.mark.traced
def test_every_function_asks_the_rule_that_suits_the_votes():
    votes = battles()
    for found in (
        hr.breakdown(votes, deltas=[1 / 3]),
        hr.attack(votes, hr.auto, hr.NewWinner()),
        hr.bootstrap(votes, draws=20, rng=1),
        hr.removals(votes, hr.auto),
    ):
        assert found.statistic.rule == "bradley-terry"
    assert hr.breakdown(hr.Votes.from_orders(BATTLES)).statistic.rule == "kemeny"
    reached, known = hr.reach(votes, budget=2), hr.reach(votes, hr.bradley_terry, 2)
    assert np.array_equal(reached.worst, known.worst)
    assert hr.tradeoff(votes).base.has_ratings
    counts = hr.PairCounts.from_votes(votes)
    assert hr.attack(counts, hr.auto, hr.NewWinner()).upper == hr.attack(votes, hr.bradley_terry, hr.NewWinner()).upper


def test_tiers_are_of_the_rule_that_suits_the_votes():
    votes = battles()
    for T in (hr.Robust(theta=0.05), hr.Robust(hr.auto, 0.05)):
        assert T(votes).ranking == hr.Robust(hr.bradley_terry, 0.05)(votes).ranking
        assert T(votes).proof == hr.Robust(hr.bradley_terry, 0.05)(votes).proof
        assert settled(T, votes) == T.fixed(votes) == hr.Robust(hr.bradley_terry, 0.05)
    ballots = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[51, 49])
    assert hr.Robust(theta="auto").fixed(ballots) == hr.Robust(hr.kemeny, "auto").fixed(ballots)
    assert hr.attack(votes, hr.Robust(theta=0.05), hr.NewWinner()).statistic.rule == "bradley-terry"


def test_an_attack_does_not_change_the_rule():
    """Attacked votes may be other ballots; the statistic is that of the votes before."""
    votes = battles()
    ballots = battles([*BATTLES, *[["c", "b", "a"]] * 30])
    assert chosen(ballots) == "kemeny"
    goal = hr.Wins("c")
    assert hr.fulfils(votes, hr.auto, ballots, goal) == hr.fulfils(votes, hr.bradley_terry, ballots, goal) is True
    found = hr.attack(votes, hr.auto, hr.NewWinner())
    assert not hr.verify(votes, hr.auto, found).refuted


def test_two_files_are_compared_by_one_rule():
    both = battles(), hr.Votes.from_orders(BATTLES)
    assert rule_for("auto", both[0], both[0]).name == "bradley-terry"
    assert rule_for("auto", *both).name == rule_for("auto", *both[::-1]).name == "kemeny"
    assert suited(hr.borda, *both) is hr.borda


def test_auto_is_no_rule_of_its_own():
    with pytest.raises(hr.UsageError, match="a rule 'auto' already exists"):
        register(Rule(name="auto", function=hr.borda))
    with pytest.raises(hr.UsageError, match="depends on the votes"):
        rule_named("auto")
    with pytest.raises(hr.UsageError, match=r"rule must be one of auto, kemeny, .* not 'elo'"):
        hr.Spec("elo")
    with pytest.raises(hr.UsageError, match="auto takes Votes, not list"):
        hr.auto([["a", "b"]])


def test_an_analysis_keeps_what_was_asked_and_what_was_chosen():
    votes = battles()
    record = analysed(votes, hr.Spec(theta=None), "attack", "others").record
    assert (record["spec"]["rule"], record["consensus"]["rule"]) == ("auto", "bradley-terry")
    assert record["ratings"] is not None
    assert "bradley-terry" not in {other["rule"] for other in record["others"]}
    given = analysed(votes, hr.Spec("bradley-terry", theta=None), "attack", "others").record
    assert given["headline"] == record["headline"]
    checks = hr.verify(votes, hr.Analysis(record)).checks
    assert [check.finding for check in checks if "because the votes are battles" in check.claim] == ["proved"]
    assert not any(check.finding == "refuted" for check in checks)


@pytest.mark.parametrize(
    ("rules", "words"),
    [(("auto", "kemeny"), "these votes call for another rule"), (("borda", "bradley-terry"), "it is by another rule")],
)
def test_a_record_by_a_rule_that_was_not_asked_for_is_refuted(rules, words):
    votes = battles()
    record = json.loads(analysed(votes, hr.Spec(rules[1], theta=None)).to_json())
    record["spec"]["rule"] = rules[0]
    refuted = [check.note for check in hr.verify(votes, hr.Analysis(record)).checks if check.finding == "refuted"]
    assert words in refuted


def test_kemeny_says_why_several_orders_are_equally_good():
    votes = battles([["a", "b"], ["c", "d"], ["a", "d"], ["b", "d"]])
    found = hr.kemeny(votes)
    order = [votes.items[k] for k in found.ranking.order]
    met = {frozenset(pair) for pair in (("a", "b"), ("c", "d"), ("a", "d"), ("b", "d"))}
    near = sum(frozenset(pair) not in met for pair in pairwise(order))
    assert near == 1
    assert found.notes == (
        "several orders are optimal: 2 of 6 pairs were never compared, and 1 of those is a pair of neighbours here",
    )
    assert len(hr.kemeny_optima(votes)) > 1
    assert hr.kemeny(hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]])).notes == ()  # level, yet compared
    assert hr.kemeny(battles([["a", "b"], ["b", "c"]])).notes == ()  # a and c never meet, and are no neighbours
