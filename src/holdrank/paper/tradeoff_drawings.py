"""The pictures of trade-offs: Figure 5, thresholds near a margin, and vote files; from their data alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdrank import plots
from holdrank.plots import Data
from holdrank.words.numbers import plural

if TYPE_CHECKING:
    from holdrank.plots import Axes

ONE_PAIR = "votes to change one pair, ε at δ = 1/6"
LOSS = "loss: mean distance to a vote"

_KINDS = {"bucket": plots.BLUE, "uniform": plots.GREEN, "point mass": plots.VERMILLION, "Plackett": plots.PURPLE}
_FIG5_THETA = 0.05
_ROWS = {"authors": "the authors' seven distributions", "ours": "our distributions"}
_COLUMNS = {"downward merge": "θ = .05", "best threshold": "the best θ of each"}


def select(data: Data, **wanted: object) -> list[Data]:
    """Return the rows with these values."""
    return [row for row in data["rows"] if all(row[name] == value for name, value in wanted.items())]


def draw_fig5(data: Data) -> Axes:
    """Draw loss against robustness: the authors' distributions above, ours below."""
    axes = plots.page(2, 2, width=3.7, height=3.3, sharex=True, sharey=True)
    guesses = [row["estimate"] for row in data["rows"] if row["exact_lower"] is not None and "estimate" in row]
    panels = [(source, choice) for source in _ROWS for choice in _COLUMNS]
    for ax, (source, choice) in zip(axes, panels, strict=True):
        never = plots.share_axis(ax, max(0.5, *guesses, 0.0), endless=True)
        ends = select(data, source=source, statistic=choice)
        for start, end in zip(select(data, source=source, statistic="kemeny"), ends, strict=True):
            _draw_pair(ax, start, end, never)
            if source == "authors":
                _name_point(ax, start, end, never)
        ax.set_title(f"{_ROWS[source]},\nDownward Merge at {_COLUMNS[choice]}", fontsize=9)
        ax.set_ylabel(ONE_PAIR if choice == "downward merge" else "")
        ax.set_xlabel(LOSS if source == "ours" else "")
    names = [row["distribution"] for row in select(data, source="ours", statistic="kemeny")]
    many = sum(name.startswith("Plackett") for name in names)
    for ax in axes[2:]:
        places = {"point mass": (0.02, 0.53), "two buckets": (0.15, 0.36), "uniform": (0.485, 0.55)}
        for name, place in (places | {f"{many} Plackett-Luce": (0.3, 0.2)}).items():
            ax.text(*place, name, fontsize=7.5, va="center", ha="right" if name == "uniform" else "left")
    marks = {"Kemeny's median": {"color": plots.DARK, "marker": "o", "mfc": "white", "ls": ""},
             "Downward Merge": {"color": plots.DARK, "marker": "s", "ls": ""}}  # fmt: skip
    if guesses:
        marks[f'estimate (method="{data["estimator"]}")'] = {"color": plots.BLACK, "marker": "x", "ls": ""}
    plots.explain_below(axes[0], marks)
    return axes[0]


def _draw_pair(ax: Axes, start: Data, end: Data, never: float) -> None:
    """Draw Kemeny's median and the merge of one distribution, joined; estimates are crosses right of the marks."""
    colour = next(value for name, value in _KINDS.items() if start["distribution"].startswith(name))
    x = [start["loss"], end["loss"]]
    y = [never if row["exact_lower"] is None else row["exact_lower"] for row in (start, end)]
    look: Data = {"color": colour, "clip_on": False, "zorder": 3}
    ax.plot(x, y, lw=0.9, alpha=0.8, color=colour)
    ax.plot(x[:1], y[:1], "o", ms=6, mfc="white", **look)
    ax.plot(x[1:], y[1:], "s", ms=3.5, **look)
    for row in (start, end):
        if row["exact_lower"] is not None and row.get("estimate") is not None:
            at = plots.beside(ax, 6)
            ax.plot([row["loss"]], [row["estimate"]], "x", ms=4.5, mew=1.0, transform=at, **look)


def _name_point(ax: Axes, start: Data, end: Data, never: float) -> None:
    """Write the name of a distribution next to its marks, away from the others."""
    finite = [row for row in (start, end) if row["exact_lower"] is not None]
    heights = [row.get(name, 0.0) for row in finite for name in ("exact_lower", "estimate")]
    height = never if len(finite) < 2 else max(heights)
    above: Data = {"ha": "center", "va": "bottom"}
    places: dict[str, Data] = {
        "Plackett-Luce, seed 283": {"xytext": (-8, 6), **above},
        "Plackett-Luce, seed 1903": {"xytext": (5, 6), **above},
        "Plackett-Luce, seed 18": {"xytext": (8, 6), **above},
        "point mass": {"xytext": (-5, 6), "ha": "left", "va": "bottom"},
        "uniform": {"xytext": (-7, -10), "ha": "right", "va": "center"},
        "bucket, .6/.4": {"xytext": (-6, 0), "ha": "right", "va": "center"},
        "bucket, .51/.49 mixed at .95": {"xytext": (12, 0), "ha": "left", "va": "center"},
    }
    name = start["distribution"]
    text = name.replace(", ", "\n", 1).replace(" mixed", "\nmixed")
    look: Data = {"textcoords": "offset points", "fontsize": 7, "linespacing": 1.1}
    ax.annotate(text, (end["loss"], height), **places[name], **look)


def draw_margin(data: Data) -> Axes:
    """Draw the robustness against the threshold, around the margin of the closest pair."""
    (ax,) = plots.page(width=5.2, height=3.7)
    plots.share_axis(ax, 0.5, endless=False)
    looks: dict[str, Data] = {
        "bucket, .6/.4": {"color": plots.BLUE, "marker": "o", "ls": "-"},
        "bucket, .55/.45": {"color": plots.VERMILLION, "marker": "s", "ls": (0, (5, 1.5))},
    }
    notes = {"bucket, .6/.4": "published by the authors", "bucket, .55/.45": "as the paper's text has it"}
    for name, look in looks.items():
        rows = select(data, distribution=name)
        at = rows[0]["margin"]
        line: Data = {"color": look["color"], "lw": 1.8, "ls": look["ls"], "zorder": 3}
        apart, tied = ([row for row in rows if (row["theta"] < at) is below] for below in (True, False))
        for piece in (apart, tied):
            ax.plot([row["theta"] for row in piece], [row["exact_lower"] for row in piece], **line)
        first, last, jump = apart[0], apart[-1], tied[0]
        ax.plot([at, at], [last["exact_lower"], jump["exact_lower"]], color=look["color"], lw=0.8, ls=":")
        dot: Data = {"color": look["color"], "marker": look["marker"], "ms": 6, "clip_on": False, "zorder": 4}
        ax.plot([last["theta"]], [last["exact_lower"]], mfc="white", **dot)
        ax.plot([at], [jump["exact_lower"]], **dot)
        side: Data = {"fontsize": 7.5, "textcoords": "offset points", "color": look["color"]}
        ax.annotate(f"{name}, margin {at:g}\n({notes[name]})", (at, jump["exact_lower"]), xytext=(9, 5), **side)
        ax.annotate(f"{100 * first['exact_lower']:g} %", (0, first["exact_lower"]), xytext=(4, 4), **side)
        for row in apart:
            if row["theta"] == _FIG5_THETA:
                ax.plot([row["theta"]], [row["exact_lower"]], **dot)
                ax.annotate(
                    f"{100 * row['exact_lower']:g} %", (row["theta"], row["exact_lower"]), xytext=(6, 4), **side
                )
    ax.axvline(_FIG5_THETA, color=plots.GREY, lw=0.8, zorder=0)
    ax.annotate("θ of Figure 5", (_FIG5_THETA, 0.25), xytext=(4, 0), textcoords="offset points", fontsize=7.5,
                color=plots.DARK)  # fmt: skip
    ax.set_xlim(0, 0.152)
    ax.set_xlabel("threshold θ of Downward Merge")
    ax.set_ylabel(ONE_PAIR)
    ax.set_title("A threshold just below the margin of a pair is the worst")
    return ax


def draw_real(data: Data) -> Axes:
    """Draw the trade-off of each vote file."""
    panels = data["files"]
    columns = 2 if len(panels) in (2, 4) else min(len(panels), 3)
    axes = plots.page(columns, -(-len(panels) // columns), width=3.6, height=3.2)
    for ax, panel in zip(axes, panels, strict=False):
        plots.draw_tradeoff(panel, ax)
        sizes = f"{panel['votes']:,g} votes, {plural(panel['items'], 'item')}"
        open_ends = panel["lower"] != panel["upper"]
        lines = [*plots.wrap(panel["title"], 8.5, 3.0 * 72, most=2), sizes + (", bounds open" if open_ends else "")]
        ax.set_title("\n".join(lines), fontsize=8.5)
        ax.set_xlabel(LOSS)
        ax.set_ylabel("votes to change one pair, ε")
    for ax in axes[len(panels) :]:
        ax.axis("off")
    allowed: Data = {"color": plots.PALE, "lw": 8, "alpha": 0.5}
    marks = {**plots.tradeoff_marks(panels), "loss that the best may have": allowed}
    plots.explain_below(axes[0], marks, ncols=min(columns + 1, 3))
    return axes[0]
