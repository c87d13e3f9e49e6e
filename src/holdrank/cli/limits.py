"""The clock of a command: its time limit includes start-up, reading and printing."""

from __future__ import annotations

from time import monotonic

_RESERVE = 0.06  # of the limit: Python's own start before the command, printing after the search
_LEAST = 0.1  # of the limit: what searches get, no matter how long reading takes


class CommandClock:
    """When a command began, and when its searches must end."""

    def __init__(self) -> None:
        self._begun = monotonic()
        self._end: float | None = None

    def begin(self) -> None:
        """Start a command, or its next file."""
        self._begun, self._end = monotonic(), None

    def left(self, time_limit: float | None) -> float | None:
        """Return the seconds left for the next search; None without a limit.

        The first call, after reading, fixes the end of all searches.
        """
        if time_limit is None:
            return None
        now = monotonic()
        if self._end is None:
            self._end = max(self._begun + (1 - _RESERVE) * time_limit, now + _LEAST * time_limit)
        return max(self._end - now, 0.0)


command_clock = CommandClock()
