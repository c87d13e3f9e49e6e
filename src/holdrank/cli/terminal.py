"""An analysis in the terminal: headline, ladder, places, pairs, breakdown and attack as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.printing import line_width, shows
from holdrank.errors import show

if TYPE_CHECKING:
    from holdrank.analysis.result import Analysis

_NAME = 36  # columns for a name
_BAR = 36
_MOST_IN_HEATMAP = 30  # items; more do not fit a line
_MOST_ROWS = 60  # of places
_BALLOTS = 8
_NEVER, _UNKNOWN = "cannot be broken", "not known"


def print_analysis(analysis: Analysis) -> None:
    """Print an analysis for people who stay in the terminal."""
    record = analysis.record
    click.secho(record["headline"], bold=True)
    for title, lines in (
        ("Tiers" if record["tiers"] else "Ranking", _ladder(record)),
        ("Places", _ranges(record)),
        ("Pairs: share of the votes that prefer the row", _heatmap(record)),
        ("Breakdown: votes that must change to move so many pairs", _curves(record)),
        ("Cut", _cut(record)),
        ("Claims", _claims(record)),
        ("The least attack", _attack(record)),
        ("Not finished", _open_steps(record)),
    ):
        if lines:
            click.echo()
            click.secho(title, bold=True)
            for line in lines:
                click.echo(line.rstrip())


def votes_words(found: dict[str, Any], counts: bool) -> str:
    """Return what is known about a number of votes, or a share of them: ``11``, ``9 to 14``, ``at least 9``."""
    from holdrank.views.svg.words import to_decide
    from holdrank.words.numbers import number, percent

    low, high = (to_decide(found), found["sufficient"]) if counts else (found["lower"], found["upper"])
    if found["lower"] is None:
        return _NEVER

    def text(amount: float) -> str:
        return number(amount) if counts else percent(amount)

    if high is None:
        return f"at least {text(low)}" if low else _UNKNOWN
    if low == high:
        return text(high)
    return f"{text(low)} to {text(high)}" if low else f"at most {text(high)}"


def glyphs(unicode: str, plain: str) -> str:
    """Return the characters that the terminal can show."""
    return unicode if shows(unicode) else plain


def _amount(found: dict[str, Any], record: dict[str, Any]) -> str:
    """Return what is known about a number of votes, and of how many: ``9 to 14 of 100 votes``."""
    from holdrank.words.numbers import number

    votes = record["votes"]
    words = votes_words(found, votes["counts"])
    if words in (_NEVER, _UNKNOWN):
        return words
    return f"{words} of {number(votes['total'])} votes" if votes["counts"] else f"{words} of the votes"


def _ladder(record: dict[str, Any]) -> list[str]:
    from holdrank.views.svg.words import spans, tiers_of

    tiers = tiers_of(record)
    dash, dot, rule = tuple(glyphs("–·┄", "-,."))
    lines = []
    room = max(line_width() - 10, 30)
    for number, (tier, places) in enumerate(zip(tiers, spans(tiers), strict=True)):
        place = places.replace("–", dash)
        rows = [""]
        for item in tier:
            name = show(record["items"][item], _NAME)
            if rows[-1] and len(rows[-1]) + 3 + len(name) > room:
                rows.append("")
            rows[-1] += f" {dot} {name}" if rows[-1] else name
        lines += [f"{place if row == 0 else '':>7}  {text}" for row, text in enumerate(rows)]
        gap = record["gaps"][number] if number < len(record["gaps"]) else None
        if gap is not None and number + 1 < len(tiers):
            lines.append(f"{'':>7}  {rule * 3} {_amount(gap, record)}" if gap["known"] else "")
    return lines


def _ranges(record: dict[str, Any]) -> list[str]:
    drawn, reach = record["bootstrap"], record["reach"]
    if drawn is None and reach is None:
        return []
    order = record["consensus"]["order"]
    n = len(order)
    width = max(len(show(record["items"][item], _NAME)) for item in order)
    room = min(max(line_width() - width - 34, 10), 60)
    pale, thin, point = tuple(glyphs("░─●", ".-o"))

    def at(place: float) -> int:
        return round((place - 1) / max(n - 1, 1) * (room - 1))

    lines = []
    for place, item in enumerate(order[:_MOST_ROWS], start=1):
        cells = [" "] * room
        words = []
        if reach is not None:
            low, high = reach["best"][item], reach["worst"][item]
            cells[at(low) : at(high) + 1] = pale * (at(high) - at(low) + 1)
            words.append(f"attack {_span(low, high)}")
        if drawn is not None:
            low, high = drawn["best"][item], drawn["worst"][item]
            cells[at(low) : at(high) + 1] = thin * (at(high) - at(low) + 1)
            words.insert(0, f"chance {_span(low, high)}")
        cells[at(place)] = point
        lines.append(f"{show(record['items'][item], _NAME):<{width}}  {''.join(cells)}  {place:>3}  {', '.join(words)}")
    if n > _MOST_ROWS:
        lines.append(f"and {n - _MOST_ROWS} more items")
    told = []
    if drawn is not None:
        told.append(f"chance: {100 * drawn['level']:.3g} % of {drawn['draws']:,} draws of the votes")
    if reach is not None:
        budget = f"{reach['votes']:,.0f} votes" if reach["votes"] is not None else f"{100 * reach['budget']:.3g} %"
        told.append(f"attack: places not excluded for {budget} changed")
    return [*lines, "; ".join(told)]


def _span(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _heatmap(record: dict[str, Any]) -> list[str]:
    shares, order = record["pairs"]["share"], record["consensus"]["order"]
    if not 1 < len(order) <= _MOST_IN_HEATMAP:
        return []
    shades = glyphs(" ░▒▓█", " .:+#")
    width = min(max(len(show(record["items"][item], _NAME)) for item in order), _NAME)
    lines = [f"{'':<{width}}      " + "".join(f"{place:>2}" for place in range(1, len(order) + 1))]
    for place, (item, row) in enumerate(zip(order, shares, strict=True), start=1):
        cells = "".join(
            " \\" if place == column else shades[min(int(share * 5), 4)] * 2
            for column, share in enumerate(row, start=1)
        )
        lines.append(f"{show(record['items'][item], _NAME):<{width}}  {place:>3} {cells}")
    return lines


def _curves(record: dict[str, Any]) -> list[str]:
    n = len(record["items"])
    pairs = n * (n - 1) // 2
    full, light = tuple(glyphs("█░", "#-"))
    lines = []
    counts = record["votes"]["counts"]
    known = [x for curve in record["curves"] for x in (*curve["upper"], *curve["lower"]) if x is not None]
    longest = max(known, default=0.0)
    for curve in record["curves"]:
        lines.append(f"{show(curve['statistic'], 60)}: {curve['status']}")
        columns = ("delta", "lower", "upper", "needed", "decides", "sufficient")
        last: dict[str, Any] = {}
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
            lines.append(f"{flips:>7} pair{'s' * (flips != 1):<1}  {bar:<{_BAR}}  {votes_words(found, counts)}")
    return lines


def _cut(record: dict[str, Any]) -> list[str]:
    cut = record["cut"]
    if cut is None:
        return []
    lines = [f"the first {cut['k']} of the ranking without ties, against {100 * cut['budget']:.3g} % of the votes"]
    groups: dict[str, list[dict[str, Any]]] = {"safely in": [], "undecided": [], "safely out": []}
    for row in cut["items"]:
        groups["undecided" if not row["safe"] else "safely in" if row["inside"] else "safely out"].append(row)
    for title, rows in groups.items():
        lines.append(f"{title}: {len(rows)}")
        lines += [
            f"  {show(record['items'][row['item']], _NAME)}  ({_amount(row, record)})" for row in rows[:_MOST_ROWS]
        ]
    return lines


def _claims(record: dict[str, Any]) -> list[str]:
    return [
        f"{show(row['claim'], 200)}: " + (row["attack"]["text"] if row["holds"] and row["attack"] else "does not hold")
        for row in record["claims"]
    ]


def _attack(record: dict[str, Any]) -> list[str]:
    from holdrank.attacks.results import ballot_text
    from holdrank.words.numbers import number

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
            lines.append(f"{'':>9}  and {part['kinds'] - _BALLOTS} more kinds of ballots")
    return lines


def _open_steps(record: dict[str, Any]) -> list[str]:
    return [f"{step['name']}: {show(step['note'], 300)}" for step in record["steps"] if step["state"] != "done"]
