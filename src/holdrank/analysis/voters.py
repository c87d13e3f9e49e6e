"""The voters who matter most: Bradley-Terry strengths when each voter is left out in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from holdrank.attacks.bradley_terry.battles import Battles, ranked
from holdrank.attacks.bradley_terry.crowd import Crowd
from holdrank.attacks.engines import Engine
from holdrank.errors import UsageError, item_number
from holdrank.rankings import Floats, Ints
from holdrank.rules.consensus import Consensus, Statistic, StatisticName, expect_votes, name_of
from holdrank.rules.registry import rule_of, suited
from holdrank.rules.strengths import RIDGE, hessian_at, slope_at, strength_tolerance
from holdrank.status import Tabular
from holdrank.votes.memo import close
from holdrank.votes.votes import Votes
from holdrank.words.voters import deciding_text, effect_text

_CELLS = 200_000  # numbers at a time, so that they stay in the cache
_STEPS = 12  # with one Hessian for all voters; those whose strengths have not settled then are fitted one by one
_SETTLED = 1e-12  # error of a strength
_CLEAR = 1e-6  # of the range of strengths: far above what the rule calls equal
_TOLD = 5  # voters in the text


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class VoterEffects(Tabular):
    """How the lead of one item over another changes without each voter; made by `voter_effects`.

    Attributes
    ----------
    above, below : str
        The two items; `above` is ahead.
    lead : float
        The strength of `above` less that of `below`, all voters counted.
    voters : tuple of str
        The voters, those who matter most first.
    battles : array of float
        How many battles each of them cast.
    leads : array of float
        The lead without each of them: the strengths are fitted again to what is left.
    new_winner : array of bool
        Whether another item comes first without them.
    consensus : Consensus
        Consensus of all voters.
    statistic : StatisticName
    seconds : float
        Time taken.
    """

    above: str
    below: str
    lead: float
    voters: tuple[str, ...]
    battles: Floats
    leads: Floats
    new_winner: npt.NDArray[np.bool_]
    consensus: Consensus
    statistic: StatisticName
    seconds: float

    @property
    def effects(self) -> Floats:
        """How much each voter adds to the lead, or takes from it: the lead with them less that without them."""
        return self.lead - self.leads

    @property
    def deciding(self) -> tuple[str, ...]:
        """The voters without whom `above` is not ahead."""
        scale = strength_tolerance(np.array([self.lead]))
        return tuple(name for name, lead in zip(self.voters, self.leads.tolist(), strict=True) if lead <= scale)

    def rows(self, *, most: int | None = None) -> list[dict[str, Any]]:
        """Return the voters as rows, for a data frame or a table; only the first `most`, if given."""
        columns = (self.voters, self.battles.tolist(), self.effects.tolist(), self.leads.tolist())
        names = ("voter", "battles", "effect", "lead_without", "new_winner")
        every = zip(*columns, self.new_winner.tolist(), strict=True)
        return [dict(zip(names, row, strict=True)) for row in list(every)[:most]]

    def text(self) -> str:
        """Return the voters who matter most, one sentence per line."""
        pair, rows = (self.above, self.below), self.rows(most=_TOLD)
        head = deciding_text(len(self.deciding), len(self.voters), *pair)
        told = [effect_text(row["voter"], row["battles"], self.lead, row["lead_without"], pair) for row in rows]
        return "\n".join([head, *told])

    def __repr__(self) -> str:
        return f"VoterEffects({len(self.voters)} voters, {len(self.deciding)} decide alone)"


def voter_effects(votes: Votes, T: Statistic, *, race: Sequence[str] | None = None) -> VoterEffects:
    """Return how the lead of one item over another changes without each voter.

    Every voter is left out in turn, with all their battles, and the strengths are fitted again.

    Parameters
    ----------
    votes : Votes
        Battles that name their voters, at least two: ``Votes.from_battles(frame, voter="column")``.
    T : Statistic
        `bradley_terry`.
    race : pair of str, optional
        Two items; by default the first two of the consensus.

    Examples
    --------
    >>> import polars
    >>> from holdrank import bradley_terry
    >>> battles = [("a", "b", "x")] * 4 + [("b", "a", "y")] * 3 + [("b", "a", "z"), ("a", "b", "z")] * 9
    >>> frame = polars.DataFrame(battles, schema=["winner", "loser", "who"], orient="row")
    >>> print(voter_effects(Votes.from_battles(frame, voter="who"), bradley_terry).text())
    1 of 3 voters decides alone that a stands above b.
    Without x (4 battles), b leads a by 0.288; with them, a leads b by 0.08.
    Without y (3 battles), a leads b by 0.368, not 0.08.
    Without z (18 battles), a leads b by 0.288, not 0.08.
    """
    started = perf_counter()
    expect_votes(votes, "voter_effects")
    T = suited(T, votes)
    engine: Engine | None = rule_of(T).engine
    if engine is None or not engine.battles:
        raise UsageError(f"voter_effects takes bradley_terry, not {name_of(T)}", repair="give bradley_terry")
    voters = votes.expect_voters()
    if len(voters) < 2 or votes.n < 2:
        few = "one voter" if len(voters) < 2 else "one item"
        raise UsageError(f"voter effects need at least two voters and two items; there is {few}")
    before = T(votes)
    battles, crowd = Battles.of(votes), Crowd(voters, votes.n)
    a, b = _race(votes, before, battles.strengths, race)
    winner = before.ranking.order[0]
    leads, other = np.zeros(len(crowd.number)), np.zeros(len(crowd.number), dtype=bool)
    for kinds, fitted in strengths_without(battles, crowd):
        leads[kinds] = fitted[:, a] - fitted[:, b]
        other[kinds] = [first != winner for first in _winners(fitted)]
    lead = float(battles.strengths[a] - battles.strengths[b])
    order = np.lexsort((np.arange(len(voters)), -np.abs(lead - leads[crowd.kind])))
    kind = crowd.kind[order]
    cast, without, new_winner = voters.totals[order], leads[kind], other[kind]
    close(cast, without, new_winner)
    return VoterEffects(
        above=votes.items[a],
        below=votes.items[b],
        lead=lead,
        voters=tuple(voters.names[k] for k in order.tolist()),
        battles=cast,
        leads=without,
        new_winner=new_winner,
        consensus=before,
        statistic=name_of(T),
        seconds=perf_counter() - started,
    )


def _winners(fitted: Floats) -> list[int]:
    """Return the winner by the rule for each row of strengths."""
    second, first = np.partition(fitted, -2, axis=1)[:, -2:].T
    clear = first - second > _CLEAR * np.maximum(np.ptp(fitted, axis=1), 1.0)
    best = fitted.argmax(axis=1).tolist()
    return [best[row] if clear[row] else ranked(s).order[0] for row, s in enumerate(fitted)]


def _race(votes: Votes, before: Consensus, strengths: Floats, race: Sequence[str] | None) -> tuple[int, int]:
    """Return the two items of a race, the one that is ahead first."""
    if race is None:
        a, b = before.ranking.order[:2]
        return a, b
    named = [race] if isinstance(race, str) else list(race)
    if len(named) != 2 or named[0] == named[1]:
        raise UsageError(f"a race is between two items, not {len(set(named))}", repair='name two: race=("a", "b")')
    a, b = (item_number(name, votes.items) for name in named)
    return (a, b) if strengths[a] >= strengths[b] else (b, a)


def strengths_without(battles: Battles, crowd: Crowd) -> Iterator[tuple[Ints, Floats]]:
    """Yield kinds of voters, some at a time, and the strengths without one voter of each kind.

    One voter changes the Hessian little. So steps for many voters at once use the Hessian of all voters; the gradient
    that they bring to 0 is the one without the voter. Where this does not converge soon, the rule's own fit takes over.
    """
    everyone = _Everyone(battles)
    n, order = battles.n, np.argsort(crowd.of, kind="stable")
    of, pair, weight = crowd.of[order], crowd.pair[order], crowd.weight[order]
    at_a_time = max(1, _CELLS // max(len(everyone.first), n))
    for start in range(0, len(crowd.number), at_a_time):
        kinds = np.arange(start, min(start + at_a_time, len(crowd.number)))
        mine = slice(*np.searchsorted(of, (start, kinds[-1] + 1)).tolist())
        own = Own(of[mine] - start, *np.divmod(pair[mine], n), weight[mine])
        totals = battles.total - crowd.size[kinds]
        s, settled = everyone.without(own, totals)
        for row in np.flatnonzero(~settled).tolist():
            rest = battles.wins.copy()
            some = own.row == row
            np.subtract.at(rest, (own.winner[some], own.loser[some]), own.weight[some])
            s[row] = battles.fitted(np.maximum(rest, 0.0), totals[row])
        yield kinds, s


class Own(NamedTuple):
    """The wins of some voters: the row of the voter, the winner, the loser, and how often."""

    row: Ints
    winner: Ints
    loser: Ints
    weight: Floats


class _Everyone:
    """The battles of all voters, pair by pair, and their Hessian."""

    def __init__(self, battles: Battles) -> None:
        wins, s = battles.wins, battles.strengths
        self.strengths = s
        met = wins + wins.T
        self.first, self.second = np.nonzero(np.triu(met, 1))
        self.won, self.lost = wins[self.first, self.second], wins[self.second, self.first]
        self._by_second = np.argsort(self.second, kind="stable")
        sides = self.first, self.second[self._by_second]
        self._spans = [np.unique(item, return_index=True) for item in sides]
        loses, _ = slope_at(wins, s, 0.0)
        self.inverse: Floats = np.linalg.inv(hessian_at(met, loses, RIDGE * battles.total)).astype(np.float64)

    def without(self, own: Own, totals: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Return the strengths without the wins of each row, and in which rows they have settled."""
        rows, n = len(totals), len(self.strengths)
        s = np.repeat(self.strengths[None], rows, axis=0)
        last = np.full(rows, np.inf)
        settled = np.zeros(rows, dtype=bool)
        at_start = np.repeat(self._slope(s[:1]), rows, axis=0)
        for turn in range(_STEPS):
            gap = np.minimum(s[own.row, own.winner] - s[own.row, own.loser], 700.0)
            pull = own.weight / (1 + np.exp(gap))
            slope = (self._slope(s) if turn else at_start) - (RIDGE * totals)[:, None] * s
            slope -= np.bincount(own.row * n + own.winner, weights=pull, minlength=rows * n).reshape(rows, n)
            slope += np.bincount(own.row * n + own.loser, weights=pull, minlength=rows * n).reshape(rows, n)
            step = np.clip(slope @ self.inverse, -1.0, 1.0)
            size = np.abs(step).max(axis=1)
            # Steps that shrink at a rate below a half leave an error of the rate times the last one, at most.
            rate = np.divide(size, last, out=np.zeros(rows), where=last > 0) if turn else np.ones(rows)
            s += step
            last = size
            settled |= (rate < 0.5) & (size * rate <= _SETTLED)
            if settled.all():
                break
        return s, settled

    def _slope(self, s: Floats) -> Floats:
        """Return the slope of the likelihood of all battles at strengths, a row each, without the ridge."""
        grows = np.exp(np.clip(s[:, self.first] - s[:, self.second], -700.0, 700.0))
        # Small where all is explained, so that sums are precise there.
        pull = (self.won - self.lost * grows) / (1 + grows)
        slope = np.zeros_like(s)
        sides = (1.0, pull), (-1.0, pull[:, self._by_second])
        for (sign, part), (there, begins) in zip(sides, self._spans, strict=True):
            slope[:, there] += sign * np.add.reduceat(part, begins, axis=1)
        return slope
