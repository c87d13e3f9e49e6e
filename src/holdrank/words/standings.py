"""The board of a page in words: what it ranks and how, what its bars mean, and what is left out and why."""

from __future__ import annotations

from typing import Any

from holdrank.status import TIERS_PRICED_UP_TO
from holdrank.words.names import rule_name, why_chosen
from holdrank.words.nouns import noun_of
from holdrank.words.numbers import percent, plural
from holdrank.words.prices import budget_text

Record = dict[str, Any]

_PROVEN = "A single number is the proven minimum; a range contains it."


def about_text(record: Record) -> str:
    """Return how many votes there are of how many items.

    Examples
    --------
    >>> about_text({"items": ["a", "b"], "votes": {"counts": True, "total": 8931.0, "format": "battles"}})
    '8,931 battles, 2 items'
    """
    votes = record["votes"]
    many = plural(votes["total"], noun_of(votes)) if votes["counts"] else "shares of votes"
    return f"{many}, {plural(len(record['items']), 'item')}"


def board_caption(record: Record) -> str:
    """Return what the board is about: the rule, and how tiers came about."""
    rule, tiers = rule_name(record["consensus"]["rule"]), record["tiers"]
    if tiers is None:
        return f"Ranked by {rule}, without tiers."
    number = max(tiers["ranks"])
    if number == len(record["items"]):
        return f"Ranked by {rule}. Every item has a tier of its own."
    return f"Ranked by {rule}, in {plural(number, 'tier')}. Items that share a tier share a rank."


def how_ranked(record: Record) -> str:
    """Return why this rule, and which threshold made the tiers."""
    tiers = record["tiers"]
    why = why_chosen(record["spec"]["rule"], record["consensus"]["rule"])
    parts = [f"{rule_name(record['consensus']['rule'])} was chosen {why}."] if why else []
    if tiers is not None:
        how = "was chosen from the votes" if tiers["auto"] else "was given"
        parts.append(f"The threshold of the tiers, {tiers['theta']:.3g}, {how}.")
    return " ".join(parts)


def overtaken_heading(unit: str) -> str:
    """Return the heading of the column that says what it takes to pass an item; `unit` is a noun in the plural."""
    return f"{unit} to lose the place"


def line_heading(unit: str) -> str:
    """Return the heading of the column that says what it takes to cross the line below a tier."""
    return f"{unit} to cross the line below"


def price_note(record: Record) -> str:
    """Return what the last of these columns means.

    Examples
    --------
    >>> price_note({"races": [{}], "votes": {"format": "battles"}, "tiers": {}, "items": ["a"] * 20})
    'Battles to lose the place: how many battles must change before the next item gets ahead. A single number is the \
proven minimum; a range contains it.'
    >>> price_note({"races": None, "votes": {}, "tiers": {}, "items": ["a"] * 20})
    'Votes to cross the line below: how many votes must change before an item below the line gets above it, in the \
ranking without tiers. A single number is the proven minimum; a range contains it.'
    """
    many = f"{noun_of(record['votes'])}s"
    if record.get("races"):
        what = f"how many {many} must change before the next item gets ahead"
        return f"{overtaken_heading(many.capitalize())}: {what}. {_PROVEN}"
    without = ", in the ranking without tiers" * (
        record["tiers"] is not None and len(record["items"]) > TIERS_PRICED_UP_TO
    )
    what = f"how many {many} must change before an item below the line gets above it{without}"
    return f"{line_heading(many.capitalize())}: {what}. {_PROVEN}"


def chance_legend(drawn: Record) -> str:
    """Return what the thin bar means: places for ``all`` items at once at some level, or those of a bootstrap."""
    if "all" in drawn:
        return f"by chance ({percent(drawn['all'])} for all items at once)"
    return f"by chance ({percent(drawn['level'])} of bootstrap samples)"


def chance_phrase(drawn: Record) -> str:
    """Return how sure places by chance are: for ``all`` items at once at some level, or one item at a time.

    Examples
    --------
    >>> chance_phrase({"all": 0.95}), chance_phrase({"level": 0.95, "draws": 1000})
    ('at 95 % for all items at once', 'in 95 % of 1,000 bootstrap samples')
    """
    if "all" in drawn:
        return f"at {percent(drawn['all'])} for all items at once"
    return f"in {percent(drawn['level'])} of {drawn['draws']:,} bootstrap samples"


def anywhere_text(chance: Record, *, alone: bool) -> str:
    """Return that chance rules out hardly any place of hardly any item; `alone` is whether bars show each item alone.

    Examples
    --------
    >>> anywhere_text({"lower": [1, 1, 1], "upper": [3, 3, 3], "level": 0.95}, alone=False)
    'For all items at once, no place of any item can be ruled out (95 %).'
    >>> anywhere_text({"lower": [1, 1, 2], "upper": [3, 3, 3], "level": 0.95}, alone=True)
    'For all items at once, hardly any place can be ruled out (95 %); the bars show each item alone.'
    """
    whole = set(chance["lower"]) == {1} and set(chance["upper"]) == {len(chance["upper"])}
    none = "no place of any item" if whole else "hardly any place"
    bars = "; the bars show each item alone" if alone else ""
    return f"For all items at once, {none} can be ruled out ({percent(chance['level'])}){bars}."


def reach_legend(record: Record) -> str:
    """Return what the thick bar means."""
    reach = record["reach"]
    budget = budget_text(reach["budget"], reach["votes"], noun_of(record["votes"]))
    without = ", without tiers" * (record["tiers"] is not None)
    return f"within reach of {budget}{without} (inner bar: shown by an attack; outer bar: not ruled out)"


def no_reach_text(record: Record) -> str:
    """Return why the board shows no places within reach."""
    reach = record["reach"]
    if reach is None or any(step["name"] == "reach" and step["state"] != "done" for step in record["steps"]):
        return "Reach: places within reach of an adversary were not computed within the time limit."
    budget = budget_text(reach["budget"], reach["votes"], noun_of(record["votes"]))
    return f"Reach is not shown: with {budget} changed, almost any place is possible or cannot be ruled out."
