"""The command `check`: a gate that a consensus passes if it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.attack import attack_parts
from holdrank.cli.options import (
    CLAIMS,
    ReadingCommand,
    json_option,
    merge_option,
    quiet_option,
    read,
    reading_options,
    rule_option,
    settled_rule,
    statistic_of,
    tell_rule,
    theta_option,
)
from holdrank.cli.printing import EXIT_GATE, print_json, progress_line

if TYPE_CHECKING:
    from holdrank.attacks.goals import Goal


@click.command(cls=ReadingCommand)
@click.argument("file")
@click.option("--min-breakdown", type=click.FloatRange(0, 1), default=0.01, show_default=True,
              help="Share of the votes that must change before a claim fails.")  # fmt: skip
@click.option("--claim", "claims", multiple=True, metavar="CLAIM",
              help=f"What must hold: {CLAIMS}; may be repeated. Without any: the order of every pair.")  # fmt: skip
@rule_option
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
    from holdrank.analysis.records import reported_record
    from holdrank.attacks.answers import attack
    from holdrank.attacks.goals import Distance, claimed, goal_against
    from holdrank.rules.consensus import name_of
    from holdrank.rules.merges import consensus_of

    votes = read(file, reading, quiet)
    asked, rule = rule, settled_rule(rule, votes)
    T = statistic_of(rule, theta, merge, votes)
    with progress_line(quiet):
        consensus = consensus_of(votes, T, time_limit)
    if consensus.status.is_interrupted:
        raise KeyboardInterrupt
    before = consensus.ranking
    wrong = "does not hold" if consensus.status.is_exact else "does not hold in the best ranking that was found in time"
    pairs = votes.n * (votes.n - 1) / 2
    wanted: list[tuple[str, Goal | None]] = [
        (claim, goal_against(claimed(claim, votes.items), votes.items, before, tiers=theta is not None))
        for claim in claims
    ]
    rows: list[dict[str, Any]] = []
    lines = []
    for claim, goal in wanted or [("every pair", Distance(1 / pairs if pairs else 1.0))]:
        if goal is None:
            rows.append({"claim": claim, "holds": False, "passed": False, "attack": None})
            lines.append(wrong)
            continue
        with progress_line(quiet) as progress:
            found = attack(votes, T, goal, time_limit=time_limit, progress=progress)
        # The share is an infimum: with exactly as much, the claim may still hold.
        passed = found.lower >= min_breakdown
        lines.append(found.text() + ("" if passed or found.upper < min_breakdown else " Not proved."))
        told = attack_parts(found, T)["attack"] if as_json else None
        rows.append({"claim": claim, "holds": True, "passed": passed, "attack": told})
    if as_json:
        reported = reported_record(consensus, name_of(T), auto=theta == "auto")
        spec = {"rule": asked, "theta": theta, "merge": merge, "min_breakdown": min_breakdown, "time_limit": time_limit}
        print_json("check", votes, spec=spec, **reported, claims=rows)
    else:
        for row, line in zip(rows, lines, strict=True):
            click.echo(f"{'ok    ' if row['passed'] else 'FAILED'}  {row['claim']}: {line}")
        tell_rule(asked, rule)
    return 0 if all(row["passed"] for row in rows) else EXIT_GATE
