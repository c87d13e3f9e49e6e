"""Rows and items that count: conditions on columns, spans of time, items kept or dropped."""

from __future__ import annotations

import json

import pytest

from holdrank.errors import InputError, UsageError
from holdrank.files import read_votes
from holdrank.files.large import read_large
from holdrank.files.read_options import ReadOptions

from reading import read, wins

BATTLES = (
    "model_a,model_b,winner,language,tstamp,judge\n"
    "x,y,model_a,en,1700000000,ann\n"  # 2023-11-14
    "x,y,model_b,fr,1700086400,bob\n"  # 2023-11-15
    "y,z,model_a,en,1702000000,ann\n"  # 2023-12-08
    "z,x,tie,de,1705000000,cid\n"  # 2024-01-11
)


def test_rows_are_kept_by_the_value_of_a_column():
    assert wins(read(BATTLES, where="language=en")) == {("x", "y"): 1, ("y", "z"): 1}
    assert wins(read(BATTLES, where=["language=en", "language=fr"])) == {("x", "y"): 1, ("y", "x"): 1, ("y", "z"): 1}
    assert wins(read(BATTLES, where=["language!=en", "judge=bob"])) == {("y", "x"): 1}
    votes = read(BATTLES, where="language=en")
    assert votes.reading.choices["where"] == "language=en"
    assert votes.reading.choices["rows kept"] == "2 of 4"
    assert "where: language=en" in votes.summary()


def test_rows_are_kept_by_their_time():
    assert read(BATTLES, since="2023-11-15").total == 3
    assert read(BATTLES, until="2023-11-15").total == 2
    assert read(BATTLES, until="2023-11-14").total == 1
    assert read(BATTLES, since="2023-11-15", until="2023-12-31").total == 2
    assert read(BATTLES, since="1700086400").total == 3
    iso = (
        BATTLES.replace("tstamp", "date")
        .replace("1700000000", "2023-11-14")
        .replace("1700086400", "2023-11-15T10:00:00Z")
    )
    iso = iso.replace("1702000000", "2023/12/08").replace("1705000000", "2024.01.11")
    assert read(iso, since="2023-11-15", until="2023-12-31").total == 2


def test_items_are_kept_or_dropped_and_battles_with_others_do_not_count():
    votes = read(BATTLES, only=["x", "y"], voter="judge")
    assert wins(votes) == {("x", "y"): 1, ("y", "x"): 1}
    assert votes.total == 2
    assert votes.voters is not None
    assert votes.voters.names == ("ann", "bob")
    assert votes.reading.choices["only"] == "x, y"
    assert read(BATTLES, drop="z") == read(BATTLES, only=["x", "y"])
    ballots = "rank1,rank2,rank3\nx,y,z\nz,y,x\nz,,\n"
    kept = read(ballots, drop="z")
    assert kept.items == ("x", "y")
    assert wins(kept) == {("x", "y"): 1, ("y", "x"): 1}
    matrix = read(",x,y,z\nx,,3,1\ny,2,,1\nz,4,0,\n", only=["x", "y"])
    assert wins(matrix) == {("x", "y"): 3, ("y", "x"): 2}
    assert matrix.total == 5


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"where": "langage=en"}, InputError, r"no such column for where.*did you mean 'language'"),
        ({"where": "language=es"}, InputError, r"no row matches where language=es; in 'language'.*'en' 2 times"),
        ({"where": "language"}, UsageError, r"where= takes a condition"),
        ({"since": "2030-01-01"}, InputError, r"no row matches since"),
        ({"since": "yesterday"}, UsageError, r"since= takes a date such as 2024-05-31"),
        ({"only": ["w", "x"]}, UsageError, r"only=: there is no item 'w'.*the items are x, y, z"),
        ({"drop": ["x", "y", "z"]}, UsageError, r"leave no item"),
        ({"only": "x"}, UsageError, r"leave no battle"),
    ],
)
def test_what_leaves_nothing_or_names_nothing_is_refused(options, error, words):
    with pytest.raises(error, match=words):
        read(BATTLES, **options)


def test_a_time_needs_a_column_of_dates():
    with pytest.raises(InputError, match="no column holds dates"):
        read("model_a,model_b,winner\nx,y,a\n", since="2024-01-01")
    with pytest.raises(InputError, match=r"line 3, column 'date': the cell is not a date"):
        read("model_a,model_b,winner,date\nx,y,a,2024-01-02\nx,y,b,soon\n", since="2024-01-01")


def test_one_contest_of_several_is_chosen_by_a_condition():
    text = "ballot,contest,candidate,rank\n1,Mayor,a,1\n1,Mayor,b,2\n1,Clerk,c,1\n1,Clerk,d,2\n"
    with pytest.raises(InputError, match=r"2 contests in this file.*where=\"contest=Mayor\""):
        read(text)
    assert wins(read(text, where="contest=Clerk")) == {("c", "d"): 1}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    "where", [["language=en"], ["language=en", "language=fr"], ["code=true"], ["language!=en", "n!=3"]]
)
def test_conditions_on_large_files_keep_the_same_rows(tmp_path, kind, where):
    rows = [
        {"model_a": "xyz"[k % 3], "model_b": "yzx"[k % 3], "winner": ("model_a", "tie", "model_b")[k % 5 % 3],
         "language": ("en", "fr", None, "de")[k % 4], "code": k % 2 == 0, "n": k % 7}
        for k in range(200)
    ]  # fmt: skip
    path = tmp_path / f"votes.{kind}"
    if kind == "parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        lines = [",".join("" if cell is None else str(cell) for cell in row.values()) for row in rows]
        path.write_text("\n".join([",".join(rows[0]), *lines]) + "\n", encoding="utf-8")
    small = read_votes(path, where=where)
    large = read_large(path, None, ReadOptions(where=where))
    assert large is not None
    assert large == small
    assert 0 < small.total < 200
    assert large.reading.choices["where"] == small.reading.choices["where"] == "; ".join(where)
    with pytest.raises(InputError, match="no row matches where language=xx"):
        read_large(path, None, ReadOptions(where=["language=xx"]))
