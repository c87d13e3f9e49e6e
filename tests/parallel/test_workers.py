"""Inside a worker: how it hears that it is over, what it shares, and what is said when it is lost."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import SimpleNamespace

import pytest

import holdrank as hr
from holdrank.parallel import workers
from holdrank.status import Clock


class EndedError(Exception):
    """In the place of a process that ends."""


@pytest.fixture
def told(monkeypatch):
    """A clock of its own for this process, and a process that raises when it ends."""

    def end(code):
        raise EndedError(code)

    clock = Clock()
    monkeypatch.setattr(workers, "_TOLD", clock)
    monkeypatch.setattr(workers.os, "_exit", end)
    return clock


def test_a_closed_pipe_stops_all_tasks_and_then_the_process(told, monkeypatch):
    waited = []
    parent = SimpleNamespace(join=waited.append)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: parent)
    here, there = multiprocessing.Pipe()
    there.close()
    with pytest.raises(EndedError, match="1"):
        workers._listen(here)
    assert told.interrupted
    assert waited == [workers.LATE]  # time for results that are on their way
    seen = []
    workers.run_task(lambda _parcel, clock: seen.append(clock.over()), (), None, None)
    assert seen == [True]


@pytest.mark.usefixtures("told")
def test_without_a_parent_nobody_is_waited_for(monkeypatch):
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: None)
    here, there = multiprocessing.Pipe()
    there.send("anything")
    with pytest.raises(EndedError):
        workers._listen(here)


def test_a_worker_leaves_ctrl_c_to_its_parent(monkeypatch):
    heard, begun = [], []
    monkeypatch.setattr(signal, "signal", lambda *pair: heard.append(pair))
    monkeypatch.setattr(workers, "Thread", lambda **given: SimpleNamespace(start=lambda: begun.append(given)))
    workers.begin("pipe")
    assert heard == [(signal.SIGINT, signal.SIG_IGN)]
    assert begun == [{"target": workers._listen, "args": ("pipe",), "daemon": True}]


def test_a_parcel_is_opened_once_and_few_are_kept(monkeypatch):
    monkeypatch.setattr(workers, "_OPEN", {})
    sent = [pickle.dumps(workers.Parcel([number])) for number in range(4)]
    first = pickle.loads(sent[0])
    assert first.value == [0]
    assert pickle.loads(sent[0]) is first
    assert pickle.dumps(first) == sent[0]  # to be sent on as it came
    for one in sent[1:]:
        pickle.loads(one)
    assert [parcel.value for parcel in workers._OPEN.values()] == [[2], [3]]


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (BrokenProcessPool("gone"), hr.WorkerError, "a worker was lost"),
        (CancelledError("gone"), hr.WorkerError, "a checkpoint would keep finished work"),
        (pickle.PicklingError("lambda"), hr.UsageError, "at the top level of a module"),
        (AttributeError("Can't get local object 'f.<locals>.g'"), hr.UsageError, "cannot be sent to another process"),
        (RuntimeError("before its bootstrapping phase"), hr.UsageError, "__main__"),
        (RuntimeError("cannot schedule after shutdown"), hr.UsageError, "make a new one"),
    ],
)
def test_errors_of_the_machinery_are_one_line_with_a_fix(error, kind, said):
    found = workers.explained(error, None)
    assert type(found) is kind
    assert said in str(found)
    assert "\n" not in str(found)


def test_errors_of_tasks_are_nobody_elses_and_a_checkpoint_is_named():
    assert workers.explained(ValueError("of a rule of one's own"), None) is None
    kept = SimpleNamespace(path=Path("sweep.ckpt"))
    assert "finished work is kept in sweep.ckpt" in str(workers.explained(BrokenProcessPool("gone"), kept))
