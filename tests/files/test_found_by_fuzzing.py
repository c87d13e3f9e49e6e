"""What fuzzing and hostile files have found: each input once crashed, hung, took gigabytes or was lost in silence."""

from __future__ import annotations

import io
import itertools
import json
import sys
import zipfile

import networkx as nx
import numpy as np
import pytest

from fuzz import bounds
from fuzz.targets import npy, npy_with
from holdrank import Analysis, PairCounts, Spec, Votes, analyse
from holdrank.errors import HoldrankError, InputError, LimitError, UsageError
from holdrank.files import read_votes, validate
from holdrank.files.containers import spreadsheets
from holdrank.files.large import scan as scan_room
from holdrank.files.ranks_or_scores import rank_evidence
from holdrank.parallel.checkpoints import Checkpoint
from holdrank.rules.scores import mean_scores


def read(data: str | bytes, **options) -> Votes:
    return read_votes(io.BytesIO(data.encode() if isinstance(data, str) else data), **options)


# ------------------------------------------------------------------------------------------------------------ PrefLib


@pytest.mark.parametrize("form", ["preflib", "preflib-old", "order", "jsonl", "battles", None])
@pytest.mark.parametrize("blank", ["\x1e", "\x85", "\u2028\u3000", "\ufeff", "\ufeff\x1c\n"])
def test_text_that_only_unicode_calls_blank_is_an_empty_file(form, blank):
    with pytest.raises(InputError, match="the file is empty"):
        read(blank, format=form)


def test_numbers_of_items_far_apart_are_listed_without_those_between():
    text = "# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 999999999999999: b\n1: 5\n"
    with pytest.raises(InputError, match=r"item 5 is not declared.*the header declares \(1, 999999999999999\)"):
        read(text)


def test_a_line_that_is_far_too_long_names_an_item_twice():
    text = "# DATA TYPE: soi\n# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n1: " + "1," * 50_000 + "2\n"
    with pytest.raises(InputError, match=r"line 4: item 1 appears twice on the line"):
        read(text)


def test_items_that_an_order_file_declares_must_be_about_as_many_as_it_can_name():
    with pytest.raises(InputError, match=r"line 1: the file declares 9,999,999 items"):
        read("9999999 1\n0 1 5\n")
    assert read("10000 1\n0 1 5\n").n == 10_000


def test_repeated_orders_are_counted_among_those_that_somebody_cast():
    text = "# DATA TYPE: soc\n# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n1: 1,2\n1: 2,1\n3: 1,2\n0: 2,1\n"
    assert "1 line repeats an order; their counts were added" in read(text).notes


# ------------------------------------------------------------------------------------------------------------- tables


def test_more_columns_than_anybody_ranks_are_refused():
    row = ",".join(map(str, range(100_001)))
    with pytest.raises(LimitError, match=r"100,001 columns are more than 100,000"):
        read(f"{row}\n{row}\n")


def test_a_long_header_over_short_rows_is_refused():
    header = "name," + ",".join(map(str, range(1, 3001)))
    with pytest.raises(LimitError, match=r"the header has 3,001 cells, and most rows have few"):
        read(f"{header}\n" + "v,a\n" * 2000)
    with pytest.raises(LimitError, match=r"the header has 3,001 cells"):
        read(f"{header}\n" + "v,a\n" * 2000, format="positions", short_rows="fill")
    assert read(f"{header}\n" + "v,a\n" * 20).items == ("a",)


def test_an_apostrophe_before_nothing_is_a_name():
    assert read("rank1,rank2\n'\t,a\n", delimiter=",").items == ("'\t", "a")
    assert read("rank1,rank2\n'=1+1,a\n", delimiter=",").items == ("=1+1", "a")


@pytest.mark.parametrize(
    ("text", "options", "where"),
    [
        ("a,b\n1e308,0\n1e308,0\n", {"format": "score-columns"}, "line 2, column 'a': a score is too large"),
        ("weight,a,b\n3,5,0\n2,5,-2e290\n", {"format": "score-columns"}, "line 3, column 'b': a score is too large"),
        ("model,t1,t2\na,7,1e308\nb,1,5\n", {"format": "score-table"}, "line 2, column 't2': a score is too large"),
        ("voter,item,score\nv,a,5\nv,b,0\nw,a,1.7e308\nw,b,1\n", {}, "line 4, column 'score': a score is too large"),
        ("a,b\n1e999,0\n1,0\n", {"format": "score-columns"}, "line 2, column 'a': a score must be finite"),
    ],
)
def test_scores_whose_sums_overflow_are_refused(text, options, where):
    with pytest.raises(InputError, match=where):
        read(text, **options)


def test_the_largest_scores_have_a_mean():
    votes = read("weight,a,b\n3,1e290,0\n2,1e290,-1e290\n", format="score-columns")
    assert votes.scores.tolist() == [[1e290, 0], [1e290, -1e290]]
    assert mean_scores(votes).tolist() == pytest.approx([1e290, -4e289])
    with pytest.raises(UsageError, match="finite"):
        Votes.from_score_rows([[1e308, 0.0], [1e308, 0.0]])


def test_large_numbers_are_told_from_ranks_without_a_warning():
    assert rank_evidence(np.array([[1e308, 0.25, 0.25], [1.0, 2.0, 3.0]])) == "scores"
    text = "a,b,c\n9e289,0.25,0.25\n9e289,0.25,0.5\n9e289,0.5,0.25\n"
    with pytest.raises(InputError, match="column 'a': this column may not be an item"):
        read(text)


def test_positions_of_thousands_of_digits_are_no_columns():
    with pytest.raises(InputError, match="there is no such column for weight"):
        read("rank1,rank2\nx,y\n", weight="9" * 5000)
    text = "# DATA TYPE: cat\n# CATEGORY NAME 1: yes\n# ALTERNATIVE NAME 1: a\n1: 1\n"
    with pytest.raises(HoldrankError, match="categor"):
        read(text, categories=["9" * 5000])


@pytest.mark.parametrize("name", ["\x1f", "\u00a0", " \u3000|", "|"])
def test_an_item_whose_name_cannot_be_seen_has_none(name):
    for text in (f"model,task1\na,0.5\n{name},0.7\n", f"task,model,score\nt,a,0.5\nt,{name},0.7\n"):
        with pytest.raises(InputError, match=r"line 3, column 'model': an item has no name"):
            read(text)
    with pytest.raises(InputError, match=r"line 3, column 'model': an item has no name"):
        read(f"model,size,task1\na,b,0.5\n{name},{name},0.7\n", item=["model", "size"], delimiter=",")


@pytest.mark.parametrize(
    ("text", "options", "first", "total"),
    [
        ("model_a,model_b,winner_a,winner_b\nx,y,1,0\n" + "x,y,5,5\nz,y,5,5\n" * 2, {}, [3, 4], 2),
        ("model_a,model_b,winner\nx,y,model_a\n,y,model_a\n,z,model_b\n,y,model_a\n", {}, [3, 4], 2),
        ("a,b\n1,0\n-1,2\n", {"format": "rank-columns"}, [2, 3], 2),
    ],
)
def test_each_of_many_faults_is_told_with_its_line(text, options, first, total):
    found = validate(io.BytesIO(text.encode()), **options)
    assert ([problem.line for problem in found.problems], found.total) == (first, total)


def test_faults_in_columns_of_numbers_are_told_with_their_cells(parquet):
    path = parquet("SELECT * FROM (VALUES (1, 2.5), (0, 3), (1, -1.5)) t(a, b)")
    found = validate(path, format="rank-columns")
    assert [(problem.line, problem.column, problem.found) for problem in found.problems] == [
        (2, "a", "0"),
        (3, "b", "-1.5"),
    ]


def test_a_list_of_many_items_is_read_in_one_go():
    header = "name," + ",".join(map(str, range(1, 3001)))
    votes = read(f"{header}\nv," + ",".join(f"i{k}" for k in range(3000)) + "\n")
    assert votes.items == tuple(f"i{k}" for k in range(3000))
    assert votes.ranks[0].tolist() == list(range(1, 3001))


@pytest.mark.parametrize("width", [2, 3, 7])
def test_repeated_names_on_ballots_are_those_that_stand_before(width):
    rng = np.random.default_rng(width)
    rows = [[rng.choice(["a", "b", "c", "d", ""]) for _ in range(width)] for _ in range(60)]
    text = ",".join(f"rank{k + 1}" for k in range(width)) + "\n" + "".join(",".join(row) + "\n" for row in rows)
    filled = [[name for name in row if name] for row in rows]
    orders = [list(dict.fromkeys(row)) for row in filled]
    twice = [k + 2 for k, row in enumerate(filled) if len(set(row)) < len(row)]
    votes = read(text, repeated="first", blanks=())
    items = list(dict.fromkeys(name for order in orders for name in order))
    assert votes == Votes.from_orders([order for order in orders if order], items=items)
    problems = validate(io.BytesIO(text.encode()), blanks=()).problems
    distinct = {tuple(rows[line - 2]): line for line in reversed(twice)}
    assert [problem.line for problem in problems] == sorted(distinct.values())[:20]


@pytest.mark.parametrize("seed", range(8))
def test_notes_on_comparisons_are_those_of_the_pairs_one_by_one(seed):
    rng = np.random.default_rng(seed)
    n, slots = int(rng.integers(4, 12)), int(rng.integers(2, 4))
    rows = [rng.choice(n, size=slots, replace=False).tolist() for _ in range(int(rng.integers(1, 9)))]
    header = [name for k in range(slots) for name in (f"s{k}id", f"s{k}rank")]
    text = ",".join(header) + "\n" + "".join(",".join(f"x{i},{1 + i}" for i in row) + "\n" for row in rows)
    judged = read(text)
    pairs = {frozenset(pair) for row in rows for pair in itertools.combinations(row, 2)}
    battles = "model_a,model_b,winner\n" + "".join(f"x{i},x{j},tie\n" for i, j in map(sorted, pairs))
    counts = PairCounts.from_votes(judged)
    graph = nx.Graph([tuple(pair) for pair in pairs])
    possible = judged.n * (judged.n - 1) // 2
    parts = nx.number_connected_components(graph)
    for notes in (judged.notes, read(battles).notes, counts.notes):
        compared = [note for note in notes if "pairs of items were compared" in note]
        assert [note.split(" pairs")[0] for note in compared] == [f"{len(pairs)} of {possible}"] * (
            len(pairs) < possible
        )
        apart = [note for note in notes if "not connected" in note]
        assert [f"into {parts} groups" in note for note in apart] == [True] * (parts > 1)


def test_a_judgement_over_many_items_does_not_hold_its_pairs():
    # Ten million pairs, each of them a tuple in a set, would take a gigabyte.
    header = ",".join(f"a{k}id,a{k}rank,b{k}id,b{k}rank,c{k}id,c{k}rank" for k in range(1000))
    row = ",".join(f"x{k},{k + 1}" for k in range(3000))
    other = ",".join(f"y{k},{k + 1}" for k in range(3000))
    notes = read(f"{header}\n{row}\n{other}\n").notes
    assert "8,997,000 of 17,997,000 pairs of items were compared (50.0 %)" in notes
    assert any("into 2 groups" in note for note in notes)


# --------------------------------------------------------------------------------------------------------- JSON Lines


@pytest.mark.parametrize("depth", [51, 300, 900, 960, 975, 985, 990, 995, 1000, 100_000])
@pytest.mark.parametrize("line", ['{"order": %s}', '{"x": %s}', '{"items": %s}', '{"order": ["\\ud83d\\ude00", %s]}'])
def test_json_that_nests_deep_is_refused_whatever_is_left_of_the_stack(line, depth):
    with pytest.raises(InputError, match=r"line 1: the line is not JSON"):
        read(line % ("[" * depth + "]" * depth))


def test_many_lists_beside_each_other_are_not_deep():
    votes = read(json.dumps({"order": [[f"a{k}", f"b{k}"] for k in range(200)]}))
    assert votes.n == 400


def test_records_without_keys_in_common_are_refused():
    with pytest.raises(LimitError, match=r"the objects have 1,500 keys in total, but only a few each"):
        read("".join(f'{{"k{k}": 1}}\n' for k in range(1500)))


@pytest.mark.parametrize("line", ['{"order": ["a", "b"], "weight": %s}', '{"order": ["a", %s]}', '{"items": [%s]}'])
@pytest.mark.parametrize("value", ["1" * 5000, "[" * 60 + "]" * 60])
def test_json_that_duckdb_reads_and_python_does_not_is_refused(tmp_path, line, value):
    (tmp_path / "votes.jsonl").write_text('{"order": ["a", "b"]}\n' + line % value + "\n")
    with pytest.raises(InputError, match="line 2: a value cannot be read"):
        read_votes(tmp_path / "vote*.jsonl")


@pytest.mark.parametrize("text", ["\n1\n1", "\n1", " \r\nrank1,rank2\r\nx,y\r\n"])
def test_files_that_begin_with_an_empty_line_are_left_to_the_usual_reader(tmp_path, text):
    # DuckDB took that line for the header, and the header for a row.
    (tmp_path / "votes.txt").write_text(text, newline="")
    with pytest.raises(UsageError, match=r"the file begins with an empty line\. Fix: read the files one by one"):
        read_votes(tmp_path / "vote*.txt")


def test_a_tab_in_a_message_about_quotes_is_escaped():
    with pytest.raises(InputError, match=r"malformed quoting \('\\t' expected after '\"'\)"):
        read('a\tb\n"x"y\tz\n', format="positions", delimiter="\t")


def test_lines_that_duckdb_may_lose_are_left_to_the_usual_reader(tmp_path, monkeypatch):
    # DuckDB 2.0 reads no row at all of a file whose first row is longer than its buffer, and says nothing.
    monkeypatch.setattr(scan_room, "_HEAD", 64)
    long = tmp_path / "long.csv"
    long.write_text("rank1,rank2\nx," + "y" * 200 + "\n")
    with pytest.raises(InputError, match="a line is longer than a megabyte"):
        read_votes(tmp_path / "lon*.csv")
    monkeypatch.setattr("holdrank.files.sniff.is_large", lambda _: True)
    assert read_votes(long).items == ("x", "y" * 200)


def test_columns_without_a_number_make_no_noise_when_they_are_told_from_rankings():
    from holdrank.files.ranks_or_scores import parts_of_rankings

    values = np.array([[1.0, np.nan], [3.0, np.nan], [7.0, np.nan]])
    assert not parts_of_rankings(values)
    assert parts_of_rankings(values[:, [0, 0]])


# ------------------------------------------------------------------------------------------------------- spreadsheets


@pytest.fixture
def sheet(tmp_path):
    """Return the bytes of a workbook made of these rows of XML, or one whose parts are changed."""

    def make(rows=bounds.SMALL_SHEET, **parts):
        bounds.write_workbook(tmp_path / "v.xlsx", rows, **parts)
        return (tmp_path / "v.xlsx").read_bytes()

    return make


def row(number: int, *cells: str) -> str:
    return f'<row r="{number}">{"".join(cells)}</row>'


def text(place: str, word: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{word}</t></is></c>'


def test_a_damaged_stream_in_a_sound_archive_is_refused(sheet):
    data = bytearray(sheet(bounds.SMALL_SHEET * 20))
    at = data.find(b"xl/worksheets/sheet1.xml") + 50
    data[at : at + 30] = bytes(255 - byte for byte in data[at : at + 30])
    with pytest.raises(InputError, match="the spreadsheet cannot be read"):
        read(bytes(data))


def test_what_a_sheet_declares_of_its_size_is_not_believed(sheet):
    rows = row(1, text("A1", "rank1"), text("B1", "rank2")) + row(2, text("A2", "x"), text("B2", "y"))
    far = '<dimension ref="A1:XFD1048576"/>'
    assert read(sheet(rows, before="<!-- no dimension -->")).items == ("x", "y")
    data = sheet(f"{rows}</sheetData>{far}<sheetData>")
    assert read(data).items == ("x", "y")


def test_a_cell_in_the_farthest_corner_costs_nothing(sheet):
    votes = read(sheet(bounds.SMALL_SHEET + row(1048576, '<c r="B1048576"/>')))
    assert votes.total == 1
    votes = read(sheet(bounds.SMALL_SHEET + row(1048576, text("A1048576", "y"), text("B1048576", "x"))))
    assert votes.total == 2
    with pytest.raises(InputError, match=r"line 1048576, column 'rank2': the ballot names an item twice"):
        read(sheet(bounds.SMALL_SHEET + row(1048576, text("A1048576", "y"), text("B1048576", "y"))))


def test_rows_with_a_cell_in_the_last_column_are_no_table(sheet):
    rows = "".join(row(k, f'<c r="XFD{k}"><v>1</v></c>') for k in range(3, 300))
    with pytest.raises(LimitError, match=r"the sheet is almost empty, but its table has 129 rows and 16,384 columns"):
        read(sheet(bounds.SMALL_SHEET + rows))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ('<row r="1048577"/>', "row 1048577 after row 0"),
        ('<row r="99999999999999999999"/>', "after row 0"),
        ('<row r="-5"/>', "row -5"),
        ('<row r="2"/><row r="2"/>', "row 2 after row 2"),
        ('<row r="x"/>', "invalid literal"),
        ('<row><c r="XFE1"><v>1</v></c></row>', "column 16,385"),
        ('<row><c r="ABCD1"><v>1</v></c></row>', "is not a cell reference"),
        ('<row><c r="1A"><v>1</v></c></row>', "is not a cell reference"),
        ('<row><c t="s"><v>7</v></c></row>', "there is no text 7"),
        ('<row><c t="s"><v>-1</v></c></row>', "there is no text -1"),
        ('<row><c t="d"><v>yesterday</v></c></row>', "Invalid"),
        (f"<row><c><v>{'9' * 5000}</v></c></row>", "Exceeds the limit"),
        (f"<row>{'<c/>' * 16_385}</row>", "column 16,385"),
        (f"<row>{'<c/>' * 50_000}</row>", "more than 16,384 cells"),
        ("<row>", "mismatched tag"),
    ],
)
def test_sheets_that_no_program_writes_are_refused(sheet, rows, said):
    with pytest.raises(InputError, match="the spreadsheet cannot be read") as found:
        read(sheet(rows))
    assert said in str(found.value)


def test_entities_are_refused_before_they_grow(tmp_path):
    bounds.billion_laughs(tmp_path / "laughs.xlsx")
    with pytest.raises(InputError, match="declares XML entities"):
        read_votes(tmp_path / "laughs.xlsx")


def test_a_hundred_sheets_that_are_one_are_read_once(sheet, monkeypatch):
    sheets = "".join(f'<sheet name="s{k}" sheetId="{k + 1}" r:id="r1"/>' for k in range(100))
    data = sheet(book=bounds._BOOK % sheets)
    opened = []
    original = zipfile.ZipFile.read
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda self, name, *a: opened.append(name) or original(self, name, *a))
    assert read(data, sheet="s99").items == ("x", "y")
    assert opened.count("xl/worksheets/sheet1.xml") == 1


def test_bytes_once_unpacked_are_limited_by_those_before(sheet):
    with pytest.raises(LimitError, match="unpacks to"):
        read(sheet(bounds.SMALL_SHEET + " " * 9_000_000))
    assert read(sheet(bounds.SMALL_SHEET + " " * 1_000_000)).items == ("x", "y")


def test_archives_packed_in_other_ways_are_no_spreadsheets(sheet):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(sheet())) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    with pytest.raises(InputError, match="unsupported compression"):
        read(out.getvalue())


def test_a_workbook_without_sheets_says_so(sheet):
    for book in (bounds._BOOK % "", bounds._BOOK % '<sheet name="a" sheetId="1" r:id="r7"/>'):
        with pytest.raises(InputError, match="there is no sheet"):
            read(sheet(book=book))


def test_cells_of_every_type_are_the_text_that_is_shown(sheet):
    strings = "<sst><si><t>plain</t></si><si><r><t>two </t></r><r><t>runs</t></r><rPh><t>loud</t></rPh></si><si/></sst>"
    cells = [
        ('<c t="s"><v>0</v></c>', "plain"),
        ('<c t="s"><v>1</v></c>', "two runs"),
        ('<c t="s"><v>2</v></c>', ""),
        ("<c><v>7.0</v></c>", "7"),
        ("<c><v>2.5E-1</v></c>", "0.25"),
        ("<c><f>1+1</f><v>2</v></c>", "2"),
        ("<c><f>1+1</f></c>", ""),
        ('<c t="b"><v>1</v></c>', "True"),
        ('<c t="e"><v>#N/A</v></c>', "#N/A"),
        ('<c t="str"><f>A1</f><v>shown</v></c>', "shown"),
        ('<c t="d"><v>2024-01-02</v></c>', "2024-01-02"),
        ('<c t="inlineStr"><is><t>here</t></is></c>', "here"),
        ('<c t="inlineStr"/>', ""),
        ("<c><r><t>5</t></r><v>1<x>2</x>3</v><v>4</v></c>", "1"),
        ('<c t="inlineStr"><v>1</v><is><r><rPr/><t>b</t></r>c<t>a<x/>d</t></is><is><t>e</t></is></c>', "ab"),
        ('<c t="inlineStr"><r><t>no</t></r><is><x><t>no</t></x><r><x><t>no</t></x><t>yes</t></r></is></c>', "yes"),
        ("<c/>", ""),
        ("<c><v>end</v></c>".replace("<c>", '<c t="str">'), "end"),
    ]
    with zipfile.ZipFile(
        io.BytesIO(sheet(f"<row>{''.join(xml for xml, _ in cells)}</row>", strings=strings))
    ) as archive:
        rows, lines, notes = spreadsheets.sheet_rows(archive, "v.xlsx", None, 1000)
    assert rows == [[shown for _, shown in cells]]
    assert lines == [1]
    assert notes == ["1 cell is a date; the spreadsheet may have turned names into dates"]


def test_every_date_is_counted_where_the_style_of_all_cells_is_one(sheet):
    stream = io.BytesIO(sheet("<row><c><v>45352</v></c><c><v>45352</v></c></row>"))
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("xl/styles.xml", '<styleSheet><cellXfs><xf numFmtId="14"/></cellXfs></styleSheet>')
    with zipfile.ZipFile(stream) as archive:
        rows, _, notes = spreadsheets.sheet_rows(archive, "v.xlsx", None, 1000)
    assert rows == [["2024-03-01T00:00:00"] * 2]
    assert notes == ["2 cells are dates; the spreadsheet may have turned names into dates"]


def test_dates_follow_the_styles_of_the_workbook(tmp_path):
    import datetime

    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(
        [datetime.datetime(2024, 3, 1, 12, 30), datetime.timedelta(hours=30), datetime.time(4, 5), 45352]
    )
    book.save(tmp_path / "v.xlsx")
    book.epoch = openpyxl.utils.datetime.MAC_EPOCH
    book.save(tmp_path / "mac.xlsx")
    for name in ("v.xlsx", "mac.xlsx"):
        with zipfile.ZipFile(tmp_path / name) as archive:
            rows, _, _ = spreadsheets.sheet_rows(archive, name, None, 1000)
        assert rows == [["2024-03-01T12:30:00", "1 day, 6:00:00", "04:05:00", "45352"]]


# ------------------------------------------------------------------------------------------------------------ Parquet


@pytest.fixture
def parquet(tmp_path):
    """Return the path of a Parquet file that holds what a query gives."""
    duckdb = pytest.importorskip("duckdb")

    def make(query, codec="zstd"):
        path = tmp_path / "it's.parquet"
        quoted = str(path).replace("'", "''")
        duckdb.sql(f"COPY ({query}) TO '{quoted}' (FORMAT parquet, CODEC {codec})")
        return path

    return make


def test_columns_of_lists_and_spans_are_text(parquet):
    path = parquet(
        "SELECT 'x' AS model_a, 'y' AS model_b, 'tie' AS winner, [1, 2] AS l, INTERVAL 1 DAY AS i, {'a': 1} AS s"
    )
    assert read_votes(path).items == ("x", "y")
    path = parquet("SELECT * FROM (VALUES ([1, 2], 0.5), ([3], 0.7), (NULL, 0.1)) t(model, score)")
    with pytest.raises(InputError, match=r"line 3, column 'model': an item has no name"):
        read_votes(path)
    path = parquet("SELECT * FROM (VALUES ([1, 2], 0.5), ([3], 0.7)) t(model, task)")
    assert read_votes(path).items == ("[1, 2]", "[3]")


def test_rows_that_take_no_room_in_the_file_are_refused_without_duckdb(parquet, monkeypatch):
    pytest.importorskip("pyarrow")
    path = parquet("SELECT 'x' AS model_a, 'y' AS model_b, 'model_a' AS winner FROM range(1000000)")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(LimitError, match=r"1,000,000 rows of 3 columns are too many for a file of"):
        read_votes(path)


@pytest.mark.parametrize("way", [str, lambda path: io.BytesIO(path.read_bytes())])
def test_rows_that_take_no_room_in_the_file_are_refused_in_memory(parquet, way):
    path = parquet("SELECT 'x' AS model_a, 'y' AS model_b, 'model_a' AS winner FROM range(1000000)")
    with pytest.raises(LimitError, match=r"1,000,000 rows of 3 columns are too many for a file of"):
        read_votes(way(path))
    path = parquet("SELECT repeat('x', 1000000) AS model_a, 'y' AS model_b, 'model_a' AS winner FROM range(50)")
    with pytest.raises(LimitError, match=r"50 rows of 3 columns are too many"):
        read_votes(way(path))


# -------------------------------------------------------------------------------------- counts, analyses, checkpoints


def npz(path, **members: bytes):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), ",
        "{'descr': '|u1', 'fortran_order': False, 'shape': ((((2,), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2L,), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (-2,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
        "'''",
        ",",
        "(" * 100,
        "",
    ],
)
def test_headers_that_numpy_would_run_as_python_are_refused(tmp_path, header):
    with pytest.raises(InputError, match=r"the file cannot be read \(ValueError\); found 'head is not an array"):
        PairCounts.load(npz(tmp_path / "c.npz", head=npy_with(header, b"{}")))


def head_of(**changes) -> bytes:
    head = {"format": "holdrank pair counts", "version": 1, "items": ["a", "b"], "total": 5, "unlisted": "bottom"}
    text = json.dumps({**head, "said": [], "reading": ["memory", "", "", {}], **changes}).encode()
    return npy("|u1", (len(text),), text)


def matrix(*shape: int) -> bytes:
    return npy("<f8", shape, bytes(8 * int(np.prod(shape))))


def test_counts_are_as_large_as_their_names_say(tmp_path):
    sound = {"head": head_of(), "wins": matrix(2, 2), "listed": matrix(2)}
    assert PairCounts.load(npz(tmp_path / "c.npz", **sound)).total == 5
    with pytest.raises(InputError, match=r"found 'wins takes"):
        PairCounts.load(npz(tmp_path / "c.npz", **{**sound, "wins": matrix(900, 900)}))
    with pytest.raises(InputError, match=r"wins has the shape \(3, 3\), not \(2, 2\)"):
        PairCounts.load(npz(tmp_path / "c.npz", **{**sound, "wins": matrix(3, 3)}))
    text = b'{"items": [' + b"[]," * 1_000_000 + b"[]]}"
    bomb = npy("|u1", (len(text),), text)
    with pytest.raises(InputError, match=r"found 'head takes"):
        PairCounts.load(npz(tmp_path / "c.npz", **{**sound, "head": bomb}))


@pytest.mark.parametrize(
    "changes",
    [
        {"total": 10**400},
        {"said": [[["a", "b", "c"], {"": 10**400}]]},
        {"said": [[["a", "b", "c"], {}]]},
        {"reading": {"a": 1}},
    ],
)
def test_counts_that_no_float_can_hold_are_refused(tmp_path, changes):
    sound = {"wins": matrix(2, 2), "listed": matrix(2)}
    with pytest.raises(InputError, match="the file is not valid"):
        PairCounts.load(npz(tmp_path / "c.npz", head=head_of(**changes), **sound))


@pytest.fixture(scope="module")
def record():
    votes = Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 1])
    return json.loads(analyse(votes, Spec(theta=None, draws=0, budget=0.5)).to_json())


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("1e999", "is too large"),
        ("-1e999", "is too large"),
        ("1" + "0" * 400, "is too large"),
        ("Infinity", "this is not JSON"),
        ("1" * 5000, "this is not JSON"),
    ],
)
def test_an_analysis_holds_numbers_that_can_be_written_again(record, value, said):
    text = json.dumps({**record, "votes": {**record["votes"], "total": "here"}}).replace('"here"', value)
    with pytest.raises(InputError, match=said):
        Analysis.from_json(text)


def test_an_analysis_holds_text_that_can_be_written_again(record):
    text = json.dumps({**record, "headline": "here"}).replace("here", "\\ud800")
    with pytest.raises(InputError, match="this is not JSON"):
        Analysis.from_json(text)
    assert Analysis.from_json(text.replace("\\ud800", "\\ud83d\\ude00")).headline == "\U0001f600"


@pytest.mark.parametrize("depth", [60, 900, 985, 100_000])
def test_an_analysis_that_nests_deep_is_refused(record, depth):
    text = json.dumps({**record, "votes": "here"}).replace('"here"', '{"choices": ' + "[" * depth + "]" * depth + "}")
    with pytest.raises(InputError, match="this is no"):
        Analysis.from_json(text)


@pytest.mark.parametrize("depth", [900, 985, 100_000])
def test_a_checkpoint_that_nests_deep_is_refused(tmp_path, depth):
    path = tmp_path / "points.jsonl"
    deep = "[" * depth + "]" * depth
    path.write_text(f'{{"checkpoint": {deep}}}\n')
    with pytest.raises(InputError, match="the checkpoint cannot be used"):
        Checkpoint(path, "tradeoff", "", {})
    path.unlink()
    Checkpoint(path, "tradeoff", "", {}).close()
    with open(path, "a", encoding="utf-8") as file:
        file.write(f'{{"key": "a", "value": {"[" * 100_000}}}\n{{"key": "b", "value": 1}}\n')
    with pytest.raises(InputError, match=r"line 2: this line is not a checkpoint entry"):
        Checkpoint(path, "tradeoff", "", {})


@pytest.mark.parametrize("parameters", [[1], [[]], "text", 5, None])
def test_parameters_of_a_checkpoint_that_are_no_object_are_other_parameters(tmp_path, parameters):
    path = tmp_path / "points.jsonl"
    Checkpoint(path, "tradeoff", "", {"theta": 0.5}).close()
    about = json.loads(path.read_text())
    path.write_text(json.dumps({**about, "parameters": parameters, "parameters_sha256": "0"}) + "\n")
    with pytest.raises(InputError, match=r"created with different parameters: theta is None there, 0.5 here"):
        Checkpoint(path, "tradeoff", "", {"theta": 0.5})
