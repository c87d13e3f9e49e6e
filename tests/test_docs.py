"""The documentation is true: snippets run and show what is printed, links lead somewhere, nothing public is missing.

Every page is read as a list of fenced blocks, run from top to bottom in one empty folder:

- a block below a line such as **`votes.csv`** is a file of that name;
- ``console`` holds commands after ``$`` and what they print (stdout and stderr together); those that are ``holdrank``
  alone run in this process, all others in a shell;
- ``python`` is run; with ``>>>`` what it prints is compared;
- ``sh`` holds set-up commands, which are checked but not run; ``text`` and ``bibtex`` are not code;
- in what is printed, ``...`` stands for anything.

``python tests/test_docs.py`` writes the present output of all commands and examples into pages and scripts.
"""

from __future__ import annotations

import doctest
import inspect
import io
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Collection
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree.ElementTree import Element

import html5lib
import pytest

import holdrank
from holdrank import cli

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    page for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if "_build" not in page.relative_to(ROOT).parts
)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

NOT_CODE = {"text", "bibtex"}
DIRECTIVE = re.compile(r"\{(toctree|include|literalinclude|eval-rst|command|raised|reading-options)\}")
FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=ticks)[ ]*$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"\*\*`([^`/]+)`\*\*\n\n?\Z")
OUTPUT_MARK = "# Output:\n"
# holdrank with plain words; then `| head -n 3`, or `> file` and `; echo "exit code $?"`, or nothing.
PLAIN = re.compile(
    r"""(?P<words>holdrank(?: (?:[\w./,:+=-]+|"[\w .,>-]+"))+)"""
    r"""(?: \| head -n (?P<lines>\d+)|(?: > (?P<file>[\w./-]+))?(?P<code>; echo "exit code \$\?")?)"""
)
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


def run_here(command: str, folder: Path) -> str:
    """Return what `run_shell` does, without a process where a command is ``holdrank`` alone: each would import anew."""
    plain = PLAIN.fullmatch(command)
    if plain is None or "--jobs" in command:
        return run_shell(command, folder)
    told = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    apart = plain["lines"] or plain["file"]
    printed = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) if apart else told
    with pytest.MonkeyPatch.context() as patch, chdir(folder), open(os.devnull, encoding="utf-8") as nothing:
        patch.setattr(sys, "argv", shlex.split(plain["words"]))
        patch.setattr(sys.modules["__main__"], "__package__", None)  # or click would say how pytest was started
        patch.setattr(sys, "stdin", nothing)
        patch.setenv("COLUMNS", "100")
        with redirect_stdout(printed), redirect_stderr(told), pytest.raises(SystemExit) as stop:
            cli.main()
        if plain["file"]:
            Path(plain["file"]).write_bytes(printed.buffer.getvalue())
    output = told.buffer.getvalue().decode("utf-8")
    if plain["lines"]:
        output += "".join(printed.buffer.getvalue().decode("utf-8").splitlines(keepends=True)[: int(plain["lines"])])
    return tidy(output + (f"exit code {stop.value.code}\n" if plain["code"] else ""))


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


@pytest.mark.slow
@pytest.mark.usefixtures("time_at_work")  # a page with a time limit says the same on a busy machine
@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=named)
def test_snippets_print_what_the_page_says(page, tmp_path, monkeypatch, unheard):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "snippet"}
    for block in blocks(page.read_text("utf-8")):
        where = f"{named(page)}, line {block.line}"
        if block.file:
            Path(block.file).write_text(block.body, "utf-8")
        elif block.language == "console":
            for command, expected in commands(block.body):
                with unheard():
                    got = run_here(command, tmp_path)
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


@pytest.mark.slow
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
    assert {"holdrank.rankings", "holdrank.rules.merges", "holdrank.votes.ballots.ranks"} <= set(
        sources_with_examples()
    )


def test_the_reference_has_every_public_name_and_no_other():
    page = (ROOT / "docs" / "reference" / "api.md").read_text("utf-8")
    listed = re.findall(r"^\.\. auto(?:class|function|exception):: holdrank\.(\w+)$", page, re.MULTILINE)
    assert sorted(listed) == sorted(holdrank.__all__)


def test_the_reference_has_every_command_and_no_other():
    from holdrank.cli import cli

    page = (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8")
    assert re.findall(r"^```\{command\} ([\w-]+)$", page, re.MULTILINE) == list(cli.commands)


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> dict[str, Element]:
    """Return the pages of the book by name, built without a warning."""
    folder = tmp_path_factory.mktemp("book")
    html = folder / "html"
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-E", "-d", str(folder / "doctrees")]
    done = subprocess.run(
        [*build, "-b", "html", str(ROOT / "docs"), str(html)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    pages = {page.relative_to(html).with_suffix("").as_posix(): page for page in html.rglob("*.html")}
    assert {"index", "tutorial/first-consensus", "reference/api"} <= set(pages)
    return {name: parse(page.read_text("utf-8")) for name, page in pages.items()}


def parse(html: str) -> Element:
    return html5lib.parse(html, treebuilder="etree", namespaceHTMLElements=False)


def with_id(page: Element, name: str) -> Element:
    """Return the element of this id: an entry of the API, or the section under a heading."""
    found = page.find(f".//*[@id='{name}']")
    assert found is not None, f"nothing has the id {name}"
    return found


def shown(element: Element, leave_out: Collection[str] = ("script", "style", "pre", "code", "template")) -> str:
    """Return the text of an element outside of code."""
    texts = [element.text or ""]
    for child in element:
        kept = isinstance(child.tag, str) and child.tag not in leave_out  # a comment has no name
        texts += [shown(child, leave_out) if kept else "", child.tail or ""]
    return "".join(texts)


def codes(element: Element) -> set[str]:
    return {"".join(code.itertext()) for code in element.iter("code")}


@pytest.mark.slow
def test_the_book_loads_nothing_from_elsewhere(book):
    for name, page in book.items():
        loaded = [element for tag in ("script", "link", "img", "iframe") for element in page.iter(tag)]
        assert loaded, name
        for address in (element.get(where) or "" for element in loaded for where in ("src", "href")):
            assert not re.match(r"(https?:)?//", address), f"{name} loads {address}"


MATH = "{http://www.w3.org/1998/Math/MathML}math"


@pytest.mark.slow
def test_formulas_are_shown_as_formulas(book):
    written = {name: (ROOT / "docs" / f"{name}.md") for name in book}
    blocks_of_math = 0
    for name, page in book.items():
        source = FENCE.sub("", written[name].read_text("utf-8")) if written[name].exists() else ""
        displayed = [math for math in page.iter(MATH) if math.get("display") == "block"]
        assert len(displayed) == len(re.findall(r"^\$\$$", source, re.MULTILINE)) / 2, name
        blocks_of_math += len(displayed)
        left = re.findall(r"\S*(?:\$|\\[a-z]+|\\[,;{}])\S*", shown(page))
        assert not left, f"{name} shows {left}"
    assert blocks_of_math > 20


def subclasses(kind: type) -> set[type]:
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


EXIT_CODES = {"UsageError": 2, "InputError": 3, "LimitError": 3, "MissingExtraError": 2, "WorkerError": 1}


@pytest.mark.slow
def test_errors_and_their_exit_codes_are_on_the_page(book):
    for _, name, _ in pkgutil.walk_packages(holdrank.__path__, "holdrank."):
        if not name.endswith("__main__") and name != "holdrank.attacks.estimator.fused":
            import_module(name)
    page = book["reference/errors"]
    kinds = subclasses(holdrank.HoldrankError)
    assert len(kinds) >= 6
    for kind in kinds:
        if kind.__module__ != "holdrank.errors":
            assert kind.__name__ in codes(page), kind
            continue
        section = shown(with_id(page, kind.__name__.lower()))
        if kind is not holdrank.HoldrankError:
            assert f"A command ends with exit code {EXIT_CODES[kind.__name__]}." in section, kind


@pytest.mark.slow
def test_every_exit_code_is_listed_once(book):
    from holdrank.cli import printing

    known = {value for name, value in vars(printing).items() if name.startswith("EXIT_")}
    assert len(known) == 7
    rows = with_id(book["reference/errors"], "exit-codes").findall(".//tbody/tr")
    assert sorted(int("".join(row[0].itertext())) for row in rows) == sorted({0} | known)
    assert not with_id(book["how-to/pipelines"], "exit-codes").findall(".//table")
    assert "../reference/errors.html#exit-codes" in {a.get("href") for a in book["how-to/pipelines"].iter("a")}


@pytest.mark.slow
def test_every_option_of_every_command_is_on_the_page(book):
    from holdrank.cli import cli

    page = book["reference/cli"]
    shared = codes(with_id(page, "how-file-is-read"))
    for command in cli.commands.values():
        section = with_id(page, command.name)
        said = codes(section)
        assert not said & {"--unlisted", "--delimiter"}, "how a file is read is told once"
        if "#how-file-is-read" in {link.get("href") for link in section.iter("a")}:
            said |= shared
        options = {name for parameter in command.params for name in parameter.opts if name.startswith("-")}
        assert options <= said, f"{command.name}: {options - said}"
    for name, text in ((name, shown(page)) for name, page in book.items()):
        assert not re.search(r"(?<!\w)–\w", text), f"{name}: an option outside of code has lost its dashes"


@pytest.mark.slow
def test_the_api_has_every_method_property_and_field_of_public_classes(book):
    page = book["reference/api"]
    looked_at = 0
    for public in holdrank.__all__:
        entry = with_id(page, f"holdrank.{public}")
        kind = getattr(holdrank, public)
        if not inspect.isclass(kind):
            continue
        own_fields = {field.name for field in fields(kind) if field.name[0] != "_"} if is_dataclass(kind) else set()
        described = own_text(parent_of(page, entry).find("dd"))
        for name in own_fields:
            assert re.search(rf"\b{name}\b", described), f"{public}.{name}"
        looked_at += len(own_fields)
        for name in (name for name in dir(kind) if not name.startswith("_") and name not in own_fields):
            owners = [base for base in kind.__mro__ if name in vars(base) and base.__module__.startswith("holdrank")]
            if not owners:
                continue
            looked_at += 1
            elsewhere = re.fullmatch(r"See `(\w+)`\.", inspect.getdoc(getattr(kind, name)) or "")
            with_id(page, f"holdrank.{elsewhere[1] if elsewhere else public}.{name}")
    assert looked_at > 200
    assert "“" not in shown(page), "quotes are to be copied as they stand"


def own_text(entry: Element) -> str:
    """Return what is said of a class itself: neither its signature nor its examples, nor its methods."""
    texts = [entry.text or ""]
    for child in entry:
        kept = isinstance(child.tag, str) and child.tag != "pre" and "py" not in (child.get("class") or "").split()
        texts += [own_text(child) if kept else "", child.tail or ""]
    return "".join(texts)


def parent_of(page: Element, entry: Element) -> Element:
    return next(element for element in page.iter() if entry in list(element))


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


# Every item of the paper, with its sections, in the order of the paper: what has a function here, and what has none.
IN_THE_PAPER = [
    ("2, 3.3", "Equation: total variation"),
    ("2.1", "Equation 1: ranking median"),
    ("2.1, A", "Equation 2: Kendall τ"),
    ("2.1, A", "Claim: Borda is the median of Spearman ρ"),
    ("2.2", "Definition: breakdown function"),
    ("2.2, A", "Convention: distances from 0 to 1"),
    ("3.1, C.1", "Theorem 1: upper bound for Kemeny's median"),
    ("3.1", "Condition of Theorem 1: mass on the median"),
    ("3.1, C.2", "Theorem 2: lower bound for medians"),
    ("3.1", "Claim: the two bounds enclose Kemeny's breakdown"),
    ("3.1", "Figure 1: bounds for three medians"),
    ("3.1", "Claim: a small share of votes reverses half of the pairs"),
    ("3.1", "Claim: no median is the most robust"),
    ("3.1", "Figure 2: three kinds of votes"),
    ("3.2", "Definition: bucket ranking"),
    ("3.2", "Number of bucket rankings"),
    ("3.2", "Relation: compatible"),
    ("3.2", "Relation: stricter than"),
    ("3.2", "Bucket ranking as a distribution"),
    ("3.2", "Definition: non-symmetric Hausdorff"),
    ("3.2", "Claim: breaking a tie costs no distance"),
    ("3.2", "Definition: 1/2-symmetric Hausdorff"),
    ("3.3", "Equation: breakdown function of a bucket statistic"),
    ("3.3", "Equation: Lagrangian relaxation"),
    ("3.3", "Equation: smoothed problem"),
    ("3.3", "Equation: smoothed distance"),
    ("3.3", "Kernel: Gaussian noise, then softmax"),
    ("3.3", "Remark: Monte-Carlo estimate"),
    ("3.3", "Optimisation: stochastic saddle point, average of the iterates"),
    ("3.3", "Empirical breakdown function"),
    ("4", "Plug-in on a median"),
    ("4", "Figure 3: merges (i) to (iv)"),
    ("4", "Claim: being close is not transitive"),
    ("4.1", "Definition: pairwise probabilities"),
    ("4.1", "Equation: deviation inside a bucket"),
    ("4.1", "Equation: deviation of a union of buckets"),
    ("4.1", "Equation: buckets that may be merged"),
    ("4.1", "Algorithm 1: Naive Merge"),
    ("4.1", "Claim: merges end, and tie no pair beyond the threshold"),
    ("4.1", "Claim: Naive Merge is monotone"),
    ("4.2", "Algorithm 2: Downward Merge"),
    ("4.2", "Claim: Downward Merge reaches (i) to (iv)"),
    ("5.1", "Figure 4: Downward Merge against Kemeny"),
    ("5.1", "Claim: the tie of all items cannot be broken"),
    ("5.1", "Loss"),
    ("5.1", "Accuracy of location"),
    ("5.1", "Claim: Kemeny's median has the least loss"),
    ("5.2", "Figure 5: loss against robustness"),
    ("5.2", "Distributions of the experiments"),
    ("5.2", "Claim: a high gain for a negligible loss"),
    ("A", "Equation: Spearman ρ"),
    ("A", "Equation: Spearman footrule"),
    ("B", "Equation: expected distance"),
    ("D", "Proposition: cost of the Hausdorff distances"),
    ("D", "Notation: rank in a bucket ranking"),
    ("D", "Proposition: expressions of the average Hausdorff distance"),
]
WITHOUT_A_FUNCTION = [
    ("1", "Manipulation and its complexity"),
    ("2.1", "Depth functions"),
    ("2.1", "Hardness of Kemeny, approximation by Borda"),
    ("2.2", "Breakdown point and identifiability"),
    ("2.2", "Budgets on pairwise models"),
    ("2.3", "Contributions"),
    ("3.2", "Maximum of both one-sided distances"),
    ("3.3", "Convergence rate of the descent"),
    ("3.3", "Bias and variance of the estimate, and its sign"),
    ("4", "Median among bucket rankings"),
    ("B", "Matrix notation"),
    ("6", "Scalable approximations"),
]


def rows_of_the_map(heading: str) -> list[list[str]]:
    text = (ROOT / "docs" / "paper-map.md").read_text("utf-8")
    table = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def assert_callable(place: str, cell: str) -> None:
    """Assert that a cell names functions, classes or modules of holdrank."""
    names = re.findall(r"`([^`]+)`", cell)
    assert names, place
    for name in names:
        thing: object = holdrank
        for part in name.split("."):
            thing = getattr(thing, part)
        assert callable(thing) or inspect.ismodule(thing) or isinstance(thing, property), f"{place}: {name}"


def test_the_paper_map_has_every_item_and_names_functions_and_tests_that_exist():
    rows = rows_of_the_map("The paper's items")
    assert [(section, item) for item, section, *_ in rows] == IN_THE_PAPER
    for item, _, kind, functions, tests in rows:
        assert re.match(r"(faithful|extended)\b", kind), f"{item}: {kind}"
        assert_callable(item, functions)
        assert "::" in tests, item
        for path, name in re.findall(r"`([\w/.]+)::(\w+)`", tests):
            assert f"def {name}(" in (ROOT / "tests" / path).read_text("utf-8"), f"{item}: {path}::{name}"


def test_the_paper_map_says_what_has_no_function_and_what_is_ours():
    assert [(section, item) for item, section, _ in rows_of_the_map("In the paper, but without a function here")] == (
        WITHOUT_A_FUNCTION
    )
    for what, functions in rows_of_the_map("Not in the paper"):
        assert_callable(what, functions)
    assert "no experiment on real data" in (ROOT / "docs" / "paper-map.md").read_text("utf-8")


def test_what_the_paper_map_calls_corrected_is_in_the_errata():
    """Sections of corrected items are places of the errata."""
    lines = (ROOT / "docs" / "theory" / "errata.md").read_text("utf-8").splitlines()
    errata = "\n".join(line.split("|")[1] for line in lines if line.startswith("| "))
    errata += "\n".join(line.split("**")[1] for line in lines if line.startswith("**"))
    for item, sections, kind, *_ in rows_of_the_map("The paper's items"):
        if "orrected" in kind:
            places = [f"App. {s}" if s[0].isalpha() else s for s in sections.split(", ")]
            assert any(re.search(rf"(?<![\d.]){re.escape(place)}(?![\d.]\d)", errata) for place in places), item


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
