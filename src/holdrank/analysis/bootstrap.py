"""How much of a consensus is chance: a bootstrap draws votes with replacement and ranks each sample."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from hashlib import blake2b
from time import monotonic, perf_counter
from typing import Any

import numpy as np

from holdrank.analysis.sample_rankings import Route, route_of, rows_at_a_time
from holdrank.analysis.sampling import BLOCK, NUMBERS_AT_A_TIME, Stream, drawn_by
from holdrank.errors import UsageError, quote, real_number, show, whole_number
from holdrank.parallel.checkpoints import Keep, opened
from holdrank.parallel.spread import expect_executor, spread
from holdrank.parallel.workers import Parcel
from holdrank.rankings import Floats, Ints, mean_places
from holdrank.rules.consensus import (
    Consensus,
    Statistic,
    StatisticName,
    expect_seconds,
    expect_votes,
    name_of,
)
from holdrank.rules.merges import Robust, ballots_for, consensus_of, settled
from holdrank.rules.registry import auto
from holdrank.status import DRAWS, LEAST_DRAWS, Clock, Status, Step, Tabular
from holdrank.votes.models import Seed, seed_of
from holdrank.votes.votes import Votes
from holdrank.words.numbers import percent
from holdrank.words.results import few_draws_text, place_text

_FIRST_CHUNK, _QUICK, _SLOW = 16, 0.2, 1.0  # draws; seconds for a chunk that should be longer, or shorter


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Bootstrap(Tabular):
    """How a consensus varies over bootstrap samples; arrays are read-only.

    Attributes
    ----------
    items : tuple of str
        Names of the items.
    consensus : Consensus
        Consensus of the original votes.
    statistic : StatisticName
        Name of the rule.
    draws : int
        Number of draws that were ranked.
    level : float
        Minimum share of the draws inside each interval.
    best, median, worst : array of float
        For each item, the ends of the interval of its place, and its median place. Tied items stand at the mean of
        their places.
    first : array of float
        For each item, the share of the draws in which it is first, alone or tied.
    above : array of float
        ``above[i, j]``: share of the draws in which item i stands above item j.
    stability : array of float
        ``stability[i, j]``: share of the draws in which the pair has the order, or the tie, of the consensus.
    unchanged : float
        Share of the draws with exactly the ranking of the consensus.
    ranks : array of int
        The distinct rankings of the draws, one per row, most frequent first.
    counts : array of int
        How many draws gave each of them.
    unproved : int
        Number of draws whose ranking is the best found, but not proven optimal.
    by : str or None
        The column whose groups of votes were drawn; None for single votes.
    status : Status
        Whether all draws were made.
    seed : int
        `rng=seed` repeats the draws.
    seconds : float
        Time taken.
    """

    items: tuple[str, ...]
    consensus: Consensus
    statistic: StatisticName
    draws: int
    level: float
    best: Floats
    median: Floats
    worst: Floats
    first: Floats
    above: Floats
    stability: Floats
    unchanged: float
    ranks: Ints
    counts: Ints
    unproved: int
    by: str | None
    status: Status
    seed: int
    seconds: float

    def __post_init__(self) -> None:
        for name in ("best", "median", "worst", "first", "above", "stability", "ranks", "counts"):
            getattr(self, name).flags.writeable = False

    def text(self) -> str:
        """Return the intervals as text, one item per line, in the order of the consensus."""
        ranking = self.consensus.ranking
        if self.draws < LEAST_DRAWS:
            return "\n".join([few_draws_text(self.draws), *(show(self.items[i]) for i in ranking.order)])
        rows = [
            place_text(self.items[i], ranking.places[i], self.best[i], self.worst[i], self.first[i])
            for i in ranking.order
        ]
        return "\n".join([f"ranks, with {percent(self.level)} bootstrap intervals ({self.draws:,} samples)", *rows])

    def __repr__(self) -> str:
        return (
            f"Bootstrap({self.statistic}, {self.draws} draws, {len(self.counts)} distinct rankings, "
            f"unchanged={self.unchanged:.4g}, seed={self.seed})"
        )


def bootstrap(
    votes: Votes,
    T: Statistic = auto,
    *,
    draws: int = DRAWS,
    level: float = 0.95,
    by: str | None = None,
    time_limit: float | None = None,
    rng: Seed = None,
    progress: Callable[[Step], None] | None = None,
    executor: Executor | None = None,
    checkpoint: Keep = None,
) -> Bootstrap:
    """Return bootstrap intervals of the ranks, and how stable each pair is.

    Parameters
    ----------
    votes : Votes
        Votes with whole weights; each draw has as many votes.
    T : Statistic
        The rule; by default `auto`, which is `bradley_terry` for battles and `kemeny` for all other votes.
        `kemeny`, `copeland`, `bradley_terry`, `borda`, `footrule` and `Robust` of these rank many draws at once; any
        other statistic is called for each.
    draws : int
        Number of bootstrap samples. Intervals need 200; with fewer, `text` shows none.
    level : float
        Share of the draws inside each interval of places, with as many left out above as below.
    by : str, optional
        Column of the groups to draw instead of single votes: all votes of a voter, task or category at once, as named
        in ``read_votes(file, by="column")``. Without it, voters who cast many votes make intervals too short.
    time_limit : float, optional
        Time limit in seconds. At the limit, or at Ctrl-C, you get the samples drawn so far, at least one.
    rng : int, Generator or None
        The same seed gives the same draws on every machine; None uses a fresh seed. It is stored as `seed`.
    progress : callable, optional
        Called with a `Step` after every few draws.
    executor : Executor, optional
        Runs samples in parallel: any executor of `concurrent.futures`, `clusters.local` or `clusters.connect`. The
        result is the same, unless a time limit cuts it short.
    checkpoint : path, optional
        File that stores finished blocks of draws. A checkpoint with the same votes, statistic and seed is resumed, also
        for more draws; a user-defined statistic is identified by its name only.

    Notes
    -----
    Ballots are drawn whole, under the same rule for unlisted items, and with their scores where the rule uses them. The
    intervals show sampling noise. For votes that are changed on purpose, use `breakdown`. Every block of 50 samples has
    its own random numbers, from the seed and the number of the block.

    Examples
    --------
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[55, 45])
    >>> b = bootstrap(votes, draws=500, rng=1)
    >>> b.best.tolist(), b.worst.tolist()
    ([1.0, 1.0, 3.0], [2.0, 2.0, 3.0])
    >>> bool(0.7 < b.first[0] < 0.95), b.stability[0, 2].item()
    (True, 1.0)
    """
    started = perf_counter()
    draws, level, time_limit = _checked(votes, T, draws, level, time_limit)
    expect_executor(executor)
    T = settled(T, votes)
    # Groups that are left are drawn, in place of votes.
    votes = ballots_for(T, drawn_by(votes, by))
    seed = seed_of(rng)
    consensus = consensus_of(votes, T, time_limit)
    left = None if time_limit is None else max(time_limit - (perf_counter() - started), 0.0)
    with Clock(left) as clock:
        if consensus.status.is_interrupted:
            clock.interrupted = True
        if executor is None and checkpoint is None:
            tally = _in_one_go(votes, T, draws, seed, clock, progress)
        else:
            tally = _by_blocks(votes, T, draws, seed, clock, progress, executor, checkpoint)
        status = Status.RESAMPLED
        if tally.draws < draws:
            status = Status.RESAMPLED_INTERRUPTED if clock.interrupted else Status.RESAMPLED_TIME_LIMIT
    return _summary(tally, votes, consensus, T, level, status, seed, started)


def _in_one_go(
    votes: Votes, T: Statistic, draws: int, seed: int, clock: Clock, progress: Callable[[Step], None] | None
) -> _Tally:
    """Rank the draws here, many at once."""
    route = route_of(votes, T, clock)
    tally = _Tally(route)
    stream = Stream(votes, seed)
    size, most = _FIRST_CHUNK, rows_at_a_time(votes, route)
    while tally.draws < draws:
        began = monotonic()
        rows = min(size, most, draws - tally.draws)
        if tally.add(stream.take(rows)) < rows or clock.over():
            break
        if progress is not None:
            progress(Step("draws", tally.draws, draws))
        took = monotonic() - began
        size = size * 2 if took < _QUICK else max(size // 2, 1) if took > _SLOW else size
    return tally


def _by_blocks(
    votes: Votes,
    T: Statistic,
    draws: int,
    seed: int,
    clock: Clock,
    progress: Callable[[Step], None] | None,
    executor: Executor | None,
    checkpoint: Keep,
) -> _Tally:
    """Rank the draws block by block, so that workers can share them and a file can keep them."""
    tally = _Tally(None)
    work = {f"{at // BLOCK}: {min(BLOCK, draws - at)}": (T, at // BLOCK, min(BLOCK, draws - at), seed)
            for at in range(0, draws, BLOCK)}  # fmt: skip
    known = {"statistic": described(T), "seed": seed} | ({} if votes.groups is None else {"by": votes.groups.digest})
    with opened(checkpoint, "bootstrap", votes, known) as kept:
        for _, found in spread(_block, work, Parcel(votes), clock, executor=executor, kept=kept):
            tally.join(found)
            if progress is not None:
                progress(Step("draws", tally.draws, draws))
    if not tally.draws:  # the time was over before it began
        tally.join(_block(Parcel(votes), T, 0, 1, seed, Clock(0.0, within=clock))[0])
    return tally


def _block(
    parcel: Parcel[Votes], T: Statistic, block: int, draws: int, seed: int, clock: Clock
) -> tuple[dict[str, Any], bool]:
    """Return the rankings of some draws of a block, as plain data, and whether all were made."""
    votes = parcel.value
    known, route = parcel.desk.get("route", (None, None))
    if route is None or known != T:  # the tables of sums are the same for all blocks
        route = route_of(votes, T, clock)
        parcel.desk["route"] = T, route
    route.obey(clock)
    tally = _Tally(route, insist=not block)
    stream = Stream(votes, seed, block)
    most = rows_at_a_time(votes, route)
    while tally.draws < draws:
        rows = min(most, draws - tally.draws)
        if tally.add(stream.take(rows)) < rows or clock.over():
            break
    return tally.plain(), tally.draws == draws


def described(T: Statistic) -> str:
    """Return the text that identifies a statistic in a checkpoint."""
    if isinstance(T, Robust):
        return f"{T.merge} merge at {T.theta!r} of {described(T.base)}"
    return f"{getattr(T, '__module__', '')}.{getattr(T, '__qualname__', type(T).__qualname__)}"


def _checked(
    votes: Votes, T: object, draws: object, level: object, time_limit: object
) -> tuple[int, float, float | None]:
    """Refuse invalid values; return Python numbers."""
    expect_votes(votes, "bootstrap")
    if not callable(T):
        raise UsageError(f"the statistic must be kemeny, borda, a Robust or another function, not {show(repr(T))}")
    number, share = whole_number(draws), real_number(level)
    if number is None or number < 1:
        raise UsageError(f"draws must be a whole number, 1 or more, not {quote(str(draws))}")
    if share is None or not 0 < share < 1:
        raise UsageError(f"level must be a number between 0 and 1, not {quote(str(level))}")
    seconds = expect_seconds(time_limit)
    if not votes.is_counts:
        raise UsageError(
            "a bootstrap needs the number of votes, and these votes are shares",
            repair="give counts (whole numbers) as weights",
        )
    return number, share, seconds


class _Tally:
    """The distinct rankings of the draws, and their counts; equal sums, identified by a digest, are ranked once."""

    def __init__(self, route: Route | None, *, insist: bool = True) -> None:
        self._route, self._insist = route, insist  # on one draw, no matter how little time there is
        self._number_of: dict[bytes, int] = {}  # by the digest of the sums
        self._proved: dict[bytes, bool] = {}
        self.number: dict[bytes, int] = {}  # by the ranks
        self.ranks: list[Ints] = []
        self.counts: list[int] = []
        self.draws = self.unproved = 0

    def plain(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        ranks = [row.tolist() for row in self.ranks]
        return {"draws": self.draws, "unproved": self.unproved, "ranks": ranks, "counts": list(self.counts)}

    def join(self, other: dict[str, Any]) -> None:
        """Add the draws of another tally."""
        for row, count in zip(other["ranks"], other["counts"], strict=True):
            self.counts[self._numbered(np.asarray(row, dtype=np.int32))] += count
        self.draws += other["draws"]
        self.unproved += other["unproved"]

    def add(self, weights: Ints) -> int:
        """Rank some draws; return how many of them were ranked within the time limit."""
        assert self._route is not None
        sums = np.ascontiguousarray(self._route.sums(weights))
        keys = [blake2b(row, digest_size=16).digest() for row in sums]
        new = {key: at for at, key in reversed(list(enumerate(keys))) if key not in self._number_of}
        todo = sorted(new.values())
        if todo:
            ranked, sure = self._route.ranks(sums if len(todo) == len(sums) else sums[todo])
            for at, ranks, proved in zip(todo, ranked.astype(np.int32), sure.tolist(), strict=False):
                # A ranking that is not proved because the time was over says more about the time than about the draw.
                if not proved and self._route.clock.over() and (self.draws or at or not self._insist):
                    break
                self._number_of[keys[at]] = self._numbered(ranks)
                self._proved[keys[at]] = proved
        for done, key in enumerate(keys):
            if key not in self._number_of:
                return done
            self.counts[self._number_of[key]] += 1
            self.unproved += not self._proved[key]
            self.draws += 1
        return len(keys)

    def _numbered(self, ranks: Ints) -> int:
        number = self.number.setdefault(ranks.tobytes(), len(self.ranks))
        if number == len(self.ranks):
            self.ranks.append(ranks)
            self.counts.append(0)
        return number


def _summary(
    tally: _Tally, votes: Votes, consensus: Consensus, T: Statistic, level: float, status: Status, seed: int,
    started: float,
) -> Bootstrap:  # fmt: skip
    """Return the summary of a tally for items and pairs."""
    ranks, counts = np.array(tally.ranks), np.array(tally.counts)
    common = np.lexsort((*ranks.T[::-1], -counts))
    ranks, counts = ranks[common], counts[common]
    draws, n = tally.draws, votes.n
    places = np.asarray(mean_places(ranks))
    order = np.argsort(places, axis=0, kind="stable")
    up_to = np.cumsum(counts[order], axis=0)
    outside = min(int((1 - level) / 2 * draws + 1e-9), (draws - 1) // 2)

    def place_at(draw: int) -> Floats:
        at = (up_to > draw).argmax(axis=0)
        return np.asarray(places[order[at, np.arange(n)], np.arange(n)])

    above = np.zeros((n, n))
    # Whole numbers add up without rounding in single precision up to here, in half the time.
    exact = np.float32 if draws < 2**24 else np.float64
    for at in range(0, len(ranks), rows := max(1, NUMBERS_AT_A_TIME // n**2)):
        some = ranks[at : at + rows]
        ahead = (some[:, :, None] < some[:, None, :]).reshape(len(some), -1)
        above += (counts[at : at + rows].astype(exact) @ ahead.astype(exact)).reshape(n, n)
    above /= draws
    mine = consensus.ranking.ranks
    kept = np.where(mine[:, None] < mine, above, np.where(mine[:, None] > mine, above.T, 1 - above - above.T))
    same = tally.number.get(mine.astype(np.int32).tobytes())
    return Bootstrap(
        items=votes.items,
        consensus=consensus,
        statistic=name_of(T),
        draws=draws,
        level=float(level),
        best=place_at(outside),
        median=place_at((draws - 1) // 2),
        worst=place_at(draws - 1 - outside),
        first=counts @ (ranks == 1) / draws,
        above=above,
        stability=kept,
        unchanged=0.0 if same is None else tally.counts[same] / draws,
        ranks=ranks,
        counts=counts,
        unproved=tally.unproved,
        by=None if votes.groups is None else votes.groups.of,
        status=status,
        seed=seed,
        seconds=perf_counter() - started,
    )
