"""Large votes are read as small ones are: the same rules, counts and notes, in one process or in parts on many."""

from __future__ import annotations

import csv
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import holdrank as hr
from holdrank.files import read_votes, sniff
from holdrank.files.containers.footers import check_footer
from holdrank.files.large import read_large, rows, scan
from holdrank.files.options import ReadOptions
from holdrank.votes.forms.notes import Note, added_notes, counted
from holdrank.votes.pairs import PairCounts

pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

RNG = np.random.default_rng(5)
MODELS = [f"model {k}" for k in range(7)] + ["Model 1", 'odd "name", with comma', "NA", "é\u00a0x"]
VERDICTS = ["model_a", "model_b", "tie", "tie (bothbad)", " Tie ", "model_b", "model_a"]


def write(folder: Path, kind: str, header: list[str], table: list[list[object]], name: str = "votes") -> Path:
    """Write rows as CSV, JSON Lines or Parquet; None is a missing cell."""
    path = folder / f"{name}.{kind}"
    if kind == "parquet":
        columns = [list(column) for column in zip(*table, strict=True)]
        pq.write_table(pa.table(dict(zip(header, columns, strict=True))), path, row_group_size=13)
    elif kind == "jsonl":
        rows_ = ({k: v for k, v in zip(header, row, strict=True) if v is not None} for row in table)
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows_), encoding="utf-8")
    else:
        cells = (["" if cell is None else str(cell) for cell in row] for row in [header, *table])
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(cells)
    return path


def battles(count: int, seed: int = 1, weights: bool = False) -> tuple[list[str], list[list[object]]]:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(len(MODELS), size=(2, count))  # an item may meet itself
    table = [[k, MODELS[a], MODELS[b], VERDICTS[v]]
             for k, (a, b, v) in enumerate(zip(first, second, rng.integers(7, size=count), strict=True))]  # fmt: skip
    if weights:
        return ["id", "model_a", "model_b", "winner", "weight"], [
            [*row, float(w)] for row, w in zip(table, rng.choice([0, 0.1, 0.25, 3], size=count), strict=True)
        ]
    return ["id", "model_a", "model_b", "winner"], table


def positions(count: int, seed: int = 2) -> tuple[list[str], list[list[object]]]:
    rng = np.random.default_rng(seed)
    names = ["ann", "bob", "cid", "dee", "Ann", "'NA"]
    tokens = [None, "undervote", " ", "overvote"]
    table: list[list[object]] = []
    for _ in range(count):
        row = [names[k] for k in rng.choice(5, size=3)]  # repeats are likely
        for place in range(3):
            if rng.random() < 0.3:
                row[place] = tokens[rng.integers(4)]
        table.append([*row, int(rng.integers(100))])
    return ["rank1", "rank2", "rank3", "precinct"], [*table, ["'NA", None, None, 7]]


def rank_rows(count: int, seed: int = 3, weights: bool = False) -> tuple[list[str], list[list[object]]]:
    rng = np.random.default_rng(seed)
    table: list[list[object]] = []
    for row in range(count):
        order: list[object] = (rng.permutation(4) + 1).tolist()
        if row % 5 == 0:
            order = [None if int(rank) > 2 else rank for rank in order]  # type: ignore[call-overload]
        if row % 17 == 3:
            order = [None] * 4
        if row % 13 == 5:
            order = [1, 1, 3, 3]
        if row % 19 == 7:
            order = [1, 1, 1, 1]
        table.append([f"v{row}", *order, *([int(rng.integers(3))] if weights else [])])
    return ["voter", "w", "x", "y", "z", *(["count"] if weights else [])], table


def score_rows(count: int, seed: int = 4) -> tuple[list[str], list[list[object]]]:
    rng = np.random.default_rng(seed)
    table = [[None if rng.random() < 0.1 else float(rng.integers(9)) / 4 for _ in range(3)] for _ in range(count)]
    return ["p", "q", "r"], table  # type: ignore[return-value]


def multi_way(count: int, seed: int = 6) -> tuple[list[str], list[list[object]]]:
    rng = np.random.default_rng(seed)
    table: list[list[object]] = []
    for _ in range(count):
        ids = rng.choice(5, size=3).tolist()
        ranks = [None if rng.random() < 0.1 else int(rank) for rank in rng.integers(1, 4, size=3)]
        table.append([*(f"s{k}" for k in ids), *ranks])
    return [*(f"system{k}Id" for k in (1, 2, 3)), *(f"system{k}rank" for k in (1, 2, 3))], table


FORMS = {
    "battles": (battles(400), {}),
    "battles, both bad dropped": (battles(400), {"both_bad": "drop"}),
    "battles with weights": (battles(300, weights=True), {}),
    "positions": (positions(300), {"repeated": "first"}),
    "positions, observed": (positions(300), {"repeated": "first", "unlisted": "observed"}),
    "ranks": (rank_rows(200), {"format": "rank-columns"}),
    "ranks with weights": (rank_rows(200, weights=True), {"format": "rank-columns"}),
    "ranks, observed": (rank_rows(200), {"format": "rank-columns", "unlisted": "observed"}),
    "scores": (score_rows(200), {}),
    "low scores": (score_rows(200), {"format": "score-columns", "lower_is_better": True}),
    "judgements": (multi_way(200), {"repeated": "first"}),
    "pair counts": ((["i", "j", "wins_i", "wins_j", "ties"], [["a", "b", 3, 2, 1], ["b", "c", 1, 0, 4],
                                                               ["b", "a", 2, 2, 0], ["b", "c", 1, 0, 4]]), {}),
}  # fmt: skip


def in_large(path: object, **options: object) -> hr.Votes:
    form = options.pop("format", None)
    votes = read_large(path, form, ReadOptions(**options))
    assert votes is not None, "left to the reader for memory"
    return votes


def same_notes(notes: tuple[str, ...]) -> list[str]:
    return sorted(note for note in notes if not note.startswith("rarely named"))


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("form", FORMS)
def test_large_files_are_read_as_small_ones(tmp_path, form, kind):
    (header, table), options = FORMS[form]
    path = write(tmp_path, kind, header, table)
    expected = read_votes(path, **options)
    found = in_large(path, **options)
    assert found.items == expected.items
    assert found.total == pytest.approx(expected.total, rel=1e-15)
    assert sorted(found.notes) == sorted(expected.notes)
    assert found.reading == expected.reading
    np.testing.assert_array_equal(found.ranks, expected.ranks)
    if "weights" in form:
        np.testing.assert_allclose(found.wins(), expected.wins(), rtol=0, atol=1e-15 * expected.total)
    else:
        np.testing.assert_array_equal(found.wins(), expected.wins())
        assert form.endswith("scores") or found == expected  # mean scores agree up to rounding

    counts = hr.count_pairs(path, **options)
    assert counts.items == expected.items
    np.testing.assert_allclose(counts.wins(), expected.wins(), rtol=0, atol=1e-15 * expected.total)
    assert counts.total == pytest.approx(expected.total)
    missing = set(same_notes(expected.notes)) - set(same_notes(counts.notes))
    if form in ("battles with weights", "pair counts"):  # counts know no result that nobody voted for
        missing = {note for note in missing if "with weight 0" not in note and "pairs of items" not in note}
    assert not missing


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("pair counts", "battles with weights")])
def test_parts_of_files_add_up_to_the_whole(tmp_path, form, kind, monkeypatch):
    """Files in parts on an executor, and rows too different to be counted first, give what one pass gives."""
    (header, table), options = FORMS[form]
    if not form.startswith(("ranks", "low scores")):
        whole_file = write(tmp_path, kind, header, table, "all")
        options = {**options, "format": read_votes(whole_file, **options).reading.format}
    third = len(table) // 3
    for number, part in enumerate((table[:third], table[third : 2 * third], table[2 * third :])):
        write(tmp_path, kind, header, part, f"part{number}")
    pattern = str(tmp_path / f"part*.{kind}")
    whole = hr.count_pairs(pattern, **options)
    monkeypatch.setattr(rows.parts_of, "__defaults__", (29,))
    with ThreadPoolExecutor(3) as executor:
        spread = hr.count_pairs(pattern, executor=executor, **options)
    assert spread == whole
    assert spread.items == whole.items
    assert same_notes(spread.notes) == same_notes(whole.notes)
    assert spread.reading == whole.reading

    monkeypatch.setattr(rows, "MOST_CELLS", dict.fromkeys(rows.MOST_CELLS, 8))
    monkeypatch.setattr(rows, "_CELLS_AT_A_TIME", 60)
    streamed = hr.count_pairs(pattern, **options)
    assert streamed == whole
    assert streamed.items == whole.items
    assert same_notes(streamed.notes) == same_notes(whole.notes)


@pytest.mark.parametrize("head", [False, True])
def test_ballots_of_json_lines(tmp_path, head, monkeypatch):
    orders = [["a", "b", "c"], ["b", ["a", "c"]], ["c"], ["a", "b", "c"], ["b", "b"], []]
    lines = [{"voter": k, "order": orders[k % 6], "weight": 1 + k % 3} for k in range(60)]
    lines += [{"ranks": {"a": 2, "b": 1.5, "d": None}}]
    if head:
        lines.insert(0, {"items": ["c", "b", "a", "d"], "unlisted": "observed"})
    path = tmp_path / "ballots.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    expected = read_votes(path, repeated="first")
    found = in_large(path, repeated="first")
    assert found == expected
    assert (found.notes, found.reading) == (expected.notes, expected.reading)
    monkeypatch.setattr(rows, "MOST_CELLS", dict.fromkeys(rows.MOST_CELLS, 8))
    monkeypatch.setattr(rows, "_CELLS_AT_A_TIME", 40)
    counts = hr.count_pairs(path, repeated="first")
    assert counts == PairCounts.from_votes(expected)
    with pytest.raises(hr.UsageError, match="are ballots"):
        in_large(path, format="battles")


def test_json_ballots_that_declare_different_items_are_refused(tmp_path):
    for number, items in enumerate((["a", "b"], ["a", "c"])):
        text = json.dumps({"items": items}) + "\n" + json.dumps({"order": items}) + "\n"
        (tmp_path / f"{number}.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(hr.InputError, match="different items"):
        read_votes(str(tmp_path / "*.jsonl"))


def test_what_does_not_fit_becomes_comparisons(tmp_path, monkeypatch):
    header, table = rank_rows(200)
    path = write(tmp_path, "parquet", header, table)
    expected = read_votes(path, format="rank-columns")
    monkeypatch.setattr(rows, "MOST_CELLS", dict.fromkeys(rows.MOST_CELLS, 8))
    votes = in_large(path, format="rank-columns")
    np.testing.assert_array_equal(votes.wins(), expected.wins())
    assert votes.unlisted == "observed"
    assert votes.is_counts
    assert any("are kept as" in note and "attacks are about comparisons" in note for note in votes.notes)
    assert hr.kemeny(votes).ranking == hr.kemeny(expected).ranking


def test_patterns_and_large_files_go_to_duckdb(tmp_path, monkeypatch):
    header, table = battles(200)
    expected = read_votes(write(tmp_path, "parquet", header, table, "all"))
    (tmp_path / "parts").mkdir()
    for number in range(4):
        write(tmp_path / "parts", "parquet", header, table[number * 50 : number * 50 + 50], f"b{number}")
    votes = read_votes(str(tmp_path / "parts" / "*.parquet"))
    assert votes == expected
    assert votes.notes == expected.notes
    assert votes.reading.choices["files"].startswith("4, from ")
    assert len(votes.reading.sha256) == 64
    assert hr.validate(str(tmp_path / "parts" / "*.parquet")).votes == expected
    steps: list[hr.Step] = []
    monkeypatch.setattr(sniff, "LARGE_PARQUET", 10)
    assert read_votes(tmp_path / "all.parquet", progress=steps.append) == expected
    assert read_votes(tmp_path / "all.parquet").reading == expected.reading


def test_the_command_line_takes_patterns(tmp_path, command_line):
    header, table = battles(100)
    for number in range(2):
        write(tmp_path, "csv", header, table[number * 50 : number * 50 + 50], f"b{number}")
    code, out, _ = command_line("rank", str(tmp_path / "b*.csv"), "--json", "-q")
    assert code == 0
    assert json.loads(out)["votes"]["ballots"] == read_votes(str(tmp_path / "b*.csv")).total


def test_a_file_whose_name_has_signs_of_a_pattern(tmp_path, monkeypatch):
    header, table = battles(50)
    path = write(tmp_path, "parquet", header, table, "year=3 [1]*")
    write(tmp_path, "parquet", header, table, "year=3 1x")
    monkeypatch.setattr(sniff, "LARGE_PARQUET", 10)
    assert read_votes(path).total == read_votes(path, weight=None).total < 51


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("model_a,model_b,winner\nx,y,a\nx,y,perhaps\n", "'perhaps' 1 time", 3),
        ("model_a,model_b,winner\nx,y,a\nx,,b\n", "an item has no name", 3),
        ("model_a,model_b,winner,weight\nx,y,a,1\nx,z,b,-2\n", "missing, negative or too large", 3),
        ("model_a,model_b,winner,weight\nx,y,a,1\nx,z,b,two\n", "is not a weight", 3),
        ("model_a,model_b,winner\nx,y,a\nx,y\n", "DuckDB cannot read it", None),
        ("rank1,rank2\na,b\nb,b\n", "names an item twice", 3),
    ],
)
def test_faults_name_the_file_and_the_line(tmp_path, text, message, line):
    (tmp_path / "a.csv").write_text(text.split("\n")[0] + "\n" + text.split("\n")[1] + "\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text(text, encoding="utf-8")
    for source in (str(tmp_path / "*.csv"), [tmp_path / "b.csv"]):
        with pytest.raises(hr.InputError, match=message) as caught:
            hr.count_pairs(source)
        if line is not None:
            assert (Path(caught.value.source).name, caught.value.line) == ("b.csv", line)


def test_small_weights_add_up_as_they_do_in_memory(tmp_path):
    header = ["rank1", "rank2", "weight"]
    for least in (0.001, 1e-6, 3e-7):
        rows = [["x", "y", 0.7 * least], ["y", "x", 5 * least], ["x", "y", 0.1], ["x", "y", 0.2]]
        path = write(tmp_path, "csv", header, rows)
        assert hr.read_votes(str(tmp_path / "v*.csv")) == hr.read_votes(path)
    path = write(tmp_path, "csv", header, [["x", "y", 1e-9], ["y", "x", 3e-10]])
    assert hr.read_votes(str(tmp_path / "v*.csv")).weights == pytest.approx(hr.read_votes(path).weights, rel=1e-12)
    path = write(tmp_path, "csv", header, [["x", "y", 1], ["y", "x", 1e-12]])
    assert hr.read_votes(path).distinct == 2
    with pytest.raises(hr.UsageError, match=r"a weight of 1e-12 is too small to be added up without loss; to repair"):
        hr.read_votes(str(tmp_path / "v*.csv"))
    path = write(tmp_path, "csv", header, [["x", "y", 0], ["y", "x", 1]])
    assert hr.read_votes(str(tmp_path / "v*.csv")) == hr.read_votes(path)


def test_weights_beyond_all_sums_are_too_many_votes(tmp_path):
    write(tmp_path, "csv", ["rank1", "rank2", "weight"], [["x", "y", 2**46]] * 100)
    with pytest.raises(hr.InputError, match="more votes than can be counted exactly"):
        hr.read_votes(str(tmp_path / "v*.csv"))


def test_a_file_that_only_begins_like_json_is_not_read_as_a_table(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("{u\n1\n", encoding="utf-8")
    for source in (str(tmp_path / "v*.csv"), path):
        with pytest.raises(hr.InputError, match=r"votes.csv, line 1: the line is not JSON"):
            hr.read_votes(source)
    with pytest.raises(hr.InputError, match=r"votes.csv, line 1: the line is not JSON"):
        hr.count_pairs(path)


def test_lines_of_json_may_end_with_any_blank(tmp_path):
    path = tmp_path / "votes.jsonl"
    path.write_text('{"order": ["a", "b"]}\n\t{"order": ["b", "a"]} \v\f\n', encoding="utf-8")
    votes = hr.read_votes(str(tmp_path / "v*.jsonl"))
    assert votes == hr.read_votes(path)
    assert votes.total == 2


def test_weights_that_are_no_plain_numbers_are_refused(tmp_path):
    path = tmp_path / "w.jsonl"
    rows_ = [{"model_a": "x", "model_b": "y", "winner": "a", "weight": w} for w in (1, "2", True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows_), encoding="utf-8")
    with pytest.raises(hr.InputError, match="not a plain number") as caught:
        in_large(path)
    assert caught.value.line == 3


def test_files_must_be_alike(tmp_path):
    write(tmp_path, "csv", ["model_a", "model_b", "winner"], [["x", "y", "a"]], "a")
    write(tmp_path, "csv", ["left", "right", "winner"], [["x", "y", "left"]], "b")
    with pytest.raises(hr.InputError, match="not alike"):
        read_votes(str(tmp_path / "*.csv"))
    write(tmp_path, "jsonl", ["model_a", "model_b", "winner"], [["x", "y", "a"]], "c")
    with pytest.raises(hr.InputError, match="not alike"):
        read_votes(str(tmp_path / "[ac].*"))
    with pytest.raises(hr.InputError, match="no file has such a name"):
        read_votes(str(tmp_path / "nothing*.csv"))


def test_what_duckdb_cannot_read_is_refused_or_left_to_the_usual_reader(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("voter,item,rank\na,x,1\na,y,2\nb,y,1\n", encoding="utf-8")
    assert read_large(path, None, ReadOptions()) is None
    with pytest.raises(hr.UsageError, match="long-ranks is read from one file, in memory"):
        read_votes(str(tmp_path / "lon*.csv"))
    with pytest.raises(hr.UsageError, match=r"PairCounts\.from_votes"):
        hr.count_pairs(path)
    assert read_large(path, None, ReadOptions(encoding="latin-1")) is None
    assert read_large(path, None, ReadOptions(header=2)) is None
    assert read_large(path, None, ReadOptions(short_rows="fill")) is None
    assert read_large(path, None, ReadOptions(sheet="one")) is None
    (tmp_path / "short.csv").write_text("model_a,model_b,winner\nx,y,a\nx,y\n", encoding="utf-8")
    assert read_large(tmp_path / "short.csv", None, ReadOptions()) is None
    with pytest.raises(hr.InputError, match="DuckDB cannot read it"):
        read_votes(str(tmp_path / "shor*.csv"))
    (tmp_path / "votes.soc").write_text("# TITLE: x\n# NUMBER ALTERNATIVES: 1\n", encoding="utf-8")
    assert read_large(tmp_path / "votes.soc", None, ReadOptions()) is None
    (tmp_path / "empty.csv").write_text("model_a,model_b,winner\n", encoding="utf-8")
    with pytest.raises(hr.InputError, match="no rows below the header"):
        hr.count_pairs(tmp_path / "empty.csv")
    (tmp_path / "blank.csv").write_text("rank1,rank2\n-,-\nNA,\n", encoding="utf-8")
    for read in (in_large, hr.count_pairs):
        with pytest.raises(hr.InputError, match="nothing to aggregate"):
            read(tmp_path / "blank.csv")
    (tmp_path / "bad.jsonl").write_text('{"model_a": "x"}\n[1]\n', encoding="utf-8")
    with pytest.raises(hr.InputError, match="not a JSON object"):
        hr.count_pairs(tmp_path / "bad.jsonl")
    (tmp_path / "deep.jsonl").write_text('{"model_a": ["x"], "model_b": "y", "winner": "a"}\n', encoding="utf-8")
    with pytest.raises(hr.InputError, match="itself a list"):
        hr.count_pairs(tmp_path / "deep.jsonl")


def test_rows_of_a_large_file_must_all_look_like_the_first(tmp_path, monkeypatch):
    header = ["a", "b", "c"]
    table: list[list[object]] = [[1, 2, 3], [3, 1, 2]] * 20 + [[9, 9, 4], [5, 9, 9]] * 20
    path = write(tmp_path, "parquet", header, table)
    monkeypatch.setattr(rows, "_HEAD", 40)
    with pytest.raises(hr.InputError, match="look like score-columns"):
        in_large(path)
    assert in_large(path, format="score-columns").total == 80


def test_a_part_cannot_tell_codes_from_names(tmp_path):
    table: list[list[object]] = [["b", "a", "a"], ["a", "c", "tie"], ["c", "d", "c"]]
    path = write(tmp_path, "csv", ["model_a", "model_b", "winner"], table)
    assert hr.count_pairs(path).wins()[1, 0] == 1  # names alone explain all rows
    with ThreadPoolExecutor(1) as executor, pytest.raises(hr.InputError, match="both a code and the name"):
        hr.count_pairs(path, executor=executor)


def test_arguments_of_count_pairs(tmp_path):
    path = write(tmp_path, "csv", *battles(20))
    for arguments, message in (
        ({"format": "nonsense"}, "there is no format"),
        ({"colour": "red"}, "no option colour="),
        ({"executor": 3}, "executor must"),
        ({"executor": ThreadPoolExecutor(1), "scheduler": "tcp://x"}, "either a scheduler or an executor"),
    ):
        with pytest.raises(hr.UsageError, match=message):
            hr.count_pairs(path, **arguments)
    with pytest.raises(hr.UsageError, match="no source"):
        hr.count_pairs([])
    twice = hr.count_pairs([path, path])
    assert twice == hr.count_pairs(path) + hr.count_pairs(path)
    assert twice.total == 2 * hr.count_pairs(path).total


def test_a_long_count_tells_how_far_it_is_and_leaves_nothing_behind():
    steps: list[hr.Step] = []
    with scan.Engine(steps.append) as engine:
        assert engine.folder.is_dir()
        slow = "SELECT count(*) FROM range(60000000) a WHERE hash(a.range) % 7 = 0"
        assert engine.rows(slow, "", "counting")[0][0] > 0
        with pytest.raises(hr.InputError, match="cannot read it"):
            engine.rows("SELECT nonsense", "file", "counting")
        folder = engine.folder
    assert not folder.exists()
    assert all(0 <= step.done <= step.total for step in steps)

    def interrupt(_: hr.Step) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), scan.Engine(interrupt) as engine:
        engine.rows("SELECT sum(hash(a.range + b.range) % 7) FROM range(100000) a, range(100000) b", "", "counting")
    with scan.Engine(memory="20MB") as engine, pytest.raises(hr.LimitError, match="more memory"):
        engine.rows("SELECT list(range) FROM range(20000000)", "file")


def test_a_missing_extra_is_named(tmp_path):
    script = """
import sys
sys.modules["duckdb"] = None
import holdrank as hr
from holdrank.files import sniff
sniff.LARGE_TEXT = sniff.LARGE_PARQUET = 10
print(hr.read_votes("a.csv").total)
for call in (lambda: hr.read_votes("*.csv"), lambda: hr.count_pairs("a.csv")):
    try:
        call()
    except hr.MissingExtraError as error:
        print(error)
"""
    (tmp_path / "a.csv").write_text("model_a,model_b,winner\nx,y,a\n", encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=True)
    need = "counting large vote files needs duckdb; to repair: pip install 'holdrank[io]'\n"
    assert done.stdout == "1.0\n" + 2 * need


# Pair counts.


def ballots(seed: int, unlisted: str = "bottom", items: str = "abcde") -> hr.Votes:
    """Ballots over some of the items, so that parts know different ones."""
    rng = np.random.default_rng(seed)
    known = rng.permutation(list(items))[: rng.integers(2, len(items) + 1)]
    orders = [rng.permutation(known)[: rng.integers(1, len(known) + 1)].tolist() for _ in range(6)]
    return hr.Votes.from_orders(orders, weights=rng.integers(1, 5, size=6), unlisted=unlisted)  # type: ignore[arg-type]


@pytest.mark.parametrize("unlisted", ["bottom", "observed"])
@pytest.mark.parametrize("seed", range(12))
def test_counts_add_up_in_any_order_and_grouping(seed, unlisted):
    votes = [ballots(3 * seed + k, unlisted) for k in range(3)]
    a, b, c = map(PairCounts.from_votes, votes)
    assert (a + b) + c == a + (b + c) == sum([c, a, b])
    assert a + b == b + a
    assert hash(a + b) == hash(b + a)
    together = [[[votes_.items[i] for i in bucket] for bucket in _buckets(row)]
                for votes_ in votes for row in votes_.ranks]  # fmt: skip
    weights = np.concatenate([votes_.weights for votes_ in votes])
    whole = hr.Votes.from_orders(together, weights=weights, unlisted=unlisted)
    assert PairCounts.from_votes(whole) == a + b + c


def _buckets(row: np.ndarray) -> list[np.ndarray]:
    return [np.flatnonzero(row == rank) for rank in range(1, row.max() + 1)]


def test_counts_are_not_equal_to_others():
    a = PairCounts.from_votes(hr.Votes.from_orders([["a", "b"]]))
    assert a != PairCounts.from_votes(hr.Votes.from_orders([["b", "a"]]))
    assert a != PairCounts.from_votes(hr.Votes.from_orders([["a", "c"]]))
    assert a != PairCounts.from_votes(hr.Votes.from_orders([["a", "b"]], weights=[2]))
    assert a != 3
    with pytest.raises(TypeError):
        a + 3
    with pytest.raises(hr.UsageError, match="do not add up"):
        a + PairCounts.from_votes(hr.Votes.from_orders([["a", "b"]], unlisted="observed"))
    heavy = PairCounts.from_votes(hr.Votes.from_orders([["a", "b"]], weights=[2**46]))
    with pytest.raises(hr.LimitError, match="more than can be counted"):
        heavy + heavy
    with pytest.raises(hr.UsageError, match="from_votes takes Votes"):
        PairCounts.from_votes(a)


@pytest.mark.parametrize("seed", range(6))
def test_rules_of_pairs_take_counts_for_votes(seed):
    votes = hr.sample_votes(hr.Mallows(range(6), 0.8), 40, rng=seed)
    counts = PairCounts.from_votes(votes)
    assert counts.compares_all
    np.testing.assert_array_equal(counts.pairwise(), votes.pairwise())
    merges = hr.Robust(hr.kemeny, 0.05), hr.Robust(hr.kemeny, 0.1, "smith")
    for rule in (hr.kemeny, hr.copeland, hr.bradley_terry, *merges):
        mine, theirs = rule(counts), rule(votes)
        assert (mine.ranking, mine.unique) == (theirs.ranking, theirs.unique)
        assert (mine.loss, mine.bound) == (theirs.loss, theirs.bound)
    assert hr.borda(counts).ranking == hr.borda(votes).ranking
    assert hr.borda(counts).distance == "kendall"
    assert hr.borda(counts).status is hr.Status.SORTED
    assert hr.kemeny_optima(counts) == hr.kemeny_optima(votes)
    assert hr.kemeny(counts.as_votes()).ranking == hr.kemeny(votes).ranking


def test_rules_of_ballots_refuse_counts():
    counts = PairCounts.from_votes(ballots(1, "observed"))
    assert not counts.compares_all
    assert hr.borda(counts).status is hr.Status.SCORED
    for call in (hr.footrule, hr.mean_score, hr.bootstrap, hr.tradeoff, hr.Robust(hr.kemeny, "auto"),
                 hr.Robust(hr.footrule, 0.1)):  # fmt: skip
        with pytest.raises(hr.UsageError, match=r"needs ballots.*as_votes"):
            call(counts)
    with pytest.raises(hr.UsageError):
        hr.attack(counts, hr.kemeny, hr.NewWinner())
    with pytest.raises(hr.UsageError, match="takes a Ranking"):
        counts.loss([1, 2])
    with pytest.raises(hr.UsageError, match="the counts have"):
        counts.loss(hr.Ranking([1]))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("unlisted", ["bottom", "observed"])
def test_counts_as_votes_have_the_same_wins(seed, unlisted):
    counts = PairCounts.from_votes(ballots(seed, unlisted))
    votes = counts.as_votes()
    np.testing.assert_array_equal(votes.wins(), counts.wins())
    assert votes.is_counts
    assert votes.items == counts.items
    assert votes.total == counts.wins().sum()


def test_battles_as_counts_and_back_need_no_word(tmp_path):
    votes = read_votes(write(tmp_path, "csv", *battles(100)))
    again = PairCounts.from_votes(votes).as_votes()
    assert again.total == votes.total
    assert not any("comparisons of two items" in note for note in again.notes)
    assert hr.kemeny(again).loss == hr.kemeny(votes).loss


def test_too_many_comparisons_for_ballots_are_refused(monkeypatch):
    monkeypatch.setattr("holdrank.votes.pairs.MAX_CELLS", 10)
    with pytest.raises(hr.LimitError, match="too many to be ballots"):
        PairCounts.from_votes(ballots(1)).as_votes()


def test_counts_from_a_matrix():
    counts = PairCounts.from_wins([[0, 3], [1.5, 0]])
    assert (counts.items, counts.total, counts.is_counts) == (("0", "1"), 4.5, False)
    for wins, message in (
        ([[0, 1]], "square"),
        ([[1, 1], [0, 0]], "zero on the diagonal"),
        ([[0, -1], [0, 0]], "not negative"),
        ([[0, np.nan], [0, 0]], "finite"),
        ([[0, 0], [0, 0]], "above 0"),
    ):
        with pytest.raises(hr.UsageError, match=message):
            PairCounts.from_wins(wins)
    with pytest.raises(hr.UsageError, match="more often than there are votes"):
        PairCounts.from_wins([[0, 3], [1, 0]], total=2)


def test_counts_are_saved_and_loaded(tmp_path):
    counts = hr.count_pairs(write(tmp_path, "csv", *positions(200)), repeated="first")
    counts.save(tmp_path / "counts.npz")
    again = PairCounts.load(tmp_path / "counts.npz")
    assert again == counts
    assert (again.items, again.notes, again.reading) == (counts.items, counts.notes, counts.reading)
    assert again + again == counts + counts
    assert (again + counts).notes == (counts + counts).notes
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".csv"] == ["counts.npz"]
    copy = pickle.loads(pickle.dumps(counts))
    assert copy == counts
    assert copy.notes == counts.notes
    with pytest.raises(ValueError, match="read-only"):
        again.wins()[0, 0] = 1
    with pytest.raises(hr.UsageError, match="cannot be written"):
        counts.save(tmp_path / "nowhere" / "counts.npz")


def test_counts_that_cannot_be_written_leave_the_old_ones(tmp_path, monkeypatch):
    counts = PairCounts.from_votes(ballots(1))
    counts.save(tmp_path / "counts.npz")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(hr.UsageError, match="No space left"):
        PairCounts.from_votes(ballots(2)).save(tmp_path / "counts.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["counts.npz"]
    assert PairCounts.load(tmp_path / "counts.npz") == counts


def test_sums_tell_their_sources(tmp_path):
    paths = [write(tmp_path, "csv", *battles(10, seed), f"day{seed}") for seed in range(20)]
    two = hr.count_pairs(paths[:2])
    assert two.reading.source == f"{paths[0]}, {paths[1]}"
    assert two.reading.format == "battles"
    assert "format" in two.reading.choices
    assert len(hr.count_pairs(paths).reading.source) <= 400


def hostile(folder: Path, **changes: object) -> Path:
    """Write counts of which some part was changed."""
    counts = PairCounts.from_votes(hr.Votes.from_orders([["a", "b"]], weights=[4]))
    counts.save(folder / "good.npz")
    with np.load(folder / "good.npz") as good:
        parts = {name: good[name] for name in good.files}
    head = json.loads(parts["head"].tobytes())
    arrays = {name: changes.pop(name) for name in list(changes) if name in parts}
    drop = changes.pop("drop", None)
    head |= changes
    parts["head"] = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
    parts |= arrays
    parts.pop(drop, None)
    np.savez(folder / "bad.npz", **parts)
    return folder / "bad.npz"


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "something else"},
        {"version": 99},
        {"total": -1},
        {"total": float("nan")},
        {"total": True},
        {"total": 3},
        {"items": ["a"]},
        {"items": ["a", "a"]},
        {"items": ["a", 2]},
        {"items": "ab"},
        {"unlisted": "top"},
        {"said": [[["ballot"], 3]]},
        {"said": [[["a", "b"], {"": 1}]]},
        {"reading": ["x"]},
        {"wins": np.zeros((3, 3))},
        {"wins": np.array([[0.0, -1.0], [0.0, 0.0]])},
        {"wins": np.array([[1.0, 1.0], [0.0, 0.0]])},
        {"wins": np.frombuffer(b"\0\0\0\0\0\0\xf6\xff" + bytes(24)).reshape(2, 2)},  # a number that is none, twice over
        {"wins": np.array([[0.0, np.inf], [0.0, 0.0]])},
        {"wins": np.array([[0, 1], [0, 0]])},
        {"wins": np.array([[None, 1], [0, 0]], dtype=object)},
        {"listed": np.array([9.0, 1.0])},
        {"head": np.frombuffer(b"[1]", dtype=np.uint8)},
        {"head": np.frombuffer(b"{", dtype=np.uint8)},
        {"head": np.frombuffer(b"[" * 100_000, dtype=np.uint8)},
        {"drop": "wins"},
    ],
)
def test_hostile_files_of_counts_are_refused(tmp_path, changes):
    with pytest.raises(hr.InputError):
        PairCounts.load(hostile(tmp_path, **changes))


def test_files_that_are_no_counts_are_refused(tmp_path):
    for content in (b"", b"PK\x03\x04 nonsense", b"model_a,model_b\n"):
        (tmp_path / "x.npz").write_bytes(content)
        with pytest.raises(hr.InputError):
            PairCounts.load(tmp_path / "x.npz")
    with pytest.raises(hr.InputError, match="no such file"):
        PairCounts.load(tmp_path / "missing.npz")
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("head.npy", bytes(1 << 27))
    with pytest.raises(hr.InputError, match="takes"):
        PairCounts.load(tmp_path / "bomb.npz")
    # A header that promises more than the file holds must not make room for it.
    header = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little")
    header += b"{'descr': '|u1', 'fortran_order': False, 'shape': (1099511627776,), }".ljust(117) + b"\n"
    with zipfile.ZipFile(tmp_path / "liar.npz", "w") as archive:
        archive.writestr("head.npy", header)
    with pytest.raises(hr.InputError, match="cut short"):
        PairCounts.load(tmp_path / "liar.npz")
    counts = PairCounts.from_votes(hr.Votes.from_orders([["a", "b"]]))
    counts.save(tmp_path / "good.npz")
    data = bytearray((tmp_path / "good.npz").read_bytes())
    for at in range(0, len(data), 7):
        broken = data.copy()
        broken[at] ^= 0xFF
        (tmp_path / "broken.npz").write_bytes(broken)
        try:
            PairCounts.load(tmp_path / "broken.npz")
        except hr.HoldrankError:
            continue


def test_counts_of_many_items_that_hardly_anybody_compared_are_not_packed(tmp_path, monkeypatch):
    monkeypatch.setattr("holdrank.votes.pairs._SMALL_MATRIX", 1 << 20)
    wins = np.zeros((400, 400))
    wins[0, 1] = 5
    counts = PairCounts.from_wins(wins, [f"i{k}" for k in range(400)])
    counts.save(tmp_path / "counts.npz")
    assert (tmp_path / "counts.npz").stat().st_size > wins.nbytes
    assert PairCounts.load(tmp_path / "counts.npz") == counts
    PairCounts.from_wins(wins[:300, :300], counts.items[:300]).save(tmp_path / "small.npz")
    assert (tmp_path / "small.npz").stat().st_size < 10_000

    # Names that are all but the same are packed to hardly anything.
    alike = PairCounts.from_wins(wins[:300, :300], ["x" * 1000 + str(k) for k in range(300)])
    alike.save(tmp_path / "alike.npz")
    assert PairCounts.load(tmp_path / "alike.npz") == alike
    # Whatever is packed how well: what was written can be read.
    rng = np.random.default_rng(1)
    for count in range(0, 4000, 250):
        some = np.zeros((400, 400))
        some[rng.integers(0, 200, count), rng.integers(200, 400, count)] = rng.random(count)
        tried = PairCounts.from_wins(some, counts.items, total=500)
        tried.save(tmp_path / "tried.npz")
        assert PairCounts.load(tmp_path / "tried.npz") == tried

    with np.load(tmp_path / "counts.npz") as saved:
        np.savez_compressed(tmp_path / "packed.npz", **saved)
    with pytest.raises(hr.InputError, match=r"wins takes 1,280,128 bytes"):
        PairCounts.load(tmp_path / "packed.npz")
    # An archive that says to be packed less than it is.
    packed = bytearray((tmp_path / "packed.npz").read_bytes())
    with zipfile.ZipFile(tmp_path / "packed.npz") as archive:
        size = archive.getinfo("wins.npy").compress_size.to_bytes(4, "little")
    directory = packed.index(b"PK\x01\x02")
    at = packed.index(size, directory)
    packed[at : at + 4] = (1_000_000).to_bytes(4, "little")
    (tmp_path / "liar.npz").write_bytes(packed)
    with zipfile.ZipFile(tmp_path / "liar.npz") as archive:
        assert archive.getinfo("wins.npy").compress_size == 1_000_000
    monkeypatch.setattr("holdrank.votes.pairs._SMALL_MATRIX", 0)
    with pytest.raises(hr.InputError, match=r"wins takes 1,280,128 bytes"):
        PairCounts.load(tmp_path / "liar.npz")


def test_notes_know_what_they_counted():
    one = counted(1, "ballot names", "an item twice", many="ballots name")
    tokens = Note(("cells taken as blank",), {"NA": 2})
    total = added_notes([one, tokens, "plain"], [one, Note(tokens.words, {"-": 1}), "plain"])
    assert total == ["2 ballots name an item twice", "cells taken as blank: 'NA' 2 times, '-' 1 time", "plain"]
    again = pickle.loads(pickle.dumps(one))
    assert isinstance(again, Note)
    assert (again, again.words, again.counts) == (one, one.words, one.counts)


# On a cluster.


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A Dask scheduler and two workers, each a process of its own on this machine."""
    pytest.importorskip("distributed")
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0",
            "--dashboard-address", "127.0.0.1:0", "--no-show", "--scheduler-file", str(file)]  # fmt: skip
    work = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1",
            "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]  # fmt: skip
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths, "TMPDIR": str(folder)}  # who is killed cannot tidy up
    started = [subprocess.Popen(dask, **quiet, env=environment)]
    try:
        for _ in range(300):
            if file.exists():
                break
            time.sleep(0.1)
        started += [subprocess.Popen(work, **quiet, env=environment) for _ in range(2)]
        yield str(file), started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()


def slow_count(*args):
    """Count a part, but take so long that a worker can be lost meanwhile."""
    from holdrank.files import large as bigvotes

    time.sleep(0.5)
    return bigvotes._count_part(*args)


def test_a_cluster_counts_what_one_process_counts(tmp_path, cluster, monkeypatch):
    address, workers = cluster
    header, table = battles(600)
    for number in range(6):
        write(tmp_path, "parquet", header, table[number * 100 : number * 100 + 100], f"b{number}")
    pattern = str(tmp_path / "b*.parquet")
    expected = hr.count_pairs(pattern)
    monkeypatch.setattr(rows.parts_of, "__defaults__", (40,))
    with hr.clusters.connect(address) as executor:
        executor.client.wait_for_workers(2, timeout=60)
    found = hr.count_pairs(pattern, scheduler=address)
    assert found == expected
    assert (found.items, found.total) == (expected.items, expected.total)
    assert same_notes(found.notes) == same_notes(expected.notes)

    # A worker dies in the middle: 18 parts of half a second each, and one of two workers is gone after some.
    from holdrank.files import large as bigvotes

    monkeypatch.setattr(bigvotes, "_count_part", slow_count)
    done: list[hr.Step] = []

    def watch(step: hr.Step) -> None:
        done.append(step)
        if step.done == 3:
            os.kill(workers[0].pid, signal.SIGKILL)

    assert hr.count_pairs(pattern, scheduler=address, progress=watch) == expected
    assert workers[0].wait(10) == -signal.SIGKILL
    assert done[-1] == hr.Step("parts counted", 18, 18)


def test_bounds_that_a_parquet_file_gives_its_numbers_are_not_believed(tmp_path):
    rows_ = [[1, 127, 3.5], [66, 3_801_089, 2.0]]
    path = write(tmp_path, "parquet", ["a", "b", "c"], rows_)
    data = path.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    largest = (3_801_089).to_bytes(8, "little")
    assert largest in data[footer:]
    path.write_bytes(data[:footer] + data[footer:].replace(largest, (127).to_bytes(8, "little")))
    for source in (str(tmp_path / "v*.parquet"), path):
        votes = hr.read_votes(source, format="score-columns")
        assert votes.scores.tolist() == rows_


def test_a_group_of_less_than_no_rows_is_refused(tmp_path):
    import duckdb

    path = tmp_path / "votes.parquet"
    duckdb.sql(
        f"COPY (SELECT 'x' AS model_a, 'y' AS model_b, 'tie' AS winner FROM range(63)) TO '{path}' (FORMAT parquet)"
    )
    data = path.read_bytes()
    at = data.rindex(b"\x16\x7e")  # 63 as the footer writes it, for the last time: as the rows of the group
    path.write_bytes(data[: at + 1] + b"\x7d" + data[at + 2 :])
    told = duckdb.sql(f"SELECT DISTINCT row_group_num_rows FROM parquet_metadata('{path}')").fetchall()
    assert told == [(-63,)]
    for source in (str(tmp_path / "v*.parquet"), path):
        with pytest.raises(hr.InputError, match=r"the Parquet file cannot be read .* found 'a group of -63 rows'"):
            hr.read_votes(source)


def footer(*parts: bytes) -> io.BytesIO:
    """Return a file that ends as Parquet does."""
    told = b"".join(parts)
    return io.BytesIO(b"PAR1" + told + len(told).to_bytes(4, "little") + b"PAR1")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (footer(b"\x19\xfc\xff\xff\xff\x7f\x00"), "268,435,455 things"),  # a list of structures
        (footer(b"\x19\x5c" + b"\x00" * 14), "5 things"),  # of five that have less than three bytes each
        (footer(b"\x19\xf8\x08" + b"\x00" * 4), "8 things"),  # of eight texts in four bytes
        (footer(b"\x1b\x09\x88"), "9 things"),  # a map
        (footer(b"\x1c" * 40), "too deep"),
        (footer(b"\x19\x19" * 40), "too deep"),
        (footer(b"\x18\x05abc"), "cut short"),
        (footer(b"\x16" + b"\xff" * 11), "too many bytes"),
        (footer(b"\x1d\x00"), "type 13"),
        (footer(b"\x15\x02"), "cut short"),
        (io.BytesIO(b"PAR1\x00\x00\x00\x00PARE"), "does not end"),
        (io.BytesIO(b"PAR1\xff\x00\x00\x00PAR1"), "does not end"),
        (io.BytesIO(b"PAR1"), "does not end"),
        (io.BytesIO(b""), "does not end"),
    ],
)
def test_footers_that_say_too_much_are_refused(content, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        check_footer(content)
    if content.getvalue()[:4] == b"PAR1":
        path = tmp_path / "votes.parquet"
        path.write_bytes(content.getvalue())
        for source in (str(tmp_path / "v*.parquet"), path):
            with pytest.raises(hr.InputError, match=f"the Parquet file cannot be read .*{said}"):
                hr.read_votes(source)


def test_footers_of_all_kinds_are_walked_to_their_end(tmp_path):
    sound = b"".join((
        b"\x11\x12",  # true, false
        b"\x13\x07\x14\x02\x15\x80\x01\x06\x08\x16",  # a byte, and numbers, one of a field with a number of its own
        b"\x17" + bytes(8) + b"\x18\x02hi",  # a fraction, a text
        b"\x19\x22\x01\x02\x1a\x15\x08",  # a list of flags, a set of a number
        b"\x1b\x01\x85\x01a\x02\x1b\x00",  # a map of a text to a number, an empty one
        b"\x1c\x15\x02\x00\x19\x1c\x15\x02\x15\x04\x00",  # a structure, a list of one
        b"\x00",
    ))  # fmt: skip
    check_footer(footer(sound))
    for cut in range(len(sound)):
        with pytest.raises(ValueError, match=r"cut short|no room"):
            check_footer(footer(sound[:cut]))
    for rows_of_a_group in (1, 13, 1000):
        path = tmp_path / "v.parquet"
        table = pa.table({"a": range(300), "b": ["x"] * 300, "c": [None, [1.5]] * 150})
        pq.write_table(table, path, row_group_size=rows_of_a_group)
        with path.open("rb") as file:
            check_footer(file)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "xlsx"])
@pytest.mark.parametrize("form", ["score-columns", "score-table", "long-scores"])
def test_voters_keep_their_scores_in_every_file(tmp_path, kind, form):
    rows_ = [[100, 0.5], *[[1, 0.5]] * 7, *[[0, 40]] * 2]
    by_item = [["a", *(row[0] for row in rows_)], ["b", *(row[1] for row in rows_)]]
    by_mark = [[voter, item, score] for voter, row in enumerate(rows_) for item, score in zip("ab", row, strict=True)]
    table = {
        "score-columns": (["a", "b"], rows_),
        "score-table": (["item", *(f"v{k}" for k in range(10))], by_item),
        "long-scores": (["voter", "item", "score"], by_mark),
    }[form]
    if kind == "xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for row in [table[0], *table[1]]:
            book.active.append(row)
        path = tmp_path / "votes.xlsx"
        book.save(path)
    else:
        path = write(tmp_path, kind, *table)
    # A pattern is read by DuckDB, where the form allows it.
    patterns = [str(tmp_path / f"v*.{kind}")] if form == "score-columns" and kind != "xlsx" else []
    for source in (path, *patterns):
        votes = hr.read_votes(source, format=form)
        assert votes.scores.tolist() == [[1, 0.5], [0, 40], [100, 0.5]]
        assert votes.weights.tolist() == [7, 2, 1]
        assert votes == hr.Votes.from_score_rows(rows_, items=["a", "b"])
