"""What keeps a reader from a wrong conclusion: other winners by other rules, ties by chance, ties in tiers alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdrank.words.names import in_text, listed, rule_name
from holdrank.words.nouns import noun_of
from holdrank.words.numbers import number, percent, plural
from holdrank.words.prices import budget_text

Record = dict[str, Any]  # of an analysis

MARK = "≈ 1st"
_MOST_NAMED = 30  # items in a line
_MOST_WINNERS = 2  # of one rule


def first_items(ranks: Sequence[int], order: Sequence[int]) -> list[int]:
    """Return the items of the first place, in a given order.

    Examples
    --------
    >>> first_items([2, 1, 1], [2, 1, 0])
    [2, 1]
    """
    best = min(ranks)
    return [item for item in order if ranks[item] == best]


def other_winners_text(record: Record) -> str:
    """Return which rules put other items first than this analysis does; nothing where none does.

    Examples
    --------
    >>> own = {"rule": "bradley-terry", "ranks": [1, 2, 3], "order": [0, 1, 2]}
    >>> others = [{"rule": "kemeny", "ranks": [2, 1, 3]}, {"rule": "borda", "ranks": [2, 1, 3]},
    ...           {"rule": "copeland", "ranks": [2, 2, 1]}, {"rule": "footrule", "ranks": [1, 1, 2]}]
    >>> other_winners_text({"items": ["a", "b", "c"], "consensus": own, "tiers": None, "others": others})
    'Other rules have other winners: b by Kemeny and Borda, c by Copeland.'
    """
    order = record["consensus"]["order"]
    top = set(first_items((record["tiers"] or record["consensus"])["ranks"], order))
    rules: dict[tuple[int, ...], list[str]] = {}
    for one in record["others"]:
        first = first_items(one["ranks"], order)
        if not top & set(first):
            rules.setdefault(tuple(first), []).append(rule_name(one["rule"]))
    if not rules:
        return ""
    parts = [
        f"{listed([in_text(record['items'][item]) for item in first], _MOST_WINNERS)} by {listed(names, len(names))}"
        for first, names in rules.items()
    ]
    one_rule = sum(map(len, rules.values())) == 1
    return f"{'Another rule has another winner' if one_rule else 'Other rules have other winners'}: {', '.join(parts)}."


def tied_by_chance(record: Record) -> list[int]:
    """Return the items that could be first by chance, in the order of the consensus.

    None are returned where chance was not weighed, where one item is first beyond chance, and where all items could be.
    """
    chance = record.get("chance")
    found = [] if not chance else [item for item in record["consensus"]["order"] if chance["lower"][item] == 1]
    return found if 1 < len(found) < len(record["items"]) else []


def tied_by_chance_text(record: Record, *, alone: bool) -> str:
    """Return all items that could be first by chance; `alone` is whether bars show each item alone."""
    found = tied_by_chance(record)
    if not found:
        return ""
    level, last = percent(record["chance"]["level"]), in_text(record["items"][found[-1]])
    why = " This compares all items at once; the bars are for each item alone." if alone else ""
    if len(found) > _MOST_NAMED:
        return f"{MARK}: could be first by chance ({level}): {plural(len(found), 'item')} down to {last}.{why}"
    who = listed([in_text(record["items"][item]) for item in found], len(found))
    return f"{MARK}: could be first by chance ({level}, {number(len(found))} items): {who}.{why}"


def without_ties_text(record: Record) -> str:
    """Return why a leader stays first within reach of an attack that ties it: reach is about the order without ties."""
    reach, found, order = record["reach"], record["attack"], record["consensus"]["order"]
    if record["tiers"] is None or reach is None or not found or found.get("after") is None:
        return ""
    top = first_items(record["tiers"]["ranks"], order)
    after = first_items(found["after"], order)
    tie = len(top) == 1 and top[0] in after and len(after) > 1
    votes, amount = record["votes"], reach["votes"]
    if not tie or amount is None or reach["worst"][top[0]] > 1 or (found["sufficient"] or amount + 1) > amount + 1e-6:
        return ""
    budget = budget_text(reach["budget"], amount, noun_of(votes)).partition(" (")[0]
    return (
        f"Places and reach are those without tiers. {budget.capitalize()} can bring another item into the tier of "
        f"{in_text(record['items'][top[0]])}, but cannot put another item ahead."
    )


def never_met_text(record: Record) -> str:
    """Return that no battle compares the winner with the item that the attack puts beside or ahead of it; else nothing.

    Examples
    --------
    >>> record = {"items": ["a", "b"], "consensus": {"ranks": [1, 2], "order": [0, 1], "rule": "bradley-terry"},
    ...           "tiers": None, "attack": {"after": [2, 1]}, "pairs": {"compared": [[0, 0], [0, 0]]},
    ...           "votes": {"format": "battles"}}
    >>> never_met_text(record)
    'No battle compares a with b: other items connect them.'
    """
    attack, order = record["attack"], record["consensus"]["order"]
    if not attack or attack.get("after") is None or not record.get("pairs"):
        return ""
    top = first_items((record["tiers"] or record["consensus"])["ranks"], order)
    new = [item for item in first_items(attack["after"], order) if item not in top]
    compared = record["pairs"]["compared"]  # by places; one number stands for all pairs where they are alike
    if len(top) != 1 or len(new) != 1 or len(compared) < len(order):
        return ""
    if compared[order.index(top[0])][order.index(new[0])]:
        return ""
    names = " with ".join(in_text(record["items"][item]) for item in (top[0], new[0]))
    return f"No {noun_of(record['votes'])} compares {names}: other items connect them."
