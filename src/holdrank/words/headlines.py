"""An analysis in one sentence: who is first, how many votes change that, and how sure the number is."""

from __future__ import annotations

from typing import Any

from holdrank.errors import show
from holdrank.words.names import listed
from holdrank.words.numbers import number, percent
from holdrank.words.prices import tie_text

Record = dict[str, Any]  # of an analysis

_NAMED = 4  # items of a shared first place that are named


def headline(record: Record) -> str:
    """Return who is first, how many votes it takes to change that, and whether that is proven.

    Numbers are those of ``record["attack"]``, the number of votes first, then the share, then how sure it is.
    """
    names, found = record["items"], record["attack"]
    ranks = (record["tiers"] or record["consensus"])["ranks"]
    top = [show(names[i], 60) for i in record["consensus"]["order"] if ranks[i] == 1]
    if len(ranks) == 1:
        return f"There is one item, {top[0]}."
    if len(top) == 1:
        return _winner(top[0], found, record["votes"])
    if len(top) == len(ranks) == 2:
        said, undoing = "Both items share first place", "Separating them"
    elif len(top) == len(ranks):
        said, undoing = f"All {len(ranks)} items share first place", "Separating any two of them"
    else:
        said, undoing = f"{listed(top, _NAMED)} share first place", "Bringing in anyone else"
    if found is None:
        return f"{said}; how firmly was not tested within the time limit."
    return f"{said}. {_price(undoing, found, record['votes'])}."


def _winner(name: str, found: Record | None, votes: Record) -> str:
    if found is None:
        return f"{name} wins; how firmly was not tested within the time limit."
    if found["lower"] is None:
        return f"{name} wins, and stays first no matter which votes change (proven)."
    least, most = _ends(found, votes)
    if most == 0:
        return f"{name} is listed first, and another item is first as well."
    if votes["counts"] and found["ties"] == 0:
        return f"{name} is first in one of several optimal rankings. {_price('Deciding for another', found, votes)}."
    if least and (most is None or least == most):
        verb = " changes" if votes["counts"] and least == 1 else " change"
        amount = _amount(least, votes, "proven lower bound" if most is None else "proven minimum", verb=verb)
        return f"{name} wins, and stays first unless at least {amount}{_tie(found, votes)}."
    return f"{name} wins. {_price('Another winner', found, votes)}."


def _price(what: str, found: Record, votes: Record) -> str:
    """Return what something takes: "Another winner takes 22 of 500 votes (4.4 %, proven minimum)"."""
    if found["lower"] is None:
        return f"{what} is impossible, no matter which votes change (proven)"
    least, most = _ends(found, votes)
    if most is None:
        if not least:
            return f"{what}: no attack found, none ruled out"
        return f"{what} takes at least {_amount(least, votes, 'proven')}; no attack found"
    if least == most:
        return f"{what} takes {_amount(most, votes, 'proven minimum')}{_tie(found, votes)}"
    if not least or (votes["counts"] and least <= 1):
        return f"{what} takes at most {_amount(most, votes)}; fewer may be enough"
    fewer = number(least) if votes["counts"] else percent(least)
    return f"{what} takes at most {_amount(most, votes)}, and at least {fewer} (proven)"


def _ends(found: Record, votes: Record) -> tuple[float | None, float | None]:
    """Return what is proven to be needed to decide, and what is enough: whole votes, or shares."""
    names = ("decides", "sufficient") if votes["counts"] else ("lower", "upper")
    return found[names[0]], found[names[1]]


def _tie(found: Record, votes: Record) -> str:
    """Return how many votes make a tie, where fewer do than decide."""
    tie = tie_text(found["ties"], found["sufficient"], " it") if votes["counts"] and found["ties"] else ""
    return f"; {tie}" if tie else ""


def _amount(amount: float, votes: Record, *notes: str, verb: str = "") -> str:
    """Return "22 of 500 votes (4.4 %, proven minimum)", or "4.4 % of the votes (proven minimum)"."""
    if votes["counts"]:
        words = f"{number(amount)} of {number(votes['total'])} votes"
        notes = (percent(amount / votes["total"]), *notes)
    else:
        words = f"{percent(amount)} of the votes"
    return words + verb + (f" ({', '.join(notes)})" if notes else "")


def lead_text(names: list[str], *, running: bool) -> str:
    """Return who leads while it is not known yet how long that holds.

    Examples
    --------
    >>> lead_text(["a"], running=True)
    'a leads; how long that holds is being worked out'
    """
    doing = "is being worked out" if running else "was not worked out"
    return f"{listed(names, _NAMED)} {'leads' if len(names) == 1 else 'lead'}; how long that holds {doing}"
