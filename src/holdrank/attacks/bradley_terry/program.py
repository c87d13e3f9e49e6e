"""The linear program that finds the best weights for a region of strengths."""

from __future__ import annotations

import numpy as np

from holdrank.attacks.bradley_terry.movement import Chords, Movement, sigma
from holdrank.rankings import Floats, Ints
from holdrank.rules.solvers.highs import LinearProgram
from holdrank.status import Clock

_NEVER = 30.0  # price of a pull that no battle gives, so that there always is a solution
_ALL_PAIRS = 20  # items up to which every battle has a column
_MOVES = 0.5  # beyond this width an item is one of those whose battles have columns


def best_weights(movement: Movement, region: Chords, a: int, b: int, clock: Clock) -> tuple[Floats | None, Floats]:
    """Return the weights that give the best bound for a region where b is as strong as a, and its slack for each item.

    The program minimises the battles that pull as much as the strengths have moved, with doubts, chords and errors as
    they may be anywhere in the region; the weights are its duals. Columns left out make the weights worse, but not
    wrong, because the bound is evaluated over all battles.
    """
    n, fought, change = movement.n, movement.fought, movement.change
    rows = _Rows(n)
    p, q = _pairs(region, a, b)
    doubt = region.doubt[p, q]
    if change.puts:
        rows.add(p, q, doubt, cost=1.0, upper=np.inf, balance=1.0)
    if change.takes:
        rows.add(p, q, -doubt, cost=0.0 if change.keeps_total else 1.0, upper=movement.battles.wins[p, q], balance=-1.0)
    others = np.delete(np.arange(n), a)
    for sign in (1.0, -1.0):
        rows.add(others, np.full(n - 1, a), np.full(n - 1, sign), cost=_NEVER, upper=np.inf)
    u, v = p[p < q], q[p < q]
    least, most = fought[u, v] * region.errors[u, v], -fought[u, v] * region.errors[v, u]
    rows.add(u, v, np.full(len(u), -1.0), cost=0.0, lower=least, upper=most)
    tied = fought * region.slopes
    laplacian = np.diag(tied.sum(axis=1) + movement.ridge) - tied - movement.ridge / n
    rows.add_dense(-laplacian[:, others], lower=-region.rise[a, others], upper=region.rise[others, a])
    solution = rows.solve(-movement.slope, balanced=change.keeps_total, clock=clock)
    if solution is None:
        return None, np.zeros(n)
    x, y = solution
    drop = np.abs(y[:, None] - y)
    # Where the weights give no information, any doubt is worth a cut.
    loose = fought * (drop + 1e-6) * -(region.errors + region.errors.T)
    used = np.zeros((n, n))
    for block in range(int(change.puts) + int(change.takes)):
        used[p, q] += x[block * len(p) : (block + 1) * len(p)]
    spread = sigma(movement.gaps + region.rise) - sigma(movement.gaps - region.rise.T)
    loose += (used * spread + (used * spread).T) * drop
    return y, np.asarray(loose.sum(axis=1))


def _pairs(region: Chords, a: int, b: int) -> tuple[Ints, Ints]:
    """Return the pairs whose battles may matter: all for few items, else those of a, b and items that may move far."""
    n = len(region.rise)
    some = ~np.eye(n, dtype=bool)
    if n > _ALL_PAIRS:
        matters = (region.rise + region.rise.T)[:, a] > _MOVES
        matters[[a, b]] = True
        some &= matters[:, None] | matters
    p, q = np.nonzero(some)
    return p, q


class _Rows:
    """A program with a row for each item, built column by column."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._blocks: list[Floats] = []
        self._cost: list[Floats] = []
        self._lower: list[Floats] = []
        self._upper: list[Floats] = []

    def add(
        self,
        first: Ints,
        second: Ints,
        value: Floats,
        *,
        cost: float,
        upper: Floats | float,
        lower: Floats | float = 0.0,
        balance: float = 0.0,
    ) -> None:
        """Add columns that pull `first` by a value and `second` by its negative; the last row balances battles."""
        block = np.zeros((self.n + 1, len(first)))
        here = np.arange(len(first))
        block[first, here], block[second, here], block[self.n] = value, -value, balance
        self._keep(block, cost, lower, upper)

    def add_dense(self, columns: Floats, *, lower: Floats, upper: Floats) -> None:
        """Add columns as they are."""
        self._keep(np.vstack((columns, np.zeros(columns.shape[1]))), 0.0, lower, upper)

    def _keep(self, block: Floats, cost: float, lower: Floats | float, upper: Floats | float) -> None:
        size = block.shape[1]
        self._blocks.append(block)
        for kept, value in ((self._cost, cost), (self._lower, lower), (self._upper, upper)):
            kept.append(np.broadcast_to(value, size).astype(np.float64))

    def solve(self, right: Floats, *, balanced: bool, clock: Clock) -> tuple[Floats, Floats] | None:
        """Return the solution and the duals of the items' rows; None if none is found within the time limit."""
        matrix = np.hstack(self._blocks)
        program = LinearProgram(np.concatenate(self._cost), np.inf, presolve=False)
        program.set_bounds(np.concatenate(self._lower), np.concatenate(self._upper))
        for row, wanted in zip(matrix if balanced else matrix[:-1], [*right.tolist(), 0.0], strict=False):
            used = np.flatnonzero(row)
            program.add_rows(used[None], row[used][None], wanted, wanted)
        solution = program.solve(clock)
        return (solution.x, solution.duals[: self.n]) if len(solution.duals) else None
