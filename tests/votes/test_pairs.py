"""Pair counts: they add up, take the place of votes, and survive being saved; hostile files of them are refused."""

from __future__ import annotations

import json
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

import holdrank as hr
from holdrank.files import read_votes
from holdrank.votes.pairs import PairCounts

from vote_tables import battles, positions, write

pytest.importorskip("duckdb")


def ballots(seed: int, unlisted: str = "bottom", items: str = "abcde") -> hr.Votes:
    """Ballots over some of the items, so that parts know different ones."""
    rng = np.random.default_rng(seed)
    known = rng.permutation(list(items))[: rng.integers(2, len(items) + 1)]
    orders = [rng.permutation(known)[: rng.integers(1, len(known) + 1)].tolist() for _ in range(6)]
    return hr.Votes.from_orders(orders, weights=rng.integers(1, 5, size=6), unlisted=unlisted)  # type: ignore[arg-type]


@pytest.mark.parametrize("unlisted", ["bottom", "observed"])
@pytest.mark.parametrize("seed", range(12))
def test_counts_add_up_in_any_order_and_grouping(seed, unlisted):
    votes = [ballots(3 * seed + k, unlisted) for k in range(3)]
    a, b, c = map(PairCounts.from_votes, votes)
    assert (a + b) + c == a + (b + c) == sum([c, a, b])
    assert a + b == b + a
    assert hash(a + b) == hash(b + a)
    together = [[[votes_.items[i] for i in bucket] for bucket in _buckets(row)]
                for votes_ in votes for row in votes_.ranks]  # fmt: skip
    weights = np.concatenate([votes_.weights for votes_ in votes])
    whole = hr.Votes.from_orders(together, weights=weights, unlisted=unlisted)
    assert PairCounts.from_votes(whole) == a + b + c


def _buckets(row: np.ndarray) -> list[np.ndarray]:
    return [np.flatnonzero(row == rank) for rank in range(1, row.max() + 1)]


def test_counts_are_not_equal_to_others():
    a = PairCounts.from_votes(hr.Votes.from_orders([["a", "b"]]))
    assert a != PairCounts.from_votes(hr.Votes.from_orders([["b", "a"]]))
    assert a != PairCounts.from_votes(hr.Votes.from_orders([["a", "c"]]))
    assert a != PairCounts.from_votes(hr.Votes.from_orders([["a", "b"]], weights=[2]))
    assert a != 3
    with pytest.raises(TypeError):
        a + 3
    with pytest.raises(hr.UsageError, match="cannot be added"):
        a + PairCounts.from_votes(hr.Votes.from_orders([["a", "b"]], unlisted="observed"))
    heavy = PairCounts.from_votes(hr.Votes.from_orders([["a", "b"]], weights=[2**46]))
    with pytest.raises(hr.LimitError, match="more than can be counted"):
        heavy + heavy
    with pytest.raises(hr.UsageError, match="from_votes takes Votes"):
        PairCounts.from_votes(a)


@pytest.mark.parametrize("seed", range(6))
def test_rules_of_pairs_take_counts_for_votes(seed):
    votes = hr.sample_votes(hr.Mallows(range(6), 0.8), 40, rng=seed)
    counts = PairCounts.from_votes(votes)
    assert counts.compares_all
    np.testing.assert_array_equal(counts.pairwise(), votes.pairwise())
    merges = hr.Robust(hr.kemeny, 0.05), hr.Robust(hr.kemeny, 0.1, merge="smith")
    for rule in (hr.kemeny, hr.copeland, hr.bradley_terry, *merges):
        mine, theirs = rule(counts), rule(votes)
        assert (mine.ranking, mine.unique) == (theirs.ranking, theirs.unique)
        assert (mine.loss, mine.bound) == (theirs.loss, theirs.bound)
    assert hr.borda(counts).ranking == hr.borda(votes).ranking
    assert hr.borda(counts).distance == "kendall"
    assert hr.borda(counts).status is hr.Status.SORTED
    assert hr.kemeny_optima(counts) == hr.kemeny_optima(votes)
    assert hr.kemeny(counts.as_votes()).ranking == hr.kemeny(votes).ranking


def test_rules_of_ballots_refuse_counts():
    counts = PairCounts.from_votes(ballots(1, "observed"))
    assert not counts.compares_all
    assert hr.borda(counts).status is hr.Status.SCORED
    assert hr.Robust(hr.kemeny, "auto").fixed(counts) == hr.Robust(hr.kemeny, "auto").fixed(counts.as_votes())
    for call in (hr.footrule, hr.mean_score, hr.bootstrap, hr.tradeoff, hr.Robust(hr.footrule, 0.1)):
        with pytest.raises(hr.UsageError, match=r"needs ballots.*as_votes"):
            call(counts)
    with pytest.raises(hr.UsageError):
        hr.attack(counts, hr.kemeny, hr.NewWinner())
    with pytest.raises(hr.UsageError, match="takes a Ranking"):
        counts.loss([1, 2])
    with pytest.raises(hr.UsageError, match="the counts have"):
        counts.loss(hr.Ranking([1]))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("unlisted", ["bottom", "observed"])
def test_counts_as_votes_have_the_same_wins(seed, unlisted):
    counts = PairCounts.from_votes(ballots(seed, unlisted))
    votes = counts.as_votes()
    np.testing.assert_array_equal(votes.wins(), counts.wins())
    assert votes.is_counts
    assert votes.items == counts.items
    assert votes.total == counts.wins().sum()


def test_battles_as_counts_and_back_need_no_word(tmp_path):
    votes = read_votes(write(tmp_path, "csv", *battles(100)))
    again = PairCounts.from_votes(votes).as_votes()
    assert again.total == votes.total
    assert not any("comparisons of two items" in note for note in again.notes)
    assert hr.kemeny(again).loss == hr.kemeny(votes).loss


def test_too_many_comparisons_for_ballots_are_refused(monkeypatch):
    monkeypatch.setattr("holdrank.votes.pairs.MAX_CELLS", 10)
    with pytest.raises(hr.LimitError, match="too many to be ballots"):
        PairCounts.from_votes(ballots(1)).as_votes()


def test_counts_from_a_matrix():
    counts = PairCounts.from_wins([[0, 3], [1.5, 0]])
    assert (counts.items, counts.total, counts.is_counts) == (("0", "1"), 4.5, False)
    for wins, message in (
        ([[0, 1]], "square"),
        ([[1, 1], [0, 0]], "zero on the diagonal"),
        ([[0, -1], [0, 0]], "not negative"),
        ([[0, np.nan], [0, 0]], "finite"),
        ([[0, 0], [0, 0]], "above 0"),
    ):
        with pytest.raises(hr.UsageError, match=message):
            PairCounts.from_wins(wins)
    with pytest.raises(hr.UsageError, match="more often than there are votes"):
        PairCounts.from_wins([[0, 3], [1, 0]], total=2)


def test_counts_are_saved_and_loaded(tmp_path):
    counts = hr.count_pairs(write(tmp_path, "csv", *positions(200)), repeated="first")
    counts.save(tmp_path / "counts.npz")
    again = PairCounts.load(tmp_path / "counts.npz")
    assert again == counts
    assert (again.items, again.notes, again.reading) == (counts.items, counts.notes, counts.reading)
    assert again + again == counts + counts
    assert (again + counts).notes == (counts + counts).notes
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".csv"] == ["counts.npz"]
    copy = pickle.loads(pickle.dumps(counts))
    assert copy == counts
    assert copy.notes == counts.notes
    with pytest.raises(ValueError, match="read-only"):
        again.wins()[0, 0] = 1
    with pytest.raises(hr.UsageError, match="cannot be written"):
        counts.save(tmp_path / "nowhere" / "counts.npz")


def test_counts_that_cannot_be_written_leave_the_old_ones(tmp_path, monkeypatch):
    counts = PairCounts.from_votes(ballots(1))
    counts.save(tmp_path / "counts.npz")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(hr.UsageError, match="No space left"):
        PairCounts.from_votes(ballots(2)).save(tmp_path / "counts.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["counts.npz"]
    assert PairCounts.load(tmp_path / "counts.npz") == counts


@pytest.mark.slow
def test_sums_tell_their_sources(tmp_path):
    paths = [write(tmp_path, "csv", *battles(10, seed), f"day{seed}") for seed in range(20)]
    two = hr.count_pairs(paths[:2])
    assert two.reading.source == f"{paths[0]}, {paths[1]}"
    assert two.reading.format == "battles"
    assert "format" in two.reading.choices
    assert len(hr.count_pairs(paths).reading.source) <= 400


def hostile(folder: Path, **changes: object) -> Path:
    """Write counts of which some part was changed."""
    counts = PairCounts.from_votes(hr.Votes.from_orders([["a", "b"]], weights=[4]))
    counts.save(folder / "good.npz")
    with np.load(folder / "good.npz") as good:
        parts = {name: good[name] for name in good.files}
    head = json.loads(parts["head"].tobytes())
    arrays = {name: changes.pop(name) for name in list(changes) if name in parts}
    drop = changes.pop("drop", None)
    head |= changes
    parts["head"] = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
    parts |= arrays
    parts.pop(drop, None)
    np.savez(folder / "bad.npz", **parts)
    return folder / "bad.npz"


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "something else"},
        {"version": 99},
        {"total": -1},
        {"total": float("nan")},
        {"total": True},
        {"total": 3},
        {"items": ["a"]},
        {"items": ["a", "a"]},
        {"items": ["a", 2]},
        {"items": "ab"},
        {"unlisted": "top"},
        {"said": [[["ballot"], 3]]},
        {"said": [[["a", "b"], {"": 1}]]},
        {"reading": ["x"]},
        {"wins": np.zeros((3, 3))},
        {"wins": np.array([[0.0, -1.0], [0.0, 0.0]])},
        {"wins": np.array([[1.0, 1.0], [0.0, 0.0]])},
        {"wins": np.frombuffer(b"\0\0\0\0\0\0\xf6\xff" + bytes(24)).reshape(2, 2)},  # a number that is none, twice over
        {"wins": np.array([[0.0, np.inf], [0.0, 0.0]])},
        {"wins": np.array([[0, 1], [0, 0]])},
        {"wins": np.array([[None, 1], [0, 0]], dtype=object)},
        {"listed": np.array([9.0, 1.0])},
        {"head": np.frombuffer(b"[1]", dtype=np.uint8)},
        {"head": np.frombuffer(b"{", dtype=np.uint8)},
        {"head": np.frombuffer(b"[" * 100_000, dtype=np.uint8)},
        {"drop": "wins"},
    ],
)
def test_hostile_files_of_counts_are_refused(tmp_path, changes):
    with pytest.raises(hr.InputError):
        PairCounts.load(hostile(tmp_path, **changes))


def test_files_that_are_no_counts_are_refused(tmp_path):
    for content in (b"", b"PK\x03\x04 nonsense", b"model_a,model_b\n"):
        (tmp_path / "x.npz").write_bytes(content)
        with pytest.raises(hr.InputError):
            PairCounts.load(tmp_path / "x.npz")
    with pytest.raises(hr.InputError, match="no such file"):
        PairCounts.load(tmp_path / "missing.npz")
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("head.npy", bytes(1 << 27))
    with pytest.raises(hr.InputError, match="takes"):
        PairCounts.load(tmp_path / "bomb.npz")
    # A header that promises more than the file holds must not make room for it.
    header = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little")
    header += b"{'descr': '|u1', 'fortran_order': False, 'shape': (1099511627776,), }".ljust(117) + b"\n"
    with zipfile.ZipFile(tmp_path / "liar.npz", "w") as archive:
        archive.writestr("head.npy", header)
    with pytest.raises(hr.InputError, match="too short or too long"):
        PairCounts.load(tmp_path / "liar.npz")
    counts = PairCounts.from_votes(hr.Votes.from_orders([["a", "b"]]))
    counts.save(tmp_path / "good.npz")
    data = bytearray((tmp_path / "good.npz").read_bytes())
    for at in range(0, len(data), 7):
        broken = data.copy()
        broken[at] ^= 0xFF
        (tmp_path / "broken.npz").write_bytes(broken)
        try:
            PairCounts.load(tmp_path / "broken.npz")
        except hr.HoldrankError:
            continue


def test_counts_of_many_items_that_hardly_anybody_compared_are_not_packed(tmp_path, monkeypatch):
    monkeypatch.setattr("holdrank.votes.pair_files._SMALL_MATRIX", 1 << 20)
    wins = np.zeros((400, 400))
    wins[0, 1] = 5
    counts = PairCounts.from_wins(wins, [f"i{k}" for k in range(400)])
    counts.save(tmp_path / "counts.npz")
    assert (tmp_path / "counts.npz").stat().st_size > wins.nbytes
    assert PairCounts.load(tmp_path / "counts.npz") == counts
    PairCounts.from_wins(wins[:300, :300], counts.items[:300]).save(tmp_path / "small.npz")
    assert (tmp_path / "small.npz").stat().st_size < 10_000

    # Names that are all but the same are packed to hardly anything.
    alike = PairCounts.from_wins(wins[:300, :300], ["x" * 1000 + str(k) for k in range(300)])
    alike.save(tmp_path / "alike.npz")
    assert PairCounts.load(tmp_path / "alike.npz") == alike
    # Whatever is packed how well: what was written can be read.
    rng = np.random.default_rng(1)
    for count in range(0, 4000, 250):
        some = np.zeros((400, 400))
        some[rng.integers(0, 200, count), rng.integers(200, 400, count)] = rng.random(count)
        tried = PairCounts.from_wins(some, counts.items, total=500)
        tried.save(tmp_path / "tried.npz")
        assert PairCounts.load(tmp_path / "tried.npz") == tried

    with np.load(tmp_path / "counts.npz") as saved:
        np.savez_compressed(tmp_path / "packed.npz", **saved)
    with pytest.raises(hr.InputError, match=r"wins takes 1,280,128 bytes"):
        PairCounts.load(tmp_path / "packed.npz")
    # An archive that says to be packed less than it is.
    packed = bytearray((tmp_path / "packed.npz").read_bytes())
    with zipfile.ZipFile(tmp_path / "packed.npz") as archive:
        size = archive.getinfo("wins.npy").compress_size.to_bytes(4, "little")
    directory = packed.index(b"PK\x01\x02")
    at = packed.index(size, directory)
    packed[at : at + 4] = (1_000_000).to_bytes(4, "little")
    (tmp_path / "liar.npz").write_bytes(packed)
    with zipfile.ZipFile(tmp_path / "liar.npz") as archive:
        assert archive.getinfo("wins.npy").compress_size == 1_000_000
    monkeypatch.setattr("holdrank.votes.pair_files._SMALL_MATRIX", 0)
    with pytest.raises(hr.InputError, match=r"wins takes 1,280,128 bytes"):
        PairCounts.load(tmp_path / "liar.npz")
