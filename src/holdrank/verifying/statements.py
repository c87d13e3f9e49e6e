"""The statements of a consensus, an attack and a breakdown, each proved, refuted or left open."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from holdrank.breaking import goals
from holdrank.breaking.goals import Aim, Change, Goal
from holdrank.breaking.plans import adds_battles
from holdrank.breaking.results import Attack, Breakdown
from holdrank.consensus import Consensus, Statistic, name_of
from holdrank.proofs import exact
from holdrank.proofs.bounds import Amount
from holdrank.proofs.programs import Outcome, strict
from holdrank.proofs.search import MOST_STEPS
from holdrank.rankings import Ranking
from holdrank.tolerances import NUDGE, SAME
from holdrank.verifying.statistics import LISTED, Exactly
from holdrank.verifying.verdicts import Check
from holdrank.votes import Votes, number, percent

FEW_ITEMS = 6  # up to here lower bounds are proved again
NO_PROOF = "there is no proof of this kind for the rule"
_SAME = Fraction(SAME)
ROOM = Fraction(NUDGE + SAME)  # what an attack may cost above the share that it stands for


def result_checks(votes: Votes, T: Statistic, result: Consensus | Attack | Breakdown) -> Iterator[Check]:
    """Check all statements of a result of a statistic."""
    checker = Exactly(votes, T)
    if isinstance(result, Consensus):
        yield consensus_check(checker, Told.of(result))
        return
    before = result.before if isinstance(result, Attack) else result.consensus
    ranks = tuple(before.ranking.ranks.tolist())
    yield consensus_check(checker, Told.of(before))
    if isinstance(result, Attack):
        least = least_check(checker, [(result.goal, result.lower)], ranks, result.change)
        yield least
        yield from attack_checks(checker, result, ranks)
        yield from whole_check(votes, result.goal, least, result.lower, result.votes_needed, result.votes_sufficient)
        return
    asked = [goals.Distance(float(delta), result.distance) for delta in result.delta]
    yield least_check(checker, list(zip(asked, result.lower.tolist(), strict=True)), ranks, "replace")
    for attack in result.attacks:
        if attack is not None:
            yield from attack_checks(checker, attack, ranks)


class Told(NamedTuple):
    """What is told about a consensus; `unique` is None where that is left open."""

    ranks: Outcome
    unique: bool | None
    loss: float
    bound: float
    distance: str

    @classmethod
    def of(cls, found: Consensus) -> Told:
        """Return what a consensus says of itself."""
        unique = found.unique if found.status.is_exact else None
        return cls(tuple(found.ranking.ranks.tolist()), unique, found.loss, found.bound, found.distance)


def consensus_check(checker: Exactly, told: Told) -> Check:
    """Check that a ranking is the consensus, that it is the only one if that is said, and its loss and bound."""
    votes, unique = checker.votes, told.unique
    only = "" if unique is None else ", the only one" if unique else ", one of several"
    claim = f"{_text(told.ranks, votes)} is the consensus by {name_of(checker.T)}{only}"
    if checker.base is None:
        return Check(claim, "open", NO_PROOF)
    if votes.n > exact.MOST_ITEMS:
        return Check(claim, "open", f"more than {exact.MOST_ITEMS} items")
    medians = checker.medians(checker.exact)
    if wrong := _wrong_loss(checker, told, medians.order):
        return Check(claim, "refuted", wrong)
    if checker.theta is None:
        if votes.n <= LISTED and not votes.is_counts:  # optima within rounding
            optima = checker.outcomes(checker.exact, counts=False)
            count, fine = len(optima), told.ranks in optima
        else:
            order = tuple(sorted(range(votes.n), key=lambda i: told.ranks[i]))
            count, fine = medians.count, strict(order) == told.ranks and checker.is_median(order)
        if not fine:
            return Check(claim, "refuted", f"{_text(strict(medians.order), votes)} is better")
        if unique is not None and unique != (count == 1):
            return Check(claim, "refuted", f"{number(count)} rankings are optimal")
        return Check(claim, "proved")
    found = checker.consensus()
    if found == told.ranks:
        # Whether other medians merge to the same tiers is not asked.
        return Check(claim, "proved") if medians.count == 1 or not unique else Check(claim, "open", "several medians")
    if medians.count == 1:
        return Check(claim, "refuted", f"it is {_text(found, votes)}")
    return Check(claim, "open", f"several medians; from one of them it is {_text(found, votes)}")


_MEDIAN_FOR = {"kemeny": "kendall", "borda": "spearman_rho", "footrule": "footrule"}


def _wrong_loss(checker: Exactly, told: Told, median: exact.Order) -> str:
    """Return what is wrong about a loss and its bound, or nothing."""
    if checker.base == "mean score":  # there the votes are rows of scores
        return ""
    loss = float(exact.loss(checker.exact, told.ranks, told.distance))
    if not math.isclose(loss, told.loss, rel_tol=SAME, abs_tol=SAME):
        return f"its loss is {loss:.6g}, not {told.loss:.6g}"
    if _MEDIAN_FOR.get(checker.base or "") == told.distance:
        least = float(exact.loss(checker.exact, strict(median), told.distance))
        if told.bound > least + SAME:
            return f"a ranking has the loss {least:.6g}, below the bound {told.bound:.6g}"
    return ""


def least_check(
    checker: Exactly, asked: Sequence[tuple[Goal, float]], before: Outcome, change: Change, what: str = ""
) -> Check:
    """Prove lower bounds: those of one goal, or those of a curve all together."""
    votes = checker.votes
    aims = [(goal.aim(Ranking(before), votes.items), lower) for goal, lower in asked]
    if not what and len(aims) == 1:
        low = aims[0][1]
        least = "cannot be reached" if math.isinf(low) else f"takes at least {percent(low)} of the votes"
        what = f"{asked[0][0].text()} {least}"
    claim = what or f"{len(aims)} distances take at least {percent(aims[0][1])} of the votes, and the more as told"
    if all(lower <= 0 for _, lower in aims):
        return Check(claim, "proved", "nothing is claimed")
    if checker.base is None:
        return Check(claim, "open", NO_PROOF)
    if votes.n > FEW_ITEMS:
        return Check(claim, "open", f"more than {FEW_ITEMS} items")
    total = checker.exact.total
    proof, ground = checker.shown(change, lambda outcome: _demanded(aims, outcome, total))
    if proof.complete:
        return Check(claim, "proved")
    for gap in proof.gaps:
        example = ground.example(gap.rows, gap.median)
        for outcome in [] if example is None else checker.outcomes(example[1], counts=False):
            assert example is not None
            if example[0] < _demanded(aims, outcome, total):
                return Check(claim, "refuted", f"{_text(outcome, votes)} takes {percent(float(example[0] / total))}")
    if proof.cases > MOST_STEPS or not proof.gaps:
        return Check(claim, "open", f"not finished after {number(proof.cases)} cases")
    least = percent(float(proof.gaps[0].proved / total))
    return Check(
        claim, "open", f"all that can be shown of {_text(proof.gaps[0].outcome, votes)} is that it takes {least}"
    )


def _demanded(aims: Sequence[tuple[Aim, float]], outcome: Outcome, total: int) -> Amount:
    ranking = Ranking(outcome)
    most = max((lower for aim, lower in aims if aim.reached(ranking)), default=0.0)
    return math.inf if math.isinf(most) else max(Fraction(most) - _SAME, Fraction(0)) * total


def attack_checks(checker: Exactly, attack: Attack, before: Outcome) -> Iterator[Check]:
    """Check that an attack does what it says, in shares and in whole votes."""
    aim = attack.goal.aim(Ranking(before), checker.votes.items)
    if aim.reached(Ranking(before)):  # so already, if only as one of several optima
        return
    if attack.votes is not None and math.isfinite(attack.upper):
        price = Fraction(attack.upper) + ROOM
        claim = f"the attack for {attack.goal.text()} reaches it, and takes no more than {percent(attack.upper)}"
        yield attacked_check(checker, aim, attack.votes, attack.change, price, claim)
    if attack.whole is not None and attack.whole.votes is not None:
        enough = attack.votes_sufficient
        claim = f"{votes_are(enough)} enough for {attack.goal.text()}, as the attack shows"
        price = Fraction(enough) / Fraction(checker.votes.total)
        yield attacked_check(checker, aim, attack.whole.votes, attack.change, price, claim)


def whole_check(
    votes: Votes, goal: Goal, least: Check, lower: float, needed: float, sufficient: float
) -> Iterator[Check]:
    """Check the number of whole votes that are needed: the share, rounded up."""
    if not votes.is_counts or not 0 < needed < math.inf:
        return
    claim = f"at least {votes_are(needed)} needed for {goal.text()}"
    if needed > sufficient:
        yield Check(claim, "refuted", f"{votes_are(sufficient)} enough")
    elif needed <= math.ceil((Fraction(lower) - _SAME) * Fraction(votes.total)):
        yield Check(claim, *(("proved", "") if least.finding == "proved" else ("open", "the share is not proved")))
    else:
        yield Check(claim, "open", "more than the share tells")


def attacked_check(checker: Exactly, aim: Aim, attacked: Votes, change: Change, price: Fraction, claim: str) -> Check:
    """Check that votes can be made of others at a price, a share, and that their consensus fulfils an aim."""
    fault = _not_allowed(checker.votes, attacked, change, price)
    if fault:
        return Check(claim, "refuted", fault)
    if checker.base is None or checker.votes.n > LISTED:
        return Check(claim, "open", "only by running the statistic again")
    for outcome in checker.outcomes(checker.exactly(attacked), counts=attacked.is_counts):
        if not aim.reached(Ranking(outcome)):
            if checker.theta is not None and not attacked.is_counts:
                edge = checker.on_the_edge(checker.exactly(attacked))
                if any(aim.reached(Ranking(other)) for other in edge):
                    return Check(claim, "open", "rounding decides which median is merged")
            return Check(claim, "refuted", f"the votes may end with {_text(outcome, checker.votes)}")
    return Check(claim, "proved")


def _not_allowed(votes: Votes, attacked: Votes, change: Change, price: Fraction) -> str:
    """Return why votes are not what an attacker may make of others at a price, or nothing."""
    old, new = (
        {tuple(row): Fraction(weight) for row, weight in zip(v.ranks.tolist(), v.weights.tolist(), strict=True)}
        for v in (votes, attacked)
    )
    total = sum(old.values())
    slack = 0 if votes.is_counts and attacked.is_counts else _SAME * total
    removed = sum((max(old[b] - new.get(b, Fraction(0)), Fraction(0)) for b in old), Fraction(0))
    more = {b: new[b] - old.get(b, Fraction(0)) for b in new if new[b] > old.get(b, Fraction(0)) + slack}
    added = sum(more.values(), Fraction(0))
    listed = 2 if adds_battles(votes) else votes.n
    for ballot in more if votes.scores is None else ():  # rows of scores may have ties
        places = sorted(rank for rank in ballot if rank)
        if len(places) not in (listed, votes.n - 1 if not adds_battles(votes) else listed):
            return "a ballot that was put in does not list what an attacker's ballots list"
        if len(set(places)) < len(places):
            return "a ballot that was put in has ties"
    if change == "drop" and added > slack:
        return "ballots were put in, not only dropped"
    if change == "add" and removed > slack:
        return "ballots were taken away, not only added"
    if change == "replace" and abs(added - removed) > max(slack, _SAME * total):
        return "not as many ballots were put in as taken away"
    spent = added if change == "add" else removed
    if spent > price * total + slack:
        return f"it changes {percent(float(spent / total))} of the votes"
    return ""


def votes_are(amount: float) -> str:
    """Return a number of votes with its verb."""
    return "1 vote is" if amount == 1 else f"{number(amount)} votes are"


def _text(ranks: Outcome, votes: Votes) -> str:
    return Ranking(ranks).text(votes.items)
