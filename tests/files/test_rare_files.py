"""Files of known forms in rare states: written and read back, counted in parts, or refused with the reason."""

from __future__ import annotations

import pytest

import holdrank as hr
from holdrank.errors import InputError, UsageError
from holdrank.files import read_votes, sniff, write_votes
from holdrank.files.large import read_large, rows
from holdrank.files.read_options import ReadOptions
from holdrank.votes.pairs import PairCounts

from reading import read


def test_names_that_are_those_of_battles_survive_a_table_of_ranks(tmp_path):
    votes = hr.Votes.from_orders([["model_a", "model_b", "winner"], ["winner", "model_a", "model_b"]], weights=[2, 1])
    write_votes(votes, tmp_path / "votes.csv", format="rank-columns")
    again = read_votes(tmp_path / "votes.csv", format="rank-columns")
    assert again == votes
    assert read_votes(tmp_path / "votes.csv").items == votes.items  # whatever the columns are called


def test_preflib_goes_by_the_extension(tmp_path):
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[2, 1])
    for format in ("preflib", "soc", None):
        write_votes(votes, tmp_path / "votes.soc", format=format)
        assert read_votes(tmp_path / "votes.soc") == votes
        assert "DATA TYPE: soc" in (tmp_path / "votes.soc").read_text(encoding="utf-8")
    with pytest.raises(UsageError, match=r"contradicts the extension \.soc"):
        write_votes(votes, tmp_path / "votes.soc", format="toc")


def test_an_extension_of_preflib_is_believed():
    assert sniff.text_form("hello\nworld\n", ".soc", "votes")[0] == "preflib"
    assert sniff.text_form("hello\nworld\n", "", "votes")[0] == "table"


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("item,x,y\na,0,1\nb,2,0\n", {"format": "win-matrix"}, "the row names and the column names differ"),
        (
            "# ALTERNATIVE NAME 1: x\n# ALTERNATIVE NAME 2: y\n99999999999999999: 1,2\n1: 2,1\n",
            {},
            "line 3.*(too large|2\\*\\*46)",
        ),
        ("a, ,c\n1,2,3\n2,1,3\n", {"format": "rank-columns"}, "name"),
    ],
)
def test_what_is_wrong_is_said(text, options, words):
    with pytest.raises(InputError, match=words):
        read(text, **options)


def test_counts_of_pairs_are_added_up_as_they_stand(tmp_path):
    pytest.importorskip("duckdb")
    path = tmp_path / "counts.csv"
    path.write_text("i,j,wins_i,wins_j,ties\na,b,3,2,1\nb,a,2,2,0\na,b,3,2,1\n", encoding="utf-8")
    counts = hr.count_pairs(path)
    # a above b: 3 + 2 + 3 wins, and half of two ties.
    assert counts.wins().tolist() == [[0, 9], [7, 0]]
    assert counts == PairCounts.from_votes(read_votes(path))


def test_rows_without_marks_are_nothing_to_aggregate_however_many(tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    path = tmp_path / "blank.csv"
    path.write_text("rank1,rank2\n" + "-,-\nNA,\n,NA\n-,NA\n" * 3, encoding="utf-8")
    monkeypatch.setitem(rows.MOST_CELLS, "positions", 2)
    with pytest.raises(InputError, match="nothing to aggregate"):
        read_large(path, None, ReadOptions())


def test_an_index_of_a_frame_gets_a_name_that_no_column_has():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"item": [3.5, 1.25], "item'": [2.5, 0.5]}, index=["x", "y"])
    votes = read_votes(frame, format="score-table")
    assert votes.items == ("x", "y")
    assert votes.wins().tolist() == [[0, 2], [0, 0]]
