"""The command `paper`: the figures of the paper, with exact values beside its bounds and estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.options import ReadingCommand, checkpoint_option, quiet_option, reading_options, worker_options
from holdrank.cli.printing import complain, progress_line

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from holdrank.status import Step

_FIGURES = ("fig1", "fig2", "fig3", "fig4", "fig5", "margin")


@click.command(cls=ReadingCommand)
@click.argument("figure", type=click.Choice([*_FIGURES, "real", "all"]), default="all")
@click.argument("files", nargs=-1)
@click.option("--out", default="holdrank-paper", show_default=True, metavar="DIR", help="Folder for data and pictures.")
@click.option("--seed", type=click.IntRange(min=0), default=2023, show_default=True,
              help="Of the estimates, and of our random distributions in fig5.")  # fmt: skip
@click.option("--estimate", is_flag=True, help="Estimate and draw the values of fig5 as well (method smooth).")
@click.option("--list", "listing", metavar="LIST",
              help="TOML file that lists more FILES, each with its own title and reading options.")  # fmt: skip
@click.option("--time-limit", type=click.FloatRange(min=0), default=60.0, show_default=True,
              help="Seconds for each of FILES.")  # fmt: skip
@worker_options
@checkpoint_option
@quiet_option
@reading_options
def paper(figure: str, files: tuple[str, ...], out: str, seed: int, estimate: bool, listing: str | None,
          time_limit: float, executor: Executor | None, checkpoint: str | None, quiet: bool,
          reading: dict[str, Any]) -> None:  # fmt: skip
    """Draw the figures of the paper, with the exact values added.

    Each as data (.json, .csv) and as a picture (.svg, .pdf, .png). The figure margin is ours: what a threshold near the
    margin of a pair does. The figure real is the trade-off between loss and robustness of vote FILES; all is every
    figure, and real if there are FILES. A file that cannot be used is left out and reported at the end (exit code 3).

    In LIST, each vote file is a table [[file]] with a path, relative to LIST, and any of title and the reading options
    under the names that read_votes gives them:

    \b
        [[file]]
        path = "battles.csv"
        title = "Battles of May"
        first = "left"
        second = "right"
    """  # noqa: D301  click looks for the sign itself
    from holdrank.paper import figures
    from holdrank.paper.vote_files import read_list

    if (files or listing) and figure not in ("real", "all"):
        raise click.UsageError(f"The figure {figure} reads no files; use real.")
    if figure == "real" and not (files or listing):
        raise click.UsageError("The figure real needs vote files.")
    chosen = [*files, *(read_list(listing) if listing else [])]
    names = [*_FIGURES, *(["real"] if chosen else [])] if figure == "all" else [figure]

    def tell(step: Step) -> None:
        if not quiet:
            complain(f"{step.name} ({step.done + 1} of {step.total})")

    with progress_line(quiet) as progress:
        means: dict[str, Any] = {"executor": executor, "checkpoint": checkpoint, "progress": progress or tell}
        means |= {"files": chosen, "reading": reading, "time_limit": time_limit, "written": click.echo}
        figures(names, out, rng=seed, estimate=estimate, **means)
