"""Seven pictures of the record of an analysis, each as SVG for a page and as text, which is also its label.

Colours are class names; `static/page.css` gives them, for light and dark screens and for print.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from holdrank.analysis.records import Record
from holdrank.views.svg.curves import breakdown as breakdown
from holdrank.views.svg.curves import tradeoff as tradeoff
from holdrank.views.svg.ladders import ladder as ladder
from holdrank.views.svg.matrices import heatmap as heatmap
from holdrank.views.svg.mean_ranks import critical_difference as critical_difference
from holdrank.views.svg.places import attack as attack
from holdrank.views.svg.places import ranges as ranges
from holdrank.words.ladders import ladder_text as ladder_text
from holdrank.words.nouns import noun_of
from holdrank.words.pictures import attack_text as attack_text
from holdrank.words.pictures import breakdown_text as breakdown_text
from holdrank.words.pictures import critical_difference_text as critical_difference_text
from holdrank.words.pictures import heatmap_text as heatmap_text
from holdrank.words.pictures import ranges_text as ranges_text
from holdrank.words.tradeoffs import reported_text
from holdrank.words.tradeoffs import tradeoff_text as tradeoff_text


class Picture(NamedTuple):
    """One of the seven pictures: its name, heading and explanation, and the functions for SVG and text."""

    name: str
    heading: str
    explanation: str
    draw: Callable[[Record], str]
    tell: Callable[[Record], str]

    def explained(self, record: Record) -> str:
        """Return the explanation, with the noun for one vote and remarks on this record."""
        said = self.explanation.format(votes=f"{noun_of(record['votes'])}s")
        return f"{said} {reported_text(record)}".rstrip() if self.name == "tradeoff" else said


PICTURES = (
    Picture(
        "ladder",
        "Tier ladder",
        "Items in one block share a tier. The number at a gap says how many {votes} must change to move an item "
        "across it.",
        ladder,
        ladder_text,
    ),
    Picture(
        "critical_difference",
        "Critical-difference diagram",
        "Mean ranks over all tasks, best at the left. A bar joins items that are not separated: their mean ranks "
        "differ by less than the critical difference (Nemenyi's test).",
        critical_difference,
        critical_difference_text,
    ),
    Picture(
        "ranges",
        "Rank ranges",
        "How far chance alone, and an adversary who changes a few {votes}, can move each item.",
        ranges,
        ranges_text,
    ),
    Picture(
        "heatmap",
        "Pairwise matrix",
        "Each pair of items, in the order of the ranking. Boxes on the diagonal are tiers.",
        heatmap,
        heatmap_text,
    ),
    Picture(
        "breakdown",
        "Breakdown curve",
        "How many {votes} it takes to move the ranking by a given distance. A band shows where only bounds are known.",
        breakdown,
        breakdown_text,
    ),
    Picture(
        "tradeoff",
        "Trade-off",
        "Wider tiers fit the votes less well, and are often harder to break. Each point is a threshold θ, with a bar "
        "up to the upper bound where only bounds are known. The line is the most that is proven at each loss.",
        tradeoff,
        tradeoff_text,
    ),
    Picture(
        "attack",
        "Minimal attack",
        "The order before and after the attack on the first place.",
        attack,
        attack_text,
    ),
)
