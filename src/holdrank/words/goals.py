"""What an adversary wants, in words: as a noun, as what votes do, and as what has come about."""

from __future__ import annotations

from dataclasses import dataclass

from holdrank.errors import show
from holdrank.words.names import distance_name, listed, named
from holdrank.words.numbers import percent, plural

_MOST_WINNERS = 3  # names in a title


@dataclass(frozen=True, slots=True)
class Deed:
    """A goal in the forms that sentences need.

    Attributes
    ----------
    noun : str
        "changing the top 3".
    does : str
        What several votes do, and what follows "can": "change the top 3".
    does_alone : str
        What one vote does: "changes the top 3".
    outcome : str
        What is so then: "the top 3 changes".
    """

    noun: str
    does: str
    does_alone: str
    outcome: str


def new_winner() -> Deed:
    """Return the words for another winner."""
    return Deed("another winner", "change the winner", "changes the winner", "another item wins")


def new_leader(*, shared: bool) -> Deed:
    """Return the words for another item in the first tier, alone or tied; `shared` is whether several lead now.

    Examples
    --------
    >>> new_leader(shared=False).does, new_leader(shared=True).does_alone
    ('end the lead', 'brings another item to first place')
    """
    if not shared:
        return Deed("ending the lead", "end the lead", "ends the lead", "another item ties or leads")
    rest = "another item to first place"
    return Deed(f"bringing {rest}", f"bring {rest}", f"brings {rest}", "another item is in first place")


def wins(item: str) -> Deed:
    """Return the words for an item that wins."""
    rest = f"{show(item)} win"
    return Deed(f"making {rest}", f"make {rest}", f"makes {rest}", f"{named(item)} wins")


def above(upper: str, lower: str) -> Deed:
    """Return the words for an item that stands above another."""
    rest = f"{show(upper)} above {show(lower)}"
    return Deed(f"putting {rest}", f"put {rest}", f"puts {rest}", f"{named(upper)} stands above {named(lower)}")


def top_set(k: int) -> Deed:
    """Return the words for another set of the first items."""
    rest = f"the top {k}"
    return Deed(f"changing {rest}", f"change {rest}", f"changes {rest}", f"{rest} changes")


def enters(item: str, k: int) -> Deed:
    """Return the words for an item that gets among the first."""
    rest = f"{show(item)} into the top {k}"
    return Deed(f"bringing {rest}", f"bring {rest}", f"brings {rest}", f"{named(item)} is in the top {k}")


def leaves(item: str, k: int) -> Deed:
    """Return the words for an item that is among the first no more."""
    rest = f"{show(item)} out of the top {k}"
    return Deed(f"pushing {rest}", f"push {rest}", f"pushes {rest}", f"{named(item)} is not in the top {k}")


def moves(share: float, flips: int, pairs: int) -> Deed:
    """Return the words for a distance: a number of pairs, or a share where `pairs` is 0.

    Examples
    --------
    >>> moves(0.5, 2, 3).does, moves(0.5, 0, 0).noun
    ('move the consensus by 2 of 3 pairs', 'moving the consensus by 50 % of the pairs')
    >>> moves(0.5, 1077, 21528).does
    'move the consensus by 1,077 of 21,528 pairs'
    """
    far = f"{flips:,} of {plural(pairs, 'pair')}" if pairs else f"{percent(share)} of the pairs"
    rest = f"the consensus by {far}"
    return Deed(f"moving {rest}", f"move {rest}", f"moves {rest}", f"the consensus moves by at least {far}")


def moves_by(share: float, metric: str) -> Deed:
    """Return the words for a share of the largest distance that a metric has.

    Examples
    --------
    >>> moves_by(0.5, "cayley").does
    'move the consensus by 50 % of the largest Cayley distance'
    """
    far = f"{percent(share)} of the largest {distance_name(metric)} distance"
    rest = f"the consensus by {far}"
    return Deed(f"moving {rest}", f"move {rest}", f"moves {rest}", f"the consensus moves by at least {far}")


def winners(names: list[str], *, shared: bool) -> str:
    """Return who wins after an attack.

    Examples
    --------
    >>> winners(["a"], shared=False), winners(["a", "b"], shared=True)
    ('a wins', 'a and b win, tied')
    """
    return f"{listed([named(name) for name in names], _MOST_WINNERS)} win{'s' * (len(names) == 1)}{', tied' * shared}"
