"""What all rooms share about arrays: tolerances, and hot loops under numba."""
