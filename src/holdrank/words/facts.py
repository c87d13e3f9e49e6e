"""Facts about an analysis for its page: the rule, the key numbers, the headings of columns, and claims."""

from __future__ import annotations

from typing import Any

from holdrank.errors import show
from holdrank.status import LEAST_DRAWS, Status
from holdrank.words.ladders import ladder_of
from holdrank.words.names import rule_name, why_chosen
from holdrank.words.nouns import noun_of, unit_of
from holdrank.words.numbers import number, percent, plural, sentence
from holdrank.words.prices import NOT_KNOWN, price
from holdrank.words.standings import overtaken_heading

Record = dict[str, Any]

_LONGEST = 600  # characters of a note or a sentence
_JOINED_FIRST = {
    "downward": "the group with the largest such difference is joined first",
    "naive": "the closest neighbours are joined first",
}


def rule_text(record: Record) -> str:
    """Return the name of the rule, with the reason if it was chosen for battles."""
    rule: str = record["consensus"]["rule"]
    why = why_chosen(record["spec"]["rule"], rule)
    return f"{rule_name(rule)}, {why}" if why else rule_name(rule)


def caption_text(record: Record) -> str:
    """Return the caption of the table of tiers."""
    rule, tiers = rule_text(record), record["tiers"]
    if tiers is None:
        return f"Consensus by {rule}, without ties"
    return f"Consensus by {rule}, tiers by {tiers['merge']} merge at threshold {tiers['theta']:.4g}"


def column_words(record: Record) -> dict[str, str]:
    """Return the meaning of columns: with tiers, places are still those of the ranking below them."""
    tied = record["tiers"] is not None
    return {
        "place_heading": "place without tiers" if tied else "place",
        "places_words": "places without tiers" if tied else "places",
        "gap_heading": f"{noun_of(record['votes'])}s to break the gap below{' the tier' * tied}",
        "overtaken_heading": overtaken_heading(f"{noun_of(record['votes'])}s"),
    }


def key_numbers(record: Record) -> list[tuple[str, str, str]]:
    """Return (what, number, remark)."""
    votes, found = record["votes"], record["attack"]
    tiers, noun = ladder_of(record), noun_of(record["votes"])
    rows = [
        (
            f"{noun}s",
            number(votes["total"]) if votes["counts"] else "shares",
            plural(votes["distinct"], f"distinct {unit_of(votes)}"),
        )
    ]
    rows.append(("items", str(len(record["items"])), ""))
    if record["tiers"] is None:
        rows.append(("tiers", "none", "the strict ranking is reported"))
    else:
        how = "chosen" if record["tiers"]["auto"] else "given"
        rows.append(("tiers", str(len(tiers)), f"threshold {record['tiers']['theta']:.4g}, {how}"))
    if found is not None:
        what = f"{noun}s to bring another to the top" if len(tiers) > 1 else f"{noun}s that split the tie"
        cost = price(found, votes)
        rows.append((what, NOT_KNOWN, "") if cost is None else (what, cost.amount, cost.share))
    drawn = record["bootstrap"]
    if drawn is not None and drawn["draws"] >= LEAST_DRAWS:
        rows.append(
            ("same order in bootstrap samples", percent(drawn["unchanged"]), f"of {drawn['draws']:,} bootstrap samples")
        )
    rows.append(_loss(record))
    return rows


def _loss(record: Record) -> tuple[str, str, str]:
    """Return how far votes are from the consensus; for battles, how many are against it."""
    found, votes = record["consensus"], record["votes"]
    brief = Status(found["status"]).in_brief
    compared = record["pairs"]["compared"]
    n = len(record["items"])
    each = sum(map(sum, compared)) / 2 / votes["total"] if len(compared) == n > 2 else 0.0
    if not 0 < each <= 1 or found["distance"] != "kendall":
        return "loss", f"{found['loss']:.4g}", brief
    against = found["loss"] * n * (n - 1) / 2 / each
    return f"{noun_of(votes)}s against the order", percent(round(against, 3)), f"a tie counts half; {brief}"


def claim_cells(row: Record, votes: Record) -> tuple[str, str, str]:
    """Return (claim, verdict, sentence)."""
    claim, found = show(row["claim"], 200), row["attack"]
    if not row["holds"]:
        return claim, "does not hold", "It is false in this consensus."
    if found is None:
        return claim, "holds", "The votes that break it were not computed."
    known = price(found, votes) is not None
    return claim, "holds", show(found["text"], _LONGEST) if known else f"What breaks it is {NOT_KNOWN}."


def consensus_text(record: Record) -> str:
    """Return the method in words: the rule, how sure its ranking is, whether it is alone, and the proof."""
    found = record["consensus"]
    alone = {True: "It is the only optimum.", False: "Other rankings are as good.", None: ""}[found["unique"]]
    alone = " ".join(sentence(note) for note in found.get("notes", [])) or alone
    gap = "" if found["exact"] else f"No ranking has a loss below {found['bound']:.4g}."
    proof = f"Proof: {show(found['proof'], _LONGEST)}." if found["proof"] else ""
    parts = (f"The ranking is by {rule_text(record)}.", sentence(found["status"]), alone, gap, proof)
    return " ".join(filter(None, parts))


def tier_rule_text(record: Record) -> str:
    """Return which items share a tier, and why neighbours within the threshold may not; nothing without tiers.

    Examples
    --------
    >>> tiers = {"theta": 0.05, "merge": "naive"}
    >>> tier_rule_text({"tiers": tiers, "consensus": {"rule": "kemeny"}})
    'Items next to each other in the ranking share a tier if, for any two of them, the share of votes that prefers one \
to the other differs from one half by no more than 0.05. Where such groups overlap, the closest neighbours are joined \
first (naive merge). So two neighbours within the threshold may end up in different tiers.'
    """
    tiers = record["tiers"]
    if not tiers:
        return ""
    model = record["consensus"]["rule"] == "bradley-terry"
    share = "the win probability of the model" if model else "the share of votes that prefers one to the other"
    if tiers["merge"] not in _JOINED_FIRST:
        return (
            f"Tiers are the smallest groups of which every item leads every item of a lower tier: {share} is above one "
            f"half by more than {tiers['theta']:.3g} ({tiers['merge']} merge)."
        )
    first = _JOINED_FIRST[tiers["merge"]]
    return (
        f"Items next to each other in the ranking share a tier if, for any two of them, {share} differs from one half "
        f"by no more than {tiers['theta']:.3g}. Where such groups overlap, {first} ({tiers['merge']} merge). So two "
        "neighbours within the threshold may end up in different tiers."
    )
