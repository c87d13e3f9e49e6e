"""Results as plain data, for JSON and for every page, with their schema: items are numbers, infinity is None."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias, cast

import numpy as np

from holdrank import __version__
from holdrank.analysis.bootstrap import Bootstrap
from holdrank.analysis.removals import Removals
from holdrank.analysis.tradeoff import Tradeoff
from holdrank.analysis.voters import VoterEffects
from holdrank.attacks.results import Attack, Breakdown, amounts
from holdrank.attacks.voters import VoterAttack
from holdrank.errors import InputError, quote, show
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.consensus import Consensus, StatisticName
from holdrank.rules.optima import shared_facts
from holdrank.rules.ratings import Ratings
from holdrank.votes.votes import Votes
from holdrank.votes.wins import pair_shares
from holdrank.words.prices import AMOUNTS

Record: TypeAlias = dict[str, Any]

SCHEMA = "holdrank-analysis-1"
_DEEPEST = 50  # lists and objects inside each other
RATING_COLUMNS = ("strengths", "values", "errors", "lower", "upper", "comparisons")
_MOST_BALLOTS = 200  # distinct ballots of an attack that are listed


def finite(value: float) -> float | None:
    """Return a number for JSON, which has no infinity and no nan."""
    return float(value) if math.isfinite(value) else None


def votes_record(votes: Votes) -> Record:
    """Return what was read, without the ballots."""
    return {
        "source": votes.reading.file,
        "sha256": votes.reading.sha256,
        "input_hash": votes.input_hash,
        "format": votes.reading.format,
        "total": votes.total,
        "distinct": votes.distinct,
        "counts": votes.is_counts,
        "with_ties": votes.with_ties,
        "incomplete": votes.incomplete,
        "unlisted": votes.unlisted,
        "choices": dict(votes.reading.choices),
        "notes": list(votes.notes),
    }


def consensus_record(found: Consensus) -> Record:
    """Return a consensus."""
    return {
        "ranks": found.ranking.ranks.tolist(),
        "loss": found.loss,
        "bound": found.bound,
        "distance": found.distance,
        "unique": found.unique,
        "exact": found.status.is_exact,
        "status": found.status.value,
        "proof": found.proof,
        "notes": list(found.notes),
    }


def ranking_record(rule: str, found: Consensus) -> Record:
    """Return the consensus of a rule, with the order of its items."""
    return {"rule": rule, "order": list(found.ranking.order), **consensus_record(found)}


def consensus_and_optima(votes: Votes, rule: str, found: Consensus, seconds: float | None) -> Record:
    """Return the consensus of a rule, and what all optimal rankings share."""
    return {"consensus": ranking_record(rule, found), "optima": shared_facts(votes, rule, found, seconds)}


def ratings_record(found: Ratings) -> Record:
    """Return ratings."""
    return {
        **{name: [finite(x) for x in getattr(found, name).tolist()] for name in RATING_COLUMNS},
        "level": found.level,
        "scale": found.scale,
        "base": found.base,
        "offset": found.offset,
        "anchor": None if found.anchor is None else found.items.index(found.anchor),
        **({} if found.ties == "half" else {"ties": found.ties, "tie": found.tie}),
        "notes": list(found.notes),
    }


def tiers_record(theta: float, merge: str, found: Consensus, *, auto: bool) -> Record:
    """Return the tiers of a consensus at a threshold, which was chosen or given."""
    return {"theta": theta, "auto": auto, "merge": merge, **consensus_record(found)}


def reported_record(found: Consensus, statistic: StatisticName, *, auto: bool = False) -> Record:
    """Return what a statistic reports: ``consensus``, or ``tiers`` where it is a merge."""
    if statistic.theta is None or statistic.merge is None:
        return {"consensus": ranking_record(statistic.rule, found)}
    return {"tiers": tiers_record(statistic.theta, statistic.merge, found, auto=auto)}


def removals_record(found: Removals) -> Record:
    """Return the effect of removing each item on the others."""
    number = {name: k for k, name in enumerate(found.consensus.items)}
    rows = []
    for one in found.each:
        k, ranks = number[one.item], one.ranking.ranks.tolist()
        rows.append(
            {
                "item": k,
                "ranks": [*ranks[:k], None, *ranks[k:]],
                "flips": [[number[above], number[below]] for above, below in one.flips],
                "new_winner": one.new_winner,
                "status": one.status.value,
            }
        )
    return {"removals": rows, "status": found.status.value}


def removals_in_short(found: Removals) -> Record:
    """Return the effect of removing each item on the others, with the number of pairs that flip."""
    each = [{"flipped": len(row.pop("flips")), **row} for row in removals_record(found)["removals"]]
    return {"each": each, "status": found.status.value}


def voters_record(found: VoterEffects, attacks: Sequence[VoterAttack]) -> Record:
    """Return the voters who matter, and how many are needed to reverse the race."""
    items = found.consensus.items
    ends = {"needed": "needed", "ties": "to_tie", "decides": "to_decide", "sufficient": "sufficient"}
    rows = [
        {
            "goal": one.goal.text(),
            "change": one.change.value,
            "cap": one.cap,
            **{name: finite(getattr(one, f"voters_{end}")) for name, end in ends.items()},
            "voters": list(one.voters),
            "text": one.text(),
            "status": one.status.value,
        }
        for one in attacks
    ]
    race = [items.index(found.above), items.index(found.below)]
    return {"race": race, "lead": found.lead, "voters": found.rows(), "attacks": rows}


def voters_in_short(found: VoterEffects, attacks: Sequence[VoterAttack], most: int) -> Record:
    """Return the voters who matter most, how many decide alone, and how many are needed to reverse the race."""
    every = voters_record(found, attacks)
    counts = {"number": len(found.voters), "deciding": len(found.deciding)}
    rows = [{**row, "voters": row["voters"][:most]} for row in every["attacks"]]
    return {**every, **counts, "voters": every["voters"][:most], "attacks": rows}


def path_record(path: Sequence[tuple[float, Ranking]]) -> Record:
    """Return the tiers at every threshold of a merge: their sizes along the order of the consensus."""
    return {"theta": [theta for theta, _ in path], "sizes": [_sizes(ranking) for _, ranking in path]}


def _sizes(ranking: Ranking) -> list[int]:
    return [len(bucket) for bucket in ranking.buckets]


def other_record(rule: str, found: Consensus, votes: Votes) -> Record:
    """Return the ranking of another rule, with its Kendall loss."""
    ranks = found.ranking.ranks.tolist()
    return {"rule": rule, "ranks": ranks, "loss": votes.loss(found.ranking), "status": found.status.value}


def pairs_record(votes: Votes, order: Sequence[int]) -> Record:
    """Return the pairwise shares in the order of the consensus, and how many votes compare each pair."""
    wins = votes.wins()[np.ix_(order, order)]
    compared = wins + wins.T
    off = compared[~np.eye(len(order), dtype=bool)]
    alike = bool(off.size == 0 or (off == off[0]).all())
    return {
        "share": np.round(pair_shares(wins), 4).tolist(),
        "compared": [[float(off[0]) if off.size else 0.0]] if alike else np.round(compared, 6).tolist(),
    }


def attack_record(found: Attack, after: Ranking | None, *, most: int | None = _MOST_BALLOTS) -> Record:
    """Return an attack with the ballots to change: whole votes where they are known.

    `after` is the consensus after just that attack, `most` how many distinct ballots are listed, None for all.
    """
    best = found.whole or found
    plan = best.plan
    return {
        "goal": found.goal.text(),
        "text": found.text(),
        "change": found.change,
        **found.statistic.facts(),
        **amounts(found),
        "verified": found.verified,
        "exact": found.exact,
        "status": found.status.value,
        "notes": list(found.notes),
        "before": found.before.ranking.ranks.tolist(),
        "after": None if after is None else after.ranks.tolist(),
        "whole": found.whole is not None,
        "removed": _ballots(
            found.original.ranks, np.zeros(0) if plan is None else plan.removed, found.original.scores, most
        ),
        "added": {"kinds": 0, "listed": []} if plan is None else _ballots(plan.ranks, plan.added, plan.scores, most),
    }


def _ballots(ranks: Ints, weights: Floats, scores: Floats | None, most: int | None) -> Record:
    """Return ballots by falling weight: the first of them, and how many there are."""
    rows = np.flatnonzero(weights > 0)
    rows = rows[np.argsort(-weights[rows], kind="stable")]
    listed: list[Record] = []
    for row in rows[:most].tolist():
        listed.append({"ranks": ranks[row].tolist(), "weight": float(weights[row])})
        if scores is not None:
            listed[-1]["scores"] = [finite(score) for score in scores[row].tolist()]
    return {"kinds": len(rows), "listed": listed}


def bootstrap_record(drawn: Bootstrap) -> Record:
    """Return a bootstrap."""
    return {
        "draws": drawn.draws,
        "level": drawn.level,
        "seed": drawn.seed,
        "unchanged": drawn.unchanged,
        **{name: getattr(drawn, name).tolist() for name in ("best", "median", "worst", "first")},
        "status": drawn.status.value,
    }


def curve_record(found: Breakdown) -> Record:
    """Return a breakdown curve; for the paper's algorithm also with its estimate and constants."""
    paper: Record = {}
    if found.estimate is not None and found.options is not None:
        paper = {"estimate": found.estimate.tolist(), "options": found.options.plain()}
    return {
        **found.statistic.facts(),
        "method": found.method,
        "distance": str(found.distance),
        "seed": found.seed,
        "delta": found.delta.tolist(),
        "lower": [finite(x) for x in found.lower.tolist()],
        "upper": [finite(x) for x in found.upper.tolist()],
        "needed": [finite(x) for x in found.votes_needed.tolist()],
        "ties": [finite(x) for x in found.votes_to_tie.tolist()],
        "decides": [finite(x) for x in found.votes_to_decide.tolist()],
        "sufficient": [finite(x) for x in found.votes_sufficient.tolist()],
        **paper,
        "status": found.status.value,
        "notes": list(found.notes),
    }


def tradeoff_record(found: Tradeoff) -> Record:
    """Return a trade-off."""
    return {
        "theta": found.theta.tolist(),
        "loss": found.loss.tolist(),
        "lower": [finite(x) for x in found.lower.tolist()],
        "upper": [finite(x) for x in found.upper.tolist()],
        "pareto": found.pareto.tolist(),
        "sizes": [_sizes(ranking) for ranking in found.rankings],
        "best": found.best,
        "tolerance": found.tolerance,
        "delta": finite(found.delta),
        "distance": found.distance,
        "goal": None if found.goal is None else found.goal.text(),
        "status": found.status.value,
    }


def flaw_record(found: InputError) -> Record:
    """Return what is wrong with a file, and where."""
    names = ("problem", "source", "line", "column", "found", "expected", "repair")
    return {"text": str(found), **{name: getattr(found, name) for name in names}}


def command_record(command: str, votes: Votes | None, **parts: Any) -> Record:
    """Return the JSON of a command: parts of the record of an analysis, under the same names."""
    head: Record = {"schema": SCHEMA, "version": __version__, "command": command}
    if votes is not None:
        head |= {"items": list(votes.items), "votes": votes_record(votes)}
    return {**head, **parts}


def seal_of(record: Record) -> str:
    """Return the SHA-256 of a record without times, independent of the layout of its JSON.

    It shows that nothing was edited, by hand or by accident. It does not show who made the record. The same votes and
    the same spec give the same seal, unless a time limit cuts an analysis short.
    """
    said = {name: part for name, part in record.items() if name != "seal"}
    said["steps"] = [{**step, "seconds": 0, "ended": 0} for step in record["steps"]]
    text = json.dumps(_plain(said), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Return JSON with all numbers as floats, because 1 and 1.0 are the same number to most programs."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


# The schema: the few words of JSON Schema that it uses.


@cache
def schema() -> Record:
    """Return the JSON schema of the record of an analysis."""
    text = files("holdrank").joinpath("analysis/analysis.schema.json").read_text("utf-8")
    found: Record = json.loads(text)
    return found


def mismatch(record: object) -> str:
    """Return where and how a record does not fit the schema; empty if it does."""
    if isinstance(record, dict) and record.get("schema", SCHEMA) != SCHEMA:
        return f"schema is not {SCHEMA!r}"  # all else would follow from this
    return _mismatch(record, schema(), "") or _misfit(cast("Record", record))


def command_mismatch(record: Record) -> str:
    """Return where and how the JSON of a command does not fit its part of the schema; empty if it does."""
    return _mismatch(record, schema()["$defs"][f"command-{record['command']}"], "")


def _misfit(record: Record) -> str:
    """Return where a record of the right form refers to items that it does not have; empty if nowhere."""
    n = len(record["items"])
    if not n or len(set(record["items"])) < n:
        return "items is empty or has a duplicate name"
    attacks = [
        ("attack", record["attack"]),
        *((f"claims[{k}]", row["attack"]) for k, row in enumerate(record["claims"])),
    ]
    rankings = [(name, record[name]["ranks"]) for name in ("consensus", "tiers") if record[name] is not None]
    rankings += [(f"others[{k}]", row["ranks"]) for k, row in enumerate(record["others"])]
    for name, found in attacks:
        if found is not None:
            rankings += [(f"{name}.{part}", found[part]) for part in ("before", "after") if found[part] is not None]
            ballots = [*found["removed"]["listed"], *found["added"]["listed"]]
            sizes = {len(row) for ballot in ballots for row in (ballot["ranks"], ballot.get("scores", ballot["ranks"]))}
            if not sizes <= {n} or any(not 0 <= rank <= n for ballot in ballots for rank in ballot["ranks"]):
                return f"{name} lists a ballot that does not fit the {n} items"
    for name, ranks in rankings:
        if len(ranks) != n or not all(1 <= rank <= n for rank in ranks):
            return f"the ranks of {name} do not fit the {n} items"
    if record["consensus"] is not None and sorted(record["consensus"]["order"]) != list(range(n)):
        return f"consensus.order is not an order of the {n} items"
    if record["cut"] is not None and any(not 0 <= row["item"] < n for row in record["cut"]["items"]):
        return f"cut names an item beyond the {n} items"
    left = record.get("removals")
    for k, row in enumerate([] if left is None else left["each"]):
        others = [rank for i, rank in enumerate(row["ranks"]) if i != row["item"]]
        fits = 0 <= row["item"] < n == len(row["ranks"]) and row["ranks"][row["item"]] is None
        if not fits or None in others or not all(1 <= rank < n for rank in others):
            return f"removals.each[{k}] does not fit the {n} items"
    columns_of = {
        "ratings": RATING_COLUMNS,
        "reach": ("best", "worst", "shown_best", "shown_worst"),
        "bootstrap": ("best", "median", "worst", "first"),
        "chance": ("lower", "upper", "marginal_lower", "marginal_upper"),
        "mean_ranks": ("values",),
    }
    for name, columns in columns_of.items():
        if record.get(name) is not None and any(len(record[name][column]) != n for column in columns):
            return f"the columns of {name} do not fit the {n} items"
    ranked = record.get("mean_ranks")
    if ranked is not None:
        known = not ranked["tasks"] or None not in (*ranked["values"], ranked["critical_difference"])
        if not known or any(not 0 <= item < n for group in ranked["groups"] for item in group):
            return f"mean_ranks does not fit the {n} items"
    for k, curve in enumerate(record["curves"]):
        if len({len(curve[name]) for name in ("delta", *AMOUNTS)}) > 1:
            return f"the columns of curves[{k}] differ in length"
    return ""


_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def _mismatch(value: object, rule: Mapping[str, Any], at: str, depth: int = 0) -> str:
    if "$ref" in rule:
        return _mismatch(value, schema()["$defs"][rule["$ref"].removeprefix("#/$defs/")], at, depth)
    here = show(at, 80) or "the record"
    if depth > _DEEPEST:
        return f"{here} is nested too deeply"
    if isinstance(value, int | float) and not abs(value) <= sys.float_info.max:
        return f"{here} is too large"  # such as 1e999, which is infinite once it is read
    if "const" in rule and value != rule["const"]:
        return f"{here} is not {rule['const']!r}"
    if "enum" in rule and value not in rule["enum"]:
        return f"{here} is not one of {', '.join(map(str, rule['enum']))}"
    kinds = rule.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(
        isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool)) for kind in kinds
    ):
        return f"{here} must be of type {' or '.join(kinds)}"
    if isinstance(value, dict):
        for name in rule.get("required", []):
            if name not in value:
                return f"{here} has no {name!r}"
        inner = rule.get("properties", {})
        for name, part in value.items():
            known = inner.get(name, rule.get("additionalProperties", {}))
            if known is False:
                return f"{here} has an unknown {quote(str(name), 40)}"
            problem = _mismatch(part, known, f"{at}.{name}" if at else str(name), depth + 1)
            if problem:
                return problem
    if isinstance(value, list):
        for k, part in enumerate(value):
            problem = _mismatch(part, rule.get("items", {}), f"{at}[{k}]", depth + 1)
            if problem:
                return problem
    return ""


def no_constant(name: str) -> None:
    """Refuse what Python writes for infinity and nan, which is not JSON."""
    raise ValueError(f"{name} is not JSON")
