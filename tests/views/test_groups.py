"""The page about leaving out one group after the other: a picture and a table of what it does."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import holdrank as hr
from holdrank.views.groups import left_out_page
from holdrank.views.svg.groups import left_out

HOSTILE = "<script>alert(1)</script>"
TABLE = pd.DataFrame(
    {"model": [HOSTILE, "y", "z"], "maths": [90.5, 10, 20], "code": [50, 60, 10], "<i>law</i>": [50, 60, 40]}
)


@pytest.fixture(scope="module")
def found():
    return hr.leave_one_out(hr.Votes.from_scores(TABLE), hr.borda)


def test_each_item_has_a_bar_over_its_places_and_the_group_that_moves_it_most(found):
    svg = left_out(found)
    titles = re.findall(r"<title>([^<]*: place [^<]*)</title>", svg)
    # Without maths, y passes the first; nothing else changes.
    assert [title.split(": ")[1] for title in titles] == [
        "place 1, from 1 to 2 with one left out",
        "place 2, from 1 to 2 with one left out",
        "place 3 in every case",
    ]
    assert svg.count(">maths</text>") == 2
    assert 'aria-label="Leaving out one column at a time: 1 of 3 changes the order' in svg


def test_names_stay_text(found):
    for page in (left_out(found), left_out_page(found), found._repr_html_()):
        assert "<script>" not in page
        assert "<i>law" not in page
    assert "&lt;script&gt;" in left_out_page(found)
    assert "&lt;i&gt;law&lt;/i&gt;" in left_out_page(found)


def test_the_command_writes_the_page(command_line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("scores.csv", index=False)
    code, _, err = command_line("leave-one-out", "scores.csv", "-q", "--rule", "borda", "-o", "groups.html")
    assert (code, err) == (0, "wrote groups.html\n")
    assert (tmp_path / "groups.html").read_text("utf-8").startswith("<!doctype html>")
    code, _, err = command_line("leave-one-out", "scores.csv", "-q", "-o", "groups.png")
    assert code == 2
    assert "--output needs a file with the extension .html" in err


def test_one_item_and_groups_that_change_nothing():
    table = pd.DataFrame({"model": ["a"], "one": [1], "two": [2]})
    found = hr.leave_one_out(hr.Votes.from_scores(table), hr.borda)
    assert "a: place 1 in every case" in left_out(found)
