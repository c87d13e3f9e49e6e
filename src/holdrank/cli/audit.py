"""The command `audit`: problems in the votes that could make the ranking misleading."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.columns import ColumnOption
from holdrank.cli.limits import command_clock
from holdrank.cli.options import (
    ReadingCommand,
    check_output,
    json_option,
    quiet_option,
    read,
    reading_options,
    rule_option,
    settled_rule,
    statistic,
    tell_rule,
    time_option,
    verbose_option,
)
from holdrank.cli.printing import complain, exit_code, plain_table, print_json, print_table, progress_line, tell_limit
from holdrank.errors import show

if TYPE_CHECKING:
    from holdrank.analysis.audit import Audit
    from holdrank.votes.votes import Votes


@click.command(cls=ReadingCommand)
@click.argument("file")
@click.option(
    "--by",
    metavar="COLUMN",
    cls=ColumnOption,
    help="Column of categories, such as language or task; each is ranked separately.",
)
@rule_option
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
              help="Confidence level of the intervals.")  # fmt: skip
@time_option("what an adversary needs", 20.0)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the simulated cycles.")
@click.option("-o", "--output", metavar="PAGE", help="Write the findings to this .html or .md file.")
@json_option
@quiet_option
@verbose_option
@reading_options
def audit(file: str, by: str | None, rule: str, level: float, time_limit: float | None, seed: int, output: str | None,
          as_json: bool, quiet: bool, verbose: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Find problems in the votes of FILE that make the ranking misleading.

    Runs nine probes. Each finding has an interval, a bar, the pairs, items or people it concerns, and what an adversary
    needs. --voter names the voter column, --by a category column. A probe without the data it needs says so.
    """
    from holdrank.analysis import records
    from holdrank.analysis.audit import audit as look
    from holdrank.analysis.audit_records import audit_record
    from holdrank.files.writers import write_whole
    from holdrank.views.audits import AUDIT_FORMS

    if output is not None:
        check_output("--output", output, file, tuple(AUDIT_FORMS))
    votes = read(file, reading if by is None else {**reading, "by": by}, quiet)
    asked, rule = rule, settled_rule(rule, votes)
    with progress_line(quiet, "auditing the votes") as progress:
        found = look(
            votes, statistic(rule), level=level, time_limit=command_clock.left(time_limit), rng=seed, progress=progress
        )
    if verbose:
        complain(f"{found.status}; {found.seconds:.3g} s")
    if output is not None:
        page = AUDIT_FORMS[Path(output).suffix.lower()](found)
        write_whole(Path(output), page.encode("utf-8", "backslashreplace"))
        complain(f"wrote {show(output, 200)}")
    if as_json:
        spec = {"rule": asked, "by": by, "level": level, "time_limit": time_limit, "seed": seed}
        parts = {"consensus": records.ranking_record(rule, found.consensus), **audit_record(found)}
        print_json("audit", votes, spec=spec, **parts, seconds=round(found.seconds, 6))
    else:
        _print_findings(votes, found, rule)
        tell_rule(asked, rule)
    tell_limit(time_limit, found.status, "may complete the attacks")
    return exit_code(found.status, require_proof=False)


def _print_findings(votes: Votes, found: Audit, rule: str) -> None:
    """Print the table of all probes, then the raised findings, then the probes that do not apply."""
    table = plain_table()
    for heading in ("probe", "state", "statistic", "adversary"):
        table.add_column(heading, overflow="fold")
    for one in found.findings:
        if one.applies:
            table.add_row(one.title, one.state.replace("raised", "RAISED"), one.statistic_text, one.adversary_text)
    print_table(f"Audit by {rule}", votes, table)
    click.echo(f"\n{found.headline}")
    for one in found.raised:
        click.echo(f"\n{one.title}: {one.text()}\n  ({one.bar_text})")
    silent = [one for one in found.findings if not one.applies]
    if silent:
        click.echo("\nDoes not apply:")
    for one in silent:
        click.echo(f"  {one.title}: {one.reason_text}")
