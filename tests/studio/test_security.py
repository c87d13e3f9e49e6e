"""The studio and those who do not mean well: other sites, other users, hostile files, slow and rude connections.

The page on the threat model names these tests.
"""

from __future__ import annotations

import ast
import asyncio
import base64
import contextlib
import csv
import hashlib
import io
import json
import os
import random
import re
import signal
import socket
import stat
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from inspect import signature
from pathlib import Path

import pytest

import holdrank as hr
from holdrank.studio.app import create_app, description
from holdrank.studio.jobs import Jobs
from holdrank.studio.limits import Limits
from studios import HERE, VOTES, running, wait

pytest.importorskip("uvicorn")
formparsers = pytest.importorskip("starlette.formparsers")

ROOT = Path(__file__).resolve().parents[2]
SLOW = "\n".join(
    json.dumps({"order": random.Random(k).sample([f"item {j}" for j in range(40)], 40)}) for k in range(101)
)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells this on Linux")

# A studio with limits of its own, in a process of its own; as `serve` starts it.
SERVED = """
import asyncio, contextlib, json, sys
from holdrank.studio import _answering, _listening
from holdrank.studio.app import create_app
from holdrank.studio.limits import Limits

with _listening(0) as door:
    port = door.getsockname()[1]
    app = create_app(port, Limits(**json.loads(sys.argv[1])))
    ready = lambda: print(f"http://127.0.0.1:{port} {app.state.studio.token}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_answering(app, door, ready))
"""


class Served:
    """A studio in a process of its own, asked byte by byte."""

    def __init__(self, process, port, token):
        self.process, self.port, self.token, self.host = process, port, token, f"127.0.0.1:{port}"

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def send(self, text):
        """Return status, headers and body of everything that is answered to some bytes, until the connection ends."""
        with self.connect() as line:
            line.sendall(text if isinstance(text, bytes) else text.encode("latin-1"))
            return answers(everything(line))

    def ask(self, method, path, *headers, host=None, body=""):
        """Return the one answer to one request."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or self.host}", "Accept: application/json", *headers]
        lines += [f"Content-Length: {len(body)}"] * bool(body)
        (found,) = self.send("\r\n".join([*lines, "Connection: close", "", body]))
        return found

    def form(self, path, **values):
        body = "&".join(f"{name}={value}" for name, value in {"token": self.token, **values}.items())
        kind = "Content-Type: application/x-www-form-urlencoded"
        return self.ask("POST", path, kind, f"Origin: http://{self.host}", body=body)


def everything(line):
    data = b""
    with contextlib.suppress(ConnectionError):
        while part := line.recv(65536):
            data += part
    return data


def answers(data):
    """Return (status, headers, body) of each answer in a stream of bytes."""
    found = []
    while data:
        head, _, data = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        size = int(headers.get("content-length", len(data)))
        body, data = data[:size], data[size:]
        found.append((int(first.split()[1]), headers, body.decode("utf-8")))
    return found


@contextlib.contextmanager
def served(folder, **limits):
    environment = {**os.environ, "TMPDIR": str(folder), "SECRET_OF_THIS_TEST": "hunter2"}
    command = [sys.executable, "-c", SERVED, json.dumps(limits)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            address, _, token = process.stdout.readline().strip().partition(" ")
            assert address, process.stderr.read()
            yield Served(process, int(address.rpartition(":")[2]), token)
        finally:
            if process.poll() is None:
                process.terminate()
            said = process.communicate(timeout=30)[1]
        assert said == ""  # whatever is asked, nobody's terminal is filled with it


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with served(tmp_path_factory.mktemp("studio")) as found:
        yield found


def post(client, path, *, files=None, **values):
    headers = {"accept": "application/json", "origin": HERE, "x-holdrank-token": client.studio.token}
    return client.post(path, data=values, files=files, headers=headers, follow_redirects=False)


def code_of(answer):
    return json.loads(answer[2])["error"]["code"]


# Where it listens, and to whom.


@on_linux
def test_it_listens_on_loopback_only(studio):
    """127.0.0.1 is 0100007F to the kernel of a small-endian machine; 0A is a socket that listens."""
    tables = [Path(f"/proc/net/{name}").read_text().splitlines()[1:] for name in ("tcp", "tcp6")]
    rows = [line.split() for table in tables for line in table]
    listening = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{studio.port:04X}")]
    address = "0100007F" if sys.byteorder == "little" else "7F000001"
    assert listening == [f"{address}:{studio.port:04X}"]


@pytest.mark.parametrize("option", ["--host", "--bind", "--address", "--listen"])
def test_no_option_makes_it_listen_elsewhere(command_line, option):
    code, out, err = command_line("studio", option, "0.0.0.0", "--no-browser")
    assert (code, out) == (2, "")
    assert "No such option" in err


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "[::1]:{port}", "127.0.0.1", "127.0.0.1:", "127.0.0.1:1", "0.0.0.0:{port}",
     "127.0.0.1.:{port}", "localhost.:{port}", "127.0.0.1.evil.example:{port}", "127.1:{port}", "2130706433:{port}",
     "127.0.0.1:{port}@evil.example", "evil.example@127.0.0.1:{port}", "127.0.0.1:{port}, evil.example",
     "[::ffff:127.0.0.1]:{port}"],
)  # fmt: skip
def test_a_name_that_leads_here_by_rebinding_is_refused(studio, host):
    for method in ("GET", "POST"):
        answer = studio.ask(method, "/index.json", host=host.format(port=studio.port))
        assert (answer[0], code_of(answer)) == (421, "host")


def test_names_of_this_machine_are_known_in_any_case(studio):
    for host in (f"LOCALHOST:{studio.port}", f"LocalHost:{studio.port}", studio.host):
        assert studio.ask("GET", "/index.json", host=host)[0] == 200


def test_two_names_or_none_are_refused(studio):
    for second in ("evil.example", studio.host):
        for pair in ((studio.host, second), (second, studio.host)):
            lines = "".join(f"Host: {name}\r\n" for name in pair)
            ((status, _, _),) = studio.send(f"GET /index.json HTTP/1.1\r\n{lines}Connection: close\r\n\r\n")
            assert status in (400, 421)
    assert studio.send("GET /index.json HTTP/1.1\r\n\r\n")[0][0] == 400
    assert studio.send("GET /index.json HTTP/1.0\r\n\r\n")[0][0] == 421
    # The guard itself refuses them, whatever reads the requests before it.
    with running() as client:
        for origin in (b"http://evil.example", HERE.encode()):
            twice = [(b"origin", origin), (b"origin", HERE.encode())]
            assert told(client.app, "GET", "/index.json", twice)["status"] == 400


def told(app, method, path, headers):
    """Return the head of the answer of an application, without a server around it."""
    sent = []
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"",
             "headers": [(b"host", b"127.0.0.1:8000"), *headers], "http_version": "1.1", "scheme": "http",
             "server": ("127.0.0.1", 8000), "client": ("127.0.0.1", 1), "root_path": ""}  # fmt: skip

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent[0]


def test_an_address_in_the_place_of_a_path_is_refused(studio):
    for address in ("http://evil.example/index.json", f"http://{studio.host}/index.json", "index.json"):
        answer = studio.ask("GET", address)
        assert (answer[0], code_of(answer)) == (400, "target")
    answer = studio.ask("GET", "//evil.example/index.json")
    assert answer[0] == 404
    assert "location" not in answer[1]


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "http://127.0.0.1", "https://{host}", "http://{host}/",
                                    "http://{host}.evil.example", "HTTP://{host}", "file://", ""])  # fmt: skip
def test_whatever_another_origin_asks_is_refused(studio, origin):
    for method in ("GET", "HEAD", "POST"):
        answer = studio.ask(method, "/index.json", f"Origin: {origin.format(host=studio.host)}")
        assert answer[0] == 403
        assert "access-control-allow-origin" not in answer[1]


@pytest.mark.parametrize(
    ("method", "site", "mode", "dest", "status"),
    [
        ("GET", "none", "navigate", "document", 200),
        ("GET", "same-origin", "cors", "empty", 200),
        ("GET", "cross-site", "navigate", "document", 200),  # somebody follows a link
        ("GET", "cross-site", "navigate", "iframe", 403),
        ("GET", "cross-site", "navigate", "object", 403),
        ("GET", "cross-site", "no-cors", "script", 403),
        ("GET", "cross-site", "no-cors", "image", 403),
        ("GET", "same-site", "cors", "empty", 403),
        ("POST", "cross-site", "navigate", "document", 403),
        ("POST", "same-site", "navigate", "document", 403),
    ],
)
def test_what_a_browser_says_of_the_asker_counts(studio, method, site, mode, dest, status):
    said = (f"Sec-Fetch-Site: {site}", f"Sec-Fetch-Mode: {mode}", f"Sec-Fetch-Dest: {dest}")
    assert studio.ask(method, "/index.json", *said)[0] == status


@pytest.mark.parametrize("method", ["TRACE", "OPTIONS", "PUT", "DELETE", "PATCH", "CONNECT", "PROPFIND", "FOO"])
def test_other_methods_are_refused(studio, method):
    for path in ("/index.json", "/open", "*"):
        status, headers, body = studio.ask(method, path, "X-Token: reflected")
        assert status in (400, 405)
        assert "reflected" not in body
        assert status == 400 or headers["allow"] == "GET, HEAD, POST"


def test_a_path_says_what_it_answers(studio):
    assert studio.ask("GET", "/open")[1]["allow"] == "POST"
    assert set(studio.ask("POST", "/index.json")[1]["allow"].split(", ")) == {"GET", "HEAD"}


def test_no_header_changes_the_method(studio):
    url = json.loads(studio.form("/open", text="rank1%2Crank2%0Aa%2Cb")[2])["url"]
    for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        assert studio.ask("GET", f"{url}/close", f"{name}: POST", f"X-Holdrank-Token: {studio.token}")[0] == 405
        assert studio.ask("GET", f"{url}/close?_method=POST", f"X-Holdrank-Token: {studio.token}")[0] == 405
    assert studio.ask("GET", f"{url}.json")[0] == 200
    assert studio.form(f"{url}/close")[0] == 200
    assert studio.ask("GET", f"{url}.json")[0] == 404


def test_no_web_socket_is_opened(studio):
    key = ("Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
    lines = [f"GET / HTTP/1.1\r\nHost: {studio.host}\r\nConnection: Upgrade, close", *key]
    for origin, status in ((f"http://{studio.host}", 200), ("http://evil.example", 403)):
        text = "\r\n".join([*lines, f"Origin: {origin}", "", ""])
        assert [answer[0] for answer in studio.send(text)] == [status]


@pytest.mark.parametrize(
    "lines",
    ["Content-Length: 5\r\nTransfer-Encoding: chunked", "Content-Length: 5\r\nContent-Length: 6",
     "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "Transfer-Encoding: xchunked", "Content-Length: +5",
     "Content-Length: 0x5", "Content-Length: -1", "Transfer-Encoding : chunked", "Bare: a\x00b"],
)  # fmt: skip
def test_one_request_cannot_hide_in_another(studio, lines):
    """Whoever says two lengths gets one refusal, and what follows is not read as a request."""
    hidden = f"GET /index.json HTTP/1.1\r\nHost: {studio.host}\r\n\r\n"
    text = f"POST /open HTTP/1.1\r\nHost: {studio.host}\r\nAccept: application/json\r\n"
    text += "Content-Type: multipart/form-data; boundary=b\r\n"
    found = studio.send(f"{text}{lines}\r\n\r\n0\r\n\r\n{hidden}")
    assert [status for status, _, _ in found] in ([400], [413])
    assert set(json.loads(found[0][2])["error"]) == {"code", "message", "place", "repair"}
    assert found[0][1]["x-content-type-options"] == "nosniff"


def test_rubbish_after_a_request_ends_the_connection(studio):
    slow = f"GET /jobs/x/events HTTP/1.1\r\nHost: {studio.host}\r\n\r\n"
    found = studio.send(slow + "\x00 \x00\r\n\r\n")
    assert [status for status, _, _ in found] in ([404], [404, 400])


def test_heads_beyond_measure_are_refused(studio):
    assert studio.send(f"GET /{'a' * 200_000} HTTP/1.1\r\nHost: {studio.host}\r\n\r\n")[0][0] == 400
    many = "".join(f"x{k}: y\r\n" for k in range(50_000))
    assert studio.send(f"GET / HTTP/1.1\r\nHost: {studio.host}\r\n{many}\r\n")[0][0] == 400
    assert studio.send(bytes(range(256)) + b"\r\n\r\n")[0][0] == 400
    head = f"POST /open HTTP/1.1\r\nHost: {studio.host}\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    assert studio.send(f"{head}Content-Length: 20\r\nConnection: close\r\n\r\n--b\r\nbad[header: x\r\n")[0][0] == 400
    assert studio.ask("GET", "/index.json")[0] == 200


@on_linux
def test_the_kernel_tells_who_asks(tmp_path, monkeypatch):
    from holdrank.studio import guard

    with socket.create_server(("127.0.0.1", 0)) as server:
        plain = socket.create_connection(server.getsockname())
        mapped = socket.socket(socket.AF_INET6)
        mapped.connect((f"::ffff:{server.getsockname()[0]}", server.getsockname()[1]))
        for client in (plain, mapped):
            taken, there = server.accept()
            with client, taken:
                assert guard.owner_of(there, taken.getsockname()) == os.getuid()
                # Neither end is listed where the kernel tells nothing; ours alone, if theirs hides.
                monkeypatch.setattr(guard, "_TABLES", (tmp_path / "none",))
                assert guard.owner_of(there, taken.getsockname()) is None
                here, theirs = (f"0100007F:{port:04X}" for port in (taken.getsockname()[1], there[1]))
                rows = f"head\n 0: {here} {theirs} 01 0:0 0:0 0 0 0 1\n"
                (tmp_path / "tcp").write_text(rows)
                monkeypatch.setattr(guard, "_TABLES", (tmp_path / "tcp",))
                if sys.byteorder == "little":
                    assert guard.owner_of(there, taken.getsockname()) == -1
                monkeypatch.undo()


@on_linux
@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can be somebody else")
def test_another_user_of_this_machine_is_refused(studio):
    stranger = (
        "import os, socket, sys; os.setgid(65534); os.setuid(65534)\n"
        f"line = socket.socket(); line.connect(('127.0.0.1', {studio.port}))\n"
        f"line.sendall(b'GET / HTTP/1.1\\r\\nHost: {studio.host}\\r\\nConnection: close\\r\\n\\r\\n')\n"
        "while part := line.recv(65536): sys.stdout.buffer.write(part)"
    )
    found = subprocess.run([sys.executable, "-I", "-c", stranger], capture_output=True, check=True, cwd="/").stdout
    ((status, _, body),) = answers(found)
    assert status == 403
    assert studio.token not in body
    assert "logged in as somebody else" in body


# How much, how many, how slow.


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
        for _ in range(100):
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
        answer = post(client, "/open", files={"file": ("a.csv", b"x" * 5000)})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        # It is only what is under way that counts.
        for _ in range(5):
            assert post(client, "/open", text="  " * 100).status_code == 422


def test_what_is_open_is_limited():
    with running(Limits(files=2, claims=1, comparisons=1)) as client:
        urls = [post(client, "/open", text=VOTES).json()["url"] for _ in range(3)]
        index = client.get("/index.json").json()
        assert [one["url"] for one in index["opened"]] == urls[-2:]
        wait(client, urls[-1])
        claims = [post(client, f"{urls[-1]}/claims", claim="a wins").json()["url"] for _ in range(2)]
        known = {"old_id": urls[-2][3:], "new_id": urls[-1][3:]}
        pairs = [post(client, "/compare", **known).json()["url"] for _ in range(2)]
        assert client.get(f"{urls[-1]}.json").json()["claims"] == claims[-1:]
        assert client.get("/index.json").json()["compared"] == pairs[-1:]
        assert [client.get(f"{url}.json").status_code for url in claims + pairs] == [404, 200] * 2
        # Nothing else is remembered: a job for each file, for the claim and for the comparison.
        assert len(client.studio.jobs._known) == 2 + 1 + 1


def test_what_is_refused_leaves_nothing(monkeypatch):
    with running(Limits(queued=0, files=2)) as client:
        for path, form in (("/open", {"text": VOTES}), ("/compare", {})):
            files = None if form else {which: ("a.csv", VOTES.encode()) for which in ("old", "new")}
            answer = post(client, path, files=files, **form)
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "busy")
            assert answer.headers["retry-after"]
        files = {"old": ("old.csv", VOTES.encode())}
        assert post(client, "/compare", files=files).status_code == 422
        assert post(client, "/compare", files=files, new_id="x").status_code == 404
        assert client.get("/index.json").json() == {"opened": [], "compared": []}
    with running() as client:
        url = post(client, "/open", text=VOTES).json()["url"]
        wait(client, url)
        claim = post(client, f"{url}/claims", claim="a wins").json()["url"]
        before = client.get(f"{url}.json").json()
        monkeypatch.setattr(client.studio.jobs, "limits", Limits(queued=0))
        assert post(client, f"{url}/read", unlisted="observed").status_code == 503
        assert post(client, f"{url}/analyse", rule="borda").status_code == 503
        after = client.get(f"{url}.json").json()
        assert (after["reading"], after["record"], after["claims"]) == (before["reading"], before["record"], [claim])
        assert client.studio.shelf.votes(url[3:]).spec["rule"] == "kemeny"


def test_results_count_as_memory(monkeypatch):
    with running() as client:
        first = post(client, "/open", text=VOTES).json()["url"]
        wait(client, first)
        size = client.studio.shelf.votes(first[3:]).size
        assert size > 100 * len(VOTES)  # the file is the least of it
        monkeypatch.setattr(client.studio.shelf, "limits", Limits(kept=size + len(VOTES) - 1))
        second = post(client, "/open", text=VOTES).json()["url"]
        assert [one["url"] for one in client.get("/index.json").json()["opened"]] == [second]


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
    for _ in range(400):
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
        for _ in range(600):
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


def test_nothing_in_the_package_runs_or_unpickles_what_it_reads():
    found = {}
    paths = sorted((ROOT / "src" / "holdrank").rglob("*.py"))
    assert len(paths) > 80
    for path in paths:
        names = list(forbidden(ast.parse(path.read_text("utf-8"))))
        if names:
            found[path.relative_to(ROOT / "src" / "holdrank").as_posix()] = names
    # Workers of one sweep send each other what they share: it is unpacked in one place, which no file reaches.
    assert found == {"clusters.py": ["pickle"]}
    tree = ast.parse((ROOT / "src" / "holdrank" / "clusters.py").read_text("utf-8"))
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
        lines = [{"order": ["two\nlines", "b"], "weight": 3}, {"order": ["b", "two\nlines"], "weight": 2}]
        url = post(client, "/open", files={"file": ("a.jsonl", "\n".join(map(json.dumps, lines)).encode())}).json()[
            "url"
        ]
        wait(client, url)
        answer = client.get(f"{url}/attacked.soc", headers={"accept": "application/json"})
        assert answer.status_code == 422
        assert answer.json()["error"]["place"] == "votes.soc"
        assert str(tmp_path) not in answer.text
        assert "holdrank-studio" not in answer.text


# Hostile names.

NAMES = [
    "<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "</style><svg onload=alert(1)>", "]]><x/>",
    "\" onmouseover=\"alert(1)", "' onfocus='alert(1)", "javascript:alert(1)", "{{ 7 * 7 }}", "{% raw %}", "&lt;b&gt;",
    "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\tTab", "\rReturn", "\nLine", " =1+1", "＝1", "'=1",
    "\x00zero", "\x1b[31mred", "\u202egnp.exe", "\u2028line", "a\r\nSet-Cookie: x=1", "%0d%0aX: y", "x" * 5000,
    "é" * 200, "../../etc/passwd", "C:\\con",
    "`id`", "$(id)", "${7*7}", "\ufeffmark", "\U000e0041tag", "NA", "weight", ",;|\"",
]  # fmt: skip


@pytest.fixture(scope="module")
def hostile():
    """A studio with a file full of hostile names, a claim about it and a comparison."""
    with running() as client:
        lines = [{"order": NAMES, "weight": 3}, {"order": [NAMES[1], NAMES[0], *NAMES[2:]], "weight": 2}]
        data = "\n".join(map(json.dumps, lines)).encode()
        name = '"; x="\u202e</title><img src=x>\'.jsonl'
        client.url = post(client, "/open", files={"file": (name, data)}).json()["url"]
        post(client, f"{client.url}/analyse", k="1", draws="20", time_limit="4")
        wait(client, client.url)
        client.claim = post(client, f"{client.url}/claims", kind="above", first="0", second="1").json()["url"]
        wait(client, client.claim)
        ids = {"old_id": client.url[3:], "new_id": client.url[3:]}
        client.pair = post(client, "/compare", **ids).json()["url"]
        wait(client, client.pair)
        yield client


def elements(text):
    """Yield tag, attributes and text of every element of a page, as a browser reads it."""
    html5lib = pytest.importorskip("html5lib")
    for node in html5lib.parse(text, namespaceHTMLElements=False).iter():
        if isinstance(node.tag, str):
            yield node.tag.rpartition("}")[2].lower(), dict(node.attrib), node.text or ""


PAGES = ["/", "{url}", "{claim}", "{pair}", "/v/unknown", "/nothing"]


@pytest.mark.parametrize("page", PAGES)
def test_pages_obey_their_policy_whatever_is_called_what(hostile, page):
    answer = hostile.get(page.format(**vars(hostile)), headers={"accept": "text/html"})
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "unsafe" not in answer.headers["content-security-policy"]
    found = list(elements(answer.text))
    assert len(found) > 20
    for tag, attributes, text in found:
        assert tag not in ("img", "iframe", "object", "embed", "base", "style")
        if tag == "script":
            kinds = {"application/json": "ladder-data"}
            assert attributes.get("src") == "/static/studio.js" or attributes["id"] == kinds[attributes["type"]]
            assert "src" not in attributes or not text.strip()
        for name, value in attributes.items():
            assert not name.lower().startswith("on")
            assert name != "style"
            assert not value.lower().strip().startswith(("javascript:", "vbscript:"))
            if name in ("href", "src", "action"):
                assert value.startswith(("/", "#", "data:,"))
                assert not value.startswith("//")
    shown = re.sub(r'<script type="application/json".*?</script>', "", answer.text, flags=re.DOTALL)
    assert not set(shown) & set("\x00\x1b\u202e\u2028\ufeff\U000e0041")
    assert "49" not in re.findall(r"<bdi[^>]*>([^<]*)</bdi>", shown)


def test_pictures_are_sound_xml_that_may_run_nothing(hostile):
    for name in ("ladder", "ranges", "heatmap", "breakdown", "tradeoff", "attack"):
        answer = hostile.get(f"{hostile.url}/pictures/{name}.svg")
        assert answer.status_code == 200, name
        root = ElementTree.fromstring(answer.text)
        style = None
        for node in root.iter():
            tag = node.tag.rpartition("}")[2]
            assert tag not in ("script", "foreignObject", "image", "a", "use", "animate", "set", "iframe")
            assert not any(at.lower().startswith("on") or at == "style" or "href" in at for at in node.attrib)
            style = node.text if tag == "style" else style
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        policy = answer.headers["content-security-policy"]
        assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; sandbox"


def test_the_report_obeys_a_policy_of_its_own(hostile):
    answer = hostile.get(f"{hostile.url}/report.html")
    assert answer.headers["content-disposition"].startswith("attachment; ")
    found = list(elements(answer.text))
    policy = next(at["content"] for tag, at, _ in found if tag == "meta" and "http-equiv" in at)
    assert "unsafe" not in policy
    for kind, tag in (("style-src", "style"), ("script-src", "script")):
        texts = [text for name, at, text in found if name == tag and at.get("type") != "application/json"]
        (digest,) = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
        assert f"{kind} 'sha256-{digest}'" in policy
    assert not any(name.startswith("on") or name == "style" for _, at, _ in found for name in at)
    assert {tag for tag, _, _ in found}.isdisjoint({"img", "iframe", "object", "embed", "link", "base"})


def test_downloads_have_harmless_names_and_kinds(hostile):
    kinds = {
        f"{hostile.url}/report.html": "text/html; charset=utf-8", f"{hostile.url}/analysis.json": "application/json",
        f"{hostile.url}/attacked.csv": "text/csv; charset=utf-8", f"{hostile.url}/attacked.jsonl": "application/jsonl",
        f"{hostile.claim}/attacked.jsonl": "application/jsonl",
    }  # fmt: skip
    for path, kind in kinds.items():
        answer = hostile.get(path, headers={"accept": "application/json"})
        assert answer.status_code == 200, (path, answer.text)
        assert answer.headers["content-type"] == kind
        found = re.fullmatch(r"""attachment; filename="([\w-]+\.\w+)"; filename\*=UTF-8''([\w%.-]+)""",
                             answer.headers["content-disposition"], re.ASCII)  # fmt: skip
        assert found, answer.headers["content-disposition"]
        assert found[1].endswith(Path(path).suffix)
        assert not found[1].startswith(("-", "."))
        assert "%E2%80%AE" not in found[2]  # the sign that turns the direction
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("name", "plain"),
    [("votes.csv", "votes"), ("..", "votes"), ("-rf.csv", "rf"), (".hidden.csv", "hidden"), ("a/b\\c.csv", "b-c"),
     ("\u202egnp.exe", "gnp"), ("half \ud800.csv", "half"), ("a\r\nb: c.csv", "a--b--c"), ("", "votes")],
)  # fmt: skip
def test_the_name_of_a_download_is_made_of_letters(name, plain):
    from holdrank.studio.handlers import download

    header = download("x", "text/csv", name, "-attacked.csv").headers["content-disposition"]
    assert header.startswith(f'attachment; filename="{plain}-attacked.csv"; ')


def test_twins_and_records_give_names_back_as_they_are(hostile):
    assert hostile.get(f"{hostile.url}.json").json()["items"] == NAMES
    assert hostile.get(f"{hostile.url}/analysis.json").json()["items"] == NAMES


def test_half_of_a_character_breaks_no_page(hostile):
    """Votes may hold none, but a claim is text that somebody wrote; JSON can spell any of it."""
    from holdrank.studio.handlers import as_json

    assert json.loads(as_json({"name": "half \ud800"}).body)["name"] == "half \ud800"
    data = b'{"order": ["half \\ud800", "b"]}\n'
    answer = post(
        hostile, "/open", files={"file": ("half \ud800.jsonl".encode("utf-8", "surrogatepass").decode("latin-1"), data)}
    )
    assert answer.status_code == 200
    for ending in ("", ".json"):
        assert hostile.get(answer.json()["url"] + ending).status_code in (200, 422)
    post(hostile, f"{answer.json()['url']}/close")


SPREADSHEET = [name for name in NAMES if "\x00" not in name]


def test_no_cell_of_a_table_is_a_formula_and_names_come_back(tmp_path):
    """Before a sign that a spreadsheet would run there is an apostrophe, which the reader takes away again."""
    orders = [SPREADSHEET, SPREADSHEET[::-1]]
    tied = [SPREADSHEET[:2], *SPREADSHEET[2:]]
    for k, votes in enumerate([hr.Votes.from_orders(orders), hr.Votes.from_orders([*orders, tied])]):
        path = tmp_path / f"{k}.csv"
        hr.write_votes(votes, path)
        with open(path, encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        for cell in cells:
            assert not cell.strip().startswith(("=", "+", "-", "@", "＝")), cell
            assert not cell.startswith(("\t", "\r", "\n")), cell
        assert any("'=cmd" in cell for cell in cells)
        back = hr.read_votes(path, unlisted=votes.unlisted)
        assert back.items == votes.items
        assert back.total_variation(votes) == 0


def test_tables_of_figures_hold_no_formulas():
    from holdrank.paper import _table

    table = _table([{"file": "=1+1.csv", "tiers": "@x > b", "theta": -0.5, "upper": None}])
    assert table == "file,tiers,theta,upper\n'=1+1.csv,'@x > b,-0.5,inf\n"


def test_the_threat_model_names_tests_that_there_are():
    page = (ROOT / "docs" / "reference" / "threat-model.md").read_text("utf-8")
    tests = ROOT / "tests"
    named = re.findall(r"`(test_\w+)`(?: in `(\w+/test_\w+\.py)`)?", page)
    assert len({name for name, file in named if not file}) > 20
    elsewhere = {"votes/test_ballots.py", "files/test_large.py", "files/test_found_by_fuzzing.py"}
    assert {file for _, file in named} == {"", *elsewhere}
    for name, file in named:
        files = [tests / file] if file else sorted((tests / "studio").glob("test_*.py"))
        bodies = [ast.parse(path.read_text("utf-8")).body for path in files]
        assert name in {part.name for body in bodies for part in body if isinstance(part, ast.FunctionDef)}


# The description of all requests, held against the answers.


def test_every_request_is_described_and_nothing_else():
    described = {
        (method, path) for path, how in description()["paths"].items() for method in how if method in ("get", "post")
    }
    answered = {
        (method.lower(), route.path) for route in create_app(8000).routes for method in route.methods - {"HEAD"}
    }
    assert described == answered


def test_the_description_itself_is_not_handed_out(studio):
    for path in ("/openapi.json", "/docs", "/redoc"):
        assert studio.ask("GET", path)[0] == 404


DESCRIBED = [
    (method, path)
    for path, how in description()["paths"].items()
    for method in how
    if method in ("get", "post")
]
STARTS_JOBS = ("/open", "/compare", "/v/{id}/read", "/v/{id}/analyse", "/v/{id}/curve", "/v/{id}/claims")


@pytest.fixture(scope="module")
def ids(studio):
    """What the braces of paths may stand for: a file, a claim, a comparison and a job that there are."""
    url = json.loads(studio.form("/open", text=VOTES.replace("\n", "%0A"))[2])["url"]
    while not json.loads(studio.ask("GET", f"{url}.json")[2])["job"]["over"]:
        time.sleep(0.1)
    claim = json.loads(studio.form(f"{url}/claims", claim="a+wins")[2])
    pair = json.loads(studio.form("/compare", old_id=url[3:], new_id=url[3:])[2])
    return {"v": url[3:], "c": claim["url"][3:], "compare": pair["url"][9:], "jobs": claim["job"]["id"]}


@pytest.mark.parametrize(("method", "path"), DESCRIBED)
def test_answers_are_as_described(studio, ids, method, path):
    """Requests made from the description, sound and unsound: the status, the kind, the headers and the body fit."""
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis import strategies as st
    from schemathesis.specs.openapi import checks

    fitting = [checks.status_code_conformance, checks.content_type_conformance, checks.response_headers_conformance,
               checks.response_schema_conformance]  # fmt: skip
    operation = schemathesis.openapi.from_dict(description())[path][method.upper()]
    modes = (
        list(schemathesis.GenerationMode) if "{" in path or method == "post" else [schemathesis.GenerationMode.POSITIVE]
    )
    cases = st.one_of([operation.as_strategy(generation_mode=mode) for mode in modes])
    statuses = set()

    @seed(1)
    @settings(max_examples=4 if path in STARTS_JOBS or "attacked" in path else 12, phases=[Phase.generate],
              database=None, suppress_health_check=list(HealthCheck), deadline=None)  # fmt: skip
    @given(cases, st.booleans(), st.sampled_from(["application/json", "text/html"]), st.integers(0, 5))
    def holds(case, there, accept, guess):
        kind = path.split("/")[1]
        if there and kind in ids and not path.endswith("/close"):
            case.path_parameters["id"] = ids[kind]
        headers = {"Accept": accept, "X-Holdrank-Token": studio.token if guess else "wrong"}
        answer = case.call(base_url=f"http://{studio.host}", headers=headers, timeout=60)
        statuses.add(answer.status_code)
        case.validate_response(answer, checks=fitting)

    holds()
    assert {status for status in statuses if status >= 500} <= {503}
