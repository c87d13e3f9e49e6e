"""Large votes are read as small ones are: the same rules, counts and notes, in one process or in parts on many."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import holdrank as hr
from holdrank.files import read_votes, sniff
from holdrank.files.large import read_large, rows, scan
from holdrank.files.read_options import ReadOptions
from holdrank.votes.pairs import PairCounts

from vote_tables import battles, multi_way, positions, rank_rows, score_rows, write

pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


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


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert any("are stored as" in note and "attacks count comparisons" in note for note in votes.notes)
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
    assert json.loads(out)["votes"]["total"] == read_votes(str(tmp_path / "b*.csv")).total


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
    with pytest.raises(hr.UsageError, match=r"a weight of 1e-12 is too small to be summed exactly. Fix"):
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
    with pytest.raises(hr.InputError, match="the files differ"):
        read_votes(str(tmp_path / "*.csv"))
    write(tmp_path, "jsonl", ["model_a", "model_b", "winner"], [["x", "y", "a"]], "c")
    with pytest.raises(hr.InputError, match="the files differ"):
        read_votes(str(tmp_path / "[ac].*"))
    with pytest.raises(hr.InputError, match="no file matches the pattern"):
        read_votes(str(tmp_path / "nothing*.csv"))


def test_what_duckdb_cannot_read_is_refused_or_left_to_the_usual_reader(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("voter,item,rank\na,x,1\na,y,2\nb,y,1\n", encoding="utf-8")
    assert read_large(path, None, ReadOptions()) is None
    with pytest.raises(hr.UsageError, match="long-ranks is read only from a single file, in memory"):
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
    with ThreadPoolExecutor(1) as executor, pytest.raises(hr.InputError, match="both a code and an item name"):
        hr.count_pairs(path, executor=executor)


def test_arguments_of_count_pairs(tmp_path):
    path = write(tmp_path, "csv", *battles(20))
    for arguments, message in (
        ({"format": "nonsense"}, "unknown format"),
        ({"colour": "red"}, "no option colour="),
        ({"executor": 3}, "executor must"),
        ({"executor": ThreadPoolExecutor(1), "scheduler": "tcp://x"}, "give a scheduler or an executor"),
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
    with scan.Database(steps.append) as engine:
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

    with pytest.raises(KeyboardInterrupt), scan.Database(interrupt) as engine:
        engine.rows("SELECT sum(hash(a.range + b.range) % 7) FROM range(100000) a, range(100000) b", "", "counting")
    with scan.Database(memory="20MB") as engine, pytest.raises(hr.LimitError, match="more memory"):
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
    need = "counting large vote files needs duckdb. Fix: pip install 'holdrank[io]'\n"
    assert done.stdout == "1.0\n" + 2 * need


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

    time.sleep(0.2)
    return bigvotes._count_part(*args)


@pytest.mark.traced
@pytest.mark.slow
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

    # A worker dies in the middle: 18 parts of a fifth of a second each, and one of two workers is gone after some.
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


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "xlsx"])
@pytest.mark.parametrize("form", ["score-columns", "score-table", "long-scores"])
@pytest.mark.slow
@pytest.mark.traced
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
