"""Breakdowns of many files, and the parts shared by sweeps over files and figures."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np

from holdrank.analysis.bootstrap import described
from holdrank.analysis.records import Record, consensus_record, curve_record, votes_record
from holdrank.attacks.answers import Method, breakdown, numbers_of
from holdrank.attacks.estimator.options import PaperOptions
from holdrank.attacks.goals import TierDistance
from holdrank.attacks.plans import Progress
from holdrank.errors import UsageError, quote
from holdrank.files import read_votes
from holdrank.parallel.checkpoints import Keep, opened
from holdrank.parallel.spread import expect_executor, spread
from holdrank.parallel.workers import Parcel
from holdrank.rankings import Floats, Ranking
from holdrank.rules.consensus import Statistic, expect_seconds
from holdrank.rules.registry import auto
from holdrank.status import Clock, Status, Step, Tabular
from holdrank.votes.models import Seed, seed_of
from holdrank.votes.votes import Votes
from holdrank.words.names import brief_order, order_text


def breakdowns(
    files: Iterable[str | os.PathLike[str]],
    T: Statistic = auto,
    deltas: Iterable[float] | None = None,
    *,
    method: Method = "auto",
    distance: TierDistance = "hausdorff_ns",
    options: PaperOptions | None = None,
    reading: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    rng: Seed = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    checkpoint: Keep = None,
) -> list[FileBreakdown]:
    """Return the `breakdown` of every file, in the order of the files.

    Parameters
    ----------
    files : sequence of path
        Vote files. With an executor they are read by its workers, under the same names.
    T, deltas, method, distance, options, rng
        As in `breakdown`.
    time_limit : float, optional
        Seconds for each file.
    reading : mapping, optional
        How to read the files: options of `read_votes`.
    progress : callable, optional
        Called with a `Step` for each file.
    executor : Executor, optional
        Runs files in parallel: any executor of `concurrent.futures`, `clusters.local` or `clusters.connect`. The
        result is the same, unless a time limit cuts it short.
    checkpoint : path, optional
        File that stores finished breakdowns. A checkpoint with the same parameters is resumed; a vote file is
        identified by its contents.

    Returns
    -------
    list of FileBreakdown
        One for each file. They hold no attacks.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from holdrank import write_votes
    >>> votes = Votes.from_orders([["a", "b"], ["b", "a"]], weights=[60, 40])
    >>> with TemporaryDirectory() as folder:
    ...     write_votes(votes, folder + "/votes.soc")
    ...     (found,) = breakdowns([folder + "/votes.soc"])
    >>> found.delta.tolist(), found.votes_needed.tolist()
    ([1.0], [10.0])
    """
    if isinstance(files, str | os.PathLike):
        raise UsageError(
            f"breakdowns takes a list of files, not {quote(str(files))}", repair="put the file in brackets"
        )
    if not callable(T):
        raise UsageError(f"the statistic must be kemeny, borda, a Robust or another function, not {quote(repr(T))}")
    at = None if deltas is None else tuple(numbers_of(deltas))
    seed = seed_of(rng) if method in ("smooth", "paper") else None
    how = _How(T, at, method, distance, expect_seconds(time_limit), seed, options)
    read_so = dict(reading or {})
    work = {source.key: (source, how, read_so) for source in sources(files, read_so, executor)}
    parameters = {**how.plain(), "reading": read_so}
    found = run(_breakdown, work, None, executor, checkpoint, "breakdowns", parameters, progress)
    return [FileBreakdown(record) for record in found]


@dataclass(frozen=True, slots=True, repr=False)
class FileBreakdown(Tabular):
    """The breakdown of one file of many, with the numbers of a `Breakdown` and without its attacks.

    Attributes
    ----------
    record : dict
        All of it as plain data: ``file``, ``items``, ``votes``, ``consensus`` and ``breakdown``, as in the record of an
        `Analysis`. None stands for infinity.
    """

    record: Record

    @property
    def file(self) -> str:
        """Name of the file, as it was given."""
        return str(self.record["file"])

    @property
    def items(self) -> tuple[str, ...]:
        """Names of the items."""
        return tuple(self.record["items"])

    @property
    def total(self) -> float:
        """Number of votes, or total mass of a distribution."""
        return float(self.record["votes"]["total"])

    @property
    def ranking(self) -> Ranking:
        """The consensus of the file."""
        return Ranking(self.record["consensus"]["ranks"])

    @property
    def statistic(self) -> str:
        """Name of the rule."""
        return str(self.record["breakdown"]["statistic"])

    @property
    def delta(self) -> Floats:
        """The distances, as shares of the pairs."""
        return self._column("delta")

    @property
    def lower(self) -> Floats:
        """No smaller share of the votes moves the consensus by each distance; infinite where none does."""
        return self._column("lower")

    @property
    def upper(self) -> Floats:
        """The share of the votes of a verified attack for each distance; infinite where none is known."""
        return self._column("upper")

    @property
    def votes_needed(self) -> Floats:
        """No fewer votes move the consensus by each distance; nan for a distribution."""
        return self._whole("needed")

    @property
    def votes_to_tie(self) -> Floats:
        """Votes after which a consensus that far away is among the optima; nan for a distribution."""
        return self._whole("ties")

    @property
    def votes_to_decide(self) -> Floats:
        """No fewer votes move every optimum by each distance; nan for a distribution."""
        return self._whole("decides")

    @property
    def votes_sufficient(self) -> Floats:
        """The votes of a verified attack in whole votes for each distance; nan for a distribution."""
        return self._whole("sufficient")

    @property
    def status(self) -> Status:
        """How the bounds were obtained."""
        return Status(self.record["breakdown"]["status"])

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the result."""
        return tuple(self.record["breakdown"]["notes"])

    def _whole(self, name: str) -> Floats:
        """Return a column of whole votes."""
        return self._column(name, math.inf if self.record["votes"]["counts"] else math.nan)

    def _column(self, name: str, missing: float = math.inf) -> Floats:
        values = self.record["breakdown"][name]
        found = np.array([missing if value is None else value for value in values], dtype=np.float64)
        found.flags.writeable = False
        return found

    def __repr__(self) -> str:
        ranking = brief_order(self.ranking.buckets, self.items) or order_text(self.ranking.buckets, self.items)
        return f"FileBreakdown({quote(self.file)}: {self.statistic}, {ranking}, {self.status})"


@dataclass(frozen=True, slots=True)
class _How:
    """The arguments of `breakdown` besides the votes."""

    statistic: Statistic
    deltas: tuple[float, ...] | None
    method: Method
    distance: TierDistance
    time_limit: float | None
    seed: int | None
    options: PaperOptions | None

    def plain(self) -> dict[str, Any]:
        known = {"statistic": described(self.statistic), "deltas": self.deltas, "method": self.method,
                 "distance": self.distance, "time_limit": self.time_limit, "seed": self.seed}  # fmt: skip
        return known if self.options is None else {**known, "options": self.options.plain()}


@dataclass(frozen=True, slots=True)
class VoteFile:
    """A file of votes for a task.

    Attributes
    ----------
    key : str
        Its place in the list and a hash of its contents.
    name : str
        As it was given.
    content : str or Votes
        Where a worker finds it, or the votes where only this process can read them.
    """

    key: str
    name: str
    content: str | Votes

    def votes(self, reading: Mapping[str, Any]) -> Votes:
        """Return the votes, from the file if they are still there."""
        return self.content if isinstance(self.content, Votes) else read_votes(self.content, **reading)


def sources(
    files: Iterable[str | os.PathLike[str]], reading: Mapping[str, Any], executor: Executor | None
) -> list[VoteFile]:
    """Return files as tasks need them."""
    found = []
    for number, file in enumerate(files):
        name = os.fspath(file)
        content: str | Votes = name
        if name == "-":
            content = read_votes(name, **reading)
            digest = content.input_hash
        else:
            digest = _digest(name)
            if executor is not None:
                content = os.path.abspath(name)  # workers may run in another folder
        found.append(VoteFile(f"{number}: {digest}", name, content))
    return found


def _digest(name: str) -> str:
    try:
        with Path(name).open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""  # the reader gives a better message


def run(
    task: Callable[..., tuple[Any, bool]],
    work: Mapping[str, tuple[Any, ...]],
    shared: Any,
    executor: Executor | None,
    checkpoint: Keep,
    sweep: str,
    parameters: Mapping[str, Any],
    progress: Progress | None = None,
) -> list[Any]:
    """Return the results of all tasks in their order; see `parallel.spread.spread`."""
    expect_executor(executor)
    found: dict[str, Any] = {}
    with opened(checkpoint, sweep, None, parameters) as kept:
        if progress is not None and work:
            progress(Step("files", 0, len(work)))
        for key, value in spread(task, work, Parcel(shared), Clock(), executor=executor, kept=kept):
            found[key] = value
            if progress is not None and len(found) < len(work):
                progress(Step("files", len(found), len(work)))
    return [found[key] for key in work]


def go_on(*statuses: Status) -> None:
    """Raise the Ctrl-C that a computation caught: an incomplete sweep has no result."""
    if any(status.is_interrupted for status in statuses):
        raise KeyboardInterrupt


def _breakdown(
    parcel: Parcel[None], source: VoteFile, how: _How, reading: dict[str, Any], clock: Clock
) -> tuple[Record, bool]:
    del parcel, clock  # each file has a time limit of its own
    votes = source.votes(reading)
    found = breakdown(
        votes,
        how.statistic,
        how.deltas,
        method=how.method,
        distance=how.distance,
        time_limit=how.time_limit,
        rng=how.seed,
        options=how.options,
    )
    go_on(found.status)
    record = {
        "file": source.name,
        "items": list(votes.items),
        "votes": {**votes_record(votes), "source": source.name},
        "consensus": consensus_record(found.consensus),
        "breakdown": curve_record(found),
    }
    return record, True
