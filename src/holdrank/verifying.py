"""Check what was found without whoever found it: `verify`, in exact arithmetic, for attacks, bounds and analyses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, permutations
from typing import Literal, TypeAlias, overload

import numpy as np

from holdrank.analysis import RULES, Analysis
from holdrank.breaking import answers, goals
from holdrank.breaking.cases import name_of
from holdrank.breaking.goals import Aim, Change, Goal
from holdrank.breaking.plans import adds_battles
from holdrank.breaking.results import Attack, Breakdown
from holdrank.consensus import Consensus, Statistic, borda, footrule, kemeny
from holdrank.errors import InputError, UsageError
from holdrank.merge import Robust
from holdrank.proofs import exact
from holdrank.proofs.bounds import Amount, Ground, battles, extremes, rankings
from holdrank.proofs.exact import Cheapest, ExactVotes, Order
from holdrank.proofs.programs import Outcome, program, strict, tiers
from holdrank.proofs.search import MOST_STEPS, Proof, proves
from holdrank.rankings import Ranking
from holdrank.records import Record
from holdrank.scoring import bradley_terry, compares_all, copeland, mean_score
from holdrank.tolerances import NUDGE, SAME, TIED
from holdrank.votes import Votes, number, percent

Finding: TypeAlias = Literal["proved", "refuted", "open"]

FEW_ITEMS = 6  # up to here lower bounds are proved again
_LISTED = 7  # items: up to here all optimal orders are listed
_SAME, _TIED = Fraction(SAME), Fraction(TIED)
_NUDGE = Fraction(NUDGE + SAME)
_KNOWN: tuple[tuple[Statistic, str], ...] = (
    (kemeny, "kemeny"),
    (borda, "borda"),
    (footrule, "footrule"),
    (copeland, "copeland"),
    (mean_score, "mean score"),
)
_BY_SCORES = {"borda": exact.borda_scores, "copeland": exact.copeland_scores, "mean score": exact.total_scores}
_LARGEST = 2**52  # scores in whole units, so that their differences fit the tables


@dataclass(frozen=True, slots=True)
class Check:
    """One statement, and what became of it."""

    claim: str
    finding: Finding
    note: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an independent check of a result found; true if every statement was proved.

    Attributes
    ----------
    checks : tuple of Check
        A statement is "proved", "refuted", or "open" when this check is not enough to tell: too many items, a
        statistic without a proof of this kind, or a bound that needs a longer proof.
    """

    checks: tuple[Check, ...]

    @property
    def proved(self) -> bool:
        """Whether every statement was proved."""
        return all(check.finding == "proved" for check in self.checks)

    @property
    def refuted(self) -> bool:
        """Whether a statement is wrong."""
        return any(check.finding == "refuted" for check in self.checks)

    def __bool__(self) -> bool:
        return self.proved

    def text(self) -> str:
        """Return one line for every statement."""
        return "\n".join(f"{c.finding:8} {c.claim}" + f" ({c.note})" * bool(c.note) for c in self.checks)

    def __repr__(self) -> str:
        counts = {name: sum(c.finding == name for c in self.checks) for name in ("proved", "refuted", "open")}
        return f"Verdict({', '.join(f'{count} {name}' for name, count in counts.items())})"


@overload
def verify(votes: Votes, T: Statistic, attacked: Votes, goal: Goal) -> bool: ...
@overload
def verify(votes: Votes, T: Statistic, result: Consensus | Attack | Breakdown, /) -> Verdict: ...
@overload
def verify(votes: Votes, result: Analysis, /) -> Verdict: ...
def verify(votes, T, attacked=None, goal=None):  # type: ignore[no-untyped-def]
    """Check a result again, by other means than those that found it.

    Parameters
    ----------
    votes : Votes
        The votes as they were before any attack.
    T : Statistic or Analysis
        The statistic of the result; an analysis needs nothing else.
    attacked : Votes, Consensus, Attack or Breakdown
        Votes after an attack, with the goal that they should fulfil; or a result of `T` on `votes`.
    goal : Goal
        For votes after an attack.

    Returns
    -------
    bool or Verdict
        For votes after an attack, whether their consensus fulfils the goal set for the consensus of the votes. Where
        several rankings are optimal all must fulfil it, or the answer is False: another rule for ties might undo the
        attack. For results, a verdict on every statement of theirs.

    Notes
    -----
    Results are checked in whole numbers and fractions by a second implementation, from the definitions; no solver is
    trusted. Consensus rankings are proved for up to 16 items, lower bounds for up to 6: every ranking that reaches the
    goal gets a proof that it costs as much as claimed (`holdrank.proofs`). What was computed with a threshold chosen by
    "auto" is checked at that threshold, not that it is the best. Votes after an attack of more than 7 items are judged
    by running the statistic again.

    Examples
    --------
    >>> from holdrank import NewWinner, attack
    >>> votes = Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 2])
    >>> verify(votes, kemeny, Votes.from_orders([["a", "b"], ["b", "a"]], weights=[2, 3]), NewWinner())
    True
    >>> print(verify(votes, kemeny, attack(votes, kemeny, NewWinner())).text())
    proved   a > b is the consensus by kemeny, the only one
    proved   another winner takes at least 10 % of the votes
    proved   the attack for another winner reaches it, and takes no more than 10 %
    proved   1 vote is enough for another winner, as the attack shows
    proved   at least 1 vote is needed for another winner
    """
    if isinstance(T, Analysis):
        if attacked is not None or goal is not None:
            raise UsageError("verify takes votes and an analysis, or votes, a statistic and a result of it")
        return Verdict(tuple(dict.fromkeys(_analysis_checks(votes, T))))  # a claim may be a gap as well
    T = answers.checked(votes, T, None)
    if isinstance(attacked, Consensus | Attack | Breakdown):
        return Verdict(tuple(_result_checks(votes, T, attacked)))
    answers.check_goal(goal)
    if not isinstance(attacked, Votes):
        raise UsageError(f"the attacked votes must be Votes, not {type(attacked).__name__}")
    if attacked.items != votes.items:
        raise UsageError("the attacked votes must have the same items in the same order as the votes")
    checker = _Checker(votes, T)
    if votes.n > _LISTED or checker.base is None or _known(T, attacked) != checker.base:
        return answers.fulfils(votes, T, attacked, goal)
    aim = goal.aim(Ranking(checker.consensus()), votes.items)
    found = checker.outcomes(checker.exactly(attacked), counts=attacked.is_counts)
    return all(aim.reached(Ranking(outcome)) for outcome in found)


def _known(T: Statistic, votes: Votes) -> str | None:
    """Return the name here of a statistic, or of the base of a merge; None if the proofs do not know it."""
    base = T.base if isinstance(T, Robust) else T
    if base is bradley_terry and compares_all(votes):
        base = borda  # the same order, where every ballot compares every pair
    name = next((name for known, name in _KNOWN if base is known), None)
    if name == "mean score" and not _has_plain_scores(votes):
        return None
    return None if name in ("copeland", "mean score") and isinstance(T, Robust) else name


def _has_plain_scores(votes: Votes) -> bool:
    """Whether every voter scores every item, in numbers short enough for the tables of a proof."""
    if votes.scores is None or np.isnan(votes.scores).any():
        return False
    return all(abs(score) < _LARGEST for row in ExactVotes.of_scores(votes).ballots for score in row)


class _Checker:
    """One statistic on some votes."""

    def __init__(self, votes: Votes, T: Statistic) -> None:
        self.votes, self.T = votes, T
        self.base = _known(T, votes)
        self.theta = float(T.theta) if isinstance(T, Robust) else None
        self.rule = T.rule if isinstance(T, Robust) else ""

    @cached_property
    def exact(self) -> ExactVotes:
        return self.exactly(self.votes)

    def exactly(self, votes: Votes) -> ExactVotes:
        """Return votes in whole numbers."""
        return ExactVotes.of_scores(votes) if self.base == "mean score" else ExactVotes.of(votes)

    def medians(self, votes: ExactVotes) -> Cheapest:
        """Return the medians of votes: those of the base, for a merge."""
        if self.base == "kemeny":
            return exact.kemeny(votes)
        if self.base == "footrule":
            return exact.footrule(votes)
        assert self.base is not None
        return exact.sorted_by(_BY_SCORES[self.base](votes))

    def consensus(self) -> Outcome:
        """Return what the statistic reports for the votes as they are."""
        if self.votes.n <= _LISTED:
            return self.outcomes(self.exact, counts=self.votes.is_counts)[0]
        return self.merged(self.exact, self.medians(self.exact).order)

    def merged(self, votes: ExactVotes, order: Order) -> Outcome:
        """Return the ranks that are reported for a median."""
        if self.theta is None:
            return strict(order)
        return tiers(exact.merged(votes, order, self.theta, self.rule))

    def outcomes(self, votes: ExactVotes, *, counts: bool) -> list[Outcome]:
        """Return what the statistic may report: any optimum; for a merge, the one that it starts from."""
        if self.theta is not None:
            # The first of the optima is merged; with weights that are no counts, of those within rounding.
            first = self.medians(votes).order if counts else min(self._optima(votes, counts=False))
            return [self.merged(votes, first)]
        return [strict(order) for order in self._optima(votes, counts=counts)]

    def on_the_edge(self, votes: ExactVotes) -> set[Outcome]:
        """Return what may be merged from medians that are equal but for rounding, generously."""
        return {self.merged(votes, order) for order in self._optima(votes, counts=False, times=100)}

    def _optima(self, votes: ExactVotes, *, counts: bool, times: int = 1) -> Iterator[Order]:
        """Yield every order that may be reported; for weights that are no counts, those within rounding of the best."""
        assert self.base is not None
        rounding = Fraction(0) if counts else _TIED * times
        n = votes.n
        if self.base in ("kemeny", "footrule"):
            ground = Ground(votes, "drop", [])
            table = ground.costs("kendall" if self.base == "kemeny" else "footrule").exact
            costs = [sum(int(c) * w for c, w in zip(row, votes.weights, strict=True)) for row in table.tolist()]
            # Costs are doubled here; the rules allow so much for each item.
            slack = rounding * 2 * n * (_most_wins(votes) if self.base == "kemeny" else votes.total)
            least = min(costs)
            yield from (order for order, cost in zip(ground.orders, costs, strict=True) if cost <= least + slack)
            return
        if self.base == "copeland":
            scores, slack = exact.copeland_scores(votes, rounding * _most_wins(votes)), Fraction(0)
        else:
            scores = _BY_SCORES[self.base](votes)
            # Scores that were given carry rounding, too.
            slack = (_TIED / 10 if self.base == "mean score" else rounding) * max(abs(score) for score in scores)
        for order in permutations(range(n)):
            if all(scores[a] >= scores[b] - slack for a, b in pairwise(order)):
                yield order

    def shown(self, change: Change, demand: Callable[[Outcome], Amount]) -> tuple[Proof, Ground]:
        """Show that votes with any outcome cost what is demanded; return also where."""
        assert self.base is not None
        n = self.votes.n
        if self.base == "mean score":
            added = extremes(self.exact)
        else:
            added = battles(n) if adds_battles(self.votes) else rankings(n)
        ground = Ground(self.exact, change, added)
        base, theta, rule = self.base, self.theta, self.rule
        return proves(ground, lambda: program(ground, base, theta, rule), demand), ground


def _most_wins(votes: ExactVotes) -> Fraction:
    """Return the largest weight with which an item is above another."""
    rows = zip(votes.compared, votes.margins, strict=True)
    return Fraction(max(c + m for compared, margins in rows for c, m in zip(compared, margins, strict=True)), 2)


# Statements of results.


def _result_checks(votes: Votes, T: Statistic, result: Consensus | Attack | Breakdown) -> Iterator[Check]:
    checker = _Checker(votes, T)
    if isinstance(result, Consensus):
        unique = result.unique if result.status.is_exact else None
        yield _consensus_check(checker, tuple(result.ranking.ranks.tolist()), unique)
        return
    before = result.before if isinstance(result, Attack) else result.consensus
    ranks = tuple(before.ranking.ranks.tolist())
    yield _consensus_check(checker, ranks, before.unique if before.status.is_exact else None)
    if isinstance(result, Attack):
        least = _least_check(checker, [(result.goal, result.lower)], ranks, result.change)
        yield least
        yield from _attack_checks(checker, result, ranks)
        yield from _whole_check(votes, result.goal, least, result.lower, result.votes_needed, result.votes_sufficient)
        return
    asked = [goals.Distance(float(delta), result.distance) for delta in result.delta]
    yield _least_check(checker, list(zip(asked, result.lower.tolist(), strict=True)), ranks, "replace")
    for attack in result.attacks:
        if attack is not None:
            yield from _attack_checks(checker, attack, ranks)


def _consensus_check(checker: _Checker, ranks: Outcome, unique: bool | None) -> Check:
    votes = checker.votes
    only = "" if unique is None else ", the only one" if unique else ", one of several"
    claim = f"{_text(ranks, votes)} is the consensus by {name_of(checker.T)}{only}"
    if checker.base is None:
        return Check(claim, "open", "there is no proof of this kind for the rule")
    if votes.n > exact.MOST_ITEMS:
        return Check(claim, "open", f"more than {exact.MOST_ITEMS} items")
    medians = checker.medians(checker.exact)
    if checker.theta is None:
        if votes.n <= _LISTED and not votes.is_counts:  # optima within rounding
            optima = checker.outcomes(checker.exact, counts=False)
            count, fine = len(optima), ranks in optima
        else:
            count, fine = medians.count, _is_median(checker, ranks, medians)
        if not fine:
            return Check(claim, "refuted", f"{_text(strict(medians.order), votes)} is better")
        if unique is not None and unique != (count == 1):
            return Check(claim, "refuted", f"{number(count)} rankings are optimal")
        return Check(claim, "proved")
    if checker.consensus() == ranks:
        # Whether other medians merge to the same tiers is not asked.
        return Check(claim, "proved") if medians.count == 1 or not unique else Check(claim, "open", "several medians")
    found = _text(checker.consensus(), votes)
    if medians.count == 1:
        return Check(claim, "refuted", f"it is {found}")
    return Check(claim, "open", f"several medians; from one of them it is {found}")


def _is_median(checker: _Checker, ranks: Outcome, medians: Cheapest) -> bool:
    if len(set(ranks)) < len(ranks):
        return False
    order = tuple(sorted(range(len(ranks)), key=lambda i: ranks[i]))
    if order == medians.order:
        return True
    votes = checker.exact
    if checker.base == "kemeny":
        cost = sum(votes.compared[i][j] - votes.margins[i][j] for k, i in enumerate(order) for j in order[k + 1 :])
        return cost == medians.cost
    if checker.base == "footrule":
        places = (
            (exact.doubled_places(b, votes.observed), w) for b, w in zip(votes.ballots, votes.weights, strict=True)
        )
        cost = sum(w * sum(abs(2 * r - p) for r, p in zip(ranks, place, strict=True)) for place, w in places if place)
        return cost == medians.cost
    assert checker.base is not None
    scores = _BY_SCORES[checker.base](votes)
    return all(scores[a] >= scores[b] for a, b in pairwise(order))


def _least_check(
    checker: _Checker, asked: Sequence[tuple[Goal, float]], before: Outcome, change: Change, what: str = ""
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
        return Check(claim, "open", "there is no proof of this kind for the rule")
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


def _attack_checks(checker: _Checker, attack: Attack, before: Outcome) -> Iterator[Check]:
    aim = attack.goal.aim(Ranking(before), checker.votes.items)
    if aim.reached(Ranking(before)):  # so already, if only as one of several optima
        return
    if attack.votes is not None and math.isfinite(attack.upper):
        price = Fraction(attack.upper) + _NUDGE
        claim = f"the attack for {attack.goal.text()} reaches it, and takes no more than {percent(attack.upper)}"
        yield _attacked_check(checker, aim, attack.votes, attack.change, price, claim)
    if attack.whole is not None and attack.whole.votes is not None:
        enough = attack.votes_sufficient
        claim = f"{_votes(enough)} enough for {attack.goal.text()}, as the attack shows"
        price = Fraction(enough) / Fraction(checker.votes.total)
        yield _attacked_check(checker, aim, attack.whole.votes, attack.change, price, claim)


def _whole_check(
    votes: Votes, goal: Goal, least: Check, lower: float, needed: float, sufficient: float
) -> Iterator[Check]:
    """Check the number of whole votes that are needed: the share, rounded up."""
    if not votes.is_counts or not 0 < needed < math.inf:
        return
    claim = f"at least {_votes(needed)} needed for {goal.text()}"
    if needed > sufficient:
        yield Check(claim, "refuted", f"{_votes(sufficient)} enough")
    elif needed <= math.ceil((Fraction(lower) - _SAME) * Fraction(votes.total)):
        yield Check(claim, *(("proved", "") if least.finding == "proved" else ("open", "the share is not proved")))
    else:
        yield Check(claim, "open", "more than the share tells")


def _attacked_check(checker: _Checker, aim: Aim, attacked: Votes, change: Change, price: Fraction, claim: str) -> Check:
    fault = _not_allowed(checker.votes, attacked, change, price)
    if fault:
        return Check(claim, "refuted", fault)
    if checker.base is None or checker.votes.n > _LISTED:
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


def _votes(amount: float) -> str:
    return "1 vote is" if amount == 1 else f"{number(amount)} votes are"


def _text(ranks: Outcome, votes: Votes) -> str:
    return Ranking(ranks).text(votes.items)


# Statements of analyses.


def _analysis_checks(votes: Votes, analysis: Analysis) -> Iterator[Check]:
    record = analysis.record
    if list(votes.items) != record["items"] or votes.input_hash != record["votes"]["input_hash"]:
        raise InputError(
            "these are not the votes of the analysis",
            expected=f"votes with the hash {record['votes']['input_hash'][:12]}",
            found=votes.input_hash[:12],
            repair="read the file with the same options as for the analysis",
        )
    base = RULES[record["spec"]["rule"]]
    told = record["consensus"]
    median = _Checker(votes, base)
    yield _consensus_check(median, tuple(told["ranks"]), told["unique"] if told["exact"] else None)
    merged = record["tiers"]
    reported, ranks = median, tuple(told["ranks"])
    if merged is not None:
        reported, ranks = _Checker(votes, Robust(base, merged["theta"], merged["merge"])), tuple(merged["ranks"])
        yield _consensus_check(reported, ranks, None)
    yield from _recorded_attack(reported, record["attack"], ranks, _against_the_top(ranks))
    for row in record["claims"]:
        if row["attack"] is not None:
            said = goals.claimed(row["claim"], votes.items)
            checker, before = (median, told["ranks"]) if isinstance(said, goals.Above) else (reported, ranks)
            goal = goals.goal_against(said, votes.items, Ranking(before), tiers=False)
            yield from _recorded_attack(checker, row["attack"], tuple(before), goal)
    yield from _recorded_bounds(median, reported, record)


def _against_the_top(ranks: Outcome) -> Goal:
    pairs = len(ranks) * (len(ranks) - 1) / 2
    return goals.Distance(1 / pairs) if len(set(ranks)) == 1 and pairs else goals.NewWinner()


def _recorded_attack(checker: _Checker, told: Record | None, before: Outcome, goal: Goal | None) -> Iterator[Check]:
    if told is None or goal is None:
        return
    votes = checker.votes
    lower, needed, sufficient = (_number(told[name]) for name in ("lower", "needed", "sufficient"))
    least = _least_check(checker, [(goal, lower)], before, told["change"])
    yield least
    yield from _whole_check(votes, goal, least, lower, needed, sufficient)
    parts = [told["removed"], told["added"]]
    if any(part["kinds"] > len(part["listed"]) for part in parts) or not any(part["kinds"] for part in parts):
        return
    weights = {tuple(row): weight for row, weight in zip(votes.ranks.tolist(), votes.weights.tolist(), strict=True)}
    for sign, part in zip((-1, 1), parts, strict=True):
        for ballot in part["listed"]:
            kind = tuple(ballot["ranks"])
            weights[kind] = weights.get(kind, 0.0) + sign * ballot["weight"]
    if min(weights.values()) < -SAME * votes.total:
        yield Check(f"the attack for {goal.text()} can be done", "refuted", "it takes away ballots that there are not")
        return
    left = {kind: weight for kind, weight in weights.items() if weight > SAME * votes.total}
    if not left:
        yield Check(f"the attack for {goal.text()} can be done", "refuted", "it leaves no votes")
        return
    attacked = Votes.from_ranks(
        np.array(list(left)), weights=list(left.values()), items=votes.items, unlisted=votes.unlisted
    )
    if told["whole"] and told["sufficient"] is not None:
        claim = f"{_votes(told['sufficient'])} enough for {goal.text()}, as the attack shows"
        price = Fraction(told["sufficient"]) / Fraction(votes.total)
    else:
        most = 1.0 if told["upper"] is None else told["upper"]
        claim = f"the attack for {goal.text()} reaches it, and takes no more than {percent(most)}"
        price = Fraction(most) + _NUDGE
    aim = goal.aim(Ranking(before), votes.items)
    yield _attacked_check(checker, aim, attacked, told["change"], price, claim)


def _recorded_bounds(median: _Checker, reported: _Checker, record: Record) -> Iterator[Check]:
    """Check the lower values of gaps, of the cut and of curves; their attacks are not part of a record."""
    votes, told = median.votes, record["consensus"]
    ranks = tuple((record["tiers"] or told)["ranks"])
    sizes = [len(bucket) for bucket in Ranking(ranks).buckets]
    for k, gap in zip(np.cumsum(sizes)[:-1].tolist(), record["gaps"], strict=False):
        if gap["known"] and votes.n <= FEW_ITEMS:
            yield _least_check(reported, [(goals.TopSet(k), _number(gap["lower"]))], ranks, "replace")
    for row in (record["cut"] or {"items": []})["items"]:
        k, name = record["cut"]["k"], votes.items[row["item"]]
        goal: Goal = goals.Leaves(name, k) if row["inside"] else goals.Enters(name, k)
        yield _least_check(median, [(goal, _number(row["lower"]))], tuple(told["ranks"]), "replace")
    for curve in record["curves"]:
        same = (median, reported, *(_Checker(votes, T) for T in (borda, copeland)))
        checker = next((c for c in same if name_of(c.T) == curve["statistic"]), None)
        if checker is None or checker.base is None or curve["method"] != "exact" or votes.n > FEW_ITEMS:
            continue
        before = checker.consensus()
        asked = [
            (goals.Distance(delta), _number(low)) for delta, low in zip(curve["delta"], curve["lower"], strict=True)
        ]
        yield _least_check(
            checker, asked, before, "replace", f"no cheaper attack on {curve['statistic']} moves it as far as told"
        )


def _number(value: float | None) -> float:
    return math.inf if value is None else value
