"""Sentences about chance: which items the votes separate, and where places lie for all items at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from holdrank.errors import show
from holdrank.words.names import in_text, listed
from holdrank.words.nouns import noun_of
from holdrank.words.numbers import number, percent, percent_in_brief, plural

_SMALLEST = 1e-4  # p-value that is printed
_NAMED = 4  # items of a shared first place that are named
_NAMED_TIED = 2  # others who could be first, by name

NO_TABLE = "paired tests compare scores task by task, and these votes hold no scores"
NO_TABLE_FIX = (
    "give a table of scores: a row for each item and a column for each task, or the columns item, task, score; for "
    "battles and ballots, holdrank rank --draws 1000, or rank_sets in Python, says which items are separated"
)
NO_VALUE = "votes do not determine how strong {} is; it is separated from no item"
NO_VALUES = "votes do not determine how strong {} items are; they are separated from no item"


def sets_heading(level: float, units: float, by: str | None) -> str:
    """Return what the lines below are: places that hold for all items at once, and for each alone.

    Examples
    --------
    >>> sets_heading(0.95, 200, None), sets_heading(0.95, 1, "judge")
    ('places by chance at 95 %, for all items at once (for each item alone), from 200 votes', \
'places by chance at 95 %, for all items at once (for each item alone), from 1 group by judge')
    """
    source = plural(units, "vote") if by is None else f"{plural(units, 'group')} by {in_text(by)}"
    return f"places by chance at {percent(level)}, for all items at once (for each item alone), from {source}"


def sets_line(name: str, place: float, together: str, alone: str) -> str:
    """Return the place of an item, where it lies by chance with all others, and alone.

    Examples
    --------
    >>> sets_line("a", 1.0, "1–3", "1–2")
    'a: 1, 1–3 (1–2)'
    """
    return f"{show(name)}: {place:g}, {together} ({alone})"


def neighbours_text(separated: int, pairs: int, level: float) -> str:
    """Return how many neighbours in the ranking are statistically separated.

    Examples
    --------
    >>> neighbours_text(1, 54, 0.95), neighbours_text(2, 2, 0.9), neighbours_text(0, 1, 0.95)
    ('1 of 54 neighbouring pairs is separated at 95 %.', '2 of 2 neighbouring pairs are separated at 90 %.', \
'The one neighbouring pair is not separated at 95 %.')
    """
    if pairs == 1:
        return f"The one neighbouring pair is {'' if separated else 'not '}separated at {percent(level)}."
    many, verb = (number(separated), "are") if separated > 1 else ("1" if separated else "None", "is")
    return f"{many} of {pairs:,} neighbouring pairs {verb} separated at {percent(level)}."


def unknown_note(names: Sequence[str]) -> str:
    """Return which items have no score that could be compared."""
    return NO_VALUE.format(show(names[0], 60)) if len(names) == 1 else NO_VALUES.format(number(len(names)))


def tied_text(names: Sequence[str], items: int, level: float) -> str:
    """Return who could come first by chance: one item alone, or several.

    Examples
    --------
    >>> tied_text(["a"], 9, 0.95), tied_text(["a", "b"], 9, 0.95)
    ('a is first beyond chance (95 %)', 'By chance, a or b could be first (95 %)')
    >>> tied_text(list("abcdef"), 9, 0.95), tied_text(["a", "b"], 2, 0.9), tied_text(list("abc"), 3, 0.95)
    ('By chance, any of 6 items could be first (95 %)', 'Neither item can be ruled out as first (90 %)', \
'No item can be ruled out as first (95 %)')
    """
    at = f"({percent(level)})"
    if len(names) == 1:
        return f"{show(names[0], 60)} is first beyond chance {at}"
    if len(names) == items:
        return f"{'Neither' if items == 2 else 'No'} item can be ruled out as first {at}"
    if len(names) > _NAMED:
        who = f"any of {len(names):,} items"
    else:
        *first, last = (show(name, 60) for name in names)
        who = f"{', '.join(first)} or {last}"
    return f"By chance, {who} could be first {at}"


def tied_first_text(top: Sequence[str], others: Sequence[str], items: int, level: float, cast: str) -> str:
    """Return who is tied for first, in both senses: who shares the first tier, and who else could be first by chance.

    `cast` names all votes, for the case that they rule out no item.

    Examples
    --------
    >>> tied_first_text(["a"], list("bcdef"), 9, 0.95, "5 tasks")
    'Tied with a: no item in its tier; by chance, 5 other items could be first too (95 %).'
    >>> tied_first_text(["a", "b"], ["c"], 9, 0.95, "5 tasks"), tied_first_text(["a"], [], 9, 0.95, "5 tasks")
    ('Tied for first: a and b, in one tier; by chance, c could be first too (95 %).', \
'Tied with a: no item, neither in its tier nor by chance (95 %).')
    >>> tied_first_text(["a"], ["b", "c"], 3, 0.95, "5 tasks")
    'Tied with a: no item in its tier; with 5 tasks, a test of all items at once rules out no other (95 %).'
    """
    at = f"({percent(level)})"
    if not others and len(top) == 1:
        return f"Tied with {top[0]}: no item, neither in its tier nor by chance {at}."
    who = f"{top[0]}: no item in its tier" if len(top) == 1 else f"{_several(top)}, in one tier"
    tied = f"Tied {'with' if len(top) == 1 else 'for first:'} {who}"
    if len(others) > 1 and len(others) + len(top) == items:
        return f"{tied}; with {cast}, a test of all items at once rules out no other {at}."
    if len(others) > _NAMED_TIED:
        more = f"{len(others):,} other items could be first too"
    else:
        more = f"{' or '.join(others)} could be first too" if others else "no other item could be first"
    return f"{tied}; by chance, {more} {at}."


def _several(names: Sequence[str]) -> str:
    return listed(names, _NAMED) if len(names) <= _NAMED else plural(len(names), "item")


def beyond_text(level: float, *, apart: bool) -> str:
    """Return whether a claim is beyond chance.

    Examples
    --------
    >>> beyond_text(0.95, apart=True), beyond_text(0.95, apart=False)
    ('Beyond chance (95 %).', 'Not beyond chance (95 %).')
    """
    return f"{'Beyond' if apart else 'Not beyond'} chance ({percent(level)})."


def both_text(tied: str, attack: dict[str, Any] | None, votes: dict[str, Any]) -> str:
    """Return the effect of chance and the adversary's number, in one sentence.

    Parameters
    ----------
    tied : str
        By `tied_text`.
    attack, votes : dict
        Of the record of an analysis: the attack on the first place.

    Examples
    --------
    >>> amounts = {"lower": 0.03, "upper": 0.04, "decides": 4, "sufficient": 4}
    >>> both_text("By chance, a or b could be first (95 %)", amounts, {"counts": True, "total": 100})
    'By chance, a or b could be first (95 %); an adversary who chooses the votes needs 4 (proven minimum).'
    >>> both_text("a is first beyond chance (95 %)", {**amounts, "sufficient": 6}, {"counts": True, "total": 100})
    'a is first beyond chance (95 %); an adversary who chooses the votes needs 4 to 6.'
    >>> both_text("a is first", {**amounts, "decides": 1, "sufficient": None}, {"counts": True, "total": 100})
    'a is first; no attack was found, and none is ruled out.'
    """
    return f"{tied}; {_needs(attack, votes)}." if attack is not None else f"{tied}."


def _needs(attack: dict[str, Any], votes: dict[str, Any]) -> str:
    if attack["lower"] is None:
        return "no adversary can change that"
    names = ("decides", "sufficient") if votes["counts"] else ("lower", "upper")
    least, most = attack[names[0]], attack[names[1]]
    amount = number if votes["counts"] else percent
    who = f"an adversary who chooses the {noun_of(votes)}s needs"
    trivial = not least or (votes["counts"] and least <= 1)  # one vote is always needed
    if most is None:
        return "no attack was found, and none is ruled out" if trivial else f"{who} at least {amount(least)}"
    if least == most:
        return f"{who} {amount(most)} (proven minimum)"
    if trivial:
        return f"{who} at most {amount(most)}"
    return f"{who} {amount(least)} to {amount(most)}"


def friedman_text(tasks: int, statistic: float, p: float) -> str:
    """Return whether any item differs, by Friedman's test.

    Examples
    --------
    >>> friedman_text(5, 8.4, 0.015)
    'Friedman test over 5 tasks: statistic 8.4, p = 0.015.'
    >>> friedman_text(0, 0.0, 1.0)
    'Friedman test: no task scores all items.'
    """
    if not tasks:
        return "Friedman test: no task scores all items."
    chance = f"p {'' if p < _SMALLEST else '= '}{probability(p)}"
    return f"Friedman test over {plural(tasks, 'task')}: statistic {statistic:.4g}, {chance}."


def critical_text(difference: float, level: float) -> str:
    """Return by how much mean ranks must differ, by Nemenyi.

    Examples
    --------
    >>> critical_text(1.4823, 0.95)
    'Mean ranks that differ by less than 1.48 are not separated at 95 % (Nemenyi).'
    >>> critical_text(math.inf, 0.95)
    'Mean ranks are not known.'
    """
    if math.isinf(difference):
        return "Mean ranks are not known."
    return f"Mean ranks that differ by less than {difference:.3g} are not separated at {percent(level)} (Nemenyi)."


def group_text(names: Sequence[str]) -> str:
    """Return the items of a group that is not separated.

    Examples
    --------
    >>> group_text(["a", "b"])
    'Not separated: a, b.'
    """
    return f"Not separated: {', '.join(show(name, 60) for name in names)}."


def paired_text(test: str, separated: int, pairs: int, level: float) -> str:
    """Return how many pairs the paired tests separate.

    Examples
    --------
    >>> paired_text("mcnemar", 2, 10, 0.95)
    'Exact McNemar tests, corrected by Holm, separate 2 of 10 pairs at 95 %.'
    """
    name = "Exact McNemar tests" if test == "mcnemar" else "Wilcoxon signed-rank tests"
    return f"{name}, corrected by Holm, separate {separated:,} of {plural(pairs, 'pair')} at {percent(level)}."


def probability(p: float) -> str:
    """Return a p-value as text.

    Examples
    --------
    >>> probability(0.0153), probability(1e-9)
    ('0.0153', 'under 0.0001')
    """
    return f"under {_SMALLEST:.4f}" if p < _SMALLEST else f"{p:.3g}"


def interval_sentence(lower: float, upper: float, level: float, reached: float = 0.0) -> str:
    """Return between which shares of votes the breakdown of the population lies.

    `reached` is the share of bootstrap samples that need no change.

    Examples
    --------
    >>> interval_sentence(0.0102, 0.0934, 0.95)
    'Among all voters whom these represent, it takes 1 % to 9.3 % of the votes (95 % confidence).'
    >>> interval_sentence(0.0, 0.09, 0.9, 0.2)
    'Among all voters whom these represent, it takes at most 9 % of the votes (90 % confidence); \
20 % of bootstrap samples need no change.'
    >>> interval_sentence(0.01, math.inf, 0.95)
    'Among all voters whom these represent, it takes at least 1 % of the votes (95 % confidence).'
    >>> interval_sentence(0.0, math.inf, 0.95), interval_sentence(math.inf, math.inf, 0.95)
    ('Among all voters whom these represent, it may take any share of the votes (95 % confidence).', \
'Among all voters whom these represent, no share of the votes is enough (95 % confidence).')
    """
    least, most = percent_in_brief(lower), percent_in_brief(upper)
    if math.isinf(lower):
        said = "no share of the votes is enough"
    elif math.isinf(upper):
        said = f"it takes at least {least} of the votes" if lower else "it may take any share of the votes"
    else:
        said = f"it takes {f'{least} to' if lower else 'at most'} {most} of the votes"
    free = f"; {percent_in_brief(reached)} of bootstrap samples need no change" if reached and not lower else ""
    return f"Among all voters whom these represent, {said} ({percent(level)} confidence){free}."


def few_samples_text(draws: int) -> str:
    """Return the sentence that too few samples were attacked for an interval.

    Examples
    --------
    >>> few_samples_text(3)
    'No interval: 3 bootstrap samples attacked within the time limit; 200 are needed.'
    """
    return f"No interval: {plural(draws, 'bootstrap sample')} attacked within the time limit; 200 are needed."
