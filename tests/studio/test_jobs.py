"""The studio at its limits: files that are too large, jobs that take too long or are left alone; nothing stays."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import pytest

from holdrank.studio.app import create_app
from holdrank.studio.jobs import Jobs
from holdrank.studio.limits import Limits

from studios import HERE, VOTES, is_error, opened, post, running, slow_votes, wait

pytestmark = [pytest.mark.slow, pytest.mark.traced]


@pytest.fixture
def client():
    with running() as found:
        yield found


# Limits.


def test_a_large_file_is_refused_before_it_is_read():
    with running(Limits(upload=2000)) as small:
        big = {"file": ("big.csv", b"x" * 10_000)}
        assert "up to" in is_error(post(small, "/open", files=big), 413, "limit")["message"]
        head = {"content-type": "multipart/form-data; boundary=b", "origin": HERE, "accept": "application/json"}
        is_error(small.post("/open", content=b"", headers={**head, "content-length": "9" * 20}), 413, "limit")
        assert small.get("/index.json").json()["opened"] == []


@pytest.mark.parametrize(
    ("length", "parts"),
    [([(b"content-length", b"100000")], 0), ([], 7), ([(b"content-length", b"10")], 7)],
    ids=["said", "not said", "a lie"],
)
def test_a_flood_is_not_read_to_its_end(length, parts):
    """A body of 2,000 and 4,096 bytes is the most; parts are of 1,000, and the seventh is one too many."""
    app = create_app(8000, Limits(upload=2000))
    headers = [(b"host", b"127.0.0.1:8000"), (b"content-type", b"multipart/form-data; boundary=b"), *length]
    scope = {"type": "http", "method": "POST", "path": "/open", "raw_path": b"/open", "query_string": b"",
             "headers": [*headers, (b"accept", b"application/json")], "http_version": "1.1", "scheme": "http",
             "server": ("127.0.0.1", 8000), "client": ("127.0.0.1", 1), "root_path": ""}  # fmt: skip
    read, told = [], []

    async def receive():
        read.append(1)
        assert len(read) < 50
        body = b'--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n' if len(read) == 1 else b""
        return {"type": "http.request", "body": body.ljust(1000, b"y"), "more_body": True}

    async def send(message):
        told.append(message)

    asyncio.run(app(scope, receive, send))
    assert told[0]["status"] == 413
    assert len(read) == parts


def test_a_long_file_is_refused():
    with running(Limits(rows=10)) as small:
        error = is_error(post(small, "/open", text="rank1,rank2\n" + "a,b\n" * 11), 413, "limit")
        assert "12 lines" in error["message"]


def test_a_file_of_many_items_is_refused():
    with running(Limits(items=2)) as small:
        url = post(small, "/open", text=VOTES).json()["url"]
        assert "3 items" in is_error(small.get(f"{url}.json"), 413, "limit")["message"]


def test_the_oldest_files_go_when_there_is_no_room():
    with running(Limits(kept=200)) as small:
        first = opened(small, VOTES, "1.csv")
        for k in range(2, 7):
            opened(small, VOTES, f"{k}.csv")
        names = [one["name"] for one in small.get("/index.json").json()["opened"]]
        assert names[-1] == "6.csv"
        assert 0 < len(VOTES) * len(names) <= 200
        is_error(small.get(f"{first}.json"), 404, "not-found")


def test_forms_beyond_measure_are_refused(client):
    many = {f"field{k}": "x" for k in range(100)}
    is_error(post(client, "/open", files={"file": ("a.csv", b"x")}, **many), 400, "form")


# Jobs.


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A process that nobody has waited for yet has ended all the same.
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def job_of(client, url):
    id = client.get(f"{url}.json").json()["job"]["id"]
    return client.studio.jobs.get(id)


def started(job):
    for _ in range(1200):
        if job.process is not None:
            return job.process.pid
        time.sleep(0.05)
    raise AssertionError("the job did not start")


def gone(pid):
    for _ in range(1200):
        if not is_alive(pid):
            return True
        time.sleep(0.05)
    return False


def test_a_cancelled_job_leaves_what_it_knew_and_no_process():
    with running() as client:
        url = opened(client, slow_votes(), "slow.jsonl")
        job = job_of(client, url)
        pid = started(job)
        assert is_alive(pid)
        answer = post(client, f"/jobs/{job.id}/cancel", back=url)
        assert answer.json()["url"] == url
        assert gone(pid)
        twin = client.get(f"{url}.json").json()
        assert twin["job"]["state"] == "cancelled"
        assert twin["votes"]["total"] == 101
        assert "Cancelled. The page shows the results so far." in client.get(url).text
        # It can be cancelled twice, and nobody is led to another site.
        assert post(client, f"/jobs/{job.id}/cancel", back="//evil.example").json()["url"] == "/"


def test_a_job_out_of_time_is_killed():
    # An analysis keeps its own time limit; this one is told another than the studio keeps.
    task = {"task": "analyse", "name": "slow.jsonl", "reading": {}, "spec": {"time_limit": 60.0}, "seconds": 3.0}

    async def run():
        jobs = Jobs(Limits(margin=0.5))
        job = jobs.start(task, [slow_votes().encode()])
        await job.until("nothing")
        pid = job.process.pid
        alive = is_alive(pid)
        await jobs.close()
        return job, alive

    job, alive = asyncio.run(run())
    assert job.state == "out of time"
    assert job.problem.code == "time"
    assert not alive
    assert 3.5 <= job.seconds < 60
    assert job.told["votes"]["total"] == 101


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory hold on Linux")
@pytest.mark.parametrize("megabytes", [40, 100, 160])
def test_a_job_that_needs_too_much_memory_ends_with_one_line(megabytes):
    with running(Limits(memory=megabytes * 2**20)) as client:
        url = post(client, "/open", text=slow_votes()).json()["url"]
        found = wait(client, url)
        error = found["error"] if "error" in found else found["job"]["error"]
        assert error["code"] == "memory"
        assert "memory" in error["message"]
        assert error["repair"]
        # The studio itself goes on.
        assert client.get("/index.json").status_code == 200


def test_a_job_that_nobody_listens_to_is_ended():
    with running(Limits(patience=0.5)) as client:
        url = opened(client, slow_votes(), "slow.jsonl")
        job = client.studio.shelf.votes(url.removeprefix("/v/")).job
        pid = started(job)
        assert gone(pid)
        # Its end is written down a moment after the process is gone.
        assert wait(client, url)["job"]["state"] == "left alone"


def test_a_job_that_somebody_asks_after_goes_on():
    with running(Limits(patience=1.5)) as client:
        url = opened(client, slow_votes(), "slow.jsonl")
        ends = time.monotonic() + 2
        while time.monotonic() < ends:
            assert client.get(f"{url}.json").json()["job"]["state"] in ("queued", "running")
            time.sleep(0.1)


def test_jobs_wait_in_line_and_a_full_line_is_refused():
    with running(Limits(running=1, queued=1)) as client:
        first = opened(client, slow_votes(), "slow.jsonl")
        claim = {"claim": "top 3", "time_limit": "60"}
        for _ in range(1200):
            if client.get(f"{first}.json").json()["record"]:
                break
            time.sleep(0.05)
        second = post(client, f"{first}/claims", **claim).json()["url"]
        assert client.get(f"{second}.json").json()["job"]["state"] == "queued"
        error = is_error(post(client, f"{first}/claims", **claim), 503, "busy")
        assert error["repair"]
        # One that waits can be cancelled; then there is room again.
        waiting = client.get(f"{second}.json").json()["job"]["id"]
        post(client, f"/jobs/{waiting}/cancel")
        assert client.get(f"{second}.json").json()["job"]["state"] == "cancelled"
        third = post(client, f"{first}/claims", **claim).json()["url"]
        post(client, f"/jobs/{job_of(client, first).id}/cancel")
        for _ in range(1200):
            if client.get(f"{third}.json").json()["job"]["state"] == "running":
                return
            time.sleep(0.05)
        raise AssertionError("the next in line did not start")


def test_the_end_of_the_studio_ends_jobs_and_takes_files_away(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with running() as client:
        url = opened(client, slow_votes(), "slow.jsonl")
        job = job_of(client, url)
        pid = started(job)
        assert len(list(tmp_path.iterdir())) == 1
        assert is_alive(pid)
    assert gone(pid)
    assert list(tmp_path.iterdir()) == []


def test_a_worker_ends_with_whoever_started_it(tmp_path):
    """Its stdin is its lifeline, even if the studio is killed and cannot say goodbye."""
    import subprocess

    data = slow_votes().encode()
    folder = tmp_path / "folder of the job"
    folder.mkdir()
    order = {"task": "analyse", "name": "slow.jsonl", "reading": {}, "memory": 0, "seconds": 60, "items": 400,
             "sizes": [len(data)], "spec": {"time_limit": 60.0}, "folder": str(folder)}  # fmt: skip
    worker = [sys.executable, "-P", "-m", "holdrank.studio.worker"]
    with subprocess.Popen(worker, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(json.dumps(order).encode() + b"\n" + data)
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["event"] in ("progress", "votes")
        process.stdin.close()
        assert process.wait(20) == 4
    assert not folder.exists()
