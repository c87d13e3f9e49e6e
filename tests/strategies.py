"""What hypothesis draws: rankings, ballots, votes, pairwise matrices."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import holdrank as hr

sizes = st.integers(1, 6)


def rank_vectors(n: int):
    return st.lists(st.integers(1, n), min_size=n, max_size=n)


def strict_vectors(n: int):
    return st.permutations(range(1, n + 1))


@st.composite
def two_rankings(draw, most=5):
    n = draw(st.integers(1, most))
    return draw(rank_vectors(n)), draw(rank_vectors(n))


@st.composite
def ballots(draw, most_items=6, most_ballots=8, unlisted=True, ties=True):
    """A table of ranks with at least one mark in every row."""
    n = draw(st.integers(1, most_items))
    m = draw(st.integers(1, most_ballots))
    row = st.lists(st.integers(0 if unlisted else 1, n), min_size=n, max_size=n).filter(any)
    return draw(st.lists(row if ties else strict_vectors(n), min_size=m, max_size=m))


@st.composite
def votes(draw, counts=None, rule=None, **kwargs):
    table = draw(ballots(**kwargs))
    whole = draw(st.booleans()) if counts is None else counts
    weight = st.integers(1, 5) if whole else st.floats(0.01, 1)
    weights = draw(st.lists(weight, min_size=len(table), max_size=len(table)))
    unlisted = rule or draw(st.sampled_from(["bottom", "observed"]))
    return hr.Votes.from_ranks(np.array(table), weights, unlisted=unlisted)


@st.composite
def pair_matrices(draw, most=8):
    """(P, start, theta): fine or coarse shares (many ties), a start with or without ties, theta on or off them."""
    n = draw(st.integers(1, most))
    grid = draw(st.sampled_from([3, 4, 6, 10, 10**6]))
    P = np.full((n, n), 0.5)
    for i in range(n):
        for j in range(i + 1, n):
            P[i, j] = draw(st.integers(0, grid)) / grid
            P[j, i] = 1 - P[i, j]
    start = hr.Ranking(draw(st.one_of(strict_vectors(n), rank_vectors(n))))
    theta = draw(st.one_of(st.floats(0, 0.5), st.integers(0, grid // 2).map(lambda k: k / grid)))
    return P, start, theta


KINDS = ["complete", "tied", "bottom", "observed", "battles"]


def random_ranks(rng, kind, n, size):
    """Return up to `size` random ballots of one of the KINDS, as ranks; empty ballots are left out."""
    ballots = []
    for _ in range(size):
        ranks = rng.permutation(n) + 1
        if kind in ("tied", "bottom", "observed") and rng.random() < 0.5:
            ranks = rng.integers(1, n + 1, size=n)
        if kind in ("bottom", "observed"):
            ranks = np.where(rng.random(n) < 0.3, 0, ranks)
        if kind == "battles":
            ranks = np.zeros(n, dtype=int)
            ranks[rng.choice(n, 2, replace=False)] = [1, 1 if rng.random() < 0.2 else 2]
        if ranks.any():
            ballots.append(ranks)
    return ballots


def heavy_ballots(rng, n):
    """Return ballots, as ranks, and weights: a few that take sides among up to ten million that tie some items."""
    ballots, weights = [], []
    for _ in range(int(rng.integers(1, 4))):
        ballots.append(tuple((rng.permutation(n) + 1).tolist()))
        weights.append(int(rng.integers(1, 30)))
    for _ in range(int(rng.integers(1, 3))):
        ranks = rng.integers(1, 3, size=n) if rng.random() < 0.5 else np.ones(n, dtype=int)
        ballots.append(tuple(np.unique(ranks, return_inverse=True)[1].ravel() + 1))
        weights.append(int(10 ** rng.uniform(1, 7)))
    if rng.random() < 0.4:  # nearly as many the other way round
        ranks = rng.permutation(n) + 1
        many = int(10 ** rng.uniform(1, 7))
        ballots += [tuple(ranks.tolist()), tuple((n + 1 - ranks).tolist())]
        weights += [many, max(many + int(rng.integers(-3, 4)), 1)]
    distinct = sorted(set(ballots))
    return distinct, [sum(w for b, w in zip(ballots, weights, strict=True) if b == kind) for kind in distinct]


def unlisted_rule(kind):
    """Return the rule for unlisted items that goes with one of the KINDS."""
    return "observed" if kind in ("observed", "battles") else "bottom"
