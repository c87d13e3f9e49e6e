"""The figures of the paper: the numbers first, then files."""

from __future__ import annotations

import csv
import json
import os
from functools import cache
from xml.etree import ElementTree

import pytest

import holdrank as hr
from holdrank import paper, plots
from holdrank.paper import export, tradeoffs
from holdrank.paper.distributions import authors
from holdrank.paper.drawings import DRAWINGS

pytestmark = pytest.mark.slow

FEW = 50  # steps of the estimator: enough to run, not to be good


@cache
def data(name):
    return {"fig1": paper.fig1, "fig2": paper.fig2, "fig3": paper.fig3, "fig4": lambda: paper.fig4(rng=1, steps=FEW),
            "fig5": lambda: paper.fig5(rng=2023, count=4), "margin": paper.margin}[name]()  # fmt: skip


def column(name, key, **wanted):
    rows = [row for row in data(name)["rows"] if all(row[k] == v for k, v in wanted.items())]
    return [None if row[key] is None else round(row[key], 5) for row in rows]


def test_figure_1_has_the_bounds_of_the_paper_halved():
    expected = [0.00246, 0.00246, 0.01236, 0.02384, 0.02384, 0.04113]
    assert column("fig1", "theorem_lower", statistic="kemeny") == expected
    assert column("fig1", "exact_lower", statistic="kemeny") == expected
    assert column("fig1", "theorem_upper", statistic="kemeny") == [0.00246, 0.00246, 0.02384, 0.02384, 0.02384, 0.04113]
    valid = [row["theorem_upper_valid"] for row in data("fig1")["rows"] if row["statistic"] == "kemeny"]
    assert valid == [True] * 5 + [False]


def test_figure_1_has_the_exact_values_of_borda_and_footrule():
    """Values of programs over all 24 rankings."""
    borda = [0.00128, 0.00399, 0.00402, 0.02128, 0.02477, 0.02928]
    footrule = [0.00495, 0.00946, 0.01637, 0.01675, 0.01829, 0.02113]
    assert column("fig1", "exact_lower", statistic="borda") == borda
    assert column("fig1", "exact_lower", statistic="footrule") == footrule
    assert "theorem_upper" not in data("fig1")["rows"][-1]


@pytest.mark.parametrize("name", ["fig1", "fig2", "fig4"])
def test_bounds_enclose_exact_values_where_they_are_valid(name):
    for row in data(name)["rows"]:
        assert row["exact_lower"] == row["exact_upper"]
        if "theorem_lower" in row:
            assert row["theorem_lower"] <= row["exact_lower"]
        if row.get("theorem_upper_valid"):
            assert row["exact_upper"] <= row["theorem_upper"]


def test_figure_2_tells_three_kinds_of_votes_apart():
    point = column("fig2", "exact_lower", distribution="point mass")
    bucket = column("fig2", "exact_lower", distribution="bucket")
    uniform = column("fig2", "exact_lower", distribution="uniform")
    assert point == [0.44825, 0.44825, 0.4525, 0.45446, 0.45685, 0.45805]
    assert bucket == [0.00492, 0.44825, 0.451, 0.451, 0.45303, 0.45582]
    assert uniform == [0.00102, 0.00102, 0.00397, 0.00469, 0.00469, 0.01118]


def test_figure_3_naive_misses_what_downward_reaches():
    names = {rule: [row.get("name") for row in data("fig3")["rows"] if row["rule"] == rule]
             for rule in ("naive", "downward")}  # fmt: skip
    assert [name for name in names["naive"] if name] == ["(i)", "(iii)"]
    assert [name for name in names["downward"] if name] == ["(i)", "(ii)", "(iii)", "(iv)"]


def test_figure_4_has_the_exact_curves():
    kemeny = [0.00094, 0.45016, 0.45016, 0.45063, 0.45274, 0.45387]
    assert column("fig4", "exact_lower", statistic="kemeny") == kemeny
    assert column("fig4", "theorem_lower", statistic="kemeny") == kemeny
    merged = column("fig4", "exact_lower", statistic="downward merge", theta=0.05)
    assert merged == [0.39792, 0.40239, 0.40387, 0.40387, 0.40387, None]
    assert column("fig4", "exact_lower", statistic="downward merge", theta=0.5) == [None] * 6


def test_figure_4_attacks_found_from_estimates_are_never_below_the_exact_value():
    for row in data("fig4")["rows"]:
        if row.get("attack") is not None:
            assert row["attack"] >= row["exact_lower"] - 1e-9
        if row["exact_lower"] is None:
            assert row.get("attack") is None


def test_figure_4_has_both_estimators_apart():
    found = data("fig4")
    assert (found["paper_runs"], found["paper_options"]["steps"], found["steps"]) == (5, FEW, FEW)
    T = {"kemeny": hr.kemeny, "downward merge": hr.Robust(hr.kemeny, 0.05)}
    p = 0.1 * paper.noise(183)
    p[:2] += 0.45
    votes = hr.Votes.from_orders([list(order) for order in _orders()], weights=p, items="abcd")
    for row in found["rows"]:
        named = row["statistic"] == "kemeny" or row["theta"] == 0.05
        assert ("paper_median" in row) == named
        if named and row["pairs"] == 3:
            how = {"method": "paper", "options": hr.PaperOptions(steps=FEW)}
            runs = [hr.breakdown(votes, T[row["statistic"]], [0.5], rng=seed, **how) for seed in range(1, 6)]
            ends = sorted(float(one.estimate[0]) for one in runs)
            known = [row[f"paper_{name}"] for name in ("lowest", "median", "highest")]
            assert known == pytest.approx([ends[0], ends[2], ends[4]], abs=1e-6)
            assert row["paper_reached"] == sum(one.attacks[0] is not None for one in runs)


def test_figure_5_joins_kemeny_to_downward_merge():
    rows = [row for row in data("fig5")["rows"] if row["source"] == "ours"]
    found = {(row["distribution"], row["statistic"]): row for row in rows}
    for name in {name for name, _ in found}:
        base, best = found[name, "kemeny"], found[name, "best threshold"]
        assert base["loss"] <= best["loss"]
        assert best["exact_lower"] is None or best["exact_lower"] >= base["exact_lower"]
    robust = {gap: [found[f"bucket, gap {gap}", T]["exact_lower"] for T in ("kemeny", "downward merge")]
              for gap in (0.1, 0.01)}  # fmt: skip
    assert robust == {0.1: [0.045, 0.4], 0.01: [0.0045, 0.4]}
    assert found["uniform", "downward merge"]["tiers"] == "{a, b, c, d}"
    assert found["uniform", "downward merge"]["exact_lower"] is None


def test_a_threshold_that_ties_nothing_costs_its_size():
    """Tying a pair counts as moving it, and a threshold brings the tie so much nearer."""
    found = {row["statistic"]: row for row in data("fig5")["rows"] if row["distribution"] == "Plackett-Luce 1"}
    base, merged = found["kemeny"], found["downward merge"]
    assert base["tiers"] == merged["tiers"] == "a > b > c > d"
    assert round(base["exact_lower"] - merged["exact_lower"], 6) == 0.05


def test_downward_merge_may_gain_nothing():
    votes = hr.Votes.from_orders([list(order) for order in _orders()], weights=paper.noise(682), items="abcd")
    values = [hr.breakdown(votes, T, [1 / 6]).lower[0] for T in (hr.kemeny, hr.Robust(hr.kemeny, 0.02))]
    assert [round(float(value), 5) for value in values] == [0.00246, 0.00246]


def _orders():
    from itertools import permutations

    return permutations("abcd")


@pytest.fixture
def two_authors(monkeypatch):
    """Leave two of the authors' seven distributions; return their names."""
    first = dict(list(authors().items())[:2])
    monkeypatch.setattr(tradeoffs, "authors", lambda: first)
    return set(first)


@pytest.mark.usefixtures("two_authors")
def test_figure_5_can_be_estimated():
    found = paper.fig5(rng=1, steps=FEW, count=1)
    assert (found["estimator"], found["steps"]) == ("smooth", FEW)
    for row in found["rows"]:
        assert (row["attack"] is None) == (row["exact_lower"] is None)
        assert row["attack"] is None or row["attack"] >= row["exact_lower"] - 1e-9
        assert 0 <= row["estimate"] <= 1


def test_the_seed_chooses_the_models_and_nothing_else(two_authors):
    same, other = paper.fig5(rng=2023, count=1)["rows"], paper.fig5(rng=1, count=1)["rows"]
    known = [row for row in data("fig5")["rows"] if row["source"] == "ours" or row["distribution"] in two_authors]
    assert same == known[: len(same)]
    assert other[:-3] == same[:-3]
    assert other[-3:] != same[-3:]


TWO_BALLOTS = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[51, 49])


@pytest.fixture
def vote_file(tmp_path):
    hr.write_votes(TWO_BALLOTS, tmp_path / "votes.soc")
    return tmp_path / "votes.soc"


@pytest.mark.traced
def test_real_votes_have_a_trade_off(vote_file):
    found = paper.real([vote_file])
    assert [(row["theta"], row["lower"], row["best"]) for row in found["rows"]] == [
        (0.0, 0.01, False),
        (0.01, 0.49, True),
        (0.5, None, False),
    ]
    assert found["files"][0]["votes"] == 100
    with pytest.raises(hr.UsageError, match="needs vote files"):
        paper.real([])


@pytest.mark.traced
def test_real_votes_are_read_as_told(tmp_path):
    (tmp_path / "votes.csv").write_text("a;b\n1;2\n1;2\n2;1\n", "utf-8")
    found = paper.real([tmp_path / "votes.csv"], reading={"delimiter": ";", "format": "score-columns"})
    assert found["rows"][0]["tiers"] == "b > a"


NAMES = ["fig1", "fig2", "fig3", "fig4", "fig5", "margin", "real"]


def write_all(folder, vote_file):
    """Write all figures, with data that are known; return the paths and what progress said."""
    steps = []
    with pytest.MonkeyPatch.context() as patch:
        for name in NAMES[:-1]:
            patch.setattr(export, name, lambda *_, name=name, **__: data(name))
        written = paper.figures(NAMES, folder, files=[vote_file] * 5, progress=steps.append)
    return written, steps


@pytest.fixture(scope="module")
def all_written(tmp_path_factory):
    """All figures as files, written once."""
    folder = tmp_path_factory.mktemp("figures")
    hr.write_votes(TWO_BALLOTS, folder / "votes.soc")
    return write_all(folder / "out", folder / "votes.soc")


def test_every_figure_is_written_as_data_and_picture(all_written):
    written, steps = all_written
    assert [step.name for step in steps] == NAMES
    assert [path.name for path in written] == [
        f"{name}.{ending}" for name in NAMES for ending in ("json", "csv", "svg", "pdf", "png")
    ]
    for path in written:
        assert path.stat().st_size > (100 if path.suffix in (".json", ".csv") else 5000), path.name
    for path in (path for path in written if path.suffix == ".svg"):
        root = ElementTree.parse(path).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert not [element for element in root.iter() if element.tag.endswith(("script", "image"))]


@pytest.mark.traced
def test_the_same_seed_gives_the_same_bytes(tmp_path):
    paper.figures(["fig4"], tmp_path, rng=1, steps=FEW)
    assert (tmp_path / "fig4.json").read_text("utf-8") == json.dumps(data("fig4"), indent=1, ensure_ascii=False) + "\n"
    assert (tmp_path / "fig4.csv").read_text("utf-8") == export.table(data("fig4")["rows"])


def test_all_figures_have_the_same_bytes_twice(all_written, tmp_path):
    one = {path.name: path for path in all_written[0]}
    assert sorted(one) == sorted(path.name for path in one["real.csv"].parent.iterdir())
    assert len(one) == 7 * 5
    two, _ = write_all(tmp_path, one["real.csv"].parents[1] / "votes.soc")
    for path in two:
        assert one[path.name].read_bytes() == path.read_bytes(), path.name


@pytest.mark.traced
@pytest.mark.parametrize("name", ["fig1", "fig2", "fig3", "margin"])
def test_data_are_the_same_twice(name):
    assert getattr(paper, name)() == data(name)


def svg_texts(name, folder):
    with plots.styled():
        picture = DRAWINGS[name](data(name))
    plots.save(picture, folder / name)
    root = ElementTree.parse(folder / f"{name}.svg").getroot()
    return [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize(("name", "budget", "distance"), [
    ("fig1", "votes to change, ε", "δ = pairs / 6"),
    ("fig2", "votes to change, ε", "δ = pairs / 6"),
    ("fig5", "ε at δ = 1/6", "δ = 1/6"),
    ("margin", "ε at δ = 1/6", "θ of Downward Merge"),
])  # fmt: skip
def test_text_stays_text_and_axes_carry_the_symbols(tmp_path, name, budget, distance):
    texts = svg_texts(name, tmp_path)
    for wanted in (budget, distance):
        assert any(wanted in text for text in texts), wanted


@pytest.mark.traced
def test_figure_2_has_a_tick_at_half_and_marks_the_upper_bound_where_it_is_valid(tmp_path):
    assert "50 %" in svg_texts("fig2", tmp_path)
    with plots.styled():
        left, right = DRAWINGS["fig2"](data("fig2")).figure.axes
    drawn = [
        sorted(y for line in ax.lines if line.get_marker() == "v" for y in line.get_ydata()) for ax in (left, right)
    ]
    valid = [row for row in data("fig2")["rows"] if row["theorem_upper_valid"]]
    assert len(valid) == 16
    assert drawn[0] == sorted(row["theorem_upper"] for row in valid)
    assert drawn[1] == sorted(row["theorem_upper"] for row in valid if row["distribution"] != "uniform")


@pytest.mark.traced
def test_figure_3_says_which_shares_the_paper_does_not_give(tmp_path):
    found = data("fig3")
    assert found["ours"] == ["AC", "AD"]
    assert [found["P"]["ABCD".index(one)]["ABCD".index(other)] for one, other in found["ours"]] == [0.9, 0.95]
    texts = svg_texts("fig3", tmp_path)
    assert [text for text in texts if text.startswith(".")] == [".69", ".90*", ".95*", ".52", ".70", ".51"]
    assert "* ours: the paper does not give it" in texts


@pytest.mark.traced
def test_json_and_csv_hold_the_same_numbers(tmp_path):
    paper.figures("fig1", tmp_path)
    rows = json.loads((tmp_path / "fig1.json").read_text("utf-8"))["rows"]
    with (tmp_path / "fig1.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert len(rows) == len(table) == 18
    for row, line in zip(rows, table, strict=True):
        assert float(line["exact_lower"]) == row["exact_lower"]
        assert line["theorem_upper"] == str(row.get("theorem_upper", ""))


def test_infinity_is_null_in_json_and_inf_in_csv():
    assert export.table([{"a": None, "b": 1}, {"b": 2}]) == "a,b\ninf,1\n,2\n"
    json.dumps(data("fig4"), allow_nan=False)


@pytest.mark.traced
def test_unknown_figures_are_refused(tmp_path):
    with pytest.raises(hr.UsageError, match="one of fig1, fig2"):
        paper.figures(["fig6"], tmp_path)


def test_the_command_prints_the_files_and_tells_progress_on_stderr(command_line, tmp_path, vote_file):
    code, out, err = command_line("paper", "fig3", "--out", "out")
    assert (code, err) == (0, "fig3 (1 of 1)\n")
    assert out.split() == [os.path.join("out", f"fig3.{end}") for end in ("json", "csv", "svg", "pdf", "png")]
    code, _, err = command_line("paper", "real", str(vote_file), "--out", "out", "-q")
    assert (code, err) == (0, "")
    assert (tmp_path / "out" / "real.csv").exists()


@pytest.mark.traced
def test_the_command_refuses_files_where_none_are_read_and_asks_for_them_where_some_are(
    command_line, tmp_path, vote_file
):
    assert command_line("paper", "fig1", str(vote_file), "--out", "out")[0] == 2
    assert command_line("paper", "real", "--out", "out")[0] == 2
    assert not (tmp_path / "out").exists()
