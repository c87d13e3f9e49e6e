"""Display names: items that stay text, lists of them, ballots, rules and what their tiers are called."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from holdrank.errors import show

LONGEST = 40  # characters of a name
_MOST_IN_LINE = 10  # items of an order that is written out
_RIGHT_TO_LEFT = {"R", "AL", "AN"}
_RULES = {"kemeny": "Kemeny", "borda": "Borda", "copeland": "Copeland", "bradley-terry": "Bradley-Terry"}
_FOR_BATTLES = "bradley-terry"
_DISTANCES = {
    "kendall": "Kendall",
    "spearman_rho": "Spearman rho",
    "footrule": "footrule",
    "cayley": "Cayley",
    "ulam": "Ulam",
    "hamming": "Hamming",
    "weighted_kendall": "weighted Kendall",
}


def named(name: str, width: int = LONGEST) -> str:
    """Return the name of an item on one line, not too long, without anything that controls its surroundings."""
    return show(name, width) or "(no name)"


def in_text(name: str) -> str:
    """Return a name for the middle of a sentence: one that runs from right to left does not turn its neighbours."""
    text = named(name)
    turns = any(unicodedata.bidirectional(sign) in _RIGHT_TO_LEFT for sign in text)
    return f"\u2068{text}\u2069" if turns else text


def listed(names: Sequence[str], most: int) -> str:
    """Return names as a list in words; those beyond `most` are counted.

    Examples
    --------
    >>> listed(["a", "b", "c", "d"], 2), listed(["a", "b", "c"], 2), listed(["a"], 2)
    ('a, b and 2 more', 'a, b and c', 'a')
    """
    more = len(names) - most
    if more > 1:  # one name takes no more room than the words that would stand for it
        return f"{', '.join(names[:most])} and {more} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def order_text(tiers: Sequence[Sequence[int]], items: Sequence[str], width: int = 80) -> str:
    """Return an order with ties on one line; long names are cut.

    Examples
    --------
    >>> order_text([[1], [0, 2]], ["a", "b", "c"])
    'b > {a, c}'
    """
    shown = [[show(items[item], width) for item in tier] for tier in tiers]
    return " > ".join(names[0] if len(names) == 1 else f"{{{', '.join(names)}}}" for names in shown)


def brief_order(tiers: Sequence[Sequence[int]], items: Sequence[str]) -> str:
    """Return the first three items of an order, for one line; nothing where few items need no shorter form.

    Examples
    --------
    >>> names = list("abcdefghijklm")
    >>> brief_order([[k] for k in range(13)], names), brief_order([[0], [1, 2, 3], [*range(4, 13)]], names)
    ('a > b > c > …', 'a > {b, c, …} > …')
    >>> brief_order([[0, 1], [2]], ["a", "b", "c"])
    ''
    """
    if len(items) <= _MOST_IN_LINE:
        return ""
    shown, left = [], 3
    for tier in tiers:
        names = [named(items[item], 30) for item in tier[:left]]
        left -= len(names)
        names += ["…"] if len(names) < len(tier) else []
        shown.append(names[0] if len(tier) == 1 else f"{{{', '.join(names)}}}")
        if not left:
            break
    return " > ".join([*shown, "…"] if len(shown) < len(tiers) else shown)


def ballot_text(ranks: Sequence[int], items: Sequence[str], width: int = 80) -> str:
    """Return a ballot as text; items that it does not list are left out, long names are cut.

    Examples
    --------
    >>> ballot_text([2, 1, 2, 0], ["a", "b", "c", "d"])
    'b > {a, c}'
    """
    levels: dict[int, list[int]] = {}
    for rank, item in sorted((rank, item) for item, rank in enumerate(ranks) if rank):
        levels.setdefault(rank, []).append(item)
    return order_text(list(levels.values()), items, width)


def rule_name(rule: str) -> str:
    """Return the display name of a rule.

    Examples
    --------
    >>> rule_name("kemeny"), rule_name("bradley-terry"), rule_name("mean-score")
    ('Kemeny', 'Bradley-Terry', 'Mean score')
    """
    return _RULES.get(rule) or show(" ".join(rule.split("-")), 30).capitalize()


def chosen_text(rule: str) -> str:
    """Return which rule was chosen for votes, and why.

    Examples
    --------
    >>> chosen_text("bradley-terry"), chosen_text("kemeny")
    ('Bradley-Terry, because the votes are battles', 'Kemeny, because the votes are not battles')
    """
    return f"{rule_name(rule)}, because the votes are {'' if rule == _FOR_BATTLES else 'not '}battles"


def why_chosen(asked: str, rule: str) -> str:
    """Return why a rule was chosen where a reader would wonder: for battles, when none was asked for; else nothing.

    Examples
    --------
    >>> why_chosen("auto", "bradley-terry"), why_chosen("auto", "kemeny"), why_chosen("bradley-terry", "bradley-terry")
    ('because the votes are battles', '', '')
    """
    return "because the votes are battles" if asked == "auto" and rule == _FOR_BATTLES else ""


def statistic_name(rule: str, theta: float | None, merge: str | None) -> str:
    """Return the full name of a statistic: a rule, or the tiers of one; `theta` is None where it is chosen by itself.

    Examples
    --------
    >>> statistic_name("kemeny", None, None), statistic_name("borda", 0.05, "naive")
    ('kemeny', 'naive merge of borda at 0.05')
    >>> statistic_name("borda", None, "naive")
    'naive merge of borda at the auto threshold'
    """
    if merge is None:
        return rule
    return f"{merge} merge of {rule} at {'the auto threshold' if theta is None else f'{theta:g}'}"


def curve_name(rule: str, theta: float | None) -> str:
    """Return what a statistic is called next to its curve.

    Examples
    --------
    >>> curve_name("kemeny", 0.042), curve_name("kemeny", None)
    ('tiers at θ = 0.042', 'Kemeny')
    """
    return rule_name(rule) if theta is None else f"tiers at θ = {theta:.3g}"


def distance_name(distance: str) -> str:
    """Return the display name of a distance.

    Examples
    --------
    >>> distance_name("kendall"), distance_name("weighted_kendall"), distance_name("my_metric")
    ('Kendall', 'weighted Kendall', 'my metric')
    """
    return _DISTANCES.get(distance) or show(" ".join(distance.split("_")), 30)
