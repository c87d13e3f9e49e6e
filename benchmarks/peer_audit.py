"""What arenakit's audit raises on one board: ``python peer_audit.py BOARD.csv``, in the environment of the peers."""

import json
import sys
from importlib.metadata import version
from time import process_time

from arenakit import Arena, load_battles, run_audit

started = process_time()
arena = Arena(load_battles(sys.argv[1]))
found = run_audit(arena)
told = {
    "raised": [probe.name for probe in found.triggered],
    "skipped": [probe.name for probe in found.skipped],
    "seconds": round(process_time() - started, 2),
    "version": version("arenakit"),
}
print(json.dumps(told))
