"""What the workers of the studio do, called in this process."""

from __future__ import annotations

import json

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.goals import claimed
from holdrank.errors import LimitError, UsageError
from holdrank.studio.tasks import TASKS

# 61 of 101 put a above b: 11 must change sides before b is first.
VOTES = b"weight,rank1,rank2,rank3\n61,a,b,c\n40,b,a,c\n"
JOB = {"name": "votes.csv", "reading": {}, "items": 400, "rule": "kemeny", "theta": None, "merge": "downward",
       "time_limit": 20.0, "change": "replace", "pair": None}  # fmt: skip


def run(task, *files, **parts):
    told = []
    found = TASKS[task]({**JOB, **parts}, files or [VOTES], lambda event, **message: told.append((event, message)))
    json.dumps(found, allow_nan=False)
    return found, told


def test_an_analysis_is_told_step_by_step():
    found, told = run("analyse", spec={"theta": None, "draws": 50})
    events = [event for event, _ in told]
    assert events.index("votes") < events.index("partial")
    assert events.count("partial") == len(found["record"]["steps"])
    assert found["record"]["attack"]["sufficient"] == 11
    assert [step["changed"] for step in found["replay"]][-1] == 11
    lines = [json.loads(line) for line in found["attacked"].splitlines()]
    assert lines[0]["items"] == ["a", "b", "c"]
    assert {tuple(line["order"]): line["weight"] for line in lines[1:]} == {("a", "b", "c"): 50, ("b", "a", "c"): 51}


def test_a_file_of_too_many_items_is_refused_before_it_is_analysed():
    with pytest.raises(LimitError, match="3 items"):
        run("analyse", spec={}, items=2)


def test_tiers_are_replayed_with_their_own_threshold():
    found, _ = run("claim", claim="top 2", theta=0.2)
    assert found["answer"]["holds"]
    first, last = found["replay"][0], found["replay"][-1]
    assert first["ranks"] == [1, 1, 2]  # 61 of 101 is within 0.2 of one half
    assert last["ranks"] != first["ranks"]
    with pytest.raises(UsageError, match="tiers may tie"):
        run("claim", claim="a above b", theta=0.2)
    with pytest.raises(UsageError, match="tiers may tie"):
        run("claim", claim="a above b", pair=[0, 1], theta=0.2)


def test_shares_are_replayed_in_shares():
    votes = b'{"order": ["a", "b"], "weight": 0.61}\n{"order": ["b", "a"], "weight": 0.39}\n'
    found, _ = run("claim", votes, name="shares.jsonl", claim="a wins")
    assert found["answer"]["attack"]["needed"] is None
    assert found["answer"]["attack"]["upper"] == pytest.approx(0.11)
    shares = [step["share"] for step in found["replay"]]
    assert shares[0] == 0
    assert shares[-1] == pytest.approx(0.11, abs=1e-5)
    assert found["replay"][0]["ranks"] == [1, 2]
    assert found["replay"][-1]["ranks"] == [2, 1]


def test_scores_have_attacked_votes_but_no_replay():
    table = b"model,t1,t2,t3\nx,9,8,1\ny,1,2,3\n"
    found, _ = run("claim", table, name="scores.csv", claim="x wins", rule="mean-score")
    assert found["replay"] is None
    assert found["answer"]["attack"]["verified"]


def test_an_attack_that_no_list_holds_has_no_replay():
    """900 voters put the same item first and agree on nothing else: some 450 distinct ballots must change."""
    rng = np.random.default_rng(0)
    ballots = [{"order": ["top", *rng.permutation(8).tolist()]} for _ in range(900)]
    votes = "\n".join(map(json.dumps, ballots)).encode()
    found, _ = run("claim", votes, name="many.jsonl", claim="top wins", rule="borda")
    row = found["answer"]["attack"]
    assert row["removed"]["kinds"] > len(row["removed"]["listed"])
    assert found["replay"] is None
    attacked = [json.loads(line) for line in found["attacked"].splitlines()[1:]]
    assert sum(line["weight"] for line in attacked) == 900


@pytest.mark.parametrize(("theta", "lower"), [(None, [10.5 / 101, 0.5, 0.5]), (0.2, None)])
def test_a_curve_grows_from_what_is_known_to_what_is_exact(theta, lower):
    found, told = run("curve", theta=theta)
    curves = [message["curve"] for event, message in told if event == "partial"]
    assert len(curves) == 4  # before any search, and after each of three distances
    curve = found["curve"]
    assert curve["delta"] == pytest.approx([1 / 3, 2 / 3, 1])
    known = [np.inf if value is None else value for value in curve["lower"]]
    assert known == sorted(known)
    if lower:
        assert curve["lower"] == curve["upper"] == pytest.approx(lower)
        assert curve["status"].startswith("exact")


def test_a_curve_out_of_time_says_so():
    found, _ = run("curve", time_limit=0.0)
    assert found["curve"]["status"].startswith("time limit reached")
    assert len(found["curve"]["lower"]) == 3


def test_a_curve_of_many_items_asks_some_distances():
    votes = hr.sample_votes(hr.Mallows(range(30), 0.5), 50, rng=1)
    lines = "\n".join(json.dumps({"order": np.argsort(ranks).tolist()}) for ranks in votes.ranks)
    found, _ = run("curve", lines.encode(), name="votes.jsonl", time_limit=0.0)
    delta = found["curve"]["delta"]
    assert delta[0] == pytest.approx(1 / 435)
    assert delta[-1] == 1
    assert len(delta) <= 60
    assert delta == sorted(set(delta))


def test_one_item_has_no_curve():
    with pytest.raises(UsageError, match="two items"):
        run("curve", b'{"order": ["a"]}\n', name="one.jsonl")


def test_votes_are_written_in_the_type_that_fits():
    ties = b'{"order": [["a", "b"], "c"], "weight": 2}\n'
    found, _ = run("write", ties, to="soc")
    assert found["extension"] == "toc"
    assert "2: {1,2},3" in found["text"]


def test_files_are_compared_each_in_its_own_way():
    old, new = b"rank1;rank2\na;b\na;b\n", b"rank1,rank2\nb,a\nb,a\n"
    files = [{"name": "old.csv", "reading": {"delimiter": ";"}}, {"name": "new.csv", "reading": {}}]
    found, _ = run("compare", old, new, files=files, draws=200, seed=0)
    comparison = found["comparison"]
    assert [comparison["items"][row["item"]] for row in comparison["moves"]] == ["b", "a"]
    assert comparison["beyond_noise"] == 2
    assert (comparison["old"]["source"], comparison["new"]["source"]) == ("old.csv", "new.csv")


@pytest.mark.slow
def test_names_that_hold_the_word_above_are_understood():
    items = ["x", "Oak above all", "y"]
    assert claimed("Oak above all above y", items) == hr.Above("Oak above all", "y")
    assert claimed("x above Oak above all", items) == hr.Above("x", "Oak above all")
    with pytest.raises(UsageError, match="a claim is"):
        claimed("everything", items)
