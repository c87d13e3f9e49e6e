"""An analysis in one sentence of at most 90 characters, and a line below it that says how sure that is."""

from __future__ import annotations

from typing import Any

from holdrank.errors import show
from holdrank.status import LEAST_DRAWS
from holdrank.words.chance import tied_text
from holdrank.words.cuts import cut_text
from holdrank.words.ladders import FEW_ITEMS
from holdrank.words.names import listed
from holdrank.words.nouns import amount_text, noun_of, of_all
from holdrank.words.numbers import number, percent, plural
from holdrank.words.prices import to_decide
from holdrank.words.remarks import first_items

Record = dict[str, Any]  # of an analysis

LONGEST_HEADLINE = 90  # characters
FRAGILE, FIRM, FIRM_VOTES, FIRM_CHANCE = 0.01, 0.05, 5, 0.95

_NAMED = 3  # items of a shared first place that are named
_THEN = 2  # items named that are first after the attack
_MOST_TIED = 4  # items tied by chance that are named
_WIDTHS = (60, 40, 30, 24, 18)  # of a name, the widest that fits
_NEXT = {2: "a third", 3: "a fourth", 4: "a fifth"}
# How the lead of one item ends: what votes can do, and what it is.
_LOST = {
    "tie": ("make it a tie", "a tie"),
    "other": ("change the winner", "another winner"),
    "": ("end the lead", "ending the lead"),
}

FIRM_MEANS = (
    f"Fragile means that one vote, or at most {percent(FRAGILE)} of the votes, is enough. Firm means that at least "
    f"{percent(FIRM)} of the votes and {FIRM_VOTES} votes are needed (proven), that the bootstrap keeps the first "
    f"place in at least {percent(FIRM_CHANCE)} of the samples, and that no other item is statistically tied for it."
)


def headline(record: Record) -> str:
    """Return who is first and how many votes it takes to change that, in one sentence.

    What is fragile is called fragile, and what is firm is called firm (`FIRM_MEANS`). Numbers are those of
    ``record["attack"]``; `subline` says how sure they are.
    """
    told = ""
    for width, named, brief in [*((width, _NAMED, False) for width in _WIDTHS), (12, 0, False), (12, 0, True)]:
        told = _sentence(record, width, named, brief=brief)
        if len(told) <= LONGEST_HEADLINE:
            break
    return told


def _sentence(record: Record, width: int, named: int, *, brief: bool) -> str:
    found, top, n = record["attack"], _top(record), len(record["items"])
    names = [show(record["items"][item], width) for item in top]
    if n == 1:
        return f"There is one item, {names[0]}."
    if len(top) == 1:
        return _winner(names[0], record, brief=brief)
    if len(top) == n:
        both = "Both items" if n == 2 else f"All {n} items"
        return _shared(
            f"{both} tie for first place", "separating " + ("them" if n == 2 else "two"), record, brief=brief
        )
    who = listed(names, named) if len(top) <= named else plural(len(top), "item")
    after = _top_after(record)
    joins = not after or set(top) <= set(after)
    third = _NEXT.get(len(top), "another")
    lost, undoing = (f"add {third}", f"adding {third}") if joins else _LOST["other"]
    if found is not None and _strength(record) == "fragile":
        return f"{who} share a fragile first place: {_enough(found, record['votes'], brief=brief)} can {lost}."
    firmly = "firmly " if _strength(record) == "firm" else ""
    return _shared(f"{who} {firmly}share first place", undoing, record, brief=brief)


def _winner(name: str, record: Record, *, brief: bool) -> str:
    found, votes = record["attack"], record["votes"]
    if found is None:
        return f"{name} is first."
    if found["lower"] is None:
        return f"{name} is first, no matter which {noun_of(votes)}s change."
    if _ends(found, votes)[1] == 0:
        return f"{name} is listed first, and another item is first as well."
    if _open(record):
        return f"{name} is first in one of several equally good rankings."
    strength = _strength(record)
    lost, undoing = _LOST[_end_of_lead(record)]
    if strength == "fragile":
        return f"{name} is first, but fragile: {_enough(found, votes, brief=brief)} can {lost}."
    said = f"{name} is firmly first" if strength == "firm" else f"{name} is first"
    return _shared(said, undoing, record, brief=brief)


def _end_of_lead(record: Record) -> str:
    """Return how the known attack ends the lead of one item: by a tie or by another winner; tiers allow both."""
    if record["tiers"] is None:
        return "other"
    after = _top_after(record)
    return "" if not after else "tie" if _top(record)[0] in after else "other"


def _top_after(record: Record) -> list[int]:
    """Return the items of the first tier after the attack, in the order of the consensus; none where not known."""
    after = (record["attack"] or {}).get("after")
    return [] if after is None else first_items(after, record["consensus"]["order"])


def _shared(said: str, undoing: str, record: Record, *, brief: bool) -> str:
    """Return what is so and what undoing it takes: "a is first; another winner takes 22 of 500 votes."."""
    found, votes = record["attack"], record["votes"]
    if found is None:
        return f"{said}."
    if found["lower"] is None:
        return f"{said}, no matter which {noun_of(votes)}s change."
    least, most = _ends(found, votes)
    amount = (amount_text(least, None, votes) if brief else "") or amount_text(least, most, votes)
    return (
        f"{said}; {undoing} takes {of_all(amount, votes, brief=brief)}."
        if amount
        else f"{said}; how firmly is not known."
    )


def subline(record: Record) -> str:
    """Return how sure the headline is, what else changes at the top and for how many votes, and what chance does."""
    found = record["attack"]
    if len(record["items"]) == 1:
        return ""
    cut = cut_text(record["cut"], record["votes"]) if record.get("cut") else ""
    if found is None:
        return " ".join(filter(None, ("How firmly was not tested within the time limit.", cut)))
    then = (then_text(record), _sure(record))  # what takes so many votes is in the headline, or in the latter
    parts = (*(then[::-1] if _open(record) else then), _first_gap(record), _chance(record), cut)
    return " ".join(filter(None, parts))


def then_text(record: Record) -> str:
    """Return who is first after the attack; nothing where that is not known, or where nothing changes."""
    top, after = _top(record), _top_after(record)
    if not after or set(after) == set(top) or not _ends(record["attack"], record["votes"])[1]:
        return ""
    new = [item for item in after if item not in top]
    joined = bool(new) and set(top) <= set(after)
    names = [show(record["items"][item], 30) for item in (new if joined else after)]
    who = listed(names, _THEN)
    if joined:
        return f"{who} then {'shares' if len(new) == 1 else 'share'} first place{' as well' * (len(top) > 1)}."
    return f"{who} {'is then first' if len(after) == 1 else 'then share first place'}."


def _sure(record: Record) -> str:
    found, votes = record["attack"], record["votes"]
    if found["lower"] is None:
        return "Proven: no change of votes does otherwise."
    least, most = _ends(found, votes)
    if most == 0:
        return ""
    if _open(record):
        amount = amount_text(least, most, votes)
        return f"Deciding for another takes {of_all(amount, votes)}." if amount else ""
    if most is None:
        bounded = bool(amount_text(least, None, votes))  # else the headline names no minimum
        return "That minimum is proven; no attack was found." if bounded else "No attack found; none ruled out."
    share = percent(most / votes["total"]) if votes["counts"] else ""
    share = f" ({share})" if share and most >= 0.001 * votes["total"] else ""
    if least == most:
        return f"Proven minimum{share}{_fewer(found, votes)}."
    if not least or (votes["counts"] and least <= 1):
        return f"A verified attack shows it{share}; fewer may be enough."
    low, high = (number(end) if votes["counts"] else percent(end) for end in (least, most))
    return f"At least {low} must change (proven); a verified attack changes {high}{share}."


def _fewer(found: Record, votes: Record) -> str:
    """Return that one vote less does not do."""
    most = found["sufficient"]
    if not votes["counts"] or most <= 1:
        return ""
    if found["ties"] is not None and 0 < found["ties"] < most:
        return f": {number(found['ties'])} only tie{'s' * (found['ties'] == 1)}"
    return f": {number(most - 1)} {'is' if most == 2 else 'are'} not enough"


def _first_gap(record: Record) -> str:
    """Return what the gap below the first tier takes, where that is not what the headline says."""
    votes, top, n = record["votes"], _top(record), len(record["items"])
    ends = _gap_ends(record)
    if ends is None or record["tiers"] is None or len(top) == n or record["attack"]["lower"] is None:
        return ""
    if ends == _ends(record["attack"], votes) or not (amount := amount_text(*ends, votes)):
        return ""
    many = "" if votes["counts"] else f" of the {noun_of(votes)}s"
    s = "s" * (amount == "1")
    said = f"{amount[:1].upper()}{amount[1:]}{many}"
    if n <= FEW_ITEMS:
        return f"{said} change{s} who shares first place."
    if len(top) == 1:
        return f"{said} put{s} another item ahead, without a tie."
    return f"{said} change{s} the first {len(top)} of the order without ties."


def _chance(record: Record) -> str:
    if chance := record.get("chance"):
        names, n = [record["items"][item] for item in _tied(record)], len(record["items"])
        if _MOST_TIED < len(names) < n:  # the board marks them
            who = f"{show(names[0], 40)} and {len(names) - 1:,} other items"
            return f"{who} are statistically tied for first place at {percent(chance['level'])}."
        return f"{tied_text(names, n, chance['level'])}."
    drawn, top = record.get("bootstrap"), _top(record)
    if drawn is None or drawn["draws"] < LEAST_DRAWS or len(top) == len(record["items"]):
        return ""
    who = show(record["items"][top[0]], 40) if len(top) == 1 else "One of them"
    return f"{who} is first in {percent(first_by_chance(record))} of {drawn['draws']:,} bootstrap samples."


def first_by_chance(record: Record) -> float:
    """Return how often one of those who are first is first in the bootstrap samples."""
    share = sum(record["bootstrap"]["first"][item] for item in _top(record))
    return min(round(float(share), 6), 1.0)


def _tied(record: Record) -> list[int]:
    """Return the items that may be first by chance."""
    return [item for item in record["consensus"]["order"] if record["chance"]["lower"][item] == 1]


def _top(record: Record) -> list[int]:
    """Return the items of the first tier."""
    return first_items((record["tiers"] or record["consensus"])["ranks"], record["consensus"]["order"])


def _open(record: Record) -> bool:
    """Whether an optimum that is not shown has another item first."""
    found = record["attack"]
    return len(_top(record)) == 1 and bool(record["votes"]["counts"]) and found["ties"] == 0


def _strength(record: Record) -> str:
    """Return "fragile", "firm" or nothing, by `FIRM_MEANS`."""
    found, votes, drawn = record["attack"], record["votes"], record.get("bootstrap")
    if found is None or found["lower"] is None:
        return ""
    least, most = _ends(found, votes)
    part = votes["total"] if votes["counts"] else 1.0
    if most is not None and (most <= FRAGILE * part or (votes["counts"] and most <= 1)):
        return "fragile"
    if not _enough_to_be_firm(least, votes):
        return ""
    # Who shares first place may change for fewer votes than somebody new takes.
    if len(_top(record)) > 1 and (ends := _gap_ends(record)) is not None and not _enough_to_be_firm(ends[0], votes):
        return ""
    if record.get("chance") and not set(_tied(record)) <= set(_top(record)):
        return ""
    tested = drawn is not None and drawn["draws"] >= LEAST_DRAWS
    return "firm" if not tested or first_by_chance(record) >= FIRM_CHANCE else ""


def _enough_to_be_firm(least: float | None, votes: Record) -> bool:
    part = votes["total"] if votes["counts"] else 1.0
    return least is not None and least >= FIRM * part and (not votes["counts"] or least >= FIRM_VOTES)


def _gap_ends(record: Record) -> tuple[float | None, float | None] | None:
    """Return what the gap below the first tier takes, at least and at most; None where nothing is known."""
    gaps, votes = record.get("gaps"), record["votes"]
    if not gaps or gaps[0].get("known") is False or gaps[0]["lower"] is None:
        return None
    gap = gaps[0]
    return (to_decide(gap), gap["sufficient"]) if votes["counts"] else (gap["lower"], gap["upper"])


def _ends(found: Record, votes: Record) -> tuple[float | None, float | None]:
    """Return what is proven to be needed to decide, and what is enough: whole votes, or shares."""
    names = ("decides", "sufficient") if votes["counts"] else ("lower", "upper")
    return found[names[0]], found[names[1]]


def _enough(found: Record, votes: Record, *, brief: bool) -> str:
    """Return what is known to be enough, of all votes: "changing 4 of 500 votes"."""
    most = _ends(found, votes)[1]
    return "changing " * (not brief) + of_all(amount_text(most, most, votes), votes, brief=brief)


def lead_text(names: list[str], *, running: bool) -> str:
    """Return who leads while it is not known yet how long that holds.

    Examples
    --------
    >>> lead_text(["a"], running=True)
    'a leads; how long that holds is being worked out'
    """
    doing = "is being worked out" if running else "was not worked out"
    return f"{listed(names, _NAMED)} {'leads' if len(names) == 1 else 'lead'}; how long that holds {doing}"
