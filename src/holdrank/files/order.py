"""Files of the type .order: text of numbers, one voter per line, for items without names."""

from __future__ import annotations

import re
from itertools import chain

import numpy as np

from holdrank.errors import InputError, Message, Option
from holdrank.files.containers.source import Source, split_lines
from holdrank.files.read_options import ReadOptions
from holdrank.votes.ballots.ranks import ranks_within
from holdrank.votes.forms.raw import RawBallots, ranks_of_marks
from holdrank.votes.forms.table import Problems, no_rows
from holdrank.votes.forms.table_options import ballot_choices

_MANY_ITEMS = 10_000  # that a file may declare without naming them


def read_order(text: str, source: Source, options: ReadOptions, problems: Problems) -> RawBallots:
    """Read ``n 1``, then ``0 k id1 … idk`` for each voter, with ids from 0, best first."""
    lines = split_lines(text)

    def fault(problem: str, line: int, expected: str, repair: str) -> InputError:
        found = lines[line - 1]
        return InputError(problem, source=source.name, line=line, found=found, expected=expected, repair=repair)

    head = next((k for k, line in enumerate(lines) if line.strip()), 0)
    words = lines[head].split()
    start = "the number of items and a 1, such as '10 1'"
    if not words or not all(re.fullmatch(r"[0-9]{1,7}", word) for word in words[:2]) or int(words[0]) < 1:
        repair = Message("check the format, or set ", Option("format"), " to the right one")
        raise fault("this is not an .order file", head + 1, start, repair)
    size = int(words[0])
    if size > max(_MANY_ITEMS, len(text)):
        problem = f"the file declares {size:,} items, far more than its ballots can name"
        raise fault(problem, head + 1, start, "correct the number of items")
    tally: dict[str, int] = {}
    line_of: dict[str, int] = {}
    for number, line in enumerate(lines[head + 1 :], start=head + 2):
        if line.strip():
            tally[line] = tally.get(line, 0) + 1
            line_of.setdefault(line, number)
    if not tally:
        raise no_rows(source.name, "there are no ballots: nothing to aggregate")
    orders, weights = [], []
    for line, count in tally.items():
        words = line.split()
        problem = ""
        if not all(re.fullmatch(r"[0-9]{1,9}", word) for word in words):
            problem = "the line holds something other than whole numbers"
        elif len(words) < 2 or len(words) - 2 != int(words[1]):
            problem = "the second number must be the number of items that follow"
        elif any(int(word) >= size for word in words[2:]):
            problem = "an item is not declared"
        elif len(set(map(int, words[2:]))) < len(words) - 2:
            problem = "an item appears twice on the line"
        if problem:
            expected = f"'0 k' and k different items from 0 to {size - 1}"
            problems.add(fault(problem, line_of[line], expected, "correct the line, or delete it"))
            continue
        orders.append([int(word) for word in words[2:]])
        weights.append(count)
    row = np.repeat(np.arange(len(orders)), list(map(len, orders)))
    item = np.fromiter(chain.from_iterable(orders), dtype=np.int64, count=len(row))
    ranks = ranks_of_marks((len(orders), size), row, item, ranks_within(row, np.arange(len(row))), source.name)
    rule = options.unlisted_or("bottom")
    choices = {"form": "order (ids from 0, best first)", **ballot_choices(rule, "best first")}
    items = [str(k) for k in range(size)]
    notes = ["the file has no item names; items are called by their numbers, from 0"]
    return RawBallots(items, ranks, np.array(weights, dtype=np.float64), notes, choices, rule)
