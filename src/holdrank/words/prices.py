"""The price of breaking something: whole votes first, their share second, and how certain that is.

Bounds come as in the record of an analysis: ``lower`` and ``upper`` are shares of the votes; ``needed``, ``ties``,
``decides`` and ``sufficient`` are whole votes. None stands for infinity, and for whole votes where votes are shares.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from holdrank.words.nouns import noun_of
from holdrank.words.numbers import number, percent, plural

Facts = Mapping[str, Any]

AMOUNTS = ("lower", "upper", "needed", "ties", "decides", "sufficient")
CANNOT_BREAK = "cannot be broken"
NOT_KNOWN = "not known"


class Price(NamedTuple):
    """The price of breaking something, as text; parts that do not apply are empty.

    Attributes
    ----------
    amount : str
        A number, or a range: ``37``, ``37 to 39``, ``at least 36``, ``7.4 %``, or that it cannot be broken.
    unit : str
        What one vote is called, or several: ``votes``, ``battles``; empty after a share.
    share : str
        The same as a share of all votes.
    of : str
        ``of the votes``, where the amount is a share.
    """

    amount: str
    unit: str = ""
    share: str = ""
    of: str = ""

    @property
    def votes(self) -> str:
        """The amount with its unit."""
        return f"{self.amount} {self.unit}".rstrip()

    def __str__(self) -> str:
        return f"{self.votes} ({self.share})" if self.share else f"{self.amount} {self.of or self.unit}".rstrip()


def price(found: Facts, votes: Facts) -> Price | None:
    """Return what the bounds of an attack, a gap or an item at the cut say; None if they give no information.

    Examples
    --------
    >>> votes = {"counts": True, "total": 500.0}
    >>> found = {"lower": 0.07, "upper": 0.07, "needed": 36, "ties": 36, "decides": 37, "sufficient": 37}
    >>> str(price(found, votes)), str(price({**found, "sufficient": 39}, votes))
    ('37 votes (7.4 %)', '37 to 39 votes (7.4 % to 7.8 %)')
    >>> str(price({**found, "upper": None, "decides": 36, "sufficient": None}, votes))
    'at least 36 votes (7.2 %)'
    >>> str(price({**found, "lower": None}, votes))
    'cannot be broken'
    """
    if found.get("known") is False:
        return None
    if found["lower"] is None:
        return Price(CANNOT_BREAK)
    counts, part, noun = votes["counts"], votes["total"] if votes["counts"] else 1.0, noun_of(votes)
    least, most = (to_decide(found), found["sufficient"]) if counts else (found["lower"], found["upper"])
    if not least and most is None:
        return None

    def both(words: str, *amounts: float) -> Price:
        shares = " to ".join(percent(amount / part) for amount in amounts)
        if not counts:
            return Price(words + shares, of="of the votes")
        many = " to ".join(number(amount) for amount in amounts)
        return Price(words + many, noun if amounts[-1] == 1 else f"{noun}s", shares)

    if most is None:
        return both("at least ", least)
    if not least and most:
        return both("at most ", most)
    # A share is known to about nine digits, so that equal ends may differ slightly.
    return both("", most) if most - least <= 1e-9 * part else both("", least, most)


def price_text(found: Facts, votes: Facts) -> str:
    """Return what the bounds say, or that nothing is known."""
    return str(price(found, votes) or NOT_KNOWN)


def share_price(lower: float | None, upper: float | None) -> Price:
    """Return what bounds on a share of the votes say."""
    return price({"lower": lower, "upper": upper}, {"counts": False}) or Price(NOT_KNOWN)


def in_whole_votes(curve: Facts, votes: Facts) -> dict[str, Any]:
    """Return a curve whose bounds are shares of whole votes, where votes are counted: those that its sentences name.

    Examples
    --------
    >>> curve = {"lower": [0.07, None], "upper": [0.25, None], "needed": [1, None], "sufficient": [3, None]}
    >>> whole = in_whole_votes(curve, {"counts": True, "total": 10.0})
    >>> whole["lower"], whole["upper"]
    ([0.1, None], [0.3, None])
    """
    if not votes["counts"]:
        return dict(curve)
    names = [name for name in ("needed", "decides") if name in curve]
    rows = [{name: curve[name][k] for name in names} for k in range(len(curve["lower"]))]
    least = [
        None if low is None else (to_decide(row) or 0) / votes["total"]
        for low, row in zip(curve["lower"], rows, strict=True)
    ]
    most = [None if end is None else end / votes["total"] for end in curve["sufficient"]]
    return {**curve, "lower": least, "upper": most}


def to_decide(found: Facts) -> Any:
    """Return the votes that are needed to decide; to tie, where no number is known to decide."""
    return found["needed"] if found.get("decides") is None else found["decides"]


def required(share: float, votes: Facts) -> float:
    """Return the votes that a gate asks for: the fewest that are a given share of all; the share where none count.

    Examples
    --------
    >>> required(0.01, {"counts": True, "total": 8931.0}), required(0.07, {"counts": True, "total": 100.0})
    (90, 7)
    """
    if not votes["counts"]:
        return share
    total = float(votes["total"])
    fewest = max(math.floor(share * total) - 1, 0)
    while fewest / total < share:  # as gates compare them
        fewest += 1
    return fewest


def required_text(share: float, votes: Facts) -> str:
    """Return what a gate asks for: whole votes, and the share that was given.

    Examples
    --------
    >>> required_text(0.01, {"counts": True, "total": 8931.0, "format": "battles"})
    '90 of 8,931 battles (1 %)'
    >>> required_text(0.01, {"counts": False, "total": 1.0})
    '1 % of the votes'
    """
    if not votes["counts"]:
        return f"{percent(share)} of the {noun_of(votes)}s"
    return f"{number(required(share, votes))} of {plural(votes['total'], noun_of(votes))} ({percent(share)})"


def tie_text(ties: float | None, enough: float | None, what: str = "") -> str:
    """Return how many whole votes make a tie, where fewer do than decide; else nothing.

    Examples
    --------
    >>> tie_text(10, 11, " it"), tie_text(1, None), tie_text(11, 11), tie_text(0, 1)
    ('10 tie it', '1 ties', '', 'tied now')
    """
    if ties is None or ties == math.inf or (enough is not None and ties >= enough):
        return ""
    return "tied now" if ties == 0 else f"{number(ties)} tie{'s' * (ties == 1)}{what}"


def budget_text(share: float, votes: float | None, noun: str = "vote") -> str:
    """Return the budget of an adversary: ``5 votes (1 %)``, or the share alone.

    Examples
    --------
    >>> budget_text(0.01, 5.0), budget_text(0.01, None)
    ('5 votes (1 %)', '1 % of the votes')
    """
    if votes is None:
        return f"{percent(share)} of the {noun}s"
    # The share of a whole number of votes, times their number, may miss it slightly.
    return f"{plural(round(votes, 6), noun)} ({percent(share)})"
