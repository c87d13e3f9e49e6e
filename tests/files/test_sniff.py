"""Which form is it? What is clear is recognised, and there is never a silent guess."""

from __future__ import annotations

import pytest

from holdrank.errors import InputError

from reading import RANKS_OR_SCORES, read, wins

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
        with pytest.raises(InputError, match="Fix: name the item columns with columns="):
            read(UNCLEAR[name])
    # A year among scores would win every ballot.
    with pytest.raises(InputError, match=r"column 'year': this column may not be an item.*columns="):
        read("year,A,B,C\n2001,5,5,3\n2002,0,3,3\n")
    votes = read("year,A,B,C\n2001,5,5,3\n2002,0,3,3\n", columns=["A", "B", "C"])
    assert votes.reading.format == "score-columns"
    # Where it holds ranks like all others it is an item.
    assert read("year,A,B\n1,2,3\n3,1,2\n").items == ("year", "A", "B")


def test_one_row_far_down_may_decide():
    ranks = "".join(f"{2000 + k},1,2,2\n" for k in range(400))
    with pytest.raises(InputError, match=RANKS_OR_SCORES):
        read("when,A,B,C\n" + ranks)
    with pytest.raises(InputError, match=r"column 'when': this column may not be an item.*columns="):
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


def test_a_column_that_numbers_the_items_does_not_vote():
    for name in ("Rank", "#", "No", "ID"):
        votes = read(f"{name},Model,MMLU,GSM\n1,x,81.5,70\n2,y,80.1,75\n")
        assert votes.items == ("x", "y")
        assert votes.total == 2
    with pytest.raises(InputError, match="cannot detect the table format"):
        read("Region,Model,MMLU\nnorth,x,81.5\nsouth,y,80.1\n")


def test_a_first_column_without_a_name_may_still_be_unclear():
    for text in (",t,u\nx,5,5\ny,3,0\n", ",t,u\n0,0.5,5\n1,0.3,0\n", "country,t,u\nx,5,5\ny,3,0\n"):
        with pytest.raises(InputError):
            read(text)


@pytest.mark.parametrize(
    "name", ["Average", "Total", "Mean", "Score", "Rank", "year", "Age", "Duration (in seconds)", "progress"]
)
def test_a_column_with_the_name_of_no_item_is_not_a_scored_item(name):
    with pytest.raises(InputError, match=r"this column may not be an item.*columns=") as caught:
        read(f"Ann,Bob,{name}\n5,5,5\n0,3,3\n4,4,1\n")
    assert caught.value.column == name


@pytest.mark.parametrize("numbers", [(3, 4, 2, 1, 5), (17, 4, 2, 90, 5), (2001, 2001, 1999, 2001, 2003)])
def test_a_column_unlike_the_others_is_no_scored_item(numbers):
    marks = ("5,5", "0,3", "4,4", "5,5", "0,0")
    text = "Ann,Bob,key\n" + "".join(f"{mark},{number}\n" for mark, number in zip(marks, numbers, strict=True))
    with pytest.raises(InputError, match=r"may (not be an item|be ranks).*columns="):
        read(text)
    assert read(text, columns=["Ann", "Bob"], format="score-columns").items == ("Ann", "Bob")
    assert read(text, format="score-columns").items == ("Ann", "Bob", "key")


def test_a_win_matrix_is_no_score_table():
    text = "team,X,Y,Z\nX,0,12,7\nY,3,0,8\nZ,8,7,0\n"
    votes = read(text)
    assert votes.reading.format == "win-matrix"
    assert wins(votes) == {("X", "Y"): 12, ("X", "Z"): 7, ("Y", "X"): 3, ("Y", "Z"): 8, ("Z", "X"): 8, ("Z", "Y"): 7}
    with pytest.raises(InputError, match=r"table of wins.*columns="):
        read(text, item="team")
    assert read(text, format="score-table").total == 3


@pytest.mark.parametrize("name", ["year", "Age", "latitude"])
def test_what_is_no_voter_does_not_vote_in_a_score_table(name):
    text = f"model,t,{name}\nx,0.5,2001\ny,0.25,2003\n"
    for options in ({}, {"item": "model"}, {"lower_is_better": ["t"]}):
        with pytest.raises(InputError, match=r"may not be a voter.*columns=") as caught:
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
    with pytest.raises(InputError, match="column 'A': this column may not be an item"):
        read("A,B,C\n105,3,3\n107,2,2\n107,4,4\n")
