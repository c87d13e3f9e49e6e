"""The dual simplex method for programs of a handful of rows and many columns: loops, compiled where numba is there.

minimise cost @ z   over   gain[:rows] @ z >= need[:rows],   0 <= z <= cap
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from holdrank.rankings import Floats, Ints

MOST_ROWS = 60  # of one program
_TINY = 1e-12


class Tableau(NamedTuple):
    """The program of one target, and where the simplex method stands in it.

    Attributes
    ----------
    gain, need : (most, columns) and (most,) arrays
        Rows.
    basis : (most,) array of int
        The basic column of each row; column ``columns + i`` is the surplus of row i.
    full : (columns,) array of bool
        Which of the other columns take all they can.
    duals : (most,) array
    z : (columns,) array
    """

    gain: Floats
    need: Floats
    basis: Ints
    full: npt.NDArray[np.bool_]
    duals: Floats
    z: Floats


def new_tableau(columns: int) -> Any:
    """Return a program without rows."""
    return Tableau(
        np.zeros((MOST_ROWS, columns)),
        np.zeros(MOST_ROWS),
        np.zeros(MOST_ROWS, np.int64),
        np.zeros(columns, np.bool_),
        np.zeros(MOST_ROWS),
        np.zeros(columns),
    )


def solve_rows(cap: Any, cost: Any, tableau: Any, rows: int) -> bool:
    """Minimise ``cost @ z`` over ``gain[:rows] @ z >= need[:rows]``, ``0 <= z <= cap``, warm from the last basis.

    The dual simplex method with bound flips, for a handful of rows and many columns; costs must not be negative. Fills
    `duals` and `z`; returns False when the rows cannot be met.

    ::

        repeat:
            duals = cost of the basic columns @ inverse of the basis
            leaving = the row whose basic column is farthest outside its bounds; none: z is optimal
            step, reduced = the row of the leaving column, and the reduced costs
            pass the columns by rising reduced / step: each flips from empty to full or back, until the row is met
            entering = the column at which it is; none: the rows cannot be met
    """
    gain, need, basis, full, duals, z = tableau
    columns = len(cap)
    inverse = np.zeros((rows, rows))
    basic = np.zeros(rows)
    step = np.empty(columns + rows)
    reduced = np.empty(columns + rows)
    for _ in range(50 + 20 * rows):
        if not invert_basis(gain, rows, basis, inverse):
            return True  # numerically stuck: the caller judges the duals it has
        # Duals, and what the basic columns take when the full ones take all they can.
        for i in range(rows):
            total = 0.0
            for at in range(rows):
                if basis[at] < columns:
                    total += cost[basis[at]] * inverse[at, i]
            duals[i] = total
        left = need[:rows].copy()
        for j in range(columns):
            if full[j]:
                for i in range(rows):
                    left[i] -= cap[j] * gain[i, j]
        leaving = -1
        worst = _TINY
        too_large = False
        for at in range(rows):
            value = 0.0
            for i in range(rows):
                value += inverse[at, i] * left[i]
            basic[at] = value
            if -value > worst:
                worst, leaving, too_large = -value, at, False
            if basis[at] < columns and value - cap[basis[at]] > worst:
                worst, leaving, too_large = value - cap[basis[at]], at, True
        if leaving < 0:
            for j in range(columns):
                z[j] = cap[j] if full[j] else 0.0
            for at in range(rows):
                if basis[at] < columns:
                    z[basis[at]] = min(max(basic[at], 0.0), cap[basis[at]])
            return True
        sign = 1.0 if too_large else -1.0
        for j in range(columns):
            step[j] = 0.0
            reduced[j] = cost[j]
        for i in range(rows):
            weight = sign * inverse[leaving, i]
            dual = duals[i]
            for j in range(columns):
                step[j] += weight * gain[i, j]
                reduced[j] -= dual * gain[i, j]
            step[columns + i] = -weight
            reduced[columns + i] = dual
        for at in range(rows):
            step[basis[at]] = 0.0
        entering = pass_break_points(cap, full, step, reduced, worst)
        if entering < 0:
            # Along this ray the bound of the duals rises for ever: believed only if it does.
            for i in range(rows):
                duals[i] = sign * inverse[leaving, i]
            return dual_bound(cap, np.zeros(columns), tableau, rows) <= _TINY
        gone = basis[leaving]
        if gone < columns:
            full[gone] = too_large
        basis[leaving] = entering
        if entering < columns:
            full[entering] = False
    return True


def pass_break_points(cap: Any, full: Any, step: Any, reduced: Any, worst: float) -> int:
    """Return the column that enters the basis, or -1; columns passed before it become full or empty.

    A column is passed where its reduced cost changes sign, at ``reduced / step``. Each takes ``step * cap`` off what
    the leaving column is outside its bounds, `worst`; a surplus takes off all.
    """
    columns = len(cap)
    ratio = np.empty(len(step))
    reach = np.inf
    for j in range(len(step)):
        ratio[j] = np.inf
        direction = step[j]
        if j < columns and full[j]:
            direction = -direction
        if direction > 1e-11:
            ratio[j] = abs(reduced[j]) / direction
            reach = min(reach, ratio[j])
    # Widen the window until the break points inside it take up the slope, then sort only those.
    window = max(2 * reach, 1e-9) if reach < np.inf else np.inf
    while True:
        slope = worst
        for j in range(len(step)):
            if ratio[j] <= window:
                slope -= abs(step[j]) * cap[j] if j < columns else np.inf
        if slope < 0 or window == np.inf:
            break
        window = window * 4 if window < 1e12 else np.inf
    inside = np.flatnonzero(ratio <= window) if window < np.inf else np.flatnonzero(ratio < np.inf)
    turn = np.argsort(ratio[inside])
    slope = worst
    for t in range(len(turn)):
        j = inside[turn[t]]
        slope -= abs(step[j]) * cap[j] if j < columns else np.inf
        if slope <= _TINY:
            return int(j)
        full[j] = not full[j]
    return -1


def invert_basis(gain: Any, rows: int, basis: Any, inverse: Any) -> bool:
    """Fill `inverse` with that of the basic columns, by Gauss and Jordan; False if it has none, numerically.

    There are as many rows as rivals matter, a handful.
    """
    columns = gain.shape[1]
    matrix = np.zeros((rows, 2 * rows))
    for at in range(rows):
        column = basis[at]
        for i in range(rows):
            if column < columns:
                matrix[i, at] = gain[i, column]
        if column >= columns:
            matrix[column - columns, at] = -1.0
        matrix[at, rows + at] = 1.0
    for at in range(rows):
        pivot = at
        for i in range(at + 1, rows):
            if abs(matrix[i, at]) > abs(matrix[pivot, at]):
                pivot = i
        if abs(matrix[pivot, at]) < 1e-11:
            return False
        if pivot != at:
            for j in range(2 * rows):
                matrix[at, j], matrix[pivot, j] = matrix[pivot, j], matrix[at, j]
        scale = 1.0 / matrix[at, at]
        for j in range(2 * rows):
            matrix[at, j] *= scale
        for i in range(rows):
            if i != at and matrix[i, at] != 0.0:
                factor = matrix[i, at]
                for j in range(2 * rows):
                    matrix[i, j] -= factor * matrix[at, j]
    for i in range(rows):
        for j in range(rows):
            inverse[i, j] = matrix[i, rows + j]
    return True


def dual_bound(cap: Any, cost: Any, tableau: Any, rows: int) -> float:
    """Return what `solve_rows` minimises at least, by weak duality; negative duals, which prove nothing, become 0."""
    gain, need, duals = tableau.gain, tableau.need, tableau.duals
    bound = 0.0
    for i in range(rows):
        duals[i] = max(duals[i], 0.0)
        bound += duals[i] * need[i]
    for j in range(len(cap)):
        worth = -cost[j]
        for i in range(rows):
            worth += duals[i] * gain[i, j]
        if worth > 0:
            bound -= worth * cap[j]
    return bound


PARTS = (invert_basis, dual_bound, pass_break_points, solve_rows)
"""For `holdrank.arrays.kernels.compiled`."""
