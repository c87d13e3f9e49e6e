"""A trade-off beside the rest of the page: the same question has one answer."""

from __future__ import annotations

import pytest

from holdrank.words.pictures import left_out
from holdrank.words.tradeoffs import robustness_text, tradeoff_text, weighed

N = 20  # items: more than have tiers priced at their gaps


def record_of(rule="bradley-terry", *, lower=(0.03, 0.03, 0.0, None), upper=(0.07, 0.07, 0.05, None), first=1):
    """100 battles of 20 items: bounds of a sweep at the thresholds 0, 0.01, 0.02 and 0.5; tiers are those of 0.015."""
    return {
        "items": [f"m{k}" for k in range(N)],
        "votes": {"counts": True, "total": 100.0, "format": "battles"},
        "spec": {"theta": "auto"},
        "consensus": {"order": list(range(N)), "ranks": list(range(1, N + 1)), "rule": rule, "loss": 0.20},
        "tiers": {"theta": 0.015, "ranks": [1] * first + [2] * (N - first), "loss": 0.21, "auto": True},
        "pairs": {"compared": [[100.0]]},
        "gaps": [{"lower": 0.055, "upper": 0.06, "needed": 6.0, "ties": 6.0, "decides": 6.0, "sufficient": 6.0}],
        "attack": {"lower": 0.031, "upper": 0.04, "decides": 4.0, "sufficient": 4.0, "goal": "another winner"},
        "tradeoff": {
            "theta": [0.0, 0.01, 0.02, 0.5],
            "loss": [0.20, 0.21, 0.215, 0.5],
            "lower": list(lower),
            "upper": list(upper),
            "sizes": [[1] * N, [1, N - 1], [1, N - 1], [N]],
            "best": 0,
            "tolerance": 0.02,
            "delta": None,
            "goal": "another winner",
        },
    }


def test_the_threshold_zero_says_what_the_gap_below_a_single_leader_says():
    record = record_of()
    known = weighed(record)
    assert known.points[0][2:] == (0.06, 0.06)
    assert robustness_text(record, known.points[0]) == "6 battles (6 %)"
    assert known.best == 0
    # Kemeny may tie items apart that are level, for fewer votes than another winner takes.
    kemeny = record_of("kemeny")
    assert weighed(kemeny).points[0][2:] == (0.03, 0.06)
    # The gap below two leaders is about other items.
    assert weighed(record_of(first=2)).points[0][2:] == (0.03, 0.07)


def test_the_reported_tiers_say_what_their_attack_says():
    record = record_of()
    known = weighed(record)
    assert [one.theta for one in known.points] == [0.0, 0.01, 0.015, 0.02, 0.5]
    assert known.reported == 2
    assert known.points[2] == (0.015, 0.21, 0.04, 0.04)
    assert "The most robust of the thresholds that add at most 0.02 to the loss is another: θ = 0." in tradeoff_text(
        record
    )
    record["attack"] |= {"decides": 6.0, "sufficient": 6.0}
    assert "No other of the thresholds that add at most 0.02 to the loss is proven more robust." in tradeoff_text(
        record
    )
    record["attack"] |= {"decides": 9.0, "sufficient": 9.0}
    assert (weighed(record).best, weighed(record).reported) == (2, 2)
    assert "Most robust: θ = 0.015, loss 0.21, breaks at 9 battles (9 %)." in tradeoff_text(record)
    record["tiers"]["loss"] = 0.23  # more than is allowed
    assert weighed(record).best == 0
    record["attack"]["goal"] = "two items swap"
    assert [one.theta for one in weighed(record).points] == [0.0, 0.01, 0.02, 0.5]


def test_battles_can_lose_little_and_are_allowed_little():
    record = record_of()
    assert weighed(record).allowed == pytest.approx(0.22)
    record["pairs"]["compared"] = [[0.0 if i == j else 100 / 190 for j in range(N)] for i in range(N)]
    assert weighed(record).allowed == pytest.approx(0.20 + 0.02 / 190)


def test_what_is_beaten_is_not_on_the_front():
    record = record_of(lower=(0.03, 0.03, 0.0, None), upper=(None, 0.04, None, None))
    record["attack"] = None
    # At 0 it takes 6 battles, for less loss than 0.01, where it takes at most 4.
    assert weighed(record).front == [True, False, True, True]
    assert weighed({**record, "tradeoff": None}) is None
    record["tradeoff"] |= {"lower": [0.0, 0.0, 0.0, None], "upper": [None] * 4}
    assert weighed(record) is None


def test_tiers_of_few_items_say_what_their_curve_says():
    record = record_of()
    record["tradeoff"] |= {"goal": None, "delta": 1 / 190}
    ends = {"lower": [0.02, 0.1], "upper": [0.025, 0.2], "decides": [3.0, 11.0], "sufficient": [3.0, 20.0]}
    curve = {"theta": 0.015, "delta": [1 / 190, 0.5], **ends}
    record["curves"] = [{**curve, "theta": None}, {**curve, "theta": 0.02}]
    assert [one.theta for one in weighed(record).points] == [0.0, 0.01, 0.02, 0.5]
    record["curves"].append(curve)
    known = weighed(record)
    assert known.points[known.reported] == (0.015, 0.21, 0.03, 0.03)
    record["tradeoff"]["delta"] = 0.25  # the curve has no such distance
    assert [one.theta for one in weighed(record).points] == [0.0, 0.01, 0.02, 0.5]


def test_a_bound_is_no_place_where_something_breaks():
    record = record_of(upper=(None, None, None, None))
    record |= {"gaps": [], "attack": None}
    assert "Most robust: θ = 0, loss 0.2, breaking it takes at least 3 battles (3 %)." in tradeoff_text(record)


def test_a_trade_off_that_tells_nothing_is_one_line():
    trivial = record_of(lower=(0.001, 0.01, 0.0, None), upper=(None, None, None, None))  # one vote is always needed
    trivial |= {"gaps": [], "attack": None}
    assert weighed(trivial) is None
    assert left_out("tradeoff", trivial).startswith("Trade-off: how many votes break each threshold was not computed")
    trivial["tradeoff"]["lower"][1] = 0.02
    assert weighed(trivial) is not None
    assert left_out("tradeoff", trivial) == ""


def test_a_trade_off_that_is_the_same_everywhere_is_one_line():
    same = record_of(lower=(0.01, 0.01, 0.01, None), upper=(0.01, 0.01, 0.01, None))
    same |= {"gaps": [], "attack": None}
    said = "Trade-off: 1 battle (1 %) is the proven minimum at every threshold, unless all items share one tier."
    assert left_out("tradeoff", same) == said
    same["tradeoff"]["upper"][1] = 0.02  # or more
    assert left_out("tradeoff", same) == ""
