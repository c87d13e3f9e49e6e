"""Gradient descent on the smoothed problem, for many points at once, on any array library.

A point is a distribution, a distance to reach and an independent run. A sampler draws noisy copies of the iterates of
all points and returns how far they get and which direction leads farther; the descent takes its step from this. The
sampler here works with any library and is the reference; `fused` does the same in four kernels on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from holdrank.arrays.tolerances import SAME
from holdrank.attacks.batches import BatchForm, batch_form
from holdrank.attacks.goals import DISTANCES, TierDistance
from holdrank.rankings import Floats, Ints, Ranking, array_namespace
from holdrank.rules.consensus import Statistic
from holdrank.votes.votes import Votes

_NOISE_AT_A_TIME = 1 << 18  # numbers drawn together: few calls, and they stay in the cache
_OUTCOMES_AT_A_TIME = 1 << 16


class SmoothedProblem:
    """How far the statistic of a distribution is from that of p, for all points (distribution, delta) at once.

    Attributes
    ----------
    p : (points, n!) array
    delta : (points,) array
    votes_of : (points,) array of int
        Which of the distributions each point has.
    before : (points, n) array of int
        Ranks of T(p).
    far : (distributions, outcomes) array
        The distance of every outcome; empty for a statistic without a batch form.
    """

    def __init__(
        self, statistic: Statistic, many: list[Votes], p: Floats, delta: Floats, distance: TierDistance
    ) -> None:
        self.statistic, self.n = statistic, many[0].n
        self.p, self.delta = np.repeat(p, len(delta), axis=0), np.tile(delta, len(p))
        self.votes_of: Ints = np.repeat(np.arange(len(p)), len(delta))
        self.distance = DISTANCES[distance]
        self.form = batch_form(statistic, self.n, self.p)
        # By the statistic itself: the batch form counts costs as equal that differ in whole votes.
        before = np.array([statistic(votes).ranking.ranks for votes in many])
        self.before: Ints = before[self.votes_of]
        self.far: Floats = np.empty((len(p), 0))
        if self.form is not None:
            self.far = np.array([self._all_distances(row, self.form.ranks) for row in before])

    def _all_distances(self, before: Ints, ranks: Ints) -> Floats:
        parts = [ranks[at : at + _OUTCOMES_AT_A_TIME] for at in range(0, len(ranks), _OUTCOMES_AT_A_TIME)]
        return np.concatenate([self.distance(before.astype(part.dtype), part) for part in parts])

    def outcomes(self, point: int, shares: Floats) -> tuple[Floats, Ints]:
        """Return, for shares (many, n!) and one point, the distances and numbers that tell outcomes apart."""
        if self.form is not None:
            codes = np.asarray(self.form.codes(shares))
            return self.far[self.votes_of[point]][codes], codes
        ranks = np.asarray(self.statistic.batch(shares))  # type: ignore[attr-defined]
        return np.asarray(self.distance(self.before[point], ranks)), np.unique(ranks, axis=0, return_inverse=True)[1]

    def on_the_way(self, point: int, ends: Floats) -> Callable[[Floats], tuple[Floats, Ints]]:
        """Return `outcomes` of one point for the shares some part of the way, (many,), from p to ends, (many, n!)."""
        p = self.p[point]
        form = self.form
        if form is None:
            return lambda part: self.outcomes(point, p + part[:, None] * (ends - p))
        start, gap = p @ form.features, (ends - p) @ form.features

        def judged(part: Floats) -> tuple[Floats, Ints]:
            codes = np.asarray(form.outcomes(start + part[:, None] * gap))
            return self.far[self.votes_of[point]][codes], codes

        return judged

    def reached(self, point: int, after: Ranking) -> bool:
        """Whether a ranking is as far from T(p) as this point asks."""
        return bool(self.distance(self.before[point], after.ranks) >= self.delta[point] - SAME)


@dataclass(frozen=True)
class DescentOptions:
    """Options of one descent.

    Attributes
    ----------
    steps, samples, repeats : int
        Iterations, noisy copies in each, and runs of each point.
    gamma : float
        Scale of the noise, at its end.
    """

    steps: int
    samples: int
    repeats: int
    gamma: float = 0.001

    @property
    def drawn(self) -> int:
        """Noisy copies of a point that need noise of their own; the others have the opposite noise."""
        return self.samples // 2

    def schedule(self, size: int) -> tuple[Floats, Floats, Floats]:
        """Return for every step the scale of the noise, the rate, and whether its iterate is averaged."""
        at = np.arange(self.steps)
        scale = np.geomspace(1.0, self.gamma, self.steps)
        # Shares, and with them the gradients in the logits, fall with the number of rankings.
        averaged = at >= self.steps + (-self.steps // 5)
        return scale, scale * max(1.0, size / 24), averaged.astype(np.float64)


class Sampler(Protocol):
    """Draws noisy copies of iterates and judges them."""

    def __call__(self, logits: Any, scale: Any, step: Any) -> tuple[Any, Any]:
        """Return for logits (points, n!) the mean gain, (points,), and ``mean(gain z)``, (points, n!)."""
        ...


Draw: TypeAlias = Callable[[slice, slice], Any]


class PlainSampler:
    """Noise, softmax, statistic, distance and gradient one after the other, in pieces that fit into memory.

    Parameters
    ----------
    problem : SmoothedProblem
    options : DescentOptions
    like : array
        Of the library, on the device and in the precision that are to be used.
    draw : callable
        Returns noise, (points, copies, n!), for a slice of the points and one of the copies.
    most : int
        Numbers, of noise or of shares, to hold at a time.
    generator : optional
        The generator behind `draw`, needed to record a step.
    """

    def __init__(
        self, problem: SmoothedProblem, options: DescentOptions, like: Any, draw: Draw, most: int, generator: Any = None
    ) -> None:
        self._xp = array_namespace(like)
        self._problem, self._options, self._draw, self.generator = problem, options, draw, generator
        self._form: BatchForm | None = None if problem.form is None else batch_form(problem.statistic, problem.n, like)
        self._gain = Gain(problem, options, like)
        points, size = len(problem.p) * options.repeats, problem.p.shape[1]
        most = max(most // size, 1)
        copies = min(options.drawn, most)
        self._points = _slices(points, max(most // max(options.drawn, 1), 1))
        self._copies = _slices(options.drawn, copies)

    def __call__(self, logits: Any, scale: Any, step: Any) -> tuple[Any, Any]:  # noqa: ARG002, D102
        xp, samples = self._xp, self._options.samples
        parts: list[tuple[Any, Any]] = []
        for points in self._points:
            for copies in self._copies:
                noise = self._draw(points, copies)
                noise = xp.concat((noise, -noise), axis=1)
                gain = self._gain(self._codes(softmax(logits[points, None, :] + scale * noise)), points)
                part = xp.sum(gain, axis=-1) / samples, score_gradient(gain, noise, samples / noise.shape[1])
                if copies.start:
                    part = parts[-1][0] + part[0], parts.pop()[1] + part[1]
                parts.append(part)
        if len(parts) == 1:
            return parts[0]
        success, push = zip(*parts, strict=True)
        return xp.concat(success), xp.concat(push)

    def _codes(self, shares: Any) -> Any:
        """Return numbers of outcomes, or ranks where the statistic brings its own batch form."""
        xp = self._xp
        if self._form is None:
            return self._problem.statistic.batch(shares)  # type: ignore[attr-defined]
        many, samples, size = shares.shape
        return xp.reshape(self._form.codes(xp.reshape(shares, (-1, size))), (many, samples))


class Gain:
    """The gain of an outcome for each point: the share of delta that it reaches."""

    def __init__(self, problem: SmoothedProblem, options: DescentOptions, like: Any) -> None:
        xp = self._xp = array_namespace(like)

        def here(array: Any) -> Any:
            return xp.asarray(np.repeat(array, options.repeats, axis=0), device=like.device)

        self._problem = problem
        self.dtype = precision(like)
        self.delta = xp.astype(here(problem.delta), self.dtype)
        self.row = here(problem.votes_of * problem.far.shape[1])  # where the distances of a point begin
        self.far = xp.astype(xp.asarray(problem.far.ravel(), device=like.device), self.dtype)
        self._before = here(problem.before)

    def __call__(self, codes: Any, points: slice) -> Any:
        """Return the gains, (points, samples), of outcomes (points, samples) or ranks (points, samples, n)."""
        xp = self._xp
        if self._problem.form is None:
            far = xp.astype(self._problem.distance(self._before[points, None, :], codes), self.dtype)
        else:
            at = xp.reshape(self.row[points, None] + codes, (-1,))
            far = xp.reshape(xp.take(self.far, at), codes.shape)
        return self.limited(far, points)

    def limited(self, far: Any, points: slice) -> Any:
        """Return the gains of distances, (points, samples)."""
        done = far / self.delta[points, None]
        return self._xp.minimum(done, self._xp.ones_like(done))


class Descent:
    """Steps down in the logits of q and up in lambda, for all points.

    Seeks the saddle point of ``TV(p, q) + lambda (delta - rho(q))``. The state is (logits, lambda, sum of the averaged
    iterates).
    """

    def __init__(self, problem: SmoothedProblem, options: DescentOptions, like: Any, sampler: Sampler) -> None:
        xp = self._xp = array_namespace(like)
        self._dtype = precision(like)

        def here(array: Floats) -> Any:
            return xp.astype(xp.asarray(np.repeat(array, options.repeats, axis=0), device=like.device), self._dtype)

        self._problem, self._options, self._sampler = problem, options, sampler
        self._p, self._delta = here(problem.p), here(problem.delta)
        # One pair short of delta must not pass for reached, no matter how many pairs delta is.
        pair = 1 / max(problem.n * (problem.n - 1) / 2, 1)
        self._wanted = here(1 - 0.1 * np.minimum(pair / problem.delta, 1.0))

    def start(self) -> tuple[Any, Any, Any]:
        """Return the state before the first step."""
        xp = self._xp
        mix = 0.95
        logits = xp.log((1 - mix) * self._p + mix / self._p.shape[1])
        return logits, xp.zeros_like(self._delta), xp.zeros_like(self._p)

    def step(
        self, logits: Any, multiplier: Any, total: Any, scale: Any, rate: Any, averaged: Any, step: Any
    ) -> tuple[Any, Any, Any]:
        """Return the next state; the last four are numbers, or arrays of one number."""
        xp = self._xp
        zero = xp.zeros_like(multiplier)
        q = softmax(logits)
        success, push = self._sampler(logits, scale, step)
        # The gradient of TV(p, softmax(x)) in x.
        side = xp.sign(q - self._p) / 2
        pull = q * (side - xp.sum(q * side, axis=-1, keepdims=True))
        # In units of delta and of the noise, distances and multipliers are of the order of one at every scale. The
        # multiplier of the moment has a penalty on what is missing (an augmented Lagrangian), or q would fall back
        # to p, out of sight of any other outcome, faster than the multiplier can rise. Dividing by 1 + multiplier
        # keeps steps bounded.
        share = 1 / (1 + xp.maximum(multiplier + 50.0 * (self._wanted - success), zero))
        share = xp.where(success < 0.02, zero, share)[:, None]
        logits = logits - rate * (share * pull - (1 - share) * push)
        multiplier = xp.maximum(multiplier + 0.1 * (self._wanted - success), zero)
        multiplier = xp.minimum(multiplier, xp.full_like(multiplier, 100.0))
        return logits, multiplier, total + averaged * q

    def run(self) -> Any:
        """Return the average iterate of each point and run, (points * repeats, n!)."""
        state = self.start()
        for scale, rate, averaged, step in self.schedule():
            state = self.step(*state, scale, rate, averaged, step)
        return state[2]

    def schedule(self) -> Iterator[tuple[float, float, float, int]]:
        """Return scale, rate, weight in the average and number of every step; no steps where there are no points."""
        if not len(self._problem.p):
            return iter(())
        return zip(*(array.tolist() for array in self.columns()), range(self._options.steps), strict=True)

    def columns(self) -> tuple[Floats, Floats, Floats]:
        """Return scale, rate and weight in the average of all steps."""
        scale, rate, averaged = self._options.schedule(self._problem.p.shape[1])
        return scale, rate, averaged / averaged.sum()


def score_gradient(distances: Any, noise: Any, gamma: float) -> Any:
    """Return the estimate ``mean(H z) / gamma`` of the gradient of the smoothed distance in the logits.

    Where the noise comes in opposite pairs, a constant added to H changes nothing: the baseline is built in.

    Parameters
    ----------
    distances : (..., samples) array
    noise : (..., samples, n!) array
    """
    xp = array_namespace(noise)
    return xp.matmul(distances[..., None, :], noise)[..., 0, :] / (noise.shape[-2] * gamma)


def softmax(logits: Any) -> Any:
    """Return the shares with these logits, over the last axis."""
    xp = array_namespace(logits)
    powers = xp.exp(logits - xp.max(logits, axis=-1, keepdims=True))
    return powers / xp.sum(powers, axis=-1, keepdims=True)


def drawn_here(problem: SmoothedProblem, options: DescentOptions, like: Any, rng: np.random.Generator) -> Draw:
    """Return noise drawn by numpy: the same for every library."""
    xp = array_namespace(like)
    shape = len(problem.p) * options.repeats, options.drawn, problem.p.shape[1]
    block = max(1, _NOISE_AT_A_TIME // max(shape[0] * shape[1] * shape[2], 1))
    steps: Iterator[Floats] = (step for _ in iter(int, 1) for step in rng.standard_normal((block, *shape)))
    now: list[Floats] = []

    def draw(points: slice, copies: slice) -> Any:
        if not points.start and not copies.start:
            now[:] = [next(steps)]
        return xp.astype(xp.asarray(now[0][points, copies], device=like.device), precision(like))

    return draw


def precision(like: Any) -> Any:
    """Return the kind of number to compute with: single where `like` is, else double."""
    xp = array_namespace(like)
    return xp.float32 if like.dtype == xp.float32 else xp.float64


def to_numpy(array: Any) -> Floats:
    """Return a copy in main memory, also of arrays that torch or cupy hold on a GPU."""
    for way in ("cpu", "get"):
        if hasattr(array, way):
            array = getattr(array, way)()
    return np.array(np.from_dlpack(array), dtype=np.float64)


def _slices(count: int, width: int) -> list[slice]:
    return [slice(at, min(at + width, count)) for at in range(0, count, width)]
