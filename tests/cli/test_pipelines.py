"""The action and the hooks do what they say: their own steps are run here, with hostile inputs too."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}

# 53 of 100 prefer Ash to Beech, and all prefer both to the others.
VOTES = """# NUMBER ALTERNATIVES: 4
# ALTERNATIVE NAME 1: Ash
# ALTERNATIVE NAME 2: Beech
# ALTERNATIVE NAME 3: Oak <b>|`x`
# ALTERNATIVE NAME 4: Elm
53: 1,2,3,4
47: 2,1,3,4
"""


class Runner:
    """A runner of GitHub's, as far as composite steps see it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.summary = folder / "step summary.md"
        self.output = folder / "output.txt"
        self.asked = folder / "asked.txt"
        programs = folder / "bin"
        programs.mkdir()
        self._program(programs / "holdrank", f'exec {shlex.quote(sys.executable)} -m holdrank "$@"')
        self._program(programs / "python", f'printf "%s\\n" "$@" > {shlex.quote(str(self.asked))}')
        self.environment = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_OUTPUT": str(self.output),
        }

    @staticmethod
    def _program(path: Path, command: str) -> None:
        path.write_text(f"#!/bin/bash\n{command}\n", encoding="utf-8")
        path.chmod(0o755)

    def step(self, name: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run the script of a step as the runner does; inputs that are not given have their defaults."""
        known = {key: str(what.get("default", "")) for key, what in ACTION["inputs"].items()}
        known |= {key.replace("_", "-"): value for key, value in inputs.items()}
        values = {f"inputs.{key}": value for key, value in known.items()} | {"github.action_path": str(ROOT)}
        step = STEPS[name]
        given = {}
        for variable, text in step.get("env", {}).items():
            expression = re.fullmatch(r"\$\{\{ ([a-z._-]+) \}\}", text)
            assert expression, f"{variable} is more than one expression"
            given[variable] = values[expression[1]]
        script = self.folder / "script.sh"
        script.write_text(step["run"], encoding="utf-8")
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.folder, env=self.environment | given, capture_output=True, text=True, check=False,
        )  # fmt: skip


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    (tmp_path / "votes.soc").write_text(VOTES, encoding="utf-8")
    return Runner(tmp_path)


def test_every_step_is_a_script_that_no_input_is_put_into() -> None:
    assert ACTION["runs"]["using"] == "composite"
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        assert "eval" not in step["run"]
    used = {match for step in ACTION["runs"]["steps"] for text in step.get("env", {}).values()
            for match in re.findall(r"inputs\.([a-z-]+)", text)}  # fmt: skip
    assert used == set(ACTION["inputs"])


def test_the_action_installs_itself_with_its_readers(runner: Runner) -> None:
    assert runner.step("Install holdrank").returncode == 0
    asked = runner.asked.read_text("utf-8").splitlines()
    assert asked[:3] == ["-m", "pip", "install"]
    assert asked[-1] == f"{ROOT}[io]"


def test_what_holds_passes_with_a_summary_and_a_badge(runner: Runner) -> None:
    done = runner.step("Check what must hold", file="votes.soc", claims="Ash wins\n\ntop 2\n", badge="badge.svg",
                       min_breakdown="0.03")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert runner.output.read_text("utf-8") == "passed=true\n"
    page = runner.summary.read_text("utf-8")
    assert page.startswith("### votes.soc: holds\n\n100 ballots, 4 items")
    assert "| passed | Ash wins | 3 of 100 ballots tie it, 4 change the winner (4 %, proven minimum). |" in page
    assert "| 3 | Oak &lt;b&gt;\\|\\`x\\` |" in page
    assert words_of(runner.folder / "badge.svg") == ["ranking", "holds until 4 ballots change"]


def test_what_fails_is_said_everywhere(runner: Runner) -> None:
    done = runner.step("Check what must hold", file="votes.soc", claims="Ash wins", badge="badge.svg",
                       min_breakdown="0.1")  # fmt: skip
    assert done.returncode == 4
    assert done.stdout.startswith("FAILED  Ash wins: ")
    assert runner.output.read_text("utf-8") == "passed=false\n"
    page = runner.summary.read_text("utf-8")
    assert page.startswith("### votes.soc: 1 of 1 claim failed\n")
    assert "| **failed** | Ash wins |" in page
    assert "A claim passes if breaking it is proved to take at least 10 of 100 ballots (10 %)." in page
    assert words_of(runner.folder / "badge.svg") == ["Ash wins", "breaks at 4 ballots"]


def test_a_file_that_cannot_be_read_is_no_failed_claim(runner: Runner) -> None:
    done = runner.step("Check what must hold", file="missing.soc")
    assert done.returncode == 3
    assert "missing.soc" in done.stderr
    assert not runner.output.exists()
    assert "exit code 3" in runner.summary.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.traced
def test_a_baseline_tells_what_moved(runner: Runner) -> None:
    (runner.folder / "later.soc").write_text(VOTES.replace("47: 2", "147: 2"), encoding="utf-8")
    assert runner.step("Compare with the baseline", file="later.soc").returncode == 0
    assert not runner.summary.exists()  # without a baseline there is nothing to compare
    done = runner.step("Compare with the baseline", file="later.soc", baseline="votes.soc", options="--unlisted=bottom")
    assert done.returncode == 0, done.stderr
    page = runner.summary.read_text("utf-8")
    assert page.startswith("### From votes.soc to later.soc\n\n2 of 4 items moved, ")
    assert re.search(r"\| Beech \| 2 \| [12–]+ \| 1 \| 1 \| \+1 \| \d+ \| (beyond|within) noise \|", page)
    assert "| Elm |" not in page  # which did not move
    runner.step("Check what must hold", file="later.soc", claims="Beech wins")
    assert "### later.soc: holds" in runner.summary.read_text("utf-8").removeprefix(page)  # what was there stays


def test_summaries_say_what_failed_and_what_moved(command_line: Any, tmp_path: Path) -> None:
    (tmp_path / "votes.soc").write_text(VOTES, encoding="utf-8")
    (tmp_path / "later.soc").write_text(
        VOTES.replace("47: 2", "147: 2").replace("NAME 4: Elm", "NAME 4: Fir"), encoding="utf-8"
    )
    page = tmp_path / "page.md"
    args = ["--claim", "Ash wins", "--claim", "Beech wins", "--min-breakdown", "0.1", "--summary", "page.md"]
    assert command_line("check", "votes.soc", "-q", *args)[0] == 4
    told = page.read_text("utf-8")
    assert told.startswith("### votes.soc: 2 of 2 claims failed\n\n100 ballots, 4 items, by kemeny. ")
    assert "| **failed** | Ash wins | 3 of 100 ballots tie it, 4 change the winner (4 %, proven minimum). |" in told
    assert "| **failed** | Beech wins | " in told
    assert "| 1 | Ash |\n| 2 | Beech |\n" in told
    assert command_line("diff", "votes.soc", "later.soc", "-q", "--draws", "200", "--summary", "page.md")[0] == 0
    moved = page.read_text("utf-8").removeprefix(told)
    assert moved.startswith("### From votes.soc to later.soc\n\n")
    assert moved.endswith("Only in the old file: Elm.\n\nOnly in the new file: Fir.\n\n")
    assert re.search(r"\| Beech \| 2 \| [12–]* \| 1 \| [12–]* \| \+1 \| ", moved)


HOSTILE = ["$(touch pwned)", "`touch pwned`", '"; touch pwned; "', "--help", "a\\"]


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE)
def test_no_input_is_run_or_taken_for_an_option(runner: Runner, text: str) -> None:
    for name, inputs in (
        ("Check what must hold", {"file": text}),
        ("Check what must hold", {"file": "votes.soc", "claims": text}),
        ("Check what must hold", {"file": "votes.soc", "min_breakdown": text}),
        ("Compare with the baseline", {"file": text, "baseline": "votes.soc"}),
        ("Compare with the baseline", {"file": "votes.soc", "baseline": text}),
    ):
        done = runner.step(name, **inputs)
        assert done.returncode in (2, 3), (name, inputs, done.stdout)
        assert not done.stdout
    assert not (runner.folder / "pwned").exists()


def test_a_file_with_any_name_is_checked(runner: Runner) -> None:
    name = "-odd $(touch pwned) \"'`*.soc"
    (runner.folder / name).write_text(VOTES, encoding="utf-8")
    done = runner.step("Check what must hold", file=name, claims="Ash wins", badge='b "x" $HOME.svg')
    assert done.returncode == 0, done.stderr
    assert (runner.folder / 'b "x" $HOME.svg').exists()
    assert not (runner.folder / "pwned").exists()


def hook(folder: Path, name: str, args: list[str], files: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a hook as pre-commit does: its entry, the user's args, and names of files at the end."""
    command = [*shlex.split(HOOKS[name]["entry"]), *args, *files]
    assert command[0] == "holdrank"
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.traced
def test_hooks_take_many_files_and_fail_if_one_does(tmp_path: Path) -> None:
    (tmp_path / "a.soc").write_text(VOTES, encoding="utf-8")
    (tmp_path / "b.soc").write_text(VOTES.replace("53", "73"), encoding="utf-8")
    done = hook(tmp_path, "holdrank-check", ["--claim", "Ash wins", "--min-breakdown", "0.05"], ["a.soc", "b.soc"])
    assert done.returncode == 4
    assert [line[:22] for line in done.stdout.splitlines()] == ["FAILED  a.soc: Ash win", "ok      b.soc: Ash win"]
    assert hook(tmp_path, "holdrank-check", ["--claim=Ash wins"], ["b.soc"]).returncode == 0
    assert hook(tmp_path, "holdrank-validate", [], ["a.soc", "b.soc"]).returncode == 0
    (tmp_path / "c.soc").write_text(VOTES + "3: 1,1\n4: 9\n", encoding="utf-8")
    done = hook(tmp_path, "holdrank-validate", [], ["c.soc", "a.soc"])
    assert done.returncode == 3
    assert "c.soc, line 8" in done.stdout
    assert "2 problems" in done.stdout
    assert "no problems found" in done.stdout  # the files after it are looked at too


@pytest.mark.parametrize("name", HOOKS)
def test_hooks_look_at_endings_that_mean_votes(name: str) -> None:
    assert HOOKS[name]["language"] == "python"
    assert re.search(HOOKS[name]["files"], "votes/a.soc")
    assert not re.search(HOOKS[name]["files"], "data.csv")


@pytest.mark.parametrize("option", [["--json"], ["--badge", "b.svg"]])
def test_what_tells_of_one_file_refuses_two(command_line: Any, tmp_path: Path, option: list[str]) -> None:
    (tmp_path / "votes.soc").write_text(VOTES, encoding="utf-8")
    code, out, err = command_line("check", "votes.soc", "votes.soc", *option)
    assert (code, out) == (2, "")
    assert f"{option[0]} takes one FILE; 2 were given." in err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--summary", "votes.soc"], "--summary would overwrite the votes"),
        (["--summary", "missing/page.md"], "the file cannot be written"),
        (["--badge", "votes.soc"], "--badge needs a file with the extension .svg"),
        (["--badge", "missing/b.svg"], "the file cannot be written"),
    ],
)
def test_what_cannot_be_written_is_refused_before_any_work(
    command_line: Any, tmp_path: Path, args: list[str], words: str
) -> None:
    (tmp_path / "votes.soc").write_text(VOTES, encoding="utf-8")
    code, out, err = command_line("check", "votes.soc", "-q", *args)
    assert (code in (2, 3), out) == (True, "")
    assert words in err
    assert (tmp_path / "votes.soc").read_text("utf-8") == VOTES


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--claim", "Beech wins"], ["Beech wins", "does not hold"]),
        (["--theta", "0.5"], ["every pair", "cannot be broken"]),
        ([], ["every pair", "holds until 4 ballots change"]),
        (["--time-limit", "0", "--rule", "copeland", "--min-breakdown", "0.9"], ["every pair", "not proved"]),
        (["--claim", "Ash wins", "--claim", "Beech wins"], ["ranking", "does not hold"]),
    ],
)
def test_a_badge_says_the_weakest_claim(command_line: Any, tmp_path: Path, args: list[str], words: list[str]) -> None:
    (tmp_path / "votes.soc").write_text(VOTES, encoding="utf-8")
    command_line("check", "votes.soc", "-q", "--badge", "b.svg", *args)
    assert words_of(tmp_path / "b.svg") == words


def test_a_badge_is_sound_whatever_a_claim_says(command_line: Any, tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text('rank1,rank2\n"<script>&\'""\u202ex","b\x07"\n', encoding="utf-8")
    command_line("check", "votes.csv", "-q", "--badge", "b.svg", "--claim", "<script>&'\"\u202ex wins")
    text = (tmp_path / "b.svg").read_text("utf-8")
    assert "<script" not in text
    assert "\u202e" not in text
    assert words_of(tmp_path / "b.svg")[0].startswith("<script>&'\"")


def test_the_page_uses_inputs_and_hooks_that_there_are() -> None:
    page = (ROOT / "docs/how-to/pipelines.md").read_text("utf-8")
    workflow, config = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL))
    step = workflow["jobs"]["board"]["steps"][-1]
    assert step["uses"].startswith("ACCOUNT/holdrank@")
    assert step["with"].keys() <= ACTION["inputs"].keys()
    assert set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)) == set(ACTION["inputs"])
    assert {hook["id"] for hook in config["repos"][0]["hooks"]} == set(HOOKS)


def words_of(picture: Path) -> list[str]:
    """Return the texts of a badge, which must be well-formed."""
    root = ET.fromstring(picture.read_text("utf-8"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
