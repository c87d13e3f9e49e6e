"""Branching over majorities with trials: of several branchings, the one that raises the bounds most is made.

On sparse battles where nearly all majorities weigh the same, most branchings raise the bounds by little, and a few by
much. Candidates are chosen by what branching on them brought before; a few iterations of the solver sort them, and the
first ones are solved in full. A node keeps the rows and the basis with which its program ended; all its trials start
from there.

Where a trial shows that no cheaper order breaks a majority, or that none keeps it, that is fixed without branching.
A majority that is fixed as broken is an arc from the loser to the winner, and gives rows as those that are kept do.
Each bound is that of the duals, however few iterations made them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny.majorities import Majorities
from holdrank.rules.kemeny.parts import rounding
from holdrank.rules.solvers.highs import Corner, LinearProgram
from holdrank.status import Clock, Step

_ITERATIONS = 30  # of a short trial
_FEW = 50  # branchings with few trials; they are enough for most, and say where trials pay
_SHORT_OF_FEW, _FULL_OF_FEW = 4, 1
_HOPE = 0.25  # of the root's gap, which they must close, or trials do not pay
_SHORT, _FULL = 12, 3  # trials of either kind before a branching, from then on
_MORE_SHORT, _MORE_FULL = (8, 4, 2, 2, 2), (4, 4, 2, 2, 2)  # times as many in the first levels
_HALVINGS = 8.0  # of the work that is left, if a branching closes the whole gap of the root
_FAMILIAR = 2  # full trials of a majority from which on their mean counts beside a short one
_PRIOR = 2.0  # trials that the mean over all majorities counts for
_SLACK = 0.05  # rows with more of it are forgotten
_MISSING = 0.03  # cycles shorter than 1 by less get no row: the last rounds raise the bounds by next to nothing
_WHOLE = 1e-6  # columns this near to 0 or 1 are not branched on


@dataclass(slots=True)
class _Node:
    """A part of the search tree whose linear program is solved; costs are those of the columns."""

    bound: float
    number: int
    level: int
    lower: Floats
    upper: Floats
    x: Floats
    reduced_costs: Floats
    priced: float  # the bound that belongs to the reduced costs
    corner: Corner

    def __lt__(self, other: _Node) -> bool:
        return (self.bound, self.number) < (other.bound, other.number)


class Trials:
    """A search tree over majorities; column a is 1 where an order breaks majority a.

    Parameters
    ----------
    majorities : Majorities
    value : float
        The cost of the best order.
    step : float
        Costs are multiples of it.
    try_order : callable
        Makes orders from the columns of a solution, and returns the cost of the best one by then.
    clock : Clock

    Attributes
    ----------
    bound : float
        Proven: no order costs less.
    closed : int
        Branchings so far.
    hopeful : bool
        Whether the tree may be closed at all; if not, it was left after few branchings.
    """

    def __init__(
        self,
        majorities: Majorities,
        value: float,
        step: float,
        try_order: Callable[[Floats], float],
        clock: Clock,
    ) -> None:
        self.majorities, self.value, self.step, self.clock = majorities, value, step, clock
        self.try_order = try_order
        self.model = LinearProgram(majorities.cost, presolve=False)
        self.bound = 0.0
        self.closed = self.made = 0
        self.gave_up = False
        count = len(majorities.cost)
        self.gains = np.zeros((count, 2))  # of keeping and of breaking each majority, per margin, all trials together
        self.tried = np.zeros((count, 2))
        self.gap = np.inf  # of the root
        self.thorough, self.hopeful = False, True

    def run(self, order: Ints, progress: Callable[[Step], None] | None) -> None:
        """Branch until the best order is proven optimal or there is no time or hope; `order` chooses the first rows."""
        for rows in self.majorities.cycles(self.majorities.seen_from(order)):
            self.model.add_rows(*rows)
        count = len(self.majorities.cost)
        root = self.solved(0.0, 0, np.zeros(count), np.ones(count))
        if root is not None:
            self.gap = max(self.value - self.step - root.bound, self.step)
            self.grow_tree(root, _FEW, progress)
            self.thorough = True
            self.hopeful = self.settles(self.bound) or self.bound - root.bound >= _HOPE * self.gap
            if self.hopeful and not self.settles(self.bound):
                self.grow_tree(root, None, progress)
        elif not self.gave_up:
            self.bound = self.value

    def grow_tree(self, root: _Node, most: int | None, progress: Callable[[Step], None] | None) -> None:
        """Branch from the root on, `most` times at most, until the best order is proven optimal or the time is over."""
        open_nodes, first = [root], self.closed
        while open_nodes and not self.stopped():
            self.bound = max(self.bound, open_nodes[0].bound)
            if self.settles(self.bound) or (most is not None and self.closed - first >= most):
                return
            if progress is not None:
                progress(Step("branches", self.closed, self.closed + len(open_nodes)))
            node = heappop(open_nodes)
            children = self.split(node)
            for child in [node] if self.stopped() else children:
                heappush(open_nodes, child)
        if not open_nodes:
            self.bound = self.value

    def stopped(self) -> bool:
        """Whether the time is over, or the solver failed."""
        return self.gave_up or self.clock.over()

    def settles(self, bound: float) -> bool:
        """Whether no order that is cheaper by a step can be as cheap as this bound."""
        return bound > self.value - self.step + rounding(self.value)

    def solved(self, bound: float, level: int, lower: Floats, upper: Floats) -> _Node | None:
        """Return a node with its program solved from where the model is; None if it is settled, or if time is over."""
        self.model.set_bounds(lower, upper)
        while True:
            solution = self.model.solve(self.clock)
            if not solution.finished:
                self.gave_up = True
                return None
            if not solution.x.size:
                self.gave_up = not self.majorities.fits_none(upper < 0.5, lower > 0.5)
                return None
            bound = max(bound, solution.bound)
            if self.settles(bound):
                return None
            lengths = np.maximum(solution.x, 0.0)
            rows = list(self.majorities.cycles(lengths, np.flatnonzero(lower > 0.5), _MISSING))
            if not rows:
                break
            for row in rows:
                self.model.add_rows(*row)
        self.made += 1
        corner = self.model.corner(_SLACK)
        return _Node(bound, self.made, level, lower, upper, solution.x, solution.reduced_costs, solution.bound, corner)

    def split(self, node: _Node) -> list[_Node]:
        """Return the open nodes that replace a node: two, one, or none."""
        self.closed += 1
        self.value = min(self.value, self.try_order(node.x))
        spare = self.value - self.step - node.priced + rounding(self.value)
        if self.settles(node.bound):
            return []
        # A column off its cheaper bound adds its reduced cost.
        free = node.lower < node.upper
        node.lower = np.where(free & (node.reduced_costs < -spare), 1.0, node.lower)
        node.upper = np.where(free & (node.reduced_costs > spare), 0.0, node.upper)
        self.model.go_to(node.corner)
        self.model.set_bounds(node.lower, node.upper)
        fixed, candidates = self.short_trials(node)
        if fixed:
            self.model.go_to(node.corner)
            left = self.solved(node.bound, node.level, node.lower, node.upper)
            return [] if left is None else [left]
        return self.full_trials(node, candidates)

    def short_trials(self, node: _Node) -> tuple[bool, list[int]]:
        """Return (fixed, candidates): whether trials fixed majorities, and the majorities to branch on, best first."""
        torn = np.minimum(node.x, 1 - node.x)
        torn[node.lower == node.upper] = 0.0
        expected = self.expected(node.x)
        many = _SHORT * _of_level(_MORE_SHORT, node.level) if self.thorough else _SHORT_OF_FEW
        by_expected = np.argsort(np.where(torn > _WHOLE, self.work_left(expected), np.inf), kind="stable")
        sorted_ones: list[tuple[float, int]] = []
        fixed = False
        for column in by_expected[: min(many, np.count_nonzero(torn > _WHOLE))].tolist():
            if self.stopped():
                break
            gains = expected[column] if self.tried[column].min() >= _FAMILIAR else np.zeros(2)
            for side in (0, 1):
                bound = self.model.try_value(column, side, node.corner, _ITERATIONS, self.clock)
                if self.settles(bound):
                    fixed = True
                    node.lower[column] = node.upper[column] = 1 - side
                    self.model.set_bounds(node.lower, node.upper)
                    break
                gains[side] = max(gains[side], bound - node.bound)
            else:
                sorted_ones.append((float(self.work_left(gains)), column))
        return fixed, [column for _, column in sorted(sorted_ones)]

    def full_trials(self, node: _Node, candidates: list[int]) -> list[_Node]:
        """Branch on the best of the first candidates; both children of each are solved."""
        best: list[_Node] = []
        least = np.inf
        many = _FULL * _of_level(_MORE_FULL, node.level) if self.thorough else _FULL_OF_FEW
        for column in candidates[:many]:
            children: list[_Node] = []
            gains = np.full(2, self.value - self.step - node.bound)
            for side in (0, 1):
                lower, upper = node.lower.copy(), node.upper.copy()
                lower[column] = upper[column] = side
                self.model.go_to(node.corner)
                child = self.solved(node.bound, node.level + 1, lower, upper)
                if child is not None:
                    children.append(child)
                    gains[side] = child.bound - node.bound
            if self.stopped():
                return []
            self.gains[column] += gains / (node.x[column], 1 - node.x[column]) / self.majorities.cost[column]
            self.tried[column] += 1
            if (left := float(self.work_left(gains))) < least:
                least, best = left, children
            if len(children) < 2:
                break  # one side is closed: what is left is a smaller node
        self.gave_up = self.gave_up or not candidates  # nothing to branch on, and yet no order as cheap as the bound
        return best

    def expected(self, x: Floats) -> Floats:
        """Return what keeping and breaking each majority should add to the bound: by the mean of former trials."""
        total = self.tried.sum(axis=0)
        usual = self.gains.sum(axis=0) / np.maximum(total, 1) if total.any() else np.ones(2)
        mean = (self.gains + _PRIOR * usual) / (self.tried + _PRIOR)
        return mean * np.column_stack((x, 1 - x)) * self.majorities.cost[:, None]

    def work_left(self, gains: Floats) -> Floats:
        """Return the share of the work that is left after branchings with these gains, roughly."""
        left: Floats = (2.0 ** (-_HALVINGS * gains / max(self.gap, self.step))).sum(axis=-1)
        return left


def _of_level(more: tuple[int, ...], level: int) -> int:
    return more[level] if level < len(more) else 1
