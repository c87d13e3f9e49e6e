"""A badge: a small picture of two words, for the first lines of a README."""

from __future__ import annotations

from html import escape

from holdrank.errors import show
from holdrank.views.svg.canvas import digits, fitted, width_of

_SIZE = 11.0  # of the text
_HEIGHT = 20
_MARGIN = 6
_WIDEST = 240.0  # of one of the two texts
COLOURS = {"passed": "#1a7f37", "failed": "#b42318"}
"""Dark enough for white text on them (WCAG AA)."""


def badge(label: str, message: str, verdict: str, title: str) -> str:
    """Return a badge as SVG: a label, a message on the colour of the verdict, and a title as a tooltip."""
    texts = [fitted(show(text, 200), _WIDEST, _SIZE) for text in (label, message)]
    widths = [width_of(text, _SIZE) + 2 * _MARGIN for text in texts]
    whole = sum(widths)
    shapes = []
    left = 0.0
    for text, width, colour in zip(texts, widths, ("#3d444d", COLOURS[verdict]), strict=True):
        shapes.append(f'<rect x="{digits(left)}" width="{digits(width)}" height="{_HEIGHT}" fill="{colour}"/>')
        shapes.append(
            f'<text x="{digits(left + width / 2)}" y="14" textLength="{digits(width - 2 * _MARGIN)}" '
            f'lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
        )
        left += width
    said = escape(show(title, 400))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{digits(whole)}" height="{_HEIGHT}" role="img" '
        f'aria-label="{said}"><title>{said}</title>'
        '<g font-family="Verdana, DejaVu Sans, sans-serif" '
        f'font-size="{digits(_SIZE)}" text-anchor="middle" fill="#fff">{"".join(shapes)}</g></svg>\n'
    )
