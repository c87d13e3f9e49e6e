"""The body of a PrefLib file, one ``count: order`` per line, read with a few array operations over its bytes.

Every byte has a kind, a run of digits is one token, and a table says which token may follow which; together with
braces that open and close in turn and one colon after the first number of each line, that is the whole grammar.
If a body is faulty or unusual, `read_body` returns None and the careful reader reads it line by line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

NUMBER, COLON, COMMA, OPEN, CLOSE, NEWLINE, BLANK, OTHER = range(8)
_KIND_OF_BYTE = bytearray([OTHER] * 256)
for _kind, _signs in enumerate((b"0123456789", b":", b",", b"{", b"}", b"\n", b" \t")):
    for _sign in _signs:
        _KIND_OF_BYTE[_sign] = _kind

_MAY_FOLLOW = {
    NEWLINE: (NUMBER,),
    NUMBER: (COLON, COMMA, CLOSE, NEWLINE),
    COLON: (NUMBER, OPEN),
    COMMA: (NUMBER, OPEN),
    OPEN: (NUMBER,),
    CLOSE: (COMMA, NEWLINE),
}
_GOOD_PAIRS = np.zeros(64, dtype=bool)
"""`_GOOD_PAIRS[8 * x + y]`: token y may stand right after token x."""
for _before, _after in _MAY_FOLLOW.items():
    _GOOD_PAIRS[[8 * _before + _token for _token in _after]] = True
_GOOD_PAIRS_OF_CATEGORIES = _GOOD_PAIRS.copy()
_GOOD_PAIRS_OF_CATEGORIES[8 * OPEN + CLOSE] = True

_LONGEST_NUMBER = 15  # digits; no sum of products of smaller numbers leaves 64 bits


@dataclass(slots=True)
class Body:
    """The lines of a body: the count of each, and the row, item and group (from 0) of every mention of an item."""

    counts: NDArray[np.float64]
    row: Ints
    item: Ints
    group: Ints
    groups: Ints
    """Groups of each line, empty ones included."""


def read_body(text: str, ids: Ints, *, empty_groups: bool = False) -> Body | None:
    r"""Return the body in arrays, or None if anything is unusual.

    `ids` are the declared numbers of the items, ascending; `empty_groups` allows ``{}``, as .cat files do.

    Examples
    --------
    >>> body = read_body("2: 1,{3,2}\n1: 3\n", np.array([1, 2, 3]))
    >>> body.counts.tolist(), body.row.tolist(), body.item.tolist(), body.group.tolist()
    ([2.0, 1.0], [0, 0, 0, 1], [0, 2, 1, 2], [0, 1, 1, 0])
    >>> read_body("2: 1,{3\n", np.array([1, 2, 3])) is None
    True
    """
    try:
        data = text.encode("ascii") + b"\n"
    except UnicodeEncodeError:
        return None
    marks = data.translate(bytes(_KIND_OF_BYTE))
    if OTHER in marks:
        return None
    kinds = np.frombuffer(marks, dtype=np.uint8)
    digit = kinds == NUMBER
    begins = kinds != BLANK
    begins[1:] &= ~(digit[1:] & digit[:-1])
    places = np.flatnonzero(begins)
    tokens = kinds[places]
    if b"\n\n" in data or tokens[0] == NEWLINE or BLANK in marks:
        places, tokens = _without_blank_lines(places, tokens)
    if not len(tokens) or tokens[0] != NUMBER:
        return None
    good = _GOOD_PAIRS_OF_CATEGORIES if empty_groups else _GOOD_PAIRS
    if not good[tokens[:-1] << 3 | tokens[1:]].all():
        return None

    ends = np.flatnonzero(tokens == NEWLINE)
    starts = np.concatenate(([0], ends[:-1] + 1))
    if np.count_nonzero(tokens == COLON) != len(starts) or (tokens[starts + 1] != COLON).any():
        return None
    numbers = tokens == NUMBER
    values = _values(np.frombuffer(data, dtype=np.uint8), digit, places[numbers])
    if values is None:
        return None
    if OPEN in marks or CLOSE in marks:
        shape = _shape_with_braces(tokens, numbers, starts, ends)
        if shape is None:
            return None
        row, group, groups = shape
    else:
        # number : number , number , … : a line of k tokens mentions (k - 1) / 2 items, each a group of its own
        groups = (ends - starts - 1) >> 1
        row = np.repeat(np.arange(len(starts)), groups)
        group = np.arange(len(row)) - np.repeat(np.cumsum(groups) - groups, groups)
    first = np.bincount(row, minlength=len(starts)) + 1
    first = np.cumsum(first) - first  # where the numbers of each line begin; the first of them is the count
    mention = np.ones(len(values), dtype=bool)
    mention[first] = False
    item = _index(values[mention], ids)
    if item is None:
        return None
    return Body(values[first].astype(np.float64), row, item, group, groups)


def _without_blank_lines(places: Ints, tokens: NDArray[np.uint8]) -> tuple[Ints, NDArray[np.uint8]]:
    """Drop a line break that follows another one, or that opens the body."""
    again = tokens == NEWLINE
    again[1:] &= tokens[:-1] == NEWLINE
    return places[~again], tokens[~again]


def _values(data: NDArray[np.uint8], digit: NDArray[np.bool_], places: Ints) -> Ints | None:
    """Return the numbers that begin at `places`, one more digit of all the longer ones at a time."""
    values = data[places].astype(np.int64) - 48
    alive = np.arange(len(places))
    for step in range(1, _LONGEST_NUMBER + 1):
        # The body ends with a line break, so that a digit always has a neighbour.
        alive = alive[digit[places[alive] + step]]
        if not len(alive):
            return values
        values[alive] = 10 * values[alive] + (data[places[alive] + step] - 48)
    return None


def _shape_with_braces(
    tokens: NDArray[np.uint8], numbers: NDArray[np.bool_], starts: Ints, ends: Ints
) -> tuple[Ints, Ints, Ints] | None:
    """Return the row and group of every mention, and the groups of every line; None if braces do not balance."""
    depth = np.cumsum((tokens == OPEN).astype(np.int8) - (tokens == CLOSE).astype(np.int8), dtype=np.int64)
    if depth.min() < 0 or depth.max() > 1 or depth[ends].any():
        return None
    separators = np.cumsum((tokens == COMMA) & (depth == 0))
    mention = np.flatnonzero(numbers)
    line = np.searchsorted(ends, mention)
    count = np.concatenate(([True], line[1:] != line[:-1]))  # the first number of a line is its count
    mention, line = mention[~count], line[~count]
    before = separators[starts]
    return line, separators[mention] - before[line], separators[ends] - before + 1


def _index(values: Ints, ids: Ints) -> Ints | None:
    """Return the place of every value among the ascending `ids`; None if one is not there."""
    lowest, highest = int(ids[0]), int(ids[-1])
    if values.min(initial=highest) < lowest or values.max(initial=lowest) > highest:
        return None
    if highest - lowest == len(ids) - 1:
        return values - lowest
    item = np.searchsorted(ids, values)
    return item if np.array_equal(ids[item], values) else None
