"""The tier ladder, for every face: who stands in which tier, on which places, and what breaks the gap below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from holdrank.errors import show
from holdrank.words.names import in_text
from holdrank.words.numbers import plural, span
from holdrank.words.prices import CANNOT_BREAK, Price, price, price_text, share_price


class Rung(NamedTuple):
    """One tier: its items, its first and last place, and what breaks the gap below; None where that is not known."""

    items: list[int]
    first: int
    last: int
    gap: Price | None

    @property
    def places(self) -> str:
        """The places as text."""
        return span(self.first, self.last)


def rungs(ranks: Sequence[int], order: Sequence[int], prices: Sequence[Price | None] = ()) -> list[Rung]:
    """Return the tiers from top to bottom; items of one tier stand in a given order.

    `prices` says what breaks the gaps from the top, as far as that is known.

    Examples
    --------
    >>> for rung in rungs([2, 1, 2], [1, 2, 0], [Price("11", "votes", "11 %")]):
    ...     print(rung.items, rung.places, rung.gap)
    [1] 1 11 votes (11 %)
    [2, 0] 2–3 None
    """
    tiers = buckets(ranks, order)
    known = list(prices[: len(tiers) - 1])
    known += [None] * (len(tiers) - len(known))
    ends = accumulate(map(len, tiers))
    return [Rung(tier, end - len(tier) + 1, end, gap) for tier, end, gap in zip(tiers, ends, known, strict=True)]


def ladder_of(record: Mapping[str, Any]) -> list[Rung]:
    """Return the tiers that the record of an analysis reports."""
    ranks = (record["tiers"] or record["consensus"])["ranks"]
    return rungs(ranks, record["consensus"]["order"], [price(gap, record["votes"]) for gap in record["gaps"]])


def tiers_of(record: Mapping[str, Any]) -> list[list[int]]:
    """Return the items of each tier that is reported, best first; in a tier they stand as in the consensus."""
    return buckets((record["tiers"] or record["consensus"])["ranks"], record["consensus"]["order"])


def buckets(ranks: Sequence[int], order: Sequence[int]) -> list[list[int]]:
    """Return the items of each rank, best first, those of one rank in a given order.

    Examples
    --------
    >>> buckets([2, 1, 2], [1, 2, 0])
    [[1], [2, 0]]
    """
    found: dict[int, list[int]] = {rank: [] for rank in sorted(set(ranks))}
    for item in order:
        found[ranks[item]].append(item)
    return list(found.values())


def spans(tiers: Sequence[Sequence[int]]) -> list[str]:
    """Return the places of each tier.

    Examples
    --------
    >>> spans([[2], [0, 3, 1]])
    ['1', '2–4']
    """
    ends = accumulate(map(len, tiers))
    return [span(end - len(tier) + 1, end) for tier, end in zip(tiers, ends, strict=True)]


def ladder_text(record: Mapping[str, Any]) -> str:
    """Return the tiers in words, a line each.

    Examples
    --------
    >>> gap = {"lower": 0.1, "upper": 0.1, "needed": 11, "ties": 11, "decides": 11, "sufficient": 11, "known": True}
    >>> record = {"items": ["a", "b", "c"], "consensus": {"order": [1, 0, 2]}, "tiers": {"ranks": [1, 1, 2]},
    ...           "gaps": [gap], "votes": {"counts": True, "total": 100}}
    >>> print(ladder_text(record))
    2 tiers.
    Places 1–2: b, a.
    Gap below: 11 votes (11 %).
    Place 3: c.
    """
    ladder = ladder_of(record)
    strict = all(len(rung.items) == 1 for rung in ladder)
    lines = [f"{plural(len(ladder), 'place')} without ties." if strict else f"{plural(len(ladder), 'tier')}."]
    for rung in ladder:
        names = ", ".join(in_text(record["items"][item]) for item in rung.items)
        lines.append(f"Place{'s' * (len(rung.items) > 1)} {rung.places}: {names}.")
        if rung.gap is not None:
            lines.append(f"Gap below: {rung.gap}.")
    return "\n".join(lines)


def slider_data(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the threshold slider of a page needs: facts to draw ladders from, and all that it says in words."""
    return {**{name: record[name] for name in ("items", "consensus", "tiers", "path")}, **slider_words(record)}


def slider_words(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the slider says: ``prices`` of the gaps as reported, and how each threshold is ``weighed``.

    What was proved about the tiers ``as_reported`` is closer than what a sweep over all thresholds finds about theirs.
    """
    prices = [rung.gap for rung in ladder_of(record)[:-1]]
    said = [None if gap is None else {"votes": gap.votes, "share": gap.share} for gap in prices]
    return {"prices": said, "weighed": _weighed(record), "as_reported": _as_reported(record)}


def _weighed(record: Mapping[str, Any]) -> list[str]:
    """Return the loss and the robustness of each threshold of the path; nothing where they were not computed."""
    found, path = record["tradeoff"], record["path"]
    if found is None or path is None or len(found["theta"]) != len(path["theta"]):
        return []
    what = "first change" if found["goal"] is None else _goal(found["goal"])
    texts = []
    for loss, low, high in zip(found["loss"], found["lower"], found["upper"], strict=True):
        known = CANNOT_BREAK if low is None else f"{what}: {share_price(low, high)}" if low or high is not None else ""
        texts.append(f"loss {loss:.4g}" + f"; {known}" * bool(known))
    return texts


def _as_reported(record: Mapping[str, Any]) -> str:
    """Return the loss of the tiers as reported, and what the attack on them takes; nothing where that is not known."""
    tiers, found = record["tiers"], record.get("attack")
    if tiers is None or found is None or price(found, record["votes"]) is None:
        return ""
    return f"loss {tiers['loss']:.4g}; {_goal(found['goal'])}: {price_text(found, record['votes'])}"


def _goal(noun: str) -> str:
    """Return the goal of an attack on tiers: a winner is one of those who share first place."""
    return "another item shares or takes first place" if noun == "another winner" else show(noun, 100)
