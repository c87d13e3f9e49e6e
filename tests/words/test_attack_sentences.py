"""Attacks in sentences: each state of knowledge has its own, and none says more than is known."""

from __future__ import annotations

import pytest

from holdrank.words import goals
from holdrank.words.attacks import attack_text, told
from holdrank.words.audit import adversary_text
from holdrank.words.results import best_text

NAMES = ("lower", "upper", "needed", "ties", "decides", "sufficient")
SHARES = {"counts": False, "total": 1.0}
COUNTS = {"counts": True, "total": 200.0}


def said(votes, *amounts, change="replace", estimate=False):
    bounds = dict(zip(NAMES, (*amounts, *[None] * 6)[:6], strict=True))
    return attack_text(told(bounds, votes, goals.new_winner(), change, estimate=estimate))


@pytest.mark.parametrize(
    ("amounts", "estimate", "sentence"),
    [
        ((None, None), False, "No number of replaced votes can change the winner (proven)."),
        ((0.2, None), False, "(proven); no attack found."),
        ((0.0, None), False, "No attack found to change the winner; none ruled out."),
        ((0.2, 0.2), False, "20 % of the votes change the winner (proven minimum)."),
        ((0.0, 0.3), False, "30 % of the votes change the winner; cheaper attacks may exist."),
        ((0.2, 0.3), True, "30 % of the votes change the winner; cheaper attacks may exist."),
        ((0.2, 0.3), False, "(proven); 30 % are enough."),
    ],
)
def test_shares(amounts, estimate, sentence):
    text = said(SHARES, *amounts, estimate=estimate)
    assert sentence in text
    assert ("proven minimum" in text) == (amounts[0] == amounts[1] is not None)
    if "At least" in text:
        assert "20 %" in text


def test_whole_votes_where_only_a_tie_is_known():
    assert said(COUNTS, 0.1, 0.1, 20, 22, 21, None) == (
        "At least 21 of 200 votes must change to change the winner outright; 22 tie it."
    )
    assert said(COUNTS, 0.1, None, 20, None, 21, None) == (
        "At least 21 of 200 votes must change to change the winner (10.5 %, proven); no attack found."
    )


def test_what_an_adversary_needs():
    known = {"does": "put b above a", "does_alone": "puts b above a", **COUNTS}
    nothing = dict.fromkeys(NAMES)
    assert adversary_text({**known, **nothing}) == "no votes put b above a"
    unknown = {**nothing, "lower": 0.0, "needed": 0, "decides": 0}
    assert adversary_text({**known, **unknown}) == ""
    least = {**nothing, "lower": 0.1, "needed": 20, "decides": 21}
    assert adversary_text({**known, **least}) == "at least 21 votes (10.5 %) are needed to put b above a"
    assert adversary_text({**known, **least, "needed": 1, "decides": 1}) == ""
    one = {"lower": 0.005, "upper": 0.005, "needed": 1, "ties": 1, "decides": 1, "sufficient": 1}
    assert adversary_text({**known, **one}) == "1 vote (0.5 %) puts b above a"


def test_a_threshold_at_which_nothing_breaks():
    found = {"theta": [0, 0.5], "lower": [0.25, None], "best": 1, "tolerance": 0.02}
    text = best_text(found, 0.01, strict=True)
    assert "theta = 0.5" in text
    assert "without ties it breaks at 25 % of the votes" in text
    assert "at 25 % of the votes, for 0.0100 more loss" in text
