"""Where items stand and where they may go: by chance, by an adversary, and by one attack that is known."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from holdrank.errors import UsageError, quote, show, whole_number
from holdrank.plots.style import (
    BLACK,
    BLUE,
    DARK,
    GREY,
    ORANGE,
    PALE,
    PALE_BLUE,
    VERMILLION,
    Data,
    axes_or_new,
    blocks,
    drawn,
    name_ticks,
    named,
    spans,
    starts,
    styled,
    width_of,
    wrap,
)
from holdrank.words.numbers import number as amount

if TYPE_CHECKING:
    import numpy.typing as npt

    from holdrank.analysis.bootstrap import Bootstrap
    from holdrank.attacks.results import Attack
    from holdrank.plots.style import Axes, Sheet
    from holdrank.rankings import Ranking
    from holdrank.rules.consensus import Statistic

_PALE_ORANGE, _DARK_ORANGE = "#f9dea4", "#8f6200"  # to fill a bar, and to be read as text
_BAND = "#f3f3f3"
_ROOM = 0.3  # of a place, beyond both ends of what an adversary reaches: a single place is seen, too
_MOST_WIDE_APART = 20  # items; the rows of more stand closer together
_MOST_WINNERS = 3  # names in a title
_LONGEST_BALLOT = 400  # characters, more than two lines hold
_COLUMNS = (("place", "●", BLACK, BLACK), ("chance", "━", BLUE, BLUE), ("reach", "▬", ORANGE, _DARK_ORANGE))


def ranges(
    bootstrap: Bootstrap,
    reach: npt.ArrayLike | None = None,
    *,
    budget_label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw where each item stands, where it may stand by chance, and where an adversary can bring it.

    Parameters
    ----------
    bootstrap : Bootstrap
        Of ``bootstrap``. A dot is the place in the consensus, the mean one for tied items; a thin bar is the interval
        of places when votes are drawn again.
    reach : array of int, optional
        One row for each item by its number: the best and the worst place that an adversary can give it, drawn as a
        thick pale bar.
    budget_label : str, optional
        What the adversary may do, as in "5 of 100 votes".
    ax : Axes, optional
        Where to draw; a new figure, as high as there are items, if not given.

    Returns
    -------
    Axes
        Places from left to right, one row for each item in the order of the consensus, numbers at the right. Where
        items are tied, every other tier is shaded.
    """
    data = ranges_data(bootstrap, reach, budget_label=budget_label)
    n = len(data["items"])
    with styled():
        if ax is None:
            names = max(width_of(name, 8) for name in data["items"])
            columns = 170 if data["reach"] else 110
            ax = axes_or_new(None, (names + columns + 240) / 72, 0.9 + n * (0.24 if n <= _MOST_WIDE_APART else 0.17))
        _draw_ranges(data, ax)
    return ax


def ranges_data(bootstrap: Bootstrap, reach: npt.ArrayLike | None = None, *, budget_label: str | None = None) -> Data:
    """Return what `ranges` draws, items in the order of the consensus, tiers as (start, size).

    Examples
    --------
    >>> from holdrank import Votes, bootstrap
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[45, 55])
    >>> data = ranges_data(bootstrap(votes, draws=500, rng=1), [[1, 2], [1, 2], [3, 3]], budget_label="6 votes")
    >>> data["items"], data["place"], data["chance"]
    (['b', 'a', 'c'], [1.0, 2.0, 3.0], [[1.0, 2.0], [1.0, 2.0], [3.0, 3.0]])
    >>> data["reach"], data["titles"]["reach"]
    ([[1, 2], [1, 2], [3, 3]], 'by attack, with 6 votes')
    """
    ranking = bootstrap.consensus.ranking
    order = ranking.order
    limits = None if reach is None else _checked_reach(reach, len(order))
    return {
        "items": [named(bootstrap.items[i]) for i in order],
        "place": [float(ranking.places[i]) for i in order],
        "chance": [[float(bootstrap.best[i]), float(bootstrap.worst[i])] for i in order],
        "reach": None if limits is None else [limits[i] for i in order],
        "tiers": blocks(ranking.buckets),
        "titles": {
            "place": "consensus",
            "chance": f"by chance, {100 * bootstrap.level:.3g} % of {bootstrap.draws:,} draws",
            "reach": "by attack" if budget_label is None else f"by attack, with {show(budget_label)}",
        },
    }


def _checked_reach(reach: npt.ArrayLike, n: int) -> list[list[int]]:
    import numpy as np

    try:
        limits = np.asarray(reach, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"reach needs a best and a worst place for each of {n} items") from error
    if limits.shape != (n, 2):
        raise UsageError(f"reach needs a best and a worst place for each of {n} items, not the shape {limits.shape}")
    wrong = (limits != np.floor(limits)) | (limits < 1) | (limits > n)
    wrong[:, 0] |= limits[:, 0] > limits[:, 1]
    if wrong.any():
        best, worst = limits[wrong.any(axis=1)][0]
        raise UsageError(f"reach holds whole places from 1 to {n}, the best first, not {best:g} and {worst:g}")
    whole: list[list[int]] = limits.astype(np.int64).tolist()
    return whole


def _draw_ranges(data: Data, ax: Axes) -> None:
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import FixedLocator, MaxNLocator

    n = len(data["items"])
    # Rows may be lower than a line of text on axes that are given: text and marks then shrink with them.
    row = ax.get_window_extent().height * 72 / ax.figure.dpi / (n + 0.2)
    size = max(min(8.0, 0.72 * row), 2.0)
    rows = range(n)
    if len(data["tiers"]) < n:
        for start, many in data["tiers"][::2]:
            ax.axhspan(start - 0.5, start + many - 0.5, color=_BAND, lw=0, zorder=0)
    ax.hlines(rows, 0.4, n + 0.6, color=PALE, lw=0.4, zorder=0.5)
    if data["reach"]:
        for y, (best, worst) in enumerate(data["reach"]):
            wide = worst - best + 2 * _ROOM
            ax.add_patch(Rectangle((best - _ROOM, y - 0.3), wide, 0.6, fc=_PALE_ORANGE, ec=ORANGE, lw=0.5, zorder=1))
    ax.hlines(rows, *zip(*data["chance"], strict=True), color=BLUE, lw=0.25 * size, zorder=2)
    ax.scatter(data["place"], rows, s=(0.6 * size) ** 2, color=BLACK, zorder=3)
    ax.set_xlim(0.4, n + 0.6)
    ax.set_ylim(n - 0.4, -0.6)
    name_ticks(ax.yaxis, rows, data["items"], fontsize=size)
    ticks = MaxNLocator(min(n, 12), integer=True, min_n_ticks=1).tick_values(1, n)
    ax.xaxis.set_major_locator(FixedLocator(sorted({1, *(int(tick) for tick in ticks if 1 < tick <= n)})))
    ax.set_xlabel("place", fontsize=8)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=8)
    ax.spines[["left", "right", "top"]].set_visible(False)
    if n > _MOST_WIDE_APART:  # the axis is far from most rows
        ax.tick_params(axis="x", top=True, labeltop=True)
        ax.grid(axis="x", color=PALE, lw=0.5)
        ax.set_axisbelow(True)
    x = 8.0
    for column in _COLUMNS:
        if data[column[0]] is not None:
            x = _write_column(data, column, ax, x, size) + 12


def _write_column(data: Data, column: tuple[str, str, str, str], ax: Axes, x: float, size: float) -> float:
    """Write numbers so many points right of the axes, with their name and their mark on top; return where they end."""
    key, mark, colour, dark = column
    if key == "place":
        tied = [many > 1 for _, many in data["tiers"] for _ in range(many)]
        texts = [f"{place:g}{', tied' * tie}" for place, tie in zip(data["place"], tied, strict=True)]
    else:
        texts = [f"{low:g}" if low == high else f"{low:g} to {high:g}" for low, high in data[key]]
    title = textwrap.wrap(data["titles"][key], 15)
    look: Data = {"textcoords": "offset points", "annotation_clip": False, "parse_math": False}
    for y, text in enumerate(texts):
        ax.annotate(text, (1, y), (x, 0), ("axes fraction", "data"), va="center_baseline", fontsize=size, color=dark,
                    **look)  # fmt: skip
    ax.annotate(mark, (1, 1), (x, 1), "axes fraction", va="bottom", fontsize=7, color=colour, **look)
    ax.annotate("\n".join(title), (1, 1), (x, 11), "axes fraction", va="bottom", fontsize=7, color=dark, **look)
    return x + max(*(width_of(text, size) for text in texts), *(width_of(text, 7) for text in title))


def attack(found: Attack, T: Statistic | None = None, *, most: int = 8, ax: Axes | None = None) -> Axes:
    """Draw what an attack does: the order before and after it, a line for each item, and the ballots that change.

    Parameters
    ----------
    found : Attack
        Of ``attack``, or one of the attacks of a breakdown. Drawn is the attack in whole votes if one is known.
    T : Statistic, optional
        The statistic that was attacked, to be run on the votes after the attack in whole votes. Not needed for
        `kemeny`, `borda`, `footrule`, `copeland` and `bradley_terry`, which are known by their names.
    most : int
        Number of ballots listed, of those taken away and those put in together.
    ax : Axes, optional
        Where to draw; a new figure that fits if not given. On axes that are too small everything is drawn smaller.

    Returns
    -------
    Axes
        Its unit is a point of the drawing, counted from the upper left corner. Items that rise are blue, those that
        fall vermillion, the others grey. Tied items are in one frame.
    """
    return drawn(_Slopes(attack_data(found, T, most=most)), ax)


def attack_data(found: Attack, T: Statistic | None = None, *, most: int = 8) -> Data:
    """Return what `attack` draws: tiers before and after as numbers of items, how many places each rises, ballots.

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
    number = whole_number(most)
    if number is None or number < 0:
        raise UsageError(f"most must be a number of ballots, not {quote(str(most))}")
    if found.plan is None:
        raise UsageError(f"there is no attack to draw. {found.text()}")
    best = found.whole or found
    before, after = found.before.ranking, _after(best, T)
    removed, added = best.removed, best.added
    # Both kinds of change are shown, however many ballots are taken away.
    taken = min(max(most - len(added), (most + 1) // 2), len(removed))
    rows = [("−", *one) for one in removed[:taken]] + [("+", *one) for one in added[: most - taken]]
    unit = (lambda w: f"{100 * w / found.original.total:.3g} %") if not found.original.is_counts else amount
    return {
        "title": f"{_changed(found)}: {_outcome(found, after)}",
        "proof": _proof(found),
        "items": [named(item) for item in found.original.items],
        # Within a tier in the order of the other side, so that no lines cross which need not.
        "before": _tiers(before, after),
        "after": _tiers(after, before),
        "rise": [was - now for was, now in zip(_places(before), _places(after), strict=True)],
        "ballots": [[sign + unit(weight), ballot] for sign, ballot, weight in rows],
        "more": len(removed) + len(added) - len(rows),
    }


def _tiers(ranking: Ranking, other: Ranking) -> list[list[int]]:
    return [sorted(bucket, key=lambda item: (int(other.ranks[item]), item)) for bucket in ranking.buckets]


def _places(ranking: Ranking) -> list[int]:
    """Return the place of each item; tied ones share the best of theirs, so that a tie from below moves nobody."""
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
        raise UsageError(
            f"to draw an attack on {quote(best.statistic)}, give the statistic too: plots.attack(found, T)"
        )
    votes = best.votes
    assert votes is not None  # there is a plan
    after = rule(votes).ranking
    if not best.goal.aim(best.before.ranking, best.original.items).reached(after):
        raise UsageError(
            f"this statistic is not the one that was attacked, {quote(best.statistic)}: it does not change"
        )
    return after


def _changed(found: Attack) -> str:
    """Return how much is changed, in words."""
    if found.whole_plan is None:
        how = {"replace": "changed", "drop": "dropped", "add": "added"}[found.change]
        return f"{100 * found.upper:.3g} % of the votes {how}"
    many, total = found.votes_sufficient, amount(found.original.total)
    if not found.change.takes:
        return f"{amount(many)} vote{'s' * (many != 1)} added to {total}"
    return f"{amount(many)} of {total} votes {'changed' if found.change == 'replace' else 'dropped'}"


def _proof(found: Attack) -> str:
    """Return what is known about smaller attacks, in words."""
    whole = found.whole_plan is not None
    least, most = (found.votes_to_decide, found.votes_sufficient) if whole else (found.lower, found.upper)
    split = "; votes may be split" if found.original.is_counts and not whole else ""
    if most == 0:
        return "it is so already"
    if least == most:
        tie = (
            f"; {amount(found.votes_to_tie)} tie{'s' * (found.votes_to_tie == 1)} it"
            if whole and 0 < found.votes_to_tie < most
            else ""
        )
        return ("proven minimum" + tie) + split
    if least == 0 or (whole and least <= 1 and found.lower == 0):
        return "cheaper attacks may exist" + split
    text = f"{amount(least)} vote{'s' * (least != 1)}" if whole else f"{100 * least:.3g} %"
    return f"at least {text} {'is' if text == '1 vote' else 'are'} needed (proven){split}"


def _outcome(found: Attack, after: Ranking) -> str:
    """Return what an attack brings about, in words."""
    from holdrank.attacks.goals import Above, Distance, Enters, NewWinner, TopSet, Wins

    items, goal = found.original.items, found.goal
    if isinstance(goal, Wins | NewWinner):
        first = after.buckets[0]
        new = (
            [i for i in first if items[i] == goal.item]
            if isinstance(goal, Wins)
            else [i for i in first if found.before.ranking.ranks[i] > 1]
        )
        more = len(new) - _MOST_WINNERS
        names = ", ".join(named(items[i]) for i in new[:_MOST_WINNERS]) + f" and {more} more" * (more > 0)
        return f"{names} win{'s' * (len(new) == 1)}{', tied' * (len(first) > 1)}"
    if isinstance(goal, Above):
        return f"{named(goal.upper)} stands above {named(goal.lower)}"
    if isinstance(goal, Enters):
        return f"{named(goal.item)} is in the top {goal.k}"
    if isinstance(goal, TopSet):
        return f"the top {goal.k} changes"
    if isinstance(goal, Distance):
        return f"the consensus moves by at least {goal.delta:.3g} of the pairs"
    return goal.text()


class _Slopes:
    """Where everything on the picture of an attack stands, in points."""

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
        widest = max(width_of(data["title"], 10), self.weight + 8 + ballots)  # what can go on several lines
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
        signs = {weight[0] for weight, _ in self.data["ballots"]}
        texts = {"−": "taken away (−)", "+": "put in (+)"}
        on.write(0, y, "Ballots " + " and ".join(text for sign, text in texts.items() if sign in signs), color=DARK)
        y += 15
        for weight, ballot in self._table(on.width):
            colour = VERMILLION if weight.startswith("−") else BLUE
            on.write(self.weight, y, weight, ha="right", va="baseline", color=colour)
            for line in ballot:
                on.write(self.weight + 8, y, line, va="baseline")
                y += 11
            y += 3
        if self.data["more"]:
            on.write(self.weight + 8, y, f"and {self.data['more']:,} more ballots", va="baseline", color=DARK)
