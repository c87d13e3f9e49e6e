"""The voter, task or category of each ballot, stored so that each group can be left out in turn."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from holdrank.errors import UsageError, quote
from holdrank.rankings import Floats, Ints
from holdrank.status import Shown
from holdrank.votes.ballots import Ballots
from holdrank.votes.memo import close


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Groups(Shown):
    """Ballots grouped by voter or by another column: `Votes.groups` of votes read with such a column.

    Equal ballots of one group are one entry. Entries are sorted by group and ballot.

    Attributes
    ----------
    of : str
        What forms a group: ``"column"`` for a score table, or the name of the grouping column.
    names : tuple of str
        The groups, in the order in which they appear.
    group : (m,) array of int
        The group of each entry: a position in `names`.
    ballot : (m,) array of int
        Its ballot: a row of `Votes.ranks`.
    weight : (m,) array of float
        How many votes of the group are this ballot.
    """

    of: str
    names: tuple[str, ...]
    group: Ints
    ballot: Ints
    weight: Floats

    @classmethod
    def make(cls, of: str, names: Sequence[str], group: Ints, *, ballot: Ints, weight: Floats) -> Groups:
        """Return groups from entries in any order; equal ones are added up, and groups without votes left out."""
        heavy = weight > 0
        rows = int(ballot.max(initial=0)) + 1
        keys, place = np.unique((group * rows + ballot)[heavy], return_inverse=True)
        sums = np.bincount(place.ravel(), weights=weight[heavy], minlength=len(keys)).astype(np.float64)
        who, row = np.divmod(keys, rows)
        left, number = np.unique(who, return_inverse=True)
        number = number.ravel()
        close(number, row, sums)
        return cls(of, tuple(names[k] for k in left.tolist()), number, row, sums)

    @classmethod
    def of_labels(cls, of: str, labels: Sequence[str], weights: Floats) -> Groups:
        """Return groups from the label of every ballot."""
        numbers: dict[str, int] = {}
        group = np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
        weight = np.asarray(weights, dtype=np.float64)
        return cls.make(of, list(numbers), group, ballot=np.arange(len(labels)), weight=weight)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def totals(self) -> Floats:
        """The number of votes of each group."""
        return np.bincount(self.group, weights=self.weight, minlength=len(self)).astype(np.float64)

    @property
    def digest(self) -> str:
        """A text that identifies these groups."""
        told = hashlib.sha256(repr((self.of, self.names)).encode("utf-8", "surrogatepass"))
        for array in (self.group, self.ballot, self.weight):
            told.update(np.ascontiguousarray(array).tobytes())
        return told.hexdigest()[:16]

    @property
    def is_counts(self) -> bool:
        """Whether all weights are whole numbers."""
        return bool((np.rint(self.weight) == self.weight).all())

    def moved(self, to: Ints) -> Groups:
        """Return the groups after ballots have moved: `to` is the new row of each ballot, -1 if it was removed."""
        row = to[self.ballot]
        kept = row >= 0
        return Groups.make(self.of, self.names, self.group[kept], ballot=row[kept], weight=self.weight[kept])

    def each(self) -> Iterator[tuple[Ints, Floats]]:
        """Yield the ballots of each group, and how many votes of it are each of them."""
        ends = np.searchsorted(self.group, np.arange(len(self) + 1)).tolist()
        for start, end in pairwise(ends):
            yield self.ballot[start:end], self.weight[start:end]

    def __repr__(self) -> str:
        return f"Groups({len(self)} by {self.of!r}, {self.weight.sum():g} votes)"


def rows_among(ballots: Ballots, distinct: Ballots) -> Ints:
    """Return the row of every ballot among the distinct ones, -1 if it is not there."""
    place = {key: row for row, key in enumerate(_keys(distinct))}
    return np.array([place.get(key, -1) for key in _keys(ballots)], dtype=np.int64)


def _keys(ballots: Ballots) -> Iterator[bytes]:
    """Yield bytes that are equal exactly where ballots are: their scores, or their ranks where there are none."""
    for _, block in ballots.blocks():
        scores = block.score_matrix()
        if scores is None:
            yield from (row.tobytes() for row in np.ascontiguousarray(block.matrix(), dtype=np.int32))
        else:
            filled = np.where(np.isnan(scores), np.inf, scores) + 0.0  # -0.0 is 0.0
            yield from (row.tobytes() for row in np.ascontiguousarray(filled))


def expect_clusters(groups: Groups, total: float) -> None:
    """Refuse groups from which chance cannot be measured: a single group, or groups that do not cover all votes."""
    if len(groups) < 2:
        raise UsageError(f"{quote(groups.of, 40)} has only one group; at least two are needed to measure chance")
    if not np.isclose(groups.weight.sum(), total, rtol=1e-9):
        raise UsageError(f"some votes have no {quote(groups.of, 40)}", repair="fill in that column")
