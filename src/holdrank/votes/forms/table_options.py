"""How the rows of a table are read: which columns have which role, and what blanks, repeats and gaps mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from holdrank.errors import UsageError
from holdrank.votes.forms.table import Ref


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Options for the readers of tables; each reader uses those that apply to its format."""

    unlisted: str | None = None
    columns: Sequence[Ref] | None = None
    item: Ref | Sequence[Ref] | None = None
    voter: Ref | None = None
    weight: Ref | None = None
    rank: Ref | None = None
    score: Ref | None = None
    first: Ref | None = None
    second: Ref | None = None
    winner: Ref | None = None
    lower_is_better: Collection[Ref] | bool = ()
    blanks: Collection[str] | None = None
    repeated: str = "refuse"
    both_bad: str = "tie"
    blank_voters: str = "refuse"
    map: Mapping[str, str] | None = None
    by: Ref | None = None

    @property
    def keeps_first(self) -> bool:
        """Whether the first of several mentions of an item counts; else they are refused."""
        if self.repeated not in ("refuse", "first"):
            raise UsageError(f'repeated is "refuse" or "first", not {self.repeated!r}')
        return self.repeated == "first"

    def blanks_or(self, default: Collection[str]) -> Collection[str]:
        """Return the tokens for a missing value: those set, else the format's own."""
        if self.blanks is None:
            return default
        return [self.blanks] if isinstance(self.blanks, str) else list(self.blanks)

    def unlisted_or(self, default: str) -> str:
        """Return the rule for unlisted items: the one set, else the format's own."""
        if self.unlisted is None:
            return default
        if self.unlisted not in ("bottom", "observed"):
            raise UsageError(f'unlisted is "bottom" or "observed", not {self.unlisted!r}')
        return self.unlisted


DEFAULTS = TableOptions()


def ballot_choices(unlisted: str, direction: str, repeated: str = "refuse") -> dict[str, str]:
    """Return the choices shared by all ballots that rank items, as text."""
    return {"unlisted": unlisted, "ties": "half a vote each way", "direction": direction, "repeated": repeated}
