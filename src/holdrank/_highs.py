"""The only user of highspy: a linear program that grows by rows and is solved again from where it stood."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np

from holdrank.rankings import Floats, Ints
from holdrank.status import Clock

_COLUMNS_IN_A_MOMENT = 1000  # solved in milliseconds, less than it takes to press Ctrl-C


@dataclass(frozen=True, slots=True)
class Solution:
    """What one solve found.

    Attributes
    ----------
    finished : bool
        Solved: to optimality, or to the proof that no point is feasible.
    bound : float
        No feasible point is cheaper: proved by the dual prices, whatever the tolerances of the solver.
    x : array
        Values of the columns; empty unless there is an optimum.
    reduced_costs : array
        What a column adds to the bound when it leaves the cheaper of its bounds, from the same prices.
    """

    finished: bool
    bound: float
    x: Floats
    reduced_costs: Floats


class Model:
    """Minimise ``cost @ x`` over bounds (0 and 1 at first) and rows that come and go between solves."""

    def __init__(self, cost: Floats) -> None:
        import highspy

        self._highspy = highspy
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._highs.silent()
        # One thread and a fixed seed, for the same answer on any machine.
        for option, value in (("threads", 1), ("random_seed", 0)):
            self._highs.setOptionValue(option, value)
        self._highs.HandleUserInterrupt = True
        self._cost: Floats = np.asarray(cost, dtype=np.float64)
        # The solver's tolerances are absolute: shares of votes would vanish in them.
        self._scale = 1e4 / max(float(np.abs(self._cost).max(initial=0.0)), 1e-300)
        self._lower, self._upper = np.zeros(len(cost)), np.ones(len(cost))
        self._columns = np.arange(len(cost), dtype=np.int32)
        self._row_columns: Ints = np.empty((0, 0), dtype=np.int32)
        self._row_values: Floats = np.empty((0, 0))
        self._row_range: Floats = np.empty((0, 2))
        self._highs.addVars(len(cost), self._lower, self._upper)
        self._highs.changeColsCost(len(cost), self._columns, self._cost * self._scale)

    def set_bounds(self, lower: Floats, upper: Floats) -> None:
        """Change the bounds of all columns."""
        self._lower, self._upper = lower, upper
        self._highs.changeColsBounds(len(self._columns), self._columns, lower, upper)

    def add_rows(self, columns: Ints, values: Floats, lower: float, upper: float) -> None:
        """Add rows ``lower <= values @ x[columns] <= upper``; both arrays have one line a row, all of one width."""
        rows, width = columns.shape
        columns = columns.astype(np.int32)
        self._row_columns = np.concatenate((self._row_columns.reshape(-1, width), columns))
        self._row_values = np.concatenate((self._row_values.reshape(-1, width), values))
        self._row_range = np.concatenate((self._row_range, np.tile([lower, upper], (rows, 1))))
        starts = np.arange(rows, dtype=np.int32) * width
        self._highs.addRows(
            rows, np.full(rows, lower), np.full(rows, upper), rows * width, starts, columns.ravel(), values.ravel()
        )

    def drop_slack_rows(self, slack: float) -> None:
        """Forget the rows that the last solution keeps farther than `slack` from both of their limits."""
        values = np.array(self._highs.getSolution().row_value)
        loose = (values > self._row_range[:, 0] + slack) & (values < self._row_range[:, 1] - slack)
        self._row_columns, self._row_values = self._row_columns[~loose], self._row_values[~loose]
        self._row_range = self._row_range[~loose]
        self._highs.deleteRows(int(loose.sum()), np.flatnonzero(loose).astype(np.int32))

    def solve(self, clock: Clock) -> Solution:
        """Solve, warm from the last basis, until the clock stops."""
        highs = self._highs
        if clock.deadline is not None:
            # HiGHS counts its running time over all solves of one model.
            highs.setOptionValue("time_limit", highs.getRunTime() + max(clock.deadline - monotonic(), 0.0))
        if len(self._columns) <= _COLUMNS_IN_A_MOMENT:
            highs.run()
        else:
            # In a thread of its own, so that Python stays awake for Ctrl-C.
            highs.startSolve()
            while not highs.wait(0.1)[0]:
                if clock.interrupted:
                    highs.cancelSolve()
        status, statuses = highs.getModelStatus(), self._highspy.HighsModelStatus
        if status == statuses.kInfeasible:
            return Solution(True, np.inf, np.empty(0), np.empty(0))
        if status != statuses.kOptimal:
            return Solution(False, -np.inf, np.empty(0), np.empty(0))
        solution = highs.getSolution()
        bound, reduced_costs = self._dual_bound(np.array(solution.row_dual) / self._scale)
        return Solution(True, bound, np.array(solution.col_value), reduced_costs)

    def _dual_bound(self, prices: Floats) -> tuple[float, Floats]:
        """Return the Lagrangian bound of these row prices, valid for any prices, and the reduced costs."""
        lower, upper = self._row_range[:, 0], self._row_range[:, 1]
        reduced = self._cost.copy()
        if len(prices):
            spent = (prices[:, None] * self._row_values).ravel()
            reduced -= np.bincount(self._row_columns.ravel(), weights=spent, minlength=len(reduced))
        paid = prices != 0  # a free row may have an infinite limit
        limit = np.where(prices > 0, lower, upper)
        bound = float((prices[paid] * limit[paid]).sum())
        bound += float(np.where(reduced > 0, reduced * self._lower, reduced * self._upper).sum())
        return bound, reduced
