"""Kemeny on rankings by few voters who agree little: twenty generated families of 110 to 250 items, two instances each.

``.venv/bin/python benchmarks/families.py [--limit SECONDS] [--only WORD] [--open]``; a full run takes up to forty
minutes. The families are made like rankings that real files have few of and many items in: indices of countries,
rankings of universities, tours and seasons of sports, lists by critics and search engines. Noise is set so that the
agreement of two voters, Kendall's tau over the items that both rank, is weak: 0.1 to 0.35, as in tours and seasons,
where indices often have more. (With 0.4 and more, the same families are solved in less than a second.) The printed
line says what it is.

The limit counts the CPU seconds of the process. Results are kept in ``results/families.json``; ``--open`` runs only
what is not proved there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
import numpy.typing as npt
from lolib import count_work

from holdrank import Mallows, Votes, kemeny, sample_votes
from holdrank.status import Status

Ranks = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
RESULTS = Path(__file__).parent / "results" / "families.json"


def ranked(scores: Scores) -> Ranks:
    """Return the ranks of each line, the highest score first; equal scores tie, and what is not a number has none."""
    rows = np.zeros(scores.shape, dtype=np.int64)
    for row, line in zip(rows, scores, strict=True):
        there = ~np.isnan(line)
        row[there] = np.unique(-line[there], return_inverse=True)[1] + 1
    return rows


def votes_of(scores: Scores, unlisted: str = "observed") -> Votes:
    """Return the votes of a table with one line per voter; items that nobody ranks are left out."""
    ranks = ranked(scores)
    return Votes.from_ranks(ranks[:, (ranks > 0).any(axis=0)], unlisted=unlisted)  # type: ignore[arg-type]


def hide(scores: Scores, hidden: npt.NDArray[np.bool_]) -> Scores:
    """Return the scores without the hidden ones."""
    return np.where(hidden, np.nan, scores)


def indices(rng: np.random.Generator, n: int, voters: int, *, factors: int, noise: float) -> Scores:
    """Return columns of an index: countries have a few factors, and columns weigh them differently and add noise."""
    hidden = rng.normal(size=(factors, n))
    weights = np.abs(rng.normal(0.4, 0.4, size=(voters, factors)))
    weights[:, 0] += 0.8
    return weights / np.linalg.norm(weights, axis=1)[:, None] @ hidden + rng.normal(0, noise, (voters, n))


def covered(rng: np.random.Generator, scores: Scores) -> Scores:
    """Return the same where each column covers 60 to 100 % of the items, known ones more often."""
    voters, n = scores.shape
    fame = rng.random(n) + 0.5 * rng.random((voters, n))
    share = rng.uniform(0.6, 1.0, voters)
    return hide(scores, np.argsort(np.argsort(-fame, axis=1), axis=1) >= share[:, None] * n)


def years(rng: np.random.Generator, n: int, voters: int, *, change: float, noise: float) -> Scores:
    """Return the same ranking year after year, while qualities change slowly and each year has its noise."""
    quality = rng.normal(size=n)
    rows = []
    for _ in range(voters):
        quality = np.sqrt(1 - change**2) * quality + change * rng.normal(size=n)
        rows.append(quality + rng.normal(0, noise, n))
    return np.array(rows)


def top_lists(rng: np.random.Generator, scores: Scores, least: float, most: float) -> Scores:
    """Return the best of each line alone: lists of different lengths."""
    voters, n = scores.shape
    kept = (rng.uniform(least, most, voters) * n).astype(int)
    return hide(scores, np.argsort(np.argsort(-scores, axis=1), axis=1) >= kept[:, None])


def tour(rng: np.random.Generator, n: int, stages: int, *, bunches: bool) -> Scores:
    """Return the stages of a tour: sprints, hills, mountains and time trials; riders give up one by one.

    In a sprint, places in the bunch are chance. With `bunches`, riders who arrive together share a place.
    """
    form = rng.normal(0, 0.5, n)
    skill = rng.normal(size=(3, n))  # in sprints, in mountains, alone
    kinds = rng.choice([[1.0, 0.0, 0.1], [0.4, 0.5, 0.1], [0.0, 1.2, 0.3], [0.1, 0.2, 1.2]], size=stages)
    scores = form + kinds @ skill + rng.normal(0, 0.9, (stages, n))
    if bunches:
        size = np.where(kinds[:, :1] >= 0.4, 0.8, 0.15)
        scores = np.round(scores / size) * size
    strength = form + 0.4 * skill.sum(axis=0)
    leaves = rng.geometric(1 / (2.2 * stages * (1 + 0.5 * (strength > 0))))
    return hide(scores, np.arange(1, stages + 1)[:, None] > leaves)


def season(rng: np.random.Generator, n: int, races: int, *, starts: float, finishes: float, noise: float) -> Scores:
    """Return the races of a season: each item starts in its share of them, good ones in more; not all finish."""
    quality = rng.normal(size=n)
    share = np.clip(rng.normal(starts, 0.25, n) + 0.1 * quality, 0.15, 1.0)
    scores = quality + rng.normal(0, noise, (races, n))
    return hide(scores, (rng.random((races, n)) > share) | (rng.random((races, n)) > finishes))


def mallows(rng: np.random.Generator, n: int, voters: int, phi: float) -> Scores:
    """Return rankings near one centre."""
    return -np.asarray(sample_votes(Mallows(list(range(n)), phi), voters, rng=rng).ranks, dtype=np.float64)


def luce(rng: np.random.Generator, n: int, voters: int, spread: float) -> Scores:
    """Return rankings by Plackett and Luce: log strengths with Gumbel noise."""
    return rng.normal(0, spread, n) + rng.gumbel(size=(voters, n))


def two_groups(rng: np.random.Generator, n: int, voters: int, *, shared: float, noise: float) -> Scores:
    """Return rankings by two groups of voters who share a part of their taste."""
    common, tastes = rng.normal(size=n), rng.normal(size=(2, n))
    group = (np.arange(voters) % 3 > 0).astype(int)  # one third and two thirds
    return shared * common + np.sqrt(1 - shared**2) * tastes[group] + rng.normal(0, noise, (voters, n))


def grades(rng: np.random.Generator, n: int, voters: int, levels: int, noise: float) -> Scores:
    """Return grades by judges of different strictness: many ties."""
    scores = rng.normal(size=n) + rng.normal(0, noise, (voters, n))
    borders = np.linspace(-1.5, 1.5, levels - 1) * rng.uniform(0.7, 1.3, (voters, 1)) + rng.normal(0, 0.3, (voters, 1))
    return (scores[:, :, None] > borders[:, None, :]).sum(axis=2).astype(np.float64)


def _rounded(scores: Scores, step: float) -> Scores:
    return np.round(scores / step) * step


Make = Callable[[np.random.Generator, int, int], Votes]
FAMILIES: dict[str, tuple[Make, tuple[int, int], int]] = {
    "country indices, one factor": (lambda r, n, v: votes_of(indices(r, n, v, factors=1, noise=1.6)), (130, 200), 17),
    "country indices, three factors": (
        lambda r, n, v: votes_of(indices(r, n, v, factors=3, noise=1.2)), (140, 220), 16),
    "country indices, rounded": (
        lambda r, n, v: votes_of(_rounded(indices(r, n, v, factors=2, noise=1.3), 0.25)), (120, 190), 18),
    "country indices, not all covered": (
        lambda r, n, v: votes_of(covered(r, indices(r, n, v, factors=2, noise=1.1))), (130, 200), 15),
    "country index over the years": (lambda r, n, v: votes_of(years(r, n, v, change=0.5, noise=0.8)), (150, 210), 20),
    "university rankings, top lists": (
        lambda r, n, v: votes_of(top_lists(r, indices(r, n, v, factors=2, noise=1.0), 0.4, 0.9), "bottom"),
        (150, 250), 15),
    "university rankings, as far as listed": (
        lambda r, n, v: votes_of(top_lists(r, indices(r, n, v, factors=2, noise=0.8), 0.5, 0.9)), (130, 190), 16),
    "cycling tour": (lambda r, n, v: votes_of(tour(r, n, v, bunches=False)), (140, 190), 20),
    "cycling tour, bunches tie": (lambda r, n, v: votes_of(tour(r, n, v, bunches=True)), (150, 200), 20),
    "season of motor races": (
        lambda r, n, v: votes_of(season(r, n, v, starts=0.5, finishes=0.75, noise=1.4)), (114, 150), 17),
    "season of ski races": (
        lambda r, n, v: votes_of(season(r, n, v, starts=0.7, finishes=0.85, noise=1.3)), (120, 180), 18),
    "season of marathons, few starts": (
        lambda r, n, v: votes_of(season(r, n, v, starts=0.4, finishes=0.95, noise=0.9)), (120, 170), 20),
    "weak Mallows": (lambda r, n, v: votes_of(mallows(r, n, v, 1 - 4.0 / n)), (130, 220), 17),
    "very weak Mallows": (lambda r, n, v: votes_of(mallows(r, n, v, 1 - 2.5 / n)), (110, 160), 20),
    "Plackett-Luce, weak spread": (lambda r, n, v: votes_of(luce(r, n, v, 0.7)), (110, 160), 19),
    "Plackett-Luce": (lambda r, n, v: votes_of(luce(r, n, v, 1.0)), (150, 230), 15),
    "two groups": (lambda r, n, v: votes_of(two_groups(r, n, v, shared=0.5, noise=1.1)), (120, 190), 18),
    "two groups, lists": (
        lambda r, n, v: votes_of(top_lists(r, two_groups(r, n, v, shared=0.7, noise=1.0), 0.4, 0.8), "bottom"),
        (130, 210), 20),
    "critics' grades, ten levels": (lambda r, n, v: votes_of(grades(r, n, v, 10, 1.4)), (120, 190), 16),
    "search engines, short lists": (
        lambda r, n, v: votes_of(top_lists(r, indices(r, n, v, factors=1, noise=0.9), 0.2, 0.45), "bottom"),
        (160, 250), 15),
}  # fmt: skip


def agreement(votes: Votes) -> float:
    """Return the mean of Kendall's tau between two voters, over the items that both rank."""
    ranks, found = np.asarray(votes.ranks, dtype=np.float64), []
    for a in range(len(ranks)):
        for b in range(a):
            both = (ranks[a] > 0) & (ranks[b] > 0)
            x, y = ranks[a][both], ranks[b][both]
            if len(x) > 1:
                same = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
                found.append(same.sum() / (len(x) * (len(x) - 1)))
    return float(np.mean(found))


def instance(name: str, number: int) -> Votes:
    """Return one of the two instances of a family."""
    make, sizes, voters = FAMILIES[name]
    seed = 1000 * list(FAMILIES).index(name) + number
    return make(np.random.default_rng(seed), sizes[number], voters)


def solve(votes: Votes, limit: float) -> dict[str, object]:
    """Solve one instance and return what is kept."""
    started = process_time()
    found = kemeny(votes, time_limit=limit)
    seconds = process_time() - started
    cost = found.loss * votes.pair_votes
    gap = (found.loss - found.bound) * votes.pair_votes
    return {
        "n": votes.n,
        "voters": len(votes.ranks),
        "agreement": round(agreement(votes), 3),
        "disagreements": round(cost, 1),
        "gap": round(gap, 1),
        "gap %": round(100 * gap / cost, 5),
        "proved": found.status is Status.PROVED,
        "seconds": round(seconds, 2),
        "limit": limit,
        "how": found.proof,
    }


def main() -> None:
    """Solve all instances and print a line each."""
    parser = argparse.ArgumentParser(description="Kemeny on few voters who agree little.")
    parser.add_argument("--only", action="append", help="families whose name has this word; may be repeated")
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds per instance")
    parser.add_argument("--open", action="store_true", help="only what is not proved in the kept results")
    given = parser.parse_args()
    count_work()
    kept: dict[str, dict[str, object]] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    print("| family | n | voters | agreement | CPU s | gap | gap % | |\n|---|---|---|---|---|---|---|---|")
    for name in FAMILIES:
        if given.only and not any(word in name for word in given.only):
            continue
        for number in range(2):
            key = f"{name} {number + 1}"
            if given.open and kept.get(key, {}).get("proved"):
                continue
            row = kept[key] = solve(instance(name, number), given.limit)
            shown = [str(row[field]) for field in ("n", "voters", "agreement", "seconds", "gap", "gap %")]
            print("| " + " | ".join([key, *shown, "proved" if row["proved"] else "open"]) + " |", flush=True)
            RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    proved = sum(bool(row["proved"]) for row in kept.values())
    print(f"{proved} of {len(kept)} proved ({proved / len(kept):.0%})")


if __name__ == "__main__":
    main()
