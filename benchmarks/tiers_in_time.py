"""Do tiers get a worse answer with more time? Random votes, limits of 0.1, 0.3, 1 and 3 seconds.

``.venv/bin/python benchmarks/tiers_in_time.py [PROFILES] [--cpu]`` prints every answer that got worse, then
how many did. With ``--cpu`` limits are seconds of work of this process.
"""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
from tiers_real import count_work

import holdrank as hr

LIMITS = (0.1, 0.3, 1.0, 3.0)


def random_case(rng: np.random.Generator) -> tuple[hr.Votes, hr.Robust, hr.Goal]:
    """Return votes that lean towards one ranking, tiers and a goal."""
    n, m = int(rng.integers(4, 13)), int(rng.choice([9, 30, 101, 400]))
    utilities = np.linspace(0, rng.uniform(0.5, 3), n)
    ranks = np.argsort(np.argsort(utilities + rng.gumbel(size=(m, n)), axis=1), axis=1) + 1
    if rng.random() < 0.3:
        ranks = np.where(ranks <= n // 2 + 1, ranks, 0)
    votes = hr.Votes.from_ranks(ranks)
    merge = ("downward", "naive")[int(rng.integers(2))]
    goals: list[hr.Goal] = [hr.NewWinner(), hr.TopSet(2), hr.Distance(2 / (n * (n - 1)))]
    return votes, hr.Robust(hr.kemeny, float(rng.uniform(0, 0.15)), merge=merge), goals[int(rng.integers(3))]


def worse(first: hr.Attack, second: hr.Attack) -> bool:
    """Whether an interval reaches beyond another one, in shares or in whole votes."""
    shares = second.lower < first.lower - 1e-9 or second.upper > first.upper + 1e-6
    return shares or second.votes_needed < first.votes_needed or second.votes_sufficient > first.votes_sufficient


def main(profiles: int = 200) -> int:
    """Return how many answers got worse with more time."""
    rng = np.random.default_rng(21)
    hr.kemeny(random_case(np.random.default_rng(0))[0])  # what is compiled is compiled
    bad = 0
    for number in range(profiles):
        votes, T, goal = random_case(rng)
        found = [hr.attack(votes, T, goal, time_limit=limit) for limit in LIMITS]
        for (a, first), (b, second) in pairwise(zip(LIMITS, found, strict=True)):
            if worse(first, second):
                bad += 1
                print(number, votes.n, votes.total, T, goal, f"{a} s: {first.lower:.6f} to {first.upper:.6f}",
                      f"{b} s: {second.lower:.6f} to {second.upper:.6f}", flush=True)  # fmt: skip
    print(f"{bad} of {profiles * (len(LIMITS) - 1)} answers got worse with more time")
    return bad


if __name__ == "__main__":
    if "--cpu" in sys.argv:
        count_work()
    main(*map(int, [word for word in sys.argv[1:] if word != "--cpu"]))
