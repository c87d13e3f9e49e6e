"""The registry of rules: one entry holds everything that the rest of the package needs to know about a rule.

No other module checks which rule it has; it checks what the rule can do. The entry of a user-defined rule may be just
its name and its function. Upper rooms add what they can do for a rule (attacks, fast bootstraps, proofs) to its entry
with `equip`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from holdrank.errors import LimitError, UsageError, quote
from holdrank.rankings import Floats, Ranking, footrule_maximum
from holdrank.rules.bradley_terry import (
    bradley_terry,
    bradley_terry_of_wins,
    bradley_terry_probabilities,
    bradley_terry_ties,
    bradley_terry_without_each,
)
from holdrank.rules.consensus import (
    Consensus,
    Statistic,
    borda,
    borda_ties,
    expect_votes,
    footrule,
    footrule_optima,
    kemeny,
    kemeny_optima,
    name_of,
)
from holdrank.rules.medians import Median, median_optima
from holdrank.rules.metrics import distances
from holdrank.rules.scores import copeland, copeland_ties, mean_score, tied_by_mean_score
from holdrank.status import Status, Step
from holdrank.votes.counting import Distance
from holdrank.votes.memo import keep, recall
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes
from holdrank.votes.wins import pair_shares

Needs: TypeAlias = Literal["pairs", "places", "scores", "ballots"]
Symmetry: TypeAlias = Literal["always", "complete", "no"]
Progress: TypeAlias = Callable[[Step], None]

_PROVED = "kemeny"  # what votes keep: their Kemeny consensus, once it is proved


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The entry of a rule. All fields but the first two are optional.

    Attributes
    ----------
    name : str
        As in ``holdrank rank --rule NAME`` and in records.
    function : Statistic
        The rule itself: votes in, `Consensus` out.
    needs : {"pairs", "places", "scores", "ballots"}
        What it uses: pairwise counts, places of items, the voters' scores, or anything.
    is_strict : bool
        Whether it never ties two items.
    median_of : str or None
        The distance that it minimises.
    majorities_first : bool
        Whether items that beat all others by a majority always stand before them.
    symmetric : {"always", "complete", "no"}
        Whether reversed votes give the reversed consensus: always, or where every ballot compares every pair.
    timed : callable or None
        The same with a time limit in seconds and a callable for progress as further arguments.
    tied : callable or None
        For rules that sort by a score: the items of the votes, tied where their scores are equal.
    optima : callable or None
        For medians: every ranking as good as the consensus; None where there are more than a given number.
    one_ballot : callable or None
        The most by which one ballot of n items prefers one outcome to another: pairs, places or points.
    probabilities : callable or None
        For rules with a model: the probability that each item ranks above each other, from the pairwise wins and the
        number of votes. Tiers then merge by the model; with None, by the shares of the votes.
    of_pairs : bool
        Whether it accepts `PairCounts` instead of votes, and then gives the same ranking.
    of_wins : callable or None
        The rankings of many matrices of pairwise wins at once, each with its number of votes, near those of a given
        one: faster than one by one.
    without_each : callable or None
        The rankings of the other items when each item leaves, many at once: faster than one by one.
    twin : str
        The name of a rule with the same rankings where every ballot compares every pair.
    estimate, separates : callable or None
        The uncertainty of its order: for rules that sort by a score, the score with its covariance, from votes and
        their groups; for pairwise rules, which items come before which for all margins above given bounds.
    engine, hints, draws, proof : optional
        What attacks, the search for attacks, the bootstrap and proofs add.
    """

    name: str
    function: Statistic
    needs: Needs = "ballots"
    is_strict: bool = False
    median_of: Distance | None = None
    majorities_first: bool = False
    symmetric: Symmetry = "no"
    timed: Callable[[Votes, float | None, Progress | None], Consensus] | None = None
    tied: Callable[[Votes], Ranking] | None = None
    optima: Callable[[Votes, int], list[Ranking] | None] | None = None
    one_ballot: Callable[[int], int] | None = None
    probabilities: Callable[[Floats, float], Floats] | None = None
    of_pairs: bool = False
    of_wins: Callable[[Floats, Floats, tuple[Floats, float]], Iterator[Ranking]] | None = None
    without_each: Callable[[Votes | PairCounts], Iterator[Ranking]] | None = None
    twin: str = ""
    estimate: Any = None
    separates: Any = None
    engine: Any = None
    hints: Any = None
    draws: Any = None
    proof: Any = None

    def run(self, votes: Votes, time_limit: float | None, progress: Progress | None = None) -> Consensus:
        """Return the consensus, within the time limit if the rule can be given one."""
        return self.function(votes) if self.timed is None else self.timed(votes, time_limit, progress)

    def pairwise(self, wins: Floats, total: float) -> Floats:
        """Return the matrix P that tiers of this rule are merged by, from pairwise wins and the number of votes."""
        return pair_shares(wins) if self.probabilities is None else self.probabilities(wins, total)

    def is_symmetric(self, votes: Votes) -> bool:
        """Whether these votes, and all that an attack may make of them, give the reversed consensus when reversed."""
        return self.symmetric == "always" or (self.symmetric == "complete" and votes.compares_all)

    def on(self, votes: Votes) -> Rule:
        """Return an equivalent rule for these votes and all that an attack may make of them; usually itself."""
        return _rules[self.twin] if self.twin and votes.compares_all else self


def _kemeny_once(votes: Votes, time_limit: float | None, progress: Progress | None) -> Consensus:
    """Return Kemeny's consensus, which votes keep once it is proved: each attack, interval or curve begins with it."""
    found: Consensus | None = recall(votes, _PROVED)
    if found is None:
        found = kemeny(votes, time_limit=time_limit, progress=progress)
        if found.status is Status.PROVED:
            keep(votes, _PROVED, found)
    return found


def _kemeny_optima(votes: Votes, most: int) -> list[Ranking] | None:
    try:
        return kemeny_optima(votes, most=most)
    except LimitError:
        return None


_ENTRIES = (
    Rule(
        name="kemeny",
        function=kemeny,
        needs="pairs",
        is_strict=True,
        median_of="kendall",
        majorities_first=True,
        symmetric="always",
        timed=_kemeny_once,
        optima=_kemeny_optima,
        one_ballot=lambda n: n * (n - 1) // 2,
        of_pairs=True,
    ),
    Rule(
        name="borda",
        function=borda,
        needs="places",
        is_strict=True,
        median_of="spearman_rho",
        symmetric="complete",
        tied=borda_ties,
        one_ballot=lambda n: n - 1,
        of_pairs=True,
    ),
    Rule(
        name="footrule",
        function=footrule,
        needs="places",
        is_strict=True,
        median_of="footrule",
        symmetric="complete",
        optima=footrule_optima,
        one_ballot=footrule_maximum,
    ),
    Rule(
        name="copeland",
        function=copeland,
        needs="pairs",
        is_strict=True,
        majorities_first=True,
        tied=copeland_ties,
        of_pairs=True,
    ),
    Rule(
        name="bradley-terry",
        function=bradley_terry,
        needs="pairs",
        is_strict=True,
        symmetric="always",
        tied=bradley_terry_ties,
        probabilities=bradley_terry_probabilities,
        of_pairs=True,
        of_wins=bradley_terry_of_wins,
        without_each=bradley_terry_without_each,
        twin="borda",  # both then sort by pairwise wins
    ),
    Rule(name="mean-score", function=mean_score, needs="scores", is_strict=True, tied=tied_by_mean_score),
)

_rules = {rule.name: rule for rule in _ENTRIES}

AUTO = "auto"  # the name for whichever rule suits the votes


def auto(votes: Votes | PairCounts) -> Consensus:
    """Return the consensus by `bradley_terry` for battles, and by `kemeny` for all other votes.

    Votes are battles if each ballot compares two items and ignores the others: those of `Votes.from_battles`, of files
    of battles, games or wins, and orders of two items under ``unlisted="observed"``. Votes with scores, or with a
    single longer ballot, are not battles. Neither are matrices of the linear ordering problem.

    In attacks, ``auto`` is the rule for the votes before the attack.

    Examples
    --------
    >>> battles = [["a", "b"]] * 6 + [["b", "a"]] * 5 + [["b", "c"]] * 9 + [["c", "b"]] + [["a", "c"], ["c", "a"]]
    >>> auto(Votes.from_orders(battles, unlisted="observed")).has_ratings
    True
    >>> auto(Votes.from_orders([["a", "b", "c"], ["b", "a"]])).status.value
    'proven optimal'
    """
    expect_votes(votes, "auto", pairs=True)
    return rule_for(AUTO, votes).function(votes)  # type: ignore[arg-type]


def rule_for(name: str, *votes: Votes | PairCounts) -> Rule:
    """Return the rule of this name; for "auto", the one for the votes, or for several votes together.

    Bradley-Terry suits battles: most pairs never meet, so many orders are equally good for Kemeny. It accepts any
    battles: thanks to the ridge it also ranks items that win all their battles, and groups that no battle connects.
    """
    if name != AUTO:
        return rule_named(name)
    return _rules["bradley-terry" if all(map(_are_battles, votes)) else "kemeny"]


def _are_battles(votes: Votes | PairCounts) -> bool:
    scored = isinstance(votes, Votes) and votes.ballots.has_scores
    ordering = votes.reading.format == "lolib"  # weights of a problem that asks for Kemeny's order
    return votes.compares_two and not scored and not ordering


def statistic_named(name: str) -> Statistic:
    """Return the function behind the name of a rule, `auto` for "auto"."""
    return auto if name == AUTO else rule_named(name).function


def suited(T: Statistic, *votes: Any) -> Statistic:
    """Return the rule behind a statistic: for `auto` the one for these votes, else itself."""
    known = all(isinstance(one, Votes | PairCounts) for one in votes)
    return rule_for(AUTO, *votes).function if T is auto and known else T


def _median_entry(T: Median) -> Rule:
    def one_ballot(n: int) -> int:
        # In units of one whole number; where distances are none, no unit is known.
        return max(int(distances(T.metric, n).largest), 1)

    whole = T.metric.function is None and not T.metric.matrix and not T.metric.weights
    return Rule(
        name=T.__name__,
        function=T,
        needs="places",
        is_strict=True,
        optima=lambda votes, most: median_optima(votes, T, most),
        one_ballot=one_ballot if whole else None,
    )


# Statistics of which there are as many as there are parameters: how to make the entry of one.
_families: dict[type, Callable[[Any], Rule]] = {Median: _median_entry}
_family_parts: dict[type, dict[str, Callable[[Any], Any]]] = {Median: {}}


def register(rule: Rule) -> None:
    """Register a rule, so that it can be selected by its name like any other."""
    if rule.name in (AUTO, *_rules):
        raise UsageError(f"a rule {quote(rule.name)} already exists")
    _rules[rule.name] = rule


def forget(name: str) -> None:
    """Remove a rule."""
    del _rules[name]


def equip(name: str, **parts: Any) -> None:
    """Add to the entry of a rule what an upper room can do for it."""
    _rules[name] = replace(_rules[name], **parts)


def equip_family(kind: type, **parts: Callable[[Any], Any]) -> None:
    """Add to the entries of all statistics of a class what an upper room can do for each."""
    _family_parts[kind] |= parts


def rules() -> tuple[Rule, ...]:
    """Return all rules."""
    return tuple(_rules.values())


def rule_named(name: str) -> Rule:
    """Return the rule of this name."""
    expect_rule(name)
    if name == AUTO:
        raise UsageError("the rule 'auto' depends on the votes", repair="name a rule")
    return _rules[name]


def expect_rule(name: object) -> None:
    """Refuse any name other than "auto" or that of a rule."""
    if name not in (known := (AUTO, *_rules)):
        raise UsageError(f"rule must be one of {', '.join(known)}, not {quote(str(name))}")


def rule_of(T: Statistic) -> Rule:
    """Return the entry of a rule; for an unregistered statistic, an entry with only its name."""
    known = next((rule for rule in _rules.values() if rule.function is T), None)
    if type(T) in _families:
        parts = {name: part(T) for name, part in _family_parts[type(T)].items()}
        return replace(_families[type(T)](T), **parts)
    return known or Rule(name=name_of(T), function=T)
