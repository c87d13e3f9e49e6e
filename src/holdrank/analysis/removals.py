"""How the order of the others changes without each item; no rule is immune to that, least of all Bradley-Terry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import cast

import numpy as np

from holdrank.errors import UsageError
from holdrank.rankings import Ranking
from holdrank.rules.consensus import Consensus, Statistic, StatisticName, expect_seconds, expect_votes, name_of
from holdrank.rules.merges import consensus_of, settled
from holdrank.rules.registry import rule_of
from holdrank.status import Clock, Shown, Status, Step, Tabular
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes
from holdrank.words.removals import changes_text, removal_text


@dataclass(frozen=True, slots=True)
class Removal(Shown):
    """The consensus of the others when one item is removed.

    Attributes
    ----------
    item : str
        The removed item.
    items : tuple of str
        The others, in the order of the votes.
    ranking : Ranking
        Their consensus.
    flips : tuple of (str, str)
        Pairs that change their order: the first stood above the second, and now stands below.
    new_winner : bool
        Whether the first among the others changes.
    status : Status
        How the consensus was obtained.
    """

    item: str
    items: tuple[str, ...]
    ranking: Ranking
    flips: tuple[tuple[str, str], ...]
    new_winner: bool
    status: Status

    @property
    def winners(self) -> tuple[str, ...]:
        """Who comes first: one item, or several that are tied."""
        return tuple(self.items[k] for k in self.ranking.buckets[0])

    @property
    def changes(self) -> bool:
        """Whether the others change their order."""
        return bool(self.flips) or self.new_winner

    def text(self) -> str:
        """Return the effect of the removal, in a sentence."""
        return removal_text(self.item, self.flips, self.winners, self.new_winner)


@dataclass(frozen=True, slots=True, repr=False)
class Removals(Tabular):
    """The effect of removing each item on the others; made by `removals`.

    Attributes
    ----------
    consensus : Consensus
        The consensus with all items.
    statistic : StatisticName
        The rule.
    each : tuple of Removal
        One for each item, in the order of the votes; fewer if the time limit was reached.
    status : Status
        Whether all of them are exact.
    seconds : float
        Time taken.
    """

    consensus: Consensus
    statistic: StatisticName
    each: tuple[Removal, ...]
    status: Status
    seconds: float

    @property
    def changing(self) -> tuple[Removal, ...]:
        """Those that change the order of the others."""
        return tuple(one for one in self.each if one.changes)

    def text(self) -> str:
        """Return the effects of removals, one sentence per line."""
        head = changes_text(len(self.changing), sum(one.new_winner for one in self.each), len(self.each))
        return "\n".join([head, *(one.text() for one in self.changing)])

    def __repr__(self) -> str:
        return f"Removals({len(self.changing)} of {len(self.each)} change the order of the others, {self.statistic})"


def removals(
    votes: Votes | PairCounts,
    T: Statistic,
    *,
    time_limit: float | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Removals:
    """Return how the order of the others changes when each item is removed in turn.

    An item is removed with all its comparisons, as in ``votes.only(others)``, and the rule runs again on the rest.

    Parameters
    ----------
    votes : Votes or PairCounts
        At least two items.
    T : Statistic
        The rule.
    time_limit : float, optional
        Time limit for all removals, in seconds. At the limit, or at Ctrl-C, you get the items tried so far.
    progress : callable, optional
        Called with a `Step` before each removal.

    Examples
    --------
    >>> from holdrank import bradley_terry
    >>> battles = [["a", "b"]] * 6 + [["b", "a"]] * 5 + [["b", "c"]] * 9 + [["c", "b"]] + [["a", "c"], ["c", "a"]]
    >>> print(removals(Votes.from_orders(battles, unlisted="observed"), bradley_terry).text())
    1 of 3 removals changes the order of the others; 1 changes who comes first.
    Without c, a comes first; 1 pair flips: a above b.
    """
    started = perf_counter()
    expect_votes(votes, "removals", pairs=True)
    seconds = expect_seconds(time_limit)
    T = settled(T, votes)
    if votes.n < 2:
        raise UsageError("removals need at least two items")
    with Clock(seconds) as clock:
        before = consensus_of(cast("Votes", votes), T, clock.time_limit(votes.n + 1))
        many = rule_of(T).without_each
        found = _one_by_one(votes, T, clock) if many is None else ((ranking, before.status) for ranking in many(votes))
        each: list[Removal] = []
        for k in range(votes.n):
            if clock.over():
                break
            if progress is not None:
                progress(Step("removals", k, votes.n))
            each.append(_removal(votes, before.ranking, k, *next(found)))
        status = next((one.status for one in each if not one.status.is_exact), before.status)
        if len(each) < votes.n:
            status = Status.INTERRUPTED if clock.interrupted else Status.TIME_LIMIT
    return Removals(before, name_of(T), tuple(each), status, perf_counter() - started)


def _one_by_one(votes: Votes | PairCounts, T: Statistic, clock: Clock) -> Iterator[tuple[Ranking, Status]]:
    """Yield the consensus of the others when each item is removed, and its status."""
    for k in range(votes.n):
        rest = votes.only([name for i, name in enumerate(votes.items) if i != k])
        one = consensus_of(cast("Votes", rest), T, clock.time_limit(votes.n - k))
        yield one.ranking, one.status


def _removal(votes: Votes | PairCounts, before: Ranking, k: int, after: Ranking, status: Status) -> Removal:
    """Return the effect of removing item k, given the consensus of the others."""
    rest = np.delete(np.arange(votes.n), k)
    items = tuple(votes.items[i] for i in rest)
    old = before.ranks[rest]
    first, second = np.nonzero((old[:, None] < old) & (after.ranks[:, None] > after.ranks))
    flips = tuple((items[i], items[j]) for i, j in zip(first.tolist(), second.tolist(), strict=True))
    new_winner = not np.array_equal(old == old.min(), after.ranks == after.ranks.min())
    return Removal(votes.items[k], items, after, flips, new_winner, status)
