"""The commands `check`, a gate that a consensus passes if it holds, `verify`, and `diff` of two snapshots."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.breaking import attack_json, statistic_of, theta_option
from holdrank.cli.options import (
    CLAIMS,
    ReadingCommand,
    json_option,
    merge_option,
    quiet_option,
    read,
    reading_options,
    require_proof_option,
    rule_option,
    statistic,
    worker_options,
)
from holdrank.cli.printing import (
    EXIT_GATE,
    EXIT_INTERRUPTED,
    EXIT_NOT_PROVED,
    complain,
    plain_table,
    print_json,
    print_table,
    progress_line,
    votes_json,
)
from holdrank.errors import show

if TYPE_CHECKING:
    from concurrent.futures import Executor

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
    from holdrank.attacks.answers import attack
    from holdrank.attacks.goals import Distance, claimed, goal_against
    from holdrank.rules.merges import consensus_of

    votes = read(file, reading, quiet)
    T = statistic_of(rule, theta, merge, votes, time_limit, quiet)
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
    for claim, goal in wanted or [("every pair", Distance(1 / pairs if pairs else 1.0))]:
        if goal is None:
            rows.append({"claim": claim, "passed": False, "text": wrong})
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


@click.command("diff", cls=ReadingCommand)
@click.argument("old")
@click.argument("new")
@rule_option
@click.option("--draws", type=click.IntRange(min=1), default=1000, show_default=True, help="Draws of the bootstrap.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the bootstrap.")
@click.option("--time-limit", type=click.FloatRange(min=0), default=10.0, show_default=True,
              help="Seconds for the votes that undo what moved.")  # fmt: skip
@worker_options
@json_option
@quiet_option
@reading_options
def diff(old: str, new: str, rule: str, draws: int, seed: int, time_limit: float, executor: Executor | None,
         as_json: bool, quiet: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Tell what moved from OLD to NEW.

    And whether it is more than noise: the places, and where they lie in 95 % of the draws when the votes are drawn
    again. And by what margin: the votes of NEW after whose change a pair that moved stands as in OLD. Items that are
    not in both files are left out.
    """
    from holdrank.analysis.compare import compare

    files = [read(name, reading, quiet) for name in (old, new)]
    with progress_line(quiet, "comparing"):
        found = compare(files[0], files[1], statistic(rule), draws, seed, time_limit, executor=executor)
    ended = found["draws"] < draws
    if ended:
        complain(f"note: interrupted after {found['draws']:,} of {draws:,} draws")
    if as_json:
        parts = {name: found[name] for name in ("draws", "seed", "items", "only_old", "only_new")}
        print_json("diff", files[0], new=votes_json(files[1]), rule=rule, **parts)
    else:
        _print_diff(found)
    return EXIT_INTERRUPTED if ended else 0


def _undone_by(row: dict[str, Any], found: dict[str, Any]) -> str:
    """Return the votes after whose change a pair that a move turned stands as before."""
    from holdrank.cli.terminal import votes_words

    margin = row["undone_by"]
    if margin is None:
        return ""
    shares = {"lower": margin["needed"], "upper": margin["sufficient"], "decides": margin["needed"]}
    return votes_words({**margin, **shares}, counts=found["votes"] is not None)


def _print_diff(found: dict[str, Any]) -> None:
    table = plain_table("old", "95 %", "new", "95 %", "moved", "undone by")
    for heading in ("", "item"):
        table.add_column(heading, no_wrap=heading == "")
    for row in found["items"]:
        moved = row["old"]["place"] - row["new"]["place"]
        places = [text for one in (row["old"], row["new"])
                  for text in (f"{one['place']:g}", f"{one['best']:g} to {one['worst']:g}")]  # fmt: skip
        verdict = "beyond noise" if row["beyond_noise"] else "within noise" if moved else ""
        table.add_row(*places, f"{moved:+g}" if moved else "", _undone_by(row, found), verdict, show(row["item"]))
    print_table("Places of " + found["statistic"], None, table)
    for which in ("old", "new"):
        if found[f"only_{which}"]:
            names = ", ".join(show(item) for item in found[f"only_{which}"])
            click.echo(f"only in the {which} file: {names}")
    click.echo(
        f"{found['moved']} of {len(found['items'])} items moved, {found['beyond_noise']} beyond noise; "
        f"{found['turned']} of {found['pairs']} pairs changed their order"
    )


@click.command(cls=ReadingCommand)
@click.argument("result")
@click.argument("file")
@require_proof_option
@json_option
@quiet_option
@reading_options
def verify(result: str, file: str, require_proof: bool, as_json: bool, quiet: bool, reading: dict[str, Any]) -> int:
    """Check the analysis RESULT of FILE again, by other means.

    RESULT was written by `report -o result.json`. Every number in it is checked in exact arithmetic, by a second
    implementation that trusts no solver. A statement is proved, refuted, or open: this check does
    not reach bounds on more than 6 items, and where a lower and an upper bound differ the number is not known. Exit
    code 4 when one is refuted.
    """
    from holdrank.analysis.result import Analysis
    from holdrank.files.containers.source import open_source
    from holdrank.proofs.verify import verify as checked

    analysis = Analysis.from_json(open_source(result).data, source=result)
    votes = read(file, reading, quiet)
    with progress_line(quiet, "checking"):
        verdict = checked(votes, analysis)
    if as_json:
        checks = [asdict(check) for check in verdict.checks]
        print_json("verify", votes, proved=verdict.proved, refuted=verdict.refuted, checks=checks)
    else:
        for line in verdict.text().splitlines():
            click.echo(line)
    if verdict.refuted:
        return EXIT_GATE
    return EXIT_NOT_PROVED if require_proof and not verdict.proved else 0
