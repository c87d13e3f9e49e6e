"""The command `report`: the whole analysis of a file as one page, as Markdown, as a LaTeX table or as JSON."""

from __future__ import annotations

from typing import Any

import click

from holdrank.cli.options import (
    CLAIMS,
    ReadingCommand,
    Threshold,
    by_option,
    check_output,
    merge_option,
    quiet_option,
    read,
    reading_options,
    rule_option,
    tell_rule,
    time_option,
)
from holdrank.cli.printing import EXIT_INTERRUPTED, complain, searching
from holdrank.cli.terminal import print_analysis
from holdrank.errors import show
from holdrank.status import DRAWS, REPORT_SECONDS
from holdrank.words.numbers import plural
from holdrank.words.results import more_time_text

_ENDINGS = (".html", ".md", ".tex", ".json")


class _ThresholdOrNone(Threshold):
    """A number from 0 to 0.5, or one of the words auto and none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See click."""
        return value if value == "none" else super().convert(value, param, ctx)


@click.command(cls=ReadingCommand)
@click.argument("file")
@click.option("-o", "--output", "outputs", multiple=True, metavar="OUTPUT",
              help=f"File to write; the extension sets the format: {', '.join(_ENDINGS)}. May be repeated, for several "
              "files from one analysis. By default report.html; with --text, no file.")  # fmt: skip
@click.option("--text", is_flag=True, help="Print the ladder, places, pairs, curves and attack as text.")
@rule_option
@click.option("--theta", type=_ThresholdOrNone(), metavar="T", default="auto", show_default=True,
              help="Threshold of the tiers; auto ties items that differ by no more than chance, "
              "none gives no ties.")  # fmt: skip
@merge_option
@click.option(
    "--k", type=click.IntRange(min=1), help="Report the items safely in the top K, safely out, and undecided."
)
@click.option("--claim", "claims", multiple=True, metavar="CLAIM",
              help=f"Claim to test: {CLAIMS}; may be repeated.")  # fmt: skip
@click.option("--budget", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=None,
              help="Share of the votes that an adversary may change. Default: 1 % for --k; for reachable places "
              "the number of votes that ends the lead, at most 1 %.")  # fmt: skip
@click.option(
    "--draws", type=click.IntRange(min=0), default=DRAWS, show_default=True, help="Bootstrap samples; 0 for none."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Bootstrap seed.")
@by_option
@time_option("the whole analysis, reading excluded", REPORT_SECONDS, from_start=False)
@quiet_option
@reading_options
def report(file: str, outputs: tuple[str, ...], text: bool, rule: str, theta: float | str, merge: str, k: int | None,
           claims: tuple[str, ...], budget: float | None, draws: int, seed: int, by: str | None,
           time_limit: float | None, quiet: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Write the complete analysis of FILE to one page.

    The page shows the consensus, its tiers, how many votes break them, pictures and the methods. It works offline. The
    command prints the headline and how certain it is; --text also prints the pictures as text.
    """
    from holdrank.analysis.analyse import analyse
    from holdrank.analysis.spec import Spec
    from holdrank.views.report import write_report
    from holdrank.words.headlines import subline
    from holdrank.words.remarks import other_winners_text

    outputs = outputs or (() if text else ("report.html",))
    for number, output in enumerate(outputs):
        check_output("--output", output, file, _ENDINGS)
        if output in outputs[:number]:
            raise click.UsageError(f"--output {show(output, 200)} is given twice; name each file once.")
    spec = Spec(
        rule,
        theta=None if theta == "none" else theta,  # type: ignore[arg-type]
        merge=merge,  # type: ignore[arg-type]
        k=k,
        claims=claims,
        budget=budget,
        draws=draws,
        seed=seed,
        by=by,
        time_limit=time_limit,
    )
    votes = read(file, reading if by is None else {**reading, "by": by}, quiet)
    if k is not None and k >= votes.n:
        raise click.UsageError(f"--k {k} leaves no item out: the file has {plural(votes.n, 'item')}.")
    with searching(quiet, "analysing") as progress:
        found = analyse(votes, spec, progress=progress)
    # Results are printed first, in case the file cannot be written.
    if text:
        print_analysis(found)
    else:
        click.echo(found.headline)
        for line in filter(None, (subline(found.record), other_winners_text(found.record))):
            click.echo(line)
    tell_rule(rule, found.record["consensus"]["rule"])
    for output in outputs:
        write_report(found, output)
    for step in found.record["steps"]:
        if step["state"] != "done" and not quiet:
            complain(f"note: {step['name']}: {step['state']}; {show(step['note'], 200)}")
    if time_limit is not None and not quiet and any(step["state"] == "cut short" for step in found.record["steps"]):
        seconds = sum(step["seconds"] for step in found.record["steps"])
        complain(f"note: {more_time_text(time_limit, 'may finish what was cut short', seconds)}")
    for output in outputs:
        if not quiet:
            complain(f"wrote {show(output, 200)}")
    interrupted = any(step["state"] == "interrupted" for step in found.record["steps"])
    return EXIT_INTERRUPTED if interrupted else 0
