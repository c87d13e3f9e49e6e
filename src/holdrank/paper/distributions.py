"""What the figures are computed from: distributions over the 24 rankings of four items.

The rankings are numbered in lexicographic order, as the paper's code does; u(s) is uniform noise on them of seed s.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from holdrank.errors import UsageError, quote, whole_number
from holdrank.rankings import Floats, Ranking
from holdrank.votes.models import BucketMass, Mixture, PlackettLuce, Uniform, exact_votes
from holdrank.votes.votes import Votes

SEED = 2023
STEPS = 5_000  # of the estimator
ITEMS = "abcd"
FIRST, SECOND = np.eye(24)[0], np.eye(24)[1]  # e0, e1: point masses on the first two rankings
UNIT = "share of votes changed (total variation), half of the paper's L1 norm; null: no change of votes is enough"

CLOSE = Ranking([1, 2, 3, 3])  # a bucket order: the last two items are level

# Weights of the Plackett-Luce models in the notebook that the authors published for Figure 5. It draws them with a
# generator that numpy does not have; the point mass and the uniform distribution there are such models as well.
_PUBLISHED = {
    "Plackett-Luce, seed 18": (1.1173979, 1.0336659, 0.6316072, 0.3937561),
    "Plackett-Luce, seed 283": (1.7226691, 0.6500638, 0.09824223, 0.09391503),
    "Plackett-Luce, seed 1903": (2.7095466, 1.1030647, 0.98387283, 0.3974442),
    "uniform": (0.99852407, 0.9910795, 0.9796387, 0.97639084),
    "point mass": (0.22831823, 0.00012837668, 1.1639423e-09, 4.204339e-11),
}


def noise(seed: int) -> Floats:
    """Return u(seed): a random distribution over the 24 rankings of four items, as the paper's code draws it."""
    drawn = np.random.RandomState(seed).uniform(size=24)
    return np.asarray(drawn / drawn.sum())


def votes_of(p: Floats) -> Votes:
    """Return a distribution over the 24 rankings as votes."""
    return Votes.from_orders([list(order) for order in permutations(ITEMS)], weights=p, items=ITEMS)


def mixed(*parts: tuple[float, str, Floats]) -> tuple[Votes, str]:
    """Return the votes of a mixture, and the formula that figures print: from shares, names and distributions.

    Examples
    --------
    >>> mixed((0.5, "e0", FIRST), (0.5, "e1", SECOND))
    (Votes(4 items, 1 ballot, 2 distinct, unlisted='bottom'), '0.5 e0 + 0.5 e1')
    """
    p = sum((share * mass for share, _, mass in parts), np.zeros(24))
    return votes_of(p), " + ".join(name if share == 1 else f"{share:g} {name}" for share, name, _ in parts)


def authors() -> dict[str, Votes]:
    """Return the seven distributions that the authors published for Figure 5.

    Notes
    -----
    The noise in their second bucket is not known; u(0) stands for it.
    """
    shapes = {name: exact_votes(PlackettLuce(weights), items=ITEMS) for name, weights in _PUBLISHED.items()}
    shapes["bucket, .6/.4"] = exact_votes(BucketMass(CLOSE, gap=0.2), items=ITEMS)
    shapes["bucket, .51/.49 mixed at .95"] = votes_of(0.95 * BucketMass(CLOSE, gap=0.02).pmf() + 0.05 * noise(0))
    return shapes


def ours(count: int, spread: float, rng: np.random.Generator) -> dict[str, Votes]:
    """Return our distributions for Figure 5: two buckets, the uniform, a point mass, random Plackett-Luce models."""
    shapes = {}
    for gap in (0.1, 0.01):
        mixed = Mixture([(0.9, BucketMass(CLOSE, gap)), (0.1, Uniform(4))])
        shapes[f"bucket, gap {gap:g}"] = exact_votes(mixed, items=ITEMS)
    shapes["uniform"] = votes_of(0.1 * noise(23) + 0.9 / 24)
    shapes["point mass"] = votes_of(0.1 * noise(23) + 0.9 * FIRST)
    for k in range(count):
        logits = np.sort(rng.standard_normal(4))[::-1]
        shapes[f"Plackett-Luce {k + 1}"] = exact_votes(PlackettLuce(np.exp(spread * logits).tolist()), items=ITEMS)
    return shapes


def steps_of(steps: object) -> int:
    """Return a number of steps of the estimator; refuse what is none."""
    number = whole_number(steps)
    if number is None or number < 1:
        raise UsageError(f"steps must be a whole number, 1 or more, not {quote(str(steps))}")
    return number
