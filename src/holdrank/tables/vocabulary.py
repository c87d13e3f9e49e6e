"""The words a table speaks: names of columns, codes, tokens for "nothing here", and how a name avoids them."""

from __future__ import annotations

import re

BLANKS = ("NA", "-", "undervote", "skipped", "blank", "overvote")
"""Cells that mean "nothing here" where a rank or a score should stand; an empty cell always does."""

WEIGHT_NAMES = frozenset(
    {
        *("weight", "weights", "count", "counts", "multiplicity", "frequency", "freq"),
        *("votes", "voters", "ballots", "num_votes", "n_votes", "vote_count", "number_of_votes"),
        *("num_voters", "n_voters", "number_of_voters"),
    }
)
BALLOT_WEIGHT_NAMES = WEIGHT_NAMES | {"n"}
"""Where no column is an item; among columns of items ``N`` may be one, next to ``M`` and ``O``."""

VOTER_NAMES = frozenset(
    {
        *("voter", "voterid", "voter_id", "ballot", "ballotid", "ballot_id", "id"),
        *("respondent", "respondentid", "respondent_id", "participant", "participant_id"),
        *("judge", "judge_id", "rater", "rater_id", "user", "user_id", "userid", "username", "user_name"),
        *("worker", "worker_id", "critic", "critic_id", "reviewer", "reviewer_id", "annotator", "annotator_id"),
    }
)
TASK_NAMES = frozenset(
    {"task", "task_name", "dataset", "dataset_name", "benchmark", "metric", "query", "prompt", "study"}
)
ITEM_NAMES = frozenset(
    {
        *("item", "item_id", "itemid", "candidate", "candidate_id", "alternative", "option", "title", "name"),
        *("movie", "movie_id", "movieid", "product", "product_id", "song", "song_id", "book", "book_id"),
        *("model", "model_name", "system", "system_name", "method", "method_name", "algorithm"),
        *("classifier", "classifier_name", "team", "player"),
    }
)
RANK_NAMES = frozenset({"rank", "ranking", "position", "place"})
MARK_NAMES = frozenset({"score", "scores", "accuracy", "rating", "stars", "value", "points", "f1", "auc"})
NO_ITEM_NAMES = frozenset(
    {
        *("year", "age", "index", "row", "row_id", "date", "time", "timestamp", "unnamed: 0", "zip", "zipcode"),
        *("precinct", "district", "ward", "gender", "income", "session", "session_id", "poll_id"),
    }
)
"""Names of columns that tell of a voter; a column of scores so called is hardly an item."""
SUMMARY_NAMES = frozenset({"average", "mean", "rank", "score", "overall", "total", "median", "avg"})
"""First words of columns that sum up others and are no voters."""

POSITION_NAME = re.compile(r"(rank|ranking|choice|preference|pref|position|place)[ _-]?([0-9]{1,4})")
SLOT_NAME = re.compile(r"([a-z][a-z _-]*)([0-9]{1,3})[ _-]?(id|name|rank)")

PAIR_NAMES = (
    ("model_a", "model_b"),
    ("left", "right"),
    ("item_a", "item_b"),
    ("a", "b"),
    ("first", "second"),
)
FLAG_NAMES = (
    ("winner_model_a", "winner_model_b"),
    ("winner_a", "winner_b"),
    ("winner_left", "winner_right"),
)
SCORED_PAIR_NAMES = (("home_team", "away_team", "home_score", "away_score"),)
COUNT_NAMES = (
    ("i", "j", "wins_i", "wins_j"),
    ("i", "j", "wins of i", "wins of j"),
    ("a", "b", "wins_a", "wins_b"),
    ("item_a", "item_b", "wins_a", "wins_b"),
    ("model_a", "model_b", "wins_a", "wins_b"),
    ("first", "second", "wins_first", "wins_second"),
    ("player1", "player2", "win1", "win2"),
)

WINNER_CODES = {
    "first": ("model_a", "a", "left", "1"),
    "second": ("model_b", "b", "right", "2"),
    "tie": ("tie", "draw", "equal", "both_good"),
    "both bad": ("tie (bothbad)", "both_bad", "bothbad"),
}
"""Spellings of a result, compared without regard to case; the names of the two columns count as codes too."""

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")

FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")

_KNOWN_NAMES = frozenset(
    {
        *(name for names in (*PAIR_NAMES, *FLAG_NAMES, *SCORED_PAIR_NAMES, *COUNT_NAMES) for name in names),
        *("winner", "winner_tie", *BALLOT_WEIGHT_NAMES),
        *VOTER_NAMES,
        *TASK_NAMES,
        *ITEM_NAMES,
        *RANK_NAMES,
        *MARK_NAMES,
    }
)


def plain(name: str) -> str:
    """Return a name as it is compared with the words of this room: without outer blanks, without case.

    Examples
    --------
    >>> plain(" Model_A "), plain("userId"), plain("modelA"), plain("voterID")
    ('model_a', 'user_id', 'model_a', 'voter_id')
    """
    return _CAMEL.sub("_", name.strip()).casefold()


def guard_name(name: str, known_names: bool = False) -> str:
    """Return a name safe to stand in a CSV cell: an apostrophe goes before one that would be misread.

    A spreadsheet takes a cell that starts with ``=``, ``+``, ``-`` or ``@`` for a formula and reads a leading
    apostrophe as "this is text"; holdrank itself takes ``NA`` for a blank and ``weight`` for weights. With
    `known_names` any name of a known column is guarded, so that a header of items passes for nothing else.
    `restore_name` undoes it.

    Examples
    --------
    >>> guard_name("=1+1"), guard_name("NA"), guard_name("plain"), guard_name("'=1+1")
    ("'=1+1", "'NA", 'plain', "''=1+1")
    """
    core = name.lstrip("'")
    harmful = core[:1] in FORMULA_SIGNS or core.strip() in BLANKS
    harmful = harmful or plain(core) in VOTER_NAMES or plain(core) in WEIGHT_NAMES
    return f"'{name}" if harmful or (_misread(core) and (known_names or core != name)) else name


def restore_name(name: str) -> str:
    """Return a name as it was before `guard_name`; other names that start with an apostrophe stay.

    Examples
    --------
    >>> restore_name("'=1+1"), restore_name("'t Hooft")
    ('=1+1', "'t Hooft")
    """
    return name[1:] if name.startswith("'") and _misread(name.lstrip("'")) else name


def _misread(core: str) -> bool:
    word = plain(core)
    return (
        core[:1] in FORMULA_SIGNS
        or core.strip() in BLANKS
        or word in _KNOWN_NAMES
        or POSITION_NAME.fullmatch(word) is not None
        or SLOT_NAME.fullmatch(word) is not None
    )
