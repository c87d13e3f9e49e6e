from __future__ import annotations

import json

import numpy as np
import pytest

import oracles

# winner, loser, how often
WINS = [("ash", "birch", 30), ("birch", "ash", 10)]
UNEVEN = [("ash", "birch", 90), ("birch", "ash", 60), ("birch", "cedar", 4), ("cedar", "birch", 6),
          ("cedar", "ash", 2), ("ash", "cedar", 9)]  # fmt: skip


@pytest.fixture
def rank(command_line, tmp_path):
    def call(*args, wins=WINS, rule="bradley-terry"):
        rows = [f"{a},{b},model_a" for a, b, times in wins for _ in range(times)]
        text = "\n".join(["model_a,model_b,winner", *rows])
        (tmp_path / "battles.csv").write_text(text, encoding="utf-8")
        return command_line("rank", "battles.csv", "-q", "--rule", rule, *args)

    return call


def test_the_scale_of_ratings_is_as_asked_for(rank):
    # Three wins to one: odds of 3 to 1. The log of the odds has the variance 1 / (40 * 3/4 * 1/4), so its standard
    # error is 33.2 points of 100 / log 3, and 90 % of a normal distribution lie within 1.645 of them.
    asked = ["--scale", "100", "--base", "3", "--offset", "0", "--anchor", "birch", "--level", "0.9"]
    code, out, _ = rank(*asked)
    assert code == 0
    assert [line.split() for line in out.splitlines()[1:4]] == [
        ["place", "rating", "90", "%", "interval", "item", "preferred", "to", "the", "next", "by"],
        ["1", "100", "45–155", "ash", "30", "of", "40", "(75", "%)"],
        ["2", "0", "fixed", "birch"],
    ]
    found = json.loads(rank(*asked, "--json")[1])["ratings"]
    assert found["values"] == pytest.approx([100, 0])
    assert found["errors"] == pytest.approx([100 / np.log(3) / np.sqrt(7.5), 0])
    assert [found[name] for name in ("scale", "base", "offset", "anchor", "level")] == [100, 3, 0, 1, 0.9]


def test_reweighted_pairs_count_alike(rank):
    # Of ash, birch, cedar. The pair of ash and birch, compared 150 times, weighs 1; the others 1/50 a comparison.
    W = np.array([[0, 90 / 150, 9 / 50], [60 / 150, 0, 4 / 50], [2 / 50, 6 / 50, 0]])
    expected = oracles.bradley_terry_strengths(W, W.sum(), 0.0)
    code, out, _ = rank("--reweight", "--json", wins=UNEVEN)
    record = json.loads(out)
    assert (code, record["spec"]["reweight"]) == (0, True)
    assert record["ratings"]["strengths"] == pytest.approx(expected, abs=1e-6)
    plain = json.loads(rank("--json", wins=UNEVEN)[1])
    assert plain["spec"]["reweight"] is False
    assert plain["ratings"]["strengths"] != pytest.approx(expected, abs=1e-2)
    assert rank("--reweight", wins=UNEVEN)[1].startswith("Bradley-Terry consensus, pairs weighted equally: 171 battles")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["--scale", "0"], "0.0 is not in the range x>0"),
        (["--scale", "inf"], "scale must be a number above 0, not 'inf'"),
        (["--base", "1"], "1.0 is not in the range x>1"),
        (["--offset", "nan"], "offset must be a number, not 'nan'"),
        (["--offset", "high"], "'high' is not a valid float"),
        (["--level", "95"], "95.0 is not in the range 0<x<1"),
        (["--level", "nan"], "level must be a number between 0 and 1, not 'nan'"),
        (["--anchor", "brich"], "there is no item 'brich'; did you mean 'birch'?"),
        (["--anchor", "Zelkova"], "there is no item 'Zelkova'; items: ash, birch"),
        (["--compare", "--level", "0.9"], "--compare shows places, not ratings"),
        (["--draws", "900", "--reweight"], "--draws does not work with --reweight"),
        (["--draws", "900", "--ties", "davidson"], "--draws does not work with --ties"),
        (["--reweight", "--ties", "davidson"], "reweight needs ties as half wins"),
        (["--ties", "lost"], "'lost' is not one of 'half', 'davidson', 'rao-kupper'"),
    ],
)
def test_options_that_make_no_sense_are_refused_in_one_line(rank, args, problem):
    code, out, err = rank(*args)
    assert (code, out) == (2, "")
    assert problem in err.splitlines()[-1]


def test_ties_by_davidson(tmp_path, command_line):
    # 8 wins, 2 losses, 8 ties: p is 4 to 1, and ties are nu * sqrt(p_i * p_j) : p_j = 2 nu : 1 = 8 : 2.
    rows = ["ash,birch,model_a"] * 8 + ["ash,birch,model_b"] * 2 + ["ash,birch,tie"] * 8
    (tmp_path / "ties.csv").write_text("\n".join(["model_a,model_b,winner", *rows]), encoding="utf-8")
    asked = ["rank", "ties.csv", "-q", "--rule", "bradley-terry", "--ties", "davidson"]
    code, out, _ = command_line(*asked, "--json")
    record = json.loads(out)
    assert (code, record["spec"]["ties"], record["ratings"]["ties"]) == (0, "davidson", "davidson")
    assert record["ratings"]["tie"] == pytest.approx(2)
    assert record["ratings"]["strengths"] == pytest.approx([np.log(2), -np.log(2)])
    assert command_line(*asked)[1].startswith("Bradley-Terry consensus, ties by davidson: 18 battles")


@pytest.mark.parametrize("args", [["--level", "0.9"], ["--reweight"], ["--anchor", "ash"]])
def test_only_bradley_terry_has_ratings(rank, args):
    code, _, err = rank(*args, rule="kemeny")
    assert code == 2
    assert err.splitlines()[-1] == f"Error: {args[0]} needs --rule bradley-terry, the only rule with ratings."


def test_help_lists_the_options_of_ratings_apart(command_line):
    out = command_line("rank", "--help")[1]
    assert out.index("\nOptions:") < out.index("\nRatings:") < out.index("--scale") < out.index("\nHow FILE is read:")
    assert "Ratings:" not in command_line("tiers", "--help")[1]
