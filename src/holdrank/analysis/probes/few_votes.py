"""Probe: too few votes to tell neighbours apart."""

from __future__ import annotations

import math

import numpy as np

from holdrank.analysis.probes.bars import BARS
from holdrank.analysis.probes.evidence import Evidence
from holdrank.analysis.probes.findings import Finding, not_applicable
from holdrank.analysis.probes.standing import critical
from holdrank.rankings import Floats

_LEVEL = 1e-6  # errors: below this two items are level


def few_votes(known: Evidence) -> Finding:
    """Count the significant gaps, over all gaps together, and the votes that the others need.

    At the chosen confidence all separated gaps are in the right order, so their number is the lower end of an interval
    for the number of gaps in the right order.
    """
    if not known.votes.is_counts:
        return not_applicable("votes", "shares")
    gaps = len(known.gaps)
    if not gaps:
        return not_applicable("votes", "one item" if len(known.items) < 2 else "no gap")
    apart = known.separated
    right = int(apart.sum())
    needed = votes_needed(known)
    open_gaps = [k for k in np.argsort(known.z, kind="stable").tolist() if not apart[k]]
    places = place_spans(known)
    widest = int(places.argmax())
    order = open_gaps or [int(known.z.argmin())]
    facts = {
        "gaps": gaps,
        "separated": right,
        "alone": int((known.z > critical(known.level, 1)).sum()),
        "level": known.level,
        "total": known.votes.total,
        "noun": known.noun,
        "pair": known.pair(order[0]),
        "each": [(*known.pair(k), bool(apart[k]), _finite(needed[k])) for k in range(gaps)],
        "needed_here": _finite(needed[order[0]]),
        "needed_half": _finite(np.sort(needed[order])[(len(order) - 1) // 2]),
        "median_span": float(np.median(places)),
        "widest": (known.items[widest], float(places[widest])),
    }
    share = right / gaps
    return Finding(
        "votes",
        "raised" if share < BARS["separated"] else "clear",
        value=share,
        lower=share,
        upper=1.0,
        bar=BARS["separated"],
        pairs=tuple(known.pair(k) for k in order),
        facts=facts,
    )


def votes_needed(known: Evidence) -> Floats:
    """Return for each gap how many votes like these would separate it: errors shrink with the root of their number."""
    bar = critical(known.level, len(known.gaps))
    ahead = known.z > _LEVEL
    need = np.where(ahead, (bar / np.where(ahead, known.z, 1.0)) ** 2, np.inf)
    return np.asarray(np.ceil(known.votes.total * need))


def place_spans(known: Evidence) -> Floats:
    """Return the number of places that each item may have: all but those of items that are certainly above or below."""
    z, n = known.standing.z, len(known.items)
    bar = critical(known.level, max(n - 1, 1))
    return np.asarray(n - (z > bar).sum(axis=1) - (z < -bar).sum(axis=1), dtype=np.float64)


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
