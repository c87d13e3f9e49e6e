from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from holdrank.status import Status

# 53 of 100 prefer Ash to Beech, all prefer both to "Oak above all" and that to Elm.
VOTES = """# NUMBER ALTERNATIVES: 4
# ALTERNATIVE NAME 1: Ash
# ALTERNATIVE NAME 2: Beech
# ALTERNATIVE NAME 3: Oak above all
# ALTERNATIVE NAME 4: Elm
53: 1,2,3,4
47: 2,1,3,4
"""


@pytest.fixture
def run(command_line, tmp_path):
    """The command line, in a folder with a file of votes."""
    (tmp_path / "votes.soc").write_text(VOTES, encoding="utf-8")
    return command_line


@pytest.fixture
def check(run):
    return lambda *args: run("check", "votes.soc", "-q", *args)


def test_the_whole_order_holds_until_three_votes_change(check):
    code, out, err = check("--min-breakdown", "0.04")
    assert (code, err) == (0, "")
    assert out.startswith("ok      every pair: ")
    assert "3 of 100 ballots tie it, 4 move the consensus by 1 of 6 pairs (4 %, proven minimum)" in out
    assert check("--min-breakdown", "0.041")[0] == 4


def test_shares_are_of_whole_votes_as_the_sentence_says(run, tmp_path):
    (tmp_path / "few.csv").write_text("rank1,rank2,weight\na,b,4\nb,a,3\n", encoding="utf-8")
    code, out, _ = run("check", "few.csv", "-q", "--claim", "a wins", "--min-breakdown", "0.1")
    assert (code, out) == (0, "ok      a wins: 1 of 7 ballots changes the winner (14.3 %, proven minimum).\n")


def test_a_claim_may_have_to_be_beyond_chance(run, tmp_path):
    for weights, code in (("50\nb,a,10", 0), ("33\nb,a,27", 4)):
        (tmp_path / "two.csv").write_text(f"rank1,rank2,weight\na,b,{weights}\n", encoding="utf-8")
        for claim in (["--claim", "a wins"], ["--claim", "a above b"], ["--claim", "top 1"], []):
            found, out, _ = run("check", "two.csv", "-q", *claim, "--separated", "0.95")
            assert found == code
            assert ("Not beyond chance (95 %)." in out) == bool(code)


@pytest.mark.parametrize(
    ("claim", "share"),
    [
        ("Ash wins", 0.04),
        ("Ash above Beech", 0.04),
        ("Beech above Elm", 0.51),
        ("Beech above Oak above all", 0.51),
        ("Oak above all above Elm", 0.51),
        ("top 2", 0.51),
        ("  top   1 ", 0.04),
    ],
)
def test_claims_hold_up_to_their_share(claim, share, check):
    assert check("--claim", claim, "--min-breakdown", str(share - 1e-6))[0] == 0
    code, out, _ = check("--claim", claim, "--min-breakdown", str(share + 0.001))
    assert code == 4
    assert out.startswith(f"FAILED  {claim}: ")
    assert out.endswith(f" Required: {round(100 * share) + 1}.\n")


@pytest.mark.parametrize("claim", ["Beech wins", "Elm above Ash"])
def test_a_claim_that_is_wrong_fails(claim, check):
    assert check("--claim", claim, "--min-breakdown", "0") == (4, f"FAILED  {claim}: does not hold\n", "")


def test_one_failed_claim_fails_the_gate(check):
    code, out, _ = check("--claim", "top 2", "--claim", "Ash wins", "--min-breakdown", "0.1")
    assert code == 4
    assert [line.split()[0] for line in out.splitlines()] == ["ok", "FAILED"]


def test_tiers_hold_longer(check):
    assert check("--min-breakdown", "0.2")[0] == 4
    assert check("--min-breakdown", "0.2", "--theta", "auto")[0] == 0
    # Ash and Beech share the first place: nobody wins.
    assert check("--claim", "Ash wins", "--theta", "auto")[0] == 4


def test_what_is_not_proved_does_not_pass(check):
    code, out, _ = check("--time-limit", "0", "--min-breakdown", "0.01")
    assert code in (0, 4)
    assert code == 0 or "Not proved." in out


def test_json_has_the_attacks(check):
    code, out, _ = check("--json", "--claim", "Ash wins", "--min-breakdown", "0.02")
    found = json.loads(out)
    assert code == 0
    assert found["command"] == "check"
    (claim,) = found["claims"]
    assert claim["passed"]
    assert claim["attack"]["lower"] == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--claim", "Ashe wins"], "there is no item 'Ashe'; did you mean 'Ash'?"),
        (["--claim", "Ash over Beech"], "a claim is 'X wins', 'A above B' or 'top 3', not 'Ash over Beech'"),
        (["--claim", "Ash above Beach"], "did you mean 'Beech'?"),
        (["--claim", "top 9"], "k must be"),
        (["--claim", "Ash above Elm", "--theta", "0.05"], "make this claim without tiers"),
        (["--min-breakdown", "2"], "--min-breakdown"),
    ],
)
def test_mistakes_get_one_line(args, words, check):
    code, out, err = check(*args)
    assert (code, out) == (2, "")
    assert words in err


# Two snapshots.


def test_a_move_that_drawing_again_explains_is_told_from_one_that_it_does_not(run, tmp_path):
    # Ash and Beech are nearly level and change places; Elm goes from the last place to the first.
    header = VOTES[: VOTES.index("53:")]
    (tmp_path / "new.soc").write_text(header + "47: 4,1,2,3\n53: 4,2,1,3\n", encoding="utf-8")
    code, out, err = run("diff", "votes.soc", "new.soc", "-q")
    assert (code, err) == (0, "")
    line = {item: next(line for line in out.splitlines() if line.endswith(item)) for item in ("Ash", "Beech", "Elm")}
    assert "beyond noise" in line["Elm"]
    assert "+3" in line["Elm"]
    assert out.splitlines()[-1] == "3 of 4 items moved, 2 beyond noise; 4 of 6 pairs changed order"
    code, out, _ = run("diff", "votes.soc", "new.soc", "-q", "--json")
    found = json.loads(out)["comparison"]
    names = [found["items"][row["item"]] for row in found["moves"]]
    assert names == ["Elm", "Beech", "Ash", "Oak above all"]
    assert found["moves"][0]["old"] == {"place": 4, "best": 4, "worst": 4}
    assert found["moves"][0]["beyond_noise"]
    assert found["moves"][0]["undone_by"]["sufficient"] == 51  # of 100 ballots that all put Elm first
    code, out, _ = run("diff", "votes.soc", "new.soc", "-q", "--json", "--time-limit", "0")
    assert code == 0
    assert [row["undone_by"] for row in json.loads(out)["comparison"]["moves"]] == [None] * 4  # no time to look


def test_nothing_moves_between_a_file_and_itself(run):
    code, out, _ = run("diff", "votes.soc", "votes.soc", "-q")
    assert code == 0
    assert "noise" not in out.replace("0 beyond noise", "")
    assert out.endswith("0 of 4 items moved, 0 beyond noise; 0 of 6 pairs changed order\n")


def test_items_of_one_file_only_are_left_out_and_named(run, tmp_path):
    (tmp_path / "new.soc").write_text(VOTES.replace("Elm", "Yew"), encoding="utf-8")
    code, out, _ = run("diff", "votes.soc", "new.soc", "-q")
    assert code == 0
    assert "only in the old file: Elm\nonly in the new file: Yew\n" in out
    (tmp_path / "other.soc").write_text("# NUMBER ALTERNATIVES: 1\n# ALTERNATIVE NAME 1: Fir\n3: 1\n", encoding="utf-8")
    code, _, err = run("diff", "votes.soc", "other.soc", "-q")
    assert code == 2
    assert "share 0 items; at least two are needed" in err


def test_a_comparison_that_was_interrupted_says_so(run, monkeypatch):
    from holdrank.analysis import compare as comparing

    real = comparing.bootstrap

    def pressed(votes, statistic, *, draws, **options):
        if votes.total == 100:
            return real(votes, statistic, draws=draws, **options)
        return replace(real(votes, statistic, draws=7, **options), status=Status.RESAMPLED_INTERRUPTED)

    monkeypatch.setattr(comparing, "bootstrap", pressed)
    Path("new.soc").write_text(VOTES.replace("53:", "54:"), encoding="utf-8")
    code, out, _ = run("diff", "new.soc", "votes.soc", "-q")
    assert code == 130
    assert "0 of 4 items moved; 0 of 6 pairs changed order" in out  # no word about noise
    code, out, err = run("diff", "votes.soc", "new.soc", "--json", "-q")
    assert code == 130
    assert json.loads(out)["comparison"]["draws"] == 7
    assert json.loads(out)["comparison"]["intervals"] is False
    assert err == (
        "note: interrupted after 7 of 1,000 draws\nnote: 7 of 1,000 bootstrap samples ranked, too few for intervals\n"
    )


def test_no_claim_is_called_wrong_on_a_search_that_was_interrupted(run, monkeypatch):
    from holdrank.rules import merges as merge

    real = merge.consensus_of
    monkeypatch.setattr(merge, "consensus_of", lambda *args: replace(real(*args), status=Status.INTERRUPTED))
    code, out, err = run("check", "votes.soc", "--claim", "Elm wins")
    assert (code, out) == (130, "")
    assert "interrupted" in err


def test_a_claim_that_is_wrong_as_far_as_is_known_says_so(run, monkeypatch):
    from holdrank.rules import merges as merge

    real = merge.consensus_of
    monkeypatch.setattr(merge, "consensus_of", lambda *args: replace(real(*args), status=Status.TIME_LIMIT))
    code, out, _ = run("check", "votes.soc", "--claim", "Elm wins")
    assert (code, out) == (4, "FAILED  Elm wins: does not hold in the best ranking found within the time limit\n")
