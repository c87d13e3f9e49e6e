"""What breakdown functions and attacks take: seconds, and how much of each curve is exact.

``.venv/bin/python benchmarks/breaking.py [--only WORD] [--limit SECONDS] [--out FILE]``, where parts of a run may go to
one file; a full run takes some forty
minutes on two cores. Each curve is computed once in this process, compiled loops loaded. The real votes are left out,
with a line that says so, where the folder of data is not beside the checkout.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"
RESULTS = HERE / "results" / "breaking.json"
sys.path.append(str(HERE.parent / "tests"))

import numpy as np  # noqa: E402
from bench_smooth import figure_4  # noqa: E402
from peers import machine  # noqa: E402

import holdrank as hr  # noqa: E402

from truth_profiles import load, profiles  # noqa: E402

Case = dict[str, Any]
THETAS = (0.02, 0.05, 0.1)


def mixture() -> hr.Votes:
    """5,000 ballots of ten items from two Mallows models with different centres."""
    rng = np.random.default_rng(20250101)
    parts = [hr.Mallows(rng.permutation(10).tolist(), 0.8) for _ in range(2)]
    return hr.sample_votes(hr.Mixture([(0.6, parts[0]), (0.4, parts[1])]), 5_000, rng=rng)


def random_votes(n: int) -> hr.Votes:
    return hr.sample_votes(hr.Mallows(list(range(n)), 0.7), 101, rng=1)


def cases() -> list[Case]:
    """List what is measured; `part` is what ``--only`` selects, together with the name."""
    out: list[Case] = [
        {"part": "small", "name": "Figure 4", "votes": figure_4, "limit": 60},
        {"part": "small", "name": "Mallows .7, 101 voters, n = 5", "votes": lambda: random_votes(5), "limit": 60},
    ]
    out += [
        {"part": "small", "name": "Figure 4", "votes": figure_4, "theta": theta, "rule": rule, "limit": 60}
        for theta in (0.02, 0.05, 0.1, 0.2)
        for rule in ("downward", "naive")
    ]
    out.append({"part": "middle", "name": "Mallows mixture, n = 10", "votes": mixture, "limit": None})
    if not (DATA / "truths.json").exists():
        print("real votes left out: the folder of data is not beside this checkout", file=sys.stderr)
        return out
    for _, profile in profiles(DATA):
        name, about = profile["set"], f"{profile['set']} {profile['file']}, {profile['unranked']}"
        case: Case = {"name": about, "votes": lambda profile=profile: load(profile, DATA)}
        if "selection" in profile or (name in ("starwars-survey", "debian") and profile["file"].endswith(".toc")):
            continue
        if name in ("dublin-west-2002", "tshirt", "glasgow-govan-2007"):
            out.append({**case, "part": "middle", "limit": None})
        if name in ("akali-skins", "skate-1998", "nasa-mariner"):
            out.append({**case, "part": "large", "limit": 100})
        if name in ("mturk-dots", "agh-2004", "starwars-survey", "debian"):
            out += [
                {**case, "part": "tiers", "theta": theta, "rule": rule, "limit": 58}
                for theta in THETAS
                for rule in ("downward", "naive")
            ]
        if name in ("dublin-west-2002", "tshirt"):
            out += [
                {**case, "part": "tiers", "theta": theta, "rule": rule, "limit": 58, "first": True}
                for theta in THETAS
                for rule in ("downward", "naive")
            ]
        if name in ("llmfao-crowd", "open-llm-leaderboard-2023", "wildbench"):
            out.append({**case, "part": "goals", "limit": 58})
    return out


def curve(case: Case, limit: float | None) -> Case:
    """Compute a breakdown function and return what is known of it."""
    votes = case["votes"]()
    T: Any = hr.Robust(hr.kemeny, case["theta"], merge=case["rule"]) if "theta" in case else hr.kemeny
    deltas = None
    if case.get("first"):
        deltas = [1 / (votes.n * (votes.n - 1) / 2)]
    started = perf_counter()
    b = hr.breakdown(votes, T, deltas, method="exact", time_limit=limit)
    seconds = perf_counter() - started
    with np.errstate(invalid="ignore"):
        gaps = np.where(b.exact, 0.0, (b.upper - b.lower) / b.upper)
    assert (b.lower <= b.upper).all()
    assert (b.lower[1:] >= b.lower[:-1]).all()  # of infinities there is no difference
    return {
        "seconds": round(seconds, 3),
        "items": votes.n,
        "distances": len(b.delta),
        "exact": int(b.exact.sum()),
        "exact from the first": int(np.argmin(b.exact)) if not b.exact.all() else len(b.delta),
        "first": [_finite(b.lower[0]), _finite(b.upper[0])],
        "gap at the first": round(float(gaps[0]), 4),
        "largest gap": round(float(gaps.max()), 4),
        "attacks": sum(attack is not None and attack.verified for attack in b.attacks),
        "out of reach": int(np.isinf(b.lower).sum()),
    }


def goals(case: Case, limit: float | None) -> Iterator[Case]:
    """Attack the winner, every adjacent pair and the top five."""
    votes = case["votes"]()
    order = [votes.items[bucket[0]] for bucket in hr.kemeny(votes).ranking.buckets]
    wanted: list[Any] = [hr.NewWinner(), hr.TopSet(5)]
    wanted += [hr.Above(below, above) for above, below in pairwise(order)]
    for goal in wanted:
        started = perf_counter()
        a = hr.attack(votes, hr.kemeny, goal, time_limit=limit)
        yield {
            "goal": type(goal).__name__,
            "seconds": round(perf_counter() - started, 3),
            "lower": _finite(a.lower),
            "upper": _finite(a.upper),
            "needed": _finite(a.votes_needed),
            "sufficient": _finite(a.votes_sufficient),
            "exact": a.exact,
            "verified": a.verified,
        }


def _finite(value: float) -> float | None:
    return round(float(value), 9) if np.isfinite(value) else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a part, or a word of a name")
    parser.add_argument("--limit", type=float, help="seconds for a curve or an attack, instead of the part's own")
    parser.add_argument("--out", type=Path, help="where results go; those of a full run go to results/ by themselves")
    options = parser.parse_args()
    random = random_votes(8)
    hr.breakdown(random)  # compiles, or loads what was compiled before
    results: list[Case] = []
    for case in cases():
        if options.only not in f"{case['part']} {case['name']}":
            continue
        limit = options.limit or case["limit"]
        about = {key: case[key] for key in ("part", "name", "theta", "rule") if key in case}
        for one in goals(case, limit) if case["part"] == "goals" else [curve(case, limit)]:
            results.append({**about, **one})
            print(*(f"{key} {value};" for key, value in results[-1].items()), flush=True)
    out = options.out or (None if options.only or options.limit else RESULTS)
    if out:
        if out.exists() and options.only:  # one part of a run in several parts
            names = {(one["part"], one["name"]) for one in results}
            old = json.loads(out.read_text(encoding="utf-8"))["results"]
            results = [one for one in old if (one["part"], one["name"]) not in names] + results
        about = {
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine(),
            "version": hr.__version__,
        }
        out.write_text(json.dumps({**about, "results": results}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
