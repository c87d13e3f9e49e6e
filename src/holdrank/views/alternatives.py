"""Alternative rankings as tables: without an item, equally good ones, and those by other rules."""

from __future__ import annotations

from itertools import groupby

from holdrank.analysis.records import Record
from holdrank.words.names import in_text, listed, rule_name
from holdrank.words.numbers import plural, span
from holdrank.words.optima import certain_text, count_text, first_text, pairs_text
from holdrank.words.removals import caption_text, changes_text, flipped_pairs, flips_text, winner_text

_MOST_REMOVALS = 10  # that are shown
_MOST_GROUPS, _MOST_IN_GROUP = 40, 30  # of equally good rankings, and items of one, that are shown
_MOST_FIXED = 6  # items with certain places, one after the other, that are named


def removal_table(record: Record) -> Record | None:
    """Return the removals that change most, as text, and how many there are; None where none were tried."""
    found = record.get("removals")
    if found is None:
        return None
    names, before, each = record["items"], record["consensus"]["ranks"], found["each"]
    changing = [row for row in each if row["flipped"] or row["new_winner"]]
    changing.sort(key=lambda row: (not row["new_winner"], -row["flipped"]))
    rows = []
    for row in changing[:_MOST_REMOVALS]:
        first = [name for name, rank in zip(names, row["ranks"], strict=True) if rank == 1]
        flips = [(names[i], names[j]) for i, j in flipped_pairs(before, row["ranks"])]
        rows.append((row["item"], winner_text(first, row["new_winner"]), row["flipped"], flips_text(flips)))
    more = len(changing) - len(rows)
    untried = len(names) - len(each)
    text = changes_text(len(changing), sum(row["new_winner"] for row in each), len(each))
    return {
        "text": text + f" {plural(untried, 'item')} not tried: {found['status']}." * (untried > 0),
        "rows": rows,
        "caption": caption_text(len(rows), more),
        "more": plural(more, "more removal") if more else "",
    }


def optima_table(record: Record) -> Record | None:
    """Return what all optimal rankings share: a row for each group of places; None where one ranking is optimal."""
    found = record.get("optima")
    if found is None or found["most"] == 1:
        return None
    rows, start = [], 1
    for fixed, run in groupby(found["groups"], key=lambda group: len(group) == 1):
        groups = list(run)
        if fixed:  # the board has their order
            named = [(item, "") for (item,) in groups[:_MOST_FIXED]]
            more = plural(len(groups) - len(named), "more item") if len(groups) > len(named) else ""
            rows.append((span(start, start + len(groups) - 1), named, more, True))
            start += len(groups)
            continue
        for group in groups:
            each = [(item, span(found["first"][item], found["last"][item])) for item in group[:_MOST_IN_GROUP]]
            left = len(group) - len(each)
            rows.append((span(start, start + len(group) - 1), each, plural(left, "more item") if left else "", False))
            start += len(group)
    hidden = len(rows) - _MOST_GROUPS
    words = (count_text(found), pairs_text(found), certain_text(found["groups"]), first_text(found, record["items"]))
    return {
        "text": " ".join(filter(None, words)),
        "undecided": found["undecided"] > 0,
        "rows": rows[:_MOST_GROUPS],
        "more": plural(hidden, "more group") if hidden > 0 else "",
    }


def others_table(record: Record) -> Record | None:
    """Return the places by each rule, and their losses."""
    others = record["others"]
    if not others:
        return None
    own = record["consensus"]
    rules = [own["rule"], *(one["rule"] for one in others)]
    columns = [own["ranks"], *(one["ranks"] for one in others)]
    rows = [(item, [column[item] for column in columns]) for item in own["order"]]
    losses = ["" if own["distance"] != "kendall" else f"{own['loss']:.4g}", *(f"{one['loss']:.4g}" for one in others)]
    firsts = [[own["order"][0]], *([i for i, rank in enumerate(column) if rank == 1] for column in columns[1:])]
    first = [
        (rule_name(rule), listed([in_text(record["items"][i]) for i in top], 3))
        for rule, top in zip(rules, firsts, strict=True)
    ]
    return {"rules": rules, "rows": rows, "losses": losses, "first": first}
