"""Executors: processes on this machine, and Dask clusters. Any executor of the `concurrent.futures` protocol works."""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from concurrent.futures.process import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from holdrank import __version__
from holdrank.errors import MissingExtraError, UsageError, quote, show, whole_number
from holdrank.parallel.workers import begin

__all__ = ["Cluster", "Processes", "connect", "local"]

T = TypeVar("T")

_CONNECT_SECONDS = 15.0
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class Processes(ProcessPoolExecutor):
    """Processes on this machine that can be asked to stop, and that end with their parent.

    They are spawned, not forked: a script that uses them needs the usual ``if __name__ == "__main__":``.
    """

    def __init__(self, jobs: int) -> None:
        number = whole_number(jobs)
        if number is None or number < 1:
            raise UsageError(f"the number of processes must be a whole number, 1 or more, not {quote(str(jobs))}")
        try:
            os.getcwd()
        except FileNotFoundError:
            raise UsageError(
                "the current folder no longer exists, so no process can start in it",
                repair="change to a folder that exists",
            ) from None
        self.jobs = number
        fresh = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
        self._reader, self._writer = fresh.Pipe(duplex=False)
        super().__init__(number, mp_context=fresh, initializer=begin, initargs=(self._reader,))

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """See `concurrent.futures`."""
        with _single_threads():
            return super().submit(fn, *args, **kwargs)

    def stop(self) -> None:
        """Ask all workers to return their results so far, and accept no more work."""
        self._writer.close()
        super().shutdown(wait=False, cancel_futures=True)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes when they are done."""
        super().shutdown(wait, cancel_futures=cancel_futures)
        self._writer.close()
        self._reader.close()


@contextmanager
def _single_threads() -> Iterator[None]:
    """Let processes started here use one thread for matrices: the processes already share the cores."""
    names = [name for name in _ONE_THREAD if name not in os.environ]
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name in names:
            os.environ.pop(name, None)


@contextmanager
def local(jobs: int) -> Iterator[Executor]:
    """Return an executor with this many processes on this machine.

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
        executor.stop()  # after an error, do not wait for running tasks
        raise
    finally:
        executor.shutdown()


class Cluster(Executor):
    """A Dask cluster as an executor; data shared by all tasks is sent once.

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
        """Return a reference to a value for the arguments of tasks. Dask computes it again if its worker is lost."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)  # once is what is meant
            return self.client.submit(_same, value, pure=False)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Drop the tasks; the cluster keeps running."""
        self._executor.shutdown(wait and not cancel_futures)


@contextmanager
def connect(address: str, *, timeout: float = _CONNECT_SECONDS) -> Iterator[Executor]:
    """Return a Dask cluster as an executor; the cluster keeps running afterwards.

    Parameters
    ----------
    address : str
        Address that the scheduler prints (``"tcp://10.0.0.1:8786"``), or its scheduler file, which ends in .json.
    timeout : float
        Seconds to wait for the scheduler, and for a first worker.

    Raises
    ------
    MissingExtraError
        If the package distributed is missing (extra ``cluster``).
    UsageError
        If no scheduler answers, there are no workers, or they have another version of holdrank.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError("using a Dask cluster", "distributed", "cluster") from error
    try:
        where = _knock(address, timeout)
        client = Client(where, timeout=timeout, set_as_default=False)
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(
            f"no Dask scheduler answers at {quote(address)}: {show(str(error), 200)}",
            repair="start one with 'dask scheduler' and use the address it prints",
        ) from error
    try:
        try:
            client.wait_for_workers(1, timeout=timeout)
        except TimeoutError as error:
            raise UsageError(
                f"the Dask scheduler at {quote(address)} has no workers", repair=f"dask worker {show(address, 200)}"
            ) from error
        _check_versions(client)
        yield Cluster(client)
    finally:
        client.close()


def _knock(address: str, timeout: float) -> str:
    """Return the address of a scheduler if it answers: a client without one would log errors for a long time."""
    from distributed.comm import get_address_host_port

    if address.endswith(".json"):
        with open(address, encoding="utf-8") as file:
            address = str(json.load(file)["address"])
    host, port = get_address_host_port(address)
    socket.create_connection((host, port), timeout).close()
    return address


def _check_versions(client: Any) -> None:
    """Refuse workers with another version."""
    try:
        found = client.run(_version)
    except ImportError as error:
        raise UsageError(
            f"holdrank is not installed on a cluster worker: {show(str(error), 200)}",
            repair=f"install version {__version__} there",
        ) from error
    other = {where: version for where, version in found.items() if version != __version__}
    if other:
        where, version = min(other.items())
        raise UsageError(
            f"{len(other)} of {len(found)} workers do not run holdrank {__version__}: {show(where)} "
            f"has {show(str(version))}",
            repair="install the same version on all machines",
        )


def _version() -> str:
    return __version__


def _same(value: T) -> T:
    return value
