"""How few battles change the top of an arena: certified numbers next to those predicted by influence functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from holdrank.attacks.answers import attack
from holdrank.attacks.bradley_terry.battles import Battles
from holdrank.attacks.goals import TopSet
from holdrank.attacks.plans import Progress
from holdrank.errors import UsageError, quote, whole_number
from holdrank.paper.distributions import SEED
from holdrank.paper.influence import Guess, Influence
from holdrank.plots import Data, number
from holdrank.rankings import Ranking
from holdrank.rules.bradley_terry import bradley_terry
from holdrank.rules.consensus import expect_seconds, expect_votes
from holdrank.status import Step
from holdrank.votes.changes import Change
from holdrank.votes.models import Seed, seed_of
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes

TOPS = (1, 3, 5, 10, 20)
CHANGES = (Change.DROP, Change.ADD, Change.REPLACE)
MODELS, BATTLES = 60, 50_000  # of the generated arena

_TIES = 0.15  # share of the generated battles that end in a tie
_UNIT = "battles; null: no number of battles is known to be enough, or influence predicts none"


def generated_arena(*, models: int = MODELS, battles: int = BATTLES, rng: Seed = SEED) -> Votes:
    """Return battles between models of normal strengths, some of which meet much more often than others.

    Examples
    --------
    >>> generated_arena(models=4, battles=90, rng=1)
    Votes(4 items, 90 ballots, ... distinct, unlisted='observed')
    """
    generator = np.random.default_rng(seed_of(rng))
    strength, often = generator.normal(0.0, 1.2, models), generator.gamma(1.5, size=models) + 0.1
    weight = np.triu(np.outer(often, often), 1)
    met = generator.multinomial(battles, (weight / weight.sum()).ravel()).reshape(models, models)
    tied = generator.binomial(met, _TIES)
    won = generator.binomial(met - tied, 1 / (1 + np.exp(strength - strength[:, None])))
    rows, weights = [], []
    for table, ranks in ((won, (1, 2)), (met - tied - won, (2, 1)), (tied, (1, 1))):
        for i, j in np.argwhere(table).tolist():
            ballot = [0] * models
            ballot[i], ballot[j] = ranks
            rows.append(ballot)
            weights.append(float(table[i, j]))
    names = [f"model-{k + 1:0{len(str(models))}d}" for k in range(models)]
    return Votes.from_ranks(rows, weights, names, unlisted="observed")


def arena(
    votes: Votes | PairCounts | None = None,
    *,
    tops: Sequence[int] = TOPS,
    each: Callable[[Data, float], None] | None = None,
    time_limit: float | None = 60.0,
    rng: Seed = SEED,
    progress: Progress | None = None,
) -> Data:
    """Return how few battles change the first k of a ranking by Bradley-Terry: certified, and as influence has it.

    Parameters
    ----------
    votes : Votes or PairCounts, optional
        Battles: votes that compare two items. By default an arena of 60 models and 50,000 battles is generated.
    tops : sequence of int
        The values of k; those that leave no item outside are ignored.
    each : callable, optional
        Called with each row when it is done, and the seconds that it took.
    time_limit : float, optional
        Seconds for all rows. Time that a row does not need goes to those after it.
    rng : int, Generator or None
        Of the generated arena; the seed used is in the data.
    progress : callable, optional
        Called with a `Step` before each row.

    Returns
    -------
    dict
        ``rows`` has a row for each k and each change: drop, add, replace. No change of fewer than ``needed`` battles
        changes the first k; ``sufficient`` battles do, by the better of both attacks. With fewer than
        ``needed_to_tie``, there is not even a tie at the border. ``influence`` is the number of battles that influence
        functions predict, ``influence_works`` whether this choice of battles changes the first k once the strengths are
        fitted again, and ``influence_sufficient`` how many battles of that choice do.

    Raises
    ------
    UsageError
        If votes are not battles, or not whole ones, or there are fewer than two items.

    Notes
    -----
    The same battles give the same data, unless the time limit cuts a row short; its ``status`` says so.
    """
    time_limit = expect_seconds(time_limit)
    wanted = _tops(tops)
    about: Data = {}
    if votes is None:
        about = {"seed": (seed := seed_of(rng))}
        votes = generated_arena(rng=seed)
    counts = _battles(votes)
    before = bradley_terry(counts)
    influence = Influence(Battles.of(counts))
    cases = [(top, change) for top in wanted if top < counts.n for change in CHANGES]
    rows = []
    started = perf_counter()
    for done, (top, change) in enumerate(cases):
        if progress is not None:
            progress(Step(f"top {top}, {change.value}", done, len(cases)))
        began = perf_counter()
        left = None if time_limit is None else max(time_limit - (began - started), 0.0) / (len(cases) - done)
        row = _row(counts, before.ranking, top, change, influence, left)
        rows.append(row)
        if each is not None:
            each(row, perf_counter() - began)
    return {"figure": "arena", **about, "unit": _UNIT, "votes": counts.total, "items": counts.n,
            "time_limit": time_limit, "proof": before.proof, "rows": rows}  # fmt: skip


def _tops(tops: Sequence[int]) -> list[int]:
    found = [whole_number(top) for top in tops]
    for top, asked in zip(found, tops, strict=True):
        if top is None or top < 1:
            raise UsageError(f"k must be a whole number, 1 or more, not {quote(str(asked))}")
    return sorted({top for top in found if top is not None})


def _battles(votes: Votes | PairCounts) -> Votes:
    """Return votes as whole battles between two items each; refuse others."""
    expect_votes(votes, "arena", pairs=True)
    if votes.n < 2:
        raise UsageError("an arena needs at least two items", repair="give battles between at least two items")
    counts = votes.as_votes() if isinstance(votes, PairCounts) else votes.without_scores()
    together = isinstance(votes, PairCounts) and counts.total != votes.total
    largest = int(counts.ballots.listed.max())
    if together or largest > 2 or (not counts.observed and counts.n > 2):
        raise UsageError(
            "an arena needs battles (votes that compare two items); these votes compare more",
            repair="use PairCounts.from_votes(votes).as_votes() if every comparison is to count as a battle",
        )
    if not counts.is_counts:
        raise UsageError("an arena needs whole battles; these votes have shares as weights",
                         repair="give each battle with the number of times it took place")  # fmt: skip
    return counts


def _row(votes: Votes, before: Ranking, top: int, change: Change, influence: Influence, seconds: float | None) -> Data:
    found = attack(votes, bradley_terry, TopSet(top), change=change, time_limit=seconds)
    order = before.order
    pairs = [(b, a) for a in order[:top] for b in order[top:]]
    guess = influence.guess(TopSet(top).aim(before, votes.items), pairs, change)
    sufficient = min(found.votes_sufficient, math.inf if guess.sufficient is None else guess.sufficient)
    proven = found.votes_to_decide == sufficient
    cut = seconds is not None and not proven and found.seconds >= seconds
    return {
        "top": top,
        "change": change.value,
        "needed_to_tie": _whole(found.votes_needed),
        "needed": _whole(found.votes_to_decide),
        "sufficient": _whole(sufficient),
        "needed_share": number(found.votes_to_decide / votes.total),
        "sufficient_share": number(sufficient / votes.total),
        "status": "proven minimum" if proven else "time limit" if cut else "bounds",
        **_guessed(guess, votes.items),
    }


def _guessed(guess: Guess, items: Sequence[str]) -> Data:
    b, a = guess.pair
    return {
        "influence": guess.predicted,
        "influence_works": guess.works,
        "influence_sufficient": guess.sufficient,
        "influence_in": items[b],
        "influence_out": items[a],
    }


def _whole(battles: float) -> int | None:
    return int(battles) if np.isfinite(battles) else None
