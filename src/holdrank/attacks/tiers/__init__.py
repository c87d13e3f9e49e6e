"""Attacks on tiers: Robust with any merge."""
