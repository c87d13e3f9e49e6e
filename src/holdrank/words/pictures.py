"""The pictures of a page in words: what each shows, for whoever cannot see it; also its label."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import ceil
from typing import Any, TypeAlias

from holdrank.errors import show
from holdrank.words.ladders import buckets, spans
from holdrank.words.mean_ranks import diagram_left_out, mean_ranks_text
from holdrank.words.names import curve_name, distance_name, in_text, listed, named
from holdrank.words.nouns import noun_of
from holdrank.words.numbers import percent, plural, sentence, span
from holdrank.words.prices import budget_text, price, price_text
from holdrank.words.tradeoffs import flat_text, tradeoff_text, weighed

Record: TypeAlias = dict[str, Any]

MOST_RUNGS = 24  # tiers of a ladder; more are in the board
MOST_PAIRED = 30  # items of a matrix of pairs, from the top
_MOST_TOLD = 12  # items in words


def concerns(name: str, record: Record) -> bool:
    """Whether a picture is about votes like these: mean ranks are of tables of scores."""
    return name != "critical_difference" or record.get("mean_ranks") is not None


def left_out(name: str, record: Record) -> str:
    """Return why a picture would tell nothing, in a line; nothing where it is worth its room."""
    if len(record["items"]) < 2:
        return "There is one item, so there is nothing to draw."
    if name == "critical_difference":
        return diagram_left_out(record.get("mean_ranks"), len(record["items"]))
    if name == "ladder":
        tiers = len(set((record["tiers"] or record["consensus"])["ranks"]))
        return (
            f"Tier ladder: {tiers} tiers are too many for a picture; the board shows them."
            if tiers > MOST_RUNGS
            else ""
        )
    if name == "breakdown" and not record["curves"]:
        return "Breakdown curve: it was not computed."
    if name == "breakdown" and not telling_curves(record):
        return "Breakdown curve: its lower and upper bounds are too far apart to draw."
    if name == "tradeoff":
        return flat_text(record) if weighed(record) is not None else tradeoff_text(record)
    if name == "attack" and (record["attack"] is None or record["attack"]["after"] is None):
        return f"Minimal attack: {_why_no_attack(record)}."
    return ""


# Places


def ranges_text(record: Record) -> str:
    """Return the ranges in words, a line for each of the first items."""
    order, names = record["consensus"]["order"], record["items"]
    drawn, reach = record["bootstrap"], record["reach"]
    known = ["place in the consensus"]
    if drawn is not None:
        known.append(f"places in {percent(drawn['level'])} of {drawn['draws']:,} bootstrap samples")
    if reach is not None:
        known.append(f"places that changing {budget_of(record)} can reach")
    lines = [f"{'; '.join(known)}.".capitalize()]
    for row, item in enumerate(order[:_MOST_TOLD]):
        parts = [f"{row + 1}"]
        if drawn is not None:
            parts.append(f"{span(drawn['best'][item], drawn['worst'][item])} by chance")
        if reach is not None:
            parts.append(_reach_words(reach, item))
        lines.append(f"{in_text(names[item])}: {'; '.join(parts)}.")
    more = len(order) - _MOST_TOLD
    return "\n".join([*lines, f"And {plural(more, 'more item')}, in the table."] if more > 0 else lines)


def budget_of(record: Record) -> str:
    """Return the budget of the adversary who moves places."""
    return budget_text(record["reach"]["budget"], record["reach"]["votes"], noun_of(record["votes"]))


def _reach_words(reach: Record, item: int) -> str:
    """Return the places that an adversary reached, and those that are not ruled out where they are more."""
    shown = span(reach["shown_best"][item], reach["shown_worst"][item])
    possible = span(reach["best"][item], reach["worst"][item])
    return f"{shown} by attack" if shown == possible else f"{shown} by attack, {possible} not ruled out"


def critical_difference_text(record: Record) -> str:
    """Return the critical-difference diagram in words, or why there is none."""
    found, names = record.get("mean_ranks"), record["items"]
    return diagram_left_out(found, len(names)) or mean_ranks_text(found or {}, names)


# Pairs


def heatmap_text(record: Record) -> str:
    """Return what the matrix shows in words: the closest pair, the clearest, and pairs that nothing compares."""
    order, names, n = record["consensus"]["order"], record["items"], len(record["items"])
    if n < 2:
        return "There are no pairs: there is one item."
    share = record["pairs"]["share"]
    pairs = [(i, j) for i, j in combinations(range(n), 2) if compared(record, i, j)]
    total = n * (n - 1) // 2
    lines = [f"{plural(n, 'item')}, {plural(total, 'pair')}, in the order of the consensus."]
    if n > MOST_PAIRED:
        lines.append(f"The first {MOST_PAIRED} are drawn; what follows is about all.")

    def told(i: int, j: int) -> str:
        if share[i][j] < 0.5:
            i, j = j, i
        return f"{percent(share[i][j])} prefer {in_text(names[order[i]])} to {in_text(names[order[j]])}"

    if pairs:
        closest = min(pairs, key=lambda pair: abs(share[pair[0]][pair[1]] - 0.5))
        clearest = max(pairs, key=lambda pair: abs(share[pair[0]][pair[1]] - 0.5))
        against = sum(share[i][j] < 0.5 for i, j in pairs)
        lines.append(f"Closest: {told(*closest)}. Clearest: {told(*clearest)}.")
        lines.append(f"Majorities against the consensus: {against} of {plural(len(pairs), 'pair')}.")
    if len(pairs) < total:
        lines.append(f"Never compared: {plural(total - len(pairs), 'pair')}.")
    return "\n".join(lines)


def matrix_key_text(record: Record) -> str:
    """Return what the colours of the matrix mean.

    Examples
    --------
    >>> matrix_key_text({"votes": {"format": "battles"}}), matrix_key_text({"votes": {"format": "preflib"}})
    ('share of battles that row wins against column', 'share of ballots that put row above column')
    """
    noun = noun_of(record["votes"])
    does = "row wins against column" if noun in ("battle", "game") else "put row above column"
    return f"share of {noun}s that {does}"


def few_text(record: Record, fewest: int) -> str:
    """Return what hatched cells mean.

    Examples
    --------
    >>> few_text({"votes": {"format": "battles"}}, 5), few_text({"votes": {}}, 0)
    ('under 5 battles', 'no votes')
    """
    return f"{f'under {fewest}' if fewest else 'no'} {noun_of(record['votes'])}s"


def compared(record: Record, i: int, j: int) -> float:
    """Return the weight of the votes that compare the items at two places of the consensus."""
    table = record["pairs"]["compared"]
    found: float = table[0][0] if len(table) == 1 else table[i][j]
    return found


def pairs_data(record: Record) -> dict[str, Any]:
    """Return the shares and numbers of votes of the pairs that the matrix draws, for whoever points at one."""
    n, order = min(len(record["items"]), MOST_PAIRED), record["consensus"]["order"]
    return {
        "names": [named(record["items"][item]) for item in order[:n]],
        "share": [[round(share, 3) for share in row[:n]] for row in record["pairs"]["share"][:n]],
        "compared": [[compared(record, i, j) if i != j else 0 for j in range(n)] for i in range(n)],
        "unit": f"{noun_of(record['votes'])}s" if record["votes"]["counts"] else "",
    }


# Breakdown curves


def breakdown_text(record: Record) -> str:
    """Return the curves in words: what moves one pair, and what moves half of all."""
    curves = known_curves(record)
    if not curves:
        why = (
            "no bound was found within the time limit"
            if record["curves"]
            else "with one item, or out of time, none was computed"
        )
        return f"There are no breakdown curves: {why}."
    lines = [f"{noun_of(record['votes']).capitalize()}s that must change to move the consensus."]
    for curve in curves:
        chosen = {0: curve["delta"][0], _nearest(curve["delta"], 0.1): 0.1, _nearest(curve["delta"], 0.5): 0.5}
        parts = [curve_point_text(record, curve, k) for k in sorted(chosen)]
        lines.append(f"{curve_name(curve['rule'], curve['theta'])}: {'; '.join(parts)}.")
    return "\n".join(lines)


def curve_point_text(record: Record, curve: Record, k: int) -> str:
    """Return what one distance of a curve takes: "2 pairs: 31 votes (31 %)"."""
    pairs = len(record["items"]) * (len(record["items"]) - 1) // 2
    names = ("lower", "upper", "needed", "decides", "sufficient")
    cost = price_text({name: curve[name][k] for name in names}, record["votes"])
    return f"{_moved(curve, curve['delta'][k], pairs)}: {cost}"


def _moved(curve: Record, delta: float, pairs: int) -> str:
    if other_metric(curve):
        return f"{percent(delta)} of the largest {distance_name(other_metric(curve))} distance"
    halves = 2 if in_halves(curve) else 1
    return plural(ceil(halves * delta * pairs - 1e-9) / halves, "pair")


def axis_text(metric: str) -> str:
    """Return what an axis of distances in a metric says.

    Examples
    --------
    >>> axis_text("cayley")
    'Cayley distance that the consensus moves, as a share of the largest'
    """
    return f"{distance_name(metric)} distance that the consensus moves, as a share of the largest"


def other_metric(curve: Record) -> str:
    """Return the metric of a curve whose distances are no shares of pairs; nothing for all others."""
    distance = str(curve.get("distance") or "")
    return "" if distance == "kendall" or distance.startswith("hausdorff_") else distance


def in_halves(curve: Record) -> bool:
    """Whether a tie counts half a pair; the record of an analysis has no such curves."""
    return bool(curve.get("distance") == "hausdorff_half")


def known_curves(record: Record) -> list[Record]:
    """Return the curves that say anything."""
    return [curve for curve in record["curves"] if any(curve["lower"]) or any(x is not None for x in curve["upper"])]


def telling_curves(record: Record) -> list[Record]:
    """Return the curves that have a shape.

    At half of the distances, and at two, the ends are within a factor of 3; and at one of these it takes any votes.
    """
    found = []
    for curve in known_curves(record):
        ends = list(zip(curve["lower"], curve["upper"], strict=True))
        near = [low for low, high in ends if low is None or (high is not None and 3 * low >= high)]
        known = len(near)
        if 2 * known >= len(ends) and known >= min(2, len(ends)) and any(low is None or low > 0 for low in near):
            found.append(curve)
    return found


def _nearest(values: Sequence[float], wanted: float) -> int:
    return min(range(len(values)), key=lambda k: abs(values[k] - wanted))


# Attacks


def attack_text(record: Record) -> str:
    """Return the attack in words: what it takes, and who moves where."""
    found, names = record["attack"], record["items"]
    if found is None:
        return f"Minimal attack: {_why_no_attack(record)}."
    text = show(found["text"], 600)
    if found["after"] is None:
        return f"{text} {sentence(_why_no_attack(record))}"
    order = record["consensus"]["order"]
    sides = [buckets(found[side], order) for side in ("before", "after")]
    before, after = (places_of_items(groups) for groups in sides)
    moved = [
        f"{in_text(names[item])} from {before[item]} to {after[item]}" for item in order if before[item] != after[item]
    ]
    if not moved:
        return f"{text}\nNo item changes its place."
    return f"{text}\nPlaces that change: {listed(moved, _MOST_TOLD)}."


def _why_no_attack(record: Record) -> str:
    """Return why there is no attack to draw."""
    found = record["attack"]
    if found is None:
        return "none was searched for; there was no time, or there is one item"
    if found["lower"] is None:
        return "there is nothing to draw"
    if price(found, record["votes"]) is not None and found["upper"] is not None:
        return "the order after it was not computed within the time limit"
    return "none was found within the time limit"


def places_of_items(groups: list[list[int]]) -> dict[int, str]:
    """Return the places of each item as text; tied items share theirs."""
    return {item: places for group, places in zip(groups, spans(groups), strict=True) for item in group}
