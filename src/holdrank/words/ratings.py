"""Sentences about ratings: which items have none, which intervals are left out, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from holdrank.words.names import in_text, listed
from holdrank.words.numbers import number, plural

_MOST_NAMES = 5

TIES_UNKNOWN = (
    "Pair counts do not say which comparisons were ties. Intervals treat a tie as half a win and half a loss, which "
    "makes them wider, never narrower."
)
SAME_BALLOT = (
    "Pair counts do not say which comparisons came from the same ballot. Intervals treat all comparisons as "
    "independent, which makes them too narrow if one ballot compares many items."
)
ALONE = "“±” is a {} interval for one item alone; “by chance” compares all items at once, so it is wider."
SHARES = "No intervals: the votes are shares, and how many votes there are is unknown."
NOT_FITTED = "No ratings: the fit did not converge, because some items win almost all their comparisons."
NO_RATINGS = "No ratings: no two items have won against each other, directly or through others."


def rating_texts(value: float, lower: float, upper: float) -> tuple[str, str]:
    """Return a rating and its interval in whole points; a dash where the votes determine none, "fixed" for an anchor.

    Examples
    --------
    >>> rating_texts(1000.0, 1000.0, 1000.0)
    ('1000', 'fixed')
    >>> rating_texts(1095.44, 1033.2, 1157.7), rating_texts(float("inf"), float("nan"), float("nan"))
    (('1095', '1033–1158'), ('–', '–'))
    """
    if not math.isfinite(value):
        return "–", "–"
    if lower == upper:
        return f"{value:.0f}", "fixed"
    dash = "–" if lower >= 0 else " to "
    return f"{value:.0f}", f"{lower:.0f}{dash}{upper:.0f}" if math.isfinite(lower) else "–"


def rating_text(name: str, value: float, lower: float, upper: float) -> str:
    """Return the rating of an item with its interval on a line.

    Examples
    --------
    >>> rating_text("a", 905.0, 842.2, 966.9), rating_text("b", float("nan"), float("nan"), float("nan"))
    ('a: 905 (842–967)', 'b: no rating')
    """
    rating, interval = rating_texts(value, lower, upper)
    if not math.isfinite(value):
        return f"{in_text(name)}: no rating"
    return f"{in_text(name)}: {rating}" + f" ({interval})" * math.isfinite(lower)


def rating_points(ratings: Mapping[str, Any] | None) -> float:
    """Return the rating points per unit of strength, by the record of ratings; without one, as usual.

    Examples
    --------
    >>> round(rating_points(None), 2), rating_points({"scale": 1.0, "base": math.e})
    (173.72, 1.0)
    """
    scale, base = (400.0, 10.0) if ratings is None else (ratings["scale"], ratings["base"])
    return float(scale / math.log(base))


def scale_text(scale: float, base: float, offset: float) -> str:
    """Return what ratings mean.

    Examples
    --------
    >>> scale_text(400, 10, 1000)
    'A lead of 400 points means odds of 10 to 1; the mean rating is 1,000.'
    """
    return f"A lead of {number(scale)} points means odds of {number(base)} to 1; the mean rating is {number(offset)}."


def unrated_notes(
    items: Sequence[str], above: Sequence[int], below: Sequence[int], apart: Sequence[int]
) -> tuple[str, ...]:
    """Return why items have no rating: they never lose to the rated ones, never win, or are not connected with them.

    Examples
    --------
    >>> unrated_notes(["a", "b", "c"], [0], [], [1, 2])
    ('No rating for a: never lost to a rated item, so the votes set no upper limit.', \
'No rating for b and c: no votes place them above or below the rated items.')
    """
    reasons = (
        (above, "never lost to a rated item, so the votes set no upper limit."),
        (below, "never won against a rated item, so the votes set no lower limit."),
        (apart, "no votes place them above or below the rated items."),
    )
    return tuple(
        f"No rating for {listed([in_text(items[item]) for item in group], _MOST_NAMES)}: {why}"
        for group, why in reasons
        if len(group)
    )


def too_few_note(votes: float, items: int) -> str:
    """Return the sentence that votes are too few for intervals.

    Examples
    --------
    >>> too_few_note(1, 3)
    'No intervals: 1 vote is too few for 3 items.'
    """
    return f"No intervals: {plural(votes, 'vote')} {'is' if votes == 1 else 'are'} too few for {number(items)} items."


def no_spread_note(items: Sequence[str], group: Sequence[int]) -> str:
    """Return the sentence that votes do not vary, so that nothing can be said about chance."""
    names = listed([in_text(items[item]) for item in group], _MOST_NAMES)
    return f"No interval for {names}: all their votes are exactly as expected, so nothing shows how much they vary."


def other_order_note(ridge: float, count: int) -> str:
    """Return the sentence that ratings do not fall along the order of the rule.

    Examples
    --------
    >>> other_order_note(1e-6, 1)
    'The order uses a ridge of 1e-06, ratings use none: 1 item has a higher rating than the one before it.'
    """
    have = "item has" if count == 1 else "items have"
    rest = f"{number(count)} {have} a higher rating than the one before it."
    return f"The order uses a ridge of {ridge:g}, ratings use none: {rest}"
