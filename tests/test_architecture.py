"""The house stands as ARCHITECTURE.md draws it: rooms import only rooms above them, and start-up stays light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import holdrank
from conftest import ROOT

SOURCE = ROOT / "src" / "holdrank"

CODE = re.compile(r"`(\w+)`")


def rooms() -> list[str]:
    """Return the rooms in the order of the table in ARCHITECTURE.md: a room imports only what stands above it."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.partition("## The rooms")[2].partition("\n\n`_kernels`")[0]
    return [CODE.findall(line)[0] for line in table.splitlines() if line.startswith("| `")]


ROOMS = rooms()
FRONT_DOORS = {"__init__", "__main__"}  # they hand out names from every room

ONE_USER = {"highspy": "_highs", "numba": "_kernels", "click": "cli", "rich": "cli", "array_api_compat": "rankings",
            "matplotlib": "plots", "distributed": "clusters", "fastapi": "studio", "starlette": "studio",
            "uvicorn": "studio"}  # fmt: skip
HEAVY = {"numba", "highspy", "matplotlib", "torch", "fastapi", "duckdb", "pandas", "polars", "pyarrow", "openpyxl",
         "narwhals", "rich", "array_api_compat", "scipy", "jinja2", "distributed", "dask", "starlette",
         "uvicorn"}  # fmt: skip

MODULES = sorted(SOURCE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path, *, top_level_only: bool = False) -> list[str]:
    """Return the dotted names that a module imports (at its top level: what importing it costs)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = []
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif top_level_only and (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        ):
            continue
        todo += ast.iter_child_nodes(node)
    return found


def test_every_room_is_on_the_plan():
    assert {room_of(path) for path in MODULES} == {*ROOMS, *FRONT_DOORS}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_rooms_import_only_rooms_above(path):
    room = room_of(path)
    if room in FRONT_DOORS:
        return
    allowed = {*ROOMS[: ROOMS.index(room)], room, "__version__"}
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "holdrank":
            assert parts[1] in allowed, f"{room} imports {name}"


def test_modules_of_breaking_import_only_modules_above():
    """The order is that of the table in ARCHITECTURE.md."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.partition("Inside `breaking`")[2].partition("##")[0]
    order = [name for line in table.splitlines() if line.startswith("| `") for name in CODE.findall(line.split("|")[1])]
    assert {path.stem for path in (SOURCE / "breaking").glob("*.py")} == {*order, "__init__"}
    for name in order:
        for imported in imports(SOURCE / "breaking" / f"{name}.py"):
            parts = imported.split(".")
            if parts[:2] == ["holdrank", "breaking"]:
                assert parts[2] in order[: order.index(name)], f"{name} imports {imported}"


def test_proofs_share_nothing_with_the_engines_that_they_check():
    """The solver is asked for multipliers only; any multipliers prove something."""
    allowed = {"proofs", "votes", "rankings", "status", "tolerances", "_highs"}
    for path in (SOURCE / "proofs").glob("*.py"):
        used = {name.split(".")[1] for name in imports(path) if name.startswith("holdrank.")}
        assert used <= allowed, path.name


def test_the_modules_of_rooms_are_in_the_document():
    """Where the page names modules of a room, it names them all."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for room in ("tables", "files", "bigvotes", "_kemeny", "proofs", "verifying", "plots", "paper", "studio", "cli"):
        [row] = [line for line in text.splitlines() if line.startswith(f"| `{room}` |")]
        modules = {path.stem for path in (SOURCE / room).glob("*.py")} - {"__init__"}
        assert modules <= set(CODE.findall(row)), room


@pytest.mark.parametrize("package", ONE_USER)
def test_some_packages_have_one_user(package):
    users = {room_of(path) for path in MODULES for name in imports(path) if name.split(".")[0] == package}
    assert users == {ONE_USER[package]}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_heavy_packages_are_imported_where_they_are_used(path):
    top = {name.split(".")[0] for name in imports(path, top_level_only=True)}
    assert not top & HEAVY


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_module_outgrows_its_room(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 800
    assert path.stem not in {"utils", "helpers", "common", "core", "manager"}


def test_public_names_are_the_same_for_people_and_type_checkers():
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    lines = [node for node in ast.walk(block) if isinstance(node, ast.ImportFrom)]
    seen_by_checkers = {(line.module, alias.name) for line in lines for alias in line.names}
    given_to_people = {(f"holdrank.{room}", name) for name, room in holdrank._ROOM_OF.items()}
    assert seen_by_checkers == given_to_people | {("holdrank", module) for module in holdrank._MODULES}
    for name in holdrank.__all__:
        assert getattr(holdrank, name) is not None
        assert name in dir(holdrank)
    with pytest.raises(AttributeError, match="no attribute 'kemney'"):
        _ = holdrank.kemney


HELP = "import sys; sys.argv = ['holdrank', '--help']; import holdrank.cli as c; c.main()"


@pytest.mark.parametrize("start", ["import holdrank", "import holdrank.cli", HELP])
def test_start_up_loads_nothing_heavy(start):
    script = f"import sys, atexit\natexit.register(lambda: print(*sys.modules, file=sys.stderr))\n{start}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stderr.split()}
    assert "holdrank" in loaded
    assert not loaded & (HEAVY | {"numpy"})


def test_using_every_public_name_loads_nothing_heavy():
    script = "import sys, holdrank\n[getattr(holdrank, name) for name in holdrank.__all__]\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {name.split(".")[0] for name in done.stdout.split()} & HEAVY


def test_everything_works_without_optional_packages(tmp_path):
    """Hide the extras; reading, ranking and merging go on, and what needs an extra says which."""
    script = """
import sys
for name in ("numba", "duckdb", "openpyxl", "pyarrow", "pandas", "polars", "matplotlib", "torch", "scipy"):
    sys.modules[name] = None
import numpy as np, holdrank as hr
from holdrank import _kernels
_kernels._WORTH_LOADING = _kernels._WORTH_CALLING = 0
votes = hr.sample_votes(hr.Mallows(range(6), 0.5), 1000, rng=1)
for statistic in (hr.kemeny, hr.borda, hr.footrule, hr.copeland, hr.bradley_terry, hr.Robust(hr.kemeny, 0.05)):
    statistic(votes)
    hr.bootstrap(votes, statistic, draws=5, rng=1)
hr.write_votes(votes, "votes.csv")
assert hr.read_votes("votes.csv") == votes
open("votes.parquet", "wb").write(b"PAR1" + bytes(20) + b"PAR1")
try:
    hr.read_votes("votes.parquet")
except hr.MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    assert "pip install 'holdrank[io]'" in done.stdout
