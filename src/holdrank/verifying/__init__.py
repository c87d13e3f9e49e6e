"""Check what was found without whoever found it: `verify`, in exact arithmetic, for attacks, bounds and analyses."""

from __future__ import annotations

from typing import overload

from holdrank.analysis import Analysis
from holdrank.breaking import answers
from holdrank.breaking.goals import Goal
from holdrank.breaking.results import Attack, Breakdown
from holdrank.consensus import Consensus, Statistic
from holdrank.errors import UsageError
from holdrank.rankings import Ranking
from holdrank.verifying.recorded import analysis_checks
from holdrank.verifying.statements import result_checks
from holdrank.verifying.statistics import LISTED, Exactly, known_base
from holdrank.verifying.verdicts import Verdict
from holdrank.votes import Votes


@overload
def verify(votes: Votes, T: Statistic, attacked: Votes, goal: Goal) -> bool: ...
@overload
def verify(votes: Votes, T: Statistic, result: Consensus | Attack | Breakdown, /) -> Verdict: ...
@overload
def verify(votes: Votes, result: Analysis, /) -> Verdict: ...
def verify(votes, T, attacked=None, goal=None):  # type: ignore[no-untyped-def]
    """Check a result again, by other means than those that found it.

    Parameters
    ----------
    votes : Votes
        The votes as they were before any attack.
    T : Statistic or Analysis
        The statistic of the result; an analysis needs nothing else.
    attacked : Votes, Consensus, Attack or Breakdown
        Votes after an attack, with the goal that they should fulfil; or a result of `T` on `votes`.
    goal : Goal
        For votes after an attack.

    Returns
    -------
    bool or Verdict
        For votes after an attack, whether their consensus fulfils the goal set for the consensus of the votes. Where
        several rankings are optimal all must fulfil it, or the answer is False: another rule for ties might undo the
        attack. For results and analyses, a verdict on every number in them.

    Notes
    -----
    Results are checked in whole numbers and fractions by a second implementation, from the definitions; no solver is
    trusted. Consensus rankings are proved for up to 16 items, lower bounds for up to 6: every ranking that reaches the
    goal gets a proof that it costs as much as claimed (`holdrank.proofs`). A verdict is "proved" only if every number
    is checked and every gap between a lower and an upper number is closed; times are no statements. What was computed
    with a threshold chosen by "auto" is checked at that threshold, not that it is the best. Votes after an attack of
    more than 7 items are judged by running the statistic again.

    Examples
    --------
    >>> from holdrank import NewWinner, attack, kemeny
    >>> votes = Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 2])
    >>> verify(votes, kemeny, Votes.from_orders([["a", "b"], ["b", "a"]], weights=[2, 3]), NewWinner())
    True
    >>> print(verify(votes, kemeny, attack(votes, kemeny, NewWinner())).text())
    proved   a > b is the consensus by kemeny, the only one
    proved   another winner takes at least 10 % of the votes
    proved   at least 1 vote is needed for another winner
    proved   the attack for another winner reaches it, and takes 10 %
    proved   1 vote is enough for another winner, as the attack shows
    proved   b > a is the consensus by kemeny, the only one
    """
    if isinstance(T, Analysis):
        if attacked is not None or goal is not None:
            raise UsageError("verify takes votes and an analysis, or votes, a statistic and a result of it")
        return Verdict(tuple(dict.fromkeys(analysis_checks(votes, T))))  # a claim may be a gap as well
    T = answers.checked(votes, T, None)
    if isinstance(attacked, Consensus | Attack | Breakdown):
        return Verdict(tuple(result_checks(votes, T, attacked)))
    answers.check_goal(goal)
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
