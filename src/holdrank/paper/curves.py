"""Figures 1 to 4 as data: breakdown curves next to the paper's bounds and estimate, and every result of two merges."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

import numpy as np

from holdrank.analysis.many import run
from holdrank.attacks.answers import breakdown
from holdrank.attacks.estimator.engine import smoothed
from holdrank.attacks.estimator.options import PaperOptions
from holdrank.attacks.estimator.original import descended
from holdrank.attacks.theorems import theorem_bounds
from holdrank.paper.distributions import FIRST, SECOND, SEED, STEPS, UNIT, mixed, noise, steps_of
from holdrank.parallel.checkpoints import Keep
from holdrank.parallel.workers import Parcel
from holdrank.plots import Data, number
from holdrank.rankings import Ranking
from holdrank.rules.consensus import Statistic, borda, footrule, kemeny
from holdrank.rules.merges import Merge, Robust, merge_path
from holdrank.rules.registry import rule_of
from holdrank.status import Clock
from holdrank.votes.models import Seed, seed_of
from holdrank.votes.votes import Votes

THETAS = (0.02, 0.05, 0.1, 0.2, 0.5)
PAPER_RUNS = 5  # of the paper's algorithm: they differ a lot
PAPER_THETAS = (None, 0.05)  # with these: the thresholds between would take most of the time

# Figure 3: A before all; B, C and D close to each other, but not all at once. The text does not give .9 and .95.
_OURS = ("AC", "AD")
_PAIRS = np.array([[0.5, 0.69, 0.9, 0.95], [0.31, 0.5, 0.52, 0.7], [0.1, 0.48, 0.5, 0.51], [0.05, 0.3, 0.49, 0.5]])
_NAMED = {"A > B > {C, D}": "(i)", "A > {B, C} > D": "(ii)", "{A, B} > {C, D}": "(iii)", "A > {B, C, D}": "(iv)"}


def fig1() -> Data:
    """Return the breakdown of three medians at p = u(682): the paper's bounds and the exact curve.

    Notes
    -----
    Paper: Figure 1.

    Examples
    --------
    >>> [row["theorem_lower"] for row in fig1()["rows"]][:3]
    [0.002458383, 0.002458383, 0.012356359]
    """
    votes, p = mixed((1.0, "u(682)", noise(682)))
    rows = [row for median in (kemeny, borda, footrule) for row in _curve(votes, median, statistic=median.__name__)]
    return {"figure": "fig1", "p": p, "unit": UNIT, "rows": rows}


def fig2() -> Data:
    """Return the breakdown of Kemeny's median at three distributions: the paper's bounds and the exact curve.

    Notes
    -----
    Paper: Figure 2.
    """
    blurred = (0.1, "u(23)", noise(23))
    shapes = {
        "point mass": mixed(blurred, (0.9, "e0", FIRST)),
        "bucket": mixed(blurred, (0.45, "e0", FIRST), (0.45, "e1", SECOND)),
        "uniform": mixed(blurred, (0.9, "uniform", np.full(24, 1 / 24))),
    }
    rows: list[Data] = []
    for name, (votes, _) in shapes.items():
        rows += _curve(votes, kemeny, distribution=name)
    return {"figure": "fig2", "p": {name: p for name, (_, p) in shapes.items()}, "unit": UNIT, "rows": rows}


def fig3() -> Data:
    """Return every result of both merges of the paper's example, with the paper's numbers (i) to (iv).

    Notes
    -----
    Paper: Figure 3 (Section 4). Its text gives P(A, B), P(B, C), P(B, D) and P(C, D); P(A, C) and P(A, D) are ours.

    Examples
    --------
    >>> [row["name"] for row in fig3()["rows"] if row["rule"] == "naive" and "name" in row]
    ['(i)', '(iii)']
    """
    rules: tuple[Merge, ...] = ("naive", "downward")
    rows = []
    for rule in rules:
        for theta, ranking in merge_path(_PAIRS, Ranking([1, 2, 3, 4]), merge=rule):
            tiers = ranking.text("ABCD")
            name = {"name": _NAMED[tiers]} if tiers in _NAMED else {}
            rows.append({"rule": rule, "theta": number(theta), "tiers": tiers, **name})
    return {"figure": "fig3", "P": _PAIRS.tolist(), "ours": list(_OURS), "rows": rows}


def fig4(*, steps: int = STEPS, rng: Seed = SEED, executor: Executor | None = None, checkpoint: Keep = None) -> Data:
    """Return the breakdown of Kemeny's median and of Downward Merge: bounds, exact values, estimates.

    Parameters
    ----------
    steps : int
        Of both estimators. The authors' code lets its step sizes fall over 30,000.
    rng : int, Generator or None
        Of the estimators; the seed used is in the data.
    executor, checkpoint
        As in `figures`; each threshold is a task.

    Notes
    -----
    ``estimate`` is where the improved estimator ends, ``method="smooth"``; it bounds nothing. ``attack`` is the share
    of an attack that starts from there and was run. ``paper_lowest``, ``paper_median`` and ``paper_highest`` are where
    five runs of the paper's own algorithm end, ``method="paper"``, with the seeds from `rng` on; in ``paper_reached``
    of them the consensus does move that far there. They are for Kemeny's median and the threshold 0.05, which the paper
    names. Paper: Figure 4.
    """
    seed, steps = seed_of(rng), steps_of(steps)
    votes, p = mixed((0.1, "u(183)", noise(183)), (0.45, "e0", FIRST), (0.45, "e1", SECOND))
    work = {f"fig4, theta {theta}": (theta, seed, steps) for theta in (None, *THETAS)}
    rows = run(_fig4_rows, work, votes, executor, checkpoint, "fig4", {"p": p, "seed": seed, "steps": steps})
    paper = PaperOptions(steps=steps).plain()
    about = {"p": p, "unit": UNIT, "seed": seed, "steps": steps, "paper_runs": PAPER_RUNS, "paper_options": paper}
    return {"figure": "fig4", **about, "rows": [row for some in rows for row in some]}


def _fig4_rows(
    parcel: Parcel[Votes], theta: float | None, seed: int, steps: int, _clock: Clock
) -> tuple[list[Data], bool]:
    votes = parcel.value
    T = kemeny if theta is None else Robust(kemeny, theta)
    about = {"statistic": "kemeny" if theta is None else "downward merge", "theta": theta or 0.0}
    found = _curve(votes, T, **about, tiers=T(votes).text())
    if found[0]["exact_lower"] is not None:  # nothing to estimate where nothing breaks
        guess = smoothed(votes, T, steps=steps, rng=seed)
        for row, ended, attack in zip(found, guess.estimate.tolist(), guess.upper.tolist(), strict=True):
            row.update(estimate=number(ended), attack=number(attack))
    if theta in PAPER_THETAS:
        runs = descended(votes, T, guess.delta, PaperOptions(steps=steps), range(seed, seed + PAPER_RUNS))
        for row, ends, reached in zip(found, runs.estimate.T, runs.reached.T, strict=True):
            for name, part in (("lowest", 0.0), ("median", 0.5), ("highest", 1.0)):
                row[f"paper_{name}"] = number(float(np.quantile(ends, part)))
            row["paper_reached"] = int(reached.sum())
    return found, True


def _curve(votes: Votes, T: Statistic, **about: Any) -> list[Data]:
    """Return one row for each distance: the theorems, where they say something about T, and the exact values."""
    exact = breakdown(votes, T, method="exact")
    rows = []
    theorem = None if isinstance(T, Robust) else theorem_bounds(votes, T)
    for k, delta in enumerate(exact.delta.tolist()):
        row = {**about, "pairs": k + 1, "delta": number(delta)}
        if theorem is not None:
            row["theorem_lower"] = number(float(theorem.lower[k]))
        if theorem is not None and rule_of(T).median_of == "kendall":
            row["theorem_upper"] = number(float(theorem.upper[k]))
            row["theorem_upper_valid"] = bool(theorem.upper_valid[k])
        row["exact_lower"], row["exact_upper"] = number(float(exact.lower[k])), number(float(exact.upper[k]))
        rows.append(row)
    return rows
