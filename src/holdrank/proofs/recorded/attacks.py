"""Attacks with the ballots that the record lists, and numbers that come without ballots.

If a record does not hold the attack behind a number, the engine proposes one, which is checked like any other: run in
whole numbers on the votes, at exactly that price.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from holdrank import __version__
from holdrank.analysis.records import Record
from holdrank.arrays.tolerances import NUDGE, SAME
from holdrank.attacks import goals
from holdrank.attacks.answers import attack
from holdrank.attacks.goals import Goal, deed_of
from holdrank.attacks.plans import Plan
from holdrank.attacks.whole import plan_votes
from holdrank.errors import HoldrankError, show
from holdrank.proofs.attacks import amounts_checks
from holdrank.proofs.claims import Amounts, Plans, Question, Told
from holdrank.proofs.recorded.record import Recorded, amounts_of
from holdrank.proofs.statistics import LISTED, Exactly
from holdrank.proofs.verdicts import Check
from holdrank.rankings import Ranking
from holdrank.rules.consensus import name_of
from holdrank.status import Status
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes
from holdrank.words.attacks import attack_text
from holdrank.words.attacks import told as facts_of
from holdrank.words.nouns import noun_of


def against_the_top(recorded: Recorded) -> Goal:
    """Return the goal that makes the headline false."""
    ranks = recorded.shown.ranks
    pairs = recorded.n * (recorded.n - 1) / 2
    return goals.Distance(1 / pairs) if len(set(ranks)) == 1 and pairs else goals.NewWinner()


def claim_checks(recorded: Recorded, row: Record) -> Iterator[Check]:
    """Check a claim, and the votes needed to break it."""
    said = goals.claimed(row["claim"], recorded.votes.items)
    order = isinstance(said, goals.Above)  # which tiers do not keep
    checker, told = (recorded.median, recorded.told) if order else (recorded.reported, recorded.shown)
    goal = goals.goal_against(said, recorded.votes.items, Ranking(told.ranks), tiers=False)
    if row["holds"] != (goal is not None):
        yield Check(f"{show(row['claim'], 80)}: {row['holds']}", "refuted", "the opposite is true")
    if goal is not None and row["attack"] is None:
        yield Check(
            f"the votes needed against {show(row['claim'], 80)}", "open", "it was not tested within the time limit"
        )
    yield from attack_checks(recorded, checker, told, row["attack"], goal)


def attack_checks(
    recorded: Recorded, checker: Exactly, told: Told, found: Record | None, goal: Goal | None
) -> Iterator[Check]:
    """Check an attack with the ballots that the record lists."""
    if found is None:
        return
    claim = f"there is an attack: {show(found['text'], 200)}"
    if goal is None:
        yield Check(claim, "refuted", "the claim does not hold now")
        return
    if found["goal"] != goal.text() or not is_of(found, checker):
        yield Check(claim, "refuted", "it has another goal")
    if tuple(found["before"]) != told.ranks:
        yield Check(claim, "refuted", "it attacks another consensus")
    amounts = amounts_of(found, recorded.votes)
    if found["exact"] != (amounts.lower == amounts.upper):
        yield Check(claim, "refuted", "its status and its bounds contradict each other")
    question = Question(checker, told, goal, Change(found["change"]))
    if (said := _sentence(question, found, recorded.record["votes"])) != found["text"]:
        here = recorded.record["version"] == __version__  # another version may use other words
        yield Check(claim, "refuted" if here else "open", f"its numbers say: {said}")
    plans = proposed(recorded, question, amounts)
    listed, fault = _listed_plan(checker, found)
    if found["verified"] != (found["upper"] is not None):
        yield Check(claim, "refuted", "it has a price but was not run, or was run without a price")
    if fault:
        yield Check(claim, *fault)
    elif listed is not None:  # the numbers of the record count, not those of the engine
        plans = plans._replace(whole=listed) if found["whole"] else plans._replace(shares=listed)
    yield from amounts_checks(question, told, amounts, plans)
    if listed is not None and found["after"] is not None and recorded.n <= LISTED and checker.base is not None:
        attacked = Exactly(listed.applied(checker.votes), checker.T) if plan_votes(listed) else checker
        if attacked.consensus() != tuple(found["after"]):
            yield Check(claim, "refuted", "the consensus after it is different")


def is_of(found: Record, checker: Exactly) -> bool:
    """Whether a part of a record belongs to the checked statistic, by name and facts."""
    facts = name_of(checker.T).facts()
    return {name: found[name] for name in facts} == facts


def _sentence(question: Question, found: Record, read: Record) -> str:
    """Return the sentence for the numbers of an attack; `read` says what one vote is called."""
    if found["status"] not in list(Status):
        return f"there is no status {show(found['status'], 80)}"
    votes = question.checker.votes
    about = {"counts": votes.is_counts, "total": votes.total}
    estimate = Status(found["status"]) is Status.ESTIMATE
    deed = deed_of(question.goal, found["before"], tiers=found["theta"] is not None)
    return attack_text(facts_of(found, about, deed, found["change"], estimate=estimate, noun=noun_of(read)))


def _listed_plan(checker: Exactly, found: Record) -> tuple[Plan | None, tuple[Any, str] | None]:
    """Return the attack that a record lists, or why there is none."""
    parts = [found["removed"], found["added"]]
    if any(part["kinds"] != len(part["listed"]) for part in parts):
        short = any(part["kinds"] > len(part["listed"]) for part in parts)
        return None, ("open" if short else "refuted", "the record does not list all of its ballots")
    if not any(part["kinds"] for part in parts):
        return None, None
    votes = checker.votes
    row_of = {_key(row, score): k for k, (row, score) in enumerate(_rows(votes))}
    removed = np.zeros(votes.distinct)
    for ballot in parts[0]["listed"]:
        row = row_of.get(_key(ballot["ranks"], ballot.get("scores")))
        if row is None or ballot["weight"] > votes.weights[row] - removed[row] + SAME * votes.total:
            return None, ("refuted", "it removes ballots that do not exist")
        removed[row] += ballot["weight"]
    added = parts[1]["listed"]
    if any(ballot["weight"] <= 0 for part in parts for ballot in part["listed"]):
        return None, ("refuted", "it changes a negative number of votes")
    ranks = np.array([ballot["ranks"] for ballot in added], dtype=np.int64).reshape(len(added), votes.n)
    if len(ranks) and any(tuple(row) != tuple(Votes.from_ranks([row]).ranks[0].tolist()) for row in ranks.tolist()):
        return None, ("refuted", "the ranks of an added ballot have gaps")
    scores = None
    if votes.scores is not None and added:
        rows = [[math.nan if s is None else s for s in ballot.get("scores", [None] * votes.n)] for ballot in added]
        scores = np.array(rows, dtype=np.float64).reshape(len(added), votes.n)
    plan = Plan(removed, ranks, np.array([ballot["weight"] for ballot in added], dtype=np.float64), scores)
    if plan.leaves_nothing(votes):
        return None, ("refuted", "it leaves no votes")
    return plan, None


def proposed(recorded: Recorded, question: Question, told: Amounts) -> Plans:
    """Return attacks at the reported prices, as far as the engine proposes some."""
    votes = question.checker.votes
    if recorded.n > LISTED or question.checker.base is None:
        return Plans(None, None, None)
    try:
        found = attack(votes, question.checker.T, question.goal, change=question.change, time_limit=recorded.seconds())
    except HoldrankError:
        return Plans(None, None, None)
    plan, whole, tie = found.plan, found.whole_plan, found.tie_plan
    fits = plan is not None and told.upper - SAME <= plan.budget(votes) <= told.upper + NUDGE + SAME
    return Plans(
        plan if fits else None,
        whole if whole is not None and plan_votes(whole) == told.sufficient else None,
        tie if tie is not None and plan_votes(tie) == told.ties else None,
    )


def number_checks(recorded: Recorded, checker: Exactly, told: Told, goal: Goal, row: Record) -> Iterator[Check]:
    """Check numbers of votes to replace that come without an attack."""
    amounts = amounts_of(row, recorded.votes)
    question = Question(checker, told, goal, Change.REPLACE)
    yield from amounts_checks(question, told, amounts, proposed(recorded, question, amounts))


def _rows(votes: Votes) -> Iterator[tuple[list[int], list[float] | None]]:
    scores = [None] * votes.distinct if votes.scores is None else votes.scores.tolist()
    yield from zip(votes.ranks.tolist(), scores, strict=True)


def _key(ranks: Sequence[int], scores: Sequence[float | None] | None) -> tuple[Any, ...]:
    if scores is None:
        return tuple(ranks)
    return (*ranks, *(None if score is None or math.isnan(score) else float(score) for score in scores))
