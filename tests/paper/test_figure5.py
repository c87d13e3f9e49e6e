"""Figure 5 on the authors' distributions, and thresholds near a margin, against values from elsewhere."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import pytest

import holdrank as hr
from holdrank import paper, plots
from holdrank.paper.drawings import DRAWINGS

pytestmark = [pytest.mark.slow, pytest.mark.traced]

TRUTHS = Path(__file__).parents[3] / "shared" / "truths" / "figure5.json"

# distribution: loss and breakdown at one pair of Kemeny's median, then of Downward Merge at .05
PUBLISHED = {
    "Plackett-Luce, seed 18": (0.356896, 0.019463, 0.36014, 0.065984),
    "Plackett-Luce, seed 283": (0.187647, 0.01126, 0.189524, 0.176027),
    "Plackett-Luce, seed 1903": (0.284612, 0.028557, 0.289371, 0.16068),
    "uniform": (0.496714, 0.00083, 0.5, math.inf),
    "point mass": (0.005906, 0.465138, 0.005906, 0.415138),
    "bucket, .6/.4": (0.066667, 0.1, 0.066667, 0.05),
    "bucket, .51/.49 mixed at .95": (0.102847, 0.004928, 0.103668, 0.42249),
}
NAMES = {  # in figure5.json
    "plackett-luce seed 18": "Plackett-Luce, seed 18",
    "plackett-luce seed 283": "Plackett-Luce, seed 283",
    "plackett-luce seed 1903": "Plackett-Luce, seed 1903",
    "nearly uniform (plackett-luce)": "uniform",
    "nearly a point mass (plackett-luce)": "point mass",
    "bucket .6/.4": "bucket, .6/.4",
    "bucket .51/.49 mixed at .95": "bucket, .51/.49 mixed at .95",
}


@cache
def rows():
    return paper.fig5(count=1)["rows"]


@cache
def margins():
    return paper.margin()["rows"]


def found(name, statistic):
    (row,) = [
        row for row in rows() if (row["source"], row["distribution"], row["statistic"]) == ("authors", name, statistic)
    ]
    assert row["exact_lower"] == row["exact_upper"]
    return row


def robustness(row):
    return math.inf if row["exact_lower"] is None else row["exact_lower"]


@pytest.mark.no_cover
def test_the_authors_seven_distributions_are_there_and_told_apart_from_ours():
    assert {row["distribution"] for row in rows() if row["source"] == "authors"} == set(PUBLISHED)
    ours = {row["distribution"] for row in rows() if row["source"] == "ours"}
    assert ours == {"bucket, gap 0.1", "bucket, gap 0.01", "uniform", "point mass", "Plackett-Luce 1"}
    assert {row["source"] for row in rows()} == {"authors", "ours"}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_authors_distributions_have_their_exact_values(name):
    kemeny, merged = found(name, "kemeny"), found(name, "downward merge")
    values = (kemeny["loss"], robustness(kemeny), merged["loss"], robustness(merged))
    assert values == pytest.approx(PUBLISHED[name], abs=1e-5)
    assert merged["theta"] == 0.05


@pytest.mark.skipif(not TRUTHS.exists(), reason="figure5.json lies beside a checkout, not in it")
def test_the_authors_distributions_are_those_of_the_table_outside():
    truths = json.loads(TRUTHS.read_text("utf-8"))["distributions"]
    assert sorted(NAMES[truth["name"]] for truth in truths) == sorted(PUBLISHED)
    for truth in truths:
        for statistic, key in (("kemeny", "kemeny"), ("downward merge", "downward_merge_0.05")):
            row, expected = found(NAMES[truth["name"]], statistic), truth[key]
            assert row["tiers"] == expected["ranking"]
            assert row["loss"] == pytest.approx(expected["loss"], abs=1e-5)
            assert robustness(row) == pytest.approx(float(expected["breakdown_one_pair"]), abs=1e-5)


def test_on_the_authors_plackett_luce_models_the_merge_gains_much_and_costs_little():
    for seed in (18, 283, 1903):
        kemeny, merged = (found(f"Plackett-Luce, seed {seed}", T) for T in ("kemeny", "downward merge"))
        assert robustness(merged) > 3 * robustness(kemeny)
        assert 0.001 < merged["loss"] - kemeny["loss"] < 0.005


@pytest.mark.parametrize(("name", "share"), [("bucket, .6/.4", 0.6), ("bucket, .55/.45", 0.55)])
def test_a_threshold_costs_its_size_below_the_margin_and_frees_the_pair_from_it_on(name, share):
    """Below the margin m the closest pair decides: m - theta. From it on a pair on which all agree: 1/2 - theta."""
    some = [row for row in margins() if row["distribution"] == name]
    at = round(share - 0.5, 9)
    assert {round(row["theta"] - at, 9) for row in some} >= {-0.0001, 0.0, 0.0001}
    for row in some:
        tied = row["theta"] >= at
        assert row["margin"] == at
        assert row["tiers"] == ("a > b > {c, d}" if tied else "a > b > c > d")
        assert row["exact_lower"] == row["exact_upper"] == pytest.approx((0.5 if tied else at) - row["theta"], abs=1e-9)


def test_the_margin_shows_in_whole_votes_too():
    """55 of 100 votes put c above d: at .05 the pair is tied; below, hardly a vote is left before it is."""
    votes = hr.Votes.from_orders([list("abcd"), list("abdc")], weights=[55, 45])
    needed = [hr.breakdown(votes, hr.Robust(hr.kemeny, theta), [1 / 6]).votes_needed[0] for theta in (0.0499, 0.05)]
    assert needed == [1, 45]


def marks(axes, marker):
    """Return the number of points that are drawn with a mark."""
    return sum(len(line.get_xdata()) for ax in axes for line in ax.lines if line.get_marker() == marker)


def test_the_estimate_is_drawn_when_it_is_asked_for_and_named():
    plain = {"figure": "fig5", "rows": rows()}
    guess = [row | ({} if row["exact_lower"] is None else {"estimate": 0.7}) for row in rows()]
    drawn = DRAWINGS["fig5"]({**plain, "rows": guess, "estimator": "smooth"}).figure
    without = DRAWINGS["fig5"](plain).figure
    finite = [row for row in rows() if row["exact_lower"] is not None]
    starts = sum(row["statistic"] == "kemeny" for row in finite)
    assert marks(without.axes, "x") == 0
    assert marks(drawn.axes, "x") == len(finite) + starts  # the median stands in both columns
    key = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert key == ["Kemeny's median", "Downward Merge", 'estimate (method="smooth")']
    assert drawn.axes[0].get_ylim()[1] > 0.7


def test_the_picture_names_the_authors_distributions_and_says_whose_are_whose():
    with plots.styled():
        figure = DRAWINGS["fig5"]({"figure": "fig5", "rows": rows()}).figure
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    whose = ["the authors' seven distributions"] * 2 + ["our distributions"] * 2
    assert [title.split(",")[0] for title in titles] == whose
    for ax in figure.axes[:2]:
        written = {text.get_text().replace("\n", " ") for text in ax.texts}
        assert written == {name.replace(",", "", 1) for name in PUBLISHED}


def test_the_picture_of_margins_breaks_its_lines_there_and_marks_the_threshold_of_figure_5():
    with plots.styled():
        ax = DRAWINGS["margin"]({"figure": "margin", "rows": margins()})
    written = [text.get_text() for text in ax.texts]
    for name, margin in (("bucket, .6/.4", "0.1"), ("bucket, .55/.45", "0.05")):
        assert any(text.startswith(f"{name}, margin {margin}") for text in written)
    # One pair takes half of the lead of the bucket at 0, and the threshold of Figure 5 less where the pair is not tied.
    assert {"10 %", "5 %"} <= set(written)
    solid = [line for line in ax.lines if line.get_linewidth() == 1.8]
    assert len(solid) == 4  # below and from the margin on, twice
    jumps = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"]
    assert jumps == pytest.approx([0.1, 0.05])
