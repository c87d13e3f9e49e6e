"""How long holdrank takes to start, beside numpy: CPU seconds (user and system) of whole processes.

``python benchmarks/start_up.py [RUNS]``. The commands take turns, so that a busy moment of the machine hits all of
them alike; the medians are compared. `import holdrank` alone does not even load numpy (names come when first used), so
the first name that needs it is measured, too. Byte code is compiled in a round that does not count.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

SCRIPT = Path(sys.executable).with_name("holdrank")
HELP = [str(SCRIPT), "--help"] if SCRIPT.exists() else [sys.executable, "-m", "holdrank", "--help"]
COMMANDS = {
    "python, nothing imported": [sys.executable, "-c", "pass"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import holdrank": [sys.executable, "-c", "import holdrank"],
    "import holdrank, touch Votes": [sys.executable, "-c", "import holdrank; holdrank.Votes"],
    "import holdrank, every name": [sys.executable, "-c", "import holdrank as h; [getattr(h, n) for n in h.__all__]"],
    "holdrank --help": HELP,
}
HELP_LIMIT = 0.15
IMPORT_LIMIT = 0.1


def cpu_seconds(command: list[str]) -> float:
    """Return the user and system time of one process and what it started."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"this failed: {' '.join(Path(word).name for word in command)}")
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    for command in COMMANDS.values():
        cpu_seconds(command)
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(runs):
        for name, command in COMMANDS.items():
            taken[name].append(cpu_seconds(command))
    middle = {name: median(seconds) for name, seconds in taken.items()}
    numpy = middle["import numpy"]
    print(f"CPU seconds, median of {runs} runs; in brackets the difference to `import numpy`")
    for name, seconds in middle.items():
        print(f"  {name:30s} {seconds:.3f}  ({seconds - numpy:+.3f})")
    for text, value, limit in (
        ("holdrank --help", middle["holdrank --help"], HELP_LIMIT),
        ("import holdrank over numpy", middle["import holdrank"] - numpy, IMPORT_LIMIT),
        ("import holdrank, touch Votes, over numpy", middle["import holdrank, touch Votes"] - numpy, IMPORT_LIMIT),
    ):
        print(f"{'met    ' if value < limit else 'NOT MET'}  {text}: {value:.3f}, target below {limit}")


if __name__ == "__main__":
    main()
