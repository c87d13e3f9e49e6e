"""The command `diff`: what moved between two snapshots, and whether it is more than noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

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
    worker_options,
)
from holdrank.cli.printing import EXIT_INTERRUPTED, complain, plain_table, print_json, print_table, progress_line
from holdrank.errors import show
from holdrank.words.numbers import percent, span
from holdrank.words.prices import NOT_KNOWN, price

if TYPE_CHECKING:
    from concurrent.futures import Executor


@click.command("diff", cls=ReadingCommand)
@click.argument("old")
@click.argument("new")
@rule_option
@click.option("--draws", type=click.IntRange(min=1), default=1000, show_default=True, help="Draws of the bootstrap.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Bootstrap seed.")
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
    asked, rule = rule, settled_rule(rule, *files)
    with progress_line(quiet, "comparing"):
        found = compare(files[0], files[1], statistic(rule), draws, seed, time_limit, executor=executor)
    ended = found["draws"] < draws
    if ended:
        complain(f"note: interrupted after {found['draws']:,} of {draws:,} draws")
    if as_json:
        spec = {"rule": asked, "draws": draws, "seed": seed, "time_limit": time_limit}
        print_json("diff", None, spec=spec, comparison=found)
    else:
        _print_diff(found)
        tell_rule(asked, rule)
    return EXIT_INTERRUPTED if ended else 0


def _undone_by(row: dict[str, Any], votes: dict[str, Any]) -> str:
    """Return the votes after whose change a pair that a move turned stands as before."""
    if row["undone_by"] is None:
        return ""
    cost = price(row["undone_by"], votes)
    return NOT_KNOWN if cost is None else cost.amount


def _print_diff(found: dict[str, Any]) -> None:
    table = plain_table("old", percent(found["level"]), "new", percent(found["level"]), "moved", "undone by")
    for heading in ("", "item"):
        table.add_column(heading, no_wrap=heading == "")
    for row in found["moves"]:
        moved = row["old"]["place"] - row["new"]["place"]
        places = [text for one in (row["old"], row["new"])
                  for text in (f"{one['place']:g}", span(one["best"], one["worst"]))]  # fmt: skip
        verdict = "beyond noise" if row["beyond_noise"] else "within noise" if moved else ""
        table.add_row(
            *places,
            f"{moved:+g}" if moved else "",
            _undone_by(row, found["new"]),
            verdict,
            show(found["items"][row["item"]]),
        )
    print_table("Places of " + found["statistic"], None, table)
    for which in ("old", "new"):
        if found[f"only_{which}"]:
            names = ", ".join(show(item) for item in found[f"only_{which}"])
            click.echo(f"only in the {which} file: {names}")
    click.echo(
        f"{found['moved']} of {len(found['items'])} items moved, {found['beyond_noise']} beyond noise; "
        f"{found['turned']} of {found['pairs']} pairs changed their order"
    )
