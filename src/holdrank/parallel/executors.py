"""Work on several processes or machines: executors, and how a sweep is spread over one with the same result on any.

A sweep is a list of tasks. What a task returns does not depend on where, when or beside what it runs, so that the
result is the same on one worker as on a hundred. Any executor of the `concurrent.futures` protocol fits.
"""

from __future__ import annotations

import hashlib
import json
import math
import multiprocessing
import os
import pickle
import socket
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from concurrent.futures.process import ProcessPoolExecutor
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from holdrank import __version__
from holdrank.errors import HoldrankError, MissingExtraError, UsageError, WorkerError, quote, show, whole_number
from holdrank.parallel.checkpoints import Checkpoint
from holdrank.status import Clock

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")

_CONNECT_SECONDS = 15.0
_LOOK = 0.2  # seconds between two looks at the clock while workers work
_LATE = 5.0  # seconds that results may come after a time limit
_PARCELS = 2  # opened ones that a process keeps
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


# Executors.


class Processes(ProcessPoolExecutor):
    """Processes on this machine that can be told to come to an end, and that end when their parent does.

    They are started afresh, not forked: a script that uses them needs the usual ``if __name__ == "__main__":``.
    """

    def __init__(self, jobs: int) -> None:
        number = whole_number(jobs)
        if number is None or number < 1:
            raise UsageError(f"the number of processes must be a whole number from 1, not {quote(str(jobs))}")
        try:
            os.getcwd()
        except FileNotFoundError:
            raise UsageError(
                "the current folder is gone, and no process can start in it; to repair: change to one that is there"
            ) from None
        self.jobs = number
        fresh = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
        self._reader, self._writer = fresh.Pipe(duplex=False)
        super().__init__(number, mp_context=fresh, initializer=_begin, initargs=(self._reader,))

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """See `concurrent.futures`."""
        with _single_threads():
            return super().submit(fn, *args, **kwargs)

    def stop(self) -> None:
        """Ask all workers to return what they know, and take no more work."""
        self._writer.close()
        super().shutdown(wait=False, cancel_futures=True)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes when they are done."""
        super().shutdown(wait, cancel_futures=cancel_futures)
        self._writer.close()
        self._reader.close()


@contextmanager
def _single_threads() -> Iterator[None]:
    """Let a process that starts here use one thread for its matrices: the processes share the cores already."""
    names = [name for name in _ONE_THREAD if name not in os.environ]
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name in names:
            os.environ.pop(name, None)


@contextmanager
def local(jobs: int) -> Iterator[Executor]:
    """Give an executor of so many processes on this machine.

    Parameters
    ----------
    jobs : int

    Examples
    --------
    ``with hr.clusters.local(4) as executor: hr.tradeoff(votes, executor=executor)``
    """
    executor = Processes(jobs)
    try:
        yield executor
    except BaseException:
        executor.stop()  # whoever left in a hurry does not wait for what is still running
        raise
    finally:
        executor.shutdown()


class Cluster(Executor):
    """A Dask cluster as an executor; what all tasks share is sent once.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._executor = client.get_executor(pure=False)

    @property
    def jobs(self) -> int:
        """How many tasks run at a time."""
        return sum(self.client.nthreads().values()) or 1

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """See `concurrent.futures`."""
        future: Future[T] = self._executor.submit(fn, *args, **kwargs)
        return future

    def share(self, value: Any) -> Any:
        """Return what stands for a value in the arguments of tasks. It is made again should its worker be lost."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)  # once is what is meant
            return self.client.submit(_same, value, pure=False)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Forget the tasks; the cluster stays."""
        self._executor.shutdown(wait and not cancel_futures)


@contextmanager
def connect(address: str, *, timeout: float = _CONNECT_SECONDS) -> Iterator[Executor]:
    """Connect to a Dask cluster and give it as an executor; the cluster stays when it is left.

    Parameters
    ----------
    address : str
        Of the scheduler, as it prints it (``"tcp://10.0.0.1:8786"``), or its scheduler file, which ends in .json.
    timeout : float
        Seconds to wait for the scheduler, and for a first worker.

    Raises
    ------
    MissingExtraError
        Without the package distributed (extra ``cluster``).
    UsageError
        If nobody answers, there are no workers, or they have another version of holdrank.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError("a Dask cluster", "distributed", "cluster") from error
    try:
        where = _knock(address, timeout)
        client = Client(where, timeout=timeout, set_as_default=False)
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(
            f"no Dask scheduler answers at {quote(address)}: {show(str(error), 200)}; "
            "to repair: start one with 'dask scheduler' and give the address that it prints"
        ) from error
    try:
        try:
            client.wait_for_workers(1, timeout=timeout)
        except TimeoutError as error:
            raise UsageError(
                f"the Dask scheduler at {quote(address)} has no workers; to repair: dask worker {show(address, 200)}"
            ) from error
        _check_versions(client)
        yield Cluster(client)
    finally:
        client.close()


def _knock(address: str, timeout: float) -> str:
    """Return the address of a scheduler if somebody is there: a client that found nobody would complain for long."""
    from distributed.comm import get_address_host_port

    if address.endswith(".json"):
        with open(address, encoding="utf-8") as file:
            address = str(json.load(file)["address"])
    host, port = get_address_host_port(address)
    socket.create_connection((host, port), timeout).close()
    return address


def _check_versions(client: Any) -> None:
    """Refuse workers that would compute something else."""
    try:
        found = client.run(_version)
    except ImportError as error:
        raise UsageError(
            f"a worker of the cluster has no holdrank: {show(str(error), 200)}; to repair: install version "
            f"{__version__} there"
        ) from error
    other = {where: version for where, version in found.items() if version != __version__}
    if other:
        where, version = min(other.items())
        raise UsageError(
            f"{len(other)} of {len(found)} workers have another version of holdrank than {__version__}: {show(where)} "
            f"has {show(str(version))}; to repair: install the same version on all machines"
        )


def _version() -> str:
    return __version__


def _same(value: T) -> T:
    return value


# Inside a worker.

_TOLD = Clock()  # says to all tasks of this process that nobody wants them any more


def _begin(told: Connection) -> None:
    """Set up a process of `Processes`: Ctrl-C is for the parent to hear, who passes it on by closing a pipe."""
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
        parent.join(_LATE)
    os._exit(1)  # a parent that was killed cannot say goodbye, and its workers would wait for ever


def _work(task: Callable[..., T], args: tuple[Any, ...], parcel: Any, seconds: float | None) -> T:
    """Run a task, in a worker."""
    with Clock(seconds, within=_TOLD) as clock:
        return task(parcel, *args, clock)


class Parcel(Generic[T]):
    """What all tasks of a sweep share. It is packed once, and opened once by each process that works on it.

    Attributes
    ----------
    value : object
    desk : dict
        Where tasks leave, for those that come after them in the same process, what they would compute again.
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


# Sweeps.


def spread(
    task: Callable[..., tuple[Any, bool]],
    work: Mapping[str, tuple[Any, ...]],
    parcel: Parcel[Any],
    clock: Clock,
    *,
    executor: Executor | None = None,
    kept: Checkpoint | None = None,
    fair: bool = False,
) -> Iterator[tuple[str, Any]]:
    """Run tasks, here or on an executor, and give each result with its key when it is there.

    What a checkpoint has comes first and is not computed again; what is final goes there before it is given.

    Parameters
    ----------
    task : callable
        ``task(parcel, *args, clock)`` returns plain data, and whether that is final: the same at any time limit. A
        function of a module, for it is sent to workers by its name.
    work : mapping
        The arguments of each task by key, in the order in which they should be done.
    parcel : Parcel
        What all tasks share.
    clock : Clock
        When it is over, tasks that have not begun are left out.
    executor : Executor, optional
    kept : Checkpoint, optional
    fair : bool
        Whether a task has only its share of the time that is left.
    """
    todo = dict(work)
    if kept is not None:
        for key in work:
            if key in kept.points:
                del todo[key]
                yield key, kept.points[key]
    results = _here(task, todo, parcel, clock, fair) if executor is None else _there(
        task, todo, parcel, clock, fair, executor, kept)  # fmt: skip
    for key, (value, final) in results:
        if kept is not None and final:
            kept.add(key, value)
        yield key, value


def _here(
    task: Callable[..., tuple[Any, bool]],
    todo: Mapping[str, tuple[Any, ...]],
    parcel: Parcel[Any],
    clock: Clock,
    fair: bool,
) -> Iterator[tuple[str, tuple[Any, bool]]]:
    for done, (key, args) in enumerate(todo.items()):
        if clock.over():
            break
        part = Clock(_seconds(clock, len(todo) - done if fair else 1), within=clock)
        yield key, task(parcel, *args, part)


def _there(
    task: Callable[..., tuple[Any, bool]],
    todo: Mapping[str, tuple[Any, ...]],
    parcel: Parcel[Any],
    clock: Clock,
    fair: bool,
    executor: Executor,
    kept: Checkpoint | None,
) -> Iterator[tuple[str, tuple[Any, bool]]]:
    waiting = list(todo.items())[::-1]
    running: dict[Future[tuple[Any, bool]], str] = {}
    jobs = _jobs(executor)
    # A task is told the seconds that are left when it is handed over, so that it must not wait long for its turn.
    most = len(waiting) if clock.deadline is None else jobs
    try:
        shared = executor.share(parcel) if hasattr(executor, "share") and waiting else parcel
        while running or (waiting and not clock.over()):
            while waiting and len(running) < most and not clock.over():
                seconds = _seconds(clock, max(len(waiting) / jobs, 1.0) if fair else 1.0)
                key, args = waiting.pop()
                running[executor.submit(_work, task, args, shared, seconds)] = key
            done, _ = wait(running, _LOOK, FIRST_COMPLETED)
            if clock.interrupted and hasattr(executor, "stop"):
                executor.stop()
            for future in done:
                yield running[future], future.result()
                del running[future]
            if clock.interrupted or clock.seconds_left() < -_LATE:
                # What has begun and cannot be called back will end soon, and has something to tell.
                running = {future: key for future, key in running.items() if not future.cancel()}
    except HoldrankError:
        raise
    except Exception as error:
        if clock.interrupted:
            return  # workers that went down with a Ctrl-C of their own
        if (known := _explained(error, kept)) is None:
            raise
        raise known from error
    finally:
        for future in running:
            future.cancel()


def _seconds(clock: Clock, parts: float) -> float | None:
    """Return one of some equal parts of the seconds that are left; None if there is no limit."""
    left = clock.seconds_left()
    return None if math.isinf(left) else max(left, 0.0) / parts


def _jobs(executor: Executor) -> int:
    """Return how many tasks an executor runs at a time; where it does not tell, as many as there are cores."""
    for name in ("jobs", "_max_workers"):
        if isinstance(known := getattr(executor, name, None), int):
            return max(known, 1)
    client = getattr(executor, "_client", None)  # of Dask's own executor
    return max(sum(client.nthreads().values()) if client is not None else os.cpu_count() or 1, 1)


def _explained(error: Exception, kept: Checkpoint | None) -> HoldrankError | None:
    """Return an error of the machinery as one line for people; None if it is another one."""
    what = show(f"{type(error).__name__}: {error}".splitlines()[0], 200)
    if isinstance(error, BrokenExecutor | CancelledError) or type(error).__module__.startswith("distributed"):
        if kept is None:
            again = "run it again; with a checkpoint, finished points would be kept"
        else:
            again = f"run it again; finished points are kept in {show(str(kept.path), 200)}"
        return WorkerError(f"a worker was lost, perhaps for want of memory ({what}); to repair: {again}")
    if isinstance(error, pickle.PicklingError) or any(words in str(error) for words in ("pickle", "local object")):
        return UsageError(
            f"a task cannot be sent to another process ({what}); "
            "to repair: define statistics of your own at the top of a module"
        )
    if isinstance(error, RuntimeError) and "bootstrapping" in str(error):
        return UsageError("a script that shares its work must do it below the line  if __name__ == '__main__':")
    if isinstance(error, RuntimeError) and "shutdown" in str(error):
        return UsageError("the executor was shut down and takes no more work; to repair: make a new one")
    return None


def expect_executor(executor: object) -> None:
    """Refuse what is no executor."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise UsageError(
            f"executor must have the methods of concurrent.futures.Executor, not be {show(repr(executor))}; "
            "to repair: make one with hr.clusters.local or hr.clusters.connect"
        )
