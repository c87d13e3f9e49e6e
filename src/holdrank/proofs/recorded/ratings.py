"""Ratings, and the order of the others when an item is removed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from holdrank import __version__
from holdrank.analysis.records import RATING_COLUMNS, Record
from holdrank.errors import show
from holdrank.proofs import exact
from holdrank.proofs.programs import strict
from holdrank.proofs.ratings import Refit, refitted
from holdrank.proofs.recorded.record import Recorded
from holdrank.proofs.statistics import LISTED, Exactly
from holdrank.proofs.strengths import RIDGE
from holdrank.proofs.verdicts import Check, Finding
from holdrank.rankings import Floats
from holdrank.rules.registry import rule_named
from holdrank.words.ratings import NOT_FITTED

_SCALE = {"level": 0.95, "scale": 400.0, "base": 10.0, "offset": 1000.0, "anchor": None}  # of every analysis
_QUANTILE = 1.959963984540054  # of the normal distribution: 95 % lie between it and its negative
_PRECISION = 1e-4  # points, and the same share of a standard error


def rating_checks(recorded: Recorded) -> Iterator[Check]:
    """Check ratings, standard errors and intervals by a second fit, to the precision that the claim names."""
    found = recorded.record.get("ratings")
    rated = recorded.record["consensus"]["rule"] == "bradley-terry" and recorded.n > 1
    claim = f"a second fit gives the same ratings, standard errors and intervals, to {_PRECISION:g} points"
    if found is None:
        if rated and "ratings" in recorded.record:
            yield Check("there are ratings", "refuted", "the rule gives some, and the record has none")
        return
    if not rated:
        yield Check("there are ratings", "refuted", "the rule gives none")
        return
    if {name: found[name] for name in _SCALE} != _SCALE or "ties" in found or "tie" in found:
        yield Check(claim, "refuted", "they use another scale or model")
        return
    again = None
    if found["notes"] != [NOT_FITTED]:
        again = refitted(recorded.median.votes, recorded.record["consensus"]["order"], RIDGE)
    if again is None:
        yield Check(claim, "open", "no second fit: too many ballots, or strengths that are nearly undetermined")
        return
    differs = _difference(found, again)
    if differs:
        yield Check(claim, "refuted", differs)
    else:
        yield Check(claim, "proved")
    if found["notes"] != list(again.notes):
        here = recorded.record["version"] == __version__  # another version may use other words
        yield Check("the notes on ratings match the votes", "refuted" if here else "open", "they differ")


def _difference(found: Record, again: Refit) -> str:
    """Return which column of the ratings differs from a second fit; empty if none does."""
    unit = _SCALE["scale"] / math.log(_SCALE["base"])  # type: ignore[operator, arg-type]
    values = 1000.0 + unit * again.strengths
    errors = unit * again.errors
    expected = {
        "strengths": again.strengths,
        "values": values,
        "errors": errors,
        "lower": values - _QUANTILE * errors,
        "upper": values + _QUANTILE * errors,
        "comparisons": again.comparisons,
    }
    for name in RATING_COLUMNS:
        told = np.array([math.nan if x is None else float(x) for x in found[name]])
        slack: Floats | float = _PRECISION
        if name == "strengths":
            slack = _PRECISION / unit
        elif name in ("errors", "lower", "upper"):
            slack = _PRECISION * (1 + np.nan_to_num(errors))
        elif name == "comparisons":
            slack = 1e-9 * (1 + again.comparisons)
        known = np.isfinite(expected[name])
        if not np.array_equal(known, np.isfinite(told)):
            return f"{name} are missing or too many"
        if (np.abs(told - expected[name])[known] > np.broadcast_to(slack, told.shape)[known]).any():
            return f"{name} differ"
    return ""


def removal_checks(recorded: Recorded) -> Iterator[Check]:
    """Check the consensus of the others for each removed item."""
    found = recorded.record.get("removals")
    rule = rule_named(recorded.record["consensus"]["rule"])
    if found is None:
        if rule.without_each is not None and recorded.n > 2 and "removals" in recorded.record:
            yield Check("the order of the others without each item", "open", "the step did not finish")
        return
    items = [row["item"] for row in found["each"]]
    if items != list(range(len(items))):
        yield Check("every item is removed once", "refuted", "some are removed twice, or not at all")
        return
    if len(items) < recorded.n:
        yield Check(
            "the order of the others without each item", "open", "not every item was tested within the time limit"
        )
    for row in found["each"]:
        yield _removal(recorded, row)


def _removal(recorded: Recorded, row: Record) -> Check:
    votes, k = recorded.votes, row["item"]
    claim = f"without {show(votes.items[k], 60)}, {row['flipped']} pairs of the others change order"
    before = np.delete(np.array(recorded.told.ranks), k)
    after = np.array([rank for i, rank in enumerate(row["ranks"]) if i != k])
    flipped = (before[:, None] < before) & (after[:, None] > after)
    if int(flipped.sum()) != row["flipped"]:
        return Check(claim, "refuted", f"by its ranks it is {int(flipped.sum())}")
    if row["new_winner"] != (not np.array_equal(before == before.min(), after == after.min())):
        return Check(claim, "refuted", "it is wrong about who comes first")
    rest = votes.only([name for i, name in enumerate(votes.items) if i != k])
    finding, note = _is_consensus(Exactly(rest, recorded.median.T), tuple(after.tolist()))
    return Check(claim, finding, note)


def _is_consensus(checker: Exactly, ranks: tuple[int, ...]) -> tuple[Finding, str]:
    """Return whether a strict ranking is what a rule gives for votes."""
    order = tuple(sorted(range(len(ranks)), key=lambda i: ranks[i]))
    if strict(order) != ranks:
        return "refuted", "its ranks are not a strict ranking"
    if checker.strengths is not None:
        tied = checker.strengths.tied()
        if tied is None:
            return "open", "two strengths are too close to decide whether they are equal"
        fine = strict(tuple(tied.order)) == ranks
    elif checker.base is None or checker.votes.n > exact.MOST_ITEMS:
        return "open", "no independent proof exists"
    elif checker.votes.n <= LISTED and not checker.votes.is_counts:  # optima within rounding
        fine = ranks in checker.outcomes(checker.exact, counts=False)
    else:
        fine = checker.is_median(order)
    return ("proved", "") if fine else ("refuted", "their order is different")
