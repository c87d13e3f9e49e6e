"""Ctrl-C and SIGTERM end a command within a second, at any point, and print the results so far.

Searches notice the first signal through their clocks and return their results. A search that does not return is
stopped: first by a `KeyboardInterrupt`, which lets files be closed; then, if it is deep in compiled code, by ending the
process.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdrank.status import Step

_BREAK, _LEAVE = 0.6, 0.9  # seconds after the signal
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Phase:
    """A phase of a computation: when it ended, and its results so far."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.known = ""


class Watch:
    """Watches phases of a computation from a separate thread: the main one may be in compiled code."""

    def __init__(self) -> None:
        self._phases: list[Phase] = []
        self._known = ""  # when the last phase was broken off

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Watch while a command runs; signals handled by other code are left alone."""
        self._phases, self._known = [], ""
        if os.name != "posix" or threading.current_thread() is not threading.main_thread():
            yield
            return
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        thread = threading.Thread(target=self._listen, args=(reader,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            os.close(writer)  # ends the thread
            thread.join(1.0)

    @contextmanager
    def computing(self) -> Iterator[Phase]:
        """Mark a phase that a signal must end quickly."""
        phase = Phase()
        self._phases.append(phase)
        try:
            yield phase
        finally:
            phase.over.set()
            self._phases.remove(phase)
            self._known = phase.known

    def keep(self, step: Step) -> None:
        """Store the results of a step."""
        if step.known and self._phases:
            self._phases[-1].known = step.known.rstrip(".")

    def so_far(self) -> str:
        """Return the results of the phase that a signal stopped."""
        return self._phases[-1].known if self._phases else self._known

    def _listen(self, reader: int) -> None:
        with suppress(OSError):
            while heard := os.read(reader, 1):
                if heard[0] in _SIGNALS and self._phases:
                    self._hurry(self._phases[-1], heard[0])
        with suppress(OSError):
            os.close(reader)

    def _hurry(self, phase: Phase, number: int) -> None:
        """Give a phase a moment to end, then interrupt it, then end the process."""
        started = monotonic()
        if phase.over.wait(_BREAK):
            return
        _thread.interrupt_main(signal.SIGINT)
        if phase.over.wait(max(started + _LEAVE - monotonic(), 0.0)):
            return
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        with suppress(OSError):
            os.write(2, f"\n{interrupted_text(self.so_far())}\n".encode("utf-8", "backslashreplace"))
        os._exit(128 + number)


def interrupted_text(known: str) -> str:
    """Return that a command was interrupted, and its results so far."""
    return f"interrupted; {known}" if known else "interrupted"


watch = Watch()
