"""Each voter is left out in turn: the strengths are those of a fit from the definition."""

import json

import numpy as np
import polars as pl
import pytest

import holdrank as hr
from holdrank.analysis.records import command_mismatch, command_record, ranking_record, voters_record

import voter_oracles as oracle
from crowds import random_people, votes_of

BATTLES = [("a", "b", "x")] * 4 + [("b", "a", "y")] * 3 + [("b", "a", "z"), ("a", "b", "z")] * 9


def small():
    frame = pl.DataFrame(BATTLES, schema=["winner", "loser", "who"], orient="row")
    return hr.Votes.from_battles(frame, voter="who")


@pytest.mark.parametrize("seed", range(25))
def test_leads_are_those_of_a_fit_without_the_voter(seed):
    rng = np.random.default_rng([seed, 23])
    n, people = random_people(rng)
    votes = votes_of(n, people)
    a, b = rng.choice(n, 2, replace=False).tolist()
    found = hr.voter_effects(votes, hr.bradley_terry, race=(f"i{a}", f"i{b}"))
    s = oracle.strengths_without_each(people, n)
    a, b = int(found.above[1:]), int(found.below[1:])
    winner = hr.bradley_terry(votes).ranking.order[0]
    assert sorted(found.voters) == sorted(f"p{k}" for k in range(len(people)))
    for row in found.rows():
        k = int(row["voter"][1:])
        scale = max(1.0, np.ptp(s[k]))
        assert row["lead_without"] == pytest.approx(s[k, a] - s[k, b], abs=2e-9 * scale), (people, k)
        assert row["effect"] == found.lead - row["lead_without"]
        assert row["battles"] == len(people[k])
        best = np.sort(s[k])[::-1]
        if best[0] - best[1] > 1e-6:
            assert row["new_winner"] == (s[k].argmax() != winner)
    sizes = np.abs(found.effects)
    assert (np.diff(sizes) <= 0).all()


def test_many_voters_are_fitted_at_once_and_exactly():
    rng = np.random.default_rng(4)
    n, people = 8, []
    for _ in range(150):
        pairs = [rng.choice(n, 2, replace=False).tolist() for _ in range(int(rng.integers(1, 40)))]
        people.append([("win", max(i, j), min(i, j)) if rng.random() < 0.6 else ("win", i, j) for i, j in pairs])
    people.append([("win", 0, 7)] * 900)  # one who casts a sixth of all battles
    votes = votes_of(n, people)
    found = hr.voter_effects(votes, hr.bradley_terry)
    s = oracle.strengths_without_each(people, n)
    a, b = int(found.above[1:]), int(found.below[1:])
    truth = np.array([s[int(name[1:]), a] - s[int(name[1:]), b] for name in found.voters])
    np.testing.assert_allclose(found.leads, truth, atol=1e-9)
    assert found.voters[0] == "p150"


def test_effects_are_told_in_sentences():
    found = hr.voter_effects(small(), hr.bradley_terry)
    assert found.text().splitlines() == [
        "1 of 3 voters decides alone that a stands above b.",
        "Without x (4 battles), b leads a by 0.288; with them, a leads b by 0.08.",
        "Without y (3 battles), a leads b by 0.368, not 0.08.",
        "Without z (18 battles), a leads b by 0.288, not 0.08.",
    ]
    assert found.deciding == ("x",)
    assert found.new_winner.tolist() == [True, False, False]
    assert repr(found) == "VoterEffects(3 voters, 1 decide alone)"
    assert [row["voter"] for row in found.rows(most=1)] == ["x"]
    turned = hr.voter_effects(small(), hr.bradley_terry, race=("b", "a"))
    assert (turned.above, turned.below) == ("a", "b")


def test_what_has_no_effects_is_refused():
    alone = hr.Votes.from_battles(pl.DataFrame({"winner": ["a"], "loser": ["b"], "who": ["x"]}), voter="who")
    with pytest.raises(hr.UsageError, match="at least two voters and two items; there is one voter"):
        hr.voter_effects(alone, hr.bradley_terry)
    with pytest.raises(hr.UsageError, match="takes bradley_terry, not kemeny"):
        hr.voter_effects(small(), hr.kemeny)
    with pytest.raises(hr.UsageError, match="do not say who cast each battle"):
        hr.voter_effects(hr.Votes.from_orders([["a", "b"]]), hr.bradley_terry)
    with pytest.raises(hr.UsageError, match="takes Votes"):
        hr.voter_effects([1], hr.bradley_terry)
    for race in (("a",), ("a", "a"), "a", ("a", "b", "c")):
        with pytest.raises(hr.UsageError, match="a race is between two items"):
            hr.voter_effects(small(), hr.bradley_terry, race=race)
    with pytest.raises(hr.UsageError, match="q"):
        hr.voter_effects(small(), hr.bradley_terry, race=("a", "q"))


def test_a_record_of_voters_fits_the_schema():
    votes = small()
    found = hr.voter_effects(votes, hr.bradley_terry)
    attacks = [
        hr.voter_attack(votes, hr.bradley_terry, hr.NewWinner(), change=change) for change in ("drop", "replace")
    ]
    record = json.loads(json.dumps(voters_record(found, attacks)))
    ranking = ranking_record("bradley-terry", found.consensus)
    assert command_mismatch(command_record("voters", votes, spec={}, consensus=ranking, **record, seconds=0.0)) == ""
    assert record["race"] == [0, 1]
    assert record["attacks"][0]["sufficient"] == 1.0
    assert record["attacks"][0]["voters"] == ["x"]


def test_the_command_prints_voters_and_how_many_it_takes(command_line, tmp_path):
    rows = "\n".join(",".join(battle) for battle in BATTLES)
    (tmp_path / "battles.csv").write_text(f"winner,loser,who\n{rows}\n", encoding="utf-8")
    code, out, _ = command_line("voters", "battles.csv", "--voter", "who", "-q", "--new-voters", "2")
    lines = out.splitlines()
    assert code == 0
    assert lines[0].startswith("Voters who matter most for the lead of a over b (13.9 rating points)")
    assert lines[2].split() == ["4", "+63.9", "-50", "x", "changes"]
    assert lines[-4:] == [
        "1 of 3 voters decides alone that a stands above b.",
        "Dropping 1 of 3 voters changes the winner (33.3 %, proven minimum).",
        "1 of 3 voters changes the winner (33.3 %, proven minimum).",
        "Adding 1 voter to 3 changes the winner (33.3 %, proven minimum). A new voter casts at most 2 battles.",
    ]
    code, _, err = command_line("voters", "battles.csv", "-q")
    assert code == 2
    assert "--voter" in err
    code, out, err = command_line(
        "voters", "battles.csv", "--voter", "who", "-q", "-v", "--most", "0", "--at-most", "1"
    )
    assert code == 0
    assert "drop: exact" in err
    assert "adds to the lead" not in out
