"""The votes as read, and the parts of a record that need no attack."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from holdrank.analysis.records import Record
from holdrank.arrays.tolerances import DECIMALS, SAME
from holdrank.errors import show
from holdrank.proofs import exact
from holdrank.proofs.lower import PROVED_UP_TO
from holdrank.proofs.recorded.record import Recorded
from holdrank.proofs.statistics import Exactly
from holdrank.proofs.verdicts import Check
from holdrank.rankings import Ranking
from holdrank.rules.registry import AUTO, rule_of, rules
from holdrank.status import LEAST_DRAWS
from holdrank.words.names import chosen_text
from holdrank.words.numbers import number


def votes_checks(recorded: Recorded) -> Iterator[Check]:
    """Check the numbers of votes."""
    votes, said = recorded.votes, recorded.record["votes"]
    for name in ("total", "distinct", "with_ties", "incomplete"):
        here = float(getattr(votes, name))
        if not math.isclose(said[name], here, rel_tol=SAME, abs_tol=0.0):
            yield Check(f"votes.{name} is {number(said[name])}", "refuted", f"it is {number(here)}")


def layout_checks(recorded: Recorded) -> Iterator[Check]:
    """Check the order of the items, the pairs, the tiers at all thresholds, and that answers fit what was asked."""
    record, spec = recorded.record, recorded.record["spec"]
    order = record["consensus"]["order"]
    if list(Ranking(recorded.told.ranks).order) != order:
        yield Check("the order matches the ranks", "refuted", "it is different")
        return
    if spec["rule"] not in (AUTO, record["consensus"]["rule"]):
        yield Check("the consensus is by the requested rule", "refuted", "it is by another rule")
    elif spec["rule"] == AUTO:
        yield _choice(recorded)
    ranked = recorded.median.ranked
    pairs = record["pairs"]
    if not _pairs_fit(pairs, ranked, order):
        yield Check("the shares and counts of pairs match the votes", "refuted", "some are not")
    if record["path"] is not None:
        yield _path(recorded, tuple(order), ranked)
    merged = record["tiers"]
    if merged is not None and not merged["auto"] and merged["theta"] != spec["theta"]:
        yield Check("the tiers are at the requested threshold", "refuted", "they are at another threshold")
    if (record["bootstrap"] is None) != (spec["draws"] < LEAST_DRAWS or not recorded.votes.is_counts):
        yield Check("there are bootstrap samples if they were requested", "open", "the step did not finish")


def _choice(recorded: Recorded) -> Check:
    """Check the choice of the rule: counted again, ballot by ballot."""
    votes, rule = recorded.votes, recorded.record["consensus"]["rule"]
    listed = {int(np.count_nonzero(ranks)) for ranks in votes.ranks}
    two = votes.observed and 2 in listed and listed <= {1, 2}
    battles = two and votes.scores is None and votes.reading.format != "lolib"
    claim = f"the rule is {chosen_text(rule)}"
    fits = rule == ("bradley-terry" if battles else "kemeny")
    return Check(claim, "proved") if fits else Check(claim, "refuted", "these votes call for another rule")


def _path(recorded: Recorded, order: exact.Order, ranked: exact.ExactVotes) -> Check:
    claim = "the tiers at all thresholds are as reported"
    if recorded.n > PROVED_UP_TO:
        return Check(claim, "open", f"more than {PROVED_UP_TO} items")
    if rule_of(recorded.median.T).probabilities is not None:
        return Check(claim, "open", "no independent proof exists for tiers by a model")
    rule = recorded.record["spec"]["merge"]
    heights = {abs(exact.deviation(ranked, i, j)) for i in range(recorded.n) for j in range(i)}
    expected: list[tuple[float, list[int]]] = []
    for theta in sorted({Fraction(0), *heights}):
        sizes = [len(bucket) for bucket in exact.merged(ranked, order, float(theta), rule)]
        if not expected or sizes != expected[-1][1]:
            expected.append((float(theta), sizes))
    told = list(zip(recorded.record["path"]["theta"], recorded.record["path"]["sizes"], strict=False))
    same = len(told) == len(expected) == len(recorded.record["path"]["theta"]) and all(
        abs(a - b) < 10.0**-DECIMALS and x == y for (a, x), (b, y) in zip(told, expected, strict=False)
    )
    return Check(claim, "proved") if same else Check(claim, "refuted", "they are not")


def other_check(recorded: Recorded, other: Record) -> Check:
    """Check the ranking by another rule; its loss is Kendall's."""
    T = {rule.name: rule.function for rule in rules()}.get(other["rule"])
    claim = f"the ranking by {show(other['rule'], 40)} is as reported"
    if T is None:
        return Check(claim, "refuted", "there is no such rule")
    checker = Exactly(recorded.votes, T)
    if checker.base is None or recorded.n > exact.MOST_ITEMS:
        return Check(claim, "open", "no independent proof exists")
    loss = exact.loss(checker.ranked, other["ranks"], "kendall")
    if not math.isclose(float(loss), other["loss"], rel_tol=SAME, abs_tol=SAME):
        return Check(claim, "refuted", f"its loss is {float(loss):.6g}")
    ranks = tuple(other["ranks"])
    order = tuple(sorted(range(recorded.n), key=lambda i: ranks[i]))
    fine = len(set(ranks)) == recorded.n and set(ranks) == set(range(1, recorded.n + 1)) and checker.is_median(order)
    return Check(claim, "proved") if fine else Check(claim, "refuted", "it is different")


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
