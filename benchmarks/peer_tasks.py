"""One measurement of one package, in a process of its own: ``python peer_tasks.py PACKAGE TASK FOLDER [NAME]``.

Run by `peers.py`, with holdrank's interpreter or with that of the peers. FOLDER holds the data, NAME says which of
several. The last line on standard output is a JSON object. What is common to all:

* Input is read and brought into plain lists or arrays before the clock starts.
* ``build`` is the package's own object made from them, ``seconds`` the task on that object.
* One call comes before the timed ones, so that nothing is imported or compiled under the clock; then the best of
  several calls counts (of long ones, fewer).
* Seconds are those of the processor, one thread: on an idle machine the same as by the clock on the wall, and hardly
  disturbed by what else runs.
"""

from __future__ import annotations

import ctypes
import json
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

Task = Callable[..., dict[str, Any]]
TASKS: dict[tuple[str, str], Task] = {}

REPEATS = 5
ENOUGH = 5.0  # seconds after which a call is not repeated


def task(package: str, name: str) -> Callable[[Task], Task]:
    def register(function: Task) -> Task:
        TASKS[package, name] = function
        return function

    return register


def clock() -> float:
    """CPU seconds of this process with all its threads, and of solvers that it ran and waited for."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + ended.ru_utime + ended.ru_stime


def once(call: Callable[[], Any]) -> tuple[float, Any]:
    started = clock()
    result = call()
    return clock() - started, result


def best(call: Callable[[], Any], warm: bool = True) -> tuple[float, Any]:
    """Return the least seconds of several calls (fewer if they are long) and the result of the last."""
    if warm:
        call()
    taken: list[float] = []
    while len(taken) < REPEATS and sum(taken) < ENOUGH:
        seconds, result = once(call)
        taken.append(seconds)
    return min(taken), result


def orders(folder: Path, name: str) -> Any:
    """Best-first lists of items from 0, one ballot a row."""
    return np.load(folder / f"{name}.npy")


def ranks_of(table: Any) -> Any:
    """Ranks from 1 of the orders of `table`."""
    ranks = np.empty_like(table, dtype=np.int16)
    np.put_along_axis(ranks, table.astype(np.int64), np.arange(1, table.shape[1] + 1, dtype=np.int16)[None], axis=1)
    return ranks


def matrix(wins: Any) -> list[list[float]]:
    return [[float(value) for value in row] for row in wins]


# holdrank


@task("holdrank", "pairwise")
def _(folder: Path, name: str) -> dict[str, Any]:
    from holdrank import Votes

    ranks = ranks_of(orders(folder, name))
    build, votes = best(lambda: Votes.from_ranks(ranks), warm=False)
    # Votes remembers its counts, so each call gets a copy that does not; copying takes microseconds.
    seconds, _ = best(lambda: votes.with_reading(votes.reading).pairwise())
    return {"build": build, "seconds": seconds, "wins": matrix(votes.wins())}


@task("holdrank", "memory")
def _(folder: Path, name: str) -> dict[str, Any]:
    """Peak memory of `pairwise` beyond what is held before it, in bytes."""
    from holdrank import Votes

    # The ballots as Votes keeps them, loaded into place: making Votes here would set a peak of its own.
    ranks, weights = np.load(folder / f"{name}_ranks.npy"), np.load(folder / f"{name}_weights.npy")
    votes = Votes(tuple(map(str, range(ranks.shape[1]))), ranks, weights, "bottom")
    before = peak_memory(reset=True)
    votes.pairwise()
    return {"before": before, "extra": peak_memory() - before, "ballots": int(ranks.nbytes + weights.nbytes)}


def peak_memory(reset: bool = False) -> int:
    """Return the largest resident memory of this process, in bytes, since it began or since the last reset.

    The kernel's own high-water mark of this program; `resource.getrusage` also holds that of the parent process from
    before it became this one, and serves only where /proc is not there.
    """
    status = Path("/proc/self/status")
    if status.exists():
        if reset:
            with suppress(OSError):  # where it is not allowed, the mark is that of loading the ballots
                Path("/proc/self/clear_refs").write_text("5")
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


@task("holdrank", "read")
def _(folder: Path, name: str) -> dict[str, Any]:
    from holdrank import read_votes

    path = folder / name
    first, _ = once(lambda: read_votes(path, unlisted="observed"))
    reading, votes = best(lambda: read_votes(path, unlisted="observed"))
    both, _ = best(lambda: read_votes(path, unlisted="observed").pairwise())
    order = [votes.items.index(f"Item {k}") for k in range(1, votes.n + 1)]
    wins = votes.wins()[np.ix_(order, order)]
    return {"first": first, "reading": reading, "seconds": both, "wins": matrix(wins)}


@task("holdrank", "kemeny")
def _(folder: Path, name: str) -> dict[str, Any]:
    from holdrank import Votes

    ranks = ranks_of(orders(folder, name))
    build, votes = best(lambda: Votes.from_ranks(ranks), warm=False)
    return {"build": build} | holdrank_kemeny(votes)


@task("holdrank", "kemeny of a file")
def _(folder: Path, name: str) -> dict[str, Any]:
    """The ballots as holdrank read them from a file, which may have ties, weights and gaps."""
    from holdrank import Votes

    kept = np.load(folder / f"{name}-votes.npz")
    items = tuple(map(str, range(kept["ranks"].shape[1])))
    return holdrank_kemeny(Votes(items, kept["ranks"], kept["weights"], str(kept["unlisted"])))


def holdrank_kemeny(votes: Any) -> dict[str, Any]:
    from holdrank import kemeny

    def solve() -> Any:
        return kemeny(votes.with_reading(votes.reading))

    first, found = once(solve)  # as in a fresh process
    seconds = first
    if first < ENOUGH:
        seconds, found = best(solve)
    return {
        "first": first,
        "seconds": seconds,
        "wall": found.seconds,
        "status": found.status.value,
        "proof": found.proof,
        "order": list(found.ranking.order),
    }


@task("holdrank", "borda")
def _(folder: Path, name: str) -> dict[str, Any]:
    from holdrank import Votes, borda

    ranks = ranks_of(orders(folder, name))
    build, votes = best(lambda: Votes.from_ranks(ranks), warm=False)
    seconds, found = best(lambda: borda(votes.with_reading(votes.reading)))
    return {"build": build, "seconds": seconds, "order": list(found.ranking.order)}


@task("holdrank", "kendall")
def _(folder: Path, name: str) -> dict[str, Any]:
    from holdrank import kendall

    a, b = np.load(folder / f"{name}.npy")
    seconds, shares = best(lambda: kendall(a, b))
    return {"seconds": seconds, "distance": float(np.mean(shares))}


@task("plain C", "pairwise")
def _(folder: Path, name: str) -> dict[str, Any]:
    library = ctypes.CDLL(str(folder / "plain_count.so"))
    given = np.ascontiguousarray(orders(folder, name), dtype=np.int16)
    m, n = given.shape

    def count(function: Any, table: Any) -> Any:
        wins = np.zeros((n, n), dtype=np.int64)
        function(
            table.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(m), ctypes.c_int64(n),
            wins.ctypes.data_as(ctypes.c_void_p),
        )  # fmt: skip
        return wins

    ranks = ranks_of(given)
    from_ranks, wins = best(lambda: count(library.count_from_ranks, ranks))
    from_orders, again = best(lambda: count(library.count_from_orders, given))
    assert (wins == again).all()
    return {
        "seconds": min(from_ranks, from_orders),
        "from ranks": from_ranks,
        "from orders": from_orders,
        "wins": matrix(wins),
    }


# pref_voting: the profile counts all pairs when it is made


@task("pref_voting", "pairwise")
def _(folder: Path, name: str) -> dict[str, Any]:
    from pref_voting.profiles import Profile

    lists = orders(folder, name).tolist()
    Profile(lists[:10])
    seconds, profile = best(lambda: Profile(lists), warm=False)
    cost, margins = best(lambda: profile.margin_matrix)
    total = len(lists)
    wins = (np.array(margins, dtype=float) + total) / 2
    np.fill_diagonal(wins, 0)
    return {"seconds": seconds + cost, "wins": matrix(wins)}


@task("pref_voting", "kemeny")
def _(folder: Path, name: str) -> dict[str, Any]:
    from pref_voting.other_methods import kemeny_young
    from pref_voting.profiles import Profile

    lists = orders(folder, name).tolist()
    build, profile = best(lambda: Profile(lists))
    seconds, winners = best(lambda: kemeny_young(profile), warm=False)
    return {"build": build, "seconds": seconds, "winners": [int(winner) for winner in winners]}


@task("pref_voting", "kemeny rankings")
def _(folder: Path, name: str) -> dict[str, Any]:
    from pref_voting.other_methods import kemeny_young_rankings
    from pref_voting.profiles import Profile

    lists = orders(folder, name).tolist()
    build, profile = best(lambda: Profile(lists))
    seconds, (rankings, _) = best(lambda: kemeny_young_rankings(profile), warm=False)
    return {"build": build, "seconds": seconds, "order": [int(item) for item in rankings[0]]}


@task("pref_voting", "borda")
def _(folder: Path, name: str) -> dict[str, Any]:
    from pref_voting.profiles import Profile

    lists = orders(folder, name).tolist()
    build, profile = best(lambda: Profile(lists))
    seconds, scores = best(profile.borda_scores)
    return {"build": build, "seconds": seconds, "order": by_score(scores)}


def by_score(scores: dict[Any, Any]) -> list[int]:
    return [int(item) for item in sorted(scores, key=lambda item: (-float(scores[item]), int(item)))]


# corankco: counts with numpy over all pairs at once


@task("corankco", "pairwise")
def _(folder: Path, name: str) -> dict[str, Any]:
    from corankco.algorithms.pairwisebasedalgorithm import PairwiseBasedAlgorithm
    from corankco.scoringscheme import ScoringScheme

    build, dataset = once(lambda: corankco_dataset(orders(folder, name)))
    scheme = ScoringScheme.get_pseudodistance_scoring_scheme_p(1.0)
    position, places = best(dataset.get_positions)
    seconds, cost = best(lambda: PairwiseBasedAlgorithm.pairwise_cost_matrix(places, scheme))
    index = [dataset.mapping_elem_id[element] for element in sorted(dataset.universe, key=lambda e: int(str(e)))]
    wins = cost[np.ix_(index, index)][:, :, 1]  # the cost of "i after j" is the weight of i before j
    np.fill_diagonal(wins, 0)
    return {"build": build + position, "seconds": seconds, "wins": matrix(wins)}


@task("corankco", "kemeny")
def _(folder: Path, name: str) -> dict[str, Any]:
    from corankco.algorithms.exact.exactalgorithmpulp import ExactAlgorithmPulp
    from corankco.scoringscheme import ScoringScheme

    build, dataset = once(lambda: corankco_dataset(orders(folder, name)))
    # ExactAlgorithm splits into components first and then fails without CPLEX (a NameError), so PuLP is asked itself.
    # A tie costs a whole disagreement here, so that ties never pay, as in Kemeny's strict median.
    scheme = ScoringScheme.get_pseudodistance_scoring_scheme_p(1.0)
    seconds, found = best(
        lambda: ExactAlgorithmPulp().compute_consensus_rankings(dataset, scheme, return_at_most_one_ranking=True),
        warm=False,
    )
    return {"build": build, "seconds": seconds, "order": corankco_order(found)}


@task("corankco", "borda")
def _(folder: Path, name: str) -> dict[str, Any]:
    from corankco.algorithms.borda.borda import BordaCount
    from corankco.scoringscheme import ScoringScheme

    build, dataset = once(lambda: corankco_dataset(orders(folder, name)))
    scheme = ScoringScheme.get_unifying_scoring_scheme()
    seconds, found = best(
        lambda: BordaCount().compute_consensus_rankings(dataset, scheme, return_at_most_one_ranking=True), warm=False
    )
    return {"build": build, "seconds": seconds, "order": corankco_order(found)}


@task("corankco", "kendall")
def _(folder: Path, name: str) -> dict[str, Any]:
    from corankco.dataset import Dataset
    from corankco.kemeny_score_computation import KemenyComputingFactory
    from corankco.ranking import Ranking
    from corankco.scoringscheme import ScoringScheme

    a, b = (np.atleast_2d(table) for table in np.load(folder / f"{name}.npy"))
    score = KemenyComputingFactory(ScoringScheme.get_pseudodistance_scoring_scheme_p(1.0))
    build, pairs = once(
        lambda: [
            (Ranking([{i} for i in x]), Dataset([Ranking([{i} for i in y])]))
            for x, y in zip(np.argsort(a).tolist(), np.argsort(b).tolist(), strict=True)
        ]
    )
    seconds, totals = best(lambda: [score.get_kemeny_score(x, y) for x, y in pairs])
    n = a.shape[1]
    return {"build": build, "seconds": seconds, "distance": float(np.mean(totals)) / (n * (n - 1) / 2)}


def corankco_dataset(table: Any) -> Any:
    from corankco.dataset import Dataset

    return Dataset.from_raw_list([[{item} for item in order] for order in table.tolist()])


def corankco_order(consensus: Any) -> list[int]:
    buckets = consensus.consensus_rankings[0]
    return [int(str(element)) for bucket in buckets for element in sorted(bucket, key=lambda e: int(str(e)))]


# scorio: an integer program of scipy with all triangles


@task("scorio", "kemeny")
def _(folder: Path, name: str) -> dict[str, Any]:
    from scorio.rank import voting

    # It counts pairs from a table of right answers. Handing it the counts instead spares it that work, and lets it
    # take ballots with ties and gaps. Without tie_aware=False it would solve one more program for each pair.
    wins = np.load(folder / f"{name}-wins.npy")
    voting._pairwise_preference_counts = lambda *_, **__: wins
    answers = np.zeros((len(wins), 1), dtype=int)
    seconds, places = best(lambda: voting.kemeny_young(answers, tie_aware=False), warm=False)
    return {"seconds": seconds, "order": [int(item) for item in np.argsort(places, kind="stable")]}


# svvamp: all permutations of each component of the majority relation


@task("svvamp", "kemeny")
def _(folder: Path, name: str) -> dict[str, Any]:
    from svvamp import Profile, RuleKemeny

    table = orders(folder, name).astype(int)
    # The profile counts pairs when they are first asked for and keeps them, so it is made anew for each call.
    seconds, order = best(
        lambda: RuleKemeny()(Profile(preferences_rk=table)).candidates_by_scores_best_to_worst_, warm=False
    )
    return {"seconds": seconds, "order": [int(item) for item in order]}


# votekit


def votekit_profile(table: Any) -> Any:
    from votekit.ballot import RankBallot
    from votekit.pref_profile import RankProfile

    return RankProfile(ballots=[RankBallot(ranking=[{str(item)} for item in order]) for order in table.tolist()])


@task("votekit", "pairwise")
def _(folder: Path, name: str) -> dict[str, Any]:
    from votekit.graphs.pairwise_comparison_graph import pairwise_dict

    table = orders(folder, name)
    pairwise_dict(votekit_profile(table[:10]))
    build, profile = once(lambda: votekit_profile(table))
    first, _ = once(lambda: pairwise_dict(profile))  # also lists the ballots, which the profile then keeps
    seconds, counts = best(lambda: pairwise_dict(profile), warm=False)
    wins = np.zeros((table.shape[1],) * 2)
    for (a, b), (above, below) in counts.items():
        wins[int(a), int(b)], wins[int(b), int(a)] = above, below
    return {"build": build + first - seconds, "seconds": seconds, "wins": matrix(wins)}


@task("votekit", "borda")
def _(folder: Path, name: str) -> dict[str, Any]:
    from votekit.utils import borda_scores

    build, profile = once(lambda: votekit_profile(orders(folder, name)))
    seconds, scores = best(lambda: borda_scores(profile), warm=False)
    return {"build": build, "seconds": seconds, "order": by_score(scores)}


# preflibtools: plain Python


def preflib_instance(table: Any) -> Any:
    from preflibtools.instances import OrdinalInstance

    instance = OrdinalInstance()
    instance.append_order_array(table.tolist())  # of its four ways the fastest, and faster to count than arrays
    return instance


def preflib_wins(scores: dict[int, dict[int, int]]) -> list[list[float]]:
    names = sorted(scores)
    return matrix([[scores[a].get(b, 0) for b in names] for a in names])


@task("preflibtools", "pairwise")
def _(folder: Path, name: str) -> dict[str, Any]:
    from preflibtools.properties.pairwisecomparisons import pairwise_scores

    table = orders(folder, name)
    build, instance = best(lambda: preflib_instance(table))
    seconds, scores = best(lambda: pairwise_scores(instance))
    return {"build": build, "seconds": seconds, "wins": preflib_wins(scores)}


@task("preflibtools", "read")
def _(folder: Path, name: str) -> dict[str, Any]:
    from preflibtools.instances import OrdinalInstance
    from preflibtools.properties.pairwisecomparisons import pairwise_scores

    def read() -> Any:
        instance = OrdinalInstance()
        instance.parse_file(str(folder / name))
        return instance

    first, _ = once(read)
    reading, _ = best(read)
    both, scores = best(lambda: pairwise_scores(read()))
    return {"first": first, "reading": reading, "seconds": both, "wins": preflib_wins(scores)}


@task("preflibtools", "borda")
def _(folder: Path, name: str) -> dict[str, Any]:
    from preflibtools.properties.pairwisecomparisons import borda_scores

    table = orders(folder, name)
    build, instance = best(lambda: preflib_instance(table))
    seconds, scores = best(lambda: borda_scores(instance))
    return {"build": build, "seconds": seconds, "order": by_score(scores)}


@task("preflibtools", "kendall")
def _(folder: Path, name: str) -> dict[str, Any]:
    from preflibtools.properties.distances import kendall_tau_distance

    a, b = (np.argsort(np.atleast_2d(table)).tolist() for table in np.load(folder / f"{name}.npy"))
    pairs = [(tuple(x), tuple(y)) for x, y in zip(a, b, strict=True)]
    seconds, shares = best(lambda: [kendall_tau_distance(x, y, normalise=True) for x, y in pairs], warm=False)
    return {"seconds": seconds, "distance": float(np.mean(shares))}


# choix and scipy: only distances have a counterpart


@task("choix", "kendall")
def _(folder: Path, name: str) -> dict[str, Any]:
    from choix import kendalltau_dist

    a, b = (np.atleast_2d(table).astype(float) for table in np.load(folder / f"{name}.npy"))
    seconds, counts = best(lambda: [kendalltau_dist(x, y) for x, y in zip(a, b, strict=True)])
    n = a.shape[1]
    return {"seconds": seconds, "distance": float(np.mean(counts)) / (n * (n - 1) / 2)}


@task("scipy", "kendall")
def _(folder: Path, name: str) -> dict[str, Any]:
    from scipy.stats import kendalltau

    a, b = (np.atleast_2d(table) for table in np.load(folder / f"{name}.npy"))

    def distances() -> list[float]:
        # The p-value comes with it; the normal approximation is the cheap way to one.
        return [(1 - kendalltau(x, y, method="asymptotic").statistic) / 2 for x, y in zip(a, b, strict=True)]

    seconds, shares = best(distances)
    return {"seconds": seconds, "distance": float(np.mean(shares))}


def main() -> None:
    package, name, folder, *which = sys.argv[1:]
    result = TASKS[package, name](Path(folder), *which)
    result["version"] = "" if package in ("plain C", "influence") else version(package)
    print("\n" + json.dumps(result))


if __name__ == "__main__":
    main()
