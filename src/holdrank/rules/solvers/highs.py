"""The only user of highspy: a linear program that grows by rows and is solved again from its last basis."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from holdrank.rankings import Floats, Ints
from holdrank.status import Clock

UNIT = 1e4  # weight of all votes in a program: the solver's tolerances are absolute, and this makes them small
_MIP_GAP = 1e-6  # absolute, the solver's default
_DANTZIG, _DEVEX, _NO_LIMIT = 0, 1, 2**31 - 1  # values of the solver's options
_COLUMNS_IN_A_MOMENT = 1000  # solved in milliseconds, less than it takes to press Ctrl-C


@dataclass(frozen=True, slots=True)
class Solution:
    """The result of one solve.

    Attributes
    ----------
    finished : bool
        Whether it was solved: to optimality, or to a proof of infeasibility.
    bound : float
        Lower bound on every feasible point, proven by the duals regardless of the solver's tolerances.
    x : array
        Values of the columns; empty unless there is an optimum.
    reduced_costs : array
        The increase of the bound when a column leaves the cheaper of its bounds, from the same duals.
    duals : array
        Of the rows; empty like `x`, and for programs in whole numbers.
    """

    finished: bool
    bound: float
    x: Floats
    reduced_costs: Floats
    duals: Floats = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True, slots=True)
class Corner:
    """Where a solve ended: the rows that were nearly tight there, and the basis. Later solves can start from it."""

    widths: Ints
    columns: Ints
    values: Floats
    limits: Floats
    basis: Any


@cache
def _without_callbacks() -> type:
    """Return the solver without callbacks to Python, which take most of the time for programs of a few rows."""
    import highspy

    class Quick(highspy.Highs):
        def __init__(self) -> None:
            super(highspy.Highs, self).__init__()

    return Quick


class LinearProgram:
    """Minimise ``cost @ x`` over bounds (0 and `upper` at first) and rows that are added and dropped between solves.

    Parameters
    ----------
    cost : array
    upper : array or float
        Largest value of each column; may be infinite.
    whole : array of bool, optional
        Columns that take whole numbers only. The bound of a solve is then the solver's own, not that of the duals.
    presolve : bool
        Off for programs of a few rows, where it takes longer than the solve.
    """

    def __init__(
        self,
        cost: Floats,
        upper: Floats | float = 1.0,
        *,
        whole: npt.NDArray[np.bool_] | None = None,
        presolve: bool = True,
    ) -> None:
        import highspy

        self._highspy = highspy
        self._in_a_moment = len(cost) <= _COLUMNS_IN_A_MOMENT and whole is None
        self._highs: Any = _without_callbacks()() if self._in_a_moment else highspy.Highs()  # type: ignore[no-untyped-call]
        self._highs.silent()
        # One thread and a fixed seed, for the same answer on any machine.
        for option, value in (("threads", 1), ("random_seed", 0)):
            self._highs.setOptionValue(option, value)
        if not presolve:
            self._highs.setOptionValue("presolve", "off")
            self._highs.setOptionValue("solver", "simplex")
        if not self._in_a_moment:
            self._highs.HandleUserInterrupt = True
        self._cost: Floats = np.asarray(cost, dtype=np.float64)
        # The solver's tolerances are absolute: shares of votes would vanish in them.
        self._scale = 1e4 / max(float(np.abs(self._cost).max(initial=0.0)), 1e-300)
        self._lower, self._upper = np.zeros(len(cost)), np.broadcast_to(upper, len(cost)).astype(np.float64)
        self._columns = np.arange(len(cost), dtype=np.int32)
        self._entry_columns: Ints = np.empty(0, dtype=np.int32)  # row after row
        self._entry_values: Floats = np.empty(0)
        self._widths: Ints = np.empty(0, dtype=np.int32)
        self._row_range: Floats = np.empty((0, 2))
        self._whole = whole
        self._inside = False
        self._highs.addVars(len(cost), self._lower, self._upper)
        self._highs.changeColsCost(len(cost), self._columns, self._cost * self._scale)
        if whole is not None:
            self._highs.setOptionValue("mip_rel_gap", 0.0)
            self._highs.changeColsIntegrality(len(cost), self._columns, whole.astype(np.uint8))

    def set_bounds(self, lower: Floats, upper: Floats) -> None:
        """Change the bounds of all columns."""
        self._lower, self._upper = lower, upper
        self._highs.changeColsBounds(len(self._columns), self._columns, lower, upper)

    def add_rows(self, columns: Ints, values: Floats, lower: Floats | float, upper: Floats | float) -> None:
        """Add rows ``lower <= values @ x[columns] <= upper``; both arrays have one line per row, all of one width."""
        rows, width = columns.shape
        limits = [np.broadcast_to(limit, rows).astype(np.float64) for limit in (lower, upper)]
        self.add_uneven_rows(np.full(rows, width, dtype=np.int32), columns.ravel(), values.ravel(), *limits)

    def add_uneven_rows(self, widths: Ints, columns: Ints, values: Floats, lower: Floats, upper: Floats) -> None:
        """Add rows of different widths, listed one after the other."""
        columns = columns.astype(np.int32)
        self._entry_columns = np.concatenate((self._entry_columns, columns))
        self._entry_values = np.concatenate((self._entry_values, values))
        self._widths = np.concatenate((self._widths, widths.astype(np.int32)))
        self._row_range = np.concatenate((self._row_range, np.column_stack((lower, upper))))
        starts = (np.cumsum(widths) - widths).astype(np.int32)
        self._highs.addRows(len(widths), lower, upper, len(columns), starts, columns, values)

    def drop_slack_rows(self, slack: float) -> npt.NDArray[np.bool_]:
        """Forget the rows that the last solution keeps farther than `slack` from both limits; return which are kept."""
        values = np.array(self._highs.getSolution().row_value)
        loose = (values > self._row_range[:, 0] + slack) & (values < self._row_range[:, 1] - slack)
        kept = np.repeat(~loose, self._widths)
        self._entry_columns, self._entry_values = self._entry_columns[kept], self._entry_values[kept]
        self._widths, self._row_range = self._widths[~loose], self._row_range[~loose]
        self._highs.deleteRows(int(loose.sum()), np.flatnonzero(loose).astype(np.int32))
        return ~loose

    def corner(self, slack: float) -> Corner:
        """Return where the last solve ended, without the rows that are farther than `slack` from both limits."""
        basis, values = self._highs.getBasis(), np.array(self._highs.getSolution().row_value)
        basic = self._highspy.HighsBasisStatus.kBasic
        loose = (values > self._row_range[:, 0] + slack) & (values < self._row_range[:, 1] - slack)
        # Without rows whose slack is basic, what is left is a basis.
        states = list(basis.row_status)
        left = [row for row, state in enumerate(states) if state != basic or not loose[row]]
        kept = np.zeros(len(states), dtype=bool)
        kept[left] = True
        basis.row_status = [states[row] for row in left]
        entries = np.repeat(kept, self._widths)
        return Corner(
            self._widths[kept], self._entry_columns[entries], self._entry_values[entries], self._row_range[kept], basis
        )

    def go_to(self, corner: Corner) -> None:
        """Replace all rows by those of a corner, so that the next solve starts there."""
        count = len(self._widths)
        if count:
            self._highs.deleteRows(count, np.arange(count, dtype=np.int32))
        self._entry_columns, self._entry_values = np.empty(0, dtype=np.int32), np.empty(0)
        self._widths, self._row_range = np.empty(0, dtype=np.int32), np.empty((0, 2))
        if len(corner.widths):
            self.add_uneven_rows(corner.widths, corner.columns, corner.values, *corner.limits.T)
        self._highs.setBasis(corner.basis)
        # Steepest edges would have to be set up anew each time.
        self._highs.setOptionValue("simplex_dual_edge_weight_strategy", _DEVEX)

    def try_value(self, column: int, value: float, corner: Corner, iterations: int, clock: Clock) -> float:
        """Return a bound for one column fixed at a value: what a few iterations from a corner of these rows prove."""
        kept = self._lower, self._upper
        lower, upper = kept[0].copy(), kept[1].copy()
        lower[column] = upper[column] = value
        self._highs.changeColBounds(column, value, value)
        self._highs.setBasis(corner.basis)
        # Weights of edges take longer to set up than these iterations.
        for option, few in (("simplex_iteration_limit", iterations), ("simplex_dual_edge_weight_strategy", _DANTZIG)):
            self._highs.setOptionValue(option, few)
        self._lower, self._upper = lower, upper
        self._run(clock)
        duals = np.array(self._highs.getSolution().row_dual) / self._scale
        usable = len(duals) == len(self._widths) and np.isfinite(duals).all()
        bound = self._dual_bound(duals)[0] if usable else -np.inf
        for option, usual in (("simplex_iteration_limit", _NO_LIMIT), ("simplex_dual_edge_weight_strategy", _DEVEX)):
            self._highs.setOptionValue(option, usual)
        self._lower, self._upper = kept
        self._highs.changeColBounds(column, kept[0][column], kept[1][column])
        return bound

    def start_inside(self) -> None:
        """Let the next solve go through the inside and end in a corner: faster than from a basis that says little."""
        self._inside = True

    def solve(self, clock: Clock) -> Solution:
        """Solve, warm from the last basis, until the clock stops."""
        if self._inside:
            self._inside = False
            self._highs.setOptionValue("solver", "ipm")
            solution = self._solve(clock)
            self._highs.setOptionValue("solver", "choose")
            if solution.finished or clock.over():
                return solution
        return self._solve(clock)

    def _run(self, clock: Clock) -> None:
        highs = self._highs
        if clock.deadline is not None:
            # HiGHS counts its running time over all solves of one model.
            highs.setOptionValue("time_limit", highs.getRunTime() + max(clock.deadline - monotonic(), 0.0))
        if self._in_a_moment:
            highs.run()
        else:
            # In a separate thread, so that Python still handles Ctrl-C.
            highs.startSolve()
            while not highs.wait(0.1)[0]:
                if clock.interrupted:
                    highs.cancelSolve()

    def _solve(self, clock: Clock) -> Solution:
        self._run(clock)
        highs = self._highs
        status, statuses = highs.getModelStatus(), self._highspy.HighsModelStatus
        if status == statuses.kInfeasible:
            return Solution(True, np.inf, np.empty(0), np.empty(0))
        solution = highs.getSolution()
        if self._whole is not None:
            info = highs.getInfo()
            # The solver drops branches that could only be better by less than its absolute gap.
            bound = (info.mip_dual_bound - _MIP_GAP) / self._scale if np.isfinite(info.mip_dual_bound) else -np.inf
            found = np.array(solution.col_value) if solution.value_valid else np.empty(0)
            if not np.isfinite(found).all():
                return Solution(False, bound, np.empty(0), np.empty(0))
            return Solution(status == statuses.kOptimal, bound, found, np.empty(0))
        if status != statuses.kOptimal:
            return Solution(False, -np.inf, np.empty(0), np.empty(0))
        x, duals = np.array(solution.col_value), np.array(solution.row_dual) / self._scale
        if not (np.isfinite(x).all() and np.isfinite(duals).all()):
            return Solution(False, -np.inf, np.empty(0), np.empty(0))  # the solver failed, no matter what it reports
        bound, reduced_costs = self._dual_bound(duals)
        return Solution(True, bound, x, reduced_costs, duals)

    def _dual_bound(self, duals: Floats) -> tuple[float, Floats]:
        """Return the Lagrangian bound of any duals, and the reduced costs."""
        lower, upper = self._row_range[:, 0], self._row_range[:, 1]
        # Rounding must not put a price on a limit that is not there.
        duals = np.clip(duals, np.where(np.isinf(upper), 0.0, -np.inf), np.where(np.isinf(lower), 0.0, np.inf))
        reduced = self._cost.copy()
        if len(duals):
            spent = np.repeat(duals, self._widths) * self._entry_values
            reduced -= np.bincount(self._entry_columns, weights=spent, minlength=len(reduced))
        paid = duals != 0  # a free row may have an infinite limit
        limit = np.where(duals > 0, lower, upper)
        bound = float((duals[paid] * limit[paid]).sum())
        reduced[np.abs(reduced) < 1e-15 * max(float(np.abs(self._cost).max(initial=0.0)), 1e-300)] = 0.0
        off = reduced != 0  # a column without a price may have an infinite bound
        bound += float((reduced[off] * np.where(reduced > 0, self._lower, self._upper)[off]).sum())
        return bound, reduced
