"""Audit: problems in the votes that could make the ranking misleading, and for each finding what an adversary needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from holdrank.analysis.probes.categories import categories
from holdrank.analysis.probes.cycles import cycles
from holdrank.analysis.probes.evidence import Evidence
from holdrank.analysis.probes.few_votes import few_votes
from holdrank.analysis.probes.findings import Finding
from holdrank.analysis.probes.links import connection, coverage
from holdrank.analysis.probes.people import few_people, judge, weighed
from holdrank.analysis.probes.position import position
from holdrank.analysis.probes.standing import AnyVotes
from holdrank.analysis.probes.tie_rules import tie_rules
from holdrank.attacks.answers import attack
from holdrank.attacks.goals import Above, Goal, NewWinner
from holdrank.attacks.results import amounts
from holdrank.errors import UsageError, quote, real_number
from holdrank.rules.consensus import Consensus, Statistic, StatisticName, expect_seconds, expect_votes, name_of
from holdrank.rules.merges import base_of, consensus_of, settled
from holdrank.rules.registry import auto, rule_of
from holdrank.status import Clock, Status, Step, Tabular
from holdrank.votes.models import Seed, seed_of
from holdrank.votes.votes import Votes
from holdrank.words.audit import about_text, audit_lines, head_text
from holdrank.words.numbers import plural

PROBES = ("votes", "position", "ties", "cycles", "connection", "coverage", "people", "judge", "category")
"""The names of the probes, in the order of their findings."""

_AT_LEAST = 5.0  # seconds for a ranking
_TOO_SHORT = 0.02  # seconds: not worth a try
_LEVEL, _BRIEF = 0.95, 2.0  # of the audit in a report: confidence level of intervals, seconds for attacks
_TRIED = 2  # pairs of a finding that an adversary is asked about


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Audit(Tabular):
    """Problems that could make a ranking misleading; made by `audit`.

    Attributes
    ----------
    consensus : Consensus
        The audited ranking.
    statistic : StatisticName
        The rule.
    total : float
        Number of votes.
    noun : str
        What one of them is called.
    findings : tuple of Finding
        One for each probe: raised, clear, or not applicable.
    level : float
        Confidence level of the intervals.
    seed : int
        ``rng=seed`` repeats the audit.
    status : Status
        Status of the ranking, or why some attacks were not computed.
    seconds : float
        Time taken.
    """

    consensus: Consensus
    statistic: StatisticName
    total: float
    noun: str
    findings: tuple[Finding, ...]
    level: float
    seed: int
    status: Status
    seconds: float

    @property
    def raised(self) -> tuple[Finding, ...]:
        """The findings beyond their bar."""
        return tuple(one for one in self.findings if one.raised)

    def __getitem__(self, probe: str) -> Finding:
        """Return the finding of a probe."""
        found = next((one for one in self.findings if one.probe == probe), None)
        if found is None:
            raise UsageError(f"there is no probe {quote(str(probe), 40)}", repair=f"the probes are {', '.join(PROBES)}")
        return found

    @property
    def headline(self) -> str:
        """How many probes are raised, and which, in a sentence."""
        return head_text([one.probe for one in self.raised], sum(one.applies for one in self.findings))

    @property
    def about(self) -> str:
        """The subject of the audit, in a sentence."""
        return about_text(self.statistic.rule, plural(self.total, self.noun), len(self.consensus.items), self.level)

    def rows(self) -> list[dict[str, Any]]:
        """Return the findings as rows, for a data frame or a table."""
        return [
            {
                "probe": one.probe,
                "state": one.state,
                "value": one.value,
                "lower": one.lower,
                "upper": one.upper,
                "bar": one.bar,
                "finding": one.text(),
                "adversary": one.adversary_text,
            }
            for one in self.findings
        ]

    def text(self) -> str:
        """Return the findings, those that are raised first, a few lines each."""
        return "\n".join(audit_lines(f"{self.headline}\n{self.about}", self.findings))

    def __repr__(self) -> str:
        names = ", ".join(one.probe for one in self.raised) or "none"
        return f"Audit({self.statistic}, {len(self.findings)} probes, raised: {names})"


def audit(
    votes: AnyVotes,
    T: Statistic = auto,
    *,
    level: float = 0.95,
    time_limit: float | None = 20.0,
    rng: Seed = None,
    progress: Callable[[Step], None] | None = None,
) -> Audit:
    """Return problems in the votes that could make the ranking misleading: nine probes, each with interval and bar.

    Parameters
    ----------
    votes : Votes or PairCounts
        Any votes. The probes of people need ``read_votes(file, voter="column")``, the probe of categories needs
        ``read_votes(file, by="column")``, and the probe of the position needs battles with two item columns.
    T : Statistic
        The rule; for tiers, their base rule is audited.
    level : float
        Confidence level of each interval, and of all comparisons of a probe together.
    time_limit : float or None
        Time limit in seconds, for the ranking (at least five seconds) and then for the attacks of all findings; None
        for no limit. The probes themselves have no limit.
    rng : int, Generator or None
        For the simulated cycles.
    progress : callable, optional
        Called with a `Step` before each probe.

    Examples
    --------
    >>> import holdrank as hr
    >>> votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[11, 9], unlisted="observed")
    >>> found = hr.audit(votes, rng=1)
    >>> found
    Audit(bradley_terry, 9 probes, raised: votes, connection)
    >>> print(found["votes"].text())
    a and b are not separated at 95 %: that takes about 406 votes; there are 20.
    >>> print(found["votes"].adversary_text)
    2 votes (10 %) put b above a
    """
    started = perf_counter()
    expect_votes(votes, "audit", pairs=True)
    seconds = expect_seconds(time_limit)
    share = real_number(level)
    if share is None or not 0 < share < 1:
        raise UsageError(f"level must be a number between 0 and 1, not {quote(str(level))}")
    T = base_of(settled(T, votes))
    seed = seed_of(rng)
    consensus = consensus_of(votes, T, None if seconds is None else max(seconds, _AT_LEAST))  # type: ignore[arg-type]
    known = Evidence(votes, T, rule_of(T), consensus, share, seed)
    found: list[Finding] = []
    for done, one in enumerate(_probes(known)):
        found.append(one)
        if progress is not None:
            progress(Step("probes", done + 1, len(PROBES)))
    return _audited(known, found, found, Clock(seconds), started)


def audit_in_brief(votes: Votes, T: Statistic, consensus: Consensus, clock: Clock, *, seed: int) -> Audit:
    """Return an audit for a report: attacks are computed for raised findings only, for at most two seconds.

    Parameters
    ----------
    votes : Votes
    T : Statistic
        A rule without tiers.
    consensus : Consensus
        Its ranking of the votes.
    clock : Clock
        No probe starts once it is over; probes that did not run are missing from the findings.
    seed : int
    """
    started = perf_counter()
    known = Evidence(votes, T, rule_of(T), consensus, _LEVEL, seed)
    found: list[Finding] = []
    for one in _probes(known):
        found.append(one)
        if clock.over():
            break
    left = Clock(min(clock.seconds_left(), _BRIEF), within=clock)
    return _audited(known, found, [one for one in found if one.raised], left, started)


def _audited(known: Evidence, found: list[Finding], asked: list[Finding], limit: Clock, started: float) -> Audit:
    """Return the findings, with the attack for those that were priced."""
    with limit as clock:
        prices = _prices(known, asked, clock)
        short = any(price is None or price["short"] for price in prices.values()) or len(found) < len(PROBES)
        status = Status.TIME_LIMIT if short and clock.deadline is not None else known.consensus.status
        status = Status.INTERRUPTED if clock.interrupted else status
    return Audit(
        consensus=known.consensus,
        statistic=name_of(known.T),
        total=known.votes.total,
        noun=known.noun,
        findings=tuple(_priced(known, one, prices) for one in found),
        level=known.level,
        seed=known.seed,
        status=status,
        seconds=perf_counter() - started,
    )


def _probes(known: Evidence) -> Iterator[Finding]:
    yield few_votes(known)
    yield position(known)
    yield tie_rules(known)
    yield cycles(known)
    yield connection(known)
    yield coverage(known)
    people = known.people
    can = people is not None and len(known.gaps) > 0 and known.votes.is_counts
    seen = weighed(known, people) if people is not None and can else None
    yield few_people(known, seen)
    yield judge(known, seen)
    yield categories(known)


def _prices(known: Evidence, found: list[Finding], clock: Clock) -> dict[Goal, dict[str, Any] | None]:
    """Return the attacks that match the findings; raised findings go first."""
    asked = [goal for one in sorted(found, key=lambda one: not one.raised) for goal in _goals(known, one)]
    wanted = list(dict.fromkeys(asked))
    return {goal: _price(known, goal, clock.share(len(wanted) - done)) for done, goal in enumerate(wanted)}


def _priced(known: Evidence, one: Finding, prices: dict[Goal, dict[str, Any] | None]) -> Finding:
    """Return a finding with the attack that breaks the same thing."""
    own = [price for goal in _goals(known, one) if (price := prices.get(goal))]
    return replace(one, adversary=min((price for price in own if "lower" in price), key=_cost, default=None))


def _cost(price: dict[str, Any]) -> float:
    ends = price["sufficient"], price["upper"], price["lower"]
    return next((end for end in ends if end is not None), float("inf"))


def _goals(known: Evidence, one: Finding) -> list[Goal]:
    """Return the goals of an adversary: to reverse the pairs of a finding, or to change the first place."""
    if not one.applies or len(known.items) < 2:
        return []
    pairs = one.pairs or ((one.facts["pair"],) if "pair" in one.facts else ())
    if pairs:
        return [Above(below, above) for above, below in pairs[:_TRIED]]
    order = [known.items[k] for k in known.ranking.order]
    if one.probe == "coverage" and one.items:
        at = max(order.index(one.items[0]), 1)
        return [Above(order[at], order[at - 1])]
    return [NewWinner()]


def _price(known: Evidence, goal: Goal, clock: Clock) -> dict[str, Any] | None:
    """Return the cost of a goal, and whether the time limit cut it short; None if no time is left.

    Nothing but that is reported where the rule and the votes allow no attack.
    """
    left = clock.seconds_left()
    if left < _TOO_SHORT:
        return None
    try:
        found = attack(known.votes, known.T, goal, time_limit=None if math.isinf(left) else left)
    except UsageError:
        return {"short": False}
    deed = goal.deed(len(known.items))
    words = {"does": deed.does, "does_alone": deed.does_alone, "short": found.status.is_timed_out}
    read = {"format": known.votes.reading.format, "choices": known.votes.reading.choices}
    return {**words, **read, "total": known.votes.total, "counts": known.votes.is_counts, **amounts(found)}
