"""The exact engine for Kemeny's median: known values, programs over all ballots, laws, and being stopped."""

from __future__ import annotations

import json
import math
import os
import signal
from collections.abc import Iterator
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import holdrank as hr
from holdrank.attacks.kemeny import engine as engine
from holdrank.attacks.kemeny import siege, walks
from holdrank.attacks.kemeny.orders import block_bounds_of
from holdrank.attacks.plans import Found, adds_battles
from holdrank.status import Clock, Status

import oracles
import strategies
from strategies import KINDS, random_ranks, unlisted_rule

CHANGES = list(hr.Change)
changes = pytest.mark.parametrize("change", CHANGES)
kinds = pytest.mark.parametrize("kind", KINDS)


def found_for(
    votes: hr.Votes, goals: list[hr.Goal], change=hr.Change.REPLACE, clock: Clock | None = None
) -> list[Found]:
    before = hr.kemeny(votes).ranking
    return engine.find(votes, before, [goal.aim(before, votes.items) for goal in goals], change, clock or Clock(), None)


def a_profile(rng: np.random.Generator, kind: str, n: int, times: int = 1) -> hr.Votes:
    rows: list[np.ndarray] = []
    while not rows:
        rows = random_ranks(rng, kind, n, int(rng.integers(2, 9)))
    weights = times * rng.integers(1, 4, size=len(rows))
    return hr.Votes.from_ranks(np.array(rows), weights, unlisted=unlisted_rule(kind))


def all_goals(n: int) -> dict[tuple[object, ...], hr.Goal]:
    """Every goal for items called 0 .. n-1, by the name that the oracle gives it."""
    names = [str(i) for i in range(n)]
    pairs = n * (n - 1) // 2
    return {
        **{("distance", k): hr.Distance(k / pairs) for k in range(1, pairs + 1)},
        **{("above", i, j): hr.Above(names[i], names[j]) for i, j in permutations(range(n), 2)},
        ("new winner",): hr.NewWinner(),
        **{("wins", i): hr.Wins(names[i]) for i in range(n)},
        **{("top set", k): hr.TopSet(k) for k in range(1, n)},
        **{("enters", i, k): hr.Enters(names[i], k) for i in range(n) for k in range(1, n)},
    }


def open_goals(votes: hr.Votes) -> tuple[tuple[int, ...], dict[tuple[object, ...], hr.Goal]]:
    """The ranks before an attack, and the goals that they do not fulfil."""
    before = tuple(hr.kemeny(votes).ranking.ranks.tolist())
    goals = all_goals(votes.n)
    return before, {name: goal for name, goal in goals.items() if not oracles.fulfils(name, before, before)}


def prices(votes: hr.Votes, change: str) -> dict[tuple[int, ...], float]:
    """What it takes to make each order a median, by a program with all rivals and all ballots that may be added."""
    ballots, weights = votes.ranks.tolist(), votes.weights.tolist()
    return oracles.least_shares("kemeny", ballots, weights, votes.unlisted, change, battles=adds_battles(votes))


def least(name: tuple[object, ...], before: tuple[int, ...], price: dict[tuple[int, ...], float]) -> float:
    good = [o for o in price if oracles.fulfils(name, before, [place + 1 for place in oracles.inverse(o)])]
    return min((price[order] for order in good), default=math.inf)


def optima(votes: hr.Votes) -> list[tuple[int, ...]]:
    """All medians as ranks, by brute force."""
    _, orders = oracles.kemeny(oracles.wins(votes.ranks.tolist(), votes.weights.tolist(), votes.unlisted))
    return [tuple(place + 1 for place in oracles.inverse(order)) for order in orders]


def check_attack(votes: hr.Votes, name: tuple[object, ...], change: str, known: Found) -> None:
    """The attack is one that this attacker may do, costs what it says, and reaches the goal by every optimum."""
    plan = known.plan
    assert plan is not None
    taken, put = float(plan.removed.sum()), float(plan.added.sum())
    assert {"replace": taken == pytest.approx(put), "drop": put == 0, "add": taken == 0}[change]
    assert (plan.removed <= votes.weights).all()
    assert max(taken, put) / votes.total <= known.upper + 1e-6
    assert ((plan.ranks[plan.added > 0] > 0).sum(axis=1) == (2 if adds_battles(votes) else votes.n)).all()
    before, after = tuple(hr.kemeny(votes).ranking.ranks.tolist()), optima(plan.applied(votes))
    assert all(oracles.fulfils(name, before, ranks) for ranks in after), (name, after)


# Known values.


def truths(shared_data: Path) -> Iterator[tuple[dict, hr.Votes, dict]]:
    for case in json.loads((shared_data.parent / "truths" / "breakdown.json").read_text(encoding="utf-8"))["cases"]:
        votes = hr.Votes.from_orders(case["orders"], case["p"], items=range(case["n"]))
        yield case, votes, case["breakdown_tv"]["kemeny"]


@pytest.mark.slow
def test_the_known_breakdown_functions_are_met(shared_data):
    for case, votes, known in truths(shared_data):
        b = hr.breakdown(votes, method="exact")
        told = f"{case['kind']} {case['n']} {case['seed']}"
        assert b.consensus.ranking.order == tuple(known["median"]), told
        assert b.lower == pytest.approx(known["by_flipped_pairs"], abs=1e-6), told
        assert b.lower.tolist() == b.upper.tolist(), told
        p = dict(zip(map(tuple, case["orders"]), case["p"], strict=True))
        for k, (share, attack) in enumerate(zip(known["by_flipped_pairs"], b.attacks, strict=True), start=1):
            after = attack.votes
            q = {tuple(np.argsort(row).tolist()): w for row, w in zip(after.ranks, after.weights, strict=True)}
            moved = sum(abs(p.get(order, 0) - q.get(order, 0)) for order in {*p, *q}) / 2
            assert moved == pytest.approx(share, abs=1e-6), told
            _, orders = oracles.kemeny(oracles.wins(after.ranks.tolist(), after.weights.tolist(), "bottom"))
            assert min(oracles.discordant(known["median"], order) for order in orders) >= k, told


def test_ballots_that_run_out_cost_more_than_the_margins_say():
    # Every pair is 2 to 1. Each ballot has a above two of the others and below one: replaced by a ranking with a last
    # it brings (2 - 1) + 3 = 4 of the 3 x 1/3 = 1 that are missing, never 6. And a quarter of each ballot is enough:
    # it leaves 3/4 x 1/3 for each pair against the 1/4 put in.
    votes = hr.Votes.from_orders([list(order) for order in ("bacd", "cabd", "dabc")], items="abcd")
    b = hr.breakdown(votes)
    assert b.consensus.text() == "a > b > c > d"
    assert b.lower.tolist() == b.upper.tolist() == pytest.approx([1 / 6] * 5 + [1 / 4])


def test_without_ballots_to_keep_for_it_nothing_is_reached_by_dropping():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["a", "c", "b"]], weights=[2, 3])
    goals = [hr.Above("b", "a"), hr.NewWinner(), hr.Wins("b"), hr.Distance(2 / 3), hr.Above("b", "c")]
    *never, last = found_for(votes, goals, hr.Change.DROP)
    assert [(one.lower, one.upper, one.plan) for one in never] == [(math.inf, math.inf, None)] * 4
    assert last.lower == last.upper == pytest.approx(1 / 5)


# Programs over all ballots.


@cache
def small_cases(change: str, kind: str) -> list[tuple[hr.Votes, tuple[int, ...], dict, dict]]:
    """Votes, ranks before, what the engine found by goal, and the price of each order."""
    cases = []
    for seed in range(6):
        rng = np.random.default_rng([seed, KINDS.index(kind), CHANGES.index(change)])
        votes = a_profile(rng, kind, 4 if seed % 3 == 0 else 3)
        before, goals = open_goals(votes)
        found = dict(zip(goals, found_for(votes, list(goals.values()), change), strict=True))
        cases.append((votes, before, found, prices(votes, change)))
    return cases


@pytest.mark.slow
@kinds
@changes
def test_bounds_are_certified_and_attacks_work(change, kind):
    attacks = bounds = 0
    for votes, before, found, price in small_cases(change, kind):
        for name, known in found.items():
            told = f"{name}: {known}, {votes.ranks.tolist()} x {votes.weights.tolist()} {votes.unlisted}"
            assert known.lower <= least(name, before, price) + 1e-9, told
            assert known.lower <= known.upper, told
            assert (known.plan is None) == math.isinf(known.upper), told
            bounds += 0 < known.lower < math.inf
            if known.plan is not None:
                attacks += 1
                check_attack(votes, name, change, known)
    assert bounds > 15  # otherwise nothing was put to the test
    assert attacks > 15


@pytest.mark.slow
@kinds
@changes
def test_lower_and_upper_are_those_of_programs_over_all_ballots(change, kind):
    for votes, before, found, price in small_cases(change, kind):
        # By dropping, an order may be a median but never the only one: the infimum is then no attack.
        only = oracles.only_medians_of_some(votes.ranks.tolist(), votes.unlisted) if change == "drop" else set(price)
        reached = {order: share if order in only else math.inf for order, share in price.items()}
        for name, known in found.items():
            told = f"{name}: {known}, {votes.ranks.tolist()} x {votes.weights.tolist()} {votes.unlisted}"
            assert known.lower == pytest.approx(least(name, before, price), abs=1e-7), told
            assert known.upper <= least(name, before, reached) + 1e-7, told  # and not below, see above


# Whole votes.


@pytest.mark.slow
@kinds
@changes
def test_whole_votes_are_those_of_integer_programs(change, kind):
    agreed = 0
    for seed in range(2):
        rng = np.random.default_rng([seed, 3, KINDS.index(kind), CHANGES.index(change)])
        votes = a_profile(rng, kind, 3, times=1 + 2 * seed)
        before, goals = open_goals(votes)
        weights = [int(weight) for weight in votes.weights]
        truth = oracles.fewest_by_programs(
            votes.ranks.tolist(), weights, votes.unlisted, change, before, list(goals), battles=adds_battles(votes)
        )
        for name, goal in goals.items():
            weak, strict = truth[name]
            found = hr.attack(votes, hr.kemeny, goal, change=change)
            told = f"{name}: {found!r}, {votes.ranks.tolist()} x {weights} {votes.unlisted}, {weak}, {strict}"
            assert found.votes_needed <= weak, told
            assert found.votes_sufficient >= strict, told
            agreed += (found.votes_needed, found.votes_sufficient) == (weak, strict)
            if change != "drop":
                assert found.votes_needed == weak, told
                # Battles may reach a goal by several optima with fewer than it takes for a single one.
                assert found.votes_sufficient == strict or adds_battles(votes), told
    assert agreed > 10


# The loops.


def against_of(votes: hr.Votes, change: str, items: list[int]) -> np.ndarray:
    """Half the margin of the column over the row (all of it when votes only come or go), items renumbered."""
    wins = np.array(oracles.wins(votes.ranks.tolist(), votes.weights.tolist(), votes.unlisted))[np.ix_(items, items)]
    return (wins.T - wins) / votes.total / (2 if change == "replace" else 1)


def walked(search, against, limit, *, above=(-1, -1), newcomers=(), top=0, sums=False, budget=np.inf):
    """All orders that the walk finds, with their bounds."""
    n = len(against)
    found = walks.room_for(200, n)
    limits, ends = np.full(n * (n - 1) // 2 + 1, limit), walks.parts_of(against, budget)
    wanted = walks.Wanted(against, ends, np.array(above), np.isin(np.arange(n), newcomers), top, sums)
    nodes, finished = search(wanted, limits, walks.new_walk(n), found, 10**6, False)
    assert finished
    orders, bounds, flips = (part[: found.filled[0]].tolist() for part in found[:3])
    assert flips == [oracles.discordant(order, range(n)) for order in orders]
    return {tuple(order): bound for order, bound in zip(orders, bounds, strict=True)}, nodes


@pytest.mark.slow
@kinds
@changes
def test_the_bound_of_swapped_blocks_never_exceeds_the_price_and_the_walk_misses_nothing(change, kind):
    tight = positive = pruned = 0
    for seed in range(2):
        votes = a_profile(np.random.default_rng([seed, 11, KINDS.index(kind)]), kind, 4)
        items = list(hr.kemeny(votes).ranking.order)
        price = {tuple(map(items.index, order)): share for order, share in prices(votes, change).items()}
        against, sums = against_of(votes, change, items), adds_battles(votes)
        for order, share in price.items():
            bound = block_bounds_of(against, np.array([order]), sums)[0]
            assert bound <= share + 1e-9
            tight += abs(bound - share) < 1e-9 < share
            positive += bound > 1e-9
        everything, _ = walked(walks.search_orders, against, np.inf, sums=sums)
        assert everything.keys() == price.keys()
        assert all(bound <= price[order] + 1e-9 for order, bound in everything.items())
        for limit in np.quantile([share for share in price.values() if share < np.inf], [0.2, 0.5, 0.8]).tolist():
            cheap = {order for order, share in price.items() if share < limit - 1e-9}
            near, _ = walked(walks.search_orders, against, limit, sums=sums, budget=limit)
            assert cheap <= near.keys()
            pruned += len(price) - len(near)
            for wish, fits in (
                ({"above": (3, 1)}, lambda order: order.index(3) < order.index(1)),
                ({"newcomers": (2, 3), "top": 1}, lambda order: order[0] >= 2),
            ):
                wished, _ = walked(walks.search_orders, against, limit, sums=sums, **wish)
                assert set(filter(fits, cheap)) <= wished.keys()
                assert all(map(fits, wished))
    assert tight > 3
    assert positive > 20
    assert pruned > 10


@pytest.mark.slow
def test_parts_keep_apart_only_what_no_target_within_the_budget_mixes():
    apart = mixed = 0
    orders = list(permutations(range(5)))
    for seed in range(2):
        rng = np.random.default_rng([seed, 5])
        scores = rng.normal(size=(12, 5)) + np.array([0.0, 0.4, 1.4, 1.8, 2.8])
        votes = hr.Votes.from_ranks(scores.argsort(axis=1).argsort(axis=1) + 1, rng.integers(1, 9, size=12))
        items = list(hr.kemeny(votes).ranking.order)
        p = np.zeros(len(orders))
        for ranks, weight in zip(votes.ranks.tolist(), votes.weights.tolist(), strict=True):
            p[orders.index(tuple(np.argsort([ranks[item] for item in items]).tolist()))] += weight / votes.total
        price = dict(zip(orders, oracles.kemeny_budgets(p, 5), strict=True))
        for budget in sorted({round(share, 9) for share in price.values()})[1:]:
            ends = walks.parts_of(against_of(votes, hr.Change.REPLACE, items), budget).tolist()
            within = [order for order, share in price.items() if share < budget - 1e-9]
            assert all(ends.index(ends[p]) <= item < ends[p] for order in within for p, item in enumerate(order))
            apart += len(set(ends[:5])) - 1
            mixed += len(within) - 1
    assert apart > 10
    assert mixed > 100


@kinds
def test_a_walk_that_is_interrupted_finds_the_same(kind):
    rng = np.random.default_rng([13, KINDS.index(kind)])
    for change in CHANGES:
        votes = a_profile(rng, kind, 5)
        items = list(hr.kemeny(votes).ranking.order)
        against, sums = against_of(votes, change, items), adds_battles(votes)
        for wish in ({}, {"above": (4, 0)}, {"newcomers": (3, 4), "top": 2}):
            whole, nodes = walked(walks.search_orders, against, 0.3, sums=sums, **wish)

            def in_steps(wanted, limits, walk, found, _, improve):
                visited = 0
                while True:
                    nodes, finished = walks.search_orders(wanted, limits, walk, found, 3, improve)
                    visited += nodes
                    if finished:
                        return visited, True

            assert walked(in_steps, against, 0.3, sums=sums, **wish) == (whole, nodes)


# Laws.


@pytest.mark.slow
@settings(max_examples=20)
@given(
    votes=strategies.votes(most_items=4, most_ballots=6, counts=True),
    change=st.sampled_from([hr.Change.REPLACE, hr.Change.ADD]),
    times=st.integers(2, 50),
    data=st.data(),
)
def test_names_and_the_number_of_votes_do_not_matter_and_farther_costs_more(votes, change, times, data):
    assume(votes.n > 2)
    before, goals = hr.kemeny(votes).ranking, all_goals(votes.n)
    columns = list(data.draw(st.permutations(range(votes.n))))
    other = hr.Votes.from_ranks(votes.ranks[:, columns], votes.weights * times, unlisted=votes.unlisted)

    def renamed(name):
        """Return the goal for the new names: item columns[i] is now called i."""
        until = 1 + {"above": 2, "wins": 1, "enters": 1}.get(name[0], 0)
        return goals[(name[0], *map(columns.index, name[1:until]), *name[until:])]

    here, there = (
        engine.find(v, b, [goal.aim(b, v.items) for goal in asked], change, Clock(), None)
        for v, b, asked in (
            (votes, before, goals.values()),
            (other, hr.Ranking(before.ranks[columns]), map(renamed, goals)),
        )
    )
    pairs = votes.n * (votes.n - 1) // 2
    for side in ("lower", "upper"):
        values = [getattr(one, side) for one in here]
        assert values == pytest.approx([getattr(one, side) for one in there], abs=1e-9)
        assert values[:pairs] == sorted(values[:pairs])


# Being stopped.


class Impatient(Clock):
    """Is interrupted when it was asked the time often enough."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.left = most

    def over(self) -> bool:
        self.left -= 1
        self.interrupted = self.interrupted or self.left < 0
        return super().over()


@pytest.mark.slow
@changes
def test_whenever_it_is_stopped_the_bounds_hold(change):
    rng = np.random.default_rng(17)
    votes = hr.Votes.from_ranks(np.array([rng.permutation(4) + 1 for _ in range(12)]))
    before, goals = open_goals(votes)
    price = prices(votes, change)
    unfinished = 0
    for most in [*range(12), 10**6]:
        for name, known in zip(goals, found_for(votes, list(goals.values()), change, Impatient(most)), strict=True):
            truth = least(name, before, price)
            assert known.lower <= truth + 1e-9
            assert known.upper >= truth - 1e-9
            unfinished += known.lower < truth - 1e-6
            if known.plan is not None:
                check_attack(votes, name, change, known)
            if most == 10**6 and change != "drop":
                assert (known.lower, known.upper) == pytest.approx((truth, truth), abs=1e-9)
    assert unfinished > 10


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0, 0.003, 0.03])
def test_a_time_limit_is_no_error_and_what_comes_back_holds(seconds, shared_data):
    for _, votes, truth in truths(shared_data):
        known = np.array(truth["by_flipped_pairs"])
        b = hr.breakdown(votes, time_limit=seconds)
        assert (b.lower <= known + 1e-9).all()
        assert (b.upper >= known - 1e-9).all()
        assert b.exact.all() or b.status is Status.BETWEEN_TIME_LIMIT
        first = hr.attack(votes, hr.kemeny, hr.NewWinner(), time_limit=seconds)
        assert known[0] - 1e-9 <= first.upper  # another winner is another order
        assert first.lower <= first.upper


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_ctrl_c_returns_what_is_proved(monkeypatch):
    rng = np.random.default_rng(19)
    votes = hr.Votes.from_ranks(np.array([rng.permutation(4) + 1 for _ in range(20)]))
    before = tuple(hr.kemeny(votes).ranking.ranks.tolist())
    price = prices(votes, hr.Change.REPLACE)
    truth = np.array([least(("distance", k), before, price) for k in range(1, 7)])
    sent = []
    real = siege.Siege.price

    def interrupted(self, *args):
        if not sent:
            sent.append(os.kill(os.getpid(), signal.SIGINT))
        return real(self, *args)

    monkeypatch.setattr(siege.Siege, "price", interrupted)
    b = hr.breakdown(votes)
    assert sent
    assert b.status is Status.BETWEEN_INTERRUPTED
    assert (b.lower <= truth + 1e-9).all()
    assert (b.upper >= truth - 1e-9).all()
    assert (b.lower < truth - 1e-6).any()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    monkeypatch.undo()
    assert hr.breakdown(votes).lower == pytest.approx(truth, abs=1e-7)
