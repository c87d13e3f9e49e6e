"""The command paired-tests: the numbers of the function, on screen, as JSON, page and CSV."""

from __future__ import annotations

import json

import pytest

import holdrank as hr

ROWS = {"Ash": (0.9, 0.8, 0.9, 0.7, 0.95), "Birch": (0.7, 0.6, 0.8, 0.5, 0.7), "Cedar": (0.6, 0.7, 0.5, 0.4, 0.6)}
TABLE = "model,t1,t2,t3,t4,t5\n" + "".join(f"{name},{','.join(map(str, row))}\n" for name, row in ROWS.items())


@pytest.fixture
def run(command_line, tmp_path):
    (tmp_path / "scores.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "battles.csv").write_text("winner,loser\na,b\nb,a\na,b\n", encoding="utf-8")
    return command_line


def test_the_screen_has_ranks_with_bars_the_tests_and_the_pairs(run):
    code, out, _ = run("paired-tests", "scores.csv", "-q", "--most", "2", "-v")
    assert code == 0
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines[:5] == [
        "Paired tests: 5 tasks, 3 items",
        "mean rank   item    not separated (Nemenyi)",
        "     1.00   Ash     │",
        "     2.20   Birch   │ │",
        "     2.80   Cedar     │",
    ]
    assert "Friedman test over 5 tasks: statistic 8.4, p = 0.015." in lines
    assert "Wilcoxon signed-rank tests, corrected by Holm, separate 0 of 3 pairs at 95 %." in lines
    assert lines[-1] == "and 1 more; --most lists them, -o writes them all"
    assert "Ash – Birch" in lines[-3]
    _, short, _ = run("paired-tests", "scores.csv", "-q", "--most", "0")
    assert "Pairs" not in short


def test_bars_of_one_column_never_touch(run, tmp_path):
    # Two groups, one after the other: without an empty line between them they would look like one.
    rows = [("a", 0.81), ("b", 0.72), ("c", 0.23), ("d", 0.14)]
    text = "model," + ",".join(f"t{k}" for k in range(60)) + "\n"
    text += "".join(f"{row[0]},{','.join(map(str, row[1:] * 60))}\n" for row in rows)
    (tmp_path / "apart.csv").write_text(text, encoding="utf-8")
    _, out, _ = run("paired-tests", "apart.csv", "-q", "--most", "0", "--level", "0.9999999")
    found = hr.paired_tests(hr.read_votes(tmp_path / "apart.csv"), level=0.9999999)
    assert found.groups == (("a", "b"), ("b", "c"), ("c", "d"))
    marks = [line[19:].rstrip() for line in out.splitlines()[2:6]]
    assert marks == ["│", "│ │", "  │ │", "    │"]


def test_json_holds_the_numbers_of_the_function(run, tmp_path):
    _, out, _ = run("paired-tests", "scores.csv", "-q", "--json", "--level", "0.9")
    told = json.loads(out)
    found = hr.paired_tests(hr.read_votes(tmp_path / "scores.csv"), level=0.9)
    assert told["mean_ranks"]["values"] == found.mean_ranks.tolist()
    assert told["mean_ranks"]["critical_difference"] == found.critical_difference
    assert told["test"] == "wilcoxon"
    assert [row["pair"] for row in told["pairs"]] == [[0, 1], [0, 2], [1, 2]]
    assert [row["p_value"] for row in told["pairs"]] == [
        found.p_values[0, 1],
        found.p_values[0, 2],
        found.p_values[1, 2],
    ]
    assert told["text"] == found.text()


def test_a_page_and_a_table_of_all_pairs_are_written(run, tmp_path):
    _, _, err = run("paired-tests", "scores.csv", "-q", "-o", "tests.html")
    assert "wrote tests.html" in err
    page = (tmp_path / "tests.html").read_text("utf-8")
    assert 'class="picture critical_difference"' in page
    assert "<summary>In words</summary>" in page
    run("paired-tests", "scores.csv", "-q", "-o", "tests.csv")
    assert (tmp_path / "tests.csv").read_text("utf-8").splitlines()[1].startswith("Ash,Birch,")
    code, _, err = run("paired-tests", "scores.csv", "-q", "-o", "tests.pdf")
    assert code == 2
    assert ".html" in err


def test_answers_of_0_and_1_and_tables_without_a_complete_task(run, tmp_path):
    (tmp_path / "answers.csv").write_text("model,q1,q2,q3\na,1,1,1\nb,0,0,1\n", encoding="utf-8")
    _, out, _ = run("paired-tests", "answers.csv", "-q")
    assert "McNemar p" in out
    (tmp_path / "blank.csv").write_text("model,t1,t2,t3\na,1.5,2.5,\nb,,1.5,2\nc,1,,3\n", encoding="utf-8")
    code, out, _ = run("paired-tests", "blank.csv", "-q", "-o", "blank.html")
    assert code == 0
    assert "Friedman test: no task scores all items.\nMean ranks are not known.\n" in out
    assert "no task scores all items" in (tmp_path / "blank.html").read_text("utf-8")
    _, out, _ = run("paired-tests", "blank.csv", "-q", "--json")
    assert json.loads(out)["mean_ranks"]["values"] == [None, None, None]


def test_battles_are_refused_in_one_line_with_what_to_give(run):
    code, out, err = run("paired-tests", "battles.csv", "-q")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "these votes hold no scores. Fix: give a table of scores" in err


@pytest.mark.parametrize("name", ["nemenyi", "friedman", "posthoc"])
def test_whoever_asks_for_a_test_by_name_is_told_the_command(run, name):
    code, _, err = run(name, "scores.csv")
    assert code == 2
    assert "Did you mean 'paired-tests'?" in err
