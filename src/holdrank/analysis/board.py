"""A leaderboard with the columns that boards publish: places, chance, ratings, tiers and votes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from time import perf_counter

import numpy as np

from holdrank.analysis.bootstrap import bootstrap
from holdrank.attacks.answers import attack
from holdrank.attacks.goals import Above
from holdrank.errors import UsageError, quote
from holdrank.rankings import Floats, Ints
from holdrank.rules.consensus import Consensus, Statistic, StatisticName, expect_seconds, expect_votes, name_of
from holdrank.rules.merges import Robust, consensus_of, settled
from holdrank.rules.registry import auto
from holdrank.status import LEAST_DRAWS, Clock, Status, Step, Tabular
from holdrank.votes.votes import Votes
from holdrank.words.results import few_draws_text, first_so_far

COLUMNS = (
    "rank",
    "rank_ub",
    "rank_lb",
    "model",
    "rating",
    "rating_lower",
    "rating_upper",
    "votes",
    "tier",
    "votes_to_overtake",
)
"""The columns of a leaderboard, in the order in which boards show them."""
_RATED = ("rating", "rating_lower", "rating_upper")
_DECIMALS = 6

Progress = Callable[[Step], None]
Cell = str | int | float | None


@dataclass(frozen=True, slots=True, repr=False)
class Leaderboard(Tabular):
    """A leaderboard, one row per item, best first; made by `leaderboard`.

    Attributes
    ----------
    columns : tuple of str
        The names of the columns, in their order.
    rows : tuple of dict
        The cells of each row by column; None where a number is unknown.
    statistic : StatisticName
        The rule.
    notes : tuple of str
        Remarks, such as which items have no rating, and why.
    status : Status
        That of the consensus, or why cells are empty: a time limit, Ctrl-C.
    seconds : float
        Time taken.
    """

    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Cell], ...]
    statistic: StatisticName
    notes: tuple[str, ...]
    status: Status
    seconds: float

    def __repr__(self) -> str:
        return f"Leaderboard({len(self.rows)} rows, {', '.join(self.columns)})"


def leaderboard(
    votes: Votes,
    T: Statistic = auto,
    *,
    columns: Sequence[str] | None = None,
    draws: int = 200,
    time_limit: float | None = 10.0,
    rng: int = 0,
    progress: Progress | None = None,
) -> Leaderboard:
    """Return a leaderboard with the usual columns: ranks, ratings, intervals, tiers, votes to overtake.

    Parameters
    ----------
    votes : Votes
    T : Statistic
        The rule, without tiers; tiers are a column of the board.
    columns : sequence of str, optional
        The columns, in this order. By default all that the rule has: only `bradley_terry` has ratings.
    draws : int
        Bootstrap samples for `rank_ub` and `rank_lb` where the rule has no ratings.
    time_limit : float, optional
        Time limit in seconds, half of it for the bootstrap. Cells not computed by then, or at Ctrl-C, are left empty.
    rng : int
        Bootstrap seed.
    progress : callable, optional
        Called with a `Step` from time to time, to show progress.

    Notes
    -----
    - `rank`: the place in the consensus. `model`: the name of the item.
    - `rank_ub` and `rank_lb`: the best and the worst place within the confidence interval. With ratings, as LMArena
      counts: `rank_ub` is 1 plus the number of items whose whole confidence interval lies above that of this one, and
      `rank_lb` is the number of items less those whose whole interval lies below. An item without an interval counts
      for neither. Without ratings, the ends of the 95 % bootstrap interval of the place.
    - `rating`, `rating_lower`, `rating_upper`: the Bradley-Terry rating, 400 points per odds of 10 to 1, mean 1000,
      with its 95 % interval.
    - `votes`: how many votes list the item; for battles, how many it fought.
    - `tier`: 1 is best; items of one tier are tied at the threshold that ``theta="auto"`` chooses.
    - `votes_to_overtake`: the number of votes that must change before the next item ranks above this one in every
      optimal ranking, as a proven lower bound. None for the last item, and where nothing is proven.

    Examples
    --------
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    >>> from holdrank import kemeny
    >>> for row in leaderboard(votes, kemeny, columns=["rank", "model", "votes_to_overtake"]).rows:
    ...     print(*row.values())
    1 a 11
    2 b 51
    3 c None
    """
    started = perf_counter()
    expect_votes(votes, "leaderboard")
    seconds = expect_seconds(time_limit)
    T = settled(T, votes)
    if isinstance(T, Robust):
        raise UsageError(
            "leaderboard takes a rule, not tiers; tiers are a column of the board",
            repair="pass the base rule of the tiers",
        )
    with Clock(seconds) as clock:
        found = consensus_of(votes, T, seconds)
        if progress is not None:
            progress(Step("columns", 0, 1, first_so_far(votes.items[found.ranking.order[0]])))
        board = _filled(votes, T, found, _chosen(columns, found, T), draws, rng, clock, progress)
    return replace(board, seconds=perf_counter() - started)


def _filled(
    votes: Votes,
    T: Statistic,
    found: Consensus,
    chosen: tuple[str, ...],
    draws: int,
    rng: int,
    clock: Clock,
    progress: Progress | None,
) -> Leaderboard:
    """Return the board of a consensus, as far as time allows."""
    notes = list(found.notes)
    rated = found.ratings() if found.has_ratings else None
    order = list(found.ranking.order)
    cells: dict[str, Sequence[Cell]] = {"rank": _by_item(np.argsort(order) + 1), "model": votes.items}
    if rated is not None:
        sides = zip(_RATED, (rated.values, rated.lower, rated.upper), strict=True)
        cells |= {name: [_number(value) for value in column.tolist()] for name, column in sides}
    if {"rank_ub", "rank_lb"} & set(chosen):
        if rated is not None:
            ends: Sequence[Floats | Ints] = places_by_intervals(rated.lower, rated.upper)
        else:
            ends = _by_chance(votes, T, draws, rng, clock, progress, notes)
        cells |= {name: _by_item(end) for name, end in zip(("rank_ub", "rank_lb"), ends, strict=True)}
    if "votes" in chosen:
        cells["votes"] = _by_item(votes.listed_weights())
    if "tier" in chosen:
        cells["tier"] = _by_item(Robust(T, theta="auto").merged(votes, found).ranking.ranks)
    if "votes_to_overtake" in chosen:
        cells["votes_to_overtake"] = _to_overtake(votes, T, order, clock, progress)
    rows = tuple({name: cells[name][item] for name in chosen} for item in order)
    notes += rated.notes if rated is not None and set(_RATED) & set(chosen) else ()
    status = Status.INTERRUPTED if clock.interrupted else Status.TIME_LIMIT if clock.over() else found.status
    return Leaderboard(chosen, rows, name_of(T), tuple(notes), status, 0.0)


def _by_chance(
    votes: Votes, T: Statistic, draws: int, rng: int, clock: Clock, progress: Progress | None, notes: list[str]
) -> tuple[Floats, Floats]:
    """Return the ends of the bootstrap intervals of places; NaN, with a note, where there was no time for them."""
    drawn = bootstrap(votes, T, draws=draws, time_limit=clock.time_limit(2), rng=rng, progress=progress)
    if drawn.draws >= LEAST_DRAWS:
        return drawn.best, drawn.worst
    notes.append(few_draws_text(drawn.draws, draws))
    return np.full(votes.n, np.nan), np.full(votes.n, np.nan)


def places_by_intervals(lower: Floats, upper: Floats) -> tuple[Ints, Ints]:
    """Return the best and the worst place of each item by confidence intervals; NaN ends are ignored.

    Examples
    --------
    >>> best, worst = places_by_intervals(np.array([5.0, 4.0, 1.0]), np.array([7.0, 6.0, 2.0]))
    >>> best.tolist(), worst.tolist()
    ([1, 1, 3], [2, 2, 3])
    """
    above = (lower[None, :] > upper[:, None]).sum(axis=1)
    below = (upper[None, :] < lower[:, None]).sum(axis=1)
    return 1 + above, len(lower) - below


def _chosen(columns: Sequence[str] | None, found: Consensus, T: Statistic) -> tuple[str, ...]:
    """Return the columns to show: those requested, else all that the rule has."""
    if columns is None:
        return tuple(name for name in COLUMNS if found.has_ratings or name not in _RATED)
    names = [columns] if isinstance(columns, str) else list(columns)
    for k, name in enumerate(names):
        if name not in COLUMNS:
            known = f"choose from {', '.join(COLUMNS)}"
            raise UsageError(f"a leaderboard has no column {quote(str(name), 40)}", repair=known)
        if name in names[:k]:
            raise UsageError(f"column {quote(name)} is listed twice", repair="list each column once")
        if name in _RATED and not found.has_ratings:
            repair = "leave the column out, or use the rule bradley-terry"
            raise UsageError(f"{name_of(T)} has no ratings, so there is no column {quote(name)}", repair=repair)
    if not names:
        raise UsageError("a leaderboard needs at least one column")
    return tuple(names)


def _to_overtake(
    votes: Votes, T: Statistic, order: Sequence[int], clock: Clock, progress: Progress | None
) -> list[Cell]:
    """Return for each item a proven number of votes that must change before the next one ranks above it."""
    cells: list[Cell] = [None] * votes.n
    if not votes.is_counts:
        return cells
    for k, (item, following) in enumerate(pairwise(order)):
        if clock.over():
            break
        if progress is not None:
            progress(Step("votes to overtake", k, len(order) - 1))
        goal = Above(votes.items[following], votes.items[item])
        least = attack(votes, T, goal, time_limit=clock.time_limit(len(order) - 1 - k)).votes_to_decide
        cells[item] = int(least) if 0 < least < np.inf else None
    return cells


def _by_item(column: Floats | Ints) -> list[Cell]:
    return [_number(value) for value in column.tolist()]


def _number(value: float) -> Cell:
    """Return a number as plain data: whole numbers as int, others with few decimals, NaN as None."""
    if not np.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else round(float(value), _DECIMALS)
