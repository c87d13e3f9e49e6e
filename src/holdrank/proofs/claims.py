"""The claims of results, in the form in which they are checked.

Every number of a result belongs to a statement. A weak bound is not a false statement, but if the bounds of a result do
not meet, its verdict is open. So changing a number either makes a statement false or leaves a gap. Times are not
statements.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from holdrank.arrays.tolerances import SAME
from holdrank.attacks.goals import Aim, Goal
from holdrank.attacks.plans import Plan
from holdrank.attacks.results import Attack
from holdrank.proofs.programs import Outcome
from holdrank.proofs.statistics import Exactly
from holdrank.rankings import Ranking
from holdrank.rules.consensus import Consensus
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes
from holdrank.words.numbers import number

NO_PROOF = "no independent proof exists for this rule"
NO_ATTACK = "no attack shows it"


class Told(NamedTuple):
    """The claims about a consensus; `unique` is None where that is left open."""

    ranks: Outcome
    unique: bool | None
    loss: float
    bound: float
    distance: str
    proved: bool
    items: tuple[str, ...]

    @classmethod
    def of(cls, found: Consensus) -> Told:
        """Return the claims of a consensus."""
        proved = found.status.is_exact
        unique = found.unique if proved else None
        ranks = tuple(found.ranking.ranks.tolist())
        return cls(ranks, unique, found.loss, found.bound, found.distance, proved, tuple(found.items))


class Amounts(NamedTuple):
    """The numbers claimed for one goal: shares, and whole votes (nan where votes are shares)."""

    lower: float
    upper: float
    needed: float
    ties: float
    decides: float
    sufficient: float

    @classmethod
    def of(cls, found: Attack) -> Amounts:
        """Return the numbers of an attack."""
        whole = (found.votes_needed, found.votes_to_tie, found.votes_to_decide, found.votes_sufficient)
        return cls(found.lower, found.upper, *whole)


class Plans(NamedTuple):
    """The attacks behind the numbers: in shares, in whole votes, and the one that only ties."""

    shares: Plan | None
    whole: Plan | None
    tie: Plan | None

    @classmethod
    def of(cls, found: Attack) -> Plans:
        """Return those of an attack."""
        return cls(found.plan, found.whole_plan, found.tie_plan)


class Question(NamedTuple):
    """The question behind a result: a statistic on votes, its consensus, a goal, and what the attacker may do."""

    checker: Exactly
    told: Told
    goal: Goal
    change: Change

    @property
    def before(self) -> Outcome:
        """The ranks that the consensus is reported to have."""
        return self.told.ranks

    @property
    def aim(self) -> Aim:
        """The goal with its names resolved."""
        return self.goal.aim(Ranking(self.before), self.checker.votes.items)


def slack_of(votes: Votes) -> Fraction:
    """Return by how much weight a bound in shares may be off: rounding, and far less than a vote."""
    total = Fraction(votes.total)
    return min(Fraction(SAME) * total, Fraction(1, 1000)) if votes.is_counts else Fraction(SAME) * total


def votes_are(amount: float) -> str:
    """Return a number of votes with its verb."""
    return "1 vote is" if amount == 1 else f"{number(amount)} votes are"


def ranking_text(ranks: Outcome, votes: Votes) -> str:
    """Return ranks with the names of the items."""
    return Ranking(ranks).text(votes.items)
