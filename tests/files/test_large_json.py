"""Large JSON Lines are copied on all threads: the order of rows, the places in messages and all refusals stay."""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

import holdrank as hr
from holdrank.files import sniff
from holdrank.files.large import scan

pytest.importorskip("duckdb")

PAD = "x" * 200_000


def lines(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def many_pairs(size: int, pad: str = PAD) -> list[dict[str, object]]:
    """Return battles of which each brings a new item, in an order that no sorting gives."""
    names = [f"m{k}" for k in range(size + 1)]
    Random(3).shuffle(names)
    return [{"model_a": a, "text": pad, "model_b": b, "winner": "model_a"} for a, b in pairwise(names)]


@pytest.mark.slow
@pytest.mark.traced
def test_items_keep_the_order_of_the_file_on_all_threads(tmp_path: Path) -> None:
    rows = many_pairs(400)  # 80 MB: several blocks of DuckDB's reader, so that threads have something to confuse
    path = tmp_path / "votes.jsonl"
    path.write_text(lines(rows), encoding="utf-8")
    votes = hr.read_votes(path)
    assert votes.items == tuple(dict.fromkeys(name for row in rows for name in (row["model_a"], row["model_b"])))
    assert votes.reading.sha256 == sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
@pytest.mark.parametrize("where", [None, ["language=en"]])
def test_a_copy_gives_what_rows_in_a_row_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, where: list[str] | None
) -> None:
    rng = Random(5)
    rows = [
        {"model_a": f"m{rng.randrange(9)}", "model_b": f"n{rng.randrange(9)}", "language": rng.choice(["en", "de"]),
         "winner": rng.choice(["model_a", "model_b", "tie"])}
        for _ in range(500)
    ]  # fmt: skip
    for number, part in enumerate((rows[:200], rows[200:])):
        text = lines(part)
        if kind == "csv":
            text = ",".join(rows[0]) + "\n" + "".join(",".join(map(str, row.values())) + "\n" for row in part)
        (tmp_path / f"v{number}.{kind}").write_text(text, encoding="utf-8")
    pattern = str(tmp_path / f"v*.{kind}")
    copied = hr.read_votes(pattern, where=where)
    monkeypatch.setattr(scan, "_MOST_COPIED", 0)
    streamed = hr.read_votes(pattern, where=where)
    assert copied == streamed
    assert copied.items == streamed.items
    assert copied.reading == streamed.reading
    kept = [row for row in rows if where is None or row["language"] == "en"]
    assert copied.total == len(kept)
    assert copied.items == tuple(dict.fromkeys(str(row[key]) for row in kept for key in ("model_a", "model_b")))


def line(rest: str) -> str:
    return '{"model_a": "x", "model_b": "y", "text": "", ' + rest


BAD_LINES = {
    "a late key is a weight": (line('"winner": "tie", "weight": 3}'), "line 1, column 'weight'"),
    "cut off": (line('"win'), "line 331: the line is not JSON"),
    "no object": ("[1, 2]", "line 331: (a line|the line) is not a JSON object"),
    "null": ("null", "line 331: (a line|the line) is not a JSON object"),
    "unknown code": (line('"winner": "maybe"}'), "'maybe' 1 time"),
    "empty name": (line('"winner": "tie"}').replace("x", ""), "line 331"),
    "twice": (line('"winner": "tie", "winner": "tie"}'), "the same key twice"),
    "nested winner": (line('"winner": ["tie"]}'), "itself a list or an object"),
}


@pytest.mark.parametrize("case", BAD_LINES)
def test_a_bad_line_far_down_is_refused_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    bad, message = BAD_LINES[case]
    monkeypatch.setattr(sniff, "LARGE_TEXT", 1000)
    path = tmp_path / "votes.jsonl"
    rows = many_pairs(20, "")
    text = lines(rows) * 16 + lines(rows[:10])
    path.write_text(text + bad + "\n" + lines(rows), encoding="utf-8")
    with pytest.raises(hr.InputError, match=message):
        hr.read_votes(path)
