"""The statements of an analysis, from its record alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from holdrank import __version__
from holdrank.analysis import RULES, Analysis
from holdrank.breaking import goals
from holdrank.breaking.goals import Goal
from holdrank.consensus import borda, name_of
from holdrank.errors import InputError, show
from holdrank.headlines import headline
from holdrank.merge import Robust
from holdrank.proofs.programs import Outcome
from holdrank.rankings import Ranking
from holdrank.records import Record
from holdrank.scoring import copeland
from holdrank.tolerances import SAME
from holdrank.verifying.statements import (
    FEW_ITEMS,
    NO_PROOF,
    ROOM,
    Told,
    attacked_check,
    consensus_check,
    least_check,
    votes_are,
    whole_check,
)
from holdrank.verifying.statistics import Exactly
from holdrank.verifying.verdicts import Check
from holdrank.votes import Votes, percent


def analysis_checks(votes: Votes, analysis: Analysis) -> Iterator[Check]:
    """Check the consensus, the tiers, the attacks and all lower bounds; refuses an analysis of other votes.

    A record holds no attacks for gaps, places at the cut, curves and reach: what is enough there is not checked.
    """
    record = analysis.record
    if list(votes.items) != record["items"] or votes.input_hash != record["votes"]["input_hash"]:
        raise InputError(
            "these are not the votes of the analysis",
            expected=f"votes with the hash {record['votes']['input_hash'][:12]}",
            found=votes.input_hash[:12],
            repair="read the file with the same options as for the analysis",
        )
    rule = record["spec"]["rule"]
    if rule not in RULES:
        raise InputError("the analysis is by a rule that there is not", expected=", ".join(RULES), found=rule)
    if record["headline"] != headline(record):
        here = record["version"] == __version__  # another one may have other words for the same
        note = f"the record says: {headline(record)}"
        yield Check(f"headline: {show(record['headline'], 200)}", "refuted" if here else "open", note)
    median, ranks = Exactly(votes, RULES[rule]), tuple(record["consensus"]["ranks"])
    yield consensus_check(median, _told(record["consensus"]))
    reported, shown = median, ranks
    merged = record["tiers"]
    if merged is not None:
        reported = Exactly(votes, Robust(RULES[rule], merged["theta"], merged["merge"]))
        shown = tuple(merged["ranks"])
        yield consensus_check(reported, _told(merged)._replace(unique=None))
    yield from _recorded_attack(reported, record["attack"], shown, _against_the_top(shown))
    for row in record["claims"]:
        if row["attack"] is not None:
            said = goals.claimed(row["claim"], votes.items)
            checker, before = (median, ranks) if isinstance(said, goals.Above) else (reported, shown)
            goal = goals.goal_against(said, votes.items, Ranking(before), tiers=False)
            yield from _recorded_attack(checker, row["attack"], before, goal)
    yield from _gaps_and_cut(median, reported, record)
    yield from _curves(median, reported, record)


def _told(consensus: Record) -> Told:
    unique = consensus["unique"] if consensus["exact"] else None
    return Told(tuple(consensus["ranks"]), unique, consensus["loss"], consensus["bound"], str(consensus["distance"]))


def _against_the_top(ranks: Outcome) -> Goal:
    pairs = len(ranks) * (len(ranks) - 1) / 2
    return goals.Distance(1 / pairs) if len(set(ranks)) == 1 and pairs else goals.NewWinner()


def _recorded_attack(checker: Exactly, told: Record | None, before: Outcome, goal: Goal | None) -> Iterator[Check]:
    if told is None:
        return
    if goal is None:
        yield Check(f"there is an attack: {show(told['text'], 200)}", "refuted", "the claim does not hold as it is")
        return
    votes = checker.votes
    lower, needed, sufficient = (_number(told[name]) for name in ("lower", "needed", "sufficient"))
    least = least_check(checker, [(goal, lower)], before, told["change"])
    yield least
    yield from whole_check(votes, goal, least, lower, needed, sufficient)
    parts = [told["removed"], told["added"]]
    if not any(part["kinds"] for part in parts):
        return
    if told["whole"] and told["sufficient"] is not None:
        claim = f"{votes_are(told['sufficient'])} enough for {goal.text()}, as the attack shows"
        price = Fraction(told["sufficient"]) / Fraction(votes.total)
    else:
        most = 1.0 if told["upper"] is None else told["upper"]
        claim = f"the attack for {goal.text()} reaches it, and takes no more than {percent(most)}"
        price = Fraction(most) + ROOM
    if any(part["kinds"] > len(part["listed"]) for part in parts):
        yield Check(claim, "open", "the record does not list all of its ballots")
    elif checker.base == "mean score":
        yield Check(claim, "open", "the record does not hold its scores")
    else:
        yield _replayed(checker, goal, before, told, price, claim)


def _replayed(checker: Exactly, goal: Goal, before: Outcome, told: Record, price: Fraction, claim: str) -> Check:
    """Do what a recorded attack does, and look where it leads."""
    votes = checker.votes
    weights = {tuple(row): weight for row, weight in zip(votes.ranks.tolist(), votes.weights.tolist(), strict=True)}
    for sign, part in ((-1, told["removed"]), (1, told["added"])):
        for ballot in part["listed"]:
            kind = tuple(ballot["ranks"])
            weights[kind] = weights.get(kind, 0.0) + sign * ballot["weight"]
    if min(weights.values()) < -SAME * votes.total:
        return Check(claim, "refuted", "it takes away ballots that there are not")
    left = {kind: weight for kind, weight in weights.items() if weight > SAME * votes.total}
    if not left:
        return Check(claim, "refuted", "it leaves no votes")
    attacked = Votes.from_ranks(
        np.array(list(left)), weights=list(left.values()), items=votes.items, unlisted=votes.unlisted
    )
    return attacked_check(checker, goal.aim(Ranking(before), votes.items), attacked, told["change"], price, claim)


def _gaps_and_cut(median: Exactly, reported: Exactly, record: Record) -> Iterator[Check]:
    votes, ranks = median.votes, tuple(record["consensus"]["ranks"])
    shown = tuple((record["tiers"] or record["consensus"])["ranks"])
    sizes = [len(bucket) for bucket in Ranking(shown).buckets]
    for k, gap in zip(np.cumsum(sizes)[:-1].tolist(), record["gaps"], strict=False):
        if gap["known"]:
            yield least_check(reported, [(goals.TopSet(k), _number(gap["lower"]))], shown, "replace")
    if record["cut"] is None:
        return
    k = record["cut"]["k"]
    for row in record["cut"]["items"]:
        name = votes.items[row["item"]]
        goal: Goal = goals.Leaves(name, k) if row["inside"] else goals.Enters(name, k)
        yield least_check(median, [(goal, _number(row["lower"]))], ranks, "replace")


def _curves(median: Exactly, reported: Exactly, record: Record) -> Iterator[Check]:
    votes = median.votes
    known = {name_of(one.T): one for one in (*(Exactly(votes, T) for T in (borda, copeland)), reported, median)}
    for curve in record["curves"]:
        claim = f"no cheaper attack on {show(curve['statistic'], 80)} moves it as far as told"
        checker = known.get(curve["statistic"])
        if checker is None or checker.base is None:
            yield Check(claim, "open", NO_PROOF)
        elif votes.n > FEW_ITEMS:
            yield Check(claim, "open", f"more than {FEW_ITEMS} items")
        else:
            rows = zip(curve["delta"], curve["lower"], strict=True)
            asked: list[tuple[Goal, float]] = [(goals.Distance(delta), _number(low)) for delta, low in rows]
            yield least_check(checker, asked, checker.consensus(), "replace", claim)


def _number(value: float | None) -> float:
    return math.inf if value is None else value
