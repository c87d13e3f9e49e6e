"""Ties as outcomes of their own, against a general optimiser and derivatives by differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import holdrank as hr

UNIT = 400 / np.log(10)
MODELS = ["davidson", "rao-kupper"]


def chances(model, gap, parameter):
    """Probabilities that the first wins, the second wins, a tie: as the models are written."""
    p, q = np.exp(gap / 2), np.exp(-gap / 2)
    if model == "davidson":
        even = parameter * np.sqrt(p * q)
        return np.array([p, q, even]) / (p + q + even)
    first, second = p / (p + parameter * q), q / (q + parameter * p)
    return np.array([first, second, 1 - first - second])


def drawn(model, n, m, seed, parameter=1.6):
    rng = np.random.default_rng(seed)
    s = rng.normal(0, 0.8, n)
    battles = []
    for _ in range(m):
        i, j = map(int, rng.choice(n, 2, replace=False))
        battles.append((i, j, int(rng.choice(3, p=chances(model, s[i] - s[j], parameter)))))
    return battles


def as_votes(battles):
    orders = [{0: [i, j], 1: [j, i], 2: [[i, j]]}[y] for i, j, y in battles]
    names = [[[f"m{k}" for k in x] if isinstance(x, list) else f"m{x}" for x in order] for order in orders]
    n = 1 + max(max(i, j) for i, j, _ in battles)
    return hr.Votes.from_orders(names, items=[f"m{k}" for k in range(n)], unlisted="observed")


def log_likelihood(model, battles, x):
    """Of each battle, with x = strengths and the logarithm of the tie parameter."""
    return np.array([np.log(chances(model, x[i] - x[j], np.exp(x[-1]))[y]) for i, j, y in battles])


def likeliest(model, battles, n, ridge=0.0):
    def loss(x):
        if model == "rao-kupper" and x[-1] <= 0:
            return 1e9
        return -log_likelihood(model, battles, x).mean() + ridge / 2 * (x[:-1] ** 2).sum() + x[:-1].sum() ** 2

    start = np.append(np.zeros(n), 0.5)
    for _ in range(3):
        start = minimize(loss, start, method="BFGS", options={"gtol": 1e-9}).x
    start[:-1] -= start[:-1].mean()
    return start


def slopes(model, battles, x):
    """Of each battle, by central differences."""
    steps = 1e-5 * np.eye(len(x))
    two = [log_likelihood(model, battles, x + h) - log_likelihood(model, battles, x - h) for h in steps]
    return np.array(two).T / 2e-5


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_strengths_and_tie_parameter_are_the_likeliest(model, seed):
    battles = drawn(model, 4, 150, seed)
    expected = likeliest(model, battles, 4)
    found = hr.bradley_terry(as_votes(battles), ties=model).ratings()
    assert found.strengths == pytest.approx(expected[:-1], abs=2e-6)
    assert found.tie == pytest.approx(np.exp(expected[-1]), rel=5e-6)
    assert found.ties == model
    assert found.values == pytest.approx(1000 + UNIT * expected[:-1], abs=1e-3)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_errors_are_the_sandwich_with_the_tie_parameter(model, seed):
    battles = drawn(model, 4, 150, seed)
    found = hr.bradley_terry(as_votes(battles), ties=model).ratings()
    x = np.append(found.strengths, np.log(found.tie))
    each = slopes(model, battles, x)
    hessian = np.array([(slopes(model, battles, x + h) - slopes(model, battles, x - h)).sum(axis=0) / 2e-4
                        for h in 1e-4 * np.eye(5)])  # fmt: skip
    hessian[:4, :4] -= 1.0  # fixes the sum
    bread = np.linalg.inv(hessian)
    covariance = bread @ each.T @ each @ bread
    assert found.errors == pytest.approx(UNIT * np.sqrt(np.diag(covariance)[:4]), rel=1e-4)
    anchored = hr.bradley_terry(as_votes(battles), ties=model).ratings(anchor="m0")
    gap = covariance[1, 1] + covariance[0, 0] - 2 * covariance[0, 1]
    assert anchored.errors[:2] == pytest.approx([0, UNIT * np.sqrt(gap)], rel=1e-4)


@pytest.mark.parametrize("model", MODELS)
def test_the_order_is_that_of_strengths_with_a_ridge(model):
    battles = drawn(model, 4, 80, 5)
    expected = likeliest(model, battles, 4, ridge=0.05)
    c = hr.bradley_terry(as_votes(battles), ties=model, ridge=0.05)
    assert list(c.ranking.order) == np.argsort(-expected[:-1]).tolist()
    assert f"ties by {model}" in c.proof


@pytest.mark.parametrize("model", MODELS)
def test_ties_between_unequal_items_pull_the_models_apart(model):
    # One upset among ties: half wins and models of ties differ, and the chances of a win fit the model.
    battles = [(0, 1, 0)] * 8 + [(1, 0, 0)] * 2 + [(0, 1, 2)] * 10 + [(1, 2, 0)] * 9 + [(2, 1, 0)] * 6 + [(2, 0, 0)] * 3
    found = hr.bradley_terry(as_votes(battles), ties=model).ratings()
    half = hr.bradley_terry(as_votes(battles)).ratings()
    assert np.abs(found.strengths - half.strengths).max() > 1e-3
    first, _, even = chances(model, found.strengths[0] - found.strengths[1], found.tie)
    assert found.probability("m0", "m1") == pytest.approx(first + even / 2)
    assert found.probability("m0", "m1") + found.probability("m1", "m0") == pytest.approx(1)


@pytest.mark.parametrize("model", MODELS)
def test_without_ties_the_models_are_bradley_and_terry(model):
    battles = [b for b in drawn(model, 4, 150, 3) if b[2] != 2]
    found = hr.bradley_terry(as_votes(battles), ties=model).ratings()
    plain = hr.bradley_terry(as_votes(battles)).ratings()
    assert found.strengths == pytest.approx(plain.strengths, abs=1e-9)
    assert found.errors == pytest.approx(plain.errors, rel=1e-9)
    assert found.tie == {"davidson": 0.0, "rao-kupper": 1.0}[model]
    assert (plain.ties, plain.tie) == ("half", None)


@pytest.mark.parametrize("model", MODELS)
def test_an_item_that_never_loses_has_no_rating(model):
    battles = [*drawn(model, 3, 60, 1), (3, 0, 0), (3, 1, 0)]
    c = hr.bradley_terry(as_votes(battles), ties=model)
    assert c.ranking.order[0] == 3
    assert np.isfinite(c.ratings().values).tolist() == [True, True, True, False]
    assert any("never lost" in note for note in c.ratings().notes)
    assert c.ratings().strengths[:3] == pytest.approx(likeliest(model, battles[:-2], 3)[:-1], abs=2e-6)


def test_what_has_no_ties_of_its_own_is_refused():
    v = as_votes(drawn("davidson", 3, 40, 1))
    with pytest.raises(hr.UsageError, match="pair counts do not say which comparisons were ties"):
        hr.bradley_terry(hr.PairCounts.from_votes(v), ties="davidson")
    with pytest.raises(hr.UsageError, match="compare more than two items"):
        hr.bradley_terry(hr.Votes.from_orders([["a", "b", "c"]]), ties="rao-kupper")
    with pytest.raises(hr.UsageError, match="ties must be one of half, davidson, rao-kupper, not 'win'"):
        hr.bradley_terry(v, ties="win")
    with pytest.raises(hr.UsageError, match="reweight needs ties as half wins"):
        hr.bradley_terry(v, ties="davidson", reweight=True)
    with pytest.raises(hr.UsageError, match="every battle is a tie"):
        hr.bradley_terry(as_votes([(0, 1, 2), (1, 2, 2)]), ties="davidson")


@pytest.mark.parametrize("model", MODELS)
def test_wins_of_one_side_and_ties_alone_determine_no_ratings(model):
    # The more the first is ahead, and the likelier ties are, the better: there is no best.
    c = hr.bradley_terry(as_votes([(0, 1, 0)] * 5 + [(0, 1, 2)] * 5), ties=model)
    assert c.text() == "m0 > m1"
    assert np.isnan(c.ratings().values).all()
    assert c.ratings().notes[0].startswith("No ratings: the fit did not converge")
    # One loss says how likely ties are between equals.
    found = hr.bradley_terry(as_votes([(0, 1, 0)] * 5 + [(0, 1, 2)] * 5 + [(1, 0, 0)]), ties=model).ratings()
    assert np.isfinite(found.errors).all()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(6))
def test_sparse_and_lopsided_battles_have_a_consensus(model, seed):
    c = hr.bradley_terry(as_votes(drawn(model, 6, 12, seed, parameter=1.05 + seed)), ties=model)
    assert sorted(c.ranking.order) == list(range(len(c.items)))
    c.ratings()


def test_only_ties_among_the_rated_items_give_no_ratings():
    # Between 0, 1 and 2 there are ties alone; 3 loses to all, so that some battles are decided.
    battles = [(0, 1, 2), (1, 2, 2), (0, 2, 2), (0, 3, 0), (1, 3, 0), (2, 3, 0)]
    found = hr.bradley_terry(as_votes(battles), ties="davidson").ratings()
    assert np.isnan(found.values).all()
    assert found.notes
