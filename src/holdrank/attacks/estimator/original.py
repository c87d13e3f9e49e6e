"""The estimator as written in the paper: stochastic descent and ascent on the smoothed Lagrangian.

What the text leaves open is an option (`PaperOptions`). All seeds and distances advance together. The runs of one seed
see the same noise at every distance, so that a result does not depend on which other distances are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from holdrank.attacks.estimator.descent import SmoothedProblem
from holdrank.attacks.estimator.engine import shares_of
from holdrank.attacks.estimator.options import PaperOptions
from holdrank.attacks.estimator.trimming import holds
from holdrank.attacks.goals import TierDistance
from holdrank.attacks.plans import Progress
from holdrank.errors import UsageError
from holdrank.rankings import Floats
from holdrank.rules.consensus import Statistic
from holdrank.status import Clock, Step
from holdrank.votes.votes import Votes

_NUMBERS_AT_A_TIME = 1 << 20  # noisy shares held together
_NOISE_AT_A_TIME = 1 << 18  # numbers drawn together
_MOST_STEPS_AT_A_TIME = 64  # between two checks of the clock


@dataclass(frozen=True, slots=True)
class Ended:
    """Where the paper's algorithm ends, for each seed and distance.

    Attributes
    ----------
    average : (seeds, deltas, n!) array
        Mean of all iterates.
    estimate : (seeds, deltas) array
        Total variation between the votes and that mean. It bounds nothing unless `reached`.
    reached : (seeds, deltas) array of bool
        Whether the statistic, run on the mean, is as far away as asked, and not because of how it breaks ties.
    steps : int
        Steps taken: fewer than requested if the time limit was reached.
    """

    average: Floats
    estimate: Floats
    reached: npt.NDArray[np.bool_]
    steps: int


def descended(
    votes: Votes,
    statistic: Statistic,
    deltas: Floats,
    options: PaperOptions,
    seeds: Sequence[int],
    *,
    distance: TierDistance = "hausdorff_ns",
    clock: Clock | None = None,
    progress: Progress | None = None,
) -> Ended:
    """Run the paper's algorithm for one set of votes, all distances and some seeds.

    Paper: the empirical breakdown function: Lagrangian, smoothing, optimisation (Section 3.3).
    """
    problem = SmoothedProblem(statistic, [votes], shares_of([votes])[1], deltas, distance)
    descent = _Descent(problem, options, seeds)
    clock = clock or Clock()
    noise = _blocks(descent, options, len(seeds) * problem.p.shape[1])
    done = 0
    while done < options.steps and not (done and clock.over()):
        if progress is not None:
            progress(Step("steps", done, options.steps))
        for z in noise(options.steps - done):
            with np.errstate(over="ignore", invalid="ignore"):
                descent.step(done, z)
            done += 1
    average = descent.total / done
    average = average / average.sum(axis=-1, keepdims=True)
    if not np.isfinite(average).all():
        raise UsageError(
            "the parameters of the paper's algorithm overflowed",
            repair="use a smaller rate or another start in PaperOptions",
        )
    reached = [[holds(problem, point, votes, q) for point, q in enumerate(run)] for run in average]
    shape = average.shape[:2]
    return Ended(
        average=average,
        estimate=np.abs(average - problem.p).sum(axis=-1) / 2,
        reached=np.array(reached, dtype=bool).reshape(shape),
        steps=done,
    )


class _Descent:
    """The state of all runs: parameters (seeds, deltas, n!), multipliers (seeds, deltas), and the sum of iterates."""

    def __init__(self, problem: SmoothedProblem, options: PaperOptions, seeds: Sequence[int]) -> None:
        self._problem, self._options = problem, options
        points, size = problem.p.shape
        self.generators = [np.random.default_rng(seed) for seed in seeds]
        low, high = options.start
        first = np.array([high - (high - low) * rng.random(size) for rng in self.generators])
        self._x = np.repeat(first.reshape(-1, 1, size), points, axis=1)
        self._scale = problem.n * (problem.n - 1) / 2 if options.unit == "pairs" else 1.0
        self._delta = problem.delta * self._scale - options.slack
        shape = len(seeds), points
        self._multiplier = np.full(shape, options.multiplier)
        self._ascent, self._descent = np.zeros(shape), np.zeros_like(self._x)
        self._satisfied = np.zeros(shape, dtype=np.int64)  # values in a row
        self._last = np.zeros_like(self._x)
        self.total = np.zeros_like(self._x)
        spread = [options.gradient_variance] * options.gradient_draws + [options.value_variance] * options.value_draws
        self._spread = np.sqrt(spread)[:, None]
        self._shares = _softplus if options.parametrisation == "softplus" else _softmax

    def step(self, number: int, z: Floats) -> None:
        """Take one step with standard noise (seeds, draws, n!), of which the first draws are for the gradient."""
        options, draws = self._options, self._options.gradient_draws
        weights, slopes = self._shares(self._x)
        sums = weights.sum(axis=-1, keepdims=True)
        q = weights / sums
        noise = z * self._spread
        far = self._distances(noise)
        value = far[..., draws:].mean(axis=-1)
        # The score function: distance times noise over variance.
        score = np.matmul(far[..., None, :draws], noise[:, None, :draws])[..., 0, :]
        score /= draws * options.gradient_variance
        if options.carry:
            score += self._last
        # The gradient of weight * |p - q| - multiplier * distance, by the chain rule back to the parameters.
        pull = options.weight * np.sign(q - self._problem.p)
        push = self._multiplier[..., None] * score
        inside = pull - push if options.scored == "shares" else pull
        gradient = (inside - (q * inside).sum(axis=-1, keepdims=True)) * slopes / sums
        if options.scored == "parameters":
            gradient -= push
        self._last = gradient
        part = 1 - (1 - options.last) * min(number / options.schedule, 1.0)
        self._descent = options.momentum * self._descent + gradient
        self._ascent = options.multiplier_momentum * self._ascent + (self._delta - value)
        self._x = self._x - options.rate * part * self._descent
        multiplier = self._multiplier + options.multiplier_rate * part * self._ascent
        if options.patience:
            multiplier[self._satisfied >= options.patience] = 0.0
        self._multiplier = np.maximum(multiplier, 0.0)
        self._satisfied = np.where(value > self._delta, self._satisfied + 1, 0)
        self.total += q

    def _distances(self, noise: Floats) -> Floats:
        """Return the distance of each noisy copy of each iterate, (seeds, deltas, draws)."""
        seeds, points, size = self._x.shape
        draws = noise.shape[1]
        most = max(_NUMBERS_AT_A_TIME // max(draws * size, 1), 1)
        found = np.empty((seeds * points, draws))
        rows = np.arange(seeds * points)
        flat = self._x.reshape(-1, size)
        for at in range(0, len(rows), most):
            some = rows[at : at + most]
            moved = flat[some, None, :] + noise[some // points]
            weights, _ = self._shares(moved, slopes=False)
            shares = (weights / weights.sum(axis=-1, keepdims=True)).reshape(-1, size)
            found[some] = self._problem.outcomes(0, shares)[0].reshape(len(some), draws)
        return found.reshape(seeds, points, draws) * self._scale


def _blocks(descent: _Descent, options: PaperOptions, numbers: int) -> Callable[[int], Floats]:
    """Return a function that draws standard noise for the next steps, (steps, seeds, draws, n!), by seed."""
    draws = options.gradient_draws + options.value_draws
    block = max(1, min(_MOST_STEPS_AT_A_TIME, _NOISE_AT_A_TIME // max(numbers * draws, 1)))
    size = descent.total.shape[-1]

    def drawn(left: int) -> Floats:
        shape = min(block, left), draws, size
        return np.stack([rng.standard_normal(shape) for rng in descent.generators], axis=1)

    return drawn


def _softplus(x: Floats, *, slopes: bool = True) -> tuple[Floats, Floats]:
    """Return log(1 + exp(x)), and its slope where that is wanted."""
    small = np.exp(-np.abs(x))
    value = np.maximum(x, 0.0) + np.log1p(small)
    return value, np.where(x >= 0, 1.0, small) / (1.0 + small) if slopes else value


def _softmax(x: Floats, *, slopes: bool = True) -> tuple[Floats, Floats]:  # noqa: ARG001
    """Return exp(x) up to a factor, which is also its slope."""
    value = np.exp(x - x.max(axis=-1, keepdims=True))
    return value, value
