"""Lower bounds, proven again for few items, in shares and in whole votes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from holdrank.attacks.goals import Aim, Goal
from holdrank.proofs.bounds import Amount
from holdrank.proofs.claims import NO_PROOF, Amounts, Told, ranking_text, slack_of, votes_are
from holdrank.proofs.programs import Outcome
from holdrank.proofs.search import MOST_STEPS
from holdrank.proofs.statistics import Exactly
from holdrank.proofs.verdicts import Check, Finding
from holdrank.rankings import Ranking
from holdrank.votes.changes import Change
from holdrank.words.numbers import number, percent

TOO_WEAK = "the independent proof is too weak here"
PROVED_UP_TO = 6  # up to here lower bounds are proved again


def least_checks(
    checker: Exactly, told: Told, asked: Sequence[tuple[Goal, Amounts]], change: Change, what: str = ""
) -> Iterator[Check]:
    """Prove the lower bounds in shares and whole votes: for one goal, or for a whole curve together."""
    votes = checker.votes
    aims = [(goal.aim(Ranking(told.ranks), votes.items), amounts) for goal, amounts in asked]
    lowest = aims[0][1].lower
    if not what and len(aims) == 1:
        least = "is impossible" if math.isinf(lowest) else f"takes at least {percent(lowest)} of the votes"
        goal_text = asked[0][0].text()
        what = f"{goal_text} {least}" if lowest > 0 else f"no minimum share is claimed for {goal_text}"
    claim = what or f"{len(aims)} distances take at least {percent(lowest)} of the votes, and more as reported"
    more = _Decided(checker, change, aims)
    share, finding = _proved_shares(checker, aims, change, claim, more)
    yield share
    for (goal, amounts), (aim, _) in zip(asked, aims, strict=True):
        if votes.is_counts and (amounts.decides or not aim.reached(Ranking(told.ranks))):
            yield from _whole_checks(checker, told, goal, amounts, change, share.finding, more, finding)


class _Decided:
    """Lower bounds on reaching goals outright, in all optima.

    For a rule that minimises costs, or sorts by points, a deciding attack leads by at least one unit. One vote moves
    such a lead by at most `one_ballot` units, a replaced vote by twice that. So a small part of the attack can be
    undone, and the goal is still reached weakly: deciding costs more than the infimum by that part.
    """

    def __init__(self, checker: Exactly, change: Change, aims: Sequence[tuple[Aim, Amounts]]) -> None:
        self.bit = Fraction(0)
        units = checker.one_ballot if checker.votes.is_counts else None
        if units:
            self.bit = Fraction(1, units * change.pull)
        self.aims = aims

    def demanded(self, outcome: Ranking, unit: Fraction) -> Amount:
        """Return the weight that an outcome must cost for all claims about deciding to be true."""
        most = max((told.decides for aim, told in self.aims if aim.reached(outcome)), default=0.0)
        if not self.bit or not 1 < most < math.inf:
            return Fraction(0)
        return max(Fraction(most) - 1 - self.bit / 2, Fraction(0)) / unit


def _proved_shares(
    checker: Exactly, aims: Sequence[tuple[Aim, Amounts]], change: Change, claim: str, more: _Decided
) -> tuple[Check, Finding]:
    """Return the check of the lower bounds in shares, and whether the numbers to decide were proven with them."""
    votes = checker.votes
    nothing = all(told.lower <= 0 for _, told in aims)
    if nothing and not any(told.decides > 1 for _, told in aims):
        return Check(claim, "proved"), "proved"
    if checker.races is not None:
        return _by_races(checker, aims, change, claim), "open"
    if checker.base is None:
        return Check(claim, "open", NO_PROOF), "open"
    if _by_borders(checker, aims, change):
        return Check(claim, "proved"), "open"
    if votes.n > PROVED_UP_TO:
        return Check(claim, "open", f"more than {PROVED_UP_TO} items"), "open"
    unit = checker.exact.unit

    def demanded(outcome: Outcome) -> Amount:
        ranking = Ranking(outcome)
        most = max((told.lower for aim, told in aims if aim.reached(ranking)), default=0.0)
        if math.isinf(most):
            return math.inf
        return max(Fraction(most) * Fraction(votes.total) - slack_of(votes), Fraction(0)) / unit

    if more.bit:
        both, _ = checker.shown(change, lambda o: max(demanded(o), more.demanded(Ranking(o), unit)))
        if both.complete:
            return Check(claim, "proved"), "proved"
    proof, ground = checker.shown(change, demanded)
    if proof.complete:
        return Check(claim, "proved"), "open"
    total = checker.exact.total
    for gap in proof.gaps:
        example = ground.example(gap.rows, gap.median)
        for outcome in [] if example is None else checker.outcomes(example[1], counts=False):
            assert example is not None
            if example[0] < demanded(outcome):
                cost = percent(float(example[0] / total))
                return Check(claim, "refuted", f"{ranking_text(outcome, votes)} takes {cost}"), "open"
    if proof.cases > MOST_STEPS or not proof.gaps:
        return Check(claim, "open", f"not finished within {number(proof.cases)} cases"), "open"
    least = percent(float(proof.gaps[0].proved / total))
    note = f"the best bound for {ranking_text(proof.gaps[0].outcome, votes)} is that it takes {least}"
    return Check(claim, "open", note), "open"


def _by_borders(checker: Exactly, aims: Sequence[tuple[Aim, Amounts]], change: Change) -> bool:
    """Whether single pairs prove the lower bounds in shares, for tiers."""
    votes, ranks = checker.votes, tuple(aims[0][0].before.ranks.tolist())
    borders = checker.borders(ranks, change)
    if borders is None:
        return False
    unit = checker.exact.unit
    for aim, told in aims:
        proved = borders.least(aim)
        if not (
            proved == math.inf
            or (
                math.isfinite(told.lower)
                and Fraction(proved) * unit >= Fraction(told.lower) * Fraction(votes.total) - slack_of(votes)
            )
        ):
            return False
    return True


def _by_races(checker: Exactly, aims: Sequence[tuple[Aim, Amounts]], change: Change, claim: str) -> Check:
    """Check lower bounds in shares for battles that are ranked by strength."""
    assert checker.races is not None
    votes = checker.votes
    for aim, told in aims:
        k = told.lower * votes.total - float(slack_of(votes))
        if told.lower > 0 and not checker.races.fails(aim, k, change, whole=False):
            return Check(claim, "open", TOO_WEAK)
    return Check(claim, "proved")


def _whole_checks(
    checker: Exactly,
    told: Told,
    goal: Goal,
    amounts: Amounts,
    change: Change,
    share: Finding,
    more: _Decided,
    decided: Finding,
) -> Iterator[Check]:
    """Check the whole votes that are needed: the share rounded up; and to decide, more than the share."""
    votes, needed, races = checker.votes, amounts.needed, checker.races
    aim = goal.aim(Ranking(told.ranks), votes.items)
    rounded: float = math.inf
    if math.isfinite(amounts.lower):
        rounded = max(math.ceil(Fraction(amounts.lower) * Fraction(votes.total) - slack_of(votes)), 0)
    at_least_one = checker.theta is not None or told.unique is True  # no vote changes nothing
    if needed > 0:
        claim = _needs(needed, goal.text())
        if needed <= float(at_least_one):
            yield Check(claim, "proved")
        elif needed <= rounded and (share == "proved" or races is None):
            yield Check(claim, *(("proved", "") if share == "proved" else ("open", "the share is not proved")))
        elif races is not None:
            proved = races.fails(aim, needed - 1, change, whole=True)
            yield Check(claim, *(("proved", "") if proved else ("open", TOO_WEAK)))
        else:
            yield Check(claim, "open", "more than the share implies")
    if amounts.decides > max(needed, 1.0):
        claim = f"{_needs(amounts.decides, goal.text())} outright"
        if math.isinf(amounts.decides):
            dropped = not change.puts and checker.base is not None and checker.never_ahead(aim)
            never: Finding = "proved" if dropped or (math.isinf(rounded) and share == "proved") else "open"
            yield Check(claim, never, "" if never == "proved" else NO_PROOF)
        elif races is not None:
            proved = races.fails(aim, amounts.decides - 1, change, whole=True, surely=True)
            yield Check(claim, *(("proved", "") if proved else ("open", TOO_WEAK)))
        elif not more.bit:
            yield Check(claim, "open", NO_PROOF)
        else:
            yield Check(claim, decided, "" if decided == "proved" else "more than the share implies")


def _needs(amount: float, what: str) -> str:
    if math.isinf(amount):
        return f"no number of votes is enough for {what}"
    return f"at least {votes_are(amount)} needed for {what}"
