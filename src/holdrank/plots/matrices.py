"""Pairs of items: the matrix of all, and a small one as a graph."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import combinations, permutations
from typing import TYPE_CHECKING

from holdrank.plots.style import BLACK, BLUE, GREY, PALE, Data, axes_or_new, blocks, name_ticks, number, styled
from holdrank.words.names import named

if TYPE_CHECKING:
    import numpy.typing as npt

    from holdrank.plots.style import Axes
    from holdrank.rules.consensus import Consensus
    from holdrank.votes.votes import Votes

_MOST_NUMBERED = 12  # items of a matrix whose cells can hold a number


def heatmap(votes: Votes, consensus: Consensus, *, ax: Axes | None = None) -> Axes:
    """Draw the pairwise matrix in the order of a consensus, with a box around each tier.

    Parameters
    ----------
    votes : Votes
    consensus : Consensus
        Its order and its tiers.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Notes
    -----
    The cell of row a and column b is the share of votes with a above b, of those that compare the two. Pairs that no
    vote compares are hatched.
    """
    ax = axes_or_new(ax)
    data = heatmap_data(votes, consensus)
    shares, items = data["shares"], data["items"]
    n = len(items)
    filled = [[math.nan if share is None else share for share in row] for row in shares]
    with styled():
        from matplotlib.patches import Rectangle

        image = ax.imshow(filled, cmap="PuOr_r", vmin=0, vmax=1, interpolation="none")
        for i, j in permutations(range(n), 2):
            share = shares[i][j]
            if share is None:
                ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="////", ec=PALE, lw=0))
            elif n <= _MOST_NUMBERED:
                colour = "white" if abs(share - 0.5) > 0.33 else "black"  # white on the dark ends of the scale
                ax.text(j, i, f"{100 * share:.0f}", ha="center", va="center", fontsize=8, color=colour)
        for start, size in data["tiers"]:
            corner = start - 0.5
            ax.add_patch(Rectangle((corner, corner), size, size, fill=False, ec=BLACK, lw=1.8, clip_on=False, zorder=3))
        name_ticks(ax.xaxis, range(n), items, rotation=90 if max(map(len, items)) > 3 else 0)
        name_ticks(ax.yaxis, range(n), items)
        ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        ax.set_frame_on(False)
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, ticks=[0, 0.25, 0.5, 0.75, 1])
        bar.ax.set_yticklabels(["0 %", "25 %", "50 %", "75 %", "100 %"])
        bar.set_label("votes that put the row above the column")
        bar.outline.set_visible(False)
    return ax


def heatmap_data(votes: Votes, consensus: Consensus) -> Data:
    """Return the data that `heatmap` draws: items and shares in the order of the consensus, tiers as (start, size).

    Examples
    --------
    >>> from holdrank import Robust, Votes
    >>> votes = Votes.from_orders([["b", "a", "c"], ["a", "b", "c"]], weights=[51, 49])
    >>> heatmap_data(votes, Robust(theta=0.05)(votes))["tiers"]
    [[0, 2], [2, 1]]
    """
    order = consensus.ranking.order
    wins, shares = votes.wins(), votes.pairwise()
    return {
        "items": [named(votes.items[i]) for i in order],
        "shares": [
            [None if i == j or wins[i, j] + wins[j, i] == 0 else number(shares[i, j]) for j in order] for i in order
        ],
        "tiers": blocks(consensus.ranking.buckets),
    }


def draw_pairs(shares: npt.ArrayLike, items: Sequence[str], ax: Axes, *, starred: Collection[str] = ()) -> Axes:
    """Draw a pairwise matrix as a graph: items from the best to the last, an arrow for each pair with its share.

    The shares of pairs that are `starred`, given as texts such as "AC", have a star and a dashed arrow.
    """
    import numpy as np

    P = np.asarray(shares)
    with styled():
        for i, j in combinations(range(len(items)), 2):
            far = j - i
            # From the first item above the row, from the others below it, so that arrows do not cross.
            bend = 0.0 if far == 1 else -0.45 if i == 0 else 0.45
            star = f"{items[i]}{items[j]}" in starred
            look: Data = {"arrowstyle": "-|>", "color": GREY, "lw": 1.0, "shrinkA": 11, "shrinkB": 11}
            look["linestyle"] = (0, (4, 2)) if star else "-"
            ax.annotate("", (j, 0), (i, 0), arrowprops={**look, "connectionstyle": f"arc3,rad={bend}"})
            share = f"{P[i, j]:.2f}".lstrip("0") + "*" * star
            ax.text((i + j) / 2, -bend * far / 2, share, ha="center", va="center", fontsize=8,
                    bbox={"fc": "white", "ec": "none", "pad": 1.0})  # fmt: skip
        dots: Data = {"s": 300, "facecolor": "white", "edgecolor": BLUE, "linewidth": 1.2, "zorder": 3}
        ax.scatter(range(len(items)), [0] * len(items), **dots)
        for x, item in enumerate(items):
            ax.text(x, 0, item, ha="center", va="center", zorder=4)
        ax.set_xlim(-0.4, len(items) - 0.6)
        ax.set_ylim(-0.65, 0.85)
        ax.set_aspect("equal")  # or the bends, and with them the places of the numbers, would depend on the figure
        ax.axis("off")
    return ax
