"""JSON documents that hold votes somewhere inside, and two layouts of cast vote records."""

from __future__ import annotations

import json

import pytest

from holdrank.errors import InputError
from holdrank.files import read_votes

from reading import read, wins


def text_of(value):
    return json.dumps(value)


def test_the_columns_of_a_frame_are_records_however_they_are_written():
    """By columns, as lists or with the numbers of the rows as keys; and by items."""
    ranks = {"x": [1, 1, 2], "y": [2, 2, 1]}
    expected = {("x", "y"): 2, ("y", "x"): 1}
    assert wins(read(text_of(ranks), format="rank-columns")) == expected
    indexed = {name: {str(k): rank for k, rank in enumerate(column)} for name, column in ranks.items()}
    assert wins(read(text_of(indexed), format="rank-columns")) == expected
    scores = {name: {f"t{k}": 3 - rank for k, rank in enumerate(column)} for name, column in ranks.items()}
    assert wins(read(text_of(scores), format="score-table")) == expected


def test_the_longest_list_inside_a_document_holds_the_votes():
    battle = {"model_a": "x", "model_b": "y", "winner": "model_a"}
    votes = read(text_of({"meta": [{"by": "us"}], "data": {"rows": [battle, battle]}}))
    assert wins(votes) == {("x", "y"): 2}
    assert any("'data.rows'" in note for note in votes.notes)


@pytest.mark.parametrize("document", [{"a": 1, "b": [1, 2]}, {"a": {}}, {"rows": []}, {"votes": "none"}])
def test_a_document_without_votes_is_refused(document):
    with pytest.raises(
        InputError, match=f"no list of votes; found '{', '.join(document)}', expected a list of objects"
    ):
        read(json.dumps(document, indent=1))


def nist(*marks, **selection):
    """A report of one contest with a record per mark list."""
    return {
        "Election": [{
            "Candidate": [{"@id": "c1", "BallotName": {"Text": [{"Content": "Ann"}]}}, {"@id": "c2", "Name": "Ben"}],
            "Contest": [{
                "@id": "k", "Name": "Mayor",
                "ContestSelection": [
                    {"@id": "s1", "CandidateIds": ["c1"]}, {"@id": "s2", "CandidateIds": ["c2"]},
                    {"@id": "s3", "Code": "Cy"}, {"CandidateIds": [], "Name": ""},
                ],
            }],
        }],
        "CVR": [
            {"CurrentSnapshotId": "new", "CVRSnapshot": [
                {"@id": "old", "CVRContest": [contest([("s2", {"Rank": 1})])]},
                {"@id": "new", "CVRContest": [contest(list(marked))]},
            ]}
            for marked in marks
        ],
        **selection,
    }  # fmt: skip


def contest(marked):
    return {
        "ContestId": "k",
        "CVRContestSelection": [
            {"ContestSelectionId": selection, "SelectionPosition": [mark]} for selection, mark in marked
        ],
    }


def test_marks_of_a_nist_report_count_only_where_they_are_indications_that_can_be_allocated():
    first = [("s1", {"Rank": 1}), ("s2", {"Rank": 2}), ("s3", {"Rank": 3})]
    second = [
        ("s2", {"Rank": 1, "HasIndication": "no"}),
        ("s3", {"Rank": 1, "HasIndication": "yes"}),
        ("s1", {"Rank": 2, "IsAllocable": "no"}),
        ("s2", {"Rank": 2, "IsAllocable": "yes"}),
    ]
    votes = read(text_of(nist(first, second)))
    assert sorted(votes.items) == ["Ann", "Ben", "Cy"]
    # Ann > Ben > Cy, and Cy > Ben, whose ballot leaves Ann out.
    assert wins(votes) == {
        ("Ann", "Ben"): 1, ("Ann", "Cy"): 1, ("Ben", "Cy"): 1, ("Cy", "Ben"): 1, ("Cy", "Ann"): 1, ("Ben", "Ann"): 1,
    }  # fmt: skip


def dominion(*sessions):
    return {"Version": "5", "Sessions": list(sessions)}


def side(marks, **facts):
    return {"Contests": [{"Id": 9, "Marks": marks}], **facts}


def mark(who, rank, **facts):
    return {"CandidateId": who, "Rank": rank, **facts}


def test_marks_of_a_dominion_export_count_on_the_current_side_and_go_by_the_names_of_the_manifest(tmp_path):
    sessions = dominion(
        {"Original": side([mark(1, 1), mark(2, 2)])},
        {"Original": side([mark(1, 1), mark(2, 2)], IsCurrent=False), "Modified": side([mark(2, 1), mark(1, 2)])},
        {"Original": side([mark(1, 1), mark(2, 2)], IsCurrent=False)},  # no side counts
        {"Original": side([mark(2, 1, IsAmbiguous=True), mark(1, 1), mark(2, 2, IsVote=False)])},
    )
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "CvrExport.json").write_text(text_of(sessions), encoding="utf-8")
    bare = read_votes(folder / "CvrExport.json")
    # 1 > 2, 2 > 1, and 1 alone, above the one that is not listed.
    assert wins(bare) == {("1", "2"): 2, ("2", "1"): 1}
    listed = {"List": [{"Id": 1, "Description": "Ann"}, {"Id": 2}]}
    (folder / "CandidateManifest.json").write_text(text_of(listed), encoding="utf-8")
    assert wins(read_votes(folder / "CvrExport.json")) == {("Ann", "2"): 2, ("2", "Ann"): 1}
    (folder / "CandidateManifest.json").write_text("{", encoding="utf-8")  # names are no reason to fail
    assert wins(read_votes(folder / "CvrExport.json")) == wins(bare)
