"""Reading and writing vote files."""

from __future__ import annotations

from holdrank.files.read_options import FORMATS
from holdrank.files.reading import Validation, read_votes, validate
from holdrank.files.writers import write_votes

__all__ = ["FORMATS", "Validation", "read_votes", "validate", "write_votes"]
