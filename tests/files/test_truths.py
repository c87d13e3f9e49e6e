"""All profiles of truths.json: what is read from the real files is what an independent program counted."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from truth_profiles import load, profiles

PROFILES = profiles()


def test_there_are_44_profiles(shared_data):
    assert len(profiles(shared_data)) == 44


def in_truth_order(profile: dict[str, Any], votes):
    """Return the items and the win matrix in the order of the truths."""
    items = list(votes.items)
    # The truths sort the items of the cast vote record and of the battles by code point.
    if profile["set"] in ("minneapolis-2017-ward9", "llmfao-crowd"):
        items.sort()
    order = [votes.items.index(item) for item in items]
    return items, votes.wins()[np.ix_(order, order)]


@pytest.mark.parametrize("profile", [p for _, p in PROFILES], ids=[name for name, _ in PROFILES])
def test_profile_is_read_as_counted(profile, shared_data):
    votes = load(profile, shared_data).without_scores()  # voters who rank alike are one kind of ballot there
    items, wins = in_truth_order(profile, votes)

    assert len(votes.items) == profile["n_items"]
    assert votes.total == profile["n_ballots"]
    assert len(votes.weights) == profile["n_distinct_ballots"]
    listed = (votes.ranks != 0).sum(axis=1)
    assert votes.weights[listed > votes.ranks.max(axis=1)].sum() == profile["ballots_with_ties"]
    assert votes.weights[listed < len(items)].sum() == profile["incomplete_ballots"]

    if "items" in profile:
        assert items == profile["items"]
    if "items_sha256" in profile:
        assert hashlib.sha256("\n".join(items).encode()).hexdigest() == profile["items_sha256"]
    assert ("items" in profile) or ("items_sha256" in profile)

    doubled = 2 * wins
    assert (doubled == np.rint(doubled)).all()
    text = "\n".join(",".join(str(int(x)) for x in row) for row in doubled)
    assert hashlib.sha256(text.encode()).hexdigest() == profile["matrix_sha256"]
    assert wins.sum() == profile["matrix_total"]

    upper = np.triu_indices(len(items), 1)
    compared = (wins + wins.T)[upper] > 0
    tied = compared & (wins[upper] == wins.T[upper])
    assert int(compared.sum()) == profile["pairs_compared"]
    assert int(tied.sum()) == profile["pairs_tied"]
    for pair in profile["pairs"]:
        a, b = items.index(pair["a"]), items.index(pair["b"])
        assert wins[a, b] == pair["a_over_b"]
        assert wins[b, a] == pair["b_over_a"]

    beats = wins > wins.T
    everyone = len(items) - 1
    winners = [item for item, n in zip(items, beats.sum(axis=1), strict=True) if n == everyone]
    losers = [item for item, n in zip(items, beats.sum(axis=0), strict=True) if n == everyone]
    assert winners == ([profile["condorcet_winner"]] if profile["condorcet_winner"] else [])
    assert losers == ([profile["condorcet_loser"]] if profile["condorcet_loser"] else [])
