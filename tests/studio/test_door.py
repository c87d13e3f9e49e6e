"""How much is sent to the studio, how many send it, and how slowly: all of it has limits."""

from __future__ import annotations

import contextlib
import json
import time
from inspect import signature

import pytest

from holdrank.studio.limits import Limits

from served import answers, everything, served
from studios import VOTES, post_with_header, running, wait

formparsers = pytest.importorskip("starlette.formparsers")

pytestmark = [pytest.mark.slow, pytest.mark.traced]


def test_a_request_that_does_not_arrive_is_not_waited_for(tmp_path):
    with served(tmp_path, arrival=0.3, pause=0.3, sending=1.0) as studio:
        for head in ("", "GET / HTT", f"GET / HTTP/1.1\r\nHost: {studio.host}\r\n"):
            with studio.connect() as line:
                line.sendall(head.encode())
                assert everything(line) == b""
        # A second request on the same connection has no more time than the first.
        with studio.connect() as line:
            line.sendall(f"GET /healthz HTTP/1.1\r\nHost: {studio.host}\r\n\r\nGET /heal".encode())
            assert [status for status, _, _ in answers(everything(line))] == [200]
        form = f"POST /open HTTP/1.1\r\nHost: {studio.host}\r\nAccept: application/json\r\nContent-Length: 900\r\n"
        form += "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
        with studio.connect() as line:
            line.sendall(form.encode() + b"text=")
            ((status, headers, body),) = answers(everything(line))
        assert (status, headers["connection"]) == (408, "close")
        assert json.loads(body)["error"]["code"] == "slow"
        # A little from time to time does not help.
        with studio.connect() as line, contextlib.suppress(ConnectionError):
            line.sendall(form.encode())
            line.settimeout(0.1)
            found = b""
            for _ in range(200):
                line.sendall(b"x")
                with contextlib.suppress(TimeoutError):
                    found += line.recv(65536)
                    break
            assert answers(found)[0][0] == 408


def test_too_many_connections_are_told_to_come_back(tmp_path):
    with served(tmp_path, connections=3) as studio, contextlib.ExitStack() as held:
        idle = [held.enter_context(studio.connect()) for _ in range(3)]
        time.sleep(0.2)  # until the server has taken them
        status, headers, body = studio.ask("GET", "/index.json")
        assert (status, headers["retry-after"], headers["connection"]) == (503, "5", "close")
        assert set(json.loads(body)["error"]) == {"code", "message", "place", "repair"}
        assert "content-security-policy" in headers
        idle += [held.enter_context(studio.connect()) for _ in range(10)]
        with idle[-1] as last:  # far too many: nothing is said any more
            assert everything(last) == b""
        for line in idle:
            line.close()
        for _ in range(1200):
            if studio.ask("GET", "/index.json")[0] == 200:
                return
            time.sleep(0.05)
        raise AssertionError("there is no way back")


# Starlette counts the fields of such a form since some version; before, it is only their length that is limited.
MANY_FIELDS = 400 if "max_fields" in signature(formparsers.FormParser.__init__).parameters else 422


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/json", b'{"text": "a"}', 415),
        ("text/plain", b"text=a", 415),
        ("", b"text=a", 415),
        ("multipart/form-data", b"x", 400),
        ("multipart/form-data; boundary=", b"x", 400),
        ("multipart/form-data; boundary=b", b"rubbish", 400),
        ("multipart/form-data; boundary=b", b"--b\r\n\r\nno name\r\n--b--\r\n", 400),
        ("multipart/form-data; boundary=b; charset=idna", b"--b--\r\n", 415),
        ('multipart/form-data; boundary=b; Charset = "unicode_escape"', b"--b--\r\n", 415),
        ("multipart/form-data; boundary=charset=utf-8; charset=idna", b"--b--\r\n", 415),
        ("multipart/form-data; boundary=b; charset=utf-8x", b"--b--\r\n", 415),
        ("multipart/form-data; boundary=b; charset*=utf-8''idna", b"--b--\r\n", 415),
        ("application/x-www-form-urlencoded; charset=utf-7", b"text=a", 415),
        ("multipart/form-data; boundary=b; charset=UTF-8",
         b'--b\r\ncontent-disposition: form-data; name="x"\r\n\r\ny\r\n--b--\r\n', 422),
        ("application/x-www-form-urlencoded", (b"text=", b"a" * 2**20), 413),
        ("application/x-www-form-urlencoded", b"&".join(b"f%d=x" % k for k in range(61)), MANY_FIELDS),
        ("application/x-www-form-urlencoded", b"text=" + b"a" * 2**20, 413),
        ("multipart/form-data; boundary=b", b"".join(
            b'--b\r\ncontent-disposition: form-data; name="f%d"; filename="f"\r\n\r\nx\r\n' % k for k in range(3)
        ) + b"--b--\r\n", 400),
    ],
)  # fmt: skip
def test_bodies_that_are_no_form_of_ours_are_refused(kind, body, status):
    with running() as client:
        headers = {"accept": "application/json", "x-holdrank-token": client.studio.token}
        headers |= {"content-type": kind} if kind else {}
        answer = client.post("/open", content=body if isinstance(body, bytes) else iter(body), headers=headers)
        assert answer.status_code == status, answer.text
        assert answer.json()["error"]["message"]
        assert client.get("/index.json").json()["opened"] == []


def test_all_that_arrives_at_one_time_is_limited():
    with running(Limits(arriving=1000)) as client:
        answer = post_with_header(client, "/open", files={"file": ("a.csv", b"x" * 5000)})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        # It is only what is under way that counts.
        for _ in range(5):
            assert post_with_header(client, "/open", text="  " * 100).status_code == 422


def test_what_is_open_is_limited():
    with running(Limits(files=2, claims=1, comparisons=1)) as client:
        urls = [post_with_header(client, "/open", text=VOTES).json()["url"] for _ in range(3)]
        index = client.get("/index.json").json()
        assert [one["url"] for one in index["opened"]] == urls[-2:]
        wait(client, urls[-1])
        claims = [post_with_header(client, f"{urls[-1]}/claims", claim="a wins").json()["url"] for _ in range(2)]
        known = {"old_id": urls[-2][3:], "new_id": urls[-1][3:]}
        pairs = [post_with_header(client, "/compare", **known).json()["url"] for _ in range(2)]
        assert client.get(f"{urls[-1]}.json").json()["claims"] == claims[-1:]
        assert client.get("/index.json").json()["compared"] == pairs[-1:]
        assert [client.get(f"{url}.json").status_code for url in claims + pairs] == [404, 200] * 2
        # Nothing else is remembered: a job for each file, for the claim and for the comparison.
        assert len(client.studio.jobs._known) == 2 + 1 + 1


def test_what_is_refused_leaves_nothing(monkeypatch):
    with running(Limits(queued=0, files=2)) as client:
        for path, form in (("/open", {"text": VOTES}), ("/compare", {})):
            files = None if form else {which: ("a.csv", VOTES.encode()) for which in ("old", "new")}
            answer = post_with_header(client, path, files=files, **form)
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "busy")
            assert answer.headers["retry-after"]
        files = {"old": ("old.csv", VOTES.encode())}
        assert post_with_header(client, "/compare", files=files).status_code == 422
        assert post_with_header(client, "/compare", files=files, new_id="x").status_code == 404
        assert client.get("/index.json").json() == {"opened": [], "compared": []}
    with running() as client:
        url = post_with_header(client, "/open", text=VOTES).json()["url"]
        wait(client, url)
        claim = post_with_header(client, f"{url}/claims", claim="a wins").json()["url"]
        before = client.get(f"{url}.json").json()
        monkeypatch.setattr(client.studio.jobs, "limits", Limits(queued=0))
        assert post_with_header(client, f"{url}/read", unlisted="observed").status_code == 503
        assert post_with_header(client, f"{url}/analyse", rule="borda").status_code == 503
        after = client.get(f"{url}.json").json()
        assert (after["reading"], after["record"], after["claims"]) == (before["reading"], before["record"], [claim])
        assert client.studio.shelf.votes(url[3:]).spec["rule"] == "auto"


def test_results_count_as_memory(monkeypatch):
    with running() as client:
        first = post_with_header(client, "/open", text=VOTES).json()["url"]
        wait(client, first)
        size = client.studio.shelf.votes(first[3:]).size
        assert size > 100 * len(VOTES)  # the file is the least of it
        monkeypatch.setattr(client.studio.shelf, "limits", Limits(kept=size + len(VOTES) - 1))
        second = post_with_header(client, "/open", text=VOTES).json()["url"]
        assert [one["url"] for one in client.get("/index.json").json()["opened"]] == [second]
