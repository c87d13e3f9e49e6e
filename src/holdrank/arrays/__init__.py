"""What all rooms share about arrays: tolerances, counting, and hot loops in C."""
