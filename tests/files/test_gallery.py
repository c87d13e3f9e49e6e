"""Small files in the layouts that people publish: each is read without options, or refused for the stated reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from holdrank.errors import InputError
from holdrank.files import read_votes

GALLERY = Path(__file__).parent / "gallery"
READ = {
    "alpaca_eval.json": ("battles", 12, "aspen"),
    "arena_hard.jsonl": ("battles", 20, "aspen"),
    "chess.csv": ("battles", 6, "Ada"),
    "club.blt": ("blt", 10, "Ash"),
    "columns.json": ("battles", 9, "aspen"),
    "comparia.csv": ("battles", 5, "aspen"),
    "dominion_cvr.json": ("long-ranks", 9, "60"),
    "ess.csv": ("positions", 5, "Ann"),
    "fastchat.json": ("battles", 12, "aspen"),
    "football.csv": ("battles", 6, "Oaks"),
    "football_goals.csv": ("battles", 5, "Oaks"),
    "games.pgn": ("pgn", 4, "Ada"),
    "kaggle_arena.csv": ("battles", 6, "aspen"),
    "lmarena.jsonl": ("battles", 15, "aspen"),
    "lolib.mat": ("lolib", 28, "1"),
    "long_scores.csv": ("long-scores", 3, "aspen"),
    "mteb.csv": ("score-table", 4, "aspen-embed"),
    "nist_cvr.json": ("long-ranks", 9, "Alder"),
    "object_with_list.json": ("battles", 12, "aspen"),
    "open_llm.csv": ("score-table", 4, "org/aspen"),
    "scottish.csv": ("scottish", 15, "Ann Ash"),
    "tennessee.abif": ("abif", 100, "Nash"),
    "tennis.csv": ("battles", 4, "Ada"),
    "wildbench_pairs.json": ("battles", 12, "aspen"),
    "win_matrix.csv": ("win-matrix", 44, "aspen"),
    "win_matrix.tsv": ("win-matrix", 45, "X"),
}
REFUSED = {
    "alpaca_leaderboard.csv": "results, not votes: 'standard_error' is an error",
    "ess_two_contests.csv": "2 contests in this file: 'Mayor', 'Clerk'",
    "leaderboard.json": "results, not votes: 'rating_q025' is a bound of 'rating'",
    "leaderboard_arena.csv": "results, not votes",
    "leaderboard_elo.csv": "results, not votes: 'elo' is an estimate and 'rank' is a place",
    "leaderboard_quantiles.csv": "results, not votes: 'rating_q025' is a bound of 'rating'",
    "nist_two_contests.json": "2 contests in this file: 'c1', 'c2'.*where=\"contest=c1\"",
    "no_winner.csv": "name the two items of a battle, but no column says who won",
    "open_llm_params.csv": "column '#Params \\(B\\)': this column may not be a voter",
    "renamed_winner.csv": "perhaps 'verdict': 'right one' 2 times, 'left one' 1 time.*winner=\"verdict\"",
    "truncated.json": "line 138: the JSON ends in the middle; the file may be truncated",
    "unknown_code.csv": "line 3.*'A is better' 2 times; beside 'model_a' 1 time.*map=",
    "win_shares.csv": "win rates",
}


def test_every_file_of_the_gallery_has_its_line_here():
    names = {path.name for path in GALLERY.iterdir()}
    assert names == {*READ, *REFUSED}
    assert len(names) >= 30


@pytest.mark.parametrize("name", READ)
def test_it_is_read_without_options_and_has_the_stated_winner(name):
    form, total, winner = READ[name]
    votes = read_votes(GALLERY / name)
    assert (votes.reading.format, votes.total) == (form, total)
    wins = votes.wins()
    lead = (wins - wins.T).sum(axis=1)
    assert [votes.items[k] for k in np.flatnonzero(lead == lead.max())] == [winner]


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_for_the_stated_reason(name):
    with pytest.raises(InputError, match=REFUSED[name]):
        read_votes(GALLERY / name)


def test_items_with_numbers_for_names_are_no_scottish_council(tmp_path):
    path = tmp_path / "ranks.csv"
    path.write_text("3,4\n1,2\n2,1\n1,2\n", encoding="utf-8")
    votes = read_votes(path)
    assert votes.reading.format == "rank-columns"
    assert votes.items == ("3", "4")


def test_withdrawn_candidates_of_a_blt_file_are_not_ranked(tmp_path):
    path = tmp_path / "a.blt"
    path.write_text('4 2\n-2 -4\n3 2 3 1 0\n2 1 4 3 0\n1 2 4 0\n0\n"A"\n"B"\n"C"\n"D"\n"T"\n', encoding="utf-8")
    votes = read_votes(path)
    assert votes.items == ("A", "C")
    assert votes.wins().tolist() == [[0, 2], [3, 0]]
    assert any("withdrawn" in note and "B, D" in note for note in votes.notes)


def test_lines_of_a_blt_file_may_lack_the_last_zero_and_leave_places_empty(tmp_path):
    full, short = tmp_path / "full.blt", tmp_path / "short.blt"
    full.write_text('3 1\n3 1 3 0\n2 2=3 1 0\n1 2 0\n0\n"A"\n"B"\n"C"\n"T"\n', encoding="utf-8")
    short.write_text("# polls\n3 1\n3 1 - 3\n2 2=3 1\n1 - 2\n0\nA\nB\nC\nT\n", encoding="utf-8")
    assert read_votes(full).wins().tolist() == read_votes(short).wins().tolist()
    assert read_votes(short).items == ("A", "B", "C")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.blt", '2 1\n3 1 2 0\n1 5 0\n0\n"x"\n"y"\n"t"\n', "line 3: an item is not declared"),
        ("a.blt", "2 1\n3 1 2 0\n1 2 1 0\n", "line 3: the file is truncated: there is no line 0"),
        ("a.blt", '2 1\n3 1 1 0\n0\n"x"\n"y"\n', "line 2: the ballot names an item twice"),
        ("a.blt", '2 1\n3\n0\n"x"\n"y"\n', "line 2: the line is not a ballot"),
        ("a.blt", '3 1\n(b1) 1 2 0\n(b2) 3 1 2 0\n0\n"x"\n"y"\n"z"\n', "line 3: the weight of a ballot with an id"),
        ("a.blt", '2 1\n-1 -2\n3 1 2 0\n0\n"x"\n"y"\n', "no"),
        ("a.abif", "3:a>b\n2:a>>b\n", "line 2: an item has no name"),
        ("a.abif", "3:a>b\nhello\n", "line 2: the line is not a ballot"),
        ("a.pgn", '[White "x"]\n[Black "y"]\n\n1. e4 *\n', "line 1: a game has no tag Result"),
        ("a.pgn", '[White "x"]\n[Black "y"]\n[Result "2-0"]\n', r"'2-0' 1 time.*map="),
        ("a.mat", "3\n0 1 2\n3 0\n", "5 numbers for a matrix of 3 x 3"),
        (
            "a.csv",
            '2,1,\n3,1,2,\n1,3,\n"Candidate 1","x","p",\n"Candidate 2","y","q",\n',
            "line 3: an item is not declared",
        ),
        ("a.json", '[{"model_a": "x", "model_b": "y", "winner": "a"}, 3]', "line 1: an element of the array is not"),
        ("a.csv", ",x,y\nx,,-1\ny,2,\n", "line 2, column 'y': a number of wins is negative"),
    ],
)
def test_bad_files_get_one_clear_message_with_their_line(tmp_path, name, text, words):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_votes(path)
