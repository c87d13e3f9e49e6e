"""The statements of attacks: their effect when run, their price, and whether the bounds meet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from holdrank.arrays.tolerances import NUDGE, SAME
from holdrank.attacks.plans import Plan, adds_battles
from holdrank.proofs.claims import NO_ATTACK, Amounts, Plans, Question, Told, ranking_text, slack_of, votes_are
from holdrank.proofs.lower import least_checks
from holdrank.proofs.statistics import LISTED, Exactly, enclosed
from holdrank.proofs.verdicts import Check
from holdrank.rankings import Ranking
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes
from holdrank.words.numbers import number, percent

_SAME = Fraction(SAME)
_ROOM = Fraction(NUDGE + SAME)  # what an attack may cost above the share that it stands for


def amounts_checks(question: Question, told: Told, amounts: Amounts, plans: Plans) -> Iterator[Check]:
    """Check all numbers that are reported about one goal."""
    yield from least_checks(question.checker, told, [(question.goal, amounts)], question.change)
    yield from shown_checks(question, amounts, plans)
    yield from settled_checks(question.checker.votes, question.goal.text(), amounts)


def settled_checks(votes: Votes, what: str, told: Amounts) -> Iterator[Check]:
    """Report bounds that do not meet as open, and contradictions as refuted."""
    if not told.lower <= told.upper:
        yield Check(f"the minimum share for {what} is known", "refuted", "lower is above upper")
    elif told.lower != told.upper:
        yield Check(f"the minimum share for {what} is known", "open", _between(told.lower, told.upper, percent))
    whole = (told.needed, told.ties, told.decides, told.sufficient)
    if not votes.is_counts:
        if not all(math.isnan(amount) for amount in whole):
            yield Check(f"the number of votes for {what} is known", "refuted", "the votes are shares")
        return
    if any(math.isnan(amount) or (math.isfinite(amount) and amount != int(amount)) for amount in whole):
        yield Check(f"the number of votes for {what} is known", "refuted", "there are no such numbers of votes")
        return
    most = Fraction(votes.total)
    low = Fraction(told.lower) * most if math.isfinite(told.lower) else told.lower
    in_order = told.needed <= told.ties <= told.sufficient and told.needed <= told.decides <= told.sufficient
    if not in_order or told.sufficient < low - slack_of(votes):
        yield Check(f"the number of votes for {what} is known", "refuted", "its bounds contradict each other")
        return
    for least, enough, how in ((told.needed, told.ties, "tie"), (told.decides, told.sufficient, "decide")):
        if least != enough:
            claim = f"the number of votes to {how} is known for {what}"
            yield Check(claim, "open", _between(least, enough, number))


def _between(least: float, most: float, text: Callable[[float], str]) -> str:
    return f"at least {text(least)}" if math.isinf(most) else f"between {text(least)} and {text(most)}"


def shown_checks(question: Question, told: Amounts, plans: Plans) -> Iterator[Check]:
    """Check that attacks do what is claimed, in shares and in whole votes."""
    votes, goal, aim = question.checker.votes, question.goal, question.aim
    if aim.reached(Ranking(question.before)):
        free = told.lower == told.upper == 0 and (not votes.is_counts or not any(told[2:]))
        idle = not any(plan.removed.any() or plan.added.any() for plan in plans if plan is not None)
        holds = _holds_already(question, f"{goal.text()} takes no votes: this is already the case")
        if free and idle:
            yield holds
            return
        if holds.finding == "proved":
            yield replace(holds, finding="refuted", note="a price is reported")
            return
        claim = f"{goal.text()} is not the case in all optimal rankings"
        yield Check(claim, "proved") if holds.finding == "refuted" else Check(claim, "open", holds.note)
    if math.isfinite(told.upper):
        claim = f"the attack for {goal.text()} reaches it, and takes {percent(told.upper)}"
        low, high = Fraction(told.upper) - _SAME, Fraction(told.upper) + _ROOM
        yield _shown(question, plans.shares, claim, low, high)
    if not votes.is_counts:
        return
    total = Fraction(votes.total)
    if math.isfinite(told.sufficient):
        claim = f"{votes_are(told.sufficient)} enough for {goal.text()}, as the attack shows"
        price = Fraction(told.sufficient) / total
        yield _shown(question, plans.whole, claim, price, price)
    if math.isfinite(told.ties) and (told.ties != told.sufficient or plans.tie is not None):
        claim = f"{votes_are(told.ties)} enough for {goal.text()} as one of several optima"
        price = Fraction(told.ties) / total
        yield _shown(question, plans.tie, claim, price, price, weakly=True)


def _holds_already(question: Question, claim: str) -> Check:
    """Check that a goal that the reported consensus reaches is reached by every optimum."""
    aim, checker = question.aim, question.checker
    compares = not (
        aim.above or aim.newcomers or aim.leaver
    )  # with the reported consensus, no matter which others exist
    tiers = checker.theta is not None and checker.votes.n > LISTED  # whose rule includes its way of breaking ties
    if question.told.unique or compares or tiers:
        return Check(claim, "proved")
    return attacked_check(question, checker.votes, (Fraction(0), Fraction(0)), claim)


def _shown(
    question: Question, plan: Plan | None, claim: str, low: Fraction, high: Fraction, *, weakly: bool = False
) -> Check:
    """Return whether an attack shows a claim: run on the votes, at a price between two shares."""
    votes = question.checker.votes
    if plan is None:
        return Check(claim, "open", NO_ATTACK)
    if fault := _malformed(plan, votes, low, high):
        return Check(claim, "refuted", fault)
    if plan.leaves_nothing(votes):
        return Check(claim, "refuted", "it leaves no votes")
    attacked = plan.applied(votes) if plan.removed.any() or plan.added.any() else votes
    return attacked_check(question, attacked, (low, high), claim, weakly=weakly)


def _malformed(plan: Plan, votes: Votes, low: Fraction, high: Fraction) -> str:
    """Return what is wrong with an attack before it is run; empty if nothing is."""
    rounding = 0.0 if votes.is_counts and low == high else SAME * votes.total
    if plan.removed.shape != votes.weights.shape or plan.ranks.shape != (len(plan.added), votes.n):
        return "its ballots do not match the votes"
    if (plan.removed < 0).any() or (plan.removed > votes.weights + rounding).any() or (plan.added < 0).any():
        return "it removes more ballots than there are, or a negative number"
    amount = Fraction(max(math.fsum(plan.removed.tolist()), math.fsum(plan.added.tolist()))) / Fraction(votes.total)
    room = Fraction(rounding) / Fraction(votes.total)
    return "" if low - room <= amount <= high + room else f"it changes {percent(float(amount))} of the votes"


def attacked_check(
    question: Question, attacked: Votes, price: tuple[Fraction, Fraction], claim: str, *, weakly: bool = False
) -> Check:
    """Check that votes can be made of others at a price, and that their consensus fulfils an aim, or may (`weakly`)."""
    checker, aim = question.checker, question.aim
    fault = _not_allowed(checker, attacked, question.change, *price)
    if fault:
        return Check(claim, "refuted", fault)
    if checker.strengths is not None:
        return _by_strengths(question, attacked, claim, weakly=weakly)
    if checker.base is None or checker.votes.n > LISTED:
        return Check(claim, "open", "only by running the rule again")
    outcomes = checker.outcomes(checker.exactly(attacked), counts=attacked.is_counts)
    missed = [outcome for outcome in outcomes if not aim.reached(Ranking(outcome))]
    if len(missed) < len(outcomes) if weakly else not missed:
        return Check(claim, "proved")
    if checker.theta is not None and not attacked.is_counts:
        edge = checker.on_the_edge(checker.exactly(attacked))
        if any(aim.reached(Ranking(other)) for other in edge):
            return Check(claim, "open", "rounding decides which optimal ranking is merged")
    return Check(claim, "refuted", f"the votes may end with {ranking_text(missed[0], checker.votes)}")


def _by_strengths(question: Question, attacked: Votes, claim: str, *, weakly: bool) -> Check:
    """Check that the strengths of attacked votes fulfil an aim for every tie-breaking, or (`weakly`) for one."""
    fit = enclosed(question.checker.T, attacked)
    tied = None if fit is None else fit.tied()
    if tied is None:
        return Check(claim, "open", "two strengths are too close to decide whether they are equal")
    aim = question.aim
    if aim.reached_by_some(tied) if weakly else aim.reached_by_all(tied):
        return Check(claim, "proved")
    return Check(claim, "refuted", f"the votes end with {tied.text(attacked.items)}")


def _not_allowed(checker: Exactly, attacked: Votes, change: Change, low: Fraction, high: Fraction) -> str:
    """Return why an attacker may not make these votes at a price; empty if allowed."""
    votes = checker.votes
    old, new = checker.kinds(votes), checker.kinds(attacked)
    total = sum(old.values())
    slack = Fraction(0) if votes.is_counts and attacked.is_counts else _SAME * total
    removed = sum((max(old[b] - new.get(b, Fraction(0)), Fraction(0)) for b in old), Fraction(0))
    more = {b: new[b] - old.get(b, Fraction(0)) for b in new if new[b] > old.get(b, Fraction(0)) + slack}
    added = sum(more.values(), Fraction(0))
    if fault := _foreign(checker, list(more)):
        return fault
    if not change.puts and added > slack:
        return "ballots were added, not only dropped"
    if not change.takes and removed > slack:
        return "ballots were removed, not only added"
    if change.keeps_total and abs(added - removed) > max(slack, _SAME * total if slack else Fraction(0)):
        return "the numbers of removed and added ballots differ"
    spent = added if not change.takes else removed
    if spent > high * total + slack:
        return f"it changes {percent(float(spent / total))} of the votes"
    # An attack may add some of what it removes; then it changes less than it says.
    return f"it changes at most {percent(float(spent / total))} of the votes" if spent < low * total - slack else ""


def _foreign(checker: Exactly, ballots: Sequence[tuple[Fraction | int, ...]]) -> str:
    """Return why an attacker may not add one of these ballots; empty if allowed."""
    votes = checker.votes
    if checker.base == "mean-score":
        given = [score for row in checker.kinds(votes) for score in row]
        beyond = any(not min(given) <= score <= max(given) for row in ballots for score in row)
        return "an added ballot has a score outside the range of the votes" if beyond else ""
    if votes.scores is not None:  # a user-defined rule may use anything
        return ""
    listed = (2,) if adds_battles(votes) else (votes.n, votes.n - 1)
    for ballot in ballots:
        places = sorted(rank for rank in ballot if rank)
        if len(places) not in listed:
            return "an added ballot does not list the items that an attacker's ballots list"
        if len(set(places)) < len(places) and checker.races is None:
            return "an added ballot has ties"
    return ""
