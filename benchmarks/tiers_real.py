"""Are attacks on tiers of real votes exact, and how soon? Every set of few items, both merges, three thresholds.

``.venv/bin/python benchmarks/tiers_real.py [--goal WORD] [--from ITEMS] [--to ITEMS] [--limit SECONDS] [--only WORD]``
prints every answer that is not exact (or, from 17 items on, not within a factor of 1.5), then how many are. With
``--cpu`` the limit and the times are seconds of work of this process: beside other work, that is what is fair.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"
sys.path.append(str(HERE.parent / "tests"))

import holdrank as hr  # noqa: E402

from truth_profiles import load, profiles  # noqa: E402

THETAS = (0.02, 0.05, 0.1)
CLOSE, FEW = 1.5, 16


def count_work() -> None:
    """Let time limits count only the time that this process works."""
    import holdrank.attacks.answers
    import holdrank.attacks.judge
    import holdrank.rules.solvers.highs
    import holdrank.status

    holdrank.status.monotonic = process_time
    holdrank.rules.solvers.highs.monotonic = process_time
    holdrank.attacks.judge.monotonic = process_time
    holdrank.attacks.answers.perf_counter = process_time


def last_above_first(votes: hr.Votes, T: hr.Robust) -> hr.Goal:
    """Return the goal that somebody of the second tier stands above somebody of the first."""
    buckets = T(votes).ranking.buckets
    return hr.Above(votes.items[buckets[min(1, len(buckets) - 1)][-1]], votes.items[buckets[0][0]])


GOALS: dict[str, Callable[[hr.Votes, hr.Robust], hr.Goal]] = {
    "first": lambda votes, T: hr.Distance(2 / (votes.n * (votes.n - 1))),  # noqa: ARG005
    "winner": lambda votes, T: hr.NewWinner(),  # noqa: ARG005
    "top": lambda votes, T: hr.TopSet(min(3, votes.n - 1)),  # noqa: ARG005
    "above": last_above_first,
}


def cases(few: int, many: int, only: str) -> Iterator[tuple[str, hr.Votes, hr.Robust]]:
    """Yield name, votes and tiers of all sets with so many items."""
    for _, profile in profiles(DATA):
        name = f"{profile['set']} {profile['file']}, {profile['unranked']}"
        if few <= profile["n_items"] <= many and only in name:
            name += " (complete)" if "selection" in profile else ""
            votes = load(profile, DATA)
            for merge in ("downward", "naive"):
                for theta in THETAS:
                    yield name, votes, hr.Robust(hr.kemeny, theta, merge=merge)


def main() -> None:
    """Ask all goals about all cases."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--goal", choices=[*GOALS, "all"], default="all")
    parser.add_argument("--from", dest="few", type=int, default=2)
    parser.add_argument("--to", dest="many", type=int, default=FEW)
    parser.add_argument("--limit", type=float, default=5.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--cpu", action="store_true")
    asked: Any = parser.parse_args()
    clock = process_time if asked.cpu else perf_counter
    if asked.cpu:
        count_work()
    for word in GOALS if asked.goal == "all" else (asked.goal,):
        done, good, slowest = 0, 0, 0.0
        for name, votes, T in cases(asked.few, asked.many, asked.only):
            goal = GOALS[word](votes, T)
            started = clock()
            try:
                a = hr.attack(votes, T, goal, time_limit=asked.limit)
            except hr.HoldrankError as error:
                print(f"{word} {name} {T.merge} {T.theta}: {error}", flush=True)
                continue
            took = clock() - started
            close = a.exact or (votes.n > FEW and a.upper <= CLOSE * a.lower)
            done, good, slowest = done + 1, good + close, max(slowest, took)
            if not close:
                print(
                    f"{word} {name}: {votes.n} items, {T.merge} {T.theta}, {took:.2f} s, "
                    f"{a.lower:.6f} to {a.upper:.6f}, {a.votes_needed:g} to {a.votes_sufficient:g} votes",
                    flush=True,
                )
        print(f"{word}: {good} of {done}, slowest {slowest:.2f} s", flush=True)


if __name__ == "__main__":
    main()
