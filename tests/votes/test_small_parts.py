"""Sums of counts, groups, voters, models and ballots in lists, against what they stand for."""

from __future__ import annotations

import numpy as np
import pytest

import holdrank as hr
from holdrank.votes import pairs
from holdrank.votes.ballots.sparse import SparseBallots
from holdrank.votes.groups import Groups, expect_clusters
from holdrank.votes.models import BucketMass, PointMass
from holdrank.votes.pairs import PairCounts

from reading import read, wins

BATTLES = "model_a,model_b,winner\nx,y,a\ny,z,b\n"


def counted(tmp_path, name, text, **options):
    pytest.importorskip("duckdb")
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return hr.count_pairs(path, **options)


def test_sums_of_counts_name_both_sources_and_what_both_were_read_with(tmp_path):
    one = counted(tmp_path, "one.csv", BATTLES, both_bad="drop")
    two = counted(tmp_path, "two.csv", BATTLES.replace("y,z", "z,w"))
    both = one + two
    assert both.total == 4
    assert both.reading.source == f"{one.reading.source}, {two.reading.source}"
    assert both.reading.sha256 == ""
    assert both.reading.format == one.reading.format == two.reading.format
    agreed = dict(set(one.reading.choices.items()) & set(two.reading.choices.items()))
    assert both.reading.choices == agreed
    assert agreed != one.reading.choices
    again = one + one
    assert again.reading == one.reading
    many = sum([one, two] * 20)
    assert many.total == 80
    assert len(many.reading.source) <= pairs._LONGEST_SOURCE
    assert many.reading.source.endswith("…")


def test_sums_of_counts_have_a_limit_of_items(monkeypatch):
    one, two = (PairCounts.from_votes(hr.Votes.from_orders([names])) for names in (["a", "b"], ["b", "c"]))
    assert (one + two).items == ("a", "b", "c")
    monkeypatch.setattr(pairs, "MOST_ITEMS", 2)
    with pytest.raises(hr.LimitError, match="3 items are more than the limit of 2"):
        one + two


def test_groups_are_told_apart_by_all_that_they_hold():
    def made(of="judge", labels=("j", "k", "j"), weights=(1.0, 2.0, 1.0)):
        return Groups.of_labels(of, labels, np.array(weights)).digest

    others = [
        made(of="user"),
        made(labels=("j", "k", "k")),
        made(labels=("j", "l", "j")),
        made(weights=(1.0, 1.0, 1.0)),
    ]
    assert made() == made()
    assert len({made(), *others}) == 5


def test_groups_that_leave_out_votes_say_nothing_about_chance():
    groups = Groups.of_labels("judge", ["j", "k"], np.array([1.0, 2.0]))
    expect_clusters(groups, 3.0)
    with pytest.raises(hr.UsageError, match="some votes have no 'judge'"):
        expect_clusters(groups, 4.0)
    with pytest.raises(hr.UsageError, match="has only one group"):
        expect_clusters(Groups.of_labels("judge", ["j", "j"], np.array([1.0, 2.0])), 3.0)


def test_voters_are_found_by_name():
    votes = read("model_a,model_b,winner,judge\nx,y,a,j\nx,y,b,k\ny,x,a,l\n", voter="judge")
    voters = votes.voters
    names = [voters.names[k] for k in voters.numbers(["l", "j"])]
    assert names == ["l", "j"]
    with pytest.raises(hr.UsageError, match="there is no voter 'nobody'"):
        voters.numbers(["j", "nobody"])


def test_draws_of_models_follow_their_probabilities():
    rng = np.random.default_rng(5)
    assert PointMass([2, 0, 1]).orders(3, rng).tolist() == [[2, 0, 1]] * 3
    ranking = hr.Ranking([1, 2, 2])
    # The two rankings that break the tie of b and c, at 0.75 and 0.25.
    drawn = BucketMass(ranking, gap=0.5).orders(4000, rng)
    kinds, counts = np.unique(drawn, axis=0, return_counts=True)
    assert kinds.tolist() == [[0, 1, 2], [0, 2, 1]]
    assert abs(counts[0] / 4000 - 0.75) < 0.05  # seven standard deviations


def test_ballots_in_lists_take_more_rows():
    ranks = np.array([[1, 0, 2], [0, 1, 1]])
    row, item = np.nonzero(ranks)
    ballots = SparseBallots(ranks.shape, row, item, ranks[row, item])
    more = np.array([[3, 2, 1], [0, 0, 1]])
    both = ballots.with_rows(more)
    assert both.matrix().tolist() == [*ranks.tolist(), *more.tolist()]
    assert ballots.matrix().tolist() == ranks.tolist()


def test_equal_ballots_are_found_though_their_fingerprints_collide(monkeypatch):
    from holdrank.votes.ballots import sparse

    ranks = np.array([[1, 2, 0], [2, 1, 0], [1, 2, 0], [0, 1, 2], [2, 1, 0], [1, 0, 0]])
    row, item = np.nonzero(ranks)
    ballots = SparseBallots(ranks.shape, row, item, ranks[row, item])
    expected = [[0, 2], [1, 4], [3], [5]]

    def together():
        first, label = ballots.groups()
        groups = sorted(np.flatnonzero(label == k).tolist() for k in range(len(first)))
        assert sorted(first.tolist()) == [group[0] for group in groups]
        return groups

    assert together() == expected
    monkeypatch.setattr(sparse, "row_prints", lambda size, *_: np.zeros(size, dtype=np.uint64))
    assert together() == expected
    sizes = np.count_nonzero(ranks, axis=1).astype(np.uint64)
    monkeypatch.setattr(sparse, "row_prints", lambda *_: sizes)
    assert together() == expected


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("model_a,model_b,who\nx,y,a\ny,x,b\n", {"winner": "who"}),
        ("system_x,system_y,who\nx,y,x\ny,x,x\n", {"winner": "who"}),
        ("one,two,winner\nx,y,x\ny,x,x\n", {"first": "one", "second": "two"}),
        ("one,two,home_score,away_score\nx,y,3,1\ny,x,0,1\n", {"first": "one", "second": "two"}),
    ],
)
def test_columns_of_battles_that_a_caller_names_go_with_those_that_are_known(text, options):
    assert wins(read(text, format="battles", **options)) == {("x", "y"): 2}
