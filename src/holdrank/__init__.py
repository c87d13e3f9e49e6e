"""A consensus ranking that tells you how hard it is to break.

The public names live in the rooms of the package and are brought in when first used, so that ``import holdrank`` and
``holdrank --help`` cost next to nothing.

>>> import holdrank as hr
>>> votes = hr.Votes.from_orders([["a", "b", "c"], ["b", ["a", "c"]]], weights=[3, 2])
>>> hr.kemeny(votes).text()
'a > b > c'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_ROOMS = {
    "analysis": ("Analysis", "Spec", "analyse"),
    "bigvotes": ("count_pairs",),
    "breaking.answers": ("attack", "breakdown"),
    "breaking.goals": ("Above", "Distance", "Enters", "Goal", "Leaves", "NewWinner", "TopSet", "Wins"),
    "breaking.reach": ("Reach", "reach"),
    "breaking.results": ("Attack", "Breakdown"),
    "consensus": ("Consensus", "Statistic", "borda", "footrule", "kemeny", "kemeny_batch", "kemeny_optima"),
    "errors": ("HoldrankError", "InputError", "LimitError", "MissingExtraError", "UsageError", "WorkerError"),
    "files": ("read_votes", "validate", "write_votes"),
    "merge": ("Robust", "downward_merge", "merge_path", "naive_merge", "smith_merge"),
    "models": (
        "BucketMass",
        "Mallows",
        "Mixture",
        "PlackettLuce",
        "PointMass",
        "Uniform",
        "exact_votes",
        "sample_votes",
    ),
    "pairs": ("PairCounts",),
    "rankings": (
        "Ranking",
        "all_rankings",
        "footrule_distance",
        "hausdorff_half",
        "hausdorff_ns",
        "kendall",
        "spearman_rho",
    ),
    "resampling": ("Bootstrap", "bootstrap"),
    "scoring": ("bradley_terry", "copeland", "mean_score"),
    "status": ("Status", "Step"),
    "sweeps": ("breakdowns",),
    "thresholds": ("Tradeoff", "tradeoff"),
    "verifying": ("fulfils", "verify"),
    "verifying.verdicts": ("Check", "Verdict"),
    "votes": ("Reading", "Votes"),
}

_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

_MODULES = ("clusters", "paper", "plots", "report")  # names in modules of their own: hr.plots.breakdown

__all__ = sorted(_ROOM_OF)


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"holdrank.{name}")
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'holdrank' has no attribute {name!r}")
    value = getattr(import_module(f"holdrank.{_ROOM_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})


if TYPE_CHECKING:  # the same names for type checkers and editors, which read but do not run
    from holdrank import clusters as clusters
    from holdrank import paper as paper
    from holdrank import plots as plots
    from holdrank import report as report
    from holdrank.analysis import Analysis as Analysis
    from holdrank.analysis import Spec as Spec
    from holdrank.analysis import analyse as analyse
    from holdrank.bigvotes import count_pairs as count_pairs
    from holdrank.breaking.answers import attack as attack
    from holdrank.breaking.answers import breakdown as breakdown
    from holdrank.breaking.goals import Above as Above
    from holdrank.breaking.goals import Distance as Distance
    from holdrank.breaking.goals import Enters as Enters
    from holdrank.breaking.goals import Goal as Goal
    from holdrank.breaking.goals import Leaves as Leaves
    from holdrank.breaking.goals import NewWinner as NewWinner
    from holdrank.breaking.goals import TopSet as TopSet
    from holdrank.breaking.goals import Wins as Wins
    from holdrank.breaking.reach import Reach as Reach
    from holdrank.breaking.reach import reach as reach
    from holdrank.breaking.results import Attack as Attack
    from holdrank.breaking.results import Breakdown as Breakdown
    from holdrank.consensus import Consensus as Consensus
    from holdrank.consensus import Statistic as Statistic
    from holdrank.consensus import borda as borda
    from holdrank.consensus import footrule as footrule
    from holdrank.consensus import kemeny as kemeny
    from holdrank.consensus import kemeny_batch as kemeny_batch
    from holdrank.consensus import kemeny_optima as kemeny_optima
    from holdrank.errors import HoldrankError as HoldrankError
    from holdrank.errors import InputError as InputError
    from holdrank.errors import LimitError as LimitError
    from holdrank.errors import MissingExtraError as MissingExtraError
    from holdrank.errors import UsageError as UsageError
    from holdrank.errors import WorkerError as WorkerError
    from holdrank.files import read_votes as read_votes
    from holdrank.files import validate as validate
    from holdrank.files import write_votes as write_votes
    from holdrank.merge import Robust as Robust
    from holdrank.merge import downward_merge as downward_merge
    from holdrank.merge import merge_path as merge_path
    from holdrank.merge import naive_merge as naive_merge
    from holdrank.merge import smith_merge as smith_merge
    from holdrank.models import BucketMass as BucketMass
    from holdrank.models import Mallows as Mallows
    from holdrank.models import Mixture as Mixture
    from holdrank.models import PlackettLuce as PlackettLuce
    from holdrank.models import PointMass as PointMass
    from holdrank.models import Uniform as Uniform
    from holdrank.models import exact_votes as exact_votes
    from holdrank.models import sample_votes as sample_votes
    from holdrank.pairs import PairCounts as PairCounts
    from holdrank.rankings import Ranking as Ranking
    from holdrank.rankings import all_rankings as all_rankings
    from holdrank.rankings import footrule_distance as footrule_distance
    from holdrank.rankings import hausdorff_half as hausdorff_half
    from holdrank.rankings import hausdorff_ns as hausdorff_ns
    from holdrank.rankings import kendall as kendall
    from holdrank.rankings import spearman_rho as spearman_rho
    from holdrank.resampling import Bootstrap as Bootstrap
    from holdrank.resampling import bootstrap as bootstrap
    from holdrank.scoring import bradley_terry as bradley_terry
    from holdrank.scoring import copeland as copeland
    from holdrank.scoring import mean_score as mean_score
    from holdrank.status import Status as Status
    from holdrank.status import Step as Step
    from holdrank.sweeps import breakdowns as breakdowns
    from holdrank.thresholds import Tradeoff as Tradeoff
    from holdrank.thresholds import tradeoff as tradeoff
    from holdrank.verifying import fulfils as fulfils
    from holdrank.verifying import verify as verify
    from holdrank.verifying.verdicts import Check as Check
    from holdrank.verifying.verdicts import Verdict as Verdict
    from holdrank.votes import Reading as Reading
    from holdrank.votes import Votes as Votes
