"""Where votes came from, and the choices made on reading them."""

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
    """Where votes came from, and every choice made on reading them.

    Parameters
    ----------
    source : str
        Name of the file, or ``"memory"``.
    sha256 : str
        SHA-256 of the bytes read; empty if no file was read.
    format : str
        The format as which the source was read.
    choices : mapping of str to str
        Each choice, as displayed: ``{"unlisted": "bottom", ...}``.
    title : str
        Title given in the source, as in PrefLib files; empty if there is none.
    """

    source: str = "memory"
    sha256: str = ""
    format: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    title: str = ""

    @property
    def file(self) -> str:
        r"""The source without its folder: records and pages are shared, and must not reveal folders.

        Examples
        --------
        >>> Reading("/home/ann/votes.csv").file, Reading("C:\\data\\votes.csv").file, Reading("/").file
        ('votes.csv', 'votes.csv', '/')
        """
        return re.split(r"[\\/]", self.source.rstrip("\\/"))[-1] or self.source
