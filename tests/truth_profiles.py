"""How each data set of truths.json is read: the one table that says so, for all tests that compare with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from holdrank import files
from holdrank.votes.votes import Votes

# Options that the notes beside the data ask for; PrefLib files and battles need none.
OPTIONS: dict[str, dict[str, Any]] = {
    "starwars-survey": {
        "encoding": "latin-1",
        "header": 2,
        "columns": [10, 11, 12, 13, 14, 15],
        "format": "rank-columns",
    },
    "hiphop-polls": {"item": ["title", "artist"], "voter": "critic_name", "rank": "rank"},
    "minneapolis-2017-ward9": {"repeated": "first"},
    "akali-skins": {"columns": list(range(4, 20)), "format": "score-columns"},
    "open-llm-leaderboard-2023": {
        "columns": ["ARC(25-shot)", "HellaSwag(10-shot)", "MMLU(5-shot)", "TruthfulQA(0-shot)"],
        "repeated": "first",
    },
}


def profiles(shared_data: Path | None = None) -> list[tuple[str, dict[str, Any]]]:
    """Return (id, profile) for every profile; the profile also says its ``set``. Empty where the data is missing."""
    folder = shared_data or Path(__file__).resolve().parents[1].parent / "shared" / "data"
    path = folder / "truths.json"
    if not path.exists():
        return []
    out = []
    for name, found in json.loads(path.read_text(encoding="utf-8"))["sets"].items():
        for profile in found:
            words = [name, profile["file"], profile.get("selection", ""), profile["unranked"]]
            out.append(("-".join(word.replace(" ", "_") for word in words if word), {**profile, "set": name}))
    return out


def load(profile: dict[str, Any], shared_data: Path) -> Votes:
    """Return the votes of a profile, read as the notes beside the data say."""
    options = dict(OPTIONS.get(profile["set"], {}))
    votes = files.read_votes(shared_data / profile["set"] / profile["file"], unlisted=profile["unranked"], **options)
    if profile.get("selection") == "complete ballots only":
        complete = (votes.ranks != 0).all(axis=1)
        return Votes.from_ranks(
            votes.ranks[complete], votes.weights[complete], votes.items, unlisted=profile["unranked"]
        )
    assert "selection" not in profile
    return votes
