"""The paper's two theorems for any two metrics: one defines the median, the other measures how far it moves."""

from __future__ import annotations

from math import inf

import numpy as np

from holdrank.arrays.tolerances import SAME
from holdrank.attacks.goals import distances_from
from holdrank.rankings import Floats, Ranking
from holdrank.rules.medians import Losses, Median
from holdrank.rules.metrics import Distances, Metric, by_moves, distances, ranking_indices
from holdrank.votes.votes import Votes

_ROWS = 256  # targets at a time


def general_lower(votes: Votes, median: Median, before: Ranking, metric: Metric, deltas: Floats) -> Floats:
    """Return eps- / 2 at each delta: the lower bound of Section 3.1, for the median under one metric moved in another.

    Notes
    -----
    With m the metric of the median, d the other one and L the mean distance m to the votes::

        2 lower = min over s with d(s, before) >= delta of max over v != s of
                  (L(s) - L(v)) / max over u of (m(u, s) - m(u, v))

    The paper calls the metric of the median d and the other one m. Infinite where no ranking is that far.
    """
    losses = Losses.of(votes, median)
    values, gains = losses.values / votes.total, largest_gains(median.metric, votes.n)
    best = np.zeros(len(values))
    for start in range(0, len(values), _ROWS):
        block = slice(start, min(start + _ROWS, len(values)))
        behind = values[block, None] - values
        gain = gains[block].astype(np.float64)
        best[block] = np.divide(behind, gain, out=np.full_like(behind, -inf), where=gain > 0).max(axis=1)
    far = distances_from(before, metric)
    # A distance of zero takes no votes, as the median itself is that far.
    found = [best[far >= delta - SAME].min(initial=inf) / 2 if delta > SAME else 0.0 for delta in deltas.tolist()]
    return np.asarray(np.maximum(np.array(found), 0.0))


def general_upper(votes: Votes, median: Median, before: Ranking, deltas: Floats) -> Floats | None:
    """Return eps+ / 2 at each delta, the upper bound of Section 3.1, where the median moves in its own metric.

    Its proof needs a ranking opposite to the median: one whose distance and that of the median add up to the same for
    every ranking. Kendall's metric has it, as the paper says, and Spearman's rho; None where there is none.
    """
    losses = Losses.of(votes, median)
    table = losses.table
    own = table.rows(int(ranking_indices(np.array([before.order]))[0]))
    if not _has_opposite(table, own):
        return None
    values = losses.values / votes.total
    # Mass moved to the opposite takes the same off all rankings at one distance: only the cheapest of each matters.
    steps = np.unique(own)
    least = np.array([values[own == step].min() for step in steps])
    found = []
    for delta in deltas.tolist():
        far = steps >= (delta - SAME) * table.unit
        if not far.any() or far.all():
            found.append(inf if not far.any() else 0.0)
            continue
        ratio = (least[far, None] - least[~far]) / (2 * (steps[far, None] - steps[~far]))
        found.append(float(ratio.max(axis=1).min()))
    return np.asarray(np.maximum(np.array(found), 0.0))


def _has_opposite(table: Distances, own: Floats) -> bool:
    """Whether some ranking is opposite to the one with these distances; only exact sums count."""
    if not table.whole:
        return False
    return any(bool((own + table.rows(int(at)) == table.largest).all()) for at in np.flatnonzero(own == table.largest))


def largest_gains(metric: Metric, n: int) -> Floats:
    """Return max over u of m(u, s) - m(u, v) for all s (rows) and v: the largest support of one ballot for v over s.

    By the triangle inequality that is the distance of s and v; for Spearman's rho it is computed.
    """
    table = distances(metric, n)
    if table.is_metric:
        return np.asarray(table.between)
    # It depends on s as seen from v only; v is the first ranking here.
    return np.asarray(by_moves(n, (table.between - table.between[0]).max(axis=1)))
