"""Kemeny on components of more than 510 items: the gap that is left, with and without a time limit.

``.venv/bin/python benchmarks/large.py [--limit SECONDS] [--only WORD]``; a full run takes a quarter of an hour.
The votes are generated like real ones with few voters who agree in part. The limit counts the CPU seconds of this
process, so that other work on the machine does not matter; ``--limit 0`` is no limit.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Callable
from time import process_time

import numpy as np

from holdrank import Mallows, Votes, kemeny, sample_votes, status


def noisy(n: int, voters: int, noise: float, seed: int) -> Votes:
    """Return rankings by evenly spaced qualities from 0 to 1, to which each voter adds normal noise."""
    rng = np.random.default_rng(seed)
    return Votes.from_ranks(
        np.array([np.argsort(np.argsort(np.arange(n) / n + rng.normal(0, noise, n))) + 1 for _ in range(voters)])
    )


def mixture(n: int, voters: int, phi: float, centres: int, seed: int) -> Votes:
    """Return rankings near one of several centres, which lie near each other."""
    rng = np.random.default_rng(seed)
    base = rng.permutation(n)
    around = [base]
    around += [np.argsort(np.argsort(np.argsort(base) + rng.normal(0, n * 0.15, n))) for _ in range(centres - 1)]
    rows = [sample_votes(Mallows(around[k % centres].tolist(), phi), 1, rng=rng).ranks[0] for k in range(voters)]
    return Votes.from_ranks(np.array(rows))


def truncated(n: int, voters: int, noise: float, keep: float, seed: int) -> Votes:
    """Return lists of the best items, of different lengths; items that are not listed stand at the bottom."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(voters):
        ranks = np.argsort(np.argsort(np.arange(n) / n + rng.normal(0, noise, n))) + 1
        ranks[ranks > int(keep * n * rng.uniform(0.5, 1.5))] = 0
        rows.append(ranks)
    listed = np.array(rows)
    return Votes.from_ranks(listed[:, (listed > 0).any(axis=0)], unlisted="bottom")


def indices(n: int, voters: int, seed: int) -> Votes:
    """Return rankings by indices that weigh the same two factors differently, rounded, so with ties."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, 2))
    rows = []
    for _ in range(voters):
        weights = rng.normal(size=2) * 0.3 + [1, 0.5]
        scores = np.round((factors @ weights + rng.normal(0, 0.3, n)) * 20) / 20
        rows.append(np.searchsorted(np.unique(-scores), -scores) + 1)
    return Votes.from_ranks(np.array(rows))


def season(n: int, races: int, seed: int) -> Votes:
    """Return races of a season, in which seven of ten start; a race says nothing of the others."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    rows = []
    for _ in range(races):
        ranks = np.argsort(np.argsort(-(quality + rng.normal(0, 0.8, n)))) + 1
        ranks[rng.random(n) > 0.7] = 0
        rows.append(ranks)
    found = np.array(rows)
    return Votes.from_ranks(found[:, (found > 0).any(axis=0)], unlisted="observed")


CASES: dict[str, Callable[[], Votes]] = {
    "strong agreement, 9 voters, 1,200": lambda: noisy(1200, 9, 0.02, 4),
    "strong agreement, 12 voters, 2,000": lambda: noisy(2000, 12, 0.01, 4),
    "indices with ties, 10 voters, 700": lambda: indices(700, 10, 1),
    "indices with ties, 6 voters, 1,600": lambda: indices(1600, 6, 1),
    "truncated lists, 8 voters, 643": lambda: truncated(900, 8, 0.2, 0.4, 1),
    "truncated lists, 5 voters, 1,252": lambda: truncated(2000, 5, 0.2, 0.3, 1),
    "noise 0.1, 12 voters, 2,300": lambda: noisy(2300, 12, 0.1, 3),
    "noise 0.15, 4 voters, 1,000": lambda: noisy(1000, 4, 0.15, 2),
    "noise 0.2, 7 voters, 2,000": lambda: noisy(2000, 7, 0.2, 3),
    "noise 0.3, 5 voters, 600": lambda: noisy(600, 5, 0.3, 1),
    "mixture, 6 voters, 800": lambda: mixture(800, 6, 0.99, 2, 1),
    "mixture, 10 voters, 1,500": lambda: mixture(1500, 10, 0.995, 3, 1),
    "season, 12 races, 800": lambda: season(800, 12, 1),
    "season, 8 races, 2,000": lambda: season(2000, 8, 2),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Kemeny on large components.")
    parser.add_argument("--only", action="append", help="cases whose name has this word; may be repeated")
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds a case; 0 is no limit")
    arguments = parser.parse_args()
    status.monotonic = process_time  # type: ignore[attr-defined]
    print("| votes | CPU s | disagreements | gap | gap % | MB so far | status |\n|---|---|---|---|---|---|---|")
    for name, make in CASES.items():
        if arguments.only and not any(word in name for word in arguments.only):
            continue
        votes = make()
        started = process_time()
        found = kemeny(votes, time_limit=arguments.limit or None)
        seconds = process_time() - started
        cost, gap = found.loss * votes.pair_votes, (found.loss - found.bound) * votes.pair_votes
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        row = (name, f"{seconds:.1f}", f"{cost:,.1f}", f"{gap:,.1f}", f"{100 * gap / cost:.4f}", f"{memory:.0f}")
        print("| " + " | ".join((*row, found.status.in_brief)) + " |", flush=True)


if __name__ == "__main__":
    main()
