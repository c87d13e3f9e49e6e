"""The report of an arena: every section is filled, and what it says about races and voters is so."""

import base64
import gzip
import json
import re

import numpy as np
import polars as pl
import pytest

import holdrank as hr
from holdrank.analysis.races import Prices
from holdrank.analysis.records import mismatch
from holdrank.views.report import html, markdown

MODELS, BATTLES, VOTERS = 60, 50_000, 300

pytestmark = [pytest.mark.slow, pytest.mark.traced, pytest.mark.usefixtures("time_at_work")]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(7)
    strength = rng.normal(0, 0.8, MODELS)
    shown = rng.gamma(1.2, 1.0, MODELS) + 0.05
    first, second = rng.choice(MODELS, (2, BATTLES), p=shown / shown.sum())
    second = np.where(first == second, (second + 1) % MODELS, second)
    wins = rng.random(BATTLES) < 1 / (1 + np.exp(strength[second] - strength[first]))
    winner = np.where(rng.random(BATTLES) < 0.2, "tie", np.where(wins, "model_a", "model_b"))
    names = np.array([f"model-{k}" for k in range(MODELS)])
    who = [f"user {k}" for k in (VOTERS * rng.random(BATTLES) ** 2).astype(int)]
    return pl.DataFrame({"model_a": names[first], "model_b": names[second], "winner": winner, "judge": who})


@pytest.fixture(scope="module")
def votes(frame):
    return hr.Votes.from_battles(frame, voter="judge")


@pytest.fixture(scope="module")
def found(votes):
    return hr.analyse(votes, hr.Spec(draws=200, time_limit=40))


def test_every_section_of_the_record_is_filled(votes, found):
    record = found.record
    assert mismatch(record) == ""
    assert record["consensus"]["rule"] == "bradley-terry"
    assert record["bootstrap"]["draws"] == 200
    assert len(record["ratings"]["lower"]) == votes.n
    assert len(record["races"]) == votes.n - 1
    assert len(record["gaps"]) == len(set(record["tiers"]["ranks"])) - 1
    for row in (*record["races"], *record["gaps"], record["attack"]):
        assert row.get("known", True)
        assert row["needed"] <= row["decides"] <= row["sufficient"] < votes.total
    assert any(record["curves"][0]["lower"])
    assert any(low is not None and low > 0 for low in record["tradeoff"]["lower"])
    assert all(
        1 <= best <= worst <= votes.n
        for best, worst in zip(*(record["reach"][end] for end in ("best", "worst")), strict=True)
    )
    assert {step["state"] for step in record["steps"]} <= {"done", "cut short"}


def test_the_pages_say_nothing_was_left_out(found):
    for page in (html(found), markdown(found)):
        for words in (
            "not computed within the time limit",
            "There are no breakdown curves",
            "There is no trade-off",
            "not known",
            "0 % of 2 draws",
        ):
            assert words not in page
        assert "to lose the place" in page
        assert "Voters who matter" in page
    assert len(html(found).encode()) < 500_000


def test_races_hold_what_closer_attacks_say(votes, found):
    order = [votes.items[item] for item in found.record["consensus"]["order"]]
    for place in (0, MODELS // 2, MODELS - 2):
        row = found.record["races"][place]
        closer = hr.attack(votes, hr.bradley_terry, hr.Above(order[place + 1], order[place]), time_limit=1)
        assert row["decides"] <= closer.votes_sufficient
        assert closer.votes_needed <= row["sufficient"]


def test_voters_are_those_who_move_the_lead_most(frame, votes, found):
    told = found.record["voters"]
    effects = hr.voter_effects(votes, hr.bradley_terry)
    assert told["number"] == len(effects.voters) == len(votes.voters)
    assert [row["voter"] for row in told["voters"]] == list(effects.voters[:20])
    assert {one["change"] for one in told["attacks"]} == {"drop", "replace"}
    first = told["voters"][0]
    rest = hr.Votes.from_battles(frame.filter(pl.col("judge") != first["voter"]))
    strengths = dict(zip(rest.items, hr.bradley_terry(rest).ratings().strengths, strict=True))
    above, below = (votes.items[item] for item in told["race"])
    assert strengths[above] - strengths[below] == pytest.approx(first["lead_without"], abs=1e-4)  # one has the ridge


def test_a_long_record_comes_out_of_the_page_whole(found):
    page = html(hr.Analysis({**found.record, "headline": "x" * 200_000}))
    packed = json.loads(re.search(r'id="holdrank-record">(.*?)</script>', page)[1])
    record = json.loads(gzip.decompress(base64.b64decode(packed["gzip"])))
    assert record["headline"] == "x" * 200_000
    assert {**record, "headline": found.headline} == found.record
    slider = json.loads(re.search(r'id="ladder-words">(.*?)</script>', page)[1])
    assert slider["path"] == found.record["path"]


def test_ranges_are_answers_and_only_what_has_no_end_was_cut_short():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 2])
    found = Prices(votes, hr.kemeny, hr.kemeny(votes).ranking, [])
    row = {"lower": 0.1, "upper": 0.2, "needed": 1.0, "ties": 1.0, "decides": 1.0, "sufficient": 2.0, "known": True}
    found.rows = [row, {**row, "lower": None, "sufficient": None}]  # the second cannot be broken
    assert not found.lacking
    for unknown in ({**row, "sufficient": None}, {**row, "known": False}):
        found.rows = [row, unknown]
        assert found.lacking
