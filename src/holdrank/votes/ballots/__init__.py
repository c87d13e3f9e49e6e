"""The ballots inside `Votes`: one interface (`store`), two stores (`dense`, `sparse`), and the arithmetic of ranks.

Use the interface; do not depend on which store it is.
"""

from __future__ import annotations

from holdrank.votes.ballots.dense import DenseBallots
from holdrank.votes.ballots.sparse import SparseBallots
from holdrank.votes.ballots.store import Ballots

__all__ = ["Ballots", "DenseBallots", "SparseBallots"]
