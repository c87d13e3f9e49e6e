"""The clock of a command: its time limit includes start-up, reading and printing."""

from __future__ import annotations

from time import monotonic, process_time

_RESERVE = 0.08  # of the limit: Python's own start before the command, last steps and printing after the search
_MOST_RESERVED = 0.2  # of the limit, on a busy machine, where all of that takes longer
_TELLING = 0.05  # seconds of work that tell how busy a machine is
_LEAST = 0.1  # of the limit: what searches get, no matter how long reading takes


class CommandClock:
    """When a command began, and when its searches must end."""

    def __init__(self) -> None:
        self._begun, self._worked = monotonic(), process_time()
        self._end: float | None = None

    def begin(self) -> None:
        """Start a command, or its next file."""
        self._begun, self._worked, self._end = monotonic(), process_time(), None

    def left(self, time_limit: float | None) -> float | None:
        """Return the seconds left for the next search; None without a limit.

        The first call, after reading, fixes the end of all searches.
        """
        if time_limit is None:
            return None
        now = monotonic()
        if self._end is None:
            self._end = max(self._begun + (1 - self._reserve()) * time_limit, now + _LEAST * time_limit)
        return max(self._end - now, 0.0)

    def _reserve(self) -> float:
        """Return the share of the limit that is kept for what comes before and after the search.

        Reading tells how much slower than its own work this process is.
        """
        worked = process_time() - self._worked
        slower = (monotonic() - self._begun) / worked if worked > _TELLING else 1.0
        return min(_RESERVE * max(slower, 1.0), _MOST_RESERVED)


command_clock = CommandClock()
