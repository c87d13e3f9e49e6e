"""Layouts in which battles are published, the codes of their winners, and what is wrong with some of them."""

from __future__ import annotations

import pytest

from holdrank.errors import InputError, UsageError

from reading import read, wins

X_WINS = {("x", "y"): 2.5, ("y", "x"): 0.5}
LAYOUTS = {
    "compar:IA": "model_a_name,model_b_name,chosen_model_name,both_equal\nx,y,x,False\ny,x,x,False\nx,y,,True\n",
    "compar:IA without the flag": "model_a_name,model_b_name,chosen_model_name\nx,y,x\ny,x,x\nx,y,\n",
    "AlpacaEval": "generator_1,generator_2,preference\nx,y,1.0\ny,x,1.93\nx,y,1.5\n",
    "AlpacaEval, whole": "generator_1,generator_2,preference\nx,y,1\ny,x,2\nx,y,1.5\n",
    "WildBench": "model_1,model_2,extent\nx,y,A++\ny,x,B+\nx,y,A=B\n",
    "Arena-Hard scores": "model_a,model_b,score\nx,y,A>>B\ny,x,B>A\nx,y,A=B\n",
    "chess": "White,Black,Result\nx,y,1-0\ny,x,0-1\nx,y,1/2-1/2\n",
    "chess, half sign": "White,Black,Result\nx,y,1-0\ny,x,0-1\nx,y,½-½\n",
    "Lichess": "white_id,black_id,winner\nx,y,white\ny,x,black\nx,y,draw\n",
    "football": "Date,HomeTeam,AwayTeam,FTHG,FTAG,FTR\n1,x,y,2,0,H\n2,y,x,0,1,A\n3,x,y,1,1,D\n",
    "football by goals": "HomeTeam,AwayTeam,FTHG,FTAG\nx,y,2,0\ny,x,0,1\nx,y,1,1\n",
    "football, other leagues": "Home,Away,HG,AG,Res\nx,y,2,0,H\ny,x,0,1,A\nx,y,1,1,D\n",
    "Kaggle": "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n1,x,y,1,0,0\n2,y,x,0,1,0\n3,x,y,0,0,1\n",
    "other names": "system_x,system_y,winner\nx,y,x\ny,x,x\nx,y,tie\n",
}


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_published_layouts_are_read_without_options(text):
    votes = read(text)
    assert votes.reading.format == "battles"
    assert wins(votes) == X_WINS


@pytest.mark.parametrize(
    ("codes", "outcome"),
    [(("1", "0", "0.5"), X_WINS), (("1", "-1", "0"), {("x", "y"): 1.5, ("y", "x"): 1.5}), (("H", "A", "D"), None)],
)
def test_named_columns_take_any_of_the_codes(codes, outcome):
    first, second, tie = codes
    rows = f"x,y,{first}\ny,x,{second}\nx,y,{tie}\n"
    expected = {("x", "y"): 2.5, ("y", "x"): 0.5}
    assert wins(read("one,another,how\n" + rows, first="one", second="another", winner="how")) == expected
    assert outcome is None or sum(outcome.values()) == 3


def test_0_and_1_may_be_two_things():
    with pytest.raises(
        InputError, match=r"1 value in the winner column cannot be read: '0' 1 time; beside '1' 1 time.*map="
    ):
        read("model_a,model_b,winner\nx,y,1\ny,x,0\n")


def test_a_map_says_what_codes_mean():
    text = "model_a,model_b,winner\nx,y,top\ny,x,bottom\nx,y,same\nx,y,broken\nx,y,model_a\n"
    with pytest.raises(
        InputError, match=r"4 values.*'bottom' 1 time.*map=\"bottom=first\" \(or second, tie, skip\)"
    ) as said:
        read(text)
    assert said.value.line == 3
    votes = read(text, map=["top=first", "bottom=second", "same=tie", "broken=skip"])
    assert wins(votes) == {("x", "y"): 3.5, ("y", "x"): 0.5}
    assert votes.reading.choices["map"] == "top = first, bottom = second, same = tie, broken = skip"
    assert any("1 battle skipped" in note for note in votes.notes)
    assert votes == read(text, map={"top": "first", "bottom": "second", "same": "tie", "broken": "skip"})
    for wrong in (["top"], {"top": "third"}, 3):
        with pytest.raises(UsageError, match="map="):
            read(text, map=wrong)


def test_a_code_can_be_mapped_against_its_usual_meaning():
    assert wins(read("model_a,model_b,winner\nx,y,1\n", map=["1=second"])) == {("y", "x"): 1}


@pytest.mark.parametrize(
    ("text", "repair"),
    [
        (
            "model_x,model_y,prompt\nx,y,hi\ny,x,ho\n",
            r"no column says who won.*first=\"model_x\", second=\"model_y\" and winner=",
        ),
        ("model_x,model_y,prompt\n3,5,12\n5,3,9\n4,5,7\n", r"first=\"model_x\", second=\"model_y\" and winner="),
        ("model_a,model_b,verdict\nx,y,a\ny,z,b\nz,x,a\n", r"'a' 2 times, 'b' 1 time.*winner=\"verdict\""),
        ("left,right,who\nx,y,x\ny,z,z\nz,x,x\n", r"perhaps 'who'.*winner=\"who\""),
        ("player_1,player_2,date\nx,y,1\ny,z,2\nz,x,3\n", r"no column says who won.*winner="),
    ],
)
def test_battles_without_a_known_winner_are_refused_with_the_options_to_set(text, repair):
    with pytest.raises(InputError, match=repair):
        read(text)


def test_three_models_in_columns_are_items():
    assert read("model_a,model_b,model_c\n5,5,3\n0,3,3\n4,4,1\n").items == ("model_a", "model_b", "model_c")


def test_bad_battles_are_refused_with_their_line_and_selves_are_noted_with_it():
    with pytest.raises(InputError, match=r"line 3.*no name"):
        read("White,Black,Result\nx,y,1-0\n,y,0-1\n")
    with pytest.raises(InputError, match=r"line 3.*cannot be read: '1-1' 1 time"):
        read("White,Black,Result\nx,y,1-0\ny,x,1-1\n")
    with pytest.raises(InputError, match=r"'model_a' 1 time"):  # two languages in one column
        read("HomeTeam,AwayTeam,FTR\nx,y,H\ny,x,model_a\n")
    with pytest.raises(InputError, match=r"line 2.*'0' 1 time.*map="):
        read("generator_1,generator_2,preference\nx,y,0\ny,x,1.2\n")
    votes = read("White,Black,Result\nx,y,1-0\nx,x,1-0\nx,y,*\n")
    assert votes.total == 1
    assert any("itself dropped (line 3)" in note for note in votes.notes)
    assert any("1 battle skipped" in note for note in votes.notes)


def test_preferences_between_1_and_2_are_noted():
    votes = read("generator_1,generator_2,preference\nx,y,1.2\ny,x,1.93\nx,y,1.5\n")
    assert any("2 preferences between 1 and 2 counted as a win for the nearer item" in note for note in votes.notes)


def test_voters_of_battles_are_kept():
    votes = read("model_a,model_b,winner,judge\nx,y,a,ann\ny,x,a,bob\nx,y,a,ann\n", voter="judge")
    assert votes.voters is not None
    assert votes.voters.names == ("ann", "bob")
    assert votes.voters.totals.tolist() == [2, 1]
    with pytest.raises(InputError, match=r"line 3.*no voter"):
        read("model_a,model_b,winner,judge\nx,y,a,ann\ny,x,a,\n", voter="judge")
