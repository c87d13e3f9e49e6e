from __future__ import annotations

import pytest

import holdrank as hr
from holdrank.errors import quote, show


def test_a_message_has_place_problem_clues_and_repair():
    error = hr.InputError(
        "too many cells", source="a.csv", line=3, column="x", found="1,2", expected="one cell", repair="delete one"
    )
    assert (
        str(error) == "a.csv, line 3, column 'x': too many cells; found '1,2', expected one cell; to repair: delete one"
    )
    assert (error.source, error.line, error.column, error.found) == ("a.csv", 3, "x", "1,2")
    assert str(hr.InputError("odd")) == "odd"
    assert str(hr.InputError("odd", line=2, column=4)) == "line 2, column 4: odd"


def test_control_characters_are_escaped_and_long_text_is_cut():
    assert show("a\x1b[0m\n\u202eb") == "a\\x1b[0m\\n\\u202eb"
    assert show("x" * 100) == "x" * 79 + "…"
    assert len(show("\n" * 100)) == 80
    assert quote("é") == "'é'"


def test_every_error_is_a_holdrank_error():
    for kind in (hr.InputError, hr.LimitError, hr.UsageError):
        assert issubclass(kind, hr.HoldrankError)
    missing = hr.MissingExtraError("reading Parquet", "duckdb", "io")
    assert isinstance(missing, hr.HoldrankError)
    assert isinstance(missing, ImportError)
    assert str(missing) == "reading Parquet needs duckdb; to repair: pip install 'holdrank[io]'"
    with pytest.raises(ValueError, match="odd"):
        raise hr.InputError("odd")
