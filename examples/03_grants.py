"""A grant panel with money for three of eight proposals: which are safely in, safely out, or undecided."""

import csv

import numpy as np

import holdrank as hr

QUALITY = {
    "Coral reefs": 5.3, "Quiet engines": 5.0, "Sea grass": 4.2, "Slow light": 4.1,
    "Urban bees": 4.0, "Glass memory": 3.0, "Night trains": 2.7, "Desert fog": 2.2,
}  # fmt: skip
PLACES = 3

# Forty reviewers read five proposals each and give 1 to 6 points. Ties and gaps are common.
rng = np.random.default_rng(21)
with open("reviews.csv", "w", newline="", encoding="utf-8") as file:
    rows = csv.writer(file)
    rows.writerow(["reviewer", "proposal", "score"])
    for reviewer in range(1, 41):
        for proposal in rng.permutation(list(QUALITY))[:5]:
            points = np.clip(np.rint(rng.normal(QUALITY[proposal], 0.9)), 1, 6)
            rows.writerow([f"R{reviewer:02}", proposal, int(points)])

# A reviewer's ballot does not count for proposals that they did not read.
votes = hr.read_votes("reviews.csv")
print(f"{votes.total:g} reviewers, {votes.n} proposals; unlisted: {votes.unlisted}; ties count half a vote each way")

# What if two of the forty reviews are not to be trusted? A proposal is safe if no change of two of them moves it.
analysis = hr.analyse(votes, hr.Spec(k=PLACES, budget=2 / 40, theta=None, seed=1, time_limit=None))
groups: dict[str, list[str]] = {"safely in": [], "undecided": [], "safely out": []}
for row in analysis.record["cut"]["items"]:
    group = "undecided" if not row["safe"] else "safely in" if row["inside"] else "safely out"
    crosses = "" if row["safe"] else f" ({'out' if row['inside'] else 'in'} by {row['sufficient']:g})"
    groups[group].append(analysis.items[row["item"]] + crosses)
for group, names in groups.items():
    print(f"{group:<11}", ", ".join(names))

# The page for the records of the panel: every number, its proof, how the reviews were read, version, hashes and seed.
hr.report.write_report(analysis, "grants.html")
print("votes of the certificate:", analysis.record["votes"]["input_hash"][:16])

# The picture: the place of each proposal, and where chance or two reviews could move it.
drawn = hr.bootstrap(votes, hr.kemeny, draws=1000, rng=1)
reach = hr.reach(votes, hr.kemeny, budget=2 / 40)
limits = np.column_stack([reach.shown_best, reach.shown_worst])  # attacks that were run
hr.plots.ranges(drawn, limits, budget_label="2 of 40 reviews").figure.savefig("grants.png", dpi=200)
print("grants.html, and grants.png: places by chance and by two reviews")

# Output:
# 40 reviewers, 8 proposals; unlisted: observed; ties count half a vote each way
# safely in   Coral reefs, Quiet engines
# undecided   Sea grass (out by 2), Slow light (in by 2), Urban bees (in by 2)
# safely out  Night trains, Glass memory, Desert fog
# votes of the certificate: 718e90aa02cd9e35
# grants.html, and grants.png: places by chance and by two reviews
