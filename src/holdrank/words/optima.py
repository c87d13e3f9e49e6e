"""Sentences about several optimal rankings: how many there are, and what all of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdrank.words.names import in_text, listed
from holdrank.words.numbers import number, percent, plural

_MOST_NAMES = 12  # of a group, in a line
_MOST_GROUPS = 60
_COUNTED = 10**9  # rankings; larger counts are not printed


def count_text(facts: Mapping[str, Any]) -> str:
    """Return how many rankings are optimal.

    Examples
    --------
    >>> count_text({"fewest": 1, "most": 1}), count_text({"fewest": 6, "most": 6})
    ('One ranking is optimal.', '6 rankings are optimal.')
    >>> count_text({"fewest": 1024, "most": None}), count_text({"fewest": 1, "most": None})
    ('At least 1,024 rankings are optimal.', 'Other optimal rankings are not ruled out.')
    >>> count_text({"fewest": 2**53, "most": None})
    'More than 1,000,000,000 rankings are optimal.'
    """
    fewest, most = facts["fewest"], facts["most"]
    if fewest > _COUNTED:
        return f"More than {number(_COUNTED)} rankings are optimal."
    if most == 1:
        return "One ranking is optimal."
    if fewest == most:
        return f"{number(fewest)} rankings are optimal."
    return (
        "Other optimal rankings are not ruled out."
        if fewest == 1
        else f"At least {number(fewest)} rankings are optimal."
    )


def pairs_text(facts: Mapping[str, Any]) -> str:
    """Return how many pairs stand in the same order in all optimal rankings.

    Examples
    --------
    >>> pairs_text({"same": 5, "differ": 1, "undecided": 0})
    '5 of 6 pairs (83.3 %) stand in the same order in all of them; 1 pair differs.'
    >>> pairs_text({"same": 6, "differ": 2, "undecided": 2})
    '6 of 10 pairs (60 %) stand in the same order in all of them; 2 pairs differ; 2 pairs are not decided.'
    """
    same, differ, undecided = facts["same"], facts["differ"], facts["undecided"]
    pairs = same + differ + undecided
    share = f" ({percent(same / pairs)})" if 0 < same < pairs else ""
    parts = [f"{number(same)} of {plural(pairs, 'pair')}{share} stand in the same order in all of them"]
    if differ:
        parts.append(f"{plural(differ, 'pair')} {'differs' if differ == 1 else 'differ'}")
    if undecided:
        parts.append(f"{plural(undecided, 'pair')} {'is' if undecided == 1 else 'are'} not decided")
    return f"{'; '.join(parts)}."


def shared_text(groups: Sequence[Sequence[int]], items: Sequence[str]) -> str:
    """Return what all optimal rankings share on one line: the order within braces is not fixed.

    Examples
    --------
    >>> shared_text([[0], [2, 1]], ["a", "b", "c"])
    'a > {c, b}'
    """
    shown = []
    for group in groups[:_MOST_GROUPS]:
        names = [in_text(items[item]) for item in group[:_MOST_NAMES]]
        more = ", …" * (len(group) > _MOST_NAMES)
        shown.append(names[0] if len(group) == 1 else f"{{{', '.join(names)}{more}}}")
    return " > ".join(shown) + " > …" * (len(groups) > _MOST_GROUPS)


def certain_text(groups: Sequence[Sequence[int]]) -> str:
    """Return how many places are certain.

    Examples
    --------
    >>> certain_text([[0], [1, 2], [3]]), certain_text([[0, 1]])
    ('2 of 4 places are the same in every optimal ranking.', 'No place is the same in every optimal ranking.')
    """
    alone, n = sum(len(group) == 1 for group in groups), sum(map(len, groups))
    if not alone:
        return "No place is the same in every optimal ranking."
    return f"{number(alone)} of {plural(n, 'place')} {'is' if alone == 1 else 'are'} the same in every optimal ranking."


def first_text(facts: Mapping[str, Any], items: Sequence[str]) -> str:
    """Return who comes first: one item in every optimal ranking, or several that may.

    Examples
    --------
    >>> first_text({"groups": [[1, 0], [2]], "first": [1, 1, 3]}, ["a", "b", "c"])
    'Possible first: b and a.'
    >>> first_text({"groups": [[2], [0, 1]], "first": [2, 2, 1]}, ["a", "b", "c"])
    'All put c first.'
    """
    able = [item for item in facts["groups"][0] if facts["first"][item] == 1]
    if len(able) == 1:
        return f"All put {in_text(items[able[0]])} first."
    return f"Possible first: {listed([in_text(items[i]) for i in able], 4)}."
