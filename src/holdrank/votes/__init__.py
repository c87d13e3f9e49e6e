"""Votes as a distribution over rankings, the formats they come in, and models that generate them."""
