"""Two hundred clients at once, for a minute: some read, some work, some misbehave.

Run as ``python benchmarks/studio_clients.py [--seconds 60] [--clients 200]``; writes ``results/studio_clients.json``.
Wanted: no answer but those that were meant and polite refusals, memory that stays where it is, nothing left behind.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import ssl
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

import httpx

RESULTS = Path(__file__).parent / "results" / "studio_clients.json"
POLITE = (429, 503)  # with a header that says when to come back
VOTES = "weight,rank1,rank2,rank3,rank4\n61,a,b,c,d\n40,b,a,d,c\n17,d,c,b,a\n"
BAD_FILES = [
    b"",
    b"\x00\xff" * 400,
    b"rank1,rank2\na,a\n",
    b'{"order": 1}\n',
    b"a;b;c\n1;2\n",
    b"<html>",
    b"PK\x03\x04" + b"x" * 90,
]


UNUSED = ssl.create_default_context()  # each client would make one, which takes longer than what is measured


class Clients:
    """What all clients share: where the studio is, what is open, and what they were answered."""

    def __init__(self, address: str, token: str, ends: float) -> None:
        self.address, self.token, self.ends = address, token, ends
        self.host, self.port = address.removeprefix("http://").split(":")
        self.open: list[str] = []
        self.jobs: list[str] = []
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.slowest: dict[str, float] = defaultdict(float)
        self.wrong: list[str] = []

    def note(self, kind: str, status: int | str, seconds: float, *, meant: tuple[int, ...], answer: str = "") -> None:
        self.counts[kind][str(status)] += 1
        self.slowest[kind] = max(self.slowest[kind], seconds)
        if status not in meant and len(self.wrong) < 20:
            self.wrong.append(f"{kind}: {status} {answer[:200]}")

    async def call(
        self, client: httpx.AsyncClient, kind: str, method: str, path: str, *, meant: tuple[int, ...] = (200,), **more
    ) -> httpx.Response | None:
        """Ask, and note what was answered."""
        started = time.monotonic()
        try:
            answer = await client.request(method, path, **more)
        except httpx.HTTPError as error:
            self.note(kind, type(error).__name__, time.monotonic() - started, meant=meant)
            return None
        polite = answer.status_code in POLITE and "retry-after" in answer.headers
        meant = (*meant, answer.status_code) if polite else meant
        self.note(kind, answer.status_code, time.monotonic() - started, meant=meant, answer=answer.text)
        if polite and random.random() < 0.8:  # most come back when they were told to, some at once
            await asyncio.sleep(float(answer.headers["retry-after"]))
        return answer


async def live(clients: Clients, seed: int) -> None:
    """One client: it chooses what to do next until the time is over."""
    dice = random.Random(seed)
    headers = {"accept": "application/json", "x-holdrank-token": clients.token, "origin": clients.address}
    limits = httpx.Limits(max_connections=1)
    kinds = {read: 40, upload: 5, analyse: 5, claim: 5, follow: 8, download: 12, rubbish: 8, trickle: 3, leave: 6,
             close: 1}  # fmt: skip
    options = {"headers": headers, "timeout": 60, "limits": limits, "verify": UNUSED}
    async with httpx.AsyncClient(base_url=clients.address, **options) as client:
        while time.monotonic() < clients.ends:
            (what,) = dice.choices(list(kinds), list(kinds.values()))
            await what(clients, client, dice)
            await asyncio.sleep(dice.expovariate(2))


async def read(clients: Clients, client: httpx.AsyncClient, dice: random.Random) -> None:
    path = dice.choice(["/", "/index.json", "/healthz", "/static/studio.js", *(2 * clients.open[-5:])])
    await clients.call(client, "read", "GET", path, meant=(200, 404, 413, 422), headers={"accept": "text/html"})


async def upload(clients: Clients, client: httpx.AsyncClient, dice: random.Random) -> None:
    bad = dice.random() < 0.3
    data = dice.choice(BAD_FILES) if bad else VOTES.replace("61", str(dice.randrange(41, 99))).encode()
    answer = await clients.call(client, "upload", "POST", "/open", files={"file": ("votes.csv", data)})
    if answer is not None and answer.status_code == 200:
        made = answer.json()
        if not bad:
            clients.open.append(made["url"])
        clients.jobs.append(made["job"]["id"])


async def analyse(clients: Clients, client: httpx.AsyncClient, dice: random.Random) -> None:
    if clients.open:
        form = {"rule": dice.choice(["kemeny", "borda", "copeland"]), "draws": "50", "time_limit": "5"}
        url = dice.choice(clients.open[-8:])
        await clients.call(client, "analyse", "POST", f"{url}/analyse", data=form, meant=(200, 404))


async def claim(clients: Clients, client: httpx.AsyncClient, dice: random.Random) -> None:
    if clients.open:
        form = {"claim": dice.choice(["a wins", "a above b", "top 2", "nobody wins"]), "time_limit": "5"}
        url = dice.choice(clients.open[-8:])
        await clients.call(client, "claim", "POST", f"{url}/claims", data=form, meant=(200, 404, 409))


async def download(clients: Clients, client: httpx.AsyncClient, dice: random.Random) -> None:
    if clients.open:
        name = dice.choice(["report.html", "analysis.json", "pictures/ladder.svg", "attacked.jsonl", "attacked.csv"])
        url = dice.choice(clients.open[-8:])
        await clients.call(client, "download", "GET", f"{url}/{name}", meant=(200, 404, 409))


async def close(clients: Clients, client: httpx.AsyncClient, dice: random.Random) -> None:
    if clients.open:
        url = clients.open.pop(dice.randrange(len(clients.open)))
        await clients.call(client, "close", "POST", f"{url}/close", meant=(200, 404))


async def follow(clients: Clients, client: httpx.AsyncClient, dice: random.Random) -> None:
    """Look at a stream of events, and leave before its end as often as not."""
    if not clients.jobs:
        return
    started, most = time.monotonic(), dice.choice([1, 3, 1000])
    try:
        async with client.stream("GET", f"/jobs/{clients.jobs[-1]}/events") as answer:
            polite = answer.status_code in POLITE and "retry-after" in answer.headers
            meant = (200, 404, answer.status_code) if polite else (200, 404)
            clients.note("follow", answer.status_code, time.monotonic() - started, meant=meant)
            seen = 0
            async for _ in answer.aiter_lines():
                seen += 1
                if seen >= most or time.monotonic() > clients.ends:
                    break
    except httpx.HTTPError as error:
        clients.note("follow", type(error).__name__, time.monotonic() - started, meant=())


async def rubbish(clients: Clients, client: httpx.AsyncClient, dice: random.Random) -> None:
    """Ask what makes no sense; it is refused."""
    path, method, more = dice.choice(
        [
            ("/nothing", "GET", {}),
            ("/v/../../etc/passwd", "GET", {}),
            ("/open", "PUT", {"content": b"x"}),
            ("/open", "POST", {"content": b"{}", "headers": {"content-type": "application/json"}}),
            ("/open", "POST", {"data": {"text": VOTES}, "headers": {"x-holdrank-token": "guess"}}),
            ("/open", "POST", {"data": {"text": VOTES}, "headers": {"origin": "http://evil.example"}}),
            ("/", "GET", {"headers": {"host": "evil.example"}}),
            ("/open", "POST", {"data": {f"f{k}": "x" for k in range(100)}}),
            ("/open", "POST", {"data": {"text": "x" * 2**20}}),
        ]
    )  # fmt: skip
    await clients.call(client, "rubbish", method, path, meant=(400, 403, 404, 405, 413, 415, 421), **more)


async def trickle(clients: Clients, _: httpx.AsyncClient, dice: random.Random) -> None:
    """Send a form a little at a time, or only a part of the head of a request, and see how long that is borne."""
    head = f"POST /open HTTP/1.1\r\nHost: {clients.host}:{clients.port}\r\nContent-Length: 5000\r\n"
    head += "Content-Type: application/x-www-form-urlencoded\r\n" + "\r\n" * dice.randrange(2)
    started = time.monotonic()
    await _raw(clients, "slow", head, bytes_after=dice.randrange(60), started=started)


async def leave(clients: Clients, _: httpx.AsyncClient, dice: random.Random) -> None:
    """Begin something and close the connection: in the head, in the body, or while the answer comes."""
    head = f"GET /index.json HTTP/1.1\r\nHost: {clients.host}:{clients.port}\r\n\r\n"
    body = f"POST /open HTTP/1.1\r\nHost: {clients.host}:{clients.port}\r\nContent-Length: 5000\r\n"
    body += "Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n"
    text = dice.choice([head, body, head[: dice.randrange(1, 20)], "\x16\x03\x01\x02\x00", "\x00" * 64])
    await _raw(clients, "leave", text, bytes_after=0, started=time.monotonic(), stay=False)


async def _raw(clients: Clients, kind: str, text: str, *, bytes_after: int, started: float, stay: bool = True) -> None:
    try:
        reader, writer = await asyncio.open_connection(clients.host, int(clients.port))
    except OSError as error:
        clients.note(kind, type(error).__name__, time.monotonic() - started, meant=())
        return
    try:
        writer.write(text.encode("latin-1"))
        for _ in range(bytes_after):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.2)
        found = await asyncio.wait_for(reader.read(4096), 40) if stay else b""
        answered = re.match(rb"HTTP/1.1 (\d+)", found)
        clients.note(kind, int(answered[1]) if answered else "closed", 0.0, meant=(400, 403, 408, 503, "closed"))
    except ConnectionError:
        clients.note(kind, "closed", 0.0, meant=("closed",))
    except TimeoutError:
        clients.note(kind, "never closed", 0.0, meant=())
    finally:
        writer.close()


def memory(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    return round(int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024, 1)


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def sockets(pid: int) -> int:
    return sum("socket" in str(one.readlink()) for one in Path(f"/proc/{pid}/fd").iterdir())


async def measure(address: str, pid: int, seconds: float, many: int, folder: Path) -> dict[str, object]:
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        token = re.search(r'name="token" value="([^"]+)"', (await client.get("/")).text)[1]
    memories, sockets_before = {"start": memory(pid)}, sockets(pid)
    clients = Clients(address, token, time.monotonic() + seconds)
    began = time.monotonic()
    lives = [asyncio.create_task(live(clients, seed)) for seed in range(many)]
    while any(not one.done() for one in lives):
        await asyncio.wait(lives, timeout=10)
        memories[f"{time.monotonic() - began:.0f} s"] = memory(pid)
    for one in lives:
        one.result()
    await asyncio.sleep(15)  # what nobody looks at any more has ended by then
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        health = (await client.get("/healthz")).json()
        kept = len((await client.get("/index.json")).json()["opened"])
    return {
        "clients": many,
        "seconds": seconds,
        "requests": sum(sum(one.values()) for one in clients.counts.values()),
        "answers": {kind: dict(sorted(found.items())) for kind, found in sorted(clients.counts.items())},
        "slowest_seconds": {kind: round(found, 2) for kind, found in sorted(clients.slowest.items()) if found},
        "wrong": clients.wrong,
        "server_mb": {**memories, "end": memory(pid)},
        "health_at_the_end": health,
        "files_open": kept,
        "workers_left": len(children(pid)),
        "folders_left": len(list(folder.iterdir())),
        "sockets_before_and_after": [sockets_before, sockets(pid)],
    }


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--seconds", type=float, default=60)
    asked.add_argument("--clients", type=int, default=200)
    options = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "holdrank", "studio", "--no-browser"]
        with subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": folder}
        ) as process:
            try:
                found = re.search(r"http://127\.0\.0\.1:\d+", process.stderr.readline())
                assert found, "the studio did not start"
                result = asyncio.run(measure(found[0], process.pid, options.seconds, options.clients, Path(folder)))
            finally:
                process.terminate()
                said = process.communicate(timeout=30)[1]
            result |= {
                "exit_code": process.returncode,
                "said": said[-2000:],
                "folders_after": len(list(Path(folder).iterdir())),
            }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
