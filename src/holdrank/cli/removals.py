"""The command `removals`: how the order of the others changes without each item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.limits import command_clock
from holdrank.cli.options import (
    ReadingCommand,
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
from holdrank.words.numbers import plural
from holdrank.words.removals import changes_text, flips_text, winner_text

if TYPE_CHECKING:
    from holdrank.analysis.removals import Removals
    from holdrank.votes.votes import Votes


@click.command(cls=ReadingCommand)
@click.argument("file")
@rule_option
@time_option("all removals")
@result_options
def removals(file: str, rule: str, time_limit: float | None, require_proof: bool, as_json: bool, quiet: bool,
             verbose: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Remove each item of FILE in turn, and show which of the others change places.

    An item is removed with all its comparisons, and the rule runs again on the rest.
    """
    from holdrank.analysis import records
    from holdrank.analysis.removals import removals as remove_each

    votes = read(file, reading, quiet)
    asked, rule = rule, settled_rule(rule, votes)
    with searching(quiet, "removing items") as progress:
        found = remove_each(votes, statistic(rule), time_limit=command_clock.left(time_limit), progress=progress)
    if verbose:
        complain(f"{found.status}; {found.seconds:.3g} s")
    if as_json:
        spec = {"rule": asked, "time_limit": time_limit}
        parts = {"consensus": records.ranking_record(rule, found.consensus), **records.removals_record(found)}
        print_json("removals", votes, spec=spec, **parts, seconds=round(found.seconds, 6))
    else:
        _print_removals(votes, found, rule)
        tell_rule(asked, rule)
    tell_limit(time_limit, found.status, "removes the others too")
    return exit_code(found.status, require_proof)


def _print_removals(votes: Votes, found: Removals, rule: str) -> None:
    """Print the removals that change something, and how many there are."""
    if found.changing:
        table = plain_table("flips")
        for heading in ("without", "first place", "pairs that flip"):
            table.add_column(heading, overflow="fold")
        for one in found.changing:
            first = winner_text(one.winners, one.new_winner)
            table.add_row(str(len(one.flips)), show(one.item, 60), first, flips_text(one.flips))
        print_table(f"Removals by {rule}", votes, table)
    click.echo(changes_text(len(found.changing), sum(one.new_winner for one in found.each), len(found.each)))
    if len(found.each) < votes.n:
        click.echo(f"{found.status.in_brief}: {plural(votes.n - len(found.each), 'item')} not tried")
    unproved = sum(not one.status.is_exact for one in found.each)
    if unproved:
        click.echo(f"{plural(unproved, 'removal')} with the best ranking found, not proved")
