"""A benchmark table for a paper: models by tasks, with blanks, and with columns where lower is better."""

import numpy as np
import pandas as pd

import holdrank as hr

MODELS = ["Aspen", "Briar", "Clover", "Dogwood", "Elder", "Fern"]
SKILL = np.array([2.0, 1.8, 1.6, 0.8, 0.7, 0.0])
TASKS = ["reading", "maths", "code", "law", "dialogue", "vision"]

rng = np.random.default_rng(29)
table = pd.DataFrame({"model": MODELS})
for task in TASKS:
    table[task] = (60 + 9 * (SKILL + rng.normal(0, 0.7, len(MODELS)))).round(1)
table["perplexity"] = np.exp(2.4 - 0.3 * SKILL + rng.normal(0, 0.15, len(MODELS))).round(2)
table["error"] = (30 - 8 * SKILL + rng.normal(0, 5, len(MODELS))).round(1)
for model, task in [(1, "vision"), (4, "law"), (5, "code")]:
    table.loc[model, task] = None  # never run
print(table.to_string(index=False, na_rep=""))

# Each task is a voter that ranks the models it saw. Units do not matter, and a blank does not count for or against a
# model.
LOW_IS_GOOD = {"perplexity": False, "error": False}
votes = hr.Votes.from_scores(table, higher_is_better=LOW_IS_GOOD)
consensus = hr.kemeny(votes)
print(f"\n{votes.total:g} tasks; {'; '.join(votes.notes)}")
print(f"{consensus.text()}  ({consensus.status})")

# Does one task decide? Leave out each in turn. Several optima are a warning too.
optima = [order.text(votes.items) for order in hr.kemeny_optima(votes)]
print(f"orders that are equally good: {len(optima)}")
for task in table.columns[1:]:
    directions = {name: low for name, low in LOW_IS_GOOD.items() if name != task}
    left = hr.kemeny(hr.Votes.from_scores(table.drop(columns=task), higher_is_better=directions))
    if left.text() not in optima:
        print(f"without {task}: {left.text()}")

# The table for the paper: places, and how many tasks would have to change to break each gap.
analysis = hr.analyse(votes, hr.Spec(theta=None, draws=0, time_limit=None))
hr.report.write_report(analysis, "table.tex")
print(f"\n{analysis.headline}")
for line in hr.report.latex(analysis).splitlines():
    if line.endswith(r"\\"):
        print("  ", line.rpartition("&")[0].strip())

# The picture: for each pair of models, the share of the tasks on which the one on the left does better; and tiers.
tiers = hr.Robust(hr.kemeny, theta=0.15)(votes)
print(f"tiers at 0.15: {tiers.text()}")
hr.plots.heatmap(votes, tiers).figure.savefig("benchmark.png", dpi=200)
print("table.tex, and benchmark.png: the tasks that each model wins against each other")

# Output:
#   model  reading  maths  code  law  dialogue  vision  perplexity  error
#   Aspen     75.5   79.9  67.5 80.6      79.0    77.5        5.21    3.1
#   Briar     76.5   75.9  62.1 79.8      62.5                6.78   21.3
#  Clover     73.4   78.0  74.8 78.7      63.8    61.6        7.60   23.1
# Dogwood     66.1   63.1  62.0 73.0      81.0    63.9       10.20   21.2
#   Elder     66.7   64.0  61.5           83.6    63.7        8.38   25.6
#    Fern     58.6   54.6       61.9      62.8    70.9        9.94   23.0
#
# 8 tasks; 3 cells without a score; the item is unlisted for that voter
# Aspen > Briar > Clover > Elder > Dogwood > Fern  (proven optimal)
# orders that are equally good: 1
# without reading: Aspen > Briar > Clover > Dogwood > Elder > Fern
# without maths: Aspen > Briar > Clover > Dogwood > Elder > Fern
# without dialogue: Aspen > Briar > Clover > Dogwood > Elder > Fern
# without perplexity: Aspen > Briar > Clover > Dogwood > Elder > Fern
#
# Aspen is first; putting Briar first takes 3 of 8 tasks.
#    Place & Item & Tasks to break the gap below
#    1 & Aspen & 3 tasks (37.5 \%)
#    2 & Briar & 1 task (12.5 \%)
#    3 & Clover & 2 tasks (25 \%)
#    4 & Elder & 1 task (12.5 \%)
#    5 & Dogwood & 2 tasks (25 \%)
#    6 & Fern &
# tiers at 0.15: Aspen > {Briar, Clover} > {Dogwood, Elder} > Fern
# table.tex, and benchmark.png: the tasks that each model wins against each other
