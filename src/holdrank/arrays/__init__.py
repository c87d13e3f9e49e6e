"""Shared array code: tolerances, counting, and hot loops in C."""
