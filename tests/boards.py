"""Leaderboards made up for audits: a clean one, and nine with one defect each."""

import numpy as np
import polars as pl

import holdrank as hr

DEFECTS = ("votes", "position", "ties", "cycles", "connection", "coverage", "people", "judge", "category")
LANGUAGES = ("en", "fr", "de", "es")


def board(defect=None, seed=0, *, items=10, battles=10_000, gap=0.35, ties=0.1, voters=500):
    """Battles of evenly spaced items as a data frame: who was shown first, who won, who voted, in which language.

    Each battle is between two items drawn at random, in random order, by a voter drawn at random.
    """
    rng = np.random.default_rng([seed, 22])
    battles = 300 if defect == "votes" else battles
    strength = gap * (items - 1 - np.arange(items, dtype=float))
    if defect == "judge":
        strength[5:] += 0.75 * gap  # items 4 and 5 are close
    weight = np.ones(items)
    if defect == "coverage":
        weight[-1] = 0.04
    first, second = pairs(rng, battles, weight)
    if defect == "connection":
        half = items // 2
        first, second = two_parts(rng, first, second, half, across=12)
        strength[:half] += 2.0
    voter = rng.integers(voters, size=battles)
    if defect == "people":
        busy = rng.random(battles) < 0.6
        voter[busy] = rng.integers(voters // 40, size=busy.sum())
    judge = np.zeros(battles, dtype=bool)
    if defect == "judge":
        judge = rng.random(battles) < 0.08
        voter[judge] = 0
    language = rng.choice(len(LANGUAGES), p=[0.4, 0.25, 0.2, 0.15], size=battles)
    lead = strength[first] - strength[second]
    if defect == "category":
        swapped = strength.copy()
        swapped[[2, 5]] = swapped[[5, 2]]
        lead = np.where(language == 1, swapped[first] - swapped[second], lead)
    if defect == "cycles":
        inner = (first < 3) & (second < 3)
        turn = np.where((second - first) % 3 == 1, 1.2, -1.2)
        lead = np.where(inner, turn, strength[np.maximum(first, 1)] - strength[np.maximum(second, 1)])
        lead = np.where(~inner & (first < 3), strength[1] - strength[second], lead)
        lead = np.where(~inner & (second < 3), strength[first] - strength[1], lead)
    if defect == "position":
        lead = lead + 0.3
    won = rng.random(battles) < 1 / (1 + np.exp(-lead))
    even = rng.random(battles) < np.where((defect == "ties") & ((first == 1) | (second == 1)), 0.7, ties)
    if defect == "judge":
        loud = judge & ((first == 5) | (second == 5))
        won, even = np.where(loud, first == 5, won), even & ~loud
    winner = np.where(even, "tie", np.where(won, "model_a", "model_b"))
    names = np.array([f"m{k}" for k in range(items)])
    return pl.DataFrame(
        {
            "model_a": names[first],
            "model_b": names[second],
            "winner": winner,
            "voter": [f"v{k}" for k in voter],
            "language": np.array(LANGUAGES)[language],
        }
    )


def pairs(rng, battles, weight):
    """Two different items for each battle, drawn by weight."""
    share = np.outer(weight, weight)
    np.fill_diagonal(share, 0.0)
    at = rng.choice(share.size, p=(share / share.sum()).ravel(), size=battles)
    return np.divmod(at, len(weight))


def two_parts(rng, first, second, half, across):
    """The same battles, but only so many of them between the items below `half` and the others."""
    other = np.flatnonzero((first < half) != (second < half))
    moved = other[across:]
    side = (rng.random(len(moved)) < 0.5) * half
    a = rng.integers(half, size=len(moved))
    b = (a + 1 + rng.integers(half - 1, size=len(moved))) % half
    first, second = first.copy(), second.copy()
    first[moved], second[moved] = a + side, b + side
    return first, second


def votes_of(frame):
    """The votes of a board, which know voters and languages."""
    return hr.read_votes(frame, voter="voter", by="language")


def rankings(seed=0, *, items=8, ballots=3000, gap=0.35, people=100):
    """Complete rankings by people on tasks, drawn from the model of Plackett and Luce, as a table of ranks."""
    rng = np.random.default_rng([seed, 23])
    values = gap * (items - np.arange(items)) + rng.gumbel(size=(ballots, items))
    ranks = (-values).argsort(axis=1).argsort(axis=1) + 1
    columns = {f"m{k}": ranks[:, k] for k in range(items)}
    columns["person"] = [f"p{k}" for k in rng.integers(people, size=ballots)]
    columns["task"] = np.array(["code", "maths", "law"])[rng.integers(3, size=ballots)]
    return pl.DataFrame(columns)


def votes_of_rankings(frame, **column):
    """The votes of such a table; `column` is ``voter="person"`` or ``by="task"``."""
    items = [name for name in frame.columns if name not in ("person", "task")]
    return hr.read_votes(frame, format="rank-columns", columns=items, **column)


def scores(seed=0, *, items=8, tasks=60, gap=1.2):
    """Scores of models by tasks, each with noise of its own and a few blanks."""
    rng = np.random.default_rng([seed, 24])
    table = gap * (items - np.arange(items)) + rng.normal(size=(tasks, items))
    table[rng.random(table.shape) < 0.05] = np.nan
    return hr.Votes.from_score_rows(table, items=[f"m{k}" for k in range(items)])


def uneven(seed=0):
    """Battles of an arena of any size: few items and voters are seen often, ties are rare or not, items close or not.

    Votes may be few, links thin and coverage uneven; nothing else is to be found.
    """
    rng = np.random.default_rng([seed, 25])
    items, battles = int(rng.integers(5, 40)), int(rng.choice([800, 4000, 20_000]))
    strength = rng.normal(0, rng.choice([0.1, 0.5, 1.2]), items)
    first, second = pairs(rng, battles, rng.pareto(1.5, items) + 0.1)
    won = rng.random(battles) < 1 / (1 + np.exp(strength[second] - strength[first]))
    even = rng.random(battles) < rng.choice([0.0, 0.1, 0.4])
    busy = rng.lognormal(0, 1.5, int(rng.choice([5, 60, 800])))
    voter = rng.choice(len(busy), p=busy / busy.sum(), size=battles)
    language = rng.choice(8, p=np.array([30, 10, 5, 3, 2, 1, 1, 1]) / 53, size=battles)
    names = np.array([f"m{k}" for k in range(items)])
    return pl.DataFrame(
        {
            "model_a": names[first],
            "model_b": names[second],
            "winner": np.where(even, "tie", np.where(won, "model_a", "model_b")),
            "voter": [f"v{k}" for k in voter],
            "language": [f"l{k}" for k in language],
        }
    )
