"""Statistical significance: which items the votes separate, confidence sets for all places, tests of tables."""
