"""The results of `check` and `diff` for pipelines: a summary in Markdown, and a badge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdrank.rankings import Ranking
from holdrank.views.badges import badge
from holdrank.views.report import markdown_text
from holdrank.votes.votes import Votes
from holdrank.words.comparisons import comparison_text, moved_cells
from holdrank.words.names import in_text
from holdrank.words.nouns import unit_of
from holdrank.words.numbers import percent, plural
from holdrank.words.prices import CANNOT_BREAK, NOT_KNOWN, price, required, required_text

_ROWS = 20  # of a table


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim that was tested.

    Parameters
    ----------
    text : str
        What was claimed.
    passed : bool
    result : str
        How many votes break it, in a sentence.
    amounts : mapping or None
        The same as bounds (see `words.prices`); None if the claim is false.
    """

    text: str
    passed: bool
    result: str
    amounts: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Checked:
    """A file whose claims were tested, and the required share of the votes."""

    file: str
    votes: Votes
    statistic: str
    ranking: Ranking
    least: float
    claims: Sequence[Claim]

    @property
    def passed(self) -> bool:
        """Whether all claims hold."""
        return all(claim.passed for claim in self.claims)


def check_summary(found: Checked) -> str:
    """Return the result of a check as Markdown."""
    failed = sum(not claim.passed for claim in found.claims)
    verdict = "holds" if not failed else f"{failed} of {plural(len(found.claims), 'claim')} failed"
    many = plural(found.votes.total, unit_of(_read(found.votes)))
    asked = required_text(found.least, _about(found.votes))
    facts = f"{many}, {plural(found.votes.n, 'item')}, by {found.statistic}"
    lines = [
        f"### {_md(found.file)}: {verdict}",
        "",
        f"{_md(facts)}. A claim passes if breaking it is proved to take at least {asked}.",
        "",
        *_table(
            ("", "claim", "votes to break it"),
            [
                ("passed" if claim.passed else "**failed**", _md(claim.text), _md(claim.result))
                for claim in found.claims
            ],
        ),
        "",
    ]
    ranks, names = found.ranking.ranks, found.votes.items
    places = [(f"{ranks[item]}", _item(names[item])) for item in found.ranking.order]
    lines += [*_table(("place", "item"), places, ("---:", "---")), ""]
    lines += [f"- note: {_md(note)}" for note in found.votes.notes]
    return "\n".join(lines).rstrip() + "\n\n"


def diff_summary(old: str, new: str, found: Mapping[str, Any]) -> str:
    """Return what moved between two files as Markdown."""
    rows = []
    for row in found["moves"]:
        cells = moved_cells(row, found)
        if cells[4]:
            rows.append([_item(found["items"][row["item"]]), *cells])
    level = percent(found["level"])
    lines = [f"### From {_md(old)} to {_md(new)}", "", f"{comparison_text(found)}.", ""]
    if rows:
        headings = ("item", "old place", level, "new place", level, "moved", "undone by", "")
        lines += [*_table(headings, rows, ("---", *["---:"] * 6, "---")), ""]
    for which in ("old", "new"):
        if names := found[f"only_{which}"]:
            more = f" and {len(names) - _ROWS} more" if len(names) > _ROWS else ""
            lines += [f"Only in the {which} file: {', '.join(map(_item, names[:_ROWS]))}{more}.", ""]
    return "\n".join(lines).rstrip() + "\n\n"


def check_badge(found: Checked) -> str:
    """Return the weakest claim of a check as a badge."""
    weakest = min(found.claims, key=lambda claim: (claim.passed, _least(claim)))
    label = found.claims[0].text if len(found.claims) == 1 else "ranking"
    votes = _about(found.votes)
    cost = None if weakest.amounts is None else price(weakest.amounts, votes)
    if weakest.amounts is None:
        message = "does not hold"
    elif not weakest.passed and _may_pass(weakest.amounts, found):
        message = "not proved"
    elif cost is None:
        message = NOT_KNOWN
    elif cost.amount == CANNOT_BREAK:
        message = CANNOT_BREAK
    else:
        amount = f"{cost.amount} {cost.unit or 'of the votes'}"
        verb = "changes" if cost.unit and cost.amount == "1" else "change"
        message = f"holds until {amount} {verb}" if found.passed else f"breaks at {amount}"
    title = f"{weakest.text}: {weakest.result}"
    return badge(label, message, "passed" if found.passed else "failed", title)


def _may_pass(amounts: Mapping[str, Any], found: Checked) -> bool:
    """Whether no attack found breaks a claim for less than is asked."""
    enough = amounts["sufficient" if found.votes.is_counts else "upper"]
    return enough is None or enough >= required(found.least, _about(found.votes))


def _about(votes: Votes) -> dict[str, Any]:
    """Return how many votes there are, and what one is called."""
    return {"counts": votes.is_counts, "total": votes.total, **_read(votes)}


def _read(votes: Votes) -> dict[str, Any]:
    """Return the facts that determine the noun for a vote."""
    return {"format": votes.reading.format, "choices": votes.reading.choices}


def _least(claim: Claim) -> float:
    """Return the share of the votes that a claim provably survives."""
    if claim.amounts is None:
        return -1.0
    lower = claim.amounts["lower"]
    return float("inf") if lower is None else float(lower)


def _md(text: str) -> str:
    return markdown_text(text)


def _item(name: str) -> str:
    return _md(in_text(name))


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], signs: Sequence[str] = ()) -> list[str]:
    """Return a table of Markdown, and how many rows it leaves out."""
    lines = [headings, signs or ["---"] * len(headings), *rows[:_ROWS]]
    out = [f"| {' | '.join(line)} |" for line in lines]
    return [*out, "", f"and {len(rows) - _ROWS} more"] if len(rows) > _ROWS else out
