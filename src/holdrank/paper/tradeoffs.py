"""Figure 5 as data: loss against robustness; and what a threshold near the margin of a pair does."""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np

from holdrank.analysis.many import go_on, run
from holdrank.analysis.tradeoff import tradeoff
from holdrank.attacks.answers import breakdown
from holdrank.attacks.estimator.engine import smoothed
from holdrank.paper.distributions import CLOSE, ITEMS, SEED, UNIT, authors, ours, steps_of
from holdrank.parallel.checkpoints import Keep
from holdrank.parallel.workers import Parcel
from holdrank.plots import Data, number
from holdrank.rules.consensus import kemeny
from holdrank.rules.merges import Robust
from holdrank.status import Clock
from holdrank.votes.models import BucketMass, Seed, exact_votes, seed_of
from holdrank.votes.votes import Votes

_THETA = 0.05  # of Figure 5, from the notebook that the authors published
_ONE_PAIR = 1 / 6


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
        Of the estimator, ``method="smooth"``; None leaves it out.
    spread : float
        The weights of our Plackett-Luce models are exp(spread · g), with g four sorted Gaussian numbers.
    count : int
        Number of our Plackett-Luce models.
    rng : int, Generator or None
        Of our Plackett-Luce models, and of the estimator; the seed used is in the data.
    executor, checkpoint
        As in `figures`; each distribution is a task.

    Notes
    -----
    The first seven distributions are those that the authors published, their ``source`` is "authors"; the others are
    "ours". Downward Merge is given at the threshold .05 and at the best one for each distribution, as `tradeoff` finds
    it. Paper: Figure 5.
    """
    seed, steps = seed_of(rng), None if steps is None else steps_of(steps)
    spread = float(spread)
    shapes = {("authors", name): votes for name, votes in authors().items()}
    shapes |= {("ours", name): votes for name, votes in ours(count, spread, np.random.default_rng(seed)).items()}
    work = {f"fig5, {source}: {name}": (source, name, votes, seed, steps) for (source, name), votes in shapes.items()}
    about: Data = {"delta": "1/6", "seed": seed, "spread": spread, "unit": UNIT,
                   "sources": {"authors": "the notebook that the authors published; its noise in the bucket "
                                          ".51/.49 is not known, and u(0) stands for it",
                               "ours": "chosen here; not in the paper"}}  # fmt: skip
    if steps is not None:
        about |= {"estimator": "smooth", "steps": steps}
    parameters = {"seed": seed, "spread": spread, "steps": steps}
    rows = run(_fig5_rows, work, None, executor, checkpoint, "fig5", parameters)
    return {"figure": "fig5", **about, "rows": [row for some in rows for row in some]}


def _fig5_rows(
    _parcel: Parcel[None], source: str, name: str, votes: Votes, seed: int, steps: int | None, _clock: Clock
) -> tuple[list[Data], bool]:
    rows = []
    found = tradeoff(votes)
    go_on(found.status)
    best = float(found.theta[found.best])
    known: dict[float, Data] = {}
    for choice, theta in (("kemeny", 0.0), ("downward merge", _THETA), ("best threshold", best)):
        if theta not in known:
            known[theta] = _point(votes, theta, seed, steps)
        rows.append({"source": source, "distribution": name, "statistic": choice, **known[theta]})
    return rows, True


def _point(votes: Votes, theta: float, seed: int, steps: int | None) -> Data:
    """Return loss and robustness at one threshold; 0 is Kemeny's median itself."""
    T = Robust(kemeny, theta) if theta else kemeny
    after, broken = T(votes), breakdown(votes, T, [_ONE_PAIR])
    go_on(broken.status)
    point = {"theta": number(theta), "tiers": after.text(), "loss": number(after.loss),
             "exact_lower": number(broken.lower[0]), "exact_upper": number(broken.upper[0])}  # fmt: skip
    if steps is not None:
        guess = smoothed(votes, T, [_ONE_PAIR], steps=steps, rng=seed)
        point |= {"estimate": number(float(guess.estimate[0])), "attack": number(float(guess.upper[0]))}
    return point


def margin() -> Data:
    """Return the robustness of Downward Merge around the threshold that equals the margin of the closest pair.

    Notes
    -----
    Two buckets, without noise. The authors published .6/.4, whose margin is .1; the text of the paper describes a gap
    of .1, which is .55/.45 and has the margin .05, the threshold of Figure 5 itself. Up to its margin the pair is not
    tied, and the threshold brings a tie nearer by its own size; from the margin on the pair is tied and no longer
    counts. Not a figure of the paper.

    Examples
    --------
    >>> rows = [row for row in margin()["rows"] if row["distribution"] == "bucket, .55/.45"]
    >>> {row["theta"]: row["exact_lower"] for row in rows if row["theta"] in (0.0, 0.0499, 0.05)}
    {0.0: 0.05, 0.0499: 0.0001, 0.05: 0.45}
    """
    buckets = {"bucket, .6/.4": ("authors", 0.2), "bucket, .55/.45": ("paper's text", 0.1)}
    rows = []
    for name, (source, gap) in buckets.items():
        votes = exact_votes(BucketMass(CLOSE, gap), items=ITEMS)
        at = round(gap / 2, 9)
        around = {round(k / 100, 9) for k in range(16)} | {round(at - 1e-4, 9), at, round(at + 1e-4, 9)}
        for theta in sorted(around):
            point = {"source": source, "distribution": name, "margin": at, **_point(votes, theta, SEED, None)}
            rows.append(point)
    return {"figure": "margin", "delta": "1/6", "unit": UNIT, "rows": rows}
