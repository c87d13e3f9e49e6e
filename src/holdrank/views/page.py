"""The text of the page of a report: templates only lay it out and escape it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from holdrank.analysis.records import Record
from holdrank.errors import show
from holdrank.status import LEAST_DRAWS
from holdrank.views import standings
from holdrank.views.alternatives import optima_table, others_table, removal_table
from holdrank.views.svg import PICTURES
from holdrank.words.banners import banners, cut_short, file_name
from holdrank.words.chance import neighbours_text
from holdrank.words.facts import caption_text, claim_cells, column_words, consensus_text, key_numbers, tier_rule_text
from holdrank.words.headlines import FIRM_MEANS, subline, then_text
from holdrank.words.ladders import ladder_of
from holdrank.words.misleading import in_brief
from holdrank.words.missing import HEADING, LeftOut, reasons, untested
from holdrank.words.names import chosen_text, curve_name, named
from holdrank.words.nouns import noun_of
from holdrank.words.numbers import number, percent, plural, span
from holdrank.words.pictures import concerns, left_out
from holdrank.words.prices import NOT_KNOWN, budget_text, price, price_text
from holdrank.words.ratings import ALONE, rating_points, rating_texts, scale_text
from holdrank.words.remarks import never_met_text, other_winners_text
from holdrank.words.standings import about_text, chance_phrase
from holdrank.words.tradeoffs import unknown_thresholds
from holdrank.words.voters import deciding_text, lead_caption

LONGEST_TEXT = 600  # characters of a note or a sentence
_MOST_KINDS = 10  # of ballots to change that are shown
_MOST_LISTED = 10  # items of a ballot that are shown
_SIDE_BY_SIDE = 12  # items of a list at the cut; longer ones stand below each other
_LARGE = 16  # items; pictures of more have a row of the page for themselves
_MOST_FIRST = 6  # items with a share of first places that are shown
_PAPER = (
    "M. Goibert, C. Calauzènes, E. Irurozki, S. Clémençon. Robust Consensus in Ranking Data Analysis: Definitions, "
    "Properties and Computational Issues. Proceedings of the 40th International Conference on Machine Learning, 2023."
)


def page_view(record: Record) -> dict[str, Any]:
    """Return the text of the page, not yet escaped."""
    votes, drawn, reach = record["votes"], standings.shown_chance(record), record["reach"]
    pictures = [picture for picture in PICTURES if concerns(picture.name, record)]
    missing = _left_out(record)
    shown = [picture for picture in pictures if picture.name != "ranges" and not left_out(picture.name, record)]
    return {
        "record": record,
        "votes": votes,
        "source": file_name(votes["source"]) or "votes",
        "headline": show(record["headline"], LONGEST_TEXT),
        "subline": show(subline(record), LONGEST_TEXT),
        "about": about_text(record),
        "banners": banners(record),
        "remarks": _remarks(record),
        "tier_rule": tier_rule_text(record),
        "board": standings.board(record),
        "numbers": key_numbers(record),
        "reading": _reading(record),
        "notes": [show(note, LONGEST_TEXT) for note in votes["notes"]],
        "tiers": _tier_rows(record),
        "caption": caption_text(record),
        **column_words(record),
        "with_chance": drawn is not None,
        "with_reach": reach is not None,
        "wide_reach": reach is not None and any(reach[end] != reach[f"shown_{end}"] for end in ("best", "worst")),
        "chance_words": "" if drawn is None else chance_phrase(drawn),
        "budget_words": "" if reach is None else budget_text(reach["budget"], reach["votes"], noun_of(votes)),
        "shown": shown,
        "wide": _wide([picture.name for picture in shown], len(record["items"])),
        "missing": HEADING if missing else "",
        "left_out": reasons(missing),
        "firm_means": FIRM_MEANS,
        "chance": _chance(record),
        "chance_of_others": _chance_of_others(record),
        "both": _both(record),
        "claims": [claim_cells(row, votes) for row in record["claims"]],
        "cut": _cut(record),
        "attack": attack_tables(record),
        "ratings": rating_table(record),
        "voters": voter_table(record),
        "removals": removal_table(record),
        "optima": optima_table(record),
        "audit": in_brief(record),
        "others": others_table(record),
        "consensus": consensus_text(record),
        "steps": record["steps"],
        "unfinished": [step for step in record["steps"] if step["state"] != "done"],
        "paper": _PAPER,
        "citation": f"The holdrank developers. holdrank, version {record['version']}.",
        "certificate": _certificate(record),
    }


def _wide(names: Sequence[str], items: int) -> set[str]:
    """Return the pictures that have a row of the page for themselves: large ones, and whichever would be left over."""
    large = {"ladder", "attack"} | ({"heatmap", "critical_difference"} if items > _LARGE else set())
    found = set(large)
    for is_large, run in groupby(names, key=large.__contains__):
        row = list(run)
        if not is_large and len(row) % 2:
            found.add(row[-1])
    return found


def _remarks(record: Record) -> list[tuple[str, str, str]]:
    """Return (text, anchor, text of the link) for the remarks below the headline."""
    found = [
        (show(other_winners_text(record), LONGEST_TEXT), "rules", "Compare"),
        (show(never_met_text(record), LONGEST_TEXT), "heatmap", "Pairs"),
    ]
    return [remark for remark in found if remark[0]]


def _left_out(record: Record) -> list[LeftOut]:
    """Return everything that the page leaves out, with the reasons; empty for a single item."""
    if len(record["items"]) < 2:
        return []
    about = [picture for picture in PICTURES if concerns(picture.name, record)]
    found = [LeftOut(one.heading.lower(), why) for one in about if (why := left_out(one.name, record))]
    found += [*standings.left_out(record), *unknown_thresholds(record), *untested(record)]
    return [*cut_short(record, {part.what for part in found}), *found]


def _reading(record: Record) -> list[tuple[str, str, bool]]:
    """Return (name, value, whether it is a hash) for every fact about how the votes were read."""
    votes = record["votes"]
    rows = [("source", file_name(votes["source"]) or "memory", False)]
    if votes["format"] and "form" not in votes["choices"]:
        rows.append(("form", show(votes["format"]), False))
    many = number(votes["total"]) if votes["counts"] else "shares"
    rows.append((f"{noun_of(votes)}s", f"{many}, {votes['distinct']:,} distinct", False))
    rows.append(("with ties", number(votes["with_ties"]), False))
    rows.append(("incomplete", number(votes["incomplete"]), False))
    rows += [(show(name), show(value, 200), False) for name, value in votes["choices"].items()]
    return rows


def _tier_rows(record: Record) -> list[Record]:
    """Return the tiers with a row for each item; the last row of a tier has the votes that break the gap below."""
    names = record["items"]
    drawn, reach = standings.shown_chance(record), record["reach"]
    place = {item: k + 1 for k, item in enumerate(record["consensus"]["order"])}
    found = []
    for k, rung in enumerate(ladder_of(record)):
        rows = [
            {
                "item": item,
                "name": named(names[item]),
                "place": place[item],
                "gap": str(rung.gap) if rung.gap is not None else None,
                "chance": "" if drawn is None else span(drawn["best"][item], drawn["worst"][item]),
                "reach": "" if reach is None else span(reach["shown_best"][item], reach["shown_worst"][item]),
                "possible": "" if reach is None else span(reach["best"][item], reach["worst"][item]),
            }
            for item in rung.items
        ]
        found.append({"number": k + 1, "places": rung.places, "rows": rows})
    return found


def _chance(record: Record) -> list[tuple[int, str]]:
    """Return (item, share of draws in which it is first), the largest first."""
    drawn = record["bootstrap"]
    if drawn is None or drawn["draws"] < LEAST_DRAWS:
        return []
    first = sorted(enumerate(drawn["first"]), key=lambda pair: -pair[1])
    found = [(item, percent(share)) for item, share in first[:_MOST_FIRST] if share > 0]
    return found if len(found) > 1 else []  # the line below the headline says who is always first


def _chance_of_others(record: Record) -> tuple[str, str] | None:
    """Return how many further items are first in some draws, and in which share together; None for none."""
    drawn = record["bootstrap"]
    rest = sorted(drawn["first"], reverse=True)[_MOST_FIRST:] if _chance(record) else []
    many = sum(share > 0 for share in rest)
    return (plural(many, "other item"), percent(sum(rest))) if many else None


def _both(record: Record) -> str:
    """Return the effect of chance and the adversary's number, then how many neighbours are separated; or nothing."""
    found = record.get("chance")
    if found is None:
        return ""
    apart = neighbours_text(sum(found["neighbours"]), len(found["neighbours"]), found["level"])
    return f"{show(found['text'], LONGEST_TEXT)} {apart}"


def _cut(record: Record) -> Record | None:
    found = record["cut"]
    if found is None:
        return None
    rows: dict[str, list[tuple[int, str]]] = {"in": [], "open": [], "out": []}
    for row in found["items"]:
        where = "open" if not row["safe"] else "in" if row["inside"] else "out"
        rows[where].append((row["item"], price_text(row, record["votes"])))
    votes, share = record["votes"], found["budget"]
    budget = budget_text(share, share * votes["total"] if votes["counts"] else None, noun_of(votes))
    long = max(map(len, rows.values())) > _SIDE_BY_SIDE
    return {"k": found["k"], "budget": budget, "long": long, **rows}


def attack_tables(record: Record) -> Record | None:
    """Return the ballots of the headline's attack as rows of two tables; None where there is no attack."""
    found = record["attack"]
    if found is None:
        return None
    noun = noun_of(record["votes"])
    unit = f"{noun}s" if found["whole"] else "share" if not record["votes"]["counts"] else f"{noun}s, in part"
    what = "Ballots" if noun == "vote" else f"{noun}s".capitalize()
    instead = " instead" * bool(found["removed"]["listed"])
    tables = []
    for side, caption in (("removed", f"{what} to remove"), ("added", f"{what} to add{instead}")):
        part = found[side]
        shown = part["listed"][:_MOST_KINDS]
        ballots = [(number(float(f"{one['weight']:.6g}")), _ballot(one["ranks"])) for one in shown]
        if noun in ("battle", "game"):  # which obviously does not compare other items
            ballots = [(weight, {**ballot, "unlisted": 0}) for weight, ballot in ballots]
        more = part["kinds"] - len(shown)
        tables.append(
            {"caption": caption, "ballots": ballots, "more": plural(more, "more distinct ballot") if more else ""}
        )
    return {
        "text": show(found["text"], LONGEST_TEXT),
        "then": show(then_text(record), LONGEST_TEXT),
        "settled": found["sufficient"] is not None and found["decides"] == found["sufficient"],
        "statistic": curve_name(found["rule"], found["theta"]),
        "status": found["status"],
        "notes": [show(note, LONGEST_TEXT) for note in found["notes"]],
        "tables": [table for table in tables if table["ballots"]],
        "unit": unit,
        "heading": f"{what} to change",
    }


def _ballot(ranks: Sequence[int]) -> Record:
    """Return a ballot as groups of tied items, best first; 0 is unlisted."""
    placed = sorted((rank, item) for item, rank in enumerate(ranks) if rank > 0)
    groups = [[item for _, item in group] for _, group in groupby(placed[:_MOST_LISTED], key=lambda pair: pair[0])]
    return {"groups": groups, "more": len(placed) - min(len(placed), _MOST_LISTED), "unlisted": ranks.count(0)}


def rating_table(record: Record) -> Record | None:
    """Return the ratings in the order of the consensus, as text; None for a rule that gives none."""
    found = record.get("ratings")
    if found is None:
        return None
    rows = []
    races = record.get("races") or []
    prices = [str(price(race, record["votes"]) or NOT_KNOWN) for race in races]
    for place, item in enumerate(record["consensus"]["order"], start=1):
        value, lower, upper = (_number(found[name][item]) for name in ("values", "lower", "upper"))
        error = found["errors"][item]
        rating, interval = rating_texts(value, lower, upper)
        spread = "–" if error is None else f"{error:.1f}"
        overtaken = prices[place - 1] if place <= len(prices) else ""
        rows.append((place, item, rating, interval, spread, number(round(found["comparisons"][item], 6)), overtaken))
    return {
        "rows": rows,
        "with_races": bool(races),
        "interval": f"{percent(found['level'])} interval",
        "alone": ALONE.format(percent(found["level"])),
        "scale": scale_text(found["scale"], found["base"], found["offset"]),
        "notes": [show(note, LONGEST_TEXT) for note in found["notes"]],
    }


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def voter_table(record: Record) -> Record | None:
    """Return the voters who matter most for the first place, as text; None where battles do not name their voters."""
    found = record.get("voters")
    if found is None:
        return None
    above, below = (record["items"][item] for item in found["race"])
    points = rating_points(record["ratings"])
    rows = [
        (
            show(row["voter"], 60),
            number(row["battles"]),
            f"{points * row['effect']:+.3g}",
            f"{points * row['lead_without']:+.3g}",
            "changes" if row["new_winner"] else "stays",
        )
        for row in found["voters"]
    ]
    return {
        "caption": lead_caption(found["lead"] * points, above, below, found["number"] - len(rows)),
        "text": " ".join(
            [
                deciding_text(found["deciding"], found["number"], above, below),
                *(show(one["text"], LONGEST_TEXT) for one in found["attacks"]),
            ]
        ),
        "rows": rows,
    }


def _certificate(record: Record) -> list[tuple[str, str, bool]]:
    """Return (name, value, whether it is a hash): everything needed to repeat the computation."""
    votes, spec = record["votes"], record["spec"]
    rows = [("program", f"holdrank {record['version']}", False), ("record", record["schema"], False)]
    rows += [("file, sha256", votes["sha256"], True)] * bool(votes["sha256"])
    rows += [("votes, hash", votes["input_hash"], True)]
    for name, value in spec.items():
        if value is None or value == []:
            continue
        text = ", ".join(show(claim, 200) for claim in value) if name == "claims" else _plain(value)
        if name == "rule" and value == "auto":
            text = f"auto: {chosen_text(record['consensus']['rule'])}"
        rows.append((name.replace("_", " "), text or "none", False))
    return rows


def _plain(value: object) -> str:
    return "none" if value is None else show(str(value), 200)
