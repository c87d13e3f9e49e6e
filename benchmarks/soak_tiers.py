"""Do attacks on tiers agree with brute force? Random votes of a few items, families that are prone to mistakes.

``.venv/bin/python benchmarks/soak_tiers.py [SECONDS] [SEED]`` tries every change of a few whole ballots, by
``tests/oracles.py``, and prints every bound that it beats, then how many goals were compared. Seconds are of work of
this process.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "tests"))

import holdrank as hr  # noqa: E402
from holdrank.attacks.plans import adds_battles  # noqa: E402

import oracles  # noqa: E402

FAMILIES = ("strict", "ties", "bottom", "observed", "battles", "alike", "cycle", "even", "on the margin", "shares")
MOST = {3: 3, 4: 2, 5: 1}  # ballots changed, by items


def a_profile(rng: np.random.Generator, family: str, n: int) -> hr.Votes:
    """Return a few ballots over the items 0 to n - 1."""
    rows: list[Any] = []
    order = rng.permutation(n) + 1
    for number in range(int(rng.integers(2, 8))):
        ranks = rng.permutation(n) + 1
        if family == "ties":
            ranks = rng.integers(1, n + 1, size=n)
        elif family == "battles":
            ranks = np.zeros(n, dtype=int)
            ranks[rng.choice(n, 2, replace=False)] = [1, 1 if rng.random() < 0.2 else 2]
        elif family == "cycle":
            ranks = (order + number) % n + 1
        elif family == "even":
            ranks = order if number % 2 else n + 1 - order
        elif family == "alike" and rng.random() < 0.7:
            ranks = order
        elif family in ("bottom", "observed"):
            ranks = ranks * (rng.random(n) < 0.7)
        rows.append(ranks if ranks.any() else rng.permutation(n) + 1)
    if family == "even":
        rows.append(rng.permutation(n) + 1)
    weights = rng.integers(1, 5 if family == "alike" else 3, size=len(rows))
    unlisted = "observed" if family in ("observed", "battles") else "bottom"
    return hr.Votes.from_ranks(np.array(rows), weights, [str(item) for item in range(n)], unlisted=unlisted)


def goals_of(n: int, rng: np.random.Generator) -> dict[tuple[Any, ...], hr.Goal]:
    """Return goals as brute force names them, and as the package does."""
    x, y = (int(i) for i in rng.choice(n, 2, replace=False))
    k, pairs = int(rng.integers(1, n)), n * (n - 1) // 2
    goals: dict[tuple[Any, ...], hr.Goal] = {("distance", d): hr.Distance(d / pairs) for d in (1, 2, pairs)}
    goals |= {("new winner",): hr.NewWinner(), ("wins", x): hr.Wins(str(x)), ("above", x, y): hr.Above(str(x), str(y))}
    return goals | {("top set", k): hr.TopSet(k), ("enters", x, k): hr.Enters(str(x), k),
                    ("leaves", x, k): hr.Leaves(str(x), k)}  # fmt: skip


def compare(rng: np.random.Generator, counted: Counter[str]) -> None:
    """Compare all goals on one profile; print where brute force does with less than the package says."""
    family, n = str(rng.choice(FAMILIES)), int(rng.choice([3, 3, 4, 4, 5]))
    votes = a_profile(rng, family, n)
    base, merge = (hr.kemeny, hr.kemeny, hr.borda)[int(rng.integers(3))], ("downward", "naive")[int(rng.integers(2))]
    theta = float(rng.choice([0.0, 0.03, 0.05, 0.1, 0.2]))
    if family == "on the margin":
        theta = min(float(rng.choice(np.abs(votes.pairwise() - 0.5)[~np.eye(n, dtype=bool)])), 0.4)
    change = hr.Change(("replace", "drop", "add")[int(rng.integers(3))])
    T = hr.Robust(base, theta, merge=merge)
    ballots, weights = [tuple(row) for row in votes.ranks.tolist()], [int(w) for w in votes.weights]
    asked = votes
    if family == "shares":
        asked = hr.Votes.from_ranks(votes.ranks, votes.weights / (3 * votes.total), votes.items)
    before = T(asked).ranking
    goals = goals_of(n, rng)
    least = oracles.fewest_ballots(
        ballots, weights, votes.unlisted, change, (base.__name__, theta, merge), tuple(before.ranks.tolist()),
        list(goals), MOST[n], battles=adds_battles(votes),
    )  # fmt: skip
    for name, goal in goals.items():
        weak, _ = least[name]  # of tiers, the package runs its own tie rule: with it, one optimum is enough
        found = hr.attack(asked, T, goal, change=change, time_limit=2.0)
        wrong = weak is not None and found.lower * votes.total > weak + 1e-9
        wrong |= found.verified and not hr.fulfils(asked, T, found.votes, goal)
        if asked.is_counts:
            wrong |= weak is not None and found.votes_needed > weak
            wrong |= found.votes_sufficient < (MOST[n] + 1 if weak is None else weak)
        counted[family] += 1
        counted["put to the test"] += weak is not None and weak > 0
        counted["exact"] += found.exact
        if wrong:
            counted["DISAGREE"] += 1
            print("DISAGREE", family, votes.ranks.tolist(), weights, T, change, name, found.lower, found.upper,
                  found.votes_needed, found.votes_sufficient, weak, flush=True)  # fmt: skip


def main(seconds: float = 60.0, seed: int = 21) -> int:
    """Return how many goals brute force and the package disagree about."""
    rng = np.random.default_rng(seed)
    counted: Counter[str] = Counter()
    profiles = 0
    told = 0.0
    while (spent := process_time()) < seconds:
        compare(rng, counted)
        profiles += 1
        if spent > told + 60:
            told = spent
            print(f"{spent:.0f} s of work, {profiles} profiles: {dict(counted)}", flush=True)
    print(f"{process_time():.0f} s of work, {profiles} profiles, {counted['DISAGREE']} disagreements: {dict(counted)}")
    return counted["DISAGREE"]


if __name__ == "__main__":
    main(*(float(word) for word in sys.argv[1:2]), *(int(word) for word in sys.argv[2:3]))
