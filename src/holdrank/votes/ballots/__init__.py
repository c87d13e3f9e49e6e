"""The ballots inside `Votes`: one interface (`store`), two stores (`dense`, `sparse`), and the arithmetic of ranks.

Ask a store; do not ask which one it is.
"""

from __future__ import annotations

from holdrank.votes.ballots.dense import DenseBallots
from holdrank.votes.ballots.sparse import SparseBallots
from holdrank.votes.ballots.store import Ballots

__all__ = ["Ballots", "DenseBallots", "SparseBallots"]
