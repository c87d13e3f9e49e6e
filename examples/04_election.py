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

# How firm is it? Ballots may be exchanged, lost, or added.
for change in ("replace", "drop", "add"):
    print(hr.attack(votes, hr.kemeny, hr.NewWinner(), change=change).text())

# Whoever loses will not believe us. The certificate holds every statement; no solver is trusted to prove them again.
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
# Another winner takes 62 of 1,200 votes (5.17 %), proved.
# Another winner takes the loss of at least 123 and at most 124 of 1,200 votes (10.2 % to 10.3 %), both proved.
# Another winner takes at least 123 and at most 124 votes added to 1,200 (10.2 % to 10.3 %), both proved.
#
# Verdict(10 proved, 0 refuted, 0 open), among them:
# proved   Bellamy > Arden > Carver > Dufour > Eastman is the consensus by kemeny, the only one
# proved   another winner takes at least 5.13 % of the votes
# proved   at least 62 votes are needed for another winner
# proved   62 votes are enough for another winner, as the attack shows
#
# election.png: the ballots that would change the winner
