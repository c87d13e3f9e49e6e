"""Consensus rankings: the medians Kemeny, Borda and footrule, each a statistic of the votes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

import numpy as np

from holdrank.arrays.tolerances import TIED
from holdrank.errors import UsageError, quote, real_number
from holdrank.rankings import Floats, Ranking, footrule_maximum
from holdrank.rules.kemeny import all_cheapest_orders, cheapest_order, cheapest_ranks
from holdrank.rules.ratings import RatingModel, Ratings
from holdrank.rules.solvers.assignment import all_assignments, assign
from holdrank.status import Clock, Shown, Status, Step, Tabular
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes
from holdrank.words.names import brief_order, statistic_name
from holdrank.words.results import never_compared_text


@dataclass(frozen=True, slots=True)
class Consensus(Tabular):
    """A consensus ranking, with its loss, a certified bound, and how it was obtained.

    Attributes
    ----------
    ranking : Ranking
        The consensus; ties only where a merge made them.
    items : tuple of str
        Names of the items.
    loss : float
        Expected normalised distance between the ranking and a vote; `distance` says which.
    bound : float
        No ranking has a smaller loss than this; equal to `loss` when the status is "proven optimal".
    distance : str
        The distance of `loss` and `bound`: "kendall", "spearman_rho", "footrule", or the metric of a `Median`.
    status : Status
        How the ranking was obtained.
    unique : bool or None
        Whether it is the only optimum; None if that was not decided. With several optima
        the lexicographically first is reported where that is cheap, else a fixed choice.
    proof : str
        How the status was reached, as text.
    seconds : float
        Time taken.
    notes : tuple of str
        Remarks, such as that several rankings are optimal, and why.
    """

    ranking: Ranking
    items: tuple[str, ...]
    loss: float
    bound: float
    distance: str
    status: Status
    unique: bool | None
    proof: str
    seconds: float
    notes: tuple[str, ...] = ()
    _model: RatingModel | None = field(default=None, compare=False)

    @property
    def has_ratings(self) -> bool:
        """Whether there are `ratings`: only `bradley_terry` has them."""
        return self._model is not None

    def text(self) -> str:
        """Return the ranking with the names of the items, ``A > {B, C} > D``."""
        return self.ranking.text(self.items)

    def ratings(
        self,
        *,
        scale: float = 400.0,
        base: float = 10.0,
        offset: float = 1000.0,
        anchor: str | None = None,
        level: float = 0.95,
        damping: float = 0.0,
    ) -> Ratings:
        """Return ratings with standard errors and confidence intervals; for `bradley_terry` only.

        They are fitted on first use, by maximum likelihood, without the ridge of the order. An item that never lost (or
        never won) has no finite rating, and neither has one that no votes connect with the others: only the largest
        group of items connected by wins is rated. `notes` of the result names the others.

        Parameters
        ----------
        scale, base, offset : float
            The rating is ``offset + scale / log(base) * strength``. With scale 400 and base 10, a lead of 400 points
            means odds of 10 to 1.
        anchor : str, optional
            The item whose rating is `offset`; standard errors are then those of the difference from it. By default
            `offset` is the mean of the rated items.
        level : float
            Confidence level of the intervals, for each item alone.
        damping : float
            Added to the diagonal of the curvature before standard errors are taken, as a share of the comparisons
            (under `reweight`, unscaled). The package arena-rank uses 1e-5, which makes the errors of items with very
            few comparisons too small; 0 is correct.

        Notes
        -----
        Standard errors are those of Huber and White (the sandwich), which allow for votes that do not follow the model.
        A ballot is one vote, no matter how many pairs it compares. `PairCounts` do not distinguish ballots or ties;
        `notes` says what is assumed.

        Examples
        --------
        >>> import holdrank as hr
        >>> votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[30, 10])
        >>> found = hr.bradley_terry(votes).ratings()
        >>> found.values.round(1).tolist(), found.lower.round(1).tolist()
        ([1095.4, 904.6], [1033.3, 842.4])
        """
        if self._model is None:
            raise UsageError("only a consensus by bradley_terry has ratings", repair="use bradley_terry(votes)")
        return self._model.ratings(
            self.ranking, scale=scale, base=base, offset=offset, anchor=anchor, level=level, damping=damping
        )

    def pair_errors(self) -> Floats:
        """Return the standard errors of the differences of strengths, by pairs; only of `bradley_terry`."""
        if self._model is None:
            raise UsageError("only a consensus by bradley_terry has ratings", repair="use bradley_terry(votes)")
        return self._model.pair_errors()

    def __repr__(self) -> str:
        if brief := brief_order(self.ranking.buckets, self.items):
            doubt = "" if self.status.is_exact else f", {self.status.in_brief}"
            return f"Consensus({len(self.items)} items: {brief}{doubt})"
        return f"Consensus({self.text()}, loss={self.loss:.6g}, bound={self.bound:.6g}, {self.status})"


@runtime_checkable
class Statistic(Protocol):
    """A rule: a function from votes to a consensus, such as `kemeny`, `borda`, a `Robust` instance or your own."""

    @property
    def __name__(self) -> str: ...

    def __call__(self, votes: Votes, /) -> Consensus:
        """Return the consensus of the votes."""
        ...


class StatisticName(str):
    """The name of a statistic, with the facts behind it.

    Attributes
    ----------
    rule : str
        Name of the rule, or of the rule below the tiers.
    theta : float or None
        Threshold of the tiers; None without tiers, and for the auto threshold.
    merge : str or None
        How the tiers are merged; None without tiers.
    """

    rule: str
    theta: float | None
    merge: str | None
    _made_of: tuple[str, float | None, str | None]

    def __new__(cls, rule: str, theta: float | None = None, merge: str | None = None) -> StatisticName:
        """Return the name."""
        found = super().__new__(cls, statistic_name(rule, theta, merge))
        found.rule, found.theta, found.merge = "-".join(rule.split("_")), theta, merge
        found._made_of = rule, theta, merge
        return found

    def __reduce__(self) -> tuple[type[StatisticName], tuple[str, float | None, str | None]]:
        return type(self), self._made_of

    def facts(self) -> dict[str, Any]:
        """Return the name and the facts as plain data."""
        return {"statistic": str(self), "rule": self.rule, "theta": self.theta, "merge": self.merge}


def name_of(T: Statistic) -> StatisticName:
    """Return the display name of a statistic, with its parts."""
    base, theta, merge = (getattr(T, part, None) for part in ("base", "theta", "merge"))
    if callable(base) and merge is not None:  # `Robust`
        return StatisticName(name_of(base), None if theta == "auto" else theta, merge)
    return StatisticName(str(getattr(T, "__name__", type(T).__name__)))


def kemeny(
    votes: Votes | PairCounts, *, time_limit: float | None = None, progress: Callable[[Step], None] | None = None
) -> Consensus:
    """Return the Kemeny consensus: the strict ranking with the smallest mean Kendall distance to the votes.

    Parameters
    ----------
    votes : Votes or PairCounts
    time_limit : float, optional
        Time limit in seconds. At the limit, or at Ctrl-C, you get the best ranking found, with a certified bound.
    progress : callable, optional
        Called with a `Step` from time to time, to show progress.

    Notes
    -----
    Minimises ``sum over i before j of W[j, i]``. Among several optima the lexicographically first is reported where
    the components of the majority relation have at most 16 items. Paper: ranking medians, Kemeny's consensus
    (Section 2.1).

    Examples
    --------
    >>> c = kemeny(Votes.from_orders([["a", "b", "c"], ["b", "c", "a"], ["a", "c", "b"]]))
    >>> c.text(), c.status.value, c.unique
    ('a > b > c', 'proven optimal', True)
    >>> c.proof
    '3 single items by majority'
    """
    started = perf_counter()
    expect_votes(votes, "kemeny", pairs=True)
    with Clock(expect_seconds(time_limit)) as clock:
        solved = cheapest_order(votes.wins().T, whole=votes.is_counts, clock=clock, progress=progress)
        reasons = (
            (solved.proved, Status.PROVED),
            (clock.interrupted, Status.INTERRUPTED),
            (solved.too_large, Status.TOO_LARGE),
            (clock.over(), Status.TIME_LIMIT),
            (True, Status.UNPROVED),
        )
        status = next(status for holds, status in reasons if holds)
    return Consensus(
        ranking=Ranking.from_order(solved.order),
        items=votes.items,
        loss=solved.cost / votes.pair_votes,
        bound=solved.bound / votes.pair_votes,
        distance="kendall",
        status=status,
        unique=solved.unique,
        proof=solved.proof,
        seconds=perf_counter() - started,
        notes=_on_gaps(votes.wins(), list(solved.order)),
    )


def _on_gaps(wins: Floats, order: list[int]) -> tuple[str, ...]:
    """Return a note where neighbours in an order were never compared: they may swap at no cost."""
    compared = wins + wins.T > 0
    neighbours = int(np.count_nonzero(~compared[order[:-1], order[1:]]))
    pairs = len(order) * (len(order) - 1) // 2
    never = pairs - int(np.count_nonzero(compared)) // 2
    return (never_compared_text(never, pairs, neighbours),) if neighbours else ()


def kemeny_optima(votes: Votes | PairCounts, *, most: int = 10_000) -> list[Ranking]:
    """Return every ranking that is as good as Kemeny's, in lexicographic order.

    Refuses more than `most` of them, and components of the majority relation with more than 16 items.

    Examples
    --------
    >>> [r.text("abc") for r in kemeny_optima(Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]]))]
    ['a > b > c', 'b > a > c']
    """
    orders = all_cheapest_orders(votes.wins().T, whole=votes.is_counts, most=most)
    return [Ranking.from_order(order) for order in orders]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class KemenyBatch(Shown):
    """Kemeny's medians of many pairwise matrices, in the array library of these; arrays of numpy are read-only.

    Attributes
    ----------
    ranks : array of int
        Rank of each item in the last axis, 1 is best; the lexicographically first order among several optima.
    loss : array of float
        The share of pairs lost on average, ``sum over i before j of P[j, i]`` over the number of pairs.
    """

    ranks: Any
    loss: Any

    def __post_init__(self) -> None:
        for array in (self.ranks, self.loss):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.loss.shape)) or "1"
        return f"KemenyBatch({shape} medians of {self.ranks.shape[-1]} items)"


def kemeny_batch(P: Any) -> KemenyBatch:
    """Return Kemeny's median of many pairwise matrices at once.

    Parameters
    ----------
    P : array
        Pairwise matrices of up to 10 items in the last two axes, of numpy or of any other array library; the result
        stays in it, on its device.

    Examples
    --------
    >>> P = np.array([[[0.5, 0.6], [0.4, 0.5]], [[0.5, 0.1], [0.9, 0.5]]])
    >>> found = kemeny_batch(P)
    >>> found.ranks.tolist(), found.loss.tolist()
    ([[1, 2], [2, 1]], [0.4, 0.1])
    """
    ranks, cost = cheapest_ranks(np.asarray(P, dtype=np.float64) if isinstance(P, list | tuple) else P)
    n = ranks.shape[-1]
    return KemenyBatch(ranks, cost / max(n * (n - 1) / 2, 1))


def borda(votes: Votes | PairCounts) -> Consensus:
    """Return the Borda consensus: items sorted by their mean place, which minimises the mean Spearman rho distance.

    Incomplete ballots under ``unlisted="observed"`` give no places, and neither do `PairCounts`. Items are then sorted
    by their pairwise wins, ``sum_j W[i, j]``, the loss is the expected Kendall distance, and the bound takes each pair
    in the order of its majority. Where every vote compares every pair, this is still the order of the mean places.

    Notes
    -----
    Paper: Borda's consensus, the median for Spearman rho (Section 2.1).

    Examples
    --------
    >>> borda(Votes.from_orders([["a", "b", "c"], ["b", "c", "a"], ["b", "a", "c"]])).text()
    'b > a > c'
    """
    started = perf_counter()
    expect_votes(votes, "borda", pairs=True)
    placed = _with_places(votes)
    by_places = placed is not None
    tied = borda_ties(votes)
    ranking, unique = Ranking.from_order(tied.order), tied.is_strict
    if placed is not None:
        loss = bound = placed.loss(ranking, "spearman_rho")
    else:
        loss, bound = votes.loss(ranking), votes.least_loss()
    full = isinstance(votes, PairCounts) and votes.compares_all
    return Consensus(
        ranking=ranking,
        items=votes.items,
        loss=loss,
        bound=bound,
        distance="spearman_rho" if by_places else "kendall",
        status=Status.PROVED if by_places else Status.SORTED if full else Status.SCORED,
        unique=unique,
        proof="sorted by mean place" if by_places else "sorted by pairwise wins" + ", as by mean place" * full,
        seconds=perf_counter() - started,
    )


def borda_ties(votes: Votes | PairCounts) -> Ranking:
    """Return the items by Borda's scores, tied where these are equal; `borda` lists tied items by their numbers."""
    placed = _with_places(votes)
    scores = -placed.mean_places() if placed is not None else votes.wins().sum(axis=1)
    # Scores of whole votes are sums of halves and differ exactly or not at all; others carry rounding.
    return tied_by_scores(scores, 0.0 if votes.is_counts else TIED * float(np.abs(scores).max()))


def _with_places(votes: Votes | PairCounts) -> Votes | None:
    """Return the votes if their ballots place every item."""
    return votes if isinstance(votes, Votes) and votes.compares_all else None


def footrule(votes: Votes) -> Consensus:
    """Return the footrule median: the ranking with the smallest mean Spearman footrule distance to the votes.

    Notes
    -----
    Solved as an assignment problem and proven by its duals. Paper: ranking medians (Section 2.1) for the footrule
    (Appendix A).

    Examples
    --------
    >>> footrule(Votes.from_orders([["a", "b", "c"], ["b", "c", "a"], ["b", "a", "c"]])).text()
    'b > a > c'
    """
    started = perf_counter()
    expect_votes(votes, "footrule")
    cost, scale, tolerance = _footrule_costs(votes)
    assigned = assign(cost, tolerance)
    loss = assigned.cost / scale / (votes.total * max(footrule_maximum(votes.n), 1))
    return Consensus(
        ranking=Ranking(assigned.place),
        items=votes.items,
        loss=loss,
        bound=loss,
        distance="footrule",
        status=Status.PROVED,
        unique=assigned.unique,
        proof="assignment problem, by its dual prices",
        seconds=perf_counter() - started,
    )


def footrule_optima(votes: Votes, most: int) -> list[Ranking] | None:
    """Return every ranking that is as good as the footrule's; None when there are more than `most`."""
    cost, _, tolerance = _footrule_costs(votes)
    found = all_assignments(cost, tolerance, most)
    return None if found is None else [Ranking(place) for place in found]


def _footrule_costs(votes: Votes) -> tuple[Floats, float, float]:
    """Return the cost of each place for each item, its unit for one vote, and the tolerance for equal costs."""
    # Doubled, counts of half places are whole numbers: sums and comparisons are then exact.
    exact = votes.is_counts and 2 * votes.total * max(footrule_maximum(votes.n), 1) < 2**53
    scale = 2.0 if exact else 1 / votes.total
    return scale * votes.place_costs(), scale, 0.0 if exact else TIED * votes.n


def expect_votes(votes: object, rule: str, *, pairs: bool = False) -> None:
    """Refuse a value that is not `Votes`, naming the rule; with `pairs`, the rule also takes `PairCounts`."""
    if isinstance(votes, PairCounts):
        if not pairs:
            raise UsageError(
                f"{rule} needs ballots, and pair counts hold none",
                repair="use counts.as_votes() to make a ballot of every comparison",
            )
    elif not isinstance(votes, Votes):
        raise UsageError(
            f"{rule} takes Votes, not {type(votes).__name__}; make them with Votes.from_orders or another constructor"
        )


def expect_seconds(time_limit: object) -> float | None:
    """Return a time limit as a Python number; refuse anything else."""
    seconds = real_number(time_limit)
    if time_limit is not None and (seconds is None or not seconds >= 0):
        raise UsageError(f"time_limit must be a number of seconds, not {quote(str(time_limit))}")
    return seconds


def by_scores(scores: Floats, tolerance: float) -> tuple[Ranking, bool]:
    """Return the items by falling score, equal scores in the order of their numbers, and whether none were equal.

    Neighbours that differ by no more than `tolerance` are equal.
    """
    tied = tied_by_scores(scores, tolerance)
    return Ranking.from_order(tied.order), tied.is_strict


def tied_by_scores(scores: Floats, tolerance: float) -> Ranking:
    """Return the items by falling score, tied where neighbours differ by no more than `tolerance`."""
    descending = np.sort(scores)[::-1]
    level = np.concatenate(([0], np.cumsum(-np.diff(descending) > tolerance)))
    return Ranking(level[np.searchsorted(-descending, -scores)])
