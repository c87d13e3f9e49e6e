"""An arena of twenty language models: tiers, the cost of rigging the board, and how a rigging voter is found."""

import csv

import numpy as np

import holdrank as hr

# Imaginary models. Those on one line are equally strong, but the arena does not know that.
STRENGTH = {
    "atlas-3": 1.50, "borealis-xl": 1.50,
    "cirrus-2": 1.10,
    "dune-pro": 0.85, "ember-70b": 0.85, "fjord-1": 0.85,
    "glacier-8b": 0.50, "harbour-2": 0.30,
    "iris-mini": 0.10, "juniper-4": 0.10,
    "kestrel-1": -0.10, "lagoon-7b": -0.30, "meadow-2": -0.45,
    "nimbus-3": -0.60, "onyx-13b": -0.60, "pebble-1": -0.60,
    "quarry-2": -0.90, "ridge-mini": -1.10, "summit-1": -1.35, "tundra-3b": -1.60,
}  # fmt: skip
MODELS = list(STRENGTH)


def fight(count: int, rng: np.random.Generator) -> list[tuple[str, str, str]]:
    """Return battles between models of similar strength, one in eight a tie."""
    battles = []
    while len(battles) < count:
        a, b = rng.choice(MODELS, size=2, replace=False)
        ahead = STRENGTH[a] - STRENGTH[b]
        if rng.random() < np.exp(-abs(ahead)):  # arenas like close fights
            won = "model_a" if rng.random() < 1 / (1 + np.exp(-ahead)) else "model_b"
            battles.append((a, b, "tie" if rng.random() < 1 / 8 else won))
    return battles


def read(battles: list[tuple[str, str, str]], name: str) -> hr.Votes:
    """Write battles to a file, as an arena would publish them, and read it."""
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("model_a", "model_b", "winner"), *battles])
    return hr.read_votes(name)


rng = np.random.default_rng(8)
yesterday = fight(30_000, rng)
votes = read(yesterday, "battles.csv")
board = hr.kemeny(votes)
tiers = hr.Robust(hr.kemeny, theta=0.03)(votes)  # a lead of up to 53 % in direct battles is called a tie
print(f"{votes.total:,.0f} battles; first place: {votes.items[board.ranking.order[0]]} ({board.status})")
print("first tiers:", " > ".join(tiers.text().split(" > ")[:3]))

# Nobody can delete other people's battles, but anybody can add battles.
print(hr.attack(votes, hr.kemeny, hr.NewWinner(), change="add").text())
rigged = hr.attack(votes, hr.kemeny, hr.Wins("dune-pro"), change="add")
print(rigged.text())

# At night, someone pays this price and a third more, hidden among 3,000 ordinary battles.
fakes = [tuple(ballot.split(" > ")) for ballot, count in rigged.whole.added for _ in range(round(count * 4 / 3))]
night = fight(3_000, rng) + [(winner, loser, "model_a") for winner, loser in fakes]
after = read(yesterday + night, "battles-today.csv")
print("\nnext morning:", " > ".join(hr.kemeny(after).text().split(" > ")[:3]))

# Which pair had unusual results at night? Compare with what its old record predicts.
new, old = read(night, "battles-night.csv").only(votes.items).wins(), votes.pairwise()
fought = new + new.T
surprise = (new - fought * old) / np.sqrt(np.maximum(fought, 1) * old * (1 - old))
for i, j in zip(*np.unravel_index(np.argsort(-surprise, axis=None)[:3], surprise.shape), strict=True):
    print(f"  {votes.items[i]} won {new[i, j]:g} of {fought[i, j]:g} against {votes.items[j]}, ", end="")
    print(f"{fought[i, j] * old[i, j]:.0f} expected: {surprise[i, j]:.1f} standard deviations")

# The picture: yesterday's tiers, and how many battles move a model across each gap.
tops = np.cumsum([len(tier) for tier in tiers.ranking.buckets])[:-1]
prices = [hr.attack(votes, hr.kemeny, hr.TopSet(int(k)), change="add") for k in tops]
gaps = [(price.votes_needed, price.votes_sufficient) for price in prices]
hr.plots.ladder(tiers, gaps, total=votes.total).figure.savefig("arena.png", dpi=200)
print("\narena.png: the tiers, and how many added battles break each gap")

# Output:
# 30,000 battles; first place: atlas-3 (proven optimal)
# first tiers: {atlas-3, borealis-xl} > {cirrus-2, dune-pro} > {ember-70b, fjord-1}
# Adding 16 battles to 30,000 ties it, adding 17 changes the winner (0.0567 %, proven minimum).
# Adding 131 battles to 30,000 ties it, adding 132 makes dune-pro win (0.44 %, proven minimum).
#
# next morning: dune-pro > atlas-3 > borealis-xl
#   dune-pro won 98.5 of 116 against atlas-3, 40 expected: 11.4 standard deviations
#   dune-pro won 94 of 108 against borealis-xl, 40 expected: 10.7 standard deviations
#   summit-1 won 18 of 27 against quarry-2, 9 expected: 3.7 standard deviations
#
# arena.png: the tiers, and how many added battles break each gap
