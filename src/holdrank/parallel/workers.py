"""Code that runs inside a worker: tasks, their shared data, and how workers stop or are lost."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import pickle
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from holdrank.errors import HoldrankError, UsageError, WorkerError, show
from holdrank.parallel.checkpoints import Checkpoint
from holdrank.status import Clock

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")

LATE = 5.0  # seconds that results may come after a time limit
_PARCELS = 2  # opened ones that a process keeps
_TOLD = Clock()  # tells all tasks of this process to stop


def begin(told: Connection) -> None:
    """Set up a process of `Processes`: the parent handles Ctrl-C, and passes it on by closing a pipe."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_listen, args=(told,), daemon=True).start()


def _listen(told: Connection) -> None:
    try:
        told.recv()
    except (EOFError, OSError):
        _TOLD.interrupted = True
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join(LATE)
    os._exit(1)  # workers of a killed parent would otherwise wait for ever


def run_task(task: Callable[..., T], args: tuple[Any, ...], parcel: Any, seconds: float | None) -> T:
    """Run a task, in a worker."""
    with Clock(seconds, within=_TOLD) as clock:
        return task(parcel, *args, clock)


class Parcel(Generic[T]):
    """Data shared by all tasks of a sweep. It is packed once, and unpacked once by each process that uses it.

    Attributes
    ----------
    value : object
    desk : dict
        Cache for later tasks in the same process.
    """

    def __init__(self, value: T) -> None:
        self.value = value
        self.desk: dict[Any, Any] = {}
        self._packed: tuple[str, bytes] | None = None

    def __reduce__(self) -> tuple[Callable[..., Parcel[T]], tuple[str, bytes]]:
        if self._packed is None:
            content = pickle.dumps(self.value, protocol=5)
            self._packed = hashlib.sha256(content).hexdigest(), content
        return _opened, self._packed


_OPEN: dict[str, Parcel[Any]] = {}


def _opened(name: str, content: bytes) -> Parcel[Any]:
    parcel = _OPEN.get(name)
    if parcel is None:
        parcel = Parcel(pickle.loads(content))
        parcel._packed = name, content  # a worker of Dask may have to send it on
        for old in list(_OPEN)[: len(_OPEN) + 1 - _PARCELS]:
            _OPEN.pop(old, None)
        _OPEN[name] = parcel
    return parcel


def explained(error: Exception, kept: Checkpoint | None) -> HoldrankError | None:
    """Return an executor's error as a one-line error of holdrank; None for any other error."""
    what = show(f"{type(error).__name__}: {error}".splitlines()[0], 200)
    if isinstance(error, BrokenExecutor | CancelledError) or type(error).__module__.startswith("distributed"):
        if kept is None:
            again = "run it again; a checkpoint would keep finished work"
        else:
            again = f"run it again; finished work is kept in {show(str(kept.path), 200)}"
        return WorkerError(f"a worker was lost, perhaps because it ran out of memory ({what})", repair=again)
    if isinstance(error, pickle.PicklingError) or any(words in str(error) for words in ("pickle", "local object")):
        return UsageError(
            f"a task cannot be sent to another process ({what})",
            repair="define your own rules at the top level of a module",
        )
    if isinstance(error, RuntimeError) and "bootstrapping" in str(error):
        return UsageError(
            "a script that uses several processes must start them below the line  if __name__ == '__main__':"
        )
    if isinstance(error, RuntimeError) and "shutdown" in str(error):
        return UsageError("the executor was shut down", repair="make a new one")
    return None
