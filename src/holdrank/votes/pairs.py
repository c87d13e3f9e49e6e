"""Pair counts: votes reduced to how often each item ranks above each other one. They can be added, and are small."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from holdrank.errors import LimitError, Message, Option, UsageError, item_number, quote, reason
from holdrank.parallel.checkpoints import replace_file
from holdrank.rankings import Floats, Ranking
from holdrank.status import Shown
from holdrank.votes.forms.battles import PairTally
from holdrank.votes.forms.notes import Note, added_notes, comparison_notes, lasting, name_notes
from holdrank.votes.forms.raw import RawBallots, ranks_of_marks, stored
from holdrank.votes.forms.table import MAX_WEIGHT
from holdrank.votes.inputs import check_items, notes_on_dropped
from holdrank.votes.limits import MAX_CELLS, MOST_ITEMS, NUMBERS_AT_A_TIME, refuse_many_items
from holdrank.votes.memo import Remembering, close
from holdrank.votes.pair_files import packed, refused, unpacked
from holdrank.votes.provenance import Reading, Unlisted
from holdrank.votes.votes import Votes
from holdrank.votes.wins import kendall_cost, least_cost, pair_shares
from holdrank.words.numbers import number

_LONGEST_SOURCE = 400


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairCounts(Remembering, Shown):
    """How often each item is preferred to each other item. Made by `count_pairs` or `PairCounts.from_votes`.

    ``a + b`` are the counts of all votes of a and b, aligned by the names of the items. Counts of whole votes are
    exact, so that the sum is the same in any order and grouping; weights that are fractions agree to the last digits.
    All rules that use only pairs accept counts instead of votes: `kemeny`, `copeland`, `bradley_terry`, `borda` (by
    pairwise wins), the merges and `Robust`.

    Attributes
    ----------
    items : tuple of str
        Names of the items, in the order in which they were found.
    total : float
        Number of votes.
    unlisted : {"bottom", "observed"}
        How unlisted items were counted.
    said : tuple of str
        What was dropped, merged or assumed while reading; `notes` adds remarks on the counts.
    reading : Reading
        The source and the choices made on reading it.

    Examples
    --------
    >>> morning = PairCounts.from_votes(Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 1]))
    >>> evening = PairCounts.from_votes(Votes.from_orders([["b", "a"], ["c", "a", "b"]], weights=[4, 1]))
    >>> morning + evening
    PairCounts(3 items, 9 votes)
    >>> (morning + evening).wins()
    array([[0., 4., 8.],
           [5., 0., 8.],
           [1., 1., 0.]])
    """

    items: tuple[str, ...]
    _wins: Floats
    total: float
    unlisted: Unlisted
    _listed: Floats
    said: tuple[str, ...] = ()
    reading: Reading = field(default_factory=Reading)
    _memo: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_votes(cls, votes: Votes) -> PairCounts:
        """Return the counts of votes."""
        if not isinstance(votes, Votes):
            raise UsageError(f"from_votes takes Votes, not {type(votes).__name__}")
        listed = votes.listed_weights()
        said = lasting(votes.notes)
        return cls._closed(votes.items, votes.wins(), votes.total, votes.unlisted, listed, said, votes.reading)

    @classmethod
    def from_raw(cls, raw: RawBallots, reading: Reading) -> PairCounts:
        """Return the counts of a reader's ballots, of which there may be none."""
        listed, heavy = raw.stored().listed > 0, raw.weights > 0
        if not (listed & heavy).any():
            said = lasting(raw.notes) + notes_on_dropped(listed, heavy, raw.times)
            return cls.of_nobody(raw.unlisted, raw.items, said=said, reading=reading)
        return cls.from_votes(Votes.from_raw(raw, reading, merge=False))

    @classmethod
    def from_tally(cls, tally: PairTally, reading: Reading) -> PairCounts:
        """Return the counts of a reader's battles, of which there may be none."""
        items = tuple(tally.numbers)
        refuse_many_items(len(items), "battles name")
        wins = tally.wins()
        total = math.fsum(tally.weights.values())
        listed = np.zeros(len(items))
        for (i, j, _), weight in tally.weights.items():
            listed[[i, j]] += weight
        said = lasting(tally.said())
        return cls._closed(items, wins, total, "observed", listed, said, reading)

    @classmethod
    def of_nobody(
        cls, unlisted: str, items: Sequence[str] = (), *, said: Sequence[str] = (), reading: Reading | None = None
    ) -> PairCounts:
        """Return the counts of no votes, as a part of a file may have."""
        n = len(items)
        rule = cast("Unlisted", unlisted)
        return cls._closed(tuple(items), np.zeros((n, n)), 0.0, rule, np.zeros(n), said, reading)

    @classmethod
    def from_wins(
        cls, wins: npt.ArrayLike, items: Sequence[str] | None = None, *, total: float | None = None
    ) -> PairCounts:
        """Return counts from a matrix W, W[i, j] = votes that place i above j, a tie counting half for each.

        Without `total`, every comparison is a separate vote.

        Examples
        --------
        >>> PairCounts.from_wins([[0, 7], [3, 0]], items=["x", "y"]).pairwise()[0, 1]
        np.float64(0.7)
        """
        try:
            W = np.array(wins, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise UsageError("wins must be a square matrix of numbers", repair="give rows of equal length") from error
        if W.ndim != 2 or W.shape[0] != W.shape[1]:
            raise UsageError(f"wins must be a square matrix, one row and one column per item, not of shape {W.shape}")
        names = tuple(str(i) for i in range(len(W))) if items is None else tuple(items)
        check_items(names, len(W))
        votes = float(W.sum()) if total is None else float(total)
        if problem := _fault(W, votes, np.zeros(len(W))):
            raise _refused_wins(problem, W, names)
        return cls._closed(names, W, votes, "observed", np.zeros(len(W)))

    @classmethod
    def _closed(
        cls,
        items: tuple[str, ...],
        wins: Floats,
        total: float,
        unlisted: Unlisted,
        listed: Floats,
        said: Sequence[str] = (),
        reading: Reading | None = None,
    ) -> PairCounts:
        close(wins, listed)
        return cls(items, wins, total, unlisted, listed, tuple(said), reading or Reading())

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.items)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was dropped, merged or assumed, and what the counts do not show."""
        return self._remember("notes", self._all_notes)

    @property
    def pair_votes(self) -> float:
        """Number of votes times the number of pairs of items: the divisor that turns costs into losses."""
        return self.total * max(self.n * (self.n - 1) / 2, 1)

    @property
    def is_counts(self) -> bool:
        """Whether these are whole votes, so that half votes are the smallest step of any count."""

        def whole() -> bool:
            return float(self.total).is_integer() and bool((np.rint(2 * self._wins) == 2 * self._wins).all())

        return self._remember("counts", whole)

    @property
    def compares_all(self) -> bool:
        """Whether every vote compares every pair."""

        def full() -> bool:
            compared = self._wins + self._wins.T
            np.fill_diagonal(compared, self.total)
            slack = 0.0 if self.is_counts else 1e-9 * self.total
            return bool((np.abs(compared - self.total) <= slack).all())

        return self._remember("full", full)

    @property
    def compares_two(self) -> bool:
        """Whether votes compare two items: some compare two, and none compares more."""
        # Votes that list k items compare k (k - 1) / 2 pairs: at least k - 1, and no more only for k = 1 and k = 2.
        least = float(self._listed.sum()) - self.total if self._listed.any() else self.total
        compared = float(self._wins.sum())
        return self.unlisted == "observed" and compared > 0 and math.isclose(compared, least, rel_tol=1e-9)

    def wins(self) -> Floats:
        """Return W, W[i, j] = votes that place i above j, a tie counting half for each; read-only."""
        return self._wins

    def pairwise(self) -> Floats:
        """Return P, P[i, j] = W[i, j] / (W[i, j] + W[j, i]); one half for pairs that no vote compared."""
        return self._remember("pairwise", lambda: pair_shares(self._wins))

    def loss(self, ranking: Ranking) -> float:
        """Return the expected normalised Kendall distance between `ranking` and a vote, as `Votes.loss` does."""
        if not isinstance(ranking, Ranking):
            raise UsageError(f"loss takes a Ranking, not {type(ranking).__name__}")
        if ranking.n != self.n:
            raise UsageError(f"the ranking has {ranking.n} items, the counts have {self.n}")
        return kendall_cost(self._wins, ranking) / self.pair_votes

    def least_loss(self) -> float:
        """Return a lower bound on the loss of every ranking: each pair ordered by its majority."""
        return least_cost(self._wins) / self.pair_votes

    def as_votes(self) -> Votes:
        """Return votes with exactly these counts: every comparison becomes a ballot over two items.

        Attacks, bootstrap samples and losses then count single comparisons instead of ballots; `notes` says so.

        Examples
        --------
        >>> counts = PairCounts.from_votes(Votes.from_orders([["a", "b", "c"]], weights=[5]))
        >>> counts.as_votes()
        Votes(3 items, 15 ballots, 3 distinct, unlisted='observed')
        """
        first, second = np.nonzero(np.triu(self._wins + self._wins.T))
        ahead, behind = self._wins[first, second], self._wins[second, first]
        tied = np.zeros_like(ahead)
        if self.is_counts:  # an odd number of ties leaves a half on both sides: one ballot that ties them
            tied = 2 * (ahead % 1)
            ahead, behind = np.floor(ahead), np.floor(behind)
        weights = np.concatenate([ahead, behind, tied])
        used = weights > 0
        if used.sum() * self.n > MAX_CELLS:
            raise LimitError(
                f"{used.sum():,} distinct comparisons over {self.n:,} items are too many to be ballots",
                repair="pass the counts themselves to kemeny, copeland, bradley_terry, borda or Robust, or use fewer "
                "items",
            )
        high = np.concatenate([first, second, first])[used]
        low = np.concatenate([second, first, second])[used]
        rank = np.append(np.ones(len(high), dtype=np.int64), np.where(used.nonzero()[0] < 2 * len(first), 2, 1))
        row = np.tile(np.arange(len(high)), 2)
        ranks = ranks_of_marks((len(high), self.n), row, np.append(high, low), rank)
        notes = self.notes
        if not math.isclose(float(weights.sum()), self.total, rel_tol=1e-9):
            kept = f"{number(self.total)} ballots are stored as {number(float(weights.sum()))} comparisons of two items"
            notes = (*notes, f"{kept}: places are unknown, and losses, bootstrap samples and attacks count comparisons")
        reading = replace(self.reading, choices={**self.reading.choices, "unlisted": "observed"})
        return Votes._build(self.items, stored(ranks), weights[used], "observed", notes, reading)

    def only(self, items: Iterable[str]) -> PairCounts:
        """Return the counts of some of the items, in this order; the number of votes stays.

        Examples
        --------
        >>> counts = PairCounts.from_wins([[0, 7, 1], [3, 0, 2], [4, 4, 0]], items=["x", "y", "z"])
        >>> counts.only(["z", "x"]).wins().tolist()
        [[0.0, 4.0], [1.0, 0.0]]
        """
        names = tuple(items)
        at = np.array([item_number(name, self.items) for name in names], dtype=np.intp)
        check_items(names, len(names))
        wins, listed = self._wins[np.ix_(at, at)], self._listed[at]
        return PairCounts._closed(names, wins, self.total, self.unlisted, listed, self.said, self.reading)

    def with_reading(self, reading: Reading) -> PairCounts:
        """Return the same counts with another `reading`."""
        return PairCounts._closed(self.items, self._wins, self.total, self.unlisted, self._listed, self.said, reading)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to an .npz file, all of it or nothing; `PairCounts.load` reads it.

        The file is compressed, except for parts that would grow a hundredfold when read: a sparse matrix of more than
        2,500 items, and names that are nearly the same.
        """
        reading = self.reading
        head = {
            "items": self.items,
            "total": self.total,
            "unlisted": self.unlisted,
            "said": [[list(note.words), note.counts] if isinstance(note, Note) else note for note in self.said],
            "reading": [reading.source, reading.sha256, reading.format, dict(reading.choices)],
        }
        data = packed(head, self._wins, self._listed)
        try:
            replace_file(Path(path), data)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"the counts cannot be written to {quote(str(path), 200)}: {reason(error)}",
                repair="choose a folder that exists, has room and that you may write to",
            ) from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PairCounts:
        """Read counts that `save` wrote; anything else is refused, and no code in the file is executed."""
        source = str(os.fspath(path))
        head, wins, listed = unpacked(source)
        try:
            return cls._from_head(head, wins, listed)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise refused(source, f"the file is not valid ({type(error).__name__})", str(error)) from error

    @classmethod
    def _from_head(cls, head: Mapping[str, Any], wins: Floats, listed: Floats) -> PairCounts:
        items, total, unlisted = head["items"], head["total"], head["unlisted"]
        if not isinstance(items, list) or isinstance(total, bool) or not isinstance(total, int | float):
            raise TypeError("items must be a list and the total a number")
        if unlisted not in ("bottom", "observed"):
            raise ValueError(f"unlisted is {unlisted!r}")
        if wins.shape != (len(items), len(items)) or listed.shape != (len(items),):
            raise ValueError(f"{len(items)} items, but a matrix of shape {wins.shape}")
        check_items(items, len(items))
        if problem := _fault(wins, float(total), listed):
            raise ValueError(problem)
        said: list[str] = []
        for note in head["said"]:
            if isinstance(note, str):
                said.append(note)
                continue
            words, tally = note
            if len(words) not in (1, 3) or not all(isinstance(word, str) for word in words):
                raise ValueError("a note is not valid")
            said.append(Note(tuple(words), {str(kind): float(count) for kind, count in tally.items()}))
        source, sha256, form, choices = head["reading"]
        words = {str(name): str(choice) for name, choice in choices.items()}
        reading = Reading(str(source), str(sha256), str(form), words)
        return cls._closed(tuple(items), wins, float(total), cast("Unlisted", unlisted), listed, said, reading)

    def __add__(self, other: object) -> PairCounts:
        if not isinstance(other, PairCounts):
            return NotImplemented
        if other.unlisted != self.unlisted and self.total and other.total:
            raise UsageError(
                Message("counts under ", Option("unlisted", self.unlisted), f" and {other.unlisted!r} cannot be added"),
                repair=Message("count both with the same ", Option("unlisted")),
            )
        names = {name: k for k, name in enumerate(self.items)}
        for name in other.items:
            names.setdefault(name, len(names))
        items = tuple(names)
        if len(items) > MOST_ITEMS:
            raise LimitError(f"{len(items):,} items are more than the limit of {MOST_ITEMS:,}")
        total = self.total + other.total
        if total > MAX_WEIGHT:
            raise LimitError(f"{number(total)} votes are more than can be counted exactly")
        wins, listed = self._over(items)
        more, heard = other._over(items)
        return PairCounts._closed(
            items,
            wins + more,
            total,
            self.unlisted if self.total else other.unlisted,
            listed + heard,
            added_notes(self.said, other.said),
            _both(self.reading, other.reading),
        )

    def __radd__(self, other: object) -> PairCounts:
        return self if other == 0 else NotImplemented  # so that sum() works

    def _over(self, items: Sequence[str]) -> tuple[Floats, Floats]:
        """Return the matrix and the listing counts over more items, which these votes do not list."""
        if items == self.items:
            return self._wins, self._listed
        at = {name: k for k, name in enumerate(items)}
        mine = np.array([at[name] for name in self.items])
        wins = np.zeros((len(items), len(items)))
        listed = np.zeros(len(items))
        listed[mine] = self._listed
        if self.unlisted == "bottom":
            # An item that no ballot lists is tied with all unlisted items of a ballot, and below its listed ones.
            wins += (self.total + listed[:, None] - listed) / 2
            np.fill_diagonal(wins, 0.0)
        wins[np.ix_(mine, mine)] = self._wins
        return wins, listed

    def _all_notes(self) -> tuple[str, ...]:
        compared = np.triu(self._wins + self._wins.T, 1)
        first, second = np.nonzero(compared)
        return (*self.said, *name_notes(self.items), *comparison_notes(self.n, first, second, len(first)))

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.items, self._wins, self.total, self.unlisted, self._listed, self.said, self.reading)
        return PairCounts._closed, parts

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairCounts):
            return NotImplemented
        if set(self.items) != set(other.items) or (self.total, self.unlisted) != (other.total, other.unlisted):
            return False
        wins, listed = other._over(self.items)
        return np.array_equal(self._wins, wins) and np.array_equal(self._listed, listed)

    def __hash__(self) -> int:
        return hash((frozenset(self.items), self.total, self.unlisted))

    def __repr__(self) -> str:
        votes = f"{number(self.total)} vote{'s' * (self.total != 1)}"
        return f"PairCounts({self.n} item{'s' * (self.n != 1)}, {votes})"


def _both(one: Reading, other: Reading) -> Reading:
    """Return the combined reading of two: shared choices, and both sources."""
    if one == other:
        return one
    choices = {name: text for name, text in one.choices.items() if other.choices.get(name) == text}
    source = one.source if one.source == other.source else f"{one.source}, {other.source}"
    source = source if len(source) <= _LONGEST_SOURCE else f"{source[: _LONGEST_SOURCE - 1]}…"  # many parts, many names
    sha256 = one.sha256 if one.sha256 == other.sha256 else ""
    return Reading(source, sha256, one.format if one.format == other.format else "", choices)


def _refused_wins(problem: str, wins: Floats, items: Sequence[str]) -> UsageError:
    """Return the error for an invalid matrix of wins, with its first invalid cell."""
    if not wins.any():
        return UsageError("there are no comparisons: all wins are 0", repair="give wins above 0")
    for i, row in enumerate(wins):
        bad = np.flatnonzero(~(np.isfinite(row) & (row >= 0)) | ((np.arange(len(row)) == i) & (row != 0)))
        if len(bad):
            j = int(bad[0])
            place = f"{quote(items[i])} against {quote(items[j])} has {row[j]:g}"
            repair = "an item is not compared with itself" if i == j else "write 0 where nothing was counted"
            return UsageError(f"{problem}; {place}", repair=repair)
    return UsageError(problem)


def _fault(wins: Floats, total: float, listed: Floats) -> str:
    """Return what is wrong with counts, as text; empty if they are valid."""
    rows = max(1, NUMBERS_AT_A_TIME // max(len(wins), 1))
    parts = [slice(start, start + rows) for start in range(0, len(wins), rows)]
    sound = all(np.isfinite(wins[part]).all() and (wins[part] >= 0).all() for part in parts)  # numbers before all else
    if not sound or np.diagonal(wins).any():
        return "wins must be finite, not negative, and zero on the diagonal"
    if not (math.isfinite(total) and 0 < total <= MAX_WEIGHT):
        return f"the number of votes must lie above 0 and be at most 2**46, not {total}"
    if any((wins[part] + wins[:, part].T > total * (1 + 1e-9)).any() for part in parts):
        return "a pair is compared more often than there are votes"
    if not np.isfinite(listed).all() or (listed < 0).any() or (listed > total * (1 + 1e-9)).any():
        return "an item is listed more often than there are votes"
    return ""
