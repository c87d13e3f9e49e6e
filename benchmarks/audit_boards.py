"""How often audits raise what is not there, whether they find what is, what arenakit says, and how long it takes.

``python benchmarks/audit_boards.py [--boards 200] [--only clean|planted|peer|speed] [--peer PYTHON]``

Boards are those of the tests. *Clean* ones have nothing to find: a probe that is raised there is a false alarm (those
with a word in brackets have that, rightly raised, and nothing else). *Planted* ones have one defect each. arenakit
audits the same ten boards in an environment of its own (`make peers` makes one). Results go to `results/audit.json`; a
part that is not run keeps its last results.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import polars as pl

import holdrank as hr

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "tests"))

import boards  # noqa: E402

RESULTS = HERE / "results" / "audit.json"
PEERS_PYTHON = HERE.parent / ".peers" / "bin" / "python"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PROBES = (*boards.DEFECTS,)

CLEAN: dict[str, Callable[[int], Any]] = {
    "battles, 10 items, 10,000 votes": lambda seed: boards.votes_of(boards.board(None, seed)),
    "battles, 25 items, 100,000 votes": lambda seed: boards.votes_of(
        boards.board(None, seed, items=25, battles=100_000, gap=0.2, voters=2000)
    ),
    "battles, 10 items, 1,500 votes (few)": lambda seed: boards.votes_of(boards.board(None, seed, battles=1500)),
    "battles, 40 level items, 8,000 votes (few)": lambda seed: boards.votes_of(
        boards.board(None, seed, items=40, battles=8000, gap=0.005)
    ),
    "battles, uneven arenas (few, thin, uneven)": lambda seed: boards.votes_of(boards.uneven(seed)),
    "pair counts of battles": lambda seed: hr.PairCounts.from_votes(boards.votes_of(boards.board(None, seed))),
    "3,000 rankings of 8 items, people": lambda seed: boards.votes_of_rankings(boards.rankings(seed), voter="person"),
    "3,000 rankings of 8 items, tasks": lambda seed: boards.votes_of_rankings(boards.rankings(seed), by="task"),
    "scores, 8 models, 60 tasks": boards.scores,
}


def clean(number: int) -> dict[str, Any]:
    """Count the clean boards on which each probe is raised, and on how many it applies."""
    found = {}
    for name, make in CLEAN.items():
        raised, applied = Counter(), Counter()
        for seed in range(number):
            audit = hr.audit(make(seed), rng=seed, time_limit=0)
            raised.update(one.probe for one in audit.raised)
            applied.update(one.probe for one in audit.findings if one.applies)
        found[name] = {probe: [raised[probe], applied[probe]] for probe in PROBES}
        told = ", ".join(f"{probe} {raised[probe]}/{applied[probe]}" for probe in PROBES if applied[probe])
        print(f"{name}: {told}", flush=True)
    return found


def planted(number: int) -> dict[str, Any]:
    """Count for each defect the boards on which the right probe is raised, and no other."""
    found = {}
    for defect in PROBES:
        right = alone = 0
        for seed in range(number):
            raised = [
                one.probe
                for one in hr.audit(boards.votes_of(boards.board(defect, seed)), rng=seed, time_limit=0).raised
            ]
            right += defect in raised
            alone += raised == [defect]
        found[defect] = {"boards": number, "raised": right, "alone": alone}
        print(f"{defect}: raised on {right} of {number}, alone on {alone}", flush=True)
    return found


def peer(python: str) -> dict[str, Any]:
    """Audit ten boards by both, arenakit with the voters but not the languages, for which it has no place."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for defect in (None, *PROBES):
            frame = boards.board(defect, 1)
            path = Path(folder) / "board.csv"
            codes = pl.col("winner").replace({"model_a": "a", "model_b": "b"})
            frame.with_columns(codes).rename({"voter": "voter_id"}).drop("language").write_csv(path)
            done = subprocess.run([python, str(HERE / "peer_audit.py"), str(path)], capture_output=True, text=True,
                                  check=False, env={**os.environ, **ONE_THREAD})  # fmt: skip
            theirs = json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.splitlines()[-1]}
            started = process_time()
            audit = hr.audit(boards.votes_of(frame), rng=1)
            ours = {"raised": [one.probe for one in audit.raised], "seconds": round(process_time() - started, 2)}
            found[str(defect)] = {"holdrank": ours, "arenakit": theirs}
            print(f"{defect}: {found[str(defect)]}", flush=True)
    return found


def speed() -> dict[str, Any]:
    """Time the command on 100 models and a million battles by 20,000 voters in four languages, reading included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arena.csv"
        boards.board(None, 1, items=100, battles=1_000_000, gap=0.03, voters=20_000).write_csv(path)
        command = [sys.executable, "-m", "holdrank", "audit", str(path), "-q", "--voter", "voter", "--by", "language"]
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        wall, after = perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = {"wall": round(wall, 1), "cpu": round(cpu, 1), "megabytes": round(after.ru_maxrss / 1024)}
    print(f"100 models, 1,000,000 battles: {found}")
    return found


def main() -> None:
    """Run the parts, and keep what they found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--boards", type=int, default=200)
    parser.add_argument("--only", choices=["clean", "planted", "peer", "speed"])
    parser.add_argument("--peer", default=str(PEERS_PYTHON))
    asked = parser.parse_args()
    parts = {
        "clean": lambda: {"boards": asked.boards, "raised": clean(asked.boards)},
        "planted": lambda: planted(max(asked.boards // 4, 1)),
        "peer": lambda: peer(asked.peer),
        "speed": speed,
    }
    kept = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    for name, run in parts.items():
        if asked.only in (None, name):
            kept[name] = run()
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
