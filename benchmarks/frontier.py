"""How far exact Kemeny goes: what is proved within a time limit, what gap is left, and what the largest sizes take.

``.venv/bin/python benchmarks/frontier.py [--only WORD] [--limit SECONDS] [--jobs N] [--out FILE]``; a full run takes a
quarter of an hour. Every case is a process of its own with one thread. holdrank is copied aside when the run starts.
The real votes are left out, with a line that says so, where the folder of data is not beside the checkout.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"
RESULTS = HERE / "results" / "kemeny_frontier.json"
sys.path.append(str(HERE.parent / "tests"))

import numpy as np  # noqa: E402
from peer_tasks import peak_memory  # noqa: E402
from peers import ONE_THREAD, fingerprint, machine, shown  # noqa: E402

import holdrank  # noqa: E402
from holdrank import Mallows, Uniform, Votes, kemeny, sample_votes  # noqa: E402

from truth_profiles import load, profiles  # noqa: E402

Case = dict[str, Any]


def cases(limit: float) -> list[Case]:
    """List what is measured; `part` is what ``--only`` selects."""
    out: list[Case] = [
        {"part": "uniform", "kind": "uniform", "voters": 100, "n": n, "seed": seed, "limit": limit}
        for n, seeds in ((60, 5), (70, 5), (80, 5), (90, 3), (100, 3))
        for seed in range(1, seeds + 1)
    ]
    out += [
        {"part": "mallows", "kind": "Mallows .8", "voters": 50, "n": n, "seed": 1, "limit": limit}
        for n in (100, 200, 400)
    ]
    out += [
        {"part": "short", "kind": "uniform", "voters": 100, "n": 80, "seed": seed, "limit": 1.0} for seed in (1, 2, 3)
    ]
    out += [
        {"part": "large", "kind": kind, "voters": voters, "n": n, "seed": 1, "limit": limit}
        for kind, voters in (("uniform", 100), ("Mallows .99", 50))
        for n in (1000, 2000, 5000)
    ]
    if not (DATA / "truths.json").exists():
        print("real votes left out: the folder of data is not beside this checkout", file=sys.stderr)
        return out
    out.append({"part": "real", "kind": "real, with known costs", "limit": limit})
    out += [
        {"part": "real", "kind": f"{p['set']}, {p['unranked']}", "n": p["n_items"], "profile": number, "limit": limit}
        for number, (_, p) in enumerate(profiles(DATA))
        if "kemeny" not in p
    ]
    return out


def generated(case: Case) -> Votes:
    rng = np.random.default_rng(case["seed"])
    n = case["n"]
    model = Uniform(n) if case["kind"] == "uniform" else Mallows(rng.permutation(n).tolist(), float(case["kind"][8:]))
    return sample_votes(model, case["voters"], rng=rng)


def measure(case: Case) -> Case:
    """Run one case in this process and return what came out."""
    for n in (16, 30, 520)[: 3 if case["part"] == "large" else 2]:  # compiles, or loads what is compiled
        kemeny(sample_votes(Uniform(n), 25, rng=n), time_limit=10)
    if case["part"] == "real" and "profile" not in case:
        return known_costs(case)
    votes = load(profiles(DATA)[case["profile"]][1], DATA) if "profile" in case else generated(case)
    return solve(votes, case["limit"])


def solve(votes: Votes, limit: float) -> Case:
    held = peak_memory(reset=True)
    cpu, started = process_time(), perf_counter()
    found = kemeny(votes, time_limit=limit)
    seconds, cpu = perf_counter() - started, process_time() - cpu
    unit = votes.total * max(votes.n * (votes.n - 1) / 2, 1)
    gap = (found.loss - found.bound) * unit
    return {
        "seconds": round(seconds, 4),
        "cpu": round(cpu, 4),
        "status": found.status.value,
        "proved": found.status is holdrank.Status.PROVED,
        "cost": round(found.loss * unit, 2),
        "gap": round(gap, 2),
        "gap_share": gap / max(found.loss * unit, 1),
        "unique": found.unique,
        "proof": found.proof,
        "memory": peak_memory() - held,
    }


def known_costs(case: Case) -> Case:
    """Solve every real profile whose least cost is known."""
    taken, wrong, open_ = {}, [], []
    for name, profile in profiles(DATA):
        if "kemeny" not in profile:
            continue
        found = solve(load(profile, DATA), case["limit"])
        taken[name] = found["seconds"]
        if abs(found["cost"] - profile["kemeny"]["cost"]) > 1e-6:
            wrong.append(name)
        if not found["proved"]:
            open_.append(name)
    longest = max(taken, key=lambda name: taken[name])
    return {
        "profiles": len(taken),
        "seconds": round(sum(taken.values()), 4),
        "proved": not open_,
        "open": open_,
        "other_costs": wrong,
        "longest": dict(sorted(taken.items(), key=lambda entry: -entry[1])[:6]),
        "proof": f"{len(taken)} profiles, {len(open_)} open, {len(wrong)} other costs; longest {longest}",
    }


def start(case: Case, source: Path, quiet: bool = False) -> Case:
    """Run a case in a process of its own, with the copied sources."""
    environment = os.environ | dict.fromkeys(ONE_THREAD, "1") | {"PYTHONPATH": str(source), "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--case", json.dumps(case)],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        result = {**case, "failed": last.partition(":")[0]}
    else:
        result = {**case, **json.loads(done.stdout.strip().splitlines()[-1])}
    if not quiet:
        print("  " + " | ".join(line(result)), file=sys.stderr, flush=True)
    return result


HEADER = ["votes", "n", "seed", "limit", "s", "CPU s", "proved", "gap", "gap %", "memory MB", "how"]


def line(row: Case) -> list[str]:
    votes = f"{row['kind']}, {row['voters']} voters" if "voters" in row else row["kind"]
    first = [votes, str(row.get("n", "")), str(row.get("seed", "")), f"{row['limit']:g}"]
    if "failed" in row:
        return [*first, "-", "-", "-", "-", "-", "-", f"fails: {row['failed']}"]
    gap = [f"{row['gap']:,g}", f"{100 * row['gap_share']:.3g}"] if "gap" in row else ["", ""]
    memory = f"{row['memory'] / 1e6:,.0f}" if "memory" in row else ""
    seconds = [shown(row["seconds"]), shown(row.get("cpu"))]
    return [*first, *seconds, "yes" if row["proved"] else "no", *gap, memory, row["proof"]]


def table(rows: list[Case]) -> str:
    lines = [HEADER, *map(line, rows)]
    widths = [max(len(cells[k]) for cells in lines) for k in range(len(HEADER))]
    text = ["| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) + " |" for cells in lines]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description="How far exact Kemeny goes.")
    parser.add_argument("--only", action="append", help="uniform, mallows, short, large or real; may be repeated")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a case")
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time, on cores that are otherwise idle")
    parser.add_argument("--out", type=Path, help="where to write the results (default: a full run's own place)")
    parser.add_argument("--note", help="what is special about this run, kept with the results")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print("\n" + json.dumps(measure(json.loads(arguments.case))))
        return
    chosen = [case for case in cases(arguments.limit) if not arguments.only or case["part"] in arguments.only]
    with tempfile.TemporaryDirectory(prefix="holdrank-frontier-") as folder:
        source = Path(folder) / "source"
        package = Path(holdrank.__file__).parent
        shutil.copytree(package, source / "holdrank", ignore=shutil.ignore_patterns("__pycache__"))
        hash_ = fingerprint(source / "holdrank")
        start(
            {"part": "uniform", "kind": "uniform", "voters": 100, "n": 60, "seed": 0, "limit": 60.0}, source, quiet=True
        )
        with ThreadPoolExecutor(arguments.jobs) as pool:
            rows = list(pool.map(lambda case: start(case, source), chosen))
    print(table(rows))
    print(f"holdrank sources {hash_}")
    out = arguments.out or (None if arguments.only else RESULTS)
    if out:
        content = {
            "date": datetime.now(UTC).date().isoformat(),
            "machine": machine(),
            "seconds": "by the clock, one thread; memory in bytes beyond the ballots",
            "cases_at_a_time": arguments.jobs,
            "holdrank_sources": hash_,
            "note": arguments.note or "",
            "rows": rows,
        }
        out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
