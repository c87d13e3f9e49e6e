"""Confidence sets for places: simultaneous for all items, for each item alone, and for the top."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from time import perf_counter

import numpy as np

from holdrank.analysis.chance import estimates
from holdrank.analysis.chance.stepdown import Mask, separated
from holdrank.analysis.chance.sure_pairs import surely_before, surely_more_wins
from holdrank.analysis.sample_rankings import pair_margins
from holdrank.analysis.sampling import Stream, drawn_by
from holdrank.errors import UsageError, item_number, quote, real_number, show, whole_number
from holdrank.rankings import Floats, Ints
from holdrank.rules.consensus import Consensus, Statistic, StatisticName, expect_seconds, expect_votes, name_of
from holdrank.rules.merges import Robust, ballots_for, settled
from holdrank.rules.registry import Rule, auto, equip, rule_of
from holdrank.status import DRAWS, LEAST_DRAWS, Clock, Status, Tabular
from holdrank.votes.limits import NUMBERS_AT_A_TIME
from holdrank.votes.memo import close
from holdrank.votes.models import Seed, seed_of
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes
from holdrank.words import chance as words
from holdrank.words.numbers import span

_DRAWS, _DRAWS_OF_VOTES = 4000, DRAWS
_PSEUDO = 4.0  # votes added to the spread of a margin: pairs may be unanimous, or never compared

equip("bradley-terry", estimate=estimates.strengths)
equip("borda", estimate=estimates.points)
equip("mean-score", estimate=estimates.mean_of_scores)
equip("kemeny", separates=surely_before)
equip("copeland", separates=surely_more_wins)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RankSets(Tabular):
    """Confidence sets for the places of items; arrays are read-only, in the order of the items.

    The place of an item is 1 plus the number of better items. Items that are truly equal share a range of places, from
    1 plus the number of better items to n less the number of worse ones, and a set covers the whole range.

    Attributes
    ----------
    items : tuple of str
        Names of the items.
    consensus : Consensus
        Of the votes themselves.
    statistic : StatisticName
        Name of the rule.
    level : float
        Confidence level of `lower` and `upper`, for all items at once.
    lower, upper : array of int
        The best and the worst place of each item, for all items at once.
    marginal_lower, marginal_upper : array of int
        The same at confidence `level` for each item alone. For pairwise rules (`kemeny`, `copeland`) the place of one
        item depends on all pairs, so they equal `lower` and `upper`.
    separated : array of bool
        ``separated[i, j]``: item i stands above item j, for all pairs at once.
    units : float
        How many independent units the votes are: votes, or groups.
    by : str or None
        What a group is, where votes were not taken to be independent.
    draws : int
        Number of draws behind the critical values.
    seed : int
        `rng=seed` repeats the draws.
    status : Status
        Whether all draws were made; with fewer than 200 nothing is separated.
    notes : tuple of str
        Items whose strength the votes do not determine.
    seconds : float
        Time taken.
    """

    items: tuple[str, ...]
    consensus: Consensus
    statistic: StatisticName
    level: float
    lower: Ints
    upper: Ints
    marginal_lower: Ints
    marginal_upper: Ints
    separated: Mask
    units: float
    by: str | None
    draws: int
    seed: int
    status: Status
    notes: tuple[str, ...]
    seconds: float

    def __post_init__(self) -> None:
        close(self.lower, self.upper, self.marginal_lower, self.marginal_upper, self.separated)

    def top(self, k: int) -> tuple[str, ...]:
        """Return the items that may be in the top k: at confidence `level`, they include the true top k."""
        return self._named(np.flatnonzero(self.lower <= _place(k, len(self.items))))

    def surely_top(self, k: int) -> tuple[str, ...]:
        """Return the items that are in the top k, all of them at once at confidence `level`."""
        return self._named(np.flatnonzero(self.upper <= _place(k, len(self.items))))

    def tied(self, item: str, other: str) -> bool:
        """Whether the votes do not separate two items."""
        i, j = (item_number(name, self.items) for name in (item, other))
        return not (self.separated[i, j] or self.separated[j, i])

    @property
    def neighbours(self) -> tuple[bool, ...]:
        """For each two neighbours in the consensus, from the top: whether they are separated."""
        order = self.consensus.ranking.order
        return tuple(bool(self.separated[i, j]) for i, j in pairwise(order))

    def text(self) -> str:
        """Return the sets as text, one item per line, in the order of the consensus, and the separated neighbours.

        Examples
        --------
        >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[55, 45])
        >>> print(rank_sets(votes, rng=1).text())
        places by chance at 95 %, for all items at once (for each item alone), from 100 votes
        a: 1, 1–2 (1–2)
        b: 2, 1–2 (1–2)
        c: 3, 3 (3)
        1 of 2 neighbouring pairs is separated at 95 %.
        """
        ranking = self.consensus.ranking
        lines = [words.sets_heading(self.level, self.units, self.by)]
        for i in ranking.order:
            together, alone = span(self.lower[i], self.upper[i]), span(self.marginal_lower[i], self.marginal_upper[i])
            lines.append(words.sets_line(self.items[i], ranking.places[i], together, alone))
        if len(self.items) > 1:
            lines.append(words.neighbours_text(sum(self.neighbours), len(self.neighbours), self.level))
        return "\n".join([*lines, *self.notes])

    def _named(self, some: Ints) -> tuple[str, ...]:
        order = self.consensus.ranking.order
        return tuple(self.items[i] for i in sorted(some.tolist(), key=order.index))

    def __repr__(self) -> str:
        apart = f"{sum(self.neighbours)} of {len(self.neighbours)} neighbours separated"
        return f"RankSets({self.statistic}, {len(self.items)} items, level={self.level:g}, {apart}, seed={self.seed})"


def rank_sets(
    votes: Votes | PairCounts,
    T: Statistic = auto,
    *,
    level: float = 0.95,
    by: str | None = None,
    draws: int | None = None,
    time_limit: float | None = None,
    rng: Seed = None,
) -> RankSets:
    """Return confidence sets for the ranks: simultaneous for all items, and marginal for each item.

    Parameters
    ----------
    votes : Votes or PairCounts
        Votes with whole weights. `PairCounts` are enough for `bradley_terry`.
    T : Statistic
        `bradley_terry`, `borda`, `mean_score`, `kemeny` or `copeland`; by default `auto`:
        Bradley-Terry for battles, else Kemeny.
    level : float
        Confidence level: of all sets together, or of each marginal set.
    by : str, optional
        Column that groups the votes: the voter, task or category named in ``read_votes(file, by="column")``. All votes
        of a group then form one independent unit, so that voters with many votes do not make the sets too small.
    draws : int, optional
        Number of draws for the critical values, at least 200. By default 4,000, or 1,000 for `kemeny` and `copeland`,
        where each draws all votes.
    time_limit : float, optional
        Time limit in seconds. At the limit, or at Ctrl-C, the draws made so far count.
    rng : int, Generator or None
        The same seed gives the same result on every machine; None uses a fresh seed. It is stored as `seed`.

    Notes
    -----
    Rules that sort by a score use the stepdown max-t test of all differences of scores at once, with the covariance of
    the scores (Mogstad, Romano, Shaikh and Wilhelm 2024). Pairwise rules use a bootstrap region that covers the true
    margins of all pairs, and report what holds for every median in it.

    Examples
    --------
    >>> from holdrank import PlackettLuce, borda, sample_votes
    >>> votes = sample_votes(PlackettLuce([9.0, 8.5, 3.0, 1.0]), size=300, rng=1, items="abcd")
    >>> sets = rank_sets(votes, borda, rng=1)
    >>> sets.lower.tolist(), sets.upper.tolist()
    ([1, 1, 3, 4], [2, 2, 3, 4])
    >>> sets.tied("a", "b"), sets.top(1), sets.surely_top(3)
    (True, ('a', 'b'), ('a', 'b', 'c'))
    """
    started = perf_counter()
    level = _checked(votes, T, level)
    T = settled(T, votes)
    rule, seed = _rule(T), seed_of(rng)
    number = _draws(draws, _DRAWS if rule.estimate is not None else _DRAWS_OF_VOTES)
    seconds = expect_seconds(time_limit)
    if by is not None:
        expect_votes(votes, "rank_sets with by")
    if isinstance(votes, Votes):
        votes = ballots_for(T, drawn_by(votes, by))
    groups = votes.groups if isinstance(votes, Votes) else None
    consensus = rule.function(votes)  # type: ignore[arg-type]
    unknown: list[str] = []
    status = Status.RESAMPLED
    units = votes.total if groups is None else float(len(groups))
    if rule.estimate is not None:
        estimate = rule.estimate(votes, groups)
        above, alone = separated(estimate, level, number, np.random.default_rng(seed))
        unknown = [votes.items[k] for k in np.flatnonzero(~np.isfinite(estimate.values)).tolist()]
    else:
        expect_votes(votes, rule.name)
        with Clock(seconds) as clock:
            lower, made = _region(votes, level, number, seed, clock)  # type: ignore[arg-type]
            if made < number:
                status = Status.RESAMPLED_INTERRUPTED if clock.interrupted else Status.RESAMPLED_TIME_LIMIT
                number = made
        above = rule.separates(lower)
        alone = np.stack((above, above.T), axis=2)
    return RankSets(
        items=votes.items,
        consensus=consensus,
        statistic=name_of(T),
        level=level,
        lower=1 + above.sum(axis=0),
        upper=votes.n - above.sum(axis=1),
        marginal_lower=1 + alone[:, :, 1].sum(axis=1),
        marginal_upper=votes.n - alone[:, :, 0].sum(axis=1),
        separated=above,
        units=units,
        by=None if groups is None else groups.of,
        draws=number,
        seed=seed,
        status=status,
        notes=(words.unknown_note(unknown),) if unknown else (),
        seconds=perf_counter() - started,
    )


def knows_chance(T: Statistic) -> bool:
    """Whether `rank_sets` supports a rule."""
    rule = rule_of(T)
    return rule.estimate is not None or rule.separates is not None


def _region(votes: Votes, level: float, draws: int, seed: int, clock: Clock) -> tuple[Floats, int]:
    """Return the lower ends of a region that holds all margins at once, as shares of the votes; and the draws made.

    The votes are bootstrapped. The width of the region is the `level` quantile of the largest deviation of any margin,
    in standard errors. A few votes are added to the standard error, for pairs that all votes order the same way, or
    that no vote compares.
    """
    sums = pair_margins(votes)
    i, j = np.triu_indices(votes.n, 1)
    lower = np.full((votes.n, votes.n), -1.0)
    effective = estimates.effective_units(votes.total, votes.groups)
    if effective < 2 or not len(i):
        return lower, draws
    wins = votes.wins()
    margins = (wins - wins.T)[i, j] / votes.total
    stream = Stream(votes, seed)
    errors = np.empty((draws, len(i)), dtype=np.float32)
    size = max(1, NUMBERS_AT_A_TIME // max(votes.distinct, len(i)))
    made = 0
    for at in range(0, draws, size):
        weights = stream.take(min(size, draws - at))
        errors[at : at + size] = sums(weights) / weights.sum(axis=1, keepdims=True) - margins
        made = min(at + size, draws)
        if clock.over():
            break
    if made < LEAST_DRAWS:
        return lower, made
    errors = errors[:made]
    spread = np.sqrt(np.square(errors, dtype=np.float64).mean(axis=0) + (_PSEUDO / effective) ** 2)
    largest = np.abs(errors / spread).max(axis=1)
    # Where hardly any margin varies, at least what one that does would need.
    critical = max(float(np.quantile(largest, level, method="higher")), NormalDist().inv_cdf((1 + level) / 2))
    reach = critical * spread
    lower[i, j], lower[j, i] = margins - reach, -margins - reach
    return lower, made


def _checked(votes: object, T: object, level: object) -> float:
    expect_votes(votes, "rank_sets", pairs=True)
    assert isinstance(votes, Votes | PairCounts)
    share = real_number(level)
    if share is None or not 0 < share < 1:
        raise UsageError(f"level must be a number between 0 and 1, not {quote(str(level))}")
    if not callable(T):
        raise UsageError(f"the statistic must be kemeny, borda or another rule, not {show(repr(T))}")
    if not votes.is_counts:
        raise UsageError(
            "confidence sets need the number of votes, and these votes are shares",
            repair="give counts (whole numbers) as weights",
        )
    return share


def _draws(draws: object, default: int) -> int:
    number = default if draws is None else whole_number(draws)
    if number is None or number < LEAST_DRAWS:
        raise UsageError(f"draws must be a whole number from {LEAST_DRAWS}, not {quote(str(draws))}")
    return number


def _rule(T: Statistic) -> Rule:
    """Return the registry entry of a rule that `rank_sets` supports."""
    rule = rule_of(T)
    if not knows_chance(T):
        known = "bradley_terry, borda, mean_score, kemeny or copeland"
        repair = "pass the base rule of the tiers" if isinstance(T, Robust) else f"use {known}, or bootstrap"
        raise UsageError(f"rank_sets does not support {rule.name}", repair=repair)
    return rule


def _place(k: object, n: int) -> int:
    number = whole_number(k)
    if number is None or not 1 <= number <= n:
        raise UsageError(f"k must be a whole number from 1 to {n}, not {quote(str(k))}")
    return number
