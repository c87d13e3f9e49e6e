"""Ballots in text that is no table: what is wrong with a line, a name or a number is said where it stands."""

from __future__ import annotations

import pytest

from holdrank.errors import InputError
from holdrank.files import read_votes, sniff, validate

from reading import read, wins

NAMES = '"x"\n"y"\n"Board"\n'


def sniffed(text, extension=""):
    return sniff.text_form(text, extension, "votes")[0]


def of_file(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_votes(path)


def test_blt_is_known_by_its_lines_where_no_extension_tells():
    votes = read(f"2 1\n3 1 2 0\n1 2 1 0\n0\n{NAMES}")
    assert votes.reading.format == "blt"
    assert wins(votes) == {("x", "y"): 3, ("y", "x"): 1}
    # Without the 0 at its end, or with a weight of 0, such a line is no ballot but two numbers of a table.
    for text in ("2 1\n3 1 2\n1 2 1\n", "2 1\n0 1 0\n1 0\n", "2 1\n"):
        assert sniffed(text) != "blt"
    assert sniffed("2 1\n0 1 0\n") == "order"


def test_a_blt_file_may_begin_with_a_ballot_that_counts_nothing(tmp_path):
    votes = of_file(tmp_path, "a.blt", f"2 1\n0 1 2 0\n3 2 1 0\n0\n{NAMES}")
    assert votes.reading.format == "blt"
    assert wins(votes) == {("y", "x"): 3}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.blt", f"2 1\n99999999999999999 1 2 0\n1 2 0\n0\n{NAMES}", "line 2: the weight of a ballot is too large"),
        ("a.blt", f"2 1\n3 7 0\n0\n{NAMES}", "line 2: an item is not declared"),
        ("a.blt", f"2 1\n0\n{NAMES}", "there are no ballots: nothing to aggregate"),
        ("a.blt", "90000 1\n3 1 2 0\n0\n", "line 1: the file declares more items than it can name"),
        ("a.blt", '3 1\n3 1 2 0\n1 3 0\n0\n"x"\n"y"\n', "line 6: 2 names for 3 items"),
        (
            "a.csv",
            '3,1,\n3,1,2,\n1,2,1,\n"Candidate 1","x","p",\n"Candidate 2","y","q",\n',
            "2 candidates named, 3 decl",
        ),
        (
            "a.csv",
            '2,1,\n3,1,2,\n"Candidate 1","x",\n"Candidate 2","y",\n"Candidate 3","z",\n',
            "3 candidates named, 2",
        ),
        ("a.abif", "0:a>b\n99999999999999999:b>a\n", "line 2: the weight of a ballot is too large"),
        ("a.abif", "# nothing\n", "there are no ballots: nothing to aggregate"),
        ("a.pgn", "[no tags here\n", "there are no games"),
        ("a.mat", "2\n0 one\n1 0\n", "a cell of the matrix is not a number"),
        ("a.mat", "2\n0 -3\n1 0\n", "a number of the matrix is negative or too large"),
        ("a.mat", "2\n0 1e30\n1 0\n", "a number of the matrix is negative or too large"),
    ],
)
def test_what_is_wrong_is_said_where_it_stands(tmp_path, name, text, words):
    with pytest.raises(InputError, match=words):
        of_file(tmp_path, name, text)


FAULTS = [
    ("a.abif", "2:a>>b\nhello\n3:a>b\n", [1, 2], {}),
    ("a.blt", '3 1\n3 1 1 0\n1 9 0\n2 1 2 0\n0\n"x"\n', [2, 3, 6], {}),
    ("a.blt", "90000 1\n3 1 2 0\n", [1], {}),
    ("a.blt", f"2 1\n3 7 0\n0\n{NAMES}", [2], {}),
    ("a.csv", '3,1,\n3,1,1,\n1,9,\n2,1,2,\n"Candidate 1","x",\n', [1, 2, 3], {}),
    ("a.csv", "weight,x,y\nten,1,2\n-1,1,2\n,1,2\n1,2,1\n", [2, 3, 4], {"format": "rank-columns"}),
    ("a.csv", "voter,item,rank\n,x,1\na,x,1\na,y,2\n,y,2\n", [2, 5], {}),
    ("a.csv", "model_a,model_b,winner,judge\nx,y,a,\nx,y,b,j\ny,x,a,\n", [2, 4], {"voter": "judge"}),
    ("a.csv", "x,y,z\n1,2\n2\n", [2, 3], {"format": "rank-columns"}),
]


@pytest.mark.parametrize(("name", "text", "lines", "options"), FAULTS)
def test_validate_lists_the_faults_of_all_lines_each_once(tmp_path, name, text, lines, options):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    found = validate(path, **options)
    assert [problem.line for problem in found.problems] == lines
    assert (found.total, found.votes) == (len(lines), None)


def test_two_numbers_over_text_are_a_header_and_no_scottish_council(tmp_path):
    votes = of_file(tmp_path, "a.csv", "3,4\n1,2.5\n2,1.5\n1.5,7\n")
    assert votes.reading.format != "scottish"
    assert votes.items == ("3", "4")
