"""Shells complete columns of the file on the line, and names of files; a key never prints an error."""

from __future__ import annotations

import gzip

import pytest
from click.shell_completion import ShellComplete

from holdrank.cli import cli
from holdrank.cli.columns import ColumnOption, column_names

CSV = "model_a,model_b,winner,judge name,language\nx,y,model_a,j,en\n"


def completed(*words):
    return [item.value for item in ShellComplete(cli, {}, "holdrank", "").get_completions(list(words[:-1]), words[-1])]


@pytest.fixture
def battles(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "battles.csv").write_text(CSV, encoding="utf-8")
    return "battles.csv"


@pytest.mark.parametrize("option", ["--voter", "--winner", "--first", "--weight", "--item", "--lower-is-better"])
def test_options_that_take_a_column_complete_its_name(battles, option):
    assert completed("rank", battles, option, "") == ["model_a", "model_b", "winner", "judge name", "language"]
    assert completed("rank", battles, option, "mo") == ["model_a", "model_b"]
    assert completed("rank", battles, option, "x") == []


def test_every_option_that_names_a_column_does():
    for command in cli.commands.values():
        for option in command.params:
            if option.name in ("voter", "by", "columns", "item", "weight", "first", "second", "winner", "where"):
                assert isinstance(option, ColumnOption), (command.name, option.name)


def test_groups_lists_and_conditions(battles):
    assert completed("leave-one-out", battles, "--by", "l") == ["language"]
    assert completed("rank", battles, "--columns", "model_a,la") == ["model_a,language"]
    assert completed("rank", battles, "--where", "l") == ["language="]
    assert completed("diff", battles, battles, "--voter", "w") == ["winner"]
    assert completed("check", battles, "--voter", "w") == ["winner"]


def test_bash_gets_names_as_they_are_typed(battles, monkeypatch):
    monkeypatch.setenv("_HOLDRANK_COMPLETE", "bash_complete")
    assert completed("rank", battles, "--voter", "ju") == ["'judge name'"]


def test_without_a_file_there_is_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert completed("rank", "--voter", "") == []
    assert completed("rank", "missing.csv", "--voter", "") == []


@pytest.mark.parametrize(
    ("name", "data", "names"),
    [
        ("tab.tsv", b"a\tb c\n1\t2\n", ["a", "b c"]),
        ("semi.csv", '\ufeffa;"b;c";d\r\n1;2;3\r\n'.encode(), ["a", "b;c", "d"]),
        ("rows.jsonl", b'{"model_a": "x", "winner": 1}\n{"model_a": "y"}\n', ["model_a", "winner"]),
        ("rows.json", b'[{"model_a": "x",\n "winner": 1}]', ["model_a", "winner"]),
        (
            "packed.csv.gz",
            gzip.compress(CSV.encode(), mtime=0),
            ["model_a", "model_b", "winner", "judge name", "language"],
        ),
        ("votes.soc", b"# FILE NAME: x\n1: 1,2\n", []),
        ("hostile.csv", b"a,b\x1b[31m,a\n", ["a"]),
        ("broken.json", b'{"a": ', []),
        ("cut.csv.gz", gzip.compress(CSV.encode(), mtime=0)[:15], []),
        ("binary.csv", bytes(range(256)), []),
        ("not.parquet", b"PAR1", []),
        ("empty.csv", b"", []),
    ],
)
def test_names_are_those_of_the_header(tmp_path, name, data, names):
    (tmp_path / name).write_bytes(data)
    found = column_names(str(tmp_path / name))
    assert found == names or (name == "binary.csv" and all(one.isprintable() for one in found))


def test_parquet_has_names_too(tmp_path):
    polars = pytest.importorskip("polars")
    polars.DataFrame({"model_a": ["x"], "winner": ["tie"]}).write_parquet(tmp_path / "b.parquet")
    assert column_names(str(tmp_path / "b.parquet")) == ["model_a", "winner"]


def test_files_are_completed_by_the_shell():
    found = ShellComplete(cli, {}, "holdrank", "").get_completions(["rank"], "ba")
    assert [item.type for item in found] == ["file"]
