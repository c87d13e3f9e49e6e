"""The command `attack`: the smallest change of votes that reaches a goal."""

from __future__ import annotations

import math
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.limits import command_clock
from holdrank.cli.options import (
    VOTE_ENDINGS,
    ReadingCommand,
    by_option,
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
    worker_options,
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
from holdrank.status import DRAWS, LEAST_DRAWS
from holdrank.words.nouns import noun_of
from holdrank.words.numbers import number
from holdrank.words.results import settled_text

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from holdrank.attacks.goals import Goal
    from holdrank.attacks.results import Attack
    from holdrank.rules.consensus import Consensus, Statistic

_BALLOTS_SHOWN = 20
_LONGEST_ORDER = 300  # characters; --json has it whole


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
@click.option("--interval", is_flag=True,
              help="Also print a 95 % confidence interval for all voters whom these represent.")  # fmt: skip
@click.option("--method", type=click.Choice(["bootstrap", "dual"]), default="bootstrap", show_default=True,
              help="Interval from attacks on bootstrap samples, or from the duals of one attack.")  # fmt: skip
@click.option(
    "--draws", type=click.IntRange(min=LEAST_DRAWS), default=DRAWS, show_default=True, help="Bootstrap samples."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Bootstrap seed.")
@by_option
@worker_options
@click.option("--write", metavar="OUTPUT", help="Write the attacked votes to this file, in the formats of convert.")
@search_time_option
@result_options
def attack(file: str, change: str, rule: str, theta: float | str | None, merge: str, interval: bool, method: str,
           draws: int, seed: int, by: str | None, executor: Executor | None, write: str | None,
           time_limit: float | None, require_proof: bool, as_json: bool, quiet: bool, verbose: bool,
           reading: dict[str, Any], **goals: Any) -> int:  # fmt: skip
    """Find the smallest change of votes that achieves a goal.

    Give exactly one goal. The output lists the ballots to change; --write saves the attacked votes.
    """
    from holdrank.analysis.chance.breakdowns import breakdown_interval
    from holdrank.analysis.chance.records import interval_record
    from holdrank.attacks.answers import attack as compute

    goal = _goal(goals)
    if not interval and (by is not None or executor is not None):
        raise click.UsageError("--by, --jobs and --scheduler need --interval.")
    if write is not None:
        check_output("--write", write, file, VOTE_ENDINGS)
    votes = read(file, reading if by is None else {**reading, "by": by}, quiet)
    asked, rule = rule, settled_rule(rule, votes)
    T = statistic_of(rule, theta, merge, votes)
    left = command_clock.left(time_limit)
    with searching(quiet, "looking for the smallest attack") as progress:
        if interval:
            sampled = breakdown_interval(
                votes, T, goal, change=change, by=by, draws=draws, method=method, time_limit=left, rng=seed,  # type: ignore[arg-type]
                progress=progress, executor=executor,
            )  # fmt: skip
            found = sampled.attack
        else:
            sampled = None
            found = compute(votes, T, goal, change=change, time_limit=left, progress=progress)  # type: ignore[arg-type]
    if verbose:
        complain(f"{found.status}; {found.seconds:.3f} s")
    if as_json:
        spec = {"rule": asked, "theta": theta, "merge": merge, "change": change, "time_limit": time_limit}
        parts = attack_parts(found, T, auto=theta == "auto")
        if sampled is not None:
            spec |= {"by": by, "method": method, "draws": draws, "seed": seed}
            parts["interval"] = interval_record(sampled)
        print_json("attack", votes, spec=spec, **parts, seconds=round(found.seconds, 6))
    else:
        _print_attack(found, T, None if sampled is None else sampled.sentence())
        tell_rule(asked, rule)
    tell_limit(time_limit, found.status, "may close the gap")
    if sampled is not None and method == "bootstrap":
        tell_limit(time_limit, sampled.status, "gives all samples")
    if write is not None:
        _write(found, write, quiet)
    code = exit_code(found.status, require_proof)
    return code if sampled is None else code or exit_code(sampled.status, False)


def attack_parts(found: Attack, T: Statistic, *, auto: bool = False) -> dict[str, Any]:
    """Return the parts of a record for an attack: the consensus that it breaks, and the attack with all its ballots."""
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


def in_brief(order: str) -> str:
    """Return an order as text, without the end of a very long one.

    Examples
    --------
    >>> in_brief("a > b > c"), len(in_brief("a > " * 1000)) <= 300
    ('a > b > c', True)
    """
    return shorten(order, _LONGEST_ORDER, placeholder=" ...")


def _print_attack(found: Attack, T: Statistic, among_all: str | None) -> None:
    click.echo(found.text())
    if among_all is not None:
        click.echo(among_all)
    for note in found.notes:
        click.echo(f"note: {note}")
    noun = noun_of(how_read(found.original))
    best = found.whole or found
    after = _after(found, T) if best.removed or best.added else None
    if after is not None:
        changes = [(number(weight), sign, ballot) for sign, part in (("-", best.removed), ("+", best.added))
                   for ballot, weight in part]  # fmt: skip
        table = plain_table("number")
        table.add_column("")
        table.add_column(noun if noun in ("battle", "game") else "ballot", overflow="fold")
        # Both kinds of change are shown, no matter how many ballots are removed.
        taken, put = len(best.removed), len(best.added)
        shown = max(_BALLOTS_SHOWN - put, _BALLOTS_SHOWN // 2)
        for row in changes[: min(shown, taken)] + changes[taken:][: _BALLOTS_SHOWN - min(shown, taken)]:
            table.add_row(*row[:-1], in_brief(row[-1]))
        click.echo()
        print_table("Removed (-) and added (+)", None, table)
        if more := len(changes) - table.row_count:
            click.echo(f"and {more:,} more ballots; --json lists all")
        click.echo(f"\nbefore: {in_brief(found.before.text())}\nafter:  {in_brief(after.text())}")
    settled = not found.status.is_exact and found.votes_to_decide == found.votes_sufficient < math.inf
    click.echo(settled_text(noun, found.lower, found.upper) if settled else str(found.status))
