"""Sets of items that can stand at one end of an order, and their minimum loss: grown layer by layer.

The loss of an item that joins a set is looked up: each row depends only on its own few items, so rows that share most
of their items share a table, which has a line for every subset of these. Numbers are whole; two are added at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from holdrank.arrays.native import call
from holdrank.rankings import Ints
from holdrank.rules.kemeny.cuts import Cut
from holdrank.status import Clock

_STATES_AT_ONCE = 2_048  # between two checks of the clock
_FULL = -2


class Tables:
    """The loss of every item when it joins a set.

    Parameters
    ----------
    deviations : (n, n) array
        The loss of placing i before j.
    triangles : (t, 4) array
        Items a, b, c and a price, lost by the orders abc, bca and cab.
    cuts : sequence of (Cut, int)
        Rows with a price, lost for each unit of slack.
    fixed : (n, n) array of bool
        Only orders that place i before j are considered.
    most_loss : int
        Sets that lose more (in halves) are not needed.
    together : 8 or 10
        Items of a table: more make fewer tables, which take longer to fill.
    """

    def __init__(
        self,
        deviations: Ints,
        triangles: Ints,
        cuts: Sequence[tuple[Cut, int]],
        fixed: npt.NDArray[np.bool_],
        most_loss: int,
        together: int,
    ) -> None:
        n = len(deviations)
        self.n, self.together, self.most_loss = n, together, most_loss
        self.words = (n + 63) // 64
        self.deviations = np.empty(((n + 3) // 4, 16, n), dtype=np.int64)
        call("charge_deviations", n, np.ascontiguousarray(deviations), self.deviations)
        needed = np.zeros((n, self.words * 64), dtype=np.uint8)
        needed[:, :n] = fixed.T
        self.first = np.packbits(needed, axis=1, bitorder="little").view("<i8").astype(np.int64)
        used = [np.flatnonzero((cut.weights | cut.weights.T).any(axis=1)) for cut, _ in cuts]
        widest_first = sorted(range(len(cuts)), key=lambda row: -len(used[row]))  # the others find room with them
        cuts, used = [cuts[row] for row in widest_first], [used[row] for row in widest_first]
        members = [np.array(cut.items)[roles] for (cut, _), roles in zip(cuts, used, strict=True)]
        widths = np.array([len(items) for items in members] + [3] * len(triangles), dtype=np.int64)
        starts = np.concatenate(([0], np.cumsum(widths))).astype(np.int64)
        items = np.concatenate((*members, triangles[:, :3].ravel())).astype(np.int64)
        group_of = np.empty(len(widths), dtype=np.int64)
        groups = np.empty((len(widths), together), dtype=np.int64)
        self.count = call("group_charges", n, len(widths), starts, items, together, group_of, groups)
        self.groups = groups[: self.count]
        self.charges = np.zeros((self.count, 1 << together, together), dtype=np.int64)
        place = np.zeros((self.count, n + 1), dtype=np.int64)
        np.put_along_axis(place, self.groups, np.arange(together), axis=1)
        for row, ((cut, price), roles) in enumerate(zip(cuts, used, strict=True)):
            k, weights = len(roles), np.ascontiguousarray(cut.weights[np.ix_(roles, roles)])
            charged = np.empty(k << k, np.int64), np.empty(k << k, np.int64)
            call("charge_prefixes", k, weights, cut.limit, price, *charged)
            at = place[group_of[row], members[row]]
            call("join_charges", k, *charged, at, most_loss, together, self.charges[group_of[row]])
        of = group_of[len(cuts) :]
        lines = np.column_stack((*(place[of, triangles[:, corner]] for corner in range(3)), triangles[:, 3]))
        call("join_triangles", len(of), np.ascontiguousarray(lines), of, most_loss, together, self.charges)


class End:
    """Sets of items that can stand at one end of an order, layer by layer, and the minimum loss of each."""

    def __init__(self, tables: Tables, most: int) -> None:
        self.tables, self.most = tables, most
        self.limit = 0  # of losses; sets that are not here lose more
        self.states = np.zeros((most, tables.words), dtype=np.int64)
        self.losses, self.across = np.zeros(most, dtype=np.int32), np.zeros(most, dtype=np.int32)
        self.last = np.zeros(most, dtype=np.int16)
        self.layers = [0, 1]  # where the sets of each size begin; the empty one is there
        self.lost: list[int] = [0]  # the least in each layer

    @staticmethod
    def bytes_a_set(n: int) -> int:
        """Return the memory that one set of up to n items takes."""
        return 8 * ((n + 63) // 64) + 4 + 4 + 2

    def is_over(self) -> bool:
        """Whether no set of the last size is left."""
        return self.layers[-1] == self.layers[-2]

    def least(self, size: int) -> int:
        """Return the minimum loss of a set of this size."""
        return self.lost[size] if size < len(self.lost) else self.limit + 1

    def slots(self, start: int, end: int, room: int) -> npt.NDArray[np.int32]:
        """Return a hash table of the sets with these numbers, with room for further ones."""
        slots = np.zeros(1 << (2 * (end - start + room)).bit_length(), dtype=np.int32)
        call("enter_prefixes", self.tables.n, self.states, start, end, slots, len(slots) - 1)
        return slots

    def grow(self, limit: int, most_loss: int, other: End | None, clock: Clock) -> bool:
        """Make the sets with one more item that lose at most `limit`; return False if there is no room or no time."""
        tables, n = self.tables, self.tables.n
        self.limit = limit
        count = end = self.layers[-1]
        beyond, beyond_most, known = self, -most_loss - 1, np.zeros(1, dtype=np.int32)
        if other is not None:
            beyond, beyond_most = other, other.limit
            if (size := n - len(self.layers) + 1) < len(other.layers) - 1:
                known = other.slots(other.layers[size], other.layers[size + 1], 0)
        most_new = n * min(end - self.layers[-2], _STATES_AT_ONCE)
        slots = self.slots(end, end, most_new)
        for start in range(self.layers[-2], end, _STATES_AT_ONCE):
            if clock.over():
                return False
            if 2 * (count - end + most_new) > len(slots):
                slots = self.slots(end, count, 2 * (count - end) + most_new)
            count = call(
                "grow_prefixes", n, tables.deviations, tables.first, tables.count, tables.together, tables.groups,
                tables.charges, start, min(start + _STATES_AT_ONCE, end), count, self.most, self.states, self.losses,
                self.across, self.last, slots, len(slots) - 1, limit, most_loss, beyond_most, beyond.states,
                beyond.losses, known, len(known) - 1,
            )  # fmt: skip
            if count == _FULL:
                return False
        self.layers.append(count)
        if count > end:
            self.lost.append(int(self.losses[end:count].min()))
        return True

    def order(self) -> Ints:
        """Return the cheapest order, read back from the set of all items."""
        state = self.layers[-1] - 1
        order: list[int] = []
        for size in range(self.tables.n, 0, -1):
            item = int(self.last[state])
            order.append(item)
            smaller = self.states[state].copy()
            smaller.view(np.uint64)[item >> 6] ^= np.uint64(1) << np.uint64(item & 63)
            layer = slice(self.layers[size - 1], self.layers[size])
            state = self.layers[size - 1] + int((self.states[layer] == smaller).all(axis=1).argmax())
        return np.array(order[::-1])
