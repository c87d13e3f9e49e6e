"""Breakdown curves, and loss against robustness over all thresholds."""

from __future__ import annotations

import math
from collections.abc import Iterator

from holdrank.analysis.records import Record
from holdrank.analysis.spec import curve_distances
from holdrank.analysis.tradeoff import TOLERANCE
from holdrank.arrays.tolerances import SAME
from holdrank.attacks import goals
from holdrank.attacks.goals import Goal
from holdrank.errors import show
from holdrank.proofs.attacks import settled_checks, shown_checks
from holdrank.proofs.claims import Amounts, Question, Told
from holdrank.proofs.lower import PROVED_UP_TO, least_checks
from holdrank.proofs.recorded.attacks import is_of, proposed
from holdrank.proofs.recorded.record import Recorded, amounts_of, told_by
from holdrank.proofs.statistics import Exactly
from holdrank.proofs.verdicts import Check
from holdrank.rules.consensus import borda, name_of
from holdrank.rules.merges import Robust
from holdrank.rules.registry import rule_of
from holdrank.rules.scores import copeland
from holdrank.votes.changes import Change
from holdrank.words.prices import AMOUNTS


def curve_checks(recorded: Recorded, curve: Record) -> Iterator[Check]:
    """Check a breakdown curve."""
    known: dict[str, tuple[Exactly, Told | None]] = {
        name_of(T): (Exactly(recorded.votes, T), None) for T in (borda, copeland)
    }
    known |= {
        name_of(recorded.reported.T): (recorded.reported, recorded.shown),
        name_of(recorded.median.T): (recorded.median, recorded.told),
    }
    claim = f"the curve of {show(curve['statistic'], 80)} is as reported"
    checker, told = known.get(curve["statistic"], (None, None))
    if checker is not None and not is_of(curve, checker):
        yield Check(claim, "refuted", "it belongs to another rule")
        return
    if checker is None or checker.base is None:
        yield Check(claim, "open", "no independent proof exists for this rule")
        return
    if recorded.n > PROVED_UP_TO:
        yield Check(claim, "open", f"more than {PROVED_UP_TO} items")
        return
    if curve["delta"] != curve_distances(recorded.n):
        yield Check(claim, "refuted", "it has other distances")
        return
    told = told or told_by(checker)
    asked: list[tuple[Goal, Amounts]] = [
        (goals.Distance(delta), amounts_of({name: curve[name][k] for name in AMOUNTS}, recorded.votes))
        for k, delta in enumerate(curve["delta"])
    ]
    yield from least_checks(
        checker, told, asked, Change.REPLACE, f"no cheaper attack on {checker.T.__name__} moves it as far"
    )
    for goal, amounts in asked:
        question = Question(checker, told, goal, Change.REPLACE)
        yield from shown_checks(question, amounts, proposed(recorded, question, amounts))
        yield from settled_checks(recorded.votes, goal.text(), amounts)


def tradeoff_checks(recorded: Recorded) -> Iterator[Check]:
    """Check loss and robustness at every threshold."""
    found, claim = recorded.record["tradeoff"], "loss and robustness over all thresholds are as reported"
    if found is None:
        return
    by_model = rule_of(recorded.median.T).probabilities is not None
    if recorded.n > PROVED_UP_TO or recorded.median.base is None or by_model:
        yield Check(claim, "open", f"more than {PROVED_UP_TO} items, or no independent proof exists for this rule")
        return
    sizes = {len(found[name]) for name in ("theta", "loss", "lower", "upper", "pareto")}
    pairs = recorded.n * (recorded.n - 1) / 2
    expected = (TOLERANCE, 1 / pairs)
    if (
        len(sizes) != 1
        or (found["tolerance"], found["delta"]) != expected
        or not 0 <= found["best"] < len(found["theta"])
    ):
        yield Check(claim, "refuted", "its layout is not that of an analysis")
        return
    base, merge = recorded.median.T, recorded.record["spec"]["merge"]
    for theta, loss, lower, upper in zip(*(found[name] for name in ("theta", "loss", "lower", "upper")), strict=True):
        checker = Exactly(recorded.votes, Robust(base, theta, merge=merge))
        told = told_by(checker)
        if not math.isclose(told.loss, loss, rel_tol=SAME, abs_tol=SAME):
            yield Check(claim, "refuted", f"the loss at {theta:g} is {told.loss:.6g}")
            continue
        goal = goals.Distance(found["delta"])
        amounts = amounts_of({"lower": lower, "upper": upper}, recorded.votes)
        question = Question(checker, told, goal, Change.REPLACE)
        plans = proposed(recorded, question, amounts)
        # Only shares are reported here.
        shares = amounts._replace(needed=0.0, ties=math.inf, decides=0.0, sufficient=math.inf)
        yield from least_checks(checker, told, [(goal, shares)], Change.REPLACE)
        yield from shown_checks(question, shares, plans)
        if lower != upper:
            yield Check(f"the minimum share at the threshold {theta:g} is known", "open", "it is not")
    best = found["theta"][found["best"]]
    yield Check(f"the threshold {best:g} is the best of the trade-off", "open", "that is not checked")
