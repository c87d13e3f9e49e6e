"""The prices of target orders for attacks on Kemeny's median: the loop is `arrays/loops/pricing.c`.

The price of a target is the minimum budget with which it is among the optima. With z the amount used of each column and
a row for each rival order that must not win, it is a linear program that grows by rows:

    minimise cost @ z   over   gain[r] @ z >= need[r] for each rival r,   0 <= z <= cap
    its dual bound      duals @ need - sum over columns of cap * max(0, duals @ gain - cost)

Items are numbered by their place in the median that is attacked. `need`, `gain` and the like are shares of the votes;
see `holdrank.attacks.kemeny.siege` for what they mean.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from holdrank.arrays.native import call
from holdrank.rankings import Floats, Ints

MOST_ROWS = 60  # of one program


class Outcome(IntEnum):
    """How the pricing of a target ended."""

    PRICED = 0
    """No order beats the target at this price."""
    PRUNED = 1
    """A bound reached the stop."""
    OPEN = 2
    """The value is a bound; more rivals than were searched for, or than fit, may beat the target."""
    HOPELESS = 3
    """No budget is enough."""


class Attacker(NamedTuple):
    """What an attacker may do, as columns: ballots to remove, then what is added.

    Attributes
    ----------
    ranks : (n, ballots) array of int
        Of each item in each ballot that may be removed; 0 where it is not compared.
    pair : (n, n) array of int
        The number of each pair i < j.
    margin : (pairs,) array
        Of i over j.
    cap, cost : (columns,) arrays
        How much there is of each column, and what it costs.
    balance : (columns,) array
        A row that must not be negative for any target: added battles need as many removed. Empty for none.
    swaps : bool
        The target is added for each ballot that is removed. Else columns after the ballots stand for adding one battle,
        pair after pair, or the target itself.
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
        Prices from this value on are not needed.
    rivals : (t, r, n) array of int
        First rivals of each target; a line that begins with -1 is unused.
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
        The rivals used, for a later program; unused lines keep their values.
    """

    values: Floats
    outcomes: Ints
    taken: Floats
    rivals: Ints


def new_prices(targets: int, n: int, columns: int = 0, rivals: int = 48) -> Prices:
    """Return arrays for the prices of a number of targets, with the amounts of the columns if there are any."""
    return Prices(
        np.zeros(targets),
        np.zeros(targets, dtype=np.int64),
        np.zeros((targets if columns else 0, columns)),
        np.full((targets, rivals, n), -1, dtype=np.int64),
    )


def price_orders(attacker: Attacker, targets: Targets, slack: float, exact: bool, prices: Prices) -> None:
    """Price each target: the minimum budget with which it is among the optima, or a bound that reaches its stop.

    Rivals that beat the target join its program one after the other, until none is left, or a bound from the duals
    reaches the stop. Bounds hold in every state of the simplex method.

    Parameters
    ----------
    attacker : Attacker
    targets : Targets
    slack : float
        The target must win against each rival by this much, as a mean over the pairs: 0 for the infimum.
    exact : bool
        Prove by dynamic programming that nothing beats the target; otherwise use local search only, and report a target
        that it cannot beat as OPEN.
    prices : Prices
        Filled.
    """
    ranks, pair, margin, cap, cost, balance, swaps = attacker
    orders, stops, rivals = map(np.ascontiguousarray, targets)
    n, votes = ranks.shape
    call(
        "price_orders", n, votes, len(cap), ranks, pair, margin, cap, cost, balance, len(balance) > 0, swaps,
        len(orders), orders, stops, rivals, rivals.shape[1], slack, exact, MOST_ROWS,
        prices.values, prices.outcomes, prices.taken, len(prices.taken) > 0, prices.rivals, prices.rivals.shape[1],
    )  # fmt: skip
