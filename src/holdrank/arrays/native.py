"""Calls the hot loops, which are written in C: `loops/*.c`, one library for all versions of Python.

Arrays are checked before their addresses are passed: a wrong type or memory layout is an error here, not in C. While a
loop runs, other Python threads run too.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from holdrank.arrays import compiler
from holdrank.errors import HoldrankError

# What a function returns, and takes: F, E, I, S, H, B arrays of float64, float32, int64, int32, int16 and bool; f a
# float, i a whole number.
SIGNATURES = {
    "inversions": "i Ii",
    "add_pairs": "i Hiiii I iiI",
    "rank_rows": "i IiiH",
    "rank_few": "i SiiH",
    "count_listed": "i HiiI",
    "group_rows": "i Biiii IiI II",
    "descend": "f FiIf",
    "wander": "f FiIffii",
    "order_subsets": "i FiF",
    "scan_triangles": "i FifiIFIi",
    "weigh_cycles": "i FifIFii",
    "clip_margins": "i FifE",
    "find_cycles": "i FEiiff ii IFi IFi I",
    "left_of_cycles": "i FiIFi",
    "shortest_paths": "i FiI",
    "pick_cycles": "i iiIIII iIi IIi",
    "sample_cuts": "i FiiiiiIFF",
    "vary_cuts": "i FiiiFFIiifiIIF",
    "heaviest_order": "i iI",
    "charge_prefixes": "i iIiiII",
    "group_charges": "i iiIIiII",
    "join_charges": "i iIIIiiI",
    "join_triangles": "i iIIiiI",
    "charge_deviations": "i iII",
    "enter_prefixes": "i iIiiSi",
    "least_images": "i iSSSI iII",
    "grow_classes": "i iSSSI iIIii",
    "grow_prefixes": "i iII iiII iiii ISSH Si iii ISSi",
    "assign_places": "i FiIFF",
    "search_orders": "i iFIIBiiF IIIIIFFFFFI iIFIIii",
    "search_chains": "f iFBBfii",
    "price_orders": "i iii SIFFFFii iIFIi fii FIFiIi",
}
_ARRAYS = {
    "F": np.dtype(np.float64),
    "E": np.dtype(np.float32),
    "I": np.dtype(np.int64),
    "S": np.dtype(np.int32),
    "H": np.dtype(np.int16),
    "B": np.dtype(np.bool_),
}
_NUMBERS: dict[str, Any] = {"f": ctypes.c_double, "i": ctypes.c_int64}


def call(name: str, *given: Any) -> Any:
    """Call a loop with arrays and numbers; return its number."""
    function, kinds = _function(name)
    values: list[Any] = []
    for kind, one in zip(kinds, given, strict=True):
        if kind in _ARRAYS:
            if one.dtype != _ARRAYS[kind] or not one.flags.c_contiguous:
                raise TypeError(
                    f"{name} takes {_ARRAYS[kind]} without gaps, not {one.dtype} with strides {one.strides}"
                )
            values.append(one.ctypes.data)
        else:
            values.append(float(one) if kind == "f" else int(one))
    found = function(*values)
    if found == -1:  # no loop returns it otherwise
        raise MemoryError(f"no memory for {name}")
    return found


@cache
def _function(name: str) -> tuple[Any, str]:
    result, _, kinds = SIGNATURES[name].partition(" ")
    kinds = kinds.replace(" ", "")
    function = getattr(_library(), name)
    function.restype = _NUMBERS[result]
    function.argtypes = [_NUMBERS.get(kind, ctypes.c_void_p) for kind in kinds]
    return function, kinds


@cache
def _library() -> ctypes.CDLL:
    name = compiler.library_name()
    for folder in _folders():
        if (folder / name).exists():
            return ctypes.CDLL(str(folder / name))
    for folder in _folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return ctypes.CDLL(str(compiler.build(folder)))
        except compiler.CannotBuildError as error:
            raise HoldrankError(f"holdrank was not built on this machine: {error}", repair=compiler.REPAIR) from error
        except OSError:
            continue  # this folder is read-only, or programs in it may not run
    raise HoldrankError(
        "no folder is writable for the compiled loops of holdrank", repair="install it with pip, which builds them"
    )


def _folders() -> Iterator[Path]:
    """Where the library may be: next to the sources, as in wheels; else, for read-only clones, in the user's cache."""
    yield compiler.SOURCES
    caches = {"win32": os.environ.get("LOCALAPPDATA", "~/AppData/Local"), "darwin": "~/Library/Caches"}
    yield Path(caches.get(sys.platform) or os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "holdrank"
