"""Which voter, task, judge or category decides the result: each is left out in turn, and the rest is ranked again.

Rules that use only pairs need no ballots: the counts of the group are subtracted from those of all votes. Other rules
get the remaining ballots. Nothing is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast

import numpy as np

from holdrank.errors import Message, Option, UsageError, quote
from holdrank.rankings import Floats, Ints, Ranking, hausdorff_ns
from holdrank.rules.consensus import Consensus, Statistic, StatisticName, expect_seconds, expect_votes, name_of
from holdrank.rules.merges import Robust, consensus_of, settled
from holdrank.rules.registry import auto, rule_of
from holdrank.status import Clock, Shown, Status, Step, Tabular
from holdrank.votes.groups import Groups
from holdrank.votes.limits import NUMBERS_AT_A_TIME
from holdrank.votes.memo import close
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes
from holdrank.words.groups import groups_text, left_out_text
from holdrank.words.names import order_text

_TOLD = 5  # groups in the text
_LONGEST = 60  # signs of the name of a ballot
_OR_BALLOTS = Message(", or leave out ballots with ", Option("by", "ballot"))


@dataclass(frozen=True, slots=True)
class LeftOut(Shown):
    """The consensus when one group of votes is left out.

    Attributes
    ----------
    name : str
        The group: a voter, a task, a value of a column.
    votes : float
        Number of votes that it has.
    items : tuple of str
        Names of the items.
    ranking : Ranking
        The consensus of the remaining votes.
    flips : tuple of (str, str)
        Pairs that change their order: the first stood above the second, and now stands below.
    distance : float
        How far the ranking is from that of all votes, from 0 to 1: the share of pairs that flip, and with tiers the
        Hausdorff distance.
    new_winner : bool
        Whether the first place changes.
    unheard : tuple of str
        Items that the remaining votes do not mention; ignore their place.
    status : Status
        How the consensus was obtained.
    """

    name: str
    votes: float
    items: tuple[str, ...]
    ranking: Ranking
    flips: tuple[tuple[str, str], ...]
    distance: float
    new_winner: bool
    unheard: tuple[str, ...]
    status: Status

    @property
    def winners(self) -> tuple[str, ...]:
        """Who comes first: one item, or several that are tied."""
        return tuple(self.items[k] for k in self.ranking.buckets[0])

    @property
    def changes(self) -> bool:
        """Whether the order changes."""
        return self.distance > 0

    def text(self) -> str:
        """Return the effect of leaving the group out, in a sentence."""
        return left_out_text(self.name, self.votes, self.flips, self.winners, self.new_winner)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LeaveOneOut(Tabular):
    """The effect of leaving out each group of votes; made by `leave_one_out`.

    Attributes
    ----------
    by : str
        What forms a group: a column of a score table, a voter, or the named column.
    consensus : Consensus
        The consensus of all votes.
    statistic : StatisticName
        The rule.
    each : tuple of LeftOut
        One for each group, those that change most first; fewer if the time limit was reached.
    groups : int
        Number of groups.
    best, worst : array of int
        The best and the worst place of each item over all of these consensuses, including that of all votes.
    status : Status
        Whether all of them are exact.
    seconds : float
        Time taken.
    """

    by: str
    consensus: Consensus
    statistic: StatisticName
    each: tuple[LeftOut, ...]
    groups: int
    best: Ints
    worst: Ints
    status: Status
    seconds: float

    @property
    def changing(self) -> tuple[LeftOut, ...]:
        """Those that change the order."""
        return tuple(one for one in self.each if one.changes)

    @property
    def deciding(self) -> tuple[str, ...]:
        """The groups without which the first place changes."""
        return tuple(one.name for one in self.each if one.new_winner)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what `rows` hold; the first is `by`, or "group" where another column has that name."""
        others = ("votes", "winner", "new_winner", "flips", "distance", "order")
        return "group" if self.by in others else self.by, *others

    def rows(self, *, most: int | None = None) -> list[dict[str, Any]]:
        """Return the groups as rows, for a data frame or a table; only the first `most`, if given."""
        every = (
            (one.name, one.votes, ", ".join(one.winners), one.new_winner, len(one.flips), one.distance,
             one.ranking.text(one.items)) for one in self.each[:most]
        )  # fmt: skip
        return [dict(zip(self.columns, row, strict=True)) for row in every]

    def text(self) -> str:
        """Return the effects of leaving out groups, one sentence per line."""
        head = groups_text(self.by, len(self.changing), self.deciding, len(self.each))
        return "\n".join([head, *(one.text() for one in self.changing[:_TOLD])])

    def __repr__(self) -> str:
        return f"LeaveOneOut({len(self.changing)} of {len(self.each)} by {self.by!r} change the order)"


def leave_one_out(
    votes: Votes,
    T: Statistic = auto,
    *,
    by: str | None = None,
    time_limit: float | None = None,
    progress: Callable[[Step], None] | None = None,
) -> LeaveOneOut:
    """Return how the consensus changes when each voter, task or category is left out in turn.

    Parameters
    ----------
    votes : Votes
        Votes with at least two groups: the columns of a score table, or the column of battles or ballots named in
        ``read_votes(file, by="column")`` or ``voter="column"``.
    T : Statistic
        The rule.
    by : str, optional
        What to leave out: the groups of the votes (the default), or ``"ballot"`` for a single vote of each distinct
        ballot.
    time_limit : float, optional
        Time limit for all groups, in seconds. At the limit, or at Ctrl-C, you get the groups tried so far.
    progress : callable, optional
        Called with a `Step` before each group.

    Notes
    -----
    All items stay. Items that the remaining votes do not mention are in `LeftOut.unheard`.

    Examples
    --------
    >>> import polars
    >>> from holdrank import borda
    >>> table = polars.DataFrame({"model": ["x", "y", "z"], "maths": [9, 1, 2], "code": [5, 6, 1], "law": [5, 6, 4]})
    >>> print(leave_one_out(Votes.from_scores(table), borda).text())
    Leaving out one column at a time: 1 of 3 changes the order, and 1 changes who comes first: maths.
    Without maths (1 vote), y comes first; 1 pair flips: y above x.
    """
    started = perf_counter()
    expect_votes(votes, "leave_one_out")
    seconds = expect_seconds(time_limit)
    T = settled(T, votes)
    groups = _groups(votes, by)
    with Clock(seconds) as clock:
        before = consensus_of(votes, T, clock.time_limit(len(groups) + 1))
        found = _rankings(votes, T, groups, clock)
        listed = _Listed(votes)
        each: list[LeftOut] = []
        totals = groups.totals.tolist()
        for k, (rows, weights) in enumerate(groups.each()):
            if clock.over():
                break
            if progress is not None:
                progress(Step("groups left out", k, len(groups)))
            ranking, status = next(found)
            unheard = listed.without(rows, weights)
            each.append(_left_out(groups.names[k], totals[k], before, ranking, unheard, status))
        status = next((one.status for one in each if not one.status.is_exact), before.status)
        if len(each) < len(groups):
            status = Status.INTERRUPTED if clock.interrupted else Status.TIME_LIMIT
    places = np.array([before.ranking.places, *(one.ranking.places for one in each)])
    best, worst = places.min(axis=0), places.max(axis=0)
    close(best, worst)
    order = sorted(range(len(each)), key=lambda k: (not each[k].new_winner, -each[k].distance, k))
    return LeaveOneOut(
        by=groups.of,
        consensus=before,
        statistic=name_of(T),
        each=tuple(each[k] for k in order),
        groups=len(groups),
        best=best,
        worst=worst,
        status=status,
        seconds=perf_counter() - started,
    )


def _groups(votes: Votes, by: str | None) -> Groups:
    """Return the groups to leave out, at least two."""
    single = by == "ballot" and (votes.groups is None or votes.groups.of != "ballot")
    known = _ballots(votes) if single else votes.expect_groups(by, otherwise=_OR_BALLOTS)
    if len(known) < 2:
        only = quote(known.names[0], 40) if len(known) else "none"
        raise UsageError(f"leave-one-out needs at least two groups; {quote(known.of, 40)} has only {only}")
    return known


def _ballots(votes: Votes) -> Groups:
    """Return a group for every distinct ballot: one vote of it, or all of it where votes are shares."""
    weights = np.ones(votes.distinct) if votes.is_counts else votes.weights
    names = [
        f"{row + 1}: {order_text(order, votes.items)}"[:_LONGEST] for row, order in enumerate(votes.ballots.orders())
    ]
    return Groups.make("ballot", names, np.arange(votes.distinct), ballot=np.arange(votes.distinct), weight=weights)


def _rankings(votes: Votes, T: Statistic, groups: Groups, clock: Clock) -> Iterator[tuple[Ranking, Status]]:
    """Yield the consensus without each group, and how it was obtained."""
    rule = rule_of(T.base if isinstance(T, Robust) else T)
    # Whole counts are exact; differences of other counts would keep rounding errors of the removed group.
    pairs = rule.of_pairs and votes.is_counts and groups.is_counts and getattr(T, "theta", 0.0) != "auto"
    many = None if isinstance(T, Robust) else rule.of_wins
    rests = _counts_without(votes, groups) if pairs else None
    if rests is not None and many is not None:
        start = votes.wins(), votes.total
        size = max(1, NUMBERS_AT_A_TIME // votes.n**2)
        while block := [rest for _, rest in zip(range(size), rests, strict=False)]:
            wins, totals = (np.array(part) for part in zip(*block, strict=True))
            yield from ((ranking, Status.SORTED) for ranking in many(wins, totals, start))
        return
    left = iter(_votes_without(votes, groups) if rests is None else _as_counts(votes, rests))
    for k, rest in enumerate(left):
        one = consensus_of(cast("Votes", rest), T, clock.time_limit(len(groups) - k))
        yield one.ranking, one.status


def _counts_without(votes: Votes, groups: Groups) -> Iterator[tuple[Floats, float]]:
    """Yield the pairwise wins without each group, and how many votes are left."""
    wins, observed = votes.wins(), votes.observed
    for rows, weights in groups.each():
        yield wins - votes.ballots.take(rows).wins(weights, observed=observed), votes.total - float(weights.sum())


def _as_counts(votes: Votes, rests: Iterator[tuple[Floats, float]]) -> Iterator[PairCounts]:
    for wins, total in rests:
        yield PairCounts.from_wins(wins, votes.items, total=total)


def _votes_without(votes: Votes, groups: Groups) -> Iterator[Votes]:
    """Yield the votes without each group."""
    for rows, weights in groups.each():
        left = votes.weights.copy()
        gone = np.isclose(left[rows], weights, rtol=1e-9, atol=0.0)
        left[rows] = np.where(gone, 0.0, left[rows] - weights)
        yield votes.with_weights(left)


class _Listed:
    """Which items have votes, and which have none without a group."""

    def __init__(self, votes: Votes) -> None:
        self._votes = votes
        self._weights = votes.listed_weights()
        self._slack = 0.0 if votes.is_counts else 1e-9 * votes.total

    def without(self, rows: Ints, weights: Floats) -> tuple[str, ...]:
        """Return the items that have votes, but none without these."""
        left = self._weights - self._votes.ballots.take(rows).listed_weights(weights)
        gone = (left <= self._slack) & (self._weights > self._slack)
        return tuple(self._votes.items[k] for k in np.flatnonzero(gone).tolist())


def _left_out(
    name: str, votes: float, before: Consensus, after: Ranking, unheard: tuple[str, ...], status: Status
) -> LeftOut:
    """Return the effect of leaving out a group, given the consensus of the rest."""
    items, old, new = before.items, before.ranking.ranks, after.ranks
    first, second = np.nonzero((old[:, None] < old) & (new[:, None] > new))
    flips = tuple((items[i], items[j]) for i, j in zip(first.tolist(), second.tolist(), strict=True))
    new_winner = not np.array_equal(old == old.min(), new == new.min())
    distance = hausdorff_ns(before.ranking, after)
    return LeftOut(name, votes, items, after, flips, distance, new_winner, unheard, status)
