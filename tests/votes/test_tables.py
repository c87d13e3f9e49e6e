"""Tables and data frames: the same ballots whichever library holds them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from holdrank.errors import InputError, UsageError
from holdrank.votes.ballots.ranks import ranks_of_values
from holdrank.votes.forms import Problems, Table, battles_from_frame, scores_from_frame
from holdrank.votes.votes import Votes

MAKERS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": lambda columns: pl.DataFrame(columns).lazy(),
    "pyarrow": pa.table,
}


@pytest.fixture(params=MAKERS)
def frame_of(request):
    return MAKERS[request.param]


def wins(raw) -> dict[tuple[str, str], float]:
    """Return the wins by name, counted from the ballots by the definition."""
    out: dict[tuple[str, str], float] = {}
    for ranks, weight in zip(raw.ranks, raw.weights, strict=True):
        for i, a in enumerate(raw.items):
            for j, b in enumerate(raw.items):
                if i != j and ranks[i] and ranks[j] and ranks[i] <= ranks[j]:
                    out[a, b] = out.get((a, b), 0) + (weight if ranks[i] < ranks[j] else weight / 2)
    return out


BATTLES = {
    "model_a": ["x", "y", "x", "y", "z", "x"],
    "model_b": ["y", "x", "y", "x", "z", "y"],
    "winner": ["model_a", "b", "tie", "y", "tie", "tie (bothbad)"],
}


def test_battles(frame_of):
    raw = battles_from_frame(frame_of(BATTLES))
    assert raw.items == ["x", "y", "z"]
    assert wins(raw) == {("x", "y"): 3, ("y", "x"): 2}
    assert raw.unlisted == "observed"
    assert any("1 comparison of an item against itself dropped" in note for note in raw.notes)
    assert any("1 battle called both items bad" in note for note in raw.notes)
    dropped = battles_from_frame(frame_of(BATTLES), both_bad="drop")
    assert wins(dropped) == {("x", "y"): 2.5, ("y", "x"): 1.5}


def test_items_come_in_order_of_first_appearance(frame_of):
    rng = np.random.default_rng(3)
    first = [f"m{k}" for k in rng.integers(0, 30, 500)]
    second = [f"m{k}" for k in rng.integers(0, 30, 500)]
    raw = battles_from_frame(frame_of({"left": first, "right": second, "winner": ["left"] * 500}))
    seen = list(dict.fromkeys(name for pair in zip(first, second, strict=True) for name in pair))
    # A battle of an item with itself names it too.
    assert raw.items == seen


def test_weighted_and_named_battles(frame_of):
    columns = {"p": ["x", "x", "y"], "q": ["y", "y", "x"], "won": ["p", "p", "p"], "times": [1.5, 2.0, 1.0]}
    raw = battles_from_frame(frame_of(columns), first="p", second="q", winner="won", weight="times")
    assert wins(raw) == {("x", "y"): 3.5, ("y", "x"): 1}
    assert raw.choices["weight"] == "column 'times'"
    counted = {**BATTLES, "count": [2, 1, 1, 1, 1, 1]}
    assert wins(battles_from_frame(frame_of(counted))) == {("x", "y"): 4, ("y", "x"): 2}
    for bad in (-1.0, float("inf"), None):
        with pytest.raises(InputError, match=r"data frame.*line 2, column 'times'"):
            battles_from_frame(
                frame_of({**columns, "times": [1.5, bad, 1.0]}), first="p", second="q", winner="won", weight="times"
            )


def test_battles_by_scores_and_flags(frame_of):
    games = {
        "home_team": ["P", "Q", "P"],
        "away_team": ["Q", "P", "Q"],
        "home_score": [3, 2, None],
        "away_score": [1, 2, 0],
    }
    raw = battles_from_frame(frame_of(games))
    assert wins(raw) == {("P", "Q"): 1.5, ("Q", "P"): 0.5}
    assert any("1 battle without two scores" in note for note in raw.notes)
    flags = {"model_a": ["P", "P"], "model_b": ["Q", "Q"], "winner_model_a": [1, 0], "winner_model_b": [0, 0]}
    assert wins(battles_from_frame(frame_of({**flags, "winner_tie": [0, 1]}))) == {("P", "Q"): 1.5, ("Q", "P"): 0.5}
    with pytest.raises(InputError, match=r"line 2.*exactly one"):
        battles_from_frame(frame_of(flags))


def test_number_names_and_missing_winners(frame_of):
    raw = battles_from_frame(frame_of({"left": [7, 12], "right": [12, 30], "winner": [1, 2]}))
    assert raw.items == ["7", "12", "30"]
    assert wins(raw) == {("7", "12"): 1, ("30", "12"): 1}
    with pytest.raises(InputError, match=r"line 2, column 'winner'"):
        battles_from_frame(frame_of({"left": ["a", "a"], "right": ["b", "b"], "winner": ["left", None]}))
    with pytest.raises(InputError, match=r"line 2.*no name"):
        battles_from_frame(frame_of({"left": ["a", None], "right": ["b", "b"], "winner": ["left", "left"]}))
    with pytest.raises(InputError, match="no battle columns"):
        battles_from_frame(frame_of({"u": ["a"], "v": ["b"]}))


def test_categories_are_text():
    for make in (pd.DataFrame, pl.DataFrame):
        frame = make(BATTLES)
        if isinstance(frame, pd.DataFrame):
            frame = frame.astype("category")
        else:
            frame = frame.with_columns(pl.all().cast(pl.Categorical))
        assert wins(battles_from_frame(frame)) == {("x", "y"): 3, ("y", "x"): 2}


SCORES = {"model": ["x", "y", "z"], "accuracy": [0.9, 0.8, None], "latency": [120, 80, 100]}


def test_scores(frame_of):
    raw = scores_from_frame(frame_of(SCORES))
    assert raw.items == ["x", "y", "z"]
    assert raw.ranks.tolist() == [[1, 2, 0], [1, 3, 2]]
    assert raw.unlisted == "observed"
    assert any("1 cell without a score" in note for note in raw.notes)
    mixed = scores_from_frame(frame_of(SCORES), higher_is_better={"latency": False, "accuracy": True})
    assert mixed.ranks.tolist() == [[1, 2, 0], [3, 1, 2]]
    assert "except in 'latency'" in mixed.choices["direction"]
    low = scores_from_frame(frame_of(SCORES), higher_is_better=False, voters=["latency"], unlisted="bottom")
    assert low.ranks.tolist() == [[3, 1, 2]]
    assert low.unlisted == "bottom"
    with pytest.raises(InputError, match="no such column for higher_is_better"):
        scores_from_frame(frame_of(SCORES), higher_is_better={"speed": False})


def test_a_first_column_of_scores_is_no_list_of_names(frame_of):
    for numbers in ([0.5, 1.0], [90, 80], [10.0, 20.0]):
        found = rf"column 't1': the first column holds numbers.*found '{numbers[0]:g}'.*item=.*set_index"
        with pytest.raises(InputError, match=found):
            scores_from_frame(frame_of({"t1": numbers, "t2": [2.0, 3.0]}))
    assert scores_from_frame(frame_of({"id": [10.0, 20.0], "t2": [2.0, 3.0]}), item="id").items == ["10", "20"]


def test_an_index_names_the_items_where_it_can_only_be_that():
    bare = pd.DataFrame({"t1": [90, 80], "t2": [70, 75]}, index=["x", "y"])
    named = bare.rename_axis("model")
    for frame in (bare, named, bare.reset_index(), named.reset_index()):
        assert Votes.from_scores(frame) == Votes.from_scores(bare)
        assert Votes.from_scores(frame).items == ("x", "y")
    assert Votes.from_scores(named, item="model").items == ("x", "y")
    assert Votes.from_scores(named, voters=["t2"]).ranks.tolist() == [[2, 1]]
    numbers = named.set_axis(pd.Index([7, 3], name="run"))
    assert Votes.from_scores(numbers).items == ("7", "3")
    # A column of names goes before an index of numbers, and one that is named before any index.
    both = numbers.assign(model=["x", "y"])[["model", "t1", "t2"]]
    assert Votes.from_scores(both).items == ("x", "y")
    assert Votes.from_scores(named.assign(alias=["u", "v"]), item="alias").items == ("u", "v")
    parts = pd.DataFrame({"t1": [90, 80]}, index=pd.MultiIndex.from_tuples([("a", "1"), ("a", "2")], names=["m", "v"]))
    assert Votes.from_scores(parts).items == ("a | 1", "a | 2")
    with pytest.raises(InputError, match="holds text"):
        Votes.from_scores(named.assign(maker=["u", "v"])[["maker", "t1"]])


def test_messages_of_frames_name_arguments_that_exist(frame_of):
    with pytest.raises(InputError, match="with voters=") as caught:
        scores_from_frame(frame_of({"model": ["x", "y"], "t": ["1", "none"]}))
    assert "columns=" not in str(caught.value)
    assert "blanks=" not in str(caught.value)
    with pytest.raises(InputError, match=r"such as 91\.2") as caught:
        scores_from_frame(frame_of({"model": ["x", "y"], "t": ["1", "91.2%"]}))
    assert "blanks=" not in str(caught.value)
    with pytest.raises(InputError, match="no such column for voters"):
        scores_from_frame(frame_of(SCORES), voters=["speed"])
    assert scores_from_frame(frame_of(SCORES), voters="latency").ranks.tolist() == [[1, 3, 2]]
    for bad in ([1.0], 1.5, [True]):
        with pytest.raises(UsageError, match="voters takes"):
            scores_from_frame(frame_of(SCORES), voters=bad)


def test_weights_of_battles_may_be_text(frame_of):
    columns = {"model_a": ["x", "x"], "model_b": ["y", "y"], "winner": ["model_a"] * 2, "weight": ["1", "2.5"]}
    assert wins(battles_from_frame(frame_of(columns))) == {("x", "y"): 3.5}
    with pytest.raises(InputError, match=r"line 2, column 'weight': the cell is not a weight"):
        battles_from_frame(frame_of({**columns, "weight": ["1", "two"]}))


def test_weights_of_battles_follow_the_rows_whatever_the_index():
    columns = {"model_a": ["x", "y"], "model_b": ["y", "x"], "winner": ["model_a"] * 2, "weight": [5, 7]}
    assert wins(battles_from_frame(pd.DataFrame(columns, index=[1, 0]))) == {("x", "y"): 5, ("y", "x"): 7}


def test_score_keys_and_repeats(frame_of):
    columns = {"t": [1, 2, 3], "title": ["a", "a", "a"], "artist": ["p", "q", "p"]}
    with pytest.raises(InputError, match=r"line 3, column 'title': the item is on two rows \(first on line 1\)"):
        scores_from_frame(frame_of(columns), item=["title", "artist"])
    raw = scores_from_frame(frame_of(columns), item=["title", "artist"], repeated="first")
    assert raw.items == ["a | p", "a | q"]
    assert raw.ranks.tolist() == [[2, 1]]
    with pytest.raises(InputError, match="holds text"):
        scores_from_frame(frame_of({"model": ["x"], "url": ["http://x"]}))
    with pytest.raises(InputError, match=r"line 2, column 't': a score must be finite"):
        scores_from_frame(frame_of({"model": ["x", "y"], "t": [1.0, float("-inf")]}))


def test_pandas_missing_values_of_all_kinds():
    frame = pd.DataFrame(
        {
            "model": ["x", "y", "z", "w"],
            "a": [1.0, np.nan, 3.0, 4.0],
            "b": pd.array([1, None, 3, 4], dtype="Int64"),
            "c": pd.array([1.5, None, 3, 4], dtype="Float64"),
        }
    )
    assert scores_from_frame(frame).ranks.tolist() == [[3, 0, 2, 1]] * 3
    objects = pd.DataFrame({"model": pd.Series(["x", np.nan], dtype=object), "t": [1, 2]})
    with pytest.raises(InputError, match="no name"):
        scores_from_frame(objects)


def test_what_is_no_frame_is_refused():
    for thing in ([1, 2], {"a": [1]}, "text", None):
        with pytest.raises(UsageError, match="not a data frame"):
            battles_from_frame(thing)
    with pytest.raises(UsageError, match="distinct text names"):
        scores_from_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(UsageError, match="distinct text names"):
        scores_from_frame(pd.DataFrame([[1, 2]]))


def test_frames_and_votes_agree(frame_of):
    votes = Votes.from_battles(frame_of(BATTLES))
    assert votes.wins().tolist() == [[0, 3, 0], [2, 0, 0], [0, 0, 0]]
    votes = Votes.from_scores(frame_of(SCORES), higher_is_better={"latency": False})
    assert votes.total == 2


@pytest.mark.slow
def test_a_million_battles_are_counted_by_arrays(calls_of):
    rng = np.random.default_rng(1)
    names = np.array([f"model {k}" for k in range(50)])
    frame = pl.DataFrame(
        {
            "model_a": names[rng.integers(0, 50, 1_000_000)],
            "model_b": names[rng.integers(0, 50, 1_000_000)],
            "winner": np.array(["model_a", "model_b", "tie"])[rng.integers(0, 3, 1_000_000)],
        }
    )
    found = []
    assert calls_of(lambda: found.append(battles_from_frame(frame))) < 500_000  # not one for each battle
    [raw] = found
    assert raw.ranks.shape == (50 * 49 // 2 * 3, 50)


def test_typed_columns_as_text():
    columns = [np.array([1, 2]), np.array([1.0, np.nan]), np.array([0.5, 3e22]), np.array([True, False]), ["a", "b"]]
    table = Table("t", list("abcde"), columns, [1, 2])
    texts = [table.text(k) for k in range(5)]
    assert texts == [["1", "2"], ["1", ""], ["0.5", "30000000000000000000000"], ["1", "0"], ["a", "b"]]
    assert [table.is_numeric(k) for k in range(5)] == [True, True, True, True, False]


def test_dense_ranks_of_many_rows_follow_the_definition():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 5, (200, 7)).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    for high in (False, True):
        for row, ranks in zip(values, ranks_of_values(values, high), strict=True):
            levels = sorted({v for v in row if v == v}, reverse=high)
            assert ranks.tolist() == [levels.index(v) + 1 if v == v else 0 for v in row]


def test_problems_keep_the_first_twenty():
    problems = Problems(strict=False)
    for k in range(30):
        problems.add(InputError(str(k)))
    assert problems.total == 30
    assert [str(problem) for problem in problems.kept] == [str(k) for k in range(20)]
