"""What votes are packed in: JSON, spreadsheets and Parquet, sound or damaged."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdrank.errors import InputError, LimitError, MissingExtraError, UsageError
from holdrank.files import read_votes
from holdrank.files.containers import spreadsheets
from holdrank.files.containers.delimited import PlainChunk, csv_chunks
from holdrank.votes.forms.table import Problems

from reading import RANKS_OR_SCORES, SAME, read, wins


def test_an_object_without_keys_is_no_record():
    with pytest.raises(InputError, match="line 1: the objects have no keys"):
        read("{}\n")


def test_json_lines():
    records = "\n".join(
        json.dumps(record)
        for record in (
            {"model_a": "x", "model_b": "y", "winner": "model_a", "n": 1.0},
            {"model_b": "x", "model_a": "y", "winner": "x", "n": None, "flag": True},
            {"model_a": "x", "model_b": "y", "winner": "tie", "n": 0.5},
            {"model_a": "x", "model_b": "y", "winner": 2},
        )
    )
    votes = read(records)
    assert wins(votes) == SAME
    assert votes.reading.format == "battles"
    head = '{"items": ["y", "x"], "unlisted": "observed"}\n{"order": ["x"], "weight": 0.5}\n'
    votes = read(head + '{"ranks": {"y": 2.5, "x": 1, "z": null}}\n')
    assert votes.items == ("y", "x")
    assert votes.unlisted == "observed"
    assert wins(votes) == {("x", "y"): 1}
    assert read(head, unlisted="bottom").unlisted == "bottom"
    assert read('{"order": [1, 2]}\n').items == ("1", "2")
    twice = '{"order": ["a", "b", "a"]}\n'
    votes = read(twice, repeated="first")
    assert wins(votes) == {("a", "b"): 1}
    assert any("1 ballot names an item more than once" in note for note in votes.notes)
    for bad in (
        '{"items": ["a", "a"]}\n{"order": ["a"]}',
        '{"items": 3}\n{"order": ["a"]}',
        '{"items": [""]}\n{"order": ["a"]}',
        '{"items": ["a"], "unlisted": "top"}\n{"order": ["a"]}',
        '{"order": ["a"], "weight": -1}',
        '{"order": ["a"], "weight": "2"}',
        '{"order": ["a"], "weight": true}',
        '{"order": ["a"], "weight": NaN}',
        '{"order": ["a", ""]}',
        '{"order": [null]}',
        '{"order": [[["a"]]]}',
        '{"ranks": {"a": 0}}',
        '{"ranks": {"a": "1"}}',
        '{"ranks": {"a": Infinity}}',
        '{"ranks": {"": 1}}',
        '{"ranks": [1]}',
        '[{"order": ["a", "a"]}]',
        "[3]",
        "[" * 5000,
        '{"order": ' + "[" * 100_000,
    ):
        with pytest.raises(InputError, match=r"binary file, line 1: .*found .*expected .*Fix"):
            read(bad)
    with pytest.raises(InputError, match="line 2: the line holds no ballot"):
        read('{"order": ["a"]}\n{"weight": 1}\n')
    with pytest.raises(InputError, match="nothing to aggregate"):
        read('{"order": []}\n')


@pytest.fixture
def workbook():
    openpyxl = pytest.importorskip("openpyxl")

    def make(*sheets: tuple[str, list[list[object]]]) -> bytes:
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets:
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        out = io.BytesIO()
        book.save(out)
        return out.getvalue()

    return make


def test_spreadsheets(workbook, tmp_path):
    rows = [["model", "t1", "t2"], ["x", 1.5, 2], [7, 2, None], [], [7.5, "3", 4]]
    data = workbook(("Votes", rows), ("Other", [["rank1"], ["a"]]))
    votes = read(data)
    assert votes.items == ("x", "7", "7.5")
    assert wins(votes) == {("7", "x"): 1, ("7.5", "x"): 2, ("7.5", "7"): 1}
    assert any("sheet 'Votes', the first of 2" in note for note in votes.notes)
    path = tmp_path / "v.xlsx"
    path.write_bytes(data)
    for sheet in ("Other", 2, "2"):
        assert read_votes(path, sheet=sheet).items == ("a",)
    with pytest.raises(InputError, match=r"no such sheet; found '3'.*'Votes', 'Other'"):
        read(data, sheet=3)
    with pytest.raises(InputError, match=r"line 5, column 't1': the cell is not a score"):
        read(workbook(("S", [*rows[:4], ["z", "3%", 1]])))
    with pytest.raises(UsageError, match="delimiter="):
        read(data, delimiter=",")
    with pytest.raises(UsageError, match="is text"):
        read(data, format="preflib")
    with pytest.raises(InputError, match="the file is empty"):
        read(workbook(("S", [])))


def test_spreadsheet_dates_are_noted(workbook):
    import datetime

    day = datetime.date(2024, 3, 1)
    votes = read(workbook(("S", [["model", "t"], ["MARCH1", 10], [day, 20]])))
    assert votes.items == ("MARCH1", "2024-03-01T00:00:00")
    assert any("1 cell is a date" in note for note in votes.notes)


def test_damaged_spreadsheets_and_bombs_are_refused(workbook, monkeypatch):
    data = workbook(("S", [["model", "t"], ["x", 1]]))
    for cut in (100, len(data) // 2, len(data) - 30):
        with pytest.raises(InputError):
            read(data[:cut])
    monkeypatch.setattr(spreadsheets, "_LARGEST_BOOK", 100)
    with pytest.raises(LimitError, match="unpacks to"):
        read(data)


def parquet(columns: dict[str, list[object]]) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    out = io.BytesIO()
    pq.write_table(pyarrow.table(columns), out)
    return out.getvalue()


BATTLES = {"model_a": ["x", "y", "x", "y"], "model_b": ["y", "x", "y", "x"], "winner": ["model_a", "b", "tie", "a"]}
SCORES = {"model": ["x", "y", "007"], "t1": [10, None, 30], "t2": [0.5, float("nan"), 0.25], "t3": [3, 2, 1]}


@pytest.mark.parametrize("engine", ["duckdb", "pyarrow"])
def test_parquet(engine, monkeypatch, tmp_path):
    pytest.importorskip(engine)
    if engine == "pyarrow":
        monkeypatch.setitem(sys.modules, "duckdb", None)
    assert wins(read(parquet(BATTLES))) == SAME
    votes = read(parquet(SCORES))
    assert votes.items == ("x", "y", "007")
    assert wins(votes) == {("007", "x"): 1, ("x", "007"): 2, ("x", "y"): 1, ("y", "007"): 1}
    path = tmp_path / "v[1]*.parquet"
    path.write_bytes(parquet(BATTLES))
    assert wins(read_votes(path)) == SAME
    (tmp_path / "plain.parquet").write_bytes(parquet(BATTLES))
    assert wins(read_votes(tmp_path / "plain.parquet")) == SAME
    with pytest.raises(InputError, match=r"row.*|line 2, column 't1'"):
        read(parquet({"model": ["x", "y"], "t1": [1.0, float("inf")]}))
    with pytest.raises(InputError, match="no rows below the header"):
        read(parquet({"model": [], "t1": []}))
    with pytest.raises(InputError, match="Parquet file cannot be read"):
        read(parquet(BATTLES)[:-20])
    (tmp_path / "v.csv").write_bytes(parquet(BATTLES))
    with pytest.raises(InputError, match="this is a Parquet file"):
        read_votes(tmp_path / "v.csv")


def test_parquet_texts_of_other_types():
    import datetime

    columns = {
        "model": [datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 3)],
        "t": [10, 20, 30],
    }
    with pytest.raises(InputError, match="line 2, column 'model': an item has no name"):
        read(parquet(columns))
    columns["model"] = [True, False, True]
    with pytest.raises(InputError, match="two rows"):
        read(parquet(columns))


def test_missing_extras_name_the_extra(monkeypatch, workbook):
    data, sheet = parquet(BATTLES), workbook(("S", [["rank1"], ["a"]]))
    for module in ("duckdb", "pyarrow", "openpyxl"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"reading Parquet needs duckdb.*holdrank\[io\]"):
        read(data)
    with pytest.raises(MissingExtraError, match=r"spreadsheet needs openpyxl.*holdrank\[io\]"):
        read(sheet)


def test_reading_files_imports_nothing_heavy():
    code = (
        "import sys, holdrank.files; "
        "heavy = {'duckdb', 'openpyxl', 'narwhals', 'pandas', 'polars', 'pyarrow'} & set(sys.modules); "
        "print(sorted(heavy))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_json_ballots_hold_nothing_else():
    for bad, words in (
        ('{"order": ["a", "b"], "wieght": 3}', "an unknown key; found 'wieght'"),
        ('{"ranks": {"a": 1}, "note": "x", "of": 3}', "an unknown key; found 'note, of'"),
        ('{"order": ["a"], "count": 3, "weight": 2}', "repeats a key"),
        ('{"order": ["a"], "ranks": {"a": 1}}', "repeats a key"),
        ('{"order": ["a"], "count": "3"}', "the weight is not valid"),
        ('{"order": ["\\ud800", "b"]}', "half of a surrogate pair"),
        ('{"ranks": {"\\uDFFF": 1}}', "half of a surrogate pair"),
    ):
        with pytest.raises(InputError, match=f"line 1: .*{words}.*Fix"):
            read(bad + "\n")
    assert read('{"order": ["\\ud83d\\ude00", "b"]}\n').items == ("\U0001f600", "b")
    with pytest.raises(InputError, match=r"line 3: the item is not declared; found 'c'"):
        read('{"items": ["a", "b"]}\n{"order": ["a", "b"]}\n{"order": ["c"]}\n')
    with pytest.raises(InputError, match=r"line 1: .*half of a surrogate pair"):
        read('{"model_a": "\\udc00", "model_b": "y", "winner": "tie"}\n')


def test_json_records_take_the_format_of_their_table(tmp_path):
    text = '{"A": 1, "B": 1, "C": 2}\n{"A": 1, "B": 2, "C": 2}\n'
    with pytest.raises(InputError, match=RANKS_OR_SCORES):
        read(text)
    assert wins(read(text, format="rank-columns"))["A", "C"] == 2
    assert wins(read("\n" + text.replace("\n", "\r\n"), format="score-columns"))["C", "A"] == 2
    path = tmp_path / "v.jsonl"
    path.write_text(text)
    assert read_votes(path, format="rank-columns", columns=["A", "C"]).items == ("A", "C")
    with pytest.raises(UsageError, match="is a table, but the lines of binary file are ballots"):
        read('{"order": ["a"]}\n', format="rank-columns")
    for option in ({"delimiter": ","}, {"header": 1}):
        with pytest.raises(UsageError, match="does not apply to JSON Lines"):
            read(text, format="rank-columns", **option)
    # A CSV file may begin with a brace all the same.
    assert read("{x,y}\n1,2\n", format="rank-columns").items == ("{x", "y}")


@settings(max_examples=300)
@given(text=st.text(alphabet="ab,; \n\r\x1f\u2028", max_size=40))
@example(text="a,b\r\n\r\nc,\rd")
def test_lines_without_quotes_are_split_as_the_csv_module_splits_them(text: str):
    chunks = list(csv_chunks(text, "", ",", Problems()))
    rows = [row for chunk in chunks for row in zip(chunk.starts, chunk.rows, strict=True)]
    lines = re.split("\r\n|\r|\n", text)
    assert rows == [(k, row) for k, row in enumerate(csv.reader(lines, strict=True), 1) if row]


def test_columns_are_those_of_the_rows():
    chunk = PlainChunk(["a,b", "c,d", "e,f"], range(1, 4), ",")
    assert chunk.columns(2) == [["a", "c", "e"], ["b", "d", "f"]]
    assert chunk.below(1).columns(2) == [["c", "e"], ["d", "f"]]
    assert chunk.row(1) == chunk.rows[1] == ["c", "d"]
    assert chunk.columns(3) is None
    assert PlainChunk(["a,b", "c", "d,e,f"], range(1, 4), ",").columns(2) is None
