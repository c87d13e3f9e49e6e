"""The command `verify`: an analysis is checked again, by other means."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from holdrank.cli.options import ReadingCommand, json_option, quiet_option, read, reading_options, require_proof_option
from holdrank.cli.printing import EXIT_GATE, EXIT_NOT_PROVED, print_json, progress_line


@click.command(cls=ReadingCommand)
@click.argument("result")
@click.argument("file")
@require_proof_option
@json_option
@quiet_option
@reading_options
def verify(result: str, file: str, require_proof: bool, as_json: bool, quiet: bool, reading: dict[str, Any]) -> int:
    """Check every number of the analysis RESULT of FILE by independent means.

    RESULT was written by `report -o result.json`. A second implementation in exact arithmetic, which uses no solver,
    checks every statement: it is proved, refuted or open. Bounds for more than 6 items stay open, and so do numbers
    whose lower and upper bounds differ. Exit code 4 if a statement is refuted.
    """
    from holdrank.analysis.result import Analysis
    from holdrank.files.containers.source import open_source
    from holdrank.proofs.verify import verify as checked

    analysis = Analysis.from_json(open_source(result).data, source=result)
    votes = read(file, reading, quiet)
    with progress_line(quiet, "checking"):
        verdict = checked(votes, analysis)
    if as_json:
        checks = [asdict(check) for check in verdict.checks]
        print_json("verify", votes, proved=verdict.proved, refuted=verdict.refuted, checks=checks)
    else:
        click.echo(verdict.text())
    if verdict.refuted:
        return EXIT_GATE
    return EXIT_NOT_PROVED if require_proof and not verdict.proved else 0
