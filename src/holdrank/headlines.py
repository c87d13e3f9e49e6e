"""An analysis in one sentence: how long the top holds, how sure that is, and whether it is a tie."""

from __future__ import annotations

from holdrank.errors import show
from holdrank.records import Record
from holdrank.votes import number, percent

_FIRM = ("holds", "falls", "holds")  # what a winner does until enough votes change, then, and while fewer do
_OPEN = ("lets nobody else in", "lets somebody else in", "nobody")
"""The same for a shared top: what was attacked is that another item joins it; one of its own may leave for less."""


def headline(record: Record) -> str:
    """Return the result in one sentence: how long the top holds, how sure that is, and whether it is a tie."""
    names, found = record["items"], record["attack"]
    ranks = (record["tiers"] or record["consensus"])["ranks"]
    top = [show(names[i], 60) for i in record["consensus"]["order"] if ranks[i] == 1]
    if len(ranks) == 1:
        return f"There is one item, {top[0]}."
    if len(top) == len(ranks):
        what, tie = f"The tie of all {len(ranks)} items", ""
    elif len(top) == 1:
        what, tie = f"The winner, {top[0]},", ""
    else:
        what, tie = "The top", f"; it is a tie of {_in_words(len(top))}: {', '.join(top[:4])}"
        tie += f" and {len(top) - 4} more" * (len(top) > 4)
    if found is None:
        return f"{what} was not put to the test in time{tie}."
    return f"{what} {_until(found, record['votes'], *(_OPEN if tie else _FIRM))}{tie}."


def _until(found: Record, votes: Record, holds: str, falls: str, held: str) -> str:
    """Return how long something holds, in words: a number of votes first, a share second, then the proof."""
    if found["lower"] is None:
        return f"{holds} whatever votes change, proved"
    counts, total = votes["counts"], votes["total"]
    least, most = (found["needed"], found["sufficient"]) if counts else (found["lower"], found["upper"])

    def change(amount: float) -> str:
        if counts:
            return f"{number(amount)} of {number(total)} votes change{'s' * (amount == 1)} ({percent(amount / total)})"
        return f"{percent(amount)} of the votes change"

    if most == 0:
        return "does not hold: the goal is fulfilled as it is"
    if most is None:
        known = f"{holds} until {change(least)}, proved; no attack is known"
        return known if least else "was not broken, and not proved"
    if least == most:
        return f"{holds} until {change(most)}, proved"
    if not least or (counts and least <= 1):
        unknown = "; whether fewer are enough is not known" * (not counts or most > 1)
        return f"{falls} when {change(most)}{unknown}"
    fewer = number(least) if counts else percent(least)
    return f"{falls} when {change(most)}, and {held} while fewer than {fewer} do"


def _in_words(count: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    return words[count] if count < len(words) else str(count)
