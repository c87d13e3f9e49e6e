"""The critical-difference diagram: dots at the mean ranks, bars over the groups, no label on another."""

from __future__ import annotations

import copy
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import holdrank as hr
from holdrank.analysis.analyse import analyse
from holdrank.analysis.chance.mean_ranks import mean_ranks
from holdrank.analysis.chance.records import mean_ranks_record
from holdrank.analysis.records import mismatch
from holdrank.views import report
from holdrank.views.paired import PAIRED_FORMS
from holdrank.views.svg import critical_difference, critical_difference_text
from holdrank.views.svg.canvas import width_of
from holdrank.words.pictures import concerns, left_out

from analyses import analysed

HOSTILE = ["<img src=x onerror=alert(1)>", "=cmd()", "tab\there\x1b[31m", "\u202eright-to-left", "a" * 900, "שלום"]


def table(n: int, tasks: int, apart: float, seed: int = 1, names: list[str] | None = None) -> hr.Votes:
    rows = np.random.default_rng(seed).normal(size=(tasks, n)) - apart * np.arange(n)
    return hr.Votes.from_score_rows(rows, items=names or [f"Model {k} by a lab with a long name" for k in range(n)])


def record_of(votes: hr.Votes) -> dict:
    """Return as much of a record as the picture looks at."""
    return {"items": list(votes.items), "mean_ranks": mean_ranks_record(mean_ranks(votes, 0.95))}


def with_class(svg: str, name: str) -> list[ElementTree.Element]:
    return [node for node in ElementTree.fromstring(svg).iter() if name in node.get("class", "").split()]


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    """Return the corners of all texts."""
    found = []
    for node in ElementTree.fromstring(svg).iter("text"):
        look = node.get("class", "").split()
        size = 11.5 if "small" in look else 13.0
        words = "".join(part for part in [node.text, *(child.tail for child in node)] if part)
        wide = width_of(words, size)
        x = float(node.get("x", 0)) - (wide if "end" in look else wide / 2 if "middle" in look else 0)
        y = float(node.get("y", 0))
        found.append((x, y - 0.75 * size, x + wide, y + 0.2 * size))
    return found


@pytest.mark.parametrize(
    ("n", "tasks", "apart"),
    [(2, 9, 0.5), (4, 30, 0.7), (17, 60, 0.15), (20, 60, 0.0), (21, 40, 0.2), (70, 120, 0.05), (80, 400, 0.3)],
)
def test_no_label_stands_on_another_or_beyond_the_sheet(n, tasks, apart):
    record = record_of(table(n, tasks, apart))
    svg = critical_difference(record)
    root = ElementTree.fromstring(svg)
    assert root.get("aria-label") == critical_difference_text(record)
    wide, high = float(root.get("width")), float(root.get("height"))
    labels = boxes(svg)
    assert len(labels) >= 2 * n
    for left, top, right, bottom in labels:
        assert left >= -1
        assert right <= wide + 1
        assert top >= -1
        assert bottom <= high + 1
    for k, one in enumerate(labels):
        for other in labels[:k]:
            apart_x = one[2] <= other[0] + 0.5 or other[2] <= one[0] + 0.5
            assert apart_x or one[3] <= other[1] + 0.5 or other[3] <= one[1] + 0.5, (one, other)


@pytest.mark.parametrize("n", [4, 12, 40])
def test_a_bar_reaches_over_its_group_and_no_further(n):
    record = record_of(table(n, 50, 0.25))
    svg = critical_difference(record)
    values, groups = record["mean_ranks"]["values"], record["mean_ranks"]["groups"]
    assert 1 < len(groups) == len(with_class(svg, "joined"))
    way, length, at = ("x", "width", "cx") if n <= 20 else ("y", "height", "cy")
    dots = sorted(float(dot.get(at)) for dot in with_class(svg, "dot"))
    order = sorted(range(n), key=lambda k: values[k])
    place = dict(zip(order, dots, strict=True))
    for bar, group in zip(with_class(svg, "joined"), groups, strict=True):
        low = float(bar.get(way))
        high = low + float(bar.get(length))
        assert {k for k in order if low <= place[k] <= high} == set(group)
        assert bar[0].text.startswith("Not separated: Model")


def test_dots_stand_at_the_mean_ranks():
    record = record_of(table(5, 40, 0.4))
    svg = critical_difference(record)
    ticks = {float(node.get("x")): float(node.text or 0) for node in with_class(svg, "middle")}
    (first, low), *_, (last, high) = sorted(ticks.items())
    dots = sorted(float(dot.get("cx")) for dot in with_class(svg, "dot"))
    found = [low + (x - first) / (last - first) * (high - low) for x in dots]
    assert found == pytest.approx(sorted(record["mean_ranks"]["values"]), abs=0.02)


def test_the_words_name_the_test_the_ranks_and_the_groups():
    record = record_of(table(3, 30, 1.0, names=["a", "b", "c"]))
    record["mean_ranks"] |= {"values": [1.2, 2.0, 2.8], "groups": [[0, 1]], "critical_difference": 0.605}
    first, *rest = critical_difference_text(record).splitlines()
    assert first.startswith("Friedman test over 30 tasks: ")
    assert rest == [
        "Mean ranks that differ by less than 0.605 are not separated at 95 % (Nemenyi).",
        "Mean ranks, best first: a 1.20, b 2.00 and c 2.80.",
        "Not separated: a and b.",
    ]
    record["mean_ranks"]["groups"] = []
    assert critical_difference_text(record).endswith("All items are separated.")
    record["mean_ranks"]["groups"] = [[0, 1]] * 14
    assert critical_difference_text(record).endswith("And 2 more groups.")


def test_a_diagram_that_would_tell_nothing_is_left_out_with_a_line():
    def why(votes):
        return left_out("critical_difference", record_of(votes))

    assert why(table(4, 3, 0.5)) == ""
    assert why(table(4, 2, 0.5)) == "Critical-difference diagram: 2 tasks are too few to separate any of 4 items."
    assert why(table(4, 1, 0.5)).startswith("Critical-difference diagram: 1 task is too few")
    assert why(table(81, 200, 0.5)) == (
        "Critical-difference diagram: 81 items are too many for a picture; paired-tests lists them."
    )
    blank = np.array([[1.0, np.nan], [np.nan, 2.0]])
    record = record_of(hr.Votes.from_score_rows(blank))
    assert left_out("critical_difference", record) == "Critical-difference diagram: no task scores all items."
    assert not with_class(critical_difference(record), "dot")
    assert record["mean_ranks"]["critical_difference"] is None


def test_names_are_text_on_the_picture_the_page_and_in_csv():
    found = hr.paired_tests(table(6, 40, 0.3, names=HOSTILE))
    svg = critical_difference(record_of(table(6, 40, 0.3, names=HOSTILE)))
    for text in (svg, PAIRED_FORMS[".html"](found), found._repr_html_()):
        assert "<img" not in text
        assert not re.search("[\x1b\u202e]", text)
    assert {node.tag for node in ElementTree.fromstring(svg).iter()} <= {
        "svg",
        "text",
        "title",
        "rect",
        "path",
        "circle",
    }
    rows = PAIRED_FORMS[".csv"](found).splitlines()
    assert rows[0] == "item,other,rank_difference,p_value,nemenyi_p"
    assert len(rows) == 1 + 15
    assert any("'=cmd()" in row for row in rows)


def test_a_page_of_very_many_pairs_says_how_many_are_left_out():
    page = PAIRED_FORMS[".html"](hr.paired_tests(table(82, 4, 0.1)))
    assert "82 items are too many for a picture" in page
    assert "And 1,321 more pairs, which a .csv file holds." in page


def test_the_report_of_a_score_table_has_the_diagram_and_that_of_ballots_does_not():
    votes = table(4, 30, 0.5, names=["a", "b", "c", "<d>"])
    found = analysed(votes, hr.Spec(draws=200), "chance")
    assert mismatch(found.record) == ""
    page = report.html(found)
    assert '<h2 id="critical_difference">Critical-difference diagram</h2>' in page
    assert 'class="picture critical_difference" role="img"' in page
    assert "## Critical-difference diagram" in report.markdown(found)
    other = analyse(hr.Votes.from_orders([["a", "b", "c"]]), hr.Spec(draws=200))
    assert other.record["mean_ranks"] is None
    assert not concerns("critical_difference", other.record)
    assert "Critical-difference" not in report.html(other)
    assert analysed(votes, hr.Spec(draws=0), "chance").record["mean_ranks"] is None


def test_mean_ranks_that_do_not_fit_the_items_are_refused():
    record = analysed(table(4, 30, 0.5), hr.Spec(draws=200), "chance").record
    for change in ({"groups": [[0, 4]]}, {"critical_difference": None}, {"values": [1.0, 2.0, 3.0, None]}):
        forged = copy.deepcopy(record)
        forged["mean_ranks"] |= change
        assert mismatch(forged) == "mean_ranks does not fit the 4 items"
    forged["mean_ranks"]["values"] = [1.0]
    assert mismatch(forged) == "the columns of mean_ranks do not fit the 4 items"
