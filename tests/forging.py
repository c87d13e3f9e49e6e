"""Results with one number changed: whoever checks results must not prove any of them."""

from __future__ import annotations

import copy
import dataclasses
import math
from contextlib import suppress
from numbers import Real

import numpy as np

import holdrank as hr

NO_STATEMENTS = {"seconds", "_memo", "_model"}  # how long it took; what was, or can be, computed from other fields
MOST_ENTRIES = 2  # of an array or a tuple, chosen at random


def other_numbers(value):
    """Return numbers that are clearly larger and clearly smaller."""
    if math.isnan(value):
        return [0.0, 1.0]
    if math.isinf(value):
        return [0.4, 2.0]
    if float(value).is_integer():
        return [value + 1, value - 1]
    return [value + 0.04, value - 0.04]


def forgeries(value, rng):
    """Yield (path, the same result with one number changed)."""
    if isinstance(value, hr.Votes | str):
        return
    if dataclasses.is_dataclass(value):
        fresh = {"_memo": {}} if any(field.name == "_memo" for field in dataclasses.fields(value)) else {}
        for field in dataclasses.fields(value):
            if field.name not in NO_STATEMENTS:
                for path, other in forgeries(getattr(value, field.name), rng):
                    with suppress(hr.HoldrankError):  # a goal that there is not
                        yield (field.name, *path), dataclasses.replace(value, **fresh, **{field.name: other})
    elif isinstance(value, hr.Ranking):
        for path, ranks in forgeries(value.ranks, rng):
            other = hr.Ranking(ranks)
            if other != value:  # only the order of ranks counts
                yield ("ranks", *path), other
    elif isinstance(value, np.ndarray):
        if value.dtype.kind in "iuf":
            for at in rng.permutation(value.size)[:MOST_ENTRIES].tolist():
                for number in other_numbers(value.flat[at]):
                    other = value.copy()
                    other.flat[at] = number
                    yield (at,), other
        elif value.dtype.kind == "b":
            for at in rng.permutation(value.size)[:MOST_ENTRIES].tolist():
                other = value.copy()
                other.flat[at] = not other.flat[at]
                yield (at,), other
    elif isinstance(value, tuple):
        for at in rng.permutation(len(value))[:MOST_ENTRIES].tolist():
            for path, other in forgeries(value[at], rng):
                yield (at, *path), (*value[:at], other, *value[at + 1 :])
    elif isinstance(value, bool):
        yield (), not value
    elif isinstance(value, Real):
        for number in other_numbers(value):
            yield (), number


def leaves(record, path=()):
    """Yield the path of every number of a record, and of every null, which stands for infinity."""
    if isinstance(record, dict):
        for name, part in record.items():
            yield from leaves(part, (*path, name))
    elif isinstance(record, list):
        for at, part in enumerate(record):
            yield from leaves(part, (*path, at))
    elif record is None or (isinstance(record, int | float) and not isinstance(record, bool)):
        yield path


def edited(record, path, up):
    """Return a record with one number changed; None where a null does not stand for a number."""
    record = copy.deepcopy(record)
    spot = record
    for name in path[:-1]:
        spot = spot[name]
    old = spot[path[-1]]
    if old is None:
        if path[-1] not in ("lower", "upper", "needed", "ties", "decides", "sufficient"):
            return None
        spot[path[-1]] = 0.4 if path[-1] in ("lower", "upper") else 2.0
    else:
        other = other_numbers(old)[0 if up else 1]
        spot[path[-1]] = type(old)(other)
    return record
