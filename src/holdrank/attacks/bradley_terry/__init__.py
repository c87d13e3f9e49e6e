"""Attacks on Bradley-Terry where votes are battles: proven bounds and verified attacks.

`engine` is the entry point. `battles` are the votes as wins between two items, with their strengths. `movement` bounds
how far a change of k battles can move any two strengths apart; `races` turns that into the number of battles that one
item needs to catch up with another, region by region where the first bound is too weak; `wanderers` is a second bound
for arenas where some items have few battles; `pushes` finds the attacks. `places` bounds the places of all items at
once, `levels` bounds many goals at once, and `tiers` handles leads other than 0. `crowd` and `crowd_engine` do the same
for voters who cast several battles each. `program` is the linear program behind that, and `enumeration` tries every
change of a few battles. The theorem and its proof are on the page `docs/theory/bradley-terry.md`.
"""
