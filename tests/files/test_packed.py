"""Files packed with gzip are read as what they hold, within limits; bytes that are no text are called by their name."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib

import numpy as np
import pytest

import holdrank as hr
from holdrank.files.containers import source as sources

CSV = b"model_a,model_b,winner\nx,y,model_a\ny,z,tie\nx,z,model_b\n"
FORMS = {
    "battles.csv": CSV,
    "orders.soc": b"# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n3: 1,2\n1: 2,1\n",
    "battles.jsonl": b'{"model_a": "x", "model_b": "y", "winner": "model_a"}\n' * 3,
    "battles.json": b'[{"model_a": "x", "model_b": "y", "winner": "model_a"}]',
}


@pytest.mark.parametrize("name", FORMS)
def test_packed_files_hold_the_same_votes(tmp_path, name):
    plain, packed = tmp_path / name, tmp_path / f"{name}.gz"
    plain.write_bytes(FORMS[name])
    packed.write_bytes(gzip.compress(FORMS[name]))
    found = hr.read_votes(packed)
    assert found == hr.read_votes(plain)
    assert found.reading.format == hr.read_votes(plain).reading.format
    # The hash is that of the file, as other tools give it.
    assert found.reading.sha256 == hashlib.sha256(packed.read_bytes()).hexdigest()
    assert hr.validate(packed).total == 0
    assert hr.read_votes(io.BytesIO(packed.read_bytes())).items == found.items


def test_several_members_and_padding_are_one_file(tmp_path):
    path = tmp_path / "parts.csv.gz"
    path.write_bytes(gzip.compress(CSV[:20]) + gzip.compress(CSV[20:]) + b"\0" * 512)
    assert hr.read_votes(path).total == 3


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-9], lambda data: data[:12] + b"\xff" + data[13:], lambda _: b"\x1f\x8b"]
)
def test_damaged_ones_are_refused_in_one_line(spoil):
    with pytest.raises(hr.InputError, match="the gzip file cannot be read") as caught:
        hr.read_votes(io.BytesIO(spoil(gzip.compress(CSV))))
    assert "\n" not in str(caught.value)


def test_what_grows_out_of_proportion_is_refused(monkeypatch):
    monkeypatch.setattr(sources, "_SMALL", 10_000)
    bomb = gzip.compress(b"a" * 5_000_000)
    assert len(bomb) < 6_000
    with pytest.raises(hr.LimitError, match="unpacks to more than"):
        hr.read_votes(io.BytesIO(bomb))
    # In small steps too: what many members come to counts together.
    with pytest.raises(hr.LimitError, match="unpacks to more than"):
        hr.read_votes(io.BytesIO(gzip.compress(b"a" * 9_000) * 300))


def test_a_packed_spreadsheet_is_a_spreadsheet(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["rank1", "rank2"], ["a", "b"]):
        book.active.append(row)
    book.save(tmp_path / "book.xlsx")
    (tmp_path / "book.xlsx.gz").write_bytes(gzip.compress((tmp_path / "book.xlsx").read_bytes()))
    assert hr.read_votes(tmp_path / "book.xlsx.gz") == hr.read_votes(tmp_path / "book.xlsx")


def test_binary_files_are_not_told_to_name_an_encoding():
    saved = io.BytesIO()
    np.save(saved, np.arange(50) * 0.37)
    for data in (saved.getvalue(), zlib.compress(CSV * 20), bytes(range(256)) * 4):
        with pytest.raises(hr.InputError, match="this is a binary file") as caught:
            hr.read_votes(io.BytesIO(data))
        assert "encoding" not in str(caught.value)
    for text in ("größe,b\nü,1\n".encode("latin-1"), "a,b\n".encode("utf-16")):
        with pytest.raises(hr.InputError, match="encoding"):
            hr.read_votes(io.BytesIO(text))
