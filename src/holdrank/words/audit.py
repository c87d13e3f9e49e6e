"""Sentences of an audit: what each probe looks for, when it is raised, and what it found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from holdrank.words.chance import neighbours_text
from holdrank.words.names import in_text, listed, rule_name
from holdrank.words.numbers import number, percent, plural
from holdrank.words.prices import CANNOT_BREAK, price, to_decide

Facts = Mapping[str, Any]

_MOST_NAMED = 4

_TITLES = {
    "votes": "too few votes",
    "position": "effect of being shown first",
    "ties": "how ties count",
    "cycles": "cycles",
    "connection": "groups that few votes connect",
    "coverage": "uneven coverage",
    "people": "few people with many votes",
    "judge": "one person who decides a place",
    "category": "a category that reverses the order",
}

PROBES = len(_TITLES)

_REASONS = {
    "shares": "the weights are not whole numbers of votes, so chance cannot be measured",
    "one item": "there is only one item",
    "two items": "there are only two items",
    "no gap": "no comparison connects any two neighbours",
    "no battles": "the votes are not battles between two items",
    "not shown": "the votes do not say which item was shown first",
    "one order": "most pairs were only ever shown in one order, so position and item cannot be told apart",
    "tie adds to both": "this rule uses differences only, and a tie adds the same to both items",
    "no ties": "no battle ended in a tie",
    "all ties": "every battle ended in a tie",
    "none separated": "no pair is separated, so swaps are not meaningful",
    "no strengths": "no strengths can be fitted when ties count differently",
    "few triples": "too few triples of items met in all three pairs",
    "all pairs": "every ballot compares every pair of items",
    "few compared": "most items were never compared",
    "pair counts": "pair counts do not say who cast each vote",
    "no people": "the votes do not say who cast them; name the column with voter",
    "by alone": "rankings have only one such column; read them with voter and without by",
    "one vote each": "each of them cast a single vote",
    "one person": "a single one cast all votes",
    "no category": "the votes name no category; name the column with by",
    "few groups": "fewer than two groups have enough votes",
}


def title(probe: str) -> str:
    """Return what a probe looks for."""
    return _TITLES[probe]


def head_text(raised: Sequence[str], applied: int) -> str:
    """Return how many probes raise a warning, and which.

    Examples
    --------
    >>> head_text(["votes", "people"], 8)
    '2 of 8 probes raise a warning: too few votes; few people with many votes.'
    >>> head_text([], 8), head_text(["ties"], 1)
    ('None of 8 probes raises a warning.', '1 of 1 probe raises a warning: how ties count.')
    """
    if not applied:
        return "No probe applies to these votes."
    if not raised:
        return f"None of {plural(applied, 'probe')} raises a warning."
    verb = "raises" if len(raised) == 1 else "raise"
    titles = "; ".join(_TITLES[one] for one in raised)
    return f"{len(raised)} of {plural(applied, 'probe')} {verb} a warning: {titles}."


def about_text(rule: str, votes: str, items: int, level: float) -> str:
    """Return the subject of the audit.

    Examples
    --------
    >>> about_text("kemeny", "500 ballots", 12, 0.95)
    '500 ballots on 12 items, ranked by Kemeny. Intervals are at 95 %.'
    """
    votes_on = f"{votes} on {plural(items, 'item')}"
    return f"{votes_on}, ranked by {rule_name(rule.replace('_', '-'))}. Intervals are at {percent(level)}."


def finding_text(probe: str, state: str, facts: Facts) -> str:
    """Return what a probe found, in a sentence or two.

    Examples
    --------
    >>> finding_text("position", "does not apply", {"reason": "not shown"})
    'Does not apply: the votes do not say which item was shown first.'
    """
    if state == "does not apply":
        return f"Does not apply: {reason_text(facts)}"
    return _SENTENCES[probe](facts, state == "raised")


def reason_text(facts: Facts) -> str:
    """Return why a probe does not apply."""
    return f"{_REASONS[facts['reason']]}."


def statistic_text(probe: str, value: tuple[float, float | None, float | None], facts: Facts) -> str:
    """Return a statistic and its interval in a few words.

    Examples
    --------
    >>> statistic_text("votes", (0.5, 0.5, 1.0), {"gaps": 8, "separated": 4})
    '4 of 8 gaps separated'
    >>> statistic_text("position", (0.012, -0.01, 0.034), {}), statistic_text("connection", (12.0, 12.0, 12.0), {})
    ('+1.2 of 100 battles (-1 to 3.4)', '12 comparisons')
    >>> statistic_text("coverage", (0.5, 0.4, 0.6), {}), statistic_text("people", (1.2, 1.1, None), {})
    ('50 % of the median (40 % to 60 %)', 'errors 1.20 times as wide (1.10 and more)')
    """
    middle, low, high = value
    if probe == "votes":
        return f"{facts['separated']:,} of {plural(facts['gaps'], 'gap')} separated"
    if probe == "connection":
        return plural(middle, "comparison")
    if probe == "position":
        return f"{_signed(_hundred(middle))} of 100 battles{_ends(low, high, _hundred)}"
    if probe == "people":
        return f"errors {middle:.2f} times as wide{_ends(low, high, '{:.2f}'.format)}"
    if probe == "cycles" and "expected" not in facts:
        return f"{facts['cycles']:,} of {plural(facts['triples'], 'triple')}"
    if probe == "cycles":
        return f"{_signed(_hundred(middle))} of 100 triples{_ends(low, high, _hundred)}"
    if probe == "coverage":
        return f"{percent(middle)} of the median{_ends(low, high, percent)}"
    if probe == "judge" and not facts["cases"]:
        return "nobody"
    above, below = (in_text(name) for name in facts["pair"])
    if probe == "ties":
        return f"{above} over {below}: {percent(middle)}{_ends(low, high, percent)}"
    where = f"without {in_text(facts['person'])}" if probe == "judge" else f"in {_group(facts)}"
    return f"{above} over {below} {where}: {_lead_span(facts['scale'], middle, low, high)}"


def _signed(text: str) -> str:
    return text if text.startswith("-") or text == "0" else f"+{text}"


def _ends(low: float | None, high: float | None, form: Callable[[float], str]) -> str:
    if low is None:
        return ""
    return f" ({form(low)} and more)" if high is None else f" ({form(low)} to {form(high)})"


def _lead_span(scale: str, lead: float, low: float | None, high: float | None) -> str:
    """Return a lead of the upper item: as a chance to win, a share of the votes on the pair, or a difference."""

    def form(x: float) -> str:
        if scale == "strength":
            return percent(1 / (1 + math.exp(min(-x, 700.0))))
        return percent((1 + min(max(x, -1.0), 1.0)) / 2) if scale == "share" else f"{x:.3g}"

    return f"{form(lead)}{_ends(low, high, form)}"


def adversary_text(found: Facts) -> str:
    """Return the number of votes that an adversary needs.

    Examples
    --------
    >>> known = {"does": "put b above a", "does_alone": "puts b above a", "total": 500.0, "counts": True}
    >>> ends = {"lower": 0.07, "upper": 0.07, "needed": 36, "ties": 36, "decides": 37, "sufficient": 37}
    >>> adversary_text({**known, **ends})
    '37 votes (7.4 %) put b above a'
    """
    cost = price(found, found)
    if cost is None:
        return ""
    if cost.amount == CANNOT_BREAK:
        return f"no votes {found['does']}"
    if cost.amount.startswith("at least"):
        trivial = found["counts"] and to_decide(found) <= 1  # one vote is always needed
        return "" if trivial else f"{cost} are needed to {found['does']}"
    alone = bool(cost.unit) and cost.amount == "1"
    return f"{cost} {found['does_alone'] if alone else found['does']}"


def lead_text(scale: str, lead: float, pair: Sequence[str], noun: str = "vote") -> str:
    """Return who is ahead of whom, and by how much.

    Examples
    --------
    >>> lead_text("strength", 0.4, ("a", "b")), lead_text("share", -0.1, ("a", "b"))
    ('a beats b in 59.9 % of battles', '55 % of the votes on the two prefer b to a')
    >>> lead_text("places", 0.25, ("a", "b")), lead_text("score", -0.25, ("a", "b"))
    ('a is 0.25 places ahead of b', 'b is 0.25 points ahead of a')
    """
    upper, lower = (in_text(name) for name in (pair if lead >= 0 else tuple(reversed(pair))))
    lead = abs(lead)
    if scale == "strength":
        return f"{upper} beats {lower} in {percent(1 / (1 + math.exp(-min(lead, 700.0))))} of battles"
    if scale == "share":
        return f"{percent((1 + lead) / 2)} of the {noun}s on the two prefer {upper} to {lower}"
    return f"{upper} is {lead:.3g} {'places' if scale == 'places' else 'points'} ahead of {lower}"


def _many(count: int, of: str) -> str:
    """Return a number of people or groups, called as their column is.

    Examples
    --------
    >>> _many(3, "judge"), _many(3, "user id")
    ('3 judges', '3 by user id')
    """
    return plural(count, of) if of.isalpha() and of.isascii() and of.islower() else f"{count:,} by {in_text(of)}"


def _votes(facts: Facts, raised: bool) -> str:  # noqa: ARG001
    gaps, right, noun = facts["gaps"], facts["separated"], facts["noun"]
    above, below = (in_text(name) for name in facts["pair"])
    half, here, others = facts["needed_half"], facts["needed_here"], gaps - right
    there = f"there {'is' if facts['total'] == 1 else 'are'} {number(facts['total'])}"
    if gaps == 1:
        said = f"{above} and {below} are {'not ' * others}separated at {percent(facts['level'])}"
        needs = "no number of {}s like these is enough" if here is None else f"that takes about {_about(here)} {{}}s"
        return f"{said}: {needs.format(noun)}; {there}." if others else f"{said}."
    text = neighbours_text(right, gaps, facts["level"])
    if right == gaps:
        return f"{text} The median item may stand on {_span(facts['median_span'])}."
    if half is None and others > 1:
        text += f" {above} and {below} are level, and so are others: no number of {noun}s like these separates them."
    elif others > 1 and half is not None:
        them = f"the other {others:,}" if right else "them"
        text += f" Half of {them} need more than {_about(half)} {noun}s in all; {there}."
        text += f" The closest is {above} above {below}."
    else:
        needs = "no number of {}s like these separates it" if here is None else f"it needs about {_about(here)} {{}}s"
        text += f" The closest is {above} above {below}: {needs.format(noun)}; {there}."
    item, span = facts["widest"]
    most = f", {in_text(item)} on {_span(span)}" if span > facts["median_span"] else ""
    return f"{text} The median item may stand on {_span(facts['median_span'])}{most}."


def _about(votes: float) -> str:
    return number(float(f"{votes:.3g}"))


def _span(places: float) -> str:
    return "one place" if places == 1 else f"{places:.0f} places"


def _position(facts: Facts, raised: bool) -> str:
    low, high = facts["lower"], facts["upper"]
    text = f"Shown first, an item wins {_more(facts['effect'])} of 100 battles ({_more(low)} to {_more(high)})"
    if not raised:
        return f"{text}."
    if not facts["flips"]:
        return f"{text}. The order stays when this is removed."
    above, below = facts["flips"][0]
    more = len(facts["flips"])
    return (
        f"{text}. {plural(more, 'pair')} {'swaps' if more == 1 else 'swap'} when this is removed: "
        f"{in_text(below)} above {in_text(above)}{' and others' if more > 1 else ''}."
    )


def _more(share: float) -> str:
    return f"{_hundred(abs(share))} {'fewer' if share < 0 else 'more'}"


def _hundred(share: float) -> str:
    return f"{float(f'{100 * share:.2g}'):g}"


_TREATMENTS = {
    "dropped": "ties are dropped",
    "davidson": "Davidson models ties",
    "rao-kupper": "Rao and Kupper model ties",
}


def _ties(facts: Facts, raised: bool) -> str:
    above, below = (in_text(name) for name in facts["pair"])
    text = f"{percent(facts['ties'] / facts['total'])} of the battles are ties"
    how = _TREATMENTS[facts["how"]]
    ends = f"{percent(facts['other'])}, {percent(facts['lower'])} to {percent(facts['upper'])}"
    if not raised:
        return (
            f"{text}. All {plural(facts['separated'], 'separated pair')} keep their order no matter how ties count; "
            f"the closest is {above} above {below} when {how} ({ends})."
        )
    turned = max(facts["turned"].values())
    return (
        f"{text}. {turned:,} of {plural(facts['separated'], 'separated pair')} "
        f"{'reverses' if turned == 1 else 'reverse'} when ties count differently: {above} beats {below} in "
        f"{percent(facts['split'])} of battles when a tie is half a win, but in {ends} when {how}."
    )


def _cycles(facts: Facts, raised: bool) -> str:
    seen, triples = facts["cycles"], facts["triples"]
    text = f"{seen:,} of {plural(triples, 'triple')} {'is' if seen == 1 else 'are'} cyclic"
    text += f" among the {facts['among']:,} items that are compared most" if facts["among"] else ""
    if "expected" in facts:
        text += f"; the model expects {_few(facts['expected'])}, and at most {_few(facts['most'])}"
    if facts["sure"]:
        text += f"; all three majorities are significant in {facts['sure']:,} of them"
    if not raised or not facts["example"]:
        return f"{text}."
    a, b, c = (in_text(name) for name in facts["example"])
    return f"{text}. One of them: {a} beats {b}, {b} beats {c}, {c} beats {a}."


def _few(count: float) -> str:
    return number(round(count)) if count >= 100 else f"{count:.3g}"


def _connection(facts: Facts, raised: bool) -> str:
    side = listed([in_text(name) for name in facts["side"]], _MOST_NAMED)
    if facts["groups"] > 1:
        return (
            f"The items fall into {facts['groups']:,} groups that no comparison connects: {side}, and "
            f"{plural(facts['rest'], 'other')}. The order between the groups is arbitrary."
        )
    text = f"At least {plural(facts['links'], 'comparison')} connect any two parts of the items"
    if not raised:
        return f"{text}."
    return (
        f"Only {plural(facts['links'], 'comparison')} connect {side} with the {plural(facts['rest'], 'other item')}. "
        f"The order across this line depends on {'it' if facts['links'] == 1 else 'them'} alone."
    )


def _coverage(facts: Facts, raised: bool) -> str:
    text = (
        f"{in_text(facts['item'])} is compared least: {plural(facts['least'], 'time')}, {percent(facts['share'])} of "
        f"the median of {number(round(facts['median']))}"
    )
    met = f"{facts['compared']:,} of {plural(facts['pairs'], 'pair')} were compared at all"
    if not raised:
        return f"{text}. {met}."
    return f"{plural(facts['rare'], 'item')} {'has' if facts['rare'] == 1 else 'have'} few comparisons. {text}. {met}."


def _people(facts: Facts, raised: bool) -> str:
    half, noun = facts["half"], facts["noun"]
    text = (
        f"{half:,} of {_many(facts['people'], facts['of'])} {'casts' if half == 1 else 'cast'} half of the {noun}s; "
        f"the busiest, {in_text(facts['busiest'])}, {percent(facts['busiest_share'])}. "
    )
    wider = facts["wider"]
    text += f"Drawing them instead of single {noun}s makes errors {wider:.2f} times as wide"
    if not raised:
        return f"{text}."
    many = facts["separated_by_people"]
    return (
        f"{text}: {many:,} of {plural(facts['gaps'], 'neighbouring pair')} {'is' if many == 1 else 'are'} then "
        f"separated, not {facts['separated']:,}."
    )


def _judge(facts: Facts, raised: bool) -> str:
    noun = facts["noun"]
    if not raised:
        who = _many(facts["people"], facts["of"])
        return f"None of {who} decides a place with {noun}s that differ from those of the others."
    pair, scale = facts["pair"], facts["scale"]
    text = (
        f"Without {in_text(facts['person'])} ({plural(facts['votes'], noun)}, {percent(facts['share'])} of all), "
        f"{lead_text(scale, facts['without'], pair, noun)}; with them, {lead_text(scale, facts['with'], pair, noun)}."
    )
    return text + (f" {facts['cases']:,} such cases in all." if facts["cases"] > 1 else "")


def _group(facts: Facts) -> str:
    return f"{in_text(facts['of'])} {in_text(facts['group'])}"


def _category(facts: Facts, raised: bool) -> str:
    pair, scale, noun = facts["pair"], facts["scale"], facts["noun"]
    if not raised:
        return f"None of {_many(facts['groups'], facts['of'])} reverses a pair by more than chance."
    text = (
        f"In {_group(facts)} ({plural(facts['votes'], noun)}), {lead_text(scale, facts['here'], pair, noun)}; "
        f"in all {noun}s, {lead_text(scale, facts['all'], pair, noun)}."
    )
    more = facts["turned"]
    return text + (f" {more:,} pairs are reversed in all." if more > 1 else "")


_SENTENCES: dict[str, Callable[[Facts, bool], str]] = {
    "votes": _votes,
    "position": _position,
    "ties": _ties,
    "cycles": _cycles,
    "connection": _connection,
    "coverage": _coverage,
    "people": _people,
    "judge": _judge,
    "category": _category,
}


class _Finding(Protocol):
    """The texts of a finding."""

    @property
    def raised(self) -> bool: ...
    @property
    def applies(self) -> bool: ...
    @property
    def title(self) -> str: ...
    @property
    def bar_text(self) -> str: ...
    @property
    def statistic_text(self) -> str: ...
    @property
    def adversary_text(self) -> str: ...
    def text(self) -> str: ...


def audit_lines(headline: str, findings: Sequence[_Finding]) -> Iterator[str]:
    """Yield the lines of an audit: the headline, what is raised, what is clear, what does not apply."""
    yield headline
    for state, name in (("raised", "RAISED"), ("clear", "clear"), ("", "does not apply")):
        for one in findings:
            if (one.raised, one.applies) != (state == "raised", bool(state)):
                continue
            if not state:
                yield f"\n{one.title}: {one.text()[0].lower()}{one.text()[1:]}"
                continue
            yield f"\n{name}: {one.title}"
            yield f"  {one.text()}"
            yield f"  Statistic: {one.statistic_text}; {one.bar_text}."
            if one.adversary_text:
                yield f"  Adversary: {one.adversary_text}."
