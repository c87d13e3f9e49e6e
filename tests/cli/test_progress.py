"""Progress as a person sees it: on a real terminal, from the first second, with the step's name and what is known."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from tempfile import TemporaryFile

import pytest

from holdrank.cli.printing import Progress
from holdrank.status import Step


def at_a_terminal(folder, *words):
    """Run a command with a terminal as stderr and a file as stdout; return both as text, and the exit code."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "200", "TERM": "xterm"}
    with (
        TemporaryFile() as output,  # a pipe that nobody reads would stop a command that prints much
        subprocess.Popen(
            [sys.executable, "-m", "holdrank", *words], cwd=folder, env=environment, stdout=output, stderr=theirs
        ) as process,
    ):
        os.close(theirs)
        told = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            told += part
        process.wait()
        output.seek(0)
        printed = output.read().decode()
    os.close(ours)
    return printed, told.decode(), process.returncode


@pytest.fixture
def arena(tmp_path):
    names = [f"m{k:02}" for k in range(30)]
    rows = [
        f"{a},{b},{'model_a' if (3 * i + 7 * j + k) % 5 < 3 else 'model_b'}"
        for i, a in enumerate(names)
        for j, b in enumerate(names)
        if i < j
        for k in range(4)
    ]
    (tmp_path / "arena.csv").write_text("\n".join(["model_a,model_b,winner", *rows]) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (
            ["attack", "arena.csv", "--rule", "kemeny", "--distance", "0.2", "--json"],
            "looking for the smallest attack: ",
        ),
        (["report", "arena.csv", "-o", "out.json"], "step 1"),
        (["breakdown", "arena.csv", "--rule", "kemeny", "--delta", "0.1", "--json"], "computing the breakdown"),
        (["tradeoff", "arena.csv", "--json"], "computing the trade-off between loss and robustness"),
    ],
    ids=lambda part: part[0] if isinstance(part, list) else "",
)
def test_a_person_at_a_terminal_sees_the_step_and_a_pipe_does_not(arena, words, shown):
    printed, told, code = at_a_terminal(arena, *words, "--time-limit", "1")
    assert code == 0
    assert shown in told
    assert "Ctrl-C ends it" in told
    assert told.count("\x1b[K") > 2
    assert "\r" not in printed
    assert "Ctrl-C" not in printed
    if "--json" in words:
        assert json.loads(printed)["command"] == words[0]
    else:
        assert "first place" in told  # what is known so far, after the first step
    plain = subprocess.run(
        [sys.executable, "-m", "holdrank", *words, "--time-limit", "0"], cwd=arena, capture_output=True, check=True
    )
    assert b"\r" not in plain.stderr
    assert b"Ctrl-C" not in plain.stderr


def test_the_line_has_the_step_and_what_is_known(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    line = Progress("looking")
    for step in (
        Step("goals", 0, 3, "at most 45 votes so far"),
        Step("goals", 1, 3),
        Step("attack", 2, 12, "a wins."),
        Step("draws", 50, 50),
    ):
        line._last -= 1
        line(step)
    line.end()
    shown = [part.split(", 0 s")[0] for part in capsys.readouterr().err.split("\r") if "Ctrl-C" in part]
    assert shown == [
        "looking: goals: 0 of 3; at most 45 votes so far",
        "looking: goals: 1 of 3",  # another goal
        "step 3 of 12, looking for the smallest attack; a wins",
        "step 3 of 12, looking for the smallest attack: draws: 50; a wins",
    ]
