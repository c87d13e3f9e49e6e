"""The command `verify`: an independent check of an analysis."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from holdrank.cli.limits import command_clock
from holdrank.cli.options import (
    ReadingCommand,
    json_option,
    quiet_option,
    read,
    reading_options,
    require_proof_option,
    time_option,
)
from holdrank.cli.printing import EXIT_GATE, EXIT_INTERRUPTED, EXIT_NOT_PROVED, complain, print_json, progress_line
from holdrank.errors import show
from holdrank.words.results import more_time_text


@click.command(cls=ReadingCommand)
@click.argument("result")
@click.argument("file")
@require_proof_option
@time_option("all statements")
@json_option
@quiet_option
@reading_options
def verify(result: str, file: str, require_proof: bool, time_limit: float | None, as_json: bool, quiet: bool,
           reading: dict[str, Any]) -> int:  # fmt: skip
    """Check every number of the analysis RESULT of FILE by independent means.

    RESULT was written by `report -o result.json`. A second implementation in exact arithmetic, which uses no solver,
    reports every statement as proved, refuted or open. Bounds for more than 6 items stay open, and so do numbers whose
    lower and upper bounds differ. The exit code is 4 if a statement is refuted.
    """
    from holdrank.analysis.result import Analysis
    from holdrank.files.containers.source import open_source
    from holdrank.proofs.verdicts import LATE, STOPPED
    from holdrank.proofs.verify import verify as checked

    if file.endswith(".json") and not result.endswith(".json"):
        swapped = f"holdrank verify {show(file, 200)} {show(result, 200)}"
        raise click.UsageError(f"The analysis comes first, then the votes: {swapped}")
    analysis = Analysis.from_json(open_source(result).data, source=result)
    votes = read(file, reading, quiet)
    with progress_line(quiet, "checking"):
        verdict = checked(votes, analysis, time_limit=command_clock.left(time_limit))
    if as_json:
        checks = [asdict(check) for check in verdict.checks]
        print_json("verify", votes, proved=verdict.proved, refuted=verdict.refuted, checks=checks)
    else:
        click.echo(verdict.text())
    if time_limit is not None and any(check.note == LATE for check in verdict.checks):
        complain(f"note: {more_time_text(time_limit, 'may check the rest')}")
    if any(check.note == STOPPED for check in verdict.checks):
        return EXIT_INTERRUPTED
    if verdict.refuted:
        return EXIT_GATE
    return EXIT_NOT_PROVED if require_proof and not verdict.proved else 0
