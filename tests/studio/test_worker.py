"""The process of a job, run in this one: its order, its limits, what it says, and how it ends."""

from __future__ import annotations

import io
import json
import os

import pytest

import holdrank as hr
from holdrank.studio import tasks, worker


class EndedError(Exception):
    """In the place of a process that ends."""


@pytest.fixture
def ends(monkeypatch):
    """Let a process that ends raise instead."""

    def end(code):
        raise EndedError(code)

    monkeypatch.setattr(worker.os, "_exit", end)


@pytest.fixture
def job(monkeypatch, ends):  # noqa: ARG001
    """Run a job as `main` does; return its messages and the exit code."""
    seen = []
    monkeypatch.setattr(worker, "_limit", lambda *given: seen.append(given))
    monkeypatch.setattr(worker, "_end_with_the_studio", lambda folder: seen.append(folder))

    def run(task, *files, memory=0):
        out = io.BytesIO()
        order = {
            "task": "given",
            "memory": memory,
            "seconds": 60,
            "sizes": [len(file) for file in files],
            "folder": "f",
        }
        monkeypatch.setitem(tasks.TASKS, "given", task)
        monkeypatch.setattr(worker, "_own_stdout", lambda: out)
        with monkeypatch.context() as patch:
            patch.setattr(worker.os, "dup", lambda _: -1)
            patch.setattr(
                worker.os, "fdopen", lambda *_: io.BytesIO(json.dumps(order).encode() + b"\n" + b"".join(files))
            )
            with pytest.raises(EndedError) as ended:
                worker.main()
        return [json.loads(line) for line in out.getvalue().splitlines()], ended.value.args[0]

    run.seen = seen
    return run


def test_a_job_gets_its_files_and_its_limits_and_says_its_result(job):
    def join(order, files, say):
        say("progress", done=1)
        return {"text": b"|".join(files).decode(), "task": order["task"]}

    said, code = job(join, b"first", b"", b"third", memory=2**30)
    assert said == [{"event": "progress", "done": 1}, {"event": "result", "text": "first||third", "task": "given"}]
    assert code == 0
    assert (2**30, 60.0) in job.seen


def test_an_error_of_the_user_is_told_with_its_place_and_fix(job):
    def refuse(*_):
        raise hr.InputError("a name appears twice", line=7, repair="delete one")

    said, code = job(refuse)
    assert [one["event"] for one in said] == ["error"]
    assert said[0]["error"]["repair"] == "delete one"
    assert "7" in said[0]["error"]["place"]
    assert code == 0


@pytest.mark.parametrize("error", [MemoryError(), OSError(12, "Cannot allocate memory"), ImportError("no room")])
def test_a_job_that_runs_out_of_memory_says_how_much_it_may_have(job, monkeypatch, error):
    def grow(*_):
        raise error

    monkeypatch.setattr(worker, "_is_full", lambda: True)
    said, code = job(grow, memory=2**31)
    assert said[0]["error"]["code"] == "memory"
    assert "2 GB" in said[0]["error"]["message"]
    assert code == 1


def test_an_error_that_nobody_foresaw_is_told_by_its_kind_alone(job, monkeypatch):
    def fail(*_):
        raise OSError(5, "Input/output error", "/home/somebody/secret.csv")

    monkeypatch.setattr(worker, "_is_full", lambda: False)
    said, code = job(fail)
    assert said[0]["error"]["message"] == "internal error: OSError"
    assert code == 1


@pytest.mark.usefixtures("ends")
def test_an_order_that_breaks_off_leaves_no_folder_behind(monkeypatch, tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    monkeypatch.setattr(worker, "_own_stdout", io.BytesIO)
    monkeypatch.setattr(worker.sys, "argv", ["worker", str(folder)])
    monkeypatch.setattr(worker.os, "dup", lambda _: -1)
    monkeypatch.setattr(worker.os, "fdopen", lambda *_: io.BytesIO(b'{"task": "re'))
    with pytest.raises(EndedError, match="4"):
        worker.main()
    assert not folder.exists()


@pytest.mark.usefixtures("ends")
def test_a_job_whose_studio_is_gone_takes_its_folder_away(monkeypatch, tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    left = [b"", b"more"]
    monkeypatch.setattr(worker.os, "read", lambda *_: left.pop())
    with pytest.raises(EndedError, match="4"):
        worker._end_with_the_studio(str(folder))
    assert not folder.exists()


def test_signs_of_life_are_few_and_everything_else_is_said(monkeypatch):
    now = iter([10.0, 10.0, 10.05, 10.2, 10.2])
    monkeypatch.setattr(worker, "monotonic", lambda: next(now))
    out = io.BytesIO()
    say = worker._speaker(out)
    for done in (1, 2, 3):  # the second comes too soon
        say("progress", done=done)
    say("partial", text="é")
    assert [json.loads(line) for line in out.getvalue().splitlines()] == [
        {"event": "progress", "done": 1},
        {"event": "progress", "done": 3},
        {"event": "partial", "text": "é"},
    ]
    with pytest.raises(ValueError, match="not JSON compliant"):
        say("partial", number=float("nan"))


def test_limits_are_set_once_and_never_above_the_hard_ones(monkeypatch):
    resource = pytest.importorskip("resource", reason="this system has no limits")
    hard = {resource.RLIMIT_AS: resource.RLIM_INFINITY, resource.RLIMIT_NOFILE: 100}
    found = {}

    def set_limit(kind, pair):
        if kind == resource.RLIMIT_CPU:
            raise ValueError("not here")
        found[kind] = pair

    monkeypatch.setattr(resource, "getrlimit", lambda kind: (0, hard.get(kind, resource.RLIM_INFINITY)))
    monkeypatch.setattr(resource, "setrlimit", set_limit)
    worker._limit(2**30, 5.0)
    assert found[resource.RLIMIT_AS] == (2**30, 2**30)
    assert found[resource.RLIMIT_NOFILE] == (100, 100)
    assert found[resource.RLIMIT_CORE] == (0, 0)
    assert resource.RLIMIT_CPU not in found
    found.clear()
    worker._limit(0, 5.0)
    assert resource.RLIMIT_AS not in found


def test_memory_is_full_where_no_large_piece_is_to_be_had(monkeypatch):
    import mmap

    assert not worker._is_full()

    def refuse(*_):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", refuse)
    assert worker._is_full()


def test_what_solvers_print_goes_where_errors_go(monkeypatch, tmp_path):
    moved = []
    target = os.open(tmp_path / "out", os.O_CREAT | os.O_WRONLY)
    monkeypatch.setattr(worker.os, "dup", lambda _: target)
    monkeypatch.setattr(worker.os, "dup2", lambda *pair: moved.append(pair))
    with worker._own_stdout() as out:
        out.write(b"a message")
    assert (tmp_path / "out").read_bytes() == b"a message"
    assert moved == [(2, 1)]
