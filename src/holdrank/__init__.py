"""A consensus ranking that tells you how hard it is to break.

>>> import holdrank as hr
>>> votes = hr.Votes.from_orders([["a", "b", "c"], ["b", ["a", "c"]]], weights=[3, 2])
>>> hr.kemeny(votes).text()
'a > b > c'
"""

from __future__ import annotations

from holdrank.consensus import Consensus, Statistic, borda, footrule, kemeny
from holdrank.errors import HoldrankError, InputError, LimitError, MissingExtraError, UsageError

from holdrank.merge import Robust, downward_merge, merge_path, naive_merge
from holdrank.models import (
    BucketMass,
    Mallows,
    Mixture,
    PlackettLuce,
    PointMass,
    Uniform,
    exact_votes,
    sample_votes,
)
from holdrank.rankings import (
    Ranking,
    all_rankings,
    footrule_distance,
    hausdorff_half,
    hausdorff_ns,
    kendall,
    spearman_rho,
)
from holdrank.status import Status, Step
from holdrank.votes import Reading, Votes

__version__ = "0.1.0"

__all__ = [
    "BucketMass",
    "Consensus",
    "HoldrankError",
    "InputError",
    "LimitError",
    "Mallows",
    "MissingExtraError",
    "Mixture",
    "PlackettLuce",
    "PointMass",
    "Ranking",
    "Reading",
    "Robust",
    "Statistic",
    "Status",
    "Step",
    "Uniform",
    "UsageError",
    "Votes",
    "all_rankings",
    "borda",
    "downward_merge",
    "exact_votes",
    "footrule",
    "footrule_distance",
    "hausdorff_half",
    "hausdorff_ns",
    "kemeny",
    "kendall",
    "merge_path",
    "naive_merge",
    "sample_votes",
    "spearman_rho",
]
