"""Attacks on tiers: `Robust` with any merge.

`engine` searches over rankings with ties: `cells` of votes with the same upper tiers, covered by `splits` (and `runs`
where the order is known), each bounded by linear `conditions` and what votes do against them (`violations`).
`base_ranking` uses what is known about the ranking that the tiers are made from, and lets all searches work in rounds
of growing effort. Before any search, `standing` bounds every goal from the prices of single pairs (`pair_prices`) and
what keeps a merge from ending elsewhere (`stability`); `border_bounds` does so for dominating sets and for many items.
"""
