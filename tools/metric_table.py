"""Which metric's median is hardest to break? Two Markdown tables for vote files.

``python tools/metric_table.py FILE ... --items 4`` keeps, of each file, the items that most ballots list (of equals,
those that the file names first), restricts every ballot to them, and drops ballots that then tie items or leave some
out. For each metric it asks what share of these ballots must be replaced, at the least, before the median is another
ranking, and before half of all pairs of items change their order. One number is exact; two are a proved lower bound and
an attack.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import holdrank as hr
from holdrank.words.numbers import percent

METRICS = ("kendall", "cayley", "ulam", "hamming", "footrule", "spearman_rho", "weighted_kendall")


def strict_part(votes: hr.Votes, most: int) -> hr.Votes:
    """Return the ballots on the items that most ballots list, without those that tie some or leave some out."""
    listed = votes.listed_weights()
    kept = np.sort(np.argsort(-listed, kind="stable")[:most])
    ranks = votes.ranks[:, kept]
    strict = (ranks != 0).all(axis=1) & np.array([len(set(row)) == len(row) for row in ranks.tolist()])
    if not strict.any():
        raise hr.UsageError("no ballot ranks all of these items strictly", repair="keep fewer items")
    return hr.Votes.from_ranks(ranks[strict], votes.weights[strict], [votes.items[item] for item in kept.tolist()])


def answers(votes: hr.Votes) -> list[hr.Breakdown]:
    """Return for each metric what it takes to move one pair and half of all pairs."""
    pairs = votes.n * (votes.n - 1) // 2
    return [hr.breakdown(votes, hr.Median(metric), [1 / pairs, 0.5]) for metric in METRICS]


def cells(curves: list[hr.Breakdown], k: int) -> list[str]:
    """Return the shares of ballots for one question; the largest is bold, and a median that is not alone is marked."""
    most = max(float(curve.lower[k]) for curve in curves)
    found = []
    for curve in curves:
        lower, upper = float(curve.lower[k]), float(curve.upper[k])
        text = percent(lower) if curve.exact[k] else f"{percent(lower)} to {percent(upper)}"
        text += "" if curve.consensus.unique else " (several)"
        found.append(f"**{text}**" if lower >= most - 1e-9 else text)
    return found


def tables(paths: list[Path], most: int) -> list[str]:
    """Return the lines of both tables."""
    rows: dict[int, list[str]] = {0: [], 1: []}
    for path in paths:
        full = hr.read_votes(path)
        votes = strict_part(full, most)
        curves = answers(votes)
        medians = len({curve.consensus.ranking for curve in curves})
        name = f"{path.parent.name}/{path.name}" if path.parent.name else path.name
        for k, question in rows.items():
            facts = [name, f"{votes.n} of {full.n}", f"{votes.total:,.0f} of {full.total:,.0f}", str(medians)]
            question.append(f"| {' | '.join([*facts, *cells(curves, k)])} |")
    head = ["file", "items", "ballots", "different medians", *METRICS]
    top = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return ["Another ranking:", "", *top, *rows[0], "", "Half of the pairs in another order:", "", *top, *rows[1]]


def main() -> None:
    """Print the tables of all files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--items", type=int, default=4, help="Items to keep, 2 to 7.")
    asked = parser.parse_args()
    try:
        print("\n".join(tables(asked.files, asked.items)))
    except hr.HoldrankError as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    main()
