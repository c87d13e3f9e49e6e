"""Leaderboards: each column by its definition, each form read back by a reader that is not ours."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas
import polars
import pytest

import holdrank as hr
from holdrank.analysis.board import COLUMNS, places_by_intervals
from holdrank.views.boards import board_csv, board_json, board_latex, board_markdown

HOSTILE = ["=cmd()", "a|b_c", "x & y \\ 5 %", 'quo"te, comma', "line\nbreak", "<b>$z$</b>"]


def battles(names=("a", "b", "c", "d"), seed=0, size=400):
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.choice(len(names), 2, replace=False) for _ in range(size)])
    won = rng.random(size) < 1 / (1 + np.exp(0.4 * (pairs[:, 0] - pairs[:, 1])))
    frame = {"model_a": [names[i] for i in pairs[:, 0]], "model_b": [names[j] for j in pairs[:, 1]]}
    return {**frame, "winner": ["model_a" if first else "model_b" for first in won]}


def votes_of(names=("a", "b", "c", "d"), **more):
    return hr.Votes.from_battles(polars.DataFrame(battles(names, **more)))


def test_every_column_is_what_its_definition_says():
    votes = votes_of()
    board = hr.leaderboard(votes)
    assert board.columns == COLUMNS
    found = hr.bradley_terry(votes)
    rated = found.ratings()
    order = [votes.items[k] for k in found.ranking.order]
    assert [row["model"] for row in board.rows] == order
    rows = battles()
    for place, row in enumerate(board.rows, start=1):
        k = votes.items.index(row["model"])
        assert row["rank"] == place
        assert row["votes"] == rows["model_a"].count(row["model"]) + rows["model_b"].count(row["model"])
        for name, column in (("rating", rated.values), ("rating_lower", rated.lower), ("rating_upper", rated.upper)):
            assert row[name] == pytest.approx(column[k], abs=1e-5)
        assert row["rank_ub"] == 1 + sum(rated.lower[j] > rated.upper[k] for j in range(4))
        assert row["rank_lb"] == 4 - sum(rated.upper[j] < rated.lower[k] for j in range(4))
        assert row["rank_ub"] <= row["rank"] <= row["rank_lb"]
    tiers = hr.Robust(hr.bradley_terry, theta="auto")(votes).ranking.ranks
    assert [row["tier"] for row in board.rows] == [tiers[votes.items.index(name)] for name in order]
    for above, below in zip(board.rows, board.rows[1:], strict=False):
        attack = hr.attack(votes, hr.bradley_terry, hr.Above(below["model"], above["model"]))
        assert 0 < above["votes_to_overtake"] <= attack.votes_sufficient
    assert board.rows[-1]["votes_to_overtake"] is None


def test_rules_without_ratings_have_places_by_the_bootstrap():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"]], weights=[30, 20, 10])
    board = hr.leaderboard(votes, hr.borda, draws=200, rng=3)
    assert board.columns == tuple(name for name in COLUMNS if not name.startswith("rating"))
    drawn = hr.bootstrap(votes, hr.borda, draws=200, rng=3)
    for row in board.rows:
        k = votes.items.index(row["model"])
        assert (row["rank_ub"], row["rank_lb"]) == (drawn.best[k], drawn.worst[k])
    with pytest.raises(hr.UsageError, match="borda has no ratings, so there is no column 'rating'"):
        hr.leaderboard(votes, hr.borda, columns=["model", "rating"])


def test_intervals_that_are_not_known_count_for_nobody():
    nan = float("nan")
    best, worst = places_by_intervals(np.array([9.0, nan, 1.0]), np.array([9.5, nan, 2.0]))
    assert best.tolist() == [1, 1, 2]
    assert worst.tolist() == [2, 3, 3]


def test_an_item_that_never_lost_has_an_empty_rating():
    votes = hr.Votes.from_battles(polars.DataFrame({"winner": ["a", "a", "b", "c"], "loser": ["b", "c", "c", "b"]}))
    board = hr.leaderboard(votes)
    first = board.rows[0]
    assert (first["model"], first["rating"], first["rating_lower"]) == ("a", None, None)
    assert board.notes
    assert next(csv.DictReader(io.StringIO(board_csv(board))))["rating"] == ""


def test_hostile_names_come_back_from_every_form():
    votes = votes_of(HOSTILE, size=900)
    board = hr.leaderboard(votes, columns=["model", "rank", "rating", "votes"])
    names = [row["model"] for row in board.rows]
    assert sorted(names) == sorted(HOSTILE)
    rows = list(csv.reader(io.StringIO(board_csv(board), newline="")))
    assert rows[0] == ["model", "rank", "rating", "votes"]
    assert [row[0] for row in rows[1:]] == ["'" + name if name.startswith("=") else name for name in names]
    assert not any(row[0][0] in "=+@" for row in rows[1:])
    assert json.loads(board_json(board)) == [dict(row) for row in board.rows]
    lines = board_markdown(board).splitlines()
    assert len(lines) == 2 + len(names)
    assert all(line.replace("\\|", "").count("|") == 5 for line in lines)
    assert "<b>" not in board_markdown(board)
    tex = board_latex(board).splitlines()
    body = tex[tex.index(r"\midrule") + 1 : tex.index(r"\bottomrule")]
    assert len(body) == len(names)
    assert all(line.replace(r"\&", "").count("&") == 3 for line in body)
    assert any(r"x \& y \textbackslash{} 5 \%" in line for line in body)


def test_forms_look_as_stored():
    votes = hr.Votes.from_orders([["a_1", "b", "c"], ["b", "a_1", "c"]], weights=[60, 40])
    board = hr.leaderboard(votes, hr.kemeny, columns=["rank", "model", "votes", "votes_to_overtake"])
    assert board_csv(board) == "rank,model,votes,votes_to_overtake\n1,a_1,100,11\n2,b,100,51\n3,c,100,\n"
    assert board_markdown(board) == (
        "| rank | model | votes | votes to overtake |\n| ---: | --- | ---: | ---: |\n"
        "| 1 | a\\_1 | 100 | 11 |\n| 2 | b | 100 | 51 |\n| 3 | c | 100 |  |\n"
    )
    assert board_latex(board) == (
        "\\begin{tabular}{rlrr}\n\\toprule\nrank & model & votes & votes to overtake \\\\\n\\midrule\n"
        "1 & a\\_1 & 100 & 11 \\\\\n2 & b & 100 & 51 \\\\\n3 & c & 100 &  \\\\\n\\bottomrule\n\\end{tabular}\n"
    )


def test_files_are_written_by_their_ending(tmp_path):
    board = hr.leaderboard(votes_of(), columns=["rank", "model", "rating"])
    for ending in ("csv", "json", "md", "tex"):
        hr.write_leaderboard(board, tmp_path / f"board.{ending}")
    assert pandas.read_csv(tmp_path / "board.csv")["model"].tolist() == [row["model"] for row in board.rows]
    assert pandas.read_json(tmp_path / "board.json")["rank"].tolist() == [1, 2, 3, 4]
    with pytest.raises(hr.UsageError, match="cannot tell the output format"):
        hr.write_leaderboard(board, tmp_path / "board.xml")


@pytest.mark.parametrize(
    ("columns", "problem"),
    [(["model", "elo"], "no column 'elo'"), (["model", "model"], "listed twice"), ([], "at least one column")],
)
def test_columns_that_are_none_are_refused(columns, problem):
    with pytest.raises(hr.UsageError, match=problem):
        hr.leaderboard(votes_of(), columns=columns)
    with pytest.raises(hr.UsageError, match="takes a rule, not tiers"):
        hr.leaderboard(votes_of(), hr.Robust(hr.kemeny, 0.1))


SCORES = {"model": ["x", "y", "z"], "t": [0.5, 0.7, 0.2], "u": [0.1, 0.9, 0.3]}
RANKS = {"voter": ["v", "w"], "x": [1, 2], "y": [2, 1], "z": [3, 3]}


@pytest.mark.parametrize("library", [pandas, polars])
def test_a_frame_is_read_in_one_line(library):
    assert hr.read_votes(library.DataFrame(battles())) == hr.Votes.from_battles(library.DataFrame(battles()))
    assert hr.read_votes(library.DataFrame(SCORES)) == hr.Votes.from_scores(library.DataFrame(SCORES))
    ranks = hr.Votes.from_ranks([[1, 2, 3], [2, 1, 3]], items=["x", "y", "z"])
    assert hr.read_votes(library.DataFrame(RANKS)) == ranks
    assert hr.read_votes(library.DataFrame(SCORES), drop="z").items == ("x", "y")


def test_an_index_of_names_is_a_column_and_other_indices_are_not():
    frame = pandas.DataFrame(SCORES).set_index("model")
    assert hr.read_votes(frame).items == ("x", "y", "z")
    assert hr.read_votes(frame.rename_axis(None)).items == ("x", "y", "z")
    rows = pandas.DataFrame(battles())
    some = rows[rows["winner"] == "model_a"]
    assert hr.read_votes(some) == hr.Votes.from_battles(some)


def test_what_is_no_frame_is_refused():
    for source in (5, None, [1, 2]):
        with pytest.raises(hr.UsageError, match="data frame"):
            hr.read_votes(source)
    with pytest.raises(hr.UsageError, match="delimiter= does not apply to data frames"):
        hr.read_votes(pandas.DataFrame(SCORES), delimiter=";")
    with pytest.raises(hr.UsageError, match="is text, but the source is a data frame"):
        hr.read_votes(pandas.DataFrame(SCORES), format="preflib")
