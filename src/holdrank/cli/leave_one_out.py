"""The command `leave-one-out`: which voter, task, judge or category decides the result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.columns import ColumnOption
from holdrank.cli.limits import command_clock
from holdrank.cli.options import (
    ReadingCommand,
    check_output,
    read,
    result_options,
    rule_option,
    settled_rule,
    statistic,
    tell_rule,
    time_option,
)
from holdrank.cli.printing import complain, exit_code, plain_table, print_json, print_table, searching, tell_limit
from holdrank.errors import show
from holdrank.words.groups import groups_text
from holdrank.words.numbers import number, percent, plural
from holdrank.words.removals import flips_text, winner_text

if TYPE_CHECKING:
    from holdrank.analysis.leave_one_out import LeaveOneOut
    from holdrank.votes.votes import Votes


@click.command("leave-one-out", cls=ReadingCommand)
@click.argument("file")
@click.option("--by", metavar="COLUMN", cls=ColumnOption,
              help="Column of the groups, such as language or judge; by default the columns of a score table, or the "
              "voters.")  # fmt: skip
@click.option("--ballots", is_flag=True, help="Leave out one vote of each distinct ballot instead.")
@rule_option
@click.option("--most", type=click.IntRange(min=0), default=20, show_default=True, help="Number of groups to list.")
@time_option("all groups")
@click.option("-o", "--output", metavar="PAGE", help="Write a picture and the table of all groups to this .html file.")
@result_options
def leave_one_out(file: str, by: str | None, ballots: bool, rule: str, most: int, time_limit: float | None,
                  output: str | None, require_proof: bool, as_json: bool, quiet: bool, verbose: bool,
                  reading: dict[str, Any]) -> int:  # fmt: skip
    """Leave out each voter, task or category of FILE in turn, and show what changes.

    In a score table, the groups are the columns. In battles and ballots, --by names the column that groups the rows.
    The rule runs again on the remaining votes.
    """
    from holdrank.analysis import records
    from holdrank.analysis.group_records import leave_one_out_record
    from holdrank.analysis.leave_one_out import leave_one_out as leave_each_out
    from holdrank.files.writers import write_whole
    from holdrank.views.groups import left_out_page

    if by is not None and ballots:
        raise click.UsageError("Give --by or --ballots, not both.")
    if output is not None:
        check_output("--output", output, file, (".html",))
    votes = read(file, reading if by is None else {**reading, "by": by}, quiet)
    asked, rule = rule, settled_rule(rule, votes)
    with searching(quiet, "leaving out groups") as progress:
        found = leave_each_out(
            votes,
            statistic(rule),
            by="ballot" if ballots else None,
            time_limit=command_clock.left(time_limit),
            progress=progress,
        )
    if verbose:
        complain(f"{found.status}; {found.seconds:.3g} s")
    if output is not None:
        write_whole(Path(output), left_out_page(found).encode())
        complain(f"wrote {show(output, 200)}")
    if as_json:
        spec = {"rule": asked, "by": by, "ballots": ballots, "time_limit": time_limit}
        parts = {"consensus": records.ranking_record(rule, found.consensus), **leave_one_out_record(found)}
        print_json("leave-one-out", votes, spec=spec, **parts, seconds=round(found.seconds, 6))
    else:
        _print_groups(votes, found, rule, most)
        tell_rule(asked, rule)
    tell_limit(time_limit, found.status, "leaves out the others too")
    return exit_code(found.status, require_proof)


def _print_groups(votes: Votes, found: LeaveOneOut, rule: str, most: int) -> None:
    """Print the groups that change most, and how many change something."""
    shown = found.changing[:most]
    if shown:
        table = plain_table("votes", "flips", "of pairs")
        for heading in (f"without {show(found.by, 40)}", "first place", "pairs that flip"):
            table.add_column(heading, overflow="fold")
        for one in shown:
            numbers = number(one.votes), str(len(one.flips)), percent(one.distance)
            first = winner_text(one.winners, one.new_winner)
            table.add_row(*numbers, show(one.name, 60), first, flips_text(one.flips))
        print_table(f"Leave one out by {rule}", votes, table)
        if len(found.changing) > len(shown):
            click.echo(f"and {len(found.changing) - len(shown):,} more; --most lists them")
    click.echo(groups_text(found.by, len(found.changing), found.deciding, len(found.each)))
    alone = [one for one in found.each if one.unheard]
    if alone:
        click.echo(
            f"note: without {show(alone[0].name, 60)} no vote is left for {show(alone[0].unheard[0], 60)}"
            + (f"; {plural(len(alone), 'group')} in total leave items without votes" if len(alone) > 1 else "")
        )
    if len(found.each) < found.groups:
        click.echo(f"{found.status.in_brief}: {plural(found.groups - len(found.each), 'group')} not tried")
    unproved = sum(not one.status.is_exact for one in found.each)
    if unproved:
        click.echo(f"{plural(unproved, 'group')} with the best ranking found, not proved")
