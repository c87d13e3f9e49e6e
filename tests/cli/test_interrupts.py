"""Ctrl-C ends a command at once, wherever it is, with exit code 130 and what is known. Real processes and signals."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import holdrank as hr
from holdrank.cli.interrupts import Watch, interrupted_text
from holdrank.status import Step

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")]

# A search that says what it knows, and then hears nothing: in Python, or in compiled code.
STUCK = """
import hashlib, sys, time
from holdrank import cli
from holdrank.attacks import answers
from holdrank.status import Clock, Step

def stuck(votes, T, goal, *, progress, **_):
    with Clock():
        progress(Step("rounds", 1, 2, "more than 30 votes so far"))
        print("begun", file=sys.stderr, flush=True)
        if {compiled}:
            hashlib.pbkdf2_hmac("sha256", b"", b"", 2**30)
        while True:
            pass

answers.attack = stuck
sys.argv = ["holdrank", "attack", "votes.csv", "--new-winner", "-q"]
cli.main()
"""


# A command that is stopped once it has said a bound.
BOUND = """
import os, signal, sys
from holdrank import cli
from holdrank.cli.interrupts import watch

keep, stopped = watch.keep, []

def hear(step):
    keep(step)
    if "at least" in step.known and not stopped:
        stopped.append(step)
        os.kill(os.getpid(), signal.SIGINT)

watch.keep = hear
sys.argv = ["holdrank", *{words}, "-q", "--time-limit", "none"]
cli.main()
"""


def ended(process, number=signal.SIGINT):
    """Send a signal; return the exit code and what was printed."""
    process.send_signal(number)
    out, err = process.communicate(timeout=30)  # what is stuck would be so for an hour
    return process.returncode, out, err


def started(tmp_path, *command):
    return subprocess.Popen(
        [sys.executable, *command], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Votes that nothing is proved about in a minute."""
    path = tmp_path_factory.mktemp("hard")
    rng = np.random.default_rng(0)
    votes = hr.Votes.from_ranks(np.array([rng.permutation(140) + 1 for _ in range(101)]))
    hr.write_votes(votes, path / "hard.soc")
    near = hr.sample_votes(hr.Mallows(list(range(140)), phi=0.95), 40, rng=0)  # the ranking of all takes no time
    hr.write_votes(near, path / "many.csv")
    (path / "votes.csv").write_text("rank1,rank2\na,b\na,b\nb,a\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("compiled", [False, True], ids=["Python", "compiled code"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_what_does_not_hear_is_broken_off_and_says_what_it_knows(folder, compiled, number):
    process = started(folder, "-c", STUCK.format(compiled=compiled))
    assert process.stderr.readline() == "begun\n"
    code, out, err = ended(process, number)
    assert (code, out) == (128 + number, "")
    assert err.strip() == "interrupted; more than 30 votes so far"


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["rank"], "interrupted: best ranking found"),
        (["tiers"], "interrupted: best ranking found"),
        (["attack", "--new-winner"], "interrupted: the minimum share lies between"),
        (["board"], "| 140 |"),
        (["removals"], "interrupted: "),
        (["cut", "--k", "10"], "Top 10, if 1 ballot"),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_searches_return_what_they_have(folder, command, told):
    process = started(folder, "-m", "holdrank", command[0], "hard.soc", *command[1:], "--time-limit", "none")
    while not process.stderr.readline().startswith("format"):
        pass
    time.sleep(0.5)
    code, out, err = ended(process)
    assert code == 130, err
    assert told in out
    assert "interrupted" in out + err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["attack", "many.csv", "--distance", "0.4"], r"At least \d+ of 40 ballots must change"),
        (["breakdown", "many.csv"], r"\d+ +at least [2-9]"),
    ],
    ids=["attack", "breakdown"],
)
def test_bounds_on_many_items_outlive_a_signal(folder, words, told):
    process = started(folder, "-c", BOUND.format(words=words))
    try:
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert re.search(told, out), out
    assert "interrupted" in out


def test_nothing_is_begun_after_a_signal(command_line, folder, monkeypatch):
    from holdrank.analysis import bootstrap
    from holdrank.analysis.chance import rank_sets
    from holdrank.status import Status

    drawn = bootstrap.bootstrap
    monkeypatch.setattr(
        bootstrap, "bootstrap", lambda *args, **more: replace(drawn(*args, **more), status=Status.RESAMPLED_INTERRUPTED)
    )
    monkeypatch.setattr(rank_sets, "rank_sets", lambda *_, **__: pytest.fail("sets of places were begun"))
    code, out, _ = command_line("rank", str(folder / "votes.csv"), "--draws", "200", "-q")
    assert code == 130
    assert out


def test_a_report_is_written_with_what_is_done_and_says_what_is_missing(folder):
    process = started(folder, "-m", "holdrank", "report", "hard.soc", "-o", "page.json", "--time-limit", "none")
    while not process.stderr.readline().startswith("format"):
        pass
    time.sleep(0.5)
    code, out, err = ended(process)
    assert code == 130, err
    assert out.splitlines()
    assert "wrote page.json" in err
    assert "interrupted" in err
    steps = json.loads((folder / "page.json").read_text(encoding="utf-8"))["steps"]
    assert any(step["state"] == "interrupted" for step in steps)


def test_reading_ends_too(folder):
    os.mkfifo(folder / "pipe.csv")
    process = started(folder, "-m", "holdrank", "rank", "pipe.csv")
    with open(folder / "pipe.csv", "wb"):  # waits for the process to open the other end
        code, out, err = ended(process)
    assert (code, out, err.strip()) == (130, "", "interrupted")


def test_what_is_known_is_kept_until_the_end_of_its_phase():
    watch = Watch()
    assert watch.so_far() == ""
    watch.keep(Step("rounds", 1, 2, "nothing to keep it in"))
    with watch.computing():
        watch.keep(Step("rounds", 1, 2, "at least 3 votes."))
        watch.keep(Step("rounds", 2, 2))
        assert watch.so_far() == "at least 3 votes"
    assert interrupted_text(watch.so_far()) == "interrupted; at least 3 votes"
    with watch.computing():
        assert watch.so_far() == ""
