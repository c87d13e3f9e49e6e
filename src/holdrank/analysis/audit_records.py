"""An audit as plain data."""

from __future__ import annotations

import math

from holdrank.analysis.audit import Audit
from holdrank.analysis.probes.findings import Finding
from holdrank.analysis.records import Record
from holdrank.words.prices import AMOUNTS


def audit_record(found: Audit) -> Record:
    """Return an audit, one finding for each probe; items are numbers."""
    number = {name: k for k, name in enumerate(found.consensus.items)}
    return {
        "headline": found.headline,
        "level": found.level,
        "seed": found.seed,
        "status": found.status.value,
        "findings": [_finding(one, number) for one in found.findings],
    }


def _finding(one: Finding, number: dict[str, int]) -> Record:
    record: Record = {
        "probe": one.probe,
        "state": one.state,
        "title": one.title,
        **{name: _plain(getattr(one, name)) for name in ("value", "lower", "upper", "bar")},
        "bar_text": one.bar_text,
        "pairs": [[number[above], number[below]] for above, below in one.pairs],
        "items": [number[item] for item in one.items],
        "people": list(one.people),
        "numbers": {name: _plain(part) for name, part in one.facts.items() if isinstance(part, bool | int | float)},
        "text": one.text(),
        "adversary": None,
    }
    if "each" in one.facts:
        record["gaps"] = [
            {"pair": [number[above], number[below]], "separated": apart, "votes_needed": needed}
            for above, below, apart, needed in one.facts["each"]
        ]
    if one.adversary is not None:
        ends = {name: one.adversary[name] for name in AMOUNTS}
        record["adversary"] = {"goal": one.adversary["does"], "text": one.adversary_text, **ends}
    return record


def _plain(value: float | None) -> float | None:
    """Return a number for JSON, which has no infinity."""
    return value if value is None or math.isfinite(value) else None
