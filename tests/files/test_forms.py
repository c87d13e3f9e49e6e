"""Forms of tables, each by its own rules: battles, pair counts, reviews, scores, ranks, lists and weights."""

from __future__ import annotations

import pytest

from holdrank.errors import InputError, UsageError

from reading import FORMS, SAME, read, wins

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
        with pytest.raises(InputError, match=r"line 3.*exactly one.*Fix"):
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
    with pytest.raises(InputError, match="no battle columns"):
        read(text, format="battles")
    with pytest.raises(InputError, match="no battle columns"):
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
    with pytest.raises(InputError, match=r"line 2, column 'winner'.*both a code and an item name.*Fix"):
        read("left,right,winner\n2,1,1\n1,2,1\n")
    # Both readings explain every row, and they agree.
    assert wins(read("left,right,winner\n1,2,1\n")) == {("1", "2"): 1}


def test_pair_counts():
    text = "player1,player2,win1,win2\nx,y,2,1\nx,x,4,4\n"
    votes = read(text)
    assert wins(votes) == {("x", "y"): 2, ("y", "x"): 1}
    assert any("8 comparisons of an item against itself" in note for note in votes.notes)
    named = "u,v,wu,wv,even\nx,y,2,1,1\n"
    assert wins(read(named, format="pair-counts", columns=[1, 2, 3, 4, 5])) == SAME
    for bad in ("-1", "", "nan"):
        with pytest.raises(InputError, match=r"line 2.*missing, negative"):
            read(f"i,j,wins_i,wins_j\nx,y,{bad},1\n")
    with pytest.raises(InputError, match="no pair-count columns"):
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
    with pytest.raises(InputError, match=r"cannot tell which columns.*voter=, item= and rank="):
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
    with pytest.raises(UsageError, match="'t9', which is not a voter"):
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
    assert read(text, lower_is_better=True).reading.choices["direction"] == "scores: lower is better"
    votes = read("t1,thing,t2\n10,x,2\n20,y,1\n", item="thing", columns=["t1"], lower_is_better=["t2"])
    assert wins(votes) == {("y", "x"): 1}
    assert any("'t2', but that column is not used" in note for note in votes.notes)
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
    with pytest.raises(InputError, match="no item column"):
        read("voter,weight\n1,1\n", format="rank-columns")
    with pytest.raises(UsageError, match="lower_is_better=True"):
        read(FORMS["score-columns"], lower_is_better=["x"])
    with pytest.raises(UsageError, match="does not apply to format 'rank-columns'"):
        read(FORMS["rank-columns"], lower_is_better=True)
    holes = read("x,y,z\n1,2,\n1,2,3\n")
    assert any("1 empty cell" in note for note in holes.notes)
    with pytest.raises(InputError, match=r"line 2, column 'x': the cell is not a rank"):
        read("x,y\none,2\n", format="rank-columns", columns=["x", "y"])
    with pytest.raises(InputError, match="the column holds text"):
        read("x,y\none,2\n", format="rank-columns")


def test_positions_need_columns_and_ignore_gaps_in_numbering():
    with pytest.raises(InputError, match="no rank columns"):
        read("rank1,rank3\na,b\n", format="positions")
    with pytest.raises(InputError, match="no rank columns"):
        read("rank1,rank1\na,b\n", format="positions")
    assert wins(read("u,v\na,b\n", format="positions", columns=["v", "u"])) == {("b", "a"): 1}
    assert wins(read("choice_1,choice_2\na,b\n")) == {("a", "b"): 1}
    with pytest.raises(UsageError, match="repeated"):
        read("rank1\na\n", repeated="last")


def test_lists_by_name_and_by_column():
    text = "1,2,study\nx,y,A\n"
    assert wins(read(text, format="lists", voter="study")) == {("x", "y"): 1}
    assert wins(read(text, format="lists", columns=[2, 1])) == {("y", "x"): 1}


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
    with pytest.raises(InputError, match=r"more than one column may hold weights; found 'votes, weight'.*weight="):
        read(text)
    assert read(text, weight="votes").total == 3


def test_columns_of_numbers_that_are_not_used_are_noted():
    votes = read("precinct,age,voter,rank1,rank2,remark\n7,30,1,a,b,x\n8,41,2,b,a,y\n")
    assert votes.notes == (
        "columns 'precinct', 'age' are not used; if one holds weights, name it as the weight column",
    )
    votes = read("size,1,2\n7,a,b\n")
    assert votes.notes == ("column 'size' is not used; if one holds weights, name it as the weight column",)


def test_a_mark_without_a_voter_is_refused():
    for text in ("voter,item,rank\nv,x,1\n,y,2\n", "task,model,score\nv,x,1\n ,y,2\n"):
        with pytest.raises(InputError, match=r"line 3, column '(voter|task)': a mark has no voter; found"):
            read(text)


def test_the_first_of_winner_and_loser_wins():
    for names in ("winner,loser", "Winner Name,Loser Name", "chosen,rejected"):
        assert wins(read(f"{names}\nx,y\nx,y\ny,x\n")) == {("x", "y"): 2, ("y", "x"): 1}
    assert wins(read("player1,player2,winner\nx,y,x\ny,x,x\n")) == {("x", "y"): 2}


def test_ordinal_choices_are_in_order():
    votes = read("2nd choice,1st choice,3rd choice\nx,y,z\n")
    assert wins(votes) == {("y", "x"): 1, ("x", "z"): 1, ("y", "z"): 1}
