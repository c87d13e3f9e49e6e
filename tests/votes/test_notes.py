"""Notes of readers."""

from __future__ import annotations

import pickle

from holdrank.votes.forms.notes import Note, added_notes, counted


def test_notes_know_what_they_counted():
    one = counted(1, "ballot names", "an item twice", many="ballots name")
    tokens = Note(("cells read as blank",), {"NA": 2})
    total = added_notes([one, tokens, "plain"], [one, Note(tokens.words, {"-": 1}), "plain"])
    assert total == ["2 ballots name an item twice", "cells read as blank: 'NA' 2 times, '-' 1 time", "plain"]
    again = pickle.loads(pickle.dumps(one))
    assert isinstance(again, Note)
    assert (again, again.words, again.counts) == (one, one.words, one.counts)
