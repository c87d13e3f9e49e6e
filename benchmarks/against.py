"""The same tasks in an older commit and in the working tree, by turns: which engine became slower?

``python benchmarks/against.py REV [--only WORD] [--turns N] [--python PYTHON]``. The sources of REV go to a temporary
folder. Every task has a process in each tree; the two work by turns, so that other work on the machine meets both, and
the best turn of each counts, in CPU seconds of all threads. The first run of a task, with imports and compilation, does
not count. Ratios above 1 mean that the working tree is slower. PYTHON is an environment with all that either tree
imports, such as numba for commits that compiled by it. A task that fails in a tree, since its names came later or are
gone, is marked.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from against_tasks import tasks, write_files

HERE = Path(__file__).resolve().parent
TREE = HERE.parent
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Tree:
    """The sources of one tree, and the process in which a task waits for its turn."""

    def __init__(self, python: str, source: Path, folder: Path) -> None:
        self.python, self.folder, self.best = python, folder, float("inf")
        self.environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1"), "PYTHONPATH": str(source)}

    def start(self, task: str) -> None:
        command = [self.python, "-P", str(HERE / "against_tasks.py"), task, str(self.folder)]
        self.best = float("inf")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=self.environment, cwd=self.folder,
        )  # fmt: skip

    def turn(self) -> bool:
        try:
            self.process.stdin.write("go\n")  # type: ignore[union-attr]
            self.process.stdin.flush()  # type: ignore[union-attr]
            self.best = min(self.best, json.loads(self.process.stdout.readline()))  # type: ignore[union-attr]
        except (OSError, ValueError):
            return False
        return True

    def stop(self) -> str:
        try:
            _, errors = self.process.communicate()
        except (OSError, ValueError):
            errors = ""
        return (errors.strip().splitlines() or [""])[-1]


def unpack(revision: str, folder: Path) -> Path:
    """Write the sources of a commit into a folder, and return their path."""
    place = folder / "old"
    place.mkdir()
    packed = subprocess.run(["git", "archive", revision, "src"], cwd=TREE, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(place)], input=packed, check=True)
    return place / "src"


def compare(name: str, trees: tuple[Tree, Tree], turns: int) -> None:
    """Run one task by turns in the old and the new tree, and print both times and their ratio."""
    for tree in trees:
        tree.start(name)
    went = [[tree.turn() for tree in trees] for _ in range(turns)]
    errors = [tree.stop() for tree in trees]
    times = "".join(
        f"{1000 * tree.best:12.2f}" if ok else f"{'fails':>12}" for tree, ok in zip(trees, went[-1], strict=True)
    )
    if all(went[-1]):
        ratio = trees[1].best / trees[0].best
        print(f"{name:40}{times}{ratio:8.2f}{'  slower' if ratio > 1.05 else ''}", flush=True)
    else:
        print(f"{name:40}{times}        {'; '.join(filter(None, errors))[:80]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("revision")
    parser.add_argument("--only", default="")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--python", default=sys.executable)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        here = folder / "new"  # a copy: who edits the sources meanwhile does not mix two versions
        shutil.copytree(TREE / "src", here, ignore=shutil.ignore_patterns("__pycache__"))
        sys.path.insert(0, str(here))
        write_files(folder)
        trees = Tree(given.python, unpack(given.revision, folder), folder), Tree(given.python, here, folder)
        print(f"{'CPU milliseconds':40}{given.revision[:10]:>12}{'here':>12}{'ratio':>8}")
        for name in tasks(folder):
            if given.only in name:
                compare(name, trees, given.turns)


if __name__ == "__main__":
    main()
