"""Probe: more cycles than a model with one strength per item explains."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from holdrank.analysis.probes.bars import BARS
from holdrank.analysis.probes.evidence import Evidence, Mask
from holdrank.analysis.probes.findings import Finding, not_applicable
from holdrank.analysis.probes.standing import critical
from holdrank.rankings import Floats, Ints
from holdrank.rules.strengths import RIDGE, strengths
from holdrank.rules.ties import tie_counts
from holdrank.votes.votes import Votes

_FEWEST = 10  # triples needed for a finding
_DRAWS = 400
_MOST_ITEMS = 500  # examined
_NUMBERS = 40_000_000  # pairs drawn in all
_SUMS = 20_000_000_000  # to count their cycles
_EXACT = 5000  # battles of a pair, up to which their chances are added up one by one


def cycles(known: Evidence) -> Finding:
    """Count cyclic triples of items, and compare with votes simulated from the model.

    For battles the model is Bradley-Terry, fitted to decided battles. Votes on more than two items are not independent
    pairs; there, a cycle counts if all three of its majorities are significant.
    """
    votes = known.votes
    if len(known.items) < 3:
        return not_applicable("cycles", "two items")
    if not votes.is_counts:
        return not_applicable("cycles", "shares")
    battles = votes.compares_two
    ties = tie_counts(votes)[1] if battles and isinstance(votes, Votes) else np.zeros_like(known.met)
    # Of many items, those that are compared most.
    some = np.sort(np.argsort(-known.met.sum(axis=1), kind="stable")[:_MOST_ITEMS])
    wins = (votes.wins() - ties / 2)[np.ix_(some, some)]
    seen, triples = _count(wins > wins.T)
    if not triples:
        return not_applicable("cycles", "few triples", triples=triples)
    sure = _beyond_chance(wins, known.level)
    example = _example(sure, wins)
    among = len(some) if len(some) < len(known.items) else 0
    facts = {
        "among": among,
        "cycles": seen,
        "triples": triples,
        "sure": _count(sure)[0],
        "level": known.level,
        "battles": battles,
    }
    share = seen / triples
    ends = (share, share, share)
    if battles:
        if triples < _FEWEST:
            return not_applicable("cycles", "few triples", triples=triples)
        drawn = _expected(wins, known.seed) / triples
        tail = (1 - known.level) / 2
        low, high = np.quantile(drawn, [tail, 1 - tail]).tolist()
        facts |= {"expected": float(drawn.mean()) * triples, "most": high * triples}
        ends = (share - float(drawn.mean()), share - high, share - low)
    raised = bool(facts["sure"]) or (battles and ends[1] > BARS["cycles"])
    names = tuple(known.items[some[k]] for k in example)
    return Finding(
        "cycles",
        "raised" if raised else "clear",
        value=ends[0],
        lower=ends[1],
        upper=ends[2],
        bar=BARS["cycles"],
        items=names if raised else (),
        facts={**facts, "example": names},
    )


def _count(beats: Mask) -> tuple[int, int]:
    """Return how many triples are cyclic, and how many are decided in all three pairs."""
    A = beats.astype(np.float64)
    E = A + A.T
    return round(float(((A @ A) * A.T).sum()) / 3), round(float(((E @ E) * E).sum()) / 6)


def _beyond_chance(wins: Floats, level: float) -> Mask:
    """Return which items beat which significantly, over all pairs together."""
    met = wins + wins.T
    pairs = int((np.triu(met, 1) > 0).sum())
    return np.asarray(wins - wins.T > critical(level, pairs) * np.sqrt(met))


def _example(sure: Mask, wins: Floats) -> tuple[int, ...]:
    """Return a cycle: a significant one, else the one whose smallest majority is largest; None if there is none."""
    margin = wins - wins.T
    beats = sure if _count(sure)[0] else margin > 0
    best: tuple[float, tuple[int, ...]] = (0.0, ())
    for a in range(len(wins)):
        b, c = np.nonzero(beats[a][:, None] & beats & beats[:, a][None])
        if len(b):
            least = np.minimum(np.minimum(margin[a, b], margin[b, c]), margin[c, a])
            k = int(least.argmax())
            if least[k] > best[0]:
                best = float(least[k]), (a, int(b[k]), int(c[k]))
    return best[1]


def _expected(wins: Floats, seed: int) -> Floats:
    """Return how many cycles there are in each of many draws from the model."""
    n = len(wins)
    met = wins + wins.T
    s, _ = strengths(wins / wins.sum(), RIDGE)
    i, j = np.nonzero(np.triu(met, 1))
    chance = 1 / (1 + np.exp(np.clip(s[j] - s[i], -30.0, 30.0)))
    most, level = majority_chances(np.rint(met[i, j]).astype(np.int64), chance)
    draws = int(np.clip(min(_NUMBERS // max(len(i), 1), _SUMS // n**3), 100, _DRAWS))
    rng = np.random.default_rng(seed)
    found = np.zeros(draws)
    for k in range(draws):
        luck = rng.random(len(i))
        beats = np.zeros((n, n), dtype=np.float32)
        beats[i, j] = luck < most
        beats[j, i] = luck >= most + level
        found[k] = round(float(((beats @ beats) * beats.T).sum(dtype=np.float64)) / 3)
    return found


def majority_chances(fought: Ints, chance: Floats) -> tuple[Floats, Floats]:
    """Return the probability that the first of two items wins more than half of n battles, and exactly half (binomial).

    Of very many battles the numbers are those of the normal distribution.

    Examples
    --------
    >>> [part.tolist() for part in majority_chances(np.array([1, 2]), np.array([0.75, 0.5]))]
    [[0.75, 0.25], [0.0, 0.5]]
    """
    most, level = np.zeros(len(fought)), np.zeros(len(fought))
    many = fought > _EXACT
    m, p = fought[~many], chance[~many]
    if len(m):
        logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, m.max() + 1)))))
        count = m - m // 2  # results with more than half
        row = np.repeat(np.arange(len(m)), count)
        k = m[row] - (np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count))
        log_p, log_q = np.log(p), np.log1p(-p)
        shares = np.exp(logs[m[row]] - logs[k] - logs[m[row] - k] + k * log_p[row] + (m[row] - k) * log_q[row])
        most[~many] = np.bincount(row, shares, len(m))
        half = m // 2
        even = np.exp(logs[m] - 2 * logs[half] + half * (log_p + log_q))
        level[~many] = np.where(m % 2 == 0, even, 0.0)
    m, p = fought[many], chance[many]
    spread = np.sqrt(m * p * (1 - p))
    normal = NormalDist()
    most[many] = [normal.cdf(z) for z in ((m * (p - 0.5) - 0.5 * (m % 2 == 0)) / spread).tolist()]
    level[many] = np.where(
        m % 2 == 0, np.exp(-((m * (p - 0.5) / spread) ** 2) / 2) / (spread * math.sqrt(2 * math.pi)), 0
    )
    return most, level
