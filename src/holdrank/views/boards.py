"""A leaderboard as a file: CSV, JSON, Markdown or LaTeX, with every name escaped for the format."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from holdrank.analysis.board import Cell, Leaderboard
from holdrank.errors import UsageError, quote, show
from holdrank.files.writers import csv_cell, write_whole
from holdrank.views.report import latex_text, markdown_text
from holdrank.votes.forms.vocabulary import guard_name
from holdrank.words.numbers import number

__all__ = ["BOARD_FORMS", "board_csv", "board_json", "board_latex", "board_markdown", "write_leaderboard"]

_LONGEST = 400  # signs of a name in Markdown and LaTeX


def write_leaderboard(board: Leaderboard, path: str | os.PathLike[str]) -> None:
    """Write a leaderboard to a file; the extension sets the format: .csv, .json, .md or .tex.

    The file is written completely or not at all. In CSV an apostrophe precedes a name that a spreadsheet would run as a
    formula; Markdown and LaTeX show every name literally. JSON is a list with one object per row.
    """
    ending = Path(path).suffix.lower()
    if ending not in BOARD_FORMS:
        raise UsageError(
            f"cannot tell the output format from {quote(str(path))}",
            repair=f"use one of the extensions {', '.join(BOARD_FORMS)}",
        )
    write_whole(Path(path), BOARD_FORMS[ending](board).encode("utf-8", "backslashreplace"))


def board_csv(board: Leaderboard) -> str:
    """Return the board as CSV; an unknown number is an empty cell."""
    lines = [",".join(board.columns)]
    for row in board.rows:
        cells = (guard_name(cell) if isinstance(cell, str) else _plain(cell) for cell in row.values())
        lines.append(",".join(map(csv_cell, cells)))
    return "\n".join(lines) + "\n"


def board_json(board: Leaderboard) -> str:
    """Return the board as JSON: a list with one object per row."""
    return json.dumps([dict(row) for row in board.rows], indent=1, allow_nan=False) + "\n"


def board_markdown(board: Leaderboard) -> str:
    """Return the board as a table of Markdown."""
    rule = ["---" if name == "model" else "---:" for name in board.columns]
    lines = [[name.replace("_", " ") for name in board.columns], rule]
    lines += [[_shown(name, cell, markdown_text) for name, cell in row.items()] for row in board.rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def board_latex(board: Leaderboard) -> str:
    """Return the board as a tabular of LaTeX, which needs the package booktabs."""
    form = "".join("l" if name == "model" else "r" for name in board.columns)
    head = " & ".join(name.replace("_", " ") for name in board.columns)
    body = [" & ".join(_shown(name, cell, latex_text) for name, cell in row.items()) for row in board.rows]
    lines = [rf"\begin{{tabular}}{{{form}}}", r"\toprule", rf"{head} \\", r"\midrule"]
    lines += [rf"{line} \\" for line in body] + [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


BOARD_FORMS: dict[str, Callable[[Leaderboard], str]] = {
    ".csv": board_csv,
    ".json": board_json,
    ".md": board_markdown,
    ".tex": board_latex,
}
"""How a board is written, by the ending of the file."""


def _plain(cell: int | float | None) -> str:
    return "" if cell is None else repr(cell)


def _shown(name: str, cell: Cell, escaped: Callable[[str], str]) -> str:
    """Return a cell as text: ratings as whole numbers, names escaped."""
    if isinstance(cell, str):
        return escaped(show(cell, _LONGEST))
    if cell is None:
        return ""
    return f"{cell:.0f}" if name.startswith("rating") else number(cell)
