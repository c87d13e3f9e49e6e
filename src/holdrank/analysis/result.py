"""What `analyse` returns: a record of plain data, to JSON and back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from holdrank.analysis.records import SCHEMA, Record, mismatch, no_constant
from holdrank.errors import InputError
from holdrank.status import Shown


@dataclass(frozen=True, slots=True, repr=False)
class Analysis(Shown):
    """What `analyse` found, as plain data: lists, numbers and text, with items as numbers into `items`.

    Attributes
    ----------
    record : dict
        The data; `analysis.schema.json`, which is shipped with the package, describes every field. In numbers of votes
        and shares None stands for infinity: as a lower bound it means that no change is enough, as an upper bound that
        no attack was found.
    """

    record: Record

    @property
    def items(self) -> list[str]:
        """Names of the items."""
        names: list[str] = self.record["items"]
        return names

    @property
    def headline(self) -> str:
        """The result in one sentence."""
        return str(self.record["headline"])

    def to_json(self, indent: int | None = None) -> str:
        """Return the record as JSON, the same for the same record."""
        return json.dumps(self.record, indent=indent, allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes, *, source: str = "") -> Analysis:
        """Return an analysis from its JSON; an error about JSON that does not fit the schema names its source."""
        repair = "give a result that `holdrank report -o result.json` or Analysis.to_json wrote"
        try:
            record = json.loads(text, parse_constant=no_constant)
            json.dumps(record, ensure_ascii=False).encode("utf-8")  # `to_json` must be able to write it again
        except (ValueError, RecursionError) as error:
            where: dict[str, Any] = {"found": str(error)[:200]}
            if isinstance(error, json.JSONDecodeError):
                where = {"line": error.lineno, "column": error.colno}
            raise InputError("this is not JSON", source=source, **where, repair=repair) from error
        problem = mismatch(record)
        if problem:
            raise InputError(f"this is not an analysis: {problem}", source=source, expected=SCHEMA, repair=repair)
        return cls(record)

    def __repr__(self) -> str:
        return f"Analysis({self.headline})"
