"""How the price of a target order depends on the votes, by the duals of its linear program.

With y the duals of the rivals, the price of a target under shares p of the ballots is, by duality,

    y @ need(p) - sum over columns of cap(p) * max(0, y @ gain - cost)

where `need` is linear in p, and p itself caps what can be removed. Near shares with a unique optimal dual, y does not
change, so the price is linear in p: what a ballot adds to it is its slope.
"""

from __future__ import annotations

import numpy as np

from holdrank.attacks.goals import Aim
from holdrank.attacks.kemeny.orders import cheapest_rival, signs
from holdrank.attacks.kemeny.siege import SOLVED, Siege
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.status import Clock
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes


def slopes(
    votes: Votes,
    before: Ranking,
    aim: Aim,  # noqa: ARG001
    change: Change,
    after: Ranking,
    clock: Clock,
) -> tuple[Floats, float] | None:
    """Return what the share of each ballot adds to the price of the order `after`, and a constant.

    The price is their sum, weighted by the shares, plus the constant; None where the program does not finish.
    """
    siege, says = Siege(votes, before, change), Siege(votes, before, Change.DROP)
    target: Ints = np.argsort(siege.items)[np.asarray(after.order)]
    toward = signs(target)

    def rival_of(margins: Floats) -> tuple[Ints | None, bool]:
        rival, proved = cheapest_rival(margins, False, None, clock)
        lead = float((margins * (toward - signs(rival))).sum()) / 4
        return (None if lead >= -SOLVED else rival), proved

    solved = siege.program(target, [np.arange(siege.n)], lambda _: 0.0, rival_of, clock)
    if solved is None:
        return None
    need, worth = np.zeros(votes.distinct), -siege.cost
    if len(siege.balance_row):
        worth += solved.balance * siege.balance_row
    for rival, dual in zip(solved.rivals, solved.weights, strict=True):
        need += dual * says.row(target, rival, says.margin)[0]
        worth += dual * siege.row(target, rival, siege.margin)[0]
    spared = np.maximum(worth, 0.0)
    own = need - spared[: siege.takes] if siege.takes else need
    return own, -float(siege.cap[siege.takes :] @ spared[siege.takes :])
