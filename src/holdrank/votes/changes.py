"""Changes of votes: replaced (the paper's adversary), dropped, or added."""

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
        """Whether votes may be removed."""
        return self is not Change.ADD

    @property
    def puts(self) -> bool:
        """Whether votes may be added."""
        return self is not Change.DROP

    @property
    def keeps_total(self) -> bool:
        """Whether each removed vote is replaced by an added one."""
        return self is Change.REPLACE

    @property
    def pull(self) -> int:
        """The most by which one changed vote moves a count, in ballots: one removed, one added, or both."""
        return 2 if self.keeps_total else 1


def change_of(name: str) -> Change:
    """Return the change of this name; an error lists the valid names."""
    try:
        return Change(name)
    except ValueError:
        raise UsageError(f"change must be 'replace', 'drop' or 'add', not {quote(str(name))}") from None
