"""Shared parts of all steps of an analysis: their order, the time for each, and the outcome of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TypeAlias

from holdrank.analysis.records import Record
from holdrank.errors import HoldrankError
from holdrank.status import Clock, Status, Step
from holdrank.words.headlines import headline

Progress: TypeAlias = Callable[[Step], None]

# The share of the remaining time for each step, in the order of the steps: what readers see first comes first.
SHARES = {
    "consensus": 0.3,
    "tiers": 0.3,
    "attack": 0.35,
    "chance": 0.3,
    "claims": 0.5,
    "gaps": 0.35,
    "cut": 0.4,
    "removals": 0.3,
    "races": 0.4,
    "bootstrap": 0.4,
    "reach": 0.4,
    "voters": 0.4,
    "audit": 0.3,
    "tradeoff": 0.5,
    "curves": 0.8,
    "others": 0.9,
    "refine": 1.0,
}


class Steps:
    """A record that is filled step by step, within a time limit."""

    def __init__(
        self, record: Record, clock: Clock, progress: Progress | None, each: Callable[[Record], None] | None
    ) -> None:
        self.record, self.clock, self.progress, self.each = record, clock, progress, each

    @contextmanager
    def _step(self, name: str) -> Iterator[None]:
        """Run a step within its share of the time, and record its outcome."""
        started = perf_counter()
        left = self.clock.seconds_left()
        self._part = Clock(None if math.isinf(left) else SHARES[name] * max(left, 0.0), within=self.clock)
        state: Record = {"name": name, "state": "done", "note": "", "seconds": 0.0, "ended": 0.0}
        self.record["steps"].append(state)
        self._say(name, len(self.record["steps"]) - 1, len(SHARES))
        try:
            yield
        except HoldrankError as error:
            state |= {"state": "failed", "note": str(error)}
        except KeyboardInterrupt:
            if not self.clock.interrupted or self.record["consensus"] is None:
                raise
            self._note(Status.INTERRUPTED)  # a step that did not notice the first signal
        state["seconds"] = round(perf_counter() - started, 3)
        state["ended"] = round(math.fsum(step["seconds"] for step in self.record["steps"]), 3)
        if self.each is not None and self.record["consensus"] is not None:
            self.record["headline"] = headline(self.record)
            self.each(self.record)

    def _say(self, name: str, done: int, total: int) -> None:
        if self.progress is not None:
            known = headline(self.record) if self.record["consensus"] is not None else ""
            self.progress(Step(name, done, total, known))

    def _note(self, status: Status) -> None:
        state = "interrupted" if status.is_interrupted else "cut short"
        self.record["steps"][-1] |= {"state": state, "note": status.value}

    def _remark(self, text: str) -> None:
        """Say something about the running step."""
        self.record["steps"][-1]["note"] = text

    def _note_if_open(self, status: Status) -> None:
        if status in (Status.BETWEEN_TIME_LIMIT, Status.BETWEEN_INTERRUPTED):
            self._note(status)
