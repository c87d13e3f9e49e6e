"""Bytes from anywhere: a reader reads them, or refuses them with one `HoldrankError`; nothing else ever comes out.

The inputs are small sound files, changed by hypothesis byte by byte and word by word. The functions that judge them are
those of the fuzzer in `tests/fuzz`, which looks further when it is given hours.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fuzz import run as fuzzer
from fuzz import targets
from holdrank import cli
from holdrank.errors import HoldrankError, InputError
from holdrank.files import read_votes, validate

pytestmark = pytest.mark.slow

SLOW = ("parquet", "large")
QUICK = tuple(name for name in targets.TARGETS if name not in SLOW)


def words() -> list[bytes]:
    """Return the words of the formats, as the fuzzer gets them."""
    path = Path(targets.__file__).with_name("tokens.txt")
    found = re.findall(r'^"(.*)"$', path.read_text(encoding="utf-8"), re.MULTILINE)
    return [word.encode("latin-1").decode("unicode_escape").encode("latin-1") for word in found]


WORDS = words()


def changed(contents: list[bytes]) -> st.SearchStrategy[bytes]:
    """Return sound contents with some places cut, doubled, or filled with bytes and words that mean something."""

    @st.composite
    def change(draw: st.DrawFn) -> bytes:
        data = draw(st.sampled_from(contents))
        for _ in range(draw(st.integers(0, 5))):
            start = draw(st.integers(0, len(data)))
            stop = min(start + draw(st.sampled_from([0, 0, 1, 1, 2, 8, 40])), len(data))
            what = draw(st.sampled_from(["word", "bytes", "other", "twice"]))
            if what == "word":
                piece = draw(st.sampled_from(WORDS))
            elif what == "bytes":
                piece = draw(st.binary(max_size=4))
            elif what == "other":
                other = draw(st.sampled_from(contents))
                piece = other[draw(st.integers(0, len(other))) :][:40]
            else:
                piece = 2 * data[start:stop]
            data = data[:start] + piece + data[stop:]
        return data

    return change()


def test_make_fuzz_runs_every_target():
    makefile = Path(targets.__file__).parents[2].joinpath("Makefile").read_text(encoding="utf-8")
    assert re.findall(r"^TARGETS \?= (.*)$", makefile, re.MULTILINE) == [" ".join(targets.TARGETS)]
    assert tuple(targets.TARGETS) == fuzzer.NAMES


def test_the_words_are_those_of_the_formats():
    assert {b"\xef\xbb\xbf", b"# DATA TYPE: ", b"model_a", b"\r\n", b'"', b"\\ud800"} <= set(WORDS)


@pytest.mark.parametrize("name", [*QUICK, *SLOW])
def test_sound_inputs_are_read(name, monkeypatch):
    """The inputs that all others are made of: most are not refused, or the tests below would look at errors only."""
    refused = []
    original = HoldrankError.__init__

    def count(self, *args, **options):
        refused.append(self)
        original(self, *args, **options)

    monkeypatch.setattr(HoldrankError, "__init__", count, raising=False)
    inputs = list(targets.small_inputs(name))
    read = 0
    for data in inputs:
        refused.clear()
        targets.TARGETS[name].run(data)
        read += not refused
    assert read >= (len(inputs) + 1) // 2


@pytest.mark.parametrize("name", QUICK)
def test_nothing_but_a_holdrank_error_comes_out(name):
    contents = list(targets.small_inputs(name))

    @settings(max_examples=120)
    @given(changed(contents))
    def run(data: bytes) -> None:
        targets.TARGETS[name].run(data)

    run()


@pytest.mark.parametrize("name", SLOW)
def test_nothing_else_comes_out_of_duckdb(name):
    pytest.importorskip("duckdb")
    contents = list(targets.small_inputs(name))

    @settings(max_examples=40)
    @given(changed(contents))
    def run(data: bytes) -> None:
        targets.TARGETS[name].run(data)

    run()


@settings(max_examples=150)
@given(st.binary(max_size=60))
@example(b"\x1e")
@example(b"PAR1")
@example(b"PK\x03\x04xl/workbook")
def test_any_bytes_at_all(data):
    for name in ("", ".soc", ".order", ".jsonl", ".csv", ".xlsx"):
        targets.check_reading(data, f"votes{name}")


# ----------------------------------------------------------------------------------------------------- the command line


@settings(max_examples=40)
@given(data=changed(list(targets.small_inputs("sniffed"))), command=st.sampled_from(["validate", "rank"]))
def test_the_command_line_says_what_is_wrong_in_one_line(data, command):
    with pytest.MonkeyPatch.context() as patch:
        out, err = io.StringIO(), io.StringIO()
        patch.setattr(sys, "argv", ["holdrank", command, "-"])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as stop:
            cli.main()
    assert stop.value.code in (0, 2, 3)
    said = out.getvalue() + err.getvalue()
    assert "Traceback" not in said
    assert "internal" not in said
    if stop.value.code:
        assert any(line.strip() for line in said.splitlines())
    assert all(line.replace("\t", " ").isprintable() for line in said.split("\n"))


# -------------------------------------------------------------------------------------------- line ends and encodings

SOUND = {
    "preflib": (".toi", "# DATA TYPE: toi\n# ALTERNATIVE NAME 1: é\n# ALTERNATIVE NAME 2: b\n2: 1,2\n1: {1,2}\n1: 2\n"),
    "preflib-old": (".toi", "2\n1,é\n2,b\n4,4,3\n2,1,2\n1,{1,2}\n1,2\n"),
    "positions": (".csv", "weight,rank1,rank2\n2,é,b\n1,b,\n1,b,é\n"),
    "rank-columns": (".csv", "weight,é,b\n2,1,2\n1,1,1\n1,,1\n"),
    "score-columns": (".csv", "weight,é,b\n2,5,0\n1,3,3\n1,,0.5\n"),
    "lists": (".csv", "name,1,2\nx,é,b\ny,b\n"),
    "long-ranks": (".csv", "voter,item,rank\nv,é,1\nv,b,2\nw,b,1\nw,é,1\n"),
    "long-scores": (".csv", "task,model,score\nv,é,1\nv,b,2.5\nw,b,1\nw,é,1\n"),
    "score-table": (".csv", "model,t1,t2\né,1.5,2\nb,2.5,2\n"),
    "battles": (".csv", "model_a,model_b,winner\né,b,model_a\nb,é,tie\n"),
    "pair-counts": (".csv", "i,j,wins_i,wins_j\né,b,3,4\n"),
    "multi-way": (".csv", "system1Id,system1rank,system2Id,system2rank\né,1,b,2\nb,1,é,1\n"),
    "order": (".order", "3 1\n0 2 1 0\n0 3 2 1 0\n"),
    "jsonl": (".jsonl", '{"order": ["é", "b"], "weight": 2}\n{"order": [["b", "é"]]}\n'),
    "records": (
        ".jsonl",
        '{"model_a": "é", "model_b": "b", "winner": "tie"}\n{"model_a": "b", "model_b": "é", "winner": "a"}\n',
    ),
}


def read(data: bytes, ending: str, **options):
    return read_votes(targets.Named(data, f"votes{ending}"), **options)


@pytest.mark.parametrize("form", SOUND)
def test_line_ends_and_a_byte_order_mark_mean_nothing(form):
    ending, text = SOUND[form]
    plain = read(text.encode(), ending)
    targets.check_votes(plain)
    assert len(plain.items) == (3 if form == "order" else 2)
    for other in ("\r\n", "\r", "\n\n", "\r\n\r\n"):
        assert read(text.replace("\n", other).encode(), ending) == plain
    assert read(text.rstrip("\n").encode(), ending) == plain
    assert read(b"\xef\xbb\xbf" + text.encode(), ending) == plain
    assert read(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(), ending) == plain


@pytest.mark.parametrize("form", SOUND)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "cp500"])
def test_an_encoding_that_is_named_is_read_and_one_that_is_not_is_refused(form, encoding):
    ending, text = SOUND[form]
    plain = read(text.encode(), ending)
    data = text.encode(encoding)
    assert read(data, ending, encoding=encoding) == plain
    if data == text.encode():
        return  # no letter of it differs
    with pytest.raises(InputError) as found:
        read(data, ending)
    assert "encoding=" in str(found.value) or encoding in ("utf-16-le", "cp500")
    assert validate(targets.Named(data, f"votes{ending}")).total > 0


@pytest.mark.parametrize("form", SOUND)
def test_a_byte_of_nothing_anywhere_is_read_or_refused(form):
    ending, text = SOUND[form]
    data = text.encode()
    read_at = 0
    for at in range(len(data) + 1):
        for inserted in (b"\0", b"\0\0"):
            changed_data = data[:at] + inserted + data[at:]
            try:
                votes = read(changed_data, ending)
            except HoldrankError as error:
                targets.expect_plain(error)
            else:
                targets.check_votes(votes)
                read_at += 1
    assert read_at < 2 * (len(data) + 1)
