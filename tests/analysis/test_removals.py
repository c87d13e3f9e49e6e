from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import holdrank as hr
from holdrank.analysis.records import command_mismatch, command_record, ranking_record, removals_record
from holdrank.status import Status

from strategies import votes

RULES = [hr.kemeny, hr.borda, hr.copeland, hr.bradley_terry, hr.Robust(hr.borda, 0.1), hr.Robust(hr.bradley_terry, 0.1)]


def without(v, k):
    """The votes as if nobody had ever spoken of item k: ballot by ballot."""
    rows, weights = [], []
    for ranks, weight in zip(v.ranks.tolist(), v.weights.tolist(), strict=True):
        rest = ranks[:k] + ranks[k + 1 :]
        if any(rest):
            rows.append(rest)
            weights.append(weight)
    return hr.Votes.from_ranks(rows, weights, [*v.items[:k], *v.items[k + 1 :]], unlisted=v.unlisted)


def expected_of(T, v, k):
    """(ranks of the others, pairs that flip, whether the first changes), pair by pair."""
    before, after = T(v).ranking.ranks.tolist(), T(without(v, k)).ranking.ranks.tolist()
    before = before[:k] + before[k + 1 :]
    names = [*v.items[:k], *v.items[k + 1 :]]
    pairs = list(permutations(range(len(names)), 2))
    flips = {(names[i], names[j]) for i, j in pairs if before[i] < before[j] and after[i] > after[j]}
    first = [{i for i, rank in enumerate(ranks) if rank == min(ranks)} for ranks in (before, after)]
    return after, flips, first[0] != first[1]


@pytest.mark.parametrize("T", RULES, ids=lambda T: T.__name__)
@given(v=votes(counts=True, most_items=5))
@pytest.mark.slow
def test_removals_are_the_rule_run_again_without_the_item(T, v):
    assume(v.n > 1)
    assume(all((np.delete(v.ranks, k, axis=1) > 0).any() for k in range(v.n)))
    found = hr.removals(v, T)
    assert [one.item for one in found.each] == list(v.items)
    assert found.consensus.ranking == T(v).ranking
    for k, one in enumerate(found.each):
        ranks, flips, new_winner = expected_of(T, v, k)
        assert one.ranking == hr.Ranking(ranks)
        assert (set(one.flips), one.new_winner) == (flips, new_winner)
        assert one.changes == (bool(flips) or new_winner)


@pytest.mark.parametrize("numbers", [1 << 19, 150, 1])
@given(data=st.data())
@pytest.mark.slow
def test_removals_by_strength_are_fitted_many_at_once(numbers, data):
    n = data.draw(st.integers(2, 7))
    pair = st.permutations(range(n)).map(lambda p: p[:2])
    battles = data.draw(st.lists(st.tuples(pair, st.booleans(), st.integers(1, 9)), min_size=1, max_size=20))
    orders = [[list(pair)] if tied else pair for pair, tied, _ in battles]
    weights = [weight for *_, weight in battles]
    v = hr.Votes.from_orders([*orders, [0]], [*weights, 3], items=range(n), unlisted="observed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("holdrank.rules.bradley_terry.NUMBERS_AT_A_TIME", numbers)
        found = hr.removals(v, hr.bradley_terry)
    for k, one in enumerate(found.each):
        assert one.ranking == hr.bradley_terry(without(v, k)).ranking


@pytest.mark.parametrize("T", [hr.kemeny, hr.copeland, hr.bradley_terry])
def test_pair_counts_have_the_removals_of_the_votes(T):
    rng = np.random.default_rng(3)
    orders = [rng.permutation(list("abcdef"))[:2].tolist() for _ in range(60)]
    v = hr.Votes.from_orders(orders, unlisted="observed")
    one, two = (hr.removals(kind, T) for kind in (v, hr.PairCounts.from_votes(v)))
    assert [(r.item, r.ranking, r.flips) for r in one.each] == [(r.item, r.ranking, r.flips) for r in two.each]
    assert one.changing


def test_a_friend_of_the_winner_leaves():
    # b lives on its wins against c; without c the direct battles decide.
    battles = [["a", "b"]] * 6 + [["b", "a"]] * 5 + [["b", "c"]] * 9 + [["c", "b"]] + [["a", "c"], ["c", "a"]]
    v = hr.Votes.from_orders(battles, unlisted="observed")
    found = hr.removals(v, hr.bradley_terry)
    (one,) = found.changing
    assert (one.item, one.flips, one.new_winner, one.winners) == ("c", (("b", "a"),), True, ("a",))
    assert repr(found) == "Removals(1 of 3 change the order of the others, bradley_terry)"
    assert found.text().splitlines() == [
        "1 of 3 removals changes the order of the others; 1 changes who comes first.",
        "Without c, a comes first; 1 pair flips: a above b.",
    ]
    calm = hr.removals(hr.Votes.from_orders([["a", "b", "c"]]), hr.kemeny)
    assert calm.text() == "No removal changes the order of the other items."
    assert calm.status is Status.PROVED


def test_a_rule_of_ones_own_and_mean_scores():
    def by_name(votes):
        return hr.borda(hr.Votes.from_orders([sorted(votes.items)], items=votes.items))

    v = hr.Votes.from_orders([["b", "c", "a"]])
    assert [one.flips for one in hr.removals(v, by_name).each] == [(), (), ()]
    scores = hr.Votes.from_score_rows([[9, 8, 1], [2, 7, 5]], items=["a", "b", "c"])
    assert [one.winners for one in hr.removals(scores, hr.mean_score).each] == [("b",), ("a",), ("b",)]


def test_time_that_is_over_leaves_items_untried():
    v = hr.Votes.from_orders([["a", "b", "c"], ["b", "c", "a"]])
    found = hr.removals(v, hr.kemeny, time_limit=0)
    assert (found.each, found.status) == ((), Status.TIME_LIMIT)
    steps = []
    assert len(hr.removals(v, hr.kemeny, time_limit=60, progress=steps.append).each) == 3
    assert [(step.name, step.done, step.total) for step in steps] == [("removals", k, 3) for k in range(3)]


def test_time_that_is_over_stops_fits_of_strengths_too(monkeypatch):
    rng = np.random.default_rng(4)
    v = hr.Votes.from_orders([rng.permutation(list("abcdef"))[:2].tolist() for _ in range(40)], unlisted="observed")
    monkeypatch.setattr("holdrank.rules.bradley_terry.NUMBERS_AT_A_TIME", 1)
    tried = []

    def over(_):
        tried.append(1)
        return len(tried) > 2

    monkeypatch.setattr("holdrank.status.Clock.over", over)
    found = hr.removals(v, hr.bradley_terry, time_limit=60)
    assert (len(found.each), found.status) == (2, Status.TIME_LIMIT)


def test_what_has_no_removals_is_refused():
    with pytest.raises(hr.UsageError, match="at least two items"):
        hr.removals(hr.Votes.from_orders([["a"]]), hr.kemeny)
    with pytest.raises(hr.UsageError, match="removals takes Votes, not list"):
        hr.removals([["a", "b"]], hr.kemeny)
    with pytest.raises(hr.UsageError, match="there is no item 'z'"):
        hr.PairCounts.from_wins([[0, 1], [2, 0]]).only(["z"])


def test_a_record_of_removals_fits_the_schema():
    v = hr.Votes.from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]], weights=[3, 2, 2])
    found = hr.removals(v, hr.kemeny)
    record = json.loads(json.dumps(removals_record(found)))
    ranking = ranking_record("kemeny", found.consensus)
    assert command_mismatch(command_record("removals", v, spec={}, consensus=ranking, **record, seconds=0.0)) == ""
    rows = record["removals"]
    assert [row["item"] for row in rows] == [0, 1, 2]
    assert [row["ranks"].index(None) for row in rows] == [0, 1, 2]
    # a beats b, b beats c, c beats a: without b, the last comes before the first.
    assert (rows[1]["ranks"], rows[1]["flips"], rows[1]["new_winner"]) == ([2, None, 1], [[0, 2]], True)


def test_the_command_shows_what_changes(command_line, tmp_path):
    cycle = hr.Votes.from_orders([list("abc"), list("bca"), list("cab")], weights=[3, 2, 2])
    hr.write_votes(cycle, tmp_path / "cycle.jsonl")
    code, out, _ = command_line("removals", "cycle.jsonl", "-q")
    assert code == 0
    assert out.splitlines()[1].split() == ["flips", "without", "first", "place", "pairs", "that", "flip"]
    assert out.splitlines()[2].split() == ["1", "b", "c", "(new)", "c", "above", "a"]
    assert out.splitlines()[-1] == "1 of 3 removals changes the order of the others; 1 changes who comes first."
    hr.write_votes(hr.Votes.from_orders([list("abc")]), tmp_path / "calm.jsonl")
    code, out, _ = command_line("removals", "calm.jsonl", "-q", "--rule", "borda")
    assert out == "No removal changes the order of the other items.\n"
    code, out, err = command_line("removals", "cycle.jsonl", "-q", "-v", "--time-limit", "0", "--require-proof")
    assert (code, err.startswith("time limit reached")) == (5, True)
    assert out == "No removal was tried.\ntime limit reached: 3 items not tried\n"
