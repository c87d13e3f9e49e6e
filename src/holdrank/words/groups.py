"""Sentences about what happens when one voter, task or category is left out."""

from __future__ import annotations

from collections.abc import Sequence

from holdrank.words.names import in_text, listed
from holdrank.words.numbers import plural
from holdrank.words.removals import flips_text, winner_text

_MOST_NAMED = 5


def groups_text(of: str, changing: int, deciding: Sequence[str], tried: int) -> str:
    """Return how many groups change something when left out, and who changes the first place.

    Examples
    --------
    >>> groups_text("task", 3, ["mmlu"], 20)
    'Leaving out one task at a time: 3 of 20 change the order, and 1 changes who comes first: mmlu.'
    >>> groups_text("judge", 1, [], 4), groups_text("judge", 0, [], 4)
    ('Leaving out one judge at a time: 1 of 4 changes the order; none changes who comes first.', \
'Leaving out one judge at a time: none of 4 changes the order.')
    """
    head = f"Leaving out one {in_text(of)} at a time"
    if not tried:
        return f"{head}: none was tried within the time limit."
    if not changing:
        return f"{head}: none of {tried:,} changes the order."
    head += f": {changing:,} of {tried:,} {'changes' if changing == 1 else 'change'} the order"
    if not deciding:
        return f"{head}; none changes who comes first."
    names = listed([in_text(name) for name in deciding], _MOST_NAMED)
    return f"{head}, and {len(deciding):,} {'changes' if len(deciding) == 1 else 'change'} who comes first: {names}."


def places_text(item: str, place: float, best: float, worst: float) -> str:
    """Return where an item stands by all votes, and while groups are left out.

    Examples
    --------
    >>> places_text("a", 2, 1, 3), places_text("b", 4, 4, 4)
    ('a: place 2, from 1 to 3 with one left out', 'b: place 4 in every case')
    """
    if best == worst:
        return f"{in_text(item)}: place {place:g} in every case"
    return f"{in_text(item)}: place {place:g}, from {best:g} to {worst:g} with one left out"


def left_out_text(
    name: str, votes: float, flips: Sequence[tuple[str, str]], winners: Sequence[str], new_winner: bool
) -> str:
    """Return the effect of leaving out one group, in a sentence.

    Examples
    --------
    >>> left_out_text("mmlu", 1, [("a", "b")], ["b"], True)
    'Without mmlu (1 vote), b comes first; 1 pair flips: b above a.'
    >>> left_out_text("en", 40, [], ["a"], False)
    'Without en (40 votes), the order stays.'
    """
    first = f"{winner_text(winners, False)} {'come' if len(winners) > 1 else 'comes'} first" if new_winner else ""
    moved = f"{plural(len(flips), 'pair')} flip{'s' * (len(flips) == 1)}: {flips_text(flips)}" if flips else ""
    said = "; ".join(part for part in (first, moved) if part) or "the order stays"
    return f"Without {in_text(name)} ({plural(votes, 'vote')}), {said}."
