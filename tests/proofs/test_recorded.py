"""Every part of a record is looked at: a forged number is refuted where it stands, and what cannot be shown is open."""

from __future__ import annotations

import copy
import dataclasses
import json

import pytest

import holdrank as hr
from holdrank.proofs.recorded import places
from holdrank.proofs.recorded.attacks import against_the_top, attack_checks, claim_checks
from holdrank.proofs.recorded.curves import curve_checks, tradeoff_checks
from holdrank.proofs.recorded.cut import cut_checks, gap_checks, race_checks
from holdrank.proofs.recorded.layout import layout_checks, other_check, votes_checks
from holdrank.proofs.recorded.places import bootstrap_checks, chance_checks, reach_checks
from holdrank.proofs.recorded.ratings import rating_checks, removal_checks
from holdrank.proofs.recorded.record import Recorded
from holdrank.proofs.recorded.thresholds import chosen_checks
from holdrank.words.ratings import NOT_FITTED

from analyses import analysed

VOTES = {
    "ballots": hr.Votes.from_orders([list("abc"), list("bac"), list("cab")], weights=[60, 40, 11]),
    "battles": hr.Votes.from_ranks(
        [[1, 2, 0], [0, 1, 2], [1, 0, 2], [2, 1, 0], [0, 2, 1]], [5, 4, 6, 2, 1], unlisted="observed", items=list("abc")
    ),
    "shares": hr.Votes.from_orders([list("abc"), list("bac"), list("cab")], weights=[0.5, 0.4, 0.1]),
    "many": hr.Votes.from_orders([list("abcdefg"), list("bacdegf")], weights=[7, 4]),
    "sparse": hr.Votes.from_ranks(
        [[1, 2, 0], [2, 1, 0], [0, 1, 2], [0, 2, 1]], [9, 4, 7, 5], items=list("abc"), unlisted="observed"
    ),
    "scores": hr.Votes.from_score_rows([[9.0, 8.5, 1.0], [2.0, 7.0, 5.0], [4.0, 4.25, 4.5]], weights=[3, 4, 2]),
}


@pytest.fixture(scope="module")
def records():
    """An analysis of each kind of votes."""
    made = {
        "ballots": hr.analyse(VOTES["ballots"], hr.Spec(theta="auto", k=1, claims=("a above c", "c wins"), budget=0.2)),
        "battles": analysed(
            VOTES["battles"], hr.Spec(theta=None, k=1, draws=0), "races", "removals", "reach", "others"
        ),
        "shares": analysed(VOTES["shares"], hr.Spec(theta="auto", k=1, draws=0), "tiers", "attack", "cut"),
        "many": analysed(VOTES["many"], hr.Spec(theta=0.05, draws=200), "tiers", "bootstrap", "chance", "reach"),
        "sparse": analysed(VOTES["sparse"], hr.Spec(rule="kemeny", theta="auto", draws=0), "tiers"),
        "scores": analysed(VOTES["scores"], hr.Spec(rule="mean-score", theta=None, draws=0), "attack"),
    }
    return {name: json.loads(found.to_json()) for name, found in made.items()}


def changed(record, place, value):
    """Return a record with another value at a place; a function makes it of the old one."""
    record = copy.deepcopy(record)
    spot = record
    for name in place[:-1]:
        spot = spot[name]
    old = spot[place[-1]]
    new = value(old) if callable(value) else value
    assert new != old
    spot[place[-1]] = new
    return record


def top_checks(recorded):
    found = recorded.record["attack"]
    return attack_checks(recorded, recorded.reported, recorded.shown, found, against_the_top(recorded))


def first_claim(recorded):
    return claim_checks(recorded, recorded.record["claims"][0])


def second_claim(recorded):
    return claim_checks(recorded, recorded.record["claims"][1])


def first_curve(recorded):
    return curve_checks(recorded, recorded.record["curves"][0])


def first_other(recorded):
    yield other_check(recorded, recorded.record["others"][0])


CHECKS = [
    top_checks, first_claim, second_claim, first_curve, first_other, tradeoff_checks, cut_checks, gap_checks,
    race_checks, layout_checks, votes_checks, bootstrap_checks, chance_checks, reach_checks, rating_checks,
    removal_checks, chosen_checks,
]  # fmt: skip


def more(number):
    return number + 1


def less(number):
    return number - 1


def opposite(flag):
    return not flag


FORGED = [
    ("ballots", votes_checks, ("votes", "total"), more, "it is 111"),
    ("ballots", votes_checks, ("votes", "incomplete"), more, "it is 0"),
    ("ballots", layout_checks, ("consensus", "order"), [1, 0, 2], "it is different"),
    ("ballots", layout_checks, ("spec", "rule"), "borda", "it is by another rule"),
    ("ballots", layout_checks, ("pairs", "share", 0, 1), lambda share: share + 0.01, "some are not"),
    ("ballots", layout_checks, ("pairs", "compared", 0, 0), less, "some are not"),
    ("ballots", layout_checks, ("path", "sizes", 0), [2, 1], "they are not"),
    ("ballots", layout_checks, ("path", "theta", 1), 0.2, "they are not"),
    ("battles", layout_checks, ("consensus", "rule"), "kemeny", "these votes call for another rule"),
    ("many", layout_checks, ("tiers", "theta"), 0.1, "they are at another threshold"),
    ("ballots", chosen_checks, ("tiers", "theta"), 0.1, "that is 0.0698198"),
    ("sparse", chosen_checks, ("tiers", "theta"), 0.2, "that is "),
    ("ballots", top_checks, ("attack", "goal"), "b wins", "it has another goal"),
    ("ballots", top_checks, ("attack", "theta"), 0.3, "it has another goal"),
    ("ballots", top_checks, ("attack", "before"), [2, 1, 3], "it attacks another consensus"),
    ("ballots", top_checks, ("attack", "exact"), False, "its status and its bounds contradict each other"),
    ("ballots", top_checks, ("attack", "verified"), False, "it has a price but was not run"),
    ("ballots", top_checks, ("attack", "status"), "certain", "its numbers say: there is no status certain"),
    ("ballots", top_checks, ("attack", "after"), [1, 2, 3], "the consensus after it is different"),
    ("ballots", top_checks, ("attack", "removed", "kinds"), 0, "the record does not list all of its ballots"),
    ("ballots", top_checks, ("attack", "removed", "listed", 0, "weight"), 61.0, "it removes ballots that do not exist"),
    ("ballots", top_checks, ("attack", "removed", "listed", 0, "ranks"), [3, 2, 1], "it removes ballots that do not"),
    ("ballots", top_checks, ("attack", "added", "listed", 0, "weight"), -8.0, "it changes a negative number of votes"),
    ("ballots", top_checks, ("attack", "added", "listed", 0, "ranks"), [2, 1, 4], "ranks of an added ballot have gaps"),
    ("ballots", top_checks, ("attack", "added", "listed", 0, "ranks"), [1, 2, 3], "it changes at most 0 %"),
    ("ballots", top_checks, ("attack", "change"), "drop", "ballots were added, not only dropped"),
    ("ballots", top_checks, ("attack", "change"), "add", "ballots were removed, not only added"),
    ("ballots", top_checks, ("attack", "lower"), lambda share: share + 0.02, "lower is above upper"),
    ("ballots", top_checks, ("attack", "needed"), lambda votes: votes + 0.5, "there are no such numbers of votes"),
    ("ballots", top_checks, ("attack", "ties"), lambda votes: votes - 3, "its bounds contradict each other"),
    ("ballots", first_claim, ("claims", 0, "holds"), False, "the opposite is true"),
    ("ballots", second_claim, ("claims", 1, "holds"), True, "the opposite is true"),
    ("ballots", gap_checks, ("gaps", 1, "lower"), lambda share: share + 0.01, "takes 33.1 %"),
    ("ballots", gap_checks, ("gaps", 0, "sufficient"), less, "its bounds contradict each other"),
    ("ballots", cut_checks, ("cut", "k"), 2, "it is different"),
    ("ballots", cut_checks, ("cut", "budget"), 0.1, "it is different"),
    ("ballots", cut_checks, ("cut", "items", 0, "inside"), opposite, "it is on the other side"),
    ("ballots", cut_checks, ("cut", "items", 0, "safe"), opposite, "its bounds say otherwise"),
    ("ballots", cut_checks, ("cut", "items", 2, "safe"), opposite, "its bounds say otherwise"),
    ("ballots", cut_checks, ("cut", "items", 2, "lower"), lambda share: share + 0.01, "takes 40.1 %"),
    ("battles", race_checks, ("races",), lambda races: races[:-1], "there are 1"),
    ("battles", race_checks, ("races", 0, "ties"), lambda votes: votes - 1, "its bounds contradict each other"),
    ("battles", race_checks, ("races", 1, "upper"), 0.001, "lower is above upper"),
    ("battles", removal_checks, ("removals", "each", 1, "item"), 0, "some are removed twice, or not at all"),
    ("battles", removal_checks, ("removals", "each", 0, "flipped"), more, "by its ranks it is 0"),
    ("battles", removal_checks, ("removals", "each", 0, "new_winner"), opposite, "it is wrong about who comes first"),
    ("battles", rating_checks, ("ratings",), None, "the rule gives some, and the record has none"),
    ("battles", rating_checks, ("ratings", "scale"), 200.0, "they use another scale or model"),
    ("battles", rating_checks, ("ratings", "values", 0), lambda points: points + 0.001, "values differ"),
    ("battles", rating_checks, ("ratings", "errors", 1), lambda points: points * 1.001, "errors differ"),
    ("battles", rating_checks, ("ratings", "upper", 2), None, "upper are missing or too many"),
    ("battles", rating_checks, ("ratings", "comparisons", 2), more, "comparisons differ"),
    ("battles", rating_checks, ("ratings", "notes"), ["fine"], "they differ"),
    ("ballots", rating_checks, ("ratings",), {}, "the rule gives none"),
    ("ballots", bootstrap_checks, ("bootstrap", "seed"), more, "they have another seed, or are more than requested"),
    ("ballots", bootstrap_checks, ("bootstrap", "draws"), more, "they have another seed, or are more than requested"),
    ("ballots", bootstrap_checks, ("bootstrap", "best", 2), less, "recomputed, they differ"),
    ("ballots", bootstrap_checks, ("bootstrap", "unchanged"), 0.5, "recomputed, they differ"),
    ("ballots", chance_checks, ("chance", "upper", 0), more, "recomputed, they differ"),
    ("ballots", chance_checks, ("chance", "units"), more, "recomputed, they differ"),
    ("ballots", reach_checks, ("reach", "budget"), 0.1, "they are for another budget"),
    ("ballots", reach_checks, ("reach", "votes"), more, "they are for another budget"),
    ("ballots", reach_checks, ("reach", "best", 2), 4, "these places contradict each other"),
    ("ballots", tradeoff_checks, ("tradeoff", "loss", 1), lambda loss: loss + 0.01, "the loss at 0.13964 is 0.232733"),
    ("ballots", tradeoff_checks, ("tradeoff", "best"), 3, "its layout is not that of an analysis"),
    ("ballots", tradeoff_checks, ("tradeoff", "delta"), 0.5, "its layout is not that of an analysis"),
    ("ballots", tradeoff_checks, ("tradeoff", "pareto"), [True], "its layout is not that of an analysis"),
    ("ballots", tradeoff_checks, ("tradeoff", "lower", 0), 0.2, "takes 14 %"),
    ("ballots", first_curve, ("curves", 0, "theta"), 0.3, "it belongs to another rule"),
    ("ballots", first_curve, ("curves", 0, "delta"), [0.5, 1.0], "it has other distances"),
    ("ballots", first_curve, ("curves", 0, "lower", 0), 0.2, "takes 14 %"),
    ("ballots", first_curve, ("curves", 0, "sufficient", 2), less, "its bounds contradict each other"),
    ("ballots", first_other, ("others", 0, "rule"), "dice", "there is no such rule"),
    ("ballots", first_other, ("others", 0, "loss"), 0.2, "its loss is 0.186186"),
    ("ballots", first_other, ("others", 0, "ranks"), [2, 1, 3], "its loss is 0.279279"),
    ("shares", top_checks, ("attack", "sufficient"), 2.0, "the votes are shares"),
    ("shares", cut_checks, ("cut", "items", 0, "lower"), 0.2, "lower is above upper"),
    ("scores", top_checks, ("attack", "removed", "listed", 0, "scores"), [1.0, 1.0, 1.0], "it removes ballots that do"),
]


@pytest.mark.parametrize("name", VOTES)
@pytest.mark.slow
@pytest.mark.traced
def test_nothing_of_a_true_record_is_refuted(records, name):
    record = records[name]
    for checks in CHECKS:
        part = {first_claim: "claims", second_claim: "claims", first_curve: "curves", first_other: "others"}.get(checks)
        if part is None or record[part]:
            refuted = [check for check in checks(Recorded(VOTES[name], record)) if check.finding == "refuted"]
            assert refuted == [], checks


@pytest.mark.parametrize(("name", "checks", "place", "value", "words"), FORGED)
def test_a_forged_number_is_refuted_where_it_stands(records, name, checks, place, value, words):
    recorded = Recorded(VOTES[name], changed(records[name], place, value))
    found = [check for check in checks(recorded) if words in check.note]
    assert {check.finding for check in found} == {"refuted"}


KEMENY = {"statistic": "kemeny", "rule": "kemeny", "theta": None, "merge": None}
OPEN = [
    ("many", bootstrap_checks, (), None, "more than 6 items: they were not recomputed"),
    ("many", chance_checks, (), None, "more than 6 items: they were not recomputed"),
    ("many", reach_checks, (), None, "more than 6 items, or no independent proof exists for this rule"),
    ("many", first_curve, ("curves",), [KEMENY], "more than 6 items"),
    ("many", layout_checks, (), None, "more than 6 items"),
    ("many", tradeoff_checks, ("tradeoff",), {}, "more than 6 items, or no independent proof exists for this rule"),
    ("battles", tradeoff_checks, ("tradeoff",), {}, "more than 6 items, or no independent proof exists for this rule"),
    ("battles", layout_checks, (), None, "no independent proof exists for tiers by a model"),
    ("battles", race_checks, ("races", 0, "known"), False, "only the first 20 are checked"),
    ("battles", removal_checks, ("removals",), None, "the step did not finish"),
    ("battles", removal_checks, ("removals", "each"), lambda each: each[:2], "not every item was tested"),
    ("battles", rating_checks, ("ratings", "notes"), [NOT_FITTED], "no second fit"),
    ("battles", rating_checks, ("version",), "0.0.1", "they differ"),
    ("shares", chosen_checks, (), None, "no independent proof exists for shares"),
    ("ballots", bootstrap_checks, ("spec", "by"), "judge", "read them with the same column"),
    ("ballots", chance_checks, ("spec", "by"), "judge", "read them with the same column"),
    ("ballots", chance_checks, ("chance",), None, "the step did not finish"),
    ("ballots", chance_checks, ("chance", "draws"), 10, "a time limit cut the draws short"),
    ("ballots", layout_checks, ("bootstrap",), None, "the step did not finish"),
    ("ballots", gap_checks, ("gaps",), lambda gaps: gaps[:1], "some were not"),
    ("ballots", gap_checks, ("gaps", 0, "known"), False, "some were not"),
    ("ballots", cut_checks, ("cut",), None, "it was not"),
    ("ballots", first_claim, ("claims", 0, "attack"), None, "it was not tested within the time limit"),
    ("ballots", first_curve, ("curves", 0, "statistic"), "dice", "no independent proof exists for this rule"),
    ("ballots", tradeoff_checks, ("tradeoff", "upper", 0), None, "it is not"),
    ("ballots", top_checks, ("attack", "removed", "kinds"), 2, "the record does not list all of its ballots"),
    ("ballots", reach_checks, ("reach", "shown_worst", 0), 1, "some places are neither attained nor ruled out"),
    ("battles", first_other, ("others", 0, "rule"), "bradley-terry", "no independent proof exists"),
]


@pytest.mark.parametrize(("name", "checks", "place", "value", "words"), OPEN)
def test_what_a_record_does_not_show_is_open(records, name, checks, place, value, words):
    record = changed(records[name], place, value) if place else records[name]
    if value == "0.0.1":  # of which the words for the same may have been others
        record = changed(record, ("ratings", "notes"), ["fine"])
    found = list(checks(Recorded(VOTES[name], record)))
    assert [check.finding for check in found if words in check.note] == ["open"], found
    assert all(check.finding != "refuted" for check in found), found


# What takes more than one edit.


def findings(name, record, checks):
    return {(check.finding, check.note) for check in checks(Recorded(VOTES[name], record))}


def test_an_attack_that_leaves_no_votes_is_refuted(records):
    record = changed(records["ballots"], ("attack", "change"), "drop")
    whole = [
        {"ranks": ranks, "weight": weight}
        for ranks, weight in (([1, 2, 3], 60.0), ([2, 1, 3], 40.0), ([2, 3, 1], 11.0))
    ]
    record["attack"] |= {"removed": {"kinds": 3, "listed": whole}, "added": {"kinds": 0, "listed": []}}
    assert ("refuted", "it leaves no votes") in findings("ballots", record, top_checks)


def test_an_attack_on_a_claim_that_does_not_hold_is_refuted(records):
    record = changed(records["ballots"], ("claims", 1, "attack"), records["ballots"]["claims"][0]["attack"])
    assert findings("ballots", record, second_claim) == {("refuted", "the claim does not hold now")}


def test_places_by_chance_of_shares_are_refuted(records):
    record = changed(records["shares"], ("chance",), records["ballots"]["chance"])
    record["spec"]["draws"] = 100
    assert findings("shares", record, chance_checks) == {("refuted", "this rule has none for these votes")}


@pytest.mark.parametrize(
    ("ends", "place", "item"),
    [(("best", "shown_best"), 2, 2), (("best", "shown_best"), 2, 1), (("worst", "shown_worst"), 3, 1)],
)
def test_places_that_no_attack_attains_or_that_one_goes_beyond_are_open(records, ends, place, item):
    """With 22 of 111 votes a and b can be first or second, and c is third."""
    record = copy.deepcopy(records["ballots"])
    for end in ends:
        assert record["reach"][end][item] != place
        record["reach"][end][item] = place
    assert ("open", "some places were not attained") in findings("ballots", record, reach_checks)


def test_a_bound_of_the_engine_that_is_too_high_does_not_prove_places(records, monkeypatch):
    find = places.attack
    monkeypatch.setattr(places, "attack", lambda *args, **named: dataclasses.replace(find(*args, **named), lower=0.9))
    record = copy.deepcopy(records["ballots"])
    for end in ("best", "shown_best"):  # b can be first
        record["reach"][end][1] = 2
    assert ("refuted", "an attack says otherwise") in findings("ballots", record, reach_checks)


def test_another_ranking_with_its_own_loss_is_refuted(records):
    """The mean of the 111 losses of b > a > c: 60 votes are against one pair, 11 against three."""
    record = changed(records["ballots"], ("others", 0, "ranks"), [2, 1, 3])
    record["others"][0]["loss"] = (60 * 1 + 11 * 3) / (3 * 111)
    assert findings("ballots", record, first_other) == {("refuted", "it is different")}


def test_a_ranking_without_an_item_that_is_none_is_refuted(records):
    for ranks, words in (
        ([None, 1, 1], "its ranks are not a strict ranking"),
        ([None, 2, 1], "their order is different"),
    ):
        record = changed(records["battles"], ("removals", "each", 0, "ranks"), ranks)
        record["removals"]["each"][0] |= {"flipped": int(ranks[1] > ranks[2]), "new_winner": True}
        found = findings("battles", record, removal_checks)
        assert [finding for finding, note in found if words in note] == ["refuted"]


def test_the_order_of_others_by_kemeny_is_proved_from_costs(records):
    record = copy.deepcopy(records["ballots"])
    rest = {0: [None, 1, 2], 1: [1, None, 2], 2: [1, 2, None]}
    record["removals"] = {
        "each": [{"item": item, "ranks": ranks, "flipped": 0, "new_winner": False} for item, ranks in rest.items()]
    }
    assert findings("ballots", record, removal_checks) == {("proved", "")}
    as_shares = {**record, "votes": records["shares"]["votes"]}
    assert findings("shares", as_shares, removal_checks) == {("proved", "")}
    for shown in (record, as_shares):
        shown["removals"]["each"][2] |= {"ranks": [2, 1, None], "flipped": 1, "new_winner": True}
    assert ("refuted", "their order is different") in findings("ballots", record, removal_checks)
    assert ("refuted", "their order is different") in findings("shares", as_shares, removal_checks)


def test_a_row_of_the_cut_without_an_attack_is_held_against_any_change_of_the_top(records):
    """Whoever crosses the cut changes the set above it: 16 votes are needed for that, and for a to leave."""
    record = copy.deepcopy(records["ballots"])
    row = record["cut"]["items"][0]
    assert row["needed"] == row["decides"] == 16
    row |= {"upper": None, "ties": None, "sufficient": None}
    found = findings("ballots", record, cut_checks)
    assert {finding for finding, _ in found} == {"proved"}
    row |= {"lower": row["lower"] - 0.01, "needed": 15.0}
    assert ("open", "it is not the same") in findings("ballots", record, cut_checks)
    row |= {"lower": row["lower"] + 0.05}
    assert ("refuted", "b > a > c takes 14 %") in findings("ballots", record, cut_checks)
