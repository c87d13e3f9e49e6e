"""The public record board of the linear ordering problem, LOLIB: what is proved, the gap of the rest, the values.

Run it with the folder of matrices, one folder per set: ``make lolib LOLIB=folder SECONDS=60``, or one set alone with
``python benchmarks/lolib.py folder --sets SGB``. Results are kept in ``results/lolib.json``; a matrix that is proved
there with at most the same limit is not run again unless ``--again`` is given. ``--open`` skips those that were tried
with this limit before, proved or not.

The limit counts CPU seconds of the process that solves a matrix, all its threads together, so that other work on the
machine does not matter. HiGHS alone stops by the clock on the wall: where a single solve is still under way when that
is over, it ends early, never late.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np

import holdrank as hr
from holdrank import status
from holdrank.rules.kemeny.parts import order_cost
from holdrank.rules.solvers import highs
from holdrank.status import Status

RESULTS = Path(__file__).parent / "results" / "lolib.json"
# Sums above the diagonal that are published, of matrices whose values others quote.
BEST_KNOWN = {"t65l11xx": 16719, "tiw56n54": 91554, "p50-09": 43711, "atp111": 1495, "atp163": 2073}


def count_work() -> None:
    """Let time limits count the CPU seconds of this process."""
    status.monotonic = highs.monotonic = process_time  # type: ignore[attr-defined]


def solve(path: Path, seconds: float) -> dict[str, object]:
    """Solve one matrix; the value is the sum above the diagonal, which Kemeny's order makes largest."""
    votes = hr.read_votes(path)
    wins = votes.wins()
    started = process_time()
    found = hr.kemeny(votes, time_limit=seconds)
    spent = process_time() - started
    order = np.array(found.ranking.order)
    value = order_cost(wins, order)
    # The loss is what lies below the diagonal, in another unit.
    below = wins.sum() - np.trace(wins) - value
    gap = (1 - found.bound / found.loss) * below / value if found.loss else 0.0
    return {
        "n": votes.n,
        "value": round(value),
        "gap": 0.0 if found.status is Status.PROVED else float(gap),
        "proved": found.status is Status.PROVED,
        "seconds": round(spent, 2),
        "limit": seconds,
        "how": found.proof,
    }


def main() -> None:
    """Run all sets, or those named, and print one line each with a line for every matrix that is not proved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--every", type=int, default=1, help="only every so many matrices of a set")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="matrices by name")
    parser.add_argument("--again", action="store_true", help="also those that are proved")
    parser.add_argument("--open", action="store_true", help="none that was tried with this limit")
    given = parser.parse_args()
    if not given.folder.is_dir():
        raise SystemExit(
            f"There is no folder {given.folder.name}. Fix: name the folder of matrices, with one folder per set."
        )
    kept: dict[str, dict[str, dict[str, object]]] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with ProcessPoolExecutor(given.jobs, initializer=count_work) as pool:
        for folder in sorted(path for path in given.folder.iterdir() if path.is_dir()):
            if given.sets and folder.name not in given.sets:
                continue
            paths = [
                path for path in sorted(folder.iterdir())[:: given.every] if not given.only or path.name in given.only
            ]
            known = kept.setdefault(folder.name, {})
            todo = [
                path for path in paths if given.again or not _is_done(known.get(path.name), given.seconds, given.open)
            ]
            for path, row in zip(todo, pool.map(partial(solve, seconds=given.seconds), todo), strict=True):
                known[path.name] = row
                RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
            rows = {path.name: known[path.name] for path in paths}
            print(f"{folder.name}: {sum(bool(row['proved']) for row in rows.values())} of {len(rows)} proved")
            for name, row in rows.items():
                best = BEST_KNOWN.get(name)
                below = f", best known {best}" if best is not None and best > int(str(row["value"])) else ""
                if not row["proved"] or below:
                    print(f"  {name:<12} n = {row['n']:>3}  value {row['value']}{below}  gap {row['gap']:.3%}")


def _is_done(row: dict[str, object] | None, seconds: float, tried: bool) -> bool:
    """Whether a matrix was proved within this limit, or also tried with it."""
    if row is None:
        return False
    limit = float(str(row["limit"]))
    return (bool(row["proved"]) and limit <= seconds) or (tried and limit == seconds)


if __name__ == "__main__":
    main()
