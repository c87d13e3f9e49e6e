"""Brute force straight from the definitions: slow, short, and free of any engine of holdrank.

Rankings are lists of ranks (1 best, equal = tied); orders are best-first tuples; ballots use 0 for unlisted.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, combinations_with_replacement, pairwise, permutations, product
from math import isclose

import numpy as np


def extensions(ranks):
    """All strict orders that break the ties of `ranks`."""
    n = len(ranks)
    return [o for o in permutations(range(n)) if all(ranks[a] <= ranks[b] for a, b in pairwise(o))]


def discordant(order_a, order_b):
    """Number of pairs that two strict orders list differently."""
    a, b = inverse(order_a), inverse(order_b)
    return sum((a[i] < a[j]) != (b[i] < b[j]) for i, j in combinations(range(len(a)), 2))


def inverse(order):
    place = [0] * len(order)
    for at, item in enumerate(order):
        place[item] = at
    return place


def pairs(n):
    return max(n * (n - 1) // 2, 1)


def hausdorff_ns(ranks_a, ranks_b):
    """max over ways to break b of min over ways to break a of the share of discordant pairs."""
    return max(
        min(discordant(a, b) for a in extensions(ranks_a)) for b in extensions(ranks_b)
    ) / pairs(len(ranks_a))  # fmt: skip


def is_stricter(ranks_a, ranks_b):
    """Whether every way to break the ties of a also breaks those of b."""
    return set(extensions(ranks_a)) <= set(extensions(ranks_b))


def mean_places(ranks):
    """Mean place of each item over all ways to break the ties."""
    ways = [inverse(order) for order in extensions(ranks)]
    return [sum(way[i] for way in ways) / len(ways) + 1 for i in range(len(ranks))]


def weak_orders(n):
    """All vectors of dense ranks."""
    return [r for r in product(range(1, n + 1), repeat=n) if set(r) == set(range(1, max(r) + 1))]


def wins(ballots, weights, unlisted):
    """W[i][j]: weight of ballots with i above j, ties half, unlisted by the rule."""
    n = len(ballots[0])
    matrix = [[0.0] * n for _ in range(n)]
    for ballot, weight in zip(ballots, weights, strict=True):
        for i, j in permutations(range(n), 2):
            a, b = ballot[i], ballot[j]
            if unlisted == "observed" and not (a and b):
                continue
            a, b = a or n + 1000, b or n + 1000
            matrix[i][j] += weight * (a < b) + weight / 2 * (a == b)
    return matrix


def kemeny(matrix):
    """Least cost over all orders and every order that attains it."""
    n = len(matrix)
    cost = {o: sum(matrix[o[b]][o[a]] for a, b in combinations(range(n), 2)) for o in permutations(range(n))}
    least = min(cost.values())
    return least, [order for order, value in cost.items() if isclose(value, least, rel_tol=1e-12, abs_tol=1e-12)]


@cache
def _every_order(n):
    """For all orders of n items, which of the pairs i < j come in that order; one row an order."""
    place = np.argsort(np.array(list(permutations(range(n)))), axis=1)
    i, j = np.triu_indices(n, 1)
    return (place[:, i] < place[:, j]).astype(float)


def kemeny_at_once(matrix, tolerance=0.0):
    """The least cost over all orders, and how many attain it; for more items than `kemeny` has patience for."""
    i, j = np.triu_indices(len(matrix), 1)
    costs = _every_order(len(matrix)) @ (matrix[j, i] - matrix[i, j]) + matrix[i, j].sum()
    return costs.min(), int((costs <= costs.min() + tolerance).sum())


def footrule(places, weights):
    """Least expected sum of |place - mean place| over all orders, and every order that attains it."""
    n = len(places[0])
    cost = {
        order: sum(
            w * sum(abs(inverse(order)[i] + 1 - p[i]) for i in range(n)) for p, w in zip(places, weights, strict=True)
        )
        for order in permutations(range(n))
    }
    least = min(cost.values())
    return least / sum(weights), [o for o, value in cost.items() if isclose(value, least, rel_tol=1e-11, abs_tol=1e-11)]


def merge(P, buckets, theta, *, downward):
    """The loops of the paper's Algorithms 1 and 2, with the rule for equal maxima."""
    dev = [[round(abs(P[i][j] - P[j][i]) / 2, 12) for j in range(len(P))] for i in range(len(P))]
    theta = round(theta, 12)
    buckets = [list(bucket) for bucket in buckets]
    while True:
        found = []
        for i, j in combinations(range(len(buckets)), 2):
            union = [item for bucket in buckets[i : j + 1] for item in bucket]
            strongest = max(dev[a][b] for a in union for b in union)
            if strongest <= theta:
                between = combinations(range(i, j + 1), 2)
                across = sorted((dev[a][b] for s, t in between for a in buckets[s] for b in buckets[t]), reverse=True)
                found.append(((strongest, across), i, j))
        if not found:
            return [sorted(bucket) for bucket in buckets]
        wanted = (max if downward else min)(key for key, _, _ in found)
        i, j = min((i, j) for key, i, j in found if key == wanted)
        buckets[i : j + 1] = [[item for bucket in buckets[i : j + 1] for item in bucket]]


def margins(P):
    """P - 1/2 as lists, to twelve decimals."""
    return [[round((P[i][j] - P[j][i]) / 2, 12) for j in range(len(P))] for i in range(len(P))]


def smith_merge(P, buckets, theta):
    """Neighbouring buckets stay apart where every item above the border beats every item below by more than theta."""
    lead, theta = margins(P), round(theta, 12)
    merged = []
    for k, bucket in enumerate(buckets):
        above, below = [i for b in buckets[:k] for i in b], [j for b in buckets[k:] for j in b]
        if all(lead[i][j] > theta for i in above for j in below) or not merged:
            merged.append([])
        merged[-1] += bucket
    return [sorted(bucket) for bucket in merged]


def dominating_tiers(P, theta):
    """The smallest set of which every item beats all others by more than theta, then that of the rest, and so on."""
    lead, theta = margins(P), round(theta, 12)
    left, tiers = set(range(len(P))), []
    while left:
        sets = (set(s) for size in range(1, len(left) + 1) for s in combinations(sorted(left), size))
        tier = next(s for s in sets if all(lead[i][j] > theta for i in s for j in left - s))
        tiers.append(sorted(tier))
        left -= tier
    return tiers


# Breakdown functions of medians, from their definitions.


def rank_distance(kind, order_a, order_b):
    """Kendall in pairs, Spearman's rho and footrule as plain sums over the items."""
    if kind == "kendall":
        return discordant(order_a, order_b)
    power = {"spearman_rho": 2, "footrule": 1}[kind]
    return sum(abs(a - b) ** power for a, b in zip(inverse(order_a), inverse(order_b), strict=True))


@cache
def distance_table(kind, n):
    orders = list(permutations(range(n)))
    return np.array([[rank_distance(kind, a, b) for b in orders] for a in orders], dtype=float)


@cache
def metric_table(name, n):
    """All distances of a metric, in the order of `permutations`: sums over items, or the cheapest way step by step."""
    orders = list(permutations(range(n)))
    if name in ("kendall", "spearman_rho", "footrule"):
        return distance_table(name, n)
    if name == "hamming":
        return np.array([[sum(x != y for x, y in zip(a, b, strict=True)) for b in orders] for a in orders], dtype=float)
    ways = np.full((len(orders), len(orders)), np.inf)
    np.fill_diagonal(ways, 0)
    at = {order: k for k, order in enumerate(orders)}
    for order in orders:
        for a, b in permutations(range(n), 2):
            other = list(order)
            if name == "ulam":
                other.insert(b, other.pop(a))
            else:
                other[a], other[b] = other[b], other[a]
            if name != "weighted_kendall" or b == a + 1:
                step = 1 / b if name == "weighted_kendall" else 1  # places a + 1 and a + 2 cost 1 / (a + 1)
                ways[at[order], at[tuple(other)]] = ways[at[tuple(other)], at[order]] = step
    for k in range(len(orders)):
        ways = np.minimum(ways, ways[:, k, None] + ways[k])
    return ways


def shares_to_targets(table, p):
    """For every ranking the least total variation after which it is a median: a program over whole distributions.

    Of the attacked distribution q nothing is known; what goes is at least p - q, ballot by ballot.
    """
    from scipy.optimize import linprog

    size = len(p)
    least = []
    for target in range(size):
        no_dearer = np.hstack((table[target] - table, np.zeros((size, size))))
        goes = np.hstack((-np.eye(size), -np.eye(size)))
        found = linprog(
            np.concatenate((np.zeros(size), np.ones(size))),
            A_ub=np.vstack((np.delete(no_dearer, target, axis=0), goes)),
            b_ub=np.concatenate((np.zeros(size - 1), -p)),
            A_eq=np.concatenate((np.ones(size), np.zeros(size)))[None],
            b_eq=[1.0],
        )
        assert found.status == 0
        least.append(found.fun)
    return np.array(least)


def shares_of_one_kind(table, p, change):
    """The same where ballots only go ("drop") or only come ("add"); infinite where all of them would have to go."""
    from scipy.optimize import linprog

    size = len(p)
    least = []
    for target in range(size):
        against = np.delete(table[target] - table, target, axis=0)  # by rival and ballot
        if change == "drop":  # q stays, as much as possible
            found = linprog(-np.ones(size), A_ub=against, b_ub=np.zeros(size - 1), bounds=[(0, x) for x in p])
            least.append(1 + found.fun if -found.fun > 1e-9 else np.inf)
        else:
            found = linprog(np.ones(size), A_ub=against, b_ub=-against @ p)
            least.append(found.fun)
    return np.array(least)


def theorem_lower(kind, p, median, k, n):
    """Half of eps-: all targets at k flipped pairs or more from `median`, all rivals, all rankings below the line."""
    d, flips = distance_table(kind, n), distance_table("kendall", n)[median]
    cost = p @ d
    values = []
    for target in np.flatnonzero(flips >= k):
        others = [v for v in range(len(p)) if v != target]
        values.append(max((cost[target] - cost[v]) / (d[:, target] - d[:, v]).max() for v in others))
    return min(values) / 2


def theorem_upper(p, median, k, n):
    """Half of eps+: targets at k flipped pairs or more from Kemeny's median, rivals at fewer."""
    d = distance_table("kendall", n)
    cost, flips = p @ d, d[median]
    return min(
        max((cost[s] - cost[v]) / (flips[s] - flips[v]) for v in np.flatnonzero(flips < k))
        for s in np.flatnonzero(flips >= k)
    ) / 2  # fmt: skip


def kemeny_budgets(p, n, *, by_definition=False):
    """For every ranking, the least total variation after which it is one of Kemeny's medians: linear programs.

    By definition: any q, compared with all n! rankings. Otherwise, with the lemma that the target is the best ballot to
    add, only the mass taken from each ballot is to be found. All targets are one program of independent parts.
    """
    from scipy.optimize import linprog
    from scipy.sparse import block_diag, coo_array

    d = distance_table("kendall", n)
    size = len(p)
    blocks, limits, costs, bounds, equal, totals = [], [], [], [], [], []
    for target in range(size):
        rivals = np.array([v for v in range(size) if v != target])
        gain = d[:, rivals] - d[:, [target]]  # what a ballot gives the target over each rival
        if by_definition:  # columns: what is removed from each ballot, what is added to it
            blocks.append(coo_array(np.hstack((gain.T, -gain.T))))
            limits.append(p @ gain)
            costs.append(np.concatenate((np.ones(size), np.zeros(size))))
            bounds += [(0, mass) for mass in p] + [(0, None)] * size
            equal.append(coo_array(np.concatenate((np.ones(size), -np.ones(size)))[None]))
            totals.append(0.0)
        else:
            blocks.append(coo_array((gain - gain[target]).T))
            limits.append(p @ gain)
            costs.append(np.ones(size))
            bounds += [(0, mass) for mass in p]
    extra = {"A_eq": block_diag(equal, format="csr"), "b_eq": totals} if by_definition else {}
    found = linprog(
        np.concatenate(costs),
        A_ub=block_diag(blocks, format="csr"),
        b_ub=np.concatenate(limits),
        bounds=bounds,
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        **extra,
    )
    assert found.success, found.message
    return (found.x * np.concatenate(costs)).reshape(size, -1).sum(axis=1)


def kemeny_breakdown(p, n, **how):
    """The median's number and, for k = 1, 2, ... flipped pairs, the least total variation that flips them."""
    flips = distance_table("kendall", n)
    median = int(np.argmin(p @ flips))
    budgets = kemeny_budgets(p, n, **how)
    return median, np.array([budgets[flips[median] >= k].min() for k in range(1, pairs(n) + 1)])


# The adversary: every change of a few whole ballots, tried one after the other.


def pair_points(ballot, unlisted):
    """W of a single ballot, as an array."""
    return np.array(wins([ballot], [1], unlisted))


def place_costs(ballot, unlisted):
    """C[i, k]: |place of i - (k + 1)|, ties at the mean of their places; zero where places are unknown."""
    n = len(ballot)
    if unlisted == "observed" and not all(ballot):
        return np.zeros((n, n))
    places = mean_places([rank or n + 1 for rank in ballot])
    return np.abs(np.array(places)[:, None] - np.arange(1, n + 1))


@cache
def _points_of(ballot, unlisted):
    """What a ballot adds to the sums that all statistics are made of; sums of halves, hence exact."""
    return np.concatenate([pair_points(ballot, unlisted).ravel(), place_costs(ballot, unlisted).ravel()])


def sums_of(ballots, weights, unlisted):
    return sum(w * _points_of(tuple(b), unlisted) for b, w in zip(ballots, weights, strict=True))


def attacks(ballots, weights, unlisted, change, size, *, battles=False):
    """The sums after every change of `size` whole ballots, one row each, equal ones once."""
    n = len(ballots[0])
    base = sums_of(ballots, weights, unlisted)
    zero = np.zeros((1, len(base)))
    removed, added = zero, zero
    if change != "add":
        taken = [
            picked
            for picked in combinations_with_replacement(range(len(ballots)), size)
            if all(picked.count(k) <= weights[k] for k in set(picked))
        ]
        points = np.array([_points_of(tuple(b), unlisted) for b in ballots])
        removed = np.array([points[list(picked)].sum(axis=0) for picked in taken]).reshape(-1, len(base))
        if change == "drop" and size == sum(weights):
            removed = removed[:0]  # nothing would be left
    if change != "drop":
        added = _additions(n, unlisted, size, battles)
    after = base - removed[:, None] + added
    return np.unique(after.reshape(-1, len(base)), axis=0)


@cache
def _additions(n, unlisted, size, battles):
    """Sums of every multiset of `size` added ballots: strict rankings, or battles of two items."""
    if battles:
        ballots = [tuple(1 if i == a else 2 if i == b else 0 for i in range(n)) for a, b in permutations(range(n), 2)]
    else:
        ballots = [tuple(place + 1 for place in inverse(order)) for order in permutations(range(n))]
    points = np.array([_points_of(ballot, unlisted) for ballot in ballots])
    sums = [points[list(p)].sum(axis=0) for p in combinations_with_replacement(range(len(points)), size)]
    return np.unique(np.array(sums), axis=0)


@cache
def _order_tables(n):
    orders = list(permutations(range(n)))
    above = np.zeros((len(orders), n, n))
    at = np.zeros((len(orders), n, n))
    for row, order in enumerate(orders):
        for a, b in combinations(order, 2):
            above[row, a, b] = 1
        for place, item in enumerate(order):
            at[row, item, place] = 1
    return orders, above.reshape(len(orders), -1), at.reshape(len(orders), -1)


def medians(rule, sums, n):
    """Which orders (columns, as `permutations` lists them) are a median of which sums (rows); sums are exact."""
    orders, above, at = _order_tables(n)
    W, costs = sums[:, : n * n], sums[:, n * n :]
    if rule == "borda":
        scores = W.reshape(-1, n, n).sum(axis=2)[:, np.array(orders)]
        return (np.diff(scores, axis=2) <= 0).all(axis=2)
    if rule == "copeland":
        scores = np.array([copeland_scores(row.reshape(n, n)) for row in W]).reshape(-1, n)[:, np.array(orders)]
        return (np.diff(scores, axis=2) <= 0).all(axis=2)
    cost = -W @ above.T if rule == "kemeny" else costs @ at.T
    return cost == cost.min(axis=1, keepdims=True)


_MERGED = {}  # results of `merge` by deviations along an order: few, and each is needed often


def merged_ranks(W, order, theta, *, downward):
    """The merge of an order, as ranks."""
    n = len(order)
    both = W + W.T
    share = np.divide(W, both, out=np.full((n, n), 0.5), where=both > 0)[np.ix_(order, order)]
    key = (np.round(np.abs(share - share.T) / 2, 12).tobytes(), theta, downward)
    if key not in _MERGED:
        _MERGED[key] = merge(share, [[place] for place in range(n)], theta, downward=downward)
    ranks = [0] * n
    for rank, bucket in enumerate(_MERGED[key], start=1):
        for place in bucket:
            ranks[order[place]] = rank
    return tuple(ranks)


def outcomes(statistic, sums, n):
    """What the statistic could give at some row of sums, however it breaks ties: sets of tuples of ranks.

    `statistic` is a median, "kemeny", "borda" or "footrule", or (median, theta, "downward" or "naive").
    """
    orders = list(permutations(range(n)))
    if isinstance(statistic, str):
        ranks = [tuple(place + 1 for place in inverse(order)) for order in orders]
        found = np.unique(medians(statistic, sums, n), axis=0)
        return {frozenset(ranks[k] for k in np.flatnonzero(row)) for row in found}
    rule, theta, merging = statistic
    both = np.unique(np.hstack([sums[:, : n * n], medians(rule, sums, n)]), axis=0)
    return {
        frozenset(
            merged_ranks(row[: n * n].reshape(n, n), orders[k], theta, downward=merging == "downward")
            for k in np.flatnonzero(row[n * n :])
        )
        for row in both
    }


def fulfils(goal, before, after):
    """Whether ranks `after` fulfil a goal against ranks `before`; goals are tuples such as ("wins", 2)."""
    return _fulfils(goal, tuple(before), tuple(after))


@lru_cache(100_000)
def _fulfils(goal, before, after):
    name, *values = goal
    n = len(after)
    above = [sum(other < mine for other in after) for mine in after]
    above_before = [sum(other < mine for other in before) for mine in before]
    if name == "above":
        return after[values[0]] < after[values[1]]
    if name == "new winner":
        return any(above[i] == 0 and above_before[i] > 0 for i in range(n))
    if name == "wins":
        return above[values[0]] == 0
    if name == "enters":
        return above[values[0]] < values[1]
    if name == "leaves":
        return above[values[0]] >= values[1]
    if name == "top set":
        return {i for i in range(n) if above[i] < values[0]} != {i for i in range(n) if above_before[i] < values[0]}
    flips = sum(before[i] < before[j] and not after[i] < after[j] for i, j in permutations(range(n), 2))
    return flips >= values[0]


def fewest_ballots(ballots, weights, unlisted, change, statistic, before, goals, most, *, battles=False):
    """For each goal (weak, strict): the fewest changed ballots with which an optimum, or every one, fulfils it.

    None where `most` ballots are not enough.
    """
    n = len(ballots[0])
    found = {goal: [None, None] for goal in goals}
    for size in range(most + 1):
        if all(None not in pair for pair in found.values()):
            break
        if size == 0:
            sums = sums_of(ballots, weights, unlisted)[None]
        elif change != "add" and size > sum(weights):
            break
        else:
            sums = attacks(ballots, weights, unlisted, change, size, battles=battles)
        kinds = outcomes(statistic, sums, n)
        for goal, pair in found.items():
            good = {ranks: fulfils(goal, before, ranks) for kind in kinds for ranks in kind}
            if pair[0] is None and any(any(good[ranks] for ranks in kind) for kind in kinds):
                pair[0] = size
            if pair[1] is None and any(all(good[ranks] for ranks in kind) for kind in kinds):
                pair[1] = size
    return {goal: tuple(pair) for goal, pair in found.items()}


# Fractions of ballots: a linear program for each target, with every ballot that could be added as a column.


def least_shares(rule, ballots, weights, unlisted, change, *, battles=False):
    """For each order, the least share of changed votes that makes it one of the medians; infinite when none does."""
    from scipy.optimize import linprog

    n, total = len(ballots[0]), sum(weights)
    orders, above, at = _order_tables(n)
    old = np.array([_points_of(tuple(b), unlisted) for b in ballots])
    new = _additions(n, unlisted, 1, battles)
    removable = np.array(weights) / total if change != "add" else np.zeros(len(old))
    shares = {}
    for number, order in enumerate(orders):
        if rule == "borda":  # each item has at least the points of the next
            item = np.eye(n)[list(order)]
            wanted = np.hstack([np.repeat(np.diff(-item, axis=0), n, axis=1), np.zeros((n - 1, n * n))])
        elif rule == "kemeny":  # no order has more pairs on its side
            wanted = np.hstack([above[number] - above, np.zeros((len(orders), n * n))])
        else:  # no order costs less
            wanted = np.hstack([np.zeros((len(orders), n * n)), at - at[number]])
        gains_old, gains_new = wanted @ old.T, wanted @ new.T
        columns = [-gains_old, gains_new] if change != "drop" else [-gains_old]
        cost = np.concatenate([np.ones(len(old)) * (change != "add"), np.ones(len(new)) * (change == "add")])
        bounds = [(0, w) for w in removable] + [(0, None)] * len(new)
        equal = np.concatenate([np.ones(len(old)), -np.ones(len(new))])[None]
        size = sum(block.shape[1] for block in columns)
        found = linprog(
            cost[:size],
            A_ub=-np.hstack(columns),
            b_ub=gains_old @ (np.array(weights) / total),
            bounds=bounds[:size],
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
            **({"A_eq": equal, "b_eq": [0]} if change == "replace" else {}),
        )
        assert found.status in (0, 2), found.message
        nothing_left = change == "drop" and found.status == 0 and found.fun > 1 - 1e-9
        shares[order] = float("inf") if found.status == 2 or nothing_left else found.fun
    return shares


def only_medians_of_some(ballots, unlisted):
    """The orders that are Kemeny's only median once the right ballots, or parts of them, are taken away."""
    from scipy.optimize import linprog

    n = len(ballots[0])
    orders, above, _ = _order_tables(n)
    points = np.array([pair_points(ballot, unlisted).ravel() for ballot in ballots])
    found = set()
    for number, order in enumerate(orders):
        lead = np.delete(above[number] - above, number, axis=0) @ points.T
        # The largest lead over the nearest rival, which is zero when nothing is kept.
        best = linprog(
            [0] * len(ballots) + [-1],
            A_ub=np.hstack([-lead, np.ones((len(lead), 1))]),
            b_ub=np.zeros(len(lead)),
            bounds=[(0, 1)] * len(ballots) + [(0, None)],
        )
        if -best.fun > 1e-7:
            found.add(order)
    return found


# Whole ballots without a limit on their number: integer programs.


def fewest_by_programs(ballots, weights, unlisted, change, before, goals, *, battles=False):
    """For Kemeny and each goal (weak, strict), as `fewest_ballots`; infinite where no number is enough."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    n, total = len(ballots[0]), sum(weights)
    orders, above, _ = _order_tables(n)
    old = np.array([_points_of(tuple(b), unlisted) for b in ballots])[:, : n * n]
    new = _additions(n, unlisted, 1, battles)[:, : n * n] if change != "drop" else old[:0]
    taken = np.repeat([1.0, -1.0], [len(old), len(new)])
    most = np.concatenate([np.array(weights) * (change != "add"), np.full(len(new), 9.0 * total)])

    @cache
    def least(target, rivals, lead):
        """The fewest ballots that give the target at least this lead over each rival, in pairs of items."""
        wanted = above[target] - above[list(rivals)]
        missing = lead - wanted @ (np.array(weights) @ old)
        rows = [LinearConstraint(np.hstack([-wanted @ old.T, wanted @ new.T]), missing)]
        if change == "replace":
            rows.append(LinearConstraint(taken, 0, 0))
        if change == "drop":
            rows.append(LinearConstraint(taken, -np.inf, total - 1))  # something is left
        cost = taken > 0 if change != "add" else taken < 0
        solved = milp(cost.astype(float), integrality=np.ones(len(cost)), bounds=Bounds(0, most), constraints=rows)
        assert solved.status in (0, 2), solved.message
        return round(solved.fun) if solved.status == 0 else float("inf")

    everyone = tuple(range(len(orders)))
    found = {}
    for goal in goals:
        good = [t for t in everyone if fulfils(goal, before, [place + 1 for place in inverse(orders[t])])]
        others = tuple(t for t in everyone if t not in good)
        # Strictly: the best of those that fulfil the goal wins against all that do not, by one pair or more.
        found[goal] = min(least(t, everyone, 0) for t in good), min(least(t, others, 1) for t in good)
    return found


# Rules by score, and draws.


def copeland_scores(W):
    """One point for each item beaten by a majority, half a point where there is none either way."""
    n = len(W)
    return [sum((W[i][j] > W[j][i]) + (W[i][j] == W[j][i]) / 2 for j in range(n) if j != i) for i in range(n)]


def mean_scores(rows, weights):
    """The mean of the scores of each item, over the voters who gave one; rows are voters, None is no score."""

    def mean(item):
        given = [(row[item], w) for row, w in zip(rows, weights, strict=True) if row[item] is not None]
        return sum(w * score for score, w in given) / sum(w for _, w in given) if given else None

    return [mean(item) for item in range(len(rows[0]))]


def tiers_by_mean_score(rows, weights):
    """Ranks of the items by falling mean of scores that are decimals as text, None for none; unscored items last."""
    exact = [[None if cell is None else Fraction(cell) for cell in row] for row in rows]
    means = mean_scores(exact, weights)
    levels = sorted({mean for mean in means if mean is not None}, reverse=True)
    return [1 + (len(levels) if mean is None else levels.index(mean)) for mean in means]


def fewest_scored(rows, change, goal, before, low, high, most):
    """The fewest voters whose change, with scores of `low` or `high` put in, makes mean scores reach a goal for sure.

    Scores in between add nothing to goals that lift one item above others: it gets the highest, they get the lowest.
    """
    n = len(rows[0])
    for size in range(most + 1):
        for kept in combinations(range(len(rows)), len(rows) - (size if change != "add" else 0)):
            left = [rows[k] for k in kept]
            for put in combinations_with_replacement(list(product((low, high), repeat=n)), size * (change != "drop")):
                now = [*left, *put]
                if not now:
                    continue
                means = np.round(mean_scores(now, [1] * len(now)), 9)
                ranks = [1 + len({m for m in means if m > mine}) for mine in means]
                if all(fulfils(goal, before, [p + 1 for p in inverse(order)]) for order in extensions(ranks)):
                    return size
    return None


def fewest_voters(rows, change, before, goals, most):
    """For each goal (weak, strict): the fewest voters after whose change an order by mean score, or every one, does it.

    Rows are whole numbers. What is put in holds the highest and the lowest score of all.
    """
    rows, n = np.array(rows), len(rows[0])
    ends = np.array(list(product((rows.min(), rows.max()), repeat=n)))
    found = {goal: [None, None] for goal in goals}

    @cache
    def judged(ranks):
        orders = [[place + 1 for place in inverse(order)] for order in extensions(ranks)]
        return {goal: [fulfils(goal, before, order) for order in orders] for goal in goals}

    for size in range(most + 1):
        if change != "add" and size >= len(rows) + (change == "replace"):
            break  # nobody is left, or nobody more to replace
        gone = list(combinations(range(len(rows)), size if change != "add" else 0))
        taken = np.array([rows[list(some)].sum(axis=0) if some else np.zeros(n, int) for some in gone])
        come = list(combinations_with_replacement(range(len(ends)), size if change != "drop" else 0))
        put = np.array([ends[list(some)].sum(axis=0) if some else np.zeros(n, int) for some in come])
        sums = np.unique((rows.sum(axis=0) - taken[:, None] + put[None]).reshape(-1, n), axis=0)
        for ranks in {tuple(1 + len({s for s in row if s > mine}) for mine in row) for row in sums.tolist()}:
            for goal, good in judged(ranks).items():
                if found[goal][0] is None and any(good):
                    found[goal][0] = size
                if found[goal][1] is None and all(good):
                    found[goal][1] = size
    return {goal: tuple(pair) for goal, pair in found.items()}


def bradley_terry_strengths(W, total, ridge):
    """The strengths of greatest penalised likelihood, by a general method for smooth functions."""
    from scipy.optimize import minimize

    shares = np.array(W, dtype=float) / total

    def badness(s):
        gap = s[:, None] - s
        value = (shares * np.logaddexp(0, -gap)).sum() + ridge / 2 * s @ s
        pull = shares / (1 + np.exp(gap))
        return value, pull.sum(axis=0) - pull.sum(axis=1) + ridge * s

    solved = minimize(badness, np.zeros(len(shares)), jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 9999})
    return solved.x - solved.x.mean()


def strengths_of_many(wins, ridge):
    """The same for stacked matrices of wins, (r, n, n), the penalty in proportion to their sums: damped Newton steps.

    The slope at the end is held against 0, so that what comes back are the strengths.
    """
    wins = np.asarray(wins, dtype=float)
    n = wins.shape[-1]
    found, slopes = np.zeros((len(wins), n)), np.zeros((len(wins), n))
    at, s = np.arange(len(wins)), np.zeros((len(wins), n))  # those that still move, and their strengths
    calm = np.zeros(len(wins))  # steps since the slope was 0: two more make strengths exact where it is almost flat
    for _ in range(400):
        W, total = wins[at], wins[at].sum(axis=(1, 2))
        loses = 1 / (1 + np.exp(np.clip(s[:, :, None] - s[:, None, :], -700, 700)))
        pull = W * loses
        slope = pull.sum(axis=2) - pull.sum(axis=1) - (ridge * total)[:, None] * s
        found[at], slopes[at] = s, slope / total[:, None]
        calm[at] += (np.abs(slope) <= 1e-12 * total[:, None]).all(axis=1)
        moves = calm[at] < 3
        if not moves.any():
            break
        at, s, slope, total = at[moves], s[moves], slope[moves], total[moves]
        bend = ((W + W.transpose(0, 2, 1)) * loses * (1 - loses))[moves]
        curvature = -bend
        curvature[:, range(n), range(n)] += bend.sum(axis=2) + (ridge * total)[:, None]
        step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
        s = s + step / np.maximum(1.0, np.ptp(step, axis=1, keepdims=True))
    assert (np.abs(slopes) <= 1e-9).all()
    return found - found.mean(axis=1, keepdims=True)


def battles_after(won, tied, change, size):
    """The wins after every change of `size` battles, ties counting half, each once: (r, n, n)."""
    n = len(won)
    pairs_of = list(permutations(range(n), 2))
    kinds = [("win", i, j) for i, j in pairs_of] + [("tie", i, j) for i, j in combinations(range(n), 2)]

    def matrix(picked):
        W = np.zeros((n, n))
        for kind, i, j in picked:
            if kind == "win":
                W[i, j] += 1
            else:
                W[i, j] += 0.5
                W[j, i] += 0.5
        return W

    def there(picked):
        supply = {("win", i, j): won[i][j] for i, j in pairs_of} | {("tie", i, j): tied[i][j] for _, i, j in kinds}
        return all(picked.count(kind) <= supply[kind] for kind in set(picked))

    changes = list(combinations_with_replacement(kinds, size))
    goes = [matrix(picked) for picked in changes if there(picked)] if change != "add" else [np.zeros((n, n))]
    comes = [matrix(picked) for picked in changes] if change != "drop" else [np.zeros((n, n))]
    base = np.array(won, dtype=float) + (np.array(tied) + np.array(tied).T) / 2
    after = (base - np.array(goes).reshape(-1, 1, n, n) + np.array(comes)).reshape(-1, n * n)
    return np.unique(after[after.sum(axis=1) > 0.25], axis=0).reshape(-1, n, n)


def fewest_battles(won, tied, change, before, goals, most, ridge=1e-6):
    """For each goal (weak, strict): the fewest changed battles after which the strengths fulfil it, by a tie or surely.

    Strengths count as equal from 1e-8 of their range (at least of 1) on, as the rule says. None where `most` are not
    enough.
    """
    found = {goal: [None, None] for goal in goals}
    for size in range(most + 1):
        after = battles_after(won, tied, change, size)
        if not len(after):
            break
        note_reached(found, before, strengths_of_many(after, ridge), size)
        if all(None not in pair for pair in found.values()):
            break
    return {goal: tuple(pair) for goal, pair in found.items()}


def note_reached(found, before, s, size):
    """Enter `size` in (weak, strict) of each goal that some of the strengths s fulfil, and that none did before."""
    order = np.argsort(-s, axis=1, kind="stable")
    gaps = -np.diff(np.take_along_axis(s, order, axis=1), axis=1)
    unit = 1e-8 * np.maximum(np.ptp(s, axis=1, keepdims=True), 1.0)
    tied = (gaps <= unit) & (gaps.min(axis=1, keepdims=True) <= 1e-6)
    _, first = np.unique(np.hstack([order, tied]), axis=0, return_index=True)  # all that `reached_by` looks at
    for goal, pair in found.items():
        for k, sure in enumerate((False, True)):
            if pair[k] is None and any(reached_by(goal, before, row, sure=sure) for row in s[first]):
                pair[k] = size


def reached_by(goal, before, s, *, sure):
    """Whether some order of the strengths s fulfils a goal, or every one: equal strengths may stand either way."""
    order = sorted(range(len(s)), key=lambda i: -s[i])
    if min(s[i] - s[j] for i, j in pairwise(order)) > 1e-6:
        return fulfils(goal, before, tuple(place + 1 for place in inverse(order)))
    unit = 1e-8 * max(np.ptp(s), 1.0)
    groups = [[order[0]]]
    for i, j in pairwise(order):
        groups[-1].append(j) if s[i] - s[j] <= unit else groups.append([j])
    orders = [sum(parts, ()) for parts in product(*(list(permutations(group)) for group in groups))]
    reached = [fulfils(goal, before, tuple(place + 1 for place in inverse(o))) for o in orders]
    return all(reached) if sure else any(reached)


def sandwich_errors(votes, s, damping=0.0, floor=None, anchor=None):
    """Standard errors of strengths of sum 0 by Huber and White, vote by vote from the definition.

    `votes` are lists of comparisons (i, j, y): y is 1 where i won, 0 where j won, 1/2 for a tie.
    """
    n = len(s)
    counts = np.zeros((n, n))
    for vote in votes:
        for i, j, _ in vote:
            counts[i, j] += 1
            counts[j, i] += 1
    curvature, filling = np.zeros((n, n)), np.zeros((n, n))
    for vote in votes:
        slope = np.zeros(n)
        for i, j, y in vote:
            weight = 1.0 if floor is None else 1 / max(counts[i, j], floor)
            p = 1 / (1 + np.exp(s[j] - s[i]))
            along = np.zeros(n)
            along[i], along[j] = 1, -1
            slope += weight * (y - p) * along
            curvature += weight * p * (1 - p) * np.outer(along, along)
        filling += np.outer(slope, slope)
    curvature += damping * (counts.sum() / 2 if floor is None else 1) * (np.eye(n) - 1 / n)
    bread = np.linalg.pinv(curvature, rcond=1e-12, hermitian=True)
    cov = bread @ filling @ bread
    look = np.eye(n) if anchor is None else np.eye(n) - np.eye(n)[anchor]
    return np.sqrt(np.maximum(np.diagonal(look @ cov @ look.T), 0))


def comparisons_of(ranks, observed):
    """The comparisons (i, j, y) that a ballot makes; 0 is unlisted, which may mean last."""
    n = len(ranks)
    place = [rank or n + 1 for rank in ranks]
    return [
        (i, j, (place[i] < place[j]) + (place[i] == place[j]) / 2)
        for i, j in combinations(range(n), 2)
        if not observed or (ranks[i] and ranks[j])
    ]


def mutually_reachable(edges):
    """The sets of items that can all be reached from each other, by trying all ways (Warshall)."""
    n = len(edges)
    reach = [[i == j or bool(edges[i][j]) for j in range(n)] for i in range(n)]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                reach[i][j] = reach[i][j] or (reach[i][k] and reach[k][j])
    return {frozenset(j for j in range(n) if reach[i][j] and reach[j][i]) for i in range(n)}


def drawn_again(ballots, weights, draws, generator, rank):
    """Ranks of each draw: ballots picked one by one, or counts of all ballots where votes are many."""
    one_by_one = [tuple(ballot) for ballot, weight in zip(ballots, weights, strict=True) for _ in range(int(weight))]
    total = len(one_by_one)
    found = []
    for _ in range(draws):
        if total <= 8 * len(ballots):
            picked = [one_by_one[k] for k in generator.integers(total, size=total)]
            counts = [picked.count(tuple(ballot)) for ballot in ballots]
        else:
            counts = generator.multinomial(total, np.array(weights) / total).tolist()
        found.append(tuple(rank(counts)))
    return found


def places_of_draws(ranks, level):
    """(best, median, worst, first) of each item, by sorting the places that it got."""
    draws = len(ranks)
    outside = int((1 - level) / 2 * draws + 1e-9)
    table = []
    for item in range(len(ranks[0])):
        places = sorted(sum((r < row[item]) + (r == row[item]) / 2 for r in row) + 1 / 2 for row in ranks)
        first = sum(row[item] == 1 for row in ranks) / draws
        table.append((places[outside], places[(draws - 1) // 2], places[draws - 1 - outside], first))
    return table
