"""Figures written to a folder, each as data and as a picture."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from holdrank import plots
from holdrank.attacks.plans import Progress
from holdrank.errors import UsageError, quote
from holdrank.files.writers import make_folder, write_whole
from holdrank.paper.curves import fig1, fig2, fig3, fig4
from holdrank.paper.distributions import SEED, STEPS, steps_of
from holdrank.paper.drawings import DRAWINGS
from holdrank.paper.tradeoffs import fig5, real
from holdrank.parallel.checkpoints import Keep, opened
from holdrank.parallel.spread import expect_executor
from holdrank.plots import Data
from holdrank.status import Step
from holdrank.votes.forms.vocabulary import starts_formula
from holdrank.votes.models import Seed, seed_of


def figures(
    names: Iterable[str],
    out: str | Path,
    *,
    steps: int = STEPS,
    estimate: bool = False,
    files: Sequence[str | Path] = (),
    reading: Mapping[str, Any] | None = None,
    rng: Seed = SEED,
    progress: Progress | None = None,
    executor: Executor | None = None,
    checkpoint: Keep = None,
) -> list[Path]:
    """Write figures to a folder: the data as .json and .csv, the picture as .svg, .pdf and .png.

    Parameters
    ----------
    names : sequence of {"fig1", "fig2", "fig3", "fig4", "fig5", "real"}
    out : path
        The folder, made if there is none.
    steps : int
        Of the estimator.
    estimate : bool
        Whether Figure 5 is estimated as well.
    files : sequence of path
        Vote files, for "real".
    reading : mapping, optional
        How to read them: options of `read_votes`.
    rng : int, Generator or None
        Of the estimator, and of the random distributions of Figure 5; the seed used is in the data. The same number
        gives the same data.
    progress : callable, optional
        Called with a `Step` before each figure.
    executor : Executor, optional
        Whose workers share the curves of Figure 4, the distributions of Figure 5 and the files of "real": any of
        `concurrent.futures`, `clusters.local`, `clusters.connect`. The data are the same.
    checkpoint : path, optional
        File to which each of these goes when it is finished. One of the same parameters is gone on with.

    Returns
    -------
    list of Path
        The files written.
    """
    chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if name not in DRAWINGS:
            raise UsageError(f"a figure is one of {', '.join(DRAWINGS)}, not {quote(str(name))}")
    seed, steps = seed_of(rng), steps_of(steps)
    expect_executor(executor)
    plots.styled()  # refuses where there is no matplotlib, before anything is made
    folder = Path(out)
    make_folder(folder)
    written = []
    parameters = {"seed": seed, "steps": steps, "estimate": estimate, "reading": dict(reading or {})}
    with opened(checkpoint, "paper", None, parameters) as kept:
        means: dict[str, Any] = {"executor": executor, "checkpoint": kept}
        makers: dict[str, Callable[[], Data]] = {
            "fig1": fig1,
            "fig2": fig2,
            "fig3": fig3,
            "fig4": lambda: fig4(steps=steps, rng=seed, **means),
            "fig5": lambda: fig5(steps=steps if estimate else None, rng=seed, **means),
            "real": lambda: real(files, reading=reading, **means),
        }
        for done, name in enumerate(chosen):
            if progress is not None:
                progress(Step(name, done, len(chosen)))
            with plots.styled():
                data = makers[name]()
                picture = DRAWINGS[name](data)
            texts = {".json": json.dumps(data, indent=1, ensure_ascii=False) + "\n", ".csv": table(data["rows"])}
            for ending, text in texts.items():
                written.append(folder / (name + ending))
                write_whole(written[-1], text.encode())
            written += plots.save(picture, folder / name)
    return written


def table(rows: list[Data]) -> str:
    """Return rows as CSV: inf where there is no bound, nothing where a column says nothing about a row.

    An apostrophe goes before a text that a spreadsheet would run as a formula: files and items may have such names.
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str) and starts_formula(value):
        return f"'{value}"
    return "inf" if value is None else value
