"""Votes: who ranked what how often. The one noun that everything else is computed from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from holdrank.arrays.kernels import count_battles, count_marks, count_wins, whole_number_scale
from holdrank.arrays.tolerances import FAINT
from holdrank.errors import InputError, LimitError, UsageError, quote, show
from holdrank.rankings import Floats, Ints, Ranking, footrule_maximum, rho_maximum
from holdrank.status import upward
from holdrank.votes.ballots import (
    NUMBERS_AT_A_TIME,
    check_items,
    check_weights,
    close,
    dense_ranks,
    frame_of_ranks,
    largest_ranks,
    listed_counts,
    members_of,
    merged,
    merged_marks,
)
from holdrank.votes.forms import RawBallots, battles_from_frame, scores_from_frame
from holdrank.votes.forms.ballots import SparseRanks, most_cells, ranks_of_values
from holdrank.votes.forms.notes import counted
from holdrank.votes.forms.table import MAX_SCORE
from holdrank.words.numbers import number

Unlisted: TypeAlias = Literal["bottom", "observed"]
Distance: TypeAlias = Literal["kendall", "spearman_rho", "footrule"]

T = TypeVar("T")

MOST_ITEMS = 5_000  # above this an n x n matrix of floats no longer belongs in ordinary memory


@dataclass(frozen=True, slots=True)
class Reading:
    """Where votes came from and every choice that was made on the way.

    Parameters
    ----------
    source : str
        Name of the file, or ``"memory"``.
    sha256 : str
        Of the bytes that were read; empty when nothing was read from a file.
    format : str
        The form the source was read as.
    choices : mapping of str to str
        Each decision, as shown to people: ``{"unlisted": "bottom", ...}``.
    """

    source: str = "memory"
    sha256: str = ""
    format: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)


class Remembering:
    """A result that keeps what was computed from it; arrays are handed out read-only."""

    __slots__ = ()
    _memo: dict[str, Any]

    def _remember(self, name: str, compute: Callable[[], T]) -> T:
        if name not in self._memo:
            value = compute()
            if isinstance(value, np.ndarray):
                close(value)
            self._memo[name] = value
        known: T = self._memo[name]
        return known


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Votes(Remembering):
    """Weighted ballots over named items. Made by the `from_...` constructors or by `read_votes`.

    Mathematically a distribution p over rankings with ties and gaps; counts are kept as counts.

    Attributes
    ----------
    items : tuple of str
        Names of the items; item i is column i of `ranks`.
    ranks : (m, n) array of int
        One row for each distinct ballot, commonest first: 1 is best, equal is tied, 0 is unlisted; read-only.
    weights : (m,) array of float
        How many votes, or what share of them, each row stands for; read-only.
    unlisted : {"bottom", "observed"}
        What an unlisted item means: tied below all listed ones, or not compared by this ballot.
    notes : tuple of str
        What was dropped, merged or assumed.
    reading : Reading
        The source and the choices made on reading it.
    scores : (m, n) array of float or None
        What the ranks were made of, high is best, NaN where unlisted; read-only. Voters share a row only where all
        their scores are equal, so that rows of `ranks` may repeat. None for votes that hold no scores.

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

    items: tuple[str, ...]
    _ranks: Ints | SparseRanks
    weights: Floats
    unlisted: Unlisted
    notes: tuple[str, ...] = ()
    reading: Reading = field(default_factory=Reading)
    _scores: Floats | None = None  # of a matrix; marks hold their scores themselves
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
        index: dict[Hashable, int] = {}
        if items is not None:
            for item in items:
                if item in index:
                    raise InputError(f"item {quote(str(item))} is named twice", repair="give each item one name")
                index[item] = len(index)
        known = len(index)
        marks: list[list[tuple[int, int]]] = []
        for place, order in enumerate(orders, start=1):
            if isinstance(order, str):
                raise UsageError(f"ballot {place} is text, not a list of items; write it as ['a', 'b', ...]")
            ballot: dict[int, int] = {}
            for rank, group in enumerate(order, start=1):
                for item in members_of(group):
                    i = index.setdefault(item, len(index))
                    if items is not None and i >= known:
                        raise InputError(
                            f"ballot {place} names {quote(str(item))}, which is not among the items",
                            repair="add it to items= or correct its spelling",
                        )
                    if i in ballot:
                        raise InputError(
                            f"ballot {place} names {quote(str(item))} twice", repair="keep one mention of it"
                        )
                    ballot[i] = rank
            marks.append(list(ballot.items()))
        shape = len(marks), len(index)
        ranks: npt.NDArray[Any] | SparseRanks
        if shape[0] * shape[1] > most_cells(sum(map(len, marks))):
            row = np.repeat(np.arange(len(marks)), list(map(len, marks)))
            ranks = SparseRanks.of_marks(
                shape, row, *np.array(list(chain.from_iterable(marks)), dtype=np.int64).reshape(-1, 2).T
            )
        else:
            ranks = np.zeros(shape, dtype=np.int32)
            for k, ballot_marks in enumerate(marks):
                for i, rank in ballot_marks:
                    ranks[k, i] = rank
        return cls._build([str(item) for item in index], ranks, weights, unlisted)

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

        `ranks` may be a data frame with one column an item. Only the order inside a row counts.

        Examples
        --------
        >>> Votes.from_ranks([[1, 2, 2], [3, 0, 1]], items=["x", "y", "z"]).ranks.tolist()
        [[1, 2, 2], [2, 0, 1]]
        """
        if not isinstance(ranks, np.ndarray | list | tuple):
            names, ranks = frame_of_ranks(ranks)
            items = names if items is None else items
        try:
            table = np.asarray(ranks)
        except ValueError as error:
            raise UsageError("all ballots must have the same number of ranks, one for each item") from error
        if table.ndim != 2:
            raise UsageError(f"ranks must be a table with one row a ballot and one column an item, not {table.ndim}-d")
        if table.dtype.kind not in "iuf":
            raise UsageError(f"ranks must be numbers, not {table.dtype}")
        if table.size and (not np.isfinite(table).all() or table.min() < 0):
            row, column = np.argwhere(~np.isfinite(table) | (table < 0))[0].tolist()
            raise InputError(
                f"ballot {row + 1} gives item {column + 1} the rank {table[row, column]}",
                expected="1 for the best, larger for worse, 0 for unlisted",
                repair="use 0 where an item is not ranked",
            )
        names = [str(i) for i in range(table.shape[1])] if items is None else list(items)
        return cls._build(names, table, weights, unlisted)

    @classmethod
    def from_battles(cls, frame: Any, **columns: Any) -> Votes:
        """Return votes from a data frame of pairwise comparisons (pandas, polars, pyarrow, ...).

        Every battle is a ballot over two items, so `unlisted` is "observed". Columns are found by their usual
        names (``model_a, model_b, winner`` and others) or named by `first`, `second`, `winner` and `weight`;
        `both_bad` says whether such a verdict is a ``"tie"`` or ``"drop"``.
        """
        return cls.from_raw(battles_from_frame(frame, **columns), Reading(format="battles"))

    @classmethod
    def from_scores(cls, frame: Any, higher_is_better: bool | Mapping[str, bool] = True, **columns: Any) -> Votes:
        """Return votes from a table of scores: one row an item, one column a voter (judge, task, benchmark).

        The first column names the items unless `item` says otherwise; `voters` picks the columns that vote.
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
        """Return votes from an (m, n) array of scores, one row a voter and one column an item; high is best.

        NaN is a missing score. The scores themselves are kept, for rules that use them (`mean_score`).

        Examples
        --------
        >>> Votes.from_score_rows([[0.9, 0.4, 0.4], [0.2, np.nan, 0.7]]).ranks.tolist()
        [[1, 2, 2], [2, 0, 1]]
        """
        table = np.asarray(scores, dtype=np.float64)
        if table.ndim != 2 or (np.abs(table) > MAX_SCORE).any():
            raise UsageError("scores must be a table of finite numbers, one row a voter and one column an item")
        names = [str(i) for i in range(table.shape[1])] if items is None else list(items)
        return cls._build(names, ranks_of_values(table, True), weights, unlisted, scores=table)

    @classmethod
    def from_raw(cls, raw: RawBallots, reading: Reading, *, merge: bool = True) -> Votes:
        """Return votes from what a reader found.

        With ``merge=False`` equal ballots stay apart and scores are left out: enough to count pairs, and sooner done.
        """
        full = replace(reading, choices={**raw.choices, "unlisted": raw.unlisted, **reading.choices})
        return cls._build(
            raw.items, raw.ranks, raw.weights, raw.unlisted, raw.notes, full, raw.scores, raw.times, merge  # type: ignore[arg-type]
        )  # fmt: skip

    @classmethod
    def _build(
        cls,
        items: Sequence[str],
        ranks: npt.NDArray[Any] | SparseRanks,
        weights: npt.ArrayLike | None,
        unlisted: Unlisted,
        notes: Iterable[str] = (),
        reading: Reading | None = None,
        scores: Floats | None = None,
        times: Ints | None = None,
        merge: bool = True,
    ) -> Votes:
        """Check, drop, make dense, merge: every constructor ends here."""
        reading = reading or Reading(choices={"unlisted": unlisted})
        notes = list(notes)
        m, n = ranks.shape
        check_items(items, n)
        if unlisted not in ("bottom", "observed"):
            raise UsageError(f"unlisted must be 'bottom' or 'observed', not {quote(str(unlisted))}")
        shares = check_weights(weights, m, reading.source)

        listed_any = listed_counts(ranks) > 0
        heavy = shares > 0
        keep = listed_any & heavy
        if not keep.all():
            times = np.ones(m, dtype=np.int64) if times is None else times
            if blank := int(times[~listed_any].sum()):
                notes.append(counted(blank, "ballot", "without any mark dropped"))
            if nobody := int(times[listed_any & ~heavy].sum()):
                notes.append(counted(nobody, "ballot", "with weight 0 ignored"))
        if not keep.any():
            raise InputError(
                "nothing to aggregate",
                source="" if reading.source == "memory" else reading.source,
                found=("no ballot with a mark" if heavy.any() else "only weights of 0") if m else "no ballots at all",
                expected="at least one ballot that ranks at least one item",
                repair="check that the right file and columns were read",
            )
        if not keep.all():
            ranks, shares = ranks[keep], shares[keep]
            scores = None if scores is None else scores[keep]
        ballots: Ints | SparseRanks
        if isinstance(ranks, SparseRanks):
            marks, held = ranks.without_gaps(), None
            ballots, heaps = merged_marks(marks, shares) if merge else (replace(marks, score=None), shares)
        else:
            dense, heaps, held = dense_ranks(ranks), shares, None
            if merge:
                dense, heaps, held = merged(dense, shares, scores)
            ballots = np.asfortranarray(dense)  # column by column: counting compares columns
            close(ballots, held)
        close(heaps)
        if faint := int((heaps < FAINT * heaps.sum()).sum()):
            rest = f"lighter than {FAINT:.0e} of all votes: counts may not show them"
            notes.append(counted(faint, "kind of ballots", rest, many="kinds of ballots"))
        return cls(tuple(items), ballots, heaps, unlisted, tuple(notes), reading, held)

    @property
    def ranks(self) -> Ints:
        """The matrix of the ranks; of ballots that list few of many items it is made when first asked for."""
        held = self._ranks
        return self._remember("ranks", held.full) if isinstance(held, SparseRanks) else held

    @property
    def scores(self) -> Floats | None:
        """The matrix of the scores, if there are scores."""
        held = self._ranks
        return self._remember("scores", held.full_scores) if isinstance(held, SparseRanks) else self._scores

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
        return float(self.weights.sum())

    @property
    def pair_votes(self) -> float:
        """Number of votes times the number of pairs of items: what costs are divided by to be losses."""
        return self.total * max(self.n * (self.n - 1) / 2, 1)

    @property
    def is_counts(self) -> bool:
        """Whether all weights are whole numbers, so that half votes are the smallest step of any count."""
        return self._remember("counts", lambda: bool(np.array_equal(np.rint(self.weights), self.weights)))

    @property
    def with_ties(self) -> float:
        """Weight of the ballots that tie at least two listed items."""
        return float(self.weights[self._listed() > largest_ranks(self._ranks)].sum())

    @property
    def incomplete(self) -> float:
        """Weight of the ballots that leave at least one item unlisted."""
        return float(self.weights[self._listed() < self.n].sum())

    @property
    def input_hash(self) -> str:
        """SHA-256 of items, rule and ballots, the same for any order of the ballots and any file format."""
        return self._remember("hash", self._content_hash)

    def summary(self) -> str:
        """Return what was read, for people: sizes, choices, notes; one fact a line."""
        total = self.total
        lines = [
            f"source: {show(self.reading.source, 200)}",
            f"items: {self.n}",
            f"ballots: {number(total)} ({self.distinct} distinct)",
            f"with ties: {number(self.with_ties)} ({self.with_ties / total:.1%})",
            f"incomplete: {number(self.incomplete)} ({self.incomplete / total:.1%})",
            f"unlisted items: {UNLISTED_MEANS[self.unlisted]}",
            "ties in ballots: one half each way",
        ]
        said = ("unlisted", "ties", "form") if "format" in self.reading.choices else ("unlisted", "ties")
        lines += [f"{name}: {show(text, 200)}" for name, text in self.reading.choices.items() if name not in said]
        lines += [f"note: {show(note, 300)}" for note in self.notes]
        return "\n".join(lines)

    def wins(self) -> Floats:
        """Return W, W[i, j] = weight of the ballots that place i above j, a tie counting half for each.

        Under "bottom" unlisted items are tied below the listed ones; under "observed" a ballot speaks only about
        pairs that it lists. The diagonal is zero.
        """
        return self._remember("wins", self._count_wins)

    def pairwise(self) -> Floats:
        """Return P, P[i, j] = W[i, j] / (W[i, j] + W[j, i]): the share of votes on this pair that prefer i.

        One half on the diagonal and for pairs that nobody compared.

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

        def count() -> Floats:
            check_size(self.n)
            heaps = np.zeros((self.n, self.n))
            for places, weights in self._places():
                for i in range(self.n):
                    for side in (np.floor, np.ceil):
                        at = side(places[:, i]).astype(np.intp) - 1
                        heaps[i] += np.bincount(at, weights / 2, minlength=self.n)
            return heaps

        return self._remember("place weights", count)

    def listed_weights(self) -> Floats:
        """Return for each item the weight of the ballots that list it."""
        held = self._ranks
        if isinstance(held, SparseRanks):
            return np.bincount(held.item, self.weights[held.row], minlength=self.n).astype(np.float64)
        return np.asarray(self.weights @ (held != 0))

    def mean_places(self) -> Floats:
        """Return the mean place of each item (1 is best), ties at the mean of the places they cover.

        For complete ballots and under "bottom" this is ``1 + sum_j P[j, i]``; it takes time linear in the ballots.
        """
        # Whole numbers (doubled places, scaled weights) make the sums exact, hence the same on any machine.
        scale = whole_number_scale(self.weights, spare_bits=2 + int(np.ceil(np.log2(2 * self.n))))
        if isinstance(self._ranks, SparseRanks):
            sums = self._sum_marked_places(self._ranks, np.rint(self.weights * scale).astype(np.int64))
        else:
            sums = np.zeros(self.n, dtype=np.int64)
            for places, weights in self._places():
                sums += np.rint(weights * scale).astype(np.int64) @ (2 * places).astype(np.int64)
        return np.asarray(sums / (2 * scale * self.total))

    def loss(self, ranking: Ranking, distance: Distance = "kendall") -> float:
        """Return the expected normalised distance between `ranking` and a vote.

        For Kendall a tie, in the ranking or in a ballot, costs one half; pairs that a ballot does not compare cost
        nothing. The other distances need places for all items, so they refuse incomplete ballots under "observed".

        Paper: the loss of a consensus (Eq. 1); with ties, H^(1/2) to the votes (Section 5).

        Examples
        --------
        >>> votes = Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 1])
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
        costs = 0.0
        for places, weights in self._places():
            gaps = places - ranking.places
            costs += float(weights @ (gaps * gaps if squared else np.abs(gaps)).sum(axis=1))
        return costs / self.total / max(largest, 1)

    def least_loss(self) -> float:
        """Return a lower bound on the Kendall loss of every ranking: each pair ordered as its majority wants."""
        return least_cost(self.wins()) / self.pair_votes

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
        if self.scores is None or other.scores is None:
            one, two = self.without_scores(), other.without_scores()
        gap: dict[bytes, float] = {}
        for votes, sign in ((one, 1.0), (two, -1.0)):
            table = votes.ranks if votes.scores is None else np.nan_to_num(votes.scores, nan=np.inf)
            rows = np.ascontiguousarray(table[:, [votes.items.index(item) for item in self.items]])
            for row, share in zip(rows, (sign * votes.weights / votes.total).tolist(), strict=True):
                key = row.tobytes()
                gap[key] = gap.get(key, 0.0) + share
        return float(sum(map(abs, gap.values())) / 2)

    def without_scores(self) -> Votes:
        """Return the rankings alone, equal ones merged; votes that hold no scores come back as they are.

        Rules that look at rankings only give the same result, often sooner.

        Examples
        --------
        >>> votes = Votes.from_score_rows([[9, 1], [5, 4], [0, 2]])
        >>> votes.distinct, votes.without_scores().distinct
        (3, 2)
        """
        held = self._ranks
        if self._scores is None and not (isinstance(held, SparseRanks) and held.score is not None):
            return self

        def rankings() -> Votes:
            ballots: Ints | SparseRanks
            if isinstance(held, SparseRanks):
                ballots, heaps = merged_marks(replace(held, score=None), self.weights)
            else:
                dense, heaps, _ = merged(held, self.weights, None)
                ballots = np.asfortranarray(dense)
                close(ballots)
            close(heaps)
            return replace(self, _ranks=ballots, weights=heaps, _scores=None, _memo={})

        return self._remember("rankings", rankings)

    def with_reading(self, reading: Reading) -> Votes:
        """Return the same votes with another account of where they came from."""
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
            raise UsageError("at least one ballot must keep a weight above 0")
        ranks, kept = np.asfortranarray(self.ranks[order]), shares[order]
        scores = None if self.scores is None else self.scores[order]
        close(ranks, kept, scores)
        return replace(self, _ranks=ranks, weights=kept, _scores=scores, _memo={})

    def only(self, items: Iterable[str]) -> Votes:
        """Return the votes on some of the items, in this order; ballots that list none of them are left out.

        Examples
        --------
        >>> votes = Votes.from_orders([["a", "b", "c"], ["c", "a"]], weights=[3, 2])
        >>> votes.only(["c", "a"]).pairwise()[0, 1]
        np.float64(0.4)
        """
        names = list(items)
        unknown = [name for name in names if name not in self.items]
        if unknown:
            raise UsageError(f"no item is called {quote(unknown[0])}")
        columns = [self.items.index(name) for name in names]
        ranks = self.ranks[:, columns]
        kept = (ranks != 0).any(axis=1)
        scores = None if self.scores is None else self.scores[kept][:, columns]
        return Votes._build(names, ranks[kept], self.weights[kept], self.unlisted, scores=scores)

    def renamed(self, items: Iterable[str]) -> Votes:
        """Return the same votes with other names for the items."""
        names = tuple(items)
        check_items(names, self.n)
        return replace(self, items=names, _memo={})

    def _listed(self) -> Ints:
        """Return the number of listed items of each ballot."""
        return self._remember("listed", lambda: listed_counts(self._ranks))

    def _count_wins(self) -> Floats:
        check_size(self.n)
        if isinstance(self._ranks, SparseRanks):
            return self._count_marks(self._ranks)
        if self.unlisted == "observed":
            battles = self._listed() == 2
            if battles.any():  # two items a ballot: no need to look at all pairs of items
                rest = count_wins(self.ranks[~battles], self.weights[~battles], strict=False, observed=True)
                return rest + count_battles(self.ranks[battles], self.weights[battles])
        strict = bool((self.ranks.max(axis=1) == self.n).all())
        return count_wins(self.ranks, self.weights, strict=strict, observed=self.unlisted == "observed")

    def _count_marks(self, marks: SparseRanks) -> Floats:
        sizes = marks.sizes()

        def count(some: npt.NDArray[np.bool_], spare_bits: int) -> Floats:
            part = marks[some]
            arrays = sizes[some], part.item, part.rank, self.weights[some]
            return count_marks(self.n, *arrays, observed=self.unlisted == "observed", spare_bits=spare_bits)

        battles = (sizes == 2) & (self.unlisted == "observed")
        wins = count(~battles, 2)  # with the digits that other ways of counting have, so that they agree to the last
        return wins + count(battles, 11) if battles.any() else wins

    def _sum_marked_places(self, marks: SparseRanks, weights: Ints) -> Ints:
        """Return the weighted sum of the doubled places of each item, all unlisted ones sharing the last places."""
        self._refuse_unknown_places()
        last = marks.sizes() + 1 + self.n
        sums = np.full(self.n, weights @ last)
        np.add.at(sums, marks.item, weights[marks.row] * (marks.doubled_places() - last[marks.row]))
        return sums

    def _refuse_unknown_places(self) -> None:
        if self.unlisted == "observed" and self.incomplete:
            raise UsageError(
                "places of unlisted items are unknown under unlisted='observed'; "
                "to repair: use unlisted='bottom', or a rule that compares pairs (kemeny)"
            )

    def _places(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield blocks of (mean places of all items, weights); linear in the ballots."""
        self._refuse_unknown_places()
        n = self.n
        for start in range(0, self.distinct, rows := max(1, NUMBERS_AT_A_TIME // n)):
            block = self._some_ranks(start, start + rows).astype(np.int64)
            block[block == 0] = n + 1
            row = np.arange(len(block))[:, None]
            sizes = np.bincount((row * (n + 2) + block).ravel(), minlength=len(block) * (n + 2))
            sizes = sizes.reshape(len(block), n + 2)
            places = np.cumsum(sizes, axis=1) - (sizes - 1) / 2
            yield np.take_along_axis(places, block, axis=1), self.weights[start : start + rows]

    def _some_ranks(self, start: int, stop: int) -> Ints:
        """Return rows of `ranks`; of marks only these become a matrix."""
        if isinstance(self._ranks, SparseRanks):
            return self._ranks[np.arange(start, min(stop, self.distinct))].full()
        return self._ranks[start:stop]

    def _content_hash(self) -> str:
        digest = hashlib.sha256(f"holdrank votes 1\n{self.unlisted}\n{self.n}\n".encode())
        for item in self.items:
            name = item.encode("utf-8", "surrogatepass")
            digest.update(f"{len(name)}:".encode() + name)
        if isinstance(self._ranks, SparseRanks):
            order = self._ranks.sorted_rows()
        else:
            rows = self._bytes_of(slice(None))
            order = np.argsort(rows.view(f"V{rows.dtype.itemsize * rows.shape[1]}").ravel(), kind="stable")
        for start in range(0, self.distinct, step := max(1, NUMBERS_AT_A_TIME // self.n)):
            digest.update(self._bytes_of(order[start : start + step]).data)
        digest.update(self.weights[order].astype(">f8").tobytes())
        return digest.hexdigest()

    def _bytes_of(self, rows: Any) -> npt.NDArray[Any]:
        """Return ballots, with their scores if they have any, in numbers that are the same on every machine."""
        if isinstance(self._ranks, SparseRanks):
            some = self._ranks[rows]
            ranks, scores = some.full(), some.full_scores()
        else:
            ranks, scores = self._ranks[rows], None if self._scores is None else self._scores[rows]
        told = np.ascontiguousarray(ranks, dtype=">i4")
        if scores is None:
            return told
        filled = np.where(np.isnan(scores), np.inf, scores).astype(">f8").view(">i4")
        return np.hstack((told, filled), dtype=">i4")  # else hstack takes the byte order of this machine

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.items, self._ranks, self.weights, self.unlisted, self.notes, self.reading, self._scores)
        return _restored, parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Votes) and self.input_hash == other.input_hash

    def __hash__(self) -> int:
        return hash(self.input_hash)

    def _repr_html_(self) -> str:
        return upward.html_of(self)

    def __repr__(self) -> str:
        return (
            f"Votes({self.n} item{'s' * (self.n != 1)}, {_ballots(self.total)}, {self.distinct} distinct, "
            f"unlisted={self.unlisted!r})"
        )


def check_size(n: int, named: str = "ballots list") -> None:
    """Refuse more items than a matrix of all pairs can hold."""
    if n > MOST_ITEMS:
        raise LimitError(
            f"{n:,} items need a matrix of {n:,} x {n:,} numbers; the limit is {MOST_ITEMS:,} items; "
            f"to repair: keep the items that enough {named}"
        )


def pair_shares(wins: Floats) -> Floats:
    """Return P of a matrix W: the share of the comparisons of each pair that the first item wins, 1/2 of none."""
    compared = wins + wins.T
    return np.divide(wins, compared, out=np.full_like(wins, 0.5), where=compared > 0)


def kendall_cost(wins: Floats, ranking: Ranking) -> float:
    """Return the weight of all comparisons that a ranking goes against; a tie goes against half of them."""
    above = ranking.ranks[:, None] < ranking.ranks
    tied = ranking.ranks[:, None] == ranking.ranks
    return float((wins.T * above).sum() + (wins * tied).sum() / 2)


def least_cost(wins: Floats) -> float:
    """Return a lower bound on `kendall_cost`: each pair ordered as its majority wants."""
    return float(np.minimum(wins, wins.T).sum() / 2)


UNLISTED_MEANS: dict[str, str] = {
    "bottom": "bottom (tied below all listed items)",
    "observed": "observed (a ballot speaks only about pairs it lists)",
}


def _restored(*parts: Any) -> Votes:
    """Return votes from their pickle; arrays come back writeable and are closed again."""
    votes = Votes(*parts)
    close(votes.weights)
    if not isinstance(votes._ranks, SparseRanks):
        close(votes._ranks, votes._scores)
    return votes


def _ballots(count: float) -> str:
    return f"{number(count)} ballot{'s' * (count != 1)}"
