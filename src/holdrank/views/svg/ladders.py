"""The tier ladder: blocks from top to bottom, and what it takes to break each gap between them."""

from __future__ import annotations

from holdrank.analysis.records import Record
from holdrank.views.svg.canvas import Canvas, fitted, width_of
from holdrank.views.svg.words import Price, in_text, named, price, spans, tiers_of
from holdrank.words.numbers import plural

# The same numbers stand in holdrank.js, which draws the ladder at other thresholds.
_WIDTH = 680.0
_PLACES = 62.0  # left of the blocks
_PRICES, _LONG_PRICES = 138.0, 236.0  # right of them
_MANY = 24  # tiers; more stand closer together


def ladder(record: Record) -> str:
    """Return the tiers as blocks with a chip for each item; each gap says how many votes break it."""
    tiers, names = tiers_of(record), record["items"]
    prices = _prices(record, len(tiers))
    dense = len(tiers) > _MANY
    chip, pad, between = (22.0, 3.0, 5.0) if dense else (26.0, 8.0, 16.0)
    right = 0.0 if not any(prices) else _LONG_PRICES if dense else _PRICES
    inside = _WIDTH - _PLACES - right
    sheet = Canvas("ladder", _WIDTH)
    y = 2.0
    for tier, places, cost in zip(tiers, spans(tiers), [None, *prices], strict=True):
        if cost is not None:
            _gap(sheet, y - between / 2, cost, inside, dense=dense)
        rows: list[list[tuple[float, float, int]]] = [[]]
        x = pad
        for item in tier:
            wide = min(width_of(named(names[item])) + 20, inside - 2 * pad)
            if x > pad and x + wide > inside - pad:
                rows.append([])
                x = pad
            rows[-1].append((x, wide, item))
            x += wide + 6
        high = 2 * pad + len(rows) * chip + (len(rows) - 1) * 6
        sheet.box(_PLACES, y, inside, high, "block", 7)
        sheet.text(_PLACES - 12, y + pad + chip / 2 + 4.5, places, "place end")
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
        sheet.text(end + 16, y + 4, str(cost), "small price")
    else:
        sheet.text(end + 16, y - 1, cost.votes, "price")
        sheet.text(end + 16, y + 14, cost.share, "small soft")


def ladder_text(record: Record) -> str:
    """Return the tiers in words, a line each.

    Examples
    --------
    >>> gap = {"lower": 0.1, "upper": 0.1, "needed": 11, "ties": 11, "decides": 11, "sufficient": 11, "known": True}
    >>> record = {"items": ["a", "b", "c"], "consensus": {"order": [1, 0, 2]}, "tiers": {"ranks": [1, 1, 2]},
    ...           "gaps": [gap], "votes": {"counts": True, "total": 100}}
    >>> print(ladder_text(record))
    2 tiers.
    Places 1–2: b, a.
    Gap below: 11 votes (11 %).
    Place 3: c.
    """
    tiers = tiers_of(record)
    prices = _prices(record, len(tiers))
    strict = all(len(tier) == 1 for tier in tiers)
    lines = [f"{plural(len(tiers), 'place')} without ties." if strict else f"{plural(len(tiers), 'tier')}."]
    for k, (tier, places) in enumerate(zip(tiers, spans(tiers), strict=True)):
        lines.append(f"Place{'s' * (len(tier) > 1)} {places}: {', '.join(in_text(record['items'][i]) for i in tier)}.")
        cost = prices[k] if k < len(prices) else None
        if cost is not None:
            lines.append(f"Gap below: {cost}.")
    return "\n".join(lines)


def _prices(record: Record, tiers: int) -> list[Price | None]:
    """Return what breaks each gap; None for all where the step that prices them did not come so far."""
    found = [price(gap, record["votes"]) for gap in record["gaps"]]
    return (found + [None] * tiers)[: tiers - 1]
