"""Forms, containers, sniffing and options of vote files, beyond the numbered edge cases."""

from __future__ import annotations

import hashlib
import io

import numpy as np
import pytest

from holdrank import files
from holdrank.errors import HoldrankError, InputError, LimitError, UsageError
from holdrank.files import FORMATS, read_votes, validate
from holdrank.files.preflib import reader as preflib_room
from holdrank.votes import limits

from reading import FORMS, SAME, read, wins


@pytest.mark.parametrize("form", FORMS)
def test_every_form_tells_the_same_votes_and_is_recognised(form):
    sniffed = read(FORMS[form])
    assert wins(sniffed) == SAME
    assert sniffed.reading.format == form
    assert sniffed.reading.choices["format"].startswith(form)
    told = read(FORMS[form], format=form)
    assert wins(told) == SAME
    assert told.reading.choices["format"] == f"{form} (as set)"
    assert told.reading.sha256 == hashlib.sha256(FORMS[form].encode()).hexdigest()
    for choice in ("unlisted", "ties", "direction"):
        assert told.reading.choices[choice]


def test_forms_without_ties():
    assert wins(read("rank1,rank2\nx,y\nx,y\ny,x\n")) == {("x", "y"): 2, ("y", "x"): 1}
    lists = read("study,1,2,3\nA,x,y,z\nB,y\nC,z,x\n")
    assert lists.reading.format == "lists"
    assert lists.items == ("x", "y", "z")
    assert lists.unlisted == "bottom"
    assert wins(read("A,x,y\nB,y\n", format="lists", header=0, unlisted="observed")) == {("x", "y"): 1}
    order = read("3 1\n0 3 2 0 1\n0 1 1\n")
    assert order.reading.format == "order"
    assert order.items == ("0", "1", "2")
    assert order.ranks.tolist() in ([[2, 3, 1], [0, 1, 0]], [[0, 1, 0], [2, 3, 1]])


def test_all_formats_are_covered_here():
    in_the_gallery = {"win-matrix", "pgn", "abif", "lolib", "scottish", "blt"}
    assert {*FORMS, *in_the_gallery, "positions", "lists", "order"} == set(FORMATS)


def test_default_rule_for_unlisted_items():
    rules = {form: read(text).unlisted for form, text in FORMS.items()}
    ballots = ("preflib", "preflib-old", "rank-columns", "long-ranks", "jsonl")
    assert {form for form, rule in rules.items() if rule == "bottom"} == set(ballots)
    for form in ("battles", "pair-counts"):
        with pytest.raises(UsageError, match="two items"):
            read(FORMS[form], unlisted="bottom")
        assert read(FORMS[form], unlisted="observed").unlisted == "observed"
    for form in set(FORMS) - {"battles", "pair-counts"}:
        for rule in ("bottom", "observed"):
            votes = read(FORMS[form], unlisted=rule)
            assert votes.unlisted == votes.reading.choices["unlisted"] == rule
    with pytest.raises(UsageError, match="bottom"):
        read(FORMS["rank-columns"], unlisted="top")


@pytest.mark.parametrize(
    "line",
    ["0 2 0 x", "0 3 0 1", "0 2 0 5", "0 2 1 1", "0"],
)
def test_faulty_order_lines(line):
    with pytest.raises(InputError, match=r"line 3: .*found .*expected .*Fix"):
        read(f"3 1\n0 1 0\n{line}\n", format="order")
    with pytest.raises(InputError, match=r"this is not an \.order file"):
        read("x y\n0 1 0\n", format="order")


# ----------------------------------------------------------------------------------------------- options, words


def test_options_that_make_no_sense_are_refused():
    with pytest.raises(UsageError, match="unknown format 'excel'"):
        read(FORMS["battles"], format="excel")
    with pytest.raises(UsageError, match="winner= does not apply to format 'preflib'"):
        read(FORMS["preflib"], winner="x")
    with pytest.raises(UsageError, match=r"sheet= applies only to spreadsheets"):
        read(FORMS["battles"], sheet=1)
    with pytest.raises(UsageError, match="one character"):
        read(FORMS["battles"], delimiter="ab")
    with pytest.raises(UsageError, match="short_rows"):
        read(FORMS["battles"], short_rows="cut")
    with pytest.raises(UsageError, match="header is the number"):
        read(FORMS["battles"], header=-1)
    with pytest.raises(UsageError, match=r"categories= applies only to \.cat"):
        read(FORMS["preflib"], categories=["x"])
    with pytest.raises(UsageError, match="no option nonsense="):
        validate(io.BytesIO(b"x"), nonsense=1)


def test_blanks_may_be_one_word():
    votes = read("rank1,rank2\na,none\n", blanks="none")
    assert votes.items == ("a",)


def test_a_decimal_string_names_a_position_when_no_column_has_that_name():
    assert wins(read("q,x,y\n9,1,2\n", columns=["2", "3"], format="rank-columns")) == {("x", "y"): 1}


def test_header_row_zero_means_no_header():
    votes = read("x,y,model_a\n", header=0, first=1, second=2, winner=3)
    assert wins(votes) == {("x", "y"): 1}


def test_validation_reports_what_stops_everything():
    found = validate(io.BytesIO(b"\xff\xfe\xfa"))
    assert found.total == 1
    assert "not encoded in utf-8" in str(found.problems[0])
    assert found.votes is None


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("model_a,model_b,winner\nx,y,a\nx,,a\nx,y,q\n,y,b\n", {3, 4, 5}),
        ("model_a,model_b,winner_a,winner_b\nx,y,1,1\nx,y,1,0\nx,y,0,0\n", {2, 4}),
        ("home_team,away_team,home_score,away_score\nx,y,a,1\nx,y,1,0\nx,y,b,0\n", {2, 4}),
        ("i,j,wins_i,wins_j\nx,y,-1,1\nx,y,1,q\n", {2, 3}),
        ("model,t\nx,1\nx,2\n,3\ny,q1\nz,inf\n", {3, 4, 5, 6}),
        ("x,y,z,w\n1,2,3,4\n0,1,2,3\n1,2\n1,2,3,4,5\n", {3, 4, 5}),
        ("voter,item,rank\nv,x,1\nv,x,2\nv,,1\nv,y,0\nv,z,q\n", {3, 4, 5, 6}),
        ("voter,item,rank,weight\nv,x,1,1\nv,y,2,2\nv,z,3,-1\n", {3, 4}),
        ("rank1,rank2\nx,x\ny,y\nx,y\n", {2, 3}),
        ("system1Id,system1rank,system2Id,system2rank\nx,1,x,2\nx,0,y,1\nx,1,y,q\n", {2, 3, 4}),
        ('{"order": ["x", "y"]}\n{"order": 3}\nnope\n[1]\n{"order": ["x", "x"]}\n', {2, 3, 4, 5}),
        ('{"model": "x", "t": 1}\n{"model": "y", "t": [2]}\n{"model": "x", "t": 3}\n', {2, 3}),
        ("2 1\n0 1 5\n0 1 1\n0 2 1\n", {2, 4}),
        ("2\n1,x\nnope\n3,3,3\n1,1\n1,2\n", {3, 6}),
        ("# ALTERNATIVE NAME 1: x\n# ALTERNATIVE NAME 1: y\n1: 1\n1: 2\n# TITLE: t\n", {2, 4, 5}),
        ('a,b\n1,2\n1,"2\n', {3}),
    ],
)
def test_checking_finds_every_fault(text, lines):
    format = "rank-columns" if text.startswith("x,y,z,w") else None
    found = validate(io.BytesIO(text.encode()), format=format)
    assert {problem.line for problem in found.problems} == lines
    assert found.total == len(found.problems)
    assert found.votes is None
    for problem in found.problems:
        for word in ("binary file, line ", "; found ", "expected ", ". Fix: "):
            assert word in str(problem)
    with pytest.raises(InputError):
        read(text, format=format)


def test_preflib_corners():
    with pytest.raises(InputError, match="no alternatives are declared"):
        read("# DATA TYPE: soc\n1: 1\n")
    with pytest.raises(InputError, match="unknown DATA TYPE"):
        read("# DATA TYPE: xyz\n# ALTERNATIVE NAME 1: a\n1: 1\n")
    with pytest.raises(InputError, match=r"line 2: the line is not a ballot"):
        read("# ALTERNATIVE NAME 1: a\n1,1\n", format="preflib")
    untyped = read("# ALTERNATIVE NAME 1:a\n# ALTERNATIVE NAME 2:\n1: 1\n")
    assert untyped.items == ("a", "#2")
    assert any("no DATA TYPE" in note for note in untyped.notes)
    with pytest.raises(InputError, match="line 2: the order is empty"):
        read("# ALTERNATIVE NAME 1: a\n3: \n")
    with pytest.raises(InputError, match=r"line 2: 'é' is not an item number"):
        read("# ALTERNATIVE NAME 1: a\n3: é\n")
    with pytest.raises(InputError, match="line 2: an item is missing before a comma"):
        read("# ALTERNATIVE NAME 1: a\n3: ,1\n")
    with pytest.raises(InputError, match="line 3: a comma is missing"):
        read("# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n3: 1 2\n")
    with pytest.raises(InputError, match="is not declared"):
        read("# ALTERNATIVE NAME 1: a\n3: " + "9" * 40 + "\n")
    huge = "123456789012345"
    with pytest.raises(InputError, match="line 2: the number of a name is far too large"):
        read(f"# ALTERNATIVE NAME {huge}: a\n# ALTERNATIVE NAME {huge}6: b\n1: {huge}\n")
    with pytest.raises(InputError, match="line 3: item 12345678901234567890 is not declared"):
        read(f"# ALTERNATIVE NAME {huge}: a\n1: {huge}\n1: {huge}6789012345\n")
    assert read("# ALTERNATIVE NAME 0: a\n# ALTERNATIVE NAME 7: b\n1: 000000000000000000000007\n").wins()[1, 0] == 1
    # Without declared categories the lines say how many there are.
    votes = read("# DATA TYPE: cat\n# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n3: {},1,2\n")
    assert votes.reading.choices["categories"] == "as listed: '1' > '2' > '3'"


def test_line_numbers_count_blank_lines():
    text = "\n# ALTERNATIVE NAME 1: a\n\n1: 1\n\n\n1: 2\n"
    with pytest.raises(InputError, match="line 7: item 2 is not declared"):
        read(text)
    with pytest.raises(InputError, match=r"line 5, .*item twice"):
        read('rank1,rank2\n"a\nb",c\n\na,a\n')


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("rows", [4095, 4096, 4097, 9000])
def test_long_files_keep_their_rows_and_line_numbers(quoted, rows):
    cell = '"b\nc"' if quoted else "b"
    lines = [f"a,{cell}"] * rows
    lines[rows - 2] = f"\na,{cell}"  # a blank line near the end
    text = "rank1,rank2\n" + "\n".join(lines) + "\n"
    assert read(text).total == rows
    found = validate(io.BytesIO((text + "a,b,c\na,a\n").encode()))
    last = text.count("\n") + 1
    assert [problem.line for problem in found.problems] == [last, last + 1]


def test_a_header_far_down():
    text = "junk\n" * 5000 + "rank1,rank2\na,b\n"
    assert wins(read(text, header=5001)) == {("a", "b"): 1}


def test_the_careful_and_the_fast_reader_agree(monkeypatch):
    rng = np.random.default_rng(7)
    names = "".join(f"# ALTERNATIVE NAME {k}: n{k}\n" for k in range(3, 10))
    lines = []
    for _ in range(300):
        items = rng.permutation(np.arange(3, 10))[: rng.integers(1, 8)].tolist()
        cut = int(rng.integers(0, len(items)))
        groups = [str(k) for k in items[:cut]] + ["{" + " , ".join(map(str, items[cut:])) + "}"]
        lines.append(f"{rng.integers(0, 50)}: " + ", ".join(groups))
    text = "# DATA TYPE: toi\n" + names + "\n".join(lines) + "\n"
    fast = read(text)
    monkeypatch.setattr(preflib_room, "_read_fast", lambda *_: None)
    slow = read(text)
    assert slow == fast
    assert slow.notes == fast.notes
    assert np.array_equal(slow.ranks, fast.ranks)


def test_too_many_ballots_for_the_items_is_a_limit(monkeypatch):
    monkeypatch.setattr(limits, "MAX_CELLS", 3)
    for form in ("preflib", "battles", "jsonl", "long-ranks"):
        with pytest.raises(LimitError, match=r"[234] distinct ballots over 2 items.*Fix"):
            read(FORMS[form])


# --------------------------------------------------------------------------------------------------- real samples


def test_old_and_new_preflib_format_give_the_same_votes(shared_data):
    old = read_votes(shared_data / "format-samples" / "old-format-00002-00000006.toc")
    new = read_votes(shared_data / "debian" / "00002-00000006.toc")
    assert old == new
    assert old.reading.format == "preflib-old"


@pytest.mark.parametrize(
    ("name", "items", "ballots", "orders"),
    [
        ("old-format-00018-00000004.soi", 7, 32086, 210),
        ("00021-00000012.toi", 5, 183192, 51),
        ("00042-00000083.soc", 1, 37, 1),
        ("00056-00000064.soc", 298, 1, 1),
        ("00057-00000004.cat", 9, 4899645, 9),
        ("00063-00000001.cat", 23, 82, 74),
        ("00070-00001427.soc", 4, 5, 3),
    ],
)
def test_format_samples(name, items, ballots, orders, shared_data):
    votes = read_votes(shared_data / "format-samples" / name)
    assert (len(votes.items), votes.total, len(votes.weights)) == (items, ballots, orders)


def test_real_categories_worst_first(shared_data):
    path = shared_data / "format-samples" / "00069-00000012.cat"
    best_first = read_votes(path, categories=["Approved", "Neutral/Skipped", "Disapproved"], unlisted="observed")
    listed = read_votes(path, unlisted="observed")
    assert np.array_equal(best_first.wins(), listed.wins().T)
    assert "Comment #35" in listed.items


def test_real_files_that_are_refused(shared_data):
    with pytest.raises(InputError, match="holds no votes"):
        read_votes(shared_data / "format-samples" / "00036-00000001.wmd")
    with pytest.raises(InputError, match="byte 0x8c at offset 641"):
        read_votes(shared_data / "starwars-survey" / "StarWars.csv")
    with pytest.raises(InputError, match="column 5 has no name"):
        read_votes(shared_data / "starwars-survey" / "StarWars.csv", encoding="latin-1", format="rank-columns")
    with pytest.raises(InputError, match="names an item twice"):
        read_votes(shared_data / "minneapolis-2017-ward9" / "2017-ward-9-cvr.csv")
    with pytest.raises(HoldrankError):
        read_votes(shared_data / "wildbench" / "score.json")


def test_real_notes(shared_data):
    votes = read_votes(shared_data / "minneapolis-2017-ward9" / "2017-ward-9-cvr.csv", repeated="first")
    for words in (
        "322 ballots name an item more than once",
        "131 ballots without any name dropped",
        "25 ballots have a blank above a name",
        "'UWI'",
    ):
        assert any(words in note for note in votes.notes), (words, votes.notes)
    crowd = read_votes(shared_data / "llmfao-crowd" / "crowd-comparisons.csv")
    assert any("927 of 1,711 pairs" in note for note in crowd.notes)
    assert crowd.reading.choices["format"] == "battles (columns left, right, winner)"
    assert files.FORMATS[crowd.reading.format]


# ------------------------------------------------------------------------------------------- messages and border


def test_the_cell_shown_is_the_one_at_fault():
    with pytest.raises(InputError, match=r"line 3, column 'thing'.*found 'x'") as caught:
        read("thing,t1\n1,2\nx,3\n")
    assert 'format="rank-columns" or format="score-columns"' in str(caught.value)


@pytest.mark.parametrize(
    ("cell", "plain"), [("91.2%", "91.2"), ("0,5", "0.5"), ("1,234,567", "1234567"), ("0.85 ± 0.02", "0.85")]
)
def test_numbers_gone_wrong_are_never_called_blanks(cell, plain):
    with pytest.raises(InputError, match=f"such as {plain}$") as caught:
        read(f"model;t\nx;{cell}\n", delimiter=";")
    assert "blanks" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "what", "repair"),
    [
        (b"\x89PNG\r\n\x1a\n", "a PNG image", "save the votes that it shows as CSV"),
        (b"\xff\xd8\xff\xe0", "a JPEG image", "save the votes that it shows as CSV"),
        (b"%PDF-1.7", "a PDF document", "save the votes that it shows as CSV"),
        (b"BZh91AY", "a bzip2 archive", "unpack it first"),
        (b"\x7fELF\x02\x01\x01\0\0\0\xfe\xff", "a binary file", "export the votes from it as CSV"),
        (b"\x80\x04\x95\x1b\x01\x02\x03\x8c\x05model\x94", "a binary file", "export the votes from it as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a spreadsheet in the old Excel format", "save it as .xlsx or as CSV"),
    ],
)
def test_other_files_are_called_by_their_name(data, what, repair):
    with pytest.raises(InputError, match=f"this is {what}.*Fix: .*{repair}"):
        read(data)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("header", "1"),
        ("header", 1.0),
        ("header", True),
        ("delimiter", 3),
        ("encoding", 8),
        ("columns", [1.0]),
        ("columns", 1.5),
        ("columns", [["rank1"]]),
        ("columns", True),
        ("item", {1: 2}.values),
        ("voter", ["rank1"]),
        ("weight", 1.0),
        ("blanks", 3),
        ("blanks", [None]),
        ("lower_is_better", 1),
        ("unlisted", 0),
        ("categories", 1.0),
        ("sheet", 1.0),
    ],
)
def test_options_of_the_wrong_type_are_refused_by_name(option, value):
    for reader in (read_votes, validate):
        with pytest.raises(UsageError, match=rf"^{option}= takes .*, not "):
            reader(io.BytesIO(b"rank1,rank2\na,b\n"), **{option: value})
    with pytest.raises(UsageError, match="unknown format"):
        read_votes(io.BytesIO(b"rank1\na\n"), format=["positions"])


def test_one_column_may_stand_alone():
    text = "AB,A,B\n1,2,3\n"
    assert read(text, columns="AB", format="rank-columns").items == ("AB",)
    assert read(text, columns=2, format="rank-columns").items == ("A",)
    assert read(text, columns=np.array([2, 3]), format="rank-columns").items == ("A", "B")
    with pytest.raises(InputError, match="no such column for columns=; found 'BA'"):
        read(text, columns="BA", format="rank-columns")


def test_reading_leaves_the_limit_of_the_csv_module_alone():
    import csv

    limit = csv.field_size_limit()
    try:
        csv.field_size_limit(200_000)
        read("rank1,rank2\na,b\n")
        assert csv.field_size_limit() == 200_000
    finally:
        csv.field_size_limit(limit)
    assert read(f"rank1,rank2\n{'a' * 500_000},b\n").items[1] == "b"


def test_half_characters_of_an_encoding_are_refused():
    with pytest.raises(InputError, match="the text is not encoded in unicode_escape"):
        read(b"rank1,rank2\n\\ud800,b\n", encoding="unicode_escape")


def test_a_long_table_in_which_every_voter_has_one_mark_is_refused(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("id,title,points\n1,Juicy,140\n2,The Message,90\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 3, column 'id': no voter marks more than one item.*voter="):
        read_votes(path)
    votes = read_votes(path, format="long-scores", unlisted="bottom")
    assert votes.total == 2


def test_a_name_that_is_nearly_right_gets_a_hint(tmp_path):
    (tmp_path / "votes.csv").write_text("rank1,rank2\na,b\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"did you mean 'votes\.csv'\?"):
        read_votes(tmp_path / "votes.cvs")
    with pytest.raises(InputError, match="check the path"):
        read_votes(tmp_path / "other.soc")
    with pytest.raises(InputError, match="check the path"):
        read_votes(tmp_path / "no folder" / "votes.csv")
