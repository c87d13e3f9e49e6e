"""The part of a page about several optimal rankings."""

from __future__ import annotations

import numpy as np

import holdrank as hr
from holdrank.views.alternatives import optima_table
from holdrank.views.report import html, markdown


def analysed(v):
    return hr.analyse(v, hr.Spec(rule="kemeny", theta=None, draws=0, time_limit=20))


def recorded(v):
    return {"items": list(v.items), "optima": hr.shared_order(v).facts()}


def test_pages_show_which_places_are_certain():
    analysis = analysed(hr.Votes.from_orders([["a", "b", "c", "<i>"], ["b", "a", "c", "<i>"]]))
    for shown in (html(analysis), markdown(analysis)):
        assert "Equally good rankings" in shown
        assert "2 rankings are optimal." in shown
        assert "2 of 4 places are the same in every optimal ranking." in shown
        assert "Possible first: a and b." in shown
        assert "<i>" not in shown


def test_a_page_folds_many_groups_of_places():
    pairs = np.arange(28).reshape(14, 2)
    orders = [pairs.ravel(), pairs[:, ::-1].ravel()]
    names = [[f"x{i:02}" for i in order] for order in orders]
    assert "<summary>What all optimal rankings share: 14 groups" in html(analysed(hr.Votes.from_orders(names)))
    assert "<summary>What all" not in html(analysed(hr.Votes.from_orders([order[:24] for order in names])))


def test_pages_say_nothing_where_one_ranking_is_optimal():
    analysis = analysed(hr.Votes.from_orders([["a", "b", "c"]]))
    assert optima_table(analysis.record) is None
    assert "Equally good rankings" not in html(analysis)
    assert "Equally good rankings" not in markdown(analysis)


def test_long_tables_are_cut_and_say_so():
    pairs = np.arange(100).reshape(50, 2)
    orders = [pairs.ravel(), pairs[:, ::-1].ravel()]
    found = optima_table(recorded(hr.Votes.from_orders([[f"x{i:02}" for i in order] for order in orders])))
    assert len(found["rows"]) == 40
    assert found["more"] == "10 more groups"
    assert found["rows"][0] == ("1–2", [(0, "1–2"), (1, "1–2")], "", False)
    mixed = optima_table(recorded(hr.Votes.from_orders([[*"abcdefgh", *"xy"], [*"abcdefgh", *"yx"]])))
    assert [(row[0], row[2], row[3]) for row in mixed["rows"]] == [("1–8", "2 more items", True), ("9–10", "", False)]
    tied = optima_table(recorded(hr.Votes.from_ranks(np.ones((1, 40), dtype=int))))
    assert [row[2] for row in tied["rows"]] == ["10 more items"]
    assert "No place is the same" in tied["text"]
