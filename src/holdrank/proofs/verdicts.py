"""The verdict on the statements of a result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from holdrank.status import Clock, Shown, Tabular

Finding: TypeAlias = Literal["proved", "refuted", "open"]

REST = "all other statements"
LATE = "not checked within the time limit"
STOPPED = "interrupted before it was checked"


@dataclass(frozen=True, slots=True)
class Check(Shown):
    """One statement, and its verdict.

    Attributes
    ----------
    claim : str
        The statement, as text.
    finding : {"proved", "refuted", "open"}
    note : str
        The reason, where it is not obvious.
    """

    claim: str
    finding: Finding
    note: str = ""


@dataclass(frozen=True, slots=True)
class Verdict(Tabular):
    """The result of an independent check; true if every statement was proved.

    Attributes
    ----------
    checks : tuple of Check
        A statement is "proved", "refuted", or "open" if the check cannot decide: too many items, a statistic that it
        does not support, or a bound that needs a longer proof.
    """

    checks: tuple[Check, ...]

    @property
    def proved(self) -> bool:
        """Whether every statement was proved, and there was one."""
        return bool(self.checks) and all(check.finding == "proved" for check in self.checks)

    @property
    def refuted(self) -> bool:
        """Whether a statement is wrong."""
        return any(check.finding == "refuted" for check in self.checks)

    def __bool__(self) -> bool:
        return self.proved

    def text(self) -> str:
        """Return one line for every statement."""
        return "\n".join(f"{c.finding:8} {c.claim}" + f" ({c.note})" * bool(c.note) for c in self.checks)

    def __repr__(self) -> str:
        counts = {name: sum(c.finding == name for c in self.checks) for name in ("proved", "refuted", "open")}
        return f"Verdict({', '.join(f'{count} {name}' for name, count in counts.items())})"


def in_time(checks: Iterator[Check], clock: Clock, rest: str) -> Iterator[Check]:
    """Yield checks until the time is over; then report the `rest` as open."""
    for check in checks:
        yield check
        if clock.over():
            yield Check(rest, "open", STOPPED if clock.interrupted else LATE)
            return
