"""Records for pages, of any size and at once: no engine could analyse hundreds of items in the time of a test."""

from __future__ import annotations

import copy

import holdrank as hr
from holdrank.analysis.analyse import analyse
from holdrank.analysis.records import mismatch
from holdrank.analysis.spec import Spec


def votes_of(names=("a", "b", "c")):
    first, second, third = names[:3]
    return hr.Votes.from_orders([[first, second, third], [second, first, third]], weights=[60, 40])


def large_record(n: int) -> dict:
    """Return a record of n items that fits the schema: shares that fall with the distance, a tier of four each."""
    order = list(range(n))
    share = [
        [round(min(max(0.5 + (j - i) / n + ((i * 7 + j * 13) % 11 - 5) / 300, 0), 1), 4) for j in order] for i in order
    ]
    for i in order:
        share[i][i] = 0.5
    sizes = [4] * (n // 4) + ([n % 4] if n % 4 else [])
    ranks = [i // 4 + 1 for i in order]
    base = analyse(votes_of(), Spec(theta=0.1, draws=200, time_limit=None)).record
    record = copy.deepcopy(base)
    record["items"] = [f"Model number {i}, with a longer name" for i in order]
    record["consensus"] |= {"order": order, "ranks": [i + 1 for i in order]}
    record["tiers"]["ranks"] = ranks
    record["path"] = {"theta": [round(k / 2000, 6) for k in range(900)], "sizes": [sizes] * 900}
    record["pairs"] = {"share": share, "compared": [[3000.0]]}
    place = [i + 1 for i in order]
    record["chance"] = None
    record["bootstrap"] |= {"best": [max(p - 2.0, 1.0) for p in place], "median": [float(p) for p in place],
                            "worst": [min(p + 2.0, n) for p in place], "first": [0.0] * n}  # fmt: skip
    low, high = [max(p - 4, 1) for p in place], [min(p + 4, n) for p in place]
    record["reach"] |= {"best": low, "worst": high, "shown_best": place, "shown_worst": high}
    gap = {
        "lower": 0.0041,
        "upper": None,
        "needed": 13.0,
        "ties": None,
        "decides": 13.0,
        "sufficient": None,
        "known": True,
    }
    record["gaps"] = [gap] * (len(sizes) - 1)
    record["mean_ranks"] = {
        "level": 0.95,
        "tasks": 60,
        "values": [1 + 0.8 * i + 0.1 * n for i in order],
        "friedman": 99.5,
        "friedman_p": 1e-9,
        "critical_difference": 1.9,
        "groups": [[i, i + 1, i + 2] for i in range(n - 2)],
    }
    finding = {
        "probe": "coverage",
        "state": "raised",
        "title": "uneven coverage",
        **dict.fromkeys(("value", "lower", "upper", "bar"), 0.1),
        "bar_text": "raised when an item has less than 25 % of the median number of comparisons, interval included",
        "pairs": [],
        "items": [0],
        "people": [],
        "numbers": {"rare": 1},
        "text": f"1 item has few comparisons. {record['items'][0]} is compared least: 9 times, 2.1 % of the median.",
        "adversary": None,
    }
    record["audit"] = {
        "headline": "1 of 1 probe is raised: uneven coverage.",
        "level": 0.95,
        "seed": 0,
        "status": "proven optimal",
        "findings": [finding, {**finding, "probe": "cycles", "state": "clear"}],
    }
    ballot = {"ranks": [n - i for i in order], "weight": 1.0}
    record["attack"] |= {"before": ranks, "after": ranks[::-1], "removed": {"kinds": 300, "listed": [ballot] * 30},
                         "added": {"kinds": 30, "listed": [ballot] * 30}}  # fmt: skip
    record["others"] = [
        {"rule": rule, "ranks": place, "loss": 0.3, "status": "proven optimal"}
        for rule in ("kemeny", "footrule", "copeland")
    ]
    known = {"lower": 0.1, "upper": None, "needed": 9.0, "ties": None, "decides": 9.0, "sufficient": None}
    rows = [{"item": i, "inside": i < 10, "safe": i % 3 > 0, **known} for i in order]
    record["cut"] = {"k": 10, "budget": 0.01, "items": rows}
    assert mismatch(record) == ""
    return record
