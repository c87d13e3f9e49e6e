"""The content of pages: a job as text, a record as rows and pictures, and filled templates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from holdrank import __version__
from holdrank.analysis.records import Record
from holdrank.errors import show
from holdrank.rules.registry import AUTO, rules
from holdrank.studio.forms import FIELDS
from holdrank.studio.jobs import Job
from holdrank.studio.shelf import Asked, Opened
from holdrank.views.page import attack_tables, page_view
from holdrank.views.report import item_markup, markup_of, unbroken
from holdrank.views.svg import PICTURES, attack, attack_text
from holdrank.words.attacks import CHANGED
from holdrank.words.headlines import lead_text
from holdrank.words.ladders import buckets, slider_data, tiers_of
from holdrank.words.names import in_text, named, rule_name
from holdrank.words.nouns import noun_of
from holdrank.words.numbers import number, plural, span
from holdrank.words.pictures import concerns, left_out, pairs_data
from holdrank.words.prices import budget_text
from holdrank.words.results import STEPS
from holdrank.words.votes import part_text

if TYPE_CHECKING:
    from jinja2 import Environment

_TASKS = {"claim": "looking for the smallest change", "curve": "computing the curve", "compare": "comparing the files"}
_REPLAY = "replaying the attack"
_ENDS = {
    "cancelled": "Cancelled. The page shows the results so far.",
    "left alone": "Stopped when its page was closed. The page shows the results so far.",
    "out of time": "Time limit reached. The page shows the results so far.",
}
_MOST_TIERS = 12  # of an order in words
_PEEK = (8, 160)  # lines of a file, and characters of a line, that are shown next to an error

STATIC = {
    "page.css": ("views/static", "text/css"),
    "holdrank.js": ("views/static", "text/javascript"),
    "studio.css": ("studio/static", "text/css"),
    "studio.js": ("studio/static", "text/javascript"),
}
"""Style sheets and scripts: where they lie in the package, and their type."""


def packed(name: str) -> str:
    """Return a style sheet or a script of the package."""
    return files("holdrank").joinpath(f"{STATIC[name][0]}/{name}").read_text("utf-8")


@cache
def templates() -> Environment:
    """Return the templates; all inserted text is escaped."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=ChoiceLoader([PackageLoader("holdrank.studio"), PackageLoader("holdrank.views")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names = {AUTO: AUTO, **{rule.name: rule_name(rule.name) for rule in rules()}}
    found.globals |= {"version": __version__, "rules": names}
    found.filters |= {"item": item_markup, "svg": markup_of, "in_text": in_text, "named": named, "show": show}
    found.filters["unbroken"] = unbroken
    found.filters["in_form"] = lambda name, form: bool(form.get(name))
    return found


def filled(template: str, **parts: Any) -> str:
    """Return a page."""
    return templates().get_template(template).render(**parts)


def in_script(value: object) -> str:
    r"""Return data for a script element: no character in it can end the element.

    Examples
    --------
    >>> print(in_script("</script>"))
    "\u003c/script>"
    """
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c").replace("&", "\\u0026")


# Jobs


def counted_text(step: Record) -> str:
    """Return the bounds so far, or the progress; a single unit, or an unknown total, is not shown as "0 of 1".

    Examples
    --------
    >>> counted_text({"name": "draws", "done": 20, "total": 1000, "known": ""})
    '20 of 1,000 draws'
    >>> counted_text({"name": "goals", "done": 0, "total": 1, "known": ""})
    ''
    >>> counted_text({"name": "orders priced", "done": 26787, "total": 26787, "known": ""})
    '26,787 orders priced'
    >>> counted_text({"name": "goals", "done": 0, "total": 1, "known": "more than 30 votes so far"})
    'more than 30 votes so far'
    """
    if step["known"].endswith("so far"):
        return str(step["known"])
    if step["total"] <= 1 or step["name"] == "replay":
        return ""
    if step["done"] >= step["total"]:
        return f"{step['done']:,} {step['name']}"
    return f"{step['done']:,} of {step['total']:,} {step['name']}"


def working(job: Job | None) -> Record | None:
    """Return the state of a job, for a page and for its stream; None without a job."""
    if job is None:
        return None
    shape = job.shape()
    finished = len(job.told["record"]["steps"]) if "record" in job.told else 0
    total = len(STEPS)
    step = job.step
    minor = "" if step is None or step["name"] in STEPS else counted_text(step)
    share = 0.0
    if job.task["task"] == "analyse":
        words = list(STEPS.values())[min(finished, total - 1)]
        if finished >= total:
            words, minor = _REPLAY, ""
        text = f"Step {min(finished + 1, total)} of {total}: {words}"
        share = finished / total
    else:
        text = _TASKS.get(job.task["task"], "working").capitalize()
        if step is not None and step["total"] and job.task["task"] in ("curve", "compare"):
            share = step["done"] / step["total"]
    if job.state == "queued":
        text, minor = "Waiting for another job to finish", ""
    elif job.over:
        text, minor = _ENDS.get(job.state, ""), ""
        share = 1.0 if job.state == "done" else share
        if job.state == "done":
            text = f"Done in {shape['seconds']:g} s."
    return {**shape, "words": text, "detail": minor, "share": round(share, 3), "over": job.over}


# The page of a file


def votes_page(opened: Opened, others: Sequence[Opened]) -> Record:
    """Return the content of the page of a file."""
    record, told, job = opened.record, opened.told, opened.job
    return {
        "opened": opened,
        "others": [one for one in others if one is not opened and "votes" in one.told],
        "job": working(job),
        "curve_job": working(opened.curve),
        "problem": opened.problem,
        "votes": told.get("votes"),
        "items": told.get("items", []),
        "size": sizes(told.get("votes"), told.get("items", [])),
        "facts": reading_facts(told.get("votes"), told.get("items", [])),
        "names": [(one.id, show(one.name, 60)) for one in others if one is not opened and "votes" in one.told],
        "fields": FIELDS,
        "form": opened.form,
        "spec": opened.spec,
        "record": record,
        "headline": headline(record, job),
        "view": None if record is None else seen_so_far(record, running=job is not None and not job.over),
        "pairs": None if record is None or len(record["items"]) < 2 else in_script(pairs_data(record)),
        "pictures": [] if record is None else drawn(opened, record, running=job is not None and not job.over),
        "replay": None if record is None else replayed(record, record["attack"], told.get("replay")),
        "attacked": bool(told.get("attacked")),
        "claims": [claim_row(asked) for asked in reversed(opened.claims)],
        "slider": None if record is None else in_script(slider_data(record)),
        "peek": peek(opened.data) if opened.problem is not None and "votes" not in told else "",
    }


def headline(record: Record | None, job: Job | None) -> str:
    """Return the headline: the result, or the bounds so far while the job runs."""
    if record is None:
        return "Reading the votes" if job is not None and not job.over else ""
    done = {step["name"] for step in record["steps"]}
    if "attack" in done or len(record["items"]) == 1:
        return str(record["headline"])
    top = [named(record["items"][item]) for item in tiers_of(record)[0]]
    return lead_text(top, running=job is not None and not job.over)


def seen_so_far(record: Record, *, running: bool) -> Record:
    """Return the content of the report; while the job runs, nothing is called missing."""
    found = page_view(record)
    if running:
        found["missing"] = ""
        found["board"]["notes"] = ["More columns come as they are computed."]
        found["banners"] = [one for one in found["banners"] if not one.command]
        found["subline"] = found["subline"] if record["attack"] is not None else ""
    return found


def sizes(votes: Record | None, items: Sequence[str]) -> str:
    """Return the numbers of votes and items."""
    return "" if votes is None else f"{plural(votes['total'], noun_of(votes))} of {plural(len(items), 'item')}"


def reading_facts(votes: Record | None, items: Sequence[str]) -> list[tuple[str, str]]:
    """Return how the file was read, one line per fact: a name and a text."""
    if votes is None:
        return []
    total = votes["total"]
    facts = [
        ("source", show(votes["source"], 200)),
        ("items", f"{len(items):,}: {', '.join(named(item, 30) for item in items[:8])}{', …' * (len(items) > 8)}"),
        (f"{noun_of(votes)}s", f"{number(total)} ({votes['distinct']:,} distinct)"),
        ("with ties", part_text(votes["with_ties"], total)),
        ("incomplete", part_text(votes["incomplete"], total)),
    ]
    facts += [(name, show(text, 300)) for name, text in votes["choices"].items() if name != "form"]
    return facts


def peek(data: bytes) -> str:
    """Return the first lines of a file, safe to show."""
    lines, width = _PEEK
    text = data[: 64 * 1024].decode("utf-8", errors="replace")
    return "\n".join(show(line, width) for line in text.splitlines()[:lines])


def drawn(opened: Opened, record: Record, *, running: bool) -> list[Record]:
    """Return the pictures of the record, as SVG and as text; a picture is drawn again if its data changed."""
    found = []
    for picture in PICTURES:
        if not concerns(picture.name, record):
            continue
        known = has_picture(picture.name, record)
        words = left_out(picture.name, record) if known else _missing(picture.name, record, running=running)
        asked = known and picture.name == "breakdown" and opened.curve is not None  # it is shown while it fills in
        if words and not asked:
            found.append({"picture": picture, "svg": "", "words": words})
            continue
        other = {"steps", "others", "claims", "headline"} | ({"curves"} if picture.name != "breakdown" else set())
        parts = {name: part for name, part in record.items() if name not in other}
        drawing = opened.drawn.get(picture.name)
        if drawing is None or drawing[0] != parts:
            drawing = parts, picture.draw(record), picture.tell(record)
            opened.drawn[picture.name] = drawing
        found.append({"picture": picture, "svg": drawing[1], "words": drawing[2]})
    return found


def has_picture(name: str, record: Record) -> bool:
    """Whether a record has the data of a picture."""
    many = len(record["items"]) > 1
    wants = {
        "ladder": True,
        "critical_difference": many and record.get("mean_ranks") is not None,
        "heatmap": many,
        "ranges": many and (record["bootstrap"] is not None or record["reach"] is not None),
        "breakdown": bool(record["curves"]),
        "tradeoff": record["tradeoff"] is not None,
        "attack": record["attack"] is not None,
    }
    return wants[name]


def _missing(name: str, record: Record, *, running: bool) -> str:
    """Return why a picture is missing."""
    step = {"ranges": "reach", "breakdown": "curves"}.get(name, name)
    told = next((one for one in record["steps"] if one["name"] == step), None)
    if len(record["items"]) == 1:
        return "There is only one item."
    if name == "tradeoff" and record["spec"]["theta"] != "auto":
        return "The threshold was set by hand; choose “auto” in the settings to see what each threshold costs."
    if told is not None and told["state"] == "failed":
        return show(told["note"], 300)
    if running and told is None:
        return "This comes in a moment."
    return left_out(name, record) or "This was not computed."


# Attacks and claims


def replayed(record: Record, row: Record | None, steps: Sequence[Record] | None) -> Record | None:
    """Return the replay of an attack: the picture after each computed step, with its text."""
    if row is None or row["after"] is None:
        return None
    counts = record["votes"]["counts"]
    last = row["sufficient"] if counts and row["whole"] else row["upper"]
    share = last / record["votes"]["total"] if counts and row["whole"] else last
    steps = list(steps or [{"changed": 0.0, "share": 0.0, "ranks": row["before"]}])
    if steps[-1]["share"] < 0.999 * share:  # a replay that ran out of time still ends with the attack
        steps.append({"changed": last, "share": share, "ranks": row["after"]})
    frames, noun = [], noun_of(record["votes"])
    for step in steps:
        amount = plural(step["changed"], noun) if counts and row["whole"] else budget_text(step["share"], None, noun)
        part = {
            **dict.fromkeys(("needed", "ties", "decides", "sufficient"), step["changed"]),
            "lower": step["share"],
            "upper": step["share"],
        }
        svg = attack({**record, "attack": {**row, **part, "after": step["ranks"]}})
        tiers = buckets(step["ranks"], record["consensus"]["order"])
        shown = {"tiers": tiers[:_MOST_TIERS], "more": max(len(tiers) - _MOST_TIERS, 0)}
        frames.append({"amount": amount, "moved": moved_items(row["before"], step["ranks"]), "svg": svg, **shown})
    return {"frames": frames, "verb": CHANGED[row["change"]], "unit": f"{noun}s".capitalize()}


def moved_items(before: Sequence[int], after: Sequence[int]) -> int:
    """Return how many items have changed places: a tier that splits moves no item below it.

    Examples
    --------
    >>> moved_items([1, 1, 2, 3], [1, 2, 3, 4])
    2
    """

    def places(ranks: Sequence[int]) -> list[tuple[int, int]]:
        return [(sum(other < rank for other in ranks), ranks.count(rank)) for rank in ranks]

    return sum(old != new for old, new in zip(places(before), places(after), strict=True))


def claim_row(asked: Asked) -> Record:
    """Return a claim with its answer in a line."""
    answer = asked.answer
    text = ""
    if answer is not None:
        text = ("Holds. " if answer["holds"] else "Does not hold now. ") + answer["attack"]["text"]
    return {"asked": asked, "text": text, "job": working(asked.job), "problem": asked.job.problem}


def claim_page(asked: Asked) -> Record:
    """Return the content of the page of a claim."""
    answer, record = asked.answer, asked.about.record
    row = None if answer is None else answer["attack"]
    found: Record = {"svg": "", "words": "", "ballots": None}
    if row is not None and record is not None:
        shown = {**record, "attack": row}
        found = {"svg": attack(shown), "words": attack_text(shown), "ballots": attack_tables(shown)}
    replay = None if record is None else replayed(record, row, asked.job.told.get("replay"))
    return {
        **claim_row(asked),
        "opened": asked.about,
        "answer": answer,
        "row": row,
        "picture": found,
        "replay": replay,
        "attacked": bool(asked.job.told.get("attacked")),
    }


def compare_rows(comparison: Record) -> list[Record]:
    """Return the rows of a comparison as text."""
    rows = []
    for row in comparison["moves"]:
        moved = row["old"]["place"] - row["new"]["place"]
        verdict = "beyond noise" if row["beyond_noise"] else "within noise" if moved else ""
        places = {
            which: {"place": f"{row[which]['place']:g}", "span": span(row[which]["best"], row[which]["worst"])}
            for which in ("old", "new")
        }
        rows.append(
            {
                "item": comparison["items"][row["item"]],
                **places,
                "moved": f"{moved:+g}".replace("-", "−") if moved else "",
                "verdict": verdict,
            }
        )
    return rows
