"""Two snapshots side by side."""

from __future__ import annotations

import pytest

import holdrank as hr
from holdrank.analysis.compare import compare


def votes(first, second):
    return hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[first, second])


def test_moves_have_a_margin_in_votes_of_the_new_file():
    found = compare(votes(60, 40), votes(40, 60), hr.kemeny, draws=200)
    rows = {found["items"][row["item"]]: row for row in found["moves"]}
    # 40 of 100 prefer a in the new file: 10 make it level, 11 bring it back.
    assert rows["a"]["undone_by"] == rows["b"]["undone_by"]
    assert (rows["a"]["undone_by"]["decides"], rows["a"]["undone_by"]["sufficient"]) == (11, 11)
    assert rows["c"]["undone_by"] is None
    assert (found["moved"], found["turned"], found["pairs"], found["new"]["total"]) == (2, 1, 3, 100)
    assert [found["items"][row["item"]] for row in found["moves"]] == ["b", "a", "c"]


def test_noise_is_told_from_moves():
    near = compare(votes(52, 48), votes(48, 52), hr.kemeny, draws=400)
    assert not any(row["beyond_noise"] for row in near["moves"])
    far = compare(votes(95, 5), votes(5, 95), hr.kemeny, draws=400)
    assert [far["items"][row["item"]] for row in far["moves"] if row["beyond_noise"]] == ["b", "a"]


def test_only_common_items_are_compared():
    old = hr.Votes.from_orders([["a", "b", "x"]], weights=[3])
    new = hr.Votes.from_orders([["b", "a", "y"]], weights=[3])
    found = compare(old, new, hr.borda, draws=10)
    assert (found["only_old"], found["only_new"], found["pairs"]) == (["x"], ["y"], 1)
    with pytest.raises(hr.UsageError, match="share 0 items"):
        compare(old, hr.Votes.from_orders([["p", "q"]]), hr.kemeny)


def test_margins_are_left_out_when_there_is_no_time():
    old = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[6, 4])
    new = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 7])
    found = compare(old, new, hr.kemeny, draws=10, time_limit=0)
    assert found["moves"][0]["undone_by"] is None  # no time for margins
