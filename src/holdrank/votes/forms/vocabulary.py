"""The words known in tables: names of columns, codes, tokens for missing values, and guards for names like them."""

from __future__ import annotations

import re

from holdrank.votes.forms.battle_layouts import KNOWN_NAMES as BATTLE_NAMES

BLANKS = ("NA", "-", "undervote", "skipped", "blank", "overvote")
"""Cells that mark a missing rank or score; an empty cell always does."""

WEIGHT_NAMES = frozenset(
    {
        *("weight", "weights", "count", "counts", "multiplicity", "frequency", "freq"),
        *("votes", "voters", "ballots", "num_votes", "n_votes", "vote_count", "number_of_votes", "total_votes"),
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
        *("#", "response_id", "responseid", "submission_id", "case_id", "uid", "pid"),
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
NEEDED_NAMES = BATTLE_NAMES | ITEM_NAMES
"""Columns that votes are read from: a list or an object there is a fault, elsewhere it is ignored."""
JURY_NAMES = VOTER_NAMES | {
    f"{who}{end}" for who in ("referee", "juror", "assessor", "evaluator") for end in ("", "_id")
}
JUDGED_NAMES = ITEM_NAMES | {
    *("proposal", "proposal_id", "applicant", "applicant_id", "application", "nominee", "project"),
    *("submission", "submission_id", "paper", "paper_id"),
}
"""Further names of voters and items where a row is a mark; alone, these words are not enough."""
RANK_NAMES = frozenset({"rank", "ranking", "position", "place"})
MARK_NAMES = frozenset({"score", "scores", "accuracy", "rating", "stars", "value", "points", "f1", "auc"})
NO_ITEM_NAMES = frozenset(
    {
        *("year", "age", "index", "row", "row_id", "date", "time", "timestamp", "unnamed:_0", "zip", "zipcode"),
        *("precinct", "district", "ward", "gender", "income", "session", "session_id", "poll_id"),
        *("no", "case", "duration", "duration_(in_seconds)", "progress", "finished", "latitude", "longitude"),
        *("#params", "params", "parameters", "#params_(b)", "params_(b)", "memory", "memory_usage_(gb,_fp32)", "likes"),
        *("model_size_(million_parameters)", "embedding_dimensions", "max_tokens", "downloads", "hub_likes", "price"),
        *("location_latitude", "location_longitude", "ip_address", "start_date", "end_date", "recorded_date"),
    }
)
"""Names of columns that describe a voter; a column of scores with such a name is hardly an item."""
SUMMARY_NAMES = frozenset({"average", "mean", "rank", "score", "overall", "total", "median", "avg"})
"""First words of summary columns, which are not voters."""
NO_SCORE_NAMES = (
    NO_ITEM_NAMES
    | SUMMARY_NAMES
    | {f"{kind}_{what}" for kind in ("average", "mean", "avg", "total", "overall") for what in ("score", "rating")}
    | {"sum", "std"}
)
"""Names of columns that are hardly items where a row is a voter with scores."""
LOW_WORDS = frozenset(
    {
        *("rank", "error", "errors", "loss", "latency", "perplexity", "wer", "cer"),
        *("rmse", "mse", "mae", "time", "runtime", "cost"),
    }
)
"""Words in the names of columns where lower is better."""
FIRST_ITEM_NAMES = ITEM_NAMES | {"models", "llm"}
"""Names of a first column of items."""
VAGUE_ITEM_NAMES = frozenset({"", "country", "company"})
"""Names of a first column of items, or of voters, or of an index."""
NUMBERING_NAMES = frozenset({"rank", "#", "no", "id"})
"""Names of columns that number the rows and may come before the names of the items."""

POSITION_NAME = re.compile(r"(rank|ranking|choice|preference|pref|position|place)[ _-]?([0-9]{1,4})")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINAL_NAME = re.compile(
    rf"({'|'.join(ORDINALS)}|[0-9]{{1,4}}(?=st|nd|rd|th))(?:st|nd|rd|th)?_(choice|preference|pref|rank)"
)
CONTEST_CHOICE = re.compile(
    rf"(.+?)[ _-]+\(?(?:([0-9]{{1,2}})(?:st|nd|rd|th)|({'|'.join(ORDINALS)}))[ _-]+(?:choice|preference|rank)\b.*",
    re.IGNORECASE,
)
"""A column of a contest and a place in it: ``Mayor 1st Choice``."""
SLOT_NAME = re.compile(r"([a-z][a-z _-]*)([0-9]{1,3})[ _-]?(id|name|rank)")

COUNT_NAMES = (
    ("i", "j", "wins_i", "wins_j"),
    ("i", "j", "wins_of_i", "wins_of_j"),
    ("a", "b", "wins_a", "wins_b"),
    ("item_a", "item_b", "wins_a", "wins_b"),
    ("model_a", "model_b", "wins_a", "wins_b"),
    ("first", "second", "wins_first", "wins_second"),
    ("player1", "player2", "win1", "win2"),
)

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_JOINTS = re.compile(r"[\s-]+")

_FORMULA_SIGNS = frozenset("=+-@＝＋－＠")  # the wide ones are the same to a spreadsheet in some languages

_KNOWN_NAMES = frozenset(
    {
        *(name for names in COUNT_NAMES for name in names),
        *BATTLE_NAMES,
        *BALLOT_WEIGHT_NAMES,
        *VOTER_NAMES,
        *TASK_NAMES,
        *ITEM_NAMES,
        *RANK_NAMES,
        *MARK_NAMES,
    }
)


def plain(name: str) -> str:
    """Return a name for comparison with the words of this module: case and separators are ignored.

    Examples
    --------
    >>> plain(" Model_A "), plain("userId"), plain("Model A"), plain("voter-ID")
    ('model_a', 'user_id', 'model_a', 'voter_id')
    """
    return _JOINTS.sub("_", code(name))


def position_of(name: str) -> tuple[str, int] | None:
    """Return the kind and number of a column of positions, or None.

    Examples
    --------
    >>> position_of("rank3"), position_of("First Choice"), position_of("2nd choice"), position_of("first")
    (('rank', 3), ('choice', 1), ('choice', 2), None)
    """
    word = plain(name)
    match = POSITION_NAME.fullmatch(word)
    if match:
        return match[1], int(match[2])
    match = _ORDINAL_NAME.fullmatch(word)
    if match:
        return match[2], ORDINALS.index(match[1]) + 1 if match[1] in ORDINALS else int(match[1])
    return None


def code(cell: str) -> str:
    """Return a cell for comparison with the codes of `battle_layouts`: stripped, without case, separators kept.

    An item may well be called ``model-a``, which is not the code ``model_a``.

    Examples
    --------
    >>> code(" Tie (bothbad) "), code("modelA"), code("model-a")
    ('tie (bothbad)', 'model_a', 'model-a')
    """
    return _CAMEL.sub("_", cell.strip()).casefold()


def starts_formula(text: str) -> bool:
    r"""Whether a spreadsheet may take a cell for a formula: by its first sign, with or without blanks before it.

    Examples
    --------
    >>> starts_formula("=1+1"), starts_formula(" @x"), starts_formula("\tx"), starts_formula("a-b")
    (True, True, True, False)
    """
    return text[:1] in ("\t", "\r", "\n") or text.lstrip()[:1] in _FORMULA_SIGNS


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
    harmful = starts_formula(core) or core.strip() in BLANKS
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
        starts_formula(core)
        or core.strip() in BLANKS
        or word in _KNOWN_NAMES
        or position_of(core) is not None
        or SLOT_NAME.fullmatch(word) is not None
    )
