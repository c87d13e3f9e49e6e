"""The registry of rules: what entries say is true, and the recipe for a rule and a goal of one's own works."""

from __future__ import annotations

import doctest
import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import holdrank as hr
from conftest import ROOT
from holdrank.cli import options
from holdrank.cli.attack import attack
from holdrank.cli.rank import rank
from holdrank.cli.report import report
from holdrank.rules import registry
from holdrank.rules.registry import Rule, forget, register, rule_named, rule_of, rules

from strategies import KINDS, random_ranks

RECIPE = ROOT / "docs" / "how-to" / "extend.md"


def profiles(kind: str, count: int):
    rng = np.random.default_rng(7)
    for _ in range(count):
        ranks = random_ranks(rng, kind, int(rng.integers(2, 5)), 5)
        if len(ranks):
            unlisted = "observed" if kind in ("observed", "battles") else "bottom"
            yield hr.Votes.from_ranks(np.array(ranks), rng.integers(1, 4, len(ranks)), unlisted=unlisted)


def upside_down(votes: hr.Votes) -> hr.Votes:
    """Return the votes turned around; what is unlisted at the bottom comes to the top."""
    ranks = np.where(votes.ranks > 0, votes.ranks, 0 if votes.unlisted == "observed" else 9)
    return hr.Votes.from_ranks(np.where(ranks > 0, 10 - ranks, 0), votes.weights, unlisted=votes.unlisted)


def consensus(rule: Rule, votes: hr.Votes) -> hr.Consensus | None:
    try:
        return rule.function(votes)
    except hr.HoldrankError:  # these votes do not have this rule
        return None


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)
def test_entries_tell_the_truth(rule):
    for kind in KINDS:
        for votes in profiles(kind, 20):
            found = consensus(rule, votes)
            if found is None:
                continue
            assert found.ranking.is_strict or not rule.is_strict
            assert rule.run(votes, None).ranking == found.ranking
            if rule.needs == "pairs":
                assert rule.function(hr.PairCounts.from_votes(votes)).ranking == found.ranking
            if rule.tied is not None:
                assert found.ranking <= rule.tied(votes)
                assert found.unique == rule.tied(votes).is_strict
            if rule.optima is not None:
                assert found.ranking in rule.optima(votes, 10_000)
                assert found.unique == (len(rule.optima(votes, 10_000)) == 1)
            if rule.is_symmetric(votes) and found.unique:
                assert rule.function(upside_down(votes)).ranking == hr.Ranking(-found.ranking.ranks)
            twin = rule.on(votes)
            if found.unique:
                assert twin.function(votes).ranking == found.ranking
            if rule.majorities_first:
                assert majorities_stand_first(votes, found.ranking)
            if rule.median_of is not None and found.distance == rule.median_of:
                others = (hr.Ranking(r) for r in product(range(votes.n), repeat=votes.n) if len(set(r)) == votes.n)
                assert found.loss <= min(votes.loss(other, rule.median_of) for other in others) + 1e-12


def majorities_stand_first(votes: hr.Votes, ranking: hr.Ranking) -> bool:
    """Whether every set of items that beats all others stands before them."""
    beats = votes.wins() > votes.wins().T
    for bits in range(1, 2**votes.n - 1):
        inside = [i for i in range(votes.n) if bits >> i & 1]
        outside = [i for i in range(votes.n) if not bits >> i & 1]
        if beats[np.ix_(inside, outside)].all() and ranking.ranks[inside].max() >= ranking.ranks[outside].min():
            return False
    return True


def test_the_command_line_offers_every_rule():
    assert set(options.RULES) == {rule.name for rule in rules()}


def test_names_are_taken_once_and_unknown_ones_refused():
    with pytest.raises(hr.UsageError, match="'kemeny' already"):
        register(Rule(name="kemeny", function=hr.kemeny))
    with pytest.raises(hr.UsageError, match=r"rule must be one of auto, kemeny, borda, .*, not 'kemney'"):
        rule_named("kemney")


def test_a_statistic_that_nobody_registered_is_known_by_its_name_only():
    def of_mine(votes):
        return hr.borda(votes)

    assert rule_of(of_mine).name == "of_mine"
    assert rule_of(of_mine).engine is None


@pytest.fixture
def recipe():
    """Follow the recipe to the letter, up to where it takes the rule out again."""
    names: dict[str, object] = {}
    *blocks, last = re.findall(r"```python\n(.*?)```", RECIPE.read_text("utf-8"), re.DOTALL)
    assert 'forget("plurality")' in last
    try:
        for block in blocks:
            told: list[str] = []
            test = doctest.DocTestParser().get_doctest(block, names, "recipe", str(RECIPE), 0)
            doctest.DocTestRunner(verbose=False).run(test, out=told.append, clear_globs=False)
            assert not told, "".join(told)
            names = test.globs
        yield names
    finally:  # a page that fails must not leave its rule to other tests
        forget("plurality")


def fewest(votes: hr.Votes, T, aim) -> int:
    """Return by brute force how many votes must be replaced until every way to break ties reaches an aim."""
    n, total = votes.n, int(votes.total)
    rows = [row for row, weight in zip(votes.ranks.tolist(), votes.weights, strict=True) for _ in range(int(weight))]
    strict = [r for r in product(range(1, n + 1), repeat=n) if len(set(r)) == n]
    tied = rule_of(T).tied
    for k in range(total + 1):
        for gone in product((0, 1), repeat=total):
            if sum(gone) != k:
                continue
            kept = [row for row, out in zip(rows, gone, strict=True) if not out]
            for new in product(strict, repeat=k):
                if aim.reached_by_all(tied(hr.Votes.from_ranks(np.array([*kept, *new]), items=votes.items))):
                    return k
    return total


@pytest.mark.slow
@pytest.mark.traced
def test_a_rule_of_ones_own_is_attacked_drawn_merged_and_analysed(recipe):
    plurality = recipe["plurality"]
    rng = np.random.default_rng(3)
    for _ in range(6):
        votes = hr.Votes.from_ranks(np.array(random_ranks(rng, "complete", 3, 4)), items=list("abc"))
        found = hr.attack(votes, plurality, hr.NewWinner())
        least = fewest(votes, plurality, hr.NewWinner().aim(found.before.ranking, votes.items))
        assert found.votes_to_decide <= least <= found.votes_sufficient
        assert found.verified
        assert hr.fulfils(votes, plurality, found.votes, hr.NewWinner())
    votes = recipe["votes"]
    assert hr.bootstrap(votes, plurality, draws=20, rng=1).draws == 20
    assert hr.Robust(plurality, 0.3)(votes).ranking.n == 4
    record = hr.analyse(votes, hr.Spec(rule="plurality", theta=None, draws=20, time_limit=10)).record
    assert record["attack"]["decides"] == record["attack"]["sufficient"] == 11
    with pytest.raises(hr.UsageError, match="plurality, not 'none'"):
        hr.Spec(rule="none")


@pytest.mark.slow
@pytest.mark.traced
def test_a_rule_of_ones_own_is_in_records_reports_and_commands(recipe, tmp_path, monkeypatch, command_line):
    plurality, votes = recipe["plurality"], recipe["votes"]
    found = hr.analyse(votes, hr.Spec(rule="plurality", theta=None, draws=20, time_limit=10))
    assert hr.Analysis.from_json(found.to_json()).record == found.record  # it fits the schema
    for verdict in (hr.verify(votes, found), hr.verify(votes, plurality, plurality(votes))):
        assert not verdict.refuted  # no proof in whole numbers is there: what needs one stays open
        assert not verdict.proved
    for page in (hr.report.html(found), hr.report.markdown(found), hr.report.latex(found)):
        assert "Plurality" in page
    # The name in cli/options.py that a rule of the package needs.
    for command in (rank, attack, report):
        (option,) = (option for option in command.params if option.name == "rule")
        monkeypatch.setattr(option.type, "choices", (*option.type.choices, "plurality"))
    path = str(tmp_path / "votes.soc")
    hr.write_votes(votes, path)
    assert (
        json.loads(command_line("rank", path, "--rule", "plurality", "--json", "-q")[1])["spec"]["rule"] == "plurality"
    )
    done = command_line("attack", path, "--rule", "plurality", "--new-winner", "-q")
    assert "11" in done[1]
    output = str(tmp_path / "report.json")
    command_line("report", path, "--rule", "plurality", "--draws", "20", "-o", output, "-q")
    assert (
        hr.Analysis.from_json(Path(output).read_bytes()).record["consensus"]["order"]
        == found.record["consensus"]["order"]
    )


@pytest.mark.parametrize("T", [hr.kemeny, hr.borda, hr.footrule, hr.copeland, hr.Robust(hr.kemeny, 0.1)])
@pytest.mark.slow
@pytest.mark.traced
def test_a_goal_of_ones_own_takes_what_the_same_goal_of_the_package_takes(recipe, T):
    own, same = recipe["Podium"]("d"), hr.Enters("d", 3)
    votes = recipe["votes"]
    for change in hr.Change:
        found, expected = hr.attack(votes, T, own, change=change), hr.attack(votes, T, same, change=change)
        assert (found.lower, found.upper) == (expected.lower, expected.upper)
        assert found.votes_sufficient == expected.votes_sufficient
        assert not hr.verify(votes, T, found).refuted


def test_votes_keep_a_kemeny_consensus_that_is_proved_and_no_other(monkeypatch):
    votes = hr.sample_votes(hr.Uniform(40), 101, rng=3)
    run = rule_named("kemeny").run
    asked = []

    def counted(votes, *, time_limit, progress):
        asked.append(time_limit)
        return hr.kemeny(votes, time_limit=time_limit, progress=progress)

    monkeypatch.setattr(registry, "kemeny", counted)
    assert not run(votes, 0.0).status.is_exact
    assert not run(votes, 0.0).status.is_exact
    assert asked == [0.0, 0.0]
    few = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[2, 1])
    assert run(few, 1.0) is run(few, 0.0)
    assert asked == [0.0, 0.0, 1.0]
