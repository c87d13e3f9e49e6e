"""What the page of an analysis leaves out, and why: all of it, in one place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from holdrank.errors import show
from holdrank.words.audit import PROBES
from holdrank.words.numbers import plural

Record = dict[str, Any]

NO_BOOTSTRAP = "Places by chance were not computed."
HEADING = "Incomplete or left out"  # of the list
_LONGEST = 300  # characters of a reason


class LeftOut(NamedTuple):
    """Something that a page leaves out: its name, and why, in a sentence."""

    what: str
    why: str


def reasons(parts: Sequence[LeftOut]) -> list[str]:
    """Return what is left out with its reason, a sentence each, none twice.

    Examples
    --------
    >>> reasons([LeftOut("reach", "Reach: not computed."), LeftOut("reach", "Reach: not computed.")])
    ['Reach: not computed.']
    """
    return list(dict.fromkeys(part.why for part in parts))


def not_run_text(probes: int) -> str:
    """Return how many probes of an audit the time limit left out, at least one.

    Examples
    --------
    >>> not_run_text(1)
    '1 probe did not run within the time limit.'
    """
    return f"{plural(probes, 'probe')} did not run within the time limit."


def untested(record: Record) -> list[LeftOut]:
    """Return what was not tried: probes of the audit, removals of items, rules that do not apply to these votes.

    Examples
    --------
    >>> steps = [{"name": "others", "state": "done", "note": "no footrule: places are unknown"}]
    >>> untested({"items": ["a"], "audit": {"findings": [{}] * 7}, "steps": steps})
    [LeftOut(what='2 probes', why='What could mislead: 2 probes did not run within the time limit.'), \
LeftOut(what='other rules in part', why='Other rules: no footrule: places are unknown.')]
    """
    found = []
    audit, removals = record.get("audit"), record.get("removals")
    probes = 0 if audit is None else PROBES - len(audit["findings"])
    if probes:
        many = plural(probes, "probe")
        found.append(LeftOut(many, f"What could mislead: {not_run_text(probes)}"))
    untried = 0 if removals is None else len(record["items"]) - len(removals["each"])
    if removals is not None and untried:
        many = plural(untried, "removal")
        found.append(LeftOut(many, f"When an item leaves: {many} not tried ({removals['status']})."))
    for step in record["steps"]:
        if step["name"] == "others" and step["state"] == "done" and step["note"]:
            note = show(step["note"].rstrip("."), _LONGEST)
            found.append(LeftOut("other rules in part", f"Other rules: {note}."))
    return found
