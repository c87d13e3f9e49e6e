"""The bytes of a file, their type, and their text."""

from __future__ import annotations

import difflib
import hashlib
import os
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from holdrank.errors import InputError, LimitError, Message, Option, UsageError, quote, reason

_TEXT_EXTENSIONS = frozenset({".csv", ".tsv", ".txt", ".soc", ".soi", ".toc", ".toi", ".cat", ".jsonl", ".order"})
_UNPACK = "unpack it first"
_EXPORT = "export the votes from it as CSV"
_SHOWN = "save the votes that it shows as CSV"
_GZIP = b"\x1f\x8b"
_LARGEST, _SMALL, _DENSEST = 2**31, 2**26, 200  # bytes once unpacked; for every packed byte: battles come to about 20
_CONTROL = bytes({*range(32)} - {9, 10, 12, 13})
_READABLE = "votes as text, a spreadsheet (.xlsx) or Parquet"
_CALLED = {".xlsx": "an Excel workbook", ".parquet": "a Parquet file"}
_MAGIC = (
    (b"PAR1", "parquet", ""),
    (b"PK\x03\x04", "zip", _UNPACK),
    (b"PK\x05\x06", "zip", _UNPACK),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a spreadsheet in the old Excel format (.xls)", "save it as .xlsx or as CSV"),
    (b"BZh", "a bzip2 archive", _UNPACK),
    (b"\xfd7zXZ\x00", "an xz archive", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", _UNPACK),
    (b"%PDF-", "a PDF document", _SHOWN),
    (b"SQLite format 3\x00", "an SQLite database", _EXPORT),
    (b"\x89PNG", "a PNG image", _SHOWN),
    (b"\xff\xd8\xff", "a JPEG image", _SHOWN),
    (b"GIF8", "a GIF image", _SHOWN),
)


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of a file, its name for messages, and its extension."""

    name: str
    data: bytes
    extension: str
    path: Path | None
    packed: bytes | None = None  # as they are in the file, if that is packed

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes in the file, in hexadecimal."""
        return hashlib.sha256(self.data if self.packed is None else self.packed).hexdigest()


def open_source(source: str | os.PathLike[str] | BinaryIO) -> Source:
    """Return the bytes of a path, of standard input (``"-"``), or of a binary file object; gzip is unpacked."""
    return _unpacked(_opened(source))


def _opened(source: str | os.PathLike[str] | BinaryIO) -> Source:
    if isinstance(source, str) and source == "-":
        return Source("standard input", sys.stdin.buffer.read(), "", None)
    if isinstance(source, str | os.PathLike):
        try:
            path = Path(source)
            return Source(str(path), path.read_bytes(), path.suffix.lower(), path)
        except (OSError, ValueError) as error:
            raise unreadable(os.fspath(source), error) from error
    if not hasattr(source, "read"):
        raise UsageError(f"source must be a path, '-', a binary file or a data frame, not {type(source).__name__}")
    data = source.read()
    if not isinstance(data, bytes | bytearray):
        raise UsageError("source gives text; open the file in binary mode (mode 'rb')")
    name = getattr(source, "name", None)
    name = name if isinstance(name, str) else "binary file"
    return Source(name, bytes(data), Path(name).suffix.lower(), None)


def _unpacked(source: Source) -> Source:
    """Return the contents of a gzip file; refuse a damaged file, or one that unpacks to far too much."""
    if not source.data.startswith(_GZIP):
        return source
    most = min(_LARGEST, max(_SMALL, _DENSEST * len(source.data)))
    parts, size, rest = [], 0, source.data
    try:
        while rest.strip(b"\0"):  # a file may hold several members, and zeros that fill a block
            member = zlib.decompressobj(wbits=31)
            parts.append(member.decompress(rest, most + 1 - size))
            size += len(parts[-1])
            if size > most:
                raise LimitError(f"{source.name}: the gzip file unpacks to more than {most:,} bytes", repair=_UNPACK)
            if not member.eof:
                raise EOFError("it ends too early")
            rest = member.unused_data
    except (zlib.error, EOFError) as error:
        raise damaged(source.name, "gzip file", error) from error
    inner = Path(source.name.removesuffix(".gz")).suffix.lower() if source.extension == ".gz" else source.extension
    return Source(source.name, b"".join(parts), inner, None, source.data)


def unreadable(path: str, error: OSError | ValueError) -> InputError:
    """Return the error for a file that cannot be opened or read; a name with a NUL in it is a `ValueError`."""
    return InputError(
        f"the file cannot be read: {reason(error)}",
        source=path,
        expected="a file that exists and that you may read",
        repair=_near(path) or "check the path",
    )


def _near(path: str) -> str:
    """Return a hint at a file with a similar name in the same folder, if there is one."""
    folder, name = os.path.split(path)
    try:
        near = difflib.get_close_matches(name, os.listdir(folder or "."), n=1, cutoff=0.75)
    except (OSError, ValueError):
        return ""
    return f"did you mean {quote(near[0])}?" if near and near[0] != name else ""


def container(source: Source) -> str:
    """Return ``"text"``, ``"xlsx"`` or ``"parquet"`` by the first bytes; refuse any other type by name."""
    if not source.data.strip():
        raise _empty(source)
    kind, repair = next(
        ((kind, repair) for magic, kind, repair in _MAGIC if source.data.startswith(magic)), ("text", "")
    )
    if kind == "zip":
        kind = "xlsx" if b"xl/workbook" in source.data else "a ZIP archive"
    if kind == "text":
        if source.extension in (".xlsx", ".parquet"):
            raise _not_what_it_says(
                source,
                f"not {_CALLED[source.extension]}",
                "the file type of its extension",
                "rename it, for example to .csv",
            )
        return kind
    if kind in ("xlsx", "parquet"):
        if source.extension in _TEXT_EXTENSIONS:
            what = _CALLED[f".{kind}"]
            repair = f"rename it to .{kind}, or save it as CSV"
            raise _not_what_it_says(source, what, f"text, the file type of {source.extension}", repair)
        return kind
    raise _not_what_it_says(source, kind, _READABLE, repair)


def _is_binary(data: bytes) -> bool:
    """Whether bytes are not text in any ASCII-compatible encoding: zeros, or many control characters."""
    head = data[:65536]
    return b"\0" in head or sum(byte in _CONTROL for byte in head) > len(head) // 50


def _empty(source: Source) -> InputError:
    return InputError(
        "the file is empty",
        source=source.name,
        found="",
        expected="votes",
        repair="check that this is the right file",
    )


def _not_what_it_says(source: Source, what: str, expected: str, repair: str) -> InputError:
    found = source.data[:8].decode("latin-1")
    return InputError(f"this is {what}", source=source.name, found=found, expected=expected, repair=repair)


def decode(source: Source, encoding: str | None) -> str:
    """Return the text, in UTF-8 unless an encoding is named; no character is replaced silently."""
    name = encoding or "utf-8"
    try:
        text = source.data.decode(name)
        if encoding is not None:
            text.encode("utf-8")  # some encodings, such as unicode_escape, produce lone surrogates
    except LookupError as error:
        raise UsageError(f"there is no encoding {name!r}; try utf-8, latin-1 or cp1252") from error
    except UnicodeError as error:
        at = error.start if isinstance(error, UnicodeDecodeError) else 0
        wide = source.data[:2] in (b"\xff\xfe", b"\xfe\xff")
        if encoding is None and not wide and _is_binary(source.data):
            raise _not_what_it_says(source, "a binary file", _READABLE, _EXPORT) from error
        byte = f"byte 0x{source.data[at]:02x} at offset {at}" if at < len(source.data) else f"offset {at}"
        raise InputError(
            f"the text is not encoded in {name}",
            source=source.name,
            line=source.data.count(b"\n", 0, at) + 1,
            found=byte,
            expected=f"text in {name}",
            repair=Message("set ", Option("encoding", "utf-16" if wide else "latin-1"), ", or name the real encoding"),
        ) from error
    text = text.removeprefix("\ufeff")
    if not text or text.isspace():
        raise _empty(source)
    return text


def line_feeds(text: str) -> str:
    """Return the text with all line endings converted to line feeds."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def split_lines(text: str) -> list[str]:
    r"""Return the lines of `text` with any line endings; unlike `str.splitlines`, it splits only at CR and LF.

    Examples
    --------
    >>> split_lines("a\r\nb\rc\x0bd")
    ['a', 'b', 'c\x0bd']
    """
    return line_feeds(text).split("\n")


def damaged(source: str, what: str, error: Exception) -> InputError:
    """Return the error for a damaged file."""
    return InputError(
        f"the {what} cannot be read ({type(error).__name__})",
        source=source,
        found=str(error),
        expected=f"a valid {what}",
        repair="save it again, or save it as CSV",
    )
