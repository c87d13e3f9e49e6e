"""Places of items: where chance and an adversary can move each, and the moves of an attack."""

from __future__ import annotations

from itertools import pairwise

from holdrank.analysis.records import Record
from holdrank.views.svg.canvas import SIZE, Canvas, fitted, in_two_lines, sentence, width_of
from holdrank.words.ladders import buckets, tiers_of
from holdrank.words.names import named
from holdrank.words.nouns import noun_of
from holdrank.words.numbers import percent, plural
from holdrank.words.pictures import attack_text, budget_of, places_of_items, ranges_text
from holdrank.words.prices import budget_text

_WIDTH, _NARROW = 680.0, 490.0
_WIDEST_MOVED = 146.0  # of a name beside its move
_BOLD = 1.1  # times as wide as plain text
_WIDEST_NAME = 230.0
_MOST_TICKS = 7  # places on an axis, and the last
_MOST_ROWS = 30  # items; more stand closer together
_LEAST_MOVED, _MOST_MOVED = 8, 24  # items of an attack that are drawn


def ranges(record: Record) -> str:
    """Return the place of each item with its ranges by chance and under attack.

    The dot is the place in the consensus, the thin bar the interval of the bootstrap. The thick bar is every place
    that is not ruled out for an adversary with the budget; its dark part is attained by a verified attack.
    """
    order, names, n = record["consensus"]["order"], record["items"], len(record["items"])
    drawn, reach = record["bootstrap"], record["reach"]
    step = 26.0 if n <= _MOST_ROWS else 18.0
    size = SIZE if n <= _MOST_ROWS else 11.5
    wide = min(max(40.0, *(width_of(named(name), size) for name in names)), _WIDEST_NAME)
    left, right = wide + 34, _WIDTH - 22
    sheet = Canvas("ranges", _WIDTH)

    def at(place: float) -> float:
        return (left + right) / 2 if n == 1 else left + (place - 1) / (n - 1) * (right - left)

    top = _ranges_key(sheet, record) + 46
    bottom = top + n * step
    for place in marked_places(n):
        sheet.line([(at(place), top - 6), (at(place), bottom)], "grid")
        sheet.text(at(place), top - 12, str(place), "small soft middle")
    sheet.text(left - 22, top - 12, "place", "small soft end")
    ends = _tier_ends(record)
    bar, thin = step - 10, 1.5
    for row, item in enumerate(order):
        y = top + (row + 0.5) * step
        if row in ends:
            sheet.line([(0, y - step / 2), (right + 12, y - step / 2)], "rule")
        short = fitted(named(names[item]), wide, size)
        full = "" if short == names[item] else named(names[item], 400)
        sheet.text(wide, y + 0.35 * size, short, "end" if size == SIZE else "small end", full=full)
        if reach is not None:
            for low, high, look in (("best", "worst", "reach"), ("shown_best", "shown_worst", "shown")):
                x, far = at(reach[low][item]), at(reach[high][item])
                # A single place is a dot as wide as the bar is high.
                sheet.box(x - bar / 2, y - bar / 2, far - x + bar, bar, look, bar / 2)
        if drawn is not None:
            x, far = at(drawn["best"][item]), at(drawn["worst"][item])
            if far > x:
                caps = f"M{x:.1f} {y - 4:.1f}v8M{x:.1f} {y:.1f}H{far:.1f}M{far:.1f} {y - 4:.1f}v8"
                sheet.add("path", "noise", d=caps)
        sheet.dot(at(row + 1), y, 3 * thin, "dot")
    return sheet.done(bottom + 6, ranges_text(record))


def _ranges_key(sheet: Canvas, record: Record) -> float:
    """Write the key, on as many lines as needed; return its height."""
    signs = [("dot", "place in the consensus")]
    if record["bootstrap"] is not None:
        signs.append(("noise", f"{percent(record['bootstrap']['level'])} of bootstrap samples"))
    if record["reach"] is not None:
        signs += [("shown", f"reached by changing {budget_of(record)}"), ("reach", "not ruled out with as many")]
    x, y = 6.0, 12.0
    for look, text in signs:
        wide = 30 + width_of(text, 11.5) + 18
        if x > 6 and x + wide > _WIDTH:
            x, y = 6.0, y + 20
        if look == "dot":
            sheet.dot(x + 10, y, 4.5, "dot")
        elif look == "noise":
            sheet.add("path", "noise", d=f"M{x:g} {y - 4:g}v8M{x:g} {y:g}h20m0-4v8")
        else:
            sheet.box(x, y - 6, 22, 12, look, 6)
        sheet.text(x + 28, y + 4, text, "small")
        x += wide
    return y


def _tier_ends(record: Record) -> set[int]:
    """Return the rows at which a tier with more than one item, or what follows it, begins."""
    found, row = set(), 0
    tiers = tiers_of(record)
    for tier, following in pairwise(tiers):
        row += len(tier)
        if len(tier) > 1 or len(following) > 1:
            found.add(row)
    return found


def marked_places(n: int) -> list[int]:
    """Return the places that get a line, at most eight: 1, the last, and round ones between.

    Examples
    --------
    >>> marked_places(9), marked_places(17), marked_places(208)
    ([1, 2, 4, 6, 9], [1, 5, 10, 17], [1, 50, 100, 150, 208])
    """
    step = next(step for step in (1, 2, 5, 10, 20, 25, 50, 100, 10**9) if n <= _MOST_TICKS * step or step > n)
    between = range(step, n + 1, step)
    return [1, *(k for k in between if k > 1 and n - k >= step), *([n] if n > 1 else [])]


# The attack.


def attack(record: Record) -> str:
    """Return the order before and after the attack of the headline: a line for each item, bold where it moved."""
    found = record["attack"]
    if found is None or found["after"] is None:
        return sentence("attack", attack_text(record))
    order, names = record["consensus"]["order"], record["items"]
    rows, left_out = _moves(found, order)
    size, step = (SIZE, 30.0) if len(rows) <= 16 else (11.5, 24.0)
    wide = max(_BOLD * width_of(named(names[item]), size) for item in rows)
    if wide > _WIDEST_MOVED:  # long names take two lines
        wide, size, step = _WIDEST_MOVED, 11.5, 30.0
    widest = max(width_of(text, 11.5) for side in ("before", "after") for text in _spots(found, side, order, rows))
    beside = max(widest + 12, 40.0)  # between a line and a name stand the places
    left, right = wide + beside + 10, _NARROW - wide - beside - 10
    sheet = Canvas("attack", _NARROW)
    sheet.text(left, 14, "before", "strong end")
    cost = _cost(record)
    sheet.text(_NARROW, 14, f"after {cost}" if cost else "after", "strong end")
    sides = []
    for ranks, x, look in ((found["before"], left, "end"), (found["after"], right, "")):
        groups = buckets(ranks, order)
        places = places_of_items(groups)
        heights: dict[int, float] = {}
        for group in groups:
            kept = [item for item in group if item in rows]
            for item in kept:
                heights[item] = 34 + (len(heights) + 0.5) * step
            if len(kept) > 1:
                top, high = heights[kept[0]] - step / 2 + 3, len(kept) * step - 6
                sheet.box(x - wide - beside - 4 if look else x + 4, top, wide + beside, high, "block", 7)
        sides.append((heights, places, x, look))
    (before, _, x, _), (after, _, far, _) = sides
    moved = _marked_moves(found, order, rows)
    for item in [*(item for item in rows if item not in moved), *moved]:
        look = "moved" if item in moved else "stayed"
        middle = (x + far) / 2
        curve = f"M{x + 6:.1f} {before[item]:.1f}C{middle:.1f} {before[item]:.1f} {middle:.1f} {after[item]:.1f} "
        sheet.add("path", look, d=f"{curve}{far - 6:.1f} {after[item]:.1f}")
        sheet.dot(x + 6, before[item], 3, f"end-{look}")
        sheet.dot(far - 6, after[item], 3, f"end-{look}")
    for heights, spots, x, look in sides:
        for item in rows:
            y = heights[item] + 0.35 * size
            lines = in_two_lines(named(names[item]), wide / (_BOLD if item in moved else 1), size)
            full = "" if " ".join(lines) == names[item] else named(names[item], 400)
            kind = " ".join(filter(None, ("strong" if item in moved else "", "small" if size < SIZE else "", look)))
            sheet.text(x - 8 if look else x + 8, y, spots[item], f"small soft {look}".strip())
            for k, line in enumerate(lines):
                up = (len(lines) - 1) / 2 - k
                sheet.text(x - beside if look else x + beside, y - 1.08 * size * up, line, kind, full=full)
    bottom = 34 + len(rows) * step + 6
    if left_out:
        sheet.text(_NARROW / 2, bottom + 12, f"{plural(left_out, 'more item')}, which moved less or not at all",
                   "small soft middle")  # fmt: skip
        bottom += 20
    return sheet.done(bottom, attack_text(record))


def _spots(found: Record, side: str, order: list[int], rows: list[int]) -> list[str]:
    """Return the places of the drawn items, as text."""
    places = places_of_items(buckets(found[side], order))
    return [places[item] for item in rows]


def _moves(found: Record, order: list[int]) -> tuple[list[int], int]:
    """Return the items to draw, in their order, and how many are left out: the farthest and the first come first."""
    ends = [_middles(buckets(found[side], order)) for side in ("before", "after")]
    far = {item: abs(ends[0][item] - ends[1][item]) for item in order}
    first = {item for side in ends for item in order if side[item] == min(side.values())}
    chosen = sorted(order, key=lambda item: (item not in first, -far[item], order.index(item)))
    busy = sum(far[item] > 0 or item in first for item in order)
    chosen = chosen[: min(max(busy, _LEAST_MOVED), _MOST_MOVED)]
    return [item for item in order if item in set(chosen)], len(order) - len(chosen)


def _marked_moves(found: Record, order: list[int], rows: list[int]) -> list[int]:
    """Return the items to stress: who enters or leaves the first tier, or moves by a place; else all that move."""
    before, after = (_middles(buckets(found[side], order)) for side in ("before", "after"))
    far = {item: abs(before[item] - after[item]) for item in rows}
    best = [{item for item in order if found[side][item] == min(found[side])} for side in ("before", "after")]
    stressed = [item for item in rows if far[item] >= 1 or (item in best[0]) != (item in best[1])]
    return stressed or [item for item in rows if far[item] > 0]


def _middles(groups: list[list[int]]) -> dict[int, float]:
    """Return the mean place of each item."""
    found: dict[int, float] = {}
    for group in groups:
        middle = len(found) + (len(group) + 1) / 2
        found |= dict.fromkeys(group, middle)
    return found


def _cost(record: Record) -> str:
    """Return the cost of the verified attack."""
    found, votes = record["attack"], record["votes"]
    most = found["sufficient"] if found["whole"] and votes["counts"] else None
    if most is not None:
        return budget_text(most / votes["total"], most, noun_of(votes))
    return "" if found["upper"] is None else budget_text(found["upper"], None, noun_of(votes))
