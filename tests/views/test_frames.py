"""Results as data frames: the numbers of the result, in each library."""

from __future__ import annotations

import math

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import holdrank as hr
from holdrank.views import frames

VOTES = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"]], weights=[50, 30, 11])


def rows(found, **how):
    return found.to_frame(**how).to_dict("records")


def test_a_consensus_best_first_with_ties_and_ratings():
    tied = hr.Robust(hr.kemeny, 0.2)(VOTES)
    assert rows(tied) == [
        {"item": "a", "place": 1.5, "tier": 1},
        {"item": "b", "place": 1.5, "tier": 1},
        {"item": "c", "place": 3.0, "tier": 2},
    ]
    by_rating = hr.bradley_terry(VOTES)
    frame = by_rating.to_frame()
    assert frame["item"].tolist() == [VOTES.items[k] for k in by_rating.ranking.order]
    for row in frame.to_dict("records"):
        k = VOTES.items.index(row["item"])
        rated = by_rating.ratings()
        assert (row["rating"], row["rating_lower"], row["rating_upper"]) == (
            rated.values[k], rated.lower[k], rated.upper[k]
        )  # fmt: skip


def test_an_attack_lists_the_ballots_to_change_in_whole_votes():
    found = hr.attack(VOTES, hr.kemeny, hr.NewWinner())
    frame = found.to_frame()
    assert set(frame["change"]) == {"removed", "added"}
    for change in ("removed", "added"):
        assert frame.loc[frame["change"] == change, "votes"].sum() == found.votes_sufficient
    nothing = hr.attack(hr.Votes.from_orders([["a"]]), hr.kemeny, hr.NewWinner()).to_frame()
    assert list(nothing.columns) == ["change", "votes", "ballot"]
    assert len(nothing) == 0


def test_a_breakdown_has_its_bounds_and_infinity_stays():
    found = hr.breakdown(VOTES)
    frame = found.to_frame()
    for name in ("delta", "lower", "upper", "exact", "votes_needed", "votes_sufficient"):
        assert frame[name].tolist() == getattr(found, name).tolist()
    paper = hr.breakdown(VOTES, method="paper", rng=1, options=hr.PaperOptions(steps=10)).to_frame()
    assert "estimate" in paper.columns
    never = hr.breakdown(VOTES, hr.Robust(hr.kemeny, 0.5)).to_frame()
    assert math.isinf(never["upper"].iloc[-1])


def test_a_bootstrap_and_a_tradeoff():
    drawn = hr.bootstrap(VOTES, hr.kemeny, draws=30, rng=3)
    frame = drawn.to_frame()
    order = [VOTES.items.index(name) for name in frame["item"]]
    assert frame["place"].tolist() == [1, 2, 3]
    for name in ("best", "median", "worst", "first"):
        assert frame[name].tolist() == getattr(drawn, name)[order].tolist()
    weighed = hr.tradeoff(VOTES)
    frame = weighed.to_frame()
    assert frame["theta"].tolist() == weighed.theta.tolist()
    assert frame["best"].tolist().index(True) == weighed.best
    assert frame["tiers"].tolist() == [len(ranking.buckets) for ranking in weighed.rankings]


def test_a_group_column_that_is_called_like_another_is_not_lost():
    table = pd.DataFrame(
        {"model_a": ["a", "a"], "model_b": ["b", "b"], "winner": ["model_a", "tie"], "order": ["x", "y"]}
    )
    found = hr.leave_one_out(hr.read_votes(table, by="order"), hr.borda)
    assert set(found.to_frame()["group"]) == {"x", "y"}
    assert found.to_frame()["order"].tolist() == [one.ranking.text("ab") for one in found.each]


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_a_keyword_chooses_the_library(backend, kind):
    for found in (hr.kemeny(VOTES), hr.removals(VOTES, hr.kemeny), hr.leaderboard(VOTES, hr.borda, draws=5, rng=1)):
        assert isinstance(found.to_frame(backend=backend), kind)


def test_the_library_that_is_installed_is_the_default(monkeypatch):
    monkeypatch.setattr(frames, "find_spec", lambda name: None if name == "pandas" else name)
    assert isinstance(hr.kemeny(VOTES).to_frame(), pl.DataFrame)
    with pytest.raises(hr.UsageError, match=r"to_frame needs pandas, which is not installed.*pip install pandas"):
        hr.kemeny(VOTES).to_frame(backend="pandas")
    monkeypatch.setattr(frames, "find_spec", {}.get)
    with pytest.raises(hr.UsageError, match="pip install pandas"):
        hr.kemeny(VOTES).to_frame()
    with pytest.raises(hr.UsageError, match="one of pandas, polars, pyarrow, not 'excel'"):
        hr.kemeny(VOTES).to_frame(backend="excel")
