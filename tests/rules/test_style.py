"""Style control, against arena-rank's contextual model, a general optimiser and derivatives by differences."""

from __future__ import annotations

import numpy as np
import polars
import pytest
from scipy.optimize import minimize

import holdrank as hr

NAMES = ["ash", "birch", "cedar", "dogwood"]
UNIT = 400 / np.log(10)
STYLE = ["length", "marks"]

# Of NAMES, by arena-rank 0.1.1 on `arena()`: ContextualPairDataset.from_pandas(frame, STYLE, reweighted=...) and
# ContextualBradleyTerry(4, 2, reg=..., ftol=1e-16, gtol=1e-13, max_iter=5000).compute_ratings_and_cis(...): ratings,
# variances, coefficients, by `reg` and `reweighted`.
ARENA_RANK = {
    (0.0, False): (
        [1160.4866868, 1057.4269325, 953.8562726, 828.230108],
        [777.6136572, 603.6666765, 1535.0936172, 1683.0363109],
        [0.579423164, -0.273940513],
    ),
    (0.0, True): (
        [1146.0846197, 1060.7737992, 956.889754, 836.2518271],
        [888.4571701, 611.7783757, 1471.7934421, 1680.2849009],
        [0.510174938, -0.248736067],
    ),
    (1.0, False): ([1106.7651998, 1039.4837395, 973.704521, 880.0465397], None, [0.082560963, -0.048842099]),
}


def arena():
    """Battles by a formula: uneven pairs, ties, and a longer answer wins more often."""
    rows = []
    for k in range(300):
        a, b = (k % 2, 1 - k % 2) if k % 3 else (k // 3 % 4, (k // 3 % 4 + 1 + k // 12 % 3) % 4)
        length = round(np.sin(1.7 * k) + 0.3 * (a - b), 6)
        marks = round(np.cos(0.9 * k * k), 6)
        z = 0.5 * (b - a) + 0.6 * length - 0.2 * marks + 1.3 * np.sin(12.9898 * k)
        rows.append((NAMES[a], NAMES[b], "tie" if abs(z) < 0.25 else "model_a" if z > 0 else "model_b", length, marks))
    return polars.DataFrame(rows, schema=["model_a", "model_b", "winner", *STYLE], orient="row")


def in_order(c, values):
    return [float(values[c.items.index(name)]) for name in NAMES]


@pytest.mark.parametrize(("penalty", "reweight"), ARENA_RANK)
def test_ratings_coefficients_and_errors_are_those_of_arena_rank(penalty, reweight):
    values, variances, coefficients = ARENA_RANK[penalty, reweight]
    c = hr.bradley_terry_with_style(arena(), STYLE, penalty=penalty, reweight=reweight)
    found = c.ratings(damping=1e-5)
    assert in_order(c, found.values) == pytest.approx(values, abs=1e-6)
    assert [effect.coefficient for effect in found.style] == pytest.approx(coefficients, abs=1e-8)
    assert [effect.name for effect in found.style] == STYLE
    if variances is not None:  # with its penalty, its curvature leaves the penalty out
        assert in_order(c, found.errors) == pytest.approx(np.sqrt(variances), abs=1e-6)


def log_likelihood(frame, style, x, items):
    rows = frame.rows(named=True)
    outcome = np.array([{"model_a": 1.0, "model_b": 0.0, "tie": 0.5}[row["winner"]] for row in rows])
    gap = np.array([x[items.index(row["model_a"])] - x[items.index(row["model_b"])] for row in rows])
    z = gap + style @ x[len(items) :]
    return outcome * z - np.logaddexp(0, z)


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("penalty", [0.0, 0.3])
def test_the_fit_is_the_likeliest_and_errors_the_sandwich(normalise, penalty):
    frame = arena()
    c = hr.bradley_terry_with_style(frame, STYLE, normalise=normalise, penalty=penalty)
    found = c.ratings()
    style = frame.select(STYLE).to_numpy()
    if normalise:
        style = (style - style.mean(axis=0)) / style.std(axis=0)

    def each(x):
        return log_likelihood(frame, style, x, c.items)

    def loss(x):
        return -each(x).mean() + penalty / 2 * (x[4:] ** 2).sum() + x[:4].sum() ** 2

    x = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-10}).x
    assert found.strengths == pytest.approx(x[:4], abs=1e-5)
    assert [effect.coefficient for effect in found.style] == pytest.approx(x[4:], abs=1e-5)
    x = np.concatenate((found.strengths, [effect.coefficient for effect in found.style]))
    h = 1e-4 * np.eye(6)
    slopes = np.array([(each(x + one) - each(x - one)) / 2e-4 for one in h]).T
    hessian = np.array([[(each(x + a + b) - each(x + a - b) - each(x - a + b) + each(x - a - b)).sum() / 4e-8
                         for a in h] for b in h])  # fmt: skip
    hessian[:4, :4] -= 1
    hessian[4:, 4:] -= 300 * penalty * np.eye(2)
    bread = np.linalg.inv(hessian)
    errors = np.sqrt(np.diag(bread @ slopes.T @ slopes @ bread))
    assert found.errors == pytest.approx(UNIT * errors[:4], rel=1e-4)
    assert [effect.error for effect in found.style] == pytest.approx(errors[4:], rel=1e-4)


def test_the_order_of_the_rows_and_of_the_two_items_does_not_matter():
    frame = arena()
    plain = hr.bradley_terry_with_style(frame, STYLE, normalise=False)
    turned = polars.DataFrame(
        [
            (b, a, {"model_a": "model_b", "model_b": "model_a"}.get(winner, winner), -length, -marks)
            for a, b, winner, length, marks in frame.rows()[::-1]
        ],
        schema=frame.columns,
        orient="row",
    )
    other = hr.bradley_terry_with_style(turned, STYLE, normalise=False)
    assert in_order(other, other.ratings().values) == pytest.approx(in_order(plain, plain.ratings().values), abs=1e-6)
    assert [e.coefficient for e in other.ratings().style] == pytest.approx(
        [e.coefficient for e in plain.ratings().style], abs=1e-8
    )


def test_weights_are_battles_said_once():
    frame = arena().with_columns(weight=polars.Series([1 + k % 3 for k in range(300)]))
    long = polars.DataFrame(
        [row[:-1] for row in frame.rows() for _ in range(row[-1])], schema=frame.columns[:-1], orient="row"
    )
    short = hr.bradley_terry_with_style(frame, STYLE, normalise=False, weight="weight").ratings()
    full = hr.bradley_terry_with_style(long, STYLE, normalise=False).ratings()
    assert short.values == pytest.approx(full.values, abs=1e-6)
    assert short.errors == pytest.approx(full.errors, rel=1e-6)
    assert [e.error for e in short.style] == pytest.approx([e.error for e in full.style], rel=1e-6)


def test_a_column_without_differences_changes_nothing():
    frame = arena().with_columns(flat=polars.lit(7.0))
    plain = hr.bradley_terry(hr.Votes.from_battles(frame))
    c = hr.bradley_terry_with_style(frame, ["flat"], penalty=0.01)
    assert c.ratings().style[0].coefficient == 0
    assert in_order(c, c.ratings().strengths) == pytest.approx(in_order(plain, plain.ratings().strengths), abs=1e-7)
    assert plain.ratings().style == ()


def test_rows_that_do_not_count_and_items_without_a_rating():
    extra = [("elm", "ash", "model_a", 0.1, 0.2), ("ash", "ash", "tie", 9.0, 9.0)]
    more = polars.DataFrame(extra, schema=arena().columns, orient="row")
    c = hr.bradley_terry_with_style(polars.concat([more, arena()]), STYLE, normalise=False)
    expected = hr.bradley_terry_with_style(arena(), STYLE, normalise=False)
    found = c.ratings()
    assert np.isinf(found.values[c.items.index("elm")])
    assert in_order(c, found.strengths) == pytest.approx(in_order(expected, expected.ratings().strengths), abs=1e-7)


@pytest.mark.parametrize("names", [[1, 2, 3, 4], [1.5, 2.0, 3.25, 4.0], ["1", " two", "3", "x "]])
def test_names_that_are_numbers_or_have_spaces_point_the_right_way(names):
    frame = arena()
    number = dict(zip(NAMES, names, strict=True))
    renamed = frame.with_columns(
        model_a=polars.Series([number[name] for name in frame["model_a"]]),
        model_b=polars.Series([number[name] for name in frame["model_b"]]),
    )
    expected, c = hr.bradley_terry_with_style(frame, STYLE), hr.bradley_terry_with_style(renamed, STYLE)
    assert [effect.coefficient for effect in c.ratings().style] == pytest.approx(
        [effect.coefficient for effect in expected.ratings().style], abs=1e-9
    )


@pytest.mark.parametrize(
    ("style", "options", "problem"),
    [
        ("length", {}, "style takes the names of one or more columns"),
        ([], {}, "style takes the names of one or more columns"),
        (["winner"], {}, "the column 'winner' holds text"),
        (["lenght"], {}, "lenght"),
        (["length"], {"penalty": -1}, "penalty must be 0 or more"),
        (["length"], {"voter": "who"}, "leave out voter"),
        (["gappy"], {}, "'gappy' is not a number"),
        (["told"], {}, "give a penalty above 0"),
    ],
)
def test_what_makes_no_sense_is_refused(style, options, problem):
    frame = arena()
    gappy = [None if k == 4 else float(k) for k in range(300)]
    told = [{"model_a": 1.0, "model_b": -1.0}.get(winner, 0.0) for winner in frame["winner"]]
    frame = frame.with_columns(gappy=polars.Series(gappy), told=polars.Series(told))
    if style == ["told"]:
        frame = frame.filter(polars.col("winner") != "tie")
    with pytest.raises(hr.HoldrankError, match=problem):
        hr.bradley_terry_with_style(frame, style, **options)
