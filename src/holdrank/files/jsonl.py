"""JSON: one ballot, battle or record per line, or all of them in one document (`json_documents`).

A ballot is ``{"order": ["a", ["b", "c"]], "weight": 2}`` (an inner list is a tie) or ``{"ranks": {"a": 1}}``; the
weight may have any name of `BALLOT_WEIGHT_NAMES`, a voter may be named, and any other key is refused. A first
line ``{"items": [...], "unlisted": "observed"}`` may fix the items, their order and the rule. Any other object is
a row of a table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, LimitError, Message, Option, show
from holdrank.files.containers.source import split_lines
from holdrank.files.json_documents import expanded, is_document, records_of_document
from holdrank.votes.ballots.ranks import ranks_within
from holdrank.votes.forms.notes import counted, name_notes, nested_notes
from holdrank.votes.forms.raw import RawBallots, ranks_of_marks
from holdrank.votes.forms.table import MAX_WEIGHT, Column, Problems, Table, no_rows
from holdrank.votes.forms.table_options import TableOptions, ballot_choices
from holdrank.votes.forms.vocabulary import BALLOT_WEIGHT_NAMES, NEEDED_NAMES, VOTER_NAMES, plain
from holdrank.votes.limits import most_cells

_DEEPEST = 50  # lists and objects inside each other, on a line


def read_jsonl(text: str, source: str, options: TableOptions, problems: Problems) -> RawBallots | Table:
    """Return the ballots of a JSON Lines text, or its table where the lines are plain records."""
    notes: list[str] = []
    if is_document(text):
        objects, notes = records_of_document(text, source, problems, json_value)
    else:
        objects = list(json_objects(text, source, problems))
    head: dict[str, Any] = {}
    if objects and "items" in objects[0][1] and objects[0][1].keys() <= {"items", "unlisted"}:
        line, head = objects.pop(0)
        check_head(head, line, source)
    if not objects:
        raise no_rows(source, "there are no ballots: nothing to aggregate")
    if not {"order", "ranks"} & objects[0][1].keys():
        objects, more = expanded(objects)
        table = _records(objects, source, problems, most_cells(len(text)))
        table.notes += [*notes, *more]
        return table
    return ballots_of(objects, head, source, options, problems)


def ballots_of(
    objects: Sequence[tuple[int, dict[str, Any]]],
    head: dict[str, Any],
    source: str,
    options: TableOptions,
    problems: Problems,
    times: NDArray[np.int64] | None = None,
) -> RawBallots:
    """Return the ballots of lines that are ballots, below a line that may declare their items.

    `times` says how many lines of the source each of them stands for.
    """
    keeps_first = options.keeps_first
    items: dict[str, int] = {name: k for k, name in enumerate(head.get("items", ()))}
    ballots: list[dict[int, float]] = []
    weights: list[float] = []
    counts: list[int] = []
    doubled = 0
    for place, (line, record) in enumerate(objects):
        count = 1 if times is None else int(times[place])
        try:
            weight = _weight(record)
            marks = _marks(record)
            ballot: dict[int, float] = {}
            repeats = False
            for name, rank in marks:
                if head and name not in items:
                    repair = "add it to the items on the first line, or correct the name"
                    raise _fault("the item is not declared", name, "an item that the first line declares", repair)
                item = items.setdefault(name, len(items))
                if item in ballot and not keeps_first:
                    repair = Message("delete one of them, or set ", Option("repeated", "first"))
                    raise _fault("the ballot names an item twice", name, "each item at most once", repair)
                repeats = repeats or item in ballot
                ballot.setdefault(item, rank)
        except InputError as error:
            problems.add(error.at(source, line))
            continue
        doubled += repeats * count
        ballots.append(ballot)
        weights.append(weight * count)
        counts.append(count)
    row = np.repeat(np.arange(len(ballots)), list(map(len, ballots)))
    named = np.fromiter(chain.from_iterable(ballots), dtype=np.int64, count=len(row))
    places = np.fromiter(chain.from_iterable(ballot.values() for ballot in ballots), dtype=np.float64, count=len(row))
    ranks = ranks_of_marks((len(ballots), len(items)), row, named, ranks_within(row, places), source)
    notes: list[str] = [*name_notes(list(items))]
    if doubled:
        kept = "an item more than once; the first mention was kept"
        notes.append(counted(doubled, "ballot names", kept, many="ballots name"))
    rule = options.unlisted_or(head.get("unlisted", "bottom"))
    choices = {"form": "JSON Lines of ballots", **ballot_choices(rule, "best first", options.repeated)}
    stand_for = None if times is None else np.array(counts, dtype=np.int64)
    return RawBallots(list(items), ranks, np.array(weights, dtype=np.float64), notes, choices, rule, None, stand_for)


def _fault(problem: str, found: object, expected: str, repair: str = "correct the line, or delete it") -> InputError:
    """Return the error for a line; the caller adds its place."""
    return InputError(problem, found=str(found), expected=expected, repair=repair)


def check_head(head: dict[str, Any], line: int, source: str) -> None:
    """Refuse a first line that does not declare items."""
    names = head["items"]
    sound = isinstance(names, list) and all(isinstance(name, str) and name.strip() for name in names)
    if not sound or len(set(names)) < len(names) or head.get("unlisted", "bottom") not in ("bottom", "observed"):
        raise InputError(
            "the first line does not declare items",
            source=source,
            line=line,
            found=str(head),
            expected='{"items": [different names], "unlisted": "bottom" or "observed"}',
            repair="correct the line, or delete it",
        )


def _weight(record: dict[str, Any]) -> float:
    """Return the weight of a ballot, under any of its names; refuse unknown keys."""
    keys = [key for key in record if plain(key) in BALLOT_WEIGHT_NAMES]
    strange = [key for key in record if key not in ("order", "ranks", *keys) and plain(key) not in VOTER_NAMES]
    if strange:
        known = 'the keys "order" or "ranks", "weight" and "voter"'
        raise _fault("a ballot has an unknown key", ", ".join(strange), known, "delete or rename the key")
    if len(keys) > 1 or {"order", "ranks"} <= record.keys():
        found = ", ".join(record)
        raise _fault("a ballot repeats a key", found, "one weight, and an order or ranks", "delete a key")
    value = record[keys[0]] if keys else 1
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_WEIGHT:
        raise _fault("the weight is not valid", value, "a number from 0 to 2**46")
    return float(value)


def _marks(record: dict[str, Any]) -> list[tuple[str, float]]:
    """Return (item, rank) pairs of one ballot."""
    if "order" in record:
        order = record["order"]
        if not isinstance(order, list):
            raise _fault("the order is not a list", order, 'a list such as ["a", ["b", "c"]]')
        return [
            (_name(item), float(place))
            for place, group in enumerate(order, start=1)
            for item in (group if isinstance(group, list) else [group])
        ]
    ranks = record.get("ranks")
    if not isinstance(ranks, dict):
        raise _fault("the line holds no ballot", record, 'an "order" or "ranks", as on the first line')
    out = []
    for name, rank in ranks.items():
        if rank is None:
            continue
        if isinstance(rank, bool) or not isinstance(rank, int | float) or not 0 < rank <= MAX_WEIGHT:
            raise _fault("a rank must be a number of 1 or more", rank, "1 for the best, null for unlisted")
        out.append((_name(name), float(rank)))
    return out


def _name(item: object) -> str:
    if isinstance(item, bool) or not isinstance(item, str | int) or not str(item).strip():
        raise _fault("an item has no name", item, "names of items, as text")
    return str(item)


def _records(objects: list[tuple[int, dict[str, Any]]], source: str, problems: Problems, most: int) -> Table:
    """Return plain records as a table; a key that a record lacks is a missing cell, and nested values are left out."""
    names: dict[str, None] = {}
    for _, record in objects:
        names.update(dict.fromkeys(record))
    if not names:
        raise InputError(
            "the objects have no keys",
            source=source,
            line=objects[0][0],
            found="{}",
            expected='a ballot such as {"order": ["a", "b"]}, or a record',
            repair="check that this is the right file",
        )
    if len(names) * len(objects) > most:
        raise LimitError(
            f"{show(source, 200)}: the objects have {len(names):,} keys in total, but only a few each",
            repair='write ballots such as {"ranks": {"a": 1}}',
        )
    nested = _nested_columns(objects)
    plain_names = [name for name in names if name not in nested]
    sound = [one for one in objects if not _refused_as_nested(one, nested, source, problems)]
    columns: list[Column] = [[json_text(record.get(name)) for _, record in sound] for name in plain_names]
    return Table(source, plain_names, columns, [line for line, _ in sound], nested_notes(sorted(nested)))


def _nested_columns(objects: list[tuple[int, dict[str, Any]]]) -> set[str]:
    """Return the keys whose values are all lists or objects, but for names of columns that votes are read from."""
    kinds: dict[str, set[bool]] = {}
    for _, record in objects:
        for key, value in record.items():
            if value is not None:
                kinds.setdefault(key, set()).add(isinstance(value, list | dict))
    nested = {key for key, found in kinds.items() if found == {True} and plain(key) not in NEEDED_NAMES}
    return nested if len(nested) < len(kinds) else set()


def _refused_as_nested(one: tuple[int, dict[str, Any]], nested: set[str], source: str, problems: Problems) -> bool:
    """Whether a record holds a list or an object where a plain value should stand; then it is a problem."""
    line, record = one
    key = next((key for key, value in record.items() if isinstance(value, list | dict) and key not in nested), None)
    if key is None:
        return False
    problems.add(
        InputError(
            "a value is itself a list or an object",
            source=source,
            line=line,
            column=key,
            found=str(record[key]),
            expected='plain values, or a ballot {"order": [...]}',
            repair="write the value as text or number",
        )
    )
    return True


def json_text(value: object) -> str:
    """Return a value of a record as the text of a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_WEIGHT:
        return str(int(value))
    return str(value)


def json_value(text: str) -> Any:
    """Return the value of a JSON text; one that nests so deep that it could not even be printed is a `ValueError`."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if text.count("[") + text.count("{") > _DEEPEST:
        inner = [value]
        for _ in range(_DEEPEST):
            inner = [part for outer in inner for part in _parts(outer)]
            if not inner:
                return value
        raise ValueError("it is nested too deeply")
    return value


def _parts(value: object) -> Iterable[object]:
    """Return the lists and objects right inside a value."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [part for part in inside if isinstance(part, list | dict)]


def json_objects(text: str, source: str, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the object of every line."""
    for number, line in enumerate(split_lines(text), start=1):
        if not line.strip():
            continue
        expected = 'one object per line, such as {"order": ["a", ["b", "c"]], "weight": 2}'
        repair = "write one JSON object per line"
        try:
            value = json_value(line.strip(" \t\v\f"))  # as DuckDB does, which reads the same lines in large files
            if "\\ud" in line.lower():
                json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            value, problem = None, "a text holds half of a surrogate pair, which can be neither printed nor written"
            expected, repair = "Unicode: every escape from \\ud800 to \\udfff has its other half", "correct the text"
        except ValueError as error:
            value, problem = None, f"the line is not JSON ({type(error).__name__})"
        else:
            problem = "the line is not a JSON object"
        if isinstance(value, dict):
            yield number, value
            continue
        problems.add(_fault(problem, line, expected, repair).at(source, number))
