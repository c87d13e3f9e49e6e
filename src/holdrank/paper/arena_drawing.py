"""The picture of an arena: certified intervals as bars, what influence predicts as marks; from the data alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdrank import plots
from holdrank.plots import Data
from holdrank.words.numbers import plural

if TYPE_CHECKING:
    from holdrank.plots import Axes

TITLES = {"drop": "battles dropped", "add": "battles added", "replace": "battles replaced"}
_WORKS: Data = {"color": plots.VERMILLION, "marker": "o", "ls": "", "ms": 5}
_FAILS: Data = {"color": plots.VERMILLION, "marker": "x", "ls": "", "ms": 6, "mew": 1.6}
_PROVED: Data = {"color": plots.BLUE, "lw": 7}
_OPEN: Data = {"color": plots.SKY, "lw": 7, "alpha": 0.6}


def draw_arena(data: Data) -> Axes:
    """Draw a panel for each kind of change: the first k from above, battles on a logarithmic axis."""
    axes = plots.page(3, width=2.7, height=2.7, sharey=True)
    tops = sorted({row["top"] for row in data["rows"]})
    for ax, (change, title) in zip(axes, TITLES.items(), strict=True):
        ax.set_xscale("log")
        _scale(ax, data)
        for row in (row for row in data["rows"] if row["change"] == change):
            _draw_row(ax, tops.index(row["top"]), row)
        ax.set_yticks(range(len(tops)), [f"top {top}" for top in tops])
        ax.set_ylim(len(tops) - 0.5, -0.5)
        ax.set_title(title)
    axes[1].set_xlabel(f"battles, of {data['votes']:,g} between {plural(data['items'], 'item')}")
    plots.explain_below(axes[0], {"too few (proved)": _PROVED, "open": _OPEN,
                                  "influence predicts, and it works": _WORKS,
                                  "influence predicts, and it fails": _FAILS}, ncols=2)  # fmt: skip
    return axes[0]


def _scale(ax: Axes, data: Data) -> None:
    """Give all panels one scale of whole battles, from below 1 to beyond the largest number."""
    ends = [row[name] or 1 for row in data["rows"] for name in ("needed", "sufficient", "influence")]
    ax.set_xlim(0.5, 3.0 * max(ends, default=1))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else "")
    ax.xaxis.set_minor_formatter(lambda *_: "")


def _draw_row(ax: Axes, at: int, row: Data) -> None:
    needed, sufficient = row["needed"], row["sufficient"]
    edge = ax.get_xlim()[1] if sufficient is None else sufficient
    if needed is not None:
        ax.plot([0.5, max(needed, 0.5)], [at, at], **_PROVED)
        if sufficient is None or sufficient > needed:
            ax.plot([max(needed, 0.5), edge], [at, at], **_OPEN)
    if row["influence"] is not None:
        ax.plot([row["influence"]], [at], **(_WORKS if row["influence_works"] else _FAILS), zorder=4)
    name = "–" if needed is None else f"{needed:,}" if needed == sufficient else f"{needed:,}–{_many(sufficient)}"
    ax.annotate(name, (max(edge, row["influence"] or 1), at), xytext=(7, 0), textcoords="offset points", va="center",
                fontsize=7)  # fmt: skip


def _many(battles: int | None) -> str:
    return "?" if battles is None else f"{battles:,}"
