"""One analysis for all faces: its steps, its record and its schema."""

from __future__ import annotations

import copy
import dataclasses
import json
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest

import holdrank as hr
from holdrank.analysis import analyse as analysis
from holdrank.analysis.records import mismatch, schema
from holdrank.attacks.goals import claimed, goal_against
from holdrank.status import Clock, Status
from holdrank.words.pictures import left_out

from analyses import analysed

TREES = hr.Votes.from_orders(
    [["Ash", "Beech", "Cherry"], ["Beech", "Ash", "Cherry"], ["Cherry", "Ash", "Beech"]], weights=[55, 40, 5]
)


@pytest.fixture(scope="module")
def trees():
    return hr.analyse(TREES, hr.Spec(k=1, claims=("Ash wins", "Cherry wins", "top 2"), budget=0.05, theta=None))


def test_the_record_tells_what_single_calls_tell(trees):
    r = trees.record
    assert r["items"] == ["Ash", "Beech", "Cherry"]
    assert (r["votes"]["total"], r["votes"]["counts"], r["votes"]["unlisted"]) == (100, True, "bottom")
    assert (r["consensus"]["ranks"], r["consensus"]["order"], r["consensus"]["exact"]) == ([1, 2, 3], [0, 1, 2], True)
    # 60 of 100 prefer Ash to Beech: 10 ballots make it level, 11 turn it.
    assert (r["attack"]["needed"], r["attack"]["sufficient"]) == (10, 11)
    assert r["attack"]["before"] == [1, 2, 3]
    assert r["attack"]["after"][1] == 1
    assert sum(ballot["weight"] for ballot in r["attack"]["removed"]["listed"]) == 11
    assert r["pairs"]["share"][0] == [0.5, 0.6, 0.95]
    assert r["pairs"]["compared"] == [[100.0]]
    assert [curve["statistic"] for curve in r["curves"]] == ["kemeny", "borda"]
    assert r["curves"][0]["lower"][0] == pytest.approx(0.1)
    assert r["tiers"] is None
    assert r["tradeoff"] is None
    assert [other["rule"] for other in r["others"]] == ["borda", "footrule", "copeland", "bradley-terry"]
    assert {step["state"] for step in r["steps"]} == {"done"}


def test_the_headline_counts_votes_first(trees):
    told = "Ash is first; putting Beech first takes 11 of 100 votes."
    assert trees.headline == told
    assert repr(trees) == f"Analysis({told})"


def test_claims_are_answered_or_denied(trees):
    first, second, third = trees.record["claims"]
    assert (first["claim"], first["holds"], first["attack"]["sufficient"]) == ("Ash wins", True, 11)
    assert (second["holds"], second["attack"]) == (False, None)
    # Nobody but the five have Cherry above Ash or Beech: to get in, it must pass Beech, 5 to 95.
    assert (third["attack"]["needed"], third["attack"]["sufficient"]) == (45, 46)


def test_the_cut_says_who_is_safe(trees):
    cut = trees.record["cut"]
    assert (cut["k"], cut["budget"]) == (1, 0.05)
    assert [(row["item"], row["inside"], row["safe"]) for row in cut["items"]] == [
        (0, True, True),
        (1, False, True),
        (2, False, True),
    ]
    near = hr.analyse(TREES, hr.Spec(k=1, budget=0.2, theta=None, draws=0)).record["cut"]["items"]
    assert [(row["item"], row["inside"], row["safe"], row["needed"]) for row in near] == [
        (0, True, False, 10),
        (1, False, False, 10),
        (2, False, True, 45),
    ]


def test_gaps_are_what_it_takes_to_change_who_stands_above(trees):
    assert [(gap["needed"], gap["sufficient"]) for gap in trees.record["gaps"]] == [(10, 11), (45, 46)]


def test_the_cut_has_what_each_item_needs_of_its_own_also_where_all_are_safe():
    ballots = [["a", "b", "c", "d"], ["a", "c", "b", "d"], ["a", "b", "d", "c"]]
    votes = hr.Votes.from_orders(ballots, weights=[50, 30, 20])
    rows = hr.analyse(votes, hr.Spec(k=2, budget=0.01, theta=None, draws=0)).record["cut"]["items"]
    assert all(row["safe"] for row in rows)
    for row in rows:
        goal = hr.Leaves if row["inside"] else hr.Enters
        own = hr.attack(votes, hr.kemeny, goal(votes.items[row["item"]], 2))
        assert (row["needed"], row["sufficient"]) == (own.votes_needed, own.votes_sufficient)
    assert len({row["needed"] for row in rows}) > 1


def test_places_under_attack_and_under_chance(trees):
    reach, drawn = trees.record["reach"], trees.record["bootstrap"]
    assert (reach["votes"], reach["best"], reach["worst"]) == (5, [1, 2, 3], [1, 2, 3])
    assert drawn["draws"] == 1000
    assert drawn["best"][2] == drawn["worst"][2] == 3
    again = hr.analyse(TREES, hr.Spec(k=1, budget=0.05, theta=None)).record["bootstrap"]
    assert again == drawn


def test_tiers_at_the_chosen_threshold_come_with_the_tradeoff():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[51, 49])
    r = hr.analyse(votes).record
    assert (r["tiers"]["ranks"], r["tiers"]["theta"], r["tiers"]["auto"]) == ([1, 1, 2], 0.25, True)
    assert r["path"] == {"theta": [0.0, 0.01, 0.5], "sizes": [[1, 1, 1], [2, 1], [3]]}
    assert r["tradeoff"]["theta"][r["tradeoff"]["best"]] == 0.01
    assert r["headline"] == "a and b firmly share first place; bringing in c takes 25 of 100 votes."


def test_shares_votes_without_counts_have_no_whole_votes():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[0.6, 0.4])
    r = hr.analyse(votes, hr.Spec(theta=None)).record
    assert r["bootstrap"] is None
    assert (r["attack"]["needed"], r["attack"]["sufficient"]) == (None, None)
    assert r["headline"] == "a is firmly first; putting b first takes 10 % of the votes."


def test_without_time_the_record_still_has_a_consensus():
    votes = hr.sample_votes(hr.Mallows(range(12), 0.9), 300, rng=1)
    r = hr.analyse(votes, hr.Spec(time_limit=0, rule="borda", k=3)).record
    assert sorted(r["consensus"]["order"]) == list(range(12))
    assert mismatch(r) == ""
    assert "cut short" in {step["state"] for step in r["steps"]}


def test_a_step_that_fails_says_why_and_the_others_go_on(monkeypatch):
    def refuses(*_, **__):
        raise hr.LimitError("too many places")

    monkeypatch.setattr(analysis, "reach", refuses)
    r = hr.analyse(TREES, hr.Spec(theta=None)).record
    (failed,) = [step for step in r["steps"] if step["state"] == "failed"]
    assert (failed["name"], failed["note"]) == ("reach", "too many places")
    assert r["reach"] is None
    assert r["curves"]


def test_an_order_is_claimed_of_the_ranking_without_ties():
    r = hr.analyse(TREES, hr.Spec(theta=0.2, claims=("Ash above Beech", "top 2"))).record
    assert r["tiers"]["ranks"] == [1, 1, 2]
    order, top = r["claims"]
    assert (order["attack"]["statistic"], order["attack"]["sufficient"]) == ("kemeny", 11)
    assert "merge" in top["attack"]["statistic"]


def test_claims_with_typing_errors_are_refused_at_once():
    with pytest.raises(hr.UsageError, match="did you mean 'Ash'"):
        hr.analyse(TREES, hr.Spec(claims=("Asch wins",)))


@pytest.mark.slow
@pytest.mark.traced
def test_rules_without_certified_tiers_have_a_threshold_and_no_tradeoff():
    r = hr.analyse(TREES, hr.Spec(rule="copeland")).record
    assert (r["tiers"]["theta"], r["tradeoff"]) == (hr.analyse(TREES).record["tiers"]["theta"], None)
    note = {step["name"]: step["note"] for step in r["steps"]}["tradeoff"]
    assert "not for copeland" in note


def test_progress_and_partial_records_come_step_by_step():
    steps, seen = [], []
    hr.analyse(
        TREES,
        hr.Spec(theta=None),
        progress=lambda step: steps.append(step.name),
        partial=lambda record: seen.append((record["steps"][-1]["name"], mismatch(record))),
    )
    names = ["consensus", "tiers", "attack", "chance", "claims", "gaps", "cut", "removals"]
    names += ["races", "bootstrap", "reach", "voters", "audit", "tradeoff", "curves", "others", "refine"]
    assert [name for name, _ in seen] == names
    assert {problem for _, problem in seen} == {""}
    assert [name for name in dict.fromkeys(steps) if name in names] == names


def test_json_there_and_back(trees):
    text = trees.to_json()
    assert hr.Analysis.from_json(text) == trees
    assert hr.Analysis.from_json(text.encode()).to_json() == text
    assert json.loads(text)["schema"] == "holdrank-analysis-1"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"schema": NaN}', "NaN is not JSON"),
        ("[]", "the record must be of type object"),
        ("{}", "the record has no 'schema'"),
        ('{"schema": "other"}', "schema is not 'holdrank-analysis-1'"),
    ],
)
def test_what_is_no_analysis_is_refused(text, words):
    with pytest.raises(hr.InputError, match=words):
        hr.Analysis.from_json(text)


def broken_records(record):
    """Records with one thing wrong in each."""
    for name in record:
        yield {key: value for key, value in record.items() if key != name}
        yield {**record, name: 7.5}
    yield {**record, "surprise": 1}
    inner = {"votes": "total", "consensus": "ranks", "attack": "removed", "cut": "items", "reach": "best"}
    for name, part in inner.items():
        for value in ("x", None, [None], {"a": 1}, True):
            changed = copy.deepcopy(record)
            changed[name][part] = value
            yield changed
    changed = copy.deepcopy(record)
    changed["steps"][0]["state"] = "perhaps"
    yield changed


@pytest.mark.slow
@pytest.mark.traced
def test_the_own_check_is_that_of_a_json_schema_validator(trees):
    jsonschema.Draft202012Validator.check_schema(schema())
    validator = jsonschema.Draft202012Validator(schema())
    assert validator.is_valid(trees.record)
    assert mismatch(trees.record) == ""
    refused = 0
    for record in broken_records(trees.record):
        assert (mismatch(record) == "") == validator.is_valid(record)
        refused += mismatch(record) != ""
    assert refused > 40


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"rule": "plurality"}, "kemeny, borda, footrule"),
        ({"theta": 0.7}, "theta|threshold"),
        ({"merge": "upward"}, "downward"),
        ({"k": 0}, "whole number, 1 or more"),
        ({"budget": 0}, "between 0 and 1"),
        ({"draws": -1}, "whole number, 0 or more"),
        ({"seed": True}, "whole number, 0 or more"),
        ({"time_limit": float("nan")}, "number of seconds"),
    ],
)
def test_specs_that_make_no_sense_are_refused(wrong, words):
    with pytest.raises(hr.UsageError, match=words):
        hr.Spec(**wrong)


def test_only_votes_can_be_analysed_and_scores_only_where_there_are_some():
    with pytest.raises(hr.UsageError, match="takes Votes, not list"):
        hr.analyse([[1, 2]])
    with pytest.raises(hr.UsageError, match="are rankings"):
        hr.analyse(TREES, hr.Spec(rule="mean-score"))
    scores = hr.Votes.from_score_rows(np.array([[3.0, 1.0], [2.0, 2.5]]), items=["x", "y"])
    assert hr.analyse(scores, hr.Spec(rule="mean-score", theta=None)).record["consensus"]["ranks"] == [1, 2]


def test_claims_in_words():
    order = hr.Ranking([1, 2, 3])
    items = ["A", "B", "top 2"]
    assert goal_against(claimed("A above  B", items), items, order, tiers=False) == hr.Above("B", "A")
    assert goal_against(claimed("B above A", items), items, order, tiers=False) is None
    assert goal_against(claimed("top 1", items), items, order, tiers=False) == hr.TopSet(1)
    with pytest.raises(hr.UsageError, match="a claim is 'X wins'"):
        goal_against(claimed("top 2", items), items, order, tiers=False)  # an item has this name
    with pytest.raises(hr.UsageError, match="did you mean"):
        goal_against(claimed("a wins", ["Alpha", "a1"]), ["Alpha", "a1"], hr.Ranking([1, 2]), tiers=False)


def test_places_are_within_reach_of_as_many_votes_as_end_the_lead():
    close = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[503, 497])
    record = hr.analyse(close, hr.Spec(theta=None, draws=0)).record
    assert record["reach"]["votes"] == record["attack"]["sufficient"] == 4  # 3 tie, and 1 % would be 10
    assert hr.verify(close, hr.Analysis(record)).proved
    given = hr.analyse(close, hr.Spec(theta=None, draws=0, budget=0.02)).record
    assert given["reach"]["votes"] == 20
    clear = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[900, 100])
    assert hr.analyse(clear, hr.Spec(theta=None, draws=0, k=1)).record["reach"]["votes"] == 10


def test_an_attack_whose_whole_votes_are_settled_was_not_cut_short(monkeypatch):
    def stopped(*args, **kwargs):
        found = hr.attack(*args, **kwargs)
        return dataclasses.replace(found, upper=found.upper + 1e-4, status=Status.BETWEEN_TIME_LIMIT)

    monkeypatch.setattr(analysis, "attack", stopped)
    r = analysed(TREES, hr.Spec(theta=None), "attack").record
    assert r["attack"]["upper"] > r["attack"]["lower"]
    assert [step["state"] for step in r["steps"]] == ["done", "done"]
    shares = TREES.with_weights(TREES.weights / TREES.total)
    assert analysed(shares, hr.Spec(theta=None), "attack").record["steps"][-1]["state"] == "cut short"


def test_a_bootstrap_that_cannot_rank_two_samples_in_time_leaves_the_time_to_others(monkeypatch):
    votes = hr.sample_votes(hr.Uniform(31), 101, rng=1)
    asked = []

    def slow(*_, draws, time_limit, **__):
        asked.append((draws, time_limit))
        return SimpleNamespace(status=Status.RESAMPLED_TIME_LIMIT, draws=1)

    monkeypatch.setattr(analysis, "bootstrap", slow)
    r = analysed(votes, hr.Spec(rule="borda", theta=None, time_limit=1000.0), "bootstrap").record
    ((draws, seconds),) = asked
    assert draws == 2
    assert seconds < 100
    assert r["steps"][-1]["note"] == "0 of 1,000 bootstrap samples ranked, too few for intervals"


def test_after_an_interrupt_no_step_begins(monkeypatch):
    begun = []
    monkeypatch.setattr(analysis, "attack", lambda *_, **__: begun.append("attack"))
    monkeypatch.setattr(Clock, "interrupted", property(lambda _: True, lambda *_: None))
    r = hr.analyse(TREES, hr.Spec(theta=0.05, claims=("Ash wins",))).record
    assert begun == []
    assert r["consensus"]["order"] == [0, 1, 2]
    assert r["tiers"] is not None
    done = [step["name"] for step in r["steps"] if step["state"] == "done"]
    assert done == ["consensus", "tiers", "cut", "voters", "refine"]  # nothing was asked of the last three
    assert left_out("breakdown", r) == "Breakdown curve: it was not computed."
    assert mismatch(r) == ""
