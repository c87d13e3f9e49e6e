"""Sentences about the other items when an item is removed."""

from __future__ import annotations

from collections.abc import Sequence

from holdrank.words.names import in_text, listed
from holdrank.words.numbers import number, plural

NO_CHANGE = "No removal changes the order of the other items."
_MOST_FLIPS = 3


def flips_text(flips: Sequence[tuple[str, str]]) -> str:
    """Return pairs that change their order, each with the item first that now stands above.

    Examples
    --------
    >>> flips_text([("a", "b"), ("a", "c")]), flips_text([])
    ('b above a and c above a', 'none')
    """
    pairs = [f"{in_text(below)} above {in_text(above)}" for above, below in flips]
    return listed(pairs, _MOST_FLIPS) or "none"


def flipped_pairs(before: Sequence[int], after: Sequence[int | None]) -> list[tuple[int, int]]:
    """Return the pairs of items that change their order: the first stood above the second, and now stands below.

    Examples
    --------
    >>> flipped_pairs([1, 2, 3, 4], [2, None, 1, 3])
    [(0, 2)]
    """
    left = [(item, old, new) for item, (old, new) in enumerate(zip(before, after, strict=True)) if new is not None]
    return [(i, j) for i, high, fell in left for j, low, rose in left if high < low and fell > rose]


def winner_text(winners: Sequence[str], changes: bool) -> str:
    """Return who comes first without an item, and whether that is a change.

    Examples
    --------
    >>> winner_text(["a"], False), winner_text(["b", "c"], True)
    ('a', 'b and c (new)')
    """
    return listed([in_text(name) for name in winners], _MOST_FLIPS) + " (new)" * changes


def removal_text(item: str, flips: Sequence[tuple[str, str]], winners: Sequence[str], changes: bool) -> str:
    """Return the effect of removing an item, in a sentence.

    Examples
    --------
    >>> removal_text("c", [("a", "b")], ["b"], True)
    'Without c, b comes first; 1 pair flips: b above a.'
    >>> removal_text("c", [], ["a"], False)
    'Without c, the others keep their order.'
    >>> removal_text("d", [("b", "c"), ("b", "e")], ["a"], False)
    'Without d, 2 pairs flip: c above b and e above b.'
    """
    first = f"{winner_text(winners, False)} {'come' if len(winners) > 1 else 'comes'} first" if changes else ""
    moved = f"{plural(len(flips), 'pair')} flip{'s' * (len(flips) == 1)}: {flips_text(flips)}" if flips else ""
    return f"Without {in_text(item)}, {'; '.join(part for part in (first, moved) if part) or _KEPT}."


_KEPT = "the others keep their order"


def caption_text(shown: int, more: int) -> str:
    """Return the caption of a table of removals.

    Examples
    --------
    >>> caption_text(3, 0), caption_text(10, 49)
    ('Removals that change the order of the others', 'The 10 removals that change most; the JSON record has 49 more')
    """
    if not more:
        return "Removals that change the order of the others"
    return f"The {shown} removals that change most; the JSON record has {number(more)} more"


def changes_text(changing: int, winning: int, tried: int) -> str:
    """Return how many removals change something.

    Examples
    --------
    >>> changes_text(2, 1, 10), changes_text(1, 0, 10), changes_text(0, 0, 10)
    ('2 of 10 removals change the order of the others; 1 changes who comes first.', \
'1 of 10 removals changes the order of the others.', 'No removal changes the order of the other items.')
    """
    if not tried:
        return "No removal was tried."
    if not changing:
        return NO_CHANGE
    verb = "changes" if changing == 1 else "change"
    head = f"{changing} of {plural(tried, 'removal')} {verb} the order of the others"
    return f"{head}; {winning} {'changes' if winning == 1 else 'change'} who comes first." if winning else f"{head}."
