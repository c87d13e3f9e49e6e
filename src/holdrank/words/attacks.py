"""An attack as a sentence: how many votes succeed, how many only tie, and how certain that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from holdrank.words.goals import Deed
from holdrank.words.numbers import number, percent, plural
from holdrank.words.prices import AMOUNTS, CANNOT_BREAK, Facts, tie_text

CHANGED = {"replace": "replaced", "drop": "dropped", "add": "added"}


class _Way(NamedTuple):
    """How sentences speak about one of the ways to change votes; braces stand for amounts."""

    doing: str  # votes that do something, at the beginning of a sentence
    going_on: str  # the same, later in a sentence
    more: str  # another number of them
    must: str
    done: str
    share_doing: str
    share_must: str
    many_do: bool  # whether it is the votes that do it, so that the verb follows their number


_WAYS = {
    "replace": _Way(
        doing="{number} of {total} {noun}s",
        going_on="{number} of {total} {noun}s",
        more="{number}",
        must="{number} of {total} {noun}s must change",
        done="{number} of {total} {noun}s changed",
        share_doing="{share} of the {noun}s",
        share_must="{share} of the {noun}s must change",
        many_do=True,
    ),
    "drop": _Way(
        doing="Dropping {number} of {total} {noun}s",
        going_on="dropping {number} of {total} {noun}s",
        more="dropping {number}",
        must="{number} of {total} {noun}s must be dropped",
        done="{number} of {total} {noun}s dropped",
        share_doing="Dropping {share} of the {noun}s",
        share_must="{share} of the {noun}s must be dropped",
        many_do=False,
    ),
    "add": _Way(
        doing="Adding {votes} to {total}",
        going_on="adding {votes} to {total}",
        more="adding {number}",
        must="{votes} must be added to {total}",
        done="{votes} added to {total}",
        share_doing="Adding {share} more {noun}s",
        share_must="{share} of the {noun}s must be added",
        many_do=False,
    ),
}
_DONE_TO = {"replace": "changed", "drop": "dropped", "add": "added"}


@dataclass(frozen=True, slots=True)
class Told:
    """What a sentence about an attack is made of: its bounds, infinite where no number does it or none is known."""

    deed: Deed
    change: str
    counts: bool
    total: float
    estimate: bool
    lower: float
    upper: float
    needed: float
    ties: float
    decides: float
    sufficient: float
    noun: str = "vote"

    @property
    def way(self) -> _Way:
        """How sentences speak about the change."""
        return _WAYS[self.change]

    def put(self, form: str, amount: float) -> str:
        """Return a form of words with a number of votes in it."""
        votes, total = plural(amount, self.noun), number(self.total)
        return form.format(number=number(amount), votes=votes, total=total, noun=self.noun)


def told(bounds: Facts, votes: Facts, deed: Deed, change: str, *, estimate: bool, noun: str = "vote") -> Told:
    """Return the facts of an attack as sentences need them.

    Parameters
    ----------
    bounds : mapping
        As in the record of an attack, None for infinity.
    votes : mapping
        ``counts`` and ``total``.
    deed : Deed
    change : {"replace", "drop", "add"}
    estimate : bool
        Whether nothing is proved about cheaper attacks.
    noun : {"vote", "voter"}
        What is counted.
    """
    ends: dict[str, Any] = {name: math.inf if bounds[name] is None else bounds[name] for name in AMOUNTS}
    return Told(deed, change, votes["counts"], votes["total"], estimate, **ends, noun=noun)


def attack_text(found: Told) -> str:
    """Return an attack as a sentence."""
    does = found.deed.does
    if math.isinf(found.lower):
        return f"No number of {CHANGED[found.change]} {found.noun}s can {does} (proven)."
    if not found.counts:
        return _in_shares(found)
    ties, decides, enough = found.ties, found.decides, found.sufficient
    if enough == 0:
        return f"No {found.noun} needs to change to {does}: this is already the case."
    if math.isinf(ties) and (not found.needed or found.estimate):
        return f"No attack found to {does}; none ruled out."
    share = "" if math.isinf(enough) else percent(enough / found.total)
    if found.estimate and not math.isinf(enough):
        return f"{_doing(found, enough)} ({share}); cheaper attacks may exist."
    if math.isfinite(enough) and decides == enough:
        said = _tying(found) if ties < enough else _doing(found, enough)
        return f"{said} ({share}, proven minimum)."
    if math.isinf(enough) and ties == found.needed:
        never = f"no number of {CHANGED[found.change]} {found.noun}s can {does} outright (proven)"
        outright = never if math.isinf(decides) else f"no attack found to {does} outright"
        return f"{_tied(found)} (proven minimum); {outright}."
    return _between(found, share)


def _between(found: Told, share: str) -> str:
    """Return the answer where fewer votes than known may be enough."""
    ties, enough, does = found.ties, found.sufficient, found.deed.does
    some = found.decides if math.isfinite(found.decides) else max(found.needed, 1.0)
    least = f"At least {found.put(found.way.must, some)} to {does}"
    if math.isinf(ties):
        return f"{least} ({percent(some / found.total)}, proven); no attack found."
    if math.isinf(enough):
        return f"{least} outright; {tie_text(ties, None, ' it')}."
    tie = tie_text(ties, enough, " it")
    enough_text = f"{number(enough)} {'is' if enough == 1 else 'are'} enough ({share})"
    return f"{least} (proven); {enough_text}{f'; {tie}' if tie else ''}."


def _in_shares(found: Told) -> str:
    """Return the answer for votes that are shares of all."""
    deed = found.deed
    much = percent(found.upper) if math.isfinite(found.upper) else ""
    verb = deed.does if found.way.many_do else deed.does_alone
    doing = f"{found.way.share_doing.format(share=much, noun=found.noun)} {verb}"
    least = f"At least {found.way.share_must.format(share=percent(found.lower), noun=found.noun)} to {deed.does}"
    if not much:
        none_ruled_out = f"No attack found to {deed.does}; none ruled out."
        return f"{least} (proven); no attack found." if found.lower else none_ruled_out
    if found.lower == found.upper:
        return f"{doing} (proven minimum)."
    if found.estimate or not found.lower:
        return f"{doing}; cheaper attacks may exist."
    return f"{least} (proven); {much} are enough."


def _doing(found: Told, amount: float, does: str = "", does_alone: str = "", *, begins: bool = True) -> str:
    """Return the sentence that a number of votes is enough."""
    does, does_alone = does or found.deed.does, does_alone or found.deed.does_alone
    votes = found.put(found.way.doing if begins else found.way.going_on, amount)
    return f"{votes} {does if found.way.many_do and amount != 1 else does_alone}"


def _tied(found: Told) -> str:
    """Return how many votes tie it."""
    return "It is tied already" if found.ties == 0 else _doing(found, found.ties, "tie it", "ties it")


def _tying(found: Told) -> str:
    """Return how many votes tie and how many decide."""
    if found.ties == 0:
        return f"It is tied already; {_doing(found, found.sufficient, begins=False)}"
    does = found.deed.does if found.way.many_do else found.deed.does_alone
    return f"{_tied(found)}, {found.put(found.way.more, found.sufficient)} {does}"


# Titles of pictures


def change_text(found: Told, *, whole: bool) -> str:
    """Return how much an attack changes: "11 of 100 votes changed"."""
    if whole:
        return found.put(found.way.done, found.sufficient)
    return f"{percent(found.upper)} of the {found.noun}s {_DONE_TO[found.change]}"


def proof_text(found: Told, *, whole: bool) -> str:
    """Return whether smaller attacks are ruled out."""
    least, most = (found.decides, found.sufficient) if whole else (found.lower, found.upper)
    split = f"; {found.noun}s may be split" if found.counts and not whole else ""
    if most == 0:
        return "already the case"
    if least == most:
        tie = tie_text(found.ties, most, " it") if whole and found.ties else ""
        return f"proven minimum{f'; {tie}' if tie else ''}{split}"
    if least == 0 or (whole and least <= 1 and found.lower == 0):
        return f"cheaper attacks may exist{split}"
    text = plural(least, found.noun) if whole else percent(least)
    return f"at least {text} {'is' if whole and least == 1 else 'are'} needed (proven){split}"


def interval_text(lower: float, upper: float) -> str:
    """Return bounds on a share for a line of Python.

    Examples
    --------
    >>> interval_text(0.1, 0.1), interval_text(0.1, math.inf), interval_text(math.inf, math.inf)
    ('0.1', '0.1 to ?', 'cannot be broken')
    """
    if lower == upper:
        return CANNOT_BREAK if math.isinf(lower) else f"{lower:.6g}"
    return f"{lower:.6g} to {'?' if math.isinf(upper) else f'{upper:.6g}'}"
