"""What chance explains: which items the votes separate, places that hold for all items at once, tests of tables."""
