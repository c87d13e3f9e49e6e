"""A studio in a process of its own, as `serve` starts it, asked byte by byte."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"

SERVED = """
import asyncio, contextlib, json, sys
limits, traced = json.loads(sys.argv[1]), sys.argv[2:]
if traced:
    import coverage
    tracing = coverage.Coverage(traced[0], data_suffix=True, config_file=traced[1])
    tracing.set_option("run:sigterm", True)  # the end that `served` brings
    tracing.start()
from holdrank.studio import _answering, _listening
from holdrank.studio.app import create_app
from holdrank.studio.limits import Limits

with _listening(0) as door:
    port = door.getsockname()[1]
    app = create_app(port, Limits(**limits))
    ready = lambda: print(f"http://127.0.0.1:{port} {app.state.studio.token}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_answering(app, door, ready))
"""


def traced():
    """Where a process that tests start keeps what it covers, and how; nothing where coverage is not asked for."""
    tracing = sys.modules["coverage"].Coverage.current() if "coverage" in sys.modules else None
    return [os.path.abspath(tracing.get_option("run:data_file")), str(PROJECT)] if tracing else []


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
    command = [sys.executable, "-c", SERVED, json.dumps(limits), *traced()]
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


def code_of(answer):
    return json.loads(answer[2])["error"]["code"]
