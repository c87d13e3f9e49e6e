"""The statements of an analysis, from its record and the votes.

A record holds numbers and few attacks. Where it does not hold the attack that shows a number, the engine is asked for
one, and what it proposes is judged as strictly as any other: run in whole numbers on the votes, at just that price.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from holdrank import __version__
from holdrank.analysis.analyse import Analysis, curve_distances
from holdrank.analysis.bootstrap import bootstrap
from holdrank.analysis.records import Record, seal_of
from holdrank.analysis.tradeoff import TOLERANCE
from holdrank.arrays.tolerances import DECIMALS, NUDGE, SAME
from holdrank.attacks import goals
from holdrank.attacks.answers import attack
from holdrank.attacks.goals import Goal
from holdrank.attacks.plans import Plan
from holdrank.attacks.reach import whole_budget
from holdrank.attacks.whole import plan_votes
from holdrank.errors import HoldrankError, InputError, show
from holdrank.proofs import exact
from holdrank.proofs.statements import (
    FEW_ITEMS,
    Amounts,
    Plans,
    Question,
    Told,
    amounts_checks,
    consensus_check,
    least_checks,
    settled_checks,
    shown_checks,
    slack_of,
)
from holdrank.proofs.statistics import LISTED, Exactly
from holdrank.proofs.verdicts import Check
from holdrank.rankings import Ranking
from holdrank.rules.consensus import borda, name_of
from holdrank.rules.merges import Robust
from holdrank.rules.registry import rule_named, rules
from holdrank.rules.scores import copeland
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes
from holdrank.words.headlines import headline
from holdrank.words.numbers import number

_LONGEST = 20.0  # seconds for the engine to propose one attack
_NAMES = ("lower", "upper", "needed", "ties", "decides", "sufficient")


def analysis_checks(votes: Votes, analysis: Analysis) -> Iterator[Check]:
    """Check every number of an analysis; refuses an analysis of other votes."""
    record = analysis.record
    if list(votes.items) != record["items"] or votes.input_hash != record["votes"]["input_hash"]:
        raise InputError(
            "these are not the votes of the analysis",
            expected=f"votes with the hash {record['votes']['input_hash'][:12]}",
            found=votes.input_hash[:12],
            repair="read the file with the same options as for the analysis",
        )
    rule = record["spec"]["rule"]
    known = [known.name for known in rules()]
    if rule not in known:
        raise InputError("the analysis is by a rule that there is not", expected=", ".join(known), found=rule)
    if record["seal"] != seal_of(record):
        # What was asked for, and how long it took, no proof can tell.
        note = "it has no seal" if not record["seal"] else "its seal does not fit"
        yield Check("the record is as it was written", "refuted" if record["seal"] else "open", note)
    passed = np.cumsum([step["seconds"] for step in record["steps"]])
    if not np.allclose(passed, [step["ended"] for step in record["steps"]], rtol=0.0, atol=2e-3):
        yield Check("the times of the steps add up", "refuted", "they do not")
    if record["headline"] != headline(record):
        here = record["version"] == __version__  # another one may have other words for the same
        note = f"the record says: {headline(record)}"
        yield Check(f"headline: {show(record['headline'], 200)}", "refuted" if here else "open", note)
    yield from _Recorded(votes, record).checks()


class _Recorded:
    """A record, and the two statistics that it is about: the ranking, and what is shown."""

    def __init__(self, votes: Votes, record: Record) -> None:
        self.votes, self.record, self.n = votes, record, votes.n
        base = rule_named(record["spec"]["rule"]).function
        self.median = self.reported = Exactly(votes, base)
        self.told = self.shown = _told(record["consensus"], votes)
        if record["tiers"] is not None:
            self.reported = Exactly(votes, Robust(base, record["tiers"]["theta"], merge=record["tiers"]["merge"]))
            self.shown = _told(record["tiers"], votes)._replace(unique=None)

    def checks(self) -> Iterator[Check]:
        record = self.record
        yield from self._votes()
        yield consensus_check(self.median, self.told)
        if self.reported is not self.median:
            yield consensus_check(self.reported, self.shown)
        yield from self._layout()
        yield from self._attack(self.reported, self.shown, record["attack"], self._against_the_top())
        for row in record["claims"]:
            yield from self._claim(row)
        yield from self._gaps()
        yield from self._cut()
        for curve in record["curves"]:
            yield from _in_short(f"the curve of {show(curve['statistic'], 80)} is as told", self._curve(curve))
        for other in record["others"]:
            yield self._other(other)
        yield from self._bootstrap()
        yield from self._reach()
        yield from _in_short("loss and robustness over all thresholds are as told", self._tradeoff())

    # What was read, and what follows from the ranking without any attack.

    def _votes(self) -> Iterator[Check]:
        votes, said = self.votes, self.record["votes"]
        for name in ("total", "distinct", "with_ties", "incomplete"):
            here = float(getattr(votes, name))
            if not math.isclose(said[name], here, rel_tol=SAME, abs_tol=0.0):
                yield Check(f"votes.{name} is {number(said[name])}", "refuted", f"it is {number(here)}")

    def _layout(self) -> Iterator[Check]:
        """Check the order of the items, the pairs, the tiers at all thresholds, and that answers fit what was asked."""
        record, spec = self.record, self.record["spec"]
        order = record["consensus"]["order"]
        if list(Ranking(self.told.ranks).order) != order:
            yield Check("the order is that of the ranks", "refuted", "it is another one")
            return
        ranked = self.median.ranked
        pairs = record["pairs"]
        if not _pairs_fit(pairs, ranked, order):
            yield Check("the shares and counts of pairs are those of the votes", "refuted", "some are not")
        if record["path"] is not None:
            yield self._path(tuple(order), ranked)
        merged = record["tiers"]
        if merged is not None and not merged["auto"] and merged["theta"] != spec["theta"]:
            yield Check("the tiers are at the threshold asked for", "refuted", "they are at another one")
        if (record["bootstrap"] is None) != (not spec["draws"] or not self.votes.is_counts):
            yield Check("there are draws if they were asked for", "open", "the step did not finish")

    def _path(self, order: exact.Order, ranked: exact.ExactVotes) -> Check:
        claim = "the tiers at all thresholds are as told"
        if self.n > FEW_ITEMS:
            return Check(claim, "open", f"more than {FEW_ITEMS} items")
        rule = self.record["spec"]["merge"]
        heights = {abs(exact.deviation(ranked, i, j)) for i in range(self.n) for j in range(i)}
        expected: list[tuple[float, list[int]]] = []
        for theta in sorted({Fraction(0), *heights}):
            sizes = [len(bucket) for bucket in exact.merged(ranked, order, float(theta), rule)]
            if not expected or sizes != expected[-1][1]:
                expected.append((float(theta), sizes))
        told = list(zip(self.record["path"]["theta"], self.record["path"]["sizes"], strict=False))
        same = len(told) == len(expected) == len(self.record["path"]["theta"]) and all(
            abs(a - b) < 10.0**-DECIMALS and x == y for (a, x), (b, y) in zip(told, expected, strict=False)
        )
        return Check(claim, "proved") if same else Check(claim, "refuted", "they are not")

    def _other(self, other: Record) -> Check:
        """Check the ranking by another rule; its loss is Kendall's."""
        T = {rule.name: rule.function for rule in rules()}.get(other["rule"])
        claim = f"the ranking by {show(other['rule'], 40)} is as told"
        if T is None:
            return Check(claim, "refuted", "there is no such rule")
        checker = Exactly(self.votes, T)
        if checker.base is None or self.n > exact.MOST_ITEMS:
            return Check(claim, "open", "no proof that is independent of it")
        loss = exact.loss(checker.ranked, other["ranks"], "kendall")
        if not math.isclose(float(loss), other["loss"], rel_tol=SAME, abs_tol=SAME):
            return Check(claim, "refuted", f"its loss is {float(loss):.6g}")
        ranks = tuple(other["ranks"])
        order = tuple(sorted(range(self.n), key=lambda i: ranks[i]))
        fine = len(set(ranks)) == self.n and set(ranks) == set(range(1, self.n + 1)) and checker.is_median(order)
        return Check(claim, "proved") if fine else Check(claim, "refuted", "it is another one")

    # Attacks.

    def _against_the_top(self) -> Goal:
        ranks = self.shown.ranks
        pairs = self.n * (self.n - 1) / 2
        return goals.Distance(1 / pairs) if len(set(ranks)) == 1 and pairs else goals.NewWinner()

    def _claim(self, row: Record) -> Iterator[Check]:
        said = goals.claimed(row["claim"], self.votes.items)
        order = isinstance(said, goals.Above)  # which tiers do not keep
        checker, told = (self.median, self.told) if order else (self.reported, self.shown)
        goal = goals.goal_against(said, self.votes.items, Ranking(told.ranks), tiers=False)
        if row["holds"] != (goal is not None):
            yield Check(f"{show(row['claim'], 80)}: {row['holds']}", "refuted", "it is the other way round")
        if goal is not None and row["attack"] is None:
            yield Check(f"what it takes against {show(row['claim'], 80)}", "open", "it was not tested in time")
        yield from self._attack(checker, told, row["attack"], goal)

    def _attack(self, checker: Exactly, told: Told, found: Record | None, goal: Goal | None) -> Iterator[Check]:
        """Check an attack with the ballots that the record lists."""
        if found is None:
            return
        claim = f"there is an attack: {show(found['text'], 200)}"
        if goal is None:
            yield Check(claim, "refuted", "the claim does not hold as it is")
            return
        if found["goal"] != goal.text() or found["statistic"] != name_of(checker.T):
            yield Check(claim, "refuted", "it is for something else")
        if tuple(found["before"]) != told.ranks:
            yield Check(claim, "refuted", "it is against another consensus")
        amounts = _amounts(found, self.votes)
        if found["exact"] != (amounts.lower == amounts.upper):
            yield Check(
                claim, "refuted", "lower and upper differ where it says that they do not, or the other way round"
            )
        question = Question(checker, told.ranks, goal, Change(found["change"]))
        plans = self._proposed(question, amounts)
        listed, fault = self._listed_plan(checker, found)
        if found["verified"] != (found["upper"] is not None):
            yield Check(claim, "refuted", "it says that it was run and has no price, or the other way round")
        if fault:
            yield Check(claim, *fault)
        elif listed is not None:  # whatever the engine proposes, this is what the record says
            plans = plans._replace(whole=listed) if found["whole"] else plans._replace(shares=listed)
        yield from amounts_checks(question, told, amounts, plans)
        if listed is not None and found["after"] is not None and self.n <= LISTED and checker.base is not None:
            attacked = Exactly(listed.applied(checker.votes), checker.T) if plan_votes(listed) else checker
            if attacked.consensus() != tuple(found["after"]):
                yield Check(claim, "refuted", "the consensus after it is another one")

    def _listed_plan(self, checker: Exactly, found: Record) -> tuple[Plan | None, tuple[Any, str] | None]:
        """Return the attack that a record lists, or why there is none."""
        parts = [found["removed"], found["added"]]
        if any(part["kinds"] != len(part["listed"]) for part in parts):
            short = any(part["kinds"] > len(part["listed"]) for part in parts)
            return None, ("open" if short else "refuted", "the record does not list all of its ballots")
        if not any(part["kinds"] for part in parts):
            return None, None
        votes = checker.votes
        row_of = {_key(row, score): k for k, (row, score) in enumerate(_rows(votes))}
        removed = np.zeros(votes.distinct)
        for ballot in parts[0]["listed"]:
            row = row_of.get(_key(ballot["ranks"], ballot.get("scores")))
            if row is None or ballot["weight"] > votes.weights[row] - removed[row] + SAME * votes.total:
                return None, ("refuted", "it takes away ballots that there are not")
            removed[row] += ballot["weight"]
        added = parts[1]["listed"]
        if any(ballot["weight"] <= 0 for part in parts for ballot in part["listed"]):
            return None, ("refuted", "it changes less than no votes")
        ranks = np.array([ballot["ranks"] for ballot in added], dtype=np.int64).reshape(len(added), votes.n)
        if len(ranks) and any(tuple(row) != tuple(Votes.from_ranks([row]).ranks[0].tolist()) for row in ranks.tolist()):
            return None, ("refuted", "ranks of ballots that it puts in have gaps")
        scores = None
        if votes.scores is not None and added:
            rows = [[math.nan if s is None else s for s in ballot.get("scores", [None] * votes.n)] for ballot in added]
            scores = np.array(rows, dtype=np.float64).reshape(len(added), votes.n)
        plan = Plan(removed, ranks, np.array([ballot["weight"] for ballot in added], dtype=np.float64), scores)
        if plan.leaves_nothing(votes):
            return None, ("refuted", "it leaves no votes")
        return plan, None

    def _proposed(self, question: Question, told: Amounts) -> Plans:
        """Return attacks at the prices that are told, as far as the engine proposes some."""
        votes = question.checker.votes
        if self.n > LISTED or question.checker.base is None:
            return Plans(None, None, None)
        try:
            found = attack(votes, question.checker.T, question.goal, change=question.change, time_limit=_LONGEST)
        except HoldrankError:
            return Plans(None, None, None)
        plan, whole, tie = found.plan, found.whole_plan, found.tie_plan
        fits = plan is not None and told.upper - SAME <= plan.budget(votes) <= told.upper + NUDGE + SAME
        return Plans(
            plan if fits else None,
            whole if whole is not None and plan_votes(whole) == told.sufficient else None,
            tie if tie is not None and plan_votes(tie) == told.ties else None,
        )

    def _numbers(
        self, checker: Exactly, told: Told, goal: Goal, row: Record, change: Change = Change.REPLACE
    ) -> Iterator[Check]:
        """Check numbers that come without an attack."""
        amounts = _amounts(row, self.votes)
        question = Question(checker, told.ranks, goal, change)
        yield from amounts_checks(question, told, amounts, self._proposed(question, amounts))

    def _gaps(self) -> Iterator[Check]:
        sizes = [len(bucket) for bucket in Ranking(self.shown.ranks).buckets]
        gaps = self.record["gaps"]
        if len(gaps) != len(sizes) - 1 or not all(gap["known"] for gap in gaps):
            yield Check("every gap between tiers was tested", "open", "some were not")
        for k, gap in zip(np.cumsum(sizes)[:-1].tolist(), gaps, strict=False):
            if gap["known"]:
                yield from self._numbers(self.reported, self.shown, goals.TopSet(k), gap)

    def _cut(self) -> Iterator[Check]:
        cut, asked = self.record["cut"], self.record["spec"]["k"]
        if cut is None:
            if asked is not None and self.n > 1:
                yield Check(f"the cut after {asked} was tested", "open", "it was not")
            return
        order, k, budget = (
            self.record["consensus"]["order"],
            cut["k"],
            whole_budget(self.record["spec"]["budget"], self.votes),
        )
        if k != asked or cut["budget"] != budget or [row["item"] for row in cut["items"]] != order:
            yield Check("the cut is the one asked for", "refuted", "it is another one")
            return
        whole = (
            attack(self.median.votes, self.median.T, goals.TopSet(k), time_limit=_LONGEST) if self.n <= LISTED else None
        )
        for place, row in enumerate(cut["items"], start=1):
            name, inside = self.votes.items[row["item"]], place <= k
            goal: Goal = goals.Leaves(name, k) if inside else goals.Enters(name, k)
            if row["inside"] != inside:
                yield Check(f"{show(name, 60)} is on its side of the cut", "refuted", "it is on the other one")
            amounts = _amounts(row, self.votes)
            least = _least_share(amounts, self.votes)
            if whole is not None and row["safe"] != (max(least, _least_share(Amounts.of(whole), self.votes)) > budget):
                safe = "safe" if row["safe"] else "not safe"
                yield Check(f"{show(name, 60)} is {safe} at the cut", "refuted", "its bounds say otherwise")
            shown = any(row[name] is not None for name in ("upper", "ties", "sufficient"))
            if whole is None or shown or math.isinf(amounts.lower):
                yield from self._numbers(self.median, self.told, goal, row)
                continue
            # Whoever crosses the cut changes the set above it: what that takes is told.
            yield from least_checks(self.median, self.told, [(goal, amounts)], Change.REPLACE)
            told = Amounts.of(whole)
            same = (amounts.lower, amounts.needed, amounts.decides) == (told.lower, told.needed, told.decides)
            if not (same and whole.exact):
                yield Check(f"{goal.text()} takes what any change of the top {k} takes", "open", "it is not the same")

    def _curve(self, curve: Record) -> Iterator[Check]:
        known: dict[str, tuple[Exactly, Told | None]] = {
            name_of(T): (Exactly(self.votes, T), None) for T in (borda, copeland)
        }
        known |= {
            name_of(self.reported.T): (self.reported, self.shown),
            name_of(self.median.T): (self.median, self.told),
        }
        claim = f"the curve of {show(curve['statistic'], 80)} is as told"
        checker, told = known.get(curve["statistic"], (None, None))
        if checker is None or checker.base is None:
            yield Check(claim, "open", "there is no proof of this kind for the rule")
            return
        if self.n > FEW_ITEMS:
            yield Check(claim, "open", f"more than {FEW_ITEMS} items")
            return
        if curve["delta"] != curve_distances(self.n):
            yield Check(claim, "refuted", "it is at other distances")
            return
        told = told or _reported(checker)
        asked: list[tuple[Goal, Amounts]] = [
            (goals.Distance(delta), _amounts({name: curve[name][k] for name in _NAMES}, self.votes))
            for k, delta in enumerate(curve["delta"])
        ]
        yield from least_checks(
            checker, told, asked, Change.REPLACE, f"no cheaper attack on {checker.T.__name__} moves it as far"
        )
        for goal, amounts in asked:
            question = Question(checker, told.ranks, goal, Change.REPLACE)
            yield from shown_checks(question, amounts, self._proposed(question, amounts))
            yield from settled_checks(self.votes, goal.text(), amounts)

    # What chance does, what an attacker can reach, and what other thresholds would give.

    def _bootstrap(self) -> Iterator[Check]:
        drawn, claim = self.record["bootstrap"], "the draws are those of the seed"
        if drawn is None:
            return
        if self.n > FEW_ITEMS:
            yield Check(claim, "open", f"more than {FEW_ITEMS} items: they were not drawn again")
            return
        spec = self.record["spec"]
        if drawn["seed"] != spec["seed"] or not 0 < drawn["draws"] <= spec["draws"]:
            yield Check(claim, "refuted", "they are of another seed, or more than were asked for")
            return
        again = bootstrap(self.votes, rule_named(spec["rule"]).function, draws=drawn["draws"], rng=drawn["seed"])
        same = all(getattr(again, name).tolist() == drawn[name] for name in ("best", "median", "worst", "first"))
        same = same and (again.level, again.unchanged) == (drawn["level"], drawn["unchanged"])
        yield Check(claim, "proved") if same else Check(claim, "refuted", "drawn again, they are others")

    def _reach(self) -> Iterator[Check]:
        found, claim = self.record["reach"], "the places within reach are as told"
        if found is None:
            return
        budget = whole_budget(self.record["spec"]["budget"], self.votes)
        votes = budget * self.votes.total if self.votes.is_counts else None
        if (found["budget"], found["votes"]) != (budget, votes):
            yield Check(claim, "refuted", "they are for another budget")
            return
        if self.n > FEW_ITEMS or self.median.base is None:
            yield Check(claim, "open", f"more than {FEW_ITEMS} items, or no proof of this kind for the rule")
            return
        place = np.argsort(Ranking(self.told.ranks).order) + 1
        for item, name in enumerate(self.votes.items):
            ends = {end: found[end][item] for end in ("best", "shown_best", "shown_worst", "worst")}
            claim = f"{show(name, 60)} can be brought to the places {ends['best']} to {ends['worst']}, and no farther"
            if (
                not 1
                <= ends["best"]
                <= ends["shown_best"]
                <= place[item]
                <= ends["shown_worst"]
                <= ends["worst"]
                <= self.n
            ):
                yield Check(claim, "refuted", "these are no places that fit together")
            elif ends["best"] != ends["shown_best"] or ends["worst"] != ends["shown_worst"]:
                yield Check(claim, "open", "some places are neither shown nor excluded")
            else:
                yield self._places(claim, name, ends["best"], ends["worst"], int(place[item]), budget)

    def _places(self, claim: str, name: str, best: int, worst: int, place: int, budget: float) -> Check:
        """Prove that a budget brings an item to these places and no farther."""
        excluded: list[Goal] = [goals.Enters(name, best - 1)] if best > 1 else []
        excluded += [goals.Leaves(name, worst)] if worst < self.n else []
        shown: list[Goal] = [goals.Enters(name, best)] if best < place else []
        shown += [goals.Leaves(name, worst - 1)] if worst > place else []
        votes, findings = self.median.votes, list[str]()
        total = Fraction(votes.total)
        for goal in excluded:
            lower = attack(votes, self.median.T, goal, time_limit=_LONGEST).lower
            # What is proved must be beyond the budget: at the budget itself there may be a tie.
            if math.isfinite(lower) and Fraction(lower) * total - slack_of(votes) <= Fraction(budget) * total:
                findings.append("open")
                continue
            asked = [(goal, Amounts(lower, math.inf, 0.0, math.inf, 0.0, math.inf))]
            findings += [check.finding for check in least_checks(self.median, self.told, asked, Change.REPLACE)]
        for goal in shown:
            found = attack(votes, self.median.T, goal, time_limit=_LONGEST)
            plan = found.whole_plan if votes.is_counts else found.plan
            if plan is None or plan.budget(votes) > budget + (0.0 if votes.is_counts else NUDGE) + SAME:
                findings.append("open")
                continue
            question = Question(self.median, self.told.ranks, goal, Change.REPLACE)
            findings += [check.finding for check in shown_checks(question, Amounts.of(found), Plans.of(found))]
        if "refuted" in findings:
            return Check(claim, "refuted", "an attack says otherwise")
        if all(finding == "proved" for finding in findings):
            return Check(claim, "proved")
        return Check(claim, "open", "not all was shown")

    def _tradeoff(self) -> Iterator[Check]:
        found, claim = self.record["tradeoff"], "loss and robustness over all thresholds are as told"
        if found is None:
            return
        if self.n > FEW_ITEMS or self.median.base is None:
            yield Check(claim, "open", f"more than {FEW_ITEMS} items, or no proof of this kind for the rule")
            return
        sizes = {len(found[name]) for name in ("theta", "loss", "lower", "upper", "pareto")}
        pairs = self.n * (self.n - 1) / 2
        expected = (TOLERANCE, 1 / pairs)
        if (
            len(sizes) != 1
            or (found["tolerance"], found["delta"]) != expected
            or not 0 <= found["best"] < len(found["theta"])
        ):
            yield Check(claim, "refuted", "it is of another form than an analysis makes")
            return
        base, merge = rule_named(self.record["spec"]["rule"]).function, self.record["spec"]["merge"]
        for theta, loss, lower, upper in zip(
            *(found[name] for name in ("theta", "loss", "lower", "upper")), strict=True
        ):
            checker = Exactly(self.votes, Robust(base, theta, merge=merge))
            told = _reported(checker)
            if not math.isclose(told.loss, loss, rel_tol=SAME, abs_tol=SAME):
                yield Check(claim, "refuted", f"the loss at {theta:g} is {told.loss:.6g}")
                continue
            goal = goals.Distance(found["delta"])
            amounts = _amounts({"lower": lower, "upper": upper}, self.votes)
            question = Question(checker, told.ranks, goal, Change.REPLACE)
            plans = self._proposed(question, amounts)
            # Only shares are told here.
            shares = amounts._replace(needed=0.0, ties=math.inf, decides=0.0, sufficient=math.inf)
            yield from least_checks(checker, told, [(goal, shares)], Change.REPLACE)
            yield from shown_checks(question, shares, plans)
            if lower != upper:
                yield Check(f"the least share at the threshold {theta:g} is known", "open", "it is not")
        merged = self.record["tiers"]
        chosen = merged is not None and merged["auto"] and found["lower"][found["best"]] != 0
        if chosen and merged["theta"] != found["theta"][found["best"]]:
            yield Check("the tiers are at the best threshold", "refuted", "they are at another one")
        yield Check(f"the threshold {found['theta'][found['best']]:g} is the best one", "open", "that is not checked")


def _in_short(claim: str, checks: Iterator[Check]) -> Iterator[Check]:
    """Yield one check in place of many that were proved, and the others as they are."""
    found = list(checks)
    others = [check for check in found if check.finding != "proved"]
    if len(others) < len(found):
        yield Check(claim if not others else f"{claim}, but for what is named next", "proved")
    yield from others


def _told(consensus: Record, votes: Votes) -> Told:
    unique = consensus["unique"] if consensus["exact"] else None
    return Told(
        tuple(consensus["ranks"]), unique, consensus["loss"], consensus["bound"], str(consensus["distance"]),
        bool(consensus["exact"]), votes.items,
    )  # fmt: skip


def _reported(checker: Exactly) -> Told:
    """Return what a statistic reports, by the definitions."""
    ranks = checker.consensus()
    loss = float(exact.loss(checker.ranked, ranks, "kendall"))
    unique = checker.medians(checker.exact).count == 1 or None
    return Told(ranks, unique, loss, 0.0, "kendall", proved=True, items=checker.votes.items)


def _amounts(row: Record, votes: Votes) -> Amounts:
    """Return the numbers of a record: null is infinity, and no number where votes are shares."""
    shares = [_number(row[name]) for name in _NAMES[:2]]
    whole = [_number(row.get(name)) if votes.is_counts else math.nan for name in _NAMES[2:]]
    if not votes.is_counts and any(row.get(name) is not None for name in _NAMES[2:]):
        whole = [0.0] * 4  # numbers of votes where there are none
    return Amounts(*shares, *whole)


def _least_share(told: Amounts, votes: Votes) -> float:
    return told.needed / votes.total if votes.is_counts else told.lower


def _number(value: float | None) -> float:
    return math.inf if value is None else float(value)


def _pairs_fit(pairs: Record, ranked: exact.ExactVotes, order: Sequence[int]) -> bool:
    """Whether shares and counts of pairs, in the order of the consensus, are those of the votes as far as rounded."""
    n = len(order)
    unit = float(ranked.unit)
    compared = [[unit * ranked.compared[i][j] for j in order] for i in order]
    told = pairs["compared"]
    if len(told) == 1 and n != 1:
        fits = len(told[0]) == 1 and all(
            math.isclose(told[0][0], compared[a][b], rel_tol=SAME) for a in range(n) for b in range(n) if a != b
        )
    else:
        near = (
            len(told[a]) == n and abs(told[a][b] - (compared[a][b] if a != b else 0.0)) <= 1e-6
            for a in range(min(n, len(told)))
            for b in range(n)
        )
        fits = n == 1 or (len(told) == n and all(near))
    share = pairs["share"]
    return fits and len(share) == n and all(
        len(share[a]) == n and abs(share[a][b] - _share(ranked, order[a], order[b])) <= 0.5e-4 + 1e-9
        for a in range(n) for b in range(n)
    )  # fmt: skip


def _share(ranked: exact.ExactVotes, i: int, j: int) -> float:
    weight = ranked.compared[i][j] if i != j else 0
    return float(Fraction(weight + ranked.margins[i][j], 2 * weight)) if weight else 0.5


def _rows(votes: Votes) -> Iterator[tuple[list[int], list[float] | None]]:
    scores = [None] * votes.distinct if votes.scores is None else votes.scores.tolist()
    yield from zip(votes.ranks.tolist(), scores, strict=True)


def _key(ranks: Sequence[int], scores: Sequence[float | None] | None) -> tuple[Any, ...]:
    if scores is None:
        return tuple(ranks)
    return (*ranks, *(None if score is None or math.isnan(score) else float(score) for score in scores))
