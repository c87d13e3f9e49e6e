"""The documentation is true: snippets run and show what is printed, links lead somewhere, nothing public is missing.

Every page is read as a list of fenced blocks, run from top to bottom in one empty folder:

- a block below a line such as **`votes.csv`** is a file of that name;
- ``console`` holds commands after ``$`` and what they print (stdout and stderr together);
- ``python`` is run; with ``>>>`` what it prints is compared;
- ``sh`` holds set-up commands, which are checked but not run; ``text`` and ``bibtex`` are not code;
- in what is printed, ``...`` stands for anything.

``python tests/test_docs.py`` writes the present output of all commands and examples into pages and scripts.
"""

from __future__ import annotations

import doctest
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from contextlib import chdir
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import holdrank

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    page for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if "_build" not in page.relative_to(ROOT).parts
)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

NOT_CODE = {"text", "bibtex"}
DIRECTIVE = re.compile(r"\{(toctree|include|literalinclude|eval-rst|command|reading-options)\}")
FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=ticks)[ ]*$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"\*\*`([^`/]+)`\*\*\n\n?\Z")
OUTPUT_MARK = "# Output:\n"
SECONDS = re.compile(r'"seconds": [0-9.e+-]+')


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, the line it starts on, and the file it stands for, if any."""

    language: str
    body: str
    line: int
    file: str | None
    span: tuple[int, int]


def blocks(text: str) -> list[Block]:
    found = []
    for match in FENCE.finditer(text):
        named = FILE_NAME.search(text[: match.start()])
        line = text.count("\n", 0, match.start()) + 1
        name = named[1] if named else None
        found.append(Block(match["info"].strip(), match["body"], line, name, match.span("body")))
    return found


def commands(body: str) -> list[tuple[str, str]]:
    """Return (command, expected output) of a console block; a line that starts with ``> `` goes on with the command."""
    found: list[list[str]] = []
    for line in body.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line[2:], ""])
        elif not found:
            raise ValueError(f"a console block starts with '$ ', not with {line!r}")
        elif line.startswith("> ") and not found[-1][1]:
            found[-1][0] += line[2:]
        else:
            found[-1][1] += line
    return [(command.rstrip("\n"), output) for command, output in found]


def run_shell(command: str, folder: Path) -> str:
    """Return what a command prints, with the holdrank of this environment, as if no one sat at a terminal."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("COV_", "COVERAGE_"))},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
        "COLUMNS": "100",
    }
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, text=True, encoding="utf-8",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False,
    )  # fmt: skip
    return tidy(done.stdout)


def tidy(output: str) -> str:
    """Return output without blanks at the ends of lines and without the times that differ from run to run."""
    text = "\n".join(line.rstrip() for line in SECONDS.sub('"seconds": 0.0', output).splitlines()).strip("\n")
    return text + "\n" if text else ""


def agrees(expected: str, got: str) -> bool:
    return doctest.OutputChecker().check_output(tidy(expected), got, doctest.ELLIPSIS)


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


PAGES_WITH_CODE = [
    page for page in PAGES if any(b.language in ("console", "python") for b in blocks(page.read_text("utf-8")))
]


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=named)
def test_snippets_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "snippet"}
    for block in blocks(page.read_text("utf-8")):
        where = f"{named(page)}, line {block.line}"
        if block.file:
            Path(block.file).write_text(block.body, "utf-8")
        elif block.language == "console":
            for command, expected in commands(block.body):
                got = run_shell(command, tmp_path)
                assert agrees(expected, got), f"{where}: $ {command}\nthe page says\n{expected}\nbut it prints\n{got}"
        elif block.language == "python" and ">>>" in block.body:
            told: list[str] = []
            test = doctest.DocTestParser().get_doctest(block.body, names, where, str(page), block.line)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
            runner.run(test, out=told.append, clear_globs=False)
            names = test.globs
            assert not told, "".join(told)
        elif block.language == "python":
            exec(compile(block.body, where, "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_no_block_escapes_the_tests(page):
    text = page.read_text("utf-8")
    assert not re.search(r"^[ \t]+```", text, re.MULTILINE), "an indented block would not be run"
    assert text.count("\n```") + text.startswith("```") == 2 * len(blocks(text)), "a block is not closed"
    verbs = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for block in blocks(text):
        where = f"{named(page)}, line {block.line}"
        if block.file or block.language in ("console", "python") or DIRECTIVE.match(block.language):
            continue
        if block.language == "sh":
            for line in block.body.splitlines():
                words = shlex.split(line, comments=True)
                known = (
                    (words[0] == "make" and set(words[1:]) <= verbs)
                    or (words[:2] == ["pip", "install"] and re.fullmatch(r"holdrank(\[[a-z,]+\])?", words[2]))
                    or (words[0] == "python" and (ROOT / words[1]).is_file())
                )
                assert known, f"{where}: {line!r} is no known set-up command"
            continue
        assert block.language in NOT_CODE, f"{where}: nothing runs a block of {block.language!r}"
        assert not re.search(r"^(\$ |>>> )", block.body, re.MULTILINE), f"{where}: code that is not run"


def test_extras_that_pages_name_exist():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    texts = "\n".join(page.read_text("utf-8") for page in PAGES)
    mentioned = {extra for extras in re.findall(r"holdrank\[([a-z,]+)\]", texts) for extra in extras.split(",")}
    assert mentioned <= set(project["optional-dependencies"])
    assert "io" in mentioned


@pytest.mark.parametrize("script", EXAMPLES, ids=named)
def test_examples_print_what_they_say(script, tmp_path):
    expected = stored_output(script)
    assert expected, "an example ends with what it prints"
    got = run_shell(f"{shlex.quote(sys.executable)} -W error {shlex.quote(str(script))}", tmp_path)
    assert agrees(expected, got), f"{named(script)} says\n{expected}\nbut prints\n{got}"


def stored_output(script: Path) -> str:
    _, _, output = script.read_text("utf-8").partition(OUTPUT_MARK)
    return "".join(line.removeprefix("#").removeprefix(" ") for line in output.splitlines(keepends=True))


def test_every_example_is_shown():
    page = (ROOT / "docs" / "examples.md").read_text("utf-8")
    assert EXAMPLES
    assert re.findall(r"examples/([\w.]+)", page) == [script.name for script in EXAMPLES]


def sources_with_examples() -> dict[str, Path]:
    """Return the modules whose text holds an example, by name."""
    package = ROOT / "src" / "holdrank"
    found = {}
    for path in sorted(package.rglob("*.py")):
        if ">>> " in path.read_text("utf-8"):
            parts = path.relative_to(package.parent).with_suffix("").parts
            found[".".join(part for part in parts if part != "__init__")] = path
    return found


@pytest.mark.parametrize("name", sources_with_examples())
def test_examples_in_docstrings_are_true(name):
    failed, tried = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert tried
    assert not failed


def test_docstrings_are_looked_at_everywhere():
    walked = {name for _, name, _ in pkgutil.walk_packages(holdrank.__path__, "holdrank.")} | {"holdrank"}
    assert set(sources_with_examples()) <= walked
    assert {"holdrank.rankings", "holdrank.merge", "holdrank.tables.table"} <= set(sources_with_examples())


def test_the_reference_has_every_public_name_and_no_other():
    page = (ROOT / "docs" / "reference" / "api.md").read_text("utf-8")
    listed = re.findall(r"^\.\. auto(?:class|function|exception):: holdrank\.(\w+)$", page, re.MULTILINE)
    assert sorted(listed) == sorted(holdrank.__all__)


def test_the_reference_has_every_command_and_no_other():
    from holdrank.cli import cli

    page = (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8")
    assert re.findall(r"^```\{command\} (\w+)$", page, re.MULTILINE) == list(cli.commands)


def test_the_book_builds_without_a_warning_and_works_offline(tmp_path):
    from holdrank.cli import cli

    html = tmp_path / "html"
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-E", "-d", str(tmp_path / "doctrees")]
    done = subprocess.run(
        [*build, "-b", "html", str(ROOT / "docs"), str(html)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    pages = {page.relative_to(html).as_posix(): page.read_text("utf-8") for page in html.rglob("*.html")}
    assert {"index.html", "tutorial/first-consensus.html", "reference/api.html"} <= set(pages)
    for name, page in pages.items():
        remote = re.findall(r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=[\"'](?:https?:)?//[^>]*>", page)
        assert not remote, f"{name} loads {remote[0]}"
    for public in holdrank.__all__:
        assert f'id="holdrank.{public}"' in pages["reference/api.html"], public
    for command in cli.commands.values():
        for option in (name for parameter in command.params for name in parameter.opts if name.startswith("-")):
            assert f">{option}<" in pages["reference/cli.html"], f"{command.name} {option}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_relative_links_lead_to_files(page):
    text = FENCE.sub("", page.read_text("utf-8"))
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    dead = []
    for link in links:
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path) if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)
    assert not dead


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_dead_links_are_found():
    assert "reading-error-messages" in anchors(ROOT / "docs" / "how-to" / "fix-a-file.md")
    assert len(re.findall(r"\]\((docs/[^)\s]+)\)", (ROOT / "README.md").read_text("utf-8"))) >= 5


# Every definition, equation, theorem, proposition, algorithm and figure of the paper.
IN_THE_PAPER = [
    "Definition: breakdown function",
    "Definition: bucket ranking",
    "Definition: non-symmetric Hausdorff",
    "Definition: 1/2-symmetric Hausdorff",
    "Definition: pairwise probabilities",
    "Relation: stricter than",
    "Equation: ranking median",
    "Equation: Kendall τ",
    "Equation: breakdown function of a bucket statistic",
    "Equation: Lagrangian relaxation",
    "Equation: smoothed problem",
    "Equation: smoothed distance",
    "Equation: deviation inside a bucket",
    "Equation: deviation of a union of buckets",
    "Equation: buckets that may be merged",
    "Equation: Spearman ρ",
    "Equation: Spearman footrule",
    "Equation: expected distance",
    "Equation: total variation",
    "Theorem: upper bound for Kemeny's median",
    "Theorem: lower bound for medians",
    "Proposition: cost of the Hausdorff distances",
    "Proposition: expressions of the average Hausdorff distance",
    "Algorithm 1: Naive Merge",
    "Algorithm 2: Downward Merge",
    "Statistics of Section 4: plug-in",
    "Distributions of the experiments",
    "Figure 1: bounds for three medians",
    "Figure 2: three kinds of votes",
    "Figure 3: merges (i) to (iv)",
    "Figure 4: Downward Merge against Kemeny",
    "Figure 5: loss against robustness",
]


def test_the_paper_map_has_every_item_and_names_functions_and_tests_that_exist():
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (ROOT / "docs" / "paper-map.md").read_text("utf-8").splitlines()
        if line.startswith("| ") and "::" in line
    ]
    assert [item for item, _, _ in rows] == IN_THE_PAPER
    for item, functions, tests in rows:
        assert re.search(r"`[^`]+`", functions), item
        for name in re.findall(r"`([^`]+)`", functions):
            thing: object = holdrank
            for part in name.split("."):
                thing = getattr(thing, part)
            assert callable(thing), f"{item}: {name}"
        for path, name in re.findall(r"`([\w/.]+)::(\w+)`", tests):
            assert f"def {name}(" in (ROOT / "tests" / path).read_text("utf-8"), f"{item}: {path}::{name}"
        assert "::" in tests, item


def test_pages_speak_of_no_machine():
    texts = {named(page): page.read_text("utf-8") for page in [*PAGES, *EXAMPLES, ROOT / "CITATION.cff"]}
    told = [name for name, text in texts.items() if re.search(r"(?<![\w.])/(work|home|root|tmp|Users)/", text)]
    assert not told


def write_outputs() -> None:
    """Put the present output of every command and example into its page or script."""
    for page in PAGES:
        text = page.read_text("utf-8")
        with TemporaryDirectory() as folder, chdir(folder):
            names: dict[str, object] = {"__name__": "snippet"}
            fresh = []
            for block in blocks(text):
                if block.file:
                    Path(block.file).write_text(block.body, "utf-8")
                elif block.language == "python":
                    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
                    test = doctest.DocTestParser().get_doctest(block.body, names, named(page), str(page), block.line)
                    if test.examples:
                        runner.run(test, clear_globs=False)
                        names = test.globs
                    else:
                        exec(block.body, names)
                elif block.language == "console":
                    fresh.append((block.span, "".join(map(_refreshed, commands(block.body)))))
        for (start, end), body in reversed(fresh):
            text = text[:start] + body + text[end:]
        page.write_text(text, "utf-8")
    for script in EXAMPLES:
        code = script.read_text("utf-8").partition(OUTPUT_MARK)[0]
        with TemporaryDirectory() as folder:
            output = run_shell(f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}", Path(folder))
        lines = (f"# {line}".rstrip() + "\n" for line in output.splitlines())
        script.write_text(code + OUTPUT_MARK + "".join(lines), "utf-8")


def _refreshed(command: tuple[str, str]) -> str:
    text, expected = command
    got = run_shell(text, Path.cwd())
    kept = expected if "..." in expected and agrees(expected, got) else got
    return "$ " + text.replace("\n", "\n> ") + "\n" + kept


if __name__ == "__main__":
    write_outputs()
