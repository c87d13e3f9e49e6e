"""Places of items while one group of votes after the other is left out."""

from __future__ import annotations

from holdrank.analysis.leave_one_out import LeaveOneOut
from holdrank.views.svg.canvas import SIZE, Canvas, fitted, width_of
from holdrank.views.svg.places import marked_places
from holdrank.words.groups import groups_text, places_text
from holdrank.words.names import in_text, named

_WIDTH = 680.0
_WIDEST_NAME, _WIDEST_GROUP = 200.0, 170.0
_MOST_ROWS = 30  # items; more stand closer together


def left_out(found: LeaveOneOut) -> str:
    """Return the place of each item with a bar over all places it has without one of the groups.

    Beside the bar stands the group without which the item moves most.
    """
    items, order, n = found.consensus.items, found.consensus.ranking.order, len(found.consensus.items)
    step, size = (26.0, SIZE) if n <= _MOST_ROWS else (18.0, 11.5)
    wide = min(max(40.0, *(width_of(named(name), size) for name in items)), _WIDEST_NAME)
    left, right = wide + 34, _WIDTH - _WIDEST_GROUP - 18
    sheet = Canvas("ranges", _WIDTH)

    def at(place: float) -> float:
        return (left + right) / 2 if n == 1 else left + (place - 1) / (n - 1) * (right - left)

    sheet.dot(16, 12, 4.5, "dot")
    sheet.text(28, 16, "place by all votes", "small")
    sheet.box(168, 6, 22, 12, "shown", 6)
    sheet.text(198, 16, f"places without one {in_text(found.by)}", "small")
    top = 58.0
    bottom = top + n * step
    for place in marked_places(n):
        sheet.line([(at(place), top - 6), (at(place), bottom)], "grid")
        sheet.text(at(place), top - 12, str(place), "small soft middle")
    sheet.text(left - 22, top - 12, "place", "small soft end")
    sheet.text(right + 18, top - 12, "moved most without", "small soft")
    bar = step - 12
    for row, item in enumerate(order):
        y = top + (row + 0.5) * step
        short = fitted(named(items[item]), wide, size)
        full = "" if short == items[item] else named(items[item], 400)
        sheet.text(wide, y + 0.35 * size, short, "end" if size == SIZE else "small end", full=full)
        low, high = at(found.best[item]), at(found.worst[item])
        told = places_text(items[item], row + 1, int(found.best[item]), int(found.worst[item]))
        sheet.box(low - bar / 2, y - bar / 2, high - low + bar, bar, "shown", bar / 2, title=told)
        sheet.dot(at(row + 1), y, 4.5, "dot")
        if mover := _mover(found, item):
            short = fitted(named(mover), _WIDEST_GROUP, 11.5)
            sheet.text(right + 18, y + 4, short, "small", full="" if short == mover else named(mover, 400))
    told = groups_text(found.by, len(found.changing), found.deciding, len(found.each))
    return sheet.done(bottom + 6, told)


def _mover(found: LeaveOneOut, item: int) -> str:
    """Return the group without which an item stands farthest from its place; none where it never moves."""
    place = found.consensus.ranking.places[item]
    farthest = max(found.each, key=lambda one: abs(one.ranking.places[item] - place), default=None)
    return "" if farthest is None or farthest.ranking.places[item] == place else farthest.name
