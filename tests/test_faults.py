"""What goes wrong around a computation: signals, full disks, closed doors, lost folders, a solver that fails.

Each fault gives one clear line and the right exit code, keeps what was finished and leaves no half file behind.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import highspy
import numpy as np
import pytest

import holdrank as hr
from holdrank import plots
from holdrank.analysis import analyse as analysis
from holdrank.attacks.goals import NewWinner
from holdrank.files import large as bigvotes
from holdrank.paper import figures
from holdrank.parallel import checkpoints
from holdrank.status import Clock, Status
from holdrank.views.report import write_report

posix = pytest.mark.skipif(os.name != "posix", reason="signals, pipes and links of POSIX")
full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")

NAMES = ("Ash", "日本", "😀 Cedar")
SOC = "".join(f"# ALTERNATIVE NAME {k}: {name}\n" for k, name in enumerate(NAMES, start=1)) + "3: 1,2,3\n2: 3,1,2\n"


def votes() -> hr.Votes:
    return hr.Votes.from_orders([["a", "b", "c", "d"], ["d", "b", "a", "c"], ["c", "a", "d", "b"]], weights=[4, 3, 2])


def hard_votes(items: int, ballots: int = 31) -> hr.Votes:
    """Return votes without any agreement, for whose median a linear program is needed."""
    rng = np.random.default_rng(7)
    return hr.Votes.from_ranks(np.array([rng.permutation(items) + 1 for _ in range(ballots)]))


@pytest.fixture
def run(command_line, tmp_path):
    (tmp_path / "votes.soc").write_text(SOC, encoding="utf-8")
    return command_line


def outside(folder: Path, *args: str, **env: str) -> tuple[int, bytes, str]:
    """Run the command in a process of its own, with some variables set."""
    done = subprocess.run(
        [sys.executable, "-m", "holdrank", *args],
        cwd=folder, capture_output=True, env={**os.environ, **env}, timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def one_line(err: str) -> bool:
    return err.count("\n") == 1 and "Traceback" not in err and "Fix: " in err


# The solver.


def lost(*_: object) -> object:
    return highspy.HighsModelStatus.kSolveError


def unset(*_: object) -> object:
    return highspy.HighsModelStatus.kNotset


def nan_solution(self: highspy.Highs) -> SimpleNamespace:
    nan = float("nan")
    return SimpleNamespace(col_value=[nan] * self.getNumCol(), row_dual=[nan] * self.getNumRow(), value_valid=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "broken"),
    [("getModelStatus", lost), ("getModelStatus", unset), ("getSolution", nan_solution)],
    ids=["an error", "no status", "numbers that are none"],
)
def test_a_solver_that_fails_leaves_certified_bounds(method, broken, monkeypatch):
    hard = hard_votes(20)
    truth = hr.kemeny(hard)
    assert truth.status is Status.PROVED
    small = votes()
    medians = (hr.kemeny, hr.borda, hr.footrule, hr.Robust(hr.kemeny, 0.05))
    right = [hr.breakdown(small, T) for T in medians]
    least = [hr.attack(small, T, NewWinner()) for T in medians]
    monkeypatch.setattr(highspy.Highs, method, broken)
    found = hr.kemeny(hard)
    assert found.status is Status.UNPROVED
    assert found.bound <= truth.loss <= found.loss
    for T, curve, attack in zip(medians, right, least, strict=True):
        now = hr.breakdown(small, T)
        assert (now.lower <= curve.upper + 1e-9).all(), T
        assert (now.upper >= curve.lower - 1e-9).all(), T
        again = hr.attack(small, T, NewWinner())
        assert again.lower <= attack.upper + 1e-9, T
        assert again.upper >= attack.lower - 1e-9, T


def test_a_solver_that_fails_is_said_on_the_command_line(run, tmp_path, monkeypatch):
    hr.write_votes(hard_votes(20), tmp_path / "hard.soc")
    monkeypatch.setattr(highspy.Highs, "getModelStatus", lost)
    code, out, err = run("rank", "hard.soc", "-q", "--require-proof")
    assert (code, err) == (5, "")
    assert "lower bound" in out
    assert "not proven optimal: best ranking found, with a certified bound" in out


# Signals.


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def stop(request):
    """Return a signal and the exit code that tells of it."""
    return request.param, 128 + request.param


def signal_at(monkeypatch, owner: object, name: str, number: int, call: int = 1) -> None:
    """Send a signal to this process when a function is called for the n-th time."""
    real = getattr(owner, name)
    calls = iter(range(1, 1_000_000))

    def heard(*args: object, **kwargs: object) -> object:
        if next(calls) == call:
            signal.raise_signal(number)
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, heard)


@posix
def test_a_signal_in_a_search_prints_what_is_known(stop, run, tmp_path, monkeypatch):
    hr.write_votes(hard_votes(30), tmp_path / "hard.soc")
    for command, words in (("rank", "interrupted: best ranking found"), ("breakdown", "two certified bounds")):
        with monkeypatch.context() as patch:
            signal_at(patch, Clock, "over", stop[0], call=2)
            code, out, err = run(command, "hard.soc", "-q", *(["--delta", "0.1"] if command == "breakdown" else []))
        assert (code, err) == (stop[1], ""), command
        assert words in out, command
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@posix
def test_a_signal_in_an_analysis_leaves_a_whole_report(stop, run, tmp_path, monkeypatch):
    signal_at(monkeypatch, Clock, "over", stop[0], call=3)
    code, out, err = run("report", "votes.soc", "-o", "page.json", "-q", "--draws", "50")
    assert (code, err) == (stop[1], "")
    assert out.count("\n") == 2  # the headline, and how sure it is
    steps = json.loads((tmp_path / "page.json").read_text("utf-8"))["steps"]
    assert any(step["note"].startswith("interrupted") for step in steps)
    assert sorted(os.listdir(tmp_path)) == ["page.json", "votes.soc"]


@pytest.mark.slow
@posix
def test_a_signal_in_a_sweep_keeps_finished_points(stop, run, tmp_path, monkeypatch):
    points = []
    real = checkpoints.Checkpoint.add

    def add(self, key, value):
        real(self, key, value)
        points.append(key)
        if len(points) == 2:
            signal.raise_signal(stop[0])

    hr.write_votes(hr.sample_votes(hr.Mallows(range(5), 0.8), 60, rng=3), tmp_path / "five.soc")
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.Checkpoint, "add", add)
        code, _, err = run("tradeoff", "five.soc", "-q", "--checkpoint", "points.jsonl")
    assert (code, err) == (stop[1], "")
    kept = [json.loads(line) for line in (tmp_path / "points.jsonl").read_text("utf-8").splitlines()]
    assert [line["key"] for line in kept[1:]] == points[: len(kept) - 1]
    assert len(kept) >= 1 + 2
    code, out, _ = run("tradeoff", "five.soc", "-q", "--checkpoint", "points.jsonl")
    assert code == 0
    assert out == run("tradeoff", "five.soc", "-q")[1]


@posix
def test_a_signal_while_a_file_is_written_leaves_the_old_one(stop, run, tmp_path, monkeypatch):
    (tmp_path / "out.csv").write_text("old", encoding="utf-8")
    signal_at(monkeypatch, os, "fsync", stop[0])
    assert run("convert", "votes.soc", "out.csv", "-q") == (stop[1], "", "\ninterrupted\n")
    assert (tmp_path / "out.csv").read_text("utf-8") == "old"
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "votes.soc"]


@posix
@pytest.mark.parametrize("ignored", [False, True], ids=["", "Ctrl-C ignored"])
def test_sigterm_ends_a_process_that_waits_for_its_input(ignored, tmp_path):
    os.mkfifo(tmp_path / "votes.csv")
    command = [sys.executable, "-m", "holdrank", "convert", "votes.csv", "out.soc"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignored else None,
    )  # fmt: skip
    with open(tmp_path / "votes.csv", "wb"):  # waits for the process to open the other end
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (143, "", "\ninterrupted\n")
    assert os.listdir(tmp_path) == ["votes.csv"]


# Full disks.


@pytest.fixture(scope="module")
def analysed():
    return analysis.analyse(votes(), analysis.Spec(draws=10, theta=None, time_limit=20.0))


@pytest.fixture
def disk_is_full(monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)


WRITERS = {
    "votes.csv": lambda path, _: hr.write_votes(votes(), path),
    "votes.soc": lambda path, _: hr.write_votes(votes(), path),
    "votes.jsonl": lambda path, _: hr.write_votes(votes(), path),
    "page.html": lambda path, found: write_report(found, path),
    "page.md": lambda path, found: write_report(found, path),
    "page.tex": lambda path, found: write_report(found, path),
    "page.json": lambda path, found: write_report(found, path),
    "counts.npz": lambda path, _: hr.PairCounts.from_votes(votes()).save(path),
    "picture.svg": lambda path, _: plots.save(plots.heatmap(votes(), hr.borda(votes())), path.with_suffix("")),
    "fig3.json": lambda path, _: figures(["fig3"], path.parent),
}


@pytest.mark.usefixtures("disk_is_full")
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_one_line_and_the_old_file_stays(name, analysed, tmp_path):
    path = tmp_path / name
    path.write_text("old", encoding="utf-8")
    with pytest.raises(hr.HoldrankError, match=r"cannot be written.*No space left.*. Fix: .*(space|room)") as error:
        WRITERS[name](path, analysed)
    assert name in str(error.value)
    assert "\n" not in str(error.value)
    assert (os.listdir(tmp_path), path.read_text("utf-8")) == ([name], "old")


@pytest.mark.slow
@pytest.mark.usefixtures("disk_is_full")
def test_a_full_disk_under_the_demo(run, tmp_path):
    code, out, err = run("demo", "--out", "demo")
    assert (code, out) == (3, "")
    assert one_line(err)
    assert os.listdir(tmp_path / "demo") == []


@full_device
@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("convert", "votes.soc", "out.csv"), ""),
        (("report", "votes.soc", "--draws", "0", "-o", "out.html"), "Ash"),
        (("attack", "votes.soc", "--new-winner", "--write", "out.soc"), "Ash"),
    ],
    ids=lambda args: args[0] if isinstance(args, tuple) else "",
)
def test_a_device_that_is_full_is_one_line_and_what_was_found_is_told(args, told, run, tmp_path):
    (tmp_path / args[-1]).symlink_to("/dev/full")
    code, out, err = run(*args, "-q")
    assert code == 3
    assert one_line(err)
    assert re.match(rf"holdrank: {args[-1]}: the file cannot be written: No space left", err)
    assert told in out


@pytest.mark.traced
@pytest.mark.slow
def test_a_checkpoint_on_a_full_disk_keeps_the_points_before(tmp_path, monkeypatch):
    keep = tmp_path / "points.jsonl"
    five = hr.sample_votes(hr.Mallows(range(5), 0.8), 60, rng=3)
    real, calls = os.fsync, iter(range(1000))

    def full_at_last(handle: int) -> None:
        if next(calls) == 4:  # the first line, the folder, two points
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full_at_last)
        with pytest.raises(hr.InputError, match=r"points\.jsonl: the checkpoint cannot be written: No space.*Fix"):
            hr.tradeoff(five, checkpoint=keep)
    before = keep.read_bytes().splitlines()
    assert len(before) >= 1 + 2
    found, alone = hr.tradeoff(five, checkpoint=keep), hr.tradeoff(five)
    assert np.array_equal(found.upper, alone.upper)
    assert keep.read_bytes().splitlines()[:3] == before[:3]


# Places that cannot be written to.


@full_device
def test_a_checkpoint_is_a_plain_file(run, tmp_path):
    """A device has no end to be read to, and a pipe nobody who answers."""
    os.mkfifo(tmp_path / "pipe")
    for name in ("/dev/full", "pipe"):
        code, _, err = run("tradeoff", "votes.soc", "-q", "--checkpoint", name)
        assert code == 3
        assert one_line(err)
        assert "not a regular file" in err


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_is_read_only_is_refused_and_stays(name, analysed, tmp_path, monkeypatch):
    path = tmp_path / name
    path.write_text("old", encoding="utf-8")
    path.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda where, mode: False)  # noqa: ARG005 - root may write anywhere
    with pytest.raises(hr.HoldrankError, match=r"cannot be written.*Permission denied.*. Fix: "):
        WRITERS[name](path, analysed)
    assert (os.listdir(tmp_path), path.read_text("utf-8")) == ([name], "old")


@pytest.mark.parametrize(
    "args",
    [
        ("report", "votes.soc", "-o", "nowhere/page.html"),
        ("report", "votes.soc", "-o", "folder.html"),
        ("attack", "votes.soc", "--new-winner", "--write", "nowhere/after.soc"),
        ("attack", "votes.soc", "--new-winner", "--write", "folder.soc"),
    ],
)
def test_a_file_that_cannot_be_written_is_told_before_the_search(args, run, tmp_path, monkeypatch):
    for name in ("folder.html", "folder.soc"):
        (tmp_path / name).mkdir()

    def search(*_: object, **__: object) -> None:
        raise AssertionError("the search began")

    monkeypatch.setattr("holdrank.analysis.analyse.analyse", search)
    monkeypatch.setattr("holdrank.attacks.answers.attack", search)
    code, out, err = run(*args, "-q")
    assert (code, out) == (3, "")
    assert one_line(err)
    assert re.search(r"the file cannot be written: (No such file or directory|Is a directory)", err)


@pytest.mark.parametrize("args", [("convert", "votes.soc", "folder.csv"), ("demo", "--out", "votes.soc"),
                                  ("demo", "--out", "votes.soc/demo"), ("paper", "fig3", "--out", "votes.soc", "-q"),
                                  ("convert", "votes.soc", "nowhere/v.csv")])  # fmt: skip
def test_a_place_that_cannot_be_written_to_is_one_line(args, run, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    code, out, err = run(*args, *(["-q"] if args[0] == "convert" else []))
    assert (code, out) == (3, "")
    assert one_line(err)
    assert sorted(os.listdir(tmp_path)) == ["folder.csv", "votes.soc"]


@posix
def test_the_input_is_not_overwritten_under_any_name(run, tmp_path):
    (tmp_path / "link.soc").symlink_to("votes.soc")
    os.link(tmp_path / "votes.soc", tmp_path / "twin.soc")
    for output in ("votes.soc", "./votes.soc", "link.soc", "twin.soc"):
        code, _, err = run("convert", "votes.soc", output, "-q")
        assert code == 2
        assert "would overwrite the votes in votes.soc; name another file" in err
    assert (tmp_path / "votes.soc").read_text("utf-8") == SOC


# Files that change under the reader.


@posix
def test_a_pipe_that_closes_in_the_middle_of_a_line_is_one_line(tmp_path):
    os.mkfifo(tmp_path / "votes.soc")
    process = subprocess.Popen(
        [sys.executable, "-m", "holdrank", "rank", "votes.soc", "-q"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    (tmp_path / "votes.soc").write_text(SOC[: SOC.rindex(",")], encoding="utf-8")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (3, "")
    assert one_line(err)
    assert "votes.soc, line 5" in err


@pytest.mark.parametrize("change", ["more", "other", "gone"])
def test_a_large_file_that_changes_while_it_is_read_is_refused(change, tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    path = tmp_path / "battles.csv"
    text = "model_a,model_b,winner\n" + "x,y,model_a\ny,z,model_b\n" * 50
    path.write_text(text, encoding="utf-8")
    real = bigvotes.distinct_rows

    def meanwhile(*args: object) -> object:
        found = real(*args)
        if change == "more":
            with open(path, "a", encoding="utf-8") as file:
                file.write("x,z,model_a\n")
        elif change == "other":
            (tmp_path / "new.csv").write_text(text.replace("x", "w"), encoding="utf-8")
            os.replace(tmp_path / "new.csv", path)
        else:
            path.unlink()
        return found

    monkeypatch.setattr(bigvotes, "distinct_rows", meanwhile)
    with pytest.raises(hr.InputError, match=r"battles\.csv: the file changed while it was being read.*. Fix: "):
        hr.count_pairs(path)


# No network, no home, no folder.

GUARD = """
import ipaddress, os, sys

def guard(event, args):
    if event in ("socket.connect", "socket.bind", "socket.sendto"):
        address = args[1]
        if isinstance(address, tuple) and not ipaddress.ip_address(address[0]).is_loopback:
            raise RuntimeError(f"{event} to {address}")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
        raise RuntimeError(f"{event} of {args[0]}")

sys.addaudithook(guard)
"""
COMMANDS = """
import socket, sys
from holdrank import cli

if __name__ == "__main__":
    if sys.argv[1:] == ["guarded"]:
        for reach in (lambda: socket.create_connection(("192.0.2.1", 80)), lambda: socket.getaddrinfo("a.test", 80)):
            try:
                reach()
            except RuntimeError as error:
                print("refused:", error)
    for line in sys.stdin.read().splitlines():
        sys.argv = ["holdrank", *line.split()]
        try:
            cli.main()
        except SystemExit as done:
            print("exit code", done.code, flush=True)
"""


def together(folder: Path, commands: list[str], *args: str, **env: str) -> tuple[str, str]:
    """Run commands one after the other in one process of its own; return what it printed."""
    (folder / "commands.py").write_text(COMMANDS, encoding="utf-8")
    (folder / "votes.soc").write_text(SOC, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "commands.py", *args], input="\n".join(commands), cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONUTF8": "1", **env}, timeout=120, check=False,
    )  # fmt: skip
    assert done.stdout.count("exit code 0\n") == len(commands), done.stderr
    return done.stdout, done.stderr


@pytest.mark.slow
@posix
def test_nothing_reaches_for_a_network(tmp_path):
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard" / "sitecustomize.py").write_text(GUARD, encoding="utf-8")  # also for the workers
    commands = ["rank votes.soc -q --compare", "convert votes.soc out.csv -q", "rank out.csv -q",
                "report votes.soc -o page.html -q --draws 20", "breakdown votes.soc -q --jobs 2",
                "paper fig3 --out paper -q"]  # fmt: skip
    out, err = together(tmp_path, commands, "guarded", PYTHONPATH=str(tmp_path / "guard"))
    assert out.count("refused: socket.") == 2  # the guard is awake
    assert err == ""


@posix
@pytest.mark.slow
@pytest.mark.traced
def test_no_home_and_no_caches_are_needed(tmp_path):
    names = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "NUMBA_CACHE_DIR", "MPLCONFIGDIR")
    commands = ["breakdown votes.soc -q", "paper fig3 --out paper -q"]
    out, err = together(tmp_path, commands, **dict.fromkeys(names, "/proc/nowhere"))
    assert "exact: minimum share" in out
    assert "Traceback" not in err
    assert len(os.listdir(tmp_path / "paper")) == 5


@posix
@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("rank", "{}/votes.soc", "-q"), 0, ""),
        (("convert", "{}/votes.soc", "out.csv", "-q"), 3, "out.csv: the file cannot be written"),
        (("tradeoff", "{}/votes.soc", "-q", "--jobs", "2"), 2, "the current folder no longer exists"),
        (("demo",), 3, "the current folder: it no longer exists|the folder cannot be made"),
    ],
    ids=lambda args: args[0] if isinstance(args, tuple) else "",
)
def test_a_current_folder_that_is_gone_is_told(args, code, words, tmp_path):
    (tmp_path / "votes.soc").write_text(SOC, encoding="utf-8")
    here = tmp_path / "here"
    here.mkdir()
    script = f'rmdir "{here}" && exec "{sys.executable}" -m holdrank "$@"'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *(arg.format(tmp_path) for arg in args)],
        cwd=here, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert re.search(words, done.stderr)
    assert one_line(done.stderr) or not code


# Terminals and alphabets.


@posix
@pytest.mark.slow
@pytest.mark.traced
def test_names_of_any_script_survive_an_old_locale(tmp_path):
    old = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    (tmp_path / "日本.soc").write_text(SOC, encoding="utf-8")
    code, out, err = outside(tmp_path, "report", "日本.soc", "--text", "--draws", "0", "-o", "報告.html", "-q", **old,
                             PYTHONIOENCODING="latin-1")  # fmt: skip
    assert (code, err) == (0, "")
    assert b"\\u65e5\\u672c" in out
    assert "日本" in (tmp_path / "報告.html").read_text("utf-8")
    code, out, err = outside(tmp_path, "convert", "日本.soc", "結果.csv", **old)
    assert code == 0
    assert "Traceback" not in err
    assert (tmp_path / "結果.csv").read_text("utf-8").splitlines()[1] == "3,Ash,日本,😀 Cedar"
    code, _, err = outside(tmp_path, "rank", "缺.soc", "-q", **old)
    assert code == 3
    assert one_line(err)


@pytest.mark.parametrize("columns", ["1", "0", "-5", "abc", "20", "100000"])
def test_a_terminal_of_any_width_shows_the_names(columns, run, monkeypatch):
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", columns)
    for args in (("rank", "votes.soc", "-q"), ("tiers", "votes.soc", "-q"), ("breakdown", "votes.soc", "-q"),
                 ("report", "votes.soc", "-q", "--text", "--draws", "5")):  # fmt: skip
        screen = Screen()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", screen)
            code, _, err = run(*args)
        assert (code, err) == (0, "")
        wanted = ("0.3333", "exact") if args[0] == "breakdown" else NAMES
        assert all(word in screen.getvalue() for word in wanted), (args, screen.getvalue())


# ------------------------------------------------------------------------------------------------ names of no file


def test_names_that_no_file_can_have_are_refused(tmp_path):
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[2, 1])
    name = str(tmp_path / "a\0b")
    with pytest.raises(hr.UsageError, match=r"the checkpoint .*a\\x00b cannot be written: embedded null byte"):
        checkpoints.Checkpoint(name, "tradeoff", "0" * 64, {})
    with pytest.raises(hr.UsageError, match=r"the counts cannot be written to '.*a\\x00b': embedded null byte"):
        hr.PairCounts.from_votes(votes).save(name)
    with pytest.raises(hr.InputError, match=r"a\\x00b\.csv: the file cannot be read: embedded null byte"):
        hr.count_pairs(name + ".csv")
    with pytest.raises(hr.InputError, match=r"a\\x00b\.csv: the file cannot be written: embedded null byte"):
        hr.write_votes(votes, name + ".csv")


# -------------------------------------------------------------------------------------------------- shares of a clock


def test_no_task_takes_the_time_of_those_after_it():
    clock = Clock(90)
    assert 29 < clock.share(3).seconds_left() <= 30
    assert Clock().share(3).seconds_left() == float("inf")
    over = Clock(0).share(2)
    assert over.over()
    part = clock.share(1)
    clock.interrupted = True
    assert part.over()


def test_a_lack_of_memory_is_told_as_such(tmp_path, command_line, monkeypatch):
    def fail(*_):
        raise MemoryError("Unable to allocate 9 TiB")

    (tmp_path / "votes.soc").write_text(SOC, encoding="utf-8")
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.append(["rank1", "rank2"])
    book.save(tmp_path / "votes.xlsx")
    monkeypatch.setattr(hr.Votes, "wins", fail)
    monkeypatch.setattr("holdrank.files.containers.spreadsheets.sheet_rows", fail)
    for name in ("votes.soc", "votes.xlsx"):
        code, out, err = command_line("rank", name, "-q")
        assert (code, out) == (3, "")
        assert err.startswith("holdrank: there is not enough memory (Unable to allocate 9 TiB). Fix: keep fewer")
        assert err.count("\n") == 1
