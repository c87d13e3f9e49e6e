"""The assignment problem: n items to n places at the lowest cost, with the proof and the first of equal optima."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from holdrank.arrays.native import call
from holdrank.rankings import Floats, Ints


@dataclass(frozen=True, slots=True)
class Assignment:
    """Places of the items, their cost, and whether another assignment costs the same."""

    place: Ints
    cost: float
    unique: bool


def assign(cost: Floats, tolerance: float) -> Assignment:
    """Return the cheapest assignment of rows (items) to columns (places).

    Among equally cheap ones it is the one whose list of items by place is lexicographically first. The duals prove it:
    no reduced cost is negative, and an assignment is optimal exactly when it uses only pairs of reduced cost zero.
    """
    item_at, item_dual, place_dual = solve(cost)
    reduced = cost - item_dual[:, None] - place_dual
    tight = reduced <= tolerance
    unique = _first_of_equals(tight, item_at)
    place = np.empty(len(cost), dtype=np.int64)
    place[item_at] = np.arange(len(cost))
    return Assignment(place, float(cost[item_at, np.arange(len(cost))].sum()), unique)


def all_assignments(cost: Floats, tolerance: float, most: int) -> list[Ints] | None:
    """Return the places of the items in every cheapest assignment; None when there are more than `most`."""
    _, item_dual, place_dual = solve(cost)
    tight = cost - item_dual[:, None] - place_dual <= tolerance
    n, found = len(cost), list[Ints]()
    waiting: list[tuple[int, ...]] = [()]  # items at the first places; the lexicographically first comes last
    steps = 0
    while waiting:
        first = waiting.pop()
        steps += 1
        if len(first) == n:
            place = np.empty(n, dtype=np.int64)
            place[list(first)] = np.arange(n)
            found.append(place)
        if len(found) > most or steps > 20 * n * most:  # dead ends count, too
            return None
        if len(first) < n:
            waiting += [
                (*first, item) for item in np.flatnonzero(tight[:, len(first)])[::-1].tolist() if item not in first
            ]
    return found


def solve(cost: Floats) -> tuple[Ints, Floats, Floats]:
    """Return the item at each place of one optimum, and duals of items and places; costs must be finite."""
    n = len(cost)
    if not np.isfinite(cost).all():
        raise ValueError("costs must be finite")
    item_at, item_dual, place_dual = np.empty(n, np.int64), np.empty(n), np.empty(n)
    call("assign_places", np.ascontiguousarray(cost, dtype=np.float64), n, item_at, item_dual, place_dual)
    return item_at, item_dual, place_dual


def _first_of_equals(tight: np.ndarray[tuple[int, int], np.dtype[np.bool_]], item_at: Ints) -> bool:
    """Make `item_at` the lexicographically first perfect matching of the tight pairs; return whether it was the only.

    For each place in turn, an earlier item may take it if the displaced item finds a way, over places not yet
    fixed, to the place that this frees.
    """
    unique = True
    for place in np.flatnonzero(_perhaps_on_cycles(tight[item_at])).tolist():
        for item in np.flatnonzero(tight[:, place]):
            if item == item_at[place]:
                # Later items at this place would also be optimal, if the rest can be rearranged.
                unique = unique and not any(
                    _rearrange(tight, item_at.copy(), place, int(other))
                    for other in np.flatnonzero(tight[:, place])
                    if other > item and other in item_at[place + 1 :]
                )
                break
            if item in item_at[place + 1 :] and _rearrange(tight, item_at, place, int(item)):
                unique = False
                break
    return unique


def _perhaps_on_cycles(
    leads: np.ndarray[tuple[int, int], np.dtype[np.bool_]],
) -> npt.NDArray[np.bool_]:
    """Return the places whose item may differ between optima: only items on a cycle of tight pairs can change places.

    ``leads[p, q]`` says that the item at place p may also stand at q. Places that none leads to, or that lead nowhere,
    are left out until there are no more of them.
    """
    leads = leads.copy()
    np.fill_diagonal(leads, val=False)
    left = np.ones(len(leads), dtype=bool)
    out, into = leads.sum(axis=1), leads.sum(axis=0)
    while (gone := left & ((out == 0) | (into == 0))).any():
        left &= ~gone
        out -= leads[:, gone].sum(axis=1)
        into -= leads[gone].sum(axis=0)
    return left


def _rearrange(tight: np.ndarray[tuple[int, int], np.dtype[np.bool_]], item_at: Ints, place: int, item: int) -> bool:
    """Give `place` to `item` if the others can move to later tight places; change `item_at` only then."""
    n = len(item_at)
    goal = int(np.flatnonzero(item_at == item)[0])
    parent = np.full(n, -1)
    open_ = np.zeros(n, dtype=bool)
    open_[place + 1 :] = True
    queue = [place]
    while queue:
        here = queue.pop()
        reachable = np.flatnonzero(open_ & tight[item_at[here]])
        open_[reachable] = False
        parent[reachable] = here
        if parent[goal] >= 0:
            while goal != place:
                item_at[goal] = item_at[parent[goal]]
                goal = int(parent[goal])
            item_at[place] = item
            return True
        queue.extend(reachable.tolist())
    return False
