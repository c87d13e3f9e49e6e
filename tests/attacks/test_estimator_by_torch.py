"""The estimator by torch, on the CPU: the same numbers as by numpy, and the same attacks."""

from __future__ import annotations

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.batches import batch_form
from holdrank.attacks.estimator.descent import (
    Descent,
    DescentOptions,
    PlainSampler,
    SmoothedProblem,
    drawn_here,
    softmax,
)
from holdrank.attacks.estimator.engine import shares_of, smoothed

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

STATISTICS = [hr.kemeny, hr.borda, hr.footrule, hr.Robust(hr.kemeny, 0.05), hr.Robust(hr.borda, 0.1, merge="naive")]


def mallows(n, seeds=(1,)):
    return [hr.sample_votes(hr.Mallows(range(n), 0.8), 80, rng=seed) for seed in seeds]


def problem_of(statistic, votes, deltas):
    return SmoothedProblem(statistic, votes, shares_of(votes)[1], np.array(deltas), "hausdorff_ns")


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: s.__name__)
def test_torch_and_numpy_agree_on_the_same_noise(statistic):
    kwargs = {"deltas": [0.2, 0.6], "steps": 25, "samples": 8, "rng": 1}
    votes = mallows(4, (1, 2))
    here = smoothed(votes, statistic, **kwargs)
    there = smoothed(votes, statistic, like=torch.zeros(1, dtype=torch.float64), **kwargs)
    assert there.average == pytest.approx(here.average, abs=1e-9)


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: s.__name__)
@pytest.mark.parametrize("n", [4, 6, 7])
def test_single_precision_agrees_to_five_places(statistic, n):
    problem = problem_of(statistic, mallows(n), [0.2, 0.5])
    options = DescentOptions(1, 32, 1)
    logits = np.log(0.5 * problem.p + 0.5 / problem.p.shape[1])
    found = []
    for like in (np.zeros(1), torch.zeros(1, dtype=torch.float32)):
        draw = drawn_here(problem, options, like, np.random.default_rng(4))
        sampler = PlainSampler(problem, options, like, draw, 1 << 20)
        start = logits if isinstance(like, np.ndarray) else torch.as_tensor(logits, dtype=torch.float32)
        found.append([np.asarray(part) for part in sampler(start, 0.4, 0)])
    for exact, single in zip(*found, strict=True):
        assert single == pytest.approx(exact, abs=1e-5)
    form = batch_form(statistic, n, torch.zeros(1, dtype=torch.float32))
    shares = softmax(logits)
    means = torch.as_tensor(shares, dtype=torch.float32) @ form.features
    assert means.numpy() == pytest.approx(shares @ problem.form.features, abs=1e-5)


def test_a_device_repeats_its_seed_and_finds_what_numpy_finds():
    votes = mallows(4)[0]
    kwargs = {"deltas": [0.5, 1.0], "steps": 400, "device": "cpu"}
    first, again, other = (smoothed(votes, rng=seed, **kwargs) for seed in (3, 3, 4))
    assert np.array_equal(first.average, again.average)
    assert not np.array_equal(first.average, other.average)
    exact = hr.breakdown(votes, deltas=[0.5, 1.0])
    assert (first.upper >= exact.lower - 1e-9).all()
    assert (first.upper <= 1.1 * exact.upper).all()
    assert first.average.sum(axis=-1) == pytest.approx(1.0, abs=1e-12)


def test_breakdown_takes_a_device():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    found = hr.breakdown(votes, deltas=[1 / 3], method="smooth", rng=1, device="cpu")
    assert found.upper[0] == pytest.approx(0.1, abs=1e-5)
    with pytest.raises(hr.UsageError, match="device applies only to method='smooth'"):
        hr.breakdown(votes, device="cpu")


def test_many_votes_deltas_and_runs_are_one_batch():
    found = smoothed(mallows(4, (1, 2, 3)), deltas=[0.2, 0.5], steps=200, repeats=4, rng=1, device="cpu")
    assert found.runs.shape == (3, 2, 4)
    assert found.average.shape == (3, 2, 24)
    assert (found.runs.std(axis=-1) > 0).all()  # every run has noise of its own
    assert (found.estimate <= found.runs.mean(axis=-1) + 1e-9).all()  # a distance is convex
    assert np.isfinite(found.upper).all()


def test_a_statistic_of_ones_own_runs_on_a_device():
    class Favourite:
        __name__ = "favourite"

        def __call__(self, votes):
            ranking = hr.Ranking(votes.ranks[np.argmax(votes.weights)])
            loss = votes.loss(ranking)
            return hr.Consensus(ranking, votes.items, loss, 0.0, "kendall", hr.Status.UNPROVED, None, "commonest", 0.0)

        def batch(self, shares):
            ranks = torch.tensor([ranking.ranks.tolist() for ranking in hr.all_rankings(3)])
            return ranks[shares.argmax(-1)] if isinstance(shares, torch.Tensor) else ranks.numpy()[shares.argmax(-1)]

    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    assert smoothed(votes, Favourite(), [1 / 3], steps=100, rng=1, device="cpu").upper[0] < 0.11


def test_pieces_that_fit_into_memory_add_up():
    problem = problem_of(hr.kemeny, mallows(5, (1, 2)), [0.2, 0.5, 0.9])
    options = DescentOptions(3, 16, 2)
    like = torch.zeros(1, dtype=torch.float64)
    averages = []
    for most in (1 << 20, 120 * 20, 120 * 3):  # all at once, a few points, a few copies of one point
        draw = drawn_here(problem, options, like, np.random.default_rng(1))
        averages.append(Descent(problem, options, like, PlainSampler(problem, options, like, draw, most)).run().numpy())
    assert averages[1] == pytest.approx(averages[0], abs=1e-12)
    assert averages[2] == pytest.approx(averages[0], abs=1e-12)


def test_where_it_cannot_run_is_said():
    votes = mallows(3)[0]
    with pytest.raises(hr.UsageError, match="torch cannot use the device 'toaster'"):
        smoothed(votes, device="toaster")
    with pytest.raises(hr.UsageError, match="device must be a name"):
        smoothed(votes, device=torch.device("cpu"))
    with pytest.raises(hr.UsageError, match="give one of them"):
        smoothed(votes, device="cpu", like=np.zeros(1))
    with pytest.raises(hr.UsageError, match="at least one run"):
        smoothed(votes, repeats=0)
    if not torch.cuda.is_available():
        with pytest.raises(hr.UsageError, match="Fix: name one that it has"):
            smoothed(votes, device="cuda")


def test_no_points_need_no_device_time():
    assert smoothed(hr.Votes.from_orders([["a"]]), rng=1, device="cpu").upper.shape == (0,)
