"""Check results independently of the engines that found them: `verify`, and `fulfils` for votes after an attack."""

from __future__ import annotations

from typing import overload

from holdrank.analysis.result import Analysis
from holdrank.attacks import answers
from holdrank.attacks.goals import Goal
from holdrank.attacks.results import Attack, Breakdown
from holdrank.errors import UsageError
from holdrank.proofs.recorded.analysis import analysis_checks
from holdrank.proofs.results import result_checks
from holdrank.proofs.statistics import LISTED, Exactly, known_base
from holdrank.proofs.verdicts import REST, Verdict, in_time
from holdrank.rankings import Ranking
from holdrank.rules.consensus import Consensus, Statistic
from holdrank.rules.merges import settled
from holdrank.status import Clock
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes


@overload
def verify(
    votes: Votes | PairCounts,
    T: Statistic,
    result: Consensus | Attack | Breakdown,
    *,
    time_limit: float | None = None,
) -> Verdict: ...
@overload
def verify(votes: Votes | PairCounts, T: Analysis, *, time_limit: float | None = None) -> Verdict: ...
def verify(
    votes: Votes | PairCounts,
    T: Statistic | Analysis,
    result: Consensus | Attack | Breakdown | None = None,
    *,
    time_limit: float | None = None,
) -> Verdict:
    """Check every number of a result by independent means.

    Parameters
    ----------
    votes : Votes or PairCounts
        The votes before any attack; pair counts for `bradley_terry` on battles only.
    T : Statistic or Analysis
        The statistic of the result; an analysis needs nothing else.
    result : Consensus, Attack or Breakdown
        The result of `T` on `votes`.
    time_limit : float, optional
        Time limit in seconds; statements not checked by then, or at Ctrl-C, are open.

    Returns
    -------
    Verdict
        Each statement proved, refuted or open.

    Notes
    -----
    A second implementation checks results in whole numbers and fractions, from the definitions, without trusting a
    solver. It proves consensus rankings of up to 16 items, and Kemeny rankings of up to 150 items if weights on cycles
    of three prove them. It proves lower bounds for up to 6 items, and for more by single pairs: every ranking that
    reaches the goal is proven to cost as much as claimed (`holdrank.proofs`). Strengths of `bradley_terry` are enclosed
    by floating-point bounds that are rounded outward; lower bounds on battles are proved for up to 120 items. A verdict
    is "proved" only if every number is checked and lower and upper bounds meet; times are not statements. Results at an
    "auto" threshold are checked at that threshold; the check does not prove that the threshold is the best.

    Examples
    --------
    >>> from holdrank import NewWinner, attack, kemeny
    >>> votes = Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 2])
    >>> print(verify(votes, kemeny, attack(votes, kemeny, NewWinner())).text())
    proved   a > b is the consensus by kemeny, the only one
    proved   another winner takes at least 10 % of the votes
    proved   at least 1 vote is needed for another winner
    proved   the attack for another winner reaches it, and takes 10 %
    proved   1 vote is enough for another winner, as the attack shows
    proved   b > a is the consensus by kemeny, the only one
    """
    if isinstance(T, Analysis):
        if result is not None:
            raise UsageError("verify takes votes and an analysis, or votes, a statistic and a result of it")
        if isinstance(votes, PairCounts):
            raise UsageError("verify takes the votes of an analysis, not counts of pairs", repair="give the votes")
        with Clock(time_limit) as clock:
            return Verdict(tuple(dict.fromkeys(analysis_checks(votes, T, clock))))  # a claim may be a gap too
    T = settled(T, votes)
    votes = answers.votes_of(votes, T)
    T = answers.checked(votes, T)
    if not isinstance(result, Consensus | Attack | Breakdown):
        raise UsageError(
            f"verify takes a Consensus, an Attack, a Breakdown or an Analysis, not {type(result).__name__}",
            repair="for votes after an attack, use fulfils(votes, T, attacked, goal)",
        )
    with Clock(time_limit) as clock:
        return Verdict(tuple(in_time(result_checks(votes, T, result), clock, REST)))


def fulfils(votes: Votes, T: Statistic, attacked: Votes, goal: Goal) -> bool:
    """Return whether the consensus of attacked votes fulfils a goal set for the consensus of the votes.

    If several rankings are optimal, all must fulfil it; otherwise the answer is False, because another way of breaking
    ties might undo the attack. Up to 7 items are checked in whole numbers, by the second implementation of `verify`;
    more by running `T`.

    Parameters
    ----------
    votes : Votes
        The votes before the attack.
    T : Statistic
    attacked : Votes
        The votes after the attack, with the same items in the same order.
    goal : Goal

    Examples
    --------
    >>> from holdrank import NewWinner, kemeny
    >>> votes = Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 2])
    >>> fulfils(votes, kemeny, votes.with_weights([2, 3]), NewWinner())
    True
    """
    T = answers.checked(votes, T)
    answers.check_goal(goal, T)
    if not isinstance(attacked, Votes):
        raise UsageError(f"the attacked votes must be Votes, not {type(attacked).__name__}")
    if attacked.items != votes.items:
        raise UsageError("the attacked votes must have the same items in the same order as the votes")
    checker = Exactly(votes, T)
    if votes.n > LISTED or checker.base is None or known_base(T, attacked) != checker.base:
        return answers.fulfils(votes, T, attacked, goal)
    aim = goal.aim(Ranking(checker.consensus()), votes.items)
    found = checker.outcomes(checker.exactly(attacked), counts=attacked.is_counts)
    return all(aim.reached(Ranking(outcome)) for outcome in found)
