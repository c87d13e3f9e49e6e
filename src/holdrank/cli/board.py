"""The command `board`: a leaderboard as CSV, JSON, Markdown or LaTeX."""

from __future__ import annotations

from typing import Any

import click

from holdrank.cli.columns import ColumnOption
from holdrank.cli.limits import command_clock
from holdrank.cli.options import (
    F,
    ReadingCommand,
    check_output,
    json_option,
    quiet_option,
    read,
    reading_options,
    rule_option,
    settled_rule,
    statistic,
    time_option,
)
from holdrank.cli.printing import complain, exit_code, print_json, searching, tell_limit
from holdrank.status import LEAST_DRAWS

_ENDINGS = (".csv", ".json", ".md", ".tex")
_READ_COLUMNS = ColumnOption(
    ["--read-columns", "columns"],
    help="Columns of FILE to use, separated by commas: names, or positions counted from 1.",
)


def _reading_options(command: F) -> F:
    """Add the options that say how FILE is read; here --columns are those of the board."""
    gather = reading_options(command)
    params = gather.__click_params__  # type: ignore[attr-defined]
    params[:] = [_READ_COLUMNS if option.name == "columns" else option for option in params]
    return gather


@click.command(cls=ReadingCommand)
@click.argument("file")
@click.option("-o", "--output", metavar="OUTPUT",
              help=f"File to write; the extension sets the format: {', '.join(_ENDINGS)}. "
              "By default Markdown on stdout.")  # fmt: skip
@click.option("--columns", "shown", metavar="COLUMNS",
              help="Columns in this order, separated by commas: rank, rank_ub, rank_lb, model, rating, rating_lower, "
              "rating_upper, votes, tier, votes_to_overtake. By default all columns that the rule has.")  # fmt: skip
@rule_option
@click.option("--draws", type=click.IntRange(min=LEAST_DRAWS), default=LEAST_DRAWS, show_default=True,
              help="Bootstrap samples for rank_ub and rank_lb where the rule has no ratings.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Bootstrap seed.")
@time_option("the whole board")
@json_option
@quiet_option
@_reading_options
def board(file: str, output: str | None, shown: str | None, rule: str, draws: int, seed: int, time_limit: float | None,
          as_json: bool, quiet: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Write the leaderboard of FILE, with the columns that leaderboards publish.

    rank_ub and rank_lb are the best and the worst rank within the confidence interval. votes_to_overtake is the minimum
    number of votes that must change before the next item ranks higher.
    """
    from holdrank.analysis.board import leaderboard
    from holdrank.views.boards import board_markdown, write_leaderboard

    if output is not None:
        check_output("--output", output, file, _ENDINGS)
    columns = None if shown is None else [name.strip() for name in shown.split(",")]
    votes = read(file, reading, quiet)
    settled = settled_rule(rule, votes)
    with searching(quiet, "ranking") as progress:
        found = leaderboard(
            votes,
            statistic(settled),
            columns=columns,
            draws=draws,
            rng=seed,
            time_limit=command_clock.left(time_limit),
            progress=progress,
        )
    for note in found.notes:
        complain(f"note: {note}")
    if output is not None:
        write_leaderboard(found, output)
    if as_json:
        spec = {"rule": rule, "draws": draws, "seed": seed, "time_limit": time_limit}
        parts = {"rule": settled, "columns": list(found.columns), "rows": [dict(row) for row in found.rows]}
        print_json("board", votes, spec=spec, **parts, seconds=round(found.seconds, 6))
    elif output is None:
        click.echo(board_markdown(found), nl=False)
    tell_limit(time_limit, found.status, "may fill the empty cells")
    if found.status.is_interrupted:
        complain("note: interrupted; empty cells were not computed")
    return exit_code(found.status, False)
