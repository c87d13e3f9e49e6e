"""Attacks from the result of a descent: nearby distributions that reach delta, trimmed and verified.

For medians and Downward Merge the trimming is a linear program, for others a random search.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from holdrank.arrays.tolerances import SAME
from holdrank.attacks.batches import MedianBatch, all_orders, all_places
from holdrank.attacks.estimator.descent import SmoothedProblem, softmax
from holdrank.rankings import Floats, Ints
from holdrank.rules.merges import Robust
from holdrank.rules.registry import rule_of
from holdrank.rules.solvers.highs import LinearProgram
from holdrank.status import Clock
from holdrank.votes.votes import Votes

_FEW_RANKINGS = 720  # up to here every ranking is tried as the start of an attack
_MARGIN = 1e-7  # by how much, in pairs, an attack must beat every rival ranking; it costs less than that in votes


def attacks(
    problem: SmoothedProblem, many: list[Votes], average: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the total variation and the attacked distribution of each point, verified."""
    points = len(average)
    upper, attacked = np.full(points, np.inf), problem.p.copy()
    for point in range(points):
        votes = many[problem.votes_of[point]]
        for start in _starts(problem, point, average[point], rng):
            trimmed = _trim(problem, point, start, rng)
            value = np.abs(trimmed - problem.p[point]).sum() / 2
            if value < upper[point] and holds(problem, point, votes, trimmed):
                upper[point], attacked[point] = value, trimmed
    # An attack that goes farther than it must is an attack for smaller deltas, too.
    for point in range(points):
        same = problem.votes_of == problem.votes_of[point]
        farther = np.flatnonzero(same & (problem.delta >= problem.delta[point]))
        best = farther[np.argmin(upper[farther])]
        upper[point], attacked[point] = upper[best], attacked[best]
    return upper, attacked


def _starts(
    problem: SmoothedProblem, point: int, average: Floats, rng: np.random.Generator, most: int = 8
) -> list[Floats]:
    """Return distributions near the average that reach delta, one for each of the most promising outcomes."""
    p, delta = problem.p[point], problem.delta[point] - SAME
    logits = np.log(np.maximum(average, 1e-12))
    scale = np.repeat([0.001, 0.01, 0.1, 0.3, 1.0, 3.0], 96 if len(p) <= _FEW_RANKINGS else 16)[:, None]
    noise = scale * rng.standard_normal((len(scale), len(p)))
    # Beside them rankings with nearly all of the votes: wherever the descent ended, some outcome is far.
    alone = np.tile(0.02 * p, (len(rivals := _rivals(problem, point)), 1))
    alone[np.arange(len(rivals)), rivals] += 0.98
    found = np.concatenate((average[None], softmax(logits + noise), alone))
    distances, codes = problem.outcomes(point, found)
    far = distances >= delta
    if not far.any():
        return []
    found, codes = found[far], codes[far]
    low, high = np.zeros(len(found)), np.ones(len(found))
    outcomes = problem.on_the_way(point, found)
    for _ in range(24):  # on the way from p, the first moment that reaches delta; `high` always does
        middle = (low + high) / 2
        distances, met = outcomes(middle)
        low, high = np.where(distances >= delta, low, middle), np.where(distances >= delta, middle, high)
        codes = np.where(distances >= delta, met, codes)
    found = p + high[:, None] * (found - p)
    order = np.argsort(np.abs(found - p).sum(axis=1), kind="stable")
    first = [at for i, at in enumerate(order) if codes[at] not in codes[order[:i]]]
    return [found[at] for at in first[:most]]


def _rivals(problem: SmoothedProblem, point: int, most: int = 64) -> Ints:
    """Return the numbers of the rankings to try: all if they are few, else those far enough with the lowest cost."""
    size = problem.p.shape[1]
    if size <= _FEW_RANKINGS:
        return np.arange(size)
    far = problem.distance(problem.before[point], all_places(problem.n) + 1) >= problem.delta[point] - SAME
    features, costs = _tables("kendall", problem.n)
    order = np.argsort((problem.p[point] @ features) @ costs, kind="stable")
    return np.asarray(order[far[order]][:most])


def _trim(problem: SmoothedProblem, point: int, start: Floats, rng: np.random.Generator) -> Floats:
    """Return a distribution nearer to p that still reaches delta, for the outcome of `start`."""
    statistic = problem.statistic
    merged = isinstance(statistic, Robust) and statistic.merge == "downward"
    base = statistic.base if isinstance(statistic, Robust) and merged else statistic
    median_of = rule_of(base).median_of
    if median_of is None:
        return _search(problem, point, start, rng)
    if not isinstance(statistic, Robust):
        _, codes = problem.outcomes(point, start[None])
        return _nearest(problem, point, median_of, int(codes[0]))
    best, value = start, np.abs(start - problem.p[point]).sum() / 2
    for _ in range(4):  # each program holds one way to keep the buckets apart; its solution may suggest another
        _, codes = problem.outcomes(point, best[None])
        target, joined = divmod(int(codes[0]), 1 << (problem.n - 1))
        buckets = _same_buckets(problem.n, target, joined, float(statistic.theta), best)
        found = _nearest(problem, point, median_of, target, buckets)
        distances, _ = problem.outcomes(point, found[None])
        found_value = np.abs(found - problem.p[point]).sum() / 2
        if distances[0] < problem.delta[point] - SAME or found_value >= value - _MARGIN:
            break
        best, value = found, found_value
    return best if best is not start else _search(problem, point, start, rng)


def _nearest(
    problem: SmoothedProblem, point: int, median_of: str, target: int, more: tuple[Floats, Floats] | None = None
) -> Floats:
    """Return the distribution nearest to p of which `target` is the only median: a linear program.

    With G(s) = d(s, rival) - d(s, target), the target beats a rival when the mean of G is above zero. The columns are
    the mass removed from each ballot and the mass added. For a median of a metric d the target itself is the best
    ballot to add, by the triangle inequality, against all rivals at once. Rivals come as rows when they are needed.
    Rows that a merge adds are given as `more`: values for each ballot, and the least mean of each row.
    """
    p: Floats = problem.p[point]
    features, costs = _tables(median_of, problem.n)
    support = np.flatnonzero(p > 0)
    added = np.arange(len(p)) if more or rule_of(problem.statistic).median_of == "spearman_rho" else np.array([target])
    unit = 1e-3  # of mass: the solver's tolerances are absolute
    upper = np.concatenate((p[support] / unit, np.full(len(added), np.inf)))
    program = LinearProgram(np.concatenate((np.ones(len(support)), np.zeros(len(added)))), upper)
    columns = np.arange(len(upper))

    def add_rows(values: Floats, least: Floats) -> None:
        rows = np.concatenate((-values[:, support], values[:, added]), axis=1)
        program.add_rows(np.tile(columns, (len(rows), 1)), rows, (least - values @ p) / unit, np.inf)

    balance = np.concatenate((-np.ones(len(support)), np.ones(len(added))))
    program.add_rows(columns[None], balance[None], 0.0, 0.0)
    if more:
        add_rows(*more)
    # Neighbours in the target are its nearest rivals.
    place = all_places(problem.n)
    swaps = np.flatnonzero(np.abs(place - place[target]).sum(axis=1) == 2)
    new = swaps[np.abs(place[swaps] - place[target]).max(axis=1) == 1]
    q: Floats = p
    clock = Clock()
    for _ in range(200):
        add_rows((features @ (costs[:, new] - costs[:, [target]])).T, np.full(len(new), _MARGIN))
        x = program.solve(clock).x * unit
        if not len(x):
            return p  # nothing makes this the median
        q = p.copy()
        q[support] -= x[: len(support)]
        q[added] += x[len(support) :]
        q = np.maximum(q, 0.0)
        q /= q.sum()
        cost = (q @ features) @ costs
        cost[target] += _MARGIN / 2
        rival = int(np.argmin(cost))
        if rival == target:
            break
        new = np.array([rival])
    return q


def _same_buckets(n: int, target: int, joined: int, theta: float, q: Floats) -> tuple[Floats, Floats]:
    """Return rows (values for each ballot, least mean) under which Downward Merge of `target` has these buckets.

    Pairs inside a bucket stay within theta. Every interval across a border must hold a pair beyond theta, or lose
    against a bucket that it overlaps; which of the two, and by which pair, is read off q. Sufficient but for ties,
    which the caller checks.
    """
    order = all_orders(n)[target]
    place = all_places(n)[:, order]  # by place in the target
    bucket = np.concatenate(([0], np.cumsum([1 - (joined >> b & 1) for b in range(n - 1)])))
    slack = min(_MARGIN, theta / 2)
    pairs = [(s, t) for t in range(n) for s in range(t)]
    # The mean of a lead is P - 1/2.
    lead: dict[tuple[int, int], Floats] = {(s, t): np.where(place[:, s] < place[:, t], 0.5, -0.5) for s, t in pairs}
    size = {pair: float(lead[pair] @ q) for pair in pairs}
    values, least = [], []

    def row(value: Floats, limit: float) -> None:
        values.append(value)
        least.append(limit)

    def widest(among: list[tuple[int, int]]) -> tuple[int, int]:
        return max(among, key=lambda pair: abs(size[pair]))

    for s, t in pairs:
        if bucket[s] == bucket[t]:
            row(lead[s, t], slack - theta)
            row(-lead[s, t], slack - theta)
    apart: set[tuple[int, int]] = set()
    for first, last in sorted(pairs, key=lambda pair: pair[1] - pair[0]):
        inside = [(s, t) for s, t in pairs if first <= s and t <= last]
        if bucket[first] == bucket[last] or apart.intersection(inside):
            continue
        pair = widest(inside)
        if abs(size[pair]) > theta:
            apart.add(pair)
            row(np.sign(size[pair]) * lead[pair], theta + slack)
            continue
        rivals = [(s, t) for s, t in pairs if bucket[s] == bucket[t] and bucket[first] <= bucket[s] <= bucket[last]]
        if rivals:
            winner = widest(rivals)
            side = np.sign(size[winner]) * lead[winner]
            for other in inside:
                if other != winner:
                    row(side - lead[other], slack)
                    row(side + lead[other], slack)
    return np.array(values).reshape(-1, len(q)), np.array(least)


def _search(problem: SmoothedProblem, point: int, q: Floats, rng: np.random.Generator, rounds: int = 80) -> Floats:
    """Return a nearer distribution by moving mass between two ballots and shrinking, many trials at a time."""
    p, delta = problem.p[point], problem.delta[point] - SAME
    size, trials = len(p), 512
    step = 0.1
    row = np.arange(trials)
    value = np.abs(q - p).sum() / 2
    for _ in range(rounds):
        moved = np.tile(q, (trials, 1))
        giver, taker = rng.integers(size, size=(2, trials))
        amount = np.minimum(moved[row, giver], step * rng.random(trials) * value)
        moved[row, giver] -= amount
        moved[row, taker] += amount
        moved = p + (1 - step * rng.random(trials)[:, None] * rng.integers(2, size=(trials, 1))) * (moved - p)
        values = np.abs(moved - p).sum(axis=1) / 2
        distances, _ = problem.outcomes(point, moved)
        values = np.where(distances >= delta, values, np.inf)
        best = int(np.argmin(values))
        if values[best] < value * (1 - 1e-3 * step):
            q, value = moved[best], values[best]
        else:
            step /= 2
            if step < 1e-6:
                break
    return q


def holds(problem: SmoothedProblem, point: int, votes: Votes, q: Floats) -> bool:
    """Whether the statistic itself, run on the attacked votes, is far enough, and not because of how it breaks ties."""
    after = problem.statistic(Votes.from_ranks(all_places(problem.n) + 1, q * votes.total, votes.items))
    # A merge leaves it open when its median is not the only one; a statistic of your own may never say.
    says = after.unique is not None or isinstance(problem.statistic, Robust)
    return (bool(after.unique) or not says) and problem.reached(point, after.ranking)


@cache
def _tables(median_of: str, n: int) -> tuple[Floats, Floats]:
    """Return two tables whose product is the distance between all rankings, up to a constant."""
    if median_of == "spearman_rho":
        place = all_places(n).astype(np.float64)
        return place, -2 * place.T
    form = MedianBatch(n, np.zeros(1), kendall=median_of == "kendall")
    return form.features, form.costs
