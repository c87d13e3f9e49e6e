"""What all Kemeny rankings of votes share, where several are optimal."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from holdrank.rankings import Ranking
from holdrank.rules.consensus import Consensus, expect_seconds, expect_votes, kemeny
from holdrank.rules.kemeny.optima import shared
from holdrank.status import Clock, Shown, Status
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes
from holdrank.words.optima import count_text, pairs_text, shared_text


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SharedOrder(Shown):
    """What all optimal rankings share: a partial order, each pair of it certified.

    Attributes
    ----------
    ranking : Ranking
        One of the optimal rankings, the one that `kemeny` reports.
    items : tuple of str
        Names of the items.
    above : array of bool
        ``above[i, j]``: whether item i ranks above item j in every optimal ranking (proven).
    differ : array of bool
        ``differ[i, j]``: whether i ranks above j in one known optimal ranking and below it in another.
    fewest, most : int, int or None
        Certified bounds on the number of optimal rankings; equal where they were counted, None where no upper bound is
        known.
    status : Status
        Whether the ranking is proven optimal. Pairs are certified even if it is not.
    seconds : float
        Time taken.
    """

    ranking: Ranking
    items: tuple[str, ...]
    above: npt.NDArray[np.bool_]
    differ: npt.NDArray[np.bool_]
    fewest: int
    most: int | None
    status: Status
    seconds: float

    def __post_init__(self) -> None:
        self.above.flags.writeable = self.differ.flags.writeable = False

    @property
    def undecided(self) -> npt.NDArray[np.bool_]:
        """Pairs for which neither is known."""
        return ~(self.above | self.above.T | self.differ | np.eye(len(self.items), dtype=bool))

    @property
    def groups(self) -> list[tuple[int, ...]]:
        """The items in the order of `ranking`, cut wherever all items above the cut are certainly above all below it.

        An item alone in its group has the same place in every optimal ranking.
        """
        order = np.array(self.ranking.order)
        loose = ~self.above[np.ix_(order, order)]
        n = len(order)
        # The last place that could still change with each one, and with all before it.
        last = np.array([k + int(np.flatnonzero(loose[k, k:]).max(initial=0)) for k in range(n)])
        ends = np.flatnonzero(np.maximum.accumulate(last) <= np.arange(n)) + 1
        return [tuple(int(i) for i in group) for group in np.split(order, ends[:-1])] if n else []

    @property
    def first(self) -> npt.NDArray[np.int64]:
        """A bound on the best place of each item in any optimal ranking."""
        better: npt.NDArray[np.int64] = self.above.sum(axis=0, dtype=np.int64)
        return 1 + better

    @property
    def last(self) -> npt.NDArray[np.int64]:
        """A bound on the worst place of each item in any optimal ranking."""
        worse: npt.NDArray[np.int64] = self.above.sum(axis=1, dtype=np.int64)
        return len(self.items) - worse

    def facts(self) -> dict[str, Any]:
        """Return all but the pairs as plain data; counts beyond 2**53 are given as a lower bound of that."""
        pairs = len(self.items) * (len(self.items) - 1) // 2
        same, differ = int(self.above.sum()), int(self.differ.sum()) // 2
        largest = 2**53
        return {
            "fewest": min(self.fewest, largest),
            "most": self.most if self.most is not None and self.most <= largest else None,
            "same": same,
            "differ": differ,
            "undecided": pairs - same - differ,
            "groups": [list(group) for group in self.groups],
            "first": self.first.tolist(),
            "last": self.last.tolist(),
        }

    def text(self) -> str:
        """Return the shared order on one line, the number of optima, and how many pairs they agree on."""
        facts = self.facts()
        return f"{shared_text(self.groups, self.items)}\n{count_text(facts)} {pairs_text(facts)}"

    def __repr__(self) -> str:
        facts = self.facts()
        return f"SharedOrder({len(self.items)} items: {count_text(facts)} {pairs_text(facts)})"


def shared_order(votes: Votes | PairCounts, *, time_limit: float | None = None) -> SharedOrder:
    """Return what all optimal Kemeny rankings share, and how many there are.

    Parameters
    ----------
    votes : Votes or PairCounts
    time_limit : float, optional
        Time limit in seconds. At the limit, or at Ctrl-C, you get what is proved by then.

    Notes
    -----
    Where the components of the majority relation have at most 16 items, the answer is exact: no pair is undecided, and
    the optimal rankings are counted. In larger components, dual weights prove pairs that no optimal ranking reverses,
    and rankings of the same cost show pairs that differ; both are certified, other pairs stay undecided.

    Examples
    --------
    >>> votes = Votes.from_orders([["a", "b", "c", "d"], ["b", "a", "c", "d"]])
    >>> found = shared_order(votes)
    >>> print(found.text())
    {a, b} > c > d
    2 rankings are optimal. 5 of 6 pairs (83.3 %) stand in the same order in all of them; 1 pair differs.
    >>> found.first.tolist(), found.last.tolist()
    ([1, 1, 3, 4], [2, 2, 3, 4])
    """
    expect_votes(votes, "shared_order", pairs=True)
    with Clock(expect_seconds(time_limit)) as clock:
        return shared_by(votes, kemeny(votes, time_limit=None if time_limit is None else time_limit / 2), clock)


def shared_by(votes: Votes | PairCounts, consensus: Consensus, clock: Clock) -> SharedOrder:
    """Return what all optimal rankings share, given the Kemeny consensus of the votes."""
    started = perf_counter()
    proved = consensus.status is Status.PROVED
    order = np.array(consensus.ranking.order, dtype=np.int64)
    found = shared(votes.wins().T, order, proved=proved, whole=votes.is_counts, clock=clock)
    seconds = consensus.seconds + perf_counter() - started
    return SharedOrder(
        consensus.ranking, consensus.items, found.above, found.differ, found.fewest, found.most, consensus.status,
        seconds,
    )  # fmt: skip


def shared_facts(votes: Votes, rule: str, consensus: Consensus, seconds: float | None) -> dict[str, Any] | None:
    """Return what all optimal rankings share as plain data; None for other rules, and for a unique optimum."""
    if rule != "kemeny" or votes.n < 2 or consensus.unique is True:
        return None
    with Clock(seconds) as clock:
        return shared_by(votes, consensus, clock).facts()
