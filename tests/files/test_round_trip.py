"""What is written is read back, whatever the names; what is broken is refused, never crashed on."""

from __future__ import annotations

import io
import math
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from holdrank.errors import HoldrankError
from holdrank.files import read_votes, validate, write_votes
from holdrank.files.preflib import reader as preflib
from holdrank.files.ranks_or_scores import rank_evidence
from holdrank.votes.forms.vocabulary import guard_name, restore_name
from holdrank.votes.votes import Votes

pytestmark = pytest.mark.slow

# Names that mean something somewhere: to a spreadsheet, to a delimiter, to PrefLib, to a sniffing reader.
TRAPS = [
    *(
        "=1+1",
        "+1",
        "-1",
        "@x",
        "-",
        "NA",
        "undervote",
        "nan",
        "weight",
        "Weight ",
        "voter",
        "id",
        "count",
        "0",
        "1",
        "2",
    ),
    *("model_a", "model_b", "winner", "rank1", "rank2", "system1Id", "system1rank", "task", "model", "score", "item"),
    *(
        "a;b",
        "a,b",
        "a|b",
        "a\tb",
        'a"b',
        '"a"',
        "'a",
        "'",
        "''=",
        "'NA",
        "#",
        "# TITLE: x",
        "{1,2}",
        "k: v",
        " x",
        "x ",
    ),
    *("userId", "movieId", "modelA", "modelB", "votes", "n", "N", "year", "Unnamed: 0", "numVotes", "name", "place"),
    *("i", "j", "wins_i", "wins_j", "<b>", "\u00a0", "\ufeffx", "é", "e\u0301", "\x1b[31m", "\x00", "\x85", "\u2028x"),
]
NAMES = st.one_of(st.sampled_from(TRAPS), st.text(min_size=1, max_size=12))


@st.composite
def any_votes(draw: st.DrawFn, names: st.SearchStrategy[str], whole: bool) -> Votes:
    items = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    n = len(items)
    row = st.lists(st.integers(0, n), min_size=n, max_size=n).filter(any)
    ranks = draw(st.lists(row, min_size=1, max_size=6))
    amount = st.integers(1, 10**6) if whole else st.floats(1e-6, 1e6)
    weights = draw(st.lists(amount, min_size=len(ranks), max_size=len(ranks)))
    return Votes.from_ranks(ranks, weights, items, unlisted=draw(st.sampled_from(["bottom", "observed"])))


def there_and_back(votes: Votes, extension: str, format: str | None = None) -> Votes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"v.{extension}"
        write_votes(votes, path, format=format)
        return read_votes(path, unlisted=None if extension == "jsonl" else votes.unlisted)


def assert_same(votes: Votes, again: Votes) -> None:
    assert again.items == votes.items
    assert again.unlisted == votes.unlisted
    assert again.total == votes.total
    assert np.array_equal(again.wins(), votes.wins())
    assert again == votes


def not_blank(name: str) -> bool:
    return bool(name.strip())


def on_one_line(name: str) -> bool:
    return not_blank(name) and not set("\r\n") & set(name)


@given(any_votes(NAMES.filter(not_blank), whole=False), st.sampled_from(["csv", "rank-columns"]))
@settings(max_examples=150)
def test_csv_round_trip(votes, form):
    assert_same(votes, there_and_back(votes, "csv", form))


@given(any_votes(NAMES.filter(not_blank), whole=False))
def test_json_lines_round_trip(votes):
    assert_same(votes, there_and_back(votes, "jsonl"))


@given(any_votes(NAMES.filter(on_one_line), whole=True))
def test_preflib_round_trip(votes):
    assert_same(votes, there_and_back(votes, "txt", "preflib"))


@given(
    st.permutations(range(5)), st.integers(1, 5), st.lists(NAMES.filter(not_blank), min_size=5, max_size=5, unique=True)
)
def test_positions_round_trip_up_to_the_order_of_items(order, size, names):
    orders = [[names[k] for k in order], [names[k] for k in order[:size]]]
    votes = Votes.from_orders(orders, items=names)
    again = there_and_back(votes, "csv", "positions")
    assert set(again.items) == set(names)
    columns = [again.items.index(name) for name in names]
    assert np.array_equal(again.wins()[np.ix_(columns, columns)], votes.wins())


@given(NAMES, st.booleans())
def test_a_guarded_name_is_restored(name, known):
    assert restore_name(guard_name(name, known)) == name


Row = list[float | None]


def kind_of_row(row: Row) -> str:
    return kind_of_marks(tuple(row))


@cache
def kind_of_marks(row: tuple[float | None, ...]) -> str:
    """Say how a row may be a ranking, with the ways to number ties taken from another library."""
    listed = [v for v in row if v is not None]
    if not listed:
        return "empty"
    ways = {way: rankdata(listed, way).tolist() == listed for way in ("min", "average", "max", "dense")}
    if ways["min"] or ways["average"]:
        return "sure"
    if ways["max"] or ways["dense"]:
        return "loose"
    parts = len(listed) < len(row) and set(listed) <= set(range(1, len(row) + 1))
    return "holed" if parts and len(set(listed)) == len(listed) else "none"


def all_rank(rows: list[Row], least: int) -> bool:
    kinds = [kind_of_row(row) for row in rows]
    sizes = [sum(v is not None for v in row) for row in rows]
    proof = any(kind in ("sure", "loose") and size >= least for kind, size in zip(kinds, sizes, strict=True))
    return proof and "none" not in kinds


def differ(rows: list[Row]) -> bool:
    listed = [[v for v in row if v is not None] for row in rows]
    return all(len(set(row)) == len(row) and all(v % 1 == 0 for v in row) for row in listed)


def without(rows: list[Row], *signs: float) -> list[Row]:
    return [[None if v in signs else v for v in row] for row in rows]


def evidence_by_definition(rows: list[Row]) -> str | None:
    """Say the same as `rank_evidence`, row by row."""
    n = len(rows[0])
    marks = {v for row in rows for v in row if v is not None}
    if not marks:
        return None
    kinds = [kind_of_row(row) for row in rows]
    if "sure" in kinds and set(kinds) <= {"sure", "holed", "empty"}:
        return "ranks"
    if n > 2 and marks <= {0, 1}:
        return "scores"
    full = [kind for kind, row in zip(kinds, rows, strict=True) if None not in row]
    if all(1 <= v <= n and v * 2 % 1 == 0 for v in marks) and "none" not in full:
        return None
    low = [min(marks)] if min(marks) < 1 and min(marks) % 1 == 0 else []
    high = [max(marks)] if max(marks) > n and max(marks) % 1 == 0 else []
    if differ(rows) or differ(without(rows, *low)):
        return None
    for signs in ([], low, high, low + high):
        for shift in (0, 1):
            moved = [[None if v is None else v + shift for v in row] for row in without(rows, *signs)]
            if all_rank(moved, 1 + shift):
                return None
            spared = [[row[:k] + row[k + 1 :] for row in moved] for k in range(n)] if n > 2 else []
            if signs in ([], low) and any(all_rank(some, 2) for some in spared):
                return None
    return "scores"


def test_ranks_and_scores_are_told_apart_by_definition():
    rng = np.random.default_rng(20)
    marks = np.array([1.0, 1.0, 2.0, 3.0, 4.0, 1.5, 2.5, 0.0, 0.25, 5.0, 99.0, np.nan])
    told = Counter()
    for _ in range(3000):
        few = rng.choice(marks, int(rng.integers(1, 13)))  # of a few kinds, tables look like ranks, or nearly so
        values = rng.choice(few, (int(rng.integers(1, 4)), int(rng.integers(1, 5))))
        rows = [[None if math.isnan(v) else v for v in row] for row in values.tolist()]
        found = rank_evidence(values)
        assert found == evidence_by_definition(rows), rows
        told[found] += 1
    assert min(told["ranks"], told["scores"], told[None]) > 150, told


SEEDS = [
    b"# DATA TYPE: toi\n# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n2: 1,2\n1: {1,2}\n",
    b"# DATA TYPE: cat\n# CATEGORY NAME 1: y\n# CATEGORY NAME 2: n\n# ALTERNATIVE NAME 1: a\n3: {},1\n",
    b"2\n1,x\n2,y\n4,4,3\n2,1,2\n1,{1,2}\n1,2,1\n",
    b"3 1\n0 3 2 0 1\n0 1 1\n",
    b'rank1,rank2,weight\n"a",b,1\nb,undervote,2.5\n',
    b"x;y;z\n1;2;3\n3;;1\n",
    b"model,t1,t2\nx,1,0.5\ny,2,nan\n",
    b"voter\titem\trank\nv\tx\t1\nv\ty\t2\n",
    b"model_a|model_b|winner\nx|y|model_a\ny|z|tie\n",
    b"i,j,wins_i,wins_j,ties\nx,y,2,0,1\n",
    b"system1Id,system1rank,system2Id,system2rank\nx,1,y,2\n",
    b"study,1,2,3\nA,x,y,z\nB,y\n",
    b'{"items": ["a", "b"]}\n{"order": ["a", ["b"]], "weight": 2}\n{"ranks": {"a": 1, "b": null}}\n',
    b'{"model_a": "x", "model_b": "y", "winner": "tie"}\n',
    b"home_team,away_team,home_score,away_score\nP,Q,3,1\n",
]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        cut = draw(st.integers(0, 4))
        piece = draw(
            st.one_of(
                st.binary(max_size=3),
                st.sampled_from(
                    [b",", b"\n", b'"', b"{", b"}", b":", b"-1", b"1e999", b"nan", b"0", b"\r", b"#", b";", b"\xff"]
                ),
            )
        )
        data[at : at + cut] = piece
    return bytes(data)


@given(mutated(), st.sampled_from(["", ".csv", ".soc", ".toi", ".cat", ".jsonl", ".order"]))
@settings(max_examples=300)
def test_mutated_files_are_read_or_refused(data, extension):
    source = io.BytesIO(data)
    source.name = f"v{extension}"
    message = None
    try:
        votes = read_votes(source)
    except HoldrankError as error:
        message = str(error)
    refused = message is not None
    if message is not None:
        assert message
        assert "\n" not in message
    else:
        assert votes.total > 0
        assert (votes.ranks != 0).any()
    again = io.BytesIO(data)
    again.name = f"v{extension}"
    try:
        found = validate(again)
    except HoldrankError:
        assert refused
        return
    assert bool(found.total) is refused
    assert (found.votes is None) is refused


TOKENS = [
    "0",
    "1",
    "2",
    "3",
    "12",
    ":",
    ",",
    "{",
    "}",
    " ",
    "\t",
    "\n",
    "\n1: 1,2",
    "\n2: {1,2},3",
    "\n1: 2",
    "{}",
    "#",
    "é",
]


@given(st.sampled_from(["soc", "soi", "toc", "toi", "cat"]), st.lists(st.sampled_from(TOKENS), max_size=12))
@settings(max_examples=250)
def test_the_fast_and_the_careful_preflib_reader_accept_the_same_language(kind, tokens):
    names = "".join(f"# ALTERNATIVE NAME {k}: n{k}\n" for k in (1, 2, 3))
    categories = "# CATEGORY NAME 1: x\n# CATEGORY NAME 2: y\n" if kind == "cat" else ""
    data = f"# DATA TYPE: {kind}\n{categories}{names}1: {''.join(tokens)}\n".encode()

    def outcome():
        found = validate(io.BytesIO(data))
        return found.votes, found.votes and found.votes.notes, [str(problem) for problem in found.problems]

    fast = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preflib, "_read_fast", lambda *_: None)
        assert outcome() == fast


@given(st.binary(max_size=200))
@settings(max_examples=100)
def test_random_bytes_never_crash(data):
    for prefix in (b"", b"PAR1", b"PK\x03\x04xl/workbook", b"# DATA TYPE: soc\n", b"{", b"model_a,model_b,winner\n"):
        found = None
        try:
            found = validate(io.BytesIO(prefix + data))
        except HoldrankError:
            continue
        assert found.total or found.votes is not None


@pytest.mark.parametrize("format", ["positions", "rank-columns", "score-columns", "lists", "long-ranks", "long-scores"])
@given(data=mutated(), options=st.fixed_dictionaries({}, optional={
    "header": st.integers(0, 3),
    "columns": st.lists(st.integers(1, 3), min_size=1, max_size=3),
    "weight": st.integers(1, 3),
    "repeated": st.just("first"),
    "short_rows": st.just("fill"),
    "unlisted": st.sampled_from(["bottom", "observed"]),
    "blanks": st.just(["x"]),
}))  # fmt: skip
@settings(max_examples=60)
def test_forced_formats_are_read_or_refused(format, data, options):
    try:
        votes = read_votes(io.BytesIO(data), format=format, **options)
    except HoldrankError:
        return  # anything else is a crash
    assert votes.total > 0
    assert votes.reading.format == format
    assert votes.unlisted == options.get("unlisted", votes.unlisted)
