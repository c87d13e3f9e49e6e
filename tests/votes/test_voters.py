"""Votes that know who cast them: how voters are read, kept and capped."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import holdrank as hr

ROWS = {
    "model_a": ["a", "a", "b", "c", "a", "b", "b"],
    "model_b": ["b", "b", "a", "a", "b", "c", "b"],
    "winner": ["model_a", "tie", "model_b", "model_b", "model_a", "both_bad", "model_a"],
    "judge": ["x", "y", "x", "x", "x", "z", "y"],
}


def entries(votes):
    v = votes.voters
    return {
        (v.names[k], votes.items[i], votes.items[j], better): w
        for k, i, j, better, w in zip(
            v.voter.tolist(), v.first.tolist(), v.second.tolist(), v.better.tolist(), v.weight.tolist(), strict=True
        )
    }


def counted():
    """The same from the rows alone: who, the items in the order of their first mention, who is better."""
    found = Counter()
    for a, b, winner, judge in zip(*ROWS.values(), strict=True):
        if a == b:
            continue
        better = {"model_a": -1, "model_b": 1}.get(winner, 0)
        found[(judge, a, b, better) if a < b else (judge, b, a, -better)] += 1.0
    return found


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_battles_keep_their_voters_and_are_the_same_votes(frame):
    votes = hr.Votes.from_battles(frame(ROWS), voter="judge")
    assert entries(votes) == counted()
    assert votes.voters.names == ("x", "y", "z")
    assert votes.voters.totals.tolist() == [4.0, 1.0, 1.0]
    plain = hr.Votes.from_battles(frame({name: cells for name, cells in ROWS.items() if name != "judge"}))
    assert votes == plain
    assert votes.input_hash == plain.input_hash
    assert plain.voters is None
    assert votes.reading.choices["voter"] == "column 'judge'"
    assert hr.Votes.from_battles(frame(ROWS), voter="judge", both_bad="drop").voters.names == ("x", "y")
    given = hr.Votes.from_battles(frame(ROWS), voter=ROWS["judge"])
    assert entries(given) == counted()


def test_weights_are_the_battles_of_their_voter():
    rows = {**ROWS, "weight": [1, 2, 3, 4, 5, 6, 7]}
    votes = hr.Votes.from_battles(pl.DataFrame(rows), voter="judge")
    assert dict(zip(votes.voters.names, votes.voters.totals.tolist(), strict=True)) == {"x": 13.0, "y": 2.0, "z": 6.0}
    assert votes.total == 21.0


def test_voters_survive_what_keeps_the_battles():
    votes = hr.Votes.from_battles(pl.DataFrame(ROWS), voter="judge")
    assert entries(pickle.loads(pickle.dumps(votes))) == entries(votes)
    assert votes.renamed(["p", "q", "r"]).voters is votes.voters
    again = hr.Votes.from_voters(votes.voters, votes.items)
    assert again == votes
    assert votes.with_weights(votes.weights).voters is None
    assert votes.only(["a", "b"]).voters is None


def test_a_cap_scales_down_those_who_cast_more():
    votes = hr.Votes.from_battles(pl.DataFrame(ROWS), voter="judge")
    capped = votes.capped(2)
    assert capped.voters.totals.tolist() == [2.0, 1.0, 1.0]
    expected = np.zeros((3, 3))
    for (who, first, second, better), weight in counted().items():
        i, j = "abc".index(first), "abc".index(second)
        part = weight * (0.5 if who == "x" else 1.0)
        expected[i, j] += part * (1 - better) / 2
        expected[j, i] += part * (1 + better) / 2
    np.testing.assert_allclose(capped.wins(), expected, rtol=1e-12)
    assert capped.reading.choices["cap"] == "2 battles per voter"
    assert votes.capped(np.int64(4)) == votes.capped(np.float64(4)) == votes
    assert hr.bradley_terry(capped).ranking.n == 3
    for wrong in (0, -1, float("nan"), float("inf"), "two", None):
        with pytest.raises(hr.UsageError, match="a cap is a number of battles above 0"):
            votes.capped(wrong)
    with pytest.raises(hr.UsageError, match="these votes do not say who cast each battle"):
        hr.Votes.from_orders([["a", "b"]]).capped(2)


@pytest.mark.parametrize("blank", [None, "", "  ", "NA", "nan"])
def test_battles_without_a_voter_are_refused_or_voters_of_their_own(blank):
    rows = {**ROWS, "judge": ["x", blank, "x", blank, "unnamed, row 2", "z", blank]}
    with pytest.raises(hr.InputError, match="a battle has no voter") as found:
        hr.Votes.from_battles(pl.DataFrame(rows), voter="judge")
    assert found.value.line == 2
    assert "blank_voters" in str(found.value)
    votes = hr.Votes.from_battles(pl.DataFrame(rows), voter="judge", blank_voters="separate")
    assert set(votes.voters.names) == {"x", "unnamed, row 2'", "unnamed, row 4", "unnamed, row 2", "z"}
    assert votes.reading.choices["blank voters"] == "3 battles without one, each a separate voter"
    assert votes.voters.totals.sum() == votes.total
    given = [None, float("nan"), *rows["judge"][2:]]
    with pytest.raises(hr.InputError, match="a battle has no voter"):
        hr.Votes.from_battles(pl.DataFrame(ROWS), voter=given)


def test_numbers_and_categories_are_voters_too():
    numbers = hr.Votes.from_battles(pd.DataFrame({**ROWS, "judge": [7, 8, 7, 7, 7, 9, 8]}), voter="judge")
    assert numbers.voters.names == ("7", "8", "9")
    frame = pd.DataFrame(ROWS).astype({"judge": "category"})
    assert entries(hr.Votes.from_battles(frame, voter="judge")) == counted()
    gap = pd.DataFrame({**ROWS, "judge": [7, np.nan, 7, 7, 7, 9, 8]})
    with pytest.raises(hr.InputError, match="a battle has no voter"):
        hr.Votes.from_battles(gap, voter="judge")


def test_what_names_no_voters_is_refused():
    frame = pl.DataFrame(ROWS)
    with pytest.raises(hr.UsageError, match="3 voters given for 7 battles"):
        hr.Votes.from_battles(frame, voter=["x", "y", "z"])
    with pytest.raises(hr.InputError, match="there is no such column for voter"):
        hr.Votes.from_battles(frame, voter="nobody")
    with pytest.raises(hr.UsageError, match="blank_voters needs voter"):
        hr.Votes.from_battles(frame, blank_voters="separate")
    with pytest.raises(hr.UsageError, match='blank_voters is "refuse" or "separate"'):
        hr.Votes.from_battles(frame, voter="judge", blank_voters="drop")
    with pytest.raises(hr.UsageError, match="there is no voter 'w'"):
        hr.Votes.from_battles(frame, voter="judge").voters.numbers(["w"])


@pytest.mark.parametrize("seed", range(6))
def test_voters_of_many_rows_are_counted_as_a_plain_loop_does(seed, tmp_path):
    """Names with outer blanks, weights, both orders of a pair, ties, an item against itself, rows that do not count."""
    rng = np.random.default_rng(seed)
    rows = 400
    items, people = ["m1", "m2", "m3", "m 4"], ["ann", " ann", "bo ", "bo", "c,d", "Ann"]
    winners = ["model_a", "model_b", "tie", "both_bad", ""]
    cells = {
        "model_a": rng.choice(items, rows).tolist(),
        "model_b": rng.choice(items, rows).tolist(),
        "winner": rng.choice(winners, rows).tolist(),
        "judge": rng.choice(people, rows).tolist(),
        "weight": rng.integers(0, 4, rows).tolist(),
    }
    path = tmp_path / "battles.csv"
    pl.DataFrame(cells).write_csv(path)
    expected, order = Counter(), []
    for a, b, winner, judge, weight in zip(*cells.values(), strict=True):
        if a == b or winner == "":
            continue
        order.append(judge.strip()) if weight else None
        first, second = sorted((a, b))
        better = 0 if winner in ("tie", "both_bad") else -1 if (winner == "model_a") == (a == first) else 1
        expected[judge.strip(), first, second, better] += weight
    votes = hr.read_votes(path, voter="judge", map={"": "skip"})
    found = Counter()
    for (who, first, second, better), weight in entries(votes).items():
        low, high = sorted((first, second))
        found[who, low, high, better if first == low else -better] += weight
    assert found == +expected
    assert set(votes.voters.names) == set(order)
    by = hr.read_votes(path, by="judge", map={"": "skip"}).groups
    assert dict(zip(by.names, by.totals.tolist(), strict=True)) == {
        who: sum(w for (name, *_), w in expected.items() if name == who) for who in set(order)
    }
