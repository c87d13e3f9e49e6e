"""Attacks on Kemeny's median."""
