"""Ratings and removals in the record of an analysis: what they say, how they are proved, how pages show them."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

import holdrank as hr
from holdrank.analysis.records import seal_of
from holdrank.proofs.recorded.ratings import rating_checks, removal_checks
from holdrank.proofs.recorded.record import Recorded
from holdrank.studio.pages import templates
from holdrank.views.page import page_view

import oracles
from analyses import analysed

HOSTILE = ["<script>alert(1)</script>", "a|b", "$x$", "*d*", "\u202egnp.exe"]
UNIT = 400 / np.log(10)


def battles(n, m, seed, names=None):
    rng = np.random.default_rng(seed)
    s = np.linspace(0.6, -0.6, n)
    names = names or [f"m{k}" for k in range(n)]
    orders, played = [], []
    for _ in range(m):
        i, j = rng.choice(n, 2, replace=False)
        y = 0.5 if rng.random() < 0.2 else float(rng.random() < 1 / (1 + np.exp(s[j] - s[i])))
        one, two = names[i], names[j]
        orders.append([[one, two]] if y == 0.5 else [one, two] if y == 1 else [two, one])
        played.append((one, two, y))
    return hr.Votes.from_orders(orders, unlisted="observed"), played


def rated(votes):
    """Analyse votes by Bradley-Terry: ratings come with the consensus."""
    return analysed(votes, hr.Spec(rule="bradley-terry", theta=None, draws=0, time_limit=None), "removals")


def of(ballots, weights=None, unlisted="observed"):
    """Votes from words: each letter is an item, best first."""
    return hr.Votes.from_orders([list(ballot) for ballot in ballots.split()], weights, unlisted=unlisted)


PROFILES = {
    "battles": lambda: battles(6, 150, 1)[0],
    "more items than are listed": lambda: battles(9, 400, 2)[0],
    "complete rankings": lambda: of("abcd badc dcba acbd", [6, 5, 2, 3]),
    "truncated, at the bottom": lambda: of("ab cb ca dc bd", [6, 5, 4, 3, 2], "bottom"),
    "truncated, observed": lambda: of("abc cb cad dca bda", [6, 5, 4, 3, 2]),
    "shares": lambda: of("ab bc ca ba", [0.4, 0.3, 0.2, 0.1]),
    "some never lose, some never meet": lambda: of("ab ba bc cb ca wa bl xy", [6, 4, 5, 4, 3, 2, 2, 1]),
    "nobody rated": lambda: of("ab bc ac"),
    "too few": lambda: of("abcde edcba"),
    "as expected": lambda: hr.Votes.from_orders([[["a", "b"]], [["b", "c"]], [["c", "a"]]], unlisted="observed"),
}


@pytest.fixture(scope="module", params=PROFILES)
def case(request):
    votes = PROFILES[request.param]()
    return votes, rated(votes).record


def checks(votes, record):
    recorded = Recorded(votes, record)
    return [*rating_checks(recorded), *removal_checks(recorded)]


def test_ratings_are_those_of_the_definition():
    votes, played = battles(5, 120, 7)
    found = rated(votes).record["ratings"]
    W = votes.wins()
    strengths = oracles.bradley_terry_strengths(W, W.sum(), 0.0)
    at = {name: k for k, name in enumerate(votes.items)}
    single = [[(at[a], at[b], y)] for a, b, y in played]
    errors = UNIT * oracles.sandwich_errors(single, strengths, 0.0, None)
    assert found["strengths"] == pytest.approx(strengths, abs=1e-6)
    assert found["values"] == pytest.approx(1000 + UNIT * strengths, abs=1e-3)
    assert found["errors"] == pytest.approx(errors, rel=1e-6)
    assert found["upper"] == pytest.approx(1000 + UNIT * strengths + 1.9599640 * errors, abs=1e-2)
    fought = [sum(name in (a, b) for a, b, _ in played) for name in votes.items]
    assert found["comparisons"] == fought


def test_removals_are_those_of_votes_without_the_item(case):
    votes, record = case
    assert [row["item"] for row in record["removals"]["each"]] == list(range(votes.n))
    before = record["consensus"]["ranks"]
    for row in record["removals"]["each"]:
        rest = [k for k in range(votes.n) if k != row["item"]]
        after = hr.bradley_terry(votes.only([votes.items[k] for k in rest])).ranking.ranks.tolist()
        assert [row["ranks"][k] for k in rest] == after
        place = dict(zip(rest, after, strict=True))
        flips = [(i, j) for i in rest for j in rest if before[i] < before[j] and place[i] > place[j]]
        assert row["flipped"] == len(flips)
        assert row["new_winner"] == (min(rest, key=lambda k: before[k]) != min(rest, key=lambda k: place[k]))


def test_other_rules_have_neither():
    record = analysed(battles(4, 60, 3)[0], hr.Spec(rule="borda", theta=None, draws=0), "removals").record
    assert (record["ratings"], record["removals"]) == (None, None)
    forged = {**record, "ratings": rated(battles(4, 60, 3)[0]).record["ratings"]}
    assert [check.finding for check in checks(battles(4, 60, 3)[0], forged)] == ["refuted"]


def test_all_of_it_is_proved(case):
    votes, record = case
    assert {check.finding for check in checks(votes, record)} == {"proved"}
    assert len(checks(votes, record)) == 1 + votes.n


def test_no_number_of_ratings_can_be_changed(case):
    votes, record = case
    for name in ("strengths", "values", "errors", "lower", "upper", "comparisons"):
        for k, old in enumerate(record["ratings"][name]):
            wrong = [1000.0] if old is None else [None, old + max(abs(old), 1) * 1e-3, old - 0.01, -old - 1]
            for new in wrong if name != "comparisons" else wrong[1:]:
                forged = copy.deepcopy(record)
                forged["ratings"][name][k] = new
                assert [check.finding for check in rating_checks(Recorded(votes, forged))] == ["refuted"], (name, new)
    for name, new in [
        ("tie", 1.0),
        ("ties", "davidson"),
        ("level", 0.9),
        ("scale", 401),
        ("base", 2),
        ("offset", 0),
        ("anchor", 0),
    ]:
        forged = copy.deepcopy(record)
        forged["ratings"][name] = new
        assert [check.finding for check in rating_checks(Recorded(votes, forged))] == ["refuted"]
    forged = copy.deepcopy(record)
    forged["ratings"]["notes"] = [*record["ratings"]["notes"], "All is well."]
    assert "refuted" in [check.finding for check in rating_checks(Recorded(votes, forged))]
    assert [check.finding for check in rating_checks(Recorded(votes, {**record, "ratings": None}))] == ["refuted"]


def test_no_number_of_removals_can_be_changed(case):
    votes, record = case
    for k in range(votes.n):
        for name in ("flipped", "new_winner", "ranks"):
            forged = copy.deepcopy(record)
            row = forged["removals"]["each"][k]
            if name == "ranks":
                first, second = [i for i in range(votes.n) if i != k][:2]
                row["ranks"][first], row["ranks"][second] = row["ranks"][second], row["ranks"][first]
                recount(record["consensus"]["ranks"], row, k)
            else:
                row[name] = row[name] + 1 if name == "flipped" else not row[name]
            findings = [check.finding for check in removal_checks(Recorded(votes, forged))]
            # Items of equal strength may stand in either order.
            tied = name == "ranks" and hr.bradley_terry(votes.only(without(votes, k))).unique is False
            assert findings.count("refuted") == 1 or tied, (k, name)
    forged = copy.deepcopy(record)
    forged["removals"]["each"].pop()
    assert "open" in [check.finding for check in removal_checks(Recorded(votes, forged))]
    forged["removals"]["each"].reverse()
    assert [check.finding for check in removal_checks(Recorded(votes, forged))] == ["refuted"]


def without(votes, k):
    return [name for i, name in enumerate(votes.items) if i != k]


def recount(before, row, k):
    """Let a forged row fit its ranks, so that only the ranks are wrong."""
    rest = [i for i in range(len(before)) if i != k]
    after = row["ranks"]
    row["flipped"] = sum(before[i] < before[j] and after[i] > after[j] for i in rest for j in rest)
    row["new_winner"] = min(rest, key=lambda i: before[i]) != min(rest, key=lambda i: after[i])


@pytest.mark.parametrize(
    "break_it",
    [
        lambda record: record["ratings"]["values"].pop(),
        lambda record: record["ratings"].pop("errors"),
        lambda record: record["removals"]["each"][0]["ranks"].pop(),
        lambda record: record["removals"]["each"][0].update(item=9),
        lambda record: record["removals"]["each"][0].update(item=-1),
        lambda record: record["removals"]["each"][0].update(ranks=[1, None, 2, 3]),
        lambda record: record["removals"]["each"][0].update(ranks=[None, 7, 1, 2]),
    ],
)
def test_parts_that_do_not_fit_are_refused(break_it):
    record = rated(battles(4, 60, 3)[0]).record
    assert hr.Analysis.from_json(json.dumps(record)).record == record
    break_it(record)
    with pytest.raises(hr.InputError, match="this is not an analysis"):
        hr.Analysis.from_json(json.dumps(record))


def test_records_of_earlier_versions_are_read_verified_and_shown():
    votes, _ = battles(4, 60, 3)
    record = rated(votes).record
    old = {name: part for name, part in record.items() if name not in ("ratings", "removals")}
    old["seal"] = seal_of(old)
    analysis = hr.Analysis.from_json(json.dumps(old))
    assert not hr.verify(votes, analysis).refuted
    assert "When an item leaves" not in hr.report.html(analysis)


@pytest.fixture(scope="module")
def hostile():
    return rated(battles(5, 200, 11, HOSTILE)[0])


def test_pages_show_ratings_and_removals(hostile):
    page = hr.report.html(hostile).replace("\u00a0", " ")
    record = hostile.record
    assert '<h2 id="removals">' in page
    best = record["consensus"]["order"][0]
    lower, upper = record["ratings"]["lower"][best], record["ratings"]["upper"][best]
    assert f'title="95 % interval {lower:.0f}–{upper:.0f}">{record["ratings"]["values"][best]:.0f} ± ' in page
    text = hr.report.markdown(hostile)
    assert "## Ratings" in text
    assert "## When an item leaves" in text
    assert f"| {lower:.0f}–{upper:.0f} | {record['ratings']['errors'][best]:.1f} |" in text
    assert f"| {record['ratings']['comparisons'][best]:g} |" in text
    assert r"Rating & 95 \% interval &" in hr.report.latex(hostile)
    assert f"& {lower:.0f}--{upper:.0f} &" in hr.report.latex(hostile)


def test_names_stay_text_in_ratings_and_removals(hostile):
    row = hostile.record["removals"]["each"][0]
    row["ranks"] = [None, *reversed([rank for rank in row["ranks"] if rank is not None])]  # so that names are in a cell
    recount(hostile.record["consensus"]["ranks"], row, 0)
    assert row["flipped"]
    page = hr.report.html(hostile).partition("<!-- scripts -->")[0].partition('<script type="application/json"')[0]
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert '<td dir="ltr">' in page  # or a name that runs from right to left would turn the sentence round
    text = hr.report.markdown(hostile)
    assert "<script>" not in text
    assert "\u202e" not in text


def test_items_that_leave_without_a_trace_are_counted():
    page = hr.report.html(rated(of("ab ba bc cb ca ac", [9, 2, 9, 2, 2, 9])))
    assert "No removal changes the order of the other items." in page
    assert "Removals that change" not in page


def test_the_studio_shows_the_same_tables(hostile):
    source = '{% from "board.html" import board_table %}{{ board_table(view.board, items) }}'
    table = templates().from_string(source).render(view=page_view(hostile.record), items=hostile.items)
    assert "&lt;script&gt;alert(1)" in table
    assert table.strip() in hr.report.html(hostile).replace("\u00a0", " ")
