"""Ballots held as marks are the votes that a matrix of them would be."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdrank import (
    InputError,
    LimitError,
    PairCounts,
    Reading,
    UsageError,
    Votes,
    count_pairs,
    read_votes,
    write_votes,
)
from holdrank.parallel.checkpoints import rows_hash
from holdrank.votes.ballots import SparseBallots, sparse
from holdrank.votes.ballots.sparse import row_prints
from holdrank.votes.forms import raw as raw_room
from holdrank.votes.forms.raw import RanksInPieces, RawBallots, ranks_of_marks, with_scores

SOURCES = {
    "preflib": "# DATA TYPE: toi\n# ALTERNATIVE NAME 1: x\n# ALTERNATIVE NAME 2: y\n# ALTERNATIVE NAME 3: z\n"
    "2: 1,2\n1: {1,2}\n1: 2,1,3\n3: 1,2\n0: 3\n",
    "preflib-old": "3\n1,x\n2,y\n3,z\n4,4,3\n2,1,2\n1,{1,2}\n1,2,1,3\n",
    "cat": "# DATA TYPE: cat\n# NUMBER CATEGORIES: 2\n# CATEGORY NAME 1: yes\n# CATEGORY NAME 2: no\n"
    "# ALTERNATIVE NAME 1: x\n# ALTERNATIVE NAME 2: y\n# ALTERNATIVE NAME 3: z\n2: 1,{2,3}\n1: {1,2},{}\n1: 2,1\n",
    "order": "3 1\n0 3 2 0 1\n0 1 1\n0 3 2 0 1\n0 0\n",
    "order-columns": "rank1,rank2,rank3\nx,y,z\ny,,x\n,,\nx,y,z\nz,,\n",
    "lists": "study,1,2,3\nA,x,y,z\nB,y\nC,z,x\nD,y\n",
    "long-ranks": "voter,item,rank\n1,x,1\n1,y,7\n2,y,2\n2,x,1\n3,x,1\n3,z,1\n4,y,1\n4,x,\n5,z,\n",
    "long-scores": "task,model,score\n1,x,9\n1,y,2\n2,y,-0.0\n2,x,4\n3,x,1\n3,z,1\n4,y,1\n4,x,.5\n5,z,\n",
    "battles": "model_a,model_b,winner\nx,y,model_a\ny,x,model_b\nx,z,tie\ny,x,a\n",
    "pair-counts": "i,j,wins_i,wins_j,ties\nx,y,2,0,1\ny,z,1,0.5,0\n",
    "multi-way": "system1Id,system1rank,system2Id,system2rank\nx,1,y,2\ny,3,z,1\nx,4,y,4\ny,1,x,2\nx,1,y,2\n",
    "jsonl": '{"order": ["x", "y"], "weight": 2}\n{"order": [["x", "z"]]}\n{"ranks": {"x": 2, "y": 1.5}}\n'
    '{"order": []}\n{"order": ["x", "y"], "weight": 0.25}\n{"order": ["z"], "weight": 0}\n',
}


@pytest.fixture
def always_marks(monkeypatch):
    """No matrix is dense enough to be held as one."""

    most_cells = raw_room.most_cells
    return lambda on: monkeypatch.setattr(raw_room, "most_cells", (lambda _: -1) if on else most_cells)


def assert_same_votes(one: Votes, other: Votes) -> None:
    assert (one.items, one.unlisted) == (other.items, other.unlisted)
    assert (one.notes, one.reading) == (other.notes, other.reading)
    assert one.summary() == other.summary()
    assert np.array_equal(one.weights, other.weights)
    assert np.array_equal(one.ranks, other.ranks)
    assert one.ranks.dtype == other.ranks.dtype
    assert one.ranks.flags.f_contiguous
    assert not one.ranks.flags.writeable
    assert (one.scores is None) == (other.scores is None)
    assert one.scores is None or np.array_equal(one.scores, other.scores, equal_nan=True)
    assert one == other


@pytest.mark.parametrize("form", SOURCES)
def test_every_reader_finds_the_same_votes_either_way(form, always_marks):
    text = SOURCES[form].encode()
    matrix = read_votes(io.BytesIO(text))
    always_marks(True)
    marks = read_votes(io.BytesIO(text))
    assert isinstance(marks.ballots, SparseBallots)
    assert not isinstance(matrix.ballots, SparseBallots)
    assert_same_votes(marks, matrix)


def test_real_files_are_the_same_votes_either_way(shared_data, always_marks):
    for name in (
        "debian/00002-00000006.toc",
        "format-samples/00069-00000012.cat",
        "llmfao-crowd/crowd-comparisons.csv",
    ):
        always_marks(False)
        matrix = read_votes(shared_data / name)
        always_marks(True)
        assert_same_votes(read_votes(shared_data / name), matrix)


def test_pairs_are_counted_the_same_either_way(tmp_path, always_marks):
    path = tmp_path / "votes.csv"
    path.write_text(SOURCES["order-columns"], encoding="utf-8")
    matrix = count_pairs(path)
    always_marks(True)
    assert count_pairs(path) == matrix


def test_counts_become_the_same_votes_either_way(always_marks):
    counts = PairCounts.from_votes(Votes.from_orders([["a", "b", "c"], [["b", "c"], "a"]], weights=[5, 2]))
    matrix = counts.as_votes()
    always_marks(True)
    assert isinstance(counts.as_votes().ballots, SparseBallots)
    assert_same_votes(counts.as_votes(), matrix)


@st.composite
def marked(draw):
    """(m, n), the marks, a score for each rank of a ballot, and weights; ballots repeat, some are blank."""
    n = draw(st.integers(1, 5))
    kinds = draw(st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=1, max_size=4))
    table = np.array(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=9)))
    weight = draw(st.sampled_from([st.integers(0, 4), st.floats(0.001, 1)]))
    weights = draw(st.lists(weight, min_size=len(table), max_size=len(table)))
    shifts = draw(st.lists(st.integers(0, 3), min_size=len(table), max_size=len(table)))
    return table, np.array(weights, dtype=float), np.array(shifts)


@given(marked(), st.booleans(), st.booleans(), st.sampled_from(["bottom", "observed"]), st.randoms())
def test_marks_are_merged_and_counted_as_a_matrix_is(case, scored, merge, unlisted, random):
    table, weights, shifts = case
    if not (table.any(axis=1) & (weights > 0)).any():
        return
    row, item = np.nonzero(table)
    order = list(range(len(row)))
    random.shuffle(order)
    row, item = row[order], item[order]
    rank, score = table[row, item], shifts[row] - 1.5 * table[row, item]
    items = [f"i{k}" for k in range(table.shape[1])]
    built = []
    for ranks in (SparseBallots.of_marks(table.shape, row, item, rank), table.astype(np.int32)):
        ranks, scores = with_scores(ranks, row, item, score) if scored else (ranks, None)
        raw = RawBallots(items, ranks, weights, [], {}, unlisted, scores)
        built.append(Votes.from_raw(raw, Reading(), merge=merge))
    marks, matrix = built
    assert_same_votes(marks, matrix)
    assert_same_votes(marks.without_scores(), matrix.without_scores())
    assert np.array_equal(marks.wins(), matrix.wins())
    assert marks.listed_weights() == pytest.approx(matrix.listed_weights(), rel=1e-14)
    if unlisted == "bottom":
        assert np.array_equal(marks.mean_places(), matrix.mean_places())
        assert np.array_equal(marks.place_weights(), matrix.place_weights())
    elif marks.incomplete:
        with pytest.raises(UsageError, match="places of unlisted items are unknown"):
            marks.mean_places()
    assert pickle.loads(pickle.dumps(marks)) == marks
    assert marks.with_reading(Reading("elsewhere")).ranks.tolist() == marks.ranks.tolist()


def test_rows_that_share_a_fingerprint_are_told_apart(monkeypatch):
    row, item, rank = np.array([[0, 0, 1], [1, 1, 1], [2, 0, 1], [3, 0, 1], [3, 1, 2]]).T
    marks = SparseBallots.of_marks((4, 3), row, item, rank)
    groups = {tuple(np.flatnonzero(marks.groups()[1] == label)) for label in marks.groups()[1]}
    monkeypatch.setattr(sparse, "row_prints", lambda count, *_: np.zeros(count, dtype=np.uint64))
    first, label = marks.groups()
    assert first.tolist() == [0, 1, 3]
    assert {tuple(np.flatnonzero(label == k)) for k in label} == groups == {(0, 2), (1,), (3,)}
    scored, _ = with_scores(marks, row, item, np.array([5.0, 5.0, 4.0, 5.0, 1.0]))
    assert scored.groups()[0].tolist() == [0, 1, 2, 3]


def test_scored_marks_of_many_ranks_have_the_hash_of_their_matrix(always_marks):
    lines = [f"{voter},i{k},{(k * 7 + voter) % 300 - 1.5 * voter}" for voter in range(3) for k in range(300)]
    text = ("\n".join(["task,model,score", *lines]) + "\n").encode()
    matrix = read_votes(io.BytesIO(text))
    always_marks(True)
    assert_same_votes(read_votes(io.BytesIO(text)), matrix)


def test_fingerprints_leave_out_ranks_of_0():
    row, item = np.array([0, 0, 2]), np.array([1, 2, 1])
    prints = row_prints(3, row, item, np.array([1, 0, 1]))
    assert prints[0] == prints[2] != 0 == prints[1]


def test_a_matrix_that_is_mostly_full_stays_one():
    full = np.arange(10**6)
    assert isinstance(ranks_of_marks((1000, 1000), full // 1000, full % 1000, full % 1000 + 1), np.ndarray)
    few = np.arange(300)
    assert isinstance(ranks_of_marks((2000, 2000), few, few, few * 0 + 1), SparseBallots)
    assert isinstance(ranks_of_marks((1000, 2000), few // 2, few, few * 0 + 1), np.ndarray)


def test_marks_whose_matrix_nobody_could_hold_are_refused():
    with pytest.raises(LimitError, match=r"votes.csv: 100,000 distinct ballots over 100,000 items need more than"):
        RanksInPieces((100_000, 100_000), 5, "votes.csv")


def test_a_file_that_names_many_items_once_is_held_as_marks(tmp_path):
    count = 2000
    names = "".join(f"# ALTERNATIVE NAME {k}: item {k}\n" for k in range(1, count + 1))
    lines = [f"{2 if k == 7 else 1}: {k},{k % count + 1}" for k in range(1, count + 1)]
    path = tmp_path / "few.soi"
    path.write_text("# DATA TYPE: soi\n" + names + "\n".join([*lines, "3: 7,8"]) + "\n", encoding="utf-8")
    votes = read_votes(path)
    assert isinstance(votes.ballots, SparseBallots)
    assert "1 line repeats an order; their counts were added" in votes.notes
    assert (votes.distinct, votes.weights[0], votes.total, votes.with_ties) == (count, 5, 2004, 0)
    assert votes.incomplete == votes.total
    assert votes.ranks[0, [6, 7]].tolist() == [1, 2]
    assert np.count_nonzero(votes.ranks) == 2 * count
    # Item 7 stands above 8 on five ballots, is listed without it on one, and once the opposite is true.
    assert votes.wins()[6, 7] == 6 + (2004 - 7) / 2


def test_lists_of_few_of_many_items_are_held_as_marks():
    orders = [[f"i{k}", [f"i{(k + 3) % 2000}", f"i{(k + 40) % 2000}"]] for k in range(2000) if k % 7]
    votes = Votes.from_orders(orders, weights=[1 + k % 3 for k in range(len(orders))])
    assert isinstance(votes.ballots, SparseBallots)
    table = np.zeros((len(orders), votes.n), dtype=np.int32)
    for row, order in enumerate(orders):
        for rank, items in enumerate([order[:1], order[1]], start=1):
            table[row, [votes.items.index(item) for item in items]] = rank
    matrix = Votes.from_ranks(table, [1 + k % 3 for k in range(len(orders))], votes.items)
    assert not isinstance(matrix.ballots, SparseBallots)
    assert_same_votes(votes, matrix)
    assert np.array_equal(votes.mean_places(), matrix.mean_places())


def test_marks_need_no_matrix_to_be_weighed_narrowed_written_or_drawn(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    orders = [[f"i{k}", [f"i{(k + 3) % 300}", f"i{(k + 40) % 300}"]] for k in range(300)]
    monkeypatch.setattr("holdrank.votes.inputs.most_cells", lambda size: 12 * size)  # as for a larger table
    monkeypatch.setattr("holdrank.votes.ballots.store.NUMBERS_AT_A_TIME", 3000)
    marks = Votes.from_orders(orders)
    matrix = Votes.from_ranks(marks.ranks, items=marks.items)
    weights, few = rng.integers(1, 5, 300), [f"i{k}" for k in (40, 7, 43, 0)]

    def facts(votes: Votes) -> list[object]:
        drawn, some = votes.with_weights(weights), votes.only(few)
        write_votes(drawn, tmp_path / "votes.jsonl")
        return [
            (drawn.input_hash, rows_hash(drawn), some.input_hash, rows_hash(some)),
            (drawn.wins() @ np.arange(300)).tolist(),
            votes.total_variation(drawn),
            list(drawn.ballots.orders()),
            (tmp_path / "votes.jsonl").read_bytes(),
            votes._repr_html_(),
        ]

    known = facts(matrix)
    whole = SparseBallots.matrix
    monkeypatch.setattr(
        SparseBallots, "matrix", lambda self: whole(self) if len(self) < 300 else pytest.fail("a matrix")
    )
    fresh = marks.with_reading(matrix.reading)
    assert facts(fresh) == known
    assert isinstance(fresh.with_weights(weights).ballots, SparseBallots)


def test_a_long_ballot_among_short_ones_is_counted_in_parts(monkeypatch):
    monkeypatch.setattr("holdrank.arrays.kernels._PAIRS", 30)
    rng = np.random.default_rng(1)
    table = np.zeros((40, 25), dtype=np.int32)
    for row in range(40):
        size = 25 if row == 7 else int(rng.integers(1, 6))
        table[row, rng.permutation(25)[:size]] = rng.integers(1, 4, size)
    row, item = np.nonzero(table)
    for unlisted in ("bottom", "observed"):
        marks, matrix = (
            Votes.from_raw(RawBallots(list(map(str, range(25))), ranks, np.full(40, 0.3), [], {}, unlisted), Reading())
            for ranks in (SparseBallots.of_marks(table.shape, row, item, table[row, item]), table)
        )
        assert np.array_equal(marks.wins(), matrix.wins())


def test_lists_without_any_item_are_nothing_to_aggregate():
    with pytest.raises(InputError, match="nothing to aggregate"):
        Votes.from_orders([[]] * 3000, items=[str(k) for k in range(1000)])


def test_places_of_very_many_items_in_very_many_votes_do_not_run_over():
    items = [str(k) for k in range(140_000)]
    votes = Votes.from_orders([["5"]] * 20, weights=[(2**46 - 40) / 20] * 20, items=items)
    places = votes.mean_places()
    assert places[5] == pytest.approx(1)
    assert places[[0, -1]] == pytest.approx((2 + 140_000) / 2)
