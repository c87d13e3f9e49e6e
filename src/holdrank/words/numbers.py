"""Numbers as text: counts with thousands separators, shares in percent, nouns in the plural."""

from __future__ import annotations

import math
from decimal import Decimal


def number(value: float) -> str:
    """Return a count or share as text: thousands separators, at most four digits after them, no exponent.

    Examples
    --------
    >>> number(5000.0), number(0.123456), number(12380.26), number(0.000078376)
    ('5,000', '0.1235', '12,380.3', '0.00007838')
    """
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 1000 else decimal(value, 4)


def decimal(value: float, digits: int) -> str:
    """Return a number with a given number of significant digits, without an exponent.

    Examples
    --------
    >>> decimal(0.283883495, 6), decimal(0.0000783755, 6), decimal(0.5, 6)
    ('0.283883', '0.0000783755', '0.5')
    """
    short = f"{value:.{digits}g}"
    return f"{Decimal(short):f}" if "e-" in short else short


def percent(share: float) -> str:
    """Return a share in percent as text, with three digits.

    Examples
    --------
    >>> percent(0.074), percent(1.0), percent(0.000112), percent(1e-9)
    ('7.4 %', '100 %', '0.0112 %', 'under 0.0001 %')
    """
    value = 100 * share
    return "under 0.0001 %" if 0 < value < 1e-4 else f"{_three_digits(value)} %"


def percents(least: float, most: float) -> str:
    """Return a range of shares in percent as text.

    Examples
    --------
    >>> percents(0.05, 0.0834), percents(1e-9, 0.01)
    ('5 to 8.34 %', 'under 0.0001 % to 1 %')
    """
    first = percent(least) if 0 < 100 * least < 1e-4 else _three_digits(100 * least)
    return f"{first} to {percent(most)}"


def _three_digits(value: float) -> str:
    return f"{float(f'{value:.3g}'):.15g}"


def percent_in_brief(share: float) -> str:
    """Return a share in percent with two digits, for estimates; empty for infinity.

    Examples
    --------
    >>> percent_in_brief(0.0934), percent_in_brief(0.1349), percent_in_brief(math.inf)
    ('9.3 %', '13 %', '')
    """
    return percent(float(f"{share:.2g}")) if math.isfinite(share) else ""


def plural(count: float, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> plural(1, "vote"), plural(2000, "vote")
    ('1 vote', '2,000 votes')
    """
    return f"{number(count)} {noun}{'s' * (count != 1)}"


def longer(seconds: float) -> float:
    """Return the time limit that a note suggests where this one was not enough.

    Examples
    --------
    >>> longer(40.0), longer(0.5)
    (400.0, 60)
    """
    return max(10 * seconds, 60)


def span(first: float, last: float, dash: str = "–") -> str:
    """Return a range of places, one number if it is one place.

    Examples
    --------
    >>> span(2, 4), span(3.5, 3.5)
    ('2–4', '3.5')
    """
    return f"{first:g}" if first == last else f"{first:g}{dash}{last:g}"


def sentence(text: str) -> str:
    """Return a remark as a sentence.

    Examples
    --------
    >>> sentence("exact: sorted by score")
    'Exact: sorted by score.'
    """
    return f"{text[:1].upper()}{text[1:]}."
