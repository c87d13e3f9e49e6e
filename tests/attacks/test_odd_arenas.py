"""Arenas at the edge of sense: a clear answer or a clear refusal, by library and command line, never a guess."""

import math

import numpy as np
import pytest

import holdrank as hr
from holdrank import paper

NEVER = [[0, 5, 0], [3, 0, 0], [0, 0, 0]]
APART = [[0, 5, 0, 0], [3, 0, 0, 0], [0, 0, 0, 4], [0, 0, 2, 0]]
CHANGES = ("drop", "add", "replace")


@pytest.mark.parametrize(("wins", "problem", "fix"), [
    ([[0, -1], [2, 0]], "'0' against '1' has -1", "write 0"),
    ([[0, 3], [math.nan, 0]], "'1' against '0' has nan", "write 0"),
    ([[0, math.inf], [2, 0]], "'0' against '1' has inf", "write 0"),
    ([[0, 1], [2, 7]], "'1' against '1' has 7", "is not compared with itself"),
    ([[0, 0], [0, 0]], "no comparisons: all wins are 0", "wins above 0"),
    ([[0.0]], "no comparisons: all wins are 0", "wins above 0"),
    ([], "square matrix", ""),
    (np.zeros((0, 0)), "no items", ""),
    ([[0, 1, 2], [1, 0, 2]], "square matrix", ""),
    ([[0, 1], [1]], "square matrix of numbers", "equal length"),
    ([["x", "y"], ["z", "x"]], "square matrix of numbers", ""),
])  # fmt: skip
def test_counts_that_are_none_are_refused_with_the_place(wins, problem, fix):
    with pytest.raises(hr.HoldrankError) as refused:
        hr.PairCounts.from_wins(wins)
    assert problem in str(refused.value)
    assert fix in str(refused.value)


def test_an_item_that_was_never_compared_has_a_place_by_the_ridge_and_no_rating():
    counts = hr.PairCounts.from_wins(NEVER, items="abc")
    found = hr.bradley_terry(counts)
    assert "no ballot connects 2 groups of items" in found.proof
    ratings = found.ratings()
    assert np.isnan(ratings.values[2])
    assert any("No rating for c" in note for note in ratings.notes)
    with pytest.raises(hr.UsageError, match="without a ridge"):
        hr.bradley_terry(counts, ridge=0)
    with pytest.raises(hr.UsageError, match="cannot be the anchor"):
        found.ratings(anchor="c")


@pytest.mark.parametrize("wins", [NEVER, APART])
@pytest.mark.parametrize("change", CHANGES)
def test_attacks_on_arenas_in_parts_are_run(wins, change):
    counts = hr.PairCounts.from_wins(wins, items="abcd"[: len(wins)])
    found = hr.attack(counts, hr.bradley_terry, hr.NewWinner(), change=change)
    assert 1 <= found.votes_needed <= found.votes_sufficient <= 3
    assert hr.fulfils(counts.as_votes(), hr.bradley_terry, found.whole.votes, hr.NewWinner())


def test_two_items_need_half_of_their_difference():
    counts = hr.PairCounts.from_wins([[0, 5], [3, 0]], items="ab")
    found = {change: hr.attack(counts, hr.bradley_terry, hr.NewWinner(), change=change) for change in CHANGES}
    assert {change: one.votes_sufficient for change, one in found.items()} == {"drop": 3, "add": 3, "replace": 2}
    assert {change: one.votes_needed for change, one in found.items()} == {"drop": 2, "add": 2, "replace": 1}


def test_one_battle_is_an_arena():
    counts = hr.PairCounts.from_wins([[0, 1], [0, 0]], items="ab")
    assert hr.bradley_terry(counts).text() == "a > b"
    assert any("No ratings" in note for note in hr.bradley_terry(counts).ratings().notes)
    rows = {row["change"]: row for row in paper.arena(counts)["rows"]}
    assert (rows["drop"]["needed"], rows["drop"]["sufficient"], rows["drop"]["influence_works"]) == (None, None, False)
    assert (rows["add"]["sufficient"], rows["replace"]["sufficient"]) == (2, 1)


def test_one_item_cannot_be_overtaken():
    votes = hr.Votes.from_ranks([[1]], [3.0], ["a"], unlisted="observed")
    assert hr.bradley_terry(votes).text() == "a"
    for change in CHANGES:
        found = hr.attack(votes, hr.bradley_terry, hr.NewWinner(), change=change)
        assert math.isinf(found.votes_needed)
    with pytest.raises(hr.UsageError, match="at least two items"):
        paper.arena(votes)


HEAD = "model_a,model_b,winner\n"
COUNTS = "model_a,model_b,wins_a,wins_b\n"


@pytest.mark.parametrize("command", [
    ("rank", "arena.csv", "--rule", "bradley-terry"),
    ("attack", "arena.csv", "--rule", "bradley-terry", "--new-winner"),
    ("paper", "arena", "arena.csv", "--out", "out"),
])  # fmt: skip
@pytest.mark.parametrize(("text", "problem"), [
    ("", "arena.csv: the file is empty"),
    (HEAD, "arena.csv: there are no rows below the header"),
    (COUNTS + "a,b,-3,4\nb,c,2,2\n", "arena.csv, line 2: a count is missing, negative or too large"),
    (COUNTS + "b,c,2,2\na,b,nan,4\n", "arena.csv, line 3: a count is missing, negative or too large"),
])  # fmt: skip
def test_commands_refuse_files_with_the_line(tmp_path, command_line, command, text, problem):
    (tmp_path / "arena.csv").write_text(text, "utf-8")
    code, out, err = command_line(*command)
    assert (code, out) == (3, "")
    assert problem in err
    assert "Traceback" not in err


@pytest.mark.parametrize(("text", "note"), [
    (HEAD + "a,a,model_a\na,b,model_a\nb,a,model_a\na,b,model_a\n", "1 comparison of an item against itself dropped"),
    (COUNTS + "a,a,3,4\nb,c,2,3\n", "7 comparisons of an item against itself dropped"),
    (HEAD + "a,b,model_a\nc,d,model_b\na,b,model_b\n", "the items fall into 2 groups with no comparison between them"),
])  # fmt: skip
@pytest.mark.slow
@pytest.mark.traced
def test_what_is_odd_about_a_file_is_said(tmp_path, command_line, text, note):
    (tmp_path / "arena.csv").write_text(text, "utf-8")
    for command in (("rank", "arena.csv", "--rule", "bradley-terry"), ("paper", "arena", "arena.csv", "--out", "out")):
        code, out, err = command_line(*command)
        assert code == 0
        assert out
        assert note in err
