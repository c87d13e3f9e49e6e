"""What is handed out: the wheel, the archive of the sources, the lock files and the bill of materials."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import HeaderParser
from importlib.metadata import distribution
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from conftest import ROOT

posix = pytest.mark.skipif(os.name != "posix", reason="links the packages of one environment into another")

VOTES = """\
# ALTERNATIVE NAME 1: Ash
# ALTERNATIVE NAME 2: Birch
# ALTERNATIVE NAME 3: Cedar
3: 1,2,3
2: 3,1,2
"""


def built(source: Path, target: Path, what: str) -> Path:
    """Build a wheel or an archive of the sources, without a network."""
    code = f"import sys, hatchling.build as b; print(b.build_{what}(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(target)], cwd=source, capture_output=True, text=True, check=True
    )
    return target / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    pytest.importorskip("hatchling")
    return built(ROOT, tmp_path_factory.mktemp("wheel"), "wheel")


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    pytest.importorskip("hatchling")
    return built(ROOT, tmp_path_factory.mktemp("archive"), "sdist")


# The wheel and the archive of the sources.


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
    outside = [name for name in names if not re.match(r"holdrank/|holdrank-[\d.]+\.dist-info/", name)]
    assert not outside
    for needed in ("py.typed", "analysis/analysis.schema.json", "views/templates/report.html",
                   "views/templates/report.md", "views/static/page.css", "views/static/holdrank.js",
                   "studio/templates/base.html", "studio/templates/votes.html", "studio/static/studio.css",
                   "studio/static/studio.js", "cli/__init__.py"):  # fmt: skip
        assert f"holdrank/{needed}" in names
    assert sum(name.endswith(".dist-info/licenses/LICENSE") for name in names) == 1
    # Votes of other people must not slip in: the package ships code, pages and its schema.
    kinds = {Path(name).suffix for name in names if name.startswith("holdrank/")}
    # Hot loops come compiled, beside the sources that name the library.
    library = {".so", ".dylib", ".dll"} & kinds
    assert len(library) == 1
    assert kinds - library == {".py", ".typed", ".json", ".html", ".md", ".css", ".js", ".c", ".h"}


@pytest.mark.slow
def test_the_metadata_say_who_may_install_it(wheel):
    with zipfile.ZipFile(wheel) as content:
        (name,) = [name for name in content.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = HeaderParser().parsestr(content.read(name).decode())
    assert (metadata["Name"], metadata["License-Expression"], metadata["Requires-Python"]) == (
        "holdrank",
        "MIT",
        ">=3.11",
    )
    assert "Typing :: Typed" in metadata.get_all("Classifier")
    needed = [Requirement(line) for line in metadata.get_all("Requires-Dist")]
    core = {one.name for one in needed if one.marker is None}
    assert core == {"numpy", "highspy", "narwhals", "array-api-compat", "click", "rich", "jinja2"}
    assert set(metadata.get_all("Provides-Extra")) == {"io", "plot", "studio", "cluster", "gpu", "all"}


@pytest.mark.slow
def test_the_archive_holds_sources_tests_and_pages_and_no_votes_of_others(archive):
    with tarfile.open(archive) as content:
        names = [name.split("/", 1)[1] for name in content.getnames()]
    for needed in ("src/holdrank/py.typed", "tests/test_packaging.py", "tests/golden/rank.txt", "docs/index.md",
                   "requirements/dev.txt", "tools/sbom.py", "Makefile", "LICENSE", "pyproject.toml"):  # fmt: skip
        assert needed in names
    parts = {name.split("/")[0] for name in names if "/" in name}
    assert parts == {"src", "tests", "docs", "examples", "benchmarks", "requirements", "tools"}
    votes = {".soc", ".soi", ".toc", ".toi", ".cat", ".csv", ".jsonl", ".parquet", ".xlsx", ".npz"}
    assert not [name for name in names if Path(name).suffix in votes and not name.startswith("tests/")]


@pytest.mark.slow
def test_no_real_vote_file_is_in_the_archive(archive, shared_data):
    theirs = {hashlib.sha256(path.read_bytes()).digest() for path in shared_data.rglob("*") if path.is_file()}
    with tarfile.open(archive) as content:
        files = [member for member in content.getmembers() if member.isfile()]
        ours = {hashlib.sha256(content.extractfile(member).read()).digest(): member.name for member in files}
    assert theirs
    assert not [ours[digest] for digest in theirs & set(ours)]


@pytest.mark.slow
def test_the_archive_builds_the_same_wheel(archive, wheel, tmp_path):
    with tarfile.open(archive) as content:
        content.extraction_filter = getattr(tarfile, "data_filter", None)  # which came with 3.11.4
        content.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    again = built(folder, tmp_path, "wheel")
    assert again.name == wheel.name
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(wheel.read_bytes()).digest()


# The Pythons of `make test` and `make test-pythons`.


def test_pythons_are_listed_once_by_their_full_version(tmp_path):
    old, same = tmp_path / "python-old", tmp_path / "python-same"
    old.write_text("#!/bin/sh\necho 3.10.13\n")
    same.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    for program in (old, same):
        program.chmod(0o755)
    names = [sys.executable, str(same), "python-not-here", str(old)]
    version = platform.python_version()
    listed = run_tool("pythons.py", *names)
    assert (listed.returncode, listed.stdout) == (0, f"{version} {sys.executable}\n")
    assert listed.stderr == f"not installed: python-not-here\nnot installed: {old} (3.10.13 is too old)\n"
    assert run_tool("pythons.py", "python-not-here").returncode == 2


def test_a_run_says_which_pythons_it_does_not_test(tmp_path):
    other = tmp_path / "python-other"
    other.write_text("#!/bin/sh\necho 3.99.1\n")
    other.chmod(0o755)
    told = run_tool("pythons.py", "--this", sys.executable, str(other), "python-not-here").stdout
    assert told == (
        f"Python {platform.python_version()}: the tests run on this version only. Installed but not tested: 3.99.1; "
        "`make test-pythons` tests each of them. Not installed: python-not-here.\n"
    )
    alone = run_tool("pythons.py", "--this", sys.executable).stdout
    assert alone == f"Python {platform.python_version()}: the tests run on this version only.\n"


def test_make_test_says_which_python_it_is():
    text = ROOT.joinpath("Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^test:.*\n((?:\t.*\n)+)", text, re.MULTILINE)[1].splitlines()
    assert [line.split()[1] for line in recipe] == ["tools/pythons.py", "-m"]
    assert "/usr/bin/python3" in re.search(r"^PYTHONS \?= (.*)$", text, re.MULTILINE)[1].split()


def run_tool(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(ROOT / "tools" / name), *arguments], capture_output=True, text=True)


# An environment with the wheel and the packages that it needs, no other.


def needed_by(requirements: list[str]) -> set[str]:
    """Return the names of packages, and of those that they need in turn, on this Python and without extras."""
    found: set[str] = set()
    todo = [Requirement(line) for line in requirements]
    while todo:
        one = todo.pop()
        name = canonicalize_name(one.name)
        if name not in found and (one.marker is None or one.marker.evaluate({"extra": ""})):
            found.add(name)
            todo += [Requirement(line) for line in distribution(name).requires or []]
    return found


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory) -> Path:
    """Return the folder of programs of an environment in which only the wheel and its needs are installed."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as content:
        content.extractall(packages)
        (metadata,) = [name for name in content.namelist() if name.endswith("METADATA")]
        needed = HeaderParser().parsestr(content.read(metadata).decode()).get_all("Requires-Dist")
    for name in needed_by(needed):
        dist = distribution(name)
        for part in {path.parts[0] for path in dist.files or () if path.parts[0] not in ("..", "__pycache__")}:
            (packages / part).symlink_to(dist.locate_file(part))
    return folder / "bin"


def call(bare: Path, folder: Path, *args: str) -> tuple[int, str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [bare / "python", *args], cwd=folder, capture_output=True, text=True, env=env, timeout=120, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@posix
def test_the_package_works_with_no_extra(bare, wheel, tmp_path):
    version = wheel.name.split("-")[1]
    assert call(bare, tmp_path, "-m", "holdrank", "--version") == (0, f"holdrank, version {version}\n", "")
    where = call(bare, tmp_path, "-W", "error", "-c", "import holdrank as hr; print(hr.__file__, hr.kemeny.__module__)")
    assert (where[0], where[2]) == (0, "")
    assert Path(where[1].split()[0]).is_relative_to(bare.parent)
    (tmp_path / "votes.soc").write_text(VOTES, encoding="utf-8")
    code, out, err = call(bare, tmp_path, "-m", "holdrank", "rank", "votes.soc", "-q")
    assert (code, err) == (0, "")
    assert re.search(r"1 +Ash\b[\s\S]+2 +Birch\b[\s\S]+3 +Cedar\b[\s\S]+proven optimal", out)
    code, out, err = call(
        bare, tmp_path, "-m", "holdrank", "report", "votes.soc", "-o", "page.html", "--draws", "20", "-q"
    )
    assert (code, err) == (0, "")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Ash" in page
    assert "<style" in page


@posix
@pytest.mark.parametrize(
    ("extra", "package", "args"),
    [
        ("studio", "starlette", ("-m", "holdrank", "studio", "votes.soc", "--no-browser")),
        ("io", "openpyxl", ("-m", "holdrank", "rank", "votes.xlsx")),
        ("io", "duckdb", ("-m", "holdrank", "rank", "votes.parquet")),
        ("plot", "matplotlib", ("-m", "holdrank", "paper", "fig1", "-q")),
        (
            "cluster",
            "distributed",
            ("-m", "holdrank", "tradeoff", "votes.soc", "-q", "--scheduler", "tcp://127.0.0.1:1"),
        ),
    ],
)
@pytest.mark.slow
def test_a_missing_extra_is_one_line_with_its_name(extra, package, args, bare, tmp_path):
    (tmp_path / "votes.soc").write_text(VOTES, encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "votes.xlsx", "w") as book:
        book.writestr("xl/workbook.xml", "")
    (tmp_path / "votes.parquet").write_bytes(b"PAR1" + bytes(16) + b"PAR1")
    code, out, err = call(bare, tmp_path, *args)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert re.search(rf"^holdrank: .*\b{package}\b.*. Fix: pip install 'holdrank\[{extra}\]'$", err)
    assert {path.name for path in tmp_path.iterdir()} == {"votes.soc", "votes.xlsx", "votes.parquet"}


@pytest.mark.slow
@posix
def test_a_missing_gpu_extra_is_one_line_with_its_name(bare, tmp_path):
    code = (
        "import holdrank as hr\n"
        "votes = hr.Votes.from_orders([['a', 'b'], ['b', 'a']], weights=[2, 1])\n"
        "try: hr.breakdown(votes, method='smooth', device='cpu')\n"
        "except hr.HoldrankError as error: print(error)\n"
    )
    assert call(bare, tmp_path, "-c", code) == (
        0,
        "device='cpu' needs torch. Fix: pip install 'holdrank[gpu]'\n",
        "",
    )


# Lock files.

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
_EXTRA = PROJECT["project"]["optional-dependencies"]
EXTRAS = [line for name in ("io", "plot", "studio", "cluster") for line in _EXTRA[name]]
GROUPS = PROJECT["dependency-groups"]
DIRECT = {
    "dev.txt": [*PROJECT["project"]["dependencies"], *EXTRAS, *chain.from_iterable(GROUPS.values())],
    "oldest.txt": [*PROJECT["project"]["dependencies"], *EXTRAS, *GROUPS["test"], *GROUPS["build"]],
}
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


def pins(lock: Path) -> list[Requirement]:
    return [Requirement(line.split(" \\")[0]) for line in re.findall(r"^[a-z0-9].*", lock.read_text("utf-8"), re.M)]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_has_one_version_and_hashes_for_each_package_and_names_no_index(lock):
    text = lock.read_text("utf-8")
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text
    blocks = re.split(r"^(?=[a-z0-9])", text, flags=re.M)[1:]
    assert len(blocks) > 20
    for block in blocks:
        head = block.split("\n")[0]
        assert re.fullmatch(r"[a-z0-9._-]+(\[[a-z0-9,-]+\])?==[\w.]+( ; [^\\]+)? \\", head), head
        assert re.search(r"^    --hash=sha256:[0-9a-f]{64}( \\)?$", block, re.M), head
        other = [line for line in block.split("\n")[1:] if line and not re.match(r"    (#|--hash=sha256:)|#", line)]
        assert not other


def test_every_lock_is_looked_at():
    assert [lock.name for lock in LOCKS] == ["dev.txt", "oldest.txt", "tools.txt"]


@pytest.mark.parametrize("version", ["3.11.0", "3.12.0", "3.13.0"])
def test_the_lock_has_what_the_project_asks_for_on_every_python(version):
    here = {"python_version": version[:4], "python_full_version": version, "sys_platform": "linux"}
    locked = {
        canonicalize_name(pin.name): pin for pin in pins(ROOT / "requirements" / "dev.txt")
        if pin.marker is None or pin.marker.evaluate(here)
    }  # fmt: skip
    for line in DIRECT["dev.txt"]:
        wanted = Requirement(line)
        (pinned,) = locked[canonicalize_name(wanted.name)].specifier
        assert wanted.specifier.contains(pinned.version, prereleases=True), f"{line}: run make lock"
    assert "torch" not in locked


def test_the_oldest_versions_are_those_that_the_project_names():
    locked = {canonicalize_name(pin.name): pin for pin in pins(ROOT / "requirements" / "oldest.txt")}
    for line in DIRECT["oldest.txt"]:
        wanted = Requirement(line)
        (least,), (pinned,) = wanted.specifier, locked[canonicalize_name(wanted.name)].specifier
        assert least.operator == ">="
        assert Version(pinned.version) == Version(least.version), f"{line}: run make lock"


def test_the_build_tool_is_locked_in_the_version_that_builds():
    (asked,) = PROJECT["build-system"]["requires"]
    assert asked in GROUPS["build"]


# The bill of materials.


def test_the_bill_of_materials_names_versions_licences_and_no_place(tmp_path):
    version = {name: distribution(name).version for name in ("click", "numpy", "openpyxl", "et-xmlfile", "pytest")}
    lock = tmp_path / "lock.txt"
    body = "".join(f"{name}=={number} \\\n    --hash=sha256:{'0' * 64}\n" for name, number in version.items())
    lock.write_text(f"{body}colorama==0.4.6 ; sys_platform == 'nowhere' \\\n    --hash=sha256:{'0' * 64}\n", "utf-8")
    target = tmp_path / "dist" / "sbom.json"
    for _ in range(2):  # the second time over the first
        subprocess.run([sys.executable, ROOT / "tools" / "sbom.py", lock, target], check=True, cwd=tmp_path)
    text = target.read_text("utf-8")
    bill = json.loads(text)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert {part["name"]: part["version"] for part in bill["components"]} == version
    assert {part["name"]: part["scope"] for part in bill["components"]} == {
        "click": "required", "numpy": "required", "openpyxl": "optional", "et-xmlfile": "optional",
        "pytest": "excluded",
    }  # fmt: skip
    assert all(part["licenses"] for part in bill["components"])
    assert bill["metadata"]["component"]["licenses"] == [{"expression": "MIT"}]
    edges = {edge["ref"]: edge["dependsOn"] for edge in bill["dependencies"]}
    assert edges[f"pkg:pypi/openpyxl@{version['openpyxl']}"] == [f"pkg:pypi/et-xmlfile@{version['et-xmlfile']}"]
    assert "://" not in text
    assert str(ROOT) not in text
    assert str(tmp_path) not in text


def test_a_version_that_is_not_installed_is_told(tmp_path):
    (tmp_path / "lock.txt").write_text("click==0.0.1 \\\n", "utf-8")
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "sbom.py", "lock.txt", "sbom.json"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert re.fullmatch(r"click 0\.0\.1 is locked but [\d.]+ is installed. Fix: .*\n", done.stderr)
    assert not (tmp_path / "sbom.json").exists()
