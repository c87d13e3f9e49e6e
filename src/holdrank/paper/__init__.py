"""The figures of the paper, each as data and as a picture, with the exact curve beside the paper's bounds and estimate.

The data of a figure is a dict with ``rows``, one for each line of its CSV file; None stands for infinity: no change of
votes is enough. All budgets are shares of votes, so the paper's eps- and eps+ are halved. Rankings of four items are
numbered in lexicographic order, as the paper's code does; u(s) is uniform noise on them of seed s.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from holdrank import plots
from holdrank.analysis.many import Source, go_on, run, sources
from holdrank.analysis.tradeoff import tradeoff
from holdrank.attacks.answers import breakdown
from holdrank.attacks.estimator.engine import smoothed
from holdrank.attacks.plans import Progress
from holdrank.attacks.theorems import theorem_bounds
from holdrank.errors import UsageError, quote, show, whole_number
from holdrank.files.writers import make_folder, write_whole
from holdrank.paper.drawings import DRAWINGS
from holdrank.parallel.checkpoints import Keep, opened
from holdrank.parallel.executors import Parcel, expect_executor
from holdrank.plots import Data, number
from holdrank.rankings import Floats, Ranking
from holdrank.rules.consensus import Statistic, borda, expect_seconds, footrule, kemeny
from holdrank.rules.merges import Merge, Robust, merge_path
from holdrank.status import Clock, Step
from holdrank.votes.forms.vocabulary import starts_formula
from holdrank.votes.models import BucketMass, Mixture, PlackettLuce, Uniform, exact_votes, seed_of
from holdrank.votes.votes import Votes

SEED = 2023
STEPS = 5_000
THETAS = (0.02, 0.05, 0.1, 0.2, 0.5)
_THETA = 0.05
_ITEMS = "abcd"
_UNIT = "share of votes changed (total variation), half of the paper's L1 norm; null: no change of votes is enough"
_FIRST, _SECOND = np.eye(24)[0], np.eye(24)[1]  # e0, e1: point masses on the first two rankings

# Figure 3: A before all; B, C and D close to each other, but not all at once.
_PAIRS = np.array([[0.5, 0.69, 0.9, 0.95], [0.31, 0.5, 0.52, 0.7], [0.1, 0.48, 0.5, 0.51], [0.05, 0.3, 0.49, 0.5]])
_NAMED = {"A > B > {C, D}": "(i)", "A > {B, C} > D": "(ii)", "{A, B} > {C, D}": "(iii)", "A > {B, C, D}": "(iv)"}


def figures(
    names: Iterable[str],
    out: str | Path,
    *,
    seed: int = SEED,
    steps: int = STEPS,
    estimate: bool = False,
    files: Sequence[str | Path] = (),
    reading: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    checkpoint: str | Path | None = None,
) -> list[Path]:
    """Write figures to a folder: the data as .json and .csv, the picture as .svg, .pdf and .png.

    Parameters
    ----------
    names : sequence of {"fig1", "fig2", "fig3", "fig4", "fig5", "real"}
    out : path
        The folder, made if there is none.
    seed, steps : int
        Of the estimator, and of the random distributions of Figure 5. The same numbers give the same data.
    estimate : bool
        Whether Figure 5 is estimated as well.
    files : sequence of path
        Vote files, for "real".
    reading : mapping, optional
        How to read them: options of `read_votes`.
    progress : callable, optional
        Called with a `Step` before each figure.
    executor : Executor, optional
        Whose workers share the curves of Figure 4, the distributions of Figure 5 and the files of "real": any of
        `concurrent.futures`, `clusters.local`, `clusters.connect`. The data are the same.
    checkpoint : path, optional
        File to which each of these goes when it is finished. One of the same parameters is gone on with.

    Returns
    -------
    list of Path
        The files written.
    """
    chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if name not in DRAWINGS:
            raise UsageError(f"a figure is one of {', '.join(DRAWINGS)}, not {quote(str(name))}")
    seed, steps = seed_of(seed), _steps(steps)
    expect_executor(executor)
    plots.styled()  # refuses where there is no matplotlib, before anything is made
    folder = Path(out)
    make_folder(folder)
    written = []
    parameters = {"seed": seed, "steps": steps, "estimate": estimate, "reading": dict(reading or {})}
    with opened(checkpoint, "paper", None, parameters) as kept:
        means: dict[str, Any] = {"executor": executor, "checkpoint": kept}
        makers: dict[str, Callable[[], Data]] = {
            "fig1": fig1,
            "fig2": fig2,
            "fig3": fig3,
            "fig4": lambda: fig4(seed, steps, **means),
            "fig5": lambda: fig5(seed, steps if estimate else None, **means),
            "real": lambda: real(files, reading=reading, **means),
        }
        for done, name in enumerate(chosen):
            if progress is not None:
                progress(Step(name, done, len(chosen)))
            with plots.styled():
                data = makers[name]()
                picture = DRAWINGS[name](data)
            texts = {".json": json.dumps(data, indent=1, ensure_ascii=False) + "\n", ".csv": _table(data["rows"])}
            for ending, text in texts.items():
                written.append(folder / (name + ending))
                write_whole(written[-1], text.encode())
            written += plots.save(picture, folder / name)
    return written


# Figures 1 and 2: the theorems and the truth.


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
    votes = _votes(noise(682))
    rows = [row for median in (kemeny, borda, footrule) for row in _curve(votes, median, statistic=median.__name__)]
    return {"figure": "fig1", "p": "u(682)", "unit": _UNIT, "rows": rows}


def fig2() -> Data:
    """Return the breakdown of Kemeny's median at three distributions: the paper's bounds and the exact curve.

    Notes
    -----
    Paper: Figure 2.
    """
    shapes = {
        "point mass": (_FIRST, "0.1 u(23) + 0.9 e0"),
        "bucket": ((_FIRST + _SECOND) / 2, "0.1 u(23) + 0.45 e0 + 0.45 e1"),
        "uniform": (np.full(24, 1 / 24), "0.1 u(23) + 0.9 uniform"),
    }
    rows: list[Data] = []
    for name, (mass, _) in shapes.items():
        rows += _curve(_votes(0.1 * noise(23) + 0.9 * mass), kemeny, distribution=name)
    return {"figure": "fig2", "p": {name: text for name, (_, text) in shapes.items()}, "unit": _UNIT, "rows": rows}


def fig3() -> Data:
    """Return every result of both merges of the paper's example, with the paper's numbers (i) to (iv).

    Notes
    -----
    Paper: Figure 3.

    Examples
    --------
    >>> [row["name"] for row in fig3()["rows"] if row["rule"] == "naive" and "name" in row]
    ['(i)', '(iii)']
    """
    rules: tuple[Merge, ...] = ("naive", "downward")
    rows = []
    for rule in rules:
        for theta, ranking in merge_path(_PAIRS, Ranking([1, 2, 3, 4]), rule):
            tiers = ranking.text("ABCD")
            name = {"name": _NAMED[tiers]} if tiers in _NAMED else {}
            rows.append({"rule": rule, "theta": number(theta), "tiers": tiers, **name})
    return {"figure": "fig3", "P": _PAIRS.tolist(), "rows": rows}


# Figure 4: the estimator, and merges.


def fig4(seed: int = SEED, steps: int = STEPS, *, executor: Executor | None = None, checkpoint: Keep = None) -> Data:
    """Return the breakdown of Kemeny's median and of Downward Merge: bounds, exact values, estimates.

    Parameters
    ----------
    seed, steps : int
        Of the estimator.
    executor, checkpoint
        As in `figures`; each threshold is a task.

    Notes
    -----
    ``estimate`` is what gradient descent on the smoothed problem ends at, with less noise than the paper's; it bounds
    nothing. ``attack`` is the share of an attack that starts from there and was run. Paper: Figure 4.
    """
    seed, steps = seed_of(seed), _steps(steps)
    votes = _votes(0.1 * noise(183) + 0.45 * _FIRST + 0.45 * _SECOND)
    work = {f"fig4, theta {theta}": (theta, seed, steps) for theta in (None, *THETAS)}
    rows = run(_fig4_rows, work, votes, executor, checkpoint, "fig4", {"seed": seed, "steps": steps})
    p = "0.1 u(183) + 0.45 e0 + 0.45 e1"
    about = {"p": p, "unit": _UNIT, "seed": seed, "steps": steps}
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
    return found, True


# Figure 5: loss against robustness.


def fig5(
    seed: int = SEED,
    steps: int | None = None,
    *,
    spread: float = 1.0,
    count: int = 20,
    executor: Executor | None = None,
    checkpoint: Keep = None,
) -> Data:
    """Return loss and robustness at delta = 1/6 of Kemeny's median and of Downward Merge, for many distributions.

    Parameters
    ----------
    seed : int
        Of the Plackett-Luce models, and of the estimator.
    steps : int, optional
        Of the estimator; None leaves it out.
    spread : float
        The weights of a Plackett-Luce model are exp(spread · g), with g four sorted Gaussian numbers.
    count : int
        Number of Plackett-Luce models.
    executor, checkpoint
        As in `figures`; each distribution is a task.

    Notes
    -----
    Downward Merge is given at the threshold .05 and at the best one for each distribution, as `tradeoff` finds it.
    Paper: Figure 5.
    """
    seed, steps = seed_of(seed), None if steps is None else _steps(steps)
    spread = float(spread)
    bucket = Ranking([1, 2, 3, 3])
    shapes = {f"bucket, gap {gap:g}": exact_votes(Mixture([(0.9, BucketMass(bucket, gap)), (0.1, Uniform(4))]), _ITEMS)
              for gap in (0.1, 0.01)}  # fmt: skip
    shapes["uniform"] = _votes(0.1 * noise(23) + 0.9 / 24)
    shapes["point mass"] = _votes(0.1 * noise(23) + 0.9 * _FIRST)
    rng = np.random.default_rng(seed)
    for k in range(count):
        logits = np.sort(rng.standard_normal(4))[::-1]
        shapes[f"Plackett-Luce {k + 1}"] = exact_votes(PlackettLuce(np.exp(spread * logits).tolist()), _ITEMS)
    work = {f"fig5, {name}": (name, votes, seed, steps) for name, votes in shapes.items()}
    about: Data = {"delta": "1/6", "seed": seed, "spread": spread, "unit": _UNIT}
    if steps is not None:
        about["steps"] = steps
    parameters = {"seed": seed, "spread": spread, "steps": steps}
    rows = run(_fig5_rows, work, None, executor, checkpoint, "fig5", parameters)
    return {"figure": "fig5", **about, "rows": [row for some in rows for row in some]}


def _fig5_rows(
    _parcel: Parcel[None], name: str, votes: Votes, seed: int, steps: int | None, _clock: Clock
) -> tuple[list[Data], bool]:
    rows = []
    found = tradeoff(votes)
    go_on(found.status)
    best = float(found.theta[found.best])
    for choice, theta in (("kemeny", 0.0), ("downward merge", _THETA), ("best threshold", best)):
        T = Robust(kemeny, theta) if theta else kemeny
        after, broken = T(votes), breakdown(votes, T, [1 / 6])
        go_on(broken.status)
        row = {"distribution": name, "statistic": choice, "theta": number(theta), "tiers": after.text(),
               "loss": number(after.loss), "exact_lower": number(broken.lower[0]),
               "exact_upper": number(broken.upper[0])}  # fmt: skip
        if steps is not None:
            row["attack"] = number(float(smoothed(votes, T, [1 / 6], steps=steps, rng=seed).upper[0]))
        rows.append(row)
    return rows, True


def real(
    files: Sequence[str | Path],
    time_limit: float | None = 60.0,
    *,
    reading: Mapping[str, Any] | None = None,
    executor: Executor | None = None,
    checkpoint: Keep = None,
) -> Data:
    """Return loss and robustness of every threshold of Downward Merge, for vote files.

    Parameters
    ----------
    files : sequence of path
    time_limit : float, optional
        Seconds for each file; what is proved until then counts.
    reading : mapping, optional
        How to read the files: options of `read_votes`.
    executor, checkpoint
        As in `figures`; each file is a task, and is read by the worker.
    """
    if not files:
        raise UsageError("the figure 'real' needs vote files; to repair: name at least one")
    options, time_limit = dict(reading or {}), expect_seconds(time_limit)
    work = {f"real, {source.key}": (source, options, time_limit) for source in sources(files, options, executor)}
    parameters = {"time_limit": time_limit, "reading": options}
    found = run(_real_panel, work, None, executor, checkpoint, "real", parameters)
    panels, rows = [panel for panel, _ in found], [row for _, some in found for row in some]
    return {"figure": "real", "unit": _UNIT, "files": panels, "rows": rows}


def _real_panel(
    _parcel: Parcel[None], source: Source, reading: dict[str, Any], time_limit: float | None, _clock: Clock
) -> tuple[tuple[Data, list[Data]], bool]:
    votes = source.votes(reading)
    found = tradeoff(votes, time_limit=time_limit)
    go_on(found.status)
    data = plots.tradeoff_data(found)
    panel = {
        "file": show(Path(source.name).name),
        "votes": votes.total,
        "items": votes.n,
        "status": found.status.value,
        **data,
    }
    rows = []
    for k, ranking in enumerate(found.rankings):
        row = {name: data[name][k] for name in ("theta", "loss", "lower", "upper", "pareto")}
        tiers = ranking.text([show(item) for item in votes.items])
        rows.append({"file": panel["file"], **row, "best": k == found.best, "tiers": tiers})
    return (panel, rows), True


# What figures are computed from.


def noise(seed: int) -> Floats:
    """Return u(seed): a random distribution over the 24 rankings of four items, as the paper's code draws it."""
    drawn = np.random.RandomState(seed).uniform(size=24)
    return np.asarray(drawn / drawn.sum())


def _steps(steps: object) -> int:
    number = whole_number(steps)
    if number is None or number < 1:
        raise UsageError(f"steps must be a whole number from 1, not {quote(str(steps))}")
    return number


def _votes(p: Floats) -> Votes:
    return Votes.from_orders([list(order) for order in permutations(_ITEMS)], weights=p, items=_ITEMS)


def _curve(votes: Votes, T: Statistic, **about: Any) -> list[Data]:
    """Return one row for each distance: the theorems, where they say something about T, and the exact values."""
    exact = breakdown(votes, T, method="exact")
    rows = []
    theorem = None if isinstance(T, Robust) else theorem_bounds(votes, T)
    for k, delta in enumerate(exact.delta.tolist()):
        row = {**about, "pairs": k + 1, "delta": number(delta)}
        if theorem is not None:
            row["theorem_lower"] = number(float(theorem.lower[k]))
        if T is kemeny and theorem is not None:
            row["theorem_upper"] = number(float(theorem.upper[k]))
            row["theorem_upper_valid"] = bool(theorem.upper_valid[k])
        row["exact_lower"], row["exact_upper"] = number(float(exact.lower[k])), number(float(exact.upper[k]))
        rows.append(row)
    return rows


def _table(rows: list[Data]) -> str:
    """Return rows as CSV: inf where there is no bound, nothing where a column says nothing about a row.

    An apostrophe goes before a text that a spreadsheet would run as a formula: files and items may have such names.
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str) and starts_formula(value):
        return f"'{value}"
    return "inf" if value is None else value
