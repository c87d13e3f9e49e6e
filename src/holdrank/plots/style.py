"""Shared parts of pictures: colours, fonts, pages and files, and text that is never read as a formula."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from holdrank.errors import MissingExtraError
from holdrank.files.writers import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.transforms import Transform

Data: TypeAlias = dict[str, Any]

BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK = "#E69F00", "#56B4E9", "#000000"
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
DARK, GREY, PALE = "#595959", "#8c8c8c", "#d9d9d9"
PALE_BLUE = "#e3f1fa"  # a sky behind text

_STYLE: Data = {
    # DejaVu Sans comes with matplotlib, so that pictures are the same everywhere; a browser may have to do without it.
    "font.family": ["DejaVu Sans", "sans-serif"], "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9, "axes.titlesize": 10, "axes.labelsize": 9, "xtick.labelsize": 8, "ytick.labelsize": 8,
    "axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False,
    "axes.linewidth": 0.7, "lines.linewidth": 1.6, "lines.solid_capstyle": "butt",
    "figure.dpi": 100, "savefig.dpi": 200,
    "text.parse_math": False,  # a name with dollar signs is not a formula
    "svg.hashsalt": "holdrank",  # the same names inside the file every time
    "svg.fonttype": "none",  # text stays text: it can be searched, copied and read aloud
    "pdf.fonttype": 42,
}  # fmt: skip
_UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None, "ModDate": None}, "png": {"Software": None}}
_HINTED = 1.04  # on a screen, text may be this much wider than in print
_MARGIN = 3.0  # points around a drawing, what the layout of a figure leaves free
_SMALLEST = 0.2  # smallest scale of a drawing that is still readable


def page(columns: int = 1, rows: int = 1, *, width: float = 3.6, height: float = 2.9, **layout: Any) -> list[Axes]:
    """Return the axes of a new figure, row by row; the figure is not registered and need not be closed."""
    with styled():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
        return list(figure.subplots(rows, columns, squeeze=False, **layout).ravel())


def save(ax: Axes, stem: Path) -> list[Path]:
    """Write the figure of an axes as .svg, .pdf and .png; the same picture gives the same bytes."""
    figure: Figure = ax.figure  # type: ignore[assignment]
    files = [stem.with_name(f"{stem.name}.{form}") for form in _UNDATED]
    with styled():
        for file in files:
            drawn = io.BytesIO()
            figure.savefig(drawn, format=file.suffix[1:], metadata=_UNDATED[file.suffix[1:]])
            write_whole(file, drawn.getvalue())
    return files


def explain(ax: Axes, kinds: dict[str, Data], **place: Any) -> None:
    """Write a key of line and mark types, where labels at the ends are not possible."""
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], label=name, **{"markersize": 5, **look}) for name, look in kinds.items()]
    ax.legend(handles=lines, **{"loc": "upper left", "fontsize": 7, "frameon": False, "handlelength": 1.8, **place})


def explain_below(ax: Axes, kinds: dict[str, Data], *, ncols: int = 3) -> None:
    """Write a key of line and mark types below all axes of a page."""
    from matplotlib.lines import Line2D

    with styled():
        lines = [Line2D([], [], label=name, **{"markersize": 5, **look}) for name, look in kinds.items()]
        look: Data = {"ncols": ncols, "fontsize": 7.5, "frameon": False}
        ax.figure.legend(handles=lines, loc="outside lower center", **look)


def beside(ax: Axes, points: float) -> Transform:
    """Return the coordinates of the data, shifted to the right by a number of points."""
    from matplotlib.transforms import offset_copy

    return offset_copy(ax.transData, ax.get_figure(root=True), x=points, units="points")


def axes_or_new(ax: Axes | None, width: float = 5.2, height: float = 3.6) -> Axes:
    """Return the axes given, or those of a new figure, in inches, that notebooks show."""
    if ax is not None:
        return ax
    with styled():
        import matplotlib.pyplot as plt

        return plt.subplots(figsize=(width, height), layout="constrained")[1]


def number(value: float) -> float | None:
    """Return a number to nine decimals, what is proved to; None for infinity, and where there is none."""
    return round(float(value), 9) if math.isfinite(value) else None


def starts(tiers: Sequence[Sequence[int]]) -> list[int]:
    """Return the first place of each tier."""
    return list(accumulate(map(len, tiers[:-1]), initial=1))


def blocks(tiers: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the first row of each tier, from 0, and its size.

    Examples
    --------
    >>> blocks([[2], [0, 3, 1]])
    [[0, 1], [1, 3]]
    """
    return [[first - 1, len(tier)] for first, tier in zip(starts(tiers), tiers, strict=True)]


def name_ticks(axis: Axis, at: Sequence[float], names: Sequence[str], **look: Any) -> None:
    """Put names at the ticks of an axis; they are never read as formulas, even on axes made in another style."""
    axis.set_ticks(at, names, **look)
    for tick in axis.get_major_ticks():
        for label in (tick.label1, tick.label2):  # on both sides
            label.set_parse_math(False)


@lru_cache(maxsize=4096)
def width_of(text: str, size: float) -> float:
    """Return how wide a text is at most, in points."""
    with styled(), warnings.catch_warnings():
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import text_to_path

        warnings.simplefilter("ignore")  # a sign that the font does not have is reported when it is drawn
        font = FontProperties(family=_STYLE["font.family"], size=size)
        wide = float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])
        return _HINTED * wide


def cut(text: str, size: float, width: float) -> str:
    """Return a text, shortened if it is wider than the given number of points."""
    if width_of(text, size) <= width:
        return text
    fits, too_long = 0, len(text)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        fits, too_long = (middle, too_long) if width_of(text[:middle] + "…", size) <= width else (fits, middle)
    return text[:fits].rstrip() + "…"


def wrap(text: str, size: float, width: float, *, most: int) -> list[str]:
    """Return a text in lines of a given width in points, broken at spaces; text beyond `most` lines is cut off."""
    lines = [""]
    words = text.split(" ")
    for k, word in enumerate(words):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if not lines[-1] or width_of(longer, size) <= width:
            lines[-1] = longer
        elif len(lines) < most:
            lines.append(word)
        else:
            lines[-1] += " " + " ".join(words[k:])
            break
    return [cut(line, size, width) for line in lines]


class Plan(Protocol):
    """A drawing that is laid out by hand, in points; given axes may offer more than the least width."""

    least_width: float

    def height(self, width: float) -> float:
        """Return its height if it is so wide."""

    def draw(self, on: Sheet) -> None:
        """Draw it."""


def drawn(plan: Plan, ax: Axes | None) -> Axes:
    """Draw a plan on the axes given, or on a new page that fits it."""
    with styled():
        sheet = _sheet(ax, plan.least_width, plan.height)
        plan.draw(sheet)
    return sheet.ax


@dataclass(frozen=True, slots=True)
class Sheet:
    """Axes for a drawing that is laid out by hand, in points from the upper left corner.

    Attributes
    ----------
    ax : Axes
    width : float
        Of the drawing, in its points.
    scale : float
        Size of its points: 1 on a new page, less on axes that are too small for it.
    """

    ax: Axes
    width: float
    scale: float

    def write(self, x: float, y: float, text: str, size: float = 8.0, **look: Any) -> None:
        """Write a text, its middle at the height `y`."""
        look = {"va": "center", "color": BLACK, **look}
        # Out of the layout: a text that is slightly too wide must not shrink the drawing.
        self.ax.text(x, y, text, fontsize=size * self.scale, parse_math=False, in_layout=False, **look)

    def line(self, xs: Sequence[float], ys: Sequence[float], *, lw: float, **look: Any) -> None:
        """Draw a line through points."""
        self.ax.plot(xs, ys, lw=lw * self.scale, **look)

    def box(self, x: float, y: float, width: float, height: float, *, lw: float, corner: float, **look: Any) -> None:
        """Draw a box with round corners, given by its upper left corner."""
        from matplotlib.patches import FancyBboxPatch

        style = f"round,pad=0,rounding_size={corner}"
        # The corners are round in points, and the axes may be stretched.
        self.ax.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=style, lw=lw * self.scale, **look))


def _sheet(ax: Axes | None, width: float, height_at: Callable[[float], float]) -> Sheet:
    if ax is None:
        high = height_at(width)
        ax = axes_or_new(None, (width + 2 * _MARGIN) / 72, (high + 2 * _MARGIN) / 72)
        scale, wide = 1.0, width
    else:
        box, dot = ax.get_window_extent(), 72 / ax.figure.dpi
        scale = 1.0
        while scale > _SMALLEST and (
            box.width * dot < width * scale or box.height * dot < height_at(box.width * dot / scale) * scale
        ):
            scale *= 0.96
        wide = max(box.width * dot / scale, width)
        high = max(box.height * dot / scale, height_at(wide))
    ax.set_xlim(0, wide)
    ax.set_ylim(high, 0)
    ax.axis("off")
    return Sheet(ax, wide, scale)


def styled() -> AbstractContextManager[None]:
    """Return the style of all pictures, for a `with`; refuse, with the way to get it, where matplotlib is missing."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingExtraError("drawing", "matplotlib", "plot") from error
    return mpl.rc_context(_STYLE)  # type: ignore[arg-type]
