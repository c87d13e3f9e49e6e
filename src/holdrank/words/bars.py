"""When a probe of an audit is raised, as text; the numbers come from `analysis.probes.bars`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from holdrank.words.numbers import number, percent

Bars = Mapping[str, float]

_BARS: dict[str, Callable[[Bars], str]] = {
    "votes": lambda bars: (
        f"fewer than {percent(bars['separated'])} of the neighbouring pairs are separated, all tested together"
    ),
    "position": lambda bars: (
        f"the position is worth more than {number(round(100 * bars['position'], 9))} of 100 battles, interval included"
    ),
    "ties": lambda _: "a pair that is separated, all pairs tested together, swaps under another treatment of ties",
    "cycles": lambda bars: (
        f"cycles exceed what the model expects by more than {percent(bars['cycles'])} of all triples, interval "
        "included, or when all three majorities of a cycle are significant"
    ),
    "connection": lambda bars: f"fewer than {number(bars['links'])} comparisons connect two groups of items",
    "coverage": lambda bars: (
        f"an item has less than {percent(bars['coverage'])} of the median number of comparisons, interval included"
    ),
    "people": lambda bars: (
        f"drawing people instead of votes widens the errors by more than {percent(round(bars['wider'] - 1, 9))}, "
        f"interval included, or when {percent(bars['few'])} of the people cast half of the votes"
    ),
    "judge": lambda _: (
        "two neighbours swap without one person, whose votes on them differ from all votes by more than chance, all "
        "people and gaps tested together"
    ),
    "category": lambda _: (
        "one group of votes reverses a pair by more than chance, all pairs and groups tested together"
    ),
}


def bar_text(probe: str, bars: Bars) -> str:
    """Return when a probe is raised.

    Parameters
    ----------
    probe : str
    bars : mapping
        The numbers, by name: `analysis.probes.bars`.

    Examples
    --------
    >>> bar_text("connection", {"links": 30})
    'raised when fewer than 30 comparisons connect two groups of items'
    """
    return "raised when " + _BARS[probe](bars)
