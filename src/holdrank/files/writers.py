"""Writing votes: PrefLib, CSV and JSON Lines, such that reading them back gives the same votes."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from holdrank.errors import InputError, Message, Option, UsageError, quote, reason
from holdrank.files.table_form import named_form
from holdrank.parallel.checkpoints import replace_file
from holdrank.votes.forms.table import Table
from holdrank.votes.forms.vocabulary import guard_name
from holdrank.votes.votes import Votes

_TYPES = ("soc", "soi", "toc", "toi")
_CSV_FORMS = ("rank-columns", "positions")
_FORMATS = ("preflib", *_TYPES, "csv", *_CSV_FORMS, "jsonl")


def write_votes(votes: Votes, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write votes to a file that `read_votes` reads back: the same items, ballots and weights.

    Parameters
    ----------
    votes : Votes
    path : path or "-"
        The extension decides the format: .soc .soi .toc .toi are PrefLib (and must fit the ballots), .csv is
        CSV, .jsonl is JSON Lines; ``"-"`` is standard output.
    format : str, optional
        ``"preflib"`` (the type that fits), ``"soc"``, ``"soi"``, ``"toc"``, ``"toi"``, ``"csv"`` (positions where
        that loses nothing, else rank columns), ``"positions"``, ``"rank-columns"`` or ``"jsonl"``.

    Notes
    -----
    The file is written completely or not at all. An existing file keeps its permissions, and a link stays a link. A
    target that is not a regular file (a device, a pipe) is written in place.

    For votes with scores, only the rankings are written, equal ones merged.

    The rule for unlisted items is part of JSON Lines only; give ``unlisted=`` when reading the others. In CSV an
    apostrophe precedes a name that a spreadsheet would run as a formula, or that would be read as a blank or as another
    column; `read_votes` removes it.
    """
    to_stdout = isinstance(path, str) and path == "-"
    extension = "" if to_stdout else Path(path).suffix.lower().lstrip(".")
    chosen = format or extension
    if chosen not in _FORMATS:
        raise UsageError(
            f"cannot tell the output format from {quote(str(path))}",
            repair=Message("set ", Option("format"), f" to one of {', '.join(_FORMATS)}"),
        )
    if format in ("preflib", *_TYPES) and extension in _TYPES:
        if format != "preflib" and format != extension:
            raise UsageError(f"format {format!r} contradicts the extension .{extension}")
        chosen = extension
    name = "standard output" if to_stdout else str(path)
    text = _text(votes, chosen, name)
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            "a name holds half of a surrogate pair, which no text file can hold",
            source=name,
            found=text[error.start],
            expected="valid Unicode names",
            repair="correct the name",
        ) from error
    if to_stdout:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_whole(Path(path), data)


def _text(votes: Votes, chosen: str, name: str) -> str:
    votes = votes.without_scores()  # no format here holds scores, and a ranking belongs on one line
    if chosen == "jsonl":
        return _jsonl(votes)
    if chosen in ("csv", *_CSV_FORMS):
        return _csv(votes, chosen, name)
    return _preflib(votes, chosen, name)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all (see `checkpoints.replace_file`)."""
    try:
        replace_file(path, data)
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from error


def expect_target(path: Path) -> None:
    """Refuse a file that cannot be written, before a long computation."""
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        folder = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(folder):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if not (os.access(path, os.W_OK) if path.exists() else os.access(folder, os.W_OK)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError | ValueError) -> InputError:
    """Return the error for a file that cannot be written."""
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return InputError(
        f"the file cannot be written: {reason(error)}",
        source=str(path),
        expected="free disk space" if full else "a folder that exists and that you may write to",
        repair="free some space, or choose another path" if full else "choose another path",
    )


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, unless it is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(
            f"the folder cannot be made: {reason(error)}",
            source=str(path),
            expected="a place that you may write to",
            repair="choose another path",
        ) from error


# ------------------------------------------------------------------------------------------------------- PrefLib


def fitting_type(votes: Votes) -> str:
    """Return the most restrictive PrefLib type that holds the votes: soc, soi, toc or toi."""
    return ("t" if votes.with_ties else "s") + "o" + ("i" if votes.incomplete else "c")


def _preflib(votes: Votes, chosen: str, name: str) -> str:
    fitting = fitting_type(votes)
    kind = fitting if chosen == "preflib" else chosen
    if (fitting[0] == "t" and kind[0] == "s") or (fitting[2] == "i" and kind[2] == "c"):
        what = "ties" if fitting[0] == "t" and kind[0] == "s" else "unlisted items"
        raise InputError(
            f"the ballots have {what}, which type {kind} cannot hold",
            source=name,
            found=fitting,
            expected=f"ballots that fit type {kind}",
            repair=f"write them as .{fitting}, the type that fits",
        )
    weights = votes.weights
    if not np.array_equal(weights, np.floor(weights)):
        raise InputError(
            "PrefLib holds only whole numbers of voters",
            source=name,
            found=f"weight {weights[weights != np.floor(weights)][0]:.17g}",
            expected="whole weights",
            repair="write CSV or JSON Lines, which hold fractions",
        )
    for item in votes.items:
        # A name of blanks would come back as the number of the item.
        if "\n" in item or "\r" in item or not item.strip():
            raise InputError(
                "PrefLib cannot hold a name that is empty or has a line break",
                source=name,
                found=item,
                expected="names on one line",
                repair="rename the item, or write CSV or JSON Lines instead",
            )
    lines = [
        f"# FILE NAME: {_one_line(Path(name).name)}",
        "# TITLE: ",
        f"# DATA TYPE: {kind}",
        "# MODIFICATION TYPE: original",
        f"# NUMBER ALTERNATIVES: {len(votes.items)}",
        f"# NUMBER VOTERS: {int(votes.total)}",
        f"# NUMBER UNIQUE ORDERS: {len(weights)}",
    ]
    lines += [f"# ALTERNATIVE NAME {k}: {item}" for k, item in enumerate(votes.items, start=1)]
    for ballot, weight in zip(votes.ballots.orders(), weights.tolist(), strict=True):
        groups = (",".join(str(k + 1) for k in group) for group in ballot)
        order = ",".join(f"{{{group}}}" if "," in group else group for group in groups)
        lines.append(f"{int(weight)}: {order}")
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)


# ---------------------------------------------------------------------------------------------------------- CSV


def _csv(votes: Votes, chosen: str, name: str) -> str:
    for item in votes.items:
        if not item.strip():
            raise InputError(
                "CSV cannot hold an item without a name",
                source=name,
                found=item,
                expected="names that are not blank",
                repair="rename the item, or write JSON Lines instead",
            )
    if chosen == "csv":
        chosen = "positions" if _first_mentions(votes) == list(range(len(votes.items))) else "rank-columns"
    if chosen == "positions":
        return "".join(",".join(map(csv_cell, row)) + "\n" for row in _position_rows(votes, name))
    heading, *rows = _rank_rows(votes)
    return "\n".join((",".join(map(csv_cell, heading)), *rows, ""))


def csv_cell(text: str) -> str:
    """Return a CSV cell, quoted where RFC 4180 asks for it; the csv module leaves a lone CR bare."""
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\r\n') else text


def _first_mentions(votes: Votes) -> list[int] | None:
    """Return the items in order of first mention, as a reader of positions meets them; None if there are ties."""
    if fitting_type(votes)[0] == "t":
        return None
    seen: dict[int, None] = {}
    for ballot in votes.ballots.orders():
        seen.update(dict.fromkeys(group[0] for group in ballot))
        if len(seen) == len(votes.items):
            break
    return list(seen)


def _position_rows(votes: Votes, name: str) -> list[Sequence[str]]:
    mentions = _first_mentions(votes)
    if mentions is None or len(mentions) < len(votes.items):
        raise InputError(
            "positions cannot hold " + ("ties" if mentions is None else "an item that no ballot lists"),
            source=name,
            found=fitting_type(votes),
            expected="strict orders that list every item at least once",
            repair=Message("write ", Option("format", "rank-columns"), " instead"),
        )
    width = int(votes.ballots.largest_ranks().max())
    names = [guard_name(item) for item in votes.items]
    rows: list[Sequence[str]] = [["weight", *(f"rank{k}" for k in range(1, width + 1))]]
    for ballot, weight in zip(votes.ballots.orders(), votes.weights.tolist(), strict=True):
        order = [names[group[0]] for group in ballot]
        rows.append([_number(weight), *order, *[""] * (width - len(order))])
    return rows


def _rank_rows(votes: Votes) -> tuple[list[str], *tuple[str, ...]]:
    """Return the heading, and one line per ballot with competition ranks (1, 1, 3), which cannot be read as scores.

    Lines hold only numbers, and are mostly empty where ballots list few items; as text they take little memory.
    """
    names = [guard_name(item) for item in votes.items]
    if named_form(Table("", ["weight", *names], [], ())) is not None:
        names = [guard_name(item, known_names=True) for item in votes.items]
    lines = []
    for ballot, weight in zip(votes.ballots.orders(), votes.weights.tolist(), strict=True):
        cells = [""] * len(names)
        place = 1
        for group in ballot:
            for item in group:
                cells[item] = str(place)
            place += len(group)
        lines.append(",".join((_number(weight), *cells)))
    return ["weight", *names], *lines


def _number(weight: float) -> str:
    """Return the shortest text that reads back as the same float."""
    return str(int(weight)) if weight.is_integer() else repr(weight)


# --------------------------------------------------------------------------------------------------- JSON Lines


def _jsonl(votes: Votes) -> str:
    lines = [json.dumps({"items": list(votes.items), "unlisted": votes.unlisted})]
    for ballot, weight in zip(votes.ballots.orders(), votes.weights.tolist(), strict=True):
        groups = [[votes.items[k] for k in group] for group in ballot]
        order = [group if len(group) > 1 else group[0] for group in groups]
        lines.append(json.dumps({"order": order, "weight": int(weight) if weight.is_integer() else weight}))
    return "\n".join(lines) + "\n"
