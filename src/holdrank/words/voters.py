"""Sentences about the voters who matter most for the lead of one item over another."""

from __future__ import annotations

from holdrank.words.names import in_text
from holdrank.words.numbers import plural


def deciding_text(deciding: int, total: int, above: str, below: str) -> str:
    """Return how many voters decide a race alone.

    Examples
    --------
    >>> deciding_text(2, 40, "a", "b")
    '2 of 40 voters each decide alone that a stands above b.'
    >>> deciding_text(1, 40, "a", "b"), deciding_text(0, 40, "a", "b")
    ('1 of 40 voters decides alone that a stands above b.', 'No single voter decides that a stands above b.')
    """
    race = f"that {in_text(above)} stands above {in_text(below)}"
    if not deciding:
        return f"No single voter decides {race}."
    verb = "decides alone" if deciding == 1 else "each decide alone"
    return f"{deciding:,} of {plural(total, 'voter')} {verb} {race}."


def effect_text(voter: str, battles: float, lead: float, without: float, pair: tuple[str, str]) -> str:
    """Return the effect of leaving out one voter on the lead of one item over another, in strength.

    Examples
    --------
    >>> effect_text("x", 12, 0.25, 0.1, ("a", "b"))
    'Without x (12 battles), a leads b by 0.1, not 0.25.'
    >>> effect_text("y", 1, 0.25, -0.02, ("a", "b"))
    'Without y (1 battle), b leads a by 0.02; with them, a leads b by 0.25.'
    """
    a, b = (in_text(name) for name in pair)
    start = f"Without {in_text(voter)} ({plural(battles, 'battle')})"
    if without > 0:
        return f"{start}, {a} leads {b} by {without:.3g}, not {lead:.3g}."
    now = f"{b} leads {a} by {-without:.3g}" if without < 0 else f"{a} and {b} are equally strong"
    return f"{start}, {now}; with them, {a} leads {b} by {lead:.3g}."


def lead_caption(lead: float, above: str, below: str, more: int) -> str:
    """Return the caption of a table of voters; `lead` is in rating points, and `more` voters are not listed.

    Examples
    --------
    >>> lead_caption(12.34, "a", "b", 0), lead_caption(12.34, "a", "b", 1)
    ('Voters who matter most for the lead of a over b, 12.3 rating points', \
'Voters who matter most for the lead of a over b, 12.3 rating points; and 1 more voter, who matters less')
    """
    rest = f"; and {plural(more, 'more voter')}, who matter{'s' * (more == 1)} less" if more > 0 else ""
    return (
        f"Voters who matter most for the lead of {in_text(above)} over {in_text(below)}, {lead:.3g} rating points{rest}"
    )
