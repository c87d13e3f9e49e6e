"""What chance explains, as plain data."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from holdrank.analysis.chance.rank_sets import RankSets
from holdrank.analysis.records import Record
from holdrank.rankings import Ranking
from holdrank.words.chance import both_text, tied_text

_COLUMNS = ("lower", "upper", "marginal_lower", "marginal_upper")


def chance_record(found: RankSets, tiers: Ranking | None = None, attack: Record | None = None) -> Record:
    """Return confidence sets for places; `tiers` and the `attack` on the first place are those of the analysis."""
    votes = {"counts": True}  # sets are made of nothing else
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
        "text": both_text(tied_text(found.top(1), len(found.items), found.level), attack, votes),
        "notes": list(found.notes),
        "status": found.status.value,
    }
