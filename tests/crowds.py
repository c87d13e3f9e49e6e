"""Voters of battles for tests: at random, and as votes. A voter is a list of battles, as in `voter_oracles`."""

import math

import numpy as np
import polars as pl

import holdrank as hr


def random_people(rng, *, tiny=False):
    """Few voters with few battles: even and uneven, with ties, sparse, an unbeaten item, and voters who vote alike."""
    n = 3 if tiny else int(rng.integers(3, 6))
    people = []
    kind = rng.choice(["even", "uneven", "sparse", "unbeaten"])
    strength = rng.normal(0, rng.choice([0.1, 0.7, 1.5]), n)
    met = [(i, j) for i in range(n) for j in range(i + 1, n) if kind != "sparse" or rng.random() < 0.6] or [(0, 1)]
    ties = rng.choice([0.0, 0.3])
    for _ in range(int(rng.integers(2, 5 if tiny else 9))):
        most = 2 if tiny else 12 if kind == "uneven" and rng.random() < 0.2 else 4
        battles = []
        for _ in range(int(rng.integers(1, most + 1))):
            i, j = met[int(rng.integers(len(met)))]
            if rng.random() < ties:
                battles.append(("tie", i, j))
            elif (kind == "unbeaten" and i == 0) or rng.random() < 1 / (1 + math.exp(strength[j] - strength[i])):
                battles.append(("win", i, j))
            else:
                battles.append(("win", j, i))
        people.append(battles)
    if rng.random() < 0.4:
        people.append(list(people[0]))
    return n, people


def frame_of(people):
    rows = [(f"i{i}", f"i{j}", "model_a" if kind == "win" else "tie", f"p{k}")
            for k, battles in enumerate(people) for kind, i, j in battles]  # fmt: skip
    return pl.DataFrame(rows, schema=["model_a", "model_b", "winner", "who"], orient="row")


def votes_of(n, people):
    """The votes, the items in their order; an item that nobody compared is there too."""
    votes = hr.Votes.from_battles(frame_of(people), voter="who")
    v, place = votes.voters, np.array([int(name[1:]) for name in votes.items])
    first, second = place[v.first], place[v.second]
    turned = first > second
    results = np.column_stack(
        (np.minimum(first, second), np.maximum(first, second), np.where(turned, -v.better, v.better))
    )
    again = hr.Voters.of(v.names, v.voter, results, v.weight)
    return hr.Votes.from_voters(again, [f"i{k}" for k in range(n)])
