"""The sampler of the estimator in four kernels, which never hold the shares of the n! rankings.

Only the means of a few dozen features of the rankings decide on an outcome. The first kernel draws noise, in half
precision. The second raises e to the logits with the noise added, and less the noise, and multiplies with the features,
all in registers and matrix units: what is left of n! numbers are the means. The third goes through the costs of all
orders and keeps the least; the fourth weighs the noise with the gains. Noise is kept between the kernels because
reading two bytes takes less time than making them again. Every kernel adds in a fixed order, so a seed repeats the
result on the same machine.

Importing this module needs triton.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice

from holdrank.attacks.batches import MedianBatch, batch_form
from holdrank.attacks.estimator.descent import DescentOptions, Gain, SmoothedProblem

_NARROW = 32  # rankings: up to here they fit into one small block
_ORDERS = 128  # the costs of orders are filled up to a multiple of this
_DRAWS = 512  # by one program; each gives eight numbers
_PROGRAMS = 1056  # minimum number at work: eight for each processor of a large GPU
INTERPRETED = bool(triton.knobs.runtime.interpret)
_PART = tl.float32 if INTERPRETED else tl.bfloat16  # the interpreter takes the latter for whole numbers


@triton.jit
def _two_normals(word, FAST: tl.constexpr):
    """Turn 32 bits into two normal numbers (Box-Muller): 16 bits for the radius, 16 for the angle."""
    # Bits become numbers from 1 to 2 by writing them behind an exponent: conversions are as slow as logarithms.
    radius = (((word << 7) & 0x7FFF80) | 0x3F800040).to(tl.float32, bitcast=True) - 1.0
    angle = (((word >> 9) & 0x7FFF80) | 0x3F800000).to(tl.float32, bitcast=True) * 6.283185307 - 9.424777961
    if FAST:
        power, x, y = libdevice.fast_log2f(radius), libdevice.fast_cosf(angle), libdevice.fast_sinf(angle)
    else:
        power, x, y = tl.log2(radius), tl.cos(angle), tl.sin(angle)
    length = tl.sqrt(-1.3862943611198906 * power)
    return length * x, length * y


@triton.jit
def _split(x, PART: tl.constexpr):
    """Write a number as two of 8 bits each, which matrix units multiply exactly with small whole numbers."""
    # Cut off, not rounded: that takes no conversion.
    high = (x.to(tl.int32, bitcast=True) & -65536).to(tl.float32, bitcast=True)
    return high.to(PART), (x - high).to(PART)


@triton.jit
def _draw(noise, step_at, seed, first, draws, DRAWS: tl.constexpr, FAST: tl.constexpr):
    """Fill the noise of a point: eight numbers, next to each other, of every draw."""
    point = tl.program_id(1)
    draw = tl.program_id(0) * DRAWS + tl.arange(0, DRAWS)
    a, b, c, d = tl.philox(seed, draw, draw * 0 + point + first, draw * 0 + tl.load(step_at), draw * 0, 7)
    a, e = _two_normals(a, FAST)
    b, f = _two_normals(b, FAST)
    c, g = _two_normals(c, FAST)
    d, h = _two_normals(d, FAST)
    z = tl.join(tl.join(tl.join(a, e), tl.join(b, f)), tl.join(tl.join(c, g), tl.join(d, h)))
    at = point.to(tl.int64) * draws * 8 + tl.program_id(0) * DRAWS * 8 + tl.arange(0, 8 * DRAWS)
    tl.store(noise + at, tl.reshape(z, (8 * DRAWS,)).to(tl.float16))


@triton.jit
def _perturb(
    logits, features, noise, sums, scale_at, points, rows, size, each,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, WIDTH: tl.constexpr, PART: tl.constexpr,
):  # fmt: skip
    """Sum weights times features over some of the rankings, for rows of noise z and, after them, of -z."""
    tile, part = tl.program_id(0), tl.program_id(1)
    point = tile // (rows // ROWS)
    top = (tile % (rows // ROWS)) * ROWS
    row, column, feature = tl.arange(0, ROWS), tl.arange(0, BLOCK), tl.arange(0, WIDTH)
    scale = tl.load(scale_at) * 1.4426950408889634
    here = point.to(tl.int64)
    noise += (here * rows + top) * size + row[:, None] * size + column[None, :]
    logits += here * size + column
    features += column[:, None] * WIDTH + feature[None, :]
    plus = tl.zeros((ROWS, WIDTH), dtype=tl.float32)
    minus = tl.zeros((ROWS, WIDTH), dtype=tl.float32)
    for block in range(part * each, tl.minimum(part * each + each, size // BLOCK)):
        change = tl.load(noise + block * BLOCK).to(tl.float32) * scale
        logit = tl.load(logits + block * BLOCK)[None, :]
        table = tl.load(features + block * BLOCK * WIDTH)
        high, low = _split(tl.exp2(logit + change), PART)
        plus = tl.dot(high, table, plus)
        plus = tl.dot(low, table, plus)
        high, low = _split(tl.exp2(logit - change), PART)
        minus = tl.dot(high, table, minus)
        minus = tl.dot(low, table, minus)
    sums += ((part.to(tl.int64) * points + point) * 2 * rows + top) * WIDTH
    sums += row[:, None] * WIDTH + feature[None, :]
    tl.store(sums, plus)
    tl.store(sums + rows * WIDTH, minus)


@triton.jit
def _least(
    sums, costs, far, row_of, delta, gain, points, parts, rows, drawn, orders,
    LAST: tl.constexpr, ROWS: tl.constexpr, ORDERS: tl.constexpr, WIDTH: tl.constexpr, PART: tl.constexpr,
):  # fmt: skip
    """Find the gain of the cheapest order under each row of sums; the sum at LAST is that of the weights alone."""
    top = tl.program_id(0) * ROWS
    row, column = tl.arange(0, ROWS), tl.arange(0, WIDTH)
    at = (top + row).to(tl.int64)[:, None] * WIDTH + column[None, :]
    total = tl.load(sums + at)
    for part in range(1, parts):
        total += tl.load(sums + tl.cast(part, tl.int64) * points * 2 * rows * WIDTH + at)
    mean = total / tl.sum(tl.where(column[None, :] == LAST, total, 0.0), axis=1)[:, None]
    high, low = _split(mean, PART)
    rest = (mean - high.to(tl.float32) - low.to(tl.float32)).to(PART)
    best = tl.full((ROWS, ORDERS), float("inf"), dtype=tl.float32)
    found = tl.zeros((ROWS, ORDERS), dtype=tl.int32)
    order = tl.arange(0, ORDERS)
    for tile in range(orders // ORDERS):
        table = tl.load(costs + column[:, None] * orders + (tile * ORDERS + order)[None, :])
        cost = tl.dot(rest, table)
        cost = tl.dot(low, table, cost)
        cost = tl.dot(high, table, cost)
        found = tl.where(cost < best, tile, found)
        best = tl.minimum(cost, best)
    least = tl.min(best, axis=1)
    number = tl.min(tl.where(best == least[:, None], found * ORDERS + order[None, :], 1 << 30), axis=1)
    point = (top + row) // (2 * rows)
    worth = tl.load(far + tl.load(row_of + point) + number)
    worth = tl.minimum(worth / tl.load(delta + point), 1.0)
    tl.store(gain + top + row, tl.where((top + row) % rows < drawn, worth, 0.0))


@triton.jit
def _weigh(
    noise, weights, out, points, rows, size, each, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):  # fmt: skip
    """Sum noise times weight over some of the rows."""
    tile, part = tl.program_id(0), tl.program_id(1)
    point = (tile // (size // COLUMNS)).to(tl.int64)
    column = (tile % (size // COLUMNS)) * COLUMNS + tl.arange(0, COLUMNS)
    row = tl.arange(0, ROWS)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for top in range(part * each, tl.minimum(part * each + each, rows), ROWS):
        line = point * rows + top + row
        z = tl.load(noise + line[:, None] * size + column[None, :])
        total += z.to(tl.float32) * tl.load(weights + line)[:, None]
    tl.store(out + (part * points + point) * size + column, tl.sum(total, axis=0))


class FusedSampler:
    """A `Sampler` for torch on a GPU (or, interpreted, for tests on a CPU).

    Parameters
    ----------
    problem : SmoothedProblem
        Of a statistic with a batch form.
    options : DescentOptions
    like : tensor
        On the device, in single precision.
    seed : int
    memory : int
        Bytes to use at a time.
    """

    # (rows, columns, warps, stages) of the tiles of the kernels that perturb, find the least and weigh.
    narrow = ((64, 32, 4, 3), (128, 32, 4, 3), (128, 32, 4, 3))
    wide = ((64, 64, 4, 3), (64, 64, 4, 3), (64, 64, 4, 3))

    def __init__(self, problem: SmoothedProblem, options: DescentOptions, like: Any, seed: int, memory: int) -> None:
        import torch

        self._torch, self._device = torch, like.device
        self._options, self._seed = options, seed
        form: Any = batch_form(problem.statistic, problem.n, like)
        self._form, self._gain = form, Gain(problem, options, like)
        table = form.features.cpu().numpy()
        self.size, self.means = table.shape
        self.tiles = self.narrow if self.size <= _NARROW else self.wide
        whole = max(self.tiles[0][1], self.tiles[2][1])
        self.padded = -(-self.size // whole) * whole
        self.width = max(16, triton.next_power_of_2(self.means + 1))
        # The weights alone are one more feature, the same for all rankings.
        features = np.zeros((self.padded, self.width), dtype=np.float32)
        features[: self.size, : self.means] = table
        features[: self.size, self.means] = 1.0
        self._features = self._table(features)
        self._costs = None
        if isinstance(form, MedianBatch):
            costs = np.zeros((self.width, -(-self.size // _ORDERS) * _ORDERS), dtype=np.float32)
            costs[: self.means, : self.size] = form.costs
            costs[self.means, self.size :] = 2.0**15  # no order: never the cheapest
            self._costs = self._table(costs)
        high = max(rows for rows, *_ in self.tiles)
        self.rows = -(-options.drawn // high) * high
        self.points = len(problem.p) * options.repeats
        pairs = problem.n * (problem.n - 1) // 2
        # Noise and sums; and where a merge is made by torch, its tables of pairs against pairs.
        merging = 0 if self._costs is not None else options.samples * (32 * pairs * pairs + 64 * self.width)
        each = self.rows * (2 * self.padded + 16 * self.width) + merging
        step = max(1, memory // each)
        self._chunks = [slice(at, min(at + step, self.points)) for at in range(0, self.points, step)]

    def _table(self, array: Any) -> Any:
        return self._here(array).to(self._torch.float32 if INTERPRETED else self._torch.bfloat16)

    def _here(self, array: Any) -> Any:
        return self._torch.as_tensor(array, device=self._device)

    def __call__(self, logits: Any, scale: Any, step: Any) -> tuple[Any, Any]:
        """Return for logits (points, n!) the mean gain, (points,), and ``mean(gain z)``, (points, n!)."""
        torch = self._torch
        if not isinstance(scale, torch.Tensor):
            scale, step = self._here([scale]).to(torch.float32), self._here([step])
        powers = self.powers(logits)
        parts = [self._sampled(powers, scale, step.to(torch.int32), points) for points in self._chunks]
        success, push = zip(*parts, strict=True)
        return (success[0], push[0]) if len(parts) == 1 else (torch.cat(success), torch.cat(push))

    def powers(self, logits: Any) -> Any:
        """Return logits as powers of two, the largest 0, with what fills the last tile at minus infinity."""
        powers = (logits - logits.max(dim=-1, keepdim=True).values) * 1.4426950408889634
        return self._torch.nn.functional.pad(powers, (0, self.padded - self.size), value=-float("inf"))

    def _sampled(self, powers: Any, scale: Any, step: Any, points: slice) -> tuple[Any, Any]:
        noise = self.drawn(step, points)
        gain = self.gains(self.perturbed(powers[points], noise, scale), points)
        push = self.weighed(noise, (gain[:, 0] - gain[:, 1]).contiguous())
        return gain.sum(dim=(1, 2)) / self._options.samples, push / self._options.samples

    def drawn(self, step: Any, points: slice) -> Any:
        """Return noise, (points, rows, rankings), in half precision."""
        torch = self._torch
        many = points.stop - points.start
        noise = torch.empty((many, self.rows, self.padded), dtype=torch.float16, device=self._device)
        draws = self.rows * self.padded // 8
        _draw[(draws // _DRAWS, many)](
            noise, step, self._seed, points.start, draws, DRAWS=_DRAWS, FAST=not INTERPRETED, num_warps=4
        )
        return noise

    def perturbed(self, powers: Any, noise: Any, scale: Any) -> Any:
        """Return sums of weights times features, (parts, points, sides, rows, features)."""
        torch = self._torch
        rows, columns, warps, stages = self.tiles[0]
        many = len(noise)
        tiles, blocks = many * self.rows // rows, self.padded // columns
        each = -(-blocks // min(blocks, -(-_PROGRAMS // tiles)))
        parts = -(-blocks // each)
        sums = torch.empty((parts, many, 2, self.rows, self.width), device=self._device)
        _perturb[(tiles, parts)](
            powers, self._features, noise, sums, scale, many, self.rows, self.padded, each, ROWS=rows,
            BLOCK=columns, WIDTH=self.width, PART=_PART, num_warps=warps, num_stages=stages,
        )  # fmt: skip
        return sums

    def gains(self, sums: Any, points: slice) -> Any:
        """Return the gains (points, sides, rows) of sums; 0 for the rows that only fill the tiles."""
        torch = self._torch
        parts, many = sums.shape[:2]
        drawn, gain = self._options.drawn, self._gain
        out = torch.zeros((many, 2, self.rows), device=self._device)
        if self._costs is not None:
            rows, orders, warps, stages = self.tiles[1]
            if many * 2 * self.rows // rows < _PROGRAMS // 4 and self.size > _NARROW:
                orders = _ORDERS  # few programs: what counts is how many turns each takes
            _least[(many * 2 * self.rows // rows,)](
                sums, self._costs, gain.far, gain.row[points], gain.delta[points], out, many, parts, self.rows, drawn,
                self._costs.shape[1], LAST=self.means, ROWS=rows, ORDERS=orders,
                WIDTH=self.width, PART=_PART, num_warps=warps, num_stages=stages,
            )  # fmt: skip
            return out
        codes = self._form.outcomes(self.averages(sums).reshape(-1, self.means)).reshape(many, -1)
        out[:, :, :drawn] = gain(codes, points).reshape(many, 2, drawn)
        return out

    def averages(self, sums: Any) -> Any:
        """Return the means of the features, (points, sides, noisy copies, features)."""
        total = sums.sum(dim=0)[:, :, : self._options.drawn]
        return total[..., : self.means] / total[..., self.means : self.means + 1]

    def weighed(self, noise: Any, weights: Any) -> Any:
        """Return the sum over rows of noise times weight, (points, rankings)."""
        torch = self._torch
        many = len(noise)
        rows, columns, warps, stages = self.tiles[2]
        tiles = many * self.padded // columns
        each = -(-self.rows // min(self.rows // rows, -(-_PROGRAMS // tiles)) // rows) * rows
        parts = -(-self.rows // each)
        out = torch.empty((parts, many, self.padded), device=self._device)
        _weigh[(tiles, parts)](
            noise,
            weights,
            out,
            many,
            self.rows,
            self.padded,
            each,
            ROWS=rows,
            COLUMNS=columns,
            num_warps=warps,
            num_stages=stages,
        )
        return out.sum(dim=0)[:, : self.size]
