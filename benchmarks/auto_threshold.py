"""What ties buy: robustness gained and loss paid at a fixed threshold and at the best one, on random votes.

``.venv/bin/python benchmarks/auto_threshold.py [--distributions N]``: Plackett-Luce distributions over four items and
exact breakdowns at one pair. Weights are ``exp(m z)`` with sorted normal z, and m uniform from 0.3 to 2: from nearly
level to clear.
"""

from __future__ import annotations

import argparse

import numpy as np

import holdrank as hr

TOLERANCES = (0.005, 0.01, 0.02, 0.03, 0.05)


def distribution(rng: np.random.Generator) -> hr.Votes:
    weights = np.exp(rng.uniform(0.3, 2) * np.sort(rng.normal(size=4)))
    return hr.exact_votes(hr.PlackettLuce(weights.tolist()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--distributions", type=int, default=200)
    many = parser.parse_args().distributions
    rng = np.random.default_rng(1)
    # Rows: (base, what is looked at, extra loss)
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for _ in range(many):
        votes = distribution(rng)
        found = hr.tradeoff(votes)
        base = float(hr.breakdown(votes, hr.kemeny, [1 / 6]).lower[0])
        fixed = hr.breakdown(votes, hr.Robust(hr.kemeny, 0.05), [1 / 6])
        extra = fixed.consensus.loss - found.base.loss
        rows.setdefault("theta = 0.05", []).append((base, float(fixed.lower[0]), extra))
        for tolerance in TOLERANCES:
            fits = np.flatnonzero(found.loss <= found.base.loss + tolerance + 1e-9)
            best = fits[np.lexsort((found.loss[fits], -found.lower[fits]))[0]]
            extra = float(found.loss[best]) - found.base.loss
            rows.setdefault(f"auto, {tolerance:g}", []).append((base, float(found.lower[best]), extra))
    print("| threshold | gains | loses | median of gains | largest gain | mean breakdown | mean extra loss |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, points in rows.items():
        before, after, extra = np.array(points).T
        change = after - before
        gains = change[change > 1e-9]
        mean = "never breaks once or more" if np.isinf(after).any() else f"{before.mean():.3f} to {after.mean():.3f}"
        print(
            f"| {name} | {(change > 1e-9).mean():.1%} | {(change < -1e-9).mean():.1%} | {np.median(gains):.3f} "
            f"| {gains.max():.3f} | {mean} | {extra.mean():.4f} |"
        )


if __name__ == "__main__":
    main()
