"""What to analyse, checked before anything is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from holdrank.errors import UsageError, quote, real_number, whole_number
from holdrank.rules.consensus import expect_seconds, kemeny
from holdrank.rules.merges import Merge, Robust
from holdrank.rules.registry import AUTO, expect_rule
from holdrank.status import DRAWS, REPORT_SECONDS

BUDGET = 0.01  # default share of the votes that an adversary may change
CURVE_ITEMS = 8  # up to here a curve has every distance
_FAR = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)  # else these, and one pair


@dataclass(frozen=True, slots=True)
class Spec:
    """What to analyse.

    Parameters
    ----------
    rule : {"auto", "kemeny", "borda", "footrule", "copeland", "bradley-terry", "mean-score"}
        "auto" is Bradley-Terry for battles, and Kemeny for all other votes.
    theta : float, "auto" or None
        Threshold of the tiers; "auto" ties items that differ by no more than chance, None gives no tiers.
    merge : {"downward", "naive", "smith"}
    k : int or None
        Number of places at the cut: which items are safely in the top k, safely out, or undecided.
    claims : tuple of str
        Claims to test: "X wins", "A above B" or "top 3".
    budget : float or None
        Share of the votes that an adversary may change, for reachable places and for the cut. None means 1 %; for
        places it means the number of votes of the attack on the first place, if that is smaller.
    draws : int
        Bootstrap samples; 0 for none.
    seed : int
        Seed of the bootstrap.
    by : str or None
        Column of independent units: all votes of a voter, task or category then count as one unit.
    time_limit : float or None
        Time limit for all steps together, in seconds.
    """

    rule: str = AUTO
    _: KW_ONLY
    theta: float | Literal["auto"] | None = "auto"
    merge: Merge = "downward"
    k: int | None = None
    claims: tuple[str, ...] = ()
    budget: float | None = None
    draws: int = DRAWS
    seed: int = 0
    by: str | None = None
    time_limit: float | None = REPORT_SECONDS

    def __post_init__(self) -> None:
        expect_rule(self.rule)
        plain: dict[str, object] = {"claims": tuple(self.claims)}
        if self.theta is not None:
            # Refuses invalid thresholds and merges.
            plain["theta"] = Robust(kemeny, self.theta, merge=self.merge).theta
        if not isinstance(self.by, str | None):
            raise UsageError(f"by must be the name of a column, not {quote(str(self.by))}")
        for name, least in (("k", 1), ("draws", 0), ("seed", 0)):
            value = getattr(self, name)
            plain[name] = number = whole_number(value)
            if (number is None or number < least) and not (name == "k" and value is None):
                raise UsageError(f"{name} must be a whole number, {least} or more, not {quote(str(value))}")
        plain["budget"] = budget = None if self.budget is None else real_number(self.budget)
        if self.budget is not None and (budget is None or not 0 < budget < 1):
            raise UsageError(f"budget must be a share of the votes between 0 and 1, not {quote(str(self.budget))}")
        seconds = expect_seconds(self.time_limit)
        plain["time_limit"] = None if seconds == math.inf else seconds
        for name, value in plain.items():  # numbers may be numpy's, and the record holds Python's
            object.__setattr__(self, name, value)


def cut_budget(budget: float | None) -> float:
    """Return the share of the votes that an adversary may change at the cut."""
    return BUDGET if budget is None else budget


def reach_budget(budget: float | None, attack: Mapping[str, Any] | None, total: float) -> float:
    """Return the share of the votes that an adversary may change to move items.

    Parameters
    ----------
    budget : float or None
        Of the `Spec`.
    attack : mapping or None
        The record of the attack on the first place.
    total : float
        All votes.

    Examples
    --------
    >>> reach_budget(0.2, None, 500), reach_budget(None, {"upper": 0.003, "sufficient": 2}, 500)
    (0.2, 0.004)
    >>> reach_budget(None, None, 500), reach_budget(None, {"upper": 0.004, "sufficient": None}, 1.0)
    (0.01, 0.004)
    """
    if budget is not None:
        return budget
    if attack is None:
        return BUDGET
    enough = attack["upper"] if attack["sufficient"] is None else attack["sufficient"] / total
    return float(min(enough, BUDGET)) if enough else BUDGET


def curve_distances(n: int) -> list[float]:
    """Return the distances of the curves of an analysis of `n` items: all for few items, else some."""
    pairs = n * (n - 1) // 2
    if n <= CURVE_ITEMS:
        return [k / pairs for k in range(1, pairs + 1)]
    return sorted({1 / pairs, *(max(far, 1 / pairs) for far in _FAR)})
