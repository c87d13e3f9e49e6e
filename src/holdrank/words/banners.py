"""Warnings above the ranking: what was cut short and how to get it, and other orders that are as good."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from typing import Any, NamedTuple

from holdrank.errors import show
from holdrank.status import Status
from holdrank.words.missing import LeftOut
from holdrank.words.names import listed
from holdrank.words.nouns import noun_of
from holdrank.words.numbers import longer
from holdrank.words.optima import certain_text, count_text, first_text

Record = dict[str, Any]

_WHAT = {
    "consensus": "the consensus",
    "tiers": "the tiers",
    "attack": "how many {}s end the lead",
    "claims": "the claims",
    "gaps": "{}s to cross the lines between tiers",
    "cut": "the cut",
    "removals": "the effect of removing items",
    "races": "{}s to overtake",
    "bootstrap": "the bootstrap",
    "chance": "places by chance",
    "reach": "places within reach",
    "voters": "voters who matter",
    "audit": "what could mislead",
    "tradeoff": "the trade-off",
    "curves": "breakdown curves",
    "others": "other rules",
    "refine": "closer bounds",
}
_LEFT_OUT = {"reach": "reach", "curves": "breakdown curve", "tradeoff": "trade-off"}  # steps and what they give
_HOLD = "Bounds shown there hold; more time may narrow them"
_NEARLY = 0.9  # of the time limit: then the limit is what ended the work


class Banner(NamedTuple):
    """A warning at the top of a page: a title, a text, and a command that helps; empty where none does."""

    title: str
    text: str
    command: str = ""


def file_name(source: str) -> str:
    r"""Return the name of a file without its folder, safe to show.

    Examples
    --------
    >>> file_name("/home/ann/votes.csv"), file_name("C:\\data\\votes.csv"), file_name("")
    ('votes.csv', 'votes.csv', '')
    """
    return show(re.split(r"[\\/]", source)[-1], 200)


def banners(record: Record) -> list[Banner]:
    """Return the banners above the ranking; none if all was computed and no other order is as good."""
    found = [_not_alone(record), _cut_short(record)]
    return [one for one in found if one is not None]


def _not_alone(record: Record) -> Banner | None:
    found = record["consensus"]
    if found["unique"] is not False or len(record["items"]) == 1:
        return None
    if Status(found["status"]) in (Status.SCORED, Status.SORTED):
        return Banner("Some items have equal scores.", "They are listed in the order of the file.")
    notes = " ".join(f"{note[:1].upper()}{note[1:]}." for note in found.get("notes", []))
    shared = record.get("optima")
    known = "This page shows one of them."
    if shared:
        known = f"{count_text(shared)} {certain_text(shared['groups'])} {first_text(shared, record['items'])}"
    return Banner("Several orders are equally good.", f"{notes} {known if shared or not notes else ''}".strip())


def _cut_short(record: Record) -> Banner | None:
    steps = [step for step in record["steps"] if step["state"] != "done"]
    if not steps:
        return None
    limit, noun = record["spec"]["time_limit"], noun_of(record["votes"])
    said = [(step, _WHAT.get(step["name"], step["name"]).format(noun)) for step in steps]
    parts = []
    for state, why in (
        ("cut short", _limit_text(limit, sum(step["seconds"] for step in record["steps"]))),
        ("interrupted", "Interrupted"),
    ):
        names = [what for step, what in said if step["state"] == state]
        parts += [f"{why}: {listed(names, len(names))}."] if names else []
    parts += [f"Failed: {what} ({show(step['note'], 200)})." for step, what in said if step["state"] == "failed"]
    cut = any(step["state"] == "cut short" for step in steps)
    if cut:
        parts.append(f"{_HOLD}.")
    again = cut or any(step["state"] == "interrupted" for step in steps)
    return Banner("Not everything was computed.", " ".join(parts), _command(record) if again else "")


def cut_short(record: Record, said: Collection[str]) -> list[LeftOut]:
    """Return the steps that were cut short, failed or were interrupted, but for what is `said` to be left out."""
    noun, found = noun_of(record["votes"]), []
    parts = [
        (step, _WHAT.get(step["name"], step["name"]).format(noun))
        for step in record["steps"]
        if step["state"] != "done" and _LEFT_OUT.get(step["name"]) not in said
    ]
    for state, begin in (("cut short", "Cut short"), ("interrupted", "Interrupted")):
        names = [what for step, what in parts if step["state"] == state]
        found += [LeftOut(listed(names, len(names)), f"{begin}: {listed(names, len(names))}.")] if names else []
    for step, what in parts:
        if step["state"] == "failed":
            found.append(LeftOut(what, f"{what[:1].upper()}{what[1:]}: failed: {show(step['note'], 200)}."))
    return found


def _limit_text(limit: float | None, seconds: float) -> str:
    """Return what cut a step short: the time limit, or its part of it where the whole took less.

    Examples
    --------
    >>> _limit_text(40.0, 39.5), _limit_text(None, 3.0)
    ('Cut short by the time limit of 40 s', 'Cut short by the time limit')
    >>> _limit_text(240.0, 58.6)
    'Cut short after a share of the time limit of 240 s'
    """
    if limit is None:
        return "Cut short by the time limit"
    how = "by the" if seconds >= _NEARLY * limit else "after a share of the"
    return f"Cut short {how} time limit of {limit:g} s"


def _command(record: Record) -> str:
    """Return the command that computes the rest: for the shell, or for Python if votes came from no file."""
    limit = record["spec"]["time_limit"]
    seconds = f"{longer(limit or 0):g}"
    name, spec = file_name(record["votes"]["source"]), record["spec"]
    if not record["votes"]["sha256"] or not name:
        return f"analyse(votes, Spec(time_limit={seconds}))"
    rule = "" if spec["rule"] == "auto" else f" --rule {spec['rule']}"
    theta = (
        "" if spec["theta"] == "auto" else f" --theta {'none' if spec['theta'] is None else format(spec['theta'], 'g')}"
    )
    k = "" if spec["k"] is None else f" --k {spec['k']}"
    return f"holdrank report {shlex.quote(name)}{rule}{theta}{k} --time-limit {seconds}"
