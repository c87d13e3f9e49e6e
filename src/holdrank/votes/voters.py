"""Who cast which battles, for votes whose battles name their voter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from holdrank.errors import UsageError, quote, real_number
from holdrank.rankings import Floats, Ints
from holdrank.status import Shown
from holdrank.votes.memo import close


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Voters(Shown):
    """The battles of each voter, counted; `Votes.voters` where battles were read with a voter column.

    Battles of one voter with the same result are one entry. Entries are sorted by voter, items and result.

    Attributes
    ----------
    names : tuple of str
        The voters, in the order in which they appear.
    voter : (m,) array of int
        Who cast the battles of each entry: a position in `names`.
    first, second : (m,) arrays of int
        The two items, the smaller number first.
    better : (m,) array of int
        -1 where the first item won, 1 where the second did, 0 for a tie.
    weight : (m,) array of float
        How many such battles there are.
    """

    names: tuple[str, ...]
    voter: Ints
    first: Ints
    second: Ints
    better: Ints
    weight: Floats

    @classmethod
    def of(cls, names: Sequence[str], voter: Ints, results: Ints, weight: Floats) -> Voters:
        """Return voters from battles in any order; `results` are rows of first item, second item, who is better.

        Equal battles of a voter are added up. Voters without battles are left out.
        """
        heavy = weight > 0
        items = int(results[:, :2].max(initial=0)) + 1
        # One whole number for a voter and a result: sorting these is fast.
        result = (results[:, 0] * items + results[:, 1]) * 3 + results[:, 2] + 1
        keys, place = np.unique((voter * (3 * items * items) + result)[heavy], return_inverse=True)
        sums = np.bincount(place.ravel(), weights=weight[heavy], minlength=len(keys)).astype(np.float64)
        who, result = np.divmod(keys, 3 * items * items)
        left, number = np.unique(who, return_inverse=True)
        pair, better = np.divmod(result, 3)
        better -= 1
        first, second = np.divmod(pair, items)
        close(number, first, second, better, sums)
        return cls(tuple(names[k] for k in left.tolist()), number, first, second, better, sums)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def results(self) -> Ints:
        """The two items of each entry, and which of them is better."""
        return np.column_stack((self.first, self.second, self.better))

    @property
    def totals(self) -> Floats:
        """The number of battles of each voter."""
        return np.bincount(self.voter, weights=self.weight, minlength=len(self)).astype(np.float64)

    def numbers(self, names: Sequence[str]) -> Ints:
        """Return the positions of voters by name."""
        at = {name: k for k, name in enumerate(self.names)}
        unknown = [name for name in names if name not in at]
        if unknown:
            raise UsageError(f"there is no voter {quote(str(unknown[0]))}")
        return np.array([at[name] for name in names], dtype=np.int64)

    def without(self, some: npt.ArrayLike) -> Voters:
        """Return the voters except some, given by position."""
        stays = np.ones(len(self), dtype=bool)
        stays[np.asarray(some, dtype=np.int64)] = False
        kept = stays[self.voter]
        return Voters.of(self.names, self.voter[kept], self.results[kept], self.weight[kept])

    def with_battles(self, names: Sequence[str], results: Ints, weight: Floats) -> Voters:
        """Return these voters and more of them, each entry with its own voter's name."""
        known = {name: k for k, name in enumerate(self.names)}
        more = np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)
        return Voters.of(
            list(known),
            np.concatenate((self.voter, more)),
            np.concatenate((self.results, results.reshape(-1, 3))),
            np.concatenate((self.weight, weight)),
        )

    def capped(self, most: float) -> Voters:
        """Return the same voters, the battles of each scaled down so that their total weight is at most `most`."""
        limit = real_number(most)
        if limit is None or not 0 < limit < np.inf:
            raise UsageError(f"a cap is a number of battles above 0, not {quote(str(most))}")
        totals = self.totals
        factor = np.where(totals > limit, limit / totals, 1.0)
        weight = self.weight * factor[self.voter]
        close(weight)
        return replace(self, weight=weight)

    def __repr__(self) -> str:
        return f"Voters({len(self)}, {self.weight.sum():g} battles)"
