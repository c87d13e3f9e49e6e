"""Every sentence about results, once, from plain facts: numbers, names and records.

It is near the bottom of the import order, so that every room can use it.
"""
