"""How many voters are needed to reach a goal, where battles name voters: they leave, vote differently, or join."""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from holdrank.attacks.answers import check_goal
from holdrank.attacks.bradley_terry.battles import Battles
from holdrank.attacks.bradley_terry.crowd import Crowd
from holdrank.attacks.bradley_terry.crowd_engine import CrowdKnown, CrowdSiege, Group
from holdrank.attacks.bradley_terry.engine import Siege
from holdrank.attacks.engines import Engine
from holdrank.attacks.goals import Aim, Goal
from holdrank.attacks.optima import reaches
from holdrank.attacks.results import Ballots
from holdrank.errors import UsageError, quote, real_number
from holdrank.rankings import Floats, Ints
from holdrank.rules.consensus import Consensus, Statistic, StatisticName, expect_seconds, expect_votes, name_of
from holdrank.rules.registry import rule_of, suited
from holdrank.status import Clock, Shown, Status
from holdrank.votes.changes import Change, ChangeName, change_of
from holdrank.votes.voters import Voters
from holdrank.votes.votes import Votes
from holdrank.words.attacks import attack_text, told
from holdrank.words.names import ballot_text
from holdrank.words.numbers import plural


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class VoterAttack(Shown):
    """The smallest number of voters who achieve a goal: certified bounds, and the voters; made by `voter_attack`.

    Attributes
    ----------
    goal : Goal
    change : {"drop", "replace", "add"}
    cap : float or None
        The most battles that a new voter casts; None where no voters join.
    total : int
        Number of voters.
    lower, upper : float
        Shares of the voters: needed and sufficient; infinite if no number is enough.
    voters_needed : float
        Fewer voters cannot reach the goal, not even by a tie (proven). Infinite if no number does.
    voters_to_tie : float
        This many voters reach the goal at least by a tie, verified by running the rule; infinite if no number is known.
    voters_to_decide : float
        Fewer voters cannot reach the goal outright (proven).
    voters_sufficient : float
        This many voters reach the goal outright, verified by running the rule; infinite if no number is known.
    voters : tuple of str
        The voters who leave, vote differently, or join.
    votes : Votes or None
        The votes after the attack, with their voters; None if no attack was found.
    before, after : Consensus, Consensus or None
        The consensus before and after the attack.
    status : Status
    statistic : StatisticName
    original : Votes
        The votes before the attack.
    seconds : float
        Time taken.
    """

    goal: Goal
    change: Change
    cap: float | None
    total: int
    lower: float
    upper: float
    voters_needed: float
    voters_to_tie: float
    voters_to_decide: float
    voters_sufficient: float
    voters: tuple[str, ...]
    votes: Votes | None
    before: Consensus
    after: Consensus | None
    status: Status
    statistic: StatisticName
    original: Votes
    seconds: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether no fewer voters than those found reach the goal outright."""
        return self.voters_to_decide == self.voters_sufficient

    @property
    def verified(self) -> bool:
        """Whether the rule was run again on the attacked votes and reached the goal."""
        return self.votes is not None

    @property
    def removed(self) -> Ballots:
        """The battles removed, as (text, weight), the heaviest first."""
        return _battles_of(self.original, self.voters)

    @property
    def added(self) -> Ballots:
        """The battles added, as (text, weight), the heaviest first."""
        return [] if self.votes is None else _battles_of(self.votes, self.voters)

    def text(self) -> str:
        """Return the answer as a sentence."""
        ends = {
            "lower": self.lower,
            "upper": self.upper,
            "needed": self.voters_needed,
            "ties": self.voters_to_tie,
            "decides": self.voters_to_decide,
            "sufficient": self.voters_sufficient,
        }
        known = {name: end if math.isfinite(end) else None for name, end in ends.items()}
        votes = {"counts": True, "total": float(self.total)}
        deed = self.goal.deed(self.original.n)
        said = attack_text(told(known, votes, deed, self.change, estimate=False, noun="voter"))
        return said if self.cap is None else f"{said} A new voter casts at most {plural(self.cap, 'battle')}."

    def __repr__(self) -> str:
        least, most = self.voters_needed, self.voters_sufficient
        return f"VoterAttack({self.goal.text()}: {least:g} to {most:g} of {self.total} voters, {self.change})"


def voter_attack(
    votes: Votes,
    T: Statistic,
    goal: Goal,
    *,
    change: Change | ChangeName = "drop",
    cap: float | None = None,
    time_limit: float | None = None,
) -> VoterAttack:
    """Return the smallest number of voters whose change achieves a goal: certified bounds, and the voters themselves.

    Parameters
    ----------
    votes : Votes
        Battles that name their voters: ``Votes.from_battles(frame, voter="column")``.
    T : Statistic
        `bradley_terry`.
    goal : Goal
        `NewWinner`, `Wins`, `Above`, `TopSet`, `Enters`, `Leaves` or `Distance`.
    change : {"drop", "replace", "add"}
        Voters leave with all their battles ("drop"); they cast as many battles as before, but between any items and
        with any result ("replace"); or new voters join ("add").
    cap : float, optional
        The most battles that a new voter casts; required for "add". `Votes.capped` limits existing voters.
    time_limit : float, optional
        Time limit in seconds. At the limit, or at Ctrl-C, you get the bounds proved by then.

    Notes
    -----
    The bounds are proved on the page :doc:`/theory/bradley-terry`. Where voters leave, groups that the bounds do not
    rule out are tried one by one if they are few, so that the answer is often exact. At least one voter stays, because
    otherwise nothing would be left to rank.

    Examples
    --------
    >>> import polars
    >>> from holdrank import NewWinner, bradley_terry
    >>> battles = [("a", "b", "x")] * 4 + [("b", "a", "y")] * 2 + [("b", "c", "y"), ("a", "c", "z"), ("c", "b", "z")]
    >>> frame = polars.DataFrame(battles, schema=["winner", "loser", "who"], orient="row")
    >>> found = voter_attack(Votes.from_battles(frame, voter="who"), bradley_terry, NewWinner())
    >>> print(found.text(), found.voters)
    Dropping 1 of 3 voters changes the winner (33.3 %, proven minimum). ('x',)
    """
    started = perf_counter()
    expect_votes(votes, "voter_attack")
    T = suited(T, votes)
    engine: Engine | None = rule_of(T).engine
    if engine is None or not engine.battles:
        raise UsageError(
            f"voter_attack takes bradley_terry, not {name_of(T)}",
            repair="give bradley_terry, or count votes: attack(votes, T, goal)",
        )
    voters, change = votes.expect_voters(), change_of(change)
    check_goal(goal, T)
    cap = _expect_cap(cap, change, votes)
    seconds = expect_seconds(time_limit)
    before = T(votes)
    aim = goal.aim(before.ranking, votes.items)
    with Clock(seconds) as clock:
        case = _Case(votes, voters, T, aim, change)
        found = case.coming(cap, clock) if cap is not None else case.going(clock)
        late = Status.BETWEEN_INTERRUPTED if clock.interrupted else Status.BETWEEN_TIME_LIMIT if clock.over() else None
    needed, ties, decides, sufficient = found.numbers
    status = Status.LEAST if decides == sufficient else late or Status.BETWEEN
    if math.isinf(needed):
        status = Status.OUT_OF_REACH
    return VoterAttack(
        goal=goal,
        change=change,
        cap=cap,
        total=len(voters),
        lower=needed / len(voters),
        upper=sufficient / len(voters),
        voters_needed=needed,
        voters_to_tie=ties,
        voters_to_decide=decides,
        voters_sufficient=sufficient,
        voters=found.names,
        votes=found.votes,
        before=before,
        after=found.after,
        status=status,
        statistic=name_of(T),
        original=votes,
        seconds=perf_counter() - started,
    )


@dataclass(frozen=True, slots=True)
class _Answer:
    """The numbers of voters that are needed, tie, decide and suffice; the voters, and the result."""

    numbers: tuple[float, float, float, float]
    names: tuple[str, ...] = ()
    votes: Votes | None = None
    after: Consensus | None = None


@dataclass(frozen=True, slots=True)
class _Case:
    """Votes with voters, and the aim."""

    votes: Votes
    voters: Voters
    statistic: Statistic
    aim: Aim
    change: Change

    def going(self, clock: Clock) -> _Answer:
        """Return the answer where voters leave, or vote differently."""
        if self.aim.is_impossible():
            return _Answer((math.inf,) * 4)
        crowd = Crowd(self.voters, self.votes.n)
        known = CrowdSiege(Battles.of(self.votes), self.change, crowd=crowd).besiege(self.aim, clock)
        names, attacked = self._changed(crowd, known.group)
        after = self._after(attacked, weakly=False)
        ties = math.inf
        if known.tie is not None and self._after(self._changed(crowd, known.tie)[1], weakly=True):
            ties = known.tie.size
        return self._answer(known, ties, names, attacked, after)

    def coming(self, cap: float, clock: Clock) -> _Answer:
        """Return the answer where new voters join, with `cap` battles each."""
        if self.aim.is_impossible():
            return _Answer((math.inf,) * 4)
        known = Siege(Battles.of(self.votes), self.change).ask(self.aim, clock)
        counts = self.votes.is_counts
        fails, undecided = (known.whole_fails, known.undecided) if counts else (known.fails, known.fails)
        people = CrowdKnown(-1.0 if fails < 0 else float(fails // cap), float(max(undecided, 0.0) // cap))
        ties = 0.0 if fails < 0 else math.inf
        if known.tie_plan is not None:
            ties = min(ties, float(math.ceil(float(known.tie_plan.added.sum()) / cap)))
        if known.plan is None:
            return self._answer(people, ties, (), None, None)
        results, weight = _results(known.plan.ranks, known.plan.added)
        number = math.ceil(float(weight.sum()) / cap)
        names = self._new_names(number)
        who, which, part = _dealt(np.full(number, cap), weight)
        attacked = Votes.from_voters(
            self.voters.with_battles([names[k] for k in who.tolist()], results[which], part), self.votes.items
        )
        return self._answer(people, ties, names, attacked, self._after(attacked, weakly=False))

    def _answer(
        self, known: CrowdKnown, ties: float, names: tuple[str, ...], attacked: Votes | None, after: Consensus | None
    ) -> _Answer:
        needed, decides = known.fails + 1, known.undecided + 1
        if after is None:
            return _Answer((needed, ties, decides, math.inf))
        size = float(len(names))
        return _Answer((needed, min(ties, size), decides, size), names, attacked, after)

    def _after(self, attacked: Votes | None, *, weakly: bool) -> Consensus | None:
        """Return the consensus of attacked votes if it reaches the aim."""
        if attacked is None:
            return None
        after = self.statistic(attacked)
        return after if reaches(self.aim, self.statistic, lambda: attacked, after, Clock(), weakly=weakly) else None

    def _changed(self, crowd: Crowd, group: Group | None) -> tuple[tuple[str, ...], Votes | None]:
        """Return the voters who leave, and the votes without them, or with the battles that they cast instead."""
        if group is None:
            return (), None
        if not group.size:
            return (), self.votes
        left = group.gone.copy()
        some: list[int] = []
        for person, kind in enumerate(crowd.kind.tolist()):
            if left[kind] > 0:
                left[kind] -= 1
                some.append(person)
        names = tuple(self.voters.names[person] for person in some)
        rest = self.voters.without(some)
        if self.change.puts:
            winner, loser = np.nonzero(group.put)
            who, which, part = _dealt(self.voters.totals[some], group.put[winner, loser])
            first, second = np.minimum(winner, loser), np.maximum(winner, loser)
            results = np.column_stack((first, second, np.where(winner < loser, -1, 1)))
            rest = rest.with_battles([names[k] for k in who.tolist()], results[which], part)
        return names, Votes.from_voters(rest, self.votes.items)

    def _new_names(self, number: int) -> tuple[str, ...]:
        known = set(self.voters.names)
        mark = "new voter"
        while any(name.startswith(mark) for name in known):
            mark = f"another {mark}"
        return tuple(f"{mark} {k}" for k in range(1, number + 1))


def _dealt(room: Floats, supply: Floats) -> tuple[Ints, Ints, Floats]:
    """Distribute battles among voters with a limit each: return which battles each voter gets, and how many of them."""
    ends = np.unique(np.concatenate((np.cumsum(room), np.cumsum(supply))))
    ends = ends[ends <= min(room.sum(), supply.sum()) * (1 + 1e-12)]
    begins = np.concatenate(([0.0], ends[:-1]))
    middle = (begins + ends) / 2
    who = np.minimum(np.searchsorted(np.cumsum(room), middle), len(room) - 1)
    which = np.minimum(np.searchsorted(np.cumsum(supply), middle), len(supply) - 1)
    return who, which, ends - begins


def _results(ranks: Ints, added: Floats) -> tuple[Ints, Floats]:
    """Return ballots over two items as rows of first item, second item and winner, and their weights."""
    rows = ranks[added > 0]
    first = (rows != 0).argmax(axis=1)
    second = rows.shape[1] - 1 - (rows[:, ::-1] != 0).argmax(axis=1)
    at = np.arange(len(rows))
    better = np.sign(rows[at, first] - rows[at, second])
    return np.column_stack((first, second, better)), added[added > 0]


def _expect_cap(cap: float | None, change: Change, votes: Votes) -> float | None:
    """Return the most battles that a new voter casts; refuse invalid values."""
    if change is not Change.ADD:
        if cap is not None:
            raise UsageError(
                "cap applies only to change='add', where it limits new voters",
                repair="use votes.capped(k) to limit existing voters",
            )
        return None
    if cap is None:
        busiest = plural(float(votes.expect_voters().totals.max()), "battle")
        raise UsageError(
            "change='add' needs cap, the most battles that a new voter casts",
            repair=f"give one, such as cap=10; the busiest voter cast {busiest}",
        )
    limit = real_number(cap)
    if limit is None or not 0 < limit < math.inf or (votes.is_counts and limit != math.floor(limit)):
        kind = "a whole number" if votes.is_counts else "a number"
        raise UsageError(f"cap must be {kind} of battles above 0, not {quote(str(cap))}")
    return limit


def _battles_of(votes: Votes, names: tuple[str, ...]) -> Ballots:
    """Return the battles of some voters, counted, as (text, weight), the heaviest first."""
    voters = votes.voters
    if voters is None:
        return []
    known = set(names)
    chosen = np.array([name in known for name in voters.names], dtype=bool)[voters.voter]
    results, place = np.unique(voters.results[chosen], axis=0, return_inverse=True)
    weights = np.bincount(place.ravel(), weights=voters.weight[chosen], minlength=len(results))
    listed = []
    for (first, second, better), weight in zip(results.tolist(), weights.tolist(), strict=True):
        ranks = np.zeros(votes.n, dtype=np.int64)
        ranks[first], ranks[second] = 1 + (better > 0), 1 + (better < 0)
        listed.append((ballot_text(ranks.tolist(), votes.items), weight))
    return sorted(listed, key=lambda pair: -pair[1])
