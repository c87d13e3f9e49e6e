"""Figure 5 as data, and the same of vote files: loss against robustness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np

from holdrank import plots
from holdrank.analysis.many import Source, go_on, run, sources
from holdrank.analysis.tradeoff import tradeoff
from holdrank.attacks.answers import breakdown
from holdrank.attacks.estimator.engine import smoothed
from holdrank.errors import UsageError, show
from holdrank.paper.distributions import FIRST, ITEMS, SEED, UNIT, noise, steps_of, votes_of
from holdrank.parallel.checkpoints import Keep
from holdrank.parallel.workers import Parcel
from holdrank.plots import Data, number
from holdrank.rankings import Ranking
from holdrank.rules.consensus import expect_seconds, kemeny
from holdrank.rules.merges import Robust
from holdrank.status import Clock
from holdrank.votes.models import BucketMass, Mixture, PlackettLuce, Seed, Uniform, exact_votes, seed_of
from holdrank.votes.votes import Votes

_THETA = 0.05


def fig5(
    *,
    steps: int | None = None,
    spread: float = 1.0,
    count: int = 20,
    rng: Seed = SEED,
    executor: Executor | None = None,
    checkpoint: Keep = None,
) -> Data:
    """Return loss and robustness at delta = 1/6 of Kemeny's median and of Downward Merge, for many distributions.

    Parameters
    ----------
    steps : int, optional
        Of the estimator; None leaves it out.
    spread : float
        The weights of a Plackett-Luce model are exp(spread · g), with g four sorted Gaussian numbers.
    count : int
        Number of Plackett-Luce models.
    rng : int, Generator or None
        Of the Plackett-Luce models, and of the estimator; the seed used is in the data.
    executor, checkpoint
        As in `figures`; each distribution is a task.

    Notes
    -----
    Downward Merge is given at the threshold .05 and at the best one for each distribution, as `tradeoff` finds it.
    Paper: Figure 5.
    """
    seed, steps = seed_of(rng), None if steps is None else steps_of(steps)
    spread = float(spread)
    bucket = Ranking([1, 2, 3, 3])
    shapes = {}
    for gap in (0.1, 0.01):
        mixed = Mixture([(0.9, BucketMass(bucket, gap)), (0.1, Uniform(4))])
        shapes[f"bucket, gap {gap:g}"] = exact_votes(mixed, items=ITEMS)
    shapes["uniform"] = votes_of(0.1 * noise(23) + 0.9 / 24)
    shapes["point mass"] = votes_of(0.1 * noise(23) + 0.9 * FIRST)
    rng = np.random.default_rng(seed)
    for k in range(count):
        logits = np.sort(rng.standard_normal(4))[::-1]
        shapes[f"Plackett-Luce {k + 1}"] = exact_votes(PlackettLuce(np.exp(spread * logits).tolist()), items=ITEMS)
    work = {f"fig5, {name}": (name, votes, seed, steps) for name, votes in shapes.items()}
    about: Data = {"delta": "1/6", "seed": seed, "spread": spread, "unit": UNIT}
    if steps is not None:
        about["steps"] = steps
    parameters = {"seed": seed, "spread": spread, "steps": steps}
    rows = run(_fig5_rows, work, None, executor, checkpoint, "fig5", parameters)
    return {"figure": "fig5", **about, "rows": [row for some in rows for row in some]}


def _fig5_rows(
    _parcel: Parcel[None], name: str, votes: Votes, seed: int, steps: int | None, _clock: Clock
) -> tuple[list[Data], bool]:
    rows = []
    found = tradeoff(votes)
    go_on(found.status)
    best = float(found.theta[found.best])
    for choice, theta in (("kemeny", 0.0), ("downward merge", _THETA), ("best threshold", best)):
        T = Robust(kemeny, theta) if theta else kemeny
        after, broken = T(votes), breakdown(votes, T, [1 / 6])
        go_on(broken.status)
        row = {"distribution": name, "statistic": choice, "theta": number(theta), "tiers": after.text(),
               "loss": number(after.loss), "exact_lower": number(broken.lower[0]),
               "exact_upper": number(broken.upper[0])}  # fmt: skip
        if steps is not None:
            row["attack"] = number(float(smoothed(votes, T, [1 / 6], steps=steps, rng=seed).upper[0]))
        rows.append(row)
    return rows, True


def real(
    files: Sequence[str | Path],
    *,
    reading: Mapping[str, Any] | None = None,
    time_limit: float | None = 60.0,
    executor: Executor | None = None,
    checkpoint: Keep = None,
) -> Data:
    """Return loss and robustness of every threshold of Downward Merge, for vote files.

    Parameters
    ----------
    files : sequence of path
    reading : mapping, optional
        How to read the files: options of `read_votes`.
    time_limit : float, optional
        Seconds for each file; what is proved until then counts.
    executor, checkpoint
        As in `figures`; each file is a task, and is read by the worker.
    """
    if not files:
        raise UsageError("the figure 'real' needs vote files", repair="name at least one")
    options, time_limit = dict(reading or {}), expect_seconds(time_limit)
    work = {f"real, {source.key}": (source, options, time_limit) for source in sources(files, options, executor)}
    parameters = {"time_limit": time_limit, "reading": options}
    found = run(_real_panel, work, None, executor, checkpoint, "real", parameters)
    panels, rows = [panel for panel, _ in found], [row for _, some in found for row in some]
    return {"figure": "real", "unit": UNIT, "files": panels, "rows": rows}


def _real_panel(
    _parcel: Parcel[None], source: Source, reading: dict[str, Any], time_limit: float | None, _clock: Clock
) -> tuple[tuple[Data, list[Data]], bool]:
    votes = source.votes(reading)
    found = tradeoff(votes, time_limit=time_limit)
    go_on(found.status)
    data = plots.tradeoff_data(found)
    panel = {
        "file": show(Path(source.name).name),
        "votes": votes.total,
        "items": votes.n,
        "status": found.status.value,
        **data,
    }
    rows = []
    for k, ranking in enumerate(found.rankings):
        row = {name: data[name][k] for name in ("theta", "loss", "lower", "upper", "pareto")}
        tiers = ranking.text([show(item) for item in votes.items])
        rows.append({"file": panel["file"], **row, "best": k == found.best, "tiers": tiers})
    return (panel, rows), True
