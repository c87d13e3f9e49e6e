"""The tolerances that affect results, all in one place.

Weights that are counts are whole numbers, and so are sums and differences of them: costs, majorities and ties are then
compared exactly, without any of these. Each solver has further tolerances in its own units, defined next to it; they
affect how far it searches, not what a result says.
"""

from __future__ import annotations

SAME = 1e-9
"""Shares, of the votes or of the pairs, that differ by less are one number: deltas like 0.1 + 0.2 must not miss 0.3."""

NUDGE = 1e-6
"""Share of the votes that an attack may cost above the infimum that it stands for, to reach its goal beyond doubt."""

STRICT = 2e-7
"""Share of the votes by which an attack makes its conditions hold; several of them fit into a nudge."""

TIED = 1e-11
"""Sums of weights that are not counts carry rounding errors: up to this part of the largest, they are equal."""

FAINT = 1e-15
"""Counting keeps so much of the weight of all votes: ballots that weigh less may have no say, and a note tells it."""

DECIMALS = 12
"""Decimals to which merges compare deviations and thresholds, by definition: 0.7 - 0.5 and 0.5 - 0.3 are equal."""
