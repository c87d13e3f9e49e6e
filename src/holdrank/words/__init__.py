"""Every sentence about results, once, made of plain facts: numbers, names and records.

It stands near the bottom of the house, so that every room can speak with it.
"""
