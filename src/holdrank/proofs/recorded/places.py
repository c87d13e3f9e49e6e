"""The possible places of items: by chance, and by an attacker."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from holdrank.analysis.bootstrap import bootstrap
from holdrank.analysis.chance.mean_ranks import mean_ranks
from holdrank.analysis.chance.rank_sets import knows_chance, rank_sets
from holdrank.analysis.chance.records import chance_record, mean_ranks_record
from holdrank.analysis.sampling import drawn_by
from holdrank.analysis.spec import reach_budget
from holdrank.arrays.tolerances import NUDGE, SAME
from holdrank.attacks import goals
from holdrank.attacks.answers import attack
from holdrank.attacks.goals import Goal
from holdrank.attacks.reach import whole_budget
from holdrank.errors import UsageError, show
from holdrank.proofs.attacks import shown_checks
from holdrank.proofs.claims import Amounts, Plans, Question, slack_of
from holdrank.proofs.lower import PROVED_UP_TO, least_checks
from holdrank.proofs.recorded.record import Recorded
from holdrank.proofs.verdicts import Check
from holdrank.rankings import Ranking
from holdrank.votes.changes import Change

NO_GROUPS = "the draws are by groups, which these votes do not have; read them with the same column"


def bootstrap_checks(recorded: Recorded) -> Iterator[Check]:
    """Check the draws by drawing them again."""
    drawn, claim = recorded.record["bootstrap"], "the bootstrap samples follow from the seed"
    if drawn is None:
        return
    if recorded.n > PROVED_UP_TO:
        yield Check(claim, "open", f"more than {PROVED_UP_TO} items: they were not recomputed")
        return
    spec = recorded.record["spec"]
    if drawn["seed"] != spec["seed"] or not 0 < drawn["draws"] <= spec["draws"]:
        yield Check(claim, "refuted", "they have another seed, or are more than requested")
        return
    if not has_groups(recorded):
        yield Check(claim, "open", NO_GROUPS)
        return
    again = bootstrap(recorded.votes, recorded.median.T, draws=drawn["draws"], by=spec["by"], rng=drawn["seed"])
    same = all(getattr(again, name).tolist() == drawn[name] for name in ("best", "median", "worst", "first"))
    same = same and (again.level, again.unchanged) == (drawn["level"], drawn["unchanged"])
    yield Check(claim, "proved") if same else Check(claim, "refuted", "recomputed, they differ")


def chance_checks(recorded: Recorded) -> Iterator[Check]:
    """Check the places by chance by computing them again."""
    record, claim = recorded.record, "the places by chance follow from the votes and the seed"
    found, spec, votes = record["chance"], record["spec"], recorded.votes
    if found is None or not spec["draws"]:
        asked = spec["draws"] and votes.is_counts and recorded.n > 1 and knows_chance(recorded.median.T)
        if (found is None) == bool(asked):
            yield Check("there are places by chance if they were requested", "open", "the step did not finish")
        return
    if recorded.n > PROVED_UP_TO:
        yield Check(claim, "open", f"more than {PROVED_UP_TO} items: they were not recomputed")
    elif not has_groups(recorded):
        yield Check(claim, "open", NO_GROUPS)
    elif not votes.is_counts or not knows_chance(recorded.median.T):
        yield Check(claim, "refuted", "this rule has none for these votes")
    else:
        again = rank_sets(votes, recorded.median.T, by=spec["by"], rng=spec["seed"])
        if found["draws"] < again.draws:
            yield Check(claim, "open", "a time limit cut the draws short: they were not recomputed")
            return
        same = chance_record(again, Ranking(recorded.shown.ranks), record["attack"], record["votes"]) == found
        yield Check(claim, "proved") if same else Check(claim, "refuted", "recomputed, they differ")


def mean_ranks_checks(recorded: Recorded) -> Iterator[Check]:
    """Check the mean ranks of a score table by counting them again, and what tests make of them."""
    found, claim = recorded.record.get("mean_ranks"), "the mean ranks and their groups follow from the scores"
    if found is None:
        return
    votes = recorded.votes
    if not votes.is_counts or votes.scores is None:
        yield Check(claim, "refuted", "these votes hold no scores to count")
        return
    again = mean_ranks_record(mean_ranks(votes, found["level"]))
    ranks, tasks = [Fraction(0)] * recorded.n, 0
    for row, weight in zip(votes.scores.tolist(), votes.weights.tolist(), strict=True):
        if any(math.isnan(score) for score in row):
            continue
        tasks += int(weight)
        for item, score in enumerate(row):
            better, level = sum(other > score for other in row), row.count(score)
            ranks[item] += int(weight) * (better + Fraction(level + 1, 2))
    same = found["tasks"] == tasks and found["groups"] == again["groups"]
    if tasks:
        same = same and found["values"] == [float(rank / tasks) for rank in ranks]  # halves add up without rounding
        tests = ("friedman", "friedman_p", "critical_difference")
        same = same and all(math.isclose(found[name], again[name], rel_tol=SAME) for name in tests)
    yield Check(claim, "proved") if same else Check(claim, "refuted", "recomputed, they differ")


def has_groups(recorded: Recorded) -> bool:
    """Whether the votes have the groups by which the draws were made, if any."""
    by = recorded.record["spec"]["by"]
    try:
        drawn_by(recorded.votes, by)
    except UsageError:
        return False
    return True


def reach_checks(recorded: Recorded) -> Iterator[Check]:
    """Check the places that an attacker can give each item."""
    found, claim = recorded.record["reach"], "the places within reach are as reported"
    if found is None:
        return
    asked = reach_budget(recorded.record["spec"]["budget"], recorded.record["attack"], recorded.votes.total)
    budget = whole_budget(asked, recorded.votes)
    votes = budget * recorded.votes.total if recorded.votes.is_counts else None
    if (found["budget"], found["votes"]) != (budget, votes):
        yield Check(claim, "refuted", "they are for another budget")
        return
    if recorded.n > PROVED_UP_TO or (recorded.median.base is None and recorded.median.races is None):
        yield Check(claim, "open", f"more than {PROVED_UP_TO} items, or no independent proof exists for this rule")
        return
    place = np.argsort(Ranking(recorded.told.ranks).order) + 1
    for item, name in enumerate(recorded.votes.items):
        ends = {end: found[end][item] for end in ("best", "shown_best", "shown_worst", "worst")}
        best, worst = ends["best"], ends["worst"]
        where = f"no place but {best}" if best == worst else f"the places {best} to {worst}, and no further"
        claim = f"{show(name, 60)} can be brought to {where}"
        if (
            not 1
            <= ends["best"]
            <= ends["shown_best"]
            <= place[item]
            <= ends["shown_worst"]
            <= ends["worst"]
            <= recorded.n
        ):
            yield Check(claim, "refuted", "these places contradict each other")
        elif ends["best"] != ends["shown_best"] or ends["worst"] != ends["shown_worst"]:
            yield Check(claim, "open", "some places are neither attained nor ruled out")
        else:
            yield _places(recorded, claim, name, ends["best"], ends["worst"], int(place[item]), budget)


def _places(recorded: Recorded, claim: str, name: str, best: int, worst: int, place: int, budget: float) -> Check:
    """Prove that a budget brings an item to these places and no further."""
    excluded: list[Goal] = [goals.Enters(name, best - 1)] if best > 1 else []
    excluded += [goals.Leaves(name, worst)] if worst < recorded.n else []
    shown: list[Goal] = [goals.Enters(name, best)] if best < place else []
    shown += [goals.Leaves(name, worst - 1)] if worst > place else []
    votes, findings = recorded.median.votes, list[str]()
    total = Fraction(votes.total)
    for goal in excluded:
        lower = attack(votes, recorded.median.T, goal, time_limit=recorded.seconds()).lower
        # What is proved must be beyond the budget: at the budget itself there may be a tie.
        if math.isfinite(lower) and Fraction(lower) * total - slack_of(votes) <= Fraction(budget) * total:
            findings.append("open")
            continue
        # Nothing farther need be proved.
        lower = min(lower, budget + max(0.5, 2 * float(slack_of(votes))) / float(total))
        asked = [(goal, Amounts(lower, math.inf, 0.0, math.inf, 0.0, math.inf))]
        findings += [check.finding for check in least_checks(recorded.median, recorded.told, asked, Change.REPLACE)]
    for goal in shown:
        found = attack(votes, recorded.median.T, goal, time_limit=recorded.seconds())
        plan = found.whole_plan if votes.is_counts else found.plan
        if plan is None or plan.budget(votes) > budget + (0.0 if votes.is_counts else NUDGE) + SAME:
            findings.append("open")
            continue
        question = Question(recorded.median, recorded.told, goal, Change.REPLACE)
        findings += [check.finding for check in shown_checks(question, Amounts.of(found), Plans.of(found))]
    if "refuted" in findings:
        return Check(claim, "refuted", "an attack says otherwise")
    if all(finding == "proved" for finding in findings):
        return Check(claim, "proved")
    return Check(claim, "open", "some places were not attained")
