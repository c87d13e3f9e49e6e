"""Attacks on tiers: `Robust` with any merge.

`engine` searches over rankings with ties: `cells` of votes with the same upper tiers, covered by `splits` (and `runs`
where the order is known), each bounded by linear `conditions`, of which votes may break some (`violations`).
`base_ranking` uses bounds and attacks for the ranking that the tiers are made from, and runs all searches in rounds of
growing effort. Before any search, `standing` bounds every goal by the prices of single pairs (`pair_prices`) and by the
conditions that keep a merge stable (`stability`); `border_bounds` does so for dominating sets and for many items.
"""
