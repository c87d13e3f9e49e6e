"""The pictures of Figures 1 to 4, from their data alone, and the table of all pictures."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from holdrank import plots
from holdrank.paper.arena_drawing import draw_arena
from holdrank.paper.tradeoff_drawings import draw_fig5, draw_margin, draw_real, select
from holdrank.plots import Data

if TYPE_CHECKING:
    from holdrank.plots import Axes


def _column(rows: list[Data], name: str) -> list[Any]:
    return [row.get(name) for row in rows]


def _exact(rows: list[Data], label: str, colour: str, **look: Any) -> Data:
    """Return the exact values of rows as a curve to draw."""
    ends = {"lower": _column(rows, "exact_lower"), "upper": _column(rows, "exact_upper")}
    return {"label": label, "method": "exact", "delta": _column(rows, "delta"), **ends, "colour": colour, **look}


DISTANCE = "pairs out of 6 that the consensus changes (δ = pairs / 6)"
_SHORT_DISTANCE = "pairs that the consensus changes\n(δ = pairs / 6)"
BUDGET = "votes to change, ε"
_LOWER: Data = {"color": plots.BLACK, "lw": 1.0, "ls": (0, (3, 2))}
_UPPER: Data = {"color": plots.BLACK, "marker": "v", "mfc": "white", "ms": 5, "mew": 0.8, "ls": ""}


def _draw_theorems(rows: list[Data], ax: Axes, colour: str, *, across: float | None = None) -> None:
    """Draw eps- / 2 as dashes, and the band up to eps+ / 2 where valid; triangles mark that `across` each step."""
    edges = [0.0, *_column(rows, "delta")]
    lower = _column(rows, "theorem_lower")
    ax.stairs(lower, edges, baseline=None, **_LOWER, zorder=4)
    if "theorem_upper" in rows[0]:
        upper, valid = _column(rows, "theorem_upper"), _column(rows, "theorem_upper_valid")
        band = [high if fine else low for low, high, fine in zip(lower, upper, valid, strict=True)]
        ax.stairs(band, edges, baseline=lower, fill=True, color=colour, alpha=0.25, lw=0)
    if "theorem_upper" in rows[0] and across is not None:
        at = [left + across * (right - left) for left, right in pairwise(edges)]
        marks = [(x, high) for x, high, fine in zip(at, upper, valid, strict=True) if fine]
        ax.plot(*zip(*marks, strict=True), **_UPPER, zorder=5)


def _draw_fig1(data: Data) -> Axes:
    titles = {"kemeny": "Kemeny", "borda": "Borda", "footrule": "Footrule"}
    colours = dict(zip(titles, plots.COLOURS, strict=False))
    axes = plots.page(3, width=2.7, height=2.9, sharey=True)
    highest = max(value for row in data["rows"] for name, value in row.items() if name.endswith("upper") and value)
    for ax, name in zip(axes, titles, strict=True):
        rows = select(data, statistic=name)
        # The other two in grey, so that the medians can be compared.
        others = [select(data, statistic=other) for other in titles if other != name]
        curves = [_exact(other, "", plots.PALE, width=1.2) for other in others]
        plots.draw_curves({"curves": [*curves, _exact(rows, "", colours[name], width=2.4)], "highest": highest}, ax)
        _draw_theorems(rows, ax, colours[name], across=0.5)
        for row in rows:
            if row.get("theorem_upper_valid") is False:
                place = (row["pairs"] - 0.5) / 6, row["exact_lower"]
                ax.annotate("ε⁺\nnot\nvalid", place, xytext=(0, -4), textcoords="offset points", ha="center", va="top",
                            fontsize=7)  # fmt: skip
        ax.set_title(f"{titles[name]} median", color=colours[name])
        ax.set_xlabel("")
        ax.set_ylabel("")
    axes[0].set_ylabel(BUDGET)
    axes[1].set_xlabel(DISTANCE)
    plots.explain_below(axes[0], {"exact": {"color": plots.BLUE, "lw": 2.4},
                                  "lower bound ε⁻/2": _LOWER,
                                  "upper bound ε⁺/2, where it is valid": _UPPER,
                                  "between the bounds": {"color": plots.BLUE, "lw": 7, "alpha": 0.25},
                                  "exact, other medians": {"color": plots.PALE, "lw": 1.8}}, ncols=3)  # fmt: skip
    return axes[0]


def _draw_fig2(data: Data) -> Axes:
    """Draw three kinds of votes, and enlarged what lies at the top."""
    left, right = plots.page(2, width=3.9, height=3.5, width_ratios=[1.15, 1.0])
    looks: dict[str, Data] = {
        "point mass": {"colour": plots.BLUE, "width": 4.2, "across": 0.3},
        "bucket": {"colour": plots.VERMILLION, "width": 2.2, "across": 0.7},
        "uniform": {"colour": plots.GREEN, "width": 2.2, "across": 0.5},
    }
    for ax, names in ((left, list(looks)), (right, ["point mass", "bucket"])):
        chosen = {name: select(data, distribution=name) for name in names}
        curves = [
            _exact(rows, name if ax is left else "", looks[name]["colour"], width=looks[name]["width"])
            for name, rows in chosen.items()
        ]
        plots.draw_curves({"curves": curves}, ax, log=ax is left)
        for name, rows in chosen.items():
            _draw_theorems(rows, ax, looks[name]["colour"], across=looks[name]["across"])
        ax.set_xlabel(_SHORT_DISTANCE)
        ax.set_ylabel(BUDGET)
    left.set_title("Kemeny's median, three kinds of votes")
    right.set_title("the top, enlarged")
    right.set_ylim(0.4475, 0.4588)
    ticks = [0.448, 0.45, 0.452, 0.454, 0.456, 0.458]
    right.set_yticks(ticks, [f"{100 * tick:.1f} %" for tick in ticks])
    plots.explain_below(left, {"exact": {"color": plots.DARK, "lw": 2.4}, "lower bound ε⁻/2": _LOWER,
                               "upper bound ε⁺/2, where it is valid": _UPPER})  # fmt: skip
    return left


def _draw_fig3(data: Data) -> Axes:
    axes = plots.page(3, width=2.6, height=2.6, width_ratios=[1.15, 0.9, 1.4])
    plots.draw_pairs(data["P"], "ABCD", axes[0], starred=data["ours"])
    axes[0].set_title("A → B: share of votes\nwith A above B", fontsize=9)
    note: Data = {"transform": axes[0].transAxes, "ha": "center", "va": "top", "fontsize": 8}
    axes[0].text(0.5, -0.02, "* ours: the paper does not give it", **note)
    for ax, rule in zip(axes[1:], ("naive", "downward"), strict=True):
        results = [
            {**row, "tiers": [part.strip("{}").split(", ") for part in row["tiers"].split(" > ")]}
            for row in select(data, rule=rule)
        ]
        plots.draw_merges({"items": list("ABCD"), "results": results}, ax)
        ax.set_title(f"{rule.title()} Merge")
    return axes[0]


def _draw_fig4(data: Data) -> Axes:
    """Draw Kemeny's median left and its merges right; above the improved estimator, below the paper's own."""
    axes = plots.page(2, 2, width=3.7, height=3.1, sharex=True, sharey="row")
    _draw_fig4_row(data, axes[:2], _draw_estimates, "estimate")
    _draw_fig4_row(data, axes[2:], _draw_runs, "paper_highest")
    axes[0].set_title("Kemeny's median", color=plots.BLUE)
    axes[1].set_title("Downward Merge of it, by threshold θ")
    _explain_fig4(axes[0], axes[2], data["paper_runs"], data["steps"])
    for ax in axes[:2]:
        ax.set_xlabel("")
    for ax in axes[2:]:
        ax.set_xlabel(_SHORT_DISTANCE)
    for ax in axes[::2]:
        ax.set_ylabel(BUDGET)
    return axes[0]


def _draw_fig4_row(data: Data, axes: list[Axes], mark: Callable[[list[Data], Axes, str], None], name: str) -> None:
    """Draw the exact curves with the marks of one estimator, whose highest values are in the column `name`."""
    left, right = axes
    median = select(data, statistic="kemeny")
    thetas = list(dict.fromkeys(row["theta"] for row in select(data, statistic="downward merge")))
    colours = dict(zip(thetas, plots.COLOURS[1:], strict=False))
    merged = {theta: select(data, statistic="downward merge", theta=theta) for theta in thetas}
    if mark is _draw_runs:  # only with some of the thresholds
        merged = {theta: rows for theta, rows in merged.items() if name in rows[0]}
    highest = max(row[name] for row in data["rows"] if row["exact_lower"] and name in row)
    common: Data = {"highest": max(0.5, highest), "endless": True}
    plots.draw_curves({"curves": [_exact(median, "", plots.BLUE, width=2.4)], **common}, left)
    _draw_theorems(median, left, plots.BLUE)
    mark(median, left, plots.BLUE)
    curves = [_exact(rows, "", colours[theta]) for theta, rows in merged.items()]
    plots.draw_curves({"curves": [_exact(median, "", plots.PALE, width=1.2), *curves], **common}, right)
    never = right.get_yticks()[-1]
    for theta, rows in merged.items():
        mark(rows, right, colours[theta])
        level = rows[0]["exact_lower"]
        text, height = (f"θ = {theta:g}: all tied", never) if level is None else (f"θ = {theta:g}", level)
        right.text(0.1 / 6, height, text, fontsize=7, color=colours[theta], va="center", zorder=6,
                   bbox={"fc": "white", "ec": "none", "pad": 0.8})  # fmt: skip
    right.text(1.1 / 6, 0.02, "Kemeny's median", fontsize=7, color=plots.GREY)
    right.set_ylabel("")


def _explain_fig4(above: Axes, below: Axes, runs: int, steps: int) -> None:
    """Write the keys of both rows."""
    look: Data = {"color": plots.BLUE}
    plots.explain(above, {"exact": {**look, "lw": 2.4},
                          "bounds ε⁻/2 = ε⁺/2": {"color": plots.BLACK, "lw": 1.0, "ls": (0, (3, 2))},
                          "improved estimate": {**look, "marker": "x", "ls": ""},
                          "attack found from it": {**look, "marker": "o", "mfc": "white", "ls": ""}},
                  title='method="smooth"', title_fontsize=7, loc="center right", bbox_to_anchor=(1, 0.4))  # fmt: skip
    plots.explain(below, {f"lowest, median, highest of {runs} runs": {**look, "marker": "D"},
                          "the same, where no run gets that far": {**look, "marker": "D", "mfc": "white"}},
                  title=f'method="paper", {steps:,} steps', title_fontsize=7, loc="lower right")  # fmt: skip


def _draw_estimates(rows: list[Data], ax: Axes, colour: str) -> None:
    """Draw estimates and the attacks found from them, where there is something to estimate."""
    finite = [row for row in rows if row["exact_lower"] is not None]
    for name, marker in (("attack", "o"), ("estimate", "x")):
        dots = [(row["delta"], row[name]) for row in finite if row.get(name) is not None]
        if dots:
            ax.plot(*zip(*dots, strict=True), marker, color=colour, ms=4.5, mfc="white", clip_on=False, zorder=5)


def _draw_runs(rows: list[Data], ax: Axes, colour: str) -> None:
    """Draw where the runs of the paper's algorithm end: a bar over all, and their median."""
    for row in rows:
        if "paper_median" in row:
            at, fill = row["delta"], colour if row["paper_reached"] else "white"
            ax.vlines(at, row["paper_lowest"], row["paper_highest"], color=colour, lw=1.2, clip_on=False, zorder=5)
            ax.plot([at], [row["paper_median"]], "D", color=colour, ms=4, mfc=fill, clip_on=False, zorder=6)


DRAWINGS: dict[str, Callable[[Data], Axes]] = {
    "fig1": _draw_fig1,
    "fig2": _draw_fig2,
    "fig3": _draw_fig3,
    "fig4": _draw_fig4,
    "fig5": draw_fig5,
    "margin": draw_margin,
    "real": draw_real,
    "arena": draw_arena,
}
