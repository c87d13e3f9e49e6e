"""Lines about a result: loss and status of a consensus, the certainty of a bound, the gain of the best threshold."""

from __future__ import annotations

import math

from holdrank.errors import show
from holdrank.status import Status
from holdrank.words.names import distance_name, listed
from holdrank.words.nouns import amount_text, noun_of
from holdrank.words.numbers import decimal, longer, number, percent, plural, span
from holdrank.words.prices import CANNOT_BREAK, Facts

STEPS = {
    "consensus": "finding the consensus",
    "tiers": "choosing the tiers",
    "attack": "looking for the smallest attack",
    "chance": "testing which items differ by more than chance",
    "claims": "testing claims",
    "gaps": "counting the votes that break each gap",
    "cut": "testing the cut",
    "removals": "removing one item at a time",
    "races": "counting the votes to overtake each neighbour",
    "bootstrap": "drawing bootstrap samples",
    "reach": "finding the ranks an adversary can reach",
    "voters": "leaving out voters",
    "audit": "looking for what could mislead",
    "tradeoff": "computing the trade-off between loss and robustness",
    "curves": "computing breakdown curves",
    "others": "comparing with the other rules",
    "refine": "tightening bounds",
}
"""The steps of an analysis, in their order and in words."""

_LEADERS = 2  # items of a shared first place that are named
_NEARLY = 0.9  # of the time limit: then the limit is what ended the work
_OPTIMA = {True: "the only optimum", False: "one of several optima", None: "other optima not ruled out"}


def few_draws_text(drawn: int, asked: int | None = None) -> str:
    """Return the sentence that too few draws were ranked for intervals.

    Examples
    --------
    >>> few_draws_text(3, 1000), few_draws_text(3)
    ('3 of 1,000 bootstrap samples ranked, too few for intervals', '3 bootstrap samples ranked, too few for intervals')
    """
    part = "" if asked is None else f" of {asked:,}"
    return f"{drawn:,}{part} bootstrap samples ranked, too few for intervals"


def more_time_text(time_limit: float, gain: str, seconds: float | None = None) -> str:
    """Return the sentence that a time limit ended the work, and what ten times as long would give.

    Where the whole took only some `seconds` of it, parts of the work used up their shares.

    Examples
    --------
    >>> more_time_text(30.0, "may close the gap")
    'stopped at the time limit of 30 s; --time-limit 300 may close the gap'
    >>> more_time_text(30.0, "may close the gaps", 7.2)
    'parts stopped at their share of the time limit of 30 s; --time-limit 300 may close the gaps'
    """
    early = seconds is not None and seconds < _NEARLY * time_limit
    said = "parts stopped at their share of the time limit" if early else "stopped at the time limit"
    return f"{said} of {time_limit:g} s; --time-limit {longer(time_limit):g} {gain}"


def settled_text(noun: str, lower: float, upper: float) -> str:
    """Return the sentence that the number of whole votes is exact, though their share is known between bounds only.

    Examples
    --------
    >>> settled_text("battle", 0.0006, 0.00067)
    'exact in whole battles; the minimum share lies between 0.06 % and 0.067 %'
    """
    return f"exact in whole {noun}s; the minimum share lies between {percent(lower)} and {percent(upper)}"


def consensus_text(found: Facts, merge: str | None = None) -> str:
    """Return loss, status and uniqueness in one line; `merge` says how tiers came about.

    Parameters
    ----------
    found : mapping
        As in the record of a consensus.
    merge : {"downward", "naive", "smith"}, optional
    """
    status, unique = Status(found["status"]), found["unique"]
    if status in (Status.SCORED, Status.SORTED):
        alone = "all scores differ" if unique else "equal scores in the order of the file"
    elif status is Status.MERGED and unique:
        # By dominating sets the tiers are the same from every median (`smith_merge`).
        alone = "the only tiers" if merge == "smith" else "that ranking is the only optimum"
    elif status is Status.MERGED and found["notes"]:
        alone = "other tiers not ruled out"
    else:
        alone = _OPTIMA[unique]
    gap = "" if status.is_exact else f", lower bound {decimal(found['bound'], 6)}"
    return f"loss {decimal(found['loss'], 6)} ({distance_name(found['distance'])}{gap}); {status}; {alone}"


def majority_text(for_it: float, against: float) -> str:
    """Return by how many votes an item is preferred to another."""
    both = for_it + against
    return f"{number(for_it)} of {number(both)} ({percent(for_it / both)})" if both else "never compared"


def never_compared_text(never: int, pairs: int, neighbours: int) -> str:
    """Return why several orders are optimal: pairs that no vote compares, some of them neighbours in the order.

    Examples
    --------
    >>> never_compared_text(1230, 1711, 17)
    'several orders are optimal: 1,230 of 1,711 pairs were never compared, and 17 of those are neighbours here'
    """
    met = f"{never:,} of {plural(pairs, 'pair')} {'was' if never == 1 else 'were'} never compared"
    near = f"{neighbours:,} of those {'is a pair of' if neighbours == 1 else 'are'} neighbours here"
    return f"several orders are optimal: {met}, and {near}"


def first_so_far(*names: str) -> str:
    """Return who is first, or who share first place, which is known before anything else.

    Examples
    --------
    >>> first_so_far("a"), first_so_far("a", "b")
    ('a is first so far', 'a and b share first place so far')
    """
    who = listed([show(name, 60) for name in names], _LEADERS)
    return f"{who} {'is first' if len(names) == 1 else 'share first place'} so far"


def so_far(least: float, most: float, votes: Facts, *, share: float = math.inf, pairs: int = 0) -> str:
    """Return the bounds of an attack while the search runs: votes that are needed, and votes that are enough.

    `share` is the share of the votes that is enough, where no number of whole votes is known to be; `pairs` is how many
    pairs the attack moves, where several such attacks are looked for.

    Examples
    --------
    >>> votes = {"counts": True, "format": "battles"}
    >>> so_far(31, 45, votes), so_far(1, 45, votes), so_far(31, float("inf"), votes), so_far(1, float("inf"), votes)
    ('31 to 45 battles so far', 'at most 45 battles so far', 'at least 31 battles so far', '')
    >>> so_far(31, float("inf"), votes, share=0.2, pairs=1200)
    'moving 1,200 pairs takes at least 31 battles and at most 20 % so far'
    """
    noun = noun_of(votes)
    known = amount_text(least, most if math.isfinite(most) else None, votes)
    unit = f"{noun}{'s' * (known != '1')}" if votes["counts"] else f"of the {noun}s"
    parts = [f"{known} {unit}"] * bool(known) + [f"at most {percent(share)}"] * math.isfinite(share)
    moved = f"moving {plural(pairs, 'pair')} takes " if pairs else ""
    return f"{moved}{' and '.join(parts)} so far" if parts else ""


def draws_text(draws: int, unchanged: float, status: str) -> str:
    """Return how many bootstrap samples there were, and how often the order stayed the same."""
    return f"{plural(draws, 'bootstrap sample')}, {percent(unchanged)} in the same order; {status}"


def place_text(name: str, place: float, best: float, worst: float, first: float) -> str:
    """Return the bootstrap interval of an item's place, and how often it is first.

    Examples
    --------
    >>> place_text("a", 1.0, 1.0, 2.0, 0.813)
    'a: 1 (1–2), first in 81.3 %'
    """
    return f"{show(name)}: {place:g} ({span(best, worst)}), first in {percent(float(first))}"


def certainty(lower: float | None, upper: float | None, method: str) -> str:
    """Return how sure a row of a breakdown is, in a word or two; None stands for infinity.

    Examples
    --------
    >>> certainty(0.1, 0.1, "exact"), certainty(None, None, "exact"), certainty(0.1, 0.2, "bounds")
    ('exact', 'exact', 'theorem')
    >>> certainty(0.0, 0.2, "search"), certainty(0.1, None, "exact")
    ('attack only', 'bounds')
    >>> certainty(0.0, 0.2, "paper"), certainty(0.0, None, "paper")
    ('estimate, attained', 'estimate, not attained')
    """
    if method == "paper":
        return "estimate, not attained" if upper is None else "estimate, attained"
    if lower == upper:
        return "exact"
    if method == "search" and not lower:
        return "attack only"
    return {"bounds": "theorem", "smooth": "estimate"}.get(method, "bounds")


def best_text(found: Facts, extra: float, *, strict: bool) -> str:
    """Return how much robustness the best threshold of a trade-off adds, and for how much more loss.

    `strict` says whether there are no ties at the threshold 0.

    Examples
    --------
    >>> found = {"theta": [0, 0.01, 0.5], "lower": [0.01, 0.49, None], "best": 1, "tolerance": 0.02}
    >>> best_text(found, 0.0035, strict=True)
    'best: theta = 0.01 breaks at 49 % of the votes, without ties at 1 %, for 0.0035 more loss (up to 0.02 allowed)'
    >>> best_text({**found, "lower": [0.0, 0.0, None]}, -1e-9, strict=True)
    'no threshold with up to 0.02 more loss is proven to be more robust than another; theta = 0.01 loses 0.0000 more'
    """
    after, before = (found["lower"][k] for k in (found["best"], 0))
    extra = 0.0 if abs(extra) < 5e-5 else extra  # no sign before zero
    if after == 0:
        return (
            f"no threshold with up to {found['tolerance']:g} more loss is proven to be more robust than another; "
            f"theta = {found['theta'][found['best']]:.4g} loses {extra:.4f} more"
        )
    chosen = CANNOT_BREAK if after is None else f"breaks at {percent(after)} of the votes"
    plain = CANNOT_BREAK if before is None else f"at {percent(before)}"
    if after is None and before is not None:
        plain = f"it breaks at {percent(before)} of the votes"
    return (
        f"best: theta = {found['theta'][found['best']]:.4g} {chosen}, {'without ties' if strict else 'at theta = 0'} "
        f"{plain}, for {extra:.4f} more loss (up to {found['tolerance']:g} allowed)"
    )
