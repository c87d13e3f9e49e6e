"""The gaps between tiers, the races of neighbours, and the items that are safe at the cut."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice, pairwise

import numpy as np

from holdrank.analysis.spec import cut_budget
from holdrank.attacks import goals
from holdrank.attacks.answers import attack
from holdrank.attacks.goals import Goal
from holdrank.attacks.reach import whole_budget
from holdrank.errors import show
from holdrank.proofs.claims import Amounts
from holdrank.proofs.lower import least_checks
from holdrank.proofs.recorded.attacks import number_checks
from holdrank.proofs.recorded.record import Recorded, amounts_of, least_share
from holdrank.proofs.statistics import LISTED
from holdrank.proofs.verdicts import Check
from holdrank.rankings import Ranking
from holdrank.votes.changes import Change

_MOST_RACES = 20  # of neighbours that are checked


def gap_checks(recorded: Recorded) -> Iterator[Check]:
    """Check the votes needed to change the items above each gap between tiers."""
    sizes = [len(bucket) for bucket in Ranking(recorded.shown.ranks).buckets]
    gaps = recorded.record["gaps"]
    if len(gaps) != len(sizes) - 1 or not all(gap["known"] for gap in gaps):
        yield Check("every gap between tiers was tested", "open", "some were not")
    for k, gap in zip(np.cumsum(sizes)[:-1].tolist(), gaps, strict=False):
        if gap["known"]:
            yield from number_checks(recorded, recorded.reported, recorded.shown, goals.TopSet(k), gap)


def race_checks(recorded: Recorded) -> Iterator[Check]:
    """Check the votes needed for each item to pass the one before it; for many items, only the first ones."""
    races = recorded.record.get("races")
    if races is None:
        return
    order, names = recorded.record["consensus"]["order"], recorded.votes.items
    if len(races) != len(order) - 1:
        yield Check("there is a race for every pair of neighbours", "refuted", f"there are {len(races):,}")
        return
    for (above, below), race in islice(zip(pairwise(order), races, strict=True), _MOST_RACES):
        if race["known"]:
            goal = goals.Above(names[below], names[above])
            yield from number_checks(recorded, recorded.median, recorded.told, goal, race)
    if len(races) > _MOST_RACES or not all(race["known"] for race in races):
        yield Check("every race of neighbours is as reported", "open", f"only the first {_MOST_RACES} are checked")


def cut_checks(recorded: Recorded) -> Iterator[Check]:
    """Check which items are above the cut, and which are safe."""
    cut, asked = recorded.record["cut"], recorded.record["spec"]["k"]
    if cut is None:
        if asked is not None and recorded.n > 1:
            yield Check(f"the cut after {asked} was tested", "open", "it was not")
        return
    order, k, budget = (
        recorded.record["consensus"]["order"],
        cut["k"],
        whole_budget(cut_budget(recorded.record["spec"]["budget"]), recorded.votes),
    )
    if k != asked or cut["budget"] != budget or [row["item"] for row in cut["items"]] != order:
        yield Check("the cut is the requested one", "refuted", "it is different")
        return
    whole = (
        attack(recorded.median.votes, recorded.median.T, goals.TopSet(k), time_limit=recorded.seconds())
        if recorded.n <= LISTED
        else None
    )
    for place, row in enumerate(cut["items"], start=1):
        name, inside = recorded.votes.items[row["item"]], place <= k
        goal: Goal = goals.Leaves(name, k) if inside else goals.Enters(name, k)
        if row["inside"] != inside:
            yield Check(f"{show(name, 60)} is on its side of the cut", "refuted", "it is on the other side")
        amounts = amounts_of(row, recorded.votes)
        least = least_share(amounts, recorded.votes)
        if whole is not None and row["safe"] != (max(least, least_share(Amounts.of(whole), recorded.votes)) > budget):
            safe = "safe" if row["safe"] else "not safe"
            yield Check(f"{show(name, 60)} is {safe} at the cut", "refuted", "its bounds say otherwise")
        shown = any(row[name] is not None for name in ("upper", "ties", "sufficient"))
        if whole is None or shown or math.isinf(amounts.lower):
            yield from number_checks(recorded, recorded.median, recorded.told, goal, row)
            continue
        # An item that crosses the cut changes the set above it, whose bound is reported.
        yield from least_checks(recorded.median, recorded.told, [(goal, amounts)], Change.REPLACE)
        told = Amounts.of(whole)
        same = (amounts.lower, amounts.needed, amounts.decides) == (told.lower, told.needed, told.decides)
        if not (same and whole.exact):
            yield Check(
                f"the bound for {goal.text()} is that of any change of the top {k}", "open", "it is not the same"
            )
