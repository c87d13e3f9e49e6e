"""Votes: weighted ballots, the input of all computations."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from holdrank.arrays.tolerances import FAINT
from holdrank.errors import Message, Option, UsageError, item_number, quote
from holdrank.rankings import Floats, Ints
from holdrank.status import Shown
from holdrank.votes.ballots import Ballots, DenseBallots
from holdrank.votes.ballots.ranks import ranks_of_values
from holdrank.votes.counting import WeightedBallots
from holdrank.votes.first_shown import FirstShown
from holdrank.votes.forms import RawBallots, battles_from_frame, scores_from_frame
from holdrank.votes.forms.battles import ballots_of_results, groups_of_battles
from holdrank.votes.forms.notes import counted
from holdrank.votes.forms.table import MAX_SCORE
from holdrank.votes.groups import Groups, rows_among
from holdrank.votes.inputs import (
    ballots_of_orders,
    ballots_that_count,
    check_items,
    check_weights,
    names_of_columns,
    table_of_ranks,
)
from holdrank.votes.memo import close
from holdrank.votes.provenance import UNLISTED_MEANS, Reading, Unlisted
from holdrank.votes.voters import Voters
from holdrank.words.numbers import plural
from holdrank.words.votes import reading_facts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Votes(WeightedBallots, Shown):
    """Weighted ballots over named items: the input of everything. Made by the `from_...` constructors or `read_votes`.

    Mathematically, a distribution p over rankings with ties and gaps; counts stay counts.

    Attributes
    ----------
    items : tuple of str
        Names of the items; item i is column i of `ranks`.
    ranks : (m, n) array of int
        One row for each distinct ballot, commonest first: 1 is best, equal is tied, 0 is unlisted; read-only.
    weights : (m,) array of float
        The number of votes, or the share of all votes, of each row; read-only.
    ballots : Ballots
        The store of `ranks` and `scores`: a matrix, or the marks of an almost empty one.
    unlisted : {"bottom", "observed"}
        What an unlisted item means: tied below all listed ones, or not compared by this ballot.
    notes : tuple of str
        What was dropped, merged or assumed.
    reading : Reading
        The source and the choices made on reading it.
    scores : (m, n) array of float or None
        The scores behind the ranks, higher is better, NaN where unlisted; read-only. Voters share a row only where all
        their scores are equal, so that rows of `ranks` may repeat. None for votes that hold no scores.
    voters : Voters or None
        Who cast which battles, if `from_battles` was given a voter column. Votes are equal if their ballots are,
        no matter who cast them. `renamed`, `with_reading` and `capped` keep the voters; other votes made from these do
        not have them.
    groups : Groups or None
        The voter, task or category of each ballot, if known: for `leave_one_out`.
    first_shown : FirstShown or None
        Which item of each battle was named first, where battles were read from two columns of items: for `audit`.

    Examples
    --------
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", ["a", "c"]]], weights=[3, 2])
    >>> votes
    Votes(3 items, 5 ballots, 2 distinct, unlisted='bottom')
    >>> votes.wins()
    array([[0., 3., 4.],
           [2., 0., 5.],
           [1., 0., 0.]])
    """

    notes: tuple[str, ...] = ()
    reading: Reading = field(default_factory=Reading)
    voters: Voters | None = None
    groups: Groups | None = None
    first_shown: FirstShown | None = None
    _memo: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_orders(
        cls,
        orders: Iterable[Iterable[Any]],
        weights: npt.ArrayLike | None = None,
        items: Iterable[Hashable] | None = None,
        *,
        unlisted: Unlisted = "bottom",
    ) -> Votes:
        """Return votes from best-first lists; an inner list is a tie, an item left out is unlisted.

        Without `items`, items are those mentioned, in the order of their first mention.

        Examples
        --------
        >>> Votes.from_orders([["b", "a"], ["b"]]).ranks.tolist()
        [[1, 2], [1, 0]]
        """
        names, ballots = ballots_of_orders(orders, items)
        return cls._build(names, ballots, weights, unlisted)

    @classmethod
    def from_ranks(
        cls,
        ranks: Any,
        weights: npt.ArrayLike | None = None,
        items: Iterable[str] | None = None,
        *,
        unlisted: Unlisted = "bottom",
    ) -> Votes:
        """Return votes from an (m, n) table of ranks: 1 is best, equal is tied, 0 is unlisted.

        `ranks` may be a data frame with one column per item. Only the order inside a row counts.

        Examples
        --------
        >>> Votes.from_ranks([[1, 2, 2], [3, 0, 1]], items=["x", "y", "z"]).ranks.tolist()
        [[1, 2, 2], [2, 0, 1]]
        """
        names, table = table_of_ranks(ranks, items)
        return cls._build(names, DenseBallots(table), weights, unlisted)

    @classmethod
    def from_battles(cls, frame: Any, **columns: Any) -> Votes:
        """Return votes from a data frame of pairwise comparisons (pandas, polars, pyarrow, ...).

        Every battle is a ballot over two items, so `unlisted` is "observed". Columns are found by their usual
        names (``model_a, model_b, winner`` and others) or named by `first`, `second`, `winner` and `weight`;
        `both_bad` says whether battles that call both items bad count as a ``"tie"`` or are dropped (``"drop"``).

        `voter` names the column of the voters, or is a sequence of names, one for each row. The votes then have
        `voters`. A battle without a voter is refused; with ``blank_voters="separate"`` each such battle is a separate
        voter. `by` names a column that groups the battles, such as a language, for `leave_one_out`.
        """
        return cls.from_raw(battles_from_frame(frame, **columns), Reading(format="battles"))

    @classmethod
    def from_scores(cls, frame: Any, *, higher_is_better: bool | Mapping[str, bool] = True, **columns: Any) -> Votes:
        """Return votes from a table of scores: one row per item, one column per voter (judge, task, benchmark).

        The first column names the items, or the index of a pandas frame (``frame.set_index("model")``), unless `item`
        says otherwise; `voters` picks the columns that vote.
        `higher_is_better` may differ by column. Missing scores are unlisted items.
        """
        raw = scores_from_frame(frame, higher_is_better=higher_is_better, **columns)
        return cls.from_raw(raw, Reading(format="score-table"))

    @classmethod
    def from_score_rows(
        cls,
        scores: npt.ArrayLike,
        weights: npt.ArrayLike | None = None,
        items: Iterable[str] | None = None,
        *,
        unlisted: Unlisted = "observed",
    ) -> Votes:
        """Return votes from an (m, n) array of scores, one row per voter and one column per item; higher is better.

        NaN is a missing score. The scores themselves are kept, for rules that use them (`mean_score`).

        Examples
        --------
        >>> Votes.from_score_rows([[0.9, 0.4, 0.4], [0.2, np.nan, 0.7]]).ranks.tolist()
        [[1, 2, 2], [2, 0, 1]]
        """
        table = np.asarray(scores, dtype=np.float64)
        if table.ndim != 2 or (np.abs(table) > MAX_SCORE).any():
            raise UsageError("scores must be a table of finite numbers, one row per voter and one column per item")
        ballots = DenseBallots(ranks_of_values(table, True), table)
        return cls._build(names_of_columns(table, items), ballots, weights, unlisted)

    @classmethod
    def from_raw(cls, raw: RawBallots, reading: Reading, *, merge: bool = True) -> Votes:
        """Return votes from a reader's ballots.

        With ``merge=False`` equal ballots are not merged and scores are left out: faster, and enough to count pairs.
        """
        full = replace(reading, choices={**raw.choices, "unlisted": raw.unlisted, **reading.choices})
        votes = cls._build(
            raw.items, raw.stored(), raw.weights, raw.unlisted, raw.notes, full, raw.times, merge  # type: ignore[arg-type]
        )  # fmt: skip
        votes = replace(votes, voters=raw.cast, first_shown=raw.first_shown)
        return votes._grouped(raw.groups, raw.stored()) if merge else votes

    @classmethod
    def from_voters(cls, voters: Voters, items: Sequence[str], *, reading: Reading | None = None) -> Votes:
        """Return the battles of voters as votes with `voters`."""
        results, place = np.unique(voters.results, axis=0, return_inverse=True)
        weights = np.bincount(place.ravel(), weights=voters.weight, minlength=len(results)).astype(np.float64)
        raw = ballots_of_results(list(items), results, weights)
        groups = groups_of_battles("voter", voters, results)
        return cls.from_raw(replace(raw, cast=voters, groups=groups), reading or Reading(format="battles"))

    @classmethod
    def _build(
        cls,
        items: Sequence[str],
        ballots: Ballots,
        weights: npt.ArrayLike | None,
        unlisted: Unlisted,
        notes: Iterable[str] = (),
        reading: Reading | None = None,
        times: Ints | None = None,
        merge: bool = True,
    ) -> Votes:
        """Check, drop, close gaps, merge: every constructor ends here."""
        reading = reading or Reading(choices={"unlisted": unlisted})
        m, n = ballots.shape
        check_items(items, n)
        if unlisted not in ("bottom", "observed"):
            raise UsageError(f"unlisted must be 'bottom' or 'observed', not {quote(str(unlisted))}")
        shares = check_weights(weights, m, reading.source)

        ballots = ballots.without_gaps() if merge else ballots.without_scores().without_gaps()
        keep, dropped = ballots_that_count(ballots, shares, times, reading.source)
        if not keep.all():
            ballots, shares = ballots.take(keep), shares[keep]
        ballots, heaps = ballots.merged(shares) if merge else (ballots, shares)
        close(heaps)
        if faint := int((heaps < FAINT * heaps.sum()).sum()):
            rest = f"with less than {FAINT:.0e} of all votes; counts may not show them"
            dropped.append(counted(faint, "distinct ballot", rest, many="distinct ballots"))
        return cls(tuple(items), ballots.closed(), heaps, unlisted, (*notes, *dropped), reading)

    def _grouped(self, groups: Groups | None, ballots: Ballots) -> Votes:
        """Return the votes with the groups of the ballots that they were made of."""
        if groups is None:
            return self
        return replace(self, groups=groups.moved(rows_among(ballots.without_gaps(), self.ballots)), _memo={})

    def reweighed(self, weights: Floats, ranks: Ints, added: Floats) -> Votes:
        """Return the same ballots with other weights, and further ballots; ballots of weight 0 and scores are dropped.

        Examples
        --------
        >>> votes = Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 1])
        >>> votes.reweighed(np.array([2.0, 0.0]), np.array([[1, 2]]), np.array([4.0])).weights.tolist()
        [6.0]
        """
        kept, put = weights > 0, added > 0
        ballots = self.ballots.take(kept).with_rows(ranks[put])
        return self._build(self.items, ballots, np.concatenate((weights[kept], added[put])), self.unlisted)

    @property
    def input_hash(self) -> str:
        """SHA-256 of items, rule and ballots, the same for any order of the ballots and any file format."""
        return self._remember("hash", self._content_hash)

    def facts(self) -> list[tuple[str, str]]:
        """Return what was read, as pairs of name and text: sizes, choices and notes."""
        about = {name: getattr(self, name) for name in ("total", "distinct", "with_ties", "incomplete", "notes")}
        about |= {"items": self.n, "unlisted": UNLISTED_MEANS[self.unlisted], "source": self.reading.source}
        return reading_facts({**about, "format": self.reading.format, "choices": self.reading.choices})

    def summary(self) -> str:
        """Return what was read, as text with one fact per line: sizes, choices and notes."""
        return "\n".join(f"{name}: {text}" for name, text in self.facts())

    def total_variation(self, other: Votes) -> float:
        """Return the share of votes that differ: half the sum of abs(p - q) over all ballots.

        Where both hold scores, a ballot is a row of scores; otherwise rankings are compared.

        Examples
        --------
        >>> before = Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 1])
        >>> before.total_variation(Votes.from_orders([["a", "b"], ["b", "a"]], weights=[2, 2]))
        0.25
        """
        if set(other.items) != set(self.items) or other.unlisted != self.unlisted:
            raise UsageError("total variation compares votes on the same items under the same rule for unlisted items")
        one, two = self, other
        if not (self.ballots.has_scores and other.ballots.has_scores):
            one, two = self.without_scores(), other.without_scores()
        gap: dict[bytes, float] = {}
        for votes, sign in ((one, 1.0), (two, -1.0)):
            ballots = votes.ballots.columns(np.array([votes.items.index(item) for item in self.items]))
            shares = (sign * votes.weights / votes.total).tolist()
            for part, _ in ballots.blocks():
                for row, share in zip(ballots.encoded(part), shares[part], strict=True):
                    key = row.tobytes()
                    gap[key] = gap.get(key, 0.0) + share
        return float(sum(map(abs, gap.values())) / 2)

    def without_scores(self) -> Votes:
        """Return only the rankings, equal ones merged; votes without scores are returned unchanged.

        Rules that use only rankings give the same result, often faster.

        Examples
        --------
        >>> votes = Votes.from_score_rows([[9, 1], [5, 4], [0, 2]])
        >>> votes.distinct, votes.without_scores().distinct
        (3, 2)
        """
        if not self.ballots.has_scores:
            return self

        def rankings() -> Votes:
            ballots, heaps = self.ballots.without_scores().merged(self.weights)
            close(heaps)
            groups = self.groups
            if groups is not None:
                groups = groups.moved(rows_among(self.ballots.without_scores(), ballots))
            return replace(self, ballots=ballots.closed(), weights=heaps, groups=groups, _memo={})

        return self._remember("rankings", rankings)

    def with_reading(self, reading: Reading) -> Votes:
        """Return the same votes with another `reading`."""
        return replace(self, reading=reading, _memo={})

    def with_weights(self, weights: npt.ArrayLike) -> Votes:
        """Return the same ballots with other weights, one for each row of `ranks`; those of weight 0 are left out.

        Examples
        --------
        >>> votes = Votes.from_orders([["a", "b"], ["b", "a"], [["a", "b"]]], weights=[3, 2, 1])
        >>> votes.with_weights([1, 0, 4]).ranks.tolist()
        [[1, 1], [1, 2]]
        """
        shares = check_weights(weights, self.distinct, "memory")
        order = np.argsort(-shares, kind="stable")[: np.count_nonzero(shares)]
        if not order.size:
            raise UsageError("at least one ballot must have a weight above 0")
        kept = shares[order]
        close(kept)
        groups = None
        if self.groups is not None and np.array_equal(kept, self.weights[order]):
            place = np.full(self.distinct, -1)
            place[order] = np.arange(len(order))
            groups = self.groups.moved(place)
        ballots = self.ballots.take(order).closed()
        return replace(self, ballots=ballots, weights=kept, voters=None, groups=groups, first_shown=None, _memo={})

    def capped(self, most: float) -> Votes:
        """Return the votes with no voter counting more than `most` battles.

        The battles of a voter who cast more are scaled down equally, so that together they weigh `most`.

        Examples
        --------
        >>> import polars
        >>> rows = {"winner": ["a", "a", "a", "a", "b"], "loser": ["b", "b", "b", "b", "a"], "who": list("xxxxy")}
        >>> votes = Votes.from_battles(polars.DataFrame(rows), voter="who")
        >>> votes.wins()[0, 1], votes.capped(2).wins()[0, 1]
        (np.float64(4.0), np.float64(2.0))
        """
        voters = self.expect_voters().capped(most)
        choices = {**self.reading.choices, "cap": f"{plural(float(most), 'battle')} per voter"}
        kept = replace(self.reading, choices=choices)
        capped = Votes.from_voters(voters, self.items, reading=kept)
        return replace(capped, notes=tuple(dict.fromkeys((*self.notes, *capped.notes))))

    def expect_voters(self) -> Voters:
        """Return the voters; without any, the error says how to read them."""
        if self.voters is None:
            repair = Message("name the voter column with ", Option("voter"))
            raise UsageError("these votes do not say who cast each battle", repair=repair)
        return self.voters

    def expect_groups(self, by: str | None, *, otherwise: str = "") -> Groups:
        """Return the groups, those of the column `by` if given; without any, the error says how to read them."""
        if self.groups is None:
            repair = Message("name the column when reading, with ", Option("by"), otherwise)
            raise UsageError(
                "these votes do not say which voter, task or category each ballot belongs to", repair=repair
            )
        if by is not None and by != self.groups.of:
            repair = Message("name the column when reading, with ", Option("by", str(by)))
            what = f"{quote(self.groups.of, 40)}, not by {quote(str(by), 40)}"
            raise UsageError(f"these votes are grouped by {what}", repair=repair)
        return self.groups

    def only(self, items: Iterable[str]) -> Votes:
        """Return the votes on some of the items, in this order; ballots that list none of them are left out.

        Examples
        --------
        >>> votes = Votes.from_orders([["a", "b", "c"], ["c", "a"]], weights=[3, 2])
        >>> votes.only(["c", "a"]).pairwise()[0, 1]
        np.float64(0.4)
        """
        names = list(items)
        ballots = self.ballots.columns(np.array([item_number(name, self.items) for name in names], dtype=np.intp))
        kept = ballots.listed > 0
        return Votes._build(names, ballots.take(kept), self.weights[kept], self.unlisted)._grouped(self.groups, ballots)

    def renamed(self, items: Iterable[str]) -> Votes:
        """Return the same votes with other names for the items."""
        names = tuple(items)
        check_items(names, self.n)
        return replace(self, items=names, _memo={})

    def _content_hash(self) -> str:
        digest = hashlib.sha256(f"holdrank votes 1\n{self.unlisted}\n{self.n}\n".encode())
        for item in self.items:
            name = item.encode("utf-8", "surrogatepass")
            digest.update(f"{len(name)}:".encode() + name)
        self.ballots.digest(digest, self.weights)
        return digest.hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (
            self.items, self.ballots, self.weights, self.unlisted, self.notes, self.reading, self.voters, self.groups,
            self.first_shown,
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Votes) and self.input_hash == other.input_hash

    def __hash__(self) -> int:
        return hash(self.input_hash)

    def __repr__(self) -> str:
        return (
            f"Votes({self.n} item{'s' * (self.n != 1)}, {_ballots(self.total)}, {self.distinct} distinct, "
            f"unlisted={self.unlisted!r})"
        )


def _restored(items: tuple[str, ...], ballots: Ballots, weights: Floats, *rest: Any) -> Votes:
    """Return votes from their pickle; arrays come back writeable and are closed again."""
    close(weights)
    return Votes(items, ballots.closed(), weights, *rest)


def _ballots(count: float) -> str:
    return plural(count, "ballot")
