"""What two workers bring: a trade-off sweep and a bootstrap, alone, on two processes and on a Dask cluster of two.

``.venv/bin/python benchmarks/sweeps.py [--rounds N]`` takes some two minutes and writes ``results/sweeps.json``. Rounds
alternate, and the best of each counts, as other work on the machine only adds; the load average is kept with the times.
Beside the clock stand CPU seconds, of which the busiest worker counts: what the clock would say if nobody else worked
here. Workers are warm: each has done a small sweep. The results are compared to the last bit.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from time import perf_counter
from typing import Any

import holdrank as hr

RESULTS = Path(__file__).parent / "results" / "sweeps.json"
SMALL = hr.sample_votes(hr.Mallows(range(4), 0.8), 50, rng=1)


def sweep(executor: Executor | None) -> Any:
    votes = hr.sample_votes(hr.Mallows(range(7), 0.8), 500, rng=5)
    found = hr.tradeoff(votes, executor=executor)
    return [getattr(found, name).tobytes() for name in ("theta", "loss", "lower", "upper")]


def draws(executor: Executor | None) -> Any:
    votes = hr.sample_votes(hr.Uniform(30), 101, rng=5)
    found = hr.bootstrap(votes, draws=1000, rng=1, executor=executor)
    return [found.above.tobytes(), found.counts.tobytes()]


TASKS: dict[str, Callable[[Executor | None], Any]] = {
    "trade-off, 7 items, 500 ballots of a Mallows model": sweep,
    "bootstrap of kemeny, 30 items, 101 uniform ballots, 1,000 draws": draws,
}


def warm(executor: Executor | None) -> None:
    for _ in range(3):
        hr.tradeoff(SMALL, executor=executor)
        hr.bootstrap(hr.sample_votes(hr.Uniform(20), 51, rng=1), draws=200, rng=1, executor=executor)


def cpu_seconds(executor: Executor | None) -> list[float]:
    """Return the CPU seconds of every worker up to now."""
    import psutil

    if executor is None:
        workers = [os.getpid()]
    elif isinstance(executor, hr.clusters.Cluster):
        workers = sorted(executor.client.run(os.getpid).values())
    else:
        workers = sorted(executor._processes)  # type: ignore[attr-defined]
    return [sum(psutil.Process(pid).cpu_times()[:2]) for pid in workers]


def measure(executors: dict[str, Executor | None], rounds: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for executor in executors.values():
        warm(executor)
    for name, task in TASKS.items():
        seconds: dict[str, list[float]] = {kind: [] for kind in executors}
        busiest: dict[str, list[float]] = {kind: [] for kind in executors}
        load, answers = [], []
        for _ in range(rounds):
            load.append(round(os.getloadavg()[0], 2))
            for kind, executor in executors.items():
                before = cpu_seconds(executor)
                started = perf_counter()
                answers.append(task(executor))
                seconds[kind].append(round(perf_counter() - started, 3))
                after = cpu_seconds(executor)
                busiest[kind].append(round(max(b - a for a, b in zip(before, after, strict=True)), 3))
        found[name] = {
            "load_before_each_round": load,
            "seconds": seconds,
            "cpu_seconds_of_the_busiest": busiest,
            "speed_up": speed_up(seconds),
            "speed_up_by_cpu": speed_up(busiest),
            "same": all(answer == answers[0] for answer in answers),
        }
        print(name, json.dumps(found[name]), flush=True)
    return found


def speed_up(times: dict[str, list[float]]) -> dict[str, float]:
    best = {kind: min(some) for kind, some in times.items()}
    return {kind: round(best["alone"] / best[kind], 2) for kind in best if kind != "alone"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    from distributed import Client, LocalCluster

    with (
        hr.clusters.local(2) as processes,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        found = measure(
            {"alone": None, "2 processes": processes, "2 Dask workers": hr.clusters.Cluster(client)}, rounds
        )
    about = {"cores": os.cpu_count(), "python": platform.python_version(), "holdrank": hr.__version__}
    RESULTS.write_text(json.dumps({**about, "tasks": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
