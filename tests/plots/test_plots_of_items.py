"""Pictures of items: tiers as a ladder, places with their ranges, an attack before and after."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, Rectangle

import holdrank as hr
from holdrank import plots
from holdrank.plots import style

TREES = hr.Votes.from_orders(
    [
        ["Ash", "Beech", "Cherry", "Dogwood"],
        ["Beech", "Ash", "Dogwood", "Cherry"],
        ["Ash", "Cherry", "Beech", "Dogwood"],
        ["Beech", "Cherry", "Ash", "Dogwood"],
        ["Dogwood", "Cherry", "Beech", "Ash"],
    ],
    weights=[27, 26, 24, 17, 6],
)
TIERS = hr.Robust(hr.kemeny, theta=0.05)
HOSTILE = ["$\\frac$", "$x^{$", "a\x1b[31m\nb", "\u202eevil", "W" * 60, "_{<&>}"]


@pytest.fixture(autouse=True)
def no_open_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def consensus(*tiers):
    """Return a consensus with these names in these tiers."""
    names = [name for tier in tiers for name in tier]
    ranks = [k for k, tier in enumerate(tiers) for _ in tier]
    return hr.Consensus(hr.Ranking(ranks), tuple(names), 0.0, 0.0, "kendall", hr.Status.PROVED, True, "", 0.0)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def text(ax, wanted):
    (found,) = [one for one in ax.texts if one.get_text() == wanted]
    return found


def boxes(ax, colour):
    """Return (left, top, right, bottom) of the boxes with this colour inside, as they were drawn."""
    found = [p for p in ax.patches if isinstance(p, FancyBboxPatch) and to_hex(p.get_facecolor()) == to_hex(colour)]
    return [(p.get_x(), p.get_y(), p.get_x() + p.get_width(), p.get_y() + p.get_height()) for p in found]


def extents(ax, artists):
    """Return where artists are on the screen."""
    ax.figure.canvas.draw()
    return [artist.get_window_extent() for artist in artists]


def assert_inside_figure(ax):
    page = ax.figure.bbox
    for one, extent in zip(ax.texts, extents(ax, ax.texts), strict=True):
        assert extent.x0 >= page.x0 - 1, one.get_text()
        assert extent.x1 <= page.x1 + 1, one.get_text()
        assert extent.y0 >= page.y0 - 1, one.get_text()
        assert extent.y1 <= page.y1 + 1, one.get_text()


# The ladder.


def test_a_ladder_has_places_names_and_gaps():
    data = plots.ladder_data(consensus("a", "bcd", "e"), [11, (9, 14)], total=100)
    assert data == {
        "tiers": [
            {"places": "1", "items": ["a"]},
            {"places": "2–4", "items": ["b", "c", "d"]},
            {"places": "5", "items": ["e"]},
        ],
        "gaps": [{"lower": 11, "upper": 11, "label": "11"}, {"lower": 9, "upper": 14, "label": "9 to 14"}],
        "unit": "votes that break the gap (of 100)",
    }


@pytest.mark.parametrize(
    ("gap", "total", "label"),
    [
        (11, 100, "11"),
        ((11, 11), 100, "11"),
        ((9, 14), 100, "9 to 14"),
        (np.array([9.0, 1400.0]), 3000, "9 to 1,400"),
        ((9, math.inf), 100, "at least 9"),
        (math.inf, 100, "cannot be broken"),
        ((math.inf, math.inf), None, "cannot be broken"),
        (0, 100, "0"),
        (0.125, None, "12.5 %"),
        ((0.09, 0.14), None, "9 % to 14 %"),
        ((0.09, math.inf), None, "at least 9 %"),
    ],
)
def test_gaps_are_labelled_with_the_votes_that_break_them(gap, total, label):
    assert plots.ladder_data(consensus("a", "b"), [gap], total=total)["gaps"][0]["label"] == label


def test_a_gap_that_is_not_known_has_no_label():
    data = plots.ladder_data(consensus("a", "b", "c"), [math.nan, 3], total=9)
    assert data["gaps"][0] is None
    ax = plots.ladder(consensus("a", "b", "c"), [math.nan, 3], total=9)
    assert len(ax.lines) == 1
    for unknown in (None, [math.nan, (math.nan, 4)]):
        assert texts(plots.ladder(consensus("a", "b", "c"), unknown, total=9)) == [
            "place",
            "1",
            "a",
            "2",
            "b",
            "3",
            "c",
        ]


@pytest.mark.parametrize(
    ("gaps", "total", "message"),
    [
        ([1], 9, "3 tiers have 2 gaps between them, not 1"),
        ([1, -1], 9, "a number from 0"),
        ([1, (5, 4)], 9, "the smaller first"),
        ([1, (1, 2, 3)], 9, "needed and sufficient"),
        ([1, "many"], 9, "needed and sufficient; not 'many'"),
        ([0.5, 11], None, "a gap of 11 is not a share of the votes. Fix: give total"),
        ([1, 2], 0, "total must be the number of votes"),
    ],
)
def test_gaps_that_make_no_sense_are_refused(gaps, total, message):
    with pytest.raises(hr.UsageError, match=message):
        plots.ladder_data(consensus("a", "b", "c"), gaps, total=total)


def test_blocks_stand_from_top_to_bottom_with_labels_between_them():
    ax = plots.ladder(consensus("a", "bcd", "e"), [11, (9, 14)], total=100)
    first, second, third = boxes(ax, style.PALE_BLUE)
    assert ax.yaxis_inverted()
    for upper, lower, label in ((first, second, "11"), (second, third, "9 to 14")):
        x, y = text(ax, label).get_position()
        assert upper[3] < y < lower[1]
        assert x > upper[2]
    for block, places in ((first, "1"), (second, "2–4"), (third, "5")):
        x, y = text(ax, places).get_position()
        assert y == (block[1] + block[3]) / 2
        assert x < block[0]
    assert texts(ax)[:3] == ["place", "the gap (of 100)", "votes that break"]


@pytest.mark.parametrize("tiers", [[60], [4, 30, 1, 25], [1] * 60], ids=str)
def test_names_are_in_chips_and_chips_in_their_blocks(tiers):
    names = [f"{'item' * (k % 4)} {k}" for k in range(60)]
    grouped = [names[sum(tiers[:k]) : sum(tiers[: k + 1])] for k in range(len(tiers))]
    ax = plots.ladder(consensus(*grouped))
    chips, blocks = boxes(ax, "white"), boxes(ax, style.PALE_BLUE)
    labels = [one for one in ax.texts if one.get_text() in names]
    assert [one.get_text() for one in labels] == names
    drawn = [p for p in ax.patches if to_hex(p.get_facecolor()) == "#ffffff"]
    for inner, outer in zip(extents(ax, labels), extents(ax, drawn), strict=True):
        assert outer.x0 <= inner.x0
        assert inner.x1 <= outer.x1
        assert outer.y0 <= inner.y0
        assert inner.y1 <= outer.y1
    owner = [k for k, many in enumerate(tiers) for _ in range(many)]
    for chip, k in zip(chips, owner, strict=True):
        left, top, right, bottom = blocks[k]
        assert left < chip[0] < chip[2] < right + 0.01
        assert top < chip[1] < chip[3] < bottom
    for one, other in pairwise(chips):
        assert other[0] > one[2] or other[1] > one[3]
    assert_inside_figure(ax)


def test_a_large_tier_goes_on_several_lines_of_a_page_that_fits():
    few, many = plots.ladder(consensus("abc")), plots.ladder(consensus([f"item {k}" for k in range(60)]))
    assert len({chip[1] for chip in boxes(few, "white")}) == 1
    assert len({chip[1] for chip in boxes(many, "white")}) > 5
    assert many.figure.get_figheight() > 2 * few.figure.get_figheight()


def test_on_small_axes_everything_is_smaller():
    (ax,) = plots.page(width=2.0, height=1.5)
    plots.ladder(consensus(*(["a name", "another"] for _ in range(6))), [5] * 5, total=10, ax=ax)
    assert text(ax, "3–4").get_fontsize() < 5
    (low, high), bottoms = sorted(ax.get_ylim()), [box[3] for box in boxes(ax, style.PALE_BLUE)]
    assert low <= max(bottoms) <= high
    assert_inside_figure(ax)


# Ranges.


@pytest.fixture(scope="module")
def drawn_again():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[45, 55])
    return hr.bootstrap(votes, draws=500, rng=1)


def test_ranges_are_rows_in_the_order_of_the_consensus(drawn_again):
    data = plots.ranges_data(drawn_again, [[1, 3], [1, 2], [2, 3]], budget_label="6 of\x1b 100 votes")
    assert data == {
        "items": ["b", "a", "c"],
        "place": [1, 2, 3],
        "chance": [[1, 2], [1, 2], [3, 3]],
        "reach": [[1, 2], [1, 3], [2, 3]],
        "tiers": [[0, 1], [1, 1], [2, 1]],
        "titles": {
            "place": "consensus",
            "chance": "bootstrap, 95 % of 500 draws",
            "reach": "by attack, with 6 of\\x1b 100 votes",
        },
    }


def test_dots_thin_bars_and_thick_bars_are_at_their_places(drawn_again):
    ax = plots.ranges(drawn_again, [[1, 3], [1, 2], [2, 3]])
    dots = [c for c in ax.collections if len(c.get_offsets()) == 3 and c.get_sizes().size]
    assert dots[0].get_offsets().tolist() == [[1, 0], [2, 1], [3, 2]]
    (bars,) = [c for c in ax.collections if to_hex(c.get_edgecolor()[0]) == plots.BLUE.lower()]
    assert [part.tolist() for part in bars.get_segments()] == [
        [[1, 0], [2, 0]],
        [[1, 1], [2, 1]],
        [[3, 2], [3, 2]],
    ]
    thick = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    ends = [(round(p.get_x() + 0.3, 9), round(p.get_x() + p.get_width() - 0.3, 9)) for p in thick]
    assert ends == [(1, 2), (1, 3), (2, 3)]
    assert [p.get_y() + p.get_height() / 2 for p in thick] == [0, 1, 2]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "a", "c"]
    assert ax.yaxis_inverted()


def test_ranges_have_their_numbers_beside_them(drawn_again):
    ax = plots.ranges(drawn_again, [[1, 3], [1, 2], [2, 3]], budget_label="6 votes")
    rows = {row: [one.get_text() for one in ax.texts if one.xy == (1, row) and one.xycoords[1] == "data"]
            for row in range(3)}  # fmt: skip
    assert rows == {0: ["1", "1–2", "1–2"], 1: ["2", "1–2", "1–3"], 2: ["3", "3", "2–3"]}
    assert {"consensus", "bootstrap, 95 %\nof 500 draws", "by attack, with\n6 votes"} <= set(texts(ax))


def test_without_an_adversary_there_is_no_thick_bar_and_no_column_for_it(drawn_again):
    ax = plots.ranges(drawn_again)
    assert not ax.patches
    assert not [one for one in texts(ax) if "attack" in one]


def test_tied_items_stand_at_the_mean_of_their_places_and_their_tier_is_shaded():
    found = hr.bootstrap(TREES, TIERS, draws=50, rng=1)
    assert found.consensus.text() == "{Ash, Beech} > Cherry > Dogwood"
    assert plots.ranges_data(found)["place"] == [1.5, 1.5, 3, 4]
    assert plots.ranges_data(found)["tiers"] == [[0, 2], [2, 1], [3, 1]]
    ax = plots.ranges(found)
    assert texts(ax)[:4] == ["1.5, tied", "1.5, tied", "3", "4"]
    shades = [(patch.get_y(), patch.get_y() + patch.get_height()) for patch in ax.patches]
    assert shades == [(-0.5, 1.5), (2.5, 3.5)]


@pytest.mark.parametrize(
    ("reach", "message"),
    [
        ([[1, 2], [1, 2]], r"for each of 3 items, not the shape \(2, 2\)"),
        ([[1, 2], [1, 2], [0, 3]], "whole places from 1 to 3, the best first, not 0 and 3"),
        ([[1, 2], [1, 4], [1, 3]], "not 1 and 4"),
        ([[2, 1], [1, 2], [1, 3]], "not 2 and 1"),
        ([[1, 1.5], [1, 2], [1, 3]], "not 1 and 1.5"),
        ([[1, math.nan], [1, 2], [1, 3]], "not 1 and nan"),
        ([[1, "x"], [1, 2], [1, 3]], "a best and a worst place"),
    ],
)
def test_a_reach_that_makes_no_sense_is_refused(drawn_again, reach, message):
    with pytest.raises(hr.UsageError, match=message):
        plots.ranges_data(drawn_again, reach)


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 60])
def test_rows_of_few_and_of_many_items_can_be_read(n):
    votes = hr.sample_votes(hr.PlackettLuce(np.exp(-np.arange(n) / 8)), 50, rng=1)
    ax = plots.ranges(hr.bootstrap(votes, hr.borda, draws=20, rng=1), [[1, n]] * n)
    names = extents(ax, ax.get_yticklabels())
    assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(names))
    assert ax.get_yticklabels()[0].get_fontsize() > 7
    ticks = [int(at) for at in ax.get_xticks()]
    assert ticks[0] == 1
    assert len(ticks) <= 15
    assert_inside_figure(ax)


# The attack.


@pytest.fixture(scope="module")
def cherry():
    return hr.attack(TREES, hr.kemeny, hr.Wins("Cherry"))


def test_an_attack_is_the_order_before_and_after_in_whole_votes(cherry):
    data = plots.attack_data(cherry)
    assert data == {
        "title": "24 of 100 votes changed: Cherry wins",
        "proof": "proven minimum",
        "items": ["Ash", "Beech", "Cherry", "Dogwood"],
        "before": [[0], [1], [2], [3]],
        "after": [[2], [1], [0], [3]],
        "rise": [-2, 0, 2, 0],
        "ballots": [
            ["−23", "Ash > Beech > Cherry > Dogwood"],
            ["−1", "Beech > Ash > Dogwood > Cherry"],
            ["+24", "Cherry > Beech > Ash > Dogwood"],
        ],
        "more": 0,
    }
    again = hr.kemeny(cherry.whole.votes).ranking
    assert [list(tier) for tier in again.buckets] == data["after"]


@pytest.mark.parametrize(
    ("goal", "change", "title", "proof"),
    [
        (hr.NewWinner(), "replace", "2 of 100 votes changed: Beech wins", "proven minimum; 1 ties it"),
        (hr.Wins("Beech"), "drop", "3 of 100 votes dropped: Beech wins", "proven minimum; 2 tie it"),
        (hr.Wins("Beech"), "add", "3 votes added to 100: Beech wins", "proven minimum; 2 tie it"),
        (hr.Above("Dogwood", "Cherry"), "replace", "19 of 100 votes changed: Dogwood stands above Cherry",
         "proven minimum; 18 tie it"),
        (hr.Above("Ash", "Cherry"), "replace", "0 of 100 votes changed: Ash stands above Cherry", "already the case"),
        (hr.TopSet(2), "replace", "21 of 100 votes changed: the top 2 changes", "proven minimum; 20 tie it"),
        (hr.Enters("Dogwood", 3), "replace", "19 of 100 votes changed: Dogwood is in the top 3",
         "proven minimum; 18 tie it"),
        (hr.Distance(0.5), "replace", "24 of 100 votes changed: the consensus moves by at least 3 of 6 pairs",
         "proven minimum"),
    ],
)  # fmt: skip
def test_titles_say_in_votes_what_an_attack_does(goal, change, title, proof):
    data = plots.attack_data(hr.attack(TREES, hr.kemeny, goal, change=change))
    assert (data["title"], data["proof"]) == (title, proof)


def test_a_goal_of_ones_own_is_named_in_its_own_words(cherry):
    class Own:
        aim = staticmethod(hr.Wins("Cherry").aim)
        text = staticmethod(lambda: "crowning Cherry")
        deed = staticmethod(lambda _: hr.Deed("crowning Cherry", "crown", "crowns", "a crown for Cherry"))

    assert plots.attack_data(replace(cherry, goal=Own()))["title"] == "24 of 100 votes changed: a crown for Cherry"


def test_ballots_that_are_only_taken_or_only_put_have_their_sign():
    drop = plots.attack(hr.attack(TREES, hr.kemeny, hr.Wins("Beech"), change="drop"))
    assert "Ballots removed (−)" in texts(drop)
    add = plots.attack(hr.attack(TREES, hr.kemeny, hr.Wins("Beech"), change="add"))
    assert "Ballots added (+)" in texts(add)


def test_lines_go_from_the_row_before_to_the_row_after_and_are_coloured_if_they_move(cherry):
    ax = plots.attack(cherry)
    rows = {name: [one.get_position()[1] for one in ax.texts if one.get_text() == name] for name in TREES.items}
    lines = dict(zip(TREES.items, ax.lines, strict=True))
    for name, line in lines.items():
        assert line.get_ydata().tolist() == pytest.approx(rows[name])
    first, second, third, _ = (rows[name][0] for name in TREES.items)
    assert first < second < third
    assert rows["Cherry"] == pytest.approx([third, first])
    colours = {name: line.get_color() for name, line in lines.items()}
    assert colours == {"Ash": plots.VERMILLION, "Beech": plots.GREY, "Cherry": plots.BLUE, "Dogwood": plots.GREY}


def test_tied_items_are_in_one_frame_and_share_their_places():
    found = hr.attack(TREES, TIERS, hr.Above("Ash", "Beech"))
    data = plots.attack_data(found, TIERS)
    assert data["before"] == [[0, 1], [2], [3]]
    assert data["after"] == [[0], [1], [2], [3]]
    assert data["rise"] == [0, -1, 0, 0]
    ax = plots.attack(found, TIERS)
    ((left, top, right, bottom),) = boxes(ax, style.PALE_BLUE)
    for line, inside in zip(ax.lines, (True, True, False, False), strict=True):
        x, y = line.get_xdata()[0], line.get_ydata()[0]
        assert left < x < right
        assert bool(top < y < bottom) is inside
    assert {"1–2", "1", "2"} <= set(texts(ax))
    assert text(ax, "1–2").get_position()[1] == (top + bottom) / 2


def test_within_a_tier_items_have_the_order_of_the_other_side():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[49, 51])
    rule = hr.Robust(hr.kemeny, theta=0.05)
    data = plots.attack_data(hr.attack(votes, rule, hr.Above("b", "a")), rule)
    assert data["before"] == [[1, 0], [2]]


def test_ballots_beyond_the_most_are_counted_and_both_kinds_are_shown():
    votes = hr.sample_votes(hr.Mallows(range(5), 0.7), 60, rng=1)
    found = hr.attack(votes, hr.borda, hr.Wins("4"))
    taken, put = len(found.whole.removed), len(found.whole.added)
    assert taken > 4
    data = plots.attack_data(found, most=4)
    assert len(data["ballots"]) == 4
    assert {weight[0] for weight, _ in data["ballots"]} == {"−", "+"}
    assert data["more"] == taken + put - 4
    assert f"and {data['more']} more ballots" in texts(plots.attack(found, most=4))
    everything = plots.attack_data(found, most=1000)
    assert everything["more"] == 0
    assert sum(int(weight) for weight, _ in everything["ballots"] if weight[0] == "+") == found.votes_sufficient
    nothing = plots.attack(found, most=0)
    assert not [one for one in texts(nothing) if "allots" in one]
    with pytest.raises(hr.UsageError, match="most must be a whole number of ballots, not '-1'"):
        plots.attack(found, most=-1)


def test_shares_of_votes_are_per_cents():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[0.6, 0.4])
    data = plots.attack_data(hr.attack(votes, hr.kemeny, hr.Wins("b")))
    assert data["title"] == "10 % of the votes changed: b wins"
    assert data["proof"] == "proven minimum"
    assert data["ballots"] == [["−10 %", "a > b"], ["+10 %", "b > a"]]


def test_the_statistic_is_asked_for_where_its_name_does_not_tell():
    found = hr.attack(TREES, TIERS, hr.Wins("Cherry"))
    with pytest.raises(hr.UsageError, match="give the rule too"):
        plots.attack(found)
    assert plots.attack_data(found, TIERS)["title"].endswith("Cherry wins, tied")


def test_an_attack_without_a_proof_says_so():
    def own(votes):
        return hr.kemeny(votes)

    data = plots.attack_data(hr.attack(TREES, own, hr.NewWinner()), own)
    assert data["title"] == "2 of 100 votes changed: Beech wins"
    assert data["proof"] == "cheaper attacks may exist"


def test_another_statistic_than_the_one_attacked_is_refused():
    found = hr.attack(TREES, hr.borda, hr.NewWinner())
    with pytest.raises(hr.UsageError, match="'borda'"):
        plots.attack(found, hr.footrule)


def test_what_no_attack_reaches_is_not_drawn():
    alone = hr.Votes.from_orders([["a", "b"]])
    found = hr.attack(alone, hr.kemeny, hr.Distance(1), change="drop")
    with pytest.raises(hr.UsageError, match=r"no attack to draw. No number of dropped votes can"):
        plots.attack(found)


def test_a_page_holds_a_ballot_of_many_items():
    votes = hr.sample_votes(hr.Mallows(range(40), 0.9), 30, rng=1, items=[f"a long name {k}" for k in range(40)])
    ax = plots.attack(hr.attack(votes, hr.borda, hr.Above("a long name 3", "a long name 2")), most=3)
    assert [one for one in texts(ax) if one.endswith("…")]
    assert_inside_figure(ax)


# What holds for all of them.


def pictures(votes, ax=None):
    goal = hr.NewWinner()
    yield plots.ladder(TIERS(votes), ax=ax)
    yield plots.ranges(hr.bootstrap(votes, draws=20, rng=1), [[1, votes.n]] * votes.n, budget_label="$3", ax=ax)
    yield plots.attack(hr.attack(votes, hr.kemeny, goal), ax=ax)


@pytest.mark.slow
def test_hostile_names_are_text_on_any_axes(tmp_path):
    votes = hr.Votes.from_orders([HOSTILE, HOSTILE[::-1]], weights=[3, 2])
    for k, ax in enumerate(pictures(votes)):
        names = [*texts(ax), *(label.get_text() for label in ax.get_yticklabels())]
        assert {"$\\frac$", "a\\x1b[31m\\nb", "\\u202eevil", "W" * 39 + "…"} <= set(names)
        plots.save(ax, tmp_path / str(k))
        assert_inside_figure(ax)


def test_names_are_no_formulas_on_axes_of_another_style(tmp_path):
    import matplotlib.pyplot as plt

    votes = hr.Votes.from_orders([HOSTILE, HOSTILE[::-1]], weights=[3, 2])
    path = hr.merge_path(votes.pairwise(), hr.kemeny(votes).ranking)
    draws = [
        lambda ax: plots.ladder(TIERS(votes), ax=ax),
        lambda ax: plots.ranges(hr.bootstrap(votes, draws=20, rng=1), budget_label="$\\bad$", ax=ax),
        lambda ax: plots.attack(hr.attack(votes, hr.kemeny, hr.NewWinner()), ax=ax),
        lambda ax: plots.heatmap(votes, hr.kemeny(votes), ax=ax),
        lambda ax: plots.merges(path, votes.items, ax=ax),
    ]
    for draw in draws:
        figure, ax = plt.subplots()
        figure.canvas.draw()  # now there are ticks, whose text would be read as formulas
        assert draw(ax) is ax
        figure.savefig(tmp_path / "picture.png")


@pytest.mark.slow
def test_pictures_are_the_same_bytes_every_time(tmp_path):
    for name in ("one", "two"):
        for k, ax in enumerate(pictures(TREES)):
            plots.save(ax, tmp_path / f"{name}{k}")
    for k in range(3):
        for ending in ("svg", "pdf", "png"):
            one, two = ((tmp_path / f"{name}{k}.{ending}").read_bytes() for name in ("one", "two"))
            assert len(one) > 3000
            assert one == two
        assert ElementTree.parse(tmp_path / f"one{k}.svg").getroot().tag.endswith("svg")


# Critical-difference diagrams.


def scored(n, tasks=40, names=None):
    rows = np.random.default_rng(1).normal(size=(tasks, n)) - 0.3 * np.arange(n)
    return hr.paired_tests(hr.Votes.from_score_rows(rows, items=names or [f"Model {k}" for k in range(n)]))


@pytest.mark.parametrize("n", [2, 5, 30])
def test_a_critical_difference_diagram_has_every_item_its_rank_and_a_bar_for_each_group(n):
    found = scored(n)
    ax = plots.critical_difference(found)
    written = texts(ax)
    assert {*found.items, plots.critical_difference_data(found)["text"]} <= set(written)
    assert {f"{rank:.2f}" for rank in found.mean_ranks} <= set(written)
    bars = [line for line in ax.lines if line.get_linewidth() == 3.0]
    assert len(bars) == len(found.groups)
    elbows = [line for line in ax.lines if to_hex(line.get_color()) == style.GREY]
    at = dict(zip(ordered(found), sorted(line.get_xdata()[0] for line in elbows), strict=True))
    for bar, group in zip(bars, found.groups, strict=True):
        low, high = bar.get_xdata()
        assert {name for name, x in at.items() if low <= x <= high} == set(group)


def ordered(found):
    return [found.items[k] for k in found.order]


def test_a_critical_difference_diagram_of_hostile_names_and_on_given_axes():
    ax = plots.critical_difference(scored(6, names=HOSTILE), ax=plots.page()[0])
    assert not any("\x1b" in one or "\u202e" in one for one in texts(ax))
    ax.figure.canvas.draw()


def test_mean_ranks_that_are_not_known_are_not_drawn():
    with pytest.raises(hr.UsageError, match="no task scores all items"):
        plots.critical_difference(hr.paired_tests(hr.Votes.from_score_rows([[1.0, np.nan], [np.nan, 2.0]])))
