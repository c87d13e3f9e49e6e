"""The footer of a Parquet file, checked before other libraries allocate the memory that it asks for.

It is written in Thrift's compact protocol: typed fields, numbers of seven bits per byte, lists with the number of
elements in front. A list cannot have more elements than there are bytes behind it; a few hundred bytes that say
otherwise make DuckDB ask for gigabytes.
"""

from __future__ import annotations

import os
from typing import BinaryIO

_END = 8  # bytes behind the footer: its length, and four letters
_DEEPEST = 16  # structures inside of structures; Parquet has half as many
_LEAST_STRUCTURE = 3  # bytes of one in a list
_TRUE, _FALSE, _BYTE, _SHORT, _INT, _LONG, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)


def check_footer(file: BinaryIO) -> None:
    """Raise `ValueError` for a Parquet file whose footer declares more than it can hold."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END))
    end = file.read(_END)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != b"PAR1" or length > size - _END:
        raise ValueError("it does not end as a Parquet file does")
    file.seek(size - _END - length)
    _Walk(file.read(length)).structure(0)


class _Walk:
    """A parser of a footer, from its first byte on."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def structure(self, depth: int) -> None:
        """Skip the fields of a structure."""
        if depth > _DEEPEST:
            raise ValueError("the footer is nested too deeply")
        while kind := self._byte():
            if not kind >> 4:  # the number of the field does not fit into four bits
                self._number()
            if kind & 15 not in (_TRUE, _FALSE):  # which the type has said
                self._value(kind & 15, depth)

    def _value(self, kind: int, depth: int) -> None:
        if kind in (_SHORT, _INT, _LONG):
            self._number()
        elif kind == _BINARY:
            self._skip(self._number())
        elif kind == _STRUCT:
            self.structure(depth + 1)
        elif kind in (_LIST, _SET):
            head = self._byte()
            self._elements(self._number() if head >> 4 == 15 else head >> 4, (head & 15,), depth)
        elif kind == _MAP:
            if size := self._number():
                kinds = self._byte()
                self._elements(size, (kinds >> 4, kinds & 15), depth)
        elif kind in (_TRUE, _FALSE, _BYTE, _DOUBLE):
            self._skip(8 if kind == _DOUBLE else 1)
        else:
            raise ValueError(f"the footer has a value of type {kind}")

    def _elements(self, size: int, kinds: tuple[int, ...], depth: int) -> None:
        least = _LEAST_STRUCTURE if _STRUCT in kinds else 1
        if size * least > len(self._data) - self._at:
            raise ValueError(f"the footer declares {size:,} entries, more than it can hold")
        if depth > _DEEPEST:
            raise ValueError("the footer is nested too deeply")
        for _ in range(size):
            for kind in kinds:
                self._value(kind, depth + 1)

    def _byte(self) -> int:
        self._skip(1)
        return self._data[self._at - 1]

    def _number(self) -> int:
        """Return a number without a sign, as lengths and sizes are."""
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise ValueError("the footer has a number of too many bytes")

    def _skip(self, count: int) -> None:
        self._at += count
        if self._at > len(self._data):
            raise ValueError("the footer is cut short")
