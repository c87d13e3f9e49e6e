"""Where the descent of the estimator runs when it is not on numpy: torch on its devices, cupy, and what they hold.

On a GPU a step of the descent is some fifty small kernels. They are recorded once and replayed, so that the time goes
into computing and not into starting them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from holdrank.attacks.estimator.descent import (
    Descent,
    DescentOptions,
    Draw,
    PlainSampler,
    Sampler,
    SmoothedProblem,
    to_numpy,
)
from holdrank.errors import MissingExtraError, UsageError, quote
from holdrank.rankings import Floats

_NUMBERS_AT_A_TIME = 1 << 20  # on a CPU: what stays in its caches
_COPIES = 12  # arrays as large as the noise that a step holds at once, at most
_WARM_UP = 3  # steps before recording: they compile kernels and fill pools


def array_on(device: str) -> Any:
    """Return an array of single precision on a device: of torch, or of cupy if it is there alone."""
    if not isinstance(device, str):
        raise UsageError(f"device must be a name such as 'cuda' or 'cpu', not {quote(str(device))}")
    try:
        import torch
    except ImportError as error:
        if device.split(":")[0] == "cuda":
            try:
                import cupy
            except ImportError:
                pass
            else:
                return cupy.zeros(1, dtype=cupy.float32)
        raise MissingExtraError(f"device={device!r}", "torch", "gpu") from error
    try:
        return torch.zeros(1, dtype=torch.float32, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(
            f"torch cannot use the device {quote(device)}: {quote(reason)}",
            repair="name one that it has, or leave device out",
        ) from error


def average_on(
    problem: SmoothedProblem, options: DescentOptions, device: str, seed: int, *, fused: bool = True
) -> Floats:
    """Return the average iterate of each point and run, computed on a device with noise drawn there."""
    like = array_on(device)
    if not len(problem.p):
        return np.zeros(problem.p.shape)
    sampler = sampler_on(problem, options, like, seed, fused=fused)
    descent = Descent(problem, options, like, sampler)
    # What a user-defined statistic does inside its batch form may not be recorded.
    if _on_gpu(like) and problem.form is not None:
        return to_numpy(_replayed(descent, options, like, getattr(sampler, "generator", None)))
    return to_numpy(descent.run())


def sampler_on(
    problem: SmoothedProblem, options: DescentOptions, like: Any, seed: int, *, fused: bool = True
) -> Sampler:
    """Return the fastest sampler there is for the device of `like`."""
    if fused and _on_gpu(like) and problem.form is not None and _has_triton():
        from holdrank.attacks.estimator.fused import FusedSampler

        return FusedSampler(problem, options, like, seed, _free_bytes(like) // 4)
    draw, generator = _drawn_there(like, seed, problem.p.shape[1])
    numbers = _free_bytes(like) // (4 * _COPIES) if _on_gpu(like) else _NUMBERS_AT_A_TIME
    return PlainSampler(problem, options, like, draw, numbers, generator)


def _drawn_there(like: Any, seed: int, size: int) -> tuple[Draw, Any]:
    """Return noise of the device's own generator, and that."""
    if hasattr(like, "get"):  # cupy
        import cupy

        numbers = cupy.random.default_rng(seed)

        def of_cupy(points: slice, copies: slice) -> Any:
            shape = points.stop - points.start, copies.stop - copies.start, size
            return numbers.standard_normal(shape, dtype=cupy.float32)

        return of_cupy, None
    import torch

    generator = torch.Generator(device=like.device)
    generator.manual_seed(seed)

    def of_torch(points: slice, copies: slice) -> Any:
        shape = points.stop - points.start, copies.stop - copies.start, size
        return torch.randn(shape, generator=generator, dtype=torch.float32, device=like.device)

    return of_torch, generator


def _replayed(descent: Descent, options: DescentOptions, like: Any, generator: Any) -> Any:
    """Run the descent by recording one step and replaying it."""
    import torch

    state = [array.clone() for array in descent.start()]
    columns = [torch.as_tensor(column, dtype=torch.float32, device=like.device) for column in descent.columns()]
    now = torch.zeros(1, dtype=torch.int64, device=like.device)

    def step() -> None:
        scale, rate, averaged = (column.index_select(0, now) for column in columns)
        fresh = descent.step(state[0], state[1], state[2], scale, rate, averaged, now)
        for old, new in zip(state, fresh, strict=True):
            old.copy_(new)
        now.add_(1)

    with torch.cuda.device(like.device):
        # Recording needs a separate stream that has run all of the work before.
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(min(_WARM_UP, options.steps)):
                step()
        torch.cuda.current_stream().wait_stream(beside)
        if options.steps > _WARM_UP:
            graph = torch.cuda.CUDAGraph()
            if generator is not None:
                graph.register_generator_state(generator)
            with torch.cuda.graph(graph):
                step()
            for _ in range(options.steps - _WARM_UP):
                graph.replay()
        torch.cuda.synchronize()
    return state[2]


def _on_gpu(like: Any) -> bool:
    return getattr(like, "is_cuda", False) is True


def _has_triton() -> bool:
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True


def _free_bytes(like: Any) -> int:
    import torch

    free, _ = torch.cuda.mem_get_info(like.device)
    return int(free)
