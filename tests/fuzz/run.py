"""Fuzz one reader, guided by coverage: python tests/fuzz/run.py TARGET [--runs N] [--seconds S] [--corpus DIR].

Needs atheris, which is no part of the test environment: pip install atheris. Inputs that reach something new are kept
in build/fuzz/TARGET, so that the next run goes on from there. An exception that is no `HoldrankError` is kept once for
each place that raises it, and the run goes on; a crash of the process, more than ten seconds or too much memory ends
it. The exit code is 1 if anything was found.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INSTRUMENTED = [
    *(
        "holdrank.files",
        "holdrank.votes.forms",
        "holdrank.files.large",
        "holdrank.votes.ballots",
        "holdrank.votes.inputs",
        "holdrank.votes.votes",
        "holdrank.votes.pair_files",
        "holdrank.votes.pairs",
    ),
    *(
        "holdrank.parallel.checkpoints",
        "holdrank.analysis.records",
        "holdrank.analysis.analyse",
        "holdrank.attacks.goals",
    ),
]
NAMES = (
    *("preflib", "sniffed", "table", "order", "jsonl", "xlsx", "xlsx-part", "parquet", "large", "analysis"),
    *("checkpoint", "counts", "claim"),
)


def main() -> int:
    """Run a target in a process of its own, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("target", choices=NAMES)
    parser.add_argument("--runs", type=int, default=100_000, help="executions")
    parser.add_argument("--seconds", type=int, default=0, help="stop after so long; 0: no limit")
    parser.add_argument("--corpus", type=Path, help="folder of the inputs; by default build/fuzz/TARGET")
    parser.add_argument("--seed-from", type=Path, help="folder of vote files that are put into the corpus first")
    parser.add_argument("--memory", type=int, default=2048, help="megabytes that the process may take")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers; 0: any")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    corpus = options.corpus or ROOT / "build" / "fuzz" / options.target
    found = corpus.with_name(corpus.name + "-found")
    if options.worker:
        return work(options, corpus, found)
    corpus.mkdir(parents=True, exist_ok=True)
    found.mkdir(exist_ok=True)
    known = set(found.iterdir())
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        start = time.monotonic()
        code = subprocess.run([sys.executable, *sys.argv, "--worker", str(report)], check=False).returncode
        seconds = time.monotonic() - start
        told = json.loads(report.read_text()) if report.exists() else {"runs": 0}
    new = sorted(set(found.iterdir()) - known)
    print(f"{options.target}: {told['runs']:,} executions in {seconds:.0f} s, {told['runs'] / seconds:.0f} a second")
    if told["runs"]:
        print(f"  slowest: {told['slowest']:.3f} s, {told['slowest'] / told['slowest_bytes']:.1e} s a byte")
        print(
            f"  largest growth in memory: {told['growth'] / 1024:.1f} MB, for {told['growth_bytes']:,} bytes of input"
        )
    print(f"  found: {len(new)}{''.join(f'{chr(10)}    {path}' for path in new)}")
    return 1 if new or code else 0


def work(options: argparse.Namespace, corpus: Path, found: Path) -> int:
    """Fuzz in this process; libFuzzer ends it."""
    import atheris

    include = [*INSTRUMENTED, "openpyxl"] if options.target.startswith("xlsx") else INSTRUMENTED
    with atheris.instrument_imports(include=include):
        import targets
    if options.target in ("xlsx", "xlsx-part"):
        with atheris.instrument_imports(include=include):
            import openpyxl  # noqa: F401 - imported by the reader when it is needed, which would be too late here
    tempfile.tempdir = targets.MEMORY
    warnings.simplefilter("error")
    target = targets.TARGETS[options.target]
    for content in targets.small_inputs(options.target):
        keep(corpus, content)
    if options.seed_from:
        for content in targets.seeds_from(options.seed_from, options.target):
            keep(corpus, content)
    run = Watched(target.run, found, options.worker)
    arguments = [
        *(sys.argv[0], f"-runs={options.runs}", f"-max_total_time={options.seconds}", f"-max_len={target.longest}"),
        *("-timeout=10", f"-rss_limit_mb={options.memory}", f"-dict={HERE / 'tokens.txt'}", f"-seed={options.seed}"),
        *(f"-artifact_prefix={found}/", "-print_final_stats=1", "-reload=0", str(corpus)),
    ]
    atheris.Setup(arguments, run)
    atheris.Fuzz()
    return 0


def keep(folder: Path, content: bytes) -> None:
    """Write an input under the name that libFuzzer would give it."""
    (folder / hashlib.sha1(content, usedforsecurity=False).hexdigest()).write_bytes(content)


class Watched:
    """A target whose time and memory are measured, and whose failures are kept, one for each place."""

    def __init__(self, run, found: Path, report: Path) -> None:
        self._run, self._found, self._report = run, found, report
        self._told = {"runs": 0, "slowest": 0.0, "slowest_bytes": 1, "growth": 0, "growth_bytes": 1}
        self._peak = 0

    def __call__(self, data: bytes) -> None:
        told = self._told
        start = time.perf_counter()
        try:
            self._run(data)
        except Exception:  # noqa: BLE001 - whatever it is, it is what we are here for
            self._keep(data)
        seconds = time.perf_counter() - start
        told["runs"] += 1
        if seconds > told["slowest"] and told["runs"] > 100:  # the first ones import modules
            told["slowest"], told["slowest_bytes"] = seconds, max(len(data), 1)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if peak - self._peak > told["growth"] and told["runs"] > 100:
            told["growth"], told["growth_bytes"] = peak - self._peak, len(data)
        self._peak = peak
        if told["runs"] % 500 == 0:
            self._report.write_text(json.dumps(told))

    def _keep(self, data: bytes) -> None:
        text = traceback.format_exc()
        lines = [line for line in text.splitlines() if line.startswith('  File "')]
        place = hashlib.sha1("".join([*lines[-1:], text.splitlines()[-1][:30]]).encode(), usedforsecurity=False)
        path = self._found / place.hexdigest()[:12]
        if not path.exists() or len(data) < path.stat().st_size:
            path.write_bytes(data)
            path.with_suffix(".txt").write_text(text, encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
