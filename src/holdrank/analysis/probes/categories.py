"""Probe: a task, a language or a category that reverses the order."""

from __future__ import annotations

import math

import numpy as np

from holdrank.analysis.probes.evidence import Evidence
from holdrank.analysis.probes.findings import Finding, not_applicable
from holdrank.analysis.probes.standing import Standing, critical, standing
from holdrank.votes.votes import Votes

_FEWEST = 20  # votes of a group that is looked at
_MOST = 200  # groups, and pairs of a finding
_FEWEST_LINKS = 30  # comparisons that a pair must be worth: below, errors are guesses
_OF_ONE = {"strength": 2.0, "share": 1.0}  # the error of a single comparison of two level items


def categories(known: Evidence) -> Finding:
    """Rank each group separately, and find pairs that it reverses significantly, over all pairs and groups together."""
    votes, groups = known.votes, known.category
    if not isinstance(votes, Votes):
        return not_applicable("category", "pair counts")
    if groups is None:
        return not_applicable("category", "no category")
    if not votes.is_counts:
        return not_applicable("category", "shares")
    large = np.argsort(-groups.totals, kind="stable")[:_MOST]
    large = np.sort(large[groups.totals[large] >= _FEWEST])
    if len(large) < 2:
        return not_applicable("category", "few groups", of=groups.of, fewest=_FEWEST)
    places = np.asarray(known.ranking.places)
    ahead = (places[:, None] < places) & (known.standing.z > 0)
    n = len(known.items)
    bar = critical(known.level, len(large) * max(n * (n - 1) // 4, 1))  # one-sided
    turned: list[tuple[float, int, int, int]] = []
    stands: dict[int, Standing] = {}
    weakest: tuple[float, int, int, int] | None = None
    for k in large.tolist():
        mine = groups.group == k
        weights = np.bincount(groups.ballot[mine], groups.weight[mine], votes.distinct)
        stands[k] = here = standing(votes.with_weights(weights), known.rule)
        known_well = here.error <= _OF_ONE.get(here.scale, math.inf) / math.sqrt(_FEWEST_LINKS)
        z = np.where(ahead & known_well, here.z, np.inf)
        for a, b in np.argwhere(z < -bar).tolist():
            turned.append((float(z[a, b]), k, a, b))
        a, b = divmod(int(z.argmin()), n)
        if weakest is None or z[a, b] < weakest[0]:
            weakest = float(z[a, b]), k, a, b
    facts = {"of": groups.of, "groups": len(large), "scale": known.standing.scale, "turned": len(turned)}
    facts |= {"noun": known.noun}
    if weakest is None or not np.isfinite(weakest[0]):
        return not_applicable("category", "no gap")
    _, k, a, b = min(turned, default=weakest)
    here = stands[k]
    reach = critical(known.level, 1) * float(here.error[a, b])
    lead = float(here.lead[a, b])
    return Finding(
        "category",
        "raised" if turned else "clear",
        value=lead,
        lower=lead - reach if np.isfinite(reach) else None,
        upper=lead + reach if np.isfinite(reach) else None,
        bar=0.0,
        pairs=tuple(dict.fromkeys((known.items[a], known.items[b]) for _, _, a, b in sorted(turned)))[:_MOST],
        people=tuple(dict.fromkeys(groups.names[k] for _, k, _, _ in sorted(turned))),
        facts={
            **facts,
            "group": groups.names[k],
            "votes": float(groups.totals[k]),
            "pair": (known.items[a], known.items[b]),
            "all": float(known.standing.lead[a, b]),
            "here": lead,
        },
    )
