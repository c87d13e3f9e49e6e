"""The claims in the parts of the record of an analysis, and their statistics."""

from __future__ import annotations

import math
from collections.abc import Iterator

from holdrank.analysis.records import Record
from holdrank.proofs import exact
from holdrank.proofs.claims import Amounts, Told
from holdrank.proofs.statistics import Exactly
from holdrank.proofs.verdicts import Check, in_time
from holdrank.rules.merges import Robust
from holdrank.rules.registry import rule_named
from holdrank.status import Clock
from holdrank.votes.votes import Votes
from holdrank.words.prices import AMOUNTS

LONGEST = 20.0  # seconds for the engine to propose one attack


class Recorded:
    """A record, and its two statistics: the strict ranking, and the one that is shown."""

    def __init__(self, votes: Votes, record: Record, clock: Clock | None = None) -> None:
        self.votes, self.record, self.n = votes, record, votes.n
        self.clock = clock or Clock()
        base = rule_named(record["consensus"]["rule"]).function
        self.median = self.reported = Exactly(votes, base)
        self.told = self.shown = told_of(record["consensus"], votes)
        if record["tiers"] is not None:
            self.reported = Exactly(votes, Robust(base, record["tiers"]["theta"], merge=record["tiers"]["merge"]))
            self.shown = told_of(record["tiers"], votes)._replace(unique=None)

    def seconds(self) -> float:
        """Return how long the engine may take to propose one attack."""
        return min(LONGEST, max(self.clock.seconds_left(), 0.0))


def told_of(consensus: Record, votes: Votes) -> Told:
    """Return what the record of a consensus says."""
    unique = consensus["unique"] if consensus["exact"] else None
    return Told(
        tuple(consensus["ranks"]), unique, consensus["loss"], consensus["bound"], str(consensus["distance"]),
        bool(consensus["exact"]), votes.items,
    )  # fmt: skip


def told_by(checker: Exactly) -> Told:
    """Return what a statistic reports, by the definitions."""
    ranks = checker.consensus()
    loss = float(exact.loss(checker.ranked, ranks, "kendall"))
    unique = checker.medians(checker.exact).count == 1 or None
    return Told(ranks, unique, loss, 0.0, "kendall", proved=True, items=checker.votes.items)


def amounts_of(row: Record, votes: Votes) -> Amounts:
    """Return the numbers of a record: null is infinity, and no number where votes are shares."""
    shares = [_number(row[name]) for name in AMOUNTS[:2]]
    whole = [_number(row.get(name)) if votes.is_counts else math.nan for name in AMOUNTS[2:]]
    if not votes.is_counts and any(row.get(name) is not None for name in AMOUNTS[2:]):
        whole = [0.0] * 4  # numbers of votes where there are none
    return Amounts(*shares, *whole)


def least_share(told: Amounts, votes: Votes) -> float:
    """Return the share that is reported to be needed."""
    return told.needed / votes.total if votes.is_counts else told.lower


def _number(value: float | None) -> float:
    return math.inf if value is None else float(value)


def in_short(claim: str, checks: Iterator[Check], clock: Clock) -> Iterator[Check]:
    """Yield one check in place of many that were proved, and the others as they are."""
    found = list(in_time(checks, clock, f"{claim}, to the end"))
    others = [check for check in found if check.finding != "proved"]
    if len(others) < len(found):
        yield Check(claim if not others else f"{claim}, except for what follows", "proved")
    yield from others
