from __future__ import annotations

import io
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import holdrank as hr
from holdrank import cli
from holdrank.attacks import answers
from holdrank.attacks import judge as cases
from holdrank.attacks.engines import Engine
from holdrank.attacks.plans import Found

GOLDEN = Path(__file__).resolve().parents[1] / "golden"

SOC = """# DATA TYPE: soc
# NUMBER ALTERNATIVES: 4
# ALTERNATIVE NAME 1: Ash
# ALTERNATIVE NAME 2: Beech
# ALTERNATIVE NAME 3: Cherry
# ALTERNATIVE NAME 4: Date palm
40: 1,2,3,4
30: 1,3,2,4
25: 2,1,3,4
5: 4,3,2,1
"""


@pytest.fixture
def run(command_line, tmp_path):
    """The command line, in a folder with two files of votes."""
    (tmp_path / "votes.soc").write_text(SOC, encoding="utf-8")
    (tmp_path / "two.soc").write_text(SOC[: SOC.index("40:")] + "60: 1,2,3,4\n40: 2,1,3,4\n", encoding="utf-8")
    return command_line


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("breakdown", ["breakdown", "votes.soc"]),
        ("breakdown-tiers", ["breakdown", "votes.soc", "--theta", "0.05", "-q"]),
        ("breakdown-borda", ["breakdown", "votes.soc", "--rule", "borda", "--delta", "0.5", "--delta", "1", "-q"]),
        ("breakdown-bounds", ["breakdown", "votes.soc", "--method", "bounds", "-q"]),
        ("attack-above", ["attack", "two.soc", "--above", "Beech", "Ash"]),
        ("attack-drop", ["attack", "two.soc", "--new-winner", "--change", "drop", "-q"]),
        ("tradeoff", ["tradeoff", "votes.soc", "-q"]),
        ("tradeoff-naive", ["tradeoff", "votes.soc", "--merge", "naive", "--delta", "0.5", "--tolerance", "0", "-q"]),
        ("attack-add", ["attack", "two.soc", "--above", "Beech", "Ash", "--change", "add", "-q"]),
    ],
)
def test_output_is_as_stored(name, args, run, as_stored):
    as_stored(name, run(*args))


@pytest.mark.parametrize(
    ("goal", "meant", "words"),
    [
        (["--new-winner"], hr.NewWinner(), "change the winner"),
        (["--wins", "Beech"], hr.Wins("Beech"), "make Beech win"),
        (["--above", "Cherry", "Beech"], hr.Above("Cherry", "Beech"), "put Cherry above Beech"),
        (["--top-set", "2"], hr.TopSet(2), "change the top 2"),
        (["--enters", "Date palm", "3"], hr.Enters("Date palm", 3), "bring Date palm into the top 3"),
        (["--distance", "0.5"], hr.Distance(0.5), "move the consensus by 3 of 6 pairs"),
    ],
)
def test_every_goal_can_be_typed(goal, meant, words, run, monkeypatch):
    asked = []
    real = answers.attack
    monkeypatch.setattr(answers, "attack", lambda *args, **options: asked.append(args) or real(*args, **options))
    code, out, _ = run("attack", "votes.soc", *goal, "-q")
    assert code == 0
    assert asked[0][2] == meant
    assert re.match(rf"(\d+ of 100 ballots tie it, )?\d+ (of 100 ballots )?{words} \(\d+ %, proven minimum\)\.\n", out)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["attack", "votes.soc"], "Give one of --new-winner, --wins, --above"),
        (["attack", "votes.soc", "--new-winner", "--wins", "Ash"], "Give one goal, not 2: --new-winner, --wins"),
        (["attack", "votes.soc", "--wins", "Asch", "-q"], "did you mean 'Ash'"),
        (["attack", "votes.soc", "--above", "Ash", "Ash", "-q"], "above itself"),
        (["attack", "votes.soc", "--above", "Ash"], "requires 2 arguments"),
        (["attack", "votes.soc", "--top-set", "4", "-q"], "from 1 to 3"),
        (["attack", "votes.soc", "--enters", "Ash", "two"], "two"),
        (["attack", "votes.soc", "--distance", "7"], "7"),
        (["attack", "votes.soc", "--new-winner", "--change", "bribe"], "bribe"),
        (["attak", "votes.soc"], "Did you mean 'attack'?"),
        (["breakdown", "votes.soc", "--delta", "2"], "2"),
        (["breakdown", "votes.soc", "--method", "magic"], "magic"),
        (["attack", "votes.soc", "--new-winner", "--write", "out.xyz", "-q"], "out.xyz"),
    ],
)
def test_mistakes_get_one_clear_line_and_exit_code_2(args, words, run):
    code, _, err = run(*args)
    assert code == 2
    assert words in err
    assert "Traceback" not in err


def test_several_rankings_below_tiers_are_noted(run, tmp_path):
    (tmp_path / "circle.csv").write_text("rank1,rank2,rank3\na,b,c\nb,c,a\nc,a,b\n", encoding="utf-8")
    note = "several rankings are optimal for kemeny; the tiers come from the one that it reports"
    for command in (["tiers"], ["breakdown"], ["attack", "--new-winner"]):
        code, out, _ = run(*command, "circle.csv", "--theta", "0.1", "-q")
        assert (code, out.count(f"note: {note}\n")) == (0, 1), command
    told = json.loads(run("tiers", "circle.csv", "--theta", "0.1", "-q", "--json")[1])
    assert told["tiers"]["notes"] == [note]
    assert "note" not in run("tiers", "votes.soc", "--theta", "0.1", "-q")[1]


@pytest.mark.traced
@pytest.mark.slow
def test_halves_of_pairs_are_shown(run):
    how = ["--theta", "0.05", "--distance", "hausdorff_half", "-q"]
    code, out, _ = run("breakdown", "votes.soc", *how)
    rows = [line.split() for line in out.splitlines() if line.strip().startswith("0.")]
    assert (code, [row[1] for row in rows[:3]]) == (0, ["0.5", "1", "1.5"])
    assert [row[0] for row in rows[:3]] == ["0.0833", "0.1667", "0.2500"]
    _, out, _ = run("breakdown", "votes.soc", "two.soc", *how)
    assert [line.split()[2] for line in out.splitlines() if "votes.soc" in line] == ["0.5"]


def test_breakdown_as_json(run):
    code, out, err = run("breakdown", "votes.soc", "--json", "-q")
    record = json.loads(out)
    assert (code, err) == (0, "")
    assert [record["items"][i] for i in record["consensus"]["order"]] == ["Ash", "Beech", "Cherry", "Date palm"]
    curve = record["breakdown"]
    assert (curve["statistic"], curve["rule"], curve["theta"], curve["merge"]) == ("kemeny", "kemeny", None, None)
    # 65 of 100 prefer Beech to Cherry: 15 votes make it even, 16 turn it.
    assert curve["delta"][0] == pytest.approx(1 / 6)
    assert curve["lower"][0] == pytest.approx(0.15)
    assert curve["upper"][0] == curve["lower"][0]
    assert (curve["needed"][0], curve["sufficient"][0]) == (15, 16)
    assert len(curve["delta"]) == 6


def test_json_has_no_infinities(run):
    _, out, _ = run("breakdown", "votes.soc", "--theta", "0.5", "--json", "-q")
    assert "Infinity" not in out
    record = json.loads(out)
    assert record["breakdown"]["lower"][0] is None
    assert record["breakdown"]["upper"][0] is None
    assert (record["tiers"]["theta"], record["tiers"]["auto"], record["tiers"]["merge"]) == (0.5, False, "downward")


def test_attack_as_json(run):
    code, out, _ = run("attack", "votes.soc", "--above", "Cherry", "Beech", "--json", "-q")
    record = json.loads(out)["attack"]
    assert code == 0
    assert record["verified"] is True
    assert record["whole"] is True
    assert record["goal"] == "putting Cherry above Beech"
    assert sum(entry["weight"] for entry in record["removed"]["listed"]) == record["sufficient"] == 16
    assert record["added"] == {"kinds": 1, "listed": [{"ranks": [1, 3, 2, 4], "weight": 16.0}]}
    assert (record["before"], record["after"]) == ([1, 2, 3, 4], [1, 3, 2, 4])


def test_the_attacked_votes_can_be_written_and_do_what_is_said(run, tmp_path):
    code, _, err = run("attack", "votes.soc", "--above", "Cherry", "Beech", "--write", "attacked.soc")
    assert code == 0
    assert "wrote attacked.soc" in err
    votes, attacked = hr.read_votes(tmp_path / "votes.soc"), hr.read_votes(tmp_path / "attacked.soc")
    assert attacked.total == 100
    assert votes.total_variation(attacked) == pytest.approx(0.16)
    assert hr.fulfils(votes, hr.kemeny, attacked, hr.Above("Cherry", "Beech"))


def test_nothing_is_written_when_no_attack_is_known(run, tmp_path):
    code, out, err = run("attack", "votes.soc", "--new-winner", "--theta", "0.5", "--write", "attacked.soc", "-q")
    assert code == 0
    assert out.startswith("No number of replaced ballots can bring another item to first place (proven).")
    assert "nothing was written" in err
    assert not (tmp_path / "attacked.soc").exists()


def test_a_goal_that_holds_takes_no_vote(run):
    code, out, _ = run("attack", "votes.soc", "--wins", "Ash", "-q")
    assert code == 0
    assert out.startswith("No ballot needs to change to make Ash win: this is already the case.\n")


def test_require_proof_and_interruption_are_exit_codes(run, monkeypatch):
    monkeypatch.setattr(answers, "exact_engine", lambda *_: Engine(lambda *_: [Found(0.01)]))
    monkeypatch.setattr(cases, "searching", lambda _: Engine(lambda *_: [Found(0.0)], by_search=True))
    args = ["attack", "votes.soc", "--new-winner", "-q"]
    code, out, _ = run(*args)
    assert code == 0
    assert "At least 2 of 100 ballots must change to change the winner (2 %, proven); no attack found." in out
    assert run(*args, "--require-proof")[:2] == (5, out)
    assert run("breakdown", "votes.soc", "--delta", "1", "-q", "--require-proof")[0] == 5

    def stopped(_votes, _before, _aims, _change, clock, _progress):
        clock.interrupted = True
        return [Found(0.01)]

    monkeypatch.setattr(answers, "exact_engine", lambda *_: Engine(stopped))
    assert run(*args)[0] == 130
    assert run("breakdown", "votes.soc", "--delta", "1", "-q")[0] == 130


def test_many_ballots_are_cut_short(run, tmp_path):
    votes = hr.sample_votes(hr.Mallows(range(6), 0.6), 300, rng=1)
    hr.write_votes(votes, tmp_path / "many.soc")
    _, out, _ = run("attack", "many.soc", "--distance", "1", "-q")
    rows = [line for line in out.splitlines() if " - " in line or " + " in line]
    assert len(rows) == 20
    assert "more ballots; --json lists all" in out
    assert any(" + " in row for row in rows)
    _, out, _ = run("attack", "many.soc", "--distance", "1", "-q", "--json")
    record = json.loads(out)["attack"]
    assert len(record["removed"]["listed"]) + len(record["added"]["listed"]) > 20
    assert all(len(record[part]["listed"]) == record[part]["kinds"] for part in ("removed", "added"))


def test_hostile_names_do_not_reach_the_terminal(run, tmp_path):
    name = "\x1b]0;owned\x07\x1b[2J"
    (tmp_path / "evil.soc").write_text(SOC.replace("Ash", name), encoding="utf-8")
    for args in (["breakdown"], ["attack", "--wins", "Beech"], ["attack", "--wins", "nobody"]):
        _, out, err = run(args[0], "evil.soc", *args[1:])
        assert "\x1b" not in out + err


def test_verbose_says_how_long_it_took(run):
    err = run("breakdown", "votes.soc", "-q", "-v")[2]
    assert err.startswith("exact: minimum share, attained by a verified attack: method exact; ")
    assert run("attack", "votes.soc", "--new-winner", "-q", "-v")[2].startswith("exact: ")


@pytest.mark.slow
def test_the_estimate_keeps_its_seed(run):
    args = ["breakdown", "votes.soc", "--method", "smooth", "--delta", "0.1", "--json", "-q"]
    _, out, _ = run(*args, "--seed", "7")
    record = json.loads(out)["breakdown"]
    assert (record["seed"], record["method"]) == (7, "smooth")
    assert record["status"].startswith("estimate: ")


@pytest.mark.traced
@pytest.mark.slow
def test_the_papers_estimate_says_where_it_bounds_nothing(run):
    args = ["breakdown", "votes.soc", "--method", "paper", "--steps", "60", "--seed", "3", "-q"]
    code, out, _ = run(*args)
    assert code == 0
    assert "estimate, not attained" in out
    assert (
        out.splitlines()[-1]
        == "estimate by the paper's algorithm: not a bound, except where it gives a verified attack"
    )
    record = json.loads(run(*args, "--json")[1])["breakdown"]
    assert (record["method"], record["seed"], record["options"]["steps"]) == ("paper", 3, 60)
    assert set(record["lower"]) == {0.0}
    for estimate, upper in zip(record["estimate"], record["upper"], strict=True):
        assert upper is None or upper == pytest.approx(estimate, abs=1e-9)
    assert run(*args, "--require-proof")[0] == 5
    code, _, err = run("breakdown", "votes.soc", "--steps", "60")
    assert (code, "--steps applies only to --method paper." in err) == (2, True)


@pytest.mark.usefixtures("run")
def test_bars_are_plain_where_blocks_cannot_be_shown(monkeypatch):
    class Old(io.StringIO):
        encoding = "ascii"

    screen = Old()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "argv", ["holdrank", "breakdown", "votes.soc", "-q"])
    with pytest.raises(SystemExit):
        cli.main()
    assert "###" in screen.getvalue()


def test_the_input_is_not_overwritten_and_bad_names_are_refused_before_the_search(run, tmp_path):
    before = (tmp_path / "votes.soc").read_bytes()
    code, _, err = run("attack", "votes.soc", "--new-winner", "-q", "--write", "./votes.soc")
    assert code == 2
    assert "would overwrite the votes" in err
    assert (tmp_path / "votes.soc").read_bytes() == before
    for name in ("-", "out.txt", "out"):
        code, out, err = run("attack", "votes.soc", "--new-winner", "-q", "--write", name)
        assert (code, out) == (2, "")
        assert "--write needs a file with the extension .soc" in err


def test_zero_is_a_goal_and_gets_its_own_answer(run):
    code, _, err = run("attack", "votes.soc", "--top-set", "0", "-q")
    assert code == 2
    assert "k must be a whole number from 1 to 3" in err
    code, out, _ = run("attack", "votes.soc", "--distance", "0", "-q")
    assert code == 0
    assert "No ballot needs to change to move the consensus by 0 of 6 pairs: this is already the case." in out


def test_what_comes_after_is_shown_at_the_threshold_that_was_attacked(run, tmp_path):
    header = SOC[: SOC.index("40:")]
    (tmp_path / "auto.soc").write_text(header + "3: 1,2,3,4\n2: 2,1,3,4\n", encoding="utf-8")
    code, out, _ = run("attack", "auto.soc", "--theta", "auto", "--distance", "0.16", "-q")
    assert code == 0
    before, after = (next(line for line in out.splitlines() if line.startswith(word)) for word in ("before", "after"))
    assert "{" in before
    assert after.split(":")[1].strip() != before.split(":")[1].strip()
    assert "{" in after  # at the same threshold, not without one


def test_tradeoff_as_json(run):
    code, out, _ = run("tradeoff", "votes.soc", "-q", "--json")
    found = json.loads(out)["tradeoff"]
    t = hr.tradeoff(hr.read_votes("votes.soc"))
    assert code == 0
    assert found["best"] == t.best
    assert found["theta"] == t.theta.tolist()
    assert found["lower"][-1] is None  # all tied: never
    assert found["sizes"] == [[len(bucket) for bucket in ranking.buckets] for ranking in t.rankings]


def test_tradeoff_cuts_long_tiers_and_escapes_names(run, tmp_path):
    names = ["\x1b[31mred", "[bold]b[/bold]", "c" * 120]
    header = "# NUMBER ALTERNATIVES: 3\n" + "".join(f"# ALTERNATIVE NAME {k}: {n}\n" for k, n in enumerate(names, 1))
    (tmp_path / "names.soc").write_text(header + "3: 1,2,3\n2: 2,1,3\n", encoding="utf-8")
    code, out, err = run("tradeoff", "names.soc", "-v")
    assert code == 0
    assert "\x1b" not in out + err
    assert "[bold]b[/bold]" in out
    assert all(len(line) <= 100 for line in out.splitlines()[:-2])
    assert "exact" in err


@pytest.mark.slow
def test_numbers_of_a_breakdown_are_never_cut(run, monkeypatch):
    from holdrank.cli import printing

    monkeypatch.setattr(printing, "line_width", lambda: 80)
    hr.write_votes(hr.sample_votes(hr.Mallows(range(6), 0.9), 2_000_000, rng=1), "wide.soc")
    real = answers.breakdown

    def wide(votes, *_, **__):
        found = real(votes, method="bounds")
        return replace(found, upper=found.lower + 0.3, votes_sufficient=found.votes_needed + 600_000)

    monkeypatch.setattr(answers, "breakdown", wide)
    out = run("breakdown", "wide.soc", "-q")[1]
    rows = [row for row in out.splitlines() if " theorem " in row]
    assert len(rows) == 15
    assert "52,124 to 652,124   2.61 % to 32.6 %" in rows[0]
    assert "…" not in out
    assert max(map(len, rows)) <= 80


def test_a_tradeoff_of_many_items_is_about_the_first_place(run, tmp_path):
    votes = hr.sample_votes(hr.PlackettLuce([1.2**k for k in range(17)]), 60, rng=2)
    hr.write_votes(votes, tmp_path / "many.soc")
    code, out, _ = run("tradeoff", "many.soc", "-q", "--rule", "borda", "--most", "3", "--time-limit", "none")
    assert code == 0
    assert out.startswith(
        "Trade-off of borda by downward merge, until another item shares or takes first place: 60 ballots, 17 items\n"
    )
    code, out, _ = run("tradeoff", "votes.soc", "-q", "--json")
    assert json.loads(out)["tradeoff"]["goal"] is None


def test_an_attack_whose_votes_are_settled_says_so_though_its_share_is_not(run, monkeypatch):
    attack = answers.attack

    def bounded(*args, **kwargs):
        found = attack(*args, **kwargs)
        return replace(found, lower=found.lower - 0.001, status=hr.Status.BETWEEN)

    monkeypatch.setattr(answers, "attack", bounded)
    code, out, _ = run("attack", "two.soc", "--above", "Beech", "Ash", "-q")
    assert code == 0
    assert out.endswith("exact in whole ballots; the minimum share lies between 9.9 % and 10 %\n")
