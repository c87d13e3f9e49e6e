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
    "ess_two_contests.csv": "2 contests are in the file: 'Mayor', 'Clerk'",
    "leaderboard.json": "results, not votes: 'rating_q025' is a bound of 'rating'",
    "leaderboard_arena.csv": "results, not votes",
    "leaderboard_elo.csv": "results, not votes: 'elo' is an estimate and 'rank' is a place",
    "leaderboard_quantiles.csv": "results, not votes: 'rating_q025' is a bound of 'rating'",
    "nist_two_contests.json": "2 contests are in the file: 'c1', 'c2'.*where=\"contest=c1\"",
    "no_winner.csv": "name the two items of a battle, but no column tells who won",
    "open_llm_params.csv": "column '#Params \\(B\\)': a column may be no voter",
    "renamed_winner.csv": "perhaps 'verdict': 'right one' 2 times, 'left one' 1 time.*winner=\"verdict\"",
    "truncated.json": "line 138: the JSON ends in the middle: the file is cut off",
    "unknown_code.csv": "line 3.*'A is better' 2 times; beside 'model_a' 1 time.*map=",
    "win_shares.csv": "shares of wins",
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
