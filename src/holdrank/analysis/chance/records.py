"""Significance results as plain data."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from holdrank.analysis.chance.breakdowns import BreakdownInterval
from holdrank.analysis.chance.mean_ranks import MeanRanks
from holdrank.analysis.chance.rank_sets import RankSets
from holdrank.analysis.chance.tables import PairedTests
from holdrank.analysis.records import Record, finite
from holdrank.rankings import Ranking
from holdrank.words.chance import both_text, tied_text

_COLUMNS = ("lower", "upper", "marginal_lower", "marginal_upper")


def chance_record(
    found: RankSets, tiers: Ranking | None = None, attack: Record | None = None, votes: Record | None = None
) -> Record:
    """Return confidence sets for places; tiers, the attack on the first place and votes are those of the analysis."""
    told = {**(votes or {}), "counts": True}  # sets are made of nothing else
    buckets = [] if tiers is None else [np.array(bucket) for bucket in tiers.buckets]
    return {
        "level": found.level,
        "by": found.by,
        "units": found.units,
        "draws": found.draws,
        "seed": found.seed,
        **{name: getattr(found, name).tolist() for name in _COLUMNS},
        "neighbours": list(found.neighbours),
        "gaps": [bool(found.separated[np.ix_(one, two)].all()) for one, two in pairwise(buckets)],
        "text": both_text(tied_text(found.top(1), len(found.items), found.level), attack, told),
        "notes": list(found.notes),
        "status": found.status.value,
    }


def mean_ranks_record(found: MeanRanks) -> Record:
    """Return the data of a critical-difference diagram."""
    return {
        "level": found.level,
        "tasks": found.tasks,
        "values": [finite(rank) for rank in found.values.tolist()],
        "friedman": found.friedman,
        "friedman_p": found.friedman_p,
        "critical_difference": finite(found.critical_difference),
        "groups": found.groups,
    }


def paired_record(found: PairedTests) -> Record:
    """Return paired tests: the mean ranks, then every two items, by mean rank."""
    order, number = found.order, {name: k for k, name in enumerate(found.items)}
    return {
        "test": found.test,
        "mean_ranks": {
            "level": found.level,
            "tasks": found.tasks,
            "values": [finite(rank) for rank in found.mean_ranks.tolist()],
            "friedman": found.friedman,
            "friedman_p": found.friedman_p,
            "critical_difference": finite(found.critical_difference),
            "groups": [[number[name] for name in group] for group in found.groups],
        },
        "pairs": [
            {
                "pair": [i, j],
                "p_value": float(found.p_values[i, j]),
                "separated": bool(found.separated[i, j]),
                "nemenyi_p": float(found.nemenyi_p[i, j]),
            }
            for at, i in enumerate(order)
            for j in order[at + 1 :]
        ],
        "text": found.text(),
    }


def interval_record(found: BreakdownInterval) -> Record:
    """Return an interval for the breakdown of the population; null for ends that are infinite, or not known."""
    ends = {"estimate": found.estimate, "lower": found.lower, "upper": found.upper, "error": found.error}
    return {
        **{
            name: end if math.isfinite(end) and (found.known or name == "estimate") else None
            for name, end in ends.items()
        },
        "level": found.level,
        "method": found.method,
        "draws": found.draws,
        "reached": found.reached,
        "open": found.open,
        "units": found.units,
        "by": found.by,
        "seed": found.seed,
        "text": found.sentence(),
        "status": found.status.value,
    }
