"""A sheet of SVG: shapes with class names, whose colours the style sheet of the page decides; text is escaped here."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10

SIZE = 13.0  # of text, in the units of the drawing

_NARROW = frozenset("fijlrtI.,:;'|!()[]{} -\"`/\\")
_BROAD = frozenset("mwMW@%—…")
_ROUNDING = 1e-6  # of widths that are scaled there and back
_SAFETY = 1.14  # the font of a reader may be wider than the one that these widths are of


def width_of(text: str, size: float = SIZE) -> float:
    """Return about how wide a text is; `holdrank.js` counts the same way.

    Examples
    --------
    >>> round(width_of("Alder", 13.0), 1)
    36.2
    """
    return _SAFETY * size * sum(map(_part, text))


def _part(sign: str) -> float:
    if sign in _NARROW:
        return 0.32
    if sign in _BROAD:
        return 0.9
    if sign < "\x7f":
        return 0.68 if "A" <= sign <= "Z" else 0.56
    if unicodedata.combining(sign):
        return 0.0
    return 1.0 if unicodedata.east_asian_width(sign) in "WF" or ord(sign) > 0xFFFF else 0.65


def fitted(text: str, width: float, size: float = SIZE) -> str:
    """Return a text, its end cut off if it is wider than `width`."""
    if width_of(text, size) <= width + _ROUNDING:
        return text
    cut = text
    while cut and width_of(cut + "…", size) > width:
        cut = cut[:-1]
    return cut.rstrip() + "…"


def attribute(text: str) -> str:
    """Return text for an attribute; line breaks are kept."""
    return escape(text, quote=True).replace("\n", "&#10;")


def digits(value: float) -> str:
    """Return a coordinate: one decimal, no more signs than needed.

    Examples
    --------
    >>> digits(3.04), digits(-0.01), digits(12.25)
    ('3', '0', '12.2')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def ticks(highest: float, lowest: float = 0.0, most: int = 5) -> list[float]:
    """Return round numbers from `lowest` to `highest`.

    Examples
    --------
    >>> ticks(0.23), ticks(7), ticks(0.5, 0.283)
    ([0.0, 0.05, 0.1, 0.15, 0.2], [0.0, 2.0, 4.0, 6.0], [0.3, 0.35, 0.4, 0.45, 0.5])
    """
    if highest <= lowest:
        return [lowest]
    power = floor(log10((highest - lowest) / most))
    exact = (highest - lowest) / most / 10**power
    step = next(round_ for round_ in (1, 2, 5, 10) if exact <= round_ * (1 + 1e-9)) * 10.0**power
    return [round(k * step, 12) for k in range(ceil(lowest / step - 1e-9), floor(highest / step + 1e-9) + 1)]


def in_two_lines(text: str, width: float, size: float = SIZE) -> list[str]:
    """Return a text in one line, or in two if it is wider than `width`; what is wider than these is cut.

    Examples
    --------
    >>> in_two_lines("Open-Assistant SFT-7 (7B)", 140.0), in_two_lines("GPT-NeoXT-Chat-Base", 120.0)
    (['Open-Assistant', 'SFT-7 (7B)'], ['GPT-NeoXT-', 'Chat-Base'])
    """
    parts = re.findall(r"[^ \-_/]*[ \-_/]*", text)[:-1]
    for k in range(len(parts), 0, -1):
        first, rest = "".join(parts[:k]).rstrip(), "".join(parts[k:])
        if width_of(first, size) <= width + _ROUNDING:
            return [first, fitted(rest, width, size)] if rest else [first]
    return [fitted(text, width, size)]


class Canvas:
    """A drawing of some width, which grows downwards.

    Examples
    --------
    >>> sheet = Canvas("ladder", 100)
    >>> sheet.text(4, 12, "a < b", "strong")
    >>> sheet.done(20, "one text")
    '<svg class="picture ladder" role="img" aria-label="one text" viewBox="0 0 100 20" width="100" \
height="20"><text x="4" y="12" class="strong">a &lt; b</text></svg>'
    """

    def __init__(self, kind: str, width: float, *, data: Mapping[str, str] | None = None) -> None:
        self.kind, self.width, self.data = kind, width, dict(data or {})
        self._parts: list[str] = []

    def add(self, tag: str, look: str, title: str = "", **places: float | str) -> None:
        """Add a shape; numbers are coordinates, names with an underscore are attributes with a hyphen."""
        parts = [f"<{tag}"]
        for name, value in places.items():
            text = digits(value) if isinstance(value, float | int) else attribute(value)
            parts.append(f' {name.replace("_", "-")}="{text}"')
        parts.append(f' class="{look}"' if look else "")
        parts.append(f"><title>{escape(title)}</title></{tag}>" if title else "/>")
        self._parts.append("".join(parts))

    def box(
        self, x: float, y: float, width: float, height: float, look: str, round_: float = 0.0, title: str = ""
    ) -> None:
        """Add a rectangle by its upper left corner."""
        corner = {"rx": round_} if round_ else {}
        self.add("rect", look, title, x=x, y=y, width=width, height=height, **corner)

    def line(self, points: Sequence[tuple[float, float]], look: str) -> None:
        """Add a line through points."""
        self.add("path", look, d="M" + "L".join(f"{digits(x)} {digits(y)}" for x, y in points))

    def dot(self, x: float, y: float, radius: float, look: str) -> None:
        """Add a circle."""
        self.add("circle", look, cx=x, cy=y, r=radius)

    def text(self, x: float, y: float, text: str, look: str = "", *, full: str = "") -> None:
        """Write a text on the base line `y`; `full` is its tooltip, if it says more."""
        more = f"<title>{escape(full)}</title>" if full and full != text else ""
        kind = f' class="{look}"' if look else ""
        self._parts.append(f'<text x="{digits(x)}" y="{digits(y)}"{kind}>{more}{escape(text)}</text>')

    def raw(self, markup: str) -> None:
        """Add markup that holds no text from outside."""
        self._parts.append(markup)

    def done(self, height: float, label: str) -> str:
        """Return the drawing; `label` is the same in words."""
        size = f"{digits(self.width)} {digits(ceil(height))}"
        width, high = size.split()
        facts = "".join(f' data-{name}="{attribute(value)}"' for name, value in self.data.items())
        return (
            f'<svg class="picture {self.kind}" role="img" aria-label="{attribute(label)}"{facts} viewBox="0 0 {size}" '
            f'width="{width}" height="{high}">{"".join(self._parts)}</svg>'
        )


def sentence(kind: str, text: str) -> str:
    """Return a drawing that only says why there is none."""
    sheet = Canvas(kind, 640)
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer) > 600 and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    for k, line in enumerate(lines):
        sheet.text(16, 30 + 20 * k, line, "soft")
    return sheet.done(30 + 20 * len(lines), text)
