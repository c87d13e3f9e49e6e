"""Text files of votes that are not tables: one entry of `LAYOUTS` each, with its detection and its reader.

A reader returns ballots, or a table of battles for the readers of tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from holdrank.errors import InputError
from holdrank.files.containers.source import Source, split_lines
from holdrank.files.read_options import ReadOptions
from holdrank.votes.ballots.ranks import ranks_within
from holdrank.votes.forms.battles import ballots_of_matrix
from holdrank.votes.forms.notes import name_notes, plural
from holdrank.votes.forms.raw import RawBallots, ranks_of_marks
from holdrank.votes.forms.table import MAX_WEIGHT, Problems, Table, no_rows
from holdrank.votes.forms.table_options import ballot_choices

Marks = list[tuple[str | int, int]]
"""Items of a ballot, by name or number, with the group in which each stands."""

_MOST_ITEMS = 10_000
_NUMBERS = re.compile(r"[0-9]+")
_BLT_HEAD = re.compile(r"[0-9]{1,5}[ \t]+[0-9]{1,5}")
_BLT_BALLOT = re.compile(r"(?:\([^)]*\)[ \t]*)?([0-9.]+)((?:[ \t]+(?:[0-9]+(?:=[0-9]+)*|-))*?)([ \t]+0)?")
_SCOTTISH_HEAD = re.compile(r"[0-9]{1,4},[ \t]*[0-9]{1,3},*")
_ABIF_BALLOT = re.compile(r"([0-9]+)[ \t]*[:*][ \t]*(\S.*)")
_ABIF_NAME = re.compile(r"=[ \t]*(\w+)[ \t]*:[ \t]*\[(.*)\]")
_PGN_TAG = re.compile(r'\[(\w+)[ \t]+"((?:[^"\\]|\\.)*)"\]')


@dataclass(frozen=True, slots=True)
class TextLayout:
    """A text layout: its format, a test of the first lines and the extension, and its reader."""

    format: str
    reason: str
    fits: Callable[[Sequence[str], str], bool]
    read: Callable[[str, Source, ReadOptions, Problems], RawBallots | Table]


def layout_of(lines: Sequence[str], extension: str) -> TextLayout | None:
    """Return the layout of a text by its first lines (without outer blanks) and its extension; None for any other."""
    return next((layout for layout in LAYOUTS if layout.fits(lines, extension)), None)


class _Ballots:
    """Ballots as a reader of text collects them, and the errors of its lines."""

    def __init__(self, source: Source, problems: Problems) -> None:
        self.source, self.problems = source, problems
        self.marks: list[Marks] = []
        self.weights: list[float] = []
        self.lines: list[int] = []

    def fault(self, problem: str, line: int, found: str, expected: str, repair: str = "correct the line") -> None:
        name = self.source.name
        self.problems.add(InputError(problem, source=name, line=line, found=found, expected=expected, repair=repair))

    def add(self, marks: Marks, weight: str, line: int) -> None:
        """Add a ballot, or report an invalid weight or a repeated item."""
        if not 0 <= float(weight) <= MAX_WEIGHT:
            self.fault("the weight of a ballot is too large", line, weight, "a number from 0 to 2**46")
        elif len({item for item, _ in marks}) < len(marks):
            self.fault("the ballot names an item twice", line, str([item for item, _ in marks]), "each item once")
        else:
            self.marks.append(marks)
            self.weights.append(float(weight))
            self.lines.append(line)

    def whole(self, items: Sequence[str], options: ReadOptions, form: str, title: str = "") -> RawBallots:
        """Return the ballots over the items, which they call by name or by number from 1."""
        if not self.marks:
            if self.problems.total:
                return RawBallots([], np.zeros((0, 0), dtype=np.int32), np.zeros(0), [], {}, "bottom")
            raise no_rows(self.source.name, "there are no ballots: nothing to aggregate")
        at = {name: k for k, name in enumerate(items)}
        row = np.repeat(np.arange(len(self.marks)), [len(marks) for marks in self.marks])
        flat = [mark for marks in self.marks for mark in marks]
        item = np.array([at[who] if isinstance(who, str) else who - 1 for who, _ in flat], dtype=np.int64)
        group = np.array([place for _, place in flat], dtype=np.float64)
        shape = (len(self.marks), len(items))
        ranks = ranks_of_marks(shape, row, item, ranks_within(row, group), self.source.name)
        rule = options.unlisted_or("bottom")
        choices = {"form": form, **ballot_choices(rule, "best first")}
        notes: list[str] = [*name_notes(list(items))]
        return RawBallots(list(items), ranks, np.array(self.weights), notes, choices, rule, title=title)


# -------------------------------------------------------------------------------------------- .blt, of OpenSTV and ERS


def _is_blt(lines: Sequence[str], extension: str) -> bool:
    bare = [line for line in (_uncommented(line) for line in lines) if line]
    if not bare or not _BLT_HEAD.fullmatch(bare[0]):
        return False
    if extension == ".blt":
        return True
    ballot = _BLT_BALLOT.fullmatch(bare[1]) if len(bare) > 1 else None
    return ballot is not None and ballot[3] is not None and bare[1][0] != "0"


def _uncommented(line: str) -> str:
    return line.strip() if '"' in line else line.partition("#")[0].strip()


def _read_blt(text: str, source: Source, options: ReadOptions, problems: Problems) -> RawBallots:
    """Read ``items seats``, lines ``weight 1 3=2 0``, a line ``0``, and names in quotes.

    ``-3`` on a line of its own is withdrawn, ``-`` on a ballot is a place left empty, and the 0 that ends a ballot may
    be missing.
    """
    lines = [(number, _uncommented(line)) for number, line in enumerate(split_lines(text), start=1)]
    lines = [(number, line) for number, line in lines if line]
    found = _Ballots(source, problems)
    size = int(lines[0][1].split()[0])
    if size > max(_MOST_ITEMS, len(text)):
        found.fault("the file declares more items than it can name", lines[0][0], lines[0][1], "the number of items")
        return found.whole((), options, "blt")
    withdrawn: set[int] = set()
    names: list[str] = []
    ended = False
    for number, line in lines[1:]:
        match = None if ended else _BLT_BALLOT.fullmatch(line)
        if ended:
            names.append(line[1:-1] if line.startswith('"') and line.endswith('"') and len(line) > 1 else line)
        elif line == "0":
            ended = True
        elif re.fullmatch(r"-[0-9]+([ \t]+-[0-9]+)*", line):
            withdrawn |= {int(word[1:]) for word in line.split()}
        elif match is None or match[1].count(".") > 1 or match[1] == "." or not (match[2] or match[3]):
            found.fault("the line is not a ballot", number, line, "a weight, numbers of items best first, and 0")
        elif line.startswith("(") and float(match[1]) != 1:  # programs differ in whether a weight follows an id
            expected = "the weight 1 after the id of a ballot, then numbers of items"
            found.fault("the weight of a ballot with an id is not 1", number, line, expected, "delete all ids")
        else:
            groups = [group for group in match[2].split() if group != "-"]
            marks: Marks = [(int(one), place) for place, group in enumerate(groups) for one in group.split("=")]
            if any(not 1 <= int(who) <= size for who, _ in marks):
                found.fault("an item is not declared", number, line, f"numbers from 1 to {size}")
            else:
                found.add(marks, match[1], number)
    if len(names) < size:
        problem = (
            f"{plural(len(names), 'name')} for {plural(size, 'item')}"
            if ended
            else "the file is truncated: there is no line 0"
        )
        found.fault(problem, lines[-1][0], lines[-1][1], "a line 0 after the ballots, then a name in quotes per item")
        names += [f"#{k + 1}" for k in range(len(names), size)]
    stands = [k for k in range(1, size + 1) if k not in withdrawn]
    place_of = {k: place for place, k in enumerate(stands, start=1)}
    found.marks = [[(place_of[who], group) for who, group in marks if who in place_of] for marks in found.marks]
    title = names[size] if len(names) > size else ""
    raw = found.whole([names[k - 1] for k in stands], options, "blt", title)
    if len(stands) < size:
        gone = ", ".join(names[k - 1] for k in range(1, size + 1) if k in withdrawn)
        raw.notes.append(f"withdrawn, and not ranked: {gone}")
    return raw


# ------------------------------------------------------------------------------------------------- Scottish councils


def _is_scottish(lines: Sequence[str], extension: str) -> bool:
    if extension not in (".csv", "") or not lines or not _SCOTTISH_HEAD.fullmatch(lines[0]):
        return False
    if len(lines) < 2 or not re.fullmatch(r"[0-9]+(,[ \t]*[0-9]+)+,*", lines[1]):
        return False
    return lines[0].endswith(",") or any(re.match(r'"?Candidate', line) for line in lines)  # else a table of ranks


def _read_scottish(text: str, source: Source, options: ReadOptions, problems: Problems) -> RawBallots:
    """Read ``items,seats``, lines ``count,1,3,2``, then ``"Candidate 1","Name","Party"``, then the ward."""
    found = _Ballots(source, problems)
    names: list[str] = []
    title = ""
    lines = [(number, line.strip().rstrip(",")) for number, line in enumerate(split_lines(text), start=1)]
    lines = [(number, line) for number, line in lines if line]
    size = int(lines[0][1].split(",")[0])
    for number, line in lines[1:]:
        cells = [cell.strip() for cell in line.split(",")]
        if all(_NUMBERS.fullmatch(cell) for cell in cells):
            who = [int(cell) for cell in cells[1:]]
            if any(not 1 <= one <= size for one in who):
                found.fault("an item is not declared", number, line, f"numbers from 1 to {size}")
            else:
                found.add([(one, place) for place, one in enumerate(who)], cells[0], number)
        elif re.match(r'"?Candidate', line):
            quoted = re.findall(r'"([^"]*)"', line) or cells
            names.append(quoted[1] if len(quoted) > 1 else quoted[0])
        else:
            title = line.strip('"')
    if len(names) != size:
        problem = f"{plural(len(names), 'candidate')} named, {size} declared"
        found.fault(problem, lines[0][0], lines[0][1], 'a line "Candidate 1","Name","Party" for each')
        names = (names + [f"#{k + 1}" for k in range(size)])[:size]
    return found.whole(names, options, "Scottish council", title)


# ------------------------------------------------------------------------------------------------------------- ABIF


def _is_abif(lines: Sequence[str], extension: str) -> bool:
    bare = [line for line in lines if line and not line.startswith(("#", "{", "="))]
    if extension == ".abif":
        return True
    return bool(bare) and all((m := _ABIF_BALLOT.fullmatch(line)) is not None and ">" in m[2] for line in bare[:3])


def _read_abif(text: str, source: Source, options: ReadOptions, problems: Problems) -> RawBallots:
    """Read lines such as ``27:Memph>Nash=Chat``; ``=Memph:[Memphis, TN]`` says what a token is called."""
    found = _Ballots(source, problems)
    called: dict[str, str] = {}
    items: dict[str, None] = {}
    for number, whole_line in enumerate(split_lines(text), start=1):
        line = whole_line.strip()
        if not line or line.startswith(("#", "{")):
            continue
        name = _ABIF_NAME.fullmatch(line)
        match = _ABIF_BALLOT.fullmatch(line.partition("#")[0].strip())
        if name is not None:
            called[name[1]] = name[2].strip()
            items.setdefault(name[1])
        elif match is None:
            found.fault("the line is not a ballot", number, line, "a count, a colon and items: 27:A>B=C")
        else:
            marks: Marks = []
            for place, group in enumerate(match[2].split(">")):
                marks += [
                    (re.sub(r"/[0-9.]+$", "", one.strip()).strip("[] "), place) for one in re.split("[=,]", group)
                ]
            if not all(str(who) for who, _ in marks):
                found.fault("an item has no name", number, line, "names between > and =")
                continue
            items.update(dict.fromkeys(str(who) for who, _ in marks))
            found.add(marks, match[1], number)
    raw = found.whole(list(items), options, "ABIF")
    raw.items = [called.get(item, item) for item in raw.items]
    return raw


# -------------------------------------------------------------------------------------------------------------- PGN


def _is_pgn(lines: Sequence[str], extension: str) -> bool:
    bare = next((line for line in lines if line and not line.startswith(("%", ";"))), "")
    return _PGN_TAG.fullmatch(bare) is not None or (extension == ".pgn" and bare.startswith("["))


def _read_pgn(text: str, source: Source, _options: ReadOptions, problems: Problems) -> Table:
    """Return a table of games, one column per tag; moves are ignored."""
    games: list[tuple[int, dict[str, str]]] = []
    in_moves = True
    for number, line in enumerate(split_lines(text), start=1):
        match = _PGN_TAG.fullmatch(line.strip())
        if match is None:
            in_moves = in_moves or bool(line.strip())
            continue
        if in_moves or match[1] in games[-1][1]:
            games.append((number, {}))
            in_moves = False
        games[-1][1][match[1]] = match[2].replace('\\"', '"').replace("\\\\", "\\")
    needed = ("White", "Black", "Result")
    for start, tags in games:
        lacking = [tag for tag in needed if tag not in tags]
        if lacking:
            problems.add(
                InputError(
                    f"a game has no tag {lacking[0]}",
                    source=source.name,
                    line=start,
                    found=", ".join(tags),
                    expected='the tags White, Black and Result, such as [White "Name"]',
                    repair="add the tag, or delete the game",
                )
            )
    sound = [(start, tags) for start, tags in games if all(tag in tags for tag in needed)]
    if not games:
        raise no_rows(source.name, "there are no games")
    names = [*needed, *sorted({tag for _, tags in sound for tag in tags} - {*needed})]
    columns = [[tags.get(name, "") for _, tags in sound] for name in names]
    return Table(source.name, names, list(columns), [start for start, _ in sound])


# ------------------------------------------------------------------------------------------------------------ LOLIB


def _is_lolib(lines: Sequence[str], extension: str) -> bool:
    bare = [line for line in lines if line]
    if extension == ".mat" and bare:
        return True
    numbers = re.compile(r"-?[0-9.]+([ \t]+-?[0-9.]+)+")
    return len(bare) > 2 and _NUMBERS.fullmatch(bare[0]) is not None and all(map(numbers.fullmatch, bare[1:3]))


def _read_lolib(text: str, source: Source, _options: ReadOptions, _problems: Problems) -> RawBallots:
    """Read n and n x n numbers: the weight for placing the item of the row before the item of the column."""
    lines = split_lines(text)
    start = next((k for k, line in enumerate(lines) if _NUMBERS.fullmatch(line.strip())), 0)
    words = " ".join(lines[start:]).split()
    expected = "the number of items n, then n times n numbers of 0 or more"

    def broken(problem: str, found: str) -> InputError:
        repair = "check that the file is complete"
        return InputError(problem, source=source.name, line=start + 1, found=found, expected=expected, repair=repair)

    size = int(words[0]) if words and _NUMBERS.fullmatch(words[0]) and len(words[0]) < 6 else 0
    if size < 1 or len(words) - 1 < size * size:
        raise broken(f"{len(words) - 1:,} numbers for a matrix of {size} x {size}", words[0] if words else "")
    try:
        wins = np.array(words[1 : size * size + 1], dtype=np.float64).reshape(size, size)
    except ValueError as error:
        raise broken("a cell of the matrix is not a number", str(error)) from error
    if not ((wins >= 0) & (wins <= MAX_WEIGHT)).all():
        raise broken("a number of the matrix is negative or too large", str(wins.min()))
    return ballots_of_matrix([str(k + 1) for k in range(size)], wins, Table(source.name, [], [], ()), "LOLIB matrix")


LAYOUTS = (
    TextLayout("pgn", "tags such as [White ...] on the first lines", _is_pgn, _read_pgn),
    TextLayout("abif", "lines such as 27:A>B=C", _is_abif, _read_abif),
    TextLayout("blt", "two numbers on the first line, ballots that end in 0 below", _is_blt, _read_blt),
    TextLayout("scottish", "the numbers of candidates and seats on the first line", _is_scottish, _read_scottish),
    TextLayout("lolib", "the number of items, then a matrix", _is_lolib, _read_lolib),
)
"""In the order in which they are tried."""
