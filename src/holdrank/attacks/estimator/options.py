"""The constants of the paper's estimator, each with its origin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from holdrank.errors import UsageError, quote, real_number, whole_number

Parametrisation: TypeAlias = Literal["softplus", "softmax"]
Scored: TypeAlias = Literal["shares", "parameters"]
Unit: TypeAlias = Literal["pairs", "shares"]

_CHOICES = {
    "parametrisation": ("softplus", "softmax"),
    "scored": ("shares", "parameters"),
    "unit": ("pairs", "shares"),
}
_WHOLE = {"steps": 1, "schedule": 1, "gradient_draws": 1, "value_draws": 1, "patience": 0}  # the least of each
_RANGES: dict[str, tuple[Callable[[float], bool], str]] = {
    **dict.fromkeys(
        ("weight", "gradient_variance", "value_variance", "rate", "multiplier_rate"),
        (lambda x: x > 0, "be a number above 0"),
    ),
    **dict.fromkeys(("multiplier", "slack"), (lambda x: x >= 0, "be 0 or more")),
    **dict.fromkeys(("momentum", "multiplier_momentum"), (lambda x: 0 <= x < 1, "be at least 0 and below 1")),
    "last": (lambda x: 0 < x <= 1, "be a number above 0 and at most 1"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperOptions:
    """The constants of ``breakdown(..., method="paper")``.

    The paper's text fixes the outline: a Lagrangian, noise, Monte-Carlo values and gradients, descent and ascent at
    once, and the average of the iterates. It gives no number. The numbers here are those of the authors' public code,
    unless an entry says otherwise.

    Attributes
    ----------
    steps : int
        Number of steps. The authors' code leaves it to the caller; its step sizes fall over 30,000.
    parametrisation : {"softplus", "softmax"}
        How parameters x become shares: softplus(x) or exp(x), divided by their sum. The text suggests softmax, the
        authors' code has softplus.
    start : tuple of float
        The first parameters are independent and uniform between these two. Not in the text.
    weight : float
        Weight of the L1 norm between the votes and the iterate in the Lagrangian: 1 in the authors' code, 1/2 in the
        text. The result is the total variation, half of the L1 norm, either way.
    unit : {"pairs", "shares"}
        Unit of distances in the Lagrangian: pairs of items in the authors' code, shares of the pairs in the text. It
        scales the multiplier.
    slack : float
        Subtracted from the distance to reach, in that unit, so that an equal value satisfies the constraint. Not in the
        text.
    gradient_variance, gradient_draws : float, int
        Variance of the Gaussian noise in the parameters and number of draws for the gradient. Not in the text.
    value_variance, value_draws : float, int
        The same for the value of the smoothed distance. Not in the text, which has one scale for both.
    scored : {"shares", "parameters"}
        The score function estimates the gradient in the parameters. The authors' code passes it on as if it were the
        gradient in the shares ("shares"); "parameters" uses it as the gradient in the parameters. Not in the text.
    carry : bool
        Whether the whole gradient of the last step is added to the score estimate. The authors' code does so, because
        it does not clear the gradient in between; the multiplier then turns it around, which damps the descent. Not in
        the text. Without it the algorithm ends elsewhere, see :doc:`/theory/findings`. Only with `scored` "shares".
    rate, multiplier_rate : float
        First step size of the parameters and of the multiplier. Not in the text.
    schedule : int
        Steps over which both fall linearly to `last`. Not in the text.
    last : float
        The last step size, as a share of the first. Not in the text.
    momentum, multiplier_momentum : float
        Share of the last direction that is added to the next. Not in the text.
    multiplier : float
        The first multiplier. It is kept at 0 or above, as in the text. The number is not in the text.
    patience : int
        Number of successive values that satisfy the constraint after which the multiplier is set to 0; 0 for never. Not
        in the text.

    Examples
    --------
    >>> PaperOptions(steps=2000).rate
    0.25
    """

    steps: int = 30_000
    parametrisation: Parametrisation = "softplus"
    start: tuple[float, float] = (0.0, 1.0)
    weight: float = 1.0
    unit: Unit = "pairs"
    slack: float = 1e-6
    gradient_variance: float = 0.1
    gradient_draws: int = 1
    value_variance: float = 0.001
    value_draws: int = 25
    scored: Scored = "shares"
    carry: bool = True
    rate: float = 0.25
    multiplier_rate: float = 5.0
    schedule: int = 30_000
    last: float = 1 / 50
    momentum: float = 0.1
    multiplier_momentum: float = 0.1
    multiplier: float = 1.0
    patience: int = 50

    def __post_init__(self) -> None:
        for name, value in self._checked():
            object.__setattr__(self, name, value)

    def _checked(self) -> Iterator[tuple[str, Any]]:
        """Return the options as Python's own numbers; refuse invalid values."""
        for name, allowed in _CHOICES.items():
            _expect(name, getattr(self, name) in allowed, f"be {' or '.join(map(repr, allowed))}", getattr(self, name))
        _expect("carry", isinstance(self.carry, bool), "be True or False", self.carry)
        for name, least in _WHOLE.items():
            given = getattr(self, name)
            whole = whole_number(given)
            _expect(name, whole is not None and whole >= least, f"be a whole number, {least} or more", given)
            yield name, whole
        for name, (fits, words) in _RANGES.items():
            given = getattr(self, name)
            number = _finite(given)
            _expect(name, number is not None and fits(number), words, given)
            yield name, number
        ends = tuple(map(_finite, self.start)) if isinstance(self.start, tuple | list) else ()
        fine = len(ends) == 2 and ends[0] is not None and ends[1] is not None and ends[0] < ends[1]
        _expect("start", fine, "be two numbers, the smaller first", self.start)
        yield "start", ends
        if self.carry and self.scored == "parameters":
            raise UsageError(
                "carry=True of PaperOptions needs scored='shares'; on the parameters the steps would diverge",
                repair="write carry=False",
            )

    def plain(self) -> dict[str, Any]:
        """Return the options as plain data."""
        known = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**known, "start": list(self.start)}


def _finite(value: object) -> float | None:
    number = real_number(value)
    return float(number) if number is not None and abs(number) < float("inf") else None


def _expect(name: str, fine: bool, words: str, given: object) -> None:
    if not fine:
        raise UsageError(f"{name} of PaperOptions must {words}, not {quote(str(given))}")
