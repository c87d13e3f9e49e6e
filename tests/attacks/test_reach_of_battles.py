"""Places of items of an arena under attack: never too few against brute force, and shown by attacks that work."""

import copy
import os
from itertools import pairwise

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.bradley_terry.battles import Battles, ranked
from holdrank.attacks.bradley_terry.movement import Movement
from holdrank.status import Status

import oracles
from analyses import analysed
from battles import arena, profiles, votes_of

pytestmark = pytest.mark.usefixtures("time_at_work")

PROFILES = int(os.environ.get("HOLDRANK_PROFILES", "6"))  # a long run takes 5000
SECONDS = 1.0 if PROFILES > 6 else 0.3  # for one search; a long run has more
CHANGES = ("replace", "drop", "add")
BY_HAND = {"replace": 2, "drop": 3, "add": 3}


def places_by_hand(won, tied, change, most):
    """Best and worst places after every change of up to `most` battles: at best, at worst, if equals stand anyhow."""
    found = []
    for size in range(most + 1):
        after = oracles.battles_after(won, tied, change, size)
        if not len(after):
            break
        s = oracles.strengths_of_many(after, 1e-6)
        unit = 1e-8 * np.maximum(np.ptp(s, axis=1), 1.0)[:, None, None]
        lead = s[:, :, None] - s[:, None, :]
        surely_above, surely_below = (lead > unit).sum(axis=1), (lead < -unit).sum(axis=1)
        found.append((1 + surely_above, len(won) - surely_below))
    first, last = np.concatenate([f for f, _ in found]), np.concatenate([w for _, w in found])
    return first.min(axis=0), last.max(axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_no_change_of_battles_brings_an_item_beyond_its_places(change):
    closed = 0
    for rng, won, tied, votes in profiles(PROFILES, 21):
        size = int(rng.integers(1, BY_HAND[change] - (len(won) == 5 and change == "replace") + 1))
        if size >= votes.total:
            continue
        first, last = places_by_hand(won, tied, change, size)
        found = hr.reach(votes, hr.bradley_terry, size, change=change, time_limit=SECONDS)
        told = (won.tolist(), tied.tolist(), change, size, found, first, last)
        assert found.budget * votes.total == pytest.approx(size)
        assert (found.best <= first).all(), told
        assert (found.worst >= last).all(), told
        assert (found.shown_best >= first).all(), told
        assert (found.shown_worst <= last).all(), told
        closed += found.status is Status.LEAST
    assert closed


@pytest.mark.parametrize("change", CHANGES)
def test_places_of_many_items_are_bounded_and_shown(change):
    wins = arena(np.random.default_rng(2), 35, 20_000, 0)
    counts = hr.PairCounts.from_wins(wins, [f"i{k}" for k in range(35)])
    found = hr.reach(counts, hr.bradley_terry, 5, change=change)
    order = hr.bradley_terry(counts).ranking.order
    place = np.empty(35, dtype=int)
    place[list(order)] = np.arange(1, 36)
    ends = [found.best, found.shown_best, place, found.shown_worst, found.worst]
    assert all((one <= other).all() for one, other in pairwise(ends))
    assert (found.worst - found.best).mean() < 4
    assert (found.shown_worst - found.shown_best).mean() > 0.4
    assert found.change == change
    assert found.budget == 5 / 20_000


def test_counts_and_battles_have_the_same_places():
    counts = hr.PairCounts.from_wins(arena(np.random.default_rng(3), 8, 400, 0), [f"i{k}" for k in range(8)])
    one, other = (hr.reach(data, hr.bradley_terry, 0.01) for data in (counts, counts.as_votes()))
    for end in ("best", "worst", "shown_best", "shown_worst"):
        assert getattr(one, end).tolist() == getattr(other, end).tolist()


def test_an_item_never_beaten_and_groups_that_no_battle_connects_have_places():
    alone = votes_of([[0, 20, 20], [0, 0, 30], [0, 25, 0]], np.zeros((3, 3), dtype=int))
    found = hr.reach(alone, hr.bradley_terry, 1, change="add")
    first, last = places_by_hand([[0, 20, 20], [0, 0, 30], [0, 25, 0]], [[0] * 3] * 3, "add", 1)
    assert (found.best.tolist(), found.worst.tolist()) == (first.tolist(), last.tolist())
    won = [[0, 9, 0, 0], [3, 0, 0, 0], [0, 0, 0, 8], [0, 0, 4, 0]]
    parts = hr.reach(votes_of(won, np.zeros((4, 4), dtype=int)), hr.bradley_terry, 1, change="drop")
    first, last = places_by_hand(won, [[0] * 4] * 4, "drop", 1)
    assert (parts.best <= first).all()
    assert (parts.worst >= last).all()


@pytest.mark.parametrize("budget", [0, 1.5, -1, 50, True, "3", float("nan"), 0.0])
def test_budgets_are_shares_or_whole_numbers_of_votes(budget):
    votes = votes_of([[0, 20], [30, 0]], np.zeros((2, 2), dtype=int))
    with pytest.raises(hr.UsageError, match="between 0 and 1, or a whole number of votes below 50"):
        hr.reach(votes, hr.borda, budget)
    with pytest.raises(hr.UsageError, match="'drop'"):
        hr.reach(votes, hr.borda, 0.1, change="steal")


def test_a_change_that_leaves_no_battle_is_none():
    one = votes_of([[0, 1, 0], [0, 0, 0], [0, 0, 0]], np.zeros((3, 3), dtype=int))
    found = hr.reach(one, hr.bradley_terry, 0.5, change="drop")
    assert (found.best <= found.shown_best).all()
    assert (found.shown_best == found.shown_worst).all()


def test_counts_of_rankings_are_refused_with_a_way_out():
    counts = hr.PairCounts.from_votes(hr.Votes.from_orders([["a", "b", "c"], ["b", "c", "a"]], weights=[3, 2]))
    with pytest.raises(hr.UsageError, match="as_votes"):
        hr.reach(counts, hr.bradley_terry)
    with pytest.raises(hr.UsageError, match="kemeny"):
        hr.reach(counts, hr.kemeny)


@pytest.mark.slow
@pytest.mark.parametrize("change", ["drop", "add"])
@pytest.mark.parametrize("name", ["kemeny", "borda", "copeland"])
def test_no_vote_dropped_or_added_brings_an_item_beyond_its_places(name, change):
    rng = np.random.default_rng(len(name))
    for number in range(10):
        n = 3 + number % 2
        rows = [tuple((rng.permutation(n) + 1).tolist()) for _ in range(7)]
        ballots = sorted(set(rows))
        weights = [rows.count(b) for b in ballots]
        votes = hr.Votes.from_ranks(np.array(ballots), weights)
        size = 1 + number % 2
        found = hr.reach(votes, getattr(hr, name), size, change=change)
        sums = [oracles.attacks(ballots, weights, "bottom", hr.Change(change), k) for k in range(1, size + 1)]
        sums.append(oracles.sums_of(ballots, weights, "bottom")[None])
        seen = [ranks for some in sums for kind in oracles.outcomes(name, some, n) for ranks in kind]
        first, last = np.min(seen, axis=0), np.max(seen, axis=0)
        told = (ballots, weights, found, first, last)
        assert (found.best <= first).all(), told
        assert (found.worst >= last).all(), told
        assert (found.shown_best >= first).all(), told
        assert (found.shown_worst <= last).all(), told


def test_a_chain_of_equals_may_tie_items_that_are_farther_apart():
    for n in (3, 10, 100):
        counts = hr.PairCounts.from_wins(arena(np.random.default_rng(n), n, 200 * n, 0), [f"i{k}" for k in range(n)])
        movement = Movement(Battles.of(counts.as_votes()), hr.Change.DROP)
        chain = np.arange(n) * 0.99e-8
        assert len(ranked(chain).buckets) == 1
        assert movement.told_apart(float(np.ptp(chain))) > np.ptp(chain)


@pytest.mark.slow
def test_places_of_battles_are_proved_again_and_others_are_not(monkeypatch):
    monkeypatch.setattr("holdrank.proofs.recorded.record.LONGEST", 0.5)  # bounds go on to rise far beyond the budget
    votes = hr.PairCounts.from_wins(arena(np.random.default_rng(2), 5, 300, 0), list("abcde")).as_votes()
    spec = hr.Spec(rule="bradley-terry", budget=0.02, theta=None, draws=0, time_limit=None)
    found = analysed(votes, spec, "reach")

    def told(analysis):
        return [c.finding for c in hr.verify(votes, analysis).checks if "can be brought to " in c.claim]

    assert told(found) == ["proved"] * 5
    places = copy.deepcopy(found.record)["reach"]
    last, other = places["worst"].index(5), places["best"].index(3)
    places["best"][last] = places["shown_best"][last] = 4
    places["worst"][other] = places["shown_worst"][other] = 3  # one that an attack brings lower
    forged = told(hr.Analysis(found.record | {"reach": places}))
    assert "proved" not in (forged[last], forged[other])
    assert forged.count("proved") == 3
