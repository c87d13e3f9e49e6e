"""Findings: the result of a probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from holdrank.analysis.probes.bars import BARS
from holdrank.status import Shown
from holdrank.words.audit import adversary_text, finding_text, reason_text, statistic_text, title
from holdrank.words.bars import bar_text

State: TypeAlias = Literal["raised", "clear", "does not apply"]


@dataclass(frozen=True, slots=True)
class Finding(Shown):
    """What one probe found.

    Attributes
    ----------
    probe : str
        Its name: votes, position, ties, cycles, connection, coverage, people, judge or category.
    state : str
        ``"raised"``, ``"clear"``, or ``"does not apply"`` where the votes lack what the probe needs.
    value : float or None
        The statistic.
    lower, upper : float or None
        Its confidence interval; both are the value where it is a count without chance.
    bar : float or None
        What the statistic is compared with.
    pairs : tuple of (str, str)
        Pairs of items that it concerns, the one that is ahead first.
    items : tuple of str
        Items that it concerns.
    people : tuple of str
        People, columns or groups that it concerns.
    facts : mapping
        All numbers of the sentence.
    adversary : mapping or None
        What an adversary needs to break the same thing: ``goal`` in words, and the bounds of the attack as in records.
        None where that was not computed.
    """

    probe: str
    state: State
    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    bar: float | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    items: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    adversary: Mapping[str, Any] | None = None

    @property
    def raised(self) -> bool:
        """Whether the statistic is beyond the bar."""
        return self.state == "raised"

    @property
    def applies(self) -> bool:
        """Whether the votes have what the probe needs."""
        return self.state != "does not apply"

    @property
    def title(self) -> str:
        """What the probe looks for."""
        return title(self.probe)

    @property
    def bar_text(self) -> str:
        """When the probe is raised, in words."""
        return bar_text(self.probe, BARS)

    @property
    def reason_text(self) -> str:
        """Why the probe does not apply, in words; empty where it applies."""
        return "" if self.applies else reason_text(self.facts)

    @property
    def statistic_text(self) -> str:
        """The statistic with its interval, in a few words; empty where the probe does not apply."""
        if self.value is None:
            return ""
        return statistic_text(self.probe, (self.value, self.lower, self.upper), self.facts)

    @property
    def adversary_text(self) -> str:
        """What an adversary needs to break the same thing, in words; empty where that is not known."""
        return "" if self.adversary is None else adversary_text(self.adversary)

    def text(self) -> str:
        """Return what was found, in a sentence or two."""
        return finding_text(self.probe, self.state, self.facts)

    def __repr__(self) -> str:
        return f"Finding({self.probe!r}, {self.state})"


def not_applicable(probe: str, reason: str, **facts: Any) -> Finding:
    """Return that a probe does not apply; the reason is a key of `words.audit`."""
    return Finding(probe, "does not apply", facts={"reason": reason, **facts})
