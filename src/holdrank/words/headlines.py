"""An analysis in one sentence of at most 90 characters, and a line below it that says how sure that is."""

from __future__ import annotations

from typing import Any, NamedTuple

from holdrank.errors import show
from holdrank.status import LEAST_DRAWS, TIERS_PRICED_UP_TO
from holdrank.words.chance import tied_first_text, tied_text
from holdrank.words.cuts import cut_text
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
_WIDTHS = (60, 40, 30, 24, 18)  # of a name, the widest that fits
_NEXT = {2: "a third", 3: "a fourth", 4: "a fifth"}
# What votes do, and what it is, where nobody is named who is first then.
_ANOTHER = ("change the winner", "another winner")
_ENDED = ("end the lead", "ending the lead")

FIRM_MEANS = (
    f"Fragile means that one vote, or at most {percent(FRAGILE)} of the votes, is enough. Firm means that at least "
    f"{percent(FIRM)} of the votes and {FIRM_VOTES} votes are needed (proven), that the bootstrap keeps the first "
    f"place in at least {percent(FIRM_CHANCE)} of the samples, and that no other item could be first by chance."
)


def headline(record: Record) -> str:
    """Return who is first and how many votes it takes to change that, in one sentence.

    What is fragile is called fragile, and what is firm is called firm (`FIRM_MEANS`). Numbers are those of
    ``record["attack"]``; `subline` says how sure they are.
    """
    told = ""
    for look in _LOOKS:
        told = _sentence(record, look)
        if len(told) <= LONGEST_HEADLINE:
            break
    return told


class _Look(NamedTuple):
    """How much room a headline takes."""

    width: int  # of a name
    named: int  # leaders who are named
    then: bool  # whether those are named who are first after the attack
    brief: int  # 1 leaves out words that are not needed, 2 the number of all votes as well


_LOOKS = (
    *(_Look(width, _NAMED, True, brief) for width in _WIDTHS[:2] for brief in (0, 1)),
    *(_Look(width, _NAMED, False, brief) for width in _WIDTHS for brief in (0, 1)),
    *(_Look(12, 0, False, brief) for brief in (0, 1, 2)),
)


def _sentence(record: Record, look: _Look) -> str:
    found, top, n = record["attack"], _top(record), len(record["items"])
    names = [show(record["items"][item], look.width) for item in top]
    if n == 1:
        return f"There is one item, {names[0]}."
    if len(top) == 1:
        return _winner(names[0], record, look)
    lost, undoing = _change(record, look)
    if len(top) == n:
        return _shared(f"{'Both' if n == 2 else f'All {n}'} items share first place", undoing, record, look)
    who = listed(names, look.named) if len(top) <= look.named else plural(len(top), "item")
    if found is not None and _strength(record) == "fragile":
        return f"{who} share a fragile first place: {_able(found, record['votes'], lost, look)}."
    firmly = "firmly " if _strength(record) == "firm" else ""
    return _shared(f"{who} {firmly}share first place", undoing, record, look)


def _winner(name: str, record: Record, look: _Look) -> str:
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
    lost, undoing = _change(record, look)
    if strength == "fragile":
        return f"{name} is first, but fragile: {_able(found, votes, lost, look)}."
    said = f"{name} is firmly first" if strength == "firm" else f"{name} is first"
    return _shared(said, undoing, record, look)


def _change(record: Record, look: _Look) -> tuple[str, str]:
    """Return what the attack does to the first place, as what votes do and as a noun; who is first then, if known."""
    top, after, n = _top(record), _top_after(record), len(record["items"])
    if len(top) == n:
        apart = "them" if n == 2 else "two"
        return f"separate {apart}", f"separating {apart}"
    new = [item for item in after if item not in top]
    bringing = "letting in" if look.brief else "bringing in"
    if not new:
        third = _NEXT.get(len(top), "another")
        alone = _ANOTHER if record["tiers"] is None else _ENDED
        return alone if len(top) == 1 else (f"bring in {third}", f"{bringing} {third}")
    if look.then:
        who = listed([show(record["items"][item], look.width) for item in new], _THEN)
    else:
        one = _NEXT.get(len(top), "another") if len(top) > 1 and set(top) <= set(after) else "another item"
        who = one if len(new) == 1 else plural(len(new), "other")
    if not set(top) & set(after):
        return f"put {who} first", f"putting {who} first"
    if len(top) > 1:
        return f"bring in {who}", f"{bringing} {who}"
    return f"tie it with {who}", f"tying it with {who}"


def _top_after(record: Record) -> list[int]:
    """Return the items of the first tier after the attack, in the order of the consensus; none where not known."""
    after = (record["attack"] or {}).get("after")
    return [] if after is None else first_items(after, record["consensus"]["order"])


def _shared(said: str, undoing: str, record: Record, look: _Look) -> str:
    """Return what is so and what undoing it takes: "a is first; another winner takes 22 of 500 votes."."""
    found, votes = record["attack"], record["votes"]
    if found is None:
        return f"{said}."
    if found["lower"] is None:
        return f"{said}, no matter which {noun_of(votes)}s change."
    least, most = _ends(found, votes)
    brief = look.brief > 1
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
    then = "" if _is_said(record) else then_text(record)
    sure = (_sure(record), then) if _open(record) else (then, _sure(record))
    return " ".join(filter(None, (*sure, _first_gap(record), _chance(record), _in_samples(record), cut)))


def _is_said(record: Record) -> bool:
    """Whether the headline says all about who is first after the attack."""
    top, after = _top(record), _top_after(record)
    new = [item for item in after if item not in top]
    stays = len(set(top) & set(after))
    if not new or _open(record) or 0 < stays < len(top):
        return False
    said = headline(record)
    return all(show(record["items"][item], 60) in said for item in new)


def then_text(record: Record) -> str:
    """Return who is first after the attack; nothing where that is not known, or where nothing changes."""
    top, after = _top(record), _top_after(record)
    if not after or set(after) == set(top) or not _ends(record["attack"], record["votes"])[1]:
        return ""
    new = [item for item in after if item not in top]
    stay, leave = ([item for item in top if (item in after) is inside] for inside in (True, False))
    joined = bool(new) and bool(stay)
    who = _names(record, new if joined else after)
    if not joined:
        return f"{who} {'is then first' if len(after) == 1 else 'then share first place'}."
    share = f"{who} then {'shares' if len(new) == 1 else 'share'} first place"
    if leave:
        return f"{share}; {_names(record, leave)} {'does' if len(leave) == 1 else 'do'} not."
    return f"{share} with {_names(record, top)}." if len(top) == 1 else f"{share} as well."


def _names(record: Record, items: list[int]) -> str:
    return listed([show(record["items"][item], 60) for item in items], _THEN)


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
        if not amount_text(least, None, votes):
            return "No attack found; none ruled out."
        low = number(least or 0) if votes["counts"] else percent(least or 0.0)
        return f"Fewer than {low} are not enough (proven); no attack found."
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
    if n <= TIERS_PRICED_UP_TO:
        deed, doing, what = "change", "Changing", "who shares first place"
    elif len(top) == 1:
        deed, doing, what = "put", "Putting", f"{_overtaker(record, ends)} ahead of {show(record['items'][top[0]], 40)}"
    else:
        deed, doing, what = "change", "Changing", f"which {len(top)} items come first without tiers"
    if not amount[0].isdigit():  # "at least 3 put" would sound as if three did
        return f"{doing} {what} takes {amount}{many}."
    proven = " (proven minimum)" * (ends[0] == ends[1])
    return f"{amount}{many} {deed}{'s' * (amount == '1')} {what}{proven}."


def _overtaker(record: Record, gap: tuple[float | None, float | None]) -> str:
    """Return who gets ahead of the first item when the gap below it breaks: the next one, where that takes no more."""
    races, votes, order = record.get("races"), record["votes"], record["consensus"]["order"]
    if not races or not races[0]["known"]:
        return "another item"
    most = races[0]["sufficient"] if votes["counts"] else races[0]["upper"]
    return show(record["items"][order[1]], 40) if most is not None and most == gap[1] else "another item"


def _chance(record: Record) -> str:
    """Return who is tied: in the first tier, and by chance, in one sentence."""
    if chance := record.get("chance"):
        top, could, n = _top(record), _tied(record), len(record["items"])
        others = [show(record["items"][item], 60) for item in could if item not in top]
        if record["tiers"] is None or len(top) == n or not set(top) & set(could):
            names = [record["items"][item] for item in could]
            return f"{tied_text(names, n, chance['level'])}."
        votes = record["votes"]
        cast = plural(votes["total"], noun_of(votes)) if votes["counts"] else f"these {noun_of(votes)}s"
        return tied_first_text([show(record["items"][item], 40) for item in top], others, n, chance["level"], cast)
    return ""


def _in_samples(record: Record) -> str:
    """Return how often the first place is kept in bootstrap samples."""
    drawn, top = record.get("bootstrap"), _top(record)
    if drawn is None or drawn["draws"] < LEAST_DRAWS or len(top) == len(record["items"]):
        return ""
    who = show(record["items"][top[0]], 40) if len(top) == 1 else "One of them"
    share = first_by_chance(record)
    return f"{who} is first in {'all' if share == 1 else f'{percent(share)} of'} {drawn['draws']:,} bootstrap samples."


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


def _able(found: Record, votes: Record, deed: str, look: _Look) -> str:
    """Return what is known to be enough, and what it does: "changing 4 of 500 votes can put b first"."""
    most = _ends(found, votes)[1]
    amount = of_all(amount_text(most, most, votes), votes, brief=look.brief > 1)
    if not look.brief:
        return f"changing {amount} can {deed}"
    verb, _, rest = deed.partition(" ")
    return f"{amount} {verb}{'s' * (bool(votes['counts']) and most == 1)} {rest}"


def lead_text(names: list[str], *, running: bool) -> str:
    """Return who leads while it is not known yet how long that holds.

    Examples
    --------
    >>> lead_text(["a"], running=True)
    'a leads; how long that holds is being worked out'
    """
    doing = "is being worked out" if running else "was not worked out"
    return f"{listed(names, _NAMED)} {'leads' if len(names) == 1 else 'lead'}; how long that holds {doing}"
