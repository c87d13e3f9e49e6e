"""Attacks on rules that add up points: Borda, mean scores."""
