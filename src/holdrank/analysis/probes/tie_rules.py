"""Probe: an order that depends on how ties count."""

from __future__ import annotations

import numpy as np

from holdrank.analysis.probes.evidence import Evidence
from holdrank.analysis.probes.findings import Finding, not_applicable
from holdrank.analysis.probes.standing import critical
from holdrank.errors import UsageError
from holdrank.rankings import Floats, Ints
from holdrank.rules.bradley_terry import bradley_terry
from holdrank.rules.consensus import Consensus
from holdrank.rules.ties import tie_counts
from holdrank.votes.votes import Votes

OTHERS = ("dropped", "davidson", "rao-kupper")
"""Ways of counting ties, other than half a win for each."""
_MOST_NAMED = 200  # pairs of a finding


def tie_rules(known: Evidence) -> Finding:
    """Rank the battles with ties dropped, and with ties as separate outcomes, and find the pairs that reverse.

    Only pairs count that are significant when a tie is half a win for each, over all pairs together: close pairs
    reverse by chance.
    """
    votes = known.votes
    if known.rule.probabilities is None:
        return not_applicable("ties", "tie adds to both", rule=known.rule.name)
    if not isinstance(votes, Votes) or not votes.compares_two:
        return not_applicable("ties", "no battles")
    won, even = tie_counts(votes)
    ties, total = float(even.sum()) / 2, votes.total
    if not ties:
        return not_applicable("ties", "no ties")
    if not won.any():
        return not_applicable("ties", "all ties")
    n = votes.n
    apart = np.argwhere(known.standing.z > critical(known.level, n * (n - 1) // 2))
    if not len(apart):
        return not_applicable("ties", "none separated")
    worst: tuple[float, float, int, str] | None = None
    turned: dict[str, list[tuple[str, str]]] = {}
    for name in OTHERS:
        lead, error = _leads(votes, name, apart)
        for k in np.argsort(lead, kind="stable").tolist():
            if lead[k] < 0:
                a, b = apart[k].tolist()
                turned.setdefault(name, []).append((known.items[a], known.items[b]))
            if np.isfinite(lead[k]) and (worst is None or lead[k] < worst[0]):
                worst = float(lead[k]), float(error[k]), k, name
    if worst is None:
        return not_applicable("ties", "no strengths")
    lead_there, error_there, at, how = worst
    reach = critical(known.level, 1) * error_there
    a, b = apart[at].tolist()
    ends = [float(_chance(x)) for x in (lead_there, lead_there - reach, lead_there + reach)]
    return Finding(
        "ties",
        "raised" if turned else "clear",
        value=ends[0],
        lower=ends[1],
        upper=ends[2],
        bar=0.5,
        pairs=tuple(dict.fromkeys(pair for pairs in turned.values() for pair in pairs))[:_MOST_NAMED],
        facts={
            "ties": ties,
            "total": total,
            "separated": len(apart),
            "turned": {name: len(pairs) for name, pairs in turned.items()},
            "pair": (known.items[a], known.items[b]),
            "how": how,
            "split": float(_chance(known.standing.lead[a, b])),
            "other": ends[0],
            "lower": ends[1],
            "upper": ends[2],
        },
    )


def _chance(lead: float) -> float:
    return float(1 / (1 + np.exp(-np.clip(lead, -700.0, 700.0))))


def _leads(votes: Votes, name: str, pairs: Ints) -> tuple[Floats, Floats]:
    """Return the leads of pairs, and their errors, when ties count differently; NaN where the votes determine none."""
    above, below = pairs.T
    try:
        found = _ranked(votes, name)
        s = found.ratings().strengths
        with np.errstate(invalid="ignore"):
            lead = s[above] - s[below]
        return lead, found.pair_errors()[above, below]
    except (UsageError, np.linalg.LinAlgError):
        nothing = np.full(len(above), np.nan)
        return nothing, nothing


def _ranked(votes: Votes, name: str) -> Consensus:
    if name != "dropped":
        return bradley_terry(votes, ties=name)  # type: ignore[arg-type]
    even = (votes.ballots.listed == 2) & (votes.ballots.largest_ranks() == 1)
    return bradley_terry(votes.with_weights(np.where(even, 0.0, votes.weights)))
