"""Places by chance in a record: proved by computing them again, refuted where a number was changed."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import holdrank as hr
from holdrank.analysis.records import seal_of

from analyses import analysed as few_steps

CLAIM = "the places by chance follow from the votes and the seed"


def ballots(groups=True):
    """Return 60 rankings of three items by 12 judges, read from a table."""
    rng = np.random.default_rng(4)
    ranks = np.array([np.argsort(np.argsort(rng.normal((0.0, 0.5, 1.0)))) + 1 for _ in range(60)])
    frame = pd.DataFrame(ranks, columns=["a", "b", "c"]).assign(judge=(np.arange(60) % 12).astype(str))
    if groups:
        return hr.read_votes(frame, format="rank-columns", by="judge")
    return hr.read_votes(frame.drop(columns="judge"), format="rank-columns")


@cache
def analysed(by=None):
    return hr.analyse(ballots(), hr.Spec(rule="borda", draws=200, by=by, theta=None))


def findings(votes, analysis, words):
    return {check.claim: check for check in hr.verify(votes, analysis).checks if words in check.claim}


@pytest.mark.parametrize("by", [None, "judge"])
def test_places_by_chance_and_samples_are_proved_again(by):
    votes, analysis = ballots(), analysed(by)
    assert not hr.verify(votes, analysis).refuted
    assert findings(votes, analysis, "chance")[CLAIM].finding == "proved"
    assert findings(votes, analysis, "bootstrap")["the bootstrap samples follow from the seed"].finding == "proved"


@pytest.mark.parametrize("field", ["lower", "upper", "marginal_lower", "marginal_upper", "units", "text", "neighbours"])
def test_a_changed_number_is_refuted(field):
    votes, record = ballots(), hr.Analysis.from_json(analysed().to_json()).record
    old = record["chance"][field]
    record["chance"][field] = {
        list: lambda: [*old[:-1], not old[-1] if isinstance(old[-1], bool) else old[-1] % 3 + 1],
        str: lambda: f"{old} Surely.",
    }.get(type(old), lambda: old + 1)()
    record["seal"] = seal_of(record)
    assert findings(votes, hr.Analysis(record), "chance")[CLAIM].finding == "refuted"


def test_draws_by_groups_stay_open_where_the_votes_know_no_groups():
    votes, analysis = ballots(groups=False), analysed("judge")
    verdict = hr.verify(votes, analysis)
    assert not verdict.refuted, verdict.text()
    assert findings(votes, analysis, "chance")[CLAIM].finding == "open"


def test_places_that_are_missing_are_not_passed_over():
    votes, record = ballots(), hr.Analysis.from_json(analysed().to_json()).record
    record["chance"] = None
    record["seal"] = seal_of(record)
    found = findings(votes, hr.Analysis(record), "places by chance")
    assert [check.finding for check in found.values()] == ["open"]


# Mean ranks of score tables.

RANKS = "the mean ranks and their groups follow from the scores"


def scored(blanks=0.1):
    rows = np.random.default_rng(3).integers(0, 4, size=(25, 4)) - np.array([0, 0, 1, 3.5])
    rows[np.random.default_rng(4).random(rows.shape) < blanks] = np.nan
    return hr.Votes.from_score_rows(rows, items=list("abcd"))


@pytest.mark.parametrize("blanks", [0.0, 0.1, 0.9])
def test_mean_ranks_are_counted_again(blanks):
    votes = scored(blanks)
    found = few_steps(votes, hr.Spec(rule="borda", draws=200, theta=None), "chance")
    assert findings(votes, found, RANKS)[RANKS].finding == "proved"


@pytest.mark.parametrize(
    "change",
    [{"tasks": 24}, {"values": [1.0, 2.0, 3.0, 4.0]}, {"friedman": 3.0}, {"groups": []}, {"critical_difference": 0.01}],
    ids=lambda change: next(iter(change)),
)
def test_a_forged_diagram_is_refuted(change):
    votes = scored()
    record = few_steps(votes, hr.Spec(rule="borda", draws=200, theta=None), "chance").record
    record["mean_ranks"] |= change
    record["seal"] = seal_of(record)
    assert findings(votes, hr.Analysis(record), RANKS)[RANKS].finding == "refuted"


def test_mean_ranks_of_votes_without_scores_are_refuted():
    told = few_steps(scored(), hr.Spec(rule="borda", draws=200, theta=None), "chance").record["mean_ranks"]
    votes = hr.Votes.from_ranks([[1, 2, 3, 4]] * 25, items=list("abcd"))
    record = few_steps(votes, hr.Spec(rule="borda", draws=200, theta=None), "chance").record
    record |= {"mean_ranks": told}
    record["seal"] = seal_of(record)
    assert findings(votes, hr.Analysis(record), RANKS)[RANKS].finding == "refuted"
