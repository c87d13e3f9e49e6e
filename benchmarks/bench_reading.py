"""Reading files of votes, from bytes on disk (in the page cache) to `Votes` and to the pairwise matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from generated import write_battles, write_soi

from holdrank import read_votes


@pytest.fixture(scope="module")
def soi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reading") / "generated.soi"
    write_soi(path, 30_000)
    return path


@pytest.fixture(scope="module")
def battles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reading") / "battles.csv"
    write_battles(path, 200_000)
    return path


def test_reading_30_000_lines_of_soi(benchmark: Any, soi: Path) -> None:
    votes = benchmark.pedantic(read_votes, args=(soi,), rounds=5, warmup_rounds=1)
    assert votes.distinct > 29_000  # a ballot that leaves out one item stays apart from the one that names it last


def test_soi_to_pairwise(benchmark: Any, soi: Path) -> None:
    P = benchmark.pedantic(lambda: read_votes(soi).pairwise(), rounds=5, warmup_rounds=1)
    assert P.shape == (12, 12)


def test_reading_200_000_battles(benchmark: Any, battles: Path) -> None:
    votes = benchmark.pedantic(read_votes, args=(battles,), rounds=3, warmup_rounds=1)
    assert votes.n == 100
    assert votes.total == 200_000


def test_battles_to_pairwise(benchmark: Any, battles: Path) -> None:
    P = benchmark.pedantic(lambda: read_votes(battles).pairwise(), rounds=3, warmup_rounds=1)
    assert P.shape == (100, 100)
