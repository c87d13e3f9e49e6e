"""Runs a sweep on an executor, with the same result on any executor.

A sweep is a list of tasks. The result of a task does not depend on where or when it runs, so that one worker and a
hundred give the same result.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Any

from holdrank.errors import HoldrankError, UsageError, show
from holdrank.parallel.checkpoints import Checkpoint
from holdrank.parallel.workers import LATE, Parcel, explained, run_task
from holdrank.status import Clock

_LOOK = 0.2  # seconds between two checks of the clock while workers work


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
    """Run tasks, here or on an executor, and yield each result with its key as it finishes.

    Results in a checkpoint come first and are not computed again; final results are stored there before they are
    yielded.

    Parameters
    ----------
    task : callable
        ``task(parcel, *args, clock)`` returns plain data, and whether that is final: the same at any time limit. A
        function of a module, because it is sent to workers by its name.
    work : mapping
        The arguments of each task by key, in order of execution.
    parcel : Parcel
        Data shared by all tasks.
    clock : Clock
        When it is over, tasks that have not started are skipped.
    executor : Executor, optional
    kept : Checkpoint, optional
    fair : bool
        Whether each task gets only its share of the remaining time.
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
        part = Clock(clock.time_limit(len(todo) - done if fair else 1), within=clock)
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
    # A task gets the seconds that are left when it is handed over, so that it must not wait long for its turn.
    most = len(waiting) if clock.deadline is None else jobs
    try:
        shared = executor.share(parcel) if hasattr(executor, "share") and waiting else parcel
        while running or (waiting and not clock.over()):
            while waiting and len(running) < most and not clock.over():
                seconds = clock.time_limit(max(len(waiting) / jobs, 1.0) if fair else 1.0)
                key, args = waiting.pop()
                running[executor.submit(run_task, task, args, shared, seconds)] = key
            done, _ = wait(running, _LOOK, FIRST_COMPLETED)
            if clock.interrupted and hasattr(executor, "stop"):
                executor.stop()
            # What ended well comes first: it is kept before a failure ends the sweep.
            for future in sorted(done, key=_has_failed):
                yield running[future], future.result()
                del running[future]
            if clock.interrupted or clock.seconds_left() < -LATE:
                # A running task that cannot be cancelled ends soon, with a result.
                running = {future: key for future, key in running.items() if not future.cancel()}
    except HoldrankError:
        raise
    except Exception as error:
        if clock.interrupted:
            return  # workers that went down with a Ctrl-C of their own
        if (known := explained(error, kept)) is None:
            raise
        raise known from error
    finally:
        for future in running:
            future.cancel()


def _has_failed(future: Future[Any]) -> bool:
    return future.cancelled() or future.exception() is not None


def _jobs(executor: Executor) -> int:
    """Return how many tasks an executor runs at a time; the number of cores if it does not say."""
    for name in ("jobs", "_max_workers"):
        if isinstance(known := getattr(executor, name, None), int):
            return max(known, 1)
    client = getattr(executor, "_client", None)  # of Dask's own executor
    return max(sum(client.nthreads().values()) if client is not None else os.cpu_count() or 1, 1)


def expect_executor(executor: object) -> None:
    """Refuse a value that is not an executor."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise UsageError(
            f"executor must have the methods of concurrent.futures.Executor, not be {show(repr(executor))}",
            repair="make one with hr.clusters.local or hr.clusters.connect",
        )
