"""The exceptions of holdrank, with messages for users.

Every error that the package raises deliberately is a `HoldrankError`. Its text is one line: where, what was found, what
was expected, and one way to fix it. All of these are fields too, so that callers need not parse the text.

`whole_number` and `real_number` decide what counts as a number in arguments; the caller writes the message.
`item_number` refuses unknown names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import NamedTuple


class Option(NamedTuple):
    """An option of a reader that a message names.

    It is spelt as in Python. The command line and the studio spell it differently, see `HoldrankError.told`.

    Examples
    --------
    >>> print(Option("format"), Option("format", "battles"), Option("lower_is_better", True))
    format= format="battles" lower_is_better=True
    """

    name: str
    value: str | int | bool | None = None

    def __str__(self) -> str:
        """See the class."""
        value = f'"{self.value}"' if isinstance(self.value, str) else "" if self.value is None else self.value
        return f"{self.name}={value}"


class Message(str):
    """Text that remembers which of its parts are options.

    Examples
    --------
    >>> Message("set ", Option("format", "battles")).spelt(lambda option: f"--{option.name} {option.value}")
    'set --format battles'
    """

    __slots__ = ("parts",)
    parts: tuple[str | Option, ...]

    def __new__(cls, *parts: str | Option) -> Message:
        """Join texts, options and messages; nested messages keep their options."""
        message = super().__new__(cls, "".join(map(str, parts)))
        nested = (part.parts if isinstance(part, Message) else (part,) for part in parts)
        message.parts = tuple(part for some in nested for part in some)
        return message

    def __reduce__(self) -> tuple[type[Message], tuple[str | Option, ...]]:
        return type(self), self.parts

    def spelt(self, spell: Callable[[Option], str]) -> str:
        """Return the text with its options in another spelling."""
        return "".join(spell(part) if isinstance(part, Option) else part for part in self.parts)


class HoldrankError(Exception):
    """The base class of all errors that holdrank raises deliberately.

    Parameters
    ----------
    problem : str
        What is wrong, in a few words, e.g. ``"item 12 is not declared"``.
    place : str
        Where it is wrong; may be empty.
    clues : str
        What was found, and what was expected; may be empty.
    repair : str
        One way to fix it.
    """

    def __init__(self, problem: str = "", *, place: str = "", clues: str = "", repair: str = "") -> None:
        self.problem, self.place, self.clues, self.repair = problem, place, clues, repair
        super().__init__(self.told())

    def told(self, spell: Callable[[Option], str] = str) -> str:
        """Return the error in one line; `spell` says how options are spelt."""
        return one_line(self).spelt(spell)


def one_line(error: HoldrankError) -> Message:
    """Return an error in one line that can be part of a longer message; its options stay options."""
    marked = ("", error.place), (": ", error.problem), ("; ", error.clues), (". Fix: ", error.repair)
    parts: list[str] = []
    for mark, text in marked:
        if text:
            ended = bool(parts) and mark.startswith(".") and parts[-1].endswith((".", "?", "!"))
            parts += [mark[ended:], text] if parts else [text]
    return Message(*parts)


def in_spelling(text: str, spell: Callable[[Option], str]) -> str:
    """Return a text with its options, if any, in another spelling."""
    return text.spelt(spell) if isinstance(text, Message) else text


class UsageError(HoldrankError, ValueError):
    """A function or command was called with invalid arguments."""


class InputError(HoldrankError, ValueError):
    """The votes are not valid: a file, a line, a cell, an item.

    Parameters
    ----------
    problem, repair : str
        What is wrong, and one way to fix it.
    source : str
        Name of the file or other source.
    line, column : int or str, optional
        Where in the file; lines count from 1, a column may be its name.
    found, expected : str
        The invalid text, and what was expected instead.

    Examples
    --------
    >>> print(InputError("item 12 is not declared", source="votes.soi", line=27, found="3: 12",
    ...                  expected="an item from 1 to 9", repair="declare it"))
    votes.soi, line 27: item 12 is not declared; found '3: 12', expected an item from 1 to 9. Fix: declare it
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
        self.source, self.line, self.column, self.found, self.expected = source, line, column, found, expected
        place = [show(source, 200)] if source else []
        if line is not None:
            place.append(f"line {line}")
        if column is not None:
            place.append(f"column {column if isinstance(column, int) else quote(column)}")
        clues = [f"found {quote(found)}"] if found is not None else []
        if expected:
            clues.append(f"expected {expected}")
        super().__init__(problem, place=", ".join(place), clues=", ".join(clues), repair=repair)

    def at(self, source: str, line: int | None) -> InputError:
        """Return the same error at another place."""
        found, expected, repair = self.found, self.expected, self.repair
        return InputError(
            self.problem, source=source, line=line, column=self.column, found=found, expected=expected, repair=repair
        )


class LimitError(HoldrankError):
    """The input is valid, but too large for this call to hold in memory."""


class MissingExtraError(HoldrankError, ImportError):
    """An optional package is missing; the message names the extra to install."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f"{what} needs {package}", repair=f"pip install 'holdrank[{extra}]'")
        self._parts = what, package, extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        return type(self), self._parts  # a worker sends its errors home


class WorkerError(HoldrankError):
    """A worker process or machine was lost; the input is fine."""


def whole_number(value: object) -> int | None:
    """Return a Python or numpy integer as a Python int; None for anything else.

    True, False and 2.0 do not count as whole numbers.

    Examples
    --------
    >>> import numpy as np
    >>> whole_number(np.int64(2)), whole_number(True), whole_number(2.0)
    (2, None, None)
    """
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def real_number(value: object) -> float | None:
    """Return a Python or numpy number as a Python number; None for anything else, such as True.

    A number of lower precision, such as numpy's float32, becomes the simplest fraction that rounds to it, or its
    shortest decimal: a third of the pairs must not become slightly more than a third.

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


def item_number(name: str, items: Sequence[str]) -> int:
    """Return the number of the item of this name; refuse unknown names.

    Examples
    --------
    >>> item_number("b", ["a", "b"])
    1
    """
    if name in items:
        return items.index(name)
    import difflib  # here, for every command starts with this module

    near = difflib.get_close_matches(str(name), items, n=1)
    hint = f"did you mean {quote(near[0])}?" if near else f"items: {', '.join(show(one, 30) for one in items[:8])}"
    raise UsageError(f"there is no item {quote(str(name))}; {hint}")


def reason(error: OSError | ValueError) -> str:
    """Return why a file could not be opened, in the system's words; impossible names raise `ValueError`."""
    words = getattr(error, "strerror", None) or str(error)
    return "embedded null byte" if "embedded null" in words else words  # which Pythons put in different words


def show(text: str, width: int = 80) -> str:
    r"""Return `text` safe for a terminal: control characters escaped, cut to `width` characters.

    Names of items and cells of files are untrusted and must be printed through this function: they may hold escape
    sequences, line breaks or directional marks.

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
