"""The tier ladder: blocks from top to bottom, and the votes that break each gap between them."""

from __future__ import annotations

from holdrank.analysis.records import Record
from holdrank.views.svg.canvas import Canvas, fitted, width_of
from holdrank.words.ladders import ladder_of, ladder_text
from holdrank.words.names import named
from holdrank.words.prices import Price

# The same numbers stand in holdrank.js, which draws the ladder at other thresholds.
_WIDTH = 680.0
_PLACES = 62.0  # left of the blocks
_PRICES, _LONG_PRICES = 138.0, 236.0  # right of them
_MANY = 24  # tiers; more stand closer together
_BOLD = 1.2  # how much wider than others such letters may be


def ladder(record: Record) -> str:
    """Return the tiers as blocks with a chip for each item; each gap says how many votes break it."""
    rungs, names = ladder_of(record), record["items"]
    dense = len(rungs) > _MANY
    chip, pad, between = (22.0, 3.0, 5.0) if dense else (26.0, 8.0, 16.0)
    widest = max((width_of(rung.gap.votes) for rung in rungs if rung.gap), default=0.0)
    right = 0.0 if not widest else _LONG_PRICES if dense else max(_PRICES, _BOLD * widest + 20)
    inside = _WIDTH - _PLACES - right
    sheet = Canvas("ladder", _WIDTH)
    y, cost = 2.0, None
    for rung in rungs:
        if cost is not None:
            _gap(sheet, y - between / 2, cost, inside, dense=dense)
        cost = rung.gap
        rows: list[list[tuple[float, float, int]]] = [[]]
        x = pad
        for item in rung.items:
            wide = min(width_of(named(names[item])) + 20, inside - 2 * pad)
            if x > pad and x + wide > inside - pad:
                rows.append([])
                x = pad
            rows[-1].append((x, wide, item))
            x += wide + 6
        high = 2 * pad + len(rows) * chip + (len(rows) - 1) * 6
        sheet.box(_PLACES, y, inside, high, "block", 7)
        sheet.text(_PLACES - 12, y + pad + chip / 2 + 4.5, rung.places, "place end")
        for k, row in enumerate(rows):
            top = y + pad + k * (chip + 6)
            for x, wide, item in row:
                sheet.box(_PLACES + x, top, wide, chip, "chip", chip / 2)
                short = fitted(named(names[item]), wide - 18)
                full = "" if short == names[item] else named(names[item], 400)
                sheet.text(_PLACES + x + wide / 2, top + chip / 2 + 4.5, short, "middle", full=full)
        y += high + between
    return sheet.done(y - between + 2, ladder_text(record))


def _gap(sheet: Canvas, y: float, cost: Price, inside: float, *, dense: bool) -> None:
    end = _PLACES + inside
    sheet.line([(_PLACES + 8, y), (end + 10, y)], "gap")
    if dense or not cost.share:
        sheet.text(end + 16, y + 4, str(cost) if cost.share else cost.votes, "small price")
    else:
        fits = width_of(cost.share, 11.5) <= _PRICES - 18
        sheet.text(end + 16, y - 1, cost.votes, "price", full="" if fits else str(cost))
        if fits:
            sheet.text(end + 16, y + 14, cost.share, "small soft")
