"""What Parquet files say of themselves is not believed."""

from __future__ import annotations

import io

import pytest

import holdrank as hr
from holdrank.files.containers.footers import check_footer

pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def test_bounds_that_a_parquet_file_gives_its_numbers_are_not_believed(tmp_path):
    rows_ = [[1, 127, 3.5], [66, 3_801_089, 2.0]]
    path = tmp_path / "votes.parquet"
    columns = zip("abc", zip(*rows_, strict=True), strict=True)
    pq.write_table(pa.table({name: list(cells) for name, cells in columns}), path)
    data = path.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    largest = (3_801_089).to_bytes(8, "little")
    assert largest in data[footer:]
    path.write_bytes(data[:footer] + data[footer:].replace(largest, (127).to_bytes(8, "little")))
    for source in (str(tmp_path / "v*.parquet"), path):
        votes = hr.read_votes(source, format="score-columns")
        assert votes.scores.tolist() == rows_


def test_a_group_of_less_than_no_rows_is_refused(tmp_path):
    import duckdb

    path = tmp_path / "votes.parquet"
    duckdb.sql(
        f"COPY (SELECT 'x' AS model_a, 'y' AS model_b, 'tie' AS winner FROM range(63)) TO '{path}' (FORMAT parquet)"
    )
    data = path.read_bytes()
    at = data.rindex(b"\x16\x7e")  # 63 as the footer writes it, for the last time: as the rows of the group
    path.write_bytes(data[: at + 1] + b"\x7d" + data[at + 2 :])
    told = duckdb.sql(f"SELECT DISTINCT row_group_num_rows FROM parquet_metadata('{path}')").fetchall()
    assert told == [(-63,)]
    for source in (str(tmp_path / "v*.parquet"), path):
        with pytest.raises(hr.InputError, match=r"the Parquet file cannot be read .* found 'a group of -63 rows'"):
            hr.read_votes(source)


def footer(*parts: bytes) -> io.BytesIO:
    """Return a file that ends as Parquet does."""
    told = b"".join(parts)
    return io.BytesIO(b"PAR1" + told + len(told).to_bytes(4, "little") + b"PAR1")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (footer(b"\x19\xfc\xff\xff\xff\x7f\x00"), "268,435,455 entries"),  # a list of structures
        (footer(b"\x19\x5c" + b"\x00" * 14), "5 entries"),  # of five that have less than three bytes each
        (footer(b"\x19\xf8\x08" + b"\x00" * 4), "8 entries"),  # of eight texts in four bytes
        (footer(b"\x1b\x09\x88"), "9 entries"),  # a map
        (footer(b"\x1c" * 40), "too deep"),
        (footer(b"\x19\x19" * 40), "too deep"),
        (footer(b"\x18\x05abc"), "cut short"),
        (footer(b"\x16" + b"\xff" * 11), "too many bytes"),
        (footer(b"\x1d\x00"), "type 13"),
        (footer(b"\x15\x02"), "cut short"),
        (io.BytesIO(b"PAR1\x00\x00\x00\x00PARE"), "does not end"),
        (io.BytesIO(b"PAR1\xff\x00\x00\x00PAR1"), "does not end"),
        (io.BytesIO(b"PAR1"), "does not end"),
        (io.BytesIO(b""), "does not end"),
    ],
)
def test_footers_that_say_too_much_are_refused(content, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        check_footer(content)
    if content.getvalue()[:4] == b"PAR1":
        path = tmp_path / "votes.parquet"
        path.write_bytes(content.getvalue())
        for source in (str(tmp_path / "v*.parquet"), path):
            with pytest.raises(hr.InputError, match=f"the Parquet file cannot be read .*{said}"):
                hr.read_votes(source)


def test_footers_of_all_kinds_are_walked_to_their_end(tmp_path):
    sound = b"".join((
        b"\x11\x12",  # true, false
        b"\x13\x07\x14\x02\x15\x80\x01\x06\x08\x16",  # a byte, and numbers, one of a field with a number of its own
        b"\x17" + bytes(8) + b"\x18\x02hi",  # a fraction, a text
        b"\x19\x22\x01\x02\x1a\x15\x08",  # a list of flags, a set of a number
        b"\x1b\x01\x85\x01a\x02\x1b\x00",  # a map of a text to a number, an empty one
        b"\x1c\x15\x02\x00\x19\x1c\x15\x02\x15\x04\x00",  # a structure, a list of one
        b"\x00",
    ))  # fmt: skip
    check_footer(footer(sound))
    for cut in range(len(sound)):
        with pytest.raises(ValueError, match=r"cut short|more than it can hold"):
            check_footer(footer(sound[:cut]))
    for rows_of_a_group in (1, 13, 1000):
        path = tmp_path / "v.parquet"
        table = pa.table({"a": range(300), "b": ["x"] * 300, "c": [None, [1.5]] * 150})
        pq.write_table(table, path, row_group_size=rows_of_a_group)
        with path.open("rb") as file:
            check_footer(file)
