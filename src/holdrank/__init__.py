"""Consensus rankings, with proofs of how many votes it takes to break them.

The public names are imported from their modules on first use, so that ``import holdrank`` and ``holdrank --help`` are
fast.

>>> import holdrank as hr
>>> votes = hr.Votes.from_orders([["a", "b", "c"], ["b", ["a", "c"]]], weights=[3, 2])
>>> hr.kemeny(votes).text()
'a > b > c'
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from holdrank.status import upward

__version__ = "0.1.0"

_ROOMS = {
    "analysis.analyse": ("analyse",),
    "analysis.audit": ("Audit", "audit"),
    "analysis.probes.findings": ("Finding",),
    "analysis.board": ("Leaderboard", "leaderboard"),
    "analysis.bootstrap": ("Bootstrap", "bootstrap"),
    "analysis.chance.breakdowns": ("BreakdownInterval", "breakdown_interval"),
    "analysis.chance.rank_sets": ("RankSets", "rank_sets"),
    "analysis.chance.tables": ("PairedTests", "paired_tests"),
    "analysis.many": ("FileBreakdown", "breakdowns"),
    "analysis.leave_one_out": ("LeaveOneOut", "LeftOut", "leave_one_out"),
    "analysis.removals": ("Removal", "Removals", "removals"),
    "analysis.result": ("Analysis",),
    "analysis.spec": ("Spec",),
    "analysis.tradeoff": ("Tradeoff", "tradeoff"),
    "analysis.voters": ("VoterEffects", "voter_effects"),
    "attacks.answers": ("attack", "breakdown"),
    "attacks.estimator.options": ("PaperOptions",),
    "attacks.goals": ("Above", "Aim", "Distance", "Enters", "Goal", "Leaves", "NewWinner", "TopSet", "Wins"),
    "attacks.plans": ("Plan",),
    "attacks.reach": ("Reach", "reach"),
    "attacks.results": ("Attack", "Breakdown"),
    "attacks.voters": ("VoterAttack", "voter_attack"),
    "errors": ("HoldrankError", "InputError", "LimitError", "MissingExtraError", "UsageError", "WorkerError"),
    "files": ("Validation", "read_votes", "validate", "write_votes"),
    "files.large": ("count_pairs",),
    "proofs.verdicts": ("Check", "Verdict"),
    "proofs.verify": ("fulfils", "verify"),
    "rankings": (
        "Ranking",
        "all_rankings",
        "footrule_distance",
        "hausdorff_half",
        "hausdorff_ns",
        "kendall",
        "spearman_rho",
    ),
    "rules.bradley_terry": ("bradley_terry",),
    "rules.style": ("bradley_terry_with_style",),
    "rules.consensus": (
        "Consensus",
        "KemenyBatch",
        "Statistic",
        "StatisticName",
        "borda",
        "footrule",
        "kemeny",
        "kemeny_batch",
        "kemeny_optima",
    ),
    "rules.medians": ("Median",),
    "rules.merges": ("Robust", "downward_merge", "merge_path", "naive_merge", "smith_merge"),
    "rules.metrics": ("Metric",),
    "rules.optima": ("SharedOrder", "shared_order"),
    "rules.ratings": ("Ratings", "StyleEffect"),
    "rules.registry": ("auto",),
    "rules.scores": ("copeland", "mean_score"),
    "status": ("Status", "Step"),
    "views.boards": ("write_leaderboard",),
    "votes.changes": ("Change",),
    "votes.groups": ("Groups",),
    "votes.models": (
        "BucketMass",
        "Mallows",
        "Mixture",
        "Model",
        "PlackettLuce",
        "PointMass",
        "Uniform",
        "exact_votes",
        "sample_votes",
    ),
    "votes.pairs": ("PairCounts",),
    "votes.provenance": ("Reading",),
    "votes.first_shown": ("FirstShown",),
    "votes.voters": ("Voters",),
    "votes.votes": ("Votes",),
    "words.goals": ("Deed",),
}

_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

_MODULES = {  # names in modules of their own: hr.plots.breakdown
    "clusters": "parallel.executors",
    "paper": "paper",
    "plots": "plots",
    "report": "views.report",
}

__all__ = sorted(_ROOM_OF)


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"holdrank.{_MODULES[name]}")
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'holdrank' has no attribute {name!r}")
    value = getattr(import_module(f"holdrank.{_ROOM_OF[name]}"), name)
    globals()[name] = value
    return value


def _late(room: str, name: str) -> Callable[..., Any]:
    """Return a function that imports its module on its first call."""
    return lambda *values, **options: getattr(import_module(f"holdrank.{room}"), name)(*values, **options)


upward.html_of = _late("views.notebook", "html_of")
upward.frame_of = _late("views.frames", "frame_of")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])


if TYPE_CHECKING:  # the same names for type checkers and editors, which read but do not run
    from holdrank import paper as paper
    from holdrank import plots as plots
    from holdrank.analysis.analyse import analyse as analyse
    from holdrank.analysis.audit import Audit as Audit
    from holdrank.analysis.audit import audit as audit
    from holdrank.analysis.board import Leaderboard as Leaderboard
    from holdrank.analysis.board import leaderboard as leaderboard
    from holdrank.analysis.bootstrap import Bootstrap as Bootstrap
    from holdrank.analysis.bootstrap import bootstrap as bootstrap
    from holdrank.analysis.chance.breakdowns import BreakdownInterval as BreakdownInterval
    from holdrank.analysis.chance.breakdowns import breakdown_interval as breakdown_interval
    from holdrank.analysis.chance.rank_sets import RankSets as RankSets
    from holdrank.analysis.chance.rank_sets import rank_sets as rank_sets
    from holdrank.analysis.chance.tables import PairedTests as PairedTests
    from holdrank.analysis.chance.tables import paired_tests as paired_tests
    from holdrank.analysis.leave_one_out import LeaveOneOut as LeaveOneOut
    from holdrank.analysis.leave_one_out import LeftOut as LeftOut
    from holdrank.analysis.leave_one_out import leave_one_out as leave_one_out
    from holdrank.analysis.many import FileBreakdown as FileBreakdown
    from holdrank.analysis.many import breakdowns as breakdowns
    from holdrank.analysis.probes.findings import Finding as Finding
    from holdrank.analysis.removals import Removal as Removal
    from holdrank.analysis.removals import Removals as Removals
    from holdrank.analysis.removals import removals as removals
    from holdrank.analysis.result import Analysis as Analysis
    from holdrank.analysis.spec import Spec as Spec
    from holdrank.analysis.tradeoff import Tradeoff as Tradeoff
    from holdrank.analysis.tradeoff import tradeoff as tradeoff
    from holdrank.analysis.voters import VoterEffects as VoterEffects
    from holdrank.analysis.voters import voter_effects as voter_effects
    from holdrank.attacks.answers import attack as attack
    from holdrank.attacks.answers import breakdown as breakdown
    from holdrank.attacks.estimator.options import PaperOptions as PaperOptions
    from holdrank.attacks.goals import Above as Above
    from holdrank.attacks.goals import Aim as Aim
    from holdrank.attacks.goals import Distance as Distance
    from holdrank.attacks.goals import Enters as Enters
    from holdrank.attacks.goals import Goal as Goal
    from holdrank.attacks.goals import Leaves as Leaves
    from holdrank.attacks.goals import NewWinner as NewWinner
    from holdrank.attacks.goals import TopSet as TopSet
    from holdrank.attacks.goals import Wins as Wins
    from holdrank.attacks.plans import Plan as Plan
    from holdrank.attacks.reach import Reach as Reach
    from holdrank.attacks.reach import reach as reach
    from holdrank.attacks.results import Attack as Attack
    from holdrank.attacks.results import Breakdown as Breakdown
    from holdrank.attacks.voters import VoterAttack as VoterAttack
    from holdrank.attacks.voters import voter_attack as voter_attack
    from holdrank.errors import HoldrankError as HoldrankError
    from holdrank.errors import InputError as InputError
    from holdrank.errors import LimitError as LimitError
    from holdrank.errors import MissingExtraError as MissingExtraError
    from holdrank.errors import UsageError as UsageError
    from holdrank.errors import WorkerError as WorkerError
    from holdrank.files import Validation as Validation
    from holdrank.files import read_votes as read_votes
    from holdrank.files import validate as validate
    from holdrank.files import write_votes as write_votes
    from holdrank.files.large import count_pairs as count_pairs
    from holdrank.parallel import executors as clusters  # noqa: F401
    from holdrank.proofs.verdicts import Check as Check
    from holdrank.proofs.verdicts import Verdict as Verdict
    from holdrank.proofs.verify import fulfils as fulfils
    from holdrank.proofs.verify import verify as verify
    from holdrank.rankings import Ranking as Ranking
    from holdrank.rankings import all_rankings as all_rankings
    from holdrank.rankings import footrule_distance as footrule_distance
    from holdrank.rankings import hausdorff_half as hausdorff_half
    from holdrank.rankings import hausdorff_ns as hausdorff_ns
    from holdrank.rankings import kendall as kendall
    from holdrank.rankings import spearman_rho as spearman_rho
    from holdrank.rules.bradley_terry import bradley_terry as bradley_terry
    from holdrank.rules.consensus import Consensus as Consensus
    from holdrank.rules.consensus import KemenyBatch as KemenyBatch
    from holdrank.rules.consensus import Statistic as Statistic
    from holdrank.rules.consensus import StatisticName as StatisticName
    from holdrank.rules.consensus import borda as borda
    from holdrank.rules.consensus import footrule as footrule
    from holdrank.rules.consensus import kemeny as kemeny
    from holdrank.rules.consensus import kemeny_batch as kemeny_batch
    from holdrank.rules.consensus import kemeny_optima as kemeny_optima
    from holdrank.rules.medians import Median as Median
    from holdrank.rules.merges import Robust as Robust
    from holdrank.rules.merges import downward_merge as downward_merge
    from holdrank.rules.merges import merge_path as merge_path
    from holdrank.rules.merges import naive_merge as naive_merge
    from holdrank.rules.merges import smith_merge as smith_merge
    from holdrank.rules.metrics import Metric as Metric
    from holdrank.rules.optima import SharedOrder as SharedOrder
    from holdrank.rules.optima import shared_order as shared_order
    from holdrank.rules.ratings import Ratings as Ratings
    from holdrank.rules.ratings import StyleEffect as StyleEffect
    from holdrank.rules.registry import auto as auto
    from holdrank.rules.scores import copeland as copeland
    from holdrank.rules.scores import mean_score as mean_score
    from holdrank.rules.style import bradley_terry_with_style as bradley_terry_with_style
    from holdrank.status import Status as Status
    from holdrank.status import Step as Step
    from holdrank.views import report as report
    from holdrank.views.boards import write_leaderboard as write_leaderboard
    from holdrank.votes.changes import Change as Change
    from holdrank.votes.first_shown import FirstShown as FirstShown
    from holdrank.votes.groups import Groups as Groups
    from holdrank.votes.models import BucketMass as BucketMass
    from holdrank.votes.models import Mallows as Mallows
    from holdrank.votes.models import Mixture as Mixture
    from holdrank.votes.models import Model as Model
    from holdrank.votes.models import PlackettLuce as PlackettLuce
    from holdrank.votes.models import PointMass as PointMass
    from holdrank.votes.models import Uniform as Uniform
    from holdrank.votes.models import exact_votes as exact_votes
    from holdrank.votes.models import sample_votes as sample_votes
    from holdrank.votes.pairs import PairCounts as PairCounts
    from holdrank.votes.provenance import Reading as Reading
    from holdrank.votes.voters import Voters as Voters
    from holdrank.votes.votes import Votes as Votes
    from holdrank.words.goals import Deed as Deed
