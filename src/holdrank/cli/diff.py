"""The command `diff`: what moved between two snapshots, and whether it is more than noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

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
    summary_option,
    tell_rule,
    time_option,
    worker_options,
    write_summary,
)
from holdrank.cli.printing import complain, exit_code, plain_table, print_json, print_table, searching, tell_limit
from holdrank.errors import show
from holdrank.status import DRAWS, LEAST_DRAWS
from holdrank.words.comparisons import comparison_text, moved_cells
from holdrank.words.numbers import percent
from holdrank.words.results import few_draws_text

if TYPE_CHECKING:
    from concurrent.futures import Executor


@click.command("diff", cls=ReadingCommand)
@click.argument("old")
@click.argument("new")
@rule_option
@click.option(
    "--draws", type=click.IntRange(min=LEAST_DRAWS), default=DRAWS, show_default=True, help="Bootstrap samples."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Bootstrap seed.")
@time_option("the bootstrap and the votes that undo each move")
@worker_options
@summary_option
@json_option
@quiet_option
@reading_options
def diff(old: str, new: str, rule: str, draws: int, seed: int, time_limit: float | None, executor: Executor | None,
         summary: str | None, as_json: bool, quiet: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Show what moved from OLD to NEW.

    For each item: whether the move is more than noise (bootstrap intervals of both places), and how many votes of NEW
    must change to undo it. Items that are not in both files are left out. The bootstrap of each file may use a third of
    the time limit. Counting the votes that undo each move uses the rest.
    """
    from holdrank.analysis.compare import compare
    from holdrank.status import Status

    if summary is not None:
        for name in (old, new):
            check_output("--summary", summary, name)
    files = [read(name, reading, quiet) for name in (old, new)]
    asked, rule = rule, settled_rule(rule, *files)
    with searching(quiet, "comparing") as progress:
        found = compare(
            files[0],
            files[1],
            statistic(rule),
            draws,
            seed,
            command_clock.left(time_limit),
            progress=progress,
            executor=executor,
        )
    status = Status(found["status"])
    if status.is_interrupted or status.is_timed_out:
        complain(f"note: {status.in_brief} after {found['draws']:,} of {draws:,} draws")
        if not found["intervals"]:
            complain(f"note: {few_draws_text(found['draws'], draws)}")
        tell_limit(time_limit, status, "may rank all of them")
    if not found["exact"]:
        complain("note: not both rankings are proven optimal; moves may come from the search")
    if as_json:
        spec = {"rule": asked, "draws": draws, "seed": seed, "time_limit": time_limit}
        print_json("diff", None, spec=spec, comparison=found)
    else:
        _print_diff(found)
        tell_rule(asked, rule)
    if summary is not None:
        from holdrank.views.summaries import diff_summary

        write_summary(summary, diff_summary(old, new, found))
    return exit_code(status, False)


def _print_diff(found: dict[str, Any]) -> None:
    table = plain_table("old", percent(found["level"]), "new", percent(found["level"]), "moved", "undone by")
    for heading in ("", "item"):
        table.add_column(heading, no_wrap=heading == "")
    for row in found["moves"]:
        table.add_row(*moved_cells(row, found), show(found["items"][row["item"]]))
    print_table("Places of " + found["statistic"], None, table)
    for which in ("old", "new"):
        if found[f"only_{which}"]:
            names = ", ".join(show(item) for item in found[f"only_{which}"])
            click.echo(f"only in the {which} file: {names}")
    click.echo(comparison_text(found))
