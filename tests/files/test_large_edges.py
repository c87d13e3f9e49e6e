"""What the reader of large files counts, refuses, or leaves to the reader for memory, file by file."""

from __future__ import annotations

import json

import pytest

import holdrank as hr
from holdrank.files import read_votes
from holdrank.files.large import read_large, rows, scan
from holdrank.files.read_options import ReadOptions

pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

BATTLES = "model_a,model_b,winner\nx,y,model_a\ny,z,model_b\nz,x,tie\n"


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def in_large(path, format=None, **options):
    return read_large(path, format, ReadOptions(**options))


FORMS = {
    "pair counts": (["i", "j", "wins_i", "wins_j", "ties"],
                    [["a", "b", 3, 2, 1], ["b", "a", 2, 2, 0], ["a", "b", 3, 2, 1]]),
    "judgements": (["system1Id", "system1rank", "system2Id", "system2rank"], [["x", 1, "y", 2], ["y", 3, "x", 1]]),
    "weights": (["model_a", "model_b", "winner", "weight"], [["x", "y", "model_a", 3], ["x", "y", "model_b", 2]]),
    "scores": (["weight", "x", "y", "z"], [[2, 0.5, 0.25, 9], [1, 7.5, 3, 3], [4, 1, 2, 2.5]]),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_counted_as_in_memory(tmp_path, form, kind):
    names, table = FORMS[form]
    path = tmp_path / f"votes.{kind}"
    if kind == "csv":
        path.write_text("\n".join(",".join(map(str, row)) for row in [names, *table]) + "\n", encoding="utf-8")
    elif kind == "jsonl":
        path.write_text("".join(f"{json.dumps(dict(zip(names, row, strict=True)))}\n" for row in table))
    else:
        pq.write_table(pa.table({name: [row[k] for row in table] for k, name in enumerate(names)}), path)
    large, small = in_large(path), read_votes(path)
    assert large.items == small.items
    assert large.total == small.total
    assert large.wins().tolist() == small.wins().tolist()


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("a.csv", BATTLES, {"format": "preflib"}),
        ("a.csv", "\n" + BATTLES, {}),
        ("a.json", json.dumps({"rows": [{"order": ["x", "y"]}]}, indent=1), {}),
        ("a.jsonl", '{"model_a": "x", "Model_A": "w", "model_b": "y", "winner": "x"}\n' * 2, {}),
        ("a.csv", "model_a,model_b,winner\nx,y,model_a\n", {"weight": "winner"}),
        ("a.csv", 'rank1,"rank2\nx,y\n', {}),
        ("a.jsonl", '{"model_a": "x\\ud800", "model_b": "y", "winner": "a"}\n', {}),
    ],
)
def test_what_needs_all_of_a_file_is_left_to_the_reader_for_memory(tmp_path, name, text, options):
    assert in_large(written(tmp_path, name, text), **options) is None


def test_spreadsheets_are_left_to_the_reader_for_memory(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["x", "y"], [1, 2], [2, 1]):
        book.active.append(row)
    book.save(tmp_path / "votes.xlsx")
    assert in_large(tmp_path / "votes.xlsx") is None


def test_too_many_columns_or_rows_are_left_to_the_reader_for_memory(tmp_path, monkeypatch):
    path = written(tmp_path, "a.csv", BATTLES)
    assert in_large(path).total == 3
    monkeypatch.setattr(rows, "_MOST_BATTLES", 2)
    assert in_large(path) is None
    monkeypatch.undo()
    monkeypatch.setattr(scan, "_MOST_COLUMNS", 2)
    assert in_large(path) is None


@pytest.mark.parametrize(
    ("name", "text", "options", "error", "words"),
    [
        ("a.jsonl", '{"order": ["x", "y"]}\n', {"delimiter": ";"}, hr.UsageError, "delimiter.* does not apply to JSON"),
        ("a.csv", "left,right\nx,y\ny,x\n", {"format": "battles"}, hr.InputError, "no battle columns.*left, right"),
        ("a.csv", "left,right\nx,y\ny,x\n", {"format": "pair-counts"}, hr.InputError, "left, right"),
        ("a.csv", "left,right\nx,y\ny,x\n", {"format": "multi-way"}, hr.InputError, "left, right"),
        (
            "a.jsonl",
            f'{{"model_a": {"1" * 5000}, "model_b": "y", "winner": "a"}}\n',
            {},
            hr.InputError,
            "line 1: a value",
        ),
        ("a.jsonl", '{"items": ["x", 1e999]}\n{"order": ["x"]}\n', {}, hr.InputError, "line 1"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, name, text, options, error, words):
    with pytest.raises(error, match=words):
        in_large(written(tmp_path, name, text), **options)


def test_a_delimiter_is_for_csv(tmp_path):
    pq.write_table(pa.table({"model_a": ["x"], "model_b": ["y"], "winner": ["model_a"]}), tmp_path / "a.parquet")
    with pytest.raises(hr.UsageError, match="applies only to CSV files"):
        in_large(tmp_path / "a.parquet", delimiter=";")


def test_an_engine_that_cannot_start_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(scan.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(Exception, match="Memory must have a number"):
        scan.Database(memory="a lot")
    assert list(tmp_path.iterdir()) == []


def test_steps_are_told_to_whoever_asks(tmp_path, monkeypatch):
    monkeypatch.setitem(rows.MOST_CELLS, "rank-columns", 2)
    monkeypatch.setattr(rows, "_CELLS_AT_A_TIME", 4)
    path = written(tmp_path, "a.csv", "x,y\n" + "1,2\n2,1\n1,1\n" * 3)
    told = []
    counts = hr.count_pairs(path, format="rank-columns", progress=told.append)
    assert counts.total == 9
    parts = [(step.done, step.total) for step in told if step.name == "parts counted"]
    assert parts == [(k, len(parts)) for k in range(len(parts))]
    assert len(parts) > 1
