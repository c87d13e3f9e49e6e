"""Pictures for papers and slides, by matplotlib: curves, trade-offs, pairwise matrices, tiers, places, attacks, ranks.

Every picture is made in two steps. A function ``..._data`` returns the data of the picture, as plain lists and dicts;
the function of the same name draws it on an `Axes`. The colours are those of Okabe and Ito, which people with any
colour vision can tell apart; marks are named where they stand, not in a legend. None stands for infinity, as in JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdrank.plots.attacks import attack, attack_data
from holdrank.plots.curves import (
    breakdown,
    breakdown_data,
    draw_curves,
    draw_tradeoff,
    pair_axis,
    share_axis,
    tradeoff,
    tradeoff_data,
    tradeoff_marks,
)
from holdrank.plots.ladders import draw_merges, ladder, ladder_data, merges, merges_data
from holdrank.plots.matrices import draw_pairs, heatmap, heatmap_data
from holdrank.plots.mean_ranks import critical_difference, critical_difference_data
from holdrank.plots.ranges import ranges, ranges_data
from holdrank.plots.style import (
    BLACK,
    BLUE,
    COLOURS,
    DARK,
    GREEN,
    GREY,
    ORANGE,
    PALE,
    PURPLE,
    SKY,
    VERMILLION,
    Data,
    beside,
    explain,
    explain_below,
    number,
    page,
    save,
    styled,
    wrap,
)

if TYPE_CHECKING:
    from holdrank.plots.style import Axes as Axes

__all__ = [
    "BLACK",
    "BLUE",
    "COLOURS",
    "DARK",
    "GREEN",
    "GREY",
    "ORANGE",
    "PALE",
    "PURPLE",
    "SKY",
    "VERMILLION",
    "Data",
    "attack",
    "attack_data",
    "beside",
    "breakdown",
    "breakdown_data",
    "critical_difference",
    "critical_difference_data",
    "draw_curves",
    "draw_merges",
    "draw_pairs",
    "draw_tradeoff",
    "explain",
    "explain_below",
    "heatmap",
    "heatmap_data",
    "ladder",
    "ladder_data",
    "merges",
    "merges_data",
    "number",
    "page",
    "pair_axis",
    "ranges",
    "ranges_data",
    "save",
    "share_axis",
    "styled",
    "tradeoff",
    "tradeoff_data",
    "tradeoff_marks",
    "wrap",
]
