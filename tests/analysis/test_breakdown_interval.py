"""Intervals for the breakdown of a population: against formulas for two items, linear programs, and derivatives."""

from __future__ import annotations

import json
import math
import pickle
from functools import cache

import numpy as np
import polars
import pytest

import holdrank as hr
from holdrank.analysis.chance.breakdowns import _quantiles
from holdrank.analysis.chance.p_values import student_quantile
from holdrank.analysis.chance.records import interval_record
from holdrank.attacks.shares import least_share, slopes_of
from holdrank.status import Clock, Status
from holdrank.votes.changes import Change

import oracles

NAMES = "abcd"


def draws_of(votes, draws, seed):
    """Weights of the bootstrap samples, as the documentation of the bootstrap says: blocks of 50 with own numbers."""
    total, distinct = int(votes.total), votes.distinct
    for at in range(0, draws, 50):
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(at // 50,)))
        for _ in range(min(50, draws - at)):
            if total > 8 * distinct:
                yield generator.multinomial(total, votes.weights / total)
            else:
                picked = np.repeat(np.arange(distinct), votes.weights.astype(int))[
                    generator.integers(total, size=total)
                ]
                yield np.bincount(picked, minlength=distinct)


def ends_of(signed, level):
    """The ends of an interval by sorting: as few samples outside as the level allows, 0 where signs differ."""
    row = sorted(signed)
    outside = (1 - level) / 2 * (len(row) - 1)
    low, high = row[math.floor(outside + 1e-9)], row[math.ceil(len(row) - 1 - outside - 1e-9)]
    return max(low, 0.0), max(high, -low, 0.0)


@pytest.mark.parametrize(("ahead", "behind"), [(60, 40), (52, 48), (50, 50), (100, 1)])
@pytest.mark.parametrize("rule", [hr.kemeny, hr.borda])
def test_two_items_are_a_share_less_a_half(rule, ahead, behind):
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[ahead, behind])
    found = hr.breakdown_interval(votes, rule, hr.NewWinner(), draws=300, level=0.9, rng=4)
    shares = [weights[0] / votes.total - 1 / 2 for weights in draws_of(votes, 300, 4)]
    assert (found.lower, found.upper) == pytest.approx(ends_of(shares, 0.9), abs=1e-9)
    assert found.estimate == pytest.approx(ahead / votes.total - 1 / 2, abs=1e-9)
    # A sample that is level goes to a, for its name comes first.
    assert found.reached == pytest.approx(np.mean([share < 0 for share in shares]))
    assert found.draws == 300
    assert found.open == 0
    assert found.status is Status.RESAMPLED
    if ahead == behind:
        with pytest.raises(hr.UsageError, match="its minimum share is 0"):
            hr.breakdown_interval(votes, rule, hr.NewWinner(), method="dual")
        return
    by_dual = hr.breakdown_interval(votes, rule, hr.NewWinner(), method="dual")
    p, m = ahead / votes.total, votes.total
    assert by_dual.error == pytest.approx(math.sqrt(p * (1 - p) / (m - 1)))
    reach = student_quantile(0.975, m - 1) * by_dual.error
    assert (by_dual.lower, by_dual.upper) == pytest.approx((max(p - 1 / 2 - reach, 0), p - 1 / 2 + reach), abs=1e-9)


GOALS = {
    "new winner": (hr.NewWinner(), lambda order, before: order[0] != before[0]),
    "above": (hr.Above("c", "a"), lambda order, _: order.index(2) < order.index(0)),
    "first pair": (hr.Distance(0.01), lambda order, before: order != before),
    "two pairs": (hr.Distance(0.5), lambda order, before: oracles.discordant(order, before) >= 2),
}


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("rule", [hr.kemeny, hr.borda, hr.footrule])
def test_every_sample_has_the_share_of_linear_programs(rule, goal):
    asked, wanted = GOALS[goal]
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]], weights=[4, 2, 1])

    @cache
    def signed(weights):
        """The least share over all orders that reach the goal, negative where the sample's own order does."""
        kept = [k for k, weight in enumerate(weights) if weight]
        prices = oracles.least_shares(
            rule.__name__, [votes.ranks[k].tolist() for k in kept], [weights[k] for k in kept], "bottom", "replace"
        )
        own = rule(votes.with_weights(weights)).ranking.order
        share = 0.0 if wanted(own, own) else min(price for order, price in prices.items() if wanted(order, own))
        return -share if wanted(own, rule(votes).ranking.order) else share

    expected = [signed(tuple(weights.tolist())) for weights in draws_of(votes, 200, 7)]
    found = hr.breakdown_interval(votes, rule, asked, draws=200, level=0.8, rng=7)
    assert (found.lower, found.upper) == pytest.approx(ends_of(expected, 0.8), abs=1e-6)


def groups_of(size, flipped):
    """Battles of two items by voters who cast `size` equal ones each; some voters are for b."""
    rows = {"winner": [], "loser": [], "voter": []}
    for voter in range(40):
        for _ in range(size):
            rows["winner"].append("b" if voter < flipped else "a")
            rows["loser"].append("a" if voter < flipped else "b")
            rows["voter"].append(f"v{voter}")
    return hr.Votes.from_battles(polars.DataFrame(rows), by="voter")


@pytest.mark.parametrize("method", ["bootstrap", "dual"])
def test_groups_count_as_one_voter_each(method):
    means = {"method": method, "rng": 3, "draws": 200}
    once, often = groups_of(1, 12), groups_of(9, 12)
    alone = hr.breakdown_interval(once, hr.borda, hr.NewWinner(), by="voter", **means)
    together = hr.breakdown_interval(often, hr.borda, hr.NewWinner(), by="voter", **means)
    apart = hr.breakdown_interval(often, hr.borda, hr.NewWinner(), **means)
    assert together.by == "voter"
    assert together.units == 40
    assert (together.lower, together.upper) == pytest.approx((alone.lower, alone.upper), abs=1e-9)
    assert apart.upper - apart.lower < (together.upper - together.lower) / 2
    assert apart.units == 360


@pytest.mark.parametrize("change", list(Change))
@pytest.mark.parametrize("goal", [hr.NewWinner(), hr.Above("d", "a"), hr.TopSet(2), hr.Distance(0.01)])
@pytest.mark.parametrize("rule", [hr.kemeny, hr.borda])
def test_slopes_are_the_derivative_of_the_share(rule, goal, change):
    votes = hr.sample_votes(hr.PlackettLuce([5.0, 3.1, 1.9, 1.0]), size=997, rng=11, items=list(NAMES))
    found = hr.attack(votes, rule, goal, change=change)
    slopes = slopes_of(found, rule, Clock())
    assert votes.weights @ slopes / votes.total == pytest.approx(found.upper, abs=1e-7)
    generator = np.random.default_rng(2)
    for _ in range(4):
        moved = votes.weights * 10_000 + generator.integers(0, 60, size=votes.distinct)
        there = least_share(votes.with_weights(moved), rule, goal, change, Clock())
        assert there.lower == pytest.approx(moved @ slopes / moved.sum(), abs=2e-9)
        assert abs(there.lower - found.lower) > 1e-8 or not slopes.any()


def test_slopes_on_battles_count_what_is_put_in():
    rng = np.random.default_rng(5)
    rows = [
        (i, j) if rng.random() < 0.5 + 0.08 * (j - i) else (j, i) for i in range(4) for j in range(i) for _ in range(60)
    ]
    orders = [[NAMES[i], NAMES[j]] for i, j in rows]
    votes = hr.Votes.from_orders(orders, unlisted="observed", items=list(NAMES))
    found = hr.attack(votes, hr.kemeny, hr.NewWinner())
    slopes = slopes_of(found, hr.kemeny, Clock())
    moved = votes.weights * 10_000 + np.arange(votes.distinct) % 7
    there = least_share(votes.with_weights(moved), hr.kemeny, hr.NewWinner(), Change.REPLACE, Clock())
    assert there.lower == pytest.approx(moved @ slopes / moved.sum(), abs=2e-9)


def test_voters_who_are_tied_are_not_found_apart():
    # Who leads a tie is chance. Without signs, all samples need some votes, and 0 would be excluded.
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[201, 200])
    found = hr.breakdown_interval(votes, hr.borda, hr.NewWinner(), rng=1, draws=400)
    shares = [abs(weights[0] / 401 - 1 / 2) for weights in draws_of(votes, 400, 1)]
    assert np.quantile(shares, 0.025) > 0
    assert found.lower == 0
    assert found.upper == pytest.approx(ends_of([w[0] / 401 - 1 / 2 for w in draws_of(votes, 400, 1)], 0.95)[1])
    assert "need no change" in found.text()


def test_open_samples_make_the_interval_wider_on_both_sides():
    drawn = [(0.1, 0.2, False)] * 300 + [(0.05, 0.3, True)] * 2
    assert _quantiles(drawn, 0.95) == (0.1, 0.2)
    assert _quantiles(drawn, 0.99) == (0.0, 0.3)
    assert _quantiles([(0.1, math.inf, False)] * 200, 0.95) == (0.1, math.inf)
    assert _quantiles([(0.1, 0.1, False)] * 199, 0.95) == (0.0, math.inf)


@pytest.mark.slow
def test_the_same_on_any_number_of_processes():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"], ["c", "b", "a"]], weights=[9, 6, 2])
    ask = {"rng": 9, "draws": 230}
    one = hr.breakdown_interval(votes, hr.kemeny, hr.NewWinner(), **ask)
    with hr.clusters.local(2) as executor:
        two = hr.breakdown_interval(votes, hr.kemeny, hr.NewWinner(), executor=executor, **ask)
    assert interval_record(one) == interval_record(two)
    again = hr.breakdown_interval(votes, hr.kemeny, hr.NewWinner(), rng=one.seed, draws=230)
    assert interval_record(one) == interval_record(again)
    assert interval_record(pickle.loads(pickle.dumps(one))) == interval_record(one)


def test_progress_counts_the_samples():
    seen = []
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[6, 4])
    hr.breakdown_interval(votes, hr.borda, hr.NewWinner(), rng=0, draws=210, progress=seen.append)
    assert [(step.done, step.total) for step in seen] == [(at, 210) for at in (50, 100, 150, 200, 210)]


def test_without_time_there_is_no_interval():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[60, 40])
    found = hr.breakdown_interval(votes, hr.kemeny, hr.NewWinner(), rng=1, time_limit=0)
    assert found.status is Status.RESAMPLED_TIME_LIMIT
    assert not found.known
    assert found.draws < 200
    assert "No interval: 0 bootstrap samples" in found.text()
    record = interval_record(found)
    assert record["lower"] is record["upper"] is None
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    frame = found.to_frame(backend="polars")
    assert frame["draws"].item() == 0
    assert frame["lower"].is_nan().item()
    assert "no interval" in repr(found)


def test_goals_that_are_reached_or_out_of_reach():
    votes = hr.Votes.from_orders([["a", "b"]], weights=[60])
    reached = hr.breakdown_interval(votes, hr.borda, hr.Wins("a"), rng=1, draws=200)
    assert (reached.lower, reached.upper, reached.reached) == (0, 0, 1)
    never = hr.breakdown_interval(votes, hr.borda, hr.NewWinner(), change="drop", rng=1, draws=200)
    assert (never.lower, never.upper) == (math.inf, math.inf)
    assert "no share of the votes is enough" in never.text()
    assert interval_record(never)["lower"] is None
    alone = hr.breakdown_interval(hr.Votes.from_orders([["a", "b"]]), hr.borda, hr.NewWinner(), method="dual")
    assert (alone.lower, alone.upper) == (0, math.inf)
    assert "any share" in alone.text()


def test_unanimous_votes_have_no_spread():
    votes = hr.Votes.from_orders([["a", "b", "c"]], weights=[60])
    for method in ("bootstrap", "dual"):
        found = hr.breakdown_interval(votes, hr.kemeny, hr.NewWinner(), method=method, draws=200, rng=1)
        assert (found.estimate, found.lower, found.upper) == pytest.approx((0.5, 0.5, 0.5))


def test_tiers_and_rules_without_a_proof_have_intervals_too():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[9, 4])
    for rule in (hr.copeland, hr.Robust(hr.borda, 0.05)):
        found = hr.breakdown_interval(votes, rule, hr.NewWinner(), draws=200, rng=1, time_limit=60)
        assert 0 <= found.lower <= found.estimate <= found.upper <= 1
        with pytest.raises(hr.UsageError, match='method="bootstrap"'):
            hr.breakdown_interval(votes, rule, hr.NewWinner(), method="dual")


def test_wrong_calls_say_what_to_do():
    votes = hr.Votes.from_orders([["a", "b", "c"]] * 3)
    shares = hr.Votes.from_orders([["a", "b"]], weights=[0.5])
    wrong = {
        "from 200": lambda: hr.breakdown_interval(votes, hr.kemeny, hr.NewWinner(), draws=199),
        "between 0 and 1": lambda: hr.breakdown_interval(votes, hr.kemeny, hr.NewWinner(), level=1),
        "bootstrap or dual": lambda: hr.breakdown_interval(votes, hr.kemeny, hr.NewWinner(), method="exact"),
        "as weights": lambda: hr.breakdown_interval(shares, hr.kemeny, hr.NewWinner()),
        "which voter": lambda: hr.breakdown_interval(votes, hr.kemeny, hr.NewWinner(), by="voter"),
        "a class of goals": lambda: hr.breakdown_interval(votes, hr.kemeny, hr.NewWinner),
        "no dual interval": lambda: hr.breakdown_interval(votes, hr.borda, hr.Wins("c"), method="dual"),
        "concurrent.futures": lambda: hr.breakdown_interval(votes, hr.kemeny, hr.NewWinner(), executor=3),
    }
    for message, call in wrong.items():
        with pytest.raises(hr.UsageError, match=message):
            call()


def test_hostile_names_are_shown_safely():
    name = "<b>\x1b[31m"
    votes = hr.Votes.from_orders([[name, "b"], ["b", name]], weights=[30, 20])
    found = hr.breakdown_interval(votes, hr.borda, hr.Above("b", name), rng=0, draws=200)
    assert "\x1b" not in found.text()
    assert "<b>" not in found._repr_html_()


class TestCommand:
    @pytest.fixture
    def votes_file(self, tmp_path):
        rows = ["winner,loser,who", *(f"a,b,v{k}" for k in range(30)), *(f"b,a,v{k}" for k in range(12))]
        (tmp_path / "votes.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")

    @pytest.mark.usefixtures("votes_file")
    def test_prints_the_interval_below_the_number(self, command_line):
        code, out, _ = command_line("attack", "votes.csv", "--new-winner", "--rule", "borda", "--interval", "-q")
        assert code == 0
        first, second, *_ = out.splitlines()
        assert first == "9 of 42 battles tie it, 10 change the winner (23.8 %, proven minimum)." or "10" in first
        assert second.startswith("Among all voters whom these represent, it takes ")
        assert second.endswith("(95 % confidence).")

    @pytest.mark.usefixtures("votes_file")
    def test_json_fits_the_schema_and_names_the_groups(self, command_line):
        from holdrank.analysis.records import command_mismatch

        args = ("attack", "votes.csv", "--new-winner", "--rule", "borda", "--interval", "-q", "--json")
        for more in (("--draws", "200", "--by", "who"), ("--method", "dual")):
            _, out, _ = command_line(*args, *more)
            record = json.loads(out)
            assert command_mismatch(record) == ""
            assert record["interval"]["lower"] < record["interval"]["estimate"] < record["interval"]["upper"]
        assert record["spec"]["method"] == record["interval"]["method"] == "dual"

    @pytest.mark.usefixtures("votes_file")
    def test_time_limits_and_wrong_options_are_said(self, command_line):
        args = ("attack", "votes.csv", "--new-winner", "--rule", "borda", "-q")
        code, _, err = command_line(*args, "--by", "who")
        assert code == 2
        assert "need --interval" in err
        code, out, err = command_line(*args, "--interval", "--time-limit", "0")
        assert code == 0
        assert "No interval" in out
        assert "gives all samples" in err


def test_there_is_no_sign_before_zero():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    found = hr.breakdown_interval(votes, hr.kemeny, hr.NewWinner(), draws=200, rng=0)
    assert found.lower == 0
    assert repr(found) == "BreakdownInterval(another winner: 0.1, 0 to 0.2, bootstrap)"
