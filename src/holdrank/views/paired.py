"""Paired tests of a score table as a page, with the critical-difference diagram, or as CSV."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from holdrank.analysis.chance.records import paired_record
from holdrank.analysis.chance.tables import PairedTests
from holdrank.files.writers import csv_cell
from holdrank.views.frames import columns_of
from holdrank.views.notebook import paired_picture, stand_alone, table
from holdrank.votes.forms.vocabulary import guard_name
from holdrank.words.chance import probability
from holdrank.words.mean_ranks import diagram_left_out
from holdrank.words.names import named
from holdrank.words.numbers import plural
from holdrank.words.pictures import critical_difference_text

_MOST_PAIRS = 2000  # of a page


def paired_page(found: PairedTests) -> str:
    """Return a page that works offline; names are escaped."""
    record = {"items": list(found.items), **paired_record(found)}
    *first, head = found.summary.splitlines()
    parts = [f'<h1 style="font-size:1.35rem">{escape(head)}</h1>', *(f"<p>{escape(line)}</p>" for line in first)]
    if why := diagram_left_out(record["mean_ranks"], len(found.items)):
        parts.append(f"<p>{escape(why)}</p>")
    else:
        told = escape(critical_difference_text(record))
        parts.append(f'<figure><div class="drawing">{paired_picture(found)}</div></figure>')
        parts.append(f"<details><summary>In words</summary><p>{told}</p></details>")
    rows = [
        (
            named(found.items[i], 80),
            named(found.items[j], 80),
            f"{found.mean_ranks[j] - found.mean_ranks[i]:.2f}" if found.tasks else "–",
            probability(row["p_value"]),
            probability(row["nemenyi_p"]),
            "yes" if row["separated"] else "no",
        )
        for row in record["pairs"][:_MOST_PAIRS]
        for i, j in [row["pair"]]
    ]
    name = "McNemar p" if found.test == "mcnemar" else "Wilcoxon p"
    titles = ["item", "other", "difference of mean ranks", name, "Nemenyi p", "separated"]
    parts.append(f'<h2>Every two items</h2><div class="scroll">{table(titles, rows)}</div>')
    more = len(record["pairs"]) - len(rows)
    parts.append(f"<p>And {plural(more, 'more pair')}, which a .csv file holds.</p>" if more else "")
    return stand_alone(f'<main style="padding:1rem">{"".join(parts)}</main>', "Paired tests")


def paired_csv(found: PairedTests) -> str:
    """Return all pairs as CSV; names are guarded against formulas."""
    columns = columns_of(found)
    lines = [",".join(columns)]
    lines += [
        ",".join(csv_cell(guard_name(cell) if isinstance(cell, str) else repr(cell)) for cell in row)
        for row in zip(*columns.values(), strict=True)
    ]
    return "\n".join(lines) + "\n"


PAIRED_FORMS: dict[str, Callable[[PairedTests], str]] = {".html": paired_page, ".csv": paired_csv}
"""How paired tests are written, by the ending of the file."""
