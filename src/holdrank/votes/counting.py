"""Weighted ballots, and everything counted from them: pairs, places and losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from holdrank.arrays.kernels import whole_number_scale
from holdrank.errors import Message, Option, UsageError, quote
from holdrank.rankings import Floats, Ints, Ranking, footrule_maximum, rho_maximum
from holdrank.votes.ballots import Ballots
from holdrank.votes.limits import refuse_many_items
from holdrank.votes.memo import Remembering
from holdrank.votes.provenance import Unlisted
from holdrank.votes.wins import kendall_cost, least_cost, pair_shares

Distance: TypeAlias = Literal["kendall", "spearman_rho", "footrule"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WeightedBallots(Remembering):
    """Ballots over named items, and the number of votes of each. `Votes` adds constructors and descriptions."""

    items: tuple[str, ...]
    ballots: Ballots
    weights: Floats
    unlisted: Unlisted

    @property
    def ranks(self) -> Ints:
        """The matrix of the ranks; for ballots that list few of many items it is made on first use."""
        return self._remember("ranks", self.ballots.matrix)

    @property
    def scores(self) -> Floats | None:
        """The matrix of the scores, if there are scores."""
        return self._remember("scores", self.ballots.score_matrix)

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.items)

    @property
    def distinct(self) -> int:
        """Number of distinct ballots; where there are scores, of distinct rows of scores."""
        return len(self.weights)

    @property
    def total(self) -> float:
        """Number of votes, or total mass of a distribution."""
        return self._remember("total", lambda: float(self.weights.sum()))

    @property
    def pair_votes(self) -> float:
        """Number of votes times the number of pairs of items: the divisor that turns costs into losses."""
        return self.total * max(self.n * (self.n - 1) / 2, 1)

    @property
    def is_counts(self) -> bool:
        """Whether all weights are whole numbers, so that half votes are the smallest step of any count."""
        return self._remember("counts", lambda: bool(np.array_equal(np.rint(self.weights), self.weights)))

    @property
    def with_ties(self) -> float:
        """Weight of the ballots that tie at least two listed items."""
        return float(self.weights[self.ballots.listed > self.ballots.largest_ranks()].sum())

    @property
    def incomplete(self) -> float:
        """Weight of the ballots that leave at least one item unlisted."""
        return float(self.weights[self.ballots.listed < self.n].sum())

    @property
    def observed(self) -> bool:
        """Whether ballots compare only the items that they list; unlisted items otherwise stand below, tied."""
        return self.unlisted == "observed"

    @property
    def compares_all(self) -> bool:
        """Whether every ballot compares every pair."""
        return not self.observed or not self.incomplete

    @property
    def compares_two(self) -> bool:
        """Whether ballots compare two items: some compare two, and none compares more."""
        return self._remember("two", lambda: self.observed and int(self.ballots.listed.max(initial=0)) == 2)

    def wins(self) -> Floats:
        """Return W, W[i, j] = weight of the ballots that place i above j, a tie counting half for each.

        Under "bottom" unlisted items are tied below the listed ones; under "observed" a ballot compares only
        the items that it lists. The diagonal is zero.
        """
        return self._remember("wins", self._count_wins)

    def pairwise(self) -> Floats:
        """Return P, P[i, j] = W[i, j] / (W[i, j] + W[j, i]): the share of votes on this pair that prefer i.

        One half on the diagonal and for pairs that no vote compared.

        Paper: pairwise probabilities, the pairwise matrix (Section 4.1).
        """
        return self._remember("pairwise", lambda: pair_shares(self.wins()))

    def positions(self) -> Floats:
        """Return the (n, n) matrix of the share of votes that put item i at place k + 1.

        Tied items stand at the mean of the places they cover; a half place counts half for each neighbour, so that
        the footrule cost of placing item i at k is exactly ``sum_r positions[i, r] |r - k|``.
        """
        return self._remember("positions", lambda: self.place_weights() / self.total)

    def place_weights(self) -> Floats:
        """Return `positions` as weights instead of shares: how many votes put item i at place k + 1."""
        return self._remember("place weights", self._count_places)

    def place_costs(self) -> Floats:
        """Return what each place costs each item: the sum of the weights of the votes, each times its distance."""
        at = self.place_weights()
        # One place further down is farther from the weight above it, and nearer to the rest.
        steps = 2 * np.cumsum(at[:, :-1], axis=1) - at.sum(axis=1, keepdims=True)
        return np.cumsum(np.column_stack((at @ np.arange(self.n), steps)), axis=1)

    def listed_weights(self) -> Floats:
        """Return for each item the weight of the ballots that list it."""
        return self.ballots.listed_weights(self.weights)

    def mean_places(self) -> Floats:
        """Return the mean place of each item (1 is best), ties at the mean of the places they cover.

        For complete ballots and under "bottom" this is ``1 + sum_j P[j, i]``; it takes time linear in the ballots.
        """
        self._refuse_unknown_places()
        # Whole numbers (doubled places, scaled weights) make the sums exact, hence the same on any machine.
        scale = whole_number_scale(self.weights, spare_bits=2 + int(np.ceil(np.log2(2 * self.n))))
        sums = self.ballots.place_sums(np.rint(self.weights * scale).astype(np.int64))
        return np.asarray(sums / (2 * scale * self.total))

    def loss(self, ranking: Ranking, distance: Distance = "kendall") -> float:
        """Return the expected normalised distance between `ranking` and a vote.

        For Kendall a tie, in the ranking or in a ballot, costs one half; pairs that a ballot does not compare cost
        nothing. The other distances need places for all items, so they refuse incomplete ballots under "observed".

        Paper: the loss (Section 5.1), the objective of a median (Section 2.1); with ties, H^(1/2) to the votes.

        Examples
        --------
        >>> import holdrank as hr
        >>> votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 1])
        >>> votes.loss(Ranking([1, 2])), votes.loss(Ranking([1, 1]))
        (0.25, 0.5)
        """
        if not isinstance(ranking, Ranking):
            raise UsageError(f"loss takes a Ranking, not {type(ranking).__name__}")
        if ranking.n != self.n:
            raise UsageError(f"the ranking has {ranking.n} items, the votes have {self.n}")
        if distance == "kendall":
            return kendall_cost(self.wins(), ranking) / self.pair_votes
        if distance not in ("spearman_rho", "footrule"):
            raise UsageError(f"distance must be 'kendall', 'spearman_rho' or 'footrule', not {quote(str(distance))}")
        squared = distance == "spearman_rho"
        largest = rho_maximum(self.n) if squared else footrule_maximum(self.n)
        self._refuse_unknown_places()
        costs = 0.0
        for part, places in self.ballots.places():
            gaps = places - ranking.places
            costs += float(self.weights[part] @ (gaps * gaps if squared else np.abs(gaps)).sum(axis=1))
        return costs / self.total / max(largest, 1)

    def least_loss(self) -> float:
        """Return a lower bound on the Kendall loss of every ranking: each pair ordered by its majority."""
        return least_cost(self.wins()) / self.pair_votes

    def _count_wins(self) -> Floats:
        refuse_many_items(self.n)
        return self.ballots.wins(self.weights, observed=self.observed)

    def _count_places(self) -> Floats:
        refuse_many_items(self.n)
        self._refuse_unknown_places()
        return self.ballots.place_weights(self.weights)

    def _refuse_unknown_places(self) -> None:
        if not self.compares_all:
            raise UsageError(
                "the places of unlisted items are unknown",
                repair=Message("use ", Option("unlisted", "bottom"), ", or a rule that compares pairs (kemeny)"),
            )
