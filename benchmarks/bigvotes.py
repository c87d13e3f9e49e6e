"""Votes larger than memory: seconds by the clock and peak memory, beside the reader for memory and plain group-bys.

Makes its data in a folder that is removed afterwards (some 0.7 GB). Every measurement is a process of its own.
`--quick` makes a tenth of the data and writes no results; `--keep FOLDER` keeps the data there for another run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

RESULTS = Path(__file__).parent / "results" / "bigvotes.json"
MODELS = 150
STEP = 1_000_000  # rows made at a time

# What is measured; FILES is the path or pattern. Each prints one line of JSON: what it found, to compare answers.
TASKS = {
    "holdrank": """
import holdrank as hr
votes = hr.read_votes(FILES)
W = votes.wins()
print(json.dumps({"total": votes.total, "items": votes.n, "distinct": votes.distinct, "W": W.sum(axis=1).tolist()[:3]}))
""",
    "holdrank count_pairs": """
import holdrank as hr
counts = hr.count_pairs(FILES)
W = counts.wins()
print(json.dumps({"total": counts.total, "items": counts.n, "W": W.sum(axis=1).tolist()[:3]}))
""",
    "holdrank in memory": """
import holdrank as hr
from holdrank.files import sniff
sniff.LARGE_TEXT = sniff.LARGE_PARQUET = 1 << 60
votes = hr.read_votes(FILES)
W = votes.wins()
print(json.dumps({"total": votes.total, "items": votes.n, "distinct": votes.distinct, "W": W.sum(axis=1).tolist()[:3]}))
""",
    "duckdb GROUP BY": """
import duckdb
duckdb.sql("SET enable_progress_bar = false")
held = duckdb.sql(f"SELECT *, count(*) AS times FROM read_parquet('{FILES}') GROUP BY ALL").fetchnumpy()
print(json.dumps({"total": float(held["times"].sum()), "distinct": len(held["times"])}))
""",
    "polars group_by": """
import polars as pl
table = pl.scan_parquet(FILES)
held = table.group_by(table.collect_schema().names()).len().collect(engine="streaming")
print(json.dumps({"total": float(held["len"].sum()), "distinct": held.height}))
""",
}
CHILD = """
import json, resource, sys, time
FILES = sys.argv[1]
started = time.perf_counter()
{task}
seconds = time.perf_counter() - started
try:  # the high-water mark of this program; that of getrusage knows the parent's as well
    with open("/proc/self/status") as status:
        peak = next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps({{"seconds": seconds, "peak": peak}}))
"""


def make_battles(path: Path, rows: int, rng: np.random.Generator) -> None:
    """Write battles of 150 models, with ties and verdicts that both are bad, and a column that does not matter."""
    names = pa.array([f"model-{k}" for k in range(MODELS)])
    codes = pa.array(["model_a", "model_b", "tie", "tie (bothbad)"])
    strength = rng.normal(size=MODELS)
    writer = None
    for _ in range(rows // STEP):
        a = rng.integers(MODELS, size=STEP)
        b = (a + rng.integers(1, MODELS, size=STEP)) % MODELS
        won = rng.random(STEP) < 1 / (1 + np.exp(strength[b] - strength[a]))
        drawn = rng.random(STEP)
        verdict = np.where(drawn < 0.05, 3, np.where(drawn < 0.15, 2, np.where(won, 0, 1)))
        cells = {"model_a": (a, names), "model_b": (b, names), "winner": (verdict, codes)}
        table = pa.table(
            {name: pa.DictionaryArray.from_arrays(pa.array(code, pa.int32()), words).cast(pa.string())
             for name, (code, words) in cells.items()}
        )  # fmt: skip
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def make_ballots(folder: Path, rows: int, items: int, rng: np.random.Generator, name: str) -> None:
    """Write complete ballots in random order, a column an item, in files of ten million."""
    writer = None
    for step in range(rows // STEP):
        ranks = rng.permuted(np.tile(np.arange(1, items + 1, dtype=np.int8), (STEP, 1)), axis=1)
        table = pa.table({f"item {k}": np.ascontiguousarray(ranks[:, k]) for k in range(items)})
        if step % 10 == 0:
            if writer is not None:
                writer.close()
            writer = pq.ParquetWriter(folder / f"{name}-{step // 10}.parquet", table.schema)
        assert writer is not None
        writer.write_table(table)
    if writer is not None:
        writer.close()


def measure(task: str, files: str) -> dict[str, Any]:
    """Run a task in a process of its own; return what it found, its seconds and its peak memory."""
    command = [sys.executable, "-c", CHILD.format(task=TASKS[task]), files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1][:300]}
    answer, cost = map(json.loads, done.stdout.splitlines())
    return {"seconds": round(cost["seconds"], 2), "peak_mb": round(cost["peak"] / 1e6), **answer}


def main() -> None:
    """Make the data, run everything, print a table, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    part = 10 if arguments.quick else 1
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        data = {
            "20 million battles, Parquet": ("battles.parquet", lambda: make_battles(
                folder / "battles.parquet", 20_000_000 // part, np.random.default_rng(1))),
            "2 million battles, Parquet": ("few.parquet", lambda: make_battles(
                folder / "few.parquet", 2_000_000, np.random.default_rng(2))),
            "20 million battles, CSV": ("battles.csv", lambda: pa.csv.write_csv(
                pq.read_table(folder / "battles.parquet"), folder / "battles.csv")),
            "50 million ballots of 10": ("ten-*.parquet", lambda: make_ballots(
                folder, 50_000_000 // part, 10, np.random.default_rng(3), "ten")),
            "10 million ballots of 20": ("twenty-*.parquet", lambda: make_ballots(
                folder, 10_000_000 // part, 20, np.random.default_rng(4), "twenty")),
        }  # fmt: skip
        plan = {
            "20 million battles, Parquet": ["holdrank", "holdrank count_pairs", "duckdb GROUP BY", "polars group_by"],
            "2 million battles, Parquet": ["holdrank", "holdrank in memory"],
            "20 million battles, CSV": ["holdrank"],
            "50 million ballots of 10": ["holdrank", "holdrank count_pairs", "duckdb GROUP BY", "polars group_by"],
            "10 million ballots of 20": ["holdrank", "holdrank count_pairs", "duckdb GROUP BY"],
        }
        results = []
        for name, (files, make) in data.items():
            if not list(folder.glob(files)):
                make()
            size = sum(file.stat().st_size for file in folder.glob(files))
            answers: dict[str, Any] = {}
            for task in plan[name]:
                load = os.getloadavg()[0]
                found = measure(task, str(folder / files))
                results.append({"data": name, "bytes": size, "task": task, "load_before": round(load, 1), **found})
                print(f"{name:28} {size / 1e6:6.0f} MB  {task:22}", *(f"{k}={v}" for k, v in found.items() if k != "W"))
                if name == "10 million ballots of 20" and task == "holdrank":
                    del found["total"]  # kept as comparisons
                for key in ("total", "W"):
                    if key in found:
                        assert answers.setdefault(key, found[key]) == found[key], f"{task} counts otherwise: {key}"
            if arguments.keep is None:
                for file in folder.glob(files):
                    if name != "20 million battles, Parquet":  # the CSV file is made from it
                        file.unlink()
        if not arguments.quick:
            record = {
                "machine": {"system": platform.system(), "cores": os.cpu_count(), "python": platform.python_version()},
                "packages": {package: version(package) for package in ("duckdb", "polars", "numpy")},
                "results": results,
            }
            RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
