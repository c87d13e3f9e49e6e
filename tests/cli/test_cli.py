from __future__ import annotations

import io
import json
import os
import re
import runpy
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import holdrank as hr
from holdrank import cli, files
from holdrank.analysis.board import COLUMNS
from holdrank.attacks import goals
from holdrank.cli import board, options
from holdrank.rules import registry
from holdrank.status import Status, Step
from holdrank.views.boards import BOARD_FORMS

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

BATTLES = """model_a,model_b,winner
x,y,model_a
x,y,tie
y,z,model_b
x,z,model_a
"""


@pytest.fixture
def run(command_line, tmp_path):
    """The command line, in a folder with two files of votes."""
    (tmp_path / "votes.soc").write_text(SOC, encoding="utf-8")
    (tmp_path / "battles.csv").write_text(BATTLES, encoding="utf-8")
    return command_line


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("rank", ["rank", "votes.soc"]),
        ("rank-borda-quiet", ["rank", "votes.soc", "--rule", "borda", "-q"]),
        ("rank-footrule-quiet", ["rank", "votes.soc", "--rule", "footrule", "-q"]),
        ("rank-battles", ["rank", "battles.csv"]),
        ("rank-compare", ["rank", "votes.soc", "--compare", "-q"]),
        ("rank-compare-battles", ["rank", "battles.csv", "--compare", "-q"]),
        ("tiers", ["tiers", "votes.soc", "--theta", "0.2", "-q"]),
        ("tiers-path", ["tiers", "votes.soc", "--path", "-q"]),
        ("validate", ["validate", "votes.soc"]),
        pytest.param("demo", ["demo"], marks=pytest.mark.slow),
        ("convert", ["convert", "votes.soc", "-", "--to", "positions", "-q"]),
    ],
)
def test_output_is_as_stored(name, args, run, as_stored):
    as_stored(name, run(*args))


def test_json_goes_to_stdout_and_messages_to_stderr(run):
    code, out, err = run("rank", "votes.soc", "--json")
    record = json.loads(out)
    assert code == 0
    assert [record["items"][i] for i in record["consensus"]["order"]] == ["Ash", "Beech", "Cherry", "Date palm"]
    assert record["consensus"]["ranks"][record["items"].index("Date palm")] == 4
    assert record["consensus"]["status"] == "proven optimal"
    assert record["consensus"]["bound"] == record["consensus"]["loss"]
    assert record["votes"]["total"] == 100
    assert len(record["votes"]["sha256"]) == 64
    assert "items: 4" in err


@pytest.mark.parametrize(("rule", "title"), [("copeland", "Copeland"), ("bradley-terry", "Bradley-Terry")])
def test_rules_by_score_say_that_they_minimise_nothing(run, rule, title):
    code, out, _ = run("rank", "votes.soc", "--rule", rule, "-q", "--require-proof")
    assert code == 0
    assert out.startswith(f"{title} consensus: 100 ballots")
    assert out.endswith("exact: sorted by score, not a distance minimiser; all scores differ\n")
    assert json.loads(run("tiers", "votes.soc", "--rule", rule, "--json", "-q")[1])["consensus"]["rule"] == rule


def test_tiers_as_json(run):
    _, out, _ = run("tiers", "votes.soc", "--json", "--theta", "0.15", "-q")
    assert json.loads(out)["items"] == ["Ash", "Beech", "Cherry", "Date palm"]
    assert json.loads(out)["tiers"]["ranks"] == [1, 2, 2, 3]
    _, out, err = run("tiers", "votes.soc", "--json", "--path", "--merge", "naive", "-q")
    path, order = json.loads(out)["path"], json.loads(out)["consensus"]["order"]
    assert (order, path["theta"][0], path["sizes"][0]) == ([0, 1, 2, 3], 0.0, [1, 1, 1, 1])
    assert path["sizes"][-1] == [4]
    assert err == ""
    # Ash beats Beech by 70 to 30, Beech beats Cherry by 65 to 35; every tree beats the date palm by 95 to 5.
    _, out, _ = run("tiers", "votes.soc", "--json", "--path", "--merge", "smith", "-q")
    path = json.loads(out)["path"]
    assert path["theta"][1:] == [0.15, 0.2, 0.45]
    assert path["sizes"][1:] == [[1, 2, 1], [3, 1], [4]]


def test_stdin_is_a_dash(run):
    code, out, _ = run("rank", "-", "-q", stdin=SOC)
    assert code == 0
    assert "Ash" in out


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["rnak", "votes.soc"], 2, "Did you mean 'rank'?"),
        (["frobnicate"], 2, "Commands: rank, tiers"),
        (["rank"], 2, "Missing argument"),
        (["rank", "votes.soc", "--rule", "kemney"], 2, "kemeny"),
        (["rank", "votes.soc", "--rule", "mean-score"], 2, "these votes are rankings. Fix: read a score"),
        (["tradeoff", "votes.soc", "--rule", "copeland"], 2, "not for copeland"),
        (["tiers", "votes.soc", "--theta", "0.7"], 2, "0.5"),
        (["rank", "missing.soc"], 3, "missing.soc"),
        (["rank", "battles.csv", "--unlisted", "bottom"], 2, "battles"),
        (["convert", "votes.soc", "out.xyz"], 2, "out.xyz"),
        (["convert", "missing.soc", "out.xyz"], 2, "OUTPUT needs a file with the extension .soc"),
        (["convert", "votes.soc", "-"], 2, "give --to"),
        (["convert", "votes.soc", "votes.soc"], 2, "OUTPUT would overwrite the votes"),
        (["convert", "missing.soc", "nowhere/out.soc"], 3, "nowhere/out.soc: the file cannot be written"),
        (["rank", "votes.soc", "--theta", "0.1"], 2, "No such option '--theta'; tiers, breakdown, attack, check,"),
        (["rank", "votes.soc", "--claim", "x"], 2, "check, report have it."),
        (["rank", "votes.soc", "--rul", "borda"], 2, "Did you mean one of: '--rule'"),
        (["help", "rank"], 2, "Did you mean '--help'?"),
        (["verify", "battles.csv", "votes.soc"], 3, "holdrank: battles.csv, line 1, column 1: this is not JSON"),
    ],
)
def test_mistakes_get_one_clear_line_and_their_exit_code(args, code, words, run):
    found, out, err = run(*args)
    assert found == code
    assert out == ""
    assert words.replace("'", "") in err.replace("'", "")  # older versions of click quote fewer words
    assert "Traceback" not in err


def test_bad_data_is_one_line_with_options_spelt_for_the_shell(run, tmp_path):
    (tmp_path / "latin.csv").write_bytes(b"model_a,model_b,winner\ncaf\xe9,y,model_a\n")
    code, out, err = run("rank", "latin.csv")
    assert code == 3
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("holdrank: latin.csv, line 2: ")
    assert "--encoding latin-1" in err
    assert run("rank", "latin.csv", "--encoding", "latin-1", "-q")[0] == 0


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["leave-one-out", "battles.csv"], "with --by, or leave out ballots with --ballots"),
        (["breakdown", "votes.soc", "--rule", "copeland", "--method", "exact"], "or --method search"),
        (["rank", "votes.soc", "--rule", "bradley-terry", "--ties", "davidson"], "use --ties half"),
        (["rank", "battles.csv", "--ties", "davidson", "--reweight"], "use --ties half or do not reweight"),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_options_of_commands_are_spelt_for_the_shell_too(run, words, fix):
    code, out, err = run(*words, "-q")
    assert (code, out) == (2, "")
    assert fix in err
    assert '="' not in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--where", "language=en"], "there is no such column for --where; found 'language'"),
        (["--voter", "judge"], "there is no such column for --voter; found 'judge'"),
        (["--first", "model_a"], "--first and --second name the two items of a battle: give both or neither"),
        (["--map", "won"], "--map takes codes such as 'won=first', not 'won'"),
        (["--rule", "elo"], "there is no rule 'elo'; bradley-terry gives ratings on the Elo scale"),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_slips_of_newcomers_are_named_as_they_typed_them(run, words, said):
    code, out, err = run("rank", "battles.csv", *words, "-q")
    assert code in (2, 3)
    assert out == ""
    assert said in err


def test_categories_of_other_files_are_refused_by_option(run):
    assert "--categories applies only to .cat files, not to .soc" in run("rank", "votes.soc", "--categories", "a,b")[2]


def test_a_rule_may_be_spelt_as_in_python(run):
    known = run("rank", "battles.csv", "--rule", "bradley-terry", "-q")
    assert run("rank", "battles.csv", "--rule", "bradley_terry", "-q") == known


def test_a_cut_that_leaves_no_item_out_is_refused(run):
    for command in ("cut", "report"):
        code, out, err = run(command, "votes.soc", "--k", "4", "-q")
        assert (code, out) == (2, "")
        assert "--k 4 leaves no item out: the file has 4 items." in err


def test_validate_lists_problems_and_the_total(run, tmp_path):
    (tmp_path / "bad.soc").write_text(SOC + "x: 1,2,3,4\n" * 25, encoding="utf-8")
    code, out, _ = run("validate", "bad.soc")
    lines = out.splitlines()
    assert code == 3
    assert len(lines) == 21
    assert lines[0].startswith("bad.soc, line 11: ")
    assert lines[-1] == "25 problems; the first 20 are shown"
    code, out, _ = run("validate", "bad.soc", "--json")
    found = json.loads(out)
    assert (found["total"], len(found["problems"])) == (25, 20)
    assert (found["problems"][0]["source"], found["problems"][0]["line"]) == ("bad.soc", 11)
    assert found["problems"][0]["text"] == lines[0]
    assert json.loads(run("validate", "votes.soc", "--json")[1])["items"][0] == "Ash"


def test_reading_options_reach_the_reader(run, monkeypatch):
    seen = {}

    def note(file, **options):
        seen.update(options, file=file)
        return hr.Votes.from_orders([["a", "b"]])

    monkeypatch.setattr(files, "read_votes", note)
    run("rank", "f", "--columns", "3, name", "--delimiter", "tab", "--item", "t", "--item", "a", "--categories", "2,1",
        "--rank-column", "r", "--blank", "none", "--lower-is-better", "ms", "--header", "0")  # fmt: skip
    assert seen == {
        "file": "f", "columns": ["3", "name"], "delimiter": "\t", "item": ("t", "a"), "categories": ["2", "1"],
        "rank": "r", "blanks": ("none",), "lower_is_better": ("ms",), "header": 0, "repeated": "refuse",
        "both_bad": "tie",
        "short_rows": "refuse",
    }  # fmt: skip
    seen.clear()
    run("rank", "f", "--item", "title")
    assert seen["item"] == "title"


def test_lists_that_commands_keep_are_those_of_the_library():
    """Commands have copies, so that help does not load what they are lists of."""
    assert set(options.FORMATS) == set(files.FORMATS)
    assert options.CLAIMS == goals.CLAIMS
    assert set(board._ENDINGS) == set(BOARD_FORMS)
    (shown,) = (option for option in board.board.params if option.name == "shown")
    assert f"commas: {', '.join(COLUMNS)}." in shown.help


def test_hostile_names_do_not_reach_the_terminal(run, tmp_path):
    name = "\x1b]0;owned\x07\x1b[2J"
    (tmp_path / "evil.soc").write_text(SOC.replace("Ash", name), encoding="utf-8")
    for command in (["rank"], ["tiers"], ["tiers", "--path"], ["validate"]):
        code, out, err = run(*command, "evil.soc")
        assert code == 0
        assert "\x1b" not in out + err
    assert "\\x1b" in run("rank", "evil.soc")[1]


def test_markup_in_names_is_text(run, tmp_path):
    (tmp_path / "markup.soc").write_text(SOC.replace("Ash", "[red]x[/red] :smile:"), encoding="utf-8")
    assert "[red]x[/red] :smile:" in run("rank", "markup.soc", "-q")[1]


def test_require_proof_changes_only_the_exit_code(run, tmp_path):
    rng = np.random.default_rng(0)
    votes = hr.Votes.from_ranks(np.array([rng.permutation(60) + 1 for _ in range(51)]))
    hr.write_votes(votes, tmp_path / "hard.soc")
    args = ["hard.soc", "--time-limit", "0", "-q"]
    code, out, _ = run("rank", *args)
    assert code == 0
    assert "time limit reached" in out
    assert "lower bound" in out
    assert run("rank", *args, "--require-proof")[:2] == (5, out)
    assert run("tiers", *args, "--require-proof")[0] == 5
    assert run("rank", "votes.soc", "-q", "--require-proof")[0] == 0


def test_interruption_keeps_the_result_and_exits_with_130(run, monkeypatch):
    from dataclasses import replace

    real = registry.kemeny
    monkeypatch.setattr(
        registry, "kemeny", lambda votes, **options: replace(real(votes, **options), status=Status.INTERRUPTED)
    )
    code, out, _ = run("rank", "votes.soc", "-q")
    assert code == 130
    assert "Ash" in out

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "read_votes", stop)
    code, _, err = run("rank", "votes.soc")
    assert code == 130
    assert err.strip() == "interrupted"


def test_pairs_never_compared_are_said_so(run):
    code, out, _ = run("rank", "-", "-q", stdin="model_a,model_b,winner\na,b,model_a\nc,d,model_a\n")
    assert code == 0
    assert "never compared" in out


def test_convert_writes_a_file_that_reads_back(run, tmp_path):
    code, _, err = run("convert", "votes.soc", "out.csv")
    assert code == 0
    assert "wrote out.csv" in err
    assert hr.read_votes(tmp_path / "out.csv") == hr.read_votes(tmp_path / "votes.soc")


def test_an_unwritable_folder_is_one_line(run, tmp_path):
    (tmp_path / "occupied").write_text("a file, not a folder", encoding="utf-8")
    code, _, err = run("demo", "--out", "occupied")
    assert code == 3
    assert err == (
        "holdrank: occupied: the folder cannot be made: File exists; expected a place that you may write to. "
        "Fix: choose another path\n"
    )


def test_a_figure_that_is_nearly_one_is_asked_back(run):
    code, out, err = run("paper", "aren")
    assert (code, out) == (2, "")
    assert "No such figure 'aren'. Did you mean 'arena'?" in err
    assert "Figures: fig1," in run("paper", "zzz")[2]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_exist(shell, run):
    code, out, _ = run("completion", shell)
    assert code == 0
    assert "_HOLDRANK_COMPLETE" in out


def test_version_and_help(run):
    assert hr.__version__ in run("--version")[1]
    code, out, _ = run("tiers", "-h")
    assert code == 0
    assert "How FILE is read:" in out


def test_python_m_holdrank_is_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["holdrank", "--version"])
    with pytest.raises(SystemExit) as stop:
        runpy.run_module("holdrank", run_name="__main__")
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"holdrank, version {hr.__version__}\n"


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")
def test_a_closed_pipe_is_no_error(tmp_path):
    (tmp_path / "votes.soc").write_text(SOC, encoding="utf-8")
    command = f"set -o pipefail; {sys.executable} -m holdrank rank votes.soc -q | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="closes descriptors by the shell")
@pytest.mark.parametrize(("redirect", "code"), [(">&-", 2), ("<&-", 2), (">/dev/full", 3)])
def test_closed_and_full_streams_are_one_line(redirect, code, tmp_path):
    (tmp_path / "votes.soc").write_text(SOC, encoding="utf-8")
    file = "-" if redirect == "<&-" else "votes.soc"
    command = f"{sys.executable} -m holdrank rank {file} -q {redirect}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert done.stderr


def test_json_is_json_on_any_terminal(tmp_path):
    (tmp_path / "e.soc").write_text(SOC.replace("Ash", "😀"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "holdrank", "rank", "e.soc", "-q", "--json"],
        capture_output=True, cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "cp1252"}, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["items"][0] == "😀"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(("file", "code"), [("votes.soc", 0), ("missing.soc", 3)])
def test_a_full_stderr_loses_neither_result_nor_exit_code(file, code, tmp_path):
    (tmp_path / "votes.soc").write_text(SOC, encoding="utf-8")
    command = f"{sys.executable} -m holdrank rank {file} 2>/dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == code
    assert ("Ash" in done.stdout) == (code == 0)


def test_convert_to_stdout_needs_no_stdin(tmp_path):
    (tmp_path / "votes.soc").write_text(SOC, encoding="utf-8")
    command = f"{sys.executable} -m holdrank convert votes.soc - --to jsonl -q <&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Ash" in done.stdout


def test_names_that_the_terminal_cannot_show_are_escaped(tmp_path):
    (tmp_path / "jp.soc").write_text(SOC.replace("Ash", "日本"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "holdrank", "rank", "jp.soc", "-q"],
        capture_output=True, cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "cp1252"}, check=True,
    )  # fmt: skip
    assert b"\\u65e5" in done.stdout


def test_an_internal_error_is_one_line_and_a_traceback_on_request(run, monkeypatch):
    def break_down(*_, **__):
        raise ZeroDivisionError("by\nzero")

    monkeypatch.setattr(files, "read_votes", break_down)
    code, _, err = run("rank", "votes.soc")
    assert code == 1
    assert err.count("\n") == 1
    assert "internal error: ZeroDivisionError: by\\nzero" in err
    monkeypatch.setenv("HOLDRANK_DEBUG", "1")
    monkeypatch.setattr(sys, "argv", ["holdrank", "rank", "votes.soc"])
    with pytest.raises(ZeroDivisionError):
        cli.main()


def test_verbose_says_how_it_was_proved(run):
    err = run("rank", "votes.soc", "-q", "-v")[2]
    assert err.startswith("proven optimal: 4 single items by majority; ")
    assert run("tiers", "votes.soc", "-q", "-v", "--rule", "borda")[2].startswith(
        "proven optimal: sorted by mean place"
    )


def test_progress_is_shown_on_a_terminal_only(run, monkeypatch):
    import holdrank.cli.printing as module

    class Screen(io.StringIO):
        def isatty(self):
            return True

    moments = iter(range(1000))
    monkeypatch.setattr(module, "monotonic", lambda: next(moments))
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(sys, "argv", ["holdrank", "rank", "votes.soc"])
    with pytest.raises(SystemExit):
        cli.main()
    assert "components: 1 of 4" in screen.getvalue()
    assert "components" not in run("rank", "votes.soc")[2]


def test_a_silent_search_shows_that_it_goes_on(monkeypatch):
    from holdrank.cli.printing import progress_line

    class Screen(io.StringIO):
        def isatty(self):
            return True

    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_line(False, "checking") as progress:
        assert progress is not None
        patience = time.monotonic() + 60
        while not screen.getvalue() and time.monotonic() < patience:
            time.sleep(0.05)
    assert re.fullmatch(r"(\rchecking, \d+ s, Ctrl-C ends it\x1b\[K)+\r\x1b\[K", screen.getvalue())
    with progress_line(True, "checking") as progress:
        assert progress is None


def test_the_line_of_progress_is_one_line_on_any_terminal(monkeypatch):
    from rich.cells import cell_len

    from holdrank.cli.printing import Progress

    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "60")
    line = Progress("reading")
    line._last -= 1
    line(Step("読" * 50, 1, 2))
    line.end()
    shown = screen.getvalue().split("\r")[1].removesuffix("\x1b[K")
    assert shown.startswith("reading: 読読読")
    assert shown.endswith(" s, Ctrl-C ends it")
    assert cell_len(shown) == 59


@pytest.mark.slow
def test_tied_items_stand_in_the_order_of_the_ranking_everywhere(run):
    Path("back.soc").write_text(SOC.replace("5: 4,3,2,1", "200: 4,3,2,1"), encoding="utf-8")
    order = "Date palm, Cherry, Beech, Ash"
    assert order in run("tiers", "back.soc", "--theta", "0.5", "-q")[1]
    assert f"{{{order}}}" in run("tiers", "back.soc", "--path", "-q")[1]
    assert f"{{{order}}}" in run("tradeoff", "back.soc", "-q")[1]
    for command in (["tiers", "--theta", "0.5"], ["tradeoff"]):
        told = json.loads(run(*command, "back.soc", "--json", "-q")[1])
        assert [told["items"][i] for i in told["consensus"]["order"]] == order.split(", ")
    assert told["tradeoff"]["sizes"][-1] == [4]
    votes = hr.Votes.from_orders([["b", "a", "c"], ["a", "b", "c"]], weights=[51, 49], items=["a", "b", "c"])
    assert hr.analyse(votes, hr.Spec(theta=0.05)).headline.startswith("b and a firmly share first place")


def test_draws_that_were_interrupted_are_shown_with_the_exit_code_for_it(run, monkeypatch):
    from dataclasses import replace

    from holdrank.analysis import bootstrap as resampling

    real = resampling.bootstrap
    monkeypatch.setattr(
        resampling, "bootstrap", lambda *args, **how: replace(real(*args, **how), status=Status.RESAMPLED_INTERRUPTED)
    )
    code, out, _ = run("rank", "votes.soc", "--draws", "200", "-q")
    assert code == 130
    assert "interrupted: estimate from fewer bootstrap samples" in out


def test_comparison_as_json_has_every_rule(run):
    code, out, _ = run("rank", "votes.soc", "--compare", "--json", "-q")
    found = json.loads(out)
    assert code == 0
    assert found["consensus"]["rule"] == "kemeny"
    assert [other["rule"] for other in found["others"]] == ["borda", "footrule", "copeland", "bradley-terry"]
    assert all(sorted(other["ranks"]) == [1, 2, 3, 4] for other in found["others"])


def test_draws_are_shown_beside_the_places(run):
    code, out, _ = run("rank", "votes.soc", "--draws", "250", "--seed", "3", "-q")
    assert code == 0
    drawn = hr.bootstrap(hr.read_votes("votes.soc"), draws=250, rng=3)
    header, *rows = out.splitlines()[1:6]
    assert "95 % of draws" in header
    for place, (item, row) in enumerate(zip(drawn.consensus.ranking.order, rows, strict=True), start=1):
        best, worst = drawn.best[item], drawn.worst[item]
        words = [str(place), f"{best:g}–{worst:g}" if best < worst else f"{best:g}", f"{100 * drawn.first[item]:g} %"]
        assert row.split()[:4] == " ".join(words).split()
    assert "250 bootstrap samples" in out
    code, out, _ = run("rank", "votes.soc", "--draws", "250", "--seed", "3", "-q", "--json")
    assert json.loads(out)["bootstrap"]["unchanged"] == drawn.unchanged
    code, _, err = run("rank", "votes.soc", "--draws", "200", "--compare", "-q")
    assert code == 2
    assert "not both" in err


def test_names_keep_their_room_beside_many_columns(run, tmp_path):
    names = ["a-model-with-a-long-name", "another-of-them", "third"]
    rows = [
        f"{names[a]},{names[b]},{w}" for a, b in ((0, 1), (1, 2), (0, 2)) for w in ["model_a"] * 6 + ["model_b"] * 4
    ]
    (tmp_path / "battles.csv").write_text("\n".join(["model_a,model_b,winner", *rows]), encoding="utf-8")
    code, out, _ = run("rank", "battles.csv", "--draws", "200", "-q")
    assert code == 0
    assert "all at once" in out
    assert "preferred to the next by" not in out
    code, out, _ = run("rank", "battles.csv", "-q")
    assert all(name in out for name in (*names, "preferred to the next by"))
