"""The cut in words: which items are safely in the top k, undecided, or safely out."""

from __future__ import annotations

from typing import Any

from holdrank.words.nouns import noun_of
from holdrank.words.prices import budget_text

Record = dict[str, Any]

SAFELY_IN, UNDECIDED, SAFELY_OUT = "safely in", "undecided", "safely out"


def cut_lists(cut: Record) -> dict[str, list[Record]]:
    """Return the items of a cut in three lists, each in the order of the ranking."""
    lists: dict[str, list[Record]] = {SAFELY_IN: [], UNDECIDED: [], SAFELY_OUT: []}
    for row in cut["items"]:
        lists[UNDECIDED if not row["safe"] else SAFELY_IN if row["inside"] else SAFELY_OUT].append(row)
    return lists


def cut_text(cut: Record, votes: Record) -> str:
    """Return how many items are on either side of a cut for certain, in one sentence.

    Examples
    --------
    >>> rows = [{"safe": True, "inside": True}, {"safe": False, "inside": True}, {"safe": True, "inside": False}]
    >>> cut_text({"k": 2, "budget": 0.125, "items": rows}, {"counts": True, "total": 8.0})
    'Top 2, if 1 vote (12.5 %) changes: 1 safely in, 1 undecided, 1 safely out.'
    """
    share = cut["budget"]
    amount = share * votes["total"] if votes["counts"] else None
    verb = "changes" if amount is not None and round(amount, 6) == 1 else "change"
    counts = ", ".join(f"{len(rows)} {title}" for title, rows in cut_lists(cut).items())
    return f"Top {cut['k']}, if {budget_text(share, amount, noun_of(votes))} {verb}: {counts}."
