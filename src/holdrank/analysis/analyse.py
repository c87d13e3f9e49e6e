"""One analysis for all outputs: what was read, the consensus, its tiers, and how hard they are to break, as plain data.

`analyse` runs the steps one after the other. A step that reaches its time limit returns its bounds so far; a step that
fails records the reason; the others continue. Everything that a report, a page or a picture shows is in the record of
an `Analysis`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from functools import partial

import numpy as np

from holdrank import __version__
from holdrank.analysis.audit import PROBES, audit_in_brief
from holdrank.analysis.audit_records import audit_record
from holdrank.analysis.bootstrap import bootstrap
from holdrank.analysis.chance.mean_ranks import mean_ranks
from holdrank.analysis.chance.rank_sets import knows_chance, rank_sets
from holdrank.analysis.chance.records import chance_record, mean_ranks_record
from holdrank.analysis.cut import at_the_cut
from holdrank.analysis.races import Prices, has_quick_bounds, is_open, neighbours, voters_who_matter
from holdrank.analysis.records import (
    SCHEMA,
    Record,
    attack_record,
    bootstrap_record,
    consensus_and_optima,
    curve_record,
    other_record,
    pairs_record,
    path_record,
    ratings_record,
    removals_in_short,
    seal_of,
    tiers_record,
    tradeoff_record,
    voters_in_short,
    votes_record,
)
from holdrank.analysis.removals import removals
from holdrank.analysis.result import Analysis
from holdrank.analysis.spec import CURVE_ITEMS, Spec, curve_distances, cut_budget, reach_budget
from holdrank.analysis.steps import SHARES, Progress, Steps
from holdrank.analysis.tradeoff import tradeoff
from holdrank.attacks import goals
from holdrank.attacks.answers import attack, breakdown
from holdrank.attacks.reach import reach, whole_budget
from holdrank.attacks.results import Attack, amounts
from holdrank.errors import HoldrankError, UsageError
from holdrank.rules.consensus import Statistic, borda
from holdrank.rules.merges import Robust, consensus_of, merge_path, pairs_for
from holdrank.rules.registry import rule_for, rules
from holdrank.rules.scores import copeland
from holdrank.status import LEAST_DRAWS, TIERS_PRICED_UP_TO, Clock, Status
from holdrank.votes.votes import Votes
from holdrank.words.headlines import headline
from holdrank.words.names import rule_name
from holdrank.words.results import few_draws_text

_MANY_ITEMS, _THRESHOLDS = 30, 60  # beyond this many items, tiers are compared at this many thresholds
_VOTERS, _VOTER_SECONDS = 20, 2.0  # who matter most, and are listed; for how many of them it takes
_LEVEL = 0.95  # of tests
_TOPMOST = 5  # gaps, and races, that have closer bounds from the start
_AT_WORK = 0.95  # of the time limit; the rest is for what looks at no clock, such as writing the page
_PILOT = 0.1  # of the time of a bootstrap, in which two samples must be ranked: else there will not be enough of them
_CURVE_AT_ONCE, _FOR_A_CURVE = 100, 0.1  # beyond this many items, a curve in less than this part of the limit is empty
_POLISH = 0.6  # of the time limit, after which no bound is made closer


def analyse(
    votes: Votes,
    spec: Spec | None = None,
    *,
    progress: Progress | None = None,
    partial: Callable[[Record], None] | None = None,
) -> Analysis:
    """Return the complete analysis of votes, as the report shows it.

    Parameters
    ----------
    votes : Votes
    spec : Spec, optional
    progress : callable, optional
        Called with a `Step` at the beginning of each step, and now and then during one.
    partial : callable, optional
        Called after each step with the record so far, which later steps change.

    Examples
    --------
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    >>> analyse(votes, Spec(theta=None)).headline
    'a is first; putting b first takes 11 of 100 votes.'
    >>> analyse(votes, Spec(theta=None)).record["chance"]["text"]
    'By chance, a or b could be first (95 %); an adversary who chooses the votes needs 11 (proven minimum).'
    """
    if not isinstance(votes, Votes):
        raise UsageError(f"analyse takes Votes, not {type(votes).__name__}")
    spec = Spec() if spec is None else spec
    rule = rule_for(spec.rule, votes)
    if rule.needs == "scores":
        rule.function(votes)  # refuses votes without scores
    return _Run(votes, spec, progress, partial).analysis()


class _Run(Steps):
    """One run of all steps; fills the record."""

    def __init__(
        self, votes: Votes, spec: Spec, progress: Progress | None, each: Callable[[Record], None] | None
    ) -> None:
        self.votes, self.spec = votes, spec
        self.rule = rule_for(spec.rule, votes)
        self._rough: list[Prices] = []  # first bounds, which may be refined
        record: Record = {
            "schema": SCHEMA,
            "version": __version__,
            "items": list(votes.items),
            "headline": "",
            "votes": votes_record(votes),
            "spec": {**asdict(spec), "claims": list(spec.claims)},
            **dict.fromkeys(
                ("consensus", "optima", "tiers", "path", "ratings", "pairs", "bootstrap", "reach", "tradeoff")
            ),
            **dict.fromkeys(("attack", "chance", "mean_ranks", "cut", "removals", "races", "voters", "audit")),
            **{name: [] for name in ("gaps", "curves", "claims", "others", "steps")},
            "seal": "",  # until all is there
        }
        limit = spec.time_limit
        super().__init__(record, Clock(None if limit is None else _AT_WORK * limit), progress, each)

    def analysis(self) -> Analysis:
        with self.clock:
            # The statistic that is reported needs the consensus; all else is optional.
            with self._step("consensus"):
                self._consensus()
            if self.record["consensus"] is None:
                raise HoldrankError(self.record["steps"][-1]["note"])
            for claim in self.spec.claims:
                said = goals.claimed(claim, self.votes.items)  # refuses what it cannot read, and unknown names
                said.aim(self.median.ranking, self.votes.items)
            for name in list(SHARES)[1:]:
                with self._step(name):
                    if not self.clock.interrupted or name in ("tiers", *self._idle()):  # the headline is about tiers
                        getattr(self, f"_{name}")()
                    else:
                        self._note(Status.INTERRUPTED)
        self.record["headline"] = headline(self.record)
        self.record["seal"] = seal_of(self.record)
        return Analysis(self.record)

    def _idle(self) -> list[str]:
        """Return the steps that have nothing to do."""
        spec = self.spec
        done = {"claims": not spec.claims, "cut": spec.k is None, "voters": self.votes.voters is None}
        return [name for name, idle in {**done, "refine": not self._rough}.items() if idle]

    # The steps (their order and shares of the time: `SHARES`), and what they share.

    def _consensus(self) -> None:
        self.median = self.rule.run(self.votes, self._part.time_limit())
        self.statistic: Statistic = self.rule.function
        self.reported = self.median
        order = list(self.median.ranking.order)
        self.record |= consensus_and_optima(self.votes, self.rule.name, self.median, self._part.time_limit())
        P = pairs_for(self.statistic, self.votes)
        self.record["pairs"] = pairs_record(self.votes, order)
        if self.votes.n > 1:
            self.record["path"] = path_record(
                merge_path(P, self.median.ranking, merge=self.spec.merge, most=self._thresholds)
            )
            if self.median.has_ratings:
                self.record["ratings"] = ratings_record(self.median.ratings())

    def _tiers(self) -> None:
        spec = self.spec
        if spec.theta is None or self.votes.n < 2:
            return
        T = Robust(self.statistic, spec.theta, merge=spec.merge).fixed(self.votes, median=self.median)
        self.statistic, self.reported = T, T.merged(self.votes, self.median)
        self.record["tiers"] = tiers_record(float(T.theta), spec.merge, self.reported, auto=spec.theta == "auto")

    @property
    def _thresholds(self) -> int | None:
        """The largest number of thresholds to examine; None for all."""
        return _THRESHOLDS if self.votes.n > _MANY_ITEMS else None

    def _attack(self) -> None:
        if self.votes.n < 2:
            return
        found = attack(
            self.votes,
            self.statistic,
            self._against_the_top(),
            time_limit=self._part.time_limit(),
            progress=self.progress,
        )
        # Whole votes may be settled, if not their share.
        if found.status.is_interrupted or is_open(amounts(found), whole=self.votes.is_counts):
            self._note_if_open(found.status)
        self.record["attack"] = self._attacked(found, self.statistic)

    def _chance(self) -> None:
        """Record which items the votes separate, and simultaneous confidence sets for the places."""
        if not self.spec.draws or not self.votes.is_counts or self.votes.n < 2:
            return
        if self.votes.ballots.has_scores:
            self.record["mean_ranks"] = mean_ranks_record(mean_ranks(self.votes, _LEVEL))
        if not knows_chance(self.rule.function):
            return
        found = rank_sets(
            self.votes, self.rule.function, by=self.spec.by, time_limit=self._part.time_limit(), rng=self.spec.seed
        )
        if found.draws < LEAST_DRAWS:
            self._note(found.status)
            return
        self.record["chance"] = chance_record(found, self.reported.ranking, self.record["attack"], self.record["votes"])

    def _attacked(self, found: Attack, T: Statistic) -> Record:
        best = found.whole or found
        after = None if best.votes is None else consensus_of(best.votes, T, self._part.time_limit())
        return attack_record(found, after.ranking if after is not None and after.status.is_exact else None)

    def _against_the_top(self) -> goals.Goal:
        """Return the goal that makes the headline false: another winner, or the end of a tie of all items."""
        whole = len(self.reported.ranking.buckets) == 1
        pairs = self.votes.n * (self.votes.n - 1) / 2
        return goals.Distance(1 / pairs) if whole else goals.NewWinner()

    def _claims(self) -> None:
        left = len(self.spec.claims)
        for claim in self.spec.claims:
            T, before = self.statistic, self.reported.ranking
            said = goals.claimed(claim, self.votes.items)
            if isinstance(said, goals.Above):  # an order, which tiers do not keep
                T, before = self.rule.function, self.median.ranking
            goal = goals.goal_against(said, self.votes.items, before, tiers=False)
            row: Record = {"claim": claim, "holds": goal is not None, "attack": None}
            if goal is not None:
                limit = self._part.time_limit()
                part = None if limit is None else limit / left
                row["attack"] = self._attacked(attack(self.votes, T, goal, time_limit=part), T)
            self.record["claims"].append(row)
            left -= 1

    def _gaps(self) -> None:
        """Price each boundary between two tiers: the votes that change the set of items above it."""
        sizes = [len(bucket) for bucket in self.reported.ranking.buckets]
        # Tiers of many items are priced on the ranking below them, whose order a boundary keeps.
        few = self.votes.n <= TIERS_PRICED_UP_TO
        T, before = (self.statistic, self.reported) if few else (self.rule.function, self.median)
        asked = [goals.TopSet(k) for k in np.cumsum(sizes)[:-1].tolist()]
        quick = self.votes.n > _MANY_ITEMS and has_quick_bounds(self.votes, T)
        self._price("gaps", Prices(self.votes, T, before.ranking, asked), quick=quick)

    def _races(self) -> None:
        """Price every race of an item against the one before it."""
        T = self.rule.function
        if self.votes.n > 1 and has_quick_bounds(self.votes, T):
            asked = neighbours(self.median.ranking, self.votes.items)
            self._price("races", Prices(self.votes, T, self.median.ranking, asked), quick=True)

    def _price(self, name: str, prices: Prices, *, quick: bool) -> None:
        self.record[name] = prices.rows
        say = partial(self._say, f"{name} priced")
        if quick:
            self._rough.append(prices)
            prices.quickly(self._part, say)
            prices.refine(self._part, say, most=_TOPMOST)
        else:
            prices.one_by_one(self._part, say)
        if prices.cut_short is not None and (prices.lacking or prices.cut_short.is_interrupted):
            self._note(prices.cut_short)

    def _refine(self) -> None:
        """Tighten the first bounds, from the top down, as long as the time limit allows."""
        limit = self.spec.time_limit
        left = math.inf if limit is None else self.clock.seconds_left() - (1 - _POLISH) * limit
        clock = Clock(None if math.isinf(left) else max(left, 0.0), within=self._part)
        notes = []
        for prices in self._rough:
            closer, number = prices.refine(clock, partial(self._say, "bounds")), len(prices.rows)
            if closer < number:
                what = "gaps" if prices.rows is self.record["gaps"] else "races"
                notes.append(f"the last {number - closer:,} of {number:,} {what} have only quick bounds")
        self._remark("; ".join(notes))

    def _cut(self) -> None:
        """Record which items are safely in the top k, safely out, or undecided, for the budget."""
        k = self.spec.k
        if k is None or self.votes.n < 2:
            return
        say, T = partial(self._say, "items at the cut"), self.rule.function
        found = at_the_cut(self.votes, T, self.median.ranking, k, self._budget(), self._part, say)
        self.record["cut"] = found[0]
        self._note_if_open(found[1] or Status.LEAST)

    def _removals(self) -> None:
        """Record how removing each item changes the order of the others, where the rule can rank all these at once."""
        if self.votes.n < 3 or self.rule.without_each is None:
            return
        found = removals(self.votes, self.rule.function, time_limit=self._part.time_limit(), progress=self.progress)
        if len(found.each) < self.votes.n:
            self._note(found.status)
        self.record["removals"] = removals_in_short(found)

    def _bootstrap(self) -> None:
        if not self.spec.draws or not self.votes.is_counts:
            return
        draw = partial(bootstrap, self.votes, self.rule.function, by=self.spec.by, rng=self.spec.seed)
        limit = self._part.time_limit()
        if self.votes.n > _MANY_ITEMS and limit is not None:
            first = draw(draws=2, time_limit=_PILOT * limit)  # one is ranked in any case
            if first.status is not Status.RESAMPLED:
                self._note(first.status)
                self._remark(few_draws_text(0, self.spec.draws))
                return
        drawn = draw(draws=self.spec.draws, progress=self.progress, time_limit=self._part.time_limit())
        if drawn.status is not Status.RESAMPLED:
            self._note(drawn.status)
        if drawn.draws >= LEAST_DRAWS:
            self.record["bootstrap"] = bootstrap_record(drawn)
        else:
            self._remark(few_draws_text(drawn.draws, self.spec.draws))

    def _reach(self) -> None:
        if self.votes.n < 2:
            return
        found = reach(
            self.votes,
            self.rule.function,
            whole_budget(reach_budget(self.spec.budget, self.record["attack"], self.votes.total), self.votes),
            time_limit=self._part.time_limit(),
            progress=self.progress,
        )
        self._note_if_open(found.status)
        names = ("best", "worst", "shown_best", "shown_worst")
        self.record["reach"] = {
            "budget": found.budget,
            "votes": found.budget * self.votes.total if self.votes.is_counts else None,
            **{name: getattr(found, name).tolist() for name in names},
            "status": found.status.value,
        }

    def _voters(self) -> None:
        """Record which voters matter most for the first place, and how many are needed to change it."""
        T = self.rule.function
        if self.votes.voters is None or len(self.votes.voters) < 2 or not has_quick_bounds(self.votes, T):
            return
        effects, attacks = voters_who_matter(self.votes, T, Clock(min(self._part.seconds_left(), _VOTER_SECONDS)))
        for found in attacks:
            self._note_if_open(found.status)
        self.record["voters"] = voters_in_short(effects, attacks, _VOTERS)

    def _audit(self) -> None:
        """Look for problems in the votes that could make the ranking misleading."""
        if self.votes.n < 2:
            return
        try:
            found = audit_in_brief(self.votes, self.rule.function, self.median, self._part, seed=self.spec.seed)
        except np.linalg.LinAlgError as error:  # leads that floats cannot tell
            raise HoldrankError(f"no audit: {error}") from error
        if len(found.findings) < len(PROBES):
            self._note(found.status)
        self.record["audit"] = audit_record(found)

    def _tradeoff(self) -> None:
        """Compute loss and robustness over all thresholds, next to the chosen one."""
        if self.spec.theta != "auto" or self.votes.n < 2:
            return
        # For many items only the robustness of the top can be bounded.
        goal = goals.NewWinner() if self.votes.n > TIERS_PRICED_UP_TO else None
        try:
            found = tradeoff(
                self.votes,
                self.rule.function,
                merge=self.spec.merge,
                goal=goal,
                most=self._thresholds,
                time_limit=self._part.time_limit(),
                progress=self.progress,
            )
        except UsageError as error:  # a rule whose tiers have no certified breakdown
            self._remark(str(error))
            return
        self.record["tradeoff"] = tradeoff_record(found)
        self._note_if_open(found.status)

    def _curves(self) -> None:
        n = self.votes.n
        if n < 2:
            return
        deltas = curve_distances(n)
        tiers = isinstance(self.statistic, Robust) and n <= TIERS_PRICED_UP_TO
        asked = [self.rule.function] + [self.statistic] * tiers
        asked += [borda if n <= CURVE_ITEMS else copeland] * (self.rule.median_of == "kendall")
        for done, T in enumerate(asked):
            left = self._part.time_limit()
            least = 0.0 if n <= _CURVE_AT_ONCE else _FOR_A_CURVE * (self.spec.time_limit or 0.0)
            if left is not None and (left < least or (done and left == 0)):
                self._note(Status.BETWEEN_TIME_LIMIT)
                break
            limit = None if left is None else left / (len(asked) - done)
            curve = breakdown(self.votes, T, deltas, time_limit=limit, progress=self.progress)
            self._note_if_open(curve.status)
            self.record["curves"].append(curve_record(curve))

    def _others(self) -> None:
        missing = []
        for rule in rules():
            name = rule.name
            if name == self.rule.name or (rule.needs == "scores" and not self.votes.ballots.has_scores):
                continue
            try:
                found = rule.run(self.votes, self._part.time_limit())
            except HoldrankError as error:  # a rule that these votes do not have
                missing.append(f"no {rule_name(name)}: {error.problem}")
                continue
            self.record["others"].append(other_record(name, found, self.votes))
        self._remark("; ".join(missing))

    def _budget(self) -> float:
        """Return the budget of the attacker at the cut."""
        return whole_budget(cut_budget(self.spec.budget), self.votes)
