"""Jobs in separate processes: some running, some queued, each with a limit of time and memory.

A job ends when it is done, cancelled, out of time, or abandoned; its process and its folder are then removed. Its
results so far are kept.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Literal, TypeAlias

from holdrank.analysis.records import Record
from holdrank.studio.limits import Limits, StudioError
from holdrank.studio.worker import out_of_memory

State: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled", "out of time", "left alone"]

_LONGEST_LINE = 128 * 2**20
_HEARTBEAT = 10.0  # seconds; a listener that is gone is noticed by then
_GROWTH = 5  # bytes of memory for a byte of JSON: 3.6 to 4.4 measured on records of 5 to 40 items
_NEEDED = {
    *("PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "LANG", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
    *("PYTHONPATH", "PYTHONHOME", "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE", "XDG_CACHE_HOME"),
}
_NEEDED_FAMILIES = ("LC_", "NUMBA_")  # how to write numbers, where compiled code is kept
_LOOK = 0.25  # seconds between two checks of the clock


@dataclass(eq=False)
class Job:
    """One job, and its results so far.

    Attributes
    ----------
    task : dict
        The parameters for the worker, see `tasks`.
    told : dict
        The latest version of each part from the worker: votes, items, record, curve, replay, ...
    sizes : dict
        Approximate memory of each part, in bytes.
    step : dict or None
        The current step: name, done, total, known.
    version, content : int
        Counters of all changes, and of changes in the results.
    """

    task: Record
    files: Sequence[bytes]
    patient: bool = False
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    state: State = "queued"
    told: Record = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    step: Record | None = None
    problem: StudioError | None = None
    version: int = 0
    content: int = 0
    listeners: int = 0
    seen: float = field(default_factory=monotonic)
    started: float | None = None
    seconds: float = 0.0
    process: asyncio.subprocess.Process | None = None
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: State = "cancelled"

    @property
    def over(self) -> bool:
        """Whether the job has ended."""
        return self.state not in ("queued", "running")

    @property
    def size(self) -> int:
        """Approximate memory of its results, in bytes."""
        return sum(self.sizes.values())

    def shape(self) -> Record:
        """Return its state as plain data."""
        now = monotonic() - self.started if self.started is not None and not self.over else self.seconds
        return {
            "id": self.id,
            "task": self.task["task"],
            "state": self.state,
            "step": self.step,
            "version": self.version,
            "content": self.content,
            "seconds": round(now, 1),
            "error": None if self.problem is None else self.problem.shape(),
        }

    def end(self, state: State) -> None:
        """Request its end; the first reason counts."""
        if not self.stop.is_set():
            self.stopped = state
            self.stop.set()

    def touch(self) -> None:
        """Record that a client is still interested."""
        self.seen = monotonic()

    async def tell(self) -> None:
        """Wake all listeners."""
        async with self.changed:
            self.version += 1
            self.changed.notify_all()

    async def until(self, *parts: str) -> None:
        """Wait until the job has sent one of some parts, or is over."""
        async with self.changed:
            await self.changed.wait_for(lambda: self.over or any(part in self.told for part in parts))

    async def _after(self, version: int) -> None:
        async with self.changed:
            await self.changed.wait_for(lambda: self.version != version)

    async def follow(self) -> AsyncIterator[Record | None]:
        """Yield the state of the job whenever it changes, until it is over; None is a heartbeat."""
        self.listeners += 1
        try:
            version = -1
            while True:
                if self.version != version:
                    version = self.version
                    yield self.shape()
                if self.over:
                    return
                try:
                    await asyncio.wait_for(self._after(version), _HEARTBEAT)
                except TimeoutError:
                    yield None
        finally:
            self.listeners -= 1
            self.touch()


class Jobs:
    """All jobs of one run of the studio."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._known: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._free = asyncio.Semaphore(limits.running)

    def get(self, id: str) -> Job:
        """Return a job; refuses unknown names."""
        try:
            return self._known[id]
        except KeyError:
            raise StudioError(404, "not-found", "there is no such job", repair="start it again") from None

    def count(self, state: State) -> int:
        """Return how many jobs are in a state."""
        return sum(job.state == state for job in self._known.values())

    def check_room(self) -> None:
        """Refuse a job if the queue is full."""
        waiting = self.count("queued")
        if waiting >= self.limits.queued:
            raise StudioError(
                503, "busy", f"{waiting} jobs are already waiting", repair="wait for one of them, or cancel it"
            )

    def start(self, task: Record, files: Sequence[bytes], *, patient: bool = False) -> Job:
        """Start or queue a job; a patient one continues without listeners. Refuses if the queue is full."""
        self.check_room()
        job = Job(task, files, patient)
        self._known[job.id] = job
        run = asyncio.get_running_loop().create_task(self._run(job))
        self._tasks.add(run)
        run.add_done_callback(self._tasks.discard)
        return job

    def forget(self, job: Job) -> None:
        """End a job and drop its results."""
        job.end("cancelled")
        self._known.pop(job.id, None)

    async def close(self) -> None:
        """End all jobs."""
        for job in self._known.values():
            job.end("cancelled")
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def _run(self, job: Job) -> None:
        try:
            if await self._wait_in_line(job):
                try:
                    await self._work(job)
                finally:
                    self._free.release()
            else:
                job.state = job.stopped
        except StudioError as problem:
            job.state, job.problem = "failed", problem
        finally:
            job.files = ()
            if not job.over:
                job.state = "failed"
            await job.tell()

    async def _wait_in_line(self, job: Job) -> bool:
        """Wait in the queue; return whether a slot became free before the job was ended."""
        place = asyncio.ensure_future(self._free.acquire())
        while not place.done() and not job.stop.is_set():
            await asyncio.wait({place}, timeout=_LOOK)
            self._look_after(job)
        if not job.stop.is_set():
            return True
        if place.done():
            self._free.release()
        else:
            place.cancel()
        return False

    async def _work(self, job: Job) -> None:
        """Run a job in its process, receive its results, and end it."""
        seconds = min(float(job.task.get("seconds", self.limits.seconds)), self.limits.seconds) + self.limits.margin
        folder = tempfile.mkdtemp(prefix="holdrank-studio-")
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        process = job.process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # the folder where the studio was started brings no modules
            "-m",
            "holdrank.studio.worker",
            folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=_LONGEST_LINE,
            cwd=folder,
            env={**_environment(), **threads, "TMPDIR": folder, "PYTHONIOENCODING": "utf-8"},
            start_new_session=True,  # Ctrl-C is for the studio, which then ends its jobs
        )
        job.started, job.state = monotonic(), "running"
        await job.tell()
        limits = {"memory": self.limits.memory, "seconds": seconds, "items": self.limits.items, "folder": folder}
        talk = asyncio.ensure_future(_talk(job, process, limits))
        stop = asyncio.ensure_future(job.stop.wait())
        try:
            while not talk.done() and not stop.done():
                await asyncio.wait({talk, stop}, timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED)
                self._look_after(job)
                if monotonic() - job.started > seconds:
                    job.end("out of time")
        finally:
            stop.cancel()
            _kill(process)
            with suppress(asyncio.CancelledError, StudioError, OSError, ValueError):
                await talk
            code = await process.wait()
            assert process.stdin is not None
            process.stdin.close()
            shutil.rmtree(folder, ignore_errors=True)
            job.seconds = job.seconds or monotonic() - job.started
        self._conclude(job, code, seconds)

    def _look_after(self, job: Job) -> None:
        """End a job that has no listeners left."""
        if not job.patient and not job.listeners and monotonic() - job.seen > self.limits.patience:
            job.end("left alone")

    def _conclude(self, job: Job, code: int, seconds: float) -> None:
        if job.state == "done":
            return
        if job.problem is not None:
            job.state = "failed"
        elif job.stop.is_set():
            job.state = job.stopped
            if job.stopped == "out of time":
                words = f"the job was ended after {seconds:.3g} seconds"
                job.problem = StudioError(504, "time", words, repair="reduce the settings, or use the command line")
        else:
            # Compiled code does not raise a MemoryError where it finds no memory: it dies.
            job.state, job.problem = "failed", StudioError.of_shape(_death(code, self.limits.memory))


def _environment() -> dict[str, str]:
    """Return the part of our environment that a job needs to find Python and its packages, without keys and tokens."""
    return {name: value for name, value in os.environ.items() if name in _NEEDED or name.startswith(_NEEDED_FAMILIES)}


async def _talk(job: Job, process: asyncio.subprocess.Process, limits: Record) -> None:
    """Send a job to its process and receive its messages; stdin stays open, as its lifeline."""
    assert process.stdin is not None
    assert process.stdout is not None
    order = {**job.task, **limits, "sizes": [len(data) for data in job.files]}
    with suppress(ConnectionError):  # it may have died of its limits before it has read everything
        process.stdin.write(json.dumps(order).encode() + b"\n")
        for data in job.files:
            process.stdin.write(data)
            await process.stdin.drain()
    while line := await process.stdout.readline():
        message = json.loads(line)
        event = message.pop("event")
        if event == "progress":
            job.step = message
        elif event == "error":
            job.problem = StudioError.of_shape(message["error"])
        else:
            job.told |= message
            job.sizes |= dict.fromkeys(message, _GROWTH * len(line) // max(len(message), 1))
            job.content += 1
            if event == "result":
                job.step, job.state, job.seconds = None, "done", monotonic() - (job.started or monotonic())
        await job.tell()


def _death(code: int, memory: int) -> dict[str, str]:
    """Return the error for a process that ended without a message."""
    # Not killed by the studio, which knows why: by the system, where it has no more memory to give.
    if code in (-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS, -getattr(signal, "SIGKILL", 9), 1):
        return out_of_memory(memory)
    return {"code": "internal", "message": f"the job ended without an answer (code {code})", "place": "", "repair": ""}


def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
