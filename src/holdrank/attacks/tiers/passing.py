"""Lower bounds on the ranking below tiers listing items in some order: prices of pairs, chains of neighbours.

Kemeny's median wins or ties every pair of neighbours. So if it lists b above a, each step down from b to a has its
price, and if a block of items stands above another one, some item is the last of the first block and some item the
first of the second. Borda's order has a price for every pair.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import combinations, pairwise, permutations

import numpy as np

from holdrank.arrays.tolerances import SAME
from holdrank.attacks.tiers.cells import Rows, Score, items_of
from holdrank.attacks.tiers.conditions import SAFE
from holdrank.rankings import Floats

_MOST = 32  # items whose blocks are examined


class OrderPrices:
    """Prices of orders, as shares of the votes.

    Parameters
    ----------
    rows : Rows
    goal : Score
    late : callable
        Whether the time for slow steps is over; skipping them keeps bounds valid.

    Attributes
    ----------
    direct : (n, n) array
        At [b, a] a lower bound on b standing directly above a.
    passing : (n, n) array
        The same for any place above.
    """

    def __init__(self, rows: Rows, goal: Score, late: Callable[[], bool]) -> None:
        self.rows, self.goal, self._late = rows, goal, late
        self.n = rows.pairs.n
        pairs = rows.pairs
        self._margins = np.zeros((self.n, self.n))
        self._margins[pairs.first, pairs.second], self._margins[pairs.second, pairs.first] = pairs.margin, -pairs.margin
        self.direct = self._neighbours()
        self.passing = _chains(self.direct) if rows.base == "kemeny" else self.direct
        self._ends: dict[int, tuple[list[int], Floats, Floats]] = {}
        self._between: dict[tuple[int, int], float] = {}
        self._beginnings: dict[tuple[int, ...], tuple[float, float]] = {}  # the budget, and the bound for it
        self._steps: dict[int, tuple[list[float], list[int]]] = {}
        # Most ballots that leave some items out say little about many pairs: which items to move is a guess.
        self._pull = pairs.change.pull if pairs.speaks is None else 0.7 * pairs.change.pull

    def _neighbours(self) -> Floats:
        prices = np.zeros((self.n, self.n))
        todo: Iterable[tuple[int, int]] = permutations(range(self.n), 2)
        if self.rows.base == "kemeny":
            # One pair: every vote against it moves the margin by the whole pull, and there are enough of them.
            change = self.rows.pairs.change
            prices = np.maximum(self._margins.T / change.pull - SAFE, 0.0)
            todo = []
            if not change.puts:  # perhaps no vote is for it
                todo = zip(*(part.tolist() for part in np.nonzero(self._margins.T > 1 - SAME)), strict=True)
        elif self.rows.base != "borda":
            todo = []
        for b, a in todo:
            if self._late():
                return np.zeros_like(prices)  # the rest is unknown, and so are the chains
            kemeny = self.rows.base == "kemeny"
            row = self.rows.order(((1 << b, 1 << a),)) if kemeny else self.rows.scores(b, a)
            prices[b, a] = self.rows.single(row)
        return prices

    def of_blocks(self, blocks: list[int]) -> float:
        """Return a budget below which the ranking does not list these blocks of items in this order."""
        if self.n > _MOST or self.rows.base == "other":
            return 0.0
        return max((self._border(above, below) for above, below in pairwise(blocks)), default=0.0)

    def of_beginning(self, blocks: list[int], rest: int, budget: float) -> float:
        """Return a budget, at most the one given, below which Kemeny's median does not list these blocks first.

        Let A be the last few blocks and B some items of the rest. Moving B up, to before A, must not pay: B may win no
        more against A than it loses to the items that it overtakes in the rest. Which these are is unknown; at most,
        they are all that can beat an item of B after a change within the budget.
        """
        if self.rows.base != "kemeny" or not (blocks and rest and math.isfinite(budget)):
            return 0.0
        key = (*blocks, rest)
        if self._beginnings.get(key, (0.0, 0.0))[0] != budget:
            self._beginnings[key] = budget, self._of_beginning(blocks, rest, budget)
        return self._beginnings[key][1]

    def _of_beginning(self, blocks: list[int], rest: int, budget: float) -> float:
        below = items_of(rest)
        wins = self._margins[below]
        # At [r, b], what b may lose to r.
        lost = np.maximum(0.0, self.rows.pairs.change.pull * budget - wins[:, below].T)
        np.fill_diagonal(lost, 0.0)
        of_block = np.array([wins[:, items_of(block)].sum(axis=1) for block in reversed(blocks)])
        sizes = np.cumsum([block.bit_count() for block in reversed(blocks)])[:, None]
        room = self._pull * budget * sizes
        won = np.cumsum(of_block, axis=0)
        moved = won > room
        for _ in range(2):
            moved &= won > room + (~moved).astype(np.float64) @ lost
        spare = (((~moved).astype(np.float64) @ lost) * moved).sum(axis=1)
        gain = (won * moved).sum(axis=1) - spare
        price = gain / (sizes[:, 0] * np.maximum(moved.sum(axis=1), 1))
        best = int(price.argmax())
        if gain[best] <= 0:
            return 0.0
        above = sum(blocks[len(blocks) - 1 - best :])
        up = sum(1 << item for item, goes in zip(below, moved[best].tolist(), strict=True) if goes)
        return min(self.rows.pairs.single(self.rows.order(((above, up),)), float(spare[best])), budget)

    def _border(self, above: int, below: int) -> float:
        key = above, below
        if key not in self._between:
            upper, _, last = self._inside(above)
            lower, first, _ = self._inside(below)
            prices = self.direct[np.ix_(upper, lower)]
            if self.rows.base == "kemeny":
                price = float(np.maximum(prices, np.maximum(last[:, None], first)).min())
            else:
                price = float(prices.max())
            self._between[key] = price
        return self._between[key]

    def _inside(self, block: int) -> tuple[list[int], Floats, Floats]:
        """Return the items of a block, and lower bounds on each being the first and the last of them."""
        if block not in self._ends:
            items = items_of(block)
            chains = _chains(self.direct[np.ix_(items, items)])
            self._ends[block] = items, np.asarray(chains.max(axis=1)), np.asarray(chains.max(axis=0))
        return self._ends[block]

    def to_score(self, rest: int, missing: int) -> float:
        """Return a budget below which the order of `rest` cannot reach this score: every pair has its own price."""
        if rest not in self._steps:
            steps: list[tuple[float, int]] = []
            for p, (i, j) in enumerate(combinations(range(self.n), 2)):
                if self._late():
                    return 0.0
                steps += self._pair_steps(p, i, j) if rest >> i & rest >> j & 1 else []
            steps.sort()
            self._steps[rest] = [price for price, _ in steps], np.cumsum([gain for _, gain in steps]).tolist()
        prices, gains = self._steps[rest]
        at = bisect_left(gains, missing)
        return prices[at] if at < len(prices) else math.inf

    def _pair_steps(self, p: int, i: int, j: int) -> list[tuple[float, int]]:
        """Return (budget, score) of what may happen to a pair."""
        if not self.goal.distance:
            return [(0.0, 1)]
        if self.goal.ranks[i] > self.goal.ranks[j]:
            i, j = j, i
        if self.goal.ranks[i] == self.goal.ranks[j]:
            return [] if self.goal.free else [(0.0, 1)]
        tie = self.rows.single(self.rows.tie(p, self.rows.pairs.sign(i, j)[1])) if self.rows.ties else math.inf
        either = min(tie, float(self.passing[j, i]))
        if self.goal.free:
            return [(either, 2)]
        return [(either, 1), (float(self.passing[j, i]), 1)]


def _chains(prices: Floats) -> Floats:
    """Return the price of the cheapest chain of neighbours between two items: that of its most expensive step."""
    chains = prices.copy()
    for c in range(len(prices)):
        chains = np.minimum(chains, np.maximum(chains[:, c : c + 1], chains[c]))
    return chains
