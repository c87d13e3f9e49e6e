"""The command `check`: a gate for pipelines that a consensus passes if it holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.breaking import attack_json, statistic_of, theta_option
from holdrank.cli.options import (
    ReadingCommand,
    breakable_rule_option,
    json_option,
    merge_option,
    quiet_option,
    read,
    reading_options,
)
from holdrank.cli.printing import EXIT_GATE, print_json, progress_line
from holdrank.errors import UsageError, quote

if TYPE_CHECKING:
    from holdrank.breaking.goals import Goal
    from holdrank.rankings import Ranking
    from holdrank.votes import Votes

_CLAIMS = "'X wins', 'A above B' or 'top 3'"


@click.command(cls=ReadingCommand)
@click.argument("file")
@click.option("--min-breakdown", type=click.FloatRange(0, 1), default=0.01, show_default=True,
              help="Share of the votes that must change before a claim fails.")  # fmt: skip
@click.option("--claim", "claims", multiple=True, metavar="CLAIM",
              help=f"What must hold: {_CLAIMS}; may be repeated. Without any: the order of every pair.")  # fmt: skip
@breakable_rule_option
@theta_option
@merge_option
@click.option("--time-limit", type=click.FloatRange(min=0), help="Seconds for each claim.")
@json_option
@quiet_option
@reading_options
def check(file: str, min_breakdown: float, claims: tuple[str, ...], rule: str, theta: float | str | None, merge: str,
          time_limit: float | None, as_json: bool, quiet: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Fail unless the consensus of FILE holds.

    Exit code 4 when a claim is wrong, or not proved to stay right until a share of the votes changes.
    """
    from holdrank.breaking.answers import attack
    from holdrank.breaking.goals import Distance

    votes = read(file, reading, quiet)
    T = statistic_of(rule, theta, merge, votes, time_limit)
    before = T(votes).ranking
    pairs = votes.n * (votes.n - 1) / 2
    wanted: list[tuple[str, Goal | None]] = [
        (claim, broken_by(claim, votes, before, theta is not None)) for claim in claims
    ]
    rows: list[dict[str, Any]] = []
    for claim, goal in wanted or [("every pair", Distance(1 / pairs if pairs else 1.0))]:
        if goal is None:
            rows.append({"claim": claim, "passed": False, "text": "does not hold"})
            continue
        with progress_line(quiet) as progress:
            found = attack(votes, T, goal, time_limit=time_limit, progress=progress)
        # The share is an infimum: with exactly as much, the claim may still hold.
        passed = found.lower >= min_breakdown
        doubt = "" if passed or found.upper < min_breakdown else " Not proved."
        rows.append({"claim": claim, "passed": passed, "text": found.text() + doubt, "attack": attack_json(found)})
    if as_json:
        print_json("check", votes, rule=rule, theta=theta, merge=merge, min_breakdown=min_breakdown, claims=rows)
    else:
        for row in rows:
            click.echo(f"{'ok    ' if row['passed'] else 'FAILED'}  {row['claim']}: {row['text']}")
    return 0 if all(row["passed"] for row in rows) else EXIT_GATE


def broken_by(claim: str, votes: Votes, before: Ranking, tiers: bool) -> Goal | None:
    """Return the goal of whoever wants a claim to fail; None when it does not hold as it is."""
    from holdrank.breaking import goals

    words = " ".join(claim.split())
    top = re.fullmatch(r"top (\d+)", words)
    if top and words not in votes.items:
        return goals.TopSet(int(top[1]))
    if words.endswith(" wins"):
        item = words.removesuffix(" wins")
        # Whoever else wins: a shared first place is not a win.
        return goals.NewWinner() if goals.Wins(item).aim(before, votes.items).newcomers == before.buckets[0] else None
    for sign in re.finditer(" above ", words):
        upper, lower = words[: sign.start()], words[sign.end() :]
        if (upper in votes.items and lower in votes.items) or words.count(" above ") == 1:
            if tiers:
                raise UsageError(f"tiers may also tie what {quote(claim)} keeps apart; claim it without --theta")
            holds = goals.Above(upper, lower).aim(before, votes.items).reached(before)
            return goals.Above(lower, upper) if holds else None
    raise UsageError(f"a claim is {_CLAIMS}, not {quote(claim)}")
