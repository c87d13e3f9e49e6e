"""Where the estimators end on the paper's Figure 4, over ten seeds: the tables of docs/theory/findings.md.

``.venv/bin/python benchmarks/paper_estimator.py`` runs the paper's algorithm with all 30,000 steps: as the authors'
code has it, without the gradient carried over, and as the text has it where that says something. Then comes the
improved one. It takes some ten minutes on one core. ``--quick`` takes a tenth of the steps.
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import Any

import numpy as np
from bench_smooth import figure_4

import holdrank as hr
from holdrank.attacks.estimator.engine import smoothed
from holdrank.attacks.estimator.original import descended

SEEDS = range(10)
TEXT = {"parametrisation": "softmax", "scored": "parameters", "weight": 0.5, "unit": "shares", "patience": 0}
VARIANTS: dict[str, dict[str, Any]] = {
    "the authors' choices": {},
    "gradient not carried over": {"carry": False},
    "the text where it speaks": {**TEXT, "carry": False},
}
STATISTICS = {"Kemeny": hr.kemeny, "Downward Merge, 0.05": hr.Robust(hr.kemeny, 0.05)}


def table(ends: Any, reached: Any) -> None:
    """Print lowest, median, highest, and in how many runs the consensus does move that far."""
    for name, part in (("lowest", 0.0), ("median", 0.5), ("highest", 1.0)):
        print("|", name, "|", " | ".join(f"{value:.3f}" for value in np.quantile(ends, part, axis=0)), "|")
    print("| reached |", " | ".join(str(count) for count in reached.sum(axis=0)), "|")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    steps = 3_000 if parser.parse_args().quick else 30_000
    votes, delta = figure_4(), np.arange(1, 7) / 6
    for name, T in STATISTICS.items():
        print(f"\n{name}: exact", " ".join(f"{value:.4f}" for value in hr.breakdown(votes, T).upper))
        for variant, how in VARIANTS.items():
            started = perf_counter()
            found = descended(votes, T, delta, hr.PaperOptions(steps=steps, **how), SEEDS)
            print(f"{variant}: {steps:,} steps, {perf_counter() - started:.0f} s")
            table(found.estimate, found.reached)
        improved = [smoothed(votes, T, rng=seed) for seed in SEEDS]
        print("improved: 5,000 steps; reached counts attacks found from there")
        table(np.array([run.estimate for run in improved]), np.isfinite([run.upper for run in improved]))


if __name__ == "__main__":
    main()
