"""An analysis in one sentence, and how sure that is."""

from __future__ import annotations

import itertools

import pytest

import holdrank as hr
from holdrank.words.headlines import LONGEST_HEADLINE, headline, subline
from holdrank.words.nouns import noun_of


def test_one_item_and_a_tie_of_all():
    only = hr.analyse(hr.Votes.from_orders([["only"]]))
    assert (only.headline, subline(only.record)) == ("There is one item, only.", "")
    level = hr.Votes.from_orders([["a", "b"], ["b", "a"]])
    assert hr.analyse(level, hr.Spec(theta=0.5)).headline == (
        "Both items share first place, no matter which votes change."
    )


def test_hostile_names_are_shown_safely_in_the_headline():
    votes = hr.Votes.from_orders([["x\x1b[2J", "y"]])
    assert "\\x1b" in hr.analyse(votes, hr.Spec(theta=None)).headline
    assert headline(hr.analyse(votes, hr.Spec(theta=None)).record).isprintable()


def record_of(ranks, found, *, counts=True, names="abcdefg", total=100, **more):
    """A record of some votes that holds no more than a headline needs."""
    order = sorted(range(len(ranks)), key=lambda i: ranks[i])
    votes = {"counts": counts, "total": total, "format": more.pop("form", "")}
    about = {"items": list(names)[: len(ranks)], "votes": votes, "tiers": None, "bootstrap": None, "gaps": []}
    return {**about, "consensus": {"ranks": ranks, "order": order}, "attack": found, **more}


def told(*args, **more):
    record = record_of(*args, **more)
    return headline(record), subline(record)


def ends(lower, upper, decides, sufficient, ties=None):
    """The numbers of an attack as a record has them."""
    whole = {"needed": decides, "ties": sufficient if ties is None else ties, "decides": decides}
    return {"lower": lower, "upper": upper, **whole, "sufficient": sufficient}


def test_every_state_of_knowledge_has_its_headline():
    late = "How firmly was not tested within the time limit."
    assert told([1, 2, 3], None) == ("a is first.", late)
    assert told([1, 1, 2], None) == ("a and b share first place.", late)
    assert told([1, 1, 1], None) == ("All 3 items share first place.", late)
    assert told([1, 2], ends(None, None, None, None)) == (
        "a is first, no matter which votes change.",
        "Proven: no change of votes does otherwise.",
    )
    assert told([1, 2], ends(0, 0, 0, 0)) == ("a is listed first, and another item is first as well.", "")
    assert told([1, 1, 2], ends(0.0, None, 0, None)) == (
        "a and b share first place; how firmly is not known.",
        "No attack found; none ruled out.",
    )
    assert told([1, 1, 2], ends(0.03, None, 3, None)) == (
        "a and b share first place; bringing in a third takes at least 3 of 100 votes.",
        "Fewer than 3 are not enough (proven); no attack found.",
    )
    assert told([1, 2], ends(0.03, 0.08, 3, 8)) == (
        "a is first; another winner takes 3 to 8 of 100 votes.",
        "At least 3 must change (proven); a verified attack changes 8 (8 %).",
    )
    assert told([1, 2], ends(0.03, 0.08, 3, 8), counts=False) == (
        "a is first; another winner takes 3 to 8 % of the votes.",
        "At least 3 % must change (proven); a verified attack changes 8 %.",
    )
    assert told([1, 2], ends(0.0, 0.08, 1, 8)) == (
        "a is first; another winner takes at most 8 of 100 votes.",
        "A verified attack shows it (8 %); fewer may be enough.",
    )
    assert told([1, 2], ends(0.03, 0.03, 4, 4, ties=3)) == (
        "a is first; another winner takes 4 of 100 votes.",
        "Proven minimum (4 %): 3 only tie.",
    )


def test_an_optimum_that_is_one_of_several_is_called_so():
    assert told([1, 2], ends(0.0, 0.01, 1, 1, ties=0)) == (
        "a is first in one of several equally good rankings.",
        "Deciding for another takes 1 of 100 votes.",
    )


def test_the_fragile_is_called_fragile_and_the_firm_firm():
    one = ends(0.001, 0.01, 1, 1)
    assert told([1, 2, 3], one, total=18, form="score-table")[0] == (
        "a is first, but fragile: changing 1 of 18 tasks can change the winner."
    )
    assert told([1, 1, 2], ends(0.008, 0.01, 1, 1))[0] == (
        "a and b share a fragile first place: changing 1 of 100 votes can bring in a third."
    )
    many = ends(0.06, 0.06, 37, 37)
    assert told([1, 1, 2], many, total=500)[0] == (
        "a and b firmly share first place; bringing in a third takes 37 of 500 votes."
    )
    # Two of nine are many for their number, and few; a first place that chance takes is not firm either.
    assert told([1, 2], ends(0.2, 0.2, 2, 2), total=9)[0] == "a is first; another winner takes 2 of 9 votes."
    drawn = {"draws": 1000, "first": [0.9, 0.1]}
    assert told([1, 2], many, total=500, bootstrap=drawn) == (
        "a is first; another winner takes 37 of 500 votes.",
        "Proven minimum (7.4 %): 36 are not enough. a is first in 90 % of 1,000 bootstrap samples.",
    )
    chance = {"level": 0.95, "lower": [1, 1]}
    assert told([1, 2], many, total=500, chance=chance) == (
        "a is first; another winner takes 37 of 500 votes.",
        "Proven minimum (7.4 %): 36 are not enough. Neither item can be ruled out as first (95 %).",
    )
    assert told([1, 2], many, total=500, chance={"level": 0.95, "lower": [1, 2]}) == (
        "a is firmly first; another winner takes 37 of 500 votes.",
        "Proven minimum (7.4 %): 36 are not enough. a is first beyond chance (95 %).",
    )
    few = {"draws": 199, "first": [0.9, 0.1]}
    assert told([1, 2], many, total=500, bootstrap=few) == (
        "a is firmly first; another winner takes 37 of 500 votes.",
        "Proven minimum (7.4 %): 36 are not enough.",
    )


def test_the_number_at_the_first_gap_is_reconciled_with_the_headline():
    tiers = {"ranks": [1, 1, 2]}
    found, gap = ends(0.07, 0.074, 37, 37), ends(0.037, 0.038, 19, 19)
    # Somebody new takes 7.4 %, but who shares changes for 3.8 %: not firm.
    assert told([1, 2, 3], found, total=500, tiers=tiers, gaps=[gap], form="preflib") == (
        "a and b share first place; bringing in a third takes 37 of 500 ballots.",
        "Proven minimum (7.4 %): 36 are not enough. 19 change who shares first place (proven minimum).",
    )
    assert told([1, 2, 3], found, total=500, tiers=tiers, gaps=[found])[1].endswith("36 are not enough.")
    alone = {"ranks": list(range(1, 18))}
    names = [f"m{k}" for k in range(17)]
    record = record_of(alone["ranks"], ends(0.0, 0.001, 4, 4), names=names, total=9000, tiers=alone, gaps=[gap])
    assert headline(record) == "m0 is first, but fragile: changing 4 of 9,000 votes can end the lead."
    assert subline(record) == ("Proven minimum: 3 are not enough. 19 put another item ahead of m0 (proven minimum).")
    record["gaps"] = [{**gap, "upper": None, "sufficient": None}]
    assert subline(record).endswith("not enough. Putting another item ahead of m0 takes at least 19.")
    record["gaps"] = [gap]
    shared = {"ranks": [1, 1, *range(2, 17)]}
    assert subline({**record, "tiers": shared}).endswith(
        "19 change which 2 items come first without tiers (proven minimum)."
    )


@pytest.mark.parametrize("counts", [True, False])
def test_no_headline_is_longer_than_ninety_characters(counts):
    names = ["w" * 400, "\x00" * 300, "<img src=x>" * 30, *(f"{'long name ' * 20}{k}" for k in range(9))]
    states = [None, ends(None, None, None, None), ends(0.0, 0.0, 0, 0), ends(0.0, None, 0, None)]
    states += [ends(0.01, high, 1_234_567, most) for high, most in ((None, None), (0.2, 9_876_543), (0.01, 1_234_567))]
    states += [ends(0.0, 1e-9, 1, 1), ends(0.0, 1e-9, 1, 1, ties=0)]
    for found, top in itertools.product(states, range(1, 13)):
        ranks = [1] * top + list(range(2, 14 - top))
        record = record_of(ranks, found, counts=counts, names=names, total=12_345_678, form="multi-way")
        assert len(headline(record)) <= LONGEST_HEADLINE, headline(record)
        assert headline(record).endswith(".")


@pytest.mark.parametrize(
    ("form", "noun"),
    [("battles", "battle"), ("pgn", "game"), ("score-table", "task"), ("preflib", "ballot"), ("", "vote")],
)
def test_votes_have_the_name_of_their_form(form, noun):
    assert noun_of({"format": form, "choices": {}}) == noun


def test_the_headline_says_whether_the_attack_ends_in_a_tie_or_in_another_winner():
    tiers = {"ranks": [1, 2, 2]}
    four = ends(0.0003, 0.0004, 4, 4)
    tie = told([1, 2, 3], {**four, "after": [1, 1, 2]}, total=8931, form="battles", tiers=tiers)
    assert tie == (
        "a is first, but fragile: changing 4 of 8,931 battles can tie it with b.",
        "Proven minimum: 3 are not enough.",
    )
    other = told([1, 2, 3], {**four, "after": [2, 1, 2]}, total=8931, form="battles", tiers=tiers)
    assert other[0] == "a is first, but fragile: changing 4 of 8,931 battles can put b first."
    assert other[1] == "Proven minimum: 3 are not enough."
    unknown = told([1, 2, 3], {**four, "after": None}, total=8931, form="battles", tiers=tiers)
    assert unknown[0] == "a is first, but fragile: changing 4 of 8,931 battles can end the lead."
    assert unknown[1] == "Proven minimum: 3 are not enough."
    many = ends(0.03, 0.03, 3, 3)
    assert told([1, 2, 3], {**many, "after": [1, 1, 1]}, tiers=tiers) == (
        "a is first; tying it with b and c takes 3 of 100 votes.",
        "Proven minimum (3 %): 2 are not enough.",
    )
    assert told([1, 2, 3], {**many, "after": [2, 1, 1]}, tiers=tiers)[0] == (
        "a is first; putting b and c first takes 3 of 100 votes."
    )
    shared = {"ranks": [1, 1, 2]}
    assert told([1, 2, 3], {**many, "after": [1, 1, 1]}, tiers=shared) == (
        "a and b share first place; bringing in c takes 3 of 100 votes.",
        "Proven minimum (3 %): 2 are not enough.",
    )
    assert told([1, 2, 3], {**many, "after": [2, 2, 1]}, tiers=shared) == (
        "a and b share first place; putting c first takes 3 of 100 votes.",
        "Proven minimum (3 %): 2 are not enough.",
    )
    # Who drops out is said below.
    assert told([1, 2, 3], {**many, "after": [1, 2, 1]}, tiers=shared) == (
        "a and b share first place; bringing in c takes 3 of 100 votes.",
        "c then shares first place; b does not. Proven minimum (3 %): 2 are not enough.",
    )
    every = {"ranks": [1, 1, 1]}
    assert told([1, 2, 3], {**many, "after": [2, 1, 3]}, tiers=every)[1].startswith("b is then first.")
    # Shares of votes have no whole numbers.
    assert told([1, 2], {**ends(0.1, 0.1, None, None), "after": [2, 1]}, counts=False) == (
        "a is firmly first; putting b first takes 10 % of the votes.",
        "Proven minimum.",
    )


def test_a_name_that_does_not_fit_the_headline_stands_below_it():
    tiers = {"ranks": [1, 2, 2]}
    names = ["GPT 4", "Platypus-2 Instruct (70B)", "c"]
    four = {**ends(0.0003, 0.0004, 4, 4), "after": [1, 1, 2]}
    said = told([1, 2, 3], four, total=8931, form="battles", tiers=tiers, names=names)
    assert said[0] == "GPT 4 is first, but fragile: 4 of 8,931 battles tie it with Platypus-2 Instruct (70B)."
    assert "Platypus" not in said[1]
    names[1] = "Platypus-2 Instruct, the one with seventy-two billion"
    said = told([1, 2, 3], four, total=8931, form="battles", tiers=tiers, names=names)
    assert said[0] == "GPT 4 is first, but fragile: changing 4 of 8,931 battles can tie it with another item."
    assert said[1].startswith(
        "Platypus-2 Instruct, the one with seventy-two billion then shares first place with GPT 4."
    )
    one = {**ends(0.0, 0.0001, 1, 1), "after": [1, 1, 2]}
    assert told([1, 2, 3], one, total=8931, form="battles", tiers=tiers, names=["a" * 20, "b" * 12, "c"])[0] == (
        f"{'a' * 20} is first, but fragile: 1 of 8,931 battles ties it with {'b' * 12}."
    )


def test_who_is_tied_is_one_sentence_in_both_senses():
    four, tiers = ends(0.0003, 0.0004, 4, 4), {"ranks": [1, 2, 2]}
    some = {"level": 0.95, "lower": [1, 2, 1]}
    said = told([1, 2, 3], four, total=8931, form="battles", tiers=tiers, chance=some)[1]
    assert said.endswith("Tied with a: no item in its tier; by chance, c could be first too (95 %).")
    every = told([1, 2, 3], four, total=8931, tiers=tiers, chance={"level": 0.9, "lower": [1, 1, 1]})[1]
    assert every.endswith(
        "no item in its tier; with 8,931 votes, a test of all items at once rules out no other (90 %)."
    )
    alone = told([1, 2, 3], four, total=8931, tiers=tiers, chance={"level": 0.95, "lower": [1, 2, 2]})[1]
    assert alone.endswith("Tied with a: no item, neither in its tier nor by chance (95 %).")
    shared = told([1, 2, 3], four, total=8931, tiers={"ranks": [1, 1, 2]}, chance=some)[1]
    assert shared.endswith("Tied for first: a and b, in one tier; by chance, c could be first too (95 %).")


def test_who_gets_ahead_is_named_where_it_is_the_next_item():
    four, tiers = {**ends(0.0003, 0.0004, 4, 4), "after": [1, 1] + [2] * 18}, {"ranks": [1] + [2] * 19}
    six = {**ends(0.0006, 0.0007, 6, 6), "known": True}
    names = [f"m{k}" for k in range(20)]
    more = {"total": 8931, "form": "battles", "tiers": tiers, "names": names, "gaps": [six]}
    assert "6 put m1 ahead of m0 (proven minimum)." in told(list(range(1, 21)), four, races=[six], **more)[1]
    seven = {**ends(0.0007, 0.0008, 7, 7), "known": True}  # then somebody else takes fewer
    for races in ([seven], [{**six, "known": False}], None):
        assert (
            "6 put another item ahead of m0 (proven minimum)." in told(list(range(1, 21)), four, races=races, **more)[1]
        )


def test_no_minimum_is_called_proven_where_the_headline_names_none():
    # One vote is always needed: that is no bound worth a word.
    assert told([1, 2], ends(0.0, None, 1, None)) == (
        "a is first; how firmly is not known.",
        "No attack found; none ruled out.",
    )
    assert told([1, 2], ends(0.02, None, 2, None)) == (
        "a is first; another winner takes at least 2 of 100 votes.",
        "Fewer than 2 are not enough (proven); no attack found.",
    )
    # The shortest form keeps the end that is known.
    long = record_of([1, 2], ends(0.0, 0.2, 1, 2e12), names=["w" * 400, "b"], form="multi-way", total=9e12)
    assert "takes at most 2,000,000,000,000" in headline(long)
    assert len(headline(long)) <= LONGEST_HEADLINE
