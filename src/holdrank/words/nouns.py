"""What one vote is called, by the form of the votes: a battle, a game, a task, a judge, a ballot; else a vote."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from holdrank.words.numbers import number, percent, percents, plural

_BY_FORM = {
    **dict.fromkeys(("battles", "pair-counts", "win-matrix"), "battle"),
    "pgn": "game",
    "multi-way": "judgement",
    "score-table": "task",
    "long-scores": "task",
    **dict.fromkeys(
        ("preflib", "preflib-old", "positions", "rank-columns", "score-columns", "lists", "long-ranks"), "ballot"
    ),
    **dict.fromkeys(("blt", "abif", "scottish", "order", "jsonl"), "ballot"),
}
_WHO = ("judge", "task", "benchmark", "reviewer", "expert", "critic", "voter")  # columns that say who votes


def noun_of(votes: Mapping[str, Any]) -> str:
    """Return what one vote is called; `votes` has the names of the record of votes.

    Examples
    --------
    >>> noun_of({"format": "battles"}), noun_of({"format": "score-table"}), noun_of({})
    ('battle', 'task', 'vote')
    >>> noun_of({"format": "long-scores", "choices": {"format": "long-scores (columns judge, model, score)"}})
    'judge'
    """
    form = votes.get("format") or ""
    if form.startswith("long-"):
        said = re.search(r"\(columns? ([^)]*)\)", votes.get("choices", {}).get("format", ""))
        names = [name.strip().lower() for name in said[1].split(",")] if said else []
        named = [who for who in _WHO if who in names]
        if named:
            return named[0]
    return _BY_FORM.get(form, "vote")


def unit_of(votes: Mapping[str, Any]) -> str:
    """Return what one vote is called where lists of votes are counted: as `noun_of`, and a ballot where that is a vote.

    Examples
    --------
    >>> unit_of({"format": "battles"}), unit_of({})
    ('battle', 'ballot')
    """
    noun = noun_of(votes)
    return "ballot" if noun == "vote" else noun


def of_all(amount: str, votes: Mapping[str, Any], *, brief: bool = False) -> str:
    """Return an amount with all votes behind it; in brief, with their name only.

    Examples
    --------
    >>> of_all("5 to 8", {"counts": True, "total": 100.0, "format": "battles"}), of_all("5 %", {"counts": False})
    ('5 to 8 of 100 battles', '5 % of the votes')
    """
    if not votes["counts"]:
        return f"{amount} of {'votes' if brief else f'the {noun_of(votes)}s'}"
    if brief:
        return f"{amount} {noun_of(votes)}{'s' * (amount != '1')}"
    return f"{amount} of {plural(votes['total'], noun_of(votes))}"


def amount_text(least: float | None, most: float | None, votes: Mapping[str, Any]) -> str:
    """Return a number of votes, or a share, as far as it is known; nothing where neither end is.

    Examples
    --------
    >>> votes = {"counts": True, "total": 100.0}
    >>> amount_text(5, 8, votes), amount_text(8, 8, votes), amount_text(5, None, votes), amount_text(0, 8, votes)
    ('5 to 8', '8', 'at least 5', 'at most 8')
    """
    said = number if votes["counts"] else percent
    if votes["counts"] and least is not None and least <= 1 and most != least:
        least = None  # one vote is always needed: not worth mentioning as a bound
    if most is None:
        return f"at least {said(least)}" if least else ""
    if least == most or said(least or 0) == said(most):
        return said(most)
    if not least:
        return f"at most {said(most)}"
    return f"{number(least)} to {number(most)}" if votes["counts"] else percents(least, most)
