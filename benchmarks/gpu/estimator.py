"""How fast the smoothed estimator draws and judges noisy distributions: numpy on two cores, torch and fused on a GPU.

On a CPU one thread is timed by its CPU seconds, best of several rounds, and counted twice: what two cores would do with
nothing else to do. That favours the CPU, and holds on a busy machine.

One evaluation is: perturb n! logits, softmax, statistic, distance, and its share of the gradient. What is timed is a
whole step's sampling of all points, with 4,096 evaluations a point. Run it as it stands: `cpu` and `gpu` choose one
part; each replaces its own part of the results.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from datetime import date
from functools import partial
from math import factorial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded

import numpy as np

import holdrank as hr
from holdrank.attacks.estimator.descent import DescentOptions, PlainSampler, SmoothedProblem, softmax
from holdrank.attacks.estimator.engine import _NUMBERS_AT_A_TIME, shares_of, smoothed

RESULTS = Path(__file__).resolve().parents[1] / "results" / "gpu.json"
SAMPLES = 4096
SCALE = 0.3


def problem_of(n, points, statistic=hr.kemeny):
    """Return about so many points: Mallows votes, every delta."""
    pairs = n * (n - 1) // 2
    many = max(1, points // pairs)
    deltas = np.arange(1, pairs + 1) / pairs if points >= pairs else np.array([0.5] * points)
    votes = [hr.sample_votes(hr.Mallows(range(n), 0.8), 200, rng=seed) for seed in range(many)]
    return SmoothedProblem(statistic, votes, shares_of(votes)[1], deltas, "hausdorff_ns")


def start_of(problem):
    return np.log(0.5 * problem.p + 0.5 / problem.p.shape[1])


# On this machine's CPU.


def on_cpu():
    rows = []
    for n, samples, rounds in ((4, 4096, 40), (7, 512, 15), (8, 128, 8)):
        problem = problem_of(n, 1)
        options = DescentOptions(1, samples, 1)
        rng = np.random.default_rng(1)
        noises = iter([rng.standard_normal((1, options.drawn, factorial(n))) for _ in range(rounds + 1)])
        now = []

        def draw(_points, copies, noises=noises, now=now):
            if not copies.start:
                now[:] = [next(noises)]
            return now[0][:, copies]

        sampler = PlainSampler(problem, options, np.zeros(1), draw, _NUMBERS_AT_A_TIME)
        logits, seconds = start_of(problem), []
        for _ in range(rounds + 1):
            began = process_time()
            sampler(logits, SCALE, 0)
            seconds.append(process_time() - began)
        began = process_time()
        rng.standard_normal((options.drawn, factorial(n)))
        drawing = process_time() - began
        rows.append({"n": n, "engine": "numpy", "evaluations_per_second": 2 * samples / (min(seconds[1:]) + drawing)})
        print(f"n = {n}, numpy: {rows[-1]['evaluations_per_second']:,.0f} evaluations a second", flush=True)
    return {"machine": f"{platform.machine()}, one core counted twice", "sampling": rows,
            "figure_4": figure_4(None)}  # fmt: skip


# On a GPU.


def on_gpu():
    import torch

    from holdrank.attacks.estimator.devices import sampler_on

    like = torch.zeros(1, device="cuda")
    limits = ceilings(torch)
    print(json.dumps(limits), flush=True)
    rows, agreement = [], []
    for n, points in ((4, 1), (4, 2046), (5, 100), (6, 15), (7, 1), (7, 21), (8, 1), (8, 28)):
        problem = problem_of(n, points)
        options = DescentOptions(1, SAMPLES, 1)
        logits = torch.as_tensor(start_of(problem), dtype=torch.float32, device="cuda")
        scale, step = torch.full((1,), SCALE, device="cuda"), torch.zeros(1, dtype=torch.int64, device="cuda")
        for engine in ("torch", "fused"):
            sampler = sampler_on(problem, options, like, 1, fused=engine == "fused")
            seconds = replayed(torch, partial(sampler, logits, scale, step), getattr(sampler, "generator", None))
            row = {"n": n, "points": len(problem.p), "engine": engine, "seconds": seconds,
                   "evaluations_per_second": len(problem.p) * SAMPLES / seconds}  # fmt: skip
            if engine == "fused":
                row["kernels"] = kernels(torch, sampler, logits, scale, step, limits)
                agreement.append({"n": n, **same_noise(torch, problem, options, sampler, logits, scale)})
            rows.append(row)
            print(f"n = {n}, {len(problem.p)} points, {engine}: {row['evaluations_per_second'] / 1e6:,.1f} million a "
                  f"second; {json.dumps(row.get('kernels', {}))}", flush=True)  # fmt: skip
            torch.cuda.empty_cache()
    print(json.dumps(agreement), flush=True)
    return {"machine": torch.cuda.get_device_name(), "torch": torch.__version__, "limits": limits, "sampling": rows,
            "agreement": agreement, "descent": descents(torch), "figure_4": figure_4("cuda")}  # fmt: skip


def timed(torch, call, rounds=15):
    """Return the median of seconds by the device's clock."""
    for _ in range(3):
        call()
    seconds = []
    for _ in range(rounds):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        call()
        last.record()
        torch.cuda.synchronize()
        seconds.append(first.elapsed_time(last) / 1000)
    return median(seconds)


def replayed(torch, call, generator=None):
    """Record a call and time ten replays in a row: no gaps from starting kernels."""
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    if generator is not None:
        graph.register_generator_state(generator)
    with torch.cuda.graph(graph):
        call()

    def ten():
        for _ in range(10):
            graph.replay()

    return timed(torch, ten, 9) / 10


def ceilings(torch):
    """Return what the machine can do: bytes a second, bf16 operations, exponentials of numbers in registers."""
    x, y = (torch.empty(1 << 30, dtype=torch.float32, device="cuda").normal_() for _ in range(2))
    copy = timed(torch, lambda: y.copy_(x))
    small = x[: 1 << 22]
    target = y[: 1 << 22]
    cached = timed(torch, lambda: [target.copy_(small) for _ in range(20)]) / 20
    a = torch.randn(8192, 8192, device="cuda").to(torch.bfloat16)
    product = timed(torch, lambda: a @ a)
    chip = torch.cuda.get_device_properties(0)
    clock = torch.cuda.clock_rate() * 1e6
    return {"copy_bytes_per_second": 2 * x.nbytes / copy, "cached_copy_bytes_per_second": 2 * small.nbytes / cached,
            "bf16_operations_per_second": 2 * 8192**3 / product, "processors": chip.multi_processor_count,
            "clock": clock, "special_per_second": 16 * chip.multi_processor_count * clock,
            "issue_per_second": 128 * chip.multi_processor_count * clock}  # fmt: skip


def kernels(torch, sampler, logits, scale, step, limits):
    """Return for each kernel: seconds, bytes and special functions counted, and shares of what the machine can do."""
    points = sampler._chunks[0]
    step = step.to(torch.int32)
    powers = sampler.powers(logits)[points]
    noise = sampler.drawn(step, points)
    sums = sampler.perturbed(powers, noise, scale)
    gain = sampler.gains(sums, points)
    weights = (gain[:, 0] - gain[:, 1]).contiguous()
    numbers, rows = noise.numel(), gain.numel()
    parts = sums.shape[0]
    orders = sampler._costs.shape[1]
    work = {
        # name: call, bytes, special functions, matrix operations
        "draw": (lambda: sampler.drawn(step, points), 2 * numbers, 2 * numbers, 0),
        "perturb": (lambda: sampler.perturbed(powers, noise, scale), 2 * numbers + sums.nbytes, 2 * numbers,
                    8 * numbers * sampler.width),
        "least": (lambda: sampler.gains(sums, points), sums.nbytes + gain.nbytes, 0, 6 * rows * orders * sampler.width),
        "weigh": (lambda: sampler.weighed(noise, weights), 2 * numbers, 0, 0),
    }  # fmt: skip
    found = {"parts": parts, "evaluations": (points.stop - points.start) * SAMPLES}
    for name, (call, moved, special, operations) in work.items():
        seconds = replayed(torch, call)
        found[name] = {
            "microseconds": round(seconds * 1e6, 1),
            "of_copy": round(moved / seconds / limits["copy_bytes_per_second"], 3),
            "of_special": round(special / seconds / limits["special_per_second"], 3),
            "of_bf16": round(operations / seconds / limits["bf16_operations_per_second"], 3),
        }
    return found


def same_noise(torch, problem, options, sampler, logits, scale):
    """Compare with numpy in double precision on the noise that the kernels drew, for one point."""
    few = slice(0, 1)
    noise = sampler.drawn(torch.full((1,), 7, dtype=torch.int32, device="cuda"), few)
    sums = sampler.perturbed(sampler.powers(logits)[few], noise, scale)
    gain = sampler.gains(sums, few)
    push = sampler.weighed(noise, (gain[:, 0] - gain[:, 1]).contiguous()) / SAMPLES
    copies = min(options.drawn, 256)
    z = noise[:, :, : sampler.size].cpu().numpy().astype(np.float64)
    both = np.concatenate((z[0, :copies], -z[0, :copies]))
    shares = softmax(logits[0].cpu().numpy().astype(np.float64) + float(scale) * both)
    means = sampler.averages(sums)[0, :, :copies].reshape(2 * copies, -1).cpu().numpy()
    exact = shares @ problem.form.features
    distances, _ = problem.outcomes(0, shares)
    gains = np.minimum(distances / problem.delta[0], 1.0)
    mine = gain[0, :, :copies].reshape(-1).cpu().numpy()
    weight = (gain[0, 0] - gain[0, 1]).cpu().numpy().astype(np.float64)[: options.drawn]
    gradient = weight @ z[0, : options.drawn] / SAMPLES
    numbers = z[0, : options.drawn]
    return {
        "means": float(np.abs(means - exact).max()),
        "other_outcomes": int((np.abs(gains - mine) > 1e-5).sum()),
        "gradient": float(np.abs(push[0].cpu().numpy() - gradient).max()),
        "noise": [float(numbers.mean()), float(numbers.var()), float((numbers**4).mean())],
    }


def descents(torch):
    """Time whole descents: every delta of one set of votes, 4,096 evaluations a point and step."""
    from holdrank.attacks.estimator.devices import average_on

    rows = []
    for n, steps in ((4, 2000), (7, 300), (8, 40)):
        pairs = n * (n - 1) // 2
        problem = problem_of(n, pairs)
        options = DescentOptions(steps, SAMPLES, 1)
        average_on(problem, DescentOptions(5, SAMPLES, 1), "cuda", 1)
        torch.cuda.synchronize()
        began = perf_counter()
        average_on(problem, options, "cuda", 1)
        seconds = perf_counter() - began
        rows.append({"n": n, "points": pairs, "steps": steps, "seconds": seconds,
                     "evaluations_per_second": pairs * steps * SAMPLES / seconds})  # fmt: skip
        print(f"n = {n}, whole descent: {rows[-1]['evaluations_per_second'] / 1e6:,.1f} million a second", flush=True)
    return rows


def figure_4(device):
    """Time the curves of the paper's Figure 4: Kemeny and Downward Merge at both thresholds, 5,000 steps."""
    orders = [ranking.order for ranking in hr.all_rankings(4)]
    u = np.random.RandomState(183).uniform(size=24)
    p = 0.1 * u / u.sum()
    p[:2] += 0.45
    votes = hr.Votes.from_orders(orders, p, items=range(4))
    rows = []
    for samples in (16,) if device is None else (16, SAMPLES):
        for T in (hr.kemeny, hr.Robust(hr.kemeny, 0.05), hr.Robust(hr.kemeny, 0.5)):
            began = perf_counter()
            found = smoothed(votes, T, samples=samples, rng=1, device=device)
            rows.append({"statistic": T.__name__, "samples": samples, "seconds": perf_counter() - began,
                         "estimate": found.estimate.round(5).tolist(),
                         "attack": [None if np.isinf(x) else round(x, 5) for x in found.upper.tolist()]})  # fmt: skip
            print(json.dumps(rows[-1]), flush=True)
    return rows


def main():
    wanted = sys.argv[1:] or ["cpu", "gpu"]
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    for part in wanted:
        if part == "gpu":
            try:
                import torch
            except ImportError:
                print("torch is missing: the part on a GPU is left out")
                continue
            if not torch.cuda.is_available():
                print("no GPU: this part is left out")
                continue
        results[part] = {"date": date.today().isoformat(), "holdrank": hr.__version__,
                         **(on_cpu() if part == "cpu" else on_gpu())}  # fmt: skip
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
