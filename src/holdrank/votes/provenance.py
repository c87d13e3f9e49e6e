"""Where votes came from, and what was decided on the way."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Unlisted: TypeAlias = Literal["bottom", "observed"]

UNLISTED_MEANS: dict[str, str] = {
    "bottom": "bottom (tied below all listed items)",
    "observed": "observed (a ballot compares only the items it lists)",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """Where votes came from and every choice that was made on the way.

    Parameters
    ----------
    source : str
        Name of the file, or ``"memory"``.
    sha256 : str
        Of the bytes that were read; empty when nothing was read from a file.
    format : str
        The form the source was read as.
    choices : mapping of str to str
        Each decision, as shown to people: ``{"unlisted": "bottom", ...}``.
    title : str
        What the source says it is about, as PrefLib files do; empty where it says nothing.
    """

    source: str = "memory"
    sha256: str = ""
    format: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    title: str = ""

    @property
    def file(self) -> str:
        r"""The source without its folder: records and pages are shared, and folders are nobody else's business.

        Examples
        --------
        >>> Reading("/home/ann/votes.csv").file, Reading("C:\\data\\votes.csv").file, Reading("/").file
        ('votes.csv', 'votes.csv', '/')
        """
        return re.split(r"[\\/]", self.source.rstrip("\\/"))[-1] or self.source
