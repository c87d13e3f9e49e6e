"""Attacks on rules that add up points: Borda, and mean scores.

`engine` is the door. `races` counts whole votes exactly where one item must pass another; `programs` are linear
programs for a wanted order of the `points`; `distances` searches over orders; `strict` makes attacks that leave no
ties.
"""
