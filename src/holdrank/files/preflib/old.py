"""PrefLib files from before September 2022: a header by line position, and a body almost as today."""

from __future__ import annotations

import re

from holdrank.errors import Message, Option
from holdrank.files.containers.source import Source, split_lines
from holdrank.files.preflib.reader import PrefLibFile, ballots_of
from holdrank.files.read_options import ReadOptions
from holdrank.votes.forms.raw import RawBallots
from holdrank.votes.forms.table import Problems


def read_old_preflib(text: str, source: Source, options: ReadOptions, problems: Problems) -> RawBallots:
    """Read the number of items, ``id,name`` lines, totals, and ``count,order`` lines."""
    file = PrefLibFile(source.name)
    lines = split_lines(text)
    filled = [k for k, line in enumerate(lines) if line.strip()]
    start = filled[0]
    size = int(lines[start]) if re.fullmatch(r"[ \t]*[0-9]{1,9}[ \t]*", lines[start]) else -1
    if size < 0:
        raise file.fault(
            "this is not a PrefLib file in the format used before 2022",
            start + 1,
            lines[start],
            "the number of items alone on the first line",
            Message("check the format, or set ", Option("format"), " to the right one"),
        )
    named, rest = filled[1 : size + 1], filled[size + 1 :]
    for k in named:
        match = re.match(r"[ \t]*([0-9]{1,15})[ \t]*,(.*)", lines[k], re.DOTALL)
        if match is None:
            problems.add(
                file.fault(
                    "the line does not name an item",
                    k + 1,
                    lines[k],
                    f"id,name on each of the {size} lines after the first",
                    "correct the line, or the number of items on the first line",
                )
            )
            continue
        # Old files pad names with blanks; the modern copies of the same files do not.
        file.declare(file.names, "item", int(match[1]), match[2].rstrip(), k + 1, problems)
    if len(named) < size or not rest or len(lines[rest[0]].split(",")) != 3:
        raise file.fault(
            "the line with the totals is missing",
            (rest[0] if rest else filled[-1]) + 1,
            lines[rest[0] if rest else filled[-1]],
            f"voters,sum,orders after {size} lines of names",
            "correct the line, or the number of items on the first line",
        )
    voters, _, orders = (part.strip() for part in lines[rest[0]].split(","))
    file.keys = {"NUMBER VOTERS": voters, "NUMBER UNIQUE ORDERS": orders}
    file.first_line = rest[0] + 2
    file.body = "\n".join(line.replace(",", ":", 1) for line in lines[rest[0] + 1 :])
    return ballots_of(file, source.extension, options, problems, "preflib-old")
