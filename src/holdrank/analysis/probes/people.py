"""Probes: a few people who cast many of the votes, and one person who decides a place."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from holdrank.analysis.probes.bars import BARS
from holdrank.analysis.probes.evidence import Evidence, People
from holdrank.analysis.probes.findings import Finding, not_applicable
from holdrank.analysis.probes.standing import Standing, critical, influences, separated, standing
from holdrank.rankings import Floats, Ints
from holdrank.rules.merges import consensus_of
from holdrank.votes.votes import Votes

_FEWEST_PEOPLE = 20
_CELLS = 30_000_000  # numbers of a table of ballots and gaps
_AT_A_TIME = 2_000_000
_TRIED = 20  # people whose votes are removed, and the rest ranked again
_MOST_NAMED = 100  # people of a finding
_SECONDS = 2.0  # for one of these


class Weighed(NamedTuple):
    """The effect of people on the gaps of a ranking.

    `gaps` are the gaps examined; `inflation` is the factor by which the variance of each lead grows when people are
    drawn instead of votes; `doubt` is its standard error if all people vote alike. `deeds` lists people and gaps where
    one person's votes may decide the lead: the person, the gap, how far the lead moves, and the logarithm of the
    probability that votes drawn from all people move it as far.
    """

    gaps: Ints
    inflation: Floats
    doubt: float
    deeds: list[tuple[int, int, float, float]]


def weighed(known: Evidence, people: People) -> Weighed:
    """Return the effect of people on the gaps of a ranking, in one pass over all their votes."""
    votes, found = known.votes, known.standing
    assert isinstance(votes, Votes)
    gaps = known.gaps[: max(1, _CELLS // votes.distinct)]
    each = influences(votes, found, gaps)
    stratum = _strata(votes)
    heavy = np.bincount(stratum, votes.weights)
    mean = _by_stratum(each * votes.weights[:, None], stratum, len(heavy)) / heavy[:, None]
    residual = each - mean[stratum]
    variance = (_by_stratum(residual**2 * votes.weights[:, None], stratum, len(heavy)) / heavy[:, None])[stratum]
    largest = np.abs(residual).max(axis=0)
    lead = found.lead[gaps[:, 0], gaps[:, 1]]
    together = np.zeros(len(gaps))
    deeds: list[tuple[int, int, float, float]] = []
    totals = people.totals
    bar = math.log((1 - known.level) / (max(len(totals), 1) * max(len(gaps), 1)))
    for first, entries, begins in _some_people(people, len(gaps)):
        row, weight = people.row[entries], people.weight[entries, None]
        own = np.add.reduceat(residual[row] * weight, begins, axis=0)
        spread = np.add.reduceat(variance[row] * weight, begins, axis=0)
        moved = np.add.reduceat(each[row] * weight, begins, axis=0)
        together += (own**2).sum(axis=0)
        rare = log_chance(own, spread, largest)
        who, gap = np.nonzero((rare < bar) & (moved > 0.6 * lead))
        deeds += zip(
            (who + first).tolist(), gap.tolist(), moved[who, gap].tolist(), rare[who, gap].tolist(), strict=True
        )
    alone = (votes.weights[:, None] * residual**2).sum(axis=0)
    cast = float(totals.sum())
    doubt = math.sqrt(2 * float((totals * (totals - 1)).sum())) / cast
    inflation = np.divide(together, alone, out=np.ones_like(alone), where=alone > 0)
    return Weighed(gaps, inflation, doubt, sorted(deeds, key=lambda deed: (deed[3], deed[0], deed[1])))


def log_chance(sums: Floats, variances: Floats, largest: Floats) -> Floats:
    """Return a bound on the logarithm of the probability that drawn numbers of mean 0 have at least this sum.

    Bernstein's inequality, which also holds for numbers that are drawn without replacement: `variances` are the sums of
    their variances, `largest` is the largest of them all.
    """
    below = 2 * (variances + largest * np.maximum(sums, 0.0) / 3)
    return -np.divide(sums**2, below, out=np.zeros_like(sums), where=(sums > 0) & (below > 0))


def _strata(votes: Votes) -> Ints:
    """Return the number of the pair of each battle; ballots on more items are all of one kind."""
    if not votes.compares_two:
        return np.zeros(votes.distinct, dtype=np.int64)
    found = np.zeros(votes.distinct, dtype=np.int64)
    for part, block in votes.ballots.blocks():
        lists = block.matrix() > 0
        first = lists.argmax(axis=1)
        second = votes.n - 1 - lists[:, ::-1].argmax(axis=1)
        found[part] = first * votes.n + second
    return np.unique(found, return_inverse=True)[1].ravel()


def _by_stratum(table: Floats, stratum: Ints, strata: int) -> Floats:
    out = np.zeros((strata, table.shape[1]))
    np.add.at(out, stratum, table)
    return out


def _some_people(people: People, gaps: int) -> Iterator[tuple[int, slice, Ints]]:
    """Yield the first of some people, their entries, and where those of each begin."""
    count = np.bincount(people.person, minlength=len(people.names))
    ends = np.concatenate(([0], np.cumsum(count)))
    most = max(1, _AT_A_TIME // max(gaps, 1))
    first = 0
    while first < len(count):
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + most, side="right")) - 1)
        last = min(last, len(count))
        yield first, slice(int(ends[first]), int(ends[last])), ends[first:last] - ends[first]
        first = last


def few_people(known: Evidence, seen: Weighed | None) -> Finding:
    """Compare the errors of drawing people and of drawing votes, and count the people behind half of the votes."""
    people = known.people
    if people is None or seen is None:
        return not_applicable("people", _why_not(known))
    totals = np.sort(people.totals)[::-1]
    if totals[0] <= 1:
        return not_applicable("people", "one vote each", of=people.of)
    half = int(np.searchsorted(np.cumsum(totals), totals.sum() / 2) + 1)
    middle = float(np.median(seen.inflation))
    reach = critical(known.level, 1) * seen.doubt
    ends = math.sqrt(middle / (1 + reach)), math.sqrt(middle / (1 - reach)) if reach < 1 else math.inf
    enough = len(totals) >= _FEWEST_PEOPLE
    wider = enough and ends[0] > BARS["wider"]
    few = enough and half <= BARS["few"] * len(totals)
    z = known.standing.z[seen.gaps[:, 0], seen.gaps[:, 1]]
    order = np.argsort(-people.totals, kind="stable")[:half].tolist()
    return Finding(
        "people",
        "raised" if wider or few else "clear",
        value=math.sqrt(middle),
        lower=ends[0],
        upper=ends[1] if math.isfinite(ends[1]) else None,
        bar=BARS["wider"],
        people=tuple(people.names[k] for k in order[:_MOST_NAMED]) if wider or few else (),
        facts={
            "of": people.of,
            "noun": known.noun,
            "people": len(totals),
            "half": half,
            "busiest": people.names[order[0]],
            "busiest_share": float(totals[0] / totals.sum()),
            "wider": math.sqrt(middle),
            "lower": ends[0],
            "raised_by_width": wider,
            "raised_by_few": few,
            "gaps": len(seen.gaps),
            "separated": int(separated(z, known.level).sum()),
            "separated_by_people": int(separated(z / np.sqrt(np.maximum(seen.inflation, 1.0)), known.level).sum()),
        },
    )


def judge(known: Evidence, seen: Weighed | None) -> Finding:
    """Look for a person without whom two neighbours swap, and whose votes differ from those of the others.

    Close gaps reverse when any person is left out. So the person's votes on the two items must differ significantly
    from all votes, over all people and gaps together (Bernstein's inequality), and the order without them is computed.
    """
    people, votes = known.people, known.votes
    if people is None or seen is None:
        return not_applicable("judge", _why_not(known))
    assert isinstance(votes, Votes)
    if people.totals.max() <= 1:
        return not_applicable("judge", "one vote each", of=people.of)
    if len(people.names) < 2:
        return not_applicable("judge", "one person", of=people.of)
    carried: list[tuple[int, int, Standing]] = []
    rests: dict[int, tuple[Votes, Ints] | None] = {}
    for person, gap, _, _ in seen.deeds:
        if person not in rests:
            if len(rests) >= _TRIED:
                break
            rests[person] = _without(known, people, person)
        rest = rests[person]
        a, b = seen.gaps[gap].tolist()
        if rest is not None and rest[1][a] > rest[1][b]:
            carried.append((person, gap, standing(rest[0], known.rule)))
    facts = {"of": people.of, "people": len(people.names), "scale": known.standing.scale, "cases": len(carried)}
    facts |= {"noun": known.noun}
    if not carried:
        return Finding("judge", "clear", value=0.0, lower=0.0, upper=0.0, bar=1.0, facts=facts)
    person, gap, left = carried[0]
    a, b = seen.gaps[gap].tolist()
    reach = critical(known.level, 1) * float(left.error[a, b])
    lead = float(left.lead[a, b])
    return Finding(
        "judge",
        "raised",
        value=lead,
        lower=lead - reach if math.isfinite(reach) else None,
        upper=lead + reach if math.isfinite(reach) else None,
        bar=0.0,
        pairs=tuple(dict.fromkeys((known.items[seen.gaps[g, 0]], known.items[seen.gaps[g, 1]]) for _, g, _ in carried)),
        people=tuple(dict.fromkeys(people.names[p] for p, _, _ in carried)),
        facts={
            **facts,
            "person": people.names[person],
            "votes": float(people.totals[person]),
            "share": float(people.totals[person] / people.totals.sum()),
            "pair": (known.items[a], known.items[b]),
            "with": float(known.standing.lead[a, b]),
            "without": lead,
        },
    )


def _without(known: Evidence, people: People, person: int) -> tuple[Votes, Ints] | None:
    """Return the votes without those of a person, and the ranks of their consensus; None if there are no others."""
    votes = known.votes
    assert isinstance(votes, Votes)
    mine = people.person == person
    left = votes.weights.copy()
    np.subtract.at(left, people.row[mine], people.weight[mine])
    left[left < 1e-9 * votes.weights] = 0.0
    if not left.any():
        return None
    rest = votes.with_weights(left)
    return rest, consensus_of(rest, known.T, _SECONDS).ranking.ranks


def _why_not(known: Evidence) -> str:
    if not isinstance(known.votes, Votes):
        return "pair counts"
    if not known.votes.is_counts:
        return "shares"
    if known.people is None:
        return "no people" if known.category is None or known.votes.compares_two else "by alone"
    return "no gap"
