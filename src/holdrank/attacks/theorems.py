"""The paper's two theorems as numbers: how much of the votes is certainly enough, and how much is certainly needed.

The theorems speak of the L1 norm. A budget here is a total variation, half of it, so both are halved, once, where they
are formed: the 2 in every denominator below. `delta` is a share of pairs of items, the normalised Kendall distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import inf

import numpy as np
import numpy.typing as npt

from holdrank.arrays.subsets import levels
from holdrank.arrays.tolerances import SAME
from holdrank.attacks.batches import closed
from holdrank.attacks.goals import distances_from, measure_of
from holdrank.attacks.metric_bounds import general_lower, general_upper
from holdrank.errors import LimitError, UsageError
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.consensus import Statistic, kemeny, name_of
from holdrank.rules.medians import Median
from holdrank.rules.metrics import MetricLike
from holdrank.rules.registry import rule_of
from holdrank.votes.votes import Votes

_MOST_ENUMERATED = 8  # items: 40,320 targets
MOST_SUBSETS = 16  # items of the dynamic programme over (subset, flipped pairs)
_MOST_CHAINED = 12  # items of the one over (subset, last item, flipped pairs)
_TARGETS_AT_A_TIME = 128
_EQUAL = 1e-12  # nearly uniform votes have thousands of targets that differ by rounding only


@dataclass(frozen=True, slots=True)
class TheoremBounds:
    """The bounds of the two theorems, as shares of votes.

    Attributes
    ----------
    delta : array
        Normalised Kendall distances, k / (n (n - 1) / 2) for k flipped pairs.
    lower : array
        No attack with less mass reaches delta. Infinite where no ranking is that far.
    upper : array
        The mass that suffices to move from the median to its reverse. Infinite where the theorem gives no bound.
    upper_valid : array of bool
        Whether the median's own ballots are that many. Where not, `upper` is the formula's value and no bound.
    note : str
        What was not computed as the theorems say, and why; empty when nothing.
    """

    delta: Floats
    lower: Floats
    upper: Floats
    upper_valid: npt.NDArray[np.bool_]
    note: str

    def __repr__(self) -> str:
        return f"TheoremBounds({len(self.delta)} distances, {int(self.upper_valid.sum())} valid upper bounds)"


def theorem_bounds(
    votes: Votes,
    statistic: Statistic = kemeny,
    deltas: npt.ArrayLike | None = None,
    *,
    distance: MetricLike | None = None,
) -> TheoremBounds:
    """Return eps- and, for Kemeny, eps+ of the paper, halved to shares of votes.

    Parameters
    ----------
    votes : Votes
    statistic : kemeny, borda, footrule or a Median
        A `Median`, as any other statistic with a `distance`: up to 7 items, strict and complete ballots.
    deltas : array, optional
        Normalised distances; every attainable one by default.
    distance : str, callable, matrix or Metric, optional
        How far the median moves, see `Metric.of`; Kendall's by default. `upper` is known where it is the metric of
        the median and some ranking is opposite to it: for Kendall, as the paper says, and for Spearman's rho.

    Notes
    -----
    With sigma* the median, d its distance and s, v rankings::

        2 lower = min over s with kendall(s, sigma*) >= delta of max over v of
                  E[d(S, s) - d(S, v)] / max over u of (d(u, s) - d(u, v))
        2 upper = min over s with kendall(s, sigma*) >= delta of max over v with kendall(v, sigma*) < delta of
                  E[d(S, s) - d(S, v)] / (d(sigma*, s) - d(sigma*, v))

    `lower` goes over all rankings up to 8 items; for Kemeny it is relaxed to `cheap_lower` above. `upper` needs no more
    than the least loss of a ranking with k flipped pairs, for every k, and is exact up to 16 items. It is valid where
    it is at most the share of the ballot sigma* itself. With a `Median` or a `distance`, both go over all rankings;
    `distance` then stands in the place of kendall.

    Paper: the two theorems of Section 3.1, the upper bound for Kemeny and the lower bound for any median.

    Examples
    --------
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    >>> bounds = theorem_bounds(votes)
    >>> bounds.lower.round(3).tolist(), bounds.upper.round(3).tolist(), bounds.upper_valid.tolist()
    ([0.1, 0.5, 0.5], [0.1, 0.5, 0.5], [True, True, True])
    """
    if not isinstance(votes, Votes):
        raise UsageError(f"theorem_bounds takes Votes, not {type(votes).__name__}")
    median_of = rule_of(statistic).median_of
    if isinstance(statistic, Median):
        return _general(votes, statistic, statistic, deltas, distance)
    if median_of is None:
        raise UsageError(
            f"the theorems are about medians: kemeny, borda or footrule, not {name_of(statistic)}",
            repair="use one of them, or a Median under another metric",
        )
    if distance is not None:
        return _general(votes, statistic, Median(median_of), deltas, distance)
    delta, flips = _flips(deltas, votes.n)
    if votes.n > _MOST_ENUMERATED and median_of != "kendall":
        raise LimitError(
            f"the lower bound enumerates all rankings of up to {_MOST_ENUMERATED} items for borda and footrule, "
            f"not {votes.n}",
            repair="keep fewer items, or use kemeny",
        )
    before = statistic(votes).ranking
    notes = []
    if votes.n <= _MOST_ENUMERATED:
        lower = _lower(votes, median_of, before)
    else:
        lower = cheap_lower(votes, before)
        notes.append(f"lower: only the median and its neighbours are considered above {_MOST_ENUMERATED} items")
    upper = np.full(len(lower), inf)
    if median_of != "kendall":
        notes.append("upper: the theorem is about kemeny only")
    elif votes.n > MOST_SUBSETS:
        notes.append(f"upper: not computed above {MOST_SUBSETS} items")
    else:
        upper = _upper(_least_margins(_margins(votes, before)))
    valid = upper <= _share_of(votes, before) + 1e-12
    if median_of == "kendall" and not valid.all() and np.isfinite(upper).any():
        notes.append("upper: not valid where it exceeds the share of ballots equal to the median")

    def at(values: Floats, beyond: float) -> Floats:
        # No budget is needed for a distance of zero, none suffices beyond the reverse of the median.
        return closed(np.concatenate(([0.0], values, [beyond]))[flips])

    return TheoremBounds(
        delta=closed(delta),
        lower=at(lower, inf),
        upper=at(upper, inf),
        upper_valid=closed(at(valid.astype(np.float64), 1.0).astype(bool) | (flips == 0)),
        note="; ".join(notes),
    )


def _general(
    votes: Votes, statistic: Statistic, median: Median, deltas: npt.ArrayLike | None, distance: MetricLike | None
) -> TheoremBounds:
    """Return the bounds for a median under any metric, moved in any metric."""
    metric = measure_of("kendall" if distance is None else distance)
    before = statistic(votes).ranking
    if deltas is None:
        delta = np.unique(distances_from(before, metric))[1:]
    else:
        delta = np.array(deltas, dtype=np.float64, ndmin=1)
        if delta.ndim != 1 or not np.isfinite(delta).all():
            raise UsageError("deltas must be a list of finite numbers")
    notes = []
    lower = general_lower(votes, median, before, metric, delta)
    upper = general_upper(votes, median, before, delta) if metric == median.metric else None
    if upper is None:
        notes.append("upper: needs the metric of the median as the distance, and a ranking opposite to the median")
    elif metric.name != "kendall":
        notes.append("upper: not in the paper, whose theorem is about kemeny; its proof holds here too")
    found = np.full(len(delta), inf) if upper is None else upper
    valid = (found <= _share_of(votes, before) + 1e-12) | (delta <= SAME) | np.isinf(lower)
    if upper is not None and not valid.all() and np.isfinite(upper).any():
        notes.append("upper: not valid where it exceeds the share of ballots equal to the median")
    return TheoremBounds(closed(delta), closed(lower), closed(found), closed(valid), "; ".join(notes))


def cheap_lower(votes: Votes, before: Ranking | None = None, *, quick: bool = False) -> Floats:
    """Return, for k = 1, 2, ... flipped pairs, a share of votes below which no attack on Kemeny flips k pairs.

    A certified lower bound for every number of items, for ballots with ties and gaps, and for any strict ranking in
    the place of the median: changing one vote changes the margin of a pair by at most two votes.

    Parameters
    ----------
    votes : Votes
    before : Ranking, optional
        The strict ranking to be broken; Kemeny's by default.
    quick : bool
        Whether to skip the dynamic programme where it is slow, from 13 items on.

    Notes
    -----
    Two relaxations of eps-, that is, two kinds of rivals of a target with k flipped pairs. (1) The ranking `before`:
    half the mean of the margins that the target loses, ``S(k) / (2 k)`` with S(k) the least sum over all rankings
    with k flipped pairs (a dynamic programme over subsets, up to 16 items) or over any k pairs (above). (2) The target
    with two neighbours swapped: half the largest margin that two neighbours lose (up to 12 items).

    Paper: a relaxation of the lower bound for any median (Section 3.1).

    Examples
    --------
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    >>> cheap_lower(votes).round(3).tolist()
    [0.1, 0.5, 0.5]
    """
    before = kemeny(votes).ranking if before is None else before
    if not before.is_strict or before.n != votes.n:
        raise UsageError("the ranking must be strict and rank the items of the votes")
    margins = _margins(votes, before)
    if votes.n > (_MOST_CHAINED if quick else MOST_SUBSETS):
        # The k flipped pairs cost at least the k smallest margins. Their mean can only rise with k, so the bound for k
        # flipped pairs also holds for more.
        smallest = np.sort(margins[np.triu_indices(votes.n, 1)])
        return np.maximum(np.cumsum(smallest) / (2 * np.arange(1, len(smallest) + 1)), 0.0)
    least = _least_margins(margins)[1:]
    bound = least / (2 * np.arange(1, len(least) + 1))
    if votes.n <= _MOST_CHAINED:
        bound = np.maximum(_or_more(bound), _or_more(_least_neighbours(margins)[1:] / 2))
    return np.maximum(_or_more(bound), 0.0)


def _or_more(values: Floats) -> Floats:
    """Return the smallest value for k or more flipped pairs."""
    return np.minimum.accumulate(values[::-1])[::-1]


def _margins(votes: Votes, before: Ranking) -> Floats:
    """Return (W[a, b] - W[b, a]) / total with items numbered by their place in `before`."""
    order = np.array(before.order)
    wins = votes.wins()[np.ix_(order, order)]
    return np.asarray((wins - wins.T) / votes.total)


def _share_of(votes: Votes, ranking: Ranking) -> float:
    """Return the share of the ballots that are this strict ranking."""
    ranks = votes.ranks
    if not votes.observed:
        ranks = np.where(ranks == 0, votes.n, ranks)  # the last place may be left open
    return float(votes.weights[(ranks == ranking.ranks).all(axis=1)].sum() / votes.total)


def _upper(least: Floats) -> Floats:
    """Return eps+ / 2 for k = 1, 2, ... from the least sum of lost margins by the number of flipped pairs.

    Moving mass e from the median to its reverse takes 2 e off the cost of a ranking for each pair it flips: only the
    cheapest ranking of each number of flipped pairs matters, on both sides.
    """
    out = []
    for k in range(1, len(least)):
        more, fewer = np.arange(k, len(least))[:, None], np.arange(k)
        out.append(((least[k:, None] - least[:k]) / (2 * (more - fewer))).max(axis=1).min())
    return np.asarray(np.maximum(np.array(out), 0.0))


def _least_margins(margins: Floats) -> Floats:
    """Return the least sum of margins lost by a ranking with 0, 1, 2, ... flipped pairs.

    Dynamic programming over the set of items that stand first: the last of them, i, is flipped with every item before
    it in the median that is not among them.
    """
    n = len(margins)
    most = n * (n - 1) // 2
    upper = np.triu(margins, 1)
    known = np.full((1, n + most + 1), inf)  # by subset of one size and flipped pairs, after n columns of infinity
    known[0, n] = 0.0
    pairs = np.arange(n, n + most + 1)
    for subsets, last, _, rest in levels(n):
        out = (((subsets[:, None] >> np.arange(n)) & 1) == 0).astype(np.float64)
        costs, counts = out @ upper, (out @ np.triu(np.ones((n, n)), 1)).astype(np.int64)
        best = np.full((len(subsets), n + most + 1), inf)
        row = np.arange(len(subsets))
        for i, at in zip(last.T, rest.T, strict=True):
            shifted = known[at[:, None], pairs - counts[row, i][:, None]]
            np.minimum(best[:, n:], shifted + costs[row, i][:, None], out=best[:, n:])
        known = best
    return np.asarray(known[0, n:])


def _least_neighbours(margins: Floats) -> Floats:
    """Return the smallest value of the largest margin lost by two neighbours, by the number of flipped pairs.

    As `_least_margins`, with the last item kept: known[subset, its last item, flipped pairs].
    """
    n = len(margins)
    most = n * (n - 1) // 2
    ones = np.triu(np.ones((n, n)), 1)
    # x before y in the target loses margins[y, x], whichever way the median has them.
    lost = margins.T
    known = np.full((1, n, n + most + 1), inf)
    pairs = np.arange(n, n + most + 1)
    start = True
    for subsets, last, _, rest in levels(n):
        out = (((subsets[:, None] >> np.arange(n)) & 1) == 0).astype(np.float64)
        counts = (out @ ones).astype(np.int64)
        best = np.full((len(subsets), n, n + most + 1), inf)
        row = np.arange(len(subsets))
        for i, at in zip(last.T, rest.T, strict=True):
            count = counts[row, i]
            if start:
                best[row, i, n + count] = -inf  # no neighbours yet
                continue
            # The last item before is free: take the cheapest continuation from each.
            ways = np.maximum(known[at], lost[:, i].T[:, :, None]).min(axis=1)
            best[row, i, n:] = ways[row[:, None], pairs - count[:, None]]
        start = False
        known = best
    return np.asarray(known[0, :, n:].min(axis=0))


# eps- over all targets and rivals.


def _lower(votes: Votes, median_of: str, before: Ranking) -> Floats:
    """Return eps- / 2 for k = 1, 2, ...: min over targets with k flipped pairs or more of max over rivals.

    Seen from a target, a rival is a rearrangement of its places, and the ratio of the theorem is linear in what the
    votes say about the target's places: one row of `rivals` each. A few rivals bound every target from below; all
    rivals are checked only for targets that could still be the minimum.
    """
    n = votes.n
    orders = np.array(list(permutations(range(n)))).reshape(-1, n)
    if median_of == "kendall":
        rivals, seen = _kendall_rivals(orders), _seen_by_pairs(_margins(votes, Ranking(range(n))), orders)
    elif median_of == "spearman_rho":
        rivals, seen = _rho_rivals(orders), votes.mean_places()[orders]
    else:
        grid = np.arange(n)
        cost = votes.positions() @ np.abs(grid[:, None] - grid)
        rivals, seen = _footrule_rivals(orders), cost[orders].reshape(len(orders), -1)
    place = np.empty_like(orders)
    place[np.arange(len(orders))[:, None], orders] = np.arange(n)
    target_place = place[:, list(before.order)]
    i, j = np.triu_indices(n, 1)
    flipped = (target_place[:, i] > target_place[:, j]).sum(axis=1)

    few = rivals[_block_swaps(orders)]
    bound = (few @ seen.T).max(axis=0) if len(few) else np.zeros(len(orders))
    least = np.full(len(i) + 1, inf)
    best = inf
    for k in range(len(i), 0, -1):  # what is reached with more flipped pairs serves for fewer
        targets = np.flatnonzero(flipped == k)
        targets = targets[np.argsort(bound[targets], kind="stable")]
        for start in range(0, len(targets), _TARGETS_AT_A_TIME):
            block = targets[start : start + _TARGETS_AT_A_TIME]
            block = block[bound[block] < best - _EQUAL]
            if not len(block):
                break
            best = min(best, float((rivals @ seen[block].T).max(axis=0).min()))
        least[k] = best
    return np.asarray(np.maximum(least[1:], 0.0))


def _block_swaps(orders: Ints) -> npt.NDArray[np.bool_]:
    """Whether an order (not the first) exchanges two neighbouring blocks: it falls once, and rises by one elsewhere."""
    steps = np.diff(orders, axis=1)
    inner = (steps != 1).sum(axis=1)
    n = orders.shape[1]
    # Outside the two blocks the items stay: two or three seams in all, ends included.
    ends = (orders[:, :1] != 0).sum(axis=1) + (orders[:, -1:] != n - 1).sum(axis=1)
    swaps: npt.NDArray[np.bool_] = inner + ends == 3
    return swaps


def _seen_by_pairs(margins: Floats, orders: Ints) -> Floats:
    """Return for each target and pair of its places s < t the margin of the item at t over the one at s."""
    i, j = np.triu_indices(orders.shape[1], 1)
    return np.asarray(margins[orders[:, j], orders[:, i]])


def _kendall_rivals(orders: Ints) -> Floats:
    """Return for each rearrangement the pairs of places that it flips, over twice their number."""
    i, j = np.triu_indices(orders.shape[1], 1)
    flips = (orders[:, i] > orders[:, j]).astype(np.float64)
    # The denominator of the theorem is d(s, v): no u gains more, by the triangle inequality, and u = v gains it.
    return np.asarray(flips / (2 * np.maximum(flips.sum(axis=1, keepdims=True), 1)))


def _rho_rivals(orders: Ints) -> Floats:
    """Return for each rearrangement how far it moves what stands at each place, over twice its greatest effect."""
    grid = np.arange(orders.shape[1])
    moves = orders - grid
    # Of sum u(i) (v(i) - s(i)) over rankings u the largest is that of the same order (rearrangement inequality).
    return np.asarray(moves / (2 * np.maximum(np.sort(moves, axis=1) @ grid, 1))[:, None])


def _footrule_rivals(orders: Ints) -> Floats:
    """Return for each rearrangement the cost of each place left less that of the place taken, over twice its sum."""
    grid = np.arange(orders.shape[1])
    table = (grid[:, None] == grid).astype(np.float64) - (orders[:, :, None] == grid)
    total = np.abs(orders - grid).sum(axis=1)
    return np.asarray(table.reshape(len(orders), -1) / (2 * np.maximum(total, 1))[:, None])


def _flips(deltas: npt.ArrayLike | None, n: int) -> tuple[Floats, Ints]:
    """Return the deltas, and for each the number of pairs: 0 to n (n - 1) / 2, one more if no ranking is that far."""
    pairs = n * (n - 1) // 2
    if deltas is None:
        return np.arange(1, pairs + 1) / max(pairs, 1), np.arange(1, pairs + 1)
    delta = np.array(deltas, dtype=np.float64, ndmin=1)
    if delta.ndim != 1 or not np.isfinite(delta).all():
        raise UsageError("deltas must be a list of finite numbers")
    # The share of no pairs is zero: one item has nothing at any distance.
    flips = np.where((delta > 0) & (pairs == 0), 1, np.clip(np.ceil(delta * pairs - SAME), 0, pairs + 1))
    return delta, flips.astype(np.int64)
