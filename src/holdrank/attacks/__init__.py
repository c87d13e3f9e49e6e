"""How many votes must change before a consensus breaks: bounds, exact values, estimates and attacks."""
