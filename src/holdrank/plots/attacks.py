"""One attack: the order before and after it, and the ballots that change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdrank.attacks.goals import NewWinner, Wins
from holdrank.attacks.results import told_of
from holdrank.errors import UsageError, quote, whole_number
from holdrank.plots.style import BLUE, DARK, GREY, PALE_BLUE, VERMILLION, Data, drawn, starts, width_of, wrap
from holdrank.words.attacks import change_text, proof_text
from holdrank.words.goals import winners
from holdrank.words.ladders import spans
from holdrank.words.names import named
from holdrank.words.numbers import number, percent

if TYPE_CHECKING:
    from holdrank.attacks.results import Attack
    from holdrank.plots.style import Axes, Sheet
    from holdrank.rankings import Ranking
    from holdrank.rules.consensus import Statistic

_MOST_WIDE_APART = 20  # items; the rows of more stand closer together
_LONGEST_BALLOT = 400  # characters, more than two lines hold


def attack(found: Attack, T: Statistic | None = None, *, most: int = 8, ax: Axes | None = None) -> Axes:
    """Draw what an attack does: the order before and after it, a line for each item, and the ballots that change.

    Parameters
    ----------
    found : Attack
        Result of ``attack``, or one of the attacks of a breakdown. The attack in whole votes is drawn if one is known.
    T : Statistic, optional
        The statistic that was attacked, to be run on the votes after the attack in whole votes. Not needed for
        `kemeny`, `borda`, `footrule`, `copeland` and `bradley_terry`, which are known by their names.
    most : int
        Number of ballots listed, of those removed and those added together.
    ax : Axes, optional
        Where to draw; a new figure that fits, by default. On axes that are too small everything is drawn smaller.

    Returns
    -------
    Axes
        Its unit is a point of the drawing, counted from the upper left corner. Items that rise are blue, those that
        fall vermillion, the others grey. Tied items are in one frame.
    """
    return drawn(_Slopes(attack_data(found, T, most=most)), ax)


def attack_data(found: Attack, T: Statistic | None = None, *, most: int = 8) -> Data:
    """Return the data that `attack` draws: tiers before and after, the places that each item rises, and ballots.

    Examples
    --------
    >>> from holdrank import Above, Votes, attack, kemeny
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    >>> data = attack_data(attack(votes, kemeny, Above("b", "a")))
    >>> data["title"], data["proof"]
    ('11 of 100 votes changed: b stands above a', 'proven minimum; 10 tie it')
    >>> data["before"], data["after"], data["rise"]
    ([[0], [1], [2]], [[1], [0], [2]], [-1, 1, 0])
    >>> data["ballots"]
    [['−11', 'a > b > c'], ['+11', 'b > a > c']]
    """
    shown = whole_number(most)
    if shown is None or shown < 0:
        raise UsageError(f"most must be a whole number of ballots, not {quote(str(most))}")
    if found.plan is None:
        raise UsageError(f"there is no attack to draw. {found.text()}")
    best = found.whole or found
    before, after = found.before.ranking, _after(best, T)
    removed, added = best.removed, best.added
    # Both kinds of change are shown, no matter how many ballots are removed.
    taken = min(max(most - len(added), (most + 1) // 2), len(removed))
    rows = [("−", *one) for one in removed[:taken]] + [("+", *one) for one in added[: most - taken]]
    total, whole, facts = found.original.total, found.whole_plan is not None, told_of(found)

    def weighed(weight: float) -> str:
        return number(weight) if found.original.is_counts else percent(weight / total)

    return {
        "title": f"{change_text(facts, whole=whole)}: {_outcome(found, after)}",
        "proof": proof_text(facts, whole=whole),
        "items": [named(item) for item in found.original.items],
        # Within a tier in the order of the other side, so that no lines cross which need not.
        "before": _tiers(before, after),
        "after": _tiers(after, before),
        "rise": [was - now for was, now in zip(_places(before), _places(after), strict=True)],
        "ballots": [[sign + weighed(weight), ballot] for sign, ballot, weight in rows],
        "more": len(removed) + len(added) - len(rows),
    }


def _tiers(ranking: Ranking, other: Ranking) -> list[list[int]]:
    return [sorted(bucket, key=lambda item: (int(other.ranks[item]), item)) for bucket in ranking.buckets]


def _places(ranking: Ranking) -> list[int]:
    """Return the place of each item; tied items share the best place, so that a tie from below moves no item."""
    first = {
        item: start for start, bucket in zip(starts(ranking.buckets), ranking.buckets, strict=True) for item in bucket
    }
    return [first[item] for item in range(ranking.n)]


def _after(best: Attack, T: Statistic | None) -> Ranking:
    """Return the consensus after the attack, by running the statistic where the result does not hold it."""
    from holdrank.rules.consensus import name_of
    from holdrank.rules.registry import rules

    if best.after is not None:
        return best.after.ranking
    known = {name_of(rule.function): rule.function for rule in rules()}
    rule = known.get(best.statistic) if T is None else T
    if rule is None:
        raise UsageError(f"to draw an attack on {quote(best.statistic)}, give the rule too: plots.attack(found, T)")
    votes = best.votes
    assert votes is not None  # there is a plan
    after = rule(votes).ranking
    if not best.goal.aim(best.before.ranking, best.original.items).reached(after):
        raise UsageError(
            f"this is not the rule that was attacked, {quote(best.statistic)}: its consensus does not change"
        )
    return after


def _outcome(found: Attack, after: Ranking) -> str:
    """Return the outcome of an attack as text."""
    items, goal = found.original.items, found.goal
    if isinstance(goal, Wins | NewWinner):
        first = after.buckets[0]
        new = (
            [i for i in first if items[i] == goal.item]
            if isinstance(goal, Wins)
            else [i for i in first if found.before.ranking.ranks[i] > 1]
        )
        return winners([items[i] for i in new], shared=len(first) > 1)
    return told_of(found).deed.outcome


class _Slopes:
    """The layout of the picture of an attack, in points."""

    def __init__(self, data: Data) -> None:
        self.data = data
        close = len(data["items"]) > _MOST_WIDE_APART
        self.size, self.row = (7.5, 11.0) if close else (8.5, 16.0)
        self.spans = {side: spans(data[side]) for side in ("before", "after")}
        self.name = max(width_of(name, self.size) for name in data["items"])
        self.place = max(width_of(text, self.size) for spans in self.spans.values() for text in spans)
        self.side = self.name + self.place + 18  # from the edge to the dots
        self.weight = max((width_of(weight, 8) for weight, _ in data["ballots"]), default=0.0)
        ballots = max((width_of(ballot[:_LONGEST_BALLOT], 8) for _, ballot in data["ballots"]), default=0.0)
        widest = max(width_of(data["title"], 10), self.weight + 8 + ballots)  # text that may wrap
        self.least_width = max(2 * self.side + 110, 260.0, min(widest, 400.0))

    def _title(self, width: float) -> list[str]:
        return wrap(self.data["title"], 10, width, most=3)

    def _table(self, width: float) -> list[tuple[str, list[str]]]:
        room = width - self.weight - 8
        rows = self.data["ballots"]
        return [(weight, wrap(ballot[:_LONGEST_BALLOT], 8, room, most=2)) for weight, ballot in rows]

    def height(self, width: float) -> float:
        """Return the height of the picture if it is so wide."""
        table = self._table(width)
        lines = sum(len(ballot) for _, ballot in table)
        below = 21 + 11 * lines + 3 * len(table) + 11 * (self.data["more"] > 0) if table else 0
        return 14 * len(self._title(width)) + 34 + self.row * len(self.data["items"]) + below

    def draw(self, on: Sheet) -> None:
        """Draw the picture."""
        y = 7.0
        for line in self._title(on.width):
            on.write(0, y, line, 10)
            y += 14
        on.write(0, y - 1, self.data["proof"], color=DARK)
        left, right = self.side, min(on.width - self.side, self.side + 260)
        y += 18
        on.write(left + 4, y, "before", color=DARK, ha="right")
        on.write(right - 4, y, "after", color=DARK)
        y = self._draw_slopes(on, y + 8, left, right) + 14
        if self.data["ballots"]:
            self._draw_table(on, y)

    def _draw_slopes(self, on: Sheet, top: float, left: float, right: float) -> float:
        """Draw both orders and the lines between them; return where they end."""
        heights: dict[str, dict[int, float]] = {}
        for side, x in (("before", left), ("after", right)):
            heights[side], y = {}, top
            for tier, places in zip(self.data[side], self.spans[side], strict=True):
                end = y + self.row * len(tier)
                if len(tier) > 1:
                    on.box(x - 5, y + 2, 10, end - y - 4, lw=0.8, corner=4, fc=PALE_BLUE, ec=BLUE, zorder=1)
                where = x - 9 if side == "before" else x + 9
                look: Data = {"ha": "right" if side == "before" else "left", "va": "center_baseline"}
                on.write(where, (y + end) / 2, places, self.size, color=DARK, **look)
                beyond = self.place + 7
                for k, item in enumerate(tier):
                    heights[side][item] = middle = y + self.row * (k + 0.5)
                    colour = self._colour(item, text=True)
                    at = where - beyond if side == "before" else where + beyond
                    on.write(at, middle, self.data["items"][item], self.size, color=colour, **look)
                y = end
        for item, rise in enumerate(self.data["rise"]):
            ends = heights["before"][item], heights["after"][item]
            wide = 0.9 if not rise else 1.2 if abs(ends[0] - ends[1]) < 1.5 * self.row else 2.2
            dots: Data = {"marker": "o", "markersize": 0.45 * self.size * on.scale}
            on.line((left, right), ends, lw=wide, color=self._colour(item), zorder=4 if rise else 3, **dots)
        return top + self.row * len(self.data["items"])

    def _colour(self, item: int, *, text: bool = False) -> str:
        rise = self.data["rise"][item]
        return BLUE if rise > 0 else VERMILLION if rise < 0 else DARK if text else GREY

    def _draw_table(self, on: Sheet, y: float) -> None:
        signs = {weight[0] for weight, _ in self.data["ballots"]}  # the sign of a change comes first
        texts = {"−": "removed (−)", "+": "added (+)"}
        on.write(0, y, "Ballots " + " and ".join(text for sign, text in texts.items() if sign in signs), color=DARK)
        y += 15
        for weight, ballot in self._table(on.width):
            colour = VERMILLION if weight[0] == "−" else BLUE
            on.write(self.weight, y, weight, ha="right", va="baseline", color=colour)
            for line in ballot:
                on.write(self.weight + 8, y, line, va="baseline")
                y += 11
            y += 3
        if self.data["more"]:
            on.write(self.weight + 8, y, f"and {self.data['more']:,} more ballots", va="baseline", color=DARK)
