"""Strengths with style: battles explained by the two items and by how their answers differ, such as in length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from holdrank.errors import InputError, UsageError, quote, real_number
from holdrank.rankings import Floats, Ints
from holdrank.rules.consensus import Consensus, tied_by_scores
from holdrank.rules.ratings import FLOOR, Fit, RatingModel, StyleEffect
from holdrank.rules.scores import sorted_consensus
from holdrank.rules.strengths import RIDGE, connections, strength_tolerance
from holdrank.votes.forms.battle_columns import battle_columns
from holdrank.votes.forms.frames import table_from_frame
from holdrank.votes.forms.table import Table
from holdrank.votes.forms.table_options import TableOptions
from holdrank.votes.votes import Votes

_MOST_STEPS = 200
_CONVERGED = 1e-10


class _Rows(NamedTuple):
    """Battles row by row: the two items, the result of the first (1, 1/2 or 0), the count, the weight and the style."""

    first: Ints
    second: Ints
    outcome: Floats
    battles: Floats
    weight: Floats  # of all battles of the row together
    style: Floats  # (battles, features)

    def of(self, items: Ints) -> _Rows:
        """Return the battles among some items, which are numbered anew."""
        number = np.full(int(max(self.first.max(), self.second.max())) + 1, -1)
        number[items] = np.arange(len(items))
        kept = (number[self.first] >= 0) & (number[self.second] >= 0)
        return _Rows(number[self.first[kept]], number[self.second[kept]], *(part[kept] for part in self[2:]))


def bradley_terry_with_style(
    frame: Any,
    style: Sequence[str],
    *,
    normalise: bool = True,
    penalty: float = 0.0,
    reweight: bool = False,
    **columns: Any,
) -> Consensus:
    """Return the items sorted by Bradley-Terry strength, with the effect of style removed.

    The model: the first item of a battle wins with probability ``1 / (1 + exp(-(s[i] - s[j] + style @ c)))``. The
    strengths s and the coefficients c are fitted together. A tie is half a win for each.

    Parameters
    ----------
    frame : pandas, polars, pyarrow or other data frame
        One battle per row, as for `Votes.from_battles`.
    style : sequence of str
        Columns of the frame with the difference of the first answer from the second, such as in length.
    normalise : bool
        Whether each column is shifted to mean 0 and scaled to standard deviation 1.
    penalty : float
        Weight of ``sum(c**2) / 2`` against the mean log-likelihood of a battle. The package arena-rank uses 1.
    reweight : bool
        Whether all pairs have the same weight: a battle weighs ``1 / max(battles of its pair, 50)``.
    **columns
        As for `Votes.from_battles`: `first`, `second`, `winner`, `weight`, `both_bad`.

    Notes
    -----
    `Consensus.ratings` of the result has the coefficients with their standard errors in `Ratings.style`. Attacks,
    `verify` and tiers use `bradley_terry` without style.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame(
    ...     {
    ...         "model_a": ["a", "a", "b", "b"] * 5,
    ...         "model_b": ["b", "b", "a", "a"] * 5,
    ...         "winner": ["model_a", "model_a", "model_a", "tie"] * 5,
    ...         "longer": [3.0, 1.0, 2.0, -1.0] * 5,
    ...     }
    ... )
    >>> found = bradley_terry_with_style(frame, ["longer"], penalty=0.1).ratings()
    >>> [(effect.name, round(effect.coefficient, 2)) for effect in found.style]
    [('longer', 0.47)]
    """
    started = perf_counter()
    weight = real_number(penalty)
    if weight is None or not 0 <= weight < math.inf:
        raise UsageError(f"penalty must be 0 or more, not {quote(str(penalty))}")
    if isinstance(style, str) or not style:
        raise UsageError("style takes the names of one or more columns", repair='write style=["length"]')
    votes, rows = _read(frame, list(style), columns)
    if normalise:
        spread = rows.style.std(axis=0)
        rows = rows._replace(style=(rows.style - rows.style.mean(axis=0)) / np.where(spread == 0, 1.0, spread))
    if reweight:
        wins = votes.wins()
        each = rows.weight / np.maximum(wins + wins.T, FLOOR)[rows.first, rows.second]
        rows = rows._replace(weight=each * rows.weight.sum() / each.sum())
    _, connected = connections(votes.wins())
    try:
        fitted, _, steps = _fit(rows, votes.n, RIDGE, weight)
    except (UsageError, np.linalg.LinAlgError) as error:
        raise UsageError("style separates the battles perfectly, so the fit has no maximum",
                         repair="give a penalty above 0, such as penalty=1") from error  # fmt: skip
    proof = f"sorted by strength, adjusted for style; {steps} Newton step{'s' * (steps != 1)}; {connected}"
    found = sorted_consensus(votes, tied_by_scores(fitted, strength_tolerance(fitted)), proof, started)
    return replace(found, _model=StyleModel(votes, RIDGE, None, None, rows=rows, names=tuple(style), penalty=weight))


def _read(frame: Any, style: list[str], columns: dict[str, Any]) -> tuple[Votes, _Rows]:
    """Return the votes of a frame of battles, and the battles one by one; rows that do not count are left out."""
    if "voter" in columns:
        raise UsageError("with style, every battle is a separate vote; leave out voter")
    table = table_from_frame(frame)
    # A battle that names its row as its voter can be found again.
    votes = Votes.from_battles(frame, voter=[str(row) for row in range(table.rows)], **columns)
    options = TableOptions(**{name: columns[name] for name in ("first", "second", "winner") if name in columns})
    used = battle_columns(table, options)
    assert votes.voters is not None
    assert used is not None
    cast = votes.voters
    row = np.array([int(cast.names[k]) for k in cast.voter], dtype=np.int64)
    told = table.text(used.first)
    here = np.array([told[k].strip() for k in row.tolist()])
    items = np.array([name.strip() for name in votes.items])
    straight = here == items[cast.first]
    if (straight == (here == items[cast.second])).any():  # or style would point the wrong way
        raise UsageError("some names of items differ only in spaces", repair="spell them the same way")
    first = np.where(straight, cast.first, cast.second)
    second = np.where(straight, cast.second, cast.first)
    outcome = (1 - np.where(straight, cast.better, -cast.better)) / 2
    features = np.column_stack([_feature(table, name)[row] for name in style])
    if not np.isfinite(features).all():
        at, column = np.argwhere(~np.isfinite(features))[0].tolist()
        raise InputError(
            f"{quote(style[column])} is not a number",
            source=table.source,
            line=int(row[at]) + 1,
            expected="a finite number in every row",
            repair="fill the cell, or drop the row",
        )
    return votes, _Rows(first, second, outcome, cast.weight, cast.weight, features)


def _feature(table: Table, name: str) -> Floats:
    values = table.columns[table.find(name, "style")]
    if not isinstance(values, np.ndarray):
        raise UsageError(f"the column {quote(name)} holds text, not numbers", repair="name columns of numbers")
    return np.asarray(values, dtype=np.float64)


def _fit(rows: _Rows, n: int, ridge: float, penalty: float) -> tuple[Floats, Floats, int]:
    """Return strengths of sum 0, coefficients, and the Newton steps taken."""
    x = np.zeros(n + rows.style.shape[1])
    total = float(rows.weight.sum())
    held = np.concatenate((np.full(n, ridge), np.full(len(x) - n, penalty)))
    for steps in range(1, _MOST_STEPS + 1):
        chance = _chances(rows, x, n)
        slope = _gathered(rows, rows.weight * (rows.outcome - chance), n) / total - held * x
        hessian = _curvature(rows, rows.weight * chance * (1 - chance), n) / total + np.diag(held)
        hessian[:n, :n] += 1 / n
        step = np.linalg.solve(hessian, slope)
        reach = float(np.abs(_logits(rows, step, n)).max(initial=0.0))
        # So much of a step climbs: along it the third derivative is at most `reach` times the second.
        part = math.log1p(reach) / reach if reach > 1 else 1.0
        x = x + part * step
        x[:n] -= x[:n].mean()
        if not np.isfinite(x).all():
            break
        if np.abs(step).max() <= _CONVERGED * max(float(np.ptp(x[:n])), 1.0):
            return x[:n], x[n:], steps
    raise UsageError(f"the strengths did not converge in {_MOST_STEPS} steps")


def _logits(rows: _Rows, x: Floats, n: int) -> Floats:
    return np.asarray(x[rows.first] - x[rows.second] + rows.style @ x[n:])


def _chances(rows: _Rows, x: Floats, n: int) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(_logits(rows, x, n), -700.0, 700.0))))


def _gathered(rows: _Rows, values: Floats, n: int) -> Floats:
    """Return the sum of values over battles, by item and by feature."""
    by_item = np.bincount(rows.first, values, n) - np.bincount(rows.second, values, n)
    return np.concatenate((by_item, values @ rows.style))


def _curvature(rows: _Rows, values: Floats, n: int) -> Floats:
    """Return the sum over battles of values times the outer product of what a battle compares."""
    found = np.zeros((n + rows.style.shape[1],) * 2)
    np.add.at(found, (rows.first, rows.first), values)
    np.add.at(found, (rows.second, rows.second), values)
    np.add.at(found, (rows.first, rows.second), -values)
    np.add.at(found, (rows.second, rows.first), -values)
    for k, feature in enumerate(rows.style.T, start=n):
        across = values * feature
        found[:n, k] = found[k, :n] = np.bincount(rows.first, across, n) - np.bincount(rows.second, across, n)
    found[n:, n:] = rows.style.T @ (values[:, None] * rows.style)
    return found


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class StyleModel(RatingModel):
    """Ratings with style."""

    rows: _Rows
    names: tuple[str, ...]
    penalty: float

    def _likeliest(self, rated: Ints, wins: Floats) -> tuple[Floats, float | None]:
        return _fit(self.rows.of(rated), len(wins), 0.0, self.penalty)[0], None

    def _covariance(self, fit: Fit, wins: Floats, damping: float) -> tuple[Floats, tuple[str, ...]]:
        rows, n = self.rows.of(fit.rated), len(wins)
        s, c, _ = _fit(rows, n, 0.0, self.penalty)
        return self._sandwich(rows, np.concatenate((s, c)), n, damping)[:n, :n], ()

    def _effects(self, fit: Fit, damping: float) -> tuple[StyleEffect, ...]:
        if not len(fit.rated):
            return ()
        rows, n = self.rows.of(fit.rated), len(fit.rated)
        s, c, _ = _fit(rows, n, 0.0, self.penalty)
        errors = np.full(len(c), math.nan)
        if self.votes.is_counts and float(rows.battles.sum()) >= n + len(c):
            variances = np.diagonal(self._sandwich(rows, np.concatenate((s, c)), n, damping))[n:]
            errors = np.sqrt(np.maximum(variances, 0.0))
        effects = zip(self.names, c.tolist(), errors.tolist(), strict=True)
        return tuple(StyleEffect(*effect) for effect in effects)

    def _sandwich(self, rows: _Rows, x: Floats, n: int, damping: float) -> Floats:
        chance = _chances(rows, x, n)
        total = float(rows.weight.sum())
        held = np.concatenate((np.zeros(n), np.full(len(x) - n, self.penalty))) + damping
        curvature = _curvature(rows, rows.weight * chance * (1 - chance), n) / total + np.diag(held)
        curvature[:n, :n] += 1 / n
        bread = np.linalg.inv(curvature)
        middle = _curvature(rows, (rows.weight * (rows.outcome - chance)) ** 2 / rows.battles, n) / total**2
        return np.asarray(bread @ middle @ bread)
