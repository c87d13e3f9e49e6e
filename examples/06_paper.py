"""Figure 1 of the paper, with the exact curves: how far can a share of the votes move each of three medians?"""

from itertools import permutations

import holdrank as hr

# The paper's votes over four items: random noise on the 24 rankings.
votes = hr.Votes.from_orders([list(order) for order in permutations("abcd")], weights=hr.paper.noise(682))
MEDIANS = (hr.kemeny, hr.borda, hr.footrule)

# The theorems bound the breakdown function from below, and for Kemeny's median from above. Here the exact value is
# shown too.
theorems = {median: hr.breakdown(votes, median, method="bounds") for median in MEDIANS}
exact = {median: hr.breakdown(votes, median) for median in MEDIANS}
for median in MEDIANS:
    print(f"{median.__name__}: {median(votes).text()}")
    print("  pairs  theorems              exact")
    for k, (lower, upper) in enumerate(zip(theorems[median].lower, theorems[median].upper, strict=True)):
        bounds = f"{lower:.2%} to {upper:.2%}" if upper < 1 else f"{lower:.2%} or more"
        print(f"  {k + 1:>5}  {bounds:<18}{exact[median].upper[k]:>9.2%}")

# An extension: the same question for tiers. Merging helps only where the threshold lies in a gap; noise has none.
for theta in (0.01, 0.02, 0.05):
    tiers = hr.Robust(hr.kemeny, theta)
    first = hr.breakdown(votes, tiers).upper[0]
    outcome = f"lose a pair at {first:.2%}" if first < 1 else "have none to lose"
    print(f"tiers at {theta}: {tiers(votes).text()} {outcome}")

# The picture. `holdrank paper all` writes every figure of the paper, each with its exact curves.
names = ["kemeny, theorems"] + [median.__name__ for median in MEDIANS]
picture = hr.plots.breakdown(theorems[hr.kemeny], *exact.values(), labels=names)
picture.figure.savefig("paper.png", dpi=200)
print("paper.png: the bounds for Kemeny's median as a band, and three exact curves")

# Output:
# kemeny: c > a > d > b
#   pairs  theorems              exact
#       1  0.25% to 0.25%        0.25%
#       2  0.25% to 0.25%        0.25%
#       3  1.24% to 2.38%        1.24%
#       4  2.38% to 2.38%        2.38%
#       5  2.38% to 2.38%        2.38%
#       6  4.11% or more         4.11%
# borda: c > a > d > b
#   pairs  theorems              exact
#       1  0.13% or more         0.13%
#       2  0.40% or more         0.40%
#       3  0.40% or more         0.40%
#       4  2.13% or more         2.13%
#       5  2.48% or more         2.48%
#       6  2.93% or more         2.93%
# footrule: c > b > a > d
#   pairs  theorems              exact
#       1  0.49% or more         0.49%
#       2  0.95% or more         0.95%
#       3  1.52% or more         1.64%
#       4  1.52% or more         1.67%
#       5  1.83% or more         1.83%
#       6  2.00% or more         2.11%
# tiers at 0.01: c > a > {b, d} lose a pair at 0.25%
# tiers at 0.02: c > a > {b, d} lose a pair at 0.25%
# tiers at 0.05: {a, b, c, d} have none to lose
# paper.png: the bounds for Kemeny's median as a band, and three exact curves
