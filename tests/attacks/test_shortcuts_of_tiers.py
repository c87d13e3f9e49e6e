"""What makes the search over tiers fast gives what the slow way gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import holdrank as hr
from holdrank.attacks.judge import _last_look, _with_time_for_a_search, _without_rows
from holdrank.attacks.kemeny.siege import Siege
from holdrank.attacks.tiers import engine as tiers
from holdrank.attacks.tiers.runs import naive_unions
from holdrank.attacks.tiers.standing import StandingTiers
from holdrank.attacks.tiers.violations import cheapest_blocks
from holdrank.rules.kemeny import cheapest_order
from holdrank.rules.merges import consensus_of
from holdrank.status import Clock, Status


def margins(rng: np.random.Generator, n: int) -> np.ndarray:
    """Antisymmetric margins; small ones are often equal, or zero."""
    most = int(rng.choice([2, 5, 40, 1000]))
    upper = np.triu(rng.integers(-most, most + 1, size=(n, n)), 1)
    return (upper - upper.T) / (2 * most)


def test_unions_of_naive_merge_are_those_of_the_rule():
    rng = np.random.default_rng(1)
    joined = 0
    for _ in range(400):
        n = int(rng.integers(2, 9))
        P = 0.5 + margins(rng, n)
        theta = float(rng.choice(np.abs(P - 0.5).ravel())) if rng.random() < 0.5 else float(rng.uniform(0, 0.5))
        merged = hr.naive_merge(P, hr.Ranking(range(1, n + 1)), theta)
        starts = naive_unions(np.round(np.abs(P - 0.5), 12), theta)
        assert starts == [bucket[0] for bucket in merged.buckets], (P, theta)
        joined += 1 < len(starts) < n
    assert joined > 100


def test_the_order_of_many_blocks_is_the_cheapest_with_cycles_and_without():
    rng = np.random.default_rng(2)
    cycles = 0
    for _ in range(120):
        k = int(rng.integers(8, 11))
        D = margins(rng, k)
        if rng.random() < 0.6:  # no cycle
            D = np.triu(np.abs(D), 1)
            order = rng.permutation(k)
            D = (D - D.T)[np.ix_(order, order)]
        solved = cheapest_order(-D, whole=False, clock=Clock())
        assert cheapest_blocks(-D, Clock()) == solved.order
        cycles += "subsets" in solved.proof
    assert 10 < cycles < 110


def test_pricing_many_items_stops_with_the_clock():
    votes = hr.sample_votes(hr.Mallows(list(range(18)), 0.8), 9, rng=3)
    siege = Siege(votes, hr.kemeny(votes).ranking, hr.Change.REPLACE)
    targets = np.array([np.roll(np.arange(18), shift) for shift in range(1, 18)])
    stops = np.full(len(targets), np.inf)
    priced = siege.price(targets, stops, Clock())
    assert [one.order.tolist() for one in priced] == targets.tolist()
    assert siege.price(targets, stops, Clock(-1)) == []


def test_rows_and_a_search_have_their_own_time():
    left = Clock(1000)
    assert _last_look(left, 1) > 0.3
    assert _last_look(left, 12_720) == 0
    assert _without_rows(left, 1000).seconds_left() < left.seconds_left() - 0.05
    assert _with_time_for_a_search(left).seconds_left() < left.seconds_left() - 0.5
    assert _with_time_for_a_search(Clock(0.4)).seconds_left() > 0.05
    assert np.isinf(_with_time_for_a_search(Clock()).seconds_left())


def asked_votes() -> hr.Votes:
    return hr.Votes.from_orders([list("abc"), list("bac"), list("cab")], weights=[7, 5, 3])


def test_a_median_that_was_cut_short_is_no_attack(monkeypatch):
    votes = asked_votes()
    T = hr.Robust(hr.kemeny, 0.05)
    before = T(votes).ranking
    aim = hr.NewWinner().aim(before, votes.items)
    cut = []

    def cut_short(*given):
        result = consensus_of(*given)
        cut.append(result)
        return replace(result, status=Status.TIME_LIMIT)

    def attack():
        search = tiers.CellSearch(votes, T, before, [aim], hr.Change.REPLACE, Clock(), None)
        search.advance(1000)
        return search.results()[0]

    assert attack().plan is not None
    monkeypatch.setattr(tiers, "consensus_of", cut_short)
    assert attack().plan is None
    assert cut


def test_what_is_learned_later_raises_the_bound_on_first_items():
    votes = asked_votes()
    T = hr.Robust(hr.kemeny, 0.0)
    standing = StandingTiers(votes, T, T(votes).ranking, hr.kemeny(votes).ranking, hr.Change.REPLACE)
    c = 1 << 2
    known = standing.beginning(c)
    aim = hr.Enters("c", 1).aim(hr.kemeny(votes).ranking, votes.items)
    standing.learn_goal(aim, known + 0.1)
    assert standing.beginning(c) == known + 0.1
    standing.learn(known + 0.2)
    assert standing.beginning(c) == known + 0.2
