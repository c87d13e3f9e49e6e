"""Tables of results rather than votes: columns that are statistics of one another, such as a rating and its quantiles.

Read as votes, every bound, error and count would be a voter. Names reveal most of these tables, and numbers the rest: a
column that ranks another, or three columns of which one always lies midway between the other two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, Message, Option, quote, show
from holdrank.votes.forms.table import Problems, Table
from holdrank.votes.forms.vocabulary import plain

_SURE = {
    "a bound": (
        *("lower", "upper", "lb", "ub", "ci", "cis", "interval", "confidence", "conf", "quantile", "percentile"),
        *("bound", "lowerbound", "upperbound", "lcl", "ucl", "lci", "uci", "cilow", "cihigh", "ciupper", "cilower"),
        *("lwr", "upr", "hdi", "credible", "lowerci", "upperci", "lcb", "ucb", "ci95", "ci90", "ci99"),
        *("q025", "q975", "q05", "q95", "p025", "p975", "2.5%", "97.5%"),
    ),
    "an error": (
        *("std", "stdev", "stddev", "stderr", "sem", "variance", "deviation", "uncertainty", "moe", "±", "+/-"),
        *("stdv", "stderror", "standarderror", "standarddeviation", "iqr", "errorbar"),
    ),
    "a test": ("pvalue", "pval", "pvalues", "significance", "significant", "tstat", "zscore", "qvalue", "fdr"),
    "a count": (
        *("votes", "vote", "votecount", "nvotes", "numvotes", "battles", "numbattles", "nbattles", "games", "ngames"),
        *("numgames", "matches", "nmatches", "nummatches", "comparisons", "appearances", "ballots", "judgments"),
        *("judgements", "samplesize", "nobs", "observations", "evals", "evaluations", "wincount"),
    ),
}
"""Words that are never names of tasks or voters: one column of such a name is enough."""
_LIKELY = {
    "a bound": ("low", "high", "lo", "hi", "min", "max", "minimum", "maximum"),
    "an error": ("sd", "se", "var", "sigma", "rd", "err", "error", "margin", "dev", "spread"),
    "a test": ("p",),
    "a count": (
        *("n", "count", "counts", "total", "totals", "wins", "losses", "draws", "ties", "won", "lost", "drawn"),
        *("played", "num", "samples", "trials", "rounds", "win", "loss", "tie", "defeats"),
    ),
    "a place": ("rank", "ranking", "ranks", "place", "position", "pos", "standing", "rk"),
    "a mean": ("mean", "avg", "average"),
    "a median": ("median",),
    "an estimate": (
        *("rating", "ratings", "elo", "score", "scores", "mu", "estimate", "est", "strength", "winrate", "winrates"),
        *("points", "pts", "skill", "glicko", "trueskill", "bt", "coefficient", "coef", "rate", "percentage", "pct"),
        *("overall", "value", "elorating", "arenascore", "arenaelo", "logit"),
    ),
}
"""Words that may be names of tasks or voters: two types of them together are statistics."""
_OF_ITSELF = ("a place", "a mean", "a median", "an estimate")
"""Kinds that other statistics are taken of."""
_NEUTRAL = frozenset(
    {
        *(
            "arena",
            "model",
            "number",
            "of",
            "the",
            "bootstrap",
            "bootstrapped",
            "estimated",
            "final",
            "adjusted",
            "adj",
        ),
        *("raw", "style", "control", "controlled", "global", "mle", "ols", "expected", "standard", "and", "in", "per"),
        *("limit", "level", "band", "stat", "statistic", "sample", "size", "effect", "difference", "diff", "delta"),
        *("1", "2", "5", "10", "20", "25", "50", "75", "80", "90", "95", "97", "99", "975", "025", "05", "2.5", "97.5"),
    }
)
"""Words that prove nothing alone."""
_KIND = {
    word: (kind, sure) for sure, kinds in ((False, _LIKELY), (True, _SURE)) for kind in kinds for word in kinds[kind]
}
_WORD = re.compile(r"±|\+/-|[0-9]+(?:\.[0-9]+)?(?:st|nd|rd|th)?%?|[^\W\d_]+[0-9]*")
_QUANTILE = re.compile(r"(?:[qp]|pct|perc|pc)[0-9]{1,3}|[0-9]{1,2}(?:\.[0-9])?(?:th|st|nd|rd|%)")
_JOINED = (
    ("win rate", "winrate"),
    ("error rate", "errorrate"),
    ("standard error", "stderror"),
    ("p value", "pvalue"),
    ("sample size", "samplesize"),
)
_FEW_COLUMNS = 8  # beyond, tasks are so many that some agree by chance
_LEAST_ROWS = 4


@dataclass(frozen=True, slots=True)
class _Statistic:
    """The meaning of a column name: the type of statistic, how certain it is, and its subject."""

    kind: str
    sure: bool
    stem: tuple[str, ...]
    bare: bool


def refuse_statistics(table: Table, used: Sequence[int], force: Message) -> None:
    """Refuse a table whose columns in use are statistics of one another; `force` says how to read it anyway."""
    names = [table.names[k] for k in used]
    told = by_name(names)
    if told is not None:
        raise _refusal(table, used[told[0]], told[1], [used[told[0]]], force)
    numeric = [k for k in used if table.is_numeric(k)]
    if len(numeric) > _FEW_COLUMNS or table.rows < _LEAST_ROWS:
        return
    values = [_numbers(table, k) for k in numeric]
    found = next(_by_numbers(values), None)
    if found is not None:
        mine, others, says = found
        of = " and ".join(quote(table.label(numeric[k]), 40) for k in others)
        raise _refusal(table, numeric[mine], f"{says} {of}", [numeric[k] for k in (mine, *others)], force)


def refuse_statistics_of_names(table: Table, column: int, names: Sequence[str], force: Message) -> None:
    """Refuse a table whose rows, or whose voters, have the names of statistics."""
    told = by_name(list(dict.fromkeys(names)), few=2)
    if told is not None:
        raise _refusal(table, column, told[1], [column], force)


def by_name(names: Sequence[str], few: int = 1) -> tuple[int, str] | None:
    """Return the first column whose name makes it a statistic of others, and what it says; None if there is none.

    At least `few` of the names must be those of statistics.

    Examples
    --------
    >>> by_name(["rating", "rating_q025"])
    (1, "'rating_q025' is a bound of 'rating'")
    >>> by_name(["Elo", "Votes"]), by_name(["MMLU", "Average"])
    ((1, "'Votes' is a count"), None)
    """
    words = [_words(name) for name in names]
    found = {k: statistic for k, word in enumerate(words) if (statistic := _statistic(word)) is not None}
    if len(found) < few:
        return None
    for k, statistic in found.items():
        whole = next((j for j, word in enumerate(words) if j != k and word and word == statistic.stem), None)
        twin = next(
            (j for j, other in found.items() if j != k and statistic.stem and other.stem == statistic.stem), None
        )
        if whole is not None and statistic.kind not in _OF_ITSELF:
            return k, f"{quote(names[k], 40)} is {statistic.kind} of {quote(names[whole], 40)}"
        if twin is not None and {statistic.kind, found[twin].kind} <= {"a bound", "an error"}:
            return k, f"{quote(names[k], 40)} and {quote(names[twin], 40)} are bounds or errors of one number"
    for k, statistic in found.items():
        if statistic.sure and (statistic.bare or statistic.kind in ("an error", "a test")):
            return k, f"{quote(names[k], 40)} is {statistic.kind}"
    bare = [(k, statistic.kind) for k, statistic in found.items() if statistic.bare]
    for (j, one), (k, other) in combinations(bare, 2):
        if one != other or one == "a count":
            return k, f"{quote(names[j], 40)} is {one} and {quote(names[k], 40)} is {other}"
    return None


def _words(name: str) -> tuple[str, ...]:
    text = plain(name).replace("_", " ")
    for apart, joined in _JOINED:
        text = text.replace(apart, joined)
    return tuple(part for word in _WORD.findall(text) for part in _halves(word))


def _halves(word: str) -> tuple[str, ...]:
    """Return the two words of statistics that one was written as, such as RATINGLOWER; else the word."""
    if word not in _KIND:
        for cut in range(3, len(word) - 2):
            if word[:cut] in _KIND and _KIND.get(word[cut:], ("", False))[1]:
                return word[:cut], word[cut:]
    return (word,)


def _statistic(words: tuple[str, ...]) -> _Statistic | None:
    """Return what the words of a name say; None if they are not, at their beginning or end, those of a statistic."""
    kinds = [_KIND.get(word) or (("a bound", False) if _QUANTILE.fullmatch(word) else None) for word in words]
    told = [kind for kind in kinds if kind is not None]
    foreign = any(kind is None and word not in _NEUTRAL for word, kind in zip(words, kinds, strict=True))
    derived = [kind for kind in told if kind[0] not in _OF_ITSELF]
    if not derived:
        return _Statistic(told[0][0], False, (), bare=True) if told and not foreign else None
    ends = {kinds[0], kinds[-1]}
    if foreign and not ends & set(derived):
        return None
    stem = tuple(
        word
        for word, kind in zip(words, kinds, strict=True)
        if (kind is None and word not in _NEUTRAL) or (kind is not None and kind[0] in _OF_ITSELF)
    )
    kind, sure = max(derived, key=lambda pair: pair[1])
    # A question may be called q10, and a participant p5: they are bounds only next to the column of which they are
    # quantiles.
    lone = len(words) == 1 and words[0] not in _KIND
    return _Statistic(kind, sure or (bool(stem) and not foreign), stem, bare=not foreign and not lone)


def _numbers(table: Table, column: int) -> NDArray[np.float64]:
    return table.numbers(column, Problems(strict=False))


def _by_numbers(values: Sequence[NDArray[np.float64]]) -> Iterator[tuple[int, tuple[int, ...], str]]:
    """Yield columns that number the order of another, or are bounds around another, by their numbers alone."""
    sound = [k for k, column in enumerate(values) if np.isfinite(column).all()]
    for k, j in permutations(sound, 2):
        if _numbers_order(values[k], values[j]):
            yield k, (j,), "the numbers are the places by"
    for trio in combinations(sound, 3):
        low, middle, high = sorted(trio, key=lambda k: float(values[k].sum()))
        if _is_bounded(values[low], values[middle], values[high]):
            yield low, (middle, high), "the numbers are, on every row, as far below as above:"


def _numbers_order(ranks: NDArray[np.float64], values: NDArray[np.float64]) -> bool:
    """Whether a column numbers the rows 1, 2, … by another column, ties in any usual way."""
    if ranks.min() != 1 or (ranks % 1 != 0).any() or ranks.max() > len(ranks) or len(np.unique(values)) < _LEAST_ROWS:
        return False
    if (values % 1 == 0).all() and values.max() <= len(values):
        return False  # ranks next to ranks: another check handles those
    for column in (values, -values):
        order = np.argsort(column, kind="stable")
        by_value, by_rank = column[order], ranks[order]
        steps = np.diff(by_rank)
        if (steps >= 0).all() and (steps[np.diff(by_value) == 0] <= 1).all() and len(np.unique(ranks)) > len(ranks) / 2:
            return True
    return False


def _is_bounded(low: NDArray[np.float64], middle: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
    """Whether a column lies about midway between two others on every row, and near them for its own range."""
    below, above = middle - low, high - middle
    if (below <= 0).any() or (above <= 0).any() or not np.ptp(middle):
        return False
    narrow = bool(np.median(high - low) <= np.ptp(middle) / 2)
    exact = bool(np.allclose(below, above, rtol=0.02))
    alike = bool((np.maximum(below, above) <= 2 * np.minimum(below, above)).all())
    return (narrow and alike and len(low) > _LEAST_ROWS) or (exact and (narrow or len(low) > _LEAST_ROWS))


def _refusal(table: Table, column: int, says: str, shown: Sequence[int], force: Message) -> InputError:
    first = ", ".join(show(table.names[k], 40) for k in shown[:3])
    return table.fault(
        f"these are results, not votes: {says}",
        "votes: battles, ballots, or one score per task or voter",
        Message("read the votes behind this table, or ", force),
        column=column,
        found=first,
    )


def force_columns(format: str) -> Message:
    """Return how to read the table anyway: by naming columns, or by setting a format."""
    return Message("name the voter columns with ", Option("columns"), ", or set ", Option("format", format))
