"""Files of pair counts (.npz): written whole or not at all, and read as untrusted input."""

from __future__ import annotations

import io
import json
import math
import os
import re
import zipfile
import zlib
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from holdrank.errors import InputError
from holdrank.rankings import Floats
from holdrank.votes.limits import MOST_ITEMS

_FORMAT = "holdrank pair counts"
_VERSION = 1
_LARGEST_TEXT = 1 << 26  # bytes of names and notes in a file
_DENSEST = 90  # bytes of anything for every byte that it takes once packed
_SMALL_MATRIX = 3 << 24  # bytes that a matrix may always take, no matter how small it was packed: 2,500 items
_LARGEST_HEADER = 10_000
_PIECE = 1 << 20
# As numpy writes it. Numpy itself parses headers as Python, which is unsafe for untrusted files.
_HEADER = re.compile(
    rb"\x93NUMPY[\x01\x02\x03]\x00.{2,4}?"
    rb"\{'descr': '([<|][fu][0-9])', 'fortran_order': (True|False), 'shape': \(([0-9, ]{0,60})\), \} *\n",
    re.DOTALL,
)


def packed(head: Mapping[str, Any], wins: Floats, listed: Floats) -> bytes:
    """Return a file of counts: what `head` says of them, and the two arrays."""
    told = json.dumps({"format": _FORMAT, "version": _VERSION, **head}, ensure_ascii=True).encode("ascii")
    arrays: dict[str, npt.NDArray[Any]] = {
        "head": np.frombuffer(told, dtype=np.uint8), "wins": wins, "listed": listed,
    }  # fmt: skip
    data = _archive(arrays, set(arrays))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sound = {name for name in arrays if _fits(archive.getinfo(f"{name}.npy"), len(data), name != "head")}
    return data if len(sound) == len(arrays) else _archive(arrays, sound)


def unpacked(source: str) -> tuple[dict[str, Any], Floats, Floats]:
    """Return the contents of a file from `packed`; the shapes of the arrays are checked, their values are not."""
    try:
        size = os.path.getsize(source)
        with zipfile.ZipFile(source) as archive:
            head = json.loads(_member(archive, size, "head", "|u1").tobytes().decode("ascii"))
            items = head.get("items") if isinstance(head, dict) else None
            n = min(len(items), MOST_ITEMS) if isinstance(items, list) else 0
            wins = _member(archive, size, "wins", "<f8", (n, n))
            listed = _member(archive, size, "listed", "<f8", (n,))
    except FileNotFoundError as error:
        raise InputError("there is no such file", source=source, repair="check the path") from error
    except (OSError, ValueError, KeyError, EOFError, RecursionError, NotImplementedError, RuntimeError) as error:
        raise refused(source, f"the file cannot be read ({type(error).__name__})", str(error)) from error
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error) as error:
        raise refused(source, "the file is damaged, or not pair counts", str(error)) from error
    if not isinstance(head, dict) or head.get("format") != _FORMAT:
        raise refused(source, "the file does not hold pair counts")
    if head.get("version") != _VERSION:
        raise refused(source, "the file was written by another version")
    return head, wins, listed


def refused(source: str, problem: str, found: str | None = None) -> InputError:
    """Return the refusal of a file."""
    return InputError(
        problem,
        source=source,
        found=found,
        expected="pair counts, as PairCounts.save writes them",
        repair="count the votes again",
    )


def _archive(arrays: Mapping[str, npt.NDArray[Any]], deflated: Collection[str]) -> bytes:
    """Return an .npz file of arrays, some of them compressed."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # of no time, so that equal counts make equal files
            entry.compress_type = zipfile.ZIP_DEFLATED if name in deflated else zipfile.ZIP_STORED
            with archive.open(entry, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
    return stream.getvalue()


def _fits(entry: zipfile.ZipInfo, size: int, is_matrix: bool) -> bool:
    """Whether a part of a file of `size` bytes does not unpack to far more; text is large once it is parsed."""
    packed = min(entry.compress_size, size)  # the archive may lie about the first
    spare = _SMALL_MATRIX if is_matrix else 2**16
    return entry.file_size <= spare + _DENSEST * packed + _LARGEST_HEADER


def _member(
    archive: zipfile.ZipFile, size: int, name: str, kind: str, shape: tuple[int, ...] | None = None
) -> npt.NDArray[Any]:
    """Return an array of an .npz file of `size` bytes, of the shape that it must have, or a text of any length."""
    entry = archive.getinfo(f"{name}.npy")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} is packed in an unknown way")
    expected = _LARGEST_TEXT if shape is None else math.prod(shape) * np.dtype(kind).itemsize
    if entry.file_size > expected + _LARGEST_HEADER or not _fits(entry, size, shape is not None):
        raise ValueError(f"{name} takes {entry.file_size:,} bytes")
    with archive.open(entry) as file:
        start = file.read(_LARGEST_HEADER)
        match = _HEADER.match(start)
        if match is None or match[1].decode() != kind:
            raise ValueError(f"{name} is not an array of type {kind}")
        data = bytearray(entry.file_size - match.end())  # grown piece by piece it would be copied
        data[: len(start) - match.end()] = start[match.end() :]
        end = len(start) - match.end()
        while piece := file.read(_PIECE):
            data[end : end + len(piece)] = piece
            end += len(piece)
        del data[end:]
    told = tuple(int(size) for size in match[3].split(b",") if size.strip())
    array = np.frombuffer(data, dtype=kind)
    if math.prod(told) != len(array):
        raise ValueError(f"{name} is too short or too long")
    if shape is not None and told != shape:
        raise ValueError(f"{name} has the shape {told}, not {shape}")
    return array.reshape(told, order="F" if match[2] == b"True" else "C")
