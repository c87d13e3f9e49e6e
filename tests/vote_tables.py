"""Tables of votes with all that is odd about them, and how they are written to files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


MODELS = [f"model {k}" for k in range(7)] + ["Model 1", 'odd "name", with comma', "NA", "é\u00a0x"]
VERDICTS = ["model_a", "model_b", "tie", "tie (bothbad)", " Tie ", "model_b", "model_a"]


def write(folder: Path, kind: str, header: list[str], table: list[list[object]], name: str = "votes") -> Path:
    """Write rows as CSV, JSON Lines or Parquet; None is a missing cell."""
    path = folder / f"{name}.{kind}"
    if kind == "parquet":
        columns = [list(column) for column in zip(*table, strict=True)]
        pq.write_table(pa.table(dict(zip(header, columns, strict=True))), path, row_group_size=13)
    elif kind == "jsonl":
        rows_ = ({k: v for k, v in zip(header, row, strict=True) if v is not None} for row in table)
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows_), encoding="utf-8")
    else:
        cells = (["" if cell is None else str(cell) for cell in row] for row in [header, *table])
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(cells)
    return path


def battles(count: int, seed: int = 1, weights: bool = False) -> tuple[list[str], list[list[object]]]:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(len(MODELS), size=(2, count))  # an item may meet itself
    table = [[k, MODELS[a], MODELS[b], VERDICTS[v]]
             for k, (a, b, v) in enumerate(zip(first, second, rng.integers(7, size=count), strict=True))]  # fmt: skip
    if weights:
        return ["id", "model_a", "model_b", "winner", "weight"], [
            [*row, float(w)] for row, w in zip(table, rng.choice([0, 0.1, 0.25, 3], size=count), strict=True)
        ]
    return ["id", "model_a", "model_b", "winner"], table


def positions(count: int, seed: int = 2) -> tuple[list[str], list[list[object]]]:
    rng = np.random.default_rng(seed)
    names = ["ann", "bob", "cid", "dee", "Ann", "'NA"]
    tokens = [None, "undervote", " ", "overvote"]
    table: list[list[object]] = []
    for _ in range(count):
        row = [names[k] for k in rng.choice(5, size=3)]  # repeats are likely
        for place in range(3):
            if rng.random() < 0.3:
                row[place] = tokens[rng.integers(4)]
        table.append([*row, int(rng.integers(100))])
    return ["rank1", "rank2", "rank3", "precinct"], [*table, ["'NA", None, None, 7]]


def rank_rows(count: int, seed: int = 3, weights: bool = False) -> tuple[list[str], list[list[object]]]:
    rng = np.random.default_rng(seed)
    table: list[list[object]] = []
    for row in range(count):
        order: list[object] = (rng.permutation(4) + 1).tolist()
        if row % 5 == 0:
            order = [None if int(rank) > 2 else rank for rank in order]  # type: ignore[call-overload]
        if row % 17 == 3:
            order = [None] * 4
        if row % 13 == 5:
            order = [1, 1, 3, 3]
        if row % 19 == 7:
            order = [1, 1, 1, 1]
        table.append([f"v{row}", *order, *([int(rng.integers(3))] if weights else [])])
    return ["voter", "w", "x", "y", "z", *(["count"] if weights else [])], table


def score_rows(count: int, seed: int = 4) -> tuple[list[str], list[list[object]]]:
    rng = np.random.default_rng(seed)
    table = [[None if rng.random() < 0.1 else float(rng.integers(9)) / 4 for _ in range(3)] for _ in range(count)]
    return ["p", "q", "r"], table  # type: ignore[return-value]


def multi_way(count: int, seed: int = 6) -> tuple[list[str], list[list[object]]]:
    rng = np.random.default_rng(seed)
    table: list[list[object]] = []
    for _ in range(count):
        ids = rng.choice(5, size=3).tolist()
        ranks = [None if rng.random() < 0.1 else int(rank) for rank in rng.integers(1, 4, size=3)]
        table.append([*(f"s{k}" for k in ids), *ranks])
    return [*(f"system{k}Id" for k in (1, 2, 3)), *(f"system{k}rank" for k in (1, 2, 3))], table
