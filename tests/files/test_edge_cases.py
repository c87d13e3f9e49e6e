"""The 65 numbered edge cases of vote files, each under its number; every input is made here."""

from __future__ import annotations

import csv
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from holdrank.errors import HoldrankError, InputError, LimitError
from holdrank.files import read_votes, validate, write_votes
from holdrank.votes.votes import Votes


@pytest.fixture
def save(tmp_path):
    """Write text or bytes under a name and return the path."""

    def write(content: str | bytes, name: str = "votes.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def read(save):
    def reading(content: str | bytes, name: str = "votes.csv", **options) -> Votes:
        return read_votes(save(content, name), **options)

    return reading


@pytest.fixture
def refused(save):
    """Read what must be refused and return the error, whose message must say where, what and how to fix it."""

    def refusing(content: str | bytes, name: str = "votes.csv", *, line: int | None, found: str, **options):
        with pytest.raises(InputError) as caught:
            read_votes(save(content, name), **options)
        error = caught.value
        text = str(error)
        assert name in text
        assert error.line == line
        assert line is None or f", line {line}" in text
        assert found in text
        assert "expected " in text
        assert ". Fix: " in text
        assert "\n" not in text
        return error

    return refusing


def preflib(body: str, names: list[str] | str = "abc", kind: str = "toi", first: int = 1, **keys: object) -> str:
    head = [f"# DATA TYPE: {kind}", f"# NUMBER ALTERNATIVES: {len(names)}"]
    head += [f"# {key.replace('_', ' ')}: {value}" for key, value in keys.items()]
    head += [f"# ALTERNATIVE NAME {k}: {name}" for k, name in enumerate(names, start=first)]
    return "\n".join([*head, body]) + "\n"


def ballots(votes: Votes) -> dict[tuple[tuple[str, ...], ...], float]:
    """Return {groups best first: weight}, a form that tells everything about the ballots."""
    out: dict[tuple[tuple[str, ...], ...], float] = {}
    for ranks, weight in zip(votes.ranks, votes.weights, strict=True):
        groups = tuple(
            tuple(votes.items[k] for k in np.flatnonzero(ranks == rank)) for rank in range(1, int(ranks.max()) + 1)
        )
        out[groups] = out.get(groups, 0.0) + float(weight)  # voters with different scores may rank alike
    return out


def order(*names: str) -> tuple[tuple[str, ...], ...]:
    return tuple((name,) for name in names)


def note(votes: Votes, *words: str) -> bool:
    return any(all(word in text for word in words) for text in votes.notes)


def test_case_01_multiplicity_zero_is_ignored_and_noted(read):
    votes = read(preflib("0: 2,1,3\n4: 1,2,3", kind="soc"), "v.soc")
    assert ballots(votes) == {order("a", "b", "c"): 4}
    assert note(votes, "1 ballot", "weight 0")


def test_case_02_blanks_after_commas(read):
    plain = read(preflib("2: 1,{2,3}\n1: 3"), "v.toi")
    spaced = read(preflib("2 : 1, { 2 ,3 }\n  1:\t3  "), "v.toi")
    assert ballots(spaced) == ballots(plain) == {(("a",), ("b", "c")): 2, order("c"): 1}


def test_case_03_braces_around_one_item(read):
    assert ballots(read(preflib("5: {2},1,{3}", kind="soc"), "v.soc")) == {order("b", "a", "c"): 5}


@pytest.mark.parametrize("kind", ["soi", "toi"])
def test_case_04_empty_group_in_an_ordinal_file(refused, kind):
    refused(preflib("1: 1,2,3\n1: 1,{},2", kind=kind), f"v.{kind}", line=7, found="1: 1,{},2")


def test_case_04_empty_group_is_legal_in_cat(read):
    text = preflib("3: {},1,{2,3}", kind="cat", CATEGORY_NAME_1="x", CATEGORY_NAME_2="y", CATEGORY_NAME_3="z")
    assert ballots(read(text, "v.cat")) == {(("a",), ("b", "c")): 3}


@pytest.mark.parametrize(
    "line", ["1: {2,{3}", "1: {2,{3}}", "1: 2}", "1: {1,2", "1: 1{2}", "1: {1}2", "1: {1,}", "1: }{", "1: {1 2}"]
)
def test_case_05_unbalanced_or_nested_braces(refused, line):
    refused(preflib(line), "v.toi", line=6, found=line)


def test_case_06_punctuation_in_names_splits_at_the_first_colon_only(read):
    names = ["Smith, John", "http://x.org/a: b", "one; two", "k: v: w"]
    votes = read(preflib("1: 4,3,2,1", names, "soc"), "v.soc")
    assert votes.items == tuple(names)


def test_case_07_braces_and_hash_in_names(read):
    names = ["http://x/{95603B7C-1}", "Comment #53", "# not a comment", "{1,2}"]
    votes = read(preflib("1: 1,2,3,4", names, "soc"), "v.soc")
    assert votes.items == tuple(names)
    assert ballots(votes) == {order(*names): 1}


def test_case_08_quotes_in_the_header_are_part_of_the_name(read):
    assert read(preflib("1: 1,2", ['"Carol Becker"', '"X"'], "soc"), "v.soc").items == ('"Carol Becker"', '"X"')
    old = '2\n1,"Carol Becker"\n2,X\n1,1,1\n1,2,1\n'
    assert read(old, "v.soc").items == ('"Carol Becker"', "X")


def test_case_09_names_that_are_numbers_are_not_ids(read):
    votes = read(preflib("7: 3,1,2", ["2", "3", "1"], "soc"), "v.soc")
    assert ballots(votes) == {order("1", "2", "3"): 7}


def test_case_10_an_item_called_na_is_text(read):
    assert read(preflib("1: 1,2", ["NA", "NullModel"], "soc"), "v.soc").items == ("NA", "NullModel")
    votes = read("model,t1,t2\nNA,10,20\nNullModel,20,10\nnan,30,0\n")
    assert votes.items == ("NA", "NullModel", "nan")
    assert read("model_a,model_b,winner\nNA,None,model_a\n").items == ("NA", "None")


def test_case_11_names_that_differ_by_case_stay_apart(read):
    votes = read(preflib("2: 1,2,3", ["Ann", "ANN", "Bo"], "soc"), "v.soc")
    assert votes.items == ("Ann", "ANN", "Bo")
    assert note(votes, "differ only by case or spaces", "'Ann' and 'ANN'")
    votes = read("rank1,rank2\nAnn,ann\n")
    assert votes.items == ("Ann", "ann")
    assert note(votes, "differ only by case")


def test_case_12_names_that_differ_by_blanks_stay_apart(read):
    votes = read(preflib("2: 1,2,3", ["Statement 3 - ", "Statement 3 -", "Ellen   H"], "soc"), "v.soc")
    assert votes.items == ("Statement 3 - ", "Statement 3 -", "Ellen   H")
    assert note(votes, "1 group", "spaces")
    votes = read('rank1,rank2\n"Ellen  H","Ellen H"\n')
    assert votes.items == ("Ellen  H", "Ellen H")
    assert note(votes, "1 group", "spaces")


def test_case_13_two_items_with_one_name(read, refused):
    votes = read(preflib("2: 3,1,2", ["x", "x", "y"], "soc"), "v.soc")
    assert votes.items == ("x #1", "x #2", "y")
    assert ballots(votes) == {order("y", "x #1", "x #2"): 2}
    assert note(votes, "2 items share a name")
    # The name made by adding the number may itself be taken.
    assert read(preflib("1: 1,2,3", ["x", "x", "x #1"], "soc"), "v.soc").items == ("x #1 #1", "x #2", "x #1")
    refused("x,x,y\n1,2,3\n", line=None, found="'x'", format="rank-columns")
    refused("model,t\nx,10\nx,20\n", line=3, found="'x'")


def test_case_14_empty_names(read, refused):
    votes = read(preflib("2: 2,1,3", ["", "b", "  "], "soc"), "v.soc")
    assert votes.items == ("#1", "b", "#3")
    assert note(votes, "2 items without a name")
    refused("model,t\n,10\nx,20\n", line=2, found="found ''")
    refused("model_a,model_b,winner\nx,,model_a\n", line=2, found="'x, '")
    refused("voter,item,rank\nv,,1\n", line=2, found="found ''")
    refused("a,,c\n1,2,3\n", line=None, found="column 2 has no name")


def test_case_15_control_characters_are_kept_and_shown_escaped(read, refused):
    name = "BARTH\u00c3\u0089L\u00c3\u0089MY\u00a0x\u00ad"
    votes = read(preflib("1: 1,2", [name, "b"], "soc"), "v.soc")
    assert votes.items[0] == name
    error = refused("model_a,model_b,winner\nx,y,\x1b[31mred\n", line=2, found="\\x1b[31mred")
    assert "\x1b" not in str(error)


def test_case_16_markup_in_names_is_text(read):
    names = ["<b>bold</b>", "<a href='x'>", "&quot;", "&#039;"]
    assert read(preflib("1: 1,2,3,4", names, "soc"), "v.soc").items == tuple(names)
    assert read("rank1,rank2\n<b>bold</b>,&quot;\n").items == ("<b>bold</b>", "&quot;")


def test_case_17_formula_names_are_kept_and_written_as_text(read, tmp_path):
    names = ['=HYPERLINK("x")', "+1", "-1", "@sum"]
    text = "model,t\n" + "".join(
        f'"{name.replace(chr(34), chr(34) * 2)}",{k}\n' for k, name in enumerate(names, start=10)
    )
    assert read(text).items == tuple(names)
    votes = Votes.from_orders([names, list(reversed(names))])
    for form in ("positions", "rank-columns"):
        path = tmp_path / f"{form}.csv"
        write_votes(votes, path, format=form)
        cells = {cell for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8"))) for cell in row}
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
        again = read_votes(path)
        assert sorted(again.items) == sorted(names)
        assert ballots(again) == {order(*names): 1, order(*reversed(names)): 1}


def test_case_18_very_long_names_are_kept_and_cut_in_messages_only(read, refused):
    name = "Statement " + "x" * 1_703
    assert read(preflib("1: 1,2", [name, "b"], "soc"), "v.soc").items[0] == name
    error = refused(f"model,t\n{name},10\n{name},20\n", line=3, found="Statement xxx")
    assert len(str(error)) < 400


def test_case_19_an_item_ranked_by_nobody_stays(read):
    votes = read(preflib("3: 1,2", kind="soi"), "v.soi")
    assert votes.items == ("a", "b", "c")
    assert note(votes, "1 item that no ballot ranks", "'c'")
    assert votes.wins()[0, 2] == 3


def test_case_20_an_id_that_the_header_lacks(refused):
    error = refused(preflib("1: 1,2\n2: 1,12", kind="soi"), "v.soi", line=7, found="2: 1,12")
    assert "item 12 is not declared" in str(error)
    assert "1 to 3" in str(error)
    gaps = "# DATA TYPE: soi\n# ALTERNATIVE NAME 2: a\n# ALTERNATIVE NAME 5: b\n1: 3\n"
    assert "2, 5" in str(refused(gaps, "v.soi", line=4, found="1: 3"))


@pytest.mark.parametrize("line", ["1: 1,2,1", "1: {1,1},2", "1: 1,{2,1}"])
def test_case_21_the_same_id_twice_on_a_line(refused, line):
    assert "twice" in str(refused(preflib(line), "v.toi", line=6, found=line))


def test_case_22_numbering_from_0(read):
    votes = read(preflib("2: 0,2,1", kind="soc", first=0), "v.soc")
    assert ballots(votes) == {order("a", "c", "b"): 2}


def test_case_23_the_body_wins_over_the_header(read):
    text = preflib("2: 1,2,3\n3: 3,2,1", kind="soc", NUMBER_VOTERS=99, NUMBER_UNIQUE_ORDERS=7)
    votes = read(text.replace("NUMBER ALTERNATIVES: 3", "NUMBER ALTERNATIVES: 4"), "v.soc")
    assert votes.total == 5
    assert note(votes, "NUMBER VOTERS '99'", "has 5")
    assert note(votes, "NUMBER UNIQUE ORDERS '7'", "has 2")
    assert note(votes, "NUMBER ALTERNATIVES '4'", "has 3")
    right = preflib("2: 1,2,3\n3: 3,2,1", kind="soc", NUMBER_VOTERS=5, NUMBER_UNIQUE_ORDERS=2)
    assert not read(right, "v.soc").notes


def test_case_24_the_same_order_on_several_lines(read):
    votes = read(preflib("2: 1,{2,3}\n1: 3\n5: 1,{3,2}"), "v.toi")
    assert ballots(votes) == {(("a",), ("b", "c")): 7, order("c"): 1}
    assert note(votes, "1 line repeats an order", "counts were added")


@pytest.mark.parametrize(
    ("kind", "body", "fitting", "line"),
    [
        ("soc", "1: 1,2,3\n1: 1,{2,3}", "toc", 7),
        ("soc", "1: 1,2\n1: 1,2,3", "soi", 6),
        ("soc", "1: 1,2\n1: {1,2},3", "toi", 7),
        ("soi", "1: 1\n1: {1,2}", "toi", 7),
        ("toc", "1: {1,2},3\n1: {1,2}", "toi", 7),
    ],
)
def test_case_25_a_tie_or_gap_that_the_type_forbids(refused, kind, body, fitting, line):
    error = refused(preflib(body, kind=kind), f"v.{kind}", line=line, found=body.split("\n")[line - 6])
    assert f"set DATA TYPE to {fitting}" in str(error)


def test_case_25_a_toi_without_ties_is_legal(read):
    assert read(preflib("1: 1,2,3", kind="toi"), "v.toi").total == 1


def test_case_26_header_after_the_data_and_comments(read, refused):
    refused(preflib("1: 1,2,3\n# TITLE: late"), "v.toi", line=7, found="# TITLE: late")
    votes = read(preflib("# a remark\n1: 1,2,3\n# another"), "v.toi")
    assert votes.total == 1
    assert note(votes, "1 line kept as comments (line 6)")
    assert note(votes, "1 line kept as comments (line 8)")


def test_case_27_unknown_header_key(read):
    text = preflib("1: 1,2,3", OFFICIAL_RESULTS="{SPÖ: 65, ÖVP: 79}")
    assert read(text, "v.toi").total == 1


def test_case_28_category_order_is_the_users(read, refused):
    text = preflib(
        "2: 1,2,3\n1: {1,2},{},3",
        kind="cat",
        CATEGORY_NAME_0="Disapproved",
        CATEGORY_NAME_1="Conflict",
        CATEGORY_NAME_2="Approved",
    )
    default = read(text, "v.cat")
    assert ballots(default) == {order("a", "b", "c"): 2, (("a", "b"), ("c",)): 1}
    assert note(default, "best first as listed", "'Disapproved' > 'Conflict' > 'Approved'")
    chosen = read(text, "v.cat", categories=["Approved", "Disapproved"])
    assert ballots(chosen) == {order("c", "a"): 2, (("c",), ("a", "b")): 1}
    assert note(chosen, "'Conflict'", "unlisted")
    assert ballots(read(text, "v.cat", categories=[2, "0"])) == ballots(chosen)
    refused(text, "v.cat", line=None, found="'Maybe'", categories=["Maybe"])
    refused(text, "v.cat", line=None, found="'Approved'", categories=["Approved", "Approved"])
    refused(text.replace("2: 1,2,3", "2: 1,2,3,{}"), "v.cat", line=9, found="2: 1,2,3,{}")


def test_case_29_wmd_and_dat_are_no_votes(refused):
    new = "# DATA TYPE: wmd\n# ALTERNATIVE NAME 1: Pair 1\n1,5,1.0\n"
    assert "holds no votes" in str(refused(new, "graph.wmd", line=1, found="wmd"))
    assert "holds no votes" in str(refused(new, "graph.soc", line=None, found="wmd"))
    assert "holds no votes" in str(refused("16,59\n1,x\n", "old.wmd", line=1, found="16,59"))
    assert "holds no votes" in str(refused("anything\n", "x.dat", line=1, found="anything"))


def test_case_30_old_format(read, refused):
    old = "3\n1,Ann \n2,Bo, the 2nd\n3,Cy\n7,7,3\n3,1,2,3\n3,2,{1,3}\n1,3\n"
    votes = read(old, "v.toi")
    assert votes.items == ("Ann", "Bo, the 2nd", "Cy")
    assert ballots(votes) == {
        order("Ann", "Bo, the 2nd", "Cy"): 3,
        (("Bo, the 2nd",), ("Ann", "Cy")): 3,
        order("Cy"): 1,
    }
    assert votes.reading.format == "preflib-old"
    assert ballots(read(old, "old.txt")) == ballots(votes)
    refused(old.replace("1,3\n", "1,4\n"), "v.toi", line=8, found="1:4")
    refused("3\n1,Ann\n2,Bo\n", "v.toi", line=3, found="2,Bo")
    refused("2\nAnn\n2,Bo\n1,1,1\n1,2\n", "v.toi", line=2, found="Ann")
    refused("x\n1,a\n", "v.txt", line=1, found="'x'", format="preflib-old")


def test_case_31_one_item_two_items_one_voter(read):
    one = read(preflib("37: 1", ["only"], "soc"), "v.soc")
    assert one.items == ("only",)
    assert one.total == 37
    assert one.wins().tolist() == [[0.0]]
    assert one.pairwise().tolist() == [[0.5]]
    two = read(preflib("1: 2,1", ["x", "y"], "soc"), "v.soc")
    assert two.wins().tolist() == [[0, 0], [1, 0]]


def test_case_32_nothing_to_aggregate(refused):
    for text, name in (
        (preflib(""), "v.toi"),
        (preflib("0: 1,2"), "v.toi"),
        (preflib("3: {},{}", kind="cat"), "v.cat"),
        ("rank1,rank2\nundervote,undervote\n,\n", "v.csv"),
        ("2 1\n", "v.order"),
        ("2 1\n0 0\n", "v.order"),
        ('{"items": ["a"]}\n', "v.jsonl"),
    ):
        assert "nothing to aggregate" in str(refused(text, name, line=None, found="found"))


def test_case_33_5904_items(read):
    n = 5_904
    names = [f"item {k}" for k in range(n)]
    body = "3: " + ",".join(str(k) for k in range(1, n + 1)) + "\n1: " + ",".join(str(k) for k in range(n, 0, -1))
    votes = read(preflib(body, names, "soc"), "v.soc")
    assert len(votes.items) == n
    assert votes.total == 4
    with pytest.raises(LimitError, match=r"5,000"):
        votes.pairwise()


def test_case_34_weights_are_never_expanded(read):
    votes = read(preflib(f"2076833: 1,2,3\n{2**45}: 3,2,1", kind="soc"), "v.soc")
    assert votes.total == 2076833 + 2**45
    assert len(votes.weights) == 2


@pytest.mark.parametrize("count", ["-1", "1.5", "1e3", "x", "+2", "1_0", "", "٣"])
def test_case_35_counts_that_are_no_whole_numbers(refused, count):
    refused(preflib(f"{count}: 1,2,3"), "v.toi", line=6, found=count)


def test_case_35_absurd_counts_and_csv_weights(read, refused):
    refused(preflib(f"{2**53 + 2}: 1,2"), "v.toi", line=6, found=str(2**53 + 2))
    refused(preflib("9" * 500 + ": 1,2"), "v.toi", line=6, found="999")
    assert read(preflib("000000000000000000002: 1,2"), "v.toi").total == 2
    votes = read("rank1,rank2,weight\na,b,0.25\nb,a,1.5\n")
    assert ballots(votes) == {order("a", "b"): 0.25, order("b", "a"): 1.5}
    for bad in ("-1", "inf", "nan", "", "x", "1e400"):
        refused(f"rank1,rank2,weight\na,b,1\nb,a,{bad}\n", line=3, found=bad)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("final", [True, False])
def test_case_36_line_ends_and_byte_order_mark(read, end, mark, final):
    def dressed(text: str) -> bytes:
        text = text if final else text.rstrip("\n")
        return mark + text.replace("\n", end).encode()

    soc = read(dressed(preflib("\n2: 1,2,3\n\n1: 3,2,1 ", kind="soc")), "v.soc")
    assert ballots(soc) == {order("a", "b", "c"): 2, order("c", "b", "a"): 1}
    table = read(dressed("rank1,rank2\na,b\n\nb,a\n"))
    assert ballots(table) == {order("a", "b"): 1, order("b", "a"): 1}
    assert table.items == ("a", "b")
    lines = read(dressed('{"order": ["a", "b"]}\n'), "v.jsonl")
    assert ballots(lines) == {order("a", "b"): 1}


def test_case_37_not_utf8(read, refused):
    data = "rank1,rank2\nAnn,Zo\u00eb\n".encode("latin-1")
    error = refused(data, line=2, found="byte 0xeb at offset 18")
    assert 'encoding="latin-1"' in str(error)
    assert read(data, encoding="latin-1").items == ("Ann", "Zo\u00eb")
    wide = "rank1,rank2\nAnn,Bo\n".encode("utf-16")
    assert 'encoding="utf-16"' in str(refused(wide, line=1, found="byte 0xff at offset 0"))
    assert read(wide, encoding="utf-16").items == ("Ann", "Bo")
    with pytest.raises(HoldrankError, match="there is no encoding 'klingon'"):
        read(data, encoding="klingon")


def test_case_38_two_header_rows(read, refused):
    text = "id,Rank them,,\n,Film A,Film B,Film C\n1,1,2,3\n2,3,1,2\n"
    assert "column 3 has no name" in str(refused(text, line=None, found="column 3"))
    votes = read(text, header=2, columns=[2, 3, 4])
    assert ballots(votes) == {order("Film A", "Film B", "Film C"): 1, order("Film B", "Film C", "Film A"): 1}


def test_case_39_ambiguous_and_blank_column_names(read, refused):
    text = "q,q,A,B,\n9,8,1,2,x\n7,6,2,1,y\n"
    refused(text, line=None, found="'q'", columns=["q", "A"], format="rank-columns")
    votes = read(text, columns=[3, 4], format="rank-columns")
    assert ballots(votes) == {order("A", "B"): 1, order("B", "A"): 1}
    assert ballots(read(text, columns=["A", 4], format="rank-columns")) == ballots(votes)
    refused(text, line=None, found="'9'", columns=[9], format="rank-columns")
    refused(text, line=None, found="'Z'", columns=["Z"], format="rank-columns")


def test_case_40_quoted_line_breaks_and_short_rows(read, refused):
    text = 'model,"score\non A",B\nx,10,20\ny,30\n'
    error = refused(text, line=4, found="y,30")
    assert "2 cells, the header 3" in str(error)
    votes = read(text, short_rows="fill")
    assert votes.items == ("x", "y")
    assert ballots(votes) == {order("y", "x"): 1, order("x"): 1}
    assert note(votes, "1 short row filled")
    votes = read('model,"score\non A",B\nx,10,20\ny,30,10\n')
    assert ballots(votes) == {order("y", "x"): 1, order("x", "y"): 1}
    refused('a,b\n1,"2\n', line=2, found='1,"2')
    refused('a,b\n1,"2"3\n', line=2, found='1,"2"3')


def test_case_41_decimal_comma_in_a_comma_file(refused):
    error = refused("model,t\nx,0.5\ny,0,33\n", line=3, found="y,0,33")
    assert "3 cells, the header 2" in str(error)
    error = refused("model;t\nx;0,5\ny;0,33\n", line=2, found="0,5")
    assert error.column == "t"


@pytest.mark.parametrize(("sign", "word"), [(",", ""), (";", "semicolon"), ("\t", "tab"), ("|", "pipe")])
def test_case_42_delimiters(read, sign, word):
    text = "model_a,model_b,winner\nx,y,model_a\ny,z,tie\n".replace(",", sign)
    votes = read(text)
    assert ballots(votes) == {order("x", "y"): 1, (("y", "z"),): 1}
    assert note(votes, "delimiter", word) is bool(word)
    assert ballots(read(text, delimiter=sign)) == ballots(votes)


def test_case_42_two_delimiters_equally_good(refused, read):
    text = "rank1,x;rank2,y\na,1;b,2\n"
    refused("a;b,c\nd;e,f\n", line=1, found="a;b,c")
    assert read(text, delimiter=";", columns=[1, 2], format="positions").items == ("a,1", "b,2")


def test_case_43_tokens_in_rank_cells(read):
    rows = ["Ann,Bo"] * 60 + ["undervote,overvote", "Ann,skipped", "Bo,-", "Ann,blank", "Ann,NA", "UWI,Ann"]
    votes = read("rank1,rank2\n" + "\n".join(rows) + "\n")
    assert votes.items == ("Ann", "Bo", "UWI")
    assert note(votes, "read as blank", "'undervote' 1 time", "'overvote' 1 time", "'-' 1 time")
    assert note(votes, "rarely named items", "'UWI' on 1 of 65 ballots")
    kept = read("rank1,rank2\nNA,blank\nblank,writein\n", blanks=["writein"])
    assert kept.items == ("NA", "blank")
    assert ballots(kept) == {order("NA", "blank"): 1, order("blank"): 1}


def test_case_44_gaps_are_closed(read):
    votes = read("rank1,rank2,rank3\nundervote,a,b\na,b,\n,,b\na,,b\n")
    assert ballots(votes) == {order("a", "b"): 3, order("b"): 1}
    assert note(votes, "3 ballots have a blank above a name")


def test_case_45_an_item_twice_on_one_ballot(read, refused):
    text = "rank1,rank2,rank3\na,b,c\na,b,a\na,b,a\n"
    error = refused(text, line=3, found="'a'")
    assert error.column == "rank3"
    assert 'repeated="first"' in str(error)
    votes = read(text, repeated="first")
    assert ballots(votes) == {order("a", "b", "c"): 1, order("a", "b"): 2}
    assert note(votes, "2 ballots name an item more than once; the first mention was kept")


def test_case_46_a_ballot_without_a_name(read):
    votes = read("rank1,rank2\na,b\nundervote,undervote\nundervote,undervote\n,\n")
    assert votes.total == 1
    assert note(votes, "3 ballots without any name dropped")


def test_case_47_holes_and_ways_to_number_ties(read):
    head = "A,B,C,D,E,F\n"
    votes = read(head + "1,2,,4,5,3\n1,2,3,4,5,6\n")
    assert votes.reading.format == "rank-columns"
    assert ballots(votes) == {order("A", "B", "F", "D", "E"): 1, order(*"ABCDEF"): 1}
    tied = {(("x", "y"), ("z",)): 1}
    for row in ("1,1,3", "1,1,2", "1.5,1.5,3", "2,2,3"):
        assert ballots(read(f"x,y,z\n{row}\n", format="rank-columns")) == tied
    for row in ("1,1,3", "1.5,1.5,3"):
        assert ballots(read(f"x,y,z\n{row}\n")) == tied


def test_case_48_ranks_or_scores_is_never_guessed(read, refused):
    text = "x,y,z\n1,2,2\n1,1,2\n"
    error = refused(text, line=2, found="1, 2, 2")
    assert 'format="rank-columns" or format="score-columns"' in str(error)
    ranks = read(text, format="rank-columns")
    scores = read(text, format="score-columns")
    assert ballots(ranks) == {(("x",), ("y", "z")): 1, (("x", "y"), ("z",)): 1}
    assert ballots(scores) == {(("y", "z"), ("x",)): 1, (("z",), ("x", "y")): 1}
    assert note(ranks, "read as ranks")
    assert note(scores, "read as scores: higher is better")
    assert ranks.reading.choices["direction"] == "ranks: 1 is best"
    for decisive in ("4,4,0", "4,3,3", "1,2.2,3", "1,0,1\n0,0,1", "1,1,1\n3,2,3", "0.5,0.25,1"):
        assert read(f"x,y,z\n{decisive}\n").reading.format == "score-columns"
    refused("x,y,z\n0,1,2\n", line=2, found="'0'", format="rank-columns")
    low = read(text, format="score-columns", lower_is_better=True)
    assert ballots(low) == ballots(ranks)


def test_case_49_the_same_score_for_all(read):
    votes = read("x,y,z\n0,0,0\n0,5,3\n4,4,4\n")
    assert votes.total == 3
    assert ballots(votes) == {(("x", "y", "z"),): 2, order("y", "z", "x"): 1}
    assert note(votes, "2 ballots tie all that they list")


def test_case_50_columns_that_are_not_voters(read, refused):
    text = "model,Average,t1,t2,URL\nx,1.5,1,2,http://x\ny,2,3,1,http://y\n"
    error = refused(text, line=2, found="http://x")
    assert error.column == "URL"
    assert "columns=" in str(error)
    votes = read(text, columns=["t1", "t2"])
    assert ballots(votes) == {order("y", "x"): 1, order("x", "y"): 1}
    assert not note(votes, "summary")
    votes = read(text.replace(",http://x", ",7").replace(",http://y", ",8"))
    assert votes.total == 4
    assert note(votes, "'Average'", "summary")
    error = refused("voterID,time,A,B\nv1,09:25,1,2\n", line=2, found="09:25")
    assert error.column == "time"


def test_case_51_the_same_item_on_two_rows(read, refused):
    text = "model,t\nx,10\ny,20\nx,30\n"
    error = refused(text, line=4, found="'x'")
    assert "first on line 2" in str(error)
    votes = read(text, repeated="first")
    assert ballots(votes) == {order("y", "x"): 1}
    assert note(votes, "1 row repeats an item", "(line 4)")


def test_case_52_a_key_of_two_columns(read):
    text = "rank,title,artist,voter\n1,Hip Hop,A,v\n2,Hip Hop,B,v\n"
    votes = read(text, item=["title", "artist"], voter="voter", rank="rank")
    assert ballots(votes) == {order("Hip Hop | A", "Hip Hop | B"): 1}
    table = read("title,artist,t\nHip Hop,A,10\nHip Hop,B,20\n", item=["title", "artist"])
    assert ballots(table) == {order("Hip Hop | B", "Hip Hop | A"): 1}


def test_case_53_same_key_other_attribute(read):
    rows = [f"{k % 6 + 1},song {k % 6},{2000 + k % 6},v{k // 6}" for k in range(18)]
    rows[17] = "6,song 5,1999,v2"
    votes = read("rank,item,year,voter\n" + "\n".join(rows) + "\n")
    assert len(votes.items) == 6
    assert note(votes, "1 item has more than one 'year'", "'song 5'")


def test_case_54_the_same_voter_and_item_twice(read, refused):
    same = "voter,item,rank\nv,a,1\nv,b,2\nv,a,1\n"
    votes = read(same)
    assert ballots(votes) == {order("a", "b"): 1}
    assert note(votes, "1 row repeats a voter and item")
    other = same.replace("v,a,1\n", "v,a,3\n", 1)
    error = refused(other, line=4, found="'1'")
    assert "first on line 2" in str(error)
    assert ballots(read(other, repeated="first")) == {order("b", "a"): 1}


def test_case_55_missing_cells_of_a_score_table(read):
    text = "model,t1,t2\nx,10,\ny,20,50\nz,,NA\n"
    votes = read(text)
    assert votes.unlisted == "observed"
    assert ballots(votes) == {order("y", "x"): 1, order("y"): 1}
    assert note(votes, "3 cells without a score")
    bottom = read(text, unlisted="bottom")
    assert bottom.unlisted == "bottom"
    assert bottom.wins()[0].tolist() == [0, 0, 1.5]


@pytest.mark.parametrize("cell", ["91.2%", '"1,234"', "—", "n/a", "**88**", "0.85 ± 0.02", "1_0", "٣", "0x10"])
def test_case_56_cells_that_are_no_numbers(refused, read, cell):
    shown = cell.strip('"')
    error = refused(f"model,t\nx,1\ny,{cell}\n", line=3, found=shown)
    assert error.column == "t"
    assert (f'blanks="{shown}"' in str(error) or "or set blanks=" in str(error)) is (shown in ("—", "n/a", "٣"))
    votes = read(f"model,t,u\nx,10,10\ny,{cell},20\n", blanks=[shown])
    assert ballots(votes) == {order("x"): 1, order("y", "x"): 1}


def test_case_56_blanks_around_numbers(read):
    assert ballots(read("model,t\nx, 92.3 \ny,\t93 \n")) == {order("y", "x"): 1}


def test_case_57_nan_is_missing_and_inf_refused(read, refused):
    votes = read("model,t,u\nx,nan,1\ny,1,NaN\n")
    assert ballots(votes) == {order("x"): 1, order("y"): 1}
    for bad in ("inf", "-inf", "Infinity", "1e999"):
        assert "finite" in str(refused(f"model,t\nx,1\ny,{bad}\n", line=3, found=bad))


def test_case_58_direction_per_column(read):
    text = "model,accuracy,latency\nx,0.9,120\ny,0.8,80\n"
    with pytest.raises(InputError, match=r'column .latency.: lower may be better.*lower_is_better="latency"'):
        read(text)
    assert ballots(read(text, lower_is_better="latency")) == {order("x", "y"): 1, order("y", "x"): 1}
    assert ballots(read(text, columns=["accuracy", "latency"])) == {order("x", "y"): 2}
    votes = read(text, lower_is_better=["latency"])
    assert ballots(votes) == {order("x", "y"): 1, order("y", "x"): 1}
    assert "except in 'latency'" in votes.reading.choices["direction"]
    long = "task,model,score\nacc,x,0.9\nacc,y,0.8\nlatency,x,120\nlatency,y,80\n"
    assert ballots(read(long, lower_is_better=["latency"])) == ballots(votes)


def test_case_59_unknown_winners_are_listed_with_counts(refused):
    rows = "x,y,model_a\nx,y,left wins\ny,z,left wins\ny,z,skip\n"
    error = refused("model_a,model_b,winner\n" + rows, line=3, found="'left wins'")
    assert "'left wins' 2 times" in str(error)
    assert "'skip' 1 time" in str(error)
    assert error.column == "winner"


def test_case_60_an_item_against_itself(read):
    votes = read("model_a,model_b,winner\nx,y,model_a\nx,x,model_b\nx,x,tie\n")
    assert votes.total == 1
    assert note(votes, "2 comparisons of an item against itself dropped")


def test_case_61_both_bad(read):
    text = "model_a,model_b,winner\nx,y,model_a\nx,y,tie (bothbad)\nx,y,both_bad\nx,y,bothbad\nx,y,both_good\n"
    votes = read(text)
    assert ballots(votes) == {(("x", "y"),): 4, order("x", "y"): 1}
    assert note(votes, "3 battles called both items bad and counted as ties")
    dropped = read(text, both_bad="drop")
    assert ballots(dropped) == {order("x", "y"): 1, (("x", "y"),): 1}
    assert note(dropped, "3 battles", "dropped")
    assert dropped.reading.choices["both bad"] == "drop"


def test_case_62_pairs_never_compared_and_falling_apart(read):
    votes = read("model_a,model_b,winner\na,b,model_a\nc,d,model_b\nd,e,tie\n")
    assert note(votes, "3 of 10 pairs", "30.0 %")
    assert note(votes, "not connected", "2 groups")
    whole = read("model_a,model_b,winner\na,b,model_a\nb,c,model_b\n")
    assert note(whole, "2 of 3 pairs")
    assert not note(whole, "not connected")
    assert not read("model_a,model_b,winner\na,b,model_a\n").notes


def test_case_63_reversed_battles_are_the_same_pair(read):
    votes = read("model_a,model_b,winner\nx,y,model_a\ny,x,model_b\ny,x,model_a\nx,y,tie\ny,x,tie\n")
    assert ballots(votes) == {order("x", "y"): 2, (("x", "y"),): 2, order("y", "x"): 1}
    assert votes.wins().tolist() == [[0, 3], [2, 0]]


def test_case_64_text_is_never_turned_into_numbers_or_dates(read):
    names = ["007", "7", "MARCH1", "SEPT2", "1e5", "2-Mar", "0x1F"]
    votes = read("rank1,rank2,rank3,rank4,rank5,rank6,rank7\n" + ",".join(names) + "\n")
    assert votes.items == tuple(names)
    votes = read("model,t\n" + "".join(f"{name},{k}\n" for k, name in enumerate(names, start=10)))
    assert votes.items == tuple(names)


def test_case_65_files_that_are_something_else(refused, save):
    for empty in ("", "\n\n", "  \r\n", "\ufeff"):
        assert "empty" in str(refused(empty, line=None, found="found ''"))
    assert "no rows below the header" in str(refused("rank1,rank2\n", line=None, found="found ''"))
    assert "no rows below the header" in str(refused("rank1,rank2\n", line=None, found="found ''", header=5))
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("votes.txt", "a,b")
    assert "ZIP archive" in str(refused(plain.getvalue(), line=None, found="PK"))
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["rank1", "rank2"])
    sheet = io.BytesIO()
    book.save(sheet)
    assert "Excel workbook" in str(refused(sheet.getvalue(), line=None, found="PK"))
    assert "old Excel" in str(refused(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99, line=None, found="Ð"))
    assert "gzip" in str(refused(b"\x1f\x8b\x08\x00abc", line=None, found="early"))
    assert "web page" in str(refused("\n<!DOCTYPE html>\n<html></html>", line=1, found="<!DOCTYPE html>"))
    assert "this is not an Excel workbook" in str(refused("a,b\n1,2\n", "v.xlsx", line=None, found="a,b"))
    with pytest.raises(InputError, match=r"nowhere\.csv.*cannot be read.*Fix"):
        read_votes(save("x").parent / "nowhere.csv")


def test_checking_goes_on_past_bad_lines_and_counts_them(save):
    body = "\n".join(["1: 1,2,3"] + ["1: 1,9"] * 30 + ["x: 1"] + ["2: 3"])
    found = validate(save(preflib(body), "v.toi"))
    assert found.total == 31
    assert len(found.problems) == 20
    assert [problem.line for problem in found.problems][:3] == [7, 8, 9]
    assert found.votes is None
    good = validate(save(preflib("1: 1,2,3"), "w.toi"))
    assert good.total == 0
    assert good.problems == ()
    assert good.votes is not None
    assert good.votes.total == 1


def test_the_work_on_a_huge_single_line_grows_with_its_length_alone(save, calls_of):
    work = []
    for n in (2_000, 8_000):
        line = "1: " + ",".join(map(str, range(1, n + 1)))
        path = save(preflib(line + "\n1: 1,x", [f"i{k}" for k in range(n)], "soi"), f"{n}.soi")
        assert validate(path).total == 1
        work.append(calls_of(lambda path=path: validate(path)))
    assert work[0] > 100
    assert work[1] < 4.5 * work[0]


def test_standard_input_and_binary_files(monkeypatch):
    data = b"rank1,rank2\na,b\n"

    class Stdin:
        buffer = io.BytesIO(data)

    monkeypatch.setattr(sys, "stdin", Stdin)
    votes = read_votes("-")
    assert votes.reading.source == "standard input"
    assert votes == read_votes(io.BytesIO(data))
    with pytest.raises(HoldrankError, match="binary mode"):
        read_votes(io.StringIO("rank1\na\n"))
    with pytest.raises(HoldrankError, match="source must be a path"):
        read_votes(3)
