"""The command `voters`: how many voters are needed to change the winner, and who matters most."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.limits import command_clock
from holdrank.cli.options import ReadingCommand, read, result_options, search_time_option, statistic
from holdrank.cli.printing import complain, exit_code, plain_table, print_json, print_table, searching, tell_limit
from holdrank.errors import show
from holdrank.words.names import in_text
from holdrank.words.numbers import number
from holdrank.words.voters import deciding_text

if TYPE_CHECKING:
    from holdrank.analysis.voters import VoterEffects
    from holdrank.votes.votes import Votes

_RULE = "bradley-terry"
_POINTS = 400 / math.log(10)  # rating points per unit of strength, as `rank` shows them


@click.command(cls=ReadingCommand)
@click.argument("file")
@click.option("--race", nargs=2, metavar="A B", help="Two items A and B; by default the first two.")
@click.option("--at-most", type=click.FloatRange(min=0, min_open=True), metavar="K",
              help="Count at most K battles per voter, by scaling down those who cast more.")  # fmt: skip
@click.option("--new-voters", type=click.IntRange(min=1), metavar="K",
              help="Also report how many new voters are needed, with at most K battles each.")  # fmt: skip
@click.option("--most", type=click.IntRange(min=0), default=10, show_default=True, help="Number of voters to list.")
@search_time_option
@result_options
def voters(file: str, race: tuple[str, str] | None, at_most: float | None, new_voters: int | None, most: int,
           time_limit: float | None, require_proof: bool, as_json: bool, quiet: bool, verbose: bool,
           reading: dict[str, Any]) -> int:  # fmt: skip
    """Count the voters needed to change the winner, and list those who matter most.

    FILE holds battles, and --voter names the column with the voter. The ranking is by Bradley-Terry. With --race, the
    goal is to reverse the order of two items.
    """
    from holdrank.analysis import records
    from holdrank.analysis.voters import voter_effects
    from holdrank.attacks.goals import Above, Goal, NewWinner
    from holdrank.attacks.voters import VoterAttack, voter_attack
    from holdrank.status import Step

    votes = read(file, reading, quiet)
    if at_most is not None:
        votes = votes.capped(at_most)
    T = statistic(_RULE)
    with searching(quiet, "leaving out voters") as progress:
        found = voter_effects(votes, T, race=race)
        goal: Goal = NewWinner() if race is None else Above(found.below, found.above)
        left = command_clock.left(time_limit)
        seconds = None if left is None else left / (2 + (new_voters is not None))
        changes = [("drop", None), ("replace", None), *([("add", new_voters)] if new_voters else [])]
        attacks: list[VoterAttack] = []
        for done, (change, cap) in enumerate(changes):
            if progress is not None:
                progress(Step(f"voters to {change}", done, len(changes), attacks[-1].text() if attacks else ""))
            attacks.append(voter_attack(votes, T, goal, change=change, cap=cap, time_limit=seconds))  # type: ignore[arg-type]
    taken = found.seconds + sum(one.seconds for one in attacks)
    if verbose:
        complain(f"{'; '.join(f'{one.change}: {one.status}' for one in attacks)}; {taken:.3g} s")
    if as_json:
        spec = {"race": race and list(race), "at_most": at_most, "new_voters": new_voters, "time_limit": time_limit}
        parts = {"consensus": records.ranking_record(_RULE, found.consensus), **records.voters_record(found, attacks)}
        print_json("voters", votes, spec=spec, **parts, seconds=round(taken, 6))
    else:
        _print_voters(votes, found, most)
        for one in attacks:
            click.echo(one.text())
    for one in attacks:
        tell_limit(time_limit, one.status, f"may close the gap of voters to {one.change}")
    return next((code for code in (exit_code(one.status, require_proof) for one in attacks) if code), 0)


def _print_voters(votes: Votes, found: VoterEffects, most: int) -> None:
    """Print the voters who matter most, in rating points, and how many decide alone."""
    pair = found.above, found.below
    if most:
        table = plain_table("battles", "adds to the lead", "lead without")
        for heading in ("voter", "first place"):
            table.add_column(heading, overflow="fold")
        for row in found.rows(most=most):
            points = (f"{_POINTS * row[name]:+.3g}" for name in ("effect", "lead_without"))
            table.add_row(
                number(row["battles"]), *points, show(row["voter"], 60), "changes" if row["new_winner"] else "stays"
            )
        lead = f"the lead of {in_text(pair[0])} over {in_text(pair[1])} ({_POINTS * found.lead:.3g} rating points)"
        print_table(f"Voters who matter most for {lead}", votes, table)
    click.echo(deciding_text(len(found.deciding), len(found.voters), *pair))
