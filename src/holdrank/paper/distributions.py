"""What the figures are computed from: distributions over the 24 rankings of four items.

The rankings are numbered in lexicographic order, as the paper's code does; u(s) is uniform noise on them of seed s.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from holdrank.errors import UsageError, quote, whole_number
from holdrank.rankings import Floats
from holdrank.votes.votes import Votes

SEED = 2023
STEPS = 5_000  # of the estimator
ITEMS = "abcd"
FIRST, SECOND = np.eye(24)[0], np.eye(24)[1]  # e0, e1: point masses on the first two rankings
UNIT = "share of votes changed (total variation), half of the paper's L1 norm; null: no change of votes is enough"


def noise(seed: int) -> Floats:
    """Return u(seed): a random distribution over the 24 rankings of four items, as the paper's code draws it."""
    drawn = np.random.RandomState(seed).uniform(size=24)
    return np.asarray(drawn / drawn.sum())


def votes_of(p: Floats) -> Votes:
    """Return a distribution over the 24 rankings as votes."""
    return Votes.from_orders([list(order) for order in permutations(ITEMS)], weights=p, items=ITEMS)


def steps_of(steps: object) -> int:
    """Return a number of steps of the estimator; refuse what is none."""
    number = whole_number(steps)
    if number is None or number < 1:
        raise UsageError(f"steps must be a whole number from 1, not {quote(str(steps))}")
    return number
