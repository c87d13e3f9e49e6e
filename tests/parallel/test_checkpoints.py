"""The file that keeps finished points: what it holds, what it forgives and what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import holdrank as hr
from holdrank.parallel import checkpoints
from holdrank.parallel.checkpoints import Checkpoint

HARD = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, None, True, "Käse\n\u2028", [2**60, {"a": []}]]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "points.jsonl"


def opened(path, **other):
    about = {"sweep": "test", "votes": "abc", "parameters": {"theta": 0.1, "rule": "naive"}}
    return Checkpoint(path, **{**about, **other})


def fill(path, points=3):
    with opened(path) as kept:
        for k in range(points):
            kept.add(f"point {k}", k / 7)
    return path.read_bytes()


def test_points_come_back_as_they_were(path):
    with opened(path) as kept:
        for k, value in enumerate(HARD):
            kept.add(str(k), value)
            # Whoever reads the file now finds the point.
            assert json.loads(path.read_bytes().splitlines()[-1]) == {"key": str(k), "value": value}
    with opened(path) as again:
        assert again.points == {str(k): value for k, value in enumerate(HARD)}
        assert str(again.points["4"]) == "-0.0"


def test_the_first_line_says_what_it_is_about(path):
    about = json.loads(fill(path).splitlines()[0])
    assert (about["holdrank"], about["checkpoint"], about["sweep"]) == (hr.__version__, 1, "test")
    assert (about["votes"], about["parameters"]) == ("abc", {"theta": 0.1, "rule": "naive"})
    assert len(about["parameters_sha256"]) == 64


def test_a_last_line_that_was_cut_off_is_written_over(path):
    data = fill(path)
    first = data.index(b"\n") + 1
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        with opened(path) as kept:
            whole = max(data[:cut].count(b"\n") - 1, 0)
            assert list(kept.points) == [f"point {k}" for k in range(whole)]
        assert path.read_bytes() == data[: max(data[:cut].rfind(b"\n") + 1, first)]
        with opened(path) as kept:
            for k in range(whole, 3):
                kept.add(f"point {k}", k / 7)
        assert path.read_bytes() == data


@pytest.mark.parametrize("junk", [b"\0\0\0\0\0\0", b"\0\0\0\n", b'{"key": "x"}\n', b"[1]\n", b'{"key": "x", "val'])
def test_junk_at_the_end_is_as_if_it_were_not_there(path, junk):
    data = fill(path)
    path.write_bytes(data + junk)
    with opened(path) as kept:
        assert len(kept.points) == 3
    assert path.read_bytes() == data


def test_junk_in_the_middle_is_told_with_its_line(path):
    lines = fill(path).splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b"junk\x1b\n", *lines[2:]]))
    with pytest.raises(
        hr.InputError, match=r"points\.jsonl, line 3: this line is not a checkpoint entry.* found 'junk\\x1b'.*delete"
    ):
        opened(path)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"votes": "xyz"}, "created from different votes. Fix: choose another file name, or delete this file"),
        ({"sweep": "other"}, "a different sweep: test there, other here"),
        (
            {"parameters": {"theta": 0.2, "rule": "naive"}},
            r"different parameters: theta is 0\.1 there, 0\.2 here\. Fix",
        ),
        ({"parameters": {"rule": "naive"}}, r"different parameters: theta is 0\.1 there, None here"),
    ],
)
def test_a_file_of_something_else_is_refused_and_stays(path, other, words):
    data = fill(path)
    with pytest.raises(hr.InputError, match=words):
        opened(path, **other)
    assert path.read_bytes() == data


def test_a_file_of_another_version_is_refused(path, monkeypatch):
    fill(path)
    monkeypatch.setattr(checkpoints, "__version__", "99")
    with pytest.raises(hr.InputError, match=r"a different version: 0.* there, 99 here"):
        opened(path)
    monkeypatch.undo()
    monkeypatch.setattr(checkpoints, "FORM", 2)
    with pytest.raises(hr.InputError, match="a different form: 1 there, 2 here"):
        opened(path)


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"x", b"{}\n", b"[]\n", b"\xff\xfe\n", b"\n"])
def test_a_file_that_is_no_checkpoint_is_never_written_over(path, content):
    path.write_bytes(content)
    with pytest.raises(hr.InputError, match=r"it is not a checkpoint\. Fix: choose another file"):
        opened(path)
    assert path.read_bytes() == content


def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    for path in (tmp_path, tmp_path / "no" / "folder"):
        with pytest.raises(hr.UsageError, match="cannot be written"):
            opened(path)


def test_what_json_has_no_word_for_is_refused(path):
    with opened(path) as kept, pytest.raises(ValueError, match="JSON"):
        kept.add("x", float("nan"))
    with opened(path) as kept:
        assert kept.points == {}


@pytest.mark.skipif(os.name != "posix", reason="locks are those of POSIX")
def test_two_runs_do_not_write_into_one_file(path):
    other = "import sys\nfrom holdrank.parallel.checkpoints import Checkpoint\nCheckpoint(sys.argv[1], 's', '', {})"
    with Checkpoint(path, "s", "", {}):
        done = subprocess.run([sys.executable, "-c", other, path], capture_output=True, text=True, check=False)
        assert "it is in use. Fix: wait for the other run" in done.stderr
    subprocess.run([sys.executable, "-c", other, path], check=True)


def test_a_system_without_locks_will_do(path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_fcntl", None)
    fill(path)
    with opened(path) as kept:
        assert len(kept.points) == 3
