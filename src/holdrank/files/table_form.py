"""The format of a table, detected from the names and cells of its columns; an ambiguous table is refused."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, Message, Option, quote, show
from holdrank.files.ranks_or_scores import may_be_ranks, odd_column, parts_of_rankings, rank_evidence
from holdrank.files.result_tables import force_columns, refuse_statistics, refuse_statistics_of_names
from holdrank.votes.forms.battle_columns import battle_columns, first_columns, refuse_without_winner
from holdrank.votes.forms.battles import is_win_matrix, pair_count_columns
from holdrank.votes.forms.marks import columns_of_items, long_columns, slot_columns
from holdrank.votes.forms.orders import position_columns
from holdrank.votes.forms.scores import find_key
from holdrank.votes.forms.table import Problems, Table, is_blank, is_number, no_name, weight_column
from holdrank.votes.forms.table_options import TableOptions
from holdrank.votes.forms.vocabulary import (
    BLANKS,
    FIRST_ITEM_NAMES,
    ITEM_NAMES,
    LOW_WORDS,
    NO_ITEM_NAMES,
    NO_SCORE_NAMES,
    NUMBERING_NAMES,
    VAGUE_ITEM_NAMES,
    WEIGHT_NAMES,
    plain,
)

_MOST_VOTERS = 64  # beyond, no column is tried as one that is not a voter


def looks_like_lists(names: Sequence[str]) -> bool:
    """Whether a header is ``name, 1, 2, …, k``, which means one list per row."""
    if len(names) < 3 or plain(names[0]) in WEIGHT_NAMES:
        return False
    return [name.strip() for name in names[1:]] == [str(k) for k in range(1, len(names))]


def named_form(table: Table) -> tuple[str, str] | None:
    """Return the format that the names of the columns show, and the reason; None if they show none."""
    counts = pair_count_columns(table)
    if counts is not None:
        return "pair-counts", _columns(table, counts)
    battle = battle_columns(table)
    if battle is not None:
        return "battles", _columns(table, [battle.first, battle.second, *battle.result])
    slots = slot_columns(table)
    if slots is not None:
        return "multi-way", _columns(table, [k for slot in slots for k in slot])
    places = position_columns(table)
    if places is not None:
        return "positions", _columns(table, places)
    if looks_like_lists(table.names):
        return "lists", f"columns numbered 1 to {len(table.names) - 1}"
    for scores in (False, True):
        found = long_columns(table, scores)
        if found is not None:
            voter, key, mark = found
            names = table.text(voter) if table.rows else []  # a writer asks about a header alone
            if len(names) > 1 and len(set(names)) == len(names) and all(name.strip() for name in names):
                raise table.fault(
                    "no voter marks more than one item, so nothing is compared",
                    "the same voter on several rows",
                    Message(
                        "name the column of the voter with ",
                        Option("voter"),
                        ", or set ",
                        Option("format"),
                        " if a row is something else",
                    ),
                    row=1,
                    column=voter,
                )
            form = "long-scores" if scores else "long-ranks"
            if not scores:
                _refuse_contests(table)
            refuse_statistics_of_names(table, voter, names, Message("set ", Option("format", form)))
            return form, _columns(table, [voter, *key, mark])
    return None


def _refuse_contests(table: Table) -> None:
    """Refuse marks of several contests: a ballot ranks the candidates of one."""
    column = first_columns(table).get("contest")
    values = list(dict.fromkeys(table.text(column))) if column is not None and table.rows else []
    if column is not None and len(values) > 1:
        raise table.fault(
            f"{len(values)} contests in this file: {', '.join(quote(value, 30) for value in values[:6])}",
            "the marks of one contest",
            Message("choose one with ", Option("where", f"{table.names[column]}={show(values[0], 30)}")),
            column=column,
            found=values[1],
        )


def _columns(table: Table, used: Sequence[int]) -> str:
    names = ", ".join(table.label(k) for k in used[:6])
    return f"columns {names}{', …' if len(used) > 6 else ''}"


def table_form(table: Table, options: TableOptions) -> tuple[str, str]:
    """Return the form of a table and the reason, or refuse where two are equally plausible."""
    columns, item, voter = options.columns, options.item, options.voter
    for option, form in (("winner", "battles"), ("first", "battles"), ("rank", "long-ranks"), ("score", "long-scores")):
        if getattr(options, option) is not None:
            return form, f"the option {option}="
    if columns is None and item is None and (voter is None or battle_columns(table) is not None):
        told = named_form(table)
        if told is not None:
            return told
        refuse_without_winner(table)
        if is_win_matrix(table):
            return "win-matrix", "the columns have the names of the rows"
    elif item is not None and columns is None:
        for scores, form in ((False, "long-ranks"), (True, "long-scores")):
            if long_columns(table, scores, options) is not None:
                return form, "the option item="
    if item is not None:
        key = find_key(table, item)
        _check_voters(table, key, options)
        _check_score_table(table, key, options, shape_known=True)
        return "score-table", "the option item="
    blanks = options.blanks_or(BLANKS)
    names = item_column(table, blanks) if voter is None else None
    if names is not None:
        _check_voters(table, range(names + 1), options)
        ranked = any(plain(table.names[k]) == "rank" for k in range(names))  # people are numbered, not ranked
        _check_score_table(table, range(names + 1), options, shape_known=ranked, numbered=names > 0)
        which = "first column is" if names == 0 else "column of the items is"
        return "score-table", f"the {which} called {quote(table.names[names], 30)}"
    weights = weight_column(table, options.weight)
    used = columns_of_items(table, columns, voter, weights)
    if columns is None:
        nameless = next((k for k in used if not table.names[k].strip()), None)
        if nameless is not None:
            raise no_name(table, nameless)
        text = [k for k in used if not table.is_numeric(k, blanks) and _filled(table, k)]
        if text:
            refuse_statistics(table, used, force_columns("score-table"))
            raise _unclear(table, text[0], blanks)
        odd = next((k for k in used if plain(table.names[k]) in NO_SCORE_NAMES), None)
        return _ranks_or_scores(table, used, used, blanks, odd)
    # The unused columns count as well: three of a voter's four ranks are ambiguous.
    every = [k for k in columns_of_items(table, None, voter, weights) if table.names[k].strip() and k not in used]
    return _ranks_or_scores(table, used, [*used, *(k for k in every if table.is_numeric(k, blanks))], blanks)


def item_column(table: Table, blanks: Collection[str] = BLANKS) -> int | None:
    """Return the column whose name says that a row is an item: the first, but for columns that number the rows."""
    for k, name in enumerate(map(plain, table.names)):
        if name in (FIRST_ITEM_NAMES if k == 0 else ITEM_NAMES):
            return k
        if k == 0 and name in VAGUE_ITEM_NAMES and _names_before_decimals(table, blanks):
            return 0
        if name not in NUMBERING_NAMES or not table.is_numeric(k, blanks):
            return None
    return None


def _names_before_decimals(table: Table, blanks: Collection[str]) -> bool:
    """Whether the first column holds text, all different, and the others numbers, not all of them whole."""
    others = range(1, len(table.names))
    names = table.text(0)
    if not others or table.is_numeric(0, ()) or not all(map(str.strip, names)) or len(set(names)) < len(names):
        return False
    if not all(table.is_numeric(k, blanks) and table.names[k].strip() for k in others):
        return False
    values = _matrix(table, others, blanks)
    return bool((values[~np.isnan(values)] % 1 != 0).any())


def _check_voters(table: Table, key: Sequence[int], options: TableOptions) -> None:
    """Refuse columns of a score table that are probably not voters."""
    if options.columns is not None:
        return
    blanks = options.blanks_or(BLANKS)
    others = [k for k in range(len(table.names)) if k not in key]
    refuse_statistics(table, others, force_columns("score-table"))
    refuse_statistics_of_names(table, key[-1], table.text(key[-1]), force_columns("score-table"))
    used = [k for k in others if table.is_numeric(k, blanks)]
    if not options.lower_is_better:
        low = next((k for k in used if LOW_WORDS & set(plain(table.names[k]).split("_"))), None)
        if low is not None:
            raise table.fault(
                "lower may be better in this column, but higher scores would win",
                "columns whose direction is known",
                Message(
                    "set ",
                    Option("lower_is_better", show(table.names[low], 30)),
                    " if lower is better there, or name the voter columns with ",
                    Option("columns"),
                ),
                column=low,
            )
    odd = next((k for k in used if plain(table.names[k]) in NO_ITEM_NAMES - LOW_WORDS), None)
    if odd is not None:
        raise table.fault(
            "this column may not be a voter, but its numbers would count as scores",
            "voter columns",
            Message("name the voter columns with ", Option("columns")),
            column=odd,
        )
    names = {cell.strip() for cell in table.text(key[-1])}
    if len(used) > 1 and names == {table.names[k].strip() for k in used}:
        raise table.fault(
            "the columns have the names of the items: this is a table of wins, not of scores",
            "one voter per column",
            Message(
                "write one row per pair with the columns i, j, wins_i, wins_j, or name the columns with ",
                Option("columns"),
                " if they are voters",
            ),
            found=", ".join(table.names[k] for k in used[:12]),
        )


def _filled(table: Table, column: int) -> bool:
    return any(cell.strip() for cell in table.text(column))


def _unclear(table: Table, text: int, blanks: Collection[str]) -> InputError:
    """Refuse a table with unknown column names and text cells, with the most likely fix."""
    bare = [cell.strip() for cell in table.text(text)]
    filled = [k for k, cell in enumerate(bare) if not is_blank(cell, blanks)]
    row = next((k for k in filled if not is_number(bare[k])), filled[0] if filled else 0)
    if text == 0 and all(table.is_numeric(k) for k in range(1, len(table.names))):
        repair = Message(
            "set ",
            Option("format", "score-table"),
            " if a row is an item, or ",
            Option("voter"),
            " and ",
            Option("format", "rank-columns"),
            " or ",
            Option("format", "score-columns"),
            " if a row is a voter",
        )
    else:
        roles = (part for name in ("item", "voter", "rank") for part in (", ", Option(name)))
        repair = Message("set ", Option("format"), " and name the columns to use, such as ", Option("columns"), *roles)
    return table.fault(
        "cannot detect the table format: this column holds text, and its name is not a known one",
        "a known layout, such as model_a, model_b, winner or rank1, rank2 or voter, item, rank",
        repair,
        row=row,
        column=text,
    )


def _matrix(table: Table, used: Sequence[int], blanks: Collection[str]) -> NDArray[np.float64]:
    ignore = Problems(strict=False)  # faulty cells are reported by the reader itself
    values = np.column_stack([table.numbers(k, ignore, blanks=blanks) for k in used])
    return np.where(np.isfinite(values), values, np.nan)


def _ranks_or_scores(
    table: Table, used: Sequence[int], every: Sequence[int], blanks: Collection[str], odd: int | None = None
) -> tuple[str, str]:
    """Distinguish ranks from scores by the columns in use; all columns must agree.

    The column `odd` does not have the name of an item; if it holds ranks, it still counts as an item.
    """
    values = _matrix(table, used, blanks)
    verdict = rank_evidence(values)
    if len(every) > len(used):
        values = _matrix(table, every, blanks)
        if verdict != rank_evidence(values):
            verdict = None
    if verdict != "ranks" and len(every) == len(used):
        refuse_without_winner(table, numbers=True)
    if verdict == "ranks":
        return "rank-columns", "every row holds ranks from 1"
    if verdict == "scores":
        if len(every) == len(used):
            refuse_statistics(table, used, force_columns("score-columns"))
        if odd is None and len(every) == len(used):
            lone = odd_column(values)
            odd = None if lone is None else used[lone]
        if odd is None:
            return "score-columns", "the cells cannot be ranks"
        raise table.fault(
            "this column may not be an item, but its numbers would count as scores",
            "item columns",
            Message(
                "name the item columns with ",
                Option("columns"),
                ", and set ",
                Option("format", "score-columns"),
                " or ",
                Option("format", "rank-columns"),
            ),
            column=odd,
        )
    forms = Message("set ", Option("format", "rank-columns"), " or ", Option("format", "score-columns"))
    if odd is not None or (not may_be_ranks(values) and may_be_ranks(values, spare=True)):
        columns = Option("columns")
        forms = Message("name the item columns with ", columns, ", because one may not be an item, and ", forms)
    raise table.fault(
        "the cells may be ranks (1 is best) or scores (higher is better)",
        "rows that fit only one of the two readings",
        forms,
        row=0,
        found=", ".join(table.cell(k, 0) for k in used[:20]),
    )


def _check_score_table(
    table: Table, key: Sequence[int], options: TableOptions, *, shape_known: bool, numbered: bool = False
) -> None:
    """Refuse a table of items whose cells may be ranks, down its columns or (unless known) along its rows.

    On ballots, numbers that all differ suggest ranks. Here they prove nothing: benchmark scores seldom repeat. With
    `numbered` the last column of `key` names the items, and those before it number the rows.
    """
    if options.lower_is_better:
        return  # a caller who sets this option says that the cells are scores
    if options.columns is None:
        used = [k for k in range(len(table.names)) if k not in key]
    else:
        used = table.find_all(options.columns, "columns")
    used = [k for k in used if _filled(table, k)]
    blanks = options.blanks_or(BLANKS)
    if not used or not all(table.is_numeric(k, blanks) and table.names[k].strip() for k in used):
        return  # the reader says what is wrong
    values = _matrix(table, used, blanks)
    marks = values[~np.isnan(values)]
    people = not shape_known and len(used) > 1 and plain(table.names[key[-1]]) == "name"
    people = people and bool(((marks % 1 == 0) & (marks >= 0) & (marks <= 10)).all())
    if np.isin(marks, (0, 1)).all() and not people:
        return  # passed or failed: higher is better
    # One column may be something else: a total, a year.
    parts = [np.delete(values, k, axis=1) for k in range(len(used))] if 2 < len(used) <= _MOST_VOTERS else []
    down = any(may_be_ranks(part.T, strict=True) for part in (values, *parts)) or parts_of_rankings(values)
    along = not shape_known and len(used) > 1 and may_be_ranks(values, strict=True)
    if along or down or people:
        raise _doubtful(table, key, used, along=along, down=down, numbered=numbered)


def _doubtful(
    table: Table, key: Sequence[int], used: Sequence[int], *, along: bool, down: bool, numbered: bool
) -> InputError:
    """Return the refusal of a table whose rows may be voters (`along`, or people), or whose columns may be ranks."""
    low = Message(", and ", Option("lower_is_better", True), " if lower is better")
    name, columns = show(table.names[key[-1]], 30), Option("columns")
    table_of = Message(Option("format", "score-table"))
    if numbered:
        table_of = Message(Option("item", name), ", ", columns, " and ", table_of)
    voter = columns if numbered else Option("voter", name)
    if along:
        return table.fault(
            "a row may be an item with its scores, or a voter with ranks",
            "rows that fit only one of the two readings",
            Message(
                "set ",
                table_of,
                " if a row is an item",
                low if down else "",
                ", or ",
                voter,
                " and ",
                Option("format", "rank-columns"),
                " if a row is a voter",
            ),
            row=0,
            found=", ".join(table.cell(k, 0) for k in (*key, *used[:20])),
        )
    if down:
        return table.fault(
            "the columns may hold ranks (1 is best) or scores (higher is better)",
            "columns that fit only one of the two readings",
            Message("set ", table_of, low),
            column=used[0],
            found=", ".join(table.text(used[0])[:20]),
        )
    return table.fault(
        "a row may be an item with its marks, or a voter with marks for items",
        "a first column whose name says what a row is, such as item or voter",
        Message(
            "set ",
            table_of,
            " if a row is an item, or ",
            voter,
            " and ",
            Option("format", "score-columns"),
            " if a row is a voter",
        ),
        row=0,
        column=key[-1],
    )
