"""Reversed votes: pushing an item out of the first k means bringing it into the first n - k of the reversed votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from holdrank.attacks.goals import Aim
from holdrank.attacks.plans import Found, Plan, Progress
from holdrank.attacks.whole import Find, FindWhole, Whole
from holdrank.rankings import Ints, Ranking
from holdrank.rules.consensus import Statistic
from holdrank.rules.registry import rule_of
from holdrank.status import Clock
from holdrank.votes.ballots import DenseBallots
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes


def is_symmetric(T: Statistic, votes: Votes) -> bool:
    """Whether reversed votes always give the reversed consensus, for all votes that an attack may lead to."""
    return rule_of(T).is_symmetric(votes)


def turned_votes(votes: Votes) -> Votes:
    """Return the votes with every ballot reversed, in the same rows.

    Unlisted items that stand at the bottom are then listed, at the top.
    """
    ranks: Ints = votes.ranks.astype(np.int64)
    if not votes.observed:
        ranks = np.where(ranks == 0, ranks.max(axis=1, keepdims=True) + 1, ranks)
    return replace(votes, ballots=DenseBallots(_turned(ranks)).closed(), _memo={})


def mirrored(find: Find) -> Find:
    """Return an engine's `find` that also supports aims to push an item out.

    For statistics that are symmetric on the votes, see `is_symmetric`.
    """

    def both(
        votes: Votes, before: Ranking, aims: Sequence[Aim], change: Change, clock: Clock, progress: Progress | None
    ) -> list[Found]:
        if not any(aim.leaver for aim in aims):
            return find(votes, before, aims, change, clock, progress)
        upside = Ranking(-before.ranks)
        found = find(turned_votes(votes), upside, _turned_aims(aims, upside), change, clock, progress)
        return [replace(one, plan=_turned_plan(one.plan), tie_plan=_turned_plan(one.tie_plan)) for one in found]

    return both


def mirrored_whole(whole: FindWhole) -> FindWhole:
    """Return an engine's `whole` that also supports aims to push an item out; see `mirrored`."""

    def both(
        votes: Votes, before: Ranking, aims: Sequence[Aim], change: Change, found: Sequence[Found], clock: Clock
    ) -> list[Whole]:
        if not any(aim.leaver for aim in aims):
            return whole(votes, before, aims, change, found, clock)
        upside = Ranking(-before.ranks)
        known = [replace(one, plan=_turned_plan(one.plan), tie_plan=_turned_plan(one.tie_plan)) for one in found]
        results = whole(turned_votes(votes), upside, _turned_aims(aims, upside), change, known, clock)
        return [replace(one, plan=_turned_plan(one.plan), tie_plan=_turned_plan(one.tie_plan)) for one in results]

    return both


def _turned_aims(aims: Sequence[Aim], upside: Ranking) -> list[Aim]:
    """Return, for aims to push an item out, the aims to bring it in on the reversed votes."""
    return [replace(aim, before=upside, newcomers=aim.leaver, leaver=(), top=upside.n - aim.top) for aim in aims]


def _turned_plan(plan: Plan | None) -> Plan | None:
    return None if plan is None else Plan(plan.removed, _turned(plan.ranks), plan.added)


def _turned(ranks: Ints) -> Ints:
    """Return ranks from the other end; what is unlisted stays so."""
    if not len(ranks):
        return ranks
    return np.asarray(np.where(ranks == 0, 0, ranks.max(axis=1, keepdims=True) + 1 - ranks))
