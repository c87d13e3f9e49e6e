"""The effect of leaving out groups of votes, as plain data."""

from __future__ import annotations

from holdrank.analysis.leave_one_out import LeaveOneOut
from holdrank.analysis.records import Record


def leave_one_out_record(found: LeaveOneOut) -> Record:
    """Return the effect of leaving out each group, those that change most first."""
    number = {name: k for k, name in enumerate(found.consensus.items)}
    rows = [
        {
            "name": one.name,
            "votes": one.votes,
            "ranks": one.ranking.ranks.tolist(),
            "flips": [[number[above], number[below]] for above, below in one.flips],
            "distance": one.distance,
            "new_winner": one.new_winner,
            "unheard": [number[item] for item in one.unheard],
            "status": one.status.value,
        }
        for one in found.each
    ]
    places = {"best": found.best.tolist(), "worst": found.worst.tolist()}
    return {"by": found.by, "groups": found.groups, "left_out": rows, **places, "status": found.status.value}
