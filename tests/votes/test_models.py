from __future__ import annotations

from itertools import permutations
from math import prod

import numpy as np
import pytest

import holdrank as hr

import oracles

MODELS = [
    hr.Mallows([2, 0, 3, 1], 0.6),
    hr.Mallows([0, 1, 2], 0.0),
    hr.Mallows([1, 0, 2], 1.0),
    hr.PlackettLuce([1, 2, 3, 4]),
    hr.Uniform(4),
    hr.PointMass([3, 1, 0, 2]),
    hr.BucketMass(hr.Ranking([1, 2, 2, 1])),
    hr.BucketMass(hr.Ranking([1, 2, 2, 1]), gap=0.3),
    hr.Mixture([(0.5, hr.Uniform(4)), (0.5, hr.Mallows([0, 1, 2, 3], 0.2))]),
]


def by_definition(model):
    """Probabilities straight from each definition, in the order of itertools.permutations."""
    orders = list(permutations(range(model.n)))
    if isinstance(model, hr.Mallows):
        mass = [model.phi ** oracles.discordant(order, model.order) for order in orders]
    elif isinstance(model, hr.PlackettLuce):
        w = model.weights
        mass = [prod(w[o[k]] / sum(w[i] for i in o[k:]) for k in range(len(o))) for o in orders]
    elif isinstance(model, hr.Uniform):
        mass = [1.0] * len(orders)
    elif isinstance(model, hr.PointMass):
        mass = [float(order == tuple(model.order)) for order in orders]
    elif isinstance(model, hr.Mixture):
        parts = [(share, by_definition(part)) for share, part in model.parts]
        mass = [sum(share * part[k] for share, part in parts) for k in range(len(orders))]
    else:
        inside = [order in oracles.extensions(model.ranking.ranks.tolist()) for order in orders]
        count = sum(inside)
        falling = iter(1 + model.gap * (1 - 2 * k / (count - 1)) for k in range(count))
        mass = [next(falling) if yes else 0.0 for yes in inside]
    return [m / sum(mass) for m in mass]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_probabilities_equal_their_definition(model):
    assert model.pmf().tolist() == pytest.approx(by_definition(model))


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_samples_follow_the_probabilities(model):
    from scipy.stats import chisquare

    size = 40_000
    orders = model.orders(size, np.random.default_rng(11))
    index = {order: k for k, order in enumerate(permutations(range(model.n)))}
    counts = np.bincount([index[tuple(order)] for order in orders.tolist()], minlength=len(index))
    expected = np.array(by_definition(model)) * size
    assert counts[expected == 0].sum() == 0
    positive = expected > 0
    if positive.sum() > 1:
        assert chisquare(counts[positive], expected[positive]).pvalue > 1e-4


def test_mallows_concentrates_as_the_known_mean_says():
    # The expected distance of Mallows' model is n phi/(1-phi) - sum of i phi^i/(1-phi^i).
    n, phi = 12, 0.4
    orders = hr.Mallows(range(n), phi).orders(20_000, np.random.default_rng(2))
    ranks = np.argsort(orders, axis=1)
    mean = hr.kendall(ranks, np.arange(n)).mean() * n * (n - 1) / 2
    known = n * phi / (1 - phi) - sum(i * phi**i / (1 - phi**i) for i in range(1, n + 1))
    assert mean == pytest.approx(known, rel=0.02)


def test_the_same_seed_gives_the_same_votes_and_none_is_remembered():
    model = hr.Mallows(range(5), 0.7)
    a = hr.sample_votes(model, 200, rng=3)
    assert a == hr.sample_votes(model, 200, rng=3)
    assert a != hr.sample_votes(model, 200, rng=4)
    assert a == hr.sample_votes(model, 200, rng=np.random.default_rng(3))
    assert a.reading.choices["seed"] == "3"
    fresh = hr.sample_votes(model, 200)
    assert fresh == hr.sample_votes(model, 200, rng=int(fresh.reading.choices["seed"]))
    assert a.reading.source == "sample of Mallows"


def test_exact_votes_are_the_model_itself():
    model = hr.PlackettLuce([5, 2, 1])
    v = hr.exact_votes(model, items=["a", "b", "c"])
    assert v.items == ("a", "b", "c")
    assert v.total == pytest.approx(1)
    # Luce's choice axiom: pairwise shares are the ratios of the weights.
    assert v.pairwise()[0, 1] == pytest.approx(5 / 7)
    assert v.pairwise()[1, 2] == pytest.approx(2 / 3)
    assert hr.exact_votes(hr.PointMass([1, 0])).distinct == 1


def test_bucket_mass_samples_any_number_of_items_without_a_gap():
    ranking = hr.Ranking([1] * 6 + [2] * 6)
    orders = hr.BucketMass(ranking).orders(50, np.random.default_rng(0))
    assert (orders[:, :6] < 6).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: hr.Mallows([0, 1], 1.5),
        lambda: hr.Mallows([0, 2], 0.5),
        lambda: hr.PlackettLuce([1, 0]),
        lambda: hr.PlackettLuce([]),
        lambda: hr.Uniform(0),
        lambda: hr.PointMass([1, 1]),
        lambda: hr.BucketMass(hr.Ranking([1, 1]), gap=2),
        lambda: hr.Mixture([(0.5, hr.Uniform(2))]),
        lambda: hr.Mixture([(0.5, hr.Uniform(2)), (0.5, hr.Uniform(3))]),
        lambda: hr.sample_votes(hr.Uniform(2), 0),
        lambda: hr.sample_votes(hr.Uniform(2), 5, rng=-1),
        lambda: hr.sample_votes(hr.Uniform(2), 5, rng="x"),
        lambda: hr.Uniform(2.5),
        lambda: hr.BucketMass([1, 1, 2]),
    ],
)
def test_impossible_models_are_refused(make):
    with pytest.raises(hr.UsageError):
        make()


def test_probabilities_of_too_many_rankings_are_refused():
    with pytest.raises(hr.LimitError, match="exact probabilities are limited to 9 items"):
        hr.Uniform(10).pmf()


def test_weights_and_shares_are_normalised():
    assert hr.PlackettLuce([1e308, 1e308]).pmf().tolist() == [0.5, 0.5]
    nearly = hr.Mixture([(0.5 + 5e-10, hr.Uniform(2)), (0.5, hr.Uniform(2))])
    assert len(nearly.orders(10, np.random.default_rng(0))) == 10
