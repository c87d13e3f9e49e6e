"""To whom the studio listens: this machine, this user, this page, and requests that are whole."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from served import answers, code_of
from studios import HERE, running

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells this on Linux")


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
    assert "belongs to another user" in body
