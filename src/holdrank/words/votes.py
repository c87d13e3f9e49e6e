"""Votes in words: what was read, one fact at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdrank.errors import show
from holdrank.words.nouns import unit_of
from holdrank.words.numbers import number, percent


def part_text(part: float, total: float) -> str:
    """Return how many of all, and their share.

    Examples
    --------
    >>> part_text(3, 60)
    '3 (5 %)'
    """
    return f"{number(part)} ({percent(part / total)})"


def reading_facts(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what was read as names and texts: sizes, choices, notes.

    `about` has the names of the record of votes, ``unlisted`` in words, and the number of ``items``.
    """
    total, choices = about["total"], about["choices"]
    facts = [
        ("source", show(about["source"], 200)),
        ("items", str(about["items"])),
        (f"{unit_of(about)}s", f"{number(total)} ({about['distinct']:,} distinct)"),
        ("with ties", part_text(about["with_ties"], total)),
        ("incomplete", part_text(about["incomplete"], total)),
        ("unlisted items", about["unlisted"]),
        ("ties in ballots", "half a vote each way"),
    ]
    said = ("unlisted", "ties", "form") if "format" in choices else ("unlisted", "ties")
    facts += [(name, show(text, 200)) for name, text in choices.items() if name not in said]
    return facts + [("note", show(note, 300)) for note in about["notes"]]
