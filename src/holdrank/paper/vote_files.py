"""The trade-off of Figure 5 for vote files, each read in its own way, with every threshold."""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

from holdrank import plots
from holdrank.analysis.many import VoteFile, go_on, sources
from holdrank.analysis.tradeoff import tradeoff
from holdrank.errors import HoldrankError, InputError, Message, UsageError, one_line, quote, reason, show
from holdrank.files.read_options import ReadOptions, check_format
from holdrank.paper.distributions import UNIT
from holdrank.parallel.checkpoints import Keep, opened
from holdrank.parallel.spread import expect_executor, spread
from holdrank.parallel.workers import Parcel
from holdrank.plots import Data
from holdrank.rules.consensus import expect_seconds
from holdrank.status import Clock
from holdrank.words.numbers import plural

File: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any]"
Errors: TypeAlias = dict[str, HoldrankError]

_LONGEST_TITLE = 120  # characters
_OPTIONS = sorted({"format", *(field.name for field in fields(ReadOptions))})


def real(
    files: Sequence[File],
    *,
    reading: Mapping[str, Any] | None = None,
    time_limit: float | None = 60.0,
    executor: Executor | None = None,
    checkpoint: Keep = None,
) -> Data:
    """Return loss and robustness of every threshold of Downward Merge, for vote files.

    Parameters
    ----------
    files : sequence of path or mapping
        A mapping has the ``path``, and if wanted a ``title`` and options of `read_votes` for this file alone.
    reading : mapping, optional
        How to read the files: options of `read_votes`. The options of one file override them.
    time_limit : float, optional
        Time limit in seconds for each file; bounds proved by then count.
    executor, checkpoint
        As in `figures`; each file is a task, and is read by the worker.

    Returns
    -------
    dict
        ``files`` has a panel for each file, ``rows`` a row for each threshold, and ``failed`` the files that could not
        be used, with the reason.

    Raises
    ------
    InputError
        If no file can be used.

    Notes
    -----
    ``pareto`` is true where no other threshold is known to be better, ``proved_pareto`` where none can be.
    """
    means: dict[str, Any] = {"executor": executor, "checkpoint": checkpoint}
    *_, (found, errors) = growing(files, reading=reading, time_limit=time_limit, **means)
    if not found["files"]:
        raise left_out(errors, len(files))
    return found


def growing(
    files: Sequence[File],
    *,
    reading: Mapping[str, Any] | None = None,
    time_limit: float | None = 60.0,
    executor: Executor | None = None,
    checkpoint: Keep = None,
) -> Iterator[tuple[Data, Errors]]:
    """Give what `real` returns, and the errors, after each file; ``unfinished`` names the files still to come."""
    if not files:
        raise UsageError("the figure 'real' needs vote files", repair="name at least one")
    expect_executor(executor)
    time_limit = expect_seconds(time_limit)
    listed = [_listed(file, reading or {}) for file in files]
    found: dict[int, tuple[Data, list[Data]] | HoldrankError] = {}
    work: dict[str, tuple[Any, ...]] = {}
    turns: dict[str, int] = {}
    for turn, one in enumerate(listed):
        try:
            (source,) = sources([one.path], one.reading, executor)
        except (HoldrankError, OSError) as error:  # votes from stdin are read here
            found[turn] = _told(one.path, error)
            continue
        key = f"real, {turn}, {source.key}, {json.dumps(one.reading, sort_keys=True, default=str)}"
        work[key], turns[key] = (source, one.reading, time_limit), turn

    def so_far() -> tuple[Data, Errors]:
        done = {turn: found[turn] for turn in sorted(found)}
        errors = {show(listed[turn].path): one for turn, one in done.items() if isinstance(one, HoldrankError)}
        panels, rows = [], []
        for turn, one in done.items():
            if not isinstance(one, HoldrankError):
                panel, some = one
                title = listed[turn].title or panel["title"] or panel["file"]
                panels.append({**panel, "title": show(title, _LONGEST_TITLE)})
                rows += some
        data = {"figure": "real", "unit": UNIT, "time_limit": time_limit, "files": panels,
                "failed": [{"file": name, "error": str(error)} for name, error in errors.items()],
                "unfinished": [show(listed[turn].path) for turn in range(len(listed)) if turn not in found],
                "rows": rows}  # fmt: skip
        return data, errors

    if not work:
        yield so_far()
    with opened(checkpoint, "real", None, {"reading": dict(reading or {})}) as kept:
        for key, value in spread(_panel, work, Parcel(None), Clock(), executor=executor, kept=kept):
            found[turns[key]] = value
            yield so_far()


def left_out(errors: Errors, total: int) -> HoldrankError:
    """Return the error of a run that skipped some files, with the reason for each."""
    if total == 1:
        return next(iter(errors.values()))
    rest = "everything else is written" if len(errors) < total else "nothing can be drawn"
    head = f"{len(errors)} of {plural(total, 'vote file')} could not be used; {rest}:"
    lines = (part for error in errors.values() for part in ("\n  ", one_line(error)))
    return InputError(Message(head, *lines))


def read_list(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the vote files that a TOML file lists: a table ``[[file]]`` for each, with its path and reading options.

    Parameters
    ----------
    path : path
        Of the list. The paths in it are relative to its folder.
    """
    name = os.fspath(path)
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
        table = tomllib.loads(text)
    except (OSError, ValueError) as error:  # of the system, of UTF-8 and of TOML
        line = re.search(r"\(at line (\d+)", str(error))
        problem = reason(error) if isinstance(error, OSError) else f"this is not a TOML file: {show(str(error), 200)}"
        raise InputError(problem, source=name, line=int(line[1]) if line else None,
                         repair="write a table [[file]] with a path for each vote file") from error  # fmt: skip
    entries = table.pop("file", [])
    if table or not isinstance(entries, list) or not entries or not all(isinstance(one, dict) for one in entries):
        stray = f"found {quote(next(iter(table)))}, " if table else ""
        raise InputError(f"{stray}expected tables [[file]] and nothing else", source=name,
                         repair="write a table [[file]] with a path for each vote file")  # fmt: skip
    for number, entry in enumerate(entries, start=1):
        where = f"{show(name, 200)}, file {number}"
        try:
            _listed(entry, {})
        except HoldrankError as error:
            raise InputError(error.problem, source=where, repair=error.repair) from error
        entry["path"] = os.path.join(os.path.dirname(name), entry["path"])
    return entries


@dataclass(frozen=True, slots=True)
class _Listed:
    """A vote file, its title if it was given one, and how to read it."""

    path: str
    title: str
    reading: dict[str, Any]


def _listed(file: File, reading: Mapping[str, Any]) -> _Listed:
    if not isinstance(file, Mapping):
        return _Listed(os.fspath(file), "", dict(reading))
    own = dict(file)
    path, title = own.pop("path", None), own.pop("title", "")
    if not isinstance(path, str | os.PathLike) or not isinstance(title, str):
        raise UsageError("each vote file needs a path, and its title must be text", repair='write path = "votes.soc"')
    for option in own:
        if option not in _OPTIONS:
            near = difflib.get_close_matches(option.replace("-", "_"), _OPTIONS, n=1)
            repair = f"write {near[0]}" if near else f"use one of path, title, {', '.join(_OPTIONS)}"
            raise UsageError(f"reading has no option {quote(option)}", repair=repair)
    check_format(own.get("format"))
    ReadOptions.of("read_votes", {name: value for name, value in own.items() if name != "format"})
    return _Listed(os.fspath(path), title, {**reading, **own})


def _panel(
    _parcel: Parcel[None], source: VoteFile, reading: dict[str, Any], time_limit: float | None, _clock: Clock
) -> tuple[tuple[Data, list[Data]] | HoldrankError, bool]:
    try:
        votes = source.votes(reading)
        found = tradeoff(votes, time_limit=time_limit)
    except (HoldrankError, OSError, MemoryError) as error:
        return _told(source.name, error), False  # the others continue; a second run tries this one again
    go_on(found.status)
    data = plots.tradeoff_data(found)
    panel = {
        "file": show(Path(source.name).name),
        "title": votes.reading.title,
        "votes": votes.total,
        "items": votes.n,
        "status": found.status.value,
        **data,
    }
    rows = []
    for k, ranking in enumerate(found.rankings):
        row = {name: data[name][k] for name in ("theta", "loss", "lower", "upper", "pareto")}
        tiers = ranking.text([show(item) for item in votes.items])
        proved = {"proved_pareto": data["proved_pareto"][k]}
        rows.append({"file": panel["file"], **row, "best": k == found.best, "tiers": tiers, **proved})
    return (panel, rows), found.status.is_exact or time_limit is None


def _told(name: str, error: HoldrankError | OSError | MemoryError) -> HoldrankError:
    """Return why a file cannot be used, with its name."""
    if isinstance(error, MemoryError):
        return InputError("there is not enough memory", source=name, repair="use a machine with more memory")
    if isinstance(error, OSError):
        return InputError(reason(error), source=name, repair="check that it exists and that you may read it")
    if name in str(error) or show(name, 200) in str(error):
        return error
    return InputError(error.problem, source=name, repair=error.repair)
