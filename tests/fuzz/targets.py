"""What the fuzzer throws bytes at: one function for each reader, which lets nothing but `HoldrankError` pass.

Where bytes are read, the result is looked at too: sound weights and ranks always, and for a sample of the inputs that a
second way to the same votes gives the same votes. A target that raises anything has found a bug.
"""

from __future__ import annotations

import atexit
import io
import json
import math
import os
import re
import shutil
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from holdrank.analysis.analyse import analyse
from holdrank.analysis.result import Analysis
from holdrank.analysis.spec import Spec
from holdrank.attacks.goals import claimed, goal_against
from holdrank.errors import HoldrankError
from holdrank.files import read_votes, validate, write_votes
from holdrank.files.containers.parquet import BELIEVERS
from holdrank.files.preflib import reader as preflib
from holdrank.parallel.checkpoints import Checkpoint
from holdrank.rankings import Ranking
from holdrank.votes.forms.table import MAX_WEIGHT
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes

MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None  # a folder that is no disk, where there is one


class Named(io.BytesIO):
    """Bytes with the name of a file, whose extension readers look at."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


@cache
def folder() -> Path:
    """Return a folder of this process for files that have to be files."""
    made = tempfile.mkdtemp(prefix="holdrank-fuzz-", dir=MEMORY)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def one_of(share: int, data: bytes) -> bool:
    """Whether an input belongs to a sample of one in `share`, always the same one."""
    return zlib.crc32(data) % share == 0


# ------------------------------------------------------------------------------------------------- what must hold


def expect_plain(error: HoldrankError) -> None:
    """Hold a message against what a terminal can show: one line without control characters."""
    assert str(error).isprintable()


def check_votes(votes: Votes) -> None:
    """Hold votes against what their class promises."""
    m, n = votes.ranks.shape
    assert len(votes.items) == n > 0
    assert len(set(votes.items)) == n
    assert all(isinstance(name, str) and name.strip() for name in votes.items)
    assert votes.weights.shape == (m,)
    assert np.isfinite(votes.weights).all()
    assert (votes.weights > 0).all()
    assert votes.weights.sum() <= MAX_WEIGHT
    assert votes.unlisted in ("bottom", "observed")
    places = np.arange(1, n + 1)
    for row in votes.ranks[:50]:
        used = np.unique(row[row != 0])
        assert 0 < len(used) <= n
        assert np.array_equal(used, places[: len(used)])
    if votes.scores is not None:
        assert votes.scores.shape == (m, n)
        assert np.array_equal(np.isnan(votes.scores), votes.ranks == 0)
    votes.summary().encode("utf-8")


def check_round_trip(votes: Votes) -> None:
    """Write votes and read them back: nothing but the scores may be lost."""
    bare = Votes.from_ranks(votes.ranks, votes.weights, votes.items, unlisted=votes.unlisted)
    for name, format in (("back.jsonl", None), ("back.txt", "preflib"), ("back.csv", None)):
        path = folder() / name
        try:
            write_votes(bare, path, format=format)
        except HoldrankError:
            assert format == "preflib" or name == "back.csv"  # these cannot hold all votes; JSON Lines can
            continue
        assert read_votes(path, unlisted=votes.unlisted) == bare


def check_reading(data: bytes, name: str, **options: object) -> None:
    """Read bytes as a file of this name; the votes are sound, and `validate` agrees."""
    try:
        votes = read_votes(Named(data, name), **options)  # type: ignore[arg-type]
    except HoldrankError as error:
        if one_of(10, data):
            expect_plain(error)
            with suppress(HoldrankError):
                assert validate(Named(data, name), **options).total  # type: ignore[arg-type]
        return
    check_votes(votes)
    if one_of(10, data):
        found = validate(Named(data, name), **options)  # type: ignore[arg-type]
        assert found.total == 0
        assert found.votes == votes
    if one_of(50, data):
        check_round_trip(votes)


# ------------------------------------------------------------------------------------------------------- vote files

_EXTENSIONS = (".soc", ".soi", ".toc", ".toi", ".cat", "", ".txt")
_PREFLIB = tuple((ending, format) for ending in _EXTENSIONS for format in (None, "preflib", "preflib-old"))


def fuzz_preflib(data: bytes) -> None:
    """Read PrefLib, old and new; the bulk reader and the careful one agree."""
    ending, format = _PREFLIB[data[0] % len(_PREFLIB)] if data else _PREFLIB[0]
    data = data[1:]
    check_reading(data, f"votes{ending}", format=format)
    if one_of(5, data):
        try:
            votes = read_votes(Named(data, f"votes{ending}"), format=format)
        except HoldrankError:
            return
        with patch.object(preflib, "_read_fast", lambda *_: None):
            assert read_votes(Named(data, f"votes{ending}"), format=format) == votes


def fuzz_sniffed(data: bytes) -> None:
    """Read any text, told by its contents alone."""
    check_reading(data, "votes")


_TABLES = (
    *("positions", "rank-columns", "score-columns", "lists", "long-ranks", "long-scores", "score-table", "battles"),
    *("pair-counts", "multi-way"),
)
_OPTIONS: tuple[dict[str, object], ...] = (
    {},
    {},
    {"header": 0},
    {"short_rows": "fill"},
    {"repeated": "first"},
    {"unlisted": "observed"},
    {"blanks": "x"},
    {"columns": [1, 2, 3, 4]},
    {"encoding": "latin-1"},
    {"encoding": "utf-16"},
    {"lower_is_better": True},
    {"both_bad": "drop"},
)


def fuzz_table(data: bytes) -> None:
    """Read CSV as each form of table, with some of the options."""
    form, extra = (data[0], data[1]) if len(data) > 1 else (0, 0)
    check_reading(data[2:], "votes.csv", format=_TABLES[form % len(_TABLES)], **_OPTIONS[extra % len(_OPTIONS)])


def fuzz_order(data: bytes) -> None:
    """Read text of numbers."""
    check_reading(data, "votes.order")


def fuzz_jsonl(data: bytes) -> None:
    """Read JSON Lines: ballots and records."""
    check_reading(data, "votes.jsonl")


def fuzz_xlsx(data: bytes) -> None:
    """Read bytes that say they are a spreadsheet."""
    check_reading(data, "votes.xlsx")


@cache
def workbook() -> dict[str, bytes]:
    """Return the parts of a small workbook with text, numbers, a date and a truth value in it."""
    import datetime

    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["model_a", "model_b", "winner", "when"], ["x", "y", "model_a", datetime.date(2024, 1, 2)],
                ["y", "z", "tie", 1.5], ["x", "z", "model_b", True]):  # fmt: skip
        sheet.append(row)
    book.create_sheet("second").append(["rank1", "rank2"])
    stream = io.BytesIO()
    book.save(stream)
    with zipfile.ZipFile(stream) as archive:  # without the parts that hold no cells
        return {name: archive.read(name) for name in archive.namelist() if not re.search("theme|docProps|sheet2", name)}


def fuzz_xlsx_part(data: bytes) -> None:
    """Read a sound archive, one of whose parts is anything."""
    parts = dict(workbook())
    name = sorted(parts)[data[0] % len(parts)] if data else ""
    if name:
        parts[name] = data[1:]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for part, content in parts.items():
            archive.writestr(zipfile.ZipInfo(part), content)
    check_reading(stream.getvalue(), "votes.xlsx")


@cache
def _database() -> Any:
    import duckdb

    return duckdb.connect(":memory:", config={"threads": 1, "memory_limit": "1GB", "disabled_optimizers": BELIEVERS})


def one_database() -> Any:
    """Have readers share one DuckDB, for to start one takes ten times as long as to read a small file."""
    import duckdb

    try:
        _database().execute("SELECT 1")
    except duckdb.Error:  # an error inside DuckDB has closed it for good
        _database.cache_clear()
    shared = _database()
    return patch("duckdb.connect", lambda *_, **__: shared.cursor())


def fuzz_parquet(data: bytes) -> None:
    """Read bytes that say they are Parquet."""
    with one_database():
        check_reading(data, "votes.parquet")


_LARGE = (".csv", ".jsonl", ".txt", ".parquet")


def fuzz_large(data: bytes) -> None:
    """Count files by DuckDB, as large ones are; what it reads, the reader for memory reads alike."""
    ending = _LARGE[data[0] % len(_LARGE)] if data else ".csv"
    data = data[1:]
    path = folder() / f"large{ending}"
    path.write_bytes(data)
    with one_database():
        try:
            votes = read_votes(folder() / f"lar*e{ending}")
        except HoldrankError as error:
            expect_plain(error)
            return
        check_votes(votes)
        try:
            same = read_votes(Named(data, str(path)))
        except HoldrankError as error:
            width = re.search(r"the row has (\d+) cells, the header (\d+)", str(error))
            if width and int(width[1]) > int(width[2]):  # DuckDB lets a row end with empty cells too many
                return
            if "is not JSON" in str(error) and re.search(rb",\s*[}\]]", data):  # and a list with a comma too many
                return
            raise AssertionError(f"DuckDB reads what the reader for memory refuses: {error}") from None
        assert (same.items, same.unlisted, same.distinct) == (votes.items, votes.unlisted, votes.distinct)
        # Weights below 2**-22 are rounded to a unit before they are added, and may then stand in another order.
        rows = {row.tobytes(): weight for row, weight in zip(same.ranks, same.weights, strict=True)}
        assert all(
            math.isclose(rows[row.tobytes()], weight, rel_tol=1e-12)
            for row, weight in zip(votes.ranks, votes.weights, strict=True)
        )
        assert same == votes or same.weights.min() < 2**-22


# ----------------------------------------------------------------------------------------------------- other files


def fuzz_analysis(data: bytes) -> None:
    """Read an analysis; what is accepted can be written again, and is the same."""
    try:
        found = Analysis.from_json(data)
    except HoldrankError as error:
        expect_plain(error)
        return
    again = Analysis.from_json(found.to_json().encode("utf-8"))
    assert again.record == found.record
    assert isinstance(found.headline, str)


_ABOUT = ("tradeoff", "0" * 64, {"theta": [0.5], "rule": "kemeny"})


@cache
def checkpoint_header() -> bytes:
    """Return the first line of a checkpoint."""
    path = folder() / "header"
    Checkpoint(path, *_ABOUT).close()
    return path.read_bytes()


def fuzz_checkpoint(data: bytes) -> None:
    """Open a checkpoint, with the right first line or with any; a point that is added is there the next time."""
    path = folder() / "checkpoint"
    path.write_bytes(checkpoint_header() + data[1:] if data[:1] and data[0] % 2 else data[1:])
    try:
        kept = Checkpoint(path, *_ABOUT)
    except HoldrankError as error:
        expect_plain(error)
        return
    with kept:
        kept.add("new point", 1.5)
    with Checkpoint(path, *_ABOUT) as again:
        assert repr(again.points) == repr(kept.points)  # NaN is not equal to itself


def npy(kind: str, shape: tuple[int, ...], data: bytes) -> bytes:
    """Return a file of one array, as numpy writes it."""
    return npy_with(f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}", data)


def npy_with(header: str, data: bytes) -> bytes:
    """Return a file of one array, with any header."""
    padded = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded + data


def fuzz_counts(data: bytes) -> None:
    """Load pair counts: any bytes, or an archive one of whose members is anything."""
    kind = data[0] % 4 if data else 0
    body = data[1:]
    if kind:
        wins = np.zeros((2, 2))
        wins[0, 1] = 3.0
        head = b'{"format":"holdrank pair counts","version":1,"items":["a","b"],"total":5,"unlisted":"bottom",'
        head += b'"said":[],"reading":["memory","","",{}]}'
        members = {"head": npy("|u1", (len(body if kind == 1 else head),), body if kind == 1 else head)}
        members["wins"] = body if kind == 2 else npy("<f8", (2, 2), wins.tobytes())
        members["listed"] = npy("<f8", (2,), body if kind == 3 else np.full(2, 5.0).tobytes())
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content)
        body = stream.getvalue()
    path = folder() / "counts.npz"
    path.write_bytes(body)
    try:
        counts = PairCounts.load(path)
    except HoldrankError as error:
        expect_plain(error)
        return
    assert 0 < counts.total <= MAX_WEIGHT
    assert (counts.wins() >= 0).all()
    repr(counts)
    " ".join(counts.notes)
    if one_of(20, data):
        counts.save(path)
        assert PairCounts.load(path) == counts
        with suppress(HoldrankError):
            check_votes(counts.as_votes())


# ----------------------------------------------------------------------------------------------------------- claims


def fuzz_claim(data: bytes) -> None:
    """Read a claim about items of any names, and turn it against itself."""
    text = data[1:].decode("utf-8", "surrogateescape")
    claim, *names = text.split("\n")
    items = list(dict.fromkeys(name for name in names if name.strip())) or ["a", "b"]
    before = Ranking([1 + (k * (data[0] if data else 0)) % len(items) for k in range(len(items))])
    try:
        said = claimed(claim, items)
        said.aim(before, items)
        goal = goal_against(said, items, before, tiers=one_of(2, data))
    except HoldrankError as error:
        expect_plain(error)
        return
    if goal is not None:
        assert goal.text().isprintable()
        aim = goal.aim(before, items)
        assert not aim.reached(before)
        aim.is_impossible()


# ------------------------------------------------------------------------------------------- all of them, and seeds


@dataclass(frozen=True, slots=True)
class Target:
    """A function to fuzz, the longest input that makes sense, and what is read on the way to it."""

    run: Callable[[bytes], None]
    longest: int
    prefixes: tuple[bytes, ...] = (b"",)
    """What stands before the contents of a file to make it an input."""
    endings: tuple[str, ...] = ()
    """Files of a folder of data that are seeds."""


_ALL_OF_PREFLIB = (".soc", ".soi", ".toc", ".toi", ".cat")
TARGETS = {
    "preflib": Target(fuzz_preflib, 768, tuple(bytes([k]) for k in range(0, 21, 3)), _ALL_OF_PREFLIB),
    "sniffed": Target(fuzz_sniffed, 768, endings=(".csv", *_ALL_OF_PREFLIB, ".jsonl")),
    "table": Target(fuzz_table, 768, tuple(bytes([k, 0]) for k in range(len(_TABLES))), (".csv",)),
    "order": Target(fuzz_order, 512, endings=(".order",)),
    "jsonl": Target(fuzz_jsonl, 768, endings=(".jsonl",)),
    "xlsx": Target(fuzz_xlsx, 16384),
    "xlsx-part": Target(fuzz_xlsx_part, 8192),
    "parquet": Target(fuzz_parquet, 8192),
    "large": Target(fuzz_large, 2048, (b"\0",), (".csv",)),
    "analysis": Target(fuzz_analysis, 32768),
    "checkpoint": Target(fuzz_checkpoint, 1024),
    "counts": Target(fuzz_counts, 2048),
    "claim": Target(fuzz_claim, 256),
}

_MODERN = b"# DATA TYPE: toi\n# NUMBER ALTERNATIVES: 3\n# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n"
_MODERN += b"# ALTERNATIVE NAME 3: c\n2: 1,{2,3}\n1: 3\n"
_CATEGORIES = b"# DATA TYPE: cat\n# NUMBER CATEGORIES: 2\n# CATEGORY NAME 1: yes\n# CATEGORY NAME 2: no\n"
_CATEGORIES += b"# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n3: 1,2\n1: {1,2},{}\n"
_OLD = b"3\n1,a\n2,b\n3,c\n5,5,2\n3,1,{2,3}\n2,3,1,2\n"
_SMALL_TABLES = (
    b"weight,rank1,rank2,rank3\n2,a,b,c\n1,c,b,\n",
    b"weight,a,b,c\n2,1,2,2\n1,3,1,\n",
    b"voter,a,b,c\nv,0.5,0.25,3\nw,1,1,0\n",
    b"name,1,2,3\nx,a,b,c\ny,c\n",
    b"voter,item,rank\nv,a,1\nv,b,2\nw,b,1\n",
    b"task,model,score\nt,a,0.5\nt,b,0.7\nu,a,1\n",
    b"model,task1,task2\na,0.5,3.25\nb,0.7,\nc,0.1,2\n",
    b"model_a,model_b,winner\nx,y,model_a\ny,z,tie\nx,z,tie (bothbad)\n",
    b"i,j,wins_i,wins_j,ties\nx,y,3,4,1\ny,z,0,2.5,0\n",
    b"system1Id,system2Id,system3Id,system1rank,system2rank,system3rank\na,b,c,1,1,3\nb,c,a,2,1,3\n",
)
_ORDER = b"4 1\n0 3 2 0 1\n0 2 3 1\n0 3 2 0 1\n"
_BALLOT_LINES = b'{"items": ["a", "b", "c"], "unlisted": "observed"}\n{"order": ["a", ["b", "c"]], "weight": 2}\n'
_BALLOT_LINES += b'{"ranks": {"a": 2, "b": 1, "c": null}, "voter": "v"}\n'
_RECORD_LINES = (
    b'{"model_a": "x", "model_b": "y", "winner": "model_a"}\n{"model_a": "y", "winner": "tie", "model_b": 3}\n'
)
_POINTS = b'{"key":"0.5","value":[1.5,null]}\n{"key":"1","value":{"x":2}}\n'


def small_inputs(target: str) -> Iterator[bytes]:
    """Yield sound inputs of a target, made here: the seeds that are always there."""
    chosen = TARGETS[target]
    if target == "preflib":
        files = [_MODERN, _CATEGORIES, _OLD]
    elif target in ("table", "sniffed", "large"):
        files = [*_SMALL_TABLES]
        files += [] if target == "table" else [_BALLOT_LINES, _RECORD_LINES]
        files += [_MODERN, _OLD, _ORDER] if target == "sniffed" else []
    else:
        files = {"order": [_ORDER], "jsonl": [_BALLOT_LINES, _RECORD_LINES]}.get(target, [])
    for number, content in enumerate(files):
        for prefix in chosen.prefixes if target == "preflib" else chosen.prefixes[number % len(chosen.prefixes) :][:1]:
            yield prefix + content
    if target == "large":
        yield b"\x01" + _BALLOT_LINES
        yield b"\x01" + _RECORD_LINES
        yield from (b"\x03" + content for content in small_parquets())
    elif target == "parquet":
        yield from small_parquets()
    elif target == "xlsx":
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in workbook().items():
                archive.writestr(name, content)
        yield stream.getvalue()
    elif target == "xlsx-part":
        for number, name in enumerate(sorted(workbook())):
            yield bytes([number]) + workbook()[name]
    elif target == "analysis":
        votes = Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 1])
        found = json.loads(analyse(votes, Spec(draws=5, claims=("a wins",))).to_json())
        yield json.dumps(found).encode()
        yield json.dumps({**found, "curves": [], "attack": None, "tradeoff": None, "path": None}).encode()
    elif target == "checkpoint":
        yield b"\x01" + _POINTS
        yield b"\x00" + checkpoint_header() + _POINTS
        yield b"\x00" + checkpoint_header().replace(b"0.5", b"0.7").replace(b"parameters_sha256", b"other")
    elif target == "counts":
        path = folder() / "seed.npz"
        PairCounts.from_votes(Votes.from_orders([["a", "b"], ["b"]], weights=[3, 2])).save(path)
        yield b"\x00" + path.read_bytes()
        with np.load(path) as archive:
            yield b"\x01" + archive["head"].tobytes()
        yield b"\x02" + npy("<f8", (2, 2), bytes(32))
        yield b"\x03" + bytes(16)
    elif target == "claim":
        yield from (
            b"\x01a wins\na\nb\nc",
            b"\x00a above b\na\nb",
            b"\x03top 2\na\nb\nc\nd",
            b"\x02x above y wins\nx\ny",
        )


def small_parquets() -> Iterator[bytes]:
    """Yield Parquet files of some forms, types and encodings."""
    import duckdb

    path = folder() / "seed.parquet"
    rows = "('x', 'y', 'model_a'), ('y', 'z', 'tie'), ('x', 'z', 'model_b')"
    battles = f"SELECT * FROM (VALUES {rows}) t(model_a, model_b, winner)"
    gap = f"SELECT * FROM (VALUES {rows}, (NULL, 'z', 'model_b')) t(model_a, model_b, winner)"
    ranks = "SELECT * FROM (VALUES (1, 2, 3.5::DOUBLE), (2, 1, NULL)) t(a, b, c)"
    odd = (
        "SELECT true AS item, DATE '2024-01-02' AS task, 1.25::DECIMAL(9, 2) AS score, [1, 2] AS l, INTERVAL 1 DAY AS i"
    )
    for query in (battles, ranks, gap, odd):
        for codec in ("uncompressed", "snappy"):
            duckdb.sql(f"COPY ({query}) TO '{path}' (FORMAT parquet, CODEC {codec})")
            yield path.read_bytes()


def seeds_from(data_folder: Path, target: str, longest: int = 600) -> Iterator[bytes]:
    """Yield the files of a folder that a target can read, the long ones cut after a line."""
    chosen = TARGETS[target]
    for path in sorted(data_folder.rglob("*")):
        if path.suffix in chosen.endings and path.is_file():
            content = path.read_bytes()
            if len(content) > longest:
                content = content[: content.rfind(b"\n", 0, longest) + 1] or content[:longest]
            for prefix in chosen.prefixes:
                yield prefix + content
