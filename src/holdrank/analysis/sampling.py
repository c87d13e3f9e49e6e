"""Votes drawn with replacement, single or in whole groups, as weights of the distinct ballots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from holdrank.rankings import Ints
from holdrank.votes.groups import Groups, expect_clusters
from holdrank.votes.votes import Votes

BLOCK = 50  # draws with random numbers of their own: what one worker does at a time
NUMBERS_AT_A_TIME = 1 << 21  # in any one array, so that all of them stay well below 200 MB
_ONE_BY_ONE = 8  # votes for each distinct ballot up to which drawing votes is faster than drawing counts


def drawn_by(votes: Votes, by: str | None) -> Votes:
    """Return votes whose groups are those to be drawn, at least two by the column `by`; none where votes are drawn."""
    if by is None:
        return votes if votes.groups is None else replace(votes, groups=None)
    expect_clusters(votes.expect_groups(by), votes.total)
    return votes


def draw_weights(votes: Votes, size: int, generator: np.random.Generator) -> Ints:
    """Return how often each distinct ballot occurs in each of `size` draws of as many votes, or groups, as there are.

    Many draws at once are the same as one after the other.
    """
    if votes.groups is not None:
        return draw_groups(votes.groups, votes.distinct, size, generator)
    total, distinct = int(votes.total), votes.distinct
    if total > _ONE_BY_ONE * distinct:
        return generator.multinomial(total, votes.weights / votes.total, size=size)
    ballot = np.repeat(np.arange(distinct), votes.weights.astype(np.int64))
    drawn = ballot[generator.integers(total, size=(size, total))]
    drawn += distinct * np.arange(size)[:, None]
    return np.bincount(drawn.ravel(), minlength=size * distinct).reshape(size, distinct)


def draw_groups(groups: Groups, distinct: int, size: int, generator: np.random.Generator) -> Ints:
    """Return how often each distinct ballot occurs in each of `size` draws of as many groups as there are.

    A group is drawn with all its votes, so that the number of votes differs from draw to draw.
    """
    number = len(groups)
    drawn = generator.integers(number, size=(size, number))
    drawn += number * np.arange(size)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=size * number).reshape(size, number)
    weights = np.empty((size, distinct), dtype=np.int64)
    for at in range(0, size, rows := max(1, NUMBERS_AT_A_TIME // max(len(groups.group), distinct))):
        some = counts[at : at + rows, groups.group] * groups.weight
        place = groups.ballot + distinct * np.arange(len(some))[:, None]
        heaps = np.bincount(place.ravel(), weights=some.ravel(), minlength=len(some) * distinct)
        weights[at : at + rows] = heaps.reshape(len(some), distinct)
    return weights


class Stream:
    """Successive draws. Every block of draws has its own random numbers, so that any block can come first.

    Parameters
    ----------
    votes : Votes
        Where they have groups, these are drawn, each with all its votes, in place of single votes.
    seed : int
    block : int
        The number of the block to begin with.
    """

    def __init__(self, votes: Votes, seed: int, block: int = 0) -> None:
        self._votes, self._seed, self._at = votes, seed, block * BLOCK
        self._generator = np.random.default_rng(0)

    def take(self, rows: int) -> Ints:
        """Return the weights of the next draws."""
        parts = []
        while rows:
            block, done = divmod(self._at, BLOCK)
            if not done:
                own = np.random.SeedSequence(self._seed, spawn_key=(block,))
                self._generator = np.random.default_rng(own)
            some = min(rows, BLOCK - done)
            parts.append(draw_weights(self._votes, some, self._generator))
            self._at += some
            rows -= some
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def drawn_numbers(votes: Votes) -> float:
    """Return how many numbers one draw of votes needs."""
    if votes.groups is not None:
        return max(len(votes.groups.group), votes.distinct)
    return votes.total if votes.total <= _ONE_BY_ONE * votes.distinct else votes.distinct


def most_drawn(votes: Votes) -> float:
    """Return how many votes a draw can have at most."""
    groups = votes.groups
    return votes.total if groups is None else len(groups) * float(groups.totals.max())
