"""A leaderboard from pairwise battles: generate 3,000 of them, write a CSV file, read it back, show tiers."""

import csv
from itertools import pairwise

import numpy as np

import holdrank as hr

STRENGTH = {"onyx": 1.30, "pearl": 1.25, "quartz": 0.90, "ruby": 0.45, "slate": 0.40, "topaz": 0.0}

rng = np.random.default_rng(5)
models = list(STRENGTH)
with open("battles.csv", "w", newline="", encoding="utf-8") as file:
    rows = csv.writer(file)
    rows.writerow(["model_a", "model_b", "winner"])
    for _ in range(3000):
        a, b = rng.choice(models, size=2, replace=False)
        if rng.random() < 0.1:
            winner = "tie"
        else:
            chance = 1 / (1 + np.exp(STRENGTH[b] - STRENGTH[a]))
            winner = "model_a" if rng.random() < chance else "model_b"
        rows.writerow([a, b, winner])

votes = hr.read_votes("battles.csv")  # battles are known by the names of their columns
print(f"{votes.total:,.0f} battles, unlisted = {votes.unlisted}")

board = hr.kemeny(votes)
shares = votes.pairwise()
order = board.ranking.order
print(f"\n{board.text()}  ({board.status})")
for upper, lower in pairwise(order):
    print(f"  {votes.items[upper]} over {votes.items[lower]}: {shares[upper, lower]:.1%} of their battles, ties half")

for theta in (0.02, 0.05, 0.10):
    print(f"theta = {theta:.2f}: {hr.Robust(hr.kemeny, theta)(votes).text()}")

# Output:
# 3,000 battles, unlisted = observed
#
# pearl > onyx > quartz > ruby > slate > topaz  (proved optimal)
#   pearl over onyx: 50.7% of their battles, ties half
#   onyx over quartz: 52.1% of their battles, ties half
#   quartz over ruby: 59.0% of their battles, ties half
#   ruby over slate: 50.7% of their battles, ties half
#   slate over topaz: 58.5% of their battles, ties half
# theta = 0.02: {onyx, pearl} > quartz > {slate, ruby} > topaz
# theta = 0.05: {onyx, pearl, quartz} > {slate, ruby} > topaz
# theta = 0.10: {onyx, pearl} > {ruby, quartz} > {slate, topaz}
