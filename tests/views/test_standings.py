"""The board of a page: what its columns hold, which are left out, and what stands above it."""

from __future__ import annotations

import copy
import re
from html import escape

import pytest

import holdrank as hr
from holdrank.analysis.analyse import analyse
from holdrank.analysis.result import Analysis
from holdrank.analysis.spec import Spec
from holdrank.views.page import page_view
from holdrank.views.report import html
from holdrank.views.standings import board, win_rates
from holdrank.words.banners import banners
from page_records import large_record

BATTLES = (
    "model_a,model_b,winner\n"
    + "a,b,model_a\n" * 30
    + "a,b,model_b\n" * 20
    + "b,c,model_a\n" * 40
    + "c,b,model_a\n" * 9
)


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    """30 of 50 battles put a above b, 40 of 49 put b above c; read from a file in a folder with a name of its own."""
    folder = tmp_path_factory.mktemp("secret-folder")
    (folder / "arena.csv").write_text(BATTLES, encoding="utf-8")
    return analyse(hr.read_votes(folder / "arena.csv"), Spec(draws=200, time_limit=1.0)).record


@pytest.fixture(scope="module")
def large():
    return large_record(20)


def column(found, key):
    return [row["cells"][key].text for row in found["rows"]]


def keys(found):
    return [one.key for one in found["columns"]]


def test_a_board_of_battles_has_ratings_races_and_battles(arena):
    found = board(arena)
    assert {"rank", "item", "rating", "places", "chance", "overtake", "battles"} <= set(keys(found))
    assert column(found, "battles") == ["50", "99", "49"]  # a only met b, and so did c
    assert [one.title for one in found["columns"] if one.key == "overtake"] == ["Battles to lose the place"]
    record = copy.deepcopy(arena)
    known = {"lower": 0.01, "upper": 0.02, "needed": 2.0, "ties": 3.0}
    record["races"] = [{**known, "decides": 4.0, "sufficient": 4.0}, {**known, "decides": 3.0, "sufficient": 7.0}]
    assert column(board(record), "overtake") == ["4", "3 to 7", ""]
    assert re.fullmatch(r"\d+ ± \d+", column(found, "rating")[0])


def test_a_win_rate_is_the_share_of_all_comparisons_that_are_won():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    record = analyse(votes, Spec(theta=None, draws=0)).record
    # Of 200 comparisons a wins 60 against b and 100 against c, b wins 40 and 100, c none.
    assert win_rates(record) == pytest.approx([0.8, 0.7, 0.0])
    assert column(board(record), "rating") == ["80 %", "70 %", "0 %"]


def test_items_of_one_tier_share_their_rank(large):
    found = board(large)
    assert column(found, "rank") == [f"{4 * (k // 4) + 1}" for k in range(20)]
    assert column(found, "tier") == [f"{k // 4 + 1}" for k in range(20)]
    assert [k for k, row in enumerate(found["rows"]) if row["opens"]] == [0, 4, 8, 12, 16]
    record = copy.deepcopy(large)
    record["tiers"] = None
    assert "tier" not in keys(board(record))


def test_what_says_nothing_is_left_out_with_a_line(large):
    assert {"chance", "within", "places"} <= set(keys(board(large)))
    record = copy.deepcopy(large)
    record["reach"] |= {"best": [1] * 20, "worst": [20] * 20}
    assert "within" not in keys(board(record))
    assert any(line.startswith("Reach is not shown: with ") for line in page_view(record)["left_out"])
    record["bootstrap"]["draws"] = 199
    record["chance"] = None
    assert not {"chance", "places"} & set(keys(board(record)))
    assert "Places by chance were not computed." in page_view(record)["left_out"]
    record["gaps"] = [{**gap, "known": False} for gap in record["gaps"]]
    assert "overtake" not in keys(board(record))


def test_a_bar_is_as_long_as_its_places(large):
    bars = [row["bar"] for row in board(large)["rows"]]
    # Of 20 places the first is at 0 and the last at 100 %; the third may reach places 1 to 7.
    assert '<line class="reach" x1="0%" x2="31.6%"/>' in bars[2]
    assert '<circle class="dot" cx="10.5%" r="3.5"/>' in bars[2]
    assert '<circle class="dot" cx="100%" r="3.5"/>' in bars[-1]


def test_the_page_names_the_file_and_never_its_folder(arena):
    page = html(Analysis(arena))
    assert "arena.csv" in page
    assert "secret-folder" not in page
    assert page_view(arena)["source"] == "arena.csv"


def test_banners_say_what_is_missing_why_and_how_to_get_it(arena):
    record = copy.deepcopy(arena)
    for step in record["steps"]:
        step["state"] = "done"
    assert banners(record) == []
    record["spec"]["time_limit"] = 40.0
    for name in ("gaps", "curves"):
        next(step for step in record["steps"] if step["name"] == name)["state"] = "cut short"
    said = "Cut short {} time limit of 40 s: battles to cross the lines between tiers and breakdown curves."
    assert banners(record)[0].text.startswith(said.format("after a share of the"))  # the whole took less
    record["steps"][-1]["seconds"] = 39.0
    (late,) = banners(record)
    assert late.text.startswith(said.format("by the"))
    assert late.command == "holdrank report arena.csv --time-limit 400"
    record["votes"]["source"] = "my votes; rm -rf.csv"
    assert banners(record)[0].command == "holdrank report 'my votes; rm -rf.csv' --time-limit 400"
    record["votes"] |= {"source": "memory", "sha256": ""}
    assert banners(record)[0].command == "analyse(votes, Spec(time_limit=400))"


def test_all_that_is_missing_is_one_list_with_its_reasons(arena):
    record = copy.deepcopy(arena)
    for step in record["steps"]:
        step["state"] = "done"
    late = {"gaps": "cut short", "audit": "failed", "removals": "interrupted", "reach": "cut short"}
    for step in record["steps"]:
        if step["name"] in late:
            step |= {"state": late[step["name"]], "note": "no luck"}
    record["reach"] = None
    view = page_view(record)
    assert view["missing"] == "Incomplete or left out"
    lines = view["left_out"]
    gaps = "Cut short: battles to cross the lines between tiers."
    assert gaps in lines
    assert "What could mislead: failed: no luck." in lines
    assert "Interrupted: the effect of removing items." in lines
    assert len([line for line in lines if line.startswith(("Reach", "Places within"))]) == 1
    page = html(Analysis(record))
    assert all(escape(line, quote=False) in page or escape(line) in page for line in lines)
    assert '<details class="missing"' not in page


def test_an_order_that_is_one_of_several_is_said_above_the_board():
    cycle = hr.Votes.from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]])
    record = analyse(cycle, Spec(rule="kemeny", draws=0)).record
    assert record["consensus"]["unique"] is False
    assert "Several orders are equally good." in [one.title for one in banners(record)]
    page = html(Analysis(record))
    assert page.index("Several orders are equally good.") < page.index('class="board')


def test_places_that_chance_leaves_all_open_are_one_line_and_no_column(large):
    record = copy.deepcopy(large)
    n = len(record["items"])
    record |= {"bootstrap": None, "chance": {"lower": [1] * n, "upper": [n] * n, "level": 0.95, "neighbours": []}}
    found = board(record)
    assert "chance" not in keys(found)
    assert "For all items at once, no place of any item can be ruled out (95 %)." in found["notes"]
    drawn = board({**record, "bootstrap": large["bootstrap"]})
    assert "chance" in keys(drawn)
    assert any(note.endswith("can be ruled out (95 %); the bars show each item alone.") for note in drawn["notes"])
    assert "places by chance" not in page_view({**record, "chance": {**record["chance"], "text": ""}})["missing"]
    record["chance"]["upper"] = [k + 2 for k in range(n - 1)] + [n]
    record["chance"]["lower"] = [max(k - 1, 1) for k in range(n)]
    assert "chance" in keys(board(record))
    assert not any("By chance" in note for note in board(record)["notes"])
