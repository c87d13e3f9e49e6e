"""Figures written to a folder, each as data and as a picture."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from holdrank import plots
from holdrank.attacks.plans import Progress
from holdrank.errors import UsageError, quote
from holdrank.files.writers import make_folder, write_whole
from holdrank.paper.arena import arena
from holdrank.paper.curves import fig1, fig2, fig3, fig4
from holdrank.paper.distributions import SEED, STEPS, steps_of
from holdrank.paper.drawings import DRAWINGS
from holdrank.paper.tradeoffs import fig5, margin
from holdrank.paper.vote_files import Errors, File, growing, left_out
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
    files: Sequence[File] = (),
    reading: Mapping[str, Any] | None = None,
    written: Callable[[Path], None] | None = None,
    time_limit: float | None = 60.0,
    rng: Seed = SEED,
    progress: Progress | None = None,
    executor: Executor | None = None,
    checkpoint: Keep = None,
) -> list[Path]:
    """Write figures to a folder: the data as .json and .csv, the picture as .svg, .pdf and .png.

    Parameters
    ----------
    names : sequence of {"fig1", "fig2", "fig3", "fig4", "fig5", "margin", "real", "arena"}
        "arena" is of generated battles; `write_figure` writes what `arena` says about others.
    out : path
        The folder, made if there is none.
    steps : int
        Of the estimator.
    estimate : bool
        Whether Figure 5 is estimated as well, by ``method="smooth"``.
    files : sequence of path or mapping
        Vote files, for "real". A mapping has the ``path``, and if wanted a ``title`` and options of `read_votes` for
        this file alone.
    reading : mapping, optional
        How to read them: options of `read_votes`. The options of one file override them.
    written : callable, optional
        Called with the path of each file when it is there.
    time_limit : float, optional
        Time limit in seconds for each vote file; bounds proved by then count.
    rng : int, Generator or None
        Of the estimator, and of the random distributions of Figure 5; the seed used is in the data. The same seed gives
        the same data.
    progress : callable, optional
        Called with a `Step` before each figure.
    executor : Executor, optional
        Computes the curves of Figure 4, the distributions of Figure 5 and the files of "real" in parallel: any executor
        of `concurrent.futures`, `clusters.local` or `clusters.connect`. The data are the same.
    checkpoint : path, optional
        File that stores each of these when it is finished. A checkpoint with the same parameters is resumed.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InputError
        At the end, if some vote files could not be used; all else is written by then. The data of "real" are written
        after each vote file, so that an interrupted run loses none that is finished.
    """
    chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if name not in DRAWINGS:
            raise UsageError(f"a figure is one of {', '.join(DRAWINGS)}, not {quote(str(name))}")
    seed, steps = seed_of(rng), steps_of(steps)
    expect_executor(executor)
    plots.styled()  # refuses where there is no matplotlib, before anything is made
    parameters = {"seed": seed, "steps": steps, "estimate": estimate, "reading": dict(reading or {})}
    target = _Folder(Path(out), written or (lambda _: None))
    errors: Errors = {}
    with opened(checkpoint, "paper", None, parameters) as kept:
        means: dict[str, Any] = {"executor": executor, "checkpoint": kept}
        makers: dict[str, Callable[[], Data]] = {
            "fig1": fig1,
            "fig2": fig2,
            "fig3": fig3,
            "fig4": lambda: fig4(steps=steps, rng=seed, **means),
            "fig5": lambda: fig5(steps=steps if estimate else None, rng=seed, **means),
            "margin": margin,
            "arena": lambda: arena(time_limit=time_limit, rng=seed),
        }
        for done, name in enumerate(chosen):
            if progress is not None:
                progress(Step(name, done, len(chosen)))
            if name == "real":
                errors = target.write_growing(growing(files, reading=reading, time_limit=time_limit, **means))
            else:
                target.write(makers[name]())
    if errors:
        raise left_out(errors, len(files))
    return target.files


def write_figure(data: Data, out: str | Path, *, written: Callable[[Path], None] | None = None) -> list[Path]:
    """Write the data of one figure, and its picture, to a folder, as `figures` does."""
    target = _Folder(Path(out), written or (lambda _: None))
    target.write(data)
    return target.files


class _Folder:
    """The folder that figures are written to; it is made if there is none."""

    def __init__(self, path: Path, written: Callable[[Path], None]) -> None:
        make_folder(path)
        self.path = path
        self.files: list[Path] = []
        self._written = written

    def write(self, data: Data) -> None:
        """Write a figure as data and as a picture."""
        stem = self.path / data["figure"]
        self._add(_write_data(data, stem))
        with plots.styled():
            picture = DRAWINGS[data["figure"]](data)
        self._add(plots.save(picture, stem))

    def write_growing(self, states: Iterator[tuple[Data, Errors]]) -> Errors:
        """Write the data of vote files whenever one is finished, and the picture at the end, also after an error."""
        latest: tuple[Data, Errors] = {"files": []}, {}
        try:
            for latest in states:
                if latest[0]["files"]:
                    _write_data(latest[0], self.path / "real")
        finally:
            if latest[0]["files"]:
                self.write(latest[0])
        return latest[1]

    def _add(self, files: Iterable[Path]) -> None:
        for file in files:
            self.files.append(file)
            self._written(file)


def _write_data(data: Data, stem: Path) -> list[Path]:
    """Write data as .json and .csv."""
    texts = {".json": json.dumps(data, indent=1, ensure_ascii=False) + "\n", ".csv": table(data["rows"])}
    for ending, text in texts.items():
        write_whole(stem.with_name(stem.name + ending), text.encode())
    return [stem.with_name(stem.name + ending) for ending in texts]


def table(rows: list[Data]) -> str:
    """Return rows as CSV: inf where there is no bound, empty where a column does not apply to a row.

    An apostrophe precedes a text that a spreadsheet would run as a formula: files and items may have such names.
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
