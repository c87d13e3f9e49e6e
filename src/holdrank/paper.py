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
from typing import TYPE_CHECKING, Any

import numpy as np

from holdrank import plots
from holdrank.breaking.answers import breakdown
from holdrank.breaking.bounds import theorem_bounds
from holdrank.breaking.plans import Progress
from holdrank.breaking.smooth import smoothed
from holdrank.checkpoints import Keep, opened
from holdrank.clusters import Parcel, expect_executor
from holdrank.consensus import Statistic, borda, footrule, kemeny
from holdrank.errors import UsageError, quote, show
from holdrank.files.writers import make_folder, write_whole
from holdrank.merge import Robust, Rule, merge_path
from holdrank.models import BucketMass, Mixture, PlackettLuce, Uniform, exact_votes
from holdrank.plots import Data, number
from holdrank.rankings import Floats, Ranking
from holdrank.status import Clock, Step
from holdrank.sweeps import Source, go_on, run, sources
from holdrank.tables.vocabulary import starts_formula
from holdrank.thresholds import tradeoff
from holdrank.votes import Votes

if TYPE_CHECKING:
    from holdrank.plots import Axes

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
        if name not in _DRAW:
            raise UsageError(f"a figure is one of {', '.join(_DRAW)}, not {quote(str(name))}")
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
                picture = _DRAW[name](data)
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
    rules: tuple[Rule, ...] = ("naive", "downward")
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
    options = dict(reading or {})
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


# Pictures, from the data alone.


def _select(data: Data, **wanted: object) -> list[Data]:
    return [row for row in data["rows"] if all(row[name] == value for name, value in wanted.items())]


def _column(rows: list[Data], name: str) -> list[Any]:
    return [row.get(name) for row in rows]


def _exact(rows: list[Data], label: str, colour: str, **look: Any) -> Data:
    """Return the exact values of rows as a curve to draw."""
    ends = {"lower": _column(rows, "exact_lower"), "upper": _column(rows, "exact_upper")}
    return {"label": label, "method": "exact", "delta": _column(rows, "delta"), **ends, "colour": colour, **look}


def _draw_theorems(rows: list[Data], ax: Axes, colour: str) -> None:
    """Draw eps- / 2 as dashes, and the band up to eps+ / 2 where that is valid."""
    edges = [0.0, *_column(rows, "delta")]
    lower = _column(rows, "theorem_lower")
    ax.stairs(lower, edges, baseline=None, color=plots.BLACK, lw=1.0, ls=(0, (3, 2)), zorder=4)
    if "theorem_upper" in rows[0]:
        upper, valid = _column(rows, "theorem_upper"), _column(rows, "theorem_upper_valid")
        band = [high if fine else low for low, high, fine in zip(lower, upper, valid, strict=True)]
        ax.stairs(band, edges, baseline=lower, fill=True, color=colour, alpha=0.25, lw=0)


def _draw_fig1(data: Data) -> Axes:
    titles = {"kemeny": "Kemeny", "borda": "Borda", "footrule": "Footrule"}
    colours = dict(zip(titles, plots.COLOURS, strict=False))
    axes = plots.page(3, width=2.7, height=2.9, sharey=True)
    highest = max(value for row in data["rows"] for name, value in row.items() if name.endswith("upper") and value)
    for ax, name in zip(axes, titles, strict=True):
        rows = _select(data, statistic=name)
        # The other two in grey, so that the medians can be compared.
        others = [_select(data, statistic=other) for other in titles if other != name]
        curves = [_exact(other, "", plots.PALE, width=1.2) for other in others]
        plots.draw_curves({"curves": [*curves, _exact(rows, "", colours[name], width=2.4)], "highest": highest}, ax)
        _draw_theorems(rows, ax, colours[name])
        for row in rows:
            if row.get("theorem_upper_valid") is False:
                place = (row["pairs"] - 0.5) / 6, row["exact_lower"]
                ax.annotate("ε⁺\nnot\nvalid", place, xytext=(0, -4), textcoords="offset points", ha="center", va="top",
                            fontsize=7)  # fmt: skip
        ax.set_title(f"{titles[name]} median", color=colours[name])
        ax.set_xlabel("")
        ax.set_ylabel("")
    axes[0].set_ylabel("votes to change")
    axes[1].set_xlabel("pairs out of 6 that the consensus changes")
    plots.explain(axes[0], {"exact": {"color": plots.BLUE, "lw": 2.4},
                            "lower bound ε⁻/2": {"color": plots.BLACK, "lw": 1.0, "ls": (0, (3, 2))},
                            "up to upper bound ε⁺/2": {"color": plots.BLUE, "lw": 7, "alpha": 0.25},
                            "exact, other medians": {"color": plots.PALE, "lw": 1.2}})  # fmt: skip
    return axes[0]


def _draw_fig2(data: Data) -> Axes:
    (ax,) = plots.page(width=4.8, height=3.2)
    names = dict(zip(("point mass", "bucket", "uniform"), plots.COLOURS, strict=False))
    # The first two nearly coincide from two pairs on: the wider line shows behind the narrower one.
    widths = {"point mass": 5.0, "bucket": 2.4, "uniform": 2.4}
    curves = [_exact(_select(data, distribution=name), name, names[name], width=widths[name]) for name in names]
    plots.draw_curves({"curves": curves}, ax, log=True)
    for name, colour in names.items():
        _draw_theorems(_select(data, distribution=name), ax, colour)
    plots.explain(ax, {"exact": {"color": plots.GREY, "lw": 2.4},
                       "lower bound ε⁻/2": {"color": plots.BLACK, "lw": 1.0, "ls": (0, (3, 2))}},
                  loc="center right", bbox_to_anchor=(1, 0.6))  # fmt: skip
    ax.set_title("Kemeny's median, three kinds of votes")
    return ax


def _draw_fig3(data: Data) -> Axes:
    axes = plots.page(3, width=3.2, height=2.6, width_ratios=[1.1, 1.0, 1.4])
    plots.draw_pairs(data["P"], "ABCD", axes[0])
    axes[0].set_title("A → B: share of votes with A above B")
    for ax, rule in zip(axes[1:], ("naive", "downward"), strict=True):
        results = [
            {**row, "tiers": [part.strip("{}").split(", ") for part in row["tiers"].split(" > ")]}
            for row in _select(data, rule=rule)
        ]
        plots.draw_merges({"items": list("ABCD"), "results": results}, ax)
        ax.set_title(f"{rule.title()} Merge")
    return axes[0]


def _draw_fig4(data: Data) -> Axes:
    left, right = plots.page(2, width=3.7, height=3.3, sharey=True)
    median = _select(data, statistic="kemeny")
    merged = {theta: _select(data, statistic="downward merge", theta=theta) for theta in THETAS}
    colours = dict(zip(THETAS, plots.COLOURS[1:], strict=False))
    guesses = [row["estimate"] for row in data["rows"] if row["exact_lower"] is not None and "estimate" in row]
    common: Data = {"highest": max(0.5, *guesses), "endless": True}
    plots.draw_curves({"curves": [_exact(median, "", plots.BLUE, width=2.4)], **common}, left)
    _draw_theorems(median, left, plots.BLUE)
    _draw_estimates(median, left, plots.BLUE)
    left.set_title("Kemeny's median", color=plots.BLUE)
    curves = [_exact(rows, "", colours[theta]) for theta, rows in merged.items()]
    plots.draw_curves({"curves": [_exact(median, "", plots.PALE, width=1.2), *curves], **common}, right)
    never = right.get_yticks()[-1]
    for theta, rows in merged.items():
        _draw_estimates(rows, right, colours[theta])
        level = rows[0]["exact_lower"]
        text, height = (f"θ = {theta:g}: all tied", never) if level is None else (f"θ = {theta:g}", level)
        right.text(0.1 / 6, height, text, fontsize=7, color=colours[theta], va="center", zorder=6,
                   bbox={"fc": "white", "ec": "none", "pad": 0.8})  # fmt: skip
    right.text(1.1 / 6, 0.02, "Kemeny's median", fontsize=7, color=plots.GREY)
    right.set_title("Downward Merge of it, by threshold θ")
    right.set_ylabel("")
    plots.explain(left, {"exact": {"color": plots.BLUE, "lw": 2.4},
                         "bounds ε⁻/2 = ε⁺/2": {"color": plots.BLACK, "lw": 1.0, "ls": (0, (3, 2))},
                         "smoothed estimate": {"color": plots.BLUE, "marker": "x", "ls": ""},
                         "attack found from it": {"color": plots.BLUE, "marker": "o", "mfc": "white", "ls": ""}},
                  loc="center right", bbox_to_anchor=(1, 0.4))  # fmt: skip
    return left


def _draw_estimates(rows: list[Data], ax: Axes, colour: str) -> None:
    """Draw estimates and the attacks found from them, where there is something to estimate."""
    finite = [row for row in rows if row["exact_lower"] is not None]
    for name, marker in (("attack", "o"), ("estimate", "x")):
        dots = [(row["delta"], row[name]) for row in finite if row.get(name) is not None]
        if dots:
            ax.plot(*zip(*dots, strict=True), marker, color=colour, ms=4.5, mfc="white", clip_on=False, zorder=5)


def _draw_fig5(data: Data) -> Axes:
    colours = {"bucket": plots.BLUE, "uniform": plots.GREEN, "point mass": plots.VERMILLION,
               "Plackett-Luce": plots.PURPLE}  # fmt: skip
    axes = plots.page(2, width=3.8, height=3.4, sharey=True)
    for ax, choice in zip(axes, ("downward merge", "best threshold"), strict=True):
        never = plots.share_axis(ax, 0.5, endless=True)
        for start, end in zip(_select(data, statistic="kemeny"), _select(data, statistic=choice), strict=True):
            colour = next(value for name, value in colours.items() if start["distribution"].startswith(name))
            x = [start["loss"], end["loss"]]
            y = [never if row["exact_lower"] is None else row["exact_lower"] for row in (start, end)]
            ax.plot(x, y, color=colour, lw=0.9, alpha=0.8)
            look: Data = {"color": colour, "clip_on": False, "zorder": 3}
            ax.plot(x[:1], y[:1], "o", ms=6, mfc="white", **look)
            ax.plot(x[1:], y[1:], "s", ms=3.5, **look)
        ax.set_xlabel("loss: mean distance to a vote")
        ax.set_title("Downward Merge at " + ("θ = .05" if choice == "downward merge" else "the best θ of each"))
    axes[1].set_ylabel("")
    axes[0].set_ylabel("votes to change one pair")
    places = {"bucket": (0.14, 0.4), "uniform": (0.405, 0.3), "point mass": (0.065, 0.45), "Plackett-Luce": (0.22, 0.2)}
    for kind, place in places.items():
        axes[0].text(*place, kind, fontsize=8, color=colours[kind], va="center")
    plots.explain(axes[0], {"Kemeny's median": {"color": plots.GREY, "marker": "o", "mfc": "white", "ls": ""},
                            "Downward Merge": {"color": plots.GREY, "marker": "s", "ls": ""}},
                  loc="upper right", bbox_to_anchor=(0.92, 0.9))  # fmt: skip
    return axes[0]


def _draw_real(data: Data) -> Axes:
    panels = data["files"]
    columns = 2 if len(panels) in (2, 4) else min(len(panels), 3)
    axes = plots.page(columns, -(-len(panels) // columns), width=3.6, height=3.0)
    for ax, panel in zip(axes, panels, strict=False):
        plots.draw_tradeoff(panel, ax)
        ax.set_title(f"{panel['file']}: {panel['votes']:,g} votes, {panel['items']} items", fontsize=8)
    for ax in axes[len(panels) :]:
        ax.axis("off")
    return axes[0]


_DRAW: dict[str, Callable[[Data], Axes]] = {
    "fig1": _draw_fig1,
    "fig2": _draw_fig2,
    "fig3": _draw_fig3,
    "fig4": _draw_fig4,
    "fig5": _draw_fig5,
    "real": _draw_real,
}
