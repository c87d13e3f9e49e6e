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


def told(ranks, found, *, counts=True):
    """The headline of a record of a hundred votes that holds no more than a headline needs."""
    order = sorted(range(len(ranks)), key=lambda i: ranks[i])
    about = {"items": list("abcdefg")[: len(ranks)], "votes": {"counts": counts, "total": 100}, "tiers": None}
    return headline({**about, "consensus": {"ranks": ranks, "order": order}, "attack": found})


def ends(lower, upper, decides, sufficient, ties=None):
    """The numbers of an attack as a record has them."""
    whole = {"needed": decides, "ties": sufficient if ties is None else ties, "decides": decides}
    return {"lower": lower, "upper": upper, **whole, "sufficient": sufficient}


def test_every_state_of_knowledge_has_its_headline():
    late = "how firmly was not tested within the time limit."
    assert told([1, 2, 3], None) == f"a wins; {late}"
    assert told([1, 1, 2], None) == f"a and b share first place; {late}"
    assert told([1, 1, 1], None) == f"All 3 items share first place; {late}"
    assert (
        told([1, 2], ends(None, None, None, None)) == "a wins, and stays first no matter which votes change (proven)."
    )
    assert told([1, 2], ends(0, 0, 0, 0)) == "a is listed first, and another item is first as well."
    assert told([1, 1, 2], ends(0.0, None, 0, None)) == (
        "a and b share first place. Bringing in anyone else: no attack found, none ruled out."
    )
    assert told([1, 1, 2], ends(0.05, None, 5, None)) == (
        "a and b share first place. "
        "Bringing in anyone else takes at least 5 of 100 votes (5 %, proven); no attack found."
    )
    assert told([1, 2], ends(0.05, 0.08, 5, 8)) == (
        "a wins. Another winner takes at most 8 of 100 votes (8 %), and at least 5 (proven)."
    )
    assert told([1, 2], ends(0.05, 0.08, 5, 8), counts=False) == (
        "a wins. Another winner takes at most 8 % of the votes, and at least 5 % (proven)."
    )
