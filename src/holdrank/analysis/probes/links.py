"""Probes: items that few comparisons connect, and items that are compared less often than others."""

from __future__ import annotations

import numpy as np

from holdrank.analysis.probes.bars import BARS
from holdrank.analysis.probes.evidence import Evidence
from holdrank.analysis.probes.findings import Finding, not_applicable
from holdrank.analysis.probes.standing import critical
from holdrank.rankings import Floats

_MOST_ITEMS = 600  # for which the least cut is searched for


def connection(known: Evidence) -> Finding:
    """Look for groups that few or no comparisons connect: the minimum cut (Stoer and Wagner)."""
    votes, met, n = known.votes, known.met, len(known.items)
    if n < 2:
        return not_applicable("connection", "one item")
    apart = ~np.eye(n, dtype=bool)
    if votes.is_counts and (met[apart] == votes.total).all() and not votes.compares_two:
        return not_applicable("connection", "all pairs")
    groups = int(known.label.max()) + 1
    if groups > 1:
        sizes = np.bincount(known.label)
        side = np.flatnonzero(known.label == int(np.argsort(sizes, kind="stable")[0]))
        links = 0.0
    else:
        links, side = least_cut(met) if n <= _MOST_ITEMS else least_item(met)
        side = side if 2 * len(side) <= n else np.setdiff1d(np.arange(n), side)
    thin = votes.is_counts and links < BARS["links"]
    raised = groups > 1 or thin
    names = tuple(known.items[k] for k in side.tolist())
    rest = n - len(names)
    crossing = [pair for pair in zip(known.ranking.order, known.ranking.order[1:], strict=False)
                if (pair[0] in side) != (pair[1] in side)]  # fmt: skip
    return Finding(
        "connection",
        "raised" if raised else "clear",
        value=links,
        lower=links,
        upper=links,
        bar=float(BARS["links"]),
        pairs=tuple((known.items[a], known.items[b]) for a, b in crossing) if thin and groups == 1 else (),
        items=names if raised else (),
        facts={"groups": groups, "links": links, "side": names, "rest": rest, "bar": BARS["links"]},
    )


def least_cut(met: Floats) -> tuple[float, np.ndarray]:
    """Return the fewest comparisons that connect two parts of connected items, and the items of one part.

    Each round adds items one by one, the most connected first; the last one is a candidate cut, and is then merged with
    the one before it.

    Examples
    --------
    >>> met = np.zeros((4, 4))
    >>> met[0, 1], met[2, 3], met[1, 2] = 50, 40, 3
    >>> cut, side = least_cut(met + met.T)
    >>> cut, side.tolist()
    (3.0, [2, 3])
    """
    links = met.astype(np.float64).copy()
    np.fill_diagonal(links, 0.0)
    parts = [[k] for k in range(len(met))]
    alive = np.arange(len(met))
    best: tuple[float, list[int]] = (np.inf, [])
    while len(alive) > 1:
        inner = links[np.ix_(alive, alive)]
        joined = inner[0].copy()
        joined[0] = -np.inf
        before = last = 0
        for _ in range(len(alive) - 1):
            before, last = last, int(joined.argmax())
            cut = float(joined[last])
            joined += inner[last]
            joined[last] = -np.inf
        s, t = int(alive[before]), int(alive[last])
        if cut < best[0]:
            best = cut, list(parts[t])
        links[s] += links[t]
        links[:, s] += links[:, t]
        links[s, s] = 0.0
        parts[s] += parts[t]
        alive = np.delete(alive, last)
    return best[0], np.array(sorted(best[1]))


def least_item(met: Floats) -> tuple[float, np.ndarray]:
    """Return the fewest comparisons of a single item, and that item."""
    each = met.sum(axis=1)
    return float(each.min()), np.array([int(each.argmin())])


def coverage(known: Evidence) -> Finding:
    """Compare the number of comparisons of each item with the median, allowing for Poisson noise."""
    n = len(known.items)
    if n < 3:
        return not_applicable("coverage", "two items")
    each = known.met.sum(axis=1)
    middle = float(np.median(each))
    if not middle:
        return not_applicable("coverage", "few compared")
    reach = critical(known.level, n) / 2 if known.votes.is_counts else 0.0
    low = np.maximum(np.sqrt(each) - reach, 0.0) ** 2 / middle
    high = (np.sqrt(each) + reach) ** 2 / middle
    rare = np.flatnonzero(high < BARS["coverage"])
    rare = rare[np.argsort(each[rare], kind="stable")]
    least = int(each.argmin())
    pairs = n * (n - 1) // 2
    return Finding(
        "coverage",
        "raised" if len(rare) else "clear",
        value=float(each[least] / middle),
        lower=float(low[least]),
        upper=float(high[least]),
        bar=BARS["coverage"],
        items=tuple(known.items[k] for k in rare.tolist()),
        facts={
            "rare": len(rare),
            "item": known.items[least],
            "least": float(each[least]),
            "median": middle,
            "most": float(each.max()),
            "share": float(each[least] / middle),
            "bar": BARS["coverage"],
            "pairs": pairs,
            "compared": int((np.triu(known.met, 1) > 0).sum()),
            "gini": gini(each),
        },
    )


def gini(counts: Floats) -> float:
    """Return how uneven counts are: 0 where all are equal, near 1 where one has them all.

    Examples
    --------
    >>> gini(np.array([1.0, 1.0])), gini(np.array([0.0, 0.0, 0.0, 8.0]))
    (0.0, 0.75)
    """
    rising = np.sort(counts)
    n, total = len(rising), float(rising.sum())
    return float(2 * (np.arange(1, n + 1) @ rising) / (n * total) - (n + 1) / n) if total else 0.0
