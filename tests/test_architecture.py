"""The house stands as ARCHITECTURE.md draws it: rooms import only rooms above them, and start-up stays light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import holdrank
from conftest import ROOT

SOURCE = ROOT / "src" / "holdrank"

CODE = re.compile(r"`(\w+)`")
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def table(title: str) -> list[tuple[str, str]]:
    """Return the rows of the table under a heading: what the first cell names, and the rest."""
    part = TEXT.partition(f"## {title}\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").partition(" | ") for line in part.splitlines() if line.startswith("| `")]
    return [(CODE.findall(first)[0], rest) for first, _, rest in rows]


ROOMS = [room for room, _ in table("The rooms")]
FRONT_DOORS = {"__init__", "__main__"}  # they hand out names from every room

ONE_USER = {"highspy": "rules", "click": "cli", "rich": "cli", "array_api_compat": "rankings",
            "matplotlib": "plots", "distributed": "parallel", "starlette": "studio", "uvicorn": "studio",
            "python_multipart": "studio"}  # fmt: skip
HEAVY = {"highspy", "matplotlib", "torch", "duckdb", "pandas", "polars", "pyarrow", "openpyxl",
         "narwhals", "rich", "array_api_compat", "scipy", "jinja2", "distributed", "dask", "starlette",
         "uvicorn"}  # fmt: skip

MODULES = {path: ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
           for path in sorted(SOURCE.rglob("*.py"))}  # fmt: skip
NAMES = set(MODULES.values())


INDEPENDENT = ("exact", "programs", "bounds", "search", "rounding", "strengths", "movements")  # of the proofs


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path, *, top_level_only: bool = False) -> list[str]:
    """Return the dotted names that a module imports, wherever it does, also by a string.

    At its top level only: what importing it costs.
    """
    found = []
    todo: list[ast.AST] = list(tree_of(path).body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
            [name] = node.args
            if path == SOURCE / "__init__.py":  # the front door hands out names from every room
                continue
            assert isinstance(name, ast.Constant), f"{path.name}: an import by a name that nobody can read"
            found.append(name.value)
        elif top_level_only and (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        ):
            continue
        todo += ast.iter_child_nodes(node)
    return found


def graph() -> dict[str, set[str]]:
    """Return which modules of the package each module needs."""
    return {
        name: {target if target in NAMES else target.rpartition(".")[0] for target in imports(path)} & NAMES - {name}
        for path, name in MODULES.items()
        if room_of(path) not in FRONT_DOORS
    }


def test_every_room_is_on_the_plan_and_there_are_few():
    assert {room_of(path) for path in MODULES} == {*ROOMS, *FRONT_DOORS}
    assert len([path for path in SOURCE.iterdir() if path.name != "__pycache__"]) <= 20


def test_rooms_import_only_rooms_above():
    upward = []
    for path, module in MODULES.items():
        room = room_of(path)
        if room in FRONT_DOORS:
            continue
        allowed = {*ROOMS[: ROOMS.index(room)], room, "__version__"}
        for name in imports(path):
            parts = name.split(".")
            if parts[0] == "holdrank" and parts[1] not in allowed:
                upward.append(f"{module} imports {name}")
    assert not upward


def test_no_modules_need_each_other():
    """Take away modules that need nothing that is left, until none is left."""
    needs = graph()
    while ready := [name for name, targets in needs.items() if not targets & needs.keys()]:
        for name in ready:
            del needs[name]
    assert not needs, "a cycle among, or above, these"


def test_no_name_of_a_module_is_hidden_in_a_string():
    """An f-string that builds the name of a module is an import that nobody sees; the front door has the only two."""
    for path in MODULES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.JoinedStr) and path != SOURCE / "__init__.py":
                assert "holdrank." not in ast.unparse(node).replace("holdrank.js", ""), path.name


def test_proofs_share_nothing_with_the_engines_that_they_check():
    """The solver is asked for multipliers only; any multipliers prove something."""
    allowed = ("holdrank.votes.", "holdrank.rankings.", "holdrank.status.", "holdrank.arrays.tolerances.",
               "holdrank.rules.solvers.highs.", *(f"holdrank.proofs.{name}" for name in INDEPENDENT))  # fmt: skip
    for name in INDEPENDENT:
        for target in imports(SOURCE / "proofs" / f"{name}.py"):
            assert not target.startswith("holdrank.") or target.startswith(allowed), f"{name} imports {target}"


APART = {"browser", "fuzz", "gpu"}  # tests that need what is not on every machine


def test_every_room_has_a_folder_of_tests():
    """Tests of a room that is a single module, and of all rooms together, lie beside the folders."""
    folders = {path.parent.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").rglob("*/*.py")}
    assert folders - APART == {room for room in ROOMS if (SOURCE / room).is_dir()}


def test_no_two_files_of_tests_share_a_name():
    """Pytest would refuse to run both, outside of packages."""
    names = [path.name for path in (ROOT / "tests").rglob("*.py") if not (path.parent / "__init__.py").exists()]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_the_modules_of_rooms_are_in_the_document():
    """Where the page names modules of a room, it names them all, and none that is not there."""
    for room, words in table("The rooms"):
        folder = SOURCE / room
        if folder.is_dir():
            modules = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/*.py")}
            assert set(CODE.findall(words)) == modules - {"__init__"}, room


@pytest.mark.parametrize("package", ONE_USER)
def test_some_packages_have_one_user(package):
    users = {room_of(path) for path in MODULES for name in imports(path) if name.split(".")[0] == package}
    assert users == {ONE_USER[package]}


def test_heavy_packages_are_imported_where_they_are_used():
    top = {
        (module, name.split(".")[0]) for path, module in MODULES.items() for name in imports(path, top_level_only=True)
    }
    assert not [(module, package) for module, package in sorted(top) if package in HEAVY]


def test_no_module_outgrows_its_room():
    assert not [module for path, module in MODULES.items() if len(path.read_text(encoding="utf-8").splitlines()) > 450]
    assert not {path.stem for path in MODULES} & {"utils", "helpers", "common", "core", "manager"}


KERNELS = {
    "_least",
    "_perturb",
    "_weigh",
}  # compiled; numbers in, numbers out


def test_functions_are_short_and_take_few_things():
    """Without its docstring no more than 70 lines; no more than 8 parameters, options by keyword aside."""
    functions = [
        (f"{module}.{node.name}", node)
        for path, module in MODULES.items()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name not in KERNELS
        # a command has as many parameters as options
        and not any("click." in ast.unparse(decorator) for decorator in node.decorator_list)
    ]
    assert len(functions) > 1000
    assert not [name for name, node in functions if lines_of(node) > 70]
    assert not [name for name, node in functions if parameters_of(node) > 8]


def lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    docstring = node.body[0].end_lineno - node.body[0].lineno + 1 if ast.get_docstring(node) else 0
    return node.end_lineno - node.lineno + 1 - docstring


def parameters_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return len([one for one in [*node.args.posonlyargs, *node.args.args] if one.arg not in ("self", "cls")])


def comparisons() -> Iterator[tuple[str, set[str], set[object]]]:
    """Yield the comparisons of all modules: where, and the names and the constants on either side."""
    for path, name in MODULES.items():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                parts = [
                    part for side in sides for part in (side.elts if isinstance(side, ast.Tuple | ast.List) else [side])
                ]
                yield (
                    f"{name}, line {node.lineno}",
                    {part.id for part in parts if isinstance(part, ast.Name)},
                    {part.value for part in parts if isinstance(part, ast.Constant)},
                )


def test_no_module_asks_which_rule_it_has():
    """They ask the registry what the rule can do."""
    rules = {"kemeny", "borda", "footrule", "copeland", "bradley_terry", "mean_score"}
    assert not [where for where, names, _ in comparisons() if names & rules and "registry" not in where]


def test_few_modules_ask_which_change_it_is():
    """They ask the change what it does."""
    found = [
        where for where, _, texts in comparisons() if texts & {"replace", "drop", "add"} and "changes" not in where
    ]
    assert len(found) <= 5, found


def test_public_names_are_the_same_for_people_and_type_checkers():
    tree = tree_of(SOURCE / "__init__.py")
    block = next(node for node in tree.body if isinstance(node, ast.If))
    lines = [node for node in ast.walk(block) if isinstance(node, ast.ImportFrom)]
    seen_by_checkers = {(line.module, alias.name) for line in lines for alias in line.names}
    given_to_people = {(f"holdrank.{room}", name) for name, room in holdrank._ROOM_OF.items()}
    assert seen_by_checkers == given_to_people | {
        tuple(f"holdrank.{module}".rsplit(".", 1)) for module in holdrank._MODULES.values()
    }
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
for name in ("duckdb", "openpyxl", "pyarrow", "pandas", "polars", "matplotlib", "torch", "scipy"):
    sys.modules[name] = None
import numpy as np, holdrank as hr
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
