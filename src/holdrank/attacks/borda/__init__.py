"""Attacks on rules that add up points: Borda, and mean scores.

`engine` is the entry point. `races` counts whole votes exactly where one item must pass another; `programs` solves
linear programs for a target order of the `points`; `distances` searches over orders; `strict` builds attacks that leave
no ties.
"""
