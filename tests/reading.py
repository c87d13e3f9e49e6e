"""Votes out of a text, as tests write them down."""

from __future__ import annotations

import io

from holdrank.files import read_votes
from holdrank.votes.votes import Votes


def read(text: str | bytes, **options) -> Votes:
    return read_votes(io.BytesIO(text.encode() if isinstance(text, str) else text), **options)


def wins(votes: Votes) -> dict[tuple[str, str], float]:
    """Return the non-zero wins by name."""
    table = votes.wins()
    return {
        (a, b): float(table[i, j]) for i, a in enumerate(votes.items) for j, b in enumerate(votes.items) if table[i, j]
    }


SAME = {("x", "y"): 2.5, ("y", "x"): 1.5}
FORMS = {
    "preflib": "# ALTERNATIVE NAME 1: x\n# ALTERNATIVE NAME 2: y\n2: 1,2\n1: {1,2}\n1: 2,1\n",
    "preflib-old": "2\n1,x\n2,y\n4,4,3\n2,1,2\n1,{1,2}\n1,2,1\n",
    "rank-columns": "weight,x,y\n2,1,2\n1,1,1\n1,2,1\n",
    "score-columns": "weight,x,y\n2,5,0\n1,3,3\n1,0,1\n",
    "long-ranks": "voter,item,rank\n1,x,1\n1,y,2\n2,y,2\n2,x,1\n3,x,1\n3,y,1\n4,y,1\n4,x,2\n",
    "long-scores": "task,model,score\n1,x,9\n1,y,2\n2,y,2\n2,x,4\n3,x,1\n3,y,1\n4,y,1\n4,x,.5\n",
    "score-table": "model,t1,t2,t3,t4\nx,1,2,3,4\ny,0,1e-3,3,4.5\n",
    "battles": "model_a,model_b,winner\nx,y,model_a\ny,x,model_b\nx,y,tie\ny,x,a\n",
    "pair-counts": "i,j,wins_i,wins_j,ties\nx,y,2,0,1\ny,x,1,0,0\n",
    "multi-way": "system1Id,system1rank,system2Id,system2rank\nx,1,y,2\ny,3,x,1\nx,4,y,4\ny,1,x,2\n",
    "jsonl": '{"order": ["x", "y"], "weight": 2}\n{"order": [["x", "y"]]}\n{"ranks": {"x": 2, "y": 1}}\n',
}

RANKS_OR_SCORES = r"ranks \(1 is best\) or scores.*format=\"rank-columns\" or format=\"score-columns\""
