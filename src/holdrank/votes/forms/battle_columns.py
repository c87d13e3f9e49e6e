"""Which columns of a table hold the two items of a battle and its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from holdrank.errors import InputError, Message, Option, UsageError, quote, show
from holdrank.votes.forms.battle_layouts import ENDS, LANGUAGES, LAYOUTS, NOUNS, THIRDS, BattleLayout
from holdrank.votes.forms.notes import plural
from holdrank.votes.forms.table import Ref, Table
from holdrank.votes.forms.table_options import DEFAULTS, TableOptions
from holdrank.votes.forms.vocabulary import code

_FEW_CODES = 12
_ROWS_TO_TELL = 10_000


@dataclass(frozen=True, slots=True)
class BattleColumns:
    """The columns of the two items and of the result, and how the result is written (see `BattleLayout`)."""

    first: int
    second: int
    result: tuple[int, ...]
    how: str

    @property
    def winner(self) -> int | None:
        """The column of a code or a name, if there is one."""
        return self.result[0] if self.how == "winner" else None


def battle_columns(table: Table, options: TableOptions = DEFAULTS) -> BattleColumns | None:
    """Return the columns of a battle file, named by the caller or known by name; None for any other file."""
    known = first_columns(table)
    first, second, winner = options.first, options.second, options.winner
    if (first is None) != (second is None):
        both = Option("first"), " and ", Option("second")
        raise UsageError(Message(*both, " name the two items of a battle: give both or neither"))
    if first is not None and second is not None:
        pair = table.find(first, "first"), table.find(second, "second")
        return _with_winner(table, pair, winner) if winner is not None else _with_any_result(known, pair)
    for layout in LAYOUTS:
        if layout.first not in known or layout.second not in known:
            continue
        pair = known[layout.first], known[layout.second]
        if winner is None and known.keys() >= set(layout.result):
            return _of_layout(known, layout, pair)
        if winner is not None and layout.how == "winner":
            return _with_winner(table, pair, winner)
    for pair in _pairs(table):
        if winner is not None:
            return _with_winner(table, pair, winner)
        if "winner" in known:
            return BattleColumns(*pair, (known["winner"],), "winner")
    return None


def first_columns(table: Table) -> dict[str, int]:
    """Return the first column of each name, ignoring case and separators."""
    return {name: k for k, name in reversed(list(enumerate(table.plain_names)))}


def _with_winner(table: Table, pair: tuple[int, int], winner: Ref) -> BattleColumns:
    return BattleColumns(*pair, (table.find(winner, "winner"),), "winner")


def _of_layout(known: dict[str, int], layout: BattleLayout, pair: tuple[int, int]) -> BattleColumns:
    return BattleColumns(*pair, tuple(known[name] for name in layout.result), layout.how)


def _with_any_result(known: dict[str, int], pair: tuple[int, int]) -> BattleColumns | None:
    """Return the two columns that a caller named, with the result columns of any known layout."""
    for layout in sorted(LAYOUTS, key=lambda one: one.result != ("winner",)):
        if layout.result and known.keys() >= set(layout.result):
            return _of_layout(known, layout, pair)
    return None


def _pairs(table: Table) -> Iterator[tuple[int, int]]:
    """Yield pairs of columns whose names differ like model_x and model_y, without a third such column."""
    known = first_columns(table)
    for layout in LAYOUTS:
        if layout.how == "winner" and layout.first in known and layout.second in known:
            third = layout.first.replace("first", "third") if layout.first == "first" else f"{layout.first[:-1]}c"
            if third not in known:
                yield known[layout.first], known[layout.second]
    for name, at in known.items():
        for one, other in ENDS:
            if not name.endswith(one) or name == one:
                continue
            stem = name[: -len(one)]
            if f"{stem}{other}" in known and f"{stem}{THIRDS[one]}" not in known and stem.strip("_"):
                yield at, known[f"{stem}{other}"]


def refuse_without_winner(table: Table, *, numbers: bool = False) -> None:
    """Refuse a table in which two columns name items and no known column holds the winner.

    With `numbers`, names may be numbers too, if the column names leave little doubt.
    """
    for first, second in _pairs(table):
        is_text = not any(table.is_numeric(k, ()) for k in (first, second))
        noun = table.plain_names[first].split("_")[0].rstrip("12") in NOUNS
        ids = numbers and noun and all(_whole(table, k) for k in (first, second))
        if (is_text and _overlap(table, first, second)) or ids:
            raise _no_winner(table, first, second)


def _whole(table: Table, column: int) -> bool:
    return all(cell.strip().lstrip("-").isdecimal() for cell in table.text(column)[:_ROWS_TO_TELL])


def _overlap(table: Table, first: int, second: int) -> bool:
    """Whether two columns look like names of the same items: some name is in both, or stands often in one."""
    one, other = (table.text(k)[:_ROWS_TO_TELL] for k in (first, second))
    return bool(set(one) & set(other)) or len({*one, *other}) < 2 * len(one)


def _no_winner(table: Table, first: int, second: int) -> InputError:
    names = [show(table.names[k], 40) for k in (first, second)]
    likely = next(_likely_winners(table, first, second), None)
    if likely is None:
        known = "no column says who won"
        winner = Option("winner")
    else:
        values = Counter(table.text(likely)).most_common(6)
        listing = ", ".join(f"{quote(value, 30)} {plural(count, 'time')}" for value, count in values)
        known = f"no known column says who won; perhaps {quote(table.label(likely), 40)}: {listing}"
        winner = Option("winner", show(table.names[likely], 40))
    return table.fault(
        f"{quote(names[0], 40)} and {quote(names[1], 40)} name the two items of a battle, but {known}",
        "a winner column, with model_a, model_b or tie",
        Message("set ", Option("first", names[0]), ", ", Option("second", names[1]), " and ", winner),
        found=", ".join(table.names[:12]),
    )


def _likely_winners(table: Table, first: int, second: int) -> Iterator[int]:
    """Yield columns that may hold the winner: first those with known codes or names, then those with few values."""
    few = []
    for k in range(len(table.names)):
        if k in (first, second):
            continue
        cells = table.text(k)[:_ROWS_TO_TELL]
        rows = zip(table.text(first), table.text(second), cells, strict=False)
        if all(cell and cell in (a, b) for a, b, cell in rows):
            yield k
        values = {code(cell) for cell in cells}
        if any(values <= language.keys() for language in LANGUAGES.values()):
            yield k
        if 1 < len(values) < len(cells) and len(values) <= min(_FEW_CODES, max(len(cells) // 2, 2)):
            few.append(k)
    yield from few
