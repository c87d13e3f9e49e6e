"""Votes upside down: to push an item out of the first k is to bring it among the first n - k of the mirror image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from holdrank.attacks.goals import Aim
from holdrank.attacks.plans import Found, Plan
from holdrank.attacks.whole import Whole
from holdrank.rankings import Ints, Ranking
from holdrank.rules.consensus import Statistic
from holdrank.rules.registry import rule_of
from holdrank.votes.ballots import DenseBallots
from holdrank.votes.votes import Votes


def is_symmetric(T: Statistic, votes: Votes) -> bool:
    """Whether votes upside down give the consensus upside down, whatever the votes become."""
    return rule_of(T).is_symmetric(votes)


def turned_votes(votes: Votes) -> Votes:
    """Return the votes with every ballot upside down, in the same rows.

    Unlisted items that stand at the bottom are then listed, at the top.
    """
    ranks: Ints = votes.ranks.astype(np.int64)
    if votes.unlisted == "bottom":
        ranks = np.where(ranks == 0, ranks.max(axis=1, keepdims=True) + 1, ranks)
    return replace(votes, ballots=DenseBallots(_turned(ranks)).closed(), _memo={})


def mirrored(find: Any) -> Any:
    """Return an engine's `find` or `whole` that also takes aims to push an item out.

    For statistics that are symmetric on the votes, see `is_symmetric`.
    """

    def both(votes: Votes, before: Ranking, aims: Sequence[Aim], change: Any, *rest: Any) -> list[Any]:
        if not any(aim.leaver for aim in aims):
            found: list[Any] = find(votes, before, aims, change, *rest)
            return found
        upside = Ranking(-before.ranks)
        turned = [replace(aim, before=upside, newcomers=aim.leaver, leaver=(), top=votes.n - aim.top) for aim in aims]
        rest = tuple([_turned_back(one) for one in part] if _are_found(part) else part for part in rest)
        return [_turned_back(one) for one in find(turned_votes(votes), upside, turned, change, *rest)]

    return both


def _are_found(part: object) -> bool:
    return isinstance(part, list) and all(isinstance(one, Found) for one in part)


def _turned_back(found: Found | Whole) -> Found | Whole:
    def turned(plan: Plan | None) -> Plan | None:
        return None if plan is None else Plan(plan.removed, _turned(plan.ranks), plan.added)

    return replace(found, plan=turned(found.plan), tie_plan=turned(found.tie_plan))


def _turned(ranks: Ints) -> Ints:
    """Return ranks from the other end; what is unlisted stays so."""
    if not len(ranks):
        return ranks
    return np.asarray(np.where(ranks == 0, 0, ranks.max(axis=1, keepdims=True) + 1 - ranks))
