"""The format of a file, detected from its size and its text; ambiguous files are refused, never guessed."""

from __future__ import annotations

import json
import os
import re

from holdrank.errors import InputError, Message, Option
from holdrank.files.json_documents import is_document
from holdrank.files.preflib.reader import TYPES
from holdrank.files.text_layouts import layout_of

LARGE_TEXT = 16 << 20
LARGE_PARQUET = 2 << 20
"""Size in bytes from which DuckDB counts a file, because that is faster than reading its rows into memory."""

_PREFLIB_KEY = re.compile(
    r"#[ \t]*(FILE NAME|TITLE|DATA TYPE|NUMBER (ALTERNATIVES|VOTERS)|ALTERNATIVE NAME [0-9]+):", re.IGNORECASE
)
_WEB_PAGE = re.compile(r"<(!doctype|html|head|body|table|\?xml|!--)", re.IGNORECASE)


def is_pattern(source: object) -> bool:
    """Whether a source is a pattern for the names of files, rather than the name of one."""
    return (
        isinstance(source, str | os.PathLike)
        and isinstance(text := os.fspath(source), str)
        and bool(set("*?[") & set(text))
        and not os.path.lexists(text)
    )


def is_large(source: object) -> bool:
    """Whether votes should be counted by DuckDB: a pattern for several files, or one large file."""
    if isinstance(source, str | os.PathLike) and os.fspath(source)[-3:] in (".gz", b".gz"):
        return False  # it is unpacked in memory
    if is_pattern(source):
        return True
    if not isinstance(source, str | os.PathLike) or source == "-":
        return False
    try:
        size = os.stat(source).st_size
        if size < min(LARGE_TEXT, LARGE_PARQUET):
            return False
        with open(source, "rb") as file:
            return size >= (LARGE_PARQUET if file.read(4) == b"PAR1" else LARGE_TEXT)
    except (OSError, ValueError):
        return False  # the reader says what is wrong


def text_form(text: str, extension: str, source: str) -> tuple[str, str]:
    """Return the form of a text and the reason: a PrefLib format, ``order``, ``jsonl``, or ``table``."""
    lines = text[:20_000].lstrip().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = lines[0].strip()
    second = lines[1].strip() if len(lines) > 1 else ""
    if _WEB_PAGE.match(first):
        raise InputError(
            "this is a web page or XML, not votes",
            source=source,
            line=1,
            found=first,
            expected="votes as text",
            repair="download the file itself rather than the page that shows it",
        )
    if extension in (".wmd", ".dat"):
        raise InputError(
            f"a {extension} file holds no votes",
            source=source,
            line=1,
            found=first,
            expected="a file of type soc, soi, toc, toi, cat or csv",
            repair=Message(
                "use the .soc, .soi, .toc, .toi or .cat file of the same data set, or set ", Option("format")
            ),
        )
    named = extension.lstrip(".") in TYPES
    if first.startswith("#") and (named or any(_PREFLIB_KEY.match(line) for line in lines[:50])):
        return "preflib", "header lines that start with #"
    if re.fullmatch(r"[0-9]+", first) and (named or re.match(r"[0-9]+[ \t]*,", second)):
        return "preflib-old", "the number of items alone on the first line"
    if named:
        return "preflib", f"the extension {extension}"
    if extension == ".order" or (
        extension != ".blt" and re.fullmatch(r"[0-9]+[ \t]+[0-9]+", first) and re.fullmatch(r"0([ \t]+[0-9]+)+", second)
    ):
        return "order", "two numbers on the first line, orders of numbers below"
    layout = layout_of([line.strip() for line in lines[:60]], extension)
    if layout is not None:
        return layout.format, layout.reason
    if extension in (".jsonl", ".ndjson", ".json") or first.startswith(("{", "[")):
        return "jsonl", "JSON objects"
    return "table", "text in columns"


def is_json_lines(text: str, extension: str) -> bool:
    """Whether a text is made of JSON objects, by its name or by its first line."""
    if extension in (".jsonl", ".ndjson", ".json"):
        return True
    if not text.lstrip().startswith(("{", "[")):
        return False
    if is_document(text):
        return True
    try:
        return isinstance(json.loads(text.lstrip().replace("\r", "\n").split("\n", 1)[0]), dict)
    except (ValueError, RecursionError):
        return False
