"""The assignment problem: n items to n places at the least cost, with the proof and the first of equal optima."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdrank.arrays.kernels import fastest
from holdrank.rankings import Floats, Ints


@dataclass(frozen=True, slots=True)
class Assignment:
    """Places of the items, what they cost, and whether another assignment costs the same."""

    place: Ints
    cost: float
    unique: bool


def assign(cost: Floats, tolerance: float) -> Assignment:
    """Return the cheapest assignment of rows (items) to columns (places).

    Among equally cheap ones it is the one whose list of items by place is lexicographically first. The duals prove it:
    no reduced cost is negative, and an assignment is optimal exactly when it uses only pairs of reduced cost zero.
    """
    item_at, item_dual, place_dual = engine(len(cost))(np.ascontiguousarray(cost))
    reduced = cost - item_dual[:, None] - place_dual
    tight = reduced <= tolerance
    unique = _first_of_equals(tight, item_at)
    place = np.empty(len(cost), dtype=np.int64)
    place[item_at] = np.arange(len(cost))
    return Assignment(place, float(cost[item_at, np.arange(len(cost))].sum()), unique)


def all_assignments(cost: Floats, tolerance: float, most: int) -> list[Ints] | None:
    """Return the places of the items in every cheapest assignment; None when there are more than `most`."""
    _, item_dual, place_dual = engine(len(cost))(np.ascontiguousarray(cost))
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


def engine(n: int, times: int = 1) -> Callable[[Floats], tuple[Ints, Floats, Floats]]:
    """Return what finds the item at each place of one optimum, and duals of items and places, for so many problems."""
    return fastest(assign_places, _shortest_paths, seconds=times * n**2 / 4e5)


def assign_places(cost: Any) -> Any:
    """Return (item at each place, dual of each item, dual of each place) of a cheapest assignment.

    Jonker and Volgenant's method: duals from the cheapest item of each place, some rounds in which items without a
    place outbid each other, and shortest augmenting paths for the items that are left.
    """
    n = len(cost)
    item_at = np.full(n, -1, np.int64)
    place_of = np.full(n, -1, np.int64)
    dual = np.empty(n)  # of the places
    for place in range(n - 1, -1, -1):
        cheapest = 0
        for item in range(1, n):
            if cost[item, place] < cost[cheapest, place]:
                cheapest = item
        dual[place] = cost[cheapest, place]
        if place_of[cheapest] < 0:
            place_of[cheapest] = place
            item_at[place] = cheapest
    waiting = np.empty(n, np.int64)
    count = 0
    for item in range(n):
        if place_of[item] < 0:
            waiting[count] = item
            count += 1
    bids = 0
    for _ in range(2):
        at, left = 0, 0
        while at < count:
            item = waiting[at]
            at += 1
            bids += 1
            best, second = np.inf, np.inf
            to, other = -1, -1
            for place in range(n):
                reduced = cost[item, place] - dual[place]
                if reduced < best:
                    second, other = best, to
                    best, to = reduced, place
                elif reduced < second:
                    second, other = reduced, place
            strictly = best < second
            if strictly:
                dual[to] -= second - best
            elif item_at[to] >= 0 and other >= 0:
                to = other
            loser = item_at[to]
            item_at[to] = item
            place_of[item] = to
            if loser >= 0:
                place_of[loser] = -1
                if strictly and bids < 20 * n:
                    at -= 1
                    waiting[at] = loser  # it bids again at once
                else:
                    waiting[left] = loser
                    left += 1
        count = left
    distance = np.empty(n)
    via = np.empty(n, np.int64)
    settled = np.empty(n, np.bool_)
    for w in range(count):
        new = waiting[w]
        for place in range(n):
            distance[place] = cost[new, place] - dual[place]
            via[place] = -1
            settled[place] = False
        while True:
            here = -1
            for place in range(n):
                if not settled[place] and (here < 0 or distance[place] < distance[here]):
                    here = place
            settled[here] = True
            item = item_at[here]
            if item < 0:
                break
            base = distance[here] - (cost[item, here] - dual[here])
            for place in range(n):
                if not settled[place]:
                    through = base + cost[item, place] - dual[place]
                    if through < distance[place]:
                        distance[place] = through
                        via[place] = here
        for place in range(n):
            if settled[place]:
                dual[place] -= distance[here] - distance[place]
        while via[here] >= 0:
            item_at[here] = item_at[via[here]]
            place_of[item_at[here]] = here
            here = via[here]
        item_at[here] = new
        place_of[new] = here
    item_dual = np.empty(n)
    for item in range(n):
        item_dual[item] = cost[item, place_of[item]] - dual[place_of[item]]
    return item_at, item_dual, dual


def _shortest_paths(cost: Floats) -> tuple[Ints, Floats, Floats]:
    """Return the item at each place of one optimum, and duals of items and places: shortest augmenting paths."""
    n = len(cost)
    item_dual, place_dual = np.zeros(n), cost.min(axis=0)
    item_at = np.full(n, -1)
    for new in range(n):
        # Dijkstra over places, from the new item, in reduced costs.
        distance = cost[new] - item_dual[new] - place_dual
        via = np.full(n, -1)  # the place before this one on the cheapest path
        settled = np.zeros(n, dtype=bool)
        while True:
            at = int(np.where(settled, np.inf, distance).argmin())
            settled[at] = True
            if item_at[at] < 0:
                break
            item = item_at[at]
            through = distance[at] + cost[item] - item_dual[item] - place_dual
            shorter = ~settled & (through < distance)
            distance[shorter] = through[shorter]
            via[shorter] = at
        rise = distance[at] - distance[settled]
        items = item_at[settled]
        place_dual[settled] -= rise
        item_dual[items[items >= 0]] += rise[items >= 0]
        item_dual[new] += distance[at]
        while via[at] >= 0:
            item_at[at] = item_at[via[at]]
            at = via[at]
        item_at[at] = new
    return item_at, item_dual, place_dual


def _first_of_equals(tight: np.ndarray[tuple[int, int], np.dtype[np.bool_]], item_at: Ints) -> bool:
    """Make `item_at` the lexicographically first perfect matching of the tight pairs; return whether it was the only.

    For each place in turn, an earlier item may take it if the displaced item finds a way, over places not yet
    fixed, to the place that this frees.
    """
    n = len(item_at)
    unique = True
    for place in range(n):
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
