"""The command `attack`: the least change of votes that reaches a goal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.options import (
    VOTE_ENDINGS,
    ReadingCommand,
    check_output,
    merge_option,
    read,
    result_options,
    rule_option,
    search_time_option,
    settled_rule,
    statistic_of,
    tell_rule,
    theta_option,
)
from holdrank.cli.printing import (
    complain,
    exit_code,
    how_read,
    plain_table,
    print_json,
    print_table,
    searching,
    tell_limit,
)
from holdrank.errors import show
from holdrank.words.nouns import noun_of
from holdrank.words.numbers import number

if TYPE_CHECKING:
    from holdrank.attacks.goals import Goal
    from holdrank.attacks.results import Attack
    from holdrank.rules.consensus import Consensus, Statistic

_BALLOTS_SHOWN = 20


@click.command(cls=ReadingCommand)
@click.argument("file")
@click.option("--new-winner", is_flag=True, help="Goal: change the winner.")
@click.option("--wins", metavar="X", help="Goal: make X win.")
@click.option("--above", nargs=2, metavar="B A", help="Goal: put B above A.")
@click.option("--top-set", type=int, metavar="K", help="Goal: change the set of the top K items.")
@click.option("--enters", type=(str, int), metavar="X K", help="Goal: bring X into the top K.")
@click.option("--leaves", type=(str, int), metavar="X K", help="Goal: push X out of the top K.")
@click.option("--distance", type=click.FloatRange(0, 1), metavar="D",
              help="Goal: move the consensus by this share of the pairs.")  # fmt: skip
@click.option("--change", type=click.Choice(["replace", "drop", "add"]), default="replace", show_default=True,
              help="What the adversary does with votes.")  # fmt: skip
@rule_option
@theta_option
@merge_option
@click.option("--write", metavar="OUTPUT", help="Write the attacked votes to this file, in the formats of convert.")
@search_time_option
@result_options
def attack(file: str, change: str, rule: str, theta: float | str | None, merge: str, write: str | None,
           time_limit: float | None, require_proof: bool, as_json: bool, quiet: bool, verbose: bool,
           reading: dict[str, Any], **goals: Any) -> int:  # fmt: skip
    """Find the smallest change of votes that achieves a goal.

    Give exactly one goal. The output lists the ballots to change; --write saves the attacked votes.
    """
    from holdrank.attacks.answers import attack as compute

    goal = _goal(goals)
    if write is not None:
        check_output("--write", write, file, VOTE_ENDINGS)
    votes = read(file, reading, quiet)
    asked, rule = rule, settled_rule(rule, votes)
    T = statistic_of(rule, theta, merge, votes)
    with searching(quiet, "looking for the smallest attack") as progress:
        found = compute(votes, T, goal, change=change, time_limit=time_limit, progress=progress)  # type: ignore[arg-type]
    if verbose:
        complain(f"{found.status}; {found.seconds:.3f} s")
    if as_json:
        spec = {"rule": asked, "theta": theta, "merge": merge, "change": change, "time_limit": time_limit}
        print_json(
            "attack", votes, spec=spec, **attack_parts(found, T, auto=theta == "auto"), seconds=round(found.seconds, 6)
        )
    else:
        _print_attack(found, T)
        tell_rule(asked, rule)
    tell_limit(time_limit, found.status, "may close the gap")
    if write is not None:
        _write(found, write, quiet)
    return exit_code(found.status, require_proof)


def attack_parts(found: Attack, T: Statistic, *, auto: bool = False) -> dict[str, Any]:
    """Return the parts of a record that an attack fills: what it breaks, and itself with all its ballots."""
    from holdrank.analysis.records import attack_record, reported_record

    after = _after(found, T)
    exact = after.ranking if after is not None and after.status.is_exact else None
    reported = reported_record(found.before, found.statistic, auto=auto)
    return {**reported, "attack": attack_record(found, exact, most=None)}


def _after(found: Attack, T: Statistic) -> Consensus | None:
    """Return the consensus after an attack, the one in whole votes where it is known."""
    best = found.whole or found
    return None if best.votes is None else T(best.votes)


def _goal(given: dict[str, Any]) -> Goal:
    from holdrank.attacks import goals

    makers: dict[str, Any] = {
        "new_winner": lambda _: goals.NewWinner(),
        "wins": goals.Wins,
        "above": lambda pair: goals.Above(*pair),
        "top_set": goals.TopSet,
        "enters": lambda pair: goals.Enters(*pair),
        "leaves": lambda pair: goals.Leaves(*pair),
        "distance": goals.Distance,
    }
    chosen = [name for name in makers if given[name] is not None and given[name] is not False]
    if len(chosen) != 1:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in chosen or makers)
        raise click.UsageError(f"Give one goal, not {len(chosen)}: {options}." if chosen else f"Give one of {options}.")
    goal: Goal = makers[chosen[0]](given[chosen[0]])
    return goal


def _write(found: Attack, output: str, quiet: bool) -> None:
    from holdrank.files import write_votes

    best = found.whole or found
    if best.votes is None:
        complain("note: no attack found, so nothing was written")
        return
    write_votes(best.votes, output)
    if not quiet:
        complain(f"wrote {show(output, 200)}")


def _print_attack(found: Attack, T: Statistic) -> None:
    click.echo(found.text())
    for note in found.notes:
        click.echo(f"note: {note}")
    best = found.whole or found
    after = _after(found, T) if best.removed or best.added else None
    if after is not None:
        changes = [(number(weight), sign, ballot) for sign, part in (("-", best.removed), ("+", best.added))
                   for ballot, weight in part]  # fmt: skip
        table = plain_table("number")
        table.add_column("")
        noun = noun_of(how_read(found.original))
        table.add_column(noun if noun in ("battle", "game") else "ballot", overflow="fold")
        # Both kinds of change are shown, however many ballots are removed.
        taken, put = len(best.removed), len(best.added)
        shown = max(_BALLOTS_SHOWN - put, _BALLOTS_SHOWN // 2)
        for row in changes[: min(shown, taken)] + changes[taken:][: _BALLOTS_SHOWN - min(shown, taken)]:
            table.add_row(*row)
        click.echo()
        print_table("Removed (-) and added (+)", None, table)
        if more := len(changes) - table.row_count:
            click.echo(f"and {more:,} more ballots; --json lists all")
        click.echo(f"\nbefore: {found.before.text()}\nafter:  {after.text()}")
    click.echo(str(found.status))
