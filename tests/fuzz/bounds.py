"""How much time and memory hostile files take: python tests/fuzz/bounds.py [NAME …] [--folder DIR].

Every file is made here, read in a process of its own, and measured: seconds of the processor, and the peak of memory
above that of a process that reads three lines. A file must be read, or refused by one `HoldrankError`, within 100 times
its size in memory (and 64 MB that any file may take) and ten seconds. The exit code is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

MOST_TIMES = 100
ALLOWANCE = 64 * 2**20
SECONDS = 10
ADDRESS_SPACE = 12 * 2**30  # what a reader may ask for before it is stopped
PATIENCE = 120

Maker = Callable[[Path], None]


CASES: dict[str, tuple[str, Maker]] = {}
"""The name of each file, and what makes it."""


def case(name: str) -> Callable[[Maker], Maker]:
    """Register a maker under the name of the file that it writes."""

    def add(make: Maker) -> Maker:
        CASES[make.__name__.replace("_", "-")] = (name, make)
        return make

    return add


# ------------------------------------------------------------------------------------------------------ spreadsheets

_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.'
    'sheet.main+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-'
    'officedocument.spreadsheetml.sharedStrings+xml"/></Types>'
)
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_BOOK = f'<workbook {_MAIN} xmlns:r="{_LINKS}"><sheets>%s</sheets></workbook>'
_ONE = '<sheet name="votes" sheetId="1" r:id="r1"/>'
_RELS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
)


def _inline(*texts: str) -> str:
    return "".join(f'<c t="inlineStr"><is><t>{text}</t></is></c>' for text in texts)


SMALL_SHEET = f"<row>{_inline('rank1', 'rank2')}</row><row>{_inline('x', 'y')}</row>"


def write_workbook(
    path: Path, rows: str | Iterator[bytes], *, before: str = "", book: str = _BOOK % _ONE, strings: str | None = None
) -> None:
    """Write a workbook with one sheet, whose rows may come piece by piece."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("xl/workbook.xml", book)
        archive.writestr("xl/_rels/workbook.xml.rels", _RELS)
        if strings is not None:
            archive.writestr("xl/sharedStrings.xml", strings)
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            sheet.write(f"{before}<worksheet {_MAIN}><sheetData>".encode())
            for piece in [rows.encode()] if isinstance(rows, str) else rows:
                sheet.write(piece)
            sheet.write(b"</sheetData></worksheet>")


@case("bomb.xlsx")
def zip_bomb(path: Path) -> None:
    """Two megabytes that unpack to two gigabytes of spaces."""
    write_workbook(path, (b" " * 2**20 for _ in range(2048)))


@case("rows.xlsx")
def empty_rows(path: Path) -> None:
    """A million rows without cells."""
    write_workbook(path, SMALL_SHEET + "<row/>" * 1_000_000)


@case("cells.xlsx")
def equal_cells(path: Path) -> None:
    """Half a million cells that are all alike."""
    write_workbook(path, SMALL_SHEET + ("<row>" + "<c><v>1</v></c>" * 1000 + "</row>") * 500)


@case("strings.xlsx")
def shared_strings(path: Path) -> None:
    """A million and a half texts that no cell refers to."""
    write_workbook(path, SMALL_SHEET, strings=f"<sst {_MAIN}>" + "<si/>" * 1_500_000 + "</sst>")


@case("dimension.xlsx")
def declared_dimension(path: Path) -> None:
    """A sheet that declares as many rows and columns as there can be, and has a cell in the last of them."""
    last = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    write_workbook(path, SMALL_SHEET + last)


@case("corner.xlsx")
def far_cells(path: Path) -> None:
    """Rows with one cell each, in the last column."""
    rows = (f'<row r="{k}"><c r="XFD{k}"><v>1</v></c></row>' for k in range(3, 50_000))
    write_workbook(path, SMALL_SHEET + "".join(rows))


@case("sheets.xlsx")
def many_sheets(path: Path) -> None:
    """A hundred thousand sheets that are all the same large one."""
    sheets = "".join(f'<sheet name="{k}" sheetId="{k + 1}" r:id="r1"/>' for k in range(100_000))
    write_workbook(path, SMALL_SHEET + "<row/>" * 100_000, book=_BOOK % sheets)


@case("laughs.xlsx")
def billion_laughs(path: Path) -> None:
    """Entities that stand for ten others each."""
    names = [f"l{k}" for k in range(12)]
    told = '<!ENTITY l0 "ha">' + "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise(names))
    rows = f"<row>{_inline('&l11;')}</row>"
    write_workbook(path, rows, before=f"<!DOCTYPE x [{told}]>")


@case("packed.xlsx")
def packed_cells(path: Path) -> None:
    """A megabyte that unpacks to more than twenty: a digit a cell."""
    cells = [f"<c><v>{digit}</v></c>" for digit in range(10)]
    digits = random.Random(1)
    write_workbook(path, (f"<row>{''.join(digits.choices(cells, k=100))}</row>".encode() for _ in range(15_000)))


@case("token.xlsx")
def one_long_token(path: Path) -> None:
    """A comment of eight megabytes, which a parser that is fed little by little begins again and again."""
    write_workbook(path, SMALL_SHEET + "<!--" + "x" * 8_000_000 + "-->")


# ------------------------------------------------------------------------------------------------------------- text


def _preflib(path: Path, items: int, lines: Iterator[str], kind: str = "soi") -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# DATA TYPE: {kind}\n# NUMBER ALTERNATIVES: {items}\n")
        file.writelines(f"# ALTERNATIVE NAME {k}: item {k}\n" for k in range(1, items + 1))
        file.writelines(line + "\n" for line in lines)


@case("genes.soi")
def many_items(path: Path) -> None:
    """5,904 items and forty ballots that list a third of them."""
    _preflib(
        path, 5904, ("1: " + ",".join(str(1 + (k * 7 + 13 * row) % 5904) for k in range(2000)) for row in range(40))
    )


@case("sparse.soi")
def many_short_ballots(path: Path) -> None:
    """Fifteen thousand items and as many ballots, each with one item: a matrix of 2**28 cells."""
    _preflib(path, 15_000, (f"1: {k}" for k in range(1, 15_001)))


@case("sparse.order")
def many_short_orders(path: Path) -> None:
    """The same in the shortest of all formats."""
    path.write_text("15000 1\n" + "".join(f"0 1 {k}\n" for k in range(15_000)), encoding="utf-8")


@case("sparse.jsonl")
def many_short_lines(path: Path) -> None:
    """The same in JSON."""
    path.write_text("".join(f'{{"order": ["x{k}"]}}\n' for k in range(15_000)), encoding="utf-8")


@case("sparse.csv")
def many_short_rows(path: Path) -> None:
    """The same in a table of names."""
    path.write_text("rank1,rank2\n" + "".join(f"x{k},\n" for k in range(15_000)), encoding="utf-8")


@case("judgements.csv")
def many_short_judgements(path: Path) -> None:
    """Seven thousand judgements of two items that nobody else judged."""
    rows = "".join(f"a{k},1,b{k},2\n" for k in range(7000))
    path.write_text("system1Id,system1rank,system2Id,system2rank\n" + rows, encoding="utf-8")


@case("approvals.cat")
def many_approvals(path: Path) -> None:
    """Fifteen thousand voters who approve of one item each."""
    names = "# CATEGORY NAME 1: yes\n# CATEGORY NAME 2: no\n"
    _preflib(path, 15_000, (f"1: {k},{{}}" for k in range(1, 15_001)), "cat")
    path.write_text(names + path.read_text(encoding="utf-8"), encoding="utf-8")


@case("line.csv")
def long_line_csv(path: Path) -> None:
    """200 MB on one line."""
    path.write_bytes(b"a,b,c\n1,2," + b"3" * 200_000_000 + b"\n")


@case("line.soc")
def long_line_soc(path: Path) -> None:
    """200 MB on one line of a PrefLib file."""
    path.write_bytes(b"# DATA TYPE: soc\n# ALTERNATIVE NAME 1: a\n1: " + b"1," * 100_000_000 + b"\n")


@case("line.jsonl")
def long_line_jsonl(path: Path) -> None:
    """200 MB on one line of JSON."""
    path.write_bytes(b'{"order": ["' + b"x" * 200_000_000 + b'"]}\n')


@case("lists.jsonl")
def many_lists_jsonl(path: Path) -> None:
    """Six megabytes of empty lists."""
    path.write_bytes(b'{"order": [' + b"[]," * 2_000_000 + b'"a"]}\n')


@case("count.soc")
def absurd_count(path: Path) -> None:
    """A count of 10**30."""
    path.write_bytes(b"# DATA TYPE: soc\n# ALTERNATIVE NAME 1: a\n" + b"1" + b"0" * 30 + b": 1\n")


@case("digits.soc")
def absurd_digits(path: Path) -> None:
    """A count and an item of a megabyte of digits."""
    path.write_bytes(b"# DATA TYPE: soc\n# ALTERNATIVE NAME 1: a\n" + b"1" * 2**20 + b": " + b"1" * 2**20 + b"\n")


@case("deep.jsonl")
def deep_json(path: Path) -> None:
    """Lists a hundred thousand deep."""
    path.write_bytes(b'{"order": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n")


@case("wide.csv")
def million_columns(path: Path) -> None:
    """A million columns of two ranks each."""
    names = ",".join(f"i{k}" for k in range(1_000_000))
    row = ",".join(str(k) for k in range(1, 1_000_001))
    path.write_text(f"{names}\n{row}\n{row}\n", encoding="utf-8")


@case("words.csv")
def million_words(path: Path) -> None:
    """A million columns of text, whose form nothing tells."""
    names = ",".join(f"i{k}" for k in range(1_000_000))
    path.write_text(f"{names}\n{names}\n", encoding="utf-8")


@case("lists.csv")
def wide_lists(path: Path) -> None:
    """One list of two hundred thousand items."""
    count = 200_000
    path.write_text(
        "name," + ",".join(map(str, range(1, count + 1))) + "\nv," + ",".join(f"i{k}" for k in range(count)) + "\n",
        encoding="utf-8",
    )


@case("slots.csv")
def wide_judgements(path: Path) -> None:
    """One judgement over twenty thousand items: two hundred million pairs."""
    slots = [f"{chr(97 + k % 26)}{chr(97 + k // 26)}" for k in range(26 * 26)]
    names = [(f"{slot}{number}id", f"{slot}{number}rank") for slot in slots for number in range(30)]
    header = ",".join(name for pair in names for name in pair)
    row = ",".join(f"x{k},{k + 1}" for k in range(len(names)))
    part = ",".join(f"y{k},{k + 1}" for k in range(len(names)))
    path.write_text(f"{header}\n{row}\n{part}\n", encoding="utf-8")


@case("battles.csv")
def many_battlers(path: Path) -> None:
    """Twenty thousand battles between forty thousand items: a matrix of 2**29 cells, or more."""
    rows = "".join(f"a{k},b{k},model_a\n" for k in range(20_000))
    path.write_text("model_a,model_b,winner\n" + rows, encoding="utf-8")


@case("chain.csv")
def long_chain(path: Path) -> None:
    """A chain of ten thousand comparisons, in an order that joins ends last."""
    rows = "".join(f"x{k},x{k + 1},model_a\n" for k in sorted(range(10_000), key=lambda k: (k * 7919) % 10_007))
    path.write_text("model_a,model_b,winner\n" + rows, encoding="utf-8")


@case("marks.csv")
def many_lone_marks(path: Path) -> None:
    """Eight thousand voters and as many items, of which each voter marks two."""
    path.write_text(
        "voter,item,score\n" + "".join(f"v{k % 8000},i{k // 2},{k}\n" for k in range(16_000)), encoding="utf-8"
    )


@case("ragged.csv")
def ragged_lists(path: Path) -> None:
    """One list of fifty thousand places, and a hundred thousand with one."""
    header = "name," + ",".join(map(str, range(1, 50_001)))
    path.write_text(header + "\n" + "v,a\n" * 100_000, encoding="utf-8")


@case("keys.jsonl")
def many_keys(path: Path) -> None:
    """Twenty thousand objects with a key of their own each."""
    path.write_text("".join(f'{{"k{k}": 1}}\n' for k in range(20_000)), encoding="utf-8")


@case("empty.csv")
def empty_lines(path: Path) -> None:
    """A million empty lines before and after the votes."""
    path.write_bytes(b"\n" * 1_000_000 + b"rank1,rank2\nx,y\n" + b"\n" * 1_000_000)


@case("commas.csv")
def commas(path: Path) -> None:
    """Rows of nothing but delimiters."""
    path.write_bytes((b"," * 1000 + b"\n") * 5000)


@case("quote.csv")
def open_quote(path: Path) -> None:
    """A quoted cell of 50 MB that is never closed."""
    path.write_bytes(b'rank1,rank2\nx,"' + b"y\n" * 25_000_000)


@case("faults.csv")
def faulty_cells(path: Path) -> None:
    """A quarter of a million faulty cells, one of which is enough."""
    path.write_bytes(b"weight,rank1\n" + b"x,y\n" * 250_000)


@case("flags.validate.csv")
def faulty_battles(path: Path) -> None:
    """Fifty thousand battles, in each of which both have won; all are reported."""
    rows = "".join(f"a{k},b{k},1,1\n" for k in range(50_000))
    path.write_text("model_a,model_b,winner_model_a,winner_model_b\n" + rows, encoding="utf-8")


@case("undeclared.validate.soi")
def undeclared_items(path: Path) -> None:
    """Fifty thousand ballots that name what is not among thirty thousand items."""
    _preflib(path, 30_000, ("1: 0" for _ in range(50_000)))


@case("ranks.validate.parquet")
def faulty_ranks(path: Path) -> None:
    """Half a million ranks below 1, in a kilobyte of Parquet."""
    import duckdb

    duckdb.sql(f"COPY (SELECT -1 AS a, -2 AS b FROM range(250000)) TO '{path}' (FORMAT parquet)")


@case("huge.order")
def declared_items(path: Path) -> None:
    """Ten million items that are declared and never named."""
    path.write_bytes(b"9999999 1\n0 1 5\n")


@case("old.soi")
def declared_old(path: Path) -> None:
    """A thousand million items in the old format."""
    path.write_bytes(b"999999999\n1,a\n2,b\n1,1,1\n1,1,2\n")


@case("gap.soi")
def far_numbers(path: Path) -> None:
    """Items whose numbers lie far apart, and one that is not declared."""
    path.write_bytes(b"# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 999999999999999: b\n1: 5\n")


# --------------------------------------------------------------------------------------------- Parquet, counts, others


@case("equal.parquet")
def parquet_bomb(path: Path) -> None:
    """A hundred million rows that are all alike, in a few kilobytes."""
    import duckdb

    duckdb.sql(
        f"COPY (SELECT 'x' AS model_a, 'y' AS model_b, 'model_a' AS winner FROM range(100000000)) TO '{path}' "
        "(FORMAT parquet, CODEC zstd, ROW_GROUP_SIZE 10000000)"
    )


@case("text.parquet")
def parquet_text(path: Path) -> None:
    """A text of a megabyte, on a thousand rows."""
    import duckdb

    duckdb.sql(
        f"COPY (SELECT repeat('x', 1000000) AS model_a, 'y' AS model_b, 'model_a' AS winner FROM range(1000)) "
        f"TO '{path}' (FORMAT parquet, CODEC zstd)"
    )


@case("rows.parquet")
def parquet_rows(path: Path) -> None:
    """A file whose footer claims 2**41 rows."""
    import duckdb

    duckdb.sql(
        f"COPY (SELECT 'x' AS model_a, 'y' AS model_b, 'tie' AS winner FROM range(63)) TO '{path}' (FORMAT parquet)"
    )
    data = path.read_bytes()
    footer = data.rindex(b"duckdb_schema")
    # 63 rows are written as the byte 0x7e after the type of the field, 0x16.
    at = data.index(b"\x16\x7e", footer)
    data = data[:at] + b"\x16\x80\x80\x80\x80\x80\x80\x01" + data[at + 2 :]
    length = int.from_bytes(data[-8:-4], "little") + 6
    path.write_bytes(data[:-8] + length.to_bytes(4, "little") + b"PAR1")


def _npz(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@case("head.npz")
def counts_head_bomb(path: Path) -> None:
    """Pair counts whose names are sixty megabytes of empty lists."""
    text = b'{"items": [' + b"[]," * 20_000_000 + b"[]]}"
    _npz(path, {"head.npy": _npy(np.frombuffer(text, np.uint8))})


@case("wins.npz")
def counts_matrix_bomb(path: Path) -> None:
    """Pair counts of two items with a matrix of a gigabyte."""
    head = json.dumps({"format": "holdrank pair counts", "version": 1, "items": ["a", "b"], "total": 1}).encode()
    _npz(
        path,
        {"head.npy": _npy(np.frombuffer(head, np.uint8)), "wins.npy": _npy(np.zeros((11_000, 11_000)))},
    )


def _save_few(path: Path, items: int) -> None:
    from holdrank import PairCounts

    wins = [[0.0] * items for _ in range(items)]
    wins[0][1] = 5.0
    PairCounts.from_wins(wins, [f"item {k}" for k in range(items)]).save(path)


@case("largest.npz")
def counts_largest(path: Path) -> None:
    """The largest counts that there are, 5,000 items, of which few were compared: as they are written."""
    _save_few(path, 5000)


@case("packed.npz")
def counts_packed(path: Path) -> None:
    """The same counts, packed to a thousandth."""
    _save_few(path, 5000)
    with np.load(path) as saved:
        np.savez_compressed(path, **saved)


@case("free.npz")
def counts_free(path: Path) -> None:
    """About the most items whose matrix may be packed at will."""
    _save_few(path, 2500)


@case("deep.json")
def deep_analysis(path: Path) -> None:
    """An analysis that nests a hundred thousand deep."""
    path.write_bytes(b'{"schema": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")


@case("long.json")
def long_analysis(path: Path) -> None:
    """Thirty megabytes of numbers that say they are an analysis."""
    path.write_bytes(b'{"schema": "holdrank-analysis-1", "items": [' + b"1," * 15_000_000 + b"1]}")


@case("deep.checkpoint")
def deep_checkpoint(path: Path) -> None:
    """A checkpoint that nests a hundred thousand deep."""
    path.write_bytes(b'{"checkpoint": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n")


# --------------------------------------------------------------------------------------------------------- measuring


def read(path: str) -> str:
    """Read a file in this process, with the reader that its name asks for; return what came of it."""
    from holdrank import HoldrankError, PairCounts, read_votes, validate
    from holdrank.analysis.result import Analysis
    from holdrank.parallel.checkpoints import Checkpoint

    try:
        if path.endswith(".npz"):
            return repr(PairCounts.load(path))
        if path.endswith(".json"):
            return repr(Analysis.from_json(Path(path).read_bytes()))
        if path.endswith(".checkpoint"):
            return repr(Checkpoint(path, "tradeoff", "", {}).points)
        if ".validate." in path:
            return f"{validate(path, format='rank-columns' if path.endswith('.parquet') else None).total:,} problems"
        return repr(read_votes(path))
    except HoldrankError as error:
        return f"{type(error).__name__}: {error}"


def worker(path: str) -> None:
    """Print what reading took, as JSON; the first reading of a small file is for what has to be imported."""
    from holdrank import read_votes

    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder) / "tiny.csv"
        tiny.write_bytes(b"rank1,rank2\nx,y\n")
        read_votes(tiny)
        if path.endswith(".xlsx"):
            write_workbook(tiny.with_suffix(".xlsx"), SMALL_SHEET)
            read(str(tiny.with_suffix(".xlsx")))
        elif path.endswith(".parquet") or Path(path).stat().st_size > 2**24:
            import duckdb

            duckdb.sql(f"COPY (SELECT 1 AS a, 2 AS b) TO '{folder}/tiny.parquet' (FORMAT parquet)")
            read(f"{folder}/tiny.parquet")
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    before, peak = resource.getrusage(resource.RUSAGE_SELF), peak_memory()
    start = time.perf_counter()
    said = read(path)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"said": said, "seconds": seconds, "wall": wall, "memory": peak_memory() - peak}))


def peak_memory() -> int:
    """Return the largest size of this process so far in bytes; what `getrusage` says begins with that of its parent."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def measure(path: Path) -> dict[str, object]:
    """Return what reading a file took, in a process of its own."""
    call = [sys.executable, __file__, "--worker", str(path)]
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return {"said": f"still reading after {PATIENCE} s", "seconds": PATIENCE, "wall": PATIENCE, "memory": 0}
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        last = (done.stderr.splitlines() or [f"exit code {done.returncode}"])[-1]
        return {"said": f"BROKEN: {last}", "seconds": PATIENCE, "wall": PATIENCE, "memory": 0}
    told: dict[str, object] = json.loads(lines[-1])
    return told


def main() -> int:
    """Make, read and measure; print a line for each file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(CASES)}")
    parser.add_argument("--folder", type=Path, help="where the files are made; by default a temporary folder")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker)
        return 0
    missed = 0
    print(f"{'file':24} {'bytes':>12} {'memory MB':>10} {'times':>8} {'seconds':>8}  what came of it")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for name in options.names or CASES:
            file, make = CASES[name]
            path = Path(folder) / file
            make(path)
            size = path.stat().st_size
            told = measure(path)
            memory, seconds = int(str(told["memory"])), float(str(told["seconds"]))
            sound = memory <= MOST_TIMES * size + ALLOWANCE and seconds <= SECONDS
            sound = sound and not str(told["said"]).startswith("BROKEN")
            missed += not sound
            said = str(told["said"]).replace(f"{folder}/", "")[:150]
            print(f"{file:24} {size:12,} {memory / 1e6:10.1f} {memory / size:8.1f} {seconds:8.2f}  "
                  f"{'' if sound else 'MISSED: '}{said}", flush=True)  # fmt: skip
            path.unlink()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
