"""holdrank beside other packages: the same generated data, one run, one table.

``python benchmarks/peers.py [--quick] [--only WORD] [--out FILE]``, usually by ``make peers``.

Every measurement is a process of its own (`peer_tasks.py`) with a time limit and one thread. A package that fails or
runs out of time is a line in the table, not the end of the run. Answers are compared, too. holdrank is copied aside
when the run starts and measured there: whoever edits the sources meanwhile does not mix two versions in one table.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from generated import SEED, complete_ranks, write_soi

import holdrank
from holdrank import Mallows, Uniform, Votes

HERE = Path(__file__).resolve().parent
PEERS_PYTHON = HERE.parent / ".peers" / "bin" / "python"
RESULTS = HERE / "results" / "peers.json"
DATA = HERE.parents[1] / "shared" / "data"
REAL = ("agh-2004", "nasa-mariner", "llmfao-crowd", "open-llm-leaderboard-2023", "web-capitals")

OURS = ("holdrank", "plain C", "influence")
HOW = {
    "holdrank": "numpy and C",
    "plain C": "cc -O3",
    "pref_voting": "numba",
    "corankco": "numpy",
    "votekit": "numba",
    "preflibtools": "pure Python",
    "choix": "scipy",
    "scipy": "C",
    "scorio": "scipy's integer programs",
    "svvamp": "permutations of components",
    "arena-rank": "ratings and intervals, JAX",
    "evalica": "strengths only, Rust",
    "arenakit": "strengths only, numpy",
}
SCRIPTS = dict.fromkeys(("ratings", "rating intervals", "drop", "add", "replace"), "peer_ratings.py")
FEW_BATTLES = 20_000  # up to here battles are resampled one by one
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Sizes:
    large: int = 1_000_000
    sample: int = 20_000
    items: int = 20
    lines: int = 30_000
    mallows: tuple[int, ...] = (20, 40, 60, 100)
    uniform: tuple[int, ...] = (8, 10, 20, 30, 40, 50, 60)
    permutations: int = 8  # items up to which a search through all n! orders is started
    long: int = 100_000
    medium: int = 1_000
    many: int = 10_000
    arenas: tuple[tuple[int, int], ...] = ((12, 3_000), (30, 20_000), (100, 1_000_000))
    time_limit: float = 60.0  # of Kemeny; other tasks get five times as much


QUICK = Sizes(
    large=100_000, sample=2_000, lines=3_000, mallows=(8, 12), uniform=(8, 12), permutations=6, long=10_000,
    medium=200, many=1_000, arenas=((12, 3_000), (30, 20_000)),
    time_limit=10.0,
)  # fmt: skip


@dataclass
class Row:
    """A line of the table: what a package took for a task. `ratio` is to holdrank, above 1 = holdrank is faster."""

    task: str
    package: str
    seconds: float | None = None
    build: float | None = None
    ratio: float | None = None
    whole_ratio: float | None = None
    note: str = ""
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def whole(self) -> float | None:
        return None if self.seconds is None else self.seconds + (self.build or 0.0)


class Run:
    """The measurements of one run, and the lines they make."""

    def __init__(self, folder: Path, sizes: Sizes) -> None:
        self.folder, self.sizes = folder, sizes
        self.rows: list[Row] = []
        self.versions: dict[str, str] = {}
        self.targets: list[dict[str, Any]] = []
        package = Path(holdrank.__file__).parent
        shutil.copytree(package, folder / "source" / "holdrank", ignore=shutil.ignore_patterns("__pycache__"))
        self.source = fingerprint(folder / "source" / "holdrank")

    def measure(self, package: str, task: str, name: str, limit: float) -> dict[str, Any]:
        """Run one measurement; the answer has ``failed`` when there is no other."""
        python = sys.executable if package in OURS else str(PEERS_PYTHON)
        if not Path(python).exists():
            return {"failed": "not installed; `make peers` does it"}
        environment = os.environ | dict.fromkeys(ONE_THREAD, "1") | {"MPLBACKEND": "Agg"}
        if package in OURS:
            environment["PYTHONPATH"] = str(self.folder / "source")
        process = subprocess.Popen(
            [python, str(HERE / SCRIPTS.get(task, "peer_tasks.py")), package, task, str(self.folder), name],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=self.folder,
            start_new_session=True,
        )  # fmt: skip
        try:
            out, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with the solver that it may have started
            process.communicate()
            return {"failed": f"over {limit:g} s"}
        if process.returncode:
            last = (errors.strip().splitlines() or [""])[-1].partition(":")[0]
            return {"failed": f"fails: {last or f'exit code {process.returncode}'}"}
        try:
            result: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
        except (IndexError, ValueError):
            return {"failed": "fails: no answer"}
        self.versions[package] = result.pop("version")
        return result

    def row(
        self, label: str, package: str, task: str, name: str, *, limit: float | None = None, scale: float = 1.0,
        note: str = "",
    ) -> Row:  # fmt: skip
        """Measure and add a line; seconds are multiplied by `scale`."""
        found = self.measure(package, task, name, limit or 5 * self.sizes.time_limit)
        row = Row(label, package, note=note)
        if "failed" in found:
            row.note = found.pop("failed")
        else:
            row.seconds = found.pop("seconds") * scale
            row.build = found["build"] * scale if "build" in found else None
        found.pop("build", None)
        row.more = found
        self.add(row)
        return row

    def add(self, row: Row) -> None:
        self.rows.append(row)
        print(f"  {row.task}: {row.package} {shown(row.seconds)} {row.note}", file=sys.stderr, flush=True)

    def compare(self, rows: list[Row], ours: Row) -> None:
        """Fill in the ratios to our line."""
        for row in rows:
            if row is not ours and row.seconds is not None and ours.seconds is not None:
                row.ratio = row.seconds / ours.seconds
                assert row.whole is not None
                assert ours.whole is not None
                row.whole_ratio = row.whole / ours.whole

    def target(self, text: str, value: float | None, met: bool | None) -> None:
        self.targets.append({"target": text, "value": value, "met": met})


def fingerprint(package: Path) -> str:
    """Return a short hash of the package's sources: two results with the same one measured the same code."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def check_wins(row: Row, expected: Any) -> None:
    wins = row.more.pop("wins", None)
    if wins is not None:
        agrees = np.array_equal(np.array(wins), expected)
        row.note = f"{row.note}{'; ' * bool(row.note)}{'same counts' if agrees else 'COUNTS DIFFER'}"


def wins_of(orders: Any) -> Any:
    """Count pairwise wins in the plainest way that numpy has, to check all others."""
    ranks = np.argsort(orders, axis=1)
    return np.array([[(a < b).sum() for b in ranks.T] for a in ranks.T], dtype=float)


def pairwise(run: Run) -> None:
    sizes = run.sizes
    orders = (complete_ranks(sizes.large, sizes.items) - 1).astype(np.int16)
    np.save(run.folder / "large.npy", orders)
    np.save(run.folder / "sample.npy", orders[: sizes.sample])
    label = f"pairwise matrix, {sizes.large:,} ballots of {sizes.items}"

    full = wins_of(orders)
    ours = run.row(label, "holdrank", "pairwise", "large")
    rows: list[Row] = []
    check_wins(ours, full)
    compiler = shutil.which("cc")
    if compiler is None:
        run.add(Row(label, "plain C", note="no C compiler here"))
    else:
        library = run.folder / "plain_count.so"
        subprocess.run(
            [compiler, "-O3", "-shared", "-fPIC", "-o", str(library), str(HERE / "plain_count.c")], check=True
        )
        c = run.row(label, "plain C", "pairwise", "large", note="faster of two double loops")
        check_wins(c, full)
        rows.append(c)
        ratio = ours.seconds / c.seconds if ours.seconds and c.seconds else None
        run.target("counting takes at most 3 times the plain C loop", ratio, ratio is not None and ratio <= 3)

    few = wins_of(orders[: sizes.sample])
    scale = sizes.large / sizes.sample
    peers = []
    for package in ("preflibtools", "pref_voting", "corankco", "votekit"):
        note = f"{HOW[package]}; {sizes.sample:,} ballots, times {scale:g}"
        peers.append(run.row(label, package, "pairwise", "sample", scale=scale, note=note))
        check_wins(peers[-1], few)
    run.compare(rows + peers, ours)
    for part, what in (("ratio", "counting"), ("whole_ratio", "from lists or arrays to the matrix")):
        pure = [getattr(row, part) for row in peers if HOW[row.package] == "pure Python" and row.seconds is not None]
        value = min(pure, default=None)
        run.target(f"100 times as fast as pure Python: {what}", value, value is not None and value >= 100)
    memory(run, orders)


def memory(run: Run, orders: Any) -> None:
    votes = Votes.from_ranks(np.argsort(orders, axis=1).astype(np.int16) + 1)
    np.save(run.folder / "kept_ranks.npy", votes.ranks)
    np.save(run.folder / "kept_weights.npy", votes.weights)
    found = run.measure("holdrank", "memory", "kept", 100)
    extra = found.get("extra")
    label = f"extra memory of pairwise(), {run.sizes.large:,} ballots of {run.sizes.items}"
    held = f"{found['ballots'] / 1e6:.0f} MB of ballots held before" if extra is not None else found["failed"]
    note = f"{extra / 1e6:.0f} MB; {held}" if extra is not None else held
    run.add(Row(label, "holdrank", note=note, more=found))
    value = None if extra is None else extra / 1e6
    run.target("pairwise() takes less than 200 MB", value, value is not None and value < 200)


def reading(run: Run) -> None:
    write_soi(run.folder / "generated.soi", run.sizes.lines)
    label = f"{run.sizes.lines:,} lines of .soi"
    ours = run.row(f"{label} to the pairwise matrix", "holdrank", "read", "generated.soi")
    theirs = run.row(f"{label} to the pairwise matrix", "preflibtools", "read", "generated.soi", note="pure Python")
    wins = ours.more.pop("wins", None)
    if wins is not None:
        check_wins(theirs, np.array(wins))
    run.compare([theirs], ours)
    run.target(
        "3 times as fast as preflibtools from file to matrix",
        theirs.ratio,
        theirs.ratio is not None and theirs.ratio >= 3,
    )
    alone = [Row(f"{label}, reading alone", row.package, row.more.get("reading")) for row in (ours, theirs)]
    for row in alone:
        run.add(row)
    run.compare(alone, alone[0])


def kemeny(run: Run) -> None:
    """Kemeny by every package that has it, family by family from small to large, then on real files."""
    limit = run.sizes.time_limit
    run.measure("holdrank", "kemeny", save_orders(run, "warm", Uniform(30), 100, 0), limit)  # compiles for all
    cases: list[tuple[str, int, list[Row]]] = []
    families = [
        (f"Mallows {str(phi)[1:]}, {voters} voters", phi, voters, run.sizes.mallows)
        for phi in (0.5, 0.8)
        for voters in (50, 500)
    ]
    for number, (family, phi, voters, sizes) in enumerate(
        [*families, ("uniform, 100 voters", 1.0, 100, run.sizes.uniform)]
    ):
        slow: dict[str, str] = {}
        for n in sizes:
            centre = np.random.default_rng([SEED, n]).permutation(n).tolist()
            model = Uniform(n) if phi == 1 else Mallows(centre, phi)
            name = save_orders(run, f"kemeny-{number}-{n}", model, voters, number)
            # corankco writes the same program whatever the voters, so one of the two families is enough.
            packages = ("scorio", "svvamp") if voters == 500 else ("scorio", "svvamp", "corankco", "pref_voting")
            label = f"Kemeny, {family}, n = {n}"
            cases.append((family, n, kemeny_of(run, label, name, n, packages, "kemeny", slow, sizes)))
    real(run, cases)
    kemeny_targets(run, cases)


def save_orders(run: Run, name: str, model: Any, voters: int, number: int) -> str:
    """Draw ballots and write them, with their pairwise wins; return the name to find them by."""
    orders = model.orders(voters, np.random.default_rng([SEED, number, model.n])).astype(np.int16)
    np.save(run.folder / f"{name}.npy", orders)
    np.save(run.folder / f"{name}-wins.npy", wins_of(orders))
    return name


def kemeny_of(
    run: Run, label: str, name: str, n: int, packages: tuple[str, ...], task: str, slow: dict[str, str],
    sizes: tuple[int, ...] = (),
) -> list[Row]:  # fmt: skip
    """Measure one set of ballots and compare the answers; `slow` says who is not started any more, and why."""
    limit = run.sizes.time_limit
    notes = {"corankco": "PuLP, CBC", "pref_voting": "winners only", "scorio": "from the counted pairs"}
    ours = run.row(label, "holdrank", task, name, limit=limit)
    rows = [ours]
    for package in packages:
        if package == "pref_voting" and n > run.sizes.permutations:
            run.add(Row(label, package, note="not started: goes through all n! orders"))
        elif package in slow:
            run.add(Row(label, package, note=f"not started: {slow[package]}"))
        else:
            row = run.row(label, package, "kemeny", name, limit=limit, note=notes.get(package, HOW[package]))
            rows.append(row)
            # Their work grows at least with the n**3 triangles.
            larger = min((size for size in sizes if size > n), default=n)
            if row.seconds is None:
                slow[package] = f"{row.note} at n = {n}"
            elif row.seconds * (larger / n) ** 3 > limit:
                slow[package] = f"{shown(row.seconds)} s at n = {n}"
    run.compare(rows[1:], ours)
    order = ours.more.get("order")
    if order is None:
        return rows
    wins = np.load(run.folder / f"{name}-wins.npy")
    ours.note = f"cost {cost(wins, order):g}; first call {ours.more['first']:.3f} s; {ours.more['proof']}"
    for row in rows[1:]:
        if "order" in row.more:
            same = cost(wins, row.more["order"]) == cost(wins, order)
            row.note += "; same cost" if same else f"; COST {cost(wins, row.more['order']):g}"
        elif "winners" in row.more:
            row.note += "; same winner" if order[0] in row.more["winners"] else "; WINNERS DIFFER"
    return rows


def real(run: Run, cases: list[tuple[str, int, list[Row]]]) -> None:
    """Kemeny on real files, handed to each package in a form that it can take."""
    if not (DATA / "truths.json").exists():
        run.add(Row("Kemeny, real files", "holdrank", note="left out: the folder of data is not beside this checkout"))
        return
    sys.path.append(str(HERE.parent / "tests"))
    from truth_profiles import load, profiles

    for _, profile in profiles(DATA):
        if profile["set"] not in REAL:
            continue
        votes, name = load(profile, DATA), profile["set"]
        np.savez(
            run.folder / f"{name}-votes.npz", ranks=votes.ranks, weights=votes.weights, unlisted=str(votes.unlisted)
        )
        np.save(run.folder / f"{name}-wins.npy", votes.wins())
        packages: tuple[str, ...] = ("scorio",)
        if not votes.incomplete and not votes.with_ties:  # the others take strict complete ballots
            packages = ("scorio", "svvamp", "corankco", "pref_voting")
            orders = np.repeat(np.argsort(votes.ranks, axis=1), votes.weights.astype(int), axis=0)
            np.save(run.folder / f"{name}.npy", orders.astype(np.int16))
        label = f"Kemeny, {name}, n = {votes.n}"
        # Beyond the generated sizes only the fastest peer is started; the others are far too slow on smaller ones.
        beyond = "too slow on smaller generated votes"
        slow = dict.fromkeys(("svvamp", "corankco"), beyond) if votes.n > max(run.sizes.mallows) else {}
        cases.append((name, votes.n, kemeny_of(run, label, name, votes.n, packages, "kemeny of a file", slow)))


def kemeny_targets(run: Run, cases: list[tuple[str, int, list[Row]]]) -> None:
    behind, ratios = [], {60: [], 100: []}  # type: ignore[var-annotated]
    for family, n, (ours, *others) in cases:
        fastest = min((row.seconds for row in others if row.seconds is not None), default=None)
        if fastest is None:
            continue
        behind.append(float("inf") if ours.seconds is None else 1000 * (ours.seconds - fastest))
        if family.startswith("Mallows .8") and n in ratios:
            ratios[n].append(0.0 if ours.seconds is None else fastest / ours.seconds)
    worst = max(behind, default=None)
    run.target("Kemeny: never over 20 ms behind the fastest peer (ms)", worst, worst is not None and worst <= 20)
    for n, times_ in ((60, 5), (100, 10)):
        if n in run.sizes.mallows:
            value = min(ratios[n], default=None)
            text = f"Kemeny: at least {times_} times as fast as the fastest peer, Mallows .8, n = {n}"
            run.target(text, value, value is not None and value >= times_)


def cost(wins: Any, order: list[int]) -> float:
    """Return the disagreements of an order with the ballots."""
    return float(np.tril(wins[np.ix_(order, order)], -1).sum())


def borda(run: Run) -> None:
    sizes = run.sizes
    np.save(run.folder / "borda.npy", (complete_ranks(sizes.sample, sizes.items) - 1).astype(np.int16))
    label = f"Borda, {sizes.sample:,} ballots of {sizes.items}"
    ours = run.row(label, "holdrank", "borda", "borda", note="with its loss")
    rows = [
        run.row(label, package, "borda", "borda", note=HOW[package])
        for package in ("preflibtools", "pref_voting", "corankco", "votekit")
    ]
    for row in rows:
        if "order" in row.more:
            row.note += "; same order" if row.more["order"] == ours.more.get("order") else "; ORDER DIFFERS"
    run.compare(rows, ours)


def kendall(run: Run) -> None:
    sizes = run.sizes
    rng = np.random.default_rng(SEED)
    everyone = ("scipy", "choix", "corankco", "preflibtools")
    cases = [
        (f"one pair of {sizes.long:,} items", (2, sizes.long), everyone[:3]),
        (f"one pair of {sizes.medium:,} items", (2, sizes.medium), everyone),
        (f"{sizes.many:,} pairs of 10 items", (2, sizes.many, 10), everyone),
    ]
    for text, shape, packages in cases:
        name = f"kendall-{'-'.join(map(str, shape))}"
        one = np.arange(1, shape[-1] + 1)
        np.save(run.folder / f"{name}.npy", rng.permuted(np.broadcast_to(one, shape), axis=-1))
        label = f"Kendall distance, {text}"
        ours = run.row(label, "holdrank", "kendall", name)
        rows = [run.row(label, package, "kendall", name, note=HOW[package]) for package in packages]
        for row in rows:
            if "distance" in row.more and "distance" in ours.more:
                same = abs(row.more["distance"] - ours.more["distance"]) < 1e-9
                row.note += "; same distance" if same else "; DISTANCE DIFFERS"
        run.compare(rows, ours)


def ratings(run: Run) -> None:
    """Bradley-Terry from pair counts: holdrank with intervals, peers with what they have."""
    for n, battles in run.sizes.arenas:
        name = f"arena-{n}"
        np.save(run.folder / f"{name}.npy", arena_wins(n, battles))
        label = f"Bradley-Terry, {battles:,} battles of {n}"
        ours = run.row(label, "holdrank", "ratings", name, note="ratings and intervals")
        mine, errors = (np.array(ours.more.pop(part, [])) for part in ("ratings", "errors"))
        rows = []
        for package in ("arena-rank", "choix", "evalica", "arenakit"):
            row = run.row(
                label, package, "ratings", name, note="strengths only" if package == "choix" else HOW[package]
            )
            rows.append(row)
            if "ratings" in row.more:
                row.note += f"; {np.abs(np.array(row.more.pop('ratings')) - mine).max():.1g} points away"
            if "converged" in row.more:
                gap = np.abs(np.array(row.more.pop("converged")) - mine).max()
                apart = np.abs(np.array(row.more.pop("errors")) - errors).max()
                row.note += f", {gap:.1g} once it converges; standard errors {apart:.1g} away"
        run.compare(rows, ours)
        whole = ours.seconds
        run.target(f"{label}: ratings and intervals in less than 20 ms", whole, whole is not None and whole < 0.02)
        arena, *others = rows
        run.target(f"{label}: 40 times arena-rank", arena.ratio, arena.ratio is not None and arena.ratio >= 40)
        drawn = []
        if battles <= FEW_BATTLES:
            drawn = [
                run.row(label, package, "rating intervals", name, note="intervals, by resampling")
                for package in ("evalica", "arenakit")
            ]
            run.compare(drawn, ours)
        for what, peers in (("that gives intervals", [arena, *drawn]), ("for strengths alone", others)):
            fastest = min((row.ratio for row in peers if row.ratio is not None), default=None)
            run.target(f"{label}: 5 times the fastest peer {what}", fastest, fastest is not None and fastest >= 5)


def arenas(run: Run) -> None:
    """A new winner of an arena: our certified attack beside the choice by influence, its size and its time."""
    for n, battles in run.sizes.arenas:
        name = f"arena-{n}"
        np.save(run.folder / f"{name}.npy", arena_wins(n, battles))
        for change in ("drop", "add", "replace"):
            label = f"new winner, {change}, {battles:,} battles of {n}"
            ours = run.row(label, "holdrank", change, name)
            if "needed" in ours.more:
                ours.note = f"{ours.more['needed']} to {ours.more['sufficient']} battles, proved"
            theirs = run.row(label, "influence", change, name)
            if "predicted" in theirs.more:
                worked = "works" if theirs.more["works"] else f"fails, {theirs.more['sufficient']} work"
                theirs.note = f"{theirs.more['predicted']} battles predicted, {worked}; nothing proved"
            run.compare([theirs], ours)


def arena_wins(n: int, battles: int) -> Any:
    """Return the wins of an arena without ties: normal strengths, some items in many more battles than others."""
    rng = np.random.default_rng([SEED, n])
    strength, often = rng.normal(0.0, 1.0, n), rng.gamma(3.0, size=n)
    weight = np.triu(np.outer(often, often), 1)
    met = rng.multinomial(battles, (weight / weight.sum()).ravel()).reshape(n, n)
    won = rng.binomial(met, 1 / (1 + np.exp(strength - strength[:, None])))
    return (won + (met - won).T).astype(float)


PARTS = {
    "pairwise": pairwise,
    "reading": reading,
    "kemeny": kemeny,
    "borda": borda,
    "kendall": kendall,
    "ratings": ratings,
    "arenas": arenas,
}
NO_COUNTERPART = "choix fits Plackett-Luce models, arena-rank style features: no counterpart in holdrank yet."


def shown(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds:.2f}" if seconds >= 1 else f"{seconds:.2g}" if seconds >= 1e-4 else f"{seconds:.1e}"


def times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:,.0f}x" if ratio >= 10 else f"{ratio:.3g}x"


def table(rows: list[Row]) -> str:
    """The lines as a Markdown table with aligned columns."""
    lines = [["task", "package", "build", "task", "task / ours", "build + task / ours", "note"]]
    for row in rows:
        mine = "1x" if row.package == "holdrank" and row.ratio is None and row.seconds is not None else None
        ratios = [mine or times(row.ratio), mine or times(row.whole_ratio)]
        lines.append([row.task, row.package, shown(row.build), shown(row.seconds), *ratios, row.note])
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    text = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text)


def machine() -> dict[str, Any]:
    """Say what kind of machine this is, and nothing about which one."""
    model = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Run holdrank and other packages on the same data.")
    parser.add_argument("--quick", action="store_true", help="small sizes, short time limits; results are not kept")
    parser.add_argument("--only", choices=PARTS, action="append", help="only this part (may be repeated); not kept")
    parser.add_argument("--out", type=Path, help="where to write the results (default: benchmarks/results/peers.json)")
    parser.add_argument("--note", help="what is special about this run, kept with the results")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdrank-peers-") as folder:
        run = Run(Path(folder), QUICK if arguments.quick else Sizes())
        for name in arguments.only or PARTS:
            print(f"{name} ...", file=sys.stderr, flush=True)
            PARTS[name](run)
    print("CPU seconds, one thread; the best of up to five calls after one that is not counted")
    print(table(run.rows))
    print()
    for target in run.targets:
        value = "-" if target["value"] is None else f"{target['value']:.3g}"
        print(f"{'met    ' if target['met'] else 'NOT MET'}  {target['target']}: {value}")
    print(NO_COUNTERPART)
    print(", ".join(f"{package} {number}" for package, number in sorted(run.versions.items()) if number))
    print(f"holdrank sources {run.source}")
    out = arguments.out or (None if arguments.quick or arguments.only else RESULTS)
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "date": datetime.now(UTC).date().isoformat(),
            "machine": machine(),
            "seconds": "CPU seconds, one thread, best of up to five calls",
            "sizes": asdict(run.sizes),
            "versions": run.versions,
            "holdrank_sources": run.source,
            "targets": run.targets,
            "rows": [asdict(row) for row in run.rows],
            "notes": [NO_COUNTERPART, *([arguments.note] if arguments.note else [])],
        }
        out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
