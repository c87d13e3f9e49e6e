"""Calls the hot loops, which are written in C: `loops/*.c`, one library for all versions of Python.

Arrays are checked before their addresses are passed: a wrong type, memory layout or length is an error here, not in C,
where an order that does not fit its matrix may loop for ever. While a loop runs, other Python threads run too.
"""

from __future__ import annotations

import ast
import ctypes
import operator
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from holdrank.arrays import compiler
from holdrank.errors import HoldrankError

# What a function returns, and takes: F, E, I, S, H, B arrays of float64, float32, int64, int32, int16 and bool; f a
# float, any other small letter a whole number. In brackets stands how many numbers an array has, by the names of the
# whole numbers; "c:" means c or more.
SIGNATURES = {
    "inversions": "i I[n] n",
    "add_pairs": "i H[n*a] n a i m I[m] i i I[n*n]",
    "rank_rows": "i I[m*n] m n H[m*n]",
    "rank_few": "i S[m*n] m n H[m*n]",
    "count_listed": "i H[m*n] m n I[m]",
    "group_rows": "i B[m*w] m w i i I[t] t I[m:] I[m:] I[m:]",
    "descend": "f F[n*n] n I[n] f",
    "wander": "f F[n*n] n I[n] f f i i",
    "order_subsets": "i F[n*n] n F[1<<n]",
    "scan_triangles": "i F[n*n] n f i I[102] F[r] I[3*r] r",
    "weigh_cycles": "i F[n*n] n f I[c:] F[c:] c i",
    "clip_margins": "i F[n*n] n f E[n*n]",
    "find_cycles": "i F[n*n] E[n*n] n i f f i i I[c:] F[c:] c I[r] F[r] r I[3]",
    "left_of_cycles": "i F[n*n] n I[c:] F[c:] c",
    "shortest_paths": "i F[n*n] n I[n*n]",
    "pick_cycles": "i n a I[a] I[a] I[n*n] I[n*n] s I[s] i I[s:] I[r] r",
    "sample_cuts": "i F[n*n] n k i i r I[r*k] F[r*k*(k-1)//2] F[r]",
    "vary_cuts": "i F[n*n] n k c F[c*k*k] F[c] I[c*k] i i f r I[(r+1)*k] I[r+1] F[r+1]",
    "heaviest_order": "i k I[k*k]",
    "charge_prefixes": "i k I[k*k] i i I[k<<k] I[k<<k]",
    "group_charges": "i n r I[r+1] I t I[r] I[r*t]",
    "join_charges": "i k I[k<<k] I[k<<k] I[k] i t I[t<<t]",
    "join_triangles": "i c I[4*c] I[c] i t I",
    "charge_deviations": "i n I[n*n] I[(n+3)//4*16*n]",
    "enter_prefixes": "i n I i i S[s+1] s",
    "least_images": "i n S[n*n] S[n] S I[n+1] c I[c] I[c]",
    "grow_classes": "i n S[n*n] S[n] S I[n+1] c I[c] I[s+1] s i",
    "grow_prefixes": "i n I[(n+3)//4*16*n] I[(n+63)//64*n] g t I[g*t] I[g*t<<t] i i i r"
    " I[(n+63)//64*r] S[r] S[r] H[r] S[s+1] s i i i I S S[o+1] o",
    "assign_places": "i F[n*n] n I[n] F[n] F[n]",
    "search_orders": "i n F[n*n] I[n+1] I[2] B[n] i i F[n*(n-1)//2+1]"
    " I[1] I[n+1] I[n+1] I[n+1] I[n+1] F[n+1] F[n+1] F[n+1] F[(n+1)**2] F[(n+1)**2] I[(n+1)**2]"
    " r I[r*n] F[r] I[r] I[1] i i",
    "search_chains": "f n F[n*n] B[n] B[n] f i i",
    "price_orders": "i n v c S[n*v] I[n*n] F[n*(n-1)//2] F[c] F[c] F i i t I[t*n] F[t] I[t*r*n] r f i i"
    " F[t] I[t] F i I[t*u*n] u",
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

Formula: TypeAlias = Callable[[Mapping[str, int]], int]
_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
    ast.Pow: operator.pow,
}


class Size(NamedTuple):
    """How many numbers an array must have: a formula of the whole numbers with names."""

    text: str
    number: Formula
    or_more: bool


class Signature(NamedTuple):
    """What a loop returns, and for each argument its kind, its name if it has one, and its size if it is an array."""

    result: str
    kinds: str
    names: list[str]
    sizes: list[Size | None]


def parsed(text: str) -> Signature:
    """Return an entry of `SIGNATURES` in parts."""
    result, *parameters = text.split()
    kinds, names, sizes = "", [], []
    for parameter in parameters:
        kind, _, size = parameter.removesuffix("]").partition("[")
        named = kind not in _ARRAYS and kind not in _NUMBERS
        kinds += "i" if named else kind
        names.append(kind if named else "")
        formula = size.removesuffix(":")
        sizes.append(Size(size, _formula(ast.parse(formula, mode="eval").body), size != formula) if size else None)
    return Signature(result, kinds, names, sizes)


def _formula(node: ast.expr) -> Formula:
    """Return a formula as a function of the numbers with names."""
    match node:
        case ast.Constant(value=int(value)):
            return lambda _: value
        case ast.Name(id=name):
            return operator.itemgetter(name)
        case ast.BinOp(left=left, op=sign, right=right):
            do, one, other = _OPERATIONS[type(sign)], _formula(left), _formula(right)
            return lambda numbers: do(one(numbers), other(numbers))
    raise ValueError(f"{ast.unparse(node)} is not a formula of whole numbers")


def call(name: str, *given: Any) -> Any:
    """Call a loop with arrays and numbers; return its number."""
    function, signature = _function(name)
    values: list[Any] = []
    numbers: dict[str, int] = {}
    for kind, named, one in zip(signature.kinds, signature.names, given, strict=True):
        if kind in _ARRAYS:
            if one.dtype != _ARRAYS[kind] or not one.flags.c_contiguous:
                raise TypeError(
                    f"{name} takes {_ARRAYS[kind]} without gaps, not {one.dtype} with strides {one.strides}"
                )
            values.append(one.ctypes.data)
        else:
            values.append(float(one) if kind == "f" else int(one))
            if named:
                numbers[named] = values[-1]
    for size, one in zip(signature.sizes, given, strict=True):
        if size is not None:
            wanted = size.number(numbers)
            if one.size != wanted and not (size.or_more and one.size > wanted):
                raise ValueError(f"{name} takes an array of {size.text} = {wanted} numbers, not of {one.size}")
    found = function(*values)
    if found == -1:  # no loop returns it otherwise
        raise MemoryError(f"no memory for {name}")
    return found


@cache
def _function(name: str) -> tuple[Any, Signature]:
    signature = parsed(SIGNATURES[name])
    function = getattr(_library(), name)
    function.restype = _NUMBERS[signature.result]
    function.argtypes = [_NUMBERS.get(kind, ctypes.c_void_p) for kind in signature.kinds]
    return function, signature


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
