"""The commands `validate` and `convert`: the problems of a file, and the same votes in another format."""

from __future__ import annotations

from typing import Any

import click

from holdrank.cli.options import (
    VOTE_ENDINGS,
    ReadingCommand,
    as_option,
    check_output,
    json_option,
    quiet_option,
    read,
    reading_options,
)
from holdrank.cli.printing import EXIT_DATA, complain, print_json
from holdrank.errors import show
from holdrank.words.numbers import plural


@click.command(cls=ReadingCommand)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@json_option
@reading_options
def validate(files: tuple[str, ...], as_json: bool, reading: dict[str, Any]) -> int:
    """Check FILE and list its problems.

    Shows the first 20 problems with their lines, and how many there are. If there are none, shows what was read.
    Several files are checked one by one.
    """
    if as_json and len(files) > 1:
        raise click.UsageError(f"--json takes one FILE; {len(files)} were given.")
    found = [_validated(file, as_json, reading) for file in files]
    return EXIT_DATA if any(found) else 0


def _validated(file: str, as_json: bool, reading: dict[str, Any]) -> int:
    """Print the problems of a file; return their number."""
    from holdrank.analysis.records import flaw_record
    from holdrank.files import validate as check

    result = check(file, **reading)
    if as_json:
        problems = [flaw_record(problem) for problem in result.problems]
        print_json("validate", result.votes, file=file, problems=problems, total=result.total)
    elif result.votes is not None:
        click.echo(result.votes.summary())
        click.echo("no problems found")
    else:
        for problem in result.problems:
            click.echo(problem.told(as_option))
        more = f"; the first {len(result.problems)} are shown" if result.total > len(result.problems) else ""
        click.echo(f"{plural(result.total, 'problem')}{more}")
    return result.total


@click.command(cls=ReadingCommand)
@click.argument("file")
@click.argument("output")
@click.option(
    "--to",
    type=click.Choice(["preflib", "positions", "rank-columns", "jsonl"]),
    help="Format of OUTPUT; by default from its extension.",
)
@quiet_option
@reading_options
def convert(file: str, output: str, to: str | None, quiet: bool, reading: dict[str, Any]) -> None:
    """Convert the votes of FILE to OUTPUT.

    The extension of OUTPUT sets the format: .soc .soi .toc .toi .csv .jsonl; - is stdout.
    """
    from holdrank.files import write_votes

    if output == "-" and to is None:
        raise click.UsageError("OUTPUT - has no extension to tell the format; give --to.")
    if output != "-":
        check_output("OUTPUT", output, file, VOTE_ENDINGS if to is None else ())
    votes = read(file, reading, quiet)
    write_votes(votes, output, format=to)
    if not votes.compares_all and not output.endswith(".jsonl") and to != "jsonl":
        complain("note: this format does not store how unlisted items count; read it back with --unlisted observed")
    if output != "-" and not quiet:
        complain(f"wrote {show(output, 200)}")
