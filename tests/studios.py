"""A studio for tests: one that answers in this process, what posts forms to it, and what waits for its jobs."""

from __future__ import annotations

import contextlib
import io
import json
import time

import pytest

import holdrank as hr
from holdrank.studio.app import create_app

testclient = pytest.importorskip("starlette.testclient")

HERE = "http://127.0.0.1:8000"
# 61 of 101 put a above b: 11 must change sides before b is first.
VOTES = "weight,rank1,rank2,rank3\n61,a,b,c\n40,b,a,c\n"


@contextlib.contextmanager
def running(limits=None, start=None):
    """A studio that answers, with what posts forms to it."""
    app = create_app(8000, limits, start)
    with testclient.TestClient(app, base_url=HERE, raise_server_exceptions=False) as client:
        client.studio = app.state.studio
        yield client


def post(client, path, *, files=None, headers=None, accept="application/json", **values):
    values.setdefault("token", client.studio.token)
    return client.post(path, data=values, files=files, headers={"accept": accept, "origin": HERE, **(headers or {})},
                       follow_redirects=False)  # fmt: skip


def post_with_header(client, path, *, files=None, **values):
    """Post a form with the token in a header, as scripts do."""
    headers = {"accept": "application/json", "origin": HERE, "x-holdrank-token": client.studio.token}
    return client.post(path, data=values, files=files, headers=headers, follow_redirects=False)


def opened(client, text, name):
    answer = post(client, "/open", files={"file": (name, text.encode())})
    assert answer.status_code == 200, answer.text
    return answer.json()["url"]


def wait(client, url, until="over"):
    """Ask until the job of a page is over; return the twin of the page."""
    for _ in range(3600):
        answer = client.get(f"{url}.json")
        found = answer.json()
        if "error" in found or found["job"][until]:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{url} is not over: {found['job']}")


def slow_votes(n=40):
    """Votes of pure noise, whose exact consensus takes far longer than any test waits."""
    file = io.StringIO()
    votes = hr.sample_votes(hr.Uniform(n), size=101, rng=0)
    for ranks in votes.ranks.tolist():
        order = sorted(range(n), key=ranks.__getitem__)
        file.write(json.dumps({"order": [f"item {i}" for i in order]}) + "\n")
    return file.getvalue()


def is_error(answer, status, code):
    """Whether an answer is an error of the one shape."""
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "place", "repair"}
    assert all(isinstance(text, str) for text in error.values())
    assert error["message"]
    assert error["code"] == code
    return error
