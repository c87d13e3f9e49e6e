"""From votes to a consensus: one module for each family of rules."""
