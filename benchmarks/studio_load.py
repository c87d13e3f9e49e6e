"""Twenty analyses sent to the studio at once: who finishes, how fast it answers meanwhile, what memory it keeps.

Run as ``python benchmarks/studio_load.py``; writes ``results/studio_load.json``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

import holdrank as hr

ANALYSES = 20
RESULTS = Path(__file__).parent / "results" / "studio_load.json"


def main() -> None:
    votes = hr.sample_votes(hr.PlackettLuce([8, 7.7, 5, 3.1, 3, 2.9, 1.5]), 300, rng=1)
    lines = "\n".join(
        json.dumps({"order": [votes.items[i] for i in ranks.argsort()], "weight": weight})
        for ranks, weight in zip(votes.ranks, votes.weights.tolist(), strict=True)
    )
    command = [sys.executable, "-m", "holdrank", "studio", "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+", process.stderr.readline())
            assert found, "the studio did not start"
            result = measure(found[0], process.pid, lines)
        finally:
            process.terminate()
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


def measure(address: str, pid: int, lines: str) -> dict[str, object]:
    with httpx.Client(
        base_url=address, headers={"origin": address, "accept": "application/json"}, timeout=120
    ) as client:
        token = re.search(r'name="token" value="([^"]+)"', client.get("/", headers={"accept": "text/html"}).text)[1]
        client.get("/healthz")
        before = memory(pid)
        slowest = 0.0

        def send(k: int) -> httpx.Response:
            return client.post("/open", data={"token": token}, files={"file": (f"{k}.jsonl", lines.encode())})

        with ThreadPoolExecutor(ANALYSES) as threads:
            sent = [threads.submit(send, k) for k in range(ANALYSES)]
            started = time.monotonic()
            busy = True
            while busy and time.monotonic() - started < 900:
                asked = time.monotonic()
                health = client.get("/healthz").json()
                slowest = max(slowest, time.monotonic() - asked)
                busy = not all(one.done() for one in sent) or health["running"] + health["queued"] > 0
                for one in sent:  # a page that nobody looks at any more ends its job
                    if one.done() and one.result().status_code == 200:
                        client.get(f"{one.result().json()['url']}.json")
                time.sleep(0.5)
            answers = [one.result() for one in sent]
        taken = [answer.json()["url"] for answer in answers if answer.status_code == 200]
        states = [client.get(f"{url}.json").json()["job"]["state"] for url in taken]
        peak = memory(pid)
        for url in taken:
            client.post(f"{url}/close", data={"token": token})
        return {
            "analyses": ANALYSES,
            "taken": len(taken),
            "refused": sorted(answer.status_code for answer in answers if answer.status_code != 200),
            "states": {state: states.count(state) for state in sorted(set(states))},
            "seconds": round(time.monotonic() - started, 1),
            "slowest_healthz": round(slowest, 3),
            "server_mb_before_during_after": [before, peak, memory(pid)],
            "processes_left": len(children(pid)),
        }


def memory(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    return round(int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024, 1)


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


if __name__ == "__main__":
    main()
