"""The prices of target orders for attacks on Kemeny's median: hot loops, compiled where numba is there.

Items are numbered by their place in the median that is attacked. `need`, `gain` and the like are shares of the votes;
see `holdrank.attacks.kemeny.siege` for what they mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from holdrank.arrays.subsets import order_subsets

PRICED, PRUNED, OPEN, HOPELESS = 0, 1, 2, 3
MOST_ROWS = 60  # of one target's program
_TINY = 1e-12


def solve_rows(
    gain: Any, need: Any, rows: int, cap: Any, cost: Any, basis: Any, full: Any, prices: Any, z: Any,
) -> bool:  # fmt: skip
    """Minimise ``cost @ z`` over ``gain[:rows] @ z >= need[:rows]``, ``0 <= z <= cap``, warm from the last basis.

    The dual simplex method with bound flips, for a handful of rows and many columns. Column ``len(cap) + i`` is the
    surplus of row i. Fills `prices` and `z`; returns False when the rows cannot be met. Costs must not be negative.
    """
    columns = len(cap)
    inverse = np.zeros((rows, rows))
    basic = np.zeros(rows)
    step = np.empty(columns + rows)
    reduced = np.empty(columns + rows)
    for _ in range(50 + 20 * rows):
        if not invert_basis(gain, rows, basis, inverse):
            return True  # numerically stuck: the caller judges the prices it has
        # Prices, and what the basic columns take when the full ones take all they can.
        for i in range(rows):
            total = 0.0
            for at in range(rows):
                if basis[at] < columns:
                    total += cost[basis[at]] * inverse[at, i]
            prices[i] = total
        left = need[:rows].copy()
        for j in range(columns):
            if full[j]:
                for i in range(rows):
                    left[i] -= cap[j] * gain[i, j]
        leaving = -1
        worst = _TINY
        too_large = False
        for at in range(rows):
            value = 0.0
            for i in range(rows):
                value += inverse[at, i] * left[i]
            basic[at] = value
            if -value > worst:
                worst, leaving, too_large = -value, at, False
            if basis[at] < columns and value - cap[basis[at]] > worst:
                worst, leaving, too_large = value - cap[basis[at]], at, True
        if leaving < 0:
            for j in range(columns):
                z[j] = cap[j] if full[j] else 0.0
            for at in range(rows):
                if basis[at] < columns:
                    z[basis[at]] = min(max(basic[at], 0.0), cap[basis[at]])
            return True
        sign = 1.0 if too_large else -1.0
        for j in range(columns):
            step[j] = 0.0
            reduced[j] = cost[j]
        for i in range(rows):
            weight = sign * inverse[leaving, i]
            price = prices[i]
            for j in range(columns):
                step[j] += weight * gain[i, j]
                reduced[j] -= price * gain[i, j]
            step[columns + i] = -weight
            reduced[columns + i] = price
        for at in range(rows):
            step[basis[at]] = 0.0
        # Pass the break points in order: full columns empty, empty ones fill, until the row is met.
        ratio = np.empty(columns + rows)
        slope = 0.0
        reach = np.inf
        for j in range(columns + rows):
            ratio[j] = np.inf
            direction = step[j]
            if j < columns and full[j]:
                direction = -direction
            if direction > 1e-11:
                ratio[j] = abs(reduced[j]) / direction
                reach = min(reach, ratio[j])
        # Widen the window until the break points inside it take up the slope, then sort only those.
        window = max(2 * reach, 1e-9) if reach < np.inf else np.inf
        while True:
            slope = worst
            for j in range(columns + rows):
                if ratio[j] <= window:
                    slope -= abs(step[j]) * cap[j] if j < columns else np.inf
            if slope < 0 or window == np.inf:
                break
            window = window * 4 if window < 1e12 else np.inf
        inside = np.flatnonzero(ratio <= window) if window < np.inf else np.flatnonzero(ratio < np.inf)
        turn = np.argsort(ratio[inside])
        slope = worst
        entering = -1
        for t in range(len(turn)):
            j = inside[turn[t]]
            slope -= abs(step[j]) * cap[j] if j < columns else np.inf
            if slope <= _TINY:
                entering = j
                break
            full[j] = not full[j]
        if entering < 0:
            # Along this ray the bound of the prices rises for ever: believed only if it does.
            for i in range(rows):
                prices[i] = sign * inverse[leaving, i]
            return dual_bound(prices, gain, need, rows, cap, np.zeros(columns)) <= _TINY
        gone = basis[leaving]
        if gone < columns:
            full[gone] = too_large
        basis[leaving] = entering
        if entering < columns:
            full[entering] = False
    return True


def invert_basis(gain: Any, rows: int, basis: Any, inverse: Any) -> bool:
    """Fill `inverse` with that of the basic columns, by Gauss and Jordan; False if it has none, numerically.

    There are as many rows as rivals matter, a handful.
    """
    columns = gain.shape[1]
    matrix = np.zeros((rows, 2 * rows))
    for at in range(rows):
        column = basis[at]
        for i in range(rows):
            if column < columns:
                matrix[i, at] = gain[i, column]
        if column >= columns:
            matrix[column - columns, at] = -1.0
        matrix[at, rows + at] = 1.0
    for at in range(rows):
        pivot = at
        for i in range(at + 1, rows):
            if abs(matrix[i, at]) > abs(matrix[pivot, at]):
                pivot = i
        if abs(matrix[pivot, at]) < 1e-11:
            return False
        if pivot != at:
            for j in range(2 * rows):
                matrix[at, j], matrix[pivot, j] = matrix[pivot, j], matrix[at, j]
        scale = 1.0 / matrix[at, at]
        for j in range(2 * rows):
            matrix[at, j] *= scale
        for i in range(rows):
            if i != at and matrix[i, at] != 0.0:
                factor = matrix[i, at]
                for j in range(2 * rows):
                    matrix[i, j] -= factor * matrix[at, j]
    for i in range(rows):
        for j in range(rows):
            inverse[i, j] = matrix[i, rows + j]
    return True


def dual_bound(prices: Any, gain: Any, need: Any, rows: int, cap: Any, cost: Any) -> float:
    """Return what `solve_rows` minimises at least, by weak duality; negative prices, which prove nothing, become 0."""
    bound = 0.0
    for i in range(rows):
        prices[i] = max(prices[i], 0.0)
        bound += prices[i] * need[i]
    for j in range(len(cap)):
        worth = -cost[j]
        for i in range(rows):
            worth += prices[i] * gain[i, j]
        if worth > 0:
            bound -= worth * cap[j]
    return bound


def improve_order(margin: Any, order: Any) -> float:
    """Move single items of `order` to better places until none gains; return what was gained.

    ``margin[a, b]`` is what the order gains by a before b instead of b before a.
    """
    n = len(order)
    gained = 0.0
    moved = True
    while moved:
        moved = False
        for start in range(n):
            item = order[start]
            best = _TINY
            to = start
            change = 0.0
            for p in range(start + 1, n):
                change += margin[order[p], item]
                if change > best:
                    best, to = change, p
            change = 0.0
            for p in range(start - 1, -1, -1):
                change += margin[item, order[p]]
                if change > best:
                    best, to = change, p
            if to != start:
                if to > start:
                    for p in range(start, to):
                        order[p] = order[p + 1]
                else:
                    for p in range(start, to, -1):
                        order[p] = order[p - 1]
                order[to] = item
                gained += best
                moved = True
    return gained


def best_order(margin: Any, order: Any) -> float:
    """Fill `order` with the best of all orders, by dynamic programming over subsets; return its sum of margins."""
    n = len(margin)
    cost = np.zeros((n, n))
    for a in range(n):
        for b in range(n):
            cost[a, b] = max(margin[b, a], 0.0)
    least = order_subsets(cost)
    rest = (1 << n) - 1
    for p in range(n):
        best, first = np.inf, -1
        for i in range(n):
            if rest >> i & 1:
                total = least[rest ^ (1 << i)]
                for j in range(n):
                    if j != i and rest >> j & 1:
                        total += cost[i, j]
                if total < best - 1e-13:
                    best, first = total, i
        order[p] = first
        rest ^= 1 << first
    gained = 0.0
    for p in range(n):
        for q in range(p + 1, n):
            gained += margin[order[p], order[q]]
    return gained


def add_rival(
    target: Any, rival: Any, ranks: Any, pair: Any, margin: Any, gain: Any, need: Any, row: int, swaps: bool,
    votes: int, slack: float,
) -> None:  # fmt: skip
    """Write the row of a rival order: the target must not lose to it.

    With D the pairs on which both differ, counted +1 where the rival has the smaller number first: ``need = D @
    margin`` and a ballot taken away gains ``D @ its signs``; when the target is put in for it (`swaps`), ``|D|`` more.
    Columns from `votes` on stand for the adding of one battle, pair after pair, or else of the target itself.
    """
    n = len(target)
    columns = gain.shape[1]
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
            total += way * margin[f]
            size += 1
            first, second = ranks[i], ranks[j]
            for s in range(votes):
                says = (first[s] != 0) & (second[s] != 0)
                gain[row, s] += way * (np.int8(first[s] < second[s]) - np.int8(first[s] > second[s])) * says
            if battles:
                gain[row, votes + f] = 1.0
    if swaps:
        for s in range(votes):
            gain[row, s] += size
    elif columns == votes + 1:
        gain[row, votes] = size
    # Rows of like size keep the pivots sound.
    scale = 1.0 / max(size, 1)
    need[row] = total * scale + slack
    for j in range(columns):
        gain[row, j] *= scale


def fill_leads(
    target: Any, ranks: Any, pair: Any, margin: Any, z: Any, swaps: bool, votes: int, slack: float, table: Any,
) -> None:  # fmt: skip
    """Fill `table` with the margins once ``z`` is taken of each column, less the slack by which the target must win."""
    n, columns = len(target), len(z)
    now = margin.copy()
    for s in range(votes):
        if z[s] != 0.0:
            for i in range(n):
                for j in range(i + 1, n):
                    if ranks[i, s] != 0 and ranks[j, s] != 0 and ranks[i, s] != ranks[j, s]:
                        now[pair[i, j]] -= z[s] if ranks[i, s] < ranks[j, s] else -z[s]
    put_in = -slack  # ballots that are the target itself
    if swaps:
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
            table[a, b] = ahead
            table[b, a] = -ahead


def price_orders(
    targets: Any, stops: Any, rivals: Any, ranks: Any, pair: Any, margin: Any, cap: Any, cost: Any, first_row: Any,
    swaps: bool, votes: int, slack: float, exact: bool, values: Any, kinds: Any, taken: Any, rows_out: Any,
) -> None:  # fmt: skip
    """Price each target: the least budget with which it is among the optima, or a bound that reaches its stop.

    Rows are made as they are needed: solve, look for an order that beats the target now, add it as a rival. Bounds
    come from the prices, whatever the state of the simplex, so they hold in any case.

    Parameters
    ----------
    targets : (t, n) array of int
    stops : (t,) array
        A target that costs at least this much is of no interest.
    rivals : (t, r, n) array of int
        First rivals of each target; a line that begins with -1 is none.
    ranks : (n, votes) array of int
        Of each item in each ballot; 0 where it is not compared.
    cap, cost : arrays
        Of the columns: ballots to take away, then ballots to add.
    first_row : (columns,) array
        A row that must not be negative, whatever the target: added battles need as many taken away. Empty for none.
    slack : float
        The target must win against each rival by this much, as a mean over the pairs: 0 for the infimum.
    exact : bool
        Prove by dynamic programming that nothing beats the target; otherwise only local search looks, and a target
        that it cannot beat is OPEN.
    values, kinds, taken : arrays
        Budget or bound, PRICED, PRUNED, OPEN or HOPELESS, and what is taken of each column; `taken` may be empty.
    rows_out : (t, most, n) array
        The rivals used, for whoever goes on from here; may be empty.
    """
    n = targets.shape[1]
    columns = len(cap)
    most = MOST_ROWS
    gain = np.zeros((most, columns))
    need = np.zeros(most)
    basis = np.zeros(most, np.int64)
    full = np.zeros(columns, np.bool_)
    prices = np.zeros(most)
    table = np.zeros((n, n))
    rival = np.empty(n, np.int64)
    z = np.zeros(columns)
    for t in range(len(targets)):
        target = targets[t]
        stop = stops[t]
        rows = 0
        for j in range(columns):
            full[j] = False
            z[j] = 0.0
        if len(first_row):
            for j in range(columns):
                gain[0, j] = first_row[j]
            need[0] = 0.0
            basis[0] = columns
            rows = 1
        for k in range(rivals.shape[1]):
            if rivals[t, k, 0] >= 0 and rows < most:
                add_rival(target, rivals[t, k], ranks, pair, margin, gain, need, rows, swaps, votes, slack)
                basis[rows] = columns + rows
                rows += 1
        kind = OPEN
        value = 0.0
        used = 0
        while True:
            if rows and not solve_rows(gain, need, rows, cap, cost, basis, full, prices, z):
                kind, value = HOPELESS, np.inf
                break
            value = max(value, dual_bound(prices, gain, need, rows, cap, cost))
            if value >= stop:
                kind = PRUNED
                break
            fill_leads(target, ranks, pair, margin, z, swaps, votes, slack, table)
            for p in range(n):
                rival[p] = target[p]
            gained = improve_order(table, rival)
            if gained <= 1e-11:
                if not exact:
                    kind = OPEN
                    break
                here = 0.0
                for p in range(n):
                    for q in range(p + 1, n):
                        here += table[target[p], target[q]]
                gained = (best_order(table, rival) - here) / 2
                if gained <= 1e-11:
                    kind = PRICED
                    break
            if rows >= most:
                kind = OPEN
                break
            add_rival(target, rival, ranks, pair, margin, gain, need, rows, swaps, votes, slack)
            basis[rows] = columns + rows
            if len(rows_out) and used < rows_out.shape[1]:
                for p in range(n):
                    rows_out[t, used, p] = rival[p]
                used += 1
            rows += 1
        values[t] = value
        kinds[t] = kind
        if len(taken):
            for j in range(columns):
                taken[t, j] = z[j]


PARTS = (
    order_subsets, invert_basis, dual_bound, solve_rows, improve_order, best_order, add_rival, fill_leads,
)  # fmt: skip
"""What `price_orders` calls, for `holdrank.arrays.kernels.compiled`."""
