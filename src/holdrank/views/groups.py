"""The effect of leaving out each group, as a page: a sentence, a picture, a table."""

from __future__ import annotations

from html import escape

from holdrank.analysis.leave_one_out import LeaveOneOut
from holdrank.views.notebook import stand_alone, table
from holdrank.views.svg.groups import left_out
from holdrank.words.groups import groups_text
from holdrank.words.names import in_text, named
from holdrank.words.numbers import number, percent
from holdrank.words.removals import flips_text, winner_text


def left_out_page(found: LeaveOneOut) -> str:
    """Return a page that works offline; names are escaped."""
    head = groups_text(found.by, len(found.changing), found.deciding, len(found.each))
    rows = [
        (
            named(one.name, 80),
            number(one.votes),
            winner_text(one.winners, one.new_winner),
            f"{len(one.flips):,} ({percent(one.distance)})" if one.flips else "none",
            flips_text(one.flips),
        )
        for one in found.each
    ]
    titles = [f"without {in_text(found.by)}", "votes", "first place", "pairs that flip", "which"]
    heading = f'<h1 style="font-size:1.35rem">{escape(head)}</h1>'
    body = f'{heading}<div class="scroll">{left_out(found)}</div><div class="scroll wide">{table(titles, rows)}</div>'
    return stand_alone(f'<main style="padding:1rem">{body}</main>', "Leave one out")
