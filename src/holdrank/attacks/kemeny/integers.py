"""Integer programs with few rows: the minimum number of whole votes.

The linear program gives the value of each column and its reduced cost. Most columns cannot move within the number of
votes in question, so the integer programs are small.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from holdrank.rankings import Floats, Ints
from holdrank.rules.solvers.highs import LinearProgram, Solution
from holdrank.status import Clock

_TRIES = 4  # numbers of votes that are tried one after the other, before a program finds the number itself
_FEW_COLUMNS = (60, 400)  # of an integer program, before all that can move at all
_UNSURE = 1e-8  # share of the votes that a solver may be wrong by, generously
_FINE = 2**30  # multipliers are rounded to this part of the largest


class UndecidedError(Exception):
    """A program was not solved: the time limit was reached, or the solver failed."""


def leaves_nothing(dropped: float, lightest: float, rows: Callable[[], Ints]) -> bool:
    """Whether conditions that need a share `dropped` of the votes removed need all removed: True only if proven.

    The remaining votes may be scaled until they hold all of some ballot, and the conditions still hold. So either the
    lightest ballot can remain or nothing can, and the share only has to show which of the two is nearer. Where it
    cannot, whole numbers decide: if a sum of the conditions is negative on every ballot, no part of the votes meets
    them all.

    Parameters
    ----------
    dropped : float
        The minimum share that must go, up to the rounding of a solver.
    lightest : float
        Share of the lightest ballot.
    rows : callable
        Returns the conditions in whole numbers, one row each: the value of every ballot; the total must be 0 or more.
    """
    if dropped <= 1 - 2 * max(lightest, _UNSURE):
        return False
    if lightest > 2 * _UNSURE:
        return dropped > 1 - lightest / 2
    return contradict(rows())


def contradict(rows: Ints) -> bool:
    """Whether no weights of ballots, not all of them 0, satisfy ``rows @ weights >= 0``; True only if that is proved.

    This holds if multipliers exist with which the sum of the rows is negative on every ballot (Gordan). A linear
    program suggests them; rounded to whole numbers, they prove it or not.
    """
    kinds = np.unique(rows, axis=1)
    if not kinds.size:
        return False
    model = LinearProgram(np.ones(len(kinds)), np.inf, presolve=False)
    columns = np.broadcast_to(np.arange(len(kinds)), kinds.T.shape)
    model.add_rows(columns, -kinds.T.astype(np.float64), 1.0, np.inf)
    suggested = model.solve(Clock()).x
    if not len(suggested) or not suggested.max(initial=0.0) > 0:
        return False
    whole = np.rint(suggested / suggested.max() * _FINE).astype(np.int64)
    sums = np.maximum(whole, 0).astype(object) @ kinds.astype(object)
    return all(total < 0 for total in sums)


def least_cost(
    gains: Floats, needs: Floats, cap: Floats, cost: Floats, whole: bool, stop: float, clock: Clock
) -> Floats | None:
    """Return ``0 <= z <= cap`` with ``gains @ z >= needs`` and the least ``cost @ z``, in whole numbers or not.

    None if that is not below `stop`, or does not exist; raises `UndecidedError` if it could not be decided. Columns
    with equal gains are merged.
    """
    table, kind = np.unique(np.column_stack((*gains, cost)), axis=0, return_inverse=True)
    kind = kind.ravel()
    most = np.bincount(kind, cap).astype(np.float64)
    values, price = np.ascontiguousarray(table[:, :-1].T), table[:, -1].copy()
    relaxed = LinearProgram(price, most, presolve=False)
    relaxed.add_rows(_all_columns(values), values, needs, np.inf)
    solved = _finished(relaxed, clock)
    if not len(solved.x):
        return None
    number = max(math.ceil(solved.bound - 1e-6 - 1e-12 * abs(solved.bound)), 0)
    if number >= stop:
        return None
    if not whole:
        return _spread(solved.x, kind, cap)
    rounded = _rounded(solved.x, values, needs, most, number) if (price == 1).all() else None
    for tries in itertools.count():
        if rounded is not None or number + tries >= stop:
            break
        if tries == _TRIES:
            rounded = _anywhere(values, needs, most, price, stop, clock)
            break
        rounded = _nearby(solved, values, needs, most, price, number + tries, clock)
    return None if rounded is None else _spread(rounded, kind, cap)


def _nearby(
    solved: Solution, values: Floats, needs: Floats, most: Floats, price: Floats, number: int, clock: Clock
) -> Floats | None:
    """Return whole numbers close to the linear program that meet the needs and cost `number` at most, if there are any.

    Moving a few columns is nearly always enough; only otherwise are all of them examined.
    """
    easiest = np.argsort(np.abs(solved.reduced_costs), kind="stable")
    movable = int((np.abs(solved.reduced_costs) <= number - solved.bound + 1e-6).sum())
    for free in sorted({min(few, movable) for few in (*_FEW_COLUMNS, movable)}):
        moves, stands = easiest[:free], np.where(solved.reduced_costs < 0, most, 0.0)
        stays = np.ones(len(most), dtype=np.bool_)
        stays[moves] = False
        left = needs - values[:, stays] @ stands[stays]
        within = number - float(price[stays] @ stands[stays])
        if not free:
            return stands if (left <= 0).all() and within >= 0 else None
        program = LinearProgram(price[moves], most[moves], whole=np.ones(free, dtype=np.bool_))
        moving = np.ascontiguousarray(values[:, moves])
        program.add_rows(_all_columns(moving), moving, left, np.inf)
        program.add_rows(np.arange(free)[None], price[moves][None], -np.inf, within)
        found = _finished(program, clock)
        if len(found.x):
            stands[moves] = np.rint(found.x)
            return stands
    return None


def _anywhere(values: Floats, needs: Floats, most: Floats, price: Floats, stop: float, clock: Clock) -> Floats | None:
    """Return the cheapest whole numbers that meet the needs, if they cost less than `stop`.

    Shares may fit where no whole numbers do: this uses all columns at once, without a fixed number of votes.
    """
    program = LinearProgram(price, most, whole=np.ones(len(most), dtype=np.bool_))
    program.add_rows(_all_columns(values), values, needs, np.inf)
    found = _finished(program, clock)
    return np.rint(found.x) if len(found.x) and float(price @ np.rint(found.x)) < stop else None


def _finished(program: LinearProgram, clock: Clock) -> Solution:
    solved = program.solve(clock)
    if not solved.finished:
        raise UndecidedError
    return solved


def _all_columns(values: Floats) -> Ints:
    return np.tile(np.arange(values.shape[1]), (len(values), 1))


def _rounded(x: Floats, values: Floats, needs: Floats, most: Floats, number: float) -> Floats | None:
    """Return `x` in whole numbers that sum up to `number` at most and still meet the needs, if one guess does."""
    whole = np.floor(x + 1e-9)
    while whole.sum() < number:
        missing = np.maximum(needs - values @ whole, 0.0)
        if not missing.any():
            break
        help_ = np.minimum(values, missing[:, None]).sum(axis=0)
        help_[whole >= most] = -np.inf
        whole[np.argmax(help_)] += 1
    return whole if (values @ whole >= needs - 1e-9).all() else None


def _spread(amounts: Floats, kind: Ints, cap: Floats) -> Floats:
    """Return how much is taken of each column, given the amounts for each kind of column."""
    taken = np.zeros(len(cap))
    left = amounts.copy()
    for column in np.argsort(kind, kind="stable").tolist():
        taken[column] = min(cap[column], left[kind[column]])
        left[kind[column]] -= taken[column]
    return taken
