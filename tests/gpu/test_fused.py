"""The kernels of the estimator against numpy on the same noise, and whole runs on a GPU.

Where there is no GPU, ``TRITON_INTERPRET=1`` runs the kernels of the first tests by triton's interpreter.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.estimator import devices
from holdrank.attacks.estimator.descent import DescentOptions, PlainSampler, SmoothedProblem, softmax
from holdrank.attacks.estimator.engine import shares_of, smoothed

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")
pytest.importorskip("triton", reason="triton, which comes with torch for GPUs, is not installed")

CUDA = torch.cuda.is_available()
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cuda" if CUDA else "cpu"
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not CUDA and not INTERPRETED, reason="there is no GPU")]
needs_gpu = pytest.mark.skipif(not CUDA, reason="there is no GPU")

STATISTICS = [hr.kemeny, hr.borda, hr.footrule, hr.Robust(hr.kemeny, 0.05), hr.Robust(hr.footrule, 0.1, merge="naive")]
CASES = [(4, s) for s in STATISTICS] + [(3, hr.kemeny), (5, hr.kemeny), (6, hr.footrule)]
if CUDA:
    CASES += [(7, hr.kemeny), (7, hr.Robust(hr.kemeny, 0.05)), (8, hr.kemeny), (8, hr.borda)]


def case(n, statistic, samples=40, memory=1 << 28, repeats=1):
    from holdrank.attacks.estimator.fused import FusedSampler

    votes = [hr.sample_votes(hr.Mallows(range(n), 0.8), 60, rng=seed) for seed in (1, 2)]
    problem = SmoothedProblem(statistic, votes, shares_of(votes)[1], np.array([0.3, 0.6]), "hausdorff_ns")
    options = DescentOptions(1, samples, repeats)
    like = torch.zeros(1, dtype=torch.float32, device=DEVICE)
    p = np.repeat(problem.p, repeats, axis=0)
    logits = np.log(0.5 * p + 0.5 / p.shape[1]) + 0.1 * np.random.default_rng(3).standard_normal(p.shape)
    there = torch.as_tensor(logits, dtype=torch.float32, device=DEVICE)
    return problem, options, FusedSampler(problem, options, like, 5, memory), logits, there


def noise_of(sampler, options, step):
    number = torch.full((1,), step, dtype=torch.int32, device=DEVICE)
    noise = sampler.drawn(number, slice(0, sampler.points))
    return noise, noise[:, : options.drawn, : sampler.size].double().cpu().numpy()


@pytest.mark.parametrize(("n", "statistic"), CASES, ids=lambda x: getattr(x, "__name__", x))
def test_kernels_and_numpy_agree_on_the_same_noise(n, statistic):
    problem, options, sampler, logits, there = case(n, statistic)
    success, push = sampler(there, 0.7, 4)
    noise, z = noise_of(sampler, options, 4)
    exact = PlainSampler(problem, options, np.zeros(1), lambda points, copies: z[points, copies], 1 << 22)(
        logits, 0.7, 4
    )
    assert success.cpu().numpy() == pytest.approx(exact[0], abs=1e-5)
    assert push.cpu().numpy() == pytest.approx(exact[1], abs=1e-5)
    sums = sampler.perturbed(sampler.powers(there), noise, torch.full((1,), 0.7, device=DEVICE))
    both = np.concatenate((z, -z), axis=1)
    means = softmax(logits[:, None, :] + 0.7 * both) @ problem.form.features
    assert sampler.averages(sums).cpu().numpy().reshape(means.shape) == pytest.approx(means, abs=1e-5)


def test_noise_is_normal_and_new_at_every_step_point_and_seed():
    _, options, sampler, _, _ = case(6 if CUDA else 5, hr.kemeny, samples=512)
    _, z = noise_of(sampler, options, 1)
    many = z.size
    for moment, (value, variance) in {1: (0, 1), 2: (1, 2), 3: (0, 15), 4: (3, 96)}.items():
        assert abs((z**moment).mean() - value) < 5 * np.sqrt(variance / many) + 2e-3
    flat = z.reshape(len(z), -1)
    between_points = np.corrcoef(flat)[np.triu_indices(len(flat), 1)]
    _, later = noise_of(sampler, options, 2)
    neighbours = np.corrcoef(flat[0, :-1], flat[0, 1:])[0, 1], np.corrcoef(flat[0, :-8], flat[0, 8:])[0, 1]
    steps = np.corrcoef(flat[0], later.reshape(len(z), -1)[0])[0, 1]
    assert np.abs([*between_points, *neighbours, steps]).max() < 5 / np.sqrt(flat.shape[1])
    sampler._seed += 1
    _, other = noise_of(sampler, options, 1)
    assert abs(np.corrcoef(z.ravel(), other.ravel())[0, 1]) < 5 / np.sqrt(many)


def test_pieces_of_memory_change_nothing():
    _, _, whole, _, there = case(5, hr.kemeny, repeats=3)
    _, _, pieces, _, _ = case(5, hr.kemeny, repeats=3, memory=1)
    assert len(pieces._chunks) == 12
    for one, other in zip(whole(there, 0.5, 2), pieces(there, 0.5, 2), strict=True):
        assert other.cpu().numpy() == pytest.approx(one.cpu().numpy(), abs=1e-6)


@needs_gpu
@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: s.__name__)
def test_a_replayed_descent_is_the_descent(statistic, fused):
    problem, _, _, _, _ = case(4, statistic)
    options = DescentOptions(12, 32, 2)
    like = devices.array_on("cuda")
    eager = devices.Descent(problem, options, like, devices.sampler_on(problem, options, like, 9, fused=fused)).run()
    replayed = devices.average_on(problem, options, "cuda", 9, fused=fused)
    assert replayed == pytest.approx(eager.cpu().numpy(), abs=1e-5)


@needs_gpu
@pytest.mark.parametrize("statistic", [hr.kemeny, hr.Robust(hr.kemeny, 0.05)], ids=lambda s: s.__name__)
def test_figure_4_on_a_gpu_is_near_the_exact_values(statistic):
    p = np.random.RandomState(183).uniform(size=24)
    p *= 0.1 / p.sum()
    p[:2] += 0.45
    votes = hr.Votes.from_orders([r.order for r in hr.all_rankings(4)], p, items=range(4))
    found = smoothed(votes, statistic, samples=4096, rng=1, device="cuda")
    again = smoothed(votes, statistic, samples=4096, rng=1, device="cuda")
    assert np.array_equal(found.average, again.average)
    exact = hr.breakdown(votes, statistic)
    reached = np.isfinite(exact.upper)
    assert (found.upper >= exact.lower - 1e-9).all()
    assert (found.upper[reached] <= 1.1 * exact.upper[reached]).all()
    if statistic is hr.kemeny:  # on merges the descent alone stays up to a fifth above, on any device
        large = exact.upper > 0.1
        assert found.estimate[large] == pytest.approx(exact.upper[large], rel=0.1)


@needs_gpu
def test_eight_items_on_a_gpu():
    votes = hr.sample_votes(hr.Mallows(range(8), 0.8), 200, rng=3)
    found = smoothed(votes, deltas=[0.25], samples=512, steps=200, rng=1, device="cuda")
    exact = hr.breakdown(votes, deltas=[0.25])
    assert exact.lower[0] - 1e-9 <= found.upper[0] <= 1.1 * exact.upper[0]


@needs_gpu
@pytest.mark.parametrize("statistic", [hr.kemeny, hr.borda, hr.Robust(hr.kemeny, 0.05)], ids=lambda s: s.__name__)
def test_cupy_and_numpy_agree_on_the_same_noise(statistic):
    cupy = pytest.importorskip("cupy", reason="cupy is not installed")
    votes = hr.sample_votes(hr.Mallows(range(4), 0.8), 60, rng=1)
    kwargs = {"deltas": [0.5], "steps": 15, "samples": 8, "rng": 1}
    here = smoothed(votes, statistic, **kwargs)
    there = smoothed(votes, statistic, like=cupy.zeros(1), **kwargs)
    assert there.average == pytest.approx(here.average, abs=1e-9)


@needs_gpu
def test_without_torch_cupy_draws_on_the_gpu(monkeypatch):
    cupy = pytest.importorskip("cupy", reason="cupy is not installed")
    monkeypatch.setattr(devices, "array_on", lambda _: cupy.zeros(1, dtype=cupy.float32))
    votes = hr.sample_votes(hr.Mallows(range(4), 0.8), 60, rng=1)
    found = smoothed(votes, deltas=[0.5], steps=300, rng=1, device="cuda")
    assert found.upper[0] <= 1.1 * hr.breakdown(votes, deltas=[0.5]).upper[0]
