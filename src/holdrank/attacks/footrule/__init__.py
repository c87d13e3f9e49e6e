"""Attacks on the footrule median."""
