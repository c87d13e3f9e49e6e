"""The seven pictures of a record: the same in words as in lines, whatever the names hold, and small."""

from __future__ import annotations

import copy
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest

import holdrank as hr
from holdrank.analysis.analyse import analyse
from holdrank.analysis.spec import Spec
from holdrank.views.svg import (
    PICTURES,
    attack,
    attack_text,
    breakdown,
    breakdown_text,
    heatmap,
    heatmap_text,
    ladder,
    ladder_text,
    ranges,
    ranges_text,
    tradeoff,
    tradeoff_text,
)
from holdrank.views.svg.canvas import Canvas, fitted, ticks, width_of
from holdrank.words.ladders import buckets, slider_data, slider_words
from holdrank.words.names import in_text, named
from holdrank.words.numbers import percent
from holdrank.words.pictures import left_out
from holdrank.words.prices import price
from holdrank.words.tradeoffs import unknown_thresholds
from page_records import large_record, votes_of

HOSTILE = ["<img src=x onerror=alert(1)>", "a" * 900, "tab\there\x1b[31m", "\u202eright-to-left", "\"q\" & 'p'",
           "$m$ </script><script>alert(2)</script>", "שלום"]  # fmt: skip


@pytest.fixture(scope="module")
def strict():
    """60 of 100 prefer a to b, all prefer both to c: no tiers."""
    return analyse(votes_of(), Spec(theta=None, draws=200, time_limit=None)).record


@pytest.fixture(scope="module")
def tied():
    """The same votes with a and b tied, and no bootstrap."""
    return analyse(votes_of(), Spec(theta=0.1, draws=0, time_limit=None)).record


@pytest.fixture(scope="module")
def chosen():
    """The same votes with a threshold that was chosen."""
    return analyse(votes_of(), Spec(draws=0, time_limit=None)).record


@pytest.fixture(scope="module")
def hostile():
    """Names that would like to be markup, commands or longer than the page."""
    votes = hr.sample_votes(hr.PlackettLuce([7, 6, 5, 4, 3, 2, 1]), 60, rng=1, items=HOSTILE)
    return analyse(votes, Spec(rule="borda", theta=0.02, k=2, draws=50, time_limit=2.0)).record


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in parsed(svg).iter("text")]


def with_class(svg: str, name: str) -> list[ElementTree.Element]:
    return [node for node in parsed(svg).iter() if name in node.get("class", "").split()]


# What the words say.


def test_the_words_of_a_strict_ranking(strict):
    assert ladder_text(strict).splitlines() == [
        "3 places without ties.",
        "Place 1: a.",
        "Gap below: 11 votes (11 %).",
        "Place 2: b.",
        "Gap below: 51 votes (51 %).",
        "Place 3: c.",
    ]
    assert ranges_text(strict).splitlines()[1:] == [
        "a: 1; 1 by chance; 1 by attack.",
        "b: 2; 2 by chance; 2 by attack.",
        "c: 3; 3 by chance; 3 by attack.",
    ]
    assert heatmap_text(strict).splitlines() == [
        "3 items, 3 pairs, in the order of the consensus.",
        "Closest: 60 % prefer a to b. Clearest: 100 % prefer a to c.",
        "Majorities against the consensus: 0 of 3 pairs.",
    ]
    assert "Kemeny: 1 pair: 11 votes (11 %); 2 pairs: 51 votes (51 %)" in breakdown_text(strict)
    assert tradeoff_text(strict) == "There is no trade-off: no tiers were asked for."
    assert attack_text(strict).splitlines()[1] == "Places that change: a from 1 to 2 and b from 2 to 1."


def test_the_words_of_tiers(tied):
    assert ladder_text(tied).splitlines() == [
        "2 tiers.",
        "Places 1–2: a, b.",
        "Gap below: 40 votes (40 %).",
        "Place 3: c.",
    ]
    assert tradeoff_text(tied) == "There is no trade-off: the threshold 0.1 was given, not chosen."
    assert "by chance" not in ranges_text(tied)


def test_the_words_of_a_trade_off(chosen):
    first, second, *_ = tradeoff_text(chosen).splitlines()
    assert re.fullmatch(
        r"Loss against robustness over \d+ thresholds; to break means: the order of 1 pair changes\.", first
    )
    record = copy.deepcopy(chosen)
    record["tradeoff"] |= {"goal": "another winner", "delta": None}
    assert "to break means: another item shares or takes first place." in tradeoff_text(record)
    assert "until another item shares or takes first place" in texts(tradeoff(record))
    assert second.startswith("Most robust: θ = ")


def test_a_threshold_of_which_nothing_is_known_is_counted_and_not_drawn(chosen):
    record = copy.deepcopy(chosen)
    found = record["tradeoff"]
    middle = next(k for k in range(1, len(found["theta"])) if k != found["best"] and found["lower"][k] is not None)
    drawn = len(with_class(tradeoff(record), "hit"))
    found["lower"][middle], found["upper"][middle] = 0.0, None
    assert len(with_class(tradeoff(record), "hit")) == drawn - 1
    assert "Trade-off: nothing is known about 1 of 4 thresholds within the time limit." in tradeoff_text(record)
    assert "nothing is known" not in tradeoff_text(chosen)
    assert [part.why for part in unknown_thresholds(record)] == [
        "Trade-off: nothing is known about 1 of 4 thresholds within the time limit."
    ]
    assert unknown_thresholds(chosen) == []


def test_curves_are_drawn_in_the_whole_votes_that_their_sentences_name(strict):
    record = copy.deepcopy(strict)
    total = record["votes"]["total"]
    for curve in record["curves"]:
        for k, needed in enumerate(curve["needed"]):
            curve["lower"][k] = (needed - 0.9) / total  # the share alone is no whole number of votes
    assert breakdown(record) == breakdown(strict)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
@pytest.mark.parametrize("kind", ["strict", "tied", "chosen"])
def test_the_label_is_the_text_and_the_drawing_is_xml(picture, kind, request):
    record = request.getfixturevalue(kind)
    root = parsed(picture.draw(record))
    assert root.tag == "svg"
    assert root.get("role") == "img"
    assert root.get("aria-label") == picture.tell(record)
    assert picture.draw(record) == picture.draw(copy.deepcopy(record))


# What is drawn.


def test_a_ladder_has_a_block_for_each_tier_and_a_chip_for_each_item(tied, strict):
    assert len(with_class(ladder(tied), "block")) == 2
    assert len(with_class(ladder(tied), "chip")) == 3
    assert {"1–2", "3", "40 votes", "40 %"} <= set(texts(ladder(tied)))
    assert len(with_class(ladder(strict), "block")) == 3


def test_a_gap_that_is_not_known_has_no_label(tied):
    record = copy.deepcopy(tied)
    record["gaps"][0]["known"] = False
    assert not with_class(ladder(record), "price")
    assert not with_class(ladder(record), "gap")
    record["gaps"] = []
    assert "Gap" not in ladder_text(record)
    assert len(with_class(ladder(record), "block")) == 2


def test_ranges_leave_out_what_was_not_computed(strict):
    record = copy.deepcopy(strict)
    assert len(with_class(ranges(record), "shown")) == 3 + 1  # one in the key
    record["bootstrap"] = record["reach"] = None
    assert not with_class(ranges(record), "shown")
    assert not with_class(ranges(record), "noise")
    assert len(with_class(ranges(record), "dot")) == 3 + 1
    assert ranges_text(record).splitlines()[:2] == ["Place in the consensus.", "a: 1."]


def test_an_adversary_who_may_reach_more_than_was_shown(strict):
    record = copy.deepcopy(strict)
    record["reach"] |= {"worst": [3, 3, 3], "shown_worst": [2, 2, 3]}
    assert "a: 1; 1 by chance; 1–2 by attack, 1–3 not ruled out." in ranges_text(record)


def test_a_matrix_draws_every_cell_off_the_diagonal_once(strict):
    cells = []
    for path in with_class(heatmap(strict), "heat"):
        for x, y, wide in re.findall(r"M(\d+) (\d+)h(\d+)", path.get("d", "")):
            cells += [(int(y), int(x) + k) for k in range(int(wide))]
    assert sorted(cells) == [(i, j) for i in range(3) for j in range(3) if i != j]
    assert {"60", "40", "100", "0"} <= set(texts(heatmap(strict)))


def test_pairs_that_nobody_compares_are_hatched_and_have_no_colour(strict):
    record = copy.deepcopy(strict)
    record["pairs"]["compared"] = [[0, 100, 0], [100, 0, 3], [0, 3, 0]]
    hatched = [path.get("d") for path in with_class(heatmap(record), "few")]
    assert "M2 0h1M2 1h1M0 2h2" in hatched
    coloured = "".join(path.get("d", "") for path in with_class(heatmap(record), "heat"))
    assert "M2 0" not in coloured
    assert "M2 1" in coloured  # three votes are few, and have a colour
    assert "Never compared: 1 pair." in heatmap_text(record)


@pytest.mark.slow
@pytest.mark.traced
def test_a_matrix_of_many_items_stays_small():
    record = large_record(100)
    assert len(heatmap(record)) < 60_000
    assert sum(len(picture.draw(record)) for picture in PICTURES) < 160_000


def test_curves_have_votes_at_their_axis_and_a_number_for_whoever_points_at_them(strict):
    written = texts(breakdown(strict))
    assert {"votes", "Kemeny", "Borda", "20", "20 %"} <= set(written)
    assert "Kemeny: 1 pair: 11 votes (11 %)" in [node[0].text for node in with_class(breakdown(strict), "hit")]
    assert len(with_class(breakdown(strict), "curve")) == 2


def test_what_nothing_is_known_of_is_said_and_not_drawn(strict):
    record = copy.deepcopy(strict)
    for curve in record["curves"]:
        curve |= {"lower": [0.0] * len(curve["delta"]), "upper": [None] * len(curve["delta"])}
    assert breakdown_text(record) == "There are no breakdown curves: no bound was found within the time limit."
    assert not with_class(breakdown(record), "curve")
    record["curves"] = []
    assert "none was computed" in breakdown_text(record)
    record["attack"]["after"] = None
    assert attack_text(record).endswith("The order after it was not computed within the time limit.")
    assert not with_class(attack(record), "moved")
    record["attack"] = None
    assert attack_text(record).startswith("Minimal attack: none was searched for")


def test_what_never_breaks_stands_above_all(chosen):
    record = copy.deepcopy(chosen)
    assert record["tradeoff"]["lower"][-1] is None  # a tie of all
    assert "cannot be broken" in texts(tradeoff(record))
    record["tradeoff"] |= {"best": len(record["tradeoff"]["theta"]) - 1}
    assert "loss 0.5, cannot be broken." in tradeoff_text(record)
    record["tradeoff"] |= {name: [0.0, *[None] * (len(record["tradeoff"]["theta"]) - 1)] for name in ("lower",)}
    record["tradeoff"]["upper"] = [None] * len(record["tradeoff"]["theta"])
    assert "was not computed within the time limit" in tradeoff_text(record)


def test_an_attack_stresses_who_moved(strict):
    assert len(with_class(attack(strict), "moved")) == 2
    assert len(with_class(attack(strict), "stayed")) == 1
    assert "after 11 votes (11 %)" in texts(attack(strict))
    record = copy.deepcopy(strict)
    record["attack"]["after"] = record["attack"]["before"]
    assert attack_text(record).endswith("No item changes its place.")


@pytest.mark.slow
@pytest.mark.traced
def test_an_attack_on_many_items_draws_some():
    record = large_record(100)
    assert len(with_class(attack(record), "moved")) == 24
    assert "76 more items, which moved less or not at all" in texts(attack(record))


def test_one_item_has_every_picture():
    record = analyse(hr.Votes.from_orders([["a"]]), Spec(time_limit=None)).record
    for picture in PICTURES:
        assert parsed(picture.draw(record)).get("aria-label") == picture.tell(record)
    assert heatmap_text(record) == "There are no pairs: there is one item."


@pytest.mark.slow
@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_names_are_text(picture, hostile):
    drawn = picture.draw(hostile)
    root = parsed(drawn)
    tags = {node.tag for node in root.iter()}
    assert tags <= {"svg", "g", "text", "title", "rect", "path", "circle", "defs", "pattern"}
    attributes = {name for node in root.iter() for name in node.attrib}
    assert not any(name.startswith("on") or name in ("href", "src", "style") for name in attributes)
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", drawn)
    assert all(len(text) <= 400 + 40 for text in texts(drawn))


def test_a_name_from_right_to_left_does_not_turn_its_neighbours():
    assert in_text("שלום") == "\u2068שלום\u2069"
    assert in_text("abc") == "abc"
    assert in_text("") == "(no name)"


# The same numbers here and in the script: one table, written by hand.

PRICES = [
    ((0.07, 0.074, 36, 37), True, ["36 to 37 votes", "7.2 % to 7.4 %"]),
    ((0.07, 0.07, 37, 37), True, ["37 votes", "7.4 %"]),
    ((0.002, 0.002, 1, 1), True, ["1 vote", "0.2 %"]),
    ((0.07, None, 36, None), True, ["at least 36 votes", "7.2 %"]),
    ((0.0, 0.01, 0, 5), True, ["at most 5 votes", "1 %"]),
    ((None, None, None, None), True, ["cannot be broken", ""]),
    ((0.0, None, 0, None), True, None),
    ((0.1, 0.1 + 1e-12, None, None), False, ["10 %", ""]),
    ((0.1, 0.25, None, None), False, ["10 % to 25 %", ""]),
]
SHARES = [(0.074, "7.4 %"), (1.0, "100 %"), (0.000112, "0.0112 %"), (1e-9, "under 0.0001 %"), (0.0, "0 %")]
NAMES = [
    ("plain", "plain"),
    ("", "(no name)"),
    ("tab\there\x1b", "tab\\there\\x1b"),
    ("\u202ea", "\\u202ea"),
    ("b" * 50, "b" * 39 + "…"),
    ("日本", "日本"),
    ("\U000e0001", "\\U000e0001"),
]


def found_of(numbers):
    lower, upper, needed, sufficient = numbers
    return {"lower": lower, "upper": upper, "needed": needed, "decides": needed, "sufficient": sufficient}


@pytest.mark.parametrize(("numbers", "counts", "expected"), PRICES)
def test_prices_in_words(numbers, counts, expected):
    got = price(found_of(numbers), {"counts": counts, "total": 500.0 if counts else 1.0})
    assert (None if got is None else [got.votes, got.share]) == expected


@pytest.mark.parametrize(("share", "expected"), SHARES)
def test_shares_in_words(share, expected):
    assert percent(share) == expected


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_script_says_the_same(tmp_path: Path):
    module = tmp_path / "holdrank.mjs"
    module.write_text(files("holdrank").joinpath("views/static/holdrank.js").read_text("utf-8"), "utf-8")
    (tmp_path / "ask.mjs").write_text(
        'import { named, reportedTiers } from "./holdrank.mjs";\n'
        f"const names = {json.dumps([name for name, _ in NAMES])};\n"
        "console.log(JSON.stringify({ names: names.map((name) => named(name)),\n"
        "  tiers: reportedTiers({ tiers: { ranks: [2, 1, 2] }, consensus: { order: [1, 2, 0] } }) }));\n",
        "utf-8",
    )
    done = subprocess.run(
        ["node", "ask.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    said = json.loads(done.stdout)
    assert said["names"] == [expected for _, expected in NAMES]
    assert said["tiers"] == [[1], [2, 0]]


@pytest.mark.parametrize(("numbers", "counts", "expected"), PRICES)
def test_the_slider_is_given_the_same_words(numbers, counts, expected):
    record = {
        "items": ["a", "b"],
        "consensus": {"ranks": [1, 2], "order": [0, 1]},
        "votes": {"counts": counts, "total": 500.0 if counts else 1.0},
        "gaps": [found_of(numbers)],
        **dict.fromkeys(("tiers", "path", "tradeoff")),
    }
    (said,) = slider_data(record)["prices"]
    assert (None if said is None else [said["votes"], said["share"]]) == expected


def test_the_slider_is_told_what_each_threshold_costs_and_buys(chosen):
    said = slider_data(chosen)["weighed"]
    assert len(said) == len(chosen["path"]["theta"])
    found = chosen["tradeoff"]
    first = f"loss {found['loss'][0]:.4g}; first change: {percent(found['lower'][0])} of the votes"
    assert (len(said), said[0]) == (len(found["theta"]), first)
    assert said[-1] == "loss 0.5; cannot be broken"


def test_at_the_reported_threshold_the_slider_says_what_the_attack_takes(chosen):
    """A sweep over thresholds bounds their best; a page once said 2 to 4 there below a headline that proves 4."""
    found = {**chosen["attack"], "goal": "another winner", "lower": 0.03, "upper": 0.04, "needed": 4, "ties": None}
    record = {**chosen, "attack": {**found, "decides": 4, "sufficient": 4}}
    record["tradeoff"] = {**chosen["tradeoff"], "goal": "another winner", "lower": [0.02] * 3, "upper": [0.04] * 3}
    said = slider_words(record)["as_reported"]
    assert said == f"loss {chosen['tiers']['loss']:.4g}; another item shares or takes first place: 4 votes (4 %)"
    assert slider_words({**record, "attack": None})["as_reported"] == ""
    assert slider_words({**record, "tiers": None})["as_reported"] == ""


def test_the_slider_says_both_ends_of_what_is_known(chosen):
    """A lower bound alone once stood there like the number itself, below what the headline proves."""
    ends = [(0.01, 0.02), (0.01, None), (0.0, 0.02), (0.0, None), (0.02, 0.02), (None, None)]
    several = {"theta": [0.0] * 6, "loss": [0.5] * 6, "goal": "another winner"}
    tradeoff = {**several, "lower": [low for low, _ in ends], "upper": [high for _, high in ends]}
    record = {**chosen, "tradeoff": tradeoff, "path": {"theta": [0.0] * 6}}
    assert slider_words(record)["weighed"] == [
        "loss 0.5; another item shares or takes first place: 1 % to 2 % of the votes",
        "loss 0.5; another item shares or takes first place: at least 1 % of the votes",
        "loss 0.5; another item shares or takes first place: at most 2 % of the votes",
        "loss 0.5",
        "loss 0.5; another item shares or takes first place: 2 % of the votes",
        "loss 0.5; cannot be broken",
    ]


def test_names_in_python_are_those_of_the_script():

    assert [named(name) for name, _ in NAMES] == [expected for _, expected in NAMES]


# The sheet.


def test_text_is_cut_to_its_room():
    assert fitted("short", 200) == "short"
    cut = fitted("a rather long name", 60)
    assert cut.endswith("…")
    assert width_of(cut) <= 60
    assert width_of("日本") > width_of("ab")
    assert width_of("e\u0301") == width_of("e")


def test_ticks_are_round():
    assert ticks(0) == [0.0]
    assert ticks(100) == [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    assert ticks(0.0003, 0.0002) == pytest.approx([0.0002, 0.00022, 0.00024, 0.00026, 0.00028, 0.0003])


def test_a_sheet_escapes_text_and_attributes():
    sheet = Canvas("ladder", 10)
    sheet.text(1, 2, "<b>", "x", full="a & b")
    sheet.box(0, 0, 1, 1, "y", title="<i>")
    drawn = sheet.done(5, 'two\n"lines"')
    root = parsed(drawn)
    assert root.get("aria-label") == 'two\n"lines"'
    assert [node.text for node in root.iter("title")] == ["a & b", "<i>"]
    assert drawn.count("<b>") == 0


def test_items_of_a_rank_stand_in_the_order_of_the_consensus():
    assert buckets([3, 1, 3, 2], [2, 1, 3, 0]) == [[1], [3], [2, 0]]


def test_two_thresholds_at_one_point_have_words_of_their_own(chosen):
    record = copy.deepcopy(chosen)
    found = record["tradeoff"]
    found |= {"goal": "another winner", "best": 0, "lower": [0.3] * len(found["lower"])}
    found |= {"upper": found["lower"], "loss": [0.2] * len(found["loss"])}
    record["tiers"] |= {"theta": 0.4, "loss": 0.2001}
    record["attack"] |= {"goal": "another winner", "lower": 0.3, "upper": 0.3, "decides": 30.0, "sufficient": 30.0}
    said = re.findall(r'<text x="[\d.]+" y="([\d.]+)" class="label[^"]*"[^>]*>([^<]*)', tradeoff(record))
    assert [text.partition(":")[0] for _, text in said] == ["most robust", "tiers above"]
    assert all(text.endswith(", 30 votes (30 %)") for _, text in said)
    heights = sorted(float(y) for y, _ in said)
    assert all(below - above >= 14 for above, below in pairwise(heights))


def test_the_line_of_a_trade_off_never_falls(chosen):
    record = copy.deepcopy(chosen)
    found = record["tradeoff"]
    found |= {"theta": [0.0, 0.1, 0.2, 0.5], "loss": [0.2, 0.3, 0.4, 0.5], "sizes": [[1, 1]] * 4, "best": 1}
    found |= {"goal": "another winner", "lower": [0.1, 0.3, 0.05, None], "upper": [0.1, 0.3, 0.5, None]}
    (line,) = with_class(tradeoff(record), "curve")
    heights = [float(y) for y in re.findall(r"[\d.]+[, ]([\d.]+)", line.get("points") or line.get("d"))]
    assert len(heights) > 2
    assert all(before >= after for before, after in pairwise(heights))


def test_long_words_of_a_trade_off_lose_their_share(chosen):
    record = copy.deepcopy(chosen)
    record["tradeoff"] |= {"lower": [0.1] * len(record["tradeoff"]["lower"])}
    record["tradeoff"] |= {"upper": [0.9] * len(record["tradeoff"]["lower"])}
    said = [node.text for node in with_class(tradeoff(record), "label")]
    assert said
    assert all(width_of(text, 14) < 400 for text in said)


def test_a_curve_that_is_zero_or_unknown_is_not_drawn(chosen):
    record = copy.deepcopy(chosen)
    for curve in record["curves"]:
        m = len(curve["lower"])
        curve |= {"lower": [0.0] * m, "upper": [0.0] * (m - 1) + [0.6]}
    assert left_out("breakdown", record).startswith("Breakdown curve: ")
    record["curves"][0]["lower"][-1] = 0.3
    assert left_out("breakdown", record) == ""
