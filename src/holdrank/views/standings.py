"""The board of a page: one row per item, with its tier, its bar of places, and what it takes to overtake it."""

from __future__ import annotations

import math
from typing import NamedTuple

from holdrank.analysis.records import Record
from holdrank.status import LEAST_DRAWS
from holdrank.views.svg.canvas import digits
from holdrank.words import standings as words
from holdrank.words.ladders import ladder_of
from holdrank.words.missing import NO_BOOTSTRAP, LeftOut
from holdrank.words.nouns import noun_of
from holdrank.words.numbers import number, percent, span
from holdrank.words.pictures import compared
from holdrank.words.prices import CANNOT_BREAK, NOT_KNOWN, Price, price, to_decide
from holdrank.words.ratings import rating_texts
from holdrank.words.remarks import MARK, tied_by_chance, tied_by_chance_text, without_ties_text

FIRST_ROWS = 10  # shown until the reader asks for all
_WIDE = 0.8  # a mean reach of this share of all places says nothing
_NEVER = 1e15  # votes; sorts what cannot be broken last
_UNKNOWN = "–"
_FEW_PLACES = 4  # items whose whole reach is drawn all the same


class Column(NamedTuple):
    """A column of the board: its key, which is a class of its cells, its heading, and whether it holds numbers."""

    key: str
    title: str
    numbers: bool = True


class Cell(NamedTuple):
    """A cell: its text, what it is sorted by (None comes last), and a remark that is shown as a tooltip."""

    text: str
    value: float | None = None
    remark: str = ""


def board(record: Record) -> Record:
    """Return the columns and rows of the board, with its caption, its legend, and notes below it."""
    drawn, reach = shown_chance(record), shown_reach(record)
    rungs, level = ladder_of(record), set(tied_by_chance(record))
    tied = any(len(rung.items) > 1 for rung in rungs)
    known: list[tuple[Column, list[Cell]]] = [
        *_rated(record),
        *([] if drawn is None else [(Column("chance", "By chance"), _spans(drawn["best"], drawn["worst"]))]),
        *([] if reach is None else [(Column("within", "Within reach"), _spans(reach["best"], reach["worst"]))]),
        *_overtaken(record),
        *_compared(record),
    ]
    with_bars = drawn is not None or reach is not None
    columns = [Column("tier", "Tier")] * tied + [Column("rank", "Rank"), Column("item", "Item", numbers=False)]
    columns += [column for column, _ in known if column.key == "rating"]
    columns += [Column("places", "Places", numbers=False)] * with_bars
    columns += [column for column, _ in known if column.key != "rating"]
    rows, place = [], 0
    for k, rung in enumerate(rungs):
        for item in rung.items:
            place += 1
            cells = {column.key: column_cells[item] for column, column_cells in known}
            cells["rank"] = Cell(f"{rung.first}", place)
            cells["tier"] = Cell(f"{k + 1}", k + 1)
            rows.append(
                {
                    "item": item,
                    "opens": item == rung.items[0],
                    "odd": k % 2 == 1,
                    "mark": MARK if item in level else "",
                    "cells": cells,
                    "bar": bar(record, item, place, drawn, reach) if with_bars else "",
                }
            )
    return {
        "columns": columns,
        "rows": rows,
        "first": FIRST_ROWS,
        "at_gaps": not record.get("races"),
        "caption": words.board_caption(record),
        "legend": _legend(record, drawn, reach),
        "notes": _notes(record, drawn, reach),
        "ends": span(1, len(rows)),
        "last": len(rows),
    }


def shown_chance(record: Record) -> Record | None:
    """Return the best and worst places by chance: those that hold for all items at once, where these say anything.

    Else those of the bootstrap, item by item; None where neither says anything.
    """
    chance, drawn = record.get("chance"), record["bootstrap"]
    if len(record["items"]) < 2:
        return None
    known = drawn if drawn is not None and drawn["draws"] >= LEAST_DRAWS else None
    if chance is None or _is_wide(chance["lower"], chance["upper"]):
        return known
    return {"best": chance["lower"], "worst": chance["upper"], "all": chance["level"]}


def shown_reach(record: Record) -> Record | None:
    """Return the places within reach; None where nearly everybody may get nearly everywhere."""
    reach: Record | None = record["reach"]
    n = len(record["items"])
    if reach is None or n < 2:
        return None
    return None if _is_wide(reach["best"], reach["worst"]) else reach


def _is_wide(best: list[float], worst: list[float]) -> bool:
    """Whether nearly all places are left to nearly all items, which says nothing."""
    n = len(best)
    mean = sum(high - low for low, high in zip(best, worst, strict=True)) / n / (n - 1)
    return n > _FEW_PLACES and mean >= _WIDE


def _spans(best: list[float], worst: list[float]) -> list[Cell]:
    return [Cell(span(a, b), a + b / 1000) for a, b in zip(best, worst, strict=True)]


def _rated(record: Record) -> list[tuple[Column, list[Cell]]]:
    """Return the column of ratings with their intervals; of shares of comparisons won, where there are none."""
    found, n = record.get("ratings"), len(record["items"])
    if found is None:
        rates = win_rates(record)
        if n < 2 or any(math.isnan(rate) for rate in rates):
            return []
        return [(Column("rating", "Win rate"), [Cell(percent(round(rate, 3)), rate) for rate in rates])]
    cells = []
    for item in range(n):
        ends = [math.nan if found[name][item] is None else found[name][item] for name in ("values", "lower", "upper")]
        rating, interval = rating_texts(*ends)
        remark = "" if interval in ("–", "fixed") else f"{percent(found['level'])} interval {interval}"
        half = "" if not remark else f" ± {(ends[2] - ends[1]) / 2:.0f}"
        cells.append(Cell(rating + half, found["values"][item], remark))
    return [(Column("rating", "Rating"), cells)]


def win_rates(record: Record) -> list[float]:
    """Return for each item the share of all comparisons with others that it wins; a tie counts half."""
    order, share, n = record["consensus"]["order"], record["pairs"]["share"], len(record["items"])
    rates = [math.nan] * n
    for i, item in enumerate(order):
        weights = [compared(record, i, j) if i != j else 0.0 for j in range(n)]
        if sum(weights) > 0:
            won = (weight * share[i][j] for j, weight in enumerate(weights) if weight)
            rates[item] = math.fsum(won) / math.fsum(weights)
    return rates


def _overtaken(record: Record) -> list[tuple[Column, list[Cell]]]:
    """Return what it takes for the next item to overtake, or what breaks the gap below a tier; nothing if unknown."""
    votes, order, n = record["votes"], record["consensus"]["order"], len(record["items"])
    unit = f"{noun_of(votes)}s".capitalize()
    races = record.get("races")
    if races:
        known = {item: (race, price(race, votes)) for item, race in zip(order, races, strict=False)}
        title = words.overtaken_heading(unit)
    else:
        ends = [rung.items[-1] for rung in ladder_of(record)[:-1]]
        known = {item: (gap, price(gap, votes)) for item, gap in zip(ends, record["gaps"], strict=False)}
        title = words.line_heading(unit)
    cells = [_price_cell(*known.get(item, (None, None))) for item in range(n)]
    return [(Column("overtake", title), cells)] if any(cell.text not in ("", _UNKNOWN) for cell in cells) else []


def _price_cell(found: Record | None, cost: Price | None) -> Cell:
    if found is None:
        return Cell("")
    if cost is None:
        return Cell(_UNKNOWN, None, NOT_KNOWN)
    if cost.amount == CANNOT_BREAK:
        return Cell("never", _NEVER, CANNOT_BREAK)
    least = to_decide(found)
    if found["sufficient"] is None and least is not None and least <= 1:  # one vote is always needed
        return Cell(_UNKNOWN, None, NOT_KNOWN)
    value = least if least is not None else found["lower"]
    return Cell(cost.amount, value, str(cost))


def _compared(record: Record) -> list[tuple[Column, list[Cell]]]:
    """Return how many battles each item fought; nothing where votes are not battles, or all fought equally many."""
    noun, n = noun_of(record["votes"]), len(record["items"])
    if noun not in ("battle", "game") or len(record["pairs"]["compared"]) < n:
        return []
    counts = [0.0] * n
    for i, item in enumerate(record["consensus"]["order"]):
        counts[item] = round(math.fsum(compared(record, i, j) for j in range(n) if i != j), 6)
    return [(Column("battles", f"{noun}s".capitalize()), [Cell(number(count), count) for count in counts])]


def bar(record: Record, item: int, place: int, drawn: Record | None, reach: Record | None) -> str:
    """Return the places of an item as a bar without words: lengths are in percent, so that it fits any width."""
    n = len(record["items"])

    def at(where: float) -> str:
        return digits(100 * (where - 1) / (n - 1)) + "%"

    parts = []
    if reach is not None:
        for low, high, look in (("best", "worst", "reach"), ("shown_best", "shown_worst", "shown")):
            parts.append(f'<line class="{look}" x1="{at(reach[low][item])}" x2="{at(reach[high][item])}"/>')
    if drawn is not None:
        parts.append(f'<line class="noise" x1="{at(drawn["best"][item])}" x2="{at(drawn["worst"][item])}"/>')
    parts.append(f'<circle class="dot" cx="{at(place)}" r="3.5"/>')
    return f'<svg class="extent" aria-hidden="true">{"".join(parts)}</svg>'


def _legend(record: Record, drawn: Record | None, reach: Record | None) -> list[tuple[str, str]]:
    """Return the signs of the bars and what they mean."""
    if drawn is None and reach is None:
        return []
    found = [("dot", f"place{' without tiers' * (record['tiers'] is not None)}")]
    found += [] if drawn is None else [("noise", words.chance_legend(drawn))]
    found += [] if reach is None else [("reach", words.reach_legend(record))]
    return found


def _notes(record: Record, drawn: Record | None, reach: Record | None) -> list[str]:
    """Return what bars and marks mean and how the ranking came about, a line each."""
    if len(record["items"]) < 2:
        return []
    within = "" if reach is None else without_ties_text(record)
    chance, alone = record.get("chance"), drawn is not None and "all" not in drawn
    level = tied_by_chance_text(record, alone=alone)
    wide = chance is not None and _is_wide(chance["lower"], chance["upper"])
    said = drawn is not None and bool(level)
    anywhere = words.anywhere_text(chance, alone=alone) if chance is not None and wide and not said else ""
    asked = words.price_note(record) if _overtaken(record) else ""
    return [line for line in (level, anywhere, asked, within, words.how_ranked(record)) if line]


def left_out(record: Record) -> list[LeftOut]:
    """Return which columns the board leaves out."""
    if len(record["items"]) < 2:
        return []
    found = []
    unknown = shown_chance(record) is None and not record.get("chance")
    if unknown and record["votes"]["counts"] and record["spec"]["draws"]:
        found.append(LeftOut("places by chance", NO_BOOTSTRAP))
    if shown_reach(record) is None:
        found.append(LeftOut("reach", words.no_reach_text(record)))
    return found
