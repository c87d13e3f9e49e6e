"""What stands beside a headline so that nobody draws a wrong conclusion."""

from __future__ import annotations

import pytest

import holdrank as hr
from holdrank.views.page import page_view
from holdrank.words.headlines import subline
from holdrank.words.remarks import (
    never_met_text,
    other_winners_text,
    tied_by_chance,
    tied_by_chance_text,
    without_ties_text,
)


def record_of(n=5, **more):
    """A record that holds no more than the remarks need."""
    order = list(range(n))
    found = {"items": [f"m{i}" for i in order], "votes": {"counts": True, "total": 100, "format": "battles"}}
    found |= {"consensus": {"order": order, "ranks": [i + 1 for i in order]}, "tiers": None, "others": []}
    return {**found, "attack": None, "reach": None, "chance": None, **more}


def test_one_rule_with_another_winner_and_none():
    assert other_winners_text(record_of()) == ""
    other = {"rule": "kemeny", "ranks": [2, 1, 3, 4, 5]}
    assert other_winners_text(record_of(others=[other])) == "Another rule has another winner: m1 by Kemeny."
    # A rule that shares the first tier does not disagree.
    assert other_winners_text(record_of(others=[other], tiers={"ranks": [1, 1, 2, 3, 4]})) == ""
    many = {"rule": "copeland", "ranks": [2, 1, 1, 1, 1]}
    assert other_winners_text(record_of(others=[many])).endswith(": m1, m2 and 2 more by Copeland.")


def test_a_winner_that_never_met_the_item_that_threatens_it_is_named():
    compared = [[0 if {i, j} == {0, 1} else 3 for j in range(5)] for i in range(5)]
    record = record_of(attack={"after": [1, 1, 2, 3, 4]}, pairs={"compared": compared})
    assert never_met_text(record) == "No battle compares m0 with m1: other items connect them."
    assert never_met_text({**record, "attack": {"after": [2, 3, 1, 4, 5]}}) == ""  # these two met
    turned = {"order": [4, 3, 2, 1, 0], "ranks": [5, 4, 3, 2, 1]}  # counts of pairs stand in the order of places
    assert never_met_text({**record, "consensus": turned, "attack": {"after": [5, 4, 3, 1, 1]}}) == (
        "No battle compares m4 with m3: other items connect them."
    )
    assert never_met_text({**record, "attack": {"after": None}}) == ""
    assert never_met_text({**record, "attack": None}) == ""
    assert never_met_text({**record, "pairs": {"compared": [[7.0]]}}) == ""  # every pair as often


def test_all_items_that_are_tied_by_chance_are_listed():
    chance = {"level": 0.95, "lower": [1, 1, 2, 1, 3]}
    record = record_of(chance=chance)
    assert tied_by_chance(record) == [0, 1, 3]
    said = "≈ 1st: could be first by chance (95 %, 3 items): m0, m1 and m3."
    assert tied_by_chance_text(record, alone=False) == said
    assert tied_by_chance_text(record, alone=True) == (
        f"{said} This compares all items at once; the bars are for each item alone."
    )
    assert tied_by_chance_text(record_of(chance={"level": 0.95, "lower": [1] * 5}), alone=False) == ""
    assert tied_by_chance_text(record_of(chance={"level": 0.95, "lower": [1, 2, 2, 2, 2]}), alone=False) == ""
    large = record_of(60, chance={"level": 0.95, "lower": [1] * 50 + [2] * 10})
    assert tied_by_chance_text(large, alone=False) == ("≈ 1st: could be first by chance (95 %): 50 items down to m49.")


@pytest.mark.parametrize(("worst", "sufficient", "after"), [(1, 4, [1, 1, 2, 3, 4]), (2, 4, [1, 1, 2, 3, 4]),
                                                            (1, 5, [1, 1, 2, 3, 4]), (1, 4, [2, 1, 3, 4, 5]),
                                                            (1, 4, None)])  # fmt: skip
def test_reach_without_ties_is_reconciled_with_an_attack_that_ties(worst, sufficient, after):
    reach = {"budget": 0.04, "votes": 4.0, "worst": [worst, 5, 5, 5, 5]}
    attack = {"after": after, "sufficient": sufficient}
    said = without_ties_text(record_of(tiers={"ranks": [1, 2, 2, 3, 4]}, reach=reach, attack=attack))
    contradicts = worst == 1 and sufficient == 4 and after == [1, 1, 2, 3, 4]
    assert bool(said) == contradicts
    if contradicts:
        assert said == (
            "Places and reach are those without tiers. 4 battles can bring another item into the tier of m0, but "
            "cannot put another item ahead."
        )


@pytest.mark.slow
@pytest.mark.traced
def test_a_page_marks_who_is_tied_and_says_what_is_left_out():
    votes = hr.Votes.from_orders(
        [list("abcdef"), list("badcfe"), list("cabdef"), list("fbacde"), list("ebacdf")], weights=[30, 20, 6, 5, 6]
    )
    view = page_view(hr.analyse(votes, hr.Spec(theta=None)).record)
    record = view["record"]
    marked = [row["item"] for row in view["board"]["rows"] if row["mark"]]
    assert marked == tied_by_chance(record)
    assert len(marked) > 1
    assert view["board"]["notes"][0].startswith("≈ 1st: could be first by chance")
    assert view["missing"]
    assert any("trade-off" in line for line in view["left_out"])
    assert f"any of {len(marked)} items could be first" in subline(record) or len(marked) <= 4
