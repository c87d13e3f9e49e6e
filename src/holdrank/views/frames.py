"""Results as columns: for data frames of any library, and for the tables of notebooks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, TypeAlias

from holdrank.analysis.audit import Audit
from holdrank.analysis.board import Leaderboard
from holdrank.analysis.bootstrap import Bootstrap
from holdrank.analysis.chance.breakdowns import BreakdownInterval
from holdrank.analysis.chance.rank_sets import RankSets
from holdrank.analysis.chance.tables import PairedTests
from holdrank.analysis.leave_one_out import LeaveOneOut
from holdrank.analysis.many import FileBreakdown
from holdrank.analysis.removals import Removals
from holdrank.analysis.tradeoff import Tradeoff
from holdrank.analysis.voters import VoterEffects
from holdrank.attacks.results import Attack, Breakdown
from holdrank.errors import UsageError, quote
from holdrank.proofs.verdicts import Verdict
from holdrank.rankings import Ranking
from holdrank.rules.consensus import Consensus
from holdrank.rules.ratings import Ratings

Columns: TypeAlias = dict[str, list[Any]]
_BACKENDS = ("pandas", "polars", "pyarrow")
_SHARES = ("delta", "lower", "upper")
_WHOLE = ("votes_needed", "votes_to_tie", "votes_to_decide", "votes_sufficient")


def frame_of(found: object, backend: str | None = None) -> Any:
    """Return a result as a data frame of the library `backend`, or of the first one that is installed."""
    installed = [name for name in _BACKENDS if find_spec(name) is not None]
    if backend is not None and backend not in _BACKENDS:
        raise UsageError(f"backend must be one of {', '.join(_BACKENDS)}, not {quote(str(backend))}")
    if not installed or backend not in (None, *installed):
        wanted = backend or _BACKENDS[0]
        raise UsageError(f"to_frame needs {wanted}, which is not installed", repair=f"pip install {wanted}")
    import narwhals.stable.v1 as nw

    return nw.from_dict(columns_of(found), backend=backend or installed[0]).to_native()  # type: ignore[arg-type]


def columns_of(found: object) -> Columns:
    """Return the columns of a result, plain numbers and text."""
    makers: dict[type, Callable[[Any], Columns]] = {
        Consensus: _consensus,
        Attack: _attack,
        Breakdown: _breakdown,
        FileBreakdown: _breakdown,
        Bootstrap: _bootstrap,
        RankSets: _rank_sets,
        BreakdownInterval: _interval,
        PairedTests: _paired_tests,
        Tradeoff: _tradeoff,
        Ratings: _ratings,
        Leaderboard: lambda board: _of_rows(board.columns, board.rows),
        LeaveOneOut: lambda left: _of_rows(left.columns, left.rows()),
        Removals: _removals,
        VoterEffects: lambda crowd: _of_rows(_VOTERS, crowd.rows()),
        Audit: lambda audit: _of_rows(_PROBES, audit.rows()),
        Verdict: lambda verdict: {
            name: [getattr(check, name) for check in verdict.checks] for name in ("claim", "finding", "note")
        },
    }
    return next(make(found) for kind, make in makers.items() if isinstance(found, kind))


_PROBES = ("probe", "state", "value", "lower", "upper", "bar", "finding", "adversary")
_VOTERS = ("voter", "battles", "effect", "lead_without", "new_winner")


def _of_rows(names: Sequence[str], rows: Sequence[Any]) -> Columns:
    return {name: [row[name] for row in rows] for name in names}


def _places(items: Sequence[str], ranking: Ranking) -> Columns:
    order = list(ranking.order)
    return {"item": [items[k] for k in order], "place": ranking.places[order].astype(float).tolist()}


def _consensus(found: Consensus) -> Columns:
    order = list(found.ranking.order)
    columns = _places(found.items, found.ranking) | {"tier": found.ranking.ranks[order].tolist()}
    if found.has_ratings:
        rated = found.ratings()
        for name, values in (("", rated.values), ("_lower", rated.lower), ("_upper", rated.upper)):
            columns[f"rating{name}"] = values[order].tolist()
    return columns


def _ratings(found: Ratings) -> Columns:
    order = (-found.values).argsort(kind="stable").tolist()  # NaN comes last
    columns: Columns = {"item": [found.items[k] for k in order], "rating": found.values[order].tolist()}
    named = {"error": found.errors, "lower": found.lower, "upper": found.upper, "comparisons": found.comparisons}
    return columns | {name: values[order].tolist() for name, values in named.items()}


def _attack(found: Attack) -> Columns:
    best = found.whole or found
    rows = [(change, weight, ballot) for change, part in (("removed", best.removed), ("added", best.added))
            for ballot, weight in part]  # fmt: skip
    return {name: [row[k] for row in rows] for k, name in enumerate(("change", "votes", "ballot"))}


def _breakdown(found: Breakdown | FileBreakdown) -> Columns:
    columns: Columns = {name: getattr(found, name).tolist() for name in _SHARES}
    columns["exact"] = (found.lower == found.upper).tolist()
    columns |= {name: getattr(found, name).tolist() for name in _WHOLE}
    if isinstance(found, Breakdown) and found.estimate is not None:
        columns["estimate"] = found.estimate.tolist()
    return columns


def _bootstrap(found: Bootstrap) -> Columns:
    order = list(found.consensus.ranking.order)
    names = ("best", "median", "worst", "first")
    return _places(found.items, found.consensus.ranking) | {
        name: getattr(found, name)[order].tolist() for name in names
    }


def _paired_tests(found: PairedTests) -> Columns:
    pairs = [(i, j) for at, i in enumerate(found.order) for j in found.order[at + 1 :]]
    return {
        "item": [found.items[i] for i, _ in pairs],
        "other": [found.items[j] for _, j in pairs],
        "rank_difference": [float(found.mean_ranks[j] - found.mean_ranks[i]) for i, j in pairs],
        "p_value": [float(found.p_values[pair]) for pair in pairs],
        "nemenyi_p": [float(found.nemenyi_p[pair]) for pair in pairs],
    }


def _rank_sets(found: RankSets) -> Columns:
    order = list(found.consensus.ranking.order)
    names = ("lower", "upper", "marginal_lower", "marginal_upper")
    return _places(found.items, found.consensus.ranking) | {
        name: getattr(found, name)[order].tolist() for name in names
    }


def _interval(found: BreakdownInterval) -> Columns:
    ends = (found.lower, found.upper) if found.known else (math.nan, math.nan)
    row = (found.attack.goal.text(), found.estimate, *ends, found.level, found.method, found.draws)
    names = ("goal", "estimate", "lower", "upper", "level", "method", "draws")
    return {name: [value] for name, value in zip(names, row, strict=True)}


def _tradeoff(found: Tradeoff) -> Columns:
    columns: Columns = {name: getattr(found, name).tolist() for name in ("theta", "loss", "lower", "upper", "pareto")}
    columns["best"] = [k == found.best for k in range(len(found.theta))]
    columns["tiers"] = [len(ranking.buckets) for ranking in found.rankings]
    columns["order"] = [ranking.text(found.base.items) for ranking in found.rankings]
    return columns


def _removals(found: Removals) -> Columns:
    return {
        "item": [one.item for one in found.each],
        "flips": [len(one.flips) for one in found.each],
        "winner": [", ".join(one.winners) for one in found.each],
        "new_winner": [one.new_winner for one in found.each],
        "order": [one.ranking.text(one.items) for one in found.each],
    }
