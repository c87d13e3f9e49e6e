"""Solvers for rules and proofs."""
