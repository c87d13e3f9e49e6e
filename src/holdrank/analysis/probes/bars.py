"""The bars of an audit: a probe is raised beyond its bar. Sentences about bars take their numbers from here."""

from __future__ import annotations

BARS: dict[str, float] = {
    "separated": 0.75,  # share of the gaps that must be separated
    "position": 0.02,  # how much more an item may win when shown first than second, as a share of its battles
    "cycles": 0.01,  # share of the triples that may be cyclic beyond what the model expects
    "links": 30,  # comparisons that must connect any two parts of the items
    "coverage": 0.25,  # comparisons that an item must have, as a share of the median
    "wider": 1.15,  # how many times as wide errors may be when people are drawn instead of votes
    "few": 0.05,  # share of the people who may not cast half of the votes
}
