"""A record in words: names that stay text, numbers of votes first and percent second."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from holdrank.analysis.records import Record
from holdrank.errors import show
from holdrank.words.numbers import number, percent, plural

LONGEST = 40  # characters of a name
_RIGHT_TO_LEFT = {"R", "AL", "AN"}


class Price(NamedTuple):
    """What it takes to break something: the votes, and the share of all votes, as text; `share` may be empty."""

    votes: str
    share: str

    def __str__(self) -> str:
        return f"{self.votes} ({self.share})" if self.share else self.votes


def named(name: str, width: int = LONGEST) -> str:
    """Return the name of an item on one line, not too long, without anything that controls its surroundings."""
    return show(name, width) or "(no name)"


def in_text(name: str) -> str:
    """Return a name for the middle of a sentence: one that runs from right to left does not turn its neighbours."""
    text = named(name)
    turns = any(unicodedata.bidirectional(sign) in _RIGHT_TO_LEFT for sign in text)
    return f"\u2068{text}\u2069" if turns else text


def listed(names: Sequence[str], most: int) -> str:
    """Return names with commas; those beyond `most` are counted.

    Examples
    --------
    >>> listed(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    more = len(names) - most
    # One name takes no more room than the words that would stand for it.
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:most])} and {more} more"


def price(found: Record, votes: Record) -> Price | None:
    """Return what the bounds of an attack, a gap or an item at the cut say; None when they say nothing.

    Examples
    --------
    >>> votes = {"counts": True, "total": 500.0}
    >>> found = {"lower": 0.07, "upper": 0.07, "needed": 36, "ties": 36, "decides": 37, "sufficient": 37}
    >>> str(price(found, votes)), str(price({**found, "sufficient": 39}, votes))
    ('37 votes (7.4 %)', '37 to 39 votes (7.4 % to 7.8 %)')
    >>> str(price({**found, "upper": None, "decides": 36, "sufficient": None}, votes))
    'at least 36 votes (7.2 %)'
    """
    if found.get("known") is False:
        return None
    if found["lower"] is None:
        return Price("never breaks", "")
    counts, total = votes["counts"], votes["total"]
    least, most = (to_decide(found), found["sufficient"]) if counts else (found["lower"], found["upper"])
    if not least and most is None:
        return None
    part = total if counts else 1.0

    def both(words: str, *amounts: float) -> Price:
        shares = " to ".join(percent(amount / part) for amount in amounts)
        if not counts:
            return Price(f"{words} {shares}".strip(), "")
        many = " to ".join(number(amount) for amount in amounts)
        return Price(f"{words} {many} vote{'s' * (amounts[-1] != 1)}".strip(), shares)

    if most is None:
        return both("at least", least)
    if not least and most:
        return both("at most", most)
    # A share is known to some nine digits, so that equal ends may differ by a hair.
    return both("", most) if most - least <= 1e-9 * part else both("", least, most)


def to_decide(found: Record) -> Any:
    """Return the votes that are needed to decide; to tie, where no number is known to decide."""
    return found["needed"] if found.get("decides") is None else found["decides"]


def tiers_of(record: Record) -> list[list[int]]:
    """Return the items of each tier that is reported, best first; in a tier they stand as in the consensus."""
    ranks = (record["tiers"] or record["consensus"])["ranks"]
    return buckets(ranks, record["consensus"]["order"])


def buckets(ranks: Sequence[int], order: Sequence[int]) -> list[list[int]]:
    """Return the items of each rank, best first, those of one rank in a given order.

    Examples
    --------
    >>> buckets([2, 1, 2], [1, 2, 0])
    [[1], [2, 0]]
    """
    found: dict[int, list[int]] = {rank: [] for rank in sorted(set(ranks))}
    for item in order:
        found[ranks[item]].append(item)
    return list(found.values())


def spans(tiers: Sequence[Sequence[int]]) -> list[str]:
    """Return the places of each tier.

    Examples
    --------
    >>> spans([[2], [0, 3, 1]])
    ['1', '2–4']
    """
    ends = list(accumulate(map(len, tiers)))
    return [span(end - len(tier) + 1, end) for tier, end in zip(tiers, ends, strict=True)]


def span(first: float, last: float) -> str:
    """Return a range of places, one number if it is one place."""
    return f"{first:g}" if first == last else f"{first:g}–{last:g}"


def curve_name(statistic: str) -> str:
    """Return what a statistic is called beside its curve.

    Examples
    --------
    >>> curve_name("downward merge of kemeny at 0.042"), curve_name("kemeny"), curve_name("bradley-terry")
    ('tiers at θ = 0.042', 'Kemeny', 'Bradley-Terry')
    """
    merged = re.fullmatch(r"\w+ merge of [\w-]+ at (\S+)", statistic)
    return f"tiers at θ = {merged[1]}" if merged else show(statistic, 30).title()


def budget_words(record: Record) -> str:
    """Return the budget of the adversary who moves places."""
    found = record["reach"]
    share = percent(found["budget"])
    # The share of a whole number of votes, times their number, may miss it by a hair.
    return share if found["votes"] is None else f"{plural(round(found['votes'], 6), 'vote')} ({share})"
