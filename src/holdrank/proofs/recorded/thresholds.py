"""The "auto" threshold of tiers, computed again in fractions from the counts of the pairs.

A pair is separated by votes where more than one must change to level it, and by chance where its lead is beyond the
normal bound at 95 %. No threshold ties a pair that is separated by both, or one on which three voters of four agree;
none is below a pair that one vote levels, or below half of the largest allowed value. Of the remaining values, the one
farthest from all deviations is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise

from holdrank.proofs import exact
from holdrank.proofs.recorded.record import Recorded
from holdrank.proofs.verdicts import Check
from holdrank.rules.registry import rule_of

_CHANCE = Fraction("3.841458820694124")  # the square of the normal quantile at 0.975
_AS_CLEAR = Fraction(1, 10**9)


def chosen_checks(recorded: Recorded) -> Iterator[Check]:
    """Check that the tiers use the "auto" threshold of these votes, where it was requested."""
    merged = recorded.record["tiers"]
    if merged is None or not merged["auto"]:
        return
    claim = f"{merged['theta']:g} is the threshold that these votes call for"
    if not recorded.votes.is_counts or rule_of(recorded.median.T).probabilities is not None:
        yield Check(claim, "open", "no independent proof exists for shares or for tiers by a model")
        return
    found = _threshold(recorded.median.ranked)
    right = abs(Fraction(merged["theta"]) - found) <= _AS_CLEAR
    yield Check(claim, "proved") if right else Check(claim, "refuted", f"that is {float(found):g}")


def _threshold(votes: exact.ExactVotes) -> Fraction:
    marks, separated, fragile = {Fraction(0), Fraction(1, 2)}, [Fraction(1, 4)], [Fraction(0)]
    for i, j in combinations(range(votes.n), 2):
        ballots = votes.compared[i][j] * votes.unit
        if not ballots:
            continue
        apart = Fraction(abs(votes.margins[i][j]), 2 * votes.compared[i][j])
        marks.add(apart)
        if apart * ballots <= 1:
            fragile.append(apart)
        elif 4 * ballots * apart**2 > _CHANCE:
            separated.append(apart)
    high = min(separated)
    low = max(high / 2, *(apart for apart in fragile if apart < high))
    clear = {}
    for below, above in pairwise(sorted(marks)):
        at = min(max((below + above) / 2, low), high)
        if below <= at < above:
            clear[at] = min(at - below, above - at)
    return min(at for at, room in clear.items() if room >= max(clear.values()) - _AS_CLEAR)
