"""JSON in one document: an array of objects, an object that contains such a list, or cast vote records.

`LAYOUTS` has one entry per published layout: how it is recognised, and how it becomes rows of a table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdrank.errors import InputError, quote
from holdrank.votes.forms.table import Problems

Records = list[tuple[int, dict[str, Any]]]
"""Objects with the line on which each begins, or its number."""

_DECODER = json.JSONDecoder()
_DEEPEST_LIST = 3  # objects around a list of records


@dataclass(frozen=True, slots=True)
class JsonLayout:
    """A published layout of JSON objects that are not rows yet.

    Parameters
    ----------
    name : str
    fits : callable
        Whether a record, or a document, is one of these.
    rows : callable
        The rows that a record stands for, or all of those of a document; from it and the folder of the file.
    """

    name: str
    fits: Callable[[Mapping[str, Any]], bool]
    rows: Callable[[Mapping[str, Any], Path | None], Iterator[dict[str, Any]]]


def is_document(text: str) -> bool:
    """Whether a text that begins like JSON is one document rather than an object per line."""
    bare = text.lstrip()
    if bare.startswith("["):
        return True
    first, _, rest = bare.replace("\r", "\n").partition("\n")
    if first.rstrip().endswith(("{", "[", ",")):
        return True
    if rest.strip():
        return False
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and _inside(value) is not None and not {"order", "ranks"} & value.keys()


def records_of_document(
    text: str, source: str, problems: Problems, value_of: Callable[[str], Any]
) -> tuple[Records, list[str]]:
    """Return the records of a document with the line each begins on, and notes on where they were found.

    `value_of` decodes the text of a record and refuses what is nested too deeply.
    """
    start = len(text) - len(text.lstrip())
    if text[start] == "[":
        return _array(text, start, source, problems, value_of), []
    try:
        document = value_of(text.strip())
    except ValueError as error:
        raise _broken(text, source, error) from error
    layout = next((layout for layout in DOCUMENTS if layout.fits(document)), None)
    if layout is not None:
        path = Path(source).parent if source else None
        rows = list(enumerate(layout.rows(document, path), start=1))
        return rows, [f"read as {layout.name}, one row per mark"]
    found = _inside(document)
    if found is None:
        raise InputError(
            "the JSON object holds no list of votes",
            source=source,
            line=1,
            found=", ".join(document) if isinstance(document, dict) else str(document),
            expected="a list of objects, one per battle, ballot or item",
            repair="save the list itself, or write one JSON object per line",
        )
    key, records = found
    return list(enumerate(records, start=1)), [f"read from the list {quote(key, 40)} of the JSON object"] if key else []


def _array(text: str, start: int, source: str, problems: Problems, value_of: Callable[[str], Any]) -> Records:
    """Return the objects of an array one by one, so that each has its line."""
    out: Records = []
    at, line, counted = start + 1, 1 + text.count("\n", 0, start), start
    expected = "an array of objects: [{...}, {...}]"
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at >= len(text):
            raise _broken(text, source, ValueError("the array is not closed"))
        if text[at] == "]":
            return out
        line += text.count("\n", counted, at)
        counted = at
        try:
            _, end = _DECODER.raw_decode(text, at)
            value = value_of(text[at:end])
        except (ValueError, RecursionError) as error:
            raise _broken(
                text, source, error if isinstance(error, ValueError) else ValueError("too deep"), line
            ) from error
        if isinstance(value, dict):
            out.append((line, value))
        else:
            found, repair = text[at:end], "write one object per battle, ballot or item"
            problem = "an element of the array is not a JSON object"
            problems.add(InputError(problem, source=source, line=line, found=found, expected=expected, repair=repair))
        at = end


def _broken(text: str, source: str, error: ValueError, line: int | None = None) -> InputError:
    """Return the error for truncated or malformed JSON."""
    at = error.pos if isinstance(error, json.JSONDecodeError) else len(text)
    cut = at >= len(text.rstrip()) - 1
    return InputError(
        "the JSON ends in the middle; the file may be truncated"
        if cut
        else f"the line is not JSON ({type(error).__name__})",
        source=source,
        line=text.count("\n", 0, at) + 1 if line is None or isinstance(error, json.JSONDecodeError) else line,
        found=text[max(0, at - 30) : at + 30],
        expected="complete JSON",
        repair="download or save the file again" if cut else "correct the line",
    )


def _inside(document: object) -> tuple[str, list[dict[str, Any]]] | None:
    """Return the longest list of objects inside an object, and its key; or the columns of a frame as records."""
    if not isinstance(document, dict):
        return None
    lists = list(_lists(document, "", _DEEPEST_LIST))
    if lists:
        return max(lists, key=lambda pair: len(pair[1]))
    columns = list(document.values())
    if len(columns) > 1 and all(isinstance(column, list) for column in columns) and len({*map(len, columns)}) == 1:
        return "", [dict(zip(document, row, strict=True)) for row in zip(*columns, strict=True)]
    if len(columns) > 1 and all(isinstance(column, dict) for column in columns):
        index = list(columns[0])
        if all(list(column) == index for column in columns) and all(key.isdecimal() for key in index):
            return "", [{name: column[key] for name, column in document.items()} for key in index]
        return "", [{"item": name, **column} for name, column in document.items()]
    return None


def _lists(value: Mapping[str, Any], path: str, depth: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for key, part in value.items():
        where = f"{path}.{key}" if path else str(key)
        if isinstance(part, list) and part and all(isinstance(row, dict) for row in part):
            yield where, part
        elif isinstance(part, dict) and depth > 1:
            yield from _lists(part, where, depth - 1)


# ------------------------------------------------------------------------------------------------ published layouts


def _is_arena_hard(record: Mapping[str, Any]) -> bool:
    games = record.get("games")
    return "model" in record and isinstance(games, list) and all(isinstance(g, dict) and "score" in g for g in games)


def _arena_hard(record: Mapping[str, Any], _: Path | None) -> Iterator[dict[str, Any]]:
    """Yield a battle per game against the baseline, which answers first in the first game and second in the next."""
    plain = {key: value for key, value in record.items() if key not in ("games", "model", "baseline")}
    baseline = record.get("baseline") or "baseline"
    for number, game in enumerate(record["games"]):
        pair = (baseline, record["model"]) if number % 2 == 0 else (record["model"], baseline)
        yield {**plain, "model_a": pair[0], "model_b": pair[1], "score": game["score"]}


def _is_nist(document: Mapping[str, Any]) -> bool:
    return isinstance(document, dict) and isinstance(document.get("CVR"), list)


def _parts(value: object, key: str) -> Sequence[Mapping[str, Any]]:
    """Return the objects in the list at a key; nothing where there is no such list."""
    found = value.get(key) if isinstance(value, dict) else None
    return [part for part in found if isinstance(part, dict)] if isinstance(found, list) else []


def _nist(document: Mapping[str, Any], _: Path | None) -> Iterator[dict[str, Any]]:
    """Yield a row per ranked mark of the current snapshot of every record."""
    names: dict[str, str] = {}
    contests: dict[str, str] = {}
    for election in _parts(document, "Election"):
        people = {str(person.get("@id")): _said(person) for person in _parts(election, "Candidate")}
        for contest in _parts(election, "Contest"):
            contests[str(contest.get("@id"))] = _said(contest)
            for selection in _parts(contest, "ContestSelection"):
                who = [people.get(str(one), str(one)) for one in selection.get("CandidateIds") or []]
                names[str(selection.get("@id"))] = " and ".join(who) or _said(selection)
    for number, record in enumerate(_parts(document, "CVR"), start=1):
        snapshots = _parts(record, "CVRSnapshot")
        current = [one for one in snapshots if one.get("@id") == record.get("CurrentSnapshotId")] or snapshots[-1:]
        for contest in (part for snapshot in current for part in _parts(snapshot, "CVRContest")):
            for selection in _parts(contest, "CVRContestSelection"):
                for mark in _parts(selection, "SelectionPosition"):
                    if mark.get("HasIndication", "yes") != "yes" or mark.get("IsAllocable", "yes") == "no":
                        continue
                    chosen, where = str(selection.get("ContestSelectionId")), str(contest.get("ContestId"))
                    rank = mark.get("Rank", selection.get("Rank", 1))
                    yield _mark(number, contests.get(where, where), names.get(chosen, chosen), rank)


def _said(thing: Mapping[str, Any]) -> str:
    """Return the name of a candidate or a contest; names may be texts in several languages."""
    for key in ("Name", "BallotName", "FullName", "Code", "@id"):
        value = thing.get(key)
        texts = _parts(value, "Text")
        if texts:
            return str(texts[0].get("Content", ""))
        if isinstance(value, str) and value:
            return value
    return ""


def _mark(ballot: int, contest: str, candidate: str, rank: object) -> dict[str, Any]:
    return {"ballot": ballot, "contest": contest, "candidate": candidate, "rank": rank}


def _is_dominion(document: Mapping[str, Any]) -> bool:
    return isinstance(document, dict) and isinstance(document.get("Sessions"), list)


def _dominion(document: Mapping[str, Any], folder: Path | None) -> Iterator[dict[str, Any]]:
    """Yield a row per mark that counts; ids are resolved by the manifests next to the file."""
    names, contests = _manifest(folder, "CandidateManifest.json"), _manifest(folder, "ContestManifest.json")
    for number, session in enumerate(_parts(document, "Sessions"), start=1):
        sides = [session[key] for key in ("Modified", "Original") if isinstance(session.get(key), dict)]
        side = next((one for one in sides if one.get("IsCurrent", True)), None)
        if side is None:
            continue
        for card in _parts(side, "Cards") or [side]:
            for contest in _parts(card, "Contests"):
                for mark in _parts(contest, "Marks"):
                    if mark.get("IsVote", True) and not mark.get("IsAmbiguous", False):
                        who, where = str(mark.get("CandidateId")), str(contest.get("Id"))
                        yield _mark(number, contests.get(where, where), names.get(who, who), mark.get("Rank", 1))


def _manifest(folder: Path | None, name: str) -> dict[str, str]:
    try:
        known = json.loads((folder / name).read_bytes()) if folder is not None else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return {str(one.get("Id")): str(one.get("Description", one.get("Id"))) for one in _parts(known, "List")}


DOCUMENTS = (
    JsonLayout("a NIST cast vote record report (SP 1500-103)", _is_nist, _nist),
    JsonLayout("a Dominion cast vote record export", _is_dominion, _dominion),
)
RECORDS = (JsonLayout("Arena-Hard judgments", _is_arena_hard, _arena_hard),)


def expanded(records: Records) -> tuple[Records, list[str]]:
    """Return records of a layout as the rows that they stand for, and a note; others as they are."""
    layout = next((layout for layout in RECORDS if records and layout.fits(records[0][1])), None)
    if layout is None:
        return records, []
    rows = [(line, row) for line, record in records if layout.fits(record) for row in layout.rows(record, None)]
    return rows, [f"read as {layout.name}: one battle per game, the baseline first in the first game"]
