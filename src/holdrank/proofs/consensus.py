"""The statements of a consensus: its optimality, its uniqueness, and its loss and bound."""

from __future__ import annotations

import math

from holdrank.arrays.tolerances import SAME
from holdrank.proofs import cycles, exact
from holdrank.proofs.claims import NO_PROOF, Told, ranking_text
from holdrank.proofs.programs import strict
from holdrank.proofs.statistics import LISTED, Exactly
from holdrank.proofs.strengths import kendall_losses
from holdrank.proofs.verdicts import Check, Finding
from holdrank.rules.consensus import name_of
from holdrank.words.numbers import number


def consensus_check(checker: Exactly, told: Told) -> Check:
    """Check that a ranking is the consensus, that it is unique if claimed, and its loss and bound."""
    votes, unique = checker.votes, told.unique
    if told.items != votes.items or len(told.ranks) != votes.n:
        return Check("the consensus is one of these items", "refuted", "it ranks different items")
    only = "" if unique is None else ", the only one" if unique else ", one of several"
    claim = f"{ranking_text(told.ranks, votes)} is the consensus by {name_of(checker.T)}{only}"
    if checker.strengths is not None:
        return _by_strengths(checker, told, claim)
    if checker.base is None:
        return Check(claim, "open", NO_PROOF)
    if votes.n > exact.MOST_ITEMS:
        return _by_cycles(checker, told, claim)
    medians = checker.medians(checker.exact)
    if wrong := _wrong_loss(checker, told, medians.order):
        return Check(claim, "refuted", wrong)
    unproved: tuple[Finding, str] = ("open", _NOT_PROVED)
    if checker.theta is None:
        if votes.n <= LISTED and not votes.is_counts:  # optima within rounding
            optima = checker.outcomes(checker.exact, counts=False)
            count, fine = len(optima), told.ranks in optima
        else:
            order = tuple(sorted(range(votes.n), key=lambda i: told.ranks[i]))
            count, fine = medians.count, strict(order) == told.ranks and checker.is_median(order)
        if not fine:
            return Check(claim, "refuted", f"{ranking_text(strict(medians.order), votes)} is better")
        if unique is not None and unique != (count == 1):
            return Check(claim, "refuted", f"{number(count)} rankings are optimal")
        return Check(claim, "proved") if told.proved else Check(claim, *unproved)
    found = checker.consensus()
    if found == told.ranks:
        if not told.proved:
            return Check(claim, *unproved)
        if unique is False and medians.count == 1:
            return Check(claim, "refuted", "it is the only one")
        # Whether other medians merge to the same tiers is not asked.
        return (
            Check(claim, "proved") if medians.count == 1 or unique is None else Check(claim, "open", "several medians")
        )
    if medians.count == 1:
        return Check(claim, "refuted", f"it is {ranking_text(found, votes)}")
    return Check(claim, "open", f"several medians; from one of them it is {ranking_text(found, votes)}")


def _by_cycles(checker: Exactly, told: Told, claim: str) -> Check:
    """Check Kemeny's ranking of many items, as far as weights on cycles prove it."""
    too_many = Check(claim, "open", f"more than {exact.MOST_ITEMS} items")
    if checker.base != "kemeny" or checker.theta is not None or not checker.votes.is_counts:
        return too_many
    order = tuple(sorted(range(checker.votes.n), key=lambda i: told.ranks[i]))
    found = cycles.prove(checker.exact, order)
    if found is None:
        return too_many
    loss = float(exact.loss(checker.ranked, told.ranks, told.distance))
    if strict(order) != told.ranks:
        return Check(claim, "refuted", "its ranks are not a strict ranking")
    if wrong := _other_losses(told, loss, loss):  # no bound is above what a ranking loses
        return Check(claim, "refuted", wrong)
    if not told.proved:
        return Check(claim, "open", _NOT_PROVED)
    if found.several and told.unique:
        return Check(claim, "refuted", "moving one item costs nothing")
    if found.alone and told.unique is False:
        return Check(claim, "refuted", "it is the only one")
    if not found.cheapest:
        return Check(claim, "open", f"more than {exact.MOST_ITEMS} items, and weights on cycles do not prove it")
    if told.unique is not None and not (found.alone if told.unique else found.several):
        return Check(claim, "open", "it is one of the best; whether the only one was not proved")
    return Check(claim, "proved")


def _by_strengths(checker: Exactly, told: Told, claim: str) -> Check:
    """Check a consensus by strengths: sorted by them, equal ones in the order of the items."""
    assert checker.strengths is not None
    votes, fit = checker.votes, checker.strengths
    loss, least = kendall_losses(fit.wins, votes.total, told.ranks)
    if wrong := _other_losses(told, loss, least):
        return Check(claim, "refuted", wrong)
    tied = fit.tied()
    if tied is None:
        return Check(claim, "open", "two strengths are too close to decide whether they are equal")
    found = strict(tuple(tied.order))
    if found != told.ranks:
        return Check(claim, "refuted", f"it is {ranking_text(found, votes)}")
    if told.unique is not None and told.unique != tied.is_strict:
        return Check(claim, "refuted", "some strengths are equal" if told.unique else "no strengths are equal")
    return Check(claim, "proved") if told.proved else Check(claim, "open", _NOT_PROVED)


_NOT_PROVED = "it was not proven optimal, so its bound is only a lower bound"
_MEDIAN_FOR = {"kemeny": "kendall", "borda": "spearman_rho", "footrule": "footrule"}


def _wrong_loss(checker: Exactly, told: Told, median: exact.Order) -> str:
    """Return what is wrong with a loss and its bound; empty if nothing is."""
    ranked = checker.ranked
    loss = float(exact.loss(ranked, told.ranks, told.distance))
    if _MEDIAN_FOR.get(checker.base or "") == told.distance:
        least = float(exact.loss(ranked, strict(median), told.distance))
    else:
        least = float(exact.majority_loss(ranked))  # what no ranking can go below
    return _other_losses(told, loss, least)


def _other_losses(told: Told, loss: float, least: float) -> str:
    """Return what is wrong with a loss and its bound, given both; empty if nothing is."""
    if not _same(loss, told.loss):
        return f"its loss is {loss:.6g}, not {told.loss:.6g}"
    if told.bound > least + SAME:
        return f"the bound {told.bound:.6g} is above the least loss, {least:.6g}"
    if told.proved and not _same(least, told.bound):
        return f"its bound is {least:.6g}, not {told.bound:.6g}"
    return ""


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=SAME, abs_tol=SAME)
