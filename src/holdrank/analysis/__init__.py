"""What is computed beyond one consensus and one attack, and the record of all of it."""
