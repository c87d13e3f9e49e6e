"""Notes of readers: counted notes, which can be added, and notes on names and comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import quote


class Note(str):
    """A note of a reader with its counts, so that the notes on the parts of a file can be added.

    Parameters
    ----------
    words : tuple of str
        The noun in the singular, in the plural, and the rest of the sentence; or the text before a list.
    counts : mapping of str to float
        The count; for a list, the count of each entry. Empty for a note about all votes, which cannot be added up from
        parts.
    """

    words: tuple[str, ...]
    counts: dict[str, float]

    def __new__(cls, words: tuple[str, ...], counts: Mapping[str, float], text: str | None = None) -> Note:
        """Compose the sentence."""
        if text is None and len(words) == 1:
            listing = ", ".join(f"{quote(kind, 30)} {plural(count, 'time')}" for kind, count in counts.items())
            text = f"{words[0]}: {listing}"
        elif text is None:
            text = f"{plural(counts[''], words[0], words[1])} {words[2]}"
        note = super().__new__(cls, text)
        note.words, note.counts = words, dict(counts)
        return note

    def __reduce__(self) -> tuple[Any, ...]:
        return Note, (self.words, self.counts, str(self))


def counted(count: float, one: str, rest: str, *, many: str | None = None) -> Note:
    """Return a note with a count.

    Examples
    --------
    >>> counted(1200, "ballot", "without any name dropped")
    '1,200 ballots without any name dropped'
    """
    return Note((one, many or one + "s", rest), {"": count})


def on_all(text: str) -> Note:
    """Return a note on all votes together, which cannot be added up from parts."""
    return Note((), {}, text)


def lasting(notes: Iterable[str]) -> list[str]:
    """Return the notes that stay true when more votes are added."""
    return [note for note in notes if not isinstance(note, Note) or note.counts]


def added_notes(some: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the notes on two parts as notes on both: counts added, equal sentences said once.

    Examples
    --------
    >>> added_notes([counted(1, "row", "dropped"), "the delimiter is a tab"], [counted(2, "row", "dropped")])
    ['3 rows dropped', 'the delimiter is a tab']
    """
    notes: dict[object, str] = {}
    for note in (*some, *others):
        if not isinstance(note, Note):
            notes.setdefault(note, note)
        elif note.counts:
            known = notes.get(note.words)
            if isinstance(known, Note):
                kinds = [*known.counts, *(kind for kind in note.counts if kind not in known.counts)]
                counts = {kind: known.counts.get(kind, 0) + note.counts.get(kind, 0) for kind in kinds}
                note = Note(note.words, counts)
            notes[note.words] = note
    return list(notes.values())


def plural(count: float, one: str, many: str | None = None) -> str:
    """Return ``"1 ballot"`` or ``"1,200 ballots"``."""
    return f"{count:,.10g} {one if count == 1 else many or one + 's'}"


def listed_lines(lines: Iterable[int], limit: int = 5) -> str:
    """Return ``" (lines 3, 8)"`` for a few lines, and nothing for many."""
    few = sorted(set(lines))
    if not few or len(few) > limit:
        return ""
    return f" ({'line' if len(few) == 1 else 'lines'} {', '.join(map(str, few))})"


def name_notes(items: Sequence[str]) -> list[Note]:
    """Return a note on names that differ only by case or spaces: distinct items, but probably a mistake."""
    groups: dict[str, list[str]] = {}
    for name in items:
        groups.setdefault(" ".join(name.split()).casefold(), []).append(name)
    alike = [names for names in groups.values() if len(names) > 1]
    if not alike:
        return []
    example = " and ".join(quote(name, 40) for name in alike[0][:2])
    text = f"{plural(len(alike), 'group')} of names differ only by case or spaces, such as {example}; "
    return [on_all(f"{text}they count as different items")]


def comparison_notes(
    items: int, first: NDArray[np.int64], second: NDArray[np.int64], compared: int | None = None
) -> list[Note]:
    """Return notes on pairs that no vote compared and on items that no chain of comparisons joins.

    The item ``first[k]`` was compared with ``second[k]``, and is the lower number of the two; `compared` says how many
    pairs were if these are only some of them.
    """
    if compared is None:
        compared = len(np.unique(first * items + second))
    possible = items * (items - 1) // 2
    notes = []
    if compared < possible:
        share = 100 * compared / possible
        notes.append(on_all(f"{compared:,} of {possible:,} pairs of items were compared ({share:.1f} %)"))
    parts = _groups(items, first, second)
    if parts > 1:
        text = (
            f"the comparisons are not connected: the items fall into {parts} groups with no comparison between them, "
        )
        notes.append(on_all(f"{text}so the order between groups is undetermined"))
    return notes


def _groups(items: int, first: NDArray[np.int64], second: NDArray[np.int64]) -> int:
    """Return into how many groups the items fall when pairs of them are joined."""
    lowest = np.arange(items)  # of a part of the group, which grows in every round
    while True:
        one, other = lowest[first], lowest[second]
        low = np.minimum(one, other)
        if np.array_equal(one, other):
            return len(np.unique(lowest))
        np.minimum.at(lowest, one, low)
        np.minimum.at(lowest, other, low)
        while not np.array_equal(lowest, further := lowest[lowest]):
            lowest = further


def nested_notes(names: Sequence[str]) -> list[str]:
    """Return a note on ignored columns, whose cells are lists or objects."""
    if not names:
        return []
    listing = ", ".join(quote(name, 30) for name in names[:4]) + (
        f" and {len(names) - 4} more" if len(names) > 4 else ""
    )
    one = len(names) == 1
    return [
        f"{'column' if one else 'columns'} {listing} ignored: {'it holds' if one else 'they hold'} lists or objects"
    ]
