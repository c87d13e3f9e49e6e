"""The keys that the objects of JSON Lines files have, as DuckDB sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdrank.errors import InputError
from holdrank.files.containers.parquet import literal


def json_keys(rows: Callable[..., list[tuple[Any, ...]]], lines: str, single: bool, source: str) -> tuple[str, ...]:
    """Return the keys of all objects, in the order in which they first appear.

    `rows` runs a query, `lines` is the relation of all lines, and `single` says that they are those of one file.
    """
    step = "looking at keys"
    keys_of = "CASE json_type(json) WHEN 'OBJECT' THEN json_keys(json) END"
    found = rows(f"SELECT json_type(json), {keys_of}, 1 FROM {lines} LIMIT 1", source)
    # Most files have the same keys on every line, which threads can see side by side; else the order of lines matters.
    # A value that is not an object has no keys, and so differs from every object.
    first = [literal(key) for kind, keys, _ in found if kind == "OBJECT" for key in keys]
    others = f"SELECT count(*) FROM {lines} WHERE json_keys(json) IS DISTINCT FROM [{', '.join(first)}]"
    if not first or rows(others, source, step)[0][0]:
        numbered = f"SELECT json, row_number() OVER () AS spot FROM {lines}"
        query = f"SELECT json_type(json), {keys_of}, min(spot) AS spot FROM ({numbered}) GROUP BY ALL ORDER BY spot"
        found = rows(query, source, step)
    keys: dict[str, None] = {}
    for kind, mine, at in found:
        if kind != "OBJECT" or len(set(mine)) < len(mine):
            raise InputError(
                "a line is not a JSON object" if kind != "OBJECT" else "an object has the same key twice",
                source=source,
                line=at if single else None,
                found=str(kind if kind != "OBJECT" else mine),
                expected="one object per line",
                repair="correct the line",
            )
        keys.update(dict.fromkeys(mine))
    return tuple(keys)
