"""The figures of the paper, each as data and as a picture, with the exact curve and the paper's bounds and estimate.

The data of a figure is a dict with ``rows``, one for each line of its CSV file; None stands for infinity: no change of
votes is enough. All budgets are shares of votes, so the paper's eps- and eps+ are halved.
"""

from __future__ import annotations

from holdrank.paper.arena import arena, generated_arena
from holdrank.paper.curves import fig1, fig2, fig3, fig4
from holdrank.paper.distributions import noise
from holdrank.paper.export import figures
from holdrank.paper.tradeoffs import fig5, margin
from holdrank.paper.vote_files import real

__all__ = ["arena", "fig1", "fig2", "fig3", "fig4", "fig5", "figures", "generated_arena", "margin", "noise", "real"]
