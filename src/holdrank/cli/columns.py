"""Column names for shell completion: those of the FILE on the command line, from its first bytes."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import shlex
from contextlib import suppress

import click
from click.shell_completion import CompletionItem

_HEAD = 1 << 16  # bytes of a file that are read
_DELIMITERS = ",;\t|"


class ColumnOption(click.Option):
    """An option that takes a column: a name, the last name of a list (--columns), or a name and a sign (--where)."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """See click."""
        before, comma, last = incomplete.rpartition(",") if self.name == "columns" else ("", "", incomplete)
        sign = "=" if self.name == "where" else ""
        names = [name for name in column_names(_file_of(ctx)) if name.startswith(last) and not (comma and "," in name)]
        return [CompletionItem(_typed(f"{before}{comma}{name}{sign}")) for name in names]


def column_names(path: str) -> list[str]:
    """Return the names of the columns of a file; empty if it cannot be read or has none.

    Problems of a file are not reported here: completion must not print anything.
    """
    with suppress(OSError, ValueError, EOFError, ImportError):
        if path.endswith(".parquet"):
            names = _parquet_names(path)
        else:
            with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
                names = _text_names(file.read(_HEAD).decode("utf-8-sig", "ignore"))
        return [name for name in dict.fromkeys(names) if name and name.isprintable()]
    return []


def _text_names(head: str) -> list[str]:
    if head.lstrip().startswith(("{", "[")):
        first = re.search(r"\{.*?\}", head, re.DOTALL)  # the first object, if nothing is nested in it
        row = json.loads(first[0]) if first else {}
        return list(row)
    line = head.split("\n", 1)[0].rstrip("\r")
    delimiter = max(_DELIMITERS, key=line.count)
    return [] if line.startswith("#") else [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]


def _parquet_names(path: str) -> list[str]:
    import pyarrow.parquet  # type: ignore[import-untyped]

    return list(pyarrow.parquet.read_schema(path).names)


def _file_of(ctx: click.Context) -> str:
    """Return the FILE on the line, the first of several; None if there is none yet."""
    given = [ctx.params.get(name) or () for name in ("file", "files", "old")]
    words = [word for one in (*given, ctx.args) for word in ((one,) if isinstance(one, str) else one)]
    return next((word for word in words if os.path.isfile(word)), "")


def _typed(name: str) -> str:
    """Return a name as it must be typed: quoted for bash, because other shells quote names themselves."""
    bash = os.environ.get("_HOLDRANK_COMPLETE", "").startswith("bash")
    return shlex.quote(name) if bash and re.search(r"[\s'\"\\$`&;()<>*?!#|]", name) else name
