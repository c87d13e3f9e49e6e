"""What the page of an analysis says about its audit: the findings that are raised, and how to see all."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from holdrank.errors import show
from holdrank.words.audit import PROBES
from holdrank.words.banners import file_name
from holdrank.words.missing import not_run_text
from holdrank.words.numbers import plural

Facts = Mapping[str, Any]

_LONGEST = 600  # characters of a sentence


def in_brief(record: Facts) -> dict[str, Any] | None:
    """Return what the page of an analysis says about its audit; None where there is none.

    Parameters
    ----------
    record : mapping
        Of the analysis.

    Returns
    -------
    dict
        ``text``: how many probes are raised; ``rows``: title, finding, what an adversary needs, and the bar of each
        that is; ``command``: what prints all of them.
    """
    found = record.get("audit")
    if found is None:
        return None
    rows = [
        (
            one["title"].capitalize(),
            show(one["text"], _LONGEST),
            show(one["adversary"]["text"], _LONGEST) if one["adversary"] else "",
            one["bar_text"],
        )
        for one in found["findings"]
        if one["state"] == "raised"
    ]
    missing = PROBES - len(found["findings"])
    short = f" {not_run_text(missing)}" if missing else ""
    count = len(rows), sum(one["state"] != "does not apply" for one in found["findings"])
    raise_ = "raises" if count[0] == 1 else "raise"
    text = f"{count[0]} of {plural(count[1], 'probe')} {raise_} a warning." if rows else found["headline"]
    return {"text": text + short, "rows": rows, "command": _command(record)}


def _command(record: Facts) -> str:
    """Return the command that shows all probes: for the shell, or for Python if votes came from no file."""
    votes, spec = record["votes"], record["spec"]
    name = file_name(votes["source"])
    if not votes["sha256"] or not name:
        return "audit(votes)"
    rule = "" if spec["rule"] == "auto" else f" --rule {spec['rule']}"
    given = ""
    for option in ("voter", "by"):  # as the reader tells them
        column = re.match(r"column '([^'\\]+)'(?:,|$)", votes["choices"].get(option, ""))
        given += f" --{option} {shlex.quote(show(column[1], 100))}" if column else ""
    return f"holdrank audit {shlex.quote(name)}{rule}{given}"
