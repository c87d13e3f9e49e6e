"""Tables of many rows are laid out without rich, to the same text."""

from __future__ import annotations

import numpy as np
import pytest

from holdrank.cli import printing


def rows_of(kind):
    rng = np.random.default_rng(3)
    names = {"plain": ["Anna", "Bob", ""], "wide": ["日本", "é", "naïve café", "x"], "long": ["word " * 30, "short"]}
    names["several lines"] = ["one\ntwo", "three"]
    return [(str(k), f"{rng.normal():.3g}", names[kind][k % len(names[kind])], "▇" * int(k % 7)) for k in range(400)]


@pytest.mark.parametrize("kind", ["plain", "wide", "long", "several lines"])
def test_long_tables_look_like_short_ones(kind, monkeypatch, capsys):
    shown = []
    for long in (10**9, 300):
        monkeypatch.setattr(printing, "_LONG", long)
        table = printing.plain_table("place", "number")
        table.add_column("name")
        table.add_column("curve", no_wrap=True)
        for row in rows_of(kind):
            table.add_row(*row)
        printing.print_table("Title", None, table)
        shown.append(capsys.readouterr().out)
        assert (table.row_count == 400) == (long == 10**9 or kind in ("long", "several lines"))
    assert shown[0] == shown[1]
    assert shown[0].count("\n") >= 402
