"""The table of an arena: certified numbers are those of `attack` and of brute force, influence is what it claims."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import holdrank as hr
from holdrank import paper
from holdrank.attacks.bradley_terry.battles import Battles
from holdrank.paper import export
from holdrank.paper.influence import Influence
from holdrank.votes.changes import Change

import oracles
from battles import votes_of

WON = [[0, 9, 8, 7], [6, 0, 7, 9], [5, 6, 0, 6], [3, 2, 5, 0]]
TIED = [[0, 2, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
RIDGE = 1e-6


def wins_of(won, tied):
    tied = np.array(tied, dtype=float)
    return np.array(won, dtype=float) + (tied + tied.T) / 2


def refit(wins, total):
    """Strengths with the ridge of `total` votes, whatever the wins add up to."""
    return oracles.strengths_of_many(wins[None], RIDGE * total / wins.sum())[0]


def battle(n, i, j, first=1.0):
    one = np.zeros((n, n))
    one[i, j], one[j, i] = first, 1 - first
    return one


def newton_step(wins, change, total):
    """One Newton step from the strengths of the wins, for the wins with a change, by the likelihood itself."""
    s = refit(wins, total)
    after = wins + change
    probability = 1 / (1 + np.exp(s[None] - s[:, None]))
    slope = (after * (1 - probability)).sum(axis=1) - (after.T * probability).sum(axis=1) - RIDGE * total * s
    bend = (after + after.T) * probability * (1 - probability)
    curvature = np.diag(bend.sum(axis=1) + RIDGE * total) - bend
    return np.linalg.solve(curvature, slope)


def test_influence_is_one_newton_step_without_or_with_the_battle():
    wins, n = wins_of(WON, TIED), 4
    votes = votes_of(WON, TIED)
    effects = Influence(Battles.of(votes)).effects(2, 0)
    for i, j in np.argwhere(np.array(WON)).tolist():
        out = newton_step(wins, -battle(n, i, j), votes.total)
        into = newton_step(wins, battle(n, i, j), votes.total)
        assert effects.goes[i * n + j] == pytest.approx(out[2] - out[0], rel=1e-6, abs=1e-9)
        assert effects.comes[i, j] == pytest.approx(into[2] - into[0], rel=1e-6, abs=1e-9)
    for i, j in np.argwhere(np.array(TIED)).tolist():
        out = newton_step(wins, -battle(n, i, j, 0.5), votes.total)
        assert effects.goes[n * n + i * n + j] == pytest.approx(out[2] - out[0], rel=1e-6, abs=1e-9)


def test_influence_of_a_battle_among_very_many_is_the_slope_of_refits():
    """Of many battles, one has hardly any leverage: one Newton step is the derivative by finite differences."""
    wins, n = 1000 * wins_of(WON, [[0] * 4] * 4), 4
    votes = hr.PairCounts.from_wins(wins).as_votes()
    effects = Influence(Battles.of(votes)).effects(3, 1)
    for i, j in ((0, 1), (1, 3), (3, 2), (2, 0)):
        up, down = (refit(wins + h * battle(n, i, j), votes.total) for h in (4.0, -4.0))
        slope = ((up[3] - up[1]) - (down[3] - down[1])) / 8
        assert effects.comes[i, j] == pytest.approx(slope, rel=2e-3)
        assert effects.goes[i * n + j] == pytest.approx(-slope, rel=2e-3)


def by_hand(wins, supply, b, a, change, top):
    """The size that added-up Newton steps predict for b to pass a, and the wins after the battles they choose."""
    n, total = len(wins), wins.sum()
    s = refit(wins, total)
    gap = s[a] - s[b]

    def moved(step):
        return step[b] - step[a]

    out = sorted(((moved(newton_step(wins, -battle(n, i, j), total)), -k, (i, j))
                  for k, (i, j) in enumerate(np.argwhere(supply).tolist())), reverse=True)  # fmt: skip
    best, put = max((moved(newton_step(wins, battle(n, i, j), total)), (i, j))
                    for i in range(n) for j in range(n) if i != j)  # fmt: skip
    goes = [(value, at) for value, _, at in out for _ in range(int(supply[at]))]
    after, reach, size = wins.copy(), 0.0, 0
    while reach <= gap:
        if change != "add":
            value, at = goes[size]
            reach, after = reach + value, after - battle(n, *at)
        if change != "drop":
            reach, after = reach + best, after + battle(n, *put)
        size += 1
    order = np.argsort(-refit(after, after.sum()))
    return size, set(order[:top].tolist())


@pytest.mark.parametrize("change", ["drop", "add", "replace"])
def test_predictions_and_their_refits_are_those_worked_out_one_battle_at_a_time(change):
    rng = np.random.default_rng(4)
    seen = set()
    for _ in range(6):
        fought = np.triu(rng.integers(20, 60, (4, 4)), 1)
        strength = np.array([0.7, 0.2, 0.0, -0.4])
        won = rng.binomial(fought, 1 / (1 + np.exp(strength - strength[:, None])))
        wins = (won + (fought - won).T).astype(float)
        votes = hr.PairCounts.from_wins(wins).as_votes()
        order = hr.bradley_terry(votes).ranking.order
        for top in (1, 2):
            found = [by_hand(wins, wins, b, a, change, top) for a in order[:top] for b in order[top:]]
            guess = Influence(Battles.of(votes)).guess(
                hr.TopSet(top).aim(hr.bradley_terry(votes).ranking, votes.items),
                [(b, a) for a in order[:top] for b in order[top:]],
                Change(change),
            )
            assert guess.predicted == min(size for size, _ in found)
            after = [items for size, items in found if size == guess.predicted]
            if len(after) == 1:
                assert guess.works == (after[0] != set(order[:top]))
            assert (guess.sufficient <= guess.predicted) == guess.works
            seen.add(guess.works)
    assert True in seen


def test_rows_are_certified_by_attack_and_true_by_brute_force():
    votes = votes_of([[0, 6, 8], [5, 0, 6], [4, 5, 0]], [[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    won, tied = [[0, 6, 8], [5, 0, 6], [4, 5, 0]], [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    before = tuple(int(rank) for rank in hr.bradley_terry(votes).ranking.ranks)
    found = paper.arena(votes, tops=(1, 2, 3, 7))
    assert [(row["top"], row["change"]) for row in found["rows"]] == [
        (top, change) for top in (1, 2) for change in ("drop", "add", "replace")
    ]
    for row in found["rows"]:
        goal = ("top set", row["top"])
        weak, strict = oracles.fewest_battles(won, tied, row["change"], before, [goal], 3)[goal]
        one = hr.attack(votes, hr.bradley_terry, hr.TopSet(row["top"]), change=row["change"])
        assert row["needed_to_tie"] == one.votes_needed
        assert row["needed"] == one.votes_to_decide
        assert row["needed"] <= strict <= row["sufficient"] <= one.votes_sufficient
        assert row["needed_to_tie"] <= weak
        assert row["sufficient"] <= row["influence_sufficient"]
        assert strict <= row["influence_sufficient"]
        assert row["needed_share"] == pytest.approx(row["needed"] / 35, abs=1e-9)
        assert (row["status"] == "proven minimum") == (row["needed"] == row["sufficient"])


@pytest.mark.slow
def test_influence_never_beats_what_is_proved():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        models = int(rng.integers(6, 25))
        votes = paper.generated_arena(models=models, battles=60 * models, rng=seed)
        for row in paper.arena(votes, tops=(1, 3, 5), time_limit=1)["rows"]:
            assert row["influence_sufficient"] is None or row["needed"] <= row["influence_sufficient"], (seed, row)


def test_pair_counts_are_as_good_as_battles():
    wins = wins_of(WON, [[0] * 4] * 4)
    counts = hr.PairCounts.from_wins(wins)
    assert paper.arena(counts, tops=(1,))["rows"] == paper.arena(counts.as_votes(), tops=(1,))["rows"]


def test_two_items_make_an_arena():
    found = paper.arena(hr.PairCounts.from_wins([[0, 12], [7, 0]]))
    assert [(row["change"], row["needed"], row["sufficient"]) for row in found["rows"]] == [
        ("drop", 6, 6), ("add", 6, 6), ("replace", 3, 3)]  # fmt: skip


def test_a_time_limit_of_nothing_still_gives_rows_that_are_true():
    votes = paper.generated_arena(models=7, battles=300, rng=3)
    short, long = (paper.arena(votes, tops=(1,), time_limit=limit)["rows"] for limit in (0.0, 1.0))
    for one, other in zip(short, long, strict=True):
        assert one["needed"] <= other["sufficient"]
        assert one["status"] in ("time limit", "proven minimum")


@pytest.mark.parametrize(("votes", "problem"), [
    (hr.Votes.from_orders([["a", "b", "c"]], weights=[4]), "compare two items"),
    (hr.PairCounts.from_votes(hr.Votes.from_orders([["a", "b", "c"]], weights=[4])), "compare two items"),
    (hr.PairCounts.from_wins([[0, 0.3], [0.2, 0]]), "whole battles"),
    (hr.Votes.from_ranks([[1]], [3.0], ["a"], unlisted="observed"), "at least two items"),
])  # fmt: skip
def test_what_is_no_arena_is_refused(votes, problem):
    with pytest.raises(hr.UsageError, match=problem):
        paper.arena(votes)


@pytest.mark.parametrize("tops", [(0,), (1.5,), ("x",)])
def test_a_number_of_places_is_a_whole_number(tops):
    with pytest.raises(hr.UsageError, match="whole number, 1 or more"):
        paper.arena(hr.PairCounts.from_wins([[0, 12], [7, 0]]), tops=tops)


BATTLES = "model_a,model_b,winner\n" + "a,b,model_a\n" * 9 + "b,a,model_a\n" * 7 + "b,c,tie\n" * 3 + (
    "c,a,model_b\n" * 6 + "c,b,model_a\n" * 5 + "a,c,model_b\n" * 4
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.traced
def test_the_command_prints_the_table_and_writes_the_same_bytes_twice(tmp_path, command_line):
    (tmp_path / "battles.csv").write_text(BATTLES, "utf-8")
    outputs = [command_line("paper", "arena", "battles.csv", "--out", folder, "-q") for folder in ("one", "two")]
    assert [code for code, *_ in outputs] == [0, 0]
    assert outputs[0][1].replace("one", "two") == outputs[1][1]
    names = [f"arena.{ending}" for ending in ("json", "csv", "svg", "pdf", "png")]
    assert sorted(names) == sorted(path.name for path in (tmp_path / "one").iterdir())
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    data = json.loads((tmp_path / "one" / "arena.json").read_text("utf-8"))
    assert data["rows"] == paper.arena(hr.read_votes(tmp_path / "battles.csv"))["rows"]
    with (tmp_path / "one" / "arena.csv").open(encoding="utf-8") as file:
        assert [row["change"] for row in csv.DictReader(file)] == ["drop", "add", "replace"]
    lines = outputs[0][1].splitlines()
    assert lines[0] == "battles to change the first k by Bradley-Terry: 34 battles, 3 items"
    assert lines[1].split() == ["top", "change", "at", "least", "at", "most", "share", "of", "battles", "influence",
                                "refit"]  # fmt: skip
    first = data["rows"][0]
    assert lines[2].split()[:4] == ["1", "drop", str(first["needed"]), str(first["sufficient"])]


@pytest.mark.slow
@pytest.mark.traced
def test_milliseconds_are_for_those_who_ask(tmp_path, command_line):
    (tmp_path / "battles.csv").write_text(BATTLES, "utf-8")
    _, out, _ = command_line("paper", "arena", "battles.csv", "--out", "out", "-q", "-v")
    assert out.splitlines()[1].split()[-1] == "ms"
    code, _, err = command_line("paper", "fig3", "-v")
    assert (code, "--verbose applies only to the table arena." in err) == (2, True)


def test_an_arena_is_of_one_file(tmp_path, command_line):
    code, _, err = command_line("paper", "arena", "one.csv", "two.csv")
    assert (code, "The table arena takes one FILE, or none." in err) == (2, True)
    (tmp_path / "votes.csv").write_text("rank 1,rank 2,rank 3\na,b,c\nb,a,c\n", "utf-8")
    code, out, err = command_line("paper", "arena", "votes.csv", "--out", "out", "-q")
    assert (code, out, "compare two items" in err) == (2, "", True)


@pytest.mark.slow
@pytest.mark.traced
def test_figures_write_a_generated_arena(tmp_path, monkeypatch):
    asked = {}

    def small(**how):
        asked.update(how)
        return paper.arena(paper.generated_arena(models=5, battles=80, rng=how["rng"]), tops=(1, 3))

    monkeypatch.setattr(export, "arena", small)
    written = paper.figures(["arena"], tmp_path, rng=7, time_limit=9)
    assert asked == {"rng": 7, "time_limit": 9}
    assert [path.name for path in written] == [f"arena.{ending}" for ending in ("json", "csv", "svg", "pdf", "png")]
    assert len(json.loads(written[0].read_text("utf-8"))["rows"]) == 6


def test_the_generated_arena_hangs_on_its_seed_alone():
    one, same, other = (paper.generated_arena(models=8, battles=300, rng=seed) for seed in (1, 1, 2))
    assert (one, one.total, one.n) == (same, 300, 8)
    assert one != other
