"""What may happen to votes: they are replaced (the paper's adversary), dropped, or added."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias

from holdrank.errors import UsageError, quote

ChangeName: TypeAlias = Literal["replace", "drop", "add"]


class Change(StrEnum):
    """What an adversary may do to the votes; each value is also its name, as in ``attack(..., change="drop")``.

    Examples
    --------
    >>> Change("drop").takes, Change("drop").puts, Change("replace").keeps_total
    (True, False, True)
    """

    REPLACE = "replace"
    DROP = "drop"
    ADD = "add"

    @property
    def takes(self) -> bool:
        """Whether votes may go."""
        return self is not Change.ADD

    @property
    def puts(self) -> bool:
        """Whether votes may come."""
        return self is not Change.DROP

    @property
    def keeps_total(self) -> bool:
        """Whether a vote comes for every vote that goes."""
        return self is Change.REPLACE

    @property
    def pull(self) -> int:
        """By how many ballots one changed vote moves a count at most: one that goes, one that comes, or both."""
        return 2 if self.keeps_total else 1


def change_of(name: str) -> Change:
    """Return the change of this name, or say which there are."""
    try:
        return Change(name)
    except ValueError:
        raise UsageError(f"change must be 'replace', 'drop' or 'add', not {quote(str(name))}") from None
