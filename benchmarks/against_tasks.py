"""The tasks of `against.py`, which runs in one process a task of one tree: CPU seconds for every line of its input.

Tasks use only names that have not changed for long, so that old commits can run them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

LEAST = 0.3  # CPU seconds of a turn; short tasks are repeated

Task = tuple[Callable[[], Any], Callable[[Any], object]]  # prepare, which is not timed; and run


def tasks(folder: Path) -> dict[str, Task]:
    """Return every task by its name, over the files of a folder."""
    import numpy as np
    from generated import bradley_terry, complete_ranks, incomplete_tied_ranks, random_pairs

    import holdrank as hr

    def path(name: str) -> Callable[[], Path]:
        return lambda: folder / name

    def mallows(n: int, m: int, dispersion: float = 0.7) -> Callable[[], Any]:
        ranks = cache(lambda: np.array(hr.sample_votes(hr.Mallows(range(n), dispersion), m, rng=1).ranks))
        return lambda: hr.Votes.from_ranks(ranks())  # new votes every time: what was counted before is kept in them

    def uniform(n: int, m: int) -> Callable[[], Any]:
        ranks = complete_ranks(m, n)
        return lambda: hr.Votes.from_ranks(ranks)

    def battles(name: str) -> Callable[[], Any]:
        votes = cache(lambda: hr.read_votes(folder / name))
        ranks = cache(lambda: (np.array(votes().ranks), np.array(votes().weights), votes().items))
        return lambda: hr.Votes.from_ranks(*ranks(), unlisted="observed")

    def attack(T: Any, change: str, goal: Any) -> Callable[[Any], object]:
        return lambda votes: hr.attack(votes, T, goal, change=change)

    def check(T: Any, result: Callable[[Any], Any], n: int, m: int = 101) -> Task:
        make = mallows(n, m)
        found = cache(lambda: result(make()))
        return lambda: (make(), found()), lambda given: hr.verify(given[0], T, given[1])

    def merge(name: str, n: int) -> Task:
        P = bradley_terry(n)
        order = hr.Ranking(np.argsort(np.argsort(-P.sum(axis=1))) + 1)
        return (lambda: P), lambda P: getattr(hr, name)(P, order, *(() if name == "merge_path" else (0.05,)))

    def report(file: Path) -> object:
        output = str(folder / f"report-{os.getpid()}.html")
        command = [sys.executable, "-m", "holdrank", "report", str(file), "-o", output, "--quiet", "--draws", "200"]
        return subprocess.run(command, check=True, capture_output=True)

    full, partial = complete_ranks(100_000, 20), incomplete_tied_ranks(100_000, 20)
    many = np.stack([random_pairs(8, seed) for seed in range(300)])
    winner, winner_at = hr.NewWinner(), hr.Robust(hr.kemeny, 0.05)
    out: dict[str, Task] = {
        f"read: {name}": (path(name), hr.read_votes)
        for name in ("orders.soi", "battles.csv", "voters.csv", "few-battles.csv", "scores.csv", "long.csv")
    }
    out |= {
        "read, pairs: battles": (path("battles.csv"), lambda file: hr.read_votes(file).pairwise()),
        "read, Bradley-Terry: battles": (path("battles.csv"), lambda file: hr.bradley_terry(hr.read_votes(file))),
        "votes: 100,000 x 20": (lambda: full, hr.Votes.from_ranks),
        "votes: 100,000 x 20, ties, unlisted": (lambda: partial, hr.Votes.from_ranks),
        "pairs: 100,000 x 20": (lambda: hr.Votes.from_ranks(full), lambda votes: votes.pairwise()),
        "pairs: 100,000 x 20, ties, observed": (
            lambda: hr.Votes.from_ranks(partial, unlisted="observed"), lambda votes: votes.pairwise()),
        "Kemeny: 20 items, Mallows": (mallows(20, 1000), hr.kemeny),
        "Kemeny: 100 items, Mallows": (mallows(100, 101, 0.9), hr.kemeny),
        "Kemeny: 12 items, uniform": (uniform(12, 101), hr.kemeny),
        "Kemeny: 30 items, uniform": (uniform(30, 101), hr.kemeny),
        "Kemeny: batch of 300, 8 items": (lambda: many, hr.kemeny_batch),
        "Borda: 1,000 x 100": (uniform(100, 1000), hr.borda),
        "Copeland: 1,000 x 100": (uniform(100, 1000), hr.copeland),
        "footrule: 1,000 x 100": (uniform(100, 1000), hr.footrule),
        "Bradley-Terry: 100 items, battles": (battles("battles.csv"), hr.bradley_terry),
        "Bradley-Terry: 1,000 x 100": (uniform(100, 1000), hr.bradley_terry),
        "breakdown: Kemeny, 9 items": (mallows(9, 101), lambda votes: hr.breakdown(votes, hr.kemeny)),
        "breakdown: Borda, 9 items": (mallows(9, 101), lambda votes: hr.breakdown(votes, hr.borda)),
        "breakdown: footrule, 6 items": (mallows(6, 51), lambda votes: hr.breakdown(votes, hr.footrule)),
        "breakdown: tiers, 6 items": (mallows(6, 101), lambda votes: hr.breakdown(votes, hr.Robust(hr.kemeny, 0.1))),
        "reach: Kemeny, 12 items": (mallows(12, 201), lambda votes: hr.reach(votes, hr.kemeny)),
        "attack: tiers, new winner": (mallows(8, 201), attack(winner_at, "replace", winner)),
        "attack: tiers, top set": (mallows(8, 201), attack(winner_at, "replace", hr.TopSet(3))),
        "attack: Kemeny, top set": (mallows(12, 201), attack(hr.kemeny, "replace", hr.TopSet(3))),
        "attack: Bradley-Terry, battles": (
            battles("few-battles.csv"), lambda votes: hr.attack(votes, hr.bradley_terry, winner, time_limit=5)),
        "bootstrap: Kemeny, 12 items": (mallows(12, 201), lambda votes: hr.bootstrap(votes, hr.kemeny, rng=1)),
        "bootstrap: Borda, 20 items": (mallows(20, 301), lambda votes: hr.bootstrap(votes, hr.borda, rng=1)),
        "bootstrap: Bradley-Terry": (
            battles("few-battles.csv"), lambda votes: hr.bootstrap(votes, hr.bradley_terry, draws=200, rng=1)),
        "trade-off: 6 items": (mallows(6, 201, 0.8), lambda votes: hr.tradeoff(votes, hr.kemeny)),
        "verify: Kemeny, 14 items": check(hr.kemeny, hr.kemeny, 14),
        "verify: breakdown, 5 items": check(hr.kemeny, lambda votes: hr.breakdown(votes, hr.kemeny), 5, 31),
        "report: a small file": (path("small.csv"), report),
    }  # fmt: skip
    for change in ("replace", "drop", "add"):
        out[f"attack: Kemeny, {change}"] = (mallows(12, 201), attack(hr.kemeny, change, winner))
        out[f"attack: Borda, {change}"] = (mallows(12, 201), attack(hr.borda, change, winner))
    for name in ("naive_merge", "downward_merge", "smith_merge", "merge_path"):
        out[f"merge: {name}, 100 items"] = merge(name, 100)
    return out


def write_files(folder: Path) -> None:
    """Write the files to be read: PrefLib, battles with and without voters, scores, and long scores."""
    import numpy as np
    from generated import write_battles, write_soi

    rng = np.random.default_rng(5)
    write_soi(folder / "orders.soi", 30_000)
    write_battles(folder / "battles.csv", 200_000)
    write_battles(folder / "few-battles.csv", 3_000, items=12)
    lines = (folder / "battles.csv").read_text(encoding="utf-8").splitlines()
    voters = rng.integers(5_000, size=len(lines)).tolist()
    named = [f"{line},u{voter}" for line, voter in zip(lines[1:], voters, strict=False)]
    (folder / "voters.csv").write_text("\n".join([f"{lines[0]},judge", *named]) + "\n", encoding="utf-8")
    scores = rng.integers(100, size=(500, 300)) / 100
    table = ["voter," + ",".join(f"m{j}" for j in range(300))]
    table += [f"t{i}," + ",".join(map(str, row)) for i, row in enumerate(scores.tolist())]
    (folder / "scores.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
    long = [f"v{i},m{j},{scores[i, j]}" for i in range(500) for j in range(100)]
    (folder / "long.csv").write_text("\n".join(["voter,item,score", *long]) + "\n", encoding="utf-8")
    ballots = np.argsort(rng.normal(size=(60, 8)) + np.arange(8) / 2, axis=1)
    rows = [",".join("ABCDEFGH"[j] for j in row) for row in ballots.tolist()]
    header = ",".join(f"rank{j}" for j in range(1, 9))
    (folder / "small.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")


def serve(name: str, folder: Path) -> None:
    """Run a task for every line on standard input; answer with CPU seconds for one run."""
    sys.path.append(str(Path(__file__).parent))  # last: names of benchmarks are names of packages too
    prepare, run = tasks(folder)[name]
    run(prepare())
    for _ in sys.stdin:
        spent, times, begun = 0.0, 0, _cpu()
        while spent < LEAST and _cpu() - begun < 4 * LEAST:  # with what it takes to prepare
            given, started = prepare(), _cpu()
            run(given)
            spent, times = spent + _cpu() - started, times + 1
        print(json.dumps(spent / times), flush=True)


def _cpu() -> float:
    children = os.times()
    return process_time() + children.children_user + children.children_system


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]))
