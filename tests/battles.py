"""Battles between few items for tests: at random, as votes, and goals for them."""

import math

import numpy as np

import holdrank as hr


def votes_of(won, tied):
    """Battles as votes: ballots over two items."""
    n = len(won)
    rows, weights = [], []
    for table, second in ((won, 2), (tied, 1)):
        for i, j in np.argwhere(np.array(table)).tolist():
            rows.append([1 if item == i else second if item == j else 0 for item in range(n)])
            weights.append(float(table[i][j]))
    return hr.Votes.from_ranks(rows, weights, [f"i{k}" for k in range(n)], unlisted="observed")


def random_battles(rng):
    """Few items: even and uneven, with ties, sparse, in components, with an item that wins all."""
    n = int(rng.integers(3, 6))
    total = int(rng.integers(4, 40))
    kind = rng.choice(["even", "uneven", "sparse", "parts", "unbeaten"])
    strength = rng.normal(0, rng.choice([0.1, 0.7, 1.5]), n)
    often = rng.random((n, n)) ** (3 if kind == "uneven" else 0.3)
    if kind == "sparse":
        often *= rng.random((n, n)) < 0.5
    if kind == "parts":
        half = np.arange(n) < n // 2
        often *= half[:, None] == half
    often = np.triu(often, 1)
    if not often.any():
        often[0, 1] = 1.0
    won, tied = np.zeros((n, n), dtype=int), np.zeros((n, n), dtype=int)
    ties = rng.choice([0.0, 0.3])
    for at in rng.choice(n * n, size=total, p=(often / often.sum()).ravel()).tolist():
        i, j = divmod(at, n)
        if rng.random() < ties:
            tied[i, j] += 1
        elif (kind == "unbeaten" and i == 0) or rng.random() < 1 / (1 + math.exp(strength[j] - strength[i])):
            won[i, j] += 1
        else:
            won[j, i] += 1
    return won, tied


def profiles(number, salt):
    """Battles at random that name every item, as votes too, with the numbers that go on."""
    for seed in range(number):
        rng = np.random.default_rng([seed, salt])
        won, tied = random_battles(rng)
        votes = votes_of(won, tied)
        if votes.n == len(won):
            yield rng, won, tied, votes


def arena(rng, n, battles, uneven):
    """Wins of an arena; in an uneven one a few items fight most battles."""
    strength = rng.normal(0, 0.7, n)
    popular = rng.pareto(uneven, n) + 0.05 if uneven else np.ones(n)
    often = np.triu(np.outer(popular, popular), 1)
    fought = rng.multinomial(battles, (often / often.sum()).ravel()).reshape(n, n)
    wins = rng.binomial(fought, 1 / (1 + np.exp(strength[None] - strength[:, None])))
    return np.triu(wins, 1) + np.triu(fought - wins, 1).T.astype(float)


def goals_for(order, rng):
    """Goals as the oracle and as the product name them."""
    n = len(order)
    b, a = (order[k] for k in sorted(rng.choice(n, 2, replace=False).tolist(), reverse=True))
    x, k = int(rng.integers(n)), int(rng.integers(1, n))
    m = int(rng.integers(1, n * (n - 1) // 2 + 1))
    return {
        ("above", b, a): hr.Above(f"i{b}", f"i{a}"),
        ("new winner",): hr.NewWinner(),
        ("wins", x): hr.Wins(f"i{x}"),
        ("top set", k): hr.TopSet(k),
        ("enters", x, k): hr.Enters(f"i{x}", k),
        ("leaves", x, k): hr.Leaves(f"i{x}", k),
        ("flips", m): hr.Distance(m / (n * (n - 1) / 2)),
    }
