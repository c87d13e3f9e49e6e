"""Sweeps give the same bytes on any number of workers, and after any number of deaths."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import holdrank as hr
from holdrank import paper
from holdrank.paper import curves, tradeoffs, vote_files
from holdrank.paper.distributions import authors
from holdrank.parallel import executors as clusters
from holdrank.parallel.spread import spread
from holdrank.parallel.workers import Parcel
from holdrank.status import Clock, Status

pytestmark = [pytest.mark.slow, pytest.mark.traced]

posix = pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")


@cache
def votes(n=4):
    return hr.sample_votes(hr.Mallows(range(n), 0.9), 200, rng=1)


def of_tradeoff(found):
    """All that a trade-off says, but for the seconds, to the last bit."""
    arrays = [getattr(found, name).tobytes() for name in ("theta", "loss", "lower", "upper", "pareto")]
    return *arrays, found.rankings, found.best, found.status, found.base.ranking, found.base.loss


def of_bootstrap(found):
    names = ("best", "median", "worst", "first", "above", "stability", "ranks", "counts")
    return *(getattr(found, name).tobytes() for name in names), found.draws, found.unproved, found.unchanged, found.seed


@cache
def alone(n=4):
    return of_tradeoff(hr.tradeoff(votes(n)))


def first_ballot(v):
    """A statistic of one's own."""
    return hr.kemeny(hr.Votes.from_ranks(v.ranks[:1], v.weights[:1], v.items, unlisted=v.unlisted))


@pytest.fixture(scope="module")
def processes():
    with clusters.local(2) as executor:
        yield executor


@pytest.fixture(scope="module")
def threads():
    with ThreadPoolExecutor(3) as executor:
        yield executor


@pytest.fixture(params=["processes", "threads"])
def executor(request):
    return request.getfixturevalue(request.param)


# Any executor.


def test_a_trade_off_is_the_same_on_any_executor(executor):
    steps = []
    found = hr.tradeoff(votes(), executor=executor, progress=steps.append)
    assert of_tradeoff(found) == alone()
    assert [step.done for step in steps] == list(range(steps[0].total))
    assert not found.lower.flags.writeable


def test_a_plain_pool_of_processes_fits_as_well():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert of_tradeoff(hr.tradeoff(votes(), executor=pool)) == alone()
        assert of_bootstrap(hr.bootstrap(votes(), first_ballot, draws=70, rng=3, executor=pool)) == of_bootstrap(
            hr.bootstrap(votes(), first_ballot, draws=70, rng=3)
        )


@pytest.mark.parametrize("T", [hr.kemeny, hr.borda, hr.Robust(hr.kemeny, 0.05), hr.Robust(hr.borda, 0.1), first_ballot])
@pytest.mark.parametrize("draws", [1, 50, 130])
def test_a_bootstrap_is_the_same_on_any_executor(T, draws, executor):
    steps = []
    found = hr.bootstrap(votes(), T, draws=draws, rng=4, executor=executor, progress=steps.append)
    assert of_bootstrap(found) == of_bootstrap(hr.bootstrap(votes(), T, draws=draws, rng=4))
    assert (steps[-1].done, steps[-1].total) == (draws, draws)


def test_a_sweep_for_the_top_of_many_items_is_the_same(processes):
    many = hr.sample_votes(hr.Mallows(range(18), 0.7), 60, rng=2)
    alone = hr.tradeoff(many, goal=hr.NewWinner())
    assert (alone.lower > 0).any()
    assert of_tradeoff(hr.tradeoff(many, goal=hr.NewWinner(), executor=processes)) == of_tradeoff(alone)


@pytest.fixture
def short_figures(monkeypatch):
    """Figures of two of the authors' distributions and two thresholds: a task each, as the others would be."""
    first = dict(list(authors().items())[:2])
    monkeypatch.setattr(tradeoffs, "authors", lambda: first)
    monkeypatch.setattr(curves, "THETAS", (0.05, 0.5))


@pytest.mark.no_cover
@pytest.mark.usefixtures("short_figures")
def test_figures_are_the_same(processes):
    assert paper.fig5(rng=2023, count=2, executor=processes) == paper.fig5(rng=2023, count=2)
    assert paper.fig4(rng=1, steps=20, executor=processes) == paper.fig4(rng=1, steps=20)


@pytest.fixture
def files(tmp_path):
    names = []
    for k in range(3):
        names.append(tmp_path / f"votes{k}.soc")
        hr.write_votes(hr.sample_votes(hr.Mallows(range(4), 0.8), 60 + k, rng=k), names[-1])
    return names


@pytest.mark.no_cover
def test_breakdowns_of_files_are_the_same_and_those_of_one_file_each(files, processes, monkeypatch):
    monkeypatch.chdir(files[0].parent)
    names = [file.name for file in files]  # relative names reach workers, too
    found = hr.breakdowns(names, hr.Robust(hr.kemeny, 0.05))
    shared = hr.breakdowns(names, hr.Robust(hr.kemeny, 0.05), executor=processes)
    assert json.dumps([one.record for one in shared]) == json.dumps([one.record for one in found])
    for name, file in zip(names, found, strict=True):
        one = hr.breakdown(hr.read_votes(name), hr.Robust(hr.kemeny, 0.05))
        record = file.record
        assert record["file"] == record["votes"]["source"] == file.file == name
        assert record["breakdown"]["upper"] == [None if np.isinf(x) else x for x in one.upper]
        assert record["consensus"]["ranks"] == one.consensus.ranking.ranks.tolist()
        assert (file.items, file.total, file.ranking) == (one.consensus.items, one.total, one.consensus.ranking)
        assert (file.statistic, file.status, file.notes) == (one.statistic, one.status, one.notes)
        for column in (
            "delta",
            "lower",
            "upper",
            "votes_needed",
            "votes_to_tie",
            "votes_to_decide",
            "votes_sufficient",
        ):
            assert getattr(file, column).tolist() == getattr(one, column).tolist()
            assert not getattr(file, column).flags.writeable
        assert repr(file).startswith(f"FileBreakdown({name!r}: downward merge of kemeny at 0.05, ")
    assert paper.real(names, executor=processes) == paper.real(names)


@pytest.mark.no_cover
def test_estimates_of_files_have_one_seed(files):
    first, second = (hr.breakdowns(files[:1], deltas=[0.5], method="smooth", rng=3) for _ in range(2))
    assert first == second


def test_errors_of_workers_come_home_in_one_line(processes, tmp_path):
    (tmp_path / "bad.soc").write_text("# NUMBER ALTERNATIVES: 1\n# ALTERNATIVE NAME 1: a\n3: 1,7\n")
    with pytest.raises(hr.InputError, match=r"bad\.soc, line 3"):
        hr.breakdowns([tmp_path / "bad.soc"], executor=processes)
    with pytest.raises(hr.UsageError, match="not for borda"):
        hr.tradeoff(votes(), hr.borda, merge="smith", executor=processes)
    with pytest.raises(hr.InputError, match="cannot be read"):
        hr.breakdowns([tmp_path / "missing.soc"], executor=processes)


def test_what_cannot_be_sent_is_refused(processes):
    with pytest.raises(hr.UsageError, match=r"cannot be sent to another process .* top level of a module"):
        hr.bootstrap(votes(), lambda v: hr.borda(v), draws=60, rng=1, executor=processes)


@pytest.mark.parametrize("call", [hr.tradeoff, hr.bootstrap])
def test_what_is_no_executor_is_refused(call):
    with pytest.raises(hr.UsageError, match="executor must have the methods"):
        call(votes(), executor=4)


def test_an_executor_that_was_shut_down_is_refused():
    with clusters.local(1) as executor:
        pass
    with pytest.raises(hr.UsageError, match="the executor was shut down"):
        hr.tradeoff(votes(), executor=executor)


@pytest.mark.parametrize("jobs", [0, 1.5, True])
def test_the_number_of_processes_is_a_whole_number(jobs):
    with pytest.raises(hr.UsageError, match="whole number, 1 or more"), clusters.local(jobs):
        pass


@pytest.mark.parametrize(("given", "words"), [("votes.soc", "list of files"), (["votes.soc"], "must be kemeny")])
def test_breakdowns_need_a_list_and_a_statistic(given, words):
    with pytest.raises(hr.UsageError, match=words):
        hr.breakdowns(given, "kemeny")


# Time limits, and Ctrl-C.


@pytest.mark.no_cover
def test_a_time_limit_is_passed_on(executor):
    started = time.monotonic()
    hard = hr.sample_votes(hr.Mallows(range(9), 0.95), 300, rng=5)
    found = hr.tradeoff(hard, executor=executor, time_limit=1.0)
    assert found.status is Status.BETWEEN_TIME_LIMIT
    assert time.monotonic() - started < 20
    drawn = hr.bootstrap(hard, draws=10**6, rng=1, executor=executor, time_limit=1.0)
    assert drawn.status is Status.RESAMPLED_TIME_LIMIT
    assert 1 <= drawn.draws == drawn.counts.sum() < 10**6


def test_no_time_at_all_gives_one_draw(executor):
    rng = np.random.default_rng(0)
    hard = hr.Votes.from_ranks(np.array([rng.permutation(70) + 1 for _ in range(101)]))
    drawn = hr.bootstrap(hard, draws=1000, rng=1, executor=executor, time_limit=0)
    assert (drawn.draws, drawn.unproved, drawn.status) == (1, 1, Status.RESAMPLED_TIME_LIMIT)
    assert hr.tradeoff(votes(), executor=executor, time_limit=0).status is Status.BETWEEN_TIME_LIMIT


@posix
def test_ctrl_c_returns_what_workers_know():
    hard = hr.sample_votes(hr.Mallows(range(9), 0.95), 300, rng=5)
    with clusters.local(2) as executor:
        alarm = threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT))
        started = time.monotonic()
        found = hr.tradeoff(hard, executor=executor, progress=lambda step: step.done == 1 and alarm.start())
        assert found.status is Status.BETWEEN_INTERRUPTED
        assert time.monotonic() - started < 30
        with pytest.raises(hr.UsageError, match="the executor was shut down"):
            hr.tradeoff(hard, executor=executor)


# Lost workers.


def _tradeoff_with_a_murder(checkpoint):
    with clusters.local(2) as executor:

        def strike(step):
            if step.done == 3:
                next(iter(executor._processes.values())).kill()

        hr.tradeoff(votes(), executor=executor, checkpoint=checkpoint, progress=strike)


def test_a_lost_process_is_one_clear_error_and_finished_points_are_kept(tmp_path):
    keep = tmp_path / "points.jsonl"
    for checkpoint, words in (
        (None, "a checkpoint would keep finished work"),
        (keep, r"finished work is kept in .*points\.jsonl"),
    ):
        with pytest.raises(hr.WorkerError, match=f"a worker was lost.*run it again.*{words}"):
            _tradeoff_with_a_murder(checkpoint)
    lines = keep.read_bytes().splitlines()
    assert len(lines) >= 1 + 3
    assert of_tradeoff(hr.tradeoff(votes(), checkpoint=keep)) == alone()
    assert keep.read_bytes().splitlines()[: len(lines)] == lines


DASK = [sys.executable, "-m", "dask"]


class RealCluster:
    """A scheduler and workers, as the page on clusters has them, on this machine."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.folder = folder
        # Workers find the statistics of this file, and the package where this process finds it.
        paths = (str(Path(__file__).parent), os.environ.get("PYTHONPATH", ""))
        self._environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        self._all = [self._start("scheduler", "--port", "0", "--dashboard-address", "127.0.0.1:0")]
        self.workers = [self.worker() for _ in range(2)]

    def _start(self, *args: str) -> subprocess.Popen[bytes]:
        with open(self.folder / "log.txt", "ab") as log:
            command = [*DASK, *args, "--host", "127.0.0.1", "--scheduler-file", str(self.file)]
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, env=self._environment)

    def worker(self) -> subprocess.Popen[bytes]:
        self._all.append(self._start("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard"))
        return self._all[-1]

    def end(self) -> None:
        for process in reversed(self._all):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    pytest.importorskip("distributed")
    found = RealCluster(tmp_path_factory.mktemp("dask"))
    try:
        until(found.file.exists)
        yield found
    finally:
        found.end()


def until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_dask_cluster_gives_the_same(cluster):
    with clusters.connect(str(cluster.file)) as executor:
        executor.client.wait_for_workers(2, timeout=60)
        assert of_tradeoff(hr.tradeoff(votes(), executor=executor)) == alone()
        assert of_tradeoff(hr.tradeoff(votes(), executor=executor.client.get_executor())) == alone()
        drawn = hr.bootstrap(votes(), hr.Robust(hr.borda, 0.1), draws=130, rng=4, executor=executor)
        assert of_bootstrap(drawn) == of_bootstrap(hr.bootstrap(votes(), hr.Robust(hr.borda, 0.1), draws=130, rng=4))
        assert hr.tradeoff(votes(), executor=executor, time_limit=0.1).status is Status.BETWEEN_TIME_LIMIT


def test_a_dask_cluster_that_loses_a_worker_in_the_middle_gives_the_same(cluster):
    cluster.workers.append(cluster.worker())
    with clusters.connect(str(cluster.file)) as executor:
        executor.client.wait_for_workers(3, timeout=60)

        def strike(step):
            if step.done == 2:
                cluster.workers[0].kill()

        assert of_tradeoff(hr.tradeoff(votes(5), executor=executor, progress=strike)) == alone(5)
        until(lambda: executor.jobs == 2)


def test_the_command_line_takes_a_scheduler(cluster, command_line, tmp_path):
    hr.write_votes(votes(), tmp_path / "votes.soc")
    printed = [command_line("tradeoff", "votes.soc", "-q", *more) for more in ((), ("--scheduler", str(cluster.file)))]
    assert printed[0] == printed[1]
    assert printed[0][0] == 0


def test_workers_of_another_version_are_refused(cluster, monkeypatch):
    monkeypatch.setattr(clusters, "__version__", "99.0")
    with pytest.raises(hr.UsageError, match=r"do not run holdrank 99\.0.*has 0\."):  # noqa: SIM117
        with clusters.connect(str(cluster.file)):
            pass


def test_a_scheduler_without_workers_is_refused(tmp_path):
    pytest.importorskip("distributed")
    found = RealCluster.__new__(RealCluster)
    found.folder, found.file, found._environment = tmp_path, tmp_path / "scheduler.json", dict(os.environ)
    found._all = [found._start("scheduler", "--port", "0", "--dashboard-address", "127.0.0.1:0")]
    try:
        until(found.file.exists)
        with pytest.raises(hr.UsageError, match=r"has no workers\. Fix: dask worker"):  # noqa: SIM117
            with clusters.connect(str(found.file), timeout=1):
                pass
    finally:
        found.end()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x", "", "missing.json"])
def test_a_scheduler_that_is_not_there_is_one_line(address, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(hr.UsageError, match=r"no Dask scheduler answers at .*Fix"), clusters.connect(address):
        pass


def test_without_the_extra_its_name_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(hr.MissingExtraError, match=r"holdrank\[cluster\]"), clusters.connect("tcp://127.0.0.1:1"):
        pass


# Killed runs.

DRIVER = """
import json, os, random, signal, sys, time
import holdrank as hr

votes = hr.read_votes("votes.soc")
hr.tradeoff(votes, time_limit=0.01)  # loads what is compiled, so that the time goes into the sweep


def sweep(path):
    t, b = hr.tradeoff(votes, checkpoint=path), hr.bootstrap(votes, draws=500, rng=2, checkpoint=path + ".draws")
    columns = [getattr(t, name).tolist() for name in ("theta", "loss", "lower", "upper", "pareto")]
    return repr([columns, [r.ranks.tolist() for r in t.rankings], t.best, str(t.status), b.above.tolist(), b.draws])


def child(path):
    pid = os.fork()
    if not pid:
        with open(path + ".txt", "w") as file:
            file.write(sweep(path))
        os._exit(0)
    return pid


started = time.monotonic()
os.waitpid(child("whole"), 0)
whole, seconds = open("whole.txt").read(), time.monotonic() - started
rng = random.Random(int(sys.argv[1]))
kept = []
for k in range(10):
    pid = child(f"{k}")
    time.sleep(rng.uniform(0, seconds))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    kept.append(open(f"{k}").read().count("\\n") - 1 if os.path.exists(f"{k}") else 0)
    os.waitpid(child(f"{k}"), 0)
    assert open(f"{k}.txt").read() == whole
    for path in (f"{k}", f"{k}.draws"):
        keys = [json.loads(line).get("key") for line in open(path)]
        assert len(set(keys)) == len(keys), "something was done twice"
        assert sorted(map(str, keys)) == sorted(str(json.loads(line).get("key")) for line in open("whole" + path[1:]))
print(json.dumps(kept))
"""


@posix
def test_killed_at_ten_random_moments_a_sweep_goes_on_to_the_same_bytes(tmp_path):
    hr.write_votes(votes(), tmp_path / "votes.soc")
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, "7"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    kept = json.loads(done.stdout)
    assert len(set(kept)) > 2, f"the moments were all alike: {kept}"


@posix
def test_killed_with_workers_the_command_goes_on_and_no_worker_stays(tmp_path):
    hr.write_votes(votes(5), tmp_path / "votes.soc")
    command = [sys.executable, "-m", "holdrank", "tradeoff", "votes.soc", "-q", "--json", "--jobs", "2"]
    kept = [*command, "--checkpoint", "points.jsonl"]
    rng = random.Random(3)
    for _ in range(3):
        run = subprocess.Popen(kept, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)  # fmt: skip
        until((tmp_path / "points.jsonl").exists)
        time.sleep(rng.uniform(0, 0.6))
        run.kill()
        run.wait()
        until(lambda group=run.pid: not alive_in(group), 20)
    found = subprocess.run(kept, cwd=tmp_path, capture_output=True, check=True).stdout
    plain = subprocess.run(command[:-2], cwd=tmp_path, capture_output=True, check=True).stdout
    assert without_seconds(found) == without_seconds(plain)


def alive_in(group):
    """Whether a process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def without_seconds(output):
    def strip(value):
        if isinstance(value, dict):
            return {name: strip(part) for name, part in value.items() if name != "seconds"}
        return [strip(part) for part in value] if isinstance(value, list) else value

    return json.dumps(strip(json.loads(output)))


# Checkpoints of sweeps; their files are in test_checkpoints.py.


def test_what_is_kept_is_not_computed_again(tmp_path, monkeypatch):
    from holdrank.analysis import tradeoff as thresholds

    keep = tmp_path / "points.jsonl"
    assert of_tradeoff(hr.tradeoff(votes(), checkpoint=keep)) == alone()
    before = keep.read_bytes()
    monkeypatch.setattr(thresholds, "_robustness", None)
    assert of_tradeoff(hr.tradeoff(votes(), checkpoint=str(keep))) == alone()
    assert hr.tradeoff(votes(), checkpoint=keep, tolerance=0).best == 0  # what is best does not change the points
    assert keep.read_bytes() == before


@pytest.mark.no_cover
def test_a_file_cut_anywhere_goes_on(tmp_path):
    few = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"], ["a", "c", "b"]], weights=[50, 44, 6])
    keep = tmp_path / "points.jsonl"
    whole = of_tradeoff(hr.tradeoff(few, checkpoint=keep))
    data = keep.read_bytes()
    for cut in (0, 5, *(at + k for at, byte in enumerate(data) if byte == ord("\n") for k in (0, 1, 20))):
        keep.write_bytes(data[:cut])
        assert of_tradeoff(hr.tradeoff(few, checkpoint=keep)) == whole
        assert keep.read_bytes() == data


def test_other_votes_parameters_and_sweeps_are_refused(tmp_path):
    keep = tmp_path / "points.jsonl"
    hr.tradeoff(votes(), checkpoint=keep)
    with pytest.raises(
        hr.InputError, match=r"points\.jsonl: the checkpoint cannot be used: created from different votes"
    ):
        hr.tradeoff(votes(5), checkpoint=keep)
    with pytest.raises(hr.InputError, match="different parameters: merge is downward there, naive here"):
        hr.tradeoff(votes(), merge="naive", checkpoint=keep)
    with pytest.raises(hr.InputError, match="a different sweep: tradeoff there, bootstrap here"):
        hr.bootstrap(votes(), draws=60, rng=1, checkpoint=keep)


def test_draws_go_on_to_more_draws(tmp_path):
    keep = tmp_path / "draws.jsonl"
    hr.bootstrap(votes(), draws=100, rng=3, checkpoint=keep)
    assert of_bootstrap(hr.bootstrap(votes(), draws=170, rng=3, checkpoint=keep)) == of_bootstrap(
        hr.bootstrap(votes(), draws=170, rng=3)
    )
    assert len(keep.read_bytes().splitlines()) == 1 + 4
    with pytest.raises(hr.InputError, match="seed is 3 there, 4 here"):
        hr.bootstrap(votes(), draws=100, rng=4, checkpoint=keep)


@pytest.mark.no_cover
def test_what_a_time_limit_cut_short_is_not_kept(tmp_path):
    keep = tmp_path / "points.jsonl"
    hr.tradeoff(votes(5), checkpoint=keep, time_limit=0.2)
    for line in keep.read_bytes().splitlines()[1:]:
        lower, upper, _ = json.loads(line)["value"]
        assert lower == upper
    assert of_tradeoff(hr.tradeoff(votes(5), checkpoint=keep))[5:] == alone(5)[5:]


@pytest.mark.no_cover
@pytest.mark.usefixtures("short_figures")
def test_figures_and_files_are_kept(tmp_path, files, monkeypatch):
    keep = tmp_path / "points.jsonl"
    first = paper.figures("real", tmp_path / "one", files=files, checkpoint=keep)
    assert len(keep.read_bytes().splitlines()) == 1 + 3
    paper.fig4(rng=1, steps=20, checkpoint=tmp_path / "fig4.jsonl")
    expected = paper.fig4(rng=1, steps=20)
    monkeypatch.setattr(curves, "smoothed", None)
    monkeypatch.setattr(vote_files, "tradeoff", None)
    assert paper.fig4(rng=1, steps=20, checkpoint=tmp_path / "fig4.jsonl") == expected
    again = paper.figures("real", tmp_path / "two", files=files, checkpoint=keep)
    for one, two in zip(first, again, strict=True):
        if one.suffix in (".json", ".csv"):
            assert one.read_bytes() == two.read_bytes()
    found = hr.breakdowns(files, checkpoint=tmp_path / "files.jsonl")
    assert hr.breakdowns(files, checkpoint=tmp_path / "files.jsonl") == found


# The command line.


def test_jobs_change_nothing_that_is_printed(command_line, tmp_path):
    hr.write_votes(votes(), tmp_path / "votes.soc")
    for command in (
        ("tradeoff", "votes.soc", "-q"),
        ("rank", "votes.soc", "-q", "--draws", "220"),
        ("diff", "votes.soc", "votes.soc", "-q", "--draws", "200"),
        ("breakdown", "votes.soc", "votes.soc", "-q"),
    ):
        plain = command_line(*command)
        assert plain[0] == 0
        assert command_line(*command, "--jobs", "2") == plain
        if command[0] != "diff":
            assert [command_line(*command, "--checkpoint", f"{command[0]}.jsonl") for _ in range(2)] == [plain] * 2


def test_several_files_have_a_line_each(command_line, files):
    code, out, _ = command_line("breakdown", *(file.name for file in files), "-q", "--theta", "0.05")
    assert code == 0
    assert out.startswith("Breakdown of downward merge of kemeny at 0.05: 3 files\n")
    assert [line.split()[-1] for line in out.splitlines()[2:]] == [file.name for file in files]
    code, out, _ = command_line("breakdown", files[0].name, files[1].name, "-q", "--delta", "0.1", "--delta", "1")
    assert len(out.splitlines()) == 2 + 4
    code, out, _ = command_line("breakdown", files[0].name, files[1].name, "-q", "--json", "--method", "bounds")
    found = json.loads(out)
    assert [one["file"] for one in found["files"]] == ["votes0.soc", "votes1.soc"]
    assert found["files"][0]["breakdown"]["method"] == "bounds"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("tradeoff", "votes.soc", "--jobs", "2", "--scheduler", "x:1"), "Give --jobs or --scheduler, not both"),
        (("rank", "votes.soc", "--jobs", "2"), "need --draws"),
        (("rank", "votes.soc", "--checkpoint", "x.jsonl"), "need --draws"),
        (("tradeoff", "votes.soc", "--jobs", "0"), "0 is not in the range"),
        (("tradeoff", "votes.soc", "--checkpoint", "no/such/folder/x"), "cannot be written"),
    ],
)
def test_options_that_make_no_sense_are_refused(args, words, command_line, tmp_path):
    hr.write_votes(votes(), tmp_path / "votes.soc")
    code, _, err = command_line(*args)
    assert code == 2
    assert words in err


def test_a_lost_worker_is_no_wrong_use(command_line, tmp_path, monkeypatch):
    from holdrank.analysis import tradeoff as thresholds

    def lost(*_args, **_options):
        raise hr.WorkerError("a worker was lost")

    monkeypatch.setattr(thresholds, "spread", lost)
    hr.write_votes(votes(), tmp_path / "votes.soc")
    assert command_line("tradeoff", "votes.soc", "-q") == (1, "", "holdrank: a worker was lost\n")


# What tasks share.


def _squares(parcel, x, clock):
    parcel.desk["seen"] = parcel.desk.get("seen", 0) + 1
    return [x * x, parcel.desk["seen"], parcel.value], not clock.over()


def test_what_tasks_share_is_opened_once(processes):
    found = dict(spread(_squares, {str(x): (x,) for x in range(20)}, Parcel("shared"), Clock(), executor=processes))
    assert {key: value[0] for key, value in found.items()} == {str(x): x * x for x in range(20)}
    assert {value[2] for value in found.values()} == {"shared"}
    assert max(value[1] for value in found.values()) >= 10  # two processes at most, so one did half of them


def _fails(_parcel, _x, _clock):
    raise ZeroDivisionError("by nothing")


def test_errors_that_are_not_about_workers_stay_what_they_are(executor):
    with pytest.raises(ZeroDivisionError, match="by nothing"):
        list(spread(_fails, {"0": (0,)}, Parcel(None), Clock(), executor=executor))


def test_errors_for_people_survive_the_way_home():
    import pickle

    error = pickle.loads(pickle.dumps(hr.MissingExtraError("reading this", "duckdb", "io")))
    assert str(error) == "reading this needs duckdb. Fix: pip install 'holdrank[io]'"
