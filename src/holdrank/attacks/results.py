"""What comes back: a breakdown curve, and a single attack with its sentence for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from holdrank.attacks.goals import Goal, TierDistance
from holdrank.attacks.plans import Plan
from holdrank.errors import show
from holdrank.rankings import Floats, Ints
from holdrank.rules.consensus import Consensus
from holdrank.status import Status, upward
from holdrank.votes.changes import Change, change_of
from holdrank.votes.votes import Votes
from holdrank.words.numbers import number, percent

Ballots: TypeAlias = list[tuple[str, float]]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Attack:
    """The least change of the votes that reaches a goal, as far as it is known, and a change that does.

    Attributes
    ----------
    goal : Goal
    change : {"replace", "drop", "add"}
    lower : float
        No change of a smaller share of the votes reaches the goal. Infinite when no change at all does.
    upper : float
        A change of this share reaches the goal; the attack costs this much and a nudge of at most 1e-6 that makes
        its success unambiguous. Infinite when no attack is known.
    verified : bool
        Whether the statistic was run again on the attacked votes and reached the goal.
    votes_needed : float
        Fewer whole votes do not reach the goal, not even as one of several optima: proved. Infinite when no number
        does, nan when votes are shares.
    votes_to_tie : float
        So many whole votes reach the goal, if only as one of several optima, seen by running the statistic again;
        infinite when no number is known.
    votes_to_decide : float
        Fewer whole votes do not reach the goal outright, as all optima that there are: proved. Infinite when no
        number does.
    votes_sufficient : float
        So many whole votes reach the goal outright, seen by running the statistic again; infinite when no number is
        known. ``votes_needed <= votes_to_tie <= votes_sufficient`` and
        ``votes_needed <= votes_to_decide <= votes_sufficient``.
    status : Status
    statistic : str
        Name of the statistic.
    before, after : Consensus, Consensus or None
        Of the votes as they are, and after the attack.
    plan : Plan or None
        The attack as arrays.
    whole_plan : Plan or None
        The attack in whole votes as arrays.
    tie_plan : Plan or None
        The attack of `votes_to_tie` votes, where that is not `whole_plan`.
    original : Votes
        The votes as they are.
    notes : tuple of str
        What else should be known.
    seconds : float
        Time taken.
    """

    goal: Goal
    change: Change
    lower: float
    upper: float
    verified: bool
    votes_needed: float
    votes_to_tie: float
    votes_to_decide: float
    votes_sufficient: float
    status: Status
    statistic: str
    before: Consensus
    after: Consensus | None
    plan: Plan | None
    whole_plan: Plan | None
    tie_plan: Plan | None
    original: Votes
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    _memo: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "change", change_of(self.change))

    @property
    def exact(self) -> bool:
        """Whether lower and upper are one number."""
        return self.lower == self.upper

    @property
    def votes(self) -> Votes | None:
        """The votes after the attack; None when no attack is known."""
        if self.plan is None:
            return None
        if "votes" not in self._memo:
            self._memo["votes"] = self.plan.applied(self.original)
        attacked: Votes = self._memo["votes"]
        return attacked

    @property
    def removed(self) -> Ballots:
        """The ballots taken away, as (text, weight), the heaviest first."""
        if self.plan is None:
            return []
        return _listed(self.original.items, self.original.ranks, self.plan.removed)

    @property
    def added(self) -> Ballots:
        """The ballots put in, as (text, weight), the heaviest first."""
        return [] if self.plan is None else _listed(self.original.items, self.plan.ranks, self.plan.added)

    @property
    def whole(self) -> Attack | None:
        """The attack in whole votes, with bounds in whole votes; None when none is known."""
        if self.whole_plan is None:
            return None
        total = self.original.total
        lower, upper = self.votes_needed / total, self.votes_sufficient / total
        status = Status.LEAST if lower == upper else Status.BETWEEN
        return replace(self, lower=lower, upper=upper, status=status, plan=self.whole_plan, after=None, _memo={})

    @property
    def tie(self) -> Votes | None:
        """The votes after the smallest attack known that reaches the goal as one of several optima, or outright."""
        plan = self.whole_plan if self.tie_plan is None else self.tie_plan
        return None if plan is None else plan.applied(self.original)

    def text(self) -> str:
        """Return the answer as a sentence for people.

        Examples
        --------
        >>> from holdrank import Above, attack, kemeny
        >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
        >>> attack(votes, kemeny, Above("b", "a")).text()
        '10 of 100 votes tie it, 11 put b above a (11 %, proven minimum).'
        """
        deed = self.goal.deed(self.original.n)
        if math.isinf(self.lower):
            return f"No number of {_CHANGED[self.change]} votes can {deed} (proven)."
        if not self.original.is_counts:
            return self._in_shares(deed)
        needed, ties, decides, enough = (
            self.votes_needed, self.votes_to_tie, self.votes_to_decide, self.votes_sufficient,
        )  # fmt: skip
        if enough == 0:
            return f"No vote is needed to {deed}: it is so already."
        estimate = self.status is Status.ESTIMATE
        if math.isinf(ties) and (not needed or estimate):
            return f"No attack found to {deed}; none ruled out."
        share = "" if math.isinf(enough) else percent(enough / self.original.total)
        if estimate and not math.isinf(enough):
            return f"{self._doing(enough, deed)} ({share}); cheaper attacks may exist."
        if math.isfinite(enough) and decides == enough:
            least = f" ({share}, proven minimum)."
            return self._tying(ties, enough, deed) + least if ties < enough else self._doing(enough, deed) + least
        if math.isinf(enough) and ties == needed:
            never = f"no number of {_CHANGED[self.change]} votes can {deed} outright (proven)"
            outright = never if math.isinf(decides) else f"no attack found to {deed} outright"
            return f"{self._tied(ties)} (proven minimum); {outright}."
        some, total = decides if math.isfinite(decides) else max(needed, 1.0), number(self.original.total)
        least = {
            "replace": f"At least {number(some)} of {total} votes must change",
            "drop": f"At least {number(some)} of {total} votes must be dropped",
            "add": f"At least {_votes(some)} must be added to {total}",
        }[self.change] + f" to {deed}"
        if math.isinf(ties):
            return f"{least} ({percent(some / self.original.total)}, proven); no attack found."
        if math.isinf(enough):
            return f"{least} outright; {number(ties)} tie it."
        tie = f"; {_votes(ties)} tie{'s' * (ties == 1)} it" if ties < enough else ""
        return f"{least} (proven); {number(enough)} {'is' if enough == 1 else 'are'} enough ({share}){tie}."

    def _in_shares(self, deed: str) -> str:
        """Return the answer for votes that are shares of all."""

        def doing(share: float) -> str:
            if self.change.keeps_total:
                return f"{percent(share)} of the votes {deed}"
            how = {"drop": "Dropping {} of the votes", "add": "Adding {} more votes"}[self.change]
            return f"{how.format(percent(share))} {_third_person(deed)}"

        must = {"replace": "must change", "drop": "must be dropped", "add": "must be added"}[self.change]
        least = f"At least {percent(self.lower)} of the votes {must} to {deed}"
        if math.isinf(self.upper):
            return (
                f"{least} (proven); no attack found." if self.lower else f"No attack found to {deed}; none ruled out."
            )
        if self.exact:
            return f"{doing(self.upper)} (proven minimum)."
        if self.status is Status.ESTIMATE or not self.lower:
            return f"{doing(self.upper)}; cheaper attacks may exist."
        return f"{least} (proven); {percent(self.upper)} are enough."

    def _doing(self, amount: float, deed: str) -> str:
        """Return that so many votes do it."""
        amount_text, total = number(amount), number(self.original.total)
        if self.change.keeps_total:
            return f"{amount_text} of {total} votes {_third_person(deed) if amount == 1 else deed}"
        if not self.change.puts:
            return f"Dropping {amount_text} of {total} votes {_third_person(deed)}"
        return f"Adding {_votes(amount)} to {total} {_third_person(deed)}"

    def _tied(self, ties: float) -> str:
        """Return that so many votes tie it."""
        return "It is tied already" if ties == 0 else self._doing(ties, "tie it")

    def _tying(self, ties: float, enough: float, deed: str) -> str:
        """Return that fewer votes tie it and so many decide."""
        if ties == 0:
            return f"It is tied already; {self._doing(enough, deed)[0].lower()}{self._doing(enough, deed)[1:]}"
        if self.change.keeps_total:
            return f"{self._tied(ties)}, {number(enough)} {deed}"
        verb = {"drop": "dropping", "add": "adding"}[self.change]
        return f"{self._tied(ties)}, {verb} {number(enough)} {_third_person(deed)}"

    def __repr__(self) -> str:
        return f"Attack({self.goal.text()}: {_interval(self.lower, self.upper)}, {self.status})"


_CHANGED = {"replace": "replaced", "drop": "dropped", "add": "added"}


def _votes(amount: float) -> str:
    return "1 vote" if amount == 1 else f"{number(amount)} votes"


def _third_person(deed: str) -> str:
    """Return a deed as one vote does it: "change the winner" becomes "changes the winner".

    Examples
    --------
    >>> _third_person("push a out of the top 3")
    'pushes a out of the top 3'
    """
    verb, _, rest = deed.partition(" ")
    return f"{verb}{'es' if verb.endswith('sh') else 's'} {rest}"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Breakdown:
    """The breakdown function of a statistic at these votes: how much must change before the consensus moves so far.

    Attributes
    ----------
    delta : (m,) array
        Distances, as shares of the pairs of items.
    lower, upper : (m,) arrays
        The least share of votes that must be replaced to move the consensus by at least delta lies between; equal
        where it is known exactly, infinite where no attack does.
    exact : (m,) array of bool
        Where it is known exactly.
    attacks : tuple of Attack or None
        A verified attack for each distance; None where none is known.
    votes_needed, votes_to_tie, votes_to_decide, votes_sufficient : (m,) arrays
        In whole votes, as in `Attack`: proved to be needed; enough for one of several optima; proved to be needed
        for all of them; enough. Infinite where there is none, nan where the votes are shares and not counts.
    status : Status
        Of the curve as a whole.
    statistic : str
        Name of the statistic.
    consensus : Consensus
        Of the votes as they are.
    method : {"exact", "search", "bounds", "smooth"}
    distance : {"hausdorff_ns", "hausdorff_half"}
    total : float
        Number of votes, or total mass of a distribution.
    seed : int or None
        Of the random numbers; None where nothing was random or a generator was given.
    notes : tuple of str
        What else should be known.
    seconds : float
        Time taken.
    """

    delta: Floats
    lower: Floats
    upper: Floats
    exact: npt.NDArray[np.bool_]
    attacks: tuple[Attack | None, ...]
    votes_needed: Floats
    votes_to_tie: Floats
    votes_to_decide: Floats
    votes_sufficient: Floats
    status: Status
    statistic: str
    consensus: Consensus
    method: str
    distance: TierDistance
    total: float
    seed: int | None
    notes: tuple[str, ...]
    seconds: float

    def __post_init__(self) -> None:
        whole = (self.votes_needed, self.votes_to_tie, self.votes_to_decide, self.votes_sufficient)
        for array in (self.delta, self.lower, self.upper, self.exact, *whole):
            array.flags.writeable = False

    def _repr_html_(self) -> str:
        return upward.html_of(self)

    def __repr__(self) -> str:
        if not len(self.delta):
            return f"Breakdown({self.statistic}: no distances)"
        first = _interval(float(self.lower[0]), float(self.upper[0]))
        return (
            f"Breakdown({self.statistic}: {len(self.delta)} distance{'s' * (len(self.delta) != 1)}, "
            f"{first} at {self.delta[0]:.4g}, {self.status})"
        )


def _listed(items: Sequence[str], ranks: Ints, weights: Floats) -> Ballots:
    """Return ballots with their weights as text, the heaviest first."""
    rows = np.flatnonzero(weights > 0)
    rows = rows[np.argsort(-weights[rows], kind="stable")]
    return [(ballot_text(ranks[row].tolist(), items), float(weights[row])) for row in rows.tolist()]


def ballot_text(ranks: Sequence[int], items: Sequence[str], width: int = 80) -> str:
    """Return a ballot as text; items that it does not list are left out, long names are cut.

    Examples
    --------
    >>> ballot_text([2, 1, 2, 0], ["a", "b", "c", "d"])
    'b > {a, c}'
    """
    levels: dict[int, list[str]] = {}
    for rank, item in sorted((rank, item) for item, rank in enumerate(ranks) if rank):
        levels.setdefault(rank, []).append(show(items[item], width))
    return " > ".join(part[0] if len(part) == 1 else "{" + ", ".join(part) + "}" for part in levels.values())


def _interval(lower: float, upper: float) -> str:
    if lower == upper:
        return "out of reach" if math.isinf(lower) else f"{lower:.6g}"
    return f"{lower:.6g} to {'?' if math.isinf(upper) else f'{upper:.6g}'}"
