"""Every threshold at once: what tiers there are, what they cost, and how the two merge rules differ."""

import holdrank as hr

ITEMS = list("ABCDEF")

# Two close pairs, (A, B) and (D, E), between items that the votes tell apart.
votes = hr.sample_votes(hr.PlackettLuce([6.0, 5.8, 3.0, 1.6, 1.5, 0.6]), size=2000, rng=4, items=ITEMS)
strict = hr.kemeny(votes)
shares = votes.pairwise()

for rule in ("downward", "naive"):
    print(f"{rule} merge")
    path = hr.merge_path(shares, strict.ranking, rule)
    ends = [theta for theta, _ in path[1:]] + [0.5]
    for (theta, tiers), end in zip(path, ends, strict=True):
        print(f"  from {theta:.4f}, for {end - theta:.4f}: {tiers.text(ITEMS):<28} loss {votes.loss(tiers):.4f}")

# Output:
# downward merge
#   from 0.0000, for 0.0090: A > B > C > D > E > F        loss 0.2709
#   from 0.0090, for 0.0060: {A, B} > C > D > E > F       loss 0.2715
#   from 0.0150, for 0.1445: {A, B} > C > {D, E} > F      loss 0.2725
#   from 0.1595, for 0.0110: {A, B, C} > {D, E} > F       loss 0.2937
#   from 0.1705, for 0.0440: {A, B} > {C, D, E} > F       loss 0.2950
#   from 0.2145, for 0.0035: {A, B} > {C, D} > {E, F}     loss 0.2972
#   from 0.2180, for 0.0740: {A, B, C} > {D, E, F}        loss 0.3226
#   from 0.2920, for 0.0055: A > {B, C, D, E} > F         loss 0.3439
#   from 0.2975, for 0.0010: {A, B, C, D} > {E, F}        loss 0.3577
#   from 0.2985, for 0.0295: {A, B, C, D, E} > F          loss 0.3948
#   from 0.3280, for 0.0760: {A, B} > {C, D, E, F}        loss 0.3457
#   from 0.4040, for 0.0090: A > {B, C, D, E, F}          loss 0.4215
#   from 0.4130, for 0.0870: {A, B, C, D, E, F}           loss 0.5000
# naive merge
#   from 0.0000, for 0.0090: A > B > C > D > E > F        loss 0.2709
#   from 0.0090, for 0.0060: {A, B} > C > D > E > F       loss 0.2715
#   from 0.0150, for 0.1445: {A, B} > C > {D, E} > F      loss 0.2725
#   from 0.1595, for 0.0585: {A, B, C} > {D, E} > F       loss 0.2937
#   from 0.2180, for 0.1950: {A, B, C} > {D, E, F}        loss 0.3226
#   from 0.4130, for 0.0870: {A, B, C, D, E, F}           loss 0.5000
