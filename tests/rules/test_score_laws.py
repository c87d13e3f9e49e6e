"""Laws of votes that hold scores: merging equal voters never changes an answer."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdrank as hr
from holdrank.rules.registry import rule_of

pytestmark = pytest.mark.slow

RULES = [hr.kemeny, hr.copeland, hr.bradley_terry, hr.mean_score]


@st.composite
def scored(draw, most_items=4, most_voters=6):
    """Rows of few different scores, so that many voters rank alike, and a whole weight for each."""
    n = draw(st.integers(1, most_items))
    cell = st.sampled_from([0.0, -0.0, 0.1, 0.2, 0.3, 1.0, 2.0, 100.0, math.nan])
    row = st.lists(cell, min_size=n, max_size=n).filter(lambda cells: not all(map(math.isnan, cells)))
    rows = draw(st.lists(row, min_size=1, max_size=most_voters))
    return rows, draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))


@given(scored(), st.sampled_from(["bottom", "observed"]), st.randoms())
def test_merging_voters_changes_no_answer(case, unlisted, random):
    rows, weights = case
    one_by_one = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    random.shuffle(one_by_one)
    heaped = hr.Votes.from_score_rows(rows, weights, unlisted=unlisted)
    apart = hr.Votes.from_score_rows(one_by_one, unlisted=unlisted)
    assert apart.input_hash == heaped.input_hash
    assert np.array_equal(apart.wins(), heaped.wins())
    for rule in RULES:
        one, two = rule(apart), rule(heaped)
        assert (one.ranking, one.unique, one.loss) == (two.ranking, two.unique, two.loss)
        tied = rule_of(rule).tied
        assert tied is None or tied(apart) == tied(heaped)
    assert apart.total_variation(heaped) < 1e-12


@given(scored())
def test_every_voter_is_found_again(case):
    rows, weights = case
    votes = hr.Votes.from_score_rows(rows, weights)

    def voter(row):
        return tuple(None if math.isnan(score) else score + 0.0 for score in row)

    wanted = Counter()
    for row, weight in zip(rows, weights, strict=True):
        wanted[voter(row)] += weight
    found = [voter(row) for row in votes.scores.tolist()]
    assert len(set(found)) == len(found)
    assert dict(zip(found, votes.weights.tolist(), strict=True)) == wanted
    assert votes.weights.tolist() == sorted(votes.weights.tolist(), reverse=True)


@given(scored(), st.sampled_from(["bottom", "observed"]))
def test_rankings_alone_answer_as_the_scores_they_come_from(case, unlisted):
    rows, weights = case
    votes = hr.Votes.from_score_rows(rows, weights, unlisted=unlisted)
    bare = votes.without_scores()
    ranks = [[0 if math.isnan(s) else 1 + len({t for t in row if t > s}) for s in row] for row in rows]
    assert bare == hr.Votes.from_ranks(ranks, weights, unlisted=unlisted)
    assert np.array_equal(bare.wins(), votes.wins())
    assert hr.kemeny(bare).ranking == hr.kemeny(votes).ranking
