"""The figure of vote files: each read in its own way, whatever happens to the others."""

from __future__ import annotations

import csv
import json

import pytest

import holdrank as hr
from holdrank import paper, plots
from holdrank.paper import export, vote_files
from holdrank.paper.drawings import DRAWINGS
from holdrank.paper.vote_files import growing, read_list

pytestmark = [pytest.mark.slow, pytest.mark.traced]

SOC = "# TITLE: Trees: the {}\n# DATA TYPE: soc\n# NUMBER ALTERNATIVES: 3\n" + "".join(
    f"# ALTERNATIVE NAME {k}: {name}\n" for k, name in enumerate("abc", start=1)
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "one.soc").write_text(SOC.format("$first$ one") + "51: 1,2,3\n49: 2,1,3\n", "utf-8")
    (tmp_path / "two.csv").write_text("x;y\n1;2\n1;2\n2;1\n", "utf-8")
    (tmp_path / "bad.soc").write_text(SOC.format("bad one") + "51: 1,2,9\n", "utf-8")
    return tmp_path


def test_panels_carry_the_titles_of_the_votes(folder):
    listed = [{"path": folder / "two.csv", "title": "Mine", "format": "score-columns", "delimiter": ";"}]
    found = paper.real([folder / "one.soc", *listed])
    assert [panel["title"] for panel in found["files"]] == ["Trees: the $first$ one", "Mine"]
    with plots.styled():
        figure = DRAWINGS["real"](found).figure
    titles = [ax.get_title(loc="left").split("\n") for ax in figure.axes]
    assert titles == [["Trees: the $first$ one", "100 votes, 3 items"], ["Mine", "3 votes, 2 items"]]


def test_a_file_without_a_title_has_its_name(folder):
    found = paper.real([folder / "two.csv"], reading={"delimiter": ";", "format": "score-columns"})
    assert found["files"][0]["title"] == "two.csv"


def test_each_file_is_read_in_its_own_way(folder):
    path = folder / "two.csv"
    both = [{"path": path}, {"path": path, "lower_is_better": True}]
    found = paper.real(both, reading={"delimiter": ";", "format": "score-columns"})
    firsts = [row["tiers"] for row in found["rows"] if row["theta"] == 0]
    assert firsts == ["y > x", "x > y"]


def test_a_bad_file_is_left_out_and_reported_and_the_others_are_written(folder, command_line):
    code, out, err = command_line("paper", "real", "bad.soc", "one.soc", "gone.soc", "--out", "out", "-q")
    assert code == 3
    assert [line.rsplit(".")[-1] for line in out.splitlines()] == ["json", "csv", "svg", "pdf", "png"]
    first, *rest = err.splitlines()
    assert first == "holdrank: 2 of 3 vote files could not be used; everything else is written:"
    assert rest[0].startswith("  bad.soc, line 7: ")
    assert rest[1].startswith("  gone.soc: ")
    data = json.loads((folder / "out" / "real.json").read_text("utf-8"))
    assert [panel["file"] for panel in data["files"]] == ["one.soc"]
    assert [one["file"] for one in data["failed"]] == ["bad.soc", "gone.soc"]
    assert data["unfinished"] == []
    with (folder / "out" / "real.csv").open(encoding="utf-8", newline="") as file:
        assert {row["file"] for row in csv.DictReader(file)} == {"one.soc"}


def test_the_reasons_of_several_files_keep_their_repairs_and_the_spelling_of_the_command_line(folder, command_line):
    (folder / "short.csv").write_text("a,b\n1\n", "utf-8")
    _, _, err = command_line("paper", "real", "short.csv", "gone.soc", "one.soc", "--out", "out", "-q")
    _, short, gone = err.splitlines()
    assert gone.endswith(". Fix: did you mean 'one.soc'?")
    assert short.endswith(". Fix: complete the row, or set --short-rows fill to treat the rest as missing")


def test_the_help_shows_a_list_line_by_line(command_line):
    _, out, _ = command_line("paper", "--help")
    assert '\n      [[file]]\n      path = "battles.csv"\n      title = "Battles of May"\n' in out


def test_where_no_file_can_be_used_nothing_is_drawn(folder):
    with pytest.raises(hr.InputError, match="line 7"):
        paper.real([folder / "bad.soc"])
    with pytest.raises(hr.InputError, match="2 of 2 vote files could not be used; nothing can be drawn") as caught:
        paper.figures(["real"], folder / "out", files=[folder / "bad.soc", folder / "gone.soc"])
    assert "bad.soc" in str(caught.value)
    assert "gone.soc" in str(caught.value)
    assert not list((folder / "out").iterdir())


def test_a_wrong_option_of_one_file_does_not_stop_the_others(folder):
    found = paper.real([{"path": folder / "one.soc", "first": "left"}, folder / "one.soc"])
    assert [one["file"].rsplit("/")[-1] for one in found["failed"]] == ["one.soc"]
    assert len(found["files"]) == 1


def test_an_interrupted_run_has_written_what_is_finished(folder, monkeypatch):
    honest = vote_files.tradeoff

    def interrupted(votes, **options):
        if votes.n == 2:
            raise KeyboardInterrupt
        return honest(votes, **options)

    monkeypatch.setattr(vote_files, "tradeoff", interrupted)
    two = {"path": folder / "two.csv", "format": "score-columns", "delimiter": ";"}
    with pytest.raises(KeyboardInterrupt):
        paper.figures(["real"], folder / "out", files=[folder / "one.soc", two])
    names = sorted(path.name for path in (folder / "out").iterdir())
    assert names == [f"real.{end}" for end in ("csv", "json", "pdf", "png", "svg")]
    data = json.loads((folder / "out" / "real.json").read_text("utf-8"))
    assert [panel["file"] for panel in data["files"]] == ["one.soc"]
    assert [name.rsplit("/")[-1] for name in data["unfinished"]] == ["two.csv"]


def test_the_data_grow_with_every_file(folder):
    states = [(len(data["files"]), len(data["unfinished"]), len(errors))
              for data, errors in growing([folder / "one.soc", folder / "bad.soc", folder / "one.soc"])]  # fmt: skip
    assert states == [(1, 2, 0), (1, 1, 1), (2, 0, 1)]


def test_a_list_names_files_beside_it_and_how_to_read_each(folder, command_line):
    (folder / "votes").mkdir()
    (folder / "two.csv").rename(folder / "votes" / "a:b=c,d.csv")
    (folder / "votes" / "list.toml").write_text(
        '[[file]]\npath = "a:b=c,d.csv"\ntitle = "Mine"\nformat = "score-columns"\ndelimiter = ";"\n\n'
        '[[file]]\npath = "../one.soc"\n', "utf-8")  # fmt: skip
    code, _, err = command_line("paper", "real", "--list", "votes/list.toml", "--out", "out", "-q")
    assert (code, err) == (0, "")
    data = json.loads((folder / "out" / "real.json").read_text("utf-8"))
    assert [panel["title"] for panel in data["files"]] == ["Mine", "Trees: the $first$ one"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", r"expected tables \[\[file\]\]"),
        ("file = 3\n", r"expected tables \[\[file\]\]"),
        ("unlisted = 'observed'\n[[file]]\npath = 'a'\n", "found 'unlisted'"),
        ("[[file]]\ntitle = 'a'\n", "file 1: each vote file needs a path"),
        ("[[file]]\npath = 'a'\n[[file]]\npath = 3\n", "file 2: each vote file needs a path"),
        ("[[file]]\npath = 'a'\ntitle = 3\n", "its title must be text"),
        ("[[file]]\npath = 'a'\nlower-is-better = true\n", "write lower_is_better"),
        ("[[file]]\npath = 'a'\nzzz = true\n", "use one of path, title, blank_voters, blanks"),
        ("[[file]]\npath = 'a'\nformat = 'soc'\n", "unknown format 'soc'"),
        ("[[file]]\npath = 'a'\nheader = 'x'\n", "header= takes the number of a row"),
        ("[[file]]\npath = \n", "line 2: this is not a TOML file"),
        ("\udcff", "this is not a TOML file"),
    ],
)
def test_a_faulty_list_is_refused_with_the_place(tmp_path, text, told):
    (tmp_path / "list.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(hr.InputError, match=told) as caught:
        read_list(tmp_path / "list.toml")
    assert "list.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_list_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(hr.InputError, match=r"gone\.toml"):
        read_list(tmp_path / "gone.toml")


def test_what_is_not_proved_is_drawn_otherwise():
    """Three points: one proved, one behind, and one whose bounds leave open whether it is on the front."""
    panel = {
        "title": "t", "file": "f", "votes": 10.0, "items": 3,
        "theta": [0.0, 0.1, 0.2, 0.3], "loss": [0.1, 0.2, 0.3, 0.4],
        "lower": [0.2, 0.05, 0.1, 0.1], "upper": [0.2, 0.05, 0.4, None], "tiers": [3, 2, 2, 1],
        "pareto": [True, False, True, True], "proved_pareto": [True, False, False, False], "best": 0, "allowed": 0.15,
        "delta": 1 / 3,
    }  # fmt: skip
    with plots.styled():
        figure = DRAWINGS["real"]({"files": [panel], "rows": []}).figure
    (ax,) = figure.axes
    bars = [segment.tolist() for segment in ax.collections[0].get_segments()]
    top = ax.get_ylim()[1]
    assert [(low[1], high[1]) for low, high in bars] == [(0.2, 0.2), (0.05, 0.05), (0.1, 0.4), (0.1, top)]
    key = [text.get_text() for text in figure.legends[0].get_texts()]
    assert key == ["best threshold", "proven to be on the front", "may be on the front", "another threshold is better",
                   "between the bounds", "loss that the best may have"]  # fmt: skip
    assert ax.get_title(loc="left") == "t\n10 votes, 3 items, bounds open"


def test_a_point_is_proved_on_the_front_only_if_no_other_can_be_better():
    """Points 0 and 1 are certain; 2 may be better than 3 or not, and 4 is behind."""
    from numpy import array, inf

    from holdrank.analysis.tradeoff import front

    loss = array([0.1, 0.2, 0.3, 0.4, 0.5])
    lower, upper = array([0.1, 0.2, 0.1, 0.25, 0.1]), array([0.1, 0.2, 0.3, 0.25, 0.15])
    assert front(loss, lower, upper).tolist() == [True, True, True, True, False]
    assert front(loss, upper, lower).tolist() == [True, True, False, False, False]
    exact = array([0.1, 0.2, 0.1, inf, 0.3])
    assert front(loss, exact, exact).tolist() == [True, True, False, True, False]


def test_a_checkpoint_keeps_finished_files_and_looks_again_at_bad_ones(folder, monkeypatch):
    files = [folder / "one.soc", folder / "bad.soc"]
    first = paper.real(files, checkpoint=folder / "points.jsonl")
    assert len(first["failed"]) == 1
    (folder / "bad.soc").write_text((folder / "one.soc").read_text("utf-8"), "utf-8")
    monkeypatch.setattr(vote_files, "tradeoff", lambda *_, **__: pytest.fail("computed again"))
    with pytest.raises(pytest.fail.Exception):  # the mended file is new
        paper.real(files, checkpoint=folder / "points.jsonl")
    again = paper.real(files[:1], checkpoint=folder / "points.jsonl")
    assert again["rows"] == first["rows"]


def test_the_time_limit_reaches_each_file(folder, monkeypatch):
    limits = []
    honest = vote_files.tradeoff
    monkeypatch.setattr(vote_files, "tradeoff",
                        lambda votes, time_limit: limits.append(time_limit) or honest(votes))  # fmt: skip
    paper.figures(["real"], folder / "out", files=[folder / "one.soc"] * 2, time_limit=7)
    assert limits == [7, 7]
    assert json.loads((folder / "out" / "real.json").read_text("utf-8"))["time_limit"] == 7


def test_the_table_of_pictures_and_the_command_name_the_same_figures():
    from holdrank.cli import paper as command

    assert (*command._FIGURES, "real", "arena") == tuple(export.DRAWINGS)
