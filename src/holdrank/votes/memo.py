"""Results that cache what was computed from them, and read-only arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")


def close(*arrays: npt.NDArray[Any] | None) -> None:
    """Make arrays read-only, where there are any."""
    for array in arrays:
        if array is not None:
            array.flags.writeable = False


def recall(of: Remembering, name: str) -> Any:
    """Return what was kept under a name; None where nothing was."""
    return of._memo.get(name)


def keep(of: Remembering, name: str, value: object) -> None:
    """Keep what holds for a result for good."""
    of._memo[name] = value


class Remembering:
    """A result that caches what was computed from it; arrays are read-only."""

    __slots__ = ()
    _memo: dict[str, Any]

    def _remember(self, name: str, compute: Callable[[], T]) -> T:
        if name not in self._memo:
            value = compute()
            if isinstance(value, np.ndarray):
                close(value)
            self._memo[name] = value
        known: T = self._memo[name]
        return known
