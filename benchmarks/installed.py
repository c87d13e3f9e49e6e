"""What the default installation does, cold and warm: ``python benchmarks/installed.py``.

Makes a virtual environment with ``pip install .`` and nothing else, gives it an empty home folder, and runs each line
of the README's table, and some commands, in two processes, one after the other. *Cold* is the first call of the first
process that ever does this in the environment, *warm* the first call of the second; *again* is the best of ten more
calls in that process. CPU seconds of one thread. The web pages come from the folder of data beside the checkout, as for
`peers.py`; without it that line is left out. The table goes to results/installed.json.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGES = ROOT.parent / "shared" / "data" / "web-capitals" / "00015-00000002.soc"

TIMER = """
import json, sys, time
import numpy as np
import holdrank as hr
sys.path.insert(0, {here!r})
from generated import complete_ranks, write_soi
from pathlib import Path
folder = Path({folder!r})
{setup}
def line():
    return {call}
taken = []
for _ in range(11):
    start = time.process_time()
    line()
    taken.append(time.process_time() - start)
    if sum(taken) > 5:
        break
print(json.dumps([taken[0], min(taken[1:], default=taken[0])]))
"""

FRESH = "votes = lambda: hr.Votes(v.items, v.ballots, v.weights, v.unlisted)"  # nothing is remembered
LINES = {
    "Kemeny ranking, 100 items, 50 voters (Mallows 0.8)": (
        f"v = hr.sample_votes(hr.Mallows(range(100), 0.8), 50, rng=1); {FRESH}",
        "hr.kemeny(votes())",
    ),
    "the same, 60 items, 100 random voters": (
        f"v = hr.Votes.from_ranks(complete_ranks(100, 60)); {FRESH}",
        "hr.kemeny(votes())",
    ),
    "Kemeny ranking of 240 web pages": (
        f"v = hr.read_votes(folder / 'web-pages.soc'); {FRESH}",
        "hr.kemeny(votes())",
    ),
    "all pairs of 1,000,000 ballots of 20 items, from arrays": (
        "ranks = complete_ranks(1_000_000, 20)",
        "hr.Votes.from_ranks(ranks).pairwise()",
    ),
    "30,000 lines of PrefLib to pairs": (
        "write_soi(folder / 'lines.soi', 30_000)",
        "hr.read_votes(folder / 'lines.soi', unlisted='observed').pairwise()",
    ),
    "Borda of 20,000 ballots of 20 items": (
        "ranks = complete_ranks(20_000, 20)",
        "hr.borda(hr.Votes.from_ranks(ranks))",
    ),
    "Kendall distance of two rankings of 100,000 items": (
        "a, b = np.random.default_rng(1).permuted(np.tile(np.arange(100_000), (2, 1)), axis=1)",
        "hr.kendall(a, b)",
    ),
    "votes that change the winner, 9 items, 100 voters": (
        f"v = hr.sample_votes(hr.Mallows(range(9), 0.8), 100, rng=1); {FRESH}",
        "hr.attack(votes(), hr.kemeny, hr.NewWinner())",
    ),
    "the whole breakdown curve of 9 items, 100 voters": (
        f"v = hr.sample_votes(hr.Mallows(range(9), 0.8), 100, rng=1); {FRESH}",
        "hr.breakdown(votes(), hr.kemeny)",
    ),
}
COMMANDS = {
    "holdrank rank, 30,000 lines": ["rank", "{folder}/lines.soi", "-q"],
    "holdrank demo": ["demo", "--out", "{folder}/demo-{run}"],
}


def process_seconds(command: list[str], env: dict[str, str]) -> float:
    """Return the user and system time of a process and what it started."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"this failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime


def environment(folder: Path) -> tuple[Path, dict[str, str]]:
    """Return the programs of a new environment with the default installation, and variables without any cache."""
    venv = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    subprocess.run([venv / "bin" / "python", "-m", "pip", "install", "--quiet", str(ROOT)], check=True)
    (folder / "home").mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "XDG", "NUMBA"))}
    return venv / "bin", {**kept, "HOME": str(folder / "home"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def measure(programs: Path, env: dict[str, str], folder: Path) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for name, (setup, call) in LINES.items():
        if "web-pages" in setup and not (folder / "web-pages.soc").exists():
            continue
        script = TIMER.format(here=str(HERE), folder=str(folder), setup=setup, call=call)
        runs = []
        for _ in range(2):
            done = subprocess.run(
                [programs / "python", "-c", script], env=env, capture_output=True, text=True, check=True
            )
            runs.append(json.loads(done.stdout))
        found[name] = {"cold": runs[0][0], "warm": runs[1][0], "again": runs[1][1]}
    for name, words in COMMANDS.items():
        cold, warm = (
            process_seconds([str(programs / "holdrank"), *(word.format(folder=folder, run=run) for word in words)], env)
            for run in range(2)
        )
        found[name] = {"cold": cold, "warm": warm, "again": warm}
    return found


def shown(seconds: float) -> str:
    return f"{seconds * 1000:.2g} ms" if seconds < 0.0995 else f"{seconds:.2g} s"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if PAGES.exists():
            (folder / "web-pages.soc").write_bytes(PAGES.read_bytes())
        found = measure(*environment(folder), folder)
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    target = HERE / "results" / "installed.json"
    target.write_text(json.dumps({"machine": machine, "seconds": found}, indent=1) + "\n", encoding="utf-8")
    print("| | cold | warm | again |\n| --- | --- | --- | --- |")
    for line, taken in found.items():
        print(f"| {line} | {' | '.join(shown(taken[kind]) for kind in ('cold', 'warm', 'again'))} |")


if __name__ == "__main__":
    main()
