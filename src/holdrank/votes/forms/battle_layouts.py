"""The layouts in which battles are published: one entry each, and the codes in which they name a winner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class BattleLayout:
    """Columns that make a table one of battles, by their names in lower case with underscores.

    Parameters
    ----------
    name : str
        Who publishes it.
    first, second : str
        The columns of the two items.
    result : tuple of str
        The columns of the result.
    how : {"winner", "flags", "scores", "won"}
        A code or a name; one 1 among 0s; two numbers to compare; or the first item always won.
    """

    name: str
    first: str
    second: str
    result: tuple[str, ...] = ()
    how: str = "winner"


LAYOUTS = (
    BattleLayout("home and away", "home_team", "away_team", ("home_score", "away_score"), "scores"),
    BattleLayout("football-data.co.uk", "home_team", "away_team", ("ftr",)),
    BattleLayout("football-data.co.uk", "home_team", "away_team", ("fthg", "ftag"), "scores"),
    BattleLayout("football-data.co.uk, other leagues", "home", "away", ("res",)),
    BattleLayout("football-data.co.uk, other leagues", "home", "away", ("hg", "ag"), "scores"),
    BattleLayout("home and away", "home", "away", ("home_goals", "away_goals"), "scores"),
    BattleLayout("home and away", "home_team", "away_team", ("home_goals", "away_goals"), "scores"),
    BattleLayout("two teams", "team1", "team2", ("score1", "score2"), "scores"),
    BattleLayout("two teams", "team_1", "team_2", ("score_1", "score_2"), "scores"),
    BattleLayout("two players", "player_1", "player_2", ("score_1", "score_2"), "scores"),
    BattleLayout("LMArena, FastChat", "model_a", "model_b", ("winner",)),
    BattleLayout("LLMFAO", "left", "right", ("winner",)),
    BattleLayout("items A and B", "item_a", "item_b", ("winner",)),
    BattleLayout("A and B", "a", "b", ("winner",)),
    BattleLayout("first and second", "first", "second", ("winner",)),
    BattleLayout("players", "player1", "player2", ("winner",)),
    BattleLayout("players", "player_1", "player_2", ("winner",)),
    BattleLayout("Kaggle arena", "model_a", "model_b", ("winner_model_a", "winner_model_b", "winner_tie"), "flags"),
    BattleLayout("Kaggle arena", "model_a", "model_b", ("winner_model_a", "winner_model_b"), "flags"),
    *(
        BattleLayout("one column per winner", a, b, (f"winner_{x}", f"winner_{y}", *tie), "flags")
        for a, b in (("model_a", "model_b"), ("left", "right"), ("item_a", "item_b"), ("a", "b"), ("first", "second"))
        for x, y in (("model_a", "model_b"), ("a", "b"), ("left", "right"))
        for tie in (("winner_tie",), ())
    ),
    BattleLayout("compar:IA", "model_a_name", "model_b_name", ("chosen_model_name", "both_equal")),
    BattleLayout("compar:IA", "model_a_name", "model_b_name", ("chosen_model_name",)),
    BattleLayout("AlpacaEval", "generator_1", "generator_2", ("preference",)),
    BattleLayout("WildBench", "model_1", "model_2", ("winner",)),
    BattleLayout("WildBench", "model_1", "model_2", ("extent",)),
    BattleLayout("WildBench", "model_1", "model_2", ("choice",)),
    BattleLayout("Arena-Hard", "model_a", "model_b", ("score",)),
    BattleLayout("chess", "white", "black", ("result",)),
    BattleLayout("Lichess", "white_id", "black_id", ("winner",)),
    BattleLayout("chess", "white", "black", ("winner",)),
    BattleLayout("winner and loser", "winner_name", "loser_name", how="won"),
    BattleLayout("winner and loser", "winner", "loser", how="won"),
    BattleLayout("chosen and rejected", "chosen", "rejected", how="won"),
)  # fmt: skip
"""In the order in which they are tried: the first whose columns are all there is meant."""

NOUNS = frozenset({"model", "player", "system", "bot", "engine", "agent", "generator", "method", "llm", "assistant"})
"""What two columns are called that name the items of a battle even where the names are numbers."""
ENDS = (("a", "b"), ("1", "2"), ("x", "y"), ("left", "right"), ("one", "two"), ("first", "second"), ("i", "j"))
"""How the names of two columns differ that hold the items of a battle; next to a third, such as c or 3, they do not."""
THIRDS = {"a": "c", "1": "3", "x": "z", "left": "middle", "one": "three", "first": "third", "i": "k"}

_USUAL = {
    "first": ("model_a", "a", "left", "1", "model_1", "first", "white", "home", "player_1", "player1"),
    "second": ("model_b", "b", "right", "2", "model_2", "second", "black", "away", "player_2", "player2"),
    "tie": ("tie", "draw", "equal", "both_good", "both good", "drawn", "both_equal"),
    "both bad": ("tie (bothbad)", "both_bad", "bothbad", "both bad", "tie (both bad)"),
}
_FOOTBALL = {"first": ("h",), "second": ("a",), "tie": ("d",)}
_CHESS = {"first": ("1-0",), "second": ("0-1",), "tie": ("1/2-1/2", "½-½", "0.5-0.5", "1/2"), "skip": ("*",)}
_GRADES = {
    "first": ("a>b", "a>>b", "b<a", "b<<a", "a+", "a++"),
    "second": ("b>a", "b>>a", "a<b", "a<<b", "b+", "b++"),
    "tie": ("a=b", "b=a", "a==b", "a~b"),
}
_SIGNS = {"first": ("1",), "second": ("-1",), "tie": ("0",)}
_POINTS = {"first": ("1",), "second": ("0",), "tie": ("0.5", "½")}


def _by_spelling(meanings: Mapping[str, tuple[str, ...]]) -> Mapping[str, str]:
    return MappingProxyType({word: meaning for meaning, words in meanings.items() for word in words})


LANGUAGES = {
    "usual": _by_spelling(_USUAL),
    "football": _by_spelling(_FOOTBALL),
    "chess": _by_spelling(_CHESS),
    "grades": _by_spelling({key: (*_GRADES.get(key, ()), *_USUAL[key]) for key in _USUAL}),
    "signs": _by_spelling(_SIGNS),
    "points": _by_spelling(_POINTS),
}
"""Codes of a result, compared without regard to case. A column is written in one of these; the usual one goes first."""
LANGUAGE_OF = {"ftr": "football", "res": "football"}
"""Columns whose name determines their language, because ``A`` alone may be either side."""
BLANK_IS_TIE = frozenset({"chosen_model_name"})
"""Columns in which an empty cell means that neither item was chosen."""
OUTCOMES = ("first", "second", "tie", "skip")
"""What a code can be mapped to."""
KNOWN_NAMES = frozenset(name for layout in LAYOUTS for name in (layout.first, layout.second, *layout.result))
