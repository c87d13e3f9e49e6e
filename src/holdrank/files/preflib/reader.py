"""PrefLib files: orders with counts over numbered alternatives.

The body is read in bulk (`bulk`). Only a faulty or unusual body goes through the careful reader here, line by line,
which reports each fault. Both accept the same language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, Message, Option, UsageError, quote
from holdrank.files.containers.source import Source, line_feeds
from holdrank.files.preflib.bulk import Body, read_body
from holdrank.files.read_options import ReadOptions
from holdrank.votes.ballots.sparse import row_prints
from holdrank.votes.forms.notes import listed_lines, name_notes, plural
from holdrank.votes.forms.raw import RawBallots, ranks_of_marks
from holdrank.votes.forms.table import MAX_WEIGHT, Problems, no_rows
from holdrank.votes.forms.table_options import ballot_choices
from holdrank.votes.limits import most_cells

TYPES = {
    "soc": "strict orders, complete",
    "soi": "strict orders, incomplete",
    "toc": "orders with ties, complete",
    "toi": "orders with ties, incomplete",
    "cat": "items sorted into categories",
}

_KEY_WITH_NUMBER = re.compile(r"(ALTERNATIVE|CATEGORY) NAME ([0-9]+)")
_TOKEN = re.compile(r"[ \t]*([0-9]+|[:,{}]|[^:,{} \t]+)[ \t]*")


@dataclass(slots=True)
class PrefLibFile:
    """A PrefLib file cut into its header and its body."""

    source: str
    kind: str = ""
    keys: dict[str, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    categories: dict[int, str] = field(default_factory=dict)
    body: str = ""
    first_line: int = 1
    span: str = ""
    notes: list[str] = field(default_factory=list)

    def declare(self, known: dict[int, str], what: str, number: int, name: str, line: int, problems: Problems) -> None:
        """Give a name to the number of an item or a category, or refuse a number that has one."""
        if number not in known:
            known[number] = name
            return
        problem = f"{what} {number} is declared twice"
        problems.add(self.fault(problem, line, name, f"each {what} number once", "renumber it, or delete the line"))

    def fault(self, problem: str, line: int | None, found: str, expected: str, repair: str) -> InputError:
        """Return the error for a line, or for the file."""
        return InputError(problem, source=self.source, line=line, found=found, expected=expected, repair=repair)


def read_preflib(text: str, source: Source, options: ReadOptions, problems: Problems) -> RawBallots:
    """Read the modern format (since September 2022): a header of ``# KEY: value`` lines, then ``count: order``."""
    file = PrefLibFile(source.name)
    _read_header(file, line_feeds(text), problems)
    return ballots_of(file, source.extension, options, problems)


def _read_header(file: PrefLibFile, text: str, problems: Problems) -> None:
    comments = []
    at = k = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        if not line.startswith("#") and line.strip():
            file.body, file.first_line = text[at:], k + 1
            break
        at, k = end + 1, k + 1
        if not line.strip():
            continue
        content = line[1:].lstrip(" \t")
        key, colon, value = content.partition(": ")
        if not colon:
            key, colon, value = content.partition(":")
        if not colon:
            comments.append(k)
            continue
        key = key.strip().upper()
        match = _KEY_WITH_NUMBER.fullmatch(key)
        number = _small_number(match[2]) if match else None
        if match is None:
            file.keys[key] = value.strip()
        elif number is None:
            problems.add(
                file.fault(
                    "the number of a name is far too large",
                    k,
                    line,
                    "a number of at most 15 digits",
                    "number the names from 1",
                )
            )
        elif match[1] == "CATEGORY":
            file.declare(file.categories, "category", number, value.strip(), k, problems)
        else:
            file.declare(file.names, "alternative", number, value, k, problems)
    if comments:
        file.notes.append(f"{plural(len(comments), 'line')} kept as comments{listed_lines(comments)}")


def _settle_kind(file: PrefLibFile, extension: str) -> None:
    """Determine the type: from the header, not the extension."""
    declared = file.keys.get("DATA TYPE", "").strip().lower()
    kind = declared or extension.lstrip(".").lower()
    if kind in ("wmd", "dat"):
        raise file.fault(
            f"a .{kind} file holds no votes",
            None,
            declared or extension,
            "a file of type soc, soi, toc, toi or cat",
            "use the .soc, .soi, .toc, .toi or .cat file of the same data set",
        )
    if kind not in TYPES:
        if declared:
            raise file.fault(
                "the header names an unknown DATA TYPE",
                None,
                declared,
                "soc, soi, toc, toi or cat",
                "correct the DATA TYPE line of the header",
            )
        file.notes.append("no DATA TYPE in the header; read as orders with ties, incomplete (toi)")
        kind = "toi"
    file.kind = kind


def ballots_of(
    file: PrefLibFile, extension: str, options: ReadOptions, problems: Problems, form: str = "preflib"
) -> RawBallots:
    """Return the ballots of a file whose header is read."""
    _settle_kind(file, extension)
    categories = options.categories
    if categories is not None and file.kind != "cat":
        raise UsageError(Message(Option("categories"), f" applies only to .cat files, not to .{file.kind}"))
    if not file.names:
        raise file.fault(
            "no alternatives are declared",
            None,
            file.keys.get("NUMBER ALTERNATIVES", ""),
            "a line '# ALTERNATIVE NAME 1: name' for each item",
            "add the names to the header",
        )
    ids = np.array(sorted(file.names), dtype=np.int64)
    rule = options.unlisted_or("bottom")
    choices = {"form": f"{form} {file.kind} ({TYPES[file.kind]})", **ballot_choices(rule, "best first")}
    body = _read_fast(file, ids)
    if body is None:
        body = _read_lines(file, ids, problems)
    if not len(body.counts) and not problems.total:
        raise no_rows(file.source, "there are no ballots: nothing to aggregate")
    if file.kind == "cat":
        rank_of_group = np.array(_category_places(file, categories, body, choices), dtype=np.int32)
    else:
        rank_of_group = np.arange(1, len(ids) + 1, dtype=np.int32)
    rank = rank_of_group[body.group] if len(body.row) else body.group
    ranks = ranks_of_marks((len(body.counts), len(ids)), body.row, body.item, rank, file.source)
    items = _item_names(file, ids)
    _count_notes(file, body, rank)
    mentions = np.bincount(body.item[rank > 0], minlength=len(ids))
    nobody = [name for name, count in zip(items, mentions.tolist(), strict=True) if not count]
    if nobody and len(body.counts):
        example = ", ".join(quote(name, 30) for name in nobody[:3])
        file.notes.append(f"{plural(len(nobody), 'item')} that no ballot ranks, such as {example}; kept as items")
    return RawBallots(items, ranks, body.counts, file.notes, choices, rule, title=file.keys.get("TITLE", ""))


def _item_names(file: PrefLibFile, ids: NDArray[np.int64]) -> list[str]:
    """Return the names in order of number; an empty or duplicate name gets its number."""
    names = [file.names[k] for k in ids.tolist()]
    times: dict[str, int] = {}
    for name in names:
        times[name] = times.get(name, 0) + 1
    taken = {name for name, count in times.items() if count == 1 and name.strip()}
    out, empty, shared = [], 0, 0
    for number, name in zip(ids.tolist(), names, strict=True):
        if name in taken:
            out.append(name)
            continue
        if name.strip():
            shared += 1
            name = f"{name} #{number}"
        else:
            empty += 1
            name = f"#{number}"
        while name in taken:
            name += f" #{number}"
        taken.add(name)
        out.append(name)
    if empty:
        file.notes.append(f"{plural(empty, 'item')} without a name, called by number, such as #1")
    if shared:
        file.notes.append(
            f"{plural(shared, 'item')} share a name with another; the number was added to distinguish them"
        )
    file.notes += name_notes([name for name in names if times[name] == 1])
    return out


def _count_notes(file: PrefLibFile, body: Body, rank: NDArray[np.integer]) -> None:
    """Add notes where the header's counts differ from the body (the body counts), and on orders that repeat."""
    lines = len(body.counts)
    facts = {
        "NUMBER ALTERNATIVES": len(file.names),
        "NUMBER VOTERS": int(body.counts.sum()),
        "NUMBER UNIQUE ORDERS": lines,
        "NUMBER UNIQUE PREFERENCES": lines,
    }
    for key, real in facts.items():
        said = file.keys.get(key, "")
        if said and said != str(real):
            file.notes.append(
                f"the header says {key} {quote(said, 30)}, the file has {real:,}; the file's own count is used"
            )
    # A fingerprint a row is enough to count repeats; the votes themselves are merged without it.
    prints = row_prints(lines, body.row, body.item, rank)[body.counts > 0]
    repeats = len(prints) - len(np.unique(prints))
    if repeats:
        file.notes.append(f"{plural(repeats, 'line repeats', 'lines repeat')} an order; their counts were added")


def _category_places(
    file: PrefLibFile, wanted: Sequence[str | int] | None, body: Body, choices: dict[str, str]
) -> list[int]:
    """Return the rank of every category by its place in a line; 0 = its items are unlisted."""
    numbers = sorted(file.categories) or list(range(1, int(body.group.max(initial=0)) + 2))
    labels = [file.categories.get(number, str(number)) for number in numbers]
    if wanted is None:
        listing = " > ".join(quote(label, 30) for label in labels[:8])
        file.notes.append(f"categories ranked best first as listed: {listing}; give their order if that is wrong")
        choices["categories"] = f"as listed: {listing}"
        return list(range(1, len(numbers) + 1))
    places = [0] * len(numbers)
    for place, ref in enumerate(wanted, start=1):
        hits = [k for k, label in enumerate(labels) if label == ref]
        if not hits and str(ref).isdecimal():
            wanted_number = _small_number(str(ref))
            hits = [k for k, number in enumerate(numbers) if number == wanted_number]
        if len(hits) != 1 or places[hits[0]]:
            raise file.fault(
                "a category is unknown, ambiguous or given twice",
                None,
                str(ref),
                f"each one of {', '.join(quote(label, 30) for label in labels[:12])} at most once",
                "give names or numbers of CATEGORY NAME lines, best first",
            )
        places[hits[0]] = place
    choices["categories"] = " > ".join(quote(str(ref), 30) for ref in wanted)
    left_out = [label for label, place in zip(labels, places, strict=True) if not place]
    if left_out:
        file.notes.append(f"items in {', '.join(quote(label, 30) for label in left_out)} count as unlisted")
    return places


def _read_fast(file: PrefLibFile, ids: NDArray[np.int64]) -> Body | None:
    """Read the whole body at once, or return None if the careful reader is needed."""
    if file.kind != "cat" and file.body.count(",") > (file.body.count("\n") + 1) * len(ids):
        return None  # some line names an item twice: one line of megabytes is not worth arrays
    body = read_body(file.body, ids, empty_groups=file.kind == "cat")
    return body if body is not None and _fits_kind(file, body, len(ids)) else None


def _fits_kind(file: PrefLibFile, body: Body, items: int) -> bool:
    """Whether no line names an item twice, and every line has the ties and gaps its type allows."""
    rows = len(body.counts)
    if (body.counts > MAX_WEIGHT).any():
        return False
    if file.kind == "cat" and file.categories and (body.groups > len(file.categories)).any():
        return False
    mentions = np.bincount(body.row, minlength=rows)
    if file.kind in ("soc", "soi") and (mentions > body.groups).any():
        return False
    if file.kind in ("soc", "toc") and (mentions != items).any():
        return False
    places = body.row * items + body.item
    if rows * items > most_cells(len(places)):
        return len(np.unique(places)) == len(places)
    seen = np.zeros(rows * items, dtype=bool)
    seen[places] = True
    return int(np.count_nonzero(seen)) == len(places)


def _read_lines(file: PrefLibFile, ids: NDArray[np.int64], problems: Problems) -> Body:
    """Read the body line by line, reporting every fault with its line."""
    index = {number: k for k, number in enumerate(ids.tolist())}
    file.span = _span(ids.tolist())
    counts: list[float] = []
    row: list[int] = []
    item: list[int] = []
    group: list[int] = []
    sizes: list[int] = []
    ties: list[tuple[int, str]] = []
    gaps: list[tuple[int, str]] = []
    comments = []
    for number, line in enumerate(file.body.split("\n"), start=file.first_line):
        if not line.strip(" \t"):
            continue
        if line.startswith("#"):
            if ":" not in line:
                comments.append(number)
            else:
                problems.add(
                    file.fault(
                        "a header line follows the data",
                        number,
                        line,
                        "header lines before the first ballot only",
                        "move the line up, or delete it",
                    )
                )
            continue
        try:
            count, groups = _read_line(file, number, line, index)
        except InputError as error:
            problems.add(error)
            continue
        if file.kind in ("soc", "soi") and any(len(members) > 1 for members in groups):
            ties.append((number, line))
        if file.kind in ("soc", "toc") and sum(map(len, groups)) < len(index):
            gaps.append((number, line))
        for place, members in enumerate(groups):
            for member in members:
                row.append(len(counts))
                item.append(member)
                group.append(place)
        counts.append(float(count))
        sizes.append(len(groups))
    if comments:
        file.notes.append(f"{plural(len(comments), 'line')} kept as comments{listed_lines(comments)}")
    for faults, what in ((ties, "a tie"), (gaps, "an unlisted item")):
        fitting = ("t" if ties or file.kind[0] == "t" else "s") + "o" + ("i" if gaps or file.kind[-1] == "i" else "c")
        for number, line in faults:
            problems.add(
                file.fault(
                    f"a ballot has {what}, which type {file.kind} ({TYPES[file.kind]}) does not allow",
                    number,
                    line,
                    f"{TYPES[file.kind]}",
                    f"set DATA TYPE to {fitting} ({TYPES[fitting]}), which fits this file",
                )
            )
    integers = (np.array(column, dtype=np.int64) for column in (row, item, group, sizes))
    return Body(np.array(counts, dtype=np.float64), *integers)


def _read_line(file: PrefLibFile, at: int, line: str, index: dict[int, int]) -> tuple[int, list[list[int]]]:
    """Return the count and the groups of item indices of one line."""
    head, colon, order = line.partition(":")
    grammar = "count: order, such as 13: 1,{4,3},2"
    if not colon:
        raise file.fault("the line is not a ballot", at, line, grammar, "correct it, or make it a comment with #")
    if not re.fullmatch(r"[ \t]*[0-9]+[ \t]*", head):
        raise file.fault(
            "the count is not a whole number", at, head.strip(), "digits only", "write how many voters cast this order"
        )
    digits = head.strip(" \t").lstrip("0") or "0"
    if len(digits) > 16 or int(digits) > MAX_WEIGHT:
        raise file.fault("the count is far too large", at, head.strip(), "at most 2**46", "correct the count")
    groups: list[list[int]] = []
    seen: set[int] = set()
    inside = False
    want_item = True  # an item (or a brace) must come next
    end = 0
    for match in _TOKEN.finditer(order):
        token, end = match[1], match.end()
        if token == "{":
            if inside or not want_item:
                raise file.fault("a brace opens in the wrong place", at, line, grammar, "braces cannot be nested")
            inside = True
            groups.append([])
        elif token == "}":
            empty = inside and not groups[-1]
            if not inside or (want_item and not empty):
                raise file.fault("a brace closes in the wrong place", at, line, grammar, "balance the braces")
            if empty and file.kind != "cat":
                raise file.fault("a group is empty", at, line, "at least one item between braces", "delete the {}")
            inside = want_item = False
        elif token == ",":
            if want_item:
                raise file.fault("an item is missing before a comma", at, line, grammar, "delete the comma")
            want_item = True
        elif not token.isdecimal() or not token.isascii():
            raise file.fault(f"{quote(token, 30)} is not an item number", at, line, grammar, "write item numbers")
        else:
            if not want_item:
                raise file.fault("a comma is missing between items", at, line, grammar, "put commas between items")
            number = _small_number(token)
            item = None if number is None else index.get(number)
            if item is None:
                raise file.fault(
                    f"item {token[:20]} is not declared",
                    at,
                    line,
                    f"an item that the header declares ({file.span})",
                    "declare it in the header, or correct the line",
                )
            if item in seen:
                twice = f"item {token} appears twice on the line"
                raise file.fault(twice, at, line, "each item once", "delete one mention")
            seen.add(item)
            if not inside:
                groups.append([])
            groups[-1].append(item)
            want_item = False
    if inside or want_item or end < len(order):
        what = "a brace is not closed" if inside else "the order is empty or ends with a comma"
        raise file.fault(what, at, line, grammar, "complete the line, or delete it")
    if file.kind == "cat" and file.categories and len(groups) > len(file.categories):
        raise file.fault(
            f"the line has {len(groups)} categories",
            at,
            line,
            f"the {len(file.categories)} categories of the header",
            "declare the others with CATEGORY NAME lines, or correct the line",
        )
    return int(digits), groups


def _small_number(digits: str) -> int | None:
    """Return a number of at most 15 digits, leading zeros aside; None if it is larger."""
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= 15 else None


def _span(numbers: list[int]) -> str:
    """Return declared numbers, which ascend, in few words: 1 to 9, or a list when they have gaps."""
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers[:8])) + (", …" if len(numbers) > 8 else "")
