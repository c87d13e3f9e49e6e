"""What all optimal rankings share, in a record: counted again over all sets of items."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holdrank.analysis.records import Record
from holdrank.proofs import exact
from holdrank.proofs.recorded.record import Recorded
from holdrank.proofs.verdicts import Check

_CLAIM = "what all optimal rankings share is as reported"


def optima_checks(recorded: Recorded) -> Iterator[Check]:
    """Check the number of optimal rankings and what they share; up to 16 items nothing may be left undecided."""
    found = recorded.record.get("optima")
    if found is None:
        return
    n, order = recorded.n, list(recorded.record["consensus"]["order"])
    if wrong := _contradiction(found, order):
        yield Check(_CLAIM, "refuted", wrong)
    elif recorded.median.base != "kemeny":
        yield Check(_CLAIM, "refuted", "it is not about Kemeny's rule")
    elif not recorded.votes.is_counts:
        yield Check(_CLAIM, "open", "weights are shares, and sums of them are rounded")
    elif n > exact.MOST_ITEMS:
        yield Check(_CLAIM, "open", f"more than {exact.MOST_ITEMS} items")
    else:
        expected = _shared(exact.common(exact.pair_costs(recorded.median.exact)), order)
        wrong = ", ".join(name for name, value in expected.items() if found[name] != value)
        yield Check(_CLAIM, "refuted" if wrong else "proved", f"wrong: {wrong}" if wrong else "")


def _contradiction(found: Record, order: list[int]) -> str:
    """Return which numbers of the record contradict each other; empty if none do."""
    n = len(order)
    if [item for group in found["groups"] for item in group] != order or not all(found["groups"]):
        return "its groups are not the items in their order"
    if len(found["first"]) != n or len(found["last"]) != n:
        return "places are missing, or too many"
    if found["same"] + found["differ"] + found["undecided"] != n * (n - 1) // 2:
        return "its pairs do not add up"
    most = found["most"]
    if min(found["fewest"], found["same"] + 1, found["differ"] + 1, found["undecided"] + 1) < 1:
        return "a number is too small"
    if most is not None and most < found["fewest"]:
        return "its bounds contradict each other"
    return ""


def _shared(common: exact.Common, order: list[int]) -> Record:
    """Return what the record should say, from the number of optimal orders and the pairs that each of them has."""
    n, above = len(order), np.array(common.above, dtype=bool)
    groups: list[list[int]] = [[]]
    for k, item in enumerate(order):
        groups[-1].append(item)
        if k + 1 < n and all(above[i, j] for i in order[: k + 1] for j in order[k + 1 :]):
            groups.append([])
    same = int(above.sum())
    most = common.count
    return {
        "fewest": min(most, 2**53),
        "most": most if most <= 2**53 else None,
        "same": same,
        "differ": n * (n - 1) // 2 - same,
        "undecided": 0,
        "groups": groups,
        "first": [1 + int(above[:, i].sum()) for i in range(n)],
        "last": [n - int(above[i].sum()) for i in range(n)],
    }
