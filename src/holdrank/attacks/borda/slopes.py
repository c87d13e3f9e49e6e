"""How the minimum share for one item to pass another depends on the votes: the dual of a fractional knapsack.

With the lead of j over i on each ballot and the most that a new ballot gives i over j (`gain`), the minimum share under
shares p of the ballots is, by duality and with y one over what the last ballot that is changed gains,

    replace   y * sum p lead - sum p max(0, y * (lead + gain) - 1)
    drop      y * sum p lead - sum p max(0, y * lead - 1)
    add       sum p lead / gain

While y does not change, this is linear in p.
"""

from __future__ import annotations

import numpy as np

from holdrank.attacks.borda.points import Points
from holdrank.attacks.goals import Aim
from holdrank.rankings import Floats, Ranking
from holdrank.rules.solvers.highs import UNIT
from holdrank.status import Clock
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes


def slopes(
    votes: Votes,
    before: Ranking,
    aim: Aim,
    change: Change,
    after: Ranking,  # noqa: ARG001
    clock: Clock,  # noqa: ARG001
) -> tuple[Floats, float] | None:
    """Return what the share of each ballot adds to the minimum share for an aim, and a constant, which is 0.

    None for aims that need more than one item to pass another.
    """
    points = Points(votes, before, change)
    place = np.argsort(points.order)
    own = aim.renumbered(place)
    inside = [j for j in range(points.n) if j not in own.newcomers]
    if own.above:
        pairs = [(own.above[0], own.above[1])]
    elif own.newcomers and len(inside) == own.top:
        pairs = [(i, j) for i in own.newcomers for j in inside]
    elif own.flips == 1:
        pairs = [(i, j) for i in range(points.n) for j in range(i)]
    else:
        return None
    i, j = min(pairs, key=lambda pair: (points.to_pass(*pair), pair))
    lead: Floats = (points.doubled[:, j] - points.doubled[:, i]) / 2
    gain = float(points.most[1])
    if not change.takes:
        return lead / gain, 0.0
    gains = lead + gain * change.puts
    first = np.argsort(-gains, kind="stable")
    taken = np.cumsum(points.weights[first])
    last = min(int(np.searchsorted(taken, points.to_pass(i, j) - 1e-9 * UNIT)), len(first) - 1)
    y = 1 / max(float(gains[first[last]]), 1e-300)
    return y * lead - np.maximum(y * gains - 1, 0.0), 0.0
