"""Each layer of the exact engine against trying every order, and against the other layers."""

from __future__ import annotations

import signal
import threading
from functools import cache
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings

import holdrank as hr
from holdrank.arrays.insertions import descend, wander
from holdrank.arrays.subsets import order_subsets
from holdrank.rules import kemeny
from holdrank.rules.kemeny import batch, branch, packing, parts, prefixes, search, subsets, symmetry, triangles
from holdrank.rules.kemeny.parts import order_cost
from holdrank.rules.solvers.highs import LinearProgram, Solution
from holdrank.status import Clock, Status, Step

import oracles
from strategies import votes


def solve(cost, whole=True, time_limit=None, progress=None):
    return kemeny.cheapest_order(np.asarray(cost), whole=whole, clock=Clock(time_limit), progress=progress)


def paley(q):
    """Majorities of one vote around a circle: no small cycle helps, the linear bound is far off."""
    squares = {x * x % q for x in range(1, q)}
    return np.array([[float((j - i) % q in squares) for j in range(q)] for i in range(q)])


def uniform(n, size, seed):
    return hr.sample_votes(hr.Uniform(n), size, rng=seed)


@pytest.fixture
def no_subsets(monkeypatch):
    monkeypatch.setattr(subsets, "ALWAYS_UP_TO", 1)
    monkeypatch.setattr(subsets, "CLOSES_UP_TO", 1)
    monkeypatch.setattr(symmetry, "MOST_ITEMS", 0)
    only_branching(monkeypatch)


def only_branching(patch):
    """Switch off what keeps most components from being branched on; test_kemeny_cuts.py switches it on."""
    patch.setattr(branch, "_CUT_ROUNDS", 0)
    patch.setattr(branch, "_CUT_ROUNDS_A_NODE", 0)
    patch.setattr(prefixes, "MOST_COST", -1.0)


def check_against_every_order(v, solved):
    least, optima = oracles.kemeny(v.wins().tolist())
    assert solved.cost == pytest.approx(least, rel=1e-9)
    assert solved.bound <= solved.cost
    if v.is_counts:
        assert solved.order in optima
        if solved.unique is not None:
            assert solved.unique == (len(optima) == 1)
    return optima


@given(votes())
def test_subsets_equal_trying_every_order(v):
    solved = solve(v.wins().T, v.is_counts)
    optima = check_against_every_order(v, solved)
    assert solved.proved
    if v.is_counts:
        assert solved.order == min(optima)
        assert solved.unique is not None


@pytest.mark.slow
@settings(max_examples=200)
@given(votes())
def test_branch_and_bound_equals_trying_every_order(v):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsets, "ALWAYS_UP_TO", 1)
        patch.setattr(subsets, "CLOSES_UP_TO", 1)
        patch.setattr(symmetry, "MOST_ITEMS", 0)
        only_branching(patch)
        solved = solve(v.wins().T, v.is_counts)
        check_against_every_order(v, solved)
        assert solved.proved
        assert solved.bound == pytest.approx(solved.cost, rel=1e-9)
        # From the worst start, so that the bounds and not the search do the work.
        patch.setattr(search, "good_order", lambda cost, *_, **__: np.arange(len(cost))[::-1].copy())
        patch.setattr(search, "improve", lambda cost, order: order)  # noqa: ARG005
        patch.setattr(search, "better_order", lambda cost, order, *_, **__: order)  # noqa: ARG005
        solved = solve(v.wins().T, v.is_counts)
        check_against_every_order(v, solved)
        assert solved.proved


@pytest.mark.slow
@settings(max_examples=200)
@given(votes())
def test_cycle_packing_is_a_valid_bound(v):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsets, "ALWAYS_UP_TO", 1)
        patch.setattr(kemeny, "_MOST_COLUMNS", 0)
        solved = solve(v.wins().T, v.is_counts)
    least, _ = oracles.kemeny(v.wins().tolist())
    assert solved.bound <= least * (1 + 1e-9) + 1e-9
    assert solved.cost >= least * (1 - 1e-9) - 1e-9
    assert not (solved.proved and solved.cost > least * (1 + 1e-9) + 1e-9)
    assert solved.too_large == (not solved.proved)


def test_hard_tournaments_need_branching_and_get_the_optimum(no_subsets):  # noqa: ARG001
    solved = solve(paley(11))
    assert "branching" in solved.proof
    assert solved.proved
    assert solved.cost == subsets.solve(paley(11), 0.0).cost


@pytest.mark.slow
def test_proofs_hold_without_the_help_of_the_search(monkeypatch):
    """From a poor start the tree does the work: its proofs must find what the whole engine finds."""
    cases = [np.random.default_rng(2), 50110]
    votes_ = [hr.sample_votes(hr.Uniform(50), 100, rng=seed) for seed in cases] + [
        uniform(36, 100, s) for s in range(6)
    ]
    expected = [hr.kemeny(v).loss for v in votes_]
    monkeypatch.setattr(search, "good_order", lambda cost, *_, **__: np.arange(len(cost)))
    monkeypatch.setattr(search, "improve", lambda cost, order: order)  # noqa: ARG005
    monkeypatch.setattr(search, "better_order", lambda cost, order, *_, **__: order)  # noqa: ARG005
    for v, loss in zip(votes_, expected, strict=True):
        found = hr.kemeny(v, time_limit=20)
        assert found.bound <= loss + 1e-12
        if found.status is Status.PROVED:
            assert found.loss == pytest.approx(loss, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_gap_in_a_small_component_is_closed_by_subsets(seed, monkeypatch):
    cost = paley(11) if seed == 0 else uniform(12, 7, seed).wins().T
    expected = subsets.solve(cost, 0.0)
    monkeypatch.setattr(subsets, "ALWAYS_UP_TO", 1)
    solved = solve(cost)
    assert solved.cost == expected.cost
    assert solved.proved


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_the_least_cost_of_every_subset_is_that_of_its_best_order(n):
    cost = np.random.default_rng(n).integers(0, 9, (n, n)).astype(float)
    least = order_subsets(cost)
    for subset in range(1 << n):
        items = [i for i in range(n) if subset >> i & 1]
        orders = permutations(items)
        assert least[subset] == min(sum(cost[i, j] for i, j in combinations(order, 2)) for order in orders)


@pytest.mark.parametrize("most", [1, 5, 10**6])
def test_separation_finds_the_most_violated_triangles(most):
    rng = np.random.default_rng(8)
    for _ in range(20):
        before = np.triu(rng.choice([0, 0.25, 1 / 3, 0.5, 1], (9, 9)), 1)
        before += np.tril(1 - before.T, -1)
        excess, triples = triangles.violated_triangles(before, 1e-6, most)
        found = dict(zip(map(tuple, triples.tolist()), excess.tolist(), strict=True))
        sums = {(i, j, k): before[i, j] + before[j, k] - before[i, k] for i, j, k in combinations(range(9), 3)}
        everything = {at: max(total - 1, -total) for at, total in sums.items() if max(total - 1, -total) > 1e-6}
        assert len(found) == len(triples)
        assert found == {at: everything[at] for at in found}
        assert len(found) >= min(most, len(everything))
        if most > 1000:
            assert found == everything
        elif left := [everything[at] for at in everything.keys() - found.keys()]:
            assert max(left) < min(found.values())


def local_optimum(cost, order):
    items = order.tolist()
    here = parts.order_cost(cost, order)
    for item in items:
        rest = [i for i in items if i != item]
        for at in range(len(items)):
            moved = np.array([*rest[:at], item, *rest[at:]])
            assert parts.order_cost(cost, moved) >= here - 1e-6


def test_descents_end_where_no_single_move_helps():
    cost = uniform(12, 20, 1).wins().T
    local_optimum(cost, search.good_order(cost, Clock()))
    local_optimum(cost, search.improve(cost, np.arange(12)))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 12, 40])
@pytest.mark.parametrize("whole", [True, False])
def test_iterated_search_returns_what_it_says_and_the_same_each_time(n, whole):
    rng = np.random.default_rng(n)
    cost = rng.integers(0, 50, (n, n)).astype(float) if whole else rng.random((n, n))
    np.fill_diagonal(cost, 0.0)
    margin = np.ascontiguousarray(cost - cost.T)
    start = rng.permutation(n)

    def price(order):
        return sum(cost[a, b] for k, a in enumerate(order) for b in order[k + 1 :])

    found = []
    for _ in range(2):
        order = start.copy()
        gained = wander(margin, order, steps=200_000, seed=5)
        assert sorted(order.tolist()) == list(range(n))
        assert price(start) - price(order) == pytest.approx(gained, abs=1e-9)
        assert gained >= 0
        found.append(order.tolist())
    assert found[0] == found[1]
    if n <= 7:
        assert price(found[0]) == pytest.approx(min(map(price, permutations(range(n)))), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_iterated_search_finds_the_optimum_of_small_components(seed):
    rng = np.random.default_rng(seed)
    cost = rng.integers(0, 100, (14, 14)).astype(float)
    np.fill_diagonal(cost, 0.0)
    best = search.better_order(cost, np.arange(14), Clock(), steps=3_000_000)
    assert order_cost(cost, best) == order_subsets(cost)[-1]


def test_searches_from_many_starts_find_the_planted_order_of_sparse_battles():
    """All battles agree with one order of 70 items; few pairs meet, so that many orders cost the same."""
    rng = np.random.default_rng(3)
    hidden = rng.permutation(70)
    cost = np.zeros((70, 70))
    for first, second in rng.integers(0, 70, (200, 2)).tolist():
        if first != second:
            cost[hidden[max(first, second)], hidden[min(first, second)]] = 1.0
    start = hidden[::-1].copy()
    assert order_cost(cost, start) > 100
    assert order_cost(cost, search.best_of_starts(cost, start, Clock())) == 0
    assert search.best_of_starts(cost, start, Clock(0)).tolist() == start.tolist()


def test_descents_make_the_best_move_of_each_item_in_turn():
    for seed in range(5):
        cost = uniform(15, 20, seed).wins().T
        margin = np.ascontiguousarray(cost - cost.T)
        order = np.random.default_rng(seed).permutation(15)
        expected, before = order.tolist(), parts.order_cost(cost, order)
        gained = descend(margin, order)
        assert gained == pytest.approx(before - parts.order_cost(cost, order))
        moved = True
        while moved:
            moved = False
            for start in range(15):
                rest = [*expected[:start], *expected[start + 1 :]]
                item = expected[start]
                moves = [[*rest[:to], item, *rest[to:]] for to in (*range(start + 1, 15), *range(start - 1, -1, -1))]
                best = min(moves, key=lambda move: parts.order_cost(cost, np.array(move)))
                if parts.order_cost(cost, np.array(best)) < parts.order_cost(cost, np.array(expected)) - 1e-9:
                    expected, moved = best, True
        assert order.tolist() == expected
        local_optimum(cost, order)


def test_without_a_time_limit_the_answer_is_always_the_same():
    v = uniform(24, 10, 3)
    assert hr.kemeny(v).ranking == hr.kemeny(v).ranking
    assert hr.kemeny(v, time_limit=0).ranking == hr.kemeny(v, time_limit=0).ranking


def test_lost_margins_hold_all_differences_between_costs():
    for size in (9, 10):
        v = uniform(5, size, 3)
        wins = v.wins()
        lost, unit, exact = parts.lost_margins(wins.T, whole=True)
        assert exact
        assert np.array_equal(lost, np.rint(lost))
        assert unit >= (2 if size == 10 else 1)
        assert (np.minimum(lost, lost.T) == 0).all()
        full = [sum(wins[o[b], o[a]] for a in range(5) for b in range(a + 1, 5)) for o in permutations(range(5))]
        short = [sum(lost[o[a], o[b]] for a in range(5) for b in range(a + 1, 5)) for o in permutations(range(5))]
        assert np.allclose(np.array(full) - full[0], unit * (np.array(short) - short[0]))
    assert parts.lost_margins(np.zeros((3, 3)), whole=True)[1:] == (0.5, True)
    lost, unit, exact = parts.lost_margins(np.array([[0, 3e-9], [1e-9, 0]]), whole=False)
    assert (lost.max(), exact) == (1.0, False)
    assert unit == pytest.approx(2e-9)
    # Sums that a float cannot hold are treated as shares.
    assert not parts.lost_margins(np.array([[0, 2.0**53, 3], [0, 0, 0], [0, 5, 0]]), whole=True)[2]


@pytest.mark.parametrize(
    ("bound", "step", "raised"),
    [
        (91.0, 2.0, 92.0),
        (92.0, 2.0, 92.0),
        (98.5, 2.0, 100.0),
        (100.0, 2.0, 100.0),
        (99.2, 0.0, 99.2),
        (100.0, 0.0, 100.0),
    ],
)
def test_bounds_rise_to_the_next_possible_cost(bound, step, raised):
    assert parts.raise_to_step(bound, 100.0, step) == pytest.approx(raised)


def test_costs_of_long_orders_are_summed_row_by_row():
    cost = np.random.default_rng(0).random((1200, 1200))
    order = np.random.default_rng(1).permutation(1200)
    assert parts.order_cost(cost, order) == pytest.approx(np.triu(cost[np.ix_(order, order)], 1).sum())


def test_what_is_not_proved_is_not_called_one_of_several():
    v = uniform(19, 301, 35)
    c = hr.kemeny(v, time_limit=0)
    assert c.loss > hr.kemeny(v).loss  # the local search stops short of it
    assert c.unique is None


def test_large_counts_are_solved_and_proved():
    v = uniform(26, 60, 5)
    more = 10**9 + np.random.default_rng(3).integers(0, 10**6, v.distinct)
    assert hr.kemeny(hr.Votes.from_ranks(v.ranks, more)).status is Status.PROVED
    rng = np.random.default_rng(31)
    n = int(rng.integers(6, 14))
    ranks = np.array([rng.permutation(n) + 1 for _ in range(9)])
    huge = hr.Votes.from_ranks(ranks, np.floor(rng.random(9) * 7e12) + 1)
    ballots = list(zip(huge.ranks.tolist(), huge.weights.tolist(), strict=True))
    exact = [[sum(int(w) for r, w in ballots if r[i] < r[j]) for j in range(n)] for i in range(n)]
    lost = [[max(exact[j][i] - exact[i][j], 0) for j in range(n)] for i in range(n)]
    order = hr.kemeny(huge).ranking.order
    found = sum(lost[order[a]][order[b]] for a in range(n) for b in range(a + 1, n))
    least = {0: 0}  # whole numbers of any size, subset by subset
    for subset in range(1, 1 << n):
        inside = [i for i in range(n) if subset >> i & 1]
        least[subset] = min(least[subset ^ 1 << i] + sum(lost[i][j] for j in inside) for i in inside)
    assert found <= least[(1 << n) - 1] * (1 + 1e-9)


def test_three_votes_in_thirty_trillion_decide():
    weights = [10**13, 10**13 + 1, 10**13 + 3]
    v = hr.Votes.from_orders([["a", "b"], ["b", "c"], ["c", "a"]], weights, items="abc", unlisted="observed")
    c = hr.kemeny(v)
    assert c.text() == "b > c > a"  # it gives up the smallest majority
    assert c.unique is True
    assert [r.text("abc") for r in hr.kemeny_optima(v)] == ["b > c > a"]


@pytest.mark.parametrize("n", [9, 10])
def test_large_margins_that_differ_by_one_are_not_proved_away(n, no_subsets, monkeypatch):  # noqa: ARG001
    monkeypatch.setattr(search, "good_order", lambda cost, *_, **__: np.arange(len(cost)))
    for seed in range(12):
        rng = np.random.default_rng(seed)
        margin = np.triu(23333333333 + rng.integers(0, 2, (n, n)), 1) * rng.choice([-1, 1], (n, n))
        cost = np.maximum(margin, 0).astype(float) + np.maximum(-margin, 0).T
        solved = solve(cost)
        exact = subsets.solve(cost, 0.0)
        assert solved.bound <= exact.cost
        if solved.proved:
            assert solved.cost == exact.cost
            assert solved.unique in (None, exact.unique)


def test_sums_too_large_for_a_linear_program_end_unproved_at_once(no_subsets):  # noqa: ARG001
    rng = np.random.default_rng(0)
    margin = np.triu(10**13 + rng.integers(0, 9, (11, 11)), 1) * rng.choice([-1, 1], (11, 11))
    cost = np.maximum(margin, 0).astype(float) + np.maximum(-margin, 0).T
    solved = solve(cost)
    exact = subsets.solve(cost, 0.0)
    assert not solved.proved
    assert solved.bound <= exact.cost <= solved.cost
    assert solved.bound > 0.8 * solved.cost


def test_differences_that_are_only_rounding_are_ties():
    for v in (
        hr.Votes.from_orders([["a", "b"], ["a", "b"], ["b", "a"]], weights=[0.1, 0.2, 0.3]),
        hr.Votes.from_ranks([[2, 1], [1, 2]], weights=[0.1 + 0.2, 0.3]),
    ):
        for statistic in (hr.kemeny, hr.borda, hr.footrule):
            c = statistic(v)
            assert c.ranking.order == (0, 1)
            assert c.unique is False
        assert len(hr.kemeny_optima(v)) == 2
        assert hr.kemeny_batch(v.pairwise()).ranks.tolist() == [1, 2]


def test_a_solver_that_gives_up_is_no_time_limit(monkeypatch):
    monkeypatch.setattr(subsets, "CLOSES_UP_TO", 1)
    monkeypatch.setattr(symmetry, "MOST_ITEMS", 0)
    monkeypatch.setattr(LinearProgram, "solve", lambda *_: Solution(False, -np.inf, np.empty(0), np.empty(0)))
    assert hr.kemeny(uniform(20, 100, 1)).status is Status.UNPROVED


def test_a_solver_that_calls_a_fitting_branch_empty_is_not_believed(no_subsets, monkeypatch):  # noqa: ARG001
    calls = []
    real = LinearProgram.solve

    def wrong(self, clock):
        calls.append(1)
        return real(self, clock) if len(calls) < 4 else Solution(True, np.inf, np.empty(0), np.empty(0))

    monkeypatch.setattr(LinearProgram, "solve", wrong)
    solved = solve(paley(11))
    assert not solved.proved


def test_subsets_are_left_out_when_the_time_is_too_short(monkeypatch):
    monkeypatch.setattr(subsets, "expected_seconds", lambda _: 1e9)
    monkeypatch.setattr(symmetry, "MOST_ITEMS", 0)
    monkeypatch.setattr(subsets, "ALWAYS_UP_TO", 1)
    only_branching(monkeypatch)
    assert "branching" in solve(paley(11), time_limit=30).proof
    assert subsets.expected_seconds(12) < 1e10


def test_free_moves_show_a_second_optimum():
    # Moving 0 past both others costs nothing, no swap of neighbours does.
    cost = np.array([[0, 1, 3], [3, 0, 1], [1, 3, 0]], dtype=float)
    assert parts.tidy(cost, np.array([0, 1, 2]), 0.0) == ((0, 1, 2), False)
    chain = np.triu(np.zeros((3, 3))) + np.tril(np.ones((3, 3)), -1)
    assert parts.tidy(chain, np.array([0, 1, 2]), 0.0) == ((0, 1, 2), None)
    assert parts.tidy(np.ones((3, 3)), np.array([2, 0, 1]), 0.0) == ((0, 1, 2), False)


def test_a_unique_optimum_is_proved_by_reduced_costs(no_subsets):  # noqa: ARG001
    # Three strong votes around a cycle of five: one optimum, and the linear program is tight.
    rng = np.random.default_rng(4)
    proved = 0
    for _ in range(40):
        margin = np.triu(rng.integers(1, 50, (6, 6)), 1) * rng.choice([-1, 1, 1], (6, 6))
        cost = np.maximum(margin, 0).astype(float) + np.maximum(-margin, 0).T
        solved = solve(cost.T)
        _, optima = oracles.kemeny(cost.tolist())
        if solved.unique is not None:
            assert solved.unique == (len(optima) == 1)
            proved += solved.unique and "linear program" in solved.proof
    assert proved >= 5


@given(votes(counts=True, most_items=5))
def test_all_optima_are_listed_in_order(v):
    _, optima = oracles.kemeny(v.wins().tolist())
    assert [r.order for r in hr.kemeny_optima(v)] == sorted(optima)


def test_too_many_optima_are_refused():
    v = hr.Votes.from_ranks([[1] * 8])
    with pytest.raises(hr.LimitError, match="more than 100 optimal rankings"):
        hr.kemeny_optima(v, most=100)
    two_blocks = hr.Votes.from_ranks([[1] * 4 + [2] * 4])
    assert len(hr.kemeny_optima(two_blocks)) == 24 * 24
    with pytest.raises(hr.LimitError, match="more than 100 optimal rankings"):
        hr.kemeny_optima(two_blocks, most=100)
    with pytest.raises(hr.LimitError, match="20 items form one component"):
        hr.kemeny_optima(hr.Votes.from_ranks([[1] * 20]))


def test_the_proof_says_what_settled_each_component():
    assert hr.kemeny(hr.Votes.from_orders([["a", "b"]])).proof == "2 single items by majority"
    cyclic = [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]
    two = [[*first, *(name.upper() for name in first)] for first in cyclic]
    assert hr.kemeny(hr.Votes.from_orders(two)).proof == "2 x 3 items by subsets"
    assert hr.kemeny(uniform(20, 100, 1)).proof.endswith("20 items by linear program")


def test_progress_is_reported(no_subsets):  # noqa: ARG001
    steps = []
    solve(paley(11), progress=steps.append)
    assert steps[0] == Step("components", 0, 1)
    assert any(step.name == "branches" and step.total >= step.done for step in steps)
    seen = []
    hr.kemeny(hr.Votes.from_orders([["a", "b"]]), progress=seen.append)
    assert seen == [Step("components", 0, 2), Step("components", 1, 2)]


def test_a_time_limit_inside_the_search_tree_keeps_the_bound(no_subsets):  # noqa: ARG001
    cost = paley(19)
    solved = solve(cost, time_limit=0.5)
    assert not solved.proved
    assert 0 < solved.bound <= 64 <= solved.cost
    assert solved.cost == cost[np.argsort(solved.order)[:, None] < np.argsort(solved.order)].sum()


def test_a_solver_that_gives_up_proves_nothing(no_subsets, monkeypatch):  # noqa: ARG001
    calls = []
    real = LinearProgram.solve

    def fail_later(self, clock):
        calls.append(1)
        solution = real(self, clock)
        return solution if len(calls) < 4 else branch_free_failure(solution)

    def branch_free_failure(solution):
        return type(solution)(False, -np.inf, np.empty(0), np.empty(0))

    monkeypatch.setattr(LinearProgram, "solve", fail_later)
    solved = solve(paley(11))
    assert not solved.proved
    assert solved.bound <= subsets.solve(paley(11), 0.0).cost


def test_the_dual_bound_holds_for_any_prices():
    model = LinearProgram(np.array([-3.0, 2.0, 1.0]))
    model.add_rows(np.array([[0, 1, 2]]), np.array([[1.0, 1.0, -1.0]]), 0.0, 1.0)
    for price in np.linspace(-5, 5, 21):
        bound, _ = model._dual_bound(np.array([price]))
        assert bound <= -3.0 + 1e-12  # the optimum: only the first column
    assert model.solve(Clock()).bound == pytest.approx(-3.0)
    model.set_bounds(np.array([1.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0]))
    assert model.solve(Clock()).bound == np.inf


def test_shares_of_votes_are_as_exact_as_counts(no_subsets):  # noqa: ARG001
    v = uniform(9, 40, 5)
    shares = hr.Votes.from_ranks(v.ranks, v.weights / 1e7 + 1e-13, v.items)
    a, b = solve(v.wins().T), solve(shares.wins().T, whole=False)
    assert b.cost * 1e7 == pytest.approx(a.cost, rel=1e-5)
    assert b.proved


def test_large_components_get_a_ranking_and_a_bound(monkeypatch):
    monkeypatch.setattr(kemeny, "_MOST_COLUMNS", 1000)
    v = uniform(60, 51, 1)
    grown = hr.kemeny(v)
    monkeypatch.setattr(packing, "_ROOM", 1)  # nothing grows
    c = hr.kemeny(v)
    assert c.status is Status.TOO_LARGE
    assert "cycle packing" in c.proof
    exact = c.bound
    monkeypatch.undo()
    best = hr.kemeny(v)
    assert exact <= best.loss <= c.loss
    assert grown.status is best.status is Status.PROVED
    assert grown.loss == best.loss == grown.bound
    assert "cycle packing and growing orders" in grown.proof
    by_pairs = np.minimum(v.wins(), v.wins().T).sum() / 2 / v.total / (60 * 59 / 2)
    assert c.bound > by_pairs
    monkeypatch.setattr(kemeny, "_MOST_COLUMNS", 1000)
    assert hr.kemeny(v, time_limit=0).bound == pytest.approx(by_pairs, rel=1e-3)


def test_the_clock_leaves_the_handlers_of_others_alone():
    before = signal.getsignal(signal.SIGINT)
    with Clock() as clock:
        assert signal.getsignal(signal.SIGINT) != before
        signal.raise_signal(signal.SIGINT)
        assert clock.interrupted
        assert clock.over()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    mine = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with Clock() as clock:
            signal.raise_signal(signal.SIGINT)
            assert not clock.interrupted
    finally:
        signal.signal(signal.SIGINT, mine)
    heard = []
    worker = threading.Thread(target=lambda: heard.append(hr.kemeny(uniform(20, 100, 0)).status))
    worker.start()
    worker.join()
    assert heard == [Status.PROVED]


def test_children_contradict_neither_their_parents_nor_themselves():
    tree = branch._Tree(paley(11), np.arange(11)[::-1].copy(), 1.0, 0.0, Clock())
    tree.relax(tree.root)
    todo, seen = [tree.root], 0
    while todo and seen < 40:
        node = todo.pop()
        for child in tree.branches(node):
            seen += 1
            assert (child.lower <= child.upper).all()
            assert (child.lower >= node.lower).all()
            assert (child.upper <= node.upper).all()
            tree.relax(child)
            if not tree.settled(child.bound):
                todo.append(child)
    assert seen >= 6


def test_a_child_without_orders_is_closed(monkeypatch):
    """Branching may leave bounds that no order satisfies; the tree goes on without them."""
    monkeypatch.setattr(subsets, "ALWAYS_UP_TO", 1)
    tree = branch._Tree(paley(11), np.arange(11), 1.0, 0.0, Clock())
    tree.relax(tree.root)
    node = branch._Node(tree.root.bound, 1, np.zeros(55), np.ones(55))
    # 0 before 1 before 2 before 0.
    node.lower[tree.column[0, 1]] = node.lower[tree.column[1, 2]] = 1.0
    node.upper[tree.column[0, 2]] = 0.0
    tree.relax(node)
    assert node.bound == np.inf
    assert tree.settled(node.bound)


def random_matrices(count, n, grid, seed=0):
    A = np.triu(np.random.default_rng(seed).integers(0, grid + 1, (count, n, n)) / grid, 1)
    return A + np.tril(1 - np.swapaxes(A, 1, 2), -1) + np.eye(n) / 2


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("grid", [4, 10**6])
def test_batch_equals_trying_every_order(n, grid):
    matrices = random_matrices(25, n, grid)
    medians = hr.kemeny_batch(matrices)
    for P, r, found in zip(matrices, medians.ranks, medians.loss, strict=True):
        least, optima = oracles.kemeny(P.tolist())
        assert found * oracles.pairs(n) == pytest.approx(least)
        assert hr.Ranking(r).order == min(optima)


def test_batch_equals_the_scalar_engine_and_keeps_the_shape():
    tables = np.array([uniform(8, 15, seed).pairwise() for seed in range(6)]).reshape(2, 3, 8, 8)
    found = hr.kemeny_batch(tables)
    ranks, loss = found.ranks, found.loss
    assert repr(found) == "KemenyBatch(2 x 3 medians of 8 items)"
    assert not ranks.flags.writeable
    assert not loss.flags.writeable
    assert ranks.shape == (2, 3, 8)
    assert loss.shape == (2, 3)
    for seed in range(6):
        c = hr.kemeny(uniform(8, 15, seed))
        assert ranks.reshape(6, 8)[seed].tolist() == c.ranking.ranks.tolist()
        assert loss.reshape(6)[seed] == pytest.approx(c.loss)
    single = hr.kemeny_batch(tables[0, 0])
    assert single.ranks.tolist() == ranks[0, 0].tolist()
    assert repr(single) == "KemenyBatch(1 medians of 8 items)"
    empty = hr.kemeny_batch(np.zeros((0, 4, 4)))
    assert empty.ranks.shape == (0, 4)
    assert empty.loss.shape == (0,)


def test_batch_in_chunks_equals_batch_at_once(monkeypatch):
    matrices = random_matrices(50, 5, 20)
    whole = hr.kemeny_batch(matrices)
    monkeypatch.setattr(batch, "_NUMBERS_AT_A_TIME", 1000)
    parts = hr.kemeny_batch(matrices)
    assert np.array_equal(whole.ranks, parts.ranks)
    assert np.array_equal(whole.loss, parts.loss)


def test_batch_runs_on_another_array_library():
    strict_library = pytest.importorskip("array_api_strict")
    matrices = random_matrices(7, 4, 20)
    found = hr.kemeny_batch(strict_library.asarray(matrices))
    expected = hr.kemeny_batch(matrices)
    assert np.array_equal(np.asarray(found.ranks), expected.ranks)
    assert np.array_equal(np.asarray(found.loss), expected.loss)


def test_batch_refuses_what_is_no_stack_of_small_matrices():
    for wrong in (np.zeros(3), np.zeros((2, 3)), np.zeros((2, 0, 0))):
        with pytest.raises(hr.UsageError, match="square matrices"):
            hr.kemeny_batch(wrong)
    with pytest.raises(hr.LimitError, match="up to 10 items, not 11"):
        hr.kemeny_batch(np.zeros((1, 11, 11)))


@cache
def five_thousand_votes():
    """Costs, whether they are whole, and what trying every order says: the least cost, and how many orders have it."""
    rng = np.random.default_rng(99)
    found = []
    for case in range(5000):
        n, m = int(rng.integers(2, 8)), int(rng.integers(1, 9))
        n = 8 if case % 23 == 0 else n  # 40,320 orders each: these take as long as all others together
        ranks = rng.integers(0, n + 1, (m, n)) if case % 2 else np.argsort(rng.random((m, n)), axis=1) + 1
        weights = rng.integers(0, 4, m).astype(float) if case % 3 else rng.random(m) * (rng.random(m) < 0.8)
        if not (ranks.any(axis=1) & (weights > 0)).any():
            continue
        v = hr.Votes.from_ranks(ranks, weights, unlisted="observed" if case % 5 else "bottom")
        tolerance = 0.0 if v.is_counts else 1e-9
        found.append((v.wins().T, v.is_counts, *oracles.kemeny_at_once(v.wins(), tolerance)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["subsets", "branch and bound", "growing orders"])
def test_five_thousand_votes_equal_trying_every_order(layer, monkeypatch):
    """Ties between majorities, zero weights, unlisted items, whole and broken weights, up to eight items."""
    if layer != "subsets":
        monkeypatch.setattr(subsets, "ALWAYS_UP_TO", 1)
        monkeypatch.setattr(subsets, "CLOSES_UP_TO", 1)
        monkeypatch.setattr(symmetry, "MOST_ITEMS", 0)
    if layer == "branch and bound":
        only_branching(monkeypatch)
    if layer == "growing orders":
        monkeypatch.setattr(branch, "_ROUNDS_FIRST", 0)
    decided = 0
    for cost, whole, least, count in five_thousand_votes():
        solved = solve(cost, whole)
        assert solved.cost == pytest.approx(least, rel=1e-9, abs=1e-12)
        assert solved.proved
        if solved.unique is not None:
            decided += 1
            assert solved.unique == (count == 1)
    assert decided > (4000 if layer == "subsets" else 2000)
