"""Leaving out one group: the oracle builds the votes without it from scratch, ballot by ballot, and ranks them."""

from __future__ import annotations

import io
import pickle
from itertools import permutations

import numpy as np
import polars
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import holdrank as hr
from holdrank.analysis.group_records import leave_one_out_record
from holdrank.analysis.records import command_mismatch, command_record, ranking_record
from holdrank.status import Status

RULES = [
    hr.kemeny,
    hr.borda,
    hr.copeland,
    hr.bradley_terry,
    hr.footrule,
    hr.Robust(hr.kemeny, 0.1),
    hr.Robust(hr.bradley_terry, 0.1),
]
NAMES = "abcde"
LABELS = ["x", "y", "z", "x y"]


@st.composite
def labelled(draw, *, most_items=4, complete=False):
    """(items, ballots as ranks, label of each, unlisted): at least two labels."""
    n = draw(st.integers(2, most_items))
    row = st.permutations(range(1, n + 1)) if complete else st.lists(st.integers(0, n), min_size=n, max_size=n)
    rows = draw(st.lists(row.filter(any), min_size=2, max_size=9))
    labels = draw(st.lists(st.sampled_from(LABELS), min_size=len(rows), max_size=len(rows)))
    assume(len(set(labels)) > 1)
    unlisted = draw(st.sampled_from(["bottom", "observed"]))
    return list(NAMES[:n]), [list(ranks) for ranks in rows], labels, unlisted


def table_of(items, rows, labels):
    head = ",".join(["who", *items])
    lines = [",".join([label, *(str(k) if k else "" for k in row)]) for row, label in zip(rows, labels, strict=True)]
    return "\n".join([head, *lines]).encode()


def read(items, rows, labels, unlisted, **more):
    options = {"format": "rank-columns", "unlisted": unlisted, "by": "who", **more}
    return hr.read_votes(io.BytesIO(table_of(items, rows, labels)), **options)


def expected_of(T, items, rows, labels, unlisted, gone):
    """(ranks, pairs that flip, whether the first changes, items without votes), from ballots alone."""
    kept = [row for row, label in zip(rows, labels, strict=True) if label != gone]
    before = T(hr.Votes.from_ranks(rows, items=items, unlisted=unlisted)).ranking.ranks.tolist()
    after = T(hr.Votes.from_ranks(kept, items=items, unlisted=unlisted)).ranking.ranks.tolist()
    pairs = list(permutations(range(len(items)), 2))
    flips = {(items[i], items[j]) for i, j in pairs if before[i] < before[j] and after[i] > after[j]}
    first = [{i for i, rank in enumerate(ranks) if rank == min(ranks)} for ranks in (before, after)]
    heard = [{i for ranks in some for i, rank in enumerate(ranks) if rank} for some in (rows, kept)]
    return after, flips, first[0] != first[1], {items[i] for i in heard[0] - heard[1]}


@pytest.mark.parametrize("T", RULES, ids=lambda T: T.__name__)
@settings(max_examples=40)
@given(drawn=labelled())
@pytest.mark.slow
def test_leaving_out_a_group_is_the_rule_run_on_the_other_ballots(T, drawn):
    items, rows, labels, unlisted = drawn
    if T is hr.footrule:
        unlisted = "bottom"
    try:
        for gone in set(labels):
            expected_of(T, items, rows, labels, unlisted, gone)
    except hr.HoldrankError:
        assume(False)
    found = hr.leave_one_out(read(items, rows, labels, unlisted), T)
    assert found.by == "who"
    assert {one.name for one in found.each} == set(labels)
    for one in found.each:
        ranks, flips, new_winner, unheard = expected_of(T, items, rows, labels, unlisted, one.name)
        assert one.ranking == hr.Ranking(ranks)
        assert (set(one.flips), one.new_winner, set(one.unheard)) == (flips, new_winner, unheard)
        assert one.distance == hr.hausdorff_ns(found.consensus.ranking, one.ranking)
        assert one.votes == labels.count(one.name)
    order = [(one.new_winner, one.distance) for one in found.each]
    assert order == sorted(order, reverse=True)
    places = np.array([found.consensus.ranking.places, *(one.ranking.places for one in found.each)])
    assert found.best.tolist() == places.min(axis=0).tolist()
    assert found.worst.tolist() == places.max(axis=0).tolist()


BATTLE_RULES = [hr.kemeny, hr.borda, hr.copeland, hr.bradley_terry, hr.Robust(hr.bradley_terry, 0.1)]


@pytest.mark.parametrize("T", BATTLE_RULES, ids=lambda T: T.__name__)
@pytest.mark.parametrize("frame", [True, False])
@settings(max_examples=25)
@given(data=st.data())
@pytest.mark.slow
def test_battles_are_grouped_by_any_column_and_by_their_voters(T, frame, data):
    n = data.draw(st.integers(2, 5))
    pair = st.permutations(range(n)).map(lambda order: order[:2])
    cell = st.sampled_from(["left", "right", "tie"])
    rows = data.draw(st.lists(st.tuples(pair, cell, st.sampled_from("pq"), st.sampled_from("st")), min_size=2))
    assume(all(len({row[k] for row in rows}) == 2 for k in (2, 3)))
    columns = {
        "left": [NAMES[a] for (a, _), *_ in rows],
        "right": [NAMES[b] for (_, b), *_ in rows],
        "winner": [won for _, won, _, _ in rows],
        "judge": [judge for _, _, judge, _ in rows],
        "language": [language for *_, language in rows],
    }
    table = polars.DataFrame(columns)
    file = table.write_csv().encode()

    def votes(**options):
        return hr.Votes.from_battles(table, **options) if frame else hr.read_votes(io.BytesIO(file), **options)

    for column, options in (
        ("judge", {"voter": "judge"}),
        ("language", {"by": "language"}),
        ("language", {"voter": "judge", "by": "language"}),
    ):
        v = votes(**options)
        found = hr.leave_one_out(v, T)
        assert found.by == column
        for one in found.each:
            kept = [
                [v.items.index(a), v.items.index(b), won]
                for a, b, won, group in zip(
                    columns["left"], columns["right"], columns["winner"], columns[column], strict=True
                )
                if group != one.name
            ]
            ranks = np.zeros((len(kept), v.n), dtype=int)
            for k, (a, b, won) in enumerate(kept):
                ranks[k, a], ranks[k, b] = {"left": (1, 2), "right": (2, 1), "tie": (1, 1)}[won]
            rest = hr.Votes.from_ranks(ranks, items=v.items, unlisted="observed")
            assert one.ranking == T(rest).ranking
            assert one.votes == len(rows) - len(kept)
        if "voter" in options:
            assert v.voters is not None
            assert set(v.voters.names) == {"p", "q"}


@pytest.mark.parametrize("T", [hr.mean_score, hr.borda, hr.kemeny, hr.bradley_terry], ids=lambda T: T.__name__)
@settings(max_examples=25)
@given(data=st.data())
@pytest.mark.slow
def test_columns_of_a_score_table_are_left_out(T, data):
    n, m = data.draw(st.integers(2, 5)), data.draw(st.integers(2, 5))
    score = st.one_of(st.none(), st.integers(-3, 3).map(lambda k: k / 2), st.just(-0.0))
    grid = data.draw(st.lists(st.lists(score, min_size=n, max_size=n), min_size=m, max_size=m))
    assume(all(any(cell is not None for cell in row) for row in grid))
    tasks = [f"task {k}" for k in range(m)]
    table = polars.DataFrame({"model": list(NAMES[:n]), **dict(zip(tasks, grid, strict=True))}, strict=False)
    found = hr.leave_one_out(hr.Votes.from_scores(table), T)
    assert found.by == "column"
    assert sorted(one.name for one in found.each) == tasks
    for one in found.each:
        rest = hr.Votes.from_scores(table.drop(one.name))
        assert one.ranking == T(rest).ranking


def test_a_threshold_that_is_chosen_is_chosen_again():
    items, labels = list("abc"), ["x", "x", "y", "y", "z"]
    rows = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [3, 1, 2], [1, 2, 3]]
    T = hr.Robust(hr.borda, "auto")
    for one in hr.leave_one_out(read(items, rows, labels, "bottom"), T).each:
        ranks, flips, new_winner, _ = expected_of(T, items, rows, labels, "bottom", one.name)
        assert (one.ranking, set(one.flips), one.new_winner) == (hr.Ranking(ranks), flips, new_winner)


def test_weights_that_are_no_whole_numbers_leave_no_traces():
    text = b"weight,who,a,b,c\n0.1,x,1,2,\n0.2,x,1,2,\n0.3,y,,2,1\n0.7,z,2,,1\n0.3,z,2,1,\n"
    v = hr.read_votes(io.BytesIO(text), format="rank-columns", by="who", unlisted="observed")
    for T in (hr.kemeny, hr.bradley_terry, hr.borda):
        for one in hr.leave_one_out(v, T).each:
            lines = [line for line in text.split(b"\n") if f",{one.name},".encode() not in line]
            rest = hr.read_votes(io.BytesIO(b"\n".join(lines)), format="rank-columns", voter="who", unlisted="observed")
            assert one.ranking == T(rest).ranking


@pytest.mark.parametrize(
    ("text", "options", "by", "names"),
    [
        (b"voter,item,score\nu,a,1\nu,b,2\nv,a,3\nv,b,1\n", {}, "voter", ["u", "v"]),
        (b"task,area,item,score\nu,s,a,1\nu,s,b,2\nv,t,a,3\nv,t,b,1\nw,t,a,3\nw,t,b,1\n",
         {"by": "area"}, "area", ["s", "t"]),
        (b"town,rank1,rank2\nu,a,b\nu,a,b\nv,a,b\nv,b,a\n", {"by": "town"}, "town", ["u", "v"]),
        (b"town,a,b\nu,1,2\nv,1,2\n,2,1\n", {"by": "town", "format": "rank-columns"}, "town", ["u", "v", "(blank)"]),
        (b"list,,\nu,a,b\nv,b,c\n", {"format": "lists"}, "list", ["u", "v"]),
        (b"system1Id,system2Id,system1rank,system2rank,judge\na,b,1,2,u\nb,a,1,2,v\n", {"by": "judge"}, "judge",
         ["u", "v"]),
    ],
)  # fmt: skip
def test_forms_know_their_groups(text, options, by, names):
    found = hr.leave_one_out(hr.read_votes(io.BytesIO(text), **options), hr.kemeny)
    assert found.by == by
    assert sorted(one.name for one in found.each) == sorted(names)


def test_groups_last_through_what_votes_become():
    table = polars.DataFrame({"model": list("abc"), "t": [3, 2, 1], "u": [30, 20, 10], "w": [1, 2, 3]})
    v = hr.Votes.from_scores(table)
    for same in (v, v.without_scores(), pickle.loads(pickle.dumps(v)), v.renamed(["x", "y", "z"])):
        assert [one.name for one in hr.leave_one_out(same, hr.kemeny).each] == ["t", "u", "w"]
        assert hr.leave_one_out(same, hr.kemeny).deciding == ()
    fewer = v.only(["c", "a"])
    assert {one.name: one.winners for one in hr.leave_one_out(fewer, hr.borda).each} == {
        "t": ("c",), "u": ("c",), "w": ("a",)
    }  # fmt: skip
    text = b"voter,item,score\nu,a,1\nu,b,2\nv,b,1\nv,c,2\nw,a,5\nw,b,1\n"
    dropped = hr.read_votes(io.BytesIO(text), drop="c")
    assert {one.name: one.winners for one in hr.leave_one_out(dropped, hr.borda).each} == {"u": ("a",), "w": ("b",)}


def test_ballots_are_left_out_one_vote_each():
    v = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 3])
    found = hr.leave_one_out(v, hr.kemeny, by="ballot")
    assert [(one.name, one.votes, one.winners) for one in found.each] == [
        ("1: a > b", 1, ("b",)),
        ("2: b > a", 1, ("a",)),
    ]
    shares = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[0.75, 0.25])
    assert [one.votes for one in hr.leave_one_out(shares, hr.kemeny, by="ballot").each] == [0.75, 0.25]


def test_what_cannot_be_left_out_is_refused():
    v = hr.Votes.from_orders([["a", "b"], ["b", "a"]])
    with pytest.raises(hr.UsageError, match="do not say which voter, task or category"):
        hr.leave_one_out(v, hr.kemeny)
    one = hr.Votes.from_scores(polars.DataFrame({"model": ["a", "b"], "t": [2, 1]}))
    with pytest.raises(hr.UsageError, match="at least two groups; 'column' has only 't'"):
        hr.leave_one_out(one, hr.kemeny)
    two = hr.Votes.from_scores(polars.DataFrame({"model": ["a", "b"], "t": [2, 1], "u": [2, 1]}))
    with pytest.raises(hr.UsageError, match="grouped by 'column', not by 'language'"):
        hr.leave_one_out(two, hr.kemeny, by="language")
    with pytest.raises(hr.UsageError, match="takes Votes"):
        hr.leave_one_out([[1, 2]], hr.kemeny)
    split = b"voter,area,item,score\nu,s,a,1\nu,t,b,2\nv,t,a,3\nv,t,b,1\n"
    with pytest.raises(hr.InputError, match="'u' is in two groups, 's' and 't'") as refused:
        hr.read_votes(io.BytesIO(split), by="area")
    assert refused.value.line == 3
    scores = b"model,kind,t,u\na,open,0.5,0.7\nb,closed,0.1,0.2\n"
    with pytest.raises(hr.HoldrankError):
        hr.read_votes(io.BytesIO(scores), by="kind")
    with pytest.raises(hr.HoldrankError, match="langage"):
        hr.read_votes(io.BytesIO(b"model_a,model_b,winner,language\na,b,model_a,en\n"), by="langage")


def test_time_that_is_over_is_a_status():
    v = hr.Votes.from_scores(polars.DataFrame({"model": list("abc"), "t": [3, 2, 1], "u": [1, 2, 3], "w": [3, 1, 2]}))
    found = hr.leave_one_out(v, hr.kemeny, time_limit=0)
    assert (found.each, found.groups, found.status) == ((), 3, Status.TIME_LIMIT)
    assert "none was tried" in found.text()
    with pytest.raises(hr.UsageError, match="time_limit"):
        hr.leave_one_out(v, hr.kemeny, time_limit=-1)


@pytest.mark.slow
@pytest.mark.traced
def test_hundreds_of_voters_take_little_time():
    rng = np.random.default_rng(0)
    scores = (rng.normal(size=41) + 2.5 * rng.normal(size=(332, 41))).round(3)
    table = polars.DataFrame({"model": [f"m{k}" for k in range(41)], **{f"t{k}": row for k, row in enumerate(scores)}})
    v = hr.Votes.from_scores(table)
    for T in (hr.borda, hr.bradley_terry):
        found = hr.leave_one_out(v, T)
        assert len(found.each) == 332
        some = found.each[::40]
        for one in some:
            assert one.ranking == T(hr.Votes.from_scores(table.drop(one.name))).ranking


def test_the_record_fits_the_schema_and_says_the_same():
    table = polars.DataFrame({"model": list("abc"), "t": [3, 2, 1], "u": [1, 2, 3], "w": [3, 1, 2]})
    v = hr.Votes.from_scores(table)
    found = hr.leave_one_out(v, hr.kemeny)
    parts = {"consensus": ranking_record("kemeny", found.consensus), **leave_one_out_record(found)}
    record = command_record("leave-one-out", v, spec={}, **parts, seconds=0.0)
    assert command_mismatch(record) == ""
    assert [(row["name"], row["votes"], row["new_winner"]) for row in record["left_out"]] == [
        (row["column"], row["votes"], row["new_winner"]) for row in found.rows()
    ]
    assert [row["order"] for row in found.rows(most=1)] == [found.each[0].ranking.text("abc")]
