"""An analysis in one sentence."""

from __future__ import annotations

import holdrank as hr
from holdrank.words.headlines import headline


def test_one_item_and_a_tie_of_all():
    assert hr.analyse(hr.Votes.from_orders([["only"]])).headline == "There is one item, only."
    level = hr.Votes.from_orders([["a", "b"], ["b", "a"]])
    told = hr.analyse(level, hr.Spec(theta=0.5)).headline
    assert told == (
        "Both items share first place. Separating them is impossible, no matter which votes change (proven)."
    )


def test_hostile_names_are_shown_safely_in_the_headline():
    votes = hr.Votes.from_orders([["x\x1b[2J", "y"]])
    assert "\\x1b" in hr.analyse(votes, hr.Spec(theta=None)).headline
    assert headline(hr.analyse(votes, hr.Spec(theta=None)).record).isprintable()
