"""Data shared by the probes of an audit: the ranking, its gaps, the leads, and who cast which votes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from holdrank.analysis.probes.standing import AnyVotes, Standing, components, separated, standing
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.consensus import Consensus, Statistic
from holdrank.rules.registry import Rule
from holdrank.votes.ballots import Ballots
from holdrank.votes.groups import Groups
from holdrank.votes.votes import Votes
from holdrank.words.nouns import noun_of

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """Votes, a rule, and what follows from both, computed on first use.

    Attributes
    ----------
    votes : Votes or PairCounts
    T : Statistic
        The rule, never tiers: an audit uses the ranking below them.
    rule : Rule
        Its entry.
    consensus : Consensus
    level : float
        Confidence level of intervals, such as 0.95.
    seed : int
    """

    votes: AnyVotes
    T: Statistic
    rule: Rule
    consensus: Consensus
    level: float
    seed: int

    @property
    def items(self) -> tuple[str, ...]:
        """Names of the items."""
        return self.votes.items

    @property
    def noun(self) -> str:
        """What one vote is called."""
        return noun_of({"format": self.votes.reading.format, "choices": self.votes.reading.choices})

    @property
    def ranking(self) -> Ranking:
        """The order of the items."""
        return self.consensus.ranking

    @cached_property
    def standing(self) -> Standing:
        """How far each item is ahead of each other."""
        return standing(self.votes, self.rule)

    @cached_property
    def met(self) -> Floats:
        """How often each pair is compared."""
        wins = self.votes.wins()
        return np.asarray(wins + wins.T)

    @cached_property
    def label(self) -> Ints:
        """The group of each item: those that comparisons connect."""
        return components(self.met)

    @cached_property
    def gaps(self) -> Ints:
        """Rows of two neighbours that comparisons connect, the one that is ahead first."""
        rows = [(a, b) for a, b in pairwise(self.ranking.order) if self.label[a] == self.label[b]]
        return np.array(rows, dtype=np.int64).reshape(-1, 2)

    @cached_property
    def z(self) -> Floats:
        """The lead at each gap, in standard errors."""
        return np.asarray(self.standing.z[self.gaps[:, 0], self.gaps[:, 1]])

    @cached_property
    def separated(self) -> Mask:
        """Which gaps are significant, over all gaps together."""
        return separated(self.z, self.level)

    @cached_property
    def people(self) -> People | None:
        """Who cast which votes; None where the votes do not say, or only by a category."""
        votes = self.votes
        if not isinstance(votes, Votes):
            return None
        if votes.voters is not None:
            cast = votes.voters
            rows = _rows_of_battles(votes.ballots, votes.n, (cast.first, cast.second, cast.better))
            known = rows >= 0
            return People("voter", cast.names, cast.voter[known], rows[known], cast.weight[known])
        groups = votes.groups
        if groups is None or self.category is not None:
            return None
        return People(groups.of, groups.names, groups.group, groups.ballot, groups.weight)

    @cached_property
    def category(self) -> Groups | None:
        """The groups of a column that was named on reading with `by`."""
        votes = self.votes
        return votes.groups if isinstance(votes, Votes) and "by" in votes.reading.choices else None

    def pair(self, gap: int) -> tuple[str, str]:
        """Return the names of the items at a gap."""
        a, b = self.gaps[gap].tolist()
        return self.items[a], self.items[b]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class People:
    """Who cast which votes: entries of a person, a row of the ballots and a number of votes, sorted by person.

    `of` is what a person is: a voter, a column of a score table, or the name of a column.
    """

    of: str
    names: tuple[str, ...]
    person: Ints
    row: Ints
    weight: Floats

    @property
    def totals(self) -> Floats:
        """The number of votes of each person."""
        return np.bincount(self.person, weights=self.weight, minlength=len(self.names)).astype(np.float64)


def _rows_of_battles(ballots: Ballots, n: int, battles: tuple[Ints, Ints, Ints]) -> Ints:
    """Return the row of each battle among ballots over two items; -1 where there is none."""
    keys = np.full(ballots.shape[0], -1, dtype=np.int64)
    for part, block in ballots.blocks():
        ranks = block.matrix()
        two = np.flatnonzero((ranks > 0).sum(axis=1) == 2)
        first, second = np.nonzero(ranks[two])[1].reshape(-1, 2).T
        better = np.sign(ranks[two, first] - ranks[two, second])
        keys[np.arange(ballots.shape[0])[part][two]] = _key(first, second, better, n)
    order = np.argsort(keys, kind="stable")
    wanted = _key(*battles, n)
    at = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    return np.asarray(np.where(keys[order[at]] == wanted, order[at], -1))


def _key(first: Ints, second: Ints, better: Ints, n: int) -> Ints:
    return np.asarray((first.astype(np.int64) * n + second) * 3 + better + 1)
