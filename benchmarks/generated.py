"""The data that the benchmarks run on: always the same, made by seeded generators, never read from the network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED = 20250101

Ints = NDArray[Any]
Floats = NDArray[np.float64]


def complete_ranks(m: int, n: int, seed: int = SEED) -> Ints:
    """Uniform random complete ballots, one a row: 16-bit ranks from 1."""
    rng = np.random.default_rng(seed)
    return rng.permuted(np.tile(np.arange(1, n + 1, dtype=np.int16), (m, 1)), axis=1)


def incomplete_tied_ranks(m: int, n: int, seed: int = SEED) -> Ints:
    """Ballots with ties, a third of the items unlisted (rank 0)."""
    rng = np.random.default_rng(seed)
    ranks = rng.integers(1, n // 2 + 1, size=(m, n), dtype=np.int16)
    ranks[rng.random((m, n)) < 1 / 3] = 0
    return ranks


def bradley_terry(n: int, seed: int = SEED) -> Floats:
    """P of a Bradley-Terry model with normal strengths: all deviations differ."""
    strength = np.random.default_rng(seed).normal(size=n)
    return np.asarray(1 / (1 + np.exp(strength - strength[:, None])))


def counted(P: Floats, voters: int, seed: int = SEED) -> Floats:
    """P as seen by this many voters a pair: few voters, many equal deviations."""
    return mirrored(np.random.default_rng(seed).binomial(voters, P) / voters)


def random_pairs(n: int, seed: int = SEED) -> Floats:
    """P without any order behind it."""
    return mirrored(np.random.default_rng(seed).random((n, n)))


def mirrored(upper: Floats) -> Floats:
    """Make P[j, i] = 1 - P[i, j] from the part above the diagonal."""
    P = np.triu(upper, 1)
    P += np.tril(1 - P.T, -1)
    np.fill_diagonal(P, 0.5)
    return P


def write_soi(path: Path, lines: int, items: int = 12, shortest: int = 9, seed: int = SEED) -> None:
    """Write a PrefLib file of distinct incomplete strict orders with multiplicities."""
    rng = np.random.default_rng(seed)
    bodies: dict[str, int] = {}
    while len(bodies) < lines:
        order = rng.permutation(items)[: rng.integers(shortest, items + 1)] + 1
        bodies[",".join(map(str, order.tolist()))] = 1 + int(rng.geometric(0.3))
    header = {
        "FILE NAME": path.name,
        "TITLE": "generated",
        "DESCRIPTION": "",
        "DATA TYPE": "soi",
        "MODIFICATION TYPE": "synthetic",
        "RELATES TO": "",
        "RELATED FILES": "",
        "PUBLICATION DATE": "2025-01-01",
        "MODIFICATION DATE": "2025-01-01",
        "NUMBER ALTERNATIVES": items,
        "NUMBER VOTERS": sum(bodies.values()),
        "NUMBER UNIQUE ORDERS": len(bodies),
    } | {f"ALTERNATIVE NAME {k}": f"Item {k}" for k in range(1, items + 1)}
    text = [f"# {key}: {value}" for key, value in header.items()]
    text += [f"{count}: {body}" for body, count in sorted(bodies.items(), key=lambda line: -line[1])]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def write_battles(path: Path, rows: int, items: int = 100, seed: int = SEED) -> None:
    """Write a CSV of comparisons of two models: model_a, model_b, winner, and columns that do not matter."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=items)
    first = rng.integers(items, size=rows)
    second = (first + rng.integers(1, items, size=rows)) % items
    won = rng.random(rows) < 1 / (1 + np.exp(strength[second] - strength[first]))
    verdict = np.where(won, "model_a", "model_b").astype(object)
    draw = rng.random(rows)
    verdict[draw < 0.15] = "tie"
    verdict[draw < 0.05] = "tie (bothbad)"
    with path.open("w", encoding="utf-8") as file:
        file.write("question,model_a,model_b,winner,language\n")
        file.writelines(
            f"q{k:06d},model-{a},model-{b},{v},English\n"
            for k, (a, b, v) in enumerate(zip(first.tolist(), second.tolist(), verdict.tolist(), strict=True))
        )
