"""A table of scores, methods by tasks, with blanks and with a task where low is good."""

import numpy as np
import pandas as pd

import holdrank as hr

METHODS = ["bagging", "boosting", "forest", "linear", "nearest", "tree"]
SKILL = np.array([0.80, 0.88, 0.86, 0.74, 0.72, 0.70])

rng = np.random.default_rng(3)
table = pd.DataFrame({"method": METHODS})
for task in ("adult", "digits", "housing", "iris", "wine"):
    table[task] = (SKILL + rng.normal(0, 0.05, len(METHODS))).round(3)
table["error"] = (1 - SKILL + rng.normal(0, 0.05, len(METHODS))).round(3)  # a low error is good
table.loc[4, "digits"] = table.loc[3, "wine"] = None  # two runs never finished
print(table.to_string(index=False))

votes = hr.Votes.from_scores(table, higher_is_better={"error": False})
for note in votes.notes:
    print(f"note: {note}")

consensus = hr.kemeny(votes)
print(f"\nall tasks       {consensus.text()}")
print(f"tiers at 0.17   {hr.Robust(hr.kemeny, theta=0.17)(votes).text()}")

# Does one task decide? Leave out each in turn.
for task in table.columns[1:]:
    higher = {"error": False} if task != "error" else True
    other = hr.kemeny(hr.Votes.from_scores(table.drop(columns=task), higher_is_better=higher))
    moved = hr.kendall(consensus.ranking, other.ranking)
    several = "" if other.unique else ", one of several optima"
    print(f"without {task:<8}{other.text()}  (distance {moved:.2f}{several})")

# Output:
#   method  adult  digits  housing  iris  wine  error
#  bagging  0.902   0.699    0.786 0.848 0.791  0.156
# boosting  0.752   0.868    0.847 0.870 0.907  0.105
#   forest  0.881   0.817    0.807 0.861 0.957  0.184
#   linear  0.712   0.906    0.720 0.817   NaN  0.289
#  nearest  0.697     NaN    0.744 0.747 0.708  0.285
#     tree  0.689   0.682    0.688 0.675 0.750  0.334
# note: 2 cells without a score; the item is unlisted for that voter
#
# all tasks       boosting > forest > bagging > linear > nearest > tree
# tiers at 0.17   {boosting, forest} > bagging > {linear, nearest} > tree
# without adult   boosting > forest > bagging > nearest > linear > tree  (distance 0.07)
# without digits  boosting > forest > bagging > linear > nearest > tree  (distance 0.00, one of several optima)
# without housing boosting > forest > bagging > linear > nearest > tree  (distance 0.00)
# without iris    boosting > forest > bagging > nearest > linear > tree  (distance 0.07)
# without wine    boosting > forest > bagging > linear > nearest > tree  (distance 0.00, one of several optima)
# without error   boosting > forest > bagging > linear > nearest > tree  (distance 0.00)
