"""The statements of a consensus, an attack and a breakdown, each proved, refuted or left open.

Every number of a result belongs to a statement. A bound that could be better is no false statement, but a result whose
bounds do not meet is not settled, and then its verdict is open. So whoever makes a number larger or smaller either
says something false or leaves a gap. Times are no statements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from holdrank.arrays.tolerances import NUDGE, SAME
from holdrank.attacks import goals
from holdrank.attacks.goals import Aim, Goal
from holdrank.attacks.plans import Plan, adds_battles
from holdrank.attacks.results import Attack, Breakdown
from holdrank.proofs import exact
from holdrank.proofs.bounds import Amount
from holdrank.proofs.programs import Outcome, strict
from holdrank.proofs.search import MOST_STEPS
from holdrank.proofs.statistics import LISTED, Exactly
from holdrank.proofs.verdicts import Check, Finding
from holdrank.rankings import Ranking
from holdrank.rules.consensus import Consensus, Statistic, name_of
from holdrank.status import Status
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes
from holdrank.words.numbers import number, percent

FEW_ITEMS = 6  # up to here lower bounds are proved again
NO_PROOF = "there is no proof of this kind for the rule"
_NO_ATTACK = "no attack is given that shows it"
_SAME = Fraction(SAME)
_ROOM = Fraction(NUDGE + SAME)  # what an attack may cost above the share that it stands for


class Amounts(NamedTuple):
    """What is told about one goal: shares, and whole votes (nan where votes are shares)."""

    lower: float
    upper: float
    needed: float
    ties: float
    decides: float
    sufficient: float

    @classmethod
    def of(cls, found: Attack) -> Amounts:
        """Return what an attack says."""
        whole = (found.votes_needed, found.votes_to_tie, found.votes_to_decide, found.votes_sufficient)
        return cls(found.lower, found.upper, *whole)


class Plans(NamedTuple):
    """The attacks that show it: in shares, in whole votes, and the one that only ties."""

    shares: Plan | None
    whole: Plan | None
    tie: Plan | None

    @classmethod
    def of(cls, found: Attack) -> Plans:
        """Return those of an attack."""
        return cls(found.plan, found.whole_plan, found.tie_plan)


class Question(NamedTuple):
    """What a result is about: a statistic on votes, its consensus, a goal, and what the attacker may do."""

    checker: Exactly
    before: Outcome
    goal: Goal
    change: Change

    @property
    def aim(self) -> Aim:
        """The goal with its names resolved."""
        return self.goal.aim(Ranking(self.before), self.checker.votes.items)


def result_checks(votes: Votes, T: Statistic, result: Consensus | Attack | Breakdown) -> Iterator[Check]:
    """Check all statements of a result of a statistic."""
    checker = Exactly(votes, T)
    if isinstance(result, Consensus):
        yield consensus_check(checker, Told.of(result))
        return
    told = Told.of(result.before if isinstance(result, Attack) else result.consensus)
    yield consensus_check(checker, told)
    if result.statistic != name_of(T):
        yield Check(f"this is a result for {result.statistic}", "refuted", f"it is held against {name_of(T)}")
    if isinstance(result, Breakdown):
        yield from _curve_checks(checker, result, told)
        return
    question = Question(checker, told.ranks, result.goal, result.change)
    yield from amounts_checks(question, told, Amounts.of(result), Plans.of(result))
    yield from _labels(checker, result)
    yield from _after_check(checker, result)


# A consensus.


class Told(NamedTuple):
    """What is told about a consensus; `unique` is None where that is left open."""

    ranks: Outcome
    unique: bool | None
    loss: float
    bound: float
    distance: str
    proved: bool
    items: tuple[str, ...]

    @classmethod
    def of(cls, found: Consensus) -> Told:
        """Return what a consensus says of itself."""
        proved = found.status.is_exact
        unique = found.unique if proved else None
        ranks = tuple(found.ranking.ranks.tolist())
        return cls(ranks, unique, found.loss, found.bound, found.distance, proved, tuple(found.items))


def consensus_check(checker: Exactly, told: Told) -> Check:
    """Check that a ranking is the consensus, that it is the only one if that is said, and its loss and bound."""
    votes, unique = checker.votes, told.unique
    if told.items != votes.items or len(told.ranks) != votes.n:
        return Check("the consensus is one of these items", "refuted", "it is of other items")
    only = "" if unique is None else ", the only one" if unique else ", one of several"
    claim = f"{_text(told.ranks, votes)} is the consensus by {name_of(checker.T)}{only}"
    if checker.base is None:
        return Check(claim, "open", NO_PROOF)
    if votes.n > exact.MOST_ITEMS:
        return Check(claim, "open", f"more than {exact.MOST_ITEMS} items")
    medians = checker.medians(checker.exact)
    if wrong := _wrong_loss(checker, told, medians.order):
        return Check(claim, "refuted", wrong)
    unproved: tuple[Finding, str] = ("open", "it was not proved, so that its bound may be anything below")
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
        return Check(claim, "refuted", f"it is {_text(found, votes)}")
    return Check(claim, "open", f"several medians; from one of them it is {_text(found, votes)}")


_MEDIAN_FOR = {"kemeny": "kendall", "borda": "spearman_rho", "footrule": "footrule"}


def _wrong_loss(checker: Exactly, told: Told, median: exact.Order) -> str:
    """Return what is wrong about a loss and its bound, or nothing."""
    ranked = checker.ranked
    loss = float(exact.loss(ranked, told.ranks, told.distance))
    if not _same(loss, told.loss):
        return f"its loss is {loss:.6g}, not {told.loss:.6g}"
    if _MEDIAN_FOR.get(checker.base or "") == told.distance:
        least = float(exact.loss(ranked, strict(median), told.distance))
    else:
        least = float(exact.majority_loss(ranked))  # what no ranking can go below
    if told.bound > least + SAME:
        return f"the bound {told.bound:.6g} is above the least loss, {least:.6g}"
    if told.proved and not _same(least, told.bound):
        return f"its bound is {least:.6g}, not {told.bound:.6g}"
    return ""


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=SAME, abs_tol=SAME)


# An attack.


def _labels(checker: Exactly, found: Attack) -> Iterator[Check]:
    """Check what else an attack says: whether it was seen to work, how sure it is, and on which votes."""
    if found.verified != (found.plan is not None):
        yield Check("the attack was run", "refuted", "there is no attack" if found.verified else "there is an attack")
    if found.status.is_exact and not found.exact:
        yield Check(found.status.value, "refuted", "lower and upper differ")
    beyond = found.status is Status.OUT_OF_REACH
    if beyond != (math.isinf(found.lower) and found.status.is_exact):
        yield Check(found.status.value, "refuted", "lower says otherwise")
    if found.original.input_hash != checker.votes.input_hash and found.original.input_hash != checker.given.input_hash:
        yield Check("the attack is on these votes", "refuted", "it is on other votes")


def _after_check(checker: Exactly, found: Attack) -> Iterator[Check]:
    """Check the consensus after an attack."""
    if found.after is not None:
        if found.plan is None or found.plan.leaves_nothing(checker.votes):
            yield Check("there is a consensus after the attack", "refuted", "there is no attack")
            return
        attacked = found.plan.applied(checker.votes) if found.plan.removed.any() or found.plan.added.any() else None
        yield consensus_check(Exactly(attacked or checker.votes, checker.T), Told.of(found.after))


def amounts_checks(question: Question, told: Told, amounts: Amounts, plans: Plans) -> Iterator[Check]:
    """Check all numbers that are told about one goal."""
    yield from least_checks(question.checker, told, [(question.goal, amounts)], question.change)
    yield from shown_checks(question, amounts, plans)
    yield from settled_checks(question.checker.votes, question.goal.text(), amounts)


def settled_checks(votes: Votes, what: str, told: Amounts) -> Iterator[Check]:
    """Leave open what is not known yet, and refute what contradicts itself."""
    if not told.lower <= told.upper:
        yield Check(f"the least share for {what} is known", "refuted", "lower is above upper")
    elif told.lower != told.upper:
        yield Check(f"the least share for {what} is known", "open", _between(told.lower, told.upper, percent))
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


def slack_of(votes: Votes) -> Fraction:
    """Return by how much weight a bound in shares may be off: rounding, and far less than a vote."""
    total = Fraction(votes.total)
    return min(_SAME * total, Fraction(1, 1000)) if votes.is_counts else _SAME * total


def least_checks(
    checker: Exactly, told: Told, asked: Sequence[tuple[Goal, Amounts]], change: Change, what: str = ""
) -> Iterator[Check]:
    """Prove that no less does it, in shares and whole votes: for one goal, or for all of a curve together."""
    votes = checker.votes
    aims = [(goal.aim(Ranking(told.ranks), votes.items), amounts) for goal, amounts in asked]
    lowest = aims[0][1].lower
    if not what and len(aims) == 1:
        least = "cannot be reached" if math.isinf(lowest) else f"takes at least {percent(lowest)} of the votes"
        what = f"{asked[0][0].text()} {least}"
    claim = what or f"{len(aims)} distances take at least {percent(lowest)} of the votes, and the more as told"
    more = _Decided(checker, change, aims)
    share, finding = _proved_shares(checker, aims, change, claim, more)
    yield share
    for (goal, amounts), (aim, _) in zip(asked, aims, strict=True):
        if votes.is_counts and not aim.reached(Ranking(told.ranks)):
            yield from _whole_checks(checker, told, goal, amounts, change, share.finding, more, finding)


class _Decided:
    """What it takes at least to reach goals outright, and not only as one of several optima.

    By a rule that minimises costs, or sorts by points, an attack that decides leaves what it must beat behind by one
    unit at least. One vote moves such a lead by `one_ballot` units at most, one for another by twice that. So a bit of
    the attack can be undone, and the goal is still reached weakly: to decide takes more than the infimum by that bit.
    """

    def __init__(self, checker: Exactly, change: Change, aims: Sequence[tuple[Aim, Amounts]]) -> None:
        self.bit = Fraction(0)
        units = checker.one_ballot if checker.votes.is_counts else None
        if units:
            self.bit = Fraction(1, units * change.pull)
        self.aims = aims

    def demanded(self, outcome: Ranking, unit: Fraction) -> Amount:
        """Return the weight that an outcome must cost, so that all that is told about deciding is true."""
        most = max((told.decides for aim, told in self.aims if aim.reached(outcome)), default=0.0)
        if not self.bit or not 1 < most < math.inf:
            return Fraction(0)
        return max(Fraction(most) - 1 - self.bit / 2, Fraction(0)) / unit


def _proved_shares(
    checker: Exactly, aims: Sequence[tuple[Aim, Amounts]], change: Change, claim: str, more: _Decided
) -> tuple[Check, Finding]:
    """Return the check of the lower bounds in shares, and whether what is told about deciding was proved with them."""
    votes = checker.votes
    nothing = all(told.lower <= 0 for _, told in aims)
    if nothing and not any(told.decides > 1 for _, told in aims):
        return Check(claim, "proved", "nothing is claimed"), "proved"
    if checker.base is None:
        return Check(claim, "open", NO_PROOF), "open"
    if votes.n > FEW_ITEMS:
        return Check(claim, "open", f"more than {FEW_ITEMS} items"), "open"
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
            return Check(claim, "proved", "nothing is claimed" if nothing else ""), "proved"
    proof, ground = checker.shown(change, demanded)
    if proof.complete:
        return Check(claim, "proved", "nothing is claimed" if nothing else ""), "open"
    total = checker.exact.total
    for gap in proof.gaps:
        example = ground.example(gap.rows, gap.median)
        for outcome in [] if example is None else checker.outcomes(example[1], counts=False):
            assert example is not None
            if example[0] < demanded(outcome):
                cost = percent(float(example[0] / total))
                return Check(claim, "refuted", f"{_text(outcome, votes)} takes {cost}"), "open"
    if proof.cases > MOST_STEPS or not proof.gaps:
        return Check(claim, "open", f"not finished after {number(proof.cases)} cases"), "open"
    least = percent(float(proof.gaps[0].proved / total))
    note = f"all that can be shown of {_text(proof.gaps[0].outcome, votes)} is that it takes {least}"
    return Check(claim, "open", note), "open"


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
    votes, needed = checker.votes, amounts.needed
    rounded: float = math.inf
    if math.isfinite(amounts.lower):
        rounded = max(math.ceil(Fraction(amounts.lower) * Fraction(votes.total) - slack_of(votes)), 0)
    at_least_one = checker.theta is not None or told.unique is True  # no vote changes nothing
    if needed > 0:
        claim = _needs(needed, goal.text())
        if needed <= float(at_least_one):
            yield Check(claim, "proved")
        elif needed <= rounded:
            yield Check(claim, *(("proved", "") if share == "proved" else ("open", "the share is not proved")))
        else:
            yield Check(claim, "open", "more than the share tells")
    if amounts.decides > max(needed, 1.0):
        claim = f"{_needs(amounts.decides, goal.text())} outright"
        if math.isinf(amounts.decides):
            aim = goal.aim(Ranking(told.ranks), votes.items)
            dropped = not change.puts and checker.base is not None and checker.never_ahead(aim)
            never: Finding = "proved" if dropped or (math.isinf(rounded) and share == "proved") else "open"
            yield Check(claim, never, "" if never == "proved" else NO_PROOF)
        elif not more.bit:
            yield Check(claim, "open", NO_PROOF)
        else:
            yield Check(claim, decided, "" if decided == "proved" else "more than the share tells")


def shown_checks(question: Question, told: Amounts, plans: Plans) -> Iterator[Check]:
    """Check that attacks do what they say, in shares and in whole votes."""
    votes, goal, aim = question.checker.votes, question.goal, question.aim
    if aim.reached(Ranking(question.before)):  # so already, if only as one of several optima
        free = told.lower == told.upper == 0 and (not votes.is_counts or not any(told[2:]))
        claim = f"{goal.text()} takes no vote, for it is so already"
        idle = not any(plan.removed.any() or plan.added.any() for plan in plans if plan is not None)
        yield Check(claim, "proved") if free and idle else Check(claim, "refuted", "a price is told")
        return
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


def _shown(
    question: Question, plan: Plan | None, claim: str, low: Fraction, high: Fraction, *, weakly: bool = False
) -> Check:
    """Return whether an attack shows a claim: run on the votes, at a price between two shares."""
    votes = question.checker.votes
    if plan is None:
        return Check(claim, "open", _NO_ATTACK)
    if fault := _malformed(plan, votes, low, high):
        return Check(claim, "refuted", fault)
    if plan.leaves_nothing(votes):
        return Check(claim, "refuted", "it leaves no votes")
    attacked = plan.applied(votes) if plan.removed.any() or plan.added.any() else votes
    return attacked_check(question, attacked, (low, high), claim, weakly=weakly)


def _malformed(plan: Plan, votes: Votes, low: Fraction, high: Fraction) -> str:
    """Return what is wrong about an attack before it is run, or nothing."""
    rounding = 0.0 if votes.is_counts and low == high else SAME * votes.total
    if plan.removed.shape != votes.weights.shape or plan.ranks.shape != (len(plan.added), votes.n):
        return "its ballots are not those of the votes"
    if (plan.removed < 0).any() or (plan.removed > votes.weights + rounding).any() or (plan.added < 0).any():
        return "it takes away more than there is, or less than nothing"
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
    if checker.base is None or checker.votes.n > LISTED:
        return Check(claim, "open", "only by running the statistic again")
    outcomes = checker.outcomes(checker.exactly(attacked), counts=attacked.is_counts)
    missed = [outcome for outcome in outcomes if not aim.reached(Ranking(outcome))]
    if len(missed) < len(outcomes) if weakly else not missed:
        return Check(claim, "proved")
    if checker.theta is not None and not attacked.is_counts:
        edge = checker.on_the_edge(checker.exactly(attacked))
        if any(aim.reached(Ranking(other)) for other in edge):
            return Check(claim, "open", "rounding decides which median is merged")
    return Check(claim, "refuted", f"the votes may end with {_text(missed[0], checker.votes)}")


def _not_allowed(checker: Exactly, attacked: Votes, change: Change, low: Fraction, high: Fraction) -> str:
    """Return why votes are not what an attacker may make of others at a price, or nothing."""
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
        return "ballots were put in, not only dropped"
    if not change.takes and removed > slack:
        return "ballots were taken away, not only added"
    if change.keeps_total and abs(added - removed) > max(slack, _SAME * total if slack else Fraction(0)):
        return "not as many ballots were put in as taken away"
    spent = added if not change.takes else removed
    if spent > high * total + slack:
        return f"it changes {percent(float(spent / total))} of the votes"
    # An attack may put in some of what it takes away; then it changes less than it says.
    return (
        f"it changes no more than {percent(float(spent / total))} of the votes" if spent < low * total - slack else ""
    )


def _foreign(checker: Exactly, ballots: Sequence[tuple[Fraction | int, ...]]) -> str:
    """Return why an attacker may not put in one of these ballots, or nothing."""
    votes = checker.votes
    if checker.base == "mean score":
        given = [score for row in checker.kinds(votes) for score in row]
        beyond = any(not min(given) <= score <= max(given) for row in ballots for score in row)
        return "a ballot that was put in has a score beyond all that were given" if beyond else ""
    if votes.scores is not None:  # a rule of one's own may look at anything
        return ""
    listed = (2,) if adds_battles(votes) else (votes.n, votes.n - 1)
    for ballot in ballots:
        places = sorted(rank for rank in ballot if rank)
        if len(places) not in listed:
            return "a ballot that was put in does not list what an attacker's ballots list"
        if len(set(places)) < len(places):
            return "a ballot that was put in has ties"
    return ""


# A breakdown.


def _curve_checks(checker: Exactly, found: Breakdown, told: Told) -> Iterator[Check]:
    columns = (found.votes_needed, found.votes_to_tie, found.votes_to_decide, found.votes_sufficient)
    rows = [Amounts(*(float(x) for x in row)) for row in zip(found.lower, found.upper, *columns, strict=True)]
    asked = [goals.Distance(float(delta), found.distance) for delta in found.delta]
    if found.total != checker.votes.total:
        yield Check(f"there are {number(found.total)} votes", "refuted", f"there are {number(checker.votes.total)}")
    if not all(bool(exact_) == (row.lower == row.upper) for exact_, row in zip(found.exact, rows, strict=True)):
        yield Check("it says where it is exact", "refuted", "lower and upper say otherwise")
    if found.status.is_exact and not found.exact.all():
        yield Check(found.status.value, "refuted", "lower and upper differ")
    if found.seed is not None:
        yield Check(f"the random numbers are those of seed {found.seed}", "open", "they were not drawn again")
    if asked:
        yield from least_checks(checker, told, list(zip(asked, rows, strict=True)), Change.REPLACE)
    shown: set[tuple[bytes, ...]] = set()
    for goal, row, attack in zip(asked, rows, found.attacks, strict=True):
        question = Question(checker, told.ranks, goal, Change.REPLACE)
        if attack is None:
            # Nothing tells here which distance was asked for, either, unless it is an attainable one.
            attainable = (goal.delta * checker.votes.n * (checker.votes.n - 1)) % 1 in (0, 1)
            if row.lower != row.upper or math.isfinite(row.upper) or not attainable:
                yield Check(f"{goal.text()} takes what is told", "open", _NO_ATTACK)
            elif not all(math.isinf(amount) or math.isnan(amount) for amount in row):
                yield Check(f"{goal.text()} takes what is told", "refuted", "its bounds contradict each other")
            continue
        if attack.goal != goal or not _alike(Amounts.of(attack), row):
            yield Check(f"{goal.text()} takes what its attack says", "refuted", "the attack says something else")
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


def _needs(amount: float, what: str) -> str:
    if math.isinf(amount):
        return f"no number of votes is enough for {what}"
    return f"at least {votes_are(amount)} needed for {what}"


def votes_are(amount: float) -> str:
    """Return a number of votes with its verb."""
    return "1 vote is" if amount == 1 else f"{number(amount)} votes are"


def _text(ranks: Outcome, votes: Votes) -> str:
    return Ranking(ranks).text(votes.items)
