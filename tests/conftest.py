"""What all tests share."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("holdrank", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("holdrank")

ROOT = Path(__file__).resolve().parents[1]

pytest.register_assert_rewrite("reading", "served", "studios", "vote_tables", "fuzz.targets")  # they judge for tests

# Processes that tests start find compiled what others have compiled before.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# One thread for each process: tests run side by side, and threads that wait for each other in small products of
# matrices take more time than the products. Set before numpy is imported, here and in processes that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Started in the background, a shell has Ctrl-C ignored; tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session):
    """Trace each process once: in those of pytest-xdist, pytest-cov starts a second time and forgets the first.

    Pausing the second, as tests that are not traced do, would leave the first at work.
    """
    tracing = sys.modules["coverage"].Coverage.current() if "coverage" in sys.modules else None
    if hasattr(session.config, "workerinput") and tracing is not None:
        tracing.stop()


def pytest_collection_modifyitems(items):
    """Tracing makes Python slow, and what is drawn at random is no measure: quick examples must reach all lines."""
    for item in items:
        drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if drawn or (item.get_closest_marker("slow") and not item.get_closest_marker("traced")):
            item.add_marker(pytest.mark.no_cover)
    # Pages hold the longest tests. Started last, one process would run them alone.
    items.sort(key=lambda item: item.path.name != "test_docs.py")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """Trace no fixture of a test that is not traced itself."""
    with _untraced() if item.get_closest_marker("no_cover") else contextlib.nullcontext():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    """Trace no end of a fixture either."""
    with _untraced() if item.get_closest_marker("no_cover") else contextlib.nullcontext():
        return (yield)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real vote files beside the checkout; their licences keep them out of the repository."""
    folder = ROOT.parent / "shared" / "data"
    if not (folder / "truths.json").exists():
        pytest.skip("the folder of real vote files is not beside this checkout")
    return folder


@pytest.fixture
def command_line(monkeypatch, capsys, tmp_path):
    """Run the command line in a folder of its own; return exit code, stdout, stderr."""
    from holdrank import cli

    monkeypatch.chdir(tmp_path)

    def call(*args, stdin=""):
        monkeypatch.setattr(sys, "argv", ["holdrank", *args])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as stop:
            cli.main()
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return call


@pytest.fixture(scope="module")
def time_at_work():
    """Let time limits count only the time that this process works: a busy machine does not shorten them."""
    limits = ("status.monotonic", "rules.solvers.highs.monotonic", "attacks.judge.monotonic")
    limits += ("attacks.answers.perf_counter", "analysis.bootstrap.monotonic", "analysis.bootstrap.perf_counter")
    with pytest.MonkeyPatch.context() as patch:
        for clock in limits:
            patch.setattr(f"holdrank.{clock}", time.process_time)
        yield


@pytest.fixture
def calls_of():
    """Return how many functions of Python and of C a call makes: a measure of work that no busy machine changes."""

    def count(call):
        number = 0

        def heard(_frame, event, _arg):
            nonlocal number
            number += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(heard)
        try:
            call()
        finally:
            sys.setprofile(before)
        return number

    return count


@pytest.fixture
def as_stored():
    """Compare what a command printed with what is stored; HOLDRANK_WRITE_GOLDEN=1 stores it anew."""

    def compare(name, printed):
        code, out, err = printed
        text = f"exit code {code}\n--- stdout\n{out}--- stderr\n{err}"
        path = ROOT / "tests" / "golden" / f"{name}.txt"
        if os.environ.get("HOLDRANK_WRITE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture(scope="session")
def studio(tmp_path_factory):
    """A studio in a process of its own."""
    pytest.importorskip("uvicorn")
    from served import served

    with served(tmp_path_factory.mktemp("studio")) as found:
        yield found


# Every exact result that a test comes by is proved again: in whole numbers, by the checker that trusts no solver.

_found = []  # what the engines said during this test
_proved = set()  # what this process has proved before


@pytest.fixture(scope="session", autouse=True)
def _listen():
    from holdrank.attacks import judge as cases
    from holdrank.proofs.lower import PROVED_UP_TO

    told = cases.Case.attack

    def overheard(case, answer, *rest):
        attack = told(case, answer, *rest)
        if attack.exact and case.votes.n <= PROVED_UP_TO:
            _found.append((case, attack))
        return attack

    cases.Case.attack = overheard
    yield
    cases.Case.attack = told


@pytest.fixture(autouse=True)
def _prove_again(_listen):
    _found.clear()
    yield
    if _found:
        with _untraced():  # it covers nothing that tests of proofs do not, and takes half as long again when traced
            _prove(_found)


@contextlib.contextmanager
def _untraced():
    """Stop tracing for a while, where there is any."""
    tracing = sys.modules["coverage"].Coverage.current() if "coverage" in sys.modules else None
    if tracing is None:
        yield
        return
    tracing.stop()
    try:
        yield
    finally:
        tracing.start()


@pytest.fixture
def unheard():
    """Make contexts in which results are not noted for a second proof, as in a process of its own."""

    @contextlib.contextmanager
    def context():
        before = len(_found)
        yield
        del _found[before:]

    return context


def _prove(found):
    from holdrank.proofs.claims import Amounts, Told
    from holdrank.proofs.lower import least_checks
    from holdrank.proofs.statistics import Exactly

    together = {}  # results on the same votes share their proof
    for case, attack in found:
        votes, T = case.votes, case.statistic
        same = (votes.input_hash, attack.statistic, attack.change)
        told = Amounts.of(attack)
        if (same, attack.goal, told) not in _proved:
            _proved.add((same, attack.goal, told))
            together.setdefault(same, (votes, T, attack, []))[3].append((attack.goal, told))
    for votes, T, attack, asked in together.values():
        checker = Exactly(votes, T)
        if checker.base is not None:
            before = Told.of(attack.before)
            share, *whole = least_checks(checker, before, asked, attack.change, f"{attack.statistic}: {asked}")
            assert share.finding == "proved", share
            assert not [check for check in whole if check.finding == "refuted"]
