"""Compile the loops that take longest to compile, once, for all processes that tests start; ``make test`` does so.

numba keeps what it has compiled beside the modules. Without this, processes that start together compile the same loops
side by side, 20 seconds each.
"""

from __future__ import annotations

import holdrank as hr

if __name__ == "__main__":
    votes = hr.sample_votes(hr.Mallows(range(6), 0.6), 300, rng=1)
    hr.attack(votes, hr.kemeny, hr.Distance(1))
