"""How much of the votes must change before a consensus breaks: bounds, exact values, estimates, and the attacks.

Called `breaking` because a package `breakdown` would hide the function of that name.
"""
