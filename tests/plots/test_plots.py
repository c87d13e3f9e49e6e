"""What is drawn is what was computed; then the drawing itself."""

from __future__ import annotations

import math
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

import holdrank as hr
from holdrank import plots

ABC = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"]], weights=[48, 46, 6])
TIERS = hr.Robust(hr.kemeny, theta=0.05)


@pytest.fixture(autouse=True)
def no_open_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def heights(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_curves_are_the_breakdowns_with_none_for_never():
    data = plots.breakdown_data(hr.breakdown(ABC), hr.breakdown(ABC, TIERS), labels=["strict", "tiers"])
    assert data["votes"] == 100
    assert [curve["label"] for curve in data["curves"]] == ["strict", "tiers"]
    assert data["curves"][0]["lower"] == [0.04, 0.44, 0.44]
    assert data["curves"][1]["lower"] == data["curves"][1]["upper"] == [0.39, 0.39, None]


def test_an_analysis_stands_for_all_its_curves():
    analysis = hr.analyse(ABC, hr.Spec("kemeny", theta=0.05, draws=0, time_limit=None))
    drawn = plots.breakdown_data(analysis)
    expected = plots.breakdown_data(hr.breakdown(ABC), hr.breakdown(ABC, TIERS), hr.breakdown(ABC, hr.borda))
    assert drawn["votes"] == expected["votes"] == 100
    for one, other in zip(drawn["curves"], expected["curves"], strict=True):
        assert [one["label"], one["method"], one["pairs"]] == [other["label"], other["method"], other["pairs"]]
        for end in ("delta", "lower", "upper"):
            assert [value is None for value in one[end]] == [value is None for value in other[end]]
            assert np.array(one[end], dtype=float) == pytest.approx(np.array(other[end], dtype=float), nan_ok=True)
    assert plots.breakdown(analysis) is not None
    with pytest.raises(hr.UsageError, match="needs a Breakdown or an Analysis, not int"):
        plots.breakdown(3)


def test_a_distribution_has_no_axis_in_votes():
    shares = hr.exact_votes(hr.PlackettLuce([3, 2, 1]))
    assert plots.breakdown_data(hr.breakdown(shares))["votes"] is None
    assert not plots.breakdown(hr.breakdown(shares)).child_axes
    assert plots.breakdown(hr.breakdown(ABC)).child_axes


def test_curves_of_different_votes_have_no_axis_in_votes():
    more = ABC.with_weights(np.asarray(ABC.weights) * 2)
    assert plots.breakdown_data(hr.breakdown(ABC), hr.breakdown(more))["votes"] is None


@pytest.mark.slow
@pytest.mark.traced
def test_labels_say_statistic_and_method_unless_given():
    bounds = hr.breakdown(ABC, method="bounds")
    estimate = hr.breakdown(ABC, deltas=[1 / 3], method="smooth", rng=1)
    labels = [curve["label"] for curve in plots.breakdown_data(hr.breakdown(ABC), bounds, estimate)["curves"]]
    assert labels == ["kemeny", "kemeny, bounds", "kemeny, estimate"]
    with pytest.raises(hr.UsageError, match="1 curves need as many labels, not 2"):
        plots.breakdown_data(bounds, labels=["a", "b"])


def test_hostile_names_are_shown_escaped():
    votes = hr.Votes.from_orders([["a\x1b[31m", "b"]])
    assert plots.heatmap_data(votes, hr.kemeny(votes))["items"] == ["a\\x1b[31m", "b"]
    assert plots.breakdown_data(hr.breakdown(votes), labels=["x\n"])["curves"][0]["label"] == "x\\n"


@pytest.mark.slow
def test_names_with_dollar_signs_are_no_formulas(tmp_path):
    votes = hr.Votes.from_orders([["$\\frac$", "$x^{$"], ["$x^{$", "$\\frac$"]], weights=[2, 1])
    plots.save(plots.heatmap(votes, hr.kemeny(votes)), tmp_path / "heatmap")
    plots.save(plots.breakdown(hr.breakdown(votes), labels=["$\\bad$"]), tmp_path / "curve")
    plots.save(plots.merges(hr.merge_path(votes.pairwise(), hr.kemeny(votes).ranking), votes.items), tmp_path / "path")


def test_distances_in_any_order_are_drawn_in_theirs():
    curve = {"label": "", "method": "exact", "delta": [1.0, 0.5], "lower": [0.4, 0.1], "upper": [0.4, 0.1]}
    ax = plots.draw_curves({"curves": [curve]}, plots.page()[0])
    assert ax.patches[1].get_data().edges.tolist() == [0, 0.5, 1]
    assert ax.patches[1].get_data().values.tolist() == [0.1, 0.4]


def test_a_curve_without_points_is_no_error():
    assert not plots.breakdown(hr.breakdown(ABC, deltas=[0])).patches


def test_a_curve_is_named_where_it_ends_and_never_has_a_level():
    ax = plots.breakdown(hr.breakdown(ABC), hr.breakdown(ABC, TIERS), labels=["strict", "tiers"])
    assert {"strict", "tiers"} <= set(texts(ax))
    assert heights(ax)[-1] == "cannot be broken"
    assert "cannot be broken" not in heights(plots.breakdown(hr.breakdown(ABC)))
    assert ax.get_xlabel() == "pairs out of 3 that the consensus changes"


def test_names_that_end_together_do_not_overlap():
    ax = plots.breakdown(*[hr.breakdown(ABC)] * 4, labels=list("wxyz"))
    places = sorted(text.xy[1] for text in ax.texts)
    assert min(np.diff(places)) > 0.03
    assert places[-1] <= 1


def test_a_band_shows_what_is_open():
    curve = {"label": "open", "method": "exact", "delta": [0.5, 1.0], "lower": [0.1, 0.2], "upper": [0.1, 0.4]}
    ax = plots.draw_curves({"curves": [curve]}, plots.page()[0])
    band, line = ax.patches
    assert band.get_data().values.tolist() == [0.1, 0.4]
    assert line.get_data().values.tolist() == [0.1, 0.2]
    unknown = {**curve, "upper": [0.1, None]}
    ax = plots.draw_curves({"curves": [unknown]}, plots.page()[0])
    assert ax.patches[0].get_data().values[1] == ax.get_ylim()[1]


@pytest.mark.slow
@pytest.mark.traced
def test_estimates_are_crosses_at_their_distance():
    ax = plots.breakdown(hr.breakdown(ABC, deltas=[1 / 3, 1], method="smooth", rng=1))
    (crosses,) = ax.lines
    assert crosses.get_marker() == "x"
    assert np.round(crosses.get_xydata(), 2).tolist() == [[0.33, 0.04], [1, 0.44]]


def test_the_papers_estimates_are_crosses_where_they_are_attacks_and_open_triangles_elsewhere():
    met = set()
    for seed in range(8):
        found = hr.breakdown(ABC, method="paper", rng=seed, options=hr.PaperOptions(steps=60))
        assert plots.breakdown_data(found)["curves"][0]["label"] == "kemeny, paper's estimate"
        ax = plots.breakdown(found)
        for line, value, attack in zip(ax.lines, found.estimate, found.attacks, strict=True):
            assert line.get_ydata()[0] == pytest.approx(value, abs=1e-6)
            assert line.get_marker() == ("v" if attack is None else "x")
            met.add(line.get_marker())
    assert met == {"v", "x"}


def test_attacks_of_a_search_are_crosses_and_with_a_proof_a_band():
    found = hr.breakdown(ABC, lambda votes: hr.kemeny(votes), deltas=[1 / 3])
    assert found.method == "search"
    data = plots.breakdown_data(found)
    assert data["curves"][0]["label"].endswith(", search")
    ax = plots.breakdown(found)
    assert not ax.patches
    assert np.round(ax.lines[0].get_xydata(), 2).tolist() == [[0.33, 0.04]]
    data["curves"][0]["lower"] = [0.02]
    band, _ = plots.draw_curves(data, plots.page()[0]).patches
    assert (band.get_data().baseline.tolist(), band.get_data().values.tolist()) == ([0.02], [0.04])


def test_halves_of_pairs_do_not_make_more_pairs():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[90, 10])
    ax = plots.breakdown(hr.breakdown(votes, hr.Robust(hr.kemeny, 0.05), distance="hausdorff_half"))
    assert ax.get_xlabel() == "pairs out of 3 that the consensus changes"
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0", "1", "2", "3"]


def test_many_pairs_are_a_share():
    votes = hr.sample_votes(hr.Mallows(range(6), 0.5), 60, rng=1)
    ax = plots.breakdown(hr.breakdown(votes, method="bounds"))
    assert ax.get_xlabel() == "share of pairs that the consensus changes"


def test_a_tradeoff_is_drawn_from_its_own_numbers():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[51, 49])
    found = hr.tradeoff(votes)
    data = plots.tradeoff_data(found)
    assert data["lower"] == [0.01, 0.49, None]
    assert data["loss"] == [number if math.isinf(number) else round(number, 9) for number in found.loss.tolist()]
    assert data["tiers"] == [3, 2, 1]
    assert data["best"] == 1
    ax = plots.tradeoff(found)
    assert set(texts(ax)) == {"best: θ = 0.01\n2 tiers", "no merge"}
    assert heights(ax)[-1] == "cannot be broken"


def test_a_heatmap_is_the_pairwise_matrix_in_the_order_of_the_tiers():
    data = plots.heatmap_data(ABC, TIERS(ABC))
    assert data == {
        "items": ["a", "b", "c"],
        "shares": [[None, 0.54, 0.94], [0.46, None, 0.94], [0.06, 0.06, None]],
        "tiers": [[0, 2], [2, 1]],
    }
    ax = plots.heatmap(ABC, TIERS(ABC))
    assert sorted(texts(ax)) == ["46", "54", "6", "6", "94", "94"]


def test_pairs_that_no_vote_compares_are_hatched():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "c"]], unlisted="observed")
    assert plots.heatmap_data(votes, hr.kemeny(votes))["shares"][0][2] is None
    hatched = [patch for patch in plots.heatmap(votes, hr.kemeny(votes)).patches if patch.get_hatch()]
    assert len(hatched) == 2


def test_merges_are_the_path_with_items_in_the_order_without_a_merge():
    order = hr.kemeny(ABC).ranking
    data = plots.merges_data(hr.merge_path(ABC.pairwise(), order), ABC.items)
    assert data["items"] == ["a", "b", "c"]
    assert [result["tiers"] for result in data["results"]] == [
        [["a"], ["b"], ["c"]],
        [["a", "b"], ["c"]],
        [["a", "b", "c"]],
    ]
    ax = plots.merges(hr.merge_path(ABC.pairwise(), order), ABC.items)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "0.04", "0.44"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]


def test_axes_that_are_given_are_drawn_on():
    for draw in (
        lambda ax: plots.breakdown(hr.breakdown(ABC), ax=ax),
        lambda ax: plots.tradeoff(hr.tradeoff(ABC), ax=ax),
        lambda ax: plots.heatmap(ABC, hr.kemeny(ABC), ax=ax),
        lambda ax: plots.merges(hr.merge_path(ABC.pairwise(), hr.kemeny(ABC).ranking), ABC.items, ax=ax),
    ):
        (ax,) = plots.page()
        assert draw(ax) is ax


@pytest.mark.slow
def test_pictures_are_files_with_the_same_bytes_every_time(tmp_path):
    for name in ("one", "two"):
        plots.save(plots.breakdown(hr.breakdown(ABC)), tmp_path / name)
    for ending in ("svg", "pdf", "png"):
        one, two = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "two"))
        assert len(one) > 3000
        assert one == two
    root = ElementTree.parse(tmp_path / "one.svg").getroot()
    assert root.tag.endswith("svg")
    assert not [element for element in root.iter() if element.tag.endswith("script")]


def test_style_stays_inside_pictures():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    plots.breakdown(hr.breakdown(ABC))
    assert dict(mpl.rcParams) == before


def test_without_matplotlib_the_message_names_the_extra():
    script = """
import sys
sys.modules["matplotlib"] = None
import holdrank as hr
votes = hr.Votes.from_orders([["a", "b"]])
try:
    hr.plots.breakdown(hr.breakdown(votes))
except hr.MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "drawing needs matplotlib. Fix: pip install 'holdrank[plot]'\n"
