"""What can go wrong, as a small tree of exceptions with messages meant for people.

Every error that leaves the package on purpose is a `HoldrankError`. Its text is one line: where, what was found,
what was expected, and one way to repair it.

`whole_number` and `real_number` decide what counts as a number at the border; the caller words the refusal.
"""

from __future__ import annotations

from numbers import Integral, Real


class HoldrankError(Exception):
    """The parent of every error that holdrank raises on purpose."""


class UsageError(HoldrankError, ValueError):
    """A function or command was called with arguments that make no sense together."""


class InputError(HoldrankError, ValueError):
    """The votes themselves are at fault: a file, a line, a cell, an item.

    Parameters
    ----------
    problem : str
        What is wrong, in a few words, e.g. ``"item 12 is not declared"``.
    source : str
        Name of the file, or of what stands in for it.
    line, column : int or str, optional
        Where in the file; lines count from 1, a column may be its name.
    found, expected, repair : str
        The offending text, what should have stood there, one way to mend it.

    Examples
    --------
    >>> print(InputError("item 12 is not declared", source="votes.soi", line=27, found="3: 12",
    ...                  expected="an item from 1 to 9", repair="declare it"))
    votes.soi, line 27: item 12 is not declared; found '3: 12', expected an item from 1 to 9; to repair: declare it
    """

    def __init__(
        self,
        problem: str,
        *,
        source: str = "",
        line: int | None = None,
        column: int | str | None = None,
        found: str | None = None,
        expected: str = "",
        repair: str = "",
    ) -> None:
        self.problem, self.source, self.line, self.column = problem, source, line, column
        self.found, self.expected, self.repair = found, expected, repair
        where = [show(source, 200)] if source else []
        if line is not None:
            where.append(f"line {line}")
        if column is not None:
            where.append(f"column {column if isinstance(column, int) else quote(column)}")
        text = f"{', '.join(where)}: {problem}" if where else problem
        clues = [f"found {quote(found)}"] if found is not None else []
        if expected:
            clues.append(f"expected {expected}")
        if clues:
            text += f"; {', '.join(clues)}"
        if repair:
            text += f"; to repair: {repair}"
        super().__init__(text)

    def at(self, source: str, line: int) -> InputError:
        """Return the same error at another place."""
        found, expected, repair = self.found, self.expected, self.repair
        return InputError(
            self.problem, source=source, line=line, column=self.column, found=found, expected=expected, repair=repair
        )


class LimitError(HoldrankError):
    """The input is sound but larger than what this call can hold in memory."""


class MissingExtraError(HoldrankError, ImportError):
    """An optional package is needed; the message names the extra that brings it."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f"{what} needs {package}; to repair: pip install 'holdrank[{extra}]'")
        self._parts = what, package, extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        return type(self), self._parts  # a worker sends its errors home


class WorkerError(HoldrankError):
    """Part of the work was lost with a process or machine that was to do it; nothing is wrong with the input."""


def whole_number(value: object) -> int | None:
    """Return a whole number as Python's own, whether it is Python's or numpy's; None for anything else.

    True and False are no numbers, and 2.0 is no whole one.

    Examples
    --------
    >>> import numpy as np
    >>> whole_number(np.int64(2)), whole_number(True), whole_number(2.0)
    (2, None, None)
    """
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def real_number(value: object) -> float | None:
    """Return a number as Python's own, whether it is Python's or numpy's; None for anything else, such as True.

    A number with fewer digits than Python's, such as numpy's float32, becomes the simplest share that rounds to it, or
    its shortest decimal: a third of the pairs must not turn into a little more than a third.

    Examples
    --------
    >>> import numpy as np
    >>> real_number(np.float32(0.35)), real_number(np.float32(1 / 3)) == 1 / 3, real_number(np.int64(1))
    (0.35, True, 1)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, float):
        return float(value)
    from fractions import Fraction  # here, for every command starts with this module

    import numpy as np

    if not isinstance(value, np.floating) or not np.isfinite(value):
        return float(value)
    # Of all shares with so small a denominator, at most one rounds to the number.
    parts = int(np.finfo(value.dtype).eps ** -0.5)
    share = float(Fraction(float(value)).limit_denominator(parts))
    return share if type(value)(share) == value else float(str(value))


def reason(error: OSError | ValueError) -> str:
    """Return why a file could not be opened, in the system's words; a name that no file can have is a `ValueError`."""
    words = getattr(error, "strerror", None) or str(error)
    return "embedded null byte" if "embedded null" in words else words  # which Pythons put in different words


def show(text: str, width: int = 80) -> str:
    r"""Return `text` safe for a terminal: control characters escaped, cut to `width` characters.

    Names of items and cells of files are hostile until shown through here: they may hold escape sequences, line
    breaks or directional marks.

    Examples
    --------
    >>> print(show("a\x1b[31m\tb"))
    a\x1b[31m\tb
    """
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text[: width + 1])
    return safe if len(safe) <= width else safe[: width - 1] + "…"


def quote(text: str, width: int = 80) -> str:
    """Return `text` through `show`, in single quotes."""
    return f"'{show(text, width)}'"
