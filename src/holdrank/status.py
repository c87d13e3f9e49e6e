"""How sure a result is."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How a result was obtained; each value is the sentence shown to people."""

    PROVED = "proved optimal"
    SCORED = "exact: sorted by score, minimises no distance on incomplete ballots"
    MERGED = "exact: merged from a proved median"
    TIME_LIMIT = "time limit reached: best ranking found, with a certified bound"
    INTERRUPTED = "interrupted: best ranking found, with a certified bound"

    @property
    def is_exact(self) -> bool:
        """Whether this is the statistic itself, not the best that could be found in time."""
        return self not in (Status.TIME_LIMIT, Status.INTERRUPTED)
