"""The only user of highspy: a linear or integer program that grows by rows and is solved again from where it stood."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np

from holdrank.rankings import Floats, Ints

_TOLERANCE = 1e-7


@dataclass(frozen=True, slots=True)
class Solution:
    """What one solve found.

    Attributes
    ----------
    x : array
        Values of the columns; empty when no feasible point was found in time.
    bound : float
        No feasible point is cheaper than this; minus infinity when nothing is known.
    finished : bool
        Solved to optimality.
    interrupted : bool
        The user pressed Ctrl-C.
    """

    x: Floats
    bound: float
    finished: bool
    interrupted: bool


class Model:
    """Minimise ``cost @ x`` over ``0 <= x <= 1`` and rows that are added between solves."""

    def __init__(self, cost: Floats) -> None:
        import highspy

        self._highspy = highspy
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._highs.silent()
        # One thread and a fixed seed: the same answer on any machine.
        for option, value in (("threads", 1), ("random_seed", 0), ("mip_rel_gap", 0.0)):
            self._highs.setOptionValue(option, value)
        columns = len(cost)
        self._highs.addVars(columns, np.zeros(columns), np.ones(columns))
        self._highs.changeColsCost(columns, np.arange(columns, dtype=np.int32), np.asarray(cost, dtype=np.float64))
        self._columns = columns

    def add_rows(self, columns: Ints, values: Floats, lower: float, upper: float) -> None:
        """Add rows ``lower <= values @ x[columns] <= upper``; both arrays have one line a row."""
        rows, width = columns.shape
        starts = np.arange(rows, dtype=np.int32) * width
        flat = columns.astype(np.int32).ravel()
        self._highs.addRows(
            rows, np.full(rows, lower), np.full(rows, upper), flat.size, starts, flat, values.astype(np.float64).ravel()
        )

    def make_integer(self, start: Floats, absolute_gap: float) -> None:
        """Ask for whole numbers from now on, beginning with the feasible point `start`."""
        kinds = np.full(self._columns, self._highspy.HighsVarType.kInteger)
        self._highs.changeColsIntegrality(self._columns, np.arange(self._columns, dtype=np.int32), kinds)
        self._highs.setOptionValue("mip_abs_gap", absolute_gap)
        point = self._highspy.HighsSolution()
        point.col_value = list(start)
        self._highs.setSolution(point)

    def solve(self, deadline: float | None = None) -> Solution:
        """Solve, warm from the last basis; stop at `deadline` (on the monotonic clock) or at Ctrl-C."""
        highs = self._highs
        if deadline is not None:
            # HiGHS counts its running time over all solves of one model.
            highs.setOptionValue("time_limit", highs.getRunTime() + max(deadline - monotonic(), 0.0))
        interrupted = self._run()
        status = highs.getModelStatus()
        finished = status == self._highspy.HighsModelStatus.kOptimal
        info = highs.getInfo()
        is_mip = info.mip_node_count >= 0
        solved_bound = info.objective_function_value if finished else -np.inf
        bound = float(info.mip_dual_bound if is_mip else solved_bound)
        feasible = info.primal_solution_status == 2
        x = np.array(highs.getSolution().col_value) if feasible and (finished or is_mip) else np.empty(0)
        return Solution(x, bound if np.isfinite(bound) else -np.inf, finished, interrupted)

    def _run(self) -> bool:
        """Run HiGHS in its own thread, so that Ctrl-C reaches Python; return whether it did."""
        highs = self._highs
        highs.HandleUserInterrupt = True
        highs.startSolve()
        interrupted = False
        while True:
            try:
                if highs.wait(0.2)[0]:
                    return interrupted
            except KeyboardInterrupt:
                interrupted = True
                highs.cancelSolve()
