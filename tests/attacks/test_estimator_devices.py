"""Where the estimator runs: which library a device asks for, and the descent there, by a stand-in for torch."""

from __future__ import annotations

import contextlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.estimator import devices
from holdrank.attacks.estimator.descent import Descent, DescentOptions, PlainSampler, SmoothedProblem
from holdrank.attacks.estimator.engine import shares_of

VOTES = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[70, 30])


def test_without_torch_cupy_is_taken_and_without_both_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(hr.MissingExtraError, match=r"device='cuda' needs torch. Fix: pip install 'holdrank\[gpu\]'"):
        devices.array_on("cuda")
    zeros = SimpleNamespace(zeros=lambda *_, **kinds: kinds, float32="single")
    monkeypatch.setitem(sys.modules, "cupy", zeros)
    assert devices.array_on("cuda") == {"dtype": "single"}
    with pytest.raises(hr.MissingExtraError):
        devices.array_on("cpu")


def test_triton_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    assert not devices._has_triton()


def problem(deltas=(1 / 3,)):
    return SmoothedProblem(hr.kemeny, [VOTES], shares_of([VOTES])[1], np.array(deltas), "hausdorff_ns")


class Generator:
    """Normal noise by numpy, as torch gives it by a generator of its own."""

    def __init__(self, device):
        assert device == "cpu"

    def manual_seed(self, seed):
        self.numbers = np.random.default_rng(seed)


class Array(np.ndarray):
    """An array of numpy that says where it is, as those of torch do."""

    device = "cpu"


@pytest.fixture
def stand_in(monkeypatch):
    """Let torch be numpy: what is drawn and computed can be repeated here without it."""
    torch = SimpleNamespace(
        float32=np.float32,
        Generator=Generator,
        zeros=lambda size, dtype, **_: np.zeros(size, dtype=dtype).view(Array),
        randn=lambda shape, generator, dtype, **_: generator.numbers.standard_normal(shape).astype(dtype),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    return torch


@pytest.mark.usefixtures("stand_in")
def test_the_descent_on_a_device_is_the_plain_descent_with_noise_drawn_there():
    options = DescentOptions(steps=40, samples=8, repeats=1)
    found = devices.average_on(problem(), options, "cpu", 5)
    numbers = np.random.default_rng(5)

    def noise(points, copies):
        shape = points.stop - points.start, copies.stop - copies.start, problem().p.shape[1]
        return numbers.standard_normal(shape).astype(np.float32)

    like = np.zeros(1, dtype=np.float32)
    plain = Descent(problem(), options, like, PlainSampler(problem(), options, like, noise, 1 << 20)).run()
    assert found == pytest.approx(plain, abs=1e-6)
    assert np.array_equal(found, devices.average_on(problem(), options, "cpu", 5))
    assert not np.array_equal(found, devices.average_on(problem(), options, "cpu", 6))


@pytest.mark.usefixtures("stand_in")
def test_no_points_need_no_noise():
    none = problem(deltas=())
    assert devices.average_on(none, DescentOptions(5, 2, 1), "cpu", 1).shape == none.p.shape


def test_a_device_that_torch_does_not_have_is_refused_with_its_reason(stand_in):
    def refuse(*_, **__):
        raise RuntimeError("Invalid device string: 'gpu'\nand a page of stack")

    stand_in.zeros = refuse
    with pytest.raises(hr.UsageError, match="torch cannot use the device 'gpu'") as caught:
        devices.array_on("gpu")
    assert "page of stack" not in str(caught.value)
    with pytest.raises(hr.UsageError, match="device must be a name"):
        devices.array_on(0)


class Tensor(Array):
    """On a GPU, as far as it says."""

    is_cuda = True

    def clone(self):
        return self.copy()

    def index_select(self, axis, index):
        return np.take(self, index, axis=axis)

    def copy_(self, other):
        self[...] = other

    def add_(self, number):
        self[...] += number


def test_on_a_gpu_one_step_is_recorded_and_replayed_for_all_others(stand_in):
    """Steps before recording and replays are together as many as asked for."""
    steps, graphs = [], []
    stream = SimpleNamespace(wait_stream=lambda _: None)

    def graph():
        graphs.append(SimpleNamespace(replay=lambda: steps.append("replayed"), register_generator_state=steps.append))
        return graphs[-1]

    stand_in.int64 = np.int64
    stand_in.as_tensor = lambda column, dtype, **_: np.asarray(column, dtype=dtype).view(Tensor)
    stand_in.zeros = lambda size, dtype, **_: np.zeros(size, dtype=dtype).view(Tensor)
    stand_in.cuda = SimpleNamespace(
        device=lambda _: contextlib.nullcontext(),
        Stream=lambda: stream,
        current_stream=lambda: stream,
        stream=lambda _: contextlib.nullcontext(),
        CUDAGraph=graph,
        graph=lambda _: contextlib.nullcontext(),
        synchronize=lambda: steps.append("waited"),
        mem_get_info=lambda _: (1 << 20, 1 << 21),
    )
    like = stand_in.zeros(1, dtype=np.float32, device="cpu")
    assert devices._on_gpu(like)
    assert devices._free_bytes(like) == 1 << 20

    class Counting:
        def start(self):
            return tuple(np.zeros(1).view(Tensor) for _ in range(3))

        def columns(self):
            return np.arange(10.0), np.arange(10.0), np.arange(10.0)

        def step(self, logits, multiplier, average, scale, *rest):
            steps.append(int(rest[-1][0]))
            return logits, multiplier, average + scale

    options = DescentOptions(steps=10, samples=1, repeats=1)
    average = devices._replayed(Counting(), options, like, "generator")
    # A GPU does not run what it records, so three steps to warm up leave seven replays; here the recorded one runs too.
    assert steps == [0, 1, 2, "generator", 3, *["replayed"] * 7, "waited"]
    assert len(graphs) == 1
    assert average[0] == 0 + 1 + 2 + 3


def test_noise_of_cupy_is_drawn_by_its_own_generator(monkeypatch):
    drawn = SimpleNamespace(standard_normal=lambda shape, dtype: (shape, dtype))
    cupy = SimpleNamespace(float32="single", random=SimpleNamespace(default_rng=lambda _: drawn))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    draw, generator = devices._drawn_there(SimpleNamespace(get=None), 7, 6)
    assert draw(slice(2, 5), slice(0, 4)) == ((3, 4, 6), "single")
    assert generator is None
