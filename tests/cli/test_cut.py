"""Three lists at a cut: trying all changes shows that what is called safe is safe, and that the others can be moved."""

from __future__ import annotations

import json
from itertools import combinations_with_replacement, permutations
from pathlib import Path

import pytest

import holdrank as hr
from holdrank.analysis import cut
from holdrank.analysis.cut import at_the_cut
from holdrank.analysis.records import command_mismatch
from holdrank.status import Clock
from holdrank.words.cuts import cut_lists, cut_text

import oracles

HEAD = "rank1,rank2,rank3,rank4\n"


@pytest.fixture
def run(command_line, tmp_path):
    rows = "a,b,c,d\n" * 4 + "a,c,b,d\n" * 2 + "b,a,c,d\n" * 2 + "c,b,a,d\n"
    (tmp_path / "panel.csv").write_text(HEAD + rows, encoding="utf-8")
    return command_line


def moved(votes, k, most):
    """Return the items that some replacement of at most so many ballots moves across the cut, by trying all."""
    ballots = [
        list(ranks)
        for ranks, weight in zip(votes.ranks.tolist(), votes.weights, strict=True)
        for _ in range(int(weight))
    ]
    orders = [hr.Ranking.from_order(order).ranks.tolist() for order in permutations(range(votes.n))]
    inside = set(hr.kemeny(votes).ranking.order[:k])
    found = set()
    for gone in combinations_with_replacement(range(len(ballots)), most):
        if len(set(gone)) < most:
            continue
        rest = [ballot for number, ballot in enumerate(ballots) if number not in gone]
        for put in combinations_with_replacement(orders, most):
            after = hr.Votes.from_ranks([*rest, *put], items=votes.items)
            # Outright: in every optimum.
            optima = [set(one.order[:k]) for one in hr.kemeny_optima(after)]
            found |= {x for x in range(votes.n) if all((x in one) != (x in inside) for one in optima)}
    return found


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", range(4))
def test_safe_and_undecided_are_what_trying_all_changes_shows(seed):
    votes = hr.sample_votes(hr.Mallows([0, 1, 2], phi=0.5), 5, rng=seed)
    for k in (1, 2):
        consensus = hr.kemeny(votes)
        record, short = at_the_cut(votes, hr.kemeny, consensus.ranking, k, 1 / 5, Clock(), lambda *_: None)
        assert short is None
        movable = moved(votes, k, 1)
        for row in record["items"]:
            assert row["inside"] == (row["item"] in consensus.ranking.order[:k])
            # With one ballot, as an optimum among several, is not outright: safe excludes both.
            assert not (row["safe"] and row["item"] in movable)
            assert (row["sufficient"] == 1) == (row["item"] in movable)


@pytest.mark.no_cover
@pytest.mark.parametrize(("seed", "n", "votes"), [(0, 3, 9), (1, 3, 8), (2, 4, 7), (3, 4, 9), (4, 4, 8)])
def test_no_bound_from_margins_is_above_what_trying_all_changes_shows(monkeypatch, seed, n, votes):
    """Bounds for many items, asked about few, where every change of one ballot, and its optima, can be listed."""
    monkeypatch.setattr(cut, "TIERS_PRICED_UP_TO", 0)
    drawn = hr.sample_votes(hr.Mallows(list(range(n)), phi=0.4), votes, rng=seed)
    ballots = [list(row) for row, w in zip(drawn.ranks.tolist(), drawn.weights, strict=True) for _ in range(int(w))]
    orders = [hr.Ranking.from_order(order).ranks.tolist() for order in permutations(range(n))]
    before = hr.kemeny(drawn).ranking
    claims = 0
    for k in range(1, n):
        firm = cut._firm(drawn, hr.kemeny, before, k, 1 / votes, Clock())
        inside = set(before.order[:k])
        for changed in (0, 1):
            held = [x for x in range(n) if firm[x] >= changed]
            claims += len(held)
            for gone in range(votes) if changed else [None]:
                for put in orders if changed else [None]:
                    after = [one for number, one in enumerate(ballots) if number != gone] + ([put] if changed else [])
                    _, optima = oracles.kemeny(oracles.wins(after, [1.0] * len(after), "bottom"))
                    for one in optima:
                        assert all((x in one[:k]) == (x in inside) for x in held), (k, changed, gone, put)
    assert claims > n


def test_many_items_have_bounds_at_once_and_only_those_near_the_cut_are_attacked(monkeypatch):
    votes = hr.sample_votes(hr.Mallows(list(range(24)), phi=0.6), 41, rng=1)
    asked = []
    monkeypatch.setattr(
        cut.Prices, "one_by_one", lambda self, *_, **__: (asked.extend(self.asked), self.rows.extend(
            {**dict.fromkeys(cut.AMOUNTS), "known": False} for _ in self.asked))
    )  # fmt: skip
    before = hr.kemeny(votes).ranking
    record, _ = at_the_cut(votes, hr.kemeny, before, 6, 2 / 41, Clock(), lambda *_: None)
    lists = {title: len(rows) for title, rows in cut_lists(record).items()}
    assert lists["safely in"] >= 3
    assert lists["safely out"] >= 14
    assert len(asked) == lists["undecided"] < 7
    for row in record["items"]:
        assert row["safe"] == (row["needed"] > 2)
        assert row["lower"] == max(row["needed"] - 1, 0) / 41
    farthest = record["items"][-1]
    assert farthest["needed"] > 8
    # Few items have exact answers, so these go another way.
    few = hr.sample_votes(hr.Mallows(list(range(5)), phi=0.6), 9, rng=1)
    assert cut._firm(few, hr.kemeny, before, 2, 0.1, Clock()) is None
    # No time at all: the level of the budget is still looked at.
    short = cut._firm(votes, hr.kemeny, before, 6, 2 / 41, Clock(0.0))
    assert max(short) >= 2
    # What is not known is not safe.
    level = hr.sample_votes(hr.Uniform(24), 6, rng=3)
    open_, _ = at_the_cut(level, hr.kemeny, hr.kemeny(level).ranking, 6, 1 / 6, Clock(), lambda *_: None)
    unknown = [row for row in open_["items"] if row["needed"] == 0]
    assert unknown
    assert not any(row["safe"] for row in unknown)


def test_three_lists_with_margins_in_votes(run):
    code, out, err = run("cut", "panel.csv", "--k", "2", "--votes", "2", "-q")
    assert (code, err) == (0, "")
    votes = hr.read_votes("panel.csv")
    head, *_ = out.splitlines()
    # b is preferred to c by 6 of 9: two ballots turn that. c needs four against a, d more.
    assert head == "Top 2, if 2 ballots (22.2 %) change: 1 safely in, 2 undecided, 1 safely out."
    for title in ("safely in: 1", "undecided: 2", "safely out: 1"):
        assert f"\n{title}\n" in out
    for name, goal in (
        ("a", hr.Leaves("a", 2)),
        ("b", hr.Leaves("b", 2)),
        ("c", hr.Enters("c", 2)),
        ("d", hr.Enters("d", 2)),
    ):
        found = hr.attack(votes, hr.kemeny, goal)
        amount = int(found.votes_sufficient)
        (line,) = [line for line in out.splitlines() if line.split()[1:2] == [name]]
        assert line.split()[2:4] == [str(amount), "ballot" if amount == 1 else "ballots"]


def test_the_record_is_that_of_an_analysis(run):
    code, out, _ = run("cut", "panel.csv", "--k", "2", "--votes", "2", "-q", "--json")
    assert code == 0
    record = json.loads(out)
    assert command_mismatch(record) == ""
    analysis = hr.analyse(hr.read_votes("panel.csv"), hr.Spec(k=2, budget=2 / 9, theta=None, draws=0)).record
    assert record["cut"] == analysis["cut"]
    assert sum(map(len, cut_lists(record["cut"]).values())) == 4


def test_report_says_it_below_the_headline(run):
    _, out, _ = run("report", "panel.csv", "--k", "2", "-q", "-o", "x.json", "--draws", "0")
    record = json.loads(Path("x.json").read_text(encoding="utf-8"))
    assert out.splitlines()[1].endswith(cut_text(record["cut"], record["votes"]))


def test_what_makes_no_sense_is_refused(run):
    for args, words in (
        (["--k", "4"], "--k 4 leaves no item out: the file has 4 items"),
        (["--k", "0"], "--k"),
        ([], "--k"),
        (["--k", "2", "--votes", "9"], "--votes must be smaller than the number of votes in the file, 9, not 9"),
    ):
        code, out, err = run("cut", "panel.csv", *args)
        assert (code, out) == (2, "")
        assert words in err


@pytest.mark.slow
@pytest.mark.traced
def test_long_lists_show_what_is_near_the_cut(run, tmp_path):
    names = [f"n{k:02}" for k in range(60)]
    head = ",".join(f"rank{k + 1}" for k in range(60))
    (tmp_path / "many.csv").write_text(f"{head}\n" + f"{','.join(names)}\n" * 5, encoding="utf-8")
    _, out, _ = run("cut", "many.csv", "--k", "30", "-q", "--rule", "borda", "--time-limit", "1")
    assert "more; --all lists them" in out
    assert "n29" in out
    assert "n00" not in out
    _, out, _ = run("cut", "many.csv", "--k", "30", "-q", "--rule", "borda", "--time-limit", "1", "--all")
    assert all(name in out for name in names)


def test_shares_have_a_budget_too(run, tmp_path):
    (tmp_path / "shares.csv").write_text("weight,rank1,rank2,rank3\n0.6,a,b,c\n0.4,b,a,c\n", encoding="utf-8")
    code, out, _ = run("cut", "shares.csv", "--k", "1", "--budget", "0.05", "-q")
    assert code == 0
    assert out.startswith("Top 1, if 5 % of the ballots change: 1 safely in, 0 undecided, 2 safely out.")
