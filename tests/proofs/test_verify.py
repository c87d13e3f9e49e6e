"""The independent checker: against brute force, against tampering, and through its doors."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from contextlib import suppress
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import holdrank as hr
from holdrank.analysis.records import seal_of
from holdrank.proofs import exact
from holdrank.proofs.bounds import Ground, rankings
from holdrank.proofs.bounds import battles as all_battles
from holdrank.proofs.exact import ExactVotes
from holdrank.proofs.programs import program
from holdrank.proofs.search import proves

import oracles
import strategies
from analyses import analysed
from strategies import random_ranks

MADE_UP = 3 * int(os.environ.get("HOLDRANK_RESULTS", "16"))  # records; `make forgery` takes 300

SMALL = hr.Votes.from_orders([list("abc"), list("bac"), list("cab")], weights=[60, 40, 11])
VOTES = hr.Votes.from_orders([list("abcd"), list("bacd"), list("cabd")], weights=[60, 40, 11])
STATISTICS = [
    hr.kemeny,
    hr.borda,
    hr.footrule,
    hr.copeland,
    hr.Robust(hr.kemeny, 0.1),
    hr.Robust(hr.kemeny, 0.1, merge="smith"),
    hr.Robust(hr.borda, 0.1, merge="naive"),
    hr.Robust(hr.footrule, 0.05),
]


def orders_of(tiers):
    return [sorted(bucket) for bucket in tiers]


# The definitions, in whole numbers.


@given(strategies.votes(counts=True, most_items=4), st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.37]))
@settings(max_examples=60)
def test_statistics_in_whole_numbers_are_those_of_brute_force(votes, theta):
    whole = ExactVotes.of(votes)
    ballots, weights = votes.ranks.tolist(), votes.weights.tolist()
    wins = oracles.wins(ballots, weights, votes.unlisted)
    n = votes.n
    assert [[(whole.compared[i][j] + whole.margins[i][j]) * whole.unit / 2 for j in range(n)] for i in range(n)] == [
        [Fraction(wins[i][j]) if i != j else 0 for j in range(n)] for i in range(n)
    ]
    cost, optima = oracles.kemeny(wins)
    found = exact.cheapest(exact.pair_costs(whole))
    assert (found.cost * whole.unit / 2, found.order, found.count) == (Fraction(cost), min(optima), len(optima))
    share = [
        [wins[i][j] / (wins[i][j] + wins[j][i]) if wins[i][j] + wins[j][i] else 0.5 for j in range(n)] for i in range(n)
    ]
    for rule in ("downward", "naive", "smith"):
        buckets = [[item] for item in found.order]
        if rule == "smith":
            expected = oracles.smith_merge(share, buckets, theta)
        else:
            expected = oracles.merge(share, buckets, theta, downward=rule == "downward")
        assert orders_of(exact.merged(whole, found.order, theta, rule)) == expected


@given(strategies.votes(counts=True, most_items=4, unlisted=False))
@settings(max_examples=40)
def test_footrule_and_borda_in_whole_numbers(votes):
    whole = ExactVotes.of(votes)
    places = [oracles.mean_places(row) for row in votes.ranks.tolist()]
    least, optima = oracles.footrule(places, votes.weights.tolist())
    found = exact.cheapest(exact.place_costs(whole))
    assert float(found.cost * whole.unit / 2) / votes.total == pytest.approx(least, rel=1e-12)
    assert (found.order, found.count) == (min(optima), len(optima))
    means = np.array(votes.weights) @ np.array(places)
    scores = np.array([float(score * whole.unit) for score in exact.borda_scores(whole)])
    assert scores == pytest.approx(-2 * means)


def test_weights_are_taken_for_what_they_are():
    tiny = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[0.1 + 0.2, 0.3])
    whole = ExactVotes.of(tiny)
    assert whole.margins[0][1] == 1  # the last bit of 0.30000000000000004
    assert [weight * whole.unit for weight in whole.weights] == [Fraction(0.1 + 0.2), Fraction(0.3)]
    assert ExactVotes.of(hr.Votes.from_orders([["a", "b"]], weights=[2**46 - 1])).total == 2**46 - 1


# Proofs.


def test_a_proof_is_a_sum_in_whole_numbers():
    """Two of five must turn: with a point for every vote for b above a, and one less for a above b."""
    votes = ExactVotes.of(hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[4, 1]))
    ground = Ground(votes, hr.Change.REPLACE, rankings(2))
    for_b = ground.margin[1, 0]
    assert ground.needed([for_b], [1]) == Fraction(3, 2)
    assert ground.needed([for_b, -for_b], [1, 1]) == 0
    assert ground.needed([2 * for_b, for_b], [10**30, 7]) == Fraction(3, 2)
    assert Ground(votes, hr.Change.ADD, rankings(2)).needed([for_b], [1]) == 3
    assert Ground(votes, hr.Change.DROP, []).needed([for_b], [1]) == 3
    never = for_b - ground.compared[0, 1] * 2  # more than all votes for b
    assert ground.needed([never], [1]) == math.inf


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize("change", list(hr.Change))
@pytest.mark.parametrize("T", STATISTICS, ids=lambda T: T.__name__)
def test_every_statement_of_an_attack_is_proved_and_a_wrong_one_refuted(T, change):
    found = hr.attack(VOTES, T, hr.NewWinner(), change=change)
    verdict = hr.verify(VOTES, T, found)
    if not found.exact:
        assert not verdict.refuted
        return
    # All is proved but how many votes it takes, where that is not settled: whether 31 or 32 votes decide, say.
    assert {check.finding for check in verdict.checks if "is known" not in check.claim} == {"proved"}, verdict.text()
    settled = (found.votes_needed, found.votes_to_decide) == (found.votes_to_tie, found.votes_sufficient)
    assert verdict.proved is settled, verdict.text()
    wrong = (
        {"lower": found.lower * 1.02},
        {"upper": found.upper * 0.98},
        {"votes_sufficient": found.votes_sufficient - 1},
        {"votes_needed": found.votes_sufficient + 1},
        {"goal": hr.Wins("d")},  # the attack is for someone else
    )
    for change_of in wrong:
        verdict = hr.verify(VOTES, T, dataclasses.replace(found, **change_of))
        assert verdict.refuted, (change_of, verdict.text())
        assert not verdict


@pytest.mark.parametrize("change", list(hr.Change))
def test_mean_scores_are_proved_too(change):
    votes = hr.Votes.from_score_rows([[9.0, 8.5, 1.0], [2.0, 7.0, 5.0], [4.0, 4.25, 4.5]], weights=[3, 4, 2])
    found = hr.attack(votes, hr.mean_score, hr.NewWinner(), change=change)
    assert found.exact
    assert hr.verify(votes, hr.mean_score, found).proved, hr.verify(votes, hr.mean_score, found).text()
    assert hr.verify(votes, hr.mean_score, dataclasses.replace(found, lower=found.lower * 1.01)).refuted
    unlike = hr.Votes.from_score_rows([[9.0, np.nan, 1.0], [2.0, 7.0, 5.0]])
    assert "no independent proof exists" in hr.verify(unlike, hr.mean_score, hr.mean_score(unlike)).text()


def test_what_an_attacker_may_not_do_is_refuted():
    found = hr.attack(VOTES, hr.kemeny, hr.NewWinner())
    for change, words in ((hr.Change.DROP, "added"), (hr.Change.ADD, "removed")):
        verdict = hr.verify(VOTES, hr.kemeny, dataclasses.replace(found, change=change))
        assert words in verdict.text()


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize("T", STATISTICS[:5], ids=lambda T: T.__name__)
def test_curves_are_proved_as_a_whole(T):
    curve = hr.breakdown(VOTES, T)
    assert hr.verify(VOTES, T, curve).proved
    higher = curve.lower.copy()
    higher[2] += 0.003
    verdict = hr.verify(VOTES, T, dataclasses.replace(curve, lower=higher))
    assert verdict.refuted
    assert "takes" in verdict.text()


@pytest.mark.parametrize("change", list(hr.Change))
@pytest.mark.parametrize("kind", strategies.KINDS)
def test_proofs_never_say_more_than_brute_force(kind, change):
    """The fewest ballots that do it, from trying all changes, are not too few by any proof."""
    rng = np.random.default_rng([8, len(kind), len(change)])
    tried = 0
    while tried < 4:
        ballots = random_ranks(rng, kind, 3, 5)
        unlisted = "observed" if kind in ("observed", "battles") else "bottom"
        votes = hr.Votes.from_ranks(np.array(ballots), unlisted=unlisted)
        rows, weights = [tuple(row) for row in votes.ranks.tolist()], [int(w) for w in votes.weights]
        before = tuple(hr.kemeny(votes).ranking.ranks.tolist())
        battles = kind == "battles"
        goal = ("new winner",)
        weak, _ = oracles.fewest_ballots(rows, weights, unlisted, change, "kemeny", before, [goal], 3, battles=battles)[
            goal
        ]
        if not weak:
            continue
        tried += 1
        ground = Ground(ExactVotes.of(votes), change, all_battles(3) if battles else rankings(3))

        def proved(amount, ground=ground, before=before):
            def demand(outcome):
                return amount if before[outcome.index(1)] > 1 else Fraction(0)

            return proves(ground, lambda: program(ground, "kemeny", None, ""), demand).complete

        assert not proved(weak + Fraction(1, 1000))
        assert proved(Fraction(0))


def test_verdicts_on_a_consensus():
    for T in STATISTICS:
        assert hr.verify(VOTES, T, T(VOTES)).proved
    good = hr.kemeny(VOTES)
    for ranks in ([2, 1, 3, 4], [1, 1, 2, 3]):
        wrong = dataclasses.replace(good, ranking=hr.Ranking(ranks))
        assert hr.verify(VOTES, hr.kemeny, wrong).refuted
    assert hr.verify(VOTES, hr.kemeny, dataclasses.replace(good, unique=False)).refuted
    even = hr.Votes.from_orders([list("abc"), list("bac")])
    assert hr.verify(even, hr.kemeny, hr.kemeny(even)).proved
    assert hr.verify(even, hr.kemeny, dataclasses.replace(hr.kemeny(even), unique=True)).refuted
    assert hr.verify(VOTES, hr.bradley_terry, hr.bradley_terry(VOTES)).proved


def test_what_is_beyond_the_proofs_is_open_and_not_true():
    rng = np.random.default_rng(4)
    many = hr.Votes.from_ranks(rng.permuted(np.tile(np.arange(1, 9), (9, 1)), axis=1))
    found = hr.attack(many, hr.kemeny, hr.NewWinner(), time_limit=5)
    verdict = hr.verify(many, hr.kemeny, found)
    assert not verdict
    assert not verdict.refuted
    assert [check.finding for check in verdict.checks][:2] == ["proved", "open"]
    battles = hr.Votes.from_ranks([[1, 2, 0], [0, 1, 2], [1, 0, 2]], unlisted="observed")
    tiers = hr.Robust(hr.bradley_terry, 0.1)
    assert "no independent proof exists" in hr.verify(battles, tiers, tiers(battles)).text()
    assert hr.verify(battles, hr.bradley_terry, hr.bradley_terry(battles)).proved
    assert repr(verdict).startswith("Verdict(")


def test_all_optima_count_for_votes_after_an_attack():
    even = VOTES.with_weights([50, 61, 0.0 + 1])
    assert hr.fulfils(VOTES, hr.kemeny, even, hr.Above("b", "a"))
    tied = hr.Votes.from_orders([list("abcd"), list("bacd")], weights=[50, 50])
    assert not hr.fulfils(VOTES, hr.kemeny, tied, hr.Above("b", "a"))
    assert not hr.fulfils(VOTES, hr.borda, tied, hr.Above("b", "a"))
    thirds = hr.Votes.from_orders([list("abcd"), list("bacd"), list("abcd")], weights=[0.1, 0.3, 0.2])
    assert not hr.fulfils(VOTES, hr.kemeny, thirds, hr.Above("b", "a"))  # 0.1 + 0.2 is no majority over 0.3


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hr.verify(VOTES, hr.kemeny), "not NoneType"),
        (lambda: hr.verify(VOTES, hr.kemeny, VOTES), "use fulfils"),
        (lambda: hr.fulfils(VOTES, hr.kemeny, VOTES, None), "a goal is"),
        (lambda: hr.fulfils(VOTES, hr.kemeny, 7, hr.NewWinner()), "must be Votes"),
        (lambda: hr.verify(VOTES, hr.analyse(VOTES, hr.Spec(draws=0)), VOTES), "votes and an analysis"),
    ],
)
def test_wrong_calls_are_refused(call, words):
    with pytest.raises(hr.UsageError, match=words):
        call()


# Analyses.


@pytest.fixture(scope="module")
def analysis():
    return hr.analyse(VOTES, hr.Spec(theta=0.05, k=2, claims=("a above c", "a wins"), draws=0))


@pytest.fixture(scope="module")
def small_analysis():
    return hr.analyse(SMALL, hr.Spec(theta=0.05, k=1, claims=("a above c", "a wins"), draws=0))


@pytest.mark.traced
@pytest.mark.slow
def test_an_analysis_is_proved_from_its_json(analysis):
    verdict = hr.verify(VOTES, hr.Analysis.from_json(analysis.to_json()))
    assert verdict.proved, verdict.text()
    assert len(verdict.checks) >= 15


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("headline",), "a is first, no matter which votes change."),
        (("consensus", "ranks"), [2, 1, 3]),
        (("consensus", "loss"), 0.01),
        (("consensus", "bound"), 0.4),
        (("tiers", "loss"), 0.01),
        (("claims", 0, "attack", "removed", "listed", 0, "weight"), 1.0),
        (("tiers", "ranks"), [1, 1, 2]),
        (("attack", "lower"), 0.2),
        (("attack", "sufficient"), 3.0),
        (("attack", "needed"), 40.0),
        (("gaps", 0, "lower"), 0.3),
        (("cut", "items", 0, "lower"), None),
        (("curves", 0, "lower", 1), 0.45),
        (("curves", 1, "lower", 0), 0.2),
        (("claims", 0, "attack", "lower"), 0.49),
    ],
)
def test_whoever_changes_a_number_is_found_out(small_analysis, place, value):
    record = json.loads(small_analysis.to_json())
    spot = record
    for key in place[:-1]:
        spot = spot[key]
    assert spot[place[-1]] != value
    spot[place[-1]] = value
    assert hr.verify(SMALL, hr.Analysis(record)).refuted


@pytest.mark.slow
@pytest.mark.parametrize("part", [("attack",), ("claims", 0, "attack"), ("claims", 1, "attack")])
def test_the_sentence_of_an_attack_must_be_that_of_its_numbers(small_analysis, part):
    record = json.loads(small_analysis.to_json())
    found = record
    for key in part:
        found = found[key]
    said, found["text"] = found["text"], "1 of 111 votes changes the winner (0.901 %, proven minimum)."
    record["seal"] = seal_of(record)  # whoever edits a record can seal it again
    refuted = [check for check in hr.verify(SMALL, hr.Analysis(record)).checks if check.finding == "refuted"]
    assert [check.note for check in refuted] == [f"its numbers say: {said}"]
    record["version"] = "0.0.1"  # which may have had other words
    record["seal"] = seal_of(record)
    verdict = hr.verify(SMALL, hr.Analysis(record))
    assert not verdict.refuted
    assert not verdict.proved


def test_notes_of_a_consensus_are_in_the_record_and_may_be_left_out():
    level = hr.Votes.from_orders([list("abc"), list("bca"), list("cab")], weights=[5, 5, 5])
    record = json.loads(hr.analyse(level, hr.Spec(theta=0.0, draws=0)).to_json())
    assert record["tiers"]["notes"] == list(hr.Robust(hr.kemeny, 0.0)(level).notes) != []
    assert record["consensus"]["notes"] == []
    for part in ("consensus", "tiers"):  # as records were before
        del record[part]["notes"]
    record["seal"] = seal_of(record)
    assert not hr.verify(level, hr.Analysis.from_json(json.dumps(record))).refuted


def leaves(value, path=()):
    """All places of a record that hold no dict or list, and all lists."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key))
        return
    yield path
    if isinstance(value, list):
        for number, part in enumerate(value[:3]):
            yield from leaves(part, (*path, number))


@pytest.mark.slow
@given(st.data())
@settings(max_examples=MADE_UP, suppress_health_check=list(HealthCheck))
def test_records_that_somebody_made_up_are_checked_or_refused(small_analysis, data):
    """Whatever stands in the file: a verdict or one clear error."""
    record = json.loads(small_analysis.to_json())
    places = [path for path in leaves(record) if path[0] not in ("votes", "items")]
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places))
        spot = record
        try:
            for key in path[:-1]:
                spot = spot[key]
            old = spot[path[-1]]
            spot[path[-1]] = data.draw(
                st.one_of(
                    st.sampled_from([None, 0, 1, -1, 7, 0.3, 1e308, "", "x wins", [], [0], True, [1, 2, 3, 4]]),
                    st.just(old[:-1] if isinstance(old, list) and old else old),
                    st.just([*old, old[-1]] if isinstance(old, list) and old else old),
                )
            )
        except (KeyError, IndexError, TypeError):  # an earlier change took this place away
            continue
    with suppress(hr.HoldrankError):
        hr.verify(SMALL, hr.Analysis.from_json(json.dumps(record))).text()


@pytest.mark.traced
@pytest.mark.slow
def test_what_a_record_cannot_show_is_open():
    scores = hr.Votes.from_score_rows([[9.0, 8.5, 1.0], [2.0, 7.0, 5.0], [4.0, 4.25, 4.5]], weights=[3, 4, 2])
    verdict = hr.verify(scores, hr.analyse(scores, hr.Spec(rule="mean-score", draws=0, theta=None)))
    assert not verdict.refuted
    assert "proved   2 votes are enough for another winner, as the attack shows" in verdict.text()
    many = hr.sample_votes(hr.Mallows(list(range(7)), 0.5), 50, rng=1)
    verdict = hr.verify(many, analysed(many, hr.Spec(draws=0, theta=None, time_limit=2), "curves"))
    left_open = [check.claim for check in verdict.checks if check.finding == "open"]
    assert {"the curve of kemeny is as reported", "the curve of borda is as reported"} <= set(left_open)
    assert not hr.Verdict(())  # nothing was said, so nothing was proved


def test_losses_in_whole_numbers():
    """By hand: three votes a > b > c, one c > b > a; 3 of 12 pairs of items and votes are against a > b > c."""
    votes = ExactVotes.of(hr.Votes.from_orders([list("abc"), list("cba")], weights=[3, 1]))
    assert exact.loss(votes, (1, 2, 3), "kendall") == Fraction(3, 12)
    assert exact.loss(votes, (1, 1, 1), "kendall") == Fraction(1, 2)
    assert exact.loss(votes, (1, 2, 3), "footrule") == Fraction(1, 4)
    assert exact.loss(votes, (1, 2, 3), "spearman_rho") == Fraction(1, 4)
    assert exact.loss(votes, (2, 1, 3), "footrule") == Fraction(3 * 2 + 4, 4 * 4)


def test_an_analysis_by_an_unknown_rule_is_refused(analysis):
    record = json.loads(analysis.to_json())
    record["spec"]["rule"] = "dice"
    with pytest.raises(hr.InputError, match="an unknown rule"):
        hr.verify(VOTES, hr.Analysis(record))


def test_an_analysis_of_other_votes_is_refused(analysis):
    with pytest.raises(hr.InputError, match="not the votes of the analysis"):
        hr.verify(VOTES.with_weights([61, 40, 11]), analysis)


@pytest.mark.slow
def test_the_command(command_line, analysis, tmp_path):
    hr.write_votes(VOTES, tmp_path / "v.soc")
    (tmp_path / "r.json").write_text(analysis.to_json(), encoding="utf-8")
    code, out, err = command_line("verify", "r.json", "v.soc", "-q", "--require-proof")
    assert (code, err) == (0, "")
    assert all(line.startswith("proved ") for line in out.splitlines())
    record = json.loads(analysis.to_json())
    record["attack"]["lower"] = 0.3
    record["seal"] = seal_of(record)
    (tmp_path / "w.json").write_text(json.dumps(record), encoding="utf-8")
    code, out, _ = command_line("verify", "w.json", "v.soc", "--json", "-q")
    assert code == 4
    told = json.loads(out)
    assert told["refuted"] is True
    refuted = [check["claim"] for check in told["checks"] if check["finding"] == "refuted"]
    assert "another winner takes at least 30 % of the votes" in refuted
    assert "the record is unchanged since it was written" not in refuted  # whoever forges it may seal it, too
    code, _, err = command_line("verify", "v.soc", "v.soc", "-q")
    assert code == 3
    assert "report -o result.json" in err


def test_permutations_are_all_there():
    ground = Ground(ExactVotes.of(VOTES), hr.Change.REPLACE, rankings(4))
    assert set(ground.kinds[ground.present :]) == set(permutations((1, 2, 3, 4)))


def test_a_place_that_the_budget_ties_is_not_excluded():
    """51 to 49: one vote, the budget, makes it even. Whoever says that b stays second says too much."""
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[51, 49])
    record = hr.analyse(votes, hr.Spec(theta=None, draws=0, budget=0.01)).record
    assert (record["reach"]["best"], record["reach"]["shown_best"]) == ([1, 1], [1, 2])
    forged = json.loads(json.dumps(record))
    forged["reach"] |= {"best": [1, 2], "worst": [1, 2], "shown_best": [1, 2], "shown_worst": [1, 2]}
    forged["seal"] = seal_of(forged)
    told = [check.finding for check in hr.verify(votes, hr.Analysis(forged)).checks if "no place but" in check.claim]
    assert told == ["open", "open"]
    firm = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[52, 48])
    assert hr.verify(firm, hr.analyse(firm, hr.Spec(theta=None, draws=0, budget=0.01))).proved


@pytest.mark.parametrize("merge", ["downward", "naive"])
@pytest.mark.slow
@pytest.mark.traced
def test_pairs_prove_what_tiers_of_many_items_take_and_nothing_more(merge):
    votes = hr.sample_votes(hr.Mallows(range(8), 0.7), 301, rng=4)
    T = hr.Robust(hr.kemeny, 0.05, merge=merge)
    for goal in (hr.NewWinner(), hr.TopSet(2), hr.Distance(1 / 28)):
        found = hr.attack(votes, T, goal, time_limit=5)
        assert found.lower > 0
        assert found.exact

        def finding(amount, found=found):
            (check, *_) = [
                check
                for check in hr.verify(votes, T, dataclasses.replace(found, lower=amount, upper=amount)).checks
                if "takes at least" in check.claim
            ]
            return check.finding

        assert finding(found.lower) == "proved", goal
        assert finding(found.lower + 1e-4) != "proved", goal
