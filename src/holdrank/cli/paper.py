"""The command `paper`: the figures of the paper, with exact values beside its bounds and estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.options import ReadingCommand, checkpoint_option, quiet_option, reading_options, worker_options
from holdrank.cli.printing import complain, progress_line

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from holdrank.status import Step

_FIGURES = ("fig1", "fig2", "fig3", "fig4", "fig5")


@click.command(cls=ReadingCommand)
@click.argument("figure", type=click.Choice([*_FIGURES, "real", "all"]), default="all")
@click.argument("files", nargs=-1)
@click.option("--out", default="holdrank-paper", show_default=True, metavar="DIR", help="Folder for data and pictures.")
@click.option("--seed", type=click.IntRange(min=0), default=2023, show_default=True,
              help="Of the estimates, and of the random distributions of fig5.")  # fmt: skip
@click.option("--estimate", is_flag=True, help="Estimate the values of fig5 as well.")
@worker_options
@checkpoint_option
@quiet_option
@reading_options
def paper(figure: str, files: tuple[str, ...], out: str, seed: int, estimate: bool, executor: Executor | None,
          checkpoint: str | None, quiet: bool, reading: dict[str, Any]) -> None:  # fmt: skip
    """Draw the figures of the paper, with the exact values added.

    Each as data (.json, .csv) and as a picture (.svg, .pdf, .png). The figure real is the trade-off between loss and
    robustness of vote FILES; all is every figure, and real if there are FILES.
    """
    from holdrank.paper import figures

    if files and figure not in ("real", "all"):
        raise click.UsageError(f"The figure {figure} reads no files; use real.")
    if figure == "real" and not files:
        raise click.UsageError("The figure real needs vote files.")
    names = [*_FIGURES, *(["real"] if files else [])] if figure == "all" else [figure]

    def tell(step: Step) -> None:
        if not quiet:
            complain(f"{step.name} ({step.done + 1} of {step.total})")

    with progress_line(quiet) as progress:
        means: dict[str, Any] = {"executor": executor, "checkpoint": checkpoint, "progress": progress or tell}
        written = figures(names, out, rng=seed, estimate=estimate, files=files, reading=reading, **means)
    for path in written:
        click.echo(path)
