"""The prices of target orders for attacks on Kemeny's median: hot loops, compiled where numba is there.

The price of a target is the least budget with which it is among the optima. With z what is taken of each column and a
row for each rival order that must not win, it is a linear program, one that grows by rows:

    minimise cost @ z   over   gain[r] @ z >= need[r] for each rival r,   0 <= z <= cap
    its dual bound      duals @ need - sum over columns of cap * max(0, duals @ gain - cost)

Items are numbered by their place in the median that is attacked. `need`, `gain` and the like are shares of the votes;
see `holdrank.attacks.kemeny.siege` for what they mean.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from holdrank.arrays.insertions import descend
from holdrank.arrays.subsets import first_order, order_subsets
from holdrank.attacks.kemeny import simplex
from holdrank.attacks.kemeny.simplex import MOST_ROWS, dual_bound, new_tableau, solve_rows
from holdrank.rankings import Floats, Ints

_TINY = 1e-12
_NO_GAIN = 1e-11  # of a rival: it does not beat the target


class Outcome(IntEnum):
    """How the pricing of a target ended."""

    PRICED = 0
    """No order beats the target at this price."""
    PRUNED = 1
    """A bound reached the stop."""
    OPEN = 2
    """The value is a bound; more rivals than were looked for, or than fit, may beat the target."""
    HOPELESS = 3
    """No budget is enough."""


class Attacker(NamedTuple):
    """What an attacker may do, as columns: ballots to take away, then what is put in.

    Attributes
    ----------
    ranks : (n, ballots) array of int
        Of each item in each ballot that may be taken away; 0 where it is not compared.
    pair : (n, n) array of int
        The number of each pair i < j.
    margin : (pairs,) array
        Of i over j.
    cap, cost : (columns,) arrays
        How much there is of each column, and what it costs.
    balance : (columns,) array
        A row that must not be negative, whatever the target: added battles need as many taken away. Empty for none.
    swaps : bool
        The target is put in for each ballot that is taken away. Else columns after the ballots stand for adding one
        battle, pair after pair, or the target itself.
    """

    ranks: Ints
    pair: Ints
    margin: Floats
    cap: Floats
    cost: Floats
    balance: Floats
    swaps: bool


class Targets(NamedTuple):
    """The orders to price.

    Attributes
    ----------
    orders : (t, n) array of int
    stops : (t,) array
        A target that costs at least this much is of no interest.
    rivals : (t, r, n) array of int
        First rivals of each target; a line that begins with -1 is none.
    """

    orders: Ints
    stops: Floats
    rivals: Ints


class Prices(NamedTuple):
    """What the targets cost; filled by `price_orders`.

    Attributes
    ----------
    values : (t,) array
        Budget or bound.
    outcomes : (t,) array of int
        Which of the two, an `Outcome`.
    taken : (t, columns) array
        Of each column; may have no rows.
    rivals : (t, most, n) array
        The rivals used, for whoever goes on from here; lines that are not used stay as they are.
    """

    values: Floats
    outcomes: Ints
    taken: Floats
    rivals: Ints


def new_prices(targets: int, n: int, columns: int = 0, rivals: int = 48) -> Prices:
    """Return room for the prices of so many targets, with what is taken of the columns where there are some."""
    return Prices(
        np.zeros(targets),
        np.zeros(targets, dtype=np.int64),
        np.zeros((targets if columns else 0, columns)),
        np.full((targets, rivals, n), -1, dtype=np.int64),
    )


def price_orders(attacker: Any, targets: Any, slack: float, exact: bool, prices: Any) -> None:
    """Price each target: the least budget with which it is among the optima, or a bound that reaches its stop.

    ::

        for each target:
            rows = the first rivals
            repeat:
                z, duals = the optimum of the program                       (`solve_rows`)
                value = the largest bound that duals proved so far          (`dual_bound`)
                value >= stop: PRUNED
                rival = an order that beats the target after z              (`descend`, `order_subsets`)
                there is none: PRICED
                add a row for the rival                                     (`add_rival`)

    Bounds come from the duals, whatever the state of the simplex method, so they hold in any case.

    Parameters
    ----------
    attacker : Attacker
    targets : Targets
    slack : float
        The target must win against each rival by this much, as a mean over the pairs: 0 for the infimum.
    exact : bool
        Prove by dynamic programming that nothing beats the target; otherwise only local search looks, and a target
        that it cannot beat is OPEN.
    prices : Prices
        Filled.
    """
    n, columns = targets.orders.shape[1], len(attacker.cap)
    tableau = new_tableau(columns)
    margin = np.zeros((n, n))
    rival = np.empty(n, np.int64)
    for t in range(len(targets.orders)):
        target = targets.orders[t]
        rows = only_balance(attacker, tableau)
        for k in range(targets.rivals.shape[1]):
            if targets.rivals[t, k, 0] >= 0 and rows < MOST_ROWS:
                add_rival(attacker, target, targets.rivals[t, k], slack, tableau, rows)
                rows += 1
        value, outcome = 0.0, Outcome.OPEN
        used = 0
        while True:
            if rows and not solve_rows(attacker.cap, attacker.cost, tableau, rows):
                value, outcome = np.inf, Outcome.HOPELESS
                break
            value = max(value, dual_bound(attacker.cap, attacker.cost, tableau, rows))
            if value >= targets.stops[t]:
                outcome = Outcome.PRUNED
                break
            margins_left(attacker, target, tableau.z, slack, margin)
            for p in range(n):
                rival[p] = target[p]
            if descend(margin, rival, _TINY) <= _NO_GAIN:
                if not exact:
                    break
                if cheaper_by(margin, target, rival) <= _NO_GAIN:
                    outcome = Outcome.PRICED
                    break
            if rows >= MOST_ROWS:
                break
            add_rival(attacker, target, rival, slack, tableau, rows)
            rows += 1
            if used < prices.rivals.shape[1]:
                for p in range(n):
                    prices.rivals[t, used, p] = rival[p]
                used += 1
        prices.values[t] = value
        prices.outcomes[t] = outcome
        if len(prices.taken):
            for j in range(columns):
                prices.taken[t, j] = tableau.z[j]


def only_balance(attacker: Any, tableau: Any) -> int:
    """Begin a program without rivals; return how many rows it has: one where added battles need as many taken away."""
    columns = len(attacker.cap)
    for j in range(columns):
        tableau.full[j] = False
        tableau.z[j] = 0.0
    if not len(attacker.balance):
        return 0
    for j in range(columns):
        tableau.gain[0, j] = attacker.balance[j]
    tableau.need[0] = 0.0
    tableau.basis[0] = columns
    return 1


def cheaper_by(margin: Any, target: Any, order: Any) -> float:
    """Fill `order` with the best of all orders, by dynamic programming; return by how much it beats the target."""
    n = len(margin)
    cost = np.zeros((n, n))
    for a in range(n):
        for b in range(n):
            cost[a, b] = max(margin[a, b], 0.0)
    first_order(cost, order_subsets(cost), order)
    here, best = 0.0, 0.0
    for p in range(n):
        for q in range(p + 1, n):
            here -= margin[target[p], target[q]]
            best -= margin[order[p], order[q]]
    return (best - here) / 2


def add_rival(attacker: Any, target: Any, rival: Any, slack: float, tableau: Any, row: int) -> None:
    """Write the row of a rival order, the target must not lose to it, with its surplus in the basis.

    With D the pairs on which both differ, counted +1 where the rival has the smaller number first: ``need = D @
    margin`` and a ballot taken away gains ``D @ its signs``; when the target is put in for it (`swaps`), ``|D|`` more.
    """
    ranks, pair, gain = attacker.ranks, attacker.pair, tableau.gain
    n = len(target)
    votes, columns = ranks.shape[1], gain.shape[1]
    at_target = np.empty(n, np.int64)
    at_rival = np.empty(n, np.int64)
    for p in range(n):
        at_target[target[p]] = p
        at_rival[rival[p]] = p
    for j in range(columns):
        gain[row, j] = 0.0
    total = 0.0
    size = 0
    battles = columns - votes > 1
    for i in range(n):
        for j in range(i + 1, n):
            rival_first = at_rival[i] < at_rival[j]
            if rival_first == (at_target[i] < at_target[j]):
                continue
            f = pair[i, j]
            way = 1.0 if rival_first else -1.0
            total += way * attacker.margin[f]
            size += 1
            first, second = ranks[i], ranks[j]
            for s in range(votes):
                says = (first[s] != 0) & (second[s] != 0)
                gain[row, s] += way * (np.int8(first[s] < second[s]) - np.int8(first[s] > second[s])) * says
            if battles:
                gain[row, votes + f] = 1.0
    if attacker.swaps:
        for s in range(votes):
            gain[row, s] += size
    elif columns == votes + 1:
        gain[row, votes] = size
    # Rows of like size keep the pivots sound.
    scale = 1.0 / max(size, 1)
    tableau.need[row] = total * scale + slack
    for j in range(columns):
        gain[row, j] *= scale
    tableau.basis[row] = columns + row


def margins_left(attacker: Any, target: Any, z: Any, slack: float, margin: Any) -> None:
    """Fill ``margin[a, b]`` with what the votes after an attack have for b over a, which a before b loses.

    The attack takes z of each column. The slack by which the target must win is taken off its leads.
    """
    ranks, pair = attacker.ranks, attacker.pair
    n, votes, columns = len(target), ranks.shape[1], len(z)
    now = attacker.margin.copy()
    for s in range(votes):
        if z[s] != 0.0:
            for i in range(n):
                for j in range(i + 1, n):
                    if ranks[i, s] != 0 and ranks[j, s] != 0 and ranks[i, s] != ranks[j, s]:
                        now[pair[i, j]] -= z[s] if ranks[i, s] < ranks[j, s] else -z[s]
    put_in = -slack  # ballots that are the target itself
    if attacker.swaps:
        put_in += z.sum()
    elif columns == votes + 1:
        put_in += z[votes]
    for p in range(n):
        for q in range(p + 1, n):
            a, b = target[p], target[q]
            f = pair[min(a, b), max(a, b)]
            ahead = (now[f] if a < b else -now[f]) + put_in
            if columns - votes > 1:
                ahead += z[votes + f]
            margin[a, b] = -ahead
            margin[b, a] = ahead


PARTS = (
    order_subsets, first_order, descend, *simplex.PARTS, new_tableau, only_balance, cheaper_by, add_rival,
    margins_left,
)  # fmt: skip
"""What `price_orders` calls, for `holdrank.arrays.kernels.compiled`."""
