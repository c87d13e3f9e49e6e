"""The linear ordering polytope: a linear program with lazy triangle rows, then branch and bound on its columns.

Column p of a pair i < j is 1 when i comes before j. The rows are triangles, ``0 <= x_ij + x_jk - x_ik <= 1``: no cycle
of three. Almost all are slack, so they are added when violated and dropped when slack. Where many pairs have no
majority, as in sparse battles, or items are few, the columns are majorities instead, and the rows are their cycles.
Where triangles leave a gap, rows on a few items follow (`cuts`). As the gap shrinks, `prefixes` checks whether any
order fits into it; if that is not decided, branching follows, over majorities with `trials`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np

from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny import prefixes, search, subsets, symmetry
from holdrank.rules.kemeny.cuts import Separator
from holdrank.rules.kemeny.cycles import weighted_triples
from holdrank.rules.kemeny.majorities import Majorities, Rows, has_cycle
from holdrank.rules.kemeny.parts import Part, order_cost, raise_to_step, rounding, tidy
from holdrank.rules.kemeny.program import Program
from holdrank.rules.kemeny.trials import Trials
from holdrank.rules.kemeny.triangles import most_violated
from holdrank.rules.solvers.highs import LinearProgram
from holdrank.status import Clock, Step

_FEW_ITEMS, _SPARSE = 40, 0.75  # items, or share of the pairs with a majority, up to which cycles are faster
_LOOKS_BEFORE_WEIGHTS, _MANY_ROWS = 4, 300  # rows still violated at this look: a hard program, which takes weights
_DROP_EVERY = 3  # rounds between two clearances of slack rows
_ROUNDS_FIRST = 10  # of a linear program before orders are grown at its prices: many are solved sooner
_ROUNDS_WEIGHED = 2  # the same after weights
_CLEARLY_LESS, _MUCH_LESS = 0.8, 0.5  # with cuts, without: the share of the last gap at which it pays to try again
_PATIENCE, _PROGRESS = 8, 0.96  # rounds of cuts that must lower the gap to this share
_LESS = 0.985  # the share to which the gap must shrink until it pays to count again how many sets fit into it
_CUT_ROUNDS_FIRST, _CUT_ROUNDS, _CUT_ROUNDS_A_NODE = (
    8,
    200,
    2,
)  # before the long search for orders, after it, in branches
_ROOM_FIRST, _ROOM, _ROOM_A_NODE = 200_000, 16_000_000, 30_000  # sets of items kept at either end of growing orders
_LOOKS_FIRST, _LOOKS_A_NODE = 4_000, 200  # at each margin, in the search for better orders: for 100 items 30 and 1.5 ms


@dataclass(slots=True)
class _Node:
    """A part of the search tree: bounds on the columns, and the optimum of its linear program."""

    bound: float
    number: int
    lower: Floats
    upper: Floats
    x: Floats = field(default_factory=lambda: np.empty(0))
    reduced_costs: Floats = field(default_factory=lambda: np.empty(0))
    duals: Floats = field(default_factory=lambda: np.empty(0))
    priced: float = -np.inf  # the bound that belongs to the reduced costs
    tried: float = np.inf  # the gap at which orders were grown last

    def __lt__(self, other: _Node) -> bool:
        return (self.bound, self.number) < (other.bound, other.number)


def solve(
    cost: Floats,
    start: Ints,
    step: float,
    tolerance: float,
    clock: Clock,
    progress: Callable[[Step], None] | None,
) -> Part:
    """Return the cheapest order of one component, beginning with the good order `start`."""
    tree = (_Cycles if _has_few_cycles(cost) else _Tree)(cost, start, step, tolerance, clock)
    if tree.settled(tree.floor):
        return tree.part("pairs")
    tree.relax(tree.root, room=_ROOM_FIRST)
    tree.floor = max(tree.floor, tree.root.bound)
    if tree.settled(tree.floor) or tree.stopped():
        return tree.part(tree.how)
    if len(cost) <= subsets.CLOSES_UP_TO and subsets.expected_seconds(len(cost)) < clock.seconds_left():
        return subsets.solve(cost, tolerance)
    if step and (symmetric := symmetry.solve(cost, clock)) is not None:
        return symmetric
    tree.try_order(search.better_order(cost, tree.best, clock, steps=_LOOKS_FIRST * cost.size))
    if step and rounding(tree.value) >= step:
        return tree.part(tree.how)  # sums so large that a bound cannot be distinguished from the next cost
    if isinstance(tree, _Cycles) and len(cost) <= _FEW_ITEMS and _CUT_ROUNDS:
        tree = tree.with_triangles()
    tree.relax(tree.root, min(_CUT_ROUNDS_FIRST, _CUT_ROUNDS), _ROOM_FIRST)
    if not tree.settled(tree.root.bound) and not tree.stopped():
        tree.try_order(search.best_of_starts(cost, tree.best, clock))
        tree.close_root()
    if not tree.settled(tree.root.bound) and not tree.stopped():
        tree.try_order(search.best_of_starts(cost, tree.best, clock, starts=48))
    tree.floor = max(tree.floor, tree.root.bound)
    if tree.settled(tree.floor) or tree.stopped():
        return tree.part(tree.how)
    if isinstance(tree, _Cycles) and step and (part := tree.close_by_trials(progress)) is not None:
        return part
    open_nodes = [tree.root]
    closed = 0
    while open_nodes and not tree.settled(open_nodes[0].bound) and not tree.stopped():
        if progress is not None:
            progress(Step("branches", closed, closed + len(open_nodes)))
        closed += 1
        tree.try_order(search.better_order(cost, tree.best, clock, steps=_LOOKS_A_NODE * cost.size, seed=closed))
        for child in tree.branches(heappop(open_nodes)):
            tree.relax(child, _CUT_ROUNDS_A_NODE, _ROOM_A_NODE)
            if not tree.settled(child.bound):
                heappush(open_nodes, child)
    tree.floor = max(tree.floor, min((node.bound for node in open_nodes), default=tree.value))
    return tree.part(f"branch and bound ({closed} branching{'s' * (closed != 1)})")


def relaxed_within(
    cost: Floats, arcs: Sequence[tuple[int, int]], together: bool, enough: float, clock: Clock
) -> tuple[float, Floats]:
    """Return a bound on the cost of all orders with i before j for all the arcs (i, j), or for one of them at least.

    Also returns the solution of the linear program that gives it, as a matrix of how much i comes before j; empty when
    there is none. A bound that reaches `enough` is not raised further.
    """
    tree = _Relaxed(cost, np.arange(len(cost)), 0.0, 0.0, clock)
    tree.value = enough
    columns = np.array([tree.column[min(arc), max(arc)] for arc in arcs])
    forward = np.array([i < j for i, j in arcs])
    if together or len(arcs) == 1:
        tree.root.lower[columns[forward]] = 1.0
        tree.root.upper[columns[~forward]] = 0.0
    else:
        tree.program.add_choice(columns, np.where(forward, 1.0, -1.0), 1.0 - int((~forward).sum()))
    tree.relax(tree.root)
    return tree.root.bound, tree.before(tree.root.x) if tree.root.x.size else np.empty((0, 0))


class _Tree:
    """Data shared by all nodes: the growing linear program, the best order, and the proven bound."""

    presolve = True

    def __init__(self, cost: Floats, start: Ints, step: float, tolerance: float, clock: Clock) -> None:
        self.cost, self.step, self.tolerance, self.clock = cost, step, tolerance, clock
        self.best, self.value = start, order_cost(cost, start)
        self.pairs = np.triu_indices(len(cost), 1)
        self.floor = float(np.minimum(cost, cost.T)[self.pairs].sum())
        self.column: Ints
        self.margins: Floats
        self.margins, self.offset, self.column = self.columns()
        self.model = LinearProgram(self.margins, presolve=self.presolve)
        self.program = Program(self.pairs, self.margins, self.offset, self.column, self.model)
        self.separator = Separator()
        self.root = _Node(self.floor, 0, np.zeros(len(self.margins)), np.ones(len(self.margins)))
        self.made = 0
        self.how = "linear program"
        self.rounds_first = _ROUNDS_FIRST
        self.looks = 0  # for violated triangles
        self.gave_up = False

    def columns(self) -> tuple[Floats, float, Ints]:
        """Return the cost of each column, the constant cost of all orders, and the column of each pair."""
        column = np.zeros(self.cost.shape, dtype=np.int64)
        column[self.pairs] = np.arange(len(self.pairs[0]))
        return (self.cost - self.cost.T)[self.pairs], float(self.cost.T[self.pairs].sum()), column

    def stopped(self) -> bool:
        return self.gave_up or self.clock.over()

    def settled(self, bound: float) -> bool:
        """Whether a lower bound of `bound` proves that the best order is optimal."""
        return raise_to_step(bound, self.value, self.step) >= self.value - self.tolerance

    def try_order(self, order: Ints) -> None:
        """Keep the order if it is cheaper than the best one."""
        value = order_cost(self.cost, order)
        if value < self.value - self.tolerance:
            self.best, self.value = order, value

    def round(self, before: Floats) -> None:
        """Round a fractional solution to an order, improve it, and keep it if it is the best."""
        self.try_order(search.improve(self.cost, np.argsort(-before.sum(axis=1), kind="stable")))

    def search_longer(self) -> None:
        """Look for a better order: a program that needs few rounds makes few orders on the way."""
        steps = _LOOKS_FIRST * self.cost.size
        self.try_order(search.better_order(self.cost, self.best, self.clock, steps=steps))

    def relax(self, node: _Node, cut_rounds: int = 0, room: int = 0) -> None:
        """Solve the node's linear program, adding violated rows, until it is solved, settled or stopped.

        The node's bound rises with every round and is valid at any time. Triangles come first; after them, up to
        `cut_rounds` times, rows on a few items, as long as they help. With `room` for a number of sets, orders are
        grown at the prices of the rows whenever the gap is clearly smaller than at the last attempt.
        """
        self.model.set_bounds(node.lower, node.upper)
        rounds, dropped_at = 0, -np.inf
        gaps: list[float] = []
        while True:
            solution = self.model.solve(self.clock)
            if not solution.finished:
                self.gave_up = True  # the time is over, or the solver failed: the bound so far is valid
                return
            if not solution.x.size:
                # The solver reports that no order fits. That is accepted only if the fixed pairs contain a cycle: fixed
                # pairs without one can always be completed to an order.
                self.gave_up = not self.fits_none(node)
                node.bound = node.bound if self.gave_up else np.inf
                return
            node.priced = solution.bound + self.offset
            node.bound = max(node.bound, node.priced)
            node.x, node.reduced_costs, node.duals = solution.x, solution.reduced_costs, solution.duals
            before = self.before(solution.x)
            self.round(before)
            if self.settled(node.bound) or self.stopped():
                return
            gap = self.value - node.bound
            if room and rounds >= self.rounds_first and gap < (_CLEARLY_LESS if gaps else _MUCH_LESS) * node.tried:
                node.tried = gap
                if self.grow(node, room):
                    return
            rounds += 1
            add = self.first_rows(before, node)
            if add is None:
                gaps.append(gap)
                stalled = len(gaps) > _PATIENCE and gap > _PROGRESS * gaps[-1 - _PATIENCE]
                add = None if len(gaps) > cut_rounds or stalled else self.more_rows(before)
                if add is None:
                    return
            if rounds % _DROP_EVERY == 0 and node.bound > dropped_at:
                # Only after progress, or the same rows would come and go for ever.
                self.program.drop_slack_rows(0.05)
                dropped_at = node.bound
            add()

    def first_rows(self, before: Floats, node: _Node) -> Callable[[], None] | None:  # noqa: ARG002
        """Return a function that adds the triangle rows that a solution violates; None if there are none."""
        triples = most_violated(before)
        self.looks += 1
        if self.looks == _LOOKS_BEFORE_WEIGHTS and len(triples) >= _MANY_ROWS:
            # Weights on cycles know better which rows will bind, and an interior point takes them all at once.
            self.search_longer()
            weighed = self.program.new_triangles(weighted_triples(self.cost - self.cost.T, self.best, self.clock))
            if len(weighed):
                triples = weighed
                self.rounds_first = _ROUNDS_WEIGHED
                self.model.start_inside()
        return partial(self.program.add_triangles, triples) if len(triples) else None

    def more_rows(self, before: Floats) -> Callable[[], None] | None:
        """Return a function that adds rows on a few items that a solution violates; None if none are found."""
        cuts = self.separator.violated(before)
        return partial(self.program.add_cuts, cuts) if cuts else None

    def grow(self, node: _Node, room: int) -> bool:
        """Search at the node's prices for a cheaper order; return whether that was decided."""
        if not self.step or self.value > prefixes.MOST_COST:
            return False
        scale = prefixes.scale_for(self.value - node.priced, len(node.duals), len(self.cost))
        prices = prefixes.whole_prices(self.program, node.duals, node.lower, node.upper, scale)
        decided, order = prefixes.cheaper_order(prices, self.value, room, self.clock)
        if order is not None:
            self.try_order(order)
        if decided:
            node.bound = max(node.bound, self.value)
            self.how = "linear program and growing orders"
        return decided

    def close_root(self) -> None:
        """Add rows and grow orders in turn, with much room, until the gap is closed or shrinks no more."""
        gap = np.inf
        while self.value - self.root.bound < _LESS * gap:
            gap = self.value - self.root.bound
            self.relax(self.root, _CUT_ROUNDS, _ROOM_FIRST)
            if self.settled(self.root.bound) or self.stopped() or self.grow(self.root, _ROOM):
                return

    def fits_none(self, node: _Node) -> bool:
        """Whether the fixed pairs of a node contain a cycle, so that no order fits."""
        return has_cycle(self.before(node.lower) + self.before(node.upper) > 1)

    def branches(self, node: _Node) -> Iterator[_Node]:
        """Yield two children that differ in one pair, after fixing the pairs that the reduced costs decide."""
        lower, upper = node.lower.copy(), node.upper.copy()
        # A free column off its cheaper bound adds its reduced cost: too much for an order that is cheaper by a step.
        # (The reduced cost of a fixed column is irrelevant: it cannot move.)
        spare = self.value - self.step - node.priced + rounding(self.value)
        free = node.lower < node.upper
        lower[free & (node.reduced_costs < -spare)] = 1.0
        upper[free & (node.reduced_costs > spare)] = 0.0
        # The pair to branch on is torn between its orders and matters.
        torn = (0.5 - np.abs(node.x - 0.5)) * (1 + np.abs(self.margins) / np.abs(self.margins).max())
        pair = int(np.where(lower < upper, torn, -1.0).argmax())
        for side in (0.0, 1.0):
            low, high = lower.copy(), upper.copy()
            low[pair] = high[pair] = side
            self.made += 1
            yield _Node(node.bound, self.made, low, high)

    def part(self, how: str) -> Part:
        """Return the result for the component."""
        proved = self.settled(self.floor)
        order, unique = tidy(self.cost, self.best, self.tolerance)
        if not proved:
            unique = None
        elif unique is None and self._is_forced(order):
            unique = True
        bound = self.value if proved else raise_to_step(self.floor, self.value, self.step)
        return Part(order, self.value, bound, unique, proved, how)

    def _is_forced(self, order: tuple[int, ...]) -> bool:
        """Whether the root's reduced costs forbid every other order of this cost.

        It is enough that no two neighbours can be the other way round: then the order is a chain of forced pairs.
        """
        if not self.root.x.size:
            return False
        for a, b in pairwise(order):
            if self.root.priced + self.price(a, b) <= self.value + max(rounding(self.value), self.tolerance):
                return False
        return True

    def price(self, a: int, b: int) -> float:
        """Return how much placing b before a adds to the bound of the root."""
        prices = self.root.reduced_costs
        return float(-prices[self.column[a, b]] if a < b else prices[self.column[b, a]])

    def before(self, x: Floats) -> Floats:
        """Return the columns as a matrix: how much i comes before j."""
        n = len(self.cost)
        before = np.zeros((n, n))
        before[self.pairs] = x
        before.T[self.pairs] = 1 - x
        np.fill_diagonal(before, 0.0)
        return before


class _Cycles(_Tree):
    """The same with majorities alone: column a of a majority i over j is 1 when an order has j before i, and pays it.

    The rows are cycles of majorities: every order breaks one of each. Pairs without a majority, which the triangles of
    the other program tie to all else, have no column here, and the program is far smaller. Where a column is fixed
    at 1, cycles go through its majority from j to i as well.
    """

    presolve = False

    def __init__(self, cost: Floats, start: Ints, step: float, tolerance: float, clock: Clock) -> None:
        self.majorities = Majorities(cost.T)
        super().__init__(cost, start, step, tolerance, clock)
        self.add_cycles(self.majorities.cycles(self.majorities.seen_from(start)))

    def columns(self) -> tuple[Floats, float, Ints]:
        """See `_Tree`."""
        return self.majorities.cost, self.floor, self.majorities.number

    def before(self, x: Floats) -> Floats:
        """Return how much i comes before j; without a majority, the middle of the range that other paths allow."""
        far, _ = self.majorities.paths(np.maximum(x, 0.0))
        np.minimum(far, 1.0, out=far)
        before: Floats = (1 - far + far.T) / 2
        tail, head = self.majorities.tail, self.majorities.head
        before[tail, head], before[head, tail] = 1 - x, x
        np.fill_diagonal(before, 0.0)
        return before

    def first_rows(self, before: Floats, node: _Node) -> Callable[[], None] | None:
        """Return a function that adds the cycles that a solution violates; None if there are none."""
        lengths = np.maximum(before[self.majorities.head, self.majorities.tail], 0.0)
        rows = list(self.majorities.cycles(lengths, np.flatnonzero(node.lower > 0.5)))
        return partial(self.add_cycles, rows) if rows else None

    def add_cycles(self, cycles: Iterable[Rows]) -> None:
        """Add the rows of cycles."""
        for rows in cycles:
            self.program.add_others(*rows)

    def more_rows(self, before: Floats) -> Callable[[], None] | None:  # noqa: ARG002
        """Return None: rows on a few items are written in columns of pairs."""
        return None

    def grow(self, node: _Node, room: int) -> bool:  # noqa: ARG002
        """Return False, for the same reason."""
        return False

    def close_by_trials(self, progress: Callable[[Step], None] | None) -> Part | None:
        """Branch until the best order is proven optimal or the time is over; return None where the gap is too large."""

        def try_order(x: Floats) -> float:
            self.round(self.before(x))
            steps = _LOOKS_A_NODE * self.cost.size
            self.try_order(search.better_order(self.cost, self.best, self.clock, steps=steps, seed=trials.closed))
            return self.value - self.offset

        trials = Trials(self.majorities, self.value - self.offset, self.step, try_order, self.clock)
        trials.run(self.best, progress)
        self.floor = max(self.floor, trials.bound + self.offset)
        if not trials.hopeful and not self.stopped():
            return None
        return self.part(f"branch and bound ({trials.closed} branching{'s' * (trials.closed != 1)})")

    def with_triangles(self) -> _Tree:
        """Return a tree with a column for each pair, starting from the results of this one."""
        tree = _Tree(self.cost, self.best, self.step, self.tolerance, self.clock)
        tree.floor = tree.root.bound = self.floor
        return tree

    def fits_none(self, node: _Node) -> bool:
        """Whether the majorities that are fixed form a cycle."""
        return self.majorities.fits_none(node.upper < 0.5, node.lower > 0.5)

    def price(self, a: int, b: int) -> float:
        """See `_Tree`."""
        column = self.column[a, b]
        return float(self.root.reduced_costs[column]) if column >= 0 else 0.0


class _Relaxed(_Tree):
    """A tree for bounds only: it makes no orders, because they might break the fixed pairs."""

    def round(self, before: Floats) -> None:
        """Do nothing."""

    def search_longer(self) -> None:
        """Make none."""


def _has_few_cycles(cost: Floats) -> bool:
    """Whether cycles of majorities make a faster program than triangles: few items, or few majorities."""
    n = len(cost)
    return n <= _FEW_ITEMS or int(np.count_nonzero(cost != cost.T)) < _SPARSE * n * (n - 1)
