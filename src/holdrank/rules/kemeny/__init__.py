"""The exact engine behind `kemeny`: the cheapest strict order under a matrix of pair costs.

``cost[i, j]`` is the cost of placing i before j. The layers, each exact, from the fastest to the slowest:

1. `parts`: items split into components that every optimal order lists one after the other. Inside a component only the
   margins that an order loses count, in units of their greatest common divisor.
2. `subsets`: a component of few items is solved by dynamic programming over its subsets.
3. `search`: a larger one gets a good order from insertions with restarts.
4. `branch`: a linear program with lazy rows (`program`) bounds it: `triangles` of all pairs, which weights on `cycles`
   choose in hard programs, or cycles of `majorities` where these or the items are few; then, with triangles, `cuts` on
   a few items. If a gap remains, a small component is solved by its subsets, one with many symmetries by its subsets up
   to `symmetry`. In others, orders grow from both ends while they fit into the gap (`prefixes`), and branching closes
   the rest, over majorities with `trials`.
5. `packing`: a component too large for the linear program gets an order by searching windows of it, and a bound from
   weighted majority `cycles`, which improves with time; orders grow into a small gap.

`batch` solves many small matrices at once, by subsets, on any array library.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product

import numpy as np

from holdrank.errors import LimitError
from holdrank.rankings import Floats
from holdrank.rules.kemeny import branch, packing, search, subsets
from holdrank.rules.kemeny.batch import cheapest_ranks
from holdrank.rules.kemeny.parts import Part, Solved, components, lost_margins, order_cost, tie_tolerance
from holdrank.status import Clock, Step

__all__ = ["Solved", "all_cheapest_orders", "cheapest_order", "cheapest_ranks", "components"]

_MOST_COLUMNS = 130_000  # pairs of items in a linear program: 510 items


def cheapest_order(
    cost: Floats,
    *,
    whole: bool,
    clock: Clock,
    progress: Callable[[Step], None] | None = None,
) -> Solved:
    """Return the order with the least sum of ``cost[i, j]`` over i before j, with a proof if time allows.

    Parameters
    ----------
    cost : (n, n) array
    whole : bool
        The costs are whole or half numbers (counts of votes), so that equal sums are exactly equal.
    clock : Clock
        When it is over, the best results so far are returned: every component gets at least an order and a cheap bound.
    progress : callable, optional
        Called with a `Step` for every component that is finished and every node of a search tree.
    """
    tolerance = tie_tolerance(cost)
    groups = components(cost, 0.0 if whole else tolerance)
    found: list[Part] = []
    gaps = 0.0
    for number, members in enumerate(groups):
        if progress is not None:
            progress(Step("components", number, len(groups)))
        if len(members) == 1:
            found.append(Part((0,), 0.0, 0.0, True, True, "majority"))
            continue
        sub = cost[np.ix_(members, members)] if len(members) < len(cost) else cost
        lost, unit, exact = lost_margins(sub, whole, tolerance)
        step, ties = (1.0, 0.0) if exact else (0.0, tolerance / unit)
        part = _solve_component(lost, step, ties, clock, progress)
        gaps += (part.cost - part.bound) * unit
        found.append(part)
    order = tuple(int(members[i]) for members, part in zip(groups, found, strict=True) for i in part.order)
    value = order_cost(cost, np.array(order))
    verdicts = {part.unique for part in found}
    return Solved(
        order=order,
        cost=value,
        bound=value - gaps,
        unique=False if False in verdicts else None if None in verdicts else True,
        proved=all(part.proved for part in found),
        too_large=any(part.how == packing.HOW and not part.proved for part in found),
        proof=_describe(found),
    )


def _solve_component(
    cost: Floats, step: float, tolerance: float, clock: Clock, progress: Callable[[Step], None] | None
) -> Part:
    n = len(cost)
    if n <= subsets.ALWAYS_UP_TO:
        return subsets.solve(cost, tolerance)
    if n * (n - 1) // 2 > _MOST_COLUMNS:
        return packing.solve(cost, step, tolerance, clock, progress)
    return branch.solve(cost, search.good_order(cost, clock), step, tolerance, clock, progress)


def _describe(found: list[Part]) -> str:
    """Return how each component was solved: ``3 single items; subsets (5 items); linear program (24 items)``."""
    singles = sum(len(part.order) == 1 for part in found)
    words = [f"{singles} single item{'s' * (singles != 1)} by majority"] if singles else []
    rest = Counter((part.how, len(part.order)) for part in found if len(part.order) > 1)
    words += [f"{f'{count} x ' if count > 1 else ''}{size} items by {how}" for (how, size), count in rest.items()]
    return "; ".join(words)


def all_cheapest_orders(cost: Floats, *, whole: bool, most: int) -> list[tuple[int, ...]]:
    """Return every cheapest order, in lexicographic order; refuse large components and more than `most` orders."""
    choices = []
    total = 1
    tolerance = tie_tolerance(cost)
    for members in components(cost, 0.0 if whole else tolerance):
        if len(members) > subsets.ALWAYS_UP_TO:
            raise LimitError(
                f"{len(members)} items form one component of the majority relation; "
                f"all optimal rankings are listed up to {subsets.ALWAYS_UP_TO} items per component"
            )
        lost, unit, exact = lost_margins(cost[np.ix_(members, members)], whole, tolerance)
        optima = subsets.all_orders(lost, 0.0 if exact else tolerance / unit, most)
        total *= len(optima)
        if total > most:
            raise subsets.too_many(most)
        choices.append([tuple(int(members[i]) for i in order) for order in optima])
    return [tuple(i for part in parts for i in part) for parts in product(*choices)]
