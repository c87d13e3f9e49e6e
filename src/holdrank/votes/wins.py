"""The matrix W of pairwise wins, W[i, j] = votes that place i above j: its shares, and the costs of rankings."""

from __future__ import annotations

import numpy as np

from holdrank.rankings import Floats, Ranking


def pair_shares(wins: Floats) -> Floats:
    """Return P of a matrix W: the share of the comparisons of each pair that the first item wins, 1/2 without any."""
    compared = wins + wins.T
    return np.divide(wins, compared, out=np.full_like(wins, 0.5), where=compared > 0)


def kendall_cost(wins: Floats, ranking: Ranking) -> float:
    """Return the weight of all comparisons that contradict a ranking; a tie contradicts half of them."""
    above = ranking.ranks[:, None] < ranking.ranks
    tied = ranking.ranks[:, None] == ranking.ranks
    return float((wins.T * above).sum() + (wins * tied).sum() / 2)


def least_cost(wins: Floats) -> float:
    """Return a lower bound on `kendall_cost`: each pair ordered by its majority."""
    return float(np.minimum(wins, wins.T).sum() / 2)
