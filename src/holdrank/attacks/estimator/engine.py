"""The improved estimator of breakdown functions: a smoothed saddle point, solved by stochastic gradients.

The distance between T(p) and T(q) is piecewise constant in q, so it has no gradient. Its mean over noisy copies of q
has one, and the score function estimates it from the distances alone (`descent`). The result of the descent is close to
an attack but seldom is one. The last step turns it into an attack, trims it, and runs the statistic again on the
attacked votes (`trimming`), so that `upper` is an upper bound and not an estimate. For medians and Downward Merge the
trimming is so good that for a few items a poor start is enough; `estimate` shows the result of the descent alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from holdrank.arrays.tolerances import SAME
from holdrank.attacks.batches import all_orders
from holdrank.attacks.estimator.descent import (
    Descent,
    DescentOptions,
    PlainSampler,
    SmoothedProblem,
    drawn_here,
    to_numpy,
)
from holdrank.attacks.estimator.trimming import attacks
from holdrank.attacks.goals import DISTANCES, TierDistance
from holdrank.errors import InputError, Message, Option, UsageError, quote, real_number, whole_number
from holdrank.rankings import Floats, Ranking
from holdrank.rules.consensus import Statistic, kemeny
from holdrank.votes.models import Seed, seed_of
from holdrank.votes.votes import Votes

_NUMBERS_AT_A_TIME = 1 << 20  # shares held together by numpy: more would cost memory, fewer time


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated breakdown functions, each point with a verified attack.

    For a list of votes every array has a first axis for them. The shares are those of the n! strict rankings in the
    order of `all_rankings`.

    Attributes
    ----------
    delta : (points,) array
        Distances to reach.
    estimate : (..., points) array
        Total variation between p and the average iterate. It bounds nothing.
    upper : (..., points) array
        Total variation of a verified attack, an upper bound on the breakdown value. Infinite where none was found.
    average : (..., points, n!) array
        The average iterate, over all runs.
    runs : (..., points, repeats) array
        The estimate of each run; their spread shows the noise of the descent.
    attacked : (..., points, n!) array
        The attacked distribution; p itself where none was found.
    seed : int
        `rng=seed` repeats the run.
    steps, samples : int
    distance : {"hausdorff_ns", "hausdorff_half"}
    seconds : float
    """

    delta: Floats
    estimate: Floats
    upper: Floats
    average: Floats
    attacked: Floats
    runs: Floats
    seed: int
    steps: int
    samples: int
    distance: TierDistance
    seconds: float

    def __repr__(self) -> str:
        found = int(np.isfinite(self.upper).sum())
        return f"Estimate({self.upper.size} points, {found} with a verified attack, seed={self.seed})"


def smoothed(
    votes: Votes | Sequence[Votes],
    statistic: Statistic = kemeny,
    deltas: npt.ArrayLike | None = None,
    *,
    steps: int = 5_000,
    samples: int = 16,
    distance: TierDistance = "hausdorff_ns",
    gamma: float = 0.001,
    repeats: int = 1,
    rng: Seed = None,
    device: str | None = None,
    like: Any = None,
) -> Estimate:
    """Estimate the breakdown function of a statistic at all `deltas` at once, for one or many sets of votes.

    Parameters
    ----------
    votes : Votes or sequence of Votes
        Complete strict ballots over up to 8 items; in a sequence all with the same number of items. Above 6 items a
        step is work for a GPU.
    statistic : Statistic
        `kemeny`, `borda`, `footrule`, `Robust` of one of them, or a user-defined statistic with a method `batch`.
    deltas : array, optional
        Distances to reach, above 0 and up to 1; every multiple of one pair by default.
    steps, samples : int
        Iterations, and noisy copies in each (an even number).
    distance : {"hausdorff_ns", "hausdorff_half"}
    gamma : float
        Scale of the noise in logits at the end.
    repeats : int
        Number of independent runs of each point; all run at once, like votes and deltas.
    rng : int, Generator or None
        The same seed gives the same result, which stores it.
    device : str, optional
        Torch device on which the descent runs and draws its noise, in single precision: "cuda" for a GPU, or "cpu". A
        seed repeats a result on the same device, but not on another. The last step, which makes the attacks, always
        runs on numpy.
    like : array, optional
        Instead of `device`: an array of the library, on the device and in the precision that the descent is to use. The
        noise is drawn by numpy and copied there, so that all libraries see the same.

    Notes
    -----
    Seeks the saddle point of ``TV(p, q) + lambda (delta - rho(q))`` over q = softmax(x) and lambda >= 0, where
    ``rho(q) = E H(T(p), T(softmax(x + gamma z)))``, z standard Gaussian, has the gradient ``E[H z] / gamma`` in x.
    Beyond the paper's algorithm (`original`): noise comes in opposite pairs, which cancels most of its variance; its
    scale falls; the start is close to every outcome; distances count only up to delta; the missing distance is
    penalised; the last fifth of the iterates is averaged; and the result is turned into an attack.

    Paper: the empirical breakdown function: Lagrangian, smoothing, optimisation (Section 3.3).

    Examples
    --------
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    >>> smoothed(votes, deltas=[1 / 3], steps=300, rng=1).upper.round(3).tolist()
    [0.1]
    """
    started = perf_counter()
    many = [votes] if isinstance(votes, Votes) else list(votes)
    n, p = shares_of(many)
    delta = _checked_deltas(deltas, n)
    steps, samples, repeats = (_whole(*known) for known in
                               {"steps": steps, "samples": samples, "repeats": repeats}.items())  # fmt: skip
    gamma = _check_options(steps, samples, distance, gamma, repeats)
    if device is not None and like is not None:
        raise UsageError("device and like both set the device", repair="give one of them")
    seed = seed_of(rng)
    generator = np.random.default_rng(seed)
    problem = SmoothedProblem(statistic, many, p, delta, distance)
    options = DescentOptions(steps, samples, repeats, gamma)
    averages = _averages(problem, options, device, np.zeros(1) if like is None else like, generator)
    average = averages.mean(axis=1)
    upper, attacked = attacks(problem, many, average, generator)
    shape = (len(delta),) if isinstance(votes, Votes) else (len(many), len(delta))
    estimate, runs = (np.abs(q - there).sum(axis=-1) / 2 for q, there in
                      ((average, problem.p), (averages, problem.p[:, None])))  # fmt: skip
    arrays = {
        "delta": delta,
        "estimate": estimate.reshape(shape),
        "upper": upper.reshape(shape),
        "average": average.reshape(*shape, p.shape[1]),
        "attacked": attacked.reshape(*shape, p.shape[1]),
        "runs": runs.reshape(*shape, repeats),
    }
    for array in arrays.values():
        array.flags.writeable = False
    return Estimate(
        **arrays,
        seed=seed,
        steps=steps,
        samples=samples,
        distance=distance,
        seconds=perf_counter() - started,
    )


def _averages(
    problem: SmoothedProblem, options: DescentOptions, device: str | None, like: Any, rng: np.random.Generator
) -> Floats:
    """Return the average iterate of each point and run, (points, repeats, n!)."""
    if device is not None:
        from holdrank.attacks.estimator.devices import average_on

        found = average_on(problem, options, device, int(rng.integers(2**62)))
    else:
        draw = drawn_here(problem, options, like, rng)
        found = to_numpy(
            Descent(problem, options, like, PlainSampler(problem, options, like, draw, _NUMBERS_AT_A_TIME)).run()
        )
    # Sums in single precision miss 1 by a little.
    found = found.reshape(len(problem.p), options.repeats, problem.p.shape[1])
    return np.asarray(found / np.maximum(found.sum(axis=-1, keepdims=True), 1e-300))


def shares_of(many: list[Votes]) -> tuple[int, Floats]:
    """Return the number of items and the share of each strict ranking, one row for each set of votes."""
    if not many or not all(isinstance(votes, Votes) for votes in many):
        raise UsageError(
            "smoothed takes Votes or a list of them; make them with Votes.from_orders or another constructor"
        )
    n = many[0].n
    if any(votes.n != n for votes in many):
        raise UsageError(
            "all votes of one call must have the same number of items", repair="call it once for each size"
        )
    number = {order: at for at, order in enumerate(map(tuple, all_orders(n).tolist()))}
    p = np.zeros((len(many), len(number)))
    for row, votes in zip(p, many, strict=True):
        for ranks, weight in zip(votes.ranks, votes.weights, strict=True):
            # The last place of a ballot may be left open where unlisted means last.
            full = np.where((ranks == 0) & (not votes.observed), n, ranks)
            if sorted(full.tolist()) != list(range(1, n + 1)):
                raise InputError(
                    "the estimator takes complete ballots without ties",
                    found=Ranking(ranks).text(votes.items) if ranks.all() else "an incomplete ballot",
                    repair=Message("use ", Option("method", "auto"), ", or drop such ballots"),
                )
            row[number[tuple(np.argsort(full).tolist())]] += weight
    return n, p / p.sum(axis=1, keepdims=True)


def _checked_deltas(deltas: npt.ArrayLike | None, n: int) -> Floats:
    pairs = n * (n - 1) // 2
    if deltas is None:
        return np.arange(1, pairs + 1) / pairs
    given = np.array(deltas, ndmin=1)
    delta = np.array([real_number(value) for value in given.ravel()], dtype=np.float64).reshape(given.shape)
    if delta.ndim != 1 or not ((delta > 0) & (delta <= 1 + SAME)).all():
        raise UsageError("deltas must be distances above 0 and up to 1")
    return delta


def _whole(name: str, value: object) -> int:
    number = whole_number(value)
    if number is None:
        raise UsageError(f"{name} must be a whole number, not {quote(str(value))}")
    return number


def _check_options(steps: int, samples: int, distance: str, gamma: float, repeats: int) -> float:
    if steps < 1 or samples < 2 or samples % 2:
        raise UsageError(f"at least one step and an even number of samples are needed, not {steps} and {samples}")
    if repeats < 1:
        raise UsageError(f"at least one run is needed, not repeats={repeats}")
    if distance not in DISTANCES:
        raise UsageError(f"distance must be 'hausdorff_ns' or 'hausdorff_half', not {quote(str(distance))}")
    scale = real_number(gamma)
    if scale is None or not 0 < scale < np.inf:
        raise UsageError(f"gamma must be a positive number, not {quote(str(gamma))}")
    return scale
