"""The studio and those who do not mean well: other sites, other users, hostile files, slow and rude connections.

The page on the threat model names these tests.
"""

from __future__ import annotations

import ast
import asyncio
import io
import json
import os
import random
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdrank.studio.jobs import Jobs
from holdrank.studio.limits import Limits

from served import served
from studios import post_with_header, running, wait

pytestmark = [pytest.mark.slow, pytest.mark.traced]

ROOT = Path(__file__).resolve().parents[2]
SLOW = "\n".join(
    json.dumps({"order": random.Random(k).sample([f"item {j}" for j in range(40)], 40)}) for k in range(101)
)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells this on Linux")


# Jobs.


def test_a_job_gets_no_secrets_and_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THIS_TEST", "hunter2")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen = {}

    async def look():
        jobs = Jobs(Limits())
        spec = {"time_limit": 60.0}
        job = jobs.start({"task": "analyse", "name": "a", "reading": {}, "spec": spec}, [SLOW.encode()])
        await job.until("votes")
        (folder,) = tmp_path.iterdir()
        seen["mode"] = stat.S_IMODE(folder.stat().st_mode)
        if sys.platform == "linux":
            seen["environment"] = Path(f"/proc/{job.process.pid}/environ").read_bytes()
            seen["limits"] = Path(f"/proc/{job.process.pid}/limits").read_text()
        await jobs.close()

    asyncio.run(look())
    assert seen["mode"] == 0o700
    assert list(tmp_path.iterdir()) == []
    if sys.platform == "linux":
        assert b"hunter2" not in seen["environment"]
        assert b"LC_ALL=C.UTF-8" in seen["environment"]
        limits = {line[:26].strip(): line[26:].split()[:2] for line in seen["limits"].splitlines()[1:]}
        assert limits["Max address space"] == [str(4 * 2**30)] * 2
        assert limits["Max core file size"] == ["0", "0"]
        assert limits["Max file size"] == [str(2**30)] * 2
        assert limits["Max cpu time"][0] != "unlimited"


def has_ended(pid):
    for _ in range(1200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


@on_linux
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_however_the_studio_ends_nothing_stays(tmp_path, end):
    with served(tmp_path) as studio:
        body = "".join(
            f'--b\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{text}\r\n'
            for name, more, text in (("token", "", studio.token), ("file", '; filename="slow.jsonl"', SLOW))
        )
        answer = studio.ask("POST", "/open", "Content-Type: multipart/form-data; boundary=b", body=f"{body}--b--\r\n")
        assert answer[0] == 200, answer
        pid = studio.process.pid
        (worker,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        (folder,) = tmp_path.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        studio.process.send_signal(end)
        studio.process.wait(30)
        assert has_ended(worker)
        for _ in range(1200):
            if not list(tmp_path.iterdir()):
                break
            time.sleep(0.05)
        assert list(tmp_path.iterdir()) == []


def test_a_worker_without_an_order_takes_its_folder_away(tmp_path):
    """Whoever started it was killed before it could say what to do."""
    folder = tmp_path / "of the job"
    folder.mkdir()
    worker = [sys.executable, "-P", "-m", "holdrank.studio.worker", str(folder)]
    for order in (b"", b'{"task": "anal'):
        assert subprocess.run(worker, input=order, capture_output=True, check=False).returncode == 4
        assert not folder.exists()


@on_linux
def test_a_worker_that_nobody_hears_takes_its_folder_away(tmp_path):
    """What it writes may fail before it sees that its studio is gone; here its stdin never closes."""
    folder = tmp_path / "of the job"
    folder.mkdir()
    heard, spoken = os.pipe()
    os.close(heard)
    command = [sys.executable, "-P", "-m", "holdrank.studio.worker", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=spoken, stderr=subprocess.DEVNULL) as worker:
        os.close(spoken)
        order = {"task": "analyse", "name": "slow.jsonl", "reading": {}, "spec": {"time_limit": 60.0}, "memory": 2**32}
        order |= {"seconds": 60, "items": 100, "folder": str(folder), "sizes": [len(SLOW)]}
        worker.stdin.write(json.dumps(order).encode() + b"\n" + SLOW.encode())
        worker.stdin.flush()
        assert worker.wait(60) == 4
    assert not folder.exists()


# Nothing is run that was sent; nothing is told that is nobody's business.

FORBIDDEN = {"eval", "exec", "compile", "__import__", "pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle",
             "yaml", "joblib", "system", "popen", "mktemp"}  # fmt: skip


def forbidden(tree):
    """Yield what runs or unpacks code, by the names that are called or imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.partition(".")[0] in FORBIDDEN)
        elif isinstance(node, ast.ImportFrom):
            names = {(node.module or "").partition(".")[0], *(name.name for name in node.names)}
            yield from names & FORBIDDEN
        elif isinstance(node, ast.Call):
            f = node.func
            if isinstance(f, ast.Name) and f.id in FORBIDDEN:
                yield f.id
            # re.compile and what methods are called is no matter; os.system and os.popen are.
            if (
                isinstance(f, ast.Attribute)
                and f.attr in ("system", "popen", "mktemp")
                and isinstance(f.value, ast.Name)
            ):
                yield f"{f.value.id}.{f.attr}"
            yield from ("allow_pickle" for word in node.keywords if word.arg == "allow_pickle" and not is_false(word))
            yield from ("shell=True" for word in node.keywords if word.arg == "shell" and not is_false(word))


def is_false(word):
    return isinstance(word.value, ast.Constant) and word.value.value is False


def test_the_search_for_what_runs_code_finds_it():
    lines = ["import pickle", "from pickle import loads", "eval(x)", "exec(x)", "import yaml", "os.system(x)",
             "run(x, shell=True)", "np.load(x, allow_pickle=True)", "from os import popen",
             "import marshal"]  # fmt: skip
    assert [len(list(forbidden(ast.parse(line)))) for line in lines] == [1] * len(lines)
    for line in ("re.compile(x)", "np.load(x, allow_pickle=False)", "run(x, shell=False)"):
        assert list(forbidden(ast.parse(line))) == []


@pytest.mark.no_cover
def test_nothing_in_the_package_runs_or_unpickles_what_it_reads():
    found = {}
    paths = sorted((ROOT / "src" / "holdrank").rglob("*.py"))
    assert len(paths) > 80
    for path in paths:
        names = list(forbidden(ast.parse(path.read_text("utf-8"))))
        if names:
            found[path.relative_to(ROOT / "src" / "holdrank").as_posix()] = names
    # Workers of one sweep send each other what they share: it is unpacked in one place, which no file reaches.
    assert found == {"parallel/workers.py": ["pickle"]}
    tree = ast.parse((ROOT / "src" / "holdrank" / "parallel" / "workers.py").read_text("utf-8"))
    unpacks = {"pickle.load", "pickle.loads", "pickle.Unpickler"}
    places = [
        part.name for part in tree.body if isinstance(part, ast.FunctionDef | ast.ClassDef)
        for node in ast.walk(part) if isinstance(node, ast.Attribute) and ast.unparse(node) in unpacks
    ]  # fmt: skip
    assert places == ["_opened"]


def test_an_error_in_a_job_names_no_file_of_this_machine(monkeypatch):
    """The text of an unforeseen error may name one; what is told is its kind."""
    from holdrank.studio import tasks, worker

    def fails(*_):
        raise FileNotFoundError(2, "No such file", "/home/somebody/secret.csv")

    order = json.dumps({"task": "fails", "memory": 0, "seconds": 60, "sizes": [], "folder": "/nonexistent"})
    monkeypatch.setitem(tasks.TASKS, "fails", fails)
    monkeypatch.setattr(worker, "_limit", lambda *_: None)
    monkeypatch.setattr(worker, "_own_stdout", lambda: told_by)
    monkeypatch.setattr(worker, "_end_with_the_studio", lambda _: None)
    monkeypatch.setattr(worker.os, "dup", lambda _: os.open(os.devnull, os.O_RDONLY))
    monkeypatch.setattr(worker.os, "fdopen", lambda *_: io.BytesIO(order.encode() + b"\n"))
    monkeypatch.setattr(worker.os, "_exit", lambda code: told_by.write(b"%d" % code))
    told_by = io.BytesIO()
    worker.main()
    line, _, code = told_by.getvalue().partition(b"\n")
    assert json.loads(line)["error"]["message"] == "internal error: FileNotFoundError"
    assert b"somebody" not in told_by.getvalue()
    assert code == b"1"


def test_votes_that_a_form_cannot_hold_are_refused_without_a_path(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with running() as client:
        lines = [{"order": ["two\nlines", "b"], "weight": 30}, {"order": ["b", "two\nlines"], "weight": 2}]
        url = post_with_header(
            client, "/open", files={"file": ("a.jsonl", "\n".join(map(json.dumps, lines)).encode())}
        ).json()["url"]
        wait(client, url)
        answer = client.get(f"{url}/attacked.soc", headers={"accept": "application/json"})
        assert answer.status_code == 422
        assert answer.json()["error"]["place"] == "votes.soc"
        assert str(tmp_path) not in answer.text
        assert "holdrank-studio" not in answer.text


def test_the_threat_model_names_tests_that_there_are():
    page = (ROOT / "docs" / "reference" / "threat-model.md").read_text("utf-8")
    tests = ROOT / "tests"
    named = re.findall(r"`(test_\w+)`(?: in `(\w+/test_\w+\.py)`)?", page)
    assert len({name for name, file in named if not file}) > 20
    elsewhere = {
        "votes/test_ballots.py",
        "votes/test_pairs.py",
        "files/test_footers.py",
        "files/test_found_by_fuzzing.py",
    }
    assert {file for _, file in named} == {"", *elsewhere}
    for place in {"", *elsewhere}:
        files = [tests / place] if place else sorted((tests / "studio").glob("test_*.py"))
        bodies = [ast.parse(path.read_text("utf-8")).body for path in files]
        there = {part.name for body in bodies for part in body if isinstance(part, ast.FunctionDef)}
        assert {name for name, file in named if file == place} <= there
