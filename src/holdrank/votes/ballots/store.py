"""The interface of both stores of ballots: everything that `Votes` and its readers use."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from holdrank.rankings import Floats, Ints
from holdrank.votes.limits import NUMBERS_AT_A_TIME

Rows: TypeAlias = npt.NDArray[np.bool_] | Ints | slice
"""Some of the ballots: those that are True, these in this order, or a range."""


class Ballots(ABC):
    """Ballots over n items: the rank that each gives to each item, and the scores behind the ranks, if any.

    `DenseBallots` hold a matrix; `SparseBallots` hold the few marks of an almost empty matrix. Both give the same
    answers to the last bit, so callers need not know which one they use. The number of votes per ballot is not stored
    here: methods that count take the weights.
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of ballots and of items."""

    @property
    @abstractmethod
    def listed(self) -> Ints:
        """Number of listed items of each ballot."""

    @property
    @abstractmethod
    def has_scores(self) -> bool:
        """Whether there are scores."""

    @abstractmethod
    def matrix(self) -> Ints:
        """Return the (m, n) matrix of the ranks: 1 is best, equal is tied, 0 is unlisted."""

    @abstractmethod
    def score_matrix(self) -> Floats | None:
        """Return the (m, n) matrix of the scores, higher is better, NaN where unlisted; None if there are no scores."""

    @abstractmethod
    def take(self, rows: Rows) -> Self:
        """Return some of the ballots."""

    @abstractmethod
    def with_rows(self, ranks: Ints) -> Self:
        """Return the ranks of these ballots, and below them more, as a matrix."""

    @abstractmethod
    def columns(self, items: Ints) -> Self:
        """Return the ballots over some of the items, in this order; ranks may then have gaps."""

    @abstractmethod
    def largest_ranks(self) -> Ints:
        """Return the largest rank of each ballot: where ranks have no gaps, the number of its groups of tied items."""

    @abstractmethod
    def orders(self) -> Iterator[list[list[int]]]:
        """Yield each ballot as its listed items in groups of tied ones, best first; ranks must have no gaps."""

    @abstractmethod
    def without_gaps(self) -> Self:
        """Return the ballots with the ranks of each replaced by 1, 2, ... in their order, equal ranks alike."""

    @abstractmethod
    def without_scores(self) -> Self:
        """Return the ranks alone, in as many rows."""

    @abstractmethod
    def merged(self, weights: Floats) -> tuple[Self, Floats]:
        """Return the distinct ballots, commonest first, and their weights.

        Voters who gave scores share a ballot only where all their scores are equal; their ranks then are equal too.
        """

    @abstractmethod
    def closed(self) -> Self:
        """Return the same ballots, read-only and laid out for counting."""

    @abstractmethod
    def sorted_rows(self) -> Ints:
        """Return the ballots in the order of their bytes (see `encoded`), equal ones as they stand."""

    @abstractmethod
    def wins(self, weights: Floats, *, observed: bool) -> Floats:
        """Return W, W[i, j] = weight of the ballots that place i above j, a tie counting half for each.

        With `observed`, a ballot compares only the items that it lists; otherwise unlisted items are tied below the
        listed ones.
        """

    @abstractmethod
    def listed_weights(self, weights: Floats) -> Floats:
        """Return for each item the weight of the ballots that list it."""

    @abstractmethod
    def place_sums(self, weights: Ints) -> Ints:
        """Return for each item the weighted sum of twice its place, unlisted items tied below the listed ones."""

    def __len__(self) -> int:
        return self.shape[0]

    def blocks(self) -> Iterator[tuple[slice, Self]]:
        """Yield the ballots part by part, each with the range that it covers, to keep temporary arrays small."""
        m, n = self.shape
        for start in range(0, m, rows := max(1, NUMBERS_AT_A_TIME // n)):
            part = slice(start, min(start + rows, m))
            yield part, self.take(part)

    def places(self) -> Iterator[tuple[slice, Floats]]:
        """Yield blocks of the mean places of all items, unlisted ones tied below the listed ones; linear in size."""
        n = self.shape[1]
        for part, ballots in self.blocks():
            block = ballots.matrix().astype(np.int64)
            block[block == 0] = n + 1
            row = np.arange(len(block))[:, None]
            sizes = np.bincount((row * (n + 2) + block).ravel(), minlength=len(block) * (n + 2))
            sizes = sizes.reshape(len(block), n + 2)
            places = np.cumsum(sizes, axis=1) - (sizes - 1) / 2
            yield part, np.take_along_axis(places, block, axis=1)

    def place_weights(self, weights: Floats) -> Floats:
        """Return the (n, n) matrix of the weight that puts item i at place k + 1, half places half to each side."""
        n = self.shape[1]
        heaps = np.zeros((n, n))
        for part, places in self.places():
            halves = weights[part] / 2
            for i in range(n):
                for side in (np.floor, np.ceil):
                    at = side(places[:, i]).astype(np.intp) - 1
                    heaps[i] += np.bincount(at, halves, minlength=n)
        return heaps

    def encoded(self, rows: Rows) -> npt.NDArray[Any]:
        """Return ballots, with their scores if they have any, in numbers that are the same on every machine."""
        some = self.take(rows)
        told = np.ascontiguousarray(some.matrix(), dtype=">i4")
        scores = some.score_matrix()
        if scores is None:
            return told
        filled = np.ascontiguousarray(np.where(np.isnan(scores), np.inf, scores), dtype=">f8").view(">i4")
        return np.hstack((told, filled), dtype=">i4")  # else hstack takes the byte order of this machine

    def digest(self, digest: hashlib._Hash, weights: Floats) -> None:
        """Add the ballots and their weights to a digest that is the same for any order of the ballots."""
        order = self.sorted_rows()
        for start in range(0, len(self), step := max(1, NUMBERS_AT_A_TIME // self.shape[1])):
            digest.update(self.encoded(order[start : start + step]).data)
        digest.update(weights[order].astype(">f8").tobytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, part.name) for part in fields(self))  # type: ignore[arg-type]


def heaped(first: Ints, label: Ints, weights: Floats) -> tuple[Ints, Floats]:
    """Return the first rows of groups of equal ballots, the heaviest group first, and the summed weights."""
    heaps: Floats = np.bincount(label, weights=weights, minlength=len(first)).astype(np.float64)
    if len(first) < len(label) and not np.array_equal(np.rint(weights), weights):
        # Sums of broken numbers depend on their order; rounded once, they do not.
        members = np.argsort(label, kind="stable")
        sizes = np.bincount(label)
        ends = np.cumsum(sizes)
        for group in np.flatnonzero(sizes > 1).tolist():
            heaps[group] = math.fsum(weights[members[ends[group] - sizes[group] : ends[group]]].tolist())
    if (heaps == heaps[:1]).all() and (first[1:] > first[:-1]).all():
        return first, heaps
    order = np.lexsort((first, -heaps))
    return first[order], heaps[order]
