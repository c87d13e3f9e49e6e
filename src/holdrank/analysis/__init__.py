"""Analyses beyond one consensus and one attack, and the record that holds all results."""
