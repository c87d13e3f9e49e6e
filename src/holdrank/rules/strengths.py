"""Bradley-Terry strengths, fitted to pairwise wins, and whether the wins determine them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from holdrank.errors import UsageError
from holdrank.rankings import Floats, Ints
from holdrank.votes.votes import Votes

Mask: TypeAlias = npt.NDArray[np.bool_]

RIDGE = 1e-6
_CONVERGED = 1e-7  # largest last step, as a share of the range of the strengths (at least of 1); squared, what is left
_EQUAL = 1e-8  # strengths closer than this, in the same unit, are not told apart
_MOST_STEPS = 200
_CHORD_LOOK, _CHORD_SLOW = 3, 0.2  # the step at which this part of the one before must not be exceeded
_CHORD_STEPS, _CHORD_CONVERGED = 30, 1e-12  # of steps that share one Hessian; what is left is about as much


def strengths(shares: Floats, ridge: float, start: Floats | None = None) -> tuple[Floats, int]:
    """Return Bradley-Terry strengths of sum 0, (..., n), for wins as shares of the votes; and the Newton steps taken.

    `start` are strengths near the ones to be found, which saves steps. Without it, the log-odds of each item's wins.

    A step is halved until it does not go beyond the top along its direction, so that every step climbs. It need never
    be shorter than ``log(1 + r) / r`` of itself, where r is its range: the third derivative of the likelihood along it
    is at most r times the second, which makes that much of it climb.
    """
    compared = shares + np.swapaxes(shares, -1, -2)
    if start is None:
        unseen = max(ridge, 1e-9)  # keeps items finite that never won or never lost, about as far out as the ridge does
        start = np.log((shares.sum(axis=-1) + unseen) / (shares.sum(axis=-2) + unseen))
    s = start - start.mean(axis=-1, keepdims=True)
    near = slope_at(shares, s, ridge)
    for steps in range(1, _MOST_STEPS + 1):
        s, near, reach = _climbed(shares, compared, s, near, ridge)
        if (reach <= _CONVERGED * _unit(s)).all():
            return s, steps
    raise UsageError(
        f"the strengths did not converge in {_MOST_STEPS} steps with ridge={ridge:g}", repair="use a larger one"
    )


def nearer_strengths(shares: Floats, ridge: float, start: Floats) -> Floats:
    """Return strengths one Newton step from `start`: nearly fitted if the wins have changed little."""
    return _climbed(shares, shares + np.swapaxes(shares, -1, -2), start, slope_at(shares, start, ridge), ridge)[0]


def _climbed(
    shares: Floats, compared: Floats, s: Floats, near: tuple[Floats, Floats], ridge: float
) -> tuple[Floats, tuple[Floats, Floats], Floats]:
    """Return the strengths after a step, what `slope_at` says of them, and the range of the whole step."""
    loses, slope = near
    step = np.linalg.solve(hessian_at(compared, loses, ridge), slope[..., None])[..., 0]
    reach = np.ptp(step, axis=-1, keepdims=True)
    least = np.divide(np.log1p(reach), reach, out=np.ones_like(reach), where=reach > 0)
    part = np.ones_like(reach)
    while True:
        loses, slope = slope_at(shares, s + part * step, ridge)
        beyond = ((slope * step).sum(axis=-1, keepdims=True) < 0) & (part > least)
        if not beyond.any():
            return s + part * step, (loses, slope), reach
        part = np.where(beyond, np.maximum(part / 2, least), part)


def strengths_near(shares: Floats, ridge: float, near: Floats, compared: Floats) -> Floats:
    """Return the strengths of many matrices of wins that are all near those of one, (many, n).

    Every step is by the inverse Hessian of that one, at its strengths `near`, so that no system is solved for any of
    the others. What does not converge that way is left to `strengths`.
    """
    loses, _ = slope_at(compared / 2, near, ridge)
    inverse = np.linalg.inv(hessian_at(compared, loses, ridge))
    s = np.tile(near, (len(shares), 1))
    left = np.arange(len(shares))
    before = np.full(len(shares), np.inf)
    for number in range(_CHORD_STEPS):
        _, slope = slope_at(shares[left], s[left], ridge)
        step = slope @ inverse
        s[left] += step
        reach = np.ptp(step, axis=-1)
        open_ = ~(reach <= _CHORD_CONVERGED * _unit(s[left])[:, 0])
        slow = number == _CHORD_LOOK and np.median(reach / before[left]) > _CHORD_SLOW
        before[left] = reach
        left = left[open_]
        if not left.size or slow:
            break
    if left.size:
        s[left], _ = strengths(shares[left], ridge)
    return np.asarray(s - s.mean(axis=-1, keepdims=True))


def win_probabilities(fitted: Floats) -> Floats:
    """Return the model probability that each item ranks above each other; 1/2 where strengths count as equal."""
    order = np.argsort(-fitted, kind="stable")
    groups = np.concatenate(([0], np.cumsum(-np.diff(fitted[order]) > strength_tolerance(fitted))))
    level = np.bincount(groups, fitted[order]) / np.bincount(groups)
    s = np.empty_like(fitted)
    s[order] = level[groups]
    return np.asarray(1 / (1 + np.exp(np.minimum(s[None] - s[:, None], 700.0))))


def slope_at(shares: Floats, s: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Return the probability that the row is placed below the column, and the gradient of the likelihood."""
    gap = s[..., :, None] - s[..., None, :]
    np.minimum(gap, 700.0, out=gap)  # beyond, exp overflows, and nothing is left to tell apart
    loses = 1 / (1 + np.exp(gap, out=gap))
    # Both sums hold only small numbers where all is explained, so that their difference is precise there.
    pull = shares * loses
    return loses, pull.sum(axis=-1) - pull.sum(axis=-2) - ridge * s


def strength_pull(votes: Votes, wish: Floats) -> Floats:
    """Return how much one more win of i against j raises ``sum of wish[i] * s[i]``, to first order, up to a factor.

    A win of i pulls the strengths by its surprise, through the inverse of the Hessian.
    """
    shares = votes.wins() / votes.total
    fitted, _ = strengths(shares, RIDGE)
    loses, _ = slope_at(shares, fitted, RIDGE)
    lift = np.linalg.solve(hessian_at(shares + shares.T, loses, RIDGE), wish)
    return np.asarray(loses * (lift[:, None] - lift))


def hessian_at(compared: Floats, loses: Floats, ridge: float) -> Floats:
    """Return the Hessian of the negative log-likelihood in the strengths, by what is compared and expected to be lost.

    The likelihood does not change when all strengths rise alike; 1 / n fixes their sum and changes nothing else.
    """
    n = compared.shape[-1]
    diagonal = np.arange(n)
    curvature = compared * loses
    curvature *= np.swapaxes(loses, -1, -2)
    hessian: Floats = 1 / n - curvature
    hessian[..., diagonal, diagonal] += curvature.sum(axis=-1) + ridge
    return hessian


def strength_tolerance(fitted: Floats) -> float:
    """Return the difference up to which strengths count as equal."""
    return _EQUAL * float(_unit(fitted).max())


def _unit(s: Floats) -> Floats:
    return np.asarray(np.maximum(np.ptp(s, axis=-1, keepdims=True), 1.0))


def connections(wins: Floats) -> tuple[bool, str]:
    """Return whether strengths exist without a ridge, and the reason as text.

    They exist without a ridge exactly when every item can be reached from every other along wins (Ford 1957).
    """
    compared = (wins + wins.T) > 0
    left = np.ones(len(wins), dtype=bool)
    groups = 0
    while left.any():
        left &= ~reached(compared, int(left.argmax()))
        groups += 1
    if groups > 1:
        return False, f"no ballot connects {groups} groups of items, whose relative order depends only on the ridge"
    beats = wins > 0
    if reached(beats).all() and reached(beats.T).all():
        return True, "wins connect all items"
    return False, "some items never lose to the rest, so their lead depends only on the ridge"


def reached(edges: Mask, start: int = 0) -> Mask:
    """Return which items can be reached from `start`, itself included."""
    seen = np.zeros(len(edges), dtype=bool)
    seen[start] = True
    front = seen
    while front.any():
        front = edges[front].any(axis=0) & ~seen
        seen = seen | front
    return seen


def strong_groups(edges: Mask) -> list[Ints]:
    """Return the strongly connected components of a graph: items that can all be reached from each other.

    Kosaraju's algorithm: one walk in depth finds an order, in which a second one against the edges peels off one
    component after the other.
    """
    left = np.ones(len(edges), dtype=bool)
    finished: list[int] = []
    for start in range(len(edges)):
        path = [start] if left[start] else []
        left[start] = False
        while path:
            following = edges[path[-1]] & left
            item = int(following.argmax())
            if following[item]:
                left[item] = False
                path.append(item)
            else:
                finished.append(path.pop())
    groups: list[Ints] = []
    left[:] = True
    for start in reversed(finished):
        if left[start]:
            group = np.zeros_like(left)
            front = np.array([start])
            while front.size:
                group[front] = True
                left[front] = False
                front = np.flatnonzero(edges[:, front].any(axis=1) & left)
            groups.append(np.flatnonzero(group))
    return groups
