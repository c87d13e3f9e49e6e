"""Votes as a distribution over rankings, the forms they come in, and the models that draw them."""
