from __future__ import annotations

import json
import sys

import pytest

from holdrank import cli

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
def check(tmp_path, monkeypatch, capsys):
    (tmp_path / "votes.soc").write_text(VOTES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def call(*args):
        monkeypatch.setattr(sys, "argv", ["holdrank", "check", "votes.soc", "-q", *args])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return call


def test_the_whole_order_holds_until_three_votes_change(check):
    code, out, err = check("--min-breakdown", "0.03")
    assert (code, err) == (0, "")
    assert out.startswith("ok      every pair: ")
    assert "at least 3 and at most 4 of 100 votes" in out
    assert check("--min-breakdown", "0.031")[0] == 4


@pytest.mark.parametrize(
    ("claim", "share"),
    [
        ("Ash wins", 0.03),
        ("Ash above Beech", 0.03),
        ("Beech above Elm", 0.5),
        ("Beech above Oak above all", 0.5),
        ("Oak above all above Elm", 0.5),
        ("top 2", 0.5),
        ("  top   1 ", 0.03),
    ],
)
def test_claims_hold_up_to_their_share(claim, share, check):
    assert check("--claim", claim, "--min-breakdown", str(share - 1e-6))[0] == 0
    code, out, _ = check("--claim", claim, "--min-breakdown", str(share + 0.001))
    assert code == 4
    assert out.startswith(f"FAILED  {claim}: ")


@pytest.mark.parametrize("claim", ["Beech wins", "Elm above Ash"])
def test_a_claim_that_is_wrong_fails(claim, check):
    assert check("--claim", claim, "--min-breakdown", "0") == (4, f"FAILED  {claim}: does not hold\n", "")


def test_one_failed_claim_fails_the_gate(check):
    code, out, _ = check("--claim", "top 2", "--claim", "Ash wins", "--min-breakdown", "0.1")
    assert code == 4
    assert [line.split()[0] for line in out.splitlines()] == ["ok", "FAILED"]


def test_tiers_hold_longer(check):
    assert check("--min-breakdown", "0.4")[0] == 4
    assert check("--min-breakdown", "0.4", "--theta", "auto")[0] == 0
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
        (["--claim", "Ashe wins"], "no item is called 'Ashe'; did you mean 'Ash'?"),
        (["--claim", "Ash over Beech"], "a claim is 'X wins', 'A above B' or 'top 3', not 'Ash over Beech'"),
        (["--claim", "Ash above Beach"], "did you mean 'Beech'?"),
        (["--claim", "top 9"], "k must be"),
        (["--claim", "Ash above Elm", "--theta", "0.05"], "claim it without --theta"),
        (["--min-breakdown", "2"], "--min-breakdown"),
    ],
)
def test_mistakes_get_one_line(args, words, check):
    code, out, err = check(*args)
    assert (code, out) == (2, "")
    assert words in err
