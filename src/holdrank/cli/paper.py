"""The command `paper`: the figures of the paper, with exact values next to its bounds and estimates."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.options import (
    ReadingCommand,
    checkpoint_option,
    quiet_option,
    read,
    reading_options,
    verbose_option,
    worker_options,
)
from holdrank.cli.printing import complain, plain_table, print_table, progress_line
from holdrank.errors import show
from holdrank.words.numbers import number, percent

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from holdrank.plots import Data
    from holdrank.status import Step

_FIGURES = ("fig1", "fig2", "fig3", "fig4", "fig5", "margin")


class _Figure(click.Choice):  # type: ignore[type-arg]  # older versions of click have no parameter here
    """One of the figures; the error for a similar name suggests it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See click."""
        if value not in self.choices:
            near = get_close_matches(str(value), list(self.choices), n=1)
            hint = f" Did you mean '{near[0]}'?" if near else f" Figures: {', '.join(self.choices)}."
            self.fail(f"No such figure {show(str(value), 60)!r}.{hint}", param, ctx)
        return super().convert(value, param, ctx)


@click.command(cls=ReadingCommand)
@click.argument("figure", type=_Figure([*_FIGURES, "real", "arena", "all"]), default="all")
@click.argument("files", nargs=-1)
@click.option("--out", default="holdrank-paper", show_default=True, metavar="DIR", help="Folder for data and pictures.")
@click.option("--seed", type=click.IntRange(min=0), default=2023, show_default=True,
              help="Random seed of the estimates, the distributions in fig5 and the generated arena.")  # fmt: skip
@click.option("--estimate", is_flag=True, help="Also estimate and draw the values of fig5 (method smooth).")
@click.option("--list", "listing", metavar="LIST",
              help="TOML file that lists more FILES, each with its own title and reading options.")  # fmt: skip
@click.option("--time-limit", type=click.FloatRange(min=0), default=60.0, show_default=True,
              help="Time limit for each of FILES, or for the arena table, in seconds.")  # fmt: skip
@worker_options
@checkpoint_option
@quiet_option
@verbose_option
@reading_options
def paper(figure: str, files: tuple[str, ...], out: str, seed: int, estimate: bool, listing: str | None,
          time_limit: float, executor: Executor | None, checkpoint: str | None, quiet: bool, verbose: bool,
          reading: dict[str, Any]) -> None:  # fmt: skip
    """Draw the figures of the paper, with the exact values added.

    Writes each figure as data (.json, .csv) and as a picture (.svg, .pdf, .png). The figure margin is not in the paper;
    it shows a threshold near the margin of a pair. The figure real shows loss against robustness for vote FILES. all
    draws every figure, including real if FILES are given. A file that cannot be read is skipped and reported at the end
    (exit code 3).

    The table arena is not in the paper and not part of all. It shows how few battles of FILE, dropped, added or
    replaced, change the top k by Bradley-Terry, and compares these certified numbers with the influence-function
    approximation. Without FILE, it generates an arena. -v adds milliseconds to the table.

    In LIST, each vote file is a table [[file]] with a path relative to LIST, and optionally a title and reading
    options, named as in read_votes:

    \b
        [[file]]
        path = "battles.csv"
        title = "Battles of May"
        first = "left"
        second = "right"
    """  # noqa: D301  click looks for the sign itself
    from holdrank.paper import figures
    from holdrank.paper.vote_files import read_list

    if figure == "arena":
        _arena(files, listing, out, seed, time_limit, quiet, verbose, reading)
        return
    if verbose:
        raise click.UsageError("--verbose applies only to the table arena.")
    if (files or listing) and figure not in ("real", "all"):
        raise click.UsageError(f"The figure {figure} takes no files; use real.")
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


def _arena(files: tuple[str, ...], listing: str | None, out: str, seed: int, time_limit: float, quiet: bool,
           verbose: bool, reading: dict[str, Any]) -> None:  # fmt: skip
    """Print how few battles change the top of an arena, and write it as a figure."""
    from holdrank import plots
    from holdrank.paper.arena import arena, generated_arena
    from holdrank.paper.export import write_figure

    if listing or len(files) > 1:
        raise click.UsageError("The table arena takes one FILE, or none.")
    plots.styled()  # refuses where there is no matplotlib, before anything is read
    votes = read(files[0], reading, quiet) if files else None
    seconds: list[float] = []
    with progress_line(quiet) as progress:
        found = arena(
            votes, time_limit=time_limit, rng=seed, each=lambda _, took: seconds.append(took), progress=progress
        )
    table = plain_table("top", "change", "at least", "at most", "share of battles", "influence", "refit",
                        *(["ms"] if verbose else []))  # fmt: skip
    for row, took in zip(found["rows"], seconds, strict=True):
        table.add_row(*_cells(row), *([f"{1000 * took:.0f}"] if verbose else []))
    print_table("battles to change the first k by Bradley-Terry", votes or generated_arena(rng=seed), table)
    write_figure(found, out, written=click.echo)


def _cells(row: Data) -> list[str]:
    """Return what a row of the arena says, without milliseconds."""
    least, most = (None if row[f"{end}_share"] is None else percent(row[f"{end}_share"])
                   for end in ("needed", "sufficient"))  # fmt: skip
    share = "–" if least is None else least if least == most else f"{least} – {most or '?'}"
    wanted = row["influence_sufficient"]
    refit = "–" if row["influence"] is None else "works" if row["influence_works"] else "fails"
    if wanted is not None and wanted != row["influence"]:
        refit += f", {number(wanted)} work" if wanted > row["influence"] else f", {number(wanted)} would do"
    ends = ["–" if row[name] is None else number(row[name]) for name in ("needed", "sufficient", "influence")]
    return [str(row["top"]), row["change"], ends[0], ends[1], share, ends[2], refit]
