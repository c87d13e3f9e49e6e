"""The command `cut`: which items are safely in the top k, safely out, or undecided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.limits import command_clock
from holdrank.cli.options import (
    ReadingCommand,
    json_option,
    quiet_option,
    read,
    reading_options,
    rule_option,
    settled_rule,
    statistic,
    tell_rule,
    time_option,
)
from holdrank.cli.printing import complain, exit_code, plain_table, print_json, print_table, searching, tell_limit
from holdrank.errors import show
from holdrank.words.cuts import cut_lists, cut_text
from holdrank.words.numbers import plural
from holdrank.words.prices import price_text
from holdrank.words.results import first_so_far

if TYPE_CHECKING:
    from holdrank.votes.votes import Votes

_MOST = 20  # items of a list that are far from the cut


@click.command(cls=ReadingCommand)
@click.argument("file")
@click.option("--k", type=click.IntRange(min=1), required=True, metavar="K", help="Number of places.")
@click.option("--votes", "wrong", type=click.FloatRange(min=0, min_open=True), metavar="N",
              help="Number of votes that may be wrong; by default the share given by --budget.")  # fmt: skip
@click.option("--budget", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.001, show_default=True,
              metavar="SHARE", help="Share of the votes that may be wrong; at least one whole vote.")  # fmt: skip
@rule_option
@time_option("all items, those nearest to the cut first")
@click.option(
    "--all", "everyone", is_flag=True, help=f"List all items; by default the {_MOST} of each list nearest to the cut."
)
@json_option
@quiet_option
@reading_options
def cut(file: str, k: int, wrong: float | None, budget: float, rule: str, time_limit: float | None, everyone: bool,
        as_json: bool, quiet: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Show which items are safely in the top K, safely out, or undecided.

    Each item has a margin: how many votes must change to move it across the cut. "Safely" is proven: changing as many
    votes as the budget allows cannot move the item, no matter which votes change.
    """
    from holdrank.analysis.cut import at_the_cut
    from holdrank.analysis.records import ranking_record, votes_record
    from holdrank.attacks.reach import whole_budget
    from holdrank.rules.merges import consensus_of
    from holdrank.status import Clock, Status, Step

    votes = read(file, reading, quiet)
    if k >= votes.n:
        raise click.UsageError(f"--k {k} leaves no item out: the file has {plural(votes.n, 'item')}.")
    asked, rule = rule, settled_rule(rule, votes)
    if wrong is not None and wrong >= votes.total:
        raise click.UsageError(
            f"--votes must be smaller than the number of votes in the file, {votes.total:,g}, not {wrong:g}."
        )
    budget = budget if wrong is None else wrong / votes.total
    T = statistic(rule)
    with searching(quiet, "testing the cut") as progress, Clock(command_clock.left(time_limit)) as clock:

        def say(done: int, total: int) -> None:
            progress(Step("items", done, total))

        consensus = consensus_of(votes, T, clock.time_limit())
        progress(Step("items", 0, votes.n, first_so_far(votes.items[consensus.ranking.order[0]])))
        found, short = at_the_cut(votes, T, consensus.ranking, k, whole_budget(budget, votes), clock, say)
        status = Status.INTERRUPTED if clock.interrupted else short or consensus.status
    if as_json:
        spec = {"rule": asked, "k": k, "budget": budget, "time_limit": time_limit}
        print_json("cut", votes, spec=spec, consensus=ranking_record(rule, consensus), cut=found)
    else:
        _print_cut(found, votes, votes_record(votes), everyone=everyone)
        for note in consensus.notes:
            click.echo(f"note: {note}")
        tell_rule(asked, rule)
    tell_limit(time_limit, status, "may decide more of them")
    if status.is_interrupted:
        complain("note: interrupted; items that were not tested yet are undecided")
    return exit_code(status, False)


def _print_cut(found: dict[str, Any], votes: Votes, about: dict[str, Any], *, everyone: bool) -> None:
    """Print the three lists, each with the items nearest to the cut."""
    click.echo(cut_text(found, about))
    place = {row["item"]: at for at, row in enumerate(found["items"], start=1)}
    for title, rows in cut_lists(found).items():
        shown = rows if everyone else sorted(rows, key=lambda row: abs(place[row["item"]] - found["k"] - 0.5))[:_MOST]
        click.echo()
        if not rows:
            click.echo(f"{title}: none")
            continue
        table = plain_table("place")
        for heading in ("item", "margin"):
            table.add_column(heading, overflow="fold")
        for row in sorted(shown, key=lambda row: place[row["item"]]):
            table.add_row(str(place[row["item"]]), show(votes.items[row["item"]], 60), price_text(row, about))
        print_table(f"{title}: {len(rows)}", None, table)
        if len(rows) > len(shown):
            click.echo(f"and {len(rows) - len(shown):,} more; --all lists them")
