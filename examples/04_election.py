"""An election by ranked ballots, many of them truncated: who wins, which votes change it, and the proof of both."""

from pathlib import Path

import numpy as np

import holdrank as hr

CANDIDATES = ["Arden", "Bellamy", "Carver", "Dufour", "Eastman"]

# 1,200 voters in three camps. Two of five voters write down all names; the others stop after one to three.
camps = {(0, 1, 2, 3, 4): 0.42, (1, 2, 0, 4, 3): 0.36, (3, 4, 1, 2, 0): 0.22}
model = hr.Mixture([(share, hr.Mallows(order, phi=0.55)) for order, share in camps.items()])
complete = hr.sample_votes(model, size=1200, rng=6, items=CANDIDATES)
rng = np.random.default_rng(6)
ballots = []
for ranks in np.repeat(complete.ranks, complete.weights.astype(int), axis=0):
    names = [CANDIDATES[i] for i in np.argsort(ranks)]
    ballots.append(names if rng.random() < 0.4 else names[: rng.integers(1, 4)])
votes = hr.Votes.from_orders(ballots, items=CANDIDATES)  # names that a ballot leaves out are tied below the others
short = sum(len(ballot) < len(CANDIDATES) for ballot in ballots)
print(f"{votes.total:,.0f} ballots, {short} of them truncated")

for rule in (hr.kemeny, hr.borda, hr.copeland):
    print(f"{rule.__name__:<9}{rule(votes).text()}")

# How robust is it? Ballots may be replaced, dropped or added.
for change in ("replace", "drop", "add"):
    print(hr.attack(votes, hr.kemeny, hr.NewWinner(), change=change).text())

# The losers will not believe us. The certificate lists every statement, and verify proves them again without trusting a
# solver.
analysis = hr.analyse(votes, hr.Spec(theta=None, draws=200, time_limit=None))
Path("election.json").write_text(analysis.to_json(), encoding="utf-8")
hr.write_votes(votes, "election.soi")

certificate = hr.Analysis.from_json(Path("election.json").read_text(encoding="utf-8"))
verdict = hr.verify(hr.read_votes("election.soi"), certificate)
print(f"\n{verdict}, among them:")
print("\n".join(verdict.text().splitlines()[:4]))

# The picture: the cheapest attack, before and after.
found = hr.attack(votes, hr.kemeny, hr.NewWinner())
hr.plots.attack(found).figure.savefig("election.png", dpi=200)
print("\nelection.png: the ballots that would change the winner")

# Output:
# 1,200 ballots, 749 of them truncated
# kemeny   Bellamy > Arden > Carver > Dufour > Eastman
# borda    Bellamy > Arden > Carver > Dufour > Eastman
# copeland Bellamy > Arden > Carver > Dufour > Eastman
# 62 of 1,200 votes change the winner (5.17 %, proven minimum).
# Dropping 123 of 1,200 votes ties it, dropping 124 changes the winner (10.3 %, proven minimum).
# Adding 123 votes to 1,200 ties it, adding 124 changes the winner (10.3 %, proven minimum).
#
# Verdict(43 proved, 0 refuted, 7 open), among them:
# proved   Bellamy > Arden > Carver > Dufour > Eastman is the consensus by kemeny, the only one
# proved   the rule is Kemeny, because the votes are not battles
# proved   the tiers at all thresholds are as reported
# proved   another winner takes at least 5.12 % of the votes
#
# election.png: the ballots that would change the winner
