"""An analysis in the terminal: headline, ladder, places, pairs, breakdown and attack as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from holdrank.cli.printing import line_width, shows
from holdrank.errors import show
from holdrank.words.cuts import cut_lists, cut_text
from holdrank.words.headlines import subline
from holdrank.words.ladders import ladder_of
from holdrank.words.misleading import in_brief
from holdrank.words.names import ballot_text, curve_name
from holdrank.words.nouns import noun_of
from holdrank.words.numbers import number, plural, span
from holdrank.words.pictures import concerns, critical_difference_text, left_out
from holdrank.words.prices import NOT_KNOWN, budget_text, price, price_text
from holdrank.words.remarks import other_winners_text
from holdrank.words.standings import chance_phrase

if TYPE_CHECKING:
    from holdrank.analysis.result import Analysis

Record: TypeAlias = dict[str, Any]

_NAME = 36  # columns for a name
_BAR = 36
_MOST_IN_HEATMAP = 30  # items; more do not fit a line
_MOST_ROWS = 60  # of places
_BALLOTS = 8


def print_analysis(analysis: Analysis) -> None:
    """Print an analysis as text."""
    record = analysis.record
    unit = f"{noun_of(record['votes'])}s"
    click.secho(record["headline"], bold=True)
    for line in filter(None, (subline(record), other_winners_text(record))):
        click.echo(line)
    for title, lines in (
        ("Tiers" if record["tiers"] else "Ranking", _ladder(record)),
        ("Places", _ranges(record)),
        ("Mean ranks", _mean_ranks(record)),
        (f"Pairs: share of the {unit} that prefer the row", _heatmap(record)),
        (f"Breakdown: {unit} that must change to move this many pairs", _curves(record)),
        ("Cut", _cut(record)),
        ("Claims", _claims(record)),
        ("The smallest attack", _attack(record)),
        ("What could mislead", _audit(record)),
        ("Not finished", _open_steps(record)),
    ):
        if lines:
            click.echo()
            click.secho(title, bold=True)
            for line in lines:
                click.echo(line.rstrip())


def glyphs(unicode: str, plain: str) -> str:
    """Return the characters that the terminal can show."""
    return unicode if shows(unicode) else plain


def _ladder(record: Record) -> list[str]:
    dash, dot, rule = tuple(glyphs("–·┄", "-,."))
    lines = []
    room = max(line_width() - 10, 30)
    for rung in ladder_of(record):
        rows = [""]
        for item in rung.items:
            name = show(record["items"][item], _NAME)
            if rows[-1] and len(rows[-1]) + 3 + len(name) > room:
                rows.append("")
            rows[-1] += f" {dot} {name}" if rows[-1] else name
        place = span(rung.first, rung.last, dash)
        lines += [f"{place if row == 0 else '':>7}  {text}" for row, text in enumerate(rows)]
        if rung.gap is not None:
            lines.append(f"{'':>7}  {rule * 3} {rung.gap}")
    return lines


def _ranges(record: Record) -> list[str]:
    from holdrank.views.standings import shown_chance

    drawn, reach = shown_chance(record), record["reach"]
    if drawn is None and reach is None:
        return []
    order = record["consensus"]["order"]
    n = len(order)
    width = max(len(show(record["items"][item], _NAME)) for item in order)
    room = min(max(line_width() - width - 34, 10), 60)
    pale, thin, point, dash = tuple(glyphs("░─●–", ".-o-"))

    def at(place: float) -> int:
        return round((place - 1) / max(n - 1, 1) * (room - 1))

    lines = []
    for place, item in enumerate(order[:_MOST_ROWS], start=1):
        cells = [" "] * room
        words = []
        if reach is not None:
            low, high = reach["best"][item], reach["worst"][item]
            cells[at(low) : at(high) + 1] = pale * (at(high) - at(low) + 1)
            words.append(f"attack {span(low, high, dash)}")
        if drawn is not None:
            low, high = drawn["best"][item], drawn["worst"][item]
            cells[at(low) : at(high) + 1] = thin * (at(high) - at(low) + 1)
            words.insert(0, f"chance {span(low, high, dash)}")
        cells[at(place)] = point
        lines.append(f"{show(record['items'][item], _NAME):<{width}}  {''.join(cells)}  {place:>3}  {', '.join(words)}")
    if n > _MOST_ROWS:
        lines.append(f"and {n - _MOST_ROWS} more items")
    told = []
    if drawn is not None:
        told.append(f"chance: {chance_phrase(drawn)}")
    if reach is not None:
        budget = budget_text(reach["budget"], reach["votes"], noun_of(record["votes"]))
        told.append(f"attack: places not ruled out when changing {budget}")
    return [*lines, "; ".join(told)]


def _mean_ranks(record: Record) -> list[str]:
    """Return the critical-difference diagram of a score table as text."""
    worth = concerns("critical_difference", record) and not left_out("critical_difference", record)
    return critical_difference_text(record).splitlines() if worth else []


def _audit(record: Record) -> list[str]:
    found = in_brief(record)
    if found is None:
        return []
    rows = [
        f"{title}: {text}" + f" Chosen by an adversary, {price}." * bool(price)
        for title, text, price, _ in found["rows"]
    ]
    return [found["text"], *rows, f"every probe with its interval: {found['command']}"]


def _heatmap(record: Record) -> list[str]:
    shares, order = record["pairs"]["share"], record["consensus"]["order"]
    if not 1 < len(order) <= _MOST_IN_HEATMAP:
        return []
    shades = glyphs(" ░▒▓█", " .:+#")
    width = min(max(len(show(record["items"][item], _NAME)) for item in order), _NAME)
    # A column has two characters: numbers of two digits would run into each other.
    few = len(order) < 10
    marks = (place if few or place == 1 or place % 5 == 0 else "" for place in range(1, len(order) + 1))
    lines = [f"{'':<{width}}      " + "".join(f"{place:>2}" for place in marks)]
    for place, (item, row) in enumerate(zip(order, shares, strict=True), start=1):
        cells = "".join(
            " \\" if place == column else shades[min(int(share * 5), 4)] * 2
            for column, share in enumerate(row, start=1)
        )
        lines.append(f"{show(record['items'][item], _NAME):<{width}}  {place:>3} {cells}")
    return lines


def _curves(record: Record) -> list[str]:
    n = len(record["items"])
    pairs = n * (n - 1) // 2
    full, light = tuple(glyphs("█░", "#-"))
    lines = []
    votes = record["votes"]
    known = [x for curve in record["curves"] for x in (*curve["upper"], *curve["lower"]) if x is not None]
    longest = max(known, default=0.0)
    for curve in record["curves"]:
        name = curve_name(curve["rule"], curve["theta"])
        lines.append(f"{glyphs(name, name.replace('θ', 'theta'))}: {curve['status']}")
        columns = ("delta", "lower", "upper", "needed", "decides", "sufficient")
        last: Record = {}
        for delta, *values in zip(*(curve[name] for name in columns), strict=True):
            found = dict(zip(columns[1:], values, strict=True))
            if found == last:  # only where the curve rises
                continue
            last = found
            low, high = found["lower"], found["upper"]
            bar = ""
            if low is not None and longest:
                ends = [
                    math.floor(min(x, longest) / longest * _BAR + 0.5) for x in (low, longest if high is None else high)
                ]
                bar = full * ends[0] + (light * (ends[1] - ends[0]) if high is not None else " ...")
            flips = math.ceil(delta * pairs - 1e-9)
            cost = price(found, votes)
            told = NOT_KNOWN if cost is None else cost.amount
            lines.append(f"{flips:>7} pair{'s' * (flips != 1):<1}  {bar:<{_BAR}}  {told}")
    return lines


def _cut(record: Record) -> list[str]:
    cut = record["cut"]
    if cut is None:
        return []
    votes = record["votes"]
    lines = [cut_text(cut, votes)]
    for title, rows in cut_lists(cut).items():
        lines.append(f"{title}: {len(rows)}")
        lines += [
            f"  {show(record['items'][row['item']], _NAME)}: {price_text(row, votes)}" for row in rows[:_MOST_ROWS]
        ]
    return lines


def _claims(record: Record) -> list[str]:
    return [
        f"{show(row['claim'], 200)}: " + (row["attack"]["text"] if row["holds"] and row["attack"] else "does not hold")
        for row in record["claims"]
    ]


def _attack(record: Record) -> list[str]:
    found = record["attack"]
    if found is None:
        return []
    lines = [found["text"]]
    for sign, part in (("-", found["removed"]), ("+", found["added"])):
        lines += [
            f"{sign}{number(ballot['weight']):>8}  {ballot_text(ballot['ranks'], record['items'], 24)}"
            for ballot in part["listed"][:_BALLOTS]
        ]
        if part["kinds"] > _BALLOTS:
            lines.append(f"{'':>9}  and {plural(part['kinds'] - _BALLOTS, 'more distinct ballot')}")
    return lines


def _open_steps(record: Record) -> list[str]:
    return [f"{step['name']}: {show(step['note'], 300)}" for step in record["steps"] if step["state"] != "done"]
