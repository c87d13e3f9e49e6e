"""The library of compiled loops: what it takes, how it is found and built, and what is said where it cannot be."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import holdrank as hr
from holdrank.arrays import compiler, native


def test_arrays_of_another_type_or_with_gaps_are_refused():
    margin, order = np.zeros((3, 3)), np.arange(3)
    assert native.call("descend", margin, 3, order, 0.1) == 0
    for wrong in (
        (margin.astype(np.float32), 3, order, 0.1),
        (margin, 3, order.astype(np.int32), 0.1),
        (np.zeros((3, 6))[:, ::2], 3, order, 0.1),
        (margin, 3, np.arange(6)[::2], 0.1),
    ):
        with pytest.raises(TypeError, match="descend takes"):
            native.call("descend", *wrong)
    with pytest.raises(ValueError, match="argument"):
        native.call("descend", margin, 3, order)


def test_arrays_of_another_length_are_refused():
    margin, order = np.zeros((3, 3)), np.arange(3)
    for wrong, size in (
        ((margin, 2, order[:2], 0.1), r"n\*n = 4 numbers, not of 9"),  # an order that does not fit its matrix
        ((margin, 4, np.arange(4), 0.1), r"n\*n = 16 numbers, not of 9"),
        ((margin, 3, np.arange(4), 0.1), "n = 3 numbers, not of 4"),
    ):
        with pytest.raises(ValueError, match=f"descend takes an array of {size}"):
            native.call("descend", *wrong)
    cycles, weights = np.zeros(4, np.int64), np.zeros(4)
    assert native.call("left_of_cycles", margin, 3, cycles, weights, 2) == 0  # there may be room for more
    with pytest.raises(ValueError, match="c: = 5 numbers, not of 4"):
        native.call("left_of_cycles", margin, 3, cycles, weights, 5)


def test_the_table_of_loops_is_that_of_the_sources():
    """Each exported function is listed, with as many parameters of the same types."""
    kinds = {
        "double *": "F",
        "float *": "E",
        "int64_t *": "I",
        "int32_t *": "S",
        "int16_t *": "H",
        "uint8_t *": "B",
        "double": "f",
        "int64_t": "i",
    }
    found = {}
    for path in compiler.SOURCES.glob("*.c"):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for result, name, taken in re.findall(r"LOOP (\w+) (\w+)\((.*?)\)\n\{", text, flags=re.DOTALL):
            types = [re.sub(r"\w+$", "", one.strip()).removeprefix("const ").strip() for one in taken.split(",")]
            found[name] = kinds[result] + "".join(kinds[one] for one in types)
    listed = {name: native.parsed(text) for name, text in native.SIGNATURES.items()}
    assert found == {name: one.result + one.kinds for name, one in listed.items()}
    for name, one in listed.items():  # sizes are formulas of whole numbers that the loop takes
        used = {letter for size in one.sizes if size is not None for letter in re.findall("[a-z]", size.text)}
        assert used <= set(one.names), name


def in_a_copy(tmp_path: Path, script: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a script with a copy of the package in which nothing is built."""
    package = tmp_path / "holdrank"
    if not package.exists():
        shutil.copytree(Path(hr.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "loops-*"))
    full = {**os.environ, "PYTHONPATH": str(tmp_path), "HOME": str(tmp_path / "home"), **env}
    full.pop("XDG_CACHE_HOME", None)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=full)


SCRIPT = "import holdrank as hr; print(hr.kendall(list(range(20)), list(range(20))[::-1]))"


@pytest.mark.slow
def test_a_clone_builds_the_loops_at_the_first_use_and_anew_when_they_change(tmp_path):
    loops = tmp_path / "holdrank" / "arrays" / "loops"
    assert in_a_copy(tmp_path, SCRIPT).stdout == "1.0\n"
    (first,) = loops.glob("loops-*")
    source = loops / "orders.c"
    source.write_text(source.read_text(encoding="utf-8") + "/* changed */\n", encoding="utf-8")
    assert in_a_copy(tmp_path, SCRIPT).stdout == "1.0\n"
    (second,) = loops.glob("loops-*")
    assert first.name != second.name


@pytest.mark.traced
@pytest.mark.slow
def test_without_a_compiler_the_message_says_what_to_install(tmp_path):
    done = in_a_copy(tmp_path, SCRIPT, PATH="", CC="")
    assert done.returncode != 0
    assert "there is no C compiler" in done.stderr
    assert "apt install gcc" in done.stderr
    done = in_a_copy(tmp_path, SCRIPT, CC="no-such-compiler")
    assert "no-such-compiler does not start" in done.stderr
    done = in_a_copy(tmp_path, SCRIPT, CC="false")
    assert "false failed" in done.stderr
    (stand_in := tmp_path / "ziglang").mkdir()  # what the package of that name does, by the compiler that is here
    run = "import subprocess, sys\nsys.exit(subprocess.call([{!r}, *sys.argv[2:]]))\n"
    (stand_in / "__init__.py").touch()
    (stand_in / "__main__.py").write_text(run.format(compiler.find_compiler()[0]), encoding="utf-8")
    assert in_a_copy(tmp_path, SCRIPT, PATH=os.environ["PATH"], CC="false").returncode != 0
    path = str(tmp_path / "bin")
    Path(path).mkdir()
    for tool in ("as", "ld", "collect2"):  # of the compiler behind it
        if found := shutil.which(tool):
            (Path(path) / tool).symlink_to(found)
    done = in_a_copy(tmp_path, SCRIPT, PATH=path, CC="")
    assert done.stdout == "1.0\n", done.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="folders are made read-only in another way")
def test_a_read_only_clone_keeps_the_loops_with_the_user(tmp_path):
    in_a_copy(tmp_path, "pass")
    loops = tmp_path / "holdrank" / "arrays" / "loops"
    script = (
        "import holdrank.arrays.compiler as c, tempfile\n"
        "real = c.build\n"
        "def build(folder):\n"
        "    if folder == c.SOURCES: raise PermissionError(13, 'read-only')\n"  # root writes everywhere
        "    return real(folder)\n"
        "c.build = build\n" + SCRIPT
    )
    done = in_a_copy(tmp_path, script)
    assert done.stdout == "1.0\n", done.stderr
    assert not list(loops.glob("loops-*"))
    assert len(list((tmp_path / "home" / ".cache" / "holdrank").glob("loops-*"))) == 1


@pytest.mark.parametrize("text", ["i n I[f(n)]", "i n I[n/2]", "i n I['n']", "i n I[-n]"])
def test_sizes_are_formulas_of_whole_numbers_and_nothing_else(text):
    with pytest.raises((ValueError, KeyError)):
        native.parsed(text)


def test_a_formula_is_computed_as_written():
    (_, size) = native.parsed("i n I[(n+3)//4*16*n+(1<<n)-n**2]").sizes
    assert size.number({"n": 5}) == (5 + 3) // 4 * 16 * 5 + (1 << 5) - 25
