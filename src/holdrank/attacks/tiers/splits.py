"""Parts of a cell that cover it: by what keeps two tiers apart, the next tier, the first item of a tier, or the merge.

A split by the merge asks why the merge prefers the tiers of the cell to an interval across them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import accumulate, combinations, pairwise
from typing import TypeAlias

import numpy as np

from holdrank.attacks.tiers.cells import Cell, Rows, Score, Window, alone, items_of
from holdrank.attacks.tiers.conditions import Row
from holdrank.attacks.tiers.passing import OrderPrices
from holdrank.attacks.tiers.runs import Run, runs_of
from holdrank.rankings import Floats
from holdrank.rules.merges import Merge

_FEW_BELOW = 3  # items below the tiers that are known
_ALL_TIERS, _MOST_TIERS = 16, 3000  # items of which all next tiers are listed; of more, at most this many
_MOST_FALLING = 7  # items of a tier all of whose parts are listed
_NARROW = 1e-7  # windows of deviations are not split further

_Choice: TypeAlias = tuple[tuple[int, int], set[tuple[int, int]]]  # a pair, and those that it must exceed


class Splitter:
    """Splits cells.

    Parameters
    ----------
    rows : Rows
    goal : Score
    merge : {"downward", "naive"}
    least_need : int
        The score that reaches the nearest aim; cells that cannot have it are left out.
    limit : callable
        Returns the budget from which on a cell need not be searched, -1 if it need not be searched at all.
    solve : callable
        Tries the cheapest votes of a cell as an attack.

    Attributes
    ----------
    orders : OrderPrices
    beginning : callable
        Returns a lower bound on bringing a set of items to the top of the ranking below the tiers.
    decided : callable
        Whether the tiers below do not matter for a cell.
    """

    def __init__(
        self,
        rows: Rows,
        goal: Score,
        merge: Merge,
        least_need: int,
        limit: Callable[[Cell], float],
        solve: Callable[[Cell], object],
    ) -> None:
        self.rows, self.pairs, self.n = rows, rows.pairs, rows.pairs.n
        self.goal, self.merge, self.least_need = goal, merge, least_need
        self.limit, self.solve = limit, solve
        self.orders: OrderPrices
        self.beginning: Callable[[int], float] = lambda items: 0.0  # noqa: ARG005
        self.decided: Callable[[Cell], bool] = lambda cell: cell.score >= least_need

    def split(self, cell: Cell) -> list[Cell] | None:
        """Return cells that cover this one; None when nothing more is known about it."""
        assert cell.change is not None
        P = self.pairs.pairwise(cell.change)
        apart = np.abs(P - 0.5) > self.rows.theta
        for tier, (one, two) in enumerate(pairwise(cell.free)):
            if cell.grows and tier + 2 == len(cell.free):
                break  # what stands in the last tier is not all known
            first, second = cell.members(tier), cell.members(tier + 1)
            certain = self.rows.base == "kemeny" and alone(first) and alone(second)
            key = (-1, first, second)
            if one or two or certain or key in cell.settled:
                continue
            above, below = items_of(first), items_of(second)
            if not apart[np.ix_(above, below)].any():
                settled = replace(cell, settled=cell.settled | {key})
                both = [pair for a in above for b in below for pair in ((a, b), (b, a))]
                return [self._choose(settled, [self.rows.apart(*pair)]) for pair in both]
        if self.rows.base != "other" and (not cell.rest or self.decided(cell)):
            # What is said of the tiers so far goes before the tiers below, which multiply.
            for tier, free in enumerate(cell.free):
                if not free and not all(map(alone, cell.tiers[tier])):
                    return self._refined(cell, tier)
            children = self._merged_here(cell, P)
            if children is not None:
                return children
        if cell.rest:
            one_by_one = cell.grows or (self.rows.base != "other" and self.decided(cell))
            return self._next_items(cell) if one_by_one else self._next_tiers(cell)
        for tier, free in enumerate(cell.free):
            if free:
                return self._bound_tier(cell, tier)
        if self.rows.base == "other":
            return None
        told = self._joins(cell, next(runs_of(cell, P))) if self.merge == "naive" else None
        # There is no end to windows: what else there is to say about the cell comes first.
        return told if told is not None else self._narrowed(cell, P)

    def _merged_here(self, cell: Cell, P: Floats) -> list[Cell] | None:
        """Return cells that fix more of how the merge forms the tiers of the cell; None if all of it is fixed."""
        runs = list(runs_of(cell, P))
        for run in runs:
            if children := self._intervals(cell, run):
                return children
        runs = [known for run in runs if (known := run.complete()).order]
        # Joins multiply, too: they come before other tiers only where these are many more.
        if self.merge == "naive" and (cell.rest.bit_count() > _FEW_BELOW or any(cell.free)):
            for run in runs:
                ends = run.ends_where_it_should(self.rows.theta)
                if not ends and (told := self._joins(cell, run)) is not None:
                    return told
        return None

    def _choose(self, cell: Cell, rows: list[Row]) -> Cell:
        """Return the part of the cell where these rows hold too."""
        bound, chosen = max(cell.bound, *(self.rows.single(row) for row in rows)), cell.chosen + len(rows)
        rows = [*cell.rows[: cell.chosen], *rows, *cell.rows[cell.chosen :]]
        return replace(cell, bound=bound, rows=tuple(rows), chosen=chosen, solved=False)

    def _next_tiers(self, cell: Cell) -> list[Cell] | None:
        """Return the cells with one more tier; None where these are too many to list."""
        out = []
        top = self.goal.top(cell.rest)
        clean = self.goal.free and self.goal.clean(cell.rest)
        if clean:
            out.append(self.with_tier(cell, top, free=True))
        limit = self.limit(cell)
        for count, tier in enumerate(self._close_sets(items_of(cell.rest), limit)):
            if count > _MOST_TIERS and self.n > _ALL_TIERS:
                return None
            # Tiers that only split a tier of `before` are the free tier.
            if self.goal.free and self._only_splits(cell, tier):
                continue
            child = self.with_tier(cell, tier, free=False)
            if child.most >= self.least_need:
                out.append(self.with_cheap_bound(child) if self.limit(child) >= 0 else child)
        return out

    def _next_items(self, cell: Cell) -> list[Cell]:
        """Return the cells with one more item of the median, in the last tier or in a new one.

        If the tiers so far decide, this is as good as whole tiers, and there are far fewer next items.
        """
        out, limit = [], self.limit(cell)
        for i in items_of(cell.rest):
            item, rest = 1 << i, cell.rest ^ (1 << i)
            after = replace(cell, rest=rest, grows=rest > 0, below=cell.unscored, solved=False)
            cells = [replace(after, tiers=(*cell.tiers, (item,)), free=(*cell.free, False))]
            tied = items_of(cell.members(len(cell.tiers) - 1)) if cell.grows and self.rows.ties else []
            price = max((self._tie_price(i, j) for j in tied), default=math.inf)
            if price < limit:
                together = (*cell.tiers[:-1], (*cell.tiers[-1], item))
                cells.append(replace(after, tiers=together, bound=max(cell.bound, price)))
            first = self.beginning((1 << self.n) - 1 & ~rest)
            out += [self._with_order_bound(replace(child, bound=max(child.bound, first))) for child in cells]
        return out

    def _with_order_bound(self, cell: Cell, known: float = 0.0) -> Cell:
        """Return the cell with a lower bound on the median listing its blocks in this order, and a known one."""
        bound, limit = max(cell.bound, known, self.orders.of_blocks(blocks := cell.blocks())), self.limit(cell)
        if cell.rest and bound < limit:
            bound = max(bound, self.orders.of_beginning(blocks[:-1], cell.rest, limit))
        return cell if bound == cell.bound else replace(cell, bound=bound)

    def _close_sets(self, items: list[int], limit: float) -> Iterator[int]:
        """Yield the sets of items all of whose pairs can be tied below the limit."""
        ties = {(i, j): self._tie_price(i, j) for i, j in combinations(items, 2)}

        def grow(chosen: list[int], start: int) -> Iterator[int]:
            for at in range(start, len(items)):
                if all(ties[i, items[at]] < limit for i in chosen):
                    more = [*chosen, items[at]]
                    yield sum(1 << i for i in more)
                    if self.rows.ties:
                        yield from grow(more, at + 1)

        return grow([], 0)

    def _tie_price(self, i: int, j: int) -> float:
        """Return a lower bound on tying two items: on bringing them close from their present side."""
        p = int(self.pairs.index[i, j])
        return self.rows.single(self.rows.tie(p, 1.0 if self.pairs.margin[p] >= 0 else -1.0))

    def _only_splits(self, cell: Cell, tier: int) -> bool:
        """Whether with this tier the last tiers are exactly one tier of `before`, split up."""
        rest = cell.rest & ~tier
        if not self.goal.clean(rest):
            return False
        for number in range(len(cell.tiers), -1, -1):
            below = cell.rest | sum(cell.members(t) for t in range(number, len(cell.tiers)))
            if self.goal.clean(below):
                return self.goal.top(below) | rest == below
        return False

    def with_tier(self, cell: Cell, tier: int, *, free: bool) -> Cell:
        """Return the part of the cell with this tier next."""
        rest = cell.rest & ~tier
        score, most = self.goal.step(cell.score, (1 << self.n) - 1 & ~cell.rest, tier, rest, free=free)
        return replace(
            cell,
            bound=max(cell.bound, self.beginning((1 << self.n) - 1 & ~rest)),
            score=score,
            most=most,
            tiers=(*cell.tiers, (tier,)),
            free=(*cell.free, free),
            rest=rest,
            solved=False,
        )

    def bounded_again(self, cell: Cell) -> Cell:
        """Return the cell with what is known by now about its order and the first items of the ranking."""
        firsts = accumulate(block for tier in cell.tiers for block in tier)
        return self._with_order_bound(cell, max([cell.bound, *map(self.beginning, firsts)]))

    def with_cheap_bound(self, cell: Cell) -> Cell:
        """Return the cell with the best bound of single rows about its last tier."""
        cell = self._with_order_bound(cell)
        tier, limit = cell.members(len(cell.tiers) - 1), self.limit(cell)
        bound = cell.bound
        for i, j in combinations(items_of(tier), 2):
            bound = max(bound, self._tie_price(i, j))
        if self.rows.base == "kemeny":
            if cell.rest and bound < limit:
                bound = max(bound, self.rows.single(self.rows.order(((tier, cell.rest),))))
            above = 0
            for t in range(len(cell.tiers) - 2, -1, -1):
                if bound >= limit:
                    break
                above |= cell.members(t)
                bound = max(bound, self.rows.single(self.rows.order(((above, tier),))))
            if len(cell.tiers) > 1 and not cell.free[-1] and not cell.free[-2]:
                last = cell.members(len(cell.tiers) - 2)
                if alone(last) and alone(tier):
                    bound = max(bound, self.rows.single(self.rows.apart(last.bit_length() - 1, tier.bit_length() - 1)))
        return replace(cell, bound=bound)

    def _refined(self, cell: Cell, tier: int) -> list[Cell]:
        """Return the cells where the median's first item of a block of this tier is known."""
        blocks = cell.tiers[tier]
        at = next(at for at, block in enumerate(blocks) if not alone(block))
        above = sum(cell.members(t) for t in range(tier))
        out = []
        for i in items_of(blocks[at]):
            parts = (*blocks[:at], 1 << i, blocks[at] ^ (1 << i), *blocks[at + 1 :])
            first = self.beginning(above | sum(blocks[:at]) | 1 << i)
            refined = replace(cell, tiers=(*cell.tiers[:tier], parts, *cell.tiers[tier + 1 :]), solved=False)
            out.append(self._with_order_bound(replace(refined, bound=max(cell.bound, first))))
        return out

    def _bound_tier(self, cell: Cell, tier: int) -> list[Cell] | None:
        """Return the cells with the tiers into which a free tier may fall; None where these are too many to list."""
        if cell.members(tier).bit_count() > _MOST_FALLING:
            return None
        out = []
        limit = self.limit(cell)

        def parts(rest: int) -> Iterator[tuple[int, ...]]:
            if not rest:
                yield ()
            for first in self._close_sets(items_of(rest), limit):
                for others in parts(rest & ~first):
                    yield (first, *others)

        for falls in parts(cell.members(tier)):
            tiers = (*cell.tiers[:tier], *((part,) for part in falls), *cell.tiers[tier + 1 :])
            free = (*cell.free[:tier], *(False for _ in falls), *cell.free[tier + 1 :])
            # The tiers next to it are one run with these: their joins are said anew.
            out.append(replace(cell, tiers=tiers, free=free, solved=False, joins=()))
        return out

    def _intervals(self, cell: Cell, run: Run) -> list[Cell]:
        """Return cells in which an interval across tiers, that the merge would join for these votes, gives way.

        Such an interval J has a pair that deviates by more than theta, or something that overlaps it comes first.
        Downward: a tier I whose largest deviation not inside J is at least the largest inside J and not inside I.
        Naive: a join over an end of J, hence of neighbours in one tier that deviate by at most the largest inside J.
        """
        order, tier_of, dev, n = run.order, run.tier_of, run.deviation, len(run.order)
        broken: list[tuple[float, int, int, list[_Choice]]] = []
        for start, end, height in run.close_across(self.rows.theta):
            own = set(combinations(range(start, end + 1), 2))
            # A tier that may grow may stick out of J by an unknown amount.
            if run.grows and (end == n - 1 or (self.merge == "downward" and tier_of[end] == tier_of[-1])):
                continue
            # By places in the order: where a tier sticks out of J.
            edges = [at for at in (start, end + 1) if 0 < at < n and tier_of[at - 1] == tier_of[at]]
            choices: list[_Choice]
            if self.merge == "downward":
                tiers = [set(combinations([p for p in range(n) if tier_of[p] == tier_of[at]], 2)) for at in edges]
                if any(max(dev[p] for p in tier - own) > max(dev[p] for p in own - tier) for tier in tiers):
                    continue
                choices = [(large, own - tier) for tier in tiers for large in sorted(tier - own)]
            else:
                if any(dev[at - 1, at] < height for at in edges):
                    continue
                choices = [(large, {(at - 1, at)}) for at in edges for large in sorted(own)]
            missing = [max(dev[pair] for pair in small) - dev[large] for large, small in choices]
            broken.append((min([*missing, self.rows.theta - height]), start, end, choices))
        # What is farthest from being met says most about the price.
        for _, start, end, choices in sorted(broken, key=lambda one: -one[0]):
            key = (run.first + start, run.first + end)
            if key in cell.settled:
                continue
            settled = self._settling(cell, key, order)
            places = combinations(range(start, end + 1), 2)
            across = [(order[a], order[b]) for a, b in places if tier_of[a] != tier_of[b]]
            out = [self._choose(settled, [self.rows.apart(*pair)]) for ab in across for pair in (ab, ab[::-1])]
            for (a, b), small in choices:
                names = tuple((order[c], order[d]) for c, d in sorted(small))
                out += self._preferred(settled, (order[a], order[b]), names)
            return out
        return []

    def _joins(self, cell: Cell, run: Run) -> list[Cell] | None:
        """Return cells that fix one more join of Naive Merge in a run, or why a join fixed before came first.

        None if all joins are fixed; no cells where other cells cover them: joins are fixed from left to right.

        Heights of joins never fall, so of two unions the one comes first whose largest deviation across, between
        the parts that it joins, is smaller. A join only has to come before those that share a part with it: others
        do not change what it is, so that joins with a part between them may be listed from left to right.
        """
        order, tier_of, dev = run.order, run.tier_of, run.deviation
        unions = [(at, at) for at in range(len(order))]

        def across(left: tuple[int, int], right: tuple[int, int]) -> list[tuple[int, int]]:
            return [(a, b) for a in range(left[0], left[1] + 1) for b in range(right[0], right[1] + 1)]

        joined = [(start - run.first, end - run.first) for start, end in cell.joins if run.holds(start, end)]
        for step, (start, end) in enumerate(joined):
            joins = {(left[0], right[1]): across(left, right) for left, right in pairwise(unions)}
            chosen = joins.pop((start, end))
            height = max(dev[pair] for pair in chosen)
            for rival, pairs in joins.items():
                key = (step, run.first + rival[0], run.first + rival[1])
                first = max(dev[pair] for pair in pairs) > height or rival[1] < start or end < rival[0]
                if first or key in cell.settled:
                    continue
                settled = self._settling(cell, key, order)
                small = tuple((order[a], order[b]) for a, b in chosen)
                # Of two pairs that deviate equally the left one is joined first: a rival there deviates by more.
                more = len(pairs) == len(chosen) == 1 and rival[0] < start
                larges = [(order[a], order[b]) for a, b in pairs]
                return [c for large in larges for c in self._preferred(settled, large, small, more=more)]
            unions = sorted([*(union for union in unions if not start <= union[0] <= end), (start, end)])
        if len(joined) == len(order) - len(set(tier_of)):
            return None
        return [
            replace(cell, joins=(*cell.joins, (run.first + left, run.first + right)))
            for (left, _), (_, right) in pairwise(unions)
            if tier_of[left] == tier_of[right] and (not joined or right >= joined[-1][0] - 1)
        ]

    def _settling(self, cell: Cell, key: tuple[int, ...], order: list[int]) -> Cell:
        """Return the cell with the condition marked as chosen; Kemeny's median wins or ties all its neighbours."""
        sides = {self.pairs.sign(a, b) for a, b in pairwise(order)} if self.rows.base == "kemeny" else set()
        return replace(cell, settled=cell.settled | {key}, sides=cell.sides | sides)

    def _preferred(
        self,
        cell: Cell,
        large: tuple[int, int],
        small: tuple[tuple[int, int], ...],
        *,
        more: bool = False,
    ) -> list[Cell]:
        """Return the parts of the cell in which the pair `large` deviates by at least as much as all of `small`.

        With `more` it deviates by more than that; rows say so only where all pairs have one denominator.
        """
        out = []
        whole = cell
        p, sign = self.pairs.sign(*large)
        for side in (1.0, -1.0):
            # To both sides means a margin of zero, which the side chosen before covers too.
            if (p, -side * sign) in whole.sides:
                continue
            cell = replace(whole, sides=whole.sides | {(p, side * sign)})
            if self.pairs.speaks is not None:
                out.append(self._within(cell, Window(large, side, small, 0.0, self.rows.theta)))
                continue
            row = self.rows.exceeds if more else self.rows.farther
            out.append(self._choose(cell, [row(large, side, pair, way) for pair in small for way in (1.0, -1.0)]))
        return out

    def _narrowed(self, cell: Cell, P: Floats) -> list[Cell] | None:
        """Split the cell at a level between two deviations, for the order condition these votes violate most."""
        if any(row.eases is not None for row in cell.rows):
            return None  # conditions that hold with equality only leave no level to choose
        devs = np.abs(P - 0.5)

        def missing(window: Window) -> float:
            return float(max(devs[pair] for pair in window.small) - window.side * (P[window.large] - 0.5))

        wide = [window for window in cell.windows if window.high - window.low >= _NARROW and missing(window) > 0]
        if not wide:
            return None
        window = max(wide, key=missing)
        middle = float(devs[window.large] + max(devs[pair] for pair in window.small)) / 2
        level = min(max(middle, window.low), window.high)
        rest = self._without(cell, window)
        # Not needed to cover the cell, but a chance of an attack: one level is all of the condition.
        exactly = self._within(rest, replace(window, low=level, high=level))
        if self.limit(exactly) >= 0:
            self.solve(exactly)
        if not window.low + 0.05 * (window.high - window.low) < level < window.high - 0.05 * (window.high - window.low):
            level = (window.low + window.high) / 2
        return [self._within(rest, replace(window, high=level)), self._within(rest, replace(window, low=level))]

    def _within(self, cell: Cell, window: Window) -> Cell:
        """Return the part of the cell where some level of the window lies between the deviations of its pairs.

        Pairs that different votes compare have deviations with different denominators: "larger" is not linear, but
        "above the level, and the others below" is. For a level t = low + s, s >= 0, the rows D - 2 low N >= 2 s N of
        the large pair and D - 2 low N <= 2 s N of a small one give a row without s, once the N next to s are replaced
        by the least and the most that they can be at the budgets of interest; likewise from above.
        """
        low, high = window.low, window.high
        rows = [self.rows.level(window.large, window.side, low, above=True)]
        budget = max(self.limit(cell), 0.0)
        least, most = self.pairs.compared_within(budget)
        for pair in window.small:
            for sign in (1.0, -1.0):
                rows.append(self.rows.level(pair, sign, high, above=False))
                if low < high and math.isfinite(most[0]):
                    one, two = self.pairs.index[window.large], self.pairs.index[pair]
                    farther = partial(self.rows.farther, window.large, window.side, pair, sign)
                    rows += [farther(low, least[one], most[two]), farther(high, most[one], least[two])]
        return replace(self._choose(cell, rows), windows=(*cell.windows, replace(window, rows=tuple(rows))))

    def _without(self, cell: Cell, window: Window) -> Cell:
        """Return the cell without the rows of a window: those of a part of it say more."""
        rows = list(cell.rows)
        for row in window.rows:
            rows.pop(next(at for at, own in enumerate(rows) if own.plain is row))
        windows = tuple(other for other in cell.windows if other is not window)
        return replace(cell, rows=tuple(rows), chosen=cell.chosen - len(window.rows), windows=windows)
