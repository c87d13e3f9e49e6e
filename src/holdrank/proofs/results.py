"""The statements of a consensus, an attack and a breakdown, each proved, refuted or left open."""

from __future__ import annotations

import math
from collections.abc import Iterator

from holdrank.attacks import goals
from holdrank.attacks.results import Attack, Breakdown
from holdrank.proofs.attacks import amounts_checks, settled_checks, shown_checks
from holdrank.proofs.claims import NO_ATTACK, Amounts, Plans, Question, Told
from holdrank.proofs.consensus import consensus_check
from holdrank.proofs.lower import least_checks
from holdrank.proofs.statistics import Exactly
from holdrank.proofs.verdicts import Check
from holdrank.rules.consensus import Consensus, Statistic, name_of
from holdrank.status import Status
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes
from holdrank.words.numbers import number


def result_checks(votes: Votes, T: Statistic, result: Consensus | Attack | Breakdown) -> Iterator[Check]:
    """Check all statements of a result of a statistic."""
    checker = Exactly(votes, T)
    if isinstance(result, Consensus):
        yield consensus_check(checker, Told.of(result))
        return
    told = Told.of(result.before if isinstance(result, Attack) else result.consensus)
    yield consensus_check(checker, told)
    if result.statistic != name_of(T):
        yield Check(f"this is a result for {result.statistic}", "refuted", f"it is compared with {name_of(T)}")
    if isinstance(result, Breakdown):
        yield from _curve_checks(checker, result, told)
        return
    question = Question(checker, told, result.goal, result.change)
    yield from amounts_checks(question, told, Amounts.of(result), Plans.of(result))
    yield from _labels(checker, result)
    yield from _after_check(checker, result)


def _labels(checker: Exactly, found: Attack) -> Iterator[Check]:
    """Check the other claims of an attack: whether it was verified, its status, and its votes."""
    if found.verified != (found.plan is not None):
        yield Check("the attack was run", "refuted", "there is no attack" if found.verified else "there is an attack")
    if found.status.is_exact and not found.exact:
        yield Check(found.status.value, "refuted", "lower and upper differ")
    beyond = found.status is Status.OUT_OF_REACH
    if beyond != (math.isinf(found.lower) and found.status.is_exact):
        yield Check(found.status.value, "refuted", "lower says otherwise")
    if found.original.input_hash != checker.votes.input_hash and found.original.input_hash != checker.given.input_hash:
        yield Check("the attack is on these votes", "refuted", "it is on different votes")


def _after_check(checker: Exactly, found: Attack) -> Iterator[Check]:
    """Check the consensus after an attack."""
    if found.after is not None:
        if found.plan is None or found.plan.leaves_nothing(checker.votes):
            yield Check("there is a consensus after the attack", "refuted", "there is no attack")
            return
        attacked = found.plan.applied(checker.votes) if found.plan.removed.any() or found.plan.added.any() else None
        yield consensus_check(Exactly(attacked or checker.votes, checker.T), Told.of(found.after))


def _curve_checks(checker: Exactly, found: Breakdown, told: Told) -> Iterator[Check]:
    columns = (found.votes_needed, found.votes_to_tie, found.votes_to_decide, found.votes_sufficient)
    rows = [Amounts(*(float(x) for x in row)) for row in zip(found.lower, found.upper, *columns, strict=True)]
    asked = [goals.Distance(float(delta), found.distance) for delta in found.delta]
    if found.total != checker.votes.total:
        yield Check(f"there are {number(found.total)} votes", "refuted", f"there are {number(checker.votes.total)}")
    if not all(bool(exact_) == (row.lower == row.upper) for exact_, row in zip(found.exact, rows, strict=True)):
        yield Check("it reports where it is exact", "refuted", "lower and upper say otherwise")
    if found.status.is_exact and not found.exact.all():
        yield Check(found.status.value, "refuted", "lower and upper differ")
    if found.seed is not None:
        yield Check(f"the random numbers follow from seed {found.seed}", "open", "they were not recomputed")
    if found.estimate is not None or found.options is not None:
        yield Check(
            "the paper's algorithm ends where reported", "open", "it was not run again, and its result proves nothing"
        )
    if asked:
        yield from least_checks(checker, told, list(zip(asked, rows, strict=True)), Change.REPLACE)
    shown: set[tuple[bytes, ...]] = set()
    for goal, row, attack in zip(asked, rows, found.attacks, strict=True):
        question = Question(checker, told, goal, Change.REPLACE)
        if attack is None:
            # Nothing tells here which distance was asked for, either, unless it is an attainable one.
            attainable = (goal.delta * checker.votes.n * (checker.votes.n - 1)) % 1 in (0, 1)
            if row.lower != row.upper or math.isfinite(row.upper) or not attainable:
                yield Check(f"the numbers for {goal.text()} are as reported", "open", NO_ATTACK)
            elif not all(math.isinf(amount) or math.isnan(amount) for amount in row):
                yield Check(
                    f"the numbers for {goal.text()} are as reported", "refuted", "its bounds contradict each other"
                )
            continue
        if attack.goal != goal or not _alike(Amounts.of(attack), row):
            yield Check(
                f"the numbers for {goal.text()} are those of its attack", "refuted", "the attack says otherwise"
            )
        yield from shown_checks(question, row, Plans.of(attack))
        yield from settled_checks(checker.votes, goal.text(), row)
        yield from _labels(checker, attack)
        if Told.of(attack.before) != told or attack.statistic != found.statistic or not attack.change.keeps_total:
            yield Check(f"the attack for {goal.text()} is on this consensus", "refuted", "it is on another one")
        parts = () if attack.plan is None else (attack.plan.removed, attack.plan.ranks, attack.plan.added)
        key = (*(part.tobytes() for part in parts), repr(attack.after and Told.of(attack.after)).encode())
        if key not in shown:  # one attack may serve many distances
            shown.add(key)
            yield from _after_check(checker, attack)


def _alike(one: Amounts, other: Amounts) -> bool:
    return all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(one, other, strict=True))
