"""Two snapshots in words: who moved, whether that is more than noise, and what undoes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdrank.words.numbers import span
from holdrank.words.prices import NOT_KNOWN, price

Facts = Mapping[str, Any]


def moved_cells(row: Facts, found: Facts) -> list[str]:
    """Return an item of a comparison as cells: both places with their ranges, the move, what undoes it, the verdict."""
    drawn = found["intervals"]
    moved = row["old"]["place"] - row["new"]["place"]
    places = [text for one in (row["old"], row["new"])
              for text in (f"{one['place']:g}", span(one["best"], one["worst"]) if drawn else "")]  # fmt: skip
    verdict = "beyond noise" if row["beyond_noise"] else "within noise" if moved and drawn else ""
    return [*places, f"{moved:+g}" if moved else "", _undone_by(row, found["new"]), verdict]


def _undone_by(row: Facts, votes: Facts) -> str:
    """Return the votes after whose change a pair that a move turned stands as before."""
    if row["undone_by"] is None:
        return ""
    cost = price(row["undone_by"], votes)
    return NOT_KNOWN if cost is None else cost.amount


def comparison_text(found: Facts) -> str:
    """Return how much moved, in one sentence."""
    noise = f", {found['beyond_noise']} beyond noise" if found["intervals"] else ""
    return (
        f"{found['moved']} of {len(found['items'])} items moved{noise}; "
        f"{found['turned']:,} of {found['pairs']:,} pairs changed order"
    )
