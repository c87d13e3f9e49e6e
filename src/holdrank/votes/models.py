"""Distributions over rankings, with samplers and, for few items, their exact probabilities.

Every model has `n`, ``orders(size, rng)`` (best-first lists of items, one row per draw) and ``pmf()``, the probability
of each of the n! strict rankings in the order of `all_rankings(n)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial
from typing import Protocol, TypeAlias

import numpy as np

from holdrank.errors import LimitError, UsageError, quote, real_number, whole_number
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.votes.provenance import Reading
from holdrank.votes.votes import Votes

Seed: TypeAlias = "int | np.random.Generator | None"

_MOST_ENUMERATED = 9  # items: 362,880 rankings


class Model(Protocol):
    """A distribution over the strict rankings of n items."""

    @property
    def n(self) -> int:
        """Number of items."""
        ...

    def orders(self, size: int, rng: np.random.Generator) -> Ints:
        """Return `size` independent draws as best-first lists, one per row."""
        ...

    def pmf(self) -> Floats:
        """Return the probability of each strict ranking, in the order of `all_rankings(n)`."""
        ...


@dataclass(frozen=True, slots=True)
class Mallows:
    """Mallows' model: a ranking at Kendall distance d (in pairs) from `order` has probability proportional to phi**d.

    Parameters
    ----------
    order : sequence of int
        The centre, best first.
    phi : float
        From 0 (all mass on the centre) to 1 (uniform).

    Examples
    --------
    >>> Mallows([0, 1], phi=0.5).pmf().round(4).tolist()
    [0.6667, 0.3333]
    """

    order: Sequence[int]
    phi: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", _checked_order(self.order))
        object.__setattr__(self, "phi", _share("phi", self.phi))

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.order)

    def orders(self, size: int, rng: np.random.Generator) -> Ints:
        """Return draws by repeated insertion: exact, no burn-in.

        Item k of the centre is inserted at j places from the end of the first k with probability proportional to
        phi**j, which adds j discordant pairs.
        """
        place = np.zeros((size, self.n), dtype=np.int32)
        for k in range(self.n):
            jumps = self.phi ** np.arange(k + 1.0)
            jump = np.searchsorted(np.cumsum(jumps) / jumps.sum(), rng.random(size), side="right")
            to = k - np.minimum(jump, k)
            place[:, :k] += place[:, :k] >= to[:, None]
            place[:, k] = to
        return np.asarray(self.order)[np.argsort(place, axis=1)]

    def pmf(self) -> Floats:
        """Return the probability of each strict ranking."""
        orders = _all_orders(self.n)
        centre_place = np.argsort(self.order)[orders]
        discordant = np.zeros(len(orders))
        for k in range(self.n):
            discordant += (centre_place[:, k : k + 1] > centre_place[:, k + 1 :]).sum(axis=1)
        mass = self.phi**discordant
        return np.asarray(mass / mass.sum())


@dataclass(frozen=True, slots=True)
class PlackettLuce:
    """Plackett and Luce's model: places are filled from the top, each item chosen in proportion to its weight.

    Parameters
    ----------
    weights : sequence of float
        One for each item, all above 0; only their ratios count.

    Examples
    --------
    >>> PlackettLuce([3, 1]).pmf().tolist()
    [0.75, 0.25]
    """

    weights: Sequence[float]

    def __post_init__(self) -> None:
        weights = tuple(float(w) for w in self.weights)
        if not weights or not all(0 < w < np.inf for w in weights):
            raise UsageError("the weights of a Plackett-Luce model must be positive numbers")
        object.__setattr__(self, "weights", tuple(w / max(weights) for w in weights))

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.weights)

    def orders(self, size: int, rng: np.random.Generator) -> Ints:
        """Return draws: the order of independent Gumbel variables shifted by the log weights."""
        return np.argsort(-(np.log(self.weights) + rng.gumbel(size=(size, self.n))), axis=1)

    def pmf(self) -> Floats:
        """Return the probability of each strict ranking."""
        weights = np.asarray(self.weights)[_all_orders(self.n)]
        left = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
        return np.asarray((weights / left).prod(axis=1))


@dataclass(frozen=True, slots=True)
class Uniform:
    """All strict rankings of n items equally likely."""

    n: int

    def __post_init__(self) -> None:
        n = whole_number(self.n)
        if n is None or n < 1:
            raise UsageError(f"a model needs a whole number of items, at least one, not {self.n}")
        object.__setattr__(self, "n", n)

    def orders(self, size: int, rng: np.random.Generator) -> Ints:
        """Return independent random permutations."""
        return rng.permuted(np.tile(np.arange(self.n), (size, 1)), axis=1)

    def pmf(self) -> Floats:
        """Return 1 / n! for each strict ranking."""
        count = len(_all_orders(self.n))
        return np.full(count, 1 / count)


@dataclass(frozen=True, slots=True)
class PointMass:
    """All mass on one strict ranking.

    Parameters
    ----------
    order : sequence of int
        The items, best first.
    """

    order: Sequence[int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", _checked_order(self.order))

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.order)

    def orders(self, size: int, rng: np.random.Generator) -> Ints:  # noqa: ARG002
        """Return copies of the one ranking."""
        return np.tile(np.asarray(self.order), (size, 1))

    def pmf(self) -> Floats:
        """Return 1 for the ranking and 0 for the others."""
        return np.asarray((_all_orders(self.n) == np.asarray(self.order)).all(axis=1), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class BucketMass:
    """Mass on the strict rankings that break the ties of a bucket ranking.

    Parameters
    ----------
    ranking : Ranking
        The bucket ranking.
    gap : float
        0: all of them equally likely. Otherwise their probabilities fall evenly, in lexicographic order, from
        ``(1 + gap) / K`` to ``(1 - gap) / K``; for a single tied pair (K = 2) the two differ by `gap`.

    Notes
    -----
    Paper: the bucket distributions of Figures 2, 4 and 5; add noise with `Mixture`.

    Examples
    --------
    >>> BucketMass(Ranking([1, 2, 2]), gap=0.1).pmf().round(3).tolist()
    [0.55, 0.45, 0.0, 0.0, 0.0, 0.0]
    """

    ranking: Ranking
    gap: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.ranking, Ranking):
            raise UsageError(f"BucketMass takes a Ranking, not {type(self.ranking).__name__}")
        object.__setattr__(self, "gap", _share("gap", self.gap))

    @property
    def n(self) -> int:
        """Number of items."""
        return self.ranking.n

    def orders(self, size: int, rng: np.random.Generator) -> Ints:
        """Return draws; with a gap the tied rankings are enumerated, so only few items are allowed."""
        if self.gap:
            return _all_orders(self.n)[rng.choice(factorial(self.n), size=size, p=self.pmf())]
        return np.argsort(self.ranking.ranks + rng.random((size, self.n)), axis=1)

    def pmf(self) -> Floats:
        """Return the probability of each strict ranking."""
        inside = np.asarray((np.diff(self.ranking.ranks[_all_orders(self.n)], axis=1) >= 0).all(axis=1))
        count = int(inside.sum())
        mass = np.zeros(len(inside))
        mass[inside] = (1 + self.gap * np.linspace(1, -1, count) if count > 1 else np.ones(1)) / count
        return mass


@dataclass(frozen=True, slots=True)
class Mixture:
    """Several models, each with its share.

    Parameters
    ----------
    parts : sequence of (float, model)
        Shares that add up to 1, and models of the same number of items.

    Examples
    --------
    >>> Mixture([(0.9, PointMass([0, 1])), (0.1, Uniform(2))]).pmf().round(4).tolist()
    [0.95, 0.05]
    """

    parts: Sequence[tuple[float, Model]]

    def __post_init__(self) -> None:
        parts = tuple(self.parts)
        shares = [_share("the share of a part", share) for share, _ in parts]
        if not parts or min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
            raise UsageError("the shares of a mixture must be non-negative and sum to 1")
        if len({model.n for _, model in parts}) > 1:
            raise UsageError("all parts of a mixture must have the same number of items")
        models = [model for _, model in parts]
        object.__setattr__(self, "parts", tuple(zip([share / sum(shares) for share in shares], models, strict=True)))

    @property
    def n(self) -> int:
        """Number of items."""
        return self.parts[0][1].n

    def orders(self, size: int, rng: np.random.Generator) -> Ints:
        """Return draws, each from a part chosen by its share."""
        sizes = rng.multinomial(size, [share for share, _ in self.parts])
        drawn = [model.orders(int(count), rng) for count, (_, model) in zip(sizes, self.parts, strict=True)]
        return rng.permutation(np.concatenate(drawn))

    def pmf(self) -> Floats:
        """Return the probability of each strict ranking."""
        return np.asarray(sum(share * model.pmf() for share, model in self.parts))


def sample_votes(model: Model, size: int, *, items: Iterable[str] | None = None, rng: Seed = None) -> Votes:
    """Return `size` complete strict ballots drawn from a model.

    Parameters
    ----------
    model : Mallows, PlackettLuce, Uniform, PointMass, BucketMass, Mixture or any `Model`
    size : int
    items : iterable of str, optional
        Names of the items; "0", "1", ... by default.
    rng : int, Generator or None
        The same seed gives the same votes on every machine; None uses a fresh seed, stored in the votes' `reading`.

    Examples
    --------
    >>> votes = sample_votes(Mallows([2, 0, 1], phi=0.3), 1000, rng=7)
    >>> votes.total, votes.n
    (1000.0, 3)
    """
    number = whole_number(size)
    if number is None or number < 1:
        raise UsageError(f"size must be a whole number of votes, 1 or more, not {quote(str(size))}")
    seed = np.random.SeedSequence().entropy if rng is None else rng
    try:
        generator = np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"rng must be a whole number (0 or more), a Generator or None, not {quote(str(rng))}"
        ) from error
    orders = model.orders(number, generator)
    ranks = np.empty(orders.shape, dtype=np.int16 if model.n < 2**15 else np.int32)
    np.put_along_axis(ranks, orders, np.arange(1, model.n + 1, dtype=ranks.dtype)[None, :], axis=1)
    votes = Votes.from_ranks(ranks, items=items)
    told = "given generator" if isinstance(rng, np.random.Generator) else str(seed)
    reading = Reading(
        source=f"sample of {type(model).__name__}", format="sample", choices={"unlisted": "bottom", "seed": told}
    )
    return votes.with_reading(reading)


def exact_votes(model: Model, *, items: Iterable[str] | None = None) -> Votes:
    """Return the model itself as votes: every strict ranking, weighted by its probability.

    Examples
    --------
    >>> exact_votes(PlackettLuce([3, 1])).pairwise().tolist()
    [[0.5, 0.75], [0.25, 0.5]]
    """
    votes = Votes.from_orders(_all_orders(model.n).tolist(), weights=model.pmf(), items=range(model.n))
    votes = votes if items is None else votes.renamed(items)
    return votes.with_reading(Reading(source=type(model).__name__, format="model", choices={"unlisted": "bottom"}))


def seed_of(rng: Seed) -> int:
    """Return the seed that repeats a run: the one given, or a new one, drawn from the generator if there is one."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if rng is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    number = whole_number(rng)
    if number is None or number < 0:
        raise UsageError(f"rng must be a whole number (0 or more), a Generator or None, not {quote(str(rng))}")
    return number


def _share(name: str, value: object) -> float:
    number = real_number(value)
    if number is None or not 0 <= number <= 1:
        raise UsageError(f"{name} must be a number from 0 to 1, not {quote(str(value))}")
    return number


def _all_orders(n: int) -> Ints:
    if n > _MOST_ENUMERATED:
        raise LimitError(f"{n} items have {n}! rankings; exact probabilities are limited to {_MOST_ENUMERATED} items")
    return np.array(list(permutations(range(n))))


def _checked_order(order: Sequence[int]) -> tuple[int, ...]:
    return Ranking.from_order(order).order


def example_votes(seed: int = 2023) -> Votes:
    """Return generated example votes: 500 ballots over eight trees, some of them nearly level.

    Examples
    --------
    >>> example_votes()
    Votes(8 items, 500 ballots, 480 distinct, unlisted='bottom')
    """
    strengths = {
        "Alder": 8.0,
        "Birch": 7.7,
        "Cedar": 5.0,
        "Elm": 3.1,
        "Fir": 3.0,
        "Hazel": 2.9,
        "Juniper": 1.5,
        "Larch": 0.6,
    }
    return sample_votes(PlackettLuce(list(strengths.values())), 500, rng=seed, items=strengths)
