"""The command `paired-tests`: which items of a score table differ by more than chance."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.options import (
    ReadingCommand,
    check_output,
    json_option,
    quiet_option,
    read,
    reading_options,
    verbose_option,
)
from holdrank.cli.printing import complain, plain_table, print_json, print_table, progress_line, shows
from holdrank.errors import show
from holdrank.words.chance import probability
from holdrank.words.mean_ranks import bar_rows

if TYPE_CHECKING:
    from holdrank.analysis.chance.tables import PairedTests
    from holdrank.votes.votes import Votes


@click.command("paired-tests", cls=ReadingCommand)
@click.argument("file")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
              help="Confidence level, for all pairs together.")  # fmt: skip
@click.option("--most", type=click.IntRange(min=0), default=20, show_default=True, help="Number of pairs to list.")
@click.option("-o", "--output", metavar="PAGE", help="Write the critical-difference diagram and all pairs to this "
              ".html file, or all pairs to this .csv file.")  # fmt: skip
@json_option
@quiet_option
@verbose_option
@reading_options
def paired_tests(file: str, level: float, most: int, output: str | None, as_json: bool, quiet: bool, verbose: bool,
                 reading: dict[str, Any]) -> int:  # fmt: skip
    """Test which items of a score table FILE differ by more than chance.

    Compares items task by task: exact McNemar tests for tables of 0 and 1, Wilcoxon signed-rank tests for other scores,
    with Holm's correction; Friedman's test for all items, and Nemenyi's critical difference of mean ranks. A bar in the
    last column joins items that Nemenyi's test does not separate.
    """
    from holdrank.analysis.chance.records import paired_record
    from holdrank.analysis.chance.tables import paired_tests as compare
    from holdrank.files.writers import write_whole
    from holdrank.views.paired import PAIRED_FORMS

    if output is not None:
        check_output("--output", output, file, tuple(PAIRED_FORMS))
    votes = read(file, reading, quiet)
    started = perf_counter()
    with progress_line(quiet, "comparing items task by task"):
        found = compare(votes, level=level)
    seconds = perf_counter() - started
    if verbose:
        complain(f"{seconds:.3g} s")
    if output is not None:
        text = PAIRED_FORMS[Path(output).suffix.lower()](found)
        write_whole(Path(output), text.encode("utf-8", "backslashreplace"))
        complain(f"wrote {show(output, 200)}")
    if as_json:
        print_json("paired-tests", votes, spec={"level": level}, **paired_record(found), seconds=round(seconds, 6))
    else:
        _print_tests(votes, found, most)
    return 0


def _print_tests(votes: Votes, found: PairedTests, most: int) -> None:
    """Print the mean ranks next to bars over what is not separated, what the tests say, and the first pairs."""
    order = found.order
    place = {found.items[k]: row for row, k in enumerate(order)}
    ends = [(place[group[0]], place[group[-1]]) for group in found.groups]
    columns = bar_rows(ends, 2)  # an empty row between two bars of a column
    sign = "│" if shows("│") else "|"
    table = plain_table("mean rank")
    for heading in ("item", "not separated (Nemenyi)"):
        table.add_column(heading, overflow="fold")
    for row, k in enumerate(order):
        marks = [" "] * (max(columns, default=-1) + 1)
        for (first, last), column in zip(ends, columns, strict=True):
            marks[column] = sign if first <= row <= last else marks[column]
        rank = f"{found.mean_ranks[k]:.2f}" if found.tasks else "–"
        table.add_row(rank, show(found.items[k], 60), " ".join(marks).rstrip() if found.tasks else "")
    print_table("Paired tests", votes, table)
    click.echo(f"\n{found.summary}")
    if not most:
        return
    pairs = [(i, j) for at, i in enumerate(order) for j in order[at + 1 :]]
    names = {"mcnemar": "McNemar p", "wilcoxon": "Wilcoxon p"}
    table = plain_table(names[found.test], "Nemenyi p")
    for heading in ("separated", "pair"):
        table.add_column(heading, overflow="fold")
    for i, j in pairs[:most]:
        told = "yes" if found.separated[i, j] else "no"
        chances = probability(float(found.p_values[i, j])), probability(float(found.nemenyi_p[i, j]))
        table.add_row(*chances, told, f"{show(found.items[i], 40)} – {show(found.items[j], 40)}")
    click.echo()
    print_table("Pairs, by mean rank", None, table)
    if len(pairs) > most:
        click.echo(f"and {len(pairs) - most:,} more; --most lists them, -o writes them all")
