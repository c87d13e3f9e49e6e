from __future__ import annotations

import pickle

import pytest

import holdrank as hr
from conftest import ROOT
from holdrank.errors import quote, show


def test_a_message_has_place_problem_clues_and_repair():
    error = hr.InputError(
        "too many cells", source="a.csv", line=3, column="x", found="1,2", expected="one cell", repair="delete one"
    )
    assert str(error) == "a.csv, line 3, column 'x': too many cells; found '1,2', expected one cell. Fix: delete one"
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
    assert str(missing) == "reading Parquet needs duckdb. Fix: pip install 'holdrank[io]'"
    with pytest.raises(ValueError, match="odd"):
        raise hr.InputError("odd")


def test_options_in_messages_are_spelt_for_whoever_reads_them():
    from holdrank.cli.options import as_option
    from holdrank.errors import Message, Option
    from holdrank.studio.limits import StudioError

    inner = Message(Option("rank", 3), " and ", Option("lower_is_better", True))
    error = hr.InputError(
        'a cell holds format="x"', source="a.csv", line=2, found='rank="y"', repair=Message("set ", inner)
    )
    head = 'a.csv, line 2: a cell holds format="x"; found \'rank="y"\'. Fix: '
    assert str(error) == f"{head}set rank=3 and lower_is_better=True"
    assert error.told(as_option) == f"{head}set --rank-column 3 and --lower-is-better all"
    assert StudioError.of(error).repair == "set “Rank column” to 3 and “Lower is better” to all"
    assert StudioError.of(error).message == 'a cell holds format="x"; found \'rank="y"\''


def test_errors_keep_their_fields_on_the_way_home_from_a_worker():
    from holdrank.errors import Message, Option

    repair = Message("set ", Option("format"))
    for error in (hr.UsageError("odd", repair=repair), hr.InputError("odd", line=3, repair=repair)):
        back = pickle.loads(pickle.dumps(error))
        assert (type(back), str(back), back.problem, back.place) == (type(error), str(error), "odd", error.place)
        assert back.repair.parts == repair.parts


def test_a_repair_is_a_field_and_no_part_of_the_text():
    """Where a message held its repair as text, pages and pipelines had to take it apart again."""
    for path in (ROOT / "src" / "holdrank").rglob("*.py"):
        assert path.name == "errors.py" or "Fix:" not in path.read_text("utf-8"), path
