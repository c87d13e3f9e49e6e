"""Rows on a few items, whole prices and growing orders, against all orders and against the independent verifier."""

from __future__ import annotations

import os
from itertools import pairwise, permutations

import numpy as np
import pytest

import holdrank as hr
from holdrank.arrays.native import call
from holdrank.rules.kemeny import branch, cheapest_order, cuts, prefixes, subsets, symmetry
from holdrank.rules.kemeny.parts import order_cost
from holdrank.status import Clock, Status


def hard_cost(n, seed, least=8, most=12):
    """Margins of much the same size in random directions, eleven items of them a Paley tournament: large gaps."""
    rng = np.random.default_rng(seed)
    ahead = np.triu(rng.integers(0, 2, (n, n)), 1).astype(bool)
    ahead |= np.tril(~ahead.T, -1)
    if n >= 11:
        squares = {x * x % 11 for x in range(1, 11)}
        core = rng.permutation(n)[:11]
        ahead[np.ix_(core, core)] = [[(j - i) % 11 in squares for j in range(11)] for i in range(11)]
    size = np.triu(rng.integers(least, most + 1, (n, n)), 1)
    return np.where(ahead, 0.0, (size + size.T).astype(float))


def votes_with(cost):
    """Votes with these lost margins, two ballots a pair: i and j before the rest, and behind the rest turned round."""
    n = len(cost)
    orders, weights = [], []
    for j, i in np.argwhere(cost > 0).tolist():  # a majority prefers i
        rest = [item for item in range(n) if item not in (i, j)]
        orders += [[i, j, *rest], [*rest[::-1], i, j]]
        weights += [int(cost[j, i])] * 2
    return hr.Votes.from_orders(orders, weights, items=range(n))


def relaxed(n, seed, sizes=cuts.SIZES, rounds=6):
    """The root of a tree with rows on a few items."""
    cost = hard_cost(n, seed)
    tree = branch._Tree(cost, np.arange(n), 1.0, 0.0, Clock())
    tree.separator = cuts.Separator(sizes)
    tree.relax(tree.root, rounds)
    return tree


def weight_of(cut, order):
    """What an order of all items weighs in a row, from its definition."""
    place = {item: p for p, item in enumerate(order)}
    k = len(cut.items)
    return sum(
        int(cut.weights[i, j]) for i in range(k) for j in range(i + 1, k) if place[cut.items[i]] < place[cut.items[j]]
    )


@pytest.mark.parametrize("size", [6, 7, 8])
@pytest.mark.slow
@pytest.mark.traced
def test_no_order_breaks_a_row_and_some_order_reaches_it(size):
    seen = 0
    for seed in range(8):
        tree = relaxed(14, seed, sizes=(size,), rounds=1)
        for cut in tree.program.cuts[: 5 if size < 8 else 1]:
            weights = [weight_of(cut, order) for order in permutations(cut.items)]
            assert max(weights) == cut.limit
            seen += 1
    assert seen >= 3


def test_rows_cut_off_the_solution_that_they_were_made_for_and_no_order():
    tree = relaxed(18, 1, rounds=0)
    before = tree.before(tree.root.x)
    found = tree.separator.violated(before)
    assert found
    rng = np.random.default_rng(0)
    orders = [rng.permutation(18) for _ in range(50)]
    for cut in found:
        columns, values, limit = cut.row(tree.program.column)
        assert values @ tree.root.x[columns] > limit + 1e-4
        for order in orders:
            place = np.argsort(order)
            x = (place[tree.program.pairs[0]] < place[tree.program.pairs[1]]).astype(float)
            assert values @ x[columns] == weight_of(cut, order) - cut.limit + limit
            assert values @ x[columns] <= limit


def test_rows_are_the_same_each_time():
    first, second = (relaxed(14, 3, rounds=3).program.cuts for _ in range(2))
    assert first
    assert [(cut.items, cut.weights.tolist()) for cut in first] == [(cut.items, cut.weights.tolist()) for cut in second]


@pytest.mark.slow
@pytest.mark.traced
def test_rows_raise_the_bound_and_not_above_the_optimum():
    raised = 0
    for seed in range(6):
        plain, cut = relaxed(14, seed, rounds=0), relaxed(14, seed, rounds=3)
        least = subsets.solve(plain.cost, 0.0).cost
        assert plain.root.bound <= cut.root.bound <= least + 1e-6
        raised += cut.root.bound > plain.root.bound + 0.5
    assert raised >= 3


def losses(prices, order):
    """What an order loses at the prices, from the definition of each row."""
    place = {int(item): p for p, item in enumerate(order)}
    n = len(order)
    lost = sum(int(prices.deviations[i, j]) for i in range(n) for j in range(n) if place[i] < place[j])
    for a, b, c, price in prices.triangles.tolist():
        turns = sum(place[x] < place[y] for x, y in ((a, b), (b, c), (c, a)))
        lost += price * (turns == 2)
    for cut, price in prices.cuts:
        lost += price * (cut.limit - weight_of(cut, order))
    return lost


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.slow
@pytest.mark.traced
def test_prices_split_the_cost_of_every_order_without_a_remainder(seed):
    tree = relaxed(17, seed)
    assert tree.program.cuts
    prices = prefixes.whole_prices(tree.program, tree.root.duals, tree.root.lower, tree.root.upper)
    assert prices.cuts
    assert prices.base <= tree.root.bound * prefixes.SCALE + len(tree.program.triples)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        order = rng.permutation(17)
        exact = round(order_cost(tree.cost, order)) * prefixes.SCALE
        assert prices.base + losses(prices, order) == exact
        assert prices.base + losses(prices.reversed(), order[::-1]) == exact


@pytest.mark.slow
@pytest.mark.traced
def test_any_prices_decide_whether_an_order_is_cheaper():
    """Prices from a solver, wrong ones and none at all give the same answer, only sooner or later."""
    rng = np.random.default_rng(5)
    found = 0
    for seed in range(24):
        n = int(rng.integers(5, 13))
        tree = relaxed(n, seed, rounds=1)
        least = subsets.solve(tree.cost, 0.0).cost
        noise = rng.normal(0, [0.0, 0.3, 5.0][seed % 3], len(tree.root.duals))
        duals = tree.root.duals + noise if seed % 4 else np.zeros(len(noise))
        prices = prefixes.whole_prices(tree.program, duals, tree.root.lower, tree.root.upper)
        for more in (0, 1, 2, 7):
            decided, order = prefixes.cheaper_order(prices, least + more, 5_000, Clock())
            assert decided
            if more == 0:
                assert order is None
            else:
                found += 1
                assert sorted(order) == list(range(n))
                assert order_cost(tree.cost, order) == least
    assert found == 72


def test_fixed_pairs_are_kept():
    for seed in range(8):
        n = 8
        tree = relaxed(n, seed, rounds=0)
        rng = np.random.default_rng(seed)
        node = branch._Node(tree.root.bound, 1, tree.root.lower.copy(), tree.root.upper.copy())
        chain = rng.permutation(n)[:3]
        for a, b in pairwise(chain.tolist()):
            column = tree.program.column[min(a, b), max(a, b)]
            node.lower[column] = node.upper[column] = float(a < b)
        tree.relax(node)
        least = min(
            order_cost(tree.cost, np.array(order))
            for order in permutations(range(n))
            if all(order.index(a) < order.index(b) for a, b in pairwise(chain.tolist()))
        ) if seed == 0 else None  # fmt: skip
        prices = prefixes.whole_prices(tree.program, node.duals, node.lower, node.upper)
        decided, order = prefixes.cheaper_order(prices, tree.cost.sum(), 10_000, Clock())
        assert decided
        place = np.argsort(order)
        assert place[chain[0]] < place[chain[1]] < place[chain[2]]
        assert least is None or order_cost(tree.cost, order) == least


def test_orders_of_more_items_than_a_word_has_bits():
    """A hard part of nine items between others that are in order: the optimum is that of the part."""
    n, hard = 140, 9
    margin = np.triu(np.full((n, n), 30.0), 1)
    middle = np.arange(60, 60 + hard)
    part = hard_cost(hard, 2)
    margin[np.ix_(middle, middle)] = np.triu(part.T - part, 1)
    cost = np.maximum(margin.T - margin, 0.0)
    np.testing.assert_array_equal(cost[np.ix_(middle, middle)], part)
    least = subsets.solve(part, 0.0).cost
    program = branch._Tree(cost, np.arange(n), 1.0, 0.0, Clock()).program
    columns = len(program.margins)
    prices = prefixes.whole_prices(program, np.empty(0), np.zeros(columns), np.ones(columns))
    decided, order = prefixes.cheaper_order(prices, least + 1, 50_000, Clock())
    assert decided
    assert order_cost(cost, order) == least
    assert prefixes.cheaper_order(prices, least, 50_000, Clock()) == (True, None)


def test_without_room_or_time_nothing_is_decided():
    tree = relaxed(20, 0, rounds=0)
    prices = prefixes.whole_prices(tree.program, np.zeros(len(tree.root.duals)), tree.root.lower, tree.root.upper)
    value = subsets.solve(tree.cost, 0.0).cost + 1
    for room in (1, 2, 50, 1_000):
        assert prefixes.cheaper_order(prices, value, room, Clock()) == (False, None)
    assert prefixes.cheaper_order(prices, value, 100_000, Clock(0)) == (False, None)
    assert prefixes.cheaper_order(prices, prices.base / prefixes.SCALE, 1, Clock()) == (True, None)


def test_pairs_that_no_order_can_have_at_that_price_decide_at_once():
    deviations = np.zeros((3, 3), dtype=np.int64)
    for a, b in ((1, 0), (2, 1), (0, 2)):
        deviations[a, b] = 50 * prefixes.SCALE
    prices = prefixes.Prices(0, deviations, np.empty((0, 4), np.int64), [], np.zeros((3, 3), dtype=bool))
    assert prefixes.cheaper_order(prices, 40.0, 10, Clock()) == (True, None)
    decided, order = prefixes.cheaper_order(prices, 60.0, 10, Clock())
    assert decided
    assert losses(prices, order) == 50 * prefixes.SCALE


def test_shares_and_sums_too_large_are_left_to_the_tree():
    cost = hard_cost(12, 0)
    for step, scale in ((0.0, 0.1), (1.0, 2.0**40)):
        tree = branch._Tree(cost * scale, np.arange(12), step, 0.0, Clock())
        tree.relax(tree.root)
        assert not tree.grow(tree.root, 1_000)


def test_charges_of_a_row_add_up_to_its_slack():
    rng = np.random.default_rng(3)
    for _ in range(20):
        k = int(rng.integers(3, 8))
        weights = np.triu(rng.integers(-3, 4, (k, k)), 1)
        limit = call("heaviest_order", k, weights)
        inside, across = (np.empty((1 << k, k), np.int64) for _ in range(2))
        assert call("charge_prefixes", k, weights, limit, 5, inside, across) == 0
        order = rng.permutation(k).tolist()
        cut = cuts.Cut(tuple(range(k)), weights, limit)
        seen = lost = crossing = 0
        for item in order:
            assert inside[seen, item] >= 0
            assert inside[seen, item] + across[seen, item] >= 0
            lost += int(inside[seen, item])
            crossing += int(across[seen, item])
            seen |= 1 << item
        assert crossing == 0
        assert lost == 5 * (limit - weight_of(cut, order))


INSTANCES = int(os.environ.get("HOLDRANK_CUT_INSTANCES", "6"))  # of each family; 1,000 take some minutes
FAMILIES = {"6 items": (6,), "7 items": (7,), "8 items": (8,), "growing": ()}


@pytest.mark.slow
@pytest.mark.traced
@pytest.mark.parametrize("family", FAMILIES)
def test_the_verifier_refutes_no_bound_of_a_family_alone(family, monkeypatch):
    """Without subsets, branches and the other families; orders and bounds are checked in whole numbers."""
    rows: list[int] = []
    violated = cuts.Separator.violated

    def noted(separator, before):
        found = violated(separator, before)
        rows.append(len(found))
        return found

    monkeypatch.setattr(subsets, "ALWAYS_UP_TO", 2)
    monkeypatch.setattr(subsets, "CLOSES_UP_TO", 2)
    monkeypatch.setattr(symmetry, "MOST_ITEMS", 0)
    monkeypatch.setattr(cuts, "_TRIES", 20)
    monkeypatch.setattr(cuts.Separator, "violated", noted)
    monkeypatch.setattr(branch, "_has_few_cycles", lambda _: False)
    monkeypatch.setattr(branch, "Separator", lambda: cuts.Separator(FAMILIES[family]))
    monkeypatch.setattr(branch._Tree, "stopped", lambda _: len(rows) >= 3)
    if family != "growing":
        monkeypatch.setattr(prefixes, "MOST_COST", -1.0)
    used = proved = 0
    for seed in range(INSTANCES):
        rows.clear()
        votes = votes_with(hard_cost(11 + seed % 2, seed, *[(1, 1), (8, 12), (1, 3)][seed % 3]))
        found = hr.kemeny(votes)
        (check,) = hr.verify(votes, hr.kemeny, found).checks
        assert check.finding == ("proved" if found.status is Status.PROVED else "open"), check
        used += sum(rows) > 0 or "growing" in found.proof
        proved += found.status is Status.PROVED
    print(f"{family}: used in {used}, proved {proved} of {INSTANCES}")
    assert used


def test_bounds_hold_when_time_runs_out_in_rounds_of_cuts():
    cost = hard_cost(24, 1)
    proved = cheapest_order(cost, whole=True, clock=Clock())
    assert proved.proved
    for looks in (3, 20, 40, 80):
        solved = cheapest_order(cost, whole=True, clock=Clock().with_looks(looks))
        assert solved.bound <= proved.cost <= solved.cost
