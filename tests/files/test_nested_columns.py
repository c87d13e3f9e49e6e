"""Columns of conversations and metadata: nobody reads them, and a note says so, whoever reads the file."""

from __future__ import annotations

import io
import json

import pytest

from holdrank.files import read_votes
from holdrank.files.large import read_large
from holdrank.files.read_options import ReadOptions

ROWS = [
    {
        "model_a": a,
        "model_b": b,
        "winner": w,
        "conversation": [{"role": "user"}],
        "meta": {"turns": k},
        "language": "en",
    }
    for k, (a, b, w) in enumerate((("x", "y", "model_a"), ("y", "z", "tie"), ("x", "z", "model_b")))
]
NOTE = "columns 'conversation', 'meta' ignored: they hold lists or objects"


@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet"])
def test_nested_columns_are_ignored_with_one_note(tmp_path, kind):
    path = tmp_path / f"votes.{kind}"
    if kind == "parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    elif kind == "json":
        path.write_text(json.dumps(ROWS, indent=1), encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    votes = read_votes(path)
    assert votes.items == ("x", "y", "z")
    assert votes.total == 3
    assert [note for note in votes.notes if "ignored" in note] == [NOTE]
    if kind != "json":
        large = read_large(path, None, ReadOptions())
        assert large == votes
        assert large is not None
        assert [note for note in large.notes if "ignored" in note] == [NOTE]


def test_a_list_where_a_name_should_stand_is_still_a_fault():
    from holdrank.errors import InputError

    with pytest.raises(InputError, match=r"line 1, column 'model_a': a value is itself a list"):
        read_votes(io.BytesIO(b'{"model_a": ["x"], "model_b": "y", "winner": "a"}\n'))
