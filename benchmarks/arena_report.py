"""The whole report of an arena of 120 models and a million battles by 20,000 voters: seconds, memory, size of the page.

Run it on a quiet machine: ``.venv/bin/python benchmarks/arena_report.py [models] [battles]``.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import polars as pl

SEED = 20


def write_arena(path: Path, models: int, battles: int, voters: int = 20_000) -> None:
    """Write battles in the columns that LMArena publishes, ties among them; some models and voters are seen often."""
    rng = np.random.default_rng(SEED)
    strength = rng.normal(0, 0.8, models)
    shown = rng.gamma(1.2, 1.0, models) + 0.05
    first, second = rng.choice(models, (2, battles), p=shown / shown.sum())
    second = np.where(first == second, (second + 1) % models, second)
    wins = rng.random(battles) < 1 / (1 + np.exp(strength[second] - strength[first]))
    luck = rng.random(battles)
    winner = np.where(wins, "model_a", "model_b")
    winner = np.where(luck < 0.15, "tie", np.where(luck < 0.25, "tie (bothbad)", winner))
    busy = rng.lognormal(0.0, 1.5, voters)
    who = rng.choice(voters, battles, p=busy / busy.sum())
    names = np.array([f"model-{k:03}" for k in rng.permutation(models)])
    users = np.array([f"user-{k}" for k in range(voters)])
    columns = {"model_a": names[first], "model_b": names[second], "winner": winner, "judge": users[who]}
    pl.DataFrame(columns).write_csv(path)


def main() -> None:
    """Measure the command, its file reading included."""
    models, battles = (int(word) for word in (*sys.argv[1:], "120", "1000000")[:2])
    with tempfile.TemporaryDirectory() as folder:
        source, page, record = (Path(folder) / name for name in ("arena.csv", "arena.html", "arena.json"))
        write_arena(source, models, battles)
        command = [sys.executable, "-m", "holdrank", "report", str(source), "--voter", "judge", "--quiet", "-o"]
        for output in (page, record):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            started = perf_counter()
            subprocess.run([*command, str(output)], check=True)
            wall = perf_counter() - started
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(f"{wall:.1f} s by the clock, {cpu:.1f} s of CPU, {after.ru_maxrss / 1024:.0f} MB, "
                  f"{output.stat().st_size / 1000:.0f} kB of {output.suffix[1:]}")  # fmt: skip
        for step in json.loads(record.read_text("utf-8"))["steps"]:
            print(f"  {step['name']:<10} {step['seconds']:6.2f} s  {step['state']}  {step['note'][:90]}")


if __name__ == "__main__":
    main()
