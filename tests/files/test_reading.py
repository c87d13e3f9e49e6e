"""Forms, containers, sniffing and options of vote files, beyond the numbered edge cases."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys

import numpy as np
import pytest

from holdrank import files
from holdrank.errors import HoldrankError, InputError, LimitError, MissingExtraError, UsageError
from holdrank.files import FORMATS, read_votes, validate
from holdrank.files.containers import opening as containers_room
from holdrank.files.preflib import reader as preflib_room
from holdrank.votes.forms import ballots as ballots_room
from holdrank.votes.votes import Votes


def read(text: str | bytes, **options) -> Votes:
    return read_votes(io.BytesIO(text.encode() if isinstance(text, str) else text), **options)


def wins(votes: Votes) -> dict[tuple[str, str], float]:
    """Return the non-zero wins by name."""
    table = votes.wins()
    return {
        (a, b): float(table[i, j]) for i, a in enumerate(votes.items) for j, b in enumerate(votes.items) if table[i, j]
    }


SAME = {("x", "y"): 2.5, ("y", "x"): 1.5}
FORMS = {
    "preflib": "# ALTERNATIVE NAME 1: x\n# ALTERNATIVE NAME 2: y\n2: 1,2\n1: {1,2}\n1: 2,1\n",
    "preflib-old": "2\n1,x\n2,y\n4,4,3\n2,1,2\n1,{1,2}\n1,2,1\n",
    "rank-columns": "weight,x,y\n2,1,2\n1,1,1\n1,2,1\n",
    "score-columns": "weight,x,y\n2,5,0\n1,3,3\n1,0,1\n",
    "long-ranks": "voter,item,rank\n1,x,1\n1,y,2\n2,y,2\n2,x,1\n3,x,1\n3,y,1\n4,y,1\n4,x,2\n",
    "long-scores": "task,model,score\n1,x,9\n1,y,2\n2,y,2\n2,x,4\n3,x,1\n3,y,1\n4,y,1\n4,x,.5\n",
    "score-table": "model,t1,t2,t3,t4\nx,1,2,3,4\ny,0,1e-3,3,4.5\n",
    "battles": "model_a,model_b,winner\nx,y,model_a\ny,x,model_b\nx,y,tie\ny,x,a\n",
    "pair-counts": "i,j,wins_i,wins_j,ties\nx,y,2,0,1\ny,x,1,0,0\n",
    "multi-way": "system1Id,system1rank,system2Id,system2rank\nx,1,y,2\ny,3,x,1\nx,4,y,4\ny,1,x,2\n",
    "jsonl": '{"order": ["x", "y"], "weight": 2}\n{"order": [["x", "y"]]}\n{"ranks": {"x": 2, "y": 1}}\n',
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_tells_the_same_votes_and_is_recognised(form):
    sniffed = read(FORMS[form])
    assert wins(sniffed) == SAME
    assert sniffed.reading.format == form
    assert sniffed.reading.choices["format"].startswith(form)
    told = read(FORMS[form], format=form)
    assert wins(told) == SAME
    assert told.reading.choices["format"] == f"{form} (as set)"
    assert told.reading.sha256 == hashlib.sha256(FORMS[form].encode()).hexdigest()
    for choice in ("unlisted", "ties", "direction"):
        assert told.reading.choices[choice]


def test_forms_without_ties():
    assert wins(read("rank1,rank2\nx,y\nx,y\ny,x\n")) == {("x", "y"): 2, ("y", "x"): 1}
    lists = read("study,1,2,3\nA,x,y,z\nB,y\nC,z,x\n")
    assert lists.reading.format == "lists"
    assert lists.items == ("x", "y", "z")
    assert lists.unlisted == "bottom"
    assert wins(read("A,x,y\nB,y\n", format="lists", header=0, unlisted="observed")) == {("x", "y"): 1}
    order = read("3 1\n0 3 2 0 1\n0 1 1\n")
    assert order.reading.format == "order"
    assert order.items == ("0", "1", "2")
    assert order.ranks.tolist() in ([[2, 3, 1], [0, 1, 0]], [[0, 1, 0], [2, 3, 1]])


def test_all_formats_are_covered_here():
    assert {*FORMS, "positions", "lists", "order"} == set(FORMATS)


def test_default_rule_for_unlisted_items():
    rules = {form: read(text).unlisted for form, text in FORMS.items()}
    ballots = ("preflib", "preflib-old", "rank-columns", "long-ranks", "jsonl")
    assert {form for form, rule in rules.items() if rule == "bottom"} == set(ballots)
    for form in ("battles", "pair-counts"):
        with pytest.raises(UsageError, match="two items"):
            read(FORMS[form], unlisted="bottom")
        assert read(FORMS[form], unlisted="observed").unlisted == "observed"
    for form in set(FORMS) - {"battles", "pair-counts"}:
        for rule in ("bottom", "observed"):
            votes = read(FORMS[form], unlisted=rule)
            assert votes.unlisted == votes.reading.choices["unlisted"] == rule
    with pytest.raises(UsageError, match="bottom"):
        read(FORMS["rank-columns"], unlisted="top")


@pytest.mark.parametrize(
    "line",
    ["0 2 0 x", "0 3 0 1", "0 2 0 5", "0 2 1 1", "0"],
)
def test_faulty_order_lines(line):
    with pytest.raises(InputError, match=r"line 3: .*found .*expected .*to repair"):
        read(f"3 1\n0 1 0\n{line}\n", format="order")
    with pytest.raises(InputError, match=r"start like an \.order file"):
        read("x y\n0 1 0\n", format="order")


# ------------------------------------------------------------------------------------------------------ battles


@pytest.mark.parametrize(
    ("codes", "head"),
    [
        (("model_a", "model_b", "tie"), "model_a,model_b,winner"),
        (("a", "b", "draw"), "model_a,model_b,winner"),
        (("A", "B", "equal"), "model_a,model_b,winner"),
        (("left", "right", "both_good"), "left,right,winner"),
        (("1", "2", "tie"), "Left,Right,Winner"),
        (("P", "Q", "tie"), "model_a,model_b,winner"),
        (("item_a", "item_b", "Tie"), "item_a,item_b,winner"),
    ],
)
def test_winner_codes(codes, head):
    first, second, tie = codes
    votes = read(f"{head}\nP,Q,{first}\nP,Q,{second}\nP,Q,{first}\nP,Q,{tie}\n")
    assert wins(votes) == {("P", "Q"): 2.5, ("Q", "P"): 1.5}


def test_one_hot_winners_and_home_and_away():
    hot = "model_a,model_b,winner_model_a,winner_model_b,winner_tie\nP,Q,1,0,0\nP,Q,0,1,0\nP,Q,0,0,1\n"
    assert wins(read(hot)) == {("P", "Q"): 1.5, ("Q", "P"): 1.5}
    for bad in ("1,1,0", "0,0,0", "x,0,1"):
        with pytest.raises(InputError, match=r"line 3.*exactly one.*to repair"):
            read(hot.replace("0,1,0", bad))
    games = "home_team,away_team,home_score,away_score\nP,Q,3,1\nQ,P,2,2\nP,Q,,\nP,Q,0,10\n"
    votes = read(games)
    assert wins(votes) == {("P", "Q"): 1.5, ("Q", "P"): 1.5}
    assert any("1 battle without two scores dropped" in note for note in votes.notes)
    with pytest.raises(InputError, match=r"line 2.*found 'three and 1'"):
        read(games.replace("3,1", "three,1"))


def test_named_battle_columns_and_weights():
    text = "p,q,who,n\nx,y,p,3\ny,x,y,0.5\n"
    votes = read(text, first="p", second="q", winner="who", weight="n")
    assert wins(votes) == {("x", "y"): 3, ("y", "x"): 0.5}
    assert votes.reading.choices["weight"] == "column 'n'"
    assert wins(read(text, first=1, second=2, winner=3)) == {("x", "y"): 1, ("y", "x"): 1}
    with pytest.raises(UsageError, match="give both"):
        read(text, first="p", winner="who")
    with pytest.raises(InputError, match="no columns of battles"):
        read(text, format="battles")
    with pytest.raises(InputError, match="no columns of battles"):
        read(text, first="p", second="q")
    with pytest.raises(UsageError, match="both_bad"):
        read(FORMS["battles"], both_bad="ignore")
    assert wins(read("model_a,model_b,winner,count\nx,y,a,5\n")) == {("x", "y"): 5}


def test_a_winner_that_is_code_and_name_at_once():
    # A name cannot explain the second row, so codes are meant.
    assert wins(read("left,right,winner\n3,1,1\n3,4,2\n")) == {("3", "1"): 1, ("4", "3"): 1}
    # 3 can only be a name, so 1 is one too.
    assert wins(read("left,right,winner\n2,1,1\n3,2,3\n")) == {("1", "2"): 1, ("3", "2"): 1}
    # Both readings explain every row, and they disagree.
    with pytest.raises(InputError, match=r"line 2, column 'winner'.*both a code and the name.*to repair"):
        read("left,right,winner\n2,1,1\n1,2,1\n")
    # Both readings explain every row, and they agree.
    assert wins(read("left,right,winner\n1,2,1\n")) == {("1", "2"): 1}


def test_pair_counts():
    text = "player1,player2,win1,win2\nx,y,2,1\nx,x,4,4\n"
    votes = read(text)
    assert wins(votes) == {("x", "y"): 2, ("y", "x"): 1}
    assert any("8 comparisons of an item with itself" in note for note in votes.notes)
    named = "u,v,wu,wv,even\nx,y,2,1,1\n"
    assert wins(read(named, format="pair-counts", columns=[1, 2, 3, 4, 5])) == SAME
    for bad in ("-1", "", "nan"):
        with pytest.raises(InputError, match=r"line 2.*missing, negative"):
            read(f"i,j,wins_i,wins_j\nx,y,{bad},1\n")
    with pytest.raises(InputError, match="no columns of pair counts"):
        read(named, format="pair-counts")
    with pytest.raises(InputError, match=r"line 2: an item has no name"):
        read("i,j,wins_i,wins_j\n,y,1,1\n")


def test_multi_way_rows():
    head = "system1Id,system2Id,system3Id,system1rank,system2rank,system3rank\n"
    votes = read(head + "x,y,z,1,1,5\nx,y,,2,1,\nz,x,y,,1,2\n")
    assert votes.unlisted == "observed"
    assert wins(votes) == {("x", "y"): 1.5, ("y", "x"): 1.5, ("x", "z"): 1, ("y", "z"): 1}
    assert any("1 item on a row without a rank" in note for note in votes.notes)
    with pytest.raises(InputError, match=r"line 2, column 'system2Id': the ballot names an item twice"):
        read(head + "x,x,y,1,2,3\n")
    assert wins(read(head + "x,x,y,1,2,3\n", repeated="first")) == {("x", "y"): 1}
    with pytest.raises(InputError, match=r"line 2, column 'system3rank': a rank must be 1 or more.*blanks="):
        read(head + "x,y,z,1,2,-1\n")
    assert wins(read(head + "x,y,z,1,2,-1\n", blanks=["-1"])) == {("x", "y"): 1}
    assert any("not connected" in note for note in read(head + "x,y,,1,2,\nz,w,,1,2,\n").notes)
    assert not any("connected" in n for n in read(head + "x,y,,1,2,\nz,w,,1,2,\n", unlisted="bottom").notes)
    with pytest.raises(InputError, match="no columns of items and their ranks"):
        read("a,b\n1,2\n", format="multi-way")


# ------------------------------------------------------------------------------------------------- other tables


def test_long_files():
    with pytest.raises(InputError, match=r"not clear.*voter=, item= and rank="):
        read("who,what,rank\nv,x,1\n", format="long-ranks")
    with pytest.raises(InputError, match=r"line 3, column 'rank': a rank must be 1 or more"):
        read("voter,item,rank\nv,x,1\nv,y,0\n")
    votes = read("voter,item,rank,weight\nv,x,1,2\nv,y,2,2\nw,y,1,1\nw,x,,1\n")
    assert wins(votes) == {("x", "y"): 2, ("y", "x"): 1}
    assert any("1 row without a rank" in note for note in votes.notes)
    with pytest.raises(InputError, match=r"line 3, column 'weight': the voter had weight 2"):
        read("voter,item,rank,weight\nv,x,1,2\nv,y,2,3\n")
    scores = FORMS["long-scores"]
    assert wins(read(scores, lower_is_better=True)) == {("x", "y"): 1.5, ("y", "x"): 2.5}
    assert wins(read(scores, lower_is_better="4")) == {("x", "y"): 3.5, ("y", "x"): 0.5}
    with pytest.raises(UsageError, match="'t9', which is no voter"):
        read(scores, lower_is_better=["t9"])
    named = "who,what,mark\nv,x,1\nv,y,2\n"
    assert wins(read(named, voter="who", item="what", rank="mark")) == {("x", "y"): 1}
    assert wins(read(named, voter="who", item="what", score="mark")) == {("y", "x"): 1}
    assert wins(read("who,what,rank\nv,x,1\nv,y,2\n", voter="who", item="what")) == {("x", "y"): 1}
    assert wins(read("who,what,score\nv,x,1\nv,y,2\n", voter="who", item="what")) == {("y", "x"): 1}
    with pytest.raises(UsageError, match="item names no column"):
        read(named, item=[], voter="who", rank="mark")


@pytest.mark.parametrize("voter", ["reviewer", "Referee ID", "juror", "assessor", "evaluator_id"])
@pytest.mark.parametrize("item", ["proposal", "applicant", "candidate", "submission", "paper", "nominee", "Project"])
def test_reviews_are_recognised_by_the_names_of_their_columns(voter, item):
    rows = "ann,P1,4\nann,P2,3\nbob,P1,5\nbob,P2,5\ncy,P2,2\ncy,P1,1\n"
    votes = read(f"{voter},{item},score\n{rows}")
    assert votes.reading.format == "long-scores"
    assert wins(votes) == {("P1", "P2"): 1.5, ("P2", "P1"): 1.5}


def test_submissions_are_items_beside_a_reviewer_and_voters_elsewhere():
    votes = read("reviewer,submission_id,score\nann,S1,4\nann,S2,3\nbob,S1,5\nbob,S2,5\n")
    assert wins(votes) == {("S1", "S2"): 1.5, ("S2", "S1"): 0.5}
    votes = read("submission_id,item,rank\nS1,x,1\nS1,y,2\n")
    assert wins(votes) == {("x", "y"): 1}


def test_words_for_what_is_judged_are_items_like_any_other_in_a_header():
    assert read("paper,rock,scissors\n5.5,9,3\n1,2.5,7\n").items == ("paper", "rock", "scissors")
    assert read("referee,coach,keeper\n1,2,3\n3,2,1\n").items == ("referee", "coach", "keeper")


@pytest.mark.parametrize("blank", ["NA", "-", "NaN"])
def test_usual_words_for_nothing_are_blank(blank):
    votes = read(f"reviewer,proposal,score\nann,P1,4\nann,P2,{blank}\nbob,P1,5\nbob,P2,2\n")
    assert votes.incomplete == 1
    assert wins(votes) == {("P1", "P2"): 1.0}


def test_score_tables():
    text = "model,t1,t2\nx,1,2\ny,2,1\n"
    assert wins(read(text, lower_is_better=True)) == {("x", "y"): 1, ("y", "x"): 1}
    assert read(text, lower_is_better=True).reading.choices["direction"] == "scores: low is best"
    votes = read("t1,thing,t2\n10,x,2\n20,y,1\n", item="thing", columns=["t1"], lower_is_better=["t2"])
    assert wins(votes) == {("y", "x"): 1}
    assert any("'t2', a column that is not used" in note for note in votes.notes)
    with pytest.raises(InputError, match="no column of scores"):
        read("model\nx\n", format="score-table")
    with pytest.raises(UsageError, match="repeated"):
        read(text, format="score-table", repeated="last")
    # Where the name of the first column tells nothing, rows may be items or voters.
    with pytest.raises(InputError, match=r"line 2, column 'thing'.*format=\"score-table\""):
        read("thing,t1,t2\nx,1,2\ny,2,1\n")
    with pytest.raises(InputError, match="column 3 has no name"):
        read("model,t1,\nx,1,2\ny,2,1\n")


def test_item_columns():
    assert wins(read("voter,x,y\nv,1,2\nw,2,1\n")) == {("x", "y"): 1, ("y", "x"): 1}
    assert wins(read("person,x,y\n7,1,2\n9,1,2\n", voter="person")) == {("x", "y"): 2}
    with pytest.raises(InputError, match="no column for an item"):
        read("voter,weight\n1,1\n", format="rank-columns")
    with pytest.raises(UsageError, match="lower_is_better=True"):
        read(FORMS["score-columns"], lower_is_better=["x"])
    with pytest.raises(UsageError, match="means nothing for the format 'rank-columns'"):
        read(FORMS["rank-columns"], lower_is_better=True)
    holes = read("x,y,z\n1,2,\n1,2,3\n")
    assert any("1 empty cell" in note for note in holes.notes)
    with pytest.raises(InputError, match=r"line 2, column 'x': the cell is not a rank"):
        read("x,y\none,2\n", format="rank-columns", columns=["x", "y"])
    with pytest.raises(InputError, match="the column holds text"):
        read("x,y\none,2\n", format="rank-columns")


def test_positions_need_columns_and_ignore_gaps_in_numbering():
    with pytest.raises(InputError, match="no columns of positions"):
        read("rank1,rank3\na,b\n", format="positions")
    with pytest.raises(InputError, match="no columns of positions"):
        read("rank1,rank1\na,b\n", format="positions")
    assert wins(read("u,v\na,b\n", format="positions", columns=["v", "u"])) == {("b", "a"): 1}
    assert wins(read("choice_1,choice_2\na,b\n")) == {("a", "b"): 1}
    with pytest.raises(UsageError, match="repeated"):
        read("rank1\na\n", repeated="last")


def test_lists_by_name_and_by_column():
    text = "1,2,study\nx,y,A\n"
    assert wins(read(text, format="lists", voter="study")) == {("x", "y"): 1}
    assert wins(read(text, format="lists", columns=[2, 1])) == {("y", "x"): 1}


# ----------------------------------------------------------------------------------------------- options, words


def test_options_that_make_no_sense_are_refused():
    with pytest.raises(UsageError, match="no format 'excel'"):
        read(FORMS["battles"], format="excel")
    with pytest.raises(UsageError, match="winner= means nothing for the format 'preflib'"):
        read(FORMS["preflib"], winner="x")
    with pytest.raises(UsageError, match=r"sheet= means something for spreadsheets"):
        read(FORMS["battles"], sheet=1)
    with pytest.raises(UsageError, match="one character"):
        read(FORMS["battles"], delimiter="ab")
    with pytest.raises(UsageError, match="short_rows"):
        read(FORMS["battles"], short_rows="cut")
    with pytest.raises(UsageError, match="header is the number"):
        read(FORMS["battles"], header=-1)
    with pytest.raises(UsageError, match=r"categories only means something for \.cat"):
        read(FORMS["preflib"], categories=["x"])
    with pytest.raises(UsageError, match="no option nonsense="):
        validate(io.BytesIO(b"x"), nonsense=1)


def test_blanks_may_be_one_word():
    votes = read("rank1,rank2\na,none\n", blanks="none")
    assert votes.items == ("a",)


def test_a_decimal_string_names_a_position_when_no_column_has_that_name():
    assert wins(read("q,x,y\n9,1,2\n", columns=["2", "3"], format="rank-columns")) == {("x", "y"): 1}


def test_header_row_zero_means_no_header():
    votes = read("x,y,model_a\n", header=0, first=1, second=2, winner=3)
    assert wins(votes) == {("x", "y"): 1}


def test_validation_reports_what_stops_everything():
    found = validate(io.BytesIO(b"\xff\xfe\xfa"))
    assert found.total == 1
    assert "not utf-8" in str(found.problems[0])
    assert found.votes is None


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("model_a,model_b,winner\nx,y,a\nx,,a\nx,y,q\n,y,b\n", {3, 4, 5}),
        ("model_a,model_b,winner_a,winner_b\nx,y,1,1\nx,y,1,0\nx,y,0,0\n", {2, 4}),
        ("home_team,away_team,home_score,away_score\nx,y,a,1\nx,y,1,0\nx,y,b,0\n", {2, 4}),
        ("i,j,wins_i,wins_j\nx,y,-1,1\nx,y,1,q\n", {2, 3}),
        ("model,t\nx,1\nx,2\n,3\ny,q1\nz,inf\n", {3, 4, 5, 6}),
        ("x,y,z,w\n1,2,3,4\n0,1,2,3\n1,2\n1,2,3,4,5\n", {3, 4, 5}),
        ("voter,item,rank\nv,x,1\nv,x,2\nv,,1\nv,y,0\nv,z,q\n", {3, 4, 5, 6}),
        ("voter,item,rank,weight\nv,x,1,1\nv,y,2,2\nv,z,3,-1\n", {3, 4}),
        ("rank1,rank2\nx,x\ny,y\nx,y\n", {2, 3}),
        ("system1Id,system1rank,system2Id,system2rank\nx,1,x,2\nx,0,y,1\nx,1,y,q\n", {2, 3, 4}),
        ('{"order": ["x", "y"]}\n{"order": 3}\nnope\n[1]\n{"order": ["x", "x"]}\n', {2, 3, 4, 5}),
        ('{"model": "x", "t": 1}\n{"model": "y", "t": [2]}\n{"model": "x", "t": 3}\n', {2, 3}),
        ("2 1\n0 1 5\n0 1 1\n0 2 1\n", {2, 4}),
        ("2\n1,x\nnope\n3,3,3\n1,1\n1,2\n", {3, 6}),
        ("# ALTERNATIVE NAME 1: x\n# ALTERNATIVE NAME 1: y\n1: 1\n1: 2\n# TITLE: t\n", {2, 4, 5}),
        ('a,b\n1,2\n1,"2\n', {3}),
    ],
)
def test_checking_finds_every_fault(text, lines):
    format = "rank-columns" if text.startswith("x,y,z,w") else None
    found = validate(io.BytesIO(text.encode()), format=format)
    assert {problem.line for problem in found.problems} == lines
    assert found.total == len(found.problems)
    assert found.votes is None
    for problem in found.problems:
        for word in ("binary file, line ", "; found ", "expected ", "; to repair: "):
            assert word in str(problem)
    with pytest.raises(InputError):
        read(text, format=format)


def test_preflib_corners():
    with pytest.raises(InputError, match="no alternatives are declared"):
        read("# DATA TYPE: soc\n1: 1\n")
    with pytest.raises(InputError, match="unknown DATA TYPE"):
        read("# DATA TYPE: xyz\n# ALTERNATIVE NAME 1: a\n1: 1\n")
    with pytest.raises(InputError, match=r"line 2: the line is no ballot"):
        read("# ALTERNATIVE NAME 1: a\n1,1\n", format="preflib")
    untyped = read("# ALTERNATIVE NAME 1:a\n# ALTERNATIVE NAME 2:\n1: 1\n")
    assert untyped.items == ("a", "#2")
    assert any("no DATA TYPE" in note for note in untyped.notes)
    with pytest.raises(InputError, match="line 2: the order is empty"):
        read("# ALTERNATIVE NAME 1: a\n3: \n")
    with pytest.raises(InputError, match=r"line 2: 'é' is not an item number"):
        read("# ALTERNATIVE NAME 1: a\n3: é\n")
    with pytest.raises(InputError, match="line 2: an item is missing before a comma"):
        read("# ALTERNATIVE NAME 1: a\n3: ,1\n")
    with pytest.raises(InputError, match="line 3: a comma is missing"):
        read("# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n3: 1 2\n")
    with pytest.raises(InputError, match="is not declared"):
        read("# ALTERNATIVE NAME 1: a\n3: " + "9" * 40 + "\n")
    huge = "123456789012345"
    with pytest.raises(InputError, match="line 2: the number of a name is absurdly large"):
        read(f"# ALTERNATIVE NAME {huge}: a\n# ALTERNATIVE NAME {huge}6: b\n1: {huge}\n")
    with pytest.raises(InputError, match="line 3: item 12345678901234567890 is not declared"):
        read(f"# ALTERNATIVE NAME {huge}: a\n1: {huge}\n1: {huge}6789012345\n")
    assert read("# ALTERNATIVE NAME 0: a\n# ALTERNATIVE NAME 7: b\n1: 000000000000000000000007\n").wins()[1, 0] == 1
    # Without declared categories the lines say how many there are.
    votes = read("# DATA TYPE: cat\n# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n3: {},1,2\n")
    assert votes.reading.choices["categories"] == "as listed: '1' > '2' > '3'"


def test_line_numbers_count_blank_lines():
    text = "\n# ALTERNATIVE NAME 1: a\n\n1: 1\n\n\n1: 2\n"
    with pytest.raises(InputError, match="line 7: item 2 is not declared"):
        read(text)
    with pytest.raises(InputError, match=r"line 5, .*item twice"):
        read('rank1,rank2\n"a\nb",c\n\na,a\n')


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("rows", [4095, 4096, 4097, 9000])
def test_long_files_keep_their_rows_and_line_numbers(quoted, rows):
    cell = '"b\nc"' if quoted else "b"
    lines = [f"a,{cell}"] * rows
    lines[rows - 2] = f"\na,{cell}"  # a blank line near the end
    text = "rank1,rank2\n" + "\n".join(lines) + "\n"
    assert read(text).total == rows
    found = validate(io.BytesIO((text + "a,b,c\na,a\n").encode()))
    last = text.count("\n") + 1
    assert [problem.line for problem in found.problems] == [last, last + 1]


def test_a_header_far_down():
    text = "junk\n" * 5000 + "rank1,rank2\na,b\n"
    assert wins(read(text, header=5001)) == {("a", "b"): 1}


def test_the_careful_and_the_fast_reader_agree(monkeypatch):
    rng = np.random.default_rng(7)
    names = "".join(f"# ALTERNATIVE NAME {k}: n{k}\n" for k in range(3, 10))
    lines = []
    for _ in range(300):
        items = rng.permutation(np.arange(3, 10))[: rng.integers(1, 8)].tolist()
        cut = int(rng.integers(0, len(items)))
        groups = [str(k) for k in items[:cut]] + ["{" + " , ".join(map(str, items[cut:])) + "}"]
        lines.append(f"{rng.integers(0, 50)}: " + ", ".join(groups))
    text = "# DATA TYPE: toi\n" + names + "\n".join(lines) + "\n"
    fast = read(text)
    monkeypatch.setattr(preflib_room, "_read_fast", lambda *_: None)
    slow = read(text)
    assert slow == fast
    assert slow.notes == fast.notes
    assert np.array_equal(slow.ranks, fast.ranks)


def test_too_many_ballots_for_the_items_is_a_limit(monkeypatch):
    monkeypatch.setattr(ballots_room, "MAX_CELLS", 3)
    for form in ("preflib", "battles", "jsonl", "long-ranks"):
        with pytest.raises(LimitError, match=r"[234] distinct ballots over 2 items.*to repair"):
            read(FORMS[form])


# ---------------------------------------------------------------------------------------------------- containers


def test_an_object_without_keys_is_no_record():
    with pytest.raises(InputError, match="line 1: the objects have no keys"):
        read("{}\n")


def test_json_lines():
    records = "\n".join(
        json.dumps(record)
        for record in (
            {"model_a": "x", "model_b": "y", "winner": "model_a", "n": 1.0},
            {"model_b": "x", "model_a": "y", "winner": "x", "n": None, "flag": True},
            {"model_a": "x", "model_b": "y", "winner": "tie", "n": 0.5},
            {"model_a": "x", "model_b": "y", "winner": 2},
        )
    )
    votes = read(records)
    assert wins(votes) == SAME
    assert votes.reading.format == "battles"
    head = '{"items": ["y", "x"], "unlisted": "observed"}\n{"order": ["x"], "weight": 0.5}\n'
    votes = read(head + '{"ranks": {"y": 2.5, "x": 1, "z": null}}\n')
    assert votes.items == ("y", "x")
    assert votes.unlisted == "observed"
    assert wins(votes) == {("x", "y"): 1}
    assert read(head, unlisted="bottom").unlisted == "bottom"
    assert read('{"order": [1, 2]}\n').items == ("1", "2")
    twice = '{"order": ["a", "b", "a"]}\n'
    votes = read(twice, repeated="first")
    assert wins(votes) == {("a", "b"): 1}
    assert any("1 ballot names an item more than once" in note for note in votes.notes)
    for bad in (
        '{"items": ["a", "a"]}\n{"order": ["a"]}',
        '{"items": 3}\n{"order": ["a"]}',
        '{"items": [""]}\n{"order": ["a"]}',
        '{"items": ["a"], "unlisted": "top"}\n{"order": ["a"]}',
        '{"order": ["a"], "weight": -1}',
        '{"order": ["a"], "weight": "2"}',
        '{"order": ["a"], "weight": true}',
        '{"order": ["a"], "weight": NaN}',
        '{"order": ["a", ""]}',
        '{"order": [null]}',
        '{"order": [[["a"]]]}',
        '{"ranks": {"a": 0}}',
        '{"ranks": {"a": "1"}}',
        '{"ranks": {"a": Infinity}}',
        '{"ranks": {"": 1}}',
        '{"ranks": [1]}',
        '[{"order": ["a"]}]',
        "[" * 5000,
        '{"order": ' + "[" * 100_000,
    ):
        with pytest.raises(InputError, match=r"binary file, line 1: .*found .*expected .*to repair"):
            read(bad)
    with pytest.raises(InputError, match="line 2: the line holds no ballot"):
        read('{"order": ["a"]}\n{"weight": 1}\n')
    with pytest.raises(InputError, match="nothing to aggregate"):
        read('{"order": []}\n')


@pytest.fixture
def workbook():
    openpyxl = pytest.importorskip("openpyxl")

    def make(*sheets: tuple[str, list[list[object]]]) -> bytes:
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets:
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        out = io.BytesIO()
        book.save(out)
        return out.getvalue()

    return make


def test_spreadsheets(workbook, tmp_path):
    rows = [["model", "t1", "t2"], ["x", 1.5, 2], [7, 2, None], [], [7.5, "3", 4]]
    data = workbook(("Votes", rows), ("Other", [["rank1"], ["a"]]))
    votes = read(data)
    assert votes.items == ("x", "7", "7.5")
    assert wins(votes) == {("7", "x"): 1, ("7.5", "x"): 2, ("7.5", "7"): 1}
    assert any("sheet 'Votes', the first of 2" in note for note in votes.notes)
    path = tmp_path / "v.xlsx"
    path.write_bytes(data)
    for sheet in ("Other", 2, "2"):
        assert read_votes(path, sheet=sheet).items == ("a",)
    with pytest.raises(InputError, match=r"no such sheet; found '3'.*'Votes', 'Other'"):
        read(data, sheet=3)
    with pytest.raises(InputError, match=r"line 5, column 't1': the cell is not a score"):
        read(workbook(("S", [*rows[:4], ["z", "3%", 1]])))
    with pytest.raises(UsageError, match="delimiter="):
        read(data, delimiter=",")
    with pytest.raises(UsageError, match="is text"):
        read(data, format="preflib")
    with pytest.raises(InputError, match="the file is empty"):
        read(workbook(("S", [])))


def test_spreadsheet_dates_are_noted(workbook):
    import datetime

    day = datetime.date(2024, 3, 1)
    votes = read(workbook(("S", [["model", "t"], ["MARCH1", 10], [day, 20]])))
    assert votes.items == ("MARCH1", "2024-03-01T00:00:00")
    assert any("1 cell is a date" in note for note in votes.notes)


def test_damaged_spreadsheets_and_bombs_are_refused(workbook, monkeypatch):
    data = workbook(("S", [["model", "t"], ["x", 1]]))
    for cut in (100, len(data) // 2, len(data) - 30):
        with pytest.raises(InputError):
            read(data[:cut])
    monkeypatch.setattr(containers_room, "_LARGEST_SHEET", 100)
    with pytest.raises(LimitError, match="unpacks to"):
        read(data)


def parquet(columns: dict[str, list[object]]) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    out = io.BytesIO()
    pq.write_table(pyarrow.table(columns), out)
    return out.getvalue()


BATTLES = {"model_a": ["x", "y", "x", "y"], "model_b": ["y", "x", "y", "x"], "winner": ["model_a", "b", "tie", "a"]}
SCORES = {"model": ["x", "y", "007"], "t1": [10, None, 30], "t2": [0.5, float("nan"), 0.25], "t3": [3, 2, 1]}


@pytest.mark.parametrize("engine", ["duckdb", "pyarrow"])
def test_parquet(engine, monkeypatch, tmp_path):
    pytest.importorskip(engine)
    if engine == "pyarrow":
        monkeypatch.setitem(sys.modules, "duckdb", None)
    assert wins(read(parquet(BATTLES))) == SAME
    votes = read(parquet(SCORES))
    assert votes.items == ("x", "y", "007")
    assert wins(votes) == {("007", "x"): 1, ("x", "007"): 2, ("x", "y"): 1, ("y", "007"): 1}
    path = tmp_path / "v[1]*.parquet"
    path.write_bytes(parquet(BATTLES))
    assert wins(read_votes(path)) == SAME
    (tmp_path / "plain.parquet").write_bytes(parquet(BATTLES))
    assert wins(read_votes(tmp_path / "plain.parquet")) == SAME
    with pytest.raises(InputError, match=r"row.*|line 2, column 't1'"):
        read(parquet({"model": ["x", "y"], "t1": [1.0, float("inf")]}))
    with pytest.raises(InputError, match="no rows below the header"):
        read(parquet({"model": [], "t1": []}))
    with pytest.raises(InputError, match="Parquet file cannot be read"):
        read(parquet(BATTLES)[:-20])
    (tmp_path / "v.csv").write_bytes(parquet(BATTLES))
    with pytest.raises(InputError, match="this is a Parquet file"):
        read_votes(tmp_path / "v.csv")


def test_parquet_texts_of_other_types():
    import datetime

    columns = {
        "model": [datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 3)],
        "t": [10, 20, 30],
    }
    with pytest.raises(InputError, match="line 2, column 'model': an item has no name"):
        read(parquet(columns))
    columns["model"] = [True, False, True]
    with pytest.raises(InputError, match="two rows"):
        read(parquet(columns))


def test_missing_extras_name_the_extra(monkeypatch, workbook):
    data, sheet = parquet(BATTLES), workbook(("S", [["rank1"], ["a"]]))
    for module in ("duckdb", "pyarrow", "openpyxl"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"reading Parquet needs duckdb.*holdrank\[io\]"):
        read(data)
    with pytest.raises(MissingExtraError, match=r"spreadsheet needs openpyxl.*holdrank\[io\]"):
        read(sheet)


def test_reading_files_imports_nothing_heavy():
    code = (
        "import sys, holdrank.files; "
        "heavy = {'duckdb', 'openpyxl', 'narwhals', 'pandas', 'polars', 'pyarrow', 'numba'} & set(sys.modules); "
        "print(sorted(heavy))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


# --------------------------------------------------------------------------------------------------- real samples


def test_old_and_new_preflib_format_give_the_same_votes(shared_data):
    old = read_votes(shared_data / "format-samples" / "old-format-00002-00000006.toc")
    new = read_votes(shared_data / "debian" / "00002-00000006.toc")
    assert old == new
    assert old.reading.format == "preflib-old"


@pytest.mark.parametrize(
    ("name", "items", "ballots", "orders"),
    [
        ("old-format-00018-00000004.soi", 7, 32086, 210),
        ("00021-00000012.toi", 5, 183192, 51),
        ("00042-00000083.soc", 1, 37, 1),
        ("00056-00000064.soc", 298, 1, 1),
        ("00057-00000004.cat", 9, 4899645, 9),
        ("00063-00000001.cat", 23, 82, 74),
        ("00070-00001427.soc", 4, 5, 3),
    ],
)
def test_format_samples(name, items, ballots, orders, shared_data):
    votes = read_votes(shared_data / "format-samples" / name)
    assert (len(votes.items), votes.total, len(votes.weights)) == (items, ballots, orders)


def test_real_categories_worst_first(shared_data):
    path = shared_data / "format-samples" / "00069-00000012.cat"
    best_first = read_votes(path, categories=["Approved", "Neutral/Skipped", "Disapproved"], unlisted="observed")
    listed = read_votes(path, unlisted="observed")
    assert np.array_equal(best_first.wins(), listed.wins().T)
    assert "Comment #35" in listed.items


def test_real_files_that_are_refused(shared_data):
    with pytest.raises(InputError, match="holds no votes"):
        read_votes(shared_data / "format-samples" / "00036-00000001.wmd")
    with pytest.raises(InputError, match="byte 0x8c at offset 641"):
        read_votes(shared_data / "starwars-survey" / "StarWars.csv")
    with pytest.raises(InputError, match="column 5 has no name"):
        read_votes(shared_data / "starwars-survey" / "StarWars.csv", encoding="latin-1", format="rank-columns")
    with pytest.raises(InputError, match="names an item twice"):
        read_votes(shared_data / "minneapolis-2017-ward9" / "2017-ward-9-cvr.csv")
    with pytest.raises(HoldrankError):
        read_votes(shared_data / "wildbench" / "score.json")


def test_real_notes(shared_data):
    votes = read_votes(shared_data / "minneapolis-2017-ward9" / "2017-ward-9-cvr.csv", repeated="first")
    for words in (
        "322 ballots name an item more than once",
        "131 ballots without any name dropped",
        "25 ballots have a blank above a name",
        "'UWI'",
    ):
        assert any(words in note for note in votes.notes), (words, votes.notes)
    crowd = read_votes(shared_data / "llmfao-crowd" / "crowd-comparisons.csv")
    assert any("927 of 1,711 pairs" in note for note in crowd.notes)
    assert crowd.reading.choices["format"] == "battles (columns left, right, winner)"
    assert files.FORMATS[crowd.reading.format]


# ------------------------------------------------------------------------------- sniffing: never a silent guess

RANKS_OR_SCORES = r"ranks \(1 is best\) or scores.*format=\"rank-columns\" or format=\"score-columns\""
UNCLEAR = {
    "0 is unlisted": "A,B,C\n1,2,0\n0,1,2\n",
    "ranks from 0": "A,B,C\n0,1,2\n2,1,0\n",
    "ranks from 0 with ties": "A,B,C\n0,0,2\n2,1,0\n",
    "-1 is unlisted": "A,B,C\n1,-1,-1\n2,1,-1\n",
    "99 is unlisted": "A,B,C\n1,99,99\n2,1,99\n",
    "99 is unlisted, single choices": "A,B,C\n1,99,99\n99,1,99\n",
    "a year": "year,A,B,C\n2001,1,2,3\n2002,1,3,2\n",
    "an age, and ties": "age,A,B,C\n30,1,2,2\n41,1,1,3\n",
    "an index": "Unnamed: 0,A,B\n0,1,2\n1,2,1\n2,1,2\n",
    "an unknown number": "zzz,A,B,C\n12.25,1,1,3\n13.5,1,3,2\n",
    "a year and 0": "when,A,B,C\n2001,1,2,0\n2001,1,0,0\n",
    "part of the ranks": "A,B,C\n7,9,2\n5,1,8\n",
}


@pytest.mark.parametrize("text", UNCLEAR.values(), ids=UNCLEAR.keys())
def test_what_may_be_ranks_is_never_taken_for_scores(text):
    with pytest.raises(InputError, match=RANKS_OR_SCORES):
        read(text)
    assert read(text, format="score-columns").reading.format == "score-columns"


def test_a_column_that_may_be_no_item_is_named_in_the_repair():
    for name in ("a year", "an age, and ties", "an index", "an unknown number"):
        with pytest.raises(InputError, match="to repair: name the columns of the items with columns="):
            read(UNCLEAR[name])
    # A year among scores would win every ballot.
    with pytest.raises(InputError, match=r"column 'year': a column may be no item.*columns="):
        read("year,A,B,C\n2001,5,5,3\n2002,0,3,3\n")
    votes = read("year,A,B,C\n2001,5,5,3\n2002,0,3,3\n", columns=["A", "B", "C"])
    assert votes.reading.format == "score-columns"
    # Where it holds ranks like all others it is an item.
    assert read("year,A,B\n1,2,3\n3,1,2\n").items == ("year", "A", "B")


def test_one_row_far_down_may_decide():
    ranks = "".join(f"{2000 + k},1,2,2\n" for k in range(400))
    with pytest.raises(InputError, match=RANKS_OR_SCORES):
        read("when,A,B,C\n" + ranks)
    with pytest.raises(InputError, match=r"column 'when': a column may be no item.*columns="):
        read("when,A,B,C\n" + ranks + "2001,4,4,2\n")
    assert read("A,B,C\n" + "0,1,1\n" * 400 + "3,3,0\n").reading.format == "score-columns"


def test_chosen_columns_are_judged_by_all_columns():
    text = "A,B,C,D\n1,2,3,4\n1,2,3,4\n1,2,4,3\n"
    with pytest.raises(InputError, match=RANKS_OR_SCORES):
        read(text, columns=["C", "D", "A"])
    votes = read(text, columns=["C", "D", "A"], format="rank-columns")
    assert wins(votes)["A", "C"] == 3
    assert read(text, columns=["A", "B"]).reading.format == "rank-columns"
    with pytest.raises(InputError, match=RANKS_OR_SCORES):
        read("A,B,C\n2,1,5\n1,2,5\n", columns=["A", "B"])  # points from 1 to 5, or a year


def test_tables_of_items_whose_cells_may_be_ranks():
    text = "team,judge1,judge2\nX,1,2\nY,2,1\nZ,3,3\n"
    for options in ({}, {"item": "team"}, {"item": "team", "columns": ["judge1"]}):
        with pytest.raises(InputError, match=r"columns may hold ranks.*format=\"score-table\".*lower_is_better=True"):
            read(text, **options)
    low = read(text, format="score-table", lower_is_better=True)
    assert low == read(text, lower_is_better=True)
    assert wins(low)["X", "Z"] == 2
    assert wins(read(text, format="score-table"))["Z", "X"] == 2
    with pytest.raises(InputError, match="columns may hold ranks"):
        read("team,place\nX,1\nY,2\nZ,3\n")
    with pytest.raises(InputError, match="columns may hold ranks"):
        read("team,judge1,judge2,total\nX,1,2,3\nY,2,1,3\nZ,3,3,6\n")
    for sure in (
        "model,t1,t2\nx,80,70\ny,75,72\n",
        "model,t1,t2\nx,1,0\ny,0,1\nz,1,1\n",
        "model,t1,t2\nx,0.5,1\ny,0.25,2\n",
        "model,t1,t2\nx,5,4\ny,5,3\nz,4,3\n",
    ):
        assert read(sure).reading.format == "score-table"


def test_a_column_called_name_may_name_voters():
    text = "name,Pizza,Sushi,Taco\nann,1,2,3\nbob,1,2,3\ncid,2,1,3\n"
    with pytest.raises(InputError, match=r"row may be an item.*or a voter.*voter=\"name\" and format=\"rank-columns\""):
        read(text)
    votes = read(text, voter="name", format="rank-columns")
    assert votes.items == ("Pizza", "Sushi", "Taco")
    assert wins(votes)["Pizza", "Sushi"] == 2


def test_ratings_with_camel_case_names():
    votes = read("userId,movieId,rating,timestamp\n1,10,5,964982703\n1,20,3,964982704\n2,10,4,964982705\n2,20,4.5,1\n")
    assert votes.reading.format == "long-scores"
    assert wins(votes) == {("10", "20"): 1, ("20", "10"): 1}
    assert wins(read("modelA,modelB,winner\nx,y,modelA\n")) == {("x", "y"): 1}


# ------------------------------------------------------------------------------------------------------- weights


@pytest.mark.parametrize("name", ["votes", "Voters", "n", "ballots", "count", "frequency", "numVotes"])
def test_names_of_weights(name):
    votes = read(f"{name},rank1,rank2\n100,a,b\n1,b,a\n")
    assert wins(votes) == {("a", "b"): 100, ("b", "a"): 1}
    assert votes.reading.choices["weight"] == f"column '{name}'"
    lines = f'{{"order": ["a", "b"], "{name}": 100}}\n{{"ranks": {{"a": 2, "b": 1}}, "voter": "v"}}\n'
    assert wins(read(lines)) == wins(votes)


def test_among_items_n_is_an_item():
    assert read("M,N\n1,2\n2,1\n").items == ("M", "N")
    assert wins(read("votes,M,N\n3,1,2\n1,2,1\n")) == {("M", "N"): 3, ("N", "M"): 1}


def test_two_columns_of_weights_are_one_too_many():
    text = "votes,weight,rank1\n3,5,a\n"
    with pytest.raises(InputError, match=r"more than one column may hold the weights; found 'votes, weight'.*weight="):
        read(text)
    assert read(text, weight="votes").total == 3


def test_columns_of_numbers_that_are_not_used_are_noted():
    votes = read("precinct,age,voter,rank1,rank2,remark\n7,30,1,a,b,x\n8,41,2,b,a,y\n")
    assert votes.notes == ("columns 'precinct', 'age' are not used; set weight= if a column holds weights",)
    votes = read("size,1,2\n7,a,b\n")
    assert votes.notes == ("column 'size' is not used; set weight= if a column holds weights",)


def test_json_ballots_hold_nothing_else():
    for bad, words in (
        ('{"order": ["a", "b"], "wieght": 3}', "a key that means nothing; found 'wieght'"),
        ('{"ranks": {"a": 1}, "note": "x", "of": 3}', "a key that means nothing; found 'note, of'"),
        ('{"order": ["a"], "count": 3, "weight": 2}', "the same thing twice"),
        ('{"order": ["a"], "ranks": {"a": 1}}', "the same thing twice"),
        ('{"order": ["a"], "count": "3"}', "the weight is not sound"),
        ('{"order": ["\\ud800", "b"]}', "half of a character pair"),
        ('{"ranks": {"\\uDFFF": 1}}', "half of a character pair"),
    ):
        with pytest.raises(InputError, match=f"line 1: .*{words}.*to repair"):
            read(bad + "\n")
    assert read('{"order": ["\\ud83d\\ude00", "b"]}\n').items == ("\U0001f600", "b")
    with pytest.raises(InputError, match=r"line 3: the item is not declared; found 'c'"):
        read('{"items": ["a", "b"]}\n{"order": ["a", "b"]}\n{"order": ["c"]}\n')
    with pytest.raises(InputError, match=r"line 1: .*half of a character pair"):
        read('{"model_a": "\\udc00", "model_b": "y", "winner": "tie"}\n')


def test_json_records_take_the_format_of_their_table(tmp_path):
    text = '{"A": 1, "B": 1, "C": 2}\n{"A": 1, "B": 2, "C": 2}\n'
    with pytest.raises(InputError, match=RANKS_OR_SCORES):
        read(text)
    assert wins(read(text, format="rank-columns"))["A", "C"] == 2
    assert wins(read("\n" + text.replace("\n", "\r\n"), format="score-columns"))["C", "A"] == 2
    path = tmp_path / "v.jsonl"
    path.write_text(text)
    assert read_votes(path, format="rank-columns", columns=["A", "C"]).items == ("A", "C")
    with pytest.raises(UsageError, match="is a table, but the lines of binary file are ballots"):
        read('{"order": ["a"]}\n', format="rank-columns")
    for option in ({"delimiter": ","}, {"header": 1}):
        with pytest.raises(UsageError, match="means nothing for JSON Lines"):
            read(text, format="rank-columns", **option)
    # A CSV file may begin with a brace all the same.
    assert read("{x,y}\n1,2\n", format="rank-columns").items == ("{x", "y}")


def test_a_mark_without_a_voter_is_refused():
    for text in ("voter,item,rank\nv,x,1\n,y,2\n", "task,model,score\nv,x,1\n ,y,2\n"):
        with pytest.raises(InputError, match=r"line 3, column '(voter|task)': a mark has no voter; found"):
            read(text)


# ------------------------------------------------------------------------------------------- messages and border


def test_the_cell_shown_is_the_one_at_fault():
    with pytest.raises(InputError, match=r"line 3, column 'thing'.*found 'x'") as caught:
        read("thing,t1\n1,2\nx,3\n")
    assert 'format="rank-columns" or format="score-columns"' in str(caught.value)


@pytest.mark.parametrize(
    ("cell", "plain"), [("91.2%", "91.2"), ("0,5", "0.5"), ("1,234,567", "1234567"), ("0.85 ± 0.02", "0.85")]
)
def test_numbers_gone_wrong_are_never_called_blanks(cell, plain):
    with pytest.raises(InputError, match=f"such as {plain}$") as caught:
        read(f"model;t\nx;{cell}\n", delimiter=";")
    assert "blanks" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "what", "repair"),
    [
        (b"\x89PNG\r\n\x1a\n", "a PNG image", "save them as CSV"),
        (b"\xff\xd8\xff\xe0", "a JPEG image", "save them as CSV"),
        (b"%PDF-1.7", "a PDF document", "save them as CSV"),
        (b"\x1f\x8b\x08", "a gzip archive", "unpack it first"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a spreadsheet in the old Excel format", "save it as .xlsx or as CSV"),
    ],
)
def test_other_files_are_called_by_their_name(data, what, repair):
    with pytest.raises(InputError, match=f"this is {what}.*to repair: .*{repair}"):
        read(data)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("header", "1"),
        ("header", 1.0),
        ("header", True),
        ("delimiter", 3),
        ("encoding", 8),
        ("columns", [1.0]),
        ("columns", 1.5),
        ("columns", [["rank1"]]),
        ("columns", True),
        ("item", {1: 2}.values),
        ("voter", ["rank1"]),
        ("weight", 1.0),
        ("blanks", 3),
        ("blanks", [None]),
        ("lower_is_better", 1),
        ("unlisted", 0),
        ("categories", 1.0),
        ("sheet", 1.0),
    ],
)
def test_options_of_the_wrong_type_are_refused_by_name(option, value):
    for reader in (read_votes, validate):
        with pytest.raises(UsageError, match=rf"^{option}= takes .*, not "):
            reader(io.BytesIO(b"rank1,rank2\na,b\n"), **{option: value})
    with pytest.raises(UsageError, match="there is no format"):
        read_votes(io.BytesIO(b"rank1\na\n"), format=["positions"])


def test_one_column_may_stand_alone():
    text = "AB,A,B\n1,2,3\n"
    assert read(text, columns="AB", format="rank-columns").items == ("AB",)
    assert read(text, columns=2, format="rank-columns").items == ("A",)
    assert read(text, columns=np.array([2, 3]), format="rank-columns").items == ("A", "B")
    with pytest.raises(InputError, match="no such column for columns; found 'BA'"):
        read(text, columns="BA", format="rank-columns")


def test_reading_leaves_the_limit_of_the_csv_module_alone():
    import csv

    limit = csv.field_size_limit()
    try:
        csv.field_size_limit(200_000)
        read("rank1,rank2\na,b\n")
        assert csv.field_size_limit() == 200_000
    finally:
        csv.field_size_limit(limit)
    assert read(f"rank1,rank2\n{'a' * 500_000},b\n").items[1] == "b"


def test_half_characters_of_an_encoding_are_refused():
    with pytest.raises(InputError, match="the text is not unicode_escape"):
        read(b"rank1,rank2\n\\ud800,b\n", encoding="unicode_escape")


def test_a_long_table_in_which_every_voter_has_one_mark_is_refused(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("id,title,points\n1,Juicy,140\n2,The Message,90\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 3, column 'id': no voter gives more than one mark.*voter="):
        read_votes(path)
    votes = read_votes(path, format="long-scores", unlisted="bottom")
    assert votes.total == 2


# ---------------------------------------------------------------------------------- names and columns seen in the wild


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Model A,Model B,Winner\nx,y,Model A\n", "battles"),
        ("model-a,model-b,winner,Vote Count\nx,y,model_b,3\n", "battles"),
        ("Voter ID,Candidate,Rank\n1,x,1\n1,y,2\n2,x,1\n", "long-ranks"),
        ("User ID,Item ID,Rating\n1,x,4\n1,y,2\n2,x,1\n", "long-scores"),
        ("Dataset,Model Name,Accuracy\nd,x,0.4\nd,y,0.2\ne,x,0.1\n", "long-scores"),
        ("#,User ID,Item ID,Rating\n1,1,x,4\n2,1,y,2\n3,2,x,1\n", "long-scores"),
        *((f"{who},x,y,z\n7,1,2,3\n9,1,3,2\n", "rank-columns") for who in ("Respondent ID", "voter-id", "User ID")),
        *((f"{who},x,y,z\n7,1,2,3\n9,1,3,2\n", "rank-columns") for who in ("Worker ID", "ResponseId", "#", "UID")),
        ("winner,loser\nx,y\n", "battles"),
        ("tourney,winner_name,loser_name\nt,x,y\n", "battles"),
        ("chosen,rejected\nx,y\nx,y\n", "battles"),
        ("player1,player2,winner\nx,y,x\ny,x,2\n", "battles"),
        ("first_choice,second_choice,third_choice\nx,y,z\n", "positions"),
        ("1st choice,2nd choice,3rd choice\nx,y,z\n", "positions"),
        *((f"{what},t,u\nx,0.5,7\ny,0.25,3\n", "score-table") for what in ("models", "LLM", "Country", "company", "")),
        ("Rank,Model,MMLU,GSM\n1,x,81.5,70\n2,y,80.1,75\n", "score-table"),
        ("#,Model,MMLU,GSM\n1,x,81.5,70\n2,y,80.1,75\n", "score-table"),
    ],
)
def test_names_as_people_write_them(text, form):
    assert read(text).reading.format == form


def test_spaces_in_names_do_not_change_the_votes():
    assert wins(read("Model A,Model B,Winner,Vote Count\nx,y,Model A,3\n")) == {("x", "y"): 3}
    assert wins(read("left,right,winner\nmodel-b,model-a,model-a\n")) == {("model-a", "model-b"): 1}
    for name in ("number of votes", "Total Votes", "num-votes"):
        assert read(f"{name},rank1,rank2\n3,x,y\n").total == 3


def test_the_first_of_winner_and_loser_wins():
    for names in ("winner,loser", "Winner Name,Loser Name", "chosen,rejected"):
        assert wins(read(f"{names}\nx,y\nx,y\ny,x\n")) == {("x", "y"): 2, ("y", "x"): 1}
    assert wins(read("player1,player2,winner\nx,y,x\ny,x,x\n")) == {("x", "y"): 2}


def test_ordinal_choices_are_in_order():
    votes = read("2nd choice,1st choice,3rd choice\nx,y,z\n")
    assert wins(votes) == {("y", "x"): 1, ("x", "z"): 1, ("y", "z"): 1}


def test_a_column_that_numbers_the_items_does_not_vote():
    for name in ("Rank", "#", "No", "ID"):
        votes = read(f"{name},Model,MMLU,GSM\n1,x,81.5,70\n2,y,80.1,75\n")
        assert votes.items == ("x", "y")
        assert votes.total == 2
    with pytest.raises(InputError, match="not clear"):
        read("Region,Model,MMLU\nnorth,x,81.5\nsouth,y,80.1\n")


def test_a_first_column_without_a_name_may_still_be_unclear():
    for text in (",t,u\nx,5,5\ny,3,0\n", ",t,u\n0,0.5,5\n1,0.3,0\n", "country,t,u\nx,5,5\ny,3,0\n"):
        with pytest.raises(InputError):
            read(text)


@pytest.mark.parametrize(
    "name", ["Average", "Total", "Mean", "Score", "Rank", "year", "Age", "Duration (in seconds)", "progress"]
)
def test_a_column_with_the_name_of_no_item_is_not_a_scored_item(name):
    with pytest.raises(InputError, match=r"a column may be no item.*columns=") as caught:
        read(f"Ann,Bob,{name}\n5,5,5\n0,3,3\n4,4,1\n")
    assert caught.value.column == name


@pytest.mark.parametrize("numbers", [(3, 4, 2, 1, 5), (17, 4, 2, 90, 5), (2001, 2001, 1999, 2001, 2003)])
def test_a_column_unlike_the_others_is_no_scored_item(numbers):
    marks = ("5,5", "0,3", "4,4", "5,5", "0,0")
    text = "Ann,Bob,key\n" + "".join(f"{mark},{number}\n" for mark, number in zip(marks, numbers, strict=True))
    with pytest.raises(InputError, match=r"may be (no item|ranks).*columns="):
        read(text)
    assert read(text, columns=["Ann", "Bob"], format="score-columns").items == ("Ann", "Bob")
    assert read(text, format="score-columns").items == ("Ann", "Bob", "key")


def test_a_win_matrix_is_no_score_table():
    text = "team,X,Y,Z\nX,0,12,7\nY,3,0,8\nZ,8,7,0\n"
    with pytest.raises(InputError, match=r"table of wins.*columns="):
        read(text)
    assert read(text, format="score-table").total == 3


@pytest.mark.parametrize("name", ["year", "Age", "latitude"])
def test_what_is_no_voter_does_not_vote_in_a_score_table(name):
    text = f"model,t,{name}\nx,0.5,2001\ny,0.25,2003\n"
    for options in ({}, {"item": "model"}, {"lower_is_better": ["t"]}):
        with pytest.raises(InputError, match=r"may be no voter.*columns=") as caught:
            read(text, **options)
        assert caught.value.column == name
    assert read(text, columns=["t"]).total == 1


@pytest.mark.parametrize(
    "name", ["Rank", "error_rate", "Test Error", "val-loss", "WER", "RMSE", "time", "inferenceTime"]
)
def test_columns_where_low_is_good_ask_for_the_direction(name):
    text = f"model,t,{name}\nx,0.5,20.5\ny,0.25,30\n"
    with pytest.raises(InputError, match=r"lower_is_better=.*columns="):
        read(text)
    assert wins(read(text, lower_is_better=[name])) == {("x", "y"): 2}
    assert read(text, columns=["t", name]).total == 2
    assert read("model,t,timeliness\nx,0.5,20.5\ny,0.25,30\n").total == 2


def test_parts_of_rankings_down_the_columns_are_not_scores():
    text = "Team,ESPN,AP,Coaches\nA,1,2,1\nB,2,1,3\nC,5,7,6\nD,12,9,15\n"
    with pytest.raises(InputError, match=r"may hold ranks.*lower_is_better=True"):
        read(text)
    assert wins(read(text, lower_is_better=True))["A", "D"] == 3


def test_names_with_small_marks_may_be_people():
    text = "name,Pizza,Sushi\nann,5,5\nbob,0,4\ncid,5,2\n"
    with pytest.raises(InputError, match=r"format=\"score-table\".*voter=\"name\" and format=\"score-columns\""):
        read(text)
    assert read(text, voter="name", format="score-columns").items == ("Pizza", "Sushi")
    numbered = "id,name,Pizza,Sushi\n1,ann,5,5\n2,bob,0,4\n3,cid,5,2\n"
    with pytest.raises(InputError, match=r"item=\"name\", columns= and format=.*columns= and format=\"score-columns\""):
        read(numbered)
    things = {"columns": ["Pizza", "Sushi"]}
    assert read(numbered, **things, format="score-columns").items == ("Pizza", "Sushi")
    assert read(numbered, **things, item="name", format="score-table").items == ("ann", "bob", "cid")
    assert read(text, format="score-table").items == ("ann", "bob", "cid")
    assert read(text.replace("4", "4.5")).items == ("ann", "bob", "cid")


def test_a_favourite_of_everybody_is_still_an_item():
    assert read("A,B,C\n5,3,3\n5,2,2\n5,4,1\n").reading.format == "score-columns"
    with pytest.raises(InputError, match="column 'A': a column may be no item"):
        read("A,B,C\n105,3,3\n107,2,2\n107,4,4\n")


def test_a_name_that_is_nearly_right_gets_a_hint(tmp_path):
    (tmp_path / "votes.csv").write_text("rank1,rank2\na,b\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"did you mean 'votes\.csv'\?"):
        read_votes(tmp_path / "votes.cvs")
    with pytest.raises(InputError, match="check the path"):
        read_votes(tmp_path / "other.soc")
    with pytest.raises(InputError, match="check the path"):
        read_votes(tmp_path / "no folder" / "votes.csv")
