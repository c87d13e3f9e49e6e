"""The engine that proposes attacks on a statistic: the exact engine of a rule, that of tiers, or a search.

Every engine answers two questions, with one signature each: `find`, in shares of votes, and `whole`, in whole votes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from holdrank.attacks import medians as median_engine
from holdrank.attacks.borda import engine as borda_engine
from holdrank.attacks.borda.slopes import slopes as borda_slopes
from holdrank.attacks.bradley_terry import engine as bradley_terry_engine
from holdrank.attacks.bradley_terry.levels import quick as bradley_terry_quick
from holdrank.attacks.bradley_terry.places import places as bradley_terry_places
from holdrank.attacks.bradley_terry.tiers import TierSiege
from holdrank.attacks.footrule import engine as footrule_engine
from holdrank.attacks.goals import Aim
from holdrank.attacks.kemeny import engine as kemeny_engine
from holdrank.attacks.kemeny.slopes import slopes as kemeny_slopes
from holdrank.attacks.mirror import mirrored, mirrored_whole
from holdrank.attacks.optima import reaches
from holdrank.attacks.plans import Ends, Found, Progress, adds_battles
from holdrank.attacks.search import Search
from holdrank.attacks.sides import every_optimum_reaches
from holdrank.attacks.tiers.base_ranking import RankingBelow
from holdrank.attacks.tiers.border_bounds import lower_bound
from holdrank.attacks.whole import Find, FindWhole
from holdrank.rankings import Floats, Ranking
from holdrank.rules.consensus import Consensus, Statistic
from holdrank.rules.medians import Median
from holdrank.rules.merges import Robust, base_of, consensus_of
from holdrank.rules.registry import equip, equip_family, rule_of
from holdrank.status import Clock
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_ONE_RUN, _LEAST_RUN = 2.0, 0.05  # seconds for one run of the statistic in a search, whatever time is left


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that finds attacks on a statistic.

    Attributes
    ----------
    find : callable
        Bounds and attacks in shares of votes: (votes, before, aims, change, clock, progress) to a `Found` for each aim.
    whole : callable or None
        The same in whole votes, where the engine does better than rounding: (votes, before, aims, change, found, clock)
        to a `Whole` for each aim.
    by_search : bool
        Whether the engine only searches for attacks, so that lower bounds are weak or 0.
    battles : bool
        Whether it works only on battles between two items; it then also takes pair counts of battles.
    below_tiers : bool
        Whether the cells of tiers know the conditions on its order.
    rounds : bool
        Whether attacks of whole votes may be found by rounding attacks in shares.
    every_optimum : callable or None
        (votes, aim, order, clock): whether every optimum reaches an aim, given one of them, where they are too many to
        list.
    any_target : bool
        Whether an aim may be any set of rankings: a distance in any metric, an item pushed out of the first few.
    tiers : callable or None
        From tiers of the rule, where they are merged by a model, to the engine for them.
    places : callable or None
        (votes, change, number of votes, clock, progress): the places of all items at once, where that is better than
        one goal after the other.
    quick : callable or None
        (votes, before, aims, change, clock): first bounds and attacks for many aims other than distances, for which
        `find` would take long.
    slopes : callable or None
        (votes, before, aim, change, after, clock): what the share of each ballot adds to the minimum share, and a
        constant, by the duals of the program that the attack to `after` solves.
    """

    find: Find
    whole: FindWhole | None = None
    by_search: bool = False
    battles: bool = False
    below_tiers: bool = True
    rounds: bool = True
    every_optimum: Callable[[Votes, Aim, Sequence[int], Clock], bool] | None = None
    any_target: bool = False
    tiers: Callable[[Robust], Engine] | None = None
    places: Callable[[Votes, Change, float, Clock, Progress | None], Ends] | None = None
    quick: Callable[[Votes, Ranking, Sequence[Aim], Change, Clock], list[bradley_terry_engine.Known]] | None = None
    slopes: Callable[[Votes, Ranking, Aim, Change, Ranking, Clock], tuple[Floats, float] | None] | None = None


def _tiers_of_battles(T: Robust) -> Engine:
    siege = TierSiege(T)
    return Engine(siege.find, siege.whole, battles=True, rounds=False, any_target=True, quick=siege.quick)


equip(
    "kemeny",
    engine=Engine(
        mirrored(kemeny_engine.find),
        mirrored_whole(kemeny_engine.whole),
        every_optimum=every_optimum_reaches,
        slopes=kemeny_slopes,
    ),
)
equip("borda", engine=Engine(mirrored(borda_engine.find), mirrored_whole(borda_engine.whole), slopes=borda_slopes))
equip("footrule", engine=Engine(mirrored(footrule_engine.find)))
equip(
    "bradley-terry",
    engine=Engine(
        bradley_terry_engine.find,
        bradley_terry_engine.whole,
        battles=True,
        below_tiers=False,
        rounds=False,
        tiers=_tiers_of_battles,
        places=bradley_terry_places,
        quick=bradley_terry_quick,
    ),
)
equip_family(
    Median,
    engine=lambda T: Engine(
        partial(median_engine.find, T), every_optimum=partial(median_engine.every_optimum, T), any_target=True
    ),
)


def exact_engine(T: Statistic, votes: Votes) -> Engine | None:
    """Return the exact engine of a statistic on these votes, if there is one; user-defined statistics have none."""
    rule = rule_of(base_of(T)).on(votes)
    engine: Engine | None = rule.engine
    if engine is None or (engine.battles and not adds_battles(votes)):
        return None
    if not isinstance(T, Robust):
        return engine
    if rule_of(T.base).probabilities is not None:  # any other rule that ranks the items the same has no such model
        return engine.tiers(T) if engine.tiers is not None else None
    if T.merge == "smith" or not engine.below_tiers:
        return None
    tiers = Robust(rule.function, T.theta, merge=T.merge)

    below = RankingBelow(tiers, engine.find, engine.whole, searching(tiers).find)
    return Engine(below.find, below.whole)


def inexact_engine(T: Statistic, votes: Votes) -> Engine:
    """Return attacks by search; for tiers, with a lower bound from the ranking below them where there is one."""
    by_search = searching(T)
    if not isinstance(T, Robust):
        return by_search
    base = exact_engine(T.base, votes)
    if rule_of(T.base).probabilities is not None or (base is None and T.merge != "smith"):
        return by_search
    tiers, find_base = T, None if base is None else base.find

    def find(
        votes: Votes, before: Ranking, aims: Sequence[Aim], change: Change, clock: Clock, progress: Progress | None
    ) -> list[Found]:
        bounds = [lower_bound(votes, tiers, before, aim, change, clock, find_base) for aim in aims]
        found = by_search.find(votes, before, aims, change, clock, progress)
        return [replace(one, lower=max(one.lower, bound)) for one, bound in zip(found, bounds, strict=True)]

    return replace(by_search, find=find)


def searching(T: Statistic) -> Engine:
    """Return the search, for any statistic; it proves lower bounds for few of them."""

    def works(aim: Aim, votes: Callable[[], Votes], after: Consensus, weakly: bool) -> bool:
        return reaches(aim, T, votes, after, Clock(_ONE_RUN), weakly=weakly)

    def run(votes: Votes, seconds: float) -> Consensus:
        return consensus_of(votes, T, min(max(seconds, _LEAST_RUN), _ONE_RUN))

    search = Search(T, run, works)
    return Engine(search.find, search.whole, by_search=True)
