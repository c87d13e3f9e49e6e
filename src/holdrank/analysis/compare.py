"""Two snapshots compared: what moved, and whether it is more than noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from holdrank.analysis.bootstrap import bootstrap
from holdrank.analysis.records import Record, votes_record
from holdrank.attacks.answers import attack
from holdrank.attacks.goals import Above
from holdrank.attacks.results import amounts
from holdrank.errors import UsageError, quote
from holdrank.rankings import Ranking, kendall
from holdrank.rules.consensus import Statistic, expect_seconds
from holdrank.rules.merges import settled
from holdrank.status import DRAWS, LEAST_DRAWS, Clock, Status, Step
from holdrank.votes.votes import Votes
from holdrank.words.numbers import plural

_MOST_PAIRS = 20  # turned pairs whose margins are looked up
_ENDS = (Status.RESAMPLED, Status.RESAMPLED_TIME_LIMIT, Status.RESAMPLED_INTERRUPTED)


def compare(
    old: Votes,
    new: Votes,
    statistic: Statistic,
    draws: int = DRAWS,
    seed: int = 0,
    time_limit: float | None = 30.0,
    *,
    progress: Callable[[Step], None] | None = None,
    executor: Executor | None = None,
) -> Record:
    """Return the places of the items that both share, as plain data, in the order of `new`.

    A move is more than noise if the intervals of the two places, which hold 95 % of the draws, do not touch. Its margin
    is the minimum number of new votes that must change to restore the order of a pair that it reversed. The workers of
    an executor share the draws. Everything together takes at most `time_limit` seconds: a third for the draws of each
    file, the rest for the margins. At the limit, or after Ctrl-C, there are fewer draws than requested, and `status`
    says so; with too few draws, intervals cover every place.

    Examples
    --------
    >>> from holdrank.rules.consensus import kemeny
    >>> old = Votes.from_orders([["a", "b"], ["b", "a"]], weights=[90, 10])
    >>> new = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[10, 90])
    >>> found = compare(old, new, kemeny)
    >>> found["moved"], found["beyond_noise"], found["only_new"]
    (2, 2, ['c'])
    """
    known = set(new.items)
    common = [item for item in old.items if item in known]
    if len(common) < 2:
        names = [quote(votes.reading.source) for votes in (old, new)]
        raise UsageError(f"{names[0]} and {names[1]} share {plural(len(common), 'item')}; at least two are needed")
    statistic = settled(statistic, old, new)  # one rule for both
    means: dict[str, Any] = {"draws": draws, "rng": seed, "progress": progress, "executor": executor}
    limit = expect_seconds(time_limit)
    with Clock(limit) as clock:
        third = None if limit is None else limit / 3
        before = bootstrap(old.only(common), statistic, time_limit=third, **means)
        after = bootstrap(new.only(common), statistic, time_limit=third, **means)
        turned = before.consensus.ranking, after.consensus.ranking
        undone = {} if clock.interrupted else _margins(new.only(common), statistic, *turned, clock)
    drawn = min(before.draws, after.draws)
    few = drawn < LEAST_DRAWS
    rows: list[Record] = []
    for i in range(len(common)):
        was, now = (
            {"place": float(one.consensus.ranking.places[i]), "best": best, "worst": worst}
            for one in (before, after)
            for best, worst in [(1.0, float(len(common))) if few else (float(one.best[i]), float(one.worst[i]))]
        )
        apart = was["worst"] < now["best"] or now["worst"] < was["best"]
        rows.append({"item": i, "old": was, "new": now, "beyond_noise": apart})
    for i, row in enumerate(rows):
        row["undone_by"] = undone.get(i)
    rows.sort(key=lambda row: row["new"]["place"])
    pairs = len(common) * (len(common) - 1) // 2
    shared = set(common)
    return {
        **before.statistic.facts(),
        "items": common,
        "moves": rows,
        "moved": sum(row["old"]["place"] != row["new"]["place"] for row in rows),
        "beyond_noise": sum(row["beyond_noise"] for row in rows),
        "turned": round(float(kendall(before.consensus.ranking, after.consensus.ranking)) * pairs),
        "pairs": pairs,
        "only_old": [item for item in old.items if item not in shared],
        "only_new": [item for item in new.items if item not in shared],
        "level": before.level,
        "draws": drawn,
        "intervals": not few,
        "exact": all(one.consensus.status.is_exact for one in (before, after)),
        "status": max((before.status, after.status), key=_ENDS.index),
        "seed": before.seed,
        "old": votes_record(old),
        "new": votes_record(new),
    }


def _margins(votes: Votes, statistic: Statistic, old: Ranking, new: Ranking, clock: Clock) -> dict[int, Record]:
    """Return for items that moved the votes that restore one of their reversed pairs, the closest pairs first."""
    P = votes.pairwise()
    turned = [
        (float(P[b, a]), b, a)
        for a in range(votes.n)
        for b in range(votes.n)
        if old.ranks[a] < old.ranks[b] and new.ranks[b] < new.ranks[a]
    ]
    found: dict[int, Record] = {}
    enough = "sufficient" if votes.is_counts else "upper"
    for _, b, a in sorted(turned)[:_MOST_PAIRS]:
        if clock.over():
            break
        back = attack(votes, statistic, Above(votes.items[a], votes.items[b]), time_limit=clock.time_limit(2))
        margin = amounts(back)
        for item in (a, b):
            known = found.get(item)
            if known is None or _endless(known[enough]) > _endless(margin[enough]):
                found[item] = margin
    return found


def _endless(amount: float | None) -> float:
    return math.inf if amount is None else amount
