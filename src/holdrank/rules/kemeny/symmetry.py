"""Dynamic programming over sets of items up to the symmetries of the costs: for tournaments that look alike everywhere.

A symmetry renames the items and changes no cost. A set and its images cost the same, so one of them is enough: pal31 of
the record board has 465 symmetries, and 4.6 million sets in place of 2³¹. Sets grow to half of the items; the cheapest
order is then the best pair of a set and its complement. Symmetries are checked entry by entry, and all sums are whole
numbers, so that no tolerance enters.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from holdrank.arrays.native import call
from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny.parts import Part, order_cost
from holdrank.status import Clock

HOW = "subsets up to symmetry"
MOST_ITEMS = 32
_BITS = 32  # of a set, as in the loop
_MOST_SYMMETRIES = 4_096  # their tables take 16 MB
_MOST_STEPS = 300_000  # of the search for symmetries: about 0.4 s
_MOST_CLASSES = 3_000_000  # sets that are kept: some 10 s
_SETS_AT_ONCE = 2_000  # between two checks of the clock
_VALUE_BITS = 31  # as in the loop

Small = npt.NDArray[np.int32]


def solve(cost: Floats, clock: Clock) -> Part | None:
    """Return a cheapest order for whole costs; None without symmetries, with too many sets, or when time is over."""
    n = len(cost)
    if n > MOST_ITEMS or cost.sum() * (n + 1) >= 2.0**_VALUE_BITS:
        return None
    group = symmetries(cost)
    if len(group) < max(2, (1 << n) // (4 * _MOST_CLASSES)):
        return None
    classes = _Classes(cost, group)
    if sum(classes.expected[: n - n // 2 + 1]) > _MOST_CLASSES:
        return None
    order = classes.cheapest(clock)
    if order is None:
        return None
    value = order_cost(cost, np.array(order))
    # A symmetry that moves an item turns every order into another one, of the same cost.
    return Part(order, value, value, False, True, HOW)


def symmetries(cost: Floats) -> Ints:
    """Return all permutations p with ``cost[p[i], p[j]] == cost[i, j]``, a row each; none where there are too many."""
    n = len(cost)
    rows, columns = (np.sort(np.where(np.eye(n, dtype=bool), -1.0, side), axis=1) for side in (cost, cost.T))
    looks = np.unique(np.hstack((rows, columns)), axis=0, return_inverse=True)[1].ravel()
    if len(set(looks.tolist())) == n:
        return np.arange(n)[None]
    # alike[i, j, u]: the items that stand to u as j stands to i, in both directions.
    alike: dict[tuple[int, int, int], int] = {}

    def standing(i: int, j: int, u: int) -> int:
        if (i, j, u) not in alike:
            fits = (cost[u] == cost[i, j]) & (cost[:, u] == cost[j, i])
            alike[i, j, u] = sum(1 << int(w) for w in np.flatnonzero(fits))
        return alike[i, j, u]

    first = [sum(1 << int(w) for w in np.flatnonzero(looks == looks[i])) for i in range(n)]
    found: list[list[int]] = []
    image: list[int] = []
    open_images = [first[0]]
    for _ in range(_MOST_STEPS):
        if not open_images:
            return np.array(found, dtype=np.int64)
        if not open_images[-1]:
            open_images.pop()
            image = image[: len(open_images) - 1]
            continue
        lowest = open_images[-1] & -open_images[-1]
        open_images[-1] ^= lowest
        image = [*image[: len(open_images) - 1], lowest.bit_length() - 1]
        if len(image) == n:
            found.append(image)
            if len(found) > _MOST_SYMMETRIES:
                break
            continue
        item = len(image)
        fits = first[item]
        for i, u in enumerate(image):
            fits &= standing(i, item, u) & ~(1 << u)
        open_images.append(fits)
    return np.arange(n)[None]


class _Classes:
    """Sets of items up to symmetries, layer by layer, with the least cost of ordering each."""

    def __init__(self, cost: Floats, group: Ints) -> None:
        n = self.n = len(cost)
        self.cost: Small = np.ascontiguousarray(np.rint(cost * (1 - np.eye(n))), dtype=np.int32)
        self.group = group
        first = group.min(axis=0)  # of the orbit of each item, as the symmetries are a group
        rows = [np.flatnonzero(group[:, item] == first[item]) for item in range(n)]
        self.starts = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
        self.orbit: Small = (first * (int(self.cost.sum()) + 1)).astype(np.int32)
        images = np.left_shift(np.uint64(1), np.pad(group, ((0, 0), (0, _BITS - n))).astype(np.uint64))
        bits = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(np.uint64)
        tables = np.stack([images[:, 8 * b : 8 * b + 8] @ bits.T for b in range(4)], axis=1)
        self.tables: Small = np.ascontiguousarray(tables[np.concatenate(rows)].astype(np.uint32).view(np.int32))
        self.layers: list[Ints] = [np.zeros(1, dtype=np.int64)]

    @cached_property
    def expected(self) -> list[int]:
        """How many sets of each size there are up to symmetries: the mean number of sets that one leaves in place."""
        fixed = [0] * (self.n + 1)
        for image in self.group.tolist():
            left, powers = set(range(self.n)), np.array([1], dtype=np.int64)
            while left:
                start = item = left.pop()
                length = 1
                while (item := image[item]) != start:
                    left.discard(item)
                    length += 1
                powers = np.convolve(powers, [1, *[0] * (length - 1), 1])
            fixed = [total + int(power) for total, power in zip(fixed, powers, strict=True)]
        return [total // len(self.group) for total in fixed]

    def cheapest(self, clock: Clock) -> tuple[int, ...] | None:
        """Return a cheapest order; None when time is over."""
        half, everything = self.n // 2, (1 << self.n) - 1
        for size in range(1, self.n - half + 1):
            if not self.grow(size, clock):
                return None
        front = self.layers[half] >> _VALUE_BITS
        behind, across = self.least_images(everything ^ front)
        total = (self.layers[half] & ((1 << _VALUE_BITS) - 1)) + across + self.costs(behind, self.n - half)
        best = int(front[total.argmin()])
        return tuple(self.order(best) + self.order(everything ^ best))

    def grow(self, size: int, clock: Clock) -> bool:
        """Make the sets of this size; return False when time is over."""
        smaller = self.layers[-1]
        slots = np.zeros(1 << (2 * self.expected[size]).bit_length(), dtype=np.int64)
        taken = 0
        for start in range(0, len(smaller), _SETS_AT_ONCE):
            if clock.over():
                return False
            some = smaller[start : start + _SETS_AT_ONCE]
            taken = call(
                "grow_classes", self.n, self.cost, self.orbit, self.tables, self.starts, len(some), some, slots,
                len(slots) - 1, taken,
            )  # fmt: skip
            assert 0 <= taken <= self.expected[size]
        self.layers.append(np.sort(slots[slots != 0]))
        return True

    def least_images(self, sets: Ints) -> tuple[Ints, Ints]:
        """Return the set that stands for each, and what each pays for the other items before it."""
        images, across = sets.astype(np.int64), np.empty(len(sets), dtype=np.int64)
        call("least_images", self.n, self.cost, self.orbit, self.tables, self.starts, len(sets), images, across)
        return images, across

    def costs(self, images: Ints, size: int) -> Ints:
        """Return the least cost of ordering each of the sets of this size that stand for others."""
        at = np.searchsorted(self.layers[size], images << _VALUE_BITS)
        found = self.layers[size][at]
        assert ((found >> _VALUE_BITS) == images).all()
        return found & ((1 << _VALUE_BITS) - 1)

    def order(self, items: int) -> list[int]:
        """Return a cheapest order of a set."""
        order: list[int] = []
        while items:
            members = [i for i in range(self.n) if items >> i & 1]
            rest = np.array([items ^ (1 << last) for last in members])
            paid = self.cost[np.ix_(members, members)].sum(axis=0)
            total = self.costs(self.least_images(rest)[0], len(members) - 1) + paid
            order.append(members[int(total.argmin())])
            items ^= 1 << order[-1]
        return order[::-1]
